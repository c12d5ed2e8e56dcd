"""stage_detection: the stages of a talk, by labels, by gaps in time or by valleys of similarity.

The stage of an event is the row of the first event of its stage.

    labels    the attribute plan of the event, else its session; an event without both has no stage, so the session number stands for it
    gap       a stage ends where no event comes for 6 h
    semantic  a stage ends in a deep valley of the similarity between the 5 events before a place and the 5 events after it

A valley is a lowest similarity between two peaks; its depth is how far it lies below them, summed.  Depths are compared with those of all valleys
before.  A boundary is found once the climb out of the valley is high enough, some events late; the events since then move to the new stage.
Rows that the memory made have no stage.

Cost: O(n) compared numbers for labels, 10 us at 20k rows; O(1) for gap; O(w d) for semantic with windows of w events in d dimensions.
"""
from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from ...engine.columns import Column, Phase, Scope
from ...engine.contract import Incoming, Mechanism, Params, hook
from ...engine.drafts import Kind
from ...engine.numerics import kernel
from ...engine.vocabulary import CREATED, EMBEDDING, KIND, NOW, ROW, STAGE

STAGE_LABEL = Column("stage_label", np.int64, Scope.MEMORY, "1", 0, "number of the event's label, from its text; 0: no label")
STAGE_VALLEY = Column("stage_valley", np.float64, Scope.GLOBAL, "1", np.nan,
                      "similarity at the last peak, in the valley after it, and at the highest place since; NaN: before the first gap", (3,))
STAGE_VALLEY_ROW = Column("stage_valley_row", np.int64, Scope.GLOBAL, "1", -1, "row of the event after the valley; -1: none", low=-1)
STAGE_DEPTHS = Column("stage_depths", np.float64, Scope.GLOBAL, "1", 0.0, "valleys so far: their number, and the sums of depths and of their squares",
                      (3,), low=0)
PLAN: Final = "plan"        # attribute of an event


# --- equations ----------------------------------------------------------------------------------------------------------------
@kernel
def similarity(vectors: Any) -> float:
    """cos(sum of the first half, sum of the second half).  Hearst 1997, on vectors of sentences in place of word counts.  Cost: O(w d).

    vectors  (2w, d)  1  unit vectors of w events before a gap and of w events after it, in order

    >>> similarity(np.array([[1.0, 0.0], [0.0, 1.0]])), similarity(np.array([[1.0, 0.0], [1.0, 0.0]]))
    (0.0, 1.0)
    """
    half, dot, left, right = vectors.shape[0] // 2, 0.0, 0.0, 0.0
    for j in range(vectors.shape[1]):
        a = b = 0.0
        for i in range(half):
            a += vectors[i, j]
            b += vectors[half + i, j]
        dot += a * b
        left += a * a
        right += b * b
    return dot / np.sqrt(left * right) if left * right > 0.0 else 0.0


@kernel
def follow(valley: Any, depths: Any, s: float) -> bool:
    """Take in the similarity at the next gap; whether it is the lowest of a valley so far.  Cost: O(1).

    valley  (3,)  1  last peak, lowest similarity after it, highest one since; changed in place
    depths  (3,)     number of finished valleys, sum of their depths, sum of squares; a valley ends where the similarity falls again
    s       ()    1

    >>> valley, depths = np.full(3, np.nan), np.zeros(3)
    >>> [bool(follow(valley, depths, s)) for s in (0.9, 0.2, 0.6, 0.8, 0.7)], depths.round(6).tolist()
    ([True, True, False, False, True], [1.0, 1.3, 1.69])
    """
    if np.isnan(valley[0]):
        valley[:] = s
        return True
    if valley[2] > valley[1] and s < valley[2]:
        depth = valley[0] + valley[2] - 2.0 * valley[1]
        depths[0] += 1.0
        depths[1] += depth
        depths[2] += depth * depth
        valley[0], valley[1], valley[2] = valley[2], s, s
        return True
    if s <= valley[1]:
        valley[1] = valley[2] = s
        return True
    valley[2] = s
    return False


