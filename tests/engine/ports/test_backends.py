"""Embedders by other means: a static model, a server, the hub, ONNX Runtime, OpenVINO.  The
server is a local one; the hub is a stand-in.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import nullcontext
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file
from tokenizers import Tokenizer
from tokenizers.models import Unigram, WordLevel
from tokenizers.pre_tokenizers import Whitespace

from hebbarium import memory
from hebbarium.engine.base.errors import HebbariumError, InputError
from hebbarium.engine.ports import by_name, openvino
from hebbarium.engine.ports.by_name import embedder, papers_behind
from hebbarium.engine.ports.cache_file import DamagedCacheWarning
from hebbarium.engine.ports.converted import ConvertedEmbedder
from hebbarium.engine.ports.embedder import HashingEmbedder, tokens_of
from hebbarium.engine.ports.embedding_cache import CachedEmbedder, MeteredEmbedder, metered
from hebbarium.engine.ports.onnx import OnnxEmbedder
from hebbarium.engine.ports.openai_compatible import OpenAICompatibleEmbedder
from hebbarium.engine.ports.openvino import OpenVinoEmbedder
from hebbarium.engine.ports.sentence_transformer import SentenceTransformerEmbedder
from hebbarium.engine.ports.static_model import StaticEmbedder

PIECES = {"[UNK]": 0, "tea": 1, "milk": 2, "red": 3}
VECTORS = np.array([[9, 9, 9], [3, 0, 0], [0, 4, 0], [0, 0, 5]], np.float32)


def static(
    folder: Path, config: dict[str, Any] | None = None, model: Any = None, **tensors: Any
) -> Path:
    """A model as model2vec saves it."""
    folder.mkdir(parents=True)
    tokenizer = Tokenizer(model or WordLevel(PIECES, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    save_file({"embeddings": VECTORS, **tensors}, folder / "model.safetensors")
    modules = [
        {"idx": 0, "name": "0", "path": ".", "type": "sentence_transformers.models.StaticEmbedding"}
    ]
    (folder / "modules.json").write_text(json.dumps(modules), encoding="utf-8")
    (folder / "config.json").write_text(
        json.dumps({"model_type": "model2vec", "hidden_dim": 3, **(config or {})}), encoding="utf-8"
    )
    return folder


def test_a_static_model_averages_the_vectors_of_known_pieces(tmp_path: Path) -> None:
    found = embedder(static(tmp_path / "m")).embedder
    assert isinstance(found, StaticEmbedder) and (found.name, found.dimensions) == ("m", 3)
    out = found.embed(["tea milk", "milk unheard", "", "unheard", "red red red", "\ud800 tea"])
    np.testing.assert_allclose(
        out, [[0.6, 0.8, 0], [0, 1, 0], [1, 0, 0], [1, 0, 0], [0, 0, 1], [1, 0, 0]], atol=1e-6
    )
    assert np.array_equal(
        np.concatenate([found.embed([text]) for text in ("tea milk", "red")]),
        found.embed(["tea milk", "red"]),
    )
    assert np.array_equal(pickle.loads(pickle.dumps(found)).embed(["tea"]), found.embed(["tea"]))
    assert papers_behind(str(tmp_path / "m")) == ()


def test_weights_and_mapping_of_a_static_model(tmp_path: Path) -> None:
    """By hand: tea has row 3 and factor 2, milk row 2 and factor 1/2, so the mean is (0, 4/2, 5
    * 2) / 2.
    """
    tensors = {"weights": np.array([1.0, 2.0, 0.5, 1.0]), "mapping": np.array([0, 3, 2, 1])}
    found = StaticEmbedder(static(tmp_path / "m", **tensors))
    np.testing.assert_allclose(
        found.embed(["tea milk"])[0], np.array([0, 2, 10]) / np.hypot(2, 10), atol=1e-6
    )
    assert found.revision != StaticEmbedder(static(tmp_path / "other")).revision


@pytest.mark.parametrize(("config", "text", "vector"), [
    ({}, "a " * 511 + "red", (0, 0, 1)), ({}, "a " * 512 + "red", (1, 0, 0)),
    ({}, " " * 1533 + "red", (0, 0, 1)), ({}, " " * 1534 + "red", (1, 0, 0)), ({"max_length": 3},
    "a a red", (0, 0, 1)),
    ({"max_length": 3}, "a a a red", (1, 0, 0)), ({"max_length": 3}, " " * 7 + "red", (1, 0, 0)),
    ({"max_length": None}, "a " * 3000 + "red", (0, 0, 1))])  # fmt: skip
def test_a_static_model_reads_a_text_up_to_its_greatest_length(
    tmp_path: Path, config: dict[str, Any], text: str, vector: tuple[float, ...]
) -> None:
    """512 pieces if the folder states no other number; and 3 characters for each, as the pieces'
    lengths 3, 3, 4, 5 have the median 3.5, cut to 3.
    """
    assert tuple(StaticEmbedder(static(tmp_path / "m", config)).embed([text])[0]) == vector


def test_unknown_pieces_of_a_unigram_model_are_left_out(tmp_path: Path) -> None:
    model = Unigram([("<unk>", 0.0), ("tea", -1.0), ("milk", -1.0), ("red", -1.0)], unk_id=0)
    np.testing.assert_allclose(
        StaticEmbedder(static(tmp_path / "m", model=model)).embed(["tea qqq"])[0],
        [1, 0, 0],
        atol=1e-6,
    )


def test_a_static_model_that_does_not_fit_its_vocabulary_is_refused(tmp_path: Path) -> None:
    damages = (
        {"embeddings": VECTORS[:3]},
        {"mapping": np.array([0, 1, 2, 4])},
        {"mapping": np.array([0])},
        {"weights": np.ones(3)},
    )
    for i, tensors in enumerate(damages):
        with pytest.raises(HebbariumError, match="vocabulary"):
            embedder(static(tmp_path / str(i), **tensors))
    (tmp_path / "0" / "model.safetensors").write_bytes(b'\x20\0\0\0\0\0\0\0{"embeddings": damaged')
    with pytest.raises(HebbariumError, match="cannot be loaded"):
        embedder(tmp_path / "0")


class Server(BaseHTTPRequestHandler):
    """POST /v1/embeddings with OpenAI's request and answer: vectors of hashing, twice as long as
    one, in the wrong order.
    """

    asked: list[tuple[str, int]]

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        good = (
            self.path == "/v1/embeddings"
            and self.headers["Authorization"] == "Bearer sk-secret"
            and asked["encoding_format"] == "float"
        )
        type(self).asked.append((asked["model"], len(asked["input"])))
        rows = 2.0 * HashingEmbedder(8).embed(asked["input"])
        data = [
            {"object": "embedding", "index": i, "embedding": row.tolist()}
            for i, row in enumerate(rows)
        ][::-1]
        answer = {
            "object": "list",
            "model": asked["model"],
            "data": data[:1] if "too few" in asked["input"] else data,
            "usage": {},
        }
        body = json.dumps(
            answer if good else {"error": {"message": "the key sk-secret is wrong"}}
        ).encode()
        self.send_response(200 if good else 401)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, int]]]:
    """(model, texts) of each request to a server on this machine, to which the environment
    points.
    """
    handler = type("Handler", (Server,), {"asked": []})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{running.server_port}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
        yield handler.asked
        running.shutdown()


def test_a_server_is_asked_in_batches_and_its_vectors_are_normalised(
    server: list[tuple[str, int]],
) -> None:
    found = embedder("openai:small").embedder
    assert server == [] and found.name == "openai:small" and found.dimensions == 8
    texts = [f"text {i}" for i in range(130)]
    np.testing.assert_allclose(found.embed(texts), HashingEmbedder(8).embed(texts), atol=1e-6)
    assert server == [("small", 1), ("small", 128), ("small", 2)] and found.embed([]).shape == (
        0,
        8,
    )
    assert found.embed(["", "\ud800"]).shape == (2, 8)
    again = pickle.loads(pickle.dumps(found))
    assert (
        isinstance(again, OpenAICompatibleEmbedder) and again.dimensions == 8 and len(server) == 4
    )
    assert papers_behind("openai:small") == () and len(server) == 4


def test_failed_requests_are_told_without_the_key(
    server: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = embedder("openai:small").embedder
    assert found.dimensions == 8
    with pytest.raises(HebbariumError, match="ValueError"):
        found.embed(["too few", "b"])
    revision = found.revision
    monkeypatch.setenv("OPENAI_API_KEY", "sk-wrong")
    with pytest.raises(HebbariumError, match="AuthenticationError") as caught:
        embedder("openai:small").embed(["a"])
    assert "sk-" not in str(caught.value) and "OPENAI_API_KEY" in caught.value.cure
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(HebbariumError) as caught:
        embedder("openai:small").embed(["a"])
    assert "OPENAI_API_KEY" in caught.value.cure
    monkeypatch.setenv("OPENAI_BASE_URL", "https://elsewhere")
    assert found.revision != revision and "elsewhere" not in found.revision


@pytest.mark.parametrize(
    ("spec", "module"),
    [
        ("openai:small", "openai"),
        ("minilm+openvino", "openvino"),
        ("minilm+openvino-int8", "openvino"),
    ],
)
def test_an_extra_that_is_not_installed_is_named_with_its_pip_line(
    spec: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(HebbariumError) as caught:
        memory("hybrid", embedding=spec).encode_all([])
        embedder(spec).embed(["a"])
    assert caught.value.cure == f"pip install 'hebbarium[{module}]'"


def test_only_the_hub_spec_downloads(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[str] = []

    def download(name: str, **_: Any) -> str:
        asked.append(name)
        if name == "no/model":
            raise OSError("no network")
        return str(static(tmp_path / "static") if name == "some/static" else by_name._shipped())

    monkeypatch.setitem(sys.modules, "huggingface_hub", SimpleNamespace(snapshot_download=download))
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    assert papers_behind("hub:some/model") == ("reimers2019sentence",) and asked == []
    found, other = embedder("hub:some/model").embedder, embedder("hub:some/static").embedder
    assert isinstance(found, SentenceTransformerEmbedder) and (found.name, found.dimensions) == (
        "some/model",
        384,
    )
    assert isinstance(other, StaticEmbedder) and other.name == "some/static"
    for spec in ("some/model", "hub:no/model", "hub:"):
        with pytest.raises(HebbariumError) as caught:
            embedder(spec)
        assert caught.value.cure
    assert asked == ["some/model", "some/static", "no/model"]


COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize(
    ("spec", "revision", "kept"),
    [
        ("hub:some/static", None, f"hub:some/static@{COMMIT}"),
        ("hub:some/static@v2", "v2", f"hub:some/static@{COMMIT}"),
        (f"hub:some/static@{COMMIT}", COMMIT, f"hub:some/static@{COMMIT}"),
        ("hub:some/static@2", None, f"hub:some/static@{COMMIT}@2"),
        ("hub:some/static@v2@2", "v2", f"hub:some/static@{COMMIT}@2"),
    ],
)
def test_a_revision_of_the_hub_is_asked_for_or_resolved_and_recorded(
    spec: str, revision: str | None, kept: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What the manifest keeps names the commit, and gives the same vectors."""
    folder, asked = static(tmp_path / "snapshots" / COMMIT), list[str | None]()

    def download(name: str, *, revision: str | None, **_: Any) -> str:
        assert name == "some/static"
        asked.append(revision)
        return str(folder)

    monkeypatch.setitem(sys.modules, "huggingface_hub", SimpleNamespace(snapshot_download=download))
    found = embedder(spec)
    assert asked == [revision] and by_name.pinned(spec, found) == kept
    again = embedder(kept)
    assert asked[1:] == [COMMIT] and by_name.pinned(kept, again) == kept
    assert again.embed(["a"]).tobytes() == found.embed(["a"]).tobytes()
    assert (again.name, again.revision) == (found.name, found.revision)


