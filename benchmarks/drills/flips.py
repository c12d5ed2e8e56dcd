"""Damage to the file of a memory: bits, bytes, pages, swaps, lost and former parts.  It is
refused, or the memory is the same, bit for bit.
"""

from __future__ import annotations

import random
import sqlite3
import warnings
from collections.abc import Callable
from pathlib import Path

from ...engine.base.errors import SnapshotError
from ...engine.contract.records import Event
from ...engine.memory.engine import Engine
from ...engine.saving.call_log import HEAD
from ...engine.saving.snapshot import InterruptedWarning
from .tally import Tally

PROMISED = (
    "refused with what, where and cure, or the same digest, at loading and after one more save; or as after some of the calls in its log, "
    "which is said; a file that is cut off is refused"
)
CUTS = ("cut off", "cut off within its last page")
# kinds of pages of an SQLite b-tree: of indexes and of tables
LEAF, INTERIOR = (10, 13), (2, 5)
Damage = Callable[[bytearray, random.Random], None]
Make = Callable[[Path], Engine]
CALLS = 5
LATER = "One more day, and Ada wrote about it, number 4"


def flips(make: Make, events: list[Event], folder: Path, count: int, seed: int) -> Tally:
    """Damage the file of a memory `count` times, in turn in each of the ways below.

    make    opens the memory of a path
    events  what it holds; at least 4
    folder  for the files; they are left there

    Cost: two loadings and a save each.
    """
    tally, path = Tally("flips", PROMISED), folder / "damaged.db"
    former, sound, digest, after = _sound(make, events, folder / "sound.db")
    kinds = damages(former)
    names = sorted(kinds)
    for number in range(count):
        chance = random.Random(f"{seed} {number}")
        kind = names[number % len(names)]
        raw = bytearray(sound)
        kinds[kind](raw, chance)
        for file in folder.glob("damaged.db*"):
            file.unlink()
        path.write_bytes(raw)
        try:
            outcome, broken = _outcome(make, path, events[-1].time, digest, after)
        except Exception as error:  # the drill counts errors of every kind
            outcome, broken = f"failed with {type(error).__name__}: {error}", True
        read = kind in CUTS and raw != sound and outcome != "refused"
        tally.count(kind, outcome if raw != sound else "no change", broken or read)
    return tally


def damages(former: bytes) -> dict[str, Damage]:
    """The ways of damage by name.  former: the file as it was some saves earlier, from which
    pages and rows are put back.
    """
    pages = {"bit": _bit, "byte": _byte, "run of bytes": _run, "bit of a page's head": _head,
             "bit of an index page": _interior,
             "page of zeros": _zero_page, "page of noise": _noise_page, "page twice": _page_twice,
             "pages swapped": _pages_swapped,
             "cut off": _cut, "cut off within its last page": _cut_last, "former page": lambda raw, chance: _former_page(raw, chance, former)}  # fmt: skip
    return {**pages, **{name: _by_sql(edit, former) for name, edit in EDITS.items()}}


def _sound(make: Make, events: list[Event], path: Path) -> tuple[bytes, bytes, str, str]:
    """A file with CALLS calls in its log and a former state of it, its digest, and the digest
    after one more event.
    """
    memory = make(path)
    cut = len(events) // 2
    for event in events[:cut]:
        memory.encode(event)
    memory.advance(memory.now)
    former = path.read_bytes()
    for event in events[cut:]:
        memory.encode(event)
        memory.advance(event.time)
    for number in range(CALLS):
        memory.encode(
            Event(
                memory.now,
                f"At once Bo wrote about it, number {number}",
                "Bo",
                "later",
                f"at once {number}",
            )
        )
    digest, sound = memory.digest(), path.read_bytes()
    memory.close()
    return former, sound, digest, _one_more(make, path, events[-1].time)


def _one_more(make: Make, path: Path, now: float) -> str:
    """Encode one more event, save, load again; the digest."""
    memory = make(path)
    try:
        memory.encode(Event(now + 30.0, LATER, "Ada", "later", "later"))
        memory.advance(now + 30.0)
    finally:
        memory.close()
    again = make(path)
    try:
        return again.digest()
    finally:
        again.close()


