"""Formats: how candidates stand in a text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Final

from ..base.times import moment, written
from ..text.memo import remembered
from .components import ComponentKind
from .condensers import Form, breadcrumb
from .quoting import escaped
from .tokens import CHARACTERS

LEFT_OUT: Final = " [...]"  # in place of a caption
NONE: Final = "N/A"  # text of a field that a unit does not have
_ROUND: Final = str.maketrans("[]", "()")


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that a context may show.

    row      of the memory; -1 for a text that is no memory
    text     the text shown, whole; `form` says whether the memory itself condensed it
    score    larger is better
    section  that it belongs to
    time     h; None: none
    dated    whether the time is shown; an invented one is not
    caption  what an attached picture shows
    unit     kind of the row, such as event or summary
    whole    the verbatim text, for the breadcrumb; "": `text`
    source   id of the mechanism that offers it; ""
    forms    shorter texts in its place, the longest first; None: condensed as its content asks
    before   what stands before its text in every form, such as the command that printed it
    after    what stands behind it
    offset   h, of the speaker's clock from UTC, which shows the time; None: not known, taken as 0
    """

    kind: ComponentKind
    row: int
    text: str
    score: float
    section: str
    time: float | None = None
    speaker: str = ""
    id: str = ""
    caption: str = ""
    unit: str = "event"
    form: Form = Form.WHOLE
    whole: str = ""
    dated: bool = True
    source: str = ""
    forms: tuple[str, ...] | None = None
    before: str = ""
    after: str = ""
    offset: float | None = None

    @property
    def estimate(self) -> float:
        """Tokens of its text, whatever the counter: a quarter of the characters."""
        return (len(self.before) + len(self.text) + len(self.after)) / CHARACTERS

    @property
    def shown_time(self) -> float | None:
        return self.time if self.dated else None

    @property
    def local(self) -> datetime | None:
        """The shown time as the speaker's clock shows it; None without one, and outside the
        years 1 to 9999.
        """
        with suppress(OverflowError, ValueError):
            return None if self.shown_time is None else moment(self.shown_time, self.offset)
        return None

    @property
    def day(self) -> int:
        """The number of the day of `local`; 0 without one."""
        return self.local.toordinal() if self.local else 0


@dataclass(frozen=True, slots=True)
class Format:
    """A way to write candidates.

    head       what stands before the text of a candidate
    between    separates the components of a section
    headings   whether sections have headings, and a banner says what was cut
    condenses  whether a candidate that does not fit may be condensed; else only whole ones are
               shown, up to the first that does not fit
    in_time    whether components stand in order of time, those without a time last, else in the
               order of choice
    days       whether components of one day stand under a line for it, those without a date before
               all days
    """

    name: str
    head: Callable[[Candidate], str]
    between: str = "\n"
    headings: bool = True
    condenses: bool = True
    in_time: bool = False
    days: bool = False

    def day(self, candidate: Candidate) -> str:
        """The line under which a candidate stands: in brackets, as no line of a quoted text
        starts with one; "" for none.
        """
        return f"[{_date(at)}]" if self.days and (at := candidate.local) else ""

    def item(self, candidate: Candidate, text: str, form: Form) -> str:
        """A candidate with its text in some form: head, escaped text, caption, and a breadcrumb
        if the text of a memory is not whole.
        """
        caption = (
            f" [{_line(candidate.caption)}]"
            if candidate.caption and form is Form.WHOLE
            else LEFT_OUT
            if form is Form.TEXT
            else ""
        )
        whole = form in (Form.WHOLE, Form.TEXT) or candidate.row < 0
        crumb = "" if whole else f"\n{breadcrumb(candidate.row, candidate.whole or candidate.text)}"
        head = self.head(candidate)
        said = f"{candidate.before if text else candidate.before.rstrip()}{text}{candidate.after}"
        # behind a head no line starts
        return f"{head}{escaped(f'.{said}')[1:] if head else escaped(said)}{caption}{crumb}"


@remembered
def _line(text: str) -> str:
    """A name or caption in one line."""
    return escaped(" ".join(text.split()))


def _numbered(c: Candidate) -> str:
    return _named(c, f"{_short(at)} " if (at := c.local) else "")


def _under_day(c: Candidate) -> str:
    return _named(c, "")


def _named(c: Candidate, when: str) -> str:
    row = f"[{c.row}] " if c.row >= 0 else ""
    who = _line(c.speaker) or ("" if c.unit == "event" else c.unit)
    return f"{row}{when}{who}: " if who else f"{row}{when}"


def _fields(c: Candidate) -> str:
    when = f"{at:%Y-%m-%dT%H:%M}" if (at := c.local) else NONE
    return f"[{_line(c.id).translate(_ROUND) or (c.row if c.row >= 0 else NONE)}] [{when}] [{c.unit or NONE}] "


def _said(c: Candidate) -> str:
    when = written(c.shown_time, c.offset) if c.shown_time is not None else ""
    who = _line(c.speaker)
    return f"[{when}] {who}: " if when and who else f"[{when or who}] " if when or who else ""


def _short(at: datetime) -> str:
    """A moment to the minute in few tokens.

    >>> _short(moment(30.0))
    '2 January 1970 06:00'
    """
    return f"{_date(at)} {at.hour:02}:{at.minute:02}"


def _date(at: datetime) -> str:
    """The day of a moment.

    >>> _date(moment(30.0))
    '2 January 1970'
    """
    return f"{at.day} {at:%B} {at.year}"


SECTIONS: Final = Format("sections", _numbered)
# sections, as the strategy `packed` writes them
PACKED: Final = Format("packed", _under_day, in_time=True, days=True)
FORMATS: Final[Mapping[str, Format]] = MappingProxyType(
    {
        f.name: f
        for f in (
            SECTIONS,
            Format("evidence_list", _fields, headings=False, condenses=False),
            Format("dialogue", _said, between="\n\n", headings=False, in_time=True),
        )
    }
)
# every name of a format in a context
LAYOUTS: Final[Mapping[str, Format]] = MappingProxyType({**FORMATS, PACKED.name: PACKED})
