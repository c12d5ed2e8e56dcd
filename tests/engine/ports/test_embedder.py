"""Embedders and their cache; the sentence model is the installed one, read offline."""

from __future__ import annotations

import hashlib
import json
import pickle
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

from hebbarium.engine.base.errors import HebbariumError, InputError
from hebbarium.engine.ports import embedding_cache
from hebbarium.engine.ports.by_name import embedder, papers_behind
from hebbarium.engine.ports.embedder import Embedder, HashingEmbedder
from hebbarium.engine.ports.embedding_cache import CachedEmbedder, default_cache
from hebbarium.engine.ports.sentence_transformer import SentenceTransformerEmbedder

HOSTILE = ["", " ", "\0", "a\0b", "\ud800 lone", "x" * 1_000_000, "日本語 текст", "e\u0301",
           "\U0001f600" * 50]  # fmt: skip


class Counting:
    """Counts texts, and answers a little differently in every batch, as floating-point libraries
    do.
    """

    name, revision, dimensions = "counting", "r1", 16

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        self.seen.update(texts)
        rows = HashingEmbedder(16).embed(texts)
        rows[:, -1] += np.float32(1e-6 * sum(self.seen.values()))
        return rows


def reference_hashing(text: str, d: int) -> np.ndarray:
    """Word by word and feature by feature, from the description alone."""
    import re

    total = [0] * d
    for word in re.findall(r"\w+", text.casefold()):
        framed = "<" + word + ">"
        for feature, weight in [("w:" + word, 2)] + [
            ("c:" + a + b + c, 1) for a, b, c in zip(framed, framed[1:], framed[2:], strict=False)
        ]:
            code = int.from_bytes(
                hashlib.blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=8).digest(),
                "little",
            )
            total[code // 2 % d] += weight if code % 2 else -weight
    norm = sum(x * x for x in total) ** 0.5
    return np.array([x / norm for x in total] if norm else [1.0] + [0.0] * (d - 1), np.float32)


@pytest.mark.parametrize("d", [1, 8, 384])
def test_hashing_is_what_it_says(d: int) -> None:
    texts = ["We moved house", "moved WE house", "a", *HOSTILE[:5], *HOSTILE[6:]]
    out = HashingEmbedder(d).embed(texts)
    assert np.allclose(out, [reference_hashing(text, d) for text in texts], atol=1e-7)
    assert np.array_equal(out[0], out[1]) and out.dtype == np.float32
    assert np.allclose(np.linalg.norm(out, axis=1), 1.0, atol=1e-6)


def test_hashing_does_not_depend_on_the_process() -> None:
    code = "from hebbarium.engine.ports.embedder import HashingEmbedder as H; print(H(32).embed(['the quick fox']).tobytes().hex())"
    runs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert runs == {HashingEmbedder(32).embed(["the quick fox"]).tobytes().hex()}


@pytest.mark.parametrize(
    "make",
    [HashingEmbedder, lambda: CachedEmbedder(HashingEmbedder(), None)],
    ids=["hashing", "cached"],
)
def test_wrong_input(make: type[HashingEmbedder]) -> None:
    for bad in ("one text", [b"bytes"], ["a", None]):
        with pytest.raises(InputError):
            make().embed(bad)  # type: ignore[arg-type]
    assert make().embed([]).shape == (0, 384)
    with pytest.raises(InputError):
        HashingEmbedder(0)


def test_each_text_is_embedded_once_ever(tmp_path: Path) -> None:
    source, file = Counting(), tmp_path / "deep" / "cache.sqlite"
    cached = CachedEmbedder(source, file)
    first = cached.embed(["a", "b", "a", "c"])
    assert (cached.hits, cached.misses) == (1, 3) and np.array_equal(first[0], first[2])
    again = cached.embed(["c", "d", "b"])
    assert (cached.hits, cached.misses) == (3, 4) and np.array_equal(again[[0, 2]], first[[3, 1]])
    other = CachedEmbedder(source, file)
    assert np.array_equal(
        other.embed(["a", "b", "c", "d"]), np.stack([first[0], first[1], first[3], again[1]])
    )
    assert (other.hits, other.misses) == (4, 0) and set(source.seen.values()) == {1}
    first[:] = 0.0  # a result is the caller's own
    assert np.array_equal(cached.embed(["a"])[0], other.embed(["a"])[0])


def test_names_and_revisions_are_kept_apart(tmp_path: Path) -> None:
    one, two = Counting(), Counting()
    two.revision = "r2"
    file = tmp_path / "c.sqlite"
    CachedEmbedder(one, file).embed(["a"])
    CachedEmbedder(two, file).embed(["a"])
    assert two.seen == Counter(["a"])


def test_every_caller_gets_the_vector_that_was_stored_first(tmp_path: Path) -> None:
    """A second process computes other last bits between this one's lookup and its store."""
    file = tmp_path / "c.sqlite"

    class Beaten(Counting):
        def embed(self, texts: Sequence[str]) -> np.ndarray:
            slow = super().embed(texts)
            rival = Counting()
            rival.seen.update(["ten", "texts", "before", "us"])
            self.winner = CachedEmbedder(rival, file).embed(texts)
            return slow

    source = Beaten()
    got = CachedEmbedder(source, file).embed(["x", "y"])
    assert np.array_equal(got, source.winner)
    assert not np.array_equal(got, Counting().embed(["x", "y"]))


def test_hostile_texts_have_their_own_keys(tmp_path: Path) -> None:
    cached = CachedEmbedder(HashingEmbedder(64), tmp_path / "c.sqlite")
    out = cached.embed(HOSTILE)
    assert cached.misses == len(HOSTILE) and np.all(np.isfinite(out))
    assert np.array_equal(
        CachedEmbedder(HashingEmbedder(64), tmp_path / "c.sqlite").embed(HOSTILE), out
    )


def test_many_texts_cross_chunks_and_the_memo_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding_cache, "MEMO", 100)
    texts = [f"text {i}" for i in range(1300)]
    steps: list[tuple[int, int]] = []
    source = HashingEmbedder(8)
    cached = CachedEmbedder(
        source, tmp_path / "c.sqlite", progress=lambda done, total: steps.append((done, total))
    )
    assert (
        np.array_equal(cached.embed(texts), source.embed(texts))
        and len(cached._vectors.memo) == 100
    )
    assert steps == [(min(256 * i, 1300), 1300) for i in range(7)]
    assert (
        np.array_equal(cached.embed(texts[::-1]), source.embed(texts)[::-1])
        and cached.misses == 1300
    )
    assert steps[7:] == []


