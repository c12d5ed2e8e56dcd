"""The set `people`: what people choose is likelier with its parts, its curves, and its numbers."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from hebbarium.benchmarks.people.data import by_person, half, shipped_people, shipped_trials
from hebbarium.benchmarks.people.free_recall import (
    counts,
    curves,
    followed_by,
    recalled_by,
    summary,
)
from hebbarium.benchmarks.people.readout import Choice, Floats, fitted, log_likelihood
from hebbarium.benchmarks.systems.hebbarium import Hebbarium
from hebbarium.engine.catalogue.registry import MechanismSet, Registry
from hebbarium.engine.flow.observer import Stopwatch
from hebbarium.engine.ports.embedder import HashingEmbedder

REGISTRY = Registry.read()
PEOPLE = REGISTRY.set("people")
TRIALS = [own[:10] for name, own in by_person(shipped_trials()).items() if half(name) == "fitting"][
    :2
]

OTHER = {
    "no context": PEOPLE.without(["temporal_context"]),
    "no context of source": MechanismSet(
        "",
        "",
        {
            id: {**values, "source": 0.0} if id == "temporal_context" else values
            for id, values in PEOPLE.mechanisms.items()
        },
    ),
    "no gradient": PEOPLE.without(["primacy_gradient"]),
}


def memory(chosen: MechanismSet) -> Hebbarium:
    return Hebbarium(REGISTRY.build(chosen), HashingEmbedder(64), 0, Stopwatch())


@cache
def choices(other: str = "") -> list[Choice]:
    chosen = OTHER.get(other, PEOPLE)
    return [c for own in TRIALS for c in followed_by(memory(chosen), own)[0]]


@cache
def recalled(other: str = "") -> tuple[dict[str, Floats], dict[str, float]]:
    """Curves and means of lists of 24 words, with the readout of the whole set and the same draws."""
    chosen, readout = OTHER.get(other, PEOPLE), fitted(choices())
    trials = [
        trial
        for own in TRIALS
        for seed in range(2)
        for trial in recalled_by(memory(chosen), own, readout, np.random.default_rng(seed)).trials
    ]
    counted = counts(trials, 24)
    return curves(counted), summary(counted)


@pytest.mark.slow
def test_both_contexts_make_the_choices_of_people_likelier() -> None:
    best = log_likelihood(choices(), fitted(choices()))
    for other in ("no context", "no context of source"):
        assert best > log_likelihood(choices(other), fitted(choices(other))) + 0.05, other


@pytest.mark.slow
def test_the_context_of_the_list_keeps_words_of_earlier_lists_out() -> None:
    whole, without = recalled()[1], recalled("no context of source")[1]
    assert whole["intrusions"] < 0.5 * without["intrusions"]


@pytest.mark.slow
def test_its_curves_have_primacy_recency_and_a_forward_asymmetry() -> None:
    c, _ = recalled()
    first, middle, last = c["position"][0], c["position"][8:16].mean(), c["position"][-1]
    assert first > middle + 0.2 and last > middle + 0.2
    lags = dict(zip([-5, -4, -3, -2, -1, 1, 2, 3, 4, 5], c["lags"].tolist(), strict=True))
    assert lags[1] > lags[-1] > lags[-3] and lags[1] > lags[2]


@pytest.mark.slow
def test_without_the_gradient_the_first_words_lose_most_of_people_s_advantage() -> None:
    people = shipped_people()["fitting"]["24"]["curves"]["position"]["values"]
    primacy = people[0] - float(np.mean(people[8:16]))
    lost = recalled()[0]["position"][0] - recalled("no gradient")[0]["position"][0]
    assert lost > 0.75 * primacy > 0.0


def test_it_has_at_most_six_free_numbers_with_those_of_the_readout() -> None:
    """The weight of the context is the unit, and that of the dense signal a trace; numbers that are
    not given are those of the registry, which were fitted to nothing here.
    """
    given = [
        (id, name)
        for id, values in PEOPLE.mechanisms.items()
        for name in values
        if (id, name) != ("temporal_context", "weight") and id != "dense_similarity"
    ]
    assert len(given) + 2 == 6
