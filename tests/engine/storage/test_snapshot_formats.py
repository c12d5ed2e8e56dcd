"""Snapshots of formats 1 to 4: what a memory that was saved without attributes, writings, places
in marks or postings continues with; attributes.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hebbarium.engine.base.errors import SnapshotError
from hebbarium.engine.base.marks import WHOLE, sum_of
from hebbarium.engine.contract.columns import Phase
from hebbarium.engine.contract.drafts import Draft, Kind
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import DRAFTS, IMPORTANCE, NEWS, ROW
from hebbarium.engine.memory import assembly
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.saving import contents as snapshot_contents
from hebbarium.engine.saving import snapshot
from hebbarium.engine.state import postings
from hebbarium.engine.state.bulk_marks import as_bytes, block_marks
from hebbarium.engine.text.words import RULE
from hebbarium.testing.small import by_number, column, does, mechanism, memory

# that a format lacks
NEW_COLUMNS = {
    "1": ("importance", "news", "kind", "writing", "hide", "show"),
    "2": ("kind", "writing", "hide", "show"),
}


FROM_1 = "ALTER TABLE events ADD COLUMN attributes BLOB NOT NULL DEFAULT x''"


def learner() -> Any:
    """A mechanism that keeps the length of each text."""
    trace = column("trace")

    def dress(view: Any, incoming: Any) -> None:
        view.trace[view.row] = len(incoming.event.text)

    return mechanism(
        "learner", does(Phase.ENCODE, dress, reads=[ROW], sets=[trace]), owns=[trace], order=1
    )


def made(**options: Any) -> Engine:
    return memory(by_number(), learner(), **options)


def live(e: Engine, first: int, last: int) -> None:
    for i in range(first, last):
        e.encode(
            Event(i * 5.0, f"Ada \ud800 met Bo, number {i % 4}", f"p{i % 3}", f"s{i // 4}", f"e{i}")
        )
        if i % 6 == 5:
            e.archive(i // 2)
        e.advance(e.now)


def checksum(parts: list[Any]) -> bytes:
    """As format 1 has it: BLAKE2b of 16 bytes over the repr of the parts, mappings as sorted
    items.
    """
    return hashlib.blake2b(
        repr([sorted(p.items()) if isinstance(p, dict) else p for p in parts]).encode(),
        digest_size=16,
    ).digest()


FORMAT_3 = """
    CREATE TABLE new_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
    CREATE TABLE new_events (number INTEGER PRIMARY KEY, time REAL NOT NULL, text BLOB NOT NULL, speaker BLOB NOT NULL, session BLOB NOT NULL,
        id BLOB NOT NULL, caption BLOB NOT NULL, dated INTEGER NOT NULL, stored_as INTEGER NOT NULL, mark BLOB NOT NULL, attributes BLOB NOT NULL);
    CREATE TABLE vectors (row_number INTEGER PRIMARY KEY, vector BLOB NOT NULL, mark BLOB NOT NULL);
    CREATE TABLE new_arrays (name TEXT PRIMARY KEY, dtype TEXT NOT NULL, shape TEXT NOT NULL);
    CREATE TABLE new_blocks (name TEXT NOT NULL, block INTEGER NOT NULL, data BLOB NOT NULL, mark BLOB NOT NULL, PRIMARY KEY (name, block));
    CREATE TABLE new_writings (number INTEGER PRIMARY KEY, text BLOB NOT NULL, kind BLOB NOT NULL, maker BLOB NOT NULL, time REAL NOT NULL,
        sources TEXT NOT NULL, span TEXT NOT NULL, stored_as INTEGER NOT NULL, mark BLOB NOT NULL);
    INSERT INTO new_meta SELECT key, value FROM meta WHERE key NOT IN ('generation', 'marks', 'entities', 'edges', 'passages');
