"""Curation: creates a new memory, links it to similar memories, or merges it with a memory that it
restates.

The second stage of the Cortex write path decides "based on embedding similarity thresholds and
entity overlap" (section 3.2), where A-MEM (Xu et al. 2025) asks a language model.  Cortex prints no
thresholds, and no claim is made about brains.  The new memory is compared with the k memories of
highest cosine:

    merge   the texts are nearly the same, name the same entities, and agree in numbers, dates and
            negation; the new one is no correction. The new memory is still stored word for word,
            with a version edge to the memory it restates, which counts a rehearsal.  Only the older
            memory is strengthened: strengthening both would put both into the same answer
    link    the affinity (cosine plus a bonus for shared entities) reaches the threshold: one link
            in each direction, weighted by the affinity
    create  neither

At retrieval a memory linked to one of the best matches gets that match times the strength of the
link, over one link.  Of memories with the same words by the same speaker the newest visible one is
answered, so that its time is seen; the others are not, unless the asker filters memories, asks
for what was before, when or how often, or for a time of the calendar in which they were told.  So
where there is a capacity these are the first to make room (WORTH).  A time ahead of the present is one that nobody has confirmed: until the present
reaches it, the memory counts as told when it arrived. An event that another mechanism marks as
DUPLICATE is merged without these tests.  No event is rejected.

Cost: per event one search, O(n d), O(k e^2) for e entities each, the words of near duplicates, and
O(log n) for memories with the same words; O(n + links of the seeds) per query; O(n) per maintain,
and per sleep with a capacity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ...engine.base.numerics import exact_kernel
from ...engine.contract.columns import Column, Facet, Phase, Scope, Structure, Upkeep, signal
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, Tick, hook
from ...engine.contract.vocabulary import (
    ARRIVED,
    BAN,
    CREATED,
    DUPLICATE,
    GRAPH,
    INDEX,
    LOG_STRENGTH,
    MATCH,
    NOW,
    ROW,
    SPEAKER,
    TEXTS,
    UTC_OFFSET,
    VISIBLE,
    WORTH,
)
from ...engine.state.graph import EdgeType
from ...engine.state.ranking import best
from ...engine.text.dates import times
from ...engine.text.features import Features, SpeechAct, features
from ...engine.text.utf8 import hashed
from ..shared.facts import corrects
from ..shared.questions import asks_earlier
from ..shared.times import asker_offset, told_at, told_within

CREATE, LINK, MERGE = 0, 1, 2
UNSORTED = 4096  # new memories whose numbers are compared one by one, at least
NEGATIONS = frozenset(
    ("no", "not", "never", "none", "nobody", "nothing", "neither", "nor", "cannot", "without")
)

# --- columns --------------------------------------------------------------------------------------
AFFINITY = Column(
    "affinity",
    np.float32,
    Scope.EDGE,
    "1",
    0.0,
    "strength of a curated link; 0: not made by curation",
    low=0,
    high=1,
)
RESTATES = Column(
    "restates",
    np.int64,
    Scope.MEMORY,
    "1",
    -1,
    "row of the first memory with the same content; -1: this memory is the first",
    low=-1,
)
RESTATED = Column(
    "restated",
    np.int64,
    Scope.MEMORY,
    "1",
    0,
    "number of later memories that restate this one",
    low=0,
)
WORDS_SAID = Column(
    "words_said",
    np.int64,
    Scope.MEMORY,
    "1",
    0,
    "number that memories of one speaker with the same words share; 0: no words",
)
REPEATS = Column(
    "repeats",
    np.int64,
    Scope.MEMORY,
    "1",
    -1,
    "row of the first memory with the same words by the same speaker; -1: this is the first",
    low=-1,
    upkeep=Upkeep(rows=...),
)
CURATED = signal(
    "curated",
    Facet.ASSOCIATION,
    "largest match of a linked best match, times the strength of the link",
    unit="sd",
    direct=False,
)


# --- decisions ------------------------------------------------------------------------------------
@exact_kernel
def count_shared(
    row: int, near: Any, start: Any, degree: Any, pool: Any, target: Any, shared: Any, theirs: Any
) -> None:
    """Number of entities that each near memory shares with the new one, and its number of entities.
    Cost: O(k e^2).

    row, near            ()  (k,)  the new memory, and the memories to compare
    start, degree, pool            entity links of the rows, as in engine/state/graph.py
    target               (m,)      entity of each link
    shared, theirs       (k,)      written
    """
    for k in range(near.shape[0]):
        shared[k], theirs[k] = 0, degree[near[k]]
        for a in range(start[near[k]], start[near[k]] + degree[near[k]]):
            for b in range(start[row], start[row] + degree[row]):
                if target[pool[a]] == target[pool[b]]:
                    shared[k] += 1


@exact_kernel
def overlap(shared: int, mine: int, theirs: int) -> float:
    """|A n B| / |A u B|; 0 if both are empty.  Cost: O(1).

    >>> overlap(1, 2, 2) == 1 / 3, overlap(0, 0, 0)
    (True, 0.0)
    """
    return shared / max(mine + theirs - shared, 1)


@exact_kernel
def decide(
    cosine: Any,
    shared: Any,
    theirs: Any,
    mine: int,
    merge: float,
    same: float,
    link: float,
    entity_bonus: float,
    affinity: Any,
    decision: Any,
) -> None:
    """CREATE, LINK or MERGE for each of k near memories.  Cost: O(k).

    cosine                  (k,)  similarity of the embeddings
    shared, theirs, mine    (k,)  (k,)  ()  numbers of entities
    merge, same             ()    least cosine, and least overlap of the entities, of a restatement;
                                  two empty sets of entities count as equal
    link, entity_bonus      ()    least affinity of a link; affinity = cosine + entity_bonus
                                  overlap, within 0..1
    affinity, decision      (k,)  written

    >>> affinity, decision = np.zeros(3), np.zeros(3, dtype=np.int64)
    >>> decide(np.array([0.95, 0.95, 0.3]), np.array([2, 0, 1]), np.array([2, 2, 1]), 2, 0.9, 0.5, 0.5, 0.1, affinity, decision)
    >>> decision.tolist(), affinity.round(6).tolist()
    ([2, 1, 0], [1.0, 0.95, 0.35])
    """
    for k in range(cosine.shape[0]):
        common = overlap(shared[k], mine, theirs[k])
        affinity[k] = min(max(cosine[k] + entity_bonus * common, 0.0), 1.0)
        if cosine[k] >= merge and (common >= same or mine + theirs[k] == 0):
            decision[k] = MERGE
        else:
            decision[k] = LINK if affinity[k] >= link else CREATE


def details(of: Features) -> tuple[frozenset[str], frozenset[str], int]:
    """Details in which two restatements agree: numbers, dates, and the parity of the number of
    negations.  Cost: O(words).

    >>> details(features("I won't meet 3 of them today")) == details(features("Today I will meet 3 of them"))
    False
    """
    negated = sum(word in NEGATIONS or word.endswith("n't") for word in of.words)
    return frozenset(of.numbers), frozenset(date.lower() for date in of.dates), negated % 2


@exact_kernel
def borrow(
    seeds: Any, match: Any, start: Any, degree: Any, pool: Any, target: Any, strength: Any, out: Any
) -> int:
    """out_i = max over seeds s linked to i of strength_si match_s.  Returns the number of links
    followed.  Cost: O(links of the seeds).

    seeds                (q,)      best matches; those with match <= 0, the mean, contribute nothing
    match                (n,)  sd
    start, degree, pool            links of the rows, as in engine/state/graph.py
    target, strength     (m,)  1   target and strength of each link; links of strength 0 are not
                                   followed
    out                  (n,)  sd  written; NaN on entry, and stays NaN where no link contributes
    """
    followed = 0
    for s in seeds:
        if match[s] > 0.0:
            for place in range(start[s], start[s] + degree[s]):
                i, lent = target[pool[place]], strength[pool[place]] * match[s]
                if i >= 0 and lent > 0.0:
                    followed += 1
                    if not out[i] >= lent:
                        out[i] = lent
    return followed


@exact_kernel
def ban_repeats(repeats: Any, told: Any, visible: Any, out: Any) -> None:
    """out_i = 1 for memories with the same words as a visible one that is told later; of one time,
    the later row.  Cost: O(n).

    repeats  (n,)          row of the first memory with the same words, -1 for that one itself
    told     (n,)       h  when each was told
    visible  (n,) bool
    out      (n,)          written

    The last of three is archived, so the second is answered:

    >>> out = np.zeros(4)
    >>> ban_repeats(np.array([-1, 0, -1, 0]), np.array([1.0, 2.0, 3.0, 4.0]), np.array([True, True, True, False]), out)
    >>> out.tolist()
    [1.0, 0.0, 0.0, 1.0]
    """
    newest = np.empty(repeats.shape[0], np.int64)
    for i in range(repeats.shape[0]):
        newest[i] = -1
    for i in range(repeats.shape[0]):
        first = repeats[i] if repeats[i] >= 0 else i
        if visible[i] and (newest[first] < 0 or told[i] >= told[newest[first]]):
            newest[first] = i
    for i in range(repeats.shape[0]):
        first = repeats[i] if repeats[i] >= 0 else i
        if newest[first] >= 0 and newest[first] != i:
            out[i] = 1


def same_words(one: str, other: str) -> bool:
    """Whether two texts have the same words in the same order, whatever their case, accents and
    punctuation.  Cost: O(words).

    >>> same_words("Good night, Ada!", "good night Ada"), same_words("It is 3", "It is 4")
    (True, False)
    """
    return one == other or features(one).words == features(other).words


def said(words: Sequence[str], speaker: int) -> int:
    """A number above 0 of the words of a speaker, the same in every process; 0 without words.
    Cost: O(words).

    >>> said(("good", "night"), 1) == said(("good", "night"), 1) != said(("good", "night"), 2), said((), 1)
    (True, 0)
    """
    content = " ".join(words)
    return (hashed(f"{speaker} {content}") >> 1) | 1 if words else 0


class Sayings:
    """The memories by the number of their words, derived from WORDS_SAID: a number stays as it is
    until its memory is erased.

    Sorted are all but the newest memories, at most an eighth, and anew once these are more.  16
    bytes a memory.
    """

    __slots__ = ("_numbers", "_rows")
    _numbers: Any
    _rows: Any

    def __init__(self) -> None:
        self.forget()

    def rows(self, numbers: Any, number: int) -> Any:
        """Rows with a number, ascending.  Cost: O(log n + new memories), and O(log n) for each new
        memory.

        numbers  (n,) int64  WORDS_SAID

        >>> Sayings().rows(np.array([7, 5, 7]), 7).tolist()
        [0, 2]
        """
        if len(numbers) - len(self._rows) > max(UNSORTED, len(self._rows) // 8):
            self._rows = np.argsort(numbers, kind="stable")
            self._numbers = numbers[self._rows]
        first, last = np.searchsorted(self._numbers, (number, number + 1))
        later = len(self._rows) + np.flatnonzero(numbers[len(self._rows) :] == number)
        return np.concatenate([self._rows[first:last], later])

    def forget(self) -> None:
        """Drop what is sorted.  The engine calls it when memories are erased."""
        self._numbers = self._rows = np.empty(0, np.int64)


SAYINGS = Structure(
    "sayings",
    "memories by the number of their words, derived from WORDS_SAID",
    ("rows",),
    persists=False,
    phases=(Phase.ENCODE,),
    create=Sayings,
)


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class CurationParams(Params):
    neighbours: int  # k
    merge: float
    same_entities: float
    link: float
    entity_bonus: float
    rehearsal: float
    repeats: Literal["hidden", "shown"]
    seeds: int
    weight: float


class Curation(Mechanism[CurationParams]):
    owns = (AFFINITY, RESTATES, RESTATED, WORDS_SAID, REPEATS, SAYINGS, CURATED)

    @hook(Phase.ENCODE, reads=(ROW, SPEAKER, TEXTS, SAYINGS), adds=(), sets=(WORDS_SAID, REPEATS))
    def recognise(self, view: Any, incoming: Incoming) -> None:
        """Find the first memory with the same words by the same speaker; numbers, dates and
        negations are words.
        """
        row, words = view.row, incoming.features.words
        view.words_said[row] = number = said(words, int(view.speaker[row]))
        for other in view.sayings.rows(view.words_said[:row], number).tolist() if number else ():
            if view.speaker[other] == view.speaker[row] and same_words(
                view.texts[other], incoming.event.text
            ):
                # the first may have been erased
                view.repeats[row] = view.repeats[other] if view.repeats[other] >= 0 else other
                break

    @hook(
        Phase.RETRIEVE,
        reads=(REPEATS, CREATED, ARRIVED, UTC_OFFSET, NOW, VISIBLE),
        adds=(BAN,),
        sets=(),
    )
    def hide(self, view: Any, cue: Cue) -> None:
        """One vote against each memory whose words are told again later; none if the asker filters
        memories, and so may leave out the newest, or asks for a telling of which the newest may not
        be the one; and none against what was told in a time that is asked for."""
        if (
            self.params.repeats == "shown"
            or cue.query.only is not None
            or asks_earlier(" ".join(cue.features.words))
        ):
            return
        ban_repeats(
            view.repeats, told_at(view.created, view.arrived, view.now), view.visible, view.ban
        )
        own = asker_offset(cue, view.utc_offset)
        if asked := times(cue.query.text, view.now + own).expressions:
            view.ban[told_within(view.created, view.utc_offset, own, asked)] = 0

    @hook(
        Phase.CONSOLIDATE,
        reads=(REPEATS, CREATED, ARRIVED, NOW, VISIBLE.before),
        adds=(WORTH,),
        sets=(),
    )
    def yield_place(self, view: Any, tick: Tick) -> None:
        """A memory whose words are told again is needed with odds 0, as long as the later one is
        visible.
        """
        if self.params.repeats == "hidden":
            hidden = np.zeros(len(view.repeats))
            ban_repeats(
                view.repeats, told_at(view.created, view.arrived, view.now), view.visible, hidden
            )
            view.worth[hidden > 0.0] -= np.inf

    @hook(
        Phase.ENCODE,
        reads=(ROW, NOW, INDEX, TEXTS, DUPLICATE),
        adds=(GRAPH,),
        sets=(AFFINITY, RESTATES, RESTATED),
    )
    def curate(self, view: Any, incoming: Incoming) -> None:
        row, graph = view.row, view.graph
        near, affinity, decision = self._judged(view, incoming)
        older = int(view.duplicate) if 0 <= view.duplicate < row else -1
        for i in np.flatnonzero(decision):
            other = int(near[i])
            for source, target in ((row, other), (other, row)):
                edge = graph.add(source, target, EdgeType.SEMANTIC, view.now)
                # read the column after the edge exists: adding may reallocate it
                view.affinity[edge] = affinity[i]
            if (
                older < 0
                and decision[i] == MERGE
                and self._restates(incoming.features, incoming.event.text, view.texts[other])
            ):
                older = other
        if older >= 0:
            first = int(view.restates[older]) if view.restates[older] >= 0 else older
            view.restates[row] = first
            view.restated[first] += 1
            view.wrote(RESTATED, first)
            graph.add(row, first, EdgeType.VERSION, view.now)

    def _judged(self, view: Any, incoming: Incoming) -> tuple[Any, Any, Any]:
        """The near memories, highest cosine first, with the affinity and decision of each."""
        p, links = self.params, view.graph.csr(EdgeType.ENTITY)
        near, cosine = view.index.search(incoming.vector, p.neighbours + 1)
        others = np.flatnonzero(near != view.row)[: p.neighbours]
        near, cosine = near[others], cosine[others]
        shared, theirs, affinity, decision = (
            np.zeros(near.size, dtype=t) for t in (np.int64, np.int64, np.float64, np.int64)
        )
        count_shared(
            view.row, near, links.start, links.degree, links.pool, view.graph.target, shared, theirs
        )
        decide(
            cosine,
            shared,
            theirs,
            int(links.degree[view.row]),
            p.merge,
            p.same_entities,
            p.link,
            p.entity_bonus,
            affinity,
            decision,
        )
        return near, affinity, decision

    @staticmethod
    def _restates(new: Features, text: str, old: str) -> bool:
        return (
            new.act is not SpeechAct.CORRECTION
            and details(new) == details(features(old))
            and not corrects(text)
        )

    @hook(Phase.RETRIEVE, reads=(MATCH, VISIBLE, GRAPH, AFFINITY), adds=(), sets=(CURATED,))
    def retrieve(self, view: Any, cue: Cue) -> None:
        links, seeds = (
            view.graph.csr(EdgeType.SEMANTIC),
            best(view.match, view.visible, self.params.seeds),
        )
        borrow(
            seeds,
            view.match,
            links.start,
            links.degree,
            links.pool,
            view.graph.target,
            view.affinity,
            view.curated,
        )

    @hook(Phase.MAINTAIN, reads=(RESTATED,), adds=(LOG_STRENGTH,), sets=())
    def rehearse(self, view: Any, tick: Tick) -> None:
        np.log1p(view.restated, out=view.log_strength)
        view.log_strength *= self.params.rehearsal
