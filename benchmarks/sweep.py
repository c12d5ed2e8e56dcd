"""Cells: one mechanism set on one conversation with one seed; run in any order, on any number of workers, each once.

A cell's rows hold nothing that depends on the machine or the clock, so they are the same for any number of jobs and for a
resumed sweep; times stand beside them.
"""
from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from .. import __version__, engine
from ..engine.assembly import planned
from ..engine.errors import DataError, HebbariumError
from ..engine.loop import Engine
from ..engine.observer import Observer
from ..engine.packages import source_digest
from ..engine.ports.embedding_cache import CachedEmbedder
from ..engine.records import Query
from ..engine.registry import MechanismSet, Registry, digest
from ..reporting.files import write_whole
from .datasets import Conversation, Dataset
from .execution.ledger import Ledger

FULL = "full"          # the arm that is the set as it is
PROBED = 16            # questions a conversation whose ranks are compared with each mechanism silenced
RETRIEVED = 10
LIBRARIES = ("numpy", "scipy", "numba", "faiss-cpu", "sentence-transformers", "torch", "PyStemmer")

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class Arm:
    """One mechanism set of an experiment; `id` is "full", "without x" or "swap a->b"."""

    id: str
    chosen: MechanismSet


@dataclass(frozen=True, slots=True)
class Cell:
    """What one cell needs to know; plain data, so that it travels to workers."""

    arm: Arm
    dataset: str
    sha256: str
    conversation: Conversation
    seed: int
    unit: str
    rehearse: float | None = None      # h between a first asking that changes memory and the one that counts


@dataclass(frozen=True)
class Outcome:
    """What came out of a cell.

    rows      one per question
    timing    phase -> ms of every pass
    receipts  mechanism -> calls, cells_changed, ranks_changed
    seconds   wall time
    """

    rows: list[dict[str, Any]]
    timing: dict[str, list[float]]
    receipts: dict[str, dict[str, int]]
    seconds: float


@cache
def code_version() -> str:
    """Version and a digest of every source file of the package: results of other code are other cells."""
    root = Path(engine.__file__).parent.parent
    return f"{__version__}+{source_digest(root, *(root / room for room in ('engine', 'mechanisms', 'benchmarks')))[:12]}"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def versions() -> dict[str, str]:
    """Python and the libraries whose numbers enter a result."""
    return {"python": platform.python_version(), "hebbarium": code_version(), **{name: _version(name) for name in LIBRARIES}}


