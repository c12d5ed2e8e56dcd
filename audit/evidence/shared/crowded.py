"""Evidence for memories with as many associates as one may have: a new one takes the place of the
oldest that is not active on the same occasion.
"""

from __future__ import annotations

from typing import Any

from ....engine.contract.records import Event
from ....engine.state.graph import EdgeType
from ...memory import encode, memory_of

SOURCE = (
    "definition: 32 associates of a memory, the newest, and those that are active with it now; "
    "by hand"
)


def associates_of_a_crowded_memory(specimen: Any) -> tuple[list[str], list[str]]:
    """The associates of some memories, the first of which was used with each of the others; a part
    of the last use are a new one and the oldest associate that it has left.
    """
    memory = memory_of(specimen)
    encode(memory, *(Event(0.0, f"message {i}", session=str(i), dated=False) for i in range(36)))
    for rows in (*((0, other, other + 1) for other in range(1, 34, 2)), (0, 3, 35)):
        memory.use(memory.retrieve("message"), rows)
    graph = memory.graph

    def associates(row: int) -> str:
        return str(sorted(graph.target[graph.neighbours(row, EdgeType.COACCESS)].tolist()))

    return [associates(row) for row in (0, 1, 3, 4, 35)], [
        str([3, *range(5, 36)]),
        str([0, 2]),
        str([0, 4, 35]),
        str([0, 3]),
        str([0, 3]),
    ]
