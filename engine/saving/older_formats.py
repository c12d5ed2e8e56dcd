"""Formats 1 to 4 of a snapshot, for reading; the first save rewrites such a file in the present
format.

1: events without attributes; 2: no writings; both lack columns, see NEW.  In 1 to 3 marks cover
contents, not places; 4: every block is whole.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.marks import SIZE, WHOLE, cells, checksum, mark, sum_of, verify
from ..contract.columns import Column
from ..contract.records import Event
from ..contract.vocabulary import (
    ARRIVED,
    CREATED,
    HIDE,
    IMPORTANCE,
    KIND,
    NEWS,
    SHOW,
    USED,
    USED_TIME,
    UTC_OFFSET,
    WITHHELD,
    WRITING,
)
from ..contract.writings import Writing
from ..state.array_blocks import Place
from ..text.utf8 import decoded
from .contents import LATER_TABLES, TABLES, Forms, attributes_of, writing_of
from .file import SnapshotFile

SINCE_3 = (KIND, WRITING, HIDE, SHOW)
LATEST = (ARRIVED, UTC_OFFSET)  # since the first files of format 5; the tables are the same
LATER = (WITHHELD, *LATEST)  # since the first files of format 4; the tables are the same
SINCE_4 = (USED, USED_TIME, *LATER)
NEW: dict[str, tuple[Column, ...]] = {
    "1": (IMPORTANCE, NEWS, *SINCE_3, *SINCE_4),
    "2": (*SINCE_3, *SINCE_4),
    "3": SINCE_4,
    "4": LATER,
    "5": LATEST,
    "6": (),
}  # columns that a file may lack: neutral
# columns that a file may lack, with the one whose values were theirs
SAME_AS = {ARRIVED: CREATED}
EMPTY = "x''"
CHUNK = 1024  # rows of a table that are read and verified at a time
Saved = tuple[Event, int]
TABLES_4 = tuple(
    each.replace(", rows INTEGER NOT NULL", "") for each in TABLES if each not in LATER_TABLES
)


class OlderFormat:
    """The contents of a file of format 1, 2 or 3; see `snapshot_contents.Contents`."""

    def __init__(self, file: SnapshotFile, meta: dict[str, str]) -> None:
        self.meta, self._file, self._format = meta, file, meta["format"]
        self.forms: Forms = {
            name: (dtype, shape)
            for name, dtype, shape in file.execute("SELECT name, dtype, shape FROM arrays")
        }
        verify(
            checksum({k: v for k, v in meta.items() if k != "mark"}, self.forms),
            bytes.fromhex(meta["mark"]),
        )

    def events(self) -> tuple[list[Event], NDArray[np.int64]]:
        return unzipped(self._events())

    def _events(self) -> Iterator[Saved]:
        last = EMPTY if self._format == "1" else "attributes"
        for *fields, found, attributes in self._file.execute(
            f"SELECT time, text, speaker, session, id, caption, dated, stored_as, mark, {last} FROM events ORDER BY number"
        ):
            verify(checksum(*fields, *([attributes] if attributes else [])), found)
            time, *blobs, dated, row = fields
            text, speaker, session, id, caption = (decoded(b) for b in blobs)
            yield (
                Event(
                    time,
                    text,
                    speaker,
                    session,
                    id,
                    caption,
                    bool(dated),
                    *attributes_of(attributes),
                ),
                row,
            )

    def writings(self) -> list[tuple[Writing, int]]:
        writings: list[tuple[Writing, int]] = []
        if self._format == "3":
            for *fields, found in self._file.execute(
                "SELECT text, kind, maker, time, sources, span, stored_as, mark FROM writings ORDER BY number"
            ):
                verify(checksum(*fields), found)
                writings.append((writing_of(fields[:-1]), fields[-1]))
        return writings

    def vectors(self) -> list[bytes]:
        found = []
        for due, (row, data, stored) in enumerate(
            self._file.execute("SELECT row_number, vector, mark FROM vectors ORDER BY row_number")
        ):
            if row != due:
                raise ValueError("a row is missing")
            verify(checksum(data), stored)
            found.append(data)
        return [b"".join(found)]

    def postings(self, counted: NDArray[np.bool_]) -> None:
        return None

    def passages(self, dimensions: int, counted: NDArray[np.bool_]) -> None:
        return None

    def entities(self) -> None:
        return None

    def arrays(self, place: Place) -> dict[str, NDArray[Any]]:
        return assembled(self._blocks(), self.forms)

    def _blocks(self) -> Iterator[tuple[str, int, bytes]]:
        for name, number, data, found in self._file.execute(
            "SELECT name, block, data, mark FROM blocks ORDER BY name, block"
        ):
            verify(checksum(data), found)
            yield name, number, data

    def require_whole(self) -> None:
        """The counts of the description are all there is."""


class Format4:
    """The contents of a file of format 4.

    meta  of the file, in the order in which it stands there
    """

    def __init__(self, file: SnapshotFile, meta: dict[str, str]) -> None:
        self.meta, self._file = meta, file
        self.forms: Forms = {
            name: (dtype, shape)
            for name, dtype, shape in file.execute(
                "SELECT name, dtype, shape FROM arrays ORDER BY name"
            )
        }
        verify(
            checksum({k: v for k, v in meta.items() if k != "mark"}, self.forms),
            bytes.fromhex(meta["mark"]),
        )
        if any(list(names) != sorted(names) for names in (meta, self.forms)):
            raise ValueError("a part of the description is in the wrong place")
        self._total = 0

    def events(self) -> tuple[list[Event], NDArray[np.int64]]:
        return unzipped(self._events())

    def _events(self) -> Iterator[Saved]:
        names: dict[bytes, str] = {}  # of speakers, sessions and captions, which repeat
        for rows in self._rows(
            "SELECT number, generation, time, dated, stored_as, text, speaker, session, id, caption, attributes, mark FROM events"
        ):
            self._verify(
                rows,
                [
                    event_mark(n, generation, time, blobs, dated, row)
                    for n, generation, time, dated, row, *blobs, _ in rows
                ],
            )
            for _, _, time, dated, row, text, speaker, session, id, caption, attributes, _ in rows:
                for name in (speaker, session, caption):
                    if name not in names:
                        names[name] = decoded(name)
                yield (
                    Event(
                        time,
                        decoded(text),
                        names[speaker],
                        names[session],
                        decoded(id),
                        names[caption],
                        bool(dated),
                        *attributes_of(attributes),
                    ),
                    row,
                )

    def writings(self) -> list[tuple[Writing, int]]:
        found: list[tuple[Writing, int]] = []
        for rows in self._rows(
            "SELECT number, generation, stored_as, text, kind, maker, time, sources, span, mark FROM writings"
        ):
            self._verify(
                rows,
                [
                    writing_mark(n, generation, values, row)
                    for n, generation, row, *values, _ in rows
                ],
            )
            found += [(writing_of(values), row) for _, _, row, *values, _ in rows]
        return found

    def vectors(self) -> list[bytes]:
        found: list[bytes] = []
        for rows in self._rows(
            "SELECT number, generation, vector, words, new_words, trigrams, new_trigrams, mark FROM memories"
        ):
            self._verify(
                rows,
                [mark(b"memories", n, generation, *parts) for n, generation, *parts, _ in rows],
            )
            found += [row[2] for row in rows]
        return [b"".join(found)]

    def postings(self, counted: NDArray[np.bool_]) -> None:
        return None  # those of the file are of an earlier rule of terms

    def passages(self, dimensions: int, counted: NDArray[np.bool_]) -> None:
        return None

    def entities(self) -> list[str]:
        found: list[str] = []
        for rows in self._rows("SELECT number, generation, name, mark FROM entities"):
            self._verify(
                rows, [mark(b"entities", n, generation, name) for n, generation, name, _ in rows]
            )
            found += [decoded(name) for _, _, name, _ in rows]
        return found

    def arrays(self, place: Place) -> dict[str, NDArray[Any]]:
        return assembled(self._blocks(), self.forms)

    def _blocks(self) -> Iterator[tuple[str, int, bytes]]:
        last: tuple[str, int] = ("", 0)
        found: list[bytes] = []
        for name, number, data, generation, stored in self._file.execute(
            "SELECT name, number, data, generation, mark FROM blocks ORDER BY name, number"
        ):
            # SQLite trusts the order of the pages, and a later search would miss the block
            if not last < (name, number):
                raise ValueError("a block is in the wrong place")
            last = name, number
            verify(stored, block_mark(name, number, generation, data))
            found.append(stored)
            yield name, number, data
        self._total += sum_of(found)

    def require_whole(self) -> None:
        if f"{self._total % WHOLE:032x}" != self.meta["marks"]:
            raise ValueError("a part is missing, or of another save")

    def _rows(self, query: str) -> Iterator[list[tuple[Any, ...]]]:
        """Up to CHUNK rows at a time, in order of their number, the first value, which must be
        0, 1, 2, ...
        """
        cursor, due = self._file.execute(f"{query} ORDER BY number"), 0
        while rows := cursor.fetchmany(CHUNK):
            if [row[0] for row in rows] != list(range(due, due + len(rows))):
                raise ValueError("a row is missing or in the wrong place")
            due += len(rows)
            yield rows

    def _verify(self, rows: Sequence[tuple[Any, ...]], expected: Sequence[bytes]) -> None:
        """Compare the marks of rows, their last values, and add them to the sum."""
        verify([row[-1] for row in rows], expected)
        self._total += sum_of(expected)


def unzipped(saved: Iterable[Saved]) -> tuple[list[Event], NDArray[np.int64]]:
    """Events and rows of pairs of both."""
    found = list(saved)
    return [event for event, _ in found], np.array([row for _, row in found], np.int64)


def assembled(
    blocks: Iterable[tuple[str, int, bytes]], forms: Mapping[str, tuple[str, str]]
) -> dict[str, NDArray[Any]]:
    """Arrays, read-only, from their blocks.  Raises ValueError for a block that is missing and
    for blocks of another size.
    """
    parts: dict[str, list[bytes]] = {name: [] for name in forms}
    for name, number, data in blocks:
        if number != len(parts[name]):
            raise ValueError("a block is missing")
        parts[name].append(data)
    return {
        name: np.frombuffer(b"".join(parts[name]), np.dtype(dtype)).reshape(json.loads(shape))
        for name, (dtype, shape) in forms.items()
    }


# --- marks of format 4 ----------------------------------------------------------------------------
def event_mark(
    number: int, generation: int, time: float, blobs: Sequence[bytes], dated: int, row: int
) -> bytes:
    return mark(b"events", number, generation, cells(time, dated, row), *blobs)


def writing_mark(number: int, generation: int, values: Sequence[Any], row: int) -> bytes:
    text, kind, maker, time, sources, span = values
    return mark(
        b"writings",
        number,
        generation,
        cells(time, row),
        text,
        kind,
        maker,
        sources.encode(),
        span.encode(),
    )


def block_mark(name: str, number: int, generation: int, data: bytes) -> bytes:
    return mark(
        b"blocks " + name.encode(),
        number,
        generation,
        hashlib.blake2b(data, digest_size=SIZE).digest(),
    )
