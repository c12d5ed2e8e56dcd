"""Evidence for feedback_fusion.  References are the likelihood of a conditional logit by finite differences, drawn questions, and plain loops."""
from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engine.columns import Facet, Phase, Scale, signal
from ...engine.contract import Mechanism
from ...engine.drafts import Draft, Kind
from ...engine.vocabulary import ACTIVATION, DRAFTS, FUSED, LOG_FACETS, LOG_STRENGTH
from ..checks import adaptation, limit, mutant, signature
from ..figures import Curve, Picture, dots, figure
from ..memory import Scripted, encode, memory_of, neighbour

Array = NDArray[np.float64]
NUMBERS = ()
LOOKS = signal("looks", Facet.MEANING, "given", floor=-1.0, scale=Scale.SIMILARITY)
SOUNDS = signal("sounds", Facet.WORDS, "given")
OFTEN = signal("often", Facet.USE, "given", scale=Scale.LOG_ODDS)


def giving(scores: Mapping[Any, Array], weights: Mapping[Any, float]) -> list[Mechanism[Any]]:
    """Neighbours that give these signals the current scores."""
    def give(sign: Any) -> Callable[[Any, Any], None]:
        def fill(view: Any, _: Any) -> None:
            getattr(view, sign.name)[...] = scores[sign][:len(getattr(view, sign.name))]
        return fill

    return [neighbour(Phase.RETRIEVE, give(sign), sets=(sign,), owns=(sign,), id=f"gives_{sign.name}", weight=weights[sign]) for sign in scores]


def chance_of(x: Array, slopes: Array, needed: Sequence[int]) -> float:
    """Mean ln P(needed) by plain sums."""
    odds = [sum(b * v for b, v in zip(slopes, row, strict=True)) for row in x.tolist()]
    total = sum(math.exp(each) for each in odds)
    return float(np.mean([odds[row] - math.log(total) for row in needed]))


def newton(x: Array, slopes: Array, needed: Sequence[int], prior: Array, seen: Array) -> tuple[Array, Array]:
    """Slopes after a use, and the information with it, from finite differences of the likelihood."""
    s, step = len(slopes), 1e-4
    unit = np.eye(s) * step

    def at(*moves: Array) -> float:
        return chance_of(x, slopes + sum(moves, np.zeros(s)), needed)

    gradient = np.array([(at(u) - at(-u)) / (2.0 * step) for u in unit])
    hessian = np.array([[(at(u, v) - at(u, -v) - at(-u, v) + at(-u, -v)) / (4.0 * step ** 2) for v in unit] for u in unit])
    return slopes + np.linalg.solve(np.diag(prior) + seen - hessian, gradient), seen - hessian


# --- equations -----------------------------------------------------------------------------------------------------------------
@adaptation("FF-1", source="the log posterior of a conditional logit by central differences: Newton's step and the information", rtol=1e-5, atol=1e-6)
def a_use_is_a_step_of_newtons_method(specimen: Any) -> Any:
    rng, found, expected = np.random.default_rng(1), list[float](), list[float]()
    for needed in ([2], [0, 3], [4]):
        x, slopes, prior = rng.normal(size=(5, 3)), rng.random(3) * 2.0, rng.random(3) + 0.5
        seen = np.cov(rng.normal(size=(3, 9)))
        information = seen.copy()
        found += specimen.observe(x, x @ slopes + 7.0, np.array(needed), prior, slopes, information).tolist() + information.ravel().tolist()
        after, curved = newton(x, slopes, needed, prior, seen)
        expected += [*after, *curved.ravel()]
    far = specimen.chances(np.array([1000.0, 1000.0 + math.log(3.0), -1000.0]))
    return [*found, *far], [*expected, 0.25, 0.75, 0.0]


@adaptation("FF-2", source="definition: need is the sum of both; a row that the memory made has the mean activation of the visible events; by hand")
def need_is_that_of_events(specimen: Any) -> Any:
    b, ln = np.array([-1.0, -3.0, 5.0, 9.0]), np.array([0.5, 0.0, 0.0, 0.25])
    kind, seen = np.array([0, 0, 0, 3], np.int8), np.array([True, True, False, True])
    none = specimen.need_of(b, ln, kind, np.zeros(4, np.bool_))
    return [*specimen.need_of(b, ln, kind, seen), *none], [-0.5, -3.0, 5.0, -1.75, -0.5, -3.0, 5.0, 0.25]


