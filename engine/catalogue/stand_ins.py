"""Mechanisms for checks of the code that need no file of a user: each required file is replaced
by the stand-in that the class names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..contract.hooks import Mechanism
from .registry import Registry, Value


def checked_instance(
    registry: Registry, id: str, overrides: Mapping[str, Value] | None = None
) -> Mechanism[Any]:
    """One mechanism with its registry values under overrides, and under the stand-ins of its class:
    `stand_ins`, parameter -> path.

    Raises RegistryError.
    """
    return registry.instance(
        id, {**getattr(registry.entry(id).load(), "stand_ins", {}), **(overrides or {})}
    )
