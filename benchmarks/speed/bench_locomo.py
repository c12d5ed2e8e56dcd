"""Speed of a whole `hebbarium run`: all conversations and questions, `minimal` and `everything`,
embeddings cached, one core, one thread.

The demo is always run, LoCoMo if $HEBBARIUM_DATA holds it (a folder with `locomo/locomo10.json` or
a subset of it).  The first run fills the embedding cache and is not counted.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

DATA = Path(os.environ.get("HEBBARIUM_DATA", "data")).expanduser()
SOURCES: dict[str, list[str]] = {"demo": []}
TARGETS = {("locomo", "minimal"): 25e3, ("locomo", "everything"): 40e3}  # ms
if (DATA / "locomo").is_dir():
    SOURCES["locomo"] = ["--data", str(DATA)]
THREADS = dict.fromkeys(
    ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"
)


def on_one_core() -> None:
    if sys.platform == "linux":
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def run(dataset: str, chosen: str, out: Path) -> Callable[[], object]:
    """The command in a process of its own, from start to end; each call writes into a new
    folder.
    """
    folders = count()

    def call() -> None:
        options = ["--set", chosen, "--dataset", dataset, *SOURCES[dataset], "--out",
                   str(out / f"{next(folders)}")]  # fmt: skip
        command = [sys.executable, "-m", "hebbarium", "run", *options]
        done = subprocess.run(
            command,
            env=os.environ | THREADS,
            preexec_fn=on_one_core,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"

    return call


@pytest.mark.parametrize("chosen", ["minimal", "everything"])
@pytest.mark.parametrize("dataset", SOURCES)
def test_run(clock: Any, dataset: str, chosen: str, tmp_path: Path) -> None:
    clock(run(dataset, chosen, tmp_path), 3, target=TARGETS.get((dataset, chosen)), warmup=1)
