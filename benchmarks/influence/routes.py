"""Routes: through which columns and steps what a mechanism writes reaches an answer, computed from
the declarations of the schedule.

A route is a chain of columns and structures.  Each is read by a step that writes the next.
Declarations bound what a hook can do, so a route says what can happen, not that it does.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import count
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
    SLEEP_END,
    SLEEP_ONSET,
    VETO,
    VISIBLE,
)
from ...engine.flow.dataflow import read_after, read_before
from ...engine.flow.schedule import Node, Stages
from ...engine.memory.assembly import planned


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


@dataclass(frozen=True, slots=True)
class _Place:
    """What a step wrote: where it can be read.  phase: of a column that does not persist; None
    for one that does.
    """

    what: Touched
    phase: Phase | None


class Routes:
    """The routes of every mechanism of a set that can be scheduled.

    Signals feed the match, and the match feeds the indirect signals, so a chain may pass a signal.
    It does not pass a gate or a stage, nor the answer: what recall changes because other memories
    were answered is left out.  The engine consolidates at the times that SLEEP_ONSET and SLEEP_END
    hold, so every step of consolidation counts as a reader of both.
    """

    def __init__(self, mechanisms: Sequence[Mechanism[Any]]) -> None:
        """Raises ContractError if the mechanisms cannot be scheduled together."""
        phases = planned(mechanisms)
        self._nodes = [n for nodes in phases.values() for n in nodes]
        self._stages = {phase: Stages.of(nodes) for phase, nodes in phases.items()}
        self._fused = self._stages[Phase.RETRIEVE].source(FUSED)
        self._signals = {
            c for m in mechanisms for c in m.owns if isinstance(c, Signal) and m.params.weight > 0
        }
        read = {c for n in self._nodes for c in n.sees} | (
            self._signals if any(SIGNALS in n.sees for n in self._nodes) else set()
        )
        self._signals &= read
        self._readers: dict[Touched, list[Node]] = {}
        for node in self._nodes:
            for what in self._read(node):
                self._readers.setdefault(what, []).append(node)

    def of(self, id: str) -> tuple[Route, ...]:
        """One route for each end that a mechanism reaches; () for one that reaches nothing.

        First the gates that it writes itself, then the routes into the ranking, then the other
        gates, each by the number of steps.

        Cost: O(steps x columns).
        """
        order, found = count(), set[_Place]()
        starts = [n for n in self._nodes if n.owner == id]
        waiting: list[tuple[int, bool, int, _Place, tuple[str, ...]]] = [
            (0, n.learns, next(order), place, (place.what.name,))
            for n in starts
            for place in _written(n)
        ]
        heapq.heapify(waiting)
        routes: list[Route] = []
        while waiting:
            hops, recall, _, place, chain = heapq.heappop(waiting)
            if place in found:
                continue
            found.add(place)
            if end := self._end(place.what):
                routes.append(
                    Route(
                        place.what.name,
                        end,
                        (*chain, self._fused.name)
                        if end in (RouteEnd.SIGNAL, RouteEnd.FACETS)
                        else chain,
                        recall,
                    )
                )
            for node in self._next(place):
                for new in _written(node):
                    if new not in found and self._passes(place.what, new.what):
                        heapq.heappush(
                            waiting,
                            (
                                hops + 1,
                                recall or node.learns,
                                next(order),
                                new,
                                (*chain, new.what.name),
                            ),
                        )
        return tuple(
            sorted(
                routes,
                key=lambda r: (r.kind in GATES.values() and r.hops > 0, r.hops, r.after_recall),
            )
        )

    def _read(self, node: Node) -> set[Touched]:
        """What a step reads that another step can have written before it."""
        stages = self._stages[node.phase]
        past = {item for item in read_before(node, stages) if item.persists}
        arrays = read_after(node, stages, self._signals) | past
        return arrays | {SLEEP_ONSET, SLEEP_END} if node.phase is Phase.CONSOLIDATE else arrays

    def _end(self, what: Touched) -> RouteEnd | None:
        if what in GATES:
            return GATES[what]
        if what in self._signals:
            return RouteEnd.SIGNAL
        if what is FACET_WEIGHTS:
            return RouteEnd.FACETS
        return RouteEnd.STAGE if _is_stage(what) else None

    def _next(self, place: _Place) -> Iterator[Node]:
        """The steps that read it; a column of the query is not followed into the steps after the
        answer.
        """
        if place.what in GATES or place.what is RECALLED or _is_stage(place.what):
            return
        for node in self._readers.get(place.what, ()):
            if place.phase is None or (
                node.phase is place.phase and not (node.phase is Phase.RETRIEVE and node.learns)
            ):
                yield node

    def _passes(self, what: Touched, new: Touched) -> bool:
        """Whether a chain goes on from `what` to `new`.  It ends in the signal, or in the facet
        weights, that the match and the fusion read.
        """
        if new is RECALLED or (new is MATCH and what is FACET_WEIGHTS):
            return False
        return not (_is_stage(new) and (what in self._signals or what in (FACET_WEIGHTS, MATCH)))


def shortest(routes: Iterable[Route]) -> tuple[Route, ...]:
    """The routes into the ranking that have the fewest steps, and the gates that are reached
    with no more; all gates if none leads there.
    """
    known = tuple(routes)
    least = min((r.hops for r in known if r.kind in RANKING), default=None)
    return known if least is None else tuple(r for r in known if r.hops <= least)


def _written(node: Node) -> Iterator[_Place]:
    for what in (*node.sets, *node.adds):
        if isinstance(what, Column) or not what.private:
            yield _Place(what, None if what.persists else node.phase)


def _is_stage(what: Touched) -> bool:
    """Whether it is a stage after the match."""
    return isinstance(what, Column) and isinstance(what.neutral, Column) and what not in GATES
