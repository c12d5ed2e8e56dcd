"""Compile the kernels of a mechanism set before its first event, in several processes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from .engine.base.kernels import Kernel, in_python
from .reporting.workers import tied

Form = tuple[Kernel, tuple[Any, ...]]

# a short life that calls the kernels of events, recall that learns, ticks and sleep
SAID: Final = (
    ("Ada moved to the red house in Oslo in May.", "Ada", "first"),
    ("Did Ben buy the green bicycle, or did Ada?", "Ben", "first"),
    ("Ben was so angry when the bicycle broke!", "Ada", "second"),
    ("Ada moved to the red house in Oslo in May.", "Ada", "second"),
)
ASKED: Final = ("Who moved to Oslo?", "What did Ben buy?")
NIGHTS: Final = 48.0  # h


def forms_of(set: str | Path) -> list[Form]:
    """The kernels that a short life of a memory calls, with the types of their arguments, by name.

    The life runs in plain Python, so nothing is compiled.  Raises HebbariumError for an unknown set.
    """
    from .api import memory
    from .engine.contract.records import Event
    from .engine.state.ranking import FEW

    # more rows than those whose scores Python always standardises
    told = [
        (f"{text} It was day {day}." if day else text, speaker, session)
        for day in range(FEW // len(SAID) + 1)
        for text, speaker, session in SAID
    ]
    with in_python() as called, memory(set, embedding="hashing:64") as lived:
        for hour, (text, speaker, session) in enumerate(told):
            lived.encode(Event(30.0 + hour, text, speaker, session))
        for learn in (False, True):
            for question in ASKED:
                lived.retrieve(question, learn=learn)
        lived.advance(lived.now + NIGHTS)
        lived.retrieve(ASKED[0])
    return sorted(
        ((kernel, types) for kernel, forms in called.items() for types in forms),
        key=lambda form: (form[0].name, str(form[1])),
    )


def warm(
    set: str | Path, jobs: int, progress: Callable[[int, int, str], None] | None = None
) -> list[tuple[str, bool]]:
    """Compile the kernels of a set, with those that they call; the name of each, and whether it was
    compiled now.

    jobs      processes
    progress  called as progress(done, total, name of the last kernel)
    """
    forms = forms_of(set)
    done: list[tuple[str, bool]] = []
    if progress:
        progress(0, len(forms), "")
    for name, compiled in _compiled(forms, min(jobs, max(len(forms), 1))):
        done.append((name, compiled))
        if progress:
            progress(len(done), len(forms), name)
    return sorted(done)


def _compiled(forms: list[Form], jobs: int) -> Iterator[tuple[str, bool]]:
    from joblib import delayed

    made: Iterator[tuple[str, bool]] = tied(jobs, return_as="generator_unordered", batch_size=1)(
        delayed(_compile)(*form) for form in forms
    )
    return made


def _compile(kernel: Kernel, types: tuple[Any, ...]) -> tuple[str, bool]:
    """In a worker: numba keeps what it compiles on disk."""
    dispatcher = kernel.dispatcher
    if not hasattr(dispatcher, "compile"):  # NUMBA_DISABLE_JIT
        return kernel.name, False
    before = sum(dispatcher.stats.cache_misses.values())
    dispatcher.compile(types)
    return kernel.name, sum(dispatcher.stats.cache_misses.values()) > before


def processors() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
