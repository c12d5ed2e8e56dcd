"""The clock of a memory: the part of its state besides columns and events."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

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