def test_a_model_that_is_not_of_the_hub_keeps_its_name(tmp_path: Path) -> None:
    folder = static(tmp_path / "snapshots" / COMMIT)
    for spec in ("hashing:16", str(folder), "minilm"):
        assert by_name.pinned(spec, embedder(spec)) == spec
    assert (
        by_name.pinned("hub:some/model", embedder(static(tmp_path / "plain"))) == "hub:some/model"
    )


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder that keeps converted models: a conversion takes some seconds."""
    return tmp_path_factory.mktemp("cache")


@pytest.mark.slow
def test_back_ends_are_named_and_kept_apart_in_the_cache(tmp_path: Path, cache: Path) -> None:
    specs = ("minilm+torch", "minilm+openvino", "minilm+openvino-int8", "minilm")
    found = [embedder(spec, cache).embedder for spec in specs]
    assert [each.name for each in found] == [
        "all-MiniLM-L6-v2" + end for end in ("", "+openvino", "+openvino-int8", "")
    ]
    assert len({each.revision for each in found}) == 4 and all(
        each.revision.startswith(found[0].revision) for each in found
    )
    assert {
        embedder(spec).embedder.revision
        for spec in ("minilm", "minilm+onnx", "all-MiniLM-L6-v2+onnx")
    } == {found[3].revision}
    assert embedder(f"{by_name._shipped()}+onnx").embedder.name.endswith("+onnx")
    # as a report names it
    assert [embedder(each.name).embedder.revision for each in found[1:3]] == [
        each.revision for each in found[1:3]
    ]
    assert (
        isinstance(found[2], OpenVinoEmbedder)
        and pickle.loads(pickle.dumps(found[2])).precision == "int8"
    )
    vectors = [
        CachedEmbedder(each, tmp_path / "c.sqlite").embed(["We moved to a red house in May."])
        for each in (found[0], found[2], found[0])
    ]
    assert np.array_equal(vectors[0], vectors[2]) and not np.array_equal(vectors[0], vectors[1])
    for spec in (
        "hashing+openvino",
        "openai:small+openvino",
        "hashing+onnx",
        "minilm+onnx-int8",
        "minilm+openvino+openvino",
    ):
        with pytest.raises(InputError):
            embedder(spec)
    assert papers_behind("all-MiniLM-L6-v2+openvino-int8") == (
        "reimers2019sentence",
        "wang2020minilm",
    )


TEXTS = ("tea", "", "...", "We moved to a red house.", "x" * 3000, "日本語 текст", *(
    f"{name} {what} on {day}, {why}." for name in ("Ada", "Caroline", "Ben")
    for what in ("bought a green bicycle", "painted the kitchen", "ran 12 km")
    for day, why in (("8 May 2023", "because the old one was stolen"), ("Sunday",
    "and called her mother, who had asked about it twice that week"),
                     ("the way home", "then slept"), ("a whim",
                     "which surprised everyone at the support group, even the instructor"))))  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spec", "least", "most"),
    [
        ("minilm", 0.999999, 1.01),
        ("minilm+openvino", 0.999999, 1.01),
        ("minilm+openvino-int8", 0.995, 0.99999),
    ],
)
def test_back_ends_against_torch(
    spec: str,
    least: float,
    most: float,
    cache: Path,
    recwarn: pytest.WarningsRecorder,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Cosines to the vectors of torch in float32; 8 bits must also differ from them, or the test
    compares nothing.  Word pieces are the same.
    """
    found = embedder(spec, cache).embedder
    out = found.embed(TEXTS)
    assert not recwarn.list and capfd.readouterr() == ("", "")
    torch = embedder("minilm+torch").embedder
    cosines = np.sum(out * torch.embed(TEXTS), axis=1)
    assert len(TEXTS) == 42 and least <= cosines.min() <= most, cosines
    np.testing.assert_allclose(
        np.concatenate([found.embed([text]) for text in TEXTS[:8]]), out[:8], atol=1e-6
    )
    np.testing.assert_allclose(np.linalg.norm(out, axis=1), 1.0, atol=1e-6)
    ours, theirs = tokens_of(found, TEXTS), tokens_of(torch, TEXTS)
    assert np.array_equal(ours.spans, theirs.spans) and np.array_equal(ours.offsets, theirs.offsets)
    assert np.abs(ours.codes.astype(int) - theirs.codes).max() <= (1 if least > 0.999 else 30)


