"""Work in parts that may run at the same time: by the threads that help with a question, if
there are any.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

Share = Callable[[int, Callable[[int], None]], None]


def alone(count: int, do: Callable[[int], None]) -> None:
    """Do the parts one after another."""
    for part in range(count):
        do(part)


# set by `crew.Crew` in its threads
HELPED: Final[ContextVar[Share]] = ContextVar("helped", default=alone)


def in_parts(count: int, do: Callable[[int], None]) -> None:
    """Do the parts 0, 1, ..., count - 1, in any order, perhaps at the same time; returns once all
    are done.

    Parts must not write what others read or write.  An exception of a part is raised once none runs
    any more.

    >>> squares = [0, 0, 0]
    >>> in_parts(3, lambda part: squares.__setitem__(part, part * part))
    >>> squares
    [0, 1, 4]
    """
    HELPED.get()(count, do)


def at_once(*tasks: Callable[[], Any]) -> list[Any]:
    """What each task returns, as `in_parts` does parts.

    >>> at_once(lambda: 1, lambda: "two")
    [1, 'two']
    """
    results: list[Any] = [None] * len(tasks)
    in_parts(len(tasks), lambda at: results.__setitem__(at, tasks[at]()))
    return results


def in_blocks(rows: int, size: int, do: Callable[[slice], None]) -> None:
    """Do blocks of `size` rows, the last of which may be smaller, as `in_parts` does parts.

    >>> blocks = []
    >>> in_blocks(5, 2, blocks.append)
    >>> blocks
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    if 0 < rows <= size:
        do(slice(0, rows))
    else:
        in_parts(-(-rows // size), lambda at: do(slice(at * size, min((at + 1) * size, rows))))


@contextmanager
def one_thread(*libraries: Any) -> Iterator[None]:
    """OpenMP of some libraries computes in the calling thread alone, and in as many threads as
    before afterwards.

    >>> from types import SimpleNamespace
    >>> set_to = [4]
    >>> library = SimpleNamespace(
    ...     omp_get_max_threads=lambda: set_to[-1], omp_set_num_threads=set_to.append
    ... )
    >>> with one_thread(library):
    ...     set_to
    [4, 1]
    >>> set_to
    [4, 1, 4]
    """
    before = [(library, library.omp_get_max_threads()) for library in libraries]
    several = [(library, number) for library, number in before if number > 1]
    for library, _ in several:
        library.omp_set_num_threads(1)
    try:
        yield
    finally:
        for library, number in several:
            library.omp_set_num_threads(number)


def threads() -> int:
    """Threads that a library takes: OMP_NUM_THREADS, which is 1 in workers of an experiment,
    else one for each processor of this process.
    """
    stated = os.environ.get("OMP_NUM_THREADS", "")
    if stated.isdecimal() and int(stated):
        return int(stated)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
