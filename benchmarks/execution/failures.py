"""How cells are run: which lives are kept, and what happens to a cell that fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...engine.base.errors import HebbariumError

FAILED, LOGS = "failed.jsonl", "logs"


@dataclass(frozen=True, slots=True)
class Options:
    """How cells are run; nothing here changes a row.

    retries     times that a cell which failed is run again
    fail_fast   raise the error of the first cell that fails, instead of going on with the others
    keep_lives  folder for snapshots of finished lives; None: they are not kept
    lives_from  folder of lives that were kept; None: every life is lived
    dask        address of a dask scheduler whose workers run the cells; None: this machine does
    """

    retries: int = 1
    fail_fast: bool = True
    keep_lives: Path | None = None
    lives_from: Path | None = None
    dask: str | None = None


ALONE = Options()


@dataclass(frozen=True, slots=True)
class Failure:
    """A cell that failed every time: one line of failed.jsonl.

    error     its message
    attempts  times that it was run
    log       file of the tracebacks, in the folder of the run
    """

    arm: str
    conversation: str
    error: str
    attempts: int
    log: str


class CellsFailed(HebbariumError):
    """Cells failed; the others are finished and in the ledger."""

    exit_code = 3

    @classmethod
    def of(cls, failures: Sequence[Failure], n_cells: int, out: Path) -> CellsFailed:
        """The error for these failures of a run of `n_cells` cells into the folder `out`."""
        first = failures[0]
        which = f"arm {first.arm!r} and conversation {first.conversation!r}"
        return cls(
            f"{len(failures)} of {n_cells} cells failed, the first of {which}: {first.error}",
            where=str(out / first.log),
            cure=f"see {FAILED} and the logs; the same command runs the failed cells again and takes the others from the ledger",
        )
