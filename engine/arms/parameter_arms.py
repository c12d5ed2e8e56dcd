"""Arms that differ in parameters alone: one memory answers a query for all of them, and runs once
what they have in common.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict

from ..base.errors import InputError
from ..contract.ask import Ask
from ..flow.dataflow import Reach, arrays_of, reach, weighs_signals
from ..flow.lives import WEIGHT
from .plans import Plan


class ParameterArms:
    """Plans that ask one memory the same queries, with the same mechanisms and other parameters.

    A step runs once for all plans unless a parameter reaches the step: its mechanism has other
    parameters, the weights of signals differ and the step reads them or computes MATCH, or the step
    touches what such a step writes (`engine.flow.dataflow.reach`).  Answers equal those of each
    plan alone bit for bit, as a hook keeps nothing from one query to the next, and reads of its own
    `weight` only whether it is 0.

    plans  at least one plan; all ask the same memory
    ms     of the last query, by plan: the time of all steps that the plan needed, shared steps
           included, without the time of the models

    Raises InputError for plans with other steps.
    """

    def __init__(self, plans: Sequence[Plan], seconds: Callable[[], float]) -> None:
        """seconds: a clock that stands still while the memory waits for a model."""
        self.plans, self.ms, self._seconds = tuple(plans), [0.0] * len(plans), seconds
        labels = [node.label for node in self.plans[0].nodes]
        if any([node.label for node in plan.nodes] != labels for plan in self.plans):
            raise InputError(
                "the plans have other steps",
                where="parameter arms",
                cure="give plans of the same mechanisms; ask the others alone",
            )
        self._reach = self._reached()

    @property
    def shared(self) -> int:
        """How many steps run once for all plans."""
        return len(self.plans[0].nodes) - len(self._reach.places) if self._reach else 0

    def run(self, ask: Ask) -> Iterator[Plan]:
        """Ask a query with each plan in turn; when a plan is yielded, the store holds its
        answer.
        """
        start, reached = self._seconds(), self._reach
        if reached:
            steps = self.plans[0].steps
            steps.run(ask, only=reached.others(steps.steps))
        common = self._seconds() - start
        for place, plan in enumerate(self.plans):
            start = self._seconds()
            if reached:
                plan.steps.again(
                    reached.of(plan.steps.steps), reached.columns if place else (), ask
                )
            else:
                plan.steps.run(ask)
            self.ms[place] = (common + self._seconds() - start) * 1e3
            yield plan

    def _reached(self) -> Reach | None:
        """What the parameters reach; None where each plan runs whole: there is one, or a
        structure that several would fill is reached.
        """
        if len(self.plans) == 1:
            return None
        first = self.plans[0]
        params = [
            {
                m.id: {
                    name: bool(value) if name == WEIGHT else value
                    for name, value in asdict(m.params).items()
                }
                for m in plan.mechanisms
            }
            for plan in self.plans
        ]
        odd = {id for values in params[1:] for id in values if values[id] != params[0][id]}
        weights = any(list(plan.signals) != list(first.signals) for plan in self.plans[1:])
        reached = reach(
            arrays_of(first.nodes, first.steps.signals),
            lambda node: node.owner in odd or (weights and weighs_signals(node)),
        )
        return None if reached.structures else reached
