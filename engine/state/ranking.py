"""From scores to ranks: exact and deterministic, ties by row."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..base.numerics import exact_kernel, plain, read_only, summing_kernel
from ..base.sharing import in_blocks, in_parts
from ..base.tables import brief, html_table
from ..base.times import moment, written
from ..contract.ask import Ask
from ..contract.records import Event, Query
from ..contract.units import Unit

Rows = NDArray[np.int64]
SHOWN, LONG = 60, 400  # characters of a text in one line and in a table
BLOCK: Final = 256  # rows that are looked at together, without a branch
# rows to which all signals are added while they stay in the processor's cache
PART: Final = 32_768
# best rows, from which on a sample of every sixteenth row suggests a bound for them
MANY: Final = 512
SAMPLED: Final = 16
# rows up to which plain Python computes the moments of scores: a small memory then loads no machine
# code, which takes as long as 5,000 such signals
FEW: Final = 16
SPARSE: Final = 64  # rows for each one with a score, from which on a signal is read by rows
# most standard deviations of a score from the mean, the root of 1,024: among fewer memories no
# score can be further
FURTHEST: Final = 32.0


@summing_kernel
def _moments(scores: Any, visible: Any, floor: float, few: int) -> Any:
    """How many scores are no NaN, if at most `few`; then nothing else is computed.  If more: at least
    `few` + 1; origin, mean difference from it and sd of the visible scores, with `floor` for NaN;
    zeros if none is visible.  And whether any score, visible or not, is FURTHEST or more sd from
    the mean, in the precision of the scores, with `floor` for NaN.  O(n), two passes.

    visible may be how many memories each row stands for.  The origin is one of the scores, so that
    the differences of equal scores, and their sums, are exactly 0.  If it is d sd from the mean,
    the variance is the difference of numbers d^2 times as large; where d is beyond 32, the largest
    distance takes the place of the sd.
    """
    n, scored, first = scores.shape[0], 0, 0
    for start in range(0, n, BLOCK):
        for i in range(start, min(start + BLOCK, n)):  # without a branch
            scored += scores[i] == scores[i]
        if scored > few:
            break
    if scored <= few:
        return scored, 0.0, 0.0, 0.0, False
    while first < n and not visible[first]:
        first += 1
    if first == n:
        return scored, 0.0, 0.0, 0.0, False
    origin = np.float64(scores[first]) if scores[first] == scores[first] else floor
    count, total, squares = 0.0, 0.0, 0.0
    for i in range(n):  # without a branch
        score, stands = (
            np.float64(scores[i]) if scores[i] == scores[i] else floor,
            np.float64(visible[i]),
        )
        difference = score - origin if visible[i] else 0.0  # a hidden score may be infinite
        count += stands
        total += stands * difference
        squares += stands * difference * difference
    mean, variance = total / count, squares / count - (total / count) * (total / count)
    sd = np.sqrt(variance) if variance > 0.0 else 0.0
    beyond, centre = 0, origin + mean
    least = scores.dtype.type(centre - FURTHEST * sd)
    most = scores.dtype.type(centre + FURTHEST * sd)
    silent = scores.dtype.type(floor)
    for i in range(n):  # without a branch
        given = scores[i] if scores[i] == scores[i] else silent
        beyond += (given <= least) | (given >= most)
    return scored, origin, mean, sd, beyond > 0


_moments_of_few: Final = plain(_moments)


@exact_kernel
def _few_moments(scores: Any, visible: Any, floor: float) -> Any:
    """As `_moments` and `_furthest`, if few of the visible memories have a score: the origin is
    `floor`.  And whether any visible memory has none; if not, nothing else is computed.  O(n), two
    passes.

    How many memories rows stand for are numbers of float32 from 1 on, whose sum is exact in float64.
    """
    count, scored, total, silent = 0.0, 0.0, 0.0, False
    for i in range(scores.shape[0]):
        if visible[i] > 0:
            count += np.float64(visible[i])
            if scores[i] == scores[i]:
                scored += np.float64(visible[i])
                total += np.float64(visible[i]) * (np.float64(scores[i]) - floor)
            else:
                silent = True
    if not silent:
        return False, floor, 0.0, 0.0, 0.0
    mean = total / count
    squares, furthest = 0.0, abs(mean)
    for i in range(scores.shape[0]):
        if visible[i] > 0 and scores[i] == scores[i]:
            deviation = np.float64(scores[i]) - floor - mean
            squares += np.float64(visible[i]) * deviation * deviation
            furthest = max(furthest, abs(deviation))
    sd = math.sqrt((squares + (count - scored) * mean * mean) / count)
    return True, floor, mean, sd, furthest


def _furthest(scores: NDArray[Any], visible: NDArray[Any], floor: float, centre: float) -> float:
    """Largest distance of a visible score from the centre, `floor` for NaN.  O(n)."""
    shown = scores[visible > 0].astype(np.float64)
    shown[np.isnan(shown)] = floor
    return float(np.abs(shown - centre).max(initial=0.0))


@exact_kernel
def add_scaled(
    scores: Any, floor: float, origin: float, mean: float, factor: float, out: Any
) -> None:
    """out += factor * (scores - origin - mean), with `floor` for NaN.  O(n)."""
    for i in range(scores.shape[0]):
        out[i] += factor * (
            (floor if scores[i] != scores[i] else np.float64(scores[i])) - origin - mean
        )


def standard(
    scores: NDArray[Any], visible: NDArray[Any], floor: float, weight: float
) -> tuple[bool, float, float, float]:
    """Whether a signal counts, and origin, mean and factor of `add_scaled`: weight / sd over the
    visible memories.  Cost: O(n).

    It does not count if all visible scores are equal.  A score that few of n memories have is up to
    sqrt(n - 1) sd from the mean, so that in a large memory one rare signal would outvote all
    others.  So sd is at least a 32nd of the largest distance from the mean: a signal has the range
    that it can have among 1,024 memories.

    scores   (n,)  score of each memory, NaN for silence
    visible  (n,)  bool, or how many visible memories each row stands for, see STANDS_FOR
    floor    ()    the score that replaces NaN
    """
    # of one layout and type, so that one form is compiled
    given = read_only(np.ascontiguousarray(scores))
    stands = read_only(np.ascontiguousarray(visible, np.float32))
    moments = _moments if len(scores) > FEW else _moments_of_few
    few = len(scores) // SPARSE
    scored, origin, mean, sd, far = moments(given, stands, float(floor), few)
    if not scored:
        return False, 0.0, 0.0, 0.0
    silent, furthest = False, 0.0
    if scored <= few:
        silent, origin, mean, sd, furthest = _few_moments(given, stands, float(floor))
        if not silent:  # every visible memory has a score
            _, origin, mean, sd, far = moments(given, stands, float(floor), -1)
    if not silent:  # few signals go so far, so that the exact distance is rarely needed
        furthest = _furthest(scores, stands, floor, origin + mean) if sd > 0.0 and far else 0.0
    if not sd > 1e-12 * max(abs(origin + mean), 1e-300):
        return False, 0.0, 0.0, 0.0
    # one division; each term is within 2^-52 of its value
    return True, origin, mean, weight / max(sd, furthest / FURTHEST)


def add_standardised(
    scores: NDArray[Any], visible: NDArray[Any], floor: float, weight: float, out: NDArray[Any]
) -> bool:
    """out += weight * (scores - mean) / sd, mean and sd of `standard`; False, and nothing is added,
    if the signal does not count.  Cost: O(n).

    out  (n,)  added to, also for hidden memories: on the scale of the visible ones

    >>> out = np.zeros(4)
    >>> add_standardised(np.array([1.0, 3.0, np.nan, 9.0]), np.array([True, True, True, False]), 2.0, 1.0, out)
    True
    >>> [round(float(x), 3) for x in out]
    [-1.225, 1.225, 0.0, 8.573]
    """
    counts, origin, mean, factor = standard(scores, visible, floor, weight)
    if counts:
        add_scaled(read_only(scores), float(floor), origin, mean, factor, out)
    return counts


def add_all_standardised(
    signals: Sequence[tuple[NDArray[Any], float, float]], visible: NDArray[Any], out: NDArray[Any]
) -> list[bool]:
    """Apply `add_standardised` to each signal, (scores, floor, weight), in turn; returns which
    signals count.  Cost: O(n) a signal; threads that help share it.
    """
    visible = read_only(np.ascontiguousarray(visible, np.float32))  # once for all
    if len(out) <= PART:
        return [
            add_standardised(scores, visible, floor, weight, out)
            for scores, floor, weight in signals
        ]
    standards: list[Any] = [None] * len(signals)

    def measure(at: int) -> None:
        scores, floor, weight = signals[at]
        standards[at] = standard(scores, visible, floor, weight)

    def add(rows: slice) -> None:
        for (scores, floor, _), (counts, origin, mean, factor) in zip(
            signals, standards, strict=True
        ):
            if counts:
                add_scaled(read_only(scores[rows]), float(floor), origin, mean, factor, out[rows])

    in_parts(len(signals), measure)
    in_blocks(len(out), PART, add)
    return [counts for counts, *_ in standards]


@exact_kernel
def _sink(kept: Any, rows: Any, size: int, score: float, row: int) -> None:
    """Replace the first and worst of the `size` scores of a heap, and move the new one down until it
    is worse than those below it.  Of equal scores the later row is worse.
    """
    at = 0
    while 2 * at + 1 < size:
        worst, other = 2 * at + 1, 2 * at + 2
        if other < size and (
            kept[other] < kept[worst] or (kept[other] == kept[worst] and rows[other] > rows[worst])
        ):
            worst = other
        if kept[worst] > score or (kept[worst] == score and rows[worst] < row):
            break
        kept[at], rows[at] = kept[worst], rows[worst]
        at = worst
    kept[at], rows[at] = score, row


@exact_kernel
def _heap(scores: Any, visible: Any, kept: Any, rows: Any) -> int:
    """Write the rows of the best visible scores, best first, ties by row; returns how many there
    are.  Cost: O(n + k log k log n) for random order.

    kept  (k,)  written, of the type of the scores
    rows  (k,)  written

    They are kept as a heap, the worst first, which is then sorted in place.
    """
    n, k, size, first = scores.shape[0], kept.shape[0], 0, 0
    while first < n and size < k:
        if visible[first] and scores[first] == scores[first]:
            at = size
            size += 1
            # of equal scores the later row is worse
            while at > 0 and scores[first] <= kept[(at - 1) // 2]:
                kept[at], rows[at] = kept[(at - 1) // 2], rows[(at - 1) // 2]
                at = (at - 1) // 2
            kept[at], rows[at] = scores[first], first
        first += 1
    for start in range(first, n if k > 0 else first, BLOCK):
        end = start + BLOCK if start + BLOCK < n else n
        better, bound = 0, kept[0]
        for i in range(start, end):  # without a branch
            better += visible[i] & (scores[i] > bound)
        if better == 0:  # most blocks have no better score
            continue
        for row in range(start, end):
            if visible[row] and scores[row] > kept[0]:
                _sink(kept, rows, size, scores[row], row)
    for last in range(size - 1, 0, -1):  # the worst that is left goes behind the others
        score, row, kept[last], rows[last] = kept[last], rows[last], kept[0], rows[0]
        _sink(kept, rows, last, score, row)
    return size


def best(scores: NDArray[Any], visible: NDArray[np.bool_], k: int) -> Rows:
    """Rows of the k best visible scores, best first, ties by row; NaN is left out.  Cost: O(n + k
    log k) for random order.

    Many rows of many more are found among those above a score that a sample of the rows suggests,
    where these are enough.

    scores   (n,)  of float32; others take some times as long
    visible  (n,)  bool

    >>> best(np.array([0.2, 0.9, np.nan, 0.9]), np.ones(4, dtype=np.bool_), 2).tolist()
    [1, 3]
    """
    k = max(min(int(k), len(scores)), 0)
    if scores.dtype != np.float32:
        return _best_by_partition(scores, visible, k)
    # of one layout, so that one form is compiled
    scores, visible = np.ascontiguousarray(scores), np.ascontiguousarray(visible)
    if k >= MANY and k * SAMPLED < len(scores):
        # half as many more, as a sample may mislead
        sampled = best(scores[::SAMPLED], visible[::SAMPLED], 3 * k // (2 * SAMPLED))
        if len(sampled):
            some = np.flatnonzero(visible & (scores >= scores[SAMPLED * sampled[-1]]))
            if len(some) >= k:
                return np.asarray(some[best(scores[some], visible[some], k)])
    kept, rows = np.empty(k, np.float32), np.empty(k, np.int64)
    # numba compiles anew for arrays that may be written
    size = _heap(read_only(scores), read_only(visible), kept, rows)
    return rows[:size]


def _best_by_partition(scores: NDArray[Any], visible: NDArray[np.bool_], k: int) -> Rows:
    """As `best`, of any type, without a kernel for it.  O(n + k log k)."""
    rows = np.flatnonzero(visible & (scores == scores))
    falling_scores = -scores[rows].astype(np.float64)
    if 0 < k < len(rows):
        bound = np.partition(falling_scores, k - 1)[k - 1]
        near = np.flatnonzero(falling_scores <= bound)
        rows, falling_scores = rows[near], falling_scores[near]
    return rows[np.argsort(falling_scores, kind="stable")[:k]]


def falling(scores: NDArray[np.float32]) -> Rows:
    """Places by falling score, ties by place; of finite scores, at most 2^32 of them.  O(n log n),
    in a fifth of the time of a stable sort.

    >>> falling(np.float32([0.5, -1.5, 2.5, 0.5])).tolist()
    [2, 0, 3, 1]
    """
    bits = (scores + np.float32(0.0)).view(np.int32)  # 0.0 in place of -0.0
    # the bits of negative numbers fall as these grow
    bits ^= (bits >> 31) & 0x7FFFFFFF
    keys = (~bits).astype(np.int64) << 32 | np.arange(len(bits))
    keys.sort()
    return keys & 0xFFFFFFFF


def rank(scores: NDArray[Any], visible: NDArray[np.bool_], row: int) -> int:
    """Place of a row among all visible ones, from 1; 0 if it cannot be retrieved.  Cost: O(n)."""
    if row < 0 or row >= len(scores) or not visible[row] or np.isnan(scores[row]):
        return 0
    ahead = scores > scores[row]
    ahead[:row] |= scores[:row] == scores[row]
    return int(np.count_nonzero(ahead & visible)) + 1


@dataclass(frozen=True, slots=True)
class Hit:
    """One memory of an answer.

    text        verbatim
    id          of its event; "" if the memory made it, or the event has none
    score       final
    time        h, of the event, or CREATED of a row that the memory made
    row         of the memory
    speaker, session  names; "" for none
    attributes  sorted pairs of key and value of its event; () if the memory made it
    offset      h, of the clock of who said it from UTC, as in `Unit`
    """

    text: str
    id: str
    score: float
    time: float
    row: int
    speaker: str = ""
    session: str = ""
    attributes: tuple[tuple[str, str], ...] = ()
    offset: float = 0.0

    @property
    def local(self) -> datetime:
        """The time as that clock showed it: an aware datetime.

        >>> Hit("We moved.", "", 1.0, 30.0, 0, offset=-4.0).local.isoformat()
        '1970-01-02T02:00:00-04:00'
        """
        return moment(self.time, self.offset)


@dataclass(slots=True)
class Asked:
    """Where an answer comes from, for feedback on it.

    query   as the memory took it
    life    the memory from its making or loading to its end; another object in another process, and
            after a snapshot was loaded
    learnt  whether the memory has learnt from the answer
    whole   whether all rows were asked, and not a shortlist
    ask     the question as it was asked
    stands  changes and passes of the memory until the answer: as long as they are the same, its
            columns are those of this question; None: they were of a store of its own
    """

    query: Query
    life: object
    learnt: bool = False
    whole: bool = True
    ask: Ask | None = field(default=None, repr=False, compare=False)
    stands: tuple[int, int] | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class Standing:
    """How the memories stand for a question: as `Answer` shows it, computed when it is looked at.

    size        number of memories
    rows        (m,) int64    those that were asked, ascending; None: all
    scores      (m,) float32  their final scores
    admitted    (m,) bool     which of them may be answered
    """

    size: int
    rows: Rows | None
    scores: NDArray[np.float32]
    admitted: NDArray[np.bool_]

    def at(self, rows: Rows) -> NDArray[np.float32]:
        """Final scores of some of the rows that were asked."""
        return self.scores[rows if self.rows is None else np.searchsorted(self.rows, rows)]

    @cached_property
    def final(self) -> NDArray[np.float32]:
        """(size,) final scores; NaN for those not asked.  O(size) at the first reading if not
        all were asked.
        """
        return (
            self.scores
            if self.rows is None
            else _spread(self.scores, self.rows, np.full(self.size, np.nan, np.float32))
        )

    @cached_property
    def answerable(self) -> NDArray[np.bool_]:
        """(size,) which may be answered; False for those not asked.  O(size) at the first
        reading if not all were asked.
        """
        return (
            self.admitted
            if self.rows is None
            else _spread(self.admitted, self.rows, np.zeros(self.size, np.bool_))
        )

    def __getstate__(self) -> dict[str, Any]:
        """Without what was computed."""
        return {attribute.name: getattr(self, attribute.name) for attribute in fields(self)}


def _spread(values: NDArray[Any], rows: Rows, out: NDArray[Any]) -> NDArray[Any]:
    out[rows] = values
    return out


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a query; iterates over its hits, best first.

    rows           (k,) int64    best first
    scores         (k,) float32  their final scores
    standing       n memories    their final scores, and which of them may be answered
    units          k             what the rows hold
    records        k             their events, verbatim; None for a row that the memory made
    sufficiency    ()            probability that the answer suffices; 1: not judged
    chronological  ()            whether the question asks for an order of time
    asked          where it comes from, for `Engine.use`
    """

    rows: Rows
    scores: NDArray[np.float32]
    standing: Standing
    units: tuple[Unit, ...]
    records: tuple[Event | None, ...]
    sufficiency: float = 1.0
    chronological: bool = False
    asked: Asked | None = field(default=None, repr=False, compare=False)

    @property
    def final(self) -> NDArray[np.float32]:
        """(n,) final score of every memory; NaN: held back, or not on the shortlist that was
        asked.
        """
        return self.standing.final

    @property
    def answerable(self) -> NDArray[np.bool_]:
        """(n,) which memories may be answered; False also for those not on the shortlist that
        was asked.
        """
        return self.standing.answerable

    @property
    def events(self) -> tuple[Event, ...]:
        """The events among the answered rows, verbatim, in the order of the rows; rows that the
        memory made are left out, see `units`.
        """
        return tuple(event for event in self.records if event is not None)

    def sources(self) -> tuple[str, ...]:
        """Ids of the events from which the answered rows were made: by best score, then first
        rank, then id.
        """
        order_of: dict[str, tuple[float, int, str]] = {}
        for place, (unit, score) in enumerate(zip(self.units, self.scores.tolist(), strict=True)):
            for id in unit.sources:
                best = order_of.get(id, (-score, place, id))
                order_of[id] = min(best[0], -score), min(best[1], place), id
        return tuple(id for _, _, id in sorted(order_of.values()))

    def in_time(self) -> Answer:
        """The same memories in the order of their times, ties by row."""
        order = sorted(range(len(self.rows)), key=lambda i: (self.units[i].time, self.rows[i]))
        return replace(
            self,
            rows=self.rows[order],
            scores=self.scores[order],
            units=tuple(self.units[i] for i in order),
            records=tuple(self.records[i] for i in order),
        )

    def rank(self, row: int) -> int:
        """Place of a row from 1, ties by row; 0 if it cannot be retrieved."""
        return int(rank(self.final, self.answerable, row))

    def __iter__(self) -> Iterator[Hit]:
        for unit, event, score in zip(self.units, self.records, self.scores.tolist(), strict=True):
            yield Hit(
                unit.text,
                unit.id,
                score,
                unit.time,
                unit.row,
                unit.speaker,
                unit.session,
                event.attributes if event else (),
                unit.offset,
            )

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        best = f", best {brief(self.units[0].text, SHOWN)!r}" if self.units else ""
        return f"<Answer: {len(self)} of {int(np.count_nonzero(self.answerable))} memories{best}>"

    def _repr_html_(self) -> str:
        cells = ((i + 1, f"{hit.score:z.3f}", hit.row, written(hit.time, hit.offset), brief(hit.id,
            SHOWN), brief(hit.text, LONG))
                 for i, hit in enumerate(self))  # fmt: skip
        return html_table(("rank", "score", "row", "time", "id", "text"), cells)
