"""Speed of single parts with a budget of their own: a help page, dates and features of a megabyte,
a filter, the choice of candidates for a context, the detection of stages.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from operator import attrgetter
from typing import Any

import numpy as np
import pytest

from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.context.coverage import Concepts, cover_within
from hebbarium.engine.contract.records import Event, Only
from hebbarium.engine.contract.vocabulary import CREATED
from hebbarium.engine.flow.observer import Observer
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.state.event_log import EventLog
from hebbarium.engine.state.graph import Graph
from hebbarium.engine.steps.filter import banned
from hebbarium.engine.text.dates import times
from hebbarium.engine.text.features import features

Turns = Callable[[int, int], Iterator[Event]]
SAID = 467_000.0  # h, when a text is said: in April 2023
PROSE = "Caroline told me on 7 May 2023 that she'll move to New York; see src/app.py and MAX_SIZE. Was it fun? So happy!\n"
MEGABYTE = (PROSE * 10_000)[:1_000_000]


def test_help(clock: Any) -> None:
    """The command in a process of its own, from start to end."""
    command = [sys.executable, "-m", "hebbarium", "--help"]
    clock(lambda: subprocess.run(command, capture_output=True, check=True), 5, target=500.0)


def test_dates_of_a_megabyte(clock: Any) -> None:
    clock(lambda: times(MEGABYTE, SAID, len(MEGABYTE)), 3, target=20_000.0, warmup=0)


def test_features_of_a_megabyte(clock: Any) -> None:
    """Each text is one shorter, since one that was just read is remembered."""
    texts = iter([MEGABYTE[i:] for i in range(3)])
    late = attrgetter("terms", "act", "emotion")
    clock(lambda: late(features(next(texts))), 3, target=4_000.0, warmup=0)


def test_a_filter_of_50000_rows(clock: Any) -> None:
    """Half of them have the attribute."""
    n, log = 50_000, EventLog()
    for i in range(n):
        kind = (("kind", "note"),) if i % 2 else ()
        speaker = "Ada" if i % 2 else "Bo"
        log.write(Event(float(i), "", speaker, f"s{i // 9}", f"e{i}", attributes=kind), i)
    numbers = np.arange(n, dtype=np.int32)
    columns: dict[str, Any] = {
        "created": numbers.astype(np.float64),
        "session": numbers // 9,
        "speaker": numbers % 2,
    }

    class Rows:  # only what the filter reads of a store
        n = len(columns[CREATED.name])

        def array(self, column: Any) -> Any:
            return columns[column.name]

    only = Only(10.0, 40_000.0, ("s5", "s90"), ("Ada",), (("kind", "note"),), ("e51",))
    rows: Any = Rows()
    clock(lambda: banned(only, log, rows, Graph()), 5, target=10.0)


def test_coverage_of_2000_candidates(clock: Any) -> None:
    rng = np.random.default_rng(0)
    concepts = Concepts.of([{f"c{c}" for c in rng.zipf(1.3, 40) % 5000} for _ in range(2000)])
    costs = rng.integers(5, 200, 2000)
    clock(lambda: cover_within(concepts, costs, 4096), 6, target=10.0)


@pytest.mark.parametrize("by", ["labels", "gap", "semantic"])
def test_stage_detection(clock: Any, benchmark: Any, turns: Turns, by: str) -> None:
    """200 events a round behind 5,000; the detection alone takes at most 0.2 ms an event."""
    watch = Observer()
    memory = Engine(
        [Registry.read().instance("stage_detection", {"by": by})],
        HashingEmbedder(384),
        consolidate_every=1e9,
        tick_hours=1e9,
        observer=watch,
    )
    events = turns(0, 7_000)
    memory.encode_all(islice(events, 5_000))
    before = watch.mechanism_ms["stage_detection"]
    clock(lambda: memory.encode_all(islice(events, 200)), 7, per=200, warmup=0)
    spent = watch.mechanism_ms["stage_detection"] - before
    assert benchmark.disabled or spent / (memory.store.n - 5_000) <= 0.2
