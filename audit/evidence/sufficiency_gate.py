"""Evidence for sufficiency_gate: the fit of Lin, Lin & Weng by its optimality conditions, the
sigmoid, and answers held back in a memory.
"""

from __future__ import annotations

import math
from statistics import mean, pstdev
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from ...engine.base.errors import HebbariumError
from ...engine.contract.columns import Phase
from ...engine.contract.vocabulary import ARRANGED, BAN, RELEASED, RELEVANCE, SUFFICIENCY
from ..checks import Measured, adaptation, at_most, between, equation, limit, mutant, signature
from ..figures import Curve, Picture, dots, figure
from ..memory import Scripted, encode, memory_of, neighbour
from .shared.scripts import giving

PLATT, LIN = "platt1999probabilistic", "lin2007note"
BOTH = (PLATT, LIN)
# of the synthetic examples: logit = 1.5 f - 1, f ~ N(0, 3^2)
SLOPE, OFFSET, SPREAD, MANY = 1.5, -1.0, 3.0, 4000
# whole Newton steps diverge
FAR = ([150.0, 0.0, 0.0, -1.0, 215.0, 2.0, 490.0, 8864.0, 6.0, 0.0, -675.0, -3.0, *[0.0] * 6,
        -219.0, -1.0, 0.0],
       [False] * 5 + [True, False, True] + [False] * 13)  # fmt: skip


def sigmoid(z: Any) -> Any:
    """1 / (1 + exp(-z)) by tanh."""
    return 0.5 + 0.5 * np.tanh(np.asarray(z, dtype=np.float64) / 2.0)


def examples(seed: int, n: int = MANY) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    rng = np.random.default_rng(seed)
    f = rng.normal(0.0, SPREAD, n)
    return f, rng.random(n) < sigmoid(SLOPE * f + OFFSET)


def probabilities(specimen: Any, f: Any, A: float, B: float) -> NDArray[np.float64]:
    return np.array([specimen.probability(float(x), A, B) for x in f])


def calibration_error(p: Any, y: Any, bins: int = 10) -> float:
    """Mean distance of confidence and frequency over bins of equal width, weighted by their
    examples.
    """
    groups: dict[int, list[tuple[float, bool]]] = {}
    for probability, label in zip(p, y, strict=True):
        groups.setdefault(min(int(probability * bins), bins - 1), []).append((probability, label))
    return sum(abs(sum(a for a, _ in g) - sum(b for _, b in g)) for g in groups.values()) / len(p)


# --- the sigmoid and its fit ----------------------------------------------------------------------
@equation("PG-1", source="Platt 1999: (N+ + 1) / (N+ + 2) and 1 / (N- + 2), by hand", papers=BOTH)
def targets_are_smoothed(specimen: Any) -> Any:
    targets = [
        sorted(set(specimen.smoothed_targets(np.arange(a + b) < a).tolist()), reverse=True)
        for a, b in ((10, 10), (3, 97), (1, 1))
    ]
    place = specimen.smoothed_targets([False, True, False])
    return [*np.ravel(targets), *place], [11 / 12, 1 / 12, 0.8, 1 / 99, 2 / 3, 1 / 3, 0.25, 2 / 3,
                                        0.25]  # fmt: skip


@equation(
    "PG-1b",
    source="Lin et al. 2007, sigmoid and objective, by tanh and by the definition",
    papers=BOTH,
)
def the_sigmoid_and_the_cross_entropy_are_those_of_the_paper(specimen: Any) -> Any:
    f, t = np.array([-3.0, -0.5, 0.0, 0.7, 2.0, 4.0]), np.array([0.3, 0.9, 0.5, 0.2, 0.95, 0.6])
    A, B = -0.7, 0.4
    p = sigmoid(-(A * f + B))
    loss = -sum(
        float(t * math.log(p) + (1.0 - t) * math.log1p(-p)) for t, p in zip(t, p, strict=True)
    )
    return [*probabilities(specimen, f, A, B), specimen.cross_entropy(A * f + B, t)], [*p, loss]


