"""Evidence for systems_transfer, in days.  References: closed forms by hand, the differential
equations in a general solver, numerical integrals, and ordinary least squares; none calls a kernel
it judges.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import quad, solve_ivp
from scipy.linalg import expm
from scipy.optimize import minimize_scalar

from ...engine.contract.columns import Phase
from ...engine.contract.vocabulary import (
    CONGRUENCY,
    HIPPOCAMPAL_DEPENDENCE,
    LOG_STRENGTH,
    REPLAYS,
    ROW,
)
from ..checks import adaptation, at_least, at_most, data, equation, limit, mutant, rival, signature
from ..figures import Curve, Picture, dots, figure
from ..memory import Scripted, encode, memory_of, neighbour, numbers_of, plug_in, with_numbers
from .shared.once import computed_once
from .shared.scripts import refusing

MMO, TSE = "McClelland, McNaughton & O'Reilly 1995", "Tse et al. 2007"
D_H, C, D_C, K = numbers_of(
    "systems_transfer", "hippocampal_decay", "consolidation", "cortical_decay", "acceleration"
).values()
RATS = "rats; their number was not read"
# D_h, C, D_c, equal ones among them
CASES = ((0.1, 0.1, 0.01), (0.25, 0.4, 0.0), (0.03, 0.01, 0.03), (0.0, 0.2, 0.05), (0.02, 0.3, 0.4))


@computed_once
def solved(s_h: float, s_c: float, t: float, d_h: float, c: float, d_c: float) -> list[float]:
    """The two traces at t, by a general solver."""
    return list(
        solve_ivp(
            lambda _, s: [-d_h * s[0], c * s[0] - d_c * s[1]],
            (0.0, t),
            [s_h, s_c],
            rtol=1e-11,
            atol=1e-13,
            method="DOP853",
        ).y[:, -1]
    )


# --- two traces -----------------------------------------------------------------------------------
@equation(
    "CM-3.1",
    source=f"{MMO}: t* = ln(D_h / D_c) / (D_h - D_c)",
    rtol=1e-4,
    figure="traces",
    papers=("mcclelland1995why",),
)
def the_cortical_trace_peaks_at_the_closed_form(specimen: Any) -> Any:
    cases = ((0.1, 0.01), (0.05, 0.001), (0.3, 0.2))
    measured = [
        minimize_scalar(
            lambda t, r=r: -specimen.transfer(1.0, 0.0, t, r[0], 0.1, r[1])[1],
            bounds=(0.0, 400.0),
            method="bounded",
            options={"xatol": 1e-7},
        ).x
        for r in cases
    ]
    return measured, [math.log(d_h / d_c) / (d_h - d_c) for d_h, d_c in cases]


@equation("CM-3.1b", source="solve_ivp of both traces", atol=1e-9, papers=("mcclelland1995why",))
def both_traces_follow_their_differential_equations(specimen: Any) -> Any:
    runs = [
        (h, s, t, *rates)
        for rates in CASES
        for h, s in ((1.0, 0.0), (0.4, 0.7))
        for t in (0.5, 8.0, 60.0)
    ]
    return [specimen.transfer(*r) for r in runs], [solved(*r) for r in runs]


@limit(
    "CM-3.1c",
    source="D_c = D_h: C t e^{-D t}; t = 0; D_c = 0, t -> infinity: C / D_h; no decay: C t",
    papers=("mcclelland1995why",),
)
def equal_rates_no_time_and_no_decay(specimen: Any) -> Any:
    measured = [
        specimen.transfer(1.0, 0.0, 5.0, 0.2, 0.3, 0.2)[1],
        *specimen.transfer(0.6, 0.3, 0.0, 0.2, 0.3, 0.1),
        *specimen.transfer(1.0, 0.0, 1e6, 0.2, 0.3, 0.0),
        specimen.transfer(1.0, 0.0, 7.0, 0.0, 0.3, 0.0)[1],
        specimen.transfer(1.0, 0.0, 1e7, 0.1, 0.3, 0.2)[1],
    ]
    return measured, [0.3 * 5.0 * math.exp(-1.0), 0.6, 0.3, 0.0, 1.5, 2.1, 0.0]


@equation("SX-1", source="the flow of a differential equation: t1, then t2, is t1 + t2", atol=1e-12)
def advancing_in_pieces_equals_advancing_at_once(specimen: Any) -> Any:
    pieces, whole = [], []
    for rates in CASES:
        state = (1.0, 0.2)
        for t in (0.3, 2.0, 0.01, 11.0):
            state = specimen.transfer(*state, t, *rates)
        pieces.append(state)
        whole.append(specimen.transfer(1.0, 0.2, 13.31, *rates))
    return pieces, whole


@signature(
    "CM-3.2",
    source=f"{MMO}: retrograde gradient; D_h = 0.1, D_c = 0.01 a day",
    figure="traces",
    papers=("mcclelland1995why",),
)
def a_lesion_spares_remote_memories_although_they_are_weaker(specimen: Any) -> Any:
    days = np.linspace(0.0, 200.0, 401)
    s = np.array([specimen.transfer(1.0, 0.0, t, 0.1, 0.1, 0.01) for t in days])
    after = {t: float(s[days == t, 1][0]) for t in (1.0, 30.0)}
    return bool(after[30.0] > 3.0 * after[1.0] and (np.diff(s.sum(axis=1)) < 0.0).all())


@data(
    "CM-3.2b",
    source="Kim & Fanselow 1992, after the fits of McClelland et al. 1995: lesions at 1 day abolish, at 28 days spare",
    warn=True,
    papers=("mcclelland1995why", "kim1992modality"),
    subjects=RATS,
)
def a_lesion_takes_nearly_all_at_one_day_and_little_at_twenty_eight(specimen: Any) -> Any:
    share = [
        s_c / (s_h + s_c)
        for s_h, s_c in (
            specimen.transfer(1.0, 0.0, t, *shipped(specimen)[:3]) for t in (1.0, 28.0)
        )
    ]
    return bool(share[0] <= 0.15 and share[1] >= 0.8)


# --- replay and schemas ---------------------------------------------------------------------------
@equation(
    "SX-2",
    source="by hand: S_h stays, S_c gains C / rho S_h per replay",
    papers=("mcclelland1995why",),
)
def a_replay_adds_the_papers_amount_of_one_reinstatement(specimen: Any) -> Any:
    return np.array(
        [specimen.reinstated(0.6, 0.1, times, 2.0, K, 0.0, D_H, C) for times in (1.0, 2.0, 5.0)]
    ).ravel(), [x for times in (1, 2, 5) for x in (0.6, 0.1 + times * C / 2.0 * 0.6)]


@limit(
    "SX-3",
    source="rho -> infinity: the paper's course, 1 + k c times as fast; solve_ivp",
    rtol=2e-3,
    papers=("mcclelland1995why",),
)
def dense_replay_at_the_rate_rho_is_spontaneous_reinstatement(specimen: Any) -> Any:
    measured, expected, rho = [], [], 2000.0
    for congruency, days in ((0.0, 20.0), (1.0, 1.5)):
        state = (1.0, 0.0)
        for _ in range(int(rho * days)):
            state = specimen.transfer(*state, 1.0 / rho, D_H, 0.0, D_C)
            state = specimen.reinstated(*state, 1.0, rho, K, congruency, D_H, C)
        faster = 1.0 + K * congruency
        measured += list(state)
        expected += solved(1.0, 0.0, days, faster * D_H, faster * C, D_C)
    return measured, expected


def shipped(specimen: Any) -> tuple[float, float, float, float]:
    """D_h, C, D_c (1 a day) and k of the plug-in as it ships, at the paper's time."""
    ours = plug_in(specimen)
    decay, gain, forgetting = (
        24.0 * ours.hours(name) for name in ("hippocampal_decay", "consolidation", "cortical_decay")
    )
    return decay, gain, forgetting, ours.params.acceleration


