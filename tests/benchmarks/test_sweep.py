"""Sweeps: the same rows however they are run, no cell twice, and arms without effect called so."""
from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hebbarium.audit.conformance import talk
from hebbarium.benchmarks import sweep
from hebbarium.benchmarks.ablation import ablate, arms_of
from hebbarium.benchmarks.datasets import Conversation, Dataset, Question
from hebbarium.benchmarks.run import run
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.ports.embedding_cache import CachedEmbedder
from hebbarium.engine.registry import MechanismSet, Registry

CHOSEN = MechanismSet("small", "for the test", {"temporal_context": {"weight": 0.0}, "dense_similarity": {}, "lexical_bm25": {}, "convex_fusion": {}})


@pytest.fixture(scope="module")
def registry() -> Registry:
    return Registry.read()


@pytest.fixture(scope="module")
def data() -> Dataset:
    """Two conversations; each question repeats a few words of its gold event."""
    events = talk(24)
    conversations = []
    for name, mine in (("one", events[:12]), ("two", events[12:])):
        questions = tuple(
            Question(f"{name}-q{i}", " ".join(mine[i].text.split()[:4]), mine[-1].time + 1.0 + i, "single", (mine[i].id,)) for i in (1, 5, 8))
        conversations.append(Conversation(name, tuple(mine), questions))
    return Dataset("tiny", "0" * 64, tuple(conversations), {})


def embedder(folder: Path) -> CachedEmbedder:
    return CachedEmbedder(HashingEmbedder(32), folder / "cache.sqlite")


def rows(folder: Path) -> str:
    return (folder / "rows.jsonl").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, registry: Registry, data: Dataset) -> tuple[Path, Any]:
    """An ablation run in one go by one process."""
    folder = tmp_path_factory.mktemp("whole")
    return folder, ablate(CHOSEN, registry, data, embedder(folder), folder, jobs=1)


def test_two_jobs_give_the_same_rows_as_one(tmp_path: Path, registry: Registry, data: Dataset, whole: tuple[Path, Any]) -> None:
    ablate(CHOSEN, registry, data, embedder(tmp_path), tmp_path, jobs=2)
    assert rows(tmp_path) == rows(whole[0]) and len(rows(tmp_path).splitlines()) == 5 * 2 * 3


def test_a_resumed_sweep_gives_the_same_rows_and_runs_no_cell_twice(
        tmp_path: Path, registry: Registry, data: Dataset, whole: tuple[Path, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[tuple[str, str]] = []
    limit, real, told = [4], sweep.run_cell, []

    def counted(cell: Any, *rest: Any) -> Any:
        if len(ran) == limit[0]:
            raise KeyboardInterrupt
        ran.append((cell.arm.id, cell.conversation.id))
        return real(cell, *rest)

    monkeypatch.setattr(sweep, "run_cell", counted)
    with pytest.raises(KeyboardInterrupt):
        ablate(CHOSEN, registry, data, embedder(tmp_path), tmp_path)
    assert len(ran) == 4
    limit[0] = 1000
    ablate(CHOSEN, registry, data, embedder(tmp_path), tmp_path, progress=lambda done, of, what: told.append((done, of, what)))
    assert told[0][:2] == (4, 10) and len(ran) == len(set(ran)) == 10
    assert set(ran) == {(arm.id, c.id) for arm in arms_of(CHOSEN) for c in data.conversations}
    assert rows(tmp_path) == rows(whole[0])
    ablate(CHOSEN, registry, data, embedder(tmp_path), tmp_path)
    assert len(ran) == 10, "a finished sweep runs nothing"


def test_another_configuration_is_another_cell(tmp_path: Path, registry: Registry, data: Dataset) -> None:
    cells = sweep.cells_of([sweep.Arm("full", CHOSEN)], data, 0, "turn")
    keys = {sweep.key_of(c, registry, embedder(tmp_path)) for c in cells}
    heavier = CHOSEN.overridden({"dense_similarity": {"weight": 2.0}})
    for others in (sweep.cells_of([sweep.Arm("full", CHOSEN)], data, 1, "turn"), sweep.cells_of([sweep.Arm("full", heavier)], data, 0, "turn"),
                   sweep.cells_of([sweep.Arm("full", CHOSEN)], data, 0, "session")):
        assert len(keys | {sweep.key_of(c, registry, embedder(tmp_path)) for c in others}) == 4
    assert len(keys | {sweep.key_of(c, registry, CachedEmbedder(HashingEmbedder(64), None)) for c in cells}) == 4


def test_an_arm_that_changes_nothing_is_called_no_op(whole: tuple[Path, Any]) -> None:
    """Temporal context has no weight in this set: taking it off cannot change a rank.  Taking the words off does."""
    arms = {arm.id: arm for arm in whole[1].arms}
    assert arms["temporal_context"].no_op and arms["temporal_context"].n_ranks_changed == 0
    assert all(d.mean == 0.0 for d in arms["temporal_context"].differences.values())
    assert not arms["lexical_bm25"].no_op and arms["lexical_bm25"].receipt.ranks_changed > 0
    assert arms["temporal_context"].receipt.calls > 0 and arms["temporal_context"].receipt.ranks_changed == 0


def test_a_run_is_the_full_arm(tmp_path: Path, registry: Registry, data: Dataset, whole: tuple[Path, Any]) -> None:
    result = run(CHOSEN, registry, data, embedder(tmp_path), tmp_path)
    assert rows(tmp_path) == "".join(f"{line}\n" for line in rows(whole[0]).splitlines()[:6])
    assert result["overall"]["n"] == 6 and result["overall"]["mrr@10"] == whole[1].baseline["mrr@10"]


def test_a_rehearsal_lets_recall_change_memory_before_what_counts(tmp_path: Path, registry: Registry, data: Dataset) -> None:
    mechanisms = {"dense_similarity": {}, "base_level_activation": {}, "heat": {"weight": 5.0}, "convex_fusion": {}}
    chosen = MechanismSet("practised", "for the test", mechanisms)
    cells = [sweep.cells_of([sweep.Arm("full", chosen)], data, 0, "turn", rehearse)[0] for rehearse in (None, 24.0)]
    assert sweep.key_of(cells[0], registry, embedder(tmp_path)) != sweep.key_of(cells[1], registry, embedder(tmp_path))
    once, practised = (sweep.run_cell(cell, registry, embedder(tmp_path)) for cell in cells)
    calls = [o.receipts["base_level_activation"]["calls"] for o in (once, practised)]
    assert calls[1] >= calls[0] + len(data.conversations[0].questions)
    assert [row["retrieved"] for row in once.rows] != [row["retrieved"] for row in practised.rows]


def test_workers_use_the_registry_they_are_given(tmp_path: Path, registry: Registry, data: Dataset) -> None:
    entry = registry.entry("dense_similarity")
    weight = entry.params["weight"].model_copy(update={"value": 0.25})
    changed = entry.model_copy(update={"params": {**entry.params, "weight": weight}})
    other = Registry({**registry.entries, entry.id: changed}, registry.sets, "another")
    folders = [tmp_path / name for name in ("one", "two", "plain")]
    for folder, mine, jobs in zip(folders, (other, other, registry), (1, 2, 1), strict=True):
        folder.mkdir()
        run(CHOSEN, mine, data, embedder(folder), folder, jobs=jobs)
    assert rows(folders[0]) == rows(folders[1]) != rows(folders[2])
