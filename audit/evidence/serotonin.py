"""Evidence for serotonin.  References are closed forms, differences of rewards along a cycle,
and scipy; none calls a kernel it judges.
"""

from __future__ import annotations

import functools
import math
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from scipy.stats import entropy

from ...engine.contract.records import Event
from ...engine.contract.vocabulary import HORIZON
from ...engine.memory.engine import Engine
from ...engine.ports.embedder import HashingEmbedder
from ..checks import adaptation, equation, limit, mutant, signature
from ..figures import Curve, Picture, dots, figure
from ..memory import encode, memory_of
from .shared.scripts import refusing

Vector = NDArray[np.float64]
DAW, DOYA = "Daw, Kakade & Dayan 2002", "Doya 2002"
TURN = 0.5 ** (1.0 / 8.0)  # 2 gamma^10 = gamma^2


# --- protocols, run on the specimen ---------------------------------------------------------------
def cycle(
    specimen: Any, rewards: Vector, steps: int, kappa: float, alpha: float
) -> tuple[float, Vector, Vector]:
    """rbar, V and the last hundred errors after `steps` steps around a cycle of states; leaving
    state i yields rewards[i].
    """
    error, learn, predict, averaged = (
        specimen.error,
        specimen.learn,
        specimen.prediction,
        specimen.averaged,
    )
    n = len(rewards)
    states, v, average, errors = [np.array([s]) for s in range(n)], np.zeros(n), 0.0, np.zeros(100)
    for i in range(steps):
        here, after, r = states[i % n], states[(i + 1) % n], float(rewards[i % n])
        delta = error(r, average, predict(v, here), predict(v, after))
        learn(v, here, alpha, delta)
        average = averaged(average, r, kappa)
        errors[i % 100] = delta
    return average, v, errors


# --- Doya -----------------------------------------------------------------------------------------
@equation(
    "5HT-1",
    source=f"{DOYA}, discount; closed forms sum of gamma^t, and ln(1/2) / ln(gamma)",
    rtol=1e-4,
    papers=("doya2002metalearning",),
)
def horizon_and_half_life_follow_from_the_discount(specimen: Any) -> Any:
    gammas = (0.6, 0.9, 0.99)
    return [[specimen.horizon(g) for g in gammas], [specimen.half_life(g) for g in gammas]], [
        [2.5, 10.0, 100.0],
        [1.3569, 6.5788, 68.9676],
    ]


@equation(
    "5HT-1b",
    source=f"{DOYA}: gamma^t is 1/2 at the half-life; the horizon is the sum of gamma^t, by addition",
    papers=("doya2002metalearning",),
)
def horizon_and_half_life_agree_with_the_discounts(specimen: Any) -> Any:
    gammas = (0.6, 0.9, 0.99)
    halves = [float(specimen.discounted(1.0, specimen.half_life(g), g)) for g in gammas]
    sums = [
        float(np.sum(specimen.discounted(np.ones(4000), np.arange(4000.0), g)))
        / specimen.horizon(g)
        for g in gammas
    ]
    return [halves, sums], [[0.5] * 3, [1.0] * 3]


@signature(
    "5HT-2",
    source=f"{DOYA}: 2 after 10 steps rather than 1 after 2, if gamma > (1/2)^(1/8) = 0.9170040",
    figure="delay_horizon",
    papers=("doya2002metalearning",),
)
def a_longer_horizon_prefers_the_later_larger_reward(specimen: Any) -> Any:
    gammas = (0.5, 0.91, TURN - 1e-6, TURN + 1e-6, 0.92, 0.99)
    worth = [specimen.discounted(np.array([2.0, 1.0]), np.array([10.0, 2.0]), g) for g in gammas]
    return [int(later > sooner) for later, sooner in worth], [0, 0, 0, 1, 1, 1]


