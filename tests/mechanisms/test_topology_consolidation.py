"""Topology consolidation in a memory: snapshots between runs, replayed records, links of others,
and the report.
"""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hebbarium.audit.evidence.topology_consolidation import embedder_of, life, marked, records
from hebbarium.audit.specimen import Specimen
from hebbarium.engine.base.errors import InputError
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.vocabulary import VISIBLE
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.state.graph import EdgeType, Graph
from hebbarium.mechanisms.consolidation import topology_consolidation as module
from hebbarium.mechanisms.shared.topology_bank import (
    MADE_LINK,
    SHARED_LINK,
    TOPOLOGY_PLANS,
    GraphBank,
)
from hebbarium.mechanisms.shared.topology_edits import Reason
from hebbarium.mechanisms.shared.topology_report import reported, together

REGISTRY = Registry.installed()
SPECIMEN = Specimen("topology_consolidation", module)
IDS = ("dense_similarity", "topology_consolidation", "typed_expansion")


def memory_of(*ids: str, path: Path | None = None, **values: Any) -> Engine:
    chosen = [
        REGISTRY.instance(i, values if i == "topology_consolidation" else {}) for i in ids or IDS
    ]
    return Engine(chosen, embedder_of(1), consolidate_every=71.0, path=path)


def lived(memory: Engine, sessions: int = 9) -> Engine:
    for event in life(np.random.default_rng(1), sessions):
        memory.encode(event)
    memory.advance(memory.now + 100.0)
    return memory


def test_a_memory_that_is_closed_and_opened_between_runs_goes_on_as_one_that_is_not(
    tmp_path: Path,
) -> None:
    whole = lived(memory_of())
    assert len(records(whole, "topology run")) >= 3 and reported(whole).edits["created"] > 3
    events = life(np.random.default_rng(1), 9)
    part = memory_of(path=tmp_path / "m.db")
    for i, event in enumerate(events):
        if i in (7, 20, 33, 47):
            part.close()
            part = memory_of(path=tmp_path / "m.db")
        part.encode(event)
    part.advance(part.now + 100.0)
    assert part.digest() == whole.digest()
    part.close()


def test_an_erased_text_stays_in_no_plan_and_the_memory_goes_on_as_one_that_is_opened_again(
    tmp_path: Path,
) -> None:
    whole, part = memory_of(), memory_of(path=tmp_path / "m.db")
    for memory in (whole, part):
        memory.encode_all(life(np.random.default_rng(1), 9))
        plans = memory.store.structures[TOPOLOGY_PLANS]
        told = [memory.event(row) for row, _ in plans.described]
        # near a place of its own
        secret = next(event for event in told if event.text.startswith("Somebody saw "))
        place = secret.text.partition(" near ")[2].rstrip(".").encode()
        assert place in pickle.dumps(plans)
        memory.erase(secret.id, confirm=True)
        assert place not in pickle.dumps(plans)
    runs = len(records(whole, "topology run"))
    part.close()
    part = memory_of(path=tmp_path / "m.db")
    for memory in (whole, part):
        for event in life(np.random.default_rng(2), 4):
            memory.encode(replace(event, time=event.time + 500.0, id=f"later {event.id}"))
        memory.advance(memory.now + 100.0)
    assert whole.digest() == part.digest() and len(records(whole, "topology run")) > runs > 0
    part.close()


def test_equal_lives_have_equal_digests_and_queries_change_nothing() -> None:
    one, other = lived(memory_of()), lived(memory_of())
    before = one.digest()
    assert before == other.digest()
    answer = one.retrieve("Where is the kettle w5?", k=20)
    assert one.digest() == before and len(answer.rows) == 20
    assert set(one.retrieve("Where is the kettle w5?", k=999).rows.tolist()) >= set(
        np.flatnonzero(one.column(VISIBLE)).tolist()
    )


