"""Speed of a tick that is saved, of the save alone, and of loading a file.

The memory repeats a small one: every column, edge, text and vector of it, with later times; saving and loading read neither.
After the last save no array may differ from the file.
100,000 units and more are left out unless UNITS names them, such as UNITS=100000,300000: they take minutes and gigabytes.
"""
from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hebbarium.engine.columns import Scope
from hebbarium.engine.loop import Engine
from hebbarium.engine.storage.graph import BUILT_IN, Graph

SMALL = 1_000
SIZES = tuple(map(int, os.environ.get("UNITS", "1000,10000").split(",")))
SETS = ("minimal", "default", "everything")
WITHOUT = {"everything": ("sleep_pressure",)}      # otherwise the memory would sleep while it is built
HOUR = 1.0
Files = Callable[[str, int], tuple[Path, Callable[[], Engine]]]


def tiled(small: Engine, n: int, path: Path) -> Engine:
    """A memory with at least n rows that holds a small one several times, with a file.  Rows without events are left out.  Cost: O(n)."""
    rows = [row for row in range(small.store.n) if small.event_log.rows[row] >= 0]
    times, taken = -(-n // len(rows)), np.array(rows)
    large = Engine(small.assembly.mechanisms, small.assembly.embedder, path=path, tick_hours=0.0, consolidate_every=1e6)
    assembly, span = large.assembly, small.now - small.events[0].time + HOUR
    for turn in range(times):
        for row in rows:
            event = small.event_log.of_row(row)
            large.event_log.write(replace(event, time=event.time + turn * span, id=f"{event.id} {turn}"), len(large.event_log.rows))
            assembly._index(len(large.event_log.rows) - 1)
    assembly.index.add_many(np.tile(small.assembly.index.vectors[taken], (times, 1)))
    kinds = {column.name: column.scope for column in small.store.columns}
    large.store.restore({name: np.concatenate([array[taken]] * times) if kinds[name] is Scope.MEMORY else array.copy()
                         for name, array in small.store.persistent().items()}, times * len(rows))
    assembly.adopt_graph(Graph.from_state(tiled_graph(small.store.graph, taken, times)))
    large.clock.now = large.clock.maintained = large.clock.consolidated = large.event_log.events[-1].time
    for plan in assembly.plans.values():
        plan.changed = True
    large.save()
    return large


def tiled_graph(graph: Graph, rows: np.ndarray[Any, Any], times: int) -> dict[str, Any]:
    """The state of a graph that holds the edges among some rows and all entities several times."""
    state = graph.state()
    place = np.full(graph.n_rows, -1)
    place[rows] = np.arange(len(rows))
    ends = [np.where(end < 0, end, place[np.maximum(end, 0)] - (place[np.maximum(end, 0)] < 0) * 2**30) for end in (graph.source, graph.target)]
    kept = np.flatnonzero((ends[0] > -2**30) & (ends[1] > -2**30) & graph.alive & ((ends[0] >= 0) | (ends[1] >= 0)))
    arrays = {name: np.concatenate([np.asarray(state[name])[kept]] * times) for name in (*BUILT_IN, *(f"column:{c}" for c in state["columns"]))}
    for name, end in zip(("source", "target"), ends, strict=True):
        arrays[name] = np.concatenate([np.where(end[kept] < 0, end[kept], end[kept] + turn * len(rows)) for turn in range(times)]).astype(np.int32)
    return {**state, **arrays, "n_rows": np.array(times * len(rows))}


@pytest.fixture(scope="module")
def files(grown: Callable[..., Engine], tmp_path_factory: pytest.TempPathFactory) -> Files:
    """The closed file of a memory of a set with so many units, and a function that opens it."""
    small = cache(lambda chosen: grown(SMALL, without=WITHOUT.get(chosen, ()), chosen=chosen, nights=1e6))

    @cache
    def made(chosen: str, n: int) -> tuple[Path, Callable[[], Engine]]:
        source, path = small(chosen), tmp_path_factory.mktemp("saved") / f"{chosen} {n}.db"
        tiled(source, n, path).close()
        return path, lambda: Engine(source.assembly.mechanisms, source.assembly.embedder, path=path, tick_hours=0.0, consolidate_every=1e6)

    return made


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("chosen", SETS)
def test_load(clock: Any, files: Files, chosen: str, n: int) -> None:
    """Opening a closed file, and closing it unchanged; against reading all bytes of it."""
    path, opened = files(chosen, n)

    def load() -> None:
        snapshot: Any = opened()._snapshot
        snapshot._file.close()

    clock(load, 3, reference=path.read_bytes, against="reading the file", warmup=1)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("chosen", SETS)
def test_save(clock: Any, files: Files, turns: Any, chosen: str, n: int) -> None:
    """One event and its maintenance, saved as a tick of their own; the save alone is timed, the change before it is not."""
    memory = files(chosen, n)[1]()
    snapshot: Any = memory._snapshot
    coming, save = turns(SMALL, 64), snapshot.save
    snapshot.save = lambda *_, **__: None

    def change() -> None:
        memory.encode(replace(next(coming), time=memory.now + HOUR / 60))
        memory.advance(memory.now)

    clock(save, 16, reference=change, against="the event and its maintenance")
    snapshot.save = save
    save()
    assert snapshot.unsaved() == []
    memory.close()
