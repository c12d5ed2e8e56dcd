"""Evidence for recent_context: the printed numbers, plain lists, and what a memory offers by
hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...engine.contract.columns import Phase
from ...engine.contract.drafts import Draft, Kind
from ...engine.contract.records import Event, Only, Query
from ...engine.contract.vocabulary import DRAFTS, RELEASED, SALIENCE, SESSION
from ...engine.memory.engine import Engine
from ..checks import adaptation, equation, limit, mutant, reference
from ..figures import Curve, Picture, figure
from ..memory import memory_of, neighbour
from .shared import context_sources as shared

PAPER = "contextassemblyundated"


recency = equation("RC-1", source=shared.RECENCY, papers=(PAPER,))(shared.recency_by_age)


@reference(
    "RC-2",
    source="the comment says that the score halves every 24 h; the printed code gives 1/e there",
    papers=(PAPER,),
)
def the_printed_recency_does_not_halve_in_a_day(specimen: Any) -> Any:
    return [specimen.decayed(24.0, 24.0, False), specimen.decayed(24.0, 24.0, True)], [
        0.36787944117144233,
        0.5,
    ]


final_scores = equation("RC-3", source=shared.MEANS, papers=(PAPER,))(
    shared.final_scores_are_weighted_means
)


def said_last(
    session: Any, importance: Any, among: Any, own: int, last: int, others: int, highlights: int
) -> list[int]:
    """Rows of the last events of a session and of the highlights of others, the latest first, in
    plain lists.
    """
    rows = [i for i in range(len(session)) if among[i]]
    mine = [i for i in rows if session[i] == own]
    chosen = set(mine[len(mine) - last :] if last and len(mine) > last else mine if last else [])
    order = list(dict.fromkeys(int(session[i]) for i in reversed(rows) if session[i] != own))
    for number in order[:others]:
        chosen |= set(
            sorted((i for i in rows if session[i] == number), key=lambda i: (-importance[i], -i))[
                :highlights
            ]
        )
    return sorted(chosen, reverse=True)


@adaptation("RC-4", source="plain lists over 100 random talks")
def the_last_events_and_the_highlights(specimen: Any) -> Any:
    measured, expected = [], []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 25))
        session, importance, among = (
            rng.integers(0, 5, n),
            rng.integers(0, 3, n) / 2.0,
            rng.random(n) < 0.8,
        )
        own, last, others, highlights = (int(rng.integers(0, top)) for top in (5, 6, 4, 3))
        measured.append(
            str(specimen.recent(session, importance, among, own, last, others, highlights).tolist())
        )
        expected.append(str(said_last(session, importance, among, own, last, others, highlights)))
    return measured, expected


SESSIONS, WORTH, RANKED = (
    ("S1", "S1", "S1", "S2", "S2", "S3"),
    (0.9, 0.1, 0.5, 0.7, 0.2, 0.4),
    (3.0, 1.0, 2.0, 5.0, 4.0, 0.0),
)


def told(
    specimen: Any,
    sessions: Sequence[str] = SESSIONS,
    worth: Sequence[float] = WORTH,
    *others: Any,
    **values: Any,
) -> Engine:
    def importance(view: Any, incoming: Any) -> None:
        view.salience = worth[incoming.before + 1]

    def rank(view: Any, cue: Any) -> None:
        view.released[...] = np.resize(RANKED, len(view.released))

    memory = memory_of(
        specimen,
        neighbour(Phase.ENCODE, importance, sets=(SALIENCE,), id="importance"),
        neighbour(Phase.RETRIEVE, rank, sets=(RELEASED,), id="ranking"),
        *others,
        **values,
    )
    for i, session in enumerate(sessions):
        memory.encode(Event(10.0 * i, f"event {i}", "", session, f"e{i}", dated=False))
    return memory


@adaptation("RC-5", source="rows, order and scores of a story in three sessions, term by term")
def a_memory_offers_what_was_said_last(specimen: Any) -> Any:
    values: dict[str, Any] = {"last": 2, "others": 1, "highlights": 1, "recency": 2.0,
                              "relevance": 1.0, "salience": 3.0, "span": 7.0}  # fmt: skip
    measured, expected = [], []
    for scale, decay, base in ((1.0, "e", np.e), (3.0, "half", 2.0)):
        memory = told(specimen, time_scale=scale, decay=decay, **values)
        memory.archive(4)
        for session, rows in ((None, (5, 3)), ("S1", (5, 2, 1)), ("S2", (5, 3))):
            offers = memory.offers("?", 100, session=session)[1]
            three = [np.array([[base ** (-(50.0 - 10.0 * r) / (7.0 * scale)), (3.0, 1.0, 2.0, 5.0,
                4.0, 0.0)[r],
                                (0.9, 0.1, 0.5, 0.7, 0.2, 0.4)[r]] for r in rows])][0].T  # fmt: skip
            scaled = (three - three.min(axis=1, keepdims=True)) / np.ptp(
                three, axis=1, keepdims=True
            )
            measured += [f"{o.row} {o.section} {o.kind} {o.score:.6f}" for o in offers]
            final = np.average(scaled, axis=0, weights=(2.0, 1.0, 3.0))
            expected += [
                f"{r} Recent Activity recent {s:.6f}" for r, s in zip(rows, final, strict=True)
            ]
    return measured, expected


@adaptation(
    "RC-10",
    source="definition: events alone, not what the memory made of them last; and those alone that the asker's filter admits; by hand",
)
def what_sleep_made_and_what_is_filtered_is_not_recent(specimen: Any) -> Any:
    def draft(view: Any, tick: Any) -> None:
        if len(view.session) == len(SESSIONS):
            view.drafts.add(Draft("a note", Kind.SUMMARY, (5,), session=int(view.session[5])))

    drafting = neighbour(Phase.CONSOLIDATE, draft, reads=(SESSION,), adds=(DRAFTS,), id="draft")
    memory = told(specimen, SESSIONS, WORTH, drafting, last=2, others=1, highlights=1)
    memory.advance(80.0)
    assert memory.store.n > len(SESSIONS)
    asked = (Query("?"), Query("?", only=Only(exclude=("e5", "e3"))))
    return [str([o.row for o in memory.offers(query, 100)[1]]) for query in asked], [
        "[5, 3]",
        "[4, 0]",
    ]


@equation(
    "RC-9",
    source="scoreResults as printed, term by term: raw sums, and the salience 0.5 of every event",
    papers=(PAPER,),
)
def the_printed_sum_of_raw_scores(specimen: Any) -> Any:
    memory = told(
        specimen, scores="printed", last=9, recency=2.0, relevance=1.0, salience=3.0, span=7.0
    )
    offers = memory.offers("?", 100, session="S1")[1]
    return [f"{o.row} {o.score:.6f}" for o in offers if o.row < 3], [
        f"{r} {2.0 * np.exp(-(50.0 - 10.0 * r) / 7.0) + RANKED[r] + 3.0 * 0.5:.6f}"
        for r in (2, 1, 0)
    ]


@limit(
    "RC-6",
    source="definition: nothing at a budget of 0, of an empty memory, and unless a context is asked for",
)
def nothing_without_a_budget(specimen: Any) -> Any:
    memory = told(specimen)
    memory.retrieve("?")
    return [
        len(memory.offers("?", 0)[1]),
        len(memory_of(specimen).offers("?", 9)[1]),
        len(memory.offers("?", 9)[1]),
    ], [0, 0, 6]


no_weights = limit("RC-7", source=shared.EQUAL)(shared.scores_without_weights_or_differences)


@adaptation(
    "RC-8",
    source="plain lists over 20 random talks in a memory, with archived events: the session of the latest event that can be answered",
)
def a_talk_of_many_sessions(specimen: Any) -> Any:
    measured, expected = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        session, worth = rng.integers(0, 4, 12), rng.permutation(12) / 12.0
        memory = told(
            specimen, tuple(f"S{s}" for s in session), tuple(worth), last=3, others=2, highlights=1
        )
        among = rng.random(12) < 0.7
        for row in np.flatnonzero(~among).tolist():
            memory.archive(row)
        own = int(session[np.flatnonzero(among)[-1]])
        measured.append(str([o.row for o in memory.offers("?", 100)[1]]))
        expected.append(str(said_last(session, worth, among, own, 3, 2, 1)))
    return measured, expected


@figure(
    "recency",
    caption="Recency by age: the printed form, and halving every 24 h, which its comment says",
    source="closed forms",
)
def recency_over_age(specimen: Any) -> Picture:
    ages = np.linspace(0.0, 96.0, 97)
    return Picture(
        "age (h)",
        "recency",
        tuple(
            Curve(name, ages, [specimen.decayed(float(a), 24.0, half) for a in ages])
            for name, half in (("exp(-a / 24 h)", False), ("2^(-a / 24 h)", True))
        ),
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("the bases are exchanged", rejected_by="RC-1")
def exchanged(specimen: Any) -> Any:
    original = specimen.decayed
    return specimen.replacing(
        "decayed", lambda age, span, halving: original(age, span, not halving)
    )


@mutant("the printed form is taken at its word", rejected_by="RC-2")
def at_its_word(specimen: Any) -> Any:
    return specimen.replacing("decayed", lambda age, span, halving: 2.0 ** (-age / span))


@mutant("values are not put on a scale", rejected_by="RC-3")
def unscaled(specimen: Any) -> Any:
    return specimen.replacing(
        "final_scores", lambda r, v, s, w: np.average([r, v, s], axis=0, weights=w)
    )


@mutant("the first events of the session", rejected_by="RC-4")
def first(specimen: Any) -> Any:
    original = specimen.recent
    return specimen.replacing(
        "recent",
        lambda session, importance, among, own, last, *rest: np.sort(
            original(session[::-1], importance[::-1], among[::-1], own, last, *rest)
        ),
    )


@mutant("the session of the asker is ignored", rejected_by="RC-5")
def sessionless(specimen: Any) -> Any:
    original = specimen.recent
    return specimen.replacing(
        "recent",
        lambda session, importance, among, own, *rest: original(
            session, importance, among, int(session[-1]), *rest
        ),
    )


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
    return specimen.replacing(
        "final_scores", lambda r, v, s, w: original(r, v, s, w) + 0.0 * np.sum(v)
    )


@mutant("importance counts in the printed sum", rejected_by="RC-9")
def by_importance(specimen: Any) -> Any:
    return specimen.replacing(
        "printed_scores",
        lambda recency, worth, weights: specimen.final_scores(recency, worth, worth, weights),
    )


@mutant("all rows of the memory are recent", rejected_by="RC-10")
def all_rows(specimen: Any) -> Any:
    original = specimen.recent
    return specimen.replacing(
        "recent",
        lambda session, importance, among, *rest: original(
            session, importance, np.ones_like(among), *rest
        ),
    )
