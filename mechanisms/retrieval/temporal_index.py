"""Temporal index: scores each memory by how well the times that it is about fit the time that the
query asks for.

Cortex (section 8.1) names a dedicated temporal index as what its read path lacks; the form is ours.
A memory keeps the intervals of the first four expressions of time in its text, resolved against the
time it was said.  A query's expressions are resolved against the time it is asked.  A memory scores
1 in the time asked for; with a gap beyond it, exp(-gap / width), with the length of the time asked
for as width, at least a day.  An interval that is partly inside scores the mean of this over its
length.  A memory without expressions is about the instant at which it was encoded. Times are of the
calendar, so `time_scale` has no effect.

A query that asks for a time of the calendar and nothing else ("What did I do yesterday?") is
answered by that time: memories told in it come first, in order of time, then those told at other
times that name it, then the nearest.  Of a vague time ("three weeks ago") the day in its middle is
first. Words that name a speaker, or what memories of that time mention, put these before the others
of the time ("What did Ada do yesterday?"); if a person, a place, a reason or a number is asked for
("Where was I yesterday?"), those of the time are ranked as they match.  Any other word is content.
A query with a time and content ranks by the content, with a prior against memories of other times.

A cue may tell something beside its question: "It broke last night. What helps?"  What it tells is
news, and its times say when that happened.  They are asked for only if the question is in the past
tense ("I was in Oslo in May. What did I eat?"), or if the cue has no question at all.  Where no
memory fits the time better than exp(-1), the signal tells nothing: standardised, the nearest of
memories that are all far away would outvote words and meaning.

Days are those of clocks: a memory is of a day if it was that day on the asker's clock, or on the
clock of its speaker.

"Before the move" is resolved through the memory nearest in meaning to "the move": its first
interval, or its encoding.  A query without a time that asks for the first or the latest of several
prefers memories encoded early or late.  A query without either is left alone.

The time asked for is a part of the cue like its words, so its signal is direct: context and the
other signals that start from the match start from memories of that time.  If they started from
words and meaning alone, they would lend most to whichever occurrence of an event matches best in
these, and outvote the time.  The first or the latest is a choice among what matches and no part of
the match, so it has a signal of its own.

Cost: O(n) per query with a time, O(q log q) for q memories of a time that is asked for alone, and
one index search, O(n d), for each event that gives a time; O(words) per event stored.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Column, Facet, Phase, Scale, Scope, signal
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, hook
from ...engine.contract.vocabulary import (
    ANSWERABLE,
    ARRANGED,
    CREATED,
    DATED,
    EMBEDDER,
    GRAPH,
    INDEX,
    KIND,
    LOG_PRIOR,
    NOW,
    ROW,
    SPEAKER,
    TEXTS,
    UTC_OFFSET,
    VISIBLE,
    WITHIN,
)
from ...engine.state.graph import rows_of_entity
from ...engine.text.dates import (
    DAY,
    EARLIEST,
    LATEST,
    MOST,
    HistoryEnd,
    Span,
    TimeExpression,
    Times,
    times,
)
from ...engine.text.features import features
from ..shared.questions import asked_beside, asking_part, asks_kind
from ..shared.times import asker_offset

# --- columns --------------------------------------------------------------------------------------
NONE: Final = int(np.iinfo(np.int64).min)
TIME_START = Column(
    "time_start",
    np.int64,
    Scope.MEMORY,
    "s",
    NONE,
    "start of each time that the text names, since 1970; the least number: none",
    (MOST,),
)
TIME_END = Column(
    "time_end",
    np.int64,
    Scope.MEMORY,
    "s",
    NONE,
    "end of each time that the text names, since 1970; the least number: none",
    (MOST,),
)
WHEN = signal(
    "when",
    Facet.WHEN,
    "fit of the memory's time with the time asked for; NaN: no time asked",
    scale=Scale.SIMILARITY,
)
END = signal(
    "end",
    Facet.WHEN,
    "nearness to the end of the history that is asked for, the first or the latest; NaN: neither",
    direct=False,
    scale=Scale.SIMILARITY,
)
SIDES: Final = {HistoryEnd.FIRST: np.min, HistoryEnd.LATEST: np.max}
SECONDS: Final = 3600.0  # of an hour
# of the memory that fits best: one that lies its width beyond the time asked for
LEAST_FIT: Final = math.exp(-1.0)


# How a memory stands in the time that is asked for.
FOCUSED: Final = 3  # told on the day in the middle of a vague time
TOLD: Final = 2  # told in it
ABOUT: Final = 1  # names a time in it
ELSEWHERE: Final = 0
# of the length of the time asked for: beyond it, a memory of another time soon counts as far
NEAR: Final = 0.25


# --- equations ------------------------------------------------------------------------------------
@kernel
def share_inside(start: float, end: float, first: float, last: float) -> float:
    """Share of [start, end) inside [first, last); of an instant (start = end), 1 or 0.  Ours.
    Cost: O(1).

    start, end   ()  h  time of the memory
    first, last  ()  h  time asked for

    >>> share_inside(0.0, 4.0, 3.0, 9.0), share_inside(3.0, 3.0, 3.0, 9.0), share_inside(9.0, 9.0, 3.0, 9.0)
    (0.25, 1.0, 0.0)
    """
    if end <= start:
        return 1.0 if first <= start < last else 0.0
    return max(min(end, last) - max(start, first), 0.0) / (end - start)


@kernel
def decayed(near: float, far: float, width: float) -> float:
    """Integral of exp(-x / width) over gaps x from `near` to `far`, both h: width (exp(-near /
    width) - exp(-far / width)).  Ours.  Cost: O(1).

    >>> decayed(0.0, 1e9, 6.0), round(decayed(1.0, 2.0, 1.0), 6)
    (6.0, 0.232544)
    """
    return -width * math.exp(-near / width) * math.expm1((near - far) / width)


@kernel
def fit(start: float, end: float, first: float, last: float, width: float) -> float:
    """Mean over [start, end) of 1 inside [first, last) and exp(-gap / width) beyond it.  Ours.
    Cost: O(1).

    start, end   ()  h  time of the memory; start = end: an instant
    first, last  ()  h  time asked for
    width        ()  h  of the decay

    >>> fit(30.0, 30.0, 0.0, 24.0, 24.0) == math.exp(-6.0 / 24.0), fit(3.0, 9.0, 0.0, 24.0, 24.0)
    (True, 1.0)
    """
    if end <= start:
        return math.exp(-max(first - start, start - last, 0.0) / width)
    total = max(min(end, last) - max(start, first), 0.0)
    if start < first:
        total += decayed(first - min(end, first), first - start, width)
    if end > last:
        total += decayed(max(start, last) - last, end - last, width)
    return total / (end - start)


@kernel
def score_times(
    starts: Any,
    ends: Any,
    created: Any,
    offset: Any,
    own: float,
    asked: Any,
    widths: Any,
    when: Any,
    within: Any,
) -> None:
    """The best fit, and the largest share, over the intervals of each memory and those asked for.
    Ours.  Cost: O(n m), times 4 intervals at most.

    starts, ends  (n, 4)  s  times that each memory names, in order; NONE: no more
    created       (n,)    h  instant of a memory that names none, in UTC
    offset        (n,)    h  of the clock of each memory from UTC
    own           ()      h  of the asker's clock
    asked         (m, 2)  h  first, last, as the asker's clock shows them
    widths        (m,)    h
    when          (n,)    1  best fit, written
    within        (n,)    1  largest share inside, written
    """
    for i in range(created.shape[0]):
        best, inside = 0.0, 0.0
        for k in range(asked.shape[0]):
            first, last = asked[k, 0], asked[k, 1]
            if starts[i, 0] == NONE:
                for told in (created[i] + offset[i], created[i] + own):
                    best = max(best, fit(told, told, first, last, widths[k]))
                    inside = max(inside, share_inside(told, told, first, last))
            for j in range(starts.shape[1]):
                if starts[i, j] == NONE:
                    break
                start, end = starts[i, j] / SECONDS, ends[i, j] / SECONDS
                best = max(best, fit(start, end, first, last, widths[k]))
                inside = max(inside, share_inside(start, end, first, last))
        when[i] = best
        within[i] = inside


@kernel
def stand_in_time(
    starts: Any,
    ends: Any,
    created: Any,
    offset: Any,
    own: float,
    asked: Any,
    focus: Any,
    widths: Any,
    least: float,
    standing: Any,
    gap: Any,
) -> None:
    """How each memory stands in the time asked for: told in its focus, told in it, about it, or
    neither; and how far it is.  Ours.

    starts, ends, created, offset, own, asked  as of `score_times`
    focus     (m, 2)  h  middle day of each time that is vague; first = last: none
    widths    (m,)    h  distance that counts as one, for each time
    least     ()      1  share of an interval of a memory inside the time, from which on the memory
                         is about it
    standing  (n,)    1  written: FOCUSED, TOLD, ABOUT or ELSEWHERE
    gap       (n,)    1  written: by how many widths the nearest time of the memory, told or named,
                         sticks out of the time asked for; 0: it is inside
    Cost: O(n m), times 4 intervals at most.

    >>> standing, gap, none = np.empty(3, dtype=np.int8), np.empty(3), np.full((3, 4), NONE)
    >>> told, asked, focus = np.array([30.0, 50.0, 80.0]), np.array([[24.0, 72.0]]), np.array([[48.0, 72.0]])
    >>> stand_in_time(none, none, told, np.zeros(3), 0.0, asked, focus, np.array([16.0]), 0.5, standing, gap)
    >>> standing.tolist(), gap.tolist()
    ([2, 3, 0], [0.0, 0.0, 0.5])
    """
    for i in range(created.shape[0]):
        best, nearest = ELSEWHERE, np.inf
        for k in range(asked.shape[0]):
            first, last = asked[k, 0], asked[k, 1]
            for told in (created[i] + offset[i], created[i] + own):
                nearest = min(nearest, max(first - told, told - last, 0.0) / widths[k])
                if focus[k, 0] <= told < focus[k, 1]:
                    best = max(best, FOCUSED)
                if first <= told < last:
                    best = max(best, TOLD)
            for j in range(starts.shape[1]):
                if starts[i, j] == NONE:
                    break
                start, end = starts[i, j] / SECONDS, ends[i, j] / SECONDS
                nearest = min(nearest, max(first - start, end - last, 0.0) / widths[k])
                if share_inside(start, end, first, last) >= least:
                    best = max(best, ABOUT)
        standing[i], gap[i] = best, nearest


@kernel
def add_elsewhere(standing: Any, gap: Any, log_factor: float, out: Any) -> None:
    """out_i += ln f (1 - exp(-g_i)), of memories that are elsewhere.  Ours.  Cost: O(n).

    standing    (n,)  1   as of `stand_in_time`
    gap         (n,)  1   g, in widths
    log_factor  ()    ln  ln f <= 0, of memories far from the time asked for
    out         (n,)  ln  added to

    >>> out = np.zeros(3)
    >>> add_elsewhere(np.array([TOLD, ELSEWHERE, ELSEWHERE]), np.array([0.0, 0.0, 1e9]), -0.5, out)
    >>> out.tolist()
    [0.0, 0.0, -0.5]
    """
    for i in range(out.shape[0]):
        if standing[i] == ELSEWHERE:
            out[i] -= log_factor * math.expm1(-gap[i])


@kernel
def date_scores(scores: Any, answerable: Any, gap: Any, rows: Any, out: Any) -> None:
    """Some memories above all others, in their order; the others by how near their time is.  Ours.
    Cost: O(n).

    With s the largest and l the range of the scores, or 1: s + l (1 - r / q) for the one of rank r
    = 0, 1, ... of q, and s - l (1 - 1 / (1 + ln(1 + g))) for the others: a logarithm, so that hours
    count near the time, and float32 still tells days apart that are years from it.

    scores      (n,)
    answerable  (n,)  bool: those of which s and l are taken
    gap         (n,)  1  g
    rows        (q,)  the memories of the time, in their order
    out         (n,)  written

    >>> out = np.empty(3)
    >>> date_scores(np.array([1.0, 5.0, 3.0]), np.ones(3, dtype=np.bool_), np.array([math.e - 1.0, 0.0, 0.0]), np.array([2]), out)
    >>> out.tolist()
    [3.0, 5.0, 9.0]
    """
    low, high = np.inf, -np.inf
    for i in range(scores.shape[0]):
        if answerable[i] and not np.isnan(scores[i]):
            low, high = min(low, np.float64(scores[i])), max(high, np.float64(scores[i]))
    span = high - low if high > low else 1.0
    for i in range(scores.shape[0]):
        out[i] = high - span * (1.0 - 1.0 / (1.0 + math.log1p(gap[i])))
    for rank in range(rows.shape[0]):
        out[rows[rank]] = high + span * (1.0 - rank / rows.shape[0])


@kernel
def score_order(created: Any, end: float, length: float, out: Any) -> None:
    """exp(-|created - end| / length): preference for one end of a history.  Ours.  Cost: O(n).

    created  (n,)  h  when each memory was encoded
    end      ()    h  the end of the history that is asked for
    length   ()    h  length of the history
    out      (n,)  1  written

    >>> out = np.empty(2)
    >>> score_order(np.array([0.0, 24.0]), 24.0, 24.0, out)
    >>> out.round(6).tolist()
    [0.367879, 1.0]
    """
    for i in range(created.shape[0]):
        out[i] = math.exp(-abs(created[i] - end) / length)


def widths(asked: Any) -> Any:
    """(m,) h: lengths of the times asked for (m, 2), at least a day; a day for those without a
    beginning or an end.  Ours.  O(m).

    >>> widths(np.array([[0.0, 48.0], [0.0, 1.0], [EARLIEST, 48.0], [0.0, LATEST]])).tolist()
    [48.0, 24.0, 24.0, 24.0]
    """
    open_ended = (asked[:, 0] <= EARLIEST) | (asked[:, 1] >= LATEST)
    return np.maximum(np.where(open_ended, 0.0, asked[:, 1] - asked[:, 0]), DAY)


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class TemporalIndexParams(Params):
    criterion: float  # least cosine of a memory with the event that gives a time
    # least share of the time of a memory inside the time asked for, if the memory is about it
    inside: float
    # ln factor on memories of other times, if the query names a time of the calendar
    elsewhere: float
    weight: float  # trust in the fused ranking


class TemporalIndex(Mechanism[TemporalIndexParams]):
    owns = (TIME_START, TIME_END, WHEN, END)

    @hook(Phase.ENCODE, reads=(ROW, CREATED, UTC_OFFSET), adds=(), sets=(TIME_START, TIME_END))
    def keep(self, view: Any, incoming: Incoming) -> None:
        """The intervals of the first expressions of the verbatim text, as the speaker's clock
        shows them.
        """
        row = view.row
        for i, expression in enumerate(
            times(incoming.event.text, view.created[row] + view.utc_offset[row]).expressions
        ):
            view.time_start[row, i], view.time_end[row, i] = (
                round(expression.start * SECONDS),
                round(expression.end * SECONDS),
            )

    @hook(
        Phase.RETRIEVE,
        reads=(NOW, CREATED, UTC_OFFSET, VISIBLE, INDEX, EMBEDDER, TIME_START, TIME_END),
        adds=(),
        sets=(WHEN, END, WITHIN),
    )
    def score(self, view: Any, cue: Cue) -> None:
        """By the times in the query, which is asked at the memory's present time."""
        own, wanted = asker_offset(cue, view.utc_offset), self._asked(view, cue)
        spans = [
            (expression.start, expression.end) for expression in wanted.expressions
        ] + self._spans_of_events(view, wanted, own)
        if spans:
            asked = np.array(spans)
            score_times(
                view.time_start,
                view.time_end,
                view.created,
                view.utc_offset,
                own,
                asked,
                widths(asked),
                view.when,
                view.within,
            )
            if not (view.when[view.visible] >= LEAST_FIT).any():
                view.when[...] = np.nan
        elif wanted.order in SIDES and view.visible.any():
            # a wrong clock may be ahead
            history = np.minimum(view.created[view.visible], view.now)
            score_order(
                view.created,
                SIDES[wanted.order](history),
                max(float(np.ptp(history)), DAY),
                view.end,
            )

    @hook(
        Phase.RETRIEVE,
        reads=(NOW, CREATED, UTC_OFFSET, TIME_START, TIME_END),
        adds=(LOG_PRIOR,),
        sets=(),
    )
    def narrow(self, view: Any, cue: Cue) -> None:
        """A prior against memories of other times, if the query names a time of the calendar."""
        if expressions := self._asked(view, cue).expressions:
            standing, gap = self._standing(view, cue, expressions)
            add_elsewhere(standing, gap, self.params.elsewhere, view.log_prior)

    @hook(Phase.RETRIEVE, reads=(NOW, CREATED, UTC_OFFSET, KIND, SPEAKER, TEXTS, GRAPH, ANSWERABLE,
                                 ARRANGED, TIME_START, TIME_END), adds=(),
          sets=(DATED,))  # fmt: skip
    def answer_by_time(self, view: Any, cue: Cue) -> None:
        """The memories of the time first, if the query asks for a time, by whomever, and nothing
        else.

        They are in order of time; as they match, if one kind of thing is asked for, such as a
        place.
        """
        wanted = self._asked(view, cue)
        if not wanted.expressions or wanted.events:
            return
        standing, gap = self._standing(view, cue, wanted.expressions)
        rows = np.flatnonzero((standing > ELSEWHERE) & view.answerable & (view.kind == 0))
        theirs = self._of_people(
            view, rows, asked_beside(features(wanted.beside(cue.query.text)).words)
        )
        if theirs is not None and view.answerable.any():
            time = -view.created[rows] if wanted.order is HistoryEnd.LATEST else view.created[rows]
            by = -view.arranged[rows] if asks_kind(cue.features.words) else time
            date_scores(
                view.arranged,
                view.answerable,
                gap,
                rows[np.lexsort((rows, by, -standing[rows], -theirs))],
                view.dated,
            )

    def _asked(self, view: Any, cue: Cue) -> Times:
        """The times in the query, as the asker's clock shows them; it is asked at the memory's
        present time.
        """
        return times(asking_part(cue.query.text), view.now + asker_offset(cue, view.utc_offset))

    def _standing(
        self, view: Any, cue: Cue, expressions: Sequence[TimeExpression]
    ) -> tuple[NDArray[np.int8], NDArray[np.float64]]:
        """How each memory stands in the times of the calendar that are asked for, and how far it
        is, in quarters of these, at least days.
        """
        asked = np.array([(expression.start, expression.end) for expression in expressions])
        focus = np.array([expression.focus or (0.0, 0.0) for expression in expressions])
        standing, gap = np.empty(len(view.created), np.int8), np.empty(len(view.created))
        stand_in_time(
            view.time_start,
            view.time_end,
            view.created,
            view.utc_offset,
            asker_offset(cue, view.utc_offset),
            asked,
            focus,
            np.maximum(widths(asked) * NEAR, DAY),
            self.params.inside,
            standing,
            gap,
        )
        return standing, gap

    def _of_people(
        self, view: Any, rows: NDArray[np.int64], named: Sequence[str]
    ) -> NDArray[np.int8] | None:
        """2 for rows by whom the words name, 1 for those that mention what they name, 0 for others;
        None if a word names nothing of these rows.

        O(rows) for each word, and a text for each speaker.
        """
        theirs = np.full(len(rows), 2, np.int8)
        if not named:
            return theirs
        numbers, firsts = np.unique(view.speaker[rows], return_index=True)
        speakers = [
            frozenset(features(view.texts.event(row).speaker).words)
            for row in rows[firsts].tolist()
        ]
        for word in named:
            by = [number for number, words in zip(numbers, speakers, strict=True) if word in words]
            said = np.where(np.isin(view.speaker[rows], by), np.int8(2), np.int8(0))
            entity = view.graph.entity_id(word)
            if entity is not None:
                mentions = rows_of_entity(view.graph, entity)
                said = np.maximum(said, np.isin(rows, mentions).astype(np.int8))
            if not said.any():
                return None
            theirs = np.minimum(theirs, said)
        return theirs

    def _spans_of_events(self, view: Any, wanted: Times, own: float) -> list[Span]:
        """The times given by events, each through the memory nearest to it in meaning, if that
        is near enough.
        """
        spans = []
        vectors = (
            view.embedder.embed([event.phrase for event in wanted.events]) if wanted.events else ()
        )
        for event, vector in zip(wanted.events, vectors, strict=True):
            rows, cosines = view.index.search(vector, 1)
            if rows.size and cosines[0] >= self.params.criterion:
                row = rows[0]
                if view.time_start[row, 0] == NONE:
                    told = float(view.created[row] + view.utc_offset[row])
                    happened = told, math.nextafter(told, math.inf)
                else:
                    happened = view.time_start[row, 0] / SECONDS, view.time_end[row, 0] / SECONDS
                if (span := event.span(happened, view.now + own)) is not None:
                    spans.append(span)
        return spans
