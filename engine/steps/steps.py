"""The engine's own steps: store the event, gather the direct signals, answer.  They are nodes of
the same schedule as the hooks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import compress
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..base.numerics import read_only
from ..contract.ask import NO_BUDGET, Ask
from ..contract.columns import Phase, Signal
from ..contract.cues import Cues
from ..contract.drafts import Draft, Drafts
from ..contract.hooks import Cue, Incoming, Tick
from ..contract.offers import Offers
from ..contract.records import Event
from ..contract.task_events import KIND as KIND_OF_EVENT
from ..contract.task_events import PARENT, PUSH
from ..contract.vocabulary import (
    ANSWERABLE,
    ARRIVED,
    ASKER_SESSION,
    BAN,
    BUDGET,
    CREATED,
    CUES,
    DRAFTS,
    EMBEDDING,
    ENCODING_STRENGTH,
    FACET_WEIGHTS,
    FUSED,
    GRAPH,
    HIDE,
    IMPORTANCE,
    INDEX,
    INITIAL_STRENGTH,
    KIND,
    LEXICON,
    LOG_FACETS,
    LOG_PRIOR,
    LOG_STRENGTH,
    MADE,
    MATCH,
    NOW,
    OUTCOME,
    PASSAGES,
    PRIMED,
    REACH,
    RECALLED,
    RELEASED,
    ROW,
    SALIENCE,
    SESSION,
    SHOW,
    SPANS,
    SPEAKER,
    STAGE,
    STANDS_FOR,
    TEXTS,
    TRIGRAMS,
    UTC_OFFSET,
    VETO,
    VISIBLE,
    WITHHELD,
    WRITING,
)
from ..contract.writings import Writing
from ..flow.schedule import ENGINE, Node
from ..ports.embedder import Vectors
from ..state.event_log import EventLog, rendered
from ..state.graph import EdgeType, Graph, entity_node
from ..state.postings import BM25Index, TrigramIndex, terms_of
from ..state.ranking import add_all_standardised, best
from ..state.store import Cells, Store
from .capacity import Capacity, vote
from .filter import Banned
from .passages import Passages
from .withholding import Withholding

LAST = 1_000_000  # order of engine steps that run after every hook that need not follow them
AT_ONCE: Final = 4096  # rows whose factors stay in the processor's cache
SIGNALS_BY_WEIGHT = Sequence[tuple[Signal, float]]


class StoreEvent:
    """Makes the row of an event that no gate vetoed, and adds its text to every index.  Cost:
    O(length + entities) amortised.
    """

    def __init__(
        self,
        store: Store,
        event_log: EventLog,
        lexicon: BM25Index,
        trigrams: TrigramIndex,
        graph: Graph,
        passages: Passages,
        capacity: Capacity | None = None,
    ) -> None:
        self.passages = passages
        self.store, self.event_log, self.lexicon, self.trigrams, self.graph = (
            store,
            event_log,
            lexicon,
            trigrams,
            graph,
        )
        self.capacity = capacity

    def __call__(self, view: Any, incoming: Incoming) -> None:
        if view.veto > 0:
            self.event_log.write(incoming.event, -1)
            return
        row = self.store.extend([incoming.vector])
        array, now = self.store.array, view.now
        array(CREATED)[row], array(ARRIVED)[row], array(UTC_OFFSET)[row] = (
            incoming.event.time,
            now,
            incoming.event.offset or 0.0,
        )
        array(SESSION)[row], array(SPEAKER)[row] = incoming.session, incoming.speaker
        view.row = row
        self.index(row, incoming.text, incoming.terms, incoming.passages)
        self.graph.cover_rows(row + 1)
        for name in incoming.features.entities:
            node = entity_node(self.graph.entity(name))
            self.graph.add(row, node, EdgeType.ENTITY, now)
            self.graph.add(node, row, EdgeType.ENTITY, now)
        self._link_task(incoming.event, row, now)
        self.event_log.write(incoming.event, row)
        if self.capacity:
            self.capacity.make_room(row)

    def _link_task(self, event: Event, row: int, now: float) -> None:
        """An edge to a goal from the goal that it is part of, if both are memories."""
        above = event.get(PARENT) if event.get(KIND_OF_EVENT) == PUSH else ""
        if above and (outer := self.event_log.row(above)) >= 0:
            self.graph.add(outer, row, EdgeType.RELATION, now)

    def index(
        self,
        row: int,
        text: str,
        terms: Sequence[str],
        passages: Vectors | None,
        counted: bool = True,
    ) -> None:
        """Add the text to the postings, and keep its passages.

        passages  (p, d) vectors, as `Incoming` has them
        counted   whether the text counts in the statistics of the postings
        """
        self.lexicon.add(row, terms, counted)
        self.trigrams.add(row, text, counted)
        self.passages.add(row, text, passages, counted)

    def node(self) -> Node:
        return Node(ENGINE, "store", Phase.ENCODE, -1, (NOW, VETO), (),
                    (ROW, CREATED, ARRIVED, UTC_OFFSET, SESSION, SPEAKER, VISIBLE, EMBEDDING, INDEX,
                     LEXICON, TRIGRAMS, PASSAGES, SPANS, GRAPH,
                     TEXTS), self,
                    appends=True)  # fmt: skip


class MakeRows:
    """Makes a row of each draft: embeds their texts and passages in one batch, appends the rows,
    and adds each text to the writings and to every index.

    The rows stand at neutral in all columns but KIND, WRITING, CREATED, ARRIVED, UTC_OFFSET,
    SESSION, SPEAKER and STAGE; VISIBLE is True. They have no edges.  Times and offset are those of
    their latest source; a time that the draft gives counts, too. The step runs after every hook
    that neither reads MADE nor depends on one that does, and changes no row that exists.  Cost:
    O(words) amortised for each row, and one call of the embedder.
    """

    def __init__(
        self,
        drafts: Drafts,
        store: Store,
        event_log: EventLog,
        store_event: StoreEvent,
        embedded: Callable[[Sequence[str]], list[tuple[NDArray[np.float32], Vectors]]],
        withholding: Withholding,
    ) -> None:
        """embedded: the vector of each text and those of its passages; InputError if one is no
        unit vector.
        """
        self.drafts, self.store, self.event_log, self.store_event = (
            drafts,
            store,
            event_log,
            store_event,
        )
        self.embedded, self.withholding = embedded, withholding

    def __call__(self, view: Any, tick: Tick) -> None:
        drafts = self.drafts.take(self.store.n, self.event_log.text, self.withholding.__getitem__)
        view.made.fill(self._rows(drafts) if drafts else ())

    def _rows(self, drafts: Sequence[Draft]) -> list[tuple[int, Draft]]:
        log, store = self.event_log, self.store
        texts = [
            rendered(log, Writing(d.text, d.kind.word, d.maker, 0.0, d.sources, d.span))
            for d in drafts
        ]
        vectors, passages = zip(*self.embedded(texts), strict=True)
        latest = [max(d.sources, key=store.array(CREATED).item) for d in drafts]
        created = [
            store.array(CREATED).item(row) if d.created is None else d.created
            for d, row in zip(drafts, latest, strict=True)
        ]
        now, offsets = store.array(NOW).item(), store.array(UTC_OFFSET)[latest]
        arrived = [
            store.array(ARRIVED)[list(d.sources)].max()
            if d.created is None
            else min(d.created, now)
            for d in drafts
        ]
        first = store.extend(vectors)
        array = store.array
        for row, (draft, text, of_text) in enumerate(
            zip(drafts, texts, passages, strict=True), first
        ):
            number = log.writings.add(
                draft.text,
                draft.kind.word,
                draft.maker,
                self.withholding.sources(draft),
                draft.span,
            )
            log.make(number)
            array(KIND)[row], array(WRITING)[row], array(CREATED)[row] = (
                draft.kind,
                number,
                created[row - first],
            )
            array(ARRIVED)[row], array(UTC_OFFSET)[row] = arrived[row - first], offsets[row - first]
            array(SESSION)[row], array(SPEAKER)[row], array(STAGE)[row] = (
                draft.session,
                draft.speaker,
                draft.stage,
            )
            self.store_event.index(
                row, text, terms_of(text, stop_words=True), of_text, counted=False
            )
        self.store_event.graph.cover_rows(store.n)
        self.withholding.renew(range(first, store.n))
        return list(enumerate(drafts, first))

    def node(self) -> Node:
        return Node(
            ENGINE, "make", Phase.CONSOLIDATE, LAST, (DRAFTS,), (), (MADE,), self, appends=True
        )


def surface_node() -> Node:
    """VISIBLE by the votes HIDE and SHOW, as `vote`."""

    def surface(view: Any, tick: Tick) -> None:
        vote(view)

    return Node(
        ENGINE, "surface", Phase.CONSOLIDATE, LAST, (HIDE, SHOW, WITHHELD), (), (VISIBLE,), surface
    )


def imprint_node() -> Node:
    """INITIAL_STRENGTH: the event's ENCODING_STRENGTH, kept for its row."""

    def imprint(view: Any, incoming: Incoming) -> None:
        view.initial_strength[view.row] = view.encoding_strength

    return Node(
        ENGINE,
        "imprint",
        Phase.ENCODE,
        -1,
        (ROW, ENCODING_STRENGTH),
        (),
        (INITIAL_STRENGTH,),
        imprint,
        appends=True,
    )