def _work(file: str, start: int) -> bytes:
    return (
        CachedEmbedder(Counting(), Path(file))
        .embed([f"t{i}" for i in range(start, start + 300)])[50:]
        .tobytes()
    )


@pytest.mark.slow
def test_processes_share_a_fresh_file(tmp_path: Path) -> None:
    file = tmp_path / "c.sqlite"
    with ProcessPoolExecutor(4, mp_context=get_context("spawn")) as pool:
        results = list(pool.map(_work, [str(file)] * 4, [0, 50, 0, 50]))
    # although every process computes other bits
    assert results[0] == results[2] and results[1] == results[3]
    with sqlite3.connect(file) as connection:
        assert connection.execute(
            "SELECT count(*), count(DISTINCT text) FROM vectors"
        ).fetchone() == (350, 350)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_threads_share_an_embedder() -> None:
    cached = CachedEmbedder(HashingEmbedder(16), None)
    texts = [f"t{i}" for i in range(200)]
    expected, wrong = HashingEmbedder(16).embed(texts), []

    def work() -> None:
        for i in range(0, 200, 5):
            if not np.array_equal(cached.embed(texts[i : i + 10]), expected[i : i + 10]):
                wrong.append(i)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and cached.misses == 200


def test_pickles_and_goes_on(tmp_path: Path) -> None:
    cached = CachedEmbedder(HashingEmbedder(8), tmp_path / "c.sqlite")
    out = cached.embed(["a"])
    copy = pickle.loads(pickle.dumps(cached))
    assert np.array_equal(copy.embed(["a"]), out) and copy.misses == 0


