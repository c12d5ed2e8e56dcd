"""Temporal context: stores a slowly drifting context with each memory and supports memories whose context resembles the retrieved context.

Each item changes the context t by its input, t_i = rho_i t_{i-1} + beta t_i^IN.  A recalled item retrieves two contexts: its study context, which
cues neighbours on both sides, and its own contribution c to later contexts, which cues later items only.  So neighbours are
recalled, later ones more often than earlier ones (Howard & Kahana 2002).  At retrieval the best matches of the direct signals are recalled with
the paper's choice rule, and the contexts that they retrieve support the memories around them.

For orthonormal items, as in the paper's simulations, all products of contexts have a closed form,
    t_i . t_j = prod_{i<k<=j} rho_k        c_r . t_j = beta prod_{r<k<=j} rho_k for j >= r, 0 before,
so one number per memory, CONTEXT_RETENTION, represents the context exactly, and support takes one forward and one backward pass.

Cost: O(1) per event; O(n + k log k) per query for k recalled items (0.3 ms at
100,000 memories).
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.columns import Column, Facet, Phase, Scope, signal
from ...engine.contract import Cue, Incoming, Mechanism, Params, hook
from ...engine.numerics import kernel
from ...engine.ranking import best
from ...engine.vocabulary import CHOICE_GAIN, CONTEXT_KEPT, CREATED, MATCH, ROW, SESSION, VISIBLE

# --- columns -----------------------------------------------------------------------------------------------------------------
CONTEXT_RETENTION = Column("context_retention", np.float64, Scope.MEMORY, "1", 1.0, "t_i . t_{i-1}, share of the previous context that is retained",
                           low=0, high=1)
CONTEXT = signal("context", Facet.CONTEXT, "support by the temporal context that the best matches retrieve", direct=False)


# --- equations ---------------------------------------------------------------------------------------------------------------
@kernel
def retention(beta: Any, dot: Any) -> Any:
    """rho_i, the share of the previous context for which |t_i| = 1.  Howard & Kahana (2002), normalisation of the drift.  Cost: O(1).

    beta  ()  1  weight of the incoming context, 0..1
    dot   ()  1  t_{i-1} . t_i^IN; 0 for an item orthogonal to all earlier ones

    >>> round(float(retention(0.6, 0.0)), 6), round(float(retention(0.6, 1.0)), 6)
    (0.8, 0.4)
    """
    return np.sqrt(1.0 + beta * beta * (dot * dot - 1.0)) - beta * dot


@kernel
def drift(t: Any, t_in: Any, beta: float, out: Any) -> None:
    """t_i = rho_i t_{i-1} + beta t_i^IN for any unit vectors: the evolution that `support` evaluates in closed form.  Cost: O(d).

    t, t_in  (d,)  1  previous context, and incoming context; both of length 1
    out      (d,)  1  new context, of length 1; written

    >>> out = np.empty(2)
    >>> drift(np.array([1.0, 0.0]), np.array([0.0, 1.0]), 0.6, out)
    >>> [round(float(x), 6) for x in out]
    [0.8, 0.6]
    """
    dot = 0.0
    for i in range(t.shape[0]):
        dot += t[i] * t_in[i]
    rho = retention(beta, dot)
    for i in range(t.shape[0]):
        out[i] = rho * t[i] + beta * t_in[i]


@kernel
def carried(rho: float, gap: float, tau: float, kept: float) -> float:
    """t_i . t_{i-1} = rho_i exp(-gap / tau) kept, with drift between the items.  The paper's distractor, in simulated time.  Cost: O(1).

    rho   ()  1  retention at the item itself
    gap   ()  h  time since the previous item
    tau   ()  h  time constant of drift without items
    kept  ()  1  rho_D, share retained at a change of session; 1 within a session

    >>> round(carried(0.8, 0.0, 24.0, 0.5), 6)
    0.4
    """
    return rho * float(np.exp(-gap / tau)) * kept


@kernel
def choice(strength: Any, rows: Any, tau: float) -> Any:
    """P_r = exp(2 a_r / tau) / sum_k exp(2 a_k / tau).  Howard & Kahana (2002), choice rule.  Cost: O(k).

    strength  (n,)  a of every item, in the unit of tau
    rows      (k,)  1  items that compete
    tau       ()    noise; a large tau makes all probabilities equal
    returns   (k,)  1  probability of recalling each of `rows`

    >>> [round(float(p), 3) for p in choice(np.array([0.0, 1.0, 9.0]), np.array([0, 1]), 2.0 / np.log(3.0))]
    [0.25, 0.75]
    """
    top, total = -np.inf, 0.0
    for r in rows:
        top = max(top, float(strength[r]))
    p = np.empty(rows.shape[0])
    for i in range(rows.shape[0]):
        p[i] = np.exp(2.0 * (float(strength[rows[i]]) - top) / tau)
        total += p[i]
    return p / total


@kernel
def support(rows: Any, probability: Any, rho: Any, g: float, beta: float, own: float, out: Any) -> None:
    """a_j = sum_r P_r t_r^IN . t_j with t_r^IN = [g t_r + (1 - g) c_r] / |.|.  Howard & Kahana (2002), retrieved context.  Cost: O(n + k).

    The study context t_r supports both directions, the item's own contribution c_r only later items; at any lag the ratio of forward to
    backward support is 1 + (1 - g) beta / g.

    rows         (k,)  1  recalled items, ascending
    probability  (k,)  1  P_r of each
    rho          (n,)  1  t_j . t_{j-1}; rho[0] is not used
    g            ()    1  alpha_N / (alpha_N + alpha_O), share of the study context in the retrieved context
    own          ()    1  factor on the support of a recalled item for itself; 0: excluded, as in free recall
    out          (n,)  1  a_j, written

    The second of three items is recalled; the later neighbour gets 1.6 times the support of the earlier one.

    >>> out = np.empty(3)
    >>> support(np.array([1]), np.array([1.0]), np.full(3, 0.8), 0.5, 0.6, 0.0, out)
    >>> round(float(out[2] / out[0]), 6), float(out[1])
    (1.6, 0.0)
    """
    n, k = rho.shape[0], rows.shape[0]
    length = np.sqrt(g * g + (1.0 - g) * (1.0 - g) + 2.0 * g * (1.0 - g) * beta)    # t_r . c_r = beta
    back, forth = g / length, (g + (1.0 - g) * beta) / length
    carry, at = 0.0, 0
    for j in range(n):
        carry = rho[j] * carry if j else 0.0
        a = forth * carry
        if at < k and rows[at] == j:
            a += own * forth * probability[at]
            carry += probability[at]
            at += 1
        out[j] = a
    carry, at = 0.0, k - 1
    for j in range(n - 1, -1, -1):
        out[j] += back * carry
        if at >= 0 and rows[at] == j:
            carry += probability[at]
            at -= 1
        carry *= rho[j]


# --- plug-in -----------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class TemporalContextParams(Params):
    beta: float                 # weight of an item in the context
    study_share: float          # g
    drift_time: float           # tau_c
    session_retention: float    # rho_D
    choice_noise: float         # tau, in standard deviations of MATCH
    recalled_items: int         # k
    own_support: float
    weight: float


class TemporalContext(Mechanism[TemporalContextParams]):
    """Stores the drift of context with each memory; supports the neighbours of recalled memories."""

    owns = (CONTEXT_RETENTION, CONTEXT)

    @hook(Phase.ENCODE, reads=(ROW, CREATED, SESSION, CONTEXT_KEPT), adds=(), sets=(CONTEXT_RETENTION,))
    def store_retention(self, view: Any, incoming: Incoming) -> None:
        row, before = view.row, incoming.before
        if before < 0:
            view.context_retention[row] = 0.0
            return
        p, created, session = self.params, view.created, view.session
        kept = view.context_kept * (1.0 if session[row] == session[before] else p.session_retention)
        view.context_retention[row] = carried(retention(p.beta, 0.0), created[row] - created[before], self.hours("drift_time"), kept)

    @hook(Phase.RETRIEVE, reads=(MATCH, CONTEXT_RETENTION, VISIBLE, CHOICE_GAIN), adds=(), sets=(CONTEXT,))
    def reinstate(self, view: Any, cue: Cue) -> None:
        """No score unless the best match is above 0, the mean of MATCH."""
        p = self.params
        rows = best(view.match, view.visible, p.recalled_items)
        if rows.size and view.match[rows[0]] > 0.0:
            rows.sort()
            recalled = choice(view.match, rows, p.choice_noise / max(view.choice_gain, 1e-9))
            support(rows, recalled, view.context_retention, p.study_share, p.beta, p.own_support, view.context)
