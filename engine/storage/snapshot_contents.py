"""Format 4 of a snapshot: its tables, what each row and block holds, and the marks that cover content and place."""
from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..marks import SIZE, WHOLE, cells, checksum, mark, sum_of, verify
from ..records import Event
from ..writings import Writing
from .postings import Added, Forward
from .snapshot_file import SnapshotFile

FORMAT = 4
CHUNK = 1024              # rows of a table that are read and verified at a time
TABLES = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE events (number INTEGER PRIMARY KEY, time REAL NOT NULL, text BLOB NOT NULL, speaker BLOB NOT NULL, session BLOB NOT NULL, "
    "id BLOB NOT NULL, caption BLOB NOT NULL, attributes BLOB NOT NULL, dated INTEGER NOT NULL, stored_as INTEGER NOT NULL, "
    "generation INTEGER NOT NULL, mark BLOB NOT NULL)",
    "CREATE TABLE writings (number INTEGER PRIMARY KEY, text BLOB NOT NULL, kind BLOB NOT NULL, maker BLOB NOT NULL, time REAL NOT NULL, "
    "sources TEXT NOT NULL, span TEXT NOT NULL, stored_as INTEGER NOT NULL, generation INTEGER NOT NULL, mark BLOB NOT NULL)",
    "CREATE TABLE memories (number INTEGER PRIMARY KEY, vector BLOB NOT NULL, words BLOB NOT NULL, new_words BLOB NOT NULL, "
    "trigrams BLOB NOT NULL, new_trigrams BLOB NOT NULL, generation INTEGER NOT NULL, mark BLOB NOT NULL)",
    "CREATE TABLE entities (number INTEGER PRIMARY KEY, name BLOB NOT NULL, generation INTEGER NOT NULL, mark BLOB NOT NULL)",
    "CREATE TABLE arrays (name TEXT PRIMARY KEY, dtype TEXT NOT NULL, shape TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE blocks (name TEXT NOT NULL, number INTEGER NOT NULL, data BLOB NOT NULL, generation INTEGER NOT NULL, mark BLOB NOT NULL, "
    "PRIMARY KEY (name, number)) WITHOUT ROWID",
)
Forms = dict[str, tuple[str, str]]
Saved = tuple[Event, int]


class Contents(Protocol):
    """What a file of some format holds; every iteration raises ValueError for a part that is damaged or in the wrong place.

    meta   description of the file
    forms  dtype and shape of each array, by name
    """

    @property
    def meta(self) -> Mapping[str, str]: ...
    @property
    def forms(self) -> Forms: ...

    def events(self) -> Iterator[Saved]:
        """Each event with its row, -1 for none."""
        ...

    def writings(self) -> Iterator[tuple[Writing, int]]:
        """Each writing with its row, -1 for none."""
        ...

    def vectors(self) -> list[bytes]:
        """The vector of each row."""
        ...

    def postings(self, counted: NDArray[np.bool_]) -> tuple[Forward, Forward] | None:
        """Words and trigrams of each row, after `vectors`; None: they follow from the texts.  counted: whether each row counts."""
        ...

    def entities(self) -> list[str] | None:
        """Names of the entities; None: they are among the arrays."""
        ...

    def blocks(self) -> Iterator[tuple[str, int, bytes, bytes]]:
        """Name of the array, number, data and mark of each block, in order."""
        ...

    def require_whole(self) -> None:
        """Raises ValueError if a part is missing or of an earlier save; after all others."""
        ...


