"""Evidence for predictive_coding.  References are closed forms, numpy's and scipy's linear algebra,
and finite differences of E written out in numpy; none calls a kernel it judges."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares, minimize_scalar
from scipy.stats import multivariate_normal

from ...engine.contract.columns import Phase
from ...engine.contract.records import Event
from ...engine.contract.vocabulary import (
    INITIAL_STRENGTH,
    LEARNING_RATE,
    PLASTICITY,
    SURPRISE,
    THRESHOLD_SHIFT,
    VETO,
)
from ...engine.memory.assembly import stream
from ...engine.memory.engine import Engine
from ...engine.ports.embedder import HashingEmbedder
from ..checks import adaptation, at_least, at_most, equation, limit, mutant, signature
from ..figures import Curve, Picture, dots, figure
from ..memory import Scripted, encode, memory_of, neighbour, numbers_of, plug_in
from ..paper_numbers import paper_number
from .shared.embedders import Longer
from .shared.once import computed_once

Array = NDArray[np.float64]
RAO, FRISTON = "Rao & Ballard 1999", "Friston 2005"
NOTHING = np.zeros(1)  # no observation besides the input; its precision is 0
# sigma^2, sigma_td^2, alpha of level 2, lambda
SIGMA, SIGMA_TD, ALPHA, LAMBDA = 1.0, 10.0, 0.05, 0.02
NUMBERS = (
    paper_number(
        "sigma_input",
        SIGMA,
        "1",
        paper="rao1999predictive",
        where="sigma^2 in Methods, Simulations",
    ),
    paper_number(
        "sigma_above",
        SIGMA_TD,
        "1",
        paper="rao1999predictive",
        where="sigma_td^2 in Methods, Simulations",
    ),
    paper_number(
        "sparseness",
        ALPHA,
        "1",
        paper="rao1999predictive",
        where="alpha of level 2 in Methods, Simulations, of a Gaussian prior",
    ),
    paper_number(
        "decay", LAMBDA, "1", paper="rao1999predictive", where="lambda in Methods, Simulations"
    ),
)


# --- references -----------------------------------------------------------------------------------
def f(x: Array, saturating: bool) -> Array:
    return np.tanh(x) if saturating else x


def parts(x: Array, weights: tuple[Array, ...]) -> list[Array]:
    return np.split(x, np.cumsum([w.shape[0] for w in weights]))


def energy(
    x: Array,
    weights: tuple[Array, ...],
    prior: Array,
    precisions: Array,
    alpha: float,
    saturating: bool,
) -> float:
    """Half of Rao & Ballard's E, in numpy, for any depth."""
    r = [*parts(x, weights), prior]
    errors = [r[i] - f(w @ r[i + 1], saturating) for i, w in enumerate(weights)] + [r[-2] - prior]
    sparse = sum(np.log1p(level**2).sum() for level in r[1:-1])
    return float(
        0.5 * sum(p * (e @ e) for p, e in zip(precisions, errors, strict=False))
        + 0.5 * alpha * sparse
    )


def slopes(function: Any, x: Array, h: float = 1e-6) -> Array:
    """Central differences."""
    return np.array([(function(x + h * e) - function(x - h * e)) / (2 * h) for e in np.eye(x.size)])


def slope_of_energy(
    x: Array,
    weights: tuple[Array, ...],
    prior: Array,
    precisions: Array,
    alpha: float,
    saturating: bool,
) -> Array:
    return slopes(lambda y: energy(y, weights, prior, precisions, alpha, saturating), x)


def model(
    seed: int, sizes: tuple[int, ...] = (6, 4, 3)
) -> tuple[Array, tuple[Array, ...], Array, Array]:
    """x, weights, prior and precisions (the last, of the unused observation, is 0) of a random
    hierarchy.
    """
    rng = np.random.default_rng(seed)
    weights = tuple(rng.standard_normal((a, b)) / np.sqrt(b) for a, b in pairwise(sizes))
    return (
        rng.standard_normal(sum(sizes)),
        weights,
        rng.standard_normal(sizes[-1]),
        np.array([*rng.uniform(0.3, 3.0, len(sizes)), 0.0]),
    )


def at_rest(
    specimen: Any,
    x: Array,
    weights: tuple[Array, ...],
    prior: Array,
    precisions: Array,
    alpha: float = 0.0,
    saturating: bool = False,
    e: Array = NOTHING,
    at: int = 1,
) -> tuple[Array, Array]:
    """States and errors after inference has converged."""
    x, eps = x.copy(), np.empty(x.size + e.size)
    specimen.settle(x, weights, prior, e, at, precisions, alpha, saturating, 1e-9, 20_000, eps)
    return x, eps


def scalar(
    specimen: Any,
    u: float,
    image: float,
    above: float,
    variance: float,
    variance_above: float,
    alpha: float = 0.0,
) -> float:
    """r* of one cause of one input."""
    precisions = np.array([1.0 / variance, 1.0 / variance_above, 0.0])
    return float(
        at_rest(
            specimen,
            np.array([image, 0.0]),
            (np.array([[u]]),),
            np.array([above]),
            precisions,
            alpha,
        )[0][1]
    )


