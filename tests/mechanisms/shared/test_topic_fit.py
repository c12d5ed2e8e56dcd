"""Topic fit: compiled and plain kernels agree; the means are those of numpy."""

from __future__ import annotations

import numpy as np
import pytest

from hebbarium.mechanisms.shared.topic_fit import fits, follow

RNG = np.random.default_rng(7)


@pytest.mark.slow
@pytest.mark.parametrize(("joins", "starts"), [(True, False), (False, False), (False, True)])
def test_topic_kernels_compiled_equal_plain(joins: bool, starts: bool) -> None:
    themes, masses, vector = (
        RNG.standard_normal((2, 16)),
        np.array([3.0, 9.0]),
        RNG.standard_normal(16).astype(np.float32),
    )
    assert fits(themes, vector) == fits.py_func(themes, vector)
    a, b = (themes.copy(), masses.copy()), (themes.copy(), masses.copy())
    follow(*a, vector, joins, starts, 0.9)
    follow.py_func(*b, vector, joins, starts, 0.9)
    np.testing.assert_allclose(a[0], b[0], rtol=1e-13)
    np.testing.assert_array_equal(a[1], b[1])


@pytest.mark.kernels
def test_the_mean_of_all_events_is_their_mean_and_a_new_topic_starts_at_its_first_event() -> None:
    vectors, themes, masses = RNG.standard_normal((30, 8)), np.zeros((2, 8)), np.zeros(2)
    for i, vector in enumerate(vectors):
        follow(themes, masses, vector, True, i == 20, 1.0)
    np.testing.assert_allclose(
        themes, [vectors[20:].mean(axis=0), vectors.mean(axis=0)], atol=1e-12
    )
    np.testing.assert_array_equal(masses, [10.0, 30.0])