def _outcome(make: Make, path: Path, now: float, digest: str, after: str) -> tuple[str, bool]:
    """What came of a damaged file, and whether it broke the promise."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            memory = make(path)
        except SnapshotError as error:
            told = bool(error.what and error.where and error.cure)
            return ("refused", False) if told else ("refused without what, where or cure", True)
        opened = memory.digest()
        memory.close()
        if any(issubclass(warning.category, InterruptedWarning) for warning in caught):
            return "calls lost, and said", False
        if opened != digest:
            return "loaded with another digest", True
        return (
            ("unchanged", False)
            if _one_more(make, path, now) == after
            else ("another digest after the next save", True)
        )


# --- bytes and pages ------------------------------------------------------------------------------
def _size(raw: bytes | bytearray) -> int:
    """Bytes of a page."""
    return int.from_bytes(raw[16:18], "big")


def _page(raw: bytearray, chance: random.Random) -> int:
    """Place of some page."""
    return chance.randrange(len(raw) // _size(raw)) * _size(raw)


def _flip(raw: bytearray, at: int, chance: random.Random) -> None:
    raw[at] ^= 1 << chance.randrange(8)


def _bit(raw: bytearray, chance: random.Random) -> None:
    _flip(raw, chance.randrange(len(raw)), chance)


def _byte(raw: bytearray, chance: random.Random) -> None:
    raw[chance.randrange(len(raw))] = chance.randrange(256)


def _run(raw: bytearray, chance: random.Random) -> None:
    at = chance.randrange(len(raw) - 64)
    raw[at : at + 64] = chance.randbytes(64)


def _head(raw: bytearray, chance: random.Random) -> None:
    """The head of a page and its list of cells."""
    at = _page(raw, chance)
    _flip(raw, at + (100 if at == 0 else 0) + chance.randrange(24), chance)


def _interior(raw: bytearray, chance: random.Random) -> None:
    """A page that leads to others, or the schema if there is none."""
    size = _size(raw)
    interior = [at for at in range(size, len(raw), size) if raw[at] in INTERIOR] or [0]
    _flip(raw, chance.choice(interior) + chance.randrange(size), chance)


def _zero_page(raw: bytearray, chance: random.Random) -> None:
    at = _page(raw, chance)
    raw[at : at + _size(raw)] = bytes(_size(raw))


def _noise_page(raw: bytearray, chance: random.Random) -> None:
    at = _page(raw, chance)
    raw[at : at + _size(raw)] = chance.randbytes(_size(raw))


def _page_twice(raw: bytearray, chance: random.Random) -> None:
    page, other = _page(raw, chance), _page(raw, chance)
    raw[page : page + _size(raw)] = raw[other : other + _size(raw)]


def _pages_swapped(raw: bytearray, chance: random.Random) -> None:
    page, other, size = _page(raw, chance), _page(raw, chance), _size(raw)
    raw[page : page + size], raw[other : other + size] = (
        raw[other : other + size],
        raw[page : page + size],
    )


def _cut(raw: bytearray, chance: random.Random) -> None:
    del raw[chance.choice([0, 1, 99, 100, chance.randrange(len(raw))]) :]


def _cut_last(raw: bytearray, chance: random.Random) -> None:
    """Where nothing but spare room may be lost, which SQLite does not notice."""
    del raw[len(raw) - chance.randrange(1, 64) :]


def _former_page(raw: bytearray, chance: random.Random, former: bytes) -> None:
    """A page as it was some saves earlier: a write that the disk has lost."""
    at = chance.randrange(min(len(raw), len(former)) // _size(raw)) * _size(raw)
    raw[at : at + _size(raw)] = former[at : at + _size(raw)]


# --- rows and blocks ------------------------------------------------------------------------------
def _by_sql(
    edit: Callable[[sqlite3.Connection, random.Random, bytes], None], former: bytes
) -> Damage:
    """A change of the contents, in a file whose pages stay in order."""

    def damage(raw: bytearray, chance: random.Random) -> None:
        connection = sqlite3.connect(":memory:")
        try:
            connection.deserialize(bytes(raw))
            with connection:
                edit(connection, chance, former)
            raw[:] = connection.serialize()
        finally:
            connection.close()

    return damage


def _pick(
    connection: sqlite3.Connection, chance: random.Random, table: str, key: str, most: int
) -> list[tuple[object, ...]]:
    return chance.sample(
        keys := connection.execute(f"SELECT {key} FROM {table} ORDER BY {key}").fetchall(),
        min(most, len(keys)),
    )


def _swap_rows(connection: sqlite3.Connection, chance: random.Random, former: bytes) -> None:
    """Exchange the numbers of two rows of a table."""
    table = chance.choice(["events", "memories", "entities", "writings"])
    keys = _pick(connection, chance, table, "number", 2)
    if len(keys) == 2:
        (key,), (other,) = keys
        for new, old in ((-1, key), (key, other), (other, -1)):
            connection.execute(f"UPDATE {table} SET number = ? WHERE number = ?", (new, old))


def _swap_blocks(connection: sqlite3.Connection, chance: random.Random, former: bytes) -> None:
    """Exchange two blocks of arrays, with their marks, of one size if there are such."""
    name, number, size = connection.execute(
        "SELECT name, number, length(data) FROM blocks ORDER BY name, number LIMIT 1 OFFSET ?",
        (chance.randrange(connection.execute("SELECT count(*) FROM blocks").fetchone()[0]),),
    ).fetchone()
    others = connection.execute(
        "SELECT name, number FROM blocks WHERE length(data) = ? AND (name, number) != (?, ?)",
        (size, name, number),
    ).fetchall()
    if others:
        places = [(name, number), chance.choice(others)]
        held = [
            connection.execute(
                "SELECT data, generation, mark FROM blocks WHERE name = ? AND number = ?", place
            ).fetchone()
            for place in places
        ]
        for place, values in zip(places, held[::-1], strict=True):
            connection.execute(
                "UPDATE blocks SET data = ?, generation = ?, mark = ? WHERE name = ? AND number = ?",
                (*values, *place),
            )


def _swap_vectors(connection: sqlite3.Connection, chance: random.Random, former: bytes) -> None:
    (number,), (other,) = _pick(connection, chance, "memories", "number", 2)
    values = {
        n: connection.execute("SELECT vector FROM memories WHERE number = ?", (n,)).fetchone()[0]
        for n in (number, other)
    }
    connection.executemany(
        "UPDATE memories SET vector = ? WHERE number = ?",
        [(values[number], other), (values[other], number)],
    )


def _changed_call(connection: sqlite3.Connection, chance: random.Random, former: bytes) -> None:
    """One byte of a call in the log."""
    for number, data in connection.execute("SELECT number, data FROM calls").fetchall():
        end = HEAD.unpack_from(data)[2]
        changed = bytearray(data)
        if end > HEAD.size:
            changed[chance.randrange(HEAD.size, end)] ^= 1 << chance.randrange(8)
        connection.execute("UPDATE calls SET data = ? WHERE number = ?", (bytes(changed), number))


def _lost_row(connection: sqlite3.Connection, chance: random.Random, former: bytes) -> None:
    table, key = chance.choice([("events", "number"), ("memories", "number"), ("entities",
        "number"), ("writings", "number"), ("arrays", "name"),
                                ("meta", "key")])  # fmt: skip
    for (lost,) in _pick(connection, chance, table, key, 1):
        connection.execute(f"DELETE FROM {table} WHERE {key} = ?", (lost,))


def _lost_block(connection: sqlite3.Connection, chance: random.Random, former: bytes) -> None:
    for place in _pick(connection, chance, "blocks", "name, number", 1):
        connection.execute("DELETE FROM blocks WHERE name = ? AND number = ?", place)


def _former_block(connection: sqlite3.Connection, chance: random.Random, former: bytes) -> None:
    """A block with its generation and mark as it was some saves earlier."""
    old = sqlite3.connect(":memory:")
    try:
        old.deserialize(former)
        held = old.execute(
            "SELECT data, generation, mark, name, number FROM blocks ORDER BY name, number"
        ).fetchall()
    finally:
        old.close()
    connection.execute(
        "UPDATE blocks SET data = ?, generation = ?, mark = ? WHERE name = ? AND number = ?",
        chance.choice(held),
    )


def _value(connection: sqlite3.Connection, chance: random.Random, former: bytes) -> None:
    """One value of a row, next to what it was."""
    table, column = chance.choice([("events", "time"), ("events", "stored_as"), ("events", "dated"),
                                   ("events", "generation"),
                                   ("blocks", "generation"), ("memories", "generation"),
                                   ("writings", "stored_as"), ("writings", "time")])  # fmt: skip
    key = "name, number" if table == "blocks" else "number"
    for place in _pick(connection, chance, table, key, 1):
        where = " AND ".join(f"{name} = ?" for name in key.split(", "))
        connection.execute(f"UPDATE {table} SET {column} = {column} + 1 WHERE {where}", place)


EDITS: dict[str, Callable[[sqlite3.Connection, random.Random, bytes], None]] = {
    "rows swapped": _swap_rows,
    "blocks swapped": _swap_blocks,
    "vectors swapped": _swap_vectors,
    "row lost": _lost_row,
    "block lost": _lost_block,
    "former block": _former_block,
    "value changed": _value,
    "call changed": _changed_call,
}
