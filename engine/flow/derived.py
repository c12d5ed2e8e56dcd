"""Derived columns: what maintenance computes from the rest of the state and from time.  Most
wait until they are read, and no file holds them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..contract.columns import Before, Column, Phase, Scope
from ..contract.hooks import Read, Touched
from .schedule import Node


def derived(nodes: Sequence[Node]) -> tuple[frozenset[Column], tuple[Node, ...]]:
    """The columns of memories that steps of maintenance compute anew from what persists, and those
    steps, in order.

    nodes  of MAINTAIN, in the order in which they run

    A column is derived if it is `fresh` in that phase and every step that writes it writes derived
    columns alone and reads persistent columns alone, as they are after all changes of the phase.
    The steps can then be run again at the time of the last maintenance, with the same result, as
    long as nothing else has changed since; `tick.start` does not count, since results do not depend
    on the length of ticks.
    """
    written = {node: frozenset((*node.sets, *node.adds)) for node in nodes}
    found = frozenset(
        c
        for writes in written.values()
        for c in writes
        if isinstance(c, Column) and c.upkeep.fresh is Phase.MAINTAIN and c.scope is Scope.MEMORY
    )
    while odd := found & _union(
        writes
        for node, writes in written.items()
        if not (writes <= found and _repeatable(node, writes))
    ):
        found -= odd
    return found, tuple(node for node in nodes if written[node] & found)


def late(
    columns: frozenset[Column], steps: Sequence[Node], read: Iterable[Read]
) -> tuple[frozenset[Column], tuple[Node, ...]]:
    """Of the derived columns those that can wait until they are read, and their steps, in order.

    columns, steps  of `derived`
    read            what steps of ENCODE and of MAINTAIN, forecasts and promises to rest read: such
                    a column is computed in maintenance, as of then

    Late columns are computed for the time at which they are read, so that time alone costs nothing.
    What their steps read belongs to each memory or to all, so that they can be computed for some
    memories alone, see `engine.scale.on_read`.
    """
    found = columns - {item.of if isinstance(item, Before) else item for item in read}
    while odd := found & _union(
        writes
        for node in steps
        if not ((writes := frozenset((*node.sets, *node.adds))) <= found and _one_by_one(node))
    ):
        found -= odd
    return found, tuple(node for node in steps if found & {*node.sets, *node.adds})


def _repeatable(node: Node, writes: frozenset[Touched]) -> bool:
    return all(
        isinstance(read, Column) and read.persists and read not in writes for read in node.reads
    )


def _one_by_one(node: Node) -> bool:
    """Whether a step reads no numbers of other rows."""
    return all(
        isinstance(c, Column)
        and c.scope in (Scope.MEMORY, Scope.GLOBAL)
        and c.upkeep.rows is None
        and not c.upkeep.chained
        for c in node.reads
    )


def _union(parts: Iterable[frozenset[Touched]]) -> frozenset[Touched]:
    return frozenset[Touched]().union(*parts)
