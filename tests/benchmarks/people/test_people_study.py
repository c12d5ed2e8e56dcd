"""`hebbarium human`: rows of memories and baselines, cells from the ledger, refusals, and errors."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from hebbarium.benchmarks.people import study as studying
from hebbarium.benchmarks.people.data import DELAYED, IMMEDIATE, by_person, shipped_trials, written
from hebbarium.benchmarks.people.free_recall import added, curves
from hebbarium.benchmarks.people.reference import ReferenceCMR
from hebbarium.benchmarks.people.scores import distances, interval_of
from hebbarium.benchmarks.people.study import RECENCY, REFERENCE, StudyReport, people_of, study
from hebbarium.engine.base.errors import DataError, InputError
from hebbarium.engine.catalogue.registry import MechanismSet, Registry
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.ports.embedding_cache import CachedEmbedder

REGISTRY = Registry.read()
MINE = MechanismSet(
    "mine", "", {"temporal_context": {}, "dense_similarity": {}, "convex_fusion": {}}
)
GATED = MechanismSet("gated", "", {"write_gate_true_memory": {}, "dense_similarity": {}})


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of two fitting and three reporting people, four lists of each."""
    file = tmp_path_factory.mktemp("people") / "few.tsv"
    people = by_person(shipped_trials())
    kept = {"fitting": 2, "reporting": 3}
    chosen = []
    for name, own in people.items():
        if kept[studying.half(name)] > 0:
            kept[studying.half(name)] -= 1
            chosen += [t for length in (12, 24) for t in own if t.length == length][:2]
            chosen += [t for t in own if t.length == 24][:2]
    file.write_text(written(chosen), encoding="utf-8")
    return file


def studied(out: Path, few: Path, *sets: MechanismSet, **more: Any) -> StudyReport:
    embedder = CachedEmbedder(HashingEmbedder(32), out.parent / "cache.sqlite")
    options: dict[str, Any] = {"data": few, "people": 3, **more}
    return study("free_recall", sets, REGISTRY, embedder, out, **options)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory, few: Path) -> tuple[StudyReport, Path]:
    out = tmp_path_factory.mktemp("human") / "out"
    return studied(out, few, MINE, GATED, seeds=2), out


def test_every_memory_has_a_row_with_its_readout_and_a_score(
    report: tuple[StudyReport, Path],
) -> None:
    rows = {row.name: row for row in report[0].rows}
    assert list(rows) == ["mine", "gated", "bm25", "naive_rag", RECENCY, REFERENCE]
    for name in ("mine", REFERENCE):
        row = rows[name]
        assert row.readout and row.score.mean > 0.0
        assert set(row.distances) == {"12", "24"} and row.likelihood["reporting"] < 0.0
    assert rows["mine"].likelihood["fitting"] > rows["bm25"].likelihood["fitting"]


def test_a_set_whose_gates_refuse_words_is_said_and_not_scored(
    report: tuple[StudyReport, Path],
) -> None:
    gated = next(row for row in report[0].rows if row.name == "gated")
    assert "its gates refused" in gated.why and gated.readout is None
    assert not gated.distances and gated.score.n == 0
    text = (report[1] / "human.md").read_text(encoding="utf-8")
    assert "its gates refused" in text and "Pazdera" in text


def test_files_hold_plain_data(report: tuple[StudyReport, Path]) -> None:
    found = json.loads((report[1] / "human.json").read_text(encoding="utf-8"))
    assert [row["name"] for row in found["rows"]] == [row.name for row in report[0].rows]
    assert len(found["rows"][0]["curves"]["24"]["position"]) == 24 and not found["evidence"]
    lines = (report[1] / "rows.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 5 * 3 * 2  # the gated set recalled nothing


def test_a_second_run_takes_all_cells_from_the_ledger_and_finds_the_same(
    report: tuple[StudyReport, Path], few: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hebbarium.benchmarks.people import run

    def never(*_: Any) -> None:
        raise AssertionError("a finished cell is run again")

    before = (report[1] / "rows.jsonl").read_text(encoding="utf-8")
    monkeypatch.setattr(run, "run_cell", never)
    again = studied(report[1], few, MINE, GATED, seeds=2)
    assert (report[1] / "rows.jsonl").read_text(encoding="utf-8") == before
    assert [row.score for row in again.rows[:1]] == [row.score for row in report[0].rows[:1]]


def test_another_memory_stands_in_place_of_sets(tmp_path: Path, few: Path) -> None:
    name = f"{__name__}:Silent"
    found = studied(tmp_path / "out", few, system=name, people=2)
    assert found.rows[0].name == name and "silent" in found.rows[0].why
    assert [row.name for row in found.rows[1:]] == ["bm25", "naive_rag", RECENCY, REFERENCE]


class Silent(ReferenceCMR):
    """A memory whose questions fail."""

    def retrieve(self, *_: Any, **__: Any) -> Any:
        raise ValueError("silent")


def test_bad_options_are_refused_before_anything_runs(tmp_path: Path, few: Path) -> None:
    with pytest.raises(InputError, match="no paradigm"):
        embedder = CachedEmbedder(HashingEmbedder(32), tmp_path / "cache.sqlite")
        study("fan", [MINE], REGISTRY, embedder, tmp_path / "out")
    for options, message in (
        ({"people": 4}, "4 people are asked for"),
        ({"system": REFERENCE}, "beside another system"),
    ):
        with pytest.raises(InputError, match=message):
            studied(tmp_path / "out", few, MINE, **options)
    with pytest.raises(InputError, match="named twice"):
        studied(tmp_path / "out", few, MINE, MINE)
    assert not (tmp_path / "out" / "rows.jsonl").exists()


def test_a_table_that_lacks_a_length_or_a_half_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "t.tsv"
    file.write_text(written([t for t in shipped_trials() if t.length == 12]), encoding="utf-8")
    with pytest.raises(DataError, match="no list of 24 words"):
        people_of(DELAYED, file, 1)
    ours = [t for t in shipped_trials() if studying.half(t.person) == "fitting"]
    file.write_text(written(ours), encoding="utf-8")
    with pytest.raises(DataError, match="reporting people have no list of 12 or 24"):
        people_of(DELAYED, file, 1)


def test_people_of_immediate_recall_are_near_themselves_and_have_no_curve_that_data_lack() -> None:
    """The reporting people who ship, by what they recalled: within a few ceilings of all."""
    halves, targets = people_of(IMMEDIATE, None, 64)
    assert list(targets) == ["10-2", "15-2", "20-1", "20-2", "30-1", "40-1"]
    everyone = [studying.counts_of(IMMEDIATE, own) for own in halves["reporting"].values()]
    by_condition = {name: [each[name] for each in everyone] for name in targets}
    score = interval_of(by_condition, targets)
    assert 0.1 < score.low < score.high < 3.0
    for name, people in by_condition.items():
        apart = distances(curves(added(people)), targets[name])
        assert apart["position"] > 0.0
        assert math.isnan(apart["intrusions"]) and math.isnan(apart["pauses"])
