"""Evidence for pattern_completion_threshold.  References are scipy's softmax and erfc, closed
forms, and networks in numpy.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfc, logit, softmax
from scipy.stats import norm

from ...engine.contract.columns import Facet, Phase
from ...engine.contract.vocabulary import LOG_FACETS
from ..checks import (
    adaptation,
    at_least,
    at_most,
    between,
    equation,
    limit,
    mutant,
    reference,
    signature,
)
from ..figures import Curve, Picture, figure
from ..memory import Scripted, encode, memory_of, neighbour

Vector = NDArray[np.float64]
BETA = 60.0


# --- helpers --------------------------------------------------------------------------------------
def final_overlap(specimen: Any, load: float, trials: int = 15, units: int = 500) -> float:
    """Mean overlap with the stored pattern after recall from a cue with 20 % of its units
    flipped.
    """
    rng, overlaps, weights = np.random.default_rng(0), [], np.empty((units, units))
    for _ in range(trials):
        x = rng.choice([-1.0, 1.0], (round(load * units), units))
        specimen.outer_products(x, weights)
        state = x[0].copy()
        state[rng.permutation(units)[: units // 5]] *= -1.0
        specimen.settle(weights, state, 30)
        overlaps.append(state @ x[0] / units)
    return float(np.mean(overlaps))


@functools.cache
def store(n: int = 600, d: int = 192) -> Vector:
    x = np.random.default_rng(1).standard_normal((n, d))
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))


def part(rng: np.random.Generator, x: Vector, fraction: float) -> Vector:
    """A cue that keeps a share of the coordinates."""
    cue, kept = np.zeros(x.size), rng.permutation(x.size)[: max(round(fraction * x.size), 1)]
    cue[kept] = x[kept]
    return np.asarray(cue / np.linalg.norm(cue))


def recalled(
    specimen: Any,
    fraction: float,
    beta: float = BETA,
    trials: int = 40,
    recurrent: bool = True,
    x: Vector | None = None,
) -> Vector:
    """Cosines of stored patterns with the completion of a part of them, or, without recurrence,
    with the part itself.
    """
    x = store() if x is None else x
    rng, out, overlaps = np.random.default_rng(2), np.empty(x.shape[1]), []
    for i in range(trials):
        cue = part(rng, x[i], fraction)
        if recurrent:
            specimen.completed(x, cue, beta, out)
        overlaps.append(float((out if recurrent else cue) @ x[i]))
    return np.array(overlaps)


# --- what is compared -----------------------------------------------------------------------------
@adaptation(
    "PT-9d",
    source="ours: a memory that stands for several counts as often in mean and deviation; numpy over repeated cosines",
)
def a_memory_that_stands_for_several_counts_as_often(specimen: Any) -> Any:
    rng = np.random.default_rng(9)
    cosine, counts = rng.uniform(-1.0, 1.0, 30), rng.integers(0, 6, 30)
    cosine[np.flatnonzero(counts == 0)] = 0.999  # hidden
    every = np.repeat(cosine, counts)
    shown = np.sort(cosine[counts > 0])
    return specimen.extremes(cosine, counts.astype(np.float32)), [
        len(every),
        shown[-1],
        shown[-2],
        every.mean(),
        every.std(),
    ]


# --- the networks ---------------------------------------------------------------------------------
@reference(
    "PT-1",
    source="Amit, Gutfreund & Sompolinsky 1985: recall breaks down past alpha = 0.138; 500 units, 20 % flipped",
    figure="capacity",
    papers=("amit1985storing",),
)
def recall_holds_at_low_load(specimen: Any) -> Any:
    return at_least(
        [final_overlap(specimen, 0.05) - 0.99, final_overlap(specimen, 0.10) - 0.97], 0.0
    )


@reference(
    "PT-1b",
    source="Amit, Gutfreund & Sompolinsky 1985: recall breaks down past alpha = 0.138; 500 units, 20 % flipped",
    figure="capacity",
    papers=("amit1985storing",),
)
def recall_breaks_down_past_the_critical_load(specimen: Any) -> Any:
    return at_most(final_overlap(specimen, 0.20), 0.6)


@equation(
    "PT-0",
    source="Hopfield 1982, storage and recall, numpy",
    atol=1e-12,
    papers=("hopfield1982neural",),
)
def weights_are_summed_outer_products_and_units_follow_their_field(specimen: Any) -> Any:
    x = np.random.default_rng(3).choice([-1.0, 1.0], (7, 40))
    weights, state = np.empty((40, 40)), x[0] * np.where(np.arange(40) < 5, -1.0, 1.0)
    specimen.outer_products(x, weights)
    reference = (np.einsum("mi,mj->ij", x, x) - 7.0 * np.eye(40)) / 40.0
    once = np.where(reference @ state >= 0.0, 1.0, -1.0)
    specimen.settle(weights, state, 1)
    return np.r_[weights.ravel(), state], np.r_[reference.ravel(), once]


@equation(
    "PT-0b",
    source="Hopfield 1982, recall in numpy: all units at once until none changes, at most 6 steps; input 0 keeps the state",
    papers=("hopfield1982neural",),
)
def recall_takes_the_steps_of_the_definition(specimen: Any) -> Any:
    rng, steps = np.random.default_rng(11), set[int]()
    measured: list[float] = []
    expected: list[float] = []
    for _ in range(30):
        weights = rng.integers(-2, 3, (6, 6)).astype(np.float64)
        state, exact, step, same = np.ones(6), np.ones(6), 0, False
        while step < 6 and not same:
            new = np.where(weights @ exact == 0.0, exact, np.sign(weights @ exact))
            exact, same, step = new, np.array_equal(new, exact), step + 1
        steps.add(step)
        measured += [specimen.settle(weights, state, 6), *state]
        expected += [step, *exact]
    return [*measured, len(steps) > 2], [*expected, True]


@equation(
    "PT-2",
    source="erfc(1 / sqrt(2 alpha)) / 2; scipy, and published values",
    atol=1e-7,
    rtol=1e-4,
    papers=("hopfield1982neural",),
)
def the_error_of_one_step_is_that_of_a_gaussian_field(specimen: Any) -> Any:
    loads = (0.138, 0.05, 0.1, 0.3)
    return [specimen.bit_error(a) for a in (*loads, 0.138, 0.05)], [
        *(0.5 * erfc(1.0 / np.sqrt(2.0 * np.array(loads)))),
        0.0035522,
        3.872e-6,
    ]


@signature(
    "PT-2b",
    source="PT-2 on networks of 400 units and 80 patterns, share of bits that flip in one step",
    rtol=0.15,
    atol=0.0,
    papers=("hopfield1982neural",),
)
def the_error_of_stored_patterns_is_the_predicted_one(specimen: Any) -> Any:
    rng, weights, wrong = np.random.default_rng(4), np.empty((400, 400)), []
    for _ in range(8):
        x = rng.choice([-1.0, 1.0], (80, 400))
        specimen.outer_products(x, weights)
        for pattern in x[:20]:
            state = pattern.copy()
            specimen.settle(weights, state, 1)
            wrong.append(np.mean(state != pattern))
    return float(np.mean(wrong)), 0.5 * erfc(1.0 / math.sqrt(2.0 * 0.2))


@equation(
    "PT-3",
    source="Treves & Rolls 1994 with Rolls' numbers; de Almeida et al. 2007",
    atol=0.5,
    rtol=0.0,
    papers=("treves1994computational", "dealmeida2007memory"),
)
def capacities_are_those_of_the_formulas(specimen: Any) -> Any:
    sparse = [specimen.sparse_capacity(k, 12_000.0, 0.02) for k in (0.2, 0.235, 0.3)]
    return [*sparse, specimen.connection_capacity(0.2, 0.003)], [
        30_675.0,
        36_043.0,
        46_012.0,
        22_222.0,
    ]


@equation("PT-4a", source="scipy softmax, numpy", atol=1e-10)
def one_completion_is_a_softmax_mean(specimen: Any) -> Any:
    x, cue, out = store(50, 20), store(50, 20)[3] * 0.7 + 0.2, np.empty(20)
    specimen.completed(x, cue, 9.0, out)
    mean = softmax(9.0 * (x @ cue)) @ x
    return out, mean / np.linalg.norm(mean)


@signature(
    "PT-4",
    source="f* = 2 ln N / d, simulated: half of the cues complete between f* and 3 f*",
    figure="partial_cues",
)
def completion_starts_at_the_predicted_part_of_a_pattern(specimen: Any) -> Any:
    least, fractions = specimen.completable_fraction(600.0, 192.0), np.arange(0.02, 0.3, 0.02)
    success = np.array([np.mean(recalled(specimen, f) > 0.95) for f in fractions])
    half = float(fractions[np.argmax(success >= 0.5)])
    return (
        between(half / least, 1.0, 3.0)
        if abs(least - 2.0 * math.log(600.0) / 192.0) < 1e-12
        else False
    )


@signature(
    "PT-4b",
    source="a lower beta needs a larger part: at beta = 20 all complete at 0.24, not at 0.12",
    figure="partial_cues",
)
def a_lower_beta_needs_a_larger_part(specimen: Any) -> Any:
    sharp, soft, more = (
        np.mean(recalled(specimen, f, b) > 0.95)
        for f, b in ((0.12, 60.0), (0.12, 20.0), (0.24, 20.0))
    )
    return bool(sharp >= 0.95 and soft < 0.8 and more >= 0.95)


@signature(
    "PT-5",
    source="transfer function; Neunuebel & Knierim 2014: CA3 is nearer to the stored pattern than its input from the dentate gyrus",
    papers=("neunuebel2014ca3",),
)
def completion_lies_above_the_diagonal_and_separation_below(specimen: Any) -> Any:
    rng, x, w = (
        np.random.default_rng(5),
        store(),
        np.random.default_rng(6).lognormal(0.0, 0.5, (1024, 192)),
    )
    w *= np.random.default_rng(7).random(w.shape) < 0.2
    out, above, below = np.empty(192), [], []
    for cosine in (0.4, 0.55, 0.7, 0.85):
        high, low = [], []
        for pattern in x[:12]:
            other = rng.standard_normal(192)
            other -= other @ pattern * pattern
            cue = cosine * pattern + math.sqrt(1.0 - cosine**2) * other / np.linalg.norm(other)
            specimen.completed(x, cue, BETA, out)
            high.append(out @ pattern)
            codes = [set(np.argsort(-(w @ vector))[:21].tolist()) for vector in (pattern, cue)]
            low.append(len(codes[0] & codes[1]) / 21)
        above.append(np.mean(high) - cosine)
        below.append(cosine - np.mean(low))
    return at_least([*above, *below], 0.05)


@signature(
    "PT-6",
    source="Nakazawa et al. 2002: without CA3 plasticity full cues recall, partial ones do not",
    figure="partial_cues",
    papers=("nakazawa2002requirement",),
)
def recurrence_is_needed_for_partial_cues_only(specimen: Any) -> Any:
    full, partial = (
        recalled(specimen, 1.0, recurrent=False).mean(),
        recalled(specimen, 0.1, recurrent=False).mean(),
    )
    loss = recalled(specimen, 0.1).mean() - partial
    return bool(full >= 0.95 and loss > 0.3)


# --- the decision ---------------------------------------------------------------------------------
@adaptation(
    "PT-7",
    source="softmax against equal competitors gives exactly p at the least margin; scipy",
    atol=1e-9,
)
def the_least_margin_gives_the_required_confidence(specimen: Any) -> Any:
    cases = [(n, p, beta) for n in (2, 10, 500) for p in (0.3, 0.5, 0.9) for beta in (8.0, 128.0)]
    shares = [
        softmax(beta * np.r_[specimen.least_margin(float(n), p, beta), np.zeros(n - 1)])[0]
        for n, p, beta in cases
    ]
    return shares, [p for _, p, _ in cases]


@adaptation(
    "PT-7b",
    source="closed form (ln(N - 1) + logit p) / beta: more memories or more confidence need a larger margin",
)
def the_margin_depends_on_the_store(specimen: Any) -> Any:
    cases = [(n, p) for n in (2.0, 100.0, 1e5) for p in (0.2, 0.5, 0.99)]
    return [specimen.least_margin(n, p, 32.0) for n, p in cases], [
        (math.log(n - 1.0) + logit(p)) / 32.0 for n, p in cases
    ]


@adaptation(
    "PT-8",
    source="median of the largest of N normal values, scipy; sqrt(2 ln N) is a little above it",
)
def the_chance_maximum_is_slightly_above_its_median(specimen: Any) -> Any:
    sizes = (50, 500, 5000, 100_000)
    medians = [0.1 + 0.05 * norm.ppf(0.5 ** (1.0 / n)) for n in sizes]
    ratios = [
        (specimen.chance_maximum(float(n), 0.1, 0.05) - 0.1) / (m - 0.1)
        for n, m in zip(sizes, medians, strict=True)
    ]
    return between(ratios, 1.0, 1.3)


@limit(
    "PT-8b",
    source="random unit vectors: sd is 1 / sqrt(d), so the share f* has the cosine of the best wrong match",
    rtol=1e-12,
)
def the_least_part_has_the_cosine_of_the_best_chance_match(specimen: Any) -> Any:
    sizes = [(n, d) for n in (100.0, 2000.0, 1e5) for d in (64.0, 384.0)]
    return [math.sqrt(specimen.completable_fraction(n, d)) for n, d in sizes], [
        specimen.chance_maximum(n, 0.0, d**-0.5) for n, d in sizes
    ]


@adaptation("PT-9", source="mean, sd and the two largest of the visible cosines, numpy", rtol=1e-9)
def the_moments_are_those_of_the_visible_memories(specimen: Any) -> Any:
    rng, measured, expected = np.random.default_rng(8), [], []
    for n in (3, 20, 300):
        cosine, visible = rng.uniform(-0.2, 0.9, n), rng.random(n) < 0.7
        visible[:3] = True
        kept = np.sort(cosine[visible])[::-1]
        measured.append(list(specimen.extremes(cosine, visible)))
        expected.append([kept.size, kept[0], kept[1], kept.mean(), kept.std()])
    return np.array(measured), np.array(expected)


@limit(
    "PT-9c",
    source="ours: equal cosines are not separated; a lead of exactly the least margin completes",
)
def decisions_at_their_limits(specimen: Any) -> Any:
    lead = specimen.least_margin(10.0, 0.7, BETA)
    cases = (
        (10, 0.3, 0.3, 0.3, 0.0),
        (10, lead, 0.0, -5.0, 0.0),
        (10, 0.9 * lead, 0.0, -5.0, 0.0),
        (2, lead, 0.0, -5.0, 0.0),
    )
    return [specimen.decision(*case, 0.7, BETA) for case in cases], [1, 2, 1, -1]


@limit(
    "PT-4c",
    source="softmax at a high inverse temperature: the nearest pattern; exp does not overflow",
    atol=1e-9,
)
def a_high_beta_gives_the_nearest_pattern(specimen: Any) -> Any:
    x, out = store(50, 20), np.empty(20)
    specimen.completed(x, x[3] + 0.01 * x[4], 1e4, out)
    return out, x[3]


@adaptation(
    "PT-9b",
    source="ours: unrelated cues are separated, partial cues completed, cues between two memories linked",
)
def each_kind_of_cue_gets_its_decision(specimen: Any) -> Any:
    rng, x, visible, chosen = np.random.default_rng(9), store(), np.ones(600, dtype=np.bool_), []
    for i in range(20):
        noise = rng.standard_normal(192)
        between_two = x[i] + x[i + 50]
        cues = (
            part(rng, x[i], 0.5),
            between_two / np.linalg.norm(between_two),
            noise / np.linalg.norm(noise),
        )
        chosen.append(
            [specimen.decision(*specimen.extremes(x @ cue, visible), 0.5, BETA) for cue in cues]
        )
    return bool((np.mean(np.array(chosen) == [2, 1, 0], axis=0) >= [1.0, 1.0, 0.75]).all())


@adaptation(
    "PT-10",
    source="ours: softmax share of the best, if all others equal the second, and sqrt(2 ln N) sd above the mean, in numpy and scipy",
    atol=1e-6,
)
def a_memory_decides_about_each_cue_and_weights_its_facets(specimen: Any) -> Any:
    rng, d, n, p, beta, gain = np.random.default_rng(10), 16, 24, 0.7, 12.0, 0.45
    x, other = rng.standard_normal((n, d)), np.linspace(-0.3, 0.4, len(Facet))
    x[7:15] = x[15:23] + 0.6 * x[7:15]
    cues = [
        share * x[i] / np.linalg.norm(x[i])
        + (1.0 - share) * (x[j] if j >= 0 else rng.standard_normal(d)) / math.sqrt(d)
        for share, i, j in zip(
            rng.uniform(0.0, 1.0, 40),
            rng.integers(n, size=40),
            rng.integers(-6, n, size=40),
            strict=True,
        )
    ]

    def shift(view: Any, _: Any) -> None:
        view.log_facets[...] += other

    memory = memory_of(
        specimen,
        neighbour(Phase.RETRIEVE, shift, adds=(LOG_FACETS,)),
        confidence=p,
        beta=beta,
        gain=gain,
        embedder=Scripted(
            {f"event {i}": v for i, v in enumerate(x)} | {f"cue {i}": v for i, v in enumerate(cues)}
        ),
    )
    encode(memory, *((float(i), f"event {i}") for i in range(n)))
    memory.archive(5)
    measured, expected, chosen = [], [], []
    for i, cue in enumerate(cues):
        memory.retrieve(f"cue {i}")
        cosines = x @ cue / np.linalg.norm(x, axis=1) / np.linalg.norm(cue)
        kept = np.sort(np.delete(cosines, 5))[::-1]
        share = softmax(beta * np.r_[kept[0], np.full(n - 2, kept[1])])[0]
        chosen.append(
            0
            if kept[0] < kept.mean() + kept.std() * math.sqrt(2.0 * math.log(n - 1.0))
            else 2
            if share >= p
            else 1
        )
        facets = other.copy()
        facets[Facet.COMPLETION.value] += gain * (-1, 0, 1)[chosen[-1]]
        facets[Facet.ASSOCIATION.value] += gain * (-1, 1, 0)[chosen[-1]]
        measured.append(
            [
                memory.column(specimen.COMPLETION_DECISION).item(),
                *memory.column(specimen.COMPLETION_COSINE),
                *memory.column(LOG_FACETS),
            ]
        )
        expected.append([chosen[-1], *cosines, *facets])
    assert set(chosen) == {0, 1, 2}, chosen
    return np.array(measured), np.array(expected)


@limit(
    "PT-10b",
    source="ours: with fewer than three visible memories there are no moments, and no facet changes",
)
def a_memory_of_two_decides_nothing(specimen: Any) -> Any:
    memory, measured = (
        memory_of(specimen, embedder=Scripted({f"event {i}": np.eye(4)[i] for i in range(4)})),
        [],
    )
    for i in range(4):
        encode(memory, (float(i), f"event {i}"))
        memory.retrieve("event 0")
        measured.append(
            (
                memory.column(specimen.COMPLETION_DECISION).item(),
                float(np.abs(memory.column(LOG_FACETS)).sum()),
            )
        )
        if i == 1:
            memory.archive(1)
    return [*np.ravel(measured[:3]), measured[3][0] >= 0], [-1, 0.0] * 3 + [True]


# --- figures --------------------------------------------------------------------------------------
@figure(
    "capacity",
    caption="Overlap with the stored pattern after recall from a cue with a fifth of its units flipped: near 1 at low load, low "
    "above the critical load",
    source="Amit, Gutfreund & Sompolinsky 1985: alpha = 0.138, marked",
)
def overlap_over_load(specimen: Any) -> Picture:
    loads = np.array([0.02, 0.05, 0.08, 0.1, 0.12, 0.14, 0.16, 0.18, 0.2, 0.25, 0.3])
    return Picture(
        "patterns per unit",
        "overlap after recall",
        (
            Curve(
                "mechanism, 200 units",
                loads,
                [final_overlap(specimen, float(a), trials=6, units=200) for a in loads],
            ),
            Curve("critical load", [0.138, 0.138], [0.0, 1.0]),
        ),
    )


@figure(
    "partial_cues",
    caption="Cosine of the completed cue with the stored pattern, over the part of the pattern in the cue: with recurrence a "
    "small part suffices, without it only the full pattern",
    source="Nakazawa et al. 2002, the direction; least part 2 ln N / d, marked",
)
def likeness_over_the_part_given(specimen: Any) -> Picture:
    x, parts = (
        store(400, 192),
        np.array([0.015, 0.03, 0.045, 0.06, 0.08, 0.1, 0.13, 0.17, 0.25, 0.4, 0.7, 1.0]),
    )
    least = specimen.completable_fraction(400.0, 192.0)
    return Picture(
        "part of the pattern in the cue",
        "cosine with the stored pattern",
        (
            *(
                Curve(
                    label,
                    parts,
                    [
                        recalled(specimen, float(f), beta, trials=10, recurrent=on, x=x).mean()
                        for f in parts
                    ],
                )
                for label, beta, on in (
                    ("with recurrence, beta = 60", BETA, True),
                    ("with recurrence, beta = 20", 20.0, True),
                    ("without", BETA, False),
                )
            ),
            Curve("least part", [least, least], [0.0, 1.0]),
        ),
        log="x",
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("a memory that stands for several counts once", rejected_by="PT-9d")
def counted_once(specimen: Any) -> Any:
    extremes = specimen.extremes
    return specimen.replacing(
        "extremes", lambda cosine, stands_for: extremes(cosine, stands_for > 0)
    )


@mutant("a fixed threshold of 0.75, independent of the stored memories", rejected_by="PT-8")
def fixed_threshold(specimen: Any) -> Any:
    return specimen.replacing("chance_maximum", lambda n, mean, sd: 0.75)


@mutant("no completion: the cue is returned", rejected_by="PT-5")
def echo(specimen: Any) -> Any:
    def completed(patterns: Any, cue: Any, beta: float, out: Any) -> None:
        out[:] = cue

    return specimen.replacing("completed", completed)


@mutant("no recurrence: the cue is returned", rejected_by="PT-6")
def lesioned(specimen: Any) -> Any:
    def completed(patterns: Any, cue: Any, beta: float, out: Any) -> None:
        out[:] = cue

    return specimen.replacing("completed", completed)


@mutant("self-connections are kept", rejected_by="PT-0")
def self_connected(specimen: Any) -> Any:
    def outer_products(patterns: Any, weights: Any) -> None:
        weights[...] = patterns.T @ patterns / patterns.shape[1]

    return specimen.replacing("outer_products", outer_products)


@mutant("a margin independent of the number of memories", rejected_by="PT-7")
def blind_margin(specimen: Any) -> Any:
    return specimen.replacing("least_margin", lambda n, p, beta: math.log(p / (1.0 - p)) / beta)


@mutant("no least margin", rejected_by="PT-9b")
def greedy(specimen: Any) -> Any:
    return specimen.replacing("least_margin", lambda n, p, beta: 0.0)


@mutant("bit error without the factor 1/2", rejected_by="PT-2")
def doubled(specimen: Any) -> Any:
    return specimen.replacing("bit_error", lambda load: math.erfc(1.0 / math.sqrt(2.0 * load)))


@mutant("a dense network's capacity", rejected_by="PT-3")
def dense(specimen: Any) -> Any:
    return specimen.replacing("sparse_capacity", lambda k, connections, a: 0.138 * connections)


@mutant("f* without the factor 2", rejected_by="PT-8b")
def half(specimen: Any) -> Any:
    return specimen.replacing("completable_fraction", lambda n, d: math.log(n) / d)


@mutant("archived memories count among the competitors", rejected_by="PT-10")
def unseen(specimen: Any) -> Any:
    original = specimen.extremes
    return specimen.replacing(
        "extremes", lambda cosine, visible: original(cosine, np.ones_like(visible))
    )


@mutant("linking lowers the weight of association", rejected_by="PT-10")
def inverted(specimen: Any) -> Any:
    def decide(self: Any, view: Any, cue: Any) -> None:
        before = float(view.log_facets[Facet.ASSOCIATION.value])
        specimen.PatternCompletionThreshold.decide(self, view, cue)
        view.log_facets[Facet.ASSOCIATION.value] = 2.0 * before - float(
            view.log_facets[Facet.ASSOCIATION.value]
        )

    return specimen.overriding("PatternCompletionThreshold", decide=decide)
