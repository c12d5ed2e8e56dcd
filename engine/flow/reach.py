"""Reach: which steps of a pass of RETRIEVE a change can alter, by the declarations of the steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..contract.columns import Before, Column, Structure
from ..contract.vocabulary import MATCH, RECALLED, SIGNALS
from .passes import BoundStep, PhasePlan
from .schedule import Node, Stages


class Touches:
    """What each step of a plan reads and writes, as the arrays that hold it.  Cost: some
    microseconds a step, once for all reaches of the plan.
    """

    def __init__(self, plan: PhasePlan) -> None:
        self.steps = tuple(plan.steps)
        self._of = {step: _touched(step, plan.stages) for step in self.steps}

    def reach(self, changes: Callable[[Node], bool], columns: Iterable[Column] = ()) -> Reach:
        """What is reached if some steps change, or persistent columns do.

        A step is reached if it changes, or reads or writes what is reached; what it writes is
        reached in turn, and so is a column whose value before the pass it reads, since that is gone
        after the pass.
        """
        reached: set[Any] = set(columns)
        found: set[BoundStep] = set()
        while more := {
            s
            for s in self.steps
            if s not in found
            and (changes(s.node) or not reached.isdisjoint(set().union(*self._of[s])))
        }:
            found |= more
            reached |= {c for s in more for c in self._of[s][1]}
        places = tuple(place for place, step in enumerate(self.steps) if step in found)
        written = dict.fromkeys(c for place in places for c in self._of[self.steps[place]][1])
        return Reach(
            self.steps,
            places,
            tuple(c for c in written if isinstance(c, Column) and not c.persists),
            any(isinstance(c, Structure) and c is not RECALLED for c in written),
        )


class Reach:
    """Steps of a plan that a change reaches, and the others.

    places      of those steps in the plan, in order
    steps       those steps; `others`: the rest
    columns     columns of the query and its candidates that are reached
    structures  whether a structure other than the answer is reached: its content before the steps
                is not known after them
    """

    def __init__(
        self,
        steps: tuple[BoundStep, ...],
        places: tuple[int, ...],
        columns: tuple[Column, ...],
        structures: bool,
    ) -> None:
        self.places, self.columns, self.structures = places, columns, structures
        self.steps = tuple(steps[place] for place in places)
        self.others = tuple(step for place, step in enumerate(steps) if place not in set(places))


def rest_of(whole: PhasePlan, fewer: PhasePlan, signals: bool) -> Reach | None:
    """The steps of a plan of fewer mechanisms that are left to run after a pass of the whole plan
    for the same cue; None: all of them.

    signals  whether the plans differ in the signals that a fusion sees

    They are what the steps reach that are missing.  All run if a missing step fills a structure or
    a stage of the ranking, or if the order differs.
    """
    ours = {step.node.label for step in fewer.steps}
    gone = [
        step
        for step in whole.steps
        if step.node.label not in ours and not (step.needs_recall or step.needs_budget)
    ]
    written = dict.fromkeys(c for step in gone for c in (*step.node.sets, *step.node.adds))
    columns = tuple(
        c for c in written if isinstance(c, Column) and not isinstance(c.neutral, Column)
    )
    kept = [step.node.label for step in whole.steps if step.node.label in ours]
    if (
        len(columns) < len(written)
        or kept != [step.node.label for step in fewer.steps]
        or _stages(whole) != _stages(fewer)
    ):
        return None
    found = Touches(fewer).reach(
        lambda node: signals and (SIGNALS in node.sees or MATCH in node.sets), columns
    )
    return (
        None
        if found.structures
        else Reach(
            tuple(fewer.steps),
            found.places,
            tuple(dict.fromkeys((*found.columns, *columns))),
            False,
        )
    )


def _stages(plan: PhasePlan) -> set[Any]:
    return {
        c for c in plan.stages.written if isinstance(c, Column) and isinstance(c.neutral, Column)
    }


def _touched(step: BoundStep, stages: Stages) -> tuple[set[Any], set[Any]]:
    """What a step reads, and what it writes, both as the arrays that hold them; a value before the
    pass counts as written.

    Of a step that runs only if recall may learn or a context is asked for, neither of which is so
    here, columns of the pass alone: its place may be where contributions are summed.
    """
    node = step.node
    if step.needs_recall or step.needs_budget:
        return set(), {
            stages.source(c)
            for c in (*node.sets, *node.adds)
            if isinstance(c, Column) and not c.persists
        }
    signals = {signal for signal, _ in step.binding.signals} if SIGNALS in node.sees else set()
    before = {stages.source(r.of) for r in node.reads if isinstance(r, Before)}
    writes = {
        stages.source(c)
        for c in (*node.sets, *node.adds)
        if not (isinstance(c, Structure) and c.private)
    }
    reads = (
        {stages.source(c) for c in node.sees}
        | {c for c in map(stages.before, (*node.sets, *node.adds)) if c}
        | signals
        | before
    )
    return reads, writes | {c for c in before if not c.persists}