def dependence(specimen: Any, hours: float, k: float | None = None) -> float:
    """S_h / (S_h + S_c) of a memory that fits perfectly, transferred spontaneously by the rates
    that ship.

    k  None: the acceleration that ships
    """
    d_h, c, d_c, acceleration = shipped(specimen)
    ones, share = np.ones(1), np.ones(1)
    specimen.consolidate(
        hours / 24.0,
        0.0,
        True,
        False,
        d_h,
        c,
        d_c,
        1.0,
        acceleration if k is None else k,
        0.0 * ones,
        ones,
        0.0 * ones,
        ones.copy(),
        0.0 * ones,
        0.0 * ones,
        share,
        0.0 * ones,
    )
    return float(share[0])


def with_faster_c_alone(hours: float, k: float, rates: tuple[float, ...] = (D_H, C, D_C)) -> float:
    """The same with D_h unchanged: x = S_c / S_h follows dx/dt = (1 + k) C + (D_h - D_c) x."""
    d_h, c, d_c = rates
    return 1.0 / (1.0 + (1.0 + k) * c * math.expm1((d_h - d_c) * hours / 24.0) / (d_h - d_c))


@data(
    "CM-5.2",
    source=f"{TSE}: without hippocampus new pairs that fit are lost at 3 h, kept at 48 h; others are lost",
    figure="schema",
    papers=("tse2007schemas",),
    subjects=RATS,
)
def without_hippocampus_congruent_memories_are_lost_at_three_hours_and_kept_at_forty_eight(
    specimen: Any,
) -> Any:
    share = [
        1.0 - dependence(specimen, hours, k)
        for hours, k in ((3.0, None), (48.0, None), (48.0, 0.0))
    ]
    return bool(share[0] <= 0.5 and share[1] >= 0.9 and share[2] <= 0.5)


@data(
    "CM-5.3",
    source=f"{TSE}: dependence >= 0.75 at 3 h and <= 0.1 at 48 h, >= 0.8 at 48 h without schema; a time constant of 10.4 to 20.8 h",
    figure="schema",
    papers=("tse2007schemas",),
    subjects=RATS,
)
def a_schema_makes_transfer_ten_to_twenty_times_as_fast(specimen: Any) -> Any:
    d = [dependence(specimen, hours, k) for hours, k in ((3.0, None), (48.0, None), (48.0, 0.0))]
    tau = -48.0 / math.log(d[1])
    return bool(d[0] >= 0.75 and d[1] <= 0.1 and d[2] >= 0.8 and 10.4 <= tau <= 20.9)


@adaptation(
    "CM-5.3b",
    source=f"{TSE}: the same bounds for a C alone that is 1 + k times as fast, for every k",
    figure="schema",
    papers=("tse2007schemas",),
)
def a_faster_c_alone_meets_both_bounds_for_no_k(specimen: Any) -> Any:
    met = [
        k
        for k in np.linspace(0.0, 200.0, 401)
        if with_faster_c_alone(3.0, k) >= 0.75 and with_faster_c_alone(48.0, k) <= 0.1
    ]
    ours = [
        k
        for k in np.linspace(0.0, 40.0, 401)
        if dependence(specimen, 3.0, k) >= 0.75 and dependence(specimen, 48.0, k) <= 0.1
    ]
    return bool(not met and 10.0 < min(ours) < 12.0 and 21.0 < max(ours) < 24.0)


