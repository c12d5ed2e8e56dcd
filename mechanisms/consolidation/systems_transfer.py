"""Systems transfer: computes a fast hippocampal and a slow cortical trace of each memory;
reinstatement transfers the first to the second.

A memory has two traces (McClelland, McNaughton & O'Reilly 1995).  The hippocampal trace is complete
at encoding and decays at D_h; each reinstatement increases the cortical trace a little:

    dS_h/dt = -D_h S_h        dS_c/dt = C S_h - D_c S_c        recall: S_h + S_c

so recent memories depend on the hippocampus, remote ones on the cortex, and a hippocampal lesion
spares the remote.  (The paper's S_c grows by C S_h (1 - S_c); the factor is left out here.)  If no
mechanism replays, reinstatement is spontaneous, at the paper's rate.  With replay, each replay
transfers a portion C / rho, where rho is the rate of reinstatement that C stands for; what is not
replayed is not transferred.  A memory that fits a schema is transferred 1 + k c times as fast, and
its hippocampal trace decays faster by the same factor (Tse et al. 2007; McClelland 2013).  All is
advanced exactly, per memory, from its own last event.

From reinstatement the cortex learns structure: a delta rule with a small rate moves the weights of
a theme towards the memories that belong to it, interleaved, because learning in blocks would
overwrite the first block (Kumaran, Hassabis & McClelland 2016).  A memory that is mostly cortical
answers a cue by its theme, too.

Cost, for K themes of d dimensions: O(n) per maintain (0.3 ms at 100,000); per consolidation O(n),
plus O(d) for each memory reinstated, O(K d) at its first time; O(n + K d) per query.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.base.numerics import copy, kernel
from ...engine.contract.columns import Column, Facet, Phase, Scale, Scope, signal
from ...engine.contract.hooks import Cue, Mechanism, Params, Tick, hook
from ...engine.contract.vocabulary import (
    ARRIVED,
    CONGRUENCY,
    EMBEDDING,
    HIPPOCAMPAL_DEPENDENCE,
    KIND,
    LOG_STRENGTH,
    REPLAYS,
)

# expected reinstatements of a night below which a memory is left out of the cortical training
LEAST_REINSTATED = 0.01

# --- columns --------------------------------------------------------------------------------------
HIPPOCAMPAL_TRACE = Column(
    "hippocampal_trace",
    np.float64,
    Scope.MEMORY,
    "1",
    1.0,
    "S_h at the memory's last transfer; 1: as encoded",
    low=0,
)
CORTICAL_TRACE = Column(
    "cortical_trace", np.float64, Scope.MEMORY, "1", 0.0, "S_c at the memory's last transfer", low=0
)
TRANSFERRED_AGE = Column(
    "transferred_age",
    np.float64,
    Scope.MEMORY,
    "h",
    0.0,
    "age of the memory at its last transfer; 0: at encoding",
    low=0,
)
REPLAY_IS_KNOWN = Column(
    "replay_is_known",
    np.bool_,
    Scope.GLOBAL,
    "1",
    False,
    "whether any memory was replayed so far; if not, C is spontaneous",
)
GIST_THEME = Column(
    "gist_theme",
    np.int16,
    Scope.MEMORY,
    "1",
    -1,
    "cortical theme of the memory; -1: never reinstated",
)
GIST_WEIGHTS = Column(
    "gist_weights",
    np.float32,
    Scope.GLOBAL,
    "1",
    0.0,
    "cortical weights from each theme to meaning",
    ("themes", "dimensions"),
)
GIST_THEMES_IN_USE = Column(
    "gist_themes_in_use", np.int64, Scope.GLOBAL, "1", 0, "themes that have any memory", low=0
)
GIST = signal(
    "gist",
    Facet.MEANING,
    "cosine of the cue and the theme of a cortical memory, minus the mean of all such memories; "
    "NaN without a theme",
    direct=False,
    scale=Scale.SIMILARITY,
)


# --- equations: two traces ------------------------------------------------------------------------
@kernel
def grown(d_h: float, d_c: float, t: float) -> float:
    """(e^{-D_c t} - e^{-D_h t}) / (D_h - D_c), t e^{-D t} where the rates are equal: S_c at t
    from S_h = 1, S_c = 0, at C = 1.  Cost: O(1).
    """
    x = abs(d_h - d_c) * t
    return math.exp(-min(d_h, d_c) * t) * t * (-math.expm1(-x) / x if x > 0.0 else 1.0)


@kernel
def transfer(s_h: float, s_c: float, t: float, d_h: float, c: float, d_c: float) -> Any:
    """S_h, S_c after a time t: dS_h/dt = -D_h S_h, dS_c/dt = C S_h - D_c S_c.  McClelland et al.
    (1995), eqs. (3) and (5) without the factor 1 - S_c, solved exactly.  Cost: O(1).

    s_h, s_c     ()  1    traces before
    t            ()  h
    d_h, c, d_c  ()  1/h  decay of the hippocampal trace, consolidation, decay of the cortical trace

    >>> s_h, s_c = transfer(1.0, 0.0, 7.0, 0.1, 0.1, 0.0)
    >>> round(s_h, 4), round(s_c, 4)
    (0.4966, 0.5034)
    """
    return s_h * math.exp(-d_h * t), s_c * math.exp(-d_c * t) + c * s_h * grown(d_h, d_c, t)


@kernel
def reinstated(
    s_h: float,
    s_c: float,
    times: float,
    rho: float,
    k: float,
    congruency: float,
    d_h: float,
    c: float,
) -> Any:
    """S_h, S_c after `times` replays: each does at once what a time 1 / rho does, except the decay
    that occurs without replay.  Cost: O(1).

    times       ()  1    replays; frequent replays at rate rho converge to `transfer` at the rates
                         D_h (1 + k c) and C (1 + k c)
    rho         ()  1/h  rate of reinstatement that C stands for
    congruency  ()  1    c, fit with a schema; 0: S_h stays and S_c gains C / rho S_h each time
    k           ()  1

    >>> s_h, s_c = reinstated(1.0, 0.0, 3.0, 1.0, 15.0, 0.0, 0.1, 0.1)
    >>> s_h, round(s_c, 6)
    (1.0, 0.3)
    """
    return transfer(s_h, s_c, times / rho, k * congruency * d_h, (1.0 + k * congruency) * c, 0.0)


@kernel
def consolidate(
    now: float,
    before: float,
    spontaneous: bool,
    first: bool,
    d_h: float,
    c: float,
    d_c: float,
    rho: float,
    k: float,
    created: Any,
    congruency: Any,
    replays: Any,
    s_h: Any,
    s_c: Any,
    transferred: Any,
    dependence: Any,
    amount: Any,
) -> None:
    """Every memory at the end of a sleep; the stored traces of replayed memories are updated to it,
    those of all at the first replay.  Cost: O(n).

    At most rho (now - before) replays of a memory count: C is the upper limit of transfer by
    reinstatement.

    now, before               h        end of this sleep and of the last
    spontaneous, first                 whether reinstatement was spontaneous up to the last sleep,
                                       and whether replay replaces it since then
    created, congruency, replays       (n,)  h, 1, 1
    s_h, s_c, transferred              (n,)  1, 1, h   at each memory's last event; written
    dependence                         (n,)  1         S_h / (S_h + S_c); written
    amount                             (n,)  1         reinstatements since the last sleep, counted
                                                       or expected; written
    """
    for i in range(s_h.shape[0]):
        t, h, s = now - created[i] - transferred[i], s_h[i], s_c[i]
        last, faster = max(t - (now - before), 0.0), 1.0 + k * congruency[i]
        if spontaneous:
            h, s = transfer(h, s, last, faster * d_h, faster * c, d_c)
            t -= last
        if spontaneous and not first:
            amount[i] = rho * faster * h * grown(faster * d_h, 0.0, t)
            h, s = transfer(h, s, t, faster * d_h, faster * c, d_c)
        else:
            amount[i] = min(float(replays[i]), rho * (now - before))
            h, s = transfer(h, s, t, d_h, 0.0, d_c)
        if replays[i] > 0:
            h, s = reinstated(
                h, s, min(float(replays[i]), rho * (now - before)), rho, k, congruency[i], d_h, c
            )
        if first or replays[i] > 0:
            s_h[i], s_c[i], transferred[i] = h, s, now - created[i]
        dependence[i] = h / (h + s) if h + s > 0.0 else 0.0


@kernel
def exponents(
    now: float,
    d_h: float,
    k: float,
    d_c: float,
    created: Any,
    transferred: Any,
    congruency: Any,
    out: Any,
) -> None:
    """-(D_h (1 + k c) - D_c) t since each memory's last event.  Cost: O(n)."""
    for i in range(out.shape[0]):
        out[i] = min(
            -(d_h * (1.0 + k * congruency[i]) - d_c) * (now - created[i] - transferred[i]), 700.0
        )


