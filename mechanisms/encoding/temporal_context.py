"""Temporal context: stores a slowly drifting context with each memory and supports memories whose
context resembles the retrieved context.

Each item changes the context t by its input, t_i = rho_i t_{i-1} + beta t_i^IN.  A recalled item
retrieves two contexts: its study context, which cues neighbours on both sides, and its own
contribution c to later contexts, which cues later items only.  So neighbours are recalled, later
ones more often than earlier ones (Howard & Kahana 2002).  At retrieval the best matches of the
direct signals are recalled with the paper's choice rule, and the contexts that they retrieve
support the memories around them.

A question asked in a session has a context before its matches: that of what was said last in the
session, then changed by each use of a memory, which is a recall, and drifted until now.  The
matches change it once more, t = rho t_now + beta sum P_r t_r^IN, and it supports memories by the
same products.  A question from nowhere has the matches alone.  A memory that is used is bound to
the context of that moment, too: to the memories that were used before it in the session, which then
cue it.

Context has a second part, that of the source (Polyn, Norman & Kahana 2009), here the session: a
question from a session supports all memories of it alike, by L_sw, beside the support that falls with
the distance in time.  L_sw = 0 leaves it out, as Howard & Kahana do.

For orthonormal items, as in the paper's simulations, all products of contexts have a closed form,
    t_i . t_j = prod_{i<k<=j} rho_k        c_r . t_j = beta prod_{r<k<=j} rho_k for j >= r, 0
                                           before,
so one number per memory, CONTEXT_RETENTION, represents the context exactly, and support takes one
forward and one backward pass.

Cost: O(1) per event and use; O(n + k log k) per query for k recalled items (0.3 ms at
100,000 memories), O(BOUND n) more once memories were used in order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np

from ...engine.base.numerics import exact_kernel, formula, kernel
from ...engine.contract.columns import Column, Facet, Phase, Scope, Upkeep, signal
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, hook
from ...engine.contract.vocabulary import (
    ARRIVED,
    CHOICE_GAIN,
    CONTEXT_KEPT,
    KIND,
    MATCH,
    NOW,
    RECALLED,
    ROW,
    SESSION,
    USED,
    USED_TIME,
    VISIBLE,
)
from ...engine.state.ranking import best
from ...engine.steps.uses import session_key, step_of_use

# memories used before it to which a memory is bound; a new one replaces the weakest
BOUND: Final = 8

# --- columns --------------------------------------------------------------------------------------
CONTEXT_RETENTION = Column(
    "context_retention",
    np.float64,
    Scope.MEMORY,
    "1",
    1.0,
    "t_i . t_{i-1}, share of the previous context that is retained",
    low=0,
    high=1,
    upkeep=Upkeep(chained=True),
)
CONTEXT_CUES = Column(
    "context_cues",
    np.int32,
    Scope.MEMORY,
    "1",
    -1,
    "rows used before the memory in a session; -1: none",
    (BOUND,),
    low=-1,
    upkeep=Upkeep(rows=...),
)
CONTEXT_BINDING = Column(
    "context_binding",
    np.float32,
    Scope.MEMORY,
    "1",
    0.0,
    "sum over uses of t_use . c of each of them",
    (BOUND,),
    low=0,
)
CONTEXT = signal(
    "context",
    Facet.CONTEXT,
    "support by the temporal context that the best matches retrieve",
    direct=False,
)


# --- equations ------------------------------------------------------------------------------------
@exact_kernel
def retention(beta: Any, dot: Any) -> Any:
    """rho_i, the share of the previous context for which |t_i| = 1.  Howard & Kahana (2002),
    normalisation of the drift.  Cost: O(1).

    beta  ()  1  weight of the incoming context, 0..1
    dot   ()  1  t_{i-1} . t_i^IN; 0 for an item orthogonal to all earlier ones

    >>> round(float(retention(0.6, 0.0)), 6), round(float(retention(0.6, 1.0)), 6)
    (0.8, 0.4)
    """
    return np.sqrt(1.0 + beta * beta * (dot * dot - 1.0)) - beta * dot


@kernel
def drift(t: Any, t_in: Any, beta: float, out: Any) -> None:
    """t_i = rho_i t_{i-1} + beta t_i^IN for any unit vectors: the evolution that `support`
    evaluates in closed form.  Cost: O(d).

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


@formula
def carried(rho: float, gap: float, tau: float, kept: float) -> float:
    """t_i . t_{i-1} = rho_i exp(-gap / tau) kept, with drift between the items.  The paper's
    distractor, in simulated time.  Cost: O(1).

    rho   ()  1  retention at the item itself
    gap   ()  h  time since the previous item
    tau   ()  h  time constant of drift without items
    kept  ()  1  rho_D, share retained at a change of session; 1 within a session

    >>> round(carried(0.8, 0.0, 24.0, 0.5), 6)
    0.4
    """
    return rho * float(math.exp(-gap / tau)) * kept


