"""Memos of pure functions of texts: several mechanisms, and several memories of one process, read
each text once.

Memos hold texts: `forget_texts` empties all of them, as erasing does.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Final, Generic, ParamSpec, TypeVar
from weakref import WeakSet

from ..base.forks import ForkLock

P = ParamSpec("P")
Found = TypeVar("Found")

# characters of the texts in one memo: several forms of the texts of a long conversation; up to 5
# bytes a character
MOST: Final = 4_000_000
# characters of a text that is kept: hooks of one event, and questions, read it several times
LONGEST: Final = 1_000_000
ENTRY: Final = 50  # characters that an entry counts besides its texts


class TextMemo(Generic[Found]):
    """The latest results of a pure function of texts by its arguments, the oldest dropped first.
    Threads may share it; some results are then computed twice.

    known  arguments -> result, to be read
    held   characters that the entries count together
    """

    def __init__(self) -> None:
        self.known, self.held = dict[tuple[Any, ...], Found](), 0
        self._lock = ForkLock("this memo", self._empty)
        _ALL.add(self)

    def keep(self, args: tuple[Any, ...], value: Found) -> None:
        """Keep a result, unless its arguments are too long."""
        if (size := _size(args)) > LONGEST:
            return
        with self._lock.lock:
            self.held += 0 if args in self.known else size
            self.known[args] = value
            while self.held > MOST:
                oldest = next(iter(self.known))
                self.held -= _size(oldest)
                del self.known[oldest]

    def forget(self) -> None:
        with self._lock.lock:
            self._empty()

    def _empty(self) -> None:
        self.known.clear()
        self.held = 0


_ALL: Final[WeakSet[TextMemo[Any]]] = WeakSet()


def remembered(function: Callable[P, Found]) -> Callable[P, Found]:
    """The function, with a memo.  Its result must not be changed, nor be None; a call with keywords
    is not remembered.

    `__wrapped__` is the function itself: the audit replaces what it reads.

    Cost of a known text: 0.2 us, and O(length) to hash a new copy of it.

    >>> calls = []
    >>> once = remembered(lambda text: calls.append(text) or text.upper())
    >>> once("one"), once("one"), calls
    ('ONE', 'ONE', ['one'])
    """
    memo = TextMemo[Found]()
    known = memo.known

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> Found:
        if kwargs:
            return function(*args, **kwargs)
        value = known.get(args)
        if value is None:
            value = function(*args, **kwargs)
            memo.keep(args, value)
        return value

    return call


def forget_texts() -> None:
    """Empty the memos of all functions.  O(texts)."""
    for memo in list(_ALL):
        memo.forget()


def _size(args: tuple[Any, ...]) -> int:
    return ENTRY + sum(
        len(argument) if isinstance(argument, str) else _size(argument)
        for argument in args
        if isinstance(argument, str | tuple)
    )
