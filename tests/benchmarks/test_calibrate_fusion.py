"""Calibration of rational fusion: what is observed, what is fitted and written, and what the
command prints and refuses.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml

from hebbarium.benchmarks.calibration.fusion import (
    FUSION,
    calibrate_fusion,
    to_json,
    with_rational_fusion,
    write,
)
from hebbarium.benchmarks.datasets import Conversation, Dataset, Question
from hebbarium.benchmarks.experiments.design import ablate
from hebbarium.benchmarks.experiments.run import run
from hebbarium.cli import main
from hebbarium.engine.base.errors import InputError, RegistryError
from hebbarium.engine.catalogue.registry import MechanismSet, Registry
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import FUSED
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.ports.embedding_cache import CachedEmbedder
from hebbarium.mechanisms.retrieval.rational_fusion import SHIPPED, read_calibration

CHOSEN = MechanismSet(
    "mine", "", {"lexical_bm25": {"b": 0.5}, "trigram_match": {}, "convex_fusion": {}, "heat": {}}
)
THINGS = ("anchor", "basket", "candle", "dragon", "engine", "feather", "garden", "hammer")


def embedder() -> CachedEmbedder:
    return CachedEmbedder(HashingEmbedder(16), None)


def world(n: int = 3) -> Dataset:
    """Conversations in which a question shares two words with the event that it needs and one
    with another.
    """
    made = []
    for c in range(n):
        texts = [
            f"the {thing} is near the {other}"
            for thing, other in zip(THINGS, (*THINGS[1:], THINGS[0]), strict=True)
        ]
        events = tuple(
            Event(float(i), text, id=f"c{c}e{i}", dated=False) for i, text in enumerate(texts)
        )
        asked = tuple(
            Question(
                f"c{c}q{i}", f"is the {thing} near the {other}?", 99.0, "single", (f"c{c}e{i}",)
            )
            for i, (thing, other) in enumerate(zip(THINGS, (*THINGS[1:], THINGS[0]), strict=True))
        )
        made.append(
            Conversation(
                f"c{c}", events, (*asked, Question(f"c{c}u", "what?", 99.0, "abstention", ()))
            )
        )
    return Dataset("world", "7" * 64, tuple(made), {})


def test_the_fit_is_of_the_signals_of_the_set_and_its_questions_with_evidence(
    registry: Registry,
) -> None:
    fit = calibrate_fusion(CHOSEN, registry, world(), embedder())
    assert set(fit.signals) == {"lexical", "form"} and fit.questions == 24, (
        "heat is an estimate of need, no evidence"
    )
    assert fit.signals["form"].half == 0.0 < fit.signals["lexical"].half
    assert fit.signals["lexical"].slope > 0.0
    assert (
        fit.unseen is not None
        and fit.need_alone == pytest.approx(np.log(1 / 8))
        and fit.likelihood > fit.need_alone
    )
    assert "convex_fusion" not in fit.chosen.mechanisms and FUSION in fit.chosen.mechanisms


def test_the_written_set_uses_the_fit_and_its_conversations_are_refused(
    registry: Registry, tmp_path: Path
) -> None:
    fit = calibrate_fusion(CHOSEN, registry, world(), embedder())
    file = write(fit, registry, embedder(), tmp_path)
    held = json.loads((tmp_path / "evidence.json").read_text())
    assert {k: held[k] for k in to_json(fit)} == json.loads(json.dumps(to_json(fit)))
    made = registry.set(str(file))
    assert yaml.safe_load(file.read_text())["mechanisms"]["lexical_bm25"] == {"b": 0.5}
    assert read_calibration(tmp_path / "evidence.json") == dict(fit.signals)
    e = Engine(registry.build(made), HashingEmbedder(16))
    e.encode_all(list(world().conversations[0].events))
    assert (
        e.retrieve("is the candle near the dragon?", k=1).rows.tolist() == [2]
        and np.ptp(e.column(FUSED)) > 0.0
    )
    for refusing in (run, ablate):
        with pytest.raises(InputError, match="calibrat"):
            refusing(made, registry, world(), embedder(), tmp_path / refusing.__name__)  # type: ignore[operator]


def test_too_few_questions_and_sets_without_signals_are_refused(registry: Registry) -> None:
    with pytest.raises(InputError, match="too few"):
        calibrate_fusion(CHOSEN, registry, world(2), embedder())
    with pytest.raises(InputError, match="no signals"):
        calibrate_fusion(
            MechanismSet("none", "", {"base_level_activation": {}}), registry, world(), embedder()
        )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        '{"signals": {"x": {}}}',
        '{"signals": {"x": {"slope": -1, "half": 0}}}',
        '{"signals": []}',
    ],
)
def test_a_damaged_calibration_is_refused_with_its_file(text: str, tmp_path: Path) -> None:
    (tmp_path / "e.json").write_text(text)
    with pytest.raises(RegistryError) as caught:
        read_calibration(tmp_path / "e.json")
    assert "e.json" in caught.value.where and caught.value.cure


def test_the_shipped_calibration_names_its_data() -> None:
    held = json.loads(SHIPPED.read_text(encoding="utf-8"))
    assert (
        held["dataset"] == "demo"
        and len(held["sha256"]) == 64
        and held["conversations"]
        and held["questions"] > 100
    )
    assert {"dense", "lexical"} <= set(held["signals"])


def test_a_fusion_of_the_set_is_replaced_and_its_parameters_are_kept(registry: Registry) -> None:
    made = with_rational_fusion(
        MechanismSet("s", "", {"weighted_rrf": {}, FUSION: {"need": 0.5}, "heat": {}}),
        registry,
        "x.json",
    )
    assert dict(made.mechanisms) == {"heat": {}, FUSION: {"need": 0.5, "calibration": "x.json"}}


def called(monkeypatch: pytest.MonkeyPatch, out: Path, *more: str) -> None:
    told = "calibrate --set bm25 --dataset demo --limit 2 --embedder hashing:16 --out"
    monkeypatch.setattr(sys, "argv", ["hebbarium", *told.split(), str(out), *more])
    main()


def test_the_command_prints_the_slopes_and_writes_a_set(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SystemExit) as ended:
        called(monkeypatch, tmp_path, "--fit", "fusion")
    printed = capsys.readouterr().out
    assert (
        not ended.value.code
        and "lexical" in printed
        and "mean ln probability of the needed memory" in printed
    )
    assert (tmp_path / "evidence.json").is_file() and (tmp_path / "bm25_rational.yaml").is_file()
    with pytest.raises(SystemExit):
        called(monkeypatch, tmp_path / "again", "--fit", "fusion", "--json")
    assert json.loads(capsys.readouterr().out)["signals"]["lexical"]["slope"] > 0.0
    with pytest.raises(SystemExit) as ended:
        called(monkeypatch, tmp_path, "--fit", "nothing")
    assert ended.value.code == 2