@equation(
    "DOYA-1",
    source=f"{DOYA}, action selection; scipy's softmax, and its closed values",
    atol=1e-7,
    papers=("doya2002metalearning",),
)
def actions_are_chosen_by_the_softmax_of_their_values(specimen: Any) -> Any:
    q, many = np.array([1.0, 0.0]), np.random.default_rng(0).standard_normal(7)
    chosen = [specimen.choice(q, beta)[0] for beta in (0.0, 1.0, 3.0, 5.0)]
    return [*chosen, *specimen.choice(many, 2.5)], [
        0.5,
        0.7310586,
        0.9525741,
        0.9933071,
        *softmax(2.5 * many),
    ]


@limit(
    "DOYA-1b",
    source="the softmax does not change if a constant is added to all values: scipy's, at values of a thousand",
    papers=("doya2002metalearning",),
)
def the_softmax_does_not_overflow(specimen: Any) -> Any:
    q = np.array([1000.0, 999.5, 0.0])
    return specimen.choice(q, 3.0), softmax(3.0 * (q - 1000.0))


@signature(
    "DOYA-2",
    source=f"{DOYA}: beta controls exploration, gamma does not; scipy's entropy",
    papers=("doya2002metalearning",),
)
def exploration_depends_on_the_inverse_temperature_and_not_on_the_discount(specimen: Any) -> Any:
    def spread(beta: float, gamma: float) -> float:
        return float(
            entropy(
                specimen.choice(specimen.discounted(np.array([1.0, 0.0]), np.zeros(2), gamma), beta)
            )
        )

    by_beta = [spread(beta, 0.9) for beta in (0.0, 1.0, 3.0, 5.0)]
    by_gamma = [spread(1.0, gamma) for gamma in (0.5, 0.9, 0.99)]
    return bool(
        np.all(np.diff(by_beta) < -0.05)
        and math.isclose(by_beta[0], math.log(2.0))
        and len(set(by_gamma)) == 1
    )


# --- Daw, Kakade & Dayan --------------------------------------------------------------------------
@equation("5HT-3", source=f"{DAW}: constant reward", atol=1e-6, papers=("daw2002opponent",))
def constant_reward_becomes_the_average_and_its_error_vanishes(specimen: Any) -> Any:
    average, _, errors = cycle(specimen, np.ones(1), 2000, 0.01, 0.1)
    return [average, np.abs(errors).max()], [1.0, 0.0]


@equation(
    "5HT-3b",
    source="closed form of an exponential average: sum of kappa (1 - kappa)^(n - 1 - i) r_i",
    figure="tonic_and_phasic",
    papers=("daw2002opponent",),
)
def the_average_is_exponential(specimen: Any) -> Any:
    r = np.random.default_rng(2).standard_normal(60)
    seen = functools.reduce(lambda average, x: specimen.averaged(average, x, 0.05), r.tolist(), 0.0)
    return seen, float(0.05 * 0.95 ** np.arange(59, -1, -1) @ r)


@equation(
    "5HT-4",
    source=f"{DAW}: two alternating states with rewards 1 and 0",
    atol=0.02,
    papers=("daw2002opponent",),
)
def two_alternating_states_learn_the_average_and_their_difference(specimen: Any) -> Any:
    average, v, _ = cycle(specimen, np.array([1.0, 0.0]), 200_000, 1e-3, 0.01)
    return [average, v[0] - v[1]], [0.5, 0.5]


@equation(
    "5HT-4b",
    source=f"{DAW}; at the fixed point V(s) - V(s') = r - mean(r) along a cycle",
    atol=0.02,
    papers=("daw2002opponent",),
)
def values_along_a_cycle_differ_by_reward_minus_its_average(specimen: Any) -> Any:
    r = np.array([0.9, -0.6, 0.3, 0.0, -0.35])
    average, v, _ = cycle(specimen, r, 60_000, 1e-3, 0.05)
    return [average, *(v - np.roll(v, -1))], [r.mean(), *(r - r.mean())]


@signature(
    "5HT-5",
    source=f"{DAW}: opponency of the phasic signals before rectification",
    figure="tonic_and_phasic",
    papers=("daw2002opponent",),
)
def phasic_serotonin_mirrors_phasic_dopamine(specimen: Any) -> Any:
    rng = np.random.default_rng(3)
    dopamine = np.array([specimen.error(*rng.standard_normal(4).tolist()) for _ in range(500)])
    return float(np.corrcoef(dopamine, [specimen.phasic(d) for d in dopamine])[0, 1]), -1.0


