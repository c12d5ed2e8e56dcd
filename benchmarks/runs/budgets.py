"""Evidence against tokens over the budgets of All-Mem's retrieval (4.3): K anchors, L candidates,
and the k memories that are shown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from statistics import fmean
from typing import Final

from ...engine.arms.variants import Variants
from ...engine.base.errors import InputError
from ...engine.catalogue.registry import MechanismSet, Registry
from ...engine.context.tokens import TokenCounter, counter
from ...engine.contract.records import Query
from ...engine.memory.engine import Engine
from ...engine.ports.embedder import Embedder
from ..datasets import Dataset
from ..execution.cells import Cell
from ..execution.folder import RunFolder
from ..reports.chart import line_chart
from .rebuilding import chosen_cells, lived

ANCHORS: Final = (5, 10, 20)
CANDIDATES: Final = (20, 40, 80)
SHOWN: Final = (1, 3, 5, 10, 20)
Triple = tuple[int, int, int]  # K, L, k


@dataclass(frozen=True, slots=True)
class BudgetPoint:
    """What one triple of budgets gives.

    anchors, candidates, shown  K, L, k
    tokens                      mean tokens of the texts of the first k memories
    recall                      mean share of the gold events that these show
    best                        whether no other triple has as much recall with fewer tokens: the
                                Pareto set
    """

    anchors: int
    candidates: int
    shown: int
    tokens: float
    recall: float
    best: bool = False


def budgets(
    run: RunFolder,
    data: Dataset,
    registry: Registry,
    embedder: Embedder,
    *,
    arm: str | None = None,
    conversation: str | None = None,
    anchors: Sequence[int] = ANCHORS,
    candidates: Sequence[int] = CANDIDATES,
    shown: Sequence[int] = SHOWN,
) -> tuple[BudgetPoint, ...]:
    """All triples with at least as many candidates as anchors, by tokens.

    Each memory is lived once and asked with every pair (K, L), as it stands at the end.  Questions
    without gold are left out.  Tokens are those of the model of the run, or four characters each.

    Cost: one encoding of each conversation, and a question for each pair.  Raises InputError for
    an arm without `typed_expansion`, and if no question has gold.
    """
    pairs = [(K, L) for K, L in product(anchors, candidates) if K <= L]
    count = counter(embedder)
    outcomes = defaultdict[Triple, list[tuple[float, float]]](list)
    for cell in chosen_cells(run, data, arm, conversation):
        if "typed_expansion" not in cell.spec.mechanisms:
            raise InputError(
                "the arm has no typed_expansion, whose budgets would be varied",
                where=f"{run.path}, arm {run.arm(arm)}",
                cure="choose an arm of a set such as all_mem",
            )
        with closing(lived(run, cell, registry, embedder)) as memory:
            for triple, tokens, recall in _asked(
                memory.engine, count, cell, registry, pairs, shown
            ):
                outcomes[triple].append((tokens, recall))
    if not outcomes:
        raise InputError(
            "no question has gold", where=str(run.path), cure="choose data with known evidence"
        )
    return pareto([
        BudgetPoint(*triple, fmean(t for t, _ in measured), fmean(r for _, r in measured))
        for triple, measured in outcomes.items()
    ])  # fmt: skip


def _asked(
    engine: Engine,
    count: TokenCounter,
    cell: Cell,
    registry: Registry,
    pairs: Sequence[tuple[int, int]],
    shown: Sequence[int],
) -> Iterator[tuple[Triple, float, float]]:
    """Tokens and recall of each question with gold, by each triple."""
    variants = Variants(engine)
    chosen = MechanismSet(cell.spec.set, "", cell.spec.mechanisms)
    arms = variants.parameter_arms([
        variants.plan_for(registry.build(chosen.overridden(
            {"typed_expansion": {"anchors": K, "candidates": L}})))
        for K, L in pairs
    ])  # fmt: skip
    size = cache(lambda row: count.tokens(engine.unit(row).text))
    for question in cell.conversation.questions:
        if not question.gold:
            continue
        engine.advance(max(question.time, engine.now))
        answers = variants.retrieve_each(Query(question.text, engine.now), max(shown), arms)
        for (K, L), answer in zip(pairs, answers, strict=True):
            rows = answer.rows.tolist()
            for k in shown:
                events = {event for row in rows[:k] for event in engine.unit(row).events}
                recall = len(events & set(question.gold)) / len(question.gold)
                yield (K, L, k), sum(map(size, rows[:k])), recall


def pareto(points: Sequence[BudgetPoint]) -> tuple[BudgetPoint, ...]:
    """The points by tokens, each marked if none has as much recall with fewer tokens, nor more
    with as many.
    """
    marked, most = [], -1.0
    for point in sorted(points, key=lambda p: (p.tokens, -p.recall, p.anchors, p.candidates)):
        best = point.recall > most
        marked.append(replace(point, best=best))
        most = max(most, point.recall)
    return tuple(marked)


def to_svg(points: Sequence[BudgetPoint]) -> str:
    """Recall over tokens: the Pareto set as a curve, the other points as dots."""

    def spot(p: BudgetPoint) -> tuple[float, float, str]:
        said = f"K {p.anchors}, L {p.candidates}, k {p.shown}: recall {p.recall:.3f}, {p.tokens:,.0f} tokens"
        return p.tokens, p.recall, said

    curves = {"no triple has more recall for its tokens": [spot(p) for p in points if p.best]}
    rest = [spot(p) for p in points if not p.best]
    return line_chart(
        "Evidence against tokens over K, L, k", "tokens of evidence", curves, rest, most=1.0
    )
