"""Evidence for own_stage: brute force over all sets, the bounds of greedy choice, and what a
memory offers of a stage by hand.
"""

from __future__ import annotations

from itertools import combinations
from math import fsum
from typing import Any

import numpy as np

from ...engine.contract.columns import Phase
from ...engine.contract.drafts import Draft, Kind
from ...engine.contract.records import Event
from ...engine.contract.vocabulary import (
    DRAFTS,
    FOCUS,
    KIND,
    OFFERED,
    RELEASED,
    ROW,
    SESSION,
    STAGE,
    VETO,
)
from ...engine.memory.engine import Engine
from ..checks import adaptation, at_least, equation, limit, mutant, signature
from ..figures import Curve, Picture, figure
from ..memory import memory_of, neighbour
from .shared import context_sources as shared
from .shared.scripts import giving
from .shared.views import Instead

# 1 - (1 - 1/k)^k, from the dossier of the collection
BOUNDS = {1: 1.0, 2: 0.75, 3: 0.7037037, 5: 0.67232, 10: 0.6513216}
ASSUMED = 1.0 - float(np.exp(-1.0))


def value(items: list[frozenset[str]], weight: dict[str, float], some: Any) -> float:
    # exact, since the order of a set of texts differs from process to process
    return fsum(weight[c] for c in frozenset[str]().union(*(items[j] for j in some)))


def taken(
    specimen: Any, items: list[Any], weight: dict[str, float], costs: Any, room: float
) -> list[int]:
    chosen: list[int] = specimen.chosen(
        specimen.Concepts.of(items, weight), np.asarray(costs, float), room
    ).tolist()
    return chosen


def optimum(
    items: list[frozenset[str]], weight: dict[str, float], costs: Any, room: float
) -> float:
    sets = (
        some for size in range(len(items) + 1) for some in combinations(range(len(items)), size)
    )
    return max(value(items, weight, some) for some in sets if sum(costs[j] for j in some) <= room)


def instances(number: int, seed: int) -> Any:
    """Random items of up to nine concepts, and their weights."""
    rng = np.random.default_rng(seed)
    for _ in range(number):
        items = [
            frozenset(f"c{c}" for c in range(9) if rng.random() < 0.3)
            for _ in range(int(rng.integers(2, 9)))
        ]
        yield rng, items, {f"c{c}": float(rng.integers(1, 10)) for c in range(9)}


@equation(
    "SB-1",
    source="sets A, B, C of the dossier: greedy takes A and B, value 5 of 6",
    papers=("nemhauser1978analysis",),
)
def greedy_choice_of_two(specimen: Any) -> Any:
    items = [frozenset("1234"), frozenset("125"), frozenset("346")]
    weight = dict.fromkeys("123456", 1.0)
    some = taken(specimen, items, weight, [1.0] * 3, 2.0)
    return [*some, value(items, weight, some), optimum(items, weight, [1.0] * 3, 2.0)], [
        0,
        1,
        5.0,
        6.0,
    ]


@limit(
    "SB-2",
    source="instances on which greedy choice of k reaches exactly 1 - (1 - 1/k)^k of the best value",
    atol=1e-5,
    papers=("nemhauser1978analysis",),
)
def the_bound_of_k_choices_is_reached(specimen: Any) -> Any:
    """Column i has parts of weight (1/k)(1 - 1/k)^j; item j < k holds part j of every column,
    which gains as much as a whole column would.
    """
    measured = []
    for k in BOUNDS:
        weight = {
            f"{i},{j}": (1 / k) * (1 - 1 / k) ** j * (1 + 1e-7) if j < k else (1 - 1 / k) ** k
            for i in range(k)
            for j in range(k + 1)
        }
        items = [frozenset(f"{i},{j}" for i in range(k)) for j in range(k)] + [
            frozenset(f"{i},{j}" for j in range(k + 1)) for i in range(k)
        ]
        some = taken(specimen, items, weight, [1.0] * (2 * k), float(k))
        measured.append(value(items, weight, some) / value(items, weight, range(k, 2 * k)))
    return measured, list(BOUNDS.values())


