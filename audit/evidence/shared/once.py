"""Measurements and references that are computed once: several checks of one specimen look at them, or
a check and its mutants are compared with them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from typing import Any, Final, ParamSpec, TypeVar

import numpy as np

P = ParamSpec("P")
Result = TypeVar("Result")

MOST: Final = 1024  # results of one function that are kept, the latest
NUMBERS: Final = (bool, int, float, complex, str, bytes, type(None), np.generic)


def computed_once(function: Callable[P, Result]) -> Callable[P, Result]:
    """The function, which gives the latest results again for equal arguments; of specimens and other
    objects, for the same ones.  Arrays that it returns refuse to be written.

    Not for what runs hooks of a memory: the audit notes which checks do.

    >>> calls = []
    >>> total = computed_once(lambda x: calls.append(x) or sum(x))
    >>> total(np.arange(3.0)), total(np.arange(3.0)), len(calls)
    (np.float64(3.0), np.float64(3.0), 1)
    """
    kept: dict[Hashable, tuple[Result, Any]] = {}

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> Result:
        key = _key((args, kwargs))
        if key not in kept:
            # the arguments stay, so that no other object gets the id of one of them
            kept[key] = _closed(function(*args, **kwargs)), (args, kwargs)
            if len(kept) > MOST:
                del kept[next(iter(kept))]
        return kept[key][0]

    return call


def _key(value: Any) -> Hashable:
    """Equal for equal numbers, words and arrays, and collections of them; of other objects the id."""
    if isinstance(value, NUMBERS):
        return type(value), value
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.shape, value.dtype.str, value.tobytes()
    if isinstance(value, (tuple, list)):
        return type(value), *map(_key, value)
    if isinstance(value, dict):
        return dict, *((name, _key(held)) for name, held in value.items())
    return object, id(value)


def _closed(result: Any) -> Any:
    """The result, with its arrays read-only."""
    if isinstance(result, np.ndarray):
        result.flags.writeable = False
    elif isinstance(result, (tuple, list)):
        for part in result:
            _closed(part)
    return result