# --- slow learning --------------------------------------------------------------------------------
def train(
    specimen: Any,
    w: NDArray[Any],
    items: list[tuple[NDArray[Any], NDArray[Any]]],
    rounds: int,
    eps: float = 0.5,
) -> None:
    units = np.arange(len(w))
    for _ in range(rounds):
        for x, y in items:
            specimen.delta_rule(w, units, x, y, eps)


def error(w: NDArray[Any], items: list[tuple[NDArray[Any], NDArray[Any]]]) -> float:
    return float(np.mean([(y - x @ w) ** 2 for x, y in items]))


@equation("SX-4", source="numpy: W + eps (y - W x) x^T, dense", papers=("mcclelland1995why",))
def the_delta_rule_is_the_outer_product_of_error_and_input(specimen: Any) -> Any:
    rng = np.random.default_rng(1)
    w, x, y = rng.normal(size=(6, 4)), np.zeros(6), rng.normal(size=4)
    units = np.array([1, 4])
    x[units] = (0.5, -2.0)
    expected = w + 0.1 * np.outer(x, y - x @ w)
    specimen.delta_rule(w, units, x[units], y, 0.1)
    return w, expected


@functools.cache
def lists(seed: int) -> tuple[list[tuple[NDArray[Any], NDArray[Any]]], ...]:
    """Two lists of 10: shared cues, contexts of their own, 40 + 40 unit dimensions; targets of
    variance 1.
    """
    rng = np.random.default_rng(seed)

    def unit() -> NDArray[Any]:
        v = rng.normal(size=(10, 40))
        return np.asarray(v / np.linalg.norm(v, axis=1, keepdims=True))

    cues = unit()
    return tuple(
        [
            (x, y)
            for x, y in zip(
                np.hstack([cues, unit()]) / math.sqrt(2.0), rng.normal(size=(10, 8)), strict=True
            )
        ]
        for _ in range(2)
    )


@signature(
    "CM-3.3",
    source=f"{MMO}: AB-AC lists under the delta rule; blocked >= 0.3, interleaved <= 1e-3",
    figure="interference",
    papers=("mcclelland1995why",),
)
def blocked_learning_overwrites_and_interleaved_learning_does_not(specimen: Any) -> Any:
    for seed in range(3):
        ab, ac = lists(seed)
        blocked, turns = np.zeros((80, 8)), np.zeros((80, 8))
        train(specimen, blocked, ab, 150)
        start = error(blocked, ab)
        train(specimen, blocked, ac, 150)
        train(specimen, turns, [item for pair in zip(ab, ac, strict=True) for item in pair], 400)
        yield (
            [
                start < 1e-6,
                error(blocked, ab) >= 0.3,
                error(turns, ab) <= 1e-3 and error(turns, ac) <= 1e-3,
            ],
            True,
        )


@signature(
    "CM-3.4",
    source="McClelland 2013, in a linear learner; least squares for the map",
    papers=("mcclelland2013incorporating",),
)
def an_item_that_fits_the_learnt_map_is_predicted_at_once_and_another_harms_old_ones(
    specimen: Any,
) -> Any:
    rng = np.random.default_rng(4)
    true, inputs = rng.normal(size=(12, 5)), rng.normal(size=(6, 12)) / math.sqrt(12.0)
    old = [(x, x @ true) for x in inputs]
    w = np.zeros((12, 5))
    train(specimen, w, old, 4000, eps=0.3)
    x = rng.dirichlet(np.ones(6)) @ inputs
    fits, stray = (x, x @ true), (x, x @ true + np.full(5, 0.7))
    mapped = np.linalg.lstsq(inputs, inputs @ true, rcond=None)[0]
    known = [error(w, [fits]), error(w, old), float(np.abs(x @ w - x @ mapped).max())]
    before = error(w, [stray])
    train(specimen, w, [fits], 50)
    unharmed = error(w, old)
    train(specimen, w, [stray], 200)
    return bool(
        max(known) < 1e-6
        and unharmed < 1e-6
        and abs(before - 0.49) < 1e-3
        and error(w, [stray]) < 1e-6
        and error(w, old) > 1e-3
    )


