"""The world of flood: what is matched, its repeats and paraphrases, and its ideal against the best of all answers."""
from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from hebbarium.benchmarks.worlds import flood
from hebbarium.benchmarks.worlds.base import expected, places
from hebbarium.benchmarks.worlds.flood import life


@pytest.mark.parametrize("exact", [True, False])
def test_events_times_and_questions_do_not_depend_on_the_strength(exact: bool) -> None:
    lives = [life(strength, 2, exact=exact) for strength in (0.0, 0.5, 1.0)]
    for each in lives:
        assert len(each.events) == 300 and len(each.asks) == len(each.scored) == 300
        assert [event.time for event in each.events] == [event.time for event in lives[0].events]
        assert [(a.text, a.time, len(a.fits), a.needed) for a in each.asks] == [(a.text, a.time, len(a.fits), a.needed) for a in lives[0].asks]


def test_a_share_s_of_the_flood_repeats_facts_word_by_word() -> None:
    for strength, repeats in ((0.0, 0), (0.5, 75), (1.0, 150)):
        stream = life(strength, 1, exact=True)
        texts = Counter(event.text for event in stream.events)
        assert sum(count - 1 for count in texts.values()) == repeats
        for ask in stream.asks:
            told = {event.id: event for event in stream.events}
            assert all(len({told[id].text for id in ids}) == 1 and told[ids[0]].time <= ask.time for ids in ask.fits)


def test_paraphrases_are_texts_of_their_own_with_the_thing_of_another_fact() -> None:
    stream = life(1.0, 1, exact=False)
    assert len({event.text for event in stream.events}) == 300
    text = {event.id: event.text for event in stream.events}
    for cue in range(flood.CUES):
        for telling, fact in flood.PARAPHRASES.items():
            one, other = (set(text[f"c{cue}f{f}"].strip(".").replace(",", "").replace(":", "").split()) for f in (telling, fact))
            assert len(one & other) >= 3


def test_no_answer_of_three_is_better_than_the_ideal() -> None:
    stream = life(1.0, 0, exact=True)
    for ask, need in list(zip(stream.scored, stream.ideal(), strict=True))[:30]:
        best = max(sum(need[list(answer)]) for answer in combinations(range(len(ask.fits)), min(3, len(ask.fits))))
        assert expected(places(need), need, 3)[0] == pytest.approx(best) == pytest.approx(min(1.0, 3 / len(ask.fits)))


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
