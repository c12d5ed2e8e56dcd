"""Regulated transfer: in sleep a cortical student learns from replayed memories what follows what,
and stops where it would generalise worse.

A teacher, the environment, gives inputs x and outputs y; a notebook, the hippocampus, stores the
pairs and replays them in sleep; a linear student, the cortex, learns y from x by gradient descent
on the replayed pairs.  If y is noisy, a student that learns all of it learns the noise, and
predicts new pairs worse: transfer must stop where generalisation is best, and what cannot be
predicted stays in the notebook (Go-CLS: Sun, Advani, Spruston, Saxe & Fitzgerald 2023).

Here x is the embedding of an event and y that of the next event of its session, both without their
means; the memory itself is the notebook.  In each sleep the student starts from zero and learns from
all visible pairs but every `held`-th one; these, which it never learns, say when it stops.  If they
are predicted worst of all by what was learnt from the others, it learns nothing.  Small steps of
gradient descent are a flow, dW/dt = X'(Y - X W), which eigenvectors of X'X solve at once for every
time.  A question is an input, too: memories like what the student expects to follow get support,
beside that of the notebook.

Cost, for p pairs of d dimensions: O(p d^2 + d^3) per sleep (0.2 s at 4,096 pairs of 384); O(d^2 + n
d) per query.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...engine.contract.columns import Column, Facet, Phase, Scale, Scope, signal
from ...engine.contract.hooks import Cue, Mechanism, Params, Tick, at_rest, hook
from ...engine.contract.vocabulary import EMBEDDING, INDEX, KIND, SESSION, VISIBLE

Array = NDArray[np.float64]
LEAST_HELD: Final = 2  # pairs that judge a student; with fewer nothing is learnt
# times at which the student may stop, in units of 1 / (largest eigenvalue of X'X)
STOPS: Final = np.concatenate([[0.0], np.geomspace(0.01, 1e5, 141)])

# --- columns --------------------------------------------------------------------------------------
STUDENT_WEIGHTS = Column(
    "student_weights",
    np.float64,
    Scope.GLOBAL,
    "1",
    0.0,
    "W, by which the student predicts the next event from an event",
    ("dimensions", "dimensions"),
)
STUDENT_MEAN = Column(
    "student_mean",
    np.float64,
    Scope.GLOBAL,
    "1",
    0.0,
    "mean input, which the student does not see",
    ("dimensions",),
)
STUDENT_TIME = Column(
    "student_time",
    np.float64,
    Scope.GLOBAL,
    "1",
    0.0,
    "for how long the student learnt in the last sleep; 0: nothing, all stays in the notebook",
    low=0,
)
EXPECTED_NEXT = signal(
    "expected_next",
    Facet.ASSOCIATION,
    "cosine of the memory and what the student expects to follow the question; NaN: not above 0",
    direct=False,
    scale=Scale.SIMILARITY,
)


# --- equations ------------------------------------------------------------------------------------
def flow(eigenvalues: Array, time: float | Array) -> Array:
    """(d,) (1 - e^(-l t)) / l for each eigenvalue l of X'X, t where l is 0: the share of Y that a
    student has learnt along each eigenvector, so that W = V diag(flow) V'X'Y solves dW/dt = X'(Y -
    X W) from W = 0.  Sun et al. (2023), gradient descent on replayed pairs.  Cost: O(d).

    time  for which it has learnt; (s, 1) for s times, which give (s, d)

    >>> flow(np.array([0.0, 2.0]), 0.5).round(4).tolist()
    [0.5, 0.3161]
    """
    seen = eigenvalues != 0.0
    safe = np.where(seen, eigenvalues, 1.0)
    return np.where(seen, -np.expm1(-safe * time) / safe, time)


def errors(x: Array, y: Array, held_x: Array, held_y: Array, times: Array) -> Array:
    """Mean squared error of held-out pairs, |Y - X W(t)|^2 / pairs, of a student that has learnt from
    the others for each of some times.  Sun et al. (2023), generalisation error.
    Cost: O(pairs d^2 + d^3 + times d^2).

    x, y            (p, d), (p, e)  pairs to learn from
    held_x, held_y  (q, d), (q, e)  pairs that are not learnt
    times           (s,)            returned with one error for each
    """
    eigenvalues, vectors = np.linalg.eigh(x.T @ x)
    target, seen = vectors.T @ (x.T @ y), held_x @ vectors
    along = np.einsum("ij,ij->i", target, seen.T @ held_y)
    among = (seen.T @ seen) * (target @ target.T)
    g = flow(eigenvalues, times[:, None])
    squares = np.einsum("si,ij,sj->s", g, among, g, optimize=True)
    left: Array = (np.sum(held_y**2) - 2.0 * (g @ along) + squares) / len(held_y)
    return left


def learnt(x: Array, y: Array, time: float) -> Array:
    """W(t), (d, e), of a student that has learnt from pairs for a time.  Sun et al. (2023), dW =
    rate X'(Y - X W) with small steps.  Cost: O(p d^2 + d^3).

    >>> learnt(np.array([[1.0], [1.0]]), np.array([[0.5], [0.5]]), 1e9).round(4).tolist()
    [[0.5]]
    """
    eigenvalues, vectors = np.linalg.eigh(x.T @ x)
    weights: Array = vectors @ (flow(eigenvalues, time)[:, None] * (vectors.T @ (x.T @ y)))
    return weights


def best_time(x: Array, y: Array, held_x: Array, held_y: Array) -> float:
    """When the student generalises best: of STOPS, the time of the smallest error of the held-out
    pairs, the earliest of equal ones; 0: it should learn nothing.  Sun et al. (2023), regulated
    transfer.  Arguments as for `errors`.
    """
    largest = float(np.linalg.norm(x.T @ x, 2))
    if largest <= 0.0:
        return 0.0
    times = STOPS / largest
    return float(times[np.argmin(errors(x, y, held_x, held_y, times))])


def following(session: Any, kind: Any, visible: Any, most: int) -> tuple[Any, Any]:
    """Rows of the latest pairs: visible events, and the next visible event of the same session; at
    most `most`, in the order of the later row.  Cost: O(n log n).

    >>> first, second = following(np.array([5, 7, 5, 7, 5]), np.zeros(5), np.ones(5, bool), 9)
    >>> first.tolist(), second.tolist()
    ([0, 1, 2], [2, 3, 4])
    """
    rows = np.flatnonzero((kind == 0) & visible)
    rows = rows[np.argsort(session[rows], kind="stable")]
    same = session[rows[1:]] == session[rows[:-1]]
    first, second = rows[:-1][same], rows[1:][same]
    order = np.argsort(second, kind="stable")[-most:]
    return first[order], second[order]


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class RegulatedTransferParams(Params):
    held: int  # every how many pairs one is held out
    pairs: int  # most, of the latest
    weight: float


class RegulatedTransfer(Mechanism[RegulatedTransferParams]):
    """Learns in sleep what follows what, as far as it generalises; retrieves what is expected to
    follow the question.
    """

    owns = (STUDENT_WEIGHTS, STUDENT_MEAN, STUDENT_TIME, EXPECTED_NEXT)

    @hook(
        Phase.CONSOLIDATE,
        reads=(SESSION, KIND, VISIBLE, EMBEDDING),
        adds=(),
        sets=(STUDENT_WEIGHTS, STUDENT_MEAN, STUDENT_TIME),
    )
    def study(self, view: Any, tick: Tick) -> None:
        """The student learns anew from what the memory holds now."""
        first, second = following(view.session, view.kind, view.visible, self.params.pairs)
        view.student_weights[...], view.student_mean[...], view.student_time = 0.0, 0.0, 0.0
        held = np.arange(first.size) % self.params.held == self.params.held - 1
        if np.count_nonzero(held) < LEAST_HELD:
            return
        x, y = (view.embedding[rows].astype(np.float64) for rows in (first, second))
        x_mean = x[~held].mean(axis=0)
        x, y = x - x_mean, y - y[~held].mean(axis=0)
        time = best_time(x[~held], y[~held], x[held], y[held])
        if time > 0.0:
            view.student_weights[...] = learnt(x[~held], y[~held], time)
            view.student_mean[...], view.student_time = x_mean, time

    @at_rest(reads=())
    def studied(self, view: Any, tick: Tick) -> bool:
        """The next sleep finds the same pairs, and a student learns the same from them."""
        return True

    @hook(
        Phase.RETRIEVE, reads=(INDEX, STUDENT_WEIGHTS, STUDENT_MEAN), adds=(), sets=(EXPECTED_NEXT,)
    )
    def expect(self, view: Any, cue: Cue) -> None:
        """A question without a text expects nothing."""
        expected = (cue.vector - view.student_mean) @ view.student_weights
        length = float(np.linalg.norm(expected))
        if length > 0.0 and cue.vector.any():
            scores = view.index.scores((expected / length).astype(np.float32), view.expected_next)
            scores[~(scores > 0.0)] = np.nan
