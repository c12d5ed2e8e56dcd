"""The log of calls: what has returned survives the death of the process, a damaged log is never
silently short, a full disk changes nothing.
"""

from __future__ import annotations

import json
import random
import sqlite3
import struct
import subprocess
import sys
import warnings
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from examples import fewer_examples
from hypothesis import given
from hypothesis import strategies as st

from hebbarium.benchmarks.drills.calls import acts_of
from hebbarium.engine.base.errors import InputError, SnapshotError
from hebbarium.engine.base.marks import mark
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.columns import Phase
from hebbarium.engine.contract.records import Event, Only, Query
from hebbarium.engine.contract.vocabulary import LANGUAGE_MODEL, NOW, RANDOM, RECALLED, ROW, VETO
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.ports.language_model import Reply, Request, Status
from hebbarium.engine.saving import call_log
from hebbarium.engine.saving.call_log import written
from hebbarium.engine.saving.file import SnapshotFile
from hebbarium.engine.saving.snapshot import InterruptedWarning
from hebbarium.testing.small import by_number, column, does, mechanism, memory

SECONDS = 1.0 / 3600.0
HEAD = 56  # bytes: three numbers and two marks
NUMBERS = count()  # of files, for a memory that is not closed keeps its own locked


def lively(**options: Any) -> Engine:
    """A memory whose columns depend on every call, its order, the time and random draws."""
    trace, gain = column("trace"), column("gain", neutral=1.0)

    def gate(view: Any, incoming: Any) -> None:
        view.veto = int(incoming.event.text.startswith("no "))

    def dress(view: Any, incoming: Any) -> None:
        view.trace[view.row] = view.now + view.random.random()

    def drift(view: Any, tick: Any) -> None:
        view.gain *= np.exp(-tick.dt / 50.0)

    def recall(view: Any, _: Any) -> None:
        view.gain[view.recalled] += view.random.random()

    m = mechanism(
        "m",
        does(Phase.ENCODE, gate, adds=[VETO]),
        does(Phase.ENCODE, dress, reads=[ROW, NOW], sets=[trace, RANDOM]),
        does(Phase.MAINTAIN, drift, sets=[gain]),
        does(Phase.RETRIEVE, recall, reads=[RECALLED], sets=[gain, RANDOM]),
        owns=[trace, gain],
        order=1,
    )
    return memory(m, by_number(), **{"consolidate_every": 3.0, **options})


def told(i: int, **fields: Any) -> Event:
    return Event(
        10.0 + i * SECONDS, f"Ada \ud800 met \x00 Bo \ud83d\ude00, number {i}", id=f"e{i}", **fields
    )


