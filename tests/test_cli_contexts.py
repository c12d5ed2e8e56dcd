"""The commands about contexts: assemble and event; and contexts in `run`."""
from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from hebbarium.cli.assembling import Form, Strategy
from hebbarium.engine.context.assembly import STRATEGIES
from hebbarium.engine.context.formats import FORMATS

FAST = ("--set", "bm25", "--embedder", "hashing:64")
Command = Callable[..., tuple[int, str, str]]


def test_assemble_prints_the_context_and_its_components(hebbarium: Command) -> None:
    code, out, _ = hebbarium("assemble", *FAST, "--query", "What did Maren paint?", "--budget", "120")
    assert code == 0 and out.startswith("[Truncated: Relevant Content ") and "## Relevant Content\n\n```memories\n[" in out
    assert "Components" in out and " of 120 tokens as length/4 counts; " in out and out.rstrip().endswith("truncated")


def test_the_names_of_options_are_those_of_the_engine() -> None:
    assert {one.value for one in Strategy} == set(STRATEGIES) and {one.value for one in Form} == set(FORMATS)


def test_assemble_with_sources_shows_their_sections_and_what_they_spent(hebbarium: Command) -> None:
    asked = ("assemble", "--set", "stages", "--embedder", "hashing:64", "--query", "What does Maren repair?", "--budget", "900")
    code, out, _ = hebbarium(*asked)
    assert code == 0 and "\n## Current Stage Context\n" in f"\n{out}" and "own_stage: " in out and "stage_summaries: " in out
    found = json.loads(hebbarium(*asked, "--session", "nowhere", "--json")[1])
    assert found["strategy"] == "sources" and set(found["metadata"]["sources"]) == {"own_stage", "adjacent_stages", "stage_summaries"}
    assert json.loads(hebbarium(*asked, "--strategy", "condensed", "--json")[1])["strategy"] == "condensed"


def test_assemble_in_json_is_the_context(hebbarium: Command) -> None:
    arguments = ("assemble", *FAST, "--query", "What did Maren paint?", "--budget", "120", "--conversation", "flatmates", "--json")
    code, out, _ = hebbarium(*arguments)
    found = json.loads(out)
    assert code == 0 and found["tokens"] == -(-len(found["text"]) // 4) <= 120 and found["strategy"] == "flat" and found["truncated"] is True
    assert all(part["text"] in found["text"] and part["form"] for part in found["components"]) and hebbarium(*arguments)[1] == out


def test_event_shows_all_of_a_memory(hebbarium: Command) -> None:
    _, out, _ = hebbarium("assemble", *FAST, "--query", "What did Maren paint?", "--items", "1", "--json")
    (part,) = json.loads(out)["components"]
    code, out, _ = hebbarium("event", str(part["row"]), *FAST, "--json")
    unit = json.loads(out)
    assert code == 0 and unit["text"] in part["text"] and unit["kind"] == "event"
    assert unit["text"] in hebbarium("event", str(part["row"]), *FAST)[1]


@pytest.mark.parametrize(("arguments", "what"), [
    (("assemble", "--query", "x", "--conversation", "frends"), "no conversation 'frends'"), (("event", "100000"), "100000"),
    (("assemble", "--query", "x", "--tokenizer", "/nowhere"), "no such file or folder"), (("assemble", "--query", "x", "--budget", "-1"), "--budget"),
    (("assemble", "--query", "x", "--strategy", "flatt"), "flatt"), (("assemble",), "--query"),
    (("assemble", "--query", "x", "--strategy", "sources"), "no sources of contexts"),
])
def test_asked_wrongly(hebbarium: Command, arguments: tuple[str, ...], what: str) -> None:
    code, _, err = hebbarium(*arguments, *FAST)
    assert code == 2 and what in err and "Traceback" not in err


def test_a_run_prints_the_scores_of_contexts(hebbarium: Command, tmp_path: Path) -> None:
    run = ("run", *FAST, "--dataset", "demo", "--limit", "1", "--context", "64,256", "--strategy", "everything", "--out", tmp_path / "o")
    code, out, _ = hebbarium(*run)
    metrics = json.loads((tmp_path / "o" / "metrics.json").read_text(encoding="utf-8"))
    assert code == 0 and "Contexts, tokens as length/4 counts" in out and set(metrics["contexts"]["budgets"]) == {"64", "256"}
    code, _, err = hebbarium(*run[:7], "--context", "many", "--out", tmp_path / "p")
    assert code == 2 and "'many' is no number of tokens" in err
