"""The world of journeys: its ideal observer against enumeration and frequencies; what is
matched.
"""

from __future__ import annotations

from itertools import pairwise, permutations, product

import numpy as np
import pytest

from hebbarium.benchmarks.worlds import journeys
from hebbarium.benchmarks.worlds.journeys import known, learnt, life, walked


@pytest.mark.parametrize("strength", [0.0, 0.4, 1.0])
def test_what_is_learnt_is_bayes_over_all_worlds(strength: float) -> None:
    """Two stages of three places: every route and every way in which each step was made, follow
    or anywhere, enumerated.
    """
    walks = (
        np.array([[0, 1], [2, 1], [0, 1], [1, 2], [0, 0]])
        if strength < 1
        else np.array([[0, 1], [2, 0], [0, 1], [1, 2], [2, 0]])
    )
    for number in range(len(walks)):
        joint = np.zeros(3)
        for route in permutations(range(3)):
            for follows in product((True, False), repeat=number + 1):
                weight = 1.0
                for (start, end), follow in zip(walks[:number], follows[:-1], strict=True):
                    weight *= strength * (route[start] == end) if follow else (1 - strength) / 3
                here = route[walks[number, 0]]
                joint += weight * (
                    strength * (np.arange(3) == here)
                    if follows[-1]
                    else np.full(3, (1 - strength) / 3)
                )
        assert learnt(walks, strength, 3)[number][0].tolist() == pytest.approx(
            (joint / joint.sum()).tolist()
        )


def test_steps_have_the_frequencies_that_an_observer_of_the_routes_expects() -> None:
    rng = np.random.default_rng(0)
    routes = np.array([[2, 0, 1], [1, 2, 0]])
    walks = walked(routes, 0.6, 30_000, rng)
    belief = known(routes, walks[:1], 0.6)[0][0]
    mine = walks[walks[:, 0] == walks[0, 0]]
    assert (np.bincount(mine[:, 1], minlength=3) / len(mine)).tolist() == pytest.approx(
        belief.tolist(), abs=0.02
    )


@pytest.mark.parametrize("strength", [0.5, 1.0])
def test_what_is_learnt_is_calibrated(strength: float) -> None:
    rng, pairs = np.random.default_rng(3), list[tuple[float, bool]]()
    for _ in range(60):
        routes = np.stack([rng.permutation(6)])
        walks = walked(routes, strength, 12, rng)
        for walk, beliefs in zip(walks, learnt(walks, strength), strict=True):
            pairs += zip(beliefs[0].tolist(), (np.arange(6) == walk[1]).tolist(), strict=True)
    found, needed = np.array(pairs).T
    for low, high in ((0.0, 0.12), (0.12, 0.2), (0.2, 0.5), (0.5, 0.8), (0.8, 1.01)):
        mine = (found >= low) & (found < high)
        if mine.sum() >= 20:
            error = np.sqrt(max(found[mine].mean() * (1 - found[mine].mean()), 1e-6) / mine.sum())
            assert abs(needed[mine].mean() - found[mine].mean()) < 4 * error


@pytest.mark.parametrize("told", [True, False])
def test_events_questions_and_times_do_not_depend_on_the_strength(told: bool) -> None:
    none, full = life(0.0, 4, told=told), life(1.0, 4, told=told)
    assert none.events == full.events and len(none.events) == 300
    assert [(a.id, a.time, a.text, a.fits, a.session) for a in none.asks] == [
        (a.id, a.time, a.text, a.fits, a.session) for a in full.asks
    ]
    assert len(none.asks) == 480 and len(none.scored) == 384
    first = {event.id[:2]: event.time for event in reversed(none.events) if event.id[0] == "d"}
    # districts are told throughout
    assert sorted(first.values())[0] < sorted(first.values())[-1] - 24.0


def test_the_spread_of_visits_does_not_depend_on_the_strength() -> None:
    """Visits of each place over 40 lives: mean, and variance over places and lives, at s = 0 and
    s = 1.
    """
    spread = []
    for strength in (0.0, 1.0):
        counts = []
        for seed in range(40):
            rng = np.random.default_rng([seed, 9])
            walks = walked(np.stack([rng.permutation(6) for _ in range(4)]), strength, 24, rng)
            counts.append([np.bincount(walks[:, stage], minlength=6) for stage in range(5)])
        assert np.mean(counts) == 4.0
        spread.append(np.var(counts, axis=-1).mean())
    assert spread[0] == pytest.approx(spread[1], rel=0.2)


def test_only_the_told_world_shows_its_routes_in_the_order_of_events() -> None:
    """Along a told line each event is followed by the place to which the route leads, as the
    questions show at s = 1.
    """
    for told in (True, False):
        stream = life(1.0, 0, told=told)
        order = [event.id for event in stream.events if event.id[0] == "d"]
        after = dict(pairwise(order))
        steps = [(a.gold[0], b.gold[0]) for a, b in pairwise(stream.asks) if b.scored]
        share = np.mean([after.get(a) == b for a, b in steps])
        assert share == 1.0 if told else share < 0.2
    assert journeys.CHATTER + journeys.DISTRICTS * journeys.STAGES * journeys.PLACES == 300
