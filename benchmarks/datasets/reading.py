"""Reading large JSON files in parts: one item of an array at a time."""

from __future__ import annotations

import hashlib
import json
import mmap
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ...engine.base.errors import DataError
from ...engine.contract.records import Event
from .base import (
    DOWNLOAD_AGAIN,
    Conversation,
    Dataset,
    JsonPlace,
    assemble,
    no_constant,
    read_json,
    unreadable,
)

_MARK = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{},]', re.DOTALL)
_OPEN, _CLOSED = frozenset((b"[", b"{")), frozenset((b"]", b"}"))
_SPACE = b" \t\n\r"


@dataclass(frozen=True, slots=True)
class Element:
    """An item of a JSON array in a file, or the whole file: its bytes from start to end, with their
    digest.

    label  as errors name it, such as 'sample 3'; "" for the whole file
    """

    file: Path
    start: int
    end: int
    mark: bytes
    label: str

    def place(self) -> JsonPlace:
        """Its value, read anew.  Cost: O(its characters).  Raises DataError for what is no JSON,
        and for a file that has changed.
        """
        try:
            with self.file.open("rb") as file:
                file.seek(self.start)
                data = file.read(self.end - self.start)
        except OSError as error:
            raise unreadable(self.file, error) from error
        if mark(data) != self.mark:
            raise DataError(
                "it has changed since it was loaded",
                where=str(self.file),
                cure="start the command again",
            )
        try:
            value = json.loads(data.decode("utf-8"), parse_constant=no_constant)
        except (ValueError, RecursionError) as error:
            read_json(self.file)  # names the place in the whole file
            raise DataError(
                f"it is not JSON in UTF-8 ({error})", where=str(self.file), cure=DOWNLOAD_AGAIN
            ) from error
        return JsonPlace(value, self.file, (self.label,) if self.label else ())


def elements(file: Path, label: str) -> tuple[Element, ...] | None:
    """The items of the array that a JSON file holds, `label 1`, `label 2` ...; None for a file that
    holds something else.

    Only commas and brackets outside of strings are looked at: each item is checked when it is read.
    Cost: O(file), about 0.1 s for 10 MB. Raises DataError for a file that cannot be read or is no
    JSON.
    """
    try:
        with (
            file.open("rb") as opened,
            mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as data,
        ):
            spans = _spans(data)
            read = (
                None
                if spans is None
                else tuple(
                    Element(file, start, end, mark(data[start:end]), f"{label} {n}")
                    for n, (start, end) in enumerate(spans, 1)
                )
            )
    except (OSError, ValueError):  # a folder, an empty file
        read = None
    if read is None and isinstance(read_json(file)[0].value, list):
        raise DataError("its items cannot be told apart", where=str(file), cure=DOWNLOAD_AGAIN)
    return read


def items(file: Path, label: str) -> tuple[Element, ...]:
    """The items of the array that a file holds.  Raises DataError for a file that holds
    something else.
    """
    read = elements(file, label)
    if read is None:
        read_json(file)[0].no_list()
    return read


def chosen(given: Sequence[Element], limit: int | None) -> Iterator[Element]:
    """The first so many elements, all for None; the others are read, too, so that a damaged one
    is named.  Raises DataError.
    """
    yield from given[:limit]
    for rest in given[len(given) if limit is None else limit :]:
        rest.place()


def of_items(
    name: str,
    file: Path,
    given: Sequence[Element],
    conversation: Callable[[JsonPlace, Counter[str]], Conversation],
    counted: Counter[str],
    limit: int | None,
) -> Dataset:
    """The data set of a file each of whose items is a conversation, with events that are read anew.

    conversation  makes one of an item, and counts what is odd
    counted       what is odd in the conversations taken

    Raises DataError.
    """

    def events(item: Element) -> Sequence[Event]:
        return conversation(item.place(), Counter()).events

    return assemble(
        name,
        digest_of([("", file)]),
        (conversation(item.place(), counted) for item in chosen(given, limit)),
        counted,
        str(file),
        lambda n: partial(events, given[n]),
    )


def whole(file: Path) -> Element:
    """A file as one element.  Raises DataError as `read_json`."""
    _, data = read_json(file)
    return Element(file, 0, len(data), mark(data), "")


def _spans(data: mmap.mmap) -> list[tuple[int, int]] | None:
    """First and last place of each item of an array; None unless the brackets of the file are
    those of one array.
    """
    depth, start, spans = 0, 0, list[tuple[int, int]]()
    for at in _MARK.finditer(data):
        sign = at.group()
        if depth == 0 and (sign != b"[" or spans or data[: at.start()].strip(_SPACE)):
            return None
        if sign in _OPEN:
            depth += 1
            start = at.end() if depth == 1 else start
        elif sign in _CLOSED:
            depth -= 1
            if depth == 0:
                spans.append((start, at.start()))
                last = at.end()
        elif sign == b"," and depth == 1:
            spans.append((start, at.start()))
            start = at.end()
    if depth or not spans or data[last:].strip(_SPACE):
        return None
    return [] if len(spans) == 1 and not data[slice(*spans[0])].strip(_SPACE) else spans


def mark(data: bytes) -> bytes:
    """Sixteen bytes that identify some bytes."""
    return hashlib.blake2b(data, digest_size=16).digest()


def digest_of(files: Iterable[tuple[str, Path]]) -> str:
    """SHA-256 over the names and bytes of some files, in hexadecimal.  Cost: O(bytes); a part of
    a file is in memory at a time.  Raises DataError.
    """
    digest = hashlib.sha256()
    for name, path in files:
        digest.update(name.encode("utf-8"))
        try:
            with path.open("rb") as file:
                while block := file.read(1 << 20):
                    digest.update(block)
        except OSError as error:
            raise unreadable(path, error) from error
    return digest.hexdigest()
