"""When, on what machine and by which command a report was made."""

from __future__ import annotations

import os
import platform
import shlex
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

CLONE = Path(__file__).resolve().parents[3]  # if the package is in a clone


@dataclass(frozen=True, slots=True)
class Made:
    """Who reads a report learns this of its making; it never enters rows of results.

    date          ISO 8601, UTC, to the second
    platform      operating system and processor architecture; no name of a host
    cores         processors that this process may use
    command_line  as typed; "" if the report was made from Python
    bibtex        entries of exactly what was used; "" if the caller gave none
    """

    date: str
    platform: str
    cores: int
    command_line: str = ""
    bibtex: str = ""


def made(words: Sequence[str] = (), bibtex: str = "") -> Made:
    """Now and here.

    words  of the command line

    >>> made(["hebbarium", "ablate", "--set", "my set.yaml"]).command_line
    "hebbarium ablate --set 'my set.yaml'"
    """
    return Made(
        datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        platform.platform(),
        _cores(),
        shlex.join(words),
        bibtex,
    )


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def commit(root: Path = CLONE) -> str:
    """The short name of the commit of a clone, with `-dirty` if its files differ from it; "" where
    there is no history.

    root  folder of the clone

    >>> commit(Path("no-such-folder"))
    ''
    """
    if not (root / ".git").exists():
        return ""
    try:
        done = subprocess.run(
            ["git", "-C", str(root), "describe", "--always", "--dirty", "--exclude=*"],
            capture_output=True,
            text=True,
        )
    except OSError:  # no git
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def versions(libraries: Iterable[str]) -> dict[str, str]:
    """Versions of Python and of installed distributions, by name.

    >>> versions(["no-such-library"])["no-such-library"]
    'not installed'
    """
    return {"python": platform.python_version(), **{name: _version(name) for name in libraries}}


@cache
def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
