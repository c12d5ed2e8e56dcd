"""A memory from the name of a mechanism set."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .engine.errors import InputError
from .engine.loop import Engine
from .engine.ports.by_name import embedder
from .engine.ports.by_name import language_model as named_language_model
from .engine.ports.embedder import Embedder
from .engine.ports.embedding_cache import default_cache
from .engine.ports.language_model import LanguageModel
from .engine.registry import Registry, Value
from .engine.storage.snapshot import Durable


def memory(set: str | Path = "default", *, embedding: str | Path | Embedder = "minilm", path: Path | str | None = None, without: Sequence[str] = (),
           params: Mapping[str, Mapping[str, Value]] | None = None, language_model: str | LanguageModel | None = None,
           transcript: Path | None = None, durable: Durable = True, **options: Any) -> Engine:
    """A memory with the mechanisms of a named set.

    set        name of a mechanism set, or path of its YAML file; SET+STRATEGY: with the sources of contexts of a strategy, such as default+coding
    embedding  "minilm", "hashing", another name that `embedder` takes, or any object with `name`, `revision`, `dimensions` and `embed`; vectors of
               an object are cached in memory, others on disk
    path       snapshot file to continue from and to keep up to date
    durable    whether what a call has returned from is in that file: True; "full": after a power cut, too; False: only at the end of each tick
    without    mechanisms of the set to leave out; a single one may be given as a text
    params     overrides, such as {"recency": {"weight": 0.2}}
    language_model  "openai:<model>", or any object with `name`, `revision` and `ask`; for mechanisms that can use one
    transcript  a file that records its requests and replies; without a model the file is replayed, and nothing is sent
    options    further options of `Engine`

    Raises HebbariumError for an unknown name or an invalid configuration.

    >>> with memory("hybrid", embedding="hashing:64") as m:
    ...     m.now
    nan
    """
    registry = Registry.installed()
    if not isinstance(set, str | Path):
        raise InputError(f"the set is {set!r}", where="memory", cure="give the name of a set, such as 'default', or the path of its YAML file")
    off = (without,) if isinstance(without, str) else without
    chosen = registry.set(str(set)).without(off).overridden(params or {}, "params")
    model = embedder(embedding, default_cache() if isinstance(embedding, str | Path) else None)     # vectors of an object stay in memory
    language = named_language_model(language_model, transcript)
    return Engine(registry.build(chosen), model, path=None if path is None else Path(path), language_model=language, durable=durable, **options)