def test_links_of_others_stay() -> None:
    """Curation makes semantic and version edges of its own; without edits both see the same
    rows, and all of its edges are there.
    """
    with_curation, without = (
        lived(memory_of(*IDS, "curation", gate=1.0)),
        lived(memory_of("dense_similarity", "curation")),
    )

    def own(memory: Engine) -> set[tuple[int, int, int]]:
        graph = memory.graph
        return {
            (int(graph.type[e]), int(graph.source[e]), int(graph.target[e]))
            for e in range(graph.n_edges)
            if graph.alive[e] and graph.type[e] in (EdgeType.SEMANTIC, EdgeType.VERSION)
        }

    assert own(without) and own(without) <= own(with_curation)


def test_a_link_on_an_edge_of_others_is_taken_back_without_the_edge() -> None:
    graph, mark = Graph(), np.zeros(8, np.int8)
    bank = GraphBank(
        graph,
        lambda: mark[: graph.n_edges],
        np.ones(4, bool),
        np.ones(4, bool),
        np.eye(4, dtype=np.float32),
        np.zeros(4),
        1.0,
    )
    theirs = graph.add(0, 1, EdgeType.SEMANTIC)
    assert bank.targets(0, EdgeType.SEMANTIC) == [] == bank.sources(1, EdgeType.SEMANTIC)
    for target in (1, 2):
        bank.link(0, target, EdgeType.SEMANTIC)
    bank.link(3, 1, EdgeType.SEMANTIC)
    assert mark[:3].tolist() == [SHARED_LINK, MADE_LINK, MADE_LINK] and bank.targets(
        0, EdgeType.SEMANTIC
    ) == [1, 2]
    assert bank.sources(1, EdgeType.SEMANTIC) == [0, 3] and bank.counts(
        EdgeType.SEMANTIC
    ).tolist() == [2, 0, 0, 1]
    bank.unlink(0, 1, EdgeType.SEMANTIC)
    bank.unlink(0, 2, EdgeType.SEMANTIC)
    assert (
        graph.find(0, 1, EdgeType.SEMANTIC) == theirs
        and graph.find(0, 2, EdgeType.SEMANTIC) is None
    )
    assert (
        mark[:3].tolist() == [0, 0, MADE_LINK]
        and bank.sources(1, EdgeType.SEMANTIC) == [3]
        and bank.targets(0, EdgeType.SEMANTIC) == []
    )
    bank.unlink(0, 1, EdgeType.SEMANTIC)
    assert graph.find(0, 1, EdgeType.SEMANTIC) == theirs


def test_the_report_counts_what_the_memory_holds() -> None:
    memory = lived(memory_of())
    report = reported(memory)
    every = records(memory)
    assert sum(report.proposals.values()) == len(every) and {
        reason for _, reason in report.proposals
    } <= set(Reason)
    visible = memory.column(VISIBLE)
    assert (
        sum(report.distances.values()) == int((~visible).sum())
        and report.recovery.unreachable == 0.0
    )
    assert report.runs[-1]["units"] == memory.store.n and report.runs[-1]["visible"] == int(
        visible.sum()
    )
    assert sum(report.runs[-1]["semantic_after"]) == int(visible.sum())
    assert report.edits["created"] == memory.store.n - len(memory.events)
    assert (
        len({link for link in marked(SPECIMEN, memory) if link[0] == EdgeType.VERSION})
        >= report.edits["archived"]
    )
    both = together((report, report))
    assert (
        both.edits["created"] == 2 * report.edits["created"]
        and both.recovery.coverage == report.recovery.coverage
    )
    assert json.loads(json.dumps(report.named()))["h95"] == report.recovery.h95
    with pytest.raises(InputError, match="topology"):
        reported(Engine([REGISTRY.instance("dense_similarity")], embedder_of(1)))


def test_finite_version_links_leave_no_orphan() -> None:
    memory = lived(memory_of(version_cap=1), 15)
    assert reported(memory).recovery.unreachable == 0.0 and reported(memory).edits["archived"] > 0


def test_the_searched_vectors_and_texts_stay() -> None:
    memory, plain = lived(memory_of()), lived(memory_of("dense_similarity"))
    rows = [memory.event_log.row(event.id) for event in plain.events]
    np.testing.assert_array_equal(memory.column("embedding")[rows], plain.column("embedding"))
    assert [event.text for event in memory.events] == [event.text for event in plain.events]
