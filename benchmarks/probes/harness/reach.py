"""Reach: which columns, and whether the answer, can change with what a mechanism writes; and what a
probe measures.

Declarations bound what a hook can do: without a path nothing can move, with one it may.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import count
from typing import Any

from ....engine.contract import vocabulary
from ....engine.contract.columns import Column, Phase
from ....engine.contract.hooks import Mechanism, Touched
from ....engine.contract.vocabulary import RECALLED
from ....engine.flow.schedule import ENGINE, Node
from ...influence.routes import Routes
from .base import Probe
from .instruments import Instrument
from .life import Life, Need, Settings
from .run import NotedTexts, Recorder


@dataclass(frozen=True, slots=True)
class ProbeReads:
    """What a probe reads of a memory.

    columns      of the engine
    answers      whether it reads answers
    learns       whether a question of it may change memory
    all          whether it measures the memory as a whole, such as its size
    instruments  that it adds
    """

    columns: frozenset[Column]
    answers: bool
    learns: bool
    all: bool
    instruments: tuple[Instrument, ...] = ()


def measured(probe: Probe) -> ProbeReads:
    """What a probe declares that it reads, and the instruments that it adds, from a run without a
    memory.

    >>> from .collection import own
    >>> wanted = measured(own()["forgetting_curve/ebbinghaus"])
    >>> sorted(c.name for c in wanted.columns), wanted.answers, wanted.learns
    (['activation', 'log_strength'], False, False)
    """
    used: list[Instrument] = []

    def make(instruments: Sequence[Instrument], settings: Settings) -> Recorder:
        used.extend(i for i in instruments if i.id not in {u.id for u in used})
        return Recorder({})

    # without a memory behind it a probe may stop early
    with closing(Life(make, NotedTexts({}))) as life, suppress(Exception):
        probe.run(life, 0)
    declared = probe.measures
    return ProbeReads(
        frozenset(
            c
            for c in vars(vocabulary).values()
            if isinstance(c, Column) and c.name in declared.columns
        ),
        declared.answers,
        declared.learns or Need.LEARNING in probe.needs,
        declared.whole,
        tuple(used),
    )


@dataclass(frozen=True, slots=True)
class _WrittenPlace:
    """What a step wrote, where it can be read: only by its owner if private, only in the phase
    if it does not persist.
    """

    what: Touched
    phase: Phase | None
    owner: str


class ProbeReach(Routes):
    """What can change with what each mechanism of a set writes, through any number of steps."""

    def __init__(self, mechanisms: Sequence[Mechanism[Any]]) -> None:
        """Raises ContractError if the mechanisms cannot be scheduled together."""
        super().__init__(mechanisms)
        # with the structures that a step may read because it writes them
        self._by_read: dict[Touched, list[Node]] = {}
        for node in self._nodes:
            changed = (
                s for s in (*node.sets, *node.adds) if not isinstance(s, Column) and s.persists
            )
            for what in dict.fromkeys((*self._read(node), *changed)):
                self._by_read.setdefault(what, []).append(node)

    def chain(
        self, id: str, probe: ProbeReads, near: Collection[str] = ()
    ) -> tuple[str, ...] | None:
        """The mechanisms between a mechanism and what a probe measures, on the chain with the
        fewest of them; None if there is no path.

        near  mechanisms that do not count, and are not named

        Cost: O(steps x columns).
        """
        known, order = {id, ENGINE, *near}, count()
        found, waiting = (
            set[_WrittenPlace](),
            list[tuple[int, int, int, _WrittenPlace, tuple[str, ...]]](),
        )

        def push(cost: int, hops: int, node: Node, through: tuple[str, ...]) -> None:
            new = node.owner not in known and node.owner not in through
            for place in _written(node):
                heapq.heappush(
                    waiting,
                    (
                        cost + new,
                        hops + 1,
                        next(order),
                        place,
                        (*through, node.owner) if new else through,
                    ),
                )

        for start in (n for n in self._nodes if n.owner == id):
            push(0, 0, start, ())
        while waiting:
            cost, hops, _, place, through = heapq.heappop(waiting)
            if place in found:
                continue
            found.add(place)
            if (
                probe.all
                or place.what in probe.columns
                or (probe.answers and place.what is RECALLED)
            ):
                return through
            for node in self._following(place, probe.learns):
                push(cost, hops, node, through)
        return None

    def _following(self, place: _WrittenPlace, learns: bool) -> Iterator[Node]:
        for node in self._by_read.get(place.what, ()):
            after = node.phase is Phase.RETRIEVE and RECALLED in node.sees
            if (
                (not place.owner or node.owner == place.owner)
                and (place.phase is None or node.phase is place.phase)
                and (learns or not after)
            ):
                yield node


def _written(node: Node) -> Iterator[_WrittenPlace]:
    for what in (*node.sets, *node.adds):
        private = not isinstance(what, Column) and what.private
        yield _WrittenPlace(
            what, None if what.persists else node.phase, node.owner if private else ""
        )


def reach_of(mechanisms: Sequence[Mechanism[Any]], probe: ProbeReads) -> ProbeReach:
    """The paths of a set with the instruments of a probe.  Raises ContractError if they cannot
    be scheduled together.
    """
    return ProbeReach([*mechanisms, *probe.instruments])
