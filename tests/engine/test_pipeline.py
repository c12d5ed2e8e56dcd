"""From cue to answer: wordings, priors, votes on what may be answered, and the last stages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from hebbarium.engine.base.errors import ContractError
from hebbarium.engine.contract.columns import Phase
from hebbarium.engine.contract.records import Event, Only, Query
from hebbarium.engine.contract.vocabulary import (
    ARRANGED,
    BAN,
    CHRONOLOGICAL,
    CUES,
    FUSED,
    IMPORTANCE,
    LOG_PRIOR,
    MATCH,
    PRIMED,
    REACH,
    RELEASED,
    ROW,
    SALIENCE,
    SUFFICIENCY,
    VISIBLE,
)
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder, Vectors
from hebbarium.engine.steps.steps import primed
from hebbarium.testing.small import by_number, does, mechanism, memory, numbered, score


def asked(*mechanisms: Any, numbers: tuple[float, ...] = (1.0, 4.0, 2.0, 3.0)) -> Engine:
    e = memory(by_number(), *mechanisms)
    e.encode_all(numbered(*numbers))
    return e


def writes(column: Any, values: Any, how: str = "adds") -> Any:
    def body(view: Any, what: Any) -> None:
        getattr(view, column.name)[...] = values

    return mechanism(f"writes_{column.name}", does(Phase.RETRIEVE, body, **{how: [column]}))


# --- wordings -------------------------------------------------------------------------------------
def worded(*wordings: tuple[str, float]) -> tuple[Any, list[list[tuple[float, str]]]]:
    """A mechanism that adds these wordings at each query, and what a reader of CUES finds."""
    found: list[list[tuple[float, str]]] = []

    def add(view: Any, cue: Any) -> None:
        for text, weight in wordings:
            view.cues.add(text, weight, "test")

    def read(view: Any, cue: Any) -> None:
        found.append([(weight, each.query.text) for weight, each in view.cues])
        assert len(view.cues) == len(found[-1]) and all(
            each.query.time == cue.query.time for _, each in view.cues
        )

    heard = score("heard")
    return mechanism(
        "wordy",
        does(Phase.RETRIEVE, add, adds=[CUES]),
        does(Phase.RETRIEVE, read, reads=[CUES], sets=[heard]),
        owns=[heard],
    ), found


def test_readers_get_the_query_first_and_each_wording_once() -> None:
    wordy, found = worded(
        ("other words", 0.5),
        ("what?", 0.9),
        ("  other   words ", 0.7),
        ("other words", 0.2),
        (" ", 0.3),
    )
    e = asked(wordy)
    e.retrieve("what?")
    e.retrieve(Query("another", time=0.03))
    assert found == [
        [(1.0, "what?"), (0.7, "other words")],
        [(1.0, "another"), (0.7, "other words"), (0.9, "what?")],
    ]


@pytest.mark.parametrize("weight", [0.0, -1.0, 1.1, float("nan")])
def test_a_wording_without_a_sound_weight_is_refused(weight: float) -> None:
    e = asked(worded(("other words", weight))[0])
    with pytest.raises(ContractError, match="weight of a wording"):
        e.retrieve("what?")


def test_wordings_are_embedded_together_and_once() -> None:
    calls: list[list[str]] = []

    class Noting(HashingEmbedder):
        def embed(self, texts: Sequence[str]) -> Vectors:
            calls.append(list(texts))
            return super().embed(texts)

    e = Engine([by_number(), worded(("other words", 0.5), ("a third", 0.4))[0]], Noting(16))
    e.encode_all(numbered(1.0, 2.0))
    calls.clear()
    e.retrieve("what?")
    assert calls == [["what?"], ["other words", "a third"]]


AXES = {"what?": (1, 0, 0), "one": (0, 1, 0), "two": (0, 0, 1), "not what?": (-1, 0, 0)}


class Axes:
    """A table of vectors; other texts have the first axis.  asked: texts by call."""

    name, revision, dimensions = "axes", "1", 3

    def __init__(self) -> None:
        self.asked = list[list[str]]()

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.asked.append(list(texts))
        return np.array([AXES.get(text, (1, 0, 0)) for text in texts], dtype=np.float32)


def averaging(*wordings: tuple[str, float, tuple[str, ...]]) -> tuple[Any, list[Any]]:
    """A mechanism that adds these wordings, and the cues that a reader finds."""
    found: list[Any] = []

    def add(view: Any, cue: Any) -> None:
        for text, weight, averaged in wordings:
            view.cues.add(text, weight, "test", averaged)

    heard = score("heard")
    return mechanism(
        "averaging",
        does(Phase.RETRIEVE, add, adds=[CUES]),
        does(Phase.RETRIEVE, lambda view, cue: found.extend(view.cues), reads=[CUES], sets=[heard]),
        owns=[heard],
    ), found


def test_a_wording_may_have_the_mean_of_several_vectors() -> None:
    """The query's own text with others, which is another wording than the query; its vector is
    not asked for again.
    """
    adds, found = averaging(
        ("what?", 0.5, ("one",)),
        ("two", 0.4, ("one", " what? ")),
        ("two", 0.3, ()),
        (" what? ", 0.9, ("one", " ")),
        ("what?", 0.2, (" ",)),
        ("what?", 0.2, ()),
        ("what?", 0.6, ("not what?",)),
    )
    embedder = Axes()
    e = Engine([by_number(), adds], embedder)
    e.encode_all(numbered(1.0))
    embedder.asked.clear()
    e.retrieve("what?")
    third, half = 3**-0.5, 0.5**0.5
    due = [
        (1.0, "what?", (1, 0, 0)),
        (0.9, "what?", (half, half, 0)),
        (0.4, "two", (third, third, third)),
        (0.3, "two", (0, 0, 1)),
        (0.6, "what?", (1, 0, 0)),
    ]  # the mean of opposite vectors has no direction: the first counts
    assert [(weight, cue.query.text) for weight, cue in found] == [
        (weight, text) for weight, text, _ in due
    ]
    np.testing.assert_allclose(
        [cue.vector for _, cue in found], [vector for *_, vector in due], atol=1e-7
    )
    assert embedder.asked == [["what?"], ["one", "two", "not what?"]] and not any(
        cue.vector.flags.writeable for _, cue in found
    )
    assert found[1][1].terms == found[0][1].terms, "words are those of the text alone"


def test_the_best_wording_counts_in_dense_and_lexical_scores(build: Any) -> None:
    """Scores with a wording of weight w: the maximum over two queries asked apart, with the
    second weighted.
    """
    talk = [
        Event(float(i), text)
        for i, text in enumerate(
            ("the cat sleeps", "a red kite in the wind", "my sister paints", "the kite was torn")
        )
    ]

    def scores(text: str, *extra: Any) -> tuple[Any, Any]:
        e = build("dense_similarity", "lexical_bm25")
        e = Engine([*e.mechanisms, *extra], e.assembly.embedder)
        e.encode_all(talk)
        e.retrieve(text)
        columns = {c.name: e.column(c) for c in e.store.columns}
        return np.array(columns["dense"], np.float64), np.nan_to_num(
            np.array(columns["lexical"], np.float64)
        )

    one, other, both = (
        scores("sleepy cat"),
        scores("torn kite"),
        scores("sleepy cat", worded(("torn kite", 0.6))[0]),
    )
    np.testing.assert_allclose(
        both[0], np.maximum(one[0], np.where(other[0] > 0, 0.6 * other[0], other[0])), atol=1e-6
    )
    np.testing.assert_allclose(both[1], np.maximum(one[1], 0.6 * other[1]), atol=1e-6)


# --- priors ---------------------------------------------------------------------------------------
def test_priors_multiply_the_fused_score_on_its_range() -> None:
    e = asked(writes(LOG_PRIOR, np.log([1.0, 1.0, 3.0, 0.5])))
    answer = e.retrieve("number")
    np.testing.assert_allclose(answer.final, [0.0, 1.0, 3.0 * 1 / 3, 0.5 * 2 / 3], atol=1e-6)
    assert answer.rows.tolist() == [1, 2, 3, 0]
    np.testing.assert_allclose(e.column(FUSED), e.column(MATCH))


def test_additions_to_the_primed_score_go_on_top() -> None:
    e = asked(writes(PRIMED, [5.0, 0.0, 0.0, 0.0]), writes(LOG_PRIOR, np.log([1.0, 2.0, 1.0, 1.0])))
    np.testing.assert_allclose(e.retrieve("number").final, [5.0, 2.0, 1 / 3, 2 / 3], atol=1e-6)


def test_without_a_prior_nothing_is_rescaled() -> None:
    e = asked()
    np.testing.assert_allclose(e.retrieve("number").final, e.column(MATCH))
    assert "engine.prime" not in str(e.schedule)


def test_primed_scores_of_equal_and_hidden_memories() -> None:
    out = np.empty(3)
    primed(np.array([2.0, 2.0, 9.0]), np.array([True, True, False]), np.log([1.0, 2.0, 1.0]), out)
    np.testing.assert_allclose(out, [1.0, 2.0, 1.0])
    primed(np.array([2.0, 4.0, 1.0]), np.array([True, True, False]), np.zeros(3), out)
    np.testing.assert_allclose(out, [0.0, 1.0, 0.0])
    primed(np.array([2.0, 4.0, 3.0]), np.ones(3, np.bool_), np.array([0.0, 800.0, -800.0]), out)
    np.testing.assert_allclose(out, [0.0, np.inf, 0.0])


def test_what_a_hook_has_added_to_one_question_does_not_reach_the_next() -> None:
    """One hook adds to some questions alone and also says so twice; between them events arrive,
    so that its array moves.
    """
    given = {"loud": 2.0, "louder": 3.0}

    def prefer(view: Any, cue: Any) -> None:
        if cue.query.text in given:
            view.log_prior[0] = np.log(given[cue.query.text])
            view.log_prior[1:2] += view.log_prior[0]

    e = asked(
        mechanism("prefers", does(Phase.RETRIEVE, prefer, adds=[LOG_PRIOR])),
        numbers=(4.0, 4.0, 1.0),
    )
    for text in ("loud", "quiet", "quiet", "louder", "quiet"):
        factor = given.get(text, 1.0)
        np.testing.assert_allclose(e.retrieve(text).final[:3], [factor, factor, 0.0], atol=1e-6)
    e.encode_all([Event(100.0 + each.time, each.text) for each in numbered(*[1.0] * 600)])
    assert e.store.capacity > 256
    for text in ("quiet", "loud", "quiet"):
        np.testing.assert_allclose(e.retrieve(text).final[:2], given.get(text, 1.0), atol=1e-6)


# --- what may be answered -------------------------------------------------------------------------
def test_votes_decide_what_is_answered() -> None:
    """Row 1 is archived and reached; row 3 is banned; row 0 is archived and both reached and
    banned.
    """
    e = asked(writes(REACH, [1, 1, 0, 0]), writes(BAN, [1, 0, 0, 2]))
    e.assembly.show(1, False)
    e.assembly.show(0, False)
    answer = e.retrieve("number")
    assert answer.answerable.tolist() == [False, True, True, False] and answer.rows.tolist() == [
        1,
        2,
    ]
    assert answer.rank(3) == 0 == answer.rank(0) and answer.rank(2) == 2
    assert e.column(VISIBLE).tolist() == [False, False, True, True]
    assert [x.stages[-1].rank for x in e.explain("number", [0, 1, 2, 3])] == [0, 1, 2, 0]


def test_hidden_memories_are_scored_on_the_scale_of_the_visible_ones() -> None:
    e = asked(numbers=(1.0, 9.0, 2.0, 3.0))
    e.archive(1)
    visible = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(
        e.retrieve("number").final,
        (np.array([1.0, 9.0, 2.0, 3.0]) - visible.mean()) / visible.std(),
        rtol=1e-5,
    )


def test_the_filter_of_the_asker_is_a_vote() -> None:
    e = asked()
    assert e.retrieve(Query("number", only=Only(exclude=("e1",)))).rows.tolist() == [3, 2, 0]
    assert len(e.retrieve(Query("number", only=Only(speakers=("nobody",))))) == 0
    assert e.retrieve("number").rows.tolist() == [1, 3, 2, 0], (
        "the filter of one query is not that of the next"
    )


# --- the last steps -------------------------------------------------------------------------------
def test_the_last_stages_follow_one_another() -> None:
    last = mechanism(
        "last",
        does(
            Phase.RETRIEVE,
            lambda v, _: v.released.__setitem__(1, np.nan),
            reads=[ARRANGED],
            sets=[RELEASED],
        ),
    )
    answer = asked(last, writes(ARRANGED, [4.0, 3.0, 2.0, 1.0], "sets")).retrieve("number")
    assert answer.rows.tolist() == [0, 2, 3] and answer.rank(1) == 0 and np.isnan(answer.final[1])


def test_an_answer_that_is_held_back_is_empty() -> None:
    def hold(view: Any, cue: Any) -> None:
        view.sufficiency, view.released[...] = 0.2, np.nan

    answer = asked(
        mechanism("gate", does(Phase.RETRIEVE, hold, sets=[SUFFICIENCY, RELEASED]))
    ).retrieve("number")
    assert len(answer) == 0 and answer.sufficiency == 0.2 and not answer.chronological


def test_an_answer_in_time_has_the_same_memories_oldest_first() -> None:
    def order(view: Any, cue: Any) -> None:
        view.chronological = "order" in cue.features.words

    e = asked(mechanism("orders", does(Phase.RETRIEVE, order, sets=[CHRONOLOGICAL])))
    plain, ordered = e.retrieve("number", k=3), e.retrieve("number in order", k=3)
    assert (plain.chronological, ordered.chronological, plain.sufficiency) == (False, True, 1.0)
    found = ordered.in_time()
    assert (
        ordered.rows.tolist() == [1, 3, 2]
        and found.rows.tolist() == [1, 2, 3]
        and found.chronological
    )
    assert [hit.time for hit in found] == sorted(hit.time for hit in ordered)
    assert {hit.row: hit.score for hit in found} == {hit.row: hit.score for hit in ordered}


def test_importance_is_the_salience_at_encoding() -> None:
    seen: list[float] = []

    def judge(view: Any, incoming: Any) -> None:
        # added to the neutral 0.5, kept within 0 and 1
        view.salience = float(incoming.event.text.split()[-1]) - 0.5

    def note(view: Any, incoming: Any) -> None:
        seen.append(view.importance[view.row])

    e = asked(
        mechanism("judge", does(Phase.ENCODE, judge, adds=[SALIENCE])),
        mechanism("note", does(Phase.ENCODE, note, reads=[ROW, IMPORTANCE])),
        numbers=(0.25, 0.9, 7.0),
    )
    assert e.column(IMPORTANCE).tolist() == seen == [0.25, 0.9, 1.0]
    assert asked().column(IMPORTANCE).tolist() == [0.5] * 4
