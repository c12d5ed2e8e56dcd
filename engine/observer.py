"""Instrumentation from outside: receipts, timings and traces.  Mechanisms never log or time themselves.

An observer wraps the steps when the plans are built; a memory without one pays nothing.
"""
from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .columns import Column, Phase
from .schedule import Node
from .vocabulary import GRAPH, RECALLED, VISIBLE

if TYPE_CHECKING:
    from .assembly import Assembly
    from .contract import Mechanism
    from .view import Binding

StepFunction = Callable[[Any, Any], None]


@dataclass
class Receipt:
    """What a mechanism did in a run.

    calls          hooks called
    cells_changed  cells of columns that held something else after a call than before; contributions that were not zero and edges made or
                   removed included
    ranks_changed  places among the ten best that differ when the mechanism is silenced, summed over the queries probed
    """

    calls: int = 0
    cells_changed: int = 0
    ranks_changed: int = 0


@dataclass
class Observer:
    """Collects receipts and timings of one memory.

    receipts      by mechanism id
    phase_ms      by phase, one entry a pass
    mechanism_ms  by mechanism id, total
    trace         called with (node label, simulated hours) after every step; None for none
    """

    trace: Callable[[str, float], None] | None = None
    receipts: dict[str, Receipt] = field(default_factory=lambda: defaultdict(Receipt))
    phase_ms: dict[Phase, list[float]] = field(default_factory=lambda: {p: [] for p in Phase})
    mechanism_ms: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    _assembly: Assembly | None = None
    _hears: tuple[Mechanism[Any], ...] = ()
    _given: dict[tuple[str, str, Column], NDArray[Any]] = field(default_factory=dict)
    _paused: bool = False
    _silenced: str = ""

    def attach(self, assembly: Assembly) -> None:
        self._assembly, self._hears = assembly, tuple(m for m in assembly.mechanisms if _heard(m, assembly))
        for m in assembly.mechanisms:
            self.receipts[m.id] = Receipt()

    def timed(self, phase: Phase, run: Callable[..., None]) -> Callable[..., None]:
        """A phase that notes how long each pass takes."""

        def call(*args: Any) -> None:
            start = perf_counter()
            run(*args)
            if not self._paused:
                self.phase_ms[phase].append((perf_counter() - start) * 1e3)

        return call

    def wrap(self, node: Node, binding: Binding, function: StepFunction) -> StepFunction:
        """A step that leaves a receipt.  Cost: one comparison of every column it may write; the engine's own steps are only counted and timed."""
        if node.order < 0:
            return self._timed(node, function)
        columns = [c for c in node.sets if isinstance(c, Column)]
        lasting = [c for c in node.adds if isinstance(c, Column) and c.persists]
        graph = binding.store.graph if GRAPH in (*node.sets, *node.adds) else None

        def call(view: Any, what: Any) -> None:
            if self._paused:
                function(view, what)
                if node.owner == self._silenced:
                    _silence(node, binding)
                return
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
                key, earlier = (node.owner, node.name, column), self._given.get((node.owner, node.name, column))
                self._given[key] = _sum(binding.contributions[column], None if column.fresh is node.phase else earlier)
            if self.trace:
                self.trace(node.label, self._assembly.clock.now if self._assembly else 0.0)

        return call

    def _timed(self, node: Node, function: StepFunction) -> StepFunction:
        def call(view: Any, what: Any) -> None:
            start = perf_counter()
            function(view, what)
            if not self._paused:
                self.mechanism_ms[node.owner] += (perf_counter() - start) * 1e3
                self.receipts[node.owner].calls += 1
                if self.trace:
                    self.trace(node.label, self._assembly.clock.now if self._assembly else 0.0)

        return call

    def probe(self, what: Any) -> None:
        """Ask again, with each mechanism silenced in turn, and count the changed ranks.  The state stays as it is.

        what  the Cue of a query

        Silenced: the columns that the mechanism owns or sets stand at neutral, a stage at the stage before; what it added to other columns is
        taken off again, as far as this observer saw it added.  Its edges stay, and so do the rows that a gate let in or kept out: that
        shows when the mechanism is left off for good.  Cost: one retrieval for each mechanism that a query hears of, and a copy of the columns
        that it writes.
        """
        assembly = self._assembly
        assert assembly is not None, "an observer is attached by the memory that it is given to"
        store, run = assembly.store, assembly.run[Phase.RETRIEVE]
        recalled = store.structures[RECALLED]
        passing = {c: store.array(c).copy() for c in store.columns if not c.persists}
        self._paused = True
        try:
            run(what, False)
            whole = store.structures[RECALLED][:10]
            for m in self._hears:
                with self._without(m, assembly):
                    run(what, False)
                self.receipts[m.id].ranks_changed += _places_changed(whole, store.structures[RECALLED][:10])
        finally:
            self._paused = False
            store.structures[RECALLED] = recalled
            for column, values in passing.items():
                store.array(column)[...] = values

    @contextmanager
    def _without(self, m: Mechanism[Any], assembly: Assembly) -> Iterator[None]:
        """Persistent columns as if the mechanism had left them alone; those of the query are silenced as it writes them."""
        store, hooks = assembly.store, list(type(m).hooks())
        own = {c for c in (*m.owns, *(c for h in hooks for c in h.sets)) if isinstance(c, Column) and c.persists}
        given = {
            (h.name, c): self._given.get((m.id, h.name, c)) for h in hooks for c in h.adds if isinstance(c, Column) and c.persists and c not in own}
        kept = {c: store.array(c).copy() for c in {*own, *(c for _, c in given)}}
        self._silenced = m.id
        try:
            for column in own:
                store.array(column)[...] = column.neutral
            for (_, column), contribution in given.items():
                if contribution is not None:
                    array = store.array(column)
                    array[...] -= _fitted(contribution, array)
            if VISIBLE in own:
                store.surface()
            yield
        finally:
            self._silenced = ""
            for column, values in kept.items():
                store.array(column)[...] = values
            if VISIBLE in own:
                store.surface()


