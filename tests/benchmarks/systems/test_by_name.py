"""Systems by name: a user's module is found, and every error about it has what, where and cure."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from hebbarium.benchmarks.datasets import Dataset
from hebbarium.benchmarks.execution.spec import Settings
from hebbarium.benchmarks.experiments.run import run
from hebbarium.benchmarks.systems.by_name import factory, make, revision
from hebbarium.engine.base.errors import InputError
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.ports.embedding_cache import CachedEmbedder

OUTSIDE = """
from hebbarium.benchmarks.systems.base import Capability, Retrieved, RetrievedEvent

class Newest:
    capabilities = frozenset()
    def __init__(self, embedder, seed): self.ids = []
    def encode(self, events): self.ids += [event.id for event in events]
    def advance(self, time): pass
    def retrieve(self, query, k, learn=False): return Retrieved(tuple(RetrievedEvent(id, 0.0, "") for id in self.ids[::-1][:k]))
    def close(self): pass

def broken(embedder, seed): raise RuntimeError("no disk")
def empty(embedder, seed): return object()
def other(embedder): return None
def silent(embedder, seed):
    made = Newest(embedder, seed)
    made.capabilities = {Capability.RECEIPTS}
    return made
number = 3
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "outside_memory.py"
    file.write_text(OUTSIDE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "outside_memory", raising=False)
    return file


def test_a_module_of_a_user_is_measured(
    module: Path, registry: Registry, tiny: Dataset, tmp_path: Path
) -> None:
    """Gold of the tiny data set are the events 1, 5 and 8 of 12, so the newest-first ranks are
    11, 7 and 4.
    """
    result = run(
        None,
        registry,
        tiny,
        CachedEmbedder(HashingEmbedder(8), None),
        tmp_path,
        settings=Settings(system="outside_memory:Newest"),
    )
    assert (
        result["overall"]["n"] == 6
        and result["receipts"] == {}
        and set(result["timing_ms"]) == {"encode", "retrieve"}
    )
    assert result["overall"]["mrr@10"] == pytest.approx((0 + 1 / 7 + 1 / 4) / 3) and result[
        "overall"
    ]["recall@10"] == pytest.approx(2 / 3)


def test_other_code_of_a_system_is_another_revision(module: Path) -> None:
    before = revision("outside_memory:Newest")
    module.write_text(OUTSIDE + "\n# changed\n", encoding="utf-8")
    assert len(before) == 12 and revision("outside_memory:Newest") not in ("", before)


def test_a_package_is_digested_whole_and_ours_is_the_code_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "outside_package"
    folder.mkdir()
    (folder / "__init__.py").write_text("", encoding="utf-8")
    (folder / "memory.py").write_text(OUTSIDE, encoding="utf-8")
    (folder / "helper.py").write_text("", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    before = revision("outside_package.memory:Newest")
    (folder / "helper.py").write_text("K = 1", encoding="utf-8")
    assert revision("outside_package.memory:Newest") != before
    assert (
        revision("hebbarium.benchmarks.systems.bm25_dense:BM25Dense")
        == revision("builtins:print")
        == ""
    )


@pytest.mark.parametrize(("name", "words"), [
    ("nothing", "names no system"), ("", "names no system"), (":x", "names no system"), ("a:",
    "names no system"),
    ("no_such_module:X", "ModuleNotFoundError"), ("outside_memory:Nothing", "AttributeError"),
    ("outside_memory:number", "not a class or function"),
    ("outside_memory:other", "does not take"), ("outside_memory:broken", "no disk"),
    ("outside_memory:empty", "has no capabilities, encode"),
    ("outside_memory:silent", "has no receipts, ranks_changed, phase_ms")])  # fmt: skip
def test_what_is_no_system_is_refused(module: Path, name: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        make(name, HashingEmbedder(8), 0)
    assert caught.value.cure and caught.value.where == "--system"


def test_a_module_that_fails_while_it_is_imported_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "fails_at_import.py").write_text("1 / 0", encoding="utf-8")
    (tmp_path / "no_python.py").write_text("def (", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    for name, word in (("fails_at_import:X", "ZeroDivisionError"), ("no_python:X", "SyntaxError")):
        with pytest.raises(InputError, match=word):
            factory(name)
