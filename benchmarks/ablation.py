"""`hebbarium ablate`: the full set against the set without each of its mechanisms, and with each alternate swapped in."""
from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engine.errors import DataError, InputError
from ..engine.ports.embedding_cache import CachedEmbedder
from ..engine.registry import MechanismSet, Registry
from ..reporting.files import write_json, write_whole
from ..reporting.provenance import Made, made
from .datasets import Dataset
from .designs import Arm, Design, arms_of, named_arms
from .execution.cells import Outcome
from .execution.local import Progress, execute
from .execution.spec import DEFAULTS, Inputs, Settings, code_version
from .reports.page import to_html, to_svg
from .reports.result import PRIMARY, AblationResult, ArmReceipt, ArmResult, Gate, corrected_arms, from_json, source_of, to_json
from .reports.tables import to_latex, to_markdown
from .scores.comparison import MARGIN, difference
from .scores.detectable import Detectable, Source, demo_source, detectable
from .scores.metrics import METRICS, Metrics, summary
from .scores.outcomes import scored, total_receipts
from .systems.hebbarium import unread_signals

_GATE = ("judged", "stored", "vetoed", "decided", "merged")


def ablate(chosen: MechanismSet | None, registry: Registry, data: Dataset, embedder: CachedEmbedder, out: Path, *,
           design: Design = Design.LEAVE_ONE_OUT, only: Sequence[str] = (), margin: float = MARGIN, settings: Settings = DEFAULTS, jobs: int = 1,
           progress: Progress | None = None, announce: Callable[[Detectable], None] | None = None, making: Made | None = None,
           replace: bool = False) -> AblationResult:
    """Run the arms on every conversation; write manifest.json, rows.jsonl and ablation.json, .md, .html, .svg and .tex into `out`.

    only      names or ids of the arms to run, which are then the family that is corrected; all if empty
    margin    of equivalence
    announce  called before anything runs with what the design can detect
    making    what the reports say of their making; now and here if None
    replace   write over another run that `out` holds

    Stopped at any moment and called again, it goes on where it was.  Raises HebbariumError, before anything runs if possible.
    """
    settings.check_set(chosen)
    if chosen is None:
        raise InputError(f"the system {settings.system!r} has no mechanisms to leave off", where="--system",
                         cure="measure it with `hebbarium run --system`, or leave out --system")
    counts = [n for c in data.conversations if (n := sum(bool(q.gold) for q in c.questions))]
    if not counts:
        raise InputError("no question names its evidence, so there is nothing to compare", where=data.name,
                         cure="take more conversations, or another data set")
    designed = arms_of(settings.applied(chosen), design)
    arms = named_arms(designed, only)
    expected = detectable(counts, len(arms) - 1, margin, _earlier(out / "ablation.json") or demo_source())
    if announce:
        announce(expected)
    command = {"command": "ablate", "design": design.value, "family": [arm.name for arm in arms[1:]], "margin": margin,
               "expected": asdict(expected), "made": asdict(making or made())}
    by_arm = execute(arms, Inputs(registry, data, embedder), settings, out, command=command, jobs=jobs, progress=progress, replace=replace)
    written = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    result = compared(arms, by_arm, data, seed=settings.seed, margin=margin, lost=silenced(arms, registry), n_designed=len(designed) - 1,
                      design=design, provenance=written)
    write_json(out / "ablation.json", to_json(result))
    write_whole(out / "ablation.md", [to_markdown(result)])
    write_whole(out / "ablation.svg", [to_svg(result)])
    write_whole(out / "ablation.tex", [to_latex(result)])
    to_html(result, out / "ablation.html")
    return result


def mechanisms_of(chosen: MechanismSet, design: Design, only: Sequence[str] = ()) -> tuple[str, ...]:
    """Every mechanism that is on in some arm, each once: what the experiment uses.  Raises InputError as `named_arms`."""
    return tuple(dict.fromkeys(id for arm in named_arms(arms_of(chosen, design), only) for id in arm.chosen.mechanisms))


def _earlier(path: Path) -> Source | None:
    """The spread in an earlier result of this release; None if there is none, or no arm of it changed anything."""
    try:
        found = source_of(from_json(json.loads(path.read_text(encoding="utf-8"))))
    except (OSError, ValueError, DataError, InputError):
        return None
    return found if found.spreads else None