# --- over nights ----------------------------------------------------------------------------------
@equation(
    "SX-5",
    source="solve_ivp of dS/dt with replays as jumps at the ends of nights; quad for the expected number",
    atol=1e-9,
)
def nights_with_and_without_replay_are_advanced_exactly(specimen: Any) -> Any:
    created, congruency = np.array([0.0, 0.4, 1.3, 0.0]), np.array([0.0, 0.5, 0.0, 1.0])
    n, rho, replays = (
        4,
        3.0,
        np.array([[0, 0, 0, 0], [0, 0, 0, 0], [2, 0, 1, 0], [0, 0, 0, 0], [0, 1, 9, 1]], np.int32),
    )
    s_h, s_c, transferred, share = np.ones(n), np.zeros(n), np.zeros(n), np.ones(n)
    measured, expected, spontaneous = [], [], True
    state, at = [(1.0, 0.0)] * n, created.copy()
    for night, r in enumerate(replays):
        now, amount = 2.0 + night, np.zeros(n)
        first = spontaneous and bool(r.any())
        before = now - 1.0 if night else 0.0
        specimen.consolidate(
            now,
            before,
            spontaneous,
            first,
            D_H,
            C,
            D_C,
            rho,
            K,
            created,
            congruency,
            r,
            s_h,
            s_c,
            transferred,
            share,
            amount,
        )
        for i in range(n):
            alone = spontaneous and not first
            faster = 1.0 + K * congruency[i] if alone else 1.0
            h, s = solved(*state[i], now - at[i], faster * D_H, faster * C if alone else 0.0, D_C)
            drawn = (
                rho
                * quad(
                    lambda u, i=i, f=faster: f * state[i][0] * math.exp(-f * D_H * (u - at[i])),
                    at[i],
                    now,
                )[0]
            )
            counted = min(float(r[i]), rho * (now - before))
            expected.append(drawn if alone else counted)
            if r[i]:
                h, s = solved(
                    h, s, counted / rho, K * congruency[i] * D_H, (1.0 + K * congruency[i]) * C, 0.0
                )
            state[i], at[i] = (h, s), now
            expected.append(h / (h + s))
        measured += [x for pair in zip(amount, share, strict=True) for x in pair]
        spontaneous = spontaneous and not r.any()
    return measured, expected


@limit(
    "SX-5b",
    source="C <= D_h: at any number of replays the sum of the traces does not grow from one night to the next",
)
def replay_never_increases_the_sum_of_the_traces(specimen: Any) -> Any:
    sums, ones = [1.0], np.ones(1)
    s_h, s_c, transferred = np.ones(1), np.zeros(1), np.zeros(1)
    for night in range(1, 61):
        specimen.consolidate(
            float(night),
            night - 1.0,
            False,
            False,
            D_H,
            C,
            D_C,
            4.0,
            K,
            0.0 * ones,
            0.0 * ones,
            np.array([100], np.int32),
            s_h,
            s_c,
            transferred,
            ones.copy(),
            ones.copy(),
        )
        sums.append(float(s_h[0] + s_c[0]))
    return at_most(np.diff(sums), 1e-12)


@equation("SX-6", source="ln of the sum of both traces from solve_ivp; the floor", atol=1e-9)
def log_recall_is_the_log_of_the_sum_of_traces(specimen: Any) -> Any:
    measured, expected = [], []
    created, transferred, congruency = (
        np.array([0.0, 3.0, 0.0, 5.0]),
        np.array([0.0, 1.0, 9.0, 0.0]),
        np.array([0.0, 1.0, 0.4, 0.0]),
    )
    s_h, s_c = np.array([1.0, 0.3, 0.001, 1.0]), np.array([0.0, 0.5, 0.02, 0.0])
    for c, k, now in ((C, K, 12.0), (0.0, 0.0, 12.0), (0.0, 0.0, 90.0), (0.0, 0.0, 1e5)):
        out = np.full(4, 9.0)
        specimen.log_recall(
            now, D_H, c, D_C, k, 0.01, created, transferred, congruency, s_h, s_c, out
        )
        measured += list(out)
        for i in range(4):
            f, t = 1.0 + k * congruency[i], now - created[i] - transferred[i]
            expected.append(
                math.log(max(sum(solved(s_h[i], s_c[i], min(t, 2e4), f * D_H, f * c, D_C)), 0.01))
            )
    # equal rates; a trace that does not decay
    for d_h, c, d_c, now in ((0.2, 0.3, 0.2, 13.0), (0.0, 0.0, 0.5, 1000.0)):
        out = np.full(4, 9.0)
        specimen.log_recall(
            now, d_h, c, d_c, 0.0, 0.01, created, transferred, congruency, s_h, s_c, out
        )
        measured += list(out)
        expected += [
            math.log(
                max(
                    flow(
                        np.array([s_h[i], s_c[i]]), now - created[i] - transferred[i], d_h, c, d_c
                    ).sum(),
                    0.01,
                )
            )
            for i in range(4)
        ]
    return measured, expected


@adaptation("SX-7", source="the mean of the members is the fixed point of the expected delta rule")
def interleaved_a_theme_learns_the_mean_of_its_memories_and_in_blocks_the_last_one(
    specimen: Any,
) -> Any:
    rng = np.random.default_rng(7)
    vectors = np.array([1.0, 0.0, 0.0, 0.0]) + 0.3 * rng.normal(size=(10, 4))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    turns, blocks, theme, again = (
        np.zeros((2, 4)),
        np.zeros((2, 4)),
        np.full(10, -1, np.int16),
        np.full(10, -1, np.int16),
    )
    in_use = specimen.lesson(np.full(10, 60.0), 0.01, vectors, 0.05, -1.0, 0, theme, turns)
    used = 0
    for i in range(10):
        alone = np.where(np.arange(10) == i, 60.0, 0.0)
        used = specimen.lesson(alone, 0.01, vectors, 0.05, -1.0, used, again, blocks)
    far = [float(np.linalg.norm(w[0] - vectors.mean(axis=0))) for w in (turns, blocks)]
    return bool(
        in_use == 1
        and (theme == 0).all()
        and far[0] < 0.1
        and far[1] > 2.0 * far[0]
        and np.linalg.norm(blocks[0] - vectors[-1]) < 0.05
    )


