"""Printed paradigms: protocols, the readout of their tests against simulation, fits and verdicts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from tiers import slow_unless

from hebbarium.audit.references import load
from hebbarium.benchmarks.people.data import ListExperiment
from hebbarium.benchmarks.people.effects import EffectVerdict
from hebbarium.benchmarks.people.paradigms import PRINTED
from hebbarium.benchmarks.people.paradigms.contract import (
    BEYOND,
    TALK,
    Effect,
    Paradigm,
    Printed,
    ReadoutKind,
    Recalled,
    SimulatedPerson,
    difference,
    share,
)
from hebbarium.benchmarks.people.printed import HOTTEST, Supports, Timing, measured, plain, read
from hebbarium.benchmarks.people.printed_study import texts_of
from hebbarium.benchmarks.people.readout import STOP, Readout, chances, drawn
from hebbarium.benchmarks.people.reference import ReferenceCMR
from hebbarium.benchmarks.people.study import LISTS
from hebbarium.benchmarks.probes.harness.life import Life
from hebbarium.benchmarks.systems.base import Retrieved, RetrievedEvent
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.records import Query
from hebbarium.engine.ports.embedder import HashingEmbedder

Floats = NDArray[np.float64]
EMBEDDER = HashingEmbedder(32)
REGISTRY, REFERENCES = Registry.read(), load()


class Unchanging(ReferenceCMR):
    """A memory whose answers depend on the words of the question alone."""

    def retrieve(self, query: Query, k: int, learn: bool = False) -> Retrieved:
        vectors = EMBEDDER.embed([query.text or " ", *(event.text for event in self._events)])
        scores = vectors[1:] @ vectors[0] if query.text else np.zeros(len(self._events))
        best = np.argsort(-scores, kind="stable")[:k]
        return Retrieved(
            tuple(
                RetrievedEvent(self._events[i].id, float(scores[i]), self._events[i].text)
                for i in best
            )
        )

    def use(self, answer: Retrieved, ids: Sequence[str]) -> None: ...


def subject(paradigm: str, seed: int = 0) -> SimulatedPerson:
    return SimulatedPerson(paradigm, seed, Life(lambda *_: ReferenceCMR(), EMBEDDER))


@pytest.mark.parametrize("paradigm", PRINTED.values(), ids=list(PRINTED))
def test_a_protocol_tests_every_point_and_names_its_source(paradigm: Paradigm) -> None:
    taking_part = subject(paradigm.id)
    paradigm.run(taking_part)
    assert set(taking_part.tests) == set(paradigm.points)
    assert set(paradigm.printed) <= set(paradigm.points)
    assert "https://doi.org/" in paradigm.source
    assert paradigm.read.startswith(
        "second-hand" if paradigm.printed else ("second-hand", "not read", "abstract read")
    )
    for effect in paradigm.effects:
        assert set(effect.weights) <= set(paradigm.points)
        if set(effect.weights) <= set(paradigm.printed):
            # what is called an effect of people is one in the printed numbers
            assert paradigm.size_of(effect) > 0.0, effect.name


@pytest.mark.parametrize("experiment", [*PRINTED.values(), *LISTS.values()], ids=[*PRINTED, *LISTS])
def test_papers_and_mechanisms_of_an_experiment_exist(
    experiment: Paradigm | ListExperiment,
) -> None:
    assert all(key in REFERENCES for key in experiment.papers)
    assert set(experiment.matters) <= set(REGISTRY.entries)
    assert len(set(experiment.papers)) == len(experiment.papers)


def test_times_of_the_fan_effect_are_those_of_the_sentences_of_people() -> None:
    """The sentences of Anderson (1974) that the data file of ACT-R's tutorial has in its order; fans
    are counted in the facts.
    """
    sentences = {
        "fact": (
            "lawyer store, captain cave, hippie church, debutante bank, earl castle, hippie bank, "
            "fireman park, captain park, hippie park"
        ),
        "foil": (
            "fireman store, captain store, giant store, fireman bank, captain bank, giant bank, "
            "lawyer park, earl park, giant park"
        ),
    }
    facts = (
        "hippie park, hippie church, hippie bank, captain park, captain cave, debutante bank, "
        "fireman park, giant beach, giant castle, giant dungeon, earl castle, earl forest, lawyer store"
    )
    fan = Counter(word for fact in facts.split(", ") for word in fact.split())
    seconds = {
        "fact": (1.11, 1.17, 1.22, 1.17, 1.20, 1.22, 1.15, 1.23, 1.36),
        "foil": (1.20, 1.22, 1.26, 1.25, 1.36, 1.29, 1.26, 1.47, 1.47),
    }
    printed = PRINTED["fan"].printed
    for kind, listed in sentences.items():
        for sentence, time in zip(listed.split(", "), seconds[kind], strict=True):
            person, place = sentence.split()
            assert printed[f"{kind} {fan[person]}-{fan[place]}"].value == time


@pytest.mark.parametrize("name", ["retention", "fan", "release"])
def test_texts_depend_on_the_seed_alone(name: str) -> None:
    assert texts_of(name, 0) == texts_of.__wrapped__(name, 0) != texts_of(name, 1)
    assert all(text.strip() for text in texts_of(name, 0))


def test_days_have_talk_in_waking_hours_alone() -> None:
    memory = subject("retention").fresh()
    before = len(memory.life.told)
    begun = memory.life.now
    memory.live(begun + 48.0, 6)
    assert len(memory.life.told) - before in (11, 12) and memory.life.now == begun + 48.0
    clock = [event.time % 24.0 for event in memory.life._waiting[before:]]
    assert all(9.0 <= hour < 21.0 for hour in clock) and len(set(TALK)) == len(TALK)


@pytest.mark.parametrize(
    "name", slow_unless(("part_list", "context"), ["induced_forgetting", "part_list", "context"])
)
def test_a_memory_that_nothing_changes_shows_no_effect(name: str) -> None:
    """The same words are tested in every condition, so words alone make no difference, but where
    words are told again: copies compete for their category.
    """
    tests = []
    for seed in range(3):
        taking_part = SimulatedPerson(name, seed, Life(lambda *_: Unchanging(), EMBEDDER))
        PRINTED[name].run(taking_part)
        tests.append(taking_part.tests)
    for effect, judged in measured(PRINTED[name], tests).effects.items():
        if effect == "more than telling again does":
            assert judged.verdict is EffectVerdict.AGAINST
            continue
        assert judged.size.mean == pytest.approx(0.0, abs=1e-9)
        assert judged.verdict is EffectVerdict.NONE


# --- from supports to shares ----------------------------------------------------------------------
def supports(test: Recalled, kind: ReadoutKind) -> Supports:
    return Supports([[test]], kind)


@pytest.mark.slow
def test_free_recall_has_the_shares_of_lists_recalled_word_by_word() -> None:
    """20,000 lists drawn by Luce's rule without replacement, within four standard errors."""
    support, readout = np.array([1.2, 0.1, -0.4, 0.7]), Readout(0.6, 0.3)
    stream, recalled, n = np.random.default_rng(0), np.zeros(4), 20_000
    for _ in range(n):
        left = [0, 1, 2, 3]
        while (place := drawn(chances(support[left], readout), stream)) != STOP:
            recalled[left.pop(place)] += 1
    for word in range(4):
        mine = supports(Recalled(support, ((word,),)), ReadoutKind.FREE).by_subject(readout)[0]
        error = math.sqrt(mine * (1.0 - mine) / n)
        assert abs(recalled[word] / n - mine) < 4.0 * error