def quietly(make: Callable[[], Engine]) -> tuple[Engine, list[str]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        e = make()
    return e, [str(w.message) for w in caught if w.category is InterruptedWarning]


def left_by_a_kill(path: Path) -> Path:
    """The file as a process that is killed now would leave it: what has been written is with the
    system.
    """
    copy = path.with_name(f"left {next(NUMBERS)}.db")
    copy.write_bytes(path.read_bytes())
    return copy


ACTS = st.lists(st.tuples(st.sampled_from(["encode", "encode", "encode", "veto", "wait", "learn",
                                           "use", "archive", "restore", "erase", "push", "pop",
                                           "many", "advance", "save", "close"]),
                          st.integers(0, 60), st.booleans()), max_size=24)  # fmt: skip


def act(e: Engine, name: str, number: int) -> None:
    """Call a method of a memory in a way that is valid in its state."""
    n, now = e.store.n, e.now if e.now == e.now else 10.0
    later = Event(
        now + number * SECONDS,
        f"told \udcff, number {number}",
        f"p{number % 3}",
        f"s{number % 2}",
        f"e{len(e.events)}",
        attributes=(("kind", "note"), ("tags", "\ud83d\ude00")) if number % 2 else (),
    )
    if name in ("encode", "veto", "wait"):
        e.encode(
            Event(
                later.time + 2.0 * (name == "wait"),
                ("no " if name == "veto" else "") + later.text,
                later.speaker,
                later.session,
                later.id,
                attributes=later.attributes,
            )
        )
    elif name == "learn":
        e.retrieve(
            Query("which \ud800 number?", only=Only(speakers=("p1", "p2")))
            if number % 2
            else "which?",
            number % 5,
            learn=True,
        )
    elif name == "use":
        answer = e.retrieve("which number?", 5)
        e.use(answer, answer.rows[: number % 4], outcome=None if number % 2 else number / 60.0)
    elif name == "archive" and n:
        e.archive(np.int64(number % n))  # type: ignore[arg-type]
    elif name == "restore" and n and not e.assembly.withholding.erased(number % n):
        e.restore(number % n)
    elif name == "erase" and e.events and (id := e.events[number % len(e.events)].id):
        e.erase(id, confirm=True)
    elif name == "push" and n:
        e.tasks.push(f"goal \ud800 {number}, number {number}")
    elif name == "pop" and len(e.tasks):
        e.tasks.pop(f"result, number {number}", blocked=bool(number % 2))
    elif name == "many":
        e.encode_all(
            [
                Event(
                    now + i * SECONDS, f"at once, number {number + i}", id=f"e{len(e.events)} {i}"
                )
                for i in range(3)
            ]
        )
    elif name == "advance" and n:
        e.advance(now + number / 10.0)
    elif name == "save":
        e.save()


@pytest.mark.slow
@fewer_examples
@given(acts=ACTS, full=st.booleans())
def test_a_memory_is_the_same_after_a_kill_between_any_two_calls(
    tmp_path_factory: pytest.TempPathFactory, acts: Any, full: bool
) -> None:
    folder = tmp_path_factory.mktemp("life")
    durable: Any = "full" if full else True
    e, whole = lively(path=folder / "m.db", durable=durable), lively()
    for name, number, killed in acts:
        act(e, name, number)
        act(whole, name, number)
        if name == "close":
            e.close()
        if killed or name == "close":
            if name != "close":
                left = left_by_a_kill(folder / "m.db")
                e.changes.snapshot.close(save=False)  # type: ignore[union-attr]
                left.replace(folder / "m.db")
            e, words = quietly(lambda: lively(path=folder / "m.db", durable=durable))
            assert not words, "nothing is lost"
            assert e.digest() == whole.digest() and e.tasks.frames() == whole.tasks.frames()
    e.close()
    assert lively(path=folder / "m.db").digest() == whole.digest()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["default", "cortex", "everything"])
def test_sets_are_the_same_after_a_kill(tmp_path: Path, name: str) -> None:
    registry = Registry.read()
    events = [
        Event(474000.0 + i, f"Ada painted window {i} in Lisbon with Bo.", "Ada" if i % 2 else "Bo")
        for i in range(18)
    ]
    made = [
        Engine(registry.build(registry.set(name)), HashingEmbedder(16), path=path)
        for path in (None, tmp_path / "m.db")
    ]
    whole, e = made
    for number, each in enumerate(acts_of(events)):
        for one in (whole, e):
            each(one)
        if number % 7 == 6:
            left = left_by_a_kill(tmp_path / "m.db")
            assert e.changes.snapshot is not None
            e.changes.snapshot.close(save=False)
            left.replace(tmp_path / "m.db")
            e, words = quietly(
                lambda: Engine(
                    registry.build(registry.set(name)), HashingEmbedder(16), path=tmp_path / "m.db"
                )
            )
            assert e.digest() == whole.digest() and not words
    e.close()


# --- the end of the process -----------------------------------------------------------------------
ENDS = {
    "the end of the script": "",
    "kill -9": "os.kill(os.getpid(), signal.SIGKILL)",
    "an exception in with": "with m: raise RuntimeError('of the script')",
    "Ctrl-C inside encode in with": """
m._run[Phase.ENCODE] = lambda incoming: (_ for _ in ()).throw(KeyboardInterrupt)
with m: tell(50)""",
}


