"""Execution on this machine: equal rows for any number of jobs and after any stop, and no cell
twice.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hebbarium.benchmarks.datasets import Conversation, Dataset, Question
from hebbarium.benchmarks.designs.leave_one_out import leave_one_out
from hebbarium.benchmarks.execution import local
from hebbarium.benchmarks.execution.cells import Cell
from hebbarium.benchmarks.execution.spec import Settings
from hebbarium.benchmarks.experiments.design import ablate
from hebbarium.benchmarks.experiments.run import run
from hebbarium.engine.base.errors import InputError
from hebbarium.engine.catalogue.registry import MechanismSet, Registry
from hebbarium.engine.contract.records import Event
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.ports.embedding_cache import CachedEmbedder

CHOSEN = MechanismSet(
    "small",
    "for the test",
    {
        "temporal_context": {"weight": 0.0},
        "dense_similarity": {},
        "lexical_bm25": {},
        "convex_fusion": {},
    },
)
UNLEARNT = replace(
    CHOSEN,
    mechanisms={id: values for id, values in CHOSEN.mechanisms.items() if id != "temporal_context"},
)
BASELINE = Settings(system="hebbarium.benchmarks.systems.bm25_dense:BM25Dense")


def embedder(folder: Path) -> CachedEmbedder:
    return CachedEmbedder(HashingEmbedder(32), folder / "cache.sqlite")


def rows(folder: Path) -> str:
    return (folder / "rows.jsonl").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def whole(
    tmp_path_factory: pytest.TempPathFactory, registry: Registry, tiny: Dataset
) -> tuple[Path, Any]:
    """An ablation run in one go by one process."""
    folder = tmp_path_factory.mktemp("whole")
    return folder, ablate(CHOSEN, registry, tiny, embedder(folder), folder, jobs=1)


@pytest.mark.slow
def test_two_jobs_give_the_same_rows_as_one(
    tmp_path: Path, registry: Registry, tiny: Dataset, whole: tuple[Path, Any]
) -> None:
    ablate(CHOSEN, registry, tiny, embedder(tmp_path), tmp_path, jobs=2)
    assert rows(tmp_path) == rows(whole[0]) and len(rows(tmp_path).splitlines()) == 5 * 2 * 3


def test_two_jobs_give_the_same_rows_as_one_for_another_system(
    tmp_path: Path, registry: Registry, tiny: Dataset
) -> None:
    for jobs in (1, 2):
        (tmp_path / f"{jobs}").mkdir()
        run(
            None,
            registry,
            tiny,
            embedder(tmp_path),
            tmp_path / f"{jobs}",
            settings=BASELINE,
            jobs=jobs,
        )
    assert (
        rows(tmp_path / "1") == rows(tmp_path / "2")
        and len(rows(tmp_path / "1").splitlines()) == 2 * 3
    )


def test_a_resumed_run_gives_the_same_rows_and_runs_no_cell_twice(
    tmp_path: Path,
    registry: Registry,
    tiny: Dataset,
    whole: tuple[Path, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ran: list[tuple[str, str]] = []
    limit, real, reported = [4], local.run_cell, []

    def counted(cell: Cell, *rest: Any) -> Any:
        if len(ran) == limit[0]:
            raise KeyboardInterrupt
        ran.append((cell.spec.arm, cell.spec.conversation))
        return real(cell, *rest)

    # every cell lives alone
    monkeypatch.setattr(
        local, "grouped", lambda cells, jobs=1: [[place] for place in range(len(cells))]
    )
    monkeypatch.setattr(local, "run_cell", counted)
    with pytest.raises(KeyboardInterrupt):
        ablate(CHOSEN, registry, tiny, embedder(tmp_path), tmp_path)
    assert len(ran) == 4
    limit[0] = 1000
    ablate(
        CHOSEN,
        registry,
        tiny,
        embedder(tmp_path),
        tmp_path,
        progress=lambda done, of, what: reported.append((done, of, what)),
    )
    assert reported[0][:2] == (4, 10) and len(ran) == len(set(ran)) == 10
    assert set(ran) == {(arm.id, c.id) for arm in leave_one_out(CHOSEN) for c in tiny.conversations}
    assert rows(tmp_path) == rows(whole[0])
    ablate(CHOSEN, registry, tiny, embedder(tmp_path), tmp_path)
    assert len(ran) == 10, "a finished run is not run again"


@pytest.mark.parametrize("settings", [
    Settings(seed=1), Settings(unit="session"), Settings(rehearse=1.0), Settings(feedback="gold"),
    Settings(allow_missing_gold=True),
    Settings(without=("temporal_context",)),
    Settings(param={"dense_similarity": {"weight": 2.0}})], ids=str)  # fmt: skip
def test_other_settings_are_other_cells(
    tmp_path: Path,
    registry: Registry,
    tiny: Dataset,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ran, real = [], local.run_cell
    monkeypatch.setattr(
        local, "run_cell", lambda cell, *rest: (ran.append(cell), real(cell, *rest))[1]
    )
    # without a hook that learns, --rehearse is refused
    learning = replace(CHOSEN, mechanisms={**CHOSEN.mechanisms, "recency": {}})
    for chosen in (Settings(), settings, Settings(), settings):
        run(learning, registry, tiny, embedder(tmp_path), tmp_path, settings=chosen, replace=True)
    assert len(ran) == 4
    with pytest.raises(InputError, match="another run"):
        run(learning, registry, tiny, embedder(tmp_path), tmp_path)


BEFORE = Settings(rehearse=24.0)


class Unused(HashingEmbedder):
    def embed(self, texts: Any) -> Any:
        raise AssertionError("embedded before the refusal")


@pytest.mark.parametrize(
    ("chosen", "settings", "words"),
    [
        (UNLEARNT, BEFORE, "the set small does not learn from recall"),
        (None, replace(BASELINE, rehearse=24.0), "BM25Dense does not learn from recall"),
    ],
    ids=str,
)
def test_rehearsal_is_refused_for_what_does_not_learn(
    tmp_path: Path,
    registry: Registry,
    tiny: Dataset,
    chosen: MechanismSet | None,
    settings: Settings,
    words: str,
) -> None:
    with pytest.raises(InputError, match=words) as caught:
        run(
            chosen,
            registry,
            tiny,
            CachedEmbedder(Unused(8), None),
            tmp_path / "o",
            settings=settings,
        )
    assert (
        caught.value.where == "--rehearse"
        and "leave out --rehearse" in caught.value.cure
        and not (tmp_path / "o").exists()
    )


@pytest.mark.parametrize(
    ("chosen", "settings", "words"),
    [
        (UNLEARNT, Settings(feedback="gold"), "the set small does not learn from recall"),
        (CHOSEN, Settings(feedback="answer", rehearse=1.0), "a rehearsal"),
        (None, replace(BASELINE, feedback="gold"), "BM25Dense does not learn from recall"),
    ],
    ids=str,
)
def test_feedback_is_refused_for_what_does_not_learn_and_with_a_rehearsal(
    tmp_path: Path,
    registry: Registry,
    tiny: Dataset,
    chosen: MechanismSet | None,
    settings: Settings,
    words: str,
) -> None:
    with pytest.raises(InputError, match=words) as caught:
        run(
            chosen,
            registry,
            tiny,
            CachedEmbedder(Unused(8), None),
            tmp_path / "o",
            settings=settings,
        )
    assert (
        caught.value.where == "--feedback"
        and "leave out --feedback" in caught.value.cure
        and not (tmp_path / "o").exists()
    )


def test_rehearsal_of_a_set_that_learns_includes_the_arm_without_its_learning(
    tmp_path: Path, registry: Registry, tiny: Dataset
) -> None:
    learning = replace(CHOSEN, mechanisms={**CHOSEN.mechanisms, "recency": {}})
    result = ablate(
        learning,
        registry,
        tiny,
        embedder(tmp_path),
        tmp_path,
        settings=BEFORE,
        only=["recency"],
        beside=[BASELINE.system],
    )
    assert [arm.name for arm in result.blocks[0].estimates] == ["recency"]
    assert (
        "Rehearsal changes no answer of hebbarium.benchmarks.systems.bm25_dense:BM25Dense"
        in (tmp_path / "design.html").read_text()
    )


def test_an_arm_that_changes_nothing_is_called_no_op(whole: tuple[Path, Any]) -> None:
    """Temporal context has no weight in this set, so its removal cannot change a rank; the
    removal of the words does.
    """
    arms = {arm.name: arm for arm in whole[1].blocks[0].estimates}
    assert arms["temporal_context"].no_op and arms["temporal_context"].n_ranks_changed == 0
    assert all(d.mean == 0.0 for d in arms["temporal_context"].differences.values())
    assert not arms["lexical_bm25"].no_op and arms["lexical_bm25"].receipt.ranks_changed > 0
    assert (
        arms["temporal_context"].receipt.calls > 0
        and arms["temporal_context"].receipt.ranks_changed == 0
    )


def test_a_run_is_the_full_arm(
    tmp_path: Path, registry: Registry, tiny: Dataset, whole: tuple[Path, Any]
) -> None:
    result = run(CHOSEN, registry, tiny, embedder(tmp_path), tmp_path)
    assert rows(tmp_path) == "".join(f"{line}\n" for line in rows(whole[0]).splitlines()[:6])
    assert (
        result["overall"]["n"] == 6
        and result["overall"]["mrr@10"] == whole[1].blocks[0].baseline["mrr@10"]
    )


def test_workers_use_the_registry_they_are_given(
    tmp_path: Path, registry: Registry, tiny: Dataset
) -> None:
    entry = registry.entry("dense_similarity")
    weight = entry.params["weight"].model_copy(update={"value": 0.25})
    changed = entry.model_copy(update={"params": {**entry.params, "weight": weight}})
    other = Registry({**registry.entries, entry.id: changed}, registry.sets, "another")
    folders = [tmp_path / name for name in ("one", "two", "plain")]
    for folder, mine, jobs in zip(folders, (other, other, registry), (1, 2, 1), strict=True):
        folder.mkdir()
        run(CHOSEN, mine, tiny, embedder(folder), folder, jobs=jobs)
    assert rows(folders[0]) == rows(folders[1]) != rows(folders[2])


@pytest.mark.parametrize(("events", "asked_ahead"), [(16, True), (17, False)])
def test_token_vectors_are_embedded_ahead_where_nearly_all_will_be_needed(
    tmp_path: Path,
    registry: Registry,
    monkeypatch: pytest.MonkeyPatch,
    events: int,
    asked_ahead: bool,
) -> None:
    talk = Conversation(
        "c",
        tuple(Event(float(i), f"a boat and {i}", id=f"e{i}") for i in range(events)),
        tuple(Question(f"q{i}", "which boat?", 99.0, "single", ("e0",)) for i in range(2)),
    )
    seen: list[int] = []
    monkeypatch.setattr(local, "tokens_of", lambda embedder, texts: seen.append(len(texts)))
    for name in ("late_interaction_rerank", "dense_similarity"):
        chosen = MechanismSet("small", "for the test", {"dense_similarity": {}, name: {}})
        run(chosen, registry, Dataset("d", "0", (talk,), {}), embedder(tmp_path), tmp_path / name)
    assert seen == ([events + 2] if asked_ahead else [])
