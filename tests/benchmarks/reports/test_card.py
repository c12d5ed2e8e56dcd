"""Result cards: valid by their schema, and nothing in them that the run's files do not hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, ValidationError
from small_sets import precisionmembench, write_files

from hebbarium.benchmarks.datasets import Dataset, load
from hebbarium.benchmarks.execution.folder import RunFolder
from hebbarium.benchmarks.execution.spec import Settings
from hebbarium.benchmarks.experiments.run import run
from hebbarium.benchmarks.reports.card import card, schema, write_card
from hebbarium.engine.base.errors import DataError
from hebbarium.engine.catalogue.registry import MechanismSet, Registry
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.ports.embedding_cache import CachedEmbedder

EMBEDDER = CachedEmbedder(HashingEmbedder(16), None)


@pytest.fixture
def ran(tmp_path: Path, registry: Registry, tiny: Dataset) -> Path:
    run(MechanismSet("small", "", {"lexical_bm25": {}}), registry, tiny, EMBEDDER, tmp_path / "o")
    return tmp_path / "o"


def read(folder: Path, name: str = "card.json") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / name).read_text(encoding="utf-8"))
    return found


def test_the_card_of_a_run_is_valid_and_repeats_its_files(ran: Path) -> None:
    Draft202012Validator.check_schema(schema())
    found, manifest, metrics = read(ran), read(ran, "manifest.json"), read(ran, "metrics.json")
    Draft202012Validator(schema()).validate(found)
    assert found["data"] == {
        "name": "tiny",
        "sha256": "0" * 64,
        "unit": "turn",
        "match": "unit",
        "conversations": 2,
        "questions_with_gold": 6,
    }
    assert found["memory"]["set_digest"] == manifest["set_digest"] and found["memory"][
        "mechanisms"
    ] == ["lexical_bm25"]
    assert (
        found["metrics"]
        == {name: value for name, value in metrics["overall"].items() if name != "n"}
        and found["depths"] == metrics["depths"]
    )
    assert (
        found["chance"]["recall@10"] == pytest.approx(10 / 12)
        and found["pool"]["smallest"] == found["pool"]["largest"] == 12
    )
    assert (
        found["code"] == manifest["code"]
        and found["versions"] == manifest["versions"]
        and found["language_model"]["tokens"] == 0
    )


def test_the_card_of_another_system_is_valid(
    tmp_path: Path, registry: Registry, tiny: Dataset
) -> None:
    run(
        None,
        registry,
        tiny,
        EMBEDDER,
        tmp_path,
        settings=Settings(
            system="hebbarium.benchmarks.systems.bm25_dense:BM25Dense", match="session"
        ),
    )
    Draft202012Validator(schema()).validate(read(tmp_path))
    assert (
        read(tmp_path)["memory"]["mechanisms"] == []
        and read(tmp_path)["data"]["match"] == "session"
    )


def test_tokens_of_a_language_model_are_summed(ran: Path) -> None:
    used = {
        "encode": {"a": {"requests": 2, "input_tokens": 10, "output_tokens": 3}},
        "retrieve": {"a": {"requests": 1, "input_tokens": 4, "output_tokens": 1}},
    }
    made = card(
        {**read(ran, "manifest.json"), "language_model": "a model"},
        {**read(ran, "metrics.json"), "language_model": used},
    )
    assert made["language_model"]["tokens"] == 18


def test_the_card_has_the_ceiling_and_what_came_back_and_must_not(
    tmp_path: Path, registry: Registry
) -> None:
    folder = write_files(tmp_path / "data", precisionmembench(), "precisionmembench")
    out = tmp_path / "out"
    chosen = MechanismSet("words", "", {"lexical_bm25": {}})
    run(chosen, registry, load("precisionmembench", folder), EMBEDDER, out)
    made, metrics = read(out), read(out, "metrics.json")
    Draft202012Validator(schema()).validate(made)
    assert made["oracle"] == metrics["oracle"] and made["oracle"]["hit@10"] == 1.0
    assert made["forbidden"] == metrics["forbidden"] and made["forbidden"]["n"] == 6
    rows = [json.loads(line) for line in (out / "rows.jsonl").read_text("utf-8").splitlines()]
    assert all(set(row["forbidden"]).isdisjoint(row["gold"]) for row in rows)


@pytest.mark.parametrize(
    "change",
    [
        {"seed": "one"},
        {"metrics": {"hit@10": 2.0}},
        {"more": 1},
        {"depths": {"f1@3": 0.1}},
        {"oracle": {"f1@3": 0.1}},
        {"forbidden": {"n": 1}},
        {"format": 2},
    ],
)
def test_the_schema_refuses_other_cards(ran: Path, change: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Draft202012Validator(schema()).validate({**read(ran), **change})


def test_a_damaged_run_has_no_card(ran: Path) -> None:
    (ran / "metrics.json").write_text('{"overall": ', encoding="utf-8")
    with pytest.raises(DataError, match="damaged"):
        write_card(RunFolder.read(ran))
    (ran / "metrics.json").write_text("{}", encoding="utf-8")
    with pytest.raises(DataError, match="overall"):
        write_card(RunFolder.read(ran))
    (ran / "metrics.json").unlink()
    with pytest.raises(DataError, match=r"no metrics\.json"):
        write_card(RunFolder.read(ran))
