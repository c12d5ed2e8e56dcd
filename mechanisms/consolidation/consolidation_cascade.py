"""Consolidation cascade: each memory's strength is the signal of a population of synapses that
later events overwrite.

A synapse is strong or weak, and in either state at one of n levels.  A potentiation turns a weak
synapse strong, at level 1, with a probability that halves with each level, and moves a strong one a
level deeper; a depression does the reverse (Fusi, Drew & Abbott 2005).  Shallow synapses therefore
learn fast and deep ones retain, and the memory signal falls with the 3/4 power of the number of
later events, not exponentially.

Each memory is a population of such synapses, in equilibrium before it is stored; storing it
potentiates all of them.  Every event stored later overwrites them with an unrelated pattern: half
potentiations, half depressions, on average the matrix M.  A replay in sleep, and a recall that may
change memory, potentiate the memory's own synapses.  The occupancies are the exact expectation of
this random process.  Overwriting is counted in events, not hours: M^k is applied when a memory is
next updated, and strength is computed from the current k, so nothing depends on the length of a
tick.  By symmetry two vectors suffice: `balance`, strong minus weak, which alone determines the
signal, and `occupancy`, their sum.

The alternative synapse is the chain of beakers of Benna & Fusi (2016): each is 2 times as large as
the one before, and the connections become 2 times as slow; the signal is the level of the first and
falls with the square root of the number of events.

Cost, with n levels: O(n) per event, O(n^2 log k) per memory
recalled; O(rows n) per maintain; O(rows n^2) per consolidation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from ...engine.base.numerics import copy, exact_kernel, formula, kernel, read_only
from ...engine.contract.columns import Column, Phase, Scope
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, Tick, hook
from ...engine.contract.vocabulary import LOG_STRENGTH, RECALLED, REPLAYS, ROW
from ..shared.coactivation import TOGETHER

BITS = 40  # bits of the number of events
# names of Cortex 4.2.1 for quarters of the depth; labels only
STAGES = ("LABILE", "EARLY_LTP", "LATE_LTP", "CONSOLIDATED")

# --- columns --------------------------------------------------------------------------------------
CASCADE_BALANCE = Column(
    "cascade_balance",
    np.float32,
    Scope.MEMORY,
    "1",
    0.0,
    "strong minus weak synapses at each level; for a chain, the levels of its beakers",
    ("levels",),
)
CASCADE_OCCUPANCY = Column(
    "cascade_occupancy",
    np.float32,
    Scope.MEMORY,
    "1",
    0.0,
    "share of the synapses at each level; 0 for a chain",
    ("levels",),
    low=0,
)
CASCADE_AS_OF = Column(
    "cascade_as_of",
    np.int64,
    Scope.MEMORY,
    "events",
    0,
    "plasticity events up to which balance and occupancy are updated",
    low=0,
)
PLASTICITY_EVENTS = Column(
    "plasticity_events",
    np.int64,
    Scope.GLOBAL,
    "events",
    0,
    "events stored so far, each of which overwrites all older memories",
    low=0,
)


# --- the cascade ----------------------------------------------------------------------------------
@kernel
def overwriting(n: int, x: float) -> Any:
    """q_i = x^(i-1), q_n = x^(n-1) / (1 - x): probability that a synapse of the other state at
    level i switches.  (n,).  Fusi et al. (2005).

    >>> overwriting(4, 0.5).tolist()
    [1.0, 0.5, 0.25, 0.25]
    """
    q = x ** np.arange(n)
    q[n - 1] /= 1.0 - x
    return q


@kernel
def deepening(n: int, x: float) -> Any:
    """p_i = x^i / (1 - x), p_n = 0: probability that a synapse of the same state at level i goes a
    level deeper.  (n,).  Fusi et al. (2005).

    >>> deepening(4, 0.5).tolist()
    [1.0, 0.5, 0.25, 0.0]
    """
    p = x ** np.arange(1, n + 1) / (1.0 - x)
    p[n - 1] = 0.0
    return p


@exact_kernel
def potentiate(strong: Any, weak: Any, q: Any, p: Any) -> None:
    """One potentiation of all synapses, in expectation; a depression is potentiate(weak, strong, q,
    p).  Fusi et al. (2005).  Cost: O(n).

    strong, weak  (n,)  1  share of the synapses at each level of either state, changed in place
    q, p          (n,)  1  `overwriting` and `deepening`

    >>> strong, weak = np.full(2, 0.25), np.full(2, 0.25)
    >>> potentiate(strong, weak, overwriting(2, 0.5), deepening(2, 0.5))
    >>> strong.tolist(), weak.tolist()
    ([0.5, 0.5], [0.0, 0.0])
    """
    turned, sinking = 0.0, 0.0
    for i in range(strong.shape[0]):
        turned += q[i] * weak[i]
        weak[i] -= q[i] * weak[i]
        going = p[i] * strong[i]
        strong[i] += sinking - going
        sinking = going
    strong[0] += turned


@formula
def overwrite(strong: Any, weak: Any, q: Any, p: Any) -> None:
    """One event unrelated to the memory: M = (M_pot + M_dep) / 2, in place.  Fusi et al. (2005),
    f+ = f- = 1/2.  Cost: O(n).
    """
    other_strong, other_weak = strong.copy(), weak.copy()
    potentiate(strong, weak, q, p)
    potentiate(other_weak, other_strong, q, p)
    strong[:] = 0.5 * (strong + other_strong)
    weak[:] = 0.5 * (weak + other_weak)


@kernel
def signal(strong: Any, weak: Any) -> float:
    """S = sum of strong - sum of weak; S sqrt(N) is the signal-to-noise ratio of N synapses.
    Fusi et al. (2005).  Cost: O(n).
    """
    return float(np.sum(strong - weak))


def stage(balance: Any) -> str:
    """Name of the mean depth of one memory's signal, from LABILE at level 1 to CONSOLIDATED at
    level n.

    >>> stage(np.array([0.2, 0.0, 0.0, 0.0])), stage(np.array([0.0, 0.0, 0.1, 0.9]))
    ('LABILE', 'CONSOLIDATED')
    """
    weights = np.maximum(balance, 0.0)
    depth = weights @ np.arange(len(weights)) / max(weights.sum() * (len(weights) - 1), 1e-300)
    return STAGES[min(int(4 * depth), 3)]


# --- the chain ------------------------------------------------------------------------------------
@kernel
def beakers_after(u: Any, t: float, c1: float, g1: float, leak: bool) -> Any:
    """Levels after a time t: C_k du_k/dt = g_{k-1} (u_{k-1} - u_k) + g_k (u_{k+1} - u_k), C_k =
    2^(k-1) C_1, g_k = 2^(1-k) g_1.  Benna & Fusi (2016).

    u       (m,)  1       levels of the beakers; the first is the synaptic efficacy
    t       ()    events  duration
    c1, g1  ()    1       size of the first beaker; conductance of the tube to the second, per event
    leak          whether the last beaker drains into an empty one (g_m)

    Solved exactly by the eigenvectors of the symmetric rate matrix of sqrt(C_k) u_k.  Cost: O(m^3).

    >>> u = beakers_after(np.array([1.0, 0.0]), 1e6, 1.0, 0.25, False)
    >>> u.round(9).tolist()                     # without a leak all ends in one level, and 1 u_1 + 2 u_2 is kept
    [0.333333333, 0.333333333]
    """
    m = u.shape[0]
    root, tube = np.sqrt(c1 * 2.0 ** np.arange(m)), g1 * 0.5 ** np.arange(m)
    rates = np.zeros((m, m))
    for k in range(m):
        rates[k, k] -= tube[k] if k < m - 1 or leak else 0.0
        if k > 0:
            rates[k, k] -= tube[k - 1]
            rates[k, k - 1] = rates[k - 1, k] = tube[k - 1]
    rates /= root.reshape(m, 1) * root
    values, vectors = np.linalg.eigh(rates)
    return vectors @ (np.exp(values * t) * (vectors.T @ (u * root))) / root


# --- many memories, many events -------------------------------------------------------------------
@formula
def powers(step: Any) -> Any:
    """step^(2^b) for b < BITS, (BITS, n, n).  Cost: O(BITS n^3)."""
    out = np.empty((BITS, step.shape[0], step.shape[0]))
    out[0] = step
    for b in range(1, BITS):
        out[b] = out[b - 1] @ out[b - 1]
    return out


@kernel
def multiplied(matrix: Any, vector: Any) -> Any:
    """matrix vector, (n,), without the call of a library, which takes longer than the product of
    ten levels.  Cost: O(n^2).
    """
    out = np.zeros(matrix.shape[0])
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            out[i] += matrix[i, j] * vector[j]
    return out


@kernel
def after(vector: Any, k: int, table: Any) -> Any:
    """step^k vector from the table of powers of step; with a table of transposes, vector step^k.
    Cost: O(n^2 log k).
    """
    out, b = vector.astype(np.float64), 0
    while k:
        if k & 1:
            out = table[b] @ out
        k, b = k >> 1, b + 1
    return out


@kernel
def renew(
    rows: Any,
    times: Any,
    events: int,
    balance: Any,
    occupancy: Any,
    as_of: Any,
    lean: Any,
    total: Any,
    q: Any,
    p: Any,
    chain: bool,
) -> None:
    """Update memories to the present number of events, then apply to each its own potentiations,
    `times` of them.

    rows, times         (r,)     memories, and number of potentiations of each
    balance, occupancy  (N, n)   and as_of (N,): state, changed in place
    lean, total                  tables of powers for balance and occupancy
    q, p                (n,)     transition probabilities of a cascade
    chain                        each potentiation raises the first beaker by 1 instead

    Rows with the oldest update share one M^k.  Cost: O(r n^2 + n^3 log k), plus O(n^2 log k) for
    each row updated later than these.
    """
    n = balance.shape[1]
    k = events - np.min(as_of[rows]) if rows.shape[0] else 0
    shared, shared_total = np.eye(n), np.eye(n)
    for column in range(n):
        copy(after(shared[:, column], k, lean), shared[:, column])
        copy(after(shared_total[:, column], k, total), shared_total[:, column])
    for r in range(rows.shape[0]):
        row, behind = rows[r], events - as_of[rows[r]]
        if not (behind or times[r]):
            continue
        a, s = balance[row].astype(np.float64), occupancy[row].astype(np.float64)
        if 0 < behind == k:
            a, s = shared @ a, shared_total @ s
        elif behind:
            a, s = after(a, behind, lean), after(s, behind, total)
        if times[r] and chain:
            a[0] += times[r]
        elif times[r]:
            strong, weak = 0.5 * (s + a), 0.5 * (s - a)
            for _ in range(times[r]):
                potentiate(strong, weak, q, p)
            a, s = strong - weak, strong + weak
        copy(a, balance[row])
        copy(s, occupancy[row])
        as_of[row] = events


@kernel
def relative_signal(
    events: int,
    balance: Any,
    as_of: Any,
    readout: Any,
    transposed: Any,
    initial: float,
    least: float,
    out: Any,
) -> None:
    """max(S, least) / initial of every memory.  Cost: O(N n), plus O(n^2) for each updated later
    than the oldest.

    balance, as_of  (N, n)  (N,)   state
    readout         (n,)           S = readout . balance
    transposed                     table of powers of the transposed step of `balance`
    initial, least  ()      1      signal when stored; smallest signal above noise
    out             (N,)    1      written
    """
    if not out.shape[0]:
        return
    oldest, n, at = np.min(as_of), readout.shape[0], 0
    own, weights = readout.astype(np.float64), after(readout, events - oldest, transposed)
    for row in range(out.shape[0]):
        s = 0.0
        for i in range(n):
            s += weights[i] * balance[row, i]
        out[row] = max(s, least) / initial
    # newest first: `behind` mostly grows by 1 per row
    for row in np.flatnonzero(as_of != oldest)[::-1]:
        behind = events - as_of[row]
        if behind != at:
            own, at = (
                multiplied(transposed[0], own)
                if behind == at + 1
                else after(readout, behind, transposed),
                behind,
            )
        s = 0.0
        for i in range(n):
            s += own[i] * balance[row, i]
        out[row] = max(s, least) / initial


@dataclass(frozen=True, slots=True)
class Synapses:
    """What the parameters fix, for synapses of n levels or beakers.

    q, p                (n,)           `overwriting` and `deepening`
    lean, total         (BITS, n, n)   `powers` of the step of one event, for balance and occupancy
    transposed          (BITS, n, n)   `powers` of the transposed step of balance
    balance, occupancy  (n,)           of a memory just stored
    readout             (n,)           S = readout . balance
    initial             ()             S of a memory just stored
    """

    q: Any
    p: Any
    lean: Any
    total: Any
    transposed: Any
    balance: Any
    occupancy: Any
    readout: Any
    initial: float


def cascade_synapses(n: int, x: float) -> Synapses:
    """Synapses of Fusi et al. (2005), in equilibrium before they are potentiated.  Cost: O(BITS
    n^3).
    """
    q, p, lean, total = overwriting(n, x), deepening(n, x), np.eye(n), np.eye(n)
    for column, other in zip(lean.T, total.T, strict=True):
        strong, weak = 0.5 * column, -0.5 * column
        overwrite(strong, weak, q, p)
        column[:] = strong - weak
        strong, weak = 0.5 * other, 0.5 * other
        overwrite(strong, weak, q, p)
        other[:] = strong + weak
    strong, weak = np.full(n, 0.5 / n), np.full(n, 0.5 / n)
    potentiate(strong, weak, q, p)
    return Synapses(
        q,
        p,
        powers(lean),
        powers(total),
        powers(np.ascontiguousarray(lean.T)),
        strong - weak,
        strong + weak,
        np.ones(n),
        signal(strong, weak),
    )


def chain_synapses(n: int, c1: float, g1: float) -> Synapses:
    """Synapses of Benna & Fusi (2016); the last beaker leaks, and a potentiation raises the
    first by 1.  Cost: O(BITS n^3).
    """
    step, first = (
        np.column_stack([beakers_after(column, 1.0, c1, g1, True) for column in np.eye(n)]),
        np.eye(n)[0],
    )
    return Synapses(
        np.zeros(n),
        np.zeros(n),
        powers(step),
        powers(np.eye(n)),
        powers(np.ascontiguousarray(step.T)),
        first,
        np.zeros(n),
        first,
        1.0,
    )


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class ConsolidationCascadeParams(Params):
    synapse: Literal["cascade", "chain"]
    levels: int  # n, or beakers m
    x: float
    c1: float
    g1: float
    synapses: float  # N of a memory; S below 1 / sqrt(N) is noise


class ConsolidationCascade(Mechanism[ConsolidationCascadeParams]):
    owns = (CASCADE_BALANCE, CASCADE_OCCUPANCY, CASCADE_AS_OF, PLASTICITY_EVENTS)

    @cached_property
    def synapses(self) -> Synapses:
        """Computed at the first hook."""
        p = self.params
        return (
            chain_synapses(p.levels, p.c1, p.g1)
            if p.synapse == "chain"
            else cascade_synapses(p.levels, p.x)
        )

    def _renew(self, view: Any, rows: Any, times: Any) -> None:
        s = self.synapses
        renew(
            rows,
            read_only(times),  # as the replays are, so that one form is compiled
            view.plasticity_events,
            view.cascade_balance,
            view.cascade_occupancy,
            view.cascade_as_of,
            s.lean,
            s.total,
            s.q,
            s.p,
            self.params.synapse == "chain",
        )

    @hook(
        Phase.ENCODE,
        reads=(ROW,),
        adds=(),
        sets=(CASCADE_BALANCE, CASCADE_OCCUPANCY, CASCADE_AS_OF, PLASTICITY_EVENTS),
    )
    def store(self, view: Any, incoming: Incoming) -> None:
        view.plasticity_events += 1
        view.cascade_balance[view.row], view.cascade_occupancy[view.row] = (
            self.synapses.balance,
            self.synapses.occupancy,
        )
        view.cascade_as_of[view.row] = view.plasticity_events

    @hook(
        Phase.CONSOLIDATE,
        reads=(REPLAYS, PLASTICITY_EVENTS),
        adds=(),
        sets=(CASCADE_BALANCE, CASCADE_OCCUPANCY, CASCADE_AS_OF),
    )
    def sleep(self, view: Any, tick: Tick) -> None:
        self._renew(view, np.arange(len(view.replays)), view.replays)

    @hook(
        Phase.RETRIEVE,
        reads=(RECALLED, PLASTICITY_EVENTS),
        adds=(),
        sets=(CASCADE_BALANCE, CASCADE_OCCUPANCY, CASCADE_AS_OF),
    )
    def on_recall(self, view: Any, cue: Cue) -> None:
        rows = view.recalled[:TOGETHER].astype(np.int64)
        self._renew(view, rows, np.ones(len(rows), dtype=np.int32))

    @hook(
        Phase.MAINTAIN,
        reads=(CASCADE_BALANCE, CASCADE_AS_OF, PLASTICITY_EVENTS),
        adds=(LOG_STRENGTH,),
        sets=(),
    )
    def strengthen(self, view: Any, tick: Tick) -> None:
        s = self.synapses
        relative_signal(
            view.plasticity_events,
            view.cascade_balance,
            view.cascade_as_of,
            s.readout,
            s.transposed,
            s.initial,
            1.0 / math.sqrt(self.params.synapses),
            view.log_strength,
        )
        np.log(view.log_strength, out=view.log_strength)
