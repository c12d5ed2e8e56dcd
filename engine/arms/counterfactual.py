"""Counterfactuals: which places of an answer change when one mechanism is silenced.

A query is asked again, once for each mechanism, over the same store but with a retrieve plan of its
own, so that neither the memory nor its observer sees these passes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..base.errors import InputError
from ..base.numerics import fitted
from ..contract.ask import Ask
from ..contract.columns import Column, Phase
from ..contract.hooks import Mechanism
from ..contract.records import Query
from ..contract.vocabulary import ANSWERABLE, RECALLED, VISIBLE
from ..flow.dataflow import arrays_of, can_change_an_answer, silence_reaches
from ..flow.passes import StepFunction, undisturbed
from ..flow.schedule import Node
from ..flow.view import Binding
from ..memory.engine import Engine
from ..state.ranking import rank
from .plans import Plan

BEST: Final = 10  # places of an answer that are compared

Rows = NDArray[np.int64]


def ranks_changed(memory: Engine, query: Query | str) -> dict[str, int]:
    """Places among the ten best that differ when a mechanism is silenced, by mechanism id.

    See `Counterfactual`, which makes its plan once for many queries.  Raises InputError.
    """
    return Counterfactual(memory).ranks_changed(query)


class Counterfactual:
    """Asks queries of one memory again with each mechanism silenced in turn.  The state stays bit
    for bit as it is.

    Silenced means: the columns that the mechanism owns or sets are neutral, a stage equals the
    stage before it, and what the mechanism added to other persistent columns is subtracted, as far
    as the memory's observer has seen it added.  Its edges stay, and so does the effect of a gate on
    which events were stored; both show when an ablation leaves the mechanism off.

    Cost: one plan, then for each query one retrieval, and for every mechanism that can change an
    answer those steps of it that its silence reaches (`engine.flow.dataflow.reach`), with a copy of the
    columns that it and they write.  Raises InputError for a memory without an observer.
    """

    def __init__(self, memory: Engine, plan: Plan | None = None) -> None:
        """plan: one of `Variants.plan_for`; its mechanisms are silenced in its answers, instead of
        the memory's own.
        """
        if memory.observer is None or memory.observer.contributions is None:
            raise InputError(
                "this memory has no observer, so what each mechanism added is not known",
                where="counterfactual",
                cure="make it with Engine(..., observer=Observer()) or hebbarium.memory(..., observer=Observer())",
            )
        self._memory, self._given, self._silenced = memory, memory.observer.contributions, ""
        self._plan = memory.assembly.plan(
            Phase.RETRIEVE,
            self._wrap,
            nodes=plan.nodes if plan else None,
            signals=plan.signals if plan else None,
        )
        self._mechanisms, self._last = (
            (plan or memory).mechanisms,
            (plan or memory.assembly).ranking[-1],
        )
        nodes = plan.nodes if plan else memory.assembly.phases[Phase.RETRIEVE]
        self._able = tuple(m for m in self._mechanisms if can_change_an_answer(m, nodes))
        steps = arrays_of(self._plan.nodes, self._plan.signals)
        self._reach = {m.id: silence_reaches(steps, m) for m in self._able}

    def ranks_changed(self, query: Query | str) -> dict[str, int]:
        """Places among the ten best that differ when a mechanism is silenced, by mechanism id.
        Raises InputError.
        """
        changed = dict.fromkeys((m.id for m in self._mechanisms), 0)
        with self._asked(query) as ask:
            whole = self._recalled()
            for m in self._able:
                with self._asked_without(m, ask):
                    changed[m.id] = _places_changed(whole, self._recalled())
        return changed

    def ranks(self, query: Query | str, rows: Sequence[int]) -> dict[str, tuple[int, ...]]:
        """Rank of each of some rows when a mechanism is silenced, by id of every mechanism that can
        change an answer: from 1, ties by row, 0 if the row cannot be retrieved.  Raises InputError.
        """
        ranks, array = dict[str, tuple[int, ...]](), self._memory.store.array
        with self._asked(query) as ask:
            for m in self._able:
                with self._asked_without(m, ask):
                    final, answerable = array(self._last), array(ANSWERABLE)
                    ranks[m.id] = tuple(int(rank(final, answerable, row)) for row in rows)
        return ranks

    @contextmanager
    def _asked(self, query: Query | str) -> Iterator[Ask]:
        """The question, asked with all mechanisms; afterwards no trace of it is left."""
        memory = self._memory
        memory.changes.require("counterfactual")
        ask = memory.answering.asked(query, BEST, whole=True)
        memory.assembly.refresh()
        with undisturbed(memory.store):
            self._plan.run(ask)
            yield ask

    def _recalled(self) -> Rows:
        rows: Rows = self._memory.store.structures[RECALLED]
        return rows

    @contextmanager
    def _asked_without(self, m: Mechanism[Any], ask: Ask) -> Iterator[None]:
        """Columns of the query and the answer as if it was asked with the mechanism silenced;
        afterwards as they were.
        """
        store, reached = self._memory.store, self._reach[m.id]
        kept, recalled = (
            {c: store.array(c).copy() for c in reached.columns},
            store.structures[RECALLED],
        )
        try:
            with self._without(m):
                self._plan.again(reached.of(self._plan.steps), reached.columns, ask)
                yield
            # their former content is not known: ask again, with all mechanisms
            if reached.structures:
                self._plan.again(reached.of(self._plan.steps), reached.columns, ask)
        finally:
            store.structures[RECALLED] = recalled
            for column, values in kept.items():
                store.array(column)[...] = values

    def _wrap(self, node: Node, binding: Binding, function: StepFunction) -> StepFunction:
        def call(view: Any, what: Any) -> None:
            function(view, what)
            if node.owner == self._silenced:
                _silence(node, binding)

        return call

    @contextmanager
    def _without(self, m: Mechanism[Any]) -> Iterator[None]:
        """Persistent columns as if the mechanism had not written them; columns of the query are
        silenced as the mechanism writes them.
        """
        store, hooks = self._memory.store, list(type(m).hooks())
        own = {
            c
            for c in (*m.owns, *(c for h in hooks for c in h.sets))
            if isinstance(c, Column) and c.persists
        }
        given = {
            (h.name, c): self._given.get((m.id, h.name, c))
            for h in hooks
            for c in h.adds
            if isinstance(c, Column) and c.persists and c not in own
        }
        kept = {c: store.array(c).copy() for c in {*own, *(c for _, c in given)}}
        self._silenced = m.id
        try:
            for column in own:
                store.array(column)[...] = column.neutral
            for (_, column), contribution in given.items():
                if contribution is not None:
                    array = store.array(column)
                    array[...] -= fitted(contribution, array)
            if VISIBLE in own:
                store.surface()
            yield
        finally:
            self._silenced = ""
            for column, values in kept.items():
                store.array(column)[...] = values
            if VISIBLE in own:
                store.surface()


def _silence(node: Node, binding: Binding) -> None:
    """Undo what a step wrote to columns of the query."""
    for column in node.sets:
        if isinstance(column, Column) and not column.persists:
            before = binding.stages.before(column)
            binding.store.array(column)[...] = (
                column.neutral if before is None else binding.store.array(before)
            )
    for contribution in binding.contributions.values():
        contribution.fill(0)


def _places_changed(a: Rows, b: Rows) -> int:
    size = min(len(a), len(b))
    return int(np.count_nonzero(a[:size] != b[:size])) + abs(len(a) - len(b))
