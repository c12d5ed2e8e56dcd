"""Tables of Arrow: pandas, and polars where it is installed, read the same values."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

import hebbarium as hb
from hebbarium import Event, HebbariumError
from hebbarium.benchmarks.datasets import Dataset
from hebbarium.benchmarks.execution.folder import RunFolder
from hebbarium.benchmarks.experiments.design import ablate
from hebbarium.benchmarks.runs.export import table
from hebbarium.engine.catalogue.registry import MechanismSet, Registry
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.ports.embedding_cache import CachedEmbedder
from hebbarium.integrations.arrow import event_table, run_table

pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'hebbarium[arrow]'")
import pyarrow as pa


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, registry: Registry, tiny: Dataset) -> Path:
    folder = tmp_path_factory.mktemp("run")
    chosen = MechanismSet("small", "", {"lexical_bm25": {}, "convex_fusion": {}})
    ablate(chosen, registry, tiny, CachedEmbedder(HashingEmbedder(32), None), folder)
    return folder


def memory_of_three() -> hb.Engine:
    memory = hb.memory("bm25", embedding="hashing:64")
    memory.encode(
        Event.at(datetime(1, 1, 2, tzinfo=UTC), "The first \U0001f600 day.", "Ada", "s", "e1",
                 attributes={"tags": ["a", "b"]}),
        confirm=True,
    )  # fmt: skip
    memory.encode(Event(480_000.25, "half \ud800 a pair", offset=-4.0), confirm=True)
    memory.encode(Event(480_001.0, "hidden"), confirm=True)
    memory.encode(Event(480_002.0, "gone", id="e4"), confirm=True)
    memory.archive(2)
    memory.erase("e4", confirm=True)
    return memory


def test_the_rows_of_a_run_are_those_of_its_files(run: Path) -> None:
    rows = table(RunFolder.read(run))
    assert run_table(run).to_pylist() == rows and len(rows) > 10
    frame = run_table(str(run)).to_pandas()
    mean = sum(row["recall@10"] for row in rows) / len(rows)
    assert frame["recall@10"].mean() == pytest.approx(mean)
    with pytest.raises(HebbariumError, match="no such folder"):
        run_table(run / "nothing")


def test_events_keep_times_of_all_years_attributes_and_odd_texts() -> None:
    with memory_of_three() as memory:
        made = event_table(memory)
    first, second, third = made.to_pylist()
    assert made.schema.field("time").type == pa.timestamp("ms", tz="UTC")
    assert first["time"].replace(tzinfo=UTC) == datetime(1, 1, 2, tzinfo=UTC)
    assert (first["id"], first["speaker"], first["session"]) == ("e1", "Ada", "s")
    assert first["attributes"] == [{"key": "tags", "value": "a"}, {"key": "tags", "value": "b"}]
    assert (second["text"], second["offset"]) == ("half ? a pair", -4.0)
    assert second["time"] == datetime.fromtimestamp(480_000.25 * 3600, UTC)
    assert [row["visible"] for row in (first, second, third)] == [True, True, False]
    with hb.memory("bm25", embedding="hashing:64") as memory:
        assert event_table(memory).schema == made.schema and event_table(memory).num_rows == 0


def test_other_programs_read_the_table_as_it_is(run: Path) -> None:
    """By the interface of Arrow that polars and pandas read."""
    with memory_of_three() as memory:
        made = event_table(memory)
    assert hasattr(made, "__arrow_c_stream__")
    assert made.to_pandas()["text"].tolist()[2] == "hidden"
    polars = pytest.importorskip("polars", reason="polars is not installed: pip install polars")
    assert polars.from_arrow(made)["text"].to_list() == made["text"].to_pylist()
    frame = polars.from_arrow(run_table(run))
    assert frame["retrieved"].to_list() == run_table(run)["retrieved"].to_pylist()


def test_without_pyarrow_the_cure_is_said(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(HebbariumError, match=r"hebbarium\[arrow\]"):
        run_table(run)
    with memory_of_three() as memory, pytest.raises(HebbariumError, match="pyarrow"):
        event_table(memory)
