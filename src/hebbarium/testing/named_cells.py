"""Which cells of earlier rows and edges a hook of ENCODE changes without naming them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine.contract.columns import Column, Phase, Scope
from ..engine.contract.vocabulary import ROW
from ..engine.flow.observer import Stopwatch
from ..engine.flow.passes import StepFunction
from ..engine.flow.schedule import ENGINE, Node
from ..engine.flow.view import Binding
from ..engine.state.store import Cells


class NamedCells(Stopwatch):
    """An instrument that compares each column that a hook of ENCODE sets before and after each of
    its calls, in a memory with a file.

    missed  "mechanism.hook: column" -> a cell of an earlier row or edge that a call has changed and
            that no hook has named by `view.wrote` since the last save

    Whether the file would lose the cell does not count: other cells of its block may have changed.
    """

    def __init__(self) -> None:
        super().__init__()
        self.missed: dict[str, int] = {}
        self._edges = 0  # that stood before the event
        self._store: Cells | None = None

    def timed(self, phase: Phase, run: Callable[..., None]) -> Callable[..., None]:
        """The pass of a phase; of ENCODE the edges before it are counted."""

        def call(*given: Any) -> None:
            if phase is Phase.ENCODE and self._store is not None:
                self._edges = self._store.graph.n_edges
            run(*given)

        return call

    def wrap(self, node: Node, binding: Binding, function: StepFunction) -> StepFunction:
        """The step, compared if it may change cells that it must name."""
        columns = [
            item
            for item in node.sets
            if isinstance(item, Column)
            and item.scope in (Scope.MEMORY, Scope.EDGE)
            and not item.upkeep.anywhere
        ]
        self._store = binding.store
        if node.phase is not Phase.ENCODE or node.owner == ENGINE or not columns:
            return function

        def call(view: Any, what: Any) -> None:
            store = binding.store
            before, epoch = {c: store.array(c).copy() for c in columns}, store.graph.epoch
            function(view, what)
            for column, cells in before.items():
                if column.scope is Scope.MEMORY or store.graph.epoch == epoch:
                    self._compare(node, store, column, cells)

        return call

    def _compare(self, node: Node, store: Cells, column: Column, before: Any) -> None:
        after = store.array(column)[: len(before)]
        same = (before == after) | ((before != before) & (after != after))
        changed = set(np.flatnonzero(~same.reshape(len(before), -1).all(axis=1)).tolist())
        if column.scope is Scope.MEMORY:
            changed.discard(store.array(ROW).item())
        else:
            changed = {edge for edge in changed if edge < self._edges}
        for numbers in (store.journal or {}).get(column, ()):
            changed.difference_update(numbers.tolist())
        if changed:
            self.missed.setdefault(f"{node.label}: {column.name}", min(changed))
