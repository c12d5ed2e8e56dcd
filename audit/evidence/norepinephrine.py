"""Evidence for norepinephrine.  References are sums over every possible time of change, closed
forms, and the joint model in numpy; none calls a kernel it judges."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engine.contract.columns import Phase
from ...engine.contract.records import Event
from ...engine.contract.vocabulary import CHOICE_GAIN, CONTEXT_KEPT, THRESHOLD_SHIFT, VETO
from ...engine.memory.engine import Engine
from ..checks import adaptation, at_least, at_most, equation, limit, mutant, signature
from ..figures import Curve, Marks, Picture, dots, figure
from ..memory import encode, memory_of, neighbour
from .shared.topic_fit import posterior_means, ties

Vector = NDArray[np.float64]
YD, AC = "Yu & Dayan 2005", "Aston-Jones & Cohen 2005"
GAMMAS = (0.95, 0.9, 0.8, 0.7, 0.6)


# --- references -----------------------------------------------------------------------------------
def posterior(valid: Sequence[bool], gamma: float, tau: float) -> float:
    """P(no change so far | trials): a sum over every time at which the context may have changed."""
    likely = [gamma if v else 1.0 - gamma for v in valid]
    n = len(valid)
    same = tau**n * math.prod(likely)
    changed = sum(tau**k * (1.0 - tau) * math.prod(likely[:k]) * 0.5 ** (n - k) for k in range(n))
    return same / (same + changed)


def first_declared(gamma: float, tau: float, ne_times: float = 1.0, ach_times: float = 1.0) -> int:
    """Number of invalid trials until the switch rule is met, with `posterior`."""
    ach = ach_times * (1.0 - gamma)
    return next(
        n
        for n in range(1, 10_000)
        if ne_times * (1.0 - posterior([False] * n, gamma, tau)) > ach / (0.5 + ach)
    )


def until_declared(
    specimen: Any, gamma: float, tau: float, ne_times: float = 1.0, ach_times: float = 1.0
) -> int:
    """The same with the specimen's recursion and rule."""
    lam = 1.0
    for n in range(1, 10_000):
        lam = specimen.unchanged(lam, False, gamma, tau)
        if specimen.switches(ne_times * (1.0 - lam), ach_times * (1.0 - gamma)):
            return n
    return 10_000


@dataclass(frozen=True)
class Trial:
    """The joint state after an event; `kept` is False at a declared switch, `ne` is its value
    before the switch, `members` the topic's events.
    """

    lam: float
    valid: float
    trials: float
    kept: bool
    ne: float
    members: tuple[int, ...] = ()


def joint_model(
    vectors: Vector, tau: float, prior: tuple[float, float], reach: float
) -> list[Trial]:
    """Both uncertainties over a stream of events, means recomputed from their definition at
    every event.
    """
    lam, valid, trials, course = 1.0, 0.0, 0.0, []
    members: list[int] = []
    for t, v in enumerate(vectors):
        ne, switch, fit = 0.0, False, True
        if t >= 2:
            age = np.arange(len(members))[::-1]
            everything = vectors[:t].mean(axis=0)
            topic = np.average(vectors[members], axis=0, weights=(1.0 - 1.0 / reach) ** age)
            fit = bool((v - everything) @ (topic - everything) >= -1e-9)
            gamma = max(0.5, (valid + prior[0]) / (trials + sum(prior)))
            same = lam * tau
            likely = same * (gamma if fit else 1.0 - gamma)
            lam = likely / (likely + (1.0 - same) / 2.0)
            valid, trials, ne = valid + fit, trials + 1.0, 1.0 - lam
            ach = 1.0 - max(0.5, (valid + prior[0]) / (trials + sum(prior)))
            switch = ne > ach / (0.5 + ach)
        if switch:
            lam, valid, trials, members = 1.0, 0.0, 0.0, [t]
        elif fit:
            members.append(t)
        course.append(Trial(lam, valid, trials, not switch, ne, tuple(members)))
    return course


