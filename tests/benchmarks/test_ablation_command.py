"""`hebbarium ablate`: what it says before it runs, arms by name, and the references of exactly
what was used.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from hebbarium.cli import main

FAST = ("--set", "hybrid", "--dataset", "demo", "--embedder", "hashing:64", "--limit", "3")


def ablate(folder: Path, monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setenv("HEBBARIUM_CACHE", str(folder / "cache"))
    monkeypatch.setattr(
        sys,
        "argv",
        ["/somewhere/bin/hebbarium", "ablate", *FAST, "--out", str(folder / "o"), *words],
    )
    with pytest.raises(SystemExit) as end:
        main()
    return int(end.value.code or 0)


@pytest.mark.slow
def test_the_arms_that_are_named_run_after_a_word_on_what_they_can_show(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        ablate(
            tmp_path,
            monkeypatch,
            "--arms",
            "lexical_bm25, weighted_rrf",
            "--margin",
            "0.05",
            "--costs",
            "--json",
        )
        == 0
    )
    said = capsys.readouterr()
    printed = json.loads(said.out)
    (block,) = printed["blocks"]
    assert (
        block["family"] == ["lexical_bm25", "weighted_rrf"]
        and printed["margin"] == 0.05
        and printed["n_designed"] == 3
    )
    before, _, _ = said.err.partition("cells: 0/9")
    questions = block["n_questions"]
    assert (
        f"3 conversations, {questions} questions with evidence, 2 arms corrected together" in before
    )
    for part in (
        "smallest p 0.25, after correction 0.5: it cannot reach 0.05",
        "demo figures",
        "equivalence within ±0.05",
    ):
        assert part in before
    costs = {cost["mechanism"]: cost for cost in printed["costs"]}
    assert set(costs) == {"dense_similarity", "lexical_bm25", "weighted_rrf"} and all(
        cost["query"] > 0.0 for cost in costs.values()
    )
    made = block["provenance"]["made"]
    assert (
        made["command_line"].startswith("hebbarium ablate --set hybrid")
        and "'lexical_bm25, weighted_rrf'" in made["command_line"]
    )


def test_the_references_are_those_of_the_arms_that_ran(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from hebbarium.audit.references import read
    from hebbarium.engine.catalogue.registry import Registry

    assert (
        ablate(
            tmp_path, monkeypatch, "--arms", "lexical_bm25", "--without", "weighted_rrf", "--json"
        )
        == 0
    )
    printed, registry = json.loads(capsys.readouterr().out), Registry.read()
    cited = {entry.key for entry in read(printed["made"]["bibtex"])}
    assert cited == {
        key for id in ("lexical_bm25", "dense_similarity") for key in registry.entry(id).papers
    }


@pytest.mark.parametrize(("words", "parts"), [
    (("--arms", "lexical_bm52"), ("--arms", "'lexical_bm52' is no arm", "lexical_bm25")),
    (("--arms", "full"), ("baseline",)),
    (("--arms", ""), ("is no arm",)), (("--margin", "0"), ("margin of equivalence is 0", "0.005")),
    (("--margin", "-1"), ("margin of equivalence",)),
    (("--margin", "nan"), ("margin of equivalence",))], ids=lambda x: " ".join(x) or None)  # fmt: skip
def test_odd_arms_and_margins_are_refused_before_anything_runs(
    words: tuple[str, ...],
    parts: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert ablate(tmp_path, monkeypatch, *words) == 2
    said = capsys.readouterr()
    assert (
        all(part in said.err for part in parts)
        and "What to do:" in said.err
        and "cells" not in said.err
        and not (tmp_path / "o").exists()
    )


def test_an_embedder_twice_is_refused_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ablate(tmp_path, monkeypatch, "--embedder", "hashing:64") == 2
    assert "'hashing:64' is given twice" in capsys.readouterr().err
    assert not (tmp_path / "o").exists()


@pytest.mark.slow
def test_a_second_embedder_is_a_second_family_and_says_what_holds_with_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ablate(tmp_path, monkeypatch, "--embedder", "hashing:8", "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert [block["embedder"] for block in result["blocks"]] == ["hashing:64", "hashing:8"]
    notes = [note for note in result["notes"] if "with each of hashing:64 and hashing:8" in note]
    assert len(notes) == 2
    written = (tmp_path / "o" / "design.md").read_text(encoding="utf-8")
    assert written.count("with each of hashing:64 and hashing:8") == 2
