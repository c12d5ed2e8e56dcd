"""The blend of the rerankers: compiled against plain Python, and edge cases."""
from __future__ import annotations

import numpy as np
import pytest

from hebbarium.mechanisms.shared.rerank import above, blended, min_max, reranker_weight, spread


@pytest.mark.parametrize("size", [1, 2, 50])
def test_kernels_against_plain_python(size: int) -> None:
    rng = np.random.default_rng(size)
    fused, judged = rng.normal(size=size).astype(np.float32), rng.random(size)
    for kernel, arguments in ((min_max, (judged,)), (blended, (fused, judged, 0.3)), (above, (fused, judged))):
        one, other = np.empty(size, np.float32), np.empty(size, np.float32)
        kernel(*arguments, one)
        kernel.py_func(*arguments, other)   # type: ignore[attr-defined]
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
        assert reranker_weight(0.7, "spread", np.full(7, value)) == 0.0 and reranker_weight(0.7, "fixed", np.full(7, value)) == 0.7
