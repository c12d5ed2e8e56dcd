"""What a memory holds, to be read: its mechanisms and steps, events, rows, columns and edges."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from numpy.typing import NDArray

from ..base.checks import checked_row
from ..base.turns import Serial, serial, shared
from ..contract.columns import Column, Scope
from ..contract.hooks import Mechanism
from ..contract.records import Event
from ..contract.units import Unit
from ..contract.vocabulary import GRAPH
from ..flow.schedule import Schedule
from ..flow.view import Reader
from ..state.clock import Clock
from ..state.event_log import EventLog
from ..state.graph import BUILT_IN
from ..state.store import Store
from .answering import Answering
from .assembly import Assembly
from .changes import Changes
from .summary import line_of, table_of


class ReadableMemory(Serial):
    """What can be read of a memory; nothing here changes it."""

    assembly: Assembly
    event_log: EventLog
    store: Store
    clock: Clock
    changes: Changes
    answering: Answering

    def _sound(self, doing: str) -> None:
        self.changes.require(doing)

    @property
    def now(self) -> float:
        """h, simulated time; NaN before the first event."""
        return self.clock.now

    @property
    def mechanisms(self) -> tuple[Mechanism[Any], ...]:
        """The mechanisms that are on, in registry order."""
        return self.assembly.mechanisms

    @property
    def schedule(self) -> Schedule:
        """The steps of every phase in the order in which they run, for printing."""
        return Schedule.of(self.assembly.phases)

    @property
    def events(self) -> tuple[Event, ...]:
        """Every event given to `encode`, verbatim and in order, vetoed ones included.
        O(events).
        """
        self._sound("events")
        return tuple(self.event_log.events)

    @shared
    def event(self, row: int) -> Event:
        """The event of a row, verbatim.  Raises InputError, also for a row that the memory made;
        `unit` reads both.
        """
        return self.event_log.of_row(checked_row(row, self.store.n))

    @shared
    def unit(self, row: int) -> Unit:
        """What a row holds: an event, or a text that the memory made, with the ids of its
        events.  Raises InputError.
        """
        return self.answering.unit(checked_row(row, self.store.n))

    def column(self, column: Column | str) -> NDArray[Any]:
        """The present values of a column, by the column itself or by its name: a read-only view, to
        be fetched again after the memory has changed.  Raises InputError for one that neither a
        mechanism of this memory nor the engine owns.

        (n, ...) for a column of memories or candidates, (m, ...) for one of edges, one cell (...)
        otherwise.  Columns of events hold the values of the last event.  Columns of candidates
        hold the values of the last question that went to all rows, not to a shortlist.  If no step
        computes a stage, its column holds the values of the stage before it.
        """
        self._sound("column")
        owned = self.assembly.owned(column)
        if owned in self.assembly.late and self.clock.due:
            with self._turns.alone():
                self.answering.refresh()
        return self.store.read_only(self.assembly.stages.source(owned))

    @property
    def graph(self) -> Reader:
        """The edges between memories and entities, read-only: what `GRAPH.reading` names, with
        shapes in `state.graph.Graph`.  ContractError for anything else.
        """
        self._sound("graph")
        own = {c.name for c in self.store.columns if c.scope is Scope.EDGE}
        return Reader(self.store.graph, GRAPH, frozenset(own | BUILT_IN.keys()))

    @property
    def sources(self) -> Mapping[str, float]:
        """The mechanisms that are sources of contexts, with the share of the budget that each
        spends first, percent.
        """
        return MappingProxyType(self.assembly.sources)

    @serial
    def digest(self) -> str:
        """SHA-256 over the whole state."""
        return self.assembly.digest()

    def __repr__(self) -> str:
        return line_of(self.assembly)

    def _repr_html_(self) -> str:
        return table_of(self.assembly)
