"""Cells that the ledger does not hold yet, run one after another or by worker processes."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from ...engine.errors import DataError, HebbariumError
from ...reporting.workers import Tied
from .ledger import FinishedCell, Ledger

Progress = Callable[[int, int, str], None]
Call = TypeVar("Call", bound="tuple[Any, ...]")
Found = TypeVar("Found")


def run_missing(work: Callable[..., Found], calls: Sequence[Call], book: Ledger, keys: Sequence[str], total: int, finished: int, *,
                ended: Callable[[Call, Found], tuple[int, str]], jobs: int = 1, progress: Progress | None = None) -> None:
    """Call `work` with each tuple of arguments; it puts its cells into the ledger.

    keys      of all cells, finished ones included
    total     number of cells that `progress` counts, of which `finished` are in the ledger
    ended     of the arguments and the result of a call, how many cells it has finished, and the name of the last
    progress  called with (cells done, cells in all, what was done last), first with the number of cells that the ledger held

    A worker's numerical libraries use one thread.  If a call fails or is interrupted, finished cells stay, and `progress` has been called with their
    number.
    """
    report, done = progress or (lambda *_: None), finished
    report(done, total, "taken from the ledger" if done else "")
    try:
        if jobs == 1 or len(calls) <= 1:
            results = (work(*call) for call in calls)
        else:
            from joblib import Parallel, delayed, parallel_config

            with parallel_config(backend="loky", inner_max_num_threads=1):
                results = Parallel(n_jobs=jobs, return_as="generator")(delayed(Tied(work))(*call) for call in calls)
        for call, result in zip(calls, results, strict=True):
            more, last = ended(call, result)
            done += more
            report(done, total, last)
    except BaseException:
        with suppress(HebbariumError):          # the ledger may be what fails
            if (kept := len(book.done(keys))) > done:       # cells of other workers
                report(kept, total, "kept")
        raise


def finished_cells(book: Ledger, keys: Sequence[str], names: Sequence[str], what: str) -> list[FinishedCell]:
    """The cells of these keys, in order.  Raises DataError if the ledger is damaged or lacks one, which it names.

    names  of the cells
    what   such a name is: "arm", "probe"
    """
    found = {cell.key: cell for cell in book.cells(set(keys))}
    if lost := [name for name, key in zip(names, keys, strict=True) if key not in found]:
        raise DataError(f"{len(lost)} cells are missing from the ledger, the first of {what} {lost[0]!r}", where=str(book.path),
                        cure="start the same command again; if that does not help, give another folder")
    return [found[key] for key in keys]
