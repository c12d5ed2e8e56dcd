"""CPU seconds that the hooks of each mechanism need to compile: measured in a process of its own
with an empty cache, since the kernels of this one are compiled or cached.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from ...engine.base.errors import HebbariumError
from ...engine.catalogue.registry import MechanismSet, Registry
from ...engine.contract.columns import Phase
from ...engine.ports.embedder import HashingEmbedder
from ...reporting.output import put
from ..datasets import load
from ..experiments.costs import lived


def compile_seconds(chosen: MechanismSet) -> dict[str, float]:
    """CPU seconds of the hooks of each mechanism in a first life, less those of a second.

    A kernel that several mechanisms call is counted where it is called first.  Cost: some 20 s.
    Raises HebbariumError if the process fails.
    """
    given = json.dumps(asdict(chosen), default=dict)
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-c", f"from {__name__} import main; main()"],
            input=given,
            env={**os.environ, "HEBBARIUM_CACHE": folder, "NUMBA_CACHE_DIR": folder},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
    if done.returncode:
        raise HebbariumError(
            f"the mechanisms could not be compiled apart: {done.stderr.strip()[-300:]}",
            where="--cost compile",
            cure="take another cost",
        )
    seconds: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return seconds


def main() -> None:
    """The work of the process: prints seconds by mechanism as JSON."""
    given = json.load(sys.stdin)
    chosen = MechanismSet(given["name"], given["summary"], given["mechanisms"])
    put(json.dumps(_seconds(chosen)))


def _seconds(chosen: MechanismSet) -> Mapping[str, float]:
    registry, conversation = Registry.installed(), load("demo", limit=1).conversations[0].held()
    first, second = (
        [
            times.ms
            for times in lived(chosen, registry, conversation, HashingEmbedder(64), seed=0, k=10)
        ]
        for _ in range(2)
    )
    return {id: max(0.0, _of(id, first) - _of(id, second)) / 1e3 for id in chosen.mechanisms}


def _of(id: str, times: Sequence[Mapping[tuple[str, Phase], float]]) -> float:
    return sum(ms for life in times for (owner, _), ms in life.items() if owner == id)
