"""Drafts: units of memory that no event brought, proposed by hooks in CONSOLIDATE and made into
rows by the engine's step `make`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from ..base.errors import ContractError

Span = tuple[int, int]
Text = Callable[[int], str]


class Kind(IntEnum):
    """What a row holds.

    EVENT    an event
    SEGMENT  an exact part of the text of its one source
    BUNDLE   a unit that stands for its sources
    SUMMARY  a text about its sources, in other words
    """

    EVENT = 0
    SEGMENT = 1
    BUNDLE = 2
    SUMMARY = 3

    @property
    def word(self) -> str:
        """The name in lower case."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Draft:
    """A row to be made.

    text     of the row
    kind     SEGMENT, BUNDLE or SUMMARY
    sources  rows that it is made from, at least one; exactly one of a segment
    span     of a segment: first character and end in the text of its source; None: the engine takes
             the first occurrence
    created  h; None: the latest time of its sources
    session, speaker  numbers; -1: none
    stage    row of the first event of the stage that it belongs to; -1: none
    maker    id of the mechanism, filled in by the engine
    """

    text: str
    kind: Kind
    sources: tuple[int, ...]
    span: Span | None = None
    created: float | None = None
    session: int = -1
    speaker: int = -1
    stage: int = -1
    maker: str = ""


class Drafts:
    """The drafts of one consolidation, in the order in which they were added."""

    def __init__(self) -> None:
        self._waiting: list[Draft] = []

    def signed(self, owner: str) -> Desk:
        """The drafts as a hook of `owner` sees them: it can only add."""
        return Desk(self._waiting, owner)

    def clear(self) -> None:
        """Drop all drafts."""
        self._waiting.clear()

    def take(
        self, n: int, text: Text, withheld: Callable[[int], bool] = lambda row: False
    ) -> list[Draft]:
        """Take out all drafts, checked, with the span of each segment.  A draft without text is
        dropped if one of its sources is withheld, since hooks read no text of that row.

        n         rows of the memory
        text      text of a row
        withheld  whether the owner archived a row of the memory

        Raises ContractError for an invalid draft, naming its maker.
        """
        taken = [
            _checked(draft, n, text)
            for draft in self._waiting
            if draft.text or not any(0 <= row < n and withheld(row) for row in draft.sources)
        ]
        self.clear()
        return taken

    def __len__(self) -> int:
        return len(self._waiting)


class Desk:
    """Where one mechanism adds drafts."""

    __slots__ = ("_owner", "_waiting")

    def __init__(self, waiting: list[Draft], owner: str) -> None:
        self._waiting, self._owner = waiting, owner

    def add(self, draft: Draft) -> None:
        """Propose a row.  Raises ContractError for another type."""
        if not isinstance(draft, Draft):
            raise ContractError(
                f"{type(draft).__name__} is no Draft",
                where=self._owner,
                cure="give view.drafts.add(Draft(text, kind, sources))",
            )
        self._waiting.append(replace(draft, maker=self._owner))


class MadeRows:
    """Rows made in this consolidation with their drafts, in order; a hook knows its own by
    `draft.maker`.
    """

    def __init__(self) -> None:
        self._pairs: list[tuple[int, Draft]] = []

    def fill(self, pairs: Sequence[tuple[int, Draft]]) -> None:
        """Replace all pairs, for the engine alone."""
        self._pairs[:] = pairs

    def __iter__(self) -> Iterator[tuple[int, Draft]]:
        return iter(self._pairs)

    def __len__(self) -> int:
        return len(self._pairs)

    def __getitem__(self, place: int) -> tuple[int, Draft]:
        return self._pairs[place]


def _checked(draft: Draft, n: int, text: Text) -> Draft:
    where, sources = f"draft of {draft.maker}", tuple(int(row) for row in draft.sources)
    try:
        kind = Kind(draft.kind)
    except ValueError:
        kind = Kind.EVENT
    if kind is Kind.EVENT or not isinstance(draft.text, str) or not draft.text:
        raise ContractError(
            f"a draft of kind {draft.kind!r} with the text {draft.text!r:.40}",
            where=where,
            cure="give a text, and Kind.SEGMENT, Kind.BUNDLE or Kind.SUMMARY",
        )
    if not sources or any(not 0 <= row < n for row in sources):
        raise ContractError(
            f"its sources {sources} are not all rows of a memory of {n}",
            where=where,
            cure="give at least one row that is stored",
        )
    if not -1 <= draft.stage < n:
        raise ContractError(
            f"its stage {draft.stage} is no row of a memory of {n}",
            where=where,
            cure="give the row of an event, or -1 for none",
        )
    if draft.created is not None and not math.isfinite(draft.created):
        raise ContractError(
            f"it was created at {draft.created!r} h",
            where=where,
            cure="give hours, or None for the latest time of its sources",
        )
    if kind is not Kind.SEGMENT:
        return replace(draft, kind=kind, sources=sources)
    whole = text(sources[0])
    start = whole.find(draft.text) if draft.span is None else int(draft.span[0])
    span = (start, start + len(draft.text)) if draft.span is None else (start, int(draft.span[1]))
    if len(sources) != 1 or start < 0 or whole[span[0] : span[1]] != draft.text:
        raise ContractError(
            f"the segment {draft.text!r:.40} is no exact part of the text of one row",
            where=where,
            cure="take the segment out of the source's text, or make it a summary",
        )
    return replace(draft, kind=kind, sources=sources, span=span)