@equation("SX-8", source="(1 - eps)^amount of the distance is left, fractions included")
def a_lesson_closes_its_share_of_the_distance(specimen: Any) -> Any:
    measured, target = [], np.array([[0.0, 1.0]])
    for amount in (0.25, 1.0, 3.5):
        weights = np.array([[1.0, 0.0]])
        specimen.lesson(
            np.array([amount]), 0.01, target, 0.05, 0.5, 1, np.zeros(1, np.int16), weights
        )
        measured.append(weights[0, 0])
    return measured, [0.95**0.25, 0.95, 0.95**3.5]


@adaptation(
    "SX-9",
    source="brute force: cosine to the theme less the mean over cortical memories; silent for all others",
)
def cortical_memories_answer_by_their_theme(specimen: Any) -> Any:
    rng = np.random.default_rng(9)
    weights, cue = rng.normal(size=(5, 6)).astype(np.float32), rng.normal(size=6).astype(np.float32)
    # a theme without a direction
    weights[1] = 0.0
    theme, share = (
        np.array([0, 3, -1, 2, 1, 0], np.int16),
        np.array([0.1, 0.4, 0.2, 0.9, 0.5, 0.3], np.float32),
    )
    out = np.full(6, np.nan, np.float32)
    specimen.answer(cue, weights, 4, theme, share, 0.5, out)
    rows = [0, 1, 4, 5]
    cosine = np.array(
        [weights[theme[i]] @ cue / max(np.linalg.norm(weights[theme[i]]), 1e-30) for i in rows],
        float,
    )
    told = bool(np.isnan(out[[2, 3]]).all())
    return at_most(np.abs(out[rows] - (cosine - cosine.mean())), 1e-6 if told else -1.0)


@limit("SX-13", source="no trace at all: nothing depends on the hippocampus", atol=0.0)
def a_memory_without_traces_depends_on_nothing(specimen: Any) -> Any:
    none, share = np.zeros(1), np.ones(1)
    specimen.consolidate(
        2.0,
        1.0,
        False,
        False,
        D_H,
        C,
        D_C,
        4.0,
        K,
        none,
        none,
        np.zeros(1, np.int32),
        none.copy(),
        none.copy(),
        none.copy(),
        share,
        none.copy(),
    )
    return share[0], 0.0


@adaptation(
    "SX-14",
    source="turn by turn in numpy: the theme of highest cosine, kept later; a new one below `alike` while there is room",
    atol=1e-9,
)
def lessons_go_on_from_night_to_night(specimen: Any) -> Any:
    rng, measured, expected = np.random.default_rng(14), [], []
    for alike, room in ((0.3, 5), (0.9, 3), (0.0, 6)):
        vectors = (
            rng.normal(size=(9, 4)) if alike else np.vstack([np.eye(4), -np.eye(4), np.eye(4)[:1]])
        )
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        weights, theme, in_use, centres, mine = (
            np.zeros((room, 4)),
            np.full(9, -1, np.int16),
            0,
            list[NDArray[Any]](),
            [-1] * 9,
        )
        for stored in (4, 7, 9):
            amount = np.where(np.arange(9) < stored, rng.choice([0.0, 0.2, 0.25, 1.0, 2.5], 9), 0.0)
            left = amount.copy()
            in_use = specimen.lesson(amount, 0.25, vectors, 0.4, alike, in_use, theme, weights)
            while (left >= 0.25).any():
                for i in np.flatnonzero(left >= 0.25):
                    if mine[i] < 0:
                        cosine = [w @ vectors[i] / np.linalg.norm(w) for w in centres]
                        mine[i] = (
                            len(centres)
                            if len(centres) < room and max(cosine, default=-1.0) < alike
                            else int(np.argmax(cosine))
                        )
                        if mine[i] == len(centres):
                            centres.append(vectors[i].copy())
                    centres[mine[i]] += (1.0 - 0.6 ** min(left[i], 1.0)) * (
                        vectors[i] - centres[mine[i]]
                    )
                    left[i] -= 1.0
            measured += [in_use, *theme, *weights[:in_use].ravel()]
            expected += [len(centres), *mine, *np.ravel(centres)]
    return measured, expected


@adaptation(
    "SX-14b",
    source="closed form: two memories on either side of a theme shorten it to 0.69; the one after them has a cosine of 0.73 "
    "with it and of 0.55 with the other theme, and a product of 0.51 with it",
)
def the_nearest_theme_has_the_highest_cosine_after_each_turn(specimen: Any) -> Any:
    side, later = math.sqrt(0.75), math.sqrt(1.0 - 0.8**2 - 0.55**2)
    vectors = np.array(
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.5, 0.0, side], [0.5, 0.0, -side], [0.8, 0.55, later]]
    )
    theme = np.full(5, -1, np.int16)
    specimen.lesson(np.ones(5), 0.01, vectors, 0.4, 0.99, 0, theme, np.zeros((2, 3)))
    return theme, [0, 1, 0, 0, 0]


@adaptation(
    "SX-10", source="cosine to the nearest theme: below `alike` a new one, while there is room"
)
def themes_are_bounded_in_number(specimen: Any) -> Any:
    vectors, theme, weights = np.eye(6), np.full(6, -1, np.int16), np.zeros((4, 6))
    in_use = specimen.lesson(np.ones(6), 0.01, vectors, 0.05, 0.5, 0, theme, weights)
    return at_least([4 - in_use, theme.min(), 3 - theme.max(), 1 - abs(len({*theme[:4]}) - 4)], 0)