def lived(specimen: Any, truth: Array, uses: int, start: Array, seed: int = 0) -> tuple[Array, Array, list[Array]]:
    """Slopes and information after uses of memories drawn from the odds of `truth`, and all slopes on the way."""
    rng, slopes, information, course = np.random.default_rng(seed), start.copy(), np.zeros((len(start), len(start))), [start]
    for _ in range(uses):
        x = rng.normal(size=(8, len(start)))
        odds = np.exp(x @ truth)
        needed = rng.choice(8, p=odds / odds.sum())
        slopes = np.maximum(specimen.observe(x, x @ slopes, np.array([needed]), 1.0 / np.maximum(start, 0.5) ** 2, slopes, information), 0.0)
        course.append(slopes)
    return slopes, information, course


@signature("FF-3", source="recovery: slopes of 600 drawn uses lie within 4 standard errors of those that made them; a signal that says nothing is "
           "left with less than .15 of 1", figure="learnt_slopes")
def uses_teach_which_evidence_counts(specimen: Any) -> Any:
    truth = np.array([0.9, 2.0, 0.0])
    slopes, information, _ = lived(specimen, truth, 600, np.array([0.0, 1.0, 1.0]))
    errors = np.sqrt(np.diag(np.linalg.inv(information)))
    return bool((np.abs(slopes - truth) < 4.0 * errors).all() and errors.max() < 0.1 and slopes[2] < 0.15)


@adaptation("FF-4", source="definition: a key keeps its place, a new one has the next, none is left beyond the last; numbers of names by crc32")
def places_are_given_once(specimen: Any) -> Any:
    keys, found = np.full(4, -1), list[int]()
    for key in (0, 9, 0, 7, 8, 9):
        found.append(specimen.place_of(key, keys))
        if found[-1]:
            keys[found[-1]] = key
    return [*found, specimen.key_of("looks")], [1, 2, 1, 3, 0, 2, 4113274099]


# --- in a memory ---------------------------------------------------------------------------------------------------------------
NEED, STRENGTH = np.array([-1.0, -2.5, -0.5, -3.0, -1.5]), np.array([0.0, 0.3, 0.0, -0.2, 0.1])
WEIGHTS = {LOOKS: 0.7, SOUNDS: 1.3, OFTEN: 0.0}
STORY: tuple[tuple[tuple[int, ...], float | None], ...] = (     # rows needed, and the outcome
    ((1,), None), ((1, 3), 0.5), ((2,), -0.5), ((), None), ((4,), None), ((3,), 0.0), ((3, 5), None), ((0,), 1.0), ((-1, -2), None), ((-1,), None),
    *[((3,), None)] * 8)                                        # -1, -2: the best of the answer


@adaptation("FF-5", source="z-scores, need and Newton's steps in numpy over a story of uses: several rows, a bad outcome, nothing needed, the "
            "whole answer, an archived memory and a made one; a signal without weight says nothing", rtol=2e-4, atol=2e-4)
def a_memory_learns_its_slopes(specimen: Any) -> Any:
    """In the second life what has the greatest need is needed again and again, until the slope of need, 0 at first, meets its bound."""
    often = [((2,), None)] * 14
    (found, expected, lost), (more, wanted, gained) = told_in_memory(specimen, STORY, 0.3, 0.6), told_in_memory(specimen, often, 0.0, 3.0)
    return [*found, *more, lost, gained], [*expected, *wanted, 0.0, 2.0]


