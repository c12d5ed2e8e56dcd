"""Plans: each hook is bound to its view once, and each phase runs as one loop over bound steps
without look-ups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..contract.ask import Ask
from ..contract.columns import Column, Phase, Scope, Signal, Structure
from ..contract.hooks import Mechanism
from ..contract.vocabulary import BUDGET, MADE, RANDOM, RECALLED, ROW, VISIBLE
from ..ports.embedding_cache import MeteredEmbedder
from ..ports.language_model import MeteredLanguageModel
from ..state.clock import Clock
from ..state.store import Cells, Store
from .dataflow import changed_in_place, learning, ordered
from .schedule import Node, Stages
from .view import Binding

StepFunction = Callable[[Any, Any], None]
Wrap = Callable[[Node, Binding, StepFunction], StepFunction]
Start = tuple[Column, Column]


class Instrument(Protocol):
    """Measures one memory from outside: it wraps steps and passes when the plans are built.
    `observer.Observer` is one.
    """

    @property
    def contributions(self) -> Mapping[tuple[str, str, Column], NDArray[Any]] | None:
        """What each hook has added to each persistent column so far, by (mechanism id, hook
        name, column); None: it does not note that.
        """
        ...

    def attach(
        self,
        ids: Iterable[str],
        clock: Clock,
        embedder: MeteredEmbedder,
        language_model: MeteredLanguageModel,
    ) -> None:
        """Called once, before the plans are built, with the ids of the mechanisms, and the
        memory's clock, embedder and language model.
        """
        ...

    def wrap(self, node: Node, binding: Binding, function: StepFunction) -> StepFunction:
        """The function that the plan calls for a step."""
        ...

    def timed(self, phase: Phase, run: Callable[..., None]) -> Callable[..., None]:
        """The function that the memory calls for a pass of a phase."""
        ...


class Work(Protocol):
    """What the threads of one question do together."""

    def run(self, order: Any, do: Callable[[int], None]) -> None:
        """Do all steps of a pass, by place, each after those that it waits for."""
        ...


class Helpers(Protocol):
    """Threads that help with passes over large memories, with the same outcome bit for bit;
    `scale.crew.Crew` is one.
    """

    def helping(self, rows: int) -> AbstractContextManager[Work | None]:
        """Helpers for a pass over so many rows; None if the pass is done sooner without helpers."""
        ...

    def order(self, nodes: Sequence[Node], signals: Sequence[Signal]) -> Any:
        """Which of some steps wait for which, as `Work.run` takes it."""
        ...


def nodes_of(mechanisms: Iterable[Mechanism[Any]]) -> list[Node]:
    """The hooks of all mechanisms as nodes."""
    return [
        Node(m.id, h.name, h.phase, m.order, h.reads, h.adds, h.sets, getattr(m, h.name))
        for m in mechanisms
        for h in type(m).hooks()
    ]


def schedule(nodes: Iterable[Node], signals: Sequence[Signal]) -> dict[Phase, tuple[Node, ...]]:
    """The order of every phase.  Raises ContractError."""
    pool = list(nodes)
    return {phase: ordered([n for n in pool if n.phase is phase], signals) for phase in Phase}


@contextmanager
def undisturbed(store: Store, columns: Iterable[Column] | None = None) -> Iterator[None]:
    """For passes that must leave no trace: on exit the answer and all columns of the event, query
    and candidates are as before.

    columns  the columns among these that can change; None: all

    Cost: two copies of each of these columns, O(n).
    """
    recalled, passing = (
        store.structures[RECALLED],
        {
            c: store.array(c).copy()
            for c in ((*store.columns, *store.guests) if columns is None else columns)
            if not c.persists
        },
    )
    try:
        yield
    finally:
        store.structures[RECALLED] = recalled
        for column, values in passing.items():
            store.array(column)[...] = values


class BoundStep:
    """One node of a phase, bound to its view.

    needs_row, needs_recall  whether it runs only if the event was stored, or only if recall may
                             change memory
    needs_made               whether it runs only if a row was made in this sleep
    needs_budget             whether it runs only if a context is asked for
    starts                   (column, start) for each column that it sets and that is reset before
                             it runs: a stage to the stage before, a `fresh` column to neutral (then
                             the start is the column itself)
    gathers                  (column, start or None, bindings) for each column whose last
                             contributor is this step: the contributions to apply
    archives                 whether it may change VISIBLE of rows that exist
    takes_cue                whether its function gets the cue of an `Ask`
    """

    __slots__ = ("archives", "binding", "function", "gathers", "needs_budget", "needs_made",
                 "needs_recall", "needs_row", "node", "starts", "takes_cue")  # fmt: skip

    def __init__(
        self, node: Node, binding: Binding, function: StepFunction, starts: Sequence[Start]
    ) -> None:
        self.node, self.binding, self.function, self.starts = node, binding, function, tuple(starts)
        stored_only = ROW in node.sees or any(
            isinstance(s, Structure) and s.stored_only for s in node.sees
        )
        self.needs_row = node.phase is Phase.ENCODE and stored_only and ROW not in node.sets
        self.needs_recall = node.learns
        self.needs_made = MADE in node.sees
        self.needs_budget = BUDGET in node.sees
        self.archives = VISIBLE in node.sets and ROW not in node.sets
        self.takes_cue = node.phase is Phase.RETRIEVE and not node.takes_ask
        self.gathers: list[tuple[Column, Column | None, list[Binding]]] = []


class PhasePlan:
    """The steps of one phase in order.

    nodes    as they are declared; `steps`: bound to the store, at the same places
    signals  that a fusion of this phase sees
    changes  persistent columns and structures whose existing cells the steps of this phase may
             change; steps that only append are left out
    changed  whether a pass may have changed them.  Reset to False by Snapshot.save
    """

    def __init__(
        self,
        phase: Phase,
        nodes: Sequence[Node],
        store: Cells,
        signals: Sequence[tuple[Signal, float]],
        streams: Mapping[str, np.random.Generator],
        wrap: Wrap | None,
        helpers: Helpers | None = None,
    ) -> None:
        """helpers: for passes over large memories, unless steps are wrapped."""
        self.nodes, self.signals = tuple(nodes), tuple(s for s, _ in signals)
        self.stages = Stages.of(nodes)
        self.phase, self.store, self.steps, self.changed = phase, store, [], False
        self.changes = changed_in_place(nodes)
        written = {c for n in nodes for c in n.sets}
        for node in nodes:
            binding = Binding(
                node,
                store,
                self.stages,
                signals,
                streams.get(node.owner) if RANDOM in node.sets else None,
            )
            starts = [
                (c, start) for c in node.sets if isinstance(c, Column) and (start := self._start(c))
            ]
            self.steps.append(
                BoundStep(
                    node,
                    binding,
                    wrap(node, binding, node.function) if wrap else node.function,
                    starts,
                )
            )
        added: dict[Column, list[BoundStep]] = {}
        for step in self.steps:
            for column in step.binding.contributions:
                added.setdefault(column, []).append(step)
        for column, adding in added.items():
            start = None if column in written else self._start(column)
            adding[-1].gathers.append(
                (column, start, [s.binding for s in sorted(adding, key=lambda s: s.node.rank)])
            )
        self._helpers = None if wrap else helpers
        # as far as declarations leave it open
        self._any_order = phase is Phase.RETRIEVE and not any(step.archives for step in self.steps)
        self._passing = {
            Phase.ENCODE: (Scope.EVENT,),
            Phase.RETRIEVE: (Scope.EVENT, Scope.CANDIDATE),
        }.get(phase, ())

    def run(self, what: Any, only: Sequence[BoundStep] | None = None) -> None:
        """One pass: reset the columns of the event, query and candidates, then run each step whose
        conditions are met (`BoundStep`).

        what  an Incoming, a Tick, or in RETRIEVE an `Ask`
        only  these steps alone, in order; `again` runs the others

        A step may append rows; the views of the steps after it are bound again.
        """
        learn = self.phase is Phase.RETRIEVE and what.learn
        self.changed = self.changed or learn or self.phase is not Phase.RETRIEVE
        self.store.passes += 1
        with self._helpers.helping(self.store.n) if self._helpers else nullcontext() as work:
            for scope in self._passing:
                self.store.neutralise(scope)
            if work and self._any_order and only is None and not learn:
                work.run(self._order, lambda at: self._do(self.steps[at], what, learn))
            else:
                for step in self.steps if only is None else only:
                    self._do(step, what, learn)

    def contributors(self, column: Column) -> tuple[str, ...]:
        """Ids of the mechanisms that added more than 0 to a single cell in the last pass, in
        registry order.  O(steps).
        """
        nodes = [
            step.node
            for step in self.steps
            if column in step.node.adds and step.binding.contributions[column].item() > 0
        ]
        return tuple(
            dict.fromkeys(node.owner for node in sorted(nodes, key=lambda node: node.rank))
        )

    def again(self, steps: Sequence[BoundStep], columns: Iterable[Column], what: Any) -> None:
        """Run some steps of the last pass once more, after resetting the columns of the pass that
        they write.

        See `engine.flow.dataflow.reach`: the steps must be all that write or read one of these columns.
        """
        learn = self.phase is Phase.RETRIEVE and what.learn
        self.changed = self.changed or learn
        self.store.passes += 1
        for column in columns:
            if not isinstance(column.neutral, Column):  # a stage starts as the stage before
                self.store.array(column).fill(column.neutral)
        for step in steps:
            self._do(step, what, learn)

    def learn(self, ask: Ask) -> None:
        """Run the rest of a pass that did not learn, now with an `Ask` that learns: the same state
        as a whole pass, at the cost of its last steps.

        The pass must have been the last over this store, with the same cue, and nothing may have
        changed since; `learning` must not be empty.
        """
        columns = [
            c
            for step in self.learning
            for c in step.node.writes
            if isinstance(c, Column) and not c.persists
        ]
        self.again(self.learning, columns, ask)

    @cached_property
    def _order(self) -> Any:
        assert self._helpers
        return self._helpers.order(self.nodes, self.signals)

    @cached_property
    def learning(self) -> tuple[BoundStep, ...]:
        """The steps of `engine.flow.dataflow.learning`, bound."""
        nodes = set(learning(self.nodes)) if self.phase is Phase.RETRIEVE else set()
        return tuple(step for step in self.steps if step.node in nodes)

    def _do(self, step: BoundStep, what: Any, learn: bool) -> None:
        """Run one step if its conditions are met, and sum the contributions of which the step makes
        the last.
        """
        store, binding = self.store, step.binding
        if binding.contributions:
            binding.clear()  # before arrays are bound: a store may show fewer rows than before
        if binding.grows and binding.version != store.version:
            binding.bind()
        for column, start in step.starts:
            store.array(column)[...] = column.neutral if start is column else store.array(start)
        if not (
            (step.needs_row and store.array(ROW).item() < 0)
            or (step.needs_recall and not learn)
            or (step.needs_made and not store.structures.get(MADE, ()))
            or (step.needs_budget and store.array(BUDGET).item() < 0)
        ):
            step.function(binding.view, what.cue if step.takes_cue else what)
            if step.archives:
                store.surface()
        for column, first, bindings in step.gathers:
            self._gather(column, first, bindings)

    def _start(self, column: Column) -> Column | None:
        return self.stages.before(column) or (column if column.upkeep.fresh is self.phase else None)

    def _gather(self, column: Column, start: Column | None, bindings: Sequence[Binding]) -> None:
        """Add the contributions in registry order, so that the sum does not depend on the order
        of the calls.
        """
        array = self.store.array(column)
        if start is not None:
            array[...] = column.neutral if start is column else self.store.array(start)
        for binding in bindings:
            part = binding.added.get(column)
            if part is None:
                continue
            if array.shape == ():
                array[()] += part[()]
            else:
                array[: len(part)] += part[: len(array)]
