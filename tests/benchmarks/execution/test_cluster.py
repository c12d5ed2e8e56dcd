"""Cells on a dask cluster: the same rows as here, also if a worker is killed, and refusals that
name the worker.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from hebbarium.benchmarks.datasets import Dataset, load
from hebbarium.benchmarks.designs import Arm
from hebbarium.benchmarks.execution import cluster as module
from hebbarium.benchmarks.execution import local
from hebbarium.benchmarks.execution.failures import Options
from hebbarium.benchmarks.execution.ledger import Ledger
from hebbarium.benchmarks.execution.missing import Finished, run_missing
from hebbarium.benchmarks.execution.plan import planned, specs_of
from hebbarium.benchmarks.execution.setup import code_version
from hebbarium.benchmarks.execution.sources import Held
from hebbarium.benchmarks.experiments.run import run
from hebbarium.cli import app
from hebbarium.engine.base.errors import HebbariumError, InputError
from hebbarium.engine.catalogue.registry import MechanismSet, Registry
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.ports.embedding_cache import CachedEmbedder

CHOSEN = MechanismSet(
    "small", "for the test", {"dense_similarity": {}, "lexical_bm25": {}, "convex_fusion": {}}
)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Two workers with one thread each; they end with the module, also after a failure."""
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None
    )
    try:
        # both know their code by the same files
        with distributed.Client(cluster, set_as_default=False) as client:
            code_version.cache_clear()
            assert set(client.run(code_version).values()) == {code_version()}
        yield cluster.scheduler_address
    finally:
        cluster.close(timeout=5.0)


@pytest.fixture(scope="module")
def talk() -> Dataset:
    """The first conversation of the demo, with its first questions: a data set that workers
    load.
    """
    return load("demo", limit=1)


def embedder(folder: Path) -> CachedEmbedder:
    return CachedEmbedder(HashingEmbedder(16), folder / "cache.sqlite")


def rows(folder: Path) -> str:
    return (folder / "rows.jsonl").read_text(encoding="utf-8")


@pytest.mark.slow
def test_rows_are_those_of_one_process(
    tmp_path: Path, registry: Registry, talk: Dataset, tiny: Dataset, address: str
) -> None:
    """By reference for the demo, sent along for data that were made in memory."""
    for name, data in (("demo", talk), ("tiny", tiny)):
        here, there = tmp_path / f"{name} here", tmp_path / f"{name} there"
        run(CHOSEN, registry, data, embedder(tmp_path), here)
        run(CHOSEN, registry, data, embedder(tmp_path), there, options=Options(dask=address))
        assert rows(here) == rows(there) and rows(here)
    (cell,) = Ledger(tmp_path / "demo there" / "ledger.sqlite").cells()
    assert cell.meta["inner_threads"] == "1"


@pytest.mark.slow
def test_a_cell_that_fails_is_a_failure_with_its_log(
    tmp_path: Path, registry: Registry, tiny: Dataset, address: str
) -> None:
    with pytest.raises(local.CellsFailed, match="2 of 2 cells failed"):
        run(
            CHOSEN,
            registry,
            tiny,
            CachedEmbedder(Fails(16), None),
            tmp_path / "o",
            options=Options(1, False, dask=address),
        )
    logs = [file.read_text() for file in (tmp_path / "o" / "logs").iterdir()]
    assert len(logs) == 2 and all("attempt 2 of" in log and "on purpose" in log for log in logs)


def test_a_cell_whose_workers_end_each_time_is_a_failure(
    tmp_path: Path, registry: Registry, tiny: Dataset
) -> None:
    """As by KilledWorker, which dask raises after more than three killed workers."""
    spec = specs_of(planned([Arm("full", CHOSEN)], registry), tiny, embedder(tmp_path))[0]
    call = (Held(tiny.conversations[0]), (local.RequestedCell(spec, "k" * 64, True, None),))
    work = local.CellWork(registry, embedder(tmp_path), None, Options(), raising=False)
    (failed,) = local._lost(work, call, "it ended").failed
    assert (
        failed.failure.error == "it ended"
        and failed.failure.arm == "full"
        and "it ended" in failed.text
    )
    with pytest.raises(HebbariumError, match="it ended"):
        local._lost(replace(work, raising=True), call, "it ended")


class Fails(HashingEmbedder):
    """Fails in every process but the one that made it."""

    def __init__(self, dimensions: int) -> None:
        super().__init__(dimensions)
        self.maker = os.getpid()

    def embed(self, texts: Any) -> Any:
        if os.getpid() != self.maker:
            raise ZeroDivisionError("on purpose")
        return super().embed(texts)


