"""The commands about contexts: assemble and event; and contexts in `run`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from hebbarium.cli.assembling import CompressionName, FormatName, StrategyName
from hebbarium.engine.catalogue.registry import ROOT, Registry
from hebbarium.engine.context.assembly import STRATEGIES
from hebbarium.engine.context.compressing import COMPRESSIONS
from hebbarium.engine.context.formats import FORMATS

FAST = ("--set", "bm25", "--embedder", "hashing:64")
CONTEXTS = ROOT / "mechanisms" / "sets" / "contexts"
Command = Callable[..., tuple[int, str, str]]


def test_assemble_prints_the_context_and_its_components(hebbarium: Command) -> None:
    code, out, _ = hebbarium(
        "assemble", *FAST, "--query", "What did Maren paint?", "--budget", "120"
    )
    assert (
        code == 0
        and out.startswith("[Truncated: Relevant Content ")
        and "## Relevant Content\n\n```memories\n[" in out
    )
    assert (
        "Components" in out
        and " of 120 tokens as length/4 counts; " in out
        and out.rstrip().endswith("truncated")
    )


def test_assemble_says_that_nothing_fits(hebbarium: Command) -> None:
    for budget, strategy, words in (
        ("0", "flat", "nothing fits into this budget"),
        ("1", "flat", "nothing fits"),
        ("50", "nothing", "nothing to show"),
    ):
        code, out, _ = hebbarium(
            "assemble",
            *FAST,
            "--query",
            "What did Maren paint?",
            "--budget",
            budget,
            "--strategy",
            strategy,
        )
        assert code == 0 and words in out and f"0 of {budget} tokens" in out


def test_the_names_of_options_are_those_of_the_engine() -> None:
    assert {one.value for one in StrategyName} == set(STRATEGIES) and {
        one.value for one in FormatName
    } == set(FORMATS)
    assert ["", *CompressionName] == list(COMPRESSIONS)


def test_assemble_compresses_by_extracts_where_no_model_is_named(hebbarium: Command) -> None:
    asked = ("assemble", *FAST, "--query", "What is mended?", "--budget", "150", "--json")
    extracts = json.loads(hebbarium(*asked, "--compress", "extracts")[1])
    of = extracts["metadata"]["compressed"]
    assert of["model"] == 0 and of["extracts"] > 0 and extracts["tokens"] <= 150
    assert json.loads(hebbarium(*asked, "--compress", "model")[1])["text"] == extracts["text"]
    code, out, err = hebbarium(*asked, "--compress", "model", "--llm", "openai:none")
    assert code == 2 and "--transcript" in err and not out


@pytest.mark.slow
def test_assemble_with_sources_shows_their_sections_and_what_they_spent(hebbarium: Command) -> None:
    asked = ("assemble", "--set", "stages", "--embedder", "hashing:64", "--query",
             "What does Maren repair?", "--budget", "900")  # fmt: skip
    code, out, _ = hebbarium(*asked)
    assert (
        code == 0
        and "\n## Current Stage Context\n" in f"\n{out}"
        and "own_stage: " in out
        and "stage_summaries: " in out
    )
    found = json.loads(hebbarium(*asked, "--session", "nowhere", "--json")[1])
    assert found["strategy"] == "sources" and set(found["metadata"]["sources"]) == {
        "own_stage",
        "adjacent_stages",
        "stage_summaries",
    }
    assert (
        json.loads(hebbarium(*asked, "--strategy", "condensed", "--json")[1])["strategy"]
        == "condensed"
    )


@pytest.mark.parametrize(
    ("strategy", "headings", "texts"),
    [
        (
            "assistant",
            [
                "Recent Activity",
                "Relevant Content",
                "Known Entities",
                "Relationships",
                "Applicable Patterns",
            ],
            [
                "swallowed a sock",
                "**entity**: comrade (memories: 4)",
                "nadia --[mentioned together]--> norrland optics",
                "any kind of nut",
            ],
        ),
        (
            "coding",
            ["Recent Activity", "Relevant Content", "Applicable Patterns"],
            ["swallowed a sock", "any kind of nut"],
        ),
        (
            "companion",
            [
                "Recent Activity",
                "Relevant Content",
                "Known Entities",
                "Relationships",
                "Applicable Patterns",
            ],
            [
                "swallowed a sock",
                "**entity**: comrade (memories: 4)",
                "norrland optics --[mentioned together]--> lene",
                "any kind of nut",
            ],
        ),
    ],
)
def test_each_archetype_assembles_the_demo_by_its_sources_and_shares(
    hebbarium: Command, strategy: str, headings: list[str], texts: list[str]
) -> None:
    asked = "What did Comrade swallow, and does Nadia know?"
    code, out, err = hebbarium(
        "assemble", *FAST, "--strategy", strategy, "--query", asked, "--budget", "1200", "--json"
    )
    assert code == 0, err
    found, named = json.loads(out), Registry.read().contexts[strategy].mechanisms
    sources = {id: values for id, values in named.items() if "share" in values}
    assert named.keys() - sources.keys() <= {"event_importance", "typed_relations"}
    assert (
        found["strategy"] == "sources"
        and found["metadata"]["sources"].keys() == sources.keys()
        and 0.9 * 1200 <= found["tokens"] <= 1200
    )
    assert [line[3:] for line in found["text"].split("\n") if line.startswith("## ")] == headings
    assert all(text in found["text"] for text in texts)
    largest = max(sources, key=lambda id: sources[id]["share"])
    assert max(found["metadata"]["sources"].values()) == found["metadata"]["sources"][largest], (
        "the largest share is spent most"
    )


def test_a_strategy_is_a_name_or_a_file_of_sources(hebbarium: Command, tmp_path: Path) -> None:
    asked = ("assemble", *FAST, "--query", "What does Maren repair?", "--budget", "300", "--json")
    by_name, by_file = (
        hebbarium(*asked, "--strategy", name)[1]
        for name in ("coding", str(CONTEXTS / "coding.yaml"))
    )
    assert (
        set(json.loads(by_name)["metadata"]["sources"])
        == {"recent_context", "ranked_context", "pattern_context"}
        and by_name == by_file
    )
    (tmp_path / "mine.yaml").write_text("mechanisms: [recent_context, heat]\n")
    code, _, err = hebbarium(*asked, "--strategy", str(tmp_path / "mine.yaml"))
    assert code == 2 and "'heat' is no source of contexts" in err and "mine.yaml:1" in err


def test_a_blank_query_asks_without_words(hebbarium: Command) -> None:
    code, out, _ = hebbarium("assemble", *FAST, "--query", "", "--budget", "100")
    assert code == 0 and "## Relevant Content" in out
    code, out, _ = hebbarium(
        "assemble", *FAST, "--query", "", "--budget", "100", "--strategy", "everything"
    )
    assert code == 0 and "## Conversation" in out


def test_assemble_in_json_is_the_context(hebbarium: Command) -> None:
    arguments = ("assemble", *FAST, "--query", "What did Maren paint?", "--budget", "120",
                 "--conversation", "flatmates", "--json")  # fmt: skip
    code, out, _ = hebbarium(*arguments)
    found = json.loads(out)
    assert (
        code == 0
        and found["tokens"] == -(-len(found["text"]) // 4) <= 120
        and found["strategy"] == "flat"
        and found["truncated"] is True
    )
    assert (
        all(part["text"] in found["text"] and part["form"] for part in found["components"])
        and hebbarium(*arguments)[1] == out
    )


def test_event_shows_all_of_a_memory(hebbarium: Command) -> None:
    _, out, _ = hebbarium(
        "assemble", *FAST, "--query", "What did Maren paint?", "--items", "1", "--json"
    )
    (part,) = json.loads(out)["components"]
    code, out, _ = hebbarium("event", str(part["row"]), *FAST, "--json")
    unit = json.loads(out)
    assert code == 0 and unit["text"] in part["text"] and unit["kind"] == "event"
    assert unit["text"] in hebbarium("event", str(part["row"]), *FAST)[1]


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("assemble", "--query", "x", "--conversation", "frends"), "no conversation 'frends'"),
        (("event", "100000"), "100000"),
        (("assemble", "--query", "x", "--tokenizer", "/nowhere"), "no such file or folder"),
        (("assemble", "--query", "x", "--budget", "-1"), "--budget"),
        (("assemble", "--query", "x", "--strategy", "flatt"), "'flatt'"),
        (("assemble",), "--query"),
        (("assemble", "--query", "x", "--strategy", "asistant"), "assistant"),
        (("assemble", "--query", "x", "--strategy", "sources"), "no sources of contexts"),
    ],
)
def test_asked_wrongly(hebbarium: Command, arguments: tuple[str, ...], what: str) -> None:
    code, _, err = hebbarium(*arguments, *FAST)
    assert code == 2 and what in err and "Traceback" not in err


def test_a_run_prints_the_scores_of_contexts(hebbarium: Command, tmp_path: Path) -> None:
    run = ("run", *FAST, "--dataset", "demo", "--limit", "1", "--context", "64,256", "--strategy",
           "everything", "--out", tmp_path / "o")  # fmt: skip
    code, out, _ = hebbarium(*run)
    metrics = json.loads((tmp_path / "o" / "metrics.json").read_text(encoding="utf-8"))
    assert (
        code == 0
        and "Contexts, tokens as length/4 counts" in out
        and set(metrics["contexts"]["budgets"]) == {"64", "256"}
    )
    assert out.count("all, everything") == out.count("all, nothing") == 2, (
        "the ends of every comparison"
    )
    code, _, err = hebbarium(*run[:7], "--context", "many", "--out", tmp_path / "p")
    assert code == 2 and "'many' is no number of tokens" in err
