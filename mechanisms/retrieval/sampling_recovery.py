"""Sampling and recovery: computes the probability that each memory is sampled and recovered with
the cues of the query, as in SAM.

In SAM, search of associative memory (Raaijmakers & Shiffrin 1981), a query has several cues: the
context, and items.  A memory is sampled in proportion to the product of its strengths to the cues,
so a memory related to all cues wins against a memory strongly related to one; a weighted sum does
not have this property.  A sampled memory is recovered with a probability given by the sum of its
strengths; after a failure it cannot be recovered with the same cues.  The more memories share a
cue, the less often each is sampled (list length, cue overload).  A recovered memory gains strength
to the cues; here every memory of an answer that may change memory does.

The cues of a text query are the context; the entities it names, with strength to memories that
mention them; and its other words, with the BM25 weight of the word in the memory as strength.  The
residual strength d is part of every strength to an item, and all of it for an unrelated one.  The
expected outcome of `draws` samples with replacement has a closed form, so no random numbers are
drawn.

Cost: O(n) for each cue of a query and
O(links of its entities); O(rows x entities) for learning from an answer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.base.numerics import exact_kernel, formula, read_only
from ...engine.contract.columns import Column, Facet, Phase, Scale, Scope, signal
from ...engine.contract.hooks import Cue, Mechanism, Params, hook
from ...engine.contract.vocabulary import GRAPH, LEXICON, RECALLED, STANDS_FOR
from ...engine.state.graph import EdgeType, entity_node
from ...engine.state.postings import Idf, terms_of

# smallest ln probability of the signal; such a memory is in effect never sampled
NEVER = -30.0

# --- columns --------------------------------------------------------------------------------------
CONTEXT_GAIN = Column(
    "context_gain",
    np.float64,
    Scope.MEMORY,
    "1",
    0.0,
    "strength to the context gained by recall",
    low=0,
)
CUE_GAIN = Column(
    "cue_gain",
    np.float64,
    Scope.EDGE,
    "1",
    0.0,
    "strength between an entity and a memory gained by recall with that cue",
    low=0,
)
CUE_MATCH = Column(
    "cue_match",
    np.float32,
    Scope.CANDIDATE,
    "1",
    0.0,
    "match of each memory with the current cue",
    low=0,
)
CUE_PRODUCT = Column(
    "cue_product",
    np.float64,
    Scope.CANDIDATE,
    "ln",
    0.0,
    "ln of the product of strengths, then the probability of being sampled",
)
CUE_SUM = Column(
    "cue_sum", np.float64, Scope.CANDIDATE, "1", 0.0, "weighted sum of strengths to the cues", low=0
)
RECALL_ODDS = signal(
    "recall_odds",
    Facet.WORDS,
    "ln of the probability of being sampled and recovered with the cues of the query",
    unit="ln",
    floor=NEVER,
    scale=Scale.SIMILARITY,
)


# --- equations ------------------------------------------------------------------------------------
@exact_kernel
def add_cue(
    match: Any, scale: float, residual: float, weight: float, product: Any, total: Any
) -> None:
    """Add one cue Q_j, with S(Q_j, i) = scale match_i + residual.  Raaijmakers & Shiffrin (1981),
    strengths and their weights.  Cost: O(n).

    match    (n,)  1   time of joint study with the cue; here the match of the memory with it; 0:
                       unrelated
    scale    ()    1   strength per unit of match: b for an item, 1 for the context, whose match is
                       its gain by recall
    residual ()    1   d of an item, the strength to an unrelated one; a of the context; 0:
                       unrelated memories are never sampled
    weight   ()    1   W_j; at 0 the cue changes nothing, 0^0 = 1
    product  (n,)  ln  sum_j W_j ln S(Q_j, i), added to
    total    (n,)  1   sum_j W_j S(Q_j, i), added to

    >>> product, total = np.zeros(2), np.zeros(2)
    >>> add_cue(np.array([2.0, 0.0]), 1.0, 0.5, 1.0, product, total)
    >>> np.exp(product).round(6).tolist(), total.tolist()
    ([2.5, 0.5], [2.5, 0.5])
    """
    alone = weight * math.log(residual) if residual > 0.0 else -np.inf if weight > 0.0 else 0.0
    # without a logarithm, so that the compiler uses vector instructions
    for i in range(match.shape[0]):
        total[i] += weight * (scale * match[i] + residual)
        product[i] = product[i] if match[i] > 0.0 else product[i] + alone
    for i in range(match.shape[0]):
        if match[i] > 0.0:
            s = scale * match[i] + residual
            product[i] += weight * math.log(s) if s > 0.0 else alone


@exact_kernel
def sampling(product: Any, visible: Any, out: Any) -> None:
    """P_S(i | Q) = prod_j S(Q_j, i)^W_j / sum_k prod_j S(Q_j, k)^W_j.  Raaijmakers & Shiffrin
    (1981), sampling.  Cost: O(n).

    product  (n,)  ln  sum_j W_j ln S(Q_j, i)
    visible  (n,)      bool, memories that can be sampled, or how many of them each row stands for,
                       see STANDS_FOR
    out      (n,)  1   written; may be `product`; all 0 if every product is 0

    >>> out = np.empty(3)
    >>> sampling(np.log(np.array([2.0, 1.0, 0.5])), np.ones(3, dtype=np.bool_), out)
    >>> out.round(7).tolist()
    [0.5714286, 0.2857143, 0.1428571]
    """
    top, total = -np.inf, 0.0
    for i in range(product.shape[0]):
        if visible[i] and product[i] > top:
            top = product[i]
    # of the exponential before: most memories match no cue and have the same product
    last, strength = np.nan, 0.0
    for i in range(product.shape[0]):
        if not (visible[i] and product[i] > -np.inf):
            out[i] = 0.0
            continue
        if product[i] != last:
            last, strength = product[i], math.exp(product[i] - top)
        out[i] = strength
        total += np.float64(visible[i]) * strength  # a count of float32 must not round the product
    if total > 0.0:
        for i in range(out.shape[0]):
            out[i] /= total


@formula
def recovery(total: float) -> float:
    """P_R(i | Q) = 1 - exp(-sum_j W_j S(Q_j, i)).  Raaijmakers & Shiffrin (1981), recovery.  Cost:
    O(1).

    >>> round(recovery(0.5), 7)
    0.3934693
    """
    return -math.expm1(-total)


@formula
def recalled(p_sample: float, p_recover: float, draws: float) -> float:
    """Probability of recall in `draws` samples with replacement: [1 - (1 - P_S)^draws] P_R.  Cost:
    O(1).

    Recovery is attempted at the first sampling only; with the same cues it would fail again
    (Raaijmakers & Shiffrin 1981).

    >>> recalled(0.5, 0.4, 1.0), round(recalled(0.5, 0.4, 1e3), 6), recalled(1.0, 0.4, 1.0)
    (0.2, 0.4, 0.4)
    """
    if p_sample >= 1.0:  # the only item of its list: ln 0 is no number in Python
        return p_recover
    return -math.expm1(draws * math.log1p(-p_sample)) * p_recover


@exact_kernel
def log_recall(sampled: Any, total: Any, cued: Any, draws: float, least: float, out: Any) -> None:
    """ln of the probability of recall, at least `least`, of memories that match an item cue; others
    are not written.  Cost: O(n).

    sampled, total  (n,)  1   P_S, and sum_j W_j S(Q_j, i)
    cued            (n,)      whether an item cue matches
    out             (n,)  ln  written
    """
    for i in range(out.shape[0]):
        if cued[i]:
            p = recalled(sampled[i], recovery(total[i]), draws)
            out[i] = max(math.log(p), least) if p > 0.0 else least


@formula
def mark(match: Any, cued: Any) -> None:
    """Set cued (n,) to true where match (n,) > 0.  Cost: O(n)."""
    cued |= match > 0.0


@exact_kernel
def linked(
    node: int, gain: Any, scale: float, start: Any, degree: Any, pool: Any, target: Any, match: Any
) -> None:
    """Match of an entity with the memories that mention it: one joint study plus the gain by
    recall.  Cost: O(n + links).

    gain                        (m,)  1  gain of strength on each link; `scale` is the strength of
                                         one study
    start, degree, pool, target          links of the entity nodes
    match                       (n,)  1  written
    """
    match[:] = 0.0
    for place in range(start[node], start[node] + degree[node]):
        edge = pool[place]
        if target[edge] >= 0:
            match[target[edge]] = 1.0 + gain[edge] / scale if scale > 0.0 else 1.0


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class SamplingRecoveryParams(Params):
    context_strength: float  # a
    item_strength: float  # b
    residual_strength: float  # d
    context_increment: float  # e
    item_increment: float  # f
    context_weight: float  # W of the context
    item_weight: float  # W of every other cue
    draws: int  # K_max
    most_cues: int
    weight: float


class SamplingRecovery(Mechanism[SamplingRecoveryParams]):
    owns = (CONTEXT_GAIN, CUE_GAIN, CUE_MATCH, CUE_PRODUCT, CUE_SUM, RECALL_ODDS)

    @hook(
        Phase.RETRIEVE,
        reads=(LEXICON, GRAPH, CONTEXT_GAIN, CUE_GAIN, STANDS_FOR),
        adds=(),
        sets=(CUE_MATCH, CUE_PRODUCT, CUE_SUM, RECALL_ODDS),
    )
    def search(self, view: Any, cue: Cue) -> None:
        """No score for memories that match no item cue."""
        p, graph, match = self.params, view.graph, view.cue_match
        entities = self.entities(graph, cue)
        named = {term for e in entities for term in terms_of(graph.entity_name(e))}
        words = [term for term in dict.fromkeys(cue.terms) if term not in named][
            : p.most_cues - len(entities)
        ]
        if not entities and not words:
            return
        product, total, cued = (
            view.cue_product,
            view.cue_sum,
            np.zeros(match.shape[0], dtype=np.bool_),
        )
        add_cue(view.context_gain, 1.0, p.context_strength, p.context_weight, product, total)
        links = graph.csr(EdgeType.ENTITY)
        for e in entities:
            linked(
                entity_node(e),
                view.cue_gain,
                p.item_strength,
                links.start,
                links.degree,
                links.pool,
                graph.target,
                match,
            )
            self._add_item_cue(match, product, total, cued)
        for word in words:
            view.lexicon.scores((word,), match, Idf.LUCENE.weight)
            self._add_item_cue(match, product, total, cued)
        sampling(product, view.stands_for, product)
        log_recall(product, total, cued, float(p.draws), NEVER, view.recall_odds)

    def _add_item_cue(self, match: Any, product: Any, total: Any, cued: Any) -> None:
        p = self.params
        add_cue(
            read_only(match.astype(np.float64)),  # as the gains of the context
            p.item_strength,
            p.residual_strength,
            p.item_weight,
            product,
            total,
        )
        mark(match, cued)

    @hook(Phase.RETRIEVE, reads=(RECALLED, GRAPH), adds=(), sets=(CONTEXT_GAIN, CUE_GAIN))
    def strengthen(self, view: Any, cue: Cue) -> None:
        """Recalled memories gain strength to the context and to the entities of the query."""
        p, graph, rows = self.params, view.graph, view.recalled
        view.context_gain[rows] += p.context_increment
        for e in self.entities(graph, cue):
            edges = [
                edge
                for row in rows
                if (edge := graph.find(entity_node(e), row, EdgeType.ENTITY)) is not None
            ]
            view.cue_gain[edges] += p.item_increment

    def entities(self, graph: Any, cue: Cue) -> list[int]:
        """The entities of the query that memories mention, at most `most_cues`."""
        known = (graph.entity_id(name) for name in cue.features.entities)
        return [e for e in known if e is not None][: self.params.most_cues]
