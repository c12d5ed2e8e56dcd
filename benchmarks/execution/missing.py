"""Cells that the ledger does not hold yet: run here, by worker processes or on a cluster.  This
process alone writes the ledger.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

from ...engine.base.errors import DataError, HebbariumError
from ...reporting.text import plural
from ...reporting.workers import tied
from .ledger import FinishedCell, Ledger
from .setup import Setup

Progress = Callable[[int, int, str], None]
_Record = TypeVar("_Record", bound=Setup)


@dataclass(frozen=True, slots=True)
class Finished:
    """The results of one call of a worker.

    cells   of each finished cell its key, its payload, and what the ledger stores with it
    last    name of the last cell
    failed  what the caller is to know of cells that failed
    """

    cells: Sequence[tuple[str, str, Mapping[str, Any]]]
    last: str
    failed: Sequence[Any] = ()


Work = Callable[..., Finished]  # called with what all calls share, and the arguments of one
Results = Generator[Finished, None, None]
Way = Callable[[Work, Any, Sequence[tuple[Any, ...]]], Results]


def completed(
    specs: Sequence[_Record],
    calls: Callable[[Mapping[str, _Record]], Sequence[tuple[Any, ...]]],
    work: Work,
    shared: Any,
    book: Ledger,
    *,
    name: Callable[[_Record], str],
    what: str,
    ended: Callable[[Finished], None] | None = None,
    failed: Callable[[Sequence[Any]], None] | None = None,
    jobs: int = 1,
    way: Way | None = None,
    progress: Progress | None = None,
) -> list[FinishedCell]:
    """The finished cells of all records, in order; those that the ledger holds are not run again.
    The caller holds `book.locked()`.

    calls   makes the calls of `work` from the records of the missing cells, by key, each once;
            texts are embedded there, before the first call
    name    of a cell, and `what` such a name is: "arm", "probe"
    failed  called at the end with all failures that calls gave back, if there are any; it raises

    Other arguments as of `run_missing`.  Raises DataError for a damaged ledger.
    """
    keys = [spec.key() for spec in specs]
    done = book.done(keys)
    missing = {key: spec for key, spec in zip(keys, specs, strict=True) if key not in done}
    failures: list[Any] = []

    def noted(results: Finished) -> None:
        failures.extend(results.failed)
        if ended:
            ended(results)

    total = len(set(keys))
    run_missing(
        work,
        shared,
        calls(missing) if missing else (),
        book,
        keys,
        total,
        total - len(missing),
        ended=noted,
        jobs=jobs,
        way=way,
        progress=progress,
    )
    if failures and failed:
        failed(failures)
    return finished_cells(book, keys, list(map(name, specs)), what)


def payloads_of_arms(
    specs: Sequence[_Record],
    calls: Callable[[Mapping[str, _Record]], Sequence[tuple[Any, ...]]],
    work: Work,
    shared: Any,
    book: Ledger,
    *,
    jobs: int = 1,
    progress: Progress | None = None,
) -> list[dict[str, Any]]:
    """The payloads of all records, in order, read from JSON, as `completed` finishes them: each is
    a cell of the arm that it names.
    """
    cells = completed(
        specs,
        calls,
        work,
        shared,
        book,
        name=lambda spec: spec.arm,
        what="arm",
        jobs=jobs,
        progress=progress,
    )
    return [json.loads(cell.payload) for cell in cells]


def run_missing(
    work: Work,
    shared: Any,
    calls: Sequence[tuple[Any, ...]],
    book: Ledger,
    keys: Sequence[str],
    total: int,
    finished: int,
    *,
    ended: Callable[[Finished], None] | None = None,
    jobs: int = 1,
    way: Way | None = None,
    progress: Progress | None = None,
) -> None:
    """Call `work` with `shared` and each tuple of arguments, and put the cells that it finishes
    into the ledger, each call's as soon as it ends.

    keys      of all cells, finished ones included
    total     number of cells that `progress` counts, of which `finished` are in the ledger
    ended     called with the results of each call, after they were put into the ledger
    way       how calls are made; None: here with one job or one call, else by `jobs` worker
              processes
    progress  called with (cells done, cells in all, what was done last), first with the number of
              cells that the ledger held

    A worker's numerical libraries use one thread.  If a call fails or is interrupted, finished
    cells stay, and `progress` has been called with their number.
    """
    report, done, latest = progress or (lambda *_: None), finished, None
    report(done, total, "taken from the ledger" if done else "")
    chosen = way or (here if jobs == 1 or len(calls) <= 1 else by_processes(jobs))
    try:
        with closing(chosen(work, shared, calls)) as results:
            for latest in results:
                _put(book, latest)
                done += len(latest.cells)
                if ended:
                    ended(latest)
                report(done, total, latest.last)
    except BaseException:
        with suppress(HebbariumError):  # the ledger may be what fails
            # the interruption may have come while its cells were put
            if latest:
                _put(book, latest)
            if (kept := len(book.done(keys))) > done:
                report(kept, total, "kept")
        raise


def _put(book: Ledger, finished: Finished) -> None:
    for key, payload, meta in finished.cells:
        book.put(key, payload, meta)


def here(work: Work, shared: Any, calls: Sequence[tuple[Any, ...]]) -> Results:
    """The results of calls in this process, in order."""
    for call in calls:
        yield work(shared, *call)


def by_processes(jobs: int) -> Way:
    """Calls by worker processes of this machine; results as they end."""

    def results(work: Work, shared: Any, calls: Sequence[tuple[Any, ...]]) -> Results:
        from joblib import delayed, parallel_config

        packed = pack(shared)
        # a batch of one call, so that no result waits for another
        with parallel_config(backend="loky", inner_max_num_threads=1):
            results = tied(jobs, return_as="generator_unordered", batch_size=1)(
                delayed(called)(work, packed, call) for call in calls
            )
        with closing(results):
            yield from results

    return results


def called(work: Work, packed: bytes, call: tuple[Any, ...]) -> Finished:
    """One call in a worker, which keeps what the calls share."""
    return work(_shared(packed), *call)


def pack(value: Any) -> bytes:
    """A value as bytes; classes of a script that is being run are part of them."""
    import cloudpickle

    packed: bytes = cloudpickle.dumps(value)
    return packed


@lru_cache(maxsize=1)
def _shared(packed: bytes) -> Any:
    return pickle.loads(packed)


def finished_cells(
    book: Ledger, keys: Sequence[str], names: Sequence[str], what: str
) -> list[FinishedCell]:
    """The cells of these keys, in order.  Raises DataError if the ledger is damaged or lacks one,
    which it names.

    names  of the cells
    what   such a name is: "arm", "probe"
    """
    finished = {cell.key: cell for cell in book.cells(set(keys))}
    if lost := [name for name, key in zip(names, keys, strict=True) if key not in finished]:
        raise DataError(
            f"the ledger lacks {plural(len(lost), 'cell')}, the first of {what} {lost[0]!r}",
            where=str(book.path),
            cure="start the same command again; if that does not help, give another folder",
        )
    return [finished[key] for key in keys]
