"""Exported tables hold the rows, and pandas reads the rows in one line."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from by_hand import seal

from hebbarium.benchmarks.datasets import Dataset
from hebbarium.benchmarks.execution.folder import RunFolder
from hebbarium.benchmarks.experiments.design import ablate
from hebbarium.benchmarks.runs.export import runs_of, table, tables, to_csv, to_parquet
from hebbarium.engine.base.errors import HebbariumError, InputError
from hebbarium.engine.catalogue.registry import MechanismSet, Registry
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.ports.embedding_cache import CachedEmbedder

ODD = 'a "quoted", text\nof two lines; =1+1 \u00e9 \U0001f600'
LISTS = ("gold", "ranks", "retrieved", "scores")


METRICS_OF_ROWS = [
    f"{kind}@{k}" for k in (1, 5, 10, 50) for kind in ("hit", "recall", "mrr", "ndcg", "all")
]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory, registry: Registry, tiny: Dataset) -> RunFolder:
    """An ablation whose first row has an odd text, a missing score and no gold."""
    folder = tmp_path_factory.mktemp("done")
    chosen = MechanismSet(
        "small", "", {"dense_similarity": {}, "lexical_bm25": {}, "convex_fusion": {}}
    )
    ablate(chosen, registry, tiny, CachedEmbedder(HashingEmbedder(32), None), folder)
    file = folder / "rows.jsonl"
    first, *rest = file.read_text(encoding="utf-8").splitlines(True)
    odd = {
        **json.loads(first),
        "question_text": ODD,
        "gold": [],
        "ranks": [],
        "scores": [None, 0.5],
    }
    file.write_text(json.dumps(odd) + "\n" + "".join(rest), encoding="utf-8")
    return RunFolder.read(seal(folder))


def test_the_table_holds_every_row_with_its_times(done: RunFolder) -> None:
    rows, times = (
        table(done),
        {(t["arm"], t["conversation"], t["question"]): t for t in done.times()},
    )
    assert len(rows) == 4 * 6
    for written, found in zip(done.rows(), rows, strict=True):
        mine = times[written["arm"], written["conversation"], written["question"]]
        assert (
            found
            == {
                **written,
                **{name: found[name] for name in METRICS_OF_ROWS},
                **{name: value for name, value in mine.items() if name.endswith("_ms")},
            }
            and "retrieve_ms" in found
        )


def test_a_run_without_times_has_a_table_too(done: RunFolder, tmp_path: Path) -> None:
    for name in ("manifest.json", "rows.jsonl"):
        (tmp_path / name).write_bytes((done.path / name).read_bytes())
    rows = table(RunFolder.read(tmp_path))
    assert [
        {name: value for name, value in row.items() if name not in METRICS_OF_ROWS} for row in rows
    ] == done.rows()


def test_every_row_has_every_metric(done: RunFolder) -> None:
    first, *rows = table(done)
    assert {first[name] for name in METRICS_OF_ROWS} == {None}, "a question without gold has none"
    for row in rows:
        ranks = [rank for rank in row["ranks"] if rank]
        for k in (1, 5, 10, 50):
            top = [rank for rank in ranks if rank <= k]
            assert row[f"recall@{k}"] == pytest.approx(len(top) / len(row["gold"]))
            assert row[f"all@{k}"] == (len(top) == len(row["gold"]))
            assert row[f"hit@{k}"] == bool(top)


def test_csv_gives_back_every_cell(done: RunFolder, tmp_path: Path) -> None:
    rows = table(done)
    to_csv(rows, tmp_path / "deep" / "rows.csv")
    with (tmp_path / "deep" / "rows.csv").open(encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file))

    def read(name: str, value: str, of: type) -> object:
        if of is type(None):
            return value or None
        return json.loads(value) if name in LISTS else value == "True" if of is bool else of(value)

    assert [
        {name: read(name, value, type(old[name])) for name, value in new.items()}
        for old, new in zip(rows, found, strict=True)
    ] == rows
    assert found[0]["question_text"] == ODD


def test_pandas_reads_csv_as_well_as_rows(done: RunFolder, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    to_csv(table(done), tmp_path / "rows.csv")
    rows = pandas.read_json(done.path / "rows.jsonl", lines=True)
    read = pandas.read_csv(tmp_path / "rows.csv")
    assert len(rows) == len(read) == 24 and rows["retrieved"].tolist() == [
        r["retrieved"] for r in done.rows()
    ]
    assert (
        rows["question_text"].tolist() == read["question_text"].tolist()
        and read["retrieve_ms"].dtype.kind == "f"
    )
    times = pandas.read_json(done.path / "times.jsonl", lines=True)
    assert len(rows.merge(times, on=["arm", "conversation", "question", "seed"])) == 24


def test_parquet_gives_back_every_cell(done: RunFolder, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = table(done)
    to_parquet(rows, tmp_path / "deep" / "rows.parquet")
    assert parquet.read_table(tmp_path / "deep" / "rows.parquet").to_pylist() == rows
    to_parquet([{**row, "gold": [], "scores": []} for row in rows], tmp_path / "empty.parquet")
    assert (
        str(parquet.read_schema(tmp_path / "empty.parquet").field("scores").type)
        == "list<element: double>"
    )
    assert not list(tmp_path.rglob("*.part"))


def test_without_pyarrow_parquet_is_refused_with_the_cure(
    done: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(InputError, match="not installed") as caught:
        to_parquet(table(done), tmp_path / "rows.parquet")
    assert (
        "hebbarium[arrow]" in caught.value.cure
        and "--csv" in caught.value.cure
        and not (tmp_path / "rows.parquet").exists()
    )


def test_a_place_that_cannot_be_written_is_named(done: RunFolder, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(HebbariumError, match="cannot be written"):
        to_csv(table(done), tmp_path / "file" / "rows.csv")
    pytest.importorskip("pyarrow")
    with pytest.raises(HebbariumError, match="cannot be written"):
        to_parquet(table(done), tmp_path / "file" / "rows.parquet")


def test_a_design_of_several_runs_is_one_table(done: RunFolder, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    for name, embedder in (("a", "hashing"), ("b", "other")):
        folder = tmp_path / "runs" / name
        folder.mkdir(parents=True)
        for file in ("manifest.json", "rows.jsonl", "times.jsonl"):
            (folder / file).write_bytes((done.path / file).read_bytes())
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        (folder / "manifest.json").write_text(json.dumps({**manifest, "embedder": embedder}))
    runs = runs_of(tmp_path)
    assert [run.path.name for run in runs] == ["a", "b"]
    to_csv(tables(runs), tmp_path / "rows.csv")
    read = pandas.read_csv(tmp_path / "rows.csv")
    assert read.groupby(["run", "embedder"]).size().to_dict() == {
        ("a", "hashing"): 24,
        ("b", "other"): 24,
    }
    first = read[read["run"] == "a"].drop(columns=["run", "embedder"]).reset_index(drop=True)
    to_csv(table(done), tmp_path / "single.csv")
    pandas.testing.assert_frame_equal(first, pandas.read_csv(tmp_path / "single.csv"))
    with pytest.raises(HebbariumError, match="holds no run") as caught:
        RunFolder.read(tmp_path)
    assert str(tmp_path / "runs" / "a") in caught.value.cure


def test_a_single_run_is_exported_as_before(done: RunFolder) -> None:
    assert tables(runs_of(done.path)) == table(done)


def test_rows_say_what_came_back_and_must_not(done: RunFolder, tmp_path: Path) -> None:
    rows = done.rows()
    for file in ("manifest.json", "rows.jsonl"):
        (tmp_path / file).write_bytes((done.path / file).read_bytes())
    warned = {**rows[1], "forbidden": [rows[1]["retrieved"][0], "nobody"]}
    (tmp_path / "rows.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in (rows[0], warned, *rows[2:])), encoding="utf-8"
    )
    exported = table(RunFolder.read(seal(tmp_path)))
    assert (exported[1]["forbidden@1"], exported[1]["forbidden@5"]) == (1.0, 0.2)
    assert exported[0]["forbidden@1"] is None
    assert "forbidden@1" not in table(done)[0]
