"""Evidence that mechanisms with random walks share: references and checks of
`mechanisms.shared.walks`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Pairs = Sequence[tuple[int, int]]
PATH: Pairs = [(0, 1), (1, 0), (1, 2), (2, 1)]


# --- references -----------------------------------------------------------------------------------
def packed(nodes: int, links: Pairs) -> tuple[NDArray[Any], ...]:
    """start, degree, ends of links (from, to); nodes -k count from the back."""
    order = sorted(range(len(links)), key=lambda k: links[k][0] % nodes)
    degree = np.bincount([f % nodes for f, _ in links], minlength=nodes)
    return np.cumsum(degree) - degree, degree, np.array([links[k][1] for k in order])


def walked(
    specimen: Any,
    nodes: int,
    links: Pairs,
    held: dict[int, float],
    d: float,
    epsilon: float = 0.0,
    rounds: int = 1000,
) -> tuple[Any, Any]:
    """The specimen's pi, and (rounds, links followed, residual).  0.93^1000 is below 1e-31."""
    pi = np.zeros(nodes)
    report = specimen.walk(
        np.array(list(held)),
        np.array(list(held.values())),
        *packed(nodes, links),
        d,
        epsilon,
        rounds,
        pi,
    )
    return pi, report


def solved(nodes: int, links: Pairs, held: dict[int, float], d: float) -> NDArray[np.float64]:
    """(1 - d) (I - d P^T)^-1 s in numpy, a node without links returns to s."""
    s, p = np.zeros(nodes), np.zeros((nodes, nodes))
    for v, share in held.items():
        s[v] += share
    for f, t in links:
        p[f, t] += 1.0
    out = p.sum(axis=1)
    p = np.where(out[:, None] > 0, p / np.maximum(out, 1.0)[:, None], s / s.sum())
    return np.asarray((1.0 - d) * np.linalg.solve(np.eye(nodes) - d * p.T, s))


def both_ways(pairs: Pairs) -> list[tuple[int, int]]:
    return [*pairs, *((b, a) for a, b in pairs)]


def directed(
    rng: np.random.Generator, nodes: int, chance: float, dangling: int = 0
) -> list[tuple[int, int]]:
    """Random links; the last `dangling` nodes have none of their own."""
    return [
        (a, b)
        for a in range(nodes - dangling)
        for b in range(nodes)
        if a != b and rng.random() < chance
    ]


def undirected(rng: np.random.Generator, nodes: int) -> list[tuple[int, int]]:
    """A triangle with a random tree and more links on it: connected, and not bipartite."""
    pairs = {(0, 1), (1, 2), (0, 2)} | {(int(rng.integers(v)), v) for v in range(3, nodes)}
    more = {(int(a), int(b)) for a, b in rng.integers(nodes, size=(nodes, 2)) if a < b}
    return both_ways(sorted(pairs | more))


def rounds_of_pushing(
    nodes: int, links: Pairs, held: dict[int, float], d: float, epsilon: float, rounds: int
) -> tuple[Any, int, int, float]:
    """pi, rounds, links followed and residual, by the definition: all large residuals at once,
    by a matrix; a node without links returns to s.
    """
    step, s, pi = np.zeros((nodes, nodes)), np.zeros(nodes), np.zeros(nodes)
    for f, t in links:
        step[f, t] += 1.0
    for v, share in held.items():
        s[v] = share
    degree, residual, followed = step.sum(axis=1), s.copy(), 0
    step = np.where(degree[:, None] > 0.0, step / np.maximum(degree, 1.0)[:, None], s / s.sum())
    for done in range(rounds):
        flow = np.where(residual >= epsilon * np.maximum(degree, 1.0), residual, 0.0)
        if not flow.any():
            return pi + residual, done, followed, float(residual.sum())
        pi, residual, followed = (
            pi + (1.0 - d) * flow,
            residual - flow + d * step.T @ flow,
            followed + int(degree[flow > 0.0].sum()),
        )
    return pi + residual, rounds, followed, float(residual.sum())


# --- checks ---------------------------------------------------------------------------------------
SPECIFIC = "HippoRAG, node specificity"
SUMS = "HippoRAG, passage score: P^T n' as a matrix product in numpy"
PUSHED = "Andersen, Chung & Lang 2006, rounds of pushing by the definition in numpy: number, links and residual"


def an_entity_of_ten_memories_gets_a_tenth_of_the_restarts(specimen: Any) -> Any:
    return [specimen.specificity(10.0), specimen.specificity(1.0)], [0.1, 1.0]


def a_memory_scores_the_sum_over_its_entities(specimen: Any) -> Any:
    rng, memories, entities = np.random.default_rng(8), 15, 6
    mentions, mass = rng.random((memories, entities)) < 0.35, rng.uniform(0.01, 1.0, entities)
    links = [
        link for m, e in np.argwhere(mentions).tolist() for link in ((m, -1 - e), (-1 - e, m))
    ] + [(-1, -2), (-4, -1)]
    rank, out = np.concatenate([rng.random(memories), mass[::-1]]), np.full(memories, np.nan)
    specimen.passages(rank, entities, *packed(memories + entities, links), out)
    return np.nan_to_num(out), mentions @ mass


def pushing_follows_the_definition_round_by_round(specimen: Any) -> Any:
    rng, measured, expected = np.random.default_rng(11), [], []
    dangling = directed(rng, 14, 0.15, dangling=3)
    for nodes, links, held in (
        (3, PATH, {0: 1.0}),
        (14, dangling, {1: 0.5, -2: 1.0}),
        (14, dangling, {13: 1.0}),
    ):
        for d, epsilon, rounds in (
            (0.5, 0.0, 7),
            (0.5, 0.25, 50),
            (0.5, 0.0625, 50),
            (0.7, 0.03, 50),
            (0.7, 0.3, 3),
            (0.5, 9.0, 50),
        ):
            pi, (done, followed, left) = walked(specimen, nodes, links, held, d, epsilon, rounds)
            exact = rounds_of_pushing(nodes, links, held, d, epsilon, rounds)
            measured += [*pi, done, followed, left]
            expected += [*exact[0], *exact[1:]]
    return measured, expected