@limit(
    "PG-1c",
    source="closed form: exp(-z) and 1 - exp(z) far from 0; no argument overflows",
    papers=BOTH,
)
def far_arguments_give_zero_one_and_the_tails(specimen: Any) -> Any:
    measured = probabilities(specimen, [1e300, -1e300, 100.0, -30.0], 1.0, 0.0)
    loss = specimen.cross_entropy(np.array([800.0, -800.0]), np.array([0.25, 0.25]))
    return [*measured, loss], [
        0.0,
        1.0,
        math.exp(-100.0),
        1.0 / (1.0 + math.exp(-30.0)),
        0.25 * 800.0 + 0.75 * 800.0,
    ]


@equation(
    "PG-2",
    source="the gradient vanishes at the minimum: sum (t - p) = 0 and sum f (t - p) = 0",
    atol=1e-8,
    papers=BOTH,
)
def at_the_minimum_both_sums_vanish(specimen: Any) -> Any:
    measured = []
    for f, y in (*(examples(seed, n) for seed, n in ((1, 50), (2, 400), (3, MANY))), FAR):
        x, label = np.asarray(f), np.asarray(y)
        A, B = specimen.fitted(x, label)
        n_positive = int(label.sum())
        t = np.where(label, (n_positive + 1) / (n_positive + 2), 1 / (len(x) - n_positive + 2))
        left = t - sigmoid(-(A * x + B))
        measured += [left.sum(), (x * left).sum()]
    return measured, [0.0] * len(measured)


def newton(f: Any, y: Any, iterations: int) -> tuple[float, float]:
    """Iterates of the paper's algorithm: gradient and Hessian as sums over examples, by
    `numpy.linalg.solve`.
    """
    n_positive, n = sum(y), len(y)
    t = [(n_positive + 1) / (n_positive + 2) if label else 1 / (n - n_positive + 2) for label in y]
    at = np.array([0.0, math.log((n - n_positive + 1) / (n_positive + 1))])

    def loss(where: Any) -> float:
        return math.fsum(
            target * z + (math.log1p(math.exp(-z)) if z > 0.0 else math.log1p(math.exp(z)) - z)
            for target, z in zip(t, (where[0] * np.asarray(f) + where[1]).tolist(), strict=True)
        )

    for _ in range(iterations):
        gradient, hessian = np.zeros(2), np.zeros((2, 2))
        for x, target in zip(f, t, strict=True):
            p, row = float(sigmoid(-(at[0] * x + at[1]))), np.array([x, 1.0])
            gradient += (target - p) * row
            hessian += p * (1.0 - p) * np.outer(row, row)
        direction = -np.linalg.solve(hessian + 1e-12 * np.eye(2), gradient)
        step = 1.0
        while step > 1e-10 and loss(at + step * direction) >= loss(at) + 1e-4 * step * float(
            gradient @ direction
        ):
            step /= 2.0
        at = at + step * direction
    return float(at[0]), float(at[1])


@equation(
    "PG-2b",
    source="Lin et al. 2007, pseudo code: the first iterates, by numpy.linalg.solve and sums over examples",
    rtol=1e-6,
    papers=(LIN,),
)
def the_iterates_are_those_of_the_paper(specimen: Any) -> Any:
    measured, expected = [], []
    f, y = examples(4, 40)
    for x, label, deepest in ((f.tolist(), y.tolist(), 4), (*FAR, 8)):
        for iterations in range(deepest):
            measured.append(specimen.fitted(x, label, iterations))
            expected.append(newton(x, label, iterations))
    return measured, expected