def told_in_memory(specimen: Any, story: Sequence[tuple[tuple[int, ...], float | None]], need: float,
                   spread: float) -> tuple[list[float], list[float], float]:
    """FUSED of every question, what it should be, and the slope of need in the end."""
    rng, measured, expected, slope = np.random.default_rng(6), list[float](), list[float](), 0.8
    given = {sign: np.zeros(6) for sign in WEIGHTS}

    def keep(view: Any, _: Any) -> None:
        view.activation[:5], view.log_strength[:5] = NEED, STRENGTH

    def draft(view: Any, _: Any) -> None:
        if len(view.log_strength) == 5:
            view.drafts.add(Draft("made", Kind.SUMMARY, (0, 1)))

    def weigh(view: Any, _: Any) -> None:
        view.log_facets[...] += np.log(1.0 + np.arange(len(Facet)) / 4.0)

    memory = memory_of(
        specimen, *giving(given, WEIGHTS), neighbour(Phase.MAINTAIN, keep, adds=(LOG_STRENGTH,), sets=(ACTIVATION,), id="keep"),
        neighbour(Phase.CONSOLIDATE, draft, reads=(LOG_STRENGTH,), adds=(DRAFTS,), id="draft"),
        neighbour(Phase.RETRIEVE, weigh, adds=(LOG_FACETS,), id="weigh"), need=need, slope=slope, spread=spread,
        embedder=Scripted({**{f"event {i}": np.eye(6)[i] for i in range(5)}, "made": np.ones(6), "query": np.ones(6)}))
    encode(memory, *((0.0, f"event {i}") for i in range(5)))
    memory.archive(4)
    memory.advance(30.0)
    seen, facet = [0, 1, 2, 3, 5], 1.0 + np.arange(len(Facet)) / 4.0
    history = np.append(NEED + STRENGTH, NEED[:4].mean())
    start = np.array([need, slope * 0.7, slope * 1.3])
    slopes, information = start.copy(), np.zeros((3, 3))
    for rows, outcome in story:
        for sign in given:
            given[sign][...] = rng.normal(size=6).astype(np.float32)
        given[SOUNDS][2], given[LOOKS][3] = np.nan, np.nan
        ranked = (answer := memory.retrieve("query")).rows.tolist()
        told = [ranked[-row - 1] if row < 0 else row for row in rows]
        memory.use(answer, told, outcome)
        x = [history]
        for sign in (LOOKS, SOUNDS):
            filled = np.where(np.isnan(given[sign]), sign.floor, given[sign])
            x.append((filled - filled[seen].mean()) / filled[seen].std() * facet[sign.facet.value])
        measured += memory.column(FUSED).tolist()
        expected += (np.array(x).T @ slopes).tolist()
        needed = [seen.index(row) for row in told if row in seen]
        if needed and not (outcome or 0.0) < 0.0 and (len(told) == 1 or {*told} != {*ranked[:len(told)]}):
            slopes, information = newton(np.array(x).T[seen], slopes, needed, 1.0 / (spread * np.array([1.0, *start[1:]])) ** 2, information)
            slopes = np.maximum(slopes, 0.0)
            slopes[0] = min(slopes[0], 2.0)
    return measured, expected, float(slopes[0])


@limit("FF-6", source="definition: without uses, without spread, and with need 0, the sum of the standardised signals by weight; without signals all "
       "memories are equal; an activation that is not finite says nothing then", rtol=1e-5)
def before_any_use_signals_count_by_their_weights(specimen: Any) -> Any:
    scores = {LOOKS: np.array([0.3, 0.1, 0.8]), SOUNDS: np.array([2.0, 0.0, 1.0])}
    found = list[float]()

    def keep(view: Any, _: Any) -> None:
        view.activation[...] = -math.inf

    for spread, uses in ((1.0, 0), (0.0, 3)):
        memory = memory_of(specimen, *giving(scores, {LOOKS: 0.7, SOUNDS: 1.3}), neighbour(Phase.MAINTAIN, keep, sets=(ACTIVATION,), id="keep"),
                           spread=spread, slope=1.5, need=0.0)
        encode(memory, *((0.0, f"event {i}") for i in range(3)))
        memory.advance(1.0)
        for _ in range(uses):
            memory.use(memory.retrieve("query"), [1])
        memory.retrieve("query")
        found += memory.column(FUSED).tolist()
    alone = memory_of(specimen)
    encode(alone, (0.0, "a boat"), (1.0, "a red boat"))
    alone.retrieve("boat")
    z = sum(1.5 * w * (x - x.mean()) / x.std() for w, x in ((0.7, scores[LOOKS]), (1.3, scores[SOUNDS])))
    return [*found, *alone.column(FUSED)], [*z, *z, 0.0, 0.0]