def chain(specimen: Any, u: float, precisions: list[float]) -> tuple[Array, Array]:
    """Identity chain of single causes over the input u, with prior 0."""
    depth = len(precisions) - 1
    x, eps = at_rest(
        specimen,
        np.array([u] + [0.0] * depth),
        (np.eye(1),) * depth,
        np.zeros(1),
        np.array([*precisions, 0.0]),
    )
    return x[1:], eps[:-1] * np.array(precisions)


# --- the equations --------------------------------------------------------------------------------
@equation(
    "PC-1",
    source=f"{RAO}, dr/dt = 0 without g: r* = (U I/s^2 + r_td/s_td^2) / (U^2/s^2 + 1/s_td^2)",
    atol=1e-6,
    figure="expectation",
    papers=("rao1999predictive",),
)
def one_cause_rests_between_input_and_expectation(specimen: Any) -> Any:
    cases = [(1.0, 1.0, 0.0, 1.0, 10.0), (2.0, 3.0, 1.0, 1.0, 10.0), (0.7, -2.0, 0.5, 0.3, 2.0)]
    closed = [(u * i / s + td / t) / (u * u / s + 1.0 / t) for u, i, td, s, t in cases]
    assert np.allclose(closed[:2], [0.9090909, 1.4878049], atol=1e-7)
    return [scalar(specimen, *case) for case in cases], closed


@equation(
    "PC-2",
    source=f"{RAO}, with g(r) = alpha ln(1 + r^2): root of (1 - r) - r/10 - alpha r/(1 + r^2)",
    atol=1e-6,
    figure="expectation",
    papers=("rao1999predictive",),
)
def sparseness_pulls_a_cause_towards_zero(specimen: Any) -> Any:
    return [scalar(specimen, 1.0, 1.0, 0.0, 1.0, 10.0, alpha) for alpha in (1.0, 0.05)], [
        0.5321007,
        0.8865275,
    ]


@equation(
    "PC-3",
    source=f"{FRISTON}, identity chain of two causes; mu, and Pi eps of every level",
    atol=1e-6,
    papers=("friston2005theory",),
)
def in_a_chain_at_rest_all_weighted_errors_are_equal(specimen: Any) -> Any:
    (even, forces), (sharp, sharper) = (
        chain(specimen, 3.0, [1.0, 1.0, 1.0]),
        chain(specimen, 3.0, [4.0, 1.0, 1.0]),
    )
    return [*even, *forces, *sharp, *sharper], [2, 1, 1, 1, 1, 8 / 3, 4 / 3, 4 / 3, 4 / 3, 4 / 3]


@equation(
    "PC-3b",
    source=f"{FRISTON}, F of the same chains: 3/2 and 2 in precision-weighted squares, minus ln(4)/2",
    atol=1e-6,
    papers=("friston2005theory",),
)
def free_energy_of_the_chains(specimen: Any) -> Any:
    measured = []
    for first in (1.0, 4.0):
        weights, precisions = (np.eye(1), np.eye(1)), np.array([first, 1.0, 1.0, 0.0])
        x, eps = at_rest(specimen, np.array([3.0, 0.0, 0.0]), weights, np.zeros(1), precisions)
        measured += [
            specimen.surprise(eps, weights, precisions),
            specimen.free_energy(x, eps, weights, precisions, 0.0),
        ]
    return measured, [1.5, 1.5, 2.0, 2.0 - 0.5 * np.log(4.0)]


@equation(
    "PC-3c",
    source=f"{FRISTON}, F with an observed upper level, in numpy",
    papers=("friston2005theory",),
)
def free_energy_counts_the_observed_level(specimen: Any) -> Any:
    x, weights, prior, p = model(5)
    e, eps, p[-1] = np.array([0.4, -1.0, 2.0]), np.empty(x.size + 3), 1.7
    specimen.errors(x, weights, prior, e, 10, False, eps)
    squares = energy(x, weights, prior, p, 0.6, False) + 0.5 * p[-1] * float(
        (e - x[10:]) @ (e - x[10:])
    )
    return specimen.free_energy(x, eps, weights, p, 0.6), squares - 0.5 * float(
        np.array([6, 4, 3, 3]) @ np.log(p)
    )


@equation(
    "PC-4a",
    source=f"{RAO}, dr/dt = -(k1/2) dE/dr by central differences; f = tanh, 6 -> 4, and 6 -> 4 -> 3",
    rtol=1e-5,
    atol=1e-7,
    papers=("rao1999predictive",),
)
def causes_descend_the_gradient_of_the_energy(specimen: Any) -> Any:
    measured, expected = [], []
    for sizes in ((6, 4), (6, 4, 3)):
        for saturating, alpha in ((True, 0.7), (False, 0.0)):
            x, weights, prior, precisions = model(1, sizes)
            eps, slope = np.empty(x.size + 1), np.empty(x.size)
            specimen.errors(x, weights, prior, NOTHING, 6, saturating, eps)
            specimen.descent(x, eps, weights, precisions, alpha, 6, saturating, slope)
            down = -slope_of_energy(x, weights, prior, precisions, alpha, saturating)
            measured.append(slope)
            expected.append(np.concatenate([np.zeros(6), down[6:]]))
    return np.concatenate(measured), np.concatenate(expected)


