"""Evidence for hopfield_completion.  References are scipy's softmax, logsumexp, Lambert W and
root finder, closed forms and published constants.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, lambertw, logsumexp, softmax

from ..checks import adaptation, at_least, at_most, equation, limit, mutant, reference, signature
from ..figures import Curve, Picture, dots, figure
from ..memory import Scripted, encode, memory_of

Vector = NDArray[np.float64]
RAMSAUER = "Ramsauer et al. 2021"
BETAS = (0.01, 1.0, 8.0, 32.0)


# --- references -----------------------------------------------------------------------------------
def networks(n: int) -> Iterator[tuple[Vector, Vector, float]]:
    """Random patterns, a state in their convex hull, and beta."""
    rng = np.random.default_rng(0)
    for k in range(n):
        x = rng.standard_normal((int(rng.integers(2, 12)), int(rng.integers(1, 9)))) * rng.uniform(
            0.2, 2.0
        )
        yield x, rng.dirichlet(np.ones(len(x))) @ x, BETAS[k % len(BETAS)]


def unit(rng: np.random.Generator, *shape: int) -> Vector:
    x = rng.standard_normal(shape)
    return np.asarray(x / np.linalg.norm(x, axis=-1, keepdims=True))


def attended(specimen: Any, x: Vector, state: Vector, beta: float) -> Vector:
    p = np.empty(len(x))
    specimen.attention(x, state, beta, p)
    return p


def stepped(specimen: Any, x: Vector, state: Vector, beta: float) -> Vector:
    """f(xi), one update."""
    out = np.empty(x.shape[1])
    specimen.update(x, attended(specimen, x, state, beta), out)
    return out


def settled(
    specimen: Any,
    x: Vector,
    cue: Vector,
    beta: float,
    tolerance: float = 1e-15,
    most: int = 100_000,
) -> tuple[Vector, Vector]:
    """(state, p) of the fixed point."""
    p, state = np.empty(len(x)), np.empty(x.shape[1])
    specimen.complete(x, cue, beta, tolerance, most, p, state)
    return state, p


def noisy_cue() -> tuple[Vector, Vector]:
    """50 patterns of 64 dimensions, drawn as columns and transposed, and the first of them with
    noise; seed 0.
    """
    rng = np.random.default_rng(0)
    x = rng.standard_normal((64, 50)).T
    x = np.ascontiguousarray(x / np.linalg.norm(x, axis=1, keepdims=True))
    return x, x[0] + 0.05 * rng.standard_normal(64) / 8.0


def near_duplicates() -> Vector:
    """Two patterns of cosine 0.98 and 98 random ones, d = 384, seed 0."""
    rng = np.random.default_rng(0)
    x = unit(rng, 100, 384)
    other = x[1] - (x[1] @ x[0]) * x[0]
    x[1] = 0.98 * x[0] + math.sqrt(1.0 - 0.98**2) * other / np.linalg.norm(other)
    return x


# --- the equations --------------------------------------------------------------------------------
@equation(
    "MH-1",
    source=f"{RAMSAUER}, update rule; scipy softmax",
    atol=1e-12,
    papers=("ramsauer2021hopfield",),
)
def the_update_is_softmax_attention(specimen: Any) -> Any:
    cases = list(networks(100))
    measured = [stepped(specimen, *case) for case in cases]
    return np.concatenate(measured), np.concatenate(
        [softmax(beta * (x @ state)) @ x for x, state, beta in cases]
    )


@equation(
    "MH-1b",
    source="softmax: invariant to a constant added to all scores; scores of 1e4 do not overflow",
    atol=1e-12,
    papers=("ramsauer2021hopfield",),
)
def no_beta_overflows_and_constants_cancel(specimen: Any) -> Any:
    rng = np.random.default_rng(1)
    x, state = unit(rng, 20, 8), unit(rng, 8)
    shifted = attended(specimen, np.hstack([x, np.full((20, 1), 50.0)]), np.append(state, 1.0), 4.0)
    sharp = attended(specimen, x, state, 1e4)
    return [*shifted, *sharp], [*softmax(4.0 * (x @ state)), *softmax(1e4 * (x @ state))]


@equation(
    "MH-2a",
    source=f"{RAMSAUER}: the update never raises the energy; 1000 random networks",
    papers=("ramsauer2021hopfield",),
)
def an_update_never_raises_the_energy(specimen: Any) -> Any:
    rises = [
        specimen.energy(x, stepped(specimen, x, state, beta), beta)
        - specimen.energy(x, state, beta)
        for x, state, beta in networks(1000)
    ]
    return at_most(max(rises), 1e-12)


@equation(
    "MH-2b",
    source=f"{RAMSAUER}: 0 <= E <= 2 M^2 in the convex hull; 1000 random networks",
    papers=("ramsauer2021hopfield",),
)
def the_energy_lies_between_zero_and_twice_the_square_of_the_longest_pattern(specimen: Any) -> Any:
    inside = []
    for x, state, beta in networks(1000):
        e = specimen.energy(x, state, beta)
        inside.append(min(e, 2.0 * np.max(np.sum(x * x, axis=1)) - e))
    return at_least(min(inside), -1e-12)


@equation(
    "MH-2c",
    source=f"{RAMSAUER}, energy; scipy logsumexp",
    rtol=1e-9,
    atol=1e-10,
    papers=("ramsauer2021hopfield",),
)
def the_energy_has_all_its_terms(specimen: Any) -> Any:
    cases = list(networks(100))
    expected = [
        -logsumexp(b * (x @ s)) / b
        + 0.5 * s @ s
        + math.log(len(x)) / b
        + 0.5 * np.max(np.sum(x * x, axis=1))
        for x, s, b in cases
    ]
    return [specimen.energy(*case) for case in cases], expected


@equation(
    "MH-3", source="closed form 1 / (1 + exp(-beta))", atol=1e-7, papers=("ramsauer2021hopfield",)
)
def the_cued_one_of_two_orthonormal_patterns_has_a_logistic_share(specimen: Any) -> Any:
    return [
        attended(specimen, np.eye(2), np.eye(2)[0], beta)[0] for beta in (1.0, 2.0, 5.0, 10.0)
    ], [0.7310586, 0.8807971, 0.9933071, 0.9999546]


@equation("MH-9", source="definition, in numpy", papers=("ramsauer2021hopfield",))
def a_fixed_point_maps_to_itself_and_p_belongs_to_it(specimen: Any) -> Any:
    x = unit(np.random.default_rng(2), 30, 16)
    state, p = settled(specimen, x, 0.7 * x[3] + 0.3 * x[4], 12.0)
    return [*state, *p], [*(softmax(12.0 * (x @ state)) @ x), *softmax(12.0 * (x @ state))]


@equation(
    "MH-9b",
    source="the update counted in numpy, until the state moves by no more than the tolerance, at most so often",
    papers=("ramsauer2021hopfield",),
)
def the_number_of_updates_is_that_of_the_iteration(specimen: Any) -> Any:
    # the last entry never moves
    x = np.hstack([unit(np.random.default_rng(8), 9, 5), np.zeros((9, 1))])
    cue = 0.6 * x[2] + 0.4 * x[5]
    measured: list[float] = []
    expected: list[float] = []
    for tolerance, most in ((1e-3, 90), (1e-6, 90), (1e-6, 3), (0.2, 1), (0.0, 2)):
        p, state, true, steps, moved = np.empty(9), np.empty(6), cue, 0, math.inf
        measured += [specimen.complete(x, cue, 6.0, tolerance, most, p, state), *state]
        while steps < most and moved > tolerance:
            new = softmax(6.0 * (x @ true)) @ x
            true, moved, steps = new, float(np.linalg.norm(new - true)), steps + 1
        expected += [steps, *true]
    p, state = np.empty(1), np.empty(6)
    # a single pattern does not move
    return [*measured, specimen.complete(x[:1], x[0], 6.0, 0.0, 50, p, state)], [*expected, 1]


# --- limits ---------------------------------------------------------------------------------------
@limit(
    "MH-4a",
    source="beta -> 0: the mean of all patterns",
    atol=1e-5,
    papers=("ramsauer2021hopfield",),
)
def without_beta_one_update_gives_the_mean(specimen: Any) -> Any:
    x = unit(np.random.default_rng(0), 50, 64)
    return stepped(specimen, x, x[0], 1e-6), x.mean(axis=0)


@limit(
    "MH-4b",
    source="large beta: |f - x_i| <= 2 M (N - 1) exp(-beta (Delta_i - 2 M |xi - x_i|)); d = 64, N = 50, seed 0",
    figure="error_over_beta",
    papers=("ramsauer2021hopfield",),
)
def with_large_beta_one_update_finds_the_pattern_within_the_bound(specimen: Any) -> Any:
    x, state = noisy_cue()
    delta, distance = 1.0 - np.max(x[1:] @ x[0]), np.linalg.norm(state - x[0])
    bounds = {
        beta: 2.0 * 49.0 * math.exp(-beta * (delta - 2.0 * distance)) for beta in (8.0, 16.0, 32.0)
    }
    return at_most(
        [
            float(np.linalg.norm(stepped(specimen, x, state, beta) - x[0])) / bound
            for beta, bound in bounds.items()
        ],
        1.0,
    )


@limit(
    "MH-4c",
    source="as MH-4b at beta = 32; published error 3.1e-10",
    rtol=0.02,
    atol=0.0,
    figure="error_over_beta",
    papers=("ramsauer2021hopfield",),
)
def the_error_of_one_update_is_the_published_one(specimen: Any) -> Any:
    x, state = noisy_cue()
    return np.linalg.norm(stepped(specimen, x, state, 32.0) - x[0]), 3.1e-10


@limit(
    "MH-4d",
    source="as MH-4b at beta = 32; published bound 6.1e-7",
    rtol=0.02,
    atol=0.0,
    figure="error_over_beta",
    papers=("ramsauer2021hopfield",),
)
def the_bound_on_the_error_of_one_update_is_the_published_one(specimen: Any) -> Any:
    x, state = noisy_cue()
    return specimen.retrieval_error(
        50.0, 32.0, specimen.separation(x, 0), float(np.linalg.norm(state - x[0])), 1.0
    ), 6.1e-7


# --- separation and capacity ----------------------------------------------------------------------
@equation(
    "MH-10",
    source=f"{RAMSAUER}, separation and retrieval bound; numpy",
    papers=("ramsauer2021hopfield",),
)
def separation_its_threshold_and_the_bound_are_as_defined(specimen: Any) -> Any:
    x = unit(np.random.default_rng(3), 12, 5)
    gram = x @ x.T
    nearest = np.max(gram - 9.0 * np.eye(12), axis=1)
    measured = [
        *(specimen.separation(x, i) for i in range(12)),
        specimen.least_separation(50.0, 16.0, 2.0),
        specimen.retrieval_error(50.0, 16.0, 0.5, 0.1, 2.0),
    ]
    return measured, [
        *(np.diag(gram) - nearest),
        2 / (16 * 50) + math.log(2 * 49 * 50 * 16 * 4) / 16,
        2 * 2 * 49 * math.exp(-16 * (0.5 - 0.4)),
    ]


@limit(
    "MH-11",
    source=f"{RAMSAUER}: a well separated pattern has a fixed point of its own",
    papers=("ramsauer2021hopfield",),
)
def well_separated_patterns_have_fixed_points_of_their_own(specimen: Any) -> Any:
    x, beta = unit(np.random.default_rng(4), 40, 96), 32.0
    apart = [
        i
        for i in range(40)
        if 1.0 - np.max(np.delete(x @ x[i], i)) >= specimen.least_separation(40.0, beta, 1.0)
    ]
    return at_most(
        [float(np.linalg.norm(settled(specimen, x, x[i], beta)[0] - x[i])) for i in apart], 0.05
    )


@reference(
    "MH-6",
    source=f"{RAMSAUER}, storage capacity: printed 3.1546 and 1.3718",
    atol=1e-6,
    papers=("ramsauer2021hopfield",),
)
def the_capacity_constants_are_the_published_ones(specimen: Any) -> Any:
    return [
        specimen.capacity_base(1.0, 3.0, 20.0, 0.001),
        specimen.capacity_base(1.0, 1.0, 75.0, 0.001),
    ], [3.1546108, 1.3718778]


@equation(
    "MH-6c",
    source=f"{RAMSAUER}, storage capacity, by scipy's Lambert W, for several beta, K, d and p",
    papers=("ramsauer2021hopfield",),
)
def the_capacity_base_follows_its_formula(specimen: Any) -> Any:
    cases = [(0.5, 3.0, 20.0, 0.001), (2.0, 1.0, 75.0, 0.01), (4.0, 2.0, 40.0, 0.1)]
    a = [
        2.0 / (d - 1.0) * (1.0 + math.log(2.0 * beta * k * k * p * (d - 1.0)))
        for beta, k, d, p in cases
    ]
    b = [2.0 * k * k * beta / 5.0 for beta, k, _, _ in cases]
    return [specimen.capacity_base(*case) for case in cases], [
        y / lambertw(math.exp(x + math.log(y))).real for x, y in zip(a, b, strict=True)
    ]


@equation("MH-6b", source="w exp(w) = x by bisection; W(0) = 0")
def lambert_w_inverts_w_exp_w(specimen: Any) -> Any:
    xs = np.geomspace(1e-6, 1e6, 25)
    expected = [
        brentq(lambda w, x=x: w * math.exp(w) - x, 0.0, 20.0, xtol=1e-15, rtol=1e-14) for x in xs
    ]
    return [specimen.lambert_w(0.0), *(specimen.lambert_w(x) for x in xs)], [0.0, *expected]


@reference(
    "MH-7",
    source="Krotov & Hopfield 2016, N = 100, n = 2, 3, 4",
    atol=0.1,
    papers=("krotov2016dense",),
)
def the_capacity_of_polynomial_energies_is_the_published_one(specimen: Any) -> Any:
    return [specimen.polynomial_capacity(100.0, n) for n in (2, 3, 4)], [10.857, 361.9, 7238.2]


# --- signatures -----------------------------------------------------------------------------------
@signature(
    "MH-5",
    source="xi = tanh(beta xi), bifurcation at beta = 1; its roots to seven digits",
    atol=1e-6,
    figure="bifurcation",
    papers=("ramsauer2021hopfield",),
)
def the_fixed_point_of_two_memories_splits_at_beta_one(specimen: Any) -> Any:
    x = np.array([[1.0], [-1.0]])
    return [
        settled(specimen, x, np.array([0.5]), beta, most=1000)[0][0] for beta in (0.9, 1.1, 2.0)
    ], [0.0, 0.5029406, 0.9575040]


@signature(
    "MH-8",
    source="closed form 1 / (1 + exp(-0.02 beta)) of two patterns of cosine 0.98",
    atol=1e-3,
    papers=("ramsauer2021hopfield",),
)
def near_duplicates_share_the_softmax_at_small_beta_only(specimen: Any) -> Any:
    x = near_duplicates()
    mixed, sharp = attended(specimen, x, x[0], 20.0), attended(specimen, x, x[0], 500.0)
    return [mixed[0], mixed[1], sharp[0]], [expit(0.4), expit(-0.4), expit(10.0)]


@signature(
    "MH-8b",
    source="metastability: near-duplicates converge to one state between them, which is no stored pattern",
    papers=("ramsauer2021hopfield",),
)
def near_duplicates_share_a_metastable_state(specimen: Any) -> Any:
    x = near_duplicates()
    from_one, from_other = settled(specimen, x, x[0], 20.0)[0], settled(specimen, x, x[1], 20.0)[0]
    return bool(
        np.allclose(from_one, from_other, atol=1e-6)
        and min(np.linalg.norm(from_one - x, axis=1)) > 0.05
    )


@signature(
    "MH-12",
    source="content-addressable memory: half of the entries of a pattern retrieve the whole",
    papers=("ramsauer2021hopfield",),
)
def half_a_pattern_retrieves_the_whole(specimen: Any) -> Any:
    rng = np.random.default_rng(5)
    x = unit(rng, 500, 128)
    off = [
        np.linalg.norm(
            settled(specimen, x, np.where(np.arange(128) < 64, x[i], 0.0), 64.0, tolerance=1e-9)[0]
            - x[i]
        )
        for i in range(20)
    ]
    return at_most(off, 1e-3)


# --- in a memory ----------------------------------------------------------------------------------
@equation(
    "MH-15",
    source=f"{RAMSAUER}, update rule: scipy softmax over the nearest memories, until the state moves by less than 1e-9, or twice",
    atol=2e-6,
    papers=("ramsauer2021hopfield",),
)
def a_memory_completes_the_query_with_the_update_rule(specimen: Any) -> Any:
    rng = np.random.default_rng(7)
    x, cue = unit(rng, 12, 6), unit(rng, 6)
    x[7] = 0.9 * x[3] + 0.3 * x[7]
    cue = 0.7 * x[3] + 0.4 * cue
    texts = {f"event {i}": x[i] for i in range(12)}
    measured, expected = [], []
    for beta, pool, archived, most in (
        (9.0, 12, None, 500),
        (4.0, 5, None, 500),
        (9.0, 5, 2, 500),
        (4.0, 12, None, 2),
    ):
        memory = memory_of(
            specimen,
            embedder=Scripted({**texts, "query": cue}),
            beta=beta,
            pool=pool,
            most_updates=most,
            tolerance=1e-9,
        )
        encode(memory, *((float(i), text) for i, text in enumerate(texts)))
        if archived is not None:
            memory.archive(archived)
        memory.retrieve("query")
        stored = np.stack([v / np.linalg.norm(v) for v in x]).astype(np.float32).astype(np.float64)
        state = start = (cue / np.linalg.norm(cue)).astype(np.float32).astype(np.float64)
        rows = np.array(
            [i for i in np.argsort(-stored @ start, kind="stable") if i != archived][:pool]
        )
        moved, updates = 1.0, 0
        while moved > 1e-9 and updates < most:
            updates += 1
            new = softmax(beta * stored[rows] @ state) @ stored[rows]
            state, moved = new, float(np.linalg.norm(new - state))
        signal = np.full(12, -9.0)
        signal[rows] = stored[rows] @ state
        nearest = stored[rows] @ start
        outside = (12 - (archived is not None) - len(rows)) * math.exp(beta * nearest[-1])
        measured += [
            *np.nan_to_num(memory.column(specimen.COMPLETION), nan=-9.0),
            memory.column(specimen.COMPLETION_CONFIDENCE).item(),
            memory.column(specimen.COMPLETION_NEGLECTED).item(),
        ]
        expected += [
            *signal,
            softmax(beta * stored[rows] @ state).max(),
            outside / (outside + np.exp(beta * nearest).sum()),
        ]
    return measured, expected


@limit(
    "MH-16",
    source="definition: without a memory, or with all of them archived, nothing is completed",
    papers=("ramsauer2021hopfield",),
)
def a_memory_without_patterns_completes_nothing(specimen: Any) -> Any:
    memory = memory_of(specimen, embedder=Scripted({"event": np.eye(3)[0], "query": np.eye(3)[1]}))
    encode(memory, (0.0, "event"))
    memory.archive(0)
    memory.retrieve("query")
    return [
        memory.column(specimen.COMPLETION_CONFIDENCE).item(),
        memory.column(specimen.COMPLETION_NEGLECTED).item(),
        float(np.isnan(memory.column(specimen.COMPLETION)).all()),
    ], [0.0, 0.0, 1.0]


# --- the adaptation -------------------------------------------------------------------------------
@adaptation(
    "MH-13",
    source="brute force over all patterns: the softmax mass, at the cue, of those outside the pool",
)
def the_mass_outside_the_pool_is_within_its_bound(specimen: Any) -> Any:
    rng, room = np.random.default_rng(6), []
    for beta in (1.0, 4.0, 16.0, 64.0):
        x, cue = unit(rng, 3000, 24), unit(rng, 24)
        overlap = np.sort(x @ cue)[::-1]
        for pool in (1, 10, 100, 3000):
            room.append(
                specimen.neglected(overlap[:pool], beta, 3000.0 - pool)
                - softmax(beta * overlap)[pool:].sum()
            )
    return at_least(room, -1e-12)


@adaptation(
    "MH-14",
    source="closed form: patterns of equal overlap have equal shares; a pool of all neglects nothing",
)
def the_bound_is_exact_for_equal_overlaps(specimen: Any) -> Any:
    return [
        specimen.neglected(np.full(20, 0.3), 50.0, 60.0),
        specimen.neglected(np.array([0.9, 0.1]), 50.0, 0.0),
    ], [0.75, 0.0]


# --- figures --------------------------------------------------------------------------------------
@figure(
    "bifurcation",
    caption="Fixed point between two opposite memories: in the middle up to beta = 1, on either side of it above",
    source="xi = tanh(beta xi); its roots to seven digits",
)
def fixed_points_over_beta(specimen: Any) -> Picture:
    x, betas = np.array([[1.0], [-1.0]]), np.linspace(0.5, 2.5, 81)
    return Picture(
        "beta",
        "state at rest",
        (
            *(
                Curve(
                    f"from {cue:+g}",
                    betas,
                    [
                        settled(specimen, x, np.array([cue]), float(b), most=1000)[0][0]
                        for b in betas
                    ],
                )
                for cue in (0.5, -0.5)
            ),
            dots("roots", [0.9, 1.1, 2.0], [0.0, 0.5029406, 0.9575040]),
        ),
    )


@figure(
    "error_over_beta",
    caption="Distance of the first update from the stored pattern: it falls exponentially with beta and stays below the "
    "paper's bound",
    source=f"{RAMSAUER}, error of one update; published 3.1e-10 and 6.1e-7 at beta = 32",
)
def error_of_one_update(specimen: Any) -> Picture:
    (x, state), betas = noisy_cue(), np.arange(8.0, 40.1, 2.0)
    delta, distance = 1.0 - np.max(x[1:] @ x[0]), float(np.linalg.norm(state - x[0]))
    return Picture(
        "beta",
        "error of one update",
        (
            Curve(
                "mechanism",
                betas,
                [np.linalg.norm(stepped(specimen, x, state, float(b)) - x[0]) for b in betas],
            ),
            Curve("bound", betas, 2.0 * 49.0 * np.exp(-betas * (delta - 2.0 * distance))),
            dots("published", [32.0, 32.0], [3.1e-10, 6.1e-7]),
        ),
        log="y",
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("energy without ln(N) / beta and M^2 / 2", rejected_by="MH-2b")
def no_constants(specimen: Any) -> Any:
    return specimen.replacing(
        "energy", lambda x, s, beta: -logsumexp(beta * (x @ s)) / beta + 0.5 * s @ s
    )


@mutant("softmax without subtracting the largest score", rejected_by="MH-1b")
def no_shift(specimen: Any) -> Any:
    def attention(x: Any, s: Any, beta: float, p: Any) -> float:
        p[:] = np.exp(beta * (x @ s))
        total = p.sum()
        p /= total
        return math.log(total) / beta

    return specimen.replacing("attention", attention)


@mutant("the nearest pattern in place of the softmax mean", rejected_by="MH-8")
def nearest(specimen: Any) -> Any:
    def attention(x: Any, s: Any, beta: float, p: Any) -> float:
        p[:] = np.arange(len(x)) == np.argmax(x @ s)
        return float(np.max(x @ s))

    return specimen.replacing("attention", attention)


@mutant("beta left out", rejected_by="MH-3")
def no_beta(specimen: Any) -> Any:
    return specimen.replacing("attention", lambda x, s, beta, p: specimen.attention(x, s, 1.0, p))


@mutant("one update in place of the fixed point", rejected_by="MH-5")
def one_step(specimen: Any) -> Any:
    return specimen.replacing(
        "complete",
        lambda x, cue, beta, tolerance, most, p, state: specimen.complete(
            x, cue, beta, tolerance, 1, p, state
        ),
    )


@mutant("the mean of the best two, not of all by softmax", rejected_by="MH-1")
def best_two(specimen: Any) -> Any:
    return specimen.replacing(
        "update", lambda x, p, out: np.copyto(out, x[np.argsort(-p)[:2]].mean(axis=0))
    )


@mutant("separation from the mean of the others, not from the nearest", rejected_by="MH-10")
def from_the_mean(specimen: Any) -> Any:
    return specimen.replacing(
        "separation", lambda x, i: float(x[i] @ x[i] - np.mean(np.delete(x @ x[i], i)))
    )


@mutant("the mass outside the pool is taken as 0", rejected_by="MH-13")
def nothing_left_out(specimen: Any) -> Any:
    return specimen.replacing("neglected", lambda *_: 0.0)


@mutant("ln(1 + x) in place of Lambert's W", rejected_by="MH-6")
def wrong_capacity(specimen: Any) -> Any:
    return specimen.replacing("lambert_w", math.log1p)
