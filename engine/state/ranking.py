"""From scores to ranks: exact and deterministic, ties by row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..base.numerics import kernel, summing_kernel
from ..base.sharing import in_blocks, in_parts
from ..base.tables import brief, html_table
from ..base.times import moment, written
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
SPARSE: Final = 64  # rows for each one with a score, from which on a signal is read by rows
# standard deviations that a score is from the mean at most, the root of 1,024: of fewer memories
# none can be further
FURTHEST: Final = 32.0


@kernel
def _scored(scores: Any, most: int) -> Any:
    """Whether at most so many scores are no NaN, and the rows of these, ascending.  O(n), without a
    branch for words of eight NaN.

    O(most) if more than that are among the first scores, as those of a signal that most memories
    have.
    """
    n, size, rows = scores.shape[0], 0, np.empty(most, np.int64)
    early = 0
    for i in range(min(n, 4 * most)):
        early += scores[i] == scores[i]
    if early > most:
        return False, rows
    scored = np.zeros((n + 7) // 8 * 8, np.uint8)
    for i in range(n):
        scored[i] = scores[i] == scores[i]
    words = scored.view(np.uint64)
    for word in range(words.shape[0]):
        if words[word]:
            for i in range(8 * word, 8 * word + 8):
                if scored[i]:
                    if size == most:
                        return False, rows
                    rows[size] = i
                    size += 1
    return True, rows[:size]


@summing_kernel
def _shown(visible: Any) -> Any:
    """Number of visible memories, and of rows that stand for some.  O(n)."""
    count, rows = 0.0, 0
    for i in range(visible.shape[0]):
        count += visible[i]
        rows += visible[i] > 0
    return count, rows


@summing_kernel
def _moments(scores: Any, visible: Any, floor: float) -> Any:
    """Origin, mean difference from it and sd of the visible scores, with `floor` for NaN; zeros if
    none is visible.  O(n), one pass.

    visible may be how many memories each row stands for.  The origin is one of the scores, so that
    the differences of equal scores, and their sums, are exactly 0.  If it is d sd from the mean,
    the variance is the difference of numbers d^2 times as large; where d is beyond 32, the largest
    distance takes the place of the sd.
    """
    n, first = scores.shape[0], 0
    while first < n and not visible[first]:
        first += 1
    if first == n:
        return 0.0, 0.0, 0.0
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
    mean = total / count
    return origin, mean, np.sqrt(max(squares / count - mean * mean, 0.0))


@kernel
def _few_moments(scores: Any, rows: Any, visible: Any, floor: float, count: float) -> Any:
    """As `_moments` and `_furthest`, if only these rows have a score, and a visible one has
    none: the origin is `floor`.  O(rows).
    """
    total, squares, others = 0.0, 0.0, count
    for row in rows:
        if visible[row] > 0:
            total += visible[row] * (scores[row] - floor)
            others -= visible[row]
    mean = total / count
    furthest = abs(mean)
    for row in rows:
        if visible[row] > 0:
            deviation = scores[row] - floor - mean
            squares += visible[row] * deviation * deviation
            furthest = max(furthest, abs(deviation))
    return floor, mean, np.sqrt((squares + others * mean * mean) / count), furthest


@summing_kernel
def _any_beyond(scores: Any, low: float, high: float) -> bool:
    """Whether any score, visible or not, is outside of the bounds or on one, in the precision of
    the scores.  O(n), without a branch.
    """
    beyond, least, most = 0, scores.dtype.type(low), scores.dtype.type(high)
    for i in range(scores.shape[0]):
        beyond += (scores[i] <= least) | (scores[i] >= most)  # not so of NaN
    return beyond > 0


@kernel
def _furthest(scores: Any, visible: Any, floor: float, centre: float) -> float:
    """Largest distance of a visible score from the centre, `floor` for NaN.  O(n)."""
    furthest = 0.0
    for i in range(scores.shape[0]):
        if visible[i] > 0:
            furthest = max(
                furthest, abs((np.float64(scores[i]) if scores[i] == scores[i] else floor) - centre)
            )
    return furthest


@kernel
def add_scaled(
    scores: Any, floor: float, origin: float, mean: float, factor: float, out: Any
) -> None:
    """out += factor * (scores - origin - mean), with `floor` for NaN.  O(n)."""
    for i in range(scores.shape[0]):
        out[i] += factor * (
            (floor if np.isnan(scores[i]) else np.float64(scores[i])) - origin - mean
        )


@kernel
def standard(scores: Any, visible: Any, floor: float, weight: float) -> Any:
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
    few, rows = _scored(scores, scores.shape[0] // SPARSE)
    if few and rows.shape[0] == 0:
        return False, 0.0, 0.0, 0.0
    if few:
        count, silent = _shown(visible)
        for row in rows:
            silent -= visible[row] > 0
        few = silent > 0
    if few:
        origin, mean, sd, furthest = _few_moments(scores, rows, visible, floor, count)
    else:
        origin, mean, sd = _moments(scores, visible, floor)
        centre, furthest = origin + mean, 0.0
        low, high = centre - FURTHEST * sd, centre + FURTHEST * sd
        # few signals are, so that the exact distance is rarely needed
        if not low < floor < high or _any_beyond(scores, low, high):
            furthest = _furthest(scores, visible, floor, centre)
    if not sd > 1e-12 * max(abs(origin + mean), 1e-300):
        return False, 0.0, 0.0, 0.0
    # one division; each term is within 2^-52 of its value
    return True, origin, mean, weight / max(sd, furthest / FURTHEST)


@kernel
def add_standardised(scores: Any, visible: Any, floor: float, weight: float, out: Any) -> bool:
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
        add_scaled(scores, floor, origin, mean, factor, out)
    return bool(counts)


def add_all_standardised(
    signals: Sequence[tuple[NDArray[Any], float, float]], visible: NDArray[Any], out: NDArray[Any]
) -> list[bool]:
    """`add_standardised` of each signal, (scores, floor, weight), in turn; which of them count.
    Cost: O(n) a signal; threads that help share it.
    """
    if len(out) <= PART:
        return [
            add_standardised(scores, visible, floor, weight, out)
            for scores, floor, weight in signals
        ]
    found: list[Any] = [None] * len(signals)

    def measure(at: int) -> None:
        scores, floor, weight = signals[at]
        found[at] = standard(scores, visible, floor, weight)

    def add(rows: slice) -> None:
        for (scores, floor, _), (counts, origin, mean, factor) in zip(signals, found, strict=True):
            if counts:
                add_scaled(scores[rows], floor, origin, mean, factor, out[rows])

    in_parts(len(signals), measure)
    in_blocks(len(out), PART, add)
    return [counts for counts, *_ in found]


@kernel
def _sift(kept: Any, rows: Any, size: int) -> None:
    """Restore the heap after its root, the worst kept row, was replaced."""
    at, score, row = 0, kept[0], rows[0]
    while 2 * at + 1 < size:
        worst = 2 * at + 1
        for child in (worst, worst + 1):
            if child < size and (
                kept[child] < kept[worst]
                or (kept[child] == kept[worst] and rows[child] > rows[worst])
            ):
                worst = child
        if not (kept[worst] < score or (kept[worst] == score and rows[worst] > row)):
            break
        kept[at], rows[at] = kept[worst], rows[worst]
        at = worst
    kept[at], rows[at] = score, row


@kernel
def _above(scores: Any, visible: Any, bound: float) -> int:
    """Number of visible scores above a bound.  O(n), without a branch."""
    count = 0
    for i in range(scores.shape[0]):
        count += visible[i] & (scores[i] > bound)
    return count


@kernel
def _heap(scores: Any, visible: Any, k: int) -> Any:
    """Rows of the k best visible scores and these scores, as a heap, the worst first.  Cost: O(n
    + k log k log n) for random order.
    """
    n, size, first = scores.shape[0], 0, 0
    rows, kept = np.empty(max(k, 0), dtype=np.int64), np.empty(max(k, 0), dtype=scores.dtype)
    while first < n and size < k:
        if visible[first] and scores[first] == scores[first]:
            at = size
            size += 1
            # of equals the later row is worse
            while at > 0 and scores[first] <= kept[(at - 1) // 2]:
                kept[at], rows[at] = kept[(at - 1) // 2], rows[(at - 1) // 2]
                at = (at - 1) // 2
            kept[at], rows[at] = scores[first], first
        first += 1
    for start in range(first, n if k > 0 else first, BLOCK):
        block, shown = scores[start : start + BLOCK], visible[start : start + BLOCK]
        if _above(block, shown, kept[0]):  # most blocks have no better score
            for i in range(block.shape[0]):
                if shown[i] and block[i] > kept[0]:
                    kept[0], rows[0] = block[i], start + i
                    _sift(kept, rows, size)
    return rows[:size], kept[:size]


@kernel
def _at_least(scores: Any, visible: Any, bound: Any) -> Any:
    """The rows of the visible scores that are no lower than a bound, ascending.  O(n), without a
    branch.
    """
    count, rows = 0, np.empty(scores.shape[0] + 1, dtype=np.int64)
    for i in range(scores.shape[0]):
        rows[count] = i
        count += visible[i] & (scores[i] >= bound)
    return rows[:count]


@kernel
def best(scores: Any, visible: Any, k: int) -> Any:
    """Rows of the k best visible scores, best first, ties by row; NaN is left out.  Cost: O(n + k
    log k) for random order.

    Many rows of many more are found among those above a score that a sample of the rows suggests,
    where these are enough.

    scores   (n,)
    visible  (n,)  bool

    >>> best(np.array([0.2, 0.9, np.nan, 0.9]), np.ones(4, dtype=np.bool_), 2).tolist()
    [1, 3]
    """
    if k >= MANY and k * SAMPLED < scores.shape[0]:
        # a copy, since each layout of an array is compiled for itself
        sample, shown = scores[::SAMPLED].copy(), visible[::SAMPLED].copy()
        # half as many more, as a sample may mislead
        _, kept = _heap(sample, shown, 3 * k // (2 * SAMPLED))
        if kept.shape[0]:
            some = _at_least(scores, visible, kept[0])
            if some.shape[0] >= k:
                rows, kept = _heap(scores[some], visible[some], k)
                return _in_order(some[rows], kept)
    rows, kept = _heap(scores, visible, k)
    return _in_order(rows, kept)


@kernel
def _in_order(rows: Any, kept: Any) -> Any:
    """The rows of a heap, the best first.  O(k log k)."""
    for end in range(rows.shape[0] - 1, 0, -1):
        kept[0], kept[end] = kept[end], kept[0]
        rows[0], rows[end] = rows[end], rows[0]
        _sift(kept, rows, end)
    return rows


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


@kernel
def rank(scores: Any, visible: Any, row: int) -> int:
    """Place of a row among all visible ones, from 1; 0 if it cannot be retrieved.  Cost: O(n)."""
    if row < 0 or row >= scores.shape[0] or not visible[row] or np.isnan(scores[row]):
        return 0
    ahead, own = 0, scores[row]
    for i in range(scores.shape[0]):
        if visible[i] and (scores[i] > own or (scores[i] == own and i < row)):
            ahead += 1
    return ahead + 1


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
    """

    query: Query
    life: object
    learnt: bool = False
    whole: bool = True


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
        return {each.name: getattr(self, each.name) for each in fields(self)}


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
        found: dict[str, tuple[float, int, str]] = {}
        for place, (unit, score) in enumerate(zip(self.units, self.scores.tolist(), strict=True)):
            for id in unit.sources:
                best = found.get(id, (-score, place, id))
                found[id] = min(best[0], -score), min(best[1], place), id
        return tuple(id for _, _, id in sorted(found.values()))

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
        cells = ((i + 1, f"{hit.score:.3f}", hit.row, written(hit.time, hit.offset), brief(hit.id,
            SHOWN), brief(hit.text, LONG))
                 for i, hit in enumerate(self))  # fmt: skip
        return html_table(("rank", "score", "row", "time", "id", "text"), cells)
