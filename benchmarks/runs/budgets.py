"""Evidence against tokens over the budgets of All-Mem's retrieval (4.3): K anchors, L candidates,
and the k memories that are shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from statistics import fmean
from typing import Final

from ...engine.arms.variants import Variants
from ...engine.base.errors import InputError
from ...engine.catalogue.registry import MechanismSet, Registry
from ...engine.context.tokens import counter
from ...engine.contract.records import Query
from ...engine.ports.embedder import Embedder
from ...mechanisms.retrieval.typed_expansion import TypedExpansion
from ..datasets import Dataset
from ..execution.folder import RunFolder
from ..reports.chart import line_chart
from .topology import chosen_arm, lived

ANCHORS: Final = (5, 10, 20)
CANDIDATES: Final = (20, 40, 80)
SHOWN: Final = (1, 3, 5, 10, 20)


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
    chosen, ids = chosen_arm(run, arm, conversation)
    pairs = [(K, L) for K, L in product(anchors, candidates) if K <= L]
    tokens: dict[tuple[int, int, int], list[float]] = {}
    recall: dict[tuple[int, int, int], list[float]] = {}
    count = counter(embedder)
    for id in ids:
        cell = run.cell(chosen, id, data)
        spec = MechanismSet(cell.spec.set, "", cell.spec.mechanisms)
        if not any(isinstance(m, TypedExpansion) for m in registry.build(spec)):
            raise InputError(
                "the arm has no typed_expansion, whose budgets would be varied",
                where=f"{run.path}, arm {chosen}",
                cure="choose an arm of a set such as all_mem",
            )
        with closing(lived(run, chosen, id, data, registry, embedder, None)) as memory:
            engine, variants = memory.engine, Variants(memory.engine)
            arms = variants.parameter_arms([
                variants.plan_for(registry.build(spec.overridden(
                    {"typed_expansion": {"anchors": K, "candidates": L}})))
                for K, L in pairs
            ])  # fmt: skip
            size = cache(lambda row, of=engine: count.tokens(of.unit(row).text))
            for question in cell.conversation.questions:
                if not question.gold:
                    continue
                engine.advance(max(question.time, engine.now))
                query = Query(question.text, engine.now)
                answers = variants.retrieve_each(query, max(shown), arms)
                for (K, L), answer in zip(pairs, answers, strict=True):
                    rows = answer.rows.tolist()
                    for k in shown:
                        events = {event for row in rows[:k] for event in engine.unit(row).events}
                        triple = K, L, k
                        tokens.setdefault(triple, []).append(sum(map(size, rows[:k])))
                        share = len(events & set(question.gold)) / len(question.gold)
                        recall.setdefault(triple, []).append(share)
    if not tokens:
        raise InputError(
            "no question has gold", where=str(run.path), cure="choose data with known evidence"
        )
    return pareto([BudgetPoint(*t, fmean(tokens[t]), fmean(recall[t])) for t in tokens])


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

    curves: Mapping[str, list[tuple[float, float, str]]] = {
        "no triple has more recall for its tokens": [spot(p) for p in points if p.best]
    }
    rest = [spot(p) for p in points if not p.best]
    return line_chart(
        "Evidence against tokens over K, L, k", "tokens of evidence", curves, rest, most=1.0
    )