def means_after(vectors: Vector, t: int, members: Sequence[int], reach: float) -> Vector:
    """Mean vectors of the topic and of all events, and the effective number of events in each,
    after event t: weighted averages by definition.
    """
    weights = (1.0 - 1.0 / reach) ** np.arange(len(members))[::-1]
    return np.concatenate(
        [
            np.average(vectors[list(members)], axis=0, weights=weights),
            vectors[: t + 1].mean(axis=0),
            [weights.sum(), t + 1.0],
        ]
    )


class Given:
    """An embedder that returns the row of a matrix whose number is the last word of the text."""

    name, revision = "given", "1"

    def __init__(self, vectors: Vector) -> None:
        self.vectors = np.asarray(vectors, dtype=np.float32)
        self.dimensions = int(self.vectors.shape[1])

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self.vectors[[int(text.split()[-1]) for text in texts]]


def topics(lengths: Sequence[int], noise: float, seed: int, kinds: int = 4, d: int = 24) -> Vector:
    """Unit vectors around the directions of `kinds` topics in blocks of `lengths`, rounded to
    float32 as stored embeddings are.
    """
    rng = np.random.default_rng(seed)
    centres = np.linalg.qr(rng.standard_normal((d, kinds)))[0].T[np.arange(len(lengths)) % kinds]
    raw = np.repeat(centres, lengths, axis=0) + noise * rng.standard_normal(
        (sum(lengths), d)
    ) / math.sqrt(d)
    return np.asarray(
        (raw / np.linalg.norm(raw, axis=1, keepdims=True)).astype(np.float32), dtype=np.float64
    )


def events(n: int) -> list[Event]:
    return [Event(i / 60.0, f"event {i}", dated=False) for i in range(n)]


def watched(specimen: Any, vectors: Vector, **changes: float) -> tuple[Engine, list[Trial], Vector]:
    """An engine that ran the stream with the specimen alone, its state after each event, and
    CONTEXT_KEPT, CHOICE_GAIN and THRESHOLD_SHIFT.
    """
    values = {"persistence": 0.99, "prior_valid": 4.0, "prior_invalid": 1.0, "reach": 16.0,
              "kept_on_switch": 0.25, "tonic_gain": 0.2,
              "phasic_gain": 1.0, "gate_relief": 0.1} | changes  # fmt: skip
    memory = Engine(
        [specimen.Norepinephrine("norepinephrine", specimen.NorepinephrineParams(1.0, **values))],
        Given(vectors),
    )
    course, effects, array = [], [], memory.store.array
    for event in events(len(vectors)):
        memory.encode(event)
        kept = float(array(CONTEXT_KEPT)[()])
        course.append(
            Trial(
                float(array(specimen.CONTEXT_TRUST)[()]),
                float(array(specimen.CONTEXT_VALID)[()]),
                float(array(specimen.CONTEXT_TRIALS)[()]),
                kept == 1.0,
                float(array(specimen.NOREPINEPHRINE_LEVEL)[()]),
            )
        )
        effects.append([kept, float(array(CHOICE_GAIN)[()]), float(array(THRESHOLD_SHIFT)[()])])
    return memory, course, np.array(effects)


def table(trials: Sequence[Trial]) -> Vector:
    return np.array([[t.lam, t.valid, t.trials, t.kept, t.ne] for t in trials], dtype=np.float64)


# --- adaptive gain --------------------------------------------------------------------------------
@equation(
    "NE-1",
    source=f"{AC}; derivative of the logistic function, G / 4",
    rtol=1e-7,
    papers=("astonjones2005integrative",),
)
def the_slope_in_the_middle_is_a_quarter_of_the_gain(specimen: Any) -> Any:
    bias, h = 0.7, 1e-5
    slopes = [
        (specimen.response(-bias / g + h, g, bias) - specimen.response(-bias / g - h, g, bias))
        / (2 * h)
        for g in (0.5, 1.0, 2.0)
    ]
    middles = [specimen.response(-bias / g, g, bias) for g in (0.5, 1.0, 2.0)]
    return slopes + middles, [0.125, 0.25, 0.5, 0.5, 0.5, 0.5]


