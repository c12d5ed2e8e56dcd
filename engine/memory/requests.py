"""A strategy for one request: sources of contexts with other parameters for as long as one context
is made.

Sources act only when a context is asked for, and keep nothing, so that a request with parameters of
its own leaves the memory as it is.  The caller holds the turn of the memory, whose mechanisms are
its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from math import inf
from typing import Any, Final

from ..base.errors import InputError, RegistryError
from ..contract.hooks import Mechanism, parameter_types
from ..contract.parameters import checked_value
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
    named = [(_source(sources, id), values) for id, values in strategy.items()]
    changed = [(mechanism, varied(mechanism, values)) for mechanism, values in named]
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
        assembly.sources = shares
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
    if not isinstance(values, Mapping):
        raise InputError(
            f"{values!r:.40} of {mechanism.id} is no table",
            where=WHERE,
            cure='give parameters by name, such as {"share": 20}',
        )
    types, checked = parameter_types(type(mechanism.params)), dict[str, Any]()
    for name, value in values.items():
        if name not in types:
            raise InputError(
                f"{mechanism.id} has no parameter {name!r}",
                where=WHERE,
                cure=f"name one of {', '.join(types)}",
            )
        # a file may write 5.0 for a whole number, a call may not
        if types[name] is int and isinstance(value, float):
            raise InputError(
                f"{name} of {mechanism.id} is {value!r}", where=WHERE, cure="give a whole number"
            )
        unit, bounds = mechanism.units.get(name, "1"), mechanism.limits.get(name, (-inf, inf))
        try:
            checked[name] = checked_value(
                value, types[name], unit, bounds, f"{WHERE}, {mechanism.id}, {name}"
            )
        except RegistryError as error:
            raise InputError(error.what, where=error.where, cure=error.cure) from error
    return replace(mechanism.params, **checked)
