"""Sleep orthogonalisation: learning in sleep reduces the response of each memory's unit to the
codes of similar memories, its rivals.

In REM sleep memories are reactivated while inhibition oscillates around the level at which exactly
one of them is active.  When it is low, strong competitors become active, and contrastive learning
against the normal level weakens their response to what belongs to the other; when it is high, the
memory itself drops out, and is strengthened (Norman, Newman & Perotte 2005; the rule: Norman,
Newman & Detre 2007).  Learning stops without a further rule: a unit that no longer becomes active
as a competitor, nor drops out as a target, does not change.

Each memory has a unit with weights w from a small code x, a fixed random projection of the
embedding; the embedding, which is searched, does not change.  w starts as x.  When memory i is
reactivated, x_i drives all units; the rivals of i are memories with similar, but not the same,
embeddings.  For each unit the rule descends a convex function, so it converges; and the cosine of w
with its own x never falls below `least`.

Cost: O(p d) per event; per sleep one search, O(n d), for each of at most `newest` memories not yet
searched for, and O(cycles p) for each pair of rivals; O(n p) per query, 3 ms for 100,000 memories
with codes of 64 dimensions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engine.base.numerics import copy, kernel
from ...engine.contract.columns import Column, Facet, Phase, Scale, Scope, signal
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, Tick, hook
from ...engine.contract.vocabulary import EMBEDDING, INDEX, KIND, ROW, SLEEP_SHARE
from ..shared.codes import codes
from ..shared.rows import events
from ..shared.units import unit

# --- columns --------------------------------------------------------------------------------------
DISTINCT_CODE = Column(
    "distinct_code",
    np.float32,
    Scope.MEMORY,
    "1",
    0.0,
    "direction of the weights w of the memory's unit",
    ("code",),
)
DISTINCT_SIZE = Column("distinct_size", np.float32, Scope.MEMORY, "1", 1.0, "length of w", low=0)
DISTINCT_RIVALS = Column(
    "distinct_rivals",
    np.int32,
    Scope.MEMORY,
    "1",
    -1,
    "rivals: memories that interfere; -1: no more",
    ("rivals",),
    low=-1,
)
DISTINCT_SEARCHED = Column(
    "distinct_searched",
    np.int64,
    Scope.GLOBAL,
    "1",
    0,
    "memories whose rivals have been searched for",
    low=0,
)
DISTINCT_TURNED = Column(
    "distinct_turned",
    np.int64,
    Scope.GLOBAL,
    "1",
    0,
    "number of times that sleep changed a unit",
    low=0,
)
DISTINCT = signal(
    "distinct",
    Facet.MEANING,
    "cosine of the cue's code and the weights of the memory's unit; silent until sleep changes a unit",
    scale=Scale.SIMILARITY,
)

ROUNDING = 1e-6  # activity up to this is rounding error of float32 codes
STILL = 1e-5  # a unit that changes by less in a cycle has converged


# --- equations ------------------------------------------------------------------------------------
@kernel
def contrast(drive: float, target: bool, inhibition: float, amplitude: float, gain: float) -> float:
    """Y+ - Y-, of a swing of inhibition down and one up: dw = eps (X+ Y+ - X- Y-) with the same X
    throughout.  Norman et al. (2007).  Cost: O(1).

    drive       ()  1  X w
    target      ()     whether this unit's own memory is reactivated; at the normal level only that
                       unit is active
    inhibition  ()  1  normal level
    amplitude   ()  1  amplitude of the swing
    gain        ()  1  of the units

    A strong competitor becomes active, a weak one does not; a target drops out in part:

    >>> contrast(0.75, False, 0.75, 0.25, 2.0), contrast(0.5, False, 0.75, 0.25, 2.0), contrast(1.25, True, 0.75, 0.25, 2.0)
    (-0.5, 0.0, 0.5)
    """
    normal = 1.0 if target else 0.0
    low = max(normal, unit(drive, inhibition - amplitude, gain))
    high = min(normal, unit(drive, inhibition + amplitude, gain))
    return (normal - low) + (normal - high)


@kernel
def bounded(own: Any, least: float, w: Any) -> None:
    """The nearest weights whose cosine with x is at least `least`: projection onto a circular cone.
    Ours.  Cost: O(p).

    own    (p,)  1  x, unit length
    least  ()    1  cosine, > 0
    w      (p,)  1  written

    >>> w = np.array([1.0, 1.0])
    >>> bounded(np.array([1.0, 0.0]), 0.8, w)
    >>> w.round(9).tolist()
    [1.12, 0.84]
    """
    along, size = 0.0, 0.0
    for d in range(own.shape[0]):
        along += own[d] * w[d]
    for d in range(own.shape[0]):
        size += (w[d] - along * own[d]) ** 2
    across, sine = math.sqrt(size), math.sqrt(1.0 - least * least)
    if across * least > along * sine:
        length = max(0.0, along * least + across * sine)
        for d in range(own.shape[0]):
            w[d] = length * (least * own[d] + sine * (w[d] - along * own[d]) / across)


@kernel
def separate(
    own: Any,
    x: Any,
    rivals: Any,
    cycles: int,
    eps: float,
    inhibition: float,
    amplitude: float,
    gain: float,
    least: float,
    w: Any,
) -> int:
    """Run cycles of inhibition in which each unit's own memory and all its rivals are reactivated;
    returns the number of units changed.

    dw = eps [x_own (Y+ - Y-) + sum_i x_i (Y+ - Y-)_i], after Norman, Newman & Perotte (2005).
    Cost: O(m k p cycles).

    own         (m,)    index in `x` of the code of each unit's memory
    x           (u, p)  1  codes, unit length
    rivals      (m, k)  indices in `x` of the codes of its rivals; -1: no more
    cycles      ()      1
    eps         ()      1  learning rate; converges for eps < 2 / (gain (k + 1)), in most cases for
                           more
    inhibition, amplitude, gain  as for `contrast`
    least       ()      1  as for `bounded`
    w           (m, p)  1  weights, written

    >>> x = np.array([[1.0, 0.0], [0.8, 0.6]])
    >>> w = x[:1].copy()
    >>> separate(np.array([0]), x, np.array([[1]]), 800, 0.05, 0.7, 0.05, 4.0, 0.9, w), round(float(w[0] @ x[1]), 3), round(float(w[0] @ x[0]), 3)
    (1, 0.65, 1.0)
    """
    change, before, turned = np.empty(w.shape[1]), np.empty(w.shape[1]), 0
    for m in range(own.shape[0]):
        mine = x[own[m]]
        for cycle in range(cycles):
            change[:] = 0.0
            for k in range(-1, rivals.shape[1]):
                other = own[m] if k < 0 else rivals[m, k]
                if other < 0:
                    continue
                drive = 0.0
                for d in range(w.shape[1]):
                    drive += x[other, d] * w[m, d]
                learnt = contrast(drive, k < 0, inhibition, amplitude, gain)
                if abs(learnt) > ROUNDING:
                    for d in range(w.shape[1]):
                        change[d] += eps * learnt * x[other, d]
            far = 0.0
            for d in range(w.shape[1]):
                before[d] = w[m, d]
                w[m, d] += change[d]
            bounded(mine, least, w[m])
            for d in range(w.shape[1]):
                far = max(far, abs(w[m, d] - before[d]))
            if far < STILL:
                copy(before, w[m])
                break
            turned += cycle == 0
    return turned


# --- the adaptation -------------------------------------------------------------------------------
@kernel
def oppose(row: int, near: Any, likeness: Any, low: float, same: float, rivals: Any) -> None:
    """Make a memory and those similar to it rivals of each other, while there is room;
    near-identical memories are not rivals.  Cost: O(f k).

    near, likeness  (f,), (f,) 1  rows, and the cosine of their embeddings with this one's; most
                                   similar first
    low, same        ()    1       rivals have cosines from low up to same
    rivals           (n, k)        written

    >>> rivals = np.full((3, 1), -1)
    >>> oppose(2, np.array([2, 0, 1]), np.array([1.0, 0.97, 0.7]), 0.6, 0.95, rivals)
    >>> rivals.tolist()
    [[-1], [2], [1]]
    """
    for i in range(near.shape[0]):
        other = near[i]
        if other != row and low <= likeness[i] < same:
            for memory, rival in ((row, other), (other, row)):
                for place in range(rivals.shape[1]):
                    if rivals[memory, place] < 0 or rivals[memory, place] == rival:
                        rivals[memory, place] = rival
                        break


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class SleepOrthogonalisationParams(Params):
    code: int  # p
    projection_seed: int
    interferes: float  # least cosine of rivals
    same: float
    rivals: int  # k
    newest: int
    cycles: int  # of a full night
    eps: float
    inhibition: float
    amplitude: float
    gain: float
    least: float
    weight: float


class SleepOrthogonalisation(Mechanism[SleepOrthogonalisationParams]):
    """Separates the units of rival memories in sleep; compares the cue with the resulting
    weights.
    """

    owns = (
        DISTINCT_CODE,
        DISTINCT_SIZE,
        DISTINCT_RIVALS,
        DISTINCT_SEARCHED,
        DISTINCT_TURNED,
        DISTINCT,
    )

    @hook(Phase.ENCODE, reads=(ROW,), adds=(), sets=(DISTINCT_CODE,))
    def store(self, view: Any, incoming: Incoming) -> None:
        view.distinct_code[view.row] = self._codes(incoming.vector[None])[0]

    @hook(
        Phase.CONSOLIDATE,
        reads=(INDEX, EMBEDDING, SLEEP_SHARE, KIND),
        adds=(),
        sets=(DISTINCT_CODE, DISTINCT_SIZE, DISTINCT_RIVALS, DISTINCT_SEARCHED, DISTINCT_TURNED),
    )
    def dream(self, view: Any, tick: Tick) -> None:
        """Processes the last `newest` of the events stored since the last sleep, with their
        rivals; older ones are never searched for.
        """
        p, stored, rivals = self.params, events(view.kind), view.distinct_rivals
        new = stored[
            max(int(np.searchsorted(stored, view.distinct_searched)), len(stored) - p.newest) :
        ]
        cycles = round(p.cycles * view.sleep_share)
        if not new.size or not cycles:
            return
        for row in new.tolist():
            near, likeness = view.index.search(view.embedding[row], 2 * p.rivals + 1)
            told = view.kind[near] == 0
            oppose(row, near[told], likeness[told], p.interferes, p.same, rivals)
        view.distinct_searched = int(new[-1]) + 1
        rows = np.union1d(new, rivals[new].ravel())
        rows = rows[np.searchsorted(rows, 0) :]
        rows = rows[(rivals[rows] >= 0).any(axis=1)]
        known = np.union1d(rows, rivals[rows].ravel())
        known = known[np.searchsorted(known, 0) :]
        there = np.where(rivals[rows] >= 0, np.searchsorted(known, rivals[rows]), -1)
        w = view.distinct_code[rows] * view.distinct_size[rows, None].astype(np.float64)
        view.distinct_turned += separate(
            np.searchsorted(known, rows),
            self._codes(view.embedding[known]).astype(np.float64),
            there,
            cycles,
            p.eps,
            p.inhibition,
            p.amplitude,
            p.gain,
            p.least,
            w,
        )
        sizes = np.linalg.norm(w, axis=1)
        view.distinct_code[rows], view.distinct_size[rows] = w / sizes[:, None], sizes

    @hook(Phase.RETRIEVE, reads=(DISTINCT_CODE, DISTINCT_TURNED), adds=(), sets=(DISTINCT,))
    def compare(self, view: Any, cue: Cue) -> None:
        if view.distinct_turned:
            np.matmul(view.distinct_code, self._codes(cue.vector[None])[0], out=view.distinct)

    def _codes(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        return codes(vectors, self.params.projection_seed, self.params.code)
