"""Strategies of contexts from files: sets of sources, in place of those of a set; and queries
that are blank.
"""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from tiers import slow_unless

from hebbarium.engine.base.errors import RegistryError
from hebbarium.engine.catalogue.registry import ROOT, Registry
from hebbarium.engine.context.assembly import assemble
from hebbarium.engine.contract.offers import shares_of_sources
from hebbarium.engine.contract.records import Event, Query
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder

REGISTRY = Registry.read()
FOLDER = ROOT / "mechanisms" / "sets" / "contexts"


@pytest.mark.parametrize("name", sorted(file.stem for file in FOLDER.glob("*.yaml")))
def test_a_strategy_of_ours_is_sources_whose_shares_are_all_of_the_budget(name: str) -> None:
    strategy, base = REGISTRY.contexts[name], REGISTRY.set("minimal")
    built = REGISTRY.build(REGISTRY.set(f"minimal+{name}"))
    shares = shares_of_sources(built)
    assert (
        shares
        == {id: values["share"] for id, values in strategy.mechanisms.items() if "share" in values}
        and sum(shares.values()) == 100.0
    )
    assert {m.id for m in built} == set(base.mechanisms) | set(strategy.mechanisms)
    reasons = (FOLDER / f"{name}.yaml").read_text(encoding="utf-8").partition("summary:")[0]
    assert all(
        f"{id} " in reasons and f" {share:.0f}  " in reasons for id, share in shares.items()
    ), "the file says why each share is what it is"


def test_a_strategy_replaces_the_sources_of_a_set() -> None:
    staged, other = REGISTRY.set("stages"), REGISTRY.set("stages+coding")
    assert set(staged.mechanisms) - set(other.mechanisms) == {
        "own_stage",
        "adjacent_stages",
        "stage_summaries",
    }
    assert (
        set(other.mechanisms) - set(staged.mechanisms)
        == set(REGISTRY.contexts["coding"].mechanisms) - {"event_importance"}
        and other.name == "stages+coding"
    )
    assert (
        other.alternates == staged.alternates
        and "coding.yaml" in other.where("recent_context.share")
        and "stages.yaml" in other.where("heat")
    )
    again = pickle.loads(pickle.dumps(REGISTRY))
    assert (
        again.set("stages+coding") == other
        and again.set(f"stages+{FOLDER / 'coding.yaml'}").mechanisms == other.mechanisms
    )


def test_the_assembler_of_cortex_is_a_strategy_of_its_own() -> None:
    """So that flat and staged contexts of one set can be compared."""
    own = {"stage_detection", "stage_summary", "own_stage", "adjacent_stages", "stage_summaries"}
    for name in ("minimal", "cortex_as_printed", "stages"):
        base, chosen = REGISTRY.set(name), REGISTRY.set(f"{name}+stages")
        assert set(chosen.mechanisms) == set(base.mechanisms) | own
        assert shares_of_sources(REGISTRY.build(chosen)) == {
            "own_stage": 60.0,
            "adjacent_stages": 30.0,
            "stage_summaries": 10.0,
        }
    assert own <= set(REGISTRY.set("cortex").mechanisms)


@pytest.mark.parametrize("name", slow_unless(("minimal+stages",), ["cortex", "minimal+stages"]))
def test_contexts_of_cortex_come_from_its_stages(name: str) -> None:
    memory = Engine(REGISTRY.build(REGISTRY.set(name)), HashingEmbedder(64))
    talk = (("A", "The boat leaks again."), ("A", "Cleo decided to sell the boat."),
            ("A", "The harbour master knows."), ("B", "Our tulips are late, Cleo."),
            ("B", "We wait for rain."), ("B", "The garden is dry."),
            ("C", "Cleo wants the boat."))  # fmt: skip
    for hour, (session, text) in enumerate(talk):
        memory.encode(Event(float(hour), text, "Ada", session, dated=False))
    memory.advance(48.0)
    sections = memory.context("What did Cleo say?", 300, session="C").text
    assert "Current Stage Context" in sections and "Related Prior Context" in sections


def test_a_set_that_judges_importance_keeps_its_own_judge() -> None:
    """Two mechanisms that set SALIENCE cannot be in one set."""
    for name, judge in (
        ("true_memory_gated", "write_gate_true_memory"),
        ("minimal", "event_importance"),
    ):
        mechanisms = REGISTRY.set(f"{name}+companion").mechanisms
        assert {"event_importance", "write_gate_true_memory"} & set(mechanisms) == {judge}
        Engine(REGISTRY.build(REGISTRY.set(f"{name}+companion")), HashingEmbedder(8))
    judged = REGISTRY.set("true_memory+companion").mechanisms["event_importance"]
    assert judged == {"form": "true_memory"}, "the set's own form stays, too"