def test_cued_recall_is_one_draw_by_lucess_rule() -> None:
    support, readout = np.array([1.2, 0.1, -0.4, 0.7]), Readout(0.6, 0.3)
    of = chances(support, readout)
    mine = supports(Recalled(support, ((0, 3),)), ReadoutKind.CUED).by_subject(readout)[0]
    assert mine == pytest.approx(of[0] + of[3])
    # a memory that is no candidate has at most the least support; one that is not stored has none
    beyond = supports(Recalled(support, ((BEYOND,),)), ReadoutKind.CUED).by_subject(readout)[0]
    assert beyond == pytest.approx(of[2])
    assert supports(Recalled(support, ((),)), ReadoutKind.CUED).by_subject(readout)[0] == 0.0
    assert supports(Recalled(support, ((),)), ReadoutKind.FREE).by_subject(readout)[0] == 0.0


def test_a_time_falls_with_the_best_right_memory() -> None:
    support = np.array([1.2, 0.1, -0.4])
    mine = supports(Recalled(support, ((1, 2),)), ReadoutKind.TIME).by_subject(Timing(0.9, 0.3))[0]
    assert mine == pytest.approx(0.9 + 0.3 * math.exp(-0.1))


@pytest.mark.parametrize("word", [(BEYOND,), ()])
def test_a_memory_that_answers_nothing_recalls_nothing_and_has_no_time(
    word: tuple[int, ...],
) -> None:
    silent = Recalled(np.empty(0), (word,))
    for kind in (ReadoutKind.FREE, ReadoutKind.CUED):
        assert supports(silent, kind).by_subject(Readout(0.6, 0.3))[0] == 0.0
    assert math.isnan(supports(silent, ReadoutKind.TIME).by_subject(Timing(0.9, 0.3))[0])
    result = measured(
        paradigm(dict.fromkeys(POINTS, 1.0), ReadoutKind.TIME),
        [{point: [silent] for point in POINTS} for _ in range(3)],
    )
    assert math.isnan(result.distance.mean)
    assert result.effects["a above d"].verdict is EffectVerdict.UNDECIDED