@equation(
    "5HT-6",
    source=f"{DAW}: tonic serotonin is the average reward, phasic serotonin the negative error, rectified",
    papers=("daw2002opponent",),
)
def the_level_is_the_average_plus_the_rectified_negative_error(specimen: Any) -> Any:
    return [specimen.level(0.3, d, 0.5) for d in (-1.0, -0.2, 0.0, 0.2, 1.0)], [
        0.8,
        0.4,
        0.3,
        0.3,
        0.3,
    ]


@limit(
    "5HT-L1",
    source="gamma = 0: the present step only; kappa = 0: a constant average; kappa = 1: the last reward",
)
def limits_of_discount_and_average(specimen: Any) -> Any:
    return [
        specimen.horizon(0.0),
        specimen.averaged(0.25, 9.0, 0.0),
        specimen.averaged(0.25, 9.0, 1.0),
    ], [1.0, 0.25, 9.0]


@limit("5HT-L2", source="level 0 or gain 0: factor 1; level 1 at gain ln 2: factor 2")
def without_reward_or_gain_the_horizon_is_unchanged(specimen: Any) -> Any:
    return [
        specimen.stretched(0.0, 1.0),
        specimen.stretched(0.7, 0.0),
        specimen.stretched(1.0, math.log(2.0)),
    ], [1.0, 1.0, 2.0]


# --- the adaptation -------------------------------------------------------------------------------
def horizons(specimen: Any, texts: tuple[str, ...], phasic_share: float = 0.0) -> Vector:
    """HORIZON after each event."""
    params = specimen.SerotoninParams(
        time_scale=1.0,
        kappa=0.1,
        alpha=0.1,
        phasic_share=phasic_share,
        horizon_gain=1.0,
        cues=4096,
        most_cues=16,
    )
    engine, seen = Engine([specimen.Serotonin("serotonin", params)], HashingEmbedder(64)), []
    for i, text in enumerate(texts):
        engine.encode(Event(i / 60.0, text))
        seen.append(float(engine.store.persistent()["horizon"]))
    return np.array(seen)


@adaptation(
    "5HT-7a",
    source="ours: exp(gain rbar) with one rewarding word an event, r = 1/2",
    needs="engine",
)
def reward_lengthens_the_horizon_and_punishment_shortens_it(specimen: Any) -> Any:
    level = 0.5 * (1.0 - 0.9 ** np.arange(1.0, 21.0))
    return [
        horizons(specimen, ("a wonderful day",) * 20),
        horizons(specimen, ("a horrible day",) * 20),
    ], [np.exp(level), np.exp(-level)]


@adaptation("5HT-7b", source="ours: without good or bad words the factor is 1", needs="engine")
def neutral_events_leave_the_horizon_unchanged(specimen: Any) -> Any:
    return horizons(specimen, ("Ada took the bus", "it was raining", "Bo came at noon"), 1.0), 1.0


@adaptation(
    "5HT-7c",
    source="ours: a punished event after rewarded ones gives a burst of phasic serotonin",
    needs="engine",
)
def a_punished_event_after_rewarded_ones_gives_a_burst(specimen: Any) -> Any:
    texts = ("a wonderful day",) * 10 + ("a horrible day",)
    return bool(horizons(specimen, texts, 1.0)[-1] > 1.5 * horizons(specimen, texts, 0.0)[-1])