@pytest.mark.slow
@pytest.mark.parametrize("end", ENDS)
def test_what_has_returned_outlives_the_process(tmp_path: Path, end: str) -> None:
    code = f"""import os, signal
import hebbarium as hb
from hebbarium.engine.contract.columns import Phase
m = hb.memory('minimal', embedding='hashing:16', path={str(tmp_path / "m.db")!r})
def tell(i): return m.encode(hb.Event(474000.0 + i / 60.0, f'message {{i}}', id=str(i)))
for i in range(50): tell(i)
m.archive(3); answer = m.retrieve('message 7'); m.use(answer, 7); m.tasks.push('Read the messages.')
print(m.digest(), flush=True)
{ENDS[end]}
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert len(run.stdout.split()) == 1, run.stderr
    registry = Registry.read()
    again, words = quietly(
        lambda: Engine(
            registry.build(registry.set("minimal")), HashingEmbedder(16), path=tmp_path / "m.db"
        )
    )
    assert again.digest() == run.stdout.strip() and not words
    assert (
        [event.id for event in again.events[:50]] == [str(i) for i in range(50)]
        and len(again.events) == 51
        and len(again.tasks) == 1
    )


@pytest.mark.parametrize("durable", [False, True])
def test_without_a_log_the_next_opening_warns(tmp_path: Path, durable: bool) -> None:
    e = lively(path=tmp_path / "m.db", durable=durable)
    for i in range(5):
        e.encode(told(i))
    e.changes.snapshot.close(save=False)  # type: ignore[union-attr]
    again, words = quietly(lambda: lively(path=tmp_path / "m.db"))
    assert (len(again.events), len(words)) == ((5, 0) if durable else (0, 1))
    assert durable or "durable=False" in words[0]
    again.encode(told(9))
    again.close()
    assert quietly(lambda: lively(path=tmp_path / "m.db"))[1] == []


def test_a_memory_that_is_only_asked_leaves_its_file_as_it_is(tmp_path: Path) -> None:
    with lively(path=tmp_path / "m.db") as e:
        e.encode_all([told(i) for i in range(4)])
    before = (tmp_path / "m.db").read_bytes()
    e = lively(path=tmp_path / "m.db", durable=False)
    e.retrieve("which number?")
    e.context("which number?", 100)
    e.changes.snapshot.close(save=False)  # type: ignore[union-attr]
    assert (tmp_path / "m.db").read_bytes() == before and quietly(
        lambda: lively(path=tmp_path / "m.db")
    )[1] == []


@pytest.mark.slow
def test_interruptions_at_any_line_lose_nothing(tmp_path: Path) -> None:
    """KeyboardInterrupt at some line of the storage or of the loop, in a call of a memory in
    `with`; calls before it are in the file, once.
    """

    def fresh() -> list[str]:
        e, found = lively(), []
        for i in range(6):
            found.append(e.digest())
            e.encode(Event(10.0 + i * 0.4, f"number {i}", id=f"e{i}"))
        return [*found, e.digest()]

    digests, path, reached = fresh(), tmp_path / "m.db", 0
    for at in (*range(0, 240, 3), *range(240, 3000, 37)):
        path.unlink(missing_ok=True)
        returned, left = 0, at

        def step(frame: Any, what: str, _: Any) -> Any:
            nonlocal left
            if not any(
                part in frame.f_code.co_filename
                for part in ("storage/snapshot", "storage/call_log", "engine/loop", "engine/state")
            ):
                return None
            left -= what == "line"
            if left < 0:
                sys.settrace(None)
                raise KeyboardInterrupt
            return step

        try:
            with lively(path=path) as e:
                sys.settrace(step)
                try:
                    for i in range(6):
                        e.encode(Event(10.0 + i * 0.4, f"number {i}", id=f"e{i}"))
                        returned = i + 1
                finally:
                    sys.settrace(None)
        except KeyboardInterrupt:
            reached += 1
        again, words = quietly(lambda: lively(path=path))
        held = len(again.events)
        assert returned <= held <= returned + 1 and not words, f"line {at}"
        for i in range(held, 6):
            again.encode(Event(10.0 + i * 0.4, f"number {i}", id=f"e{i}"))
        assert again.digest() == digests[6], f"line {at}"
        again.close()
        assert quietly(lambda: lively(path=path))[0].digest() == digests[6], f"line {at}"
    assert reached > 100


def test_a_memory_goes_on_after_an_interruption(tmp_path: Path) -> None:
    """Between two calls of a memory that was not in the midst of a change: the next call saves
    what the log may lack.
    """
    e, whole = lively(path=tmp_path / "m.db"), lively()
    for one in (e, whole):
        one.encode(told(0))
    with pytest.MonkeyPatch.context() as patch:

        def interrupted(self: Any, reached: Any) -> None:
            raise KeyboardInterrupt

        patch.setattr("hebbarium.engine.saving.call_log.CallLog.conclude", interrupted)
        with pytest.raises(KeyboardInterrupt):
            e.encode(told(1))
    whole.encode(told(1))
    for i in (2, 3):
        e.encode(told(i))
        whole.encode(told(i))
    assert lively(path=left_by_a_kill(tmp_path / "m.db")).digest() == e.digest() == whole.digest()


# --- damage ---------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def logged(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, list[str], list[bytes]]:
    """A file with ten calls in its log, and digest and file after each number of them."""
    path = tmp_path_factory.mktemp("logged") / "m.db"
    e = lively(path=path)
    e.encode_all([told(i) for i in range(3)])
    e.save()
    found, files = [e.digest()], [path.read_bytes()]
    for i in range(3, 11):
        e.encode(told(i, speaker="Ada"))
        found.append(e.digest())
        files.append(path.read_bytes())
    e.archive(2)
    e.retrieve("which?", 2, learn=True)
    return path.read_bytes(), [*found, "", e.digest()], files


def log_in(raw: bytes) -> bytes:
    connection = sqlite3.connect(":memory:")
    connection.deserialize(raw)
    (data,) = connection.execute("SELECT data FROM calls").fetchone()
    connection.close()
    return bytes(data)


def with_log(raw: bytes, data: bytes | None, statement: str = "UPDATE calls SET data = ?") -> bytes:
    connection = sqlite3.connect(":memory:")
    connection.deserialize(raw)
    with connection:
        connection.execute(statement, (data,) if data is not None else ())
    found = connection.serialize()
    connection.close()
    return found


@pytest.mark.slow
def test_no_damaged_bit_of_the_log_goes_unnoticed(
    tmp_path: Path, logged: tuple[bytes, list[str], list[bytes]]
) -> None:
    """Refused; or the calls before the damaged one, with a warning that says how many are
    missing; beyond its end nothing is read.
    """
    raw, digests, _ = logged
    sound, chance, kinds = log_in(raw), random.Random(1), {"refused": 0, "said": 0, "same": 0}
    (end,) = struct.unpack_from("<Q", sound, 16)
    for at in (
        *range(HEAD),
        *chance.sample(range(HEAD, end), 60),
        *chance.sample(range(end, len(sound)), 5),
    ):
        data = bytearray(sound)
        data[at] ^= 1 << chance.randrange(8)
        path = tmp_path / f"{at}.db"
        path.write_bytes(with_log(raw, bytes(data)))
        try:
            e, words = quietly(lambda path=path: lively(path=path))  # type: ignore[misc]
        except SnapshotError as error:
            assert at < HEAD and error.cure and str(tmp_path) in error.where
            kinds["refused"] += 1
            continue
        if words:
            lost = int(words[0].split(" of its last 10 calls")[0].split()[-1])
            assert at < end and (e.digest() == digests[10 - lost] or lost == 1)
            kinds["said"] += 1
            e.encode(told(20))
            e.close()
            assert len(lively(path=path).events) == 3 + min(10 - lost, 8) + 1
        else:
            assert at >= end and e.digest() == digests[10]
            kinds["same"] += 1
            e.close()
    assert kinds == {"refused": HEAD, "said": 60, "same": 5}


@pytest.mark.parametrize("change", ["DELETE FROM calls", "UPDATE calls SET number = 2",
                                    "INSERT INTO calls SELECT 2, data FROM calls",
                                    "UPDATE calls SET data = substr(data, 1, 100)",
                                    "UPDATE calls SET data = x''", "DROP TABLE calls",
                                    "UPDATE meta SET value = 'closed' WHERE key = 'state'",
                                    "UPDATE meta SET value = 'open' WHERE key = 'state'"])  # fmt: skip
def test_a_log_that_is_cut_or_lost_is_refused(
    tmp_path: Path, logged: tuple[bytes, list[str], list[bytes]], change: str
) -> None:
    (tmp_path / "m.db").write_bytes(with_log(logged[0], None, change))
    with pytest.raises(SnapshotError, match="damaged") as caught:
        lively(path=tmp_path / "m.db")
    assert caught.value.cure


def test_the_log_of_another_save_is_refused(
    tmp_path: Path, logged: tuple[bytes, list[str], list[bytes]]
) -> None:
    (tmp_path / "m.db").write_bytes(logged[0])
    e = lively(path=tmp_path / "m.db")
    e.save()
    (tmp_path / "later.db").write_bytes(
        with_log((tmp_path / "m.db").read_bytes(), log_in(logged[0]))
    )
    with pytest.raises(SnapshotError, match="another save"):
        lively(path=tmp_path / "later.db")


def test_a_mark_covers_the_number_of_a_call(
    tmp_path: Path, logged: tuple[bytes, list[str], list[bytes]]
) -> None:
    """Two calls in each other's place, each with its own mark."""
    raw, digests, _ = logged
    data, at, parts = log_in(raw), HEAD, []
    for _ in range(10):
        (size,) = struct.unpack_from("<Q", data, at)
        parts.append(data[at : at + 24 + size])
        at += 24 + size
    swapped = data[:HEAD] + b"".join((parts[0], parts[2], parts[1], *parts[3:]))
    (tmp_path / "m.db").write_bytes(with_log(raw, swapped + data[len(swapped) :]))
    e, words = quietly(lambda: lively(path=tmp_path / "m.db"))
    assert "9 of its last 10 calls" in words[0] and e.digest() == digests[1]


