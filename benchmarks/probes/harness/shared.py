"""Cells that share a life: a set lives a probe once, and the sets that lack one of its mechanisms
ask their questions of that life.

A memory without a mechanism has lived the same life, bit for bit, if what the mechanism did outside
RETRIEVE left no trace (`engine.arms.traces`).  While the full set lives the probe, each question is
also asked with the plan of every such memory, and all that the probe sees is recorded.  Then the
probe runs once for each of these memories, over the record with its answers.  If it does anything
else, it has diverged, and is run alone.  So is a memory that would learn something else from a
question.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from ....engine.arms.traces import Traces, learnt_from
from ....engine.arms.variants import Variants
from ....engine.base.errors import InputError
from ....engine.contract.columns import Column, Phase, Scope
from ....engine.contract.hooks import Mechanism
from ....engine.contract.records import Event, Query
from ....engine.contract.vocabulary import ENGINE_COLUMNS
from ....engine.flow.observer import Stopwatch
from ...systems.base import Retrieved, System
from ...systems.hebbarium import Asking, Hebbarium, asked_again
from .instruments import Instrument
from .life import Life, Need, Settings

if TYPE_CHECKING:
    from ....engine.memory.engine import Engine
    from ....engine.ports.embedder import Embedder

PASSING = tuple(c for c in ENGINE_COLUMNS if c.scope is Scope.EVENT)
Builder = Callable[[Sequence[Instrument], Settings], Sequence[Mechanism[Any]]]


class Diverged(Exception):
    """The record of another memory's life does not answer for this one."""


