"""A design over embedders as a grid: the mean of every arm with every embedder, its extremes and
spread over all cells and over the cells of one embedder, and the latency of each cell (True
Memory, section 7 and tables 6 and 7).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from .result import DesignResult


@dataclass(frozen=True, slots=True)
class GridScope:
    """Best, worst, mean, median and spread (best minus worst) of the means of some cells."""

    scope: str
    cells: int
    best: float
    worst: float
    mean: float
    median: float
    spread: float

    @classmethod
    def of(cls, scope: str, values: Sequence[float]) -> GridScope:
        """
        >>> GridScope.of("all", [0.5, 0.75, 0.25]).spread
        0.5
        """
        best, worst = max(values), min(values)
        return cls(scope, len(values), best, worst, fmean(values), median(values), best - worst)


@dataclass(frozen=True, slots=True)
class EmbedderGrid:
    """The cells of a design on one data set.

    means    embedder -> arm -> mean of the primary metric
    latency  embedder -> arm -> median milliseconds of a question, without the embedding of its
             text; {} if not measured
    scopes   all cells, then those of each embedder
    """

    dataset: str
    means: Mapping[str, Mapping[str, float]]
    latency: Mapping[str, Mapping[str, float]]
    scopes: tuple[GridScope, ...]

    def shade(self, value: float) -> float:
        """Where a value stands between the worst and the best cell, 0 to 1, as a shade."""
        whole = self.scopes[0]
        return (value - whole.worst) / whole.spread if whole.spread else 0.0


def grids(result: DesignResult) -> tuple[EmbedderGrid, ...]:
    """The grid of every data set that the design has with two embedders or more; () without."""
    made = []
    for dataset in dict.fromkeys(block.dataset for block in result.blocks):
        blocks = [block for block in result.blocks if block.dataset == dataset]
        means = {block.embedder: dict(block.means) for block in blocks}
        if len(means) < 2:
            continue
        cells = [value for arms in means.values() for value in arms.values()]
        made.append(
            EmbedderGrid(
                dataset,
                means,
                {block.embedder: dict(block.retrieve_ms) for block in blocks},
                (
                    GridScope.of("all", cells),
                    *(GridScope.of(name, list(arms.values())) for name, arms in means.items()),
                ),
            )
        )
    return tuple(made)


SCOPE_HEADS = ("scope", "cells", "best", "worst", "mean", "median", "spread")


def scope_rows(grid: EmbedderGrid) -> list[tuple[str, ...]]:
    """Under the heads of `SCOPE_HEADS`."""
    return [
        (
            s.scope,
            str(s.cells),
            *(f"{v:.4f}" for v in (s.best, s.worst, s.mean, s.median, s.spread)),
        )
        for s in grid.scopes
    ]


def cell_rows(grid: EmbedderGrid) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Heads and rows of the cells: an embedder in each row, the mean of each arm, and with
    latency its milliseconds.
    """
    arms = list(dict.fromkeys(arm for row in grid.means.values() for arm in row))

    def cell(embedder: str, arm: str) -> str:
        value, ms = grid.means[embedder].get(arm), grid.latency[embedder].get(arm)
        if value is None:
            return "-"
        return f"{value:.4f}" + (f" ({ms:.2f} ms)" if ms is not None else "")

    return ("embedder", *arms), [
        (embedder, *(cell(embedder, arm) for arm in arms)) for embedder in grid.means
    ]
