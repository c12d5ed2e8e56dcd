"""The schedule: the steps of all phases with what they declare, and how that is printed.

`engine.flow.dataflow` computes the order of the steps from their declarations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Final, overload

from ..base.tables import text_table
from ..contract.columns import Before, Column, Phase
from ..contract.hooks import Read, Touched
from ..contract.vocabulary import RECALLED

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

    @cached_property
    def sees(self) -> frozenset[Touched]:
        """What it reads after all changes of the phase."""
        return frozenset(r for r in self.reads if not isinstance(r, Before))

    @cached_property
    def writes(self) -> tuple[Touched, ...]:
        """What it sets and what it adds to."""
        return (*self.sets, *self.adds)

    @cached_property
    def learns(self) -> bool:
        """Whether it waits for the answer and runs only where recall may change memory."""
        return RECALLED in self.sees

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

    @classmethod
    def of(cls, nodes: Iterable[Node]) -> Stages:
        """The stages of a phase with these steps."""
        return cls(item for node in nodes for item in node.writes)

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
        stages: list[Column] = []
        stage: Any = last
        while isinstance(stage, Column):
            if self.source(stage) is stage:
                stages.append(stage)
            stage = stage.neutral
        return tuple(stages[::-1])


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