# --- in a memory ----------------------------------------------------------------------------------
# time h, text, congruency, direction of meaning
TOLD = (
    (0.0, "tea", 0.0, (1.0, 0.1, 0.0, 0.0)),
    (5.0, "rain", 0.5, (0.0, 1.0, 0.2, 0.0)),
    (7.0, "green tea", 0.0, (0.9, 0.0, 0.3, 0.1)),
    (23.88, "late", 0.0, (0.2, 0.2, 0.2, 1.0)),
    (23.95, "too late", 0.0, (0.3, 0.2, 0.2, 1.0)),  # 0.015 and 0.006 reinstatements
    (30.0, "refused", 0.3, (0.5, 0.5, 0.5, 0.5)),
    (31.0, "a storm", 1.0, (0.1, 0.8, 0.4, 0.1)),
    (55.0, "snow", 0.2, (0.0, 0.3, 1.0, 0.3)),
    (79.0, "black tea", 0.4, (1.0, 0.3, 0.1, 0.0)),
    (110.0, "ice", 0.0, (0.1, 0.1, 0.7, 0.9)),
)
# in the nights 1 to 6
REPLAYED = ([0] * 5, [0] * 6, [2, 0, 1, 0, 0, 0, 0], [0] * 8, [0, 1, 40, 1, 3, 0, 2, 0, 0], [1] * 9)


def flow(state: Any, days: float, d_h: float, c: float, d_c: float) -> Any:
    """Both traces after some days: scipy's matrix exponential of the equations."""
    return expm(np.array([[-d_h, 0.0], [c, -d_c]]) * days) @ state


def nights_in_memory(specimen: Any, d_h: float, c: float, d_c: float) -> tuple[Any, Any]:
    """Ten events, one of them refused, and six nights, the first two without replay.

    Both give, after each night, both traces, dependence, theme and ln of the strength of each
    memory, half a day later ln of the strength and the gist of a cue, and in the end the weights of
    the themes.
    """
    rho, k, least, eps, alike, most, room = 3.0, 6.0, 0.3, 0.07, 0.6, 0.55, 2
    vectors = {text: np.array(v) / np.linalg.norm(v) for _, text, _, v in TOLD}
    fit, cue = (
        {text: x for _, text, x, _ in TOLD},
        np.array([0.7, 0.5, 0.4, 0.2]) / np.linalg.norm([0.7, 0.5, 0.4, 0.2]),
    )

    def judge(view: Any, incoming: Any) -> None:
        view.congruency[view.row] = fit[incoming.event.text]

    def dream(view: Any, tick: Any) -> None:
        view.replays[...] = REPLAYED[round(tick.end / 24.0) - 1]

    memory = memory_of(
        specimen,
        "dense_similarity",
        refusing("refused"),
        neighbour(Phase.ENCODE, judge, reads=(ROW,), sets=(CONGRUENCY,), id="judge"),
        neighbour(Phase.CONSOLIDATE, dream, sets=(REPLAYS,), id="dreamer"),
        embedder=Scripted({**vectors, "a cup": cue}),
        hippocampal_decay=d_h,
        consolidation=c,
        cortical_decay=d_c,
        reinstatement=rho,
        acceleration=k,
        least=least,
        eps=eps,
        themes=room,
        alike=alike,
        dependence=most,
    )
    stored = [(t / 24.0, text, x) for t, text, x, _ in TOLD if text != "refused"]
    told, traces, at, theme = (
        list(TOLD),
        [np.array([1.0, 0.0])] * len(stored),
        [t for t, _, _ in stored],
        [-1] * len(stored),
    )
    centres: list[NDArray[Any]] = []
    share, known = [1.0] * len(stored), False
    measured: list[float] = []
    expected: list[float] = []

    def strengths(day: float) -> None:
        rows = [i for i, (t, _, _) in enumerate(stored) if t <= day]
        faster = [1.0 if known else 1.0 + k * stored[i][2] for i in rows]
        now = [
            flow(traces[i], day - at[i], f * d_h, 0.0 if known else f * c, d_c)
            for i, f in zip(rows, faster, strict=True)
        ]
        measured.extend(memory.column(LOG_STRENGTH))
        expected.extend(math.log(max(float(s.sum()), least)) for s in now)

    for night, replays in enumerate(REPLAYED, 1):
        while told and told[0][0] <= 24.0 * night:
            encode(memory, told.pop(0)[:2])
        memory.advance(24.0 * night)
        first, rows, left = not known and any(replays), range(len(replays)), []
        for i in rows:
            faster, last, count = (
                1.0 + k * stored[i][2],
                max(night - 1.0, stored[i][0]),
                min(replays[i], rho),
            )
            s, since = traces[i], at[i]
            if not known and first:
                s, since = flow(s, last - since, faster * d_h, faster * c, d_c), last
            if known or first:
                s = flow(s, night - since, d_h, 0.0, d_c)
                left.append(float(count))
                s = flow(s, count / rho, (faster - 1.0) * d_h, faster * c, 0.0)
            else:
                begun = flow(s, last - since, faster * d_h, faster * c, d_c)
                left.append(rho * begun[0] * -math.expm1(-faster * d_h * (night - last)) / d_h)
                s = flow(begun, night - last, faster * d_h, faster * c, d_c)
            if first or replays[i]:
                traces[i], at[i] = s, float(night)
            share[i] = s[0] / s.sum()
        known = known or first
        while any(amount >= 0.01 for amount in left):
            for i in rows:
                if left[i] >= 0.01:
                    v = vectors[stored[i][1]]
                    if theme[i] < 0:
                        cosines = [w @ v / np.linalg.norm(w) for w in centres]
                        if len(centres) < room and max(cosines, default=-1.0) < alike:
                            theme[i] = len(centres)
                            centres.append(v.copy())
                        else:
                            theme[i] = int(np.argmax(cosines))
                    centres[theme[i]] += (1.0 - (1.0 - eps) ** min(left[i], 1.0)) * (
                        v - centres[theme[i]]
                    )
                    left[i] -= 1.0
        names = (
            specimen.HIPPOCAMPAL_TRACE,
            specimen.CORTICAL_TRACE,
            HIPPOCAMPAL_DEPENDENCE,
            specimen.GIST_THEME,
        )
        measured += [float(x) for name in names for x in memory.column(name)]
        expected += [
            *(traces[i][0] for i in rows),
            *(traces[i][1] for i in rows),
            *(share[i] for i in rows),
            *(theme[i] for i in rows),
        ]
        memory.advance(24.0 * night + 5.5)
        strengths(night + 5.5 / 24.0)
        memory.retrieve("a cup", k=2)
        cortical = [i for i in rows if theme[i] >= 0 and share[i] <= most]
        cosine = {i: centres[theme[i]] @ cue / np.linalg.norm(centres[theme[i]]) for i in cortical}
        measured += np.nan_to_num(memory.column(specimen.GIST), nan=-9.0).tolist()
        expected += [cosine[i] - np.mean([*cosine.values()]) if i in cosine else -9.0 for i in rows]
    return [*measured, *memory.column(specimen.GIST_WEIGHTS).ravel()], [
        *expected,
        *np.ravel(centres),
    ]


