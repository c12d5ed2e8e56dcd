"""The last rows of arrays, and arrays that do not grow, in a snapshot: a tick writes what it has
changed in them, which loading puts together.
"""

from __future__ import annotations

import sqlite3
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hebbarium.engine.base.errors import SnapshotError
from hebbarium.engine.contract.columns import Phase, Scope, Upkeep
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import ROW
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.saving import block_writer, snapshot
from hebbarium.engine.saving.contents import PACKED, TAILS
from hebbarium.engine.saving.differences import GRAIN, Parted, Whole
from hebbarium.engine.state.recent_blocks import RECENT, SAVES
from hebbarium.testing.small import by_number, column, does, mechanism, memory


@pytest.mark.parametrize("seed", range(40))
def test_a_difference_makes_the_one_block_of_the_other(seed: int) -> None:
    """Parts that grow, become shorter, change here and there, appear or vanish."""
    rng = np.random.default_rng(seed)
    old = [
        rng.bytes(int(rng.choice([0, 1, GRAIN, 5 * GRAIN + 3, 1000])))
        for _ in range(rng.integers(1, 9))
    ]
    new = []
    for part in old:
        now = bytearray(part[: int(rng.integers(0, len(part) + 1))] if rng.random() < 0.3 else part)
        for at in rng.integers(0, len(now), 3 if now else 0).tolist():
            now[at] ^= int(rng.integers(0, 2))
        new.append(bytes(now) + rng.bytes(int(rng.choice([0, 0, 1, 70]))))
    block = Parted(len(old))
    one, other = block.joined(old), block.joined(new)
    found = block.difference(one, other)
    assert block.changed(one, [found]) == other and block.of(other) == new
    assert block.changed(one, []) == one


def test_a_difference_has_what_differs() -> None:
    block, one, rows = Parted(2), bytes(range(256)) * 64, 3 * bytes(100)
    found = block.difference(
        block.joined([one, rows]), block.joined([one[:5000] + b"\xff" + one[5001:], rows + b"more"])
    )
    assert len(found) == 4 * (2 + 1 + 2 * 2) + GRAIN + (304 - 300 // GRAIN * GRAIN), (
        "lengths, number, places and lengths of two runs, the runs"
    )


def test_what_is_no_difference_of_the_block_is_refused() -> None:
    block = Parted(2)
    one, other = block.joined([b"ab" * 40, b""]), block.joined([b"ab" * 40, b"cd"])
    found = block.difference(one, other)
    ints = np.frombuffer(found, "<i4", 5)
    assert ints.tolist() == [80, 2, 1, 80, 2]
    for wrong in (
        found[:-1],
        found + b"x",
        found[:3],
        b"",
        *(
            np.where(np.arange(5) == place, value, ints).astype("<i4").tobytes() + found[20:]
            for place, value in (
                (0, -1),
                (0, 2**31 - 1),
                (1, 1),
                (2, 2),
                (2, -1),
                (3, 81),
                (3, -4),
                (4, 1),
            )
        ),
    ):
        with pytest.raises(ValueError):
            block.changed(one, [wrong])
    assert block.changed(one, [found, block.difference(other, one)]) == one


@pytest.mark.parametrize("changes", [0, 1, 7, 4000])
def test_a_difference_of_a_block_without_parts_is_at_most_the_block(changes: int) -> None:
    rng = np.random.default_rng(changes)
    old = rng.integers(0, 256, 9_999, np.uint8)
    new = old.copy()
    new[rng.choice(new.size, changes, replace=False)] ^= 1
    found = Whole.difference(old.tobytes(), new.tobytes())
    assert Whole.changed(old.tobytes(), [found]) == new.tobytes()
    assert len(found) <= min(new.size, 4 * 2 + changes * (GRAIN + 8)) and (
        len(found) == new.size
    ) == (changes == 4000)
    with pytest.raises(ValueError):
        Whole.changed(old.tobytes(), [found[:-1]])


def made(path: Path | None) -> Engine:
    """A memory of which each event changes the row before it, too, a cell of a table and all of
    a smaller one.
    """
    level, table, total = (
        column("level", shape=(64,), upkeep=Upkeep(anywhere=True)),
        column("table", Scope.GLOBAL, shape=(40, 64)),
        column("total", Scope.GLOBAL, shape=(64,)),
    )

    def raise_(view: Any, incoming: Any) -> None:
        view.level[max(view.row - 1, 0) :, view.row % 64] = incoming.event.time
        view.table[view.row % 40, view.row % 64] += 1.0
        view.total[:] += 1.0

    owned = [level, table, total]
    return memory(
        by_number(),
        mechanism("m", does(Phase.ENCODE, raise_, reads=[ROW], sets=owned), owns=owned, order=1),
        path=path,
    )


def live(e: Engine, first: int, last: int) -> None:
    for i in range(first, last):
        e.encode(Event(3.0 * i, f"Ada met Bo in Lisbon, number {i}", "Ada", f"s{i // 3}", f"e{i}"))
        e.advance(e.now)


