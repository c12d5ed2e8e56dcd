"""Ctrl-C, a full disk and a folder without permission: one message with what, where and cure;
finished work is kept.
"""

from __future__ import annotations

import errno
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from commands import command

from hebbarium.benchmarks.execution import local
from hebbarium.cli import main

ROOT = Path(__file__).parent.parent
FAST = ("--dataset", "demo", "--embedder", "hashing:64", "--limit", "1")
COMMANDS: dict[str, tuple[str, ...]] = {
    "run": ("run", "--set", "bm25", *FAST, "--out", "{tmp}/o"),
    "ablate": ("ablate", "--set", "hybrid", *FAST, "--out", "{tmp}/o"),
    "audit": ("audit", "recency", "--no-mutants", "--out", "{tmp}/o"),
    "export": ("export", "{run}", "--csv", "{tmp}/o/rows.csv"),
    "compare": ("compare", "{run}", "{run}", "--html", "{tmp}/o/page.html"),
    "explain": ("explain", "{run}", "friends/q1", "--html", "{tmp}/o/page.html"),
    "questions": ("questions", "{run}", "--out", "{tmp}/o"),
    "data convert": ("data", "convert", "demo", "--out", "{tmp}/o"),
    "new": ("new", "fading", "--into", "{tmp}/o"),
}
LONG = ("run", "ablate")  # commands that keep finished cells
Command = Callable[[str], tuple[int, str]]