"""


def arrays_of(connection: sqlite3.Connection) -> dict[str, tuple[str, list[int], bytes]]:
    """Dtype, shape and bytes of each array of a file in the present format: packed ones taken
    apart, one row repeated where it stands for a block.
    """
    ask, found, packed = connection.execute, {}, 0
    counts = dict(ask("SELECT key, value FROM meta WHERE key IN ('rows', 'edges')"))
    forms = ask("SELECT name, dtype, shape, rows FROM arrays ORDER BY name").fetchall()
    tails = tails_of(
        connection, [name for name, _, shape, rows in forms if rows and shape.startswith('["')]
    )
    for name, dtype, written, rows in forms:
        shape = [
            int(counts[size]) if isinstance(size, str) else size for size in json.loads(written)
        ]
        size, data = np.dtype(dtype).itemsize * int(np.prod(shape)), b""
        if rows:
            for number, part in ask(
                "SELECT number, data FROM blocks WHERE name = ? ORDER BY number", (name,)
            ).fetchall():
                due = (
                    size // shape[0] * (min(rows * (number + 1), shape[0]) - rows * number)
                    if shape
                    else size
                )
                data += part * (due // len(part)) if part else b""
            if len(data) < size and tails[name]:
                data += tails[name] * ((size - len(data)) // len(tails[name]))
        else:
            (whole,) = ask("SELECT data FROM blocks WHERE name = 'packed'").fetchone()
            data, packed = whole[packed : packed + size], packed + size
        assert len(data) == size
        found[name] = dtype, shape, data
    return found


def tails_of(connection: sqlite3.Connection, names: list[str]) -> dict[str, bytes]:
    """The last rows of each array that grows: after the lengths of all, as numbers of 32 bits,
    one after the other.
    """
    (whole,) = connection.execute("SELECT data FROM blocks WHERE name = 'tails'").fetchone()
    lengths, found, at = struct.unpack_from(f"<{len(names)}i", whole), {}, 4 * len(names)
    for name, length in zip(names, lengths, strict=True):
        found[name], at = whole[at : at + length], at + length
    assert at == len(whole)
    return found


def plain(data: bytes) -> bytes:
    """Checksum of bytes in formats 1 to 3."""
    return hashlib.blake2b(data, digest_size=16).digest()


def to_format(path: Path, format: str) -> None:
    """Rewrite a file as an older format has it: other marks and blocks, no postings, entities as an
    array; before 3 fewer fields, columns, types of edges.
    """
    connection = sqlite3.connect(path)
    connection.executescript(FORMAT_3)
    with connection:
        ask, put = connection.execute, connection.executemany
        put(
            "INSERT INTO new_events VALUES (?,?,?,?,?,?,?,?,?,?,?)",
            [
                (n, *fields, checksum([*fields, *([attributes] if attributes else [])]), attributes)
                for n, *fields, attributes in ask(
                    "SELECT number, time, text, speaker, session, id, caption, dated, stored_as, attributes FROM events"
                ).fetchall()
            ],
        )
        put(
            "INSERT INTO vectors VALUES (?,?,?)",
            [(n, v, plain(v)) for n, v in ask("SELECT number, vector FROM memories").fetchall()],
        )
        put(
            "INSERT INTO new_writings VALUES (?,?,?,?,?,?,?,?,?)",
            [
                (n, *fields, checksum(fields))
                for n, *fields in ask(
                    "SELECT number, text, kind, maker, time, sources, span, stored_as FROM writings"
                ).fetchall()
            ],
        )
        names = json.dumps(
            [name.decode() for (name,) in ask("SELECT name FROM entities ORDER BY number")]
        ).encode()
        whole = {"graph.entities": ("|u1", [len(names)], names), **arrays_of(connection)}
        put(
            "INSERT INTO new_arrays VALUES (?,?,?)",
            [(name, dtype, json.dumps(shape)) for name, (dtype, shape, _) in whole.items()],
        )
        put(
            "INSERT INTO new_blocks VALUES (?,0,?,?)",
            [(name, data, plain(data)) for name, (*_, data) in whole.items()],
        )
        for table in (
            "meta",
            "events",
            "writings",
            "memories",
            "passages",
            "entities",
            "arrays",
            "blocks",
        ):
            ask(f"DROP TABLE {table}")
        for table in ("meta", "events", "writings", "arrays", "blocks"):
            ask(f"ALTER TABLE new_{table} RENAME TO {table}")
        if format != "3":
            before_3(connection, format)
        number(connection, format)
    connection.close()


def to_format_4(path: Path) -> None:
    """Rewrite a file as format 4 has it: marks of BLAKE2b, arrays with their sizes, each in
    whole blocks of 512 rows.
    """
    connection = sqlite3.connect(path)
    with connection:
        ask = connection.execute
        for table, query, numbers in (
            (
                "events",
                "SELECT number, generation, time, dated, stored_as, text, speaker, session, id, caption, attributes FROM events",
                "<dqq",
            ),
            (
                "writings",
                "SELECT number, generation, time, stored_as, text, kind, maker, sources, span FROM writings",
                "<dq",
            ),
            (
                "memories",
                "SELECT number, generation, vector, words, new_words, trigrams, new_trigrams FROM memories",
                "",
            ),
            ("entities", "SELECT number, generation, name FROM entities", ""),
        ):
            for at, generation, *values in ask(query).fetchall():
                count = max(len(numbers) - 1, 0)
                parts = [struct.pack(numbers, *values[:count])] * bool(count) + [
                    v.encode() if isinstance(v, str) else v for v in values[count:]
                ]
                ask(
                    f"UPDATE {table} SET mark = ? WHERE number = ?",
                    (placed(table, at, generation, *parts), at),
                )
        arrays = arrays_of(connection)
        for statement in (
            "DROP TABLE arrays",
            "DELETE FROM blocks",
            "DELETE FROM meta WHERE key IN ('edges', 'passages')",
            "DROP TABLE passages",
            "DROP TABLE calls",
            "CREATE TABLE arrays (name TEXT PRIMARY KEY, dtype TEXT NOT NULL, shape TEXT NOT NULL) WITHOUT ROWID",
        ):
            ask(statement)
        for name, (dtype, shape, data) in arrays.items():
            ask("INSERT INTO arrays VALUES (?,?,?)", (name, dtype, json.dumps(shape)))
            size = 512 * (len(data) // shape[0]) if shape and shape[0] else max(len(data), 1)
            for at in range(-(-len(data) // size)):
                part = data[at * size : (at + 1) * size]
                found = placed(f"blocks {name}", at, 1, plain(part))
                ask("INSERT INTO blocks VALUES (?,?,?,?,?)", (name, at, part, 1, found))
        marks = [
            found
            for table in ("events", "writings", "memories", "entities", "blocks")
            for (found,) in ask(f"SELECT mark FROM {table}")
        ]
        total = sum(int.from_bytes(found, "little") for found in marks) % 2**128
        ask("UPDATE meta SET value = ? WHERE key = 'marks'", (f"{total:032x}",))
        ask("UPDATE meta SET value = '4' WHERE key = 'format'")
        number(connection, "4")
    connection.close()


def placed(table: str, number: int, generation: int, *parts: bytes) -> bytes:
    """A mark of format 4: of table, number, generation, the length of each part, and the parts."""
    head = struct.pack(f"<{len(parts) + 2}Q", number, generation, *map(len, parts))
    return plain(table.encode() + b"\0" + head + b"".join(parts))


def before_3(connection: sqlite3.Connection, format: str) -> None:
    """Take out what formats 1 and 2 lack."""
    assert connection.execute("SELECT count(*) FROM writings").fetchone() == (0,)
    connection.execute("DROP TABLE writings")
    for name in ("graph.relations", *(f"column.{name}" for name in NEW_COLUMNS[format])):
        for table in ("arrays", "blocks"):
            assert connection.execute(f"DELETE FROM {table} WHERE name = ?", (name,)).rowcount
    caps = np.zeros(6, np.int64).tobytes()
    connection.execute(
        "UPDATE blocks SET data = ?, mark = ? WHERE name = 'graph.caps'", (caps, plain(caps))
    )
    connection.execute("UPDATE arrays SET shape = '[6]' WHERE name = 'graph.caps'")
    if format == "1":
        connection.execute("ALTER TABLE events DROP COLUMN attributes")
    connection.execute("DELETE FROM meta WHERE key = 'writings'")


def number(connection: sqlite3.Connection, format: str) -> None:
    """Set the number of the format, and the checksum over the description."""
    meta = {
        key: value
        for key, value in connection.execute("SELECT key, value FROM meta")
        if key != "mark"
    } | {"format": format}
    forms = {
        name: (dtype, shape)
        for name, dtype, shape in connection.execute("SELECT name, dtype, shape FROM arrays")
    }
    assert meta["format"] == format
    for key, value in {**meta, "mark": checksum([meta, forms]).hex()}.items():
        connection.execute("UPDATE meta SET value = ? WHERE key = ?", (value, key))


def old_file(path: Path, format: str = "1") -> Path:
    """A file of an older format with 12 events."""
    e = made(path=path)
    live(e, 0, 12)
    e.close()
    to_format_4(path) if format == "4" else to_format(path, format)
    return path


@pytest.fixture
def old(tmp_path: Path) -> Path:
    return old_file(tmp_path / "m.db")


def fields(path: Path) -> list[str]:
    """Names of the fields of an event in a copy of the file, which may be locked."""
    copy = path.with_suffix(".copy")
    copy.write_bytes(path.read_bytes())
    connection = sqlite3.connect(copy)
    names = [row[1] for row in connection.execute("PRAGMA table_info(events)")]
    connection.close()
    return names


@pytest.mark.parametrize("format", ["1", "2", "3", "4"])
def test_a_file_of_an_older_format_is_read_and_continues_exactly(
    tmp_path: Path, format: str
) -> None:
    old, whole = old_file(tmp_path / "m.db", format), made()
    live(whole, 0, 12)
    e = made(path=old)
    assert e.digest() == whole.digest() and all(event.attributes == () for event in e.events)
    assert (
        (e.column(IMPORTANCE) == 0.5).all()
        and (e.column(NEWS) == 0.0).all()
        and len(e.column(NEWS)) == 12
    )
    live(e, 12, 20)
    live(whole, 12, 20)
    assert e.digest() == whole.digest()
    words = e.assembly.lexicon.vocabulary, e.assembly.trigrams.vocabulary
    e.close()
    again = made(path=old)
    assert again.digest() == whole.digest()
    assert [v.since(0) for v in words] == [
        v.since(0) for v in (again.assembly.lexicon.vocabulary, again.assembly.trigrams.vocabulary)
    ]


@pytest.mark.parametrize("format", ["1", "2", "3", "4"])
def test_a_file_of_an_older_format_can_be_saved_first_by_an_erasure(
    tmp_path: Path, format: str
) -> None:
    old, whole = old_file(tmp_path / "m.db", format), made()
    live(whole, 0, 12)
    e = made(path=old)
    assert e.erase("e3", confirm=True) == whole.erase("e3", confirm=True)
    assert e.digest() == whole.digest()
    e.close()
    assert made(path=old).digest() == whole.digest()


def to_early_format_5(path: Path) -> None:
    """Give the last rows of each array a block of its own, as the first files of format 5 had
    it, which listed no computed columns.
    """
    connection = sqlite3.connect(path)
    with connection:
        ask = connection.execute
        meta = dict(ask("SELECT key, value FROM meta"))
        rows = ask("SELECT name, dtype, shape, rows FROM arrays ORDER BY name").fetchall()
        total = int(meta["marks"], 16)
        for name, tail in tails_of(
            connection, [name for name, _, shape, each in rows if each and shape.startswith('["')]
        ).items():
            if tail:
                place = ask("SELECT count(*) FROM blocks WHERE name = ?", (name,)).fetchone()[0]
                (mark,) = as_bytes(block_marks([name], [place], [int(meta["generation"])], [tail]))
                ask(
                    "INSERT INTO blocks VALUES (?,?,?,?,?)",
                    (name, place, tail, int(meta["generation"]), mark),
                )
                total += sum_of([mark])
        (gone,) = ask("SELECT mark FROM blocks WHERE name = 'tails'").fetchone()
        ask("DELETE FROM blocks WHERE name = 'tails'")
        ask("DELETE FROM meta WHERE key = 'computed'")
        del meta["computed"]
        meta["marks"] = f"{(total - sum_of([gone])) % WHOLE:032x}"
        forms = snapshot_contents.forms_mark(
            {name: snapshot_contents.Form(*form) for name, *form in rows}
        )
        for key, value in (
            ("marks", meta["marks"]),
            ("mark", snapshot_contents.description_mark(meta, forms).hex()),
        ):
            ask("UPDATE meta SET value = ? WHERE key = ?", (value, key))
    connection.close()


@pytest.mark.parametrize("rows", [8, 512])
@pytest.mark.parametrize("more", [0, 2, 4, 9])
def test_an_early_file_of_format_5_continues_exactly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int, more: int
) -> None:
    """more: events after it was loaded, so that its last block stays short, is filled, or has
    another after it.
    """
    path, whole = tmp_path / "m.db", made()
    for name in ("BLOCK", "EDGES"):
        monkeypatch.setattr(snapshot, name, rows)
    e = made(path=path)
    live(e, 0, 12)
    e.close()
    to_early_format_5(path)
    live(whole, 0, 12)
    e = made(path=path)
    assert e.digest() == whole.digest()
    live(e, 12, 12 + more)
    live(whole, 12, 12 + more)
    e.save()
    assert e._snapshot is not None and e._snapshot.unsaved() == []
    e.close()
    connection = sqlite3.connect(path)
    assert connection.execute(
        "SELECT count(*) FROM blocks WHERE name = 'column.trace'"
    ).fetchone() == ((12 + more) // rows,)
    connection.close()
    again = made(path=path)
    assert again.digest() == whole.digest()
    again.close()


def without_offsets(path: Path) -> None:
    """Take the offsets of clocks out of a file of few rows, as the first files of format 5 had
    none.
    """
    connection = sqlite3.connect(path)
    with connection:
        ask = connection.execute
        meta, name = dict(ask("SELECT key, value FROM meta")), "column.utc_offset"
        forms = {
            each: snapshot_contents.Form(*form)
            for each, *form in ask("SELECT name, dtype, shape, rows FROM arrays ORDER BY name")
        }
        tails = tails_of(connection, [each for each, form in forms.items() if form.grows])
        del tails[name], forms[name]
        ask("DELETE FROM arrays WHERE name = ?", (name,))
        assert ask("SELECT count(*) FROM blocks WHERE name = ?", (name,)).fetchone() == (0,)
        generation, gone = ask(
            "SELECT generation, mark FROM blocks WHERE name = 'tails'"
        ).fetchone()
        data = struct.pack(f"<{len(tails)}i", *map(len, tails.values())) + b"".join(tails.values())
        (mark,) = as_bytes(block_marks(["tails"], [0], [generation], [data]))
        ask("UPDATE blocks SET data = ?, mark = ? WHERE name = 'tails'", (data, mark))
        meta["marks"], meta["format"] = (
            f"{(int(meta['marks'], 16) + sum_of([mark]) - sum_of([gone])) % WHOLE:032x}",
            "5",
        )
        ask("DROP TABLE calls")
        for key, value in (
            ("marks", meta["marks"]),
            ("format", "5"),
            (
                "mark",
                snapshot_contents.description_mark(meta, snapshot_contents.forms_mark(forms)).hex(),
            ),
        ):
            ask("UPDATE meta SET value = ? WHERE key = ?", (value, key))
    connection.close()


@pytest.mark.parametrize("first", ["save", "erase"])
def test_a_file_without_offsets_continues_exactly(tmp_path: Path, first: str) -> None:
    path, whole = tmp_path / "m.db", made()
    e = made(path=path)
    for each in (e, whole):
        live(each, 0, 12)
    e.close()
    without_offsets(path)
    e = made(path=path)
    assert e.digest() == whole.digest()
    if first == "erase":
        assert e.erase("e3", confirm=True) == whole.erase("e3", confirm=True)
    for each in (e, whole):
        live(each, 12, 15)
        each.encode(Event(200.0, "Far from home 15", "Ada", id="far", offset=-7.5))
        each.advance(200.0)
    e.close()
    again = made(path=path)
    assert (
        again.digest() == whole.digest()
        and again.events[-1].offset == -7.5
        and again.column("utc_offset")[-2:].tolist() == [0.0, -7.5]
    )
    again.close()


@pytest.mark.parametrize("offset", [None, 0.0, -4.0, 5.75, -75 / 16, 23.999])
def test_offsets_come_back_from_a_file(tmp_path: Path, offset: float | None) -> None:
    told = Event(
        30.0,
        "We moved 7",
        "Ada",
        attributes=(("kind", "note"),) if offset == -4.0 else (),
        offset=offset,
    )
    e = made(path=tmp_path / "m.db")
    e.encode(told)
    e.close()
    again = made(path=tmp_path / "m.db")
    assert again.events == (told,) and again.column("utc_offset").tolist() == [offset or 0.0]
    again.close()


@pytest.mark.parametrize("block", [8, 4096])
def test_new_columns_are_neutral_in_rows_that_were_saved_before_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    """A change of later rows leaves the earlier ones neutral, also in the file and in blocks
    that hold both.
    """
    monkeypatch.setattr(snapshot, "BLOCK", block)
    e = made(path=old_file(tmp_path / "m.db"))
    live(e, 12, 14)
    e.store.array(IMPORTANCE)[12:] = 0.75
    e.close()
    np.testing.assert_array_equal(
        made(path=tmp_path / "m.db").column(IMPORTANCE), [0.5] * 12 + [0.75] * 2
    )


def test_the_file_becomes_format_6_when_it_is_saved(old: Path) -> None:
    before = old.read_bytes()
    assert "attributes" not in fields(old)
    e = made(path=old)
    assert old.read_bytes() == before, "opening it changes nothing"
    e.encode(Event(100.0, "later, number 1", attributes=(("kind", "note"),)))
    e.advance(e.now)
    e.close()
    assert "attributes" in fields(old)
    connection = sqlite3.connect(old)
    assert connection.execute("SELECT value FROM meta WHERE key = 'format'").fetchone() == ("6",)
    connection.close()
    again = made(path=old)
    assert again.events[-1].get("kind") == "note" and again.events[0].attributes == ()


def test_a_failed_first_save_leaves_the_file_in_format_1(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    e = made(path=old)

    def broken(*_: Any) -> dict[str, str]:
        raise sqlite3.OperationalError("disk I/O error")

    with monkeypatch.context() as patch:
        patch.setattr(snapshot.Snapshot, "_meta", broken)
        with pytest.raises(SnapshotError):
            e.save()
    assert "attributes" not in fields(old)
    e.save()
    assert "attributes" in fields(old)
    e.close()


@pytest.mark.parametrize("format", ["0", "7", "10", "", "one"])
def test_other_formats_are_refused(old: Path, format: str) -> None:
    connection = sqlite3.connect(old)
    with connection:
        number(connection, format)
    connection.close()
    with pytest.raises(
        SnapshotError, match=f"has format {format}, not 1, 2, 3, 4, 5 or 6"
    ) as caught:
        made(path=old)
    assert caught.value.cure and str(old) in caught.value.where


@pytest.mark.parametrize("format", ["1", "2"])
def test_a_file_of_either_format_that_lacks_other_columns_is_refused(
    old: Path, format: str
) -> None:
    connection = sqlite3.connect(old)
    with connection:
        if format == "2":
            connection.execute(FROM_1)  # a file that calls itself 2 without the columns of 2
        else:
            for table in ("arrays", "blocks"):
                connection.execute(f"DELETE FROM {table} WHERE name = 'column.detail'")
        number(connection, format)
    connection.close()
    with pytest.raises(
        SnapshotError,
        match="not in the file: " + ("detail" if format == "1" else "importance, news"),
    ):
        made(path=old)


STRANGE = (
    ("kind", ""),
    ("kind", "\ud83d"),
    ("kind", "\udc00 a\x00\n\"'"),
    ("tags", "é"),
    ("tags", "日本"),
)


def test_attributes_come_back_as_they_were(tmp_path: Path) -> None:
    """Also texts that UTF-8 or JSON cannot hold as they are; two halves of a surrogate pair stay
    two.
    """
    e = memory(by_number(), path=tmp_path / "m.db")
    pairs = tuple(sorted({*STRANGE, ("split", "\ud83d\ude00"), ("whole", "😀")}))
    unsorted: Any = {"b": ["y", "x"], "a": "z"}
    e.encode_all(
        [
            Event(1.0, "number 1", attributes=pairs),
            Event(2.0, "number 2"),
            Event(3.0, "number 3", attributes=unsorted),
        ]
    )
    before = e.digest()
    e.close()
    again = memory(by_number(), path=tmp_path / "m.db")
    assert [event.attributes for event in again.events] == [
        pairs,
        (),
        (("a", "z"), ("b", "x"), ("b", "y")),
    ]
    assert again.digest() == before and again.event_log.rows_with("b", "x").tolist() == [2]


def test_attributes_enter_the_digest() -> None:
    digests = set()
    for given in ((), (("kind", "a"),), (("kind", "b"),), (("kind", "a"), ("kind", "b"))):
        e = memory(by_number())
        e.encode(Event(1.0, "number 1", attributes=given))
        digests.add(e.digest())
    assert len(digests) == 4


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE events SET attributes = x'' WHERE number = 0",
        'UPDATE events SET attributes = CAST(\'[["kind", "b"]]\' AS BLOB)',
        "UPDATE events SET attributes = x'5b' WHERE number = 1",
        "UPDATE events SET attributes = (SELECT attributes FROM events WHERE number = 0)",
        "ALTER TABLE events DROP COLUMN attributes",
    ],
)
def test_attributes_that_were_tampered_with_are_refused(tmp_path: Path, change: str) -> None:
    e = memory(by_number(), path=tmp_path / "m.db")
    e.encode_all([Event(1.0, "number 1", attributes=(("kind", "a"),)), Event(2.0, "number 2")])
    e.close()
    connection = sqlite3.connect(tmp_path / "m.db")
    with connection:
        connection.execute(change)
    connection.close()
    with pytest.raises(SnapshotError) as caught:
        memory(by_number(), path=tmp_path / "m.db")
    assert caught.value.cure and str(tmp_path) in caught.value.where


@pytest.mark.parametrize("format", ["3", "4"])
def test_rows_that_the_memory_made_come_back_from_older_formats(
    tmp_path: Path, format: str
) -> None:
    def write(view: Any, tick: Any) -> None:
        view.drafts.add(Draft(f"Ada and Bo, up to {tick.end:g}", Kind.SUMMARY, (0, 1)))

    def make(path: Path | None = None) -> Engine:
        return memory(
            by_number(),
            mechanism("m", does(Phase.CONSOLIDATE, write, adds=[DRAFTS])),
            consolidate_every=12.0,
            path=path,
        )

    path, whole = tmp_path / "m.db", make()
    e = make(path)
    live(e, 0, 12)
    e.close()
    live(whole, 0, 12)
    to_format_4(path) if format == "4" else to_format(path, format)
    again = make(path)
    assert (
        again.digest() == whole.digest()
        and len(again.event_log.made) >= 4
        and again.event_log.origins(again.event_log.made[-1]) == (0, 1)
    )
    live(again, 12, 20)
    live(whole, 12, 20)
    again.close()
    last = make(path)
    assert last.digest() == whole.digest()
    last.close()


@pytest.mark.parametrize("first", ["save", "encode", "erase"])
def test_a_file_with_terms_of_another_rule_is_indexed_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    """Its words and trigrams are those of an earlier rule: the memory finds what the present
    rule finds, and the first save writes it.
    """
    path, whole = tmp_path / "m.db", made()
    with monkeypatch.context() as earlier:
        earlier.setattr(snapshot, "RULE", "1")
        earlier.setattr(assembly, "terms_of", lambda text, **_: ["one"] * len(text.split()))
        earlier.setattr(postings, "written", lambda text: ["one"])
        e = made(path=path)
        live(e, 0, 12)
        e.close()
    live(whole, 0, 12)
    for erased in ("e3", "e7"):
        e = made(path=path)
        for each in (e, whole):
            if first == "encode":
                live(each, len(each.events), len(each.events) + 3)
            elif first == "erase":
                each.erase(erased, confirm=True)
            elif each is e:
                each.save()
        for word in ("ada", "met", "one", "10"):
            assert e.assembly.lexicon.document_frequency(
                word
            ) == whole.assembly.lexicon.document_frequency(word), word
        assert set(e.assembly.trigrams.vocabulary.since(0)) == set(
            whole.assembly.trigrams.vocabulary.since(0)
        )
        assert e.digest() == whole.digest()
        e.close()
    with contextlib.closing(sqlite3.connect(path)) as file:
        assert file.execute("SELECT value FROM meta WHERE key = 'terms'").fetchone() == (RULE,)
