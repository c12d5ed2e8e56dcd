"""From the outcomes of a design's arms to its estimates on one block of data, corrected over the
family.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from statistics import fmean, median, stdev
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..datasets import Dataset
from ..designs.contrasts import Contrast, estimated
from ..designs.families import families_of
from ..designs.kinds import Laid
from ..execution.cells import Outcome, Row
from ..execution.plan import Composition, RunPlan
from ..reports.result import (
    ArmReceipt,
    BlockResult,
    DesignFacts,
    Estimate,
    Gate,
    SystemResult,
    corrected_estimates,
)
from ..scores.abstention import abstention
from ..scores.comparison import Difference, difference
from ..scores.levels import levels, sessions_of
from ..scores.metrics import METRICS, Metrics, question_metrics, summary
from ..scores.outcomes import total_receipts
from ..scores.scopes import flipped, here, step_down
from ..scores.surroundings import Conversations, Surroundings

_GATE: Final = ("judged", "stored", "vetoed", "decided", "merged")


def metric_of(row: Row, metric: str) -> float | None:
    """A metric of one question with gold; None for `answer@B` of a question without an answer in
    words.
    """
    name, _, budget = metric.partition("@")
    if name == "evidence":
        return float(row["contexts"][budget]["evidence"] or 0.0)
    if name == "answer":
        return row["contexts"][budget]["answer"]
    return float(question_metrics(row["ranks"]).named()[metric])


def block_result(
    facts: DesignFacts,
    laid: Laid,
    plan: RunPlan,
    name: str,
    data: Dataset,
    embedder: str,
    by_seed: Sequence[Sequence[Sequence[Outcome]]],
    provenance: Mapping[str, Any],
) -> BlockResult:
    """The estimates of a block: values of a question are means over seeds.

    name, embedder  of the block; the embedder as `--embedder` takes it
    by_seed         of each seed, of each arm and system of the plan, the outcomes by conversation
    provenance      the manifest of the first seed
    """
    scored = [
        _Scored.of([outcomes[place] for outcomes in by_seed], facts.metric)
        for place in range(len(plan.arms))
    ]
    arms = {arm.id: mine for arm, mine in zip(laid.arms, scored, strict=False)}
    full = scored[0]
    rows = full.by_seed[0]
    known = Conversations.of(data, plan.settings.match)
    around = Surroundings.of((row for mine in full.by_seed for row in mine), known.sizes)
    categories = [row["category"] for row in rows]
    questions = tuple((row["conversation"], row["question"]) for row in rows)
    estimates = judged(
        facts,
        laid.contrasts,
        {arm: mine.values for arm, mine in arms.items()},
        {arm: mine.seed_means for arm, mine in arms.items()},
        questions,
        plan.settings.seed,
        categories=categories,
        changes={c.name: _changes([arms[arm] for arm in c.weights]) for c in laid.contrasts},
        of_arm=_of_arms(laid, plan, arms, by_seed),
    )
    sessions = sessions_of(rows, known.home)
    conversations = [conversation for conversation, _ in questions]
    varying = {e.name: levels(np.array(e.values), conversations, sessions) for e in estimates}
    return BlockResult(
        facts,
        name,
        data.name,
        data.sha256,
        embedder,
        len(set(conversations)),
        len(rows),
        {arm: float(mine.values[facts.metric].mean()) for arm, mine in arms.items()},
        estimates,
        full.metrics,
        {c: categories.count(c) for c in sorted(set(categories))},
        full.seconds,
        {arm: mine.seed_means[facts.metric] for arm, mine in arms.items()}
        if len(by_seed) > 1
        else {},
        beside=tuple(
            _beside(facts, system, full, theirs, outcomes, plan.settings.seed)
            for system, theirs, outcomes in zip(
                plan.arms[len(laid.arms) :],
                scored[len(laid.arms) :],
                by_seed[0][len(laid.arms) :],
                strict=True,
            )
        ),
        chance=around.chance,
        oracle=around.oracle,
        pool=around.pool,
        depths=around.depths,
        levels={estimate: level for estimate, level in varying.items() if level},
        retrieve_ms={
            arm.id: round(ms, 3)
            for place, arm in enumerate(laid.arms)
            if (ms := _question_ms(outcomes[place] for outcomes in by_seed)) is not None
        },
        provenance=provenance,
        questions=questions,
    )


def judged(
    facts: DesignFacts,
    contrasts: Sequence[Contrast],
    values: Mapping[str, Mapping[str, NDArray[np.float64]]],
    seed_means: Mapping[str, Mapping[str, Sequence[float]]],
    questions: Sequence[tuple[str, str]],
    seed: int,
    *,
    changes: Mapping[str, Sequence[int]],
    categories: Sequence[str] = (),
    of_arm: Mapping[str, Mapping[str, Any]] | None = None,
    scoped: bool = True,
) -> tuple[Estimate, ...]:
    """The estimates of a family of contrasts, corrected over the family.

    values      arm -> metric -> its value for each question, (n,)
    seed_means  arm -> metric -> mean over questions with each seed
    questions   (conversation, question); conversations are the clusters
    seed        of the resamples
    changes     contrast -> for each question how many answers differ between the contrast's arms;
                where none does, the estimate is exactly 0
    categories  of the questions, (n,); () without any
    of_arm      contrast -> further fields of its estimate
    scoped      whether the questions of a conversation are units of their own, so that there is a
                verdict for these conversations, too
    """
    _, clusters = np.unique([conversation for conversation, _ in questions], return_inverse=True)
    metrics = list(next(iter(values.values())))
    estimates_of = {
        metric: estimated(contrasts, {arm: mine[metric] for arm, mine in values.items()})
        for metric in metrics
    }
    nothing = np.zeros(len(questions))
    family = []
    for c in contrasts:
        changed = changes[c.name]
        for metric in metrics:  # equal answers leave no rounding of the weights' sum
            estimates_of[metric][c.name][np.array(changed) == 0] = 0.0
        primary = estimates_of[facts.metric][c.name]
        by_seed = [
            sum(weight * seed_means[arm][facts.metric][place] for arm, weight in c.weights.items())
            for place in range(len(facts.seeds))
        ]
        family.append(
            Estimate(
                c.name,
                c.kind,
                facts.metric,
                not any(changed),
                differences={
                    metric: difference(
                        estimates_of[metric][c.name],
                        nothing,
                        clusters,
                        seed=seed,
                        margin=facts.margin,
                    )
                    for metric in metrics
                },
                n_questions_changed=sum(map(bool, changed)),
                n_ranks_changed=sum(changed),
                n_helped=int((primary > 0).sum()),
                n_hurt=int((primary < 0).sum()),
                by_category=_by_category(categories, primary) if categories else {},
                correction=facts.correction,
                seed_sd=stdev(by_seed) if len(by_seed) > 1 else None,
                values=tuple(primary.tolist()),
                **{"metrics": {}, **(of_arm or {}).get(c.name, {})},
            )
        )
    return _in_both_scopes(corrected_estimates(family), clusters, facts, seed, scoped)


def _in_both_scopes(
    estimates: Sequence[Estimate],
    clusters: NDArray[np.intp],
    facts: DesignFacts,
    seed: int,
    scoped: bool,
) -> tuple[Estimate, ...]:
    """The estimates with what they are for these conversations, and with the step-down of the sign
    flips of conversations.
    """
    if not estimates:
        return ()
    table, names = [e.values for e in estimates], families_of(e.name for e in estimates)
    beyond = step_down(*flipped(table, seed=seed, cluster_ids=clusters))
    alone = (
        here(table, clusters, seed=seed, margin=facts.margin, families=names)
        if scoped
        else [None] * len(table)
    )
    return tuple(
        replace(e, here=h, flip_p_rw=float(p), family=names[place] if names else "")
        for place, (e, h, p) in enumerate(zip(estimates, alone, beyond, strict=True))
    )


def _question_ms(by_seed: Iterable[Sequence[Outcome]]) -> float | None:
    """Median milliseconds of a question of one arm; None without a time."""
    times = [
        line["retrieve_ms"]
        for outcomes in by_seed
        for outcome in outcomes
        for line in outcome.times
        if line["question"] is not None
    ]
    return median(times) if times else None


@dataclass(frozen=True, slots=True)
class _Scored:
    """The questions of an arm that have gold and a value of the primary metric, in the order of
    the rows.

    by_seed     the rows with each seed
    values      metric -> mean over seeds, (n,)
    seed_means  metric -> mean over questions with each seed
    metrics     as `metrics.summary` gives them, means over seeds, and the shares of answers held
                back, of all rows, for data with questions that have no answer
    seconds     of the whole arm
    """

    by_seed: Sequence[Sequence[Row]]
    values: Mapping[str, NDArray[np.float64]]
    seed_means: Mapping[str, tuple[float, ...]]
    metrics: Mapping[str, Any]
    seconds: float

    @classmethod
    def of(cls, by_seed: Sequence[Sequence[Outcome]], metric: str) -> _Scored:
        every = [[row for outcome in outcomes for row in outcome.rows] for outcomes in by_seed]
        kept = [
            [row for row in rows if row["gold"] and metric_of(row, metric) is not None]
            for rows in every
        ]
        scores = [[question_metrics(row["ranks"]) for row in rows] for rows in kept]
        tables = {
            name: np.array(
                [[estimates.named()[name] for estimates in mine] for mine in scores], np.float64
            )
            for name in METRICS
        }
        if metric not in tables:
            primary = np.array([[metric_of(row, metric) for row in rows] for rows in kept])
            tables = {metric: primary.astype(np.float64), **tables}
        return cls(
            kept,
            {name: table.mean(axis=0) for name, table in tables.items()},
            {name: tuple(table.mean(axis=1).tolist()) for name, table in tables.items()},
            _mean([_summary(rows, mine) for rows, mine in zip(every, scores, strict=True)]),
            sum(outcome.seconds for outcomes in by_seed for outcome in outcomes),
        )


def _summary(rows: Sequence[Row], scores: Sequence[Metrics]) -> dict[str, Any]:
    shares = abstention(rows)
    held = {name: shares[name] or 0.0 for name in ("held_back", "false_hold_backs")}
    return {**summary(scores), **(held if shares["unanswerable"] else {})}


def _mean(by_seed: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    if len(by_seed) == 1:
        return by_seed[0]
    return {
        name: value if name == "n" else fmean(mine[name] for mine in by_seed)
        for name, value in by_seed[0].items()
    }


def _changes(arms: Sequence[_Scored]) -> list[int]:
    """For each question, the ranks of gold and places among the ten best that differ between the
    first arm and the others, summed over seeds.
    """
    first, *others = arms
    return [
        sum(
            _places(mine[place], theirs[place])
            for other in others
            for mine, theirs in zip(first.by_seed, other.by_seed, strict=True)
        )
        for place in range(len(first.by_seed[0]))
    ]


def _places(a: Row, b: Row) -> int:
    """Ranks of gold, and places among the ten best, that differ; contexts that differ are one
    more.
    """
    places = chain(zip_longest(a["ranks"], b["ranks"]), zip_longest(a["retrieved"], b["retrieved"]))
    moved: int = sum(x != y for x, y in places)
    return moved + int(a.get("contexts") != b.get("contexts"))


def _of_arms(
    laid: Laid,
    plan: RunPlan,
    arms: Mapping[str, _Scored],
    by_seed: Sequence[Sequence[Sequence[Outcome]]],
) -> dict[str, dict[str, Any]]:
    """Contrast of the reference and one arm -> what its estimate says of this arm."""
    reference, *others = laid.arms
    lost = silenced(plan.arms[: len(laid.arms)])
    receipts = total_receipts(outcome for outcomes in by_seed for outcome in outcomes[0])
    told: dict[str, dict[str, Any]] = {}
    for c in laid.contrasts:
        if len(c.weights) != 2 or reference.id not in c.weights:
            continue
        arm = next(arm for arm in others if arm.id in c.weights)
        told[c.name] = {
            "metrics": arms[arm.id].metrics,
            "seconds": arms[arm.id].seconds,
            "receipt": _receipt(receipts.get(arm.removed)),
        }
        if arm.id in lost:
            told[c.name] |= {
                "silenced": lost[arm.id],
                "fair": tuple(
                    other.name
                    for other in laid.arms
                    if other.removed == arm.removed and other.id not in lost
                ),
            }
    return told


def silenced(arms: Sequence[Composition]) -> dict[str, tuple[str, ...]]:
    """Arm id -> mechanisms of the arm whose signals no step reads in it, although a step of the
    first arm does; arms without such are left out.
    """
    full, *others = arms
    read = set(full.mechanisms) - full.unread
    return {
        arm.arm: lost
        for arm in others
        if (lost := tuple(id for id in arm.mechanisms if id in arm.unread & read))
    }


def _receipt(counts: Mapping[str, int] | None) -> ArmReceipt | None:
    if not counts:
        return None
    gate = Gate(**{name: counts[name] for name in _GATE}) if "vetoed" in counts else None
    return ArmReceipt(counts["calls"], counts["values_changed"], counts["ranks_changed"], gate)


def _beside(
    facts: DesignFacts,
    system: Composition,
    full: _Scored,
    theirs: _Scored,
    outcomes: Sequence[Outcome],
    seed: int,
) -> SystemResult:
    rows = full.by_seed[0]
    _, clusters = np.unique([row["conversation"] for row in rows], return_inverse=True)
    differences: dict[str, Difference] = {
        name: difference(values, theirs.values[name], clusters, seed=seed, margin=facts.margin)
        for name, values in full.values.items()
    }
    gains = full.values[facts.metric] - theirs.values[facts.metric]
    return SystemResult(
        id=system.system,
        revision=system.system_revision,
        capabilities=tuple(outcomes[0].capabilities),
        metric=facts.metric,
        metrics=theirs.metrics,
        differences=differences,
        seconds=theirs.seconds,
        by_category=_by_category([row["category"] for row in rows], gains),
    )


def _by_category(categories: Sequence[str], values: NDArray[np.float64]) -> dict[str, float]:
    """Mean by category."""
    grouped: dict[str, list[float]] = {}
    for category, value in zip(categories, values.tolist(), strict=True):
        grouped.setdefault(category, []).append(value)
    return {category: sum(mine) / len(mine) for category, mine in grouped.items()}