@equation(
    "PG-2c",
    source="Lin et al. 2007, gradient and Hessian: differences of the cross-entropy, and numpy.linalg.solve",
    rtol=1e-5,
    papers=(LIN,),
)
def the_direction_solves_the_newton_equations(specimen: Any) -> Any:
    x, t, at, h = (
        np.array([-2.0, 0.5, 1.0, 3.0]),
        np.array([0.2, 0.7, 0.4, 0.9]),
        np.array([-0.4, 0.3]),
        1e-3,
    )

    def loss(A: float, B: float) -> float:
        p = sigmoid(-(A * x + B))
        return float(-(t * np.log(p) + (1.0 - t) * np.log(1.0 - p)).sum())

    unit = np.eye(2) * h
    gradient = np.array([(loss(*(at + u)) - loss(*(at - u))) / (2.0 * h) for u in unit])
    hessian = [
        [
            (loss(*(at + u + v)) - loss(*(at + u - v)) - loss(*(at - u + v)) + loss(*(at - u - v)))
            / (4.0 * h * h)
            for u in unit
        ]
        for v in unit
    ]
    direction = -np.linalg.solve(np.array(hessian), gradient)
    return specimen.newton_direction(x, t, *at.tolist()), [*direction, float(gradient @ direction)]


@limit(
    "PG-2d",
    source="closed form: where all p are 0 the Hessian is 0 and the ridge alone is left, -grad F / sigma",
    papers=(LIN,),
)
def without_curvature_the_ridge_is_left(specimen: Any) -> Any:
    to_A, to_B, slope = specimen.newton_direction(
        np.array([1.0, 2.0]), np.array([0.25, 0.5]), 0.0, 800.0
    )
    return [to_A, to_B, slope], [-1.25e12, -0.75e12, -(1.25**2 + 0.75**2) * 1e12]


@equation(
    "PG-2e",
    source="Lin et al. 2007, backtracking: the longest step that decreases enough, by scipy.optimize.brentq; 2^-34 where none does",
    papers=(LIN,),
)
def the_step_is_the_longest_that_decreases_enough(specimen: Any) -> Any:
    z, t, towards = (
        np.array([-1.0, 0.5, 2.0]),
        np.array([0.2, 0.6, 0.9]),
        np.array([0.3, -0.6, -0.8]),
    )

    def loss(at: Any) -> float:
        return float(-(t * np.log(sigmoid(-at)) + (1.0 - t) * np.log(1.0 - sigmoid(-at))).sum())

    slope = float((towards * (t - sigmoid(-z))).sum())
    longest = brentq(
        lambda s: loss(z + s * towards) - loss(z) - 1e-4 * s * slope, 1.0, 1e4, xtol=1e-13
    )
    measured = [
        specimen.step_length(z, factor * longest * towards, t, factor * longest * slope)
        for factor in (1 - 1e-7, 1 + 1e-7, 3.0, 9.0, 0.1)
    ]
    upwards = specimen.step_length(z, -1000.0 * towards, t, -1.0)
    return [*measured, upwards], [1.0, 0.5, 0.25, 0.0625, 1.0, 2.0**-34]


@limit(
    "PG-3",
    source="closed form: two values of f, each with examples of one kind, give p = t+ and t-",
    rtol=1e-8,
    papers=BOTH,
)
def separable_examples_have_a_finite_slope(specimen: Any) -> Any:
    measured, expected = [], []
    for a, b in ((50, 50), (3, 97), (1, 1), (1000, 10)):
        # logits of t+ and, with the opposite sign, of t-
        up, down = math.log(a + 1.0), math.log(b + 1.0)
        measured += specimen.fitted([0.25] * b + [0.75] * a, [False] * b + [True] * a)
        A = -(up + down) / 0.5
        expected += [A, down - 0.25 * A]
    return measured, expected


