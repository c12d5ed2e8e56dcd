"""Evidence for microglial_pruning, in days.  The kinetics are ours: the checks show that they are
integrated correctly (closed forms, solve_ivp) and have the properties that Wang et al. (2020) and
others report.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import quad, solve_ivp

from ...engine.contract.columns import Phase
from ...engine.contract.hooks import Mechanism
from ...engine.contract.records import Event
from ...engine.contract.vocabulary import LOG_STRENGTH, REPLAY_LAG, REPLAYED
from ...engine.memory.assembly import stream
from ...engine.memory.engine import Engine
from ...engine.state.graph import EdgeType
from ..checks import adaptation, at_least, at_most, between, equation, limit, mutant, signature
from ..figures import Curve, Picture, dots, figure
from ..memory import Scripted, encode, memory_of, neighbour, numbers_of
from .shared.crowded import SOURCE as CROWDED
from .shared.crowded import associates_of_a_crowded_memory
from .shared.scripts import giving, refusing

OURS = "construction, ours"
WANG = "Wang et al. 2020"
K = {**numbers_of("microglial_pruning", "tau_A", "K_A", "tau_P", "K_P", "k_on", "k_off", "k_ph",
                  "K_T", "h", "q"), "M": 1.0}  # fmt: skip
State = tuple[float, float, float]


def kinetics(**changed: float) -> Any:
    k = K | changed
    return (
        k["tau_A"],
        k["tau_P"],
        k["K_P"],
        (k["k_on"], k["k_off"], k["K_A"]),
        (k["k_ph"], k["K_T"], k["h"], k["q"], k["M"]),
    )


def solved(
    A: float, P: float, T: float, i: float, t: float, **changed: float
) -> NDArray[np.float64]:
    """A, P, T and the integral of the hazard, from the differential equations."""
    k = K | changed

    def slope(_: float, y: Any) -> list[float]:
        A, P, T, _risk = y
        on = k["k_on"] * k["K_A"] / (k["K_A"] + A) * (1.0 - i)
        return [
            -A / k["tau_A"],
            (A / (A + k["K_P"]) - P) / k["tau_P"],
            on * (1.0 - T) - k["k_off"] * T,
            k["k_ph"]
            * k["M"]
            * T ** k["h"]
            / (T ** k["h"] + k["K_T"] ** k["h"])
            * (1.0 - P) ** k["q"],
        ]

    return np.asarray(
        solve_ivp(slope, (0.0, t), [A, P, T, 0.0], "DOP853", rtol=1e-10, atol=1e-12).y[:, -1]
    )


def lived(
    specimen: Any, days: float, uses: NDArray[np.float64], i: float = 0.0, **changed: float
) -> tuple[float, float, float, float]:
    """A, P, T and survival of an association used at `uses` (d)."""
    A = P = T = risk = now = 0.0
    k = kinetics(**changed)
    for at in [*uses, days]:
        A, P, T, more = specimen.advance(A, P, T, i, at - now, k)
        risk, now, A = risk + more, at, A + (at < days)
    return A, P, T, math.exp(-risk)


class Network:
    """m associations from memory 2e to memory 2e + 1, each new at time 0, in the specimen's
    kernels.
    """

    def __init__(self, specimen: Any, m: int, **changed: float) -> None:
        self.specimen, self.k, self.last = specimen, kinetics(**changed), 0.0
        self.type, self.alive = np.full(m, 5, np.uint8), np.ones(m, bool)
        self.source, self.target = np.arange(0, 2 * m, 2), np.arange(1, 2 * m, 2)
        self.cd55 = np.zeros(2 * m)
        self.A, self.P, self.T, self.risk, self.clock, self.pruned = (
            *np.zeros((5, m)),
            np.full(m, np.nan),
        )

    def use(self, now: float, *edges: int) -> None:
        self.specimen.use(
            now,
            np.array(edges, np.int64),
            self.alive,
            self.source,
            self.target,
            self.cd55,
            self.k,
            self.A,
            self.P,
            self.T,
            self.risk,
            self.clock,
        )

    def sleep(self, now: float, key: int = 1) -> int:
        """Remove engulfed associations; return their number."""
        gone = self.specimen.patrol(
            now,
            self.last,
            key,
            self.type,
            self.alive,
            self.source,
            self.target,
            self.cd55,
            self.k,
            self.A,
            self.P,
            self.T,
            self.risk,
            self.clock,
            self.pruned,
        )
        self.alive[self.pruned == now] = False
        self.last = now
        return int(gone)


# --- the equations --------------------------------------------------------------------------------
@equation("CM-11.1", source=f"{OURS}: (5/6) (1 - exp(-0.06 t)); 0.8333 at steady state", atol=1e-7)
def an_idle_association_is_tagged_exponentially(specimen: Any) -> Any:
    times = (0.3, 5.0, 30.0, 60.0, 400.0)
    return [specimen.advance(0.0, 0.0, 0.0, 0.0, t, kinetics())[2] for t in times], [
        5.0 / 6.0 * (1.0 - math.exp(-0.06 * t)) for t in times
    ]


@equation(
    "CM-11.1b",
    source="solve_ivp (DOP853) of A, P, T and the integral of the hazard",
    atol=1e-4,
    figure="edge",
)
def steps_follow_the_differential_equations(specimen: Any) -> Any:
    cases = [(*start, t) for start in ((0.0, 0.0, 0.0, 0.0), (1.0, 0.0, 0.5, 0.0), (3.0, 0.2, 0.8,
        0.3), (20.0, 0.9, 0.1, 0.0), (0.5, 0.9, 0.9, 1.0))
             for t in (1e-4, 0.01, 0.4, 1.0, 1.7, 7.0, 60.0)]  # fmt: skip
    fast = {"tau_A": 0.5, "tau_P": 3.0, "k_on": 2.0, "k_off": 0.5, "k_ph": 1.0, "h": 2.5, "q": 1.5,
            "K_A": 0.5, "K_P": 2.0, "M": 0.7}  # fmt: skip
    measured = [specimen.advance(*c, kinetics()) for c in cases] + [
        specimen.advance(*c, kinetics(**fast)) for c in cases[:28:3]
    ]
    return measured, [solved(*c) for c in cases] + [solved(*c, **fast) for c in cases[:28:3]]


@equation(
    "CM-11.1c", source="P of an association long in use is A / (A + K_P); dT/dt and lambda by hand"
)
def protection_deposition_and_hazard_have_their_closed_forms(specimen: Any) -> Any:
    return [
        specimen.protection(3.0, 1.0),
        specimen.deposition(0.2, 1.0, 0.5, 0.05, 0.01, 1.0),
        specimen.hazard(0.5, 0.2, 0.1, 0.5, 4.0, 1.0, 1.0),
        specimen.hazard(1.0, 0.5, 0.1, 0.5, 2.0, 2.0, 3.0),
        specimen.hazard(1.0, 0.75, 0.1, 0.5, 8.0, 0.5, 1.0),
    ], [
        0.75,
        0.05 * 0.5 * 0.5 * 0.8 - 0.002,
        0.04,
        0.1 * 3.0 * 0.8 * 0.25,
        0.1 * 256.0 / 257.0 * 0.5,
    ]


@equation(
    "CM-11.1e",
    source="tau_P dP/dt = f - P for a parabola f, by scipy.integrate.quad; decay of A over half a step",
    rtol=1e-12,
)
def a_step_integrates_a_parabola_exactly(specimen: Any) -> Any:
    step, tau_A, tau_P, measured, expected = 0.7, 2.0, 1.3, [], []
    for f in (np.poly1d([1.0]), np.poly1d([2.0, 0.5]), np.poly1d([-1.0, 3.0, 0.2])):
        c = specimen.propagator(step, tau_A, tau_P)
        f0, f1, f2 = f(0.0), f(0.5 * step), f(step)
        measured += [
            c[1],
            0.4 * c[1] + c[2] * f0 + c[3] * f1 + c[4] * f2,
            0.4 * c[1] ** 2 + c[5] * f0 + c[6] * f1 + c[7] * f2,
            c[0],
        ]
        for t in (0.5 * step, step):
            expected.append(
                0.4 * math.exp(-t / tau_P)
                + quad(
                    lambda s, t=t, f=f: math.exp((s - t) / tau_P) * f(s) / tau_P,
                    0.0,
                    t,
                    epsabs=1e-14,
                )[0]
            )
        expected[-2:] = [
            math.exp(-0.5 * step / tau_P),
            *expected[-2:],
            math.exp(-0.5 * step / tau_A),
        ]
    return measured, expected


@equation(
    "CM-11.1f",
    source="integrals of exp(u - z) u^k by parts: 1 - e^-z, z - m0, z^2 - 2 m1",
    rtol=1e-12,
)
def moments_have_their_closed_forms(specimen: Any) -> Any:
    expected = []
    for z in (0.5, 1.0):
        m0 = -math.expm1(-z)
        expected.append((m0, z - m0, z * z - 2.0 * (z - m0)))
    return [specimen.moments(z) for z in (0.5, 1.0)], expected


@equation(
    "CM-11.1d", source="a use raises the decayed A by 1, two uses in one call by 2", atol=1e-12
)
def a_use_raises_the_trace_by_one(specimen: Any) -> Any:
    net = Network(specimen, 2)
    net.use(0.0, 0)
    net.use(7.0, 0, 1, 1)
    return [*net.A, *net.clock], [math.exp(-1.0) + 1.0, 2.0, 7.0, 7.0]


@limit(
    "CM-11.2",
    source=f"{WANG}: microglia depleted, or phagocytosis blocked",
    atol=0.0,
    papers=("wang2020microglia",),
)
def without_microglia_no_association_is_lost(specimen: Any) -> Any:
    return [
        lived(specimen, 200.0, np.empty(0), M=0.0)[3],
        Network(specimen, 500, M=0.0).sleep(500.0),
    ], [1.0, 0]


@limit("CM-11.2b", source=f"{WANG}: CD55 in engram cells", atol=0.0, papers=("wang2020microglia",))
def full_cd55_prevents_complement(specimen: Any) -> Any:
    _, _, T, survival = lived(specimen, 200.0, np.empty(0), i=1.0)
    return [T, survival], [0.0, 1.0]


@limit(
    "CM-11.3",
    source="Lehrman et al. 2018: the signal of active synapses keeps microglia off",
    atol=0.0,
    papers=("lehrman2018cd47",),
)
def full_protection_means_no_hazard(specimen: Any) -> Any:
    return [specimen.hazard(T, 1.0, 0.1, 0.5, 4.0, 1.0, 1.0) for T in (0.0, 0.5, 1.0)], [0.0] * 3


# --- consequences ---------------------------------------------------------------------------------
@signature(
    "CM-11.4", source=f"{OURS}: 60 d, recomputed from its equations", atol=0.01, figure="survival"
)
def an_association_never_used_is_removed_and_one_used_daily_stays(specimen: Any) -> Any:
    idle, daily = (
        lived(specimen, 60.0, np.empty(0)),
        lived(specimen, 60.0, np.arange(0.0, 60.0, 1.0)),
    )
    return [idle[3], idle[2], daily[3], daily[2], daily[1]], [0.022, 0.811, 0.979, 0.268, 0.87]


@signature("CM-11.4b", source="rescue: use before engulfment lowers the tag")
def use_lowers_the_tag(specimen: Any) -> Any:
    before = lived(specimen, 30.0, np.empty(0))[2]
    busy = np.repeat(np.arange(30.0, 60.0, 1.0), 10)
    after, idle = lived(specimen, 60.0, busy), lived(specimen, 60.0, np.empty(0))
    return bool(after[2] < before - 0.1 and after[3] > 4.0 * idle[3])


@signature(
    "CM-11.4c",
    source=f"{WANG}: activity dependence",
    figure="survival",
    papers=("wang2020microglia",),
)
def the_more_an_association_is_used_the_longer_it_stays(specimen: Any) -> Any:
    survival = [
        lived(specimen, 90.0, np.arange(0.0, 90.0, every))[3]
        for every in (1.0, 3.0, 7.0, 20.0, 60.0)
    ]
    return at_most(np.diff(survival), -1e-3)


@signature(
    "CM-11.4d",
    source=f"{WANG}: forgetting shows after weeks and not after days",
    figure="survival",
    papers=("wang2020microglia",),
)
def forgetting_takes_weeks(specimen: Any) -> Any:
    survival = [lived(specimen, t, np.zeros(1))[3] for t in (5.0, 42.0)]
    return bool(survival[0] > 0.99 and survival[1] < 0.4)


@signature(
    "CM-11.5",
    source=f"{WANG}: CD55 protects the cells that have it",
    atol=1e-5,
    papers=("wang2020microglia",),
)
def cd55_in_one_association_protects_that_one_only(specimen: Any) -> Any:
    net, plain = Network(specimen, 3), Network(specimen, 3)
    net.cd55[3] = 1.0  # the target of the second
    for n in (net, plain):
        n.sleep(30.0, key=0)
    return [net.T[1], *net.T[[0, 2]]], [0.0, *[5.0 / 6.0 * (1.0 - math.exp(-1.8))] * 2]


@signature(
    "CM-11.6", source=f"{OURS}: hazard rises with the tag, and at steady state falls with use"
)
def hazard_rises_with_the_tag_and_falls_with_use(specimen: Any) -> Any:
    tags = [specimen.hazard(T, 0.3, 0.1, 0.5, 4.0, 1.0, 1.0) for T in np.linspace(0.0, 1.0, 50)]
    settled = []
    for A in np.linspace(0.0, 10.0, 50):
        rise = specimen.deposition(0.0, A, 0.0, 0.05, 0.01, 1.0)  # dT/dt is linear in T
        fall = rise - specimen.deposition(1.0, A, 0.0, 0.05, 0.01, 1.0)
        settled.append(
            specimen.hazard(rise / fall, specimen.protection(A, 1.0), 0.1, 0.5, 4.0, 1.0, 1.0)
        )
    return bool(at_least(np.diff(tags), 1e-12).passed and at_most(np.diff(settled), -1e-12).passed)


@signature(
    "CM-11.6b",
    source="no weight enters: a young or recently used association is kept, however weak",
    atol=0.0,
)
def a_weak_association_in_recent_use_is_not_pruned(specimen: Any) -> Any:
    net, lost = Network(specimen, 400), 0
    for day in range(20):
        net.use(day + 0.5, *range(400))
        lost += net.sleep(day + 1.0, key=day + 1)
    return at_most(lost, 2)


@equation(
    "CM-11.7",
    source="expected removals = sum of 1 - exp(-integral of lambda), within 3 sigma; Poisson thinning",
)
def the_number_of_removals_follows_the_hazard(specimen: Any) -> Any:
    ages, within = np.array([5.0, 20.0, 60.0]), []
    for age, key in zip(ages, (11, 12, 13), strict=True):
        net = Network(specimen, 3000)
        p = 1.0 - math.exp(-solved(0.0, 0.0, 0.0, 0.0, age)[3])
        within.append((net.sleep(age, key) - 3000 * p) / math.sqrt(3000 * p * (1.0 - p)))
    return between(within, -3.0, 3.0)


@equation("CM-11.7b", source="hazard before a use counts in the next sleep; solve_ivp", atol=1e-4)
def the_hazard_is_integrated_since_the_last_sleep(specimen: Any) -> Any:
    net, seen = Network(specimen, 1), []
    net.T[0] = 0.6
    net.use(4.0, 0)
    seen.append(net.risk[0])
    net.use(9.0, 0)
    seen.append(net.risk[0])
    a = solved(0.0, 0.0, 0.6, 0.0, 4.0)
    b = solved(a[0] + 1.0, a[1], a[2], 0.0, 5.0)
    net.sleep(10.0)
    return [*seen, net.risk[0]], [a[3], a[3] + b[3], 0.0]


# --- the adaptation -------------------------------------------------------------------------------
@adaptation(
    "CM-11.8",
    source="the same values at any number of sleeps in 30 days; tolerance of the steps",
    atol=1e-4,
)
def the_frequency_of_sleep_has_little_effect(specimen: Any) -> Any:
    ends = []
    for cuts in (1, 7, 30, 45):
        net = Network(specimen, 1)
        net.A[0], net.T[0] = 2.0, 0.3
        for now in np.linspace(0.0, 30.0, cuts + 1)[1:]:
            net.sleep(now)
        ends.append([net.A[0], net.P[0], net.T[0]])
    return ends, [solved(2.0, 0.0, 0.3, 0.0, 30.0)[:3]] * 4


@adaptation("CM-11.9", source="only live COACCESS edges between two memories", atol=0.0)
def other_edges_do_not_change(specimen: Any) -> Any:
    net = Network(specimen, 6)
    net.type[0], net.alive[1], net.source[2], net.target[4] = 4, False, -1, -1
    net.sleep(30.0, key=3)
    return np.flatnonzero(net.T > 0.0), [3, 5]


@adaptation(
    "CM-11.9b",
    source="solve_ivp of three associations, the second used between two sleeps; a hazard of 50 since then removes it",
    atol=1e-4,
)
def each_association_has_its_own_time_and_hazard(specimen: Any) -> Any:
    net = Network(specimen, 3, k_ph=1e-3)
    net.A[:], net.T[:] = (2.0, 1.0, 0.5), (0.1, 0.3, 0.6)
    net.sleep(10.0)
    net.use(14.0, 1)
    before = net.risk.copy()
    net.risk[1] = 50.0
    net.sleep(20.0)
    unused = [solved(A, 0.0, T, 0.0, 20.0) for A, T in ((2.0, 0.1), (0.5, 0.6))]
    early = solved(1.0, 0.0, 0.3, 0.0, 10.0)
    used = solved(early[0], early[1], early[2], 0.0, 4.0, k_ph=1e-3)
    late = solved(used[0] + 1.0, used[1], used[2], 0.0, 6.0)
    return [*before, *net.A, *net.P, *net.T, *net.risk, *np.nan_to_num(net.pruned, nan=-1.0)], [
        0.0, used[3], 0.0, *(x for k in range(3) for x in (unused[0][k], late[k], unused[1][k])), 0.0,
        0.0, 0.0, -1.0, 20.0, -1.0]  # fmt: skip


@adaptation(
    "CM-11.9c",
    source="ours: steps of at most tau_P, tau_A / 4 and a tenth of the time of deposition; by hand",
    atol=0.0,
)
def the_number_of_steps_follows_the_fastest_process(specimen: Any) -> Any:
    cases: tuple[tuple[float, dict[str, float], int], ...] = (
        (60.0, {}, 60),
        (60.0, {"tau_P": 9.0}, 36),
        (1.0, {"tau_A": 0.5}, 8),
        (1.0, {"k_on": 2.0, "k_off": 0.5}, 25),
        (1.0, {"k_on": 0.5, "k_off": 2.0}, 25),
        (14.0, {"tau_P": 9.0, "k_on": 0.0, "k_off": 0.0}, 8),
        (1.1, {"tau_P": 0.1}, 11),
        (1e-3, {}, 1),
        (0.0, {}, 1),
    )
    return [specimen.strides(t, kinetics(**changed)) for t, changed, _ in cases], [
        n for _, _, n in cases
    ]


@adaptation(
    "CM-11.9d", source="the definition: removed if the lot is below 1 - exp(-risk)", atol=0.0
)
def a_lot_below_the_chance_removes(specimen: Any) -> Any:
    p = 1.0 - math.exp(-0.5)
    return [specimen.engulfed(0.5, lot) for lot in (0.0, p - 1e-12, p, 0.45, 0.6)], [
        True,
        True,
        False,
        False,
        False,
    ]


def split_mix(key: int, edge: int) -> float:
    """SplitMix64 at an edge's place, in Python's integers, as a number in [0, 1)."""
    all_ones = 2**64 - 1
    x = (key + (edge + 1) * 0x9E3779B97F4A7C15) & all_ones
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & all_ones
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & all_ones
    return ((x ^ (x >> 31)) >> 11) / 2**53


@adaptation(
    "CM-11.10b",
    source="SplitMix64 (Steele, Lea & Flood 2014) of the key at the edge's place, in Python's integers",
    atol=0.0,
    papers=("steele2014fast",),
)
def random_numbers_are_those_of_splitmix(specimen: Any) -> Any:
    keys, edges = (0, 1, 2**62 + 12345), (0, 1, 7, 4000)
    return [specimen.uniform(key, edge) for key in keys for edge in edges], [
        split_mix(key, edge) for key in keys for edge in edges
    ]


@adaptation("CM-11.10", source="uniform on [0, 1): mean, variance, and no tie between neighbours")
def random_numbers_are_uniform_and_uncorrelated(specimen: Any) -> Any:
    lots = np.array([specimen.uniform(key, edge) for key in (1, 2, 2**62) for edge in range(2000)])
    return bool(
        abs(lots.mean() - 0.5) < 0.015
        and abs(lots.var() - 1.0 / 12.0) < 0.005
        and abs(np.corrcoef(lots[:-1], lots[1:])[0, 1]) < 0.05
        and lots.min() >= 0.0
        and lots.max() < 1.0
    )


@adaptation("CM-11.11", source="1 - w^-gain above strength 1, 0 below", atol=1e-12)
def strong_memories_inhibit_complement(specimen: Any) -> Any:
    out = np.empty(4)
    specimen.shield(np.log([0.5, 1.0, 2.0, 1e9]), 1.0, out)
    return out, [0.0, 0.0, 0.5, 1.0 - 1e-9]


# --- in a memory ----------------------------------------------------------------------------------
ODD = {"tau_A": 3.0, "tau_P": 1.5, "k_on": 0.4, "k_off": 0.1, "k_ph": 0.02, "K_A": 0.8, "K_P": 0.6,
       "K_T": 0.3, "h": 3.0, "q": 1.5}  # fmt: skip
PLACES = {
    f"event {row}": place
    for row, place in enumerate(
        ([1.0, 0.2], [0.9, -0.3], [0.7, 0.7], [-0.5, 1.0], [0.95, 0.1], [-1.0, 0.0])
    )
}
LOG_W = np.array([0.4, 0.6, -0.4, 0.3, -1.0, 0.0])


def strengthened(log_w: NDArray[np.float64]) -> Mechanism[Any]:
    return giving(Phase.MAINTAIN, LOG_STRENGTH, log_w, adds=True)


def asleep(nights: dict[float, list[tuple[int, int]]]) -> Mechanism[Any]:
    """Replays these steps in the sleeps that end at these times (h)."""

    def dream(view: Any, tick: Any) -> None:
        if tick.end in nights:
            view.replayed[1 : 1 + len(nights[tick.end])] = nights[tick.end]

    return neighbour(Phase.CONSOLIDATE, dream, sets=(REPLAYED, REPLAY_LAG), id="asleep")


def edge_values(specimen: Any, memory: Engine, pairs: Any) -> list[float]:
    """A, P, T, the integral of the hazard and the clock (h) of the associations of these pairs,
    in both directions.
    """
    values = []
    for pair in pairs:
        for a, b in (pair, pair[::-1]):
            e = memory.graph.find(a, b, EdgeType.COACCESS)
            values += [
                float(memory.column(c)[e])
                for c in (
                    specimen.SYNAPTIC_USE,
                    specimen.SYNAPTIC_PROTECTOR,
                    specimen.COMPLEMENT,
                    specimen.ENGULFMENT_RISK,
                    specimen.COMPLEMENT_CLOCK,
                )
            ]
    return values


@adaptation(
    "CM-11.12",
    source="solve_ivp (DOP853) of A, P, T and the hazard of each pair, in days, between uses and sleeps",
    atol=1e-6,
)
def in_a_memory_associations_follow_the_differential_equations(specimen: Any) -> Any:
    """Two sessions, a rejected event, three sleeps of which the first replays, answers that do
    and do not change memory, one of a single memory.
    """
    cd55_gain, microglia = 0.7, 1.6
    parameters: dict[str, Any] = {
        **{k: v for k, v in ODD.items() if k != "M"},
        "microglia": microglia,
        "cd55": cd55_gain,
    }
    memory = memory_of(
        specimen,
        "dense_similarity",
        strengthened(LOG_W),
        asleep({24.0: [(0, 1), (4, 2), (1, 0)]}),
        refusing("rejected"),
        embedder=Scripted({**PLACES, "rejected": [1.0, 0.0], "query": [1.0, 0.1]}),
        time_scale=None,
        **parameters,
    )
    state: dict[tuple[int, int], list[float]] = {}
    inhibitor, measured, expected = np.zeros(6), list[float](), list[float]()

    def updated(now: float, pair: tuple[int, int]) -> None:
        A, P, T, risk, clock = state[pair]
        A, P, T, more = solved(
            A, P, T, float(inhibitor[list(pair)].max()), (now - clock) / 24.0, **ODD, M=microglia
        ).tolist()
        state[pair] = [A, P, T, risk + more, now]

    def used(now: float, *pairs: tuple[int, int]) -> None:
        for pair in (tuple(sorted(p)) for p in pairs):
            if pair not in state:
                state[pair] = [0.0, 0.0, 0.0, 0.0, now]  # type: ignore[index]
            if state[pair][4] < now:  # type: ignore[index]
                updated(now, pair)  # type: ignore[arg-type]
            state[pair][0] += 1.0  # type: ignore[index]

    def compare() -> None:
        stored = memory.column(specimen.CD55)
        measured.extend(
            [*edge_values(specimen, memory, state), *stored, float(memory.graph.n_edges)]
        )
        expected.extend(
            [
                *(x for values in state.values() for x in [*values, *values]),
                *inhibitor[: stored.size],
                2.0 * len(state),
            ]
        )

    def ask(k: int, learn: bool) -> None:
        rows = memory.retrieve("query", k=k, learn=learn).rows.tolist()[:3]
        if learn:
            used(memory.now, *((a, b) for i, a in enumerate(rows) for b in rows[i + 1 :]))
        compare()

    for row, (time, session) in enumerate(
        zip((0.0, 1.0, 5.0, 9.0, 20.0, 22.0), "aabbab", strict=True)
    ):
        encode(memory, Event(time, f"event {row}", session=session, dated=False))
        # an event is paired with the memory before it in its session
        if row in (1, 3):
            used(time, (row - 1, row))
        if row == 2:
            encode(memory, (6.0, "rejected"))
    compare()
    ask(4, learn=True)
    for now in (24.0, 48.0, 72.0):
        memory.advance(now)
        for pair in state:
            updated(now, pair)
            state[pair][3] = 0.0
        if now == 24.0:
            used(now, (0, 1), (4, 2), (1, 0))
            memory.archive(1)
        inhibitor = np.where(LOG_W > 0.0, 1.0 - np.exp(-cd55_gain * LOG_W), 0.0)
        compare()
        memory.advance(now + 7.0)
        ask(4, learn=now == 48.0)
        ask(1, learn=True)
        memory.advance(now + 9.0)
        ask(2, learn=now < 50.0)
    return measured, expected


@adaptation(
    "CM-11.13",
    source="by hand, with CD55 complete in memory 2 and a hazard of 100 a day; a use decays by exp(-t / tau_A)",
    atol=1e-12,
)
def in_a_memory_tagged_associations_are_removed_and_protected_ones_stay(specimen: Any) -> Any:
    """A first sleep makes three associations by replay, a second one replays the third, which it
    has just removed, and removes the first.
    """
    measured: list[float] = []
    for microglia in (1.0, 0.0):
        memory = memory_of(
            specimen,
            strengthened(np.array([0.0, 0.0, 3.0, -1.0, 0.0, 0.0])),
            asleep({24.0: [(0, 1), (2, 3), (4, 5)], 48.0: [(4, 5)]}),
            k_on=5.0,
            k_ph=100.0,
            K_T=0.001,
            cd55=1000.0,
            microglia=microglia,
        )
        encode(
            memory,
            *(Event(0.5 * row, f"event {row}", session=f"s{row}", dated=False) for row in range(6)),
        )
        memory.advance(48.0)
        pairs = [(a, b) for pair in ((0, 1), (2, 3), (4, 5)) for a, b in (pair, pair[::-1])]
        edges = [
            int(np.flatnonzero((memory.graph.source == a) & (memory.graph.target == b))[0])
            for a, b in pairs
        ]
        for column in (specimen.PRUNED, specimen.SYNAPTIC_USE):
            measured += np.nan_to_num(memory.column(column)[edges], nan=-1.0).tolist()
        measured += memory.graph.alive[edges].astype(float).tolist()
    kept = math.exp(-1.0 / 7.0)
    removed = [48.0, 48.0, -1.0, -1.0, 48.0, 48.0, *[kept] * 6, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0]
    return measured, [*removed, *[-1.0] * 6, *[kept] * 4, kept + 1.0, kept + 1.0, *[1.0] * 6]


@adaptation(
    "CM-11.14",
    source="1 - exp(-integral of lambda) of each association that is left, solve_ivp; each of four sleeps within 3 sigma",
)
def in_a_memory_each_sleep_removes_by_chance(specimen: Any) -> Any:
    quick: dict[str, Any] = {
        "tau_A": 0.25,
        "tau_P": 0.25,
        "k_on": 2.0,
        "k_ph": 0.8,
        "K_T": 0.2,
        "K_A": 10.0,
    }
    memory = memory_of(specimen, **quick)
    encode(
        memory, *(Event(0.01 * row, f"event {row}", session="s", dated=False) for row in range(90))
    )
    left, within, (A, P, T) = 178, [], (1.0, 0.0, 0.0)
    for night in range(4):
        memory.advance(24.0 * (night + 1))
        A, P, T, risk = solved(A, P, T, 0.0, 1.0, **quick)
        p, now = 1.0 - math.exp(-risk), int(np.count_nonzero(memory.graph.alive))
        within.append((left - now - left * p) / math.sqrt(left * p * (1.0 - p)))
        left = now
    return between(within, -3.0, 3.0)


@adaptation(
    "CM-11.15",
    source="a memory's seed decides which associations are removed, and nothing else does",
    atol=0.0,
)
def in_a_memory_the_seed_decides_what_is_removed(specimen: Any) -> Any:
    alive = []
    for seed in (0, 0, 1):
        memory = memory_of(specimen, seed=seed, tau_A=0.25, tau_P=0.25, k_on=2.0, k_ph=0.8, K_T=0.2)
        encode(
            memory,
            *(Event(0.01 * row, f"event {row}", session="s", dated=False) for row in range(30)),
        )
        memory.advance(24.0)
        alive.append(memory.graph.alive.tolist())
    return bool(alive[0] == alive[1] != alive[2])


@adaptation(
    "CM-11.16",
    source="solve_ivp, and SplitMix64 in Python's integers with a key below 2^63 for each sleep",
    atol=0.0,
)
def in_a_memory_the_numbers_of_a_sleep_decide_what_it_removes(specimen: Any) -> Any:
    quick: dict[str, Any] = {
        "tau_A": 0.25,
        "tau_P": 0.25,
        "k_on": 2.0,
        "k_ph": 0.8,
        "K_T": 0.2,
        "K_A": 10.0,
    }
    memory, random = memory_of(specimen, seed=3, **quick), stream(3, "microglial_pruning")
    encode(memory, *(Event(0.0, f"event {row}", session="s", dated=False) for row in range(40)))
    alive, (A, P, T), measured, expected = np.ones(78, bool), (1.0, 0.0, 0.0), [], []
    for night in range(3):
        memory.advance(24.0 * (night + 1))
        A, P, T, risk = solved(A, P, T, 0.0, 1.0, **quick)
        key = int(random.integers(2**63))
        alive &= np.array([split_mix(key, edge) for edge in range(78)]) >= 1.0 - math.exp(-risk)
        measured += memory.graph.alive[:78].tolist()
        expected += alive.tolist()
    return [*measured, memory.graph.alive.size], [*expected, 78]


crowded = adaptation("CM-11.19", source=CROWDED)(associates_of_a_crowded_memory)


# --- figures --------------------------------------------------------------------------------------
@figure(
    "survival",
    caption="An association never used is tagged by complement and removed within weeks; one used daily has a low tag and stays",
    source=f"{OURS}: tag 0.811 and 0.268, survival 0.022 and 0.979 after 60 d",
)
def tag_and_survival(specimen: Any) -> Picture:
    days, curves = np.linspace(0.0, 60.0, 61), []
    for label, uses in (("never used", np.empty(0)), ("used daily", np.arange(0.0, 60.0, 1.0))):
        course = np.array([lived(specimen, float(t), uses[uses < t]) for t in days])
        curves += [
            Curve(f"tag, {label}", days, course[:, 2]),
            Curve(f"survival, {label}", days, course[:, 3]),
        ]
    return Picture(
        "age, days",
        "tag; probability of survival",
        (*curves, dots("recomputed", np.full(4, 60.0), [0.811, 0.022, 0.268, 0.979])),
    )


@figure(
    "edge",
    caption="Unused after a month of daily use, an association loses its protection, accumulates complement and is removed",
    source=f"{OURS}; {WANG}",
)
def an_edge_that_is_left(specimen: Any) -> Picture:
    days, uses = np.linspace(0.0, 100.0, 101), np.arange(0.0, 30.0, 1.0)
    course = np.array([lived(specimen, float(t), uses[uses < t]) for t in days])
    return Picture(
        "age, days; last used on day 29",
        "share",
        tuple(
            Curve(label, days, course[:, k])
            for k, label in ((1, "protection"), (2, "complement tag"), (3, "survival"))
        ),
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("a tag that use does not slow", rejected_by="CM-11.1c")
def blind_tag(specimen: Any) -> Any:
    return specimen.replacing(
        "deposition", lambda T, A, i, k_on, k_off, K_A: k_on * (1.0 - i) * (1.0 - T) - k_off * T
    )


@mutant("no tagging: idle associations are removed at once", rejected_by="CM-11.4d")
def no_tag(specimen: Any) -> Any:
    return specimen.replacing("hazard", lambda T, P, k_ph, K_T, h, q, M: k_ph * M * (1.0 - P))


@mutant("a tag that never decays", rejected_by="CM-11.4b")
def lasting_tag(specimen: Any) -> Any:
    return specimen.replacing(
        "deposition",
        lambda T, A, i, k_on, k_off, K_A: k_on * K_A / (K_A + A) * (1.0 - i) * (1.0 - T),
    )


@mutant("CD55 without effect", rejected_by="CM-11.2b")
def no_inhibitor(specimen: Any) -> Any:
    return specimen.replacing(
        "deposition",
        lambda T, A, i, k_on, k_off, K_A: k_on * K_A / (K_A + A) * (1.0 - T) - k_off * T,
    )


@mutant("CD55 shared by all", rejected_by="CM-11.5")
def shared_inhibitor(specimen: Any) -> Any:
    def patrol(
        now: float,
        last: float,
        key: int,
        type: Any,
        alive: Any,
        source: Any,
        target: Any,
        cd55: Any,
        *rest: Any,
    ) -> Any:
        return specimen.patrol(
            now, last, key, type, alive, source, target, np.full_like(cd55, cd55.max()), *rest
        )

    return specimen.replacing("patrol", patrol)


@mutant("a hazard that ignores the protector", rejected_by="CM-11.3")
def unheeding(specimen: Any) -> Any:
    return specimen.replacing(
        "hazard", lambda T, P, k_ph, K_T, h, q, M: k_ph * M * T**h / (T**h + K_T**h)
    )


@mutant("a protector without delay", rejected_by="CM-11.1b")
def instant(specimen: Any) -> Any:
    weights = specimen.propagator
    return specimen.replacing("propagator", lambda step, tau_A, tau_P: (weights(step, tau_A,
        tau_P)[0], 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0))  # fmt: skip


@mutant("a deterministic sweep", rejected_by="CM-11.7")
def sweep(specimen: Any) -> Any:
    return specimen.replacing("engulfed", lambda risk, lot: risk > 0.5)


@mutant("hazard reset at each use", rejected_by="CM-11.7b")
def forgetful(specimen: Any) -> Any:
    def use(now: float, edges: Any, *rest: Any) -> None:
        specimen.use(now, edges, *rest)
        rest[-2][edges] = 0.0

    return specimen.replacing("use", use)


@mutant("use that does not raise the trace", rejected_by="CM-11.1d")
def traceless(specimen: Any) -> Any:
    return specimen.replacing("use", lambda now, edges, *rest: rest[-1].__setitem__(edges, now))


@mutant("CD55 of the weaker of two memories", rejected_by="CM-11.12")
def of_the_weaker(specimen: Any) -> Any:
    def use(
        now: float, edges: Any, alive: Any, source: Any, target: Any, cd55: Any, *rest: Any
    ) -> None:
        specimen.use(now, edges, alive, source, target, np.full_like(cd55, cd55.min()), *rest)

    return specimen.replacing("use", use)


@mutant("what is replayed does not count as used", rejected_by="CM-11.12")
def replayed_in_vain(specimen: Any) -> Any:
    def used(self: Any, view: Any, now: float) -> None:
        if now != 24.0:
            specimen.MicroglialPruning.used(self, view, now)

    return specimen.overriding("MicroglialPruning", used=used)


@mutant("the removed association stays in the graph", rejected_by="CM-11.13")
def unremoved(specimen: Any) -> Any:
    return specimen.replacing("patrol", lambda *arguments: 0 * specimen.patrol(*arguments))


@mutant("the same lots in every sleep", rejected_by="CM-11.14")
def same_lots(specimen: Any) -> Any:
    return specimen.replacing(
        "patrol", lambda now, last, key, *rest: specimen.patrol(now, last, 1, *rest)
    )


@mutant("keys of 31 bits", rejected_by="CM-11.16")
def short_keys(specimen: Any) -> Any:
    return specimen.replacing(
        "patrol", lambda now, last, key, *rest: specimen.patrol(now, last, key % 2**31, *rest)
    )
