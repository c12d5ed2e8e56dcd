"""Small numerical helpers that every part of the project may use, and the decorators of kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .kernels import KERNELS, exact_kernel, formula, kernel, plain, summing_kernel

__all__ = [
    "KERNELS", "copy", "exact_kernel", "fitted", "formula", "is_zero", "kernel", "place_from", "plain",
    "products", "read_only", "summing_kernel",
]  # fmt: skip


@summing_kernel
def products(vectors: Any, vector: Any, out: Any) -> None:
    """out_i = vectors_i . vector; the product of a row does not depend on the other rows.  Cost:
    O(n d).

    vectors  (n, d)  of the type of `vector`
    vector   (d,)
    out      (n,)    written

    >>> out = np.empty(2)
    >>> products(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, 0.5]), out)
    >>> out.tolist()
    [2.0, 5.0]
    """
    for i in range(vectors.shape[0]):
        total = vectors.dtype.type(0.0)
        for j in range(vectors.shape[1]):
            total += vectors[i, j] * vector[j]
        out[i] = total


@formula
def copy(values: Any, out: Any) -> None:
    """out_i = values_i, for kernels: where they assign an array to a slice, numba compiles the text
    of an error about shapes, which takes four seconds in each process.  Cost: O(m).

    values  (m,)
    out     (m,)  written

    >>> out = np.zeros((2, 2))
    >>> copy(np.array([1.0, 2.0]), out[1])
    >>> out.tolist()
    [[0.0, 0.0], [1.0, 2.0]]
    """
    for i in range(out.shape[0]):
        out[i] = values[i]


@formula
def place_from(values: Any, start: int, stop: int, least: int) -> int:
    """The first place from `start` on whose value is at least `least`, `stop` if none before it is,
    for kernels: numba compiles a search of numpy for a second or more.  Cost: O(log(stop - start)).

    values  (n,)  ascending between `start` and `stop`

    >>> values = np.array([9, 2, 5, 5, 7])
    >>> [place_from(values, 1, 5, least) for least in (1, 5, 6, 8)]
    [1, 2, 4, 5]
    """
    while start < stop:
        middle = (start + stop) // 2
        if values[middle] < least:
            start = middle + 1
        else:
            stop = middle
    return start


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A view that shows every change of the array and refuses writes; `setflags(write=True)` raises
    ValueError.  An array that refuses writes is returned as it is.  O(1).

    >>> array = np.zeros(2)
    >>> view = read_only(array)
    >>> array[0] = 1.0
    >>> view.tolist(), view.flags.writeable
    ([1.0, 0.0], False)
    """
    # numpy can make a view writable again if the array is writable, but no read-only memory
    return np.asarray(array.data.toreadonly()) if array.flags.writeable else array


def fitted(array: NDArray[Any], like: NDArray[Any]) -> NDArray[Any]:
    """The array with as many rows as `like`: missing rows are zero, surplus rows are cut off.

    >>> fitted(np.array([1.0, 2.0]), np.empty(3)).tolist(), fitted(np.array([1.0, 2.0]), np.empty(1)).tolist()
    ([1.0, 2.0, 0.0], [1.0])
    """
    if array.ndim == 0 or len(array) == len(like):
        return array
    resized = np.zeros_like(like)
    size = min(len(array), len(like))
    resized[:size] = array[:size]
    return resized


def is_zero(array: ArrayLike) -> bool:
    """Whether all numbers are zeros without a sign, so that fresh memory of the system holds them
    already.  O(size).

    >>> is_zero(0.0), is_zero([0, 0]), is_zero(-0.0)
    (True, True, False)
    """
    return not np.asarray(array).tobytes().strip(b"\0")
