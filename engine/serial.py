"""Calls from several threads, one at a time."""
from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from threading import RLock
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])


class Serial:
    """Base of objects that threads may share: their methods with `@serial` run one at a time, in some order.  A method may call another."""

    def __init__(self) -> None:
        self._turn = RLock()


def serial(method: F) -> F:
    """A method of a `Serial` that runs alone: a call from another thread waits until it has ended.  Cost: under 1 us."""

    @wraps(method)
    def call(self: Any, *given: Any, **named: Any) -> Any:
        with self._turn:
            return method(self, *given, **named)

    return cast(F, call)