def not_closed(path: Path) -> Engine:
    """The memory of a file as a process that was killed left it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return made(path)


def blocks(path: Path) -> list[tuple[str, int, int]]:
    """Name, number and bytes of each block of a file."""
    with sqlite3.connect(f"file:{path}?mode=ro&nolock=1&immutable=1", uri=True) as connection:
        found = connection.execute(
            "SELECT name, number, length(data) FROM blocks ORDER BY name, number"
        ).fetchall()
    connection.close()
    return found


def kept(path: Path, name: str) -> list[int]:
    """Bytes of each block of a name."""
    found = [(number, size) for other, number, size in blocks(path) if other == name]
    assert [number for number, _ in found] == list(range(len(found)))
    return [size for _, size in found]


@pytest.mark.slow
def test_a_tick_writes_little_and_its_file_is_whole(tmp_path: Path) -> None:
    """After each tick, and after a process that ended without closing the file; closing brings
    all blocks to their places.
    """
    path, copy, plain, seen = tmp_path / "m.db", tmp_path / "copy.db", made(None), set()
    e = made(path)
    for i in range(60):
        live(e, i, i + 1)
        live(plain, i, i + 1)
        found = kept(path, RECENT)
        seen.add(len(found))
        assert len(kept(path, TAILS)) == 1 and max(found, default=0) < 40_000
        assert e.changes.snapshot is not None and e.changes.snapshot.unsaved() == []
        copy.write_bytes(path.read_bytes())
        again = not_closed(copy)
        assert again.digest() == plain.digest()
        if i % 13 == 12:
            vars(e).update(vars(again))  # the life goes on with the file that was not closed
            path, copy = copy, tmp_path / f"copy{i}.db"
        else:
            again.close()
            assert not kept(copy, RECENT) and len(kept(copy, TAILS)) == 1
    assert SAVES - 1 <= max(seen) <= SAVES and len(seen) > SAVES // 2
    e.close()
    last = made(path)
    assert last.digest() == plain.digest()
    last.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM blocks WHERE name = 'recent' AND number = 1",
        "UPDATE blocks SET number = 3 WHERE name = 'recent' AND number = 1",
        "UPDATE blocks SET name = 'recemt' WHERE name = 'recent' AND number = 1",
        "UPDATE blocks SET data = x'' WHERE name = 'recent' AND number = 1",
        "DELETE FROM blocks WHERE name = 'recent' AND number = 2",
        "DELETE FROM blocks WHERE name = 'tails'",
        "INSERT INTO blocks SELECT name, 3, data, generation, mark FROM blocks WHERE name = 'recent' AND number = 1",
        "UPDATE blocks SET data = CAST(substr(data, 1, length(data) - 1) || x'5a' AS BLOB) WHERE name = 'recent' AND number = 1",
        "UPDATE blocks SET generation = generation - 1 WHERE name = 'recent' AND number = 1",
        "UPDATE blocks SET generation = generation + 900 WHERE name = 'tails'",
    ],
)
def test_what_a_save_has_changed_is_lost_or_damaged_and_noticed(
    tmp_path: Path, statement: str
) -> None:
    path = tmp_path / "m.db"
    e = made(path)
    live(e, 0, 25)
    while len(kept(path, RECENT)) != 3:
        live(e, len(e.events), len(e.events) + 1)
    broken = tmp_path / "broken.db"
    broken.write_bytes(path.read_bytes())
    e.close()
    with sqlite3.connect(broken) as connection:
        assert connection.execute(statement).rowcount == 1
    connection.close()
    with pytest.raises(SnapshotError, match="is damaged"):
        made(broken)


@pytest.mark.slow
def test_the_latest_save_of_a_block_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks that are changed often, by saves that have room for them in a block of theirs and
    by saves that have not.
    """
    path, plain, seen = tmp_path / "m.db", made(None), set()
    e = made(path)
    for i in range(48):
        monkeypatch.setattr(block_writer, "ROOM", (1 << 20, 900)[i % 3 == 2])
        live(e, i, i + 1)
        live(plain, i, i + 1)
        seen.add((i % 3, len(kept(path, RECENT))))
        copy = tmp_path / "copy.db"
        copy.write_bytes(path.read_bytes())
        again = not_closed(copy)
        assert again.digest() == plain.digest()
        again.close()
        copy.unlink()
    assert len(seen) > SAVES
    e.close()
    last = made(path)
    assert last.digest() == plain.digest()
    last.close()


def kinds(path: Path) -> set[str]:
    """Names of the blocks of a file."""
    return {name for name, _, _ in blocks(path)}


@pytest.mark.slow
@pytest.mark.parametrize("closed", [True, False])
def test_a_file_with_blocks_of_other_sizes_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, closed: bool
) -> None:
    """But for small ones, which each tick wrote whole.  Either version goes on with a closed
    file of the other.
    """
    path, plain = tmp_path / "m.db", made(None)
    copy = tmp_path / "copy.db"
    with monkeypatch.context() as earlier:
        earlier.setattr(snapshot, "SMALL", 256)
        earlier.setattr(Whole, "difference", staticmethod(lambda old, new: new))
        e = made(path)
        live(e, 0, 20)
        live(plain, 0, 20)
        if closed:
            e.close()
        copy.write_bytes(path.read_bytes())
        if not closed:
            e.close()
    assert {"column.table", "column.total", PACKED} <= kinds(copy)
    e = not_closed(copy)
    assert e.digest() == plain.digest()
    for last in range(21, 61):
        live(e, last - 1, last)
        live(plain, last - 1, last)
        assert e.changes.snapshot is not None and e.changes.snapshot.unsaved() == []
    assert not {"column.table", "column.total"} & kinds(copy)
    e.close()
    with monkeypatch.context() as earlier:
        earlier.setattr(snapshot, "SMALL", 256)
        e = made(copy)
        assert e.digest() == plain.digest()
        live(e, 60, 80)
        live(plain, 60, 80)
        e.close()
    assert {"column.table", "column.total"} <= kinds(copy)
    e = made(copy)
    assert e.digest() == plain.digest()
    e.close()
