"""One memory asked as several: with plans of other mechanisms and parameters, each answer bit for
bit that of a memory of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from numpy.typing import NDArray

from ..base.checks import checked_count
from ..base.errors import InputError
from ..base.turns import Serial, serial
from ..contract.ask import Ask
from ..contract.columns import Column
from ..contract.hooks import Mechanism
from ..contract.offers import Offer
from ..contract.records import Query
from ..flow.observer import Stopwatch
from ..flow.passes import Instrument, undisturbed
from ..memory.assembly import Asker
from ..memory.engine import Engine
from ..state.ranking import Answer
from .parameter_arms import ParameterArms
from .plans import Plan, plan_for

Held = dict[Column, NDArray[Any]]


class Variants(Serial):
    """The ways to ask one memory as others.  No call changes the memory, and none of its answers
    can be used for feedback.
    """

    def __init__(self, memory: Engine) -> None:
        super().__init__(memory.turns)
        self.memory, self._parts = memory, memory.assembly
        self._answering = memory.answering

    def _sound(self, doing: str) -> None:
        self.memory.changes.require(doing)

    @serial
    def plan_for(
        self,
        mechanisms: Sequence[Mechanism[Any]],
        observer: Instrument | None = None,
        *,
        fewer: bool = False,
    ) -> Plan:
        """A plan with which the memory is asked as a memory of these mechanisms would be asked,
        bit for bit.

        mechanisms  may differ from the memory's own in those that have no hook outside RETRIEVE,
                    and in weights; columns of mechanisms that the memory does not have stand at
                    neutral
        observer    measures what these mechanisms do in retrieval with this plan
        fewer       the memory may have more mechanisms that decide its life; the plan is right
                    while its `Traces` say so (`engine.arms.traces`)

        Cost: about 0.1 ms for each step.  Raises InputError if such a memory would have lived
        another life: it names the first difference.
        """
        return plan_for(self._parts, mechanisms, observer, fewer)

    @serial
    def retrieve(self, query: Query | str, k: int, plan: Plan) -> Answer:
        """The answer with a plan, of all rows.  Raises InputError."""
        self._present([plan])
        ask = self._answering.asked(query, checked_count(k, "k"), whole=True)
        return self._answered(ask, plan)

    @serial
    def offers(
        self, query: Query | str, max_tokens: int | None, plan: Plan, *, session: str | None = None
    ) -> tuple[Answer, tuple[Offer, ...]]:
        """As `Engine.offers`, with a plan."""
        self._present([plan])
        answer = self._answered(self._answering.for_context(query, max_tokens, session), plan)
        return answer, self._answering.offered(plan)

    @serial
    def parameter_arms(self, plans: Sequence[Plan]) -> ParameterArms:
        """Plans of the same mechanisms with other parameters, for `retrieve_each`.  Raises
        InputError for plans of other mechanisms, and without a plan.
        """
        if not plans:
            raise InputError(
                "there is no plan", where="parameter arms", cure="make plans with `plan_for`"
            )
        self._require(plans)
        watch, parts = Stopwatch(), self._parts
        watch.attach((), parts.clock, parts.embedder, parts.language_model)
        return ParameterArms(plans, watch.seconds)

    @serial
    def retrieve_each(self, query: Query | str, k: int, arms: ParameterArms) -> tuple[Answer, ...]:
        """The answers of `retrieve` with each plan, in order, bit for bit; steps that no parameter
        reaches run once.

        The observers of the plans measure nothing; `arms.ms` holds the times.  Raises InputError.
        """
        self._present(arms.plans)
        unit = cache(self._answering.unit)
        ask = self._answering.asked(query, checked_count(k, "k"), whole=True)
        return tuple(self._answering.of_store(plan, None, unit) for plan in arms.run(ask))

    @serial
    def again(
        self, answer: Answer, plans: Sequence[Plan], columns: Sequence[Column] = ()
    ) -> list[tuple[Answer, Held]]:
        """The answers of `retrieve` with each of some plans to the question of an answer, bit for
        bit, and copies of columns as each leaves them.

        answer   the memory's last one, of all rows, which did not learn
        plans    of `plan_for(..., fewer=True)`
        columns  of the engine; where a plan computes no values of a stage, those of the stage before

        Nothing may have been asked or changed since.  Steps whose outcome cannot differ do not run
        again, and the columns of the question stay bit for bit.  Raises InputError.
        """
        asked, answering = answer.asked, self._answering
        if asked is None or asked.ask is None or asked.learnt or not answering.last(asked):
            raise InputError(
                "nothing was asked of all rows, or the memory was asked or has changed since",
                where="asked again",
                cure="ask first, without learn=True and without a shortlist",
            )
        self._require(plans)
        unit, answers = cache(answering.unit), dict[int, tuple[Answer, Held]]()
        # a whole pass leaves structures, such as the wordings of the query, as its own plan fills
        # them: these come last
        for at in sorted(range(len(plans)), key=lambda at: plans[at].rest is None):
            plan = plans[at]
            with undisturbed(self.memory.store, plan.rest.columns if plan.rest else None):
                if plan.rest:
                    plan.steps.again(plan.rest.of(plan.steps.steps), plan.rest.columns, asked.ask)
                else:
                    plan.steps.run(asked.ask)
                answers[at] = (answering.of_store(plan, None, unit), self._held(columns, plan))
        return [answers[at] for at in range(len(plans))]

    @serial
    def held(self, columns: Iterable[Column]) -> Held:
        """Copies of columns of the engine.  Where no step computes a stage, its copy is one of the
        stage before.

        Columns of candidates are those of the last question that was asked of all rows.
        """
        wanted = list(columns)
        if not self._parts.late.isdisjoint(wanted):
            self._answering.refresh()
        return self._held(wanted, self._parts)

    def _held(self, columns: Sequence[Column], by: Asker) -> Held:
        array = self.memory.store.array
        return {column: array(by.stages.source(column)).copy() for column in columns}

    def _present(self, plans: Sequence[Plan]) -> None:
        """Bring the memory to the present.  Raises InputError unless all plans are of this
        memory.
        """
        self._require(plans)
        self.memory.passing.look()
        self._answering.refresh()

    def _answered(self, ask: Ask, plan: Plan) -> Answer:
        with self._turns.answering():
            plan.run(ask)
        return self._answering.of_store(plan, None, self._answering.unit)

    def _require(self, plans: Sequence[Plan]) -> None:
        """Raises InputError unless all plans are of this memory."""
        if any(plan.memory is not self._parts for plan in plans):
            raise InputError(
                "a plan belongs to another memory",
                where="variants",
                cure="make plans with `plan_for` of the variants of this memory",
            )
