"""Evidence for pattern_separation.  References are dense matrices and sorting in numpy, scipy's
lognormal, closed forms, and a simulation.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from ...engine.contract.columns import Phase
from ...engine.contract.records import Query
from ...engine.contract.vocabulary import DUPLICATE, TURNOVER, VETO
from ..checks import adaptation, at_least, at_most, equation, limit, mutant, signature
from ..figures import Curve, Picture, dots, figure
from ..memory import Scripted, encode, memory_of, neighbour

Vector = NDArray[np.float64]
Pair = tuple[Vector, Vector]
N, ACTIVE_INPUTS, M = 200, 20, 1000  # inputs, of which active; units
READ = 0.2  # probability of reading an input
DRAWS = 200
SHARED = (0.5, 0.7, 0.8, 0.9, 0.95)
# output overlap at these input overlaps
SIMULATED = {20: (0.19, 0.39, 0.46, 0.64, 0.79), 50: (0.28, 0.44, 0.54, 0.70, 0.81)}
MATURE = (0.0, 0.2, 0.05)  # young cells are not easier to drive


# --- references and helpers -----------------------------------------------------------------------
def binary_pair(rng: np.random.Generator, shared: float) -> Pair:
    """Two patterns with 20 of 200 inputs active, a share `shared` of them in both."""
    order, common = rng.permutation(N), round(shared * ACTIVE_INPUTS)
    first, second = np.zeros(N), np.zeros(N)
    first[order[:ACTIVE_INPUTS]] = 1.0
    second[order[:common]] = 1.0
    second[order[ACTIVE_INPUTS : 2 * ACTIVE_INPUTS - common]] = 1.0
    return first, second


def unit_pair(rng: np.random.Generator, cosine: float, d: int = 384) -> Pair:
    first, second = rng.standard_normal((2, d))
    first /= np.linalg.norm(first)
    second -= second @ first * first
    return first, cosine * first + math.sqrt(1.0 - cosine * cosine) * second / np.linalg.norm(
        second
    )


def driven(
    specimen: Any,
    x: Vector,
    seed: int,
    units: int = M,
    read: float = READ,
    *,
    normalised: bool = False,
    turnover: float = 0.0,
    young: tuple[float, float, float] = MATURE,
    spread: float = 0.5,
    readers: Callable[..., Any] | None = None,
) -> Vector:
    h = np.full(units, np.nan)
    for generation in specimen.generations(turnover, units):
        specimen.drive(
            x,
            *(readers or specimen.readers)(seed, generation, units, len(x), read, spread),
            generation,
            turnover,
            normalised,
            *young,
            h,
        )
    return h


def coded(specimen: Any, x: Vector, k: int, seed: int, **options: Any) -> set[int]:
    """Active units of an input."""
    return set(specimen.winners(driven(specimen, x, seed, **options), k).tolist())


@functools.lru_cache(maxsize=1)
def keeping(readers: Callable[..., Any]) -> Callable[..., Any]:
    """`readers` of a specimen, which keeps the projections of all draws."""
    return functools.lru_cache(maxsize=2 * DRAWS)(readers)


def transfers(
    specimen: Any, shared: float, active: Sequence[int], draws: int = DRAWS, **options: Any
) -> list[float]:
    """Mean share of common active units, over new projections and patterns, for numbers of active
    units; the two patterns of a draw, and all numbers, have the same projection.
    """
    rng, shares, readers = np.random.default_rng(0), list[list[float]](), keeping(specimen.readers)
    for seed in range(draws):
        drives = [
            driven(specimen, x, seed, readers=readers, **options) for x in binary_pair(rng, shared)
        ]
        codes = [[set(specimen.winners(h, k).tolist()) for h in drives] for k in active]
        shares.append([len(a & b) / k for (a, b), k in zip(codes, active, strict=True)])
    return [float(mean) for mean in np.mean(shares, axis=0)]


def transfer(specimen: Any, shared: float, k: int, draws: int = DRAWS, **options: Any) -> float:
    return transfers(specimen, shared, (k,), draws, **options)[0]


def codes_of(specimen: Any, x: Vector, k: int = 41, units: int = 2048) -> NDArray[np.int32]:
    """(n, k) cells of the rows of x under one projection, or what the specimen's `keys_of`
    returns.
    """
    if hasattr(specimen, "keys_of"):
        return np.asarray(specimen.keys_of(x))
    out = np.empty((len(x), k), dtype=np.int32)
    for row, pattern in enumerate(x):
        specimen.cells(
            specimen.winners(driven(specimen, pattern, 0, units, normalised=True), k),
            0.0,
            units,
            out[row],
        )
    return out


def rows_of_w(
    specimen: Any, seed: int, units: int, inputs: int, read: float, generation: int = 0
) -> Vector:
    """W as a dense matrix."""
    weights, index, w = (
        np.zeros((units, inputs)),
        np.empty(inputs, dtype=np.int64),
        np.empty(inputs),
    )
    gaps, sizes = specimen.gap_quantiles(read), specimen.weight_quantiles(0.5)
    for u in range(units):
        n = specimen.afferents(seed, u, generation, inputs, gaps, sizes, index, w)
        weights[u, index[:n]] = w[:n]
    return weights


def keyed_recall(specimen: Any, stored: Vector, cues: Vector) -> Vector:
    """(queries, n) overlap of the stored keys with the keys of the cues, or what the specimen's
    `likeness` returns.
    """
    if hasattr(specimen, "likeness"):
        return np.asarray(specimen.likeness(stored, cues))
    keys, asked, out = codes_of(specimen, stored), codes_of(specimen, cues), np.empty(len(stored))
    scores = []
    for code in asked:
        specimen.overlaps(keys, np.ones(len(stored), dtype=np.bool_), code, 2048, out)
        scores.append(out.copy())
    return np.array(scores)


@functools.cache
def crowded() -> Vector:
    """150 unit vectors in groups of five with cosines of about 0.85: similar memories that
    interfere.
    """
    rng = np.random.default_rng(5)
    x = np.repeat(rng.standard_normal((30, 384)), 5, axis=0) + 0.42 * rng.standard_normal(
        (150, 384)
    )
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))


def hits(scores: Vector, at: int) -> float:
    """Share of queries whose own memory is among the `at` best."""
    own = np.diag(scores)
    return float(np.mean((scores > own[:, None]).sum(axis=1) < at))


# --- the equations --------------------------------------------------------------------------------
@equation(
    "CM-7.1",
    source="Treves & Rolls, sparseness: for a binary code the active share; in general <r>^2 / <r^2>",
    papers=("treves1994computational",),
)
def sparseness_of_a_binary_code_is_its_active_share(specimen: Any) -> Any:
    binary, rates = np.r_[np.ones(4), np.zeros(96)], np.random.default_rng(0).gamma(0.4, size=500)
    return [specimen.sparseness(binary), specimen.sparseness(rates)], [
        0.04,
        rates.mean() ** 2 / (rates.var() + rates.mean() ** 2),
    ]


@equation(
    "CM-7.2",
    source="definition: exactly k ones, the largest, ties by number; numpy's stable sort",
    papers=("oreilly1994hippocampal",),
)
def the_code_is_the_k_most_driven_units(specimen: Any) -> Any:
    rng, measured, expected = np.random.default_rng(1), [], []
    for trial in range(50):
        # every other time with many ties
        h = np.round(rng.standard_normal(300), 1 if trial % 2 else 12)
        measured.append(specimen.winners(h, 12))
        expected.append(np.sort(np.argsort(-h, kind="stable")[:12]))
    return np.concatenate(measured), np.concatenate(expected)


@equation("CM-7.2b", source="kWTA of a code is the code", papers=("oreilly1994hippocampal",))
def competition_is_idempotent(specimen: Any) -> Any:
    rng, same = np.random.default_rng(2), []
    for k in (1, 7, 41):
        code = np.zeros(500)
        code[specimen.winners(rng.standard_normal(500), k)] = 1.0
        again = specimen.winners(code, k)
        same.append(len(again) == k and bool(code[again].all()))
    return all(same)


@equation(
    "CM-7.0",
    source="h = W x with W as a dense matrix, numpy",
    rtol=1e-9,
    atol=1e-9,
    papers=("oreilly1994hippocampal",),
)
def the_drive_is_the_projection(specimen: Any) -> Any:
    x, w = np.random.default_rng(3).standard_normal(90), rows_of_w(specimen, 11, 60, 90, 0.3)
    scaled = w / w.sum(axis=1, keepdims=True)
    return np.r_[
        driven(specimen, x, 11, 60, 0.3), driven(specimen, x, 11, 60, 0.3, normalised=True)
    ], np.r_[w @ x, scaled @ x]


@equation(
    "CM-7.0b",
    source="definition: every input is read with the same probability, independently; binomial counts, weights >= 0",
    papers=("oreilly1994hippocampal",),
)
def the_projection_is_sparse_nonnegative_and_uniform(specimen: Any) -> Any:
    z, scatter = [], []
    for inputs, read in ((37, 0.3), (200, 0.2), (50, 0.05)):
        w = rows_of_w(specimen, 5, 4000, inputs, read)
        z.append(
            np.abs((w > 0).sum(axis=0) - 4000 * read).max() / math.sqrt(4000 * read * (1 - read))
        )
        scatter.append((w > 0).sum(axis=1).var() / (inputs * read * (1 - read)))
    return bool((w >= 0).all() and max(z) < 4.5 and max(abs(v - 1.0) for v in scatter) < 0.12)


@equation(
    "CM-7.0c",
    source="lognormal weights, ln w ~ N(0, 0.5^2); scipy's Kolmogorov-Smirnov test, and independence of units and generations",
)
def weights_are_lognormal_and_cells_are_independent(specimen: Any) -> Any:
    weights, next_weights = (rows_of_w(specimen, 5, 300, 100, 0.2, g) for g in (0, 1))
    fits = stats.kstest(np.log(weights[weights > 0]) / 0.5, "norm").pvalue
    # neighbours; a cell and its successor
    read = [(weights[:-1] > 0, weights[1:] > 0), (weights > 0, next_weights > 0)]
    # 0.2 squared of 100 by chance
    common = [float((a & b).sum(axis=1).mean()) for a, b in read]
    return bool(fits > 1e-3 and max(abs(c - 4.0) for c in common) < 0.5)


@equation("CM-7.0d", source="intersection of sets, Python", atol=1e-7)
def overlap_is_the_share_of_cells_in_common(specimen: Any) -> Any:
    rng = np.random.default_rng(4)
    codes = np.array([np.sort(rng.choice(60, 8, replace=False)) for _ in range(40)]).astype(
        np.int32
    )
    # some cells of a later generation
    codes[20:] += specimen.GENERATION * (codes[20:] % 3 == 0)
    out = np.empty(40)
    specimen.overlaps(codes, np.ones(40, dtype=np.bool_), codes[25], 60, out)
    shares = np.array([len(set(c.tolist()) & set(codes[25].tolist())) / 8 for c in codes])
    most = round(8 * shares[:20].max())
    rows = [
        specimen.repeated(codes[:20], np.ones(20, dtype=np.bool_), codes[25], 60, least)
        for least in (0, most, most + 1)
    ]
    last = 19 - np.argmax(shares[:20][::-1])
    return np.r_[out, np.ravel(rows)], np.r_[shares, last, most, last, most, -1, most + 1]


def in_common(codes: Any, code: Any) -> NDArray[np.int64]:
    """(n,) cells that each code has in common with one; -1: no cell."""
    return np.asarray(
        sum(
            ((codes == cell).sum(axis=1) for cell in code if cell >= 0),
            start=np.zeros(len(codes), np.int64),
        )
    )


def duplicate(common: Any, visible: Any, least: int) -> tuple[int, int]:
    """The latest of the visible memories with the most cells in common, and their number; (-1,
    least) if it is less.
    """
    shown = np.where(visible, common, -1)
    most = int(shown.max(initial=-1))
    return (int(np.flatnonzero(shown == most)[-1]), most) if most >= least else (-1, least)


@equation(
    "CM-7.0f",
    source="comparison of all cells, numpy, as memories of five generations of cells are stored; lists stand for 1,024, 8,192 and "
    "65,536 memories",
    atol=1e-7,
)
def lists_of_memories_give_the_share_of_cells_in_common(specimen: Any) -> Any:
    rng, units, k = np.random.default_rng(14), 64, 8
    codes = np.sort(
        np.argpartition(rng.random((76_000, units), np.float32), k, axis=1)[:, :k], axis=1
    ).astype(np.int32)
    codes += specimen.GENERATION * np.where(
        np.arange(len(codes)) < 2_000, 2, rng.integers(1, 5, len(codes))
    )[:, None].astype(np.int32)
    # the last ones of the first generation
    codes[74_000:] %= specimen.GENERATION
    # places that no unit takes
    codes[rng.random(codes.shape) < 0.05] = -1
    # a whole block of memories without a code
    codes[2_048:3_072] = -1
    codes[[-1, 700, 5_000, 70_000]] = range(k)
    visible, lists = rng.random(len(codes)) < 0.9, specimen.CellLists()
    visible[-1] = True
    for n in (
        0,
        1,
        1_023,
        1_024,
        1_025,
        3_071,
        3_073,
        8_191,
        8_192,
        9_300,
        16_385,
        65_535,
        65_536,
        74_752,
        76_000,
        2_000,
        3_000,
        76_000,
        75_999,
    ):
        if n == 75_999:  # memories are erased
            codes[[700, 5_000, 70_000]] = -1
            visible[[700, 5_000, 70_000]] = True
            lists.forget()
        cue, out = (
            codes[rng.integers(n + 1)].copy() if n < 75_999 else codes[-1].copy(),
            np.full(n, -1.0),
        )
        # a place without a cell, or a cell that no memory has
        cue[-1] = -1 if cue[-1] < 0 else rng.choice([-1, cue[-1] + specimen.GENERATION * 9])
        lists.overlaps(codes[:n], visible[:n], cue, units, out)
        common = in_common(codes[:n], cue)
        thresholds = (0.0, 0.125, 0.3, 0.5, 0.75, 1.0)
        yield (
            np.append(
                out, [lists.repeated(codes[:n], visible[:n], cue, units, t) for t in thresholds]
            ),
            np.append(
                np.where(visible[:n], common / k, -1.0),
                [duplicate(common, visible[:n], math.ceil(t * k))[0] for t in thresholds],
            ),
        )


@equation(
    "CM-7.0g",
    source="comparison of all cells, numpy; memories that have cells of the longest lists in common, and just enough or too few",
)
def a_duplicate_is_found_on_few_lists(specimen: Any) -> Any:
    rng, units, k, measured, expected = np.random.default_rng(15), 48, 16, list[Any](), list[Any]()
    for least in (1, 2, 4, 5, 9, 13, 16, 17) * 20:
        code = np.sort(rng.choice(units, k, replace=False)) + specimen.GENERATION * rng.integers(
            0, 2, k
        )
        own, others = (
            np.sort(code)[rng.permutation(k)],
            np.setdiff1d(np.arange(units), code % specimen.GENERATION),
        )
        crowd = [
            np.r_[own[: 1 + i % 3], rng.choice(others, k - 1 - i % 3, replace=False)]
            for i in range(rng.integers(40))
        ]
        alike = []
        # the first of its cells are those of the crowd
        for _ in range(rng.integers(1, 6)):
            common, first = min(least + int(rng.integers(-1, 2)), k), rng.integers(0, 4)
            cells = np.r_[own[:first], own[first:][:: rng.choice([1, -1])]][:common]
            alike.append(np.r_[cells, rng.choice(others, k - common, replace=False)])
        codes = rng.permutation(np.array([*crowd, *alike], dtype=np.int32))
        codes[rng.random(codes.shape) < 0.02] = -1
        visible = rng.random(len(codes)) < 0.8
        event = np.where(rng.random(k) < rng.choice([0.0, 0.2]), -1, code).astype(np.int32)
        lists = specimen.listed(codes, units)
        measured.append(specimen.listed_repeated(*lists, codes, visible, event, units, least))
        expected.append(duplicate(in_common(codes, event), visible, least))
    return np.ravel(measured), np.ravel(expected)


@equation(
    "CM-7.0h",
    source="a share of m / k is m of k cells, however it is rounded, and a larger one is more",
)
def a_share_of_the_cells_is_a_number_of_cells(specimen: Any) -> Any:
    pairs = [(m, k) for k in (1, 3, 9, 10, 41, 1024) for m in range(k + 1)]
    measured = [
        [
            specimen.least_common(float(x), k)
            for x in (np.nextafter(m / k, 0.0), np.nextafter(m / k, 2.0), m / k + 1e-6)
        ]
        for m, k in pairs
    ]
    return np.ravel(measured), np.ravel([[m, m, m + 1] for m, _ in pairs])


@limit(
    "CM-7.0e",
    source="definition: with probability 1 every input is read, so each distance is 1",
    papers=("oreilly1994hippocampal",),
)
def with_full_connectivity_every_input_is_read(specimen: Any) -> Any:
    return specimen.gap_quantiles(1.0), np.ones(specimen.GAPS)


@equation(
    "CM-7.6",
    source="Treves & Rolls, p_max / C_RC at k' = 0.25; Rolls 2013: about 36,000 at 12,000 and 0.02",
    atol=5e-4,
    rtol=0.0,
    papers=("rolls2013mechanisms", "treves1994computational"),
)
def sparser_codes_have_more_capacity(specimen: Any) -> Any:
    measured = [specimen.capacity(0.25, 1.0, a) for a in (0.02, 0.05, 0.1)]
    return [*measured, specimen.capacity(0.25, 12_000.0, 0.02) / 12_000.0], [
        3.195,
        1.669,
        1.086,
        3.195,
    ]


# --- separation and recall ------------------------------------------------------------------------
@signature(
    "CM-7.3",
    source="simulation with a Bernoulli W of 200 inputs and 1000 units, to 0.05",
    atol=0.05,
    rtol=0.0,
    figure="transfer",
    papers=("oreilly1994hippocampal",),
)
def outputs_overlap_less_than_inputs(specimen: Any) -> Any:
    for shared, *overlaps in zip(SHARED, *SIMULATED.values(), strict=True):
        yield transfers(specimen, shared, tuple(SIMULATED)), overlaps


@signature(
    "CM-7.3b",
    source="pattern separation, Yassa & Stark 2011: output below the diagonal; the sparser, the more",
    figure="transfer",
    papers=("yassa2011pattern",),
)
def sparser_codes_separate_more(specimen: Any) -> Any:
    sparse, dense = np.transpose([transfers(specimen, s, (20, 100), draws=20) for s in SHARED])
    return bool((sparse < np.array(SHARED)).all() and (sparse < dense).all())


@signature(
    "CM-7.3c",
    source="the adaptation: signed, dense inputs of 384 dimensions are below the diagonal, too",
)
def embeddings_overlap_more_than_their_codes(specimen: Any) -> Any:
    rng, above = np.random.default_rng(6), []
    for cosine in (0.3, 0.5, 0.8, 0.95):
        pairs = [
            [coded(specimen, x, 41, 0, units=2048, normalised=True) for x in unit_pair(rng, cosine)]
            for _ in range(10)
        ]
        above.append(
            np.mean([len(first_code & second_code) / 41 for first_code, second_code in pairs])
            - cosine
        )
    return at_most(above, -0.05)


@limit("CM-7.4", source="identical inputs: overlap 1 under every projection")
def equal_inputs_have_equal_codes(specimen: Any) -> Any:
    return [transfer(specimen, 1.0, k, draws=5) for k in (20, 50)], 1.0


@limit(
    "CM-7.4b",
    source="independent inputs: 0.02 by chance, 0.05 with strongly driven units (simulation with a Bernoulli W)",
    atol=0.015,
    rtol=0.0,
)
def unrelated_inputs_overlap_little_more_than_by_chance(specimen: Any) -> Any:
    return transfer(specimen, 0.1, 20), 0.05


@limit("CM-7.4c", source="the weights of each unit sum to 1, so no unit is strong for every input")
def normalised_units_overlap_less_by_chance(specimen: Any) -> Any:
    plain, normal = (
        np.mean([transfer(specimen, s, 50, normalised=n) for s in (0.0, 0.1)])
        for n in (False, True)
    )
    return at_most(normal - plain, 0.0)


@signature(
    "CM-7.5",
    source="definition of separation: monotone, steep towards the end, f(0.5) < 0.5",
    figure="transfer",
    papers=("yassa2011pattern",),
)
def the_transfer_function_is_monotone_and_steep_at_the_end(specimen: Any) -> Any:
    inputs = (0.0, 0.25, 0.5, 0.75, 0.95, 1.0)
    f = [transfer(specimen, s, 20, draws=20) for s in inputs]
    return bool((np.diff(f) > 0).all() and f[2] < 0.5 and (f[5] - f[4]) / 0.05 > 1.0)


@signature("CM-7.8", source="requirement: every memory is found by its own original, within 1 %")
def stored_memories_are_found_by_their_originals(specimen: Any) -> Any:
    x = crowded()
    return at_least([hits(keyed_recall(specimen, x, x), at) for at in (1, 5)], 0.99)


@adaptation(
    "CM-7.8b",
    source="ours: with the signal added to the cosine at the default weight, recall from noisy cues falls by at most 1 %",
)
def the_signal_does_not_reduce_recall(specimen: Any) -> Any:
    x, rng = crowded(), np.random.default_rng(7)
    cues = x + 0.5 * rng.standard_normal(x.shape) / math.sqrt(384)
    cues /= np.linalg.norm(cues, axis=1, keepdims=True)
    cosines, own = cues @ x.T, keyed_recall(specimen, x, cues)
    fused = stats.zscore(cosines, axis=1) + 0.1 * stats.zscore(own, axis=1)
    return at_least([hits(fused, at) - hits(cosines, at) for at in (1, 5)], -0.01)


@limit(
    "CM-7.9",
    source="no orthogonalisation: a code does not depend on stored memories or their order",
    papers=("oreilly1994hippocampal", "treves1994computational"),
)
def order_does_not_matter(specimen: Any) -> Any:
    x, order = crowded()[:30], np.random.default_rng(8).permutation(30)
    return bool((codes_of(specimen, x)[order] == codes_of(specimen, x[order])).all())


# --- cells that are replaced ----------------------------------------------------------------------
@equation(
    "CM-16.3",
    source="constant size; a replaced unit is a new cell, which is 0 in old codes",
    atol=1e-12,
)
def births_replace_cells_and_keep_the_size_of_codes(specimen: Any) -> Any:
    x, k, units = crowded()[:12], 41, 2048
    old, later = codes_of(specimen, x), np.empty((12, k), dtype=np.int32)
    for row, pattern in enumerate(x):
        specimen.cells(
            specimen.winners(driven(specimen, pattern, 0, units, normalised=True, turnover=0.5), k),
            0.5,
            units,
            later[row],
        )
    # old codes, padded with as many zeros as cells were born
    dense = np.zeros((12, 2 * units))
    for row, code in enumerate(old):
        dense[row, code] = 1.0
    out, seen = np.empty(12), []
    for code in old:
        specimen.overlaps(old, np.ones(12, dtype=np.bool_), code, units, out)
        seen.append(out.copy())
    born = later[later >= specimen.GENERATION] % specimen.GENERATION
    sizes = [len(set(code.tolist())) for code in later]
    # the upper half of the units was replaced
    sound = min(sizes) == max(sizes) == k and born.size > 0 and born.min() >= units // 2
    return np.concatenate(seen) if sound else np.full(144, np.nan), (dense @ dense.T / k).ravel()


@equation(
    "CM-16.0",
    source="Gaussian in age, numpy; cells of the first generation are mature",
    rtol=1e-12,
    atol=1e-12,
)
def young_cells_are_easier_to_drive(specimen: Any) -> Any:
    x, turnover = np.abs(np.random.default_rng(9).standard_normal(40)), 0.4
    plain, young = (
        driven(specimen, x, 3, 200, turnover=turnover, young=y) for y in (MATURE, (1.5, 0.2, 0.05))
    )
    age = turnover + np.arange(200) / 200 - 1.0
    return young / plain, np.where(
        age >= 0.0, 1.0 + 1.5 * np.exp(-((age - 0.2) ** 2) / (2 * 0.05**2)), 1.0
    )


@equation("CM-16.0b", source="floor(TURNOVER + u / M) of every unit, Python")
def no_more_than_two_generations_live(specimen: Any) -> Any:
    return [
        list(specimen.generations(step / 4, 4))
        == sorted({math.floor((step + u) / 4) for u in range(4)})
        for step in range(12)
    ], [True] * 12


# --- in a memory ----------------------------------------------------------------------------------
def hashed(x: int) -> int:
    """Integer hash of 32 bits, in Python's unbounded integers."""
    for _ in range(2):
        x = ((x >> 16) ^ x) * 0x45D9F3B % 2**32
    return (x >> 16) ^ x


