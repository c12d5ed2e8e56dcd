"""Traces: which steps of a life have left anything that another step can read, so that the life
without them is the same life.

A mechanism may decide a life by its declarations (`engine.flow.lives`) and leave no trace in this
one: no gate rejected anything, no sleep came, or what its hooks wrote is read by its own hooks
alone.  A memory without it would then have lived the same life, bit for bit, and is asked by a plan
that lacks its steps (`Variants.plan_for`).  If a question changes memory, the lives stay the same as
long as the answer, and what else the memory learns from, is the same without the mechanism
(`learnt_from`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from numpy.typing import NDArray

from ..contract.columns import Column, Phase, Structure
from ..contract.hooks import Mechanism, Touched
from ..contract.vocabulary import DRAFTS, GRAPH, WRITINGS
from ..flow import dataflow
from ..flow.observer import Stopwatch
from ..flow.passes import PhasePlan, StepFunction
from ..flow.schedule import ENGINE, Node
from ..flow.view import Binding
from ..state.store import Cells
from .plans import Plan


class Traces(Stopwatch):
    """An instrument that notes which of the steps that change memory, those outside RETRIEVE and
    those that see RECALLED, have left a trace.

    left  labels of steps that have changed what is not theirs alone: a value that they set differs
          from the one before, a contribution is not 0, a structure differs or cannot be compared.
          What a mechanism owns and no other mechanism touches is its alone, and so is its random
          stream

    Cost: a copy of each column that such a step sets, until it leaves a trace.
    """

    def __init__(self, mechanisms: Iterable[Mechanism[Any]]) -> None:
        """mechanisms: of the memory, instruments of an experiment included."""
        super().__init__()
        self.left: set[str] = set()
        touching: dict[Touched, set[str]] = defaultdict(set)
        self._owned: dict[str, frozenset[Touched]] = {}
        for m in mechanisms:
            self._owned[m.id] = frozenset(m.owns)
            for hook in type(m).hooks():
                for item in dataflow.touched_by(hook):
                    touching[item].add(m.id)
        self._touching = touching

    def wrap(self, node: Node, binding: Binding, function: StepFunction) -> StepFunction:
        """The step, watched until it leaves a trace; a step that can leave no trace is returned as
        it is.
        """
        watched = [item for item in node.writes if not self._alone(node.owner, item)]
        if not watched or (node.phase is Phase.RETRIEVE and not node.learns):
            return function
        columns = [c for c in watched if isinstance(c, Column) and c in node.sets]
        added = [c for c in watched if isinstance(c, Column) and c in node.adds]
        marks = [_mark(s) for s in watched if isinstance(s, Structure)]
        store, left = binding.store, self.left

        def call(view: Any, what: Any) -> None:
            if node.label in left:
                function(view, what)
                return
            before = [store.array(c).copy() for c in columns]
            marked = [mark(store) for mark in marks]
            function(view, what)
            if (
                any(not _equal(old, store.array(c)) for c, old in zip(columns, before, strict=True))
                or any(binding.contributions[c].any() for c in added)
                or any(mark(store) != old for mark, old in zip(marks, marked, strict=True))
            ):
                left.add(node.label)

        return call

    def lived(self, plan: Plan) -> bool:
        """Whether a memory of the plan's mechanisms would have lived this life so far."""
        return self.left.isdisjoint(plan.lacks)

    def _alone(self, owner: str, item: Touched) -> bool:
        """Whether only the owner of a step, or no step at all once this one is gone, can read
        the item.
        """
        if isinstance(item, Structure) and (item.private or item.steps):
            return True  # steps that fill a structure are there because a hook reads it
        return owner != ENGINE and item in self._owned[owner] and self._touching[item] <= {owner}


def learnt_from(whole: PhasePlan, plan: Plan) -> frozenset[Column] | None:
    """Columns of the query that a memory learns from, besides the answer; None if a memory of the
    plan would not learn by the same steps.

    Two memories with equal states, answers and values of these columns are equal after the
    question, but for what the plan lacks.
    """
    ours = [step.node.label for step in plan.steps.learning]
    labels = {node.label for node in plan.nodes}
    if not ours or ours != [n.label for n in dataflow.learning(whole.nodes) if n.label in labels]:
        return None
    return dataflow.learnt_from(whole.nodes)


def _mark(structure: Structure) -> Callable[[Cells], Any]:
    """What differs once a hook has changed a structure; a new object where that cannot be told."""
    if structure is GRAPH:
        return lambda store: store.graph.mark()
    if structure in (DRAFTS, WRITINGS):
        return lambda store: len(store.structures[structure])
    return lambda store: object()


def _equal(one: NDArray[Any], other: NDArray[Any]) -> bool:
    return one.shape == other.shape and one.tobytes() == other.tobytes()
