"""Random walks with restart over the graph of memories and entities: personalised PageRank, in a
bounded number of links.

`walk` gives the probability of each node, `passages` the sum over the entities of each memory,
`specificity` the weight of a starting entity, `restarts` those of starting memories.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ...engine.base.numerics import exact_kernel, kernel

# the residual falls by the factor d per round; the limit is reached only for d > 0.99
MOST_ROUNDS: Final = 1000


@exact_kernel
def specificity(passages: float) -> float:
    """s_i = |P_i|^-1, weight of a query entity that |P_i| memories mention.  HippoRAG, node
    specificity.  Cost: O(1).

    >>> specificity(10.0)
    0.1
    """
    return 1.0 / passages


@kernel
def restarts(similarity: Any, allowed: Any, weight: float, out: Any) -> None:
    """out_i = w (c_i - min c) / (max c - min c) over the allowed memories; 0 for others, and if all
    are equal.  HippoRAG 2.  Cost: O(n).

    similarity  (n,)  c, cosine of the query and the memory
    allowed     (n,)
    weight      ()    w, of the best memory, against that of an entity with one memory
    out         (n,)  written

    >>> out = np.zeros(3)
    >>> restarts(np.array([0.2, 0.4, 0.3]), np.array([True, True, True]), 0.05, out)
    >>> out.round(9).tolist()
    [0.0, 0.05, 0.025]
    """
    low, high = np.inf, -np.inf
    for i in range(similarity.shape[0]):
        if allowed[i]:
            low, high = min(low, similarity[i]), max(high, similarity[i])
    for i in range(similarity.shape[0]):
        out[i] = weight * (similarity[i] - low) / (high - low) if allowed[i] and high > low else 0.0


@exact_kernel
def walk(
    seeds: Any,
    share: Any,
    start: Any,
    degree: Any,
    ends: Any,
    d: float,
    epsilon: float,
    rounds: int,
    rank: Any,
) -> Any:
    """pi = (1 - d) s + d P^T pi, up to a residual; returns (rounds, links followed, residual).
    Page et al. (1999), Haveliwala (2002).

    To push a residual r, (1 - d) r is added to pi and d r is divided equally among the links; a
    node without links returns it to s.  A residual r < epsilon degree is finally added to pi at its
    node, so that sum pi = sum s.  |pi - exact|_1 <= 2 residual; for the power iteration the bound
    is 2 d^t; with epsilon = 0 it is the power iteration from s.  On an undirected network |pi_v -
    exact_v| <= epsilon degree_v.

    seeds                (q,)      nodes of the restart vector, each once
    share                (q,)  1   s > 0
    start, degree, ends            targets of the out-links of node v: ends[start[v]:start[v] +
                                   degree[v]]; v < 0 for entities, as in engine/state/graph.py
    d                    ()    1   probability of following a link, 0..1 (networkx: alpha)
    epsilon              ()    1   least residual per link that is pushed
    rounds               ()        largest number of rounds
    rank                 (v,)  1   pi, same length as start; zero on entry, written
    Cost: O(v) to clear arrays, then at most sum s / (epsilon (1 - d)) links and as many nodes.

    A path 0 - 1 - 2, started at 0:

    >>> pi = np.zeros(3)
    >>> path = np.array([0, 1, 3]), np.array([1, 2, 1]), np.array([1, 0, 2, 1])
    >>> walk(np.array([0]), np.array([1.0]), *path, 0.5, 0.0, 60, pi)[0], pi.round(7).tolist()
    (60, [0.5833333, 0.3333333, 0.0833333])
    """
    size, total = rank.shape[0], 0.0
    residual, flow = np.zeros(size), np.empty(size)
    nodes, touched = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
    seen = np.zeros(size, dtype=np.bool_)
    # `touched[:known]` may hold a residual
    known = followed = done = 0
    for k in range(seeds.shape[0]):
        residual[seeds[k]] += share[k]
        seen[seeds[k]] = True
        touched[known] = seeds[k]
        known += 1
        total += share[k]
    while done < rounds:
        count, returned = 0, 0.0
        for k in range(known):
            v = touched[k]
            if residual[v] > 0.0 and residual[v] >= epsilon * max(degree[v], 1):
                nodes[count], flow[count] = v, residual[v]
                count += 1
                residual[v] = 0.0
        if count == 0:
            break
        for k in range(count):
            v = nodes[k]
            rank[v] += (1.0 - d) * flow[k]
            if degree[v] == 0:
                returned += d * flow[k]
                continue
            part = d * flow[k] / degree[v]
            followed += degree[v]
            for place in range(start[v], start[v] + degree[v]):
                w = ends[place]
                residual[w] += part
                at = w if w >= 0 else size + w
                if not seen[at]:
                    seen[at] = True
                    touched[known] = w
                    known += 1
        if returned > 0.0:
            for k in range(seeds.shape[0]):
                residual[seeds[k]] += returned * share[k] / total
        done += 1
    left = 0.0
    for k in range(known):
        v = touched[k]
        left += residual[v]
        rank[v] += residual[v]
    return done, followed, left


@exact_kernel
def passages(rank: Any, entities: int, start: Any, degree: Any, ends: Any, out: Any) -> None:
    """P^T n': each memory's sum of pi over the entities it mentions.  HippoRAG, passage score.
    Cost: O(entities + their links).

    rank                 (v,)  1  n', pi of every node
    entities             ()       number of entities, the nodes -1 ... -entities
    start, degree, ends           out-links of the nodes, as for `walk`
    out                  (n,)  1  written; NaN on entry, and stays NaN where no entity was reached
    """
    for e in range(entities):
        v = -1 - e
        if rank[v] > 0.0:
            for place in range(start[v], start[v] + degree[v]):
                i = ends[place]
                if i >= 0:
                    out[i] = rank[v] if np.isnan(out[i]) else out[i] + rank[v]
