"""Forks of a process with threads.  The child has the locks of the parent as they stand, but only
the thread that has forked, so that a lock that another thread holds is never given back.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from threading import Lock, RLock, get_ident
from typing import Any, Final, Self
from weakref import WeakSet

from .errors import HebbariumError

WAIT: Final = 0.9  # s that a fork waits for calls of SQLite to end
LOOK: Final = 0.001  # s between two looks whether they have
FORKED: Final = "the process was forked while another thread used {}"


class ForkLock:
    """A lock that a thread may take several times, and that a fork never waits for: if another
    thread of the parent held it, the child gets a new one, or is refused.

    what    is used under the lock, for the error
    forget  drops what is kept under the lock, which may be half changed; None: nothing can put that
            right, such as the state of a model, and the child's calls raise HebbariumError
    lock    to be entered; the system's own, which an interruption cannot leave half taken
    """

    def __init__(self, what: str, forget: Callable[[], object] | None = None) -> None:
        self.what, self._forget = what, forget
        self.lock: Any = RLock()
        _LOCKS.add(self)

    def renew(self) -> None:
        """Called in a forked process before it does anything else."""
        if self.lock.acquire(blocking=False):  # nobody's, or the one thread's
            self.lock.release()
        elif self._forget is None:
            self.lock = _Refused(self.what)
        else:
            self.lock = RLock()
            self._forget()


class _Refused:
    """In place of a lock: raises HebbariumError."""

    def __init__(self, what: str) -> None:
        self.what = what

    def __enter__(self) -> None:
        raise _forked(self.what)

    def __exit__(self, *error: object) -> None: ...

    def acquire(self, blocking: bool = True) -> bool:
        """False, also in a fork of the fork."""
        return False


class ForkGate:
    """A gate that a thread is in while it calls a library that has locks of its own.  A fork waits,
    for WAIT at most, until no other thread is in the gate; if one still is, the child may not
    enter.

    what  the library works on, for the error

    Cost: 0.5 us.
    """

    def __init__(self, what: str) -> None:
        self.what, self._lost = what, False
        self._lock: Any = Lock()  # held by a fork
        self._inside: dict[int, int] = {}  # threads, and how often each has entered

    def __enter__(self) -> Self:
        if self._lost:
            raise _forked(self.what)
        me = get_ident()
        if me in self._inside:
            self._inside[me] += 1
        else:
            try:
                with self._lock:
                    self._inside[me] = 1
            except BaseException:  # an interruption
                self._inside.pop(me, None)
                raise
        return self

    def __exit__(self, *error: object) -> None:
        me = get_ident()
        if self._inside[me] > 1:
            self._inside[me] -= 1
        else:
            del self._inside[me]

    def shut(self) -> None:
        """Let no thread enter, and wait until the others have left."""
        self._lock.acquire()
        until = time.monotonic() + WAIT
        while self._others() and time.monotonic() < until:
            time.sleep(LOOK)

    def open(self) -> None:
        """Let threads enter again, in the parent, after the fork."""
        self._lock.release()

    def renew(self) -> None:
        """Let threads enter again, in the child, unless a thread that the child lacks is inside."""
        for thread in self._others():
            self._lost = True
            del self._inside[thread]
        self._lock.release()

    def _others(self) -> set[int]:
        return {*self._inside} - {get_ident()}


def _forked(what: str) -> HebbariumError:
    return HebbariumError(
        FORKED.format(what),
        where=f"process {os.getpid()}, a fork",
        cure="start processes before threads, or with the method spawn; or open what the new process needs there, while no thread of the parent uses it",
    )


_LOCKS: Final[WeakSet[ForkLock]] = WeakSet()
SQLITE: Final = ForkGate("a database")  # around each use of SQLite, which has locks for the process


def _renew() -> None:
    SQLITE.renew()
    for lock in _LOCKS:
        lock.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=SQLITE.shut, after_in_parent=SQLITE.open, after_in_child=_renew)
