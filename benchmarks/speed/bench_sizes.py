"""What a memory costs by its size: a question, an event, maintenance and a night, beside one flat
scan of its vectors, and its bytes.

Saving and loading are in bench_save.py.  "ivf": with that index and a shortlist of 2,048 rows, from
32,768 rows on; of 2,560 from a million on.  The ratio is the time of a flat scan (FAISS, one
thread, ten nearest) over that of the measure, each timed in turn.
"""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from shutil import copy
from typing import Any

import pytest

from hebbarium.benchmarks.speed.large import HOUR, SETS, SMALL, UNITS, WITHOUT, Files
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.scale.shortlist import PAYS

SHORTLIST, LONGER, MANY = 2_048, 2_560, 1_000_000
SCAN = "flat search"
CASES = [
    (chosen, n, how)
    for n in UNITS
    for chosen in SETS
    for how in ("exact", "ivf")
    if how == "exact" or n >= PAYS * SHORTLIST
]
RESIDENT = """
import sys
from dataclasses import replace
from pathlib import Path
def opened(path):
    mechanisms = registry.build(registry.set(sys.argv[1]).without(sys.argv[5:]))
    memory = Engine(mechanisms, FreeEmbedder(), path=Path(path), tick_hours=0.0, consolidate_every=1e6, durable=False)
    memory.changes.snapshot.save = lambda **_: None
    for query, event in zip(questions(1000, 24), conversation(1024)[1000:]):
        memory.retrieve(query)
        memory.encode(replace(event, time=memory.now))
    return memory
sys.path.insert(0, sys.argv[4])
from conftest import FreeEmbedder, conversation, questions
from hebbarium.benchmarks.speed.large import resident
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.catalogue.registry import Registry
registry = Registry.read()
small = opened(sys.argv[2])
before = resident()
large = opened(sys.argv[3])
print((resident() - before) / large.store.n)
"""


@pytest.fixture(scope="module", params=CASES, ids=lambda case: "-".join(map(str, case)))
def large(
    files: Files, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Engine]:
    """A copy of a large memory; pytest runs all measures of one before it opens the next, since
    two would not fit at a million units.
    """
    chosen, n, how = request.param
    path, opened = files(chosen, n)
    options = (
        {"index": "ivf", "shortlist": LONGER if n >= MANY else SHORTLIST} if how == "ivf" else {}
    )
    memory: Any = opened(path=copy(path, tmp_path_factory.mktemp("sizes") / "copy.db"), **options)
    yield memory
    memory.changes.snapshot.close(save=False)  # a save would take its time
    del memory
    gc.collect()


def scan(memory: Engine, asked: Iterator[Any]) -> Callable[[], None]:
    """Finds the ten nearest of all vectors for one question after another, with FAISS in one
    thread.
    """
    faiss, index = import_module("faiss"), memory.assembly.index

    def search() -> None:
        vector = memory.assembly.cue(next(asked)).vector
        threads = faiss.omp_get_max_threads()
        faiss.omp_set_num_threads(1)
        index._flat.search(vector[None], 10)
        faiss.omp_set_num_threads(threads)

    return search


def test_retrieve(clock: Any, large: Engine, asked: Any) -> None:
    queries = asked(SMALL)
    clock(
        lambda: large.retrieve(next(queries)),
        64,
        reference=scan(large, asked(SMALL)),
        against=SCAN,
        warmup=4,
    )


def test_encode(clock: Any, large: Engine, turns: Any, asked: Any) -> None:
    """Events of one tick, which is not saved."""
    coming, large.passing.tick_hours = turns(SMALL, 64), HOUR
    clock(
        lambda: large.encode(replace(next(coming), time=large.now)),
        64,
        reference=scan(large, asked(SMALL)),
        against=SCAN,
        warmup=4,
    )


def test_maintain(clock: Any, large: Any, asked: Any) -> None:
    """An hour that passes; not saved."""
    clock(
        lambda: large.passing._until(large.now + HOUR),
        8,
        reference=scan(large, asked(SMALL)),
        against=SCAN,
    )


def test_night(clock: Any, large: Any, asked: Any) -> None:
    """A consolidation with the maintenance before it; not saved."""
    clock(
        lambda: large.passing.consolidate(large.now + HOUR),
        3,
        reference=scan(large, asked(SMALL)),
        against=SCAN,
        warmup=1,
    )


@pytest.mark.parametrize("n", UNITS)
@pytest.mark.parametrize("chosen", SETS)
def test_resident(clock: Any, files: Files, tmp_path: Path, chosen: str, n: int) -> None:
    """Bytes a unit by which a process grows as it loads a memory, answers 24 questions and stores
    24 events, beside one of 1,000 units that has done the same."""
    small, path = files(chosen, SMALL)[0], Path(copy(files(chosen, n)[0], tmp_path / "copy.db"))
    given = [chosen, str(small), str(path), str(Path(__file__).parent), *WITHOUT.get(chosen, ())]
    grown: list[str] = []

    def measure() -> None:
        done = subprocess.run(
            [sys.executable, "-c", RESIDENT, *given], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr[-2_000:]
        grown.append(done.stdout)

    clock(measure, 1, warmup=0)
    print(
        f"\n{chosen}, {n:,} units: {float(grown[0]):,.0f} bytes a unit resident, {path.stat().st_size / n:,.0f} in the file"
    )
