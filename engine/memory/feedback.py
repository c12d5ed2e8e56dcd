"""Feedback on an answer: the rows that were needed, checked against the memory that is told."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from numbers import Real
from typing import Any

import numpy as np

from ..base.checks import checked_row
from ..base.errors import InputError, nearest
from ..base.numerics import read_only
from ..contract.vocabulary import CREATED
from ..state.event_log import EventLog
from ..state.ranking import Answer, Asked, Rows
from ..state.store import Store


def asked_of(answer: Any) -> Asked:
    """Where the answer comes from.  Raises InputError if it is no answer of a memory, or if the
    memory has learnt from it.
    """
    if not isinstance(answer, Answer) or answer.asked is None:
        raise InputError(
            f"{type(answer).__name__} is no answer of a memory",
            where="use",
            cure="give what `memory.retrieve` returned",
        )
    if answer.asked.learnt:
        raise InputError(
            "the memory has already learnt from this answer",
            where=place(answer.asked),
            cure="name all rows that were needed in one call; retrieve again, without learn=True, for another use",
        )
    return answer.asked


def place(asked: Asked) -> str:
    """Where an error of feedback lies."""
    return f"use of the answer to {asked.query.id or asked.query.text[:40]!r}"


def checked_outcome(outcome: Any, where: str) -> float:
    """The outcome as a plain float; NaN for None.  Raises InputError outside [-1, 1]."""
    if outcome is None:
        return math.nan
    sound = isinstance(outcome, Real) and not isinstance(outcome, bool)
    if not sound or not -1.0 <= float(outcome) <= 1.0:
        raise InputError(
            f"the outcome is {outcome!r}",
            where=where,
            cure="give a number from -1, bad, to 1, good, or None if it is not known",
        )
    return float(outcome)


def needed_rows(
    answer: Answer,
    asked: Asked,
    rows_or_ids: Any,
    life: object,
    log: EventLog,
    store: Store,
    erased: Callable[[int], bool],
) -> tuple[Rows, bool]:
    """The rows that were needed, best first in the answer and each once, without erased ones; and
    whether any rows were left out as erased.

    An answer of another life of the memory, see `Asked`, must hold the same rows as the memory does
    now.  Rows that were archived stay. Cost: O(rows); of an answer of another life O(its rows).
    Raises InputError.
    """
    where = place(asked)
    if asked.life is not life:
        _require_same(answer, where, log, store, erased)
    needed = sorted(
        set(_rows(answer, rows_or_ids, where, log)), key=lambda row: _order(answer, row)
    )
    kept = [row for row in needed if not erased(row)]
    return read_only(np.array(kept, dtype=np.int64)), len(kept) < len(needed)


def _order(answer: Answer, row: int) -> tuple[bool, float, int]:
    """Best first, ties by row; rows that could not be answered last."""
    score = float(answer.final[row])
    silent = not answer.answerable[row] or math.isnan(score)
    return silent, 0.0 if silent else -score, row


def _rows(answer: Answer, given: Any, where: str, log: EventLog) -> Iterator[int]:
    several = (
        isinstance(given, Collection)
        and not isinstance(given, str | bytes)
        and getattr(given, "ndim", 1) != 0
    )
    for row_or_id in given if several else (given,):
        if isinstance(row_or_id, str):
            yield from _rows_of_id(answer, row_or_id, where, log)
            continue
        try:
            yield checked_row(row_or_id, answer.standing.size)
        except InputError as error:
            raise InputError(
                f"{row_or_id!r} is no row that the memory held when it answered",
                where=where,
                cure=f"{error.cure}, or the id of an event",
            ) from None


def _rows_of_id(answer: Answer, id: str, where: str, log: EventLog) -> list[int]:
    """The answered rows that show the event; if none does, the rows of the event."""
    shown = [unit.row for unit in answer.units if id and id in unit.events]
    rows = shown or [row for row in log.rows_of(id) if row < answer.standing.size]
    if not rows:
        why = "was not stored before the answer" if log.numbers(id) else "is unknown"
        known = [unit.id for unit in answer.units if unit.id]
        raise InputError(
            f"the event {id!r} {why}",
            where=where,
            cure=nearest(id, known) if known else "give the id of a stored event, or a row",
        )
    return rows


def _require_same(
    answer: Answer, where: str, log: EventLog, store: Store, erased: Callable[[int], bool]
) -> None:
    """Raises InputError if the memory does not hold what the answer shows."""
    rows = [unit.row for unit in answer.units]
    same = answer.standing.size <= store.n and all(
        float(store.array(CREATED)[unit.row]) == unit.time
        and log.kind(unit.row) is unit.kind
        and (log.text(unit.row) == unit.text or erased(unit.row))
        for unit in answer.units
    )
    if not same:
        raise InputError(
            f"this memory does not hold the rows {rows} of the answer, or holds other texts there",
            where=where,
            cure="give the answer to the memory that it came from, or to a snapshot of it that is not older",
        )