def test_damaged_or_impossible_files_are_told(tmp_path: Path) -> None:
    junk, folder = tmp_path / "junk.sqlite", tmp_path / "folder"
    junk.write_bytes(b"this is not a data base " * 100)
    folder.mkdir()
    foreign = tmp_path / "foreign.sqlite"
    with sqlite3.connect(foreign) as connection:
        connection.execute("CREATE TABLE vectors (other INTEGER)")
    for path in (junk, folder, junk / "below.sqlite", foreign):
        with pytest.raises(HebbariumError) as caught:
            CachedEmbedder(HashingEmbedder(8), path).embed(["a"])
        assert str(path) in str(caught.value) and "HEBBARIUM_CACHE" in caught.value.cure


def test_a_read_only_connection_is_told(tmp_path: Path) -> None:
    cached = CachedEmbedder(HashingEmbedder(8), tmp_path / "c.sqlite")
    cached.embed(["a"])
    assert cached._file is not None and cached._file.connection is not None
    cached._file.connection.execute("PRAGMA query_only = ON")
    assert cached.embed(["a"]).shape == (1, 8)
    with pytest.raises(HebbariumError, match="readonly"):
        cached.embed(["b"])
    assert cached.misses == 1


@pytest.mark.parametrize(
    "rows", [np.zeros((1, 8)), np.full((1, 8), np.nan), np.ones((2, 8)), np.ones((1, 7)) / 7**0.5]
)
def test_an_embedder_that_gives_no_unit_vectors_is_refused(rows: np.ndarray) -> None:
    source = HashingEmbedder(8)
    source.embed = lambda texts: rows  # type: ignore[method-assign, assignment]
    cached = CachedEmbedder(source, None)
    with pytest.raises(HebbariumError, match="unit vectors"):
        cached.embed(["a"])
    assert cached.misses == 0 and not cached._vectors.memo


