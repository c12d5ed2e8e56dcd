"""Our own system answers as its engine does."""

from __future__ import annotations

from typing import Any

import pytest

from hebbarium.benchmarks.datasets import Question, load
from hebbarium.benchmarks.execution.cells import by_session
from hebbarium.benchmarks.systems.base import Capability, ReportsReceipts, Retrieved
from hebbarium.benchmarks.systems.hebbarium import Hebbarium, capabilities_of, unread_signals
from hebbarium.engine.arms.counterfactual import ranks_changed
from hebbarium.engine.base.errors import ContractError
from hebbarium.engine.catalogue.registry import MechanismSet, Registry
from hebbarium.engine.contract.columns import Phase
from hebbarium.engine.contract.drafts import Draft, Kind
from hebbarium.engine.contract.records import Event, Query
from hebbarium.engine.contract.vocabulary import DRAFTS, FUSED, KIND, RECALLED, SIGNALS, VISIBLE
from hebbarium.engine.flow.observer import Observer
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.testing.small import by_number, does, mechanism, score

GATED = {
    "dense_similarity",
    "lexical_bm25",
    "convex_fusion",
    "write_gate_true_memory",
    "base_level_activation",
}
EVENTS = load("demo", limit=1).conversations[0].events


@pytest.fixture
def both(registry: Registry) -> tuple[Hebbarium, Engine]:
    """The system, and a bare engine that took in the same."""
    ids = sorted(GATED, key=registry.order.__getitem__)
    system = Hebbarium([registry.instance(i) for i in ids], HashingEmbedder(32), 3)
    memory = Engine(
        [registry.instance(i) for i in ids], HashingEmbedder(32), seed=3, observer=Observer()
    )
    system.encode(EVENTS)
    memory.encode_all(EVENTS)
    for one in (system, memory):
        one.advance(EVENTS[-1].time + 30.0)
    return system, memory


def test_hits_are_the_engines_answer(both: tuple[Hebbarium, Engine]) -> None:
    system, memory = both
    for event in EVENTS[::17]:
        query = Query(event.text)
        hits, answer = system.retrieve(query, 5), memory.retrieve(query, 5)
        assert [hit.id for hit in hits.events] == [memory.event(row).id for row in answer.rows]
        assert [hit.score for hit in hits.events] == answer.scores.tolist()
        assert [hit.text for hit in hits.events] == [memory.event(row).text for row in answer.rows]


def test_every_event_that_was_stored_has_its_exact_rank(both: tuple[Hebbarium, Engine]) -> None:
    """Ranks are a permutation that the whole ordering gives; what a gate rejected or was never
    encoded has none.
    """
    system, memory = both
    query = Query(EVENTS[4].text)
    hits, everything = system.retrieve(query, 3), memory.retrieve(query, len(EVENTS))
    places = {memory.event(row).id: place for place, row in enumerate(everything.rows, 1)}
    assert len(hits.events) == 3 and {e.id: hits.rank_of(e.id) for e in EVENTS} == {
        e.id: places.get(e.id) for e in EVENTS
    }
    assert hits.rank_of("never seen") is None and 10 < len(places) < len(EVENTS), (
        "the gate rejects some"
    )


def test_receipts_are_those_of_the_observer_and_the_counterfactual(
    both: tuple[Hebbarium, Engine],
) -> None:
    system, memory = both
    assert isinstance(system, ReportsReceipts) and Capability.RECEIPTS in system.capabilities
    query = Query(EVENTS[4].text)
    system.retrieve(query, 10)
    memory.retrieve(query, 10)
    found: Any = memory.observer
    for id, receipt in system.receipts().items():
        assert (receipt["calls"], receipt["values_changed"]) == (
            found.receipts[id].calls,
            found.receipts[id].values_changed,
        )
        assert (
            ("vetoed" in receipt)
            == (found.receipts[id].votes is not None)
            == (id == "write_gate_true_memory")
        )
    gate = system.receipts()["write_gate_true_memory"]
    stored = sum(memory.event_log.row(e.id) >= 0 for e in EVENTS)
    assert gate | {"calls": 0, "values_changed": 0} == {
        "calls": 0,
        "values_changed": 0,
        "judged": len(EVENTS),
        "stored": stored,
        "merged": 0,
        "vetoed": len(EVENTS) - stored,
        "decided": len(EVENTS) - stored,
    }
    assert set(system.receipts()) == GATED
    assert (
        system.ranks_changed(query) == ranks_changed(memory, query)
        and sum(system.ranks_changed(query).values()) > 0
    )
    assert set(system.phase_ms()) == {"encode", "consolidate", "retrieve", "maintain"} and len(
        system.phase_ms()["encode"]
    ) == len(EVENTS)


def test_mechanisms_that_cannot_be_scheduled_together_are_refused(registry: Registry) -> None:
    with pytest.raises(ContractError):
        unread_signals([registry.instance("convex_fusion"), registry.instance("weighted_rrf")])