@pytest.mark.slow
def test_a_power_cut_takes_calls_and_never_the_file(
    tmp_path: Path, logged: tuple[bytes, list[str], list[bytes]]
) -> None:
    """Of the pages that were written since the save, any may have reached the disk, as of any
    call: the file opens, as after some of its calls.
    """
    _, digests, files = logged
    chance, seen = random.Random(2), set[str]()
    size = int.from_bytes(files[0][16:18], "big")
    assert all(len(each) == len(files[0]) for each in files), (
        "the log is within the file that the save has made"
    )
    for number in range(60):
        mixed, path = bytearray(files[0]), tmp_path / f"{number}.db"
        for at in range(0, len(mixed), size):
            mixed[at : at + size] = chance.choice(files)[at : at + size]
        path.write_bytes(mixed)
        e, _ = quietly(lambda path=path: lively(path=path))  # type: ignore[misc]
        seen.add(e.digest())
        assert e.digest() in digests[:9] and len(e.events) >= 3
        e.encode(told(30))
        e.close()
        assert lively(path=path).events[-1].id == "e30"
    assert len(seen) > 3


# --- disks ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("call", ["encode", "archive", "use", "learn", "push"])
def test_a_full_disk_is_an_error_of_the_call_and_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    e = lively(path=tmp_path / "m.db")
    e.encode_all([told(i) for i in range(6)])
    e.encode(told(6))
    before, put = e.digest(), call_log._put

    def full(file: SnapshotFile, at: int, data: bytes) -> None:
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorcode = sqlite3.SQLITE_FULL
        raise error

    def change() -> object:
        answer = e.retrieve("which?", 3)
        return {
            "encode": lambda: e.encode(told(7)),
            "archive": lambda: e.archive(1),
            "use": lambda: e.use(answer, answer.rows[:1]),
            "learn": lambda: e.retrieve("which?", 3, learn=True),
            "push": lambda: e.tasks.push("a goal, number 9"),
        }[call]()

    monkeypatch.setattr(call_log, "_put", full)
    for _ in range(2):
        with pytest.raises(SnapshotError, match="full") as caught:
            change()
        assert "free disk space" in caught.value.cure and e.digest() == before
    assert lively(path=left_by_a_kill(tmp_path / "m.db")).digest() == before
    monkeypatch.setattr(call_log, "_put", put)
    change()
    assert e.digest() != before
    assert lively(path=left_by_a_kill(tmp_path / "m.db")).digest() == e.digest()