def value_node() -> Node:
    """IMPORTANCE: the event's SALIENCE, kept for its row."""

    def value(view: Any, incoming: Incoming) -> None:
        view.importance[view.row] = min(max(view.salience, 0.0), 1.0)

    return Node(
        ENGINE, "value", Phase.ENCODE, -1, (ROW, SALIENCE), (), (IMPORTANCE,), value, appends=True
    )


def carry_node() -> Node:
    """Adds INITIAL_STRENGTH to LOG_STRENGTH in every maintenance.  Cost: O(n)."""

    def carry(view: Any, tick: Tick) -> None:
        view.log_strength[...] = view.initial_strength

    return Node(
        ENGINE, "carry", Phase.MAINTAIN, -1, (INITIAL_STRENGTH,), (LOG_STRENGTH,), (), carry
    )


def ask_node() -> Node:
    """CUES: the query alone, to which hooks may add other wordings."""

    def ask(view: Any, cue: Cue) -> None:
        cues: Cues = view.cues
        cues.ask(cue)

    return Node(ENGINE, "ask", Phase.RETRIEVE, -1, (), (), (CUES,), ask)


def restrict_node(banned: Banned) -> Node:
    """BAN: one vote against each memory that the asker's filter leaves out, and against each
    that its owner archived.  Cost: O(n).
    """

    def restrict(view: Any, cue: Cue) -> None:
        if cue.query.only is not None:
            view.ban[...] = banned(cue.query.only)
        if (withheld := view.withheld > 0).any():
            view.ban[withheld] += 1

    return Node(
        ENGINE,
        "restrict",
        Phase.RETRIEVE,
        -1,
        (CREATED, SESSION, SPEAKER, WITHHELD),
        (BAN,),
        (),
        restrict,
    )


