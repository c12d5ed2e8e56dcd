"""Evidence for gist_compression.  The references are the textbook's formulas, an optimiser, and the
Blahut-Arimoto iteration on a fine grid; the forms of texts are compared by the hashing embedder,
which the mechanism does not use.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import LinearConstraint, minimize
from scipy.stats import spearmanr

from ...engine.contract.columns import Phase
from ...engine.contract.records import Event
from ...engine.contract.vocabulary import DETAIL, LOG_STRENGTH
from ...engine.ports.embedder import HashingEmbedder
from ...engine.text.condensing import condensed
from ...engine.text.features import terms_of
from ..checks import adaptation, at_least, at_most, equation, limit, mutant, signature
from ..figures import Curve, Marks, Picture, dots, figure
from ..memory import encode, memory_of, neighbour
from .shared.scripts import refusing

COVER, NAGY = "Cover & Thomas 2006", "Nagy, Torok & Orban 2020"
TEXTS = (
    "Thanks, Ines! The choir went well. We sang three old songs in the harbour church, and the harbour was full of boats.",
    "My sister Karla adopted a greyhound last week. The greyhound is called Comet. He sleeps all day. Karla is over the moon!",
    "I finally finished the pottery course. My teacher liked the blue bowl best. Next month we fire a second bowl in the big kiln.",
    "Work has been hectic. Our team ships the billing service on Friday, and the billing tests still fail. Wish me luck!",
    "Remember the cabin by Lake Orta? We booked the cabin again for August. The kids want to learn to sail on the lake. So do I.",
    "Wow, congratulations! A marathon in under four hours is amazing. How did you train for the marathon?",
    "Grandpa's clock stopped at noon. The clockmaker says that a spring broke. A new spring costs 40 euros. I said yes.",
    "We tried the Ethiopian restaurant on Mill Street. The lentils were wonderful, the coffee even better. You should try the lentils.",
)


def meaning(texts: list[str]) -> NDArray[Any]:
    """Unit vectors of the content words."""
    return np.asarray(
        HashingEmbedder(384).embed([" ".join(terms_of(t, stop_words=True)) for t in texts]),
        dtype=float,
    )


def forms(specimen: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Verbatim (share of letters left out) and semantic (1 - cosine of meaning) distortion of
    each form, (3, texts).
    """
    written = [specimen.levels(text) for text in TEXTS]
    verbatim = np.array([[1.0 - len(w[k]) / len(w[0]) for w in written] for k in range(3)])
    vectors = [meaning([w[k] for w in written]) for k in range(3)]
    return verbatim, np.array([1.0 - (vectors[0] * v).sum(axis=1) for v in vectors])


def chosen(specimen: Any, loss: Any, value: Any, level: float) -> NDArray[Any]:
    out = np.zeros(len(value), np.int8)
    with np.errstate(divide="ignore"):
        specimen.choose(np.asarray(loss, float), np.log(np.asarray(value, float)), level, out)
    return out


def lost(loss: NDArray[Any], detail: NDArray[Any]) -> NDArray[Any]:
    """Distortion of the form that is shown."""
    return np.asarray(np.column_stack([np.zeros(len(loss)), loss])[np.arange(len(loss)), detail])


# --- the equations --------------------------------------------------------------------------------
@equation(
    "CM-3.6",
    source=f"{COVER}: D = 1, 1/2, 1/4, 1/16 at 0, 1/2, 1, 2 bits",
    papers=("cover2006elements",),
)
def a_gaussian_loses_a_factor_of_four_per_bit(specimen: Any) -> Any:
    return [specimen.distortion(r, 3.0) for r in (0.0, 0.5, 1.0, 2.0)], [3.0, 1.5, 0.75, 0.1875]


@equation(
    "CM-3.6b",
    source="Blahut-Arimoto iteration on a grid of 0.05 sd",
    rtol=0.01,
    figure="rate_distortion",
    papers=("cover2006elements",),
)
def no_code_of_a_gaussian_has_less_distortion(specimen: Any) -> Any:
    x = np.arange(-5.0, 5.001, 0.05)
    p = np.exp(-0.5 * x * x) / np.exp(-0.5 * x * x).sum()
    squares, measured, expected = (x[:, None] - x) ** 2, [], []
    for slope in (1.0, 2.0, 4.0):
        q, kernel = np.full(x.size, 1.0 / x.size), np.exp(-slope * squares)
        for _ in range(150):
            joint = kernel * q
            joint *= (p / joint.sum(axis=1))[:, None]
            q = joint.sum(axis=0)
        d = float((joint * squares).sum())
        r = float((joint * np.log2(np.maximum(joint, 1e-300) / (p[:, None] * q))).sum())
        measured.append(specimen.distortion(r, 1.0))
        expected.append(d)
    return measured, expected


