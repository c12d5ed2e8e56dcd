"""State of a memory besides columns and events: its clock, and whether it still accepts calls."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ..base.errors import HebbariumError, SnapshotError

ADVANCED: Final = -1  # in place of an event: a jump of `advance`


class Jump(NamedTuple):
    """A step of more than a year of a memory's clock, which goes back when the events that took it
    there are erased.

    event   number of the event that took it there; ADVANCED: it was `advance`
    before  h, the present before; NaN: it was the first event
    """

    event: int
    before: float


@dataclass
class Clock:
    """Simulated time.

    now                       h, NaN before the first event, as the others
    maintained, consolidated  h, up to which time the phases MAINTAIN and CONSOLIDATE have run
    jumps                     the steps of more than a year, see `engine.memory.arrivals`
    settled                   whether nothing but time can have changed since the last maintenance
    due                       whether time or anything else can have changed since the late columns
                              were computed, see `engine.flow.dataflow`
    """

    now: float = math.nan
    maintained: float = math.nan
    consolidated: float = math.nan
    jumps: tuple[Jump, ...] = ()
    settled: bool = field(default=False, repr=False)
    due: bool = field(default=True, repr=False)

    def restore_jumps(self, jumps: Iterable[tuple[int, float]]) -> None:
        """Take saved jumps: number of an event, and the present before."""
        self.jumps = tuple(Jump(*jump) for jump in jumps)

    def changed(self) -> None:
        """Note that something other than time has changed."""
        self.settled, self.due = False, True


class Integrity:
    """After a failed change the memory refuses every further call, so that a half-made change is
    neither continued nor saved.

    ended  why the memory refuses calls; empty while it accepts them
    begun  changes begun so far: equal numbers mean an equal state
    """

    def __init__(self) -> None:
        self.ended, self.begun = "", 0

    def end(self, why: str) -> None:
        """Refuse every further call; earlier reasons are kept."""
        if why not in self.ended:
            self.ended = f"{self.ended} and {why}" if self.ended else why

    def require(self, doing: str) -> None:
        """Raises HebbariumError if the memory has ended."""
        if self.ended:
            raise HebbariumError(
                f"this memory {self.ended}",
                where=doing,
                cure="make a new memory; with the path of a snapshot file it continues with what was told before",
            )

    @contextmanager
    def change(self, doing: str, changes: bool = True) -> Iterator[None]:
        """Around a change that must be finished once begun: an exception inside ends the memory.  A
        SnapshotError does not, for it changes a file only.
        """
        self.require(doing)
        self.begun += changes
        try:
            yield
        except SnapshotError:
            raise
        except BaseException:
            if changes:
                self.end(f"broke off in {doing}")
            raise