@functools.cache
def gap_of(quantile: int, read: float) -> int:
    """One of 4096 quantiles of the distance to the next input that is read."""
    return int(stats.geom.ppf((quantile + 0.5) / 4096, read))


@functools.cache
def weight_of(quantile: int, spread: float) -> float:
    """One of 256 quantiles of the weights."""
    return float(stats.lognorm.ppf((quantile + 0.5) / 256, spread))


def w_of(seed: int, unit: int, generation: int, inputs: int, read: float, spread: float) -> Vector:
    """Row of W of one cell: geometric gaps between its inputs and lognormal weights, from
    quantiles of scipy's laws chosen by the hash.
    """
    cell, w, at, n = hashed(hashed(hashed(seed) + unit) + generation), np.zeros(inputs), -1, 0
    while True:
        n += 1
        draw = hashed(cell + n)
        at += gap_of(draw // 2**20, read)
        if at >= inputs:
            return w
        w[at] = weight_of(draw % 256, spread)


def cells_of(x: Vector, turnover: float, p: dict[str, Any]) -> list[int]:
    """Active cells of an input, by a dense W and a full sort, ascending by unit; -1 fills the
    places that no unit takes.
    """
    drives = []
    for unit in range(p["units"]):
        generation = math.floor(turnover + unit / p["units"])
        w = w_of(
            p["projection_seed"], unit, generation, x.size, p["connectivity"], p["weight_spread"]
        )
        h = float(w @ x) / (float(w.sum()) if p["normalised"] and w.any() else 1.0)
        age = turnover + unit / p["units"] - generation
        young = 1.0 + p["young_excess"] * math.exp(
            -((age - p["young_peak"]) ** 2) / (2.0 * p["young_width"] ** 2)
        )
        drives.append((h * young if generation and h > 0.0 else h, generation * 32_768 + unit))
    chosen = sorted(drives, key=lambda drive: (-drive[0], drive[1] % 32_768))[: p["active"]]
    return sorted((cell for _, cell in chosen), key=lambda cell: cell % 32_768) + [-1] * (
        p["active"] - len(chosen)
    )


SINCE_TICK = 0.25  # h from the last tick to an event


def separated_in_memory(specimen: Any, clock: float, **p: Any) -> tuple[Any, Any]:
    """Codes of the memories, DUPLICATE at each event and the signal at each query, and the same by
    dense matrices and sets.

    `clock` populations of cells are replaced in an hour.  Events are repeated at once, later, and
    when the original is archived; one is vetoed.
    """
    rng = np.random.default_rng(3)
    x = {name: rng.standard_normal(12) for name in ("oak", "elm", "fir", "yew")}
    x |= {
        "oaks": x["oak"] + 0.2 * rng.standard_normal(12),
        "vetoed": rng.standard_normal(12),
        "firs": x["fir"] + 0.6 * rng.standard_normal(12),
    }
    unit = {
        name: (v / np.linalg.norm(v)).astype(np.float32).astype(np.float64) for name, v in x.items()
    }

    def enter(view: Any, incoming: Any) -> None:
        view.veto = int(incoming.event.text == "vetoed")
        # an event is coded by the cells of its own time, not by those of the last tick
        view.turnover = clock * (incoming.event.time + SINCE_TICK)

    def pass_time(view: Any, tick: Any) -> None:
        view.turnover = clock * tick.end

    memory = memory_of(
        specimen,
        neighbour(Phase.ENCODE, enter, adds=(VETO,), sets=(TURNOVER,)),
        neighbour(Phase.MAINTAIN, pass_time, sets=(TURNOVER,), id="clock"),
        embedder=Scripted(x),
        **p,
    )
    codes, visible, measured, expected = list[list[int]](), list[bool](), list[Any](), list[Any]()
    for time, name, told in (
        (1.0, "oak", True),
        (2.0, "oak", True),
        (3.0, "elm", True),
        (4.0, "vetoed", True),
        (4.5, "vetoed", True),
        (5.0, "oaks", True),
        (6.0, "oak", False),
        (9.0, "fir", True),
        (9.1, "firs", True),
        (11.0, "fir", True),
        (20.0, "elm", True),
        (30.0, "elm", False),
        (40.0, "oak", True),
        (40.0, "yew", False),
        (40.0, "oaks", False),
    ):
        code = cells_of(unit[name], clock * (time + SINCE_TICK * told), p)
        common = [len({*code} & {*other} - {-1}) / p["active"] for other in codes]
        if told:
            stored = encode(memory, (time, name)) != [None]
            able = [
                (share, row)
                for row, share in enumerate(common)
                if visible[row] and share >= p["duplicate_overlap"]
            ]
            measured.append([float(memory.column(DUPLICATE)[()])])
            expected.append([float(max(able)[1] if able else -1)])
            if stored:
                codes.append(code)
                visible.append(True)
        else:
            memory.advance(time)
            memory.retrieve(name)
            measured.append(np.nan_to_num(memory.column(specimen.SEPARATION), nan=-1.0))
            expected.append(
                [share if seen else -1.0 for share, seen in zip(common, visible, strict=True)]
            )
        if time == 3.0:
            memory.archive(1)
            visible[1] = False
    memory.retrieve(Query("", session="s"))  # no input makes a code
    measured.append(np.nan_to_num(memory.column(specimen.SEPARATION), nan=-1.0))
    expected.append([-1.0] * len(codes))
    return np.concatenate([*measured, *memory.column(specimen.SEPARATION_CODE)]), np.concatenate(
        [*expected, *codes]
    )


@equation(
    "CM-7.10",
    source="dense W of hashed geometric and lognormal quantiles in scipy, a full sort and sets; odd numbers",
    rtol=1e-6,
    papers=("oreilly1994hippocampal",),
)
def a_memory_separates_events_and_cues(specimen: Any) -> Any:
    return separated_in_memory(
        specimen,
        0.0,
        units=60,
        active=7,
        connectivity=0.45,
        weight_spread=0.8,
        normalised=True,
        projection_seed=77,
        young_excess=1.0,
        young_peak=0.2,
        young_width=0.1,
        duplicate_overlap=0.55,
    )


@equation(
    "CM-7.10b",
    source="as CM-7.10 without normalisation, with cells replaced and young cells easier to drive",
    rtol=1e-6,
    papers=("oreilly1994hippocampal",),
)
def a_memory_whose_cells_are_replaced_separates_events_and_cues(specimen: Any) -> Any:
    return separated_in_memory(
        specimen,
        0.05,
        units=50,
        active=9,
        connectivity=0.3,
        weight_spread=0.5,
        normalised=False,
        projection_seed=0,
        young_excess=2.5,
        young_peak=0.3,
        young_width=0.15,
        duplicate_overlap=4 / 9,
    )


@limit("CM-7.10c", source="as CM-7.10 with more places than units: all units are active", rtol=1e-6)
def with_few_units_a_code_has_empty_places(specimen: Any) -> Any:
    return separated_in_memory(
        specimen,
        0.03,
        units=16,
        active=20,
        connectivity=0.5,
        weight_spread=0.5,
        normalised=True,
        projection_seed=1,
        young_excess=0.0,
        young_peak=0.3,
        young_width=0.15,
        duplicate_overlap=0.6,
    )


# --- figures --------------------------------------------------------------------------------------
@figure(
    "transfer",
    caption="Overlap of codes over overlap of inputs: below the diagonal, lower for sparser codes, and steep towards the "
    "end",
    source="Yassa & Stark 2011, the form; a simulation with a Bernoulli W",
)
def output_over_input_overlap(specimen: Any) -> Picture:
    shared = np.linspace(0.0, 1.0, 11)
    return Picture(
        "overlap of the inputs",
        "overlap of their codes",
        (
            *(
                Curve(
                    f"mechanism, {k} of {M} active",
                    shared,
                    [transfer(specimen, float(s), k, draws=25) for s in shared],
                )
                for k in (20, 50)
            ),
            Curve("no separation", [0.0, 1.0], [0.0, 1.0]),
            *(
                dots(f"simulation, {k} active", SHARED, simulated)
                for k, simulated in SIMULATED.items()
            ),
        ),
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("lists count a unit's former cells as the cell", rejected_by="CM-7.0f")
def of_any_generation(specimen: Any) -> Any:
    return specimen.replacing(
        "listed",
        lambda codes, units: specimen.listed(
            np.where(codes >= 0, codes % specimen.GENERATION + specimen.GENERATION, -1), units
        ),
    )


@mutant("lists find archived duplicates", rejected_by="CM-7.0g")
def archived_too(specimen: Any) -> Any:
    return specimen.replacing(
        "listed_repeated",
        lambda base, first, row, codes, visible, *more: specimen.listed_repeated(
            base, first, row, codes, np.ones_like(visible), *more
        ),
    )


@mutant("no competition: the first k units are always active", rejected_by="CM-7.2")
def first_come(specimen: Any) -> Any:
    return specimen.replacing("winners", lambda h, k: np.arange(k))


@mutant("a threshold in place of a fixed number of winners", rejected_by="CM-7.2")
def thresholded(specimen: Any) -> Any:
    return specimen.replacing("winners", lambda h, k: np.flatnonzero(h > h.mean() + 2.0 * h.std()))


@mutant("a code five times less sparse", rejected_by="CM-7.3")
def dense(specimen: Any) -> Any:
    return specimen.replacing(
        "winners", lambda h, k: np.sort(np.argsort(-h, kind="stable")[: 5 * k])
    )


@mutant("no expansion: units repeat the inputs", rejected_by="CM-7.0")
def unexpanded(specimen: Any) -> Any:
    def drive(x: Any, *arguments: Any) -> None:
        arguments[-1][:] = np.resize(x, arguments[-1].shape)

    return specimen.replacing("drive", drive)


@mutant("capacity without the logarithm", rejected_by="CM-7.6")
def no_logarithm(specimen: Any) -> Any:
    return specimen.replacing("capacity", lambda k, connections, a: k * connections / a)


@mutant("sparseness as a share above the mean", rejected_by="CM-7.1")
def share_above(specimen: Any) -> Any:
    return specimen.replacing("sparseness", lambda rates: float(np.mean(rates > rates.mean())))


@mutant("a replaced unit keeps its old cell number", rejected_by="CM-16.3")
def immortal(specimen: Any) -> Any:
    def cells(active: Any, turnover: float, units: int, out: Any) -> None:
        out[:] = active

    return specimen.replacing("cells", cells)


@mutant("young cells are harder to drive", rejected_by="CM-16.0")
def sluggish(specimen: Any) -> Any:
    return specimen.replacing(
        "excitability",
        lambda age, excess, peak, width: (
            1.0 / (1.0 + excess * math.exp(-0.5 * ((age - peak) / width) ** 2))
        ),
    )


@mutant("overlap counts units and ignores replacement", rejected_by="CM-7.0d")
def units_only(specimen: Any) -> Any:
    def overlaps(codes: Any, visible: Any, code: Any, units: int, out: Any) -> None:
        out[:] = np.isin(codes % specimen.GENERATION, code % specimen.GENERATION).mean(axis=1)

    return specimen.replacing("overlaps", overlaps)


@mutant("the code of the event before is stored", rejected_by="CM-7.10")
def stale(specimen: Any) -> Any:
    def store(self: Any, view: Any, incoming: Any) -> None:
        view.separation_code[view.row] = view.separation_code[max(view.row - 1, 0)]

    return specimen.overriding("PatternSeparation", store=store)


@mutant("a cue is coded by cells that were replaced", rejected_by="CM-7.10b")
def old_cells(specimen: Any) -> Any:
    def code(self: Any, x: Any, turnover: float, out: Any) -> None:
        specimen.PatternSeparation.code(self, x, 0.0, out)

    return specimen.overriding("PatternSeparation", code=code)


@mutant("overlap as a share of the units that exist", rejected_by="CM-7.10c")
def share_of_units(specimen: Any) -> Any:
    def overlaps(codes: Any, visible: Any, code: Any, units: int, out: Any) -> None:
        specimen.overlaps(codes, visible, code, units, out)
        out *= codes.shape[1] / min(units, codes.shape[1])

    return specimen.replacing("overlaps", overlaps)