def test_the_highlights_of_a_companion_are_what_was_important() -> None:
    memory = Engine(REGISTRY.build(REGISTRY.set("bm25+companion")), HashingEmbedder(8))
    said = ("Good day.", "We decided to adopt a dog.", "Bo broke his leg.", "The tea is hot.",
            "What is the time?", "Here again.")  # fmt: skip
    for hour, text in enumerate(said):
        memory.encode(Event(float(hour), text, "Ada", "S1" if hour < 5 else "S2", dated=False))
    shown = {offer.row for offer in memory.offers("?", 900, session="S2")[1]
             if offer.source == "recent_context"}  # fmt: skip
    assert shown == {1, 2, 5}, "not the latest two of the session"


def test_the_specification_as_a_strategy_is_the_set_of_its_name() -> None:
    by_set, by_strategy = (
        {m.id: m.params for m in REGISTRY.build(REGISTRY.set(name))}
        for name in ("context_spec", "waking+context_spec")
    )
    assert by_set == by_strategy
    printed = REGISTRY.contexts["context_spec"].mechanisms
    assert printed["recent_context"]["decay"] == "e" and printed["relation_context"]["depth"] == 2
    assert printed["ranked_context"]["boosts"] == "printed"


def test_a_coding_agent_that_is_to_fix_sees_the_error_first() -> None:
    memory = Engine(
        [m for m in REGISTRY.build(REGISTRY.set("bm25+coding")) if m.id != "recent_context"],
        HashingEmbedder(8),
    )
    for n, kind in enumerate(("", "error", "file_read")):
        memory.encode(
            Event(
                float(n),
                "The port is in use",
                "agent",
                dated=False,
                attributes=(("kind", kind),) if kind else (),
            )
        )
    for query, rows in (
        ("Fix the port", [1, 0, 2]),
        ("Explain the port", [2, 0, 1]),
        ("Which port?", [0, 1, 2]),
    ):
        assert [offer.row for offer in memory.offers(query, 200)[1]] == rows


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("minimal+codng", "coding"),
        ("minimal+", "no strategy of contexts ''"),
        ("minmal+coding", "no mechanism set"),
        ("minimal+none.yaml", "none.yaml"),
        ("+coding", "no mechanism set"),
    ],
)
def test_unknown_strategies(name: str, words: str) -> None:
    with pytest.raises(RegistryError, match=words):
        REGISTRY.set(name)


def test_a_strategy_names_sources_alone_and_shares_of_at_most_all(tmp_path: Path) -> None:
    for text, words in (
        ("mechanisms: [recent_context, heat]", "'heat' is no source"),
        ("mechanisms: {recent_context: {shares: 3}}", "shares"),
    ):
        (tmp_path / "mine.yaml").write_text(text)
        with pytest.raises(RegistryError, match=words):
            REGISTRY.set(f"minimal+{tmp_path / 'mine.yaml'}")
    (tmp_path / "mine.yaml").write_text(
        "mechanisms: {recent_context: {share: 60}, ranked_context: {share: 60}}"
    )
    with pytest.raises(Exception, match="120 percent in all"):
        Engine(
            REGISTRY.build(REGISTRY.set(f"minimal+{tmp_path / 'mine.yaml'}")), HashingEmbedder(8)
        )


def test_a_blank_query_asks_without_words_in_every_strategy() -> None:
    memory = Engine(REGISTRY.build(REGISTRY.set("bm25+assistant")), HashingEmbedder(8))
    memory.encode(Event(0.0, "The boat leaks.", "Ada"))
    for blank in ("", " \n\t", Query("  ")):
        for strategy in ("sources", "flat", "condensed", "covering", "packed", "everything"):
            assert (
                "The boat leaks." in assemble(memory, blank, 100, strategy=strategy).text
                or strategy != "everything"
            )
        assert not assemble(memory, blank, 9, strategy="nothing").text
        assert memory.retrieve(blank).rows.tolist() == [memory.explain(blank, 0).row] * len(
            memory.retrieve(blank)
        )
    assert memory.answering.asked("").cue.vector.tolist() == [0.0] * 8