@equation(
    "SB-3",
    source="brute force over all sets of 200 instances: at least 1 - (1 - 1/k)^k of the best value",
    papers=("nemhauser1978analysis",),
)
def greedy_choice_is_near_the_best(specimen: Any) -> Any:
    margins = []
    for rng, items, weight in instances(200, 3):
        k = int(rng.integers(1, 5))
        best = optimum(items, weight, [1.0] * len(items), float(k))
        some = taken(specimen, items, weight, [1.0] * len(items), float(k))
        margins.append(value(items, weight, some) - (1 - (1 - 1 / k) ** k) * best)
        margins.append(k - len(some))
    return at_least(margins, -1e-9)


@equation(
    "SB-4",
    source="greedy choice by definition, in plain loops, by gain and by gain per cost: the better of the two; 200 instances",
    papers=("minoux1978accelerated", "leskovec2007cost"),
)
def lazy_choice_is_the_plain_one(specimen: Any) -> Any:
    measured, expected = [], []
    for rng, items, weight in instances(200, 4):
        costs, room = rng.integers(1, 6, len(items)).astype(float), float(rng.integers(1, 12))
        both = []
        for density in (False, True):
            some, left = list[int](), room
            while gains := [
                (
                    (value(items, weight, [*some, j]) - value(items, weight, some))
                    / (costs[j] if density else 1.0),
                    -j,
                )
                for j in range(len(items))
                if j not in some and costs[j] <= left
            ]:
                gain, j = max(gains)
                if gain <= 0.0:
                    break
                some.append(-j)
                left -= costs[-j]
            both.append(some)
        measured.append(taken(specimen, items, weight, costs, room))
        expected.append(sorted(both[value(items, weight, both[1]) > value(items, weight, both[0])]))
    return [str(choice) for choice in measured], [str(choice) for choice in expected]


@limit(
    "SB-5",
    source="definition: without room or without concepts nothing is chosen, and weights are never below 0",
)
def nothing_is_chosen_of_nothing(specimen: Any) -> Any:
    weights = [specimen.idf(float(h), 50.0) for h in range(51)]
    chosen = [
        taken(specimen, items, {"a": 1.0}, costs, room)
        for items, costs, room in (
            ([frozenset("a")], [1.0], 0.5),
            ([], [], 9.0),
            ([frozenset[str]()], [1.0], 9.0),
        )
    ]
    return [str(chosen), str(min(weights))], ["[[], [], []]", "0.0"]


@signature(
    "SB-6",
    source="definition: the copy of a chosen item gains nothing",
    papers=("krause2008robust",),
)
def a_copy_is_never_chosen(specimen: Any) -> Any:
    copies = 0
    for _, items, weight in instances(50, 6):
        some = taken(specimen, [*items, *items], weight, [1.0] * (2 * len(items)), 1e9)
        copies += len(some) - len({items[j % len(items)] for j in some})
    return copies == 0


@signature(
    "SB-7",
    source="cost 1 value 2 against cost 100 value 100 under 100; brute force over 200 instances: at least (1 - 1/e) / 2",
    papers=("leskovec2007cost",),
)
def a_budget_needs_both_greedy_choices(specimen: Any) -> Any:
    dense = taken(
        specimen, [frozenset("a"), frozenset("b")], {"a": 2.0, "b": 100.0}, [1.0, 100.0], 100.0
    )
    margins = []
    for rng, items, weight in instances(200, 7):
        costs, room = rng.integers(1, 9, len(items)).astype(float), float(rng.integers(1, 20))
        some = taken(specimen, items, weight, costs, room)
        margins += [
            value(items, weight, some) - 0.5 * ASSUMED * optimum(items, weight, costs, room),
            room - sum(costs[j] for j in some),
        ]
    return dense == [1] and min(margins) >= -1e-9


@equation("OS-1", source="closed form")
def rare_concepts_weigh_more(specimen: Any) -> Any:
    return [specimen.idf(float(h), 12.0) for h in range(13)], [
        np.log(13.0) - np.log(h + 1.0) for h in range(13)
    ]