@equation(
    "PG-4",
    source="brute force: AUC over all pairs, and decisions at every f; a raw threshold tau is the threshold p(tau)",
    papers=BOTH,
)
def calibration_changes_neither_ranking_nor_decisions(specimen: Any) -> Any:
    f, y = examples(7, 120)
    A, B = specimen.fitted(f, y)
    p = probabilities(specimen, f, A, B)
    auc = [float(np.mean([(a > b) + 0.5 * (a == b) for a in s[y] for b in s[~y]])) for s in (p, f)]
    taus = np.sort(f)[::7]
    decided = [np.flatnonzero(p >= specimen.probability(float(tau), A, B)) for tau in taus]
    return [auc[0], A < 0.0, *np.concatenate(decided)], [
        auc[1],
        True,
        *np.concatenate([np.flatnonzero(f >= tau) for tau in taus]),
    ]


@signature(
    "PG-5",
    source="synthetic examples with logit 1.5 f - 1, f ~ N(0, 3^2), n = 4000: places of A in [-1.7, -1.35] and B in [0.8, 1.2]",
    figure="reliability",
    papers=BOTH,
)
def the_parameters_of_a_logistic_model_are_recovered(specimen: Any) -> Any:
    low, high = np.array([-1.7, 0.8]), np.array([-1.35, 1.2])
    for seed in range(30):
        # 20 iterations: about 10 reach the minimum, and the others of the 100 change nothing
        yield between((specimen.fitted(*examples(seed), 20) - low) / (high - low), 0.0, 1.0)


@signature(
    "PG-5b",
    source="expected calibration error over 10 bins on examples that the fit has not seen",
    figure="reliability",
    papers=BOTH,
)
def unseen_examples_are_calibrated(specimen: Any) -> Any:
    A, B = specimen.fitted(*examples(0))
    f, y = examples(99)
    return at_most(calibration_error(probabilities(specimen, f, A, B), y), 0.03)


@adaptation("PG-6", source="ours: no parameters come from examples that cannot fit them")
def what_cannot_be_fitted_is_refused(specimen: Any) -> Measured:
    cases: tuple[tuple[Any, Any], ...] = (
        ([], []),
        ([1.0, 2.0], [True, True]),
        ([1.0, 2.0], [False, False]),
        ([1.0], [True, False]),
        ([1.0, np.nan], [True, False]),
        ([[1.0], [2.0]], [[True], [False]]),
        ([1.0, np.inf], [True, False]),
    )
    refused = []
    for f, y in cases:
        try:
            specimen.fitted(f, y)
            refused.append(False)
        except HebbariumError:
            refused.append(True)
    return Measured(refused, [True] * len(cases), all(refused))


@limit(
    "PG-6b",
    source="closed form: with equal f both parameters serve the mean target, A f + B = -logit",
    rtol=1e-6,
    papers=BOTH,
)
def equal_values_give_the_mean_target(specimen: Any) -> Any:
    A, B = specimen.fitted([2.0] * 5, [True, True, False, False, False])
    target = (2 * 0.75 + 3 * 0.2) / 5
    return 2.0 * A + B, math.log((1.0 - target) / target)


# --- through the engine ---------------------------------------------------------------------------
TEXTS = (
    "a red boat",
    "the harbour at night",
    "boat and harbour",
    "bread",
    "a night train",
    "boat engine oil",
)
SCORES = np.array([0.5, 3.0, 2.0, 9.0, 1.25, 4.5], np.float32)
LOOKED = np.array([np.nan, 0.625, 0.5, 0.9375, np.nan, 0.875], np.float32)
HIDDEN, BANNED = 3, 5  # the archived memory, and the one that is banned
OPEN = [0, 1, 2, 4]


def gated(
    specimen: Any, relevance: Any = LOOKED, scores: Any = SCORES, texts: Any = TEXTS, **values: Any
) -> Any:
    """A memory whose scores and relevances are given; one memory is archived, and one is banned
    if there are so many.
    """

    def ban(view: Any, _: Any) -> None:
        if len(view.ban) > BANNED:
            view.ban[BANNED] += 1

    memory = memory_of(
        specimen,
        giving(Phase.RETRIEVE, ARRANGED, scores),
        giving(Phase.RETRIEVE, RELEVANCE, relevance),
        neighbour(Phase.RETRIEVE, ban, adds=(BAN,), id="ban"),
        **values,
    )
    encode(memory, *((float(i), text) for i, text in enumerate(texts)))
    if len(texts) > HIDDEN:
        memory.archive(HIDDEN)
    return memory


