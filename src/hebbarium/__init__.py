"""Hebbarium: a laboratory of memory mechanisms.  Of each it asks: is it faithful, is it alive, is
it useful?

Importing this package loads nothing heavy; each name below is loaded at its first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from .api import memory, rebuild, reopen
    from .benchmarks.datasets import load
    from .doors.awaited import AsyncMemory
    from .engine.arms.counterfactual import ranks_changed
    from .engine.base.errors import HebbariumError
    from .engine.base.times import hours
    from .engine.catalogue.registry import Registry
    from .engine.contract.hooks import Mechanism, Params, hook
    from .engine.contract.records import Event, Only, Query
    from .engine.flow.observer import Observer
    from .engine.memory.arrivals import ClockWarning
    from .engine.memory.encoded import Encoded, VetoWarning
    from .engine.memory.engine import Engine
    from .engine.memory.explain import Explanation
    from .engine.ports.by_name import embedder
    from .engine.state.ranking import Answer, Hit

_HOMES = {
    "Answer": "engine.state.ranking", "AsyncMemory": "doors.awaited", "ClockWarning": "engine.memory.arrivals",
    "Encoded": "engine.memory.encoded", "Engine": "engine.memory.engine",
    "Event": "engine.contract.records",
    "Explanation": "engine.memory.explain", "HebbariumError": "engine.base.errors",
    "Hit": "engine.state.ranking", "Mechanism": "engine.contract.hooks",
    "Observer": "engine.flow.observer", "Only": "engine.contract.records",
    "Params": "engine.contract.hooks", "Query": "engine.contract.records",
    "Registry": "engine.catalogue.registry", "VetoWarning": "engine.memory.encoded",
    "embedder": "engine.ports.by_name", "hook": "engine.contract.hooks",
    "hours": "engine.base.times", "load": "benchmarks.datasets", "memory": "api",
    "ranks_changed": "engine.arms.counterfactual",
    "rebuild": "api", "reopen": "api",
}  # fmt: skip

__all__ = [
    "Answer", "AsyncMemory", "ClockWarning", "Encoded", "Engine", "Event", "Explanation", "HebbariumError", "Hit",
    "Mechanism", "Observer", "Only", "Params",
    "Query", "Registry", "VetoWarning", "embedder", "hook", "hours", "load", "memory",
    "ranks_changed", "rebuild", "reopen",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'hebbarium' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