@adaptation(
    "OS-2",
    source="concepts of two memories by hand: stems once each, entities marked; what more memories than events hold weighs 0",
)
def concepts_are_stems_and_entities(specimen: Any) -> Any:
    number = {"leak": 2, "#oslo": 1}
    concepts = specimen.concepts_of(
        ["The boats leak, the boat leaks", "Oslo leaks"],
        [[], ["oslo"]],
        lambda name: number.get(name, 5),
        5,
    )
    held = [concepts.start[1], concepts.start[2] - concepts.start[1]]
    # a row that the memory made is no event, and may hold the concept, too
    everywhere = specimen.concepts_of(["rain"], [[]], {"rain": 9}.get, 5)
    return [*held, *np.sort(concepts.weight), *everywhere.weight], [
        2,
        3,
        *np.log([6 / 6, 6 / 6, 6 / 3, 6 / 2]),
        0.0,
    ]


# --- in a memory ----------------------------------------------------------------------------------
STORY = (
    ("Monday", "the boat leaks near the mast"),
    ("Monday", "the boat leaks near the mast"),
    ("Monday", "tulips need rain"),
    ("Tuesday", "the boat was sold"),
    ("Monday", "ok"),
    ("Monday", "the boat has a mast"),
)


def told(specimen: Any, *others: Any, **values: Any) -> Engine:
    """A memory of the story, ranked by the scores of `ranking`."""
    memory = memory_of(specimen, *others, **values)
    for i, (session, text) in enumerate(STORY):
        memory.encode(Event(float(i), text, "", session, f"e{i}", dated=False))
    return memory


def ranking(*scores: float) -> Any:
    return giving(Phase.RETRIEVE, RELEASED, scores)


@adaptation(
    "OS-3",
    source="definition: the stage of the best match; the best one, what covers most beside it under half of the tokens, then "
    "the rest by rank; by hand",
)
def a_memory_offers_what_covers_its_stage(specimen: Any) -> Any:
    """31.6 of 63.25 tokens, of which row 1 takes 15 and row 2 takes 12: rows 0 and 5 hold
    nothing that row 1 does not, and row 2 more than row 4.
    """
    memory = told(specimen, ranking(0.8, 1.0, 0.1, 0.9, 0.2, 0.7), share=30.0)
    _, offers = memory.offers("?", 100)
    lines = [f"{o.row} {o.section} {o.score:.4f} {o.kind} {o.source}" for o in offers]
    order = ((1, 1.0), (2, 0.0), (0, 7 / 9), (5, 6 / 9), (4, 1 / 9))
    marks = [str(memory.column(column).tolist()) for column in (FOCUS, OFFERED)]
    return [*lines, *marks], [
        *(f"{row} Current Stage Context {score:.4f} semantic own_stage" for row, score in order),
        "[0.0, 1.0, 1.0, 0.0, 0.0, 0.0]",
        "[0, 1, 1, 0, 0, 0]",
    ]


@adaptation(
    "OS-4",
    source="definition: the asker's session, its latest stage; archived and banned memories are not offered; by hand",
)
def the_session_of_the_asker_decides(specimen: Any) -> Any:
    def place(view: Any, incoming: Any) -> None:
        view.stage[view.row] = (0, 0, 2, 3, 4, 4)[view.row]

    # rows 1 and 4 take 23.5 of 25.25 tokens
    memory = told(specimen, ranking(0.8, 1.0, 0.1, 0.9, 0.2, 0.7), share=60.0)
    staged = told(
        specimen,
        ranking(0.8, 1.0, 0.1, 0.9, 0.2, 0.7),
        neighbour(Phase.ENCODE, place, reads=(ROW,), sets=(STAGE,)),
        share=60.0,
    )
    for life in (memory, staged):
        life.archive(5)
    offered = [
        [o.row for o in life.offers("?", 60, session=session)[1]]
        for life in (memory, staged)
        for session in ("Tuesday", "Monday", None, "?")
    ]
    return str(offered), "[[3], [1, 4, 0, 2], [1, 4, 0, 2], [1, 4, 0, 2], [3], [4], [1, 0], [1, 0]]"


@limit(
    "OS-5",
    source="definition: it runs only if a context is asked for, and an empty memory offers nothing; the first level is offered whole",
)
def nothing_is_offered_unless_a_context_is_asked_for(specimen: Any) -> Any:
    memory = told(specimen, ranking(*[0.5] * 6))
    memory.retrieve("boat")
    before = memory.column(FOCUS).tolist()
    empty = memory_of(specimen)
    zero = [o.row for o in memory.offers("?", 0)[1]]
    return str((before, len(empty.offers("?", 100)[1]), zero)), str(([0.0] * 6, 0, [0, 2, 1, 4, 5]))


