"""numba: kernels become machine code, which is kept on disk.  Imported at the first call of a kernel."""

from __future__ import annotations

import gc
import sys
import time
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from glob import escape
from itertools import count
from pathlib import Path
from types import FunctionType
from typing import Any, Final

import numba
from numba.core import event
from numba.core.caching import IndexDataCacheFile

# s for which a file of a cache may belong to a process that still writes
FRESH: Final = 600.0
SEVERAL: Final = 4  # kernels that a process compiles in silence; more take long
_compiling = count(1)  # kernels that this process has to compile


class KernelCache(IndexDataCacheFile):  # type: ignore[misc]      # numba is not annotated: to mypy its class is Any
    """The compiled forms of one kernel on disk, each in a file whose name no other process chooses.

    stamp  what the forms were compiled from: forms of another stamp are not found.  Asked when the
           kernel is compiled or loaded, since it may call one that is defined below it
    name, kernels  its name and the number of kernels, for a user at a terminal

    numba counts the files up from 1, so that two processes which compile a kernel for different
    types at the same time write the same file, and later processes run the code of the wrong types.
    With names of their own, the process that writes the index last is the one that is remembered,
    and the other form is compiled again when it is needed.
    """

    def __init__(
        self,
        folder: str,
        base: str,
        stamp: Callable[[], str],
        name: str = "",
        kernels: Callable[[], int] = lambda: 0,
    ) -> None:
        super().__init__(folder, base, None)
        self._stamp, self._name, self._kernels = stamp, name, kernels

    @property
    def _source_stamp(self) -> str:
        return self._stamp()

    @_source_stamp.setter
    def _source_stamp(self, value: None) -> None:
        """Ignored: numba gives the time of the source file, which says nothing of what the file
        imports.
        """

    def load(self, key: Any) -> Any:
        """The compiled form for these types, or None: numba then compiles it.  A user at a
        terminal is told which kernel the call waits for.
        """
        form = super().load(key)
        if form is None and (number := next(_compiling)) >= SEVERAL and sys.stderr.isatty():
            text = f"compiling kernel {number} of at most {max(number, self._kernels())}, once per installation: {self._name}"
            sys.stderr.write(f"\r\x1b[K{text}")
            sys.stderr.flush()
        return form

    def save(self, key: Any, data: Any) -> None:
        super().save(key, data)
        if sys.stderr.isatty():
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def holds_any(self) -> bool:
        """Whether a compiled form of the present source lies on disk."""
        return bool(self._load_index())

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


def dispatcher(
    function: FunctionType,
    options: Mapping[str, Any],
    name: str,
    stamp: Callable[[], str],
    kernels: Callable[[], int],
) -> Any:
    """The function as numba compiles it, with its cache; the plain function if NUMBA_DISABLE_JIT
    is set.  The other arguments are those of `KernelCache`.
    """
    # nothing calls a kernel as a function of C, whose wrapper would be compiled with it
    wrapped: dict[str, Any] = {"no_cfunc_wrapper": True, **options}
    compiled: Any = numba.njit(cache=True, nogil=True, error_model="numpy", **wrapped)(function)
    if compiled is not function:  # NUMBA_DISABLE_JIT leaves it as it is
        # what is compiled names its modules, and is useless under others
        cache, package = compiled._cache, function.__module__.partition(".")[0]
        cache._cache_file = KernelCache(
            cache.cache_path, f"{package}.{cache._impl.filename_base}", stamp, name, kernels
        )
    return compiled


def is_kept(dispatcher: Any) -> bool:
    """Whether a compiled form of a kernel lies on disk, so that it need not be compiled."""
    cache = getattr(dispatcher, "_cache", None)  # a plain function if NUMBA_DISABLE_JIT is set
    return cache is not None and cache._cache_file.holds_any()


class Undisturbed(event.Listener):
    """No collection of garbage while kernels are compiled: numba makes millions of objects that
    live until the end, so that collecting takes an eighth of the time and finds next to nothing.

    One kernel may be compiled within another.  Threads need no lock here: numba compiles, and
    tells of it, under a lock of its own.
    """

    def __init__(self) -> None:
        self._open, self._collects = 0, False

    def on_start(self, event: Any) -> None:
        if self._open == 0:
            self._collects = gc.isenabled()
            gc.disable()
        self._open += 1

    def on_end(self, event: Any) -> None:
        self._open -= 1
        if self._open == 0 and self._collects:
            gc.enable()


event.register("numba:compile", Undisturbed())  # type: ignore[no-untyped-call]      # numba is not annotated