@kernel
def deep(valley: Any, depths: Any, spread: float) -> bool:
    """l + r - 2 v > mean + spread x sd of the depths of earlier valleys, of at least one.  Hearst 1997; cutoff ours.  Cost: O(1).

    valley, depths  as in `follow`; r is the highest similarity so far
    spread          ()  standard deviations

    >>> valley = np.array([0.9, 0.2, 0.8])
    >>> [bool(deep(valley, np.array(d), 0.5)) for d in ((0.0, 0.0, 0.0), (1.0, 1.2, 1.44), (2.0, 2.4, 4.0))]
    [False, True, False]
    """
    if depths[0] < 1.0:
        return False
    mean = depths[1] / depths[0]
    sd = np.sqrt(max(depths[2] / depths[0] - mean * mean, 0.0))
    return bool(valley[0] + valley[2] - 2.0 * valley[1] > mean + spread * sd)


def label(plan: str, session: str) -> int:
    """The number of a label: the first 63 bits of its BLAKE2b, at least 1; 0 without plan and session.

    >>> label("", ""), label("a", "b") == label("a", ""), label("a", "") == label("", "a")
    (0, True, False)
    """
    if not plan and not session:
        return 0
    text = f"plan {plan}" if plan else f"session {session}"
    return max(int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big") >> 1, 1)


def last_events(kind: NDArray[np.int8], number: int) -> NDArray[np.int64]:
    """Rows of the last events, oldest first, as many as wanted or as there are.  O(number + made rows between them).

    >>> last_events(np.array([0, 0, 3, 0], dtype=np.int8), 2).tolist()
    [1, 3]
    """
    size = number
    while True:
        start = max(0, len(kind) - size)
        found = np.flatnonzero(kind[start:] == Kind.EVENT) + start
        if found.size >= number or start == 0:
            return found[-number:]
        size *= 2


# --- plug-in ------------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class StageDetectionParams(Params):
    by: Literal["labels", "gap", "semantic"]
    gap: float                  # h without an event
    window: int                 # events before and after a place
    spread: float               # standard deviations above the mean depth


class StageDetection(Mechanism[StageDetectionParams]):
    """Gives each event its stage."""

    owns = (STAGE_LABEL, STAGE_VALLEY, STAGE_VALLEY_ROW, STAGE_DEPTHS)

    @hook(Phase.ENCODE, reads=(ROW, NOW, KIND, CREATED, EMBEDDING), adds=(),
          sets=(STAGE, STAGE_LABEL, STAGE_VALLEY, STAGE_VALLEY_ROW, STAGE_DEPTHS))
    def place(self, view: Any, incoming: Incoming) -> None:
        row, stage, before = view.row, view.stage, incoming.before
        if self.params.by == "labels":
            self._label(view, label(incoming.event.get(PLAN), incoming.event.session))
            return
        goes_on = before >= 0 and stage[before] >= 0
        if self.params.by == "gap":
            goes_on = goes_on and view.now - view.created[before] < self.hours("gap")
        stage[row] = stage[before] if goes_on else row
        if self.params.by == "semantic":
            self._compare(view)

    def _label(self, view: Any, number: int) -> None:
        if number:
            known = np.flatnonzero(view.stage_label == number)
            view.stage_label[view.row] = number
            view.stage[view.row] = view.stage[known[0]] if known.size else view.row

    def _compare(self, view: Any) -> None:
        """Take in the newest gap that has a full window after it; if the valley is deep, the events from it on are a new stage."""
        p, stage = self.params, view.stage
        rows = last_events(view.kind, 2 * p.window)
        if rows.size < 2 * p.window:
            return
        if follow(view.stage_valley, view.stage_depths, similarity(np.ascontiguousarray(view.embedding[rows], dtype=np.float64))):
            view.stage_valley_row = rows[p.window]
            return
        start = int(view.stage_valley_row)
        former = stage[start]
        if former != start and deep(view.stage_valley, view.stage_depths, p.spread):
            since = stage[start:]
            since[(since == former) & (view.kind[start:] == Kind.EVENT)] = start
