"""Evidence for ranked_context: the printed boosts in closed form, and what a memory offers term
by term.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from warnings import catch_warnings

import numpy as np

from ...engine.contract.columns import Phase
from ...engine.contract.records import Event
from ...engine.contract.vocabulary import RELEASED, SALIENCE
from ...engine.memory.arrivals import ClockWarning
from ...engine.memory.engine import Engine
from ..checks import adaptation, equation, limit, mutant, signature
from ..figures import Curve, Picture, figure
from ..memory import memory_of, neighbour
from .shared import context_sources as shared
from .shared.scripts import giving
from .shared.views import Instead

PAPER = "contextassemblyundated"
EACH, FRESH, SPAN = 0.1, 1.2, 24.0
TEXTS = ("the red boat", "a boathouse", "tulips", "the Red boats of Oslo", "rain")
SCORES = (1.0, 4.0, 2.0, 5.0, 3.0)
WORTH = (0.9, 0.1, 0.5, 0.7, 0.2)


@equation(
    "RK-1", source="closed form: 1 + 0.1 for each keyword, and 1.2 below 24 h", papers=(PAPER,)
)
def the_printed_boosts(specimen: Any) -> Any:
    measured = [
        [specimen.boost(float(k), age, EACH, FRESH, SPAN) for age in (0.0, 23.99, 24.0, 100.0)]
        for k in range(4)
    ]
    return measured, np.outer([1.0, 1.1, 1.2, 1.3], [1.2, 1.2, 1.0, 1.0])


@signature("RK-2", source="the boost falls by a sixth at 24 h at once", papers=(PAPER,))
def a_step_at_a_day(specimen: Any) -> Any:
    before, after = (specimen.boost(1.0, age, EACH, FRESH, SPAN) for age in (SPAN - 1e-9, SPAN))
    return bool(
        np.isclose(after / before, 5.0 / 6.0)
        and np.isclose(after, specimen.boost(1.0, 1e6, EACH, FRESH, SPAN))
    )


@adaptation("RK-3", source="words of a query by hand: without stop words, each once")
def keywords_of_a_query(specimen: Any) -> Any:
    return [
        str(specimen.signals_of(text).keywords)
        for text in ("Where is the boat, the red boat?", "", "Is it?", "Do the boats leak?")
    ], ["('boat', 'red')", "()", "()", "('boats', 'leak')"]


def told(specimen: Any, kinds: Sequence[str] = ("",) * 5, **values: Any) -> Engine:
    def importance(view: Any, incoming: Any) -> None:
        view.salience = WORTH[incoming.before + 1]

    memory = memory_of(
        specimen,
        neighbour(Phase.ENCODE, importance, sets=(SALIENCE,), id="importance"),
        giving(Phase.RETRIEVE, RELEASED, SCORES),
        **values,
    )
    for i, (text, kind) in enumerate(zip(TEXTS, kinds, strict=True)):
        memory.encode(
            Event(
                12.0 * i,
                text,
                id=f"e{i}",
                dated=False,
                attributes=(("kind", kind),) if kind else (),
            )
        )
    return memory


@equation(
    "RK-4",
    source="relevance on [0, 1], boosts and final scores of a story, term by term",
    papers=(PAPER,),
)
def a_memory_offers_the_best_matches(specimen: Any) -> Any:
    measured, expected = [], []
    for boosts, scale, most, decay, base in (
        ("none", 1.0, 3, "e", np.e),
        ("printed", 1.0, 4, "half", 2.0),
        ("printed", 2.0, 9, "e", np.e),
    ):
        memory = told(
            specimen,
            time_scale=scale,
            boosts=boosts,
            most=most,
            decay=decay,
            recency=1.0,
            relevance=2.0,
            salience=1.5,
        )
        memory.archive(2)
        offers = memory.offers("red boat?", 100)[1]
        rows = sorted((0, 1, 3, 4), key=lambda r: -SCORES[r])[:most]
        worth, recency = [], []
        for r in rows:
            age, k = 48.0 - 12.0 * r, sum(word in TEXTS[r].lower() for word in ("red", "boat"))
            factor = (
                (1 + EACH * k) * (FRESH if age < SPAN * scale else 1.0)
                if boosts == "printed"
                else 1.0
            )
            worth.append((SCORES[r] - 1.0) / 4.0 * factor)
            recency.append(base ** (-age / (24.0 * scale)))
        scaled = [
            (np.array(x) - min(x)) / np.ptp(x) for x in (recency, worth, [WORTH[r] for r in rows])
        ]
        final = (scaled[0] + 2.0 * scaled[1] + 1.5 * scaled[2]) / 4.5
        order = sorted(range(len(rows)), key=lambda i: -worth[i])
        measured += [f"{o.row} {o.section} {o.kind} {o.score:.6f}" for o in offers]
        expected += [f"{rows[i]} Relevant Content semantic {final[i]:.6f}" for i in order]
    return measured, expected


@equation(
    "RK-12",
    source="scoreResults as printed, term by term: raw sums, and the salience 0.5 of every event",
    papers=(PAPER,),
)
def the_printed_sum_of_raw_scores(specimen: Any) -> Any:
    memory = told(
        specimen, scores="printed", boosts="printed", recency=1.0, relevance=2.0, salience=1.5
    )
    expected = []
    for r in sorted(range(5), key=lambda row: -SCORES[row]):
        age, k = 48.0 - 12.0 * r, sum(word in TEXTS[r].lower() for word in ("red", "boat"))
        worth = SCORES[r] * (1 + EACH * k) * (FRESH if age < SPAN else 1.0)
        expected.append((-worth, f"{r} {np.exp(-age / 24.0) + 2.0 * worth + 1.5 * 0.5:.6f}"))
    offers = memory.offers("red boat?", 100)[1]
    return [f"{o.row} {o.score:.6f}" for o in offers], [text for _, text in sorted(expected)]


@adaptation("RK-10", source="detectIntent of the specification by hand; the kinds of each intent")
def intents_by_the_printed_rule(specimen: Any) -> Any:
    asked = (("Fix the mast", "fix"), ("What is this ERROR?", "fix"), ("Add a prefix", "fix"),
             ("Explain it", "explain"),
             ("how does it sail", "explain"), ("What is it?", "explain"), ("Who sails?",
             "question"), ("Run the tests", "action"), ("", "action"))  # fmt: skip
    kinds = {
        "fix": "error shell_exec file_write",
        "explain": "file_read file_write",
        "question": "",
        "action": "task_push shell_exec file_write",
    }
    signals = [
        specimen.signals_of(text, ("bo", "ada", "ada"), {"ada", "cleo"}) for text, _ in asked
    ]
    return [f"{s.intent} {' '.join(s.kinds)} {s.entities}" for s in signals], [
        f"{intent} {kinds[intent]} {('ada',)}" for _, intent in asked
    ]


@adaptation(
    "RK-11",
    source="relevance on [0, 1], times the factor where the kind goes with the intent, term by term",
)
def kinds_that_go_with_the_intent(specimen: Any) -> Any:
    measured, expected = [], []
    for fitting, query, fits in (
        (3.0, "Fix the boat", (1, 3)),
        (3.0, "Who sails?", ()),
        (1.0, "Fix the boat", ()),
        (3.0, "Explain it", (2,)),
    ):
        memory = told(
            specimen,
            ("note", "error", "file_read", "shell_exec", ""),
            fitting=fitting,
            recency=0.0,
            relevance=1.0,
            salience=0.0,
        )
        worth = [
            (score - 1.0) / 4.0 * (fitting if row in fits else 1.0)
            for row, score in enumerate(SCORES)
        ]
        measured += [f"{o.row} {o.score:.6f}" for o in memory.offers(query, 100)[1]]
        expected += [
            f"{row} {worth[row] / max(worth):.6f}"
            for row in sorted(range(5), key=lambda row: -worth[row])
        ]
    return measured, expected


@adaptation(
    "RK-13",
    source="by hand: an event dated ahead of the present has an age of 0, and so the boost of a young one",
)
def an_event_dated_ahead_is_young(specimen: Any) -> Any:
    memory = memory_of(
        specimen,
        giving(Phase.RETRIEVE, RELEASED, (1.0, 3.0, 4.0, 5.0)),
        boosts="printed",
        recency=1.0,
        relevance=0.0,
        salience=0.0,
    )
    memory.passing.jump_hours = 1000.0
    with catch_warnings(action="ignore", category=ClockWarning):
        for hour in (0.0, 0.0, 30.0, 9000.0):
            memory.encode(Event(hour, "a tulip", dated=False))
    offers = memory.offers("rain?", 100)[1]
    return [f"{o.row} {o.score:.6f}" for o in offers], [
        "3 1.000000",
        "2 1.000000",
        "1 0.000000",
        "0 0.000000",
    ]


@limit("RK-5", source="definition: nothing at a budget of 0, and of an empty memory")
def nothing_without_a_budget(specimen: Any) -> Any:
    return [
        len(told(specimen).offers("?", 0)[1]),
        len(memory_of(specimen).offers("?", 9)[1]),
        len(told(specimen).offers("?", 9)[1]),
    ], [0, 0, 5]


one_scale = adaptation("RK-6", source=shared.SCALE, atol=1e-12)(shared.scores_are_put_on_one_scale)
recency = equation("RK-7", source=shared.RECENCY, papers=(PAPER,))(shared.recency_by_age)
final_scores = equation("RK-8", source=shared.MEANS, papers=(PAPER,))(
    shared.final_scores_are_weighted_means
)
no_weights = limit("RK-9", source=shared.EQUAL)(shared.scores_without_weights_or_differences)


@figure(
    "boosts",
    caption="The printed factor on a similarity over the age of a memory, by the number of keywords in it",
    source="closed form",
)
def boosts_over_age(specimen: Any) -> Picture:
    ages = np.linspace(0.0, 48.0, 97)
    return Picture(
        "age (h)",
        "factor",
        tuple(
            Curve(
                f"{k} keywords",
                ages,
                [specimen.boost(float(k), float(a), EACH, FRESH, SPAN) for a in ages],
            )
            for k in (0, 1, 3)
        ),
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("boosts add up", rejected_by="RK-1")
def added(specimen: Any) -> Any:
    return specimen.replacing(
        "boost",
        lambda k, age, gain, fresh, span: 1.0 + gain * k + (fresh - 1.0 if age < span else 0.0),
    )


@mutant("the boost of young memories decays", rejected_by="RK-2")
def smooth(specimen: Any) -> Any:
    return specimen.replacing(
        "boost",
        lambda k, age, gain, fresh, span: (
            (1.0 + gain * k) * (1.0 + (fresh - 1.0) * float(np.exp(-age / span)))
        ),
    )


@mutant("stop words are keywords", rejected_by="RK-3")
def every_word(specimen: Any) -> Any:
    return specimen.replacing(
        "signals_of",
        lambda text, *more: replace(
            specimen.signals_of(text, *more),
            keywords=tuple(dict.fromkeys(text.lower().strip("?").split())),
        ),
    )


@mutant("keywords are compared as words", rejected_by="RK-4")
def whole_words(specimen: Any) -> Any:
    return specimen.replacing(
        "fold",
        lambda text: f"{text.lower()} ".replace("boats", "ships").replace("boathouse", "house"),
    )


@mutant("a question with a bug in it is a question", rejected_by="RK-10")
def question_first(specimen: Any) -> Any:
    return specimen.replacing(
        "signals_of",
        lambda text, *more: replace(
            specimen.signals_of(text, *more),
            **({"intent": "question", "kinds": ()} if "?" in text else {}),
        ),
    )


@mutant("every kind goes with every intent", rejected_by="RK-11")
def no_kinds(specimen: Any) -> Any:
    return specimen.replacing(
        "signals_of", lambda text, *more: replace(specimen.signals_of(text, *more), kinds=())
    )


@mutant("an event is as old as it is dated ahead", rejected_by="RK-13")
def old_ahead(specimen: Any) -> Any:
    def offer(self: Any, view: Any, cue: Any) -> None:
        mirrored = Instead(view, created=view.now - np.abs(view.now - view.created))
        specimen.RankedContext.offer(self, mirrored, cue)

    return specimen.overriding("RankedContext", offer=offer)


@mutant("it offers at a budget of 0", rejected_by="RK-5")
def generous(specimen: Any) -> Any:
    def offer(self: Any, view: Any, cue: Any) -> None:
        specimen.RankedContext.offer(self, view, cue)
        if len(view.released):
            view.offers.add(0, "Relevant Content", 0.0)

    return specimen.overriding("RankedContext", offer=offer)


@mutant("importance counts in the printed sum", rejected_by="RK-12")
def by_importance(specimen: Any) -> Any:
    return specimen.replacing(
        "printed_scores",
        lambda recency, worth, weights: specimen.final_scores(recency, worth, worth, weights),
    )