@adaptation(
    "OS-6",
    source="definition in plain lists, coverage by brute force with the tests of `chosen`: 40 random talks of up to 60 memories; "
    "levels of the stage if the asker's session names it, else of the whole memory; as many whole levels as hold 1.25 times the budget",
)
def stages_are_offered_level_by_level(specimen: Any) -> Any:
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(20, 60))
        scores, sessions, sizes = (
            rng.permutation(n).astype(float),
            rng.integers(0, 2, n),
            rng.integers(10, 130, n),
        )
        memory = memory_of(specimen, ranking(*scores))
        for i in range(n):
            memory.encode(
                Event(
                    float(i),
                    f"w{i} {'x' * (4 * int(sizes[i]) - 33 - len(str(i)) - 1)}",
                    "",
                    f"S{sessions[i]}",
                    f"e{i}",
                    dated=False,
                )
            )
        tokens = [float(sizes[i]) if sizes[i] < 128 else 128.0 for i in range(n)]
        ranked = sorted(range(n), key=lambda row: -scores[row])
        own = int(rng.integers(0, 2)) if seed % 2 else int(sessions[ranked[0]])
        among = [row for row in ranked if not seed % 2 or sessions[row] == own]
        level, before = {}, 0.0
        for row in among:
            level[row] = next(k for k in range(20) if before < 512.0 * 2**k)
            before += tokens[row]
        rows, budget, before = (
            [row for row in among if sessions[row] == own],
            int(rng.integers(1, 1200)),
            0.0,
        )
        last = rows[-1]
        for row in rows:
            before += tokens[row]
            if before > 1.25 * budget:
                last = row
                break
        offered = [
            o.row for o in memory.offers("?", budget, session=f"S{own}" if seed % 2 else None)[1]
        ]
        rows = [row for row in rows if level[row] <= level[last]]
        levels = [level[row] for row in offered]
        shown = np.flatnonzero(memory.column(FOCUS)).tolist()
        half = sum(tokens[row] for row in rows if level[row] == level[rows[0]]) / 2.0
        measured = (
            sorted(offered),
            levels,
            offered[0],
            bool(memory.column(OFFERED)[shown].all()),
            {level[row] for row in shown},
            max(0.0, sum(tokens[row] for row in shown) - max(half, tokens[rows[0]])),
        )
        expected = (sorted(rows), sorted(levels), rows[0], True, {level[rows[0]]}, 0.0)
        yield list(map(str, measured)), list(map(str, expected))


@adaptation(
    "OS-7",
    source="plain loops over 300 random talks: the latest row with a stage of the asker's session, else the best match with one",
)
def the_current_stage_by_plain_loops(specimen: Any) -> Any:
    rng, measured, expected = np.random.default_rng(5), [], []
    for n in rng.integers(0, 7, 300).tolist():
        stages, session, scores = (
            rng.integers(-1, 3, n),
            rng.integers(-1, 3, n),
            rng.permutation(n).astype(float),
        )
        scores[rng.random(n) < 0.2] = np.nan
        answerable, asker = rng.random(n) < 0.7, int(rng.integers(-1, 3))
        own = [row for row in range(n) if asker >= 0 and session[row] == asker and stages[row] >= 0]
        matches = [
            row
            for row in range(n)
            if answerable[row] and stages[row] >= 0 and not np.isnan(scores[row])
        ]
        rows = own[-1:] or sorted(matches, key=lambda row: -scores[row])
        expected.append(int(stages[rows[0]]) if rows else -1)
        measured.append(specimen.current_stage(stages, session, asker, scores, answerable))
    return measured, expected


TOLD = (
    "They say Ada met Bo in Rome.",
    "They say Ada met Bo in May.",
    "They say Bo met in Oslo.",
    "They say Cy met in Oslo.",
)
NAMED = (["ada", "bo", "rome"], ["ada", "bo"], ["bo", "oslo"], ["cy", "oslo"])


