"""Tests the lowest versions of all direct dependencies that pyproject.toml admits, in an environment
of their own, so that its lower bounds are true.

    python docs/tools/lowest.py [FOLDER]             # build/lowest if not given; needs uv
    python docs/tools/lowest.py --torch [FOLDER]     # with torch, several GB on Linux, and more tests
    python docs/tools/lowest.py --newest             # the same tests in the environment that runs it

Packages are taken as wheels, as a user gets them.  Tools of the tests are the newest.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
UV = (sys.executable, "-m", "uv")
TOOLS = {"docs", "dev"}  # extras that no program needs
TESTED_WITH = ("pytest", "hypothesis", "pytest-xdist", "jsonschema", "bm25s", "statsmodels")
UNREACHABLE = 69  # exit code where no package index answers (EX_UNAVAILABLE of sysexits.h)
NO_ANSWER = re.compile("Failed to fetch|error sending request|client error|timed out")
PATIENT = {"UV_HTTP_TIMEOUT": "180"}  # seconds
OF_TORCH = re.compile(r"torch|triton|nvidia-.*|cuda-.*|sentence-transformers")
# each uses a library where its versions differ: arrays, kernels, indexes, stems, networks, pages,
# worker processes, commands, servers
TESTS = (
    "tests/engine/test_ranking.py",
    "tests/engine/storage/test_vectors.py",
    "tests/engine/storage/test_postings.py",
    "tests/benchmarks/scores/test_statistics.py",
    "tests/benchmarks/test_export.py",
    "tests/benchmarks/reports/test_design_page.py",
    "tests/doors/test_langgraph.py",
    "tests/doors/test_llamaindex.py",
    "tests/doors/test_openai_agents.py",
    "tests/test_output.py",
)
# of torch, and of a cluster, whose workers start slowly on a busy machine
TESTS_WITH_TORCH = (
    "tests/benchmarks/execution/test_cluster.py",
    "tests/engine/ports/test_backends.py",
    "tests/engine/ports/test_bert_graph.py",
    "tests/engine/ports/test_embedder.py",
    "tests/engine/ports/test_language_model.py",
)


def called(*words: str) -> str:
    """What a command prints; ends the script with its message if it fails."""
    done = subprocess.run(
        words, cwd=ROOT, env={**os.environ, **PATIENT}, capture_output=True, text=True
    )
    if done.returncode:
        print(f"{' '.join(words[:4])} ...\n{done.stderr}", file=sys.stderr)
        sys.exit(UNREACHABLE if NO_ANSWER.search(done.stderr) else 1)
    return done.stdout


def resolved() -> list[Requirement]:
    """The lowest version of each direct dependency and the newest of every other package that
    fits them.
    """
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [part for extra in table["optional-dependencies"] if extra not in TOOLS
              for part in ("--extra", extra)]  # fmt: skip
    text = called(
        *(*UV, "pip", "compile", "--resolution", "lowest-direct", "--only-binary", ":all:"),
        *("--no-header", "--no-annotate", *extras, "pyproject.toml"),
    )
    return [Requirement(line) for line in text.splitlines() if line.strip()]


def installed(folder: Path, wanted: Sequence[Requirement]) -> Path:
    """The Python of an environment with these packages, made anew."""
    called(*UV, "venv", "--quiet", "--clear", "--python", sys.executable, str(folder))
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    install = (*UV, "pip", "install", "--quiet", "--python", str(python))
    called(*install, *TESTED_WITH, *map(str, wanted))
    return python


def tested(python: str, tests: Sequence[str], folder: Path) -> int:
    """The exit code of pytest on some files, with kernels compiled anew."""
    paths = {"PYTHONPATH": str(ROOT / "src"), "NUMBA_CACHE_DIR": str(folder / "numba")}
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **paths}).returncode


def main() -> None:
    parser = argparse.ArgumentParser(description="Test the lowest versions of dependencies.")
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "build" / "lowest")
    parser.add_argument("--torch", action="store_true", help="with torch and more tests")
    parser.add_argument("--newest", action="store_true", help="the same tests where this runs")
    given = parser.parse_args()
    if given.newest:
        sys.exit(tested(sys.executable, TESTS + TESTS_WITH_TORCH, given.folder))
    wanted = [
        requirement
        for requirement in resolved()
        if given.torch or not OF_TORCH.fullmatch(canonicalize_name(requirement.name))
    ]
    python = installed(given.folder.resolve(), wanted)
    sys.exit(tested(str(python), TESTS + TESTS_WITH_TORCH * given.torch, given.folder))


if __name__ == "__main__":
    main()
