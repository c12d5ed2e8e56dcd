"""Processes of a command: a worker ends when the process that started it ends, also if that one was killed; garbage is collected seldom."""
from __future__ import annotations

import gc
import os
import signal
import threading
import time
from collections.abc import Callable
from functools import cache
from typing import Any, Final

POLL_SECONDS: Final = 0.5
SELDOM: Final = (20_000, 10, 20)     # new objects before the young ones are looked at; such looks before one at older ones


def collect_seldom() -> None:
    """Let the garbage collector of this process work less: modules and kernels leave many objects that stay, and are looked at again and again.

    A twentieth of the CPU of a run.  For processes that are our own, not for those that import us.
    """
    gc.set_threshold(*SELDOM)


class Tied:
    """A function for worker processes; a process that has called it ends within a second of its parent, and leaves interruptions to it.

    What it was writing stays as after any other kill: files are replaced whole, and SQLite transactions are undone.

    >>> Tied(len)("four")       # in the process that made it, the function alone
    4
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.maker = function, os.getpid()

    def __call__(self, *arguments: Any) -> Any:
        if os.getpid() != self.maker:
            collect_seldom()
            _watch(os.getpid())
        return self.function(*arguments)


@cache
def _watch(process: int) -> None:
    """Watch the parent of this process from a thread, once.  process: this one, since a fork does not inherit the thread.

    A terminal interrupts all processes at once; the parent then ends the workers, which between two calls would print a traceback.
    """
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:       # an orphan has another parent; on Windows it keeps the number, and joblib ends it
        time.sleep(POLL_SECONDS)
    os._exit(1)
