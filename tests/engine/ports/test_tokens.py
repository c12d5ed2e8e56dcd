"""Token vectors and passages; the sentence model is the installed one, read offline."""

from __future__ import annotations

import json
import pickle
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hebbarium.engine.base.errors import HebbariumError, InputError
from hebbarium.engine.ports.by_name import embedder
from hebbarium.engine.ports.cache_file import DamagedCacheWarning
from hebbarium.engine.ports.embedder import HashingEmbedder, tokens_of
from hebbarium.engine.ports.embedding_cache import CachedEmbedder, metered
from hebbarium.engine.ports.static_model import StaticEmbedder
from hebbarium.engine.ports.tokens import Tokens, coded, joined, packed, unpacked, valid
from hebbarium.engine.ports.word_pieces import cuts

TEXTS = [
    "We moved to a red house.",
    "",
    "tea",
    "Ada bought a green bicycle, because the old one was stolen.",
    "\0 \ud800 dépôt",
    "unbelievable keyrings",
]


def vectors(tokens: Tokens) -> np.ndarray:
    return tokens.codes * tokens.scales[:, None]


def same(one: Tokens, other: Tokens) -> bool:
    return all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in ("codes", "scales", "offsets", "spans")
    )


class Whole:
    """An embedder without token vectors."""

    name, revision, dimensions = "whole", "1", 4

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        return HashingEmbedder(4).embed(texts)


class Counting(HashingEmbedder):
    def __init__(self) -> None:
        super().__init__(16)
        self.seen: list[str] = []

    def embed_tokens(self, texts: Sequence[str]) -> Tokens:
        self.seen += texts
        return super().embed_tokens(texts)


