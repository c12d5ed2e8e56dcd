"""Rerankers and their cache; the cross-encoder is a tiny BERT that is built here."""

from __future__ import annotations

import json
import math
import pickle
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hebbarium.engine.base.errors import HebbariumError
from hebbarium.engine.base.files import content_digest
from hebbarium.engine.ports.reranker import (
    FILE,
    STAND_IN,
    CachedReranker,
    CrossEncoderReranker,
    WordOverlapReranker,
    reranker,
)
from hebbarium.testing.cross_encoder import save_tiny_cross_encoder

PAIRS = [
    "the boat",
    "a longer text about a house by the lake",
    "",
    "\0 \ud800 dépôt",
    "keys " * 500,
]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_cross_encoder(tmp_path_factory.mktemp("model"))


@pytest.fixture
def folder(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the model, with a cache folder of its own."""
    monkeypatch.setenv("HEBBARIUM_CACHE", str(tmp_path / "cache"))
    return shutil.copytree(saved, tmp_path / "model")


def built(folder: Path) -> Any:
    return reranker(folder, content_digest(folder))


class Counting:
    """Scores by length, a little differently at each call."""

    name, revision = "counting", "1"

    def __init__(self) -> None:
        self.seen: list[tuple[str, str]] = []

    def score(self, query: str, texts: Sequence[str]) -> np.ndarray:
        self.seen += [(query, text) for text in texts]
        return np.array([len(text) + 1e-9 * len(self.seen) for text in texts])


@pytest.mark.slow
def test_scores_against_transformers(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The logit of query and text in one sequence, computed with transformers alone, one pair at
    a time.
    """
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer, model = (
        AutoTokenizer.from_pretrained(folder),
        AutoModelForSequenceClassification.from_pretrained(folder).eval(),
    )
    capfd.readouterr()
    found = built(folder).score("where is the boat", PAIRS)
    captured = capfd.readouterr()
    assert captured.out == captured.err == ""
    for text, score in zip(PAIRS, found, strict=True):
        clean = text.replace("\0", " ").replace("\ud800", "?")
        with torch.no_grad():
            logit = model(
                **tokenizer(
                    [["where is the boat", clean]],
                    truncation=True,
                    max_length=64,
                    return_tensors="pt",
                )
            ).logits
        assert float(logit) == pytest.approx(score, abs=1e-5)
    assert len(set(found.round(6))) == len(PAIRS) and built(folder).score("x", []).shape == (0,)


def test_each_pair_is_scored_once_and_kept_in_a_file(tmp_path: Path) -> None:
    source, file = Counting(), tmp_path / "deep" / "scores.sqlite"
    cached = CachedReranker(source, file)
    first = cached.score("q", ["one", "three", "one"])
    assert (
        first.tolist() == [pytest.approx(3.0), pytest.approx(5.0), pytest.approx(3.0)]
        and len(source.seen) == 2
    )
    other = CachedReranker(Counting(), file)
    assert (
        other.score("q", ["three", "one"]).tolist() == first[[1, 0]].tolist()
        and other.reranker.seen == []
    )  # type: ignore[attr-defined]
    cached.score("qo", ["ne"])
    assert source.seen[-1] == ("qo", "ne"), "query and text are told apart"
    assert pickle.loads(pickle.dumps(cached)).score("q", ["one"]).tolist() == first[:1].tolist()
    source.revision = "2"
    assert CachedReranker(source, file).score("q", ["one"]).size and source.seen[-1] == ("q", "one")


def test_many_pairs_cross_selects(tmp_path: Path) -> None:
    texts = ["x" * i for i in range(1200)]
    assert CachedReranker(Counting(), None).score("q", texts).round().tolist() == list(
        map(float, range(1200))
    )


def test_a_damaged_cache_is_told(tmp_path: Path) -> None:
    (tmp_path / "junk").write_bytes(b"this is not a data base " * 100)
    with pytest.raises(HebbariumError, match="cache of rerankers") as caught:
        CachedReranker(Counting(), tmp_path / "junk").score("q", ["a"])
    assert "HEBBARIUM_CACHE" in caught.value.cure


@pytest.mark.slow
def test_torch_is_loaded_only_for_missing_scores(folder: Path, tmp_path: Path) -> None:
    scores = built(folder).score("where", ["the boat", "a house"])
    code = (
        "import sys; from pathlib import Path; from hebbarium.engine.ports.reranker import reranker;"
        "from hebbarium.engine.base.files import content_digest; f = Path(sys.argv[1]);"
        "print(reranker(f, content_digest(f)).score('where', ['a house', 'the boat']).tolist());"
        "assert not {'torch', 'transformers', 'sentence_transformers'} & set(sys.modules)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, str(folder)], check=True, capture_output=True, text=True
    )
    assert json.loads(run.stdout) == scores[::-1].tolist()
    assert (tmp_path / "cache" / FILE).is_file()


@pytest.mark.slow
def test_another_content_is_another_model(folder: Path, tmp_path: Path) -> None:
    one = built(folder)
    (folder / "note.txt").write_text("changed", encoding="utf-8")
    other = built(folder)
    assert one.revision != other.revision
    other.score("q", ["a"])
    with sqlite3.connect(tmp_path / "cache" / FILE) as connection:
        assert connection.execute("SELECT count(*) FROM models").fetchone() == (2,)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (None, "settings"),
        ("{", "settings"),
        ("[]", "settings"),
        ('{"architectures": ["BertModel"]}', "no cross-encoder"),
    ],
)
def test_a_folder_whose_settings_are_of_no_cross_encoder_is_refused(
    tmp_path: Path, settings: str | None, words: str
) -> None:
    """Neither torch nor weights are needed to see it."""
    if settings is not None:
        (tmp_path / "config.json").write_text(settings, encoding="utf-8")
    with pytest.raises(HebbariumError, match=words) as caught:
        reranker(tmp_path, "1")
    assert str(tmp_path) in caught.value.where and caught.value.cure