@equation(
    "SX-11",
    source=f"{MMO}: matrix exponentials of both traces, replays as jumps, the delta rule turn by turn; float32 columns",
    atol=1e-6,
    papers=("mcclelland1995why",),
)
def a_memory_is_transferred_night_by_night(specimen: Any) -> Any:
    return nights_in_memory(specimen, 0.4, 0.35, 0.05)


@limit("SX-12", source=f"{MMO}: as SX-11 with D_h = D_c", atol=1e-6, papers=("mcclelland1995why",))
def equal_rates_are_transferred_night_by_night(specimen: Any) -> Any:
    return nights_in_memory(specimen, 0.3, 0.2, 0.3)


# --- figures --------------------------------------------------------------------------------------
@figure(
    "traces",
    caption="The hippocampal trace fades as the cortical one grows, so a lesion impairs recent memories most, although remote ones "
    "are weaker",
    source=f"{MMO}; D_h = 0.1, C = 0.1, D_c = 0.01 a day",
)
def traces_over_days(specimen: Any) -> Picture:
    days, peak = np.linspace(0.0, 120.0, 121), math.log(10.0) / 0.09
    s = np.array([specimen.transfer(1.0, 0.0, float(t), 0.1, 0.1, 0.01) for t in days])
    top = solved(1.0, 0.0, peak, 0.1, 0.1, 0.01)[1]
    return Picture(
        "age of the memory at the lesion, days",
        "trace",
        (
            Curve("intact: both", days, s.sum(axis=1)),
            Curve("hippocampal", days, s[:, 0]),
            Curve("lesioned: cortical alone", days, s[:, 1]),
            dots("peak, ln(D_h / D_c) / (D_h - D_c)", [peak], [top]),
        ),
    )


@figure(
    "schema",
    caption="With a schema the share left without hippocampus meets both bounds from the lesions at 3 h and 48 h; a faster C alone "
    "meets one",
    source=f"{TSE}, as bounds: at most 1/4 at 3 h, at least 0.9 at 48 h; without schema at most 1/5",
)
def share_without_hippocampus(specimen: Any) -> Picture:
    hours = np.linspace(0.0, 72.0, 73)
    return Picture(
        "lesion, h after learning",
        "share without hippocampus",
        (
            Curve("schema", hours, np.array([1.0 - dependence(specimen, float(h)) for h in hours])),
            Curve(
                "no schema",
                hours,
                np.array([1.0 - dependence(specimen, float(h), 0.0) for h in hours]),
            ),
            Curve(
                "C alone 16 times as fast",
                hours,
                np.array([1.0 - with_faster_c_alone(float(h), K) for h in hours]),
            ),
            dots("bounds after Tse et al.", [3.0, 48.0], [0.25, 0.9]),
        ),
    )


