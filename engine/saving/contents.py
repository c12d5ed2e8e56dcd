"""The format of a snapshot: its tables, what each row and block holds, and the marks that cover
content and place.
"""

from __future__ import annotations

import json
import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from itertools import accumulate, chain, groupby, repeat
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..base.marks import MISMATCH, SIZE, WHOLE, checksum, verify
from ..contract.records import Event
from ..contract.writings import Writing
from ..state.array_blocks import ArrayBlocks, Place
from ..state.bulk_marks import Marks, block_marks, marks_of, total_of
from ..state.divided import Divided, TextCut
from ..state.postings import Added, Forward
from ..state.recent_blocks import RECENT, latest
from ..text.utf8 import decoded, encoded
from .call_log import TABLE as TABLE_OF_CALLS
from .differences import Parted, Whole
from .file import SnapshotFile

FORMAT = "7"  # the only format; a file of another format is refused
CHUNK = 512  # rows of a table that are read and verified at a time
# times CHUNK rows of a table that are read before their marks are computed, at most
AHEAD = 4
# blocks that are read at a time: a processor's cache holds them until they are copied
FEW = 128
# name of the block that holds small arrays that do not grow, one after the other
PACKED = "packed"
# name of the block that holds the last rows of each array that grows, those beyond its last whole
# block
TAILS = "tails"
# a block RECENT holds what its save has changed in these blocks, see `differences`
DIFFER = (PACKED, TAILS)
TABLES = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE events (number INTEGER PRIMARY KEY, time REAL NOT NULL, text BLOB NOT NULL, speaker BLOB NOT NULL, session BLOB NOT NULL, "
    "id BLOB NOT NULL, caption BLOB NOT NULL, attributes BLOB NOT NULL, dated INTEGER NOT NULL, stored_as INTEGER NOT NULL, "
    "generation INTEGER NOT NULL, mark BLOB NOT NULL)",
    "CREATE TABLE writings (number INTEGER PRIMARY KEY, text BLOB NOT NULL, kind BLOB NOT NULL, maker BLOB NOT NULL, time REAL NOT NULL, "
    "sources TEXT NOT NULL, span TEXT NOT NULL, stored_as INTEGER NOT NULL, generation INTEGER NOT NULL, mark BLOB NOT NULL)",
    "CREATE TABLE memories (number INTEGER PRIMARY KEY, vector BLOB NOT NULL, words BLOB NOT NULL, new_words BLOB NOT NULL, "
    "trigrams BLOB NOT NULL, new_trigrams BLOB NOT NULL, generation INTEGER NOT NULL, mark BLOB NOT NULL)",
    "CREATE TABLE passages (number INTEGER PRIMARY KEY, row_number INTEGER NOT NULL, windows INTEGER NOT NULL, cuts BLOB NOT NULL, "
    "vectors BLOB NOT NULL, spans BLOB NOT NULL, sizes BLOB NOT NULL, words BLOB NOT NULL, new_words BLOB NOT NULL, generation INTEGER NOT NULL, "
    "mark BLOB NOT NULL)",
    "CREATE TABLE entities (number INTEGER PRIMARY KEY, name BLOB NOT NULL, generation INTEGER NOT NULL, mark BLOB NOT NULL)",
    "CREATE TABLE arrays (name TEXT PRIMARY KEY, dtype TEXT NOT NULL, shape TEXT NOT NULL, rows INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE blocks (name TEXT NOT NULL, number INTEGER NOT NULL, data BLOB NOT NULL, generation INTEGER NOT NULL, mark BLOB NOT NULL, "
    "PRIMARY KEY (name, number)) WITHOUT ROWID",
    TABLE_OF_CALLS,
)
EVENTS = "SELECT number, generation, time, dated, stored_as, text, speaker, session, id, caption, attributes, mark FROM events"
MEMORIES = "SELECT number, generation, vector, words, new_words, trigrams, new_trigrams, mark FROM memories"
PASSAGES = "SELECT number, generation, row_number, windows, cuts, vectors, spans, sizes, words, new_words, mark FROM passages"
BLOCKS = "SELECT name, number, generation, data, mark FROM blocks ORDER BY name, number"
Forms = dict[str, tuple[str, str]]
Attributes = tuple[tuple[str, str], ...]
Differing = Parted | Whole