def test_a_disk_that_fails_once_the_memory_has_changed_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    e = lively(path=tmp_path / "m.db")
    e.encode(told(0))

    def fail(self: Any, reached: Any) -> None:
        raise OSError(5, "the disk is gone")

    with monkeypatch.context() as patch:
        patch.setattr("hebbarium.engine.saving.call_log.CallLog.conclude", fail)
        with pytest.raises(SnapshotError, match="has changed the memory") as caught:
            e.encode(told(1))
        assert "do not repeat" in caught.value.cure
    e.encode(told(2))
    assert [x.id for x in lively(path=left_by_a_kill(tmp_path / "m.db")).events] == [
        "e0",
        "e1",
        "e2",
    ]


def test_a_folder_that_fills_up_loses_no_call_that_returned(tmp_path: Path) -> None:
    """With SQLite's own limit: the log grows, and saves come, until there is no room; then there
    is.
    """
    e = lively(path=tmp_path / "m.db")
    e.encode(told(0))
    (pages,) = e.changes.snapshot._file.execute("PRAGMA page_count").fetchone()  # type: ignore[union-attr]
    e.changes.snapshot._file.execute(f"PRAGMA max_page_count = {pages + 3}")  # type: ignore[union-attr]
    kept, refused = 1, 0
    for i in range(1, 700):
        try:
            e.encode(told(i))
            kept += 1
        except SnapshotError as error:
            assert "free disk space" in error.cure
            refused += 1
        if refused == 3:
            break
    assert refused == 3 and kept > 20
    left = lively(path=left_by_a_kill(tmp_path / "m.db"))
    assert len(left.events) == kept and left.digest() == e.digest()
    e.changes.snapshot._file.execute("PRAGMA max_page_count = 100000")  # type: ignore[union-attr]
    e.encode(told(800))
    e.close()
    assert len(lively(path=tmp_path / "m.db").events) == kept + 1