def test_tests_are_the_same_after_json() -> None:
    tests = {"a": [Recalled(np.array([1.25, -0.5]), ((0,), (BEYOND,), ()))]}
    again = read(plain(tests, 6))
    assert again["a"][0].words == tests["a"][0].words
    assert again["a"][0].support.tolist() == tests["a"][0].support.tolist()


# --- fits and verdicts ----------------------------------------------------------------------------
POINTS = ("a", "b", "c", "d")


def paradigm(
    printed: Mapping[str, float], kind: ReadoutKind = ReadoutKind.FREE, error: float = 0.02
) -> Paradigm:
    numbers = {point: Printed(value, error) for point, value in printed.items()}
    return Paradigm(
        "made", "", "", "", "", "", kind, POINTS, (Effect("a above d", difference(["a"], ["d"])),),
        "", lambda _: None, numbers,
    )  # fmt: skip


def people(means: Mapping[str, float], n: int = 12) -> list[dict[str, Sequence[Recalled]]]:
    """Simulated people whose right word has a support around a mean at each point."""
    stream = np.random.default_rng(3)
    return [
        {
            point: [Recalled(np.append(stream.normal(size=9), mean), ((9,),)) for _ in range(20)]
            for point, mean in means.items()
        }
        for _ in range(n)
    ]


FALLING = {"a": 1.5, "b": 0.8, "c": 0.2, "d": -0.3}


@pytest.mark.parametrize("kind", [ReadoutKind.FREE, ReadoutKind.CUED])
def test_numbers_of_a_readout_are_recovered_from_what_it_prints(kind: ReadoutKind) -> None:
    made, readout = people(FALLING), Readout(0.7, 0.4)
    printed = {
        point: float(Supports([own[point] for own in made], kind).by_subject(readout).mean())
        for point in POINTS
    }
    result = measured(paradigm(printed, kind), made)
    assert isinstance(result.numbers, Readout) and result.fitted
    assert result.numbers.temperature == pytest.approx(0.7, abs=0.02)
    assert result.numbers.threshold == pytest.approx(0.4, abs=0.05)
    assert result.distance.mean < 0.05
    effect = result.effects["a above d"]
    assert effect.verdict is EffectVerdict.AS_PEOPLE
    assert effect.size.mean == pytest.approx(printed["a"] - printed["d"], abs=0.01)


