"""The records that a memory takes: events to store and queries to answer.  Simulated time is in hours since 1970-01-01T00:00 UTC."""
from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

ROLES = frozenset({"user", "assistant", "system"})
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SHOWN = 60      # characters of a text in the repr of its event


def hours(moment: datetime) -> float:
    """Simulated time of a moment; a naive moment is taken as UTC.

    >>> hours(datetime(1970, 1, 2, 6))
    30.0
    """
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - EPOCH).total_seconds() / 3600.0


def as_hours(time: float | datetime) -> float:
    """Simulated time of a datetime; any other value is returned unchanged, for the caller to check.

    >>> as_hours(datetime(1970, 1, 2, 6)), as_hours(30.0)
    (30.0, 30.0)
    """
    return hours(time) if isinstance(time, datetime) else time


def moment(time: float) -> datetime:
    """The moment of a simulated time.

    >>> moment(30.0).isoformat()
    '1970-01-02T06:00:00+00:00'
    """
    return EPOCH + timedelta(milliseconds=round(time * 3.6e6))  # float64 resolves hours to a microsecond


def written(time: float) -> str:
    """A simulated time as text for readers, to the minute; empty outside the years 1 to 9999.

    >>> written(30.0)
    '6:00 am on 2 January, 1970'
    """
    try:
        at = moment(time)
    except (OverflowError, ValueError):
        return ""
    return f"{at.hour % 12 or 12}:{at:%M} {'am' if at.hour < 12 else 'pm'} on {at.day} {at:%B}, {at.year}"


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened and may be stored as a memory.

    time     h       when it happened; a memory also takes a datetime here and converts it
    text             verbatim; never changed, never deleted
    speaker          who said it
    session          which conversation session it belongs to
    id               the source's identifier, such as LoCoMo's 'D1:3'
    caption          what an attached picture shows
    dated            whether the source gives the time; an invented time is left out of the rendered text

    >>> Event(30.0, "We moved.", "Ada")
    <Event 1970-01-02 06:00, Ada: 'We moved.'>
    """

    time: float
    text: str
    speaker: str = ""
    session: str = ""
    id: str = ""
    caption: str = ""
    dated: bool = True

    @classmethod
    def at(cls, moment: datetime, text: str, speaker: str = "", session: str = "", id: str = "", caption: str = "", dated: bool = True) -> Event:
        """An event at a moment of the calendar; a naive datetime is taken as UTC.

        >>> Event.at(datetime(1970, 1, 2, 6), "We moved.") == Event(30.0, "We moved.")
        True
        """
        return cls(hours(moment), text, speaker, session, id, caption, dated)

    def __repr__(self) -> str:
        """Date, speaker and the start of the text in one line; works for fields that no memory would take."""
        try:
            when = f"{moment(as_hours(self.time)):%Y-%m-%d %H:%M}"
        except (OverflowError, ValueError, TypeError):
            when = f"time {self.time!r}"
        who = f"{_shortened(self.speaker)[1:-1]}: " if self.speaker else ""
        return f"<Event {when}, {who}{_shortened(self.text)}>"

    def rendered(self) -> str:
        """The text that is embedded and indexed: `[date] speaker: text [caption]`.

        The chat roles in ROLES are left out: they are no names and carry no content.

        >>> Event(30.0, "We moved.", "Ada", caption="a red house").rendered()
        '[6:00 am on 2 January, 1970] Ada: We moved. [a red house]'
        """
        date = written(self.time) if self.dated else ""
        head = f"[{date}] " if date else ""
        who = f"{self.speaker}: " if self.speaker and self.speaker not in ROLES else ""
        tail = f" [{self.caption}]" if self.caption else ""
        return f"{head}{who}{self.text}{tail}"


@dataclass(frozen=True, slots=True)
class Query:
    """A question to the memory.

    text    what is asked
    time    h, when it is asked; None: at the memory's present time
    id      the source's identifier
    """

    text: str
    time: float | None = None
    id: str = ""


def _shortened(text: str) -> str:
    """The repr of the first words of a text, in one line."""
    line = " ".join(str(text)[: 4 * SHOWN].split())
    return repr(line if len(line) <= SHOWN else f"{line[: SHOWN - 3]}...")