@figure(
    "interference",
    caption="A second list learnt in a block overwrites the first; one interleaved with it does not",
    source=f"{MMO}, AB-AC lists under the delta rule",
)
def error_over_rounds(specimen: Any) -> Picture:
    ab, ac = lists(0)
    blocked, turns, both = (
        np.zeros((80, 8)),
        np.zeros((80, 8)),
        [item for pair in zip(ab, ac, strict=True) for item in pair],
    )
    rounds, course = np.arange(0, 161, 4), [(1.0, 1.0)]
    start = error(turns, ab)
    for r in rounds[1:]:
        train(specimen, blocked, ab if r <= 80 else ac, 4)
        train(specimen, turns, both, 4)
        course.append((error(blocked, ab) / start, error(turns, ab) / start))
    return Picture(
        "rounds; blocked: the second list from round 80 on",
        "error on the first list, share",
        tuple(
            Curve(label, rounds, np.array(course)[:, k])
            for k, label in enumerate(("blocked", "interleaved"))
        ),
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("a single dependency without a cortical trace", rejected_by="CM-3.1b")
def no_cortex(specimen: Any) -> Any:
    return specimen.replacing(
        "transfer",
        lambda s_h, s_c, t, d_h, c, d_c: (s_h * math.exp(-d_h * t), 1.0 - s_h * math.exp(-d_h * t)),
    )


@mutant("a cortical trace that does not decay", rejected_by="CM-3.1")
def immortal(specimen: Any) -> Any:
    return specimen.replacing(
        "grown", lambda d_h, d_c, t: -math.expm1(-d_h * t) / d_h if d_h else t
    )


@mutant("the closed form without its limit", rejected_by="CM-3.1c")
def divided(specimen: Any) -> Any:
    return specimen.replacing(
        "grown",
        lambda d_h, d_c, t: (
            (math.exp(-d_c * t) - math.exp(-d_h * t)) / (d_h - d_c) if d_h != d_c else math.nan
        ),
    )


@mutant("replay that adds C / rho without the factor S_h", rejected_by="SX-2")
def all_at_once(specimen: Any) -> Any:
    return specimen.replacing(
        "reinstated",
        lambda s_h, s_c, times, rho, k, congruency, d_h, c: (s_h, s_c + times * c / rho),
    )


def with_share(specimen: Any, share: Callable[[float, float], float]) -> Any:
    """The specimen with another share of dependence, of days and acceleration."""

    def consolidate(
        now: float,
        before: float,
        spontaneous: bool,
        first: bool,
        d_h: float,
        c: float,
        d_c: float,
        rho: float,
        k: float,
        *rest: Any,
    ) -> None:
        rest[-2][:] = share(now, k)

    return specimen.replacing("consolidate", consolidate)


@rival("a constant share of dependence", rejected_by="CM-5.2")
def constant_share(specimen: Any) -> Any:
    return with_share(specimen, lambda days, k: 0.5)


@rival("a C alone that is faster, at the least k that is fast enough", rejected_by="CM-5.3")
def faster_c_alone(specimen: Any) -> Any:
    enough = next(k for k in np.linspace(0.0, 200.0, 2001) if with_faster_c_alone(48.0, k) <= 0.1)
    return with_share(
        specimen, lambda days, k: with_faster_c_alone(24.0 * days, enough if k else 0.0)
    )


@mutant("a tenth of the hippocampal decay ships", rejected_by="CM-5.3")
def slow_decay(specimen: Any) -> Any:
    return with_numbers(specimen, hippocampal_decay=0.01)


@mutant("transfer two and a half times as fast with a schema", rejected_by="CM-5.3")
def printed_factor(specimen: Any) -> Any:
    original = specimen.consolidate

    def consolidate(
        now: float,
        before: float,
        spontaneous: bool,
        first: bool,
        d_h: float,
        c: float,
        d_c: float,
        rho: float,
        k: float,
        *rest: Any,
    ) -> None:
        original(now, before, spontaneous, first, d_h, c, d_c, rho, min(k, 1.5), *rest)

    return specimen.replacing("consolidate", consolidate)


@mutant("a cortex trained on its memories in blocks", rejected_by="SX-7")
def in_blocks(specimen: Any) -> Any:
    original = specimen.lesson

    def lesson(
        amount: Any,
        least: float,
        vectors: Any,
        eps: float,
        alike: float,
        in_use: int,
        theme: Any,
        weights: Any,
    ) -> int:
        for i in range(len(amount)):
            in_use = original(
                np.where(np.arange(len(amount)) == i, amount, 0.0),
                least,
                vectors,
                eps,
                alike,
                in_use,
                theme,
                weights,
            )
        return in_use

    return specimen.replacing("lesson", lesson)


@mutant("the nearest theme is that of the largest product", rejected_by="SX-14b")
def by_product(specimen: Any) -> Any:
    return specimen.replacing(
        "nearest",
        lambda vector, weights, lengths, *rest: specimen.nearest(
            vector, weights, np.ones_like(lengths), *rest
        ),
    )


@mutant("Hebbian learning without an error", rejected_by="CM-3.3")
def hebbian(specimen: Any) -> Any:
    def delta_rule(weights: Any, units: Any, x: Any, y: Any, eps: float) -> None:
        weights[units] += eps * np.outer(x, y)

    return specimen.replacing("delta_rule", delta_rule)


@mutant("recall by the stronger trace alone", rejected_by="SX-6")
def stronger(specimen: Any) -> Any:
    def recalled(
        now: float,
        d_h: float,
        c: float,
        d_c: float,
        k: float,
        created: Any,
        transferred: Any,
        congruency: Any,
        s_h: Any,
        s_c: Any,
        out: Any,
    ) -> None:
        out[:] = np.maximum(s_h * out, s_c)

    return specimen.replacing("recalled", recalled)


@mutant("rates a day taken as rates an hour", rejected_by="SX-11")
def per_hour(specimen: Any) -> Any:
    def rates(self: Any) -> tuple[float, float, float]:
        p = self.params
        return p.hippocampal_decay, p.consolidation, p.cortical_decay

    return specimen.overriding("SystemsTransfer", rates=property(rates))


@mutant("the rates of both traces exchanged in recall", rejected_by="SX-11")
def exchanged(specimen: Any) -> Any:
    original = specimen.log_recall
    return specimen.replacing(
        "log_recall", lambda now, d_h, c, d_c, *rest: original(now, d_c, c, d_h, *rest)
    )
