"""Evidence for write_gate_cortex.  References are exact fractions, the definition of Jaccard
similarity, and the events that are stored.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any

import numpy as np

from ...engine.contract.columns import Phase
from ...engine.contract.records import Event
from ...engine.contract.vocabulary import THRESHOLD_SHIFT
from ...engine.memory.engine import Engine
from ...engine.ports.embedder import HashingEmbedder
from ..checks import adaptation, limit, mutant
from ..figures import Curve, Picture, dots, figure
from ..memory import Scripted, memory_of, neighbour
from .shared.durations import unscaled as without_scale
from .shared.tellings import as_happened, tell

CORTEX = "Cortex 4.1.1, terms as errors"
WEIGHTS = np.array([0.4, 0.2, 0.1, 0.3])
SAID = "Ada took the night train from Lisbon to Oslo"
OTHER = "quick quiz: which fjord jumps"


def memory(specimen: Any, **changed: Any) -> Engine:
    names = ("embedding_weight", "entity_weight", "time_weight", "structure_weight")
    values = {
        **dict(zip(names, WEIGHTS.tolist(), strict=True)),
        "threshold": 0.15,
        "news_time": 1.0,
        "neighbours": 10,
        **changed,
    }
    return Engine(
        [
            specimen.WriteGateCortex(
                "write_gate_cortex",
                specimen.WriteGateCortexParams(time_scale=1.0, **values),
                {"news_time": "h"},
                1,
            )
        ],
        HashingEmbedder(256),
    )


def judged(specimen: Any, *told: Event, **changed: Any) -> tuple[list[bool], list[float]]:
    """Which events were stored, and the four errors of the last."""
    gate = memory(specimen, **changed)
    stored = [gate.encode(event).stored for event in told]
    return stored, [float(d) for d in gate.store.array(specimen.CORTEX_ERRORS)]


def event(text: str, time: float = 0.0, session: str = "s") -> Event:
    return Event(time, text, "", session, dated=False)


# --- the terms ------------------------------------------------------------------------------------
@adaptation(
    "PC-8a",
    source=f"{CORTEX}: an exact duplicate, same session, no time between",
    needs="engine",
    atol=1e-6,
    papers=("cortex2026",),
)
def a_duplicate_has_no_error_and_is_rejected(specimen: Any) -> Any:
    stored, errors = judged(specimen, event(SAID), event(SAID))
    return [*errors, *stored], [0.0, 0.0, 0.0, 0.0, True, False]


@limit(
    "PC-8b",
    source=f"{CORTEX}: cosine 0, no entity and no trigram shared, a new session: S = 1 by the definition",
    atol=1e-12,
    papers=("cortex2026",),
)
def an_event_that_shares_nothing_has_error_one_in_every_term(specimen: Any) -> Any:
    d = np.array(
        [
            specimen.embedding_error(0.0),
            specimen.apart({"ada"}, {"bo"}),
            specimen.time_error(math.inf, 1.0),
            specimen.apart({"abc", "bcd"}, {"xyz"}),
        ]
    )
    return [*d, specimen.prediction_error(d, WEIGHTS), float(specimen.admits(1.0, 0.15))], [1.0] * 6


@adaptation(
    "PC-8c",
    source=f"{CORTEX}: S does not rise with any similarity, nor fall with time; 21 grid points each",
    figure="surprise",
    papers=("cortex2026",),
)
def surprise_falls_with_every_similarity(specimen: Any) -> Any:
    rising = np.linspace(0.0, 1.0, 21)
    courses = (
        [specimen.embedding_error(c) for c in rising],
        [specimen.overlap_error(shared, 20, 20) for shared in range(21)],
        [-specimen.time_error(24.0 * t, 1.0) for t in rising],
        [specimen.overlap_error(shared, 20, 40) for shared in range(21)],
    )
    falls = True
    for k, course in enumerate(courses):
        scores = [
            specimen.prediction_error(np.where(np.arange(4) == k, abs(d), 0.5), WEIGHTS)
            * (-1.0 if k == 2 else 1.0)
            for d in course
        ]
        falls = falls and bool(np.all(np.diff(scores) <= 1e-15)) and scores[0] > scores[-1]
    return falls


@adaptation(
    "PC-8d", source="Jaccard's definition in exact fractions, over all sizes up to 6", rtol=1e-15
)
def overlap_error_is_one_minus_the_jaccard_index(specimen: Any) -> Any:
    measured, expected = [], []
    for a in range(1, 7):
        for b in range(1, 7):
            for start in range(a + 1):
                mine, theirs = set(range(a)), set(range(start, start + b))
                measured.append(specimen.apart(mine, theirs))
                expected.append(float(1 - Fraction(len(mine & theirs), len(mine | theirs))))
    return measured, expected


@adaptation("PC-8e", source="weighted mean in exact fractions", rtol=1e-15)
def the_score_is_the_weighted_mean_of_the_errors(specimen: Any) -> Any:
    d, w = (
        [Fraction(1, 4), Fraction(1, 2), Fraction(1, 8), Fraction(3, 4)],
        [Fraction(2), Fraction(1), Fraction(1, 2), Fraction(3, 2)],
    )
    expected = float(sum(a * b for a, b in zip(w, d, strict=True)) / sum(w))
    return specimen.prediction_error(np.array(d, dtype=float), np.array(w, dtype=float)), expected


@limit("WC-1", source="definition of d3: 0 at t = 0, 1 - 1/e at tau, 1 in the limit")
def the_error_of_time_lies_between_zero_and_one(specimen: Any) -> Any:
    return [specimen.time_error(t, 2.0) for t in (0.0, 2.0, 2.0 * math.log(4.0), math.inf)], [
        0.0,
        1.0 - math.exp(-1.0),
        0.75,
        1.0,
    ]


@limit(
    "WC-1b",
    source="definition of d1, within 0 and 1; the last row of a session in a list, -1 if there is none",
)
def an_opposite_event_has_error_one_and_a_new_session_no_memory(specimen: Any) -> Any:
    sessions = np.array([0, 1, 1, 0, 2])
    return [
        *map(specimen.embedding_error, (-0.5, 1.1, 0.75)),
        *(specimen.last_of(sessions, s) for s in (0, 1, 2, 7)),
    ], [1.0, 0.0, 0.25, 3, 2, 4, -1]


@limit(
    "WC-2", source="a threshold below 0 admits all events, a threshold of 1 none", needs="engine"
)
def the_threshold_decides(specimen: Any) -> Any:
    told = (event(SAID), event(SAID), event(OTHER))
    return [
        *judged(specimen, *told, threshold=-0.1)[0],
        *judged(specimen, *told, threshold=1.0)[0],
    ], [True] * 3 + [False] * 3


@adaptation("WC-3", source="ours: terms and decision computed by hand", needs="engine", atol=1e-9)
def entities_and_time_are_compared_with_stored_memories(specimen: Any) -> Any:
    stored, errors = judged(
        specimen, event("We saw Ada and Bo"), event("We saw Ada and Cleo", time=2.0)
    )
    return [errors[1], errors[2], *stored], [1.0 - 1.0 / 3.0, 1.0 - math.exp(-2.0), True, True]


@adaptation(
    "WC-4",
    source="ours: time is measured within the event's session; other terms over all sessions",
    needs="engine",
    atol=1e-6,
)
def a_repetition_in_a_new_session_has_the_error_of_time_alone(specimen: Any) -> Any:
    stored, errors = judged(specimen, event(SAID), event(OTHER, 1.0), event(SAID, 2.0, "new"))
    return [*errors, *stored], [0.0, 0.0, 1.0, 0.0, True, True, False]


# equal up to 4,500 and different after 8,192 characters
LONG = ("ab " * 1500 + "quartz " + "ab " * 1500 + "zebra", "ab " * 3000 + "walrus")
# time, text, session, names in it, direction of its vector, shift of the threshold
LOG = (
    (1.0, "We saw Ada and Bo", "a", ("ada", "bo"), (1.0, 0.0, 0.0), 0.0),
    (1.5, "We saw Ada and Cleo", "a", ("ada", "cleo"), (0.8, 0.6, 0.0), 0.0),
    (1.6, "We saw Ada and Bo", "a", ("ada", "bo"), (1.0, 0.0, 0.0), 0.0),
    (4.0, "We saw Bo and Dan", "b", ("bo", "dan"), (0.96, 0.0, 0.28), -0.1),
    (4.2, "We saw Bo and Dan", "b", ("bo", "dan"), (0.96, 0.0, 0.28), -0.2),
    (9.0, "rain again", "a", (), (0.0, 0.0, -1.0), 0.0),
    (9.1, "rain again and again", "a", (), (-0.6, 0.0, -0.8), 0.3),
    (9.2, "we saw rain", "b", (), (0.0, 0.6, -0.8), 0.1),
    (60.0, LONG[0], "c", (), (0.0, 1.0, 0.0), 0.0),
    (60.1, LONG[1], "c", (), (0.0, 0.96, 0.28), 0.0),
    (61.0, "Ada", "b", ("ada",), (0.6, 0.8, 0.0), 0.0),
)
LATE = 0.9  # h by which the second of them is told late


def letters(text: str) -> set[str]:
    """Trigrams of the first 8,192 characters: each word with two blanks before and one behind."""
    return {
        f"  {word} "[i : i + 3]
        for word in re.findall(r"[a-z]+", text[:8192].lower())
        for i in range(len(word) + 1)
    }


def jaccard_error(one: set[Any], other: set[Any]) -> float:
    return 1.0 - len(one & other) / len(one | other) if one | other else 0.0


def gated_in_memory(
    specimen: Any,
    time_scale: float | None,
    weights: tuple[float, ...],
    threshold: float,
    tau: float,
    k: int,
) -> tuple[Any, Any]:
    """The four errors of each event and whether it is stored, and the same by sets and dot
    products; one memory is archived on the way.
    """
    shifts = iter([shift for *_, shift in LOG])

    def shift(view: Any, incoming: Any) -> None:
        view.threshold_shift = next(shifts)

    memory = memory_of(specimen, neighbour(Phase.ENCODE, shift, adds=(THRESHOLD_SHIFT,)),
                       time_scale=time_scale,
                       embedder=Scripted({text: direction for _, text, _, _, direction, _ in LOG}),
                       embedding_weight=weights[0],
                       entity_weight=weights[1], time_weight=weights[2],
                       structure_weight=weights[3], threshold=threshold, news_time=tau,
                       neighbours=k)  # fmt: skip
    stored: list[tuple[Any, ...]] = []
    measured, expected, hidden = list[float](), list[float](), -1
    for time, text, session, names, direction, by in LOG:
        v = np.divide(direction, np.linalg.norm(direction))
        near = sorted(
            (row for row in range(len(stored)) if row != hidden),
            key=lambda row: (-round(float(v @ stored[row][3]), 6), row),
        )[:k]
        times = [t for t, s, *_ in stored if s == session]
        d = (
            [
                min(max(1.0 - float(v @ stored[near[0]][3]), 0.0), 1.0),
                min(jaccard_error({*names}, {*stored[row][2]}) for row in near),
                1.0 - math.exp(-(time - times[-1]) / (tau * (time_scale or 1.0))) if times else 1.0,
                min(jaccard_error(letters(text), letters(stored[row][4])) for row in near),
            ]
            if near
            else [1.0] * 4
        )
        admitted = float(np.dot(d, weights) / np.sum(weights)) > threshold + by
        happened = time - LATE * (time == 1.5)
        row = tell(memory, time, Event(happened, text, "", session, dated=False))
        measured += [*memory.column(specimen.CORTEX_ERRORS), float(row is not None)]
        expected += [*d, float(admitted)]
        if admitted:
            stored.append((time, session, names, v, text))
        if time == 9.0:
            memory.archive(0)
            hidden = 0
    return measured, expected


@adaptation(
    "WC-5",
    source="sets, dot products and hours by hand, 2 or 4 nearest memories in any session; odd numbers",
    rtol=1e-6,
    atol=1e-6,
)
def a_memory_judges_every_event_by_its_nearest_memories(specimen: Any) -> Any:
    for weights, threshold, k in (
        ((0.35, 0.25, 0.15, 0.45), 0.2, 2),
        ((2.0, 0.1, 0.3, 0.2), 0.13, 2),
        ((0.1, 2.0, 0.2, 0.3), 0.13, 2),
        ((0.2, 0.1, 2.0, 0.3), 0.3, 2),
        ((0.2, 0.3, 0.1, 2.0), 0.3, 2),
        ((0.35, 0.25, 0.15, 0.45), 0.05, 4),
    ):
        yield gated_in_memory(specimen, None, weights, threshold, 2.0, k)


@adaptation(
    "WC-5b", source="as WC-5 with other numbers, and hours that last four", rtol=1e-6, atol=1e-6
)
def at_another_time_scale_the_error_of_time_grows_more_slowly(specimen: Any) -> Any:
    return gated_in_memory(specimen, 4.0, (0.1, 0.3, 0.8, 0.2), 0.25, 1.0, 1)


# --- figures --------------------------------------------------------------------------------------
@figure(
    "surprise",
    caption="Surprise of an event over one similarity at a time, with the other errors at one half: it falls in proportion to "
    "the weight of the term",
    source=f"{CORTEX}; weighted mean by hand",
)
def surprise_over_each_likeness(specimen: Any) -> Picture:
    like = np.linspace(0.0, 1.0, 21)

    def course(k: int, errors: Any) -> Any:
        return [
            specimen.prediction_error(np.where(np.arange(4) == k, d, 0.5), WEIGHTS) for d in errors
        ]

    shared = [specimen.overlap_error(s, 20, 20) for s in range(21)]
    return Picture(
        "similarity to memory",
        "surprise",
        (
            Curve("embedding", like, course(0, [specimen.embedding_error(float(c)) for c in like])),
            Curve("entities", np.arange(21) / 20, course(1, shared)),
            Curve("structure", np.arange(21) / 20, course(3, shared)),
            dots("by hand, embedding", [0.0, 0.5, 1.0], [0.7, 0.5, 0.3]),
        ),
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant(
    "entity overlap and trigram similarity in place of their errors, as Cortex lists them",
    rejected_by="PC-8a",
)
def likenesses(specimen: Any) -> Any:
    return specimen.replacing(
        "overlap_error", lambda shared, mine, theirs: shared / max(mine + theirs - shared, 1)
    )


@mutant("hours without bound, as Cortex lists them", rejected_by="WC-1")
def hours(specimen: Any) -> Any:
    return specimen.replacing("time_error", lambda elapsed, tau: elapsed)


@mutant("an error that falls with time", rejected_by="PC-8c")
def nearness(specimen: Any) -> Any:
    return specimen.replacing("time_error", lambda elapsed, tau: math.exp(-elapsed / tau))


@mutant("errors summed, not averaged", rejected_by="PC-8e")
def summed(specimen: Any) -> Any:
    return specimen.replacing("prediction_error", lambda d, w: float(np.dot(d, w)))


@mutant("a gate that admits predicted events", rejected_by="PC-8a")
def reversed_gate(specimen: Any) -> Any:
    return specimen.replacing("admits", lambda score, bar: score <= bar)


@mutant("overlap over the smaller set", rejected_by="PC-8d")
def smaller(specimen: Any) -> Any:
    return specimen.replacing(
        "overlap_error", lambda shared, mine, theirs: 1.0 - shared / max(min(mine, theirs), 1)
    )


@mutant("the last memory of any session", rejected_by="WC-4")
def any_session(specimen: Any) -> Any:
    return specimen.replacing("last_of", lambda session, wanted: len(session) - 1)


@mutant("shifts of the threshold are ignored", rejected_by="WC-5")
def unshifted(specimen: Any) -> Any:
    def judge(self: Any, view: Any, incoming: Any) -> None:
        specimen.WriteGateCortex.judge(self, view, incoming)
        p, d = self.params, view.cortex_errors
        score = float(
            np.dot(d, [p.embedding_weight, p.entity_weight, p.time_weight, p.structure_weight])
        )
        view.veto = int(
            score
            <= p.threshold
            * (p.embedding_weight + p.entity_weight + p.time_weight + p.structure_weight)
        )

    return specimen.overriding("WriteGateCortex", judge=judge)


@mutant("the error of time does not follow the time scale", rejected_by="WC-5b")
def unscaled(specimen: Any) -> Any:
    return without_scale(specimen, "WriteGateCortex")


@mutant("time counts from when the last memory of a session happened", rejected_by="WC-5")
def from_the_event(specimen: Any) -> Any:
    return as_happened(specimen, "WriteGateCortex", "judge")
