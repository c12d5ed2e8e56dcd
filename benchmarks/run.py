"""`hebbarium run`: one mechanism set, or one other system, on one data set."""
from __future__ import annotations

from pathlib import Path
from typing import Any

from ..engine.ports.embedding_cache import CachedEmbedder, MeteredEmbedder
from ..engine.registry import MechanismSet, Registry
from ..reporting.files import write_json
from .datasets import Dataset
from .designs import FULL, Arm
from .execution.local import Progress, execute
from .execution.spec import DEFAULTS, Inputs, Settings
from .scores.outcomes import metrics_of

_NO_SET = MechanismSet("", "", {})


def run(chosen: MechanismSet | None, registry: Registry, data: Dataset, embedder: CachedEmbedder, out: Path, *, settings: Settings = DEFAULTS,
        jobs: int = 1, progress: Progress | None = None, replace: bool = False) -> dict[str, Any]:
    """Run, and write manifest.json, rows.jsonl, times.jsonl and metrics.json into `out`.  The metrics.

    chosen    None for a system that is not ours; the name of that system is then the arm of every row
    replace   write over another run that `out` holds

    Conversations that `out` already holds for the same inputs are taken from its ledger, times included.  Raises HebbariumError; InputError for
    a folder that holds another run.
    """
    settings.check_set(chosen)
    arms = [Arm(settings.system, _NO_SET) if chosen is None else Arm(FULL, settings.applied(chosen))]
    ahead = MeteredEmbedder(embedder)
    outcomes, = execute(arms, Inputs(registry, data, embedder), settings, out, command={"command": "run"}, jobs=jobs, progress=progress,
                        replace=replace, ahead=ahead)
    result = metrics_of(data.name, outcomes, ahead.counts)
    write_json(out / "metrics.json", result)
    return result
