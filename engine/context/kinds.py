"""Texts of events by their attribute `kind`, and of entities and relations: how an agent's activity reads in a context.

An event says what it is about in attributes, `path` of a file, `command` of a shell, `message` of an error, `outcome` of any; its text is what was
read, written or printed.  Where an attribute is missing, the first line of the text stands for it.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Final

from ..records import Event, moment

KIND: Final = "kind"


def formatted(event: Event) -> str:
    """What an event says, by its kind: file_read, file_write, shell_exec, error, or another one.  O(length).

    >>> print(formatted(Event(0.0, "3 failed", attributes=(("command", "make test"), ("kind", "shell_exec"), ("outcome", "failure")))))
    Executed: `make test` [failure]
    3 failed
    >>> formatted(Event(0.0, "import os", attributes=(("kind", "file_read"), ("path", "a.py"))))
    'Read: a.py'
    """
    return FORMATTERS.get(event.get(KIND), _other)(event)


def stamped(event: Event) -> str:
    """`formatted`, with the time before it, unless the time is invented or outside of the years 1 to 9999.

    >>> stamped(Event(30.0, "It rains."))
    '[1970-01-02T06:00:00.000Z] event: It rains.'
    """
    if not event.dated:
        return formatted(event)
    try:
        at = moment(event.time)
    except (OverflowError, ValueError):
        return formatted(event)
    return f"[{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03}Z] {formatted(event)}"


def shows_all(event: Event) -> bool:
    """Whether `formatted` holds the event's whole text."""
    return event.text in formatted(event)


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


def _read(event: Event) -> str:
    return f"Read: {_of(event, 'path')}"


def _wrote(event: Event) -> str:
    return f"Wrote: {_of(event, 'path')}{_outcome(event)}"


def _executed(event: Event) -> str:
    command, printed = event.get("command"), event.text
    if not command:
        command, _, printed = event.text.partition("\n")
    return _lines([f"Executed: `{_line(command)}`{_outcome(event)}", printed])


def _failed(event: Event) -> str:
    message, trace = event.get("message"), event.text
    if not message:
        message, _, trace = event.text.partition("\n")
    return _lines([f"Error: {_line(message)}", trace if trace.strip() != message.strip() else ""])


def _other(event: Event) -> str:
    return f"{_line(event.get(KIND)) or 'event'}: {event.text}{_outcome(event)}"


def _of(event: Event, key: str) -> str:
    """An attribute in one line, else the first line of the text."""
    return _line(event.get(key) or event.text.partition("\n")[0])


def _outcome(event: Event) -> str:
    found = _line(event.get("outcome"))
    return f" [{found}]" if found else ""


def _line(text: str) -> str:
    return " ".join(text.split())


def _lines(parts: Iterable[str]) -> str:
    return "\n".join(part for part in parts if part)


FORMATTERS: Final[Mapping[str, Callable[[Event], str]]] = MappingProxyType(
    {"file_read": _read, "file_write": _wrote, "shell_exec": _executed, "error": _failed})
