"""The sets of other systems: they answer, differ where they say, and name what they lack;
docs/reference/sets.md is what the mechanisms declare.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scripts import script

from hebbarium.benchmarks.datasets import Conversation, load
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.columns import Column
from hebbarium.engine.contract.drafts import Kind
from hebbarium.engine.contract.offers import shares_of_sources
from hebbarium.engine.contract.records import Query
from hebbarium.engine.contract.vocabulary import EMBEDDING
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.state.ranking import Answer
from hebbarium.mechanisms.consolidation.topology_consolidation import (
    DESCRIPTOR_EMBEDDING,
    TOPOLOGY_RUNS,
)

REGISTRY = Registry.read()
DOCS = Path(__file__).parents[1] / "docs"
REGISTRY_FOLDER = DOCS.parent / "mechanisms" / "sets"
COMPARED = ("true_memory", "true_memory_gated", "true_memory_code", "all_mem", "hipporag", "a_mem",
            "light")  # fmt: skip
# By hand, from the sets' files and the hooks of their mechanisms: gate, fusion, rerank, last stage.
PARTS = {
    "naive_rag": ("", "", "", "match"),
    "hybrid": ("", "`weighted_rrf`", "", "fused"),
    "all_mem": ("", "", "", "match"),
    "light": ("", "", "", "primed"),
    "hipporag": ("", "`convex_fusion`", "", "fused"),
    "true_memory": ("", "`weighted_rrf`", "", "dated"),
    "true_memory_gated": ("`write_gate_true_memory`", "`weighted_rrf`", "", "dated"),
    "true_memory_code": ("", "`weighted_rrf`", "`late_interaction_rerank`", "dated"),
    "cortex": ("`write_gate_cortex`", "`weighted_rrf`", "`late_interaction_rerank`", "released"),
    "default": ("", "`feedback_fusion`", "", "dated"),
}


@cache
def told() -> Conversation:
    return load("demo", limit=1).conversations[0]


@cache
def lived(name: str) -> Engine:
    """A memory of the first conversation of the demo and of the night after it; clusters of
    `light` are wider, as its cosines are small.
    """
    chosen = REGISTRY.set(name)
    memory = Engine(
        REGISTRY.build(
            chosen.overridden({"fact_timeline": {"cosine": 0.2}}) if name == "light" else chosen
        ),
        HashingEmbedder(64),
    )
    memory.encode_all(told().events)
    memory.advance(told().events[-1].time + 24.0)
    return memory


def falls(memory: Engine, answer: Answer, text: str, column: Column = EMBEDDING) -> bool:
    """Whether the answered rows are in the order of the cosine of a vector of theirs with the
    text, up to rounding.
    """
    vectors = memory.column(column)
    return bool(
        (np.diff(vectors[answer.rows] @ HashingEmbedder(64).embed([text])[0]) <= 1e-6).all()
    )


def events_of(answer: Answer) -> list[str]:
    """Ids of the answered events, best first, without what the memory made."""
    return [unit.id for unit in answer.units if unit.kind is Kind.EVENT]


def asked(name: str, text: str) -> Answer:
    memory = lived(name)
    return memory.retrieve(Query(text, memory.now), 400)


@pytest.mark.slow
@pytest.mark.parametrize("name", COMPARED)
def test_a_set_of_another_system_answers_every_question_and_names_what_it_lacks(name: str) -> None:
    memory, before = lived(name), lived(name).digest()
    for question in told().questions:
        answer = memory.retrieve(Query(question.text, memory.now), 10)
        assert len(answer.rows) == 10 and np.isfinite(answer.scores).all()
    assert memory.digest() == before, "questions leave memory as it is"
    assert "; missing: " in REGISTRY.set(name).summary


def test_the_gate_is_all_that_the_gated_set_adds() -> None:
    plain, gated = (REGISTRY.set(name).mechanisms for name in ("true_memory", "true_memory_gated"))
    """Both judge salience alike: without the gate, `event_importance` does."""
    assert plain["event_importance"] == {"form": "true_memory"}
    assert {"write_gate_true_memory": {}, **plain} == {
        **gated,
        "event_importance": plain["event_importance"],
    }
    stored = {
        name: {
            lived(name).event(row).id: float(lived(name).column("importance")[row])
            for row in np.flatnonzero(lived(name).column("kind") == 0).tolist()
        }
        for name in ("true_memory", "true_memory_gated")
    }
    assert len(stored["true_memory"]) == len(told().events), "without its gate everything is stored"
    assert stored["true_memory_gated"].items() < stored["true_memory"].items()


def test_all_mem_ranks_by_descriptors_and_edits_after_three_sessions() -> None:
    memory = lived("all_mem")
    assert (
        memory.store.array(TOPOLOGY_RUNS)[()] >= 1 and len({e.session for e in told().events}) >= 3
    )
    for question in told().questions[:5]:
        answer = asked("all_mem", question.text)
        assert (
            len(answer.rows) > 10
            and falls(memory, answer, question.text, DESCRIPTOR_EMBEDDING)
            and not falls(memory, answer, question.text)
        )


def test_light_ranks_events_and_summaries_by_meaning() -> None:
    for question in told().questions[:5]:
        answer = asked("light", question.text)
        assert falls(lived("light"), answer, question.text) and len(events_of(answer)) == len(
            told().events
        )
        assert any(unit.kind is Kind.SUMMARY for unit in answer.units)


def test_the_working_memory_of_light_is_shown_whatever_is_asked() -> None:
    events = told().events
    last = [event.text for event in events if event.session == events[-1].session][-20:]
    for question in told().questions[:3]:
        found = lived("light").context(question.text, 4000)
        assert set(found.metadata["sources"]) == {"recent_context", "ranked_context"} and all(
            text in found.text for text in last
        )


def test_hipporag_ranks_by_meaning_where_no_entity_is_found_and_by_its_walk_elsewhere() -> None:
    name = told().events[0].speaker
    for text, same in (("what was cooked", True), (f"What did {name} cook?", False)):
        assert falls(lived("hipporag"), asked("hipporag", text), text) is same, text


def test_a_mem_has_the_memories_of_dense_retrieval_in_another_order() -> None:
    found = [
        (events_of(asked("a_mem", q.text)), events_of(asked("naive_rag", q.text)))
        for q in told().questions
    ]
    assert all(sorted(one) == sorted(other) for one, other in found) and any(
        one != other for one, other in found
    )


def test_the_page_of_the_sets_is_what_their_mechanisms_declare() -> None:
    """If not, run `python docs/tools/sets.py`."""
    assert (DOCS / "reference" / "sets.md").read_text(encoding="utf-8") == script("sets").page(
        REGISTRY
    )


def test_everything_says_what_it_leaves_out() -> None:
    """Each mechanism that is off, other than a variety, is a source of contexts or is named."""
    chosen = REGISTRY.set("everything")
    said = (
        (REGISTRY_FOLDER / "everything.yaml").read_text(encoding="utf-8").partition("summary:")[0]
    )
    sources = set(shares_of_sources(REGISTRY.build(REGISTRY.set("stages")))) | set(
        shares_of_sources(REGISTRY.build(REGISTRY.set("context_spec")))
    )
    fusions = {"weighted_rrf", "feedback_fusion", "rational_fusion"}
    off = {id for id, entry in REGISTRY.entries.items() if not entry.variety_of} - set(
        chosen.mechanisms
    )
    assert all(id in said for id in off - sources - fusions)


@pytest.mark.parametrize("name", PARTS)
def test_the_parts_of_a_set_are_those_read_by_hand(name: str) -> None:
    row = script("sets").row_of(REGISTRY.set(name), REGISTRY)
    assert (row.gate, row.fusion, row.rerank, row.stages.split(" → ")[-1]) == PARTS[name]
    # Cortex makes summaries of stages, for its contexts
    assert ("make units" in row.consolidation) == (
        name == "cortex" or (name in COMPARED and name != "hipporag")
    )
    assert ("language model" in row.consolidation) == (
        name in ("all_mem", "cortex", "light", "hipporag") or name.startswith("true_memory")
    )
    assert ("ask a language model: `query_expansion`" in row.model) == (
        name == "cortex" or name.startswith("true_memory")
    )


@pytest.mark.parametrize(
    ("name", "more"),
    [
        (
            "stages",
            {
                "event_importance": {},
                "stage_detection": {},
                "stage_summary": {},
                "own_stage": {},
                "adjacent_stages": {},
                "stage_summaries": {},
            },
        ),
        (
            "context_spec",
            {
                "event_importance": {},
                "recent_context": {},
                "ranked_context": {"boosts": "printed"},
                "entity_context": {},
                "typed_relations": {},
                "relation_context": {},
                "pattern_context": {},
            },
        ),
    ],
)
def test_a_set_with_sources_of_contexts_is_waking_with_them(
    name: str, more: dict[str, dict[str, Any]]
) -> None:
    waking, chosen = REGISTRY.set("waking"), REGISTRY.set(name)
    assert (
        dict(chosen.mechanisms) == {**waking.mechanisms, **more}
        and chosen.alternates == waking.alternates
    )
    shares = shares_of_sources(REGISTRY.build(chosen))
    assert (
        set(shares)
        == set(more) - {"event_importance", "typed_relations", "stage_detection", "stage_summary"}
        and sum(shares.values()) == 100.0
    )


def test_default_is_a_part_of_in_use() -> None:
    """docs/results/default-set.md compares them as such."""
    default, in_use = (REGISTRY.set(name).mechanisms for name in ("default", "in_use"))
    assert default.items() < in_use.items()


def test_a_part_that_nothing_declares_is_a_dash() -> None:
    assert script("sets").row_of(REGISTRY.set("bm25"), REGISTRY).cells == (
        "-",
        "-",
        "-",
        "-",
        "match",
        "-",
    )
