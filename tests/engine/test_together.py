"""Plans asked together: answers of each alone, bit for bit, with steps that no parameter reaches
run once.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest
from tiers import EVERYDAY_SETS, slow_unless

from hebbarium.engine.arms.variants import Variants
from hebbarium.engine.base.errors import InputError
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.columns import Phase, Signal
from hebbarium.engine.flow.lives import decides
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.testing.conformance import simulated, talk
from hebbarium.testing.small import column, does, mechanism, memory, numbered

REGISTRY = Registry.read()
QUESTIONS = ("Who painted Oslo with Bo?", "In which order did Ada visit Lisbon and Oslo?", "")


def built(name: str, changes: dict[str, dict[str, Any]]) -> Any:
    return REGISTRY.build(REGISTRY.set(name).overridden(changes))


def require_equal(one: Engine, sets: list[Any]) -> int:
    """How many steps ran once; each answer equals that of its plan alone."""
    plans = [Variants(one).plan_for(each) for each in sets]
    together = Variants(one).parameter_arms(plans)
    before = one.digest()
    for text in QUESTIONS:
        for mine, plan in zip(Variants(one).retrieve_each(text, 10, together), plans, strict=True):
            theirs = Variants(one).retrieve(text, 10, plan)
            assert (
                mine.rows.tolist() == theirs.rows.tolist()
                and mine.final.tobytes() == theirs.final.tobytes()
            )
            assert (mine.answerable == theirs.answerable).all() and mine.units == theirs.units
            assert (mine.sufficiency, mine.chronological, mine.asked) == (
                theirs.sufficiency,
                theirs.chronological,
                None,
            )
    assert one.digest() == before
    return together.shared


@pytest.mark.parametrize("name", slow_unless(EVERYDAY_SETS, REGISTRY.sets))
def test_weights_share_every_step_before_the_match(name: str) -> None:
    mechanisms = built(name, {})
    one = simulated(Engine(mechanisms, HashingEmbedder(32)), talk(), learn=False)
    signals = [
        m.id
        for m in mechanisms
        if any(isinstance(c, Signal) for c in m.owns) and m.params.weight > 0
    ]
    if not signals:
        return
    changes: list[dict[str, dict[str, Any]]] = [{}, *({id: {"weight": 0.37}} for id in signals)]
    shared = require_equal(one, [built(name, each) for each in changes])
    scores = [
        n for n in one.assembly.phases[Phase.RETRIEVE] if any(isinstance(c, Signal) for c in n.sets)
    ]
    assert shared >= sum(all(c.direct for c in n.sets if isinstance(c, Signal)) for n in scores) > 0


@pytest.mark.slow
def test_every_number_of_a_mechanism_of_retrieval() -> None:
    """One parameter doubled at a time, of each mechanism of `everything` that decides no life."""
    mechanisms = built("everything", {})
    one = simulated(Engine(mechanisms, HashingEmbedder(32)), talk(), learn=False)
    tried = 0
    for m in mechanisms:
        for field in fields(m.params):
            value = getattr(m.params, field.name)
            if decides(m) or isinstance(value, bool) or not isinstance(value, int | float):
                continue
            try:
                other = built("everything", {m.id: {field.name: type(value)(2 * value)}})
            except Exception:  # outside the registry's bounds
                continue
            require_equal(one, [mechanisms, other])
            tried += 1
    assert tried > 20


def test_times_hold_the_steps_in_common() -> None:
    one = simulated(Engine(built("minimal", {}), HashingEmbedder(32)), talk(), learn=False)
    together = Variants(one).parameter_arms(
        [Variants(one).plan_for(built("minimal", {"recency": {"weight": w}})) for w in (0.1, 0.2)]
    )
    Variants(one).retrieve_each(QUESTIONS[0], 5, together)
    assert len(together.ms) == 2 and min(together.ms) > 0.0


@pytest.mark.slow
def test_a_structure_that_a_parameter_reaches_makes_each_plan_run_whole() -> None:
    one = simulated(Engine(built("cortex", {}), HashingEmbedder(32)), talk(), learn=False)
    sets = [built("cortex", {}), built("cortex", {"query_expansion": {"synonyms": 0.0}})]
    assert require_equal(one, sets) == 0


def test_what_is_refused() -> None:
    one, other = (
        simulated(Engine(built("minimal", {}), HashingEmbedder(32)), talk(), learn=False)
        for _ in range(2)
    )
    mine, theirs = (
        Variants(one).plan_for(built("minimal", {})),
        Variants(other).plan_for(built("minimal", {})),
    )
    fewer = Variants(one).plan_for(
        REGISTRY.build(REGISTRY.set("minimal").without(["trigram_match"]))
    )
    with pytest.raises(InputError, match="there is no plan"):
        Variants(one).parameter_arms([])
    with pytest.raises(InputError, match="another memory"):
        Variants(one).parameter_arms([mine, theirs])
    with pytest.raises(InputError, match="other steps"):
        Variants(one).parameter_arms([mine, fewer])
    with pytest.raises(InputError, match="another memory"):
        Variants(other).retrieve_each("Oslo", 3, Variants(one).parameter_arms([mine]))
    with pytest.raises(InputError):
        Variants(one).retrieve_each("Oslo", -1, Variants(one).parameter_arms([mine]))


def test_a_failing_hook_leaves_the_state(registry: Registry) -> None:
    def fails(view: Any, cue: Any) -> None:
        raise ValueError("broken")

    own = column("told")
    broken = mechanism("broken", does(Phase.RETRIEVE, fails, reads=[own]), owns=[own])
    one = memory(broken)
    one.encode_all(numbered(3, 9))
    before = one.digest()
    with pytest.raises(ValueError, match="broken"):
        Variants(one).retrieve_each(
            "3", 2, Variants(one).parameter_arms([Variants(one).plan_for([broken])])
        )
    assert one.digest() == before