def admit_node() -> Node:
    """ANSWERABLE: visible or reached, and not banned.  Cost: O(n)."""

    def admit(view: Any, cue: Cue) -> None:
        np.logical_or(view.visible, view.reach > 0, out=view.answerable)
        np.logical_and(view.answerable, view.ban <= 0, out=view.answerable)

    return Node(
        ENGINE, "admit", Phase.RETRIEVE, -1, (VISIBLE, REACH, BAN), (), (ANSWERABLE,), admit
    )


def _rescaled(fused: Any, visible: Any, out: Any) -> None:
    """out = max(0, (s - min) / (max - min)), min and max over the visible memories; 1 if these
    are all equal.  O(n).
    """
    shown = fused[visible]
    low = float(np.fmin.reduce(shown, initial=np.inf))
    high = float(np.fmax.reduce(shown, initial=-np.inf))
    if low < high:
        out[...] = np.fmax((fused.astype(np.float64) - low) / (high - low), 0.0)
    else:
        out[...] = 1.0


def primed(fused: Any, visible: Any, log_prior: Any, out: Any) -> None:
    """out = max(0, (s - min) / (max - min)) exp(ln prior), min and max over the visible memories;
    exp(ln prior) if these are all equal.  O(n).

    fused      (n,)  s
    visible    (n,)  bool
    log_prior  (n,)  ln
    out        (n,)  written

    >>> out = np.zeros(3)
    >>> primed(np.array([1.0, 3.0, 2.0]), np.ones(3, dtype=np.bool_), np.log(np.array([1.0, 1.0, 4.0])), out)
    >>> out.round(9).tolist()
    [0.0, 1.0, 2.0]
    """
    _rescaled(fused, visible, out)
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, len(out), AT_ONCE):  # exp by numpy, with vector instructions
            out[start : start + AT_ONCE] *= np.exp(log_prior[start : start + AT_ONCE])


