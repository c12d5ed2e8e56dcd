"""The file of a snapshot at its path: beside an old journal, at paths that are no files, and
removed or replaced while it is open.
"""

from __future__ import annotations

import errno
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from hebbarium.benchmarks.drills.children import started, told
from hebbarium.engine.base.errors import SnapshotError
from hebbarium.engine.contract.records import Event
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.saving.file import SnapshotFile
from hebbarium.testing.small import by_number, memory

EVENTS = [
    Event(9.0 * i, f"Ada met Bo in Lisbon, number {i % 5}", "Ada", f"s{i // 4}", f"e{i}")
    for i in range(12)
]
KILLED = 6  # events in the file of the process that is killed
linux = pytest.mark.skipif(
    sys.platform != "linux", reason="elsewhere SQLite's lock is the only one"
)


def opened(path: Path) -> Engine:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return memory(by_number(), path=path)


def lived(path: Path, events: list[Event]) -> list[tuple[bytes, str]]:
    """Content of the file and digest of its memory after each event."""
    memory, found = opened(path), []
    for event in events:
        told(memory, event)
        found.append((path.read_bytes(), memory.digest()))
    memory.close()
    return found


@pytest.fixture(scope="module")
def life(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[bytes, str]]:
    return lived(tmp_path_factory.mktemp("life") / "m.db", EVENTS)


@pytest.fixture
def killed(tmp_path: Path, life: list[tuple[bytes, str]]) -> Path:
    """The file of a process that was killed while it saved: half of its pages are written, and
    its journal is there.
    """
    path, execute = tmp_path / "m.db", SnapshotFile.execute
    path.write_bytes(life[KILLED - 1][0])

    def live(writer: int) -> None:
        memory = opened(path)
        assert memory.changes.snapshot is not None
        # pages are written before the commit
        memory.changes.snapshot._file.execute("PRAGMA cache_size = 1")

        def die(
            self: SnapshotFile, statement: str, values: tuple[object, ...] = ()
        ) -> sqlite3.Cursor:
            if statement == "COMMIT":
                os.kill(os.getpid(), signal.SIGKILL)
            return execute(self, statement, values)

        SnapshotFile.execute = die  # type: ignore[method-assign]
        told(memory, EVENTS[KILLED])

    child, pipe = started(live)
    pipe.close()
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
    assert journal(path).read_bytes()[:1] != b"\0" and path.read_bytes() != life[KILLED - 1][0]
    return path


def journal(path: Path) -> Path:
    return path.with_name(f"{path.name}-journal")


def test_the_journal_of_a_killed_process_restores_its_file(
    killed: Path, life: list[tuple[bytes, str]]
) -> None:
    memory = opened(killed)
    assert memory.digest() == life[KILLED - 1][1]
    told(memory, EVENTS[KILLED])
    assert memory.digest() == life[KILLED][1]
    memory.close()


@linux
@pytest.mark.parametrize("after", [1, KILLED - 1, KILLED, KILLED + 1, len(EVENTS)])
def test_an_old_journal_leaves_a_copy_of_the_file_as_it_is(
    killed: Path, life: list[tuple[bytes, str]], after: int
) -> None:
    """A copy of any age, put in the place of the file that the journal belongs to; SQLite rolled
    the journal back into it.
    """
    content, digest = life[after - 1]
    killed.write_bytes(content)
    memory = opened(killed)
    assert memory.digest() == digest and killed.read_bytes() == content
    for event in EVENTS[after:]:
        told(memory, event)
    memory.close()
    assert opened(killed).digest() == life[-1][1] and not journal(killed).exists()


@linux
def test_an_old_journal_leaves_another_memory_as_it_is(tmp_path: Path, killed: Path) -> None:
    content, digest = lived(
        tmp_path / "other.db", [Event(3.0 * i, f"Eve left Rome, number {i}") for i in range(9)]
    )[-1]
    link = tmp_path / "link.db"
    link.symlink_to(killed)
    killed.write_bytes(content)
    assert opened(link).digest() == digest and killed.read_bytes() == content


@linux
def test_a_damaged_copy_beside_an_old_journal_is_refused(
    killed: Path, life: list[tuple[bytes, str]]
) -> None:
    content = bytearray(life[2][0])
    content[8192:16384] = bytes(8192)
    killed.write_bytes(content)
    with pytest.raises(SnapshotError, match="damaged") as caught:
        opened(killed)
    assert "restore a copy" in caught.value.cure