@equation(
    "GC-1",
    source="scipy.optimize: fewest bits for a total of weighted distortion",
    atol=2e-3,
    figure="water_level",
    papers=("cover2006elements",),
)
def a_common_water_level_takes_the_fewest_bits(specimen: Any) -> Any:
    value, budget = np.array([0.3, 0.8, 1.0, 3.0, 9.0]), 2.5
    solve: Any = minimize
    optimum = solve(
        lambda d: float(-0.5 * np.log2(d).sum()),
        np.full(5, 0.2),
        bounds=[(1e-6, 1.0)] * 5,
        constraints=LinearConstraint(value[None, :], -np.inf, budget),
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 500},
    )
    low, high = 0.0, 9.0
    for _ in range(80):
        middle = 0.5 * (low + high)
        spent = sum(v * specimen.distortion(specimen.rate(v, 1.0, middle), 1.0) for v in value)
        low, high = (middle, high) if spent < budget else (low, middle)
    return [specimen.rate(v, 1.0, low) for v in value], -0.5 * np.log2(optimum.x)


@equation(
    "GC-1b", source=f"{COVER}: 1/2 log2(v sigma^2 / lambda), by hand", papers=("cover2006elements",)
)
def the_rate_counts_value_and_variance_alike(specimen: Any) -> Any:
    return [
        specimen.rate(2.0, 3.0, 0.375),
        specimen.rate(3.0, 2.0, 0.375),
        specimen.rate(0.5, 4.0, 0.5),
        specimen.rate(0.5, 0.5, 0.5),
    ], [2.0, 2.0, 1.0, 0.0]


@equation(
    "GC-2",
    source=f"{COVER}: I(X; Y) = -1/2 log2(1 - rho^2); regression of 200,000 draws",
    atol=0.01,
    papers=("cover2006elements",),
)
def the_unknown_share_of_a_correlated_form_is_the_unexplained_variance(specimen: Any) -> Any:
    rng, measured, expected = np.random.default_rng(3), [], []
    for rho in (0.3, 0.7, 0.95):
        x = rng.standard_normal(200_000)
        y = rho * x + math.sqrt(1.0 - rho * rho) * rng.standard_normal(200_000)
        residual = x - y * (x @ y) / (y @ y)
        measured += [
            specimen.unknown(rho),
            specimen.distortion(-0.5 * math.log2(1.0 - rho * rho), 1.0),
        ]
        expected += [float(residual.var())] * 2
    return measured, expected


# --- limits ---------------------------------------------------------------------------------------
@limit(
    "GC-3",
    source="zero bits: all of the variance is lost; infinitely many bits: none",
    papers=("cover2006elements",),
)
def at_zero_rate_all_variance_is_lost_and_without_a_limit_none(specimen: Any) -> Any:
    return [
        specimen.distortion(0.0, 2.0),
        specimen.distortion(specimen.rate(1.0, 1.0, 0.0), 1.0),
        specimen.rate(0.1, 1.0, 0.5),
    ], [2.0, 0.0, 0.0]


@limit("GC-4", source="v -> infinity, v -> 0, lambda = 0", atol=0.0, papers=("cover2006elements",))
def infinite_value_gives_full_text_and_zero_value_keywords(specimen: Any) -> Any:
    loss = [[0.2, 0.7]] * 3
    # lambda / v is 1/4
    exact = chosen(specimen, [[0.1, 0.25], [0.25, 0.5], [0.26, 0.5]], [1.0] * 3, 0.25)
    return [
        *chosen(specimen, loss, [1e300, 1.0, 1e-300], 0.25),
        *chosen(specimen, loss, [1e-9, 1.0, 0.0], 0.0),
        *exact,
    ], [0, 1, 2, 0, 0, 0, 2, 1, 0]


