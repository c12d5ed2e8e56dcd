"""The wheel in a fresh environment: its commands, and a memory of three sentences."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from environments import ROOT, checkout, environment, run

pytestmark = pytest.mark.slow
MEMORY = """
import hebbarium as hb

assert hb.__file__.startswith(__import__("sys").prefix), hb.__file__
with hb.memory("hybrid", embedding="hashing") as memory:
    for hour, text in enumerate(("Ada painted the window.", "Bo fixed the door.", "Cy swam.")):
        memory.encode(hb.Event(474000.0 + hour, text))
    print(memory.unit(int(memory.retrieve("Who fixed the door?").rows[0])).text)
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The Python of an environment with the wheel of this checkout, and a folder elsewhere."""
    folder = tmp_path_factory.mktemp("installed")
    source = checkout(folder / "source")
    built = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*built, "--wheel-dir", str(folder), str(source)], check=True)
    (wheel,) = folder.glob("*.whl")
    python = environment(folder / "env")
    added = run(python, folder, "-m", "pip", "install", "--quiet", "--no-deps", "--ignore-installed", str(wheel))  # fmt: skip
    assert added.returncode == 0, added.stderr
    return python, folder


def test_the_command_that_an_installation_adds_runs(installed: tuple[Path, Path]) -> None:
    """It has the name of the project, so that `pipx run hebbarium` finds it."""
    python, folder = installed
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert list(project["scripts"]) == [project["name"]]
    command = python.with_name(project["name"])
    told = run(command, folder, "--help")
    assert told.returncode == 0 and "Commands:" in told.stdout, told.stderr
    listed = run(command, folder, "list")
    assert listed.returncode == 0 and "lexical_bm25" in listed.stdout, listed.stderr


def test_the_doctor_finds_nothing_missing(installed: tuple[Path, Path]) -> None:
    python, folder = installed
    told = run(python.with_name("hebbarium"), folder, "doctor")
    assert told.returncode == 0 and "registry" in told.stdout, told.stdout + told.stderr


def test_a_memory_of_three_sentences_answers(installed: tuple[Path, Path]) -> None:
    python, folder = installed
    told = run(python, folder, "-c", MEMORY)
    assert (told.returncode, told.stdout) == (0, "Bo fixed the door.\n"), told.stderr