@equation(
    "NE-1b",
    source="hyperbolic tangent: f_G(x) = [1 + tanh((G x + B) / 2)] / 2",
    papers=("servanschreiber1990network",),
)
def the_response_is_the_logistic_function(specimen: Any) -> Any:
    x = np.linspace(-4.0, 4.0, 17)
    return [specimen.response(v, 1.7, -0.4) for v in x], 0.5 * (
        1.0 + np.tanh((1.7 * x - 0.4) / 2.0)
    )


@limit(
    "NE-1c",
    source="G to infinity: a step at x = -B / G",
    atol=1e-12,
    papers=("servanschreiber1990network",),
)
def a_large_gain_makes_a_step(specimen: Any) -> Any:
    return [specimen.response(x, 1e4, 0.0) for x in (-0.01, 0.0, 0.01)], [0.0, 0.5, 1.0]


@signature(
    "NE-2a",
    source=f"{AC}: as utility falls, from exploitation to exploration",
    papers=("astonjones2005integrative",),
)
def only_low_utility_on_both_scales_leads_to_exploration(specimen: Any) -> Any:
    both_low, retry, engaged = (
        specimen.engagement(s, u) for s, u in ((-3.0, -3.0), (-3.0, 3.0), (3.0, 3.0))
    )
    return bool(both_low < 0.2 < 0.8 < retry < engaged)


@equation(
    "NE-2b",
    source=f"{AC}, utility on two scales, recalled form",
    warn=True,
    atol=1e-7,
    papers=("astonjones2005integrative",),
)
def engagement_has_the_values_of_the_recalled_form(specimen: Any) -> Any:
    return [
        specimen.engagement(s, u) for s, u in ((0.0, 0.0), (2.0, 2.0), (-2.0, -2.0), (-2.0, 2.0))
    ], [0.75, 0.9857907, 0.2241965, 0.8950064]


@adaptation(
    "NE-2c",
    source="ours: with log odds as utilities, engagement is 1 - NE ACh; linear gain",
    atol=1e-9,
)
def engagement_falls_with_the_product_of_both_uncertainties(specimen: Any) -> Any:
    pairs = [(0.9, 0.8), (0.3, 0.6), (0.5, 0.5)]
    engaged = [
        specimen.engagement(specimen.log_odds(lam), specimen.log_odds(gamma))
        for lam, gamma in pairs
    ]
    gains = [specimen.choice_gain(e, 0.2, 1.0) for e in (0.0, 0.5, 1.0)]
    return engaged + gains, [1.0 - (1.0 - lam) * (1.0 - gamma) for lam, gamma in pairs] + [
        0.2,
        0.6,
        1.0,
    ]


# --- unexpected uncertainty -----------------------------------------------------------------------
@equation(
    "NE-3", source=f"{YD}, switch rule; ACh / (0.5 + ACh)", atol=1e-7, papers=("yu2005uncertainty",)
)
def the_threshold_has_the_values_of_the_rule(specimen: Any) -> Any:
    return [specimen.switch_bar(a) for a in (0.1, 0.2, 0.3, 0.5, 0.7, 1.0)], [
        1 / 6,
        2 / 7,
        0.375,
        0.5,
        7 / 12,
        2 / 3,
    ]


@equation("NE-3b", source=f"{YD}, switch rule", papers=("yu2005uncertainty",))
def a_switch_is_declared_above_the_threshold_only(specimen: Any) -> Any:
    grid = np.linspace(0.01, 1.0, 40)
    rule = [[2.0 * ne * (0.5 + ach) > 2.0 * ach for ach in grid] for ne in grid + 1e-6]
    return [[specimen.switches(ne, ach) for ach in grid] for ne in grid + 1e-6], rule


