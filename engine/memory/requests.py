"""A strategy for one request: a memory as it would be asked if its sources of contexts had other
parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from math import inf
from typing import Any, Final

from numpy.typing import NDArray

from ..base.errors import InputError, RegistryError, nearest
from ..context.assembly import AssemblyMemory
from ..contract.columns import Column
from ..contract.hooks import Mechanism, parameter_types
from ..contract.offers import Offer
from ..contract.parameters import checked_value
from ..contract.records import Event, Query
from ..contract.units import Unit
from ..state.ranking import Answer
from .answering import Answering
from .assembly import Assembly

WHERE: Final = "strategy of a context"
SourceStrategy = Mapping[str, Mapping[str, Any]]


class AskedOtherwise:
    """A memory that is asked in another way than its own: what it holds is read as it is."""

    def __init__(self, memory: AssemblyMemory) -> None:
        self._memory = memory

    def unit(self, row: int) -> Unit:
        return self._memory.unit(row)

    def event(self, row: int) -> Event:
        return self._memory.event(row)

    def column(self, column: Column | str) -> NDArray[Any]:
        return self._memory.column(column)


class RequestedMemory(AskedOtherwise):
    """A memory whose sources have the parameters that one request names; a
    `context.assembly.AssemblyMemory`.  The memory itself stays as it is: the sources of the request
    are mechanisms of their own, and are asked in a pass of their own.

    sources  share of the budget of each source, percent
    named    (source, parameters) of each source that the strategy names, sorted by source: equal
             for equal strategies
    """

    def __init__(
        self,
        memory: AssemblyMemory,
        assembly: Assembly,
        answering: Answering,
        strategy: SourceStrategy,
    ) -> None:
        """strategy: source -> parameter -> value.

        Raises InputError for what is no source, for another parameter, for a value of another type
        or out of its bounds, and for shares above 100 in all.
        """
        if not isinstance(strategy, Mapping):
            raise InputError(
                f"{strategy!r:.40} is no table of sources",
                where=WHERE,
                cure='give parameters by source, such as {"recent_context": {"share": 20}}',
            )
        super().__init__(memory)
        self._assembly, self._answering = assembly, answering
        known = {m.id: m for m in assembly.mechanisms if m.id in assembly.sources}
        self._changed = {id: varied(_source(known, id), values) for id, values in strategy.items()}
        shares = {id: float(m.params.share) for id, m in self._changed.items()}
        self.sources: Mapping[str, float] = {**assembly.sources, **shares}
        if sum(self.sources.values()) > 100.0:
            raise InputError(
                f"the shares are {sum(self.sources.values()):g} percent in all",
                where=WHERE,
                cure="lower the shares of other sources in the same strategy",
            )
        self.named = tuple((id, self._changed[id].params) for id in sorted(self._changed))

    def offers(
        self, query: Query | str, max_tokens: int | None = None, *, session: str | None = None
    ) -> tuple[Answer, tuple[Offer, ...]]:
        """As `Engine.offers`, by the sources of the request.  Cost: one retrieval, and a plan for
        it, about 0.1 ms for each step.
        """
        run = self._assembly.retrieving(self._changed)
        return self._answering.offers(query, max_tokens, session, run)

    def retrieve(self, query: Query | str, k: int = 10, *, whole: bool = False) -> Answer:
        return self._memory.retrieve(query, k, whole=whole)

    def asks_all(self, rows: int) -> bool:
        return self._memory.asks_all(rows)


def _source(sources: Mapping[str, Mechanism[Any]], id: str) -> Mechanism[Any]:
    if id not in sources:
        raise InputError(
            f"{id!r} is no source of contexts of this memory",
            where=WHERE,
            cure=nearest(id, sources) if sources else "choose a set with sources, such as `stages`",
        )
    return sources[id]


def varied(mechanism: Mechanism[Any], values: Mapping[str, Any]) -> Mechanism[Any]:
    """A copy of a mechanism with other values of its parameters, checked as those of a set are.
    Raises InputError.
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
    other = copy(mechanism)
    other.params = replace(mechanism.params, **checked)
    return other
