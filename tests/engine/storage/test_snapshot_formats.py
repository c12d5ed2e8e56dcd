"""What a file keeps of an event beside its text, and the refusal of a file of another format."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from hebbarium.engine.base.errors import SnapshotError
from hebbarium.engine.contract.columns import Phase
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import ROW
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.saving.contents import ArrayForm, description_mark, forms_mark
from hebbarium.testing.small import by_number, column, does, mechanism, memory


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


@pytest.mark.parametrize("key", ["format", "terms"])
@pytest.mark.parametrize("value", ["0", "1", "4", "6", "8", "10", "", "one"])
def test_a_file_of_another_format_or_rule_of_words_is_refused(
    tmp_path: Path, key: str, value: str
) -> None:
    """Also a whole one, with a mark over its description; it stays as it is."""
    path = tmp_path / "m.db"
    e = made(path=path)
    live(e, 0, 3)
    e.close()
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        ask = connection.execute
        meta = {**dict(ask("SELECT key, value FROM meta ORDER BY key")), key: value}
        forms = {
            name: ArrayForm(*form) for name, *form in ask("SELECT * FROM arrays ORDER BY name")
        }
        for name, held in ((key, value), ("mark", description_mark(meta, forms_mark(forms)).hex())):
            ask("UPDATE meta SET value = ? WHERE key = ?", (held, name))
    before = path.read_bytes()
    kind = "format" if key == "format" else "words of rule"
    with pytest.raises(SnapshotError, match=f"has {kind} {value};.* alone") as caught:
        made(path=path)
    assert "version that wrote it" in caught.value.cure and str(path) in caught.value.where
    assert path.read_bytes() == before


def test_a_file_of_a_format_without_words_is_refused_by_its_format(tmp_path: Path) -> None:
    """As the first formats were, whose description and tables differ."""
    path = tmp_path / "m.db"
    made(path=path).close()
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM meta WHERE key IN ('terms', 'jumps', 'passages')")
        connection.execute("UPDATE meta SET value = '3' WHERE key = 'format'")
        connection.execute("DROP TABLE passages")
    with pytest.raises(SnapshotError, match="has format 3; this version reads format 7 alone"):
        made(path=path)