@limit(
    "NE-3d",
    source=f"{YD}: NE > ACh / (0.5 + ACh); at equality the context is kept",
    papers=("yu2005uncertainty",),
)
def at_the_threshold_no_switch_is_declared(specimen: Any) -> Any:
    return [
        bool(specimen.switches(ne, ach)) for ne, ach in ((0.5, 0.5), (0.5 + 1e-12, 0.5), (0.0, 0.0))
    ], [False, True, False]


@adaptation("NE-2d", source="ours: a probability is kept 1e-12 away from 0 and 1", atol=1e-3)
def log_odds_are_finite(specimen: Any) -> Any:
    return [specimen.log_odds(p) for p in (0.0, 1e-12, 1.0 - 1e-12, 1.0)], np.array(
        [-12.0, -12.0, 12.0, 12.0]
    ) * math.log(10.0)


@adaptation(
    "NE-9f",
    source="ours: an event whose direction differs from the topic's by no more than rounding, 1e-9, fits",
)
def an_event_as_far_from_the_topic_as_from_the_average_fits(specimen: Any) -> Any:
    return ties(specimen)


@limit(
    "NE-3c",
    source="closed form: rises, concave, meets the identity at 0 and 1/2",
    papers=("yu2005uncertainty",),
)
def the_threshold_is_increasing_and_concave(specimen: Any) -> Any:
    bar = np.array([specimen.switch_bar(a) for a in np.linspace(0.0, 1.0, 101)])
    return bool(
        np.all(np.diff(bar) > 0)
        and np.all(np.diff(bar, 2) < 0)
        and bar[0] == 0.0
        and abs(bar[50] - 0.5) < 1e-12
    )


@equation(
    "NE-4",
    source=f"{YD}, reduced to same and other; published counts for tau = 0.99 and 0.999",
    figure="context_switch",
    papers=("yu2005uncertainty",),
)
def a_switch_is_declared_after_the_published_number_of_invalid_trials(specimen: Any) -> Any:
    return [[until_declared(specimen, g, tau) for g in GAMMAS] for tau in (0.99, 0.999)], [
        [1, 2, 4, 7, 13],
        [2, 4, 6, 11, 23],
    ]


@equation(
    "NE-4b",
    source="sum over every time of change, 200 random trials",
    papers=("yu2005uncertainty",),
)
def the_recursion_is_the_exact_posterior_of_no_change(specimen: Any) -> Any:
    rng, measured, expected = np.random.default_rng(0), [], []
    for gamma, tau in ((0.9, 0.99), (0.6, 0.95), (0.75, 0.999)):
        valid, lam = [bool(v) for v in rng.random(60) < 0.7], 1.0
        for n, v in enumerate(valid):
            lam = specimen.unchanged(lam, v, gamma, tau)
            measured.append(lam)
            expected.append(posterior(valid[: n + 1], gamma, tau))
    return measured, expected


@limit(
    "NE-4c",
    source="tau = 1: contexts never change; gamma = 1/2: trials carry no information, lambda = tau^n",
    papers=("yu2005uncertainty",),
)
def without_hazard_or_without_information_trials_have_no_effect(specimen: Any) -> Any:
    lam, blind = 1.0, 1.0
    for i in range(20):
        lam, blind = (
            specimen.unchanged(lam, i % 3 == 0, 0.9, 1.0),
            specimen.unchanged(blind, i % 3 == 0, 0.5, 0.99),
        )
    return [lam, blind], [1.0, 0.99**20]


@signature(
    "NE-5a", source=f"{YD}: less acetylcholine, more false alarms", papers=("yu2005uncertainty",)
)
def with_half_the_acetylcholine_switches_come_sooner(specimen: Any) -> Any:
    pairs = [
        (until_declared(specimen, g, t, ach_times=0.5), until_declared(specimen, g, t))
        for g in GAMMAS
        for t in (0.99, 0.999)
    ]
    expected = [
        (first_declared(g, t, ach_times=0.5), first_declared(g, t))
        for g in GAMMAS
        for t in (0.99, 0.999)
    ]
    return bool(
        pairs == expected and all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)
    )


