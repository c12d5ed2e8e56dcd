"""Cells that the ledger does not hold yet, run one after another or by worker processes."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

from ...engine.errors import HebbariumError
from ...reporting.workers import Tied
from .ledger import Ledger
from .local import Progress


def run_missing(work: Callable[..., str], calls: Sequence[tuple[Any, ...]], book: Ledger, keys: Sequence[str], total: int, *, jobs: int = 1,
                progress: Progress | None = None) -> None:
    """Call `work` with each tuple of arguments; it puts its cell into the ledger and returns the cell's name.

    keys   of all cells, finished ones included
    total  number of cells that `progress` counts; those without a call are finished

    If a call fails or is interrupted, finished cells stay, and `progress` has been called with their number.
    """
    report, done = progress or (lambda *_: None), total - len(calls)
    report(done, total, "taken from the ledger" if done else "")
    if jobs == 1 or len(calls) <= 1:
        finishing: Iterable[str] = (work(*call) for call in calls)
    else:
        from joblib import Parallel, delayed

        finishing = Parallel(n_jobs=jobs, return_as="generator")(delayed(Tied(work))(*call) for call in calls)
    try:
        for last in finishing:
            done += 1
            report(done, total, last)
    except BaseException:
        with suppress(HebbariumError):          # the ledger may be what fails
            if (kept := len(book.done(keys))) > done:
                report(kept, total, "kept")
        raise
