"""Explaining a place in a ranking: every signal of one memory, its part in the fused score, and the
rank after each stage.

The query is asked again with a retrieve plan of its own, so neither the memory nor its observer
sees the pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.tables import brief, html_table, text_table
from ..contract.ask import Ask
from ..contract.columns import Column, Facet, Phase
from ..contract.vocabulary import ANSWERABLE, FACET_WEIGHTS, FUSED, MATCH, VISIBLE
from ..flow.passes import undisturbed
from ..state.ranking import LONG, add_standardised, rank
from .assembly import Assembly


@dataclass(frozen=True, slots=True)
class SignalPart:
    """One signal for one memory.

    signal, facet  name of the signal's column, and its facet
    raw            score as the mechanism gave it; NaN: the signal is silent on this memory
    standardised   sd, (score - mean) / sd over the visible memories, NaN replaced by the signal's
                   floor; 0 if all are equal
    trust          the signal's weight times the query's factor on its facet
    contribution   trust / (sum of trusts) * standardised, the signal's part in the fused score; NaN
                   unless `Explanation.linear`
    """

    signal: str
    facet: Facet
    raw: float
    standardised: float
    trust: float
    contribution: float


@dataclass(frozen=True, slots=True)
class StageRank:
    """Score of a memory in one stage of the ranking, and its rank by it: from 1, ties by row, 0
    if it cannot be retrieved.
    """

    stage: str
    score: float
    rank: int


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why one memory is ranked where it is, for one query.

    row      of the memory
    text     verbatim
    signals  one part for each signal of the set
    stages   rank after each stage that a step of the set computes, in order; the last decides the
             answer
    linear   whether the fused scores of all visible memories equal the sums of their contributions,
             to a relative 1e-5.  If False, the fusion is not linear in the standardised signals
             (rank fusion, another normalisation, slopes that uses have taught), and contributions
             are NaN
    """

    row: int
    text: str
    signals: tuple[SignalPart, ...]
    stages: tuple[StageRank, ...]
    linear: bool

    def __repr__(self) -> str:
        note = (
            ""
            if self.linear
            else "\nno contributions: the fusion is not linear in the standardised signals"
        )
        return f"row {self.row}: {brief(self.text, LONG)!r}\n\n{text_table(_parts(self))}{note}\n\n{text_table(_ranks(self))}"

    def _repr_html_(self) -> str:
        (head, *parts), (stages, *ranks) = _parts(self), _ranks(self)
        return (
            html_table(["row", "text"], [[self.row, brief(self.text, LONG)]])
            + html_table(head, parts)
            + html_table(stages, ranks)
        )


def _parts(e: Explanation) -> list[tuple[str, ...]]:
    cells = [
        (
            p.signal,
            p.facet.name.lower(),
            *(f"{x:z.4f}" for x in (p.raw, p.standardised, p.trust, p.contribution)),
        )
        for p in e.signals
    ]
    return [("signal", "facet", "raw", "standardised", "trust", "contribution"), *cells]


def _ranks(e: Explanation) -> list[tuple[str, ...]]:
    return [
        ("stage", "score", "rank"),
        *((s.stage, f"{s.score:z.4f}", str(s.rank)) for s in e.stages),
    ]


def explained(assembly: Assembly, ask: Ask, rows: Sequence[int]) -> tuple[Explanation, ...]:
    """An explanation for each row.  Cost: one plan, one retrieval, O(n) for each signal, and
    O(n) for each row and stage.
    """
    store = assembly.store
    with undisturbed(store):
        assembly.plan(Phase.RETRIEVE).run(ask)
        visible, facets = store.read_only(VISIBLE), store.array(FACET_WEIGHTS)
        scores = {s: store.read_only(s) for s, _ in assembly.signals}
        trust = {s: weight * float(facets[s.facet.value]) for s, weight in assembly.signals}
        z = {s: _standardised(scores[s], visible, s.floor) for s in scores}
        fused = assembly.stages.source(FUSED)
        # as `gather` and as fusions count
        counted = [
            s for s in scores if trust[s] > 0 and (fused is not MATCH or (s.direct and z[s].any()))
        ]
        mixed = sum((trust[s] * z[s] for s in counted), np.zeros(len(visible)))
        unit = _unit(store.read_only(fused)[visible], mixed[visible])

        def part(s: Any, row: int) -> SignalPart:
            standardised = float(z[s][row])
            return SignalPart(
                s.name,
                s.facet,
                float(scores[s][row]),
                standardised,
                trust[s],
                np.nan if unit is None else unit * trust[s] * standardised if s in counted else 0.0,
            )

        def place(stage: Column, row: int) -> StageRank:
            final = store.array(stage)
            return StageRank(
                stage.name, float(final[row]), int(rank(final, store.array(ANSWERABLE), row))
            )

        return tuple(
            Explanation(
                row,
                assembly.event_log.text(row),
                tuple(part(s, row) for s in scores),
                tuple(place(s, row) for s in assembly.ranking),
                unit is not None,
            )
            for row in rows
        )


def _standardised(
    scores: NDArray[Any], visible: NDArray[np.bool_], floor: float
) -> NDArray[np.float32]:
    out = np.zeros(len(scores), dtype=np.float32)
    add_standardised(scores, visible, floor, 1.0, out)
    return out


def _unit(fused: NDArray[Any], mixed: NDArray[Any]) -> float | None:
    """By what the trust-weighted sum of the standardised signals is to be multiplied to give the
    fused scores: 1 / sum of trusts in convex fusion, a slope in others.  None if by no number above
    0; 1 if all are 0.
    """
    square = float(mixed @ mixed)
    unit = float(fused @ mixed) / square if square > 0.0 else 1.0
    return unit if unit > 0.0 and np.allclose(fused, unit * mixed, rtol=1e-5, atol=1e-5) else None