# --- in a memory ----------------------------------------------------------------------------------
# Text, its names, its reward by count of good and bad words p / (1 + p) - n / (1 + n), and whether
# it is stored.
STORY = (
    ("Then Ada met Bo.", ("ada", "bo"), 0.0, True),
    ("Then Cleo felt great joy and love.", ("cleo",), 0.75, True),
    ("It was horrible and sad, but fun.", (), 0.5 - 2.0 / 3.0, True),
    ("Then Ada, Fay, Cleo and Gus went home.", ("ada", "fay", "cleo", "gus"), 0.0, True),
    ("Then Fay was happy, off the record.", ("fay",), 0.5, False),
    ("Then Dora met Bo. Then Ada met Cleo.", ("dora", "bo", "ada", "cleo"), 0.0, True),
    ("Then Bo lost a boat.", ("bo",), -0.5, True),
    ("Then Fay laughed, excited.", ("fay",), 0.5, True),
)
KAPPA, ALPHA, SHARE, GAIN, CELLS, MOST = 0.2, 0.6, 0.7, 1.3, 7, 3


def in_cells(names: tuple[str, ...]) -> list[int]:
    """Each cell once; Fay is in cell 0, Bo and Dora share one."""
    return list(dict.fromkeys(crc32(name.encode()) % CELLS for name in names))[:MOST]


def average_reward_learning(rounds: int) -> Vector:
    """rbar, V, the cues present and the factor on the horizon after every event: the rule over
    plain lists.
    """
    v, present, average, rows = [0.0] * CELLS, list[int](), 0.0, []
    for _, names, r, _ in STORY * rounds:
        now = in_cells(names)
        delta = r - average + sum(v[j] for j in now) - sum(v[j] for j in present)
        for j in present:
            v[j] += min(ALPHA, 1.0 / len(present)) * delta
        present, average = now, (1.0 - KAPPA) * average + KAPPA * r
        rows.append(
            [
                average,
                *v,
                *present,
                *[-1.0] * (MOST - len(present)),
                math.exp(GAIN * (average + SHARE * max(0.0, -delta))),
            ]
        )
    return np.array(rows)


@equation(
    "5HT-8",
    source=f"{DAW}: rbar, V and the error over plain lists, event by event, stored or not; the factor on the horizon is ours",
    papers=("daw2002opponent",),
)
def a_memory_learns_average_and_values_of_its_events(specimen: Any) -> Any:
    memory, measured = (
        memory_of(
            specimen,
            refusing("record"),
            kappa=KAPPA,
            alpha=ALPHA,
            phasic_share=SHARE,
            horizon_gain=GAIN,
            cues=CELLS,
            most_cues=MOST,
        ),
        [],
    )
    for i, (text, _, _, stored) in enumerate(STORY * 3):
        (row,) = encode(memory, (i / 60.0, text))
        assert (row is not None) == stored
        columns = (
            specimen.AVERAGE_REWARD,
            specimen.RELATIVE_VALUE,
            specimen.STANDING_CUES,
            HORIZON,
        )
        measured.append(np.hstack([memory.column(c).ravel() for c in columns]))
    return np.array(measured), average_reward_learning(3)


@equation(
    "5HT-8b",
    source=f"{DAW}: the value of a state is the sum over its cues",
    papers=("daw2002opponent",),
)
def values_of_cues_add_up(specimen: Any) -> Any:
    v = np.array([0.3, 0.4, 9.0, -0.2])
    return [specimen.prediction(v, np.array(cues)) for cues in ([0, 1, -1], [-1, -1], [3, 0])], [
        0.7,
        0.0,
        0.1,
    ]


# --- figures --------------------------------------------------------------------------------------
@figure(
    "delay_horizon",
    caption="Discounted value of a reward of 1 after two steps and of 2 after ten, over the discount: above 0.917 the later, "
    "larger reward has the higher value",
    source=f"{DOYA}; they cross at (1/2)^(1/8)",
)
def worth_of_a_sooner_and_a_later_reward(specimen: Any) -> Picture:
    gammas = np.linspace(0.6, 1.0, 81)
    worth = np.array(
        [specimen.discounted(np.array([1.0, 2.0]), np.array([2.0, 10.0]), float(g)) for g in gammas]
    )
    return Picture(
        "discount per step",
        "discounted value",
        (
            Curve("1 after 2 steps", gammas, worth[:, 0]),
            Curve("2 after 10 steps", gammas, worth[:, 1]),
            dots("crossing, closed form", [TURN], [TURN**2]),
        ),
    )


