"""The readout: closed forms of choice, stopping and pause, and recovery of known numbers from
simulated people.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import log_softmax
from tiers import later

from hebbarium.benchmarks.people.readout import (
    STOP,
    Choice,
    Readout,
    chances,
    drawn,
    fitted,
    log_likelihood,
    pause,
)
from hebbarium.benchmarks.probes.harness.life import standardised
from hebbarium.engine.base.errors import DataError, InputError


def test_the_odds_of_two_candidates_are_the_exponential_of_their_distance() -> None:
    readout = Readout(0.4, 0.7)
    p = chances(np.array([1.0, 0.2, -3.0]), readout)
    assert p.sum() == pytest.approx(1.0)
    assert p[0] / p[1] == pytest.approx(math.exp(0.8 / 0.4))
    assert p[3] / p[1] == pytest.approx(math.exp(0.5 / 0.4))


def test_stopping_is_even_where_the_total_support_is_the_threshold() -> None:
    """n equal candidates at z = 0 have the total n; theta = T ln n is as much."""
    for n, temperature in ((3, 0.5), (40, 2.0)):
        readout = Readout(temperature, temperature * math.log(n))
        assert chances(np.zeros(n), readout)[-1] == pytest.approx(0.5)


def test_nothing_left_to_recall_is_to_stop() -> None:
    assert chances(np.empty(0), Readout(0.5, -9.0)).tolist() == [1.0]
    assert drawn(np.array([1.0]), np.random.default_rng(0)) == STOP


def test_draws_have_the_frequencies_of_the_chances() -> None:
    stream, p = np.random.default_rng(1), np.array([0.5, 0.2, 0.3])
    places = [drawn(p, stream) for _ in range(20_000)]
    shares = [places.count(place) / 20_000 for place in (0, 1, STOP)]
    assert shares == pytest.approx([0.5, 0.2, 0.3], abs=0.012)  # three standard errors


def test_a_pause_is_the_mean_of_the_first_of_racing_exponentials() -> None:
    stream, support = np.random.default_rng(2), np.array([0.3, -0.1, 1.0])
    readout = Readout(0.8, 0.0)
    races = stream.exponential(np.exp(-support / 0.8), size=(40_000, 3)).min(axis=1)
    assert pause(support, readout) == pytest.approx(races.mean(), rel=0.02)


def test_standardised_scores_do_not_depend_on_origin_and_unit() -> None:
    scores = np.array([0.1, 0.4, np.nan, 0.3, 2.0])
    z = standardised(scores)
    assert (
        z[2] == z[0] == z.min() and z.mean() == pytest.approx(0.0) and z.std() == pytest.approx(1)
    )
    np.testing.assert_allclose(standardised(3.0 + 7.0 * scores), z)
    assert standardised(np.full(3, 0.1, np.float32) + 1e-9).tolist() == [0.0] * 3
    assert standardised([np.nan, np.nan]).tolist() == [0.0, 0.0]


def people(readout: Readout, choices: int, seed: int) -> list[Choice]:
    """Choices of simulated people among as many candidates as a list may still have."""
    stream, made = np.random.default_rng(seed), list[Choice]()
    for _ in range(choices):
        support = stream.normal(size=int(stream.integers(5, 30)))
        made.append(Choice(support, drawn(chances(support, readout), stream)))
    return made


@pytest.mark.slow
@pytest.mark.parametrize(
    "readout", [Readout(0.4, 1.0), later(Readout(1.5, 2.0)), later(Readout(0.7, -1.0))]
)
def test_known_numbers_are_recovered_from_simulated_people(readout: Readout) -> None:
    """Within four standard errors, from the curvature of the log likelihood by scipy's softmax."""
    made = people(readout, 4000, 3)
    best = fitted(made)

    def total(b: float, c: float) -> float:
        logs = [log_softmax(np.append(b * choice.support, c))[choice.chosen] for choice in made]
        return float(np.sum(logs))

    b, c, h = 1.0 / best.temperature, best.threshold / best.temperature, 1e-3
    assert total(b, c) == pytest.approx(4000 * log_likelihood(made, best), rel=1e-9)
    curvature = np.array(
        [
            [
                total(b + i * h + j * h, c)
                if axis == (0, 0)
                else total(b + i * h, c + j * h)
                if axis == (0, 1)
                else total(b, c + i * h + j * h)
                for i, j in ((1, 1), (1, -1), (-1, 1), (-1, -1))
            ]
            for axis in ((0, 0), (0, 1), (1, 1))
        ]
    )
    bb, bc, cc = ((a - b_ - c_ + d) / (4 * h * h) for a, b_, c_, d in curvature)
    errors = np.sqrt(np.diag(np.linalg.inv(-np.array([[bb, bc], [bc, cc]]))))
    known = 1.0 / readout.temperature, readout.threshold / readout.temperature
    assert abs(b - known[0]) < 4 * errors[0] and abs(c - known[1]) < 4 * errors[1]
    assert total(b, c) >= total(*known)


def test_scores_that_say_nothing_get_the_highest_temperature_and_the_share_of_stops() -> None:
    made = [Choice(np.zeros(4), STOP if i % 5 == 0 else i % 4) for i in range(500)]
    best = fitted(made)
    assert chances(np.zeros(4), best)[-1] == pytest.approx(0.2, abs=1e-4)


def test_bad_numbers_are_refused() -> None:
    for temperature, threshold in ((0.0, 1.0), (-1.0, 1.0), (math.nan, 1.0), (1.0, math.inf)):
        with pytest.raises(InputError):
            Readout(temperature, threshold)
    with pytest.raises(DataError, match="no choice"):
        fitted([])