def environment(cache: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT / "src"), "HEBBARIUM_CACHE": str(cache)}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run."""
    folder = tmp_path_factory.mktemp("finished")
    command(folder / "cache", "run", "--set", "bm25", *FAST, "--out", folder / "run")
    return folder / "run"


@pytest.fixture
def call(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    finished: Path,
) -> Command:
    """A command run in this process: its exit code and its standard error."""
    monkeypatch.setenv("HEBBARIUM_CACHE", str(tmp_path / "cache"))

    def run(name: str) -> tuple[int, str]:
        words = [
            word.replace("{tmp}", str(tmp_path)).replace("{run}", str(finished))
            for word in COMMANDS[name]
        ]
        monkeypatch.setattr(sys, "argv", ["hebbarium", *words])
        with pytest.raises(SystemExit) as end:
            main()
        return int(end.value.code or 0), capsys.readouterr().err

    return run


FULL, FORBIDDEN = (
    r"(No space left on device|the disk is full)",
    r"(Permission denied|no permission)",
)


def failing(
    error: Callable[[Path], BaseException], folder: Path, real: Callable[..., Any]
) -> Callable[..., Any]:
    """A method of Path that fails for a folder and every path below it."""

    def method(self: Path, *given: Any, **more: Any) -> Any:
        if folder in (self, *self.parents):
            raise error(self)
        return real(self, *given, **more)

    return method


def one_message(err: str, where: Path, what: str) -> None:
    assert (
        err.count("error: ") == 1 and "Traceback" not in err and err.count("\n  What to do: ") == 1
    )
    assert re.search(rf"^error: {re.escape(str(where))}.*{what}", err, re.MULTILINE), err


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_a_full_disk_is_named_and_the_same_command_works_later(
    name: str, call: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every file of results gets its name by `Path.replace`."""
    with monkeypatch.context() as full:
        full.setattr(
            Path,
            "replace",
            failing(
                lambda path: OSError(errno.ENOSPC, "No space left on device", str(path)),
                tmp_path / "o",
                Path.replace,
            ),
        )
        code, err = call(name)
    assert code == 2 and not list((tmp_path / "o").rglob("*.part"))
    one_message(err, tmp_path / "o", FULL)
    assert call(name)[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", LONG)
def test_results_that_cannot_be_written_lose_no_finished_cell(
    name: str, call: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Path.replace

    def full(self: Path, target: Path) -> Path:
        if target.name == "rows.jsonl":
            raise OSError(errno.ENOSPC, "No space left on device", str(self))
        return real(self, target)

    with monkeypatch.context() as disk:
        disk.setattr(Path, "replace", full)
        code, err = call(name)
    cells = "1 of 1 conversations" if name == "run" else "4 of 4 cells"
    assert code == 2
    one_message(err, tmp_path / "o" / "rows.jsonl", FULL)
    assert (
        f"{cells} are finished and kept in {tmp_path / 'o' / 'ledger.sqlite'}; the same command writes the results"
        in err
    )
    monkeypatch.setattr(local, "run_cell", None)  # running a cell would fail now
    code, err = call(name)
    assert code == 0 and "nothing was run again" in err and (tmp_path / "o" / "rows.jsonl").exists()


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_a_folder_without_permission_is_named(
    name: str, call: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tests may run as root, who may write everywhere."""
    forbidden = failing(
        lambda path: PermissionError(errno.EACCES, "Permission denied", str(path)),
        tmp_path / "o",
        Path.mkdir,
    )
    monkeypatch.setattr(Path, "mkdir", forbidden)
    code, err = call(name)
    assert code == 2 and not (tmp_path / "o").exists()
    one_message(err, tmp_path / "o", FORBIDDEN)


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_an_interrupt_ends_every_command_with_130(
    name: str, call: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as keyboard:
        keyboard.setattr(
            Path, "replace", failing(lambda _: KeyboardInterrupt(), tmp_path / "o", Path.replace)
        )
        code, err = call(name)
    assert not list((tmp_path / "o").rglob("*.part"))
    assert (
        code == 130 and err.count("interrupted: ") == 1 and "the same command starts again" in err
    )
    assert "Traceback" not in err and "error: " not in err
    assert call(name)[0] == 0


def cells(ledger: Path) -> int:
    if not ledger.exists():
        return 0
    with closing(sqlite3.connect(ledger)) as connection:
        try:
            return int(connection.execute("SELECT count(*) FROM cells").fetchone()[0])
        except sqlite3.OperationalError:
            return 0


def heeding_interrupts() -> None:
    """SIGINT as in a terminal: a job in the background of a shell inherits that it is ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


# Half a second before each conversation, so that the interrupt comes in time on a busy machine.
LEISURELY = """
import time
from hebbarium.benchmarks.systems.bm25_dense import BM25Dense

class Leisurely(BM25Dense):
    def __init__(self, *given):
        time.sleep(0.5)
        super().__init__(*given)
"""


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_real_interrupt_keeps_what_is_finished(tmp_path: Path, jobs: str) -> None:
    (tmp_path / "leisurely.py").write_text(LEISURELY, encoding="utf-8")
    surroundings = environment(tmp_path)
    surroundings["PYTHONPATH"] += f"{os.pathsep}{tmp_path}"
    words = [sys.executable, "-m", "hebbarium", "run", "--system", "leisurely:Leisurely", *FAST[:4],
             "--jobs", jobs, "--out", str(tmp_path / "o")]  # fmt: skip
    child = subprocess.Popen(
        words,
        env=surroundings,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=heeding_interrupts,
    )
    while cells(tmp_path / "o" / "ledger.sqlite") < 2 and child.poll() is None:
        time.sleep(0.02)
    os.killpg(child.pid, signal.SIGINT)  # a terminal sends it to the whole group
    out, err = child.communicate(timeout=60)
    kept = cells(tmp_path / "o" / "ledger.sqlite")
    assert child.returncode == 130 and out == "" and 2 <= kept < 10
    assert (
        "of 10 conversations are finished and kept in" in err
        and "the same command continues with the others" in err
    )
    assert "Traceback" not in err and not (tmp_path / "o" / "rows.jsonl").exists()
    again = subprocess.run(words, env=surroundings, capture_output=True, text=True)
    assert (
        again.returncode == 0
        and f"{kept} of 10 conversations were finished before" in again.stderr
        and (tmp_path / "o" / "rows.jsonl").exists()
    )


def test_an_interrupt_while_the_command_line_is_read_ends_without_a_traceback() -> None:
    code = (
        "import sys\nclass Interrupted:\n    def find_spec(self, name, *rest):\n"
        "        if name == 'typer':\n            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupted())\nimport hebbarium.cli"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 130 and not ended.stderr
