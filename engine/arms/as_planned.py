"""A memory as a plan asks it: what assembling asks of a memory, with the mechanisms of the plan."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from ..contract.columns import Column
from ..contract.offers import Offer, shares_of_sources
from ..contract.records import Event, Query
from ..contract.units import Unit
from ..state.ranking import Answer

if TYPE_CHECKING:
    from ..flow.lives import Plan
    from ..memory.engine import Engine


class AsPlanned:
    """A memory whose queries are asked with a plan of `Engine.planned`; a
    `context.assembly.Memory`.
    """

    def __init__(self, memory: Engine, plan: Plan) -> None:
        self._memory, self._plan = memory, plan

    @cached_property
    def sources(self) -> Mapping[str, float]:
        """The sources of the plan with their shares, percent."""
        return shares_of_sources(self._plan.mechanisms)

    def retrieve(self, query: Query | str, k: int = 10, *, depth: int = 0) -> Answer:
        return self._memory.retrieve(query, k, plan=self._plan, depth=depth)

    def offers(
        self, query: Query | str, max_tokens: int | None = None, *, session: str | None = None
    ) -> tuple[Answer, tuple[Offer, ...]]:
        return self._memory.offers(query, max_tokens, session=session, plan=self._plan)

    def unit(self, row: int) -> Unit:
        return self._memory.unit(row)

    def event(self, row: int) -> Event:
        return self._memory.event(row)

    def condensed(self, row: int) -> str:
        return self._memory.condensed(row)

    def column(self, column: Column | str) -> NDArray[Any]:
        return self._memory.column(column)
