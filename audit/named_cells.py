"""Which cells of earlier rows and edges a hook of ENCODE changes without naming them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..engine.contract.columns import Column, Phase, Scope
from ..engine.contract.hooks import Hook
from ..engine.contract.vocabulary import ROW
from ..engine.flow.observer import Stopwatch
from ..engine.flow.passes import StepFunction
from ..engine.flow.schedule import ENGINE, Node
from ..engine.flow.view import Binding
from ..engine.state.store import Cells, Journal


def columns_to_name(step: Hook | Node) -> list[Column]:
    """The columns of which a step names the cells of earlier rows and edges that it changes."""
    if step.phase is not Phase.ENCODE:
        return []
    return [
        item
        for item in step.sets
        if isinstance(item, Column)
        and item.scope in (Scope.MEMORY, Scope.EDGE)
        and not item.upkeep.anywhere
    ]


class UnnamedChange(NamedTuple):
    """What a hook changes, by name."""

    mechanism: str
    hook: str
    column: str


class NamedCells(Stopwatch):
    """An instrument that compares each column that a hook of ENCODE sets before and after each of
    its calls.

    missed  change -> a cell of an earlier row or edge that a call has changed and that no hook has
            named by `view.wrote` since the last save; in a memory without a file, since the event
            came

    Whether the file would lose the cell does not count: other cells of its block may have changed.
    """

    def __init__(self) -> None:
        super().__init__()
        self.missed: dict[UnnamedChange, int] = {}
        self._edges = 0  # that stood before the event
        self._store: Cells | None = None
        self._journal: Journal = {}  # of a memory without a file

    def of(self, id: str) -> list[str]:
        """What hooks of the mechanism with this id have missed, in words."""
        return [
            f"{change.hook} changes {change.column} of an earlier cell, {cell}, and does not name it by "
            "view.wrote"
            for change, cell in self.missed.items()
            if change.mechanism == id
        ]

    def timed(self, phase: Phase, run: Callable[..., None]) -> Callable[..., None]:
        """The pass of a phase; of ENCODE the edges before it are counted, and where no file takes
        the names of cells, those of the event before are forgotten.
        """

        def call(*given: Any) -> None:
            if phase is Phase.ENCODE and self._store is not None:
                self._edges = self._store.graph.n_edges
                if self._store.journal is None or self._store.journal is self._journal:
                    self._store.journal = self._journal = {}
            run(*given)

        return call

    def wrap(self, node: Node, binding: Binding, function: StepFunction) -> StepFunction:
        """The step, compared if it may change cells that it must name."""
        columns = columns_to_name(node)
        self._store = binding.store
        if node.owner == ENGINE or not columns:
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
            self.missed.setdefault(UnnamedChange(node.owner, node.name, column.name), min(changed))
