"""Writes the lock files: every package that pyproject.toml leads to, directly or not, with all extras,
as one version each with the digests of its files, for every platform and Python of the project.

    python docs/tools/lock.py            # needs uv; writes requirements/lock.txt and torch.txt
    python docs/tools/lock.py --check    # reads files only; says what of them is out of date

torch and the CUDA libraries that its builds for Linux ask for are in torch.txt, since who has no GPU
installs a build without them, and no published number depends on torch.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "requirements"
LOCK, TORCH = "lock.txt", "torch.txt"
DIRECT = "hebbarium (pyproject.toml)"  # how uv names the project as the parent of a package
OF_TORCH = re.compile(r"torch|triton|nvidia-.*|cuda-.*")  # its builds for Linux with a GPU
INTRODUCTION = {
    LOCK: "# All packages of hebbarium with all extras, without torch and its CUDA libraries.\n",
    TORCH: "# torch as PyPI has it: for Linux with CUDA, for other systems without.\n",
}
WRITER = "# Written by docs/tools/lock.py; how to install it: docs/guides/explain.md.\n"


@dataclass(frozen=True, slots=True)
class Locked:
    """One version of a package in a lock file.

    text    its lines as they stand in the file
    marker  condition on platform and Python; "" for all
    """

    name: str
    version: str
    marker: str
    digests: tuple[str, ...]
    parents: tuple[str, ...]
    text: str


def entries(text: str) -> Iterator[Locked]:
    """The packages of a lock file, in order."""
    for block in re.split(r"(?m)^(?=[A-Za-z0-9])", text)[1:]:
        head = re.match(r"(\S+)==(\S+)(?: ; (.*?))?(?: \\)?$", block, re.MULTILINE)
        if head is None:
            raise SystemExit(f"a line of a lock file names no version: {block.splitlines()[0]}")
        name, version, marker = head.groups()
        parents = re.search(r"^ {4}# via(.*)", block, re.MULTILINE | re.DOTALL)
        yield Locked(
            canonicalize_name(name),
            version,
            marker or "",
            tuple(re.findall(r"--hash=(sha256:[0-9a-f]{64})", block)),
            tuple(re.sub(r"\s*#\s*", "\n", parents[1]).strip().split("\n")) if parents else (),
            block,
        )


def direct(project: Mapping[str, Any]) -> list[Requirement]:
    """The requirements of pyproject.toml, with all extras, without the project itself."""
    extras = project["project"]["optional-dependencies"].values()
    lines = chain(project["project"]["dependencies"], *extras)
    asked = [Requirement(line) for line in lines]
    return [r for r in asked if canonicalize_name(r.name) != "hebbarium"]


def faults(project: Mapping[str, Any], locked: Sequence[Locked]) -> list[str]:
    """What of the lock files is out of date or incomplete, one sentence each."""
    said = []
    asked = direct(project)
    for requirement in asked:
        name = canonicalize_name(requirement.name)
        versions = [package.version for package in locked if package.name == name]
        if not versions:
            said.append(f"{name} is asked for and not locked")
        said += [
            f"{name} is locked at {version}, and {requirement} is asked for"
            for version in versions
            if not requirement.specifier.contains(version, prereleases=True)
        ]
    wanted = {canonicalize_name(requirement.name) for requirement in asked}
    for package in locked:
        if DIRECT in package.parents and package.name not in wanted:
            said.append(f"{package.name} is locked for the project, which does not ask for it")
        if not package.digests:
            said.append(f"{package.name}=={package.version} is locked without a digest")
    return sorted(set(said))


def read() -> list[Locked]:
    """The packages of both lock files."""
    texts = [(FOLDER / name).read_text(encoding="utf-8") for name in (LOCK, TORCH)]
    return [package for text in texts for package in entries(text)]


def write() -> None:
    """Ask uv for the newest versions that all conditions admit, and write both files."""
    command = [
        *(
            sys.executable,
            "-m",
            "uv",
            "pip",
            "compile",
            "--universal",
            "--generate-hashes",
            "--all-extras",
        ),
        *("--upgrade", "--no-header", "--no-emit-index-url", "--no-emit-find-links"),
        *("--python-version", "3.11", "pyproject.toml"),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    packages = list(entries(done.stdout))
    for name, of_torch in ((LOCK, False), (TORCH, True)):
        chosen = [p.text for p in packages if bool(OF_TORCH.fullmatch(p.name)) is of_torch]
        text = INTRODUCTION[name] + WRITER + "".join(chosen)
        (FOLDER / name).write_text(text, encoding="utf-8")
        print(f"requirements/{name}: {len(chosen)} packages")


def main() -> None:
    parser = argparse.ArgumentParser(description="Write or check the lock files.")
    parser.add_argument("--check", action="store_true", help="say what is out of date")
    if not parser.parse_args().check:
        write()
        return
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    if said := faults(project, read()):
        sys.exit("\n".join([*said, "What to do: python docs/tools/lock.py (needs uv)"]))
    print("the lock files have what pyproject.toml asks for")


if __name__ == "__main__":
    main()
