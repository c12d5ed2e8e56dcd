"""Derived columns: what maintenance computes from the rest of the state and from time.  A snapshot leaves them out, and loading computes them."""
from __future__ import annotations

from collections.abc import Iterable, Sequence

from .columns import Column, Phase, Scope
from .contract import Touched
from .schedule import Node


def derived(nodes: Sequence[Node]) -> tuple[frozenset[Column], tuple[Node, ...]]:
    """The columns of memories that steps of maintenance compute anew from what persists, and those steps, in order.

    nodes  of MAINTAIN, in the order in which they run

    A column is derived if it is `fresh` in that phase and every step that writes it writes derived columns alone and reads persistent columns alone,
    as they are after all changes of the phase.  The steps can then be run again at the time of the last maintenance, with the same result, as long
    as nothing else has changed since; `tick.start` does not count, since results do not depend on the length of ticks.
    """
    written = {node: frozenset((*node.sets, *node.adds)) for node in nodes}
    found = frozenset(c for writes in written.values() for c in writes
                      if isinstance(c, Column) and c.fresh is Phase.MAINTAIN and c.scope is Scope.MEMORY)
    while odd := found & _union(writes for node, writes in written.items() if not (writes <= found and _repeatable(node, writes))):
        found -= odd
    return found, tuple(node for node in nodes if written[node] & found)


def _repeatable(node: Node, writes: frozenset[Touched]) -> bool:
    return all(isinstance(read, Column) and read.persists and read not in writes for read in node.reads)


def _union(parts: Iterable[frozenset[Touched]]) -> frozenset[Touched]:
    return frozenset[Touched]().union(*parts)
