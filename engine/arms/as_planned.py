"""A memory as a plan asks it: what assembling asks of a memory, with the mechanisms of the plan."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from ..contract.offers import Offer, shares_of_sources
from ..contract.records import Query
from ..memory.requests import AskedOtherwise
from ..state.ranking import Answer
from .plans import Plan
from .variants import Variants


class AsPlanned(AskedOtherwise):
    """A memory whose queries are asked with a plan; a `context.assembly.AssemblyMemory`."""

    def __init__(self, variants: Variants, plan: Plan) -> None:
        super().__init__(variants.memory)
        self._variants, self._plan = variants, plan

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