def test_specs(tmp_path: Path) -> None:
    assert (
        embedder("hashing", None).dimensions == 384
        and embedder("hashing:128", None).dimensions == 128
    )
    assert embedder("hashing", tmp_path).path == tmp_path / "embeddings.sqlite"
    assert embedder("hashing", tmp_path / "x.sqlite").path == tmp_path / "x.sqlite"
    for bad in (
        "",
        "minilm2",
        "hashing:",
        "hashing:-1",
        "hashing:0",
        "hashing:a",
        str(tmp_path),
        str(tmp_path / "none"),
    ):
        with pytest.raises(HebbariumError) as caught:
            embedder(bad, None)
        assert caught.value.cure


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder of Hugging Face, the only one that is looked at."""
    for variable in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "SENTENCE_TRANSFORMERS_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    return tmp_path / "hf" / "hub"


def on_disk(
    cache: Path, name: str, revisions: Sequence[str] = ("abc",), main: str = "", width: int = 12
) -> None:
    """A sentence model as huggingface_hub lays it out, without weights."""
    folder = cache / f"models--{name.replace('/', '--')}"
    for revision in revisions:
        snapshot = folder / "snapshots" / revision
        snapshot.mkdir(parents=True)
        (snapshot / "modules.json").write_text('[{"path": ""}]', encoding="utf-8")
        (snapshot / "config.json").write_text(
            json.dumps({"hidden_size": width, "revision": revision}), encoding="utf-8"
        )
    if main:
        (folder / "refs").mkdir()
        (folder / "refs" / "main").write_text(main, encoding="utf-8")


def test_a_model_in_the_cache_of_hugging_face_is_found_by_name(hub: Path) -> None:
    on_disk(hub, "sentence-transformers/small")
    on_disk(hub, "BAAI/bge-small", ("old", "new"), main="new", width=7)
    for name in ("BAAI/bge-small", "bge-small"):
        found = embedder(name).embedder
        assert isinstance(found, SentenceTransformerEmbedder) and (
            found.name,
            found.dimensions,
        ) == ("BAAI/bge-small", 7)
        assert found.folder == (hub / "models--BAAI--bge-small" / "snapshots" / "new").resolve()
    assert (
        embedder("small").name
        == embedder("sentence-transformers/small").name
        == "sentence-transformers/small"
    )
    assert papers_behind("small") == ("reimers2019sentence",)


def test_the_cache_folder_is_the_one_that_the_environment_names(
    hub: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = {"SENTENCE_TRANSFORMERS_HOME": tmp_path / "st", "HF_HUB_CACHE": tmp_path / "hubs"}
    for width, (variable, place) in enumerate(places.items(), 3):
        monkeypatch.setenv(variable, str(place))
        on_disk(place, f"a/{variable.lower()}", width=width)
        assert embedder(f"a/{variable.lower()}").dimensions == width
    for variable in (*places, "HF_HOME"):
        monkeypatch.delenv(variable)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    on_disk(tmp_path / "xdg" / "huggingface" / "hub", "a/b", width=9)
    assert embedder("a/b").dimensions == 9


def test_names_that_are_not_on_the_disk_or_not_unique_are_refused(hub: Path) -> None:
    with pytest.raises(InputError, match="no embedder 'small'") as caught:
        embedder("small")
    assert (
        caught.value.cure.endswith("the name of one on this disk (none is found)")
        and "'minilm'" in caught.value.cure
    )
    on_disk(hub, "a/small")
    on_disk(hub, "b/small")
    on_disk(hub, "a/two", ("old", "new"))
    (hub / "models--a--empty" / "snapshots").mkdir(parents=True)
    for name, words in (
        ("small", "choose from a/small, b/small"),
        ("a/two", "snapshots"),
        ("c/small", "a/small, a/two, b/small"),
        ("empty", "a/small, a/two, b/small"),
        ("", "a/small"),
    ):
        with pytest.raises(InputError) as caught:
            embedder(name)
        assert words in caught.value.cure, caught.value.cure
    assert embedder("a/small").dimensions == 12


def test_any_object_with_the_protocol_is_an_embedder(tmp_path: Path) -> None:
    source = Counting()
    cached = embedder(source)
    assert (
        cached.embed(["a", "b"]).shape == (2, 16)
        and cached.path is None
        and source.seen.total() == 2
    )
    cached.embed(["a"])
    assert source.seen.total() == 2 and embedder(cached) is cached
    assert embedder(source, tmp_path).path == tmp_path / "embeddings.sqlite"
    port: Embedder = cached
    assert (port.name, port.revision, port.dimensions) == ("counting", "r1", 16)


@pytest.mark.parametrize(("change", "words"), [
    ({"name": None}, "name"), ({"name": 3}, "name"), ({"name": ""}, "name"), ({"revision": b"1"},
    "revision"), ({"dimensions": 0}, "dimensions"),
    ({"dimensions": True}, "dimensions"), ({"dimensions": 8.0}, "dimensions"), ({"embed": None},
    "embed"), ({"embed": [1]}, "embed"),
], ids=str)  # fmt: skip
def test_objects_without_the_protocol_are_refused(change: dict[str, object], words: str) -> None:
    members = {
        "name": "mine",
        "revision": "1",
        "dimensions": 8,
        "embed": lambda texts: None,
        **change,
    }
    broken = type(
        "Broken", (), {key: value for key, value in members.items() if value is not None}
    )()
    for thing in (broken, 3, None, object()):
        with pytest.raises(
            InputError,
            match=words if thing is broken else "it lacks name, revision, dimensions, embed",
        ) as caught:
            embedder(thing)  # type: ignore[arg-type]
        assert "embed(texts)" in caught.value.cure


def test_default_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEBBARIUM_CACHE", str(tmp_path / "mine"))
    assert default_cache() == tmp_path / "mine" and default_cache().is_dir()
    monkeypatch.delenv("HEBBARIUM_CACHE")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert default_cache() == tmp_path / "xdg" / "hebbarium"
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("HEBBARIUM_CACHE", str(tmp_path / "file"))
    with pytest.raises(HebbariumError):
        default_cache()


def test_model_facts_come_without_torch(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from hebbarium.engine.ports.by_name import embedder; e = embedder('minilm', Path(sys.argv[1]));"
        "print(e.name, e.dimensions, len(e.revision)); assert not {'torch', 'transformers', 'sentence_transformers'} & set(sys.modules);"
        "e._vectors.stored([b'k']); assert 'torch' not in sys.modules"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "c.sqlite")],
        check=True,
        capture_output=True,
        text=True,
    )
    assert run.stdout.split() == ["all-MiniLM-L6-v2", "384", str(len("0123456789abcdef-onnx-1"))]


@pytest.mark.slow
def test_revision_follows_the_files_that_matter(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    (folder / "1_Pooling").mkdir(parents=True)
    (folder / "2_Dense").mkdir()
    parts = [{"path": ""}, {"path": "1_Pooling"}, {"path": "2_Dense"}]
    (folder / "modules.json").write_text(json.dumps(parts), encoding="utf-8")
    (folder / "config.json").write_text('{"hidden_size": 12}', encoding="utf-8")
    (folder / "1_Pooling" / "config.json").write_text(
        '{"word_embedding_dimension": 12}', encoding="utf-8"
    )
    (folder / "2_Dense" / "config.json").write_text(
        '{"in_features": 12, "out_features": 5}', encoding="utf-8"
    )
    (folder / "model.safetensors").write_bytes(b"weights")
    model = SentenceTransformerEmbedder(folder)
    assert model.dimensions == 5 and model.name == "model"
    shutil.copytree(folder, tmp_path / "copy")
    (tmp_path / "copy" / "README.md").write_text("hello", encoding="utf-8")
    assert SentenceTransformerEmbedder(tmp_path / "copy").revision == model.revision
    (tmp_path / "copy" / "2_Dense" / "model.safetensors").write_bytes(b"other")
    assert SentenceTransformerEmbedder(tmp_path / "copy").revision != model.revision
    with pytest.raises(HebbariumError, match="cannot be loaded"):
        model.embed(["a"])
    (folder / "modules.json").write_text("{", encoding="utf-8")
    with pytest.raises(HebbariumError, match="settings"):
        SentenceTransformerEmbedder(folder)


@pytest.mark.slow
def test_the_sentence_model_against_transformers(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Masked mean of the last layer, normalised, computed with transformers alone; and nothing
    touches the network or the terminal.
    """
    import socket

    monkeypatch.setattr(socket, "getaddrinfo", lambda *a, **k: pytest.fail("asks for the network"))
    source = embedder("minilm", None).embedder
    assert isinstance(source, SentenceTransformerEmbedder)
    steps: list[tuple[int, int]] = []
    source.progress = lambda done, total: steps.append((done, total))
    texts = [
        "We moved to a red house.",
        "",
        "tea",
        "Ada bought a green bicycle yesterday, because the old one was stolen.",
        "cat",
    ]
    out = source.embed(texts + HOSTILE)
    assert steps[-1] == (len(texts) + len(HOSTILE),) * 2 and [done for done, _ in steps] == sorted(
        done for done, _ in steps
    )
    captured = capfd.readouterr()
    assert captured.out == captured.err == ""
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer, model = (
        AutoTokenizer.from_pretrained(source.folder),
        AutoModel.from_pretrained(source.folder),
    )
    for text, row in zip(texts, out, strict=False):
        tokens = tokenizer([text], return_tensors="pt")
        with torch.no_grad():
            mean = model(**tokens).last_hidden_state[0].mean(0).numpy()
        assert np.allclose(row, mean / np.linalg.norm(mean), atol=1e-5)
    assert np.allclose(np.linalg.norm(out, axis=1), 1.0, atol=1e-6)
    alone = np.concatenate([source.embed([text]) for text in texts])
    assert np.allclose(alone, out[: len(texts)], atol=1e-6)
    assert pickle.loads(pickle.dumps(source))._model is None
