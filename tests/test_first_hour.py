"""docs/guides/first-hour.md: every `hebbarium` command runs, in the order of the page, in one empty
folder, and prints what the page says. The clone is made, too.

Blocks are those of tests/test_docs.py.  Decimal numbers may differ by 0.01: vectors differ in their
last digits between processors.  Vectors are taken from the user's cache and added to it, as the
page says; without them the test embeds the demo data, which takes a minute.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from itertools import takewhile
from pathlib import Path

import pytest
from test_docs import ROOT, Block, blocks, commands, parsed

PAGE = ROOT / "docs" / "guides" / "first-hour.md"
NUMBER = re.compile(r"[+-]?\d+\.\d+")
NEAR = 0.01


def difference(printed: str, expected: str) -> str | None:
    """Where a text differs from a page's; None if it does not.  `...` stands for any text, and a
    run of spaces for any other.

    >>> difference("a  0.500 b c", "a 0.504 ... c"), difference("a 0.5", "a 0.6"), difference("a b", "b")
    (None, '0.5 for 0.6', 'not found: b')
    """
    text, at, pairs = " ".join(printed.split()), 0, list[tuple[str, str]]()
    segments = [" ".join(part.split()) for part in expected.replace("<BLANKLINE>", "").split("...")]
    for i, segment in enumerate(segments):
        pattern = re.compile(f"({NUMBER.pattern})".join(map(re.escape, NUMBER.split(segment))))
        last = i == len(segments) - 1
        found = (
            pattern.match(text, at)
            if i == 0
            else next(
                (m for m in pattern.finditer(text, at) if not last or m.end() == len(text)), None
            )
        )
        if not found or (last and found.end() != len(text)):
            return f"not found: {segment}"
        at = found.end()
        pairs += zip(found.groups(), NUMBER.findall(segment), strict=True)
    return next(
        (f"{mine} for {its}" for mine, its in pairs if abs(float(mine) - float(its)) > NEAR), None
    )


def calls(block: Block) -> list[tuple[list[str], str]]:
    """Words and expected output of each command of a console block."""
    parts = (part.partition("\n") for part in re.split(r"^\$ ", block.text, flags=re.M)[1:])
    return [(shlex.split(line), expected) for line, _, expected in parts]


@pytest.mark.slow
def test_the_hour(tmp_path: Path) -> None:
    for block in blocks(PAGE):
        if block.path:
            (tmp_path / block.path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / block.path).write_text(block.text, encoding="utf-8")
        for words, expected in calls(block) if block.kind == "console" else ():
            assert words[0] == "hebbarium"
            done = subprocess.run(
                [sys.executable, "-m", *words],
                cwd=tmp_path,
                capture_output=True,
                text=True,
                encoding="utf-8",
            )
            fault = difference(done.stdout, expected)
            assert done.returncode == 0 and fault is None, (
                f"{PAGE.name}:{block.line}: {fault}\n{done.stdout}\n{done.stderr}"
            )
    assert (tmp_path / "out/mine-ablation/design.html").is_file() and (
        tmp_path / "out/q11.html"
    ).is_file()


def test_the_commands_before_it_clone_and_plan_what_exists(tmp_path: Path) -> None:
    """The clone is made, of this repository; `make --dry-run` prints what each target would run
    there, and those commands exist.
    """
    (first,) = (block for block in blocks(PAGE) if block.kind == "sh")
    lines = [*commands(first.text)]
    assert [line[:2] for line in lines] == [
        ["git", "clone"],
        ["cd", "hebbarium"],
        ["make", "demo"],
        ["make", "test"],
    ]
    readme = [
        line
        for block in blocks(ROOT / "README.md")
        if block.kind == "sh"
        for line in commands(block.text)
    ]
    assert [line for line in lines if line[0] == "make"] == [
        line for line in readme if line[0] == "make"
    ]
    (git, clone, address, folder), (_, entered), *makes = lines
    assert address == "ADDRESS" and folder == entered
    subprocess.run(
        [git, clone, "--quiet", str(ROOT), folder], cwd=tmp_path, check=True, capture_output=True
    )
    root = tmp_path / folder
    used: dict[str, list[list[str]]] = {}
    # Under `make test` the outer make would hand on its own options.
    own = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MF"))}
    for program, target in [*makes, ["make", "test-all"]]:
        told = subprocess.run(
            [program, "--no-print-directory", "--dry-run", target],
            cwd=root,
            env=own,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        used[target] = [*commands(told)]
        for words in used[target]:
            _require(words, root)
    assert {"hebbarium", "pip"} <= {name(words) for words in used["demo"]} and {
        "ruff",
        "pytest",
    } <= {name(words) for words in used["test"]}
    assert {"ruff", "mypy", "pytest"} <= {name(words) for words in used["test-all"]}


def name(words: list[str]) -> str:
    """The program of a command; that of `python -m NAME` is NAME."""
    return words[2] if words[1:2] == ["-m"] else Path(words[0]).name


def _require(words: list[str], clone: Path) -> None:
    """A command of the package can be parsed, another program is a requirement of the package or
    on the path.  Where its output goes is the shell's.
    """
    words = [*takewhile(lambda word: not word.startswith(">"), words)]
    project = tomllib.loads((clone / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    needed = {re.split(r"[^\w-]", each)[0] for each in (*project["dependencies"], *extras["dev"])}
    if name(words) == "hebbarium":
        assert name(words) in project["scripts"]
        parsed(words[1:])
    elif name(words) == "pip" and words[-1] != "pip":  # it upgrades itself, too
        (extra,) = re.findall(r"\.\[(\w+)\]", words[-1])
        assert words[3] == "install" and extra in extras
    else:
        assert name(words) in {*needed, "venv"} or shutil.which(words[0]), words


def test_the_page_has_every_part_of_the_hour() -> None:
    text = PAGE.read_text(encoding="utf-8")
    heads = re.findall(r"^## (.+)$", text, re.M)
    assert heads == [
        "Clone, and two commands",
        "Five events of one's own",
        "A set of one's own",
        "Its ablation",
        "One missed question",
        "BibTeX",
    ]
    used = [
        words[1] for block in blocks(PAGE) if block.kind == "console" for words, _ in calls(block)
    ]
    assert {"data", "run", "ablate", "compare", "explain", "cite"} == set(used)
    (events,) = (block for block in blocks(PAGE) if block.path.endswith("events.jsonl"))
    assert len(events.text.splitlines()) == 5


@pytest.mark.parametrize(
    ("printed", "same"),
    [
        ("a 0.50\nb\n\nc", True),
        ("a 0.52\nb\nc", False),
        ("a 0.50 c", False),
        ("a 0.505\n\nb\nc", True),
    ],
)
def test_outputs_are_compared(printed: str, same: bool) -> None:
    assert (difference(printed, "a 0.50\n...b\nc") is None) is same
