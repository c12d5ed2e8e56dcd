"""Offers: what sources propose for a context, kept until the context is assembled."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ..base.errors import ContractError
from .hooks import Mechanism
from .vocabulary import OFFERS

NO_LIMIT: Final = 2**31 - 1  # BUDGET of a context that is limited by number of items


@dataclass(frozen=True, slots=True)
class Offer:
    """Something that a context may show.

    row      of the memory; -1 for a text that is no memory
    text     of an offer that is no memory; "" for a row
    section  heading under which it stands
    score    larger is better; what is left of a budget is spent in its order, so sources keep it on
             [0, 1]
    forms    shorter texts in its place, the longest first; None: condensed as its content asks
    kind     recent, semantic, entity, relation, pattern, summary, task or custom
    source   id of the mechanism, filled in by the engine
    """

    row: int
    text: str
    section: str
    score: float
    forms: tuple[str, ...] | None = None
    kind: str = "semantic"
    source: str = ""


class Offers:
    """The offers for one context, in the order in which they were added: of each source the best
    first.
    """

    def __init__(self) -> None:
        self._waiting: list[Offer] = []

    def signed(self, owner: str) -> OwnOffers:
        """The offers as a hook of `owner` sees them: it can only add."""
        return OwnOffers(self._waiting, owner)

    def clear(self) -> None:
        """Drop all offers."""
        self._waiting.clear()

    def take(self, n: int) -> tuple[Offer, ...]:
        """Take out all offers.  Raises ContractError for a row that a memory of `n` does not hold,
        naming its source.
        """
        taken = tuple(self._waiting)
        self.clear()
        for offer in taken:
            if offer.row >= n:
                raise ContractError(
                    f"the row {offer.row} of a memory of {n}",
                    where=f"offer of {offer.source}",
                    cure="offer a row that is stored",
                )
        return taken

    def __len__(self) -> int:
        return len(self._waiting)


class OwnOffers:
    """Where one source adds its offers."""

    __slots__ = ("_owner", "_waiting")

    def __init__(self, waiting: list[Offer], owner: str) -> None:
        self._waiting, self._owner = waiting, owner

    def add(
        self,
        what: int | str,
        section: str,
        score: float,
        forms: Sequence[str] | None = None,
        *,
        kind: str = "semantic",
    ) -> None:
        """Offer a row or a text, see `Offer`.  Raises ContractError for a row below 0, an empty
        text or section, and a score that is not finite.
        """
        given: Any = what
        row = (
            int(given)
            if isinstance(given, int | np.integer) and not isinstance(given, bool)
            else -1
        )
        if row < 0 and not (isinstance(given, str) and given):
            raise ContractError(
                f"{what!r:.40} is no row and no text",
                where=f"offer of {self._owner}",
                cure="offer a row of the memory, or a text",
            )
        if not section or not math.isfinite(score):
            raise ContractError(
                f"section {section!r}, score {score!r}",
                where=f"offer of {self._owner}",
                cure="give a heading and a finite score",
            )
        text = what if isinstance(what, str) else ""
        self._waiting.append(
            Offer(
                row,
                text,
                section,
                float(score),
                None if forms is None else tuple(forms),
                kind,
                self._owner,
            )
        )


def shares_of_sources(mechanisms: Sequence[Mechanism[Any]]) -> dict[str, float]:
    """Of each mechanism that offers something for contexts, its parameter `share`: percent of the
    budget.  Raises ContractError for an owner without one, and for shares above 100 in all.
    """
    shares: dict[str, float] = {}
    for m in mechanisms:
        if any(OFFERS in h.adds for h in type(m).hooks()):
            if not hasattr(m.params, "share"):
                raise ContractError(
                    "offers something for contexts but has no parameter `share`",
                    where=m.id,
                    cure="add it: percent of the budget",
                )
            shares[m.id] = float(m.params.share)
    if sum(shares.values()) > 100.0:
        raise ContractError(
            f"the shares of {', '.join(shares)} are {sum(shares.values()):g} percent in all",
            where="assembly",
            cure="lower the parameter share of some of them, or leave some out",
        )
    return shares
