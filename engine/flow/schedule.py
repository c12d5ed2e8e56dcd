"""The schedule: the order of all steps of a phase, computed from what they declare.

For each column: readers of `COLUMN.before` run first, then its setter, then the steps that add to
it, then its readers; registry order settles the rest.  A stage runs after the stage that it
refines.  Steps that change memory on recall run after the answer, so steps that lead to the answer
read those columns unchanged.  Two setters of one column, or a cycle, raise an error that names the
hooks.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, overload

from ..base.errors import ContractError
from ..base.tables import text_table
from ..contract.columns import Before, Column, Phase, Signal, Structure
from ..contract.hooks import Read, Touched
from ..contract.vocabulary import RECALLED, SIGNALS

ENGINE: Final = "engine"  # owner of the engine's own steps


@dataclass(frozen=True, eq=False)
class Node:
    """One step: a hook of a mechanism, or a step of the engine itself (owner "engine", order -1).

    appends    whether it only adds rows and edges and leaves existing ones unchanged
    takes_ask  whether its function gets the whole `Ask` of a question, and not the cue alone
    """

    owner: str
    name: str
    phase: Phase
    order: int
    reads: tuple[Read, ...]
    adds: tuple[Touched, ...]
    sets: tuple[Touched, ...]
    function: Callable[..., Any]
    appends: bool = False
    takes_ask: bool = False

    @property
    def label(self) -> str:
        return f"{self.owner}.{self.name}"

    @property
    def sees(self) -> frozenset[Touched]:
        """What it reads after all changes of the phase."""
        return frozenset(r for r in self.reads if not isinstance(r, Before))

    @property
    def rank(self) -> tuple[int, str]:
        """Registry order, ties by id."""
        return self.order, self.owner


class Stages:
    """Which array holds a stage of the ranking: the stage's own if a step writes it, else the
    array of the stage before.
    """

    def __init__(self, written: Iterable[Touched]) -> None:
        self.written = frozenset(written)

    @overload
    def source(self, column: Column) -> Column: ...
    @overload
    def source(self, column: Touched) -> Touched: ...

    def source(self, column: Touched) -> Touched:
        """The column whose array holds the stage; any other column or structure is returned as
        it is.
        """
        while (
            isinstance(column, Column)
            and isinstance(column.neutral, Column)
            and column not in self.written
        ):
            column = column.neutral
        return column

    def before(self, column: Touched) -> Column | None:
        """The column whose array a stage starts from; None for a column that is no stage."""
        return (
            self.source(column.neutral)
            if isinstance(column, Column) and isinstance(column.neutral, Column)
            else None
        )

    def up_to(self, last: Column) -> tuple[Column, ...]:
        """The stages that a step writes, from the first to `last` or, if no step writes that
        one, to the last before it.
        """
        found: list[Column] = []
        stage: Any = last
        while isinstance(stage, Column):
            if self.source(stage) is stage:
                found.append(stage)
            stage = stage.neutral
        return tuple(found[::-1])


def ordered(nodes: Sequence[Node], signals: Iterable[Signal] = ()) -> tuple[Node, ...]:
    """The nodes of one phase in the order in which they run.  Raises ContractError.  Cost:
    O(nodes x columns).
    """
    return _sorted(nodes, followers_of(nodes, signals))


def followers_of(nodes: Sequence[Node], signals: Iterable[Signal] = ()) -> dict[Node, set[Node]]:
    """For each node of one phase those that must run after it.  Raises ContractError for two
    setters of a column.
    """
    stages = Stages(c for n in nodes for c in (*n.sets, *n.adds))
    setters, adders, readers, before = _touchers(nodes, stages, tuple(signals))
    for column, found in setters.items():
        if len(found) > 1:
            raise ContractError(
                f"{' and '.join(n.label for n in found)} both set {column.name}",
                where=f"schedule of {found[0].phase.value}",
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
    nodes: Sequence[Node], stages: Stages, signals: tuple[Signal, ...]
) -> tuple[dict[Touched, list[Node]], ...]:
    found: tuple[dict[Touched, list[Node]], ...] = ({}, {}, {}, {})
    learnt = {c for n in nodes if RECALLED in n.sees for c in (*n.sets, *n.adds) if c.persists}
    for node in nodes:
        writes = {*node.sets, *node.adds}
        sees = {stages.source(c) for c in node.sees} | {c for c in map(stages.before, writes) if c}
        if SIGNALS in sees:
            sees |= set(signals)
        past = {stages.source(r.of) for r in node.reads if isinstance(r, Before)}
        if RECALLED not in sees:
            past, sees = past | (sees & learnt), sees - learnt
        for where, columns in zip(
            found,
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
                    where.setdefault(column, []).append(node)
    return found


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


@dataclass(frozen=True, slots=True)
class ScheduledStep:
    """One line of a printed schedule.

    place             in its phase, from 1
    step              "mechanism id.hook name"
    reads, adds, sets  names of columns and structures
    """

    phase: Phase
    place: int
    step: str
    reads: tuple[str, ...]
    adds: tuple[str, ...]
    sets: tuple[str, ...]

    @property
    def writes(self) -> tuple[str, ...]:
        """Names of what it adds to, marked with `+`, and of what it sets."""
        return (*(f"+{name}" for name in self.adds), *self.sets)


@dataclass(frozen=True, slots=True, repr=False)
class Schedule:
    """The steps of all phases in order; prints as a table, and `schedule[Phase.RETRIEVE]` holds
    the steps of one phase.
    """

    steps: tuple[ScheduledStep, ...]

    @classmethod
    def of(cls, phases: Mapping[Phase, Sequence[Node]]) -> Schedule:
        return cls(
            tuple(
                ScheduledStep(
                    phase, i + 1, n.label, _names(n.reads), _names(n.adds), _names(n.sets)
                )
                for phase, nodes in phases.items()
                for i, n in enumerate(nodes)
            )
        )

    def __iter__(self) -> Iterator[ScheduledStep]:
        return iter(self.steps)

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, phase: Phase) -> tuple[ScheduledStep, ...]:
        return tuple(s for s in self.steps if s.phase is phase)

    def __repr__(self) -> str:
        return text_table(
            [
                ("phase", "", "step", "reads", "writes (+: adds)"),
                *(
                    (
                        s.phase.value,
                        str(s.place),
                        s.step,
                        ", ".join(s.reads) or "-",
                        ", ".join(s.writes) or "-",
                    )
                    for s in self.steps
                ),
            ]
        )


def _names(columns: Iterable[Read]) -> tuple[str, ...]:
    return tuple(f"{c.of.name}.before" if isinstance(c, Before) else c.name for c in columns)


def describe(phases: Mapping[Phase, Sequence[Node]]) -> list[dict[str, Any]]:
    """The schedule as plain rows: phase, place, step, reads, adds, sets."""
    return [
        {
            **asdict(s),
            "phase": s.phase.value,
            "reads": list(s.reads),
            "adds": list(s.adds),
            "sets": list(s.sets),
        }
        for s in Schedule.of(phases)
    ]
