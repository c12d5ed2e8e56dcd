"""Routes: chains that are derived by hand from the declarations, and what they do not pass."""

from __future__ import annotations

from typing import Any

import pytest

from hebbarium.benchmarks.influence.routes import RouteEnd, Routes, shortest
from hebbarium.engine.catalogue.registry import MechanismSet, Registry
from hebbarium.engine.contract.columns import Phase, Scope
from hebbarium.engine.contract.vocabulary import (
    ACTIVATION,
    DETAIL,
    FACET_WEIGHTS,
    FUSED,
    HIPPOCAMPAL_DEPENDENCE,
    LOG_FACETS,
    LOG_STRENGTH,
    MATCH,
    RANDOM,
    RECALLED,
    REWEIGHTED,
    ROW,
    SIGNALS,
    SLEEP_END,
    SURPRISE,
    VETO,
    VISIBLE,
)
from hebbarium.testing.small import Weighted, column, does, mechanism, score


def idle(phase: Phase, **declared: Any) -> Any:
    return does(phase, lambda v, _: None, **declared)


FUSION = mechanism("fusion", idle(Phase.RETRIEVE, reads=[SIGNALS, FACET_WEIGHTS], sets=[FUSED]))


def chains(id: str, *mechanisms: Any) -> list[str]:
    return [" -> ".join(r.chain) for r in Routes(mechanisms).of(id)]


def used(name: str, reads: list[Any], **how: Any) -> Any:
    """A mechanism with a signal of this name that reads some columns."""
    out = score(name, **how)
    return mechanism(name, idle(Phase.RETRIEVE, reads=reads, sets=[out]), owns=[out])


def test_a_column_reaches_the_signal_that_reads_it_and_the_fusion() -> None:
    giver = mechanism("giver", idle(Phase.MAINTAIN, sets=[ACTIVATION]))
    assert chains("giver", giver, used("warm", [ACTIVATION]), FUSION) == [
        "activation -> warm -> fused"
    ]
    assert chains("warm", giver, used("warm", [ACTIVATION]), FUSION) == ["warm -> fused"]
    assert chains("fusion", giver, used("warm", [ACTIVATION]), FUSION) == ["fused"]


def test_without_a_fusion_the_direct_signals_end_in_the_match_and_the_indirect_ones_nowhere() -> (
    None
):
    giver = mechanism("giver", idle(Phase.MAINTAIN, sets=[ACTIVATION]))
    assert chains("giver", giver, used("warm", [ACTIVATION])) == ["activation -> warm -> match"]
    assert chains("giver", giver, used("warm", [ACTIVATION], direct=False)) == []


def test_the_match_leads_from_a_direct_signal_to_an_indirect_one() -> None:
    assert chains("first", used("first", []), used("later", [MATCH], direct=False), FUSION) == [
        "first -> fused",
        "first -> match -> later -> fused",
    ]


def test_a_chain_passes_the_columns_of_other_mechanisms_and_takes_the_fewest_steps() -> None:
    middle = column("middle", Scope.MEMORY)
    giver = mechanism(
        "giver", idle(Phase.MAINTAIN, adds=[LOG_STRENGTH]), idle(Phase.ENCODE, sets=[SURPRISE])
    )
    keeper = mechanism(
        "keeper", idle(Phase.CONSOLIDATE, reads=[LOG_STRENGTH], sets=[middle]), owns=[middle]
    )
    assert chains("giver", giver, keeper, used("far", [middle]), FUSION) == [
        "log_strength -> middle -> far -> fused"
    ]
    assert chains("giver", giver, keeper, used("far", [middle, LOG_STRENGTH]), FUSION) == [
        "log_strength -> far -> fused"
    ]


def test_a_column_of_the_event_is_not_read_in_another_phase() -> None:
    giver = mechanism("giver", idle(Phase.ENCODE, sets=[SURPRISE]))
    assert chains("giver", giver, used("warm", [SURPRISE]), FUSION) == []
    taker = mechanism("taker", idle(Phase.ENCODE, reads=[SURPRISE, ROW], sets=[ACTIVATION]))
    assert chains("giver", giver, taker, used("warm", [ACTIVATION]), FUSION) == [
        "surprise -> activation -> warm -> fused"
    ]