@signature(
    "NE-5b", source=f"{YD}: less norepinephrine, perseveration", papers=("yu2005uncertainty",)
)
def with_half_the_norepinephrine_switches_come_later(specimen: Any) -> Any:
    pairs = [
        (until_declared(specimen, g, t, ne_times=0.5), until_declared(specimen, g, t))
        for g in GAMMAS[:4]
        for t in (0.99, 0.999)
    ]
    expected = [
        (first_declared(g, t, ne_times=0.5), first_declared(g, t))
        for g in GAMMAS[:4]
        for t in (0.99, 0.999)
    ]
    return bool(
        pairs == expected and all(a >= b for a, b in pairs) and any(a > b for a, b in pairs)
    )


@equation(
    "NE-6a",
    source="reduced recursion from lambda = 1/2 at gamma = 0.9, tau = 0.99; published values",
    atol=1e-4,
    papers=("yu2005uncertainty",),
)
def the_signal_is_phasic_and_decays_while_trials_are_valid(specimen: Any) -> Any:
    lam, ne = 0.5, []
    for _ in range(6):
        lam = specimen.unchanged(lam, True, 0.9, 0.99)
        ne.append(1.0 - lam)
    return ne, [0.3617, 0.2445, 0.1577, 0.0997, 0.0634, 0.0418]


@equation(
    "NE-6b",
    source="fixed point of the recursion: lambda = (tau gamma - 1/2) / [tau (gamma - 1/2)]",
    atol=1e-9,
    papers=("yu2005uncertainty",),
)
def the_floor_is_the_fixed_point(specimen: Any) -> Any:
    floors = []
    for gamma, tau in ((0.9, 0.99), (0.7, 0.99), (0.8, 0.999)):
        lam = 0.5
        for _ in range(3000):
            lam = specimen.unchanged(lam, True, gamma, tau)
        floors.append(1.0 - lam)
    return floors, [
        1.0 - (t * g - 0.5) / (t * (g - 0.5)) for g, t in ((0.9, 0.99), (0.7, 0.99), (0.8, 0.999))
    ]


@equation(
    "NE-7",
    source=f"{YD}: mean of the posterior under a Beta prior, by numerical integration",
    rtol=1e-6,
    papers=("yu2005uncertainty",),
)
def validity_is_the_posterior_mean(specimen: Any) -> Any:
    return posterior_means(specimen)


@signature(
    "NE-8",
    source=f"{YD}: expected and unexpected uncertainty dissociate; gamma = 0.65 for 400 trials, then invalid ones",
    figure="topic_changes",
    papers=("yu2005uncertainty",),
)
def a_poor_but_stable_cue_raises_expected_uncertainty_alone(specimen: Any) -> Any:
    def level(gamma: float, seed: int) -> float:
        rng, lam, ne = np.random.default_rng(seed), 1.0, []
        for valid in rng.random(400) < gamma:
            lam = specimen.unchanged(lam, bool(valid), gamma, 0.999)
            ne.append(1.0 - lam)
        return float(np.mean(ne))

    stable = np.mean([level(0.65, s) for s in range(20)])
    lam = 1.0
    for _ in range(2):
        lam = specimen.unchanged(lam, False, 0.98, 0.999)
    # ACh is 0.35 and NE under half of it; ACh is 0.02 and NE far above it
    return bool(stable < 0.175 and 1.0 - lam > 0.35)


# --- the adaptation, through the engine -----------------------------------------------------------
@adaptation(
    "NE-9a",
    source="the joint model in numpy over 300 events of four topics",
    needs="engine",
    atol=1e-9,
    figure="topic_changes",
)
def the_estimates_over_a_stream_equal_those_of_the_joint_model(specimen: Any) -> Any:
    vectors = topics((30,) * 10, 1.0, 0)
    reference = joint_model(vectors, 0.99, (4.0, 1.0), 16.0)
    _, trials, _ = watched(specimen, vectors)
    return table(trials), table(reference)


