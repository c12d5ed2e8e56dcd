"""Counterfactuals: the places that a mechanism changes are counted, and the state stays as it
is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hebbarium as hb
from hebbarium.benchmarks.datasets import load
from hebbarium.engine.arms.counterfactual import Counterfactual, ranks_changed
from hebbarium.engine.base.errors import HebbariumError, InputError
from hebbarium.engine.contract.columns import Phase, Scope
from hebbarium.engine.contract.records import Query
from hebbarium.engine.contract.vocabulary import (
    ACTIVATION,
    CREATED,
    FUSED,
    GRAPH,
    LOG_STRENGTH,
    MATCH,
    NOW,
    RANDOM,
    RECALLED,
    RERANKED,
    REWEIGHTED,
    ROW,
    SIGNALS,
    VISIBLE,
)
from hebbarium.engine.flow.observer import Observer
from hebbarium.engine.flow.passes import PhasePlan
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.state.graph import EdgeType
from hebbarium.testing.small import by_number, column, does, mechanism, memory, numbered, score


def probed(
    *mechanisms: Any, numbers: tuple[float, ...] = (1, 2, 3, 4), advance: float = 2.0
) -> dict[str, int]:
    """Places among the best that change when each mechanism is silenced."""
    e = memory(*mechanisms, observer=Observer())
    e.encode_all(numbered(*numbers))
    e.advance(advance)
    e.retrieve("number")
    before, answer = e.digest(), e.retrieve("number")
    found = ranks_changed(e, Query("number"))
    assert e.digest() == before
    np.testing.assert_array_equal(e.retrieve("number").final, answer.final)
    return found


def reverse(stage: Any, id: str = "reverse") -> Any:
    """Reverses the ranking, in one stage."""
    return mechanism(
        id,
        does(
            Phase.RETRIEVE,
            lambda v, _: np.negative(v.match, out=getattr(v, stage.name)),
            reads=[MATCH],
            sets=[stage],
        ),
    )


def idle(id: str = "idle", stage: Any = REWEIGHTED) -> Any:
    return mechanism(id, does(Phase.RETRIEVE, lambda v, _: None, sets=[stage]))


def test_without_the_only_signal_every_rank_changes() -> None:
    """Ranked 3 2 1 0 with it and 0 1 2 3 without."""
    assert probed(by_number()) == {"number": 4}


def test_a_stage_is_silenced_to_the_stage_before_not_to_zero() -> None:
    for stage in (FUSED, REWEIGHTED, RERANKED):
        assert probed(by_number(), reverse(stage), numbers=(2, 1, 4, 3)) == {
            "number": 4,
            "reverse": 4,
        }
        assert probed(by_number(), idle(stage=stage)) == {"number": 4, "idle": 0}
    assert probed(by_number(), reverse(FUSED, "first"), idle(stage=RERANKED))["idle"] == 0


def test_persistent_columns_are_silenced_for_their_readers() -> None:
    """`giver` runs in MAINTAIN only; another mechanism reads its column in RETRIEVE."""
    giver = mechanism(
        "giver",
        does(
            Phase.MAINTAIN,
            lambda v, _: np.copyto(v.activation, v.created),
            reads=[CREATED],
            sets=[ACTIVATION],
        ),
    )
    taken = score("taken")
    taker = mechanism(
        "taker",
        does(
            Phase.RETRIEVE,
            lambda v, _: np.copyto(v.taken, v.activation),
            reads=[ACTIVATION],
            sets=[taken],
        ),
        owns=[taken],
    )
    assert probed(giver, taker) == {"giver": 4, "taker": 4}


def strength(id: str, values: list[float]) -> Any:
    return mechanism(
        id,
        does(
            Phase.MAINTAIN,
            lambda v, _: np.copyto(v.log_strength, values[: len(v.log_strength)]),
            adds=[LOG_STRENGTH],
        ),
    )


def test_of_a_shared_column_only_the_own_contribution_is_removed() -> None:
    taken = score("taken")
    taker = mechanism(
        "taker",
        does(
            Phase.RETRIEVE,
            lambda v, _: np.copyto(v.taken, v.log_strength),
            reads=[LOG_STRENGTH],
            sets=[taken],
        ),
        owns=[taken],
    )
    found = probed(
        taker,
        strength("strong", [1.0, 2.0, 3.0, 4.0]),
        strength("nothing", [0.0] * 4),
        strength("little", [0.1, 0.0, 0.0, 0.0]),
    )
    assert found == {"taker": 4, "strong": 4, "nothing": 0, "little": 0}


def test_a_contribution_to_a_fresh_column_is_removed_once() -> None:
    """2 + 2 and 0 + 1 rank as 2 and 1 do; 2 - 2 and 1 - 0 would not."""
    taken = score("taken")
    taker = mechanism(
        "taker",
        does(
            Phase.RETRIEVE,
            lambda v, _: np.copyto(v.taken, v.log_strength),
            reads=[LOG_STRENGTH],
            sets=[taken],
        ),
        owns=[taken],
    )
    assert (
        probed(taker, strength("more", [2.0, 0.0]), strength("base", [2.0, 1.0]), numbers=(1, 2))[
            "more"
        ]
        == 0
    )


def test_edge_columns_are_silenced() -> None:
    trust = column("trust", Scope.EDGE, 0.0)

    def link(view: Any, _: Any) -> None:
        view.graph.add(view.row, view.row, EdgeType.SEMANTIC)

    def spread(view: Any, _: Any) -> None:
        view.spread[view.graph.source] = view.trust

    linker = mechanism("linker", does(Phase.ENCODE, link, reads=[ROW], adds=[GRAPH]))
    owner = mechanism(
        "owner",
        does(
            Phase.MAINTAIN, lambda v, _: np.copyto(v.trust, np.arange(len(v.trust))), sets=[trust]
        ),
        owns=[trust],
    )
    signal = score("spread")
    reader = mechanism(
        "reader", does(Phase.RETRIEVE, spread, reads=[GRAPH, trust], sets=[signal]), owns=[signal]
    )
    assert probed(linker, owner, reader) == {"linker": 0, "owner": 4, "reader": 4}


def test_memories_archived_by_a_mechanism_are_visible_during_the_probe_only() -> None:
    hide = mechanism(
        "hide", does(Phase.MAINTAIN, lambda v, _: v.visible.__setitem__(3, False), sets=[VISIBLE])
    )
    assert probed(hide, by_number())["hide"] == 4, "3 2 1 without it, 4 3 2 1 with the best back"


def test_a_column_that_another_sets_is_not_silenced_with_the_adder() -> None:
    weight = mechanism("adder", does(Phase.RETRIEVE, lambda v, _: None, adds=[REWEIGHTED]))
    assert probed(by_number(), reverse(REWEIGHTED), weight, numbers=(2, 1, 4, 3)) == {
        "number": 4,
        "reverse": 4,
        "adder": 0,
    }


def test_a_counterfactual_draws_no_random_numbers_and_is_not_observed() -> None:
    marks = column("marks")

    def learn(view: Any, _: Any) -> None:
        view.marks[view.recalled] += view.random.random()

    watch = Observer()
    e = memory(
        mechanism(
            "m",
            does(Phase.RETRIEVE, learn, reads=[RECALLED, NOW], sets=[marks, RANDOM]),
            owns=[marks],
        ),
        by_number(),
        observer=watch,
    )
    e.encode_all(numbered(1, 2, 3))
    e.retrieve("number", learn=True)
    before, calls, passes = (
        e.digest(),
        watch.receipts["m"].calls,
        {p: len(ms) for p, ms in watch.phase_ms.items()},
    )
    twice = Counterfactual(e)
    for _ in range(2):
        assert twice.ranks_changed("number") == ranks_changed(e, "number")
    assert (
        e.digest() == before
        and watch.receipts["m"].calls == calls
        and {p: len(ms) for p, ms in watch.phase_ms.items()} == passes
    )


def test_the_present_answer_and_columns_stay() -> None:
    """Answer, candidate columns and k of the query before are restored; ten places are compared
    whatever k was.
    """
    e = memory(by_number(), reverse(REWEIGHTED), observer=Observer())
    e.encode_all(numbered(*range(14)))
    rows = e.retrieve("number", k=3).rows
    columns = {c: np.array(e.column(c)) for c in e.store.columns}
    assert ranks_changed(e, "other words") == {"number": 0, "reverse": 10}
    for c, values in columns.items():
        np.testing.assert_array_equal(e.column(c), values, err_msg=c.name)
    np.testing.assert_array_equal(e.store.structures[RECALLED], rows)
    assert len(e.retrieve("number", k=3).rows) == 3


@pytest.mark.parametrize("stored", [0, 1])
def test_with_no_or_one_memory_no_rank_changes(stored: int) -> None:
    e = memory(by_number(), reverse(FUSED), observer=Observer())
    e.encode_all(numbered(*range(stored)))
    assert ranks_changed(e, "number") == {"number": 0, "reverse": 0}


def test_a_failure_half_way_leaves_the_state_as_it_is() -> None:
    """`picky` raises when the column of `giver` is silenced; the columns are restored, and the
    memory can be used.
    """
    giver = mechanism(
        "giver", does(Phase.MAINTAIN, lambda v, _: v.activation.fill(1.0), sets=[ACTIVATION])
    )

    def ask(view: Any, _: Any) -> None:
        if not view.activation.all():
            raise RuntimeError("silenced")
        view.picked[...] = view.activation

    picked = score("picked")
    picky = mechanism(
        "picky", does(Phase.RETRIEVE, ask, reads=[ACTIVATION], sets=[picked]), owns=[picked]
    )
    e = memory(giver, picky, observer=Observer())
    e.encode_all(numbered(1, 2))
    before = e.digest()
    with pytest.raises(RuntimeError, match="silenced"):
        ranks_changed(e, "number")
    assert e.digest() == before and e.retrieve("number").rows.tolist() == [0, 1]


def test_invalid_queries_are_refused() -> None:
    e = memory(by_number())
    with pytest.raises(InputError, match="no observer"):
        ranks_changed(e, "number")

    def fail(view: Any, _: Any) -> None:
        raise RuntimeError("half-way")

    e = memory(mechanism("m", does(Phase.ENCODE, fail)), observer=Observer())
    with pytest.raises(RuntimeError):
        e.encode(numbered(1)[0])
    with pytest.raises(HebbariumError, match="broke off"):
        ranks_changed(e, "number")


def test_silencing_a_mechanism_that_only_scores_equals_leaving_it_off() -> None:
    """An independent count: the answers of two engines, one without the mechanism, are compared
    place by place.
    """

    def filled(*mechanisms: Any, **options: Any) -> Engine:
        e = memory(*mechanisms, **options)
        e.encode_all(numbered(*np.random.default_rng(3).permutation(30).tolist()))
        return e

    whole, less = filled(by_number(), evenness(), observer=Observer()), filled(by_number())
    places = zip(whole.retrieve("number"), less.retrieve("number"), strict=True)
    assert (
        ranks_changed(whole, "number")["evenness"]
        == sum(one.row != other.row for one, other in places)
        > 0
    )


def evenness() -> Any:
    """Prefers even rows."""
    even = score("even")
    return mechanism(
        "evenness",
        does(
            Phase.RETRIEVE,
            lambda v, _: np.copyto(v.even, np.arange(len(v.even)) % 2 == 0),
            sets=[even],
        ),
        owns=[even],
    )


def test_ranks_of_rows_with_each_mechanism_silenced() -> None:
    """1 4 2 3 ranks as 4 1 3 2, turned round as 1 4 2 3; a hidden row has no rank until what
    hides it is silenced.
    """
    hider = mechanism(
        "hider",
        does(
            Phase.MAINTAIN, lambda v, _: v.visible.__setitem__(slice(2, 3), False), sets=[VISIBLE]
        ),
    )
    e = memory(by_number(), reverse(REWEIGHTED), hider, observer=Observer())
    e.encode_all(numbered(1, 4, 2, 3))
    before, answer = e.digest(), e.retrieve("number", 2)
    assert [answer.rank(row) for row in range(4)] == [1, 3, 0, 2]
    found = Counterfactual(e).ranks("number", [0, 1, 2, 3])
    assert found == {"number": (1, 2, 0, 3), "reverse": (3, 1, 0, 2), "hider": (1, 4, 2, 3)}
    assert (
        Counterfactual(e).ranks("number", []) == {"number": (), "reverse": (), "hider": ()}
        and e.digest() == before
    )
    np.testing.assert_array_equal(e.retrieve("number", 2).rows, answer.rows)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["default", "everything", "in_use", "all_mem"])
def test_running_the_steps_that_a_silence_reaches_is_running_all_steps(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a lived memory that has learnt from answers; the reference runs every step of the plan
    for every mechanism.
    """
    talk = load("demo", limit=1).conversations[0]
    with hb.memory(name, embedding="hashing:64", observer=Observer()) as e:
        e.encode_all(talk.events[:150])
        for question in talk.questions[:3]:
            e.advance(e.now + 20.0)
            e.retrieve(question.text, learn=True)
        questions, state = [q.text for q in talk.questions[3:9]], e.digest()
        found = [
            (one.ranks_changed(text), one.ranks(text, range(12)))
            for one in [Counterfactual(e)]
            for text in questions
        ]
        with monkeypatch.context() as patched:
            patched.setattr(PhasePlan, "again", lambda plan, steps, columns, what: plan.run(what))
            whole = [
                (one.ranks_changed(text), one.ranks(text, range(12)))
                for one in [Counterfactual(e)]
                for text in questions
            ]
        assert found == whole and e.digest() == state
        assert any(found[0][0].values())


def test_the_silence_of_one_signal_leaves_the_others_alone() -> None:
    calls: list[str] = []

    def counted(id: str) -> Any:
        def scored(view: Any, _: Any) -> None:
            calls.append(id)
            getattr(view, id)[...] = view.created

        signal = score(id)
        return mechanism(
            id, does(Phase.RETRIEVE, scored, reads=[CREATED], sets=[signal]), owns=[signal]
        )

    both = does(Phase.RETRIEVE, lambda v, _: calls.append("fuse"), reads=[SIGNALS], sets=[FUSED])
    e = memory(counted("one"), counted("two"), mechanism("fuse", both), observer=Observer())
    e.encode_all(numbered(1, 2, 3))
    calls.clear()
    ranks_changed(e, Query("number"))
    assert calls == ["one", "two", "fuse", "fuse", "one", "fuse", "two", "fuse"]