# --- what is in the log ---------------------------------------------------------------------------
def test_many_calls_in_one_tick_are_saved_on_the_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that opening repeats few of them; the state is as without."""
    monkeypatch.setattr(call_log, "MOST", 16)
    e, whole = lively(path=tmp_path / "m.db"), lively()
    for i in range(50):
        e.encode(told(i)), whole.encode(told(i))
    assert (
        e.changes.snapshot is not None
        and e.changes.snapshot._log.reached is not None
        and e.changes.snapshot._log.reached.calls == 50 % 16
    )
    assert lively(path=left_by_a_kill(tmp_path / "m.db")).digest() == whole.digest() == e.digest()


def test_a_call_of_any_size_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_log, "KEPT", 1 << 17)
    e = lively(path=tmp_path / "m.db")
    for i, size in enumerate((10, 40_000, 30_000, 400_000, 10)):
        e.encode(Event(10.0 + i * SECONDS, f"{'x' * size}, number {i}", id=f"e{i}"))
    left = lively(path=left_by_a_kill(tmp_path / "m.db"))
    assert left.digest() == e.digest() and len(left.events) == 5
    e.save()
    assert (
        e.changes.snapshot is not None
        and e.changes.snapshot._log.reached is not None
        and e.changes.snapshot._log.reached.size == call_log.FIRST
    )


def test_an_erased_text_is_neither_in_the_log_nor_in_the_file(tmp_path: Path) -> None:
    path, word = tmp_path / "m.db", b"quicksilver"
    e = lively(path=path)
    e.encode(told(0))
    e.encode(Event(11.0, "Ada has quicksilver, number 4", id="secret"))
    e.retrieve("quicksilver", learn=True)
    assert path.read_bytes().count(word) >= 2
    e.erase("secret", confirm=True)
    assert word not in path.read_bytes()
    e.encode(told(5000))
    e.changes.snapshot.close(save=False)  # type: ignore[union-attr]
    assert [each.name for each in tmp_path.iterdir() if word in each.read_bytes()] == []
    assert len(lively(path=path).events) == 3


PLAIN = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters())
)
VALUES = st.recursive(PLAIN, lambda inner: st.tuples(inner, inner))


@given(
    values=st.lists(VALUES, max_size=3).map(tuple),
    event=st.builds(
        Event,
        st.floats(allow_nan=False),
        st.text(st.characters()),
        st.text(),
        dated=st.booleans(),
        attributes=st.tuples(st.tuples(st.text(), st.text())),
    ),
    query=st.builds(
        Query,
        st.text(),
        st.none() | st.floats(allow_nan=False),
        only=st.none()
        | st.builds(Only, since=st.floats(allow_nan=False), sessions=st.tuples(st.text())),
    ),
)
def test_calls_are_read_as_they_were_written(
    values: tuple[Any, ...], event: Event, query: Query
) -> None:
    call = ("any", (*values, event, query, np.arange(3)))
    read = call_log._read(written(call))
    assert repr(read) == repr(("any", (*values, event, query, (0, 1, 2))))


def test_what_cannot_be_written_is_refused_before_anything_changes(tmp_path: Path) -> None:
    e = lively(path=tmp_path / "m.db")
    e.encode(told(0))
    before = e.digest()
    with pytest.raises(InputError, match="no plain value") as caught:
        e.retrieve(Query("which?", id=object()), learn=True)  # type: ignore[arg-type]
    assert "durable=False" in caught.value.cure and e.digest() == before
    with pytest.raises(InputError):
        e.archive(99)
    e.archive(0)
    assert lively(path=left_by_a_kill(tmp_path / "m.db")).digest() == e.digest()


@pytest.mark.parametrize("given", ["yes", 1, None, "FULL"])
def test_another_value_of_durable_is_refused(given: Any) -> None:
    with pytest.raises(InputError, match="durable") as caught:
        lively(durable=given)
    assert '"full"' in caught.value.cure


class Counting:
    """A language model that counts what it is asked."""

    name, revision, asked = "counting", "1", 0

    def ask(self, requests: Any) -> list[Reply]:
        self.asked += len(requests)
        return [Reply(Status.HTTP)] * len(requests)


def test_repeating_calls_asks_no_language_model(tmp_path: Path) -> None:
    """A call that asked one is saved; a call that was made without one is repeated without one."""

    def ask(view: Any, cue: Any) -> None:
        (reply,) = view.language_model.ask([Request("of", "Answer.", cue.query.text, schema, 9)])
        view.taught += 1.0 + (reply.status is not Status.NONE)

    taught = column("taught")
    schema = {
        "type": "object",
        "properties": {"same": {"type": "boolean"}},
        "required": ["same"],
        "additionalProperties": False,
    }

    def make(path: Path | None, model: Any = None) -> Engine:
        return memory(
            mechanism(
                "m",
                does(Phase.RETRIEVE, ask, reads=[LANGUAGE_MODEL, RECALLED], sets=[taught]),
                owns=[taught],
                order=1,
            ),
            by_number(),
            path=path,
            language_model=model,
        )

    path, model = tmp_path / "m.db", Counting()
    for first, later in ((None, model), (model, model)):
        path.unlink(missing_ok=True)
        e = make(path, first)
        e.encode(told(0))
        e.retrieve("which?", learn=True)
        answer = e.retrieve("which?")
        e.use(answer, answer.rows)
        asked, digest, models = model.asked, e.digest(), e.assembly.models_asked
        e.changes.snapshot.close(save=False)  # type: ignore[union-attr]
        again = make(path, later)
        assert (
            model.asked == asked
            and again.digest() == digest
            and again.assembly.models_asked == models
        )
        again.close()


def test_a_call_that_can_no_longer_be_repeated_is_named(tmp_path: Path) -> None:
    """As with another version of a mechanism; file and log stay as they are."""

    def make(broken: bool) -> Engine:
        def dress(view: Any, incoming: Any) -> None:
            if broken and incoming.event.id == "e2":
                raise ZeroDivisionError("of the new version")

        return memory(
            mechanism("m", does(Phase.ENCODE, dress, reads=[ROW])),
            by_number(),
            path=tmp_path / "m.db",
        )

    e = make(False)
    for i in range(4):
        e.encode(told(i))
    e.changes.snapshot.close(save=False)  # type: ignore[union-attr]
    for _ in range(2):
        with pytest.raises(
            SnapshotError, match="'encode' cannot be repeated: of the new version"
        ) as caught:
            make(True)
        assert "call 3 of its log" in caught.value.where and "version" in caught.value.cure
    assert len(make(False).events) == 4


def test_an_embedder_that_fails_leaves_file_and_log_as_they_are(tmp_path: Path) -> None:
    class Failing(HashingEmbedder):
        def embed(self, texts: Any) -> Any:
            raise OSError("the model is gone")

    path, mechanisms = tmp_path / "m.db", [by_number()]
    e = Engine(mechanisms, HashingEmbedder(16), path=path)
    e.encode(told(0))
    e.changes.snapshot.close(save=False)  # type: ignore[union-attr]
    with pytest.raises(OSError, match="is gone"):
        Engine(mechanisms, Failing(16), path=path)
    assert len(Engine(mechanisms, HashingEmbedder(16), path=path).events) == 1


def test_the_mark_of_a_call_is_as_documented(tmp_path: Path) -> None:
    """BLAKE2b over table, number, save, mark of the call before, and JSON: what is done, the
    present, and further values.
    """
    e = lively(path=tmp_path / "m.db")
    e.encode(told(0))
    e.archive(0)
    data = log_in((tmp_path / "m.db").read_bytes())
    save, count, _, last, _ = struct.unpack_from("<3Q16s16s", data)
    before, at = bytes(16), HEAD
    for number in range(count):
        size, own = struct.unpack_from("<Q16s", data, at)
        content = data[at + 24 : at + 24 + size]
        assert own == mark(b"calls", number, save, before, content)
        before, at = own, at + 24 + size
    assert before == last and json.loads(content) == ["archive", e.now, 0] and count == 2


def test_a_log_that_no_save_has_begun_takes_no_call(tmp_path: Path) -> None:
    e = lively(path=tmp_path / "m.db")
    file: SnapshotFile = e.changes.snapshot._file  # type: ignore[union-attr]
    with pytest.raises(ValueError, match="no log"):
        call_log.CallLog(file, "OFF").write(("archive", (0,)))
