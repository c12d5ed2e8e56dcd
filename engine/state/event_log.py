"""The event log: every event verbatim, stored or not, with the names of sessions and speakers;
and which rows hold a writing instead of an event.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..base.errors import InputError
from ..contract.drafts import Kind
from ..contract.records import Event
from ..contract.writings import Writing, Writings

# characters that date and marks add to the text, speaker and caption of an event when it is written
# out, at most
AROUND: Final = 64


class Names:
    """Names numbered in order of first appearance."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._names: list[str] = []

    def number(self, name: str) -> int:
        known = self._numbers.get(name)
        if known is None:
            known = self._numbers[name] = len(self._names)
            self._names.append(name)
        return known

    def name(self, number: int) -> str:
        """The name of a number; "" for -1."""
        return self._names[number] if number >= 0 else ""

    def known(self, name: str) -> int | None:
        return self._numbers.get(name)

    def due(self, name: str) -> int:
        """The number that the name has, or would get; changes nothing."""
        return self._numbers.get(name, len(self._numbers))

    def due_all(self, names: Sequence[str]) -> list[int]:
        """The numbers that these names have, or would get in this order; changes nothing."""
        new: dict[str, int] = {}
        return [
            self._numbers[name]
            if name in self._numbers
            else new.setdefault(name, len(self._numbers) + len(new))
            for name in names
        ]

    def __len__(self) -> int:
        return len(self._numbers)


class Texts:
    """Verbatim text of every row, made rows included."""

    def __init__(self, event_log: EventLog) -> None:
        self._event_log = event_log

    def __getitem__(self, row: int) -> str:
        return self._event_log.text(row)

    def rendered(self, row: int) -> str:
        """The text that is embedded and indexed: with date, speaker and caption."""
        return self._event_log.rendered(row)

    def event(self, row: int) -> Event:
        """The event of a row, with its speaker and attributes.  Raises InputError for a row that
        the memory made.
        """
        return self._event_log.of_row(row)

    def __len__(self) -> int:
        return len(self._event_log.rows)


@dataclass(frozen=True, slots=True)
class Erased:
    """What is overwritten: numbers of events, rows and numbers of writings, each ascending."""

    events: tuple[int, ...]
    rows: tuple[int, ...]
    writings: tuple[int, ...]

    def __or__(self, other: Erased | None) -> Erased:
        """This and another, each number once.

        >>> Erased((3,), (5,), ()) | Erased((1, 3), (4,), (0,))
        Erased(events=(1, 3), rows=(4, 5), writings=(0,))
        """
        if other is None:
            return self
        both = (
            (self.events, other.events),
            (self.rows, other.rows),
            (self.writings, other.writings),
        )
        return Erased(*(tuple(sorted({*ours, *theirs})) for ours, theirs in both))


