"""Priors of some rows, before they are on a shortlist."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ..contract.ask import Ask
from ..contract.columns import Phase, Scope
from ..contract.hooks import Cue
from ..contract.vocabulary import LOG_PRIOR
from ..flow.dataflow import reads_row_by_row, writes_for_the_pass_alone
from ..flow.passes import PhasePlan
from ..flow.schedule import Node
from ..state.store import Cells
from .on_read import LateRows
from .partial import PartialStore, Rows


class Priors:
    """LOG_PRIOR of rows, as far as steps of RETRIEVE add to it that read columns of memories alone,
    not signals.

    Each step sees the rows that are asked about: a step that compares memories with one another may
    give other priors than over all memories.

    store  shows the rows of the last question
    """

    def __init__(
        self,
        base: Cells,
        most: int,
        nodes: Sequence[Node],
        streams: Mapping[str, np.random.Generator],
        late: LateRows | None = None,
    ) -> None:
        """most: rows of a question; nodes: the steps of RETRIEVE, in their order; late: as of
        `PartialStore`.
        """
        self.store = PartialStore(base, most, linked=False, late=late)
        steps = [
            node
            for node in nodes
            if LOG_PRIOR in node.adds
            and writes_for_the_pass_alone(node)
            and reads_row_by_row(node, (Scope.MEMORY,))
        ]
        self.plan = PhasePlan(Phase.RETRIEVE, steps, self.store, (), streams, None)

    def of(self, rows: Rows, cue: Cue) -> NDArray[np.float64]:
        """(q,) ln, of different rows in any order.  O(rows)."""
        if not self.plan.steps:
            return np.zeros(len(rows))
        order = np.argsort(rows)
        self.store.show(rows[order])
        self.plan.run(Ask(cue))
        priors = np.empty(len(rows))
        priors[order] = self.store.array(LOG_PRIOR)
        return priors