@adaptation(
    "OS-8",
    source="definition: the stems and entities of each memory, and how many events hold each, counted by hand",
)
def a_memory_counts_who_holds_a_concept(specimen: Any) -> Any:
    seen = []

    def watched(texts: Any, entities: Any, held: Any, n: int) -> Any:
        counts = {
            name: int(held(name))
            for name in ("sai", "bo", "mai", "#ada", "#bo", "#cy", "#oslo", "#rome")
        }
        seen.append(str((list(texts), [list(names) for names in entities], counts, n)))
        return original(texts, entities, held, n)

    original = specimen.concepts_of
    memory = memory_of(specimen.replacing("concepts_of", watched), ranking(1.0, 4.0, 2.0, 3.0))
    for i, text in enumerate(TOLD):
        memory.encode(Event(float(i), text, "Zoe", "Monday", f"e{i}", dated=False))
    memory.offers("?", 600)
    order = (1, 3, 2, 0)
    counts = {"sai": 4, "bo": 3, "mai": 1, "#ada": 2, "#bo": 3, "#cy": 1, "#oslo": 2, "#rome": 1}
    return seen, [str(([TOLD[row] for row in order], [NAMED[row] for row in order], counts, 4))]


@adaptation(
    "OS-12",
    source="definition: a session of which nothing is stored names no stage, so the best match decides; marks are added to",
)
def a_session_without_memories_names_no_stage(specimen: Any) -> Any:
    def refuse(view: Any, incoming: Any) -> None:
        view.veto += int(incoming.event.session == "Sunday")

    def offer(view: Any, cue: Any) -> None:
        view.offered[...] += 2

    memory = told(
        specimen,
        ranking(0.8, 1.0, 0.1, 0.9, 0.2, 0.7),
        neighbour(Phase.ENCODE, refuse, adds=(VETO,), id="refuse"),
        neighbour(Phase.RETRIEVE, offer, adds=(OFFERED,), id="offer"),
        share=60.0,
    )
    memory.encode(Event(9.0, "nothing of note", "", "Sunday", "e9", dated=False))
    rows = [o.row for o in memory.offers("?", 30, session="Sunday")[1]]
    silent = told(specimen, ranking(*[np.nan] * 6))
    return str((rows, memory.column(OFFERED).tolist(), len(silent.offers("?", 30)[1]))), str(
        ([1, 2, 0, 5, 4], [2, 3, 3, 2, 2, 2], 0)
    )


@adaptation(
    "OS-15",
    source="definition: the 400 best matches are looked at, however large the budget is; 403 memories by their scores",
)
def the_best_matches_alone_are_looked_at(specimen: Any) -> Any:
    scores = np.random.default_rng(15).permutation(403).astype(float)
    memory = memory_of(specimen, ranking(*scores))
    for i in range(403):
        memory.encode(Event(float(i), f"w{i}", "", "Monday", f"e{i}", dated=False))
    rows = sorted(o.row for o in memory.offers("?", 10_000)[1])
    return str(rows), str([row for row in range(403) if scores[row] >= 3.0])


stages_by_loops = adaptation("OS-9", source=shared.STAGES)(shared.stages_are_those_of_plain_loops)
one_scale = adaptation("OS-10", source=shared.SCALE, atol=1e-12)(shared.scores_are_put_on_one_scale)
estimated_tokens = adaptation("OS-11", source=shared.SIZES)(
    shared.tokens_are_estimated_by_characters
)
levels_by_tokens = adaptation("OS-13", source=shared.LEVELS)(shared.levels_by_doubling)


