"""Writings: texts that the memory itself made, with their sources; append-only, so that a former
version stays readable.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from ..base.errors import ContractError

Span = tuple[int, int]


class Now(Protocol):
    """Simulated time, h."""

    now: float


@dataclass(frozen=True, slots=True)
class Writing:
    """A text that a mechanism made.

    text     verbatim; never changed, except that `Engine.erase` overwrites the text of a writing
             whose source is erased
    kind     what it is, such as "summary" or "descriptor"; of the text of a made row the name of
             its `drafts.Kind` in lower case
    maker    id of the mechanism
    time     h, the memory's present when it was made
    sources  rows that it was made from
    span     first character and end of the text in the text of its source; None if it is no exact
             part
    """

    text: str
    kind: str
    maker: str
    time: float
    sources: tuple[int, ...]
    span: Span | None = None


class Writings:
    """All writings of a memory, numbered 0, 1, 2, ... in the order in which they were made;
    columns keep the numbers, -1 for none.
    """

    def __init__(self, clock: Now | None = None) -> None:
        self._clock = clock
        self._all: list[Writing] = []
        self.erased = 0  # writings overwritten so far, for the file

    def add(
        self,
        text: str,
        kind: str,
        maker: str,
        sources: Iterable[int] = (),
        span: Span | None = None,
    ) -> int:
        """Append a writing of the present time; returns its number.  Raises ContractError for
        fields of another type.
        """
        rows = tuple(int(row) for row in sources)
        where = f"writing of {maker}"
        if not all(isinstance(word, str) for word in (text, kind, maker)) or not kind or not maker:
            raise ContractError(
                "text, kind and maker are no texts, or kind or maker is empty",
                where=where,
                cure="give view.writings.add(text, kind, self.id)",
            )
        if any(row < 0 for row in rows):
            raise ContractError(
                f"its sources {rows} are no rows", where=where, cure="give rows, from 0"
            )
        if span is not None:
            span = int(span[0]), int(span[1])
        now = self._clock.now if self._clock else 0.0
        self._all.append(
            Writing(
                str.__str__(text),
                str.__str__(kind),
                str.__str__(maker),
                0.0 if math.isnan(now) else float(now),
                rows,
                span,
            )
        )
        return len(self._all) - 1

    def restore(self, writings: Sequence[Writing]) -> None:
        """Append saved writings."""
        self._all += writings

    def overwrite(self, number: int, writing: Writing) -> None:
        """Replace a writing, for `Engine.erase` alone."""
        self._all[number] = writing
        self.erased += 1

    def __getitem__(self, number: int) -> Writing:
        if not 0 <= number < len(self._all):
            raise ContractError(
                f"there is no writing {number} among {len(self._all)}",
                where="writings",
                cure="give a number that `add` returned",
            )
        return self._all[number]

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[Writing]:
        return iter(self._all)