def test_capabilities_follow_from_the_hooks(registry: Registry) -> None:
    """A hook that consolidates, one that reads what was recalled, one that sets VISIBLE; a
    memory of none of them can do none of it.
    """
    always = {Capability.RECEIPTS, Capability.RANKS_ALL}
    learns = mechanism("learns", does(Phase.RETRIEVE, lambda v, _: None, reads=[RECALLED], sets=[]))
    archives = mechanism("archives", does(Phase.MAINTAIN, lambda v, _: None, sets=[VISIBLE]))
    assert capabilities_of([]) == capabilities_of([by_number()]) == always
    for one, found in ((learns, Capability.LEARNS), (archives, Capability.ARCHIVES)):
        assert capabilities_of([by_number(), one]) == always | {found}
    for name, learning in (("hybrid", False), ("default", True)):
        system = Hebbarium(registry.build(registry.set(name)), HashingEmbedder(8), 0)
        assert (Capability.LEARNS in system.capabilities) == learning
        assert system.capabilities == capabilities_of(registry.build(registry.set(name)))
    assert Capability.SLEEPS in capabilities_of(built(registry, "gist_compression"))


def built(registry: Registry, *ids: str, **weights: float) -> list[Any]:
    return registry.build(
        MechanismSet(
            "mine", "", {id: {"weight": weights[id]} if id in weights else {} for id in ids}
        )
    )


def test_signals_that_nothing_reads_are_found_from_the_schedule(registry: Registry) -> None:
    """Recency is an indirect signal: a fusion reads it, the match does not."""
    alone = built(registry, "dense_similarity", "lexical_bm25", "recency")
    assert unread_signals(alone) == {"recency": ("recency",)}
    for fusion in ("convex_fusion", "weighted_rrf"):
        assert unread_signals([*alone, *built(registry, fusion)]) == {}
    assert unread_signals(built(registry, "dense_similarity", "recency", recency=0.0)) == {}, (
        "a signal without weight changes nothing anyway"
    )


def test_a_reader_off_the_way_to_the_answer_does_not_count() -> None:
    """One mechanism reads another's signal for a signal of its own, which nothing reads."""
    mine, other = score("mine", direct=False), score("other", direct=False)
    scores = mechanism("scores", does(Phase.RETRIEVE, lambda v, _: None, sets=[mine]), owns=[mine])
    reads = mechanism(
        "reads", does(Phase.RETRIEVE, lambda v, _: None, reads=[mine], sets=[other]), owns=[other]
    )
    assert unread_signals([scores, reads, by_number()]) == {
        "scores": ("mine",),
        "reads": ("other",),
    }
    fuses = mechanism("fuses", does(Phase.RETRIEVE, lambda v, _: None, reads=[other], sets=[FUSED]))
    assert unread_signals([scores, reads, fuses, by_number()]) == {}, (
        "on the way now: one through the other"
    )
    learns = mechanism(
        "learns", does(Phase.RETRIEVE, lambda v, _: None, reads=[RECALLED, SIGNALS], sets=[])
    )
    assert set(unread_signals([scores, reads, learns, by_number()])) == {"scores", "reads"}, (
        "what is read after the answer cannot change it"
    )


def test_a_gold_event_counts_at_the_first_unit_that_shows_it() -> None:
    """The bundle of e1 and e2 comes first, then e0, then e2; the summary of e0 shows no event."""
    place = score("place")

    def make(view: Any, tick: Any) -> None:
        if len(view.kind) == 3:
            view.drafts.add(Draft("two in one", Kind.BUNDLE, (1, 2)))
            view.drafts.add(Draft("about it", Kind.SUMMARY, (0,)))

    def ask(view: Any, cue: Any) -> None:
        view.place[...] = [3.0, 0.0, 2.0, 4.0, 1.0]

    system = Hebbarium(
        [
            mechanism(
                "maker",
                does(Phase.CONSOLIDATE, make, reads=[KIND], adds=[DRAFTS]),
                does(Phase.RETRIEVE, ask, sets=[place]),
                owns=[place],
            )
        ],
        HashingEmbedder(16),
        0,
    )
    system.encode([Event(float(i), f"text {i}", id=f"e{i}", session=f"s{i}") for i in range(3)])
    system.advance(48.0)
    found = system.retrieve(Query("anything"), 4)
    assert [(hit.id, hit.events) for hit in found.events] == [
        ("row 3", ("e1", "e2")),
        ("e0", ()),
        ("e2", ()),
        ("row 4", ()),
    ]
    assert {id: found.rank_of(id) for id in ("e0", "e1", "e2", "e9")} == {
        "e0": 2,
        "e1": 1,
        "e2": 1,
        "e9": None,
    }
    plain = Retrieved(found.events)
    assert [plain.rank_of(id) for id in ("e0", "e1", "e2")] == [2, 1, 1]
    question = Question("q", "anything", 48.0, "c", ("e2",))
    sessions = by_session(
        question, found, [Event(float(i), "", id=f"e{i}", session=f"s{i}") for i in range(3)]
    )[1]
    assert [hit.id for hit in sessions.events] == ["s1", "s2", "s0", "row 4"] and sessions.rank_of(
        "s2"
    ) == 2
