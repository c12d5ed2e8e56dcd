"""Evidence for acetylcholine.  References are closed forms, scipy's quadrature and the joint
model in numpy; none calls a kernel it judges.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import quad

from ...engine.contract.columns import Facet, Phase
from ...engine.contract.hooks import Incoming, Mechanism, Params, hook
from ...engine.contract.vocabulary import (
    CONTEXT_KEPT,
    INITIAL_STRENGTH,
    LEARNING_RATE,
    LOG_FACETS,
    VETO,
)
from ...engine.memory.engine import Engine
from ..checks import adaptation, at_least, equation, limit, mutant, signature
from ..figures import Curve, Marks, Picture, dots, figure
from ..memory import encode, memory_of, neighbour, numbers_of
from .norepinephrine import Given, Trial, events, joint_model, means_after, rejecting, topics
from .shared.topic_fit import posterior_means, ties

Vector = NDArray[np.float64]
YD, HBW = "Yu & Dayan 2005", "Hasselmo, Bodelon & Wyble 2002"
PI = math.pi
STEPS = 64


# --- theta rhythm of encoding and recall ----------------------------------------------------------
def cycle(
    specimen: Any,
    ec: Any,
    ca3: Any,
    weights: Any,
    x: float,
    phases: tuple[float, float, float],
    steps: int = STEPS,
) -> Vector:
    """Delta W of the specimen over one cycle; `phases` are those of EC, CA3 and LTP."""
    ec, ca3, weights = (np.asarray(a, dtype=np.float64) for a in (ec, ca3, weights))
    out = np.full(weights.shape, np.nan)
    specimen.learn_cycle(ec, ca3, weights, x, *phases, steps, out)
    return out


@equation(
    "ACH-1a",
    source="closed form: integral of theta_LTP theta is (pi X / 2) cos(phi_LTP - phi)",
    figure="theta_cycle",
    papers=("hasselmo2002proposed",),
)
def a_cycle_learns_by_the_cosine_of_the_phase_difference(specimen: Any) -> Any:
    cases = [(x, p, ltp) for x in (0.3, 1.0) for p in (0.0, 1.0, PI) for ltp in (0.0, 2.5)]
    outside = [
        cycle(specimen, [1.0], [1.0], [[0.0]], x, (p, 0.4, ltp))[0, 0] for x, p, ltp in cases
    ]
    within = [cycle(specimen, [0.0], [1.0], [[1.0]], x, (0.4, p, ltp))[0, 0] for x, p, ltp in cases]
    return outside + within, 2 * [PI * x / 2 * math.cos(ltp - p) for x, p, ltp in cases]


@equation(
    "ACH-1b",
    source="closed form at X = 1: pi / 2 in phase, -pi / 2 in antiphase",
    atol=1e-7,
    papers=("hasselmo2002proposed",),
)
def weights_rise_in_phase_and_fall_in_antiphase(specimen: Any) -> Any:
    return [cycle(specimen, [1.0], [1.0], [[0.0]], 1.0, (p, 0.0, 0.0))[0, 0] for p in (0.0, PI)], [
        1.5707963,
        -1.5707963,
    ]


@equation(
    "ACH-1c",
    source=f"{HBW}, change of weights over a cycle; scipy.integrate.quad of the printed integrand",
    atol=1e-9,
    papers=("hasselmo2002proposed",),
)
def the_change_of_weights_is_the_integral_of_the_paper(specimen: Any) -> Any:
    rng = np.random.default_rng(0)
    ec, ca3, w = rng.random(3), rng.random(4), rng.random((3, 4))
    x, phases = 0.7, (0.3, 2.4, -0.6)

    def integrand(t: float, i: int, j: int) -> float:
        from_ec, from_ca3 = ((x / 2) * math.sin(t + p) + (1 - x / 2) for p in phases[:2])
        return float(math.sin(t + phases[2]) * (from_ec * ec[i] + from_ca3 * (w[i] @ ca3)) * ca3[j])

    expected = [[quad(integrand, 0.0, 2 * PI, args=(i, j))[0] for j in range(4)] for i in range(3)]
    return cycle(specimen, ec, ca3, w, x, phases), expected


@equation(
    "ACH-1d", source=f"{HBW}, transmission; written with sin^2", papers=("hasselmo2002proposed",)
)
def transmission_oscillates_between_one_and_one_minus_x(specimen: Any) -> Any:
    t = np.linspace(0.0, 7.0, 29)
    return [specimen.theta(s, 0.8, 0.6) for s in t], 1.0 - 0.6 * np.sin((t + 0.8) / 2 - PI / 4) ** 2


@limit(
    "ACH-1e",
    source="a trigonometric polynomial of degree 2: the rectangle rule is exact from 3 steps on",
    atol=1e-12,
    papers=("hasselmo2002proposed",),
)
def the_number_of_steps_does_not_matter(specimen: Any) -> Any:
    measured = [
        cycle(specimen, [0.5, 1.0], [1.0], [[0.2], [0.9]], 0.8, (0.2, 2.9, 0.1), n)
        for n in (3, 4, 17)
    ]
    a, b = 0.4 * PI * math.cos(0.1), 0.4 * PI * math.cos(2.8)
    return measured, [[[0.5 * a + 0.2 * b], [a + 0.9 * b]]] * 3


@signature(
    "ACH-2",
    source=f"{HBW}: reversal learning",
    figure="theta_cycle",
    papers=("hasselmo2002proposed",),
)
def recall_in_antiphase_gives_reversal_and_in_phase_strengthens_both(specimen: Any) -> Any:
    # CA1 units: the old associate, the new one
    new, old, cue = [0.0, 1.0], [[1.0], [0.0]], [1.0]
    apart = cycle(specimen, new, cue, old, 1.0, (0.0, PI, 0.0))[:, 0]
    together = cycle(specimen, new, cue, old, 1.0, (0.0, 0.0, 0.0))[:, 0]
    return [*apart, *together], [-PI / 2, PI / 2, PI / 2, PI / 2]


@limit("ACH-3", source=f"{HBW}: X = 0", atol=1e-12, papers=("hasselmo2002proposed",))
def without_modulation_nothing_is_learnt(specimen: Any) -> Any:
    return cycle(
        specimen, [1.0, 0.4], [1.0, 0.7], [[0.3, 0.1], [0.9, 0.2]], 0.0, (0.0, PI, 0.0)
    ), np.zeros((2, 2))


# --- expected uncertainty -------------------------------------------------------------------------
@equation(
    "ACH-4",
    source=f"{YD}, running estimate; flat prior, 90 valid of 100: 91/102",
    atol=1e-7,
    papers=("yu2005uncertainty",),
)
def expected_uncertainty_is_the_share_of_failures(specimen: Any) -> Any:
    return [
        1.0 - specimen.validity(90.0, 100.0, 1.0, 1.0),
        1.0 - specimen.validity(0.0, 0.0, 1.0, 1.0),
    ], [0.1078431, 0.5]


@equation(
    "ACH-4b",
    source="mean of the posterior under a Beta prior, by numerical integration",
    rtol=1e-6,
    papers=("yu2005uncertainty",),
)
def the_estimate_is_the_posterior_mean(specimen: Any) -> Any:
    return posterior_means(specimen)


@signature(
    "ACH-4c",
    source=f"{YD}: tracks the validity of the cue; four standard errors of 2000 trials",
    atol=4 * 0.5 / math.sqrt(2000.0),
    figure="expected_uncertainty",
    papers=("yu2005uncertainty",),
)
def expected_uncertainty_converges_to_the_true_share_of_failures(specimen: Any) -> Any:
    rng = np.random.default_rng(1)
    return [
        1.0 - specimen.validity(float((rng.random(2000) < g).sum()), 2000.0, 9.0, 1.0)
        for g in (0.5, 0.7, 0.95)
    ], [0.5, 0.3, 0.05]


# --- effects on recall and learning ---------------------------------------------------------------
@equation("ACH-5a", source="Hasselmo: g_rec = 1 - c ACh", papers=("hasselmo2006role",))
def recall_is_suppressed_in_proportion_to_acetylcholine(specimen: Any) -> Any:
    cases = [(a, c) for a in (0.0, 0.25, 1.0) for c in (0.0, 0.5, 1.0)]
    return [specimen.recurrent_gain(a, c) for a, c in cases], [1.0 - a * c for a, c in cases]


@equation(
    "ACH-5b",
    source="(pi X / 2) at X = c ACh: plasticity in proportion to ACh; scipy.integrate.quad",
    atol=1e-9,
    papers=("hasselmo2002proposed",),
)
def learning_equals_the_weight_learnt_from_input_over_a_cycle(specimen: Any) -> Any:
    cases = [(a, c) for a in (0.0, 0.25, 1.0) for c in (0.5, 1.0)]
    expected = [
        quad(
            lambda t, x: math.sin(t) * (x / 2 * math.sin(t) + 1 - x / 2), 0.0, 2 * PI, args=(a * c,)
        )[0]
        for a, c in cases
    ]
    return [specimen.learning(a, c) for a, c in cases], expected


@signature(
    "ACH-5c",
    source="Hasselmo: high acetylcholine for encoding, low for retrieval",
    papers=("hasselmo2006role",),
)
def with_rising_acetylcholine_the_retrieved_share_falls_and_learning_rises(specimen: Any) -> Any:
    levels = np.linspace(0.0, 1.0, 21)
    recurrent = np.array([specimen.recurrent_gain(a, 0.8) for a in levels])
    learnt = np.array([specimen.learning(a, 0.8) for a in levels])
    return bool(np.all(np.diff(recurrent / (1.0 + recurrent)) < 0) and np.all(np.diff(learnt) > 0))


# --- the adaptation, through the engine -----------------------------------------------------------
class LeftBehindParams(Params):
    pass


class LeftBehind(Mechanism[LeftBehindParams]):
    """Sets CONTEXT_KEPT below 1 at the events where the joint model declares a switch."""

    trials: tuple[Trial, ...] = ()

    @hook(Phase.ENCODE, reads=(), adds=(), sets=(CONTEXT_KEPT,))
    def tell(self, view: Any, incoming: Incoming) -> None:
        view.context_kept = 1.0 if self.trials[int(incoming.event.text.split()[-1])].kept else 0.5


PRIOR = (4.0, 1.0)
REACH, C, RATE, ENCODING_GAIN = numbers_of(
    "acetylcholine", "reach", "suppression", "rate_gain", "encoding_gain"
).values()


def expecting(specimen: Any, vectors: Vector, trials: list[Trial]) -> tuple[Engine, Vector]:
    """An engine that ran the stream with the switches of `trials`; after each event: valid,
    trials, level, usual, rate, recurrent log weight.
    """
    teller = LeftBehind("left_behind", LeftBehindParams(1.0))
    teller.trials = tuple(trials)
    params = specimen.AcetylcholineParams(1.0, *PRIOR, REACH, C, RATE, ENCODING_GAIN)
    memory = Engine(
        [teller, specimen.Acetylcholine("acetylcholine", params, order=1)], Given(vectors)
    )
    states, array = [], memory.store.array
    for event in events(len(vectors)):
        memory.encode(event)
        memory.retrieve("event 0")
        state = [
            float(array(c)[()])
            for c in (
                specimen.CUE_VALID,
                specimen.CUE_TRIALS,
                specimen.ACETYLCHOLINE_LEVEL,
                specimen.ACETYLCHOLINE_USUAL,
                LEARNING_RATE,
            )
        ]
        states.append([*state, float(array(LOG_FACETS)[Facet.CONTEXT.value])])
    return memory, np.array(states)


def expected_of(trials: list[Trial]) -> Vector:
    valid, total = (np.array([getattr(t, name) for t in trials]) for name in ("valid", "trials"))
    ach = 1.0 - (valid + PRIOR[0]) / (total + sum(PRIOR))
    usual = np.cumsum(np.log(ach)) / np.arange(1, len(ach) + 1)
    return np.column_stack([valid, total, ach, usual, (ach / np.exp(usual)) ** RATE,
                            np.log((1 - C * ach) / (1 - C * np.exp(usual)))])  # fmt: skip


@adaptation(
    "ACH-6a",
    source="the joint model in numpy over 200 events of four topics",
    needs="engine",
    atol=1e-9,
    figure="expected_uncertainty",
)
def the_estimates_over_a_stream_equal_those_of_the_joint_model(specimen: Any) -> Any:
    vectors = topics((25,) * 8, 1.0, 0)
    trials = joint_model(vectors, 0.99, PRIOR, REACH)
    return expecting(specimen, vectors, trials)[1], expected_of(trials)


@adaptation(
    "ACH-6b",
    source="ours: ln of the factor is the gain times ln(ACh / usual)",
    needs="engine",
    atol=1e-9,
)
def events_under_high_uncertainty_are_encoded_more_strongly(specimen: Any) -> Any:
    vectors = topics((30,) * 5, 1.0, 1)
    trials = joint_model(vectors, 0.99, PRIOR, REACH)
    memory = expecting(specimen, vectors, trials)[0]
    reference = expected_of(trials)
    return memory.store.array(INITIAL_STRENGTH), ENCODING_GAIN * (
        np.log(reference[:, 2]) - reference[:, 3]
    )


@adaptation("ACH-6c", source="ours: signals from the cue keep their weight", needs="engine")
def only_recurrent_signals_change_their_weight(specimen: Any) -> Any:
    vectors = topics((30,) * 4, 1.0, 2)
    memory = expecting(specimen, vectors, joint_model(vectors, 0.99, PRIOR, REACH))[0]
    weights = memory.store.array(LOG_FACETS)
    moved = {Facet.ASSOCIATION, Facet.CONTEXT, Facet.COMPLETION}
    return bool(
        all((weights[f.value] != 0.0) == (f in moved) for f in Facet)
        and len({float(weights[f.value]) for f in moved}) == 1
    )


@adaptation(
    "ACH-6d",
    source="ours: 80 events of a second topic, then 80 events that alternate between both topics",
    needs="engine",
)
def learning_is_faster_where_the_topic_predicts_badly(specimen: Any) -> Any:
    both = topics((100, 120), 0.5, 3)
    order = [
        *range(60),
        *range(100, 180),
        *(i for pair in zip(range(60, 100), range(180, 220), strict=True) for i in pair),
    ]
    told = [Trial(1.0, 0.0, 0.0, t != 60, 0.0) for t in range(len(order))]
    rate = expecting(specimen, both[order], told)[1][:, 4]
    return at_least(rate[180:] / rate[100:140].mean(), 2.0)


@adaptation(
    "ACH-6e",
    source="ours: an event whose direction differs from the topic's by no more than rounding, 1e-9, fits",
)
def an_event_as_far_from_the_topic_as_from_the_average_fits(specimen: Any) -> Any:
    return ties(specimen)


@equation(
    "ACH-7",
    source=f"{YD}: the joint model in numpy; {HBW}: learning by quadrature, transmission at the phase of encoding; effects "
    "relative to the geometric mean are ours",
    atol=1e-9,
    papers=("yu2005uncertainty", "hasselmo2002proposed"),
)
def a_memory_estimates_the_validity_of_its_topics(specimen: Any) -> Any:
    vectors = topics((12, 9, 14, 11, 10), 0.8, 4)
    trials, c = joint_model(vectors, 0.97, (3.0, 2.0), 6.0), 0.6

    def tell(view: Any, incoming: Any) -> None:
        rejecting(view, incoming)
        view.context_kept = 1.0 if trials[int(incoming.event.text.split()[-1])].kept else 0.99

    def through_a_cycle(x: float) -> float:
        return float(
            quad(lambda t: math.sin(t) * (x / 2 * math.sin(t) + 1 - x / 2), 0.0, 2 * PI)[0]
        )

    def recalled(ach: float) -> float:
        return c * ach / 2 * math.sin(PI / 2 + PI) + 1 - c * ach / 2

    memory = memory_of(
        specimen,
        neighbour(Phase.ENCODE, tell, adds=(VETO,), sets=(CONTEXT_KEPT,)),
        embedder=Given(vectors),
        prior_valid=3.0,
        prior_invalid=2.0,
        reach=6.0,
        suppression=c,
        rate_gain=1.7,
        encoding_gain=0.3,
    )
    memory.retrieve("event 0")
    measured, expected, logs, strengths = (
        [*memory.column(LOG_FACETS)],
        [0.0] * len(Facet),
        list[float](),
        list[float](),
    )
    for i, (event, t) in enumerate(zip(events(len(vectors)), trials, strict=True)):
        (row,) = encode(memory, event)
        memory.retrieve("event 0")
        logs.append(math.log(1.0 - (t.valid + 3.0) / (t.trials + 5.0)))
        ach, usual = math.exp(logs[-1]), math.exp(np.mean(logs))
        if row is not None:
            strengths.append(0.3 * math.log(ach / usual))
        facets = [0.0] * len(Facet)
        for facet in (Facet.ASSOCIATION, Facet.CONTEXT, Facet.COMPLETION):
            facets[facet.value] = math.log(recalled(ach) / recalled(usual))
        columns = (specimen.CUE_VALID, specimen.CUE_TRIALS, specimen.ACETYLCHOLINE_LEVEL,
                   specimen.ACETYLCHOLINE_USUAL, LEARNING_RATE, LOG_FACETS,
                   specimen.CUE_THEMES, specimen.CUE_MASSES)  # fmt: skip
        measured += np.concatenate([memory.column(col).ravel() for col in columns]).tolist()
        expected += [
            t.valid,
            t.trials,
            ach,
            math.log(usual),
            (through_a_cycle(ach) / through_a_cycle(usual)) ** 1.7,
            *facets,
            *means_after(vectors, i, t.members, 6.0),
        ]
    return [*measured, *memory.column(INITIAL_STRENGTH)], [*expected, *strengths]


# --- figures --------------------------------------------------------------------------------------
@figure(
    "theta_cycle",
    caption="Change of two associations over a theta cycle: the input in phase with plasticity is learnt; the recalled "
    "association is unlearnt, most in antiphase",
    source=f"{HBW}; closed form (pi X / 2) cos(phi)",
)
def associations_by_the_phase_of_recall(specimen: Any) -> Picture:
    degrees, marks = np.arange(0.0, 361.0, 5.0), np.arange(0.0, 361.0, 45.0)
    old, new, cue = [[1.0], [0.0]], [0.0, 1.0], [1.0]
    full, half = (
        np.array(
            [cycle(specimen, new, cue, old, x, (0.0, p, 0.0))[:, 0] for p in np.radians(degrees)]
        )
        for x in (1.0, 0.5)
    )
    return Picture(
        "phase of recall relative to plasticity, degrees",
        "change of an association over a cycle",
        (
            Curve("new, from input, X = 1", degrees, full[:, 1]),
            Curve("old, recalled, X = 1", degrees, full[:, 0]),
            Curve("old, recalled, X = 0.5", degrees, half[:, 0]),
            dots("closed form, X = 1", marks, PI / 2 * np.cos(np.radians(marks))),
        ),
    )


@figure(
    "expected_uncertainty",
    caption="Acetylcholine over a stream of events whose topic changes every 25 events: from the second change on it "
    "falls within a topic and restarts with the next",
    source=f"{YD}; the joint model in numpy",
)
def acetylcholine_over_topics(specimen: Any) -> Picture:
    vectors = topics((25,) * 6, 1.0, 0)
    trials = joint_model(vectors, 0.99, PRIOR, REACH)
    measured, reference, at = (
        expecting(specimen, vectors, trials)[1],
        expected_of(trials),
        np.arange(len(trials)),
    )
    return Picture(
        "event",
        "expected uncertainty",
        (
            Curve("acetylcholine", at, measured[:, 2], Marks.STEPS),
            Curve("its usual level", at, np.exp(measured[:, 3])),
            dots("joint model", at[::4], reference[::4, 2]),
        ),
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("plasticity that only strengthens", rejected_by="ACH-2")
def rectified(specimen: Any) -> Any:
    whole = specimen.learn_cycle

    def positive(*arguments: Any) -> None:
        whole(*arguments)
        np.abs(arguments[-1], out=arguments[-1])

    return specimen.replacing("learn_cycle", positive)


@mutant("plasticity equal at all phases", rejected_by="ACH-3")
def flat_plasticity(specimen: Any) -> Any:
    def hebb(
        ec: Any,
        ca3: Any,
        weights: Any,
        x: float,
        phase_ec: float,
        phase_ca3: float,
        phase_ltp: float,
        steps: int,
        out: Any,
    ) -> None:
        out[...] = 2 * PI * (1 - x / 2) * np.outer(ec + weights @ ca3, ca3)

    return specimen.replacing("learn_cycle", hebb)


@mutant("recall does not reach CA1", rejected_by="ACH-1c")
def no_recall(specimen: Any) -> Any:
    whole = specimen.learn_cycle
    return specimen.replacing(
        "learn_cycle", lambda ec, ca3, w, *rest: whole(ec, ca3, np.zeros_like(w), *rest)
    )


@mutant("modulation around 0, so transmission becomes negative", rejected_by="ACH-1d")
def about_zero(specimen: Any) -> Any:
    return specimen.replacing("theta", lambda t, phase, x: x * math.sin(t + phase))


@mutant("uncertainty from the last trial only", rejected_by="ACH-4")
def last_trial(specimen: Any) -> Any:
    return specimen.replacing(
        "validity", lambda valid, trials, a, b: 1.0 if valid == trials else 0.0
    )


@mutant("share of valid trials without a prior", rejected_by="ACH-4b")
def no_prior(specimen: Any) -> Any:
    return specimen.replacing(
        "validity", lambda valid, trials, a, b: valid / trials if trials else 0.5
    )


@mutant("acetylcholine favours recall", rejected_by="ACH-5c")
def turned_round(specimen: Any) -> Any:
    return specimen.replacing("recurrent_gain", lambda ach, c: 1.0 - c * (1.0 - ach))


@mutant("learning independent of acetylcholine", rejected_by="ACH-5b")
def constant_learning(specimen: Any) -> Any:
    return specimen.replacing("learning", lambda ach, c: 0.5 * PI * c)


@mutant("encoding by the difference from the usual level, not by the ratio", rejected_by="ACH-7")
def by_difference(specimen: Any) -> Any:
    def strengthen(self: Any, view: Any, incoming: Incoming) -> None:
        view.encoding_strength = self.params.encoding_gain * (
            view.acetylcholine_level - math.exp(view.acetylcholine_usual)
        )

    return specimen.overriding("Acetylcholine", strengthen=strengthen)


@mutant("every event fits the topic", rejected_by="ACH-6d")
def all_fits(specimen: Any) -> Any:
    return specimen.replacing("fits", lambda themes, vector: True)


@mutant("a switch keeps the old topic", rejected_by="ACH-6a")
def no_new_topic(specimen: Any) -> Any:
    whole = specimen.follow
    return specimen.replacing(
        "follow",
        lambda themes, masses, vector, joins, anew, keep: whole(
            themes, masses, vector, joins, False, keep
        ),
    )