@dataclass(frozen=True, slots=True)
class _Answered:
    """What a memory answers, and its columns of the query."""

    answer: Retrieved
    passing: Mapping[Column, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class _Step:
    """One thing that a probe does with a life.

    what    comparable: equal for the same thing
    result  what it gave
    of      by arm: what it would have given
    """

    what: tuple[Any, ...]
    result: Any = None
    of: Mapping[str, _Answered] = field(default_factory=dict)


class Arms:
    """Memories that lack mechanisms of another one, and may have lived its life.

    lacking  by arm: ids of mechanisms
    lacks    by arm and instruments: labels of the steps outside RETRIEVE that it lacks
    sharing  those of which nothing has shown yet that they have not lived it
    """

    def __init__(self, lacking: Mapping[str, frozenset[str]]) -> None:
        self.lacking, self.lacks, self.sharing = (
            lacking,
            dict[tuple[str, ...], frozenset[str]](),
            dict.fromkeys(lacking),
        )


class Recorded(Life):
    """A life that is recorded, with what each arm would have answered.

    traces  of its memory; None before it is made
    steps   all that the probe did with it, in order
    """

    def __init__(
        self,
        builder: Builder,
        arms: Arms,
        embedder: Embedder,
        seed: int,
        instruments: Sequence[Instrument] = (),
        parent: Recorded | None = None,
        settings: Settings | None = None,
    ) -> None:
        super().__init__(self._new, embedder, instruments, parent, settings)
        self._builder, self._seed, self.arms = builder, seed, arms
        self.traces: Traces | None = None
        self._mechanisms: tuple[Mechanism[Any], ...] = ()
        self.steps: list[_Step] = []
        self._askings: dict[str, Asking] = {}

    @property
    def lives(self) -> Sequence[Recorded]:
        """All lives of the experiment, in order."""
        return [life for life in self._lives if isinstance(life, Recorded)]

    def _another(self, instruments: Sequence[Instrument], settings: Settings | None) -> Recorded:
        return Recorded(
            self._builder, self.arms, self.embedder, self._seed, instruments, self, settings
        )

    def _new(self, instruments: Sequence[Instrument], settings: Settings) -> System:
        mechanisms = tuple(self._builder(instruments, settings))
        self._mechanisms, self.traces = mechanisms, Traces(mechanisms)
        return Hebbarium(mechanisms, self.embedder, self._seed, self.traces)

    # --- what a probe does ------------------------------------------------------------------------
    def _present(self) -> None:
        self.steps.append(_Step(("present", tuple(self._waiting), self.now)))
        super()._present()

    def _asked(self, query: Query, k: int, learn: bool) -> Retrieved:
        answer = super()._asked(query, k, False)
        answers = self._answers(answer, learn)
        self.steps.append(_Step(("ask", query, k, learn), of=answers))
        return super()._asked(query, k, True) if learn else answer

    def _value(self, column: Column) -> NDArray[Any]:
        value = super()._value(column)
        self.steps.append(_Step(("value", column.name), value.copy()))
        return value

    def _rows(self, ids: Sequence[str]) -> list[int]:
        rows = super()._rows(ids)
        self.steps.append(_Step(("rows", tuple(ids)), rows))
        return rows

    def _end_of_sleep(self) -> float:
        end = super()._end_of_sleep()
        self.steps.append(_Step(("sleep",), end))
        return end

    def _archive(self, id: str) -> None:
        super()._archive(id)
        self.steps.append(_Step(("archive", id)))

    # --- arms -------------------------------------------------------------------------------------
    def _answers(self, retrieved: Retrieved, learn: bool) -> dict[str, _Answered]:
        """What each arm that has lived this life so far answers to the last question; if it
        learns, of those that learn the same.
        """
        engine = self.engine
        assert engine is not None
        arms = {arm: self._asking(arm) for arm in list(self.arms.sharing) if self.shares(arm)}
        learnt: dict[str, frozenset[Column] | None] = {}
        if learn:
            whole = engine.assembly.plans[Phase.RETRIEVE]
            learnt = {arm: learnt_from(whole, asking.plan) for arm, asking in arms.items()}
        columns = tuple(
            dict.fromkeys(
                (*PASSING, *(c for columns_of in learnt.values() for c in columns_of or ()))
            )
        )
        mine, answers = Variants(engine).held(columns), {}
        for arm, (theirs, values) in zip(
            arms, asked_again(retrieved, list(arms.values()), columns), strict=True
        ):
            if learn:
                same = learnt[arm]
                if (
                    same is None
                    or not _same_rows(retrieved, theirs)
                    or any(values[c].tobytes() != mine[c].tobytes() for c in same)
                ):
                    del self.arms.sharing[arm]
                    continue
            # without the scores of all memories, which no probe reads: a record holds thousands of
            # answers
            answers[arm] = _Answered(Retrieved(theirs.events), {c: values[c] for c in PASSING})
        return answers

    def shares(self, arm: str) -> bool:
        """Whether an arm has lived this life so far; one that has not shares nothing from then
        on.
        """
        if arm not in self.arms.sharing:
            return False
        if self._made is None:
            return True
        assert self.traces is not None
        if not self.traces.left.isdisjoint(self._lacks(arm)):
            del self.arms.sharing[arm]
        return arm in self.arms.sharing

    def _lacks(self, arm: str) -> frozenset[str]:
        """Labels of the steps that the memory of an arm would not have; all that left a trace if
        such a memory would differ by its declarations.
        """
        key = arm, *(i.id for i in self._instruments)
        assert self.traces is not None
        if key not in self.arms.lacks:
            if left := {
                label
                for label in self.traces.left
                if label.partition(".")[0] in self.arms.lacking[arm]
            }:
                return frozenset(left)
            try:
                self.arms.lacks[key] = self._asking(arm).plan.lacks
            except InputError:
                self.arms.sharing.pop(arm, None)
                return frozenset()
        return self.arms.lacks[key]

    def _asking(self, arm: str) -> Asking:
        if arm not in self._askings:
            system: Any = self.system
            mechanisms = [m for m in self._mechanisms if m.id not in self.arms.lacking[arm]]
            self._askings[arm] = Asking(
                system, system.engine.observer, mechanisms, Stopwatch(), fewer=True
            )
        return self._askings[arm]


class Replayed(Life):
    """A life as the memory of an arm would have lived it, from the record of another."""

    def __init__(
        self,
        recorded: Recorded,
        arm: str,
        instruments: Sequence[Instrument] = (),
        parent: Replayed | None = None,
        settings: Settings | None = None,
    ) -> None:
        super().__init__(_no_memory, recorded.embedder, instruments, parent, settings)
        if self.kind != recorded.kind:
            raise Diverged("another memory was made")
        self._recorded, self._arm, self._at = recorded, arm, 0
        # of its last question, if nothing was encoded since
        self._passing: Mapping[Column, NDArray[Any]] | None = None
        self._learnt = False  # from that question

    @property
    def system(self) -> System:
        raise Diverged("it has no memory of its own")

    @property
    def engine(self) -> Engine | None:
        raise Diverged("it has no memory of its own")

    def lacks(self, needs: Any) -> list[Need]:
        return []

    def admitted(self) -> tuple[int, int]:
        """As of the memory that lived.  Raises Diverged if not all of the record was lived
        again, or the arm has not lived that life.
        """
        mine, theirs = self._lives, self._recorded.lives
        if len(mine) != len(theirs) or any(
            isinstance(m, Replayed) and m._at != len(r.steps)
            for m, r in zip(mine, theirs, strict=True)
        ):
            raise Diverged("it ended early")
        if not all(life.shares(self._arm) for life in theirs):
            raise Diverged("the mechanism left a trace")
        return self._recorded.admitted()

    def _another(self, instruments: Sequence[Instrument], settings: Settings | None) -> Replayed:
        lives = self._recorded.lives
        if len(self._lives) >= len(lives):
            raise Diverged("another memory was made")
        return Replayed(lives[len(self._lives)], self._arm, instruments, self, settings)

    def _present(self) -> None:
        events: tuple[Event, ...] = tuple(self._waiting)
        self._next("present", events, self.now)
        self._waiting = []
        if events:
            self._passing = None

    def _asked(self, query: Query, k: int, learn: bool) -> Retrieved:
        answered = self._next("ask", query, k, learn).of.get(self._arm)
        if answered is None:
            raise Diverged("the mechanism left a trace, or the memory learns something else")
        self._passing, self._learnt = answered.passing, learn
        return answered.answer

    def _value(self, column: Column) -> NDArray[Any]:
        values: NDArray[Any] = self._next("value", column.name).result
        if column.scope is Scope.CANDIDATE:
            raise Diverged(f"{column.name} is a column of the query")
        if self._passing and column in self._passing and self._learnt:
            raise Diverged(f"{column.name} may have changed with what the question taught")
        return self._passing[column] if self._passing and column in self._passing else values

    def _rows(self, ids: Sequence[str]) -> list[int]:
        return list(self._next("rows", tuple(ids)).result)

    def _end_of_sleep(self) -> float:
        return float(self._next("sleep").result)

    def _archive(self, id: str) -> None:
        self._next("archive", id)

    def _next(self, *what: Any) -> _Step:
        steps = self._recorded.steps
        if self._at >= len(steps) or steps[self._at].what != what:
            raise Diverged(f"{what[0]} was not next")
        self._at += 1
        return steps[self._at - 1]


def _same_rows(one: Any, other: Any) -> bool:
    return bool(one.answer.rows.tolist() == other.answer.rows.tolist())


def _no_memory(*_: Any) -> System:
    raise Diverged("it has no memory of its own")
