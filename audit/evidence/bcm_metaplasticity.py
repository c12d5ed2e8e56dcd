"""Evidence for bcm_metaplasticity: the plug-in's kernel on one neuron with clamped inputs; the
drive is 0 where the paper has none. References: fixed points, eigenvalues by hand, the averaged
differential equations in a general solver, and matrices.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from ...engine.contract.records import Event
from ...engine.contract.vocabulary import MODIFIABILITY
from ...engine.state.graph import EdgeType
from ..checks import adaptation, at_most, equation, limit, mutant, signature
from ..figures import Curve, Picture, dots, figure
from ..memory import Scripted, encode, memory_of
from .shared.crowded import SOURCE as CROWDED
from .shared.crowded import associates_of_a_crowded_memory
from .shared.named import SOURCE as NAMED
from .shared.named import named
from .shared.scripts import attending, refusing, replaying

IC = "Intrator & Cooper 1992"


def neuron(
    specimen: Any,
    inputs: NDArray[np.int64],
    w: list[float],
    eta: float,
    tau: float,
    theta: float,
    drive: float = 0.0,
) -> tuple[Any, float]:
    """Weights and threshold of node 0 after a sequence of one-hot inputs, given by number; input
    k comes over edge k from node k + 1.
    """
    n, weight = len(w) + 1, np.array(w, dtype=np.float64)
    thetas, modifiability = np.full(n, theta), np.zeros(n)
    inputs = np.asarray(inputs, dtype=np.int64)
    specimen.occur(
        len(inputs),
        inputs + 1,
        np.zeros(len(inputs), np.int64),
        inputs,
        drive,
        eta,
        tau,
        weight,
        thetas,
        modifiability,
    )
    return weight, float(thetas[0])


def course(
    specimen: Any, c: float, steps: int, eta: float, tau: float, theta: float, every: int = 1
) -> NDArray[np.float64]:
    """Response of a neuron with one input that is always active."""
    seen = []
    for _ in range(steps // every):
        weight, theta = neuron(specimen, np.zeros(every, np.int64), [c], eta, tau, theta)
        c = float(weight[0])
        seen.append(c)
    return np.array(seen)


# --- the equations --------------------------------------------------------------------------------
@equation(
    "CM-10.9",
    source="phi(0) = phi(theta) = 0, minimum -theta^2 / 4 at theta / 2",
    atol=1e-12,
    figure="modification",
    papers=("bienenstock1982theory", "intrator1992objective"),
)
def modification_is_a_parabola_through_zero_and_the_threshold(specimen: Any) -> Any:
    thetas = np.array([0.5, 1.0, 2.0, 7.0])
    grid = np.linspace(0.0, 1.0, 2001)
    curves = [np.array([specimen.phi(t * g, t) for g in grid]) for t in thetas]
    return (
        [[y[0], y[-1], y.min(), grid[y.argmin()]] for y in curves],
        [[0.0, 0.0, -t * t / 4.0, 0.5] for t in thetas],
    )


@equation(
    "CM-10.9b",
    source="numpy: exponentially weighted mean of squares",
    papers=("bienenstock1982theory", "intrator1992objective"),
)
def the_threshold_is_the_running_mean_of_squares(specimen: Any) -> Any:
    c, theta, tau = np.random.default_rng(0).uniform(0.0, 3.0, 40), 0.7, 6.0
    for value in c:
        theta = specimen.slide(theta, value, tau)
    kept = (1.0 - 1.0 / tau) ** np.arange(40, -1, -1)
    return theta, kept[0] * 0.7 + (kept[1:] * c**2).sum() / tau


@equation(
    "CM-8.5d",
    source=f"{IC}: W <- W + eta phi x^T for all active neurons, in matrices",
    atol=1e-12,
    papers=("intrator1992objective",),
)
def an_occasion_of_many_memories_equals_the_rule_in_matrices(specimen: Any) -> Any:
    rng, n, eta, tau, drive = np.random.default_rng(3), 6, 0.02, 5.0, 1.0
    source, target = np.nonzero(~np.eye(n, dtype=bool))
    weight, theta = rng.normal(0.2, 0.3, len(source)), rng.uniform(0.0, 2.0, n)
    dense, threshold = np.zeros((n, n)), theta.copy()
    dense[target, source] = weight
    modifiability, told = np.zeros(n), np.zeros(n)
    for _ in range(25):
        here = np.flatnonzero(rng.random(n) < 0.6)
        pairs = np.flatnonzero(np.isin(source, here) & np.isin(target, here))
        modifiability[:] = 0.0
        specimen.occasion(
            source[pairs], target[pairs], pairs, drive, eta, tau, weight, theta, modifiability
        )
        x = np.zeros(n)
        x[here] = 1.0
        c = drive + dense @ x
        told = np.where((x > 0) & (len(here) > 1), c * (c - threshold), 0.0)
        dense += eta * np.outer(told, x) * (1.0 - np.eye(n))
        threshold = np.where(
            (x > 0) & (len(here) > 1), threshold + (c**2 - threshold) / tau, threshold
        )
    return np.concatenate([weight, theta, modifiability]), np.concatenate(
        [dense[target, source], threshold, told]
    )


@equation(
    "CM-8.5c",
    source="solve_ivp of dc/dt = eta c (c - theta), dtheta/dt = (c^2 - theta) / tau",
    rtol=2e-3,
    papers=("bienenstock1982theory", "intrator1992objective"),
)
def small_steps_follow_the_differential_equations(specimen: Any) -> Any:
    eta, tau = 2e-4, 500.0
    times = np.array([1000, 5000, 20000, 60000])
    measured = []
    for t in times:
        weight, theta = neuron(specimen, np.zeros(t, np.int64), [0.4], eta, tau, 0.2)
        measured += [weight[0], theta]
    solution = solve_ivp(
        lambda _, y: [eta * y[0] * (y[0] - y[1]), (y[0] ** 2 - y[1]) / tau],
        (0.0, 6e4),
        [0.4, 0.2],
        method="LSODA",
        t_eval=times,
        rtol=1e-9,
        atol=1e-11,
    )
    return measured, solution.y.T.ravel()


@equation(
    "CM-8.5",
    source=f"{IC}: one input, fast threshold: c = 1 attracts",
    atol=1e-3,
    figure="one_input",
    papers=("intrator1992objective",),
)
def the_response_to_one_input_converges_to_one(specimen: Any) -> Any:
    for c in (2.9, 1.5, 0.5, 0.05):
        yield course(specimen, c, 40000, 0.01, 5.0, c * c, every=40000)[-1], 1.0


@limit(
    "CM-8.5b",
    source="c = 0 is a fixed point, and repels: dc/dt = eta c^2 (1 - c) > 0 just above it",
    papers=("bienenstock1982theory", "intrator1992objective"),
)
def silence_is_an_unstable_fixed_point(specimen: Any) -> Any:
    away = course(specimen, 1e-3, 2000, 0.01, 5.0, 1e-6, every=2000)[-1]
    return bool(course(specimen, 0.0, 100, 0.01, 5.0, 0.0)[-1] == 0.0 and away > 1.01e-3)


def spectral_radius(specimen: Any, eta: float, tau: float) -> float:
    """Spectral radius of one step around c = theta = 1, by central differences."""
    h = 1e-6

    def step(c: float, theta: float) -> NDArray[np.float64]:
        weight, after = neuron(specimen, np.zeros(1, np.int64), [c], eta, tau, theta)
        return np.array([weight[0], after])

    jacobian = np.column_stack(
        [
            (step(1.0 + h, 1.0) - step(1.0 - h, 1.0)) / (2 * h),
            (step(1.0, 1.0 + h) - step(1.0, 1.0 - h)) / (2 * h),
        ]
    )
    return float(np.abs(np.linalg.eigvals(jacobian)).max())


@equation(
    "CM-8.7",
    source="determinant of the step's Jacobian, 1 + eta - (1 - eta) / tau: stable where eta (tau + 1) < 1",
    rtol=1e-8,
    papers=("bienenstock1982theory", "intrator1992objective"),
)
def the_fixed_point_is_unstable_where_the_threshold_is_slower_than_learning(specimen: Any) -> Any:
    cases = ((0.01, 90.0), (0.01, 99.0), (0.01, 110.0), (0.02, 5.0))
    expected = []
    for eta, tau in cases:
        trace, determinant = 2.0 + eta - 1.0 / tau, 1.0 + eta - (1.0 - eta) / tau
        root = complex(trace * trace / 4.0 - determinant) ** 0.5
        expected.append(max(abs(trace / 2.0 + root), abs(trace / 2.0 - root)))
    return [spectral_radius(specimen, *case) for case in cases], expected


@signature(
    "CM-8.7c",
    source="solve_ivp at eta tau = 0.9 and 1.1: rest at 1, and a cycle from 0.42 to 1.59",
    atol=0.01,
    figure="one_input",
    papers=("bienenstock1982theory", "intrator1992objective"),
)
def beyond_the_bifurcation_the_response_oscillates(specimen: Any) -> Any:
    measured, expected = [], []
    for tau in (900.0, 1100.0):
        swings = course(specimen, 1.2, 400000, 0.001, tau, 1.2, every=100)[-200:]

        def slope(_: float, y: Any, tau: float = tau) -> Any:
            return [y[0] * (y[0] - y[1]), 1000.0 / tau * (y[0] ** 2 - y[1])]

        last = np.linspace(380.0, 400.0, 400)
        solution = solve_ivp(
            slope, (0.0, 400.0), [1.2, 1.2], method="LSODA", t_eval=last, rtol=1e-8, atol=1e-10
        ).y[0]
        measured += [swings.min(), swings.max()]
        expected += [solution.min(), solution.max()]
    return measured, expected


@signature(
    "CM-8.6",
    source=f"{IC}: two orthonormal inputs of probability 1/2; response 1/p = 2 to one, 0 to the other, theta = 2",
    atol=0.15,
    figure="selectivity",
    papers=("intrator1992objective",),
)
def a_neuron_becomes_selective_for_one_of_two_inputs(specimen: Any) -> Any:
    inputs = np.random.default_rng(5).integers(0, 2, 60000)
    weight, theta = neuron(specimen, inputs, [0.6, 0.4], 0.002, 50.0, 0.5)
    return [*np.sort(weight), theta], [0.0, 2.0, 2.0]


@equation(
    "CM-8.7d",
    source=f"{IC}: the selective fixed point is 1 / p = k of k inputs in turn; with a threshold that decays by r = 1 - 1 / tau per "
    "occasion, tau (1 - r^k) / r^(k - 1); a squared mean in place of the mean of squares gives 1 / p^2",
    rtol=1e-6,
    papers=("intrator1992objective",),
)
def the_response_to_an_input_is_one_over_its_probability(specimen: Any) -> Any:
    measured, expected, tau = [], [], 50.0
    for k in (2, 3, 4):
        weight, _ = neuron(
            specimen, np.tile(np.arange(k), 60000), [0.6, *[0.3] * (k - 1)], 0.002, tau, 0.3
        )
        measured.append(weight.max())
        expected.append(tau * (1.0 - (1.0 - 1.0 / tau) ** k) / (1.0 - 1.0 / tau) ** (k - 1))
    return measured, expected


# --- the adaptation -------------------------------------------------------------------------------
@adaptation("BCM-1", source="c = drive = 1, theta = 0", atol=0.0)
def a_memory_never_active_before_has_modifiability_one(specimen: Any) -> Any:
    modifiability = np.zeros(2)
    specimen.occasion(
        np.array([0, 1]),
        np.array([1, 0]),
        np.array([0, 1]),
        1.0,
        0.02,
        5.0,
        np.zeros(2),
        np.zeros(2),
        modifiability,
    )
    return modifiability, [1.0, 1.0]


@adaptation("BCM-2", source="fixed point c = theta = 1: phi = 0 and, with a drive of 1, w = 0")
def memories_that_are_always_active_together_stop_changing(specimen: Any) -> Any:
    weight, theta = neuron(specimen, np.zeros(4000, np.int64), [0.0], 0.02, 5.0, 0.0, drive=1.0)
    return at_most(np.abs([weight[0], theta - 1.0]), 1e-3)


@adaptation(
    "BCM-3",
    source="an occasion changes thresholds only after all responses are computed",
    atol=1e-15,
)
def the_order_of_the_pairs_does_not_matter(specimen: Any) -> Any:
    source, target = np.nonzero(~np.eye(4, dtype=bool))
    results = []
    for order in (np.arange(12), np.random.default_rng(1).permutation(12)):
        weight, theta, modifiability = (
            np.linspace(-0.3, 0.5, 12),
            np.linspace(0.0, 2.0, 4),
            np.zeros(4),
        )
        specimen.occasion(
            source[order], target[order], order, 1.0, 0.02, 5.0, weight, theta, modifiability
        )
        results.append(np.concatenate([weight, theta, modifiability]))
    return results[0], results[1]


@adaptation(
    "BCM-4", source="eight partners at a time: 8 eta (tau + 1) = 0.48 at eta 0.01, tau 5", atol=1e-6
)
def a_full_working_memory_is_stable(specimen: Any) -> Any:
    # pair i is of occasion i mod times
    times, eight = 3000, np.repeat(np.arange(8), 3000)
    weight, theta = np.zeros(8), np.zeros(9)
    specimen.occur(
        times,
        eight + 1,
        np.zeros(8 * times, np.int64),
        eight,
        1.0,
        0.01,
        5.0,
        weight,
        theta,
        np.zeros(9),
    )
    return [weight.sum(), theta[0]], [0.0, 1.0]


@adaptation(
    "BCM-5",
    source="ours: weights between -5 and 5; one occasion from c = 4, theta = 0 and from c = 1, theta = 20 at eta = 1",
    atol=0.0,
)
def a_weight_is_bounded(specimen: Any) -> Any:
    return [
        neuron(specimen, np.zeros(1, np.int64), [c], 1.0, 5.0, theta)[0][0]
        for c, theta in ((4.0, 0.0), (1.0, 20.0))
    ], [5.0, -5.0]


# --- in a memory ----------------------------------------------------------------------------------
# working memory at each event
HELD: tuple[tuple[int, ...], ...] = ((), (0,), (0, 1), (1, 2), (0, 1, 3), (3, 4), ())
PLACES = {
    f"event {row}": place
    for row, place in enumerate(
        ([1.0, 0.2], [0.9, -0.3], [0.7, 0.7], [-0.5, 1.0], [0.95, 0.1], [-1.0, 0.0], [0.6, 0.1])
    )
}
STEPS = [(0, 1), (3, 1), (1, 0), (0, 1), (4, 5), (2, 6), (0, 2), (1, 4)]


@equation(
    "CM-8.5e",
    source=f"{IC}: W <- W + eta phi x^T and the running mean of c^2, in matrices, over scripted occasions",
    rtol=1e-9,
    atol=1e-12,
    papers=("intrator1992objective",),
)
def a_memory_slides_its_thresholds(specimen: Any) -> Any:
    """Working memory, replayed steps and answers form occasions; an event is rejected, a query
    does not learn, a memory is archived.
    """
    n, drive, eta, tau = 7, 0.8, 0.07, 4.0
    w, paired, theta, told = np.zeros((n, n)), np.zeros((n, n), bool), np.zeros(n), np.ones(n)
    measured, expected = list[float](), list[float]()

    def occasion(pairs: Sequence[tuple[int, int]]) -> dict[int, float]:
        # x[target, source]
        x = np.zeros((n, n))
        for a, b in pairs:
            x[a, b] = x[b, a] = 1.0
        active = x.any(axis=1)
        c = drive + (w * x).sum(axis=1)
        change = c * (c - theta)
        w[...] = np.clip(w + eta * change[:, None] * x, -5.0, 5.0)
        theta[active] += (c[active] ** 2 - theta[active]) / tau
        paired[...] |= x > 0.0
        return {int(row): float(change[row]) for row in np.flatnonzero(active)}

    memory = memory_of(
        specimen,
        "dense_similarity",
        refusing("rejected"),
        attending(HELD),
        replaying(STEPS, until=30.0),
        embedder=Scripted({**PLACES, "rejected": [1.0, 0.0], "query": [1.0, 0.1]}),
        drive=drive,
        eta=eta,
        tau=tau,
    )

    def compare() -> None:
        weight, stored = memory.column(specimen.BCM_WEIGHT), memory.column(specimen.BCM_THETA).size
        for a in range(stored):
            for b in range(stored):
                edge = memory.graph.find(a, b, EdgeType.COACCESS)
                measured.extend(
                    (float(edge is not None), 0.0 if edge is None else float(weight[edge]))
                )
                expected.extend((float(paired[b, a]), float(w[b, a])))
        measured.extend((*memory.column(specimen.BCM_THETA), *memory.column(MODIFIABILITY)))
        expected.extend((*theta[:stored], *told[:stored]))

    def learn(pairs: Sequence[tuple[int, int]]) -> None:
        for row, value in occasion(pairs).items():
            told[row] = value

    for row, text in enumerate(PLACES):
        encode(memory, (2.0 * row, text))
        learn([(other, row) for other in HELD[row]])
        if row == 3:
            encode(memory, (7.0, "rejected"))
        compare()
    memory.retrieve("query", k=4)
    compare()
    memory.advance(25.0)
    nights: dict[int, list[float]] = {}
    for step in STEPS:
        for row, value in occasion([step]).items():
            nights.setdefault(row, []).append(value)
    for row, values in nights.items():
        told[row] = sum(values) / len(values)
    compare()
    memory.archive(1)
    # a sleep without replay
    memory.advance(50.0)
    for k in (4, 1, 2):
        rows = memory.retrieve("query", k=k, learn=True).rows.tolist()[:3]
        learn([(a, b) for i, a in enumerate(rows) for b in rows[i + 1 :]])
        compare()
    return measured, expected


crowded = adaptation("CM-8.5x", source=CROWDED)(associates_of_a_crowded_memory)


# --- figures --------------------------------------------------------------------------------------
@adaptation("CM-8.5w", source=NAMED)
def what_an_event_changes_of_earlier_rows_is_named(specimen: Any) -> Any:
    memory = memory_of(specimen, attending([range(row) for row in range(4)]))
    columns = (specimen.BCM_THETA,)
    counts = [named(memory, columns, Event(float(i), f"w{i}", dated=False)) for i in range(4)]
    return [(changed > 0, missed) for changed, missed in counts[-1]], [(True, 0)] * len(columns)


@figure(
    "modification",
    caption="Responses below the threshold weaken their synapse, those above it strengthen it, and the threshold slides with "
    "activity",
    source=f"{IC}: phi(c) = c (c - theta)",
)
def modification_over_response(specimen: Any) -> Picture:
    c = np.linspace(0.0, 2.5, 101)
    return Picture(
        "response c",
        "modification phi",
        tuple(
            Curve(f"theta {theta:g}", c, np.array([specimen.phi(x, theta) for x in c]))
            for theta in (0.5, 1.0, 2.0)
        ),
    )


@figure(
    "selectivity",
    caption="A neuron that responds to two inputs nearly equally becomes selective: its response is 1 / p = 2 to one and 0 "
    "to the other",
    source=f"{IC}; orthonormal inputs, each of probability 1/2",
)
def responses_over_presentations(specimen: Any) -> Picture:
    inputs, w, theta, course = (
        np.random.default_rng(5).integers(0, 2, 8000).reshape(80, 100),
        [0.6, 0.4],
        0.5,
        [(0.6, 0.4, 0.5)],
    )
    for some in inputs:
        weight, theta = neuron(specimen, some, w, 0.002, 50.0, theta)
        w = weight.tolist()
        course.append((*w, theta))
    at = 100 * np.arange(81)
    return Picture(
        "presentations",
        "response; threshold",
        (
            *(
                Curve(label, at, np.array(course)[:, k])
                for k, label in enumerate(("to one input", "to the other", "threshold"))
            ),
            dots("fixed point", [8000.0, 8000.0], [2.0, 0.0]),
        ),
    )


@figure(
    "one_input",
    caption="With a fast threshold every response converges to 1; with one slower than learning it oscillates",
    source=f"{IC}; eta = 0.01",
)
def response_to_one_input(specimen: Any) -> Picture:
    at = np.arange(20, 4001, 20)
    runs = ((0.05, 5.0, 0.0025), (0.5, 5.0, 0.25), (2.0, 5.0, 4.0), (1.2, 130.0, 1.2))
    return Picture(
        "presentations",
        "response",
        tuple(
            Curve(
                f"from {c:g}, tau {tau:g}",
                at,
                course(specimen, c, 4000, 0.01, tau, theta, every=20),
            )
            for c, tau, theta in runs
        ),
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("a fixed threshold", rejected_by="CM-8.5")
def fixed_threshold(specimen: Any) -> Any:
    return specimen.replacing("slide", lambda theta, c, tau: theta)


@mutant("the running mean of activity, not of its square", rejected_by="CM-8.7")
def mean_of_c(specimen: Any) -> Any:
    return specimen.replacing("slide", lambda theta, c, tau: theta + (c - theta) / tau)


@mutant("the square of a running mean", rejected_by="CM-10.9b")
def square_of_mean(specimen: Any) -> Any:
    return specimen.replacing(
        "slide", lambda theta, c, tau: (math.sqrt(theta) + (c - math.sqrt(theta)) / tau) ** 2
    )


@mutant("growth in proportion to c - theta, without the factor c", rejected_by="CM-10.9")
def linear(specimen: Any) -> Any:
    return specimen.replacing("phi", lambda c, theta: c - theta)


@mutant("a threshold of half the speed", rejected_by="CM-8.7")
def slow_threshold(specimen: Any) -> Any:
    return specimen.replacing("slide", lambda theta, c, tau: theta + (c * c - theta) / (2.0 * tau))


@mutant("each pair as an occasion of its own", rejected_by="CM-8.5d")
def pair_by_pair(specimen: Any) -> Any:
    def occasion(
        source: Any,
        target: Any,
        edge: Any,
        drive: float,
        eta: float,
        tau: float,
        weight: Any,
        theta: Any,
        modifiability: Any,
    ) -> None:
        for v, e in zip(target, edge, strict=True):
            c = drive + weight[e]
            change = c * (c - theta[v])
            weight[e] += eta * change
            modifiability[v] += change
            theta[v] += (c * c - theta[v]) / tau

    return specimen.replacing("occasion", occasion)


@mutant("the modifiability of a sleep is the sum over its replays", rejected_by="CM-8.5e")
def summed(specimen: Any) -> Any:
    def replay(self: Any, view: Any, tick: Any) -> None:
        self.learn(view, len(view.coactivation.target) // 2)

    return specimen.overriding("BCMMetaplasticity", replay=replay)


@mutant("modifiability adds up over occasions", rejected_by="CM-8.5e")
def never_reset(specimen: Any) -> Any:
    def learn(self: Any, view: Any, times: int) -> None:
        targets = view.coactivation.target
        before = view.modifiability[targets]
        specimen.BCMMetaplasticity.learn(self, view, times)
        view.modifiability[targets] += before

    return specimen.overriding("BCMMetaplasticity", learn=learn)


@mutant("all steps of a sleep are one occasion", rejected_by="CM-8.5e")
def one_occasion(specimen: Any) -> Any:
    return specimen.replacing("occur", lambda times, *rest: specimen.occur(min(times, 1), *rest))


@mutant("an event names none of the thresholds that it slides", rejected_by="CM-8.5w")
def unnamed(specimen: Any) -> Any:
    def encode(self: Any, view: Any, incoming: Any) -> None:
        self.learn(view, 1)

    return specimen.overriding("BCMMetaplasticity", encode=encode)
