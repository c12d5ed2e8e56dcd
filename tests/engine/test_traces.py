"""Traces: a memory without a mechanism that left none has lived the same life, and a plan
without it answers as that memory would.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from hebbarium.engine.arms.traces import Traces
from hebbarium.engine.arms.variants import Variants
from hebbarium.engine.base.errors import InputError
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.columns import Phase, Scope
from hebbarium.engine.contract.vocabulary import (
    CHRONOLOGICAL,
    ENCODING_STRENGTH,
    GRAPH,
    HIDE,
    IMPORTANCE,
    LOG_STRENGTH,
    RANDOM,
    ROW,
    SALIENCE,
    SUFFICIENCY,
    SURPRISE,
    VETO,
)
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.state.graph import EdgeType
from hebbarium.testing.conformance import simulated, talk
from hebbarium.testing.small import by_number, column, does, mechanism

REGISTRY = Registry.read()
QUESTIONS = (
    "Who painted Oslo with Bo?",
    "What did Ada do in Lisbon on day 12?",
    "When did Cleo sail?",
    "",
)


def lived(mechanisms: Any) -> tuple[Engine, Traces]:
    traces = Traces(mechanisms)
    return simulated(
        Engine(mechanisms, HashingEmbedder(32), observer=traces), talk(), learn=False
    ), traces


def left(*mechanisms: Any) -> set[str]:
    return lived([by_number(order=9), *mechanisms])[1].left - {"engine.store"}


def nothing(view: Any, what: Any) -> None: ...


def test_a_trace_is_a_change_of_what_others_can_read() -> None:
    """What a mechanism keeps to itself is none, and neither is a vote of 0, a value that is set
    as it stood, or a random number that was drawn.
    """
    held = column("held")

    def keep(view: Any, what: Any) -> None:
        view.held[...] += view.random.random()

    def same(view: Any, what: Any) -> None:
        view.surprise = view.surprise
        view.veto += 0

    def other(view: Any, what: Any) -> None:
        view.surprise = 0.5

    alone = mechanism("alone", does(Phase.MAINTAIN, keep, sets=[held, RANDOM]), owns=[held])
    assert left(alone) == set()
    reader = mechanism("reader", does(Phase.RETRIEVE, nothing, reads=[held]), order=1)
    assert left(alone, reader) == {
        next(
            n for n in lived([alone])[0].assembly.phases[Phase.MAINTAIN] if n.owner == "alone"
        ).label
    }
    assert left(mechanism("same", does(Phase.ENCODE, same, sets=[SURPRISE], adds=[VETO]))) == set()
    assert len(left(mechanism("other", does(Phase.ENCODE, other, sets=[SURPRISE])))) == 1


def test_contributions_edges_and_steps_of_the_engine_leave_traces() -> None:
    def add(view: Any, what: Any) -> None:
        view.log_strength += 0.1

    def strengthen(view: Any, what: Any) -> None:
        view.encoding_strength += 0.5

    def link(view: Any, what: Any) -> None:
        if view.row:
            view.graph.add(view.row, view.row - 1, EdgeType.TEMPORAL, 0.0)

    def name(view: Any, what: Any) -> None:
        view.graph.entity("nobody has said this")

    assert len(left(mechanism("adds", does(Phase.MAINTAIN, add, adds=[LOG_STRENGTH])))) == 1
    assert {"engine.imprint", "engine.carry"} < left(
        mechanism("stronger", does(Phase.ENCODE, strengthen, adds=[ENCODING_STRENGTH]))
    )
    assert left(mechanism("idle", does(Phase.ENCODE, nothing, adds=[ENCODING_STRENGTH]))) == set()
    for function in (link, name):
        assert (
            len(left(mechanism("links", does(Phase.ENCODE, function, reads=[ROW], adds=[GRAPH]))))
            == 1
        )
    assert left(mechanism("looks", does(Phase.ENCODE, nothing, reads=[ROW], adds=[GRAPH]))) == set()


def test_steps_that_the_memory_would_not_have_are_named() -> None:
    """They include the engine's own, which stand for the mechanism that is missing: what they
    leave counts as its trace.
    """

    def judge(view: Any, what: Any) -> None:
        view.salience = 0.9

    judging = mechanism("judging", does(Phase.ENCODE, judge, sets=[SALIENCE]))
    memory, traces = lived([by_number(order=9), judging])
    plan = Variants(memory).plan_for(
        [m for m in memory.mechanisms if m.id != "judging"], fewer=True
    )
    assert "engine.value" in plan.lacks and not traces.lived(plan) and "engine.value" in traces.left
    assert memory.column(IMPORTANCE).max() == 0.9
    assert (
        traces.lived(Variants(memory).plan_for(memory.mechanisms, fewer=True))
        and not Variants(memory).plan_for(memory.mechanisms).lacks
    )


def test_a_memory_that_would_not_sleep_lives_another_life() -> None:
    memory, _ = lived(
        [by_number(), mechanism("sleeper", does(Phase.CONSOLIDATE, nothing, adds=[HIDE]), order=1)]
    )
    with pytest.raises(InputError, match="would not sleep"):
        Variants(memory).plan_for(memory.mechanisms[:1], fewer=True)


def test_other_parameters_and_more_mechanisms_are_refused() -> None:
    memory, _ = lived(REGISTRY.build(REGISTRY.set("waking")))
    other = REGISTRY.build(REGISTRY.set("waking").overridden({"recency": {"time_scale": 2.0}}))
    with pytest.raises(InputError, match="another life"):
        Variants(memory).plan_for(other, fewer=True)
    with pytest.raises(InputError, match="another life"):
        Variants(memory).plan_for(
            [*memory.mechanisms, REGISTRY.instance("emotional_tagging_printed")], fewer=True
        )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["default", "everything"])
def test_plans_without_what_left_no_trace_answer_as_memories_of_their_own(name: str) -> None:
    """Bit for bit, and so do the columns of the question; the memory's own state, answer and
    columns stay as they are.
    """
    whole = REGISTRY.set(name)
    memory, traces = lived(REGISTRY.build(whole))
    plans = dict[str, Any]()
    for id in whole.mechanisms:
        with suppress(InputError):  # the others would run in another order
            plans[id] = Variants(memory).plan_for(
                [m for m in memory.mechanisms if m.id != id], fewer=True
            )
    plans = {id: plan for id, plan in plans.items() if traces.lived(plan)}
    deciding = [id for id, plan in plans.items() if plan.lacks]
    assert len(deciding) >= 8 and len(plans) < len(whole.mechanisms), (
        "some decide a life by declaration, and have not decided this one"
    )
    assert any(plan.rest for plan in plans.values()) and any(
        plan.rest is None for plan in plans.values()
    )
    chosen = [*deciding[::5], *[id for id in plans if id not in deciding][::5]]
    others = {id: lived(REGISTRY.build(whole.without([id])))[0] for id in chosen}
    before = memory.digest()
    for question in QUESTIONS:
        mine, columns = (
            memory.retrieve(question),
            {c: memory.store.array(c).copy() for c in memory.store.columns if not c.persists},
        )
        wanted = (CHRONOLOGICAL, SUFFICIENCY)
        found = Variants(memory).again(mine, [plans[id] for id in chosen], wanted)
        for id, (answer, values) in zip(chosen, found, strict=True):
            alone = others[id].retrieve(question)
            assert (
                answer.rows.tolist() == alone.rows.tolist()
                and answer.final.tobytes() == alone.final.tobytes()
            ), id
            assert (
                answer.scores.tobytes() == alone.scores.tobytes()
                and answer.answerable.tobytes() == alone.answerable.tobytes()
            ), id
            assert all(
                values[c].tobytes() == others[id].store.array(c).tobytes() for c in values
            ), id
        for kept, values in columns.items():
            np.testing.assert_array_equal(memory.store.array(kept), values)
        with pytest.raises(InputError, match="has changed since"):
            memory.retrieve(question)
            Variants(memory).again(mine, list(plans.values())[:1])
        assert mine.rows.tolist() == memory.retrieve(question).rows.tolist()
    assert memory.digest() == before


def test_a_question_must_stand_before_it_is_asked_again() -> None:
    memory, _ = lived(
        [by_number(), mechanism("idle", does(Phase.ENCODE, nothing, adds=[VETO]), order=1)]
    )
    plan = Variants(memory).plan_for(memory.mechanisms[:1], fewer=True)
    answer = memory.retrieve("Who?")
    ((other, _),) = Variants(memory).again(answer, [plan])
    assert other.rows.tolist() == memory.retrieve("Who?").rows.tolist()
    answer = memory.retrieve("Who?")
    memory.advance(memory.now + 30.0)
    with pytest.raises(InputError, match="has changed since"):
        Variants(memory).again(answer, [plan])
    stranger = lived([by_number()])[0]
    with pytest.raises(InputError, match="has changed since"):
        Variants(memory).again(stranger.retrieve("Who?"), [plan])
    with pytest.raises(InputError, match="another memory"):
        Variants(stranger).again(stranger.retrieve("Who?"), [plan])


def _asked(memory: Engine) -> Engine:
    memory.retrieve("Who?")
    return memory


def test_the_scope_of_a_column_does_not_matter() -> None:
    whole = column("whole", Scope.GLOBAL)

    def count(view: Any, what: Any) -> None:
        view.whole += 1.0

    counter = mechanism("counter", does(Phase.ENCODE, count, sets=[whole]), owns=[whole])
    assert left(counter) == set()
    assert (
        len(
            left(
                counter, mechanism("reader", does(Phase.MAINTAIN, nothing, reads=[whole]), order=1)
            )
        )
        == 1
    )
