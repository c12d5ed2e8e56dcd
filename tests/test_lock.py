"""docs/tools/lock.py: the lock files hold what pyproject.toml asks for, and say so if they do not."""

from __future__ import annotations

import re
import tomllib
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
from scripts import script

LOCK = script("lock")
PROJECT = tomllib.loads((LOCK.ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LOCKED = LOCK.read()
TEXTS = [(LOCK.FOLDER / name).read_text(encoding="utf-8") for name in (LOCK.LOCK, LOCK.TORCH)]


def changed(old: str, new: str) -> Any:
    """pyproject.toml with one line of its dependencies in place of another."""
    project: Any = deepcopy(PROJECT)
    lines = project["project"]["dependencies"]
    (place,) = (i for i, line in enumerate(lines) if line.startswith(old))
    lines[place] = new
    return project


def test_the_lock_files_are_those_of_the_project() -> None:
    """If not, run `python docs/tools/lock.py`, which needs uv."""
    assert LOCK.faults(PROJECT, LOCKED) == []


def test_every_line_of_a_package_is_read() -> None:
    """An independent count: versions, and digests."""
    whole = "".join(TEXTS)
    assert len(LOCKED) == len(re.findall(r"(?m)^[a-z0-9][^ ]*==", whole)) > 100
    assert sum(len(package.digests) for package in LOCKED) == whole.count("--hash=sha256:")


def test_no_address_of_an_index_is_in_a_lock_file() -> None:
    assert not re.search(r"https?:|file:|--(extra-)?index|--find-links", "".join(TEXTS))


def test_cuda_libraries_are_asked_for_by_torch_alone() -> None:
    """Who installs lock.txt, and torch from elsewhere, gets none of them."""
    assert not re.search(r"(?m)^(torch|triton|nvidia|cuda)", TEXTS[0])
    assert re.search(r"(?m)^torch==", TEXTS[1])


@pytest.mark.parametrize(
    ("project", "said"),
    [
        (changed("rich", "rich>=1000"), "rich>=1000 is asked for"),
        (changed("rich", "unheard-of"), "unheard-of is asked for and not locked"),
        (changed("rich", "numpy"), "rich is locked for the project"),
    ],
    ids=["a raised bound", "a new dependency", "a dependency that went"],
)
def test_a_change_of_the_project_is_said(project: Any, said: str) -> None:
    assert any(said in fault for fault in LOCK.faults(project, LOCKED))


def test_a_package_without_a_digest_is_said() -> None:
    bare = [replace(LOCKED[0], digests=()), *LOCKED[1:]]
    assert [f for f in LOCK.faults(PROJECT, bare) if LOCKED[0].name in f and "digest" in f]
