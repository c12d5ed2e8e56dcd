"""Speed of the set `all_mem` at 10,000 memories: a run over 200 waiting ones, units made, typed
expansion; and anchors on half of a surface.

Without embedding and without a language model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf
from typing import Any

import numpy as np

from hebbarium.benchmarks.speed.large import sizes
from hebbarium.engine.contract.columns import Phase
from hebbarium.engine.contract.drafts import Draft, Kind
from hebbarium.engine.contract.hooks import Tick
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import CREATED
from hebbarium.engine.memory.engine import Engine
from hebbarium.mechanisms.consolidation.topology_consolidation import (
    TOPOLOGY_CONSOLIDATED,
    TOPOLOGY_LINK,
)
from hebbarium.mechanisms.retrieval.typed_expansion import ORDER, expand
from hebbarium.mechanisms.shared.topology_bank import nearest_of_each

UNITS, WAITING, ROUNDS, WARMUP = sizes(10_000)[-1], 200, 5, 2
MADE, QUERIES = 100, 50
RUN = 300.0  # ms, most that a run may take
MAKE = 20.0  # ms, of 100 units
EXPAND = 0.5  # ms, of one query


def test_run(
    clock: Any, grown: Callable[..., Engine], turns: Callable[[int, int], Iterator[Event]]
) -> None:
    """Each round consolidates the 200 memories that were encoded before it, which is the
    reference.
    """
    memory = grown(UNITS, chosen="all_mem", nights=inf)
    events = turns(UNITS, (ROUNDS + WARMUP + 1) * WAITING)
    memory.store.array(TOPOLOGY_CONSOLIDATED)[()] = UNITS

    def encode() -> None:
        for _ in range(WAITING):
            memory.encode(next(events))

    def consolidate() -> None:
        memory.assembly.run[Phase.CONSOLIDATE](Tick(memory.clock.consolidated, memory.now))
        memory.clock.consolidated = memory.now

    clock(
        consolidate,
        rounds=ROUNDS,
        warmup=WARMUP,
        target=RUN,
        reference=encode,
        against="encoding the 200",
    )


def test_make(
    clock: Any, grown: Callable[..., Engine], turns: Callable[[int, int], Iterator[Event]]
) -> None:
    """Each round makes 100 units, as the engine's step does between the hooks that draft them
    and those that dress them.
    """
    memory = grown(UNITS, chosen="all_mem", nights=inf)
    make: Any = next(
        step.node.function
        for step in memory.assembly.plans[Phase.CONSOLIDATE].steps
        if step.node.name == "make"
    )
    texts = iter([event.text for event, _ in zip(turns(UNITS, 2_000), range(2_000), strict=False)])
    clock(
        lambda: make._rows(
            [
                Draft(next(texts), Kind.BUNDLE, (place, place + 1), maker="bench")
                for place in range(MADE)
            ]
        ),
        rounds=10,
        target=MAKE,
    )


def test_expand(clock: Any, grown: Callable[..., Engine]) -> None:
    """Each round walks from the 10 anchors of 50 queries over 10,000 linked units; the figure is
    that of one query.
    """
    memory = grown(UNITS, chosen="all_mem", nights=inf)
    graph, mark = memory.assembly.graph, memory.store.array(TOPOLOGY_LINK)
    rng = np.random.default_rng(3)
    starts = [rng.choice(UNITS, 10, replace=False) for _ in range(QUERIES)]
    rows = np.empty(40, dtype=np.int64)

    def expansions() -> None:
        for anchors in starts:
            links = [graph.csr(kind) for kind in ORDER]
            expand(
                anchors,
                tuple(link.start for link in links),
                tuple(link.degree for link in links),
                links[0].pool,
                graph.target,
                mark,
                memory.store.array(CREATED),
                np.arange(len(ORDER)),
                2,
                rows,
            )

    clock(expansions, rounds=20, per=QUERIES, target=EXPAND)


def test_anchors(clock: Any) -> None:
    """The 10 nearest of 200 units on a surface of half of 100,000, against all of it as the
    surface.
    """
    rng = np.random.default_rng(5)
    vectors = rng.standard_normal((sizes(100_000)[-1], 384), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    half, rows = rng.random(len(vectors)) < 0.5, list(range(WAITING))
    full = np.ones(len(vectors), dtype=np.bool_)
    clock(
        lambda: nearest_of_each(vectors, rows, half, 10),
        rounds=5,
        reference=lambda: nearest_of_each(vectors, rows, full, 10),
        against="the full surface",
    )
