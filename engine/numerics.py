"""The numba decorator, and small numerical helpers that every part of the project may use."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numpy.typing import ArrayLike, NDArray

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile a pure function of arrays and scalars on its first call, and cache it on disk.

    No `self`, no global state, no hidden allocation of the size of the memory.  The plain function stays reachable as
    `kernel.py_func`; the tests run both.  Division by zero gives inf or NaN as in numpy.
    """
    return cast(F, numba.njit(cache=True, error_model="numpy")(function))


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A view that shows every change of the array and refuses writes; `setflags(write=True)` raises ValueError.  O(1).

    >>> array = np.zeros(2)
    >>> view = read_only(array)
    >>> array[0] = 1.0
    >>> view.tolist(), view.flags.writeable
    ([1.0, 0.0], False)
    """
    return np.asarray(array.data.toreadonly())     # numpy can make a view writable again if the array is writable, but no read-only memory


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


def is_zero(array: ArrayLike) -> bool:
    """Whether all numbers are zeros without a sign, so that fresh memory of the system holds them already.  O(size).

    >>> is_zero(0.0), is_zero([0, 0]), is_zero(-0.0)
    (True, True, False)
    """
    return not np.asarray(array).tobytes().strip(b"\0")
