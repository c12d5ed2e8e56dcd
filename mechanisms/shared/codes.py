"""Small codes of embeddings: a fixed random projection to fewer dimensions."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray


@cache
def projection(seed: int, dimensions: int, size: int) -> NDArray[np.float32]:
    """(d, p) Gaussian matrix; it keeps cosines up to an error of about 1 / sqrt(p)."""
    return np.random.default_rng(seed).standard_normal((dimensions, size), dtype=np.float32)


def codes(vectors: NDArray[np.float32], seed: int, size: int) -> NDArray[np.float32]:
    """Small codes x (m, p) of vectors (m, d): a fixed random projection, scaled to unit length.
    Cost: O(m d p).

    >>> x = codes(np.eye(3, 8, dtype=np.float32), 0, 4)
    >>> x.shape, bool(np.allclose((x * x).sum(axis=1), 1.0))
    ((3, 4), True)
    """
    x = vectors @ projection(seed, vectors.shape[1], size)
    return np.asarray(
        x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12), dtype=np.float32
    )