@pytest.mark.slow
def test_workers_with_other_code_are_refused(
    tmp_path: Path, registry: Registry, tiny: Dataset, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hebbarium.benchmarks.execution.plan.code_version", lambda: "9.9+other")
    with pytest.raises(
        HebbariumError, match=r"other code: hebbarium .*, expected 9\.9\+other"
    ) as caught:
        run(
            CHOSEN,
            registry,
            tiny,
            embedder(tmp_path),
            tmp_path / "o",
            options=Options(dask=address),
        )
    assert caught.value.where.startswith("tcp://127.0.0.1") and "same release" in caught.value.cure
    assert not (tmp_path / "o" / "manifest.json").exists()


@pytest.mark.slow
def test_workers_without_the_data_are_refused(
    tmp_path: Path, registry: Registry, talk: Dataset, address: str
) -> None:
    lost = replace(talk, form="conversations", path=str(tmp_path / "gone"))
    with pytest.raises(HebbariumError, match="a worker cannot read the data") as caught:
        run(
            CHOSEN,
            registry,
            lost,
            embedder(tmp_path),
            tmp_path / "o",
            options=Options(dask=address),
        )
    assert "gone on" in caught.value.where and "same path" in caught.value.cure
    with pytest.raises(HebbariumError, match="their SHA-256 is"):
        run(
            CHOSEN,
            registry,
            replace(talk, sha256="1" * 64),
            embedder(tmp_path),
            tmp_path / "p",
            options=Options(dask=address),
        )


def test_without_the_library_the_error_names_the_extra(
    tmp_path: Path, registry: Registry, tiny: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match="need the library dask") as caught:
        run(
            CHOSEN,
            registry,
            tiny,
            embedder(tmp_path),
            tmp_path / "o",
            options=Options(dask="tcp://127.0.0.1:9"),
        )
    assert "hebbarium[dask]" in caught.value.cure


@pytest.mark.slow
def test_the_command_takes_the_address(tmp_path: Path, address: str) -> None:
    again = ["run", "--set", "bm25", "--dataset", "demo", "--limit", "1", "--embedder",
             "hashing:16", "--out", str(tmp_path / "o")]  # fmt: skip
    assert CliRunner().invoke(app, [*again, "--dask", address]).exit_code == 0
    for flag, wanted in (
        (["--keep-lives", str(tmp_path / "l")], "--keep-lives"),
        ([], "tcp://127.0.0.1:9"),
    ):
        found = CliRunner().invoke(
            app, [*again[:-1], str(tmp_path / "p"), *flag, "--dask", "tcp://127.0.0.1:9"]
        )
        assert (
            isinstance(found.exception, InputError)
            and wanted in found.exception.where
            and found.exception.cure
        )


@pytest.mark.slow
def test_a_design_has_the_same_rows(tmp_path: Path, address: str) -> None:
    """A sweep, whose arms share lives, and a leave-one-out."""
    for name, design in (
        ("sweep", "design: sweep\nsweep: {lexical_bm25.weight: [0.3, 1]}"),
        ("loo", "design: leave-one-out"),
    ):
        (tmp_path / f"{name}.yaml").write_text(
            f"set: hybrid\n{design}\ndata: [{{dataset: demo, limit: 2}}]\n", encoding="utf-8"
        )
        for way in (["--jobs", "1"], ["--dask", address]):
            out = tmp_path / name / way[0]
            done = CliRunner().invoke(app, ["ablate", "--design", str(tmp_path / f"{name}.yaml"),
                                            "--embedder", "hashing:16", "--out", str(out),
                                            "--yes", *way])  # fmt: skip
            assert done.exit_code == 0, done.output
        here, there = (
            {
                file.relative_to(tmp_path / name / way): file.read_bytes()
                for file in (tmp_path / name / way).rglob("rows.jsonl")
            }
            for way in ("--jobs", "--dask")
        )
        assert here == there and here


def slowly(folder: Path, number: int) -> Finished:
    with (folder / f"{number}").open("a") as file:
        file.write(f"{os.getpid()}\n")
    time.sleep(0.4)
    return Finished([(f"k{number}", f"payload {number}", {})], f"{number}")


@pytest.mark.slow
def test_a_killed_worker_loses_no_cell_and_doubles_none(tmp_path: Path, address: str) -> None:
    book, ended, begun = Ledger(tmp_path / "ledger.sqlite"), Counter[str](), tmp_path / "begun"
    begun.mkdir()
    keys = [f"k{n}" for n in range(12)]

    def kill() -> None:
        """Kill the worker of a cell that has just begun, so that it cannot have ended."""
        until = time.monotonic() + 20.0
        while time.monotonic() < until:
            for file in begun.glob("[3-9]"):
                if (pids := file.read_text().split()) and time.time() - file.stat().st_mtime < 0.1:
                    os.kill(int(pids[-1]), signal.SIGKILL)
                    return
            time.sleep(0.01)

    killer = threading.Thread(target=kill)
    with module.Cluster.joined(address) as cluster:
        killer.start()
        try:
            run_missing(
                slowly,
                begun,
                [(n,) for n in range(12)],
                book,
                keys,
                12,
                0,
                way=cluster.way(lambda *_: pytest.fail("lost")),
                ended=lambda found: ended.update([found.last]),
            )
        finally:
            killer.join()
    assert {cell.key: cell.payload for cell in book.cells()} == {
        f"k{n}": f"payload {n}" for n in range(12)
    }
    assert ended == Counter({f"{n}": 1 for n in range(12)}), "each cell is counted once"
    assert sum(len(file.read_text().split()) for file in begun.iterdir()) > 12, (
        "the cell of the killed worker was begun again"
    )
