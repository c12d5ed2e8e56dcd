"""The world of needs: its ideal observer against enumeration and dense integration, a finer grid
and the frequencies of many lives.
"""

from __future__ import annotations

import math
from itertools import chain, combinations

import numpy as np
import pytest

from hebbarium.benchmarks.worlds import needs
from hebbarium.benchmarks.worlds.base import counting, expected, last_use, places
from hebbarium.benchmarks.worlds.needs import (
    LAW,
    Demand,
    Grid,
    Law,
    drawn,
    mean_exposure,
    posterior,
    scale,
)


def enumerated(demand: Demand, law: Law, strength: float) -> list[list[float]]:
    """Need of each item before each use: all subsets of revival days, lambda in closed form
    (gamma), delta at 4,000 quantiles.
    """
    shape, rate = law.shape / strength**2, scale(law, strength) * strength**2 / law.shape
    delta = -strength * law.decay * np.log1p(-(np.arange(4000) + 0.5) / 4000)
    found = []
    for number, time in enumerate(demand.times):
        needs_now = []
        for item, born in enumerate(demand.born):
            if born > time:
                continue
            uses = [
                t
                for t, i in zip(demand.times[:number], demand.items[:number], strict=True)
                if i == item
            ]
            days = range(born + 1, int(time) + 1)
            above = below = np.zeros(4000)
            for revived in chain.from_iterable(combinations(days, n) for n in range(len(days) + 1)):
                probability = law.revival ** len(revived) * (1 - law.revival) ** (
                    len(days) - len(revived)
                )
                starts = [born, *revived]

                def rate_at(t: float, starts: list[int] = starts) -> np.ndarray:
                    return np.exp(-delta * (t - max(s for s in starts if s <= t)))

                watched = sum(
                    (np.exp(-delta * 0.0) - np.exp(-delta * (end - start))) / delta
                    for start, end in zip(starts, [*starts[1:], time], strict=True)
                )
                given = probability * math.prod((rate_at(t) for t in uses), start=np.ones(4000))
                # the integral of lambda^n exp(-lambda E) over its gamma distribution, up to a
                # factor that all revivals share
                below = below + given * (1 / rate + watched) ** -(shape + len(uses))
                above = above + given * rate_at(time) * (shape + len(uses)) * (
                    1 / rate + watched
                ) ** -(shape + len(uses) + 1)
            needs_now.append(above.sum() / below.sum())
        found.append([need / sum(needs_now) for need in needs_now])
    return found


@pytest.mark.parametrize("strength", [1.0, 0.5])
def test_the_posterior_is_that_of_enumerated_revivals_and_dense_integration(
    strength: float,
) -> None:
    law = Law(shape=0.8, decay=0.5, revival=0.2, rate=0.3)
    demand = Demand(
        np.array([0, 0, 2]), np.array([0.4, 0.7, 2.9, 3.1, 4.6, 6.5]), np.array([0, 0, 1, 2, 0, 0])
    )
    for mine, other in zip(
        posterior(demand, law, strength, Grid(24, 20)),
        enumerated(demand, law, strength),
        strict=True,
    ):
        assert mine.tolist() == pytest.approx(other, abs=2e-3)


def test_a_finer_grid_changes_a_belief_by_less_than_a_thirtieth_and_no_score() -> None:
    demand = drawn(LAW, 1.0, needs.births()[3], np.random.default_rng(5))
    coarse, fine = posterior(demand, LAW, 1.0), posterior(demand, LAW, 1.0, Grid(28, 22))
    assert max(float(abs(a - b).max()) for a, b in zip(coarse, fine, strict=True)) < 0.03
    scores = [
        np.mean([expected(places(p), q, 1)[0] for p, q in zip(each, fine, strict=True)])
        for each in (coarse, fine)
    ]
    assert scores[0] == pytest.approx(scores[1], abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("strength", [1.0, 0.5])
def test_beliefs_are_calibrated(strength: float) -> None:
    """Of all beliefs in a bin, the share that was needed is their mean within four standard
    errors.
    """
    rng, beliefs, hits = np.random.default_rng(11), list[float](), list[bool]()
    for cue in range(40):
        demand = drawn(LAW, strength, needs.births()[cue % needs.CUES], rng, 12)
        for time, item, need in zip(
            demand.times, demand.items, posterior(demand, LAW, strength, Grid(12, 10)), strict=True
        ):
            told = np.flatnonzero(demand.born <= time)
            beliefs += need.tolist()
            hits += (told == item).tolist()
    found, needed = np.array(beliefs), np.array(hits)
    for low, high in (
        (0.0, 0.02),
        (0.02, 0.05),
        (0.05, 0.1),
        (0.1, 0.2),
        (0.2, 0.4),
        (0.4, 0.7),
        (0.7, 1.01),
    ):
        mine = (found >= low) & (found < high)
        if mine.sum() >= 20:
            error = math.sqrt(found[mine].mean() * (1 - found[mine].mean()) / mine.sum())
            assert abs(needed[mine].mean() - found[mine].mean()) < 4 * error


def test_the_mean_number_of_uses_is_the_same_for_every_strength() -> None:
    """Uses in ten days of many items told on day 0, by simulation, and the exposure by
    simulation of revivals.
    """
    law, rng = Law(rate=0.3), np.random.default_rng(2)
    for strength in (0.5, 1.0):
        delta = strength * law.decay * rng.exponential(size=200_000)
        age, total = np.zeros(200_000), 0.0
        for _ in range(needs.DAYS):
            total += float(((1 - np.exp(-delta)) / delta * np.exp(-delta * age)).mean())
            age = np.where(rng.random(200_000) < law.revival, 0.0, age + 1.0)
        assert mean_exposure(law, strength, needs.DAYS) == pytest.approx(total, rel=0.01)
    spans = needs.DAYS - needs.births().ravel()
    for strength in (0.0, 0.5, 1.0):
        assert scale(LAW, strength) * sum(
            mean_exposure(LAW, strength, int(span)) for span in spans
        ) == pytest.approx(LAW.rate * spans.sum())


def test_every_count_is_the_same_for_every_strength_and_seed() -> None:
    lives = [needs.life(strength, seed) for strength in (0.0, 1.0) for seed in (0, 1)]
    for life in lives:
        assert len(life.events) == 300 and len(life.asks) == len(life.scored) == 400
        assert sorted(ask.id.partition("q")[0] for ask in life.asks) == sorted(
            f"c{c}" for c in range(needs.CUES) for _ in range(needs.QUESTIONS)
        )
        assert sorted(e.text for e in life.events if e.id[0] == "c") == sorted(
            e.text for e in lives[0].events if e.id[0] == "c"
        )
    told = [sorted(event.time for event in life.events) for life in lives]
    assert told[0] == told[2] and told[1] == told[3]
    texts = [{event.id: event.text for event in life.events} for life in lives]
    # permuted by the seed, not by the strength
    assert texts[0] == texts[2] and texts[0] != texts[1]


def test_the_rivals_are_below_the_ideal_and_alike_without_structure() -> None:
    life = needs.life(1.0, 0, grid=Grid(10, 8))
    need = life.ideal()
    ideal, count, last = (
        np.mean([expected(places(b), p, 1)[0] for b, p in zip(each, need, strict=True)])
        for each in (need, counting(life), last_use(life))
    )
    chance = np.mean([1 / len(p) for p in need])
    assert chance + 0.15 < count < ideal - 0.02 and chance + 0.15 < last < ideal - 0.02
    flat = needs.life(0.0, 0)
    assert all(np.ptp(p) == 0.0 for p in flat.ideal())
