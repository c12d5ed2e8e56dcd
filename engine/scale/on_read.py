"""Late columns of some rows: a question that is asked of a shortlist needs the late columns of its
rows alone (`engine.flow.dataflow`).
"""

from __future__ import annotations

from collections.abc import Sequence

from ..contract.columns import Column, Phase
from ..contract.hooks import Tick
from ..flow.passes import PhasePlan
from ..flow.schedule import Node
from ..state.clock import Clock
from ..state.store import Array, Cells
from .partial import PartialStore, Rows


class LateRows:
    """The late columns of the rows that a store shows, as of the present.

    columns  the late columns
    due      whether the late columns of the whole store are out of date
    """

    def __init__(
        self,
        base: Cells,
        most: int,
        columns: frozenset[Column],
        steps: Sequence[Node],
        clock: Clock,
    ) -> None:
        """most: rows of a question; steps: those that compute the columns, in order."""
        self.columns, self._clock = columns, clock
        self._store = PartialStore(base, most, linked=False)
        self._plan = PhasePlan(Phase.MAINTAIN, steps, self._store, (), {}, None)
        self._rows: Rows | None = None

    @property
    def due(self) -> bool:
        return self._clock.due

    def array(self, column: Column, rows: Rows) -> Array:
        """The values of a column for some rows, in their order.  O(rows) for the first column of
        the same array of rows.
        """
        if self._rows is not rows:
            self._store.show(rows)
            self._plan.run(Tick(self._clock.now, self._clock.now))
            self._rows = rows
        return self._store.array(column)
