"""Speed of consolidation in the set `all_mem`: 200 waiting memories of 10,000, without embedding and without a language model."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf
from typing import Any

from hebbarium.engine.columns import Phase
from hebbarium.engine.contract import Tick
from hebbarium.engine.loop import Engine
from hebbarium.engine.records import Event
from hebbarium.mechanisms.consolidation.topology_consolidation import TOPOLOGY_CONSOLIDATED

UNITS, WAITING, ROUNDS, WARMUP = 10_000, 200, 5, 2
RUN = 300.0         # ms, most that a run may take


def test_run(clock: Any, grown: Callable[..., Engine], turns: Callable[[int, int], Iterator[Event]]) -> None:
    """Each round consolidates the 200 memories that were encoded before it, which is the reference."""
    memory = grown(UNITS, chosen="all_mem", nights=inf)
    events = turns(UNITS, (ROUNDS + WARMUP + 1) * WAITING)
    memory.store.array(TOPOLOGY_CONSOLIDATED)[()] = UNITS

    def encode() -> None:
        for _ in range(WAITING):
            memory.encode(next(events))

    def consolidate() -> None:
        memory.assembly.run[Phase.CONSOLIDATE](Tick(memory.clock.consolidated, memory.now))
        memory.clock.consolidated = memory.now

    clock(consolidate, rounds=ROUNDS, warmup=WARMUP, target=RUN, reference=encode, against="encoding the 200")
