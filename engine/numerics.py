"""The numba decorator, and small numerical helpers that every part of the project may use."""
from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile a pure function of arrays and scalars on its first call, and cache it on disk.

    No `self`, no global state, no hidden allocation of the size of the memory.  The plain function stays reachable as
    `kernel.py_func`; the tests run both.  Division by zero gives inf or NaN as in numpy.
    """
    return cast(F, numba.njit(cache=True, error_model="numpy")(function))


@cache
def projection(seed: int, dimensions: int, size: int) -> NDArray[np.float32]:
    """(d, p) Gaussian matrix; it keeps cosines up to an error of about 1 / sqrt(p)."""
    return np.random.default_rng(seed).standard_normal((dimensions, size), dtype=np.float32)


def codes(vectors: NDArray[np.float32], seed: int, size: int) -> NDArray[np.float32]:
    """Small codes x (m, p) of vectors (m, d): a fixed random projection, scaled to unit length.  Cost: O(m d p).

    >>> x = codes(np.eye(3, 8, dtype=np.float32), 0, 4)
    >>> x.shape, bool(np.allclose((x * x).sum(axis=1), 1.0))
    ((3, 4), True)
    """
    x = vectors @ projection(seed, vectors.shape[1], size)
    return np.asarray(x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12), dtype=np.float32)


def fitted(array: NDArray[Any], like: NDArray[Any]) -> NDArray[Any]:
    """The array with as many rows as `like`: missing rows are zero, surplus rows are cut off.

    >>> fitted(np.array([1.0, 2.0]), np.empty(3)).tolist(), fitted(np.array([1.0, 2.0]), np.empty(1)).tolist()
    ([1.0, 2.0, 0.0], [1.0])
    """
    if array.ndim == 0 or len(array) == len(like):
        return array
    found = np.zeros_like(like)
    size = min(len(array), len(like))
    found[:size] = array[:size]
    return found