@pytest.mark.slow
def test_onnx_gives_equal_bits_in_any_batch_and_with_any_number_of_threads(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = embedder("minilm", cache).embedder
    together = found.embed(TEXTS)
    assert np.array_equal(np.concatenate([found.embed([text]) for text in TEXTS]), together)
    assert np.array_equal(found.embed(TEXTS[::-1])[::-1], together)
    for threads in ("1", "3", "none"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        assert np.array_equal(embedder("minilm", cache).embedder.embed(TEXTS), together)


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["minilm", "minilm+openvino"])
def test_the_vector_of_a_text_comes_with_its_token_vectors(
    spec: str, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = embedder(spec, cache).embedder
    expected, passes = found.embed(TEXTS), list[int]()
    run = found._run()
    monkeypatch.setattr(found, "_run", lambda: lambda ids: (passes.append(len(ids)), run(ids))[1])
    found.embed_tokens(TEXTS[:-1])
    before = sum(passes)
    np.testing.assert_allclose(found.embed(TEXTS), expected, atol=2e-7)
    assert sum(passes) == before + 1, "only the last text needs another pass"
    found.embed(TEXTS)
    assert sum(passes) == before + 1 + len(TEXTS), "each vector is kept until it is used"


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["minilm", "minilm+openvino", "minilm+openvino-int8"])
def test_a_converted_model_is_kept_so_that_another_process_needs_no_torch(
    spec: str, cache: Path
) -> None:
    """8 bits: also not for a short text, which is computed in float32."""
    texts = ["tea", "We moved to a red house by the river in May."]
    found = embedder(spec, cache).embedder
    vectors, tokens = found.embed(texts), tokens_of(found, ["red tea"])
    code = (
        "import sys; from pathlib import Path; from hebbarium.engine.ports.by_name import embedder;"
        "found = embedder(sys.argv[1], Path(sys.argv[2])).embedder; vectors = found.embed(sys.argv[3:]);"
        "tokens = found.embed_tokens(['red tea']); print('torch' in sys.modules, vectors.tobytes().hex(), tokens.codes.tobytes().hex())"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, spec, str(cache), *texts],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": ":".join(sys.path)},
    )
    assert run.stderr == "" and run.stdout.split() == [
        "False",
        vectors.tobytes().hex(),
        tokens.codes.tobytes().hex(),
    ]
    assert max(each.stat().st_size for each in (cache / "models").iterdir()) > 1e7


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["flipped", "cut", "empty", "of another kind"])
def test_a_damaged_conversion_is_made_anew(damage: str, cache: Path, tmp_path: Path) -> None:
    whole = embedder("minilm", cache).embedder.embed(["tea"])
    (kept,) = (cache / "models").glob("*.onnx")
    file = Path(shutil.copy(kept, tmp_path))
    content = bytearray(file.read_bytes())
    if damage == "flipped":
        content[len(content) // 2] ^= 1
    graph = b"no graph"
    file.write_bytes(
        {
            "flipped": bytes(content),
            "cut": bytes(content[:1000]),
            "empty": b"",
            "of another kind": hashlib.sha256(graph).digest() + graph,
        }[damage]
    )
    again = OnnxEmbedder(by_name._shipped(), graphs=tmp_path)
    with (
        pytest.warns(DamagedCacheWarning, match="made anew")
        if damage in ("flipped", "cut")
        else nullcontext()
    ):
        assert np.array_equal(again.embed(["tea"]), whole)
    assert file.stat().st_size == len(content) and [each.name for each in tmp_path.iterdir()] == [
        file.name
    ]


def test_a_kept_network_is_not_written_again_and_its_weights_are_mapped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = OnnxEmbedder(by_name._shipped(), graphs=tmp_path).embed(["tea", "red tea"])
    again = OnnxEmbedder(by_name._shipped(), graphs=tmp_path)
    monkeypatch.setattr(again, "_written", lambda: pytest.fail("the network is written again"))
    assert again.embed(["tea", "red tea"]).tobytes() == whole.tobytes()
    (kept,) = tmp_path.iterdir()
    maps = Path("/proc/self/maps")
    assert not maps.exists() or str(kept) in maps.read_text(encoding="utf-8")


def test_a_folder_that_cannot_be_written_costs_the_conversion_alone(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    assert OnnxEmbedder(by_name._shipped(), graphs=tmp_path / "file" / "models").embed(
        ["tea"]
    ).shape == (1, 384)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_has_a_network_of_its_own(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Threads of the parent's network do not exist in the child; waiting for them would not end."""
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    found = embedder("minilm", cache).embedder
    texts = [text for text in TEXTS if len(text) > 30]
    whole = found.embed(texts)
    if (child := os.fork()) == 0:
        signal.alarm(60)
        os._exit(0 if np.array_equal(found.embed(texts), whole) else 1)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.slow
@pytest.mark.parametrize("module", ["onnx", "onnxruntime"])
def test_without_onnx_torch_is_offered(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(HebbariumError, match=f"{module} is not installed") as caught:
        embedder("minilm").embed(["a"])
    assert "minilm+torch" in caught.value.cure and embedder("minilm+torch").embed(["a"]).shape == (
        1,
        384,
    )


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["minilm", "minilm+openvino"])
@pytest.mark.parametrize(
    ("change", "words"),
    [("pooling", "other vectors"), ("prompt", "other vectors"), ("parts", "cannot run")],
)
def test_a_model_whose_vectors_a_back_end_does_not_give_is_refused(
    spec: str, change: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model that torch converts: BERT's graph is written from the files instead."""
    found = embedder(spec).embedder
    assert isinstance(found, ConvertedEmbedder)
    monkeypatch.setattr(found, "_written", lambda: None)
    model = found._load()
    if change == "pooling":
        model[1] = type(model[1])(found.dimensions, pooling_mode="cls")
    elif change == "prompt":
        model.prompts["ask"] = "Represent this sentence for searching relevant passages: "
        model.default_prompt_name = "ask"
    else:
        next(model[0].children()).embeddings = None
    with pytest.raises(HebbariumError, match=words) as caught:
        found.embed(["tea"])
    assert f"leave out +{found.BACKEND}" in caught.value.cure


@pytest.mark.slow
def test_openvino_sends_no_usage_report(tmp_path: Path) -> None:
    """Its import writes ~/intel and sends a report unless `openvino_telemetry` is missing or the
    environment is that of continuous integration.
    """
    code = (
        "import sys; from hebbarium.engine.ports.by_name import embedder; embedder('minilm+openvino-int8').embed(['tea']);"
        "assert 'openvino' in sys.modules and 'openvino_telemetry' not in sys.modules"
    )
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ("CI", "TF_BUILD", "JENKINS_URL")
    }
    subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        env={**kept, "HOME": str(tmp_path), "PYTHONPATH": ":".join(sys.path)},
    )
    assert not list(tmp_path.glob("[iI]ntel*"))


def test_weights_in_8_bits_are_near_the_weights() -> None:
    """Each of them within half a step, max |W| / 127 of its output, computed from the float32
    model alone.
    """
    import openvino as library
    from openvino import opset13 as ops

    weights = np.random.default_rng(5).normal(size=(6, 4)).astype(np.float32)
    weights[2] = 0.0
    product = ops.matmul(
        data := ops.parameter([-1, 4], np.float32), ops.constant(weights), False, True
    )
    network = library.Model([product], [data])
    openvino._weights_in_8_bits(library, network)
    found = (
        library.Core()
        .compile_model(
            network,
            "CPU",
            {"INFERENCE_PRECISION_HINT": "f32", "DYNAMIC_QUANTIZATION_GROUP_SIZE": "0"},
        )(np.eye(4, dtype=np.float32))[0]
        .T
    )
    steps = np.abs(weights).max(axis=1, keepdims=True) / 127.0
    assert np.all(np.abs(found - weights) <= steps / 2 + 1e-6) and not np.allclose(
        found, weights, atol=1e-5
    )
    levels = found[steps[:, 0] > 0] / steps[steps[:, 0] > 0]
    np.testing.assert_allclose(levels, np.rint(levels), atol=1e-3)


def test_a_metered_embedder_counts_texts_hits_and_time() -> None:
    one, bare = (
        metered(CachedEmbedder(HashingEmbedder(8), None)),
        MeteredEmbedder(HashingEmbedder(8)),
    )
    one.embed(["a", "b", "a"])
    one.embed(["b", "c"])
    bare.embed(["a", "a"])
    assert (one.texts, one.hits, one.keeps) == (5, 2, True) and (
        bare.texts,
        bare.hits,
        bare.keeps,
    ) == (2, 0, False)
    assert (
        0.0 < one.seconds < 60.0
        and metered(one) is one
        and set(one.counts) == {"texts", "hits", "seconds"}
    )
