"""Measuring from outside: receipts, timings and traces.  Mechanisms never log or time themselves.

An observer wraps the steps when the plans are built; a memory without one pays nothing.
"""
from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .columns import Column, Phase
from .numerics import fitted
from .plan import StepFunction
from .schedule import Node
from .state import Clock
from .view import Binding
from .vocabulary import GRAPH


@dataclass
class Receipt:
    """What a mechanism did in a run; `counterfactual` adds which ranks changed by it.

    calls          hooks called
    cells_changed  cells of columns with another value after a call than before, contributions other than zero, and edges made or removed
    """

    calls: int = 0
    cells_changed: int = 0


@dataclass
class Observer:
    """Collects receipts and timings of one memory; an `Instrument`.

    trace          called with (node label, simulated hours) after every step; None: no trace
    receipts       by mechanism id
    phase_ms       by phase, one entry per pass
    mechanism_ms   by mechanism id, total
    contributions  by (mechanism id, hook name, column): what the hook has added to a persistent column so far
    """

    trace: Callable[[str, float], None] | None = None
    receipts: dict[str, Receipt] = field(default_factory=lambda: defaultdict(Receipt))
    phase_ms: dict[Phase, list[float]] = field(default_factory=lambda: {p: [] for p in Phase})
    mechanism_ms: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    contributions: dict[tuple[str, str, Column], NDArray[Any]] = field(default_factory=dict, repr=False)
    _clock: Clock = field(default_factory=Clock, repr=False)

    def attach(self, ids: Iterable[str], clock: Clock) -> None:
        """Start a receipt for each mechanism; times of the trace are read off the clock."""
        self._clock = clock
        self.receipts.update({id: Receipt() for id in ids})

    def timed(self, phase: Phase, run: Callable[..., None]) -> Callable[..., None]:
        """The pass of a phase, with its time noted."""

        def call(*args: Any) -> None:
            start = perf_counter()
            run(*args)
            self.phase_ms[phase].append((perf_counter() - start) * 1e3)

        return call

    def wrap(self, node: Node, binding: Binding, function: StepFunction) -> StepFunction:
        """The step, with its receipt.  Cost: one comparison of every column it may write; the engine's own steps are only counted and timed."""
        if node.order < 0:
            return self._timed(node, function)
        columns = [c for c in node.sets if isinstance(c, Column)]
        lasting = [c for c in node.adds if isinstance(c, Column) and c.persists]
        graph = binding.store.graph if GRAPH in (*node.sets, *node.adds) else None

        def call(view: Any, what: Any) -> None:
            store, receipt = binding.store, self.receipts[node.owner]
            before = [store.array(c).copy() for c in columns]
            edges = (graph.n_edges, int(np.count_nonzero(graph.alive))) if graph else (0, 0)
            start = perf_counter()
            function(view, what)
            self.mechanism_ms[node.owner] += (perf_counter() - start) * 1e3
            receipt.calls += 1
            receipt.cells_changed += sum(_differ(old, store.array(c)) for c, old in zip(columns, before, strict=True))
            receipt.cells_changed += sum(int(np.count_nonzero(c)) for c in binding.contributions.values())
            if graph:
                made = graph.n_edges - edges[0]
                receipt.cells_changed += made + (edges[1] + made - int(np.count_nonzero(graph.alive)))
            for column in lasting:
                key = node.owner, node.name, column
                earlier = None if column.fresh is node.phase else self.contributions.get(key)
                self.contributions[key] = _sum(binding.contributions[column], earlier)
            self._tell(node)

        return call

    def _timed(self, node: Node, function: StepFunction) -> StepFunction:
        def call(view: Any, what: Any) -> None:
            start = perf_counter()
            function(view, what)
            self.mechanism_ms[node.owner] += (perf_counter() - start) * 1e3
            self.receipts[node.owner].calls += 1
            self._tell(node)

        return call

    def _tell(self, node: Node) -> None:
        if self.trace:
            self.trace(node.label, self._clock.now)


def _sum(contribution: NDArray[Any], earlier: NDArray[Any] | None) -> NDArray[Any]:
    return contribution.copy() if earlier is None else contribution + fitted(earlier, contribution)


def _differ(before: NDArray[Any], after: NDArray[Any]) -> int:
    if before.shape != after.shape:
        before, after = before[: len(after)], after[: len(before)]
    if before.dtype.kind == "f":
        return int(np.count_nonzero((before != after) & ~(np.isnan(before) & np.isnan(after))))
    return int(np.count_nonzero(before != after))
