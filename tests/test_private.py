"""Who may read what is written: the mode of every file and folder that a memory, its caches, an
import and a run make.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from scripts import script

import hebbarium as hb
from hebbarium.benchmarks.datasets import Dataset
from hebbarium.benchmarks.datasets.conversations import write_conversations
from hebbarium.benchmarks.execution.ledger import Ledger
from hebbarium.benchmarks.experiments.design import ablate
from hebbarium.benchmarks.runs.export import to_csv
from hebbarium.engine.base.private import draft_name, opened_new, private_file, private_folder
from hebbarium.engine.catalogue.registry import MechanismSet, Registry
from hebbarium.engine.ports.cache_file import default_cache
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.ports.embedding_cache import CachedEmbedder
from hebbarium.engine.ports.language_model import NoModel
from hebbarium.engine.ports.transcript import Transcript
from hebbarium.engine.saving import file
from hebbarium.reporting.files import results_folder, write_json, write_whole

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
SMALL = MechanismSet(
    "small", "for the test", {"dense_similarity": {}, "lexical_bm25": {}, "convex_fusion": {}}
)


@pytest.fixture(autouse=True)
def lax() -> Iterator[None]:
    """The usual umask, under which others may read new files."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, str]:
    """The mode of each file and folder below one, by its name there."""
    return {
        str(path.relative_to(folder)): f"{path.stat().st_mode & 0o777:o}"
        for path in folder.rglob("*")
    }


def open_to_others(folder: Path) -> dict[str, str]:
    return {name: mode for name, mode in modes(folder).items() if int(mode, 8) & 0o077}