@dataclass
class EventLog:
    """All events, verbatim, stored or not; nothing is ever removed.

    events    in the order of encoding
    row_of    row of each event, -1 if a gate rejected it
    rows      event number of each row; ~w of a made row, w the number of its writing
    by_id     id -> number of the last event with it
    sessions, speakers  names in the events, numbered
    last      row of the last event stored, -1 if none
    writings  the texts that the memory made
    """

    events: list[Event] = field(default_factory=list)
    row_of: list[int] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    by_id: dict[str, int] = field(default_factory=dict)
    sessions: Names = field(default_factory=Names)
    speakers: Names = field(default_factory=Names)
    last: int = -1
    writings: Writings = field(default_factory=Writings)
    # id -> numbers of the events with it, without the last
    _earlier: dict[str, list[int]] = field(default_factory=dict)
    # attribute -> rows
    _rows_with: dict[tuple[str, str], array[int]] = field(default_factory=dict)
    # made rows, ascending
    _made: array[int] = field(default_factory=lambda: array("q"))
    # made row -> rows of the events it was made from
    _origins: dict[int, tuple[int, ...]] = field(default_factory=dict)
    # made rows, each repeated for each of its origins
    _of_origins: array[int] = field(default_factory=lambda: array("q"))
    # the origin that belongs to each place of `_of_origins`
    _all_origins: array[int] = field(default_factory=lambda: array("q"))
    # made row -> rows of the events whose text it shows
    _shown: dict[int, tuple[int, ...]] = field(default_factory=dict)
    # row of an event -> made rows that show it
    _showing: dict[int, list[int]] = field(default_factory=dict)

    def write(self, event: Event, row: int) -> None:
        self.sessions.number(event.session)
        self.speakers.number(event.speaker)
        if event.id:
            if event.id in self.by_id:
                self._earlier.setdefault(event.id, []).append(self.by_id[event.id])
            self.by_id[event.id] = len(self.events)
        if row >= 0:
            self.rows.append(len(self.events))
            self.last = row
            for pair in event.attributes:
                self._rows_with.setdefault(pair, array("q")).append(row)
        self.events.append(event)
        self.row_of.append(row)

    def make(self, writing: int) -> int:
        """Let the next row hold a writing; returns the row."""
        row = len(self.rows)
        self.rows.append(~writing)
        self._enter(row, writing)
        return row

    def _enter(self, row: int, writing: int) -> None:
        self._made.append(row)
        self._origins[row], self._shown[row] = self._origins_of(writing), self._shown_of(writing)
        self._of_origins.extend([row] * len(self._origins[row]))
        self._all_origins.extend(self._origins[row])
        for event_row in self._shown[row]:
            self._showing.setdefault(event_row, []).append(row)

    def restore(
        self, events: list[Event], rows: NDArray[np.int64], made: Sequence[tuple[int, int]]
    ) -> None:
        """Fill the empty log with saved events, as `write` and `make` did one by one.  The writings
        are restored already.  O(events).

        rows  of each event, -1 if a gate rejected it
        made  rows that hold a writing, each with the number of the writing

        Raises ValueError unless the rows are 0, 1, 2, ..., each once, those of events in their
        order.
        """
        stored = np.flatnonzero(rows >= 0)
        entries, due = np.full(len(stored) + len(made), len(events), np.int64), sorted(made)
        places = np.concatenate([rows[stored], np.array([row for row, _ in due], np.int64)])
        if places.size and (places.min() < 0 or places.max() >= places.size):
            raise ValueError("a row is missing")
        entries[places] = np.concatenate(
            [stored, ~np.array([number for _, number in due], np.int64)]
        )
        if (entries == len(events)).any() or (np.diff(rows[stored]) <= 0).any():
            raise ValueError("a row is missing or in the wrong place")
        self.events, self.row_of, self.rows = events, rows.tolist(), entries.tolist()
        self.last = int(rows[stored[-1]]) if len(stored) else -1
        for names, given in (
            (self.sessions, (event.session for event in events)),
            (self.speakers, (event.speaker for event in events)),
        ):
            for name in dict.fromkeys(given):
                names.number(name)
        self.by_id = {event.id: number for number, event in enumerate(events)}
        if len(self.by_id) < len(events):
            last = dict(self.by_id)
            for number, event in enumerate(events):
                if event.id and last[event.id] != number:
                    self._earlier.setdefault(event.id, []).append(number)
        self.by_id.pop("", None)
        for number in stored.tolist():
            for pair in events[number].attributes:
                self._rows_with.setdefault(pair, array("q")).append(self.row_of[number])
        for row, number in due:
            self._enter(row, number)

    def record(self, row: int) -> Event | None:
        """The event of a row; None for a row that the memory made."""
        number = self.rows[row]
        return self.events[number] if number >= 0 else None

    def of_row(self, row: int) -> Event:
        """The event of a row.  Raises InputError for a row that the memory made."""
        event = self.record(row)
        if event is None:
            raise InputError(
                f"row {row} is a {self.kind(row).word} that the memory made, no event",
                where="event log",
                cure="read it with memory.unit(row), or its text with texts[row]",
            )
        return event

    def row(self, event_id: str) -> int:
        """Row of the event with that id; -1 if it was rejected or is unknown."""
        number = self.by_id.get(event_id, -1)
        return self.row_of[number] if number >= 0 else -1

    def numbers(self, event_id: str) -> tuple[int, ...]:
        """Numbers of all events with that id, in order."""
        return (
            (*self._earlier.get(event_id, ()), self.by_id[event_id])
            if event_id in self.by_id
            else ()
        )

    def require_new(self, event_id: str, others: set[str] | None = None) -> None:
        """Raises InputError for an id that an event has already, unless that one was erased, and
        for one of `others`, to which it is added.  O(1).
        """
        taken = others is not None and event_id in others
        if event_id and (
            taken or not all(self.is_stub(number) for number in self.numbers(event_id))
        ):
            place = (
                "an event of the same call"
                if taken
                else f"event {self.by_id[event_id]} of this memory, {self.events[self.by_id[event_id]]!r}"
            )
            raise InputError(
                f"the id is that of {place}",
                where=f"event {event_id!r}",
                cure="give each event an id of its own, or none; what was told twice is told under two ids",
            )
        if event_id and others is not None:
            others.add(event_id)

    def is_stub(self, number: int) -> bool:
        """Whether an event holds nothing but time, session, speaker and id: what an erased event
        keeps.
        """
        event = self.events[number]
        return not (event.text or event.caption or event.attributes)

    def rows_of(self, event_id: str) -> list[int]:
        """Rows of all stored events with that id, in order."""
        return [row for number in self.numbers(event_id) if (row := self.row_of[number]) >= 0]

    def rows_with(self, key: str, value: str) -> NDArray[np.int64]:
        """Rows of the stored events that have an attribute, ascending.  Cost: O(rows found)."""
        rows = self._rows_with.get((key, value))
        return np.array(rows, dtype=np.int64) if rows else np.empty(0, dtype=np.int64)

    # --- rows that the memory made ----------------------------------------------------------------

    @property
    def made(self) -> Sequence[int]:
        """Rows that hold a writing, ascending."""
        return self._made

    def writing(self, row: int) -> Writing | None:
        """The writing that a row holds; None for an event."""
        number = self.rows[row]
        return self.writings[~number] if number < 0 else None

    def kind(self, row: int) -> Kind:
        writing = self.writing(row)
        return Kind[writing.kind.upper()] if writing else Kind.EVENT

    def text(self, row: int) -> str:
        """The verbatim text of a row."""
        number = self.rows[row]
        return (self.events[number] if number >= 0 else self.writings[~number]).text

    def rendered(self, row: int) -> str:
        """The text of a row that is embedded and indexed; of a segment of one event with date
        and speaker of that event.
        """
        return (
            rendered(self, writing)
            if (writing := self.writing(row))
            else self.events[self.rows[row]].rendered()
        )

    def is_short(self, row: int, most: int) -> bool:
        """Whether a row holds an event whose `rendered` text surely has at most so many
        characters, all of them ASCII.  O(length).
        """
        number = self.rows[row]
        if number < 0:
            return False
        event = self.events[number]
        return (
            len(event.text) + len(event.speaker) + len(event.caption) + AROUND <= most
            and event.text.isascii()
            and event.speaker.isascii()
            and event.caption.isascii()
        )

    def origins(self, row: int) -> tuple[int, ...]:
        """Rows of the events that a row was made from, over all its sources, in order, each
        once; an event's own row.  O(1).
        """
        return (row,) if self.rows[row] >= 0 else self._origins[row]

    def made_of(self, chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Made rows with one of the chosen rows among their origins, ascending, each once.  Cost:
        O(origins of all made rows), in numpy.

        chosen  (n,) flags of rows
        """
        rows: NDArray[np.int64] = np.asarray(self._of_origins)[
            np.flatnonzero(chosen[np.asarray(self._all_origins)])
        ]
        return rows

    def written_from(self, rows: Set[int]) -> list[int]:
        """Numbers of the writings that were made from any of these rows, directly or through
        others.  O(sources of all writings).
        """
        return [
            number
            for number, writing in enumerate(self.writings)
            if any(
                row < len(self.rows) and (row in rows or not rows.isdisjoint(self.origins(row)))
                for row in writing.sources
            )
        ]

    def shown(self, row: int) -> tuple[int, ...]:
        """Rows of the events whose verbatim text a row shows.  O(1)."""
        return (row,) if self.rows[row] >= 0 else self._shown[row]

    def showing(self, event_id: str) -> list[int]:
        """Rows that show the text of an event with an id: its own rows first, then those that
        the memory made.  O(rows found).
        """
        own = self.rows_of(event_id)
        return list(
            dict.fromkeys(
                (*own, *(row for own_row in own for row in self._showing.get(own_row, ())))
            )
        )

    def _origins_of(self, number: int) -> tuple[int, ...]:
        return tuple(
            dict.fromkeys(
                origin
                for source in self.writings[number].sources
                for origin in self.origins(source)
            )
        )

    def _shown_of(self, number: int) -> tuple[int, ...]:
        writing = self.writings[number]
        if writing.kind == Kind.SUMMARY.word:
            return ()
        shown_rows = tuple(
            dict.fromkeys(
                event_row for source in writing.sources for event_row in self.shown(source)
            )
        )
        # a segment of a bundle shows the events that hold its text
        if writing.kind == Kind.SEGMENT.word and len(shown_rows) > 1:
            return (
                tuple(event_row for event_row in shown_rows if writing.text in self.text(event_row))
                or shown_rows
            )
        return shown_rows

    def ids(self, rows: Iterable[int]) -> tuple[str, ...]:
        """Ids of the events of some rows, each once, without events that have none."""
        return tuple(dict.fromkeys(id for row in rows if (id := self.events[self.rows[row]].id)))

    # --- erasing ----------------------------------------------------------------------------------

    def overwrite(self, number: int, event: Event) -> None:
        """Replace an event by a stub, for `Engine.erase` alone; the names in it stay the same."""
        row, pairs = self.row_of[number], self.events[number].attributes
        self.events[number] = event
        for pair in pairs if row >= 0 else ():
            kept = array(
                "q", (kept_row for kept_row in self._rows_with.pop(pair) if kept_row != row)
            )
            if kept:
                self._rows_with[pair] = kept


def rendered(event_log: EventLog, writing: Writing) -> str:
    """The text of a writing that is embedded and indexed if it becomes a row: of a segment of
    one event with date and speaker of that event.
    """
    if writing.kind == Kind.SEGMENT.word:
        origins = event_log.origins(writing.sources[0])
        if len(origins) == 1:
            return replace(event_log.of_row(origins[0]), text=writing.text, caption="").rendered()
    return writing.text
