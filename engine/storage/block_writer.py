"""Blocks of arrays on their way into a file: some at a time, so that saving much takes little memory beside what is saved."""
from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from .bulk_marks import Marks, as_bytes, block_marks

BATCH: Final = 1 << 26          # bytes that wait to be written, at most, beside the last block
INSERT: Final = "INSERT OR REPLACE INTO blocks (data, generation, mark, name, number) VALUES (?, ?, ?, ?, ?)"
# A block of the same size is rewritten in place, so that SQLite writes only the pages that differ.
UPDATE: Final = "UPDATE blocks SET data = ?, generation = ?, mark = ? WHERE name = ? AND number = ?"


class BlockWriter:
    """Writes the blocks of one save, with their marks.

    to          the file, in a transaction
    generation  number of the save
    known       marks of the blocks that the file holds, by array
    """

    def __init__(self, to: sqlite3.Connection, generation: int, known: Mapping[str, Marks]) -> None:
        self._to, self._generation, self._known = to, generation, known
        self._names, self._numbers = list[str](), list[int]()       # of all blocks that were added
        self._marks = [np.zeros((0, 2), np.uint64)]                 # of those that are written
        self._waiting, self._bytes = list[bytes](), 0

    def add(self, name: str, number: int, part: bytes) -> None:
        """Write a block; the blocks of an array come one after the other."""
        self._names.append(name)
        self._numbers.append(number)
        self._waiting.append(part)
        self._bytes += len(part)
        if self._bytes >= BATCH:
            self._write()

    def finish(self) -> tuple[list[str], list[int], Marks]:
        """Write what waits.  Array, number and mark of each block that was added, in order."""
        self._write()
        return self._names, self._numbers, np.concatenate(self._marks)

    def _write(self) -> None:
        parts = self._waiting
        first = len(self._names) - len(parts)
        names, numbers = self._names[first:], self._numbers[first:]
        marks = block_marks(names, numbers, [self._generation] * len(parts), parts)
        old, new = list[tuple[Any, ...]](), list[tuple[Any, ...]]()
        for name, number, part, mark in zip(names, numbers, parts, as_bytes(marks), strict=True):
            (old if name in self._known and number < len(self._known[name]) else new).append((part, self._generation, mark, name, number))
        self._to.executemany(UPDATE, old)
        self._to.executemany(INSERT, new)
        self._marks.append(marks)
        self._waiting, self._bytes = [], 0
