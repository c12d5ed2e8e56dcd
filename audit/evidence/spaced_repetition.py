"""Evidence for spaced_repetition.  References are the scheduler of the package `fsrs`, closed forms,
and the six rules written down a second time, in powers of numpy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engine.contract.drafts import Draft, Kind
from ...engine.contract.vocabulary import ACTIVATION
from ..checks import adaptation, equation, limit, mutant, reference, signature
from ..figures import Curve, Picture, dots, figure
from ..memory import encode, memory_of, plug_in, with_numbers
from ..paper_numbers import paper_number
from .shared.scripts import drafting

Vector = NDArray[np.float64]

FSRS, PAPER = "FSRS-6", "fsrs2026"
AGAIN, GOOD = 1, 3
SHIPPED = {  # by the number of the weight: 1, 3, 15 and 16 are of other grades
    0: ("first_stability_failed", 0.212, "d"),
    2: ("first_stability", 2.3065, "d"),
    4: ("first_difficulty", 6.4133, "1"),
    5: ("first_difficulty_slope", 0.8334, "1"),
    6: ("difficulty_step", 3.0194, "1"),
    7: ("difficulty_reversion", 0.001, "1"),
    8: ("recall_gain", 1.8722, "1"),
    9: ("recall_saturation", 0.1666, "1"),
    10: ("recall_spacing", 0.796, "1"),
    11: ("failure_scale", 1.4835, "1"),
    12: ("failure_difficulty", 0.0614, "1"),
    13: ("failure_stability", 0.2629, "1"),
    14: ("failure_spacing", 1.6483, "1"),
    17: ("same_day_gain", 0.5425, "1"),
    18: ("same_day_shift", 0.0912, "1"),
    19: ("same_day_saturation", 0.0658, "1"),
    20: ("decay", 0.1542, "1"),
}
NUMBERS = tuple(
    paper_number(name, value, unit, paper=PAPER, where=f"default of w_{number}")
    for number, (name, value, unit) in SHIPPED.items()
)
# other weights than those that ship, far apart, so that each of them counts
OTHER = {0: 0.7, 2: 4.1, 4: 7.9, 5: 0.55, 6: 1.3, 7: 0.13, 8: 0.9, 9: 0.33, 10: 1.7, 11: 2.6,
    12: 0.21, 13: 0.47, 14: 0.8, 17: 0.9, 18: 0.31, 19: 0.24, 20: 0.37}  # fmt: skip


def weights(changed: Any = None) -> Vector:
    """(21,) the weights OTHER, some of them changed."""
    w = np.full(21, np.nan)
    for number, value in {**OTHER, **(changed or {})}.items():
        w[number] = value
    return w


def shipped(specimen: Any) -> Any:
    """(21,) the weights of the plug-in, as it ships."""
    plug: Any = plug_in(specimen)
    return plug.weights


def named(values: Any) -> dict[str, Any]:
    """Parameters of the plug-in, by name, of weights by number."""
    return {SHIPPED[number][0]: value for number, value in values.items()}


# --- the rules a second time ----------------------------------------------------------------------
@dataclass(frozen=True)
class Reviewed:
    """S, D, and the time of the last review in d."""

    s: float
    d: float
    last: float


def recalled(t: float, s: float, w: Any) -> float:
    """R after t days."""
    return float((1.0 + (np.power(0.9, -1.0 / w[20]) - 1.0) * t / s) ** -w[20])


def reviewed(card: Reviewed | None, now: float, grade: int, w: Any) -> Reviewed:
    """One review, as FSRS-6 is described."""

    def first(g: int) -> float:
        return float(w[4] + 1.0 - np.exp(w[5] * (g - 1)))

    if card is None:
        return Reviewed(w[grade - 1], float(np.clip(first(grade), 1.0, 10.0)), now)
    t, s, d = max(now - card.last, 0.0), card.s, card.d
    r = recalled(t, s, w)
    if t < 1.0:
        grown = np.exp(w[17] * (grade - 3)) * np.exp(w[17] * w[18]) / np.power(s, w[19])
        s *= grown if grade == AGAIN else max(grown, 1.0)
    elif grade == AGAIN:
        kept = w[11] / np.power(d, w[12]) * (np.power(s + 1.0, w[13]) - 1.0)
        s = min(kept * np.exp(w[14] * (1.0 - r)), s * np.exp(-w[17] * w[18]))
    else:
        gain = np.exp(w[8] + w[10] * (1.0 - r)) - np.exp(w[8])
        s += gain * (11.0 - d) * np.power(s, 1.0 - w[9])
    damped = d + (3 - grade) * w[6] * (1.0 - (d - 1.0) / 9.0)
    mean = (1.0 - w[7]) * damped + w[7] * first(4)
    return Reviewed(max(float(s), 0.001), float(np.clip(mean, 1.0, 10.0)), now)


def history(rng: Any) -> list[tuple[float, int]]:
    """Twelve reviews, (h, grade), each within a day of the last one or whole days after it."""
    now, reviews = float(rng.integers(0, 100)), list[tuple[float, int]]()
    for _ in range(12):
        reviews.append((now, AGAIN if rng.random() < 0.3 else GOOD))
        now += 24.0 * rng.integers(1, 60) if rng.random() < 0.7 else 0.25 * rng.integers(0, 96)
    return reviews


def states(specimen: Any, reviews: Sequence[tuple[float, int]], w: Any) -> list[float]:
    """S and D of the specimen after each review of one memory."""
    s, d, last, after = np.zeros(1), np.zeros(1), np.zeros(1), list[float]()
    for now, grade in reviews:
        specimen.review(np.array([0]), now, 24.0, grade, w, s, d, last)
        after += [float(s[0]), float(d[0])]
    return after


# --- the reference package ------------------------------------------------------------------------
class FsrsCards:
    """Cards of the package `fsrs`, reviewed at hours since a date.

    w  (21,) weights, with NaN for those of grades that are not given; None: the package's own
    """

    BEGIN = datetime(2020, 1, 1, tzinfo=UTC)

    def __init__(self, w: Any = None) -> None:
        package: Any = import_module("fsrs")
        given = {} if w is None else {"parameters": [*np.where(np.isnan(w), 1.0, w).tolist()]}
        self._scheduler, self._rating = package.Scheduler(**given), package.Rating
        self._cards = [package.Card(card_id=row) for row in range(4)]

    def review(self, row: int, now: float, grade: int) -> tuple[float, float]:
        """S and D after the review."""
        at, card = self.BEGIN + timedelta(hours=now), self._cards[row]
        self._cards[row], _ = self._scheduler.review_card(card, self._rating(grade), at)
        return self._cards[row].stability, self._cards[row].difficulty

    def recalled(self, row: int, now: float) -> float:
        """R; NaN unless whole days have passed since the last review, since it counts no others."""
        at, card = self.BEGIN + timedelta(hours=now), self._cards[row]
        days = (at - card.last_review) / timedelta(days=1)
        r = float(self._scheduler.get_card_retrievability(card, at))
        return r if days == round(days) else math.nan


@reference(
    "SR-1",
    source="package fsrs, 100 random histories of 12 reviews, its own weights and others",
    rtol=1e-11,
    papers=(PAPER,),
)
def stability_and_difficulty_are_those_of_the_package(specimen: Any) -> Any:
    rng, ours = np.random.default_rng(0), shipped(specimen)
    for n in range(100):
        reviews, other = history(rng), weights() if n % 2 else None
        package = FsrsCards(other)
        measured = states(specimen, reviews, ours if other is None else other)
        yield measured, [x for now, grade in reviews for x in package.review(0, now, grade)]


@reference("SR-2", source="package fsrs: R after 0 to 400 days", rtol=1e-12, papers=(PAPER,))
def the_probability_of_recall_is_that_of_the_package(specimen: Any) -> Any:
    ours = shipped(specimen)
    for w, package in ((weights(), FsrsCards(weights())), (ours, FsrsCards())):
        s, _ = package.review(0, 0.0, GOOD)
        for days in (0, 1, 2, 9, 30, 400):
            r = specimen.retrievability(float(days), s, w[20])
            yield r, package.recalled(0, 24.0 * days)


# of each story, the events told, (h, text), and the answers, (h, rows used, outcome)
TOLD = ((0.0, "old boat"), (6.0, "red kite"), (12.0, "blue kite"), (24.0, "some rain"))
USED = (
    (24.4, (1,), None),
    (24.8, (0, 2), 1.0),
    (37.1, (2,), -0.5),
    (121.5, (3, 0), None),
    (150.0, (), None),
    (169.9, (0,), 0.0),
    (242.2, (1, 3), -1.0),
    (248.6, (1,), 0.25),
    (963.0, (0, 1, 2, 3), None),
    (4803.3, (2,), -0.01),
    (6003.7, (2, 0), 1.0),
    (6100.0, (1, 2), None),
    (6100.0, (1, 2), None),
    (6111.5, (1, 2), None),
)
# between two reviews of a row, whole days or less than one
TOLD_OF_DAYS = ((0.0, "old boat"), (0.0, "red kite"), (24.0, "blue kite"), (48.0, "some rain"))
USED_OF_DAYS = (
    (48.0, (1, 2), None),
    (54.0, (1,), None),
    (72.0, (0, 2), -0.5),
    (72.0, (2,), 0.5),
    (126.0, (1,), 0.0),
    (240.0, (0, 3), None),
    (1086.0, (1,), -1.0),
    (1090.0, (1,), 0.3),
    (1104.0, (0, 2, 3), None),
    (4800.0, (2,), -0.01),
    (6000.0, (2, 0), 1.0),
)


def lived(
    specimen: Any,
    told: Any,
    used: Any,
    review: Callable[[int, float, int], tuple[float, float]],
    recall: Callable[[int, float], float],
    scale: float = 1.0,
    **values: Any,
) -> tuple[Vector, Vector]:
    """S and D of four memories after each answer, and before it the odds of recall of those told,
    beside those of a model.

    review  S and D of the model after a review of a row at an hour, with a grade
    recall  R of the model, of a row at an hour; NaN where it has none to compare
    scale   simulated hours in an hour of the story
    """
    memory = memory_of(specimen, "lexical_bm25", time_scale=scale, **values)
    model, measured, expected = list[tuple[float, float]](), list[float](), list[float]()
    for now, rows, outcome in used:
        for time, text in told[len(model) :]:
            if time <= now:
                encode(memory, (time * scale, text))
                model.append(review(len(model), time, GOOD))
        memory.advance(now * scale)
        passed = np.exp(memory.column(ACTIVATION))
        answer = memory.retrieve("kite")  # it matches the rows 1 and 2 alone
        r = np.array([recall(row, now) for row in range(len(model))])
        for odds in (passed, np.exp(memory.column(ACTIVATION))):
            measured += np.where(np.isnan(r), 0.0, odds).tolist()
            expected += np.where(np.isnan(r), 0.0, r / (1.0 - r)).tolist()
        if rows == (1, 2):
            memory.retrieve("kite", k=2, learn=True)
        elif rows:
            memory.use(answer, rows, outcome)
        for row in rows:
            failed = outcome is not None and outcome < 0.0
            model[row] = review(row, now, AGAIN if failed else GOOD)
        measured += np.ravel([memory.column(name) for name in ("stability", "difficulty")]).tolist()
        expected += np.ravel(np.transpose(model)).tolist()
    return np.array(measured), np.array(expected)


@reference(
    "SR-3",
    source="package fsrs: each telling and use of a row in a memory is a review of a card, with its own weights",
    rtol=1e-9,
    papers=(PAPER,),
)
def memories_in_use_are_cards_of_the_package(specimen: Any) -> Any:
    package = FsrsCards()

    def recall(row: int, now: float) -> float:
        r = package.recalled(row, now)
        return r if r < 1.0 else math.nan  # at age 0 the log odds have no bound

    return lived(specimen, TOLD_OF_DAYS, USED_OF_DAYS, package.review, recall)


def lived_by_hand(specimen: Any, w: Any, scale: float = 1.0, **values: Any) -> Any:
    """`lived` beside the rules by hand, at odd hours."""
    cards: dict[int, Reviewed] = {}

    def review(row: int, now: float, grade: int) -> tuple[float, float]:
        cards[row] = reviewed(cards.get(row), now / 24.0, grade, w)
        return cards[row].s, cards[row].d

    def recall(row: int, now: float) -> float:
        age = max(now / 24.0 - cards[row].last, 1.0 / 86_400.0)
        return recalled(age, cards[row].s, w)

    return lived(specimen, TOLD, USED, review, recall, scale, **values)


# --- in a memory ----------------------------------------------------------------------------------
@equation(
    "SR-4",
    source=f"{FSRS}, the rules by hand: uses of four memories at odd hours, good and failed, whole answers and parts",
    rtol=1e-6,
    papers=(PAPER,),
)
def uses_in_a_memory_follow_the_rules(specimen: Any) -> Any:
    return lived_by_hand(specimen, weights(), **named(OTHER))


@equation(
    "SR-5", source="as SR-4 with the weights that ship, and a day that lasts three", rtol=1e-6,
    papers=(PAPER,),
)  # fmt: skip
def at_another_time_scale_uses_follow_the_rules(specimen: Any) -> Any:
    w = np.full(21, np.nan)
    for number, (_, value, _unit) in SHIPPED.items():
        w[number] = value
    return lived_by_hand(specimen, w, 3.0)


@adaptation("SR-6", source="ours: R between whole days lies between that of the days around it")
def between_days_recall_falls_steadily(specimen: Any) -> Any:
    w = weights()
    hours = [specimen.retrievability(h / 24.0, w[2], w[20]) for h in range(24 * 5 + 1)]
    days = [recalled(day, w[2], w) for day in range(6)]
    same = np.allclose(hours[::24], days, rtol=1e-12, atol=0.0)
    return bool(same and (np.diff(hours) < -1e-4).all())


@limit(
    "SR-7",
    source="at age 0 the odds are those of a second, S / (F w_20 t); what sleep made has even odds until its first use, which fails",
    rtol=1e-4,
)
def what_was_just_told_is_certain_and_what_was_never_told_is_even(specimen: Any) -> Any:
    w, day = weights(), 48.0  # h of a day, at twice the paper's time
    factor = np.expm1(-np.log(0.9) / w[20])

    memory = memory_of(
        specimen,
        "lexical_bm25",
        drafting(Draft("kite and boat", Kind.SUMMARY, (0, 1)), 2),
        time_scale=day / 24.0,
        **named(OTHER),
    )
    encode(memory, (0.0, "a kite"), (1.0, "a boat"))
    memory.retrieve("boat")
    fresh = float(np.exp(memory.column(ACTIVATION)[1]))
    memory.advance(50.0)
    answer = memory.retrieve("kite and boat")
    made = [float(memory.column(ACTIVATION)[2]), float(memory.column(specimen.STABILITY)[2])]
    memory.use(answer, [2], -1.0)
    memory.retrieve("boat")
    failed = [
        float(memory.column(name)[2])
        for name in (specimen.STABILITY, specimen.DIFFICULTY, specimen.REVIEWED)
    ]
    return [fresh, *made, *failed, float(np.exp(memory.column(ACTIVATION)[2]))], [
        86_400.0 * w[2] / (factor * w[20]), 0.0, 0.0,
        w[0], w[4], 50.0, 86_400.0 * w[0] / (factor * w[20]),
    ]  # fmt: skip


# --- the forgetting curve -------------------------------------------------------------------------
@equation(
    "SR-8",
    source=f"{FSRS}: R = 0.9 at t = S, and t = S (r^(-1/w) - 1) / (0.9^(-1/w) - 1) gives R = r",
    rtol=1e-12,
    papers=(PAPER,),
)
def recall_is_nine_tenths_at_the_stability(specimen: Any) -> Any:
    measured, expected = [], []
    for decay in (0.1, 0.1542, 0.5, 0.8):
        for s in (0.01, 2.3, 400.0):
            for r in (0.9, 0.99, 0.5, 0.123):
                t = s * (r ** (-1.0 / decay) - 1.0) / (0.9 ** (-1.0 / decay) - 1.0)
                measured.append(specimen.retrievability(t, s, decay))
                expected.append(r)
    return measured, expected


@equation(
    "SR-9", source="definition: ln(R / (1 - R)) at R = 0.9, 0.5 and 0.2", rtol=1e-9, atol=1e-12
)
def the_activation_is_the_log_odds(specimen: Any) -> Any:
    decay = 0.31
    ages = [
        5.0 * (r ** (-1.0 / decay) - 1.0) / (0.9 ** (-1.0 / decay) - 1.0) for r in (0.9, 0.5, 0.2)
    ]
    out = np.full(4, 7.0)
    specimen.all_log_odds(
        100.0,
        2.0,
        decay,
        np.array([5.0, 5.0, 0.0, 5.0]),
        100.0 - 2.0 * np.array([*ages[:2], 1.0, ages[2]]),
        out,
    )
    return out, np.log([9.0, 1.0, math.exp(7.0), 0.25])


# --- difficulty -----------------------------------------------------------------------------------
@equation(
    "SR-10",
    source=f"{FSRS}: good reviews close in on D_0(4) by 1 - w_7 each; without reversion failures leave (1 - 2 w_6 / 9) of the way to 10",
    rtol=1e-12,
    papers=(PAPER,),
)
def difficulty_closes_in_on_its_means(specimen: Any) -> Any:
    easy, w = 8.9 - math.exp(1.65), weights({7: 0.2})
    measured, expected = [], []
    d = 9.0
    for n in range(1, 6):
        d = specimen.next_difficulty(d, GOOD, w)
        measured.append(d)
        expected.append(easy + 0.8**n * (9.0 - easy))
    w, d = weights({7: 0.0, 6: 1.8}), 2.0
    for n in range(1, 6):
        d = specimen.next_difficulty(d, AGAIN, w)
        measured.append(d)
        expected.append(10.0 - 0.6**n * 8.0)
    return measured, expected


@limit(
    "SR-11",
    source="definition: D is from 1 to 10 and S at least .001 d, at the first review and after",
    papers=(PAPER,),
)
def difficulty_and_stability_are_bounded(specimen: Any) -> Any:
    low, high = weights({4: 1.0, 5: 2.0}), weights({6: 4.5, 7: 0.0, 19: 0.0})
    s, d, last = np.zeros(1), np.zeros(1), np.zeros(1)
    specimen.review(np.array([0]), 0.0, 24.0, GOOD, low, s, d, last)
    measured = [float(d[0])]
    specimen.review(np.array([0]), 30.0, 24.0, GOOD, low, s, d, last)
    measured.append(float(d[0]))
    s[:] = 0.0011
    specimen.review(np.array([0]), 32.0, 24.0, AGAIN, high, s, d, last)
    return [*measured, float(d[0]), float(s[0])], [1.0, 1.0, 10.0, 0.001]


# --- stability ------------------------------------------------------------------------------------
@equation(
    "SR-12",
    source=f"{FSRS}: with exp(w_10 (1 - R)) = 3 and w_9 = 1/2, S' / S = 1 + 2 e^w_8 (11 - D) / sqrt(S)",
    rtol=1e-12,
    papers=(PAPER,),
)
def a_recall_adds_what_the_rule_says(specimen: Any) -> Any:
    w = weights({8: math.log(1.5), 9: 0.5, 10: math.log(3.0) / 0.25})
    states = ((6.0, 4.0), (10.0, 4.0), (1.0, 100.0), (3.5, 0.25))
    measured = [specimen.stability_recalled(d, s, 0.75, w) / s for d, s in states]
    none = specimen.stability_recalled(6.0, 4.0, 1.0, w)
    return [*measured, none], [8.5, 2.5, 4.0, 46.0, 4.0]


@equation(
    "SR-13",
    source=f"{FSRS}: with w_12 = w_13 = 1/2 and exp(w_14 (1 - R)) = 3, S' = 3 w_11 (sqrt(S + 1) - 1) / sqrt(D), at most S / e^(w_17 w_18)",
    rtol=1e-12,
    papers=(PAPER,),
)
def a_failure_leaves_what_the_rule_says(specimen: Any) -> Any:
    w = weights({11: 0.7, 12: 0.5, 13: 0.5, 14: math.log(3.0) / 0.4, 17: 0.5, 18: math.log(16.0)})
    states = ((4.0, 8.0), (9.0, 99.0), (1.0, 8.0))
    return [specimen.stability_failed(d, s, 0.6, w) for d, s in states], [2.0, 6.3, 2.0]


@equation(
    "SR-14",
    source=f"{FSRS}: a good review on the same day adds nothing beyond S = e^(w_17 w_18 / w_19); one that fails divides by e^(2 w_17), too",
    rtol=1e-12,
    papers=(PAPER,),
)
def a_review_on_the_same_day_has_a_rule_of_its_own(specimen: Any) -> Any:
    w = weights({17: math.log(2.0), 18: 2.0, 19: 0.5})  # S e^(w_17 w_18) S^(-w_19) = 4 sqrt(S)
    measured = [specimen.stability_same_day(s, GOOD, w) for s in (1.0, 4.0, 16.0, 25.0)]
    failed = [specimen.stability_same_day(s, AGAIN, w) for s in (1.0, 4.0, 16.0, 25.0)]
    return [*measured, *failed], [4.0, 8.0, 16.0, 25.0, 1.0, 2.0, 4.0, 5.0]


# --- what the model is known for ------------------------------------------------------------------
def after_gap(specimen: Any, gap: float, delay: float) -> float:
    """R so many days after the second of two reviews, with the weights that ship."""
    w, (s, d, last) = shipped(specimen), np.zeros((3, 1))
    for hours in (0.0, 24.0 * gap):
        specimen.review(np.array([0]), hours, 24.0, GOOD, w, s, d, last)
    return float(specimen.retrievability(delay, s[0], w[20]))


@signature(
    "SR-15",
    source=f"{FSRS}: the longer the gap between two recalls, the more stability the second adds; brute force over gaps from a day to a year",
    figure="spacing",
    papers=(PAPER,),
)
def spaced_recalls_last_longer(specimen: Any) -> Any:
    gaps = np.geomspace(1.0, 365.0, 40)
    recall = np.array([[after_gap(specimen, gap, delay) for gap in gaps] for delay in (7.0, 350.0)])
    massed = np.array([after_gap(specimen, 0.01, delay) for delay in (7.0, 350.0)])
    return bool((np.diff(recall, axis=1) > 0.0).all() and (recall > massed[:, None] + 0.05).all())


@signature(
    "SR-16",
    source=f"{FSRS}: a recall adds less to what is difficult or stable already, and a failure costs; brute force over states",
    papers=(PAPER,),
)
def what_is_difficult_or_stable_gains_less(specimen: Any) -> Any:
    w = shipped(specimen)
    s, d, r = np.geomspace(0.5, 500.0, 9), np.linspace(1.0, 10.0, 9), np.linspace(0.3, 0.99, 9)
    gain = np.array(
        [[[specimen.stability_recalled(y, x, z, w) / x for z in r] for y in d] for x in s]
    )
    left = np.array(
        [[[specimen.stability_failed(y, x, z, w) / x for z in r] for y in d] for x in s]
    )
    falls = [(np.diff(gain, axis=axis) < 0.0).all() for axis in range(3)]
    return bool(all(falls) and (gain > 1.0).all() and (left < 1.0).all())


# --- figures --------------------------------------------------------------------------------------
@figure(
    "spacing",
    caption="Probability of recall over the gap between two recalls, a week and a year after the second",
    source="FSRS-6 with the weights that ship; no best gap, since both recalls are good",
)
def recall_over_the_gap(specimen: Any) -> Picture:
    gaps = np.geomspace(1.0, 365.0, 40)
    return Picture(
        "gap, d",
        "probability of recall",
        (
            *(
                Curve(label, gaps, np.array([after_gap(specimen, gap, delay) for gap in gaps]))
                for label, delay in (("a week later", 7.0), ("350 days later", 350.0))
            ),
            dots("same day, a week later", np.ones(1), np.array([after_gap(specimen, 0.01, 7.0)])),
        ),
        log="x",
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("exponential forgetting, 0.9 at the stability", rejected_by="SR-8")
def exponential(specimen: Any) -> Any:
    return specimen.replacing("log_decay", lambda t, s, decay: -math.log(0.9) * t / s)


@mutant("the exponent of forgetting of FSRS-5 whatever the weight", rejected_by="SR-8")
def fixed_decay(specimen: Any) -> Any:
    return specimen.replacing(
        "log_decay", lambda t, s, decay: 0.5 * math.log1p(19.0 / 81.0 * t / s)
    )


@mutant("the logarithm of R in place of its odds", rejected_by="SR-9")
def log_probability(specimen: Any) -> Any:
    return specimen.replacing(
        "log_odds", lambda t, s, decay: -specimen.log_decay(max(t, 1.0 / 86_400.0), s, decay)
    )


@mutant("difficulty without linear damping", rejected_by="SR-10")
def undamped(specimen: Any) -> Any:
    def next_difficulty(d: float, grade: int, w: Any) -> float:
        easy = w[4] - math.exp(3.0 * w[5]) + 1.0
        return float(min(max(w[7] * easy + (1.0 - w[7]) * (d - w[6] * (grade - 3)), 1.0), 10.0))

    return specimen.replacing("next_difficulty", next_difficulty)


@mutant("difficulty returns to that of a good first review", rejected_by="SR-10")
def to_the_good(specimen: Any) -> Any:
    return specimen.replacing("EASY", 3)


@mutant("a recall adds the same whatever its probability", rejected_by="SR-12")
def no_spacing(specimen: Any) -> Any:
    return specimen.replacing(
        "stability_recalled",
        lambda d, s, r, w: s * (1.0 + math.exp(w[8]) * (11.0 - d) * s ** -w[9] * 0.1),
    )


@mutant("a likely recall adds most", rejected_by="SR-15")
def massed(specimen: Any) -> Any:
    return specimen.replacing(
        "stability_recalled", lambda d, s, r, w: specimen.stability_recalled(d, s, 1.0 - r, w)
    )


@mutant("a failure may leave more than there was", rejected_by="SR-13")
def unbounded_failure(specimen: Any) -> Any:
    return specimen.replacing(
        "stability_failed",
        lambda d, s, r, w: (
            w[11] * d ** -w[12] * ((s + 1.0) ** w[13] - 1.0) * math.exp(w[14] * (1.0 - r))
        ),
    )


@mutant("a good review on the same day may take stability away", rejected_by="SR-14")
def tiring(specimen: Any) -> Any:
    return specimen.replacing(
        "stability_same_day",
        lambda s, grade, w: s * math.exp(w[17] * (grade - 3 + w[18])) * s ** -w[19],
    )


@mutant("a review on the same day is like any other", rejected_by="SR-4")
def no_same_day(specimen: Any) -> Any:
    def stability_same_day(s: float, grade: int, w: Any) -> float:
        if grade == AGAIN:
            return float(specimen.stability_failed(5.0, s, 1.0, w))
        return s

    return specimen.replacing("stability_same_day", stability_same_day)


@mutant("difficulty changes before stability", rejected_by="SR-4")
def difficulty_first(specimen: Any) -> Any:
    return specimen.replacing(
        "stability_recalled",
        lambda d, s, r, w: specimen.stability_recalled(
            specimen.next_difficulty(d, GOOD, w), s, r, w
        ),
    )


@mutant("the time scale makes the clock faster", rejected_by="SR-5")
def faster_clock(specimen: Any) -> Any:
    def day(self: Any) -> float:
        return 24.0 / float(self.params.time_scale)

    return specimen.overriding("SpacedRepetition", day=property(day))


@mutant("no use fails", rejected_by="SR-4")
def forgiving(specimen: Any) -> Any:
    return specimen.replacing("AGAIN", GOOD)


@mutant("only the best memory of an answer is used", rejected_by="SR-4")
def best_alone(specimen: Any) -> Any:
    def _review(self: Any, view: Any, rows: Any, grade: int) -> None:
        specimen.SpacedRepetition._review(self, view, rows[:1], grade)

    return specimen.overriding("SpacedRepetition", _review=_review)


@mutant("an outcome of 0 is a failure", rejected_by="SR-4")
def strict(specimen: Any) -> Any:
    def used(self: Any, view: Any, cue: Any) -> None:
        self._review(view, view.recalled, AGAIN if view.outcome <= 0.0 else GOOD)

    return specimen.overriding("SpacedRepetition", used=used)


@mutant("age counts from the telling", rejected_by="SR-4")
def since_telling(specimen: Any) -> Any:
    def used(self: Any, view: Any, cue: Any) -> None:
        before = view.reviewed.copy()
        specimen.SpacedRepetition.used(self, view, cue)
        view.reviewed[...] = before

    return specimen.overriding("SpacedRepetition", used=used)


@mutant("a first stability three times as long", rejected_by="SR-1")
def long_lived(specimen: Any) -> Any:
    return with_numbers(specimen, first_stability=3 * 2.3065)
