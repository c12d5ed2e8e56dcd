"""The short way in: a memory from the name of a mechanism set."""
from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .engine.loop import Engine
from .engine.ports.by_name import embedder
from .engine.ports.embedding_cache import default_cache
from .engine.registry import Registry, Value


def memory(set: str = "minimal", *, embedding: str = "minilm", path: Path | None = None, without: tuple[str, ...] = (),
           params: Mapping[str, Mapping[str, Value]] | None = None, **options: Any) -> Engine:
    """A memory with the mechanisms of a named set.

    set        name of a mechanism set, or path of its YAML file
    embedding  "minilm", "hashing", or the folder of a sentence-transformers model
    path       snapshot file to continue from and to keep up to date
    without    mechanisms of the set to leave off
    params     overrides, such as {"recency": {"weight": 0.2}}
    options    further options of `Engine`

    >>> m = memory("hybrid", embedding="hashing:64")
    >>> m.now
    nan
    """
    registry = Registry.installed()
    chosen = registry.set(set).without(without).overridden(params or {})
    return Engine(registry.build(chosen), embedder(embedding, default_cache()), path=path, **options)
