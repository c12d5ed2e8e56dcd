"""Schema formation: clusters memories into schemas by their features, and strengthens memories that
fit a schema or violate all schemas.

Rats that know a set of flavours and places learn a new pair in one trial and within two days no
longer need the hippocampus for it; without the schema this takes weeks (Tse et al. 2007).
Congruent and novel events are both remembered better than those in between, over two routes: the
cortical schema, whose traces are gists, and the hippocampus (SLIMM: van Kesteren et al. 2012).
None of these papers has an equation; McClelland (2013) has a network, in which a delta rule with
interleaved replay learns consistent items without loss of old ones.

Our construction.  An item is the set of features, names and terms, of a memory.  A schema is the
share w_f of its n items that have each feature, shrunk towards the base rate l_f of all items, so
that a feature of all items is no evidence:  l_kf = (n w_f + s l_f) / (n + s).
Under Poisson counts the evidence for a schema is  E_k = sum_f ln(l_kf / l_f) - (L_k - L_0), L the
                                                   expected numbers of features.  A new item
belongs to the schema of largest n_k exp(E_k), or is the first of a new one if alpha is larger
(Chinese restaurant process): schemas that the item violates do not change.  Congruency c is the
share of the item's bits that the best schema saves, and strength is U-shaped in it, M = a c^p + b
(1 - c)^p.  Dependence on the hippocampus decays with the time constant tau / (1 + kappa c); then
the schema alone gives recall.

Cost, with K
schemas, F features an item, H buckets: O(K F + H) per event; O(n + K H + replayed K F) per sleep;
O(K F + n) per query.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Column, Facet, Phase, Scale, Scope, signal
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, Tick, hook
from ...engine.contract.vocabulary import (
    ARRIVED,
    CONGRUENCY,
    ENCODING_STRENGTH,
    NOW,
    REPLAYS,
    ROW,
    THRESHOLD_SHIFT,
)
from ...engine.text.features import Features
from ...engine.text.utf8 import encoded

# --- columns --------------------------------------------------------------------------------------
SCHEMA_WEIGHTS = Column(
    "schema_weights",
    np.float32,
    Scope.GLOBAL,
    "1",
    0.0,
    "share of a schema's items with each feature",
    ("schemas", "buckets"),
    low=0,
    high=1,
)
SCHEMA_COUNT = Column(
    "schema_count",
    np.float64,
    Scope.GLOBAL,
    "items",
    0.0,
    "items of each schema; 0: unused place",
    ("schemas",),
    low=0,
)
SCHEMA_SIZE = Column(
    "schema_size",
    np.float64,
    Scope.GLOBAL,
    "features",
    0.0,
    "mean number of features of each schema's items",
    ("schemas",),
    low=0,
)
SCHEMA_USED = Column(
    "schema_used",
    np.int64,
    Scope.GLOBAL,
    "items",
    0,
    "number of the item that last joined each schema",
    ("schemas",),
    low=0,
)
SCHEMA_SERIAL = Column(
    "schema_serial",
    np.int64,
    Scope.GLOBAL,
    "1",
    -1,
    "number of each place's schema (place = number modulo K); -1: never used",
    ("schemas",),
)
SCHEMA_BASE = Column(
    "schema_base",
    np.int32,
    Scope.GLOBAL,
    "items",
    0,
    "items with each feature so far",
    ("buckets",),
    low=0,
)
SCHEMA_ITEMS = Column("schema_items", np.int64, Scope.GLOBAL, "items", 0, "items so far", low=0)
SCHEMA_USUAL = Column(
    "schema_usual", np.float64, Scope.GLOBAL, "1", 0.0, "mean of M(c) and of c so far", (2,), low=0
)
SCHEMA = Column(
    "schema",
    np.int64,
    Scope.MEMORY,
    "1",
    -1,
    "number of the schema that the memory belongs to; -1: none",
)
SCHEMA_ITEM = Column(
    "schema_item",
    np.int16,
    Scope.MEMORY,
    "1",
    -1,
    "features of the memory; -1: no more",
    ("features",),
)
SCHEMA_FEATURES = Column(
    "schema_features",
    np.int16,
    Scope.EVENT,
    "1",
    -1,
    "features of the event; -1: no more",
    ("features",),
)
SCHEMA_WINNER = Column(
    "schema_winner",
    np.int64,
    Scope.EVENT,
    "1",
    -1,
    "place of the schema that the event belongs to; -1: a new one",
)
SCHEMA_FIT = Column(
    "schema_fit",
    np.float64,
    Scope.EVENT,
    "1",
    0.0,
    "congruency of the event with the schemas before it",
    low=0,
    high=1,
)
SCHEMATIC = signal(
    "schematic",
    Facet.ASSOCIATION,
    "probability of the memory's schema given the query, times the cortical share of the memory",
    direct=False,
    scale=Scale.SIMILARITY,
)


# --- SLIMM and Tse: constructions -----------------------------------------------------------------
@kernel
def strength(c: float, a: float, b: float, p: float) -> float:
    """M(c) = a c^p + b (1 - c)^p: schema route and novelty route.  Ours, after van Kesteren et al.
    (2012).  Cost: O(1).

    c     1  congruency, 0..1
    a, b  1  weights of the two routes;  p > 1: U-shaped

    >>> [strength(c, 1.0, 1.0, 2.0) for c in (0.0, 0.5, 1.0)]
    [1.0, 0.5, 1.0]
    """
    return float(a * c**p + b * (1.0 - c) ** p)


@kernel
def dependence(t: float, c: float, tau: float, kappa: float) -> float:
    """h = exp(-(1 + kappa c) t / tau), share that depends on the hippocampus after t; recall
    without it is 1 - h.  Ours, after Tse et al. (2007).

    t, tau  h  since encoding; time constant without a schema
    c       1  congruency
    kappa   1  acceleration by a schema at congruency 1

    >>> [round(dependence(t, 1.0, 240.0, 15.0), 2) for t in (3.0, 48.0)]
    [0.82, 0.04]
    """
    return math.exp(-(1.0 + kappa * c) * t / tau)


# --- latent causes: a construction ----------------------------------------------------------------
@kernel
def evidence(
    x: Any, w: Any, n: float, size: float, base: Any, items: float, total: float, s: float
) -> float:
    """E_k = ln P(x | schema) - ln P(x | base rates) = sum_f ln(l_kf / l_f) - (L_k - L_0), Poisson
    counts.  Ours.  Cost: O(F).

    x            (F,)            features of the item, each once
    w            (H,)  1         share of the schema's items with each feature
    n, size      ()              items of the schema, and their mean number of features
    base         (H,)  items     all items before this one with each feature; this item is added:
                                 l_f = (base_f + 1) / (items + 1)
    items, total ()              number of all items before, and of all their features
    s            ()    items     weight of the base rates in a schema

    A feature of all items is no evidence, however many of the schema's items have it:

    >>> base, w = np.array([9, 4]), np.array([1.0, 0.0])
    >>> evidence(np.array([0]), w, 5.0, 1.0, base, 9.0, 9.0, 1.0)
    0.0
    """
    mean = (total + x.shape[0]) / (items + 1.0)
    log_ratio = mean - (n * size + s * mean) / (n + s)
    for f in x:
        rate = (base[f] + 1.0) / (items + 1.0)
        log_ratio += math.log((n * w[f] + s * rate) / ((n + s) * rate))
    return float(log_ratio)


@kernel
def congruency(x: Any, w: Any, n: float, base: Any, items: float, s: float) -> float:
    """c = sum_f ln(l_kf / l_f) / sum_f ln(1 / l_f), at least 0: the share of the item's bits that
    the schema saves.  Ours.  Cost: O(F).

    Arguments as for `evidence`.  1: the schema predicts all features with certainty; 0: no better
    than the base rates.

    >>> base, w = np.array([3, 3, 9]), np.array([1.0, 0.0, 1.0])
    >>> congruency(np.array([0, 2]), w, 1.0, base, 9.0, 0.0), congruency(np.array([2]), w, 1.0, base, 9.0, 0.0)
    (1.0, 0.0)
    """
    saved = bits = 0.0
    for f in x:
        rate = (base[f] + 1.0) / (items + 1.0)
        foreseen = (n * w[f] + s * rate) / (n + s)
        if foreseen <= 0.0:
            return 0.0
        saved += math.log(foreseen / rate)
        bits -= math.log(rate)
    return min(max(saved / bits, 0.0), 1.0) if bits > 0.0 else 0.0


@kernel
def responsibilities(e: Any, count: Any, alpha: float, out: Any) -> None:
    """P(schema | item): p_k proportional to n_k exp(E_k), the last, of a new schema, to alpha:
    Chinese restaurant process.  Cost: O(K).

    e, count  (K,)    nats, items; a schema without items has probability 0
    alpha     ()      items  concentration, the weight of a new schema
    out       (K + 1,)  1    written

    >>> out = np.empty(3)
    >>> responsibilities(np.array([np.log(2.0), 9.0]), np.array([3.0, 0.0]), 2.0, out); out.round(6).tolist()
    [0.75, 0.0, 0.25]
    """
    top, total, k = 0.0, 0.0, e.shape[0]
    for i in range(k):
        if count[i] > 0.0:
            top = max(top, e[i])
    for i in range(k):
        out[i] = count[i] * math.exp(e[i] - top) if count[i] > 0.0 else 0.0
        total += out[i]
    out[k] = alpha * math.exp(-top)
    total += out[k]
    for i in range(k + 1):
        out[i] /= total


@kernel
def delta(w: Any, active: Any, target: Any, rate: float) -> None:
    """W <- W + rate x (y - x W): the delta rule of a linear cortical learner.  McClelland (2013),
    in its linear form.  Cost: O(active H).

    w       (K, H)  from schemas to features, changed
    active  (K,)  1   x
    target  (H,)  1   y
    rate    ()    1   small in interleaved replay; 1/n for the n-th item of a schema, which keeps w
                      equal to the mean

    >>> w = np.zeros((2, 1)); delta(w, np.array([0.0, 1.0]), np.ones(1), 0.1); w.tolist()
    [[0.0], [0.1]]
    """
    for f in range(target.shape[0]):
        error = float(target[f])
        for k in range(active.shape[0]):
            if active[k] != 0.0:
                error -= active[k] * w[k, f]
        for k in range(active.shape[0]):
            if active[k] != 0.0:
                w[k, f] += rate * active[k] * error


# --- the table of schemas -------------------------------------------------------------------------
@kernel
def judge(
    x: Any,
    weights: Any,
    count: Any,
    size: Any,
    base: Any,
    items: float,
    s: float,
    alpha: float,
    p: Any,
) -> None:
    """P(schema | item) for every schema of the table and a new one; p (K + 1,) is written, other
    arguments as above.  Cost: O(K F + H).
    """
    e, total = np.zeros(count.shape[0]), float(base.sum())
    for k in range(count.shape[0]):
        if count[k] > 0.0:
            e[k] = evidence(x, weights[k], count[k], size[k], base, items, total, s)
    responsibilities(e, count, alpha, p)


@kernel
def assimilate(k: int, target: Any, rate: float, weights: Any, size: Any) -> None:
    """Move one schema towards an item, or the mean of several, target (H,).  Cost: O(H)."""
    delta(weights[k : k + 1], np.ones(1), target, rate)
    size[k] += rate * (target.sum() - size[k])


@kernel
def join(
    k: int, x: Any, item: int, weights: Any, count: Any, size: Any, used: Any, serial: Any
) -> int:
    """Add the item to schema k, or for k = -1 to a new schema in place of the smallest, longest
    unused; returns its place.  Cost: O(H + K).
    """
    if k < 0:
        k = 0
        for i in range(count.shape[0]):
            if count[i] < count[k] or (count[i] == count[k] and used[i] < used[k]):
                k = i
        count[k] = 0.0
        serial[k] = serial[k] + count.shape[0] if serial[k] >= 0 else k
    count[k] += 1.0
    used[k] = item
    target = np.zeros(weights.shape[1])
    for f in x:
        target[f] = 1.0
    assimilate(k, target, 1.0 / count[k], weights, size)
    return k


@kernel
def rehearse(
    replays: Any,
    share: float,
    s: float,
    alpha: float,
    item: Any,
    base: Any,
    items: int,
    weights: Any,
    count: Any,
    size: Any,
    used: Any,
    serial: Any,
    schema: Any,
) -> None:
    """Train schemas on their replayed memories; a memory whose schema was replaced joins the most
    probable one, unless that is new.

    Replays of a sleep are interleaved, in small steps of share / n, so a schema moves towards the
    mean of the replayed items in any order.

    replays  (n,)       number of replays of each memory
    share    ()    1    weight of one replay, as a share of an item
    item     (n, F)     features, -1 for no more
    schema   (n,)       changed, as are the table's arrays

    Cost: O(n + replayed F + K H), and O(K F + H) for each that joins another.
    """
    times, target, p = (
        np.zeros(count.shape[0]),
        np.zeros(weights.shape),
        np.empty(count.shape[0] + 1),
    )
    for row in range(replays.shape[0]):
        if replays[row] > 0 and item[row, 0] >= 0:
            k = schema[row] % count.shape[0]
            if serial[k] == schema[row]:
                times[k] += replays[row]
                for f in item[row]:
                    if f >= 0:
                        target[k, f] += replays[row]
                continue
            x = item[row][item[row] >= 0]
            judge(x, weights, count, size, base, float(items), s, alpha, p)
            k = int(np.argmax(p))
            if k < count.shape[0]:
                schema[row] = serial[join(k, x, items, weights, count, size, used, serial)]
    for k in range(count.shape[0]):
        if times[k] > 0.0:
            assimilate(
                k, target[k] / times[k], 1.0 - (1.0 - share / count[k]) ** times[k], weights, size
            )


@kernel
def evoke(
    p: Any,
    serial: Any,
    schema: Any,
    created: Any,
    c: Any,
    now: float,
    tau: float,
    kappa: float,
    least: float,
    out: Any,
) -> None:
    """p_k (1 - h) for each memory of a schema k with p_k of at least `least`; others are not
    written.  Cost: O(n), an exponential per memory written.

    p       (K + 1,)  1  P(schema | query)
    schema  (n,)         number of each memory's schema, created (n,) h, c (n,) congruency
    out     (n,)      1  written
    """
    for j in range(out.shape[0]):
        if schema[j] >= 0:
            k = schema[j] % serial.shape[0]
            if serial[k] == schema[j] and p[k] >= least:
                out[j] = p[k] * (1.0 - dependence(now - created[j], c[j], tau, kappa))


def features_of(features: Features, buckets: int, most: int) -> Any:
    """The item of a text: hash buckets of its names and terms, each once, in order, int16."""
    cells = dict.fromkeys(
        crc32(encoded(name)) % buckets for name in (*features.entities, *features.terms)
    )
    return np.array(list(cells)[:most], dtype=np.int16)


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class SchemaFormationParams(Params):
    schemas: int  # K
    buckets: int  # H
    features: int  # F
    smoothing: float  # s
    concentration: float  # alpha
    schema_route: float  # a
    novelty_route: float  # b
    exponent: float  # p
    dependence_time: float  # tau
    acceleration: float  # kappa
    replay_share: float
    strength_gain: float
    threshold_gain: float
    least: float
    weight: float


class SchemaFormation(Mechanism[SchemaFormationParams]):
    owns = (SCHEMA_WEIGHTS, SCHEMA_COUNT, SCHEMA_SIZE, SCHEMA_USED, SCHEMA_SERIAL, SCHEMA_BASE,
            SCHEMA_ITEMS, SCHEMA_USUAL, SCHEMA, SCHEMA_ITEM,
            SCHEMA_FEATURES, SCHEMA_WINNER, SCHEMA_FIT, SCHEMATIC)  # fmt: skip

    @hook(Phase.ENCODE, reads=(SCHEMA_WEIGHTS.before, SCHEMA_COUNT.before, SCHEMA_SIZE.before,
                               SCHEMA_BASE.before, SCHEMA_ITEMS.before,
                               SCHEMA_USUAL.before), adds=(ENCODING_STRENGTH, THRESHOLD_SHIFT),
          sets=(SCHEMA_FEATURES, SCHEMA_WINNER, SCHEMA_FIT))  # fmt: skip
    def predict(self, view: Any, incoming: Incoming) -> None:
        """Congruency of the event with the schemas before it; sets threshold shift and encoding
        strength.
        """
        p, x = (
            self.params,
            features_of(incoming.features, self.params.buckets, self.params.features),
        )
        view.schema_features[: x.size] = x
        if not x.size:
            return
        chances = self._chances(view, x)
        best = int(np.argmax(chances[:-1]))
        view.schema_winner = best if chances[best] > chances[-1] else -1
        if chances[best] > 0.0:
            view.schema_fit = congruency(
                x,
                view.schema_weights[best],
                view.schema_count[best],
                view.schema_base,
                float(view.schema_items),
                p.smoothing,
            )
        usual_strength, usual_fit = view.schema_usual
        if usual_strength > 0.0:
            lasting = strength(view.schema_fit, p.schema_route, p.novelty_route, p.exponent)
            view.encoding_strength = p.strength_gain * math.log(max(lasting, 1e-9) / usual_strength)
            view.threshold_shift = p.threshold_gain * (view.schema_fit - usual_fit)

    @hook(Phase.ENCODE, reads=(ROW, SCHEMA_FEATURES, SCHEMA_WINNER, SCHEMA_FIT), adds=(),
          sets=(SCHEMA_WEIGHTS, SCHEMA_COUNT, SCHEMA_SIZE, SCHEMA_USED, SCHEMA_SERIAL, SCHEMA_BASE,
                SCHEMA_ITEMS, SCHEMA_USUAL, SCHEMA, SCHEMA_ITEM,
                CONGRUENCY))  # fmt: skip
    def accommodate(self, view: Any, incoming: Incoming) -> None:
        """A stored event joins its schema or starts a new one."""
        p, row, c = self.params, view.row, view.schema_fit
        view.congruency[row], view.schema_item[row] = c, view.schema_features
        x = view.schema_features[view.schema_features >= 0]
        if x.size:
            view.schema_items += 1
            view.schema_base[x] += 1
            k = join(
                view.schema_winner,
                x,
                view.schema_items,
                view.schema_weights,
                view.schema_count,
                view.schema_size,
                view.schema_used,
                view.schema_serial,
            )
            view.schema[row] = view.schema_serial[k]
            news = (
                np.array([strength(c, p.schema_route, p.novelty_route, p.exponent), c])
                - view.schema_usual
            )
            view.schema_usual += news / view.schema_items

    @hook(
        Phase.CONSOLIDATE,
        reads=(REPLAYS, SCHEMA_ITEM, SCHEMA_BASE, SCHEMA_ITEMS),
        adds=(),
        sets=(SCHEMA_WEIGHTS, SCHEMA_COUNT, SCHEMA_SIZE, SCHEMA_USED, SCHEMA_SERIAL, SCHEMA),
    )
    def replay(self, view: Any, tick: Tick) -> None:
        p = self.params
        if view.replays.any():
            rehearse(
                view.replays,
                p.replay_share,
                p.smoothing,
                p.concentration,
                view.schema_item,
                view.schema_base,
                view.schema_items,
                view.schema_weights,
                view.schema_count,
                view.schema_size,
                view.schema_used,
                view.schema_serial,
                view.schema,
            )

    @hook(Phase.RETRIEVE, reads=(SCHEMA_WEIGHTS, SCHEMA_COUNT, SCHEMA_SIZE, SCHEMA_BASE,
                                 SCHEMA_ITEMS, SCHEMA_SERIAL, SCHEMA, ARRIVED, CONGRUENCY,
                                 NOW), adds=(), sets=(SCHEMATIC,))  # fmt: skip
    def score(self, view: Any, cue: Cue) -> None:
        """The cortical route: a query that fits a schema retrieves its memories, as far as they
        no longer depend on the hippocampus.
        """
        p, x = self.params, features_of(cue.features, self.params.buckets, self.params.features)
        if x.size:
            evoke(
                self._chances(view, x),
                view.schema_serial,
                view.schema,
                view.arrived,
                view.congruency,
                view.now,
                self.hours("dependence_time"),
                p.acceleration,
                p.least,
                view.schematic,
            )

    def _chances(self, view: Any, x: Any) -> Any:
        """P(schema | item) of every schema and of a new one, (K + 1,)."""
        p, chances = self.params, np.empty(self.params.schemas + 1)
        judge(
            x,
            view.schema_weights,
            view.schema_count,
            view.schema_size,
            view.schema_base,
            float(view.schema_items),
            p.smoothing,
            p.concentration,
            chances,
        )
        return chances