def prime_node() -> Node:
    """PRIMED: the fused score on [0, 1] times the priors.  Cost: O(n)."""

    def prime(view: Any, cue: Cue) -> None:
        primed(view.fused, view.visible, view.log_prior, view.primed)

    return Node(
        ENGINE, "prime", Phase.RETRIEVE, -1, (FUSED, LOG_PRIOR, VISIBLE), (), (PRIMED,), prime
    )


def budget_node(offers: Offers) -> Node:
    """BUDGET and ASKER_SESSION of the context that is asked for; without one both are neutral.
    No offer is left.
    """

    def budget(view: Any, ask: Ask) -> None:
        offers.clear()
        if ask.budget != NO_BUDGET:
            view.budget, view.asker_session = ask.budget, ask.session

    return Node(
        ENGINE,
        "budget",
        Phase.RETRIEVE,
        -1,
        (),
        (),
        (BUDGET, ASKER_SESSION),
        budget,
        takes_ask=True,
    )


def weigh_node() -> Node:
    """FACET_WEIGHTS: exp of the summed contributions to LOG_FACETS."""

    def weigh(view: Any, cue: Cue) -> None:
        np.exp(view.log_facets, out=view.facet_weights)

    return Node(ENGINE, "weigh", Phase.RETRIEVE, -1, (LOG_FACETS,), (), (FACET_WEIGHTS,), weigh)


def gather_node(signals: SIGNALS_BY_WEIGHT) -> Node:
    """MATCH: the mean of the standardised direct signals, weighted by weight times facet factor.
    Cost: O(n) per signal.

    A signal that is equal for all visible memories says nothing about them and does not count, so
    that it cannot weaken the others.
    """
    direct = [(s, w) for s, w in signals if s.direct and w > 0]

    def gather(view: Any, cue: Cue) -> None:
        match, facets = view.match, view.facet_weights
        match[...] = 0.0
        trusts = [weight * facets[signal.facet.value] for signal, weight in direct]
        signals = [
            (getattr(view, signal.name), signal.floor, trust)
            for (signal, _), trust in zip(direct, trusts, strict=True)
        ]
        total = sum(compress(trusts, add_all_standardised(signals, view.stands_for, match)))
        if total > 0:
            match /= total

    return Node(
        ENGINE,
        "gather",
        Phase.RETRIEVE,
        -1,
        (*(s for s, _ in direct), FACET_WEIGHTS, STANDS_FOR),
        (),
        (MATCH,),
        gather,
    )


def answer_node(store: Cells) -> Node:
    """RECALLED: the best rows of the last stage, as many as are asked for; in feedback the rows
    that were needed, with OUTCOME.
    """

    def answer(view: Any, ask: Ask) -> None:
        if ask.told is not None:
            store.structures[RECALLED], view.outcome = ask.told
            return
        store.structures[RECALLED] = read_only(
            best(view.released, view.answerable, min(ask.k, len(view.answerable)))
        )

    # a further plan leaves the last answer as it is
    store.structures.setdefault(RECALLED, np.empty(0, dtype=np.int64))
    return Node(
        ENGINE,
        "answer",
        Phase.RETRIEVE,
        -1,
        (RELEASED, ANSWERABLE),
        (),
        (RECALLED, OUTCOME),
        answer,
        takes_ask=True,
    )
