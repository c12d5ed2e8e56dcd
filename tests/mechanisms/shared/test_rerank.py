"""The blend of the rerankers: compiled against plain Python, and edge cases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hebbarium.mechanisms.shared.rerank import (
    above,
    blended,
    min_max,
    reranked,
    reranker_weight,
    spread,
)


@pytest.mark.kernels
@pytest.mark.parametrize("size", [1, 2, 50])
def test_kernels_against_plain_python(size: int) -> None:
    rng = np.random.default_rng(size)
    fused, judged = rng.normal(size=size).astype(np.float32), rng.random(size)
    for kernel, arguments in (
        (min_max, (judged,)),
        (blended, (fused, judged, 0.3)),
        (above, (fused, judged)),
    ):
        one, other = np.empty(size, np.float32), np.empty(size, np.float32)
        kernel(*arguments, one)
        kernel.py_func(*arguments, other)  # type: ignore[attr-defined]
        assert np.allclose(one, other, rtol=1e-6)
    assert spread(judged) == pytest.approx(2.0 * judged.std())


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_the_pool_is_above_its_lowest_score_whatever_the_scale(scale: float) -> None:
    fused = (scale * np.array([-3.0, -1.0, -2.0])).astype(np.float32)
    out = np.empty(3, np.float32)
    above(fused, np.array([0.0, 1.0, 0.5]), out)
    assert out.min() > fused.min() and out.argsort().tolist() == [0, 2, 1]


def test_equal_scores_have_no_spread() -> None:
    for value in (0.1, 0.3, 1.0 / 3.0):
        assert (
            reranker_weight(0.7, "spread", np.full(7, value)) == 0.0
            and reranker_weight(0.7, "fixed", np.full(7, value)) == 0.7
        )


@pytest.mark.kernels
@pytest.mark.parametrize("blend", ["fixed", "spread"])
def test_a_pool_after_a_reranker(blend: Any) -> None:
    """By numpy: the blend on one scale, above the lowest score before it; one text has nothing
    to be compared with.
    """
    rng = np.random.default_rng(4)
    fused, judged = rng.normal(size=9).astype(np.float32), rng.random(9)
    a = 0.6 * min(2.0 * float(judged.std()), 1.0) if blend == "spread" else 0.6
    expected = (
        fused.min()
        + (1.0 - a) * (fused - fused.min()) / np.ptp(fused)
        + a * (judged - judged.min()) / np.ptp(judged)
    )
    found = reranked(fused, judged, 0.6, blend)
    assert (
        found.dtype == np.float32
        and np.allclose(found, expected, atol=1e-6)
        and found.min() > fused.min()
    )
    assert reranked(fused[:1], judged[:1], 0.6, blend)[0] == np.nextafter(
        fused[0], np.float32(np.inf)
    )