@limit(
    "GC-5",
    source="the budget: v D <= lambda for every memory, and every shorter form would exceed it",
    papers=("cover2006elements",),
)
def no_memory_loses_more_than_its_value_allows(specimen: Any) -> Any:
    rng = np.random.default_rng(5)
    loss, value, level = (
        np.sort(rng.uniform(0.01, 1.0, (500, 2)), axis=1),
        np.exp(rng.normal(0.0, 1.5, 500)),
        0.25,
    )
    detail = chosen(specimen, loss, value, level)
    allowed = np.minimum(1.0, level / value)
    shortest = np.array(
        [
            max(k for k, d in enumerate((0.0, *pair)) if d <= a)
            for pair, a in zip(loss, allowed, strict=True)
        ]
    )
    return bool(
        (value * lost(loss, detail) <= level * (1 + 1e-9) + value * 1e-12).all()
        and (detail == shortest).all()
        and len({*detail}) == 3
    )


# --- the forms ------------------------------------------------------------------------------------
@signature(
    "CM-3.7",
    source=f"{NAGY}: gist outlives detail; share of letters left out, text by text",
    figure="forms",
    papers=("nagy2020optimal",),
)
def every_shorter_form_loses_more_words_and_more_meaning(specimen: Any) -> Any:
    verbatim, semantic = forms(specimen)
    return at_least(
        np.concatenate([np.diff(verbatim, axis=0).ravel(), np.diff(semantic, axis=0).ravel()]),
        -1e-12,
    )


@signature(
    "CM-3.7b",
    source=f"{NAGY}: at each step the meaning loses less than the wording, on average over texts",
    figure="forms",
    papers=("nagy2020optimal",),
)
def meaning_is_lost_more_slowly_than_words(specimen: Any) -> Any:
    verbatim, semantic = (np.diff(d.mean(axis=1)) for d in forms(specimen))
    return at_least(verbatim - semantic, 0.05)


@adaptation(
    "GC-6",
    source="the embedder's distortion of the same forms, 1 - cosine^2: rank correlation over texts and forms",
)
def the_cheap_measure_of_loss_agrees_with_the_embedders(specimen: Any) -> Any:
    _, semantic = forms(specimen)
    theirs = 1.0 - (1.0 - semantic[1:].T.ravel()) ** 2
    ours = np.array([specimen.losses(text) for text in TEXTS]).ravel()
    return at_least(spearmanr(ours, theirs).statistic, 0.8)


@adaptation("GC-7", source="monotone: the allowed distortion falls with value")
def a_memory_of_higher_value_is_never_shown_shorter(specimen: Any) -> Any:
    value = np.exp(np.linspace(-4.0, 4.0, 81))
    return at_most(np.diff(chosen(specimen, [[0.3, 0.6]] * 81, value, 0.25).astype(int)), 0)


@adaptation("GC-8", source="a form that omits nothing is never shown", atol=0.0)
def a_single_sentence_has_no_summary(specimen: Any) -> Any:
    loss = specimen.losses("Miso sleeps.")
    return [loss[0], float(chosen(specimen, [[0.0, 0.9], [0.0, 0.0]], [1.0, 1e-9], 0.25).sum())], [
        0.0,
        0.0,
    ]


@adaptation(
    "GC-11",
    source="cosines of counts by hand: keywords that tell more than their summary lose as much as it",
    atol=1e-12,
)
def keywords_lose_at_least_what_the_summary_loses(specimen: Any) -> Any:
    # 5 boats, 4 rains and a sun; the second sentence is the summary, "Rain, boat" its keywords
    summary = 1.0 - (5 * 1 + 4 * 3 + 1 * 1) ** 2 / ((25 + 16 + 1) * (1 + 9 + 1))
    told = "Boat boat boat boat rain. Rain rain rain sun boat."
    return specimen.losses(told), [summary, summary]


@adaptation(
    "GC-10",
    source="definition of the cosine of counts, by hand; two empty bags are the same, an empty one shares nothing",
    atol=1e-12,
)
def bags_of_words_are_compared_by_their_cosine(specimen: Any) -> Any:
    cases: tuple[tuple[dict[str, int], dict[str, int]], ...] = (
        ({"a": 2, "b": 1}, {"a": 2}),
        ({"a": 2}, {"a": 3, "c": 4}),
        ({"a": 1}, {"b": 1}),
        ({}, {}),
        ({"a": 1}, {}),
        ({}, {"a": 1}),
    )
    return [specimen.cosine(*case) for case in cases], [
        2.0 / math.sqrt(5.0),
        0.6,
        0.0,
        1.0,
        0.0,
        0.0,
    ]


