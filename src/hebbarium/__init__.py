"""Hebbarium: a laboratory of memory mechanisms.  Of each it asks: is it faithful, is it alive, is it useful?

Importing this package loads nothing heavy; each name below is loaded at its first use.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from .api import memory, rebuild, reopen
    from .benchmarks.datasets import load
    from .engine.arrivals import ClockWarning
    from .engine.contract import Mechanism, Params, hook
    from .engine.counterfactual import ranks_changed
    from .engine.encoded import Encoded, VetoWarning
    from .engine.errors import HebbariumError
    from .engine.explain import Explanation
    from .engine.loop import Engine
    from .engine.observer import Observer
    from .engine.ports.by_name import embedder
    from .engine.ranking import Answer, Hit
    from .engine.records import Event, Only, Query, hours
    from .engine.registry import Registry

_HOMES = {
    "Answer": "engine.ranking", "ClockWarning": "engine.arrivals", "Encoded": "engine.encoded", "Engine": "engine.loop",
    "Event": "engine.records",
    "Explanation": "engine.explain", "HebbariumError": "engine.errors", "Hit": "engine.ranking", "Mechanism": "engine.contract",
    "Observer": "engine.observer", "Only": "engine.records", "Params": "engine.contract", "Query": "engine.records",
    "Registry": "engine.registry", "VetoWarning": "engine.encoded", "embedder": "engine.ports.by_name", "hook": "engine.contract",
    "hours": "engine.records", "load": "benchmarks.datasets", "memory": "api", "ranks_changed": "engine.counterfactual",
    "rebuild": "api", "reopen": "api",
}

__all__ = [
    "Answer", "ClockWarning", "Encoded", "Engine", "Event", "Explanation", "HebbariumError", "Hit", "Mechanism", "Observer", "Only", "Params",
    "Query", "Registry", "VetoWarning", "embedder", "hook", "hours", "load", "memory", "ranks_changed", "rebuild", "reopen",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'hebbarium' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
