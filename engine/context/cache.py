"""Contexts of one state of a memory, kept for the next time that the same is asked.

Any change empties it.  If only time passes, its contexts become older than the state: they are
given only where this age is accepted, see `ttl`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Final, NamedTuple

from ..base.checks import checked_hours
from ..base.forks import ForkLock
from .context import Context

KEPT: Final = 64  # contexts, those not asked for longest are dropped


class _Kept(NamedTuple):
    context: Context
    state: Hashable
    time: float


class ContextCache:
    """Contexts by what was asked: those of one state, and those of earlier states that differ from
    it by time alone.  Threads may share it.
    """

    def __init__(self) -> None:
        self._state: Hashable = None
        self._kept: OrderedDict[Hashable, _Kept] = OrderedDict()
        self._lock = ForkLock("these contexts", self._kept.clear)

    def kept(
        self, state: Hashable, asked: Hashable, make: Callable[[], Context], now: float, ttl: float
    ) -> Context:
        """The context that `get` gives, else the one that `make` makes, which is then kept.  If
        `asked` has no hash, as a filter with a list has none, `make` is called, and says what is
        wrong.
        """
        ttl = checked_hours(ttl, "ttl", 0.0)
        try:
            known = self.get(state, asked, now, ttl)
        except TypeError:
            return make()
        return self.put(asked, make(), now) if known is None else known

    def get(
        self, state: Hashable, asked: Hashable, now: float = 0.0, ttl: float = 0.0
    ) -> Context | None:
        """The kept context of a question in this state, or in one that is at most `ttl` older; None
        if there is no such context.

        now, ttl  h, simulated time
        """
        with self._lock.lock:
            if state != self._state:
                self.clear()
                self._state = state
            kept = self._kept.get(asked)
            if kept is None or (kept.state != state and not 0.0 <= now - kept.time <= ttl):
                return None
            self._kept.move_to_end(asked)
            return kept.context

    def put(self, asked: Hashable, context: Context, now: float = 0.0) -> Context:
        """Keep the context of a question in the state that `get` was last given.  Returns the
        context, or the one that another thread has put there.
        """
        with self._lock.lock:
            known = self._kept.get(asked)
            if known is not None and known.state == self._state:
                return known.context
            self._kept[asked] = _Kept(context, self._state, now)
            self._kept.move_to_end(asked)
            if len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return context

    def passed(self, before: Hashable, after: Hashable) -> None:
        """Say that from one state to the next only time has passed."""
        if self._state == before:
            self._state = after

    def clear(self) -> None:
        """Drop all contexts."""
        self._kept.clear()

    def __len__(self) -> int:
        return len(self._kept)
