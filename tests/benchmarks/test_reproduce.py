"""Repetitions of a run: equal rows are found equal, and any other row, version or set is named."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from by_hand import seal

from hebbarium.benchmarks.datasets import Dataset
from hebbarium.benchmarks.execution.folder import RunFolder
from hebbarium.benchmarks.execution.spec import Settings
from hebbarium.benchmarks.experiments.design import ablate
from hebbarium.benchmarks.experiments.run import run
from hebbarium.benchmarks.runs.reproduce import reproduce, to_json
from hebbarium.engine.base.errors import DataError, InputError
from hebbarium.engine.catalogue.registry import MechanismSet, Registry
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.ports.embedding_cache import CachedEmbedder

EMBEDDER = CachedEmbedder(HashingEmbedder(16), None)
CHOSEN = MechanismSet(
    "small",
    "for the test",
    {"recency": {"weight": 0.5}, "dense_similarity": {}, "lexical_bm25": {}, "convex_fusion": {}},
    {"convex_fusion": ("weighted_rrf",)},
)


@pytest.fixture(scope="module")
def ablated(tmp_path_factory: pytest.TempPathFactory, registry: Registry, tiny: Dataset) -> Path:
    folder = tmp_path_factory.mktemp("ablated")
    ablate(CHOSEN, registry, tiny, EMBEDDER, folder)
    return folder


def copied(folder: Path, to: Path) -> Path:
    """The manifest and the rows alone: a repetition needs no more."""
    to.mkdir()
    for name in ("manifest.json", "rows.jsonl"):
        shutil.copy(folder / name, to / name)
    return to


def changed(folder: Path, **more: Any) -> None:
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    (folder / "manifest.json").write_text(json.dumps({**manifest, **more}), encoding="utf-8")


def test_every_arm_of_an_ablation_is_equal_again(
    ablated: Path, registry: Registry, tiny: Dataset, tmp_path: Path
) -> None:
    found = reproduce(
        RunFolder.read(copied(ablated, tmp_path / "a")), tiny, registry, EMBEDDER, tmp_path / "b"
    )
    assert (
        found.equal
        and found.first is None
        and found.differing == ()
        and found.n_rows == len(RunFolder.read(ablated).rows())
    )
    assert (tmp_path / "b" / "rows.jsonl").read_bytes() == (ablated / "rows.jsonl").read_bytes()
    assert to_json(found)["equal"] is True


@pytest.mark.parametrize("settings", [Settings(rehearse=24.0), Settings(seed=3),
                                      Settings(without=("recency",)), Settings(match="session"),
                                      Settings(param={"lexical_bm25": {"b": 0.1}}),
                                      Settings(system="hebbarium.benchmarks.systems.bm25_dense:BM25Dense")],
                         ids=["rehearse", "seed", "without", "session", "param", "system"])  # fmt: skip
def test_settings_are_those_of_the_run(
    tmp_path: Path, registry: Registry, tiny: Dataset, settings: Settings
) -> None:
    chosen = MechanismSet("learns", "", {**CHOSEN.mechanisms, "base_level_activation": {}})
    run(
        chosen if settings.ours else None,
        registry,
        tiny,
        EMBEDDER,
        tmp_path / "a",
        settings=settings,
    )
    assert reproduce(RunFolder.read(tmp_path / "a"), tiny, registry, EMBEDDER, tmp_path / "b").equal


def test_the_first_row_that_differs_is_named_with_its_fields(
    ablated: Path, registry: Registry, tiny: Dataset, tmp_path: Path
) -> None:
    folder = copied(ablated, tmp_path / "a")
    lines = [
        json.loads(line)
        for line in (folder / "rows.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    lines[4]["ranks"], lines[4]["code"], lines[9]["question_text"] = [99], "other", "another text"
    (folder / "rows.jsonl").write_text(
        "".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8"
    )
    found = reproduce(RunFolder.read(seal(folder)), tiny, registry, EMBEDDER, tmp_path / "b")
    right = RunFolder.read(ablated).rows()[4]
    assert not found.equal and found.n_different == 2 and found.first is not None
    assert (found.first.arm, found.first.conversation, found.first.question) == (
        right["arm"],
        right["conversation"],
        right["question"],
    )
    assert found.first.fields == (("ranks", [99], right["ranks"]),)
    assert to_json(found)["first"]["fields"] == [
        {"field": "ranks", "run": [99], "now": right["ranks"]}
    ]


def test_versions_that_differ_are_named(
    ablated: Path, registry: Registry, tiny: Dataset, tmp_path: Path
) -> None:
    folder = copied(ablated, tmp_path / "a")
    changed(
        folder,
        code="0.0+old",
        versions={**RunFolder.read(folder).manifest["versions"], "numpy": "0.1"},
        registry_digest="x",
    )
    found = reproduce(RunFolder.read(folder), tiny, registry, EMBEDDER, tmp_path / "b")
    assert found.equal and {name: a for name, a, _ in found.differing} == {
        "code": "0.0+old",
        "versions.numpy": "0.1",
        "registry_digest": "x",
    }


def test_another_parameter_in_the_manifest_is_run_and_differs(
    ablated: Path, registry: Registry, tiny: Dataset, tmp_path: Path
) -> None:
    folder = copied(ablated, tmp_path / "a")
    mechanisms = RunFolder.read(folder).manifest["mechanisms"]
    changed(folder, mechanisms={**mechanisms, "recency": {**mechanisms["recency"], "weight": 10.0}})
    found = reproduce(RunFolder.read(folder), tiny, registry, EMBEDDER, tmp_path / "b")
    assert not found.equal and found.first is not None and found.first.arm == "full"


def test_what_cannot_be_repeated_is_refused(
    ablated: Path, registry: Registry, tiny: Dataset, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="that of the run itself"):
        reproduce(RunFolder.read(ablated), tiny, registry, EMBEDDER, ablated)
    folder = copied(ablated, tmp_path / "a")
    changed(folder, conversations=["one", "three"])
    with pytest.raises(DataError, match="no conversation 'three'"):
        reproduce(RunFolder.read(folder), tiny, registry, EMBEDDER, tmp_path / "b")
    changed(folder, conversations=["one", "two"], seed=None, rehearse="x", k=None, changes={})
    with pytest.raises(DataError, match="another release"):
        reproduce(RunFolder.read(folder), tiny, registry, EMBEDDER, tmp_path / "b")
    (folder / "rows.jsonl").write_text("{", encoding="utf-8")
    seal(folder)
    with pytest.raises(DataError, match="line 1 is damaged"):
        reproduce(RunFolder.read(folder), tiny, registry, EMBEDDER, tmp_path / "b")
