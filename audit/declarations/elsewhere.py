"""Whether it counts by which clock and in what age events are told, how far ahead of the present some
are dated, and which attributes they have that no mechanism knows.

One life is told twice, by people whose clocks show the same in two parts of the world.  Some events
of it come late, so that rows are not in the order of time, in each life by other hours where no hook
asks when an event happened; some are dated months ahead by clocks that are wrong, in each life by
other ones; all have attributes that mean nothing, others in each.  Where no hook asks when an event
happened, the second life begins before 1970, at a time below 0.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice, product
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...engine.catalogue.registry import Entry, Registry
from ...engine.contract import vocabulary as v
from ...engine.contract.columns import Column, Phase, Scope, Signal
from ...engine.contract.hooks import Mechanism
from ...engine.contract.records import Event, Only, Query
from ...engine.memory.engine import Engine
from ..life import QUESTIONS, START, TOLD, Circumstances, lived
from .lives import ROUNDING, audible, read_by

DAYS: Final = 24.0  # h
# h, offset of the second life's clocks from UTC, so that its days are others; those of the first show UTC
EAST: Final = 14.0
AHEAD: Final = 6721.3  # h, no whole number of days
JUMP: Final = 100 * DAYS  # h, more than any silence of the life
LATEST: Final = 10 * DAYS  # h, more than any event is late
EARLIER: Final = {9: 3.0, 17: 40.0, 29: 6.0, 37: 200.0}  # number of the event -> h that it is late
# numbers of the events that are dated ahead; with 31 a session begins
WRONG_CLOCK: Final = (5, 13, 21, 27, 31, 39)
BEFORE_1970: Final = 2900 * 7 * DAYS  # h before START; whole weeks, so that days of the week stay
FEW_TOLD: Final = 2  # one of so many events is told
# the last event repeats one of a day before the others of its session
LIFE: Final = (*TOLD[1::FEW_TOLD], (0.02, "h", "Bo", TOLD[25][3]))
# what time takes from a memory
STRENGTH: Final = (v.LOG_STRENGTH, v.ACTIVATION)
SMALL: Final = 64  # cells
# an entry has this word in a departure if its mechanism counts days by UTC
UTC: Final = re.compile(r"\bUTC\b")
ASKED: Final = (QUESTIONS[0], QUESTIONS[3], "What did Bo say 31 days ago?")
DIFFERS: Final = (
    "differs by where, in what age, how far ahead or with what unknown attributes events are told"
)


def as_told_elsewhere(
    offset: float, ahead: tuple[float, float], colour: str, late: float = 1.0
) -> Callable[[Event], Event]:
    """What makes the event that is told: by a clock with an offset from UTC, h; with attributes of
    one colour; of WRONG_CLOCK dated ahead by so many hours, every other one by the second number; and
    of EARLIER late by `late` times its hours.
    """

    def told(event: Event) -> Event:
        number = int(event.id[1:]) * FEW_TOLD + 1
        wrong = ahead[WRONG_CLOCK.index(number) % 2] if number in WRONG_CLOCK else 0.0
        return replace(
            event,
            time=event.time + wrong - late * EARLIER.get(number, 0.0),
            offset=offset,
            attributes=tuple(sorted((*event.attributes, ("colour", colour), (colour, "yes")))),
        )

    return told


def wrong_elsewhere(entry: Entry, registry: Registry) -> Iterator[str]:
    """The first of what a mechanism holds, scores or offers otherwise in the second of two lives that differ only
    in the place where they are told, in how far ahead wrong clocks are, and in unknown attributes.
    """
    # a mechanism that counts days by UTC lives both lives with clocks that show UTC
    by_utc = UTC.search(" ".join(d.what for d in entry.departures))
    yield from islice(_differences(entry, registry, 0.0 if by_utc else EAST), 1)


def _differences(entry: Entry, registry: Registry, east: float) -> Iterator[str]:
    loaded = entry.load()
    passing = [c for c in _set_at_events(loaded) if c.scope in (Scope.GLOBAL, Scope.EVENT)]
    on_the_way = list[list[NDArray[np.float64]]]()

    def note(memory: Engine, number: int) -> None:
        if number == 0:
            on_the_way.append([])
        on_the_way[-1] += [_values(memory, column).copy() for column in passing]

    def life(start: float, as_told: Callable[[Event], Event]) -> Engine:
        return lived(
            registry,
            entry.id,
            Circumstances(choices=audible(entry)),
            told=LIFE,
            used={2: QUESTIONS[0], 15: QUESTIONS[3]},
            undated=True,
            start=start,
            as_told=as_told,
            late_hours=LATEST,
            jump_hours=JUMP,
            after=note,
        )

    ahead = (AHEAD, 2.0 * AHEAD)
    once = life(START, as_told_elsewhere(0.0, ahead, "blue"))
    # where no hook asks when an event happened, the others are late by other hours, and in an age
    # whose times are below 0
    asks_when = v.CREATED in read_by(loaded.hooks())
    late, earlier = (1.0, east) if asks_when else (0.5, east + BEFORE_1970)
    other = life(START - earlier, as_told_elsewhere(east, ahead[::-1], "red", late))
    # the date of the others is another one, and may be held
    in_time = np.asarray(once.column(v.CREATED)) - once.now < JUMP
    for place, (first, second) in enumerate(zip(*on_the_way[:2], strict=True)):
        column = passing[place % len(passing)]
        if not _same(column, first, second, earlier):
            yield f"{column.name} {DIFFERS}"
    yield from _wrong_columns(loaded, once, other, in_time, earlier)
    if any(v.GRAPH in declared.adds for declared in loaded.hooks()):
        first, second = (m.store.structures[v.GRAPH].created for m in (once, other))
        if first.shape != second.shape or not np.allclose(first, second + earlier):
            yield f"when a link was made {DIFFERS}"
    strength = [c for c in STRENGTH if any(c in (*h.adds, *h.sets) for h in loaded.hooks())]
    if strength:
        lives = [other]
        if late == 1.0:
            lives.append(life(START, as_told_elsewhere(0.0, ahead, "blue", late=0.5)))
        for column, memory in product(strength, lives):
            if not _same(column, _values(once, column), _values(memory, column), 0.0):
                yield f"{column.name} counts from when an event happened, not from when it was told"
    seen = [c for c in loaded.owns if isinstance(c, Column) and c.scope is Scope.CANDIDATE]
    for text in ASKED:
        question = Query(text, session=TOLD[-1][1])
        answers = [memory.retrieve(question, 20) for memory in (once, other)]
        as_dated = False
        for column in seen:
            first, second = (_values(memory, column) for memory in (once, other))
            same = np.isclose(first, second, rtol=1e-4, atol=ROUNDING, equal_nan=True)
            as_dated |= not same.all()
            if not same[in_time].all():
                yield f"{column.name} {DIFFERS}"
        first_rows, other_rows = (a.rows[in_time[a.rows]].tolist() for a in answers)
        # what scores memories by their dates ranks the others otherwise
        if first_rows != other_rows and not as_dated:
            yield f"the answer to {text!r} {DIFFERS}"
        yield from _wrong_signals_of_filtered(loaded, once, question)
        if once.sources and (said := _offers_differ(entry.id, question, once, other)):
            yield said


def _wrong_signals_of_filtered(
    loaded: type[Mechanism[Any]], memory: Engine, question: Query
) -> Iterator[str]:
    """Signals that are others where the asker leaves out every third event: how a memory matches does
    not depend on which ones may be answered.
    """
    signals = [c for c in loaded.owns if isinstance(c, Signal)]
    if signals:
        memory.retrieve(question)
        plain = [_values(memory, s).copy() for s in signals]
        texts = memory.store.structures[v.TEXTS]
        events = np.flatnonzero(np.asarray(memory.column(v.KIND)) == 0).tolist()
        only = Only(exclude=tuple(texts.event(row).id for row in events[::3]))
        memory.retrieve(replace(question, only=only))
        for s, first in zip(signals, plain, strict=True):
            if not np.allclose(first, _values(memory, s), rtol=1e-4, atol=ROUNDING, equal_nan=True):
                yield f"{s.name} depends on what the asker's filter leaves out"


def _wrong_columns(
    loaded: type[Mechanism[Any]],
    once: Engine,
    other: Engine,
    in_time: NDArray[np.bool_],
    earlier: float,
) -> Iterator[str]:
    """Columns that differ, of memories in those that are not dated ahead; readings of the clock, of
    all.
    """
    for column in loaded.owns:
        if not isinstance(column, Column) or not column.scope.persists:
            continue
        first, second = _values(once, column), _values(other, column)
        if column.scope is Scope.MEMORY and not column.upkeep.clock:
            first, second = first[in_time], second[in_time]
        if not _same(column, first, second, earlier):
            yield f"{column.name} {DIFFERS}"


def _same(
    column: Column, first: NDArray[np.float64], second: NDArray[np.float64], earlier: float
) -> bool:
    """Whether values of two lives are the same; readings of the clock, but for the hours by which the
    second life is earlier.
    """
    if column.upkeep.clock:
        second = np.where(second == float(column.neutral), second, second + earlier)
    return first.shape == second.shape and np.allclose(
        first, second, rtol=1e-5, atol=ROUNDING, equal_nan=True
    )


def _set_at_events(loaded: type[Mechanism[Any]]) -> Iterator[Column]:
    """Small columns that a mechanism sets when an event is told."""
    items = {c for h in loaded.hooks() if h.phase is Phase.ENCODE for c in (*h.adds, *h.sets)}
    for column in sorted((c for c in items if isinstance(c, Column)), key=lambda c: c.name):
        lengths = [n for n in column.shape if isinstance(n, int)]
        if len(lengths) == len(column.shape) and math.prod(lengths) <= SMALL:
            yield column


def _values(memory: Engine, column: Column) -> NDArray[np.float64]:
    return np.array(memory.column(column), np.float64)


def _offers_differ(id: str, question: Query, once: Engine, other: Engine) -> str:
    """What is wrong if a source offers otherwise in one of two memories; "" if nothing is."""
    first, second = (
        [offer for offer in memory.offers(question, 4000)[1] if offer.source == id]
        for memory in (once, other)
    )
    same = [o.row for o in first] == [o.row for o in second] and np.allclose(
        [o.score for o in first], [o.score for o in second], rtol=1e-4, atol=ROUNDING
    )
    return "" if same else f"what is offered for {question.text!r} {DIFFERS}"