# --- in a memory ----------------------------------------------------------------------------------
# words 2 1 1 1 1 1; the summary has 2 1 1 1 of them as 1 1 1 1, two keywords 1 1
SHORT = "Miso the cat ran away. We looked for Miso at night."
# forms of a word are words of their own
WALKS = (
    "We walked for hours. Walks are nice. The walking club meets, it walked and will walk again."
)


def bag(text: str) -> NDArray[Any]:
    words = terms_of(text, stem=False, stop_words=True)
    known = sorted(
        {
            w
            for t in (*TEXTS, SHORT, "Miso sleeps.", WALKS)
            for w in terms_of(t, stem=False, stop_words=True)
        }
    )
    return np.array([words.count(w) for w in known], float)


def unexplained(text: str) -> list[float]:
    """1 - R^2 of the regression of a text's word counts on those of its summary, and of its
    keywords.
    """
    y = bag(text)
    return [
        float(np.sum((y - x * (x @ y) / (x @ x)) ** 2) / (y @ y))
        for x in (bag(condensed(text, 1)), bag(condensed(text, 2)))
    ]


@equation(
    "GC-9",
    source=f"{COVER}: the shortest form that loses at most lambda / v; loss as the unexplained share of word counts",
    atol=1e-6,
    papers=("cover2006elements", "sims2016rate"),
)
def a_memory_shows_each_text_in_the_shortest_form_within_its_budget(specimen: Any) -> Any:
    texts, level = (
        (*TEXTS[:2], "Refused. It is refused.", *TEXTS[2:], SHORT, "Miso sleeps.", WALKS),
        0.3,
    )
    # dates and speakers are part of the text as indexed, and of none of its forms
    told = [Event(4.0 * i, text, "Ada Berg") for i, text in enumerate(texts)]
    strength = {
        24.0: np.array([0.2, -1.0, -3.0, -2.0, -0.7]),
        48.0: np.array([-2.0, 800.0, -0.6, 0.3, -4.0, -0.8, -1.1, -0.4, -9.0, -9.0, -1.5]),
    }

    def given(view: Any, tick: Any) -> None:
        night = strength[24.0 if tick.end <= 24.0 else 48.0]
        view.log_strength[...] = night[: len(view.log_strength)]

    memory = memory_of(
        specimen,
        refusing("refused"),
        neighbour(Phase.MAINTAIN, given, adds=(LOG_STRENGTH,), id="strength"),
        level=level,
    )
    measured: list[float] = []
    expected: list[float] = []
    shown: list[int] = []
    for night in (24.0, 48.0):
        while told and told[0].time < night:
            encode(memory, told.pop(0))
        stored = [e.text for e in memory.events if "refused" not in e.text]
        measured += memory.column(DETAIL).tolist()
        expected += [*shown, *[0] * (len(stored) - len(shown))]
        memory.advance(night)
        memory.archive(1)
        loss = [unexplained(text) for text in stored]
        shown = [
            max(
                k
                for k, d in enumerate((0.0, *pair))
                if k == 0 or 0.0 < d <= min(1.0, level * math.exp(-s))
            )
            for pair, s in zip(loss, strength[night], strict=False)
        ]
        measured += [*memory.column(DETAIL), *memory.column(specimen.GIST_LOSS).ravel()]
        expected += [*shown, *np.ravel(loss)]
    return [*measured, *memory.column(specimen.GIST_LOSS)[8]], [*expected, 11.0 / 36.0, 0.5]


# --- figures --------------------------------------------------------------------------------------
@figure(
    "rate_distortion",
    caption="Distortion of a memory falls by a factor of four per bit, the least that any code reaches",
    source=f"{COVER}; dots: Blahut-Arimoto iteration on a grid",
)
def distortion_over_rate(specimen: Any) -> Picture:
    rate, x = np.linspace(0.0, 3.0, 61), np.arange(-5.0, 5.001, 0.1)
    p, squares, optimal = (
        np.exp(-0.5 * x * x) / np.exp(-0.5 * x * x).sum(),
        (x[:, None] - x) ** 2,
        [],
    )
    for slope in (0.7, 1.0, 2.0, 4.0, 8.0):
        q, kernel = np.full(x.size, 1.0 / x.size), np.exp(-slope * squares)
        for _ in range(100):
            joint = kernel * q * (p / (kernel * q).sum(axis=1))[:, None]
            q = joint.sum(axis=0)
        optimal.append(
            (
                float((joint * np.log2(np.maximum(joint, 1e-300) / (p[:, None] * q))).sum()),
                float((joint * squares).sum()),
            )
        )
    return Picture(
        "rate, bits",
        "distortion, share of the variance",
        (
            Curve("mechanism", rate, np.array([specimen.distortion(r, 1.0) for r in rate])),
            dots("optimal code", *np.array(optimal).T),
        ),
    )