def test_times_are_fitted_by_least_squares_of_numpy() -> None:
    made = people(FALLING)
    seconds = {"a": 1.0, "b": 1.2, "c": 1.3, "d": 1.6}
    result = measured(paradigm(seconds, ReadoutKind.TIME), made)
    x = [np.mean([math.exp(-t.support[9]) for own in made for t in own[p]]) for p in POINTS]
    factor, intercept = np.polyfit(x, list(seconds.values()), 1)
    assert isinstance(result.numbers, Timing)
    assert result.numbers.factor == pytest.approx(factor)
    assert result.numbers.intercept == pytest.approx(intercept)
    rising = measured(
        paradigm(dict(zip(POINTS, (1.6, 1.3, 1.2, 1.0), strict=True)), ReadoutKind.TIME), made
    )
    assert isinstance(rising.numbers, Timing) and rising.numbers.factor == 0.0


def test_effects_that_are_absent_reversed_or_unclear_are_told_apart() -> None:
    printed = {"a": 0.7, "b": 0.6, "c": 0.5, "d": 0.4}
    flat = dict.fromkeys(POINTS, 0.5)
    against = dict(zip(POINTS, reversed(FALLING.values()), strict=True))
    verdicts = {
        name: measured(paradigm(printed), people(means, n)).effects["a above d"].verdict
        for name, means, n in (("flat", flat, 12), ("against", against, 12), ("few", FALLING, 2))
    }
    assert verdicts == {
        "flat": EffectVerdict.NONE,
        "against": EffectVerdict.AGAINST,
        "few": EffectVerdict.UNDECIDED,
    }
    hot = measured(paradigm(printed), people(against)).numbers
    assert isinstance(hot, Readout) and hot.temperature == pytest.approx(HOTTEST, rel=0.01)


def test_a_distance_needs_more_printed_numbers_than_are_fitted() -> None:
    made = people(FALLING)
    two = replace(paradigm({"a": 0.6, "b": 0.5}), effects=())
    assert math.isnan(measured(two, made).distance.mean)
    unknown = measured(paradigm({}), made)
    assert math.isnan(unknown.distance.mean) and not unknown.fitted
    assert isinstance(unknown.numbers, Readout) and unknown.numbers.temperature == pytest.approx(
        1.0
    )
    mean = np.mean([value.mean for value in unknown.values.values()])
    assert mean == pytest.approx(0.5, abs=0.01)


def test_a_distance_is_in_units_of_two_halves_of_people() -> None:
    """Flat supports give .55 at all points: the distance is sqrt(mean((x - .55)^2)) / (2 error)."""
    printed = {"a": 0.7, "b": 0.6, "c": 0.5, "d": 0.4}
    same = [{point: [Recalled(np.zeros(5), ((0,),))] for point in POINTS} for _ in range(4)]
    result = measured(paradigm(printed, error=0.05), same)
    apart = math.sqrt(np.mean([(value - 0.55) ** 2 for value in printed.values()])) / 0.1
    assert result.distance.mean == pytest.approx(apart, rel=1e-3)
    assert result.distance.low < apart < result.distance.high


def test_errors_of_shares_are_the_greatest_that_means_of_people_can_have() -> None:
    stream = np.random.default_rng(0)
    for _ in range(20):
        people_shares: Floats = stream.beta(0.3, 0.5, size=30)
        mean = float(people_shares.mean())
        assert people_shares.std() / math.sqrt(30) <= share(mean, 30).error