@kernel
def recalled(
    now: float,
    d_h: float,
    c: float,
    d_c: float,
    k: float,
    created: Any,
    transferred: Any,
    congruency: Any,
    s_h: Any,
    s_c: Any,
    out: Any,
) -> None:
    """(S_h + S_c) e^{D_c t} from e^{-(D_h - D_c) t}, in place.  Cost: O(n)."""
    for i in range(out.shape[0]):
        kept, faster = out[i], 1.0 + k * congruency[i]
        gap = faster * d_h - d_c
        gain = (
            c * faster * ((1.0 - kept) / gap if gap != 0.0 else now - created[i] - transferred[i])
        )
        out[i] = max(s_c[i] + s_h[i] * (kept + gain), 1e-300)


@kernel
def bounded(now: float, d_c: float, least: float, created: Any, transferred: Any, out: Any) -> None:
    """ln(S_h + S_c) from ln((S_h + S_c) e^{D_c t}), in place, and no less than ln least.  Cost:
    O(n).
    """
    floor = math.log(least)
    for i in range(out.shape[0]):
        out[i] = max(out[i] - d_c * (now - created[i] - transferred[i]), floor)


def log_recall(
    now: float,
    d_h: float,
    c: float,
    d_c: float,
    k: float,
    least: float,
    created: Any,
    transferred: Any,
    congruency: Any,
    s_h: Any,
    s_c: Any,
    out: Any,
) -> None:
    """ln(S_h + S_c) of every memory at the time `now`, with one exponential and one logarithm each.
    Cost: O(n).

    now                       ()    h
    d_h, c, d_c, k                      as for `consolidate`; c = 0 and k = 0 where only replay
                                        transfers
    least                     ()    1   lower limit of the strength
    created, transferred      (n,)  h
    congruency, s_h, s_c      (n,)  1
    out                       (n,)  ln  written
    """
    exponents(now, d_h, k, d_c, created, transferred, congruency, out)
    np.exp(out, out=out)
    recalled(now, d_h, c, d_c, k, created, transferred, congruency, s_h, s_c, out)
    np.log(out, out=out)
    bounded(now, d_c, least, created, transferred, out)


