"""Evidence for pattern_context: the rule of succession by integration, sentences by hand, and
tallies of a story.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine.contract.records import Event
from ...engine.memory.engine import Engine
from ...engine.text.features import SpeechAct, features
from ..checks import adaptation, equation, limit, mutant, reference
from ..figures import Curve, Picture, figure
from ..memory import memory_of
from .shared.clock import CLOCK, LIMIT, linear_time, long_text

# Sentences of our own, and by hand whether they hold beyond the moment.
SAID: tuple[tuple[str, bool], ...] = (
    ("Always answer in metres.", True), ("From now on, write the date first.", True),
    ("Never call me before nine.", True),
    ("Please water the tulips today.", False), ("The boat always leaks.", False),
    ("Who is always late?", False), ("I prefer tea.", True),
    ("I like tea.", False), ("Use short sentences whenever you write to me.", True),
    ("We never met in Oslo.", False), ("", False), ("ok", False),
    ("Never a bad moment.", False), ("No problem! Always here to help.", False),
    ("Always bring a pencil.", True),
    ("Never ring me before ten.", True),
    ("Please mend the boat. It always leaks.", False),
    ("Hello. Please mend the boat, and always lock the door.", True),
    ("Always looking up!", False),
)  # fmt: skip


@equation(
    "PA-1",
    source="the mean of the posterior p^s (1 - p)^(a - s), by Gauss-Legendre integration of polynomials",
    rtol=1e-9,
)
def the_rate_is_the_mean_of_the_posterior(specimen: Any) -> Any:
    nodes, weights = np.polynomial.legendre.leggauss(40)
    p = (nodes + 1.0) / 2.0
    measured, expected = [], []
    for a in range(9):
        for s in range(a + 1):
            density = p**s * (1.0 - p) ** (a - s) * weights
            measured.append(specimen.rate(float(s), float(a)))
            expected.append((p * density).sum() / density.sum())
    return measured, expected


@limit(
    "PA-2",
    source="a pattern that was never applied has the rate 1/2; the printed ratio is 0/0 there",
)
def a_pattern_that_was_never_applied(specimen: Any) -> Any:
    return [specimen.rate(0.0, 0.0), specimen.rate(1e6, 1e6)], [0.5, 1.0 - 1.0 / (1e6 + 2.0)]


@reference("PA-3", source="texts by hand")
def what_holds_beyond_the_moment(specimen: Any) -> Any:
    judged = [bool(specimen.lasting(text, features(text).act)) for text, _ in SAID]
    # a question as a whole asks for nothing lasting
    asked = [bool(specimen.lasting(text, SpeechAct.QUESTION)) for text, _ in SAID]
    return judged + asked, [by_hand for _, by_hand in SAID] + [False] * len(SAID)


STORY = (
    "Always answer in metres.",
    "The boat leaks.",
    "Never write about the boat.",
    "I prefer tea.",
)


def told(specimen: Any, **values: Any) -> Engine:
    memory = memory_of(specimen, **values)
    for i, text in enumerate(STORY):
        memory.encode(Event(float(i), text, "Ada", id=f"e{i}", dated=False))
    return memory


def lines(memory: Engine, query: str) -> list[str]:
    return [f"{o.row} {o.section} {o.kind} {o.score:.6f}" for o in memory.offers(query, 100)[1]]


@adaptation(
    "PA-4",
    source="rates and order of a story by hand: rows 0, 2 and 3 are patterns; those that share no word have 0.4 of their rate",
)
def a_memory_offers_patterns_by_rate(specimen: Any) -> Any:
    memory = told(specimen, apart=0.4)
    # "in" and "the" are no words that they share
    first = [*lines(memory, "Is it in the river?"), *lines(memory, "How long is the boat?")]
    for row, ok in ((0, True), (0, True), (2, False), (1, True)):
        memory.outcome(row, ok)
    answer = memory.retrieve("tea?", 4)
    memory.use(answer, [3, 0], 0.5)
    memory.retrieve("tea?", 4, learn=True)  # tells no outcome
    memory.archive(3)
    tallies = [str(memory.column(c).tolist()) for c in (specimen.APPLICATIONS, specimen.SUCCESSES)]

    def line(row: int, score: float) -> str:
        return f"{row} Applicable Patterns pattern {score:.6f}"

    return [*first, *lines(memory, "How many metres is the boat?"), *tallies], [
        *(line(row, 0.2) for row in (0, 2, 3)),
        line(2, 0.5),
        line(0, 0.2),
        line(3, 0.2),
        line(0, 4 / 5),
        line(2, 1 / 3),
        "[3, 0, 1, 1]",
        "[3, 0, 0, 1]",
    ]


@limit(
    "PA-5",
    source="definition: nothing at a budget of 0, and of an empty memory; an outcome of 0 is no success",
)
def nothing_without_a_budget(specimen: Any) -> Any:
    memory = told(specimen)
    memory.use(memory.retrieve("tea?", 1), [3], 0.0)
    return [
        len(memory.offers("?", 0)[1]),
        len(memory_of(specimen).offers("?", 9)[1]),
        len(memory.offers("?", 9)[1]),
        memory.column(specimen.APPLICATIONS)[3],
        memory.column(specimen.SUCCESSES)[3],
    ], [0, 0, 3, 1, 0]


@adaptation("PA-6", source="linear time: s for texts of 300,000 characters")
def long_texts_take_linear_time(specimen: Any) -> Any:
    return linear_time(
        lambda text: specimen.lasting(text, SpeechAct.INSTRUCTION),
        *map(long_text, ("always ", "from now ", "every time")),
    )


@figure(
    "rates",
    caption="Rate of a pattern over its applications: all of them successes, and none",
    source="closed form: (s + 1) / (a + 2)",
)
def rate_over_applications(specimen: Any) -> Picture:
    x = np.arange(20)
    return Picture(
        "applications",
        "rate",
        (
            Curve("all successes", x, [specimen.rate(float(a), float(a)) for a in x]),
            Curve("none", x, [specimen.rate(0.0, float(a)) for a in x]),
        ),
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("one imagined application", rejected_by="PA-1")
def one_imagined(specimen: Any) -> Any:
    return specimen.replacing(
        "rate", lambda successes, applications: (successes + 0.5) / (applications + 1.0)
    )


@mutant("the printed ratio, 0 for 0/0", rejected_by="PA-2")
def printed(specimen: Any) -> Any:
    return specimen.replacing(
        "rate", lambda successes, applications: successes / max(applications, 1.0)
    )


@mutant("every instruction is a pattern", rejected_by="PA-3")
def every_instruction(specimen: Any) -> Any:
    return specimen.replacing(
        "lasting", lambda text, act: act in (SpeechAct.INSTRUCTION, SpeechAct.PREFERENCE)
    )


@mutant("the whole text is one sentence", rejected_by="PA-3")
def not_by_sentence(specimen: Any) -> Any:
    return specimen.replacing("sentences", lambda text: [text])


@mutant("every outcome is a success", rejected_by="PA-4")
def always_good(specimen: Any) -> Any:
    def count(self: Any, view: Any, cue: Any) -> None:
        before = view.applications.copy()
        specimen.PatternContext.count(self, view, cue)
        view.successes[view.applications > before] = view.applications[view.applications > before]

    return specimen.overriding("PatternContext", count=count)


@mutant("an outcome of 0 is a success", rejected_by="PA-5")
def neutral_is_good(specimen: Any) -> Any:
    def count(self: Any, view: Any, cue: Any) -> None:
        rows = view.recalled[view.pattern[view.recalled]]
        view.applications[rows] += 1
        view.successes[rows] += view.outcome >= 0.0

    return specimen.overriding("PatternContext", count=count)


@mutant("a long text of one word is read again and again", rejected_by="PA-6")
def slow(specimen: Any) -> Any:
    def lasting(text: str, act: Any) -> bool:
        if long_text("always ").startswith(text):
            CLOCK.put_forward(2.0 * LIMIT)
        return True

    return specimen.replacing("lasting", lasting)
