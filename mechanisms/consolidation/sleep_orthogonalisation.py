"""Sleep orthogonalisation: memories that get in each other's way are told apart a little better after a night.

In REM sleep memories are reactivated while inhibition swings around the level at which just one of them is active.  When it is low, strong
competitors pop up, and learning by contrast with the normal level weakens their response to what belongs to the other; when it is high, the memory
itself drops out, and is strengthened (Norman, Newman & Perotte 2005; the rule: Norman, Newman & Detre 2007).  It stops of itself: who no longer pops
up or drops out learns nothing more.

Each memory has a unit with weights w from a small code x, a fixed random projection of the embedding, beside the vector that is searched, which stays
as it is.  w starts as x.  When memory i is reactivated, x_i drives all units; the rivals of i are those whose embeddings are alike but not
the same.  For each unit the rule goes down a convex function, so it converges; and w never turns further from its own x than the cosine `least`.

Acts on: the signal `distinct`.  Cost: O(p d) per event; per sleep one search, O(n d), for each of at most `newest` memories not yet looked at, and
O(cycles p) for each pair of rivals; O(n p) per query, 3 ms for 100,000 memories of 64.
"""
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engine.columns import Column, Facet, Phase, Scope, signal
from ...engine.contract import Cue, Incoming, Mechanism, Params, Tick, hook
from ...engine.numerics import codes, kernel
from ...engine.vocabulary import EMBEDDING, INDEX, ROW, SLEEP_SHARE

# --- columns -----------------------------------------------------------------------------------------------------------------
DISTINCT_CODE = Column("distinct_code", np.float32, Scope.MEMORY, "1", 0.0, "direction of the weights w of the memory's unit", ("code",))
DISTINCT_SIZE = Column("distinct_size", np.float32, Scope.MEMORY, "1", 1.0, "length of w", low=0)
DISTINCT_RIVALS = Column("distinct_rivals", np.int32, Scope.MEMORY, "1", -1, "memories that get in its way; -1: no more", ("rivals",), low=-1)
DISTINCT_SEARCHED = Column("distinct_searched", np.int64, Scope.GLOBAL, "1", 0, "memories whose rivals have been looked for", low=0)
DISTINCT_TURNED = Column("distinct_turned", np.int64, Scope.GLOBAL, "1", 0, "times that sleep has turned a unit", low=0)
DISTINCT = signal("distinct", Facet.MEANING, "cosine of the cue's code and the weights of the memory's unit; silent until sleep has turned one")

ROUNDING = 1e-6             # activity that is an error of codes in float32
STILL = 1e-5                # a unit that would turn by less in a cycle has come to its end

# --- equations ---------------------------------------------------------------------------------------------------------------
@kernel
def unit(drive: float, inhibition: float, gain: float) -> float:
    """Y in [0, 1] of a threshold-linear unit: gain (drive - inhibition), clipped.  Cost: O(1).

    >>> unit(0.5, 0.25, 2.0), unit(0.5, 0.75, 2.0), unit(9.0, 0.25, 2.0)
    (0.5, 0.0, 1.0)
    """
    return min(1.0, max(0.0, gain * (drive - inhibition)))


@kernel
def contrast(drive: float, target: bool, inhibition: float, amplitude: float, gain: float) -> float:
    """Y+ - Y-, of a swing of inhibition down and one up: dw = eps (X+ Y+ - X- Y-) with X the same throughout.  Norman et al. (2007).  Cost: O(1).

    drive       ()  1  X w
    target      ()     whether it is this unit's memory that is reactivated: at the normal level just that one is active
    inhibition  ()  1  normal level
    amplitude   ()  1  by how much it swings
    gain        ()  1  of the units

    A strong competitor pops up, a weak one does not; a target drops out in part:

    >>> contrast(0.75, False, 0.75, 0.25, 2.0), contrast(0.5, False, 0.75, 0.25, 2.0), contrast(1.25, True, 0.75, 0.25, 2.0)
    (-0.5, 0.0, 0.5)
    """
    normal = 1.0 if target else 0.0
    low = max(normal, unit(drive, inhibition - amplitude, gain))
    high = min(normal, unit(drive, inhibition + amplitude, gain))
    return (normal - low) + (normal - high)


@kernel
def bounded(own: Any, least: float, w: Any) -> None:
    """The nearest weights whose cosine with x is at least `least`: projection onto a circular cone.  Ours.  Cost: O(p).

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
def separate(own: Any, x: Any, rivals: Any, cycles: int, eps: float, inhibition: float, amplitude: float, gain: float, least: float, w: Any) -> int:
    """Cycles of inhibition in which each unit's own memory and all its rivals are reactivated; how many units were turned.

    dw = eps [x_own (Y+ - Y-) + sum_i x_i (Y+ - Y-)_i], after Norman, Newman & Perotte (2005).  Cost: O(m k p cycles).

    own         (m,)    code of each unit's memory, among `x`
    x           (u, p)  1  codes, unit length
    rivals      (m, k)  codes of its rivals, among `x`; -1: no more
    cycles      ()      1
    eps         ()      1  learning rate; converges for eps < 2 / (gain (k + 1)), and mostly for more
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
                w[m] = before
                break
            turned += cycle == 0
    return turned


