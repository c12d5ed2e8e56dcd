"""Reach: which columns, and whether the answer, can change with what a mechanism writes; and what a
probe measures.

Declarations bound what a hook can do: without a path nothing can move, with one it may.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import Any

from ....engine.contract import vocabulary
from ....engine.contract.columns import Column, Phase
from ....engine.contract.hooks import Mechanism
from ....engine.contract.vocabulary import RECALLED
from ....engine.flow.dataflow import Link, Paths, WrittenItem
from ....engine.flow.schedule import ENGINE, Node
from ....engine.memory.assembly import schedule_of
from ...influence.routes import read_signals
from .base import Probe
from .instruments import Instrument
from .life import Life, Need, Settings
from .run import NotedTexts, Recorder


@dataclass(frozen=True, slots=True)
class ProbeReads:
    """What a probe reads of a memory.

    columns      of the engine
    answers      whether it reads answers
    learns       whether a question of it may change memory
    all          whether it measures the memory as a whole, such as its size
    instruments  that it adds
    """

    columns: frozenset[Column]
    answers: bool
    learns: bool
    all: bool
    instruments: tuple[Instrument, ...] = ()


def measured(probe: Probe) -> ProbeReads:
    """What a probe declares that it reads, and the instruments that it adds, from a run without a
    memory.

    >>> from .collection import own
    >>> wanted = measured(own()["behavioural_tagging/lags"])
    >>> sorted(c.name for c in wanted.columns), wanted.answers, wanted.learns
    (['activation', 'log_strength'], False, False)
    """
    used: list[Instrument] = []

    def make(instruments: Sequence[Instrument], settings: Settings) -> Recorder:
        used.extend(i for i in instruments if i.id not in {u.id for u in used})
        return Recorder({})

    # without a memory behind it a probe may stop early
    with closing(Life(make, NotedTexts({}))) as life, suppress(Exception):
        probe.run(life, 0)
    declared = probe.measures
    return ProbeReads(
        frozenset(
            c
            for c in vars(vocabulary).values()
            if isinstance(c, Column) and c.name in declared.columns
        ),
        declared.answers,
        declared.learns or Need.LEARNING in probe.needs,
        declared.whole,
        tuple(used),
    )


class ProbeReach:
    """What can change with what each mechanism of a set writes, through any number of steps."""

    def __init__(self, mechanisms: Sequence[Mechanism[Any]]) -> None:
        """Raises ContractError if the mechanisms cannot be scheduled together."""
        phases = schedule_of(mechanisms)
        signals = read_signals(mechanisms, phases)
        # a step may read the structures that it writes
        self._paths = Paths(phases, signals, through_structures=True)

    def chain(
        self, id: str, probe: ProbeReads, near: Collection[str] = ()
    ) -> tuple[str, ...] | None:
        """The mechanisms between a mechanism and what a probe measures, on the chain with the
        fewest of them; None if there is no path.

        near  mechanisms that do not count, and are not named

        Cost: O(steps x columns).
        """
        known = {id, ENGINE, *near}

        def between(path: Sequence[Link]) -> tuple[str, ...]:
            return tuple(dict.fromkeys(step.owner for step, _ in path if step.owner not in known))

        def goes_on(last: WrittenItem | None, step: Node, written: WrittenItem) -> bool:
            return last is None or probe.learns or not _follows_the_answer(step)

        for path in self._paths.cheapest(id, goes_on, lambda path: (len(between(path)), len(path))):
            what = path[-1][1].what
            if probe.all or what in probe.columns or (probe.answers and what is RECALLED):
                return between(path)
        return None


def _follows_the_answer(step: Node) -> bool:
    return step.phase is Phase.RETRIEVE and RECALLED in step.sees


def reach_of(mechanisms: Sequence[Mechanism[Any]], probe: ProbeReads) -> ProbeReach:
    """The paths of a set with the instruments of a probe.  Raises ContractError if they cannot
    be scheduled together.
    """
    return ProbeReach([*mechanisms, *probe.instruments])
