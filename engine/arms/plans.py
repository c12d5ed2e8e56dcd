"""Plans: ways to ask one memory as memories of other mechanisms, which would have lived the same
life.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from ..base.errors import InputError
from ..contract.columns import Column, Phase, Signal
from ..contract.hooks import Mechanism
from ..contract.vocabulary import RECALLED, RELEASED
from ..flow.dataflow import Reach, rest_of
from ..flow.lives import differing, life_of
from ..flow.passes import Instrument, PhasePlan
from ..flow.schedule import Node, Stages
from ..memory.assembly import Assembly, in_order, owned_columns, provided, weighted_signals

WHERE = "plan_for"


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """A way to ask one memory: the steps of RETRIEVE for some mechanisms, over the memory's own
    columns.

    mechanisms  in registry order
    nodes       the steps in order
    signals     each with its weight
    stages      which array holds each stage of the ranking
    ranking     the stages that some step computes, in order; the scores of the last decide the
                answer
    run         runs it for an `Ask`, and lets its observer measure it
    steps       the bound steps that `run` runs
    memory      the parts of the memory that it asks
    lacks       labels of steps that change memory, which the memory has and a memory of these
                mechanisms would not have, see `engine.arms.traces`
    rest        what is left to run after the memory's own pass for the same cue, see
                `engine.flow.dataflow.rest_of`; None: the whole pass
    """

    mechanisms: tuple[Mechanism[Any], ...]
    nodes: tuple[Node, ...]
    signals: Sequence[tuple[Signal, float]]
    stages: Stages
    ranking: tuple[Column, ...]
    run: Callable[..., None]
    steps: PhasePlan
    memory: Assembly
    lacks: frozenset[str] = frozenset()
    rest: Reach | None = None


def plan_for(
    memory: Assembly,
    mechanisms: Sequence[Mechanism[Any]],
    instrument: Instrument | None = None,
    fewer: bool = False,
) -> Plan:
    """A plan of RETRIEVE for mechanisms under which a memory would have lived the same life without
    learning from recall.

    fewer  mechanisms of the memory may be missing that decide its life: the steps that the plan
           `lacks` must have left no trace (`engine.arms.traces`)

    Columns that the memory does not hold yet are held as guests.  Raises InputError for mechanisms
    of another life, ContractError.
    """
    ours, limited = in_order(mechanisms), memory.capacity is not None
    ids = {m.id for m in ours}
    kept = tuple(m for m in memory.mechanisms if not fewer or m.id in ids)
    if kept != ours:
        lives = (life_of(chosen, limited=limited) for chosen in (kept, ours))
        _require_same(differing(*lives))
    memory.store.receive(
        owned_columns(ours, memory.embedder.dimensions),
        {s: s.create() for s in provided(ours) if s.create},
    )
    signals = weighted_signals(ours)
    phases = memory.phases_of(ours, signals)
    labels = {n.label for nodes in phases.values() for n in nodes}
    lacks = frozenset(
        n.label
        for p, nodes in memory.phases.items()
        for n in nodes
        if fewer and n.label not in labels and (p is not Phase.RETRIEVE or RECALLED in n.sees)
    )
    lived = {p: [n for n in nodes if n.label not in lacks] for p, nodes in memory.phases.items()}
    _require_same(_first_odd(lived, phases))
    if lacks and memory.phases[Phase.CONSOLIDATE] and not phases[Phase.CONSOLIDATE]:
        _require_same("it would not sleep")
    if instrument:
        instrument.attach(
            [m.id for m in ours], memory.clock, memory.embedder, memory.language_model
        )
    nodes = phases[Phase.RETRIEVE]
    wrap = instrument.wrap if instrument else None
    steps = memory.plan(Phase.RETRIEVE, wrap, nodes=nodes, signals=signals)
    whole = memory.plans[Phase.RETRIEVE]
    return Plan(
        ours,
        nodes,
        signals,
        steps.stages,
        steps.stages.up_to(RELEASED),
        instrument.timed(Phase.RETRIEVE, steps.run) if instrument else steps.run,
        steps,
        memory,
        lacks,
        rest_of(whole.nodes, nodes, steps.signals, signals != memory.signals) if fewer else None,
    )


def _require_same(difference: str) -> None:
    """Raises InputError unless the difference between two lives, in words, is ""."""
    if difference:
        raise InputError(
            f"the memory would have lived another life: {difference}",
            where=WHERE,
            cure="make a memory of these mechanisms",
        )


def _first_odd(ours: Mapping[Phase, Sequence[Node]], theirs: Mapping[Phase, Sequence[Node]]) -> str:
    """The first step outside RETRIEVE that only one of two schedules has, or that has another
    place in it; "" if there is none.
    """
    for phase in ours:
        if phase is not Phase.RETRIEVE:
            for own, other in zip_longest(
                (n.label for n in ours[phase]), (n.label for n in theirs[phase])
            ):
                if own != other:
                    return (
                        f"{phase.value} has the step {own or other}"
                        if not (own and other)
                        else f"{phase.value} has {own} there and {other} here"
                    )
    return ""
