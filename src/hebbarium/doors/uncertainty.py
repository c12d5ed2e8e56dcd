"""How sure a context is: whether the answer suffices, how old its memories are, and what a later
memory supersedes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ..engine.context.context import Context
from ..engine.memory.engine import Engine

SUPERSEDED_BY: Final = "superseded_by"  # column of whatever mechanism keeps it


@dataclass(frozen=True, slots=True)
class MemoryAge:
    """A memory of a context.

    hours          since it happened, h; never below 0
    superseded_by  row of the memory that a fact of it was last superseded by; -1: none, or nothing
                   of this memory keeps that
    """

    row: int
    hours: float
    superseded_by: int = -1


@dataclass(frozen=True, slots=True)
class Uncertainty:
    """How sure a context is.

    sufficiency  probability that the answer suffices; None if nothing judges it
    memories     in the order of the context
    """

    sufficiency: float | None
    memories: tuple[MemoryAge, ...]

    def line(self) -> str:
        """One line for the reader of the context; "" without memories.

        >>> Uncertainty(0.4, (MemoryAge(3, 49.0), MemoryAge(5, 1.0, 9))).line()
        '[Uncertain: 40 % likely to suffice; oldest memory 2 days; [5] is superseded by [9]]'
        """
        if not self.memories:
            return ""
        oldest = max(memory.hours for memory in self.memories)
        parts = [
            *([] if self.sufficiency is None else [f"{self.sufficiency:.0%} likely to suffice"]),
            f"oldest memory {_age(oldest)}",
            *(f"[{m.row}] is superseded by [{m.superseded_by}]"
              for m in self.memories if m.superseded_by >= 0),
        ]  # fmt: skip
        return f"[Uncertain: {'; '.join(parts)}]".replace("%", " %")


def _age(hours: float) -> str:
    return f"{hours / 24.0:.0f} days" if hours >= 48.0 else f"{hours:.0f} h"


def uncertainty(memory: Engine, context: Context) -> Uncertainty:
    """How sure a context of this memory is, as of its present.  O(memories of the context)."""
    rows = list(dict.fromkeys(part.row for part in context.components if part.row >= 0))
    known = {column.name for column in memory.store.columns}
    later = memory.column(SUPERSEDED_BY) if SUPERSEDED_BY in known else None
    answer = context.answer
    judged = answer is not None and answer.sufficiency < 1.0
    return Uncertainty(
        answer.sufficiency if answer is not None and judged else None,
        tuple(
            MemoryAge(
                row,
                max(memory.now - memory.unit(row).time, 0.0),
                -1 if later is None else int(later[row]),
            )
            for row in rows
        ),
    )
