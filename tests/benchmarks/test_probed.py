"""Designs that are scored by a probe: values against the probe run by hand, arms that have none,
and the command line.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pytest
from scipy.stats import ttest_1samp
from typer.testing import CliRunner

from hebbarium.benchmarks.datasets import LOADERS
from hebbarium.benchmarks.designs.file import read
from hebbarium.benchmarks.experiments import probed as module
from hebbarium.benchmarks.experiments.design import prepared
from hebbarium.benchmarks.experiments.probed import measures, number_of, probed, value_of
from hebbarium.benchmarks.probes.harness.base import Above, Probe, Ratio, Within
from hebbarium.benchmarks.probes.harness.collection import collected
from hebbarium.benchmarks.probes.harness.life import Life
from hebbarium.cli.app import app
from hebbarium.engine.base.errors import HebbariumError, InputError
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.ports.embedding_cache import CachedEmbedder

REGISTRY = Registry.read()
EMBEDDER = CachedEmbedder(HashingEmbedder(32), None)
DESIGN = "set: hybrid\ndesign: sweep\nmetric: probe:seen\nmargin: 0.02\nseeds: [0, 1, 2, 5]\nsweep: {lexical_bm25.weight: [0, 2]}\n"


def seen(life: Life, seed: int) -> dict[str, float]:
    """Two events; how far apart the answer scores them, moved by the seed."""
    life.tell("Ada keeps the red boat.", "Bo")
    life.tell(f"The garden needs {seed} trees and a boat.", "Bo")
    first, second = life.ask("red boat garden", 2).events
    return {"apart": first.score - second.score + 0.1 * seed, "undefined": math.nan}


PROBE = replace(
    collected()["knowledge_update/current"],
    id="seen/plain",
    run=seen,
    band=(Within("apart", low=0.0),),
)


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> dict[str, Probe]:
    table = {
        "seen/plain": PROBE,
        "undefined/plain": replace(PROBE, id="undefined/plain", band=(Within("undefined"),)),
    }
    for place in (
        "hebbarium.benchmarks.experiments.probed.collected",
        "hebbarium.benchmarks.probes.harness.run.collected",
    ):
        monkeypatch.setattr(place, lambda: table)
    return table


def carried(tmp_path: Path, text: str, out: str = "out", **more: Any) -> Any:
    (tmp_path / "mine.yaml").write_text(text, encoding="utf-8")
    ready = prepared(read(tmp_path / "mine.yaml", REGISTRY, LOADERS, probes=measures), REGISTRY)
    result = probed(ready, [("", "hashing:32")], lambda spec: EMBEDDER, tmp_path / out, **more)
    return result, result.blocks


def test_arms_are_scored_by_the_probe_and_seeds_are_the_clusters(
    tmp_path: Path, known: dict[str, Probe]
) -> None:
    design, (result,) = carried(tmp_path, DESIGN)
    ids = ["full", "lexical_bm25.weight=0", "lexical_bm25.weight=2"]
    assert (
        list(design.arms) == ids
        and result.dataset == "probe seen/plain"
        and result.clusters == "seeds"
    )
    rows = [json.loads(line) for line in (tmp_path / "out" / "rows.jsonl").read_text().splitlines()]
    values = {id: [row["numbers"]["apart"] for row in rows if row["arm"] == id] for id in ids}
    assert [row["seed"] for row in rows] == 3 * [0, 1, 2, 5] and {
        id: list(v) for id, v in result.by_seed.items()
    } == values
    for estimate, id in zip(result.estimates, ids[1:], strict=True):
        d = [a - b for a, b in zip(values[id], values["full"], strict=True)]
        test = ttest_1samp(d, 0.0)
        interval = test.confidence_interval(0.95)
        assert estimate.primary.mean == pytest.approx(
            fmean(d)
        ) and estimate.seed_sd == pytest.approx(stdev(d))
        assert estimate.primary.p == pytest.approx(
            test.pvalue
        ) and estimate.primary.low == pytest.approx(interval.low)
    written = json.loads((tmp_path / "out" / "design.json").read_text())
    assert (
        written["metric"] == "probe:seen/plain:apart"
        and written["blocks"][0]["by_seed"]["full"] == values["full"]
    )
    page = (tmp_path / "out" / "design.html").read_text()
    assert "4 seeds" in page and "Arms and seeds" in page and "questions of" not in page


def test_equal_numbers_are_a_no_op_and_finished_cells_are_not_run_again(
    tmp_path: Path, known: dict[str, Probe]
) -> None:
    own = next(
        m.params.weight for m in REGISTRY.build(REGISTRY.set("hybrid")) if m.id == "lexical_bm25"
    )
    idle = f"set: hybrid\ndesign: sweep\nmetric: probe:seen\nseeds: [0, 1, 2]\nsweep: {{lexical_bm25.weight: [{own}]}}\n"
    _, (result,) = carried(tmp_path, idle)
    assert [e.verdict.value for e in result.estimates] == ["no-op"]
    said: list[str] = []
    _, (again,) = carried(tmp_path, idle, progress=lambda done, n, what: said.append(what))
    assert again.by_seed == result.by_seed and said == ["taken from the ledger"]
    with pytest.raises(InputError, match="other probe results, which differ in set") as caught:
        carried(tmp_path, idle.replace("hybrid", "minimal"))
    assert "--replace" in caught.value.cure


def test_arms_without_a_value_are_left_out_by_name(
    tmp_path: Path, known: dict[str, Probe], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = module.run_cells

    def failing(*arguments: Any, **more: Any) -> list[dict[str, Any]]:
        rows = real(*arguments, **more)
        return [
            {**row, "numbers": None, "error": "ValueError: on purpose"} if place == 5 else row
            for place, row in enumerate(rows)
        ]

    monkeypatch.setattr(module, "run_cells", failing)
    design, (result,) = carried(tmp_path, DESIGN)
    assert design.excluded == {
        "lexical_bm25.weight=0": "seed 1: ValueError: on purpose"
    } and design.dropped == ("lexical_bm25.weight=0",)
    assert [e.name for e in result.estimates] == ["lexical_bm25.weight=2"] and "on purpose" in (
        tmp_path / "out" / "design.md"
    ).read_text()


@pytest.mark.parametrize(
    ("probe", "why"), [("undefined", "undefined is not defined with seed 0, 1, 2, 5")]
)
def test_a_reference_without_a_value_ends_the_design(
    tmp_path: Path, known: dict[str, Probe], probe: str, why: str
) -> None:
    with pytest.raises(HebbariumError, match=why) as caught:
        carried(tmp_path, DESIGN.replace("probe:seen", f"probe:{probe}"))
    assert caught.value.cure and not (tmp_path / "out" / "design.json").exists()


@pytest.mark.slow
def test_a_long_design_is_confirmed_from_one_timed_cell(
    tmp_path: Path, known: dict[str, Probe], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    monkeypatch.setattr(module, "LONG", 0.0)
    carried(tmp_path, DESIGN, confirm=asked.append)
    assert [(costs.cells, costs.lives) for costs in asked] == [(12, 12)]
    carried(tmp_path, DESIGN, confirm=asked.append)
    assert len(asked) == 1, "it was confirmed before"


def test_numbers_of_a_band() -> None:
    numbers = {"a": 3.0, "b": 2.0, "zero": 0.0}
    probe = replace(
        PROBE, band=(Above("a", "b", 2.0), Ratio("a", "b"), Ratio("b", "zero"), Within("b"))
    )
    assert [value_of(probe, number_of(claim), numbers) for claim in probe.band[:2]] == [-1.0, 1.5]
    assert (
        math.isnan(value_of(probe, number_of(probe.band[2]), numbers))
        and value_of(probe, "b", numbers) == 2.0
    )
    real = measures()
    assert (
        real["gate_auc/stream"].claims == ("AUC",)
        and real["footprint/bytes"].claims == ()
        and len(real) == len(collected())
    )


def test_through_the_command_line(
    tmp_path: Path, known: dict[str, Probe], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEBBARIUM_CACHE", str(tmp_path / "cache"))
    (tmp_path / "mine.yaml").write_text(DESIGN, encoding="utf-8")
    command = ["ablate", "--design", str(tmp_path / "mine.yaml"), "--embedder", "hashing:32",
               "--out", str(tmp_path / "out")]  # fmt: skip
    done = CliRunner().invoke(app, command, catch_exceptions=False)
    assert (
        done.exit_code == 0
        and "probe seen/plain: 4 seeds" in done.stdout
        and "design.html" in done.stdout
    )
    with pytest.raises(
        InputError, match="has no meaning for the metric probe:seen/plain:apart"
    ) as caught:
        CliRunner().invoke(app, [*command, "--dataset", "demo"], catch_exceptions=False)
    assert caught.value.where == "--dataset"