def asked(specimen: Any, memory: Any, text: str = "boat") -> list[Any]:
    """f, SUFFICIENCY, RELEASED and the rows of the answer."""
    rows = memory.retrieve(text, k=3).rows.tolist()
    return [
        memory.column(specimen.SUFFICIENCY_EVIDENCE).item(),
        memory.column(SUFFICIENCY).item(),
        memory.column(RELEASED).tolist(),
        rows,
    ]


def due(
    f: float, A: float, B: float, threshold: float, rows: list[int], scores: Any = SCORES
) -> list[Any]:
    """The same by the equation: `rows` if the answer is released."""
    p = float(sigmoid(-(A * f + B)))
    return [
        f,
        p,
        scores.tolist() if p >= threshold else [math.nan] * len(scores),
        rows if p >= threshold else [],
    ]


def flat(stories: list[list[Any]]) -> list[float]:
    """Every number of some stories; -1 in place of NaN."""
    return [
        -1.0 if math.isnan(x) else x
        for f, p, released, rows in stories
        for x in (f, p, *released, len(rows), *rows)
    ]


@equation(
    "PG-7",
    source="1 / (1 + exp(A f + B)) of the largest relevance among what may be answered, by tanh and by hand",
    papers=BOTH,
)
def a_memory_holds_back_what_is_not_relevant_enough(specimen: Any) -> Any:
    measured, expected = [], []
    for A, B, threshold in (
        (-4.0, 2.0, 0.6),
        (-4.0, 2.0, 0.63),
        (3.0, -1.0, 0.2),
        (-8.0, 6.5, 0.1),
        (-8.0, 6.5, 0.0),
    ):
        for time_scale in (1.0, None):
            measured.append(
                asked(
                    specimen,
                    gated(
                        specimen,
                        evidence="relevance",
                        A=A,
                        B=B,
                        threshold=threshold,
                        time_scale=time_scale,
                    ),
                )
            )
            expected.append(due(0.625, A, B, threshold, [1, 2, 4]))
    return flat(measured), flat(expected)


@adaptation(
    "PG-7b",
    source="ours: largest relevance and margin, by lists and `statistics`, over what may be answered and has a value",
)
def decision_values_are_those_of_what_may_be_answered(specimen: Any) -> Any:
    rng, measured, expected = np.random.default_rng(6), [], []
    for n in (0, 1, 2, 3, 5, 9) * 6:
        values, may = (
            rng.choice([math.nan, 0.0, 0.25, 0.5, 0.75, -2.0, 1.0], n),
            rng.random(n) < 0.7,
        )
        open_ = sorted(
            (float(v) for v, m in zip(values, may, strict=True) if m and not math.isnan(v)),
            reverse=True,
        )
        sd = pstdev(open_) if open_ else 0.0
        measured += [specimen.most_relevant(values, may), specimen.margin(values, may)]
        expected += [
            open_[0] if open_ else math.nan,
            math.nan if len(open_) < 2 else (open_[0] - open_[1]) / sd if sd else 0.0,
        ]
    return np.nan_to_num(measured, nan=-9.0), np.nan_to_num(expected, nan=-9.0)