# --- equations: what the cortex learns ------------------------------------------------------------
@kernel
def delta_rule(weights: Any, units: Any, x: Any, y: Any, eps: float) -> None:
    """dW = eps (y - W x) x^T for an input that is 0 except for some units.  McClelland et al.
    (1995), slow interleaved learning.  Cost: O(d units).

    weights  (K, d)  1  W transposed; changed
    units    (u,)    1  which inputs are active
    x        (u,)    1  their activity
    y        (d,)    1  target
    eps      ()      1  learning rate

    >>> w = np.zeros((1, 1))
    >>> for _ in range(2):
    ...     delta_rule(w, np.array([0]), np.array([1.0]), np.array([1.0]), 0.5)
    >>> float(w[0, 0])
    0.75
    """
    error = y.astype(weights.dtype)
    for u in range(units.shape[0]):
        row, active = weights[units[u]], weights.dtype.type(x[u])
        for j in range(error.shape[0]):
            error[j] -= active * row[j]
    for u in range(units.shape[0]):
        row, step = weights[units[u]], weights.dtype.type(eps * x[u])
        for j in range(error.shape[0]):
            row[j] += step * error[j]


@kernel
def nearest(vector: Any, weights: Any, lengths: Any, in_use: int, alike: float) -> int:
    """The theme most similar to a memory by cosine; a new one, while there is room, if no cosine
    reaches `alike`.  Cost: O(K d).

    vector   (d,)    1  of length 1
    weights  (K, d)  1  the first `in_use` have memories
    lengths  (K,)    1  of each row
    """
    best, top, dots = -1, -np.inf, np.dot(weights[:in_use], vector)
    for theme in range(in_use):
        if dots[theme] > top * lengths[theme] or best < 0:
            best, top = theme, dots[theme] / max(lengths[theme], 1e-30)
    return in_use if top < alike and in_use < weights.shape[0] else best


