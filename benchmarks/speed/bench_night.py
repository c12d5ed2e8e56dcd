"""Speed of a night and of a tick with every mechanism on.

The memory of 100,000 units repeats one of 10,000 ten times: maintenance of a unit depends on the
unit's own columns only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

from hebbarium.benchmarks.speed.large import sizes
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.columns import Phase, Scope
from hebbarium.engine.contract.hooks import Tick
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import ACTIVATION, CREATED, NOW
from hebbarium.engine.memory.engine import Engine

UNITS, TIMES, NEWS = sizes(10_000)[-1], 10, 64
# ms, most that a full night at 10,000 units and a tick at 100,000 may take
NIGHT, TICK = 2000.0, 12.0
# otherwise the memory would sleep five hundred times while it is built
WITHOUT = ("sleep_pressure",)
REGISTRY = Registry.read()


@pytest.fixture(scope="module")
def whole(grown: Callable[..., Engine]) -> Engine:
    return grown(UNITS, without=WITHOUT, chosen="everything")


@cache
def enlarged(small: Engine, times: int) -> Engine:
    """The same units `times` times, without graph and texts, which maintenance does not read.
    Cost: O(n).
    """
    large = Engine(small.assembly.mechanisms, small.assembly.embedder)
    large.assembly.index.add_many(np.tile(small.assembly.index.vectors, (times, 1)))
    kinds = {column.name: column.scope for column in small.store.columns}
    arrays = {
        name: np.concatenate([array] * times) if kinds[name] is Scope.MEMORY else array.copy()
        for name, array in small.store.persistent().items()
    }
    large.store.restore(arrays, times * small.store.n)
    large.clock.now = large.clock.maintained = large.clock.consolidated = small.now
    return large


def tick(memory: Engine) -> Callable[[], None]:
    """Maintenance alone, an hour at a time, with the columns that wait until they are read."""

    def call() -> None:
        start = memory.clock.maintained
        memory.store.array(NOW)[()] = memory.clock.now = memory.clock.maintained = start + 1.0
        memory.assembly.run[Phase.MAINTAIN](Tick(start, start + 1.0))
        memory.clock.due = True
        memory.assembly.refresh()

    return call


def test_tick(clock: Any, whole: Engine) -> None:
    """Against reading and writing one column of doubles for each step of maintenance."""
    large = enlarged(whole, TIMES)
    column, steps = large.store.array(CREATED), len(large.assembly.phases[Phase.MAINTAIN])
    out = np.empty_like(column)

    def passes() -> None:
        for _ in range(steps):
            np.add(column, 1.0, out=out)

    clock(tick(large), 32, target=TICK, reference=passes, against=f"{steps} passes over a column")
    assert np.isfinite(large.column(ACTIVATION)).all()


@pytest.mark.parametrize(
    "id",
    [
        i
        for i in REGISTRY.set("everything").mechanisms
        if i not in WITHOUT
        and any(h.phase is Phase.MAINTAIN for h in REGISTRY.entry(i).load().hooks())
    ],
)
def test_tick_of(clock: Any, whole: Engine, id: str) -> None:
    """The maintain hooks of one mechanism."""
    large = enlarged(whole, TIMES)
    mine = [
        s
        for plan in (large.assembly.plans[Phase.MAINTAIN], large.assembly.late_plan)
        for s in plan.steps
        if s.node.owner == id
    ]

    def call() -> None:
        for step in mine:
            step.function(step.binding.view, Tick(large.now, large.now + 1.0))

    clock(call, 32)


def test_night(clock: Any, whole: Engine, turns: Callable[[int, int], Iterator[Event]]) -> None:
    """A night after a day of new events."""
    more, out = turns(UNITS, 16 * NEWS), whole.assembly.run[Phase.CONSOLIDATE]

    def day() -> None:
        for _ in range(NEWS):
            whole.encode(next(more))

    def night() -> None:
        out(Tick(whole.clock.consolidated, whole.now))
        whole.clock.consolidated = whole.now

    clock(night, 8, target=NIGHT, reference=day, against=f"encoding {NEWS} events")