@adaptation(
    "OS-14",
    source="definition: rows of all kinds but summaries are offered, with scores on the scale of all rows; by hand",
    rtol=1e-6,
)
def parts_and_units_are_offered_and_summaries_are_not(specimen: Any) -> Any:
    def draft(view: Any, tick: Any) -> None:
        if len(view.kind) == 2:
            for kind in (Kind.SEGMENT, Kind.BUNDLE, Kind.SUMMARY):
                session = int(view.session[0])
                text = "the boat" if kind is Kind.SUMMARY else "the boat leaks"
                view.drafts.add(Draft(text, kind, (0,), session=session))

    maker = neighbour(Phase.CONSOLIDATE, draft, reads=(KIND, SESSION), adds=(DRAFTS,), id="maker")
    memory = memory_of(specimen, "dense_similarity", maker, consolidate_every=24.0)
    for hour, text in enumerate(("the boat leaks near the mast", "tulips need rain")):
        memory.encode(Event(float(hour), text, "", "Monday", f"e{hour}", dated=False))
    memory.advance(30.0)
    made = memory.column(KIND).tolist()
    offered = {o.row: o.score for o in memory.offers("the boat", 900, session="Monday")[1]}
    # the summary is the best match
    released = memory.column(RELEASED).astype(float)
    scale = (released - released.min()) / (released[4] - released.min())
    return [*made, *sorted(offered), *(offered.get(row, -1.0) for row in range(4))], [
        *(0, 0, 1, 2, 3),
        *(0, 1, 2, 3),
        *scale[:4],
    ]


@adaptation(
    "OS-16",
    source="definition: the focus is on the first level in which the stage has a memory, also where rows without a stage fill "
    "those before it; by hand",
)
def the_focus_is_on_the_first_level_of_the_stage(specimen: Any) -> Any:
    """Five bundles of 128 tokens, which belong to no stage, are better matches than the event."""

    def draft(view: Any, tick: Any) -> None:
        for number in range(5 if len(view.kind) == 1 else 0):
            view.drafts.add(Draft(f"{number} {'x' * 600}", Kind.BUNDLE, (0,)))

    maker = neighbour(Phase.CONSOLIDATE, draft, reads=(KIND,), adds=(DRAFTS,), id="maker")
    memory = memory_of(specimen, ranking(0.1, *[0.9] * 5), maker, consolidate_every=24.0)
    memory.encode(Event(0.0, "the boat leaks", "", "Monday", "e0", dated=False))
    memory.advance(30.0)
    offered = [o.row for o in memory.offers("?", 900)[1]]
    marks = [memory.column(column).tolist() for column in (FOCUS, OFFERED)]
    return str((offered, *marks)), str(([0], [1.0, *[0.0] * 5], [1, *[0] * 5]))


@figure(
    "shares_of_the_best",
    caption="Greedy choice against the best set, 200 instances of up to eight items, k of them chosen, in ascending order "
    "of their share of the best value",
    source="brute force over all sets; the line is 1 - 1/e",
)
def shares_of_the_best_value(specimen: Any) -> Picture:
    shares = []
    for rng, items, weight in instances(200, 3):
        k = int(rng.integers(1, 5))
        best = optimum(items, weight, [1.0] * len(items), float(k))
        shares.append(
            value(items, weight, taken(specimen, items, weight, [1.0] * len(items), float(k)))
            / best
            if best
            else 1.0
        )
    x = np.arange(len(shares))
    bound = Curve("1 - 1/e", x, np.full(len(shares), ASSUMED))
    return Picture(
        "instance", "share of the best value", (Curve("mechanism", x, np.sort(shares)), bound)
    )


# --- mutants --------------------------------------------------------------------------------------
def choosing(specimen: Any, rule: Any) -> Any:
    return specimen.replacing(
        "chosen",
        lambda concepts, tokens, room, given=(): np.array(
            rule(concepts, tokens, room), dtype=np.int64
        ),
    )


def held(concepts: Any, j: int) -> set[int]:
    return set(concepts.concept[concepts.start[j] : concepts.start[j + 1]].tolist())


@mutant("the last items that fit", rejected_by="SB-1")
def last(specimen: Any) -> Any:
    return choosing(
        specimen,
        lambda concepts, tokens, room: range(max(0, len(concepts) - int(room)), len(concepts)),
    )


@mutant("one item", rejected_by="SB-3")
def single(specimen: Any) -> Any:
    original = specimen.chosen
    return choosing(specimen, lambda concepts, tokens, room: original(concepts, tokens, room)[:1])


@mutant("one item less than fits", rejected_by="SB-2")
def one_less(specimen: Any) -> Any:
    original = specimen.chosen
    return choosing(specimen, lambda concepts, tokens, room: original(concepts, tokens, room - 1.0))