def run_cell(cell: Cell, registry: Registry, embedder: CachedEmbedder) -> Outcome:
    """Live through one conversation and answer its questions."""
    start = time.perf_counter()
    mechanisms = registry.build(cell.arm.chosen)
    observer = Observer()
    memory = Engine(mechanisms, embedder, seed=cell.seed, observer=observer)
    memory.encode_all(cell.conversation.events)
    questions = sorted(cell.conversation.questions, key=lambda q: q.time)
    every = max(1, -(-len(questions) // PROBED))
    name, code, rows = digest(mechanisms), code_version(), {}
    if cell.rehearse is not None:
        for question in questions:
            memory.advance(max(question.time, memory.now))
            memory.retrieve(Query(question.text, memory.now, question.id), RETRIEVED, learn=True)
        memory.advance(memory.now + cell.rehearse)
    for number, question in enumerate(questions):
        memory.advance(max(question.time, memory.now))
        query = Query(question.text, memory.now, question.id)
        answer = memory.retrieve(query, RETRIEVED)
        if number % every == 0:
            observer.probe(memory.assembly.cue(query))
        ranks = [answer.rank(memory.event_log.row(gold)) for gold in question.gold]
        found = [rank for rank in ranks if rank]
        rows[question.id] = {
            "arm": cell.arm.id, "dataset": cell.dataset, "sha256": cell.sha256, "conversation": cell.conversation.id, "question": question.id,
            "category": question.category, "gold": list(question.gold), "ranks": ranks, "reciprocal_rank": 1.0 / min(found) if found else 0.0,
            "retrieved": [memory.event_log.of_row(int(row)).id for row in answer.rows], "seed": cell.seed, "set": name, "code": code,
        }
    return Outcome(
        [rows[q.id] for q in cell.conversation.questions], {p.value: ms for p, ms in observer.phase_ms.items()},
        {id: asdict(r) for id, r in observer.receipts.items() if id in cell.arm.chosen.mechanisms}, time.perf_counter() - start)


def key_of(cell: Cell, registry: Registry, embedder: CachedEmbedder) -> str:
    """Everything that decides the cell's outcome, hashed."""
    return Ledger.key({
        "arm": cell.arm.id, "set": digest(registry.build(cell.arm.chosen)), "data": cell.sha256, "conversation": cell.conversation.id,
        "unit": cell.unit, "seed": cell.seed, "embedder": [embedder.name, embedder.revision], "code": code_version(), "registry": registry.digest,
        "rehearse": cell.rehearse,
    })


def _work(cell: Cell, key: str, registry: Registry, embedder: CachedEmbedder, ledger: Path) -> None:
    Ledger(ledger).put(key, json.dumps(asdict(run_cell(cell, registry, embedder))), {"arm": cell.arm.id, "conversation": cell.conversation.id})


def run_cells(cells: Sequence[Cell], registry: Registry, embedder: CachedEmbedder, ledger: Path, *, jobs: int = 1,
              progress: Progress | None = None) -> list[Outcome]:
    """The outcomes of all cells, in order; those that the ledger holds are not run again.

    jobs      worker processes; 1 runs here
    progress  called with (cells done, cells in all, what was done last), first with the number of cells that the ledger held

    Interrupted at any moment, finished cells stay.  Raises DataError for a damaged ledger, HebbariumError while another sweep holds it.
    """
    book = Ledger(ledger)
    keys = [key_of(c, registry, embedder) for c in cells]
    with book.sweep():
        finished = book.done(keys)
        todo = [(c, k) for c, k in zip(cells, keys, strict=True) if k not in finished]
        done = len(cells) - len(todo)
        tell = progress or (lambda *_: None)
        tell(done, len(cells), "taken from the ledger" if done else "")
        if jobs == 1 or len(todo) <= 1:
            for cell, key in todo:
                _work(cell, key, registry, embedder, ledger)
                done += 1
                tell(done, len(cells), f"{cell.arm.id}, {cell.conversation.id}")
        else:
            from joblib import Parallel, delayed

            work = (delayed(_work)(c, k, registry, embedder, ledger) for c, k in todo)
            for (cell, _), _ in zip(todo, Parallel(n_jobs=jobs, return_as="generator")(work), strict=True):
                done += 1
                tell(done, len(cells), f"{cell.arm.id}, {cell.conversation.id}")
    outcomes = {found.key: Outcome(**json.loads(found.payload)) for found in book.cells(set(keys))}
    if lost := [c for c, k in zip(cells, keys, strict=True) if k not in outcomes]:
        raise DataError(f"{len(lost)} cells are gone from the ledger, the first of arm {lost[0].arm.id!r}", where=str(ledger),
                        cure="start the sweep again; if it happens again, give it another folder")
    return [outcomes[k] for k in keys]


def embed_ahead(data: Dataset, embedder: CachedEmbedder) -> None:
    """Embed every event and question once, before the cells are handed out."""
    texts = [e.rendered() for c in data.conversations for e in c.events] + [q.text for c in data.conversations for q in c.questions]
    embedder.embed(texts)


def cells_of(arms: Iterable[Arm], data: Dataset, seed: int, unit: str, rehearse: float | None = None) -> list[Cell]:
    """Every arm on every conversation."""
    return [Cell(arm, data.name, data.sha256, c, seed, unit, rehearse) for arm in arms for c in data.conversations]


def check_arms(arms: Iterable[Arm], registry: Registry) -> None:
    """Raises RegistryError or ContractError for an arm that cannot be built; a few milliseconds an arm, so that nobody waits for a late refusal."""
    for arm in arms:
        try:
            planned(registry.build(arm.chosen))
        except HebbariumError as error:
            raise error if arm.id == FULL else type(error)(error.what, where=f"arm {arm.id!r}, {error.where}", cure=error.cure) from error


def write_rows(path: Path, outcomes: Iterable[Outcome]) -> None:
    """rows.jsonl: one line a question, in the order of the cells."""
    write_whole(path, (json.dumps(row, sort_keys=True) + "\n" for outcome in outcomes for row in outcome.rows))


def manifest(chosen: MechanismSet, registry: Registry, data: Dataset, embedder: CachedEmbedder, seed: int, unit: str,
             extra: Mapping[str, Any]) -> dict[str, Any]:
    """manifest.json: everything that is needed to do the run again."""
    built = registry.build(chosen)
    return {
        "set": chosen.name, "set_digest": digest(built), "mechanisms": {m.id: asdict(m.params) for m in built}, "registry_digest": registry.digest,
        "data": {"name": data.name, "sha256": data.sha256, "unit": unit, "notes": dict(data.notes)},
        "embedder": {"name": embedder.name, "revision": embedder.revision, "dimensions": embedder.dimensions},
        "seed": seed, "versions": versions(), **extra,
    }