@limit("FF-7", source="definition: 31 signals learn beside need, the others stay as they are", rtol=1e-5)
def signals_beyond_the_last_place_do_not_learn(specimen: Any) -> Any:
    signs = [signal(f"sign_{i:02d}", Facet.MEANING, "given") for i in range(33)]
    scores = {sign: np.roll(np.array([0.0, 1.0, 5.0]), i) for i, sign in enumerate(signs)}
    memory = memory_of(specimen, *giving(scores, dict.fromkeys(signs, 0.5)))
    encode(memory, *((0.0, f"event {i}") for i in range(3)))
    memory.use(memory.retrieve("query"), [1])
    keys, learnt = memory.column(specimen.SLOPE_OF), memory.column(specimen.SLOPE_LEARNT)
    found = [(keys[1:] >= 0).all(), keys[0] == -1, (np.abs(learnt[1:]) > 0.0).all(), len(set(keys.tolist())) == 32]
    return [float(each) for each in found], [1.0] * 4


# --- figures -------------------------------------------------------------------------------------------------------------------
@figure("learnt_slopes", caption="Slopes over uses, from 0 for need and 1 for two signals: each moves to what it tells in this memory",
        source="600 drawn uses of one of eight memories; dots: the slopes that drew them")
def slopes_over_uses(specimen: Any) -> Picture:
    truth = np.array([0.9, 2.0, 0.0])
    course = np.array(lived(specimen, truth, 600, np.array([0.0, 1.0, 1.0]))[2])[::10]
    at = np.arange(0, 601, 10)
    return Picture("uses", "slope, ln odds", (
        *(Curve(name, at, course[:, i]) for i, name in enumerate(("need", "a signal that tells", "a signal that does not"))),
        dots("true slopes", np.full(3, 600), truth)))


# --- mutants -------------------------------------------------------------------------------------------------------------------
def observing(specimen: Any, change: Callable[[Array, Array, Array, Array], tuple[Array, Array]]) -> Any:
    """`observe` with another step: change(centred evidence, P, gradient, prior) -> (information of the use, gradient)."""
    def observe(evidence: Array, odds: Array, needed: Any, prior: Array, slopes: Array, information: Array) -> Array:
        p = np.exp(odds - odds.max())
        p /= p.sum()
        mean = p @ evidence
        more, gradient = change(evidence - mean, p, evidence[needed].mean(axis=0) - mean, prior)
        information += more
        return np.asarray(slopes + np.linalg.solve(np.diag(prior) + information, gradient))

    return specimen.replacing("observe", observe)


@mutant("each slope is learnt alone", rejected_by="FF-1")
def alone(specimen: Any) -> Any:
    return observing(specimen, lambda away, p, gradient, prior: (np.diag(p @ away ** 2), gradient))


@mutant("information about the slopes does not add up: every use counts as the first", rejected_by="FF-1")
def forgetful(specimen: Any) -> Any:
    def observe(evidence: Array, odds: Array, needed: Any, prior: Array, slopes: Array, information: Array) -> Any:
        information[...] = 0.0
        return specimen.observe(evidence, odds, needed, prior, slopes, information)

    return specimen.replacing("observe", observe)


@mutant("made rows count as even odds", rejected_by="FF-2")
def made_rows_even(specimen: Any) -> Any:
    return specimen.replacing("need_of", lambda b, ln, kind, seen: np.asarray(b, np.float64) + ln)


@mutant("uses move the slopes the wrong way", rejected_by="FF-3")
def backwards(specimen: Any) -> Any:
    return observing(specimen, lambda away, p, gradient, prior: (away.T @ (p[:, None] * away), -gradient))


@mutant("a new signal takes the place of the last", rejected_by="FF-4")
def overwritten(specimen: Any) -> Any:
    return specimen.replacing("place_of", lambda key, keys: specimen.place_of(key, keys) or len(keys) - 1)


@mutant("a whole answer teaches the slopes that gave it", rejected_by="FF-5")
def confirming(specimen: Any) -> Any:
    return specimen.replacing("best", lambda scores, visible, k: np.empty(0, dtype=np.int64))


@mutant("a bad outcome teaches as a good one does", rejected_by="FF-5")
def deaf_to_outcome(specimen: Any) -> Any:
    on_use = specimen.FeedbackFusion.on_use

    class Heedless:
        def __init__(self, view: Any) -> None:
            object.__setattr__(self, "view", view)

        def __getattr__(self, name: str) -> Any:
            return 0.0 if name == "outcome" else getattr(self.view, name)

    def heedless(self: Any, view: Any, cue: Any) -> None:
        on_use(self, Heedless(view), cue)

    return specimen.overriding("FeedbackFusion", on_use=heedless)