@equation(
    "PC-4b",
    source=f"{RAO}, dU/dt = -(k2/2) dE/dU by central differences, h(U) = lambda |U|^2; f = tanh, 6 -> 4",
    rtol=1e-5,
    atol=1e-7,
    papers=("rao1999predictive",),
)
def weights_descend_the_gradient_of_the_energy(specimen: Any) -> Any:
    x, (w,), prior, precisions = model(2, (6, 4))
    u, r, decay = x[:6], x[6:], 0.3

    def half_e(flat: Array) -> float:
        return energy(x, (flat.reshape(6, 4),), prior, precisions, 0.0, True) + 0.5 * decay * float(
            flat @ flat
        )

    new = w.copy()
    specimen.learn(new, u.copy(), u - np.tanh(w @ r), r.copy(), precisions[0], 0.1, decay, True)
    return (new - w).ravel(), -0.1 * slopes(half_e, w.ravel())


@limit(
    "PC-5",
    source=f"{RAO}: s_td^2 = 1e12 gives least squares, (U'U)^-1 U'I by numpy.linalg.lstsq; s_td^2 = 1e-12 gives r_td",
    atol=1e-4,
    papers=("rao1999predictive",),
)
def an_uncertain_prior_gives_least_squares_and_a_certain_one_itself(specimen: Any) -> Any:
    x, (w,), prior, _ = model(3, (6, 4))
    free = at_rest(specimen, x, (w,), prior, np.array([1.0, 1e-12, 0.0]))[0][6:]
    bound = at_rest(specimen, x, (w,), prior, np.array([1.0, 1e12, 0.0]))[0][6:]
    return np.concatenate([free, bound]), np.concatenate(
        [np.linalg.lstsq(w, x[:6], rcond=None)[0], prior]
    )


@equation(
    "PC-6",
    source="a quadratic F of curvatures 1 and 3: a rate of 0.60 < 2/3 converges to (2, 1), 0.70 diverges",
    atol=1e-6,
    papers=("friston2005theory",),
)
def inference_is_stable_up_to_its_bound(specimen: Any) -> Any:
    measured = []
    for rate in (0.60, 0.70):
        x, eps = np.array([3.0, 0.0, 0.0]), np.empty(4)
        specimen.relax(
            x,
            (np.eye(1), np.eye(1)),
            np.zeros(1),
            NOTHING,
            1,
            np.array([1.0, 1.0, 1.0, 0.0]),
            0.0,
            False,
            rate,
            400,
            eps,
        )
        measured.append(x[1:])
    return [*measured[0], float(np.linalg.norm(measured[1]) > 1e6)], [2.0, 1.0, 1.0]


@equation(
    "PC-6b",
    source="F in numpy along 200 steps at 1.9 over the greatest eigenvalue of its Hessian",
    papers=("friston2005theory",),
)
def free_energy_never_rises_below_the_bound(specimen: Any) -> Any:
    x, weights, prior, precisions = model(4)
    a, b = weights
    hessian = np.block(
        [
            [precisions[0] * a.T @ a + precisions[1] * np.eye(4), -precisions[1] * b],
            [-precisions[1] * b.T, precisions[1] * b.T @ b + precisions[2] * np.eye(3)],
        ]
    )
    rate, course, eps = 1.9 / np.linalg.eigvalsh(hessian)[-1], [], np.empty(x.size + 1)
    for _ in range(200):
        course.append(energy(x, weights, prior, precisions, 0.0, False))
        specimen.relax(x, weights, prior, NOTHING, 6, precisions, 0.0, False, rate, 1, eps)
    return at_most(np.append(np.diff(course), course[-1] - course[0] + 1e-3), 1e-12)


@equation(
    "PC-9",
    source=f"{FRISTON}: the fixed point by numpy.linalg.solve, with an observed upper level",
    rtol=1e-6,
    atol=1e-6,
    papers=("friston2005theory",),
)
def a_hierarchy_rests_at_the_solution_of_the_linear_system(specimen: Any) -> Any:
    x, (a, b), prior, p = model(5)
    e = np.array([0.4, -1.0, 2.0])
    p[-1] = 1.7
    measured = at_rest(specimen, x, (a, b), prior, p, e=e, at=10)[0][6:]
    left = np.block(
        [
            [p[0] * a.T @ a + p[1] * np.eye(4), -p[1] * b],
            [-p[1] * b.T, p[1] * b.T @ b + (p[2] + p[3]) * np.eye(3)],
        ]
    )
    return measured, np.linalg.solve(
        left, np.concatenate([p[0] * a.T @ x[:6], p[2] * prior + p[3] * e])
    )


