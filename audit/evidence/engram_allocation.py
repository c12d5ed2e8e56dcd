"""Evidence for engram_allocation.  No paper prints an equation: the model is compared with the
findings of the papers, and its kernels with the closed form of a large population, in which an
engram is all units above a threshold.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import hypergeom, norm

from ...engine.base.errors import RegistryError
from ...engine.contract.drafts import Draft, Kind
from ...engine.contract.records import Event
from ...engine.contract.vocabulary import MATCH, VISIBLE
from ...engine.memory.assembly import stream
from ...engine.memory.engine import Engine
from ...engine.state.graph import EdgeType, Graph
from ..checks import (
    adaptation,
    at_least,
    at_most,
    between,
    data,
    equation,
    limit,
    mutant,
    rival,
    signature,
)
from ..figures import Curve, Picture, dots, figure
from ..memory import encode, hashing, memory_of, numbers_of, plug_in
from .shared.once import computed_once
from .shared.scripts import drafting, refusing
from .shared.views import nothing

Array = NDArray[np.float64]
N, K = numbers_of("engram_allocation", "units", "size").values()
RUNS = 200
TAU_E = 6.0 / math.log(2.0)
SLOW = (0.6, 24.0)  # J, tau_I that separate memories a day apart
NEVER = math.inf  # saturation: none
RASHID, CAI = "Rashid et al. 2016", "Cai et al. 2016"
MICE = "mice; their number was not read"
INTERVALS = (1.0, 5.0, 6.0, 24.0, 48.0, 168.0)


# --- references -----------------------------------------------------------------------------------
def expected_overlap(shift: float, share: float = 0.1) -> float:
    """Overlap of two engrams in a large population; the units of the first, a `share` of all,
    are `shift` sd more excitable than the rest.
    """
    threshold = brentq(
        lambda z: share * norm.sf(z - shift) + (1.0 - share) * norm.sf(z) - share, -30.0, 30.0
    )
    return float(norm.sf(threshold - shift))


def trace(times: Array, now: float, tau: float) -> float:
    return sum(math.exp(-(now - t) / tau) for t in times)


# --- simulations of the specimen ------------------------------------------------------------------
def size_of(specimen: Any, size: int = K) -> int:
    return int(getattr(specimen, "slots_an_engram", size))


def life(
    specimen: Any,
    times: Sequence[float] | Array,
    rng: np.random.Generator,
    boost: float,
    slow: tuple[float, float] = (0.0, 24.0),
    *,
    tau_e: float = TAU_E,
    base: Array | None = None,
    units: int = N,
    size: int | None = None,
) -> list[Any]:
    """Engrams of memories encoded at `times`, each allocated by excitability and new noise.

    size  of an engram; None: that of the specimen
    """
    x, y, active = np.zeros(units), np.zeros(units), np.full(units, times[0])
    out, k = np.empty(units), size_of(specimen) if size is None else size
    engrams = []
    for now in times:
        specimen.excitability(
            np.zeros(units) if base is None else base,
            x,
            y,
            now - active,
            boost,
            slow[0],
            tau_e,
            slow[1],
            out,
        )
        engrams.append(specimen.allocate(out + rng.standard_normal(units), k))
        specimen.activate(engrams[-1], now, tau_e, slow[1], NEVER, x, y, active)
    return engrams


@computed_once
def overlaps(
    specimen: Any,
    interval: float,
    boost: float,
    slow: tuple[float, float] = (0.0, 24.0),
    *,
    lasting: float = 0.0,
    seed: int = 0,
    tau_e: float = TAU_E,
    runs: int = RUNS,
    units: int = N,
    size: int | None = None,
) -> Array:
    """Overlap of two memories in each of `runs` populations, with the same noise at every
    interval.
    """
    rng, shares = np.random.default_rng(seed), np.empty(runs)
    for run in range(runs):
        base = lasting * rng.standard_normal(units) if lasting else None
        shares[run] = specimen.overlap(
            *life(
                specimen,
                (0.0, interval),
                rng,
                boost,
                slow,
                tau_e=tau_e,
                base=base,
                units=units,
                size=size,
            )
        )
    return shares


def as_shipped(specimen: Any, interval: float) -> Array:
    """`overlaps` by the numbers that ship."""
    ours = plug_in(specimen)
    slow = ours.params.inhibition, ours.hours("inhibition_time")
    tau_e = ours.hours("half_life") / math.log(2.0)
    p = ours.params
    return overlaps(specimen, interval, p.boost, slow, tau_e=tau_e, units=p.units, size=p.size)


# --- the equations --------------------------------------------------------------------------------
@equation("CM-14.1", source="definition of a half-life of 6 h", atol=1e-12)
def excitability_halves_every_six_hours(specimen: Any) -> Any:
    t = np.array([1.0, 3.0, 5.0, 6.0, 12.0, 24.0, 48.0])
    out = np.empty(7)
    specimen.excitability(np.zeros(7), np.ones(7), np.ones(7), t, 1.0, 0.0, TAU_E, 24.0, out)
    return out, 2.0 ** (-t / 6.0)


@equation("CM-14.1b", source="explicit sum over all activations", atol=1e-10)
def traces_are_the_sum_over_all_activations(specimen: Any) -> Any:
    rng = np.random.default_rng(1)
    times = np.cumsum(rng.exponential(4.0, 40))
    used = rng.random((40, 5)) < 0.4
    x, y, active, out = np.zeros(5), np.zeros(5), np.zeros(5), np.empty(5)
    for now, units in zip(times, used, strict=True):
        specimen.activate(np.flatnonzero(units), now, TAU_E, 24.0, NEVER, x, y, active)
    now, base = times[-1] + 3.0, rng.standard_normal(5)
    specimen.excitability(base, x, y, now - active, 1.5, 0.6, TAU_E, 24.0, out)
    sums = [
        1.5 * trace(times[used[:, i]], now, TAU_E) - 0.6 * trace(times[used[:, i]], now, 24.0)
        for i in range(5)
    ]
    return out, base + sums


@equation(
    "CM-14.5",
    source="competition: excitability determines which units form an engram, not how many",
    papers=("josselyn2018memory", "rashid2016competition"),
)
def an_engram_has_the_same_size_after_any_history(specimen: Any) -> Any:
    engrams = [
        life(specimen, (0.0, t), np.random.default_rng(2), 3.0)[1]
        for t in (0.01, 1.0, 6.0, 24.0, 168.0)
    ]
    return [len(np.unique(e)) for e in engrams], [size_of(specimen)] * 5


@equation("CM-14.5b", source="the k largest by a full sort")
def an_engram_is_the_k_most_excitable(specimen: Any) -> Any:
    drawn = np.random.default_rng(2).standard_normal((5, N))
    return np.concatenate([specimen.allocate(e, K) for e in drawn]), np.sort(
        np.argsort(-drawn, axis=1)[:, :K], axis=1
    ).ravel()


@equation("CM-14.9", source="intersection of sets")
def overlap_is_the_share_of_common_units(specimen: Any) -> Any:
    rng = np.random.default_rng(3)
    pairs = [[np.sort(rng.choice(40, 12, replace=False)) for _ in range(2)] for _ in range(30)]
    return [specimen.overlap(a, b) for a, b in pairs], [
        len(set(a.tolist()) & set(b.tolist())) / 12 for a, b in pairs
    ]


# --- limits ---------------------------------------------------------------------------------------
@limit(
    "CM-14.3",
    source="hypergeometric distribution in scipy; of one unit the engram is always that unit",
)
def chance_is_hypergeometric(specimen: Any) -> Any:
    sizes = [(1000, 100), (50, 5), (7, 7), (20, 1), (2, 1)]
    reference = [(hypergeom(n, k, k).mean() / k, hypergeom(n, k, k).std() / k) for n, k in sizes]
    return [specimen.chance(n, k) for n, k in (*sizes, (1, 1))], [*reference, (1.0, 0.0)]


@limit(
    "CM-14.3b",
    source="hypergeometric mean k/N and standard deviation over 200 populations, four standard errors",
    atol=0.0085,
)
def without_excitability_engrams_are_independent(specimen: Any) -> Any:
    shares = overlaps(specimen, 5.0, 0.0)
    return [shares.mean(), shares.std()], [0.1, hypergeom(N, K, K).std() / K]


@limit(
    "CM-14.3c",
    source="E0 ~ N(0, 0.5): E[Q(theta - e)^2] / (k/N) by Gauss-Hermite quadrature",
    atol=0.01,
)
def lasting_differences_raise_the_baseline(specimen: Any) -> Any:
    x, w = np.polynomial.hermite_e.hermegauss(80)
    threshold = norm.isf(0.1) * math.sqrt(1.25)
    return overlaps(specimen, 168.0, 0.0, lasting=0.5).mean(), (
        w / w.sum() * norm.sf(threshold - 0.5 * x) ** 2
    ).sum() / 0.1


@limit("CM-14.7a", source="tau_E -> 0: all separate, k/N", atol=0.0085)
def without_lasting_excitability_all_memories_are_separate(specimen: Any) -> Any:
    return overlaps(specimen, 1.0, 3.0, tau_e=1e-3).mean(), 0.1


# --- signatures and data --------------------------------------------------------------------------
@signature(
    "CM-14.2",
    source="closed form of a large population, Q(theta - D 2^(-t / 6 h)); D = 1.5",
    atol=0.01,
    figure="overlap_over_hours",
)
def overlap_follows_the_closed_form_from_an_hour_to_a_week(specimen: Any) -> Any:
    return [overlaps(specimen, t, 1.5).mean() for t in INTERVALS], [
        expected_overlap(1.5 * 2.0 ** (-t / 6.0)) for t in INTERVALS
    ]


@signature(
    "CM-14.2b",
    source="reference model of 1000 units, 200 runs, to 0.01",
    atol=0.01,
    figure="overlap_over_hours",
)
def overlap_has_the_values_of_the_reference_model(specimen: Any) -> Any:
    return [overlaps(specimen, t, 1.5).mean() for t in INTERVALS], [
        0.427,
        0.286,
        0.260,
        0.114,
        0.094,
        0.099,
    ]


@signature(
    "CM-14.2c",
    source="no more than two standard errors from the run without excitability",
    figure="overlap_over_hours",
)
def after_a_week_overlap_is_at_chance(specimen: Any) -> Any:
    week, never = overlaps(specimen, 168.0, 1.5), overlaps(specimen, 168.0, 0.0)
    return at_most(abs(week.mean() - never.mean()), 2.0 * float(never.std()) / math.sqrt(RUNS))


@data(
    "CM-14.2d",
    source=f"{CAI}: more overlap within a day than after a week; 1.5 times as much is the bound of the reference model",
    figure="overlap_over_hours",
    papers=("cai2016shared",),
    subjects=MICE,
)
def memories_five_hours_apart_overlap_more_than_seven_days_apart(specimen: Any) -> Any:
    return at_least(as_shipped(specimen, 5.0).mean() / as_shipped(specimen, 168.0).mean(), 1.5)


@data(
    "CM-14.4",
    source="Han et al. 2007, CREB: 3 to 4 times as likely in the engram; ours +1 sd in a tenth of the cells",
    warn=True,
    papers=("han2007neuronal",),
    subjects=MICE,
)
def cells_with_more_creb_are_over_represented(specimen: Any) -> Any:
    return between(creb_share(specimen) / 0.1, 3.0, 4.0)


@signature("CM-14.4a", source="closed form, Q(theta - 1)", atol=0.01, papers=("han2007neuronal",))
def a_tenth_of_the_cells_with_creb_makes_a_third_of_the_engram(specimen: Any) -> Any:
    return creb_share(specimen), expected_overlap(1.0)


def creb_share(specimen: Any) -> float:
    rng, share = np.random.default_rng(4), np.empty(RUNS)
    for run in range(RUNS):
        infected = rng.permutation(N) < N // 10
        engram = life(specimen, (0.0,), rng, 1.5, base=infected.astype(np.float64))[0]
        share[run] = infected[engram].mean()
    return float(share.mean())


@signature(
    "CM-14.4b",
    source=f"{RASHID}: separate after 24 h; closed form with J = 0.6, tau_I = 24 h, D = 2",
    atol=0.01,
    figure="separation",
    papers=("rashid2016competition",),
)
def slow_inhibition_separates_memories_a_day_apart(specimen: Any) -> Any:
    shift = [2.0 * 2.0 ** (-t / 6.0) - 0.6 * math.exp(-t / 24.0) for t in (5.0, 24.0, 168.0)]
    return [overlaps(specimen, t, 2.0, SLOW).mean() for t in (5.0, 24.0, 168.0)], [
        expected_overlap(s) for s in shift
    ]


@data(
    "CM-14.4c",
    source=f"{RASHID}: after 24 h at or below chance, 0.10 (two standard errors above the measured mean)",
    figure="separation",
    papers=("rashid2016competition",),
    subjects=MICE,
)
def overlap_a_day_apart_is_at_or_below_chance(specimen: Any) -> Any:
    shares = as_shipped(specimen, 24.0)
    return at_most(shares.mean() + 2.0 * shares.std() / math.sqrt(RUNS), 0.1)


@signature("CM-14.7b", source="tau_E -> infinity: all merge; the last of 60 memories, a day apart")
def excitability_that_never_decays_merges_all_memories(specimen: Any) -> Any:
    engrams = life(
        specimen, [24.0 * day for day in range(60)], np.random.default_rng(5), 1.5, tau_e=1e12
    )
    return at_least([specimen.overlap(a, b) for a, b in pairwise(engrams[-5:])], 0.95)


# --- in the engine --------------------------------------------------------------------------------
def pairs(specimen: Any, interval: float, count: int = 60) -> Engine:
    """An engine that encoded pairs of events, each pair long after the one before."""
    memory = Engine([plug_in(specimen)], hashing(16), consolidate_every=math.inf)
    memory.encode_all(
        Event(5000.0 * i + late, f"event {i} {late}")
        for i in range(count)
        for late in (0.0, interval)
    )
    return memory


def linked(specimen: Any, interval: float) -> float:
    graph = pairs(specimen, interval).store.graph
    return float(
        np.mean([graph.find(i, i + 1, EdgeType.SIBLING) is not None for i in range(0, 120, 2)])
    )


@data(
    "CM-14.10a",
    source=f"{RASHID}: up to 6 h apart memories are linked; more than half of the pairs",
    needs="engine",
    papers=("rashid2016competition",),
    subjects=MICE,
)
def memories_up_to_six_hours_apart_are_linked(specimen: Any) -> Any:
    for hours in (1.0, 3.0, 5.0, 6.0):
        yield at_least(linked(specimen, hours), 0.5)


@data(
    "CM-14.10b",
    source=f"{RASHID}, 24 h; {CAI}, a week: not linked; at most one pair in 20",
    needs="engine",
    papers=("rashid2016competition", "cai2016shared"),
    subjects=MICE,
)
def memories_a_day_or_a_week_apart_are_not_linked(specimen: Any) -> Any:
    for hours in (24.0, 168.0):
        yield at_most(linked(specimen, hours), 0.05)


@signature(
    "CM-14.6",
    source=f"{RASHID}: recall of one reactivates the other 5 h apart, not 24 h apart",
    needs="engine",
    papers=("rashid2016competition",),
)
def recall_of_one_partly_reactivates_the_other(specimen: Any) -> Any:
    lent = []
    for interval in (5.0, 24.0):
        memory = pairs(specimen, interval)
        graph, match = memory.store.graph, np.zeros(120)
        for i in range(0, 120, 2):
            match[:], out = 0.0, np.full(120, np.nan)
            match[i + 1] = 1.0
            specimen.lend(
                np.array([i + 1]),
                match,
                *graph.csr(EdgeType.SIBLING),
                graph.target,
                graph.column(specimen.ENGRAM_OVERLAP.name),
                out,
            )
            lent.append(np.nan_to_num(out)[i])
    near, far = np.mean(lent[:60]), np.mean(lent[60:])
    return bool(near > 0.15 and far < 0.02)


@signature(
    "CM-14.6b",
    source=f"{RASHID}: silencing the cells of the first weakens the second 5 h apart, not 24 h apart",
    needs="engine",
    papers=("rashid2016competition",),
)
def without_the_units_of_one_the_other_is_weaker(specimen: Any) -> Any:
    left = []
    for interval in (5.0, 24.0):
        engrams = pairs(specimen, interval).store.array(specimen.ENGRAM)
        left.append(
            np.mean(
                [
                    len(np.setdiff1d(b, a)) / K
                    for a, b in zip(engrams[::2], engrams[1::2], strict=True)
                ]
            )
        )
    return bool(left[0] < 0.8 and left[1] > 0.9 - 2.0 * 0.0285 / math.sqrt(60.0))


@adaptation(
    "CM-14.11", source="overlap with every earlier memory, by sets; the table keeps all memories"
)
def companions_are_those_of_a_full_search(specimen: Any) -> Any:
    rng = np.random.default_rng(6)
    engrams = np.array(
        [np.sort(rng.choice(60, 12, replace=False)) for _ in range(41)], dtype=np.int16
    )
    recent, written = np.full((60, 41), -1, np.int32), np.zeros(60, np.int64)
    for row in range(40):
        specimen.write(engrams[row], row, recent, written)
    rows, shares = specimen.companions(engrams[40], recent, engrams, 0.25, 10)
    common = [
        (len(set(engrams[40].tolist()) & set(e.tolist())) / 12, row)
        for row, e in enumerate(engrams[:40])
    ]
    full = sorted((c for c in common if c[0] >= 0.25), reverse=True)[:10]
    return [*rows, *shares], [*(row for _, row in full), *(share for share, _ in full)]


@adaptation(
    "CM-14.11b",
    source="over lists: memory i of a unit stands at place i modulo the depth; companions are the memories left there",
)
def a_full_ring_keeps_the_last_memories_of_each_unit(specimen: Any) -> Any:
    rng, measured, expected = np.random.default_rng(9), list[Any](), list[Any]()
    for depth in (1, 2, 3, 4):
        engrams = np.array(
            [np.sort(rng.choice(9, 3, replace=False)) for _ in range(14)], dtype=np.int16
        )
        recent, written, history = (
            np.full((9, depth), -1, np.int32),
            np.zeros(9, np.int64),
            [list[int]() for _ in range(9)],
        )
        for row, engram in enumerate(engrams):
            left = {r for unit in engram for r in history[unit][-depth:]}
            shared = sorted(
                ((len({*engram.tolist()} & {*engrams[r].tolist()}), r) for r in left), reverse=True
            )
            measured.append(
                [
                    float(x)
                    for part in specimen.companions(engram, recent, engrams, 0.0, 14)
                    for x in part
                ]
            )
            expected.append([float(r) for _, r in shared] + [common / 3 for common, _ in shared])
            specimen.write(engram, row, recent, written)
            for unit in engram:
                history[unit].append(row)
        ring = [
            [
                max((r for i, r in enumerate(rows) if i % depth == place), default=-1)
                for place in range(depth)
            ]
            for rows in history
        ]
        measured += [recent.ravel(), written]
        expected += [np.ravel(ring), [len(rows) for rows in history]]
    return np.concatenate(measured), np.concatenate(expected)


@adaptation("CM-14.12", source="matrix of overlaps times the match, in numpy")
def the_linked_signal_is_a_matrix_product(specimen: Any) -> Any:
    rng, graph = np.random.default_rng(7), Graph()
    graph.allocate(specimen.ENGRAM_OVERLAP.name, np.float32, (), 0.0)
    shares = np.triu(np.where(rng.random((9, 9)) < 0.4, rng.integers(1, 9, (9, 9)) / 8.0, 0.0), 1)
    for a, b in np.argwhere(shares):
        specimen.link(graph, int(b), int(a), float(shares[a, b]), 99, 0.0)
    match, out, rows = rng.standard_normal(9), np.full(9, np.nan), np.array([0, 3, 4, 8])
    specimen.lend(
        rows,
        match,
        *graph.csr(EdgeType.SIBLING),
        graph.target,
        graph.column(specimen.ENGRAM_OVERLAP.name),
        out,
    )
    return np.nan_to_num(out), (shares + shares.T)[:, rows] @ np.maximum(match[rows], 0.0)


@adaptation(
    "CM-14.12b",
    source="ours: SIBLING edges without an overlap, and edges to entities, bring no match; 0.5 times 3/4 by hand",
)
def edges_without_overlap_lend_nothing(specimen: Any) -> Any:
    graph = Graph()
    graph.allocate(specimen.ENGRAM_OVERLAP.name, np.float32, (), 0.0)
    entity = ~graph.entity("Ada")
    graph.add(0, 2, EdgeType.SIBLING)
    graph.add(0, entity, EdgeType.SIBLING)
    graph.column(specimen.ENGRAM_OVERLAP.name)[1] = 0.5
    specimen.link(graph, 1, 0, 0.75, 9, 0.0)
    match, out = np.array([0.5, 0.0, 0.0, 0.0]), np.full(4, np.nan)
    specimen.lend(
        np.array([0, 1]),
        match,
        *graph.csr(EdgeType.SIBLING),
        graph.target,
        graph.column(specimen.ENGRAM_OVERLAP.name),
        out,
    )
    return np.nan_to_num(out, nan=-1.0), [-1.0, 0.375, -1.0, -1.0]


@adaptation(
    "CM-14.13", source="ours: a memory with too many links keeps the strongest, in both directions"
)
def links_are_bounded_and_mutual(specimen: Any) -> Any:
    graph, shares = Graph(), np.random.default_rng(8).permutation(np.arange(1, 41)) / 40.0
    graph.allocate(specimen.ENGRAM_OVERLAP.name, np.float32, (), 0.0)
    for row, share in enumerate(shares, start=1):
        specimen.link(graph, row, 0, float(share), 6, 0.0)
    out = {int(graph.target[e]) for e in graph.neighbours(0, EdgeType.SIBLING)}
    back = {row for row in range(1, 41) if len(graph.neighbours(row, EdgeType.SIBLING))}
    return bool(out == back == {int(i) + 1 for i in np.argsort(-shares)[:6]})


@adaptation(
    "CM-14.13b",
    source="ours: only edges with an overlap count and are replaced, also if one of their two directions is gone; by hand",
)
def edges_of_others_are_no_links_of_the_mechanism(specimen: Any) -> Any:
    graph = Graph()
    graph.allocate(specimen.ENGRAM_OVERLAP.name, np.float32, (), 0.0)
    for other in (5, 6):
        graph.add(0, other, EdgeType.SIBLING)  # of another mechanism: no overlap
    for row, share in ((1, 0.5), (2, 0.25)):
        specimen.link(graph, row, 0, share, 2, 0.0)
    graph.add(0, 7, EdgeType.SIBLING)
    graph.remove(graph.find(2, 0, EdgeType.SIBLING) or 0)
    # as weak as the weakest, and stronger
    for row, share in ((3, 0.25), (4, 0.375)):
        specimen.link(graph, row, 0, share, 2, 1.0)
    shares = graph.column(specimen.ENGRAM_OVERLAP.name)
    kept = sorted(
        (int(graph.source[e]), int(graph.target[e]), float(shares[e]))
        for e in range(graph.n_edges)
        if graph.alive[e]
    )
    return np.ravel(kept), np.ravel([(0, 1, 0.5), (0, 4, 0.375), (0, 5, 0.0), (0, 6, 0.0), (0, 7,
        0.0), (1, 0, 0.5), (4, 0, 0.375)])  # fmt: skip


@adaptation(
    "CM-14.13c",
    source="ours: the overlap of two memories is written, not added, if they are linked again",
)
def a_second_link_has_the_overlap_of_the_second(specimen: Any) -> Any:
    graph = Graph()
    graph.allocate(specimen.ENGRAM_OVERLAP.name, np.float32, (), 0.0)
    for share in (0.5, 0.25):
        specimen.link(graph, 1, 0, share, 9, 0.0)
    return graph.column(specimen.ENGRAM_OVERLAP.name), [0.25, 0.25]


class Population:
    """The model over plain lists: each unit keeps its two traces, each memory its units, each
    pair of memories its link.
    """

    def __init__(self, seed: int, **p: float) -> None:
        self.p, self.noise = p, stream(seed, "engram_allocation")
        self.x, self.y, self.last = ([0.0] * int(p["units"]) for _ in range(3))
        self.engrams: list[list[int]] = []
        self.links: dict[frozenset[int], float] = {}
        mean, sd = (
            float(f(p["units"], p["size"], p["size"])) / p["size"]
            for f in (hypergeom.mean, hypergeom.std)
        )
        self.least = mean + p["criterion"] * sd

    def traces(self, unit: int, now: float) -> tuple[float, float]:
        gap = now - self.last[unit]
        return self.x[unit] * 2.0 ** (-gap / self.p["half_life"]), self.y[unit] * math.exp(
            -gap / self.p["inhibition_time"]
        )

    def activated(self, units: Sequence[int], now: float) -> None:
        for unit in units:
            self.x[unit], self.y[unit] = (
                min(trace + 1.0, self.p["saturation"]) for trace in self.traces(unit, now)
            )
            self.last[unit] = now

    def encoded(self, now: float) -> None:
        """Allocate a memory, and link it to the memories of its units with which it shares most;
        a memory with too many links keeps the strongest.
        """
        p, row, noise = self.p, len(self.engrams), self.noise.standard_normal(int(self.p["units"]))
        traces = [self.traces(i, now) for i in range(len(noise))]
        excited = [
            p["boost"] * x - p["inhibition"] * y + float(z)
            for (x, y), z in zip(traces, noise, strict=True)
        ]
        engram = sorted(sorted(range(len(noise)), key=lambda i: -excited[i])[: int(p["size"])])
        met = [
            r
            for unit in engram
            for r in [r for r, e in enumerate(self.engrams) if unit in e][-int(p["depth"]) :]
        ]
        candidates = sorted(set(met), key=lambda r: (-met.count(r), -r))[: 2 * int(p["links"])]
        shared = [(len({*engram} & {*self.engrams[r]}) / p["size"], r) for r in candidates]
        for share, other in sorted(
            [candidate for candidate in shared if candidate[0] >= self.least],
            key=lambda candidate: -candidate[0],
        )[: int(p["links"])]:
            its = sorted(
                (strength, sum(pair) - other)
                for pair, strength in self.links.items()
                if other in pair
            )
            if len(its) >= 2 * p["links"]:
                if its[0][0] >= share:
                    continue
                del self.links[frozenset((other, its[0][1]))]
            self.links[frozenset((row, other))] = share
        self.engrams.append(engram)
        self.activated(engram, now)

    def lent(self, match: Array, visible: Array) -> list[float]:
        """Match that each memory gets from the best matches linked to it; -1: none."""
        best = sorted(np.flatnonzero(visible), key=lambda r: (-match[r], r))[
            : int(self.p["lenders"])
        ]
        got = [
            [
                match[r] * self.links[frozenset((int(r), j))]
                for r in best
                if match[r] > 0.0 and frozenset((int(r), j)) in self.links
            ]
            for j in range(len(match))
        ]
        return [sum(lent) if lent else -1.0 for lent in got]


ODD: dict[str, Any] = {"units": 60, "size": 9, "boost": 1.3, "half_life": 5.0, "inhibition": 0.7,
       "inhibition_time": 31.0, "saturation": 2.6, "depth": 3,
       "criterion": 0.8, "links": 2, "lenders": 4}  # fmt: skip


def engrams_in_memory(
    specimen: Any, time_scale: float | None, seed: int, **p: Any
) -> tuple[Any, Any]:
    """Engrams, traces, links and the signal of 30 events within four days, and the same by
    `Population` in hours of the paper.

    An event is vetoed, a memory is archived, recalls with and without learning activate the units
    of the best memory.
    """
    words = ("ash", "birch", "cedar", "fir", "oak")
    memory = memory_of(
        specimen, "lexical_bm25", refusing("vetoed"), time_scale=time_scale, seed=seed, **p
    )
    reference, times = (
        Population(seed, **p),
        np.cumsum(np.random.default_rng(seed).exponential(3.0, 30)),
    )
    measured, expected, scale = list[Any](), list[Any](), time_scale or 1.0
    for i, time in enumerate((times * scale).tolist()):
        if encode(memory, (time, "vetoed" if i == 4 else f"{words[i % 5]} {words[i * i % 4]}")) != [
            None
        ]:
            reference.encoded(time / scale)
        if i == 11:
            memory.archive(7)
        if i % 3 == 2:
            query = ("ash", "nobody", "cedar fir", "oak birch")[i % 4]
            answer = memory.retrieve(query, k=3, learn=i % 2 == 0)
            measured.append(np.nan_to_num(memory.column(specimen.LINKED), nan=-1.0))
            expected.append(
                reference.lent(memory.column(MATCH).astype(np.float64), memory.column(VISIBLE))
            )
            if i % 2 == 0:
                reference.activated(reference.engrams[int(answer.rows[0])], time / scale)
    graph, share = memory.graph, memory.column(specimen.ENGRAM_OVERLAP)
    links = sorted(
        (int(graph.source[e]), int(graph.target[e]), float(share[e]))
        for e in range(graph.n_edges)
        if graph.alive[e] and graph.type[e] == EdgeType.SIBLING
    )
    both = sorted(
        (a, b, s)
        for pair, s in reference.links.items()
        for a, b in (sorted(pair), sorted(pair, reverse=True))
    )
    traces = [
        memory.column(c).tolist()
        for c in (specimen.ENGRAM_EXCITED, specimen.ENGRAM_INHIBITED, specimen.ENGRAM_ACTIVE)
    ]
    measured += [*memory.column(specimen.ENGRAM), *traces[:2], np.divide(traces[2], scale), *links]
    expected += [*reference.engrams, reference.x, reference.y, reference.last, *both]
    return np.concatenate(measured), np.concatenate(expected)


@adaptation(
    "CM-14.14",
    source="the model over lists and sets, with the noise of the memory's seed; odd numbers",
    rtol=1e-6,
)
def a_memory_allocates_and_links_as_the_model_does(specimen: Any) -> Any:
    return engrams_in_memory(specimen, None, 5, **ODD)


@adaptation("CM-14.14b", source="as CM-14.14 with other noise, and hours that last two", rtol=1e-6)
def at_another_time_scale_a_memory_allocates_as_the_model_does(specimen: Any) -> Any:
    return engrams_in_memory(
        specimen, 2.0, 6, **ODD | {"links": 1, "saturation": 1.0, "criterion": 0.0}
    )


@adaptation(
    "CM-14.15",
    source="as CM-14.14 with two memories; the recalled one has unit 0; then with one archived, then with both",
    rtol=1e-6,
)
def of_two_memories_the_visible_ones_that_match_lend(specimen: Any) -> Any:
    p: dict[str, Any] = {**ODD, "boost": 4.0, "inhibition": 0.0, "criterion": 0.0}
    memory, reference, measured, expected = (
        memory_of(specimen, "lexical_bm25", seed=1, **p),
        Population(1, **p),
        list[Any](),
        list[Any](),
    )
    for time, text in ((0.0, "ash birch"), (0.25, "cedar fir")):
        encode(memory, (time, text))
        reference.encoded(time)
    memory.retrieve("ash", k=1, learn=True)
    reference.activated(reference.engrams[0], 0.25)
    for archived in (None, 0, 1):
        if archived is not None:
            memory.archive(archived)
        memory.retrieve("ash", k=1)
        measured += np.nan_to_num(memory.column(specimen.LINKED), nan=-1.0).tolist()
        expected += reference.lent(memory.column(MATCH).astype(np.float64), memory.column(VISIBLE))
    return [
        *measured,
        *memory.column(specimen.ENGRAM_EXCITED),
        len(reference.links),
        reference.engrams[0][0],
    ], [*expected, *reference.x, 1, 0]


@limit(
    "CM-14.17",
    source="the model over lists and sets, whose hours have no beginning: times long before 1970, when no unit was active yet",
)
def engrams_are_the_same_long_before_1970(specimen: Any) -> Any:
    memory, reference = memory_of(specimen, seed=5, **ODD), Population(5, **ODD)
    for time in (0.0, 2.0, 30.0, 31.0):
        encode(memory, (time - 500_000.0, f"at {time}"))
        reference.encoded(time)
    return memory.column(specimen.ENGRAM), reference.engrams


@limit(
    "CM-14.18",
    source="definition: a row that sleep made has no engram, so its recall activates no unit",
)
def recall_of_a_made_row_activates_nothing(specimen: Any) -> Any:
    memory = memory_of(
        specimen, "lexical_bm25", drafting(Draft("birch cedar", Kind.SUMMARY, (0,))), **ODD
    )
    encode(memory, (0.0, "ash"))
    memory.advance(24.0)
    columns = specimen.ENGRAM_EXCITED, specimen.ENGRAM_INHIBITED, specimen.ENGRAM_ACTIVE
    before = [memory.column(c).copy() for c in columns]
    best = memory.retrieve("birch cedar", k=1, learn=True).rows
    return [*best, *np.ravel([memory.column(c) for c in columns])], [1, *np.ravel(before)]


@limit("CM-14.16", source="definition: k of N units, k at most N")
def an_engram_has_at_most_all_units(specimen: Any) -> Any:
    plug_in(specimen, units=60, size=60)
    try:
        plug_in(specimen, units=60, size=61)
    except RegistryError as error:
        return "60 units" in error.what
    return False


# --- figures --------------------------------------------------------------------------------------
@figure(
    "overlap_over_hours",
    caption="Share of common units of two memories over the time between them: high within hours, near chance from a day "
    "on",
    source="closed form of a large population, D = 1.5; Cai et al. 2016 give the direction",
)
def overlap_by_the_interval(specimen: Any) -> Picture:
    hours = np.geomspace(0.5, 168.0, 18)
    return Picture(
        "time between the memories, h",
        "overlap of their engrams",
        (
            Curve(
                "mean of 20 populations",
                hours,
                [overlaps(specimen, float(t), 1.5, runs=20).mean() for t in hours],
            ),
            Curve("chance", hours[[0, -1]], [0.1, 0.1]),
            dots(
                "closed form",
                INTERVALS,
                [expected_overlap(1.5 * 2.0 ** (-t / 6.0)) for t in INTERVALS],
            ),
        ),
        log="x",
    )


@figure(
    "separation",
    caption="With slow inhibition of recently used units, two memories a day apart share fewer units than by chance; with "
    "excitability alone they never do",
    source=f"{RASHID}, separate after 24 h; closed form with D = 2",
)
def overlap_with_and_without_slow_inhibition(specimen: Any) -> Picture:
    hours, places = np.geomspace(2.0, 168.0, 16), np.array([5.0, 24.0, 168.0])
    shift = 2.0 * 2.0 ** (-places / 6.0) - SLOW[0] * np.exp(-places / SLOW[1])
    return Picture(
        "time between the memories, h",
        "overlap of their engrams",
        (
            *(
                Curve(
                    label,
                    hours,
                    [overlaps(specimen, float(t), 2.0, slow, runs=20).mean() for t in hours],
                )
                for label, slow in (
                    ("with slow inhibition", SLOW),
                    ("excitability alone", (0.0, 24.0)),
                )
            ),
            Curve("chance", hours[[0, -1]], [0.1, 0.1]),
            dots(
                "closed form, with inhibition", places, [expected_overlap(float(s)) for s in shift]
            ),
        ),
        log="x",
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("slots: the overlap is 0 or 1", rejected_by="CM-14.2")
def slots(specimen: Any) -> Any:
    return specimen.replacing(
        "allocate", lambda e, k: np.arange(k) + k * int(e.reshape(-1, k).mean(axis=1).argmax())
    )


@mutant("a fixed threshold without competition: excitable units are added", rejected_by="CM-14.5")
def no_competition(specimen: Any) -> Any:
    return specimen.replacing("allocate", lambda e, k: np.flatnonzero(e > norm.isf(k / len(e))))


@rival("a constant: overlap by chance at every interval", rejected_by="CM-14.2d")
def by_chance(specimen: Any) -> Any:
    return with_excitability(specimen, lambda d, j, te, ti: (0.0, 0.0, te, ti))


@rival("a constant: links by chance at every interval", rejected_by="CM-14.10a")
def linked_by_chance(specimen: Any) -> Any:
    return with_excitability(specimen, lambda d, j, te, ti: (0.0, 0.0, te, ti))


@rival("a constant: links at every interval", rejected_by="CM-14.10b")
def linked_for_ever(specimen: Any) -> Any:
    return with_excitability(specimen, lambda d, j, te, ti: (d, 0.0, 1e12, ti))


@rival("excitability alone, which a day later is never below chance", rejected_by="CM-14.4c")
def purely_excited(specimen: Any) -> Any:
    return with_excitability(specimen, lambda d, j, te, ti: (d, 0.0, te, ti))


@mutant("the half-life used as the time constant", rejected_by="CM-14.1")
def half_life_as_tau(specimen: Any) -> Any:
    return with_excitability(specimen, lambda d, j, te, ti: (d, j, te * math.log(2.0), ti))


@mutant("lasting differences are ignored", rejected_by="CM-14.3c")
def no_lasting_differences(specimen: Any) -> Any:
    return specimen.replacing(
        "excitability", lambda base, *rest: specimen.excitability(0.0 * base, *rest)
    )


@mutant("only the last activation counts", rejected_by="CM-14.1b")
def last_use_only(specimen: Any) -> Any:
    return specimen.replacing(
        "activate",
        lambda units, now, te, ti, most, *rest: specimen.activate(units, now, te, ti, 1.0, *rest),
    )


@mutant("the least excitable units are taken", rejected_by="CM-14.5b")
def least_excitable(specimen: Any) -> Any:
    return specimen.replacing("allocate", lambda e, k: specimen.allocate(-e, k))


@mutant("common units over all units of both", rejected_by="CM-14.9")
def jaccard(specimen: Any) -> Any:
    return specimen.replacing(
        "overlap", lambda a, b: len(np.intersect1d(a, b)) / len(np.union1d(a, b))
    )


@mutant("chance with replacement", rejected_by="CM-14.3")
def binomial_chance(specimen: Any) -> Any:
    return specimen.replacing("chance", lambda n, k: (k / n, math.sqrt(k / n * (1.0 - k / n) / k)))


@mutant("only the last memory is compared", rejected_by="CM-14.11")
def last_memory_only(specimen: Any) -> Any:
    return specimen.replacing(
        "companions",
        lambda e, recent, *rest: specimen.companions(
            e, np.where(recent == recent.max(), recent, -1), *rest
        ),
    )


@mutant("the full match is passed at any overlap", rejected_by="CM-14.12")
def lent_in_full(specimen: Any) -> Any:
    return specimen.replacing(
        "lend",
        lambda rows, match, s, d, p, t, share, out: specimen.lend(
            rows, match, s, d, p, t, np.ones_like(share), out
        ),
    )


@mutant("linked in one direction", rejected_by="CM-14.13")
def one_way(specimen: Any) -> Any:
    def link(graph: Graph, row: int, other: int, share: float, most: int, now: float) -> None:
        specimen.link(graph, row, other, share, most, now)
        graph.remove(graph.find(row, other, EdgeType.SIBLING) or 0)

    return specimen.replacing("link", link)


@mutant("memories that share any unit are linked", rejected_by="CM-14.10b")
def any_overlap_links(specimen: Any) -> Any:
    return specimen.replacing(
        "companions",
        lambda e, recent, engrams, least, most: specimen.companions(e, recent, engrams, 0.0, most),
    )


def with_excitability(specimen: Any, changed: Any) -> Any:
    """Excitability with other constants."""

    def excitability(
        base: Array,
        x: Array,
        y: Array,
        gap: Array,
        boost: float,
        inhibition: float,
        tau_e: float,
        tau_i: float,
        out: Array,
    ) -> None:
        specimen.excitability(base, x, y, gap, *changed(boost, inhibition, tau_e, tau_i), out)

    return specimen.replacing("excitability", excitability)


@mutant("recall does not activate units", rejected_by="CM-14.14")
def inert_recall(specimen: Any) -> Any:
    return specimen.overriding("EngramAllocation", excite=nothing)


@mutant("the half-life does not follow the time scale", rejected_by="CM-14.14b")
def unscaled_half_life(specimen: Any) -> Any:
    def hours(self: Any, name: str) -> float:
        return float(specimen.EngramAllocation.hours(self, name)) / (
            float(self.params.time_scale) if name == "half_life" else 1.0
        )

    return specimen.overriding("EngramAllocation", hours=hours)


@mutant("a memory that matches worse than the mean lends, too", rejected_by="CM-14.15")
def worse_lends(specimen: Any) -> Any:
    return specimen.replacing(
        "lend", lambda rows, match, *rest: specimen.lend(rows, np.abs(match), *rest)
    )


@mutant(
    "before 1970 the units that were never active are the excitable ones", rejected_by="CM-14.17"
)
def excitable_before_1970(specimen: Any) -> Any:
    original = specimen.excitability

    def excitability(base: Any, excited: Any, inhibited: Any, gap: Any, *rest: Any) -> None:
        original(base, excited, inhibited, gap, *rest)
        rest[-1][gap == 0.0] += 50.0

    return specimen.replacing("excitability", excitability)


@mutant("a memory without an engram activates the last unit", rejected_by="CM-14.18")
def last_unit(specimen: Any) -> Any:
    def excite(self: Any, view: Any, cue: Any) -> None:
        specimen.EngramAllocation.excite(self, view, cue)
        if len(view.recalled) and view.engram[view.recalled[0], 0] < 0:
            view.engram_excited[-1] += 1.0

    return specimen.overriding("EngramAllocation", excite=excite)


@mutant("more units in an engram than there are", rejected_by="CM-14.16")
def unbounded_engram(specimen: Any) -> Any:
    def __init__(self: Any, id: str, params: Any, *rest: Any) -> None:
        specimen.EngramAllocation.__init__(
            self, id, dataclasses.replace(params, size=min(params.size, params.units)), *rest
        )

    return specimen.overriding("EngramAllocation", __init__=__init__)