# --- codes ----------------------------------------------------------------------------------------
@pytest.mark.parametrize(("t", "d"), [(1, 1), (3, 3), (0, 5), (7, 384), (300, 8), (2, 9)])
def test_codes_survive_the_file(t: int, d: int) -> None:
    made = coded(np.random.default_rng(t).normal(size=(t, d)), np.arange(2 * t).reshape(t, 2))
    assert valid(made, 1) and same(unpacked(*packed(made)), made)
    few = Tokens((made.codes // 2).astype(np.int8) | 1, made.scales, made.offsets, made.spans)
    assert np.array_equal(unpacked(*packed(few)).codes, few.codes) and len(
        packed(few)[1]
    ) == 2 + 4 * t + 7 * -(-t * d // 8)
    if d == 384:
        assert len(packed(made)[1]) == len(packed(few)[1]), (
            "vectors without a dominant coordinate have 7 bits"
        )


@pytest.mark.parametrize("spread", [0.0, 0.5, 1.0, 2.0])
def test_cosines_stay_within_a_hundredth(spread: float) -> None:
    rng = np.random.default_rng(0)
    # some coordinates larger than others
    rows = rng.normal(size=(200, 384)) * np.exp(spread * rng.normal(size=384))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    found = vectors(coded(rows, np.zeros((200, 2))))
    assert np.abs(found @ found.T - rows @ rows.T).max() < 0.01 and np.allclose(
        np.linalg.norm(found, axis=1), 1.0, atol=1e-6
    )


@pytest.mark.parametrize(("pieces", "data"), [
    (3, b""), (0, b"x"), (1, b"\1\0" + b"\0" * 5), (-1, b"\1\0"), (2, b"\0" * 400), (1,
    b"\1\x80" + b"\0" * 6)])  # fmt: skip
def test_damaged_tokens_are_refused(pieces: int, data: bytes) -> None:
    with pytest.raises(ValueError):
        unpacked(pieces, data)


def test_tokens_of_several_texts_are_joined_and_taken_apart() -> None:
    parts = [coded(np.eye(3)[:k].reshape(-1, 3), [[i, i + 1] for i in range(k)]) for k in (2, 0, 3)]
    whole = joined(parts, 3)
    assert (
        whole.offsets.tolist() == [0, 2, 2, 5]
        and len(whole) == 3
        and all(same(a, b) for a, b in zip(whole.by_text(), parts, strict=True))
    )
    assert joined([], 7).codes.shape == (0, 7) and len(joined(parts[1:2] * 2, 7)) == 2
    for changed in (whole.codes[:-1], whole.codes.astype(np.int16), 2 * whole.codes):
        assert not valid(Tokens(changed, whole.scales, whole.offsets, whole.spans), 3)
    assert valid(whole, 3) and not valid(whole, 2) and not valid(None, 0)


# --- embedders ------------------------------------------------------------------------------------
def test_the_hashing_embedder_gives_the_vectors_of_its_words() -> None:
    source = HashingEmbedder(64)
    tokens = source.embed_tokens(["A red HOUSE, a", "", "?!", "x" * 1_000_000 + " red"])
    assert tokens.offsets.tolist() == [0, 4, 4, 4, 6] and tokens.spans[:4].tolist() == [
        [0, 1],
        [2, 5],
        [6, 11],
        [13, 14],
    ]
    alone = source.embed(["a", "red", "house", "a", "x" * 1_000_000, "red"])
    assert np.allclose(np.sum(vectors(tokens) * alone, axis=1), 1.0, atol=2e-3)
    assert (
        len(source.embed_tokens(["word " * 5000]).codes) == 512
        and len(source.embed_tokens([])) == 0
    )


@pytest.mark.slow
def test_token_vectors_against_transformers() -> None:
    """The last layer without [CLS] and [SEP], computed with transformers alone."""
    source: Any = embedder("minilm", None).embedder
    tokens = source.embed_tokens(TEXTS)
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer, model = (
        AutoTokenizer.from_pretrained(source.folder),
        AutoModel.from_pretrained(source.folder),
    )
    for text, found in zip(TEXTS, tokens.by_text(), strict=True):
        clean = text.replace("\0", " ").replace("\ud800", "?")
        with torch.no_grad():
            rows = (
                model(**tokenizer([clean], return_tensors="pt")).last_hidden_state[0, 1:-1].numpy()
            )
        words = tokenizer.tokenize(clean)
        assert len(found.codes) == len(words) == len(found.spans)
        rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        assert np.abs(vectors(found) @ vectors(found).T - rows @ rows.T).max(initial=0.0) < 0.01
        for (start, end), word in zip(found.spans.tolist(), words, strict=True):
            assert clean[start:end].lower().translate(
                str.maketrans("éô", "eo")
            ) == word.removeprefix("##")
    assert source.embed_tokens(["word " * 500]).codes.shape == (254, 384)
    assert pickle.loads(pickle.dumps(source)).pieces("a b").tolist() == [[0, 1], [2, 3]]


@pytest.mark.slow
def test_openvino_gives_the_same_token_vectors() -> None:
    pytest.importorskip("openvino")
    one, other = (
        embedder("minilm").embed_tokens(TEXTS),
        embedder("minilm+openvino").embed_tokens(TEXTS),
    )
    assert (
        np.array_equal(one.spans, other.spans)
        and np.sum(vectors(one) * vectors(other), axis=1).min() > 0.999
    )


def test_a_static_model_gives_the_vectors_of_its_pieces(tmp_path: Path) -> None:
    from safetensors.numpy import save_file
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = {"[UNK]": 0, "red": 1, "house": 2, "tea": 3}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    rows = np.random.default_rng(0).normal(size=(4, 6)).astype(np.float32)
    save_file({"embeddings": rows}, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text('{"max_length": 4}', encoding="utf-8")
    source = StaticEmbedder(tmp_path)
    tokens = source.embed_tokens(["tea no red house tea", ""])
    units = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    assert tokens.offsets.tolist() == [0, 3, 3] and tokens.spans.tolist() == [
        [0, 3],
        [7, 10],
        [11, 16],
    ], "the fifth piece is beyond the window"
    assert np.allclose(np.sum(vectors(tokens) * units[[3, 1, 2]], axis=1), 1.0, atol=1e-3)
    assert passages(source, "tea red house tea red no", overlap=1) == (
        "tea red house tea",
        "tea red no",
    )


@pytest.mark.parametrize(
    "wrap",
    [
        lambda e: e,
        lambda e: CachedEmbedder(e, None),
        metered,
        lambda e: metered(CachedEmbedder(e, None)),
    ],
)
def test_an_embedder_without_token_vectors_is_named(wrap: Any) -> None:
    with pytest.raises(InputError, match="whole") as caught:
        tokens_of(wrap(Whole()), ["a"])
    assert caught.value.where == "whole" and "embed_tokens" in caught.value.cure


# --- cache ----------------------------------------------------------------------------------------
def test_each_text_is_embedded_once_and_read_from_the_file(tmp_path: Path) -> None:
    source, file = Counting(), tmp_path / "c.sqlite"
    cached = CachedEmbedder(source, file)
    first = cached.embed_tokens(["a red house", "tea", "a red house", ""])
    assert (cached.hits, cached.misses) == (1, 3) and sorted(source.seen) == [
        "",
        "a red house",
        "tea",
    ]
    assert same(first, HashingEmbedder(16).embed_tokens(["a red house", "tea", "a red house", ""]))
    other = CachedEmbedder(Counting(), file)
    assert same(
        other.embed_tokens(["", "tea"]), HashingEmbedder(16).embed_tokens(["", "tea"])
    ) and (other.hits, other.misses) == (2, 0)
    cached.embed(["tea"])
    assert cached.misses == 4, "a vector and token vectors are apart"
    cached.close()
    assert same(cached.embed_tokens(["tea"]), other.embed_tokens(["tea"])) and len(source.seen) == 3


def test_a_file_of_an_older_version_gets_the_new_table(tmp_path: Path) -> None:
    file = tmp_path / "c.sqlite"
    CachedEmbedder(HashingEmbedder(16), file).embed(["a"])
    with sqlite3.connect(file) as connection:
        connection.execute("DROP TABLE tokens")
        connection.execute("DROP TABLE scores")
    cached = CachedEmbedder(HashingEmbedder(16), file)
    assert len(cached.embed_tokens(["a b"]).codes) == 2
    assert np.array_equal(cached.embed(["a"]), HashingEmbedder(16).embed(["a"])) and (
        cached.hits,
        cached.misses,
    ) == (1, 1)


def test_damaged_tokens_in_the_file_are_computed_anew_and_told(tmp_path: Path) -> None:
    file = tmp_path / "c.sqlite"
    right = CachedEmbedder(HashingEmbedder(16), file).embed_tokens(["a"])
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE tokens SET pieces = 2")
    cached = CachedEmbedder(HashingEmbedder(16), file)
    with pytest.warns(DamagedCacheWarning, match="embedding cache") as caught:
        found = cached.embed_tokens(["a"])
    assert str(file) in str(caught[0].message) and cached.misses == 1
    assert np.array_equal(found.codes, right.codes) and np.array_equal(found.offsets, right.offsets)


def test_tokens_that_are_no_unit_vectors_are_refused() -> None:
    source = HashingEmbedder(8)
    good = source.embed_tokens(["a b"])
    source.embed_tokens = lambda texts: Tokens(
        good.codes, 2 * good.scales, good.offsets, good.spans
    )  # type: ignore[method-assign]
    cached = CachedEmbedder(source, None)
    with pytest.raises(HebbariumError, match="unit vectors of the word pieces"):
        cached.embed_tokens(["a b"])
    assert cached.misses == 0


def test_the_memo_of_tokens_is_bounded(tmp_path: Path) -> None:
    cached = CachedEmbedder(HashingEmbedder(16), tmp_path / "c.sqlite")
    size = cached.embed_tokens(["word0"]).nbytes
    cached._tokens.most = 10 * size
    for i in range(30):
        cached.embed_tokens([f"word{i}"])
    assert len(cached._tokens.memo) <= 10 and cached._tokens.held <= 10 * size
    assert (
        cached.misses == 30
        and same(cached.embed_tokens(["word0"]), HashingEmbedder(16).embed_tokens(["word0"]))
        and cached.misses == 30
    )


def test_token_vectors_are_counted_and_timed() -> None:
    one = metered(CachedEmbedder(HashingEmbedder(8), None))
    one.embed_tokens(["a", "b"])
    one.embed_tokens(["b"])
    one.embed(["b"])
    assert (one.texts, one.hits) == (4, 1) and one.seconds > 0.0


def test_a_word_piece_takes_at_most_400_bytes_of_the_file(tmp_path: Path) -> None:
    """The whole file, for 300 texts of 30 to 50 pieces and 384 dimensions, with vectors as dense
    as those of a sentence model.
    """
    rng = np.random.default_rng(0)
    source = HashingEmbedder(384)
    source.embed_tokens = lambda texts: joined(  # type: ignore[method-assign]
        [
            coded(rng.normal(size=(count, 384)), np.zeros((count, 2)))
            for count in rng.integers(30, 51, len(texts)).tolist()
        ],
        384,
    )
    cached = CachedEmbedder(source, tmp_path / "c.sqlite")
    pieces = len(cached.embed_tokens([f"text {i}" for i in range(300)]).codes)
    cached.close()
    assert (tmp_path / "c.sqlite").stat().st_size / pieces <= 400


# --- passages -------------------------------------------------------------------------------------
def passages(model: Any, text: str, size: int = 200, overlap: int = 40) -> tuple[str, ...]:
    """The texts of the windows, or the text alone."""
    (found,) = cuts(model, text, (size, overlap))
    return tuple(text[start:end] for start, end in found.tolist()) or (text,)


def test_a_text_that_the_model_reads_whole_is_one_passage() -> None:
    model = metered(embedder("minilm"))
    for text in ("", "short", "word " * 254, "é" * 300):
        assert passages(model, text) == (text,)
    assert passages(Whole(), "word " * 10_000) == ("word " * 10_000,), (
        "nothing is known about its window"
    )


@pytest.mark.parametrize("count", [255, 360, 361, 1000])
def test_a_long_text_is_cut_into_overlapping_windows(count: int) -> None:
    words = [f"{'red' if i % 2 else 'tea'}" for i in range(count)]
    text = "  " + " ".join(words) + " \n"
    found = passages(embedder("minilm"), text)
    starts = range(0, count - 40, 160)
    assert (
        found == tuple(" ".join(words[s : s + 200]) for s in starts) and starts[-1] + 200 >= count
    )


def test_windows_are_cut_at_word_pieces_of_any_text() -> None:
    model: Any = embedder("minilm").embedder
    text = "Unbelievable keyrings — dépôt \ud800 日本語! " * 60
    found = passages(model, text, 100, 25)
    spans = model.pieces(text)
    for i, part in enumerate(found):
        start, end = spans[75 * i][0], spans[min(75 * i + 100, len(spans)) - 1][1]
        assert part == text[start:end]
    assert len(found) == len(range(0, len(spans) - 25, 75))


def test_the_hashing_embedder_cuts_by_words() -> None:
    words = [f"w{i}" for i in range(500)]
    assert passages(HashingEmbedder(8), " ".join(words[:200])) == (" ".join(words[:200]),)
    assert passages(HashingEmbedder(8), " ".join(words)) == tuple(
        " ".join(words[s : s + 200]) for s in (0, 160, 320)
    )


@pytest.mark.parametrize(("size", "overlap"), [(0, 0), (10, 10), (10, -1), (-5, -9)])
def test_windows_that_do_not_move_on_are_refused(size: int, overlap: int) -> None:
    with pytest.raises(InputError, match="overlap"):
        passages(HashingEmbedder(8), "a b", size, overlap)


def test_windows_are_no_longer_than_the_model_reads(tmp_path: Path) -> None:
    """A model of 10 word pieces, 8 without the special ones: windows of 8, which still move on."""
    import shutil

    folder = shutil.copytree(
        embedder("minilm").embedder.folder,
        tmp_path / "m",
        ignore=shutil.ignore_patterns("*.safetensors"),
    )  # type: ignore[attr-defined]
    (folder / "sentence_bert_config.json").write_text(
        json.dumps({"max_seq_length": 10}), encoding="utf-8"
    )
    found = passages(embedder(folder), " ".join(["tea"] * 20))
    assert len(found[0].split()) == 8 and all(len(part.split()) <= 8 for part in found)
    assert sum(len(part.split()) for part in found) >= 20
    (folder / "tokenizer.json").write_text("{", encoding="utf-8")
    with pytest.raises(HebbariumError, match="tokeniser"):
        passages(embedder(folder), "tea " * 20)


def test_the_tokeniser_is_loaded_without_torch() -> None:
    code = (
        "import sys; from hebbarium.engine.ports.by_name import embedder; from hebbarium.engine.ports.word_pieces import cuts;"
        "assert len(cuts(embedder('minilm'), 'tea ' * 300, (200, 40))[0]) == 2;"
        "assert not {'torch', 'transformers', 'sentence_transformers'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
