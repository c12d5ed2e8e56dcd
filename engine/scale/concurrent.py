"""Questions of several threads at the same time: each is asked in a place of its own, with columns
of candidates that no other question writes.

What persists is shared and only read.  The first question is asked in the memory itself; a further
place is made when all others are in use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import cpu_count
from threading import Lock
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..contract.ask import Ask
from ..contract.columns import Column, Phase, Signal
from ..contract.cues import Cues, MakeCues
from ..contract.vocabulary import ANSWERABLE, CUES, RECALLED, RELEASED
from ..flow.dataflow import answering
from ..flow.passes import PhasePlan
from ..flow.schedule import Node
from ..state.graph import Graph
from ..state.overlay import Overlay
from ..state.ranking import Standing
from ..state.store import Array, Cells, Store
from ..steps.filter import Banned
from .on_read import LateRows
from .shortlist import Shortlist

MOST: Final = cpu_count() or 1
Found = tuple[NDArray[np.int64], Standing]
Nodes = Callable[[Cells, Banned], Sequence[Node]]  # the steps of RETRIEVE for a store


class BesideStore(Overlay):
    """The columns of a store, those that do not persist apart; the structures that serve one
    question are set by `Place`.
    """

    base: Store

    def __init__(self, base: Store) -> None:
        super().__init__(base, base.structures)

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

    def _owns(self, column: Column) -> bool:
        return not column.persists

    def _fill(self, column: Column, buffer: Array) -> None:
        """Does nothing: such columns stand at neutral before a question."""


class Place:
    """Where a question can be asked beside others of the same memory: the steps of RETRIEVE over a
    store of its own, without those that learn.

    store  its columns of the last question
    """

    def __init__(
        self,
        base: Store,
        banned: Banned,
        nodes: Nodes,
        signals: Sequence[tuple[Signal, float]],
        streams: Mapping[str, np.random.Generator],
        wordings: MakeCues,
        most: int | None,
        late: Callable[[Cells, int], LateRows | None],
    ) -> None:
        """most: rows of a shortlist; None: every question is asked of all rows; late: as of
        `Shortlist`.
        """
        self.store = BesideStore(base)
        own = self.store.structures
        own |= {
            s: s.create()
            for s in own
            if s.create and not s.persists and s.phases == (Phase.RETRIEVE,)
        }
        own[CUES] = Cues(wordings)
        self._plan = PhasePlan(
            Phase.RETRIEVE, answering(nodes(self.store, banned)), self.store, signals, streams, None
        )
        self._last = self._plan.stages.up_to(RELEASED)[-1]
        self._shortlist = (
            Shortlist(most, self.store, banned, nodes, signals, streams, None, late=late)
            if most
            else None
        )

    def ask(self, ask: Ask) -> Found:
        """The rows of the answer, best first, and how all memories stand."""
        if self._shortlist and not ask.whole:
            self._shortlist.run(ask)
            return self._shortlist.answered
        self._plan.run(ask)
        return self.store.structures[RECALLED], Standing(
            self.store.n,
            None,
            self.store.array(self._last).copy(),
            self.store.array(ANSWERABLE).copy(),
        )


class Places:
    """The places of one memory: the memory itself, and as many beside it as questions were asked at
    once.

    A place takes 170 bytes a row in `waking`, 260 in `everything`, beside what `vectors.VectorIndex`
    keeps for a thread.  As many places are kept as there are processors.
    """

    def __init__(self, make: Callable[[], Place]) -> None:
        self._make, self._lock = make, Lock()
        self.asked = 0  # questions that are being answered
        self._asked = False  # whether the memory itself is asked
        self._free: list[Place] = []

    @property
    def beside(self) -> int:
        """Places beside the memory that no question uses."""
        return len(self._free)

    @contextmanager
    def taken(self) -> Iterator[Place | None]:
        """A place for one question; None: the memory itself.  Cost: 2 us; making a place takes
        about 0.1 ms for each step of RETRIEVE.
        """
        with self._lock:
            place = None if not self._asked else self._free.pop() if self._free else self._make()
            self._asked = True
            self.asked += 1
        try:
            yield place
        finally:
            with self._lock:
                self.asked -= 1
                if place is None:
                    self._asked = False
                elif len(self._free) < MOST:
                    self._free.append(place)

    def clear(self) -> None:
        """Drop the places beside the memory, and what they hold of earlier questions; none may
        be in use.
        """
        self._free.clear()
