"""Turns of threads that share an object: a change alone, questions together."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from threading import Condition, get_ident
from typing import Any, TypeVar, cast

from .errors import ContractError

F = TypeVar("F", bound=Callable[..., Any])


class Turns:
    """Turns, alone or together with others.

    A thread in a turn alone may begin further ones of both kinds, which are part of it.  A turn together begins unless a thread waits for a turn
    alone, so that questions cannot keep a change waiting; those that wait when a turn alone ends come before the next one, so that changes cannot
    keep a question waiting either.
    """

    def __init__(self) -> None:
        self._changed = Condition()
        self._owner, self._depth = 0, 0             # thread in a turn alone, and its nested turns
        self._together: set[int] = set()            # threads in a turn together
        self._alone, self._others = 0, 0            # threads that wait for a turn of either kind
        self._due = 0                               # of those that wait for a turn together, how many come before the next turn alone

    @contextmanager
    def alone(self) -> Iterator[bool]:
        """False; a turn during which no other thread has one.  Raises ContractError in a turn together, which would wait for itself."""
        me = get_ident()
        with self._changed:
            if self._owner != me:
                if me in self._together:
                    raise ContractError("the memory was called while it answers a question of the same thread", where="threads",
                                        cure="hooks of RETRIEVE use their view alone")
                self._alone += 1
                try:
                    self._changed.wait_for(lambda: not (self._owner or self._together or self._due))
                    self._owner = me
                finally:
                    self._alone -= 1
                    if self._owner != me:           # interrupted
                        self._changed.notify_all()
            self._depth += 1
        try:
            yield False
        finally:
            with self._changed:
                self._depth -= 1
                if not self._depth:
                    self._owner, self._due = 0, self._others
                    self._changed.notify_all()

    @contextmanager
    def together(self) -> Iterator[bool]:
        """A turn that others may have at the same time; False: within a turn alone of the same thread, in which none has."""
        me = get_ident()
        if self._owner == me or me in self._together:
            yield self._owner != me
            return
        with self._changed:
            self._others += 1
            try:
                self._changed.wait_for(lambda: not self._owner and (self._due or not self._alone))
                self._together.add(me)
            finally:
                self._others -= 1
                self._due = max(self._due - 1, 0)
                self._changed.notify_all()
        try:
            yield True
        finally:
            with self._changed:
                self._together.discard(me)
                self._changed.notify_all()


class Serial:
    """Base of objects that threads may share: their methods with `@serial` run alone, in some order, those with `@shared` together.

    A method may call another; one that runs together calls none that runs alone.
    """

    def __init__(self) -> None:
        self._turns = Turns()


def serial(method: F) -> F:
    """A method of a `Serial` that runs alone: a call from another thread waits until it has ended.  Cost: 3 us."""

    @wraps(method)
    def call(self: Any, *given: Any, **named: Any) -> Any:
        with self._turns.alone():
            return method(self, *given, **named)

    return cast(F, call)


def shared(method: F) -> F:
    """A method of a `Serial` that runs while others of the kind may, and none that runs alone.  Cost: 3 us."""

    @wraps(method)
    def call(self: Any, *given: Any, **named: Any) -> Any:
        with self._turns.together():
            return method(self, *given, **named)

    return cast(F, call)
