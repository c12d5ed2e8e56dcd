"""Evidence that hooks name the cells of earlier rows and edges that an event changes: what they do
not name is not saved.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....engine.contract.columns import Column, Scope
from ....engine.contract.records import Event
from ....engine.memory.engine import Engine

SOURCE = (
    "definition: a file is written from the cells that hooks name, so they name every cell of an "
    "earlier row or edge that an event changes"
)


def named(memory: Engine, columns: Sequence[Column], event: Event) -> list[tuple[int, int]]:
    """For each column, how many cells of earlier rows or edges an event changes, and how many of
    these no hook has named.
    """
    store, graph = memory.store, memory.graph
    before = {column: np.array(memory.column(column)) for column in columns}
    rows, edges, store.journal = store.n, graph.n_edges, {}
    memory.encode(event)
    counts = []
    for column, cells in before.items():
        earlier = edges if column.scope is Scope.EDGE else rows
        changed = set(np.flatnonzero(memory.column(column)[:earlier] != cells[:earlier]).tolist())
        told = [n for numbers in store.journal.get(column, ()) for n in numbers.tolist()]
        counts.append((len(changed), len(changed.difference(told))))
    store.journal = None
    return counts
