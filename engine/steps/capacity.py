"""Capacity: at most so many rows are visible; the others are archived, and answer only when
reached.

WORTH is what mechanisms add, in sleep, to the log odds that a memory is needed again: strength,
need, how much it said that was new. In sleep, after the votes on archiving, the rows of least WORTH
are archived until the rest fits.  Between sleeps a new row takes the place of the row of least
WORTH among those that the last sleep judged; if only newer ones are visible, of the oldest.  Ties:
the older row goes.  All of this depends on events and sleeps alone, so the state after a finished
tick does not depend on the length of ticks.  Texts, columns and edges stay.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.checks import checked_limit
from ..contract.columns import Phase
from ..contract.hooks import Tick
from ..contract.vocabulary import ARRIVED, HIDE, SHOW, VISIBLE, WITHHELD, WORTH
from ..flow.schedule import Node
from ..state.clock import Clock
from ..state.store import Store


def checked_capacity(given: Any) -> int | None:
    """The number of rows; None for no limit.  Raises InputError."""
    return checked_limit(
        given, "capacity", "give the most visible rows, a whole number from 1, or None for no limit"
    )


def least_worth(worth: Any, visible: Any, new: Any, rows: int) -> NDArray[np.int64]:
    """Rows to archive so that at most `rows` stay visible: those that are not new first, of these
    the least worth, of these the oldest.

    O(n) if at most one row goes, else O(n log n).

    worth    (n,)
    visible  (n,)  bool
    new      (n,)  bool, rows that no sleep has judged
    rows     ()    most rows

    >>> least_worth(np.array([0.5, 0.1, 0.1, 0.0]), np.array([True, True, True, True]), np.array([False, False, False, True]), 2).tolist()
    [1, 2]
    """
    going = int(np.count_nonzero(visible)) - rows
    if going == 1 and (judged := visible & ~new).any():
        least = np.fmin.reduce(worth, where=judged, initial=np.nan)  # NaN last, as in a sort
        return np.flatnonzero(judged & ((worth == least) | np.isnan(least)))[:1]
    shown = np.flatnonzero(visible)
    if going <= 1:
        return shown[: max(going, 0)]
    order = np.lexsort((shown, np.where(new[shown], 0.0, worth[shown]), new[shown]))
    return shown[order[:going]]


def vote(view: Any) -> None:
    """VISIBLE: False where HIDE > SHOW, True where SHOW > HIDE and the row is not withheld, else
    as before.  Cost: O(n).
    """
    view.visible[view.hide > view.show] = False
    view.visible[(view.show > view.hide) & (view.withheld == 0)] = True


class Capacity:
    """Most visible rows of one memory.  Cost: O(n) for each stored event, O(n log n) for each
    sleep.
    """

    def __init__(self, rows: int, store: Store, clock: Clock) -> None:
        self.rows, self._store, self._clock = rows, store, clock

    def make_room(self, kept: int) -> None:
        """Archive rows so that the memory fits; `kept`, the row that has just become visible,
        stays.
        """
        visible, worth = self._store.array(VISIBLE), self._store.array(WORTH)
        if np.count_nonzero(visible) > self.rows:
            others = visible.copy()
            others[kept] = False
            going = least_worth(
                worth,
                others,
                self._store.array(ARRIVED) >= self._clock.consolidated,
                self.rows - int(visible[kept]),
            )
            visible[going] = False
            for row in going.tolist():
                self._store.index.archive(row)

    def surface_node(self, owner: str, order: int) -> Node:
        """VISIBLE: by the votes HIDE and SHOW, then False for the rows of least WORTH beyond the
        capacity.
        """

        def surface(view: Any, tick: Tick) -> None:
            vote(view)
            view.visible[
                least_worth(
                    view.worth, view.visible, np.zeros(len(view.visible), np.bool_), self.rows
                )
            ] = False

        return Node(
            owner,
            "surface",
            Phase.CONSOLIDATE,
            order,
            (HIDE, SHOW, WORTH, WITHHELD),
            (),
            (VISIBLE,),
            surface,
        )


def without_votes(nodes: Iterable[Node]) -> list[Node]:
    """The steps without those that only vote on WORTH, which nothing reads without a capacity."""
    return [node for node in nodes if node.sets or set(node.adds) != {WORTH}]
