"""Journeys: what is needed next follows from what was needed last, along the edges of a directed
graph of places.

A district has STAGES stages with PLACES places each; a route leads from every place to one of the
next stage, and no two lead to the same one.  A journey starts anywhere in the first stage and
passes all stages.  With probability s a step follows the route, else it leads to any place of the
next stage. Each question names district and stage, so all their places fit; the step before tells
which is next.

`journeys/told`: the events tell the places route by route, so the edges are known before the first
journey.  `journeys/used`: the events tell them in any order, and only the journeys show the edges.
Starts are drawn alike, and routes are one to one, so every place is visited equally often in the
mean and with the same spread, whatever s is.  Districts are told when they are first visited, and
return after others.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise, permutations

import numpy as np
from numpy.typing import NDArray

from ...engine.contract.records import Event
from .base import DAY, MINUTE, START, Stream, World, WorldQuestion, ordered
from .words import LINES, chatter, memory_of_place, question_of_stage

DISTRICTS, STAGES, PLACES, JOURNEYS = 4, 5, 6, 24  # journeys in each district
# districts, in the order in which they are visited
BLOCKS = (0, 1, 0, 2, 1, 3, 2, 0, 3, 1, 2, 3)
CHATTER = 180  # other events
# (STAGES - 1, PLACES): the place of the next stage to which each leads
Routes = NDArray[np.int64]
Walks = NDArray[np.int64]  # (journeys, STAGES): places visited


def walked(routes: Routes, strength: float, n: int, rng: np.random.Generator) -> Walks:
    """n journeys along the routes of one district."""
    stages, places = routes.shape[0] + 1, routes.shape[1]
    walks, follows, elsewhere = (
        np.empty((n, stages), np.int64),
        rng.random((n, stages)) < strength,
        rng.integers(places, size=(n, stages)),
    )
    walks[:, 0] = elsewhere[:, 0]
    for stage in range(1, stages):
        walks[:, stage] = np.where(
            follows[:, stage], routes[stage - 1, walks[:, stage - 1]], elsewhere[:, stage]
        )
    return walks


def known(routes: Routes, walks: Walks, strength: float) -> list[list[NDArray[np.float64]]]:
    """What an observer who knows the routes believes before each step but the first, by journey: s
    on the route, and the rest evenly.

    >>> [b.tolist() for b in known(np.array([[1, 0]]), np.array([[0, 0]]), 0.5)[0]]
    [[0.25, 0.75]]
    """
    places = routes.shape[1]
    even = (1.0 - strength) / places
    return [
        [
            even + strength * (np.arange(places) == routes[stage, walk[stage]])
            for stage in range(routes.shape[0])
        ]
        for walk in walks
    ]


def learnt(walks: Walks, strength: float, places: int = PLACES) -> list[list[NDArray[np.float64]]]:
    """What an observer who has seen only the steps before believes: the posterior over all
    one-to-one routes of each pair of stages, exactly.

    A step from i to j has the likelihood s [route(i) = j] + (1 - s) / places.  Cost: O(places!) for
    each step.
    """
    routes = np.array(list(permutations(range(places))))  # (places!, places)
    even = (1.0 - strength) / places
    log, learnt_at = np.zeros((walks.shape[1] - 1, len(routes))), list[list[NDArray[np.float64]]]()
    for walk in walks:
        beliefs = []
        for stage, (here, there) in enumerate(pairwise(walk.tolist())):
            weight = np.exp(log[stage] - log[stage].max())
            leads = np.bincount(routes[:, here], weight, places) / weight.sum()
            beliefs.append(even + strength * leads)
            with np.errstate(divide="ignore"):
                log[stage] += np.log(even + strength * (routes[:, here] == there))
        learnt_at.append(beliefs)
    return learnt_at


def life(strength: float, seed: int, *, told: bool) -> Stream:
    """One life of 300 events and 480 questions, of which 384 count: the first of a journey could
    not be known.
    """
    rng = np.random.default_rng([2, seed])
    names = rng.permutation(DISTRICTS)
    # which text a place has
    part = np.argsort(rng.random((DISTRICTS, STAGES, PLACES)), axis=-1)
    steps, beliefs, visits = (
        list[Event | WorldQuestion](),
        dict[str, NDArray[np.float64]](),
        dict[int, int](),
    )
    per_block = JOURNEYS * DISTRICTS // len(BLOCKS)
    every: dict[int, tuple[Routes, Walks, list[list[NDArray[np.float64]]]]] = {}
    for district in range(DISTRICTS):
        routes = np.stack([rng.permutation(PLACES) for _ in range(STAGES - 1)])
        walks, shuffled = walked(routes, strength, JOURNEYS, rng), rng.permutation(STAGES * PLACES)
        every[district] = (
            routes,
            walks,
            known(routes, walks, strength) if told else learnt(walks, strength),
        )
        first = START + DAY * 2 * BLOCKS.index(district)
        order = [(stage, place) for line in lines_of(routes) for stage, place in enumerate(line)]
        if not told:
            order = [order[i] for i in shuffled]
        for i, (stage, place) in enumerate(order):
            steps.append(
                Event(
                    first + i * MINUTE * 5,
                    memory_of_place(int(names[district]), stage, int(part[district, stage, place])),
                    "",
                    f"d{district}l{i // STAGES}",
                    f"d{district}s{stage}p{place}",
                    dated=False,
                )
            )
    for block, district in enumerate(BLOCKS):
        _, walks, believed = every[district]
        for j in range(per_block):
            number = visits.get(district, 0)
            visits[district] = number + 1
            for stage, place in enumerate(walks[number]):
                id = f"d{district}j{number}s{stage}"
                steps.append(
                    WorldQuestion(
                        id,
                        START + DAY * (2 * block + 0.5 + j / 8) + stage * MINUTE * 5,
                        question_of_stage(int(names[district]), stage, number),
                        tuple((f"d{district}s{stage}p{p}",) for p in range(PLACES)),
                        int(place),
                        stage > 0,
                        f"journey {block}.{j}",
                    )
                )
                if stage:
                    beliefs[id] = believed[number][stage - 1]
    for i, line in enumerate(rng.permutation(LINES)[:CHATTER]):
        at = 2 * len(BLOCKS) * (i + 0.25) / CHATTER
        steps.append(
            Event(START + DAY * at, chatter(int(line)), "", f"day {int(at)}", f"x{i}", dated=False)
        )
    order_of = ordered(steps)
    return Stream(
        order_of,
        lambda: [
            beliefs[step.id] for step in order_of if isinstance(step, WorldQuestion) and step.scored
        ],
    )


def lines_of(routes: Routes) -> list[list[int]]:
    """The places along each line, from each place of the first stage.

    >>> lines_of(np.array([[1, 0], [0, 1]]))
    [[0, 1, 1], [1, 0, 0]]
    """
    lines = [[place] for place in range(routes.shape[1])]
    for leads in routes:
        for line in lines:
            line.append(int(leads[line[-1]]))
    return lines


_SOURCE = "Howard & Kahana (2002), doi:10.1006/jmps.2001.1388; Dayan (1993), doi:10.1162/neco.1993.5.4.613"
WORLDS = (
    World(
        "journeys/told",
        "what is needed next follows what was needed last, along routes that events tell",
        "determinism of the step",
        _SOURCE,
        1,
        partial(life, told=True),
    ),
    World(
        "journeys/used",
        "what is needed next follows what was needed last, along routes that only use shows",
        "determinism of the step",
        _SOURCE,
        1,
        partial(life, told=False),
    ),
)
