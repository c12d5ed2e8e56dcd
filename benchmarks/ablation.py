"""`hebbarium ablate`: the whole set, and the set without each of its mechanisms; every alternate in its place."""
from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from itertools import zip_longest
from pathlib import Path
from typing import Any

from ..engine.errors import InputError
from ..engine.ports.embedding_cache import CachedEmbedder
from ..engine.registry import MechanismSet, Registry
from ..reporting.files import results_folder, write_json, write_whole
from . import ablation_report as report
from .datasets import Dataset
from .run import scored, total_receipts
from .scores.metrics import METRICS, summary
from .sweep import (
    FULL,
    Arm,
    Outcome,
    Progress,
    cells_of,
    check_arms,
    code_version,
    embed_ahead,
    manifest,
    run_cells,
    write_rows,
)


class Design(Enum):
    """How arms are made from a set."""

    LEAVE_ONE_OUT = "leave-one-out"


def arms_of(chosen: MechanismSet) -> list[Arm]:
    """The full set, then the set without each mechanism, then each alternate swapped in."""
    arms = [Arm(FULL, chosen)]
    arms += [Arm(f"without {id}", chosen.without([id])) for id in chosen.mechanisms]
    swaps = ((old, new) for old, others in chosen.alternates.items() if old in chosen.mechanisms for new in others)
    return arms + [Arm(f"swap {old}->{new}", chosen.swapped(old, new)) for old, new in swaps]


def ablate(chosen: MechanismSet, registry: Registry, data: Dataset, embedder: CachedEmbedder, out: Path, *, design: Design = Design.LEAVE_ONE_OUT,
           seed: int = 0, unit: str = "turn", rehearse: float | None = None, jobs: int = 1,
           progress: Progress | None = None) -> report.AblationResult:
    """Run every arm on every conversation and write manifest.json, rows.jsonl, ablation.json, ablation.md and ablation.html into `out`.

    Stopped at any moment and called again, it goes on where it was.  Raises HebbariumError, before anything runs where it can.
    """
    if not any(q.gold for c in data.conversations for q in c.questions):
        raise InputError("no question names its evidence, so there is nothing to compare", where=data.name,
                         cure="take more conversations, or another data set")
    arms = arms_of(chosen)
    check_arms(arms, registry)
    results_folder(out)
    embed_ahead(data, embedder)
    cells = cells_of(arms, data, seed, unit, rehearse)
    outcomes = run_cells(cells, registry, embedder, out / "ledger.sqlite", jobs=jobs, progress=progress)
    size = len(data.conversations)
    by_arm = [outcomes[i * size:(i + 1) * size] for i in range(len(arms))]
    full = by_arm[0]
    receipts = total_receipts(full)
    results = report.with_holm([_arm(arm, full, theirs, receipts, seed) for arm, theirs in zip(arms[1:], by_arm[1:], strict=True)])
    marked = scored(row for o in full for row in o.rows)
    categories = [row["category"] for row, _ in marked]
    result = report.AblationResult(
        dataset=data.name, dataset_sha256=data.sha256, set_name=chosen.name, seed=seed, design=design.value, n_conversations=size,
        n_questions=len(marked), baseline=summary(m for _, m in marked), arms=results,
        categories={c: categories.count(c) for c in sorted(set(categories))}, seconds=sum(o.seconds for o in full), version=code_version())
    extra = {"command": "ablate", "design": design.value, "rehearse": rehearse}
    write_json(out / "manifest.json", manifest(chosen, registry, data, embedder, seed, unit, extra))
    write_rows(out / "rows.jsonl", outcomes)
    write_json(out / "ablation.json", report.to_json(result))
    write_whole(out / "ablation.md", [report.to_markdown(result)])
    report.to_html(result, out / "ablation.html")
    return result


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
    id = arm.id.removeprefix("without ")
    receipt = receipts.get(id if id in receipts else id.removeprefix("swap ").split("->")[0])
    metrics: dict[str, Any] = summary(theirs)
    return report.ArmResult(
        id=id, no_op=not any(changes), metrics=metrics, differences=differences, n_questions_changed=sum(map(bool, changes)),
        n_ranks_changed=sum(changes), n_helped=sum(g > 0 for g in gains), n_hurt=sum(g < 0 for g in gains),
        receipt=report.ArmReceipt(**receipt) if receipt else None, seconds=sum(o.seconds for o in without),
        by_category={c: sum(g) / len(g) for c, g in grouped.items()})


def _places(a: dict[str, Any], b: dict[str, Any]) -> int:
    """Ranks of gold, and places among the ten best, that differ."""
    return sum(bool(x != y) for name in ("ranks", "retrieved") for x, y in zip_longest(a[name], b[name]))