def silenced(arms: Sequence[Arm], registry: Registry) -> dict[str, tuple[str, ...]]:
    """Arm id -> mechanisms of the arm whose signals no step reads in it, although a step of the first arm does; arms without such are left out."""
    full, *others = [set(unread_signals(registry.build(arm.chosen))) for arm in arms]
    heard = set(arms[0].chosen.mechanisms) - full
    return {arm.id: tuple(id for id in arm.chosen.mechanisms if id in lost) for arm, unread in zip(arms[1:], others, strict=True)
            if (lost := unread & heard)}


def compared(arms: Sequence[Arm], by_arm: Sequence[Sequence[Outcome]], data: Dataset, *, design: Design, seed: int, margin: float,
             lost: Mapping[str, tuple[str, ...]], n_designed: int, provenance: Mapping[str, Any]) -> AblationResult:
    """Every arm against the first one, the full set.

    by_arm      outcomes of each arm, by conversation
    seed        of the resampling
    lost        by arm, see `silenced`
    n_designed  arms that the design has beside the first
    provenance  the manifest
    """
    full, receipts = _Marked.of(by_arm[0]), total_receipts(by_arm[0])
    found = []
    for arm, theirs in zip(arms[1:], by_arm[1:], strict=True):
        fair = tuple(other.name for other in arms if other.removed == arm.removed and other.id not in lost) if arm.id in lost else ()
        found.append(_arm(arm, full, _Marked.of(theirs), _receipt(receipts.get(arm.removed)), seed, margin, lost.get(arm.id, ()), fair))
    categories = [row["category"] for row in full.rows]
    return AblationResult(
        dataset=data.name, dataset_sha256=data.sha256, set_name=arms[0].chosen.name, seed=seed, design=design.value, margin=margin,
        n_conversations=len(set(full.conversations)), n_questions=len(full.rows), n_designed=n_designed,
        baseline=summary(full.metrics), arms=corrected_arms(found), categories={c: categories.count(c) for c in sorted(set(categories))},
        seconds=full.seconds, version=code_version(), provenance=provenance)


@dataclass(frozen=True, slots=True)
class _Marked:
    """The questions of an arm that have gold, with their metrics, in the order of the rows.

    conversations  names of the clusters
    values         metric -> (n,)
    seconds        of the whole arm
    """

    rows: Sequence[dict[str, Any]]
    metrics: Sequence[Metrics]
    conversations: Sequence[str]
    values: Mapping[str, NDArray[np.float64]]
    seconds: float

    @classmethod
    def of(cls, outcomes: Sequence[Outcome]) -> _Marked:
        marked = scored(row for o in outcomes for row in o.rows)
        table = np.array([list(m.named().values()) for _, m in marked], dtype=np.float64)
        return cls([row for row, _ in marked], [m for _, m in marked], [row["conversation"] for row, _ in marked],
                   dict(zip(METRICS, table.T, strict=True)), sum(o.seconds for o in outcomes))


def _arm(arm: Arm, full: _Marked, without: _Marked, receipt: ArmReceipt | None, seed: int, margin: float, lost: tuple[str, ...],
         fair: tuple[str, ...]) -> ArmResult:
    _, clusters = np.unique(full.conversations, return_inverse=True)
    changes = [_places(a, b) for a, b in zip(full.rows, without.rows, strict=True)]
    gains = full.values[PRIMARY] - without.values[PRIMARY]
    grouped: dict[str, list[float]] = {}
    for row, gain in zip(full.rows, gains.tolist(), strict=True):
        grouped.setdefault(row["category"], []).append(gain)
    metrics: dict[str, Any] = summary(without.metrics)
    return ArmResult(
        id=arm.name, no_op=not any(changes), metrics=metrics,
        differences={name: difference(full.values[name], without.values[name], clusters, seed=seed, margin=margin) for name in METRICS},
        n_questions_changed=sum(map(bool, changes)), n_ranks_changed=sum(changes), n_helped=int((gains > 0).sum()), n_hurt=int((gains < 0).sum()),
        receipt=receipt, seconds=without.seconds, by_category={c: sum(g) / len(g) for c, g in grouped.items()}, silenced=lost, fair=fair)


def _receipt(counts: dict[str, int] | None) -> ArmReceipt | None:
    if not counts:
        return None
    gate = Gate(**{name: counts[name] for name in _GATE}) if "vetoed" in counts else None
    return ArmReceipt(counts["calls"], counts["cells_changed"], counts["ranks_changed"], gate)


def _places(a: dict[str, Any], b: dict[str, Any]) -> int:
    """Ranks of gold, and places among the ten best, that differ."""
    return sum(bool(x != y) for name in ("ranks", "retrieved") for x, y in zip_longest(a[name], b[name]))
