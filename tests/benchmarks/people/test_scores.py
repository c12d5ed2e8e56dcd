"""Scores of curves: distances in noise ceilings, their geometric mean, intervals and signs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from hebbarium.benchmarks.people import scores
from hebbarium.benchmarks.people.data import DELAYED, HALVES, IMMEDIATE, RecallTrial, shipped_people
from hebbarium.benchmarks.people.free_recall import Counts, added, counts, curves

WORDS = ("swamp", "lava", "atlas", "chapel", "leopard", "ozone")
CHANCE = np.array([0.6, 0.4, 0.3, 0.3, 0.5, 0.8])


def person(stream: np.random.Generator, chance: NDArray[np.float64], lists: int = 8) -> Counts:
    trials = []
    for number in range(1, lists + 1):
        places = stream.permutation(np.flatnonzero(stream.random(6) < chance) + 1)
        recalls = tuple(map(int, places))
        trials.append(
            RecallTrial(
                "P2", number, "v", 800, 12000, WORDS, recalls, tuple(range(1, len(recalls) + 1))
            )
        )
    return counts(trials, 6)


@pytest.fixture(scope="module")
def people() -> list[Counts]:
    stream = np.random.default_rng(0)
    return [person(stream, CHANCE) for _ in range(300)]


def test_errors_and_ceilings_are_those_of_independent_lists(people: list[Counts]) -> None:
    """A share p of n lists has the error sqrt(p (1 - p) / n); halves differ by twice that."""
    target = scores.target_of(people)["position"]
    assert target["values"] == pytest.approx(CHANCE, abs=0.05)
    errors = np.sqrt(CHANCE * (1.0 - CHANCE) / 2400)
    assert target["errors"] == pytest.approx(errors, rel=0.35)
    assert target["ceiling"] == pytest.approx(2.0 * np.sqrt(np.mean(errors**2)), rel=0.2)


def test_another_half_of_the_same_people_is_about_one_ceiling_away(people: list[Counts]) -> None:
    target = scores.target_of(people)
    halves = [curves(added(people[i::2])) for i in (0, 1)]
    apart = scores.distances(halves[0], {n: {**target[n], "values": halves[1][n]} for n in target})
    assert 0.4 < scores.geometric_mean([apart[n] for n in scores.CORE]) < 2.0
    itself = scores.distances(curves(added(people)), target)
    assert itself["position"] == 0.0


def test_the_score_is_the_geometric_mean_over_curves_and_lengths() -> None:
    by_length = {
        "12": {"position": 1.0, "first": 2.0, "lags": 4.0, "number": 99.0},
        "24": {"position": 8.0, "first": 16.0, "lags": 32.0, "number": 99.0},
    }
    assert scores.score_of(by_length) == pytest.approx(2.0**2.5)
    assert math.isnan(scores.geometric_mean([1.0, math.nan]))


def test_the_interval_holds_the_score_and_narrows_with_people(people: list[Counts]) -> None:
    stream = np.random.default_rng(5)
    other = [person(stream, np.roll(CHANCE, 2)) for _ in range(80)]
    targets = {"6": scores.target_of(people)}
    wide, narrow = (scores.interval_of({"6": other[:n]}, targets)[0] for n in (10, 80))
    for estimate in (wide, narrow):
        assert estimate.low < estimate.mean < estimate.high
    assert wide.high - wide.low > 1.5 * (narrow.high - narrow.low)
    assert scores.interval_of({"6": other[:10]}, targets)[0] == wide
    alone = scores.interval_of({"6": other[:1]}, targets)[0]
    assert math.isnan(alone.low) and alone.n == 1


PEOPLE = {
    "position": np.array([0.6, 0.5, 0.4, 0.4, 0.4, 0.4, 0.6, 0.8]),
    "lags": np.array([0.1, 0.15, 0.25, 0.45, 0.2, 0.1]),
    "intrusions": np.array([0.3, 0.1]),
    "pauses": np.array([0.8, 1.2]),
}


def test_signs_compare_the_orders_of_curves() -> None:
    assert scores.signs(PEOPLE, PEOPLE) == dict.fromkeys(scores.ORDERS, True)
    other = {
        "position": np.array([0.3, 0.5, 0.4, 0.4, 0.4, 0.4, 0.6, 0.8]),
        "lags": np.array([0.5, 0.15, 0.4, 0.25, 0.2, 0.5]),
        "intrusions": np.array([0.2, 0.1, np.nan]),
        "pauses": np.array([1.2, 1.0]),
    }
    assert scores.signs(other, PEOPLE) == {
        "primacy": False,
        "recency": True,
        "contiguity": False,
        "forward": False,
        "intrusions": True,
        "pauses": False,
    }
    flat = {
        "position": np.full(8, 0.4),
        "lags": np.full(6, np.nan),
        "intrusions": np.zeros(2),
        "pauses": np.array([np.nan, 1.0]),
    }
    assert scores.signs(flat, PEOPLE) == dict.fromkeys(scores.ORDERS)
    single = {**PEOPLE, "position": np.array([0.9]), "lags": np.empty(0)}
    assert scores.signs(single, PEOPLE)["contiguity"] is None


def test_people_show_primacy_recency_contiguity_and_a_forward_asymmetry() -> None:
    for experiment in (DELAYED, IMMEDIATE):
        for half in HALVES:
            for condition in shipped_people(experiment)[half].values():
                curves_of = {
                    n: np.array(c["values"], float) for n, c in condition["curves"].items()
                }
                for name in ("primacy", "recency", "contiguity", "forward"):
                    assert scores.ORDERS[name](curves_of) == 1.0, name