class ArrayForm(NamedTuple):
    """How an array is stored.

    dtype  numpy type of a cell
    shape  as JSON; the first entry is "rows" or "edges" if it has as many rows as the memory or the
           graph
    rows   of a block; 0: the array is part of the block PACKED
    """

    dtype: str
    shape: str
    rows: int

    @property
    def grows(self) -> bool:
        """Whether it has as many rows as the memory or the graph, in blocks of its own."""
        return self.rows > 0 and self.shape.startswith('["')


def description_mark(meta: Mapping[str, str], forms: bytes) -> bytes:
    """The mark of the description.  forms: the mark of all forms."""
    short = {key: value for key, value in meta.items() if key not in ("mark", "configuration")}
    return checksum(short, meta["configuration"], forms.hex())


def forms_mark(forms: Mapping[str, ArrayForm]) -> bytes:
    return checksum({name: tuple(form) for name, form in forms.items()})


class Contents:
    """The contents of a file, without its log of calls; every method raises ValueError for a part
    that is damaged, missing or in the wrong place.

    meta    of the file, in the order in which it stands there
    stored  the form of each array
    marks   mark of each block, by array; after `arrays`
    forms   dtype and shape of each array
    packed  the block PACKED as of the last save, after `arrays`
    tails   the block TAILS, likewise

    beside computes marks in another thread.  All marks are compared before a method ends, but
    `vectors` yields up to AHEAD parts before.
    """

    def __init__(self, file: SnapshotFile, meta: dict[str, str], beside: Executor) -> None:
        self.meta, self._file, self._beside = meta, file, beside
        self.stored = {
            name: ArrayForm(*form)
            for name, *form in file.execute(
                "SELECT name, dtype, shape, rows FROM arrays ORDER BY name"
            )
        }
        verify(description_mark(meta, forms_mark(self.stored)), bytes.fromhex(meta["mark"]))
        if any(list(names) != sorted(names) for names in (meta, self.stored)):
            raise ValueError("a part of the description is in the wrong place")
        sizes = {name: int(meta[name]) for name in ("rows", "edges")}
        shapes = {
            name: json.dumps(
                [sizes[n] if isinstance(n, str) else n for n in json.loads(form.shape)]
            )
            for name, form in self.stored.items()
        }
        self.forms: Forms = {name: (form.dtype, shapes[name]) for name, form in self.stored.items()}
        self.marks: dict[str, Marks] = {}
        self.packed = b""
        self.tails = b""
        # arrays that have no blocks
        self._computed = {f"column.{name}" for name in left_out(meta)}
        # marks in the file, and those that are expected
        self._due: deque[tuple[Sequence[bytes], Future[Marks]]] = deque()
        self._total = 0
        self._added: tuple[list[bytes], ...] = ([], [], [], [])
        self._lengths: tuple[list[NDArray[np.int64]], list[NDArray[np.int64]]] = ([], [])

    def events(self) -> tuple[list[Event], NDArray[np.int64]]:
        """All events, and the row of each, -1 for none."""
        names: dict[bytes, str] = {}  # one text for equal speakers, sessions and captions
        events: list[Event] = []
        stored: list[NDArray[np.int64]] = []
        for numbers, generations, times, dated, rows, *blobs, marks in self._rows(EVENTS):
            values = (
                np.array(times, np.float64),
                np.array(dated, np.int64),
                np.array(rows, np.int64),
            )
            self._verify(marks, marks_of, b"events", numbers, generations, blobs, values)
            for column in (blobs[1], blobs[2], blobs[4]):
                for name in set(column) - names.keys():
                    names[name] = decoded(name)
            texts, ids = ([decoded(blob) for blob in column] for column in (blobs[0], blobs[3]))
            speakers, sessions, captions = (
                map(names.__getitem__, column) for column in (blobs[1], blobs[2], blobs[4])
            )
            attributes, offsets = zip(*map(attributes_of, blobs[5]), strict=True)
            events += events_of(
                values[0].tolist(),
                texts,
                speakers,
                sessions,
                ids,
                captions,
                values[1].astype(bool).tolist(),
                attributes,
                offsets,
            )
            stored.append(values[2])
        self._settle()
        return events, np.concatenate(stored) if stored else np.zeros(0, np.int64)

    def writings(self) -> list[tuple[Writing, int]]:
        """Each writing with its row, -1 for none."""
        writings: list[tuple[Writing, int]] = []
        for numbers, generations, rows, *values, marks in self._rows(
            "SELECT number, generation, stored_as, text, kind, maker, time, sources, span, mark FROM writings"
        ):
            self._verify(marks, writing_marks, numbers, generations, values, rows)
            writings += zip(map(writing_of, zip(*values, strict=True)), rows, strict=True)
        self._settle()
        return writings

    def vectors(self) -> Iterator[bytes]:
        """The vectors of all rows in order, of several rows at a time."""
        for numbers, generations, *parts, marks in self._rows(MEMORIES):
            self._verify(marks, marks_of, b"memories", numbers, generations, parts)
            for every, part in zip(self._added, parts[1:], strict=True):
                every.append(b"".join(part))
            for lengths, part in zip(self._lengths, (parts[1], parts[3]), strict=True):
                lengths.append(np.fromiter(map(len, part), np.int64, len(part)))
            yield b"".join(parts[0])
        self._settle()

    def postings(self, counted: NDArray[np.bool_]) -> tuple[Forward, Forward]:
        """Words and trigrams of each row, after `vectors`.  counted: whether each row counts."""
        words, trigrams = (
            np.concatenate(lengths) if lengths else np.zeros(0, np.int64)
            for lengths in self._lengths
        )
        return forward(self._added, words, trigrams, counted)

    def passages(
        self, dimensions: int, counted: NDArray[np.bool_]
    ) -> tuple[list[Divided], Forward]:
        """The rows that are divided, without words, and the words of all their spans.

        dimensions  of a vector
        counted     whether each row counts
        """
        divided: list[Divided] = []
        blobs: tuple[list[bytes], ...] = ([], [], [])
        for numbers, generations, rows, windows, cuts, vectors, spans, *words, marks in self._rows(
            PASSAGES
        ):
            values = np.array(rows, np.int64), np.array(windows, np.int64)
            self._verify(
                marks,
                marks_of,
                b"passages",
                numbers,
                generations,
                [cuts, vectors, spans, *words],
                values,
            )
            for row, count, cut, vector, span in zip(
                rows, windows, cuts, vectors, spans, strict=True
            ):
                places = (np.frombuffer(blob, "<i4").reshape(-1, 2) for blob in (cut, span))
                divided.append(
                    Divided(
                        row,
                        TextCut(next(places), count, next(places)),
                        np.frombuffer(vector, np.float32).reshape(-1, dimensions),
                        (),
                    )
                )
            for every, part in zip(blobs, words, strict=True):
                every.append(b"".join(part))
        self._settle()
        if len(divided) != int(self.meta["passages"]) or any(
            not 0 <= entry.row < len(counted) for entry in divided
        ):
            raise ValueError("a divided row is missing or unknown")
        sizes, pairs = (
            np.frombuffer(b"".join(blobs[0]), "<i4").astype(np.int64),
            np.frombuffer(b"".join(blobs[1]), "<i4").reshape(-1, 2),
        )
        of_spans = (
            np.repeat(
                counted[[entry.row for entry in divided]],
                [len(entry.cut.spans) for entry in divided],
            )
            if len(sizes)
            else counted[:0]
        )
        return divided, Forward(sizes, pairs[:, 0], pairs[:, 1], names_of(blobs[2]), of_spans)

    def entities(self) -> list[str]:
        """Names of the entities.  Raises ValueError if some are missing."""
        entities: list[str] = []
        for numbers, generations, names, marks in self._rows(
            "SELECT number, generation, name, mark FROM entities"
        ):
            self._verify(marks, marks_of, b"entities", numbers, generations, [names])
            entities += [decoded(name) for name in names]
        self._settle()
        if len(entities) != int(self.meta["entities"]):
            raise ValueError("entities are missing")
        return entities

    def arrays(self, place: Place) -> dict[str, NDArray[Any]]:
        """All arrays, without those of columns that are computed at loading.

        place  an array by name, into which the array of that name may be read, if its form is the
               same
        """
        kept = {
            name: self._file.execute(
                "SELECT generation, data FROM blocks WHERE name = ? ORDER BY number", (name,)
            ).fetchall()
            for name in (*DIFFER, RECENT)
        }
        growing = [name for name, form in self.stored.items() if form.grows]
        later, differences = latest(kept[RECENT], DIFFER)
        rows = Parted(len(growing))
        self.tails = _as_of_last_save(rows, kept[TAILS], differences[TAILS])
        last = dict(zip(growing, rows.of(self.tails), strict=True))
        if any(map(last.get, self._computed)):
            raise ValueError("a block is left over")
        shapes = {
            name: (np.dtype(dtype), json.loads(shape))
            for name, (dtype, shape) in self.forms.items()
            if name not in self._computed
        }
        small = [name for name in shapes if not self.stored[name].rows]
        sizes = [
            type_.itemsize * math.prod(shape) for type_, shape in map(shapes.__getitem__, small)
        ]
        read = {
            name: ArrayBlocks(name, *shapes[name], self.stored[name].rows, place)
            for name in shapes
            if self.stored[name].rows
        }
        self.packed = _as_of_last_save(Whole(), kept[PACKED], differences[PACKED])
        if len(self.packed) != sum(sizes):
            raise ValueError("a block is missing or of another size")
        marks: dict[str, Future[Marks]] = {}
        for name, pieces in groupby(self._blocks(), itemgetter(0)):
            if name in kept:
                numbers, generations, parts, stored_marks = (
                    tuple(chain.from_iterable(column))
                    for column in list(zip(*pieces, strict=True))[1:]
                )
                if (
                    numbers != tuple(range(len(parts)))
                    or list(zip(generations, parts, strict=True)) != kept[name]
                ):
                    raise ValueError("a block is in the wrong place")
                marks[name] = self._verify(
                    stored_marks, block_marks, [name] * len(parts), numbers, generations, parts
                )
                continue
            if name not in read:
                raise ValueError("a block is left over")
            stored: list[bytes] = []
            for _, numbers, generations, parts, stored_marks in pieces:
                read[name].add(numbers, generations, parts, later.get(name, {}))
                stored += stored_marks
            marks[name] = self._verify(stored, read[name].marks)
        self._settle()
        self.marks = {name: pending.result() for name, pending in marks.items()}
        arrays = {name: blocks.array(last.get(name, b"")) for name, blocks in read.items()}
        if any(bool(blocks) != (name in marks) for name, blocks in kept.items()):
            raise ValueError("a block is in the wrong place")
        for name, size, end in zip(small, sizes, accumulate(sizes), strict=True):
            arrays[name] = np.frombuffer(self.packed[end - size : end], shapes[name][0]).reshape(
                shapes[name][1]
            )
        return arrays

    def _blocks(self) -> Iterator[tuple[Any, ...]]:
        """A few blocks of an array at a time, in order: its name, and numbers, generations,
        contents and marks.
        """
        last = ""
        for rows in self._chunks(BLOCKS, FEW):
            for name, blocks in groupby(rows, itemgetter(0)):
                if name < last:
                    raise ValueError("a block is in the wrong place")
                last = name
                yield name, *tuple(zip(*blocks, strict=True))[1:]

    def require_whole(self) -> None:
        """Raises ValueError if a part is missing or of an earlier save; after all others."""
        if f"{self._total % WHOLE:032x}" != self.meta["marks"]:
            raise ValueError("a part is missing, or of another save")

    def _rows(self, query: str) -> Iterator[list[tuple[Any, ...]]]:
        """The columns of up to CHUNK rows at a time, in order of their number, the first column,
        which must be 0, 1, 2, ...
        """
        due = 0
        for columns in self._columns(f"{query} ORDER BY number"):
            if columns[0] != tuple(range(due, due + len(columns[0]))):
                raise ValueError("a row is missing or in the wrong place")
            due += len(columns[0])
            yield columns
            self._settle(AHEAD)

    def _columns(self, query: str) -> Iterator[list[tuple[Any, ...]]]:
        return (list(zip(*rows, strict=True)) for rows in self._chunks(query, CHUNK))

    def _chunks(self, query: str, size: int) -> Iterator[list[tuple[Any, ...]]]:
        cursor = self._file.execute(query)
        while rows := cursor.fetchmany(size):
            yield rows

    def _verify(
        self, stored: Sequence[bytes], expected: Callable[..., Marks], *values: Any
    ) -> Future[Marks]:
        """Compare marks with those that a function computes, which another thread calls
        meanwhile: at the latest in `_settle`.
        """
        self._due.append((stored, self._beside.submit(expected, *values)))
        return self._due[-1][1]

    def _settle(self, left: int = 0) -> None:
        """Compare all marks that are due but the last `left`, and add them to the sum."""
        while len(self._due) > left:
            stored, expected = self._due.popleft()
            if set(map(len, stored)) - {SIZE}:
                raise ValueError(MISMATCH)
            verify(b"".join(stored), expected.result().tobytes())
            self._total += total_of(expected.result())