@equation(
    "PC-10",
    source="-ln p(u) of the linear Gaussian hierarchy minus that of its mean; scipy.stats.multivariate_normal",
    rtol=1e-6,
    papers=("friston2005theory",),
)
def surprise_at_rest_is_the_negative_log_probability_of_the_input(specimen: Any) -> Any:
    x, (a, b), prior, p = model(6)
    middle = np.eye(4) / p[1] + b @ b.T / p[2]
    law = multivariate_normal(a @ b @ prior, np.eye(6) / p[0] + a @ middle @ a.T)
    eps = at_rest(specimen, x, (a, b), prior, p)[1]
    return specimen.surprise(eps, (a, b), p), float(law.logpdf(law.mean) - law.logpdf(x[:6]))


@equation(
    "PC-11",
    source=f"{FRISTON}, dF/dPi = 0 for Pi = 1 / <eps^2>; least F over Pi by scipy.optimize",
    rtol=1e-5,
    papers=("friston2005theory",),
)
def precision_is_the_inverse_of_the_mean_squared_error(specimen: Any) -> Any:
    past, variance = np.random.default_rng(7).normal(0.0, 1.7, (50, 6)), 0.0
    for t, eps in enumerate(past, 1):
        variance = specimen.variance_after(variance, float(eps @ eps) / eps.size, 1.0 / t)

    def mean_f(log_precision: float) -> float:
        return float(
            0.5 * np.exp(log_precision) * (past**2).sum(axis=1).mean() - 0.5 * 6 * log_precision
        )

    return 1.0 / variance, float(np.exp(minimize_scalar(mean_f, bracket=(-3.0, 1.0), tol=1e-12).x))


@limit(
    "PC-11b",
    source="definition: a variance below 1e-6, which only a memory without a hyperprior can have, counts as 1e-6; inverses by hand",
)
def no_variance_counts_as_less_than_the_least(specimen: Any) -> Any:
    variance = np.array([0.0, 3e-7, 1e-6, 3e-6, 4.0])
    view = SimpleNamespace(pc_variance=variance, pc_events=1)
    plug: Any = plug_in(specimen)
    return plug._precisions(view, np.ones(3)), [1e6, 1e6, 1e6, 1e6 / 3, 0.25]


@equation(
    "PC-12",
    source="the generative model without noise, in numpy: U1 U2 prior, and through tanh",
    atol=1e-12,
    papers=("rao1999predictive",),
)
def states_predicted_from_the_prior_equal_the_generative_model(specimen: Any) -> Any:
    measured, expected = [], []
    for saturating in (False, True):
        x, (a, b), prior, _ = model(8)
        specimen.imagine((a, b), prior, saturating, x)
        middle = f(b @ prior, saturating)
        measured.append(x)
        expected.append(np.concatenate([f(a @ middle, saturating), middle, prior]))
    return np.concatenate(measured), np.concatenate(expected)


@signature(
    "PC-7",
    source=f"{RAO}: r held at 1, k2 = 0.1, no decay: (1 - k2 r^2/s^2)^t remains",
    atol=1e-9,
    figure="repetition_suppression",
    papers=("rao1999predictive",),
)
def a_repeated_input_evokes_less_error(specimen: Any) -> Any:
    w, left = np.zeros((1, 1)), []
    for _ in range(4):
        eps = np.array([1.0 - w[0, 0]])
        left.append(eps[0])
        specimen.learn(w, np.ones(1), eps, np.ones(1), 1.0, 0.1, 0.0, False)
    return left, [1.0, 0.9, 0.81, 0.729]


# --- the adaptation -------------------------------------------------------------------------------
SAID = (
    "the ferry left Lisbon at dawn",
    "nobody fed the parrot of Ada",
    "grandfather tuned the cello",
    "Bo painted the lighthouse in Oslo",
)
PARAMS: dict[str, Any] = {
    "inputs": 32, "causes": 16, "entities": 16, "schema": 4, "saturating": False,
    "sigma_input": SIGMA, "sigma_above": SIGMA_TD,
    "sparseness": ALPHA,
    "decay": LAMBDA, "tolerance": 1e-6, "steps": 2000,
    "recall_share": 1.0, "threshold_gain": 0.0,
    **numbers_of("predictive_coding", "learning_rate", "adaptation", "hyperprior", "schema_rate",
                 "surprise_gain"),
}  # fmt: skip


def surprises(specimen: Any, told: list[Event], **changed: Any) -> tuple[list[float], Engine]:
    params = specimen.PredictiveCodingParams(time_scale=1.0, **{**PARAMS, **changed})
    memory = Engine(
        [specimen.PredictiveCoding("predictive_coding", params, {}, 1)], HashingEmbedder(64)
    )
    measured = []
    for event in told:
        memory.encode(event)
        measured.append(float(memory.store.array(SURPRISE)[()]))
    return measured, memory


def repeated(n: int) -> list[Event]:
    """The texts in order, undated, n times."""
    return [Event(float(i), SAID[i % len(SAID)], dated=False) for i in range(n * len(SAID))]