class Format4:
    """The contents of a file of format 4.

    meta  of the file, in the order in which it stands there
    """

    def __init__(self, file: SnapshotFile, meta: dict[str, str]) -> None:
        self.meta, self._file = meta, file
        self.forms: Forms = {name: (dtype, shape) for name, dtype, shape in file.execute("SELECT name, dtype, shape FROM arrays ORDER BY name")}
        verify(checksum({k: v for k, v in meta.items() if k != "mark"}, self.forms), bytes.fromhex(meta["mark"]))
        if any(list(names) != sorted(names) for names in (meta, self.forms)):
            raise ValueError("a part of the description is in the wrong place")
        self._total = 0
        self._added: tuple[list[bytes], ...] = ([], [], [], [])

    def events(self) -> Iterator[Saved]:
        names: dict[bytes, str] = {}        # of speakers, sessions and captions, which repeat
        for rows in self._rows(
                "SELECT number, generation, time, dated, stored_as, text, speaker, session, id, caption, attributes, mark FROM events"):
            self._verify(rows, [event_mark(n, generation, time, blobs, dated, row) for n, generation, time, dated, row, *blobs, _ in rows])
            for _, _, time, dated, row, text, speaker, session, id, caption, attributes, _ in rows:
                for name in (speaker, session, caption):
                    if name not in names:
                        names[name] = name.decode("utf-8", "surrogatepass")
                yield Event(time, text.decode("utf-8", "surrogatepass"), names[speaker], names[session], id.decode("utf-8", "surrogatepass"),
                            names[caption], bool(dated), attributes_of(attributes) if attributes else ()), row

    def writings(self) -> Iterator[tuple[Writing, int]]:
        for rows in self._rows("SELECT number, generation, stored_as, text, kind, maker, time, sources, span, mark FROM writings"):
            self._verify(rows, [writing_mark(n, generation, values, row) for n, generation, row, *values, _ in rows])
            for _, _, row, *values, _ in rows:
                yield writing_of(values), row

    def vectors(self) -> list[bytes]:
        found: list[bytes] = []
        for rows in self._rows("SELECT number, generation, vector, words, new_words, trigrams, new_trigrams, mark FROM memories"):
            self._verify(rows, [mark(b"memories", n, generation, *parts) for n, generation, *parts, _ in rows])
            found += [row[2] for row in rows]
            for every, place in zip(self._added, range(3, 7), strict=True):
                every += [row[place] for row in rows]
        return found

    def postings(self, counted: NDArray[np.bool_]) -> tuple[Forward, Forward]:
        words, new_words, trigrams, new_trigrams = self._added
        pairs = np.frombuffer(b"".join(words), "<i4").reshape(-1, 2).astype(np.int64)
        sizes = np.array([len(each) for each in words], np.int64) // 8
        keys = np.frombuffer(b"".join(trigrams), "<i4").astype(np.int64)
        return (Forward(sizes, pairs[:, 0], pairs[:, 1], _names(new_words), counted),
                Forward(np.array([len(each) for each in trigrams], np.int64) // 4, keys, None, _names(new_trigrams), counted))

    def entities(self) -> list[str]:
        found: list[str] = []
        for rows in self._rows("SELECT number, generation, name, mark FROM entities"):
            self._verify(rows, [mark(b"entities", n, generation, name) for n, generation, name, _ in rows])
            found += [name.decode("utf-8", "surrogatepass") for _, _, name, _ in rows]
        return found

    def blocks(self) -> Iterator[tuple[str, int, bytes, bytes]]:
        last: tuple[str, int] = ("", 0)
        found: list[bytes] = []
        for name, number, data, generation, stored in self._file.execute(
                "SELECT name, number, data, generation, mark FROM blocks ORDER BY name, number"):
            if not last < (name, number):       # SQLite trusts the order of the pages, and a later search would miss the block
                raise ValueError("a block is in the wrong place")
            last = name, number
            verify(stored, block_mark(name, number, generation, data))
            found.append(stored)
            yield name, number, data, stored
        self._total += sum_of(found)

    def require_whole(self) -> None:
        if f"{self._total % WHOLE:032x}" != self.meta["marks"]:
            raise ValueError("a part is missing, or of another save")

    def _rows(self, query: str) -> Iterator[list[tuple[Any, ...]]]:
        """Up to CHUNK rows at a time, in order of their number, the first value, which must be 0, 1, 2, ..."""
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


# --- parts and their marks --------------------------------------------------------------------------------------------------------------
def event_cells(event: Event, row: int) -> tuple[Any, ...]:
    """The values of an event in its table, between number and generation."""
    texts = (t.encode("utf-8", "surrogatepass") for t in (event.text, event.speaker, event.session, event.id, event.caption))
    return (event.time, *texts, written_attributes(event.attributes), int(event.dated), row)


def event_mark(number: int, generation: int, time: float, blobs: Sequence[bytes], dated: int, row: int) -> bytes:
    return mark(b"events", number, generation, cells(time, dated, row), *blobs)


def writing_cells(writing: Writing, row: int) -> tuple[Any, ...]:
    """The values of a writing in its table, between number and generation."""
    texts = (t.encode("utf-8", "surrogatepass") for t in (writing.text, writing.kind, writing.maker))
    return (*texts, writing.time, json.dumps(writing.sources), json.dumps(writing.span), row)


def writing_mark(number: int, generation: int, values: Sequence[Any], row: int) -> bytes:
    text, kind, maker, time, sources, span = values
    return mark(b"writings", number, generation, cells(time, row), text, kind, maker, sources.encode(), span.encode())


def writing_of(values: Sequence[Any]) -> Writing:
    """The writing from its values: text, kind, maker, time, sources, span."""
    text, kind, maker = (b.decode("utf-8", "surrogatepass") for b in values[:3])
    span = json.loads(values[5])
    return Writing(text, kind, maker, values[3], tuple(json.loads(values[4])), tuple(span) if span else None)


def block_mark(name: str, number: int, generation: int, data: bytes) -> bytes:
    return mark(b"blocks " + name.encode(), number, generation, hashlib.blake2b(data, digest_size=SIZE).digest())


def written_attributes(attributes: Sequence[tuple[str, str]]) -> bytes:
    """Attributes as JSON; empty if there are none.  Lone surrogates are kept."""
    return json.dumps(attributes, ensure_ascii=False).encode("utf-8", "surrogatepass") if attributes else b""


def attributes_of(written: bytes) -> tuple[tuple[str, str], ...]:
    return tuple((key, value) for key, value in json.loads(written.decode("utf-8", "surrogatepass"))) if written else ()


def memory_cells(vector: bytes, words: Added, trigrams: Added) -> tuple[bytes, ...]:
    """The values of a row in its table, between number and generation: pairs of word and how often, trigrams, and the new ones, a line each."""
    counts = words.counts if words.counts is not None else np.ones(len(words.keys), np.int64)
    pairs = np.stack([words.keys, counts], axis=1).astype("<i4")
    return vector, pairs.tobytes(), _lines(words.names), trigrams.keys.astype("<i4").tobytes(), _lines(trigrams.names)


def _lines(names: Sequence[str]) -> bytes:
    return "".join(f"{name}\n" for name in names).encode("utf-8", "surrogatepass")


def _names(lines: Sequence[bytes]) -> list[str]:
    return b"".join(lines).decode("utf-8", "surrogatepass").split("\n")[:-1]
