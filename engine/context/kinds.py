"""Texts of events by their attribute `kind`, and of entities and relations: how an agent's activity
reads in a context.

An event says what it is about in attributes, `path` of a file, `command` of a shell, `message` of
an error, `outcome` of any; its text is what was read, written or printed.  Where an attribute is
missing, the first line of the text stands for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from ..base.tables import brief
from ..contract.records import Event
from .components import ComponentKind
from .condensers import Form
from .formats import Candidate

KIND: Final = "kind"
LINE: Final = 200  # characters of an attribute that are shown


@dataclass(frozen=True, slots=True)
class Written:
    """An event by its kind: what stands before its content, the content, and what stands after it.

    activity  whether the line alone says what was done, as the path of a file does
    """

    line: str
    content: str
    after: str = ""
    beside: bool = False  # whether the content starts in the same line
    activity: bool = False

    @property
    def before(self) -> str:
        return f"{self.line}{' ' if self.beside else chr(10) if self.content else ''}"


def written(event: Event) -> Written:
    """An event by its kind: file_read, file_write, shell_exec, error, or another one.  O(length).

    >>> written(Event(0.0, "import os", attributes=(("kind", "file_read"), ("path", "a.py"))))
    Written(line='Read: a.py', content='import os', after='', beside=False, activity=True)
    """
    return FORMATTERS.get(event.get(KIND), _other)(event)


def formatted(event: Event) -> str:
    """What an event says, by its kind; of a file only its path.  O(length).

    >>> print(formatted(Event(0.0, "3 failed", attributes=(("command", "make test"), ("kind", "shell_exec"), ("outcome", "failure")))))
    Executed: `make test` [failure]
    3 failed
    >>> formatted(Event(0.0, "import os", attributes=(("kind", "file_read"), ("path", "a.py"))))
    'Read: a.py'
    """
    parts = written(event)
    return parts.line if parts.activity else f"{parts.before}{parts.content}{parts.after}"


def by_kind(candidate: Candidate, event: Event, activity: bool = False) -> Candidate:
    """The candidate of an event as its kind is written; the same if the event has no attribute
    `kind`.  O(length).

    activity  whether it is shown for what was done, not for what it holds: then a file is shown by
              its path, and its content is left out
    """
    if not event.get(KIND):
        return candidate
    parts = written(event)
    if candidate.form is not Form.WHOLE:  # condensed by the memory itself
        return replace(
            candidate, before=f"{parts.line}{' ' if parts.beside else chr(10)}", after=parts.after
        )
    if activity and parts.activity:
        form = Form.SUMMARY if parts.content.strip() else Form.WHOLE
        return replace(candidate, text="", before=parts.line, form=form, whole=event.text)
    return replace(
        candidate, text=parts.content, before=parts.before, after=parts.after, whole=event.text
    )


def as_activity(
    event: Event, kind: ComponentKind, row: int, score: float, section: str
) -> Candidate:
    """An event as a candidate that is shown for what was done, see `by_kind`.  O(length)."""
    candidate = Candidate(
        kind,
        row,
        event.text,
        score,
        section,
        event.time,
        event.speaker,
        event.id,
        event.caption,
        whole=event.text,
        dated=event.dated,
        offset=event.offset,
    )
    return by_kind(candidate, event, activity=True)


def entity_line(kind: str, name: str, properties: Mapping[str, str] = MappingProxyType({})) -> str:
    """An entity with its properties.

    >>> entity_line("person", "Ada", {"lives in": "Oslo", "age": "36"})
    '**person**: Ada (lives in: Oslo, age: 36)'
    """
    inside = ", ".join(f"{_line(key)}: {_line(value)}" for key, value in properties.items())
    return f"**{_line(kind)}**: {_line(name)}{f' ({inside})' if inside else ''}"


def relation_line(source: str, relation: str, target: str) -> str:
    """A relation; condensing never alters it.

    >>> relation_line("Ada", "lives in", "Oslo")
    'Ada --[lives in]--> Oslo'
    """
    return f"{_line(source)} --[{_line(relation)}]--> {_line(target)}"


def _read(event: Event) -> Written:
    path, content = _split(event, "path")
    return Written(f"Read: {path}".rstrip(), content, activity=True)


def _wrote(event: Event) -> Written:
    path, content = _split(event, "path")
    return Written(f"Wrote: {path}".rstrip() + _outcome(event), content, activity=True)


def _executed(event: Event) -> Written:
    command, printed = _split(event, "command")
    return Written(
        f"Executed: `{command}`{_outcome(event)}" if command else f"Executed:{_outcome(event)}",
        printed,
    )


def _failed(event: Event) -> Written:
    message, trace = _split(event, "message")
    return Written(f"Error: {message}".rstrip(), trace if trace.strip() != message else "")


def _other(event: Event) -> Written:
    return Written(
        f"{_line(event.get(KIND)) or 'event'}:", event.text, _outcome(event), beside=True
    )


def _split(event: Event, key: str) -> tuple[str, str]:
    """An attribute in one line, else the first line of the text; and the text, or what is left
    of it.
    """
    if line := _line(event.get(key)):
        return line, event.text
    first, _, rest = event.text.partition("\n")
    return ("", event.text) if len(first) > LINE else (" ".join(first.split()), rest)


def _outcome(event: Event) -> str:
    outcome = _line(event.get("outcome"))
    return f" [{outcome}]" if outcome else ""


def _line(text: str) -> str:
    """A name in one line; a long one is cut."""
    return brief(text, LINE)


FORMATTERS: Final[Mapping[str, Callable[[Event], Written]]] = MappingProxyType(
    {"file_read": _read, "file_write": _wrote, "shell_exec": _executed, "error": _failed}
)
