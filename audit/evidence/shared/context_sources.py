"""Evidence that sources of contexts share: checks and mutants of `mechanisms.shared.stages`,
`shared.offering` and `shared.items`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...checks import Mutant, mutant

# --- checks ---------------------------------------------------------------------------------------
STAGES = "plain loops over 200 random memories: the row in STAGE, else the first event of the session without one; -1 for none"
SCALE = "plain lists: (s - min) / (max - min) of the items put on scale, 1 if they are equal, none for others; 200 random lists"
SIZES = "by hand: a quarter of the characters and of 32 more, at most 128"
RECENCY = "closed forms: exp(-age / 24 h), and halving every 24 h"
MEANS = "weighted mean of values on [0, 1] by numpy, 50 random lists"
EQUAL = "definition: weights of 0, and equal values"


def stages_by_hand(kind: Any, stage: Any, session: Any) -> list[int]:
    """Row of the first event of each row's stage, in plain loops."""
    first: dict[int, int] = {}
    for row in range(len(kind)):
        if kind[row] == 0 and stage[row] < 0:
            first.setdefault(int(session[row]), row)
    return [
        int(stage[row])
        if stage[row] >= 0
        else first.get(int(session[row]), -1)
        if kind[row] == 0 or session[row] >= 0
        else -1
        for row in range(len(kind))
    ]


def stages_are_those_of_plain_loops(specimen: Any) -> Any:
    measured, expected = [], []
    rng = np.random.default_rng(11)
    for n in rng.integers(0, 9, 200).tolist():
        kind, session = rng.choice([0, 0, 1, 3], n), rng.integers(-1, 3, n)
        stage = np.where(rng.random(n) < 0.4, rng.integers(0, max(n, 1), n), -1)
        expected.append(str(stages_by_hand(kind, stage, session)))
        measured.append(str(specimen.stages_of(kind, stage, session).tolist()))
    return measured, expected


def scores_are_put_on_one_scale(specimen: Any) -> Any:
    measured, expected = [], []
    rng = np.random.default_rng(12)
    for n in rng.integers(0, 7, 200).tolist():
        scores, among, out = (
            rng.integers(-2, 3, n).astype(float),
            rng.random(n) < 0.7,
            np.full(n, 7.0),
        )
        scores[rng.random(n) < 0.2] = np.nan
        specimen.on_scale(scores, among, out)
        held = [s for s, a in zip(scores.tolist(), among, strict=True) if a and not math.isnan(s)]
        for s, a, scaled in zip(scores.tolist(), among, out.tolist(), strict=True):
            measured.append(scaled if not math.isnan(scaled) else -1.0)
            expected.append(
                -1.0
                if not a or math.isnan(s)
                else (s - min(held)) / (max(held) - min(held))
                if max(held) > min(held)
                else 1.0
            )
    return measured, expected


def tokens_are_estimated_by_characters(specimen: Any) -> Any:
    texts = ["a" * 8, "b" * 168, "c" * 9000, ""]
    return [*specimen.sizes(texts, [2, 0, 3, 1]), *specimen.sizes(texts, [])], [
        128.0,
        10.0,
        8.0,
        50.0,
    ]


LEVELS = "plain loops over 200 random lists: how often 512 must be doubled until fewer tokens stand before"


def levels_by_doubling(specimen: Any) -> Any:
    measured, expected = (
        [str(specimen.levels([]).tolist()), str(specimen.levels([512.0, 512.0, 1.0]).tolist())],
        ["[]", "[0, 1, 2]"],
    )
    rng = np.random.default_rng(13)
    for n in rng.integers(1, 40, 200).tolist():
        tokens, before, counted = rng.integers(1, 129, n).astype(float), 0.0, []
        for size in tokens.tolist():
            level, most = 0, 512.0
            while before >= most:
                level, most = level + 1, 2.0 * most
            counted.append(level)
            before += size
        measured.append(str(specimen.levels(tokens).tolist()))
        expected.append(str(counted))
    return measured, expected


def recency_by_age(specimen: Any) -> Any:
    ages = np.array([0.0, 1.0, 24.0, 24.0 * np.log(2.0), 72.0])
    measured = [[specimen.decayed(float(a), 24.0, half) for a in ages] for half in (False, True)]
    return measured, [np.exp(-ages / 24.0), np.exp2(-ages / 24.0)]


def final_scores_are_weighted_means(specimen: Any) -> Any:
    measured, expected = [], []
    for seed in range(50):
        rng = np.random.default_rng(seed)
        three, weights = rng.normal(size=(3, 7)), (rng.random(3) + 0.1) / (1.0 + 4.0 * (seed % 2))
        scaled = (three - three.min(axis=1, keepdims=True)) / np.ptp(three, axis=1, keepdims=True)
        measured.append(specimen.final_scores(*three, tuple(weights)))
        expected.append(np.average(scaled, axis=0, weights=weights))
    return measured, expected


def scores_without_weights_or_differences(specimen: Any) -> Any:
    return [
        specimen.final_scores([1.0, 2.0], [1.0, 2.0], [1.0, 2.0], (0.0, 0.0, 0.0)),
        specimen.final_scores([3.0, 3.0], [np.nan, 1.0], [0.0, 0.0], (1.0, 1.0, 2.0)),
    ], [[0.0, 0.0], [0.75, 1.0]]


# --- mutants --------------------------------------------------------------------------------------
def mutants(*, stages: str, scale: str) -> tuple[Mutant, Mutant]:
    """Wrong versions of what is shared, and the ids of the checks that reject them."""

    @mutant("the stage of a session begins with its last event", rejected_by=stages)
    def last(specimen: Any) -> Any:
        original = specimen.stages_of

        def stages_of(kind: Any, stage: Any, session: Any) -> Any:
            turned = original(
                np.asarray(kind)[::-1], np.asarray(stage)[::-1], np.asarray(session)[::-1]
            )[::-1]
            return np.where(
                (np.asarray(stage) < 0) & (turned >= 0),
                len(turned) - 1 - turned,
                np.where(np.asarray(stage) < 0, -1, stage),
            )

        return specimen.replacing("stages_of", stages_of)

    @mutant("scores are divided by the largest", rejected_by=scale)
    def by_largest(specimen: Any) -> Any:
        def on_scale(scores: Any, among: Any, out: Any) -> None:
            top = np.nanmax(np.abs(np.where(among, scores, 0.0)), initial=1.0)
            out[...] = np.where(among, scores / top, np.nan)

        return specimen.replacing("on_scale", on_scale)

    return last, by_largest
