"""Mutants of trust: ways to break the code that a drill must report.  A drill that passes with one
of them does not test what it promises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from threading import current_thread, main_thread
from typing import Any
from unittest.mock import patch

import numpy as np
from joblib import Parallel

from ...engine.base import marks
from ...engine.contract.columns import Phase
from ...engine.saving import file as snapshot_file
from ...engine.saving.call_log import CallLog
from ...engine.saving.contents import Contents
from ...engine.saving.snapshot import Snapshot
from . import readers

ENGINE, DRILLS = "hebbarium.engine", "hebbarium.benchmarks.drills"
Broken = Callable[[], AbstractContextManager[object]]


@dataclass(frozen=True, slots=True)
class DrillMutant:
    """A way of breaking the code.

    drill     that must report it
    what      is broken
    breaks    within it the code is broken, in forked processes, too
    count     faults that are enough for the drill, with seed 1
    set_name  of the memories; None: that of the drill
    """

    drill: str
    what: str
    breaks: Broken
    count: int
    set_name: str | None = "bm25"


MUTANTS: list[DrillMutant] = []


def mutant(
    drill: str, what: str, count: int, set_name: str | None = "bm25"
) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    """Enter a function, which gives what breaks the code, among the mutants."""

    def enter(breaks: Callable[[], Any]) -> Callable[[], Any]:
        MUTANTS.append(DrillMutant(drill, what, breaks, count, set_name))
        return breaks

    return enter


# --- the file -------------------------------------------------------------------------------------
@mutant("flips", "marks are not compared", 60)
def unmarked() -> Any:
    return _all(
        patch(f"{ENGINE}.saving.contents.verify", lambda stored, expected: None),
        patch.object(Contents, "require_whole", lambda self: None),
    )


@mutant("flips", "a file that is cut off is read", 60)
def cut() -> Any:
    return patch.object(snapshot_file.SnapshotFile, "_truncated", lambda self: False)


@mutant("flips", "calls that are lost are not said", 60)
def lost_in_silence() -> Any:
    return patch(f"{ENGINE}.saving.snapshot.warnings.warn", lambda *given, **named: None)


@mutant("kills", "a tick is not saved", 20)
def unsaved() -> Any:
    return _all(
        patch.object(Snapshot, "save", lambda self, erased=None, state=None: None),
        patch.object(Snapshot, "changing", lambda self, call: nullcontext()),  # would save, too
    )


@mutant("kills", "a file that was not closed is opened without a warning", 20)
def opened_in_silence() -> Any:
    return lost_in_silence()


@mutant("writes", "saves have no journal", 50)
def no_journal() -> Any:
    off = ("PRAGMA journal_mode = OFF", *snapshot_file.SETTINGS)
    return patch.object(snapshot_file, "SETTINGS", off)


@mutant("calls", "calls do not count in the file", 20)
def uncounted() -> Any:
    return patch.object(
        CallLog, "conclude", lambda self, reached: setattr(self, "reached", reached)
    )


@mutant("nights", "half of a consolidation is saved", 4, None)
@contextmanager
def half_a_night() -> Iterator[None]:
    """A save before a consolidation, with the time that the clock has after it."""
    made = Snapshot.__init__

    def hasty(self: Snapshot, *given: Any, **named: Any) -> None:
        made(self, *given, **named)
        # saving knows no phases, so that its protocol of an assembly has no `run`
        run: dict[Phase, Any] = self.assembly.run  # type: ignore[attr-defined]
        consolidate = run[Phase.CONSOLIDATE]

        def too_early(tick: Any) -> None:
            now = self.assembly.clock.now
            self.assembly.clock.now = now + 1.0
            Snapshot.save(self)  # not the one that the drill listens to
            self.assembly.clock.now = now
            consolidate(tick)

        run[Phase.CONSOLIDATE] = too_early

    with patch.object(Snapshot, "__init__", hasty):
        yield


@mutant("texts", "spaces around a text are lost", 60, "hybrid")
def stripped() -> Any:
    read = Contents.events
    return patch.object(
        Contents,
        "events",
        lambda self: ([replace(e, text=e.text.strip()) for e in read(self)[0]], read(self)[1]),
    )


@mutant("users", "a filter admits the words of everybody", 16)
def unfiltered() -> Any:
    return patch(
        f"{ENGINE}.memory.assembly.banned", lambda only, log, store: np.zeros(store.n, np.bool_)
    )


# --- processes and threads ------------------------------------------------------------------------
@mutant("fork", "a fork may write the file", 10, "hybrid")
def owned_by_all() -> Any:
    return patch.object(snapshot_file.SnapshotFile, "require_owner", lambda self: None)


@mutant("readers", "an answer has the scores of another", 120)
def mixed() -> Any:
    answered = readers._answered

    def of_two(memory: Any, text: str) -> Any:
        answer = answered(memory, text)
        alone = current_thread() is main_thread()
        return answer if alone else (answer[0], *answered(memory, "another text")[1:])

    return patch.object(readers, "_answered", of_two)


@mutant("threads", "a vector is wrong", 4)
def zeros() -> Any:
    return patch(
        f"{DRILLS}.threads.CachedEmbedder.embed",
        lambda self, some: np.zeros((len(some), 32), np.float32),
    )


@mutant("orphans", "workers do not know of the process that started them", 2)
def untied() -> Any:
    return patch(f"{DRILLS}.orphans.tied", lambda jobs, **how: Parallel(n_jobs=jobs, **how))


@mutant("sweeps", "the ledger forgets", 3)
def forgetful() -> Any:
    return _all(
        patch("hebbarium.benchmarks.execution.missing._put", lambda book, finished: None),
        patch(f"{DRILLS}.sweeps.finished", lambda *given: b""),
    )


# --- caches and packages --------------------------------------------------------------------------
@mutant("cache", "a mark does not cover the key", 44)
def keyless() -> Any:
    return patch(
        f"{ENGINE}.ports.cache_file.mark",
        lambda place, number, generation, key, *cells: marks.mark(
            place, number, generation, *cells
        ),
    )


@mutant("cache", "values that are damaged are computed anew without a warning", 44)
def repaired_in_silence() -> Any:
    return patch(f"{ENGINE}.ports.cache_file.CacheFile._warn", lambda self, what: None)


@mutant("packages", "a broken package is not named", 4)
def unnamed() -> Any:
    return patch("hebbarium.engine.catalogue.registry.Registry.unloadable", lambda self: ())


@contextmanager
def _all(*patches: AbstractContextManager[object]) -> Iterator[None]:
    with ExitStack() as stack:
        for patch in patches:
            stack.enter_context(patch)
        yield