def test_the_files_of_a_memory_are_its_users(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also the journal of a save and the draft of a new file, while they are there."""
    seen: dict[str, str] = {}
    path = tmp_path / "m.db"

    def look(new: Path, at: Path) -> None:
        seen.update(modes(tmp_path))
        link(new, at)

    link = file._link
    monkeypatch.setattr(file, "_link", look)
    with hb.memory("hybrid", embedding="hashing:16", path=path) as memory:
        memory.encode(hb.Event(1.0, "Ada told Bo a secret.", id="e0"))
        assert memory.changes.snapshot is not None
        with memory.changes.snapshot._file.transaction() as to:
            to.execute("UPDATE meta SET value = value")
            seen.update(modes(tmp_path))
            assert "m.db-journal" in seen
        memory.erase("e0", confirm=True)
    hb.rebuild(path, path=tmp_path / "again.db").close()
    seen.update(modes(tmp_path))
    assert any(name.endswith(".new") for name in seen), "the draft of the file was seen"
    assert set(seen.values()) == {"600"}, seen


def test_caches_and_transcripts_are_their_users(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEBBARIUM_CACHE", str(tmp_path / "all" / "caches"))
    cached = CachedEmbedder(HashingEmbedder(16), default_cache() / "embeddings.sqlite")
    cached.embed(["a secret"])
    Transcript(NoModel("m", "1"), tmp_path / "said.sqlite", "record")
    found = modes(tmp_path)
    assert {"all", "all/caches", "said.sqlite"} <= found.keys()
    assert {f"all/caches/embeddings.sqlite{end}" for end in ("", "-wal", "-shm")} <= found.keys()
    assert not open_to_others(tmp_path)


def test_a_run_is_its_users_and_its_reports_can_be_shared(
    tmp_path: Path, registry: Registry, tiny: Dataset
) -> None:
    out = results_folder(tmp_path / "out" / "run")
    seen: dict[str, str] = {}
    ablate(
        SMALL,
        registry,
        tiny,
        CachedEmbedder(HashingEmbedder(16), None),
        out,
        jobs=1,
        progress=lambda *_: seen.update(modes(tmp_path)),
    )
    seen |= modes(tmp_path)
    private = {name: mode for name, mode in seen.items() if not int(mode, 8) & 0o077}
    shared = {name.removeprefix("out/run/") for name in seen.keys() - private.keys()}
    assert {mode for name, mode in private.items() if (tmp_path / name).is_dir()} == {"700"}
    assert {"out", "out/run", *(f"out/run/{name}" for name in (
        "rows.jsonl", "times.jsonl", "manifest.json", "ledger.sqlite", "ledger.sqlite.lock"))} <= private.keys()  # fmt: skip
    assert (
        shared
        == {"design.json", "design.md", "design.svg", "design.tex", "design.csv", "design.html"}
        & shared
    )
    assert "design.md" in shared


def test_what_is_imported_and_exported_is_its_users(tmp_path: Path, tiny: Dataset) -> None:
    write_conversations(tiny, results_folder(tmp_path / "mine"), licence="", citation="")
    to_csv([{"arm": "full", "question": "who?"}], tmp_path / "made" / "rows.csv")
    assert len(modes(tmp_path)) >= 5 and not open_to_others(tmp_path)


def test_a_ledger_and_its_lock_are_their_users(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    with ledger.locked(), ledger._connection() as connection:
        connection.execute("BEGIN IMMEDIATE")
        ends = ("", "-wal", "-shm", ".lock", ".lock-journal")
        assert modes(tmp_path).keys() == {f"ledger.sqlite{end}" for end in ends}
        assert not open_to_others(tmp_path)


WRITERS: dict[str, Callable[[Path], object]] = {
    "file": lambda path: write_whole(path, ["words"]),
    "json": lambda path: write_json(path, {}),
    "sqlite": private_file,
    "draft": lambda path: opened_new(path).close(),
    "folder": private_folder,
}


@pytest.mark.parametrize("kind", WRITERS)
def test_a_stricter_umask_takes_more(kind: str, tmp_path: Path) -> None:
    os.umask(0o277)
    WRITERS[kind](tmp_path / "it")
    os.umask(0o022)
    assert modes(tmp_path) == {"it": "500" if kind == "folder" else "400"}


def test_what_is_there_keeps_its_mode(tmp_path: Path) -> None:
    """Its user has shared it."""
    folder, path = tmp_path / "folder", tmp_path / "m.db"
    folder.mkdir()
    with hb.memory("hybrid", embedding="hashing:16", path=path):
        path.chmod(0o640)
        results_folder(folder)
    with hb.memory("hybrid", embedding="hashing:16", path=path) as memory:
        memory.encode(hb.Event(1.0, "We moved."))
    assert modes(tmp_path) == {"folder": "755", "m.db": "640"}


def test_a_shared_report_follows_the_umask(tmp_path: Path) -> None:
    write_whole(tmp_path / "made" / "page.html", ["figures"], shared=True)
    os.umask(0o027)
    write_whole(tmp_path / "page.html", ["figures"], shared=True)
    assert modes(tmp_path) == {"made": "755", "made/page.html": "644", "page.html": "640"}


def test_a_database_at_the_end_of_a_link_is_private_too(tmp_path: Path) -> None:
    """A link to a file that is not there yet: SQLite would make it as the umask lets it."""
    (tmp_path / "link.sqlite").symlink_to(tmp_path / "real.sqlite")
    sqlite3.connect(private_file(tmp_path / "link.sqlite")).execute("CREATE TABLE t (x)").close()
    assert (tmp_path / "real.sqlite").stat().st_mode & 0o777 == 0o600


def test_a_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(OSError, match=r"File exists|Not a directory"):
            private_folder(path)


def test_a_draft_has_a_name_of_its_own_in_the_same_folder(tmp_path: Path) -> None:
    first, second = (draft_name(tmp_path / "a", "new") for _ in range(2))
    assert first != second and first.parent == second.parent == tmp_path
    opened_new(first).close()
    for link in (tmp_path / "to nothing", tmp_path / "to a file"):
        link.symlink_to(first if link.name == "to a file" else tmp_path / "nothing")
        with pytest.raises(FileExistsError):
            opened_new(link)
    assert not (tmp_path / "nothing").exists()


@pytest.mark.slow
def test_the_guide_lists_every_file_that_commands_write() -> None:
    """If not, run `python docs/tools/file_modes.py`."""
    tool = script("file_modes")
    steps = tool.seen()
    assert tool.PLACE.search(tool.GUIDE.read_text(encoding="utf-8"))[0] == tool.table(steps)
    shared = {name for pairs in steps.values() for name, mode in pairs if mode != "0600"}
    reports = {f"out/design.{end}" for end in ("csv", "html", "json", "md", "svg", "tex")}
    reports |= {"out/card.json", "out/metrics.json", tool.DRAFTS}
    assert {name for name in shared if not name.endswith("/")} == reports
