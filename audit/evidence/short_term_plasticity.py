"""Evidence for short_term_plasticity.  References are closed forms, scipy's solution of the
differential equations, and published constants.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from ...engine.contract.columns import Phase
from ...engine.contract.vocabulary import RELEASE_PROBABILITY, REPLAY_LAG, REPLAYED, RESOURCES
from ..checks import adaptation, at_least, between, equation, limit, mutant, reference, signature
from ..figures import Curve, Picture, dots, figure
from ..memory import encode, memory_of, neighbour
from ..paper_numbers import paper_number
from .shared.once import computed_once
from .shared.scripts import marking, refusing

Array = NDArray[np.float64]
Set = tuple[float, float, float]
DEPRESSING, FACILITATING, WORKING, PYRAMIDAL = (
    (0.5, 800.0, 0.0),
    (0.03, 130.0, 530.0),
    (0.2, 200.0, 1500.0),
    (0.5, 1100.0, 50.0),
)
TSODYKS = "Tsodyks, Pawelzik & Markram 1998"
# default scale of time; h
KAPPA, MS = 2400.0, 1.0 / 3.6e6
NUMBERS = (
    paper_number(
        "baseline",
        DEPRESSING[0],
        "1",
        paper="tsodyks1998neural",
        where="U of the depressing synapse",
    ),
    paper_number(
        "tau_rec",
        DEPRESSING[1],
        "ms",
        paper="tsodyks1998neural",
        where="tau_rec of the depressing synapse",
    ),
    paper_number(
        "tau_f",
        DEPRESSING[2],
        "ms",
        paper="tsodyks1998neural",
        where="the depressing synapse: u is always U",
    ),
)


def releases(
    specimen: Any, times: Sequence[float] | Array, constants: Set
) -> tuple[Array, float, float]:
    """Release of each spike of a train (ms), and the last u, after its jump, and x, before the
    release.
    """
    baseline, tau_rec, tau_f = constants
    u, x, last, out, available = 0.0, 1.0, float(times[0]), [], 1.0
    for time in times:
        u, available = specimen.rested(u, x, time - last, tau_rec, tau_f)
        u, x, released = specimen.spike(u, available, baseline)
        out.append(released)
        last = time
    return np.array(out), u, available


def regular(rate: float, count: int) -> Array:
    """Times in ms of a train at a rate in Hz."""
    return np.asarray(np.arange(count) * 1000.0 / rate, dtype=np.float64)


@computed_once
def integrated(times: Array, constants: Set) -> Array:
    """The same releases, with scipy between the spikes."""
    baseline, tau_rec, tau_f = constants
    state, last, out = np.array([0.0, 1.0]), float(times[0]), []
    for time in times:
        if time > last:
            solved = solve_ivp(
                lambda _, s: [-s[0] / tau_f if tau_f else 0.0, (1.0 - s[1]) / tau_rec],
                (last, time),
                state,
                rtol=1e-11,
                atol=1e-13,
            )
            state = solved.y[:, -1]
        u = baseline if not tau_f else state[0] + baseline * (1.0 - state[0])
        out.append(u * state[1])
        state, last = np.array([u, state[1] * (1.0 - u)]), time
    return np.array(out)


def solved(train: Sequence[float], baseline: float, tau_rec: float, tau_f: float) -> float:
    """Release of the last spike of a train, with the solution of the equations between spikes."""
    u, x, last = 0.0, 1.0, train[0]
    for time in train:
        x, u = (
            1.0 - (1.0 - x) * math.exp((last - time) / tau_rec),
            u * math.exp((last - time) / tau_f) if tau_f else 0.0,
        )
        u, x, released, last = (
            u + baseline * (1.0 - u),
            x * (1.0 - baseline) * (1.0 - u),
            x * (u + baseline - baseline * u),
            time,
        )
    return released


def steady(interval: float, constants: Set) -> tuple[float, float]:
    """u and x of the steady state at an interval in ms, in closed form."""
    baseline, tau_rec, tau_f = constants
    fall = math.exp(-interval / tau_f) if tau_f else 0.0
    u, e = baseline / (1.0 - (1.0 - baseline) * fall), math.exp(-interval / tau_rec)
    return u, (1.0 - e) / (1.0 - (1.0 - u) * e)


# --- the equations --------------------------------------------------------------------------------
@equation(
    "CM-10.4a",
    source=f"{TSODYKS}: U 0.5, tau_rec 800 ms, no facilitation, 20 Hz; by scipy.integrate.solve_ivp, and the numbers",
    atol=1e-4,
    figure="dynamic_synapses",
    papers=("tsodyks1998neural", "tsodyks1997neural"),
)
def a_depressing_synapse_releases_less_and_less(specimen: Any) -> Any:
    measured = releases(specimen, regular(20.0, 5), DEPRESSING)[0]
    return [measured, measured], [
        integrated(regular(20.0, 5), DEPRESSING),
        [0.5, 0.2651, 0.1548, 0.1030, 0.0787],
    ]


@equation(
    "CM-10.4b",
    source="steady state in closed form, and its numbers at 10, 20 and 50 Hz",
    atol=1e-4,
    figure="steady",
    papers=("tsodyks1998neural", "tsodyks1997neural"),
)
def depression_reaches_the_steady_state_of_the_rate(specimen: Any) -> Any:
    measured = [
        releases(specimen, regular(rate, 200), DEPRESSING)[0][-1] for rate in (10.0, 20.0, 50.0)
    ]
    closed = [math.prod(steady(1000.0 / rate, DEPRESSING)) for rate in (10.0, 20.0, 50.0)]
    return [measured, measured], [closed, [0.1052, 0.05713, 0.0241]]


@equation(
    "CM-10.4c",
    source="paired pulses at 50 ms: 1 - U e^(-T / tau_rec) = 0.530",
    atol=1e-3,
    papers=("tsodyks1998neural", "tsodyks1997neural"),
)
def the_second_of_two_pulses_is_half_the_first(specimen: Any) -> Any:
    first, second = releases(specimen, regular(20.0, 2), DEPRESSING)[0]
    return [second / first, second / first], [1.0 - 0.5 * math.exp(-50.0 / 800.0), 0.530]


@equation(
    "CM-10.5a",
    source=f"{TSODYKS}: U 0.03, tau_rec 130 ms, tau_f 530 ms, 20 Hz; by scipy.integrate.solve_ivp, and the numbers",
    atol=1e-4,
    figure="dynamic_synapses",
    papers=("tsodyks1998neural", "markram1998differential"),
)
def a_facilitating_synapse_releases_more_and_more(specimen: Any) -> Any:
    measured = releases(specimen, regular(20.0, 5), FACILITATING)[0]
    return [measured, measured], [
        integrated(regular(20.0, 5), FACILITATING),
        [0.0300, 0.0553, 0.0757, 0.0918, 0.1043],
    ]


@equation(
    "CM-10.5b",
    source="steady state in closed form: u = 0.2557, x = 0.6472, u x = 0.1655",
    atol=1e-4,
    papers=("tsodyks1998neural", "markram1998differential"),
)
def facilitation_settles_at_its_closed_form(specimen: Any) -> Any:
    released, u, x = releases(specimen, regular(20.0, 400), FACILITATING)
    closed = steady(50.0, FACILITATING)
    return [[u, x, released[-1]]] * 2, [[*closed, math.prod(closed)], [0.2557, 0.6472, 0.1655]]


@equation(
    "CM-10.5c",
    source="paired pulses at 50 ms in closed form: 1.844",
    atol=1e-3,
    papers=("tsodyks1998neural", "markram1998differential"),
)
def the_second_of_two_pulses_is_nearly_twice_the_first(specimen: Any) -> Any:
    first, second = releases(specimen, regular(20.0, 2), FACILITATING)[0]
    u = 0.03 * math.exp(-50 / 530) * 0.97 + 0.03
    return [second / first] * 2, [u * (1.0 - 0.03 * math.exp(-50 / 130)) / 0.03, 1.844]


@equation(
    "CM-10.4d",
    source="scipy.integrate.solve_ivp between the spikes of irregular trains, all four published sets",
    atol=1e-7,
    papers=("tsodyks1998neural", "tsodyks1997neural", "markram1998differential"),
)
def irregular_trains_follow_the_differential_equations(specimen: Any) -> Any:
    rng = np.random.default_rng(0)
    trains = [
        (np.sort(rng.uniform(0.0, 2000.0, 25)), c)
        for c in (DEPRESSING, FACILITATING, WORKING, PYRAMIDAL)
    ]
    return [releases(specimen, *t)[0] for t in trains], [integrated(*t) for t in trains]


@equation(
    "CM-10.6a",
    source=f"{TSODYKS}: mean-field equations integrated to their fixed point by scipy.integrate.solve_ivp",
    atol=1e-6,
    papers=("tsodyks1998neural",),
)
def the_mean_field_is_the_fixed_point_of_its_equations(specimen: Any) -> Any:
    measured, expected = [], []
    for baseline, tau_rec, tau_f in (FACILITATING, WORKING, PYRAMIDAL):
        for rate in (0.002, 0.02, 0.1):

            def flow(
                _: float, s: Array, r: float = rate, c: Set = (baseline, tau_rec, tau_f)
            ) -> list[float]:
                jumped = s[0] + c[0] * (1.0 - s[0])
                return [
                    -s[0] / c[2] + c[0] * (1.0 - s[0]) * r,
                    (1.0 - s[1]) / c[1] - jumped * s[1] * r,
                ]

            minus, x = solve_ivp(
                flow, (0.0, 4.0e4), [0.0, 1.0], rtol=1e-10, atol=1e-12, method="LSODA"
            ).y[:, -1]
            measured.append(specimen.mean_field(rate, baseline, tau_rec, tau_f))
            expected.append((minus + baseline * (1.0 - minus), x))
    return measured, expected


@equation(
    "CM-10.6b",
    source="x before a spike of a Poisson train, on average 1 / (1 + U tau_rec r): exact without facilitation",
    papers=("tsodyks1998neural", "tsodyks1997neural"),
)
def poisson_trains_follow_the_mean_field(specimen: Any) -> Any:
    rng, ratios = np.random.default_rng(1), []
    for rate in (0.005, 0.02):
        released = releases(specimen, np.cumsum(rng.exponential(1.0 / rate, 20000)), DEPRESSING)[0]
        ratios.append(released[100:].mean() / 0.5 * (1.0 + 0.5 * 800.0 * rate))
    return between(ratios, 0.97, 1.03)


@limit(
    "CM-10.6c",
    source=f"{TSODYKS}: r u x tends to 1 / tau_rec = 1.25 a second, in the mean field and in a fast train",
    rtol=5e-3,
    papers=("tsodyks1998neural", "tsodyks1997neural"),
)
def at_high_rates_total_release_does_not_depend_on_the_rate(specimen: Any) -> Any:
    field = [
        1000.0 * rate * math.prod(specimen.mean_field(rate, *DEPRESSING)) for rate in (1.0, 10.0)
    ]
    train = [
        rate * releases(specimen, regular(rate, 4000), DEPRESSING)[0][-1] for rate in (1000.0,)
    ]
    return [*field, *train], 1.25


@limit(
    "CM-10.6d",
    source="closed form: five tau_rec restore the first response to 1 - (1 - x) e^-5, at least 99.3%",
    papers=("tsodyks1998neural", "tsodyks1997neural"),
)
def rest_restores_the_first_response(specimen: Any) -> Any:
    times = np.r_[regular(20.0, 20), 950.0 + 5 * 800.0]
    return at_least(releases(specimen, times, DEPRESSING)[0][-1] / 0.5, 0.993)


@limit(
    "CM-10.6f",
    source="tau_rec -> 0: dx/dt = (1 - x) / tau_rec holds x at 1; tau_f -> 0 holds u before a spike at 0",
    atol=0.0,
    papers=("tsodyks1998neural",),
)
def without_time_constants_a_synapse_is_rested_at_once(specimen: Any) -> Any:
    return [specimen.rested(0.4, 0.3, t, 0.0, 0.0) for t in (0.0, 1e-3, 50.0)], [(0.0, 1.0)] * 3


@signature(
    "CM-10.6e",
    source=f"{TSODYKS}: facilitating at low rates iff U < tau_f / (tau_f + tau_rec), in the mean field",
    papers=("tsodyks1998neural",),
)
def the_baseline_decides_between_facilitation_and_depression(specimen: Any) -> Any:
    tau_rec, tau_f, measured = 130.0, 530.0, []
    for baseline in (0.9, 0.999, 1.001, 1.1):
        large = baseline * tau_f / (tau_f + tau_rec)
        slow, slower = (
            math.prod(specimen.mean_field(rate, large, tau_rec, tau_f)) for rate in (1e-7, 0.0)
        )
        measured.append(slow > slower)
    return measured == [True, True, False, False]


@signature(
    "CM-10.7",
    source="without recovery 20 Hz would release 0.5, 0.375, 0.109, 0.0147, 0.00095, and 1 Hz the same",
    figure="dynamic_synapses",
    papers=("tsodyks1998neural", "tsodyks1997neural"),
)
def releases_depend_on_the_rate(specimen: Any) -> Any:
    fast, slow = (releases(specimen, regular(rate, 5), DEPRESSING)[0] for rate in (20.0, 1.0))
    collapsed = np.array([0.5, 0.375, 0.109375, 0.0146484, 0.0009461])
    return bool((slow[1:] > 1.3 * fast[1:]).all() and np.abs(fast[1:] - collapsed[1:]).min() > 0.04)


@reference(
    "CM-10.5d",
    source="Mongillo, Barak & Tsodyks 2008: U 0.2, tau_rec 200 ms, tau_f 1.5 s; after a burst u stays raised for about a second",
    warn=True,
    papers=("mongillo2008synaptic",),
)
def facilitation_maintains_a_burst_for_about_a_second(specimen: Any) -> Any:
    _, u, x = releases(specimen, regular(50.0, 10), WORKING)
    later = specimen.rested(u, x * (1.0 - u), 1000.0, WORKING[1], WORKING[2])
    return bool(specimen.spike(*later, 0.2)[2] > 1.5 * 0.2 and later[1] > 0.98)


# --- memories as sources --------------------------------------------------------------------------
def blank(n: int) -> tuple[Array, Array, Array]:
    return np.zeros(n), np.zeros(n), np.full(n, np.nan)


@adaptation(
    "CM-10.4e",
    source="the train of one source, by scipy.integrate.solve_ivp: the last release over that of a rested source",
    atol=1e-6,
)
def resources_are_what_the_next_spike_would_release(specimen: Any) -> Any:
    measured, expected = [], []
    for constants in (DEPRESSING, FACILITATING, PYRAMIDAL):
        times, state = np.sort(np.random.default_rng(2).uniform(0.0, 1000.0, 12)), blank(2)
        for time in times[:-1]:
            specimen.use(1, time, constants[0], np.ones(2), *constants[1:], *state)
        out = np.zeros(2, np.float32)
        specimen.resources(times[-1], constants[0], np.ones(2), *constants[1:], *state, out)
        measured.append(out)
        expected.append([1.0, integrated(times, constants)[-1] / constants[0]])
    return measured, expected


@adaptation(
    "CM-10.4f",
    source="closed form: two uses with U halved or tripled by another mechanism; release over U is the product of the factors",
    atol=1e-6,
)
def a_factor_on_the_release_probability_scales_the_baseline(specimen: Any) -> Any:
    measured, expected, e = [], [], math.exp(-50.0 / 800.0)
    for factor in (0.5, 1.0, 3.0, 0.0):
        state, out = blank(1), np.zeros(1, np.float32)
        specimen.use(0, 0.0, 0.5, np.full(1, factor), 800.0, 0.0, *state)
        specimen.resources(50.0, 0.5, np.full(1, factor), 800.0, 0.0, *state, out)
        raised = min(0.5 * factor, 1.0)
        measured.append(factor * float(out[0]))
        expected.append(raised * (1.0 - raised * e) / 0.5)
    return measured, expected


@adaptation(
    "CM-10.4g",
    source="ours: the last replayed step ends with the sleep; the same train by scipy.integrate.solve_ivp",
    atol=1e-6,
)
def replayed_steps_are_uses_in_their_order(specimen: Any) -> Any:
    """A step with one end is none."""
    steps = np.array(
        [[-1, 2], [1, -1], [1, 0], [0, 1], [1, 2], [2, -1], [0, 1], [-1, 1], [1, 0], [-1, -1]],
        np.int32,
    )
    lag = np.array([7.0, 9.0, 15.0, 30.0, 20.0, 8.0, 10.0, 6.0, 40.0, 3.0])
    state, out = blank(3), np.zeros(3, np.float32)
    specimen.replay(500.0, steps, lag, 0.5, np.ones(3), 800.0, 0.0, *state)
    specimen.resources(520.0, 0.5, np.ones(3), 800.0, 0.0, *state, out)
    # 115 ms in total; 0 and 1 are not activated again
    trains = ([400.0, 450.0, 500.0, 520.0], [385.0, 430.0, 460.0, 520.0], [450.0, 520.0])
    return out, [integrated(np.array(t), DEPRESSING)[-1] / 0.5 for t in trains]


@adaptation(
    "CM-10.4h", source="a common scale of time: times and time constants times kappa", atol=1e-6
)
def the_scale_of_time_is_a_change_of_unit(specimen: Any) -> Any:
    results = []
    for kappa in (1.0, 2400.0 / 3.6e6):
        state, out = blank(1), np.zeros(1, np.float32)
        for time in (0.0, 90.0, 130.0, 700.0):
            specimen.use(0, kappa * time, 0.03, np.ones(1), 130.0 * kappa, 530.0 * kappa, *state)
        specimen.resources(
            kappa * 760.0, 0.03, np.ones(1), 130.0 * kappa, 530.0 * kappa, *state, out
        )
        results.append(float(out[0]))
    return results[1], results[0]


# --- in a memory ----------------------------------------------------------------------------------
# on U of each memory; 3 U is more than 1
FACTORS = (1.0, 0.6, 1.7, 3.0, 0.0)


def used_in_memory(
    specimen: Any, kappa: float | None, constants: Set, **values: Any
) -> tuple[list[float], list[float]]:
    """RESOURCES of five memories at eight queries, and the same from their trains of spikes, in ms.

    An event is rejected, one query may change memory and one may not, a sleep replays steps, one of
    them from before a memory's last use.
    """
    # one ms of the paper
    hour = MS * (KAPPA if kappa is None else kappa)
    steps, lags = ((0, 2), (2, 4), (1, 0), (4, 2)), (60.0, 300.0, 25.0, 40.0)

    def sleep(view: Any, tick: Any) -> None:
        if tick.end < 5000.0 * hour:
            # the first step is unused
            view.replayed[1:5], view.replay_lag[1:5] = steps, np.multiply(lags, hour)

    memory = memory_of(
        specimen,
        "lexical_bm25",
        refusing("rejected"),
        marking(RELEASE_PROBABILITY, FACTORS),
        neighbour(Phase.CONSOLIDATE, sleep, sets=(REPLAYED, REPLAY_LAG), id="sleep"),
        time_scale=kappa,
        consolidate_every=4000.0 * hour,
        **values,
    )
    texts, times = (
        ("a red boat", "lost keys", "a blue boat", "an old boat", "some bread"),
        (0.0, 150.0, 400.0, 1000.0, 1350.0),
    )
    trains: list[list[float]] = [[time] for time in times]
    for time, text in zip(times, texts, strict=True):
        encode(memory, (time * hour, text))
        if time == 400.0:
            encode(memory, (450.0 * hour, "rejected boat"))
    measured: list[float] = []
    expected: list[float] = []
    for now in (1350.0, 3700.0, 3760.0, 4000.0, 4200.0, 4400.0, 12600.0, 30000.0):
        learn = now in (3700.0, 4200.0)
        memory.advance(now * hour)
        # 425 ms of replay end with the sleep
        if now == 4000.0:
            for row, time in (
                (0, 3575.0),
                (2, 3635.0),
                (4, 3935.0),
                (1, 3935.0),
                (0, 3960.0),
                (4, 3960.0),
                (2, 4000.0),
            ):
                trains[row].append(max(time, trains[row][-1]))
        rows = memory.retrieve("boat", k=3, learn=learn).rows.tolist()
        measured += memory.column(RESOURCES).tolist()
        for train, factor in zip(trains, FACTORS, strict=True):
            aim = factor * constants[0]
            expected.append(
                solved([*train, now], min(aim, 1.0), *constants[1:]) / aim if aim else 1.0
            )
        if learn:
            assert sorted(rows) == [0, 2, 3]
            for row in rows:
                trains[row].append(now)
    return measured, expected


@equation(
    "CM-10.4i",
    source=f"{TSODYKS}: the trains of five memories in closed form, in ms; release relative to that of a rested source",
    rtol=1e-6,
    atol=1e-6,
    papers=("tsodyks1998neural", "markram1998differential"),
)
def in_a_memory_at_the_papers_time_uses_deplete_resources(specimen: Any) -> Any:
    return used_in_memory(specimen, 1.0, DEPRESSING)


@equation(
    "CM-10.4j",
    source=f"as CM-10.4i with {KAPPA:g} simulated milliseconds for one",
    rtol=1e-6,
    atol=1e-6,
    papers=("tsodyks1998neural", "markram1998differential"),
)
def in_a_memory_at_its_default_time_scale_uses_deplete_resources(specimen: Any) -> Any:
    return used_in_memory(specimen, None, DEPRESSING)


@equation(
    "CM-10.5e",
    source="as CM-10.4i with the numbers of the facilitating synapse: U 0.03, tau_rec 130 ms, tau_f 530 ms",
    rtol=1e-6,
    atol=1e-6,
    papers=("tsodyks1998neural", "markram1998differential"),
)
def in_a_memory_uses_facilitate_with_other_numbers(specimen: Any) -> Any:
    baseline, tau_rec, tau_f = FACILITATING
    return used_in_memory(
        specimen, 1.0, FACILITATING, baseline=baseline, tau_rec=tau_rec, tau_f=tau_f
    )


# --- figures --------------------------------------------------------------------------------------
@figure(
    "dynamic_synapses",
    caption="In a train at 20 Hz a depressing synapse releases less with each spike, a facilitating one more; without "
    "recovery, as printed, release collapses",
    source=f"{TSODYKS}; Cortex 4.4.5 iterated by hand",
)
def releases_in_a_train(specimen: Any) -> Picture:
    spikes = np.arange(1, 11)
    return Picture(
        "spike of a train at 20 Hz",
        "release, u x",
        (
            Curve("depressing", spikes, releases(specimen, regular(20.0, 10), DEPRESSING)[0]),
            Curve("facilitating", spikes, releases(specimen, regular(20.0, 10), FACILITATING)[0]),
            dots("equations solved, depressing", spikes[:5], [0.5, 0.2651, 0.1548, 0.1030, 0.0787]),
            dots(
                "equations solved, facilitating",
                spikes[:5],
                [0.0300, 0.0553, 0.0757, 0.0918, 0.1043],
            ),
            Curve("printed, at any rate", spikes[:5], [0.5, 0.375, 0.109375, 0.0146484, 0.0009461]),
        ),
    )


@figure(
    "steady",
    caption="The steady release of a depressing synapse falls with the rate; that of a facilitating one has a peak",
    source=f"{TSODYKS}; dots: steady state at 10, 20 and 50 Hz",
)
def release_over_rate(specimen: Any) -> Picture:
    rates = np.geomspace(0.5, 100.0, 25)
    return Picture(
        "rate, Hz",
        "steady release, u x",
        (
            *(
                Curve(
                    label,
                    rates,
                    np.array([releases(specimen, regular(r, 60), c)[0][-1] for r in rates]),
                )
                for label, c in (("depressing", DEPRESSING), ("facilitating", FACILITATING))
            ),
            dots("closed form", [10.0, 20.0, 50.0], [0.1052, 0.05713, 0.0241]),
        ),
        log="x",
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("no recovery, as Cortex prints it", rejected_by="CM-10.4a")
def without_recovery(specimen: Any) -> Any:
    return specimen.replacing("rested", lambda u, x, *_: (u, x))


@mutant("no recovery, so the rate has no effect", rejected_by="CM-10.7")
def rate_blind(specimen: Any) -> Any:
    return specimen.replacing("rested", lambda u, x, *_: (u, x))


@mutant("u falls to U, not to 0", rejected_by="CM-10.5a")
def falls_to_baseline(specimen: Any) -> Any:
    return specimen.replacing(
        "rested",
        lambda u, x, t, tau_rec, tau_f: (
            0.03 + (u - 0.03) * math.exp(-t / tau_f) if tau_f else 0.0,
            specimen.rested(u, x, t, tau_rec, tau_f)[1],
        ),
    )


@mutant("the time constants exchanged", rejected_by="CM-10.5b")
def exchanged(specimen: Any) -> Any:
    return specimen.replacing(
        "rested", lambda u, x, t, tau_rec, tau_f: specimen.rested(u, x, t, tau_f, tau_rec)
    )


@mutant("one Euler step instead of the solution", rejected_by="CM-10.4d")
def euler(specimen: Any) -> Any:
    return specimen.replacing(
        "rested",
        lambda u, x, t, tau_rec, tau_f: (
            max(u - u * t / tau_f, 0.0) if tau_f else 0.0,
            min(x + (1.0 - x) * t / tau_rec, 1.0),
        ),
    )


@mutant("release before u jumps", rejected_by="CM-10.5c")
def early_release(specimen: Any) -> Any:
    def spike(u: float, x: float, baseline: float) -> tuple[float, float, float]:
        released = max(u, baseline * (u == 0.0)) * x
        return u + baseline * (1.0 - u), x - released, released

    return specimen.replacing("spike", spike)


@mutant("u without a bound", rejected_by="CM-10.5b")
def additive(specimen: Any) -> Any:
    return specimen.replacing(
        "spike", lambda u, x, baseline: (u + baseline, x - (u + baseline) * x, (u + baseline) * x)
    )


@mutant("resources are not used up", rejected_by="CM-10.4c")
def inexhaustible(specimen: Any) -> Any:
    return specimen.replacing(
        "spike",
        lambda u, x, baseline: (u + baseline * (1.0 - u), x, (u + baseline * (1.0 - u)) * x),
    )


@mutant("mean field without depression", rejected_by="CM-10.6c")
def undepressed(specimen: Any) -> Any:
    return specimen.replacing(
        "mean_field",
        lambda rate, baseline, tau_rec, tau_f: (
            specimen.mean_field(rate, baseline, tau_rec, tau_f)[0],
            1.0,
        ),
    )


@mutant("mean field with u before its jump", rejected_by="CM-10.6a")
def before_the_jump(specimen: Any) -> Any:
    def mean_field(
        rate: float, baseline: float, tau_rec: float, tau_f: float
    ) -> tuple[float, float]:
        u = baseline * tau_f * rate / (1.0 + baseline * tau_f * rate)
        return u, 1.0 / (1.0 + u * tau_rec * rate)

    return specimen.replacing("mean_field", mean_field)


@mutant("resources as of the last use, not as of now", rejected_by="CM-10.4e")
def stale(specimen: Any) -> Any:
    return specimen.replacing(
        "resources",
        lambda now, baseline, release, tau_rec, tau_f, u, d, used, out: specimen.resources(
            float(np.nanmax(used)), baseline, release, tau_rec, tau_f, u, d, used, out
        ),
    )


@mutant("every end of a replayed step is a use", rejected_by="CM-10.4g")
def used_twice(specimen: Any) -> Any:
    def replay(end: float, steps: Any, lag: Any, *rest: Any) -> None:
        time = end - lag[(steps >= 0).all(axis=1)].sum()
        for (a, b), gap in zip(steps[(steps >= 0).all(axis=1)], lag, strict=False):
            specimen.use(a, time, *rest)
            time += gap
            specimen.use(b, time, *rest)

    return specimen.replacing("replay", replay)


@mutant("only the best memory of an answer is used", rejected_by="CM-10.4i")
def best_alone(specimen: Any) -> Any:
    def on_recall(self: Any, view: Any, cue: Any) -> None:
        specimen.use(view.recalled[0], view.now, *self._state(view))

    return specimen.overriding("ShortTermPlasticity", on_recall=on_recall)


@mutant("the time scale divides", rejected_by="CM-10.4j")
def divided_scale(specimen: Any) -> Any:
    def hours(self: Any, name: str) -> float:
        return float(specimen.ShortTermPlasticity.hours(self, name) / self.params.time_scale**2)

    return specimen.overriding("ShortTermPlasticity", hours=hours)


@mutant("the two time constants exchanged in the plug-in", rejected_by="CM-10.5e")
def exchanged_in_plug_in(specimen: Any) -> Any:
    def hours(self: Any, name: str) -> float:
        return float(
            specimen.ShortTermPlasticity.hours(
                self, {"tau_rec": "tau_f", "tau_f": "tau_rec"}.get(name, name)
            )
        )

    return specimen.overriding("ShortTermPlasticity", hours=hours)


@mutant("a replay that starts when the sleep ends", rejected_by="CM-10.4i")
def late_replay(specimen: Any) -> Any:
    def sleep(self: Any, view: Any, tick: Any) -> None:
        specimen.replay(tick.start, view.replayed, view.replay_lag, *self._state(view))

    return specimen.overriding("ShortTermPlasticity", sleep=sleep)
