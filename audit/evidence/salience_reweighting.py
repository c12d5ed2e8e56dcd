"""Evidence for salience_reweighting: products of the printed factors, temporal questions,
summaries, and the factors and votes in a memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine.contract.columns import Phase
from ...engine.contract.drafts import Draft, Kind
from ...engine.contract.vocabulary import BAN, DRAFTS, KIND, LOG_PRIOR, NEWS, ROW, SALIENCE, WITHIN
from ...engine.text.features import features
from ..checks import adaptation, equation, limit, mutant
from ..figures import Curve, Picture, dots, figure
from ..memory import encode, memory_of, neighbour
from ..paper_numbers import paper_number
from .shared.scripts import giving

PAPER, BOOST, ALPHA, DETAIL, SYNTHESIS = "truememory2026", 1.3, 0.2, 0.7, 1.2
NUMBERS = (
    paper_number("temporal_boost", BOOST, "1", paper=PAPER, where="4.1 stage 9, below eq. (4)"),
    paper_number(
        "alpha", ALPHA, "1", paper=PAPER, where="4.1 stage 9, minimum salience and surprise"
    ),
    paper_number("detail", DETAIL, "1", paper=PAPER, where="4.1 stage 10, f_m"),
    paper_number("synthesis", SYNTHESIS, "1", paper=PAPER, where="4.1 stage 10, f_m"),
)
SHARES = (1.0, 0.999, 0.0, np.nan, 1.0, np.nan)  # of each memory inside the time asked for
SURPRISE = (0.0, 0.5, 1.0, 0.25, 0.75, 0.0)
SALIENCES = (0.5, 0.05, 0.1, 0.9, 0.0999, 0.0)
TEMPORAL = (
    "When did Ada move?",
    "What did Bo buy last week?",
    "How long were they in Oslo?",
    "Who sang on 7 May 2023?",
    "In what order did we visit them?",
)
OTHER = (
    "What does Ada like?",
    "Why did Bo leave?",
    "Where is the key now?",
    "Summarise the trip",
    "",
)


def factors(shares: Any, surprise: Any, boost: float, alpha: float) -> Any:
    """Eq. (4) as the paper has it: a score of 1 multiplied step by step, each factor only where
    its condition holds.
    """
    scores = []
    for share, sigma in zip(shares, surprise, strict=True):
        score = 1.0
        if share == 1.0:
            score *= boost
        if sigma > 0.0:
            score *= 1.0 + alpha * sigma
        scores.append(score)
    return np.array(scores)


@equation(
    "SW-1",
    source="True Memory 4.1 stage 9, eq. (4): the product of f_t and 1 + alpha sigma, factor by factor",
    atol=1e-7,
    papers=(PAPER,),
    figure="factors",
)
def the_logs_add_up_to_the_product_of_the_factors(specimen: Any) -> Any:
    rng = np.random.default_rng(3)
    shares, sigma = (
        rng.choice([1.0, 0.4, 0.0, np.nan], 50),
        np.where(rng.random(50) < 0.3, 0.0, rng.random(50)),
    )
    measured, expected = [], []
    for boost, alpha in ((BOOST, ALPHA), (0.6, 1.7)):
        out = np.full(50, 0.25)
        specimen.add_log_factors(shares, sigma, boost, alpha, out)
        measured.append(np.exp(out - 0.25))
        expected.append(factors(shares, sigma, boost, alpha))
    return measured, expected


@limit("SW-2", source="True Memory 4.1 stage 9: inactive factors contribute 1", papers=(PAPER,))
def a_factor_whose_condition_fails_is_one(specimen: Any) -> Any:
    out, bans = np.zeros(4), np.array([0, 2, 2, 1], np.int16)
    specimen.add_log_factors(np.array([0.0, 0.9999, np.nan, 0.5]), np.zeros(4), BOOST, ALPHA, out)
    specimen.add_bans(np.array([0.5, 0.1, 0.0, 1.0]), 0.1, bans)
    return [*out, *bans], [0.0] * 5 + [2.0, 3.0, 1.0]


@adaptation("SW-3", source="questions written for it: an intent about time, or a date")
def a_question_about_a_time_or_with_a_date_is_temporal(specimen: Any) -> Any:
    read = [features(text) for text in (*TEMPORAL, *OTHER)]
    return [specimen.is_temporal(" ".join(f.words), f.dates) for f in read], [True] * len(
        TEMPORAL
    ) + [False] * len(OTHER)


def story(specimen: Any, **values: Any) -> Any:
    """A memory of six events with given salience and news; WITHIN of each query as in SHARES."""

    def judge(view: Any, incoming: Any) -> None:
        view.salience = SALIENCES[int(incoming.text[-1])]

    def tell(view: Any, incoming: Any) -> None:
        view.news[view.row] = SURPRISE[int(incoming.text[-1])]

    memory = memory_of(
        specimen,
        "lexical_bm25",
        neighbour(Phase.ENCODE, judge, sets=(SALIENCE,), id="judge"),
        neighbour(Phase.ENCODE, tell, reads=(ROW,), sets=(NEWS,), id="tell"),
        giving(Phase.RETRIEVE, WITHIN, SHARES),
        **values,
    )
    encode(memory, *((float(i), f"event {i}") for i in range(6)))
    return memory


@equation(
    "SW-4",
    source="eq. (4) in a memory: the product by hand for temporal questions, without f_t for others; votes below the floor",
    atol=1e-7,
    papers=(PAPER,),
)
def a_memory_adds_the_factors_and_the_votes(specimen: Any) -> Any:
    measured, expected = [], []
    cases: tuple[tuple[float, float, float, dict[str, Any]], ...] = (
        (BOOST, ALPHA, 0.1, {}),
        (1.7, 0.9, 0.6, {"temporal_boost": 1.7, "alpha": 0.9, "floor": 0.6}),
    )
    for boost, alpha, floor, values in cases:
        memory = story(specimen, **values)
        memory.assembly.show(3, False)
        for text, temporal in (
            ("When was event 2?", True),
            ("What was event 2 about?", False),
            ("event 2 of last week", True),
        ):
            memory.retrieve(text)
            measured.append([*np.exp(memory.column(LOG_PRIOR)), *memory.column(BAN)])
            expected.append(
                [
                    *factors(SHARES, SURPRISE, boost if temporal else 1.0, alpha),
                    *(s < floor for s in SALIENCES),
                ]
            )
    return measured, expected


@adaptation(
    "SW-5",
    source="True Memory 4.1 stage 9: results below the threshold are dropped; the rows by hand",
    papers=(PAPER,),
)
def a_memory_of_little_importance_is_never_answered(specimen: Any) -> Any:
    answered = [
        sorted(story(specimen, floor=floor).retrieve("event", k=9).rows.tolist())
        for floor in (0.0, 0.1, 0.5, 0.95)
    ]
    return [len(rows) for rows in answered] + answered[1] + answered[2], [6, 3, 2, 0, 0, 2, 3, 0, 3]


@adaptation(
    "SW-6",
    source="by hand: of two equal memories, the one of the time asked for is first, and only for temporal questions",
)
def the_time_asked_for_decides_between_equals(specimen: Any) -> Any:
    memory = memory_of(specimen, "lexical_bm25", giving(Phase.RETRIEVE, WITHIN, [0.0, 0.0, 1.0]))
    encode(memory, (0.0, "a long walk"), (1.0, "we planted a tree"), (2.0, "we planted a tree"))
    return [
        memory.retrieve(text, k=2).rows.tolist()
        for text in ("When was the tree planted?", "Why was the tree planted?")
    ], [[2, 1], [1, 2]]


@limit("SW-7", source="definition: without importance, news or a time asked for nothing changes")
def unjudged_memories_keep_their_scores(specimen: Any) -> Any:
    memory = memory_of(specimen, "lexical_bm25")
    measured = []
    for k in range(2):
        memory.retrieve("When was event 2?")
        measured += [*memory.column(LOG_PRIOR), *memory.column(BAN)]
        encode(memory, (float(k), f"event {k}"))
    return measured, [0.0, 0.0]


@equation(
    "SW-8",
    source="True Memory 4.1 stage 10: summaries alone are multiplied by f_m",
    atol=1e-7,
    papers=(PAPER,),
)
def only_summaries_have_a_factor(specimen: Any) -> Any:
    kinds = np.random.default_rng(5).integers(0, 4, 40).astype(np.int8)
    measured, expected = [], []
    for factor in (DETAIL, SYNTHESIS, 1.0):
        out = np.full(40, -0.5)
        specimen.add_log_of_summaries(kinds, 3, factor, out)
        measured.append(np.exp(out + 0.5))
        expected.append([factor if kind == 3 else 1.0 for kind in kinds])
    return measured, expected


def summarised(specimen: Any, **values: Any) -> Any:
    """A memory of two events, then a segment, a bundle and a summary of them; all are within the
    time asked for.
    """

    def draft(view: Any, tick: Any) -> None:
        if len(view.kind) == 2:
            for text, kind, sources in (
                ("the boat", Kind.SEGMENT, (0,)),
                ("boat, house", Kind.BUNDLE, (0, 1)),
                ("sold both", Kind.SUMMARY, (0, 1)),
            ):
                view.drafts.add(Draft(text, kind, sources))

    def place(view: Any, cue: Any) -> None:
        view.within[...] = 1.0

    memory = memory_of(
        specimen,
        "lexical_bm25",
        neighbour(Phase.CONSOLIDATE, draft, reads=(KIND,), adds=(DRAFTS,), id="draft"),
        neighbour(Phase.RETRIEVE, place, sets=(WITHIN,), id="place"),
        **values,
    )
    encode(memory, (0.0, "We sold the boat"), (1.0, "We sold the house"))
    memory.advance(48.0)
    return memory


@equation(
    "SW-9",
    source="True Memory 4.1 stage 10 in a memory: f_m by what is asked, times f_t; by hand",
    atol=1e-7,
    papers=(PAPER,),
)
def the_question_decides_the_factor_of_summaries(specimen: Any) -> Any:
    measured, expected = [], []
    cases: tuple[tuple[float, float, dict[str, Any]], ...] = (
        (DETAIL, SYNTHESIS, {}),
        (0.4, 3.0, {"detail": 0.4, "synthesis": 3.0}),
    )
    for detail, synthesis, values in cases:
        memory = summarised(specimen, **values)
        for text, boost, factor in (
            ("What is the exact price of the boat?", 1.0, detail),
            ("When did we sell the boat?", BOOST, detail),
            ("Give me an overview of the sales", 1.0, synthesis),
            ("How many houses are in the overview?", 1.0, detail),
            ("Was the boat any good?", 1.0, 1.0),
        ):
            memory.retrieve(text)
            measured.append(np.exp(memory.column(LOG_PRIOR)))
            expected.append([boost] * 4 + [boost * factor])
    return measured, expected


@figure(
    "factors",
    caption="Factor on the score of a memory over its surprise, within the time asked for and outside",
    source="True Memory 4.1 stage 9",
)
def factor_over_surprise(specimen: Any) -> Picture:
    sigma = np.linspace(0.0, 1.0, 41)

    def curve(share: float, at: Any) -> Any:
        out = np.zeros(len(at))
        specimen.add_log_factors(np.full(len(at), share), np.asarray(at), BOOST, ALPHA, out)
        return np.exp(out)

    few = np.array([0.0, 0.5, 1.0])
    return Picture(
        "surprise",
        "factor",
        (
            Curve("of the time asked for", sigma, curve(1.0, sigma)),
            Curve("outside", sigma, curve(0.0, sigma)),
            dots(
                "eq. (4)",
                np.tile(few, 2),
                np.concatenate([factors([s] * 3, few, BOOST, ALPHA) for s in (1.0, 0.0)]),
            ),
        ),
    )


@mutant("factors add instead of multiplying", rejected_by="SW-1")
def sums(specimen: Any) -> Any:
    def add_log_factors(within: Any, news: Any, boost: float, alpha: float, out: Any) -> None:
        out += np.log(np.where(within >= 1.0, boost, 1.0) + alpha * news)

    return specimen.replacing("add_log_factors", add_log_factors)


@mutant("part of the time asked for is enough", rejected_by="SW-2")
def partly(specimen: Any) -> Any:
    original = specimen.add_log_factors
    return specimen.replacing(
        "add_log_factors",
        lambda within, *rest: original(np.where(within > 0.0, 1.0, within), *rest),
    )


@mutant("dates do not count", rejected_by="SW-3")
def without_dates(specimen: Any) -> Any:
    original = specimen.is_temporal
    return specimen.replacing("is_temporal", lambda words, dates: original(words, ()))


@mutant("every question is temporal", rejected_by="SW-4")
def always(specimen: Any) -> Any:
    return specimen.replacing("is_temporal", lambda words, dates: True)


@mutant("importance at the floor is banned, too, and less is not", rejected_by="SW-5")
def reversed_floor(specimen: Any) -> Any:
    def add_bans(importance: Any, floor: float, out: Any) -> None:
        out += importance >= floor

    return specimen.replacing("add_bans", add_bans)


@mutant("the boost divides", rejected_by="SW-6")
def divided(specimen: Any) -> Any:
    original = specimen.add_log_factors
    return specimen.replacing(
        "add_log_factors",
        lambda within, news, boost, *rest: original(within, news, 1.0 / boost, *rest),
    )


@mutant("memories that nobody judged are banned", rejected_by="SW-7")
def unjudged(specimen: Any) -> Any:
    original = specimen.add_bans
    return specimen.replacing(
        "add_bans", lambda importance, floor, out: original(importance, floor + 0.45, out)
    )


@mutant("bundles count as summaries", rejected_by="SW-8")
def bundles_too(specimen: Any) -> Any:
    original = specimen.add_log_of_summaries
    return specimen.replacing(
        "add_log_of_summaries",
        lambda kind, summary, *rest: original(np.where(kind == 2, 3, kind), summary, *rest),
    )


@mutant("every question asks for a detail", rejected_by="SW-9")
def always_a_detail(specimen: Any) -> Any:
    return specimen.replacing("question_kind_of", lambda words: specimen.QuestionKind.DETAIL)


@mutant("a word for an overview counts before the number that is asked for", rejected_by="SW-9")
def overview_first(specimen: Any) -> Any:
    original, kinds = specimen.question_kind_of, specimen.QuestionKind
    return specimen.replacing(
        "question_kind_of",
        lambda words: kinds.SYNTHESIS if "overview" in words else original(words),
    )
