"""Mutants whose durations do not follow the time scale."""

from __future__ import annotations

from typing import Any


def unscaled(specimen: Any, name: str) -> Any:
    """The specimen, whose plug-in of this name takes its durations as they are at time scale 1."""
    original = getattr(specimen, name).hours

    def hours(self: Any, parameter: str) -> float:
        return float(original(self, parameter)) / float(self.params.time_scale)

    return specimen.overriding(name, hours=hours)
