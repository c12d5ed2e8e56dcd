"""Reconsolidation: a reactivated memory is strengthened, revised or left unchanged, by its mismatch
with the input that reactivates it.

In the attractor network of Osan, Tort & Amaral (2011) a memory that is active while the input
disagrees with it loses synaptic weight at once, in proportion to the mismatch (D), and protein
synthesis (S) strengthens the synapses among active units.  With synthesis little is lost; without
synthesis the memory is lost, but only if there was a mismatch.  Synthesis takes the hours after
reactivation: an inhibitor given then abolishes a memory, and one given six hours later has no
effect (Nader, Schafe & LeDoux 2000).

Each memory has one weight, that of the synapses among its own units; the network's rule acts on it
as on each of these synapses.  The network itself is also below, and the evidence compares the two.
The mismatch m is that of a stored event with the old memory most similar to it, or of the cue of a
recall that may change memory with its first answer: 0 for identical content, 1 for a similarity no
higher than memory's average.

    low     m <= low: plain reactivation; the old weight gains S, over the hours of its window, up
            to 1
    medium  low < m < high: the old weight loses D m.  After a recall, synthesis adds S again.  An
            event of the same speaker is a new version instead: synthesis acts on the new memory,
            and a VERSION edge leads from it to the old one
    high    m >= high: unrelated; a new trace, and the old one is not changed

No memory is rewritten, archived or erased.

Cost: one search, O(n d), per event,
O(d) per recall, O(n) per maintain.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Column, Phase, Scope, Upkeep
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, Tick, hook
from ...engine.contract.vocabulary import (
    EMBEDDING,
    GRAPH,
    INDEX,
    LEXICON,
    LOG_STRENGTH,
    NOW,
    RECALLED,
    ROW,
    SPEAKER,
)
from ...engine.state.graph import EdgeType

LOW, MEDIUM, HIGH = 0, 1, 2
STEP = 0.05  # of the integration, in units of tau

# --- columns --------------------------------------------------------------------------------------
TRACE_WEIGHT = Column(
    "trace_weight",
    np.float64,
    Scope.MEMORY,
    "1",
    0.0,
    "weight of the memory's own synapses at its last reactivation",
    low=0,
    high=1,
)
SYNTHESIS_DUE = Column(
    "synthesis_due",
    np.float64,
    Scope.MEMORY,
    "1",
    0.0,
    "weight that synthesis adds in the window after reactivation",
    low=0,
)
REACTIVATED = Column(
    "reactivated",
    np.float64,
    Scope.MEMORY,
    "h",
    np.nan,
    "when it was last reactivated, or stored as a new version; NaN: never",
    upkeep=Upkeep(clock=True),
)
EMBEDDING_TOTAL = Column(
    "embedding_total",
    np.float64,
    Scope.GLOBAL,
    "1",
    0.0,
    "sum of the embeddings of all memories",
    ("dimensions",),
)


# --- the network ----------------------------------------------------------------------------------
@kernel
def settle(u: Any, w: Any, current: Any, tau: float, t: float) -> Any:
    """Activity after a time t of constant input: tau du/dt = -u + (1 + tanh(W u + I)) / 2.  Osan et
    al. (2011).

    u        (N,)   1    activity before, 0 to 1
    w        (N, N) 1    weights, to i from j
    current  (N,)   1    input I
    tau, t   ()     s    time constant, and duration

    Runge-Kutta of fourth order, steps of a twentieth of tau.  Cost: O(N^2 t / tau).
    """
    steps = math.ceil(t / (tau * STEP))
    h, u = t / (tau * max(steps, 1)), u.astype(np.float64)
    for _ in range(steps):
        a = 0.5 * (1.0 + np.tanh(w @ u + current)) - u
        mid = u + 0.5 * h * a
        b = 0.5 * (1.0 + np.tanh(w @ mid + current)) - mid
        mid = u + 0.5 * h * b
        c = 0.5 * (1.0 + np.tanh(w @ mid + current)) - mid
        end = u + h * c
        d = 0.5 * (1.0 + np.tanh(w @ end + current)) - end
        u = u + h / 6.0 * (a + 2.0 * b + 2.0 * c + d)
    return u


@kernel
def expected(current: Any) -> Any:
    """I_norm = (I / max |I| + 1) / 2: the activity that the input demands, 0 to 1.  (N,).  Osan et
    al. (2011).

    >>> expected(np.array([0.5, -0.5, 0.0])).tolist()
    [1.0, 0.0, 0.5]
    """
    return 0.5 * (current / np.max(np.abs(current)) + 1.0)


@kernel
def change(u_i: float, u_j: float, m_i: float, s: float, d: float) -> float:
    """dW_ij = S u_i u_j - S (1 - u_i) u_j + D m_i u_j.  Osan et al. (2011), Hebbian plasticity and
    mismatch-induced degradation.  Cost: O(1).

    u_i, u_j  1  activity of the postsynaptic and of the presynaptic unit
    m_i       1  mismatch I_norm - u of the postsynaptic unit
    s, d      1  protein synthesis (0: inhibited), degradation

    >>> change(1.0, 1.0, -0.5, 0.8, 1.0), change(0.0, 1.0, 0.0, 0.8, 1.0), change(1.0, 0.0, 1.0, 0.8, 1.0)
    (0.30000000000000004, -0.8, 0.0)
    """
    return s * u_i * u_j - s * (1.0 - u_i) * u_j + d * m_i * u_j


@kernel
def clipped(weight: float) -> float:
    """Weights stay in [-1, 1].  Osan et al. (2011)."""
    return min(max(weight, -1.0), 1.0)


@kernel
def session(w: Any, u: Any, current: Any, s: float, d: float) -> Any:
    """Weights after a session in which the network settled at u under an input; arguments as
    above.  (N, N).  Cost: O(N^2).
    """
    asked, out = expected(current), np.empty_like(w)
    for i in range(u.shape[0]):
        for j in range(u.shape[0]):
            out[i, j] = clipped(w[i, j] + change(u[i], u[j], asked[i] - u[i], s, d))
    return out


@kernel
def between_sessions(w: Any, gamma: float) -> Any:
    """W (1 - gamma): weights decay from one session to the next.  Osan et al. (2011).  Cost:
    O(N^2).
    """
    return (1.0 - gamma) * w


# --- one weight a memory --------------------------------------------------------------------------
@kernel
def mismatch(cosine: float, background: float) -> float:
    """m = (1 - cosine) / (1 - background), clipped to 0..1: 0 for identical content, 1 for a cosine
    at or below the average.  Ours.  Cost: O(1).

    >>> mismatch(1.0, 0.5), mismatch(0.75, 0.5), mismatch(0.2, 0.5)
    (0.0, 0.5, 1.0)
    """
    return min(max((1.0 - cosine) / max(1.0 - background, 1e-6), 0.0), 1.0)


@kernel
def regime(m: float, low: float, high: float) -> int:
    """LOW, MEDIUM or HIGH: strengthen, revise, or leave unchanged.  Cost: O(1).

    >>> regime(0.05, 0.1, 0.4), regime(0.2, 0.1, 0.4), regime(0.4, 0.1, 0.4)
    (0, 1, 2)
    """
    return LOW if m <= low else MEDIUM if m < high else HIGH


@kernel
def degraded(weight: float, m: float, d: float, least: float) -> float:
    """Weight of an active memory after a mismatch: `change` with u = 1, I_norm = 1 - m, S = 0; not
    below `least`, as nothing is erased.

    >>> degraded(0.8, 0.25, 1.0, 0.05)
    0.55
    """
    return max(clipped(weight + change(1.0, 1.0, -m, 0.0, d)), least)


@kernel
def restabilised(weight: float, due: float, since: float, window: float) -> float:
    """Weight at a time after reactivation: synthesis adds `due` at a constant rate over the window,
    and nothing after it.  Cost: O(1).

    >>> restabilised(0.25, 0.5, 3.0, 6.0), restabilised(0.75, 0.5, 100.0, 6.0)
    (0.5, 1.0)
    """
    return clipped(weight + due * min(max(since / window, 0.0), 1.0)) if due > 0.0 else weight


@kernel
def relative_weights(
    now: float, trace: Any, due: Any, reactivated: Any, window: float, stored: float, out: Any
) -> None:
    """Weight of each memory relative to that of a memory stored once; 1 if never reactivated.
    Cost: O(n).

    trace, due, reactivated  (n,)  1, 1, h   state
    window, stored           ()    h, 1
    out                      (n,)  1         written
    """
    for row in range(out.shape[0]):
        out[row] = (
            1.0
            if math.isnan(reactivated[row])
            else restabilised(trace[row], due[row], now - reactivated[row], window) / stored
        )


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class ReconsolidationParams(Params):
    s: float  # S
    d: float  # D
    stored: float  # weight of a memory stored once
    least: float
    window: float
    low: float
    high: float
    prior: float  # pseudo-count of memories in the average similarity, the background


class Reconsolidation(Mechanism[ReconsolidationParams]):
    owns = (TRACE_WEIGHT, SYNTHESIS_DUE, REACTIVATED, EMBEDDING_TOTAL)

    def _weight(self, view: Any, row: int) -> float:
        since = view.now - view.reactivated[row]
        return float(
            restabilised(
                view.trace_weight[row], view.synthesis_due[row], since, self.hours("window")
            )
        )

    def _reactivate(self, view: Any, row: int, m: float, due: float) -> None:
        p = self.params
        view.trace_weight[row] = degraded(self._weight(view, row), m, p.d, p.least)
        view.synthesis_due[row], view.reactivated[row] = due, view.now

    @hook(
        Phase.ENCODE,
        reads=(ROW, NOW, INDEX, SPEAKER, LEXICON),
        adds=(GRAPH,),
        sets=(TRACE_WEIGHT, SYNTHESIS_DUE, REACTIVATED, EMBEDDING_TOTAL),
    )
    def meet(self, view: Any, incoming: Incoming) -> None:
        p, row = self.params, view.row
        background = float(incoming.vector @ view.embedding_total) / (
            view.lexicon.n_counted - 1 + p.prior
        )
        view.embedding_total += incoming.vector
        view.trace_weight[row] = p.stored
        near, cosine = view.index.search(incoming.vector, 2)
        others = np.flatnonzero(near != row)
        if others.size:
            old, m = int(near[others[0]]), mismatch(float(cosine[others[0]]), background)
            kind = regime(m, p.low, p.high)
            for column in (TRACE_WEIGHT, SYNTHESIS_DUE, REACTIVATED):
                view.wrote(column, old)
            if kind == LOW:
                self._reactivate(view, old, m, p.s)
            elif kind == MEDIUM and view.speaker[old] == view.speaker[row]:
                self._reactivate(view, old, m, 0.0)
                view.synthesis_due[row], view.reactivated[row] = p.s, view.now
                view.graph.add(row, old, EdgeType.VERSION, view.now)

    @hook(
        Phase.RETRIEVE,
        reads=(RECALLED, NOW, EMBEDDING, EMBEDDING_TOTAL, LEXICON),
        adds=(),
        sets=(TRACE_WEIGHT, SYNTHESIS_DUE, REACTIVATED),
    )
    def on_recall(self, view: Any, cue: Cue) -> None:
        if view.recalled.size:
            p, row = self.params, int(view.recalled[0])
            background = float(cue.vector @ view.embedding_total) / (
                view.lexicon.n_counted + p.prior
            )
            m = mismatch(float(cue.vector @ view.embedding[row]), background)
            if regime(m, p.low, p.high) != HIGH:
                self._reactivate(view, row, m, p.s)

    @hook(
        Phase.MAINTAIN,
        reads=(TRACE_WEIGHT, SYNTHESIS_DUE, REACTIVATED),
        adds=(LOG_STRENGTH,),
        sets=(),
    )
    def strengthen(self, view: Any, tick: Tick) -> None:
        relative_weights(
            tick.end,
            view.trace_weight,
            view.synthesis_due,
            view.reactivated,
            self.hours("window"),
            self.params.stored,
            view.log_strength,
        )
        np.log(view.log_strength, out=view.log_strength)
