"""The wordings of a query: the query itself, then what hooks added, each with its weight."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..base.errors import ContractError
from ..base.numerics import read_only
from .hooks import Cue

MOST_CUES: Final = 64  # further wordings of one query


@dataclass(frozen=True, slots=True)
class Wording:
    """A further wording of a query: its text, its weight in (0, 1], why it was added, and texts
    whose vectors are averaged with its own.
    """

    text: str
    weight: float
    why: str
    averaged: tuple[str, ...] = ()


def mean_direction(vectors: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """The mean of unit vectors, normalised, read-only; of one vector the vector itself, and the
    first vector if the mean is shorter than 1e-6.

    >>> mean_direction([np.float32([1.0, 0.0]), np.float32([0.0, 1.0])]).tolist() == [np.sqrt(np.float32(0.5))] * 2
    True
    """
    mean = np.asarray(np.mean(vectors, axis=0, dtype=np.float64))
    length = float(np.linalg.norm(mean))
    return (
        vectors[0]
        if len(vectors) == 1 or length < 1e-6
        else read_only(np.asarray(mean / length, dtype=np.float32))
    )


MakeCues = Callable[[Cue, Sequence[Wording]], Sequence[Cue]]


class Cues:
    """The query with weight 1, then its further wordings in the order in which they were added;
    iterates over (weight, Cue).

    make     turns wordings into cues of the same query, in one batch; called when the wordings are
             first read after one was added
    """

    def __init__(self, make: MakeCues) -> None:
        self._make = make
        self._asked: Cue | None = None
        self._added: dict[tuple[str, ...], Wording] = {}
        self._made: list[Cue] = []

    def ask(self, cue: Cue) -> None:
        """Start a query: it is the only wording."""
        self._asked, self._made = cue, []
        self._added.clear()

    def add(self, text: str, weight: float, why: str, averaged: Sequence[str] = ()) -> None:
        """Add a wording.  A wording that repeats the query or holds no text is left out; of two
        equal wordings the larger weight counts.

        averaged  further texts: the vector of the wording is the mean of their vectors and its own,
                  normalised; its words are those of `text` alone, which may then be the query's

        Raises ContractError for a weight outside (0, 1], or for more than 64 wordings.
        """
        if not (math.isfinite(weight) and 0.0 < weight <= 1.0):
            raise ContractError(
                f"the weight of a wording is {weight!r}",
                where=f"cues, {why}",
                cure="give a weight above 0, at most 1",
            )
        texts = tuple(filter(None, (" ".join(further.split()) for further in averaged)))
        text = " ".join(text.split())
        if not text or (
            not texts
            and self._asked is not None
            and text == " ".join(self._asked.query.text.split())
        ):
            return
        known = self._added.get((text, *texts))
        if known is None and len(self._added) == MOST_CUES:
            raise ContractError(
                f"more than {MOST_CUES} wordings of one query",
                where=f"cues, {why}",
                cure="add the best few",
            )
        if known is None or known.weight < weight:
            self._added[text, *texts] = Wording(text, float(weight), why, texts)

    @property
    def added(self) -> tuple[Wording, ...]:
        """The further wordings."""
        return tuple(self._added.values())

    def __iter__(self) -> Iterator[tuple[float, Cue]]:
        if self._asked is None:
            return
        if len(self._made) < len(self._added):
            self._made = list(self._make(self._asked, self.added))
        yield 1.0, self._asked
        yield from (
            (wording.weight, cue)
            for wording, cue in zip(self._added.values(), self._made, strict=True)
        )

    def __len__(self) -> int:
        return len(self._added) + (self._asked is not None)