@pytest.mark.slow
@pytest.mark.parametrize(("harm", "words"), [
    ("no folder", "settings"), ("no settings", "settings"), ("broken settings", "settings"),
    ("a list", "settings"),
    ("no weights", "cannot be loaded"), ("half of the weights", "cannot be loaded"),
    ("no tokeniser", "no tokeniser"),
    ("a sentence model", "no cross-encoder"), ("no head", "lack classifier"),
    ("three labels", "3 labels"), ("NaN", "not finite"),
])  # fmt: skip
def test_a_folder_that_cannot_be_used_is_refused_at_once(
    folder: Path, harm: str, words: str
) -> None:
    from safetensors.numpy import load_file, save_file

    weights, config = folder / "model.safetensors", folder / "config.json"
    settings = json.loads(config.read_text(encoding="utf-8"))
    if harm == "no folder":
        folder = folder / "none"
    elif harm == "no settings":
        config.unlink()
    elif harm in ("broken settings", "a list"):
        config.write_text("{" if harm == "broken settings" else "[]", encoding="utf-8")
    elif harm == "no weights":
        weights.unlink()
    elif harm == "half of the weights":
        weights.write_bytes(weights.read_bytes()[: weights.stat().st_size // 2])
    elif harm == "no tokeniser":
        for name in ("tokenizer.json", "vocab.txt", "tokenizer_config.json"):
            (folder / name).unlink(missing_ok=True)
    elif harm == "a sentence model":
        config.write_text(
            json.dumps({**settings, "architectures": ["BertModel"]}), encoding="utf-8"
        )
    elif harm == "three labels":
        save_tiny_cross_encoder(folder, labels=3)
    else:
        tensors = load_file(weights)
        if harm == "NaN":
            tensors["classifier.bias"] = np.full_like(tensors["classifier.bias"], math.nan)
        else:
            tensors = {
                name: tensor for name, tensor in tensors.items() if name != "classifier.weight"
            }
        save_file(tensors, weights, metadata={"format": "pt"})
    with pytest.raises(HebbariumError, match=words) as caught:
        reranker(folder, "1")
    assert str(folder) in caught.value.where and caught.value.cure


def test_the_stand_in_counts_shared_words() -> None:
    found = reranker(STAND_IN, "1")
    assert isinstance(found, WordOverlapReranker)
    scores = found.score("The red, RED boat", ["a red boat", "boat", "", "the red boat"])
    assert scores.tolist() == [
        pytest.approx(math.log(x)) for x in (2.5 / 1.5, 1.5 / 2.5, 0.5 / 3.5, 3.5 / 0.5)
    ]
    assert found.score("", ["x"]).tolist() == [0.0] and found.score("x", []).shape == (0,)


@pytest.mark.slow
def test_a_model_is_not_pickled(folder: Path) -> None:
    source = CrossEncoderReranker(folder, "1")
    expected = source.score("q", ["a"])
    again = pickle.loads(pickle.dumps(source))
    assert again._model is None and again.score("q", ["a"]).tolist() == pytest.approx(
        expected.tolist()
    )
