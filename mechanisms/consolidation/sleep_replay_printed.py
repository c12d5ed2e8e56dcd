"""Sleep replay as Cortex 4.2.2 describes it: replays, in both directions, the sequences of memories
with the greatest mean and spread of heat.

From each of the hottest memories one sequence is built forwards and one backwards in time, of
memories that share an entity with any in it so far, or have one that a typed relation joins to such
an entity, if the set has `typed_relations`.  Its priority is a weighted sum of heat times the mean
dopamine at which its memories were stored, so that sequences of better outcomes than expected come
first.  Replay learns nothing, so the consequences of a memory have no further effect.  With
`round_robin`, seeds and sequences are taken from the domains of the memories in turn (4.2.3).  The
source prints no numbers but the compression; those of selection are in its public code.

Cost: per sleep O(n log n + seeds n entities + seeds length relations); per maintain O(n).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Column, Phase, Scope
from ...engine.contract.hooks import Incoming, Mechanism, Params, Tick, hook
from ...engine.contract.records import Event
from ...engine.contract.vocabulary import (
    ACTIVATION,
    ARRIVED,
    GRAPH,
    KIND,
    LOG_STRENGTH,
    PLASTICITY,
    REPLAY_LAG,
    REPLAY_STEPS,
    REPLAYED,
    REPLAYS,
    RIPPLES,
    ROW,
    SLEEP_SHARE,
    TEXTS,
    VISIBLE,
)
from ...engine.state.graph import EdgeType
from ..shared.relations import RELATIONS
from ..shared.rows import events

# --- columns --------------------------------------------------------------------------------------
PRINTED_REHEARSED = Column(
    "printed_rehearsed",
    np.float64,
    Scope.MEMORY,
    "ln",
    0.0,
    "ln(1 + replayed steps that the memory was part of so far)",
    low=0,
)
DOPAMINE_WHEN_STORED = Column(
    "dopamine_when_stored",
    np.float64,
    Scope.MEMORY,
    "1",
    1.0,
    "dopamine when the memory was stored: PLASTICITY after its event; 1: at rest",
    low=0,
)


# --- equations ------------------------------------------------------------------------------------
@kernel
def priority(heat: Any, dopamine: float) -> float:
    """(0.4 mean + 0.6 sd) DA, clipped to 0..1; 0 for fewer than two.  Cortex 4.2.2, dopamine-gated
    priority; numbers of its code.  Cost: O(k).

    heat      (k,)  1  of the memories of a sequence
    dopamine  ()    1  DA, mean over its memories when they were stored; 1 at rest

    >>> round(priority(np.array([0.2, 0.8]), 1.0), 9), priority(np.array([0.9]), 1.0)
    (0.38, 0.0)
    """
    return (
        min(1.0, max(0.0, (0.4 * heat.mean() + 0.6 * math.sqrt(heat.var())) * dopamine))
        if heat.shape[0] > 1
        else 0.0
    )


@kernel
def sequence(
    seed: int,
    step: int,
    start: Any,
    degree: Any,
    pool: Any,
    target: Any,
    entities: int,
    related: Any,
    visible: Any,
    out: Any,
) -> int:
    """The seed, then every memory after (step 1) or before it (-1) that shares an entity with any
    so far, or has one that is related to such an entity; returns the length.  Cost: O(n entities +
    length entities relations).

    start, degree, pool, target        links from memories to entities, which are negative nodes
    entities                     ()    number of entities
    related                      (k, 2)  pairs of entities
    visible                      (n,)  bool
    out                          (k,)  rows in their order in the sequence; written

    >>> links = np.arange(3), np.ones(3, dtype=np.int64), np.arange(3), np.array([-1, -2, -1])
    >>> out = np.empty(8, dtype=np.int64)
    >>> none, pair = np.empty((0, 2), np.int64), np.array([[0, 1]])
    >>> [out[:sequence(2, -1, *links, 2, r, np.ones(3, dtype=np.bool_), out)].tolist() for r in (none, pair)]
    [[2, 0], [2, 1, 0]]
    """
    named, size, row = np.zeros(entities, dtype=np.bool_), 0, seed
    while 0 <= row < visible.shape[0] and size < out.shape[0]:
        shares = row == seed
        for place in range(start[row], start[row] + degree[row]):
            node = target[pool[place]]
            shares = shares or (visible[row] and node < 0 and named[-1 - node])
        if shares:
            out[size] = row
            size += 1
            for place in range(start[row], start[row] + degree[row]):
                entity = -1 - target[pool[place]]
                if entity >= 0:
                    named[entity] = True
                    for i in range(related.shape[0]):
                        if related[i, 0] == entity:
                            named[related[i, 1]] = True
                        elif related[i, 1] == entity:
                            named[related[i, 0]] = True
        row += step
    return size


def in_turn(order: Sequence[Any], domain: Sequence[str]) -> list[Any]:
    """The order with one of each domain in turn, domains by their first: round robin.  Cortex 4.2.3,
    interleaving.

    domain  of each

    >>> in_turn("abcde", ["x", "x", "x", "y", "z"])
    ['a', 'd', 'e', 'b', 'c']
    """
    queues: dict[str, list[Any]] = {}
    for item, name in zip(order, domain, strict=True):
        queues.setdefault(name, []).append(item)
    return [
        item
        for turn in zip_longest(*queues.values(), fillvalue=None)
        for item in turn
        if item is not None
    ]


def selected(
    forward: Any, reverse: Any, threshold: float, most: int, domain: Sequence[str] = ()
) -> list[tuple[bool, int]]:
    """Sequences to replay, (backwards?, number): the best of each direction, then the best; below
    the threshold only if all are.

    domain  of the seed of each number, whose sequences are then taken in turn; (): no turns

    >>> selected([0.5, 0.4], [0.3, 0.9], 0.3, 3)
    [(False, 0), (True, 1), (False, 1)]
    >>> selected([0.1, 0.2], [0.0], 0.3, 1)
    [(False, 1)]
    """
    order = sorted(
        [
            (-p, i, back)
            for back, group in ((False, forward), (True, reverse))
            for i, p in enumerate(group)
            if p > 0.0
        ]
    )
    viable = [entry for entry in order if -entry[0] >= threshold]
    chosen = (
        [next((e for e in viable if e[2] is back), None) for back in (False, True)]
        if viable
        else []
    )
    first = [e for e in chosen if e is not None]
    ranked = [*first, *(e for e in viable or order if e not in first)]
    if domain:
        ranked = in_turn(ranked, [domain[i] for _, i, _ in ranked])
    return [(back, i) for _, i, back in ranked[:most]]


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class SleepReplayPrintedParams(Params):
    sequences: int  # of a full night
    seeds: int
    length: int
    threshold: float
    compression: float
    rehearsal: float
    round_robin: bool  # over domains


class SleepReplayPrinted(Mechanism[SleepReplayPrintedParams]):
    owns = (PRINTED_REHEARSED, DOPAMINE_WHEN_STORED)

    @hook(Phase.ENCODE, reads=(ROW, PLASTICITY), adds=(), sets=(DOPAMINE_WHEN_STORED,))
    def keep_dopamine(self, view: Any, incoming: Incoming) -> None:
        view.dopamine_when_stored[view.row] = view.plasticity

    @staticmethod
    def domain(event: Event) -> str:
        """The attribute `domain` of an event, else `project`; "" if it has neither."""
        given = dict(event.attributes)
        return given.get("domain", given.get("project", ""))

    @hook(Phase.CONSOLIDATE, reads=(ARRIVED, VISIBLE.before, KIND, ACTIVATION, LOG_STRENGTH,
                                    DOPAMINE_WHEN_STORED, GRAPH.before, RELATIONS, RIPPLES,
                                    SLEEP_SHARE, TEXTS), adds=(),
          sets=(PRINTED_REHEARSED, REPLAYED, REPLAY_LAG, REPLAYS))  # fmt: skip
    def dream(self, view: Any, tick: Tick) -> None:
        p, links, heat = (
            self.params,
            view.graph.csr(EdgeType.ENTITY),
            1.0 / (1.0 + np.exp(-view.activation - view.log_strength)),
        )
        n, sequences, room = len(heat), [], np.empty(p.length, dtype=np.int64)
        stored = events(view.kind)
        by_heat = stored[np.lexsort((-stored, -np.where(view.visible, heat, -1.0)[stored]))]
        domains = list[str]()
        if p.round_robin:
            domains = [self.domain(view.texts.event(row)) for row in by_heat.tolist()]
            turns = in_turn(range(len(by_heat)), domains)
            by_heat, domains = by_heat[turns], [domains[place] for place in turns]
        hottest, domains = by_heat[: p.seeds], domains[: p.seeds]
        network = (
            links.start,
            links.degree,
            links.pool,
            view.graph.target,
            view.graph.n_entities,
            view.relations.pairs(view.graph.entity_id, view.visible),
            view.visible,
        )
        for step in (1, -1):
            sequences.append(
                [room[: sequence(seed, step, *network, room)].copy() for seed in hottest]
            )
        forward, reverse = (
            [priority(heat[rows], view.dopamine_when_stored[rows].mean()) for rows in group]
            for group in sequences
        )
        chosen = selected(
            forward,
            reverse,
            p.threshold,
            round(p.sequences * view.ripples * view.sleep_share),
            domains,
        )
        pairs = np.concatenate(
            [
                np.empty((0, 2), np.int64),
                *(
                    np.stack([s[:-1], s[1:]], axis=1)
                    for back, i in chosen
                    for s in (sequences[back][i],)
                ),
            ]
        )
        pairs = pairs[:REPLAY_STEPS]
        view.replayed[: len(pairs)] = pairs
        view.replay_lag[: len(pairs)] = (
            np.abs(np.diff(view.arrived[pairs], axis=1)[:, 0]) / p.compression
        )
        view.replays[...] = np.bincount(pairs.ravel(), minlength=n)
        view.printed_rehearsed[...] = np.log(np.exp(view.printed_rehearsed) + view.replays)

    @hook(Phase.MAINTAIN, reads=(PRINTED_REHEARSED,), adds=(LOG_STRENGTH,), sets=())
    def strengthen(self, view: Any, tick: Tick) -> None:
        np.multiply(view.printed_rehearsed, self.params.rehearsal, out=view.log_strength)
