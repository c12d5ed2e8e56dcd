"""Units: what a row of the memory holds, for readers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ..base.times import moment
from .drafts import Kind


@dataclass(frozen=True, slots=True)
class Unit:
    """One row as a record: an event, or a text that the memory made.

    row      of the memory
    kind     event, segment, bundle or summary
    text     verbatim
    time     h, CREATED of the row
    offset   h, of the clock of who said it from UTC; of a made row, of the latest event that it was
             made from; 0 if it is not known
    session, speaker  names; "" for none
    sources  ids of the events that it was made from, in order, each once; its own id for an event
    events   ids of the events whose verbatim text it shows: its own for an event, the source's for
             a segment, the sources' for a bundle, none for a summary.  Events without an id are
             left out of both
    windows  how many windows of a text that the embedder does not read whole have a vector, and how
             many it has; (0, 0) for a text that is read whole, and in a memory that asks for no
             such vectors
    """

    row: int
    kind: Kind
    text: str
    time: float
    session: str
    speaker: str
    sources: tuple[str, ...]
    events: tuple[str, ...]
    offset: float = 0.0
    windows: tuple[int, int] = (0, 0)

    @property
    def local(self) -> datetime:
        """The time as that clock showed it: an aware datetime."""
        return moment(self.time, self.offset)

    @property
    def id(self) -> str:
        """The id of an event; "" for a row that the memory made."""
        return self.events[0] if self.kind is Kind.EVENT and self.events else ""
