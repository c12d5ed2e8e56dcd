"""Snapshots: killed at any moment, damaged anywhere, continued exactly."""

from __future__ import annotations

import errno
import gc
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hebbarium.benchmarks.drills.children import fork
from hebbarium.engine.base.errors import HebbariumError, InputError, SnapshotError
from hebbarium.engine.contract.columns import Phase, Scope
from hebbarium.engine.contract.drafts import Draft, Kind
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import (
    DRAFTS,
    GRAPH,
    HIDE,
    MADE,
    NOW,
    RANDOM,
    RECALLED,
    ROW,
    SHOW,
    TEXTS,
    VETO,
    WRITINGS,
)
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.saving.file import SnapshotFile, snapshot_errors
from hebbarium.engine.saving.snapshot import InterruptedWarning
from hebbarium.engine.state.graph import EdgeType
from hebbarium.testing.small import by_number, column, does, mechanism, memory

KILLS = 100


def everything(**options: Any) -> Engine:
    """A memory that uses all that a snapshot saves: columns of every scope, edges made and removed,
    random draws, vetoes, archiving, recall, and in every sleep rows that it makes, writings, votes
    and relations.
    """
    options = {"consolidate_every": 2.5, **options}
    level, marks, trust, pair = (
        column("level", Scope.GLOBAL, 1.0),
        column("marks"),
        column("trust", Scope.EDGE, 0.5),
        column("pair", shape=(2,), dtype=np.int32, neutral=-1),
    )

    def gate(view: Any, incoming: Any) -> None:
        view.veto = int(incoming.event.id.endswith("7"))

    def dress(view: Any, incoming: Any) -> None:
        row = view.row
        view.pair[row] = row, view.random.integers(1000)
        view.level += view.random.random()
        if row:
            view.graph.add(row, row - 1, EdgeType.TEMPORAL, view.now)
        if row > 2 and (gone := view.graph.find(row - 2, row - 3, EdgeType.TEMPORAL)) is not None:
            view.graph.remove(gone)

    def drift(view: Any, tick: Any) -> None:
        view.marks *= np.exp(-tick.dt / 50.0)
        view.trust += tick.dt

    def recall(view: Any, _: Any) -> None:
        view.marks[view.recalled] += view.random.random()

    def draft(view: Any, tick: Any) -> None:
        n = len(view.pair)
        view.drafts.add(Draft(f"summary \udc00 at {n}", Kind.SUMMARY, (n - 1, n // 2)))
        view.drafts.add(Draft(view.texts[n // 2][:4], Kind.SEGMENT, (n // 2,)))

    def consolidate(view: Any, tick: Any) -> None:
        for row, draft in view.made:
            view.writings.add(f"about {row}\x00", "note", "m", (row,))
            view.hide[draft.sources[0]] += row % 3 == 0
            view.show[draft.sources[-1]] += row % 3 == 1
            edge = view.graph.add(row, draft.sources[0], EdgeType.RELATION, tick.end)
            view.trust[edge] = view.graph.relation(f"relation {row % 4}")

    m = mechanism(
        "m",
        does(Phase.ENCODE, gate, adds=[VETO]),
        does(Phase.ENCODE, dress, reads=[ROW, NOW], adds=[GRAPH], sets=[pair, level, RANDOM]),
        does(Phase.MAINTAIN, drift, sets=[marks, trust]),
        does(Phase.RETRIEVE, recall, reads=[RECALLED], sets=[marks, RANDOM]),
        does(Phase.CONSOLIDATE, draft, reads=[pair, TEXTS], adds=[DRAFTS]),
        does(
            Phase.CONSOLIDATE,
            consolidate,
            reads=[MADE],
            adds=[WRITINGS, HIDE, SHOW, GRAPH],
            sets=[trust],
        ),
        owns=[level, marks, trust, pair],
        order=1,
    )
    return memory(m, by_number(), **options)


def event(i: int) -> Event:
    return Event(
        7.0 * i / 10.0,
        f"Ada \ud800 met \x00 Bo in Lisbon, number {i % 5}",
        f"p{i % 3}\udfff",
        f"s{i // 4}",
        f"e{i}",
        "a \udcff picture" if i % 6 == 0 else "",
    )


def live(e: Engine, first: int, last: int) -> None:
    """Events `first` to `last`, each a finished tick; recall and archiving in between."""
    for i in range(first, last):
        e.encode(event(i))
        if i % 4 == 3:
            e.retrieve("Lisbon", k=3, learn=True)
        if i % 9 == 8:
            e.archive(i // 2 if i // 2 < e.store.n else 0)
        e.advance(e.now)


@pytest.fixture(scope="module")
def digests() -> list[str]:
    """Digests of an uninterrupted memory after each number of events."""
    e, found = everything(), []
    for i in range(60):
        found.append(e.digest())
        live(e, i, i + 1)
    return [*found, e.digest()]


def quietly(make: Callable[[], Engine]) -> tuple[Engine, list[str]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        e = make()
    return e, [str(w.message) for w in caught if w.category is InterruptedWarning]


@pytest.mark.slow
def test_a_process_killed_at_a_random_moment_loses_no_finished_tick(
    tmp_path: Path, digests: list[str]
) -> None:
    """A parent forks a child that reports each finished tick through a pipe, and kills it
    (SIGKILL) some time later; without a log of calls.
    """
    path, chance, done, warned = tmp_path / "m.db", random.Random(3), 0, 0
    for _ in range(KILLS):
        reader, writer = os.pipe()
        child = fork()
        if child == 0:
            os.close(reader)
            try:
                warnings.simplefilter("ignore")
                e = everything(path=path, durable=False)
                for i in range(len(e.event_log.events), 10_000):
                    live(e, i, i + 1)
                    os.write(writer, (i + 1).to_bytes(4, "little"))
            finally:
                os._exit(1)
        os.close(writer)
        # most are killed in the midst of their ticks, some as they open the file
        first = os.read(reader, 4) if chance.random() < 0.8 else b""
        time.sleep(chance.uniform(0.0, 0.03))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        with os.fdopen(reader, "rb") as pipe:
            received = first + pipe.read()
        finished = int.from_bytes(received[-4:], "little") if received else done
        e, words = quietly(lambda: everything(path=path, durable=False))
        done = stood = len(e.event_log.events)
        assert finished <= stood <= finished + 1, "at most the tick in flight"
        if done + 1 < len(digests):
            live(e, done, done + 1)
            done += 1
            assert e.digest() == digests[done], (
                "going on from there equals never having been killed"
            )
        warned += bool(words)
        if received:
            assert words and f"after {stood} events" in words[0] and str(path) in words[0]
        e.close()
        if done > 50:
            path.unlink()
            done = 0
    assert warned > KILLS // 3


@pytest.mark.slow
def test_a_restored_memory_continues_as_an_uninterrupted_one(
    tmp_path: Path, digests: list[str]
) -> None:
    for i in range(0, 60, 7):
        e, words = quietly(lambda: everything(path=tmp_path / "m.db"))
        assert not words, "closed in good order"
        live(e, i, min(i + 7, 60))
        e.close()
    e = everything(path=tmp_path / "m.db")
    whole = everything()
    live(whole, 0, 60)
    assert e.digest() == digests[60] == whole.digest()
    np.testing.assert_array_equal(e.retrieve("number 3").final, whole.retrieve("number 3").final)
    assert e.event_log.events == whole.event_log.events and e.event_log.row(
        "e59"
    ) == whole.event_log.row("e59")
    found, expected = (x.store.index.search(x.store.index.vectors[3], 9) for x in (e, whole))
    np.testing.assert_array_equal(found[0], expected[0])


def test_texts_of_subclasses_of_str_are_equal_after_loading(tmp_path: Path) -> None:
    e = memory(by_number(), path=tmp_path / "m.db")
    e.encode(Event(1.0, np.str_("number 3"), np.str_("Ada"), id=np.str_("e0")))
    before = e.digest()
    e.close()
    assert memory(by_number(), path=tmp_path / "m.db").digest() == before


def test_saving_in_steps_writes_the_same_state_as_saving_at_once(tmp_path: Path) -> None:
    """Only columns that may have changed are compared; every change must be in the file."""
    for name, skipped in (("steps", False), ("once", True)):
        e = everything(path=tmp_path / name, durable=False)
        if skipped:
            e.changes.snapshot.save = lambda erased=None, state=None: None  # type: ignore[union-attr,method-assign]
        live(e, 0, 40)
        if skipped:
            del e.changes.snapshot.save  # type: ignore[union-attr]
        e.close()
    assert (
        everything(path=tmp_path / "steps").digest() == everything(path=tmp_path / "once").digest()
    )


def test_blocks_beyond_the_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hebbarium.engine.saving.snapshot.BLOCK", 8)
    e = everything(path=tmp_path / "m.db")
    live(e, 0, 60)
    before = e.digest()
    e.close()
    e = everything(path=tmp_path / "m.db")
    assert e.digest() == before
    live(e, 60, 75)
    before = e.digest()
    e.close()
    assert everything(path=tmp_path / "m.db").digest() == before


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, str]:
    path = tmp_path_factory.mktemp("sound") / "m.db"
    e = everything(path=path)
    live(e, 0, 12)
    digest = e.digest()
    e.close()
    return path.read_bytes(), digest


@pytest.mark.slow
def test_a_flipped_byte_is_refused_or_changes_nothing(
    tmp_path: Path, sound: tuple[bytes, str]
) -> None:
    chance, noticed, path = random.Random(5), 0, tmp_path / "m.db"
    for _ in range(90):
        raw = bytearray(sound[0])
        raw[chance.randrange(len(raw))] ^= 1 << chance.randrange(8)
        path.write_bytes(raw)
        try:
            e, _ = quietly(lambda: everything(path=path))
            assert e.digest() == sound[1]
            e.close()
        except SnapshotError as error:
            noticed += 1
            assert error.cure and str(path) in error.where
    assert noticed > 10, "much of a page is spare room, but not all"


def test_the_check_of_pages_leaves_the_lock_of_the_process(
    tmp_path: Path, sound: tuple[bytes, str]
) -> None:
    """Closing any file drops all locks that the process has on it, unless SQLite prevents that;
    other processes tell.
    """
    path = tmp_path / "m.db"
    path.write_bytes(sound[0])
    ask = (
        "import sqlite3, sys; sqlite3.connect(sys.argv[1], timeout=0).execute('SELECT * FROM meta')"
    )
    command = [sys.executable, "-c", ask, str(path)]
    e = everything(path=path)
    assert "locked" in subprocess.run(command, capture_output=True, text=True, check=False).stderr
    e.close()
    assert subprocess.run(command, capture_output=True, text=True, check=False).returncode == 0


def test_pages_that_hold_nothing_are_checked_too(tmp_path: Path, sound: tuple[bytes, str]) -> None:
    """The header of an SQLite file says at byte 36 how many pages are free: no table shows it,
    and a later save would trust it.
    """
    raw, path = bytearray(sound[0]), tmp_path / "m.db"
    raw[39] ^= 1
    path.write_bytes(raw)
    with pytest.raises(SnapshotError, match=r"is damaged: .*[Ff]reelist"):
        everything(path=path)


@pytest.mark.parametrize("share", [0.01, 0.1, 0.5, 0.9, 0.999])
def test_truncated_files_are_refused(
    tmp_path: Path, sound: tuple[bytes, str], share: float
) -> None:
    (tmp_path / "m.db").write_bytes(sound[0][: int(len(sound[0]) * share)])
    with pytest.raises(SnapshotError) as caught:
        everything(path=tmp_path / "m.db")
    assert caught.value.cure


@pytest.mark.parametrize("change", [
    "DELETE FROM events WHERE number = 3", "DELETE FROM events WHERE number = 11",
    "DELETE FROM memories WHERE number = 2",
    "DELETE FROM blocks WHERE name = 'tails'",
    "DELETE FROM arrays WHERE name = 'column.marks'",
    "UPDATE events SET text = CAST('other' AS BLOB) WHERE number = 1",
    "UPDATE events SET time = 0.5 WHERE number = 1",
    "UPDATE blocks SET data = zeroblob(length(data)) WHERE name = 'tails'",
    "UPDATE arrays SET dtype = '<f4' WHERE name = 'column.created'",
    "DELETE FROM meta WHERE key = 'clock'", "UPDATE meta SET value = '[]' WHERE key = 'clock'",
    "DELETE FROM meta", "DROP TABLE memories",
    "DROP TABLE meta",
    "UPDATE meta SET value = '9' WHERE key = 'format'",
    "UPDATE meta SET value = replace(value, '1', '2') WHERE key = 'streams'",
    "UPDATE memories SET vector = zeroblob(64)",
], ids=range(17))  # fmt: skip
def test_files_that_were_tampered_with_are_refused(
    tmp_path: Path, sound: tuple[bytes, str], change: str
) -> None:
    path = tmp_path / "m.db"
    path.write_bytes(sound[0])
    with sqlite3.connect(path) as connection:
        assert connection.execute(change).rowcount != 0
    connection.close()
    with pytest.raises(SnapshotError) as caught:
        everything(path=path)
    assert caught.value.cure and str(path) in caught.value.where


def test_files_of_other_programs_are_refused_and_not_changed(tmp_path: Path) -> None:
    plain, database = tmp_path / "a.txt", tmp_path / "b.db"
    plain.write_text("not a database\n" * 300, encoding="utf-8")
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE meta (key TEXT, value TEXT)")
    connection.close()
    for path in (plain, database):
        before = path.read_bytes()
        with pytest.raises(SnapshotError, match=r"another program|not a database"):
            everything(path=path)
        assert path.read_bytes() == before
    for path in (tmp_path, tmp_path / "no" / "folder.db"):
        with pytest.raises(SnapshotError, match="cannot be used") as caught:
            everything(path=path)
        assert "folder" in caught.value.cure


@pytest.mark.parametrize("size", [0, 1, 99])
def test_a_file_shorter_than_any_snapshot_is_refused_and_stays(
    tmp_path: Path, sound: tuple[bytes, str], size: int
) -> None:
    path = tmp_path / "m.db"
    path.write_bytes(sound[0][:size])
    with pytest.raises(SnapshotError, match=f"it has {size} bytes") as caught:
        everything(path=path)
    assert (
        "copy" in caught.value.cure
        and str(path) in caught.value.where
        and path.read_bytes() == sound[0][:size]
    )


def test_a_new_file_is_there_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that ends while it makes the file leaves none, so that a file without contents
    is always a damaged one.
    """

    def broken(*_: Any) -> None:
        raise KeyError("half-way")

    with monkeypatch.context() as patch:
        patch.setattr("hebbarium.engine.saving.snapshot.Snapshot._write", broken)
        with pytest.raises(SnapshotError):
            everything(path=tmp_path / "m.db")
    assert list(tmp_path.iterdir()) == []
    everything(path=tmp_path / "m.db").close(), everything(path=tmp_path / "m.db").close()
    assert [each.name for each in tmp_path.iterdir()] == ["m.db"]


@pytest.mark.parametrize(
    "name", [":memory:", "file:m.db", "file:m.db?mode=memory", "file::memory:"]
)
def test_every_path_is_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Names that SQLite would read as a database in memory, or as a URI, are files like all
    others.
    """
    monkeypatch.chdir(tmp_path)
    e = everything(path=Path(name))
    live(e, 0, 5)
    before = e.digest()
    e.close()
    assert [each.name for each in tmp_path.iterdir()] == [name] and everything(
        path=Path(name)
    ).digest() == before


def test_a_path_need_not_be_utf_8(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"m\xff?%.db")
    try:
        path.touch()
    except (OSError, ValueError):
        pytest.skip("the file system refuses such names")
    path.unlink()
    e = everything(path=path)
    live(e, 0, 5)
    before = e.digest()
    e.close()
    assert list(tmp_path.iterdir()) == [path] and everything(path=path).digest() == before


@pytest.mark.slow
def test_a_fork_may_not_write_the_file(tmp_path: Path, digests: list[str]) -> None:
    """The child may ask its copy of the memory, but whatever the file would have to hold is
    refused there; it holds the parent's events alone.
    """
    e = everything(path=tmp_path / "m.db")
    live(e, 0, 12)
    reader, writer = os.pipe()
    child = fork()
    if child == 0:
        os.close(reader)
        try:
            told = []
            for attempt in (lambda: live(e, 12, 14), e.save, e.close):
                try:
                    attempt()
                except SnapshotError as error:
                    told.append([error.what, error.where, error.cure])
            os.write(writer, json.dumps([told, len(e.event_log.events)]).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        told, taken = json.loads(pipe.read())
    os.waitpid(child, 0)
    assert len(told) == 3 and taken == 12
    assert all(
        "belongs to the process" in what
        and str(os.getpid()) in what
        and "m.db" in where
        and "fork" in cure
        for what, where, cure in told
    )
    live(e, 12, 20)
    e.close()
    again, words = quietly(lambda: everything(path=tmp_path / "m.db"))
    assert again.digest() == digests[20] and not words


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("SQLITE_FULL", "free disk space"),
        ("SQLITE_IOERR_WRITE", "the disk fails"),
        ("SQLITE_IOERR", "the disk fails"),
    ],
)
def test_a_full_disk_and_a_disk_that_fails_are_told_apart(
    tmp_path: Path, code: str, words: str
) -> None:
    error = sqlite3.OperationalError("disk trouble")
    error.sqlite_errorcode = getattr(sqlite3, code)
    with pytest.raises(SnapshotError, match="disk trouble") as caught, snapshot_errors(tmp_path):
        raise error
    assert words in caught.value.cure and "what was told until then" in caught.value.cure


@pytest.mark.parametrize(
    ("number", "words"),
    [(errno.ENOSPC, "free disk space"), (errno.EIO, "the disk fails"), (errno.EACCES, "folder")],
)
def test_errors_of_the_file_system_are_told_apart(tmp_path: Path, number: int, words: str) -> None:
    with pytest.raises(SnapshotError) as caught, snapshot_errors(tmp_path):
        raise OSError(number, "trouble")
    assert words in caught.value.cure


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda p: everything(path=p, seed=1), "seed"),
        (lambda p: everything(path=p, consolidate_every=8.0), "consolidate_every"),
        (lambda p: memory(by_number(), path=p, consolidate_every=2.5), r"mechanisms \(\['m'\]\)"),
        (
            lambda p: Engine(
                everything().assembly.mechanisms, HashingEmbedder(17), path=p, consolidate_every=2.5
            ),
            "embedder",
        ),
    ],
    ids=["seed", "consolidate_every", "mechanisms", "embedder"],
)
def test_another_configuration_is_refused(
    tmp_path: Path, sound: tuple[bytes, str], make: Any, words: str
) -> None:
    path = tmp_path / "m.db"
    path.write_bytes(sound[0])
    with pytest.raises(SnapshotError, match=f"was written with other {words}") as caught:
        make(path)
    assert ("'hashing', revision 1-16, not of 'hashing', revision 1-17" in caught.value.cure) == (
        words == "embedder"
    )
    e = everything(path=path)  # and the refusal left it unlocked and as it was
    assert e.digest() == sound[1]


def test_another_configuration_is_refused_as_such_if_a_page_is_damaged_too(
    tmp_path: Path, sound: tuple[bytes, str]
) -> None:
    raw, path = bytearray(sound[0]), tmp_path / "m.db"
    raw[39] ^= 1
    path.write_bytes(raw)
    with pytest.raises(SnapshotError, match="was written with other seed"):
        everything(path=path, seed=1)


def owning(*columns: Any, path: Path) -> Engine:
    """A memory of one mechanism, whose id and parameters are the same for all columns."""
    return memory(mechanism("m", owns=columns), path=path)


@pytest.mark.parametrize(("old", "new", "words"), [
    (column("buffer"), column("held"), "only in the file: buffer; not in the file: held"),
    (column("weight", Scope.EDGE), column("strength", Scope.EDGE),
     "only in the file: weight; not in the file: strength"),
    (column("level", Scope.GLOBAL), column("tide", Scope.GLOBAL),
     "only in the file: level; not in the file: tide"),
    (column("level", Scope.GLOBAL), column("level"), "of another type or shape: level"),
    (column("held", dtype=np.float32), column("held"), "of another type or shape: held"),
    (column("weight", Scope.EDGE, dtype=np.int32), column("weight", Scope.EDGE),
     "of another type or shape: weight"),
    (column("held", shape=(2,)), column("held", shape=(3,)), "of another type or shape: held"),
    (column("level", Scope.GLOBAL, shape=(2,)), column("level", Scope.GLOBAL),
     "of another type or shape: level"),
    (column("weight", Scope.EDGE, shape=(2,)), column("weight", Scope.EDGE),
     "of another type or shape: weight"),
], ids=str)  # fmt: skip
@pytest.mark.parametrize("events", [0, 3])
def test_a_file_of_an_older_version_is_refused_as_such(
    old: Any, new: Any, words: str, events: int, tmp_path: Path
) -> None:
    """Not as damaged: its checksums are right, its columns have other names or another form."""
    first = owning(old, path=tmp_path / "m.db")
    live(first, 0, events)
    first.close()
    before = (tmp_path / "m.db").read_bytes()
    with pytest.raises(SnapshotError, match="was written by an older version") as caught:
        owning(new, path=tmp_path / "m.db")
    assert (
        words in caught.value.what
        and "version that wrote it" in caught.value.cure
        and (tmp_path / "m.db").read_bytes() == before
    )
    same = owning(old, path=tmp_path / "m.db")
    assert len(same.event_log.events) == events


def test_one_memory_at_a_time(tmp_path: Path) -> None:
    first = everything(path=tmp_path / "m.db")
    live(first, 0, 3)
    with pytest.raises(SnapshotError, match="locked") as caught:
        everything(path=tmp_path / "m.db")
    assert "another memory" in caught.value.cure
    live(first, 3, 5)
    first.close()
    second = everything(path=tmp_path / "m.db")
    assert len(second.event_log.events) == 5


def test_closed_memories_refuse_further_calls(tmp_path: Path) -> None:
    e = everything(path=tmp_path / "m.db")
    live(e, 0, 3)
    e.close()
    e.close()
    with pytest.raises(HebbariumError, match="is closed"):
        e.encode(event(3))


def test_a_memory_that_failed_is_not_saved(tmp_path: Path) -> None:
    def fail(view: Any, incoming: Any) -> None:
        if "fail" in incoming.event.text:
            raise RuntimeError("half-way")

    def make() -> Engine:
        return memory(mechanism("m", does(Phase.ENCODE, fail, reads=[ROW])), path=tmp_path / "m.db")

    e = make()
    e.encode_all([Event(0.0, "one"), Event(1.0, "two")])
    with pytest.raises(RuntimeError):
        e.encode(Event(9.0, "fail"))
    e.close()
    again, words = quietly(make)
    assert [x.text for x in again.event_log.events] == ["one", "two"] and not words, (
        "nothing is lost"
    )
    assert again.now == 9.0, "time had passed until then; the event itself is not in"


def test_a_file_that_cannot_be_written_raises_and_the_memory_can_still_be_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    e = everything(path=tmp_path / "m.db")
    live(e, 0, 3)
    e.changes.snapshot._file.execute("PRAGMA max_page_count = 1")  # type: ignore[union-attr]
    with pytest.raises(SnapshotError, match="full") as caught:
        for i in range(3, 60):
            live(e, i, i + 1)
    assert "free disk space" in caught.value.cure
    e.changes.snapshot._file.execute("PRAGMA max_page_count = 1000000")  # type: ignore[union-attr]
    taken = len(e.event_log.events)
    e.save()
    before = e.digest()
    e.close()
    again = everything(path=tmp_path / "m.db")
    assert len(again.event_log.events) == taken and again.digest() == before


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere SQLite's lock is the only one")
def test_a_process_that_reads_its_own_file_still_keeps_others_out(tmp_path: Path) -> None:
    """Closing any descriptor of a file ends the locks that SQLite has in the process."""
    path = tmp_path / "m.db"
    code = f"from hebbarium.engine.saving.file import SnapshotFile; from pathlib import Path; SnapshotFile(Path({str(path)!r}))"

    def opened() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": ":".join(sys.path)},
        )

    e = everything(path=path)
    live(e, 0, 3)
    path.read_bytes()
    assert "it is locked" in opened().stderr
    with pytest.raises(SnapshotError, match="locked"):
        everything(path=path)
    assert "it is locked" in opened().stderr
    live(e, 3, 6)
    e.close()
    assert opened().returncode == 0
    with everything(path=path) as again:
        assert again.digest() == e.assembly.digest()


@pytest.mark.slow
def test_a_memory_that_is_dropped_gives_up_its_lock(tmp_path: Path) -> None:
    for i in range(3):
        e = memory(by_number(), path=tmp_path / "m.db")
        e.encode(Event(float(i), f"number {i}"))
        e.save()
        del e
        gc.collect()
    with memory(by_number(), path=tmp_path / "m.db") as again:
        assert len(again.events) == 3


@pytest.mark.parametrize("at", [18, 19])
@pytest.mark.parametrize("bit", range(8))
def test_a_header_that_would_leave_the_file_read_only_is_refused(
    tmp_path: Path, at: int, bit: int
) -> None:
    path = tmp_path / "m.db"
    with memory(by_number(), path=path) as e:
        e.encode(Event(0.0, "number 1"))
    content = bytearray(path.read_bytes())
    content[at] ^= 1 << bit
    path.write_bytes(content)
    with pytest.raises(SnapshotError):
        memory(by_number(), path=path)
    assert path.read_bytes() == content


def test_a_close_that_fails_leaves_memory_and_file_open(tmp_path: Path) -> None:
    e = everything(path=tmp_path / "m.db")
    live(e, 0, 3)
    e.changes.snapshot._file.execute("PRAGMA max_page_count = 1")  # type: ignore[union-attr]
    for i in range(15):
        e.encode(Event(e.now, f"words {i} " * 200))
    for _ in range(2):
        with pytest.raises(SnapshotError, match="full"):
            e.close()
    e.changes.snapshot._file.execute("PRAGMA max_page_count = 1000000")  # type: ignore[union-attr]
    assert e.encode(Event(e.now, "number 7", id="last")).stored
    e.close()
    with everything(path=tmp_path / "m.db") as again:
        assert again.digest() == e.assembly.digest() and again.events[-1].id == "last"


def full_at(failing: str) -> Callable[..., sqlite3.Cursor]:
    """`SnapshotFile.execute` at a disk that is full at one statement."""
    execute = SnapshotFile.execute

    def full(self: SnapshotFile, statement: str, values: tuple[Any, ...] = ()) -> sqlite3.Cursor:
        if statement == failing:
            raise OSError(errno.ENOSPC, "no room")
        return execute(self, statement, values)

    return full


@pytest.mark.parametrize("failing", ["COMMIT", "VACUUM"])
@pytest.mark.parametrize("goes_on", [False, True])
def test_an_erasure_that_fails_at_the_disk_is_in_the_next_save(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str, goes_on: bool
) -> None:
    """The disk fails as the transaction ends, or as the file is rewritten after it; goes_on:
    events and erasures follow before it works again.
    """
    path = tmp_path / "m.db"
    e = everything(path=path)
    live(e, 0, 12)
    assert e.changes.snapshot is not None
    # some builds of SQLite have it on: pages are then zeroed
    e.changes.snapshot._file.execute("PRAGMA secure_delete = OFF")
    for id, word in (("a", "quicksilver"), ("b", "vermilion")):
        e.encode(Event(8.0, f"Ada has {f'much {word}, ' * 2000}number 3", "Ada", "s", id))
    e.save()
    assert b"quicksilver" in path.read_bytes() and b"vermilion" in path.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(SnapshotFile, "execute", full_at(failing))
        with pytest.raises(SnapshotError, match="no room"):
            e.erase("a", confirm=True)
        assert b"quicksilver" in path.read_bytes(), (
            "if the file is not rewritten, in pages that hold nothing now"
        )
        if goes_on:
            for act in (
                lambda: e.encode(Event(8.1, "Bo has ultramarine, number 2", "Bo", "s", "c")),
                lambda: e.advance(8.2),
                lambda: e.erase("c", confirm=True),
                lambda: e.erase("b", confirm=True),
                lambda: e.erase("a", confirm=True),
            ):
                # the event is not stored if the log cannot take it
                with suppress(SnapshotError, InputError):
                    act()
    if goes_on:
        live(e, 12, 20)
    e.save()
    before, words = e.digest(), [b"quicksilver", *[b"vermilion", b"ultramarine"] * goes_on]
    assert not any(word in path.read_bytes() for word in words)
    e.close()
    assert (
        not any(word in path.read_bytes() for word in words)
        and everything(path=path).digest() == before
    )


@pytest.mark.parametrize(
    "failing",
    ["PRAGMA journal_mode = TRUNCATE", "PRAGMA user_version = 0", "PRAGMA journal_mode = DELETE"],
)
def test_saves_go_on_after_a_rewriting_that_fails_at_any_statement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    path = tmp_path / "m.db"
    e = everything(path=path)
    live(e, 0, 6)
    with monkeypatch.context() as patch:
        patch.setattr(SnapshotFile, "execute", full_at(failing))
        with pytest.raises(SnapshotError, match="no room"):
            e.erase(e.events[0].id, confirm=True)
    live(e, 6, 12)
    e.save()
    before = e.digest()
    e.close()
    assert everything(path=path).digest() == before


def test_a_later_process_rewrites_a_file_that_could_not_be_rewritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk fails as the file is rewritten after an erasure, and the process ends; a file
    without an erasure is not rewritten.
    """
    path, execute, full, rewritten = (
        tmp_path / "m.db",
        SnapshotFile.execute,
        full_at("VACUUM"),
        list[bool](),
    )
    fails = True

    def watched(self: SnapshotFile, statement: str, values: tuple[Any, ...] = ()) -> sqlite3.Cursor:
        if statement == "VACUUM":
            rewritten.append(fails)
        return (full if fails else execute)(self, statement, values)

    monkeypatch.setattr(SnapshotFile, "execute", watched)
    e = everything(path=path)
    assert e.changes.snapshot is not None
    e.changes.snapshot._file.execute("PRAGMA secure_delete = OFF")
    live(e, 0, 6)
    e.encode(Event(8.0, f"Ada has {'much quicksilver, ' * 2000}number 3", "Ada", "s", "a"))
    e.save()
    assert rewritten == []
    with pytest.raises(
        SnapshotError, match="no room; the memory has erased the texts, and the file"
    ):
        e.erase("a", confirm=True)
    before = e.digest()
    e.changes.snapshot.close(save=False)
    assert b"quicksilver" in path.read_bytes()
    fails = False
    later, _ = quietly(lambda: everything(path=path))
    assert later.digest() == before
    later.save()
    assert rewritten == [True, False] and b"quicksilver" not in path.read_bytes()
    later.save()
    later.close()
    everything(path=path).close()
    assert rewritten == [True, False] and everything(path=path).digest() == before


def test_copies_of_the_file_are_complete_memories(tmp_path: Path) -> None:
    e = everything(path=tmp_path / "m.db")
    live(e, 0, 9)
    shutil.copy(tmp_path / "m.db", tmp_path / "copy.db")
    copy, words = quietly(lambda: everything(path=tmp_path / "copy.db"))
    assert copy.digest() == e.digest() and not words


def test_the_file_is_plain_sqlite(tmp_path: Path, sound: tuple[bytes, str]) -> None:
    """Verbatim texts can be read with sqlite3 alone."""
    (tmp_path / "m.db").write_bytes(sound[0])
    with sqlite3.connect(tmp_path / "m.db") as connection:
        texts = [
            t.decode("utf-8", "surrogatepass")
            for (t,) in connection.execute("SELECT text FROM events ORDER BY number")
        ]
        configuration = json.loads(
            connection.execute("SELECT value FROM meta WHERE key = 'configuration'").fetchone()[0]
        )
    connection.close()
    assert texts == [event(i).text for i in range(12)] and configuration["seed"] == 0
