"""Needs: the use of a memory follows the statistics of demand, with desirability, decay and
revivals.

Item i is used at the rate lambda_i exp(-delta_i a), a the days since it was told or last revived:
lambda is gamma distributed, delta exponential, and a revival, with a fixed probability at the end
of each day, brings the first rate back (Burrell 1980, 1985; Anderson & Milson 1989,
https://doi.org/10.1037/0033-295X.96.4.703).  Uses of items are independent Poisson processes, so
the posterior of each item depends on its own uses and on how long it was watched.  Strength s
multiplies the spread of lambda and of delta; at 0 all items of a cue are needed alike for ever. The
mean number of uses in the planned days is the same for every s.

The number of questions, of questions of each cue, of items, and the times at which items are told
do not depend on s.  The life ends when every cue was asked QUESTIONS times; the times of a stopped
process carry no more than the process itself, so the posterior is exact up to the grids.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from ...engine.contract.records import Event
from .base import DAY, START, Beliefs, Stream, World, WorldQuestion, ordered
from .words import LINES, chatter, memory_of, question_about

CUES, FIRST, BORN, QUESTIONS, CHATTER = 20, 6, 6, 20, 60
DAYS = 40  # planned; births are spread over them
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Law:
    """The law of the demand at strength 1.

    shape    of the gamma distribution of lambda; its coefficient of variation is 1 / sqrt(shape)
    decay    1/d, mean of delta
    revival  probability that an item is revived at the end of a day
    rate     1/d, mean rate of use of an item over the planned days
    """

    shape: float = 0.5
    decay: float = 0.6
    revival: float = 0.06
    rate: float = 0.055


LAW = Law()


@dataclass(frozen=True, slots=True)
class Grid:
    """Nodes of the numerical integration over lambda and delta: Gauss quadrature of their own
    distributions.
    """

    desirability: int = 24
    decay: int = 12


def gamma_nodes(shape: float, n: int) -> tuple[Floats, Floats]:
    """Nodes and weights of Gauss quadrature for a gamma distribution with mean 1, from its
    recurrence (Golub & Welsch 1969).

    >>> nodes, weights = gamma_nodes(2.0, 6)
    >>> [round(float(weights @ nodes ** p), 9) for p in (0, 1, 2, 3)]       # 1, 1, (k + 1) / k, (k + 1) (k + 2) / k^2
    [1.0, 1.0, 1.5, 3.0]
    """
    k = np.arange(n)
    matrix = (
        np.diag(2.0 * k + shape)
        + np.diag(off := np.sqrt(k[1:] * (k[1:] + shape - 1.0)), 1)
        + np.diag(off, -1)
    )
    nodes, vectors = np.linalg.eigh(matrix)
    return nodes / shape, vectors[0] ** 2


def exposure(delta: Floats, age: Floats, span: float) -> Floats:
    """Integral of exp(-delta a) over ages from `age` to `age + span`, d.

    >>> [round(float(exposure(np.array(d), np.array(3.0 * (1.0 - d)), t)), 9) for d, t in ((0.0, 2.0), (1.0, 50.0))]
    [2.0, 1.0]
    """
    safe = np.maximum(delta, 1e-12)
    return np.asarray(np.exp(-safe * age) * -np.expm1(-safe * span) / safe)


def mean_exposure(law: Law, strength: float, days: int) -> float:
    """Expected exposure of an item in its first days, d, over delta and revivals."""
    nodes, weights = gamma_nodes(1.0, 24)
    delta, kept, total = strength * law.decay * nodes, np.ones(24), 0.0
    for _ in range(days):
        total += float(weights @ (kept * exposure(delta, np.zeros(24), 1.0)))
        kept = law.revival + (1.0 - law.revival) * kept * np.exp(-delta)
    return total


def births() -> NDArray[np.int64]:
    """Day on which each item of each cue is told, (CUES, FIRST + BORN): FIRST at the start, the
    others spread over the planned days.
    """
    later = np.array(
        [
            [round(1 + (DAYS - 2) * (i + (cue + 0.5) / CUES) / BORN) for i in range(BORN)]
            for cue in range(CUES)
        ]
    )
    return np.concatenate([np.zeros((CUES, FIRST), np.int64), later], axis=1)


@cache
def scale(law: Law, strength: float) -> float:
    """Mean of lambda, 1/d, at which the expected number of uses in the planned days is that of a
    constant rate `law.rate`.
    """
    spans = [DAYS - int(day) for day in births().ravel()]
    exposures = {span: mean_exposure(law, strength, span) for span in set(spans)}
    return law.rate * sum(spans) / sum(exposures[span] for span in spans)


@dataclass(frozen=True, slots=True)
class Demand:
    """What happened to one cue: uses in order, time in days since the start, and the item."""

    born: NDArray[np.int64]
    times: Floats
    items: NDArray[np.int64]


def drawn(
    law: Law,
    strength: float,
    born: NDArray[np.int64],
    rng: np.random.Generator,
    questions: int = QUESTIONS,
) -> Demand:
    """The first `questions` uses of the items of one cue, told on the days `born`."""
    n, mean = len(born), scale(law, strength)
    rates = mean * (
        rng.gamma(law.shape / strength**2, strength**2 / law.shape, n) if strength else np.ones(n)
    )
    delta, last = strength * law.decay * rng.exponential(size=n), born.astype(float)
    times: list[float] = []
    items: list[int] = []
    day = 0
    while len(times) < questions:
        age = day - last
        expected = np.where(born <= day, rates * exposure(delta, age, 1.0), 0.0)
        for item in np.repeat(np.arange(n), rng.poisson(expected)):
            u, d = rng.random(), max(delta[item], 1e-12)
            times.append(day - math.log1p(u * math.expm1(-d)) / d)
            items.append(int(item))
        day += 1
        last = np.where((rng.random(n) < law.revival) & (born < day), day, last)
    order = np.argsort(times, kind="stable")[:questions]
    return Demand(born, np.array(times)[order], np.array(items)[order])


def posterior(demand: Demand, law: Law, strength: float, grid: Grid = Grid()) -> Beliefs:
    """The ideal observer of one cue: before each use, the probability that it is of each item told
    so far.

    Each item has weights over (lambda, delta, day of the last revival): revivals are summed
    exactly, lambda and delta by Gauss quadrature. Cost: O(items grid days) for each day and each
    use.
    """
    n, uses = len(demand.born), len(demand.times)
    if not strength:
        counts = [int(np.count_nonzero(demand.born <= time)) for time in demand.times]
        return [np.full(count, 1.0 / count) for count in counts]
    values, mass = gamma_nodes(law.shape / strength**2, grid.desirability)
    nodes, thin = gamma_nodes(1.0, grid.decay)
    rates, delta = (
        scale(law, strength) * values[:, None, None],
        (strength * law.decay * nodes)[None, :, None],
    )
    prior = (mass[:, None] * thin[None, :])[None]
    last = int(demand.times[-1]) + 1
    weights = np.zeros((n, grid.desirability, grid.decay, last))
    use, now, needs = 0, 0.0, list[NDArray[np.float64]]()
    for day in range(last):
        if day:
            fresh = law.revival * weights[..., :day].sum(axis=-1)
            weights[..., :day] *= 1.0 - law.revival
            weights[..., day] = fresh
        weights[demand.born == day, :, :, day] = prior
        alive, here = demand.born <= day, weights[..., : day + 1]
        # by day of the last revival, at the day of the step 0
        ages = np.arange(0, -day - 1, -1.0)[None, None, :] * -1.0
        while use < uses and demand.times[use] < day + 1:
            time = float(demand.times[use])
            here *= np.exp(-rates * exposure(delta, now - ages, time - now))
            likely = rates * np.exp(-delta * (time - ages))
            need = np.where(
                alive,
                (here * likely).sum(axis=(1, 2, 3))
                / np.where(alive, here.sum(axis=(1, 2, 3)), 1.0),
                0.0,
            )
            needs.append(need[alive] / need.sum())
            here[demand.items[use]] *= likely
            use, now = use + 1, time
        here *= np.exp(-rates * exposure(delta, now - ages, day + 1.0 - now))
        here /= np.where(alive, here.sum(axis=(1, 2, 3)), 1.0)[:, None, None, None]
        now = day + 1.0
    return needs


def life(strength: float, seed: int, law: Law = LAW, grid: Grid = Grid()) -> Stream:
    """One life of 300 events and 400 questions."""
    rng, days = np.random.default_rng([1, seed]), births()
    # which text an item has
    place = np.argsort(rng.random((CUES, FIRST + BORN)), axis=1)
    shift, cues, lines = (
        rng.permutation(CUES),
        rng.permutation(CUES),
        rng.permutation(LINES)[:CHATTER],
    )
    # the order in which items of one day are told
    turn = rng.permutation(days.size).reshape(days.shape)
    demands = [drawn(law, strength, days[shift[c]], rng) for c in range(CUES)]
    steps: list[Event | WorldQuestion] = []
    for c, demand in enumerate(demands):
        ids = [f"c{c}i{i}" for i in range(FIRST + BORN)]
        steps += [
            Event(
                START + DAY * day + int(turn[c, i]) / 3600.0 - 1.0,
                memory_of(int(cues[c]), int(place[c, i])),
                "",
                f"day {day}",
                ids[i],
                dated=False,
            )
            for i, day in enumerate(demand.born)
        ]
        for q, (time, item) in enumerate(zip(demand.times, demand.items, strict=True)):
            known = [i for i in range(len(ids)) if demand.born[i] <= time]
            fits = tuple((ids[i],) for i in known)
            steps.append(
                WorldQuestion(
                    f"c{c}q{q}",
                    START + DAY * float(time),
                    question_about(int(cues[c]), q),
                    fits,
                    known.index(item),
                )
            )
    steps += [
        Event(
            START + DAY * (i + 0.5) * DAYS / CHATTER,
            chatter(int(line)),
            "",
            f"day {int((i + 0.5) * DAYS / CHATTER)}",
            f"x{i}",
            dated=False,
        )
        for i, line in enumerate(lines)
    ]
    order = ordered(steps)

    def ideal() -> Beliefs:
        by_ask = {
            f"c{c}q{q}": need
            for c, demand in enumerate(demands)
            for q, need in enumerate(posterior(demand, law, strength, grid))
        }
        return [by_ask[step.id] for step in order if isinstance(step, WorldQuestion)]

    return Stream(order, ideal)


WORLDS = (
    World(
        "needs",
        "what was needed often and lately is needed again, until interest fades or comes back",
        "spread of desirability and of decay",
        "Anderson & Milson (1989), doi:10.1037/0033-295X.96.4.703",
        1,
        partial(life),
    ),
)
