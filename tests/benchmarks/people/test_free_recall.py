"""Free recall: curves against counts by hand and by brute force, and the protocol in memories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from hebbarium.benchmarks.people import free_recall
from hebbarium.benchmarks.people.data import RecallTrial
from hebbarium.benchmarks.people.free_recall import (
    added,
    counts,
    curves,
    followed_by,
    practised,
    recalled_by,
)
from hebbarium.benchmarks.people.readout import STOP, Readout
from hebbarium.benchmarks.people.reference import ReferenceCMR
from hebbarium.benchmarks.systems.base import Retrieved, RetrievedEvent
from hebbarium.benchmarks.systems.hebbarium import Hebbarium
from hebbarium.engine.catalogue.registry import MechanismSet, Registry
from hebbarium.engine.contract.records import Event, Query
from hebbarium.engine.ports.embedder import HashingEmbedder

WORDS = ("swamp", "lava", "atlas", "chapel", "leopard", "ozone")
REGISTRY = Registry.read()


def trial(recalls: Sequence[int], times: Sequence[int] = (), number: int = 1) -> RecallTrial:
    times = tuple(times) or tuple(range(1000, 1000 + len(recalls)))
    return RecallTrial("MTK0002", number, "v", 800, 12000, WORDS, tuple(recalls), times)


def test_curves_of_one_list_by_hand() -> None:
    """6 5 5 -1 2: two intrusions and repetitions break the chain of moves."""
    c = curves(counts([trial([6, 5, 5, -1, 2, 3], [10, 30, 40, 50, 90, 100])], 6))
    assert c["position"].tolist() == [0, 1, 1, 0, 1, 1]
    assert c["first"].tolist() == [0, 0, 0, 0, 0, 1]
    # moves 6 -> 5 (of 1 to 5) and 2 -> 3 (of 1, 3 and 4)
    lags = dict(zip([-5, -4, -3, -2, -1, 1, 2, 3, 4, 5], c["lags"].tolist(), strict=True))
    assert lags[-1] == 0.5 and lags[1] == 1.0 and lags[2] == lags[-2] == 0.0
    assert np.isnan([lags[3], lags[4], lags[5]]).all()
    assert c["number"].tolist() == [0, 0, 0, 0, 1, 0, 0]
    assert c["intrusions"].tolist() == [1, 0, 0, 0, 0]
    assert c["pauses"][0] == pytest.approx(20 / 15) and c["pauses"][2] == pytest.approx(10 / 15)


def test_lags_are_those_of_brute_force() -> None:
    stream = np.random.default_rng(0)
    lists = [trial(stream.permutation(6)[: stream.integers(0, 7)] + 1) for _ in range(200)]
    moved, possible = np.zeros(11), np.zeros(11)
    for recalled in lists:
        for n, (here, there) in enumerate(pairwise(recalled.recalls), 1):
            moved[there - here + 5] += 1
            for other in set(range(1, 7)) - set(recalled.recalls[:n]):
                possible[other - here + 5] += 1
    expected = np.delete(moved, 5) / np.delete(possible, 5)
    np.testing.assert_allclose(curves(counts(lists, 6))["lags"], expected)


def test_counts_of_people_add_up_and_other_lengths_are_left_out() -> None:
    some, others = [trial([1, 2]), trial([])], [trial([6])]
    whole = counts([*some, *others, replace(trial([1]), words=WORDS[:3])], 6)
    for name, (top, bottom) in added([counts(some, 6), counts(others, 6)]).items():
        np.testing.assert_array_equal(top, whole[name][0])
        np.testing.assert_array_equal(bottom, whole[name][1])
    assert curves(whole)["number"].tolist() == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0, 0, 0, 0])


def test_people_without_recalls_and_lists_of_one_word_have_curves() -> None:
    empty = curves(counts([trial([])], 6))
    assert empty["position"].tolist() == [0.0] * 6 and np.isnan(empty["lags"]).all()
    single = replace(trial([1]), words=("swamp",), times=(900,))
    c = curves(counts([single], 1))
    assert c["position"].tolist() == c["first"].tolist() == [1.0] and not len(c["lags"])
    assert np.isnan(curves(counts([], 6))["position"]).all()


class Noted(ReferenceCMR):
    """The reference, which notes its questions and uses."""

    def __init__(self) -> None:
        super().__init__()
        self.questions: list[Query] = []
        self.used: list[str] = []
        self.told: list[Event] = []

    def encode(self, events: Sequence[Event]) -> None:
        self.told += events
        super().encode(events)

    def retrieve(self, query: Query, k: int, learn: bool = False) -> Retrieved:
        self.questions.append(query)
        return super().retrieve(query, k, learn)

    def use(self, answer: Retrieved, ids: Sequence[str]) -> None:
        self.used += ids
        super().use(answer, ids)


EAGER = Readout(0.5, -50.0)  # never stops while a word is left


def test_the_first_question_has_no_words_and_each_next_one_the_last_recall() -> None:
    memory = Noted()
    lived = recalled_by(memory, [trial([])], EAGER, np.random.default_rng(0))
    text = {event.id: event.text for event in memory.told}
    assert [q.text for q in memory.questions] == ["", *(text[id] for id in memory.used)][:6]
    assert {q.session for q in memory.questions} == {"list 1"} == {e.session for e in memory.told}
    assert sorted(lived.trials[0].recalls) == [1, 2, 3, 4, 5, 6] and lived.refused == 0
    assert all(event.get("modality") == "v" for event in memory.told)
    apart = {round((b.time - a.time) * 3.6e6) for a, b in pairwise(memory.told)}
    assert apart == {800}


def test_words_of_the_list_before_can_intrude_and_practice_is_not_given_back() -> None:
    lists = [trial([], number=0), trial([], number=1)]
    lists[0] = replace(lists[0], words=tuple(word + "s" for word in WORDS))
    wild = Readout(50.0, -5000.0)
    lived = recalled_by(ReferenceCMR(), lists, wild, np.random.default_rng(1))
    (given,) = lived.trials
    assert given.number == 1 and {-1} < set(given.recalls) | {-1}
    assert set(given.recalls) <= {-1, 1, 2, 3, 4, 5, 6} and -1 in given.recalls
    assert lived.told == 12


def test_a_word_that_stands_twice_in_a_list_is_said_once() -> None:
    double = replace(trial([]), words=("swamp", "lava", "swamp"))
    lived = recalled_by(ReferenceCMR(), [double], EAGER, np.random.default_rng(0))
    assert len(lived.trials[0].recalls) == 2 and 2 in lived.trials[0].recalls


def test_following_a_person_notes_choices_and_the_stop() -> None:
    memory = Noted()
    choices, refused = followed_by(memory, [trial([6, -1, 5, 5, -999]), trial([], number=2)])
    assert memory.used == ["1:6", "1:5"] and refused == (0, 12)
    assert [c.chosen == STOP for c in choices] == [False, False, True, True]
    assert [len(c.support) for c in choices] == [6, 5, 4, 12]
    assert choices[0].chosen == 0  # the last word leads


def test_practice_lists_have_no_word_of_the_own_ones() -> None:
    other = replace(trial([1]), words=("swamp", "rake"), person="MTK0004")
    made = practised([trial([])], [other, replace(other, words=("mud",)), other])
    assert [t.words for t in made] == [("rake",), ("mud",)]
    assert [t.number for t in made] == [-1, 0] and made[0].recalls == ()


def test_a_gate_that_refuses_words_is_told_and_not_scored_as_forgetting() -> None:
    chosen = MechanismSet("", "", {"write_gate_cortex": {}, "dense_similarity": {}})
    memory = Hebbarium(REGISTRY.build(chosen), HashingEmbedder(16), 0)
    again = replace(trial([], number=2), words=WORDS)
    lived = recalled_by(memory, [trial([]), again], EAGER, np.random.default_rng(0))
    assert lived.told == 12 and lived.refused == sum(
        row < 0 for row in memory.engine.event_log.row_of
    )
    assert lived.refused > 0


class Made(ReferenceCMR):
    """A memory that also answers with units of its own."""

    def retrieve(self, query: Query, k: int, learn: bool = False) -> Retrieved:
        unit = RetrievedEvent("row 7", 9.0, "a gist", ("1:1",))
        return Retrieved((unit, *super().retrieve(query, k).events))


def test_units_that_a_memory_made_are_no_words() -> None:
    lived = recalled_by(Made(), [trial([])], EAGER, np.random.default_rng(0))
    assert sorted(lived.trials[0].recalls) == [1, 2, 3, 4, 5, 6]


def test_recalls_depend_on_the_stream_alone() -> None:
    lists = [trial([]), trial([], number=2)]
    for seed in (3, 4):
        first, second = (
            recalled_by(ReferenceCMR(), lists, Readout(1.0, 0.0), np.random.default_rng(seed))
            for _ in range(2)
        )
        assert first == second
    assert free_recall.texts_of(lists) == list(WORDS)
