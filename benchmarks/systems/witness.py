"""An observer that also notes who rejected each event and who archived each memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...engine.contract.columns import Phase
from ...engine.contract.vocabulary import ROW, VETO, VISIBLE
from ...engine.flow.observer import Observer
from ...engine.flow.passes import StepFunction
from ...engine.flow.schedule import Node
from ...engine.flow.view import Binding


@dataclass(frozen=True, slots=True)
class Archiving:
    """A row that a mechanism archived, and the simulated time, h."""

    mechanism: str
    time: float


@dataclass
class Witness(Observer):
    """Receipts and times of one memory, with votes and archivings.

    vetoes    event id -> ids of the gates that voted against it, in the order of the schedule;
              events without a veto are left out
    archived  row -> the last archiving; rows that were restored are left out
    """

    vetoes: dict[str, list[str]] = field(default_factory=dict)
    archived: dict[int, Archiving] = field(default_factory=dict)

    def wrap(self, node: Node, binding: Binding, function: StepFunction) -> StepFunction:
        """The step with its receipt, its votes, and the rows that it archives.  Cost: one
        comparison of VISIBLE for a step that may archive.
        """
        watched = super().wrap(node, binding, function)
        votes, archives = (
            node.phase is Phase.ENCODE and VETO in node.adds,
            VISIBLE in node.sets and ROW not in node.sets,
        )
        if not (votes or archives):
            return watched

        def call(view: Any, what: Any) -> None:
            before = binding.store.array(VISIBLE).copy() if archives else None
            watched(view, what)
            if votes and binding.contributions[VETO].item() > 0:
                self.vetoes.setdefault(what.event.id, []).append(node.owner)
            if before is not None:
                self._note(node.owner, before, binding.store.array(VISIBLE))

        return call

    def _note(self, mechanism: str, before: Any, after: Any) -> None:
        for row in np.flatnonzero(before != after[: len(before)]).tolist():
            if after[row]:
                self.archived.pop(row, None)
            else:
                self.archived[row] = Archiving(mechanism, self._clock.now)
