"""A memory as a plan asks it: what assembling asks of a memory, with the mechanisms of the plan."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from numpy.typing import NDArray

from ..contract.columns import Column
from ..contract.offers import Offer, shares_of_sources
from ..contract.records import Event, Query
from ..contract.units import Unit
from ..state.ranking import Answer
from .plans import Plan
from .variants import Variants


class AsPlanned:
    """A memory whose queries are asked with a plan; a `context.assembly.AssemblyMemory`."""

    def __init__(self, variants: Variants, plan: Plan) -> None:
        self._variants, self._memory, self._plan = variants, variants.memory, plan

    @cached_property
    def sources(self) -> Mapping[str, float]:
        """The sources of the plan with their shares, percent."""
        return shares_of_sources(self._plan.mechanisms)

    def retrieve(self, query: Query | str, k: int = 10, *, whole: bool = False) -> Answer:
        """The answer of the plan, which asks all rows, whether `whole` or not."""
        return self._variants.retrieve(query, k, self._plan)

    def asks_all(self, rows: int) -> bool:
        return True

    def offers(
        self, query: Query | str, max_tokens: int | None = None, *, session: str | None = None
    ) -> tuple[Answer, tuple[Offer, ...]]:
        return self._variants.offers(query, max_tokens, self._plan, session=session)

    def unit(self, row: int) -> Unit:
        return self._memory.unit(row)

    def event(self, row: int) -> Event:
        return self._memory.event(row)

    def column(self, column: Column | str) -> NDArray[Any]:
        return self._memory.column(column)