def _heard(m: Mechanism[Any], assembly: Assembly) -> bool:
    """Whether anything that leads to an answer is done by the mechanism, or reads a column that it owns or writes."""
    asked = [n for n in assembly.phases[Phase.RETRIEVE] if RECALLED not in n.sees]
    writes = {*m.owns, *(c for hook in type(m).hooks() for c in (*hook.sets, *hook.adds))}
    return any(n.owner == m.id or not writes.isdisjoint(c for c in n.sees if isinstance(c, Column)) for n in asked)


def _silence(node: Node, binding: Binding) -> None:
    for column in node.sets:
        if isinstance(column, Column) and not column.persists:
            before = binding.stages.before(column)
            binding.store.array(column)[...] = column.neutral if before is None else binding.store.array(before)
    for contribution in binding.contributions.values():
        contribution.fill(0)


def _sum(contribution: NDArray[Any], earlier: NDArray[Any] | None) -> NDArray[Any]:
    return contribution.copy() if earlier is None else contribution + _fitted(earlier, contribution)


def _fitted(array: NDArray[Any], like: NDArray[Any]) -> NDArray[Any]:
    """The array with zeros for the rows that came later, or without the spare ones."""
    if array.ndim == 0 or len(array) == len(like):
        return array
    fitted = np.zeros_like(like)
    size = min(len(array), len(like))
    fitted[:size] = array[:size]
    return fitted


def _differ(before: NDArray[Any], after: NDArray[Any]) -> int:
    if before.shape != after.shape:
        before, after = before[: len(after)], after[: len(before)]
    if before.dtype.kind == "f":
        return int(np.count_nonzero((before != after) & ~(np.isnan(before) & np.isnan(after))))
    return int(np.count_nonzero(before != after))


def _places_changed(a: NDArray[np.int64], b: NDArray[np.int64]) -> int:
    size = min(len(a), len(b))
    return int(np.count_nonzero(a[:size] != b[:size])) + abs(len(a) - len(b))
