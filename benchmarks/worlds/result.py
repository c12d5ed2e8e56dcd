"""From the cells of a world to its result: scores, efficiency, and what each mechanism on trial
is worth where use has structure.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np

from ..probes.harness.bands import FEWEST, SeedEstimate, estimate, ratio
from .base import World, expected

IDEAL, FLOOR, CHANCE = "ideal", "floor", "chance"
# least difference of ideal and floor in hit@k at which an efficiency means something
ROOM = 0.05
Row = dict[str, Any]


class WorldVerdict(StrEnum):
    """What a leave-one-out says of a mechanism in a world."""

    EARNS = "earns its place"
    COSTS = "helps, but costs without structure"
    HARMFUL = "harmful"
    IDLE = "idle"
    NO_EFFECT = "no effect"
    UNDECIDED = "undecided"
    NO_VERDICT = "no verdict"


MEANING: Mapping[WorldVerdict, str] = {
    WorldVerdict.EARNS: "at the greatest strength the set is better with it, and without structure it makes no difference within the margin",
    WorldVerdict.COSTS: "at the greatest strength the set is better with it; without structure it costs, or no cost within the margin is shown",
    WorldVerdict.HARMFUL: "at the greatest strength the set is better without it",
    WorldVerdict.IDLE: "it changes no rank of anything that fits, in no life",
    WorldVerdict.NO_EFFECT: "at the greatest strength the difference lies within the margin",
    WorldVerdict.UNDECIDED: "none of these is shown with these seeds",
    WorldVerdict.NO_VERDICT: f"fewer than {FEWEST} seeds, or the world was not run at its greatest strength and without structure",
}


@dataclass(frozen=True, slots=True)
class StrengthPoint:
    """An arm at one strength, over all seeds.

    hit, reciprocal  hit@k and reciprocal rank, in expectation over what may be needed
    efficiency       (arm - floor) / (ideal - floor) of hit@k, pooled over seeds; NaN where ideal -
                     floor leaves no room
    above            arm - floor, hit@k, paired by seed
    stored, visible  means over seeds of the shares of events that were stored, and that could be
                     answered in the end; NaN of an observer
    """

    strength: float
    hit: SeedEstimate
    reciprocal: SeedEstimate
    efficiency: SeedEstimate
    above: SeedEstimate
    stored: float
    visible: float


@dataclass(frozen=True, slots=True)
class StrengthCurve:
    """An arm in a world: its points by strength; why it has none."""

    arm: str
    set: str
    removed: str
    points: tuple[StrengthPoint, ...]
    why: str = ""


@dataclass(frozen=True, slots=True)
class LeftOutTrial:
    """A mechanism left out of a set: full minus without, hit@k, paired by seed, by strength."""

    set: str
    mechanism: str
    verdict: WorldVerdict
    differences: Mapping[float, SeedEstimate] = field(default_factory=dict)
    why: str = ""


@dataclass(frozen=True, slots=True)
class WorldResult:
    """A world: curves of the observers, the floor and every arm, and the trials.

    room   ideal - floor in hit@k, by strength
    """

    world: World
    strengths: tuple[float, ...]
    seeds: int
    curves: tuple[StrengthCurve, ...]
    trials: tuple[LeftOutTrial, ...]
    room: Mapping[float, SeedEstimate]

    def curve(self, arm: str) -> StrengthCurve | None:
        return next((curve for curve in self.curves if curve.arm == arm), None)


def rows_of(
    world: World, cells: Iterable[tuple[Mapping[str, Any], Mapping[str, Any]]]
) -> list[Row]:
    """One row for each life and arm, in the order of the cells; the observers of a life come before
    its arms.

    cells  pairs of a record (`run.WorldSpec` as a mapping) and what was found
    """
    rows, need = list[Row](), list[list[float]]()
    for spec, outcome in cells:
        shared = {name: spec[name] for name in ("world", "strength", "seed")}
        if "need" in outcome:
            need, needed = outcome["need"], outcome["needed"]
            rows += [
                shared | {"arm": name, "set": "", **_scores(world, ranks, need, needed)}
                for name, ranks in outcome["observers"].items()
            ]
        elif "ranks" in outcome:
            scores = _scores(
                world, [[[rank] for rank in ranks] for ranks in outcome["ranks"]], need, needed
            )
            rows.append(shared | {"arm": spec["arm"], "set": spec["set_digest"], **scores,
                                  "stored": outcome["stored"], "visible": outcome["visible"],
                                  "ranks": outcome["ranks"]})  # fmt: skip
        else:
            rows.append(shared | {"arm": spec["arm"], "set": spec["set_digest"], **outcome})
    return rows


def _scores(
    world: World,
    ranks: Sequence[Sequence[Sequence[int]]],
    need: Sequence[Sequence[float]],
    needed: Sequence[int],
) -> Row:
    """Means over the questions of a life: in expectation over what may be needed, and as it was."""
    soft = np.mean([expected(r, p, world.k) for r, p in zip(ranks, need, strict=True)], axis=0)
    hard = np.mean(
        [expected(r, np.eye(len(r))[n], world.k) for r, n in zip(ranks, needed, strict=True)],
        axis=0,
    )
    names = ("hit", "reciprocal_rank", "realised_hit", "realised_reciprocal_rank")
    return {
        "questions": len(need),
        **{name: float(f"{value:.9g}") for name, value in zip(names, (*soft, *hard), strict=True)},
    }


def result_of(
    world: World,
    rows: Sequence[Row],
    arms: Sequence[tuple[str, str, str]],
    strengths: Sequence[float],
    seeds: int,
) -> WorldResult:
    """The result of one world.

    arms  name, set and removed mechanism ("" for a whole set) of each arm but the floor
    """
    table: dict[str, dict[float, list[Row]]] = {}
    for row in rows:
        table.setdefault(row["arm"], {}).setdefault(row["strength"], []).append(row)
    hits = {
        arm: {s: np.array([row.get("hit", math.nan) for row in rows]) for s, rows in by.items()}
        for arm, by in table.items()
    }
    names = [
        (name, "", "")
        for name in (
            IDEAL,
            FLOOR,
            *(arm for arm in table if arm in ("counting", "last use")),
            CHANCE,
        )
    ] + list(arms)
    curves = tuple(_curve(*name, table[name[0]], hits, strengths) for name in names)
    why = {curve.arm: curve.why for curve in curves}
    trials = tuple(
        _trial(world, arm, full, removed, hits, table, strengths, why)
        for arm, full, removed in arms
        if removed
    )
    room = {s: estimate(hits[IDEAL][s] - hits[FLOOR][s]) for s in strengths}
    return WorldResult(world, tuple(strengths), seeds, curves, trials, room)


def _curve(
    arm: str,
    chosen: str,
    removed: str,
    by: Mapping[float, Sequence[Row]],
    hits: Mapping[str, Mapping[float, Any]],
    strengths: Sequence[float],
) -> StrengthCurve:
    for rows in by.values():
        for row in rows:
            if why := row.get("error") or row.get("missing"):
                text = (
                    f"seed {row['seed']}: {why}"
                    if row.get("error")
                    else f"not applicable: the system lacks {why}"
                )
                return StrengthCurve(arm, chosen, removed, (), text)
    points = []
    for s in strengths:
        mine, ideal, floor = hits[arm][s], hits[IDEAL][s], hits[FLOOR][s]
        roomy = bool((ideal - floor).mean() >= ROOM)
        efficiency = (
            ratio(mine - floor, ideal - floor)
            if roomy
            else SeedEstimate(math.nan, math.nan, math.nan, 0)
        )
        shares = [
            float(np.mean([row.get(name, math.nan) for row in by[s]]))
            for name in ("stored", "visible")
        ]
        points.append(
            StrengthPoint(
                s,
                estimate(mine),
                estimate([row["reciprocal_rank"] for row in by[s]]),
                efficiency,
                estimate(mine - floor),
                *shares,
            )
        )
    return StrengthCurve(arm, chosen, removed, tuple(points))


def _trial(
    world: World,
    arm: str,
    full: str,
    removed: str,
    hits: Mapping[str, Mapping[float, Any]],
    table: Mapping[str, Mapping[float, Sequence[Row]]],
    strengths: Sequence[float],
    why: Mapping[str, str],
) -> LeftOutTrial:
    if failed := why[arm] or why[full]:
        return LeftOutTrial(full, removed, WorldVerdict.NO_VERDICT, {}, failed)
    differences = {s: estimate(hits[full][s] - hits[arm][s]) for s in strengths}
    same = all(
        a.get("ranks") == b.get("ranks")
        for s in strengths
        for a, b in zip(table[full][s], table[arm][s], strict=True)
    )
    return LeftOutTrial(
        full,
        removed,
        WorldVerdict.IDLE if same else verdict(differences, world.margin),
        differences,
    )


def verdict(differences: Mapping[float, SeedEstimate], margin: float) -> WorldVerdict:
    """The verdict on a mechanism that changes something.

    >>> verdict({0.0: SeedEstimate(0.0, -0.005, 0.005, 3), 1.0: SeedEstimate(0.2, 0.1, 0.3, 3)}, 0.01).value
    'earns its place'
    """
    if (
        0.0 not in differences
        or max(differences) == 0.0
        or any(math.isnan(d.low) for d in differences.values())
    ):
        return WorldVerdict.NO_VERDICT
    most, none = differences[max(differences)], differences[0.0]
    if -margin <= most.low and most.high <= margin:
        return WorldVerdict.NO_EFFECT
    if most.low > 0.0:
        return (
            WorldVerdict.EARNS
            if -margin <= none.low and none.high <= margin
            else WorldVerdict.COSTS
        )
    return WorldVerdict.HARMFUL if most.high < 0.0 else WorldVerdict.UNDECIDED
