"""Evidence for stage_summaries: distances in stages by plain lists, and what a memory offers of
its summaries by hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...engine.contract.columns import Phase
from ...engine.contract.drafts import Draft, Kind
from ...engine.contract.records import Event, Only, Query
from ...engine.contract.vocabulary import (
    APART,
    BAN,
    DRAFTS,
    FOCUS,
    HIDE,
    KIND,
    MADE,
    OFFERED,
    RELEASED,
    ROW,
    STAGE,
)
from ...engine.memory.engine import Engine
from ..checks import adaptation, equation, limit, mutant
from ..figures import Curve, Picture, figure
from ..memory import memory_of, neighbour
from .shared import context_sources as shared
from .shared.views import Instead


@equation("SG-1", source="closed form")
def near_summaries_score_higher(specimen: Any) -> Any:
    return [specimen.nearness(float(d)) for d in range(8)], [1, 1 / 2, 1 / 3, 1 / 4, 1 / 5, 1 / 6,
        1 / 7, 1 / 8]  # fmt: skip


@equation(
    "SG-2",
    source="plain lists: places in the sorted list of stages, the later of two equally near ones first; 100 random talks",
)
def distances_are_counted_in_stages(specimen: Any) -> Any:
    measured, expected = [], []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        starts = np.sort(rng.choice(60, size=int(rng.integers(1, 9)), replace=False))
        stages = np.concatenate((starts, rng.choice(starts, size=6), [-1]))
        summaries = np.arange(starts.size, starts.size + 6)
        current, covered = (
            int(rng.choice([*starts, -1])),
            rng.choice(starts, size=int(rng.integers(0, 3))).tolist(),
        )
        rows, away = specimen.nearest_first(summaries, stages, current, covered)
        order = list(starts)
        at = order.index(current) if current >= 0 else len(order) - 1
        left = [row for row in summaries.tolist() if stages[row] not in covered]
        by_hand = sorted(
            left,
            key=lambda row: (abs(order.index(stages[row]) - at), -order.index(stages[row]), row),
        )
        measured.append(str((rows.tolist(), away.tolist())))
        expected.append(str((by_hand, [abs(order.index(stages[row]) - at) for row in by_hand])))
    return measured, expected


# --- in a memory ----------------------------------------------------------------------------------
def told(
    specimen: Any, focus: Sequence[int], offered: Sequence[int], scores: Any = None, *others: Any
) -> Engine:
    """Five stages of two events, rows 0 to 9, the last by STAGE; of the others a summary each,
    rows 10 to 13; row 14 is one without a stage.
    """

    def draft(view: Any, tick: Any) -> None:
        for stage in range(5):
            view.drafts.add(Draft(f"about stage {stage}", Kind.SUMMARY, (2 * stage, 2 * stage + 1)))

    def place(view: Any, tick: Any) -> None:
        for row, made in view.made:
            if made.sources[0] < 8:
                view.stage[row] = made.sources[0]

    def look(view: Any, cue: Any) -> None:
        view.focus[list(focus)] = 1.0

    def offer(view: Any, cue: Any) -> None:
        view.offered[list(offered)] += 1

    def rank(view: Any, cue: Any) -> None:
        view.released[...] = np.arange(len(view.released)) % 7 if scores is None else scores

    def stage_itself(view: Any, incoming: Any) -> None:
        view.stage[view.row] = 8 if view.row >= 8 else -1

    memory = memory_of(
        specimen,
        neighbour(Phase.ENCODE, stage_itself, reads=(ROW,), sets=(STAGE,), id="stage_itself"),
        neighbour(Phase.CONSOLIDATE, draft, adds=(DRAFTS,), id="draft"),
        neighbour(Phase.CONSOLIDATE, place, reads=(MADE,), sets=(STAGE,), id="place"),
        neighbour(Phase.RETRIEVE, look, sets=(FOCUS,), id="focus"),
        neighbour(Phase.RETRIEVE, offer, adds=(OFFERED,), id="offer"),
        neighbour(Phase.RETRIEVE, rank, sets=(RELEASED,), id="ranking"),
        *others,
    )
    for i in range(10):
        memory.encode(Event(float(i), f"event {i}", "", f"S{i // 2}", f"e{i}", dated=False))
    memory.advance(30.0)
    return memory


@adaptation(
    "SG-3",
    source="definition: summaries of stages that are not offered, the nearest to the focus first; score: nearness times relevance",
)
def a_memory_offers_the_nearest_summaries(specimen: Any) -> Any:
    memory = told(specimen, [4], [4, 1])
    memory.archive(13)
    _, offers = memory.offers("?", 100)
    other = told(specimen, [4], [4])
    lines = [
        f"{o.row} {o.section} {o.score} {o.kind} {o.source}"
        for o in (*offers, *other.offers("?", 100)[1])
    ]
    # rank of row mod 7, over 6
    expected = ((11, 0.5 * 4 / 6), (13, 0.5), (11, 0.5 * 4 / 6), (10, 1 / 3 * 3 / 6))
    return lines, [
        f"{row} Stage Summaries {score} summary stage_summaries" for row, score in expected
    ]


@adaptation(
    "SG-4",
    source="definition: without a focus the stage of the best match is the current one; row 6 of scores row mod 7; by hand",
)
def without_a_focus_the_best_match_decides(specimen: Any) -> Any:
    memory = told(specimen, [], [])
    return str(
        [(o.row, round(o.score, 4)) for o in memory.offers("?", 100)[1]]
    ), "[(13, 1.0), (12, 0.4167), (11, 0.2222), (10, 0.125)]"


@adaptation(
    "SG-11",
    source="definition: one vote keeps a summary out of answers and not out of contexts; a second, of a filter, does both; by hand",
)
def summaries_out_of_answers_are_offered(specimen: Any) -> Any:
    """Rows 10 and 11 have one vote and are kept for contexts, row 12 has a second vote, and row 13
    one that does not keep it for contexts.
    """

    def keep(view: Any, cue: Any) -> None:
        view.ban[[10, 11, 12, 12, 13]] = [1, 1, 2, 2, 1]
        view.apart[[10, 11, 12]] = 1

    keeper = neighbour(Phase.RETRIEVE, keep, adds=(BAN, APART), id="keep")
    memory = told(specimen, [4], [4], None, keeper)
    answered = memory.retrieve("?", k=20).rows
    offered = sorted(offer.row for offer in memory.offers("?", 100)[1])
    return str((offered, sorted(int(row) for row in answered if row >= 10))), "([10, 11], [14])"


@adaptation(
    "SG-12",
    source="definition: what a vote of a sleep hides is offered no more, and what stands in its place is; by hand",
)
def hidden_summaries_are_not_offered(specimen: Any) -> Any:
    """The second sleep makes rows 15 to 18, one a stage, and hides row 10; the third stage is
    offered.
    """

    def hide(view: Any, tick: Any) -> None:
        if len(view.kind) > 10:
            view.hide[10] += 1

    hider = neighbour(Phase.CONSOLIDATE, hide, reads=(KIND,), adds=(HIDE,), id="hide")
    memory = told(specimen, [4], [4], None, hider)
    before = sorted(offer.row for offer in memory.offers("?", 900)[1])
    memory.advance(60.0)
    after = sorted(offer.row for offer in memory.offers("?", 900)[1])
    return str((before, after)), "([10, 11, 13], [11, 13, 15, 16, 18])"


@limit(
    "SG-5",
    source="definition: it runs only if a context is asked for; without summaries it offers nothing",
)
def nothing_is_offered_without_summaries(specimen: Any) -> Any:
    memory = memory_of(specimen)
    empty = len(memory.offers("?", 100)[1])
    memory.encode(Event(0.0, "event", dated=False))
    return [empty, len(memory.offers("?", 100)[1])], [0, 0]


@adaptation(
    "SG-6",
    source="definition: as many of the nearest summaries as hold 1.25 times the budget, and the next one; by hand",
)
def summaries_are_offered_up_to_the_budget(specimen: Any) -> Any:
    """Each summary is "about stage i", 13 characters and 32 more: 11.25 tokens.  The focus
    begins in the second stage.
    """
    memory = told(specimen, [2, 8], [4])
    offered = [[o.row for o in memory.offers("?", budget)[1]] for budget in (8, 9, 17, 18)]
    return str(offered), "[[11], [11, 10], [11, 10], [11, 10, 13]]"


@adaptation(
    "SG-10",
    source="definition: the current stage is that of the best match that can be answered and has one, else the last; events with a "
    "stage of their own are no summaries; by hand",
)
def the_best_match_is_one_with_a_stage(specimen: Any) -> Any:
    """Best of all is row 14, which has no stage, and of the others row 5, which is archived, and
    with it row 12.  In the second nothing matches.  In the third row 5 is filtered, and with
    it row 12.
    """
    scores = np.arange(15) / 100.0
    scores[[14, 5, 1]] = 3.0, 2.0, 1.0
    first, none = told(specimen, [], [], scores), told(specimen, [], [], np.full(15, np.nan))
    third = told(specimen, [], [], scores)
    first.archive(5)
    asked = ((first, "?"), (none, "?"), (third, Query("?", only=Only(exclude=("e5",)))))
    return str(
        [[o.row for o in memory.offers(question, 100)[1]] for memory, question in asked]
    ), "[[10, 11, 13], [13, 12, 11, 10], [10, 11, 13]]"


stages_by_loops = adaptation("SG-7", source=shared.STAGES)(shared.stages_are_those_of_plain_loops)
one_scale = adaptation("SG-8", source=shared.SCALE, atol=1e-12)(shared.scores_are_put_on_one_scale)
estimated_tokens = adaptation("SG-9", source=shared.SIZES)(
    shared.tokens_are_estimated_by_characters
)


@figure(
    "nearness",
    caption="Score of a summary over the number of stages between its stage and the current one",
    source="closed form",
)
def nearness_over_distance(specimen: Any) -> Picture:
    x = np.arange(12)
    return Picture(
        "stages away",
        "score",
        (
            Curve("mechanism", x, [specimen.nearness(float(d)) for d in x]),
            Curve("1 / (1 + d)", x, 1 / (1 + x)),
        ),
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("half for each stage", rejected_by="SG-1")
def halving(specimen: Any) -> Any:
    return specimen.replacing("nearness", lambda stages: 0.5**stages)


@mutant("distances in rows", rejected_by="SG-2")
def in_rows(specimen: Any) -> Any:
    def nearest_first(summaries: Any, stages: Any, current: int, covered: Any) -> Any:
        rows = summaries[~np.isin(stages[summaries], covered)]
        away = np.abs(stages[rows] - current)
        order = np.lexsort((-stages[rows], away))
        return rows[order], away[order]

    return specimen.replacing("nearest_first", nearest_first)


@mutant("stages that are offered have a summary, too", rejected_by="SG-3")
def uncovered(specimen: Any) -> Any:
    original = specimen.nearest_first
    return specimen.replacing(
        "nearest_first",
        lambda summaries, stages, current, covered: original(summaries, stages, current, []),
    )


@mutant("scored by nearness alone", rejected_by="SG-3")
def near_alone(specimen: Any) -> Any:
    return specimen.replacing("on_scale", lambda scores, among, out: out.fill(1.0))


@mutant("a summary that is kept out of answers is offered to nobody", rejected_by="SG-11")
def nowhere(specimen: Any) -> Any:
    def offer(self: Any, view: Any, cue: Any) -> None:
        nothing_apart = Instead(view, apart=np.zeros_like(view.apart))
        specimen.StageSummaries.offer(self, nothing_apart, cue)

    return specimen.overriding("StageSummaries", offer=offer)


@mutant("a summary that a vote has hidden is offered", rejected_by="SG-12")
def hidden_too(specimen: Any) -> Any:
    def offer(self: Any, view: Any, cue: Any) -> None:
        shown = Instead(view, visible=np.ones_like(view.visible))
        specimen.StageSummaries.offer(self, shown, cue)

    return specimen.overriding("StageSummaries", offer=offer)


@mutant("without a focus the last stage is the current one", rejected_by="SG-4")
def last_stage(specimen: Any) -> Any:
    return specimen.replacing("best", lambda scores, among, k: np.empty(0, dtype=np.int64))


@mutant("events without a summary are offered", rejected_by="SG-5")
def events_too(specimen: Any) -> Any:
    def offer(self: Any, view: Any, cue: Any) -> None:
        specimen.StageSummaries.offer(self, view, cue)
        for row in range(len(view.kind)):
            view.offers.add(row, "Stage Summaries", 0.0)

    return specimen.overriding("StageSummaries", offer=offer)


late_stages, other_scale = shared.mutants(stages="SG-7", scale="SG-8")