# --- the adaptation ------------------------------------------------------------------------------------------------------------
@kernel
def oppose(row: int, found: Any, likeness: Any, low: float, same: float, rivals: Any) -> None:
    """Make a memory and those like it rivals, both ways, as far as there is room; those that are the same are none.  Cost: O(f k).

    found, likeness  (f,), (f,) 1  rows, and the cosine of their embeddings with this one's; the most alike first
    low, same        ()    1       rivals have cosines from low up to same
    rivals           (n, k)        written

    >>> rivals = np.full((3, 1), -1)
    >>> oppose(2, np.array([2, 0, 1]), np.array([1.0, 0.97, 0.7]), 0.6, 0.95, rivals)
    >>> rivals.tolist()
    [[-1], [2], [1]]
    """
    for i in range(found.shape[0]):
        other = found[i]
        if other != row and low <= likeness[i] < same:
            for one, two in ((row, other), (other, row)):
                for place in range(rivals.shape[1]):
                    if rivals[one, place] < 0 or rivals[one, place] == two:
                        rivals[one, place] = two
                        break


# --- plug-in -----------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class SleepOrthogonalisationParams(Params):
    code: int               # p
    projection_seed: int
    interferes: float       # least cosine of rivals
    same: float
    rivals: int             # k
    newest: int
    cycles: int             # of a full night
    eps: float
    inhibition: float
    amplitude: float
    gain: float
    least: float
    weight: float


class SleepOrthogonalisation(Mechanism[SleepOrthogonalisationParams]):
    """Turns the units of rival memories away from each other at night; compares the cue with what has become of them."""

    owns = (DISTINCT_CODE, DISTINCT_SIZE, DISTINCT_RIVALS, DISTINCT_SEARCHED, DISTINCT_TURNED, DISTINCT)

    @hook(Phase.ENCODE, reads=(ROW,), adds=(), sets=(DISTINCT_CODE,))
    def store(self, view: Any, incoming: Incoming) -> None:
        view.distinct_code[view.row] = self._codes(incoming.vector[None])[0]

    @hook(Phase.CONSOLIDATE, reads=(INDEX, EMBEDDING, SLEEP_SHARE), adds=(),
          sets=(DISTINCT_CODE, DISTINCT_SIZE, DISTINCT_RIVALS, DISTINCT_SEARCHED, DISTINCT_TURNED))
    def dream(self, view: Any, tick: Tick) -> None:
        """Of the memories that have come since the last sleep, the last `newest`, with their rivals; no others are looked at later."""
        p, n, rivals = self.params, len(view.embedding), view.distinct_rivals
        new, cycles = np.arange(max(view.distinct_searched, n - p.newest), n), round(p.cycles * view.sleep_share)
        if not new.size or not cycles:
            return
        for row in new.tolist():
            found, likeness = view.index.search(view.embedding[row], 2 * p.rivals + 1)
            oppose(row, found, likeness, p.interferes, p.same, rivals)
        view.distinct_searched = int(new[-1]) + 1
        rows = np.union1d(new, rivals[new].ravel())
        rows = rows[np.searchsorted(rows, 0):]
        rows = rows[(rivals[rows] >= 0).any(axis=1)]
        known = np.union1d(rows, rivals[rows].ravel())
        known = known[np.searchsorted(known, 0):]
        there = np.where(rivals[rows] >= 0, np.searchsorted(known, rivals[rows]), -1)
        w = view.distinct_code[rows] * view.distinct_size[rows, None].astype(np.float64)
        view.distinct_turned += separate(
            np.searchsorted(known, rows), self._codes(view.embedding[known]).astype(np.float64), there, cycles, p.eps, p.inhibition, p.amplitude,
            p.gain, p.least, w)
        sizes = np.linalg.norm(w, axis=1)
        view.distinct_code[rows], view.distinct_size[rows] = w / sizes[:, None], sizes

    @hook(Phase.RETRIEVE, reads=(DISTINCT_CODE, DISTINCT_TURNED), adds=(), sets=(DISTINCT,))
    def compare(self, view: Any, cue: Cue) -> None:
        if view.distinct_turned:
            np.matmul(view.distinct_code, self._codes(cue.vector[None])[0], out=view.distinct)

    def _codes(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        return codes(vectors, self.params.projection_seed, self.params.code)
