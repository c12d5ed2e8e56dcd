"""The records that a memory takes: events to store and queries to answer.  Simulated time is in
hours since 1970-01-01T00:00 UTC.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ..base.errors import InputError
from ..base.times import as_hours, hours, moment, offset_of, written

Attributes = Mapping[str, str | Iterable[str]] | Iterable[tuple[str, str]]
# one text, or several of which one is enough
WantedPair = tuple[str, str | tuple[str, ...]]
Wanted = Mapping[str, str | Iterable[str]] | Iterable[WantedPair]
ROLES = frozenset({"user", "assistant", "system"})
SHOWN = 60  # characters of a text in the repr of its event


def no_event(given: Any, where: str) -> InputError:
    """The error for what is given in place of an `Event`."""
    return InputError(
        f"{type(given).__name__} is no Event", where=where, cure="give hebbarium.Event(time, text)"
    )


def attribute_pairs(given: Attributes, where: str = "event") -> tuple[tuple[str, str], ...]:
    """Attributes as sorted pairs of key and value, each once; from a mapping to a text or to
    several texts, or from pairs.

    Raises InputError for another type and for an empty key.

    >>> attribute_pairs({"kind": "note", "tags": ["home", "diy"]})
    (('kind', 'note'), ('tags', 'diy'), ('tags', 'home'))
    """
    cure = "give {'kind': 'note', 'tags': ['home', 'diy']}, or pairs of texts such as (('kind', 'note'),)"
    items: Any = given.items() if isinstance(given, Mapping) else given
    if isinstance(items, str | bytes) or not isinstance(items, Iterable):
        raise InputError(
            f"attributes is {type(given).__name__}, not a mapping or pairs", where=where, cure=cure
        )
    pairs: set[tuple[str, str]] = set()
    for item in items:
        if not isinstance(item, tuple | list) or len(item) != 2:
            raise InputError(f"the attribute {item!r} is no pair", where=where, cure=cure)
        key, value = item
        values = (
            value
            if isinstance(given, Mapping) and isinstance(value, tuple | list | set | frozenset)
            else (value,)
        )
        if not isinstance(key, str) or not key or not all(isinstance(text, str) for text in values):
            raise InputError(
                f"the attribute {key!r} is {value!r}, not a key and its text",
                where=where,
                cure=cure,
            )
        pairs.update((str.__str__(key), str.__str__(text)) for text in values)
    return tuple(sorted(pairs))


def wanted_attributes(given: Wanted, where: str = "only") -> tuple[WantedPair, ...]:
    """What a filter asks of attributes, as sorted pairs of a key and a text, or of a key and several
    texts of which one is enough: the form of a mapping to several texts.

    Raises InputError as `attribute_pairs` does.

    >>> wanted_attributes({"kind": ["error", "shell_exec"], "project": "heron"})
    (('kind', ('error', 'shell_exec')), ('project', 'heron'))
    """
    items: Any = given.items() if isinstance(given, Mapping) else given
    if isinstance(items, str | bytes) or not isinstance(items, Iterable):
        refused: Any = given
        attribute_pairs(refused, where)
    single, several = list[Any](), list[WantedPair]()
    for item in items:
        pair = isinstance(item, tuple | list) and len(item) == 2
        if pair and isinstance(item[1], tuple | list | set | frozenset):
            texts = tuple(text for _, text in attribute_pairs({item[0]: tuple(item[1])}, where))
            several += [(str(item[0]), texts if len(texts) > 1 else texts[0])] if texts else []
        else:
            single.append(item)
    pairs: set[WantedPair] = {*attribute_pairs(single, where), *several}
    return tuple(sorted(pairs, key=lambda pair: (pair[0], str(pair[1]))))


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened and may be stored as a memory.

    time     h       when it happened; a memory also takes a datetime here and converts it
    text             verbatim; only `Engine.erase` overwrites it
    speaker          who said it
    session          which conversation session it belongs to
    id               the source's identifier, such as LoCoMo's 'D1:3'
    caption          what an attached picture shows
    dated            whether the source gives the time; an invented time is left out of the rendered
                     text
    attributes       sorted pairs of key and value, each once, such as kind, role, recipient,
                     project, tags; never embedded.  A memory also takes a mapping, or pairs in any
                     order, and converts them as `attribute_pairs` does
    offset   h       offset of the speaker's clock from UTC, -4.0 in New York in summer; texts show
                     the time of that clock.  None: not known, taken as
                     0.  A memory that is given an aware datetime as time takes the offset from it

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
    attributes: tuple[tuple[str, str], ...] = ()
    offset: float | None = None

    @classmethod
    def at(
        cls,
        moment: datetime,
        text: str,
        speaker: str = "",
        session: str = "",
        id: str = "",
        caption: str = "",
        dated: bool = True,
        attributes: Attributes = (),
    ) -> Event:
        """An event at a moment of the calendar; a naive datetime is taken as UTC, an aware one also
        gives the offset of the speaker's clock.

        Raises InputError for attributes that `attribute_pairs` refuses.

        >>> Event.at(datetime(1970, 1, 2, 6), "We moved.") == Event(30.0, "We moved.")
        True
        >>> Event.at(datetime.fromisoformat("1970-01-02T02:00-04:00"), "We moved.") == Event(30.0, "We moved.", offset=-4.0)
        True
        """
        return cls(
            hours(moment),
            text,
            speaker,
            session,
            id,
            caption,
            dated,
            attribute_pairs(attributes),
            offset_of(moment),
        )

    @classmethod
    def untimed(
        cls,
        text: str,
        speaker: str = "",
        session: str = "",
        id: str = "",
        caption: str = "",
        dated: bool = True,
        attributes: Attributes = (),
    ) -> Event:
        """An event that happens when it is told, to a memory with a wall clock; its time is None
        until then.  Raises InputError as `at`.

        >>> Event.untimed("We moved.", "Ada")
        <Event time None, Ada: 'We moved.'>
        """
        untold: Any = None
        return cls(untold, text, speaker, session, id, caption, dated, attribute_pairs(attributes))

    @property
    def local(self) -> datetime:
        """When it happened, as the speaker's clock showed it: an aware datetime, in UTC if the
        offset is not known.

        Raises OverflowError or ValueError for a time that no memory would take.

        >>> Event(30.0, "We moved.", offset=-4.0).local.isoformat()
        '1970-01-02T02:00:00-04:00'
        """
        return moment(
            as_hours(self.time), offset_of(self.time) if self.offset is None else self.offset
        )

    def get(self, key: str, default: str = "") -> str:
        """The first value of an attribute in sorted order; `default` if the event has no such
        attribute.

        >>> event = Event(30.0, "We moved.", attributes=(("kind", "note"), ("tags", "diy"), ("tags", "home")))
        >>> event.get("tags"), event.get("role", "user")
        ('diy', 'user')
        """
        return next((value for name, value in self.attributes if name == key), default)

    def __repr__(self) -> str:
        """Date, speaker and the start of the text in one line; works for fields that no memory
        would take.
        """
        try:
            when = f"{self.local:%Y-%m-%d %H:%M}"
        except (OverflowError, ValueError, TypeError):
            when = f"time {self.time!r}"
        who = f"{_shortened(self.speaker)[1:-1]}: " if self.speaker else ""
        return f"<Event {when}, {who}{_shortened(self.text)}>"

    def words(self) -> str:
        """What was said and what a picture shows: the text that features are read from.

        >>> Event(30.0, "We moved.", "Ada", caption="a red house").words()
        'We moved. a red house'
        """
        return f"{self.text} {self.caption}" if self.caption else self.text

    def rendered(self) -> str:
        """The text that is embedded and indexed: `[date] speaker: text [caption]`.

        The chat roles in ROLES are left out: they are no names and carry no content.

        >>> Event(30.0, "We moved.", "Ada", caption="a red house").rendered()
        '[6:00 am on 2 January, 1970] Ada: We moved. [a red house]'
        """
        before, after = self.frame()
        return f"{before}{self.text}{after}"

    def frame(self) -> tuple[str, str]:
        """What stands before and after the text in the rendered text: empty, or with a space next
        to it.

        >>> Event(30.0, "We moved.", "Ada", caption="a red house").frame()
        ('[6:00 am on 2 January, 1970] Ada: ', ' [a red house]')
        """
        date = written(self.time, self.offset) if self.dated else ""
        head = f"[{date}] " if date else ""
        who = f"{self.speaker}: " if self.speaker and self.speaker not in ROLES else ""
        return f"{head}{who}", f" [{self.caption}]" if self.caption else ""


@dataclass(frozen=True, slots=True)
class Only:
    """Which memories a query may answer: those that meet every condition.  If none does, the answer
    is empty.

    since, until  h, first and last time of the event, both included; a memory also takes datetimes
                  and converts them.  None: no bound
    sessions      names of sessions, one of which the event belongs to; (): any
    speakers      names of speakers, one of whom said it; (): any
    attributes    pairs of key and value that the event must all have, in any form that
                  `wanted_attributes` takes: {"kind": ["error", "shell_exec"]} asks for either kind
    exclude       ids of events that are never answered
    entities      names, one of which the memory mentions, whatever their case, diacritics and spaces;
                  (): any.  Types of entities become names by `hebbarium.lookups.Lookups.of_types`

    >>> Query("Who moved?", only=Only(speakers=("Ada",), attributes=(("kind", "note"),))).only
    Only(since=None, until=None, sessions=(), speakers=('Ada',), attributes=(('kind', 'note'),), exclude=(), entities=())
    """

    since: float | None = None
    until: float | None = None
    sessions: tuple[str, ...] = ()
    speakers: tuple[str, ...] = ()
    attributes: tuple[WantedPair, ...] = ()
    exclude: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Query:
    """A question to the memory.

    text    what is asked; blank: asked without words, from the session and the time alone
    time    h, when it is asked; None: at the memory's present time
    id      the source's identifier
    only    which memories may be answered; None: all that are visible
    session  conversation in which it is asked, as in `Event.session`; "": from nowhere.  The order
             of uses is learnt within it
    offset   h, offset of the asker's clock from UTC, whose days the question means; None: that of
             the latest event.  A memory that is given an aware datetime as time takes the offset
             from it
    """

    text: str
    time: float | None = None
    id: str = ""
    only: Only | None = None
    session: str = ""
    offset: float | None = None


def _shortened(text: str) -> str:
    """The repr of the first words of a text, in one line."""
    line = " ".join(str(text)[: 4 * SHOWN].split())
    return repr(line if len(line) <= SHOWN else f"{line[: SHOWN - 3]}...")
