"""Scores of curves: distances in noise ceilings, their geometric mean, intervals and effects."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from hebbarium.benchmarks.people import scores
from hebbarium.benchmarks.people.data import (
    DELAYED,
    HALVES,
    IMMEDIATE,
    ListExperiment,
    RecallTrial,
    shipped_people,
)
from hebbarium.benchmarks.people.effects import EffectVerdict
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


def test_orders_are_differences_of_curves() -> None:
    assert scores.differences({"8": PEOPLE}) == pytest.approx(
        {
            "primacy": 0.6 - 0.4,
            "recency": 0.8 - 0.4,
            "contiguity": (0.25 + 0.45) / 2 - (0.1 + 0.1) / 2,
            "forward": 0.45 - 0.25,
            "intrusions": 0.1 - 0.3,
            "pauses": 1.2 - 0.8,
            "length": math.nan,
        },
        nan_ok=True,
    )
    longer = {**PEOPLE, "position": PEOPLE["position"] / 2.0, "pauses": np.array([np.nan, 1.0])}
    both = scores.differences({"8": PEOPLE, "16": longer})
    assert both["primacy"] == pytest.approx((0.2 + 0.1) / 2)
    assert both["pauses"] == pytest.approx(0.4)  # of the condition that has it
    assert both["length"] == pytest.approx(np.mean(PEOPLE["position"]) / 2.0)
    flat = {
        "position": np.array([0.9]),
        "lags": np.empty(0),
        "intrusions": np.full(2, np.nan),
        "pauses": np.array([np.nan, 1.0]),
    }
    sizes = scores.differences({"1": flat})
    assert all(math.isnan(sizes[name]) for name in ("contiguity", "intrusions", "pauses"))


def test_people_show_their_own_orders_and_a_reversed_memory_goes_against_them(
    people: list[Counts],
) -> None:
    target = {"8": scores.target_of(people)}
    theirs = scores.differences({"8": {n: c["values"] for n, c in target["8"].items()}})
    own = scores.effects_of({"8": people}, target)
    assert set(own) == {name for name, size in theirs.items() if math.isfinite(size)}
    for name, effect in own.items():
        assert effect.size.mean == pytest.approx(abs(theirs[name]))
        if abs(theirs[name]) > 0.1:
            assert effect.verdict is EffectVerdict.AS_PEOPLE, name
    backwards = [
        {**person, "lags": (person["lags"][0][::-1], person["lags"][1][::-1])} for person in people
    ]
    reversed_moves = scores.effects_of({"8": backwards}, target)["forward"]
    assert reversed_moves.size.mean == pytest.approx(-own["forward"].size.mean)
    alone = scores.effects_of({"8": people[:1]}, target)
    assert {effect.verdict for effect in alone.values()} == {EffectVerdict.UNDECIDED}


def test_people_show_primacy_recency_contiguity_and_a_forward_asymmetry() -> None:
    for experiment in (DELAYED, IMMEDIATE):
        for half in HALVES:
            for condition in shipped_people(experiment)[half].values():
                curves_of = {
                    n: np.array(c["values"], float) for n, c in condition["curves"].items()
                }
                for name in ("primacy", "recency", "contiguity", "forward"):
                    assert scores.ORDERS[name](curves_of) > 0.0, name


@pytest.mark.parametrize("experiment", [DELAYED, IMMEDIATE], ids=lambda e: e.id)
def test_an_experiment_names_the_effects_of_which_its_people_tell(
    experiment: ListExperiment,
) -> None:
    of = shipped_people(experiment)["reporting"]
    sizes = scores.differences(
        {
            condition: {
                n: np.asarray(c["values"], float) for n, c in of[condition]["curves"].items()
            }
            for condition in experiment.lengths
        }
    )
    assert {name for name, size in sizes.items() if math.isfinite(size)} == {*experiment.effects}
