"""What is printed: one function prints, and no text that came from outside steers a terminal."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from hebbarium.reporting.output import put

ROOT = Path(__file__).parents[1]
ROOMS = ("src/hebbarium", "engine", "mechanisms", "audit", "benchmarks")
# ESC and CSI, a bell, a backspace, the other way round, a line separator
ODD = "\x1b[2J\x9b31m\x07\x08\u202e\u2066\u2028"
PRINTING = re.compile(r"\b(print|echo|secho|typer|click|sys)\b")
STEERS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff]"
)


def odd(name: str) -> str:
    return f"{name} {ODD}"


def test_no_character_that_steers_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    put(odd("a\tb\nc"))
    put(odd("error"), err=True, end="")
    out, err = capsys.readouterr()
    assert out.startswith("a\tb\nc ") and out.endswith("\n") and err.startswith("error ")
    assert not STEERS.search(out + err) and out.count("\ufffd") == len(ODD) - len("[2J31m")


def test_nothing_else_prints() -> None:
    """Neither `print` nor typer's `echo` nor the streams that are written; a table of rich is
    drawn in two places, whose cells are replaced before, and a terminal is told which kernel is
    compiled, by names of functions.
    """
    found = set[str]()
    for file in (file for room in ROOMS for file in (ROOT / room).rglob("*.py")):
        place = file.relative_to(ROOT).as_posix()
        if place.startswith("benchmarks/speed/"):  # measurements of the developers
            continue
        text = file.read_text(encoding="utf-8")
        if not PRINTING.search(text):  # most files, which need no parser
            continue
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.Call):
                continue
            of = node.func
            if isinstance(of, ast.Name) and of.id in ("print", "echo", "secho"):
                found.add(f"{place}: {of.id}")
            if isinstance(of, ast.Attribute):
                base: ast.expr = of
                while isinstance(base, ast.Attribute):
                    base = base.value
                known = isinstance(base, ast.Name) and base.id in ("typer", "click", "sys")
                if not known and of.attr != "print":
                    continue
                written = ast.unparse(of)
                harmless = of.attr in ("isatty", "flush", "fileno", "reconfigure")
                streams = ("typer.echo", "typer.secho", "click.echo", "sys.stdout", "sys.stderr")
                if written.startswith(streams) and not harmless:
                    found.add(f"{place}: {written}")
                if of.attr == "print" and "console" in written.lower():
                    found.add(f"{place}: {written}")
    assert found == {
        "src/hebbarium/reporting/output.py: print",
        "src/hebbarium/console.py: console().print",
        "benchmarks/reports/tables.py: console.print",
        "engine/base/compiling.py: sys.stderr.write",
    }


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A data set of two conversations, each field of which has characters that steer."""
    folder = tmp_path / "data"
    folder.mkdir()
    events, questions = [], []
    for c in ("one", "two"):
        for i in range(6):
            events.append(
                {
                    "conversation": odd(c),
                    "id": odd(f"e{i}"),
                    "time": f"2024-05-0{i + 1}T10:00:00",
                    "speaker": odd("Ada"),
                    "session": odd(f"s{i // 3}"),
                    "text": odd(f"note {i} about boats and {'keys' * i}"),
                    "caption": odd("a photograph"),
                    "attributes": {odd("kind"): [odd("note")]},
                }
            )
        for i in range(4):
            questions.append(
                {
                    "conversation": odd(c),
                    "id": odd(f"q{i}"),
                    "text": odd(f"which note is about {'keys' * (i + 1)}?"),
                    "gold": [odd(f"e{5 - i}")],
                    "category": odd(f"kind {i % 2}"),
                    "answer": odd(f"note {5 - i}"),
                    "rubric": [odd("it names the note")],
                }
            )
    for name, rows in (("events", events), ("questions", questions)):
        (folder / f"{name}.jsonl").write_text(
            "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
        )
    return folder


@pytest.mark.slow
def test_no_field_of_a_data_set_steers_a_terminal_in_any_command(
    hebbarium: Callable[..., tuple[int, str, str]], hostile: Path, tmp_path: Path
) -> None:
    out, other, first = tmp_path / "run", tmp_path / "other", f"{odd('one')}/{odd('q0')}"
    measured = ("--dataset", "conversations", "--data", hostile, "--embedder", "hashing:16")
    commands: list[tuple[str | Path, ...]] = [
        ("data", "check", hostile),
        ("data", "show", hostile),
        ("data", "show", hostile, "--questions"),
        ("data", "show", hostile, "--conversation", odd("one")),
        ("data", "convert", hostile, "--out", tmp_path / "converted"),
        ("run", "--set", "bm25", *measured, "--out", out),
        ("run", "--set", "hybrid", *measured, "--out", other),
        ("compare", out, other),
        ("explain", out),
        ("explain", out, first),
        ("explain", out, "--misses"),
        ("explain", out, odd("nobody")),
        ("export", out, "--csv", tmp_path / "rows.csv"),
        ("reproduce", out, "--out", tmp_path / "again"),
        ("compare", out, tmp_path / odd("nowhere")),
        ("ablate", "--set", "hybrid", *measured, "--out", tmp_path / "ablation"),
    ]
    told = set[str]()
    for command in commands:
        code, said, err = hebbarium(*command)
        assert not STEERS.search(said + err), (command, STEERS.findall(said + err))
        assert "Traceback" not in err and code in (0, 1, 2), (command, err)
        told |= {name for name in ("kind 0", "note 5", "e5", "q0", "Ada") if name in said}
    assert told >= {"kind 0", "e5", "q0"}, "hostile fields were shown"
