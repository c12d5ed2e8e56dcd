"""Systems by the names that users give: `hebbarium`, or MODULE:NAME of a factory."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from hashlib import sha256
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...engine.base.errors import HebbariumError, InputError
from ...engine.catalogue.packages import source_digest
from .base import Capability

if TYPE_CHECKING:
    from ...engine.catalogue.registry import Registry
    from ...engine.ports.embedder import Embedder
    from ...engine.ports.language_model import LanguageModel
    from .base import Factory, System

OURS = "hebbarium"
_CURE = (
    "give 'hebbarium', or MODULE:NAME of a class or function that takes (embedder, seed), such as "
    "hebbarium.benchmarks.systems.bm25_dense:BM25Dense; the module must be installed or on PYTHONPATH"
)
_METHODS = ("capabilities", "encode", "advance", "retrieve", "close")
_RECEIPTS = ("receipts", "ranks_changed", "phase_ms")


def factory(name: str) -> Factory:
    """The factory that MODULE:NAME names; its module is imported, nothing is made.  Raises
    InputError.

    >>> factory("hebbarium.benchmarks.systems.bm25_dense:BM25Dense").__name__
    'BM25Dense'
    """
    module, _, attribute = name.partition(":")
    if not module or not attribute:
        raise InputError(f"{name!r} names no system", where="--system", cure=_CURE)
    try:
        system = getattr(importlib.import_module(module), attribute)
    except Exception as error:  # a module can raise anything while it is imported
        raise InputError(
            f"the system {name!r} cannot be loaded ({type(error).__name__}: {error})",
            where="--system",
            cure=_CURE,
        ) from error
    if not callable(system):
        raise InputError(
            f"{name!r} is {type(system).__name__}, not a class or function",
            where="--system",
            cure=_CURE,
        )
    with suppress(ValueError):  # some builtins have no signature
        try:
            signature(system).bind(None, 0)
        except TypeError as error:
            raise InputError(
                f"{name!r} does not take (embedder, seed): {error}", where="--system", cure=_CURE
            ) from error
    chosen: Factory = system
    return chosen


def maker(
    name: str,
    mechanisms: Mapping[str, Mapping[str, Any]],
    registry: Registry,
    language_model: LanguageModel | None = None,
    *,
    receipts: bool = True,
) -> Factory:
    """What makes a system: ours of these mechanisms, with their parameters, and a language model,
    or that of MODULE:NAME, which has neither.

    receipts  whether ours keeps receipts; with a language model it always does
    """
    if name != OURS:
        return partial(make, name)
    from ...engine.catalogue.registry import MechanismSet
    from ...engine.flow.observer import Stopwatch
    from .hebbarium import Hebbarium

    return lambda embedder, seed: Hebbarium(
        registry.build(MechanismSet("", "", mechanisms)),
        embedder,
        seed,
        None if receipts or language_model else Stopwatch(),
        language_model=language_model,
    )


def make(name: str, embedder: Embedder, seed: int) -> System:
    """A new, empty system of MODULE:NAME.  Raises InputError if the factory fails or does not
    make a System.
    """
    chosen = factory(name)
    try:
        made = chosen(embedder, seed)
    except HebbariumError:
        raise
    except Exception as error:
        raise InputError(
            f"the system {name!r} cannot be made ({type(error).__name__}: {error})",
            where="--system",
            cure=_CURE,
        ) from error
    needed = (
        *_METHODS,
        *(_RECEIPTS if Capability.RECEIPTS in getattr(made, "capabilities", ()) else ()),
    )
    if missing := [method for method in needed if not hasattr(made, method)]:
        raise InputError(
            f"{name!r} makes {type(made).__name__}, which has no {', '.join(missing)}",
            where="--system",
            cure="see System and ReportsReceipts in hebbarium.benchmarks.systems.base",
        )
    return made


def revision(name: str) -> str:
    """Digest of the source that MODULE:NAME comes from: its top-level package, or its single file.

    "" for a module of this package, whose digest is the code version, and for a module without a
    file.  Cost: the source is read once. Raises InputError.
    """
    factory(name)
    top = name.partition(":")[0].partition(".")[0]
    package = sys.modules[top]
    if top == __name__.partition(".")[0]:
        return ""
    if folders := [Path(folder) for folder in getattr(package, "__path__", ())]:
        return sha256(
            "".join(source_digest(folder, folder) for folder in folders).encode()
        ).hexdigest()[:12]
    file = getattr(package, "__file__", None)
    return sha256(Path(file).read_bytes()).hexdigest()[:12] if file else ""
