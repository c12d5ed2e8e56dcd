"""Writes what `pip install .` brings, by package and megabytes, into the decision on dependencies.

    python -m venv fresh; fresh/bin/pip install .
    fresh/bin/python docs/tools/dependencies.py

Measured are the files of each package that the project leads to in the environment that runs it.
"""

from __future__ import annotations

import platform
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

PROJECT = "hebbarium"
ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "decisions" / "dependencies.md"
PLACE = re.compile(
    r"(?<=<!-- written by docs/tools/dependencies\.py -->\n).*?(?=<!-- end -->)", re.S
)
SMALL = 5.0  # MB; smaller packages are counted together


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def needed(package: Distribution) -> Iterator[str]:
    """What a package asks for on this machine, without its extras."""
    for line in package.requires or ():
        name, _, marker = line.partition(";")
        if "extra ==" in marker:
            continue
        match = re.match(r"[A-Za-z0-9._-]+", name)
        if match:
            yield normal(match[0])


def brought() -> dict[str, list[str]]:
    """All packages that the project leads to, each with those that ask for it."""
    parents: dict[str, list[str]] = {}
    waiting = [PROJECT]
    while waiting:
        name = waiting.pop()
        for other in needed(distribution(name)):
            try:
                distribution(other)
            except PackageNotFoundError:  # its marker holds elsewhere
                continue
            if other not in parents:
                waiting.append(other)
            asking = parents.setdefault(other, [])
            if name not in asking:  # a package may ask twice, for two versions of Python
                asking.append(name)
    return parents


def megabytes(name: str) -> float:
    """Size of the installed files of a package, without compiled Python."""
    files = distribution(name).files or ()
    sizes = (
        Path(str(file.locate())).stat().st_size
        for file in files
        if file.suffix != ".pyc" and Path(str(file.locate())).is_file()
    )
    return sum(sizes) / 1e6


def table(parents: dict[str, list[str]], sizes: dict[str, float], commit: str) -> str:
    """One row a package of at least `SMALL` MB, largest first, and one for all others."""
    large = sorted((n for n in sizes if sizes[n] >= SMALL), key=lambda n: -sizes[n])
    rows = [
        f"| `{name}` {distribution(name).version} | {sizes[name]:,.0f} | {by(parents[name])} |"
        for name in large
    ]
    rest = [name for name in sizes if sizes[name] < SMALL]
    rows.append(f"| {len(rest)} others | {sum(sizes[n] for n in rest):,.0f} | |")
    rows.append(f"| **all {len(sizes)}** | **{sum(sizes.values()):,.0f}** | |")
    head = (
        f"Commit {commit}, Python {platform.python_version()}, {platform.system()} on "
        f"{platform.machine()}, a build of `torch` without CUDA."
    )
    return "\n".join([head, "", "| package | MB | asked for by |", "|---|---|---|", *rows, ""])


def by(parents: list[str]) -> str:
    """Who asks for a package; the project itself first."""
    named = ["us" if parent == PROJECT else f"`{parent}`" for parent in sorted(parents)]
    return ", ".join(sorted(named, key=lambda name: name != "us"))


def main() -> None:
    git = ["git", "rev-parse", "--short=8", "HEAD"]
    commit = subprocess.run(git, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    parents = brought()
    text = table(parents, {name: megabytes(name) for name in parents}, f"`{commit.strip()}`")
    page = PAGE.read_text(encoding="utf-8")
    if not PLACE.search(page):
        sys.exit(text)
    PAGE.write_text(PLACE.sub(lambda _: text, page, count=1), encoding="utf-8")


if __name__ == "__main__":
    main()
