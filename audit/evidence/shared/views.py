"""Wrong versions of hooks: one that does nothing, and the view of one to which some names show other
values.
"""

from __future__ import annotations

from typing import Any


def nothing(self: Any, view: Any, what: Any) -> None:
    """A hook that does nothing."""


class Instead:
    """A view in which some names show these values; what is set is set in the view."""

    def __init__(self, view: Any, **values: Any) -> None:
        object.__setattr__(self, "_view", view)
        object.__setattr__(self, "_values", values)

    def __getattr__(self, name: str) -> Any:
        return self._values[name] if name in self._values else getattr(self._view, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._view, name, value)