@signature(
    "PC-7b",
    source=f"{RAO}, on texts, by learning alone: S of a second identical message is below that of the first",
    needs="engine",
    papers=("rao1999predictive",),
)
def a_repeated_text_is_less_surprising(specimen: Any) -> Any:
    again = [Event(float(i), SAID[i // 2], dated=False) for i in range(2 * len(SAID))]
    pairs = np.array(surprises(specimen, again, recall_share=0.0)[0]).reshape(-1, 2)
    return at_least((pairs[:, 0] - pairs[:, 1]) / pairs[:, 0], 0.01)


@adaptation(
    "PC-13",
    source="ours: with the nearest memory in the prediction, a repetition is wholly predicted at any delay",
    needs="engine",
)
def a_verbatim_repetition_is_not_surprising(specimen: Any) -> Any:
    surprise = surprises(specimen, repeated(3), sparseness=0.0)[0]
    return at_most(np.array(surprise[len(SAID) :]) / np.mean(surprise[: len(SAID)]), 1e-6)


@adaptation(
    "PC-14", source="ours: every event is stored, however well it is predicted", needs="engine"
)
def a_repetition_is_stored(specimen: Any) -> Any:
    told = repeated(2)
    return len(surprises(specimen, told)[1].event_log.rows), 2 * len(SAID)


@adaptation(
    "PC-15", source="ours: gain (S/S_usual - 1), by numpy's running mean", needs="engine", rtol=1e-6
)
def surprise_sets_the_encoding_strength(specimen: Any) -> Any:
    surprise, memory = surprises(specimen, repeated(3), adaptation=1e-9)
    usual = np.array([np.mean(surprise[:i]) for i in range(1, len(surprise))])
    return memory.store.array(INITIAL_STRENGTH), np.concatenate(
        [[0.0], 0.1 * np.clip(np.array(surprise[1:]) / usual - 1.0, -1.0, 1.0)]
    )


# --- in a memory ----------------------------------------------------------------------------------
# text, names in it, direction of its vector
LOG = (
    ("rain fell", (), (1, 0, 0, 0, 0)),
    ("we saw Ada", ("ada",), (1, 1, 0, 0, 0)),
    ("we saw Ada and Bo", ("ada", "bo"), (1, 1, 0.3, 0, 0)),
    ("vetoed", (), (0, 0, 0, 1, 1)),
    ("we saw Ada again", ("ada",), (1, 1, 0, 0.1, 0)),
    ("snow fell", (), (-1, 0.5, 0, 0, 1)),
    ("we met Cleo", ("cleo",), (0, 0, -1, 0.2, 0)),
    ("rain fell", (), (1, 0, 0, 0, 0)),
    ("it was Cleo", ("cleo",), (-0.2, 0, -1, 0.2, 0)),
)
# rate, PLASTICITY
FACTORS = ((1.0, 1.0), (0.5, 1.0), (2.0, 0.7), (1.5, 1.0), (1.0, 0.0), (900.0, 1.0), (1.0, 1.3),
           (0.8, 0.9), (1.0, 1.0))  # fmt: skip


def code_of(names: tuple[str, ...], size: int) -> Array:
    """Sum of the random signs of each name over sqrt(number of names)."""
    bits = [
        f"{int.from_bytes(hashlib.blake2b(name.encode(), digest_size=64).digest()):0512b}"[:size]
        for name in names
    ]
    return (
        np.sum([[-1.0 if bit == "1" else 1.0 for bit in code] for code in bits], axis=0)
        / np.sqrt(len(names))
        if names
        else np.zeros(size)
    )


@computed_once
def of_least_energy(
    p: dict[str, Any],
    sizes: Sequence[int],
    weights: list[Array],
    schema: Array,
    start: Array,
    u: Array,
    e: Array,
    precisions: Array,
) -> tuple[list[Array], list[Array]]:
    """Levels and errors of a hierarchy where F is least, by a search from some causes on."""

    def errors(causes: Array) -> list[Array]:
        x = [u, *np.split(causes, np.cumsum(sizes[1:])[:-1])]
        below = [a - f(w @ b, p["saturating"]) for a, w, b in zip(x, weights, x[1:], strict=False)]
        return [*below, x[3] - schema, e - x[2]]

    def weighted(causes: Array) -> Array:
        sparse = np.sign(causes) * np.sqrt(p["sparseness"] * np.log1p(causes**2))
        return np.concatenate(
            [
                *(
                    np.sqrt(precision) * error
                    for precision, error in zip(precisions, errors(causes), strict=True)
                ),
                sparse,
            ]
        )

    optimum = least_squares(weighted, start, jac="3-point", xtol=1e-14, ftol=1e-14, gtol=1e-12).x
    return [u, *np.split(optimum, np.cumsum(sizes[1:])[:-1])], errors(optimum)


class Hierarchy:
    """The model of Rao & Ballard in numpy; inference is least squares in scipy, with the
    sparseness as one more squared error for each cause.
    """

    def __init__(self, dimensions: int, **p: Any) -> None:
        rng, sizes = (
            stream(0, "predictive_coding"),
            (p["inputs"], p["causes"], p["entities"], p["schema"]),
        )
        self.p, self.sizes, self.projection = p, sizes, rng.standard_normal((sizes[0], dimensions))
        # before the first event nothing is predicted
        self.weights = [np.zeros(shape) for shape in pairwise(sizes)]
        self.drawn = [rng.standard_normal(shape) / np.sqrt(shape[1]) for shape in pairwise(sizes)]
        self.first = np.array([p["sigma_input"], *[p["sigma_above"]] * 3, p["sigma_input"]])
        self.variance, self.schema, self.usual, self.events = (
            self.first.copy(),
            np.zeros(sizes[3]),
            0.0,
            0,
        )

    def predicted(self) -> list[Array]:
        levels = [self.schema]
        for w in reversed(self.weights):
            levels.insert(0, f(w @ levels[0], self.p["saturating"]))
        return levels

    def rest(self, u: Array, e: Array, precisions: Array) -> tuple[list[Array], list[Array]]:
        """Levels and errors where F is least."""
        start = np.concatenate(self.predicted()[1:])
        return of_least_energy(
            self.p, self.sizes, self.weights, self.schema, start, u, e, precisions
        )

    def surprise(self, u: Array, e: Array, recalled: tuple[float, Array, Array] | None) -> float:
        """S of an event, with the cosine, input and code of the nearest memory."""
        precisions, left, code = self.precisions(e), u, e
        if recalled is not None:
            share, prediction = (
                self.p["recall_share"] * min(max(recalled[0], 0.0), 1.0),
                self.predicted(),
            )
            left = u - share * (recalled[1] - prediction[0])
            code = e - share * (recalled[2] - prediction[2]) if recalled[2].any() else e
        eps = self.rest(left, code, precisions)[1]
        return float(
            0.5 * sum(p * (error @ error) for p, error in zip(precisions, eps, strict=True))
        )

    def precisions(self, e: Array) -> Array:
        return np.asarray(1.0 / self.variance * np.append(np.ones(4), e.any()))

    def learnt(self, u: Array, e: Array, surprise: float, rate: float) -> None:
        p, precisions, self.weights = (
            self.p,
            self.precisions(e),
            self.weights if self.events else self.drawn,
        )
        x, eps = self.rest(u, e, precisions)
        for i, w in enumerate(self.weights):
            slope = (
                precisions[i] * eps[i] * (1.0 - (x[i] - eps[i]) ** 2 if p["saturating"] else 1.0)
            )
            step = min(
                p["learning_rate"] * rate, 0.5 / (precisions[i] * float(x[i + 1] @ x[i + 1]))
            )
            self.weights[i] = w + step * (np.outer(slope, x[i + 1]) - p["decay"] * w)
        self.events += 1
        self.usual += max(p["adaptation"], 1.0 / self.events) * (surprise - self.usual)
        self.schema = self.schema + p["schema_rate"] * (x[3] - self.schema)
        for i in range(4 + e.any()):
            square = p["hyperprior"] * self.first[i] + (1.0 - p["hyperprior"]) * float(
                np.mean(eps[i] ** 2)
            )
            self.variance[i] += p["adaptation"] * (square - self.variance[i])


def perceived_in_memory(specimen: Any, **p: Any) -> tuple[Any, Any]:
    """Surprise, strength, shift and storage of each event, and what the hierarchy has learnt, and
    the same by `Hierarchy`.

    Another mechanism vetoes one event and sets the factors on learning; one memory is archived.
    """
    factors = iter(FACTORS)

    def enter(view: Any, incoming: Any) -> None:
        view.veto, (view.learning_rate, view.plasticity) = (
            int(incoming.event.text == "vetoed"),
            next(factors),
        )

    p |= {"tolerance": 1e-9, "steps": 5000}
    memory = memory_of(
        specimen,
        neighbour(Phase.ENCODE, enter, adds=(VETO,), sets=(LEARNING_RATE, PLASTICITY)),
        embedder=Scripted({text: v for text, _, v in LOG}),
        **p,
    )
    model, stored = Hierarchy(5, **p), list[tuple[Array, Array]]()
    measured, expected, strengths, hidden = list[Any](), list[Any](), list[float](), -1
    for i, ((text, names, direction), (rate, plasticity)) in enumerate(
        zip(LOG, FACTORS, strict=True)
    ):
        v, e = (
            np.divide(direction, np.linalg.norm(direction)).astype(np.float32).astype(np.float64),
            code_of(names, p["entities"]),
        )
        u = model.projection @ v
        near = max(
            (row for row in range(len(stored)) if row != hidden),
            key=lambda row: float(v @ stored[row][0]),
            default=-1,
        )
        recalled = (
            (float(v @ stored[near][0]), model.projection @ stored[near][0], stored[near][1])
            if near >= 0
            else None
        )
        s = model.surprise(u, e, recalled)
        excess = min(max(s / model.usual - 1.0, -1.0), 1.0) if i else 0.0
        kept = text != "vetoed"
        (row,) = encode(memory, Event(float(i), text, dated=False))
        measured += [
            [float(memory.column(c)[()]) for c in (SURPRISE, THRESHOLD_SHIFT)],
            [row is not None],
        ]
        expected += [[s, -p["threshold_gain"] * excess], [kept]]
        if kept:
            stored.append((v, e))
            strengths.append(p["surprise_gain"] * excess)
        if i == 6:
            memory.archive(1)
            hidden = 1
        model.learnt(u, e, s, rate * plasticity)
    columns = (INITIAL_STRENGTH, specimen.PC_CODES, specimen.PC_CAUSES, specimen.PC_ENTITIES,
               specimen.PC_SCHEMATA, specimen.PC_SCHEMA,
               specimen.PC_VARIANCE, specimen.PC_EVENTS, specimen.PC_USUAL_SURPRISE)  # fmt: skip
    measured += [np.ravel(memory.column(c)) for c in columns]
    expected += [
        strengths,
        *(e for _, e in stored),
        *map(np.ravel, model.weights),
        model.schema,
        model.variance,
        [model.events, model.usual],
    ]
    return np.concatenate(measured), np.concatenate(expected)


ODD = {"inputs": 6, "causes": 4, "entities": 5, "schema": 3, "sigma_input": 0.8, "sigma_above": 4.0,
       "learning_rate": 0.07, "decay": 0.3,
       "adaptation": 0.15, "hyperprior": 0.2, "schema_rate": 0.4, "recall_share": 0.95,
       "surprise_gain": 0.3, "threshold_gain": 0.2}  # fmt: skip


@equation(
    "PC-16",
    source=f"{RAO}: the linear model in numpy, inference by scipy.optimize.least_squares; odd numbers",
    rtol=1e-5,
    atol=1e-6,
    papers=("rao1999predictive", "friston2005theory"),
)
def a_memory_perceives_and_learns_as_the_linear_model_does(specimen: Any) -> Any:
    return perceived_in_memory(specimen, **ODD, saturating=False, sparseness=0.0)


@equation(
    "PC-16b",
    source=f"{RAO}: as PC-16 with f = tanh and sparse causes",
    rtol=1e-4,
    atol=1e-5,
    papers=("rao1999predictive", "friston2005theory"),
)
def a_memory_perceives_and_learns_as_the_saturating_sparse_model_does(specimen: Any) -> Any:
    return perceived_in_memory(
        specimen,
        **ODD | {"recall_share": 0.5, "learning_rate": 2e-4},
        saturating=True,
        sparseness=0.3,
    )


@limit(
    "PC-17",
    source="definition: recall replaces at most the whole prediction: with a share of 1, of equal events whose vectors have "
    "length 1.0004, what is left of the input is the prediction",
    atol=1e-9,
)
def recall_replaces_at_most_the_prediction(specimen: Any) -> Any:
    left = list[float]()

    def spy(prediction: Any, memory: Any, share: float, seen: Any, out: Any) -> None:
        specimen.expected(prediction, memory, share, seen, out)
        left.append(float(np.abs(out - prediction).max() / np.abs(seen).max()))

    memory = memory_of(specimen.replacing("expected", spy), embedder=Longer(), recall_share=1.0)
    encode(memory, (0.0, "a kettle"), (0.0, "a kettle"))
    return left, [0.0] * len(left)


# --- figures --------------------------------------------------------------------------------------
@figure(
    "expectation",
    caption="A cause rests between input and expectation: near the expectation if its variance is low, near the input if it "
    "is high",
    source=f"{RAO}, dr/dt = 0: weighted by the inverse variances",
)
def rest_between_input_and_expectation(specimen: Any) -> Picture:
    variance, marks = np.geomspace(0.01, 100.0, 41), np.geomspace(0.01, 100.0, 9)
    return Picture(
        "variance of the expectation (input: 1)",
        "cause at rest",
        (
            *(
                Curve(
                    label,
                    variance,
                    [scalar(specimen, 1.0, 1.0, 0.0, 1.0, float(v), alpha) for v in variance],
                )
                for label, alpha in (("mechanism", 0.0), ("with sparseness, alpha = 1", 1.0))
            ),
            dots("closed form", marks, marks / (marks + 1.0)),
        ),
        log="x",
    )


@figure(
    "repetition_suppression",
    caption="Error that a repeated input evokes: each repetition reduces it by a fixed share, the learning "
    "rate",
    source=f"{RAO}; closed form (1 - k2 r^2 / s^2)^t",
)
def error_over_repetitions(specimen: Any) -> Picture:
    times, curves = np.arange(13), []
    for rate in (0.1, 0.3):
        w, left = np.zeros((1, 1)), []
        for _ in times:
            left.append(1.0 - w[0, 0])
            specimen.learn(w, np.ones(1), np.array([left[-1]]), np.ones(1), 1.0, rate, 0.0, False)
        curves.append(Curve(f"mechanism, k2 = {rate:g}", times, left))
    return Picture(
        "repetitions",
        "error, share of the first",
        (*curves, dots("closed form, k2 = 0.1", times, 0.9**times)),
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("one forward pass: a level does not receive its own error", rejected_by="PC-3")
def feed_forward(specimen: Any) -> Any:
    def descent(
        x: Array,
        eps: Array,
        weights: tuple[Array, ...],
        precisions: Array,
        alpha: float,
        at: int,
        saturating: bool,
        out: Array,
    ) -> None:
        out[...], levels, errors = 0.0, parts(out, weights), parts(eps[: x.size], weights)
        for i, w in enumerate(weights):
            levels[i + 1][...] = w.T @ (precisions[i] * errors[i])

    return specimen.replacing("descent", descent)


def twisted(specimen: Any, change: Any) -> Any:
    """The specimen whose descent gets changed precisions and alpha."""
    right = getattr(specimen.descent, "py_func", specimen.descent)

    def descent(
        x: Array,
        eps: Array,
        weights: tuple[Array, ...],
        precisions: Array,
        alpha: float,
        at: int,
        saturating: bool,
        out: Array,
    ) -> None:
        right(x, eps, weights, *change(precisions, alpha), at, saturating, out)

    return specimen.replacing("descent", descent)


@mutant("all errors have equal precision", rejected_by="PC-1")
def no_precisions(specimen: Any) -> Any:
    return twisted(specimen, lambda precisions, alpha: ((precisions > 0.0) * 1.0, alpha))


@mutant("no sparseness", rejected_by="PC-2")
def dense(specimen: Any) -> Any:
    return twisted(specimen, lambda precisions, alpha: (precisions, 0.0))


@mutant("sparseness counted twice", rejected_by="PC-2")
def sparse_twice(specimen: Any) -> Any:
    return twisted(specimen, lambda precisions, alpha: (precisions, 2.0 * alpha))


@mutant("the derivative of tanh is left out", rejected_by="PC-4a")
def no_jacobian(specimen: Any) -> Any:
    right = getattr(specimen.descent, "py_func", specimen.descent)
    return specimen.replacing(
        "descent",
        lambda x, eps, weights, precisions, alpha, at, saturating, out: right(
            x, eps, weights, precisions, alpha, at, False, out
        ),
    )


@mutant("weights grow without decay", rejected_by="PC-4b")
def no_decay(specimen: Any) -> Any:
    right = getattr(specimen.learn, "py_func", specimen.learn)
    return specimen.replacing(
        "learn",
        lambda w, below, eps, above, precision, rate, decay, saturating: right(
            w, below, eps, above, precision, rate, 0.0, saturating
        ),
    )


@mutant("weights that do not change", rejected_by="PC-7")
def fixed_weights(specimen: Any) -> Any:
    return specimen.replacing("learn", lambda *_: None)


@mutant("steps of twice the rate", rejected_by="PC-6")
def too_fast(specimen: Any) -> Any:
    right = getattr(specimen.relax, "py_func", specimen.relax)
    return specimen.replacing(
        "relax",
        lambda x, weights, prior, e, at, precisions, alpha, saturating, rate, steps, eps: right(
            x, weights, prior, e, at, precisions, alpha, saturating, 2.0 * rate, steps, eps
        ),
    )


@mutant("inference stops after one step", rejected_by="PC-5")
def one_step(specimen: Any) -> Any:
    right = getattr(specimen.settle, "py_func", specimen.settle)
    return specimen.replacing("settle", lambda *a: right(*a[:9], 1, a[10]))


@mutant("surprise as the norm of the errors, not their squares", rejected_by="PC-10")
def length(specimen: Any) -> Any:
    return specimen.replacing(
        "surprise",
        lambda eps, weights, precisions: float(
            np.linalg.norm(eps[: sum(w.shape[0] for w in weights)])
        ),
    )


@mutant("precision from the first errors only", rejected_by="PC-11")
def fixed_precision(specimen: Any) -> Any:
    return specimen.replacing(
        "variance_after", lambda variance, mean_square, rate: variance or mean_square
    )


@mutant("free energy without the logarithm of precision", rejected_by="PC-3b")
def no_logarithm(specimen: Any) -> Any:
    return specimen.replacing(
        "free_energy",
        lambda x, eps, weights, precisions, alpha: specimen.surprise(eps, weights, precisions),
    )


@mutant("prediction without the prior", rejected_by="PC-12")
def no_top(specimen: Any) -> Any:
    def imagine(weights: tuple[Array, ...], prior: Array, saturating: bool, x: Array) -> None:
        x[...] = 0.0

    return specimen.replacing("imagine", imagine)


@mutant("learning ignores the factors of other mechanisms", rejected_by="PC-16")
def unmodulated(specimen: Any) -> Any:
    def _learn(self: Any, view: Any, weights: Any, x: Array, eps: Array, precisions: Array) -> None:
        factors = SimpleNamespace(learning_rate=1.0, plasticity=1.0)
        specimen.PredictiveCoding._learn(self, factors, weights, x, eps, precisions)

    return specimen.overriding("PredictiveCoding", _learn=_learn)


@mutant("recall replaces more than the prediction", rejected_by="PC-17")
def beyond_the_prediction(specimen: Any) -> Any:
    original = specimen.expected
    return specimen.replacing(
        "expected",
        lambda prediction, memory, share, seen, out: original(
            prediction, memory, 1.0004**2 * share, seen, out
        ),
    )


@mutant("no sparseness in inference", rejected_by="PC-16b")
def never_sparse(specimen: Any) -> Any:
    right = getattr(specimen.settle, "py_func", specimen.settle)
    return specimen.replacing("settle", lambda *a: right(*a[:6], 0.0, *a[7:]))


@mutant("a variance that fell to 0 counts as a hundredth", rejected_by="PC-11b")
def large_least(specimen: Any) -> Any:
    return specimen.replacing("LEAST_VARIANCE", 0.01)
