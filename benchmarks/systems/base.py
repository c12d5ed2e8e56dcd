"""The port between a benchmark and a memory: what a benchmark calls, and what a memory declares
that it can do.

A memory is a `System`: a class or function `factory(embedder, seed)` makes a new, empty one for
each conversation and seed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from ...engine.contract.records import Event, Query
    from ...engine.ports.embedder import Embedder


class Capability(Enum):
    """What a system declares beyond the port's four calls.

    SLEEPS     `advance` may reorganise what is stored, not only let it age
    LEARNS     `retrieve(..., learn=True)` may change later answers; without it `learn` has no
               effect
    ARCHIVES   a stored event can become unretrievable later without being deleted
    RECEIPTS   it is a `ReportsReceipts`
    RANKS_ALL  `Retrieved.rank_of` gives the exact rank among all stored events, beyond the k
               retrieved ones as well; without it the rank is the place among those, and a caller
               that needs ranks up to r asks for k >= r
    """

    SLEEPS = "sleeps"
    LEARNS = "learns from recall"
    ARCHIVES = "archives"
    RECEIPTS = "reports receipts"
    RANKS_ALL = "ranks all"


@dataclass(frozen=True, slots=True)
class RetrievedEvent:
    """One retrieved event, or a unit that the system made of events.

    id      of the event; of a made unit any id that no event has
    score   larger is better; comparable within one answer only
    text    as a reader gets it
    events  of a made unit, ids of the events whose verbatim text it shows; () of an event
    """

    id: str
    score: float
    text: str
    events: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Retrieved:
    """The answer to a query: at most k events, best first, each at most once."""

    events: tuple[RetrievedEvent, ...]

    def rank_of(self, event_id: str) -> int | None:
        """Rank from 1 of the first retrieved unit that is the event, or shows it; None if there is
        none.  O(k).

        >>> Retrieved((RetrievedEvent("b", 2.0, ""), RetrievedEvent("a", 1.0, ""))).rank_of("a")
        2
        """
        return next(
            (
                rank
                for rank, event in enumerate(self.events, 1)
                if event.id == event_id or event_id in event.events
            ),
            None,
        )


@dataclass(frozen=True, slots=True)
class Assembled:
    """A context: the text that a reader gets under a budget.

    text       with the texts of events verbatim, as before they were quoted
    tokens     of the text as the reader gets it
    counter    name of what counted them
    items      events and other units in it
    condensed  of these, how many are not shown whole
    truncated  whether anything was left out or condensed
    """

    text: str
    tokens: int
    counter: str
    items: int
    condensed: int
    truncated: bool


@runtime_checkable
class GivesContexts(Protocol):
    """An answer from which contexts can be assembled."""

    def context(self, query: Query, budget: int, strategy: str) -> Assembled:
        """The context of the query that was answered, of at most `budget` tokens; the memory
        does not change.
        """
        ...


@runtime_checkable
class System(Protocol):
    """A memory.  Times are simulated, in hours since 1970-01-01T00:00 UTC, and never decrease
    from call to call.
    """

    @property
    def capabilities(self) -> frozenset[Capability]: ...

    def encode(self, events: Sequence[Event]) -> None:
        """Take in events in order of time; the system may reject some of them."""
        ...

    def advance(self, time: float) -> None:
        """Let simulated time pass up to `time` (h, a point in time and no duration)."""
        ...

    def retrieve(self, query: Query, k: int, learn: bool = False) -> Retrieved:
        """At most k events for a query at the present simulated time.

        learn  whether recall may change the memory; if False, every later answer is as if the query
               had not been asked
        """
        ...

    def close(self) -> None:
        """Release files and processes; no other call follows."""
        ...


@runtime_checkable
class TakesFeedback(System, Protocol):
    """A system that can be told which events of an answer were needed."""

    def use(self, answer: Retrieved, ids: Sequence[str]) -> None:
        """Learn from an answer, at the present simulated time, as from a recall of exactly these;
        each answer at most once.

        answer  an answer of this system, retrieved without `learn`
        ids     of events, or of other units in the answer; those that are not stored are left out
        """
        ...


@runtime_checkable
class ReportsReceipts(System, Protocol):
    """A system that reports what its mechanisms did: the capability RECEIPTS."""

    def receipts(self) -> Mapping[str, Mapping[str, int]]:
        """By mechanism: `calls` of its hooks and `values_changed`, the values of columns that a
        call changed.

        Of a mechanism that votes on the admission of events also: `judged` and `stored`, the events
        of the memory that were to be encoded and that were stored; `vetoed`, `decided` and
        `merged`, the events that it voted against, that its vote alone rejected, and that it marked
        as repetitions of stored ones.
        """
        ...

    def ranks_changed(self, query: Query) -> Mapping[str, int]:
        """By mechanism: places among the ten best that change if the mechanism is silenced for
        this query.  The state does not change.
        """
        ...

    def phase_ms(self) -> Mapping[str, Sequence[float]]:
        """By phase: the duration of each pass, ms."""
        ...


@runtime_checkable
class ReportsUsage(System, Protocol):
    """A system that reports what it asked a language model."""

    def language_model_usage(self) -> Mapping[str, Mapping[str, Mapping[str, int]]]:
        """By phase and mechanism: `requests`, `cached`, `failed`, `prompt_tokens`,
        `completion_tokens`; those that asked nothing are left out.
        """
        ...


Factory = Callable[["Embedder", int], System]
