"""Erasing: which events a user names, what goes with them, and how that is said before and
after.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, Self

from ..base.checks import checked_row
from ..base.counts import plural
from ..base.errors import InputError
from ..contract.records import Event, Only
from ..state.event_log import Erased, EventLog
from ..steps.filter import admits
from ..steps.withholding import QUOTED
from .arguments import checked_only

LISTED: Final = 10  # events that are listed one by one; the others are counted
WHERE: Final = "erase"
NOTHING: Final = Only()


class Erasure(tuple[int, ...]):
    """The rows that an erasure overwrites, ascending, those of texts that the memory made from the
    events included.

    done    whether they have been overwritten; False: `erase(..., confirm=False)` only says what
            would be
    events  how many events
    ids     of these events, those without one left out
    made    how many texts that the memory made go with them

    Its text names the events; that of a finished erasure without what they said.

    >>> Erasure.of((3, 8), [Event(30.0, "We moved.", "Ada", id="e3")], 1)
    would erase 1 event and 1 text that the memory made from it:
      e3, 1970-01-02 06:00, Ada: 'We moved.'
    """

    done: bool
    events: int
    ids: tuple[str, ...]
    made: int
    _lines: tuple[str, ...]

    @classmethod
    def of(cls, rows: Iterable[int], events: Sequence[Event], made: int) -> Self:
        """What would be erased."""
        erasure = cls(rows)
        erasure.done, erasure.events, erasure.made = False, len(events), made
        erasure.ids = tuple(event.id for event in events if event.id)
        erasure._lines = tuple(_line(event) for event in events[:LISTED])
        return erasure

    def finished(self) -> Self:
        """The same rows, overwritten."""
        after = type(self)(self)
        vars(after).update(vars(self), done=True, _lines=())
        return after

    def __repr__(self) -> str:
        head = f"{'erased' if self.done else 'would erase'} {plural(self.events, 'event')}"
        head += (
            f" and {plural(self.made, 'text')} that the memory made from {'it' if self.events == 1 else 'them'}"
            if self.made
            else ""
        )
        more = self.events - len(self._lines)
        lines = [*self._lines, *([f"and {more:,} more"] if more and self._lines else [])]
        return f"{head}:\n" + "\n".join(f"  {line}" for line in lines) if lines else head


def named_events(what: Any, log: EventLog) -> tuple[int, ...]:
    """Numbers of the events that a user names by an id, a row or an `Only`, ascending.  Of a filter
    O(events).

    A filter, and an id that was given again, names events that were not erased before.  At least one
    condition of a filter must be given.  Raises InputError for what names no event.
    """
    if isinstance(what, Only):
        only = checked_only(what, WHERE)
        if only == NOTHING or (only.exclude and only == Only(exclude=only.exclude)):
            raise InputError(
                "the filter has no condition, and so names every event",
                where=WHERE,
                cure="give a condition, such as Only(speakers=('Ada',)); to lose everything, close the memory and remove its file",
            )
        numbers = tuple(
            n for n, event in enumerate(log.events) if admits(only, event) and not log.is_stub(n)
        )
        if not numbers:
            raise InputError(
                "no event meets the conditions of the filter",
                where=WHERE,
                cure=f"look at {only} and at memory.events",
            )
        return numbers
    if isinstance(what, str):
        numbers = log.numbers(what) if what else ()
        if not numbers:
            raise InputError(
                f"no event has the id {what!r}",
                where=WHERE,
                cure="give the id of an event that was given to `encode`, its row, or an Only",
            )
        return tuple(n for n in numbers if not log.is_stub(n)) or numbers
    try:
        row = checked_row(what, len(log.rows))
    except InputError as error:
        raise InputError(
            f"{what!r} is no id, no row and no Only", where=WHERE, cure=error.cure
        ) from None
    if log.rows[row] < 0:
        ids = ", ".join(log.ids(log.origins(row))) or f"rows {list(log.origins(row))}"
        raise InputError(
            f"row {row} is a text that the memory made from {ids}",
            where=WHERE,
            cure="erase the events, and it goes with them",
        )
    return (log.rows[row],)


def going(what: Any, confirm: Any, log: EventLog) -> tuple[Erased, Erasure]:
    """What an erasure overwrites, and what is said of it before.  Raises InputError unless
    `confirm` says whether to erase.
    """
    if confirm is not None and not isinstance(confirm, bool):
        raise InputError(
            f"confirm is {confirm!r}",
            where=WHERE,
            cure="give True to erase, or False to see what would be erased",
        )
    erased = overwritten(named_events(what, log), log)
    events = [log.events[number] for number in erased.events]
    said = Erasure.of(erased.rows, events, len(erased.writings))
    if confirm is None:
        raise InputError(
            f"erasing loses texts for good: {said}",
            where=WHERE,
            cure="call erase(..., confirm=True); archive(row) hides a memory and keeps its text",
        )
    return erased, said


def overwritten(numbers: Sequence[int], log: EventLog) -> Erased:
    """What goes with some events: their rows, the texts that were made from them or quote one of at
    least QUOTED characters, and the rows of these.

    O(all texts).
    """
    told = {row for n in numbers if (row := log.row_of[n]) >= 0}
    said = [text for n in numbers if len(text := log.events[n].text.strip()) >= QUOTED]
    writings = {
        *log.written_from(told),
        *(n for n, w in enumerate(log.writings) if any(text in w.text for text in said)),
    }
    rows = {*told, *(row for row in log.made if ~log.rows[row] in writings)}
    return Erased(tuple(numbers), tuple(sorted(rows)), tuple(sorted(writings)))


def _line(event: Event) -> str:
    return (
        f"{event.id}, {repr(event)[len('<Event ') : -1]}"
        if event.id
        else repr(event)[len("<Event ") : -1]
    )