@adaptation(
    "NE-9b",
    source="NE-4 through the engine, with validity held at gamma by a strong prior",
    needs="engine",
    figure="context_switch",
)
def a_new_topic_is_declared_after_the_predicted_number_of_events(specimen: Any) -> Any:
    measured, vectors = (
        [],
        np.repeat([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.6, 0.0, 0.8]], (1, 1, 30), axis=0),
    )
    for tau in (0.99, 0.999):
        for gamma in GAMMAS:
            effects = watched(
                specimen,
                vectors,
                reach=1.0,
                persistence=tau,
                prior_valid=1e9 * gamma,
                prior_invalid=1e9 * (1.0 - gamma),
            )[2]
            measured.append(int(np.argmax(effects[:, 0] < 1.0)) - 1)
    return measured, [1, 2, 4, 7, 13, 2, 4, 6, 11, 23]


@adaptation(
    "NE-9c",
    source="ours: a switch reduces the context; NE lowers the thresholds; gain 0.2 + 0.8 (1 - NE ACh)",
    needs="engine",
    atol=1e-9,
)
def the_effects_on_memory_follow_from_the_two_uncertainties(specimen: Any) -> Any:
    vectors = topics((30,) * 6, 1.0, 1)
    reference = joint_model(vectors, 0.99, (4.0, 1.0), 16.0)
    expected = []
    for t in reference:
        ach = 1.0 - max(0.5, (t.valid + 4.0) / (t.trials + 5.0))
        expected.append(
            [1.0 if t.kept else 0.25, 0.2 + 0.8 * (1.0 - (1.0 - t.lam) * ach), -0.1 * t.ne]
        )
    return watched(specimen, vectors)[2], expected


@adaptation(
    "NE-9d",
    source="ours: unrelated events fit with probability 1/2, as the model assumes; 4 standard errors of 400",
    needs="engine",
)
def unrelated_events_fit_with_probability_one_half(specimen: Any) -> Any:
    rng = np.random.default_rng(2)
    passed = []
    for _ in range(400):
        members = rng.standard_normal((48, 24)) + 1.0
        fields = np.array([members[:8].mean(0), members.mean(0)])
        passed.append(bool(specimen.fits(fields, rng.standard_normal(24) + 1.0)))
    return at_most(abs(float(np.mean(passed)) - 0.5), 4.0 * 0.5 / math.sqrt(400.0))


@adaptation(
    "NE-9e",
    source="ours: 20 changes among 5 topics: share declared within 4 events, and share of true declarations",
    needs="engine",
    figure="topic_changes",
)
def most_changes_are_declared_within_four_events(specimen: Any) -> Any:
    lengths = (30,) * 21
    effects = watched(specimen, topics(lengths, 1.0, 3, kinds=5))[2]
    declared, changes = np.flatnonzero(effects[:, 0] < 1.0), np.cumsum(lengths)[:-1]
    return at_least(
        [
            np.mean([np.any((declared >= c) & (declared < c + 4)) for c in changes]),
            np.mean([np.any((changes <= s) & (s < changes + 4)) for s in declared]),
        ],
        0.8,
    )


ODD: dict[str, Any] = {"persistence": 0.97, "prior_valid": 3.0, "prior_invalid": 2.0, "reach": 6.0,
                       "kept_on_switch": 0.6, "tonic_gain": 0.3, "phasic_gain": 0.9,
                       "gate_relief": 0.07}  # fmt: skip


def rejecting(view: Any, incoming: Any) -> None:
    """Vetoes every fifth event."""
    view.veto = int(incoming.event.text.split()[-1]) % 5 == 3


