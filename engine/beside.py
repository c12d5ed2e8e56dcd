"""Questions of several threads at the same time: each is asked in a place of its own, with columns of candidates that no other question writes.

What persists is shared and only read.  The first question is asked in the memory itself; a further place is made when all others are in use.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import cpu_count
from threading import Lock
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from .columns import Column, Phase, Scope, Signal, Structure
from .contract import Cue
from .cues import Cues, MakeCues
from .numerics import read_only
from .plan import PhasePlan, answering
from .records import Query
from .schedule import Node
from .shortlist import Shortlist
from .storage.graph import Graph
from .storage.store import PER_ROW, Array, Cells, Store
from .vocabulary import ANSWERABLE, CUES, RECALLED, RELEASED

PAYS: Final = 4096          # a smaller memory is asked by one thread at a time: its questions are mostly Python, of which one thread runs at a time
MOST: Final = cpu_count() or 1
Found = tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.bool_]]
Nodes = Callable[[Cells, list[int]], Sequence[Node]]        # the steps of RETRIEVE for a store, and the cell of how many rows the answer holds


class BesideStore:
    """The columns of a store, those that do not persist apart (`store.Cells`).  What persists must not be written.

    base        the store
    structures  those of the store, but for the ones that serve one question
    """

    def __init__(self, base: Store) -> None:
        self.base, self.passes = base, 0
        self.structures: dict[Structure, Any] = {**base.structures, RECALLED: np.empty(0, np.int64)}
        self._buffers: dict[Column, Array] = {}
        self._live: dict[Column, Array] = {}        # views of the rows in use
        self._read_only: dict[Column, Array] = {}
        self._seen = -1                             # version of the base that the views show

    @property
    def n(self) -> int:
        return self.base.n

    @property
    def version(self) -> int:
        return self.base.version

    @property
    def capacity(self) -> int:
        return self.base.capacity

    @property
    def graph(self) -> Graph:
        return self.base.graph

    def cell_shape(self, column: Column) -> tuple[int, ...]:
        return self.base.cell_shape(column)

    def array(self, column: Column) -> Array:
        """As `Store.array`."""
        if column.persists:
            return self.base.array(column)
        self._renew()
        found = self._live.get(column)
        if found is None:
            buffer = self._buffer(column)
            found = self._live[column] = buffer[:self.n] if column.scope in PER_ROW else buffer
        return found

    def read_only(self, column: Column) -> Array:
        """As `Store.read_only`."""
        if column.persists:
            return self.base.read_only(column)
        self._renew()
        found = self._read_only.get(column)
        if found is None:
            found = self._read_only[column] = read_only(self.array(column))
        return found

    def _renew(self) -> None:
        if self._seen != self.version:
            self._seen = self.version
            self._live.clear()
            self._read_only.clear()

    def neutralise(self, scope: Scope) -> None:
        """As `Store.neutralise`."""
        for column in self._buffers:
            if column.scope is scope and not isinstance(column.neutral, Column):
                self.array(column).fill(column.neutral)

    def surface(self) -> None:
        """Nothing: no question archives."""

    def _buffer(self, column: Column) -> Array:
        cells, found = (self.capacity,) if column.scope in PER_ROW else (), self._buffers.get(column)
        if found is None or found.shape[:len(cells)] != cells:
            neutral = 0.0 if isinstance(column.neutral, Column) else column.neutral
            found = self._buffers[column] = np.full(cells + self.cell_shape(column), neutral, column.dtype)
        return found


class Place:
    """Where a question can be asked beside others of the same memory: the steps of RETRIEVE over a store of its own, without those that learn.

    store  its columns of the last question
    """

    def __init__(self, base: Store, nodes: Nodes, signals: Sequence[tuple[Signal, float]], streams: Mapping[str, np.random.Generator],
                 wordings: MakeCues, most: int | None) -> None:
        """most: rows of a shortlist; None: every question is asked of all rows."""
        self.store, self._size = BesideStore(base), [0]
        own = self.store.structures
        own |= {s: s.create() for s in own if s.create and not s.persists and s.phases == (Phase.RETRIEVE,)}
        own[CUES] = Cues(wordings)
        self._plan = PhasePlan(Phase.RETRIEVE, answering(nodes(self.store, self._size)), self.store, signals, streams, None)
        self._last = self._plan.stages.up_to(RELEASED)[-1]
        self._shortlist = Shortlist(most, self.store, lambda of: nodes(of, self._size), signals, streams, None) if most else None

    def ask(self, query: Query, cue: Cue, k: int) -> Found:
        """The rows of the answer, best first, and the scores of all rows and whether they may be answered, as `Answer` has them."""
        self._size[0] = k
        if self._shortlist and self._shortlist.asks(query, k):
            self._shortlist.run(cue)
            return self._shortlist.found
        self._plan.run(cue)
        return self.store.structures[RECALLED], self.store.array(self._last).copy(), self.store.array(ANSWERABLE).copy()


class Places:
    """The places of one memory: the memory itself, and as many beside it as questions were asked at once.

    least  rows of a memory that answers several questions sooner at the same time than in turn

    A place takes 170 bytes a row in `default`, 260 in `everything`, beside what `scans.SharedScans` keeps for a thread.  As many places are kept as
    there are processors.
    """

    def __init__(self, make: Callable[[], Place]) -> None:
        self.least = PAYS
        self._make, self._lock = make, Lock()
        self._asked = False                     # whether the memory itself is asked
        self._free: list[Place] = []

    @property
    def beside(self) -> int:
        """Places beside the memory that no question uses."""
        return len(self._free)

    @contextmanager
    def one(self) -> Iterator[Place | None]:
        """A place for one question; None: the memory itself.  Cost: 2 us; making one takes about 0.1 ms for each step of RETRIEVE."""
        with self._lock:
            place = None if not self._asked else self._free.pop() if self._free else self._make()
            self._asked = True
        try:
            yield place
        finally:
            with self._lock:
                if place is None:
                    self._asked = False
                elif len(self._free) < MOST:
                    self._free.append(place)

    def clear(self) -> None:
        """Drop the places beside the memory, and what they hold of earlier questions; none may be in use."""
        self._free.clear()
