"""`hebbarium run`: one mechanism set, or one other system, on one data set."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from ...engine.catalogue.registry import MechanismSet, Registry
from ...engine.ports.by_name import pinned
from ...engine.ports.embedding_cache import CachedEmbedder, MeteredEmbedder
from ...engine.ports.language_model import LanguageModel
from ...reporting.files import write_json
from ...reporting.provenance import Made, made
from ..datasets import Dataset
from ..designs import FULL, Arm
from ..execution.failures import ALONE, Options
from ..execution.folder import RunFolder
from ..execution.local import Progress, execute
from ..execution.plan import RunPlan, planned
from ..execution.spec import DEFAULTS, Settings
from ..reports.card import write_card
from ..reports.learning_curve import write_learning_curve
from ..reports.learning_figure import write_learning_page
from ..scores.outcomes import metrics_of
from ..scores.surroundings import Conversations


def run(
    chosen: MechanismSet | None,
    registry: Registry,
    data: Dataset,
    embedder: CachedEmbedder,
    out: Path,
    *,
    settings: Settings = DEFAULTS,
    jobs: int = 1,
    progress: Progress | None = None,
    replace: bool = False,
    options: Options = ALONE,
) -> dict[str, Any]:
    """`measure` the plan of a set, or of another system.  Raises as `plan` and `measure`."""
    return measure(
        plan(chosen, registry, settings),
        data,
        embedder,
        out,
        jobs=jobs,
        progress=progress,
        replace=replace,
        options=options,
    )


def plan(chosen: MechanismSet | None, registry: Registry, settings: Settings = DEFAULTS) -> RunPlan:
    """What a run measures, built and checked; no data are needed yet.

    chosen  None for a system that is not ours; the name of that system is then the arm of every row

    Raises HebbariumError as `planned`, InputError as `Settings.check_set`.
    """
    settings.check_set(chosen)
    if chosen is None:
        return planned([], registry, settings, [settings.system])
    return planned([Arm(FULL, settings.applied(chosen))], registry, settings)


def measure(
    planned: RunPlan,
    data: Dataset,
    embedder: CachedEmbedder,
    out: Path,
    *,
    jobs: int = 1,
    progress: Progress | None = None,
    making: Made | None = None,
    embedder_spec: str = "",
    replace: bool = False,
    language_model: LanguageModel | None = None,
    options: Options = ALONE,
) -> dict[str, Any]:
    """Run the plan, and write manifest.json, rows.jsonl, times.jsonl and metrics.json into `out`.
    The metrics.

    making         when, where and by which command the run is made; None: here and now
    embedder_spec  the embedder as `engine.ports.by_name.embedder` takes it, for `explain`; "" for
                   one made in memory
    replace        write over another run that `out` holds
    language_model  for mechanisms that can use one
    options        which lives are kept or were kept before, and what happens if a cell fails

    Conversations that `out` already holds for the same inputs are taken from its ledger, times
    included.  Raises HebbariumError; InputError for a folder that holds another run.
    """
    ahead = MeteredEmbedder(embedder)
    command = {
        "command": "run",
        "embedder_spec": pinned(embedder_spec, embedder),
        "made": asdict(making or made()),
    }
    (outcomes,) = execute(
        planned,
        data,
        embedder,
        out,
        command=command,
        jobs=jobs,
        progress=progress,
        replace=replace,
        ahead=ahead,
        language_model=language_model,
        options=options,
    )
    result = metrics_of(
        data.name, outcomes, ahead.counts, Conversations.of(data, planned.settings.match).sizes
    )
    write_json(out / "metrics.json", result, shared=True)
    write_card(RunFolder.read(out))
    curves = write_learning_curve(out, planned.settings.feedback, data, {FULL: outcomes})
    write_learning_page(
        out, planned.settings.feedback, curves, f"Scores by position of the question on {data.name}"
    )
    return result
