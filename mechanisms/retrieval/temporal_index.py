"""Temporal index: scores each memory by how well the times that it is about fit the time that the query asks for.

Cortex (section 8.1) names a dedicated temporal index as what its read path lacks; the form is ours.  A memory keeps the intervals of the first four
expressions of time in its text, resolved against the time it was said.  A query's expressions are resolved against the time it is asked.  A memory
scores 1 in the time asked for; with a gap beyond it, exp(-gap / width), with the length of the time asked for as width, at least a day.  An
interval that is partly inside scores the mean of this over its length.  A memory without expressions is about the instant at which it was encoded.
Times are of the calendar, so `time_scale` has no effect.

"Before the move" is resolved through the memory nearest in meaning to "the move": its first interval, or its encoding.  A query without a
time that asks for the first or the latest of several prefers memories encoded early or late.  A query without either is left alone.

The time asked for is a part of the cue like its words, so its signal is direct: context and the other signals that start from the match start from
memories of that time.  If they started from words and meaning alone, they would lend most to whichever occurrence of an event matches best in
these, and outvote the time.  The first or the latest is a choice among what matches and no part of the match, so it has a signal of its own.

Cost: O(n) per query with a time, and one index search, O(n d), for each event that gives a time; O(words) per event stored.
"""
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ...engine.columns import Column, Facet, Phase, Scale, Scope, signal
from ...engine.contract import Cue, Incoming, Mechanism, Params, hook
from ...engine.numerics import kernel
from ...engine.text.dates import DAY, EARLIEST, LATEST, MOST, Order, Span, Times, times
from ...engine.vocabulary import CREATED, EMBEDDER, INDEX, NOW, ROW, VISIBLE, WITHIN

# --- columns -----------------------------------------------------------------------------------------------------------------
NONE: Final = int(np.iinfo(np.int64).min)
TIME_START = Column("time_start", np.int64, Scope.MEMORY, "s", NONE, "start of each time that the text names, since 1970; the least number: none",
                    (MOST,), own=True)
TIME_END = Column("time_end", np.int64, Scope.MEMORY, "s", NONE, "end of each time that the text names, since 1970; the least number: none", (MOST,),
                  own=True)
WHEN = signal("when", Facet.WHEN, "fit of the memory's time with the time asked for; NaN: no time asked", scale=Scale.SIMILARITY)
END = signal("end", Facet.WHEN, "nearness to the end of the history that is asked for, the first or the latest; NaN: neither", direct=False,
             scale=Scale.SIMILARITY)
SIDES: Final = {Order.FIRST: np.min, Order.LATEST: np.max}
SECONDS: Final = 3600.0                 # of an hour


# --- equations ---------------------------------------------------------------------------------------------------------------
@kernel
def share_inside(start: float, end: float, first: float, last: float) -> float:
    """Share of [start, end) inside [first, last); of an instant (start = end), 1 or 0.  Ours.  Cost: O(1).

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
    """Integral of exp(-x / width) over gaps x from `near` to `far`, both h: width (exp(-near / width) - exp(-far / width)).  Ours.  Cost: O(1).

    >>> decayed(0.0, 1e9, 6.0), round(decayed(1.0, 2.0, 1.0), 6)
    (6.0, 0.232544)
    """
    return -width * math.exp(-near / width) * math.expm1((near - far) / width)


@kernel
def fit(start: float, end: float, first: float, last: float, width: float) -> float:
    """Mean over [start, end) of 1 inside [first, last) and exp(-gap / width) beyond it.  Ours.  Cost: O(1).

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
def score_times(starts: Any, ends: Any, created: Any, asked: Any, widths: Any, when: Any, within: Any) -> None:
    """The best fit, and the largest share, over the intervals of each memory and those asked for.  Ours.  Cost: O(n m), times 4 intervals at most.

    starts, ends  (n, 4)  s  times that each memory names, in order; NONE: no more
    created       (n,)    h  instant of a memory that names none
    asked         (m, 2)  h  first, last
    widths        (m,)    h
    when          (n,)    1  best fit, written
    within        (n,)    1  largest share inside, written
    """
    for i in range(created.shape[0]):
        best, inside = 0.0, 0.0
        for k in range(asked.shape[0]):
            first, last = asked[k, 0], asked[k, 1]
            if starts[i, 0] == NONE:
                best = max(best, fit(created[i], created[i], first, last, widths[k]))
                inside = max(inside, share_inside(created[i], created[i], first, last))
            for j in range(starts.shape[1]):
                if starts[i, j] == NONE:
                    break
                start, end = starts[i, j] / SECONDS, ends[i, j] / SECONDS
                best = max(best, fit(start, end, first, last, widths[k]))
                inside = max(inside, share_inside(start, end, first, last))
        when[i] = best
        within[i] = inside


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
    """(m,) h: lengths of the times asked for (m, 2), at least a day; a day for those without a beginning or an end.  Ours.  O(m).

    >>> widths(np.array([[0.0, 48.0], [0.0, 1.0], [EARLIEST, 48.0], [0.0, LATEST]])).tolist()
    [48.0, 24.0, 24.0, 24.0]
    """
    open_ended = (asked[:, 0] <= EARLIEST) | (asked[:, 1] >= LATEST)
    return np.maximum(np.where(open_ended, 0.0, asked[:, 1] - asked[:, 0]), DAY)


# --- plug-in -----------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class TemporalIndexParams(Params):
    criterion: float            # least cosine of a memory with the event that gives a time
    weight: float               # trust in the fused ranking


class TemporalIndex(Mechanism[TemporalIndexParams]):
    owns = (TIME_START, TIME_END, WHEN, END)

    @hook(Phase.ENCODE, reads=(ROW, NOW), adds=(), sets=(TIME_START, TIME_END))
    def keep(self, view: Any, incoming: Incoming) -> None:
        """The intervals of the first expressions of the verbatim text."""
        for i, found in enumerate(times(incoming.event.text, view.now).expressions):
            view.time_start[view.row, i], view.time_end[view.row, i] = round(found.start * SECONDS), round(found.end * SECONDS)

    @hook(Phase.RETRIEVE, reads=(NOW, CREATED, VISIBLE, INDEX, EMBEDDER, TIME_START, TIME_END), adds=(), sets=(WHEN, END, WITHIN))
    def score(self, view: Any, cue: Cue) -> None:
        """By the times in the query, which is asked at the memory's present time."""
        found = times(cue.query.text, view.now)
        spans = [(each.start, each.end) for each in found.expressions] + self._spans_of_events(view, found)
        if spans:
            asked = np.array(spans)
            score_times(view.time_start, view.time_end, view.created, asked, widths(asked), view.when, view.within)
        elif found.order in SIDES and view.visible.any():
            history = view.created[view.visible]
            score_order(view.created, SIDES[found.order](history), max(float(np.ptp(history)), DAY), view.end)

    def _spans_of_events(self, view: Any, found: Times) -> list[Span]:
        """The times given by events, each through the memory nearest to it in meaning, if that is near enough."""
        spans = []
        vectors = view.embedder.embed([each.phrase for each in found.events]) if found.events else ()
        for each, vector in zip(found.events, vectors, strict=True):
            rows, cosines = view.index.search(vector, 1)
            if rows.size and cosines[0] >= self.params.criterion:
                row = rows[0]
                if view.time_start[row, 0] == NONE:
                    happened = float(view.created[row]), math.nextafter(view.created[row], math.inf)
                else:
                    happened = view.time_start[row, 0] / SECONDS, view.time_end[row, 0] / SECONDS
                if (span := each.span(happened, view.now)) is not None:
                    spans.append(span)
        return spans
