"""The history of one memory: what it was made from, its versions, and what was made from it."""

from __future__ import annotations

from dataclasses import dataclass

from ..contract.units import Unit
from ..contract.writings import Writing
from ..state.graph import EdgeType
from .engine import Engine


@dataclass(frozen=True, slots=True)
class History:
    """One row with everything that the memory keeps about it.

    unit      the row itself
    writing   its text as a writing, with maker, sources and time; None for an event
    sources   rows that it was made from; () for an event
    versions  rows that VERSION edges join with it, over any number of edges, ascending, itself
              included
    made      rows that were made from it, ascending
    edits     numbers of the other writings that have it as a source, such as descriptors and
              records, oldest first
    """

    unit: Unit
    writing: Writing | None
    sources: tuple[int, ...]
    versions: tuple[int, ...]
    made: tuple[int, ...]
    edits: tuple[int, ...]


def history(memory: Engine, row: int) -> History:
    """The history of a row.  Cost: O(edges + writings).  Raises InputError for a row that the
    memory does not have.
    """
    unit, log, graph = memory.unit(row), memory.event_log, memory.graph
    row, writing = unit.row, log.writing(unit.row)
    joined: dict[int, set[int]] = {}
    edges = (
        graph.alive & (graph.type == EdgeType.VERSION) & (graph.source >= 0) & (graph.target >= 0)
    )
    for source, target in zip(
        graph.source[edges].tolist(), graph.target[edges].tolist(), strict=True
    ):
        joined.setdefault(source, set()).add(target)
        joined.setdefault(target, set()).add(source)
    versions, waiting = {row}, [row]
    while waiting:
        new = joined.get(waiting.pop(), set()) - versions
        versions |= new
        waiting += new
    held = {~log.rows[row]: row for row in log.made}
    about = [number for number, writing in enumerate(log.writings) if row in writing.sources]
    return History(
        unit,
        writing,
        writing.sources if writing else (),
        tuple(sorted(versions)),
        tuple(held[n] for n in about if n in held),
        tuple(n for n in about if n not in held),
    )
