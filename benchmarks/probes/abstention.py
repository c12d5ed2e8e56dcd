"""Abstention: the memory says how probably an answer suffices, and is right about it."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...engine.contract.vocabulary import SUFFICIENCY
from ..calibration.gate import GATE, fitted_gate
from .harness.base import Above, Measures, Numbers, Probe, Within
from .harness.life import MINUTE, Life, Need, Settings
from .stimuli import NAMES, OBJECTS, Stimuli, sentence

FACTS, ABSENT, BINS = 40, 40, 5
FIRST: Final = 10
LIVES: Final = 3  # that the probability is fitted to, for each seed
OTHER_SEEDS: Final = 1000  # theirs start here; no measured life has one of them
# the log odds of SUFFICIENCY are then what the gate judges by, and nothing is held back
UNFITTED: Final = {"A": -1.0, "B": 0.0, "threshold": 0.0}


def run(life: Life, seed: int) -> Numbers:
    """The memory is calibrated as by `hebbarium calibrate`: on other lives, whose seeds no
    measured life has.
    """
    answered, confidence = answers(life.fresh(settings=calibrated(life, seed)), seed)
    constant = not np.ptp(confidence) > 0.0  # or not defined
    return {
        "risk": 1.0 - answered.mean(),
        "area under risk-coverage": 1.0 - answered.mean()
        if constant
        else area(answered, confidence),
        "ECE": math.nan if constant else calibration_error(answered, confidence),
    }


def calibrated(life: Life, seed: int) -> Settings:
    """The gate with a probability fitted to other lives; as it is where it judges nothing."""
    answered = []
    for other in range(OTHER_SEEDS + LIVES * seed, OTHER_SEEDS + LIVES * (seed + 1)):
        answered.append(answers(life.fresh(settings={GATE: UNFITTED}), other))
        if np.all(answered[0][1] == 1.0):  # no gate judges
            return {}
    right, sure = np.concatenate(answered, axis=1)
    judged = (sure > 0.0) & (sure < 1.0)
    if not judged.any() or not np.ptp(right[judged]):
        return {}
    return {GATE: fitted_gate(np.log(sure[judged]) - np.log1p(-sure[judged]), right[judged] == 1.0)}


def answers(life: Life, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Of each question whether its fact was answered, 1 or 0, and SUFFICIENCY."""
    s = Stimuli("abstention", seed)
    facts = s.facts(FACTS)
    ids = life.tell_all([sentence(fact) for fact in facts], apart=10 * MINUTE)
    known = {fact[1] for fact in facts}
    absent = [
        (NAMES[i], thing)
        for i, thing in zip(s.rng.integers(len(NAMES), size=ABSENT), _cycled(s, known), strict=True)
    ]
    right, sure = [], []
    for name, thing, id in [
        *((name, thing, id) for (name, thing, _), id in zip(facts, ids, strict=True)),
        *((*pair, "") for pair in absent),
    ]:
        right.append(life.hit(f"Where does {name} keep the {thing}?", id, FIRST))
        sure.append(float(life.column(SUFFICIENCY).item()))
    return np.array(right, float), np.array(sure)


def _cycled(s: Stimuli, known: set[str]) -> list[str]:
    unknown = s.shuffled([thing for thing in OBJECTS if thing not in known])
    return [unknown[i % len(unknown)] for i in range(ABSENT)]


def area(answered: NDArray[np.float64], confidence: NDArray[np.float64]) -> float:
    """Mean risk over all coverages, the most confident answers first; equal confidences share their
    risk.

    >>> area(np.array([1.0, 0.0]), np.array([0.9, 0.1])), area(np.array([1.0, 0.0]), np.array([0.5, 0.5]))
    (0.25, 0.5)
    """
    order = np.argsort(-confidence, kind="stable")
    wrong, levels = 1.0 - answered[order], confidence[order]
    _, group = np.unique(-levels, return_inverse=True)
    shared = (np.bincount(group, wrong) / np.bincount(group))[group]
    return float(np.mean(np.cumsum(shared) / np.arange(1, len(shared) + 1)))


def calibration_error(answered: NDArray[np.float64], confidence: NDArray[np.float64]) -> float:
    """Expected calibration error over equal bins of confidence.

    >>> calibration_error(np.array([1.0, 0.0]), np.array([1.0, 1.0]))
    0.5
    """
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    return float(
        sum(
            abs(answered[bins == b].mean() - confidence[bins == b].mean()) * np.mean(bins == b)
            for b in range(BINS)
            if np.any(bins == b)
        )
    )


PROBES = (
    Probe(
        id="abstention/curve",
        capability="The memory knows when it has no answer, with probabilities that are right.",
        source="joren2025sufficient",
        place="selective answering",
        unit="share; area",
        protocol="40 facts; 40 questions with and 40 without an answer; SUFFICIENCY of each against whether the fact is in the top 10. "
        "Its probability is fitted as by `hebbarium calibrate`, to 3 such lives with other seeds.",
        band=(Above("risk", "area under risk-coverage"), Within("ECE", high=0.05)),
        matters=("sufficiency_gate",),
        sets=("everything",),
        needs=frozenset({Need.COLUMNS}),
        run=run,
        measures=Measures(columns=("sufficiency",), answers=True),
    ),
)
