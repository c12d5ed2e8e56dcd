"""Worker processes that end when the process that started them ends, also if that one was killed."""
from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from functools import cache
from typing import Any, Final

POLL_SECONDS: Final = 0.5


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