@exact_kernel
def choice(strength: Any, rows: Any, tau: float) -> Any:
    """P_r = exp(2 a_r / tau) / sum_k exp(2 a_k / tau).  Howard & Kahana (2002), choice rule.  Cost:
    O(k).

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
        p[i] = math.exp(2.0 * (float(strength[rows[i]]) - top) / tau)
        total += p[i]
    for i in range(rows.shape[0]):
        p[i] /= total
    return p


@exact_kernel
def support(
    rows: Any, probability: Any, rho: Any, g: float, beta: float, own: float, out: Any
) -> None:
    """a_j = sum_r P_r t_r^IN . t_j with t_r^IN = [g t_r + (1 - g) c_r] / |.|.  Howard & Kahana
    (2002), retrieved context.  Cost: O(n + k).

    The study context t_r supports both directions, the item's own contribution c_r only later
    items; at any lag the ratio of forward to backward support is 1 + (1 - g) beta / g.

    rows         (k,)  1  recalled items, ascending
    probability  (k,)  1  P_r of each
    rho          (n,)  1  t_j . t_{j-1}; rho[0] is not used
    g            ()    1  alpha_N / (alpha_N + alpha_O), share of the study context in the retrieved
                          context
    own          ()    1  factor on the support of a recalled item for itself; 0: excluded, as in
                          free recall
    out          (n,)  1  a_j, written

    The second of three items is recalled; the later neighbour gets 1.6 times the support of the
    earlier one.

    >>> out = np.empty(3)
    >>> support(np.array([1]), np.array([1.0]), np.full(3, 0.8), 0.5, 0.6, 0.0, out)
    >>> round(float(out[2] / out[0]), 6), float(out[1])
    (1.6, 0.0)
    """
    n, k = rho.shape[0], rows.shape[0]
    # t_r . c_r = beta
    length = np.sqrt(g * g + (1.0 - g) * (1.0 - g) + 2.0 * g * (1.0 - g) * beta)
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


@kernel
def bind(row: int, cues: Any, strength: float, bound: Any, binding: Any) -> None:
    """binding of `row` to each cue += strength, the product of the cue's contribution with the
    context at the use.  Howard & Kahana (2002).

    row, cues         ()  (m,)     memory that is used, memories used before it
    strength          ()        1  t_use . c of each cue
    bound, binding    (n, BOUND)   written; a new cue replaces the weakest if it is stronger
    Cost: O(m BOUND).

    >>> bound, binding = np.full((2, BOUND), -1), np.zeros((2, BOUND))
    >>> for _ in range(2):
    ...     bind(1, np.array([0]), 0.3, bound, binding)
    >>> bound[1, 0], binding[1, 0]
    (np.int64(0), np.float64(0.6))
    """
    for cue in cues:
        place, known = 0, False
        for k in range(bound.shape[1]):
            if bound[row, k] == cue:
                place, known = k, True
                break
            if binding[row, k] < binding[row, place]:
                place = k
        if known:
            binding[row, place] += strength
        elif strength > binding[row, place]:
            bound[row, place], binding[row, place] = cue, strength


@kernel
def add_bound(cue: Any, bound: Any, binding: Any, out: Any) -> None:
    """out_j += sum_r q_r (t_j at its uses . c_r): support of memories by the contexts of their
    uses.  Cost: O(n BOUND).

    cue               (n,)        q_r, weight of each memory in the context that cues
    bound, binding    (n, BOUND)  of each memory j
    out               (n,)        added to

    >>> out = np.zeros(2)
    >>> add_bound(np.array([0.5, 0.0]), np.array([[-1, -1], [0, -1]]), np.array([[0.0, 0.0], [0.6, 0.0]]), out)
    >>> out.tolist()
    [0.0, 0.3]
    """
    for j in range(bound.shape[0]):
        for k in range(bound.shape[1]):
            if binding[j, k] > 0.0:
                out[j] += cue[bound[j, k]] * binding[j, k]


@kernel
def add_source(source: Any, of: int, scale: float, out: Any) -> None:
    """out_j += L_sw s_j . s, products of contexts of source, each that of its session alone.  Polyn,
    Norman & Kahana (2009), context of source.  Cost: O(n).

    source  (n,)  session of each memory, below 0 for none
    of      ()    session of the question
    scale   ()  1  L_sw, strength of the associations from source to items, those from the temporal
                   context being 1
    out     (n,)  added to

    >>> out = np.zeros(3)
    >>> add_source(np.array([4, -1, 4]), 4, 0.5, out)
    >>> out.tolist()
    [0.5, 0.0, 0.5]
    """
    if of < 0:
        return
    for j in range(source.shape[0]):
        if source[j] == of:
            out[j] += scale


def products(rows: Any, last: int, rho: Any, g: float, beta: float) -> Any:
    """(u + 1, u + 1) scalar products of t_r^IN of some memories and, last, of t_L, the context of
    one memory.  Howard & Kahana (2002).

    rows  (u,)  memories r, in any order
    last        memory L; -1: none, the last row and column are then 0
    rho   (n,)  t_j . t_{j-1}
    g, beta     as for `support`
    Cost: O(u^2 + n).

    >>> products(np.array([0, 1]), 1, np.full(2, 0.8), 1.0, 0.6).round(6).tolist()
    [[1.0, 0.8, 0.8], [0.8, 1.0, 1.0], [0.8, 1.0, 1.0]]
    """
    places = np.append(rows, last if last >= 0 else 0).astype(np.int64)
    known = np.unique(places)
    between = np.ones((len(known), len(known)))  # t_i . t_j
    steps = [float(np.prod(rho[i + 1 : j + 1])) for i, j in pairwise(known.tolist())]
    for a in range(len(known)):
        for b in range(a + 1, len(known)):
            between[a, b] = between[b, a] = between[a, b - 1] * steps[b - 1]
    at = np.searchsorted(known, places)
    study = between[np.ix_(at, at)]
    own = beta * study * (places[:, None] <= places[None, :])  # c_i . t_j
    u = len(rows)
    length = np.sqrt(g * g + (1.0 - g) * (1.0 - g) + 2.0 * g * (1.0 - g) * beta)
    matrix = (
        g * g * study
        + g * (1.0 - g) * (own + own.T)
        + (1.0 - g) ** 2 * (places[:, None] == places[None, :])
    ) / length**2
    matrix[u, :] = matrix[:, u] = (g * study[:, u] + (1.0 - g) * own[:, u]) / length
    matrix[u, u] = 1.0
    if last < 0:
        matrix[u, :] = matrix[:, u] = 0.0
    return matrix


def present(
    times: Any, numbers: Any, gram: Any, since: float, now: float, beta: float, tau: float
) -> Any:
    """(u + 1,) the context of a session at `now` in terms of t_r^IN of the used memories and of
    t_L: t <- rho t + beta t^IN at each use.

    times, numbers  (u,)  h  of the uses: time, and number of the use; the memories of one use make
                             one t^IN of length 1
    gram            (u + 1, u + 1)  as `products` gives it
    since           ()    h  when L, the last event of the session, was said; NaN: none was
    now, tau        ()    h  time of asking; time constant of drift between

    rho is that of the paper's normalisation, from t . t^IN.  Uses before L do not count: its own
    context stands for them.

    >>> gram = products(np.array([2, 1]), 0, np.full(3, 0.0), 1.0, 0.6)
    >>> present(np.array([2.0, 1.0]), np.array([1, 0]), gram, 0.0, 2.0, 0.6, np.inf).round(6).tolist()
    [0.6, 0.48, 0.64]
    """
    u, known = len(times), since == since
    t, at = np.zeros(u + 1), since
    t[u] = float(known)
    for number in sorted({int(n) for n in numbers}):
        mine = np.flatnonzero(np.asarray(numbers) == number)
        time = float(times[mine[0]])
        if known and time < since:
            continue
        t_in = np.zeros(u + 1)
        t_in[mine] = 1.0
        t_in /= np.sqrt(t_in @ gram @ t_in)
        t *= float(np.exp(-(time - at) / tau)) if at == at else 0.0
        t, at = float(retention(beta, t @ gram @ t_in)) * t + beta * t_in, time
    return t * (float(np.exp(-(now - at) / tau)) if at == at else 0.0)


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class TemporalContextParams(Params):
    beta: float  # weight of an item in the context
    study_share: float  # g
    drift_time: float  # tau_c
    session_retention: float  # rho_D
    choice_noise: float  # tau, in standard deviations of MATCH
    recalled_items: int  # k
    own_support: float
    # share of the session's context in the context at asking; 1: the paper's rho
    present: float
    source: float  # L_sw
    weight: float


class TemporalContext(Mechanism[TemporalContextParams]):
    """Stores the drift of context with each memory; supports the neighbours of recalled
    memories.
    """

    owns = (CONTEXT_RETENTION, CONTEXT_CUES, CONTEXT_BINDING, CONTEXT)

    @hook(
        Phase.ENCODE,
        reads=(ROW, ARRIVED, SESSION, CONTEXT_KEPT),
        adds=(),
        sets=(CONTEXT_RETENTION,),
    )
    def store_retention(self, view: Any, incoming: Incoming) -> None:
        row, before = view.row, incoming.before
        if before < 0:
            view.context_retention[row] = 0.0
            return
        p, created, session = self.params, view.arrived, view.session
        kept = view.context_kept * (1.0 if session[row] == session[before] else p.session_retention)
        view.context_retention[row] = carried(
            retention(p.beta, 0.0), created[row] - created[before], self.hours("drift_time"), kept
        )

    @hook(
        Phase.RETRIEVE,
        reads=(RECALLED, USED.before, USED_TIME.before, NOW),
        adds=(),
        sets=(CONTEXT_CUES, CONTEXT_BINDING),
    )
    def on_recall(self, view: Any, cue: Cue) -> None:
        """Bind each memory that was needed to those that the last use in the session needed."""
        before, rows, lag = step_of_use(cue, view.recalled, view.used, view.used_time, view.now)
        if before.size:
            strength = (
                self.params.beta
                * carried(retention(self.params.beta, 0.0), lag, self.hours("drift_time"), 1.0)
                / before.size
            )
            for row in rows.tolist():
                bind(row, before, strength, view.context_cues, view.context_binding)

    @hook(Phase.RETRIEVE, reads=(MATCH, CONTEXT_RETENTION, VISIBLE, CHOICE_GAIN, SESSION, ARRIVED,
                                 KIND, NOW, USED.before, USED_TIME.before,
                                 CONTEXT_CUES, CONTEXT_BINDING), adds=(), sets=(CONTEXT,))  # fmt: skip
    def reinstate(self, view: Any, cue: Cue) -> None:
        """No score unless the best match is above 0, the mean of MATCH, or the question is asked
        in a session that has a context.
        """
        p, context = self.params, view.context
        rows, recalled = best(view.match, view.visible, p.recalled_items), np.empty(0)
        if rows.size and view.match[rows[0]] > 0.0:
            rows.sort()
            recalled = choice(view.match, rows, p.choice_noise / max(view.choice_gain, 1e-9))
            support(
                rows,
                recalled,
                view.context_retention,
                p.study_share,
                p.beta,
                p.own_support,
                context,
            )
        else:
            rows = rows[:0]
        used, weights, last, said = self._present(view, cue)
        shared = p.source > 0.0 and cue.session >= 0 and (view.session == cue.session).any()
        if not (rows.size or used.size or said or shared):
            return
        if not rows.size:
            context[...] = 0.0
        if shared:
            add_source(view.session, cue.session, p.source, context)
        other = np.empty(len(context))
        if used.size:
            support(
                used, weights, view.context_retention, p.study_share, p.beta, p.own_support, other
            )
            context += other
        if said:
            support(
                np.array([last]),
                np.array([said]),
                view.context_retention,
                1.0,
                p.beta,
                p.own_support,
                other,
            )
            context += other
        if (view.context_binding[:, 0] > 0.0).any():
            cues = np.zeros(len(context))
            cues[rows] += recalled
            cues[used] += weights
            added = np.zeros(len(context))
            add_bound(cues, view.context_cues, view.context_binding, added)
            context += added

    def _present(self, view: Any, cue: Cue) -> tuple[Any, Any, int, float]:
        """Used memories, ascending, with their weights, and the last event with its own, where
        those of the matches sum to 1: by rho / beta, as the matches change the context by the last
        step, t = rho t_now + beta sum P_r t_r^IN."""
        p, session = self.params, cue.query.session
        scale = (
            p.present * float(retention(p.beta, 0.0)) / p.beta if session and p.beta > 0.0 else 0.0
        )
        if not scale:
            return np.empty(0, dtype=np.int64), np.empty(0), -1, 0.0
        events = np.flatnonzero(
            (view.session == cue.session) & (view.kind == 0) & (cue.session >= 0)
        )
        last = int(events[-1]) if events.size else -1
        ours = np.flatnonzero((view.used[:, 0] >= 0) & (view.used[:, 1] == session_key(session)))
        used = view.used[ours, 0].astype(np.int64)
        t = present(
            view.used_time[ours],
            view.used[ours, 2],
            products(used, last, view.context_retention, p.study_share, p.beta),
            float(view.arrived[last]) if last >= 0 else np.nan,
            float(view.now),
            p.beta,
            self.hours("drift_time"),
        )
        rows, place = np.unique(used, return_inverse=True)
        weights = np.bincount(place, t[:-1], len(rows)) * scale
        return rows[weights > 0.0], weights[weights > 0.0], last, float(t[-1]) * scale
