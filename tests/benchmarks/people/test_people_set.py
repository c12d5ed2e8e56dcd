"""The set `people`: what people choose is likelier with its parts, its curves, and its numbers."""

from __future__ import annotations

from functools import cache

import numpy as np

from hebbarium.benchmarks.people.data import by_person, half, shipped_trials
from hebbarium.benchmarks.people.free_recall import counts, curves, followed_by, recalled_by
from hebbarium.benchmarks.people.readout import Choice, Floats, fitted, log_likelihood
from hebbarium.benchmarks.systems.hebbarium import Hebbarium
from hebbarium.engine.catalogue.registry import MechanismSet, Registry
from hebbarium.engine.flow.observer import Stopwatch
from hebbarium.engine.ports.embedder import HashingEmbedder

REGISTRY = Registry.read()
PEOPLE = REGISTRY.set("people")
TRIALS = [own for name, own in by_person(shipped_trials()).items() if half(name) == "fitting"][:2]

PARTS: tuple[tuple[str, ...], ...] = ((), ("temporal_context",), ("recency",))


def memory(chosen: MechanismSet) -> Hebbarium:
    return Hebbarium(REGISTRY.build(chosen), HashingEmbedder(64), 0, Stopwatch())


@cache
def choices(*without: str) -> list[Choice]:
    return [c for own in TRIALS for c in followed_by(memory(PEOPLE.without(without)), own)[0]]


@cache
def recalled(*without: str) -> dict[str, Floats]:
    """Curves of lists of 24 words, with the readout of the whole set and the same draws."""
    chosen, readout = PEOPLE.without(without), fitted(choices())
    trials = [
        trial
        for own in TRIALS
        for seed in range(2)
        for trial in recalled_by(memory(chosen), own, readout, np.random.default_rng(seed)).trials
    ]
    return curves(counts(trials, 24))


def test_context_and_recency_make_the_choices_of_people_likelier() -> None:
    best = {ids: log_likelihood(choices(*ids), fitted(choices(*ids))) for ids in PARTS}
    for ids in PARTS[1:]:
        assert best[()] > best[ids] + 0.05, ids


def test_its_curves_have_primacy_recency_and_a_forward_asymmetry() -> None:
    c = recalled()
    first, middle, last = c["position"][0], c["position"][8:16].mean(), c["position"][-1]
    assert first > middle + 0.2 and last > middle + 0.2
    lags = dict(zip([-5, -4, -3, -2, -1, 1, 2, 3, 4, 5], c["lags"].tolist(), strict=True))
    assert lags[1] > lags[-1] > lags[-3] and lags[1] > lags[2]


def test_without_the_gradient_the_first_words_lose_their_advantage() -> None:
    assert recalled("primacy_gradient")["position"][0] < recalled()["position"][0] - 0.2


def test_it_has_at_most_six_free_numbers_with_those_of_the_readout() -> None:
    """The weight of the context is the unit, and that of the dense signal a trace."""
    given = [
        (id, name)
        for id, values in PEOPLE.mechanisms.items()
        for name in values
        if (id, name) != ("temporal_context", "weight") and id != "dense_similarity"
    ]
    assert len(given) + 2 <= 6