@mutant("by gain alone", rejected_by="SB-4")
def by_gain(specimen: Any) -> Any:
    def rule(concepts: Any, tokens: Any, room: float) -> list[int]:
        some, covered, left = list[int](), set[int](), room
        while gains := [
            (sum(concepts.weight[c] for c in held(concepts, j) - covered), -j)
            for j in range(len(concepts))
            if j not in some and tokens[j] <= left
        ]:
            gain, j = max(gains)
            if gain <= 0.0:
                break
            some.append(-j)
            covered |= held(concepts, -j)
            left -= tokens[-j]
        return sorted(some)

    return choosing(specimen, rule)


@mutant("the first item always", rejected_by="SB-5")
def always_one(specimen: Any) -> Any:
    original = specimen.chosen
    return choosing(
        specimen,
        lambda concepts, tokens, room: (
            sorted({0, *original(concepts, tokens, room).tolist()}) if len(concepts) else []
        ),
    )


@mutant("all items that fit", rejected_by="SB-6")
def all_that_fit(specimen: Any) -> Any:
    return choosing(
        specimen, lambda concepts, tokens, room: np.flatnonzero(np.cumsum(tokens) <= room)
    )


@mutant("by gain per token alone", rejected_by="SB-7")
def by_density(specimen: Any) -> Any:
    def rule(concepts: Any, tokens: Any, room: float) -> list[int]:
        order = sorted(
            range(len(concepts)),
            key=lambda j: -sum(concepts.weight[c] for c in held(concepts, j)) / tokens[j],
        )
        some, left = [], room
        for j in order:
            if tokens[j] <= left:
                some.append(j)
                left -= tokens[j]
        return sorted(some)

    return choosing(specimen, rule)


@mutant("the logarithm of the sum", rejected_by="OS-1")
def unsmoothed(specimen: Any) -> Any:
    return specimen.replacing("idf", lambda h, n: float(np.log(n / max(h, 1.0))))


@mutant("entities are no concepts", rejected_by="OS-2")
def stems_alone(specimen: Any) -> Any:
    original = specimen.concepts_of
    return specimen.replacing(
        "concepts_of",
        lambda texts, entities, held, n: original(texts, [[] for _ in texts], held, n),
    )


@mutant("the best matches without regard to what they cover", rejected_by="OS-3")
def best_matches(specimen: Any) -> Any:
    return choosing(
        specimen, lambda concepts, tokens, room: np.flatnonzero(np.cumsum(tokens) <= room)
    )


@mutant("the stage of the best match always", rejected_by="OS-4")
def best_match(specimen: Any) -> Any:
    original = specimen.current_stage
    return specimen.replacing(
        "current_stage", lambda stages, session, asker, *rest: original(stages, session, -1, *rest)
    )


@mutant("memories far down the ranking are offered as if they were near", rejected_by="OS-6")
def far(specimen: Any) -> Any:
    return specimen.replacing("levels", lambda tokens: np.zeros(len(tokens), dtype=np.int64))


@mutant("events alone are offered", rejected_by="OS-14")
def events_alone(specimen: Any) -> Any:
    def offer(self: Any, view: Any, cue: Any) -> None:
        summaries = Instead(view, kind=np.where(view.kind == 0, 0, int(Kind.SUMMARY)))
        specimen.OwnStage.offer(self, summaries, cue)

    return specimen.overriding("OwnStage", offer=offer)


@mutant("it offers a text of its own, also in an empty memory", rejected_by="OS-5")
def own_text(specimen: Any) -> Any:
    def offer(self: Any, view: Any, cue: Any) -> None:
        view.offers.add("nothing", "Current Stage Context", 0.0)

    return specimen.overriding("OwnStage", offer=offer)


@mutant(
    "nothing has the focus where rows without a stage fill the first level", rejected_by="OS-16"
)
def first_level(specimen: Any) -> Any:
    original = specimen.by_level

    def by_level(concepts: Any, tokens: Any, level: Any) -> Any:
        order, taken = original(concepts, tokens, level)
        return order, [place for place in taken if level[place] == 0]

    return specimen.replacing("by_level", by_level)


@mutant("every match is looked at", rejected_by="OS-15")
def every_match(specimen: Any) -> Any:
    return specimen.replacing("MOST", 10_000)


late_stages, other_scale = shared.mutants(stages="OS-9", scale="OS-10")
