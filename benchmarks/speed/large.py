"""Large memories with a file, made of a small one that is repeated: living 100,000 events of every
mechanism would take an hour.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from hebbarium.engine.contract.columns import Column, Scope
from hebbarium.engine.contract.vocabulary import ARRIVED, CREATED
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.state.graph import BUILT_IN, Graph


def sizes(*usual: int) -> tuple[int, ...]:
    """Sizes of the memories of a bench: the usual ones, or those that the variable UNITS of the
    environment names for all benches, such as UNITS=100000,300000.
    """
    named = os.environ.get("UNITS")
    return tuple(map(int, named.split(","))) if named else usual


HOUR = 1.0
SMALL = 1_000
UNITS = sizes(1_000, 10_000)  # 100,000 and more take minutes and gigabytes
SETS = ("minimal", "default", "everything")
# otherwise the memory would sleep while it is built
WITHOUT = {"everything": ("sleep_pressure",)}
NOISE = 0.02  # sd of what is added to each coordinate of a repeated vector
Files = Callable[[str, int], tuple[Path, Callable[..., Engine]]]


def tiled(small: Engine, n: int, path: Path) -> Engine:
    """A memory with at least n rows that holds a small one several times, with a file.  Rows
    without events are left out.  Cost: O(n).

    Every column, edge and text of it is repeated, with later times; vectors with some noise, so
    that no two are equal.
    """
    rows = [row for row in range(small.store.n) if small.event_log.rows[row] >= 0]
    times, taken = -(-n // len(rows)), np.array(rows)
    large = Engine(
        small.assembly.mechanisms,
        small.assembly.embedder,
        path=path,
        tick_hours=0.0,
        consolidate_every=1e6,
        durable=False,
    )
    assembly, span = large.assembly, small.now - small.events[0].time + HOUR
    for turn in range(times):
        for row in rows:
            event = small.event_log.of_row(row)
            large.event_log.write(
                replace(event, time=event.time + turn * span, id=f"{event.id} {turn}"),
                len(large.event_log.rows),
            )
            assembly._index(len(large.event_log.rows) - 1)
    columns, rng, place = (
        {column.name: column for column in small.store.columns},
        np.random.default_rng(0),
        np.full(small.store.n + 1, -1),
    )
    place[taken] = np.arange(len(rows))
    for turn in range(times):
        vectors = small.assembly.index.vectors[taken]
        vectors = vectors + (NOISE if turn else 0.0) * rng.standard_normal(
            vectors.shape, np.float32
        )
        assembly.index.add_many(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
    large.store.cover(times * len(rows))
    arrays = large.store.persistent()
    for name, array in small.store.persistent().items():
        repeat(columns[name], array, taken, place, span, arrays[name])
    large.store.restore(arrays, times * len(rows))
    assembly.adopt_graph(Graph.from_state(tiled_graph(small.store.graph, taken, times)))
    large.clock.now = large.clock.maintained = large.clock.consolidated = large.event_log.events[
        -1
    ].time
    for plan in assembly.plans.values():
        plan.changed = True
    large.save()
    return large


def resident() -> int:
    """Bytes of this process in memory."""
    return (
        next(
            int(line.split()[1])
            for line in Path("/proc/self/status").read_text().splitlines()
            if line.startswith("VmRSS")
        )
        * 1024
    )


def repeat(
    column: Column,
    array: np.ndarray[Any, Any],
    rows: np.ndarray[Any, Any],
    place: np.ndarray[Any, Any],
    span: float,
    out: np.ndarray[Any, Any],
) -> None:
    """Write a column of some rows several times; row numbers are those of the same turn, and
    CREATED and ARRIVED are later by `span` each time.

    place  of each row among those taken, -1 for the others and, last, for none
    """
    if column.scope is not Scope.MEMORY:
        out[...] = array
        return
    for turn in range(len(out) // len(rows)):
        part = out[turn * len(rows) : (turn + 1) * len(rows)]
        part[...] = array[rows]
        if column.upkeep.rows is not None:
            places = place[part[column.upkeep.rows]]
            part[column.upkeep.rows] = np.where(places >= 0, places + turn * len(rows), -1)
        if column in (CREATED, ARRIVED):
            part += turn * span


def tiled_graph(graph: Graph, rows: np.ndarray[Any, Any], times: int) -> dict[str, Any]:
    """The state of a graph that holds the edges among some rows and all entities several times."""
    state = graph.state()
    place = np.full(graph.n_rows, -1)
    place[rows] = np.arange(len(rows))
    ends = [
        np.where(end < 0, end, place[np.maximum(end, 0)] - (place[np.maximum(end, 0)] < 0) * 2**30)
        for end in (graph.source, graph.target)
    ]
    kept = np.flatnonzero(
        (ends[0] > -(2**30))
        & (ends[1] > -(2**30))
        & graph.alive
        & ((ends[0] >= 0) | (ends[1] >= 0))
    )
    arrays = {
        name: np.concatenate([np.asarray(state[name])[kept]] * times)
        for name in (*BUILT_IN, *(f"column:{c}" for c in state["columns"]))
    }
    for name, end in zip(("source", "target"), ends, strict=True):
        arrays[name] = np.concatenate(
            [
                np.where(end[kept] < 0, end[kept], end[kept] + turn * len(rows))
                for turn in range(times)
            ]
        ).astype(np.int32)
    return {**state, **arrays, "n_rows": np.array(times * len(rows))}
