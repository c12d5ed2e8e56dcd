"""Damaged run folders, and folders that other code wrote: named with the cure, and never half a
table.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from by_hand import seal

from hebbarium.benchmarks.datasets import Dataset
from hebbarium.benchmarks.execution.folder import RunFolder
from hebbarium.benchmarks.experiments.run import run
from hebbarium.benchmarks.runs.compare import compare
from hebbarium.benchmarks.runs.export import table
from hebbarium.benchmarks.runs.misses import misses
from hebbarium.benchmarks.runs.reproduce import reproduce
from hebbarium.engine.base.errors import DataError, HebbariumError, InputError
from hebbarium.engine.catalogue.registry import MechanismSet, Registry
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.ports.embedding_cache import CachedEmbedder

EMBEDDER = CachedEmbedder(HashingEmbedder(16), None)
CHOSEN = MechanismSet("small", "", {"lexical_bm25": {}})


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, registry: Registry, tiny: Dataset) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "o"
    run(CHOSEN, registry, tiny, EMBEDDER, folder)
    return folder


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "o"))


def edit(file: Path, change: Callable[[str], str]) -> None:
    file.write_text(change(file.read_text(encoding="utf-8")), encoding="utf-8")


ROWS: dict[str, Callable[[str], str]] = {
    "cut in mid-line": lambda text: text[:-40],
    "a line is missing": lambda text: text.split("\n", 1)[1],
    "a line is doubled": lambda text: (
        text.split("\n")[0] + "\n" + text.split("\n", 1)[0] + "\n" + text.split("\n", 2)[2]
    ),
    "no JSON": lambda text: text.replace("{", "<", 1),
    "a list": lambda text: "[]\n" + text.split("\n", 1)[1],
    "a field is missing": lambda text: text.replace('"ranks"', '"rnaks"', 1),
    "a rank too many": lambda text: text.replace('"ranks": [', '"ranks": [1, ', 1),
    "a rank of -1": lambda text: re.sub(r'"ranks": \[[^,\]]+', '"ranks": [-1', text, count=1),
    "gold is a number": lambda text: re.sub(r'"gold": \[[^\]]*\]', '"gold": 1', text, count=1),
    "empty": lambda text: "",
}
READERS: dict[str, Callable[[Path, Path, Registry, Dataset], object]] = {
    "compare": lambda run, out, registry, data: compare(RunFolder.read(run), RunFolder.read(run)),
    "misses": lambda run, out, registry, data: misses(
        RunFolder.read(run), data, registry, EMBEDDER
    ),
    "reproduce": lambda run, out, registry, data: reproduce(
        RunFolder.read(run), data, registry, EMBEDDER, out
    ),
    "export": lambda run, out, registry, data: table(RunFolder.read(run)),
}


@pytest.mark.parametrize("damage", ROWS)
@pytest.mark.parametrize("reader", READERS)
def test_damaged_rows_are_named_with_the_cure(
    folder: Path, tmp_path: Path, registry: Registry, tiny: Dataset, damage: str, reader: str
) -> None:
    edit(folder / "rows.jsonl", ROWS[damage])
    with pytest.raises(DataError, match="changed after the run") as caught:
        READERS[reader](folder, tmp_path / "new", registry, tiny)
    assert "rows.jsonl" in caught.value.where and "--force" in caught.value.cure
    seal(folder)  # as by somebody who knows how
    with pytest.raises(DataError) as caught:
        READERS[reader](folder, tmp_path / "new", registry, tiny)
    assert "rows.jsonl" in caught.value.where and "--replace" in caught.value.cure
    assert not (tmp_path / "new" / "rows.jsonl").exists()


def test_a_damaged_ledger_is_named_and_its_rows_are_not_half_written(
    folder: Path, registry: Registry, tiny: Dataset
) -> None:
    ledger = folder / "ledger.sqlite"
    ledger.write_bytes(ledger.read_bytes()[:2000] + b"\x00" * 4000)
    (folder / "rows.jsonl").unlink()
    with pytest.raises(HebbariumError) as caught:
        run(CHOSEN, registry, tiny, EMBEDDER, folder)
    assert (
        "ledger.sqlite" in caught.value.where
        and caught.value.cure
        and not (folder / "rows.jsonl").exists()
    )


def test_a_run_of_other_code_is_compared_and_not_continued(
    folder: Path, whole: Path, registry: Registry, tiny: Dataset
) -> None:
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    (folder / "manifest.json").write_text(
        json.dumps({**manifest, "code": "0.0+old"}), encoding="utf-8"
    )
    edit(folder / "rows.jsonl", lambda text: text.replace(manifest["code"], "0.0+old"))
    seal(folder)
    before = (folder / "rows.jsonl").read_bytes()
    found = compare(RunFolder.read(whole), RunFolder.read(folder))
    assert found.n_changed == 0 and ("code", manifest["code"], "0.0+old") in found.differing
    with pytest.raises(InputError, match="the code of the package changed since") as caught:
        run(CHOSEN, registry, tiny, EMBEDDER, folder)
    assert "--replace" in caught.value.cure and (folder / "rows.jsonl").read_bytes() == before
