"""Contexts of one state of a memory, kept for the next time that the same is asked."""
from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Final

from .context import Context

KEPT: Final = 64        # contexts, those not asked for longest are dropped


class ContextCache:
    """Contexts by what was asked, of one state.  At any other state it is empty, so no context is older than the memory."""

    def __init__(self) -> None:
        self._state: Hashable = None
        self._kept: OrderedDict[Hashable, Context] = OrderedDict()

    def get(self, state: Hashable, asked: Hashable) -> Context | None:
        """The context of a question in this state, if it is kept."""
        if state != self._state:
            self.clear()
            self._state = state
        if asked in self._kept:
            self._kept.move_to_end(asked)
        return self._kept.get(asked)

    def put(self, asked: Hashable, context: Context) -> Context:
        """Keep the context of a question in the state that `get` was last given.  It is returned."""
        self._kept[asked] = context
        if len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return context

    def clear(self) -> None:
        """Drop all contexts."""
        self._kept.clear()