@figure(
    "tonic_and_phasic",
    caption="Reward for a hundred steps, then none: tonic serotonin follows the average reward; phasic serotonin is the "
    "negative dopamine error, with a burst when the reward stops",
    source=f"{DAW}; exponential average in closed form",
)
def serotonin_as_reward_comes_and_goes(specimen: Any) -> Picture:
    steps, kappa, average, tonic, phasic = np.arange(200), 0.02, 0.0, [], []
    for i in steps:
        r = float(i < 100)
        delta = specimen.error(r, average, 0.0, 0.0)
        phasic.append(specimen.phasic(delta))
        average = specimen.averaged(average, r, kappa)
        tonic.append(average)
    marks = np.array([0, 24, 49, 99, 124, 149, 199])
    closed = np.where(
        marks < 100, 1.0 - 0.98 ** (marks + 1.0), (1.0 - 0.98**100) * 0.98 ** (marks - 99.0)
    )
    return Picture(
        "step",
        "reward",
        (
            Curve("tonic serotonin", steps, tonic),
            Curve("phasic serotonin", steps, phasic),
            dots("closed form, tonic", marks, closed),
        ),
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("an error without the average reward", rejected_by="5HT-3")
def no_average(specimen: Any) -> Any:
    return specimen.replacing("error", lambda r, average, v, v_next: r + v_next - v)


@mutant(
    "the value of the present event is learnt, not that of the one before it", rejected_by="5HT-8"
)
def too_early(specimen: Any) -> Any:
    def experience(self: Any, view: Any, incoming: Any) -> None:
        view.standing_cues[...] = specimen.cells(
            incoming.features.entities, self.params.cues, self.params.most_cues
        )
        specimen.Serotonin.experience(self, view, incoming)

    return specimen.overriding("Serotonin", experience=experience)


@mutant("a sum in place of the average", rejected_by="5HT-3b")
def summed(specimen: Any) -> Any:
    return specimen.replacing("averaged", lambda average, r, kappa: average + kappa * r)


@mutant("values that are not learnt", rejected_by="5HT-4")
def unlearnt(specimen: Any) -> Any:
    return specimen.replacing("learn", lambda value, cues, alpha, delta: None)


@mutant("an error without the value of the next state", rejected_by="5HT-4b")
def no_future(specimen: Any) -> Any:
    return specimen.replacing("error", lambda r, average, v, v_next: r - average - v)


@mutant("phasic serotonin equal to phasic dopamine", rejected_by="5HT-5")
def no_opponent(specimen: Any) -> Any:
    return specimen.replacing("phasic", lambda delta: delta)


@mutant("a burst that is not rectified", rejected_by="5HT-6")
def unrectified(specimen: Any) -> Any:
    return specimen.replacing("level", lambda average, delta, share: average - share * delta)


@mutant("a horizon without the present step", rejected_by="5HT-1")
def future_alone(specimen: Any) -> Any:
    return specimen.replacing("horizon", lambda gamma: gamma / (1.0 - gamma))


@mutant("hyperbolic discount", rejected_by="5HT-2")
def hyperbolic(specimen: Any) -> Any:
    return specimen.replacing(
        "discounted", lambda reward, delay, gamma: reward / (1.0 + (1.0 - gamma) * delay)
    )


@mutant("the discount also scales values, so it changes exploration", rejected_by="DOYA-2")
def explores(specimen: Any) -> Any:
    return specimen.replacing(
        "discounted", lambda reward, delay, gamma: reward * gamma**delay / (1.0 - gamma)
    )


@mutant("temperature in place of its inverse", rejected_by="DOYA-1")
def temperature(specimen: Any) -> Any:
    return specimen.replacing("choice", lambda q, beta: softmax(q / max(beta, 1e-9)))


@mutant("names are cut before repeated cells are left out", rejected_by="5HT-8")
def cut_first(specimen: Any) -> Any:
    original = specimen.cells
    return specimen.replacing(
        "cells", lambda names, size, most: original(list(names)[:most], size, most)
    )