@adaptation(
    "PG-8",
    source="ours: best minus second in standard deviations of what may be answered, by `statistics`",
)
def a_memory_judges_by_the_margin(specimen: Any) -> Any:
    measured, expected = [], []
    silent = np.where(np.arange(6) == 0, np.nan, SCORES).astype(np.float32)
    for scores, rows, order in (
        (SCORES, OPEN, [1, 2, 4]),
        (silent, OPEN[1:], [1, 2, 4]),
        (SCORES * 0 + 2, OPEN, [0, 1, 2]),
    ):
        open_ = sorted((float(scores[i]) for i in rows), reverse=True)
        f = (open_[0] - open_[1]) / (pstdev(open_, mean(open_)) or 1.0)
        for threshold in (0.5, 0.9):
            memory = gated(
                specimen, scores=scores, evidence="margin", A=-2.0, B=0.5, threshold=threshold
            )
            measured.append(asked(specimen, memory))
            expected.append(due(f, -2.0, 0.5, threshold, order, scores))
    return flat(measured), flat(expected)


@adaptation(
    "PG-9",
    source="ours: ln(1 + (N - n + .5) / (n + .5)) of each word, summed over those in the best memories, by hand",
    rtol=1e-6,
)
def a_memory_judges_by_the_words_that_the_best_contain(specimen: Any) -> Any:
    def idf(n: int) -> float:
        return math.log(1.0 + (6.0 - n + 0.5) / (n + 0.5))

    boat, harbour, night, violin, bread = idf(3), idf(2), idf(2), idf(0), idf(1)
    cases = (
        ("boat harbour", 1, harbour / (boat + harbour)),
        ("boat harbour", 2, 1.0),
        ("boat", 1, 0.0),
        ("boat", 2, 1.0),
        ("Boat, boat and the violin!", 3, boat / (boat + violin)),
        ("bread", 4, 0.0),
        ("violin", 2, 0.0),
        ("night bread harbour", 1, (night + harbour) / (night + harbour + bread)),
    )
    measured, expected = [], []
    for text, size, f in cases:
        for threshold in (0.3, 0.8):
            memory = gated(
                specimen, evidence="coverage", best=size, A=-3.0, B=1.5, threshold=threshold
            )
            measured.append(asked(specimen, memory, text))
            expected.append(due(f, -3.0, 1.5, threshold, [1, 2, 4]))
    return flat(measured), flat(expected)


@limit(
    "PG-10",
    source="definition: without a decision value nothing is judged; at a threshold of 0 nothing is held back",
)
def what_cannot_be_judged_is_released(specimen: Any) -> Any:
    nobody, embedder = (
        np.full(6, np.nan, np.float32),
        Scripted({"a red boat": [1.0, 0.0], "boat": [1.0, 0.0]}),
    )
    strict: dict[str, Any] = {"A": 9.0, "B": 9.0, "threshold": 1.0}
    stories = (
        (gated(specimen, nobody, evidence="relevance", **strict), "boat"),
        (
            gated(
                specimen,
                LOOKED[:1],
                SCORES[:1],
                TEXTS[:1],
                evidence="margin",
                embedder=embedder,
                **strict,
            ),
            "boat",
        ),
        (gated(specimen, evidence="coverage", **strict), "?!"),
        (gated(specimen), "boat"),  # the registry's numbers: not fitted
    )
    measured, whole = [], []
    for memory, text in stories:
        _, p, released, rows = asked(specimen, memory, text)
        measured.append([p == 1.0, any(map(math.isnan, released)), len(rows)])
        whole.append([memory is not stories[3][0], False, min(3, memory.store.n)])
    return measured, whole


@limit(
    "PG-11",
    source="definition: a probability equal to the threshold is released, and each query is judged anew",
)
def the_threshold_itself_is_released(specimen: Any) -> Any:
    at, shown = 0.5, [LOOKED, LOOKED - np.float32(0.25), LOOKED]
    relevance = np.array(LOOKED)
    memory = gated(specimen, relevance, evidence="relevance", A=-2.0, B=1.25, threshold=at)
    measured = []
    for looked in shown:
        relevance[...] = looked
        measured.append(asked(specimen, memory)[3] == [1, 2, 4])
    return measured, [True, False, True]


