"""Our own system answers as its engine does."""
from __future__ import annotations

from typing import Any

import pytest

from hebbarium.benchmarks.datasets import load
from hebbarium.benchmarks.systems.base import Capability, ReportsReceipts
from hebbarium.benchmarks.systems.hebbarium import Hebbarium, check
from hebbarium.engine.counterfactual import ranks_changed
from hebbarium.engine.errors import ContractError
from hebbarium.engine.loop import Engine
from hebbarium.engine.observer import Observer
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.records import Query
from hebbarium.engine.registry import Registry

GATED = {"dense_similarity", "lexical_bm25", "convex_fusion", "write_gate_true_memory", "base_level_activation"}
EVENTS = load("demo", limit=1).conversations[0].events


@pytest.fixture
def both(registry: Registry) -> tuple[Hebbarium, Engine]:
    """The system, and a bare engine that took in the same."""
    ids = sorted(GATED, key=registry.order.__getitem__)
    system = Hebbarium([registry.instance(i) for i in ids], HashingEmbedder(32), 3)
    memory = Engine([registry.instance(i) for i in ids], HashingEmbedder(32), seed=3, observer=Observer())
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
        assert [hit.id for hit in hits.hits] == [memory.event(row).id for row in answer.rows]
        assert [hit.score for hit in hits.hits] == answer.scores.tolist()
        assert [hit.text for hit in hits.hits] == [memory.event(row).text for row in answer.rows]


def test_every_event_that_was_stored_has_its_exact_rank(both: tuple[Hebbarium, Engine]) -> None:
    """Ranks are a permutation that the whole ordering gives; what a gate rejected or was never encoded has none."""
    system, memory = both
    query = Query(EVENTS[4].text)
    hits, everything = system.retrieve(query, 3), memory.retrieve(query, len(EVENTS))
    places = {memory.event(row).id: place for place, row in enumerate(everything.rows, 1)}
    assert len(hits.hits) == 3 and {e.id: hits.rank_of(e.id) for e in EVENTS} == {e.id: places.get(e.id) for e in EVENTS}
    assert hits.rank_of("never seen") is None and 10 < len(places) < len(EVENTS), "the gate rejects some"


def test_receipts_are_those_of_the_observer_and_the_counterfactual(both: tuple[Hebbarium, Engine]) -> None:
    system, memory = both
    assert isinstance(system, ReportsReceipts) and Capability.RECEIPTS in system.capabilities
    query = Query(EVENTS[4].text)
    system.retrieve(query, 10)
    memory.retrieve(query, 10)
    found: Any = memory.observer
    assert system.receipts() == {i: {"calls": found.receipts[i].calls, "cells_changed": found.receipts[i].cells_changed} for i in system.receipts()}
    assert set(system.receipts()) == GATED
    assert system.ranks_changed(query) == ranks_changed(memory, query) and sum(system.ranks_changed(query).values()) > 0
    assert set(system.phase_ms()) == {"encode", "consolidate", "retrieve", "maintain"} and len(system.phase_ms()["encode"]) == len(EVENTS)


def test_mechanisms_that_cannot_be_scheduled_together_are_refused(registry: Registry) -> None:
    with pytest.raises(ContractError):
        check([registry.instance("convex_fusion"), registry.instance("weighted_rrf")])
