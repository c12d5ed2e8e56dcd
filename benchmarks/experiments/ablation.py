"""`hebbarium ablate`: the full set against the set without each of its mechanisms, and with each
alternate swapped in.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from dataclasses import replace as changed
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engine.base.errors import DataError, InputError
from ...engine.catalogue.registry import MechanismSet, Registry
from ...engine.ports.by_name import pinned
from ...engine.ports.embedding_cache import CachedEmbedder
from ...engine.ports.language_model import LanguageModel
from ...reporting.files import write_json, write_whole
from ...reporting.provenance import Made, made
from ..datasets import Dataset, require_questions
from ..designs import FULL, Arm, Design, arms_of, named_arms
from ..execution.cells import Outcome, Row
from ..execution.failures import ALONE, Options
from ..execution.local import Progress, execute
from ..execution.plan import Composition, Plan, planned
from ..execution.setup import code_version
from ..execution.spec import DEFAULTS, Settings, required
from ..reports.learning_curve import write_learning_curve
from ..reports.page import to_html, to_svg
from ..reports.result import (
    PRIMARY,
    AblationResult,
    ArmReceipt,
    ArmResult,
    Gate,
    SystemResult,
    corrected_arms,
    from_json,
    source_of,
    to_json,
)
from ..reports.tables import to_latex, to_markdown
from ..scores.abstention import abstention
from ..scores.comparison import MARGIN, Difference, difference
from ..scores.detectable import Detectable, Source, demo_source, detectable
from ..scores.levels import levels, sessions_of
from ..scores.metrics import METRICS, Metrics, summary
from ..scores.outcomes import scored, total_receipts
from ..scores.surroundings import Conversations, Surroundings
from ..systems.by_name import OURS
from .costs import costs_of

_GATE = ("judged", "stored", "vetoed", "decided", "merged")


@dataclass(frozen=True, slots=True)
class Designed:
    """An ablation that can be run as soon as its data are read.

    plan        the arms, the full set first, then the systems beside it
    arms        of the plan, without these systems
    beside      names of other systems that answer the same questions
    n_designed  arms that the design has beside the first
    """

    plan: Plan
    design: Design
    arms: tuple[Arm, ...]
    beside: tuple[str, ...]
    n_designed: int

    @property
    def mechanisms(self) -> tuple[str, ...]:
        """Every mechanism that is on in some arm, each once: what the experiment uses."""
        return tuple(dict.fromkeys(id for arm in self.arms for id in arm.chosen.mechanisms))


def ablate(
    chosen: MechanismSet | None,
    registry: Registry,
    data: Dataset,
    embedder: CachedEmbedder,
    out: Path,
    *,
    design: Design = Design.LEAVE_ONE_OUT,
    only: Sequence[str] = (),
    beside: Sequence[str] = (),
    margin: float = MARGIN,
    settings: Settings = DEFAULTS,
    jobs: int = 1,
    progress: Progress | None = None,
    announce: Callable[[Detectable], None] | None = None,
    making: Made | None = None,
    replace: bool = False,
    options: Options = ALONE,
) -> AblationResult:
    """`measure` the arms of a set.  Raises as `designed` and `measure`."""
    return measure(
        designed(chosen, registry, design=design, only=only, beside=beside, settings=settings),
        data,
        embedder,
        out,
        margin=margin,
        jobs=jobs,
        progress=progress,
        announce=announce,
        making=making,
        replace=replace,
        options=options,
    )


def designed(
    chosen: MechanismSet | None,
    registry: Registry,
    *,
    design: Design = Design.LEAVE_ONE_OUT,
    only: Sequence[str] = (),
    beside: Sequence[str] = (),
    settings: Settings = DEFAULTS,
) -> Designed:
    """The arms of a set, each built and checked once; no data are needed yet.

    only    names or ids of the arms to run, which are then the family that is corrected; all if
            empty
    beside  other systems, for comparison; they are no part of the family

    Raises InputError for another system in place of the set and for a system that is named twice,
    HebbariumError as `planned`.
    """
    if not settings.ours:
        raise InputError(
            f"the system {settings.system!r} has no mechanisms to leave off",
            where="--system",
            cure=f"measure it alone with `hebbarium run --system {settings.system}`, or beside a set with --beside {settings.system}",
        )
    if odd := [name for name in beside if name == OURS or list(beside).count(name) > 1]:
        why = "is the system that is ablated" if odd[0] == OURS else "is named twice"
        raise InputError(
            f"{odd[0]!r} {why}",
            where="--beside",
            cure="name every other system once, as MODULE:NAME",
        )
    arms = arms_of(settings.applied(required(chosen)), design)
    run = named_arms(arms, only)
    return Designed(
        planned(run, registry, settings, beside), design, tuple(run), tuple(beside), len(arms) - 1
    )


def measure(
    experiment: Designed,
    data: Dataset,
    embedder: CachedEmbedder,
    out: Path,
    *,
    margin: float = MARGIN,
    jobs: int = 1,
    progress: Progress | None = None,
    announce: Callable[[Detectable], None] | None = None,
    making: Made | None = None,
    embedder_spec: str = "",
    replace: bool = False,
    language_model: LanguageModel | None = None,
    options: Options = ALONE,
    time_hooks: bool = False,
) -> AblationResult:
    """Run the arms on every conversation; write manifest.json, rows.jsonl and ablation.json, .md,
    .html, .svg and .tex into `out`.

    margin         of equivalence
    announce       called before anything runs with what the design can detect
    making         what the reports say of their making; now and here if None
    embedder_spec  the embedder as `engine.ports.by_name.embedder` takes it, for `explain`; "" for
                   one made in memory
    replace        write over another run that `out` holds
    language_model  for mechanisms that can use one
    options        which lives are kept, and what happens if a cell fails
    time_hooks     also measure the CPU time of every mechanism of the full set, on the first
                   conversation (`costs.costs_of`)

    A second call of an ablation that was stopped continues it.  Raises HebbariumError, before
    anything runs if possible.
    """
    require_questions(data)
    counts = [n for c in data.conversations if (n := sum(bool(q.gold) for q in c.questions))]
    if not counts:
        raise InputError(
            "no question names its evidence, so there is nothing to compare",
            where=data.name,
            cure="take more conversations, or another data set",
        )
    family = [arm.name for arm in experiment.arms[1:]]
    expected = detectable(
        counts, len(family), margin, _earlier(out / "ablation.json") or demo_source()
    )
    if announce:
        announce(expected)
    command = {"command": "ablate", "design": experiment.design.value, "family": family,
               "margin": margin, "beside": list(experiment.beside),
               "expected": asdict(expected), "embedder_spec": pinned(embedder_spec, embedder),
               "made": asdict(making or made())}  # fmt: skip
    outcomes = execute(
        experiment.plan,
        data,
        embedder,
        out,
        command=command,
        jobs=jobs,
        progress=progress,
        replace=replace,
        language_model=language_model,
        options=options,
    )
    written = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    result = compared(experiment, outcomes, data, margin=margin, provenance=written)
    if time_hooks:
        result = changed(
            result,
            costs=tuple(
                costs_of(
                    experiment.arms[0].chosen,
                    experiment.plan.registry,
                    data.conversations[0],
                    embedder,
                    seed=result.seed,
                )
            ),
        )
    write_json(out / "ablation.json", to_json(result), shared=True)
    write_whole(out / "ablation.md", [to_markdown(result)], shared=True)
    write_whole(out / "ablation.svg", [to_svg(result)], shared=True)
    write_whole(out / "ablation.tex", [to_latex(result)], shared=True)
    curves = write_learning_curve(
        out,
        experiment.plan.settings.feedback,
        data,
        {one.arm: found for one, found in zip(experiment.plan.arms, outcomes, strict=True)},
    )
    to_html(result, out / "ablation.html", curves.get(FULL, ()))
    return result


def _earlier(path: Path) -> Source | None:
    """The spread in an earlier result of this release; None if there is none, or no arm of it
    changed anything.
    """
    try:
        found = source_of(from_json(json.loads(path.read_text(encoding="utf-8"))))
    except (OSError, ValueError, DataError, InputError):
        return None
    return found if found.spreads else None


def silenced(experiment: Designed) -> dict[str, tuple[str, ...]]:
    """Arm id -> mechanisms of the arm whose signals no step reads in it, although a step of the
    first arm does; arms without such are left out.
    """
    full, *others = experiment.plan.arms[: len(experiment.arms)]
    read = set(full.mechanisms) - full.unread
    return {
        arm.arm: lost
        for arm in others
        if (lost := tuple(id for id in arm.mechanisms if id in arm.unread & read))
    }


def compared(
    experiment: Designed,
    outcomes: Sequence[Sequence[Outcome]],
    data: Dataset,
    *,
    margin: float,
    provenance: Mapping[str, Any],
) -> AblationResult:
    """Every arm, and every system beside, against the first arm, the full set.

    outcomes    of each arm and system of the plan, by conversation
    provenance  the manifest
    """
    arms, seed, lost = experiment.arms, experiment.plan.settings.seed, silenced(experiment)
    full, receipts = _Marked.of(outcomes[0]), total_receipts(outcomes[0])
    found = []
    for arm, theirs in zip(arms[1:], outcomes[1 : len(arms)], strict=True):
        fair = (
            tuple(
                other.name
                for other in arms
                if other.removed == arm.removed and other.id not in lost
            )
            if arm.id in lost
            else ()
        )
        found.append(
            _arm(
                arm,
                full,
                _Marked.of(theirs),
                _receipt(receipts.get(arm.removed)),
                seed,
                margin,
                lost.get(arm.id, ()),
                fair,
            )
        )
    beside = zip(experiment.plan.arms[len(arms) :], outcomes[len(arms) :], strict=True)
    categories = [row["category"] for row in full.rows]
    known = Conversations.of(data, experiment.plan.settings.match)
    around, sessions = Surroundings.of(full.rows, known.sizes), sessions_of(full.rows, known.home)
    varying = {
        arm.name: levels(
            full.values[PRIMARY] - _Marked.of(theirs).values[PRIMARY], full.conversations, sessions
        )
        for arm, theirs in zip(arms[1:], outcomes[1 : len(arms)], strict=True)
    }
    return AblationResult(
        dataset=data.name,
        dataset_sha256=data.sha256,
        set_name=arms[0].chosen.name,
        seed=seed,
        design=experiment.design.value,
        margin=margin,
        n_conversations=len(set(full.conversations)),
        n_questions=len(full.rows),
        n_designed=experiment.n_designed,
        baseline={**summary(full.metrics), **full.held},
        arms=corrected_arms(found),
        categories={c: categories.count(c) for c in sorted(set(categories))},
        seconds=full.seconds,
        version=code_version(),
        beside=tuple(_beside(one, full, theirs, seed, margin) for one, theirs in beside),
        provenance=provenance,
        chance=around.chance,
        pool=around.pool,
        depths=around.depths,
        levels={name: found for name, found in varying.items() if found},
    )


@dataclass(frozen=True, slots=True)
class _Marked:
    """The questions of an arm that have gold, with their metrics, in the order of the rows.

    conversations  names of the clusters
    values         metric -> (n,)
    held           shares of answers held back, of all rows; {} for data without questions that have
                   no answer
    seconds        of the whole arm
    """

    rows: Sequence[Row]
    metrics: Sequence[Metrics]
    conversations: Sequence[str]
    values: Mapping[str, NDArray[np.float64]]
    held: Mapping[str, float]
    seconds: float

    @classmethod
    def of(cls, outcomes: Sequence[Outcome]) -> _Marked:
        marked = scored(row for o in outcomes for row in o.rows)
        shares = abstention(row for o in outcomes for row in o.rows)
        held = (
            {name: shares[name] or 0.0 for name in ("held_back", "false_hold_backs")}
            if shares["unanswerable"]
            else {}
        )
        table = np.array([list(m.named().values()) for _, m in marked], dtype=np.float64)
        return cls(
            [row for row, _ in marked],
            [m for _, m in marked],
            [row["conversation"] for row, _ in marked],
            dict(zip(METRICS, table.T, strict=True)),
            held,
            sum(o.seconds for o in outcomes),
        )


def _arm(
    arm: Arm,
    full: _Marked,
    without: _Marked,
    receipt: ArmReceipt | None,
    seed: int,
    margin: float,
    lost: tuple[str, ...],
    fair: tuple[str, ...],
) -> ArmResult:
    changes = [_places(a, b) for a, b in zip(full.rows, without.rows, strict=True)]
    gains = full.values[PRIMARY] - without.values[PRIMARY]
    metrics: dict[str, Any] = {**summary(without.metrics), **without.held}
    return ArmResult(
        id=arm.name,
        no_op=not any(changes),
        metrics=metrics,
        differences=_differences(full, without, seed, margin),
        n_questions_changed=sum(map(bool, changes)),
        n_ranks_changed=sum(changes),
        n_helped=int((gains > 0).sum()),
        n_hurt=int((gains < 0).sum()),
        receipt=receipt,
        seconds=without.seconds,
        by_category=_by_category(full, without),
        silenced=lost,
        fair=fair,
    )


def _beside(
    system: Composition, full: _Marked, outcomes: Sequence[Outcome], seed: int, margin: float
) -> SystemResult:
    theirs = _Marked.of(outcomes)
    metrics: dict[str, Any] = {**summary(theirs.metrics), **theirs.held}
    return SystemResult(
        id=system.system,
        revision=system.system_revision,
        capabilities=tuple(outcomes[0].capabilities),
        metrics=metrics,
        differences=_differences(full, theirs, seed, margin),
        seconds=theirs.seconds,
        by_category=_by_category(full, theirs),
    )


def _differences(full: _Marked, other: _Marked, seed: int, margin: float) -> dict[str, Difference]:
    """Full minus other, by metric; not corrected."""
    _, clusters = np.unique(full.conversations, return_inverse=True)
    return {
        name: difference(full.values[name], other.values[name], clusters, seed=seed, margin=margin)
        for name in METRICS
    }


def _by_category(full: _Marked, other: _Marked) -> dict[str, float]:
    """Mean difference of the primary metric, by category."""
    grouped: dict[str, list[float]] = {}
    for row, gain in zip(
        full.rows, (full.values[PRIMARY] - other.values[PRIMARY]).tolist(), strict=True
    ):
        grouped.setdefault(row["category"], []).append(gain)
    return {c: sum(g) / len(g) for c, g in grouped.items()}


def _receipt(counts: dict[str, int] | None) -> ArmReceipt | None:
    if not counts:
        return None
    gate = Gate(**{name: counts[name] for name in _GATE}) if "vetoed" in counts else None
    return ArmReceipt(counts["calls"], counts["values_changed"], counts["ranks_changed"], gate)


def _places(a: Row, b: Row) -> int:
    """Ranks of gold, and places among the ten best, that differ."""
    places = chain(zip_longest(a["ranks"], b["ranks"]), zip_longest(a["retrieved"], b["retrieved"]))
    return sum(x != y for x, y in places)
