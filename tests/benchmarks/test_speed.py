"""Benches of speed run to their end, once and at their smallest size, and scripts beside them start.
Nothing is timed here.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

SPEED = Path(__file__).parents[2] / "benchmarks" / "speed"
SMALLEST = "1000"  # units of a memory
TEXTS = {file.name: file.read_text(encoding="utf-8") for file in sorted(SPEED.glob("*.py"))}
SCRIPTS = [name for name, text in TEXTS.items() if '__name__ == "__main__"' in text]
# what a script is given, if it has no `--help`: the least of what it measures
GIVEN = {"long_texts.py": ("bm25", "1000", "prose"), "long_chat.py": ("bm25", "1", "40")}
BENCHES = [name for name in TEXTS if name.startswith("bench_") and name not in SCRIPTS]


def run(*arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, *arguments],
        env=os.environ | {"UNITS": SMALLEST},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-1000:]}"


@pytest.mark.slow
@pytest.mark.parametrize("bench", BENCHES)
def test_a_bench_runs_to_its_end(bench: str) -> None:
    run("-m", "pytest", str(SPEED / bench), "--benchmark-disable", "-p", "no:cacheprovider")


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_starts(script: str) -> None:
    run(str(SPEED / script), *GIVEN.get(script, ("--help",)))


@pytest.mark.parametrize("bench", BENCHES)
def test_every_bench_is_timed(bench: str) -> None:
    """`--benchmark-only`, which `make speed` gives, leaves out a test without the fixture."""
    tests = [
        node
        for node in ast.parse(TEXTS[bench]).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]
    assert tests
    for test in tests:
        assert {"clock", "benchmark"} & {argument.arg for argument in test.args.args}, test.name
