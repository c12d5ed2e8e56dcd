"""What an experiment with printed results is: a protocol on a memory, the curve of people, and the
effects that it is known for.

Supports.  A test asks the memory once and keeps the standardised final scores of the 48 best
memories, so that the life of a memory does not depend on the readout.  From supports z and the two
numbers of the readout, temperature T and threshold theta, follows what is printed:

    free recall    a word is recalled with P = R / (R + exp(theta / T)), R = sum exp(z / T) over the
                   memories of the word: Luce's rule without replacement, with stopping as one of the
                   alternatives, while the supports stay as they are
    cued recall    P = sum exp(z / T) over the memories that are right, divided by the sum over all
                   candidates and exp(theta / T): one draw
    time           intercept + factor exp(-z) of the right memory, the two numbers in its place

The first is exact: in a race of exponentials with rates exp(z / T), in which Luce's rule is the order
of arrival, a word is recalled if it arrives before the one that stops.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ...probes.harness.life import CANDIDATES, DAY, Life, standardised
from ...probes.stimuli import FOODS, NAMES, Stimuli

if TYPE_CHECKING:
    from numpy.typing import NDArray

MORNING: Final = 9.0  # o'clock: talk of a day begins
EVENING: Final = 21.0
BEYOND: Final = -1  # place of a stored memory that is not among the candidates
TALK: Final = tuple(
    text.format(name, food)
    for text in ("{} had {} for lunch.", "{} forgot to buy {}.", "{} cannot stand {}.")
    for name in NAMES
    for food in FOODS
)


class ReadoutKind(StrEnum):
    """How supports become what is printed."""

    FREE = "free recall"
    CUED = "cued recall"
    TIME = "time"


@dataclass(frozen=True, slots=True)
class Printed:
    """A number of people, with its standard error."""

    value: float
    error: float


def share(value: float, people: int) -> Printed:
    """A share, with the greatest standard error that a mean of shares of so many people can have.

    >>> share(0.5, 25)
    Printed(value=0.5, error=0.1)
    """
    return Printed(value, math.sqrt(value * (1.0 - value) / people))


class Recalled(NamedTuple):
    """One test of a memory.

    support  (n,) standardised scores of the candidates
    words    of each word that is right, the places of its memories; BEYOND for one that is stored
             and no candidate; () for a word that is not stored, which cannot be recalled
    """

    support: NDArray[np.float64]
    words: tuple[tuple[int, ...], ...]


Tests = Mapping[str, Sequence[Recalled]]  # by point


@dataclass(frozen=True, slots=True)
class Effect:
    """A sum of points that is above 0 in people.

    weights  point -> weight
    """

    name: str
    weights: Mapping[str, float]

    def of(self, values: Mapping[str, float]) -> float:
        return sum(weight * values[point] for point, weight in self.weights.items())


@dataclass(frozen=True, slots=True)
class Paradigm:
    """An experiment whose results are printed.

    id          never changed
    title       the field's name of the effect
    source      paper, with its DOI
    read        how the numbers were read: in the source, or second-hand, and from where
    protocol    what a memory is told, what passes and what it is asked
    departures  where this is not what people did
    kind        how supports become what is printed
    points      conditions, in order
    printed     point -> number of people; {}: only the signs of the effects are known here
    effects     what the experiment is known for
    papers      keys of `audit/references.bib`: works whose effect it is
    matters     mechanisms that should show it
    missing     what a memory needs to show it, in a sentence
    run         tests of one simulated person
    """

    id: str
    title: str
    source: str
    read: str
    protocol: str
    departures: str
    kind: ReadoutKind
    points: tuple[str, ...]
    effects: tuple[Effect, ...]
    missing: str
    run: Callable[[SimulatedPerson], None]
    printed: Mapping[str, Printed] = field(default_factory=dict)
    papers: tuple[str, ...] = ()
    matters: tuple[str, ...] = ()

    def size_of(self, effect: Effect) -> float:
        """An effect in people; 0 where one of its points has no printed number."""
        if not all(point in self.printed for point in effect.weights):
            return 0.0
        return effect.of({point: number.value for point, number in self.printed.items()})


class SimulatedPerson:
    """A memory that takes part in an experiment, and what its tests gave.

    draws  of words and orders; the same paradigm and seed give the same
    tests  point -> tests
    """

    def __init__(self, paradigm: str, seed: int, life: Life) -> None:
        self.draws, self.life = Stimuli(f"people/{paradigm}", seed), life
        self.tests: dict[str, list[Recalled]] = {}
        self._studied: list[tuple[Life, str]] = []
        self._sentences = self.draws.draw(TALK, len(TALK))
        self._talk = iter(self._sentences)

    def fresh(self) -> SimulatedPerson:
        """Another memory of the same kind, which adds to the same tests.  It has lived for a day
        before, so that a test always has as many candidates; talk is the same in all memories.
        """
        other = object.__new__(SimulatedPerson)
        other.draws, other.life, other.tests = self.draws, self.life.fresh(), self.tests
        other._studied, other._sentences = self._studied, self._sentences
        other._talk = iter(self._sentences)
        other.talk(CANDIDATES, DAY / CANDIDATES)
        return other

    # --- what is told -----------------------------------------------------------------------------
    def study(self, texts: Sequence[str], apart: float, session: str = "") -> list[str]:
        """Tell what is to be learnt, one thing every `apart` h; ids.  The last one takes as long."""
        ids = self.life.tell_all(texts, apart, session=session)
        self._studied += [(self.life, id) for id in ids]
        self.life.wait(apart)
        return ids

    def talk(self, count: int, apart: float, session: str = "talk") -> None:
        """Other talk: `count` sentences, one every `apart` h."""
        self.life.tell_all([next(self._talk) for _ in range(count)], apart, session=session)
        self.life.wait(apart)

    def live(self, until: float, a_day: int) -> None:
        """Let days pass up to a point in time, h, with `a_day` sentences of talk a day, evenly over
        waking hours.
        """
        apart = (EVENING - MORNING) / a_day
        day = math.floor(self.life.now / DAY) * DAY
        while day < until:
            for n in range(a_day):
                at = day + MORNING + n * apart
                if self.life.now < at < until:
                    self.life.tell(next(self._talk), at=at, session="talk")
            day += DAY
        self.life.until(until)

    def practise(self, cue: str, session: str = "") -> None:
        """Recall to a cue, without feedback: the best memory is used."""
        self.life.ask(cue, k=1, learn=True, session=session)

    # --- what is asked ----------------------------------------------------------------------------
    def recall(
        self,
        point: str,
        words: Sequence[Collection[str]],
        cue: str = "",
        session: str = "",
        said: Collection[str] = (),
    ) -> None:
        """Ask once, and note the supports for a point.

        words  of each word that is right, the ids of its memories
        said   ids of what cannot be recalled any more
        """
        events = self.life.ask(cue, k=CANDIDATES, session=session).events
        support = standardised([event.score for event in events])
        left = [place for place, event in enumerate(events) if event.id not in said]
        places = {events[place].id: n for n, place in enumerate(left)}
        known = set(self.life.told)
        groups = tuple(
            tuple(places.get(id, BEYOND) for id in sorted(ids) if id in places or id in known)
            for ids in words
        )
        self.tests.setdefault(point, []).append(Recalled(support[left], groups))

    def units_with(self, word: str, cue: str = "", session: str = "") -> list[str]:
        """Ids of memories in the answer that contain a word which was never told."""
        events = self.life.ask(cue, k=CANDIDATES, session=session).events
        return [event.id for event in events if word in event.text.lower().split()]

    def refused(self) -> tuple[int, int]:
        """How many of the things to be learnt the memory did not store, of how many."""
        stored = 0
        for life, id in self._studied:
            log = life.engine.event_log if life.engine else None
            stored += bool(log.rows_of(id)) if log else True
        return len(self._studied) - stored, len(self._studied)


def mean_of(points: Sequence[str], sign: float = 1.0) -> dict[str, float]:
    """Weights of a mean of points."""
    return dict.fromkeys(points, sign / len(points))


def difference(higher: Sequence[str], lower: Sequence[str]) -> dict[str, float]:
    """Weights of the mean of some points above that of others.

    >>> difference(["a"], ["b", "c"])
    {'a': 1.0, 'b': -0.5, 'c': -0.5}
    """
    return mean_of(higher) | mean_of(lower, -1.0)
