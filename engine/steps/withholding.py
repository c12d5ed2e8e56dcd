"""What the owner of a memory archives is withheld: never answered and never quoted, until the owner
restores it.

A vote HIDE archives a memory, too, but a vote REACH may still answer it.  No vote answers, shows or
offers a withheld row.  Withheld are the rows that `Engine.archive` names, erased rows, and every
row that the memory made from one of them or that contains its text of 20 characters or more. Hooks
read an empty text in place of a withheld one, so that later nights cannot quote it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..base.errors import InputError
from ..contract.drafts import Draft
from ..contract.offers import Offer
from ..contract.records import Event
from ..contract.vocabulary import VISIBLE, WITHHELD
from ..state.event_log import EventLog, Texts
from ..state.store import Store

FREE: Final = 0  # may be answered, if visible or reached
OWN: Final = 1  # archived by the owner
MADE: Final = 2  # made from a row archived by the owner, or quotes one; was archived before
SHOWN: Final = 3  # made from such a row, or quotes one; was visible before
# characters of a text from which on another text that contains it is taken to quote it, whatever
# its sources
QUOTED: Final = 20


class Withholding:
    """The withheld rows of one memory.

    show  makes a row visible (True) or archives it (False)
    """

    def __init__(
        self, store: Store, event_log: EventLog, show: Callable[[int, bool], None]
    ) -> None:
        self._store, self._log, self._show = store, event_log, show

    def __getitem__(self, row: int) -> bool:
        """Whether a row is withheld.  O(1)."""
        return bool(self._store.array(WITHHELD)[row])

    def rows(self) -> NDArray[np.int64]:
        """The withheld rows, ascending.  O(n)."""
        return np.flatnonzero(self._store.array(WITHHELD))

    def keep(self, rows: Sequence[int]) -> None:
        """Withhold rows, and what was made from them."""
        self._store.array(WITHHELD)[list(rows)] = OWN
        self.renew(self._log.made)

    def release(self, row: int) -> None:
        """Undo `keep` of a row, and show it; what was made from it is as visible as before.  A row
        that was made from an archived row stays withheld.

        Raises InputError for a row that is withheld only because of another row, and for an erased
        row.
        """
        withheld = self._store.array(WITHHELD)
        if withheld[row] in (MADE, SHOWN):
            origins = [origin for origin in self._log.origins(row) if withheld[origin] == OWN]
            raise InputError(
                f"row {row} was made from what is archived{f': rows {origins}' if origins else ''}",
                where="restore",
                cure="restore the archived rows; what was made from them follows",
            )
        if self.erased(row):
            raise InputError(
                f"row {row} has no text: it was erased",
                where="restore",
                cure="encode the event again",
            )
        withheld[row] = FREE
        self._show(row, True)
        self.renew(self._log.made)

    def erased(self, row: int) -> bool:
        """Whether the owner has erased a row: it is withheld, and has neither text nor caption.
        O(1).
        """
        number = self._log.rows[row]
        return bool(self._store.array(WITHHELD)[row] == OWN) and not (
            self._log.text(row) or (number >= 0 and self._log.events[number].caption)
        )

    def renew(self, rows: Iterable[int]) -> None:
        """Find which of some made rows are withheld.  Cost: O(texts of these rows x archived
        texts) if anything is withheld.
        """
        withheld, visible = self._store.array(WITHHELD), self._store.array(VISIBLE)
        if not withheld.any():
            return
        own, texts = set(np.flatnonzero(withheld == OWN).tolist()), self._texts()
        for row in rows:
            if withheld[row] == OWN:
                continue
            taken = not own.isdisjoint(self._log.origins(row)) or any(
                text in self._log.text(row) for text in texts
            )
            if taken and not withheld[row]:
                withheld[row] = SHOWN if visible[row] else MADE
                self._show(row, False)
            elif not taken and withheld[row]:
                shown = withheld[row] == SHOWN
                withheld[row] = FREE
                if shown:
                    self._show(row, True)

    def sources(self, draft: Draft) -> tuple[int, ...]:
        """The sources of a draft without the withheld rows, whose texts no hook could read; all
        sources if none would be left.
        """
        withheld = self._store.array(WITHHELD)
        return tuple(row for row in draft.sources if not withheld[row]) or draft.sources

    def offered(self, offers: Sequence[Offer]) -> tuple[Offer, ...]:
        """The offers without withheld rows and without texts that quote one, or that repeat what
        was written from one.  O(offers x texts).
        """
        withheld = self._store.array(WITHHELD)
        if not withheld.any():
            return tuple(offers)
        own, log = set(self.rows().tolist()), self._log
        texts = self._texts() + [
            text
            for number in log.written_from(own)
            if len(text := log.writings[number].text) >= QUOTED
        ]
        return tuple(
            offer
            for offer in offers
            if not (offer.row >= 0 and withheld[offer.row])
            and not any(
                text in part for text in texts for part in (offer.text, *(offer.forms or ()))
            )
        )

    def _texts(self) -> list[str]:
        """Texts of rows that their owner archived, of 20 characters or more."""
        own = np.flatnonzero(self._store.array(WITHHELD) == OWN).tolist()
        return [text for row in own if len(text := self._log.text(row).strip()) >= QUOTED]


class FreeTexts(Texts):
    """Verbatim text of every row as hooks read it: "" for withheld rows."""

    def __init__(self, event_log: EventLog, withholding: Withholding) -> None:
        super().__init__(event_log)
        self._withholding = withholding

    def __getitem__(self, row: int) -> str:
        return "" if self._withholding[row] else self._event_log.text(row)

    def rendered(self, row: int) -> str:
        """The text that is embedded and indexed: with date, speaker and caption; "" for withheld
        rows.
        """
        return "" if self._withholding[row] else super().rendered(row)

    def event(self, row: int) -> Event:
        """The event of a row, without text and caption if it is withheld.  Raises InputError for
        a row that the memory made.
        """
        event = super().event(row)
        return replace(event, text="", caption="") if self._withholding[row] else event
