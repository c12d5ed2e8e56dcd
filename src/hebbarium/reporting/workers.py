"""Processes of a command: a worker ends when the process that started it ends, also if that one
was killed; garbage is collected seldom.
"""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
from typing import Any, Final

POLL_SECONDS: Final = 0.5
# new objects before the young ones are looked at; such looks before one at older ones
SELDOM: Final = (20_000, 10, 20)


def collect_seldom() -> None:
    """Let the garbage collector of this process work less: modules and kernels leave many objects
    that stay, and are looked at again and again.

    A twentieth of the CPU of a run.  For processes that are our own, not for those that import us.
    """
    gc.set_threshold(*SELDOM)


def tied(jobs: int, **how: Any) -> Any:
    """joblib's `Parallel` with workers that end within a second of this process, also before their
    first call, and leave interruptions to it.

    jobs  processes; one: the calls run in this process
    how   further options of `Parallel`

    What a worker was writing stays as after any other kill: files are replaced whole, and SQLite
    transactions are undone.

    >>> from joblib import delayed
    >>> tied(1)(delayed(len)(word) for word in ("one", "three"))
    [3, 5]
    """
    from joblib import Parallel  # slow to import, and most commands need no workers

    return Parallel(n_jobs=jobs, initializer=_begin, initargs=(os.getpid(),), **how)


def _begin(parent: int) -> None:
    """Prepare a worker of this parent, before its first call.

    A terminal interrupts all processes at once; the parent then ends the workers, which between two
    calls would print a traceback.
    """
    collect_seldom()
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """End as soon as the parent is another one; it may be so at the start."""
    # an orphan has another parent; on Windows it keeps the number, and joblib ends it
    while os.getppid() == parent:
        time.sleep(POLL_SECONDS)
    os._exit(1)