@figure(
    "water_level",
    caption="The allowed distortion falls with a memory's value; each memory is shown in the shortest form within that limit",
    source="ours: a common water level of 0.25, forms that lose 0.3 and 0.6",
)
def loss_over_worth(specimen: Any) -> Picture:
    value, loss = np.geomspace(0.05, 20.0, 200), np.array([[0.3, 0.6]] * 200)
    return Picture(
        "value of the memory",
        "distortion",
        (
            Curve(
                "allowed",
                value,
                np.array([specimen.distortion(specimen.rate(v, 1.0, 0.25), 1.0) for v in value]),
            ),
            Curve(
                "of the form shown",
                value,
                lost(loss, chosen(specimen, loss, value, 0.25)),
                Marks.STEPS,
            ),
        ),
        log="x",
    )


@figure(
    "forms",
    caption="From full text to summary to keywords, meaning is lost more slowly than words",
    source=f"{NAGY}; mean of eight texts",
)
def loss_of_each_form(specimen: Any) -> Picture:
    return Picture(
        "0 full text, 1 summary, 2 keywords",
        "share lost",
        tuple(
            Curve(label, np.arange(3), d.mean(axis=1), Marks.BARS)
            for label, d in zip(("words", "meaning"), forms(specimen), strict=True)
        ),
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("half the decay of distortion per bit", rejected_by="CM-3.6")
def one_bit_halves(specimen: Any) -> Any:
    return specimen.replacing("distortion", lambda rate, variance: variance * 2.0**-rate)


@mutant("the same rate for all", rejected_by="GC-1")
def same_rate(specimen: Any) -> Any:
    return specimen.replacing(
        "rate",
        lambda value, variance, level: (
            max(0.0, 0.5 * math.log2(1.0 / level)) if level else math.inf
        ),
    )


@mutant("1 - cosine as unexplained variance", rejected_by="GC-2")
def one_less_cosine(specimen: Any) -> Any:
    return specimen.replacing("unknown", lambda cosine: 1.0 - cosine)


@mutant("keywords may lose less than their summary", rejected_by="GC-11")
def better_keywords(specimen: Any) -> Any:
    def losses(text: str) -> tuple[float, float]:
        bags = [
            specimen.Counter(terms_of(form, stem=False, stop_words=True))
            for form in specimen.levels(text)
        ]
        summary, keywords = (specimen.unknown(specimen.cosine(bags[0], bag)) for bag in bags[1:])
        return summary, keywords

    return specimen.replacing("losses", losses)


@mutant("compression by age alone", rejected_by="GC-5")
def by_age(specimen: Any) -> Any:
    def choose(loss: Any, log_value: Any, level: float, out: Any) -> None:
        out[:] = np.where(
            np.arange(len(out)) < len(out) / 3,
            2,
            np.where(np.arange(len(out)) < len(out) / 2, 1, 0),
        )

    return specimen.replacing("choose", choose)


@mutant("compression without regard to value", rejected_by="GC-4")
def blind(specimen: Any) -> Any:
    def choose(loss: Any, log_value: Any, level: float, out: Any) -> None:
        out[:] = np.where(loss[:, 1] <= level, 2, np.where(loss[:, 0] <= level, 1, 0))

    return specimen.replacing("choose", choose)


@mutant(
    "a summary of the first 80 % of the letters, and keywords of two letters", rejected_by="CM-3.7b"
)
def cut(specimen: Any) -> Any:
    def levels(text: str) -> tuple[str, str, str]:
        return text, text[: int(0.8 * len(text))], text[:2]

    return specimen.replacing("levels", levels)


@mutant("keywords from the full text, not from the summary", rejected_by="CM-3.7")
def from_all(specimen: Any) -> Any:
    def levels(text: str) -> tuple[str, str, str]:
        return text, text.split(". ")[-1], " ".join(terms_of(text, stem=False, stop_words=True))

    return specimen.replacing("levels", levels)


@mutant("the strength itself taken as its log", rejected_by="GC-9")
def strength_for_log(specimen: Any) -> Any:
    original = specimen.choose

    def choose(loss: Any, log_value: Any, level: float, out: Any) -> None:
        original(loss, np.log(np.maximum(log_value, 1e-9)), level, out)

    return specimen.replacing("choose", choose)
