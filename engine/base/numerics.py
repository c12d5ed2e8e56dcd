"""The numba decorator, and small numerical helpers that every part of the project may use."""

from __future__ import annotations

import logging
import sys
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from glob import escape
from itertools import count
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import numba
import numpy as np
from numba.core.caching import IndexDataCacheFile
from numpy.typing import ArrayLike, NDArray

F = TypeVar("F", bound=Callable[..., Any])
# s for which a file of a cache may belong to a process that still writes
FRESH: Final = 600.0
SEVERAL: Final = 4  # kernels that a process compiles in silence; more take long
_compiling = count(1)  # kernels that this process has to compile


class KernelCache(IndexDataCacheFile):  # type: ignore[misc]      # numba is not annotated: to mypy its class is Any
    """The compiled forms of one kernel on disk, each in a file whose name no other process chooses.

    numba counts the files up from 1, so that two processes which compile a kernel for different
    types at the same time write the same file, and later processes run the code of the wrong types.
    With names of their own, the process that writes the index last is the one that is remembered,
    and the other form is compiled again when it is needed.
    """

    def load(self, key: Any) -> Any:
        """The compiled form for these types, or None: numba then compiles it.  A user at a
        terminal is told once why the call stands still.
        """
        found = super().load(key)
        if found is None and next(_compiling) == SEVERAL and sys.stderr.isatty():
            logging.getLogger("hebbarium").warning(
                "hebbarium compiles its kernels, once per installation: this takes about a minute"
            )
        return found

    def _data_name(self, number: int) -> str:
        return str(super()._data_name(uuid.uuid4().int >> 64))

    def _save_index(self, overloads: dict[Any, str]) -> None:
        """Save the index, and remove old files that it does not name: those of earlier versions
        of the source, and of processes that came second.
        """
        super()._save_index(overloads)
        named = set(overloads.values())
        for path in Path(self._cache_path).glob(
            f"{escape(self._index_name.removesuffix('.nbi'))}.*.nbc"
        ):
            with suppress(OSError):
                if path.name not in named and time.time() - path.stat().st_mtime > FRESH:
                    path.unlink()


def _compiled(function: F, **options: Any) -> F:
    compiled = numba.njit(cache=True, nogil=True, error_model="numpy", **options)(function)
    if compiled is not function:  # NUMBA_DISABLE_JIT leaves it as it is
        # what is compiled names its modules, and is useless under others
        cache, package = compiled._cache, function.__module__.partition(".")[0]
        cache._cache_file = KernelCache(
            cache.cache_path,
            f"{package}.{cache._impl.filename_base}",
            cache._impl.locator.get_source_stamp(),
        )
    return cast(F, compiled)


def kernel(function: F) -> F:
    """Compile a pure function of arrays and scalars on its first call, and cache it on disk.

    No `self`, no global state, no hidden allocation of the size of the memory.  The plain function
    stays reachable as `kernel.py_func`; the tests run both.  Division by zero gives inf or NaN as
    in numpy.
    """
    return _compiled(function)


def summing_kernel(function: F) -> F:
    """As `kernel`, but a sum may be taken in any order, so that the compiler uses vector
    instructions: five times as fast.

    The last bits of a sum depend on the processor, as those of the vector index do, and on the
    places of its terms; equal arrays give equal bits. NaN and infinity are treated as elsewhere.
    """
    return _compiled(function, fastmath={"reassoc", "contract"})


KERNELS: Final = (kernel, summing_kernel)


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


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A view that shows every change of the array and refuses writes; `setflags(write=True)` raises
    ValueError.  O(1).

    >>> array = np.zeros(2)
    >>> view = read_only(array)
    >>> array[0] = 1.0
    >>> view.tolist(), view.flags.writeable
    ([1.0, 0.0], False)
    """
    # numpy can make a view writable again if the array is writable, but no read-only memory
    return np.asarray(array.data.toreadonly())


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
    """Whether all numbers are zeros without a sign, so that fresh memory of the system holds them
    already.  O(size).

    >>> is_zero(0.0), is_zero([0, 0]), is_zero(-0.0)
    (True, True, False)
    """
    return not np.asarray(array).tobytes().strip(b"\0")
