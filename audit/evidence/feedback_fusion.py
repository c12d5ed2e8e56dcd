"""Evidence for feedback_fusion.  References are chances and gradients by plain sums and finite
differences, root finding, and drawn questions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from ...engine.contract.columns import Facet, Phase, Scale, signal
from ...engine.contract.drafts import Draft, Kind
from ...engine.contract.records import Event, Only, Query
from ...engine.contract.vocabulary import ACTIVATION, FUSED, LOG_FACETS, LOG_STRENGTH
from ..checks import adaptation, limit, mutant, signature
from ..figures import Curve, Picture, dots, figure
from ..memory import Scripted, encode, memory_of, neighbour
from .shared.scripts import drafting, giving, signalling
from .shared.views import Instead

Array = NDArray[np.float64]
Odds = Callable[[Array], Array]  # ln odds of each memory by the slopes
NUMBERS = ()
LOOKS = signal("looks", Facet.MEANING, "given", floor=-1.0, scale=Scale.SIMILARITY)
SOUNDS = signal("sounds", Facet.WORDS, "given")
OFTEN = signal("often", Facet.USE, "given", scale=Scale.LOG_ODDS)


def fits(evidence: float, enough: float) -> float:
    """Probability that a memory fits the cue."""
    return 1.0 / (1.0 + math.exp(enough - evidence))


def need_and_fit(x: Array) -> Odds:
    """ln P(fits) + need, for columns need and signals, and slopes of need, enough evidence, and
    signals.
    """
    return lambda b: np.array(
        [
            math.log(fits(sum(v * w for v, w in zip(row[1:], b[2:], strict=True)), b[1]))
            + b[0] * row[0]
            for row in x.tolist()
        ]
    )


def slopes_of(function: Odds, at: Array) -> Array:
    """Derivatives by central differences, (values, slopes)."""
    step = np.eye(len(at)) * 1e-5
    return np.array([(function(at + shift) - function(at - shift)) / 2e-5 for shift in step]).T


def step_of_use(
    odds: Odds, slopes: Array, needed: Sequence[int], prior: Array, seen: Array
) -> tuple[Array, Array]:
    """Slopes after a use and the information with it: the mean over what might have been needed
    of the square of the gradient of ln P.
    """

    def log_chances(b: Array) -> Array:
        values = odds(b)
        return np.asarray(values - math.log(sum(math.exp(value) for value in values.tolist())))

    gradients = slopes_of(log_chances, slopes)
    told = np.array(
        [
            math.exp(log_chance) * np.outer(g, g)
            for log_chance, g in zip(log_chances(slopes).tolist(), gradients, strict=True)
        ]
    ).sum(axis=0)
    return slopes + np.linalg.solve(
        np.diag(prior) + seen + told, gradients[list(needed)].mean(axis=0)
    ), seen + told


# --- equations ------------------------------------------------------------------------------------
@adaptation(
    "FF-1",
    source="ln P of a conditional logit by central differences: the step of Newton's method, with the information of its definition: "
    "the mean square of the gradient over what might be needed",
    rtol=1e-5,
    atol=1e-6,
)
def a_use_is_a_step_of_newtons_method(specimen: Any) -> Any:
    rng, measured, expected = np.random.default_rng(1), list[float](), list[float]()
    for needed in ([2], [0, 3], [4]):
        x, slopes, prior = rng.normal(size=(5, 3)), rng.random(3) * 2.0, rng.random(3) + 0.5
        seen = np.cov(rng.normal(size=(3, 9)))
        information = seen.copy()
        measured += (
            specimen.observe(
                x, x @ slopes + 7.0, np.array(needed), prior, slopes, information
            ).tolist()
            + information.ravel().tolist()
        )
        after, curved = step_of_use(lambda b, x=x: x @ b, slopes, needed, prior, seen)  # type: ignore[misc]
        expected += [*after, *curved.ravel()]
    far = specimen.chances(np.array([1000.0, 1000.0 + math.log(3.0), -1000.0]))
    return [*measured, *far], [*expected, 0.25, 0.75, 0.0]


@adaptation(
    "FF-2",
    source="definition: need is the sum of both; a row that the memory made has the mean activation of the visible events; by hand",
)
def need_is_that_of_events(specimen: Any) -> Any:
    b, ln = np.array([-1.0, -3.0, 5.0, 9.0]), np.array([0.5, 0.0, 0.0, 0.25])
    kind, seen = np.array([0, 0, 0, 3], np.int8), np.array([True, True, False, True])
    none = specimen.need_of(b, ln, kind, np.zeros(4, np.bool_))
    return [*specimen.need_of(b, ln, kind, seen), *none], [-0.5, -3.0, 5.0, -1.75, -0.5, -3.0, 5.0,
        0.25]  # fmt: skip


def lived(
    specimen: Any, truth: Array, uses: int, start: Array, seed: int = 0
) -> tuple[Array, Array, list[Array]]:
    """Slopes and information after uses of memories drawn from the odds of `truth`, linear in
    what is observed, and all slopes on the way.
    """
    rng, slopes, information, course = (
        np.random.default_rng(seed),
        start.copy(),
        np.zeros((len(start), len(start))),
        [start],
    )
    for _ in range(uses):
        x = rng.normal(size=(8, len(start)))
        odds = np.exp(x @ truth)
        needed = rng.choice(8, p=odds / odds.sum())
        slopes = np.maximum(
            specimen.observe(
                x,
                x @ slopes,
                np.array([needed]),
                1.0 / np.maximum(start, 0.5) ** 2,
                slopes,
                information,
            ),
            0.0,
        )
        course.append(slopes)
    return slopes, information, course


@signature(
    "FF-3",
    source="recovery: slopes of 600 drawn uses lie within 4 standard errors of those that made them; a signal that says nothing is "
    "left with less than .15 of 1",
)
def uses_teach_which_evidence_counts(specimen: Any) -> Any:
    truth = np.array([0.9, 2.0, 0.0])
    slopes, information, _ = lived(specimen, truth, 600, np.array([0.0, 1.0, 1.0]))
    errors = np.sqrt(np.diag(np.linalg.inv(information)))
    return bool(
        (np.abs(slopes - truth) < 4.0 * errors).all() and errors.max() < 0.1 and slopes[2] < 0.15
    )


# need, enough evidence, two signals
TRUTH, START = np.array([0.9, 5.0, 2.0, 0.0]), np.array([0.0, 8.0, 1.0, 1.0])


def among_what_fits(specimen: Any, uses: int, seed: int) -> tuple[float, Array]:
    """Share of the best chance that the memory ranked first has, over the last third of the uses,
    and all slopes on the way.

    Of twelve memories five fit the cue, most of them better than they would have to; the one that
    is needed is drawn by TRUTH.
    """
    rng, slopes, information, course, got, best = (
        np.random.default_rng(seed),
        START.copy(),
        np.zeros((4, 4)),
        [START],
        0.0,
        0.0,
    )
    for use in range(uses):
        need, z = rng.normal(size=12), rng.normal(size=(12, 2))
        z[:5] += 3.0
        chances = np.exp(need_and_fit(np.column_stack([need, z]))(TRUTH))
        evidence = z @ slopes[2:]
        ranking = specimen.ranked(evidence, slopes[0] * (need.max() - need), slopes[1])
        if use >= uses * 2 // 3:
            got, best = got + chances[ranking.argmax()], best + chances.max()
        odds = slopes[0] * need - np.logaddexp(0.0, slopes[1] - evidence)
        needed, prior = (
            np.array([rng.choice(12, p=chances / chances.sum())]),
            1.0 / np.maximum(START, 1.0) ** 2,
        )
        slopes = np.maximum(
            specimen.observe(
                specimen.gradient(evidence, need, z, slopes[1]),
                odds,
                needed,
                prior,
                slopes,
                information,
            ),
            0.0,
        )
        course.append(slopes)
    return float(got / best), np.array(course)


@signature(
    "FF-11",
    source="drawn uses: of memories of which five fit, most of them better than they would have to, the one ranked first has "
    "at least .98 of the chance of the best one; odds linear in the evidence lose twice that and more",
    figure="learnt_slopes",
)
def of_memories_that_fit_need_decides(specimen: Any) -> Any:
    return bool(np.mean([among_what_fits(specimen, 900, seed)[0] for seed in range(4)]) >= 0.98)


@adaptation(
    "FF-4",
    source="definition: a key keeps its place, a new one has the next, none is left beyond the last; numbers of names by crc32",
)
def places_are_given_once(specimen: Any) -> Any:
    keys, places = np.full(5, -1), list[int]()
    for key in (0, 9, 0, 7, 8, 9):
        places.append(specimen.place_of(key, keys))
        if places[-1]:
            keys[places[-1]] = key
    return [*places, specimen.key_of("looks")], [2, 3, 2, 4, 0, 3, 4113274099]


@adaptation(
    "FF-8", source="derivatives of ln P(fits) + need by central differences", rtol=1e-6, atol=1e-8
)
def what_is_enough_is_learnt_with_the_slopes(specimen: Any) -> Any:
    rng, measured, expected = np.random.default_rng(3), list[float](), list[float]()
    for enough in (0.5, 3.0, 12.0):
        need, z, b = rng.normal(size=6) * 2.0, rng.normal(size=(6, 3)) * 3.0, rng.random(3) + 0.2
        measured += specimen.gradient(z @ b, need, z, enough).ravel().tolist()
        expected += (
            slopes_of(need_and_fit(np.column_stack([need, z])), np.array([0.7, enough, *b]))
            .ravel()
            .tolist()
        )
    return measured, expected


@adaptation(
    "FF-9",
    source="the evidence with which a memory of the greatest need would be as probable, by root finding",
    rtol=1e-7,
    atol=1e-9,
)
def the_ranking_is_on_the_scale_of_evidence(specimen: Any) -> Any:
    cases = [
        (e, less, c)
        for e in (-4.0, 0.5, 3.0, 9.0, 14.0)
        for less in (0.0, 0.01, 0.7, 5.0)
        for c in (1.0, 6.0)
    ]
    measured = [
        float(specimen.ranked(np.array([e]), np.array([less]), c)[0]) for e, less, c in cases
    ]
    return measured, [
        brentq(
            lambda x, e=e, less=less, c=c: math.log(fits(x, c) / fits(e, c)) + less,
            e - less - 60.0,
            e + 0.1,
            xtol=1e-12,
        )
        for e, less, c in cases
    ]


@limit(
    "FF-10",
    source="closed form: far below what is enough need and evidence add up; far beyond it need alone decides, ln s / (1 - s); a share "
    "of 0 leaves nothing, and the evidence of the most needed memory stays as it is",
    rtol=1e-9,
)
def evidence_counts_until_it_is_enough(specimen: Any) -> Any:
    half = math.log(2.0)
    measured = specimen.ranked(
        np.array([-50.0, 900.0, 60.0, 900.0, 700.0, 3.0]),
        np.array([1.5, half, half, 2.0 * half, 0.0, math.inf]),
        4.0,
    )
    return measured, [-51.5, 4.0, 4.0, 4.0 - math.log(3.0), 700.0, -math.inf]


# --- in a memory ----------------------------------------------------------------------------------
# the last, which is archived, has the greatest need
NEED, STRENGTH = np.array([-1.0, -2.5, -0.5, -3.0, -0.2]), np.array([0.0, 0.3, 0.0, -0.2, 0.1])
WEIGHTS = {LOOKS: 0.7, SOUNDS: 1.3, OFTEN: 0.0}
STORY: tuple[tuple[tuple[int, ...], float | None], ...] = (  # rows needed, and the outcome
    ((1,), None),
    ((1, 3), 0.5),
    ((2,), -0.5),
    ((), None),
    ((4,), None),
    ((3,), 0.0),
    ((3, 5), None),
    ((0,), 1.0),
    ((-1, -2), None),
    ((-1,), None),
    *[((3,), None)] * 8,
)  # -1, -2: the best of the answer


@adaptation(
    "FF-5",
    source="z-scores, need, chances and Newton's steps in numpy over a story of uses: several rows, a bad outcome, nothing needed, "
    "the whole answer, an archived memory and a made one; a signal without weight says nothing",
    rtol=2e-4,
    atol=2e-4,
)
def a_memory_learns_its_slopes(specimen: Any) -> Any:
    """In the second life what has the greatest need is needed again and again, until the slope
    of need, 0 at first, meets its bound.
    """
    often = [((2,), None)] * 14
    (measured, expected, lost), (more, wanted, gained) = (
        told_in_memory(specimen, STORY, 0.3, 0.6),
        told_in_memory(specimen, often, 0.0, 3.0),
    )
    return [*measured, *more, lost, gained], [*expected, *wanted, 0.0, 2.0]


def told_in_memory(
    specimen: Any, story: Sequence[tuple[tuple[int, ...], float | None]], need: float, spread: float
) -> tuple[list[float], list[float], float]:
    """FUSED of every question, what it should be, and the slope of need in the end."""
    rng, measured, expected, slope, enough = (
        np.random.default_rng(6),
        list[float](),
        list[float](),
        0.8,
        1.5,
    )
    given = {sign: np.zeros(6) for sign in WEIGHTS}

    def keep(view: Any, _: Any) -> None:
        view.activation[:5], view.log_strength[:5] = NEED, STRENGTH

    memory = memory_of(
        specimen,
        *signalling(given, WEIGHTS),
        neighbour(Phase.MAINTAIN, keep, adds=(LOG_STRENGTH,), sets=(ACTIVATION,), id="keep"),
        drafting(Draft("made", Kind.SUMMARY, (0, 1)), 5),
        giving(Phase.RETRIEVE, LOG_FACETS, np.log(1.0 + np.arange(len(Facet)) / 4.0), adds=True),
        need=need,
        slope=slope,
        enough=enough,
        spread=spread,
        embedder=Scripted(
            {
                **{f"event {i}": np.eye(6)[i] for i in range(5)},
                "made": np.ones(6),
                "query": np.ones(6),
            }
        ),
    )
    encode(memory, *(Event(0.0, f"event {i}", id=f"e{i}", dated=False) for i in range(5)))
    memory.archive(4)
    memory.advance(30.0)
    seen, facet = [0, 1, 2, 3, 5], 1.0 + np.arange(len(Facet)) / 4.0
    history = np.append(NEED + STRENGTH, NEED[:4].mean())
    start = np.array([need, enough, slope * 0.7, slope * 1.3])
    slopes, information = start.copy(), np.zeros((4, 4))
    for number, (rows, outcome) in enumerate(story):
        for sign in given:
            given[sign][...] = rng.normal(size=6).astype(np.float32)
        given[SOUNDS][2], given[LOOKS][3] = np.nan, np.nan
        # of every other question one memory that is not used is filtered, and counts as others do
        unused = next(row for row in range(4) if row not in rows)
        filters = number % 2 == 1 and min(rows, default=-1) >= 0
        only = Only(exclude=(f"e{unused}",)) if filters else None
        ranked = (answer := memory.retrieve(Query("query", only=only))).rows.tolist()
        told = [ranked[-row - 1] if row < 0 else row for row in rows]
        memory.use(answer, told, outcome)
        x = [history]
        for sign in (LOOKS, SOUNDS):
            filled = np.where(np.isnan(given[sign]), sign.floor, given[sign])
            x.append((filled - filled[seen].mean()) / filled[seen].std() * facet[sign.facet.value])
        measured += memory.column(FUSED).tolist()
        evidence = (np.array(x[1:]).T @ slopes[2:]).tolist()
        chance = [
            fits(e, slopes[1]) * math.exp(slopes[0] * (n - history.max()))
            for e, n in zip(evidence, history, strict=True)
        ]
        expected += [float(slopes[1] + math.log(p / (1.0 - p))) for p in chance]
        needed = [seen.index(row) for row in told if row in seen]
        if (
            needed
            and not (outcome or 0.0) < 0.0
            and (len(told) == 1 or {*told} != {*ranked[: len(told)]})
        ):
            odds = need_and_fit(np.array(x).T[seen])
            slopes, information = step_of_use(
                odds, slopes, needed, 1.0 / (spread * np.array([1.0, *start[1:]])) ** 2, information
            )
            slopes = np.maximum(slopes, 0.0)
            slopes[0] = min(slopes[0], 2.0)
    return measured, expected, float(slopes[0])


@limit(
    "FF-6",
    source="definition: without uses, without spread, and with need 0, the sum of the standardised signals by weight, whatever is enough; "
    "without signals all memories are equal; an activation that is not finite says nothing then",
    rtol=1e-5,
)
def before_any_use_signals_count_by_their_weights(specimen: Any) -> Any:
    scores = {LOOKS: np.array([0.3, 0.1, 0.8]), SOUNDS: np.array([2.0, 0.0, 1.0])}
    measured = list[float]()

    def keep(view: Any, _: Any) -> None:
        view.activation[...] = -math.inf

    for spread, uses, enough in ((1.0, 0, 0.5), (0.0, 3, 20.0)):
        memory = memory_of(
            specimen,
            *signalling(scores, {LOOKS: 0.7, SOUNDS: 1.3}),
            neighbour(Phase.MAINTAIN, keep, sets=(ACTIVATION,), id="keep"),
            spread=spread,
            slope=1.5,
            need=0.0,
            enough=enough,
        )
        encode(memory, *((0.0, f"event {i}") for i in range(3)))
        memory.advance(1.0)
        for _ in range(uses):
            memory.use(memory.retrieve("query"), [1])
        memory.retrieve("query")
        measured += memory.column(FUSED).tolist()
    alone = memory_of(specimen)
    encode(alone, (0.0, "a boat"), (1.0, "a red boat"))
    alone.use(alone.retrieve("boat"), [1])
    alone.retrieve("boat")
    z = sum(
        1.5 * w * (x - x.mean()) / x.std() for w, x in ((0.7, scores[LOOKS]), (1.3, scores[SOUNDS]))
    )
    return [*measured, *alone.column(FUSED)], [*z, *z, 0.0, 0.0]


@limit(
    "FF-7",
    source="definition: 31 signals learn beside need and what is enough, the others stay as they are",
    rtol=1e-5,
)
def signals_beyond_the_last_place_do_not_learn(specimen: Any) -> Any:
    signs = [signal(f"sign_{i:02d}", Facet.MEANING, "given") for i in range(33)]
    scores = {sign: np.roll(np.array([0.0, 1.0, 5.0]), i) for i, sign in enumerate(signs)}
    memory = memory_of(specimen, *signalling(scores, dict.fromkeys(signs, 0.5)))
    encode(memory, *((0.0, f"event {i}") for i in range(3)))
    memory.use(memory.retrieve("query"), [1])
    keys, learnt = memory.column(specimen.SLOPE_OF), memory.column(specimen.SLOPE_LEARNT)
    checks = [
        (keys[2:] >= 0).all(),
        (keys[:2] == -1).all(),
        (np.abs(learnt[2:]) > 0.0).all(),
        len(set(keys.tolist())) == 32,
    ]
    return [float(check) for check in checks], [1.0] * 4


# --- figures --------------------------------------------------------------------------------------
@figure(
    "learnt_slopes",
    caption="Slopes over uses, from 0 for need and 1 for two signals, and enough evidence, from 8: each moves to what it tells",
    source="900 drawn uses of one of twelve memories, of which five fit; dots: what drew them",
)
def slopes_over_uses(specimen: Any) -> Picture:
    course, at = among_what_fits(specimen, 900, 1)[1][::15], np.arange(0, 901, 15)
    names = ("need", "enough evidence", "a signal that tells", "a signal that does not")
    return Picture(
        "uses",
        "ln odds",
        (
            *(Curve(name, at, course[:, i]) for i, name in enumerate(names)),
            dots("true values", np.full(4, 900), TRUTH),
        ),
    )


# --- mutants --------------------------------------------------------------------------------------
def observing(
    specimen: Any, change: Callable[[Array, Array, Array, Array], tuple[Array, Array]]
) -> Any:
    """`observe` with another step: change(centred evidence, P, gradient, prior) -> (information
    of the use, gradient).
    """

    def observe(
        evidence: Array, odds: Array, needed: Any, prior: Array, slopes: Array, information: Array
    ) -> Array:
        p = np.exp(odds - odds.max())
        p /= p.sum()
        mean = p @ evidence
        more, gradient = change(evidence - mean, p, evidence[needed].mean(axis=0) - mean, prior)
        information += more
        return np.asarray(slopes + np.linalg.solve(np.diag(prior) + information, gradient))

    return specimen.replacing("observe", observe)


@mutant("each slope is learnt alone", rejected_by="FF-1")
def alone(specimen: Any) -> Any:
    return observing(specimen, lambda away, p, gradient, prior: (np.diag(p @ away**2), gradient))


@mutant(
    "information about the slopes does not add up: every use counts as the first",
    rejected_by="FF-1",
)
def forgetful(specimen: Any) -> Any:
    def observe(
        evidence: Array, odds: Array, needed: Any, prior: Array, slopes: Array, information: Array
    ) -> Any:
        information[...] = 0.0
        return specimen.observe(evidence, odds, needed, prior, slopes, information)

    return specimen.replacing("observe", observe)


@mutant("made rows count as even odds", rejected_by="FF-2")
def made_rows_even(specimen: Any) -> Any:
    return specimen.replacing("need_of", lambda b, ln, kind, seen: np.asarray(b, np.float64) + ln)


@mutant("uses move the slopes the wrong way", rejected_by="FF-3")
def backwards(specimen: Any) -> Any:
    return observing(
        specimen, lambda away, p, gradient, prior: (away.T @ (p[:, None] * away), -gradient)
    )


@mutant("a new signal takes the place of the last", rejected_by="FF-4")
def overwritten(specimen: Any) -> Any:
    return specimen.replacing(
        "place_of", lambda key, keys: specimen.place_of(key, keys) or len(keys) - 1
    )


@mutant("evidence beyond what is enough teaches in full", rejected_by="FF-8")
def teaching_in_full(specimen: Any) -> Any:
    def gradient(evidence: Array, need: Array, signals: Array, enough: float) -> Array:
        return np.column_stack([need, np.full(len(need), -1.0), signals])

    return specimen.replacing("gradient", gradient)


@mutant("evidence counts in full however much there is", rejected_by="FF-9")
def without_end(specimen: Any) -> Any:
    return specimen.replacing("ranked", lambda evidence, less, enough: evidence - less)


@mutant("what is enough is never learnt", rejected_by="FF-11")
def fixed(specimen: Any) -> Any:
    def gradient(evidence: Array, need: Array, signals: Array, enough: float) -> Array:
        slopes = np.array(specimen.gradient(evidence, need, signals, enough))
        slopes[:, 1] = 0.0
        return slopes

    return specimen.replacing("gradient", gradient)


@mutant("a memory that fits counts as one with just enough evidence", rejected_by="FF-10")
def cut_off(specimen: Any) -> Any:
    return specimen.replacing(
        "ranked", lambda evidence, less, enough: np.minimum(evidence, enough) - less
    )


@mutant("a whole answer teaches the slopes that gave it", rejected_by="FF-5")
def confirming(specimen: Any) -> Any:
    return specimen.replacing("best", lambda scores, visible, k: np.empty(0, dtype=np.int64))


@mutant("a bad outcome teaches as a good one does", rejected_by="FF-5")
def deaf_to_outcome(specimen: Any) -> Any:
    on_use = specimen.FeedbackFusion.on_use

    def heedless(self: Any, view: Any, cue: Any) -> None:
        on_use(self, Instead(view, outcome=0.0), cue)

    return specimen.overriding("FeedbackFusion", on_use=heedless)