@linux
def test_a_journal_is_left_while_a_program_has_the_file_open(
    killed: Path, life: list[tuple[bytes, str]]
) -> None:
    """Through SQLite alone; the journal may be that program's."""
    killed.write_bytes(life[-1][0])
    old = journal(killed).rename(killed.with_name("old"))
    code = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('BEGIN IMMEDIATE'); print(flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(killed)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdin is not None and other.stdout is not None
        other.stdout.readline()
        old.rename(journal(killed))
        with pytest.raises(SnapshotError, match="locked"):
            opened(killed)
        assert journal(killed).exists()
        other.stdin.close()
    assert opened(killed).digest() == life[-1][1]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs os.mkfifo")
def test_paths_that_are_no_files_are_refused_with_a_cure(tmp_path: Path) -> None:
    for link, to in (("self", "self"), ("one", "two"), ("two", "one")):
        (tmp_path / link).symlink_to(tmp_path / to)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name, what, cure in (
        ("self", "leads back", "remove the link"),
        ("one", "leads back", "remove the link"),
        ("self/m.db", "leads back", "remove the link"),
        ("pipe", "a pipe", "path of a file"),
        ("folder", "a folder", "path of a file"),
        (os.devnull, "a device", "path of a file"),
    ):
        with pytest.raises(SnapshotError, match=what) as caught:
            opened(tmp_path / name)
        assert cure in caught.value.cure and name in caught.value.where
    assert {each.name for each in tmp_path.iterdir()} == {"self", "one", "two", "pipe", "folder"}


def test_a_link_to_a_file_that_is_not_there_yet_makes_it(tmp_path: Path) -> None:
    (tmp_path / "link.db").symlink_to(tmp_path / "m.db")
    memory = opened(tmp_path / "link.db")
    told(memory, EVENTS[0])
    memory.close()
    assert (tmp_path / "m.db").is_file() and len(opened(tmp_path / "m.db").events) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be removed there")
@pytest.mark.parametrize(
    ("how", "what"),
    [
        ("removed", "was removed"),
        ("moved", "was removed"),
        ("replaced", "was replaced"),
        ("folder moved", "was removed"),
    ],
)
def test_a_file_that_is_removed_or_replaced_while_it_is_open_is_told_at_the_next_save(
    tmp_path: Path, life: list[tuple[bytes, str]], how: str, what: str
) -> None:
    path = tmp_path / "folder" / "m.db"
    path.parent.mkdir()
    memory = opened(path)
    for event in EVENTS[:4]:
        told(memory, event)
    before = path.read_bytes()
    if how == "folder moved":
        path.parent.rename(tmp_path / "away")
    else:
        path.unlink() if how == "removed" else path.rename(tmp_path / "away.db")
    if how == "replaced":
        path.write_bytes(before)
    for act in (memory.save, lambda: memory.encode(EVENTS[4]), memory.close):
        with pytest.raises(SnapshotError, match=what) as caught:
            act()
        assert "move it back" in caught.value.cure and str(path) in caught.value.where
    assert len(memory.retrieve("Lisbon").rows) == 4, "the memory can be asked"
    assert not (how == "replaced" and path.read_bytes() != before), "the other file stays"
    if how in ("moved", "folder moved"):
        (tmp_path / "away").rename(path.parent) if how == "folder moved" else (
            tmp_path / "away.db"
        ).rename(path)
        for event in EVENTS[4:]:
            told(memory, event)
        memory.close()
        assert opened(path).digest() == life[-1][1]
    else:
        other = opened(tmp_path / "other.db")
        for event in [*memory.events, *EVENTS[4:]]:
            told(other, event)
        assert other.digest() == life[-1][1], "what the cure says"


def test_a_process_that_changes_its_folder_saves_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    memory = opened(Path("m.db"))
    told(memory, EVENTS[0])
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    told(memory, EVENTS[1])
    memory.close()
    assert len(opened(tmp_path / "m.db").events) == 2


def test_errors_of_the_file_system_at_the_next_save_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, stat = opened(tmp_path / "m.db"), Path.stat

    def fail(self: Path, **named: bool) -> os.stat_result:
        if self.name == "m.db":
            raise OSError(errno.EIO, "trouble")
        return stat(self, **named)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "stat", fail)
        with pytest.raises(SnapshotError, match="trouble") as caught:
            told(memory, EVENTS[0])
    assert "the disk fails" in caught.value.cure
    memory.close()
    shutil.copy(tmp_path / "m.db", tmp_path / "copy.db")
    assert opened(tmp_path / "copy.db").digest() == memory.assembly.digest()
