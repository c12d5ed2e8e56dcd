"""JSON documents of any length, read item by item: as much is in memory as the longest item."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TextIO

from ...engine.base.errors import DataError
from .messages import ImportReport

CHUNK: Final = 1 << 18  # characters
MOST: Final = 1 << 26  # characters of one item
ALL: Final = "*"  # every item of a list
CUT: Final = "the rest of a file that ends in the middle"
DECODER: Final = json.JSONDecoder()
Way = Sequence[str]


class Item(NamedTuple):
    """An item of a document.

    place   its number, from 0, in each list on the way
    beside  the fields that stand beside the way, before the item
    value   the item itself
    """

    place: tuple[int, ...]
    beside: Mapping[str, Any]
    value: Any


class _CutOff(Exception):
    """The document ends in the middle."""


class _Cursor:
    """A place in a document."""

    def __init__(self, file: TextIO, where: str) -> None:
        self._file, self.where = file, where
        self._buffer, self._at, self._read = "", 0, 0

    def _fill(self) -> bool:
        """Read on; False at the end of the file."""
        self._buffer, self._at = self._buffer[self._at :], 0
        if len(self._buffer) > MOST:
            raise self.wrong(f"holds an item of more than {MOST:,} characters")
        more = self._file.read(max(CHUNK, len(self._buffer)))
        self._buffer, self._read = self._buffer + more, self._read + len(more)
        return bool(more)

    def peek(self) -> str:
        """The next character that is no space; "" at the end."""
        while True:
            while self._at < len(self._buffer) and self._buffer[self._at].isspace():
                self._at += 1
            if self._at < len(self._buffer):
                return self._buffer[self._at]
            if not self._fill():
                return ""

    def take(self, wanted: str) -> None:
        next_character = self.peek()
        if not next_character:
            raise _CutOff
        if next_character not in wanted:
            raise self.wrong(f"has {next_character!r} in place of {wanted[0]!r}")
        self._at += 1

    def value(self) -> Any:
        """The next value, whole."""
        if not self.peek():
            raise _CutOff
        while True:
            try:
                value, end = DECODER.raw_decode(self._buffer, self._at)
            except json.JSONDecodeError as error:
                inside = error.pos < len(self._buffer) - 16 and "Unterminated" not in error.msg
                if inside:
                    raise self.wrong(f"is not JSON: {error.msg}") from error
                if not self._fill():
                    raise _CutOff from error
            except RecursionError as error:
                raise self.wrong("is nested too deep") from error
            else:
                if end < len(self._buffer) or not self._fill():
                    self._at = end
                    return value

    def wrong(self, what: str) -> DataError:
        return DataError(
            f"it {what}",
            where=f"{self.where}, about character {self._read - len(self._buffer) + self._at:,}",
            cure="export it again",
        )


def items(file: TextIO, ways: Sequence[Way], report: ImportReport, where: str) -> Iterator[Item]:
    """The items of a document at some ways down: ("messages", "*") leads to the items of the list
    in the field `messages`.

    A document that ends in the middle gives the items before its end, and the report says so.
    Raises DataError for a text that is not JSON.
    """
    cursor = _Cursor(file, where)
    try:
        yield from _walk(cursor, [tuple(way) for way in ways], (), {})
    except _CutOff:
        report.leave_out(CUT, where)


def _walk(
    cursor: _Cursor, ways: list[tuple[str, ...]], place: tuple[int, ...], beside: Mapping[str, Any]
) -> Iterator[Item]:
    start = cursor.peek()
    inside = [way[1:] for way in ways if way and way[0] == ALL]
    if start == "[" and inside:
        cursor.take("[")
        number = 0
        while cursor.peek() != "]":
            yield from _walk(cursor, inside, (*place, number), beside)
            number += 1
            if cursor.peek() != "]":
                cursor.take(",")
        cursor.take("]")
    elif start == "{" and any(way and way[0] != ALL for way in ways):
        cursor.take("{")
        fields = dict(beside)
        while cursor.peek() != "}":
            key = cursor.value()
            cursor.take(":")
            if below := [way[1:] for way in ways if way and way[0] == key]:
                yield from _walk(cursor, below, place, fields)
            else:
                fields[str(key)] = cursor.value()
            if cursor.peek() != "}":
                cursor.take(",")
        cursor.take("}")
    else:
        value = cursor.value()
        if () in ways:
            yield Item(place, beside, value)


def lines(
    file: TextIO, report: ImportReport, where: str
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The objects of JSON Lines with the numbers of their lines; other lines are left out."""
    number = 0
    while line := file.readline(MOST):
        number += 1
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            whole = line.endswith(("\n", "\r"))
            report.leave_out("lines that are no JSON" if whole else CUT, f"{where}, line {number}")
            continue
        if isinstance(value, dict):
            yield number, value
        else:
            report.leave_out("lines that hold no object", f"{where}, line {number}")