@figure(
    "reliability",
    caption="Share of sufficient answers among those with about the same probability, for examples that the fit has not seen: the "
    "fitted sigmoid lies on the diagonal, an unfitted one (A = -0.3, B = -0.5) does not",
    source="ours: synthetic examples, logit 1.5 f - 1",
)
def reliability_of_the_fit(specimen: Any) -> Picture:
    A, B = specimen.fitted(*examples(0))
    f, y = examples(99)
    middle = np.arange(0.05, 1.0, 0.1)
    curves = []
    for label, slope, offset in (("fitted", A, B), ("not fitted", -0.3, -0.5)):
        p = probabilities(specimen, f, slope, offset)
        inside = [np.minimum((p * 10).astype(int), 9) == i for i in range(10)]
        curves.append(
            dots(
                label,
                np.array(
                    [p[i].mean() if i.any() else m for i, m in zip(inside, middle, strict=True)]
                ),
                np.array([y[i].mean() if i.any() else np.nan for i in inside]),
            )
        )
    return Picture(
        "probability",
        "share of sufficient answers",
        (Curve("calibrated", np.array([0.0, 1.0]), np.array([0.0, 1.0])), *curves),
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("targets of 0 and 1", rejected_by="PG-1")
def unsmoothed(specimen: Any) -> Any:
    return specimen.replacing(
        "smoothed_targets", lambda positive: np.asarray(positive, dtype=np.float64)
    )


@mutant("the sigmoid with the opposite sign", rejected_by="PG-1b")
def opposite(specimen: Any) -> Any:
    original = specimen.probability
    return specimen.replacing("probability", lambda f, A, B: original(f, -A, -B))


@mutant("the cross-entropy by its definition, with the logarithm of 0", rejected_by="PG-1c")
def overflowing(specimen: Any) -> Any:
    def cross_entropy(z: Any, t: Any) -> float:
        with np.errstate(all="ignore"):
            p = 1.0 / (1.0 + np.exp(z))
            return float(-np.sum(t * np.log(p) + (1.0 - t) * np.log(1.0 - p)))

    return specimen.replacing("cross_entropy", cross_entropy)


@mutant("whole Newton steps without backtracking", rejected_by="PG-2")
def undamped(specimen: Any) -> Any:
    return specimen.replacing("DECREASE", -1e300)


@mutant("no curvature, no step", rejected_by="PG-2d")
def unridged(specimen: Any) -> Any:
    return specimen.replacing("RIDGE", 1e-3)


@mutant("any decrease suffices", rejected_by="PG-2e")
def any_decrease(specimen: Any) -> Any:
    return specimen.replacing("DECREASE", 0.0)


@mutant("the second largest relevance", rejected_by="PG-7b")
def runner_up(specimen: Any) -> Any:
    def most_relevant(relevance: Any, answerable: Any) -> float:
        kept = np.sort(relevance[answerable & ~np.isnan(relevance)])
        return float(kept[-2 if len(kept) > 1 else -1]) if len(kept) else math.nan

    return specimen.replacing("most_relevant", most_relevant)


@mutant("the fit ends after one step", rejected_by="PG-2")
def one_step(specimen: Any) -> Any:
    original = specimen.fitted
    return specimen.replacing("fitted", lambda f, y: original(f, y, 1))


@mutant("the fit begins at B = 0", rejected_by="PG-2b")
def another_start(specimen: Any) -> Any:
    class Flat:
        exp, isnan, sqrt, nan = math.exp, math.isnan, math.sqrt, math.nan

        @staticmethod
        def log(x: float) -> float:
            return 0.0

    return specimen.replacing("math", Flat)


@mutant("the Hessian without its mixed term", rejected_by="PG-2c")
def diagonal(specimen: Any) -> Any:
    def newton_direction(x: Any, t: Any, A: float, B: float) -> tuple[float, float, float]:
        p = sigmoid(-(A * x + B))
        w, slopes = p * (1.0 - p), np.array([(x * (t - p)).sum(), (t - p).sum()])
        to = -slopes / np.array([(x * x * w).sum(), w.sum()])
        return float(to[0]), float(to[1]), float(slopes @ to)

    return specimen.replacing("newton_direction", newton_direction)


@mutant("targets are exchanged between the kinds", rejected_by="PG-3")
def exchanged(specimen: Any) -> Any:
    original = specimen.smoothed_targets
    return specimen.replacing("smoothed_targets", lambda positive: original(~np.asarray(positive)))


@mutant("the slope is bounded away from the data's", rejected_by="PG-5")
def bounded(specimen: Any) -> Any:
    original = specimen.fitted

    def fitted(f: Any, y: Any, *iterations: int) -> tuple[float, float]:
        slope, offset = original(f, y, *iterations)
        return max(slope, -1.0), offset

    return specimen.replacing("fitted", fitted)


@mutant("the offset is left out", rejected_by="PG-5b")
def no_offset(specimen: Any) -> Any:
    original = specimen.fitted
    return specimen.replacing("fitted", lambda f, y: (original(f, y)[0], 0.0))


@mutant("a slope of the wrong sign", rejected_by="PG-4")
def falling(specimen: Any) -> Any:
    original = specimen.fitted
    return specimen.replacing("fitted", lambda f, y: (-original(f, y)[0], original(f, y)[1]))


@mutant("examples of one kind are fitted", rejected_by="PG-6")
def careless(specimen: Any) -> Any:
    original = specimen.fitted
    return specimen.replacing(
        "fitted",
        lambda f, y: original(f, y) if 0 < np.count_nonzero(y) < np.size(y) else (0.0, 0.0),
    )


@mutant("equal values are fitted by the counts", rejected_by="PG-6b")
def counted(specimen: Any) -> Any:
    original = specimen.fitted
    return specimen.replacing(
        "fitted",
        lambda f, y: (
            original(f, y) if np.ptp(f) else (0.0, math.log(np.mean(~np.asarray(y)) / np.mean(y)))
        ),
    )


@mutant("archived and banned memories count, too", rejected_by="PG-7")
def unfiltered(specimen: Any) -> Any:
    return specimen.replacing(
        "most_relevant", lambda relevance, answerable: float(np.nanmax(relevance))
    )


@mutant("the margin is not divided by the standard deviation", rejected_by="PG-8")
def raw_margin(specimen: Any) -> Any:
    def margin(scores: Any, answerable: Any) -> float:
        kept = np.sort(scores[answerable & ~np.isnan(scores)])
        return float(kept[-1] - kept[-2]) if len(kept) > 1 else math.nan

    return specimen.replacing("margin", margin)


@mutant("coverage counts words, not their rarity", rejected_by="PG-9")
def unweighted(specimen: Any) -> Any:
    class Same:
        class LUCENE:
            @staticmethod
            def weight(n_rows: int, frequency: int) -> float:
                return 1.0

    return specimen.replacing("Idf", Same)


@mutant("an answer that cannot be judged is held back", rejected_by="PG-10")
def distrustful(specimen: Any) -> Any:
    def judge(self: Any, view: Any, cue: Any) -> None:
        specimen.SufficiencyGate.judge(self, view, cue)
        if math.isnan(view.sufficiency_evidence):
            view.released[...] = np.nan

    return specimen.overriding("SufficiencyGate", judge=judge)


@mutant("the threshold itself is held back", rejected_by="PG-11")
def at_the_threshold(specimen: Any) -> Any:
    def judge(self: Any, view: Any, cue: Any) -> None:
        specimen.SufficiencyGate.judge(self, view, cue)
        if view.sufficiency <= self.params.threshold:
            view.released[...] = np.nan

    return specimen.overriding("SufficiencyGate", judge=judge)