def test_facets_and_stages() -> None:
    weigher = mechanism("weigher", idle(Phase.RETRIEVE, adds=[LOG_FACETS]))
    (route,) = Routes([weigher, used("warm", []), FUSION]).of("weigher")
    assert (route.kind, route.chain, route.hops) == (
        RouteEnd.FACETS,
        ("log_facets", "facet_weights", "fused"),
        1,
    )
    trace = column("trace", Scope.MEMORY)
    rival = mechanism(
        "rival",
        idle(Phase.RETRIEVE, reads=[FUSED, trace], sets=[REWEIGHTED]),
        idle(Phase.RETRIEVE, reads=[RECALLED], sets=[trace]),
        owns=[trace],
    )
    (route,) = Routes([rival, used("warm", []), FUSION]).of("rival")
    assert (route.kind, route.chain, route.after_recall) == (RouteEnd.STAGE, ("reweighted",), False)
    assert chains("warm", rival, used("warm", []), FUSION) == ["warm -> fused"]


def test_gates_end_a_chain() -> None:
    judge = mechanism("judge", idle(Phase.ENCODE, adds=[VETO]))
    hider = mechanism("hider", idle(Phase.CONSOLIDATE, sets=[VISIBLE]))
    short = mechanism("short", idle(Phase.CONSOLIDATE, sets=[DETAIL]))
    everything = [judge, hider, short, used("warm", [VISIBLE, DETAIL]), FUSION]
    found = {m.id: Routes(everything).of(m.id) for m in everything[:3]}
    assert {id: [(r.kind, r.chain) for r in routes] for id, routes in found.items()} == {
        "judge": [(RouteEnd.ADMISSION, ("veto",))],
        "hider": [(RouteEnd.ARCHIVE, ("visible",))],
        "short": [(RouteEnd.CONDENSED, ("detail",))],
    }
    assert all(shortest(routes) == routes for routes in found.values())


def test_what_recall_changes_is_marked_and_the_answer_leads_nowhere() -> None:
    tried = column("tried", Scope.MEMORY)
    tester = mechanism(
        "tester", idle(Phase.RETRIEVE, reads=[RECALLED, MATCH], sets=[tried]), owns=[tried]
    )
    learner = [tester, used("first", []), used("warm", [tried]), FUSION]
    (route,) = Routes(learner).of("tester")[:1]
    assert route.chain == ("tried", "warm", "fused") and route.after_recall
    assert "tried" not in {name for r in Routes(learner).of("first") for name in r.chain}


def test_the_time_of_sleep_reaches_what_sleep_writes() -> None:
    sleeper = mechanism("sleeper", idle(Phase.ENCODE, sets=[SLEEP_END]))
    dreamer = mechanism("dreamer", idle(Phase.CONSOLIDATE, sets=[HIPPOCAMPAL_DEPENDENCE]))
    assert chains("sleeper", sleeper, dreamer, used("warm", [HIPPOCAMPAL_DEPENDENCE]), FUSION) == [
        "sleep_end -> hippocampal_dependence -> warm -> fused"
    ]


def test_random_streams_and_signals_without_a_weight_are_no_way() -> None:
    giver = mechanism("giver", idle(Phase.MAINTAIN, sets=[ACTIVATION, RANDOM]))
    warm = used("warm", [ACTIVATION])
    assert chains("giver", giver, warm, FUSION) == ["activation -> warm -> fused"]
    assert chains("giver", giver, type(warm)("warm", Weighted(1.0, 0.0)), FUSION) == []


# By hand from the declarations of the modules: (mechanism, its nearest chains).
BY_HAND = {
    "dense_similarity": ["dense -> fused"],
    "heat": ["heat -> fused"],
    "temporal_context": ["context -> fused"],
    "query_intent": ["log_facets -> facet_weights -> fused"],
    "base_level_activation": [
        "activation -> heat -> fused"
    ],  # maintain sets ACTIVATION, heat.score reads it
    "synaptic_tagging": [
        "log_strength -> heat -> fused"
    ],  # maintain adds to LOG_STRENGTH, heat.score reads it
    "convex_fusion": ["fused"],
}


@pytest.mark.parametrize("id", BY_HAND)
def test_routes_of_minimal_are_those_derived_by_hand(id: str, registry: Registry) -> None:
    routes = Routes(registry.build(registry.set("minimal")))
    assert [" -> ".join(r.chain) for r in shortest(routes.of(id))] == BY_HAND[id]


def test_a_gate_of_the_registry_ends_in_admission_alone(registry: Registry) -> None:
    """write_gate_cortex adds to VETO and writes nothing else."""
    (found,) = Routes(
        registry.build(MechanismSet("", "", {"write_gate_cortex": {}, "dense_similarity": {}}))
    ).of("write_gate_cortex")
    assert (found.kind, found.chain) == (RouteEnd.ADMISSION, ("veto",))
