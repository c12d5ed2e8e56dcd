"""Blocks of arrays on their way into a file: some at a time, so that saving much takes little
memory beside what is saved.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any, Final

from ..state.bulk_marks import Marks, as_bytes, block_marks
from ..state.recent_blocks import RECENT, ROOM, Block, gathered

BATCH: Final = 1 << 26  # bytes that wait to be written, at most, beside the last block
INSERT: Final = (
    "INSERT OR REPLACE INTO blocks (data, generation, mark, name, number) VALUES (?, ?, ?, ?, ?)"
)
# A block of the same size is rewritten in place, so that SQLite writes only the pages that differ.
UPDATE: Final = "UPDATE blocks SET data = ?, generation = ?, mark = ? WHERE name = ? AND number = ?"
Written = list[tuple[str, list[int], Marks]]  # array, numbers of blocks, their marks


class BlockWriter:
    """Writes the blocks of one save, with their marks.

    to          the file, in a transaction
    generation  number of the save
    known       marks of the blocks that the file holds, by array
    gathers     whether blocks that the file holds already go into a block of RECENT, as long as
                there is room
    """

    def __init__(
        self, to: sqlite3.Connection, generation: int, known: Mapping[str, Marks], gathers: bool
    ) -> None:
        self._to, self._generation, self._known, self.gathers = to, generation, known, gathers
        self._recent, self._room = list[Block](), ROOM
        self._waiting, self._bytes = list[Block](), 0
        self._written: Written = []

    def add(self, name: str, number: int, part: bytes) -> None:
        """Write a block."""
        if self.gathers and self._holds(name, number):
            self.gather(name, number, part)
            if self._room < 0:
                recent, self._recent, self.gathers = self._recent, [], False
                for block in recent:
                    self._enter(*block)
        else:
            self._enter(name, number, part)

    def gather(self, name: str, number: int, part: bytes) -> None:
        """Write a block, or a difference that makes it from the stored one, into the block of
        RECENT.
        """
        self._recent.append((name, number, part))
        self._room -= len(part)

    def finish(self) -> Written:
        """Write what waits; returns the blocks that were written, arrays in the order of writing."""
        if self._recent:
            self._enter(RECENT, len(self._known.get(RECENT, ())), gathered(self._recent))
        self._write()
        return self._written

    def _holds(self, name: str, number: int) -> bool:
        """Whether the file holds such a block."""
        return name in self._known and number < len(self._known[name])

    def _enter(self, name: str, number: int, part: bytes) -> None:
        self._waiting.append((name, number, part))
        self._bytes += len(part)
        if self._bytes >= BATCH:
            self._write()

    def _write(self) -> None:
        if not self._waiting:
            return
        names, numbers, parts = zip(*self._waiting, strict=True)
        marks = block_marks(names, numbers, [self._generation] * len(parts), parts)
        old, new = list[tuple[Any, ...]](), list[tuple[Any, ...]]()
        for name, number, part, mark in zip(names, numbers, parts, as_bytes(marks), strict=True):
            (old if self._holds(name, number) else new).append(
                (part, self._generation, mark, name, number)
            )
        self._to.executemany(UPDATE, old)
        self._to.executemany(INSERT, new)
        ends = [at for at in range(1, len(names)) if names[at] != names[at - 1]]
        for first, end in zip([0, *ends], [*ends, len(names)], strict=True):
            self._written.append((names[first], list(numbers[first:end]), marks[first:end]))
        self._waiting, self._bytes = [], 0