@equation(
    "NE-10",
    source=f"{YD}: the joint model in numpy, means by definition; events that are not stored are trials, too",
    atol=1e-9,
    papers=("yu2005uncertainty", "astonjones2005integrative", "servanschreiber1990network"),
)
def a_memory_infers_changes_of_context_from_its_events(specimen: Any) -> Any:
    vectors, measured, expected, switches = topics((12, 9, 14, 11, 10), 0.8, 4), [], [], 0
    memory = memory_of(
        specimen, neighbour(Phase.ENCODE, rejecting, adds=(VETO,)), embedder=Given(vectors), **ODD
    )
    for i, (event, t) in enumerate(
        zip(events(len(vectors)), joint_model(vectors, 0.97, (3.0, 2.0), 6.0), strict=True)
    ):
        encode(memory, event)
        switches += not t.kept
        ach = 1.0 - max(0.5, (t.valid + 3.0) / (t.trials + 5.0))
        utility = [
            math.log(p / (1.0 - p)) if p < 1.0 else 12.0 * math.log(10.0)
            for p in (t.lam, 1.0 - ach)
        ]
        engaged = 1.0 - math.prod(1.0 - 1.0 / (1.0 + math.exp(-u)) for u in utility)
        columns = (specimen.CONTEXT_TRUST, specimen.CONTEXT_VALID, specimen.CONTEXT_TRIALS,
                   specimen.CONTEXT_SWITCHES, specimen.NOREPINEPHRINE_LEVEL,
                   CONTEXT_KEPT, CHOICE_GAIN, THRESHOLD_SHIFT, specimen.CONTEXT_THEMES,
                   specimen.CONTEXT_MASSES)  # fmt: skip
        measured.append(np.concatenate([memory.column(c).ravel() for c in columns]))
        expected.append([t.lam, t.valid, t.trials, switches, t.ne, 1.0 if t.kept else 0.6,
                         0.3 + 0.6 * engaged, -0.07 * t.ne,
                         *means_after(vectors, i, t.members, 6.0)])  # fmt: skip
    assert switches >= 2
    return np.array(measured), np.array(expected)


# --- figures --------------------------------------------------------------------------------------
@figure(
    "context_switch",
    caption="Number of consecutive invalid trials until a switch is declared: lower for more valid cues, higher if changes "
    "are rarer",
    source=f"{YD}, reduced to same and other",
)
def trials_until_a_switch(specimen: Any) -> Picture:
    gammas = np.linspace(0.56, 0.98, 43)
    curves = [
        Curve(
            f"changes 1 in {rate}",
            gammas,
            [until_declared(specimen, float(g), tau) for g in gammas],
            Marks.STEPS,
        )
        for rate, tau in ((100, 0.99), (1000, 0.999))
    ]
    return Picture(
        "validity of the cue",
        "invalid trials until a switch",
        (
            *curves,
            dots("published, 1 in 100", GAMMAS, [1, 2, 4, 7, 13]),
            dots("published, 1 in 1000", GAMMAS, [2, 4, 6, 11, 23]),
        ),
        log="y",
    )


