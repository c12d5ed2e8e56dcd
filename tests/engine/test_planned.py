"""Plans over one memory: answers and state are those of memories of their own, and what is not
the same life is refused.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hebbarium.engine.arms.counterfactual import Counterfactual
from hebbarium.engine.arms.variants import Variants
from hebbarium.engine.base.errors import ContractError, InputError
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.columns import Phase, Scope
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import CREATED, RECALLED
from hebbarium.engine.flow.lives import decides, life_of
from hebbarium.engine.flow.observer import Observer
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.testing.conformance import simulated, talk
from hebbarium.testing.small import by_number, column, does, mechanism, memory, numbered, score

REGISTRY = Registry.read()
QUESTIONS = ("Who painted Oslo with Bo?", "What did Ada do in Lisbon on day 12?", "")


def built(name: str, *off: str, **weights: float) -> Any:
    chosen = (
        REGISTRY.set(name).without(off).overridden({id: {"weight": w} for id, w in weights.items()})
    )
    return REGISTRY.build(chosen)


def lived(mechanisms: Any, **options: Any) -> Any:
    from hebbarium.engine.memory.engine import Engine

    return simulated(Engine(mechanisms, HashingEmbedder(32), **options), talk(), learn=False)


def test_a_plan_answers_as_a_memory_of_its_own() -> None:
    one = lived(built("minimal", "trigram_match"))
    before = one.digest()
    for mechanisms in (
        built("minimal"),
        built("minimal", "trigram_match", "query_intent"),
        built("minimal", lexical_bm25=0.1, recency=0.9),
    ):
        other, plan = lived(mechanisms), Variants(one).plan_for(mechanisms)
        for text in QUESTIONS:
            mine, theirs = Variants(one).retrieve(text, 10, plan), other.retrieve(text)
            assert (
                mine.rows.tolist() == theirs.rows.tolist()
                and mine.final.tobytes() == theirs.final.tobytes()
            )
            assert mine.scores.tobytes() == theirs.scores.tobytes() and mine.asked is None
    assert one.digest() == before, "plans change no state"
    assert (
        one.retrieve(QUESTIONS[0]).rows.tolist()
        == lived(built("minimal", "trigram_match")).retrieve(QUESTIONS[0]).rows.tolist()
    )


def test_columns_of_a_plan_are_guests_that_no_snapshot_has(tmp_path: Path) -> None:
    """The edge and memory columns of a mechanism that learns from recall stand at neutral, and
    are neither saved nor digested.
    """
    more = REGISTRY.build(REGISTRY.set("minimal").without([]))
    sampling = REGISTRY.instance("sampling_recovery")
    assert not decides(sampling)
    one = lived(more, path=tmp_path / "one.db")
    before = one.digest()
    Variants(one).plan_for([*more, sampling])
    guests = list(one.store.guests)
    assert {g.scope for g in guests} >= {Scope.EDGE, Scope.MEMORY} and set(guests) == set(
        sampling.owns
    )
    for guest in guests:
        if guest.persists:
            np.testing.assert_array_equal(
                one.store.array(guest), np.full(one.store.array(guest).shape, guest.neutral)
            )
    assert one.digest() == before and not set(one.store.columns) & set(guests)
    one.encode(Event(one.now, "number 1"))
    one.close()
    from hebbarium.engine.memory.engine import Engine

    assert Engine(more, HashingEmbedder(32), path=tmp_path / "one.db").store.n == len(talk()) + 1


def test_another_life_is_refused_by_its_first_difference() -> None:
    one = lived(built("minimal"))
    with pytest.raises(InputError, match="another life: recency is on there and off here"):
        Variants(one).plan_for(built("minimal", "recency"))
    changed = REGISTRY.build(REGISTRY.set("minimal").overridden({"recency": {"half_life": 3.0}}))
    with pytest.raises(InputError, match=r"recency.half_life is .* there and 3.0 here"):
        Variants(one).plan_for(changed)


def test_a_plan_belongs_to_one_memory_which_learns_nothing_from_its_answers() -> None:
    one, other = lived(built("minimal")), lived(built("minimal"))
    plan = Variants(one).plan_for(built("minimal"))
    with pytest.raises(InputError, match="another memory"):
        Variants(other).retrieve("Oslo", 10, plan)
    with pytest.raises(InputError, match="no answer of a memory"):
        one.use(Variants(one).retrieve("Oslo", 10, plan), ())


def test_an_observer_of_a_plan_sees_its_mechanisms_only() -> None:
    observer, mine = Observer(), Observer()
    one = lived(built("minimal"), observer=mine)
    # the first question would compute it, and that is the memory's own
    one.column("log_strength")
    before = {id: receipt.calls for id, receipt in mine.receipts.items()}
    plan = Variants(one).plan_for(built("minimal", "trigram_match"), observer)
    Variants(one).retrieve(QUESTIONS[0], 10, plan)
    assert (
        observer.receipts["lexical_bm25"].calls == 1
        and "trigram_match" not in observer.receipts
        and len(observer.phase_ms[Phase.RETRIEVE]) == 1
    )
    assert {id: receipt.calls for id, receipt in mine.receipts.items()} == before
    changed = Counterfactual(one, plan).ranks_changed(QUESTIONS[0])
    assert changed.keys() == {m.id for m in plan.mechanisms} and changed["lexical_bm25"] > 0
    other = lived(built("minimal", "trigram_match"), observer=Observer())
    assert changed == Counterfactual(other).ranks_changed(QUESTIONS[0])


def test_a_name_that_is_taken_is_refused() -> None:
    counting = by_number()
    one = memory(counting)
    one.encode_all(numbered(3, 9))
    signal = score("number_held", floor=1.0)
    twin = mechanism(
        "twin", does(Phase.RETRIEVE, lambda view, cue: None, sets=[signal]), owns=[signal]
    )
    with pytest.raises(ContractError, match="called 'number_held'"):
        Variants(one).plan_for([counting, twin])


def test_what_reads_recalled_decides_a_life_in_which_queries_learn() -> None:
    own = column("told")
    learner = mechanism(
        "learner",
        does(Phase.RETRIEVE, lambda view, cue: None, reads=[RECALLED], adds=[own]),
        owns=[own],
    )
    reader = mechanism("reader", does(Phase.RETRIEVE, lambda view, cue: None, reads=[CREATED]))
    assert life_of([learner, reader]) == {} and life_of([reader], recall=True) == {}
    assert life_of([learner, reader], recall=True).keys() == {"learner", "reader"}


def test_votes_on_worth_decide_a_life_only_with_a_capacity(registry: Registry) -> None:
    heat = registry.instance("heat")
    assert life_of([heat]) == {} and life_of([heat], limited=True).keys() == {"heat"}
