"""Evidence for recent_context: the printed numbers, plain lists, and what a memory offers by hand."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...engine.columns import Phase
from ...engine.loop import Engine
from ...engine.records import Event
from ...engine.vocabulary import RELEASED, SALIENCE
from ..checks import adaptation, data, equation, limit, mutant
from ..figures import Curve, Picture, figure
from ..memory import memory_of, neighbour

PAPER = "contextassemblyundated"


@equation("RC-1", source="closed forms: exp(-age / 24 h), and halving every 24 h", papers=(PAPER,))
def recency_by_age(specimen: Any) -> Any:
    ages = np.array([0.0, 1.0, 24.0, 24.0 * np.log(2.0), 72.0])
    found = [[specimen.decayed(float(a), 24.0, half) for a in ages] for half in (False, True)]
    return found, [np.exp(-ages / 24.0), np.exp2(-ages / 24.0)]


@data("RC-2", source="the comment says that the score halves every 24 h; the printed code gives 1/e there", papers=(PAPER,))
def the_printed_recency_does_not_halve_in_a_day(specimen: Any) -> Any:
    return [specimen.decayed(24.0, 24.0, False), specimen.decayed(24.0, 24.0, True)], [0.36787944117144233, 0.5]


@equation("RC-3", source="weighted mean of values on [0, 1] by numpy, 50 random lists", papers=(PAPER,))
def final_scores_are_weighted_means(specimen: Any) -> Any:
    measured, expected = [], []
    for seed in range(50):
        rng = np.random.default_rng(seed)
        three, weights = rng.normal(size=(3, 7)), rng.random(3) + 0.1
        scaled = (three - three.min(axis=1, keepdims=True)) / np.ptp(three, axis=1, keepdims=True)
        measured.append(specimen.final_scores(*three, tuple(weights)))
        expected.append(np.average(scaled, axis=0, weights=weights))
    return measured, expected


@adaptation("RC-4", source="plain lists over 100 random talks")
def the_last_events_and_the_highlights(specimen: Any) -> Any:
    measured, expected = [], []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 25))
        session, importance, among = rng.integers(0, 5, n), rng.integers(0, 3, n) / 2.0, rng.random(n) < 0.8
        own, last, others, highlights = (int(rng.integers(0, top)) for top in (5, 6, 4, 3))
        rows = [i for i in range(n) if among[i]]
        mine = [i for i in rows if session[i] == own]
        chosen = set(mine[len(mine) - last:] if last and len(mine) > last else mine if last else [])
        order = list(dict.fromkeys(int(session[i]) for i in reversed(rows) if session[i] != own))
        for number in order[:others]:
            chosen |= set(sorted((i for i in rows if session[i] == number), key=lambda i: (-importance[i], -i))[:highlights])
        measured.append(str(specimen.recent(session, importance, among, own, last, others, highlights).tolist()))
        expected.append(str(sorted(chosen, reverse=True)))
    return measured, expected


def told(specimen: Any, **values: Any) -> Engine:
    def importance(view: Any, incoming: Any) -> None:
        view.salience = (0.9, 0.1, 0.5, 0.7, 0.2, 0.4)[incoming.before + 1]

    def rank(view: Any, cue: Any) -> None:
        view.released[...] = (3.0, 1.0, 2.0, 5.0, 4.0, 0.0)

    memory = memory_of(specimen, neighbour(Phase.ENCODE, importance, sets=(SALIENCE,), id="importance"),
                       neighbour(Phase.RETRIEVE, rank, sets=(RELEASED,), id="ranking"), **values)
    for i, session in enumerate(("S1", "S1", "S1", "S2", "S2", "S3")):
        memory.encode(Event(10.0 * i, f"event {i}", "", session, f"e{i}", dated=False))
    return memory


@adaptation("RC-5", source="rows, order and scores of a story in three sessions, term by term")
def a_memory_offers_what_was_said_last(specimen: Any) -> Any:
    values = {"last": 2, "others": 1, "highlights": 1, "recency": 2.0, "relevance": 1.0, "salience": 3.0, "span": 7.0}
    measured, expected = [], []
    for scale, decay, base in ((1.0, "e", np.e), (3.0, "half", 2.0)):
        memory = told(specimen, time_scale=scale, decay=decay, **values)
        memory.archive(4)
        for session, rows in ((None, (5, 3)), ("S1", (5, 2, 1)), ("S2", (5, 3))):
            offers = memory.offers("?", 100, session=session)[1]
            three = [np.array([[base ** (-(50.0 - 10.0 * r) / (7.0 * scale)), (3.0, 1.0, 2.0, 5.0, 4.0, 0.0)[r],
                                (0.9, 0.1, 0.5, 0.7, 0.2, 0.4)[r]] for r in rows])][0].T
            scaled = (three - three.min(axis=1, keepdims=True)) / np.ptp(three, axis=1, keepdims=True)
            measured += [f"{o.row} {o.section} {o.kind} {o.score:.6f}" for o in offers]
            final = np.average(scaled, axis=0, weights=(2.0, 1.0, 3.0))
            expected += [f"{r} Recent Activity recent {s:.6f}" for r, s in zip(rows, final, strict=True)]
    return measured, expected


@limit("RC-6", source="definition: nothing at a budget of 0, of an empty memory, and unless a context is asked for")
def nothing_without_a_budget(specimen: Any) -> Any:
    memory = told(specimen)
    memory.retrieve("?")
    return [len(memory.offers("?", 0)[1]), len(memory_of(specimen).offers("?", 9)[1]), len(memory.offers("?", 9)[1])], [0, 0, 6]


@limit("RC-7", source="definition: weights of 0, and equal values")
def scores_without_weights_or_differences(specimen: Any) -> Any:
    return [specimen.final_scores([1.0, 2.0], [1.0, 2.0], [1.0, 2.0], (0.0, 0.0, 0.0)),
            specimen.final_scores([3.0, 3.0], [np.nan, 1.0], [0.0, 0.0], (1.0, 1.0, 2.0))], [[0.0, 0.0], [0.75, 1.0]]


@figure("recency", caption="Recency by age: the printed form, and halving every 24 h, which its comment says", source="closed forms")
def recency_over_age(specimen: Any) -> Picture:
    ages = np.linspace(0.0, 96.0, 97)
    return Picture("age (h)", "recency", tuple(Curve(name, ages, [specimen.decayed(float(a), 24.0, half) for a in ages])
                                               for name, half in (("exp(-a / 24 h)", False), ("2^(-a / 24 h)", True))))


# --- mutants --------------------------------------------------------------------------------------------------------------------
@mutant("the bases are exchanged", rejected_by="RC-1")
def exchanged(specimen: Any) -> Any:
    original = specimen.decayed
    return specimen.replacing("decayed", lambda age, span, halving: original(age, span, not halving))


@mutant("the printed form is taken at its word", rejected_by="RC-2")
def at_its_word(specimen: Any) -> Any:
    return specimen.replacing("decayed", lambda age, span, halving: 2.0 ** (-age / span))


@mutant("values are not put on a scale", rejected_by="RC-3")
def unscaled(specimen: Any) -> Any:
    return specimen.replacing("final_scores", lambda r, v, s, w: np.average([r, v, s], axis=0, weights=w))


@mutant("the first events of the session", rejected_by="RC-4")
def first(specimen: Any) -> Any:
    original = specimen.recent
    return specimen.replacing("recent", lambda session, importance, among, own, last, *rest: np.sort(
        original(session[::-1], importance[::-1], among[::-1], own, last, *rest)))


@mutant("the session of the asker is ignored", rejected_by="RC-5")
def sessionless(specimen: Any) -> Any:
    original = specimen.recent
    return specimen.replacing("recent", lambda session, importance, among, own, *rest: original(session, importance, among, int(session[-1]), *rest))


@mutant("it offers at a budget of 0", rejected_by="RC-6")
def generous(specimen: Any) -> Any:
    def offer(self: Any, view: Any, cue: Any) -> None:
        if len(view.kind):
            view.offers.add(0, "Recent Activity", 0.0)
        specimen.RecentContext.offer(self, view, cue)

    return specimen.overriding("RecentContext", offer=offer)


@mutant("NaN stays NaN", rejected_by="RC-7")
def unknown(specimen: Any) -> Any:
    original = specimen.final_scores
    return specimen.replacing("final_scores", lambda r, v, s, w: original(r, v, s, w) + 0.0 * np.sum(v))