@figure(
    "topic_changes",
    caption="Norepinephrine over a stream of events whose topic changes every 30 events: from the second change on it is "
    "close to 0 within a topic and exceeds the threshold set by acetylcholine at each change",
    source=f"{YD}; the joint model in numpy",
)
def norepinephrine_over_topics(specimen: Any) -> Picture:
    vectors, prior = topics((30,) * 5, 1.0, 0), (4.0, 1.0)
    trials, at = watched(specimen, vectors)[1], np.arange(len(vectors))
    reference = joint_model(vectors, 0.99, prior, 16.0)
    shown = [i for i, t in enumerate(reference) if i % 5 == 0 or not t.kept]
    # before each event
    bar = [
        specimen.switch_bar(1.0 - max(0.5, (t.valid + prior[0]) / (t.trials + sum(prior))))
        for t in trials[:-1]
    ]
    return Picture(
        "event",
        "unexpected uncertainty",
        (
            Curve("norepinephrine", at, [t.ne for t in trials], Marks.STEPS),
            Curve("threshold for a switch", at, [math.nan, *bar]),
            dots("joint model", shown, [reference[i].ne for i in shown]),
        ),
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("after a change cues are valid with probability 1 - gamma", rejected_by="NE-4b")
def certain_other(specimen: Any) -> Any:
    def recursion(lam: float, valid: bool, gamma: float, tau: float) -> float:
        same, likely = lam * tau, gamma if valid else 1.0 - gamma
        return same * likely / (same * likely + (1.0 - same) * (1.0 - likely))

    return specimen.replacing("unchanged", recursion)


@mutant("no hazard: the probability of a change per trial is 0", rejected_by="NE-6b")
def no_hazard(specimen: Any) -> Any:
    def recursion(lam: float, valid: bool, gamma: float, tau: float) -> float:
        likely = lam * (gamma if valid else 1.0 - gamma)
        return likely / (likely + (1.0 - lam) * 0.5)

    return specimen.replacing("unchanged", recursion)


@mutant("posterior of a single trial, without earlier ones", rejected_by="NE-4")
def memoryless(specimen: Any) -> Any:
    whole = specimen.unchanged
    return specimen.replacing(
        "unchanged", lambda lam, valid, gamma, tau: whole(1.0, valid, gamma, tau)
    )


@mutant("NE = ACh, one common signal", rejected_by="NE-8")
def one_arousal(specimen: Any) -> Any:
    return specimen.replacing("unchanged", lambda lam, valid, gamma, tau: gamma)


@mutant("a fixed threshold, independent of expected uncertainty", rejected_by="NE-3")
def fixed_bar(specimen: Any) -> Any:
    return specimen.replacing("switch_bar", lambda ach: 0.5)


@mutant("the rule NE > ACh", rejected_by="NE-3b")
def plain_rule(specimen: Any) -> Any:
    return specimen.replacing("switches", lambda ne, ach: ne > ach)


@mutant("the rule inverted: acetylcholine promotes switching", rejected_by="NE-5a")
def turned_round(specimen: Any) -> Any:
    return specimen.replacing("switches", lambda ne, ach: ne > 1.0 - ach / (0.5 + ach))


@mutant("gain as a factor on the output", rejected_by="NE-1")
def output_gain(specimen: Any) -> Any:
    return specimen.replacing(
        "response", lambda x, gain, bias: gain / (1.0 + math.exp(-(x + bias)))
    )


@mutant("linear response", rejected_by="NE-1b")
def linear_response(specimen: Any) -> Any:
    return specimen.replacing(
        "response", lambda x, gain, bias: min(max(0.5 + (gain * x + bias) / 4.0, 0.0), 1.0)
    )


@mutant("engagement is low if one utility is low", rejected_by="NE-2a")
def easily_bored(specimen: Any) -> Any:
    return specimen.replacing(
        "engagement", lambda short, long: 1.0 / (1.0 + math.exp(-short)) / (1.0 + math.exp(-long))
    )


@mutant("share of valid trials without a prior", rejected_by="NE-7")
def no_prior(specimen: Any) -> Any:
    return specimen.replacing(
        "validity", lambda valid, trials, a, b: valid / trials if trials else 0.5
    )


@mutant("every event fits the topic", rejected_by="NE-9b")
def all_fits(specimen: Any) -> Any:
    return specimen.replacing("fits", lambda themes, vector: True)


@mutant("events that do not fit join the topic, too", rejected_by="NE-9a")
def all_joins(specimen: Any) -> Any:
    whole = specimen.follow
    return specimen.replacing(
        "follow",
        lambda themes, masses, vector, joins, anew, keep: whole(
            themes, masses, vector, True, anew, keep
        ),
    )


@mutant("only stored events are trials", rejected_by="NE-10")
def stored_only(specimen: Any) -> Any:
    def infer(self: Any, view: Any, incoming: Any) -> None:
        if int(incoming.event.text.split()[-1]) % 5 != 3:
            specimen.Norepinephrine.infer(self, view, incoming)

    return specimen.overriding("Norepinephrine", infer=infer)


@mutant("gain highest at low engagement", rejected_by="NE-2c")
def gain_reversed(specimen: Any) -> Any:
    return specimen.replacing(
        "choice_gain", lambda engaged, tonic, phasic: phasic + (tonic - phasic) * engaged
    )
