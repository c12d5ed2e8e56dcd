"""Dataflow: what follows from what the steps of a phase declare.

- what a step reads and writes, as the arrays that hold it;
- in what order steps run: for each column, readers of `COLUMN.before` run first, then its setter,
  then the steps that add to it, then its readers; registry order settles the rest.  A stage runs
  after the stage that it refines.  Steps that change memory on recall run after the answer, so
  steps that lead to the answer read those columns unchanged.

No other module computes these things, and none here runs a step.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence

from ..base.errors import ContractError
from ..contract.columns import Before, Signal, Structure
from ..contract.hooks import Touched
from ..contract.vocabulary import SIGNALS
from .schedule import Node, Stages


def read_after(node: Node, stages: Stages, signals: Iterable[Signal] = ()) -> set[Touched]:
    """The arrays that a step reads after all changes of the phase: what it sees, and what the
    stages that it writes start from.

    signals  that a reader of SIGNALS sees
    """
    arrays = {stages.source(item) for item in node.sees}
    arrays |= {start for start in map(stages.before, node.writes) if start}
    return arrays | set(signals) if SIGNALS in arrays else arrays


def read_before(node: Node, stages: Stages) -> set[Touched]:
    """The arrays that a step reads as they were before any change of the phase."""
    return {stages.source(read.of) for read in node.reads if isinstance(read, Before)}


def ordered(nodes: Sequence[Node], signals: Iterable[Signal] = ()) -> tuple[Node, ...]:
    """The nodes of one phase in the order in which they run.  Raises ContractError.  Cost:
    O(nodes x columns).
    """
    return _sorted(nodes, followers_of(nodes, signals))


def followers_of(nodes: Sequence[Node], signals: Iterable[Signal] = ()) -> dict[Node, set[Node]]:
    """For each node of one phase those that must run after it.  Raises ContractError for two
    setters of a column.
    """
    setters, adders, readers, before = _touchers(nodes, tuple(signals))
    for column, setting in setters.items():
        if len(setting) > 1:
            raise ContractError(
                f"{' and '.join(n.label for n in setting)} both set {column.name}",
                where=f"schedule of {setting[0].phase.value}",
                cure="switch one of them off",
            )
    after: dict[Node, set[Node]] = {n: set() for n in nodes}
    for column in {*setters, *adders, *readers, *before}:
        tiers = [
            before.get(column, []),
            setters.get(column, []),
            adders.get(column, []),
            readers.get(column, []),
        ]
        for i, earlier in enumerate(tiers):
            for later in tiers[i + 1 :]:
                for a in earlier:
                    after[a].update(b for b in later if b is not a)
    return after


def _touchers(
    nodes: Sequence[Node], signals: tuple[Signal, ...]
) -> tuple[dict[Touched, list[Node]], ...]:
    """The steps that set each array, that add to it, that read it, and that read it as it was."""
    by_use: tuple[dict[Touched, list[Node]], ...] = ({}, {}, {}, {})
    stages = Stages.of(nodes)
    learnt = {c for n in nodes if n.learns for c in n.writes if c.persists}
    for node in nodes:
        past, sees = read_before(node, stages), read_after(node, stages, signals)
        if not node.learns:
            past, sees = past | (sees & learnt), sees - learnt
        for nodes_of, columns in zip(
            by_use,
            (
                dict.fromkeys(node.sets),
                set(node.adds),
                sees - set(node.sets),
                past - set(node.sets),
            ),
            strict=True,
        ):
            for column in columns:
                if not (isinstance(column, Structure) and column.private):
                    nodes_of.setdefault(column, []).append(node)
    return by_use


def _sorted(nodes: Sequence[Node], after: Mapping[Node, set[Node]]) -> tuple[Node, ...]:
    waiting = dict.fromkeys(nodes, 0)
    for followers in after.values():
        for node in followers:
            waiting[node] += 1
    place = {n: (*n.rank, i) for i, n in enumerate(nodes)}
    ready = [place[n] for n in nodes if not waiting[n]]
    heapq.heapify(ready)
    result: list[Node] = []
    while ready:
        node = nodes[heapq.heappop(ready)[-1]]
        result.append(node)
        for later in after[node]:
            waiting[later] -= 1
            if not waiting[later]:
                heapq.heappush(ready, place[later])
    if len(result) < len(nodes):
        raise ContractError(
            f"the declarations form a loop: {_loop(after, set(nodes) - set(result))}",
            where=f"schedule of {nodes[0].phase.value}",
            cure="let one of them read COLUMN.before, or move its work to another phase",
        )
    return tuple(result)


def _loop(after: Mapping[Node, set[Node]], stuck: set[Node]) -> str:
    """One cycle among the stuck nodes, each of which has a predecessor among them."""
    path: list[Node] = [min(stuck, key=lambda n: (n.order, n.label))]
    earlier = {n: [m for m in stuck if n in after[m]] for n in stuck}
    while True:
        previous = min(earlier[path[-1]], key=lambda n: (n.order, n.label))
        if previous in path:
            cycle = [*path[path.index(previous) :], previous]
            return " -> ".join(n.label for n in reversed(cycle))
        path.append(previous)
