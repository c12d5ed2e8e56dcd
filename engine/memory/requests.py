"""A strategy for one request: sources of contexts with other parameters for as long as one context
is made.

Sources act only when a context is asked for, and keep nothing, so that a request with parameters of
its own leaves the memory as it is.  The caller holds the turn of the memory, whose mechanisms are
its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final, Literal, get_args, get_origin

from ..base.errors import InputError
from ..contract.hooks import Mechanism, parameter_types
from ..contract.offers import shares_of_sources
from .assembly import Assembly

WHERE: Final = "strategy of a context"
SourceStrategy = Mapping[str, Mapping[str, Any]]


@contextmanager
def sources_as(
    assembly: Assembly, strategy: SourceStrategy | None
) -> Iterator[tuple[tuple[str, Any], ...]]:
    """The sources of a memory with the parameters that a request names, until the block ends; what
    they are then is given as a key, which is equal for equal ones.

    strategy  source -> parameter -> value; None or {}: as they are

    Raises InputError, with nothing changed, for what is no source, for another parameter, for a
    value of another type or out of its bounds, and for shares above 100 in all.
    """
    if not strategy:
        yield ()
        return
    if not isinstance(strategy, Mapping):
        raise InputError(
            f"{strategy!r:.40} is no table of sources",
            where=WHERE,
            cure='give parameters by source, such as {"recent_context": {"share": 20}}',
        )
    sources = {m.id: m for m in assembly.mechanisms if m.id in assembly.sources}
    changed = [(_source(sources, id), varied(_source(sources, id), values))
               for id, values in strategy.items()]  # fmt: skip
    shares = {**assembly.sources, **{m.id: float(params.share) for m, params in changed}}
    if sum(shares.values()) > 100.0:
        raise InputError(
            f"the shares are {sum(shares.values()):g} percent in all",
            where=WHERE,
            cure="lower the shares of other sources in the same strategy",
        )
    before, held = assembly.sources, [(m, m.params) for m, _ in changed]
    try:
        for mechanism, params in changed:
            mechanism.params = params
        assembly.sources = shares_of_sources(assembly.mechanisms)
        yield tuple(sorted(((m.id, params) for m, params in changed), key=lambda pair: pair[0]))
    finally:
        for mechanism, params in held:
            mechanism.params = params
        assembly.sources = before


def _source(sources: Mapping[str, Mechanism[Any]], id: str) -> Mechanism[Any]:
    if id not in sources:
        raise InputError(
            f"{id!r} is no source of contexts of this memory",
            where=WHERE,
            cure=f"name one of {', '.join(sources) or 'none, and choose a set with sources'}",
        )
    return sources[id]


def varied(mechanism: Mechanism[Any], values: Mapping[str, Any]) -> Any:
    """The parameters of a mechanism with other values, checked as those of a set are.  Raises
    InputError.
    """
    types = parameter_types(type(mechanism.params))
    if not isinstance(values, Mapping):
        raise InputError(
            f"{values!r:.40} of {mechanism.id} is no table",
            where=WHERE,
            cure='give parameters by name, such as {"share": 20}',
        )
    for name, value in values.items():
        if name not in types:
            raise InputError(
                f"{mechanism.id} has no parameter {name!r}",
                where=WHERE,
                cure=f"name one of {', '.join(types)}",
            )
        _require(mechanism, name, value, types[name])
    converted = {
        name: float(value) if types[name] is float else value for name, value in values.items()
    }
    return replace(mechanism.params, **converted)


def _require(mechanism: Mechanism[Any], name: str, value: Any, kind: Any) -> None:
    """Raise InputError unless a value has the type of its parameter and lies within its bounds."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if get_origin(kind) is Literal:
        sound, wanted = value in get_args(kind), f"one of {', '.join(map(str, get_args(kind)))}"
    elif kind is bool:
        sound, wanted = isinstance(value, bool), "true or false"
    elif kind is int:
        sound, wanted = isinstance(value, int) and number, "a whole number"
    else:
        sound, wanted = number and math.isfinite(value), "a number"
    if sound and number:
        low, high = mechanism.limits.get(name, (-math.inf, math.inf))
        sound, wanted = low <= value <= high, f"a number from {low:g} to {high:g}"
    if not sound:
        raise InputError(
            f"{name} of {mechanism.id} is {value!r}", where=WHERE, cure=f"give {wanted}"
        )