@kernel
def lesson(
    amount: Any,
    least: float,
    vectors: Any,
    eps: float,
    alike: float,
    in_use: int,
    theme: Any,
    weights: Any,
) -> int:
    """One night's interleaved training: each round trains every memory with reinstatements left;
    returns the number of themes in use.

    amount   (n,)    1  reinstatements, used up; a fraction of one trains at the rate 1 - (1 -
                        eps)^amount
    least    ()      1  memories with fewer are not trained
    vectors  (n, d)  1  embedding of each memory
    theme    (n,)    1  assigned to a memory at its first training by `nearest`; a new theme starts
                        as the memory itself
    weights  (K, d)  1  changed

    Cost: O(n + d turns + K d first turns).
    """
    unit, x, turns, lengths = np.zeros(1, np.int64), np.ones(1), 1, np.zeros(weights.shape[0])
    for k in range(in_use):
        lengths[k] = math.sqrt(np.dot(weights[k], weights[k]))
    while turns > 0:
        turns = 0
        for i in range(amount.shape[0]):
            if amount[i] < least:
                continue
            if theme[i] < 0:
                theme[i] = nearest(vectors[i], weights, lengths, in_use, alike)
                if theme[i] == in_use:
                    copy(vectors[i], weights[in_use])
                    in_use += 1
            unit[0] = theme[i]
            delta_rule(weights, unit, x, vectors[i], 1.0 - (1.0 - eps) ** min(amount[i], 1.0))
            lengths[theme[i]] = math.sqrt(np.dot(weights[theme[i]], weights[theme[i]]))
            amount[i] -= 1.0
            turns += 1
    return in_use


@kernel
def answer(
    cue: Any, weights: Any, in_use: int, theme: Any, dependence: Any, most: float, out: Any
) -> None:
    """Cosine of the cue and the theme of each memory whose dependence is at most `most`, minus
    their mean.  Ours.  Cost: O(n + K d).

    cue                (d,)        1  of length 1
    theme, dependence  (n,)        1
    out                (n,)        1  NaN before, and for all other memories; written
    """
    scores, total, count = np.zeros(in_use), 0.0, 0
    for j in range(in_use):
        row = weights[j]
        length = math.sqrt(np.dot(row, row))
        scores[j] = np.dot(row, cue) / length if length > 0.0 else 0.0
    for i in range(out.shape[0]):
        if theme[i] >= 0 and dependence[i] <= most:
            total += scores[theme[i]]
            count += 1
    for i in range(out.shape[0]):
        if theme[i] >= 0 and dependence[i] <= most:
            out[i] = scores[theme[i]] - total / count


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class SystemsTransferParams(Params):
    hippocampal_decay: float  # D_h
    consolidation: float  # C
    cortical_decay: float  # D_c
    reinstatement: float  # rho
    acceleration: float  # k
    least: float
    eps: float
    themes: int  # K
    alike: float
    dependence: float  # largest, for a memory to answer by its theme
    weight: float


