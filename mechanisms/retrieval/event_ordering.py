"""Event ordering: answers a question about an order or a course of events with memories that cover
its parts, and a summary with whole exchanges.

Such a question ("in what order", "timeline of", "how did it change over time") needs one memory for
each part of the story; the ranking gives several for the part that matches best.  Among the best
candidates, those are chosen that together cover all of them, in meaning and in time. Coverage is
the facility location function, which summarisation maximises, too (Lin & Bilmes 2011):

    F(S) = sum_i max_{j in S} a_ij,    a_ij = r_i r_j max(0, cos(v_i, v_j)) exp(-|t_i - t_j| /
                                       width)

with r the relevance of a candidate, its score above the least of the candidates; its unit does not
affect the choice.  F is submodular, monotone and 0 for the empty set, so greedy choice reaches at
least 1 - 1/e of the best value (Nemhauser, Wolsey & Fisher 1978).  A gain of an earlier step bounds
the present one from above, so most gains need no evaluation (Minoux 1978).  The chosen memories are
ranked above all others in the order of their choice.

A request and its reply, of a user and an assistant, tell of one part, as the reply says the request
again.  So of both the one that matches better is a candidate, and the other one takes no place of
another part.

A summary wants what was said about its subject by both sides, and as much of it as there is, so
nothing is left out because another memory tells of the same part.  A request and its reply are
about the same subject, though often one of them has its words alone.  So each counts for the other:
the score of both is s_i' = (s_i + c s_j) / (1 + c).  For any other question nothing changes, and
without roles there are no exchanges.

Cost: O(n) for a summary, or to find the pool of p candidates, then O(p^2 d) for vectors of d
dimensions, and at most O(p^2) for each item.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Column, Phase, Scope, Upkeep
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, hook
from ...engine.contract.vocabulary import (
    ANSWERABLE,
    ARRANGED,
    CHRONOLOGICAL,
    CREATED,
    EMBEDDING,
    RERANKED,
    ROW,
    SESSION,
)
from ...engine.state.ranking import best
from ..shared.questions import asks_summary

# --- columns --------------------------------------------------------------------------------------
EXCHANGE = Column(
    "exchange",
    np.int64,
    Scope.MEMORY,
    "1",
    -1,
    "row of the user's request that the memory is or replies to; -1: neither",
    low=-1,
    upkeep=Upkeep(rows=...),
)

# --- questions ------------------------------------------------------------------------------------
# Matched against the words of the query in lower case with single spaces.  Every repeat is bounded
# and starts at a space, so the search is linear.
_VERBS: Final = r"(?:list|give|tell|show|name|put|arrange|sort|outline|recount|recall|describe|mention|go|summari[sz]e|present|rank|place)"
_CHANGED: Final = r"(?:change|evolve|develop|progress|unfold|grow|shift)(?:d|ed|n)?"
_ORDER: Final = re.compile(
    "|".join(
        (
            r"\b(?:in|by) (?:(?:the|their|its|which|what|this|right|correct|proper|chronological|temporal|time) ){1,3}(?:order|sequence)\b(?! to\b)",
            r"\b(?:order|sequence) (?:in which|of (?:time|events|things|steps|topics|changes|my|our|the|these|those|how))\b",
            rf"\b{_VERBS}(?: [^ ]+){{0,6}} (?:order|sequence)\b(?! to\b)",
            r"\bchronolog(?:y|ical|ically)\b|\btime ?lines?\b|\bstep by step\b",
            r"\b(?:walk|take|talk) (?:me|us) through\b(?! how to\b)",
            rf"\bhow (?:did|do|does|has|have|had|was|were)(?: [^ ]+){{1,10}} {_CHANGED}\b",
            rf"\b{_CHANGED}(?: [^ ]+){{0,6}} over (?:time|the (?:days|weeks|months|years|course))\b",
            r"\b(?:progression|evolution|course) of\b",
            r"\b(?:happened|happens|came|comes|occurred|took place|began|started) (?:first|earlier|earliest|later|last|next)\b",
            r"\bfrom (?:the )?(?:first|earliest|oldest|beginning|start) to (?:the )?(?:last|latest|newest|end|finish|most recent)\b",
        )
    )
)
NUMBERS_IN_WORDS: Final = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight",
                           "nine", "ten", "eleven", "twelve", "thirteen",
                           "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
                           "twenty")  # fmt: skip
_NUMBER: Final = rf"(\d{{1,3}}|{'|'.join(NUMBERS_IN_WORDS)})"
_THINGS: Final = (
    r"(?:items?|events?|things?|steps?|topics?|points?|stages?|aspects?|moments?|milestones?|entries|bullets?|parts?|phases?|changes"
    r"|ideas|memories|facts?|examples?|subjects|features)"
)
_COUNT: Final = re.compile(
    rf"\b{_NUMBER} (?:[^ ]+ ){{0,3}}{_THINGS}\b|\b(?:only|exactly|just|at most|up to|no more than|top|list|name|mention|give me)(?: the)? {_NUMBER}\b"
    r"(?! (?:minutes?|hours?|days?|nights?|weeks?|weekends?|months?|years?|times?|percent)\b)"
)


def asks_order(words: str) -> bool:
    """Whether a query, given as its words in lower case with single spaces, asks for an order or a
    course of events.  O(length).

    >>> [asks_order(q) for q in ("in what order did we visit them", "what did i buy in order to paint", "how has the plan changed")]
    [True, False, True]
    """
    return _ORDER.search(words) is not None


def items_asked(words: str) -> int:
    """How many items a query asks for; 0 if it gives no number.  O(length).

    >>> [items_asked(q) for q in ("mention only five items", "list the 3 main changes", "what happened in the last 3 months")]
    [5, 3, 0]
    """
    match = _COUNT.search(words)
    if match is None:
        return 0
    number = match[1] or match[2]
    return NUMBERS_IN_WORDS.index(number) if number in NUMBERS_IN_WORDS else int(number)


# --- equations ------------------------------------------------------------------------------------
@kernel
def affinities(cosine: Any, time: Any, relevance: Any, width: float, out: Any) -> None:
    """a_ij = r_i r_j max(0, cos_ij) exp(-|t_i - t_j| / width): how much of candidate i candidate j
    tells.  Ours.  Cost: O(p^2).

    cosine     (p, p)  1  of the embeddings
    time       (p,)    h  when each was encoded
    relevance  (p,)       r >= 0
    width      ()      h  distance in time over which memories tell of the same part
    out        (p, p)  1  written, >= 0

    >>> out = np.empty((2, 2))
    >>> affinities(np.array([[1.0, 0.5], [0.5, 1.0]]), np.array([0.0, 24.0]), np.array([1.0, 0.5]), 24.0, out)
    >>> out.round(4).tolist()
    [[1.0, 0.092], [0.092, 0.25]]
    """
    for i in range(out.shape[0]):
        for j in range(out.shape[0]):
            out[i, j] = (
                relevance[i]
                * relevance[j]
                * max(0.0, cosine[i, j])
                * math.exp(-abs(time[i] - time[j]) / width)
            )


@kernel
def lazy_greedy(value: Any, chosen: Any) -> int:
    """j_k = argmax_j F(S + j) - F(S), ties by index: greedy choice (Nemhauser et al. 1978); F(S) =
    sum_i max_{j in S} a_ij.

    A gain is evaluated only if its last value is the largest (Minoux 1978).

    value   (p, p)  a_ij >= 0
    chosen  (s,)    s <= p; written, in the order of choice
    Returns the number of gains evaluated.
    Cost: at most O(s p^2); O(p^2 + s p) if few gains change.

    >>> chosen = np.empty(2, dtype=np.int64)
    >>> lazy_greedy(np.array([[1.0, 0.9, 0.0], [0.9, 0.95, 0.0], [0.0, 0.0, 0.5]]), chosen), chosen.tolist()
    (5, [0, 2])
    """
    p = value.shape[0]
    bound, covered, step, evaluated = np.full(p, np.inf), np.zeros(p), np.full(p, -1), 0
    for k in range(chosen.shape[0]):
        while True:
            first = 0
            for j in range(1, p):
                if bound[j] > bound[first]:
                    first = j
            if step[first] == k:
                break
            gain = 0.0
            for i in range(p):
                gain += max(0.0, value[i, first] - covered[i])
            bound[first], step[first] = gain, k
            evaluated += 1
        chosen[k] = first
        bound[first] = -1.0
        for i in range(p):
            covered[i] = max(covered[i], value[i, first])
    return evaluated


@kernel
def share_exchanges(scores: Any, exchange: Any, answerable: Any, share: float, out: Any) -> None:
    """out_i = (s_i + c s_j) / (1 + c) and likewise out_j for each request j with its reply i, if
    both may be answered.  Ours.  Cost: O(n).

    scores      (n,)      s; NaN: none, so the other keeps its own
    exchange    (n,)   1  row of the request that each memory is or replies to; -1: neither
    answerable  (n,)      bool
    share       ()     1  c, weight of the other's score
    out         (n,)      written for both; other memories stay as they are

    >>> out = np.zeros(3)
    >>> share_exchanges(np.array([1.0, 0.0, 5.0]), np.array([0, 0, 2]), np.ones(3, dtype=np.bool_), 0.25, out)
    >>> out.tolist()
    [0.8, 0.2, 0.0]
    """
    for i in range(out.shape[0]):
        j = exchange[i]
        if (
            0 <= j != i
            and answerable[i]
            and answerable[j]
            and not np.isnan(scores[i])
            and not np.isnan(scores[j])
        ):
            out[i] = (scores[i] + share * scores[j]) / (1.0 + share)
            out[j] = (scores[j] + share * scores[i]) / (1.0 + share)


def of_parts(rows: Any, exchange: Any) -> NDArray[np.int64]:
    """The rows without those that are the second of their exchange, in their order.  Ours.  Cost:
    O(p log p).

    rows      (p,)    best first
    exchange  (p,) 1  row of the request that each is or replies to; -1: neither

    >>> of_parts(np.array([5, 8, 4, 9, 7]), np.array([4, -1, 4, -1, 7])).tolist()
    [5, 8, 9, 7]
    """
    part = np.where(exchange >= 0, exchange, -1 - rows)
    first: NDArray[np.int64] = np.sort(np.unique(part, return_index=True)[1])
    return np.asarray(rows[first], dtype=np.int64)


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class EventOrderingParams(Params):
    pool: int  # candidates
    items: int  # chosen if the question gives no number
    width: float
    share: float  # weight of the other's score in an exchange, for a summary


class EventOrdering(Mechanism[EventOrderingParams]):
    owns = (EXCHANGE,)

    @hook(Phase.ENCODE, reads=(ROW, SESSION), adds=(), sets=(EXCHANGE,))
    def keep(self, view: Any, incoming: Incoming) -> None:
        """A request of the user, and the assistant's reply that follows it in its session."""
        role, before = incoming.event.get("role") or incoming.event.speaker, incoming.before
        if role == "user":
            view.exchange[view.row] = view.row
        elif (
            role == "assistant"
            and before >= 0
            and view.exchange[before] == before
            and view.session[before] == view.session[view.row]
        ):
            view.exchange[view.row] = before

    @hook(
        Phase.RETRIEVE,
        reads=(RERANKED, ANSWERABLE, EMBEDDING, CREATED, EXCHANGE),
        adds=(),
        sets=(ARRANGED, CHRONOLOGICAL),
    )
    def arrange(self, view: Any, cue: Cue) -> None:
        """Rank the chosen candidates above all others, in the order of their choice; for a
        summary, each exchange as a whole.
        """
        words = " ".join(cue.features.words)
        view.chronological = asks_order(words)
        if asks_summary(words):
            share_exchanges(
                view.reranked, view.exchange, view.answerable, self.params.share, view.arranged
            )
            return
        if not view.chronological:
            return
        rows = best(view.reranked, view.answerable, self.params.pool)
        if not rows.size:
            return
        rows = of_parts(rows, view.exchange[rows])
        scores = view.reranked[rows].astype(np.float64)
        chosen = self._chosen(
            view.embedding[rows],
            view.created[rows],
            scores,
            items_asked(words) or self.params.items,
        )
        lift = (float(np.ptp(scores)) or abs(float(scores[0])) or 1.0) / chosen.size
        view.arranged[rows[chosen]] = scores[0] + lift * np.arange(chosen.size, 0, -1)

    def _chosen(self, vectors: Any, created: Any, scores: Any, items: int) -> NDArray[np.int64]:
        """The candidates that cover the pool, by their places in it."""
        value = np.empty((len(scores), len(scores)))
        relevance = scores - scores[-1] if scores[0] > scores[-1] else np.ones_like(scores)
        affinities(
            (vectors @ vectors.T).astype(np.float64), created, relevance, self.hours("width"), value
        )
        chosen = np.empty(min(items, len(scores)), dtype=np.int64)
        lazy_greedy(value, chosen)
        return chosen
