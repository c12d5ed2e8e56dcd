"""Formats 1 to 3 of a snapshot, for reading; the first save rewrites such a file in the present format.

1: events without attributes; 2: no writings; both lack columns, see NEW.  Marks cover contents, not places.
"""
from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..columns import Column
from ..marks import checksum, verify
from ..records import Event
from ..vocabulary import HIDE, IMPORTANCE, KIND, NEWS, SHOW, USED, USED_TIME, WITHHELD, WRITING
from ..writings import Writing
from .snapshot_contents import Forms, Saved, attributes_of, writing_of
from .snapshot_file import SnapshotFile

SINCE_3 = (KIND, WRITING, HIDE, SHOW)
LATER = (WITHHELD,)                     # since the first files of format 4; the tables are the same
SINCE_4 = (USED, USED_TIME, *LATER)
NEW: dict[str, tuple[Column, ...]] = {"1": (IMPORTANCE, NEWS, *SINCE_3, *SINCE_4), "2": (*SINCE_3, *SINCE_4), "3": SINCE_4,
                                    "4": LATER}     # columns that a file may lack: neutral
EMPTY = "x''"


class OlderFormat:
    """The contents of a file of format 1, 2 or 3; see `snapshot_contents.Contents`."""

    def __init__(self, file: SnapshotFile, meta: dict[str, str]) -> None:
        self.meta, self._file, self._format = meta, file, meta["format"]
        self.forms: Forms = {name: (dtype, shape) for name, dtype, shape in file.execute("SELECT name, dtype, shape FROM arrays")}
        verify(checksum({k: v for k, v in meta.items() if k != "mark"}, self.forms), bytes.fromhex(meta["mark"]))

    def events(self) -> Iterator[Saved]:
        last = EMPTY if self._format == "1" else "attributes"
        for *fields, found, attributes in self._file.execute(
                f"SELECT time, text, speaker, session, id, caption, dated, stored_as, mark, {last} FROM events ORDER BY number"):
            verify(checksum(*fields, *([attributes] if attributes else [])), found)
            time, *blobs, dated, row = fields
            text, speaker, session, id, caption = (b.decode("utf-8", "surrogatepass") for b in blobs)
            yield Event(time, text, speaker, session, id, caption, bool(dated), attributes_of(attributes)), row

    def writings(self) -> Iterator[tuple[Writing, int]]:
        if self._format == "3":
            for *fields, found in self._file.execute(
                    "SELECT text, kind, maker, time, sources, span, stored_as, mark FROM writings ORDER BY number"):
                verify(checksum(*fields), found)
                yield writing_of(fields[:-1]), fields[-1]

    def vectors(self) -> list[bytes]:
        found = []
        for due, (row, data, stored) in enumerate(self._file.execute("SELECT row_number, vector, mark FROM vectors ORDER BY row_number")):
            if row != due:
                raise ValueError("a row is missing")
            verify(checksum(data), stored)
            found.append(data)
        return found

    def postings(self, counted: NDArray[np.bool_]) -> None:
        return None

    def entities(self) -> None:
        return None

    def blocks(self) -> Iterator[tuple[str, int, bytes, bytes]]:
        for name, number, data, found in self._file.execute("SELECT name, block, data, mark FROM blocks ORDER BY name, block"):
            verify(checksum(data), found)
            yield name, number, data, found

    def require_whole(self) -> None:
        """The counts of the description are all there is."""
