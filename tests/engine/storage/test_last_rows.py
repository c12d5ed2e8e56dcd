"""The last rows of arrays in a snapshot: a tick writes what it has changed in them, which loading puts together."""
from __future__ import annotations

import sqlite3
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hebbarium.engine.columns import Phase
from hebbarium.engine.errors import SnapshotError
from hebbarium.engine.loop import Engine
from hebbarium.engine.records import Event
from hebbarium.engine.storage.snapshot_contents import GRAIN, changed, difference, joined
from hebbarium.engine.vocabulary import ROW
from hebbarium.testing.small import by_number, column, does, mechanism, memory


@pytest.mark.parametrize("seed", range(40))
def test_a_difference_makes_the_one_block_of_the_other(seed: int) -> None:
    """Parts that grow, become shorter, change here and there, appear or vanish."""
    rng = np.random.default_rng(seed)
    old = [rng.bytes(int(rng.choice([0, 1, GRAIN, 5 * GRAIN + 3, 1000]))) for _ in range(rng.integers(1, 9))]
    new = []
    for part in old:
        now = bytearray(part[:int(rng.integers(0, len(part) + 1))] if rng.random() < 0.3 else part)
        for at in rng.integers(0, len(now), 3 if now else 0).tolist():
            now[at] ^= int(rng.integers(0, 2))
        new.append(bytes(now) + rng.bytes(int(rng.choice([0, 0, 1, 70]))))
    one, other = joined(old), joined(new)
    found = difference(one, other, len(old))
    assert changed(one, [found], len(old)) == other
    assert changed(one, [], len(old)) == one


def test_a_difference_has_what_differs() -> None:
    one, rows = bytes(range(256)) * 64, 3 * bytes(100)
    found = difference(joined([one, rows]), joined([one[:5000] + b"\xff" + one[5001:], rows + b"more"]), 2)
    assert len(found) == 4 * (2 + 1 + 2 * 2) + GRAIN + (304 - 300 // GRAIN * GRAIN), "lengths, number, places and lengths of two runs, the runs"


def test_what_is_no_difference_of_the_block_is_refused() -> None:
    one, other = joined([b"ab" * 40, b""]), joined([b"ab" * 40, b"cd"])
    found = difference(one, other, 2)
    ints = np.frombuffer(found, "<i4", 5)
    assert ints.tolist() == [80, 2, 1, 80, 2]
    for wrong in (found[:-1], found + b"x", found[:3], b"", *(
            np.where(np.arange(5) == place, value, ints).astype("<i4").tobytes() + found[20:]
            for place, value in ((0, -1), (0, 2**31 - 1), (1, 1), (2, 2), (2, -1), (3, 81), (3, -4), (4, 1)))):
        with pytest.raises(ValueError):
            changed(one, [wrong], 2)
    assert changed(one, [found, difference(other, one, 2)], 2) == one


def made(path: Path | None) -> Engine:
    """A memory of which each event changes the row before it, too."""
    level = column("level", shape=(64,))

    def raise_(view: Any, incoming: Any) -> None:
        view.level[max(view.row - 1, 0):, view.row % 64] = incoming.event.time

    return memory(by_number(), mechanism("m", does(Phase.ENCODE, raise_, reads=[ROW], sets=[level]), owns=[level], order=1), path=path)


def live(e: Engine, first: int, last: int) -> None:
    for i in range(first, last):
        e.encode(Event(3.0 * i, f"Ada met Bo in Lisbon, number {i}", "Ada", f"s{i // 3}", f"e{i}"))
        e.advance(e.now)


def last_rows(path: Path) -> list[int]:
    """Bytes of each block."""
    with sqlite3.connect(f"file:{path}?mode=ro&nolock=1&immutable=1", uri=True) as connection:
        found = connection.execute("SELECT number, length(data) FROM blocks WHERE name = 'tails' ORDER BY number").fetchall()
    connection.close()
    assert [number for number, _ in found] == list(range(len(found)))
    return [size for _, size in found]


def test_a_tick_writes_little_and_its_file_is_whole(tmp_path: Path) -> None:
    """After each tick, and after a process that ended without closing the file; closing writes all in one block."""
    path, copy, plain, seen = tmp_path / "m.db", tmp_path / "copy.db", made(None), set()
    e = made(path)
    for i in range(40):
        live(e, i, i + 1)
        live(plain, i, i + 1)
        sizes = last_rows(path)
        seen.add(min(len(sizes), 3))
        assert 2 * sum(sizes[1:]) <= sum(sizes)
        assert e._snapshot is not None and e._snapshot.unsaved() == []
        copy.write_bytes(path.read_bytes())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            again = made(copy)
        assert again.digest() == plain.digest()
        if i % 7 == 3:
            vars(e).update(vars(again))         # the life goes on with the file that was not closed
            path, copy = copy, tmp_path / f"copy{i}.db"
        else:
            again.close()
            assert len(last_rows(copy)) == 1
    assert seen == {1, 2, 3}
    e.close()
    last = made(path)
    assert last.digest() == plain.digest()
    last.close()


@pytest.mark.parametrize("statement", [
    "DELETE FROM blocks WHERE name = 'tails' AND number = 1", "UPDATE blocks SET number = 3 WHERE name = 'tails' AND number = 1",
    "UPDATE blocks SET name = 'taiks' WHERE name = 'tails' AND number = 1", "UPDATE blocks SET data = x'' WHERE name = 'tails' AND number = 1",
    "DELETE FROM blocks WHERE name = 'tails' AND number = 2",
    "INSERT INTO blocks SELECT name, 3, data, generation, mark FROM blocks WHERE name = 'tails' AND number = 1",
    "UPDATE blocks SET data = CAST(substr(data, 1, length(data) - 1) || x'5a' AS BLOB) WHERE name = 'tails' AND number = 1",
    "UPDATE blocks SET generation = generation - 1 WHERE name = 'tails' AND number = 1"])
def test_a_difference_that_is_lost_or_damaged_is_noticed(tmp_path: Path, statement: str) -> None:
    path = tmp_path / "m.db"
    e = made(path)
    live(e, 0, 19)
    while len(last_rows(path)) != 3:
        live(e, len(e.events), len(e.events) + 1)
    broken = tmp_path / "broken.db"
    broken.write_bytes(path.read_bytes())
    e.close()
    with sqlite3.connect(broken) as connection:
        assert connection.execute(statement).rowcount == 1
    connection.close()
    with pytest.raises(SnapshotError, match="is damaged"):
        made(broken)
