"""The upkeep of columns: readings of the clock, numbers of rows, factors along the rows and marks that a
shortlist considers, by the same life told a thousand days later and after two more events, and by
questions to some of its rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...engine.catalogue.registry import Entry, Registry
from ...engine.contract import vocabulary as v
from ...engine.contract.columns import Column, Phase, Scope, Signal
from ...engine.memory.engine import Engine
from ..life import QUESTIONS, START, Circumstances, lived
from .lives import PlainLife, read_by, used_life
from .signals import ALIKE

Values = NDArray[np.float64]
FEW: Final = 4
SHIFT: Final = 1001 * 24.0  # h; whole weeks, so that days of the week stay
TWO_BEFORE: Final = ("Hm.", "Hm.")  # texts that move the rows of a life by two


def wrong_upkeep(entry: Entry, registry: Registry, life: PlainLife | None = None) -> Iterator[str]:
    """Columns that are readings of the clock, numbers of rows or factors along the rows, and are not
    declared so, or the other way round.
    """
    columns = [c for c in entry.load().owns if isinstance(c, Column) and c.persists]
    if not columns:
        return
    read = read_by(h for h in entry.load().hooks() if h.phase is Phase.RETRIEVE)

    life = life or PlainLife(entry, registry)
    another = cache(partial(used_life, registry, entry.id, Circumstances()))
    for column in columns:
        if np.dtype(column.dtype).kind == "f" and _may_read_clock(column, life.used):
            yield from _wrong_clock(column, life.used, another(start=START + SHIFT))
        if _may_number_rows(column) and column in read:
            yield from _wrong_numbers_of_rows(column, life.used, another(first=TWO_BEFORE))
        if column.upkeep.chained and not _is_factor(column):
            yield f"{column.name} is declared chained, and is no factor from 0 to 1 that is 1 by itself"
    factors = [c for c in columns if _is_factor(c) and not c.shape]
    yield from _unchained(entry, registry, factors)
    yield from wrong_considered(entry, life)


def _may_read_clock(column: Column, memory: Engine) -> bool:
    """Whether a column is declared a reading of the clock, or holds numbers as large as one."""
    values = np.asarray(memory.column(column), np.float64)
    return column.upkeep.clock or bool((np.isfinite(values) & (values > START / 2.0)).any())


def _wrong_clock(column: Column, plain: Engine, later: Engine) -> Iterator[str]:
    """What is wrong if a column is not declared a reading of the clock and goes with it, or the
    other way round.

    later  the same life, SHIFT later
    """
    before, after = (np.asarray(m.column(column), np.float64) for m in (plain, later))
    if before.shape != after.shape:
        return
    moved = _moved(before, after, float(column.neutral))
    clock = bool(moved.size and np.allclose(moved, SHIFT, rtol=1e-6))
    if clock != column.upkeep.clock and moved.size:
        yield (
            f"{column.name} is {'' if column.upkeep.clock else 'not '}declared a reading of "
            f"the clock, and {'goes' if clock else 'does not go'} with it"
        )


def _may_number_rows(column: Column) -> bool:
    kind = np.dtype(column.dtype).kind
    return kind in "iu" and column.scope is Scope.MEMORY and column.neutral == -1


def _wrong_numbers_of_rows(column: Column, plain: Engine, grown: Engine) -> Iterator[str]:
    """What is wrong if a column is not declared to hold numbers of rows and grows with the rows
    before, or the other way round.

    grown  the same life after TWO_BEFORE
    """
    before = np.asarray(plain.column(column), np.float64)
    after = np.asarray(grown.column(column), np.float64)[len(TWO_BEFORE) :]
    if after.shape != before.shape:
        return
    moved = (after - before)[(before >= 0.0) | (after >= 0.0)]
    rows = bool(moved.size and np.all(moved == float(len(TWO_BEFORE))))
    if moved.size and rows != (column.upkeep.rows is not None):
        yield (
            f"{column.name} is {'not ' if rows else ''}declared to hold numbers of rows, and "
            f"{'grows' if rows else 'does not grow'} with the rows before"
        )


def wrong_considered(entry: Entry, life: PlainLife) -> Iterator[str]:
    """Columns that say how much few memories are raised, and no others, though they match the
    question little, and that a shortlist is not told to consider; or the other way round.
    """
    hooks = [declared for declared in entry.load().hooks() if declared.phase is Phase.RETRIEVE]
    read = read_by(hooks)
    columns = [c for c in entry.load().owns if isinstance(c, Column) and _may_mark(c)]
    for column in columns:
        if column.upkeep.considered and column not in read:
            yield f"{column.name} is considered, and no question reads it"
        if column.upkeep.considered and any({column, v.MATCH} <= read_by([h]) for h in hooks):
            yield f"{column.name} is considered, and raises memories by those that match"
    columns = [c for c in columns if c in read]
    raising = {
        c
        for declared in hooks
        for c in (*declared.adds, *declared.sets)
        if isinstance(c, Column)
        and c.scope is Scope.CANDIDATE
        and np.dtype(c.dtype).kind == "f"
        and not isinstance(c.neutral, Column)
    }
    if not columns or not raising:
        return
    memory = life.memory
    visible = memory.column(v.VISIBLE).copy()
    raised, unlike = np.zeros(len(visible), np.bool_), False
    for question in (*QUESTIONS, *ALIKE):
        memory.retrieve(question)
        now = np.zeros(len(visible), np.bool_)
        for c in raising:
            least = c.floor if isinstance(c, Signal) else float(c.neutral)
            values = np.array(memory.column(c), np.float64)
            now |= visible & np.isfinite(values) & (values > least)
        match = np.where(visible, memory.column(v.MATCH), -np.inf)
        best = np.argsort(-match, kind="stable")[:FEW]
        unlike |= bool(np.setdiff1d(np.flatnonzero(now), best).size)
        raised |= now
    for column in columns:
        marked = visible & (np.asarray(memory.column(column)) != column.neutral)
        few = 0 < np.count_nonzero(marked) <= len(visible) // FEW
        marks = few and unlike and bool(raised.any()) and not (raised & ~marked).any()
        if column.upkeep.considered and not marks:
            yield (
                f"{column.name} is considered, and its {np.count_nonzero(marked)} of {len(visible)} "
                "memories are not those that are raised"
            )
        if marks and not column.upkeep.considered and np.dtype(column.dtype).kind == "f":
            yield f"{column.name} says how much few memories are raised, and is not considered"


def _may_mark(column: Column) -> bool:
    return column.scope is Scope.MEMORY and column.persists and not column.shape


def _moved(before: Values, after: Values, neutral: float) -> Values:
    """The differences of the cells that are set."""
    given = np.isfinite(before) & np.isfinite(after)
    given &= ~((before == neutral) & (after == neutral))
    return np.asarray((after - before)[given])


def _is_factor(column: Column) -> bool:
    return (
        column.scope is Scope.MEMORY
        and np.dtype(column.dtype).kind == "f"
        and (column.unit, column.neutral, column.low, column.high) == ("1", 1.0, 0, 1)
    )


def _unchained(entry: Entry, registry: Registry, columns: list[Column]) -> Iterator[str]:
    """Columns of factors for which a shortlist is nearer to the whole memory if they were declared
    otherwise.
    """
    signals = [c for c in entry.load().owns if isinstance(c, Signal)]
    if not columns or not signals:
        return
    memory = lived(registry, entry.id, shortlist=64)
    shortlist = memory.assembly.shortlist
    if shortlist is None:
        return
    rows = np.array([row for row in range(memory.store.n) if row % 3 != 1], np.int64)
    whole = []
    for question in QUESTIONS:
        memory.retrieve(question, whole=True)
        whole.append([np.array(memory.column(s), np.float64)[rows] for s in signals])

    def error() -> float:
        """How far the scores of some of the rows are from those of all."""
        off = 0.0
        for question, scores in zip(QUESTIONS, whole, strict=True):
            shortlist.store.show(rows[:1])  # what was gathered before is gathered again
            memory.retrieve(f"{question} ")
            for s, all_scores in zip(signals, scores, strict=True):
                part = np.array(shortlist.store.array(s), np.float64)
                off += float(np.nansum(np.abs(part - all_scores)))
        return off

    # these rows in place of likely ones, in a memory too small for a choice
    shortlist.asks = lambda rows: True  # type: ignore[method-assign]
    shortlist.chosen = lambda cue: (rows, np.ones(len(rows), np.float32))  # type: ignore[method-assign]
    for column in columns:
        declared = column.upkeep
        as_declared = error()
        object.__setattr__(column, "upkeep", replace(declared, chained=not declared.chained))
        try:
            otherwise = error()
        finally:
            object.__setattr__(column, "upkeep", declared)
        if otherwise < as_declared * (1.0 - 1e-3):
            yield (
                f"{column.name} is {'' if declared.chained else 'not '}declared chained, and a "
                f"shortlist is nearer to the whole memory if it {'is not' if declared.chained else 'is'}"
            )
