"""The cross-encoder through registry and engine, with a tiny BERT that is built here."""

from __future__ import annotations

import json
import math
import pickle
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hebbarium.engine.base.errors import HebbariumError, RegistryError
from hebbarium.engine.catalogue.registry import Registry, digest
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import RELEVANCE, RERANKED, REWEIGHTED
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.testing.cross_encoder import save_tiny_cross_encoder

ID = "cross_encoder_rerank"
TEXTS = (
    "Ada bought a boat",
    "Bo sold his car",
    "we ate fish",
    "the boat is red",
    "Cleo likes the lake",
    "",
)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_cross_encoder(tmp_path_factory.mktemp("model"))


@pytest.fixture
def folder(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the model, with a cache folder of its own."""
    monkeypatch.setenv("HEBBARIUM_CACHE", str(tmp_path / "cache"))
    return shutil.copytree(saved, tmp_path / "model")


def memory_with(registry: Registry, folder: Path, **values: Any) -> Engine:
    parameters = {"model": str(folder), **values}
    memory = Engine(
        [registry.instance("dense_similarity"), registry.instance(ID, parameters)],
        HashingEmbedder(32),
    )
    memory.encode_all(Event(float(i), text) for i, text in enumerate(TEXTS))
    return memory


@pytest.mark.slow
def test_the_pool_is_reordered_by_the_model(registry: Registry, folder: Path) -> None:
    """Probabilities by transformers alone; the pool in their order, the others below it in
    theirs.
    """
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    memory = memory_with(registry, folder, alpha=1.0, pool=4)
    rows = memory.retrieve("where is the boat").rows.tolist()
    before = np.argsort(-memory.column(REWEIGHTED), kind="stable").tolist()
    tokenizer, model = (
        AutoTokenizer.from_pretrained(folder),
        AutoModelForSequenceClassification.from_pretrained(folder).eval(),
    )
    judged = {}
    for row in before[:4]:
        with torch.no_grad():
            judged[row] = 1.0 / (
                1.0
                + math.exp(
                    -float(
                        model(
                            **tokenizer([["where is the boat", TEXTS[row]]], return_tensors="pt")
                        ).logits
                    )
                )
            )
    assert rows == sorted(judged, key=judged.__getitem__, reverse=True) + before[4:]
    relevance = memory.column(RELEVANCE)
    assert [row for row in range(6) if math.isfinite(relevance[row])] == sorted(judged)
    assert all(relevance[row] == pytest.approx(p, abs=1e-5) for row, p in judged.items())


def test_without_a_model_there_is_no_mechanism(registry: Registry) -> None:
    with pytest.raises(RegistryError, match="no cross-encoder is named") as caught:
        registry.instance(ID)
    assert ID in caught.value.where and "FOLDER" in caught.value.cure


@pytest.mark.parametrize("harm", ["empty folder", "not a model", "no such folder"])
def test_a_folder_that_cannot_be_loaded_stops_before_the_first_cell(
    registry: Registry, tmp_path: Path, harm: str
) -> None:
    model = tmp_path / "model"
    if harm != "no such folder":
        model.mkdir()
    if harm == "not a model":
        (model / "config.json").write_text(
            json.dumps({"model_type": "bert", "architectures": ["BertForSequenceClassification"]}),
            encoding="utf-8",
        )
    file = tmp_path / "mine.yaml"
    file.write_text(
        f"mechanisms: {{dense_similarity: {{}}, {ID}: {{model: model}}}}\n", encoding="utf-8"
    )
    with pytest.raises(RegistryError) as caught:
        registry.build(registry.set(str(file)))
    assert ID in caught.value.where and caught.value.cure


@pytest.mark.slow
def test_the_content_of_the_folder_is_in_the_digest(
    registry: Registry, folder: Path, tmp_path: Path
) -> None:
    def of(place: Path) -> str:
        return digest([registry.instance(ID, {"model": str(place)})])

    copy = shutil.copytree(folder, tmp_path / "copy")
    assert of(copy) == of(folder)
    (copy / "note.txt").write_text("changed", encoding="utf-8")
    assert of(copy) != of(folder)


@pytest.mark.slow
def test_a_second_run_does_not_load_torch_and_gives_the_same(
    registry: Registry, folder: Path
) -> None:
    memory = memory_with(registry, folder)
    expected = memory.retrieve("where is the boat").rows.tolist(), memory.column(RERANKED).tolist()
    code = (
        "import sys, json; sys.path.insert(0, sys.argv[2]); from pathlib import Path; from hebbarium.engine.catalogue.registry import Registry;"
        "from test_cross_encoder_rerank import memory_with; m = memory_with(Registry.read(), Path(sys.argv[1]));"
        "rows = m.retrieve('where is the boat').rows.tolist();"
        "print(json.dumps([rows, m.column('reranked').tolist()])); assert 'torch' not in sys.modules"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, str(folder), str(Path(__file__).parent)],
        check=True,
        capture_output=True,
        text=True,
    )
    assert tuple(json.loads(run.stdout)) == expected


@pytest.mark.slow
def test_a_score_that_is_not_finite_is_an_error(
    registry: Registry, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = memory_with(registry, folder)
    model: Any = memory.mechanisms[1] if memory.mechanisms[1].id == ID else memory.mechanisms[0]
    bad = type("Bad", (), {"predict": lambda self, pairs, **options: np.full(len(pairs), np.nan)})()
    monkeypatch.setattr(model.reranker.reranker, "_load", lambda: bad)
    with pytest.raises(HebbariumError, match="not finite"):
        memory.retrieve("where is the boat")


@pytest.mark.slow
@pytest.mark.parametrize("query", ["", "??", "boat " * 200_000, "\ud800"])
def test_any_query_has_a_valid_answer_and_changes_nothing(
    registry: Registry, folder: Path, query: str
) -> None:
    memory = memory_with(registry, folder)
    before = memory.digest()
    answer = memory.retrieve(query, learn=True)
    assert (
        len(answer) == len(TEXTS)
        and np.isfinite(memory.column(RERANKED)).all()
        and memory.digest() == before
    )


@pytest.mark.slow
def test_it_is_sent_to_other_processes(registry: Registry, folder: Path) -> None:
    one = registry.instance(ID, {"model": str(folder)})
    again: Any = pickle.loads(pickle.dumps(one))
    assert again.params == one.params and again.reranker.score("q", ["a"]).size == 1
