"""The event log: every event verbatim, stored or not, with the names of sessions and speakers."""
from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..records import Event


class Names:
    """Names numbered in order of first appearance."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, name: str) -> int:
        return self._numbers.setdefault(name, len(self._numbers))

    def known(self, name: str) -> int | None:
        return self._numbers.get(name)

    def due(self, name: str) -> int:
        """The number that the name has, or would get; changes nothing."""
        return self._numbers.get(name, len(self._numbers))

    def due_all(self, names: Sequence[str]) -> list[int]:
        """The numbers that these names have, or would get in this order; changes nothing."""
        new: dict[str, int] = {}
        return [self._numbers[name] if name in self._numbers else new.setdefault(name, len(self._numbers) + len(new)) for name in names]

    def __len__(self) -> int:
        return len(self._numbers)


class Texts:
    """Verbatim text of every row."""

    def __init__(self, event_log: EventLog) -> None:
        self._event_log = event_log

    def __getitem__(self, row: int) -> str:
        return self._event_log.of_row(row).text

    def rendered(self, row: int) -> str:
        """The text that is embedded and indexed: with date, speaker and caption."""
        return self._event_log.of_row(row).rendered()

    def __len__(self) -> int:
        return len(self._event_log.rows)


@dataclass
class EventLog:
    """All events, verbatim, stored or not; nothing is ever removed.

    events    in the order of encoding
    row_of    row of each event, -1 if a gate rejected it
    rows      event number of each row
    by_id     id -> number of the last event with it
    sessions, speakers  names in the events, numbered
    """

    events: list[Event] = field(default_factory=list)
    row_of: list[int] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    by_id: dict[str, int] = field(default_factory=dict)
    sessions: Names = field(default_factory=Names)
    speakers: Names = field(default_factory=Names)
    _earlier: dict[str, list[int]] = field(default_factory=dict)                        # id -> numbers of the events with it, without the last
    _rows_with: dict[tuple[str, str], array[int]] = field(default_factory=dict)         # attribute -> rows

    def write(self, event: Event, row: int) -> None:
        self.sessions.number(event.session)
        self.speakers.number(event.speaker)
        if event.id:
            if event.id in self.by_id:
                self._earlier.setdefault(event.id, []).append(self.by_id[event.id])
            self.by_id[event.id] = len(self.events)
        if row >= 0:
            self.rows.append(len(self.events))
            for pair in event.attributes:
                self._rows_with.setdefault(pair, array("q")).append(row)
        self.events.append(event)
        self.row_of.append(row)

    def of_row(self, row: int) -> Event:
        return self.events[self.rows[row]]

    def row(self, event_id: str) -> int:
        """Row of the event with that id; -1 if it was rejected or is unknown."""
        number = self.by_id.get(event_id, -1)
        return self.row_of[number] if number >= 0 else -1

    def rows_of(self, event_id: str) -> list[int]:
        """Rows of all stored events with that id, in order."""
        if event_id not in self.by_id:
            return []
        numbers = (*self._earlier.get(event_id, ()), self.by_id[event_id])
        return [row for number in numbers if (row := self.row_of[number]) >= 0]

    def rows_with(self, key: str, value: str) -> NDArray[np.int64]:
        """Rows of the stored events that have an attribute, ascending.  Cost: O(rows found)."""
        found = self._rows_with.get((key, value))
        return np.array(found, dtype=np.int64) if found else np.empty(0, dtype=np.int64)
