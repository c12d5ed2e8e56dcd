"""What a memory holds besides columns and events: its clocks, and whether it can still be changed."""
from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from .errors import HebbariumError, SnapshotError


@dataclass
class Clock:
    """Simulated time, and how far the phases have come, all in hours; NaN before the first event."""

    now: float = math.nan
    maintained: float = math.nan
    consolidated: float = math.nan


class Integrity:
    """Half a change is neither gone on from nor saved: what breaks off ends the memory.

    ended  why memory takes nothing more; empty while it does
    """

    def __init__(self) -> None:
        self.ended = ""

    def end(self, why: str) -> None:
        self.ended = self.ended or why

    def require(self, doing: str) -> None:
        if self.ended:
            raise HebbariumError(f"this memory {self.ended}", where=doing, cure="make it anew; a snapshot file holds the last finished tick")

    @contextmanager
    def change(self, doing: str, changes: bool = True) -> Iterator[None]:
        """Around what must be finished once it is begun; a file that cannot be written is another matter."""
        self.require(doing)
        try:
            yield
        except SnapshotError:
            raise
        except BaseException:
            if changes:
                self.end(f"broke off in {doing}")
            raise
