"""The worth of mechanisms over finished designs: what counts as a study, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sample_ablation import EFFECTS, sample, whole
from typer.testing import CliRunner

from hebbarium.benchmarks.reports.result import BlockResult, to_json
from hebbarium.benchmarks.runs.meta_analysis import meta_analysis
from hebbarium.benchmarks.scores.random_effects import random_effects
from hebbarium.cli.app import app
from hebbarium.engine.base.errors import DataError, HebbariumError, InputError

FEW = {name: EFFECTS[name] for name in ("dense_retrieval", "lexical_bm25", "emotional_tagging")}
FIRST = sample(FEW)
OTHER = replace(sample({**FEW, "dense_retrieval": 0.25}), dataset="BEAM", dataset_sha256="b" * 64)
Folder = Callable[..., Path]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """Writes the result of a design with some blocks, and gives its folder."""

    def write(*blocks: BlockResult) -> Path:
        made = tmp_path / str(len(list(tmp_path.iterdir())))
        made.mkdir()
        (made / "design.json").write_text(json.dumps(to_json(whole(*blocks))), encoding="utf-8")
        return made

    return write


def test_every_data_set_is_a_study(folder: Folder) -> None:
    result = meta_analysis([folder(FIRST), folder(OTHER)])
    rows = {row.mechanism: row for row in result.rows}
    assert set(rows) == set(FEW) and result.notes == ()
    dense = rows["dense_retrieval"]
    of_blocks = [
        next(e.primary for e in block.estimates if e.name == "dense_retrieval")
        for block in (FIRST, OTHER)
    ]
    assert [study.effect for study in dense.studies] == [d.mean for d in of_blocks]
    assert dense.pooled == random_effects(
        [d.mean for d in of_blocks], [study.se**2 for study in dense.studies]
    )
    assert dense.verdict == "helps" and result.rows[0] is dense
    # nothing changed: its standard error is that of a share `margin` of changed questions
    still = rows["emotional_tagging"]
    assert [study.effect for study in still.studies] == [0.0, 0.0]
    assert still.studies[0].se == pytest.approx((0.005 / FIRST.n_questions) ** 0.5)


def test_designs_on_the_same_data_are_one_study(folder: Folder) -> None:
    again = replace(sample({**FEW, "dense_retrieval": 0.2}), embedder="another")
    result = meta_analysis([folder(FIRST, again)])
    dense = next(row for row in result.rows if row.mechanism == "dense_retrieval")
    (study,) = dense.studies
    assert list(study.measured) == ["LoCoMo (minilm)", "LoCoMo (another)"]
    assert study.effect == pytest.approx(sum(study.measured.values()) / 2)
    assert dense.pooled.low is None and dense.pooled.n_studies == 1


def test_data_sets_that_share_conversations_are_one_study(folder: Folder) -> None:
    """The third block shares a conversation with each of the others, which share none."""

    def of(block: BlockResult, *conversations: str) -> BlockResult:
        return replace(block, provenance={**block.provenance, "conversations": list(conversations)})

    corrected = replace(OTHER, dataset="corrected", dataset_sha256="c" * 64)
    apart = meta_analysis([folder(of(FIRST, "a", "b")), folder(of(OTHER, "c", "d"))])
    assert all(len(row.studies) == 2 for row in apart.rows) and apart.notes == ()
    joined = meta_analysis(
        [folder(of(FIRST, "a", "b")), folder(of(OTHER, "c", "d")), folder(of(corrected, "b", "c"))]
    )
    for row in joined.rows:
        (study,) = row.studies
        assert study.data == "LoCoMo and BEAM and corrected" and len(study.measured) == 3
        assert row.pooled.n_studies == 1
    (note,) = joined.notes
    assert "share conversations: LoCoMo and BEAM and corrected" in note


def test_a_set_that_differs_under_one_name_is_said(folder: Folder) -> None:
    changed = replace(OTHER, provenance={**OTHER.provenance, "set_digest": "7" * 64})
    (note,) = meta_analysis([folder(FIRST), folder(changed)]).notes
    assert "the set cortex has other mechanisms or parameters" in note


def test_what_has_no_spread_is_left_out_and_said(folder: Folder) -> None:
    alone = replace(OTHER, n_conversations=1)
    result = meta_analysis([folder(FIRST), folder(alone)])
    assert all(len(row.studies) == 1 for row in result.rows)
    (note,) = result.notes
    assert "BEAM" in note and "one conversation" in note


# hit@k of the set, and of the set without the mechanism, in the lives of each strength
LIVES = {0.0: ((0.1, 0.2, 0.3), (0.1, 0.2, 0.3)), 1.0: ((0.5, 0.7, 0.9), (0.4, 0.65, 0.6))}


def worlds(path: Path, chosen: str = "cortex", name: str = "needs", **changes: Any) -> Path:
    """A folder as `hebbarium world --on-trial` writes it."""
    path.mkdir()
    arms = [{"arm": chosen, "set": chosen, "removed": ""},
            {"arm": "without", "set": chosen, "removed": "dense_retrieval"}]  # fmt: skip
    trial = {"set": chosen, "mechanism": "dense_retrieval", "why": ""} | changes.pop("trial", {})
    world = {"name": name, "strengths": list(LIVES), "seeds": 3, "arms": arms, "trials": [trial]}
    provenance = {"sets": {chosen: FIRST.provenance["set_digest"]}, "embedder": "minilm"}
    (path / "world.json").write_text(
        json.dumps({"worlds": [world | changes], "provenance": provenance}), encoding="utf-8"
    )
    rows = [
        {"world": name, "arm": arm, "strength": strength, "seed": seed, "hit": hit, "questions": 40}
        for strength, both in LIVES.items()
        for arm, hits in zip((chosen, "without"), both, strict=True)
        for seed, hit in enumerate(hits)
    ]
    (path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def test_a_world_is_a_study(folder: Folder, tmp_path: Path) -> None:
    lived = worlds(tmp_path / "lived")
    result = meta_analysis([lived, folder(FIRST), worlds(tmp_path / "again", name="flood/repeats")])
    dense = next(row for row in result.rows if row.mechanism == "dense_retrieval")
    assert [study.data for study in dense.studies] == [
        "LoCoMo",
        "world needs",
        "world flood/repeats",
    ]
    differences = np.subtract(*LIVES[1.0])
    assert dense.studies[1].effect == pytest.approx(differences.mean())
    assert dense.studies[1].se == pytest.approx(differences.std(ddof=1) / 3**0.5)
    assert list(dense.studies[1].measured) == ["needs (minilm)"]
    assert result.notes == () and str(lived) in result.designs
    others = [row for row in result.rows if row.mechanism != "dense_retrieval"]
    assert all(len(row.studies) == 1 for row in others)
    # twice the same lives: one study, of the mean of both
    twice = meta_analysis([folder(FIRST), lived, worlds(tmp_path / "twice")])
    dense = next(row for row in twice.rows if row.mechanism == "dense_retrieval")
    assert len(dense.studies) == 2
    assert dense.studies[1].se == pytest.approx(differences.std(ddof=1) / 3**0.5)


def test_worlds_that_say_nothing_are_left_out_and_said(folder: Folder, tmp_path: Path) -> None:
    cases: tuple[tuple[dict[str, Any], str], ...] = (
        ({"seeds": 1}, "one life"),
        ({"strengths": [0.0]}, "no structure"),
        ({"trial": {"why": "seed 1: it failed"}}, "it failed"),
    )
    for place, (changes, words) in enumerate(cases):
        result = meta_analysis([folder(FIRST), worlds(tmp_path / f"w{place}", **changes)])
        (note,) = result.notes
        assert words in note
        assert all(len(row.studies) == 1 for row in result.rows)


def test_worlds_that_cannot_be_pooled_are_refused(folder: Folder, tmp_path: Path) -> None:
    damaged, short = worlds(tmp_path / "damaged"), worlds(tmp_path / "short")
    (damaged / "world.json").write_text("[1]", encoding="utf-8")
    (short / "rows.jsonl").write_text("", encoding="utf-8")
    for folders, words in (
        ([folder(FIRST), damaged], "no sound result"),
        ([folder(FIRST), short], "no sound result"),
        ([folder(FIRST), worlds(tmp_path / "other", "minimal")], "minimal"),
        ([folder(FIRST), worlds(tmp_path / "idle", trials=[])], "on trial"),
        ([worlds(tmp_path / "alone")], "no design was given"),
    ):
        with pytest.raises((DataError, InputError), match=words) as caught:
            meta_analysis(folders)
        assert caught.value.cure


def test_what_cannot_be_pooled_is_refused_with_a_cure(folder: Folder, tmp_path: Path) -> None:
    of_another_set = replace(OTHER, facts=replace(OTHER.facts, set="minimal"))
    damaged = folder(FIRST)
    (damaged / "design.json").write_text("{", encoding="utf-8")
    refused: list[tuple[list[Path], dict[str, Any], str]] = [
        ([folder(FIRST), folder(of_another_set)], {}, "minimal"),
        ([tmp_path / "nowhere"], {}, "no result"),
        ([damaged], {}, "no result"),
        ([folder(FIRST)], {"metric": "fame@10"}, "no design leaves out"),
        ([folder(replace(FIRST, n_conversations=1))], {}, "no design leaves out"),
        ([folder(FIRST)], {"margin": 0.0}, "margin"),
        ([], {}, "no design"),
    ]
    for folders, options, words in refused:
        with pytest.raises((DataError, InputError), match=words) as caught:
            meta_analysis(folders, **options)
        assert caught.value.cure


def test_the_command_prints_a_row_for_each_mechanism(folder: Folder) -> None:
    given = ["pool", str(folder(FIRST)), str(folder(OTHER))]
    printed = CliRunner().invoke(app, given, catch_exceptions=False).stdout
    assert all(name in printed for name in FEW) and "studies: LoCoMo, BEAM" in printed
    data = json.loads(CliRunner().invoke(app, [*given, "--json"], catch_exceptions=False).stdout)
    assert [row["mechanism"] for row in data["rows"]] == [
        row.mechanism for row in meta_analysis([Path(name) for name in given[1:]]).rows
    ]
    with pytest.raises(HebbariumError):
        CliRunner().invoke(app, ["pool", "nowhere"], catch_exceptions=False)
