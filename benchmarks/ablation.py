"""`hebbarium ablate`: the full set against the set without each of its mechanisms, and with each alternate swapped in."""
from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from ..engine.errors import InputError
from ..engine.ports.embedding_cache import CachedEmbedder
from ..engine.registry import MechanismSet, Registry
from ..reporting.files import write_json, write_whole
from . import ablation_report as report
from .datasets import Dataset
from .designs import Arm, Design, arms_of
from .execution.cells import Outcome
from .execution.local import Progress, execute
from .execution.spec import DEFAULTS, Inputs, Settings, code_version
from .scores.metrics import METRICS, summary
from .scores.outcomes import scored, total_receipts


def ablate(chosen: MechanismSet | None, registry: Registry, data: Dataset, embedder: CachedEmbedder, out: Path, *,
           design: Design = Design.LEAVE_ONE_OUT, settings: Settings = DEFAULTS, jobs: int = 1,
           progress: Progress | None = None) -> report.AblationResult:
    """Run every arm on every conversation and write manifest.json, rows.jsonl, ablation.json, ablation.md and ablation.html into `out`.

    Stopped at any moment and called again, it goes on where it was.  Raises HebbariumError, before anything runs if possible.
    """
    settings.check_set(chosen)
    if chosen is None:
        raise InputError(f"the system {settings.system!r} has no mechanisms to leave off", where="--system",
                         cure="measure it with `hebbarium run --system`, or leave out --system")
    if not any(q.gold for c in data.conversations for q in c.questions):
        raise InputError("no question names its evidence, so there is nothing to compare", where=data.name,
                         cure="take more conversations, or another data set")
    arms = arms_of(settings.applied(chosen), design)
    by_arm = execute(arms, Inputs(registry, data, embedder), settings, out, command={"command": "ablate", "design": design.value},
                     jobs=jobs, progress=progress)
    result = compared(arms, by_arm, data, design, settings.seed)
    write_json(out / "ablation.json", report.to_json(result))
    write_whole(out / "ablation.md", [report.to_markdown(result)])
    report.to_html(result, out / "ablation.html")
    return result


def compared(arms: Sequence[Arm], by_arm: Sequence[Sequence[Outcome]], data: Dataset, design: Design, seed: int) -> report.AblationResult:
    """Every arm against the first one, the full set.

    by_arm   outcomes of each arm, by conversation
    seed     of the resampling
    """
    full = by_arm[0]
    receipts = total_receipts(full)
    results = report.with_holm([_arm(arm, full, theirs, receipts, seed) for arm, theirs in zip(arms[1:], by_arm[1:], strict=True)])
    marked = scored(row for o in full for row in o.rows)
    categories = [row["category"] for row, _ in marked]
    return report.AblationResult(
        dataset=data.name, dataset_sha256=data.sha256, set_name=arms[0].chosen.name, seed=seed, design=design.value,
        n_conversations=len(data.conversations), n_questions=len(marked), baseline=summary(m for _, m in marked), arms=results,
        categories={c: categories.count(c) for c in sorted(set(categories))}, seconds=sum(o.seconds for o in full), version=code_version())


def _arm(arm: Arm, full: Sequence[Outcome], without: Sequence[Outcome], receipts: dict[str, dict[str, int]], seed: int) -> report.ArmResult:
    pairs = [(a, b) for one, other in zip(full, without, strict=True) for a, b in zip(one.rows, other.rows, strict=True) if a["gold"]]
    clusters = [a["conversation"] for a, _ in pairs]
    ours, theirs = [m for _, m in scored(a for a, _ in pairs)], [m for _, m in scored(b for _, b in pairs)]
    changes = [_places(a, b) for a, b in pairs]
    gains = [a.recall_10 - b.recall_10 for a, b in zip(ours, theirs, strict=True)]
    differences = {
        name: report.difference([m.named()[name] for m in ours], [m.named()[name] for m in theirs], clusters, seed=seed) for name in METRICS}
    grouped: dict[str, list[float]] = {}
    for (a, _), gain in zip(pairs, gains, strict=True):
        grouped.setdefault(a["category"], []).append(gain)
    receipt = receipts.get(arm.removed)
    metrics: dict[str, Any] = summary(theirs)
    return report.ArmResult(
        id=arm.id.removeprefix("without "), no_op=not any(changes), metrics=metrics, differences=differences,
        n_questions_changed=sum(map(bool, changes)), n_ranks_changed=sum(changes),
        n_helped=sum(g > 0 for g in gains), n_hurt=sum(g < 0 for g in gains),
        receipt=report.ArmReceipt(**receipt) if receipt else None, seconds=sum(o.seconds for o in without),
        by_category={c: sum(g) / len(g) for c, g in grouped.items()})


def _places(a: dict[str, Any], b: dict[str, Any]) -> int:
    """Ranks of gold, and places among the ten best, that differ."""
    return sum(bool(x != y) for name in ("ranks", "retrieved") for x, y in zip_longest(a[name], b[name]))
