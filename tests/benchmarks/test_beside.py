"""Other systems beside an ablation: their rows are those of a run of their own, and no verdict
depends on them.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from hebbarium.benchmarks.datasets import Dataset, load
from hebbarium.benchmarks.execution import local
from hebbarium.benchmarks.execution.folder import RunFolder
from hebbarium.benchmarks.execution.spec import Settings
from hebbarium.benchmarks.experiments.design import ablate as carried_out
from hebbarium.benchmarks.experiments.run import run
from hebbarium.benchmarks.reports.result import BlockResult, from_json
from hebbarium.benchmarks.runs.explain import explain
from hebbarium.benchmarks.scores.cluster_robust import cluster_t
from hebbarium.engine.base.errors import InputError
from hebbarium.engine.catalogue.registry import MechanismSet, Registry
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.ports.embedding_cache import CachedEmbedder

SMALL = MechanismSet(
    "small", "for the test", {"dense_similarity": {}, "lexical_bm25": {}, "weighted_rrf": {}}
)
BASELINE = "hebbarium.benchmarks.systems.bm25_dense:BM25Dense"
EMBEDDER = CachedEmbedder(HashingEmbedder(64), None)


def ablate(*given: Any, **more: Any) -> BlockResult:
    """The only block of the design."""
    (block,) = carried_out(*given, **more).blocks
    return block


def rows(folder: Path, arm: str) -> list[dict[str, Any]]:
    return RunFolder.read(folder).rows(arm)


@pytest.fixture(scope="module")
def data() -> Dataset:
    return load("demo", limit=3)


@pytest.fixture(scope="module")
def done(
    tmp_path_factory: pytest.TempPathFactory, registry: Registry, data: Dataset
) -> tuple[Path, BlockResult]:
    """An ablation with the baseline beside it; the set has an override, which the baseline has
    not.
    """
    folder = tmp_path_factory.mktemp("beside")
    return folder, ablate(
        SMALL,
        registry,
        data,
        EMBEDDER,
        folder,
        beside=[BASELINE],
        settings=Settings(param={"lexical_bm25": {"b": 0.5}}),
    )


def test_its_rows_are_those_of_a_run_of_its_own(
    done: tuple[Path, BlockResult], registry: Registry, data: Dataset, tmp_path: Path
) -> None:
    alone = run(None, registry, data, EMBEDDER, tmp_path, settings=Settings(system=BASELINE))
    assert rows(tmp_path, BASELINE) == rows(done[0], BASELINE) != []
    (beside,) = done[1].beside
    held = {name: alone["abstention"][name] for name in ("held_back", "false_hold_backs")}
    assert (
        beside.metrics == {**alone["overall"], **held}
        and done[1].baseline.keys() == beside.metrics.keys()
    )
    assert (beside.id, beside.revision, beside.capabilities) == (BASELINE, "", ())


def test_its_difference_is_the_full_set_minus_it_with_its_interval(
    done: tuple[Path, BlockResult],
) -> None:
    def recall(arm: str) -> dict[tuple[str, str], float]:
        return {
            (r["conversation"], r["question"]): fmean(0 < rank <= 10 for rank in r["ranks"])
            for r in rows(done[0], arm)
            if r["gold"]
        }

    full, other, found = recall("full"), recall(BASELINE), done[1].beside[0].primary
    t = cluster_t([full[key] - other[key] for key in full], [key[0] for key in full])
    assert (found.mean, found.low, found.high, found.p) == pytest.approx(
        (t.mean, t.low, t.high, t.p)
    ) and found.mean
    grouped: dict[str, list[float]] = {}
    for row in rows(done[0], "full"):
        if row["gold"]:
            key = row["conversation"], row["question"]
            grouped.setdefault(row["category"], []).append(full[key] - other[key])
    assert done[1].beside[0].by_category == pytest.approx(
        {name: fmean(each) for name, each in grouped.items()}
    )


@pytest.mark.slow
def test_it_is_no_part_of_the_family(
    done: tuple[Path, BlockResult], registry: Registry, data: Dataset, tmp_path: Path
) -> None:
    plain = ablate(
        SMALL,
        registry,
        data,
        EMBEDDER,
        tmp_path,
        settings=Settings(param={"lexical_bm25": {"b": 0.5}}),
    )
    assert [replace(arm, seconds=0.0) for arm in plain.estimates] == [
        replace(arm, seconds=0.0) for arm in done[1].estimates
    ]
    assert (
        done[1].beside[0].primary.p_holm is None
        and done[1].beside[0].primary.smallest is None
        and plain.beside == ()
    )
    written = json.loads((done[0] / "manifest.json").read_text())
    assert (
        BASELINE not in written["family"]
        and written["beside"] == [BASELINE]
        and written["arms"][-1] == BASELINE
    )


def test_every_report_has_its_row(done: tuple[Path, BlockResult]) -> None:
    beside = done[1].beside[0]
    for kind in ("html", "md", "tex"):
        text = (
            (done[0] / f"design.{kind}")
            .read_text(encoding="utf-8")
            .replace("\\", "")
            .replace("<wbr>", "")
        )
        assert (
            BASELINE in text
            and f"{beside.metrics['recall@10']:.4f}" in text
            and f"{abs(beside.primary.mean):.4f}" in text
        )
        assert "no part of the family" in text
    assert (
        from_json(json.loads((done[0] / "design.json").read_text(encoding="utf-8")))
        .blocks[0]
        .beside
        == done[1].beside
    )


@pytest.mark.slow
def test_its_cells_are_in_the_ledger_and_do_not_depend_on_the_set(
    done: tuple[Path, BlockResult],
    registry: Registry,
    data: Dataset,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ran, real = list[str](), local.run_cell
    # every cell lives alone
    monkeypatch.setattr(
        local, "grouped", lambda cells, jobs=1: [[place] for place in range(len(cells))]
    )
    monkeypatch.setattr(
        local, "run_cell", lambda cell, *rest: (ran.append(cell.spec.system), real(cell, *rest))[1]
    )
    for b in (0.5, 0.6):
        ablate(
            SMALL,
            registry,
            data,
            EMBEDDER,
            tmp_path,
            beside=[BASELINE],
            only=["lexical_bm25"],
            replace_run=True,
            settings=Settings(param={"lexical_bm25": {"b": b}}),
        )
    assert ran.count(BASELINE) == 3 and ran.count("hebbarium") == 2 * 2 * 3, (
        "the override is part of the record of every arm, and of no other system"
    )


def test_its_record_is_read_back_and_cannot_be_explained(
    done: tuple[Path, BlockResult], registry: Registry, data: Dataset
) -> None:
    folder = RunFolder.read(done[0])
    spec = folder.cell(BASELINE, "friends", data).spec
    assert (spec.system, spec.set, spec.set_digest, dict(spec.mechanisms), dict(spec.param)) == (
        BASELINE,
        "",
        "",
        {},
        {},
    )
    with pytest.raises(InputError, match="only the memories of hebbarium"):
        explain(
            folder, rows(done[0], BASELINE)[0]["question"], data, registry, EMBEDDER, arm=BASELINE
        )


@pytest.mark.parametrize(
    ("beside", "words"),
    [
        (["hebbarium"], "is the system that is ablated"),
        ([BASELINE, BASELINE], "is named twice"),
        (["no_such_module:X"], "cannot be loaded"),
        (["nothing"], "names no system"),
    ],
    ids=str,
)
def test_an_odd_system_is_refused_before_anything_runs(
    beside: list[str], words: str, registry: Registry, data: Dataset, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=words) as caught:
        ablate(SMALL, registry, data, EMBEDDER, tmp_path / "o", beside=beside)
    assert caught.value.cure and not (tmp_path / "o").exists()
