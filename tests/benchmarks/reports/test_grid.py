"""The grid of a design over embedders: cells, extremes and shades, in the page and in Markdown."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from hebbarium.benchmarks.designs.file import FOLDER, read
from hebbarium.benchmarks.reports.grid import GridScope, grids
from hebbarium.benchmarks.reports.result import DesignResult, from_json
from hebbarium.engine.base.yaml_file import read_yaml
from hebbarium.engine.catalogue.registry import Registry

Command = Callable[..., tuple[int, str, str]]
DESIGN = """summary: two embedders and two arms
set: hybrid
design: arms
embedders: [hashing:64, hashing:16]
arms:
  words alone: {without: [dense_similarity]}
  words weigh more: {param: {lexical_bm25: {weight: 2.0}}}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from typer.testing import CliRunner

    from hebbarium.cli.app import app

    root = tmp_path_factory.mktemp("grid")
    (root / "grid.yaml").write_text(DESIGN, encoding="utf-8")
    words = ["ablate", "--design", str(root / "grid.yaml"), "--dataset", "demo", "--limit", "1"]
    result = CliRunner().invoke(app, [*words, "--yes", "--out", str(root / "out")])
    assert result.exit_code == 0, result.output
    assert "Grid on demo" in result.output and "spread" in result.output
    return root / "out"


@pytest.fixture(scope="module")
def design(folder: Path) -> DesignResult:
    return from_json(json.loads((folder / "design.json").read_text(encoding="utf-8")))


def test_the_cells_are_the_means_of_the_blocks(design: DesignResult) -> None:
    (grid,) = grids(design)
    assert {e: dict(arms) for e, arms in grid.means.items()} == {
        b.embedder: dict(b.means) for b in design.blocks
    }
    assert [len(arms) for arms in grid.means.values()] == [3, 3]
    # words do not depend on the embedder
    first, second = (arms["words alone"] for arms in grid.means.values())
    assert first == second != grid.means["hashing:64"]["full"]


def test_extremes_are_those_of_numpy(design: DesignResult) -> None:
    (grid,) = grids(design)
    table = np.array([list(arms.values()) for arms in grid.means.values()])
    for scope, values in zip(grid.scopes, (table.ravel(), *table), strict=True):
        assert (scope.cells, scope.best, scope.worst) == (values.size, values.max(), values.min())
        assert scope.mean == pytest.approx(values.mean())
        assert scope.median == pytest.approx(np.median(values))
        assert scope.spread == pytest.approx(np.ptp(values))
    shades = [grid.shade(value) for value in table.ravel()]
    assert (min(shades), max(shades)) == (0.0, 1.0)


def test_every_cell_has_a_latency(design: DesignResult) -> None:
    (grid,) = grids(design)
    assert {e: set(arms) for e, arms in grid.latency.items()} == {
        e: set(arms) for e, arms in grid.means.items()
    }
    assert all(ms > 0.0 for arms in grid.latency.values() for ms in arms.values())


def test_the_page_and_the_markdown_have_the_grid(folder: Path) -> None:
    page = (folder / "design.html").read_text(encoding="utf-8")
    text = (folder / "design.md").read_text(encoding="utf-8")
    assert "Grid on demo" in page and page.count('style="--v: ') == 6
    assert "**Grid on demo**" in text and "| scope | cells | best |" in text


def test_a_design_with_one_embedder_has_no_grid(design: DesignResult) -> None:
    from dataclasses import replace

    assert grids(replace(design, blocks=design.blocks[:1])) == ()


def test_equal_cells_have_no_spread() -> None:
    assert GridScope.of("all", [0.25, 0.25]).spread == 0.0


def test_the_shipped_grid_has_56_cells() -> None:
    """As that of True Memory: seven embedders, and seven rerankers beside none."""
    file = FOLDER / "true_memory_grid.yaml"
    experiment = read(file, Registry.read(), ["locomo"])
    assert len(experiment.embedders) * (1 + len(read_yaml(file)["arms"])) == 56
