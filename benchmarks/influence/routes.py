"""Routes: through which columns and steps what a mechanism writes reaches an answer, computed from
the declarations of the schedule.

A route is a chain of columns and structures.  Each is read by a step that writes the next.
Declarations bound what a hook can do, so a route says what can happen, not that it does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ...engine.contract.columns import Column, Phase, Signal
from ...engine.contract.hooks import Mechanism, Touched
from ...engine.contract.vocabulary import (
    ANSWERABLE,
    DETAIL,
    FACET_WEIGHTS,
    FUSED,
    MATCH,
    RECALLED,
    SIGNALS,
    VETO,
    VISIBLE,
)
from ...engine.flow.dataflow import Link, Paths, WrittenItem
from ...engine.flow.schedule import Node
from ...engine.memory.assembly import schedule_of


class RouteEnd(StrEnum):
    """What a route ends in."""

    SIGNAL = "signal"  # a signal with a weight
    FACETS = "facets"  # the factors on the weights of all signals
    # a stage of the ranking that is computed from the fused score, or the fused score
    STAGE = "stage"
    ADMISSION = "admission"  # the vote on whether an event is stored
    ARCHIVE = "archive"  # whether a memory can be answered
    CONDENSED = "condensed"  # the form of a memory's text in a context


GATES: Mapping[Touched, RouteEnd] = {
    VETO: RouteEnd.ADMISSION,
    VISIBLE: RouteEnd.ARCHIVE,
    ANSWERABLE: RouteEnd.ARCHIVE,
    DETAIL: RouteEnd.CONDENSED,
}
RANKING = (RouteEnd.SIGNAL, RouteEnd.FACETS, RouteEnd.STAGE)


@dataclass(frozen=True, slots=True)
class Route:
    """The shortest chain from what a mechanism writes to one end.

    to            name of the signal, stage or column in which it ends
    chain         names, the first written by the mechanism; a chain into the ranking ends with the
                  stage that the signals are fused into
    after_recall  whether a step of it runs only after an answer that may change memory
    """

    to: str
    kind: RouteEnd
    chain: tuple[str, ...]
    after_recall: bool

    @property
    def hops(self) -> int:
        """Steps from the mechanism's own write to the end."""
        return len(self.chain) - (2 if self.kind in (RouteEnd.SIGNAL, RouteEnd.FACETS) else 1)


class Routes:
    """The routes of every mechanism of a set that can be scheduled.

    Signals feed the match, and the match feeds the indirect signals, so a chain may pass a signal.
    It does not pass a gate or a stage, nor the answer: what recall changes because other memories
    were answered is left out.  The engine consolidates at the times that SLEEP_ONSET and SLEEP_END
    hold, so every step of consolidation counts as a reader of both.
    """

    def __init__(self, mechanisms: Sequence[Mechanism[Any]]) -> None:
        """Raises ContractError if the mechanisms cannot be scheduled together."""
        phases = schedule_of(mechanisms)
        self._signals = read_signals(mechanisms, phases)
        self._paths = Paths(phases, self._signals)
        self._fused = self._paths.stages[Phase.RETRIEVE].source(FUSED)

    def of(self, id: str) -> tuple[Route, ...]:
        """One route for each end that a mechanism reaches; () for one that reaches nothing.

        First the gates that it writes itself, then the routes into the ranking, then the other
        gates, each by the number of steps.

        Cost: O(steps x columns).
        """
        routes: list[Route] = []
        for path in self._paths.cheapest(id, self._goes_on, _steps_and_recall):
            column = path[-1][1].what
            if end := self._end(column):
                chain = tuple(written.what.name for _, written in path)
                if end in (RouteEnd.SIGNAL, RouteEnd.FACETS):
                    chain = (*chain, self._fused.name)
                routes.append(Route(column.name, end, chain, any(step.learns for step, _ in path)))
        return tuple(
            sorted(
                routes,
                key=lambda r: (r.kind in GATES.values() and r.hops > 0, r.hops, r.after_recall),
            )
        )

    def _end(self, what: Touched) -> RouteEnd | None:
        if what in GATES:
            return GATES[what]
        if what in self._signals:
            return RouteEnd.SIGNAL
        if what is FACET_WEIGHTS:
            return RouteEnd.FACETS
        return RouteEnd.STAGE if _is_stage(what) else None

    def _goes_on(self, last: WrittenItem | None, step: Node, written: WrittenItem) -> bool:
        """Whether a chain goes on from what was written last to what a step writes that reads it.
        It ends in a gate or a stage, in the answer, and in the signal or the facet weights that the
        match and the fusion read; a column of the query is not followed into the steps after the
        answer.
        """
        what = written.what
        if written.owner:
            return False
        if last is None:
            return True
        if last.what in GATES or last.what is RECALLED or _is_stage(last.what):
            return False
        if last.phase is Phase.RETRIEVE and step.learns:
            return False
        if what is RECALLED or (what is MATCH and last.what is FACET_WEIGHTS):
            return False
        return not (
            _is_stage(what) and (last.what in self._signals or last.what in (FACET_WEIGHTS, MATCH))
        )


def read_signals(
    mechanisms: Iterable[Mechanism[Any]], phases: Mapping[Phase, Sequence[Node]]
) -> set[Signal]:
    """The signals with a weight that a step reads."""
    signals = {
        c for m in mechanisms for c in m.owns if isinstance(c, Signal) and m.params.weight > 0
    }
    seen = {item for nodes in phases.values() for node in nodes for item in node.sees}
    return signals if SIGNALS in seen else signals & seen


def _steps_and_recall(path: Sequence[Link]) -> tuple[int, ...]:
    return len(path), any(step.learns for step, _ in path)


def shortest(routes: Iterable[Route]) -> tuple[Route, ...]:
    """The routes into the ranking that have the fewest steps, and the gates that are reached
    with no more; all gates if none leads there.
    """
    known = tuple(routes)
    least = min((r.hops for r in known if r.kind in RANKING), default=None)
    return known if least is None else tuple(r for r in known if r.hops <= least)


def _is_stage(what: Touched) -> bool:
    """Whether it is a stage after the match."""
    return isinstance(what, Column) and isinstance(what.neutral, Column) and what not in GATES
