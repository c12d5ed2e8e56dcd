"""What every world shares: the stream of a life, the observers beside its ideal one, and the
score of a ranking of what fits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...engine.base.times import hours
from ...engine.contract.records import Event

START = hours(datetime(2026, 1, 5))  # Monday, midnight
DAY, MINUTE = 24.0, 1 / 60  # h
Beliefs = list[NDArray[np.float64]]
Kept = list[NDArray[np.bool_]]
Score = tuple[float, float]  # hit@k, reciprocal rank


@dataclass(frozen=True, slots=True)
class WorldQuestion:
    """A question, and what is needed for it.

    id       of the question
    time     h, when it is asked
    text     compatible with everything in `fits`, as far as words go
    fits     what fits the question and was told before; of each the ids of the events that tell it
    needed   which of these is needed: place in `fits`
    scored   whether it counts; a question that nothing could predict is asked to tell what is
             needed, and does not count
    session  which conversation session it belongs to
    """

    id: str
    time: float
    text: str
    fits: tuple[tuple[str, ...], ...]
    needed: int
    scored: bool = True
    session: str = ""

    @property
    def gold(self) -> tuple[str, ...]:
        """Ids of the events any of which answers the question."""
        return self.fits[self.needed]


@dataclass(frozen=True, slots=True)
class Stream:
    """One life: events and questions in order of time, and what the ideal observer believes before
    each question that counts.

    ideal  computes, of each scored question in order, the probability of need of everything that
           fits, shape (len(fits),)
    kept   in a world with a capacity: of each scored question, which of these the best choice of
           rows has kept, shape (len(fits),)
    """

    steps: tuple[Event | WorldQuestion, ...]
    ideal: Callable[[], Beliefs]
    kept: Callable[[], Kept] | None = None

    @property
    def events(self) -> list[Event]:
        return [step for step in self.steps if isinstance(step, Event)]

    @property
    def asks(self) -> list[WorldQuestion]:
        return [step for step in self.steps if isinstance(step, WorldQuestion)]

    @property
    def scored(self) -> list[WorldQuestion]:
        return [ask for ask in self.asks if ask.scored]


@dataclass(frozen=True, slots=True)
class World:
    """A world.

    name      unique; a variant follows a slash
    about     the one structure, in a sentence
    strength  what the strength s is
    source    where the law comes from
    k         of hit@k
    make      the life of a strength in [0, 1] and a seed
    margin    of equivalence of hit@k, without structure and where there is no room
    capacity  most visible rows of the memory; None: no limit
    """

    name: str
    about: str
    strength: str
    source: str
    k: int
    make: Callable[[float, int], Stream]
    margin: float = 0.01
    capacity: int | None = None


def ordered(steps: Sequence[Event | WorldQuestion]) -> tuple[Event | WorldQuestion, ...]:
    """Steps in order of time, ties in the order given."""
    return tuple(sorted(steps, key=lambda step: step.time))


def places(scores: ArrayLike) -> list[list[int]]:
    """Ranks from 1 that each of m things may have, ranked by score: one, or all those of its tie.

    >>> places([0.5, 0.2, 0.5])
    [[1, 2], [3], [1, 2]]
    """
    ranked = np.asarray(scores, np.float64)
    above, tied = (
        (ranked[None, :] > ranked[:, None]).sum(axis=1),
        (ranked[None, :] == ranked[:, None]).sum(axis=1),
    )
    return [
        list(range(a + 1, a + t + 1)) for a, t in zip(above.tolist(), tied.tolist(), strict=True)
    ]


def places_of_kept(scores: ArrayLike, kept: ArrayLike) -> list[list[int]]:
    """Ranks as in `places` of those of m things that were kept; 0, not found, of the others.

    >>> places_of_kept([0.5, 0.2, 0.5], [True, True, False])
    [[1], [2], [0]]
    """
    stays = np.asarray(kept, np.bool_)
    ranks = places(np.where(stays, scores, -np.inf))
    return [mine if stay else [0] for mine, stay in zip(ranks, stays.tolist(), strict=True)]


def expected(ranks: Sequence[Sequence[int]], need: ArrayLike, k: int) -> Score:
    """Hit@k and reciprocal rank in expectation over what may be needed, and over ties.  A thing
    with rank 0, or without ranks, is not found.

    ranks  of each of m things that fit, the ranks that it may have
    need   (m,)  probability that it is needed, given all that was observable

    The realised score has the same mean and a larger variance; no system can exceed the ideal
    observer in expectation.

    >>> expected([[1], [2], [0]], [0.5, 0.3, 0.2], 1)
    (0.5, 0.65)
    """
    need = np.asarray(need, np.float64)
    hit = [sum(0 < r <= k for r in mine) / max(len(mine), 1) for mine in ranks]
    reciprocal = [sum(1.0 / r for r in mine if r) / max(len(mine), 1) for mine in ranks]
    return float(need @ hit), float(need @ reciprocal)


def counting(stream: Stream) -> Beliefs:
    """A rival observer: the number of earlier uses of everything that fits."""
    return list(_rival(stream, lambda times: float(len(times)), 0.0))


def last_use(stream: Stream) -> Beliefs:
    """A rival observer: the time of the last use of everything that fits, or of the first
    telling if it was never used.
    """
    told = {event.id: event.time for event in stream.events}
    return list(_rival(stream, lambda times: times[-1], told))


def kept_by(stream: Stream, capacity: int, worth: Callable[[str, list[float]], float]) -> Kept:
    """What an observer with a capacity has kept of everything that fits each scored question, if
    the event of least worth makes room for a new one.

    worth  of the id of an event, and the times at which it was told and, while it was kept, needed;
           ties: the older event leaves
    """
    times, kept = dict[str, list[float]](), Kept()
    for step in stream.steps:
        if isinstance(step, Event):
            if len(times) == capacity:
                del times[min(times, key=lambda id: worth(id, times[id]))]
            times[step.id] = [step.time]
            continue
        if step.scored:
            kept.append(np.array([any(id in times for id in fit) for fit in step.fits]))
        for id in [id for id in step.gold if id in times][:1]:
            times[id].append(step.time)
    return kept


def _rival(
    stream: Stream, value: Callable[[list[float]], float], unused: float | dict[str, float]
) -> Iterator[NDArray[np.float64]]:
    """Scores of what fits each scored question from the times of earlier uses."""
    used: dict[tuple[str, ...], list[float]] = {}
    for ask in stream.asks:
        keys = [fit[:1] for fit in ask.fits]
        if ask.scored:
            yield np.array(
                [
                    value(used[key])
                    if key in used
                    else unused
                    if isinstance(unused, float)
                    else unused[key[0]]
                    for key in keys
                ]
            )
        used.setdefault(keys[ask.needed], []).append(ask.time)
