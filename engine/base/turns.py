"""Turns of threads that share an object: a change alone, questions together."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import wraps
from threading import Lock, get_ident
from typing import Any, TypeVar, cast

from .errors import ContractError

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(eq=False, slots=True)
class _Turn:
    """One turn of a thread.

    alone  whether no other thread has one at the same time
    held   whether it has begun
    begun  held until the turn is granted to a thread that waits; a lock, for an interruption can
           leave an Event locked
    """

    alone: bool
    thread: int = field(default_factory=get_ident)
    held: bool = False
    begun: Lock | None = None


class Turns:
    """Turns of threads, alone or together with others, in the order in which the threads ask for
    them.

    A thread in a turn alone may begin further turns of both kinds, which are part of its turn.
    """

    def __init__(self) -> None:
        self._lock, self._process = Lock(), os.getpid()
        self._owner, self._depth = 0, 0  # thread in a turn alone, and how many it is in
        self._together: set[int] = set()  # threads in a turn together
        self._waiting: deque[_Turn] = deque()
        self._answering: set[int] = set()

    def alone(self) -> AbstractContextManager[bool]:
        """A turn during which no other thread has a turn; yields False.  Raises ContractError
        within a turn together, which would wait for itself.
        """
        return self._taken(_Turn(alone=True))

    def together(self) -> AbstractContextManager[bool]:
        """A turn that other threads may have at the same time; yields False within a turn alone of
        the same thread, when no other thread has a turn.
        """
        me = get_ident()
        if me not in self._answering:  # else `_taken` refuses
            if me in self._together:
                return nullcontext(True)
            # part of the turn alone of this thread, during which no other thread begins a turn
            if self._owner == me:
                return nullcontext(False)
        return self._taken(_Turn(alone=False))

    @contextmanager
    def _taken(self, turn: _Turn) -> Iterator[bool]:
        try:
            if os.getpid() != self._process:
                self._follow_fork(turn.thread)
            if turn.thread in self._answering or (turn.alone and turn.thread in self._together):
                raise ContractError(
                    "a memory was called in the middle of a call of the same thread",
                    where="threads",
                    cure="hooks use their view alone, and no call that reads makes one that changes",
                )
            with self._lock:
                first = self._owner == turn.thread or not self._waiting
                if not (first and self._granted(turn)):
                    turn.begun = Lock()
                    turn.begun.acquire()
                    self._waiting.append(turn)
            if turn.begun is not None:
                turn.begun.acquire()
            yield self._owner != turn.thread
        finally:
            try:
                self._end(turn)
            except (
                BaseException
            ):  # an interruption: a turn that does not end keeps all others waiting
                self._end(turn)
                raise

    @contextmanager
    def answering(self) -> Iterator[None]:
        """While hooks answer a question: a turn that the same thread begins meanwhile raises
        ContractError.
        """
        me = get_ident()
        self._answering.add(me)
        try:
            yield
        finally:
            self._answering.discard(me)

    @property
    def depth(self) -> int:
        """How many turns within each other this thread has: 1 in a method that runs alone and
        was not called by another one.
        """
        me = get_ident()
        return (
            self._depth if self._owner == me else int(me in self._together or me in self._answering)
        )

    def lend(self) -> Callable[[], AbstractContextManager[None]]:
        """A context for a helper, as `crew.Lends` wants it: the helper answers a question, too."""
        return self.answering

    def _follow_fork(self, thread: int) -> None:
        """Go on in a forked process, of whose parent's threads only the one that forked exists.
        Raises ContractError if another was in a turn.
        """
        self._lock, others = (
            Lock(),
            (self._together | ({self._owner} if self._owner else set())) - {thread},
        )
        self._waiting.clear()
        if others:
            raise ContractError(
                "the process was forked while another thread used this memory",
                where="threads",
                cure="open the memory in the new process, or fork while no thread uses it",
            )
        self._process = os.getpid()

    def _end(self, turn: _Turn) -> None:
        """End a turn, also one that still waits, and begin those whose turn it is.  What an
        interruption left undone, a second call does.
        """
        with self._lock:
            if turn in self._waiting:  # interrupted
                self._waiting.remove(turn)
            if turn.held and self._owner == turn.thread:
                self._depth -= 1
                self._owner = self._owner if self._depth else 0
            elif turn.held:
                self._together.discard(turn.thread)
            turn.held = False
            while self._waiting and ((due := self._waiting[0]).held or self._granted(due)):
                if due.begun is not None and due.begun.locked():
                    due.begun.release()
                self._waiting.popleft()

    def _granted(self, turn: _Turn) -> bool:
        """Begin a turn if no turn of another thread forbids it; whether it has begun."""
        within = self._owner == turn.thread
        if not within and (self._owner or (turn.alone and self._together)):
            return False
        turn.held = True  # first, so that `_end` undoes what follows
        if within or turn.alone:
            self._owner = turn.thread
            self._depth += 1
        else:
            self._together.add(turn.thread)
        return True


class Serial:
    """Base of objects that threads may share: their methods with `@serial` run alone, those with
    `@shared` together, in the order of the calls.

    A method may call another; one that runs together calls none that runs alone, which `Turns`
    refuses.
    """

    def __init__(self, turns: Turns | None = None) -> None:
        """turns: of an object that takes turns with this one; None: its own."""
        self._turns = turns or Turns()

    @property
    def turns(self) -> Turns:
        """For an object that takes turns with this one."""
        return self._turns

    def _sound(self, doing: str) -> None:
        """Raises if the object cannot do it now; called in the turn of each such method, by its
        name.
        """


def serial(method: F) -> F:
    """A method of a `Serial` that runs alone: a call from another thread waits until it has
    ended.  Cost: 3 us.
    """
    return _in_turn(method, Turns.alone)


def shared(method: F) -> F:
    """A method of a `Serial` that runs while others of the kind may, and none that runs alone.
    Cost: 3 us.
    """
    return _in_turn(method, Turns.together)


def _in_turn(method: F, turn: Callable[[Turns], AbstractContextManager[bool]]) -> F:
    """The method, in a turn of the kind."""

    @wraps(method)
    def call(self: Any, *given: Any, **named: Any) -> Any:
        with turn(self._turns):
            self._sound(method.__name__)
            return method(self, *given, **named)

    return cast(F, call)
