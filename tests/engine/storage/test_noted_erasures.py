"""The audit log of erasures: it says that something was erased, and nothing of what it was."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

import hebbarium as hb
from hebbarium.engine.base.errors import SnapshotError
from hebbarium.engine.contract.records import Event, Only
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.saving import snapshot
from hebbarium.engine.saving.erasures import NotedErasure, as_json, erasures, from_json
from hebbarium.testing.small import by_number, memory

SECRET = ("Ada Lovelace", "zebra crossing", "id-of-the-secret", "session of the secret")


def told(path: Path) -> Engine:
    e = memory(by_number(), path=path)
    for n in range(4):
        e.encode(Event(float(n), f"Bo walks, number {n}", "Bo", "s", f"e{n}"))
    e.encode(Event(9.0, f"Meet me at the {SECRET[1]}, number 3", SECRET[0], SECRET[3], SECRET[2]))
    return e


def test_erasures_are_noted_with_their_time_and_without_content(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    before = datetime.now(UTC).replace(microsecond=0)
    with told(path) as e:
        assert erasures(path) == ()
        e.erase(SECRET[2], confirm=False)
        assert erasures(path) == (), "nothing was erased"
        e.erase(SECRET[2], confirm=True)
        (first,) = erasures(path)
        assert (first.events, first.rows, first.texts) == (1, (4,), 0)
    with memory(by_number(), path=path) as again:
        again.erase(Only(speakers=("Bo",)), confirm=True)
    noted = erasures(path)
    assert noted[0] == first and (noted[1].events, noted[1].rows) == (4, (0, 1, 2, 3))
    assert all(before <= datetime.fromisoformat(each.at) <= datetime.now(UTC) for each in noted)
    kept = as_json(noted)
    assert not any(word in kept for word in (*SECRET, "Bo", "e0", "walks"))
    assert tuple(from_json(kept)) == noted
    assert SECRET[1].encode() not in path.read_bytes()


def test_an_erasure_that_the_disk_refuses_is_noted_by_the_save_that_does_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.db"
    e = told(path)

    def full(*given: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(snapshot.Snapshot, "_write", full)
        with pytest.raises(SnapshotError):
            e.erase(SECRET[2], confirm=True)
    assert erasures(path) == ()
    e.save()
    assert [each.rows for each in erasures(path)] == [(4,)]
    e.close()


def test_a_log_that_was_changed_is_refused_with_its_file(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with told(path) as e:
        e.erase("e0", confirm=True)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE meta SET value = '[]' WHERE key = 'erasures'")
    with pytest.raises(SnapshotError, match="checksum"):
        memory(by_number(), path=path)


@pytest.mark.parametrize("kind", ["absent", "no database", "another database", "a folder"])
def test_what_is_no_memory_has_no_log(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "m.db"
    if kind == "no database":
        path.write_bytes(b"no database" * 40)
    elif kind == "another database":
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE meta (key, value)")
    elif kind == "a folder":
        path.mkdir()
    with pytest.raises(SnapshotError) as caught:
        erasures(path)
    assert caught.value.cure and str(path) in caught.value.where


@pytest.mark.slow
def test_a_memory_that_is_made_anew_begins_a_log(tmp_path: Path) -> None:
    with hb.memory("bm25", embedding="hashing:16", path=tmp_path / "m.db") as e:
        e.encode(Event(1.0, "We moved.", id="e0"))
        e.encode(Event(2.0, "We stayed.", id="e1"))
        e.erase("e0", confirm=True)
    hb.rebuild(tmp_path / "m.db", path=tmp_path / "again.db").close()
    assert erasures(tmp_path / "again.db") == ()
    assert NotedErasure("2026-01-01T00:00:00+00:00", 1, (0,), 0).rows == (0,)