class SystemsTransfer(Mechanism[SystemsTransferParams]):
    """Transfers memories from the hippocampal to the cortical trace, and trains cortical themes
    on them.
    """

    owns = (HIPPOCAMPAL_TRACE, CORTICAL_TRACE, TRANSFERRED_AGE, REPLAY_IS_KNOWN, GIST_THEME,
            GIST_WEIGHTS, GIST_THEMES_IN_USE, GIST)  # fmt: skip

    @property
    def rates(self) -> tuple[float, float, float]:
        """D_h, C, D_c per hour."""
        return (
            self.hours("hippocampal_decay"),
            self.hours("consolidation"),
            self.hours("cortical_decay"),
        )

    @hook(Phase.CONSOLIDATE, reads=(ARRIVED, CONGRUENCY, REPLAYS, EMBEDDING, KIND), adds=(),
          sets=(HIPPOCAMPAL_TRACE, CORTICAL_TRACE, TRANSFERRED_AGE, HIPPOCAMPAL_DEPENDENCE,
                REPLAY_IS_KNOWN, GIST_THEME, GIST_WEIGHTS,
                GIST_THEMES_IN_USE))  # fmt: skip
    def sleep(self, view: Any, tick: Tick) -> None:
        """The first night with replay ends spontaneous reinstatement, from the end of the
        previous night on; themes are learnt from events alone.
        """
        p, spontaneous = self.params, not view.replay_is_known
        view.replay_is_known = bool(view.replay_is_known or view.replays.any())
        amount = np.empty(len(view.replays))
        consolidate(
            tick.end,
            tick.start,
            spontaneous,
            spontaneous and view.replay_is_known,
            *self.rates,
            self.hours("reinstatement"),
            p.acceleration,
            view.arrived,
            view.congruency,
            view.replays,
            view.hippocampal_trace,
            view.cortical_trace,
            view.transferred_age,
            view.hippocampal_dependence,
            amount,
        )
        amount[view.kind != 0] = 0.0
        view.gist_themes_in_use = lesson(
            amount,
            LEAST_REINSTATED,
            view.embedding,
            p.eps,
            p.alike,
            view.gist_themes_in_use,
            view.gist_theme,
            view.gist_weights,
        )

    @hook(Phase.MAINTAIN, reads=(ARRIVED, CONGRUENCY, HIPPOCAMPAL_TRACE, CORTICAL_TRACE,
                                 TRANSFERRED_AGE, REPLAY_IS_KNOWN), adds=(LOG_STRENGTH,),
          sets=())  # fmt: skip
    def strengthen(self, view: Any, tick: Tick) -> None:
        d_h, c, d_c = self.rates
        c, k = (0.0, 0.0) if view.replay_is_known else (c, self.params.acceleration)
        log_recall(
            tick.end,
            d_h,
            c,
            d_c,
            k,
            self.params.least,
            view.arrived,
            view.transferred_age,
            view.congruency,
            view.hippocampal_trace,
            view.cortical_trace,
            view.log_strength,
        )

    @hook(
        Phase.RETRIEVE,
        reads=(GIST_THEME, GIST_WEIGHTS, GIST_THEMES_IN_USE, HIPPOCAMPAL_DEPENDENCE),
        adds=(),
        sets=(GIST,),
    )
    def score(self, view: Any, cue: Cue) -> None:
        answer(
            cue.vector,
            view.gist_weights,
            view.gist_themes_in_use,
            view.gist_theme,
            view.hippocampal_dependence,
            self.params.dependence,
            view.gist,
        )