def left_out(meta: Mapping[str, str]) -> frozenset[str]:
    """Names of the columns that a file leaves out, since loading computes them."""
    return frozenset(json.loads(meta["computed"]))


# --- parts and their marks ------------------------------------------------------------------------
def shortened(part: bytes, row: int) -> bytes:
    """One row of a block that holds the same row throughout; else all of it.

    row  bytes of a row

    >>> shortened(b"ababab", 2), shortened(b"ababaa", 2), shortened(b"", 2)
    (b'ab', b'ababaa', b'')
    """
    first = part[:row]
    return first if row and part[-row:] == first and part == first * (len(part) // row) else part


def _as_of_last_save(
    kind: Differing, stored: Sequence[tuple[int, bytes]], recent: Sequence[tuple[int, bytes]]
) -> bytes:
    """A block of DIFFER as the last save left it.  Raises ValueError if it is missing.

    stored  save and contents of each block of its name; there must be exactly one
    recent  save and contents of each difference that stands in RECENT
    """
    if len(stored) != 1:
        raise ValueError("a block is missing or left over")
    since, whole = stored[0]
    return kind.changed(whole, [part for generation, part in recent if generation > since])


def events_of(times: Sequence[float], *fields: Iterable[Any]) -> list[Event]:
    """Events from the values of each field of theirs, in the order in which the fields are
    declared: in half the time that `Event` takes.

    >>> events_of([30.0], ["We moved."], ["Ada"], [""], ["7"], [""], [True], [()], [None])
    [<Event 1970-01-02 06:00, Ada: 'We moved.'>]
    """
    events = list(map(Event.__new__, repeat(Event, len(times))))
    for name, values in zip(Event.__slots__, (times, *fields), strict=True):
        deque(map(getattr(Event, name).__set__, events, values), maxlen=0)
    return events


def event_cells(event: Event, row: int) -> tuple[Any, ...]:
    """The values of an event in its table, between number and generation."""
    texts = (
        encoded(t) for t in (event.text, event.speaker, event.session, event.id, event.caption)
    )
    return (
        event.time,
        *texts,
        written_attributes(event.attributes, event.offset),
        int(event.dated),
        row,
    )


def writing_cells(writing: Writing, row: int) -> tuple[Any, ...]:
    """The values of a writing in its table, between number and generation."""
    texts = (encoded(t) for t in (writing.text, writing.kind, writing.maker))
    return (*texts, writing.time, json.dumps(writing.sources), json.dumps(writing.span), row)


def writing_marks(
    numbers: Sequence[int],
    generations: Sequence[int],
    values: Sequence[Sequence[Any]],
    rows: Sequence[int],
) -> Marks:
    """values: text, kind, maker, time, sources and span of each writing."""
    text, kind, maker, times, sources, spans = values
    written = [[cell.encode() for cell in column] for column in (sources, spans)]
    return marks_of(
        b"writings",
        numbers,
        generations,
        [text, kind, maker, *written],
        [np.array(times, np.float64), np.array(rows, np.int64)],
    )


def writing_of(values: Sequence[Any]) -> Writing:
    """The writing from its values: text, kind, maker, time, sources, span."""
    text, kind, maker = (decoded(b) for b in values[:3])
    span = json.loads(values[5])
    return Writing(
        text, kind, maker, values[3], tuple(json.loads(values[4])), tuple(span) if span else None
    )


def written_attributes(attributes: Attributes, offset: float | None) -> bytes:
    """Attributes as JSON, beside the offset of the clock if it is known; empty if there is neither.
    Lone surrogates are kept.

    >>> written_attributes((("kind", "note"),), None), written_attributes((), -4.0)
    (b'[["kind", "note"]]', b'{"attributes": [], "offset": -4.0}')
    """
    if offset is not None:
        return encoded(json.dumps({"attributes": attributes, "offset": offset}, ensure_ascii=False))
    return encoded(json.dumps(attributes, ensure_ascii=False)) if attributes else b""


def attributes_of(written: bytes) -> tuple[Attributes, float | None]:
    """Attributes and offset from what `written_attributes` gives."""
    if not written:
        return (), None
    held = json.loads(decoded(written))
    pairs, offset = (held["attributes"], held["offset"]) if isinstance(held, dict) else (held, None)
    return tuple((key, value) for key, value in pairs), offset


def passage_cells(divided: Divided) -> tuple[Any, ...]:
    """The values of a divided row in its table, between number and generation; for its spans the
    number of terms of each, and pairs as in `memory_cells`.
    """
    cut, words = divided.cut, divided.words
    pairs = [
        np.stack([span_words.keys, span_words.counts], axis=1)
        for span_words in words
        if span_words.counts is not None
    ]
    return (
        divided.row,
        cut.windows,
        cut.passages.astype("<i4").tobytes(),
        divided.vectors.tobytes(),
        cut.spans.astype("<i4").tobytes(),
        np.array([len(span_words.keys) for span_words in words], "<i4").tobytes(),
        b"".join(pair.astype("<i4").tobytes() for pair in pairs),
        b"".join(_lines(span_words.names) for span_words in words),
    )


def memory_cells(vector: bytes, words: Added, trigrams: Added) -> tuple[bytes, ...]:
    """The values of a row in its table, between number and generation: pairs of a word and its
    count, and trigrams, by their numbers; the names of new words and trigrams, a line each.
    """
    counts = words.counts if words.counts is not None else np.ones(len(words.keys), np.int64)
    pairs = np.stack([words.keys, counts], axis=1).astype("<i4")
    return (
        vector,
        pairs.tobytes(),
        _lines(words.names),
        trigrams.keys.astype("<i4").tobytes(),
        _lines(trigrams.names),
    )


def forward(
    added: Sequence[Sequence[bytes]],
    word_bytes: NDArray[np.int64],
    trigram_bytes: NDArray[np.int64],
    counted: NDArray[np.bool_],
) -> tuple[Forward, Forward]:
    """Words and trigrams of all rows.

    added                      the last four values of `memory_cells`, of one or several rows at a
                               time
    word_bytes, trigram_bytes  of each row
    """
    words, new_words, trigrams, new_trigrams = added
    pairs = np.frombuffer(b"".join(words), "<i4").reshape(-1, 2)
    keys = np.frombuffer(b"".join(trigrams), "<i4")
    return (
        Forward(word_bytes // 8, pairs[:, 0], pairs[:, 1], names_of(new_words), counted),
        Forward(trigram_bytes // 4, keys, None, names_of(new_trigrams), counted),
    )


def _lines(names: Sequence[str]) -> bytes:
    return encoded("".join(f"{name}\n" for name in names))


def names_of(lines: Sequence[bytes]) -> list[str]:
    return decoded(b"".join(lines)).split("\n")[:-1]
