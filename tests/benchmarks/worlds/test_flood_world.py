"""The world of flood: what is matched, its repeats and paraphrases, its ideal against the best
of all answers, and with a capacity against others.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from hebbarium.benchmarks.systems.hebbarium import Hebbarium
from hebbarium.benchmarks.worlds import flood
from hebbarium.benchmarks.worlds.base import Kept, Stream, expected, kept_by, places, places_of_kept
from hebbarium.benchmarks.worlds.flood import CAPACITY, CUES, FACTS, ROUNDS, crowded, life
from hebbarium.benchmarks.worlds.run import lived, observed
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.records import Event
from hebbarium.engine.flow.observer import Stopwatch
from hebbarium.engine.ports.embedder import HashingEmbedder


@pytest.mark.parametrize("exact", [True, False])
def test_events_times_and_questions_do_not_depend_on_the_strength(exact: bool) -> None:
    lives = [life(strength, 2, exact=exact) for strength in (0.0, 0.5, 1.0)]
    for each in lives:
        assert len(each.events) == 300 and len(each.asks) == len(each.scored) == 300
        assert [event.time for event in each.events] == [event.time for event in lives[0].events]
        assert [(a.text, a.time, len(a.fits), a.needed) for a in each.asks] == [
            (a.text, a.time, len(a.fits), a.needed) for a in lives[0].asks
        ]


def test_a_share_s_of_the_flood_repeats_facts_word_by_word() -> None:
    for strength, repeats in ((0.0, 0), (0.5, 75), (1.0, 150)):
        stream = life(strength, 1, exact=True)
        texts = Counter(event.text for event in stream.events)
        assert sum(count - 1 for count in texts.values()) == repeats
        for ask in stream.asks:
            told = {event.id: event for event in stream.events}
            assert all(
                len({told[id].text for id in ids}) == 1 and told[ids[0]].time <= ask.time
                for ids in ask.fits
            )


def test_paraphrases_are_texts_of_their_own_with_the_thing_of_another_fact() -> None:
    stream = life(1.0, 1, exact=False)
    assert len({event.text for event in stream.events}) == 300
    text = {event.id: event.text for event in stream.events}
    for cue in range(flood.CUES):
        for telling, fact in flood.PARAPHRASES.items():
            one, other = (
                set(text[f"c{cue}f{f}"].strip(".").replace(",", "").replace(":", "").split())
                for f in (telling, fact)
            )
            assert len(one & other) >= 3


def test_no_answer_of_three_is_better_than_the_ideal() -> None:
    stream = life(1.0, 0, exact=True)
    for ask, need in list(zip(stream.scored, stream.ideal(), strict=True))[:30]:
        best = max(
            sum(need[list(answer)])
            for answer in combinations(range(len(ask.fits)), min(3, len(ask.fits)))
        )
        assert (
            expected(places(need), need, 3)[0]
            == pytest.approx(best)
            == pytest.approx(min(1.0, 3 / len(ask.fits)))
        )


def test_the_facts_of_a_cue_are_needed_evenly_however_often_they_were_told() -> None:
    """Correlation of how often a fact was told with how often it was needed, over 20 lives."""
    told, needed = list[int](), list[int]()
    for seed in range(20):
        asks = life(1.0, seed, exact=True).asks
        late = [ask for ask in asks if len(ask.fits) == flood.FACTS]
        uses = Counter(ask.gold[0] for ask in late)
        known = {ids[0]: len(ids) for ask in late for ids in ask.fits}
        told += list(known.values())
        needed += [uses[id] for id in known]
    assert abs(float(np.corrcoef(told, needed)[0, 1])) < 4 / np.sqrt(len(told))


def hit_of(stream: Stream, kept: Kept) -> float:
    """Mean hit@ROUNDS over the questions of what was kept."""
    return float(
        np.mean(
            [
                expected(places_of_kept(p, k), p, ROUNDS)[0]
                for p, k in zip(stream.ideal(), kept, strict=True)
            ]
        )
    )


def test_with_a_capacity_each_round_tells_every_cue_once_and_asks_it_once_whatever_the_strength() -> (
    None
):
    lives = [crowded(strength, 3) for strength in (0.0, 0.5, 1.0)]
    for each in lives:
        assert [event.time for event in each.events] == [event.time for event in lives[0].events]
        assert [(a.id, a.text, a.time) for a in each.asks] == [
            (a.id, a.text, a.time) for a in lives[0].asks
        ]
        for steps in (each.events, each.asks):
            assert [step.time for step in steps] == sorted(step.time for step in steps)
            cues = [
                int(step.id.strip("c").split("r")[0])
                if isinstance(step, Event)
                else int(step.id.split("c")[1])
                for step in steps
            ]
            assert all(
                sorted(cues[r * CUES : (r + 1) * CUES]) == list(range(CUES)) for r in range(ROUNDS)
            )


def test_with_a_capacity_the_flood_is_facts_at_0_and_repeats_and_chatter_at_1() -> None:
    for strength, facts in ((0.0, ROUNDS), (0.5, (ROUNDS + FACTS) // 2), (1.0, FACTS)):
        stream = crowded(strength, 1)
        text = {event.id: event.text for event in stream.events}
        assert all(len(ask.fits) == facts for ask in stream.asks[-CUES:])
        # every telling so far of one text, and no two facts of one text
        for ask in stream.asks:
            told = [{text[id] for id in ids} for ids in ask.fits]
            assert all(len(texts) == 1 for texts in told) and len(set.union(*told)) == len(told)
    chatter = set(text) - {id for ask in stream.asks[-CUES:] for ids in ask.fits for id in ids}
    assert len(chatter) == 60 and len(set(text.values())) == CUES * FACTS + 60


@pytest.mark.slow
def test_without_structure_no_rule_of_what_leaves_a_full_memory_is_better_than_another() -> None:
    """Each fact is needed alike: whatever stays, a full memory answers its share of all that was
    told.
    """
    stream = crowded(0.0, 0)
    luck = dict(
        zip(
            (event.id for event in stream.events),
            np.random.default_rng(1).random(300).tolist(),
            strict=True,
        )
    )
    rules = (
        lambda id, times: times[0],
        lambda id, times: -times[0],
        lambda id, times: times[-1],
        lambda id, times: len(times),
        lambda id, times: -len(times),
        lambda id, times: luck[id],
        lambda id, times: float(id < "c7"),
    )
    share = np.mean([min(1.0, CAPACITY / (CUES * told)) for told in range(1, ROUNDS + 1)])
    assert stream.kept and hit_of(stream, stream.kept()) == pytest.approx(share)
    for rule in rules:
        assert hit_of(stream, kept_by(stream, CAPACITY, rule)) == pytest.approx(share, abs=1e-12)


@pytest.mark.parametrize("strength", [0.25, 0.5, 1.0])
def test_no_rule_keeps_more_than_the_ideal_observer_and_only_structure_makes_room(
    strength: float,
) -> None:
    """A memory of N rows answers at most N different facts: min(1, N / facts told), which the
    ideal observer reaches in every round.
    """
    stream = crowded(strength, 2)
    assert stream.kept
    facts = [
        sum(len(ask.fits) for ask in stream.asks[r * CUES : (r + 1) * CUES]) for r in range(ROUNDS)
    ]
    best = np.mean([min(1.0, CAPACITY / m) for m in facts])
    assert hit_of(stream, stream.kept()) == pytest.approx(best)
    ranks = observed(stream, stream.ideal(), CAPACITY)
    hits = {
        name: float(
            np.mean([expected(r, p, ROUNDS)[0] for r, p in zip(each, stream.ideal(), strict=True)])
        )
        for name, each in ranks.items()
    }
    assert hits["ideal"] == pytest.approx(best) and all(
        hits[name] < best - 0.02 for name in ("counting", "last use", "chance")
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hybrid", "in_use"])
def test_without_structure_a_full_memory_answers_its_share_whatever_it_learnt(
    registry: Registry, name: str
) -> None:
    """Exactly: all facts that it kept find a place in its answer, so no set is better than the
    floor.
    """
    stream = crowded(0.0, 1)
    memory = Hebbarium(
        registry.build(registry.set(name)), HashingEmbedder(64), 0, Stopwatch(), capacity=CAPACITY
    )
    hits = [
        expected([[rank] for rank in ranks], need, ROUNDS)[0]
        for ranks, need in zip(lived(memory, stream, ROUNDS), stream.ideal(), strict=True)
    ]
    assert stream.kept and np.mean(hits) == pytest.approx(hit_of(stream, stream.kept()), abs=1e-12)


def test_what_a_full_observer_keeps_by_hand() -> None:
    """Room for two: the third event takes the place of the one that was needed least, of equals
    of the older one; the new one always stays.
    """

    def ask(time: float, needed: int, *fits: str) -> flood.WorldQuestion:
        return flood.WorldQuestion(f"q{time}", time, "", tuple((id,) for id in fits), needed)

    events = [Event(float(t), str(t), id=f"e{t}") for t in range(4)]
    asks = [ask(1.5, 0, "e0", "e1"), ask(2.5, 1, "e0", "e1", "e2"), ask(3.5, 0, "e0", "e2", "e3")]
    stream = Stream((*events[:2], asks[0], events[2], asks[1], events[3], asks[2]), lambda: [])
    assert [k.tolist() for k in kept_by(stream, 2, lambda _, times: len(times))] == [
        [True, True],
        [True, False, True],
        [True, False, True],
    ]
