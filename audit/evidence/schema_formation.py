"""Evidence for schema_formation.  Tse et al. and van Kesteren et al. print no equation: the checks
compare the constructions with their findings, with closed forms, with scipy's Poisson distribution
and with linear algebra.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.optimize import minimize_scalar
from scipy.special import softmax
from scipy.stats import poisson

from ...engine.contract.columns import Phase
from ...engine.contract.records import Event
from ...engine.contract.vocabulary import CONGRUENCY, ENCODING_STRENGTH, REPLAYS, THRESHOLD_SHIFT
from ...engine.memory.engine import Engine
from ...engine.ports.embedder import HashingEmbedder
from ...engine.text.features import features
from ..checks import (
    adaptation,
    at_least,
    at_most,
    between,
    data,
    equation,
    limit,
    mutant,
    rival,
    signature,
)
from ..figures import Curve, Picture, dots, figure
from ..memory import encode, memory_of, neighbour, plug_in, with_numbers
from .shared.scripts import refusing
from .shared.tellings import as_happened, tell

Array = NDArray[np.float64]
TAU, KAPPA = 230.0, 14.0  # h, 1
RATS = "rats; their number was not read"
TSE, SLIMM = "Tse et al. 2007, lesions at 3 h and 48 h", "van Kesteren et al. 2012"
GRID = np.linspace(0.0, 1.0, 41)


# --- SLIMM: two routes ----------------------------------------------------------------------------
def strengths(specimen: Any, c: Any, a: float = 1.0, b: float = 1.0, p: float = 2.0) -> Array:
    return np.array([specimen.strength(float(x), a, b, p) for x in c])


@equation(
    "CM-5.1",
    source="a = b = 1, p = 2: M(0) = M(1) = 1, M(1/2) = 1/2",
    atol=1e-12,
    papers=("vankesteren2012how",),
)
def the_two_routes_add_up_to_the_closed_form(specimen: Any) -> Any:
    return strengths(specimen, [0.0, 0.5, 1.0, 0.25]), [1.0, 0.5, 1.0, 0.625]


@signature(
    "CM-5.1b",
    source=f"{SLIMM}: congruent and novel events above those in between",
    figure="u_shape",
    papers=("vankesteren2012how",),
)
def strength_is_u_shaped_in_congruency(specimen: Any) -> Any:
    m = strengths(specimen, GRID)
    return bool(
        m[0] > m[20] < m[-1] and (np.diff(m[:21]) < 0).all() and (np.diff(m[20:]) > 0).all()
    )


@equation(
    "CM-5.1c",
    source="dM/dc = 0 where (c / (1 - c))^(p - 1) = b / a; scipy's minimiser on the definition",
    atol=1e-5,
    papers=("vankesteren2012how",),
)
def the_congruency_of_least_strength_depends_on_the_routes(specimen: Any) -> Any:
    def weakest(*routes: float) -> float:
        def at(c: float) -> float:
            return float(specimen.strength(c, *routes))

        return float(
            minimize_scalar(at, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-9}).x
        )

    measured = [weakest(1.0, 1.0, 2.0), weakest(2.0, 1.0, 2.0), weakest(1.0, 3.0, 3.0)]
    ratio = np.array([1.0, 0.5, math.sqrt(3.0)])
    return measured, ratio / (1.0 + ratio)


# --- Tse: dependence on the hippocampus -----------------------------------------------------------
def held(specimen: Any, hours: float, c: float, time_scale: float | None = 1.0) -> float:
    """Dependence at some hours of the paper, of the plug-in as it ships."""
    ours = plug_in(specimen, time_scale=time_scale)
    return float(
        specimen.dependence(
            hours * ours.params.time_scale,
            c,
            ours.hours("dependence_time"),
            ours.params.acceleration,
        )
    )


# the paper's own time, and the time at which the plug-in ships
SCALES = (1.0, None)


@equation("CM-5.3a", source="dh/dt = -(1 + kappa c) h / tau, by scipy's solver", atol=1e-8)
def dependence_solves_its_equation(specimen: Any) -> Any:
    def slope(_: float, h: Array, rate: float) -> Array:
        return -rate * h

    t, pairs = [3.0, 48.0, 300.0], [(0.0, 15.0), (0.4, 15.0), (1.0, 2.0)]
    ends = [
        solve_ivp(
            slope,
            (0.0, 300.0),
            [1.0],
            t_eval=t,
            args=((1.0 + k * c) / TAU,),
            rtol=1e-11,
            atol=1e-13,
        ).y[0]
        for c, k in pairs
    ]
    return [[specimen.dependence(x, c, TAU, k) for x in t] for c, k in pairs], ends


@data(
    "CM-5.2",
    source=f"{TSE}: recall without the hippocampus, 1 - h, as a share of recall with it",
    figure="lesion",
    papers=("tse2007schemas",),
    subjects=RATS,
)
def a_lesion_harms_at_three_hours_and_not_at_two_days(specimen: Any) -> Any:
    early, late = (
        [1.0 - held(specimen, hours, 1.0, scale) for scale in SCALES] for hours in (3.0, 48.0)
    )
    return bool(max(early) <= 0.5 and min(late) >= 0.9)


@data(
    "CM-5.2b",
    source=f"{TSE}: without a schema memory is still lost at 48 h",
    figure="lesion",
    papers=("tse2007schemas",),
    subjects=RATS,
)
def without_a_schema_memory_depends_on_the_hippocampus_at_two_days(specimen: Any) -> Any:
    return at_most([1.0 - held(specimen, 48.0, 0.0, scale) for scale in SCALES], 0.5)


@signature(
    "CM-5.2c",
    source=f"{TSE}: the same at 15.6 times the biological hours, all constants scaled",
    atol=1e-12,
    papers=("tse2007schemas",),
)
def the_scale_of_time_is_a_change_of_unit(specimen: Any) -> Any:
    return [held(specimen, t, 1.0, 15.6) for t in (3.0, 48.0)], [
        held(specimen, t, 1.0) for t in (3.0, 48.0)
    ]


@data(
    "CM-5.3",
    source=f"{TSE}: h(3 h) >= 0.75 and h(48 h) <= 0.1 leave 3 / ln(4/3) = 10.43 to 48 / ln 10 = 20.85 h",
    figure="lesion",
    papers=("tse2007schemas",),
    subjects=RATS,
)
def with_a_schema_the_time_constant_is_below_a_day(specimen: Any) -> Any:
    return between(
        [-t / math.log(held(specimen, t, 1.0, scale)) for t in (3.0, 48.0) for scale in SCALES],
        3.0 / math.log(4.0 / 3.0),
        48.0 / math.log(10.0),
    )


@data(
    "CM-5.3b",
    source=f"{TSE}: at least 0.8 of the dependence is left at 48 h without a schema, so a schema is at least 10 times as fast",
    figure="lesion",
    papers=("tse2007schemas",),
    subjects=RATS,
)
def a_schema_is_more_than_ten_times_as_fast(specimen: Any) -> Any:
    slow, fast = (
        -48.0 / math.log(held(specimen, 48.0, 0.0)),
        -48.0 / math.log(held(specimen, 48.0, 1.0)),
    )
    return at_least([slow / fast - 10.0, held(specimen, 48.0, 0.0) - 0.8], 0.0)


# --- latent causes --------------------------------------------------------------------------------
def world(seed: int, buckets: int = 12, items: int = 40) -> tuple[Array, Array, float]:
    """Features of items, their base counts before a new one, and their sum."""
    seen = np.random.default_rng(seed).random((items, buckets)) < np.linspace(0.05, 0.9, buckets)
    return seen.astype(np.float64), seen.sum(axis=0), float(seen.sum())


@equation(
    "CM-5.6",
    source="-ln P of independent Poisson counts under the schema and under base rates, in scipy: no squared error",
    atol=1e-10,
)
def evidence_is_a_log_likelihood_ratio(specimen: Any) -> Any:
    seen, base, total = world(0)
    member, x, s = seen[:9], np.array([1, 4, 10]), 3.0
    w, size = member.mean(axis=0), member.sum(axis=1).mean()
    new = np.isin(np.arange(12), x).astype(float)
    rate = (base + new) / 41.0
    schema = (member.sum(axis=0) + s * rate) / (9.0 + s)
    expected = (poisson.logpmf(new, schema) - poisson.logpmf(new, rate)).sum()
    return specimen.evidence(x, w, 9.0, size, base, 40.0, total, s), expected


@limit(
    "CM-5.5",
    source="a schema of one episode: without smoothing it saves all bits of that episode, and none of an item without its features",
)
def a_schema_of_one_episode_is_that_episode(specimen: Any) -> Any:
    weights, tables = (
        np.zeros((3, 9), np.float32),
        (np.zeros(3), np.zeros(3), np.zeros(3, np.int64), np.full(3, -1)),
    )
    x, base = np.array([1, 4, 6]), np.full(9, 2)
    k = specimen.join(-1, x, 1, weights, *tables)
    same, other = (
        specimen.congruency(y, weights[k], 1.0, base, 9.0, 0.0) for y in (x, np.array([0, 8]))
    )
    return [*weights[k], same, other], [*np.isin(np.arange(9), x), 1.0, 0.0]


@limit(
    "CM-5.5b",
    source="a tag of all memories has lift 1: with or without it, evidence and congruency are the same",
    atol=1e-12,
)
def a_tag_that_all_share_is_no_evidence(specimen: Any) -> Any:
    seen, base, total = world(1)
    w, size, x = seen[:7].mean(axis=0), seen[:7].sum(axis=1).mean(), np.array([2, 7, 9])
    w2, base2, x2 = np.append(w, 1.0), np.append(base, 40), np.append(x, 12)
    tagged = (
        specimen.evidence(x2, w2, 7.0, size + 1.0, base2, 40.0, total + 40.0, 4.0),
        specimen.congruency(x2, w2, 7.0, base2, 40.0, 4.0),
    )
    return tagged, (
        specimen.evidence(x, w, 7.0, size, base, 40.0, total, 4.0),
        specimen.congruency(x, w, 7.0, base, 40.0, 4.0),
    )


@equation(
    "CM-5.7",
    source="bits of the item under base rates less those under the schema, over the former, in numpy",
    atol=1e-10,
)
def congruency_is_the_share_of_bits_saved(specimen: Any) -> Any:
    seen, base, _ = world(2)
    w, measured, expected = seen[:8].mean(axis=0), [], []
    for x in (np.array([0, 3, 8]), np.array([5]), np.array([1, 2]), np.array([11]), np.arange(12)):
        rate = (base[x] + 1.0) / 41.0
        bits, left = -np.log2(rate).sum(), -np.log2((8.0 * w[x] + 2.0 * rate) / 10.0).sum()
        measured.append(specimen.congruency(x, w, 8.0, base, 40.0, 2.0))
        expected.append(np.clip((bits - left) / bits, 0.0, 1.0))
    # no bits; 0.66 bits
    of_all, of_most = (
        specimen.congruency(np.array([0]), np.ones(1), 3.0, np.array([n]), 40.0, 2.0)
        for n in (40.0, 25.0)
    )
    return [*measured, of_all, of_most], [
        *expected,
        0.0,
        1.0 - math.log2((3.0 + 2.0 * 26.0 / 41.0) / 5.0) / math.log2(26.0 / 41.0),
    ]


@equation(
    "CM-5.8",
    source="Chinese restaurant: n_k exp(E_k) and alpha, normalised, in numpy",
    atol=1e-12,
    papers=("gershman2017computational",),
)
def schemas_compete_by_evidence_and_number(specimen: Any) -> Any:
    measured, expected = [], []
    for e, n in (
        ([2.0, -700.0, 0.3, 5.0], [3.0, 50.0, 20.0, 0.0]),
        ([5000.0, 900.0, 898.0, 899.0], [0.0, 1.0, 2.0, 1.0]),
        ([900.0], [1.0]),
    ):
        out = np.empty(len(e) + 1)
        specimen.responsibilities(np.array(e), np.array(n), 1.5, out)
        log_p = np.append(
            np.where(np.array(n) > 0.0, e, -np.inf) + np.log(np.maximum(n, 1e-300)), math.log(1.5)
        )
        measured += out.tolist()
        expected += softmax(log_p).tolist()
    return measured, expected


# --- the linear learner ---------------------------------------------------------------------------
def learnt(
    specimen: Any, rng: np.random.Generator, sweeps: int = 3000
) -> tuple[Array, Array, Array, Array]:
    """W on 6 inputs of 10 dimensions, y = M x, by interleaved sweeps to convergence."""
    x, w = rng.standard_normal((6, 10)) / math.sqrt(10.0), np.zeros((10, 4))
    y = x @ rng.standard_normal((10, 4))
    for _ in range(sweeps):
        for i in rng.permutation(6):
            specimen.delta(w, x[i], y[i], 0.2)
    return w, x, y, np.linalg.pinv(x) @ y


@equation("CM-3.4", source="least-norm solution by the pseudo-inverse", atol=1e-6)
def interleaved_learning_finds_the_least_norm_solution(specimen: Any) -> Any:
    w, _, _, exact = learnt(specimen, np.random.default_rng(3))
    return w, exact


@signature(
    "CM-3.4b",
    source="McClelland 2013, in a linear network: x in the span of the known inputs, y = M x; error below 1e-6 before any update",
    papers=("mcclelland2013incorporating",),
)
def a_consistent_item_is_predicted_without_learning(specimen: Any) -> Any:
    rng = np.random.default_rng(4)
    w, x, y, _ = learnt(specimen, rng)
    mix = rng.standard_normal(6) / 3.0
    return at_most(((mix @ y - (mix @ x) @ w) ** 2).sum(), 1e-6)


@signature(
    "CM-3.4c",
    source="y = M x + D: error |D|^2 at first; fitting it alone adds (x.x' / |x'|^2)^2 |D|^2 to each old error",
    rtol=1e-5,
)
def learning_an_inconsistent_item_alone_harms_the_old_ones(specimen: Any) -> Any:
    rng = np.random.default_rng(5)
    w, x, y, _ = learnt(specimen, rng)
    mix, d = rng.standard_normal(6) / 3.0, rng.standard_normal(4)
    new, target = mix @ x, mix @ y + d
    first = ((target - new @ w) ** 2).sum()
    for _ in range(2000):
        specimen.delta(w, new, target, 0.2)
    harm = ((y - x @ w) ** 2).sum()
    return [first, harm], [d @ d, ((x @ np.outer(new, d) / (new @ new)) ** 2).sum()]


@equation(
    "CM-5.4",
    source="an EMA at rate 0.1 keeps 0.9^22 = 0.098 of the old; the mean over n items keeps n0 / n",
    atol=1e-6,
)
def a_schema_is_the_mean_of_its_items(specimen: Any) -> Any:
    """The delta rule at rate 0.1 is the EMA; at 1/n, as in a growing schema, old and new items
    have equal weight.
    """
    ema, weights = np.array([[1.0]]), np.zeros((1, 4))
    tables = np.zeros(1), np.zeros(1), np.zeros(1, np.int64), np.full(1, -1)
    for i in range(33):
        if i < 22:
            specimen.delta(ema, np.ones(1), np.zeros(1), 0.1)
        specimen.join(
            -1 if i == 0 else 0, np.array([0]) if i < 11 else np.array([1, 2]), i, weights, *tables
        )
    return [ema[0, 0], *weights[0], tables[1][0]], [
        0.9**22,
        1.0 / 3.0,
        2.0 / 3.0,
        2.0 / 3.0,
        0.0,
        5.0 / 3.0,
    ]


# --- through the engine ---------------------------------------------------------------------------
def life(specimen: Any, texts: list[str]) -> Engine:
    params = specimen.SchemaFormationParams(
        1.0, 8, 2048, 32, 5.0, 1.0, 1.0, 1.0, 2.0, TAU, KAPPA, 0.1, 0.1, 0.02, 0.01, 0.05
    )
    memory = Engine(
        [specimen.SchemaFormation("schema_formation", params)],
        HashingEmbedder(16),
        consolidate_every=math.inf,
    )
    memory.encode_all(Event(24.0 * i, text) for i, text in enumerate(texts))
    return memory


def flavours(rounds: int) -> list[str]:
    kitchen, harbour = "oven flour sugar butter baked cake", "anchor rope sailor mast harbour boat"
    return [
        " ".join(np.random.default_rng(i).permutation((kitchen, harbour)[i % 2].split())[:4])
        for i in range(rounds)
    ]


@signature(
    "CM-5.9",
    source="two causes in turn: two schemas; a third cause: a new schema, the old ones unchanged",
    needs="engine",
)
def a_new_cause_makes_a_new_schema_and_changes_no_old_one(specimen: Any) -> Any:
    before = life(specimen, flavours(30)).store
    after = life(specimen, [*flavours(30), *["comet orbit telescope planet star"] * 22]).store
    old, new = before.array(specimen.SCHEMA), after.array(specimen.SCHEMA)
    cause = [set(old[i:30:2].tolist()) for i in range(2)]
    places = [next(iter(c)) % 8 for c in cause]
    kept = np.array_equal(
        before.array(specimen.SCHEMA_WEIGHTS)[places], after.array(specimen.SCHEMA_WEIGHTS)[places]
    )
    return bool(
        len(cause[0]) == len(cause[1]) == 1
        and cause[0] != cause[1]
        and len(set(new[30:].tolist()) - cause[0] - cause[1]) == 1
        and kept
    )


@signature(
    "CM-5.9b",
    source="Tse et al. 2007: a new item of a known kind fits better the more items its schema has",
    needs="engine",
    papers=("tse2007schemas",),
)
def congruency_grows_with_the_schema(specimen: Any) -> Any:
    c = life(specimen, flavours(30)).store.array(CONGRUENCY)
    return bool(c[0] == c[1] == 0.0 and c[2:10].mean() + 0.1 < c[20:].mean())


@adaptation(
    "CM-5.10",
    source="step by step, in numpy: w <- w + (0.1 / n) (mean x - w); no other schema changes",
    atol=1e-6,
)
def replay_trains_the_schema_of_the_memory(specimen: Any) -> Any:
    rng = np.random.default_rng(6)
    weights, count = rng.random((3, 6)), np.array([4.0, 9.0, 2.0])
    tables = count, np.full(3, 2.0), np.zeros(3, np.int64), np.array([0, 4, 2])
    item, schema, replays = (
        np.array([[0, 3, -1], [1, 2, 5], [4, -1, -1]], np.int16),
        np.array([4, 0, 4]),
        np.array([3, 0, 1], np.int32),
    )
    expected = weights.copy()
    for _ in range(4):
        expected[1] += 0.1 / 9.0 * (np.array([0.75, 0.0, 0.0, 0.75, 0.25, 0.0]) - expected[1])
    specimen.rehearse(
        replays, 0.1, 5.0, 1.0, item, np.ones(6, np.int32), 10, weights, *tables, schema
    )
    return weights, expected


@adaptation(
    "CM-5.10b",
    source="replay by replay in 20 random orders, in numpy; the difference is of second order in share / n",
    atol=1e-3,
)
def the_order_of_replays_has_almost_no_effect(specimen: Any) -> Any:
    rng = np.random.default_rng(7)
    weights, item = rng.random((1, 6)), np.array([[0, 3, -1], [1, 2, 5], [4, 0, -1]], np.int16)
    start, sizes = (
        weights[0].copy(),
        (np.array([20.0]), np.array([2.0]), np.zeros(1, np.int64), np.array([0])),
    )
    specimen.rehearse(
        np.array([2, 1, 3], np.int32),
        0.1,
        5.0,
        1.0,
        item,
        np.ones(6, np.int32),
        10,
        weights,
        *sizes,
        np.zeros(3, np.int64),
    )
    ends = np.tile(start, (20, 1))
    for end in ends:
        for i in rng.permutation([0, 0, 1, 2, 2, 2]):
            end += 0.1 / 20.0 * (np.isin(np.arange(6), item[i]) - end)
    return np.tile(weights[0], (20, 1)) - start, ends - start


@adaptation(
    "CM-5.11", source="p_k (1 - exp(-(1 + kappa c) t / tau)) by schema number, in numpy", atol=1e-7
)
def a_query_evokes_the_cortical_share_of_its_schemas_memories(specimen: Any) -> Any:
    serial, schema, created = (
        np.array([2, 5]),
        np.array([2, 5, 3, -1, 5]),
        np.array([0.0, 10.0, 0.0, 0.0, 40.0]),
    )
    c, out = np.array([0.0, 0.5, 1.0, 1.0, 1.0]), np.full(5, np.nan)
    specimen.evoke(
        np.array([0.7, 0.3, 0.0]), serial, schema, created, c, 50.0, TAU, KAPPA, 0.01, out
    )
    h = np.exp(-(1.0 + KAPPA * c) * (50.0 - created) / TAU)
    some, none = np.full(5, np.nan), np.full(2, np.nan)
    # exactly the least probability
    specimen.evoke(
        np.array([0.7, 0.3, 0.0]), serial, schema, created, c, 50.0, TAU, KAPPA, 0.3, some
    )
    specimen.evoke(
        np.array([1.0, 0.0, 0.0]),
        np.array([2, -1]),
        np.array([-1, 2]),
        created[:2],
        c[:2],
        50.0,
        TAU,
        KAPPA,
        0.0,
        none,
    )
    evoked = np.array([0.7, 0.3, 0.0, 0.0, 0.3]) * (1.0 - h)
    return np.nan_to_num([*out, *some, *none], nan=-1.0), [
        *np.where(schema == 3, -1.0, np.where(schema < 0, -1.0, evoked))
    ] * 2 + [-1.0, 1.0 - math.exp(-(1.0 + KAPPA * 0.5) * 40.0 / TAU)]


@equation(
    "CM-3.4d",
    source="outer product of error and input, in numpy; an input of 0 changes nothing",
    atol=1e-12,
    papers=("mcclelland2013incorporating",),
)
def the_delta_rule_is_the_outer_product(specimen: Any) -> Any:
    rng = np.random.default_rng(8)
    w, y, measured, expected = rng.standard_normal((5, 3)), rng.standard_normal(3), [], []
    for x in (np.array([0.0, 0.5, 0.0, 0.0, -1.0]), np.array([2.0, 0.0, 0.0, 0.3, 0.0])):
        after = w.copy()
        specimen.delta(after, x, y, 0.3)
        measured.append(after)
        expected.append(w + 0.3 * np.outer(x, y - x @ w))
    return measured, expected


@adaptation(
    "CM-5.14",
    source="brute force: the least of (items, last use, place); numbers grow by K, and a place never used gets its own",
    atol=0.0,
)
def a_new_schema_replaces_the_smallest_and_longest_unused(specimen: Any) -> Any:
    rng, measured, expected = np.random.default_rng(9), [], []
    for _ in range(60):
        count, used = rng.integers(1, 3, 4).astype(float), rng.integers(0, 3, 4)
        serial = np.where(rng.random(4) < 0.5, np.arange(4) + 4 * rng.integers(0, 3, 4), -1)
        place = min((count[i], used[i], i) for i in range(4))[2]
        number = serial[place] + 4 if serial[place] >= 0 else place
        k = specimen.join(-1, np.array([0]), 7, np.zeros((4, 2)), count, np.zeros(4), used, serial)
        measured += [k, serial[k], used[k], count[k]]
        expected += [place, number, 7, 1.0]
    return measured, expected


@adaptation(
    "CM-5.15",
    source="the most probable schema of the plain table, in random tables; unless that is new, or it was not replayed",
    atol=0.0,
)
def a_replayed_memory_without_schema_joins_the_most_probable_one(specimen: Any) -> Any:
    rng, measured, expected = np.random.default_rng(10), [], []
    for trial in range(40):
        table, shares, items = SchemaTable(ODD), rng.random((3, 6)) * (rng.random((3, 6)) < 0.6), 12
        x, base = (
            sorted(rng.choice(6, 3, replace=False).tolist()),
            rng.integers(1, 9, 6).astype(np.int32),
        )
        table.items, table.base = items, {str(f): int(base[f]) for f in range(6)}
        count, size = rng.integers(1, 5, 3).astype(float), rng.uniform(1.0, 4.0, 3)
        for k, w, n, length in zip(table.schemas, shares, count, size, strict=True):
            k.update(w={str(f): w[f] for f in range(6)}, n=n, size=length)
        best, replays = int(np.argmax(table.chances([str(f) for f in x]))), trial % 4
        # both were replaced, one is replayed
        schema, item = np.array([4, 7]), np.array([[2, 5, -1, -1], [*x, -1]], np.int16)
        specimen.rehearse(
            np.array([0, replays], np.int32),
            0.1,
            ODD["smoothing"],
            ODD["concentration"],
            item,
            base,
            items,
            shares,
            count,
            size,
            np.zeros(3, np.int64),
            np.array([9, 10, 11]),
            schema,
        )
        measured += schema.tolist()
        expected += [4, 9 + best if best < 3 and replays else 7]
    return measured, expected


# --- in a memory ----------------------------------------------------------------------------------
ODD: dict[str, Any] = {
    "schemas": 3,
    "buckets": 241,
    "features": 5,
    "smoothing": 2.0,
    "concentration": 0.7,
    "schema_route": 1.3,
    "novelty_route": 0.8,
    "exponent": 1.7,
    "dependence_time": 30.0,
    "acceleration": 4.0,
    "replay_share": 0.2,
    "strength_gain": 0.3,
    "threshold_gain": 0.05,
    "least": 0.15,
}  # no two of the words below share a bucket, and butter has bucket 0
HEARD = ((0.0, "oven flour sugar butter"), (3.0, "oven flour cake sugar"), (25.0,
    "anchor rope sailor mast"), (27.0, "oven cake butter flour"),
         (29.0, "anchor mast boat rope"), (31.0, "refused oven sugar"), (33.0,
         "Bo sailed past a harbour with anchor and rope"),
         (35.0, "oven flour sugar butter"), (49.0, "the and of"), (51.0, "comet orbit planet star"),
         (53.0, "comet star moon planet"),
         (55.0, "comet planet star orbit sun moon"), (57.0, "violin cello opera choir"), (59.0,
         "violin opera choir"),
         (75.0, "oven flour sugar cake"), (78.0, "anchor rope boat sailor"))  # fmt: skip
DREAMT = {
    24.0: (1, 2),
    48.0: (0, 2, 1, 0, 0, 0, 1),
    72.0: (1, 0, 0, 1, 0, 3, 0, 0, 0, 2, 0, 1, 1),
    96.0: (2, 0, 3, 0, 0, 1, 0, 1, 0, 1, 0, 2, 1, 0, 0),
}


def item_of(text: str) -> list[str]:
    read = features(text)
    return list(dict.fromkeys((*read.entities, *read.terms)))[: int(ODD["features"])]


class SchemaTable:
    """The construction in plain Python: each schema is the list of its items' shares of
    features, with its number of items.
    """

    def __init__(self, values: dict[str, Any]) -> None:
        self.values, self.base = values, dict[str, int]()
        self.items, self.usual = 0, (0.0, 0.0)
        self.schemas: list[dict[str, Any]] = [
            {"w": {}, "n": 0.0, "size": 0.0, "used": 0, "serial": -1} for _ in range(3)
        ]

    def chances(self, x: list[str]) -> Array:
        """P of each schema and of a new one: scipy's Poisson counts under schema and base rates,
        and the Chinese restaurant's prior.
        """
        s, mean, weight = (
            self.values["smoothing"],
            (sum(self.base.values()) + len(x)) / (self.items + 1.0),
            [],
        )
        rates = np.array([(self.base.get(f, 0) + 1.0) / (self.items + 1.0) for f in x])
        for k in self.schemas:
            known, total = (
                np.array([k["w"].get(f, 0.0) for f in x]),
                (k["n"] * k["size"] + s * mean) / (k["n"] + s),
            )
            blended = (k["n"] * known + s * rates) / (k["n"] + s)
            present = (poisson.logpmf(1, blended) - poisson.logpmf(1, rates)).sum()
            absent = -(total - blended.sum()) + (mean - rates.sum())
            weight.append(k["n"] * math.exp(present + absent))
        p = np.array([*weight, self.values["concentration"]])
        return np.asarray(p / p.sum())

    def fit(self, x: list[str], k: dict[str, Any]) -> float:
        s, rates = (
            self.values["smoothing"],
            np.array([(self.base.get(f, 0) + 1.0) / (self.items + 1.0) for f in x]),
        )
        left = (k["n"] * np.array([k["w"].get(f, 0.0) for f in x]) + s * rates) / (k["n"] + s)
        return (
            float(np.clip(1.0 - np.log2(left).sum() / np.log2(rates).sum(), 0.0, 1.0))
            if (rates < 1.0).any()
            else 0.0
        )

    def join(self, place: int, x: list[str]) -> int:
        """Add an item to a schema, or to a new one for -1; returns the schema's number."""
        if place < 0:
            place = min(range(3), key=lambda i: (self.schemas[i]["n"], self.schemas[i]["used"]))
            old = self.schemas[place]["serial"]
            self.schemas[place] = {
                "w": {},
                "n": 0.0,
                "size": 0.0,
                "used": 0,
                "serial": old + 3 if old >= 0 else place,
            }
        k = self.schemas[place]
        k["w"] = {
            f: (k["n"] * k["w"].get(f, 0.0) + (f in x)) / (k["n"] + 1.0) for f in {*k["w"], *x}
        }
        k["size"], k["used"] = (k["n"] * k["size"] + len(x)) / (k["n"] + 1.0), self.items
        k["n"] += 1.0
        return int(k["serial"])

    def train(self, place: int, told: list[list[str]]) -> None:
        """The delta rule, replay by replay, each of a share of an item, towards the mean of a
        night's replays.
        """
        k, rate = self.schemas[place], self.values["replay_share"] / self.schemas[place]["n"]
        mean = {
            f: sum(f in x for x in told) / len(told)
            for f in {*k["w"], *(f for x in told for f in x)}
        }
        for _ in told:
            k["w"] = {
                f: k["w"].get(f, 0.0) + rate * (m - k["w"].get(f, 0.0)) for f, m in mean.items()
            }
            k["size"] += rate * (sum(len(x) for x in told) / len(told) - k["size"])


def life_in_memory(
    specimen: Any,
    time_scale: float,
    heard: Sequence[tuple[float, str]] = HEARD,
    dreamt: Mapping[float, tuple[int, ...]] = DREAMT,
    **other: float,
) -> tuple[list[float], list[float]]:
    """Sixteen events, one without features, one refused, five causes for three places; four sleeps
    with replays, some of memories whose schema was replaced; queries of one, two and no causes.
    Both give modulation, membership, congruency, evoked memories and the table.

    heard, dreamt  other events, and replays of each memory in other sleeps by their end (h), the
                   last after all events
    """
    values: dict[str, Any] = {**ODD, **other}
    table, xs, schema, fits, times = (
        SchemaTable(values),
        list[list[str]](),
        list[int](),
        list[float](),
        list[float](),
    )
    measured: list[float] = []
    expected: list[float] = []
    nights = [*dreamt]

    def dream(view: Any, tick: Any) -> None:
        view.replays[: len(dreamt[tick.end])] = dreamt[tick.end]

    memory = memory_of(
        specimen,
        "dense_similarity",
        refusing("refused"),
        neighbour(Phase.CONSOLIDATE, dream, sets=(REPLAYS,), id="dreamer"),
        time_scale=time_scale,
        **values,
    )
    for time, text in heard:
        while time >= nights[0]:
            sleep(table, xs, schema, dreamt[nights.pop(0)])
        happened = time - 20.0 * (time == 27.0)  # told late, and forgotten from then on
        tell(memory, time, Event(happened, text, dated=False))
        x = item_of(text)
        p, c, shift, encoding = table.chances(x), 0.0, 0.0, 0.0
        best = int(np.argmax(p[:-1]))
        if x:
            c = table.fit(x, table.schemas[best]) if p[best] > 0.0 else 0.0
            lasting = (
                values["schema_route"] * c ** values["exponent"]
                + values["novelty_route"] * (1.0 - c) ** values["exponent"]
            )
            if table.usual[0] > 0.0:
                encoding = values["strength_gain"] * math.log(max(lasting, 1e-9) / table.usual[0])
                shift = values["threshold_gain"] * (c - table.usual[1])
        measured += [float(memory.column(ENCODING_STRENGTH)), float(memory.column(THRESHOLD_SHIFT))]
        expected += [encoding, shift]
        if "refused" not in text:
            xs.append(x)
            fits.append(c)
            times.append(time)
            schema.append(-1)
            if x:
                table.items += 1
                table.base = {f: table.base.get(f, 0) + (f in x) for f in {*table.base, *x}}
                schema[-1] = table.join(best if p[best] > p[-1] else -1, x)
                table.usual = tuple(
                    old + (new - old) / table.items
                    for old, new in zip(table.usual, (lasting, c), strict=True)
                )
    end = nights[-1]
    memory.advance(end)
    sleep(table, xs, schema, dreamt[end])
    memory.archive(2)
    for question in (
        "oven and butter",
        "a planet with rope",
        "oven butter flour anchor rope sailor mast",
        "of the",
    ):
        memory.retrieve(question, k=2)
        p = table.chances(item_of(question))
        serials = [k["serial"] for k in table.schemas]
        tau = values["dependence_time"] * time_scale
        share = [
            1.0 - math.exp(-(1.0 + values["acceleration"] * c) * (end - t) / tau)
            for c, t in zip(fits, times, strict=True)
        ]
        measured += np.nan_to_num(memory.column(specimen.SCHEMATIC), nan=-9.0).tolist()
        expected += [
            p[serials.index(k)] * s
            if item_of(question) and k in serials and p[serials.index(k)] >= values["least"]
            else -9.0
            for k, s in zip(schema, share, strict=True)
        ]
    place = {
        f: int(b)
        for x, row in zip(xs, memory.column(specimen.SCHEMA_ITEM), strict=True)
        for f, b in zip(x, row, strict=False)
    }
    weights = memory.column(specimen.SCHEMA_WEIGHTS)
    names = (
        specimen.SCHEMA,
        CONGRUENCY,
        specimen.SCHEMA_COUNT,
        specimen.SCHEMA_SIZE,
        specimen.SCHEMA_USED,
        specimen.SCHEMA_SERIAL,
        specimen.SCHEMA_USUAL,
    )
    measured += [
        *(x for name in names for x in memory.column(name)),
        *(weights[k, b] for k in range(3) for b in place.values()),
        weights.sum(),
    ]
    expected += [
        *schema,
        *fits,
        *(k[name] for name in ("n", "size", "used", "serial") for k in table.schemas),
        *table.usual,
        *(k["w"].get(f, 0.0) for k in table.schemas for f in place),
        sum(sum(k["w"].values()) for k in table.schemas),
    ]
    return measured, expected


@equation(
    "CM-5.12",
    source="ours, of Gershman et al. 2017 and McClelland 2013: a table in plain Python, event by event and replay by replay",
    atol=2e-6,
    papers=("gershman2017computational", "mcclelland2013incorporating"),
)
def a_memory_forms_schemas_event_by_event(specimen: Any) -> Any:
    return life_in_memory(specimen, 1.0)


@limit(
    "CM-5.13",
    source="as CM-5.12 without the novelty route, where what is not congruent has the least strength, on twice the time scale, with "
    "more smoothing and less concentration",
    atol=2e-6,
    papers=("gershman2017computational", "mcclelland2013incorporating"),
)
def without_the_novelty_route_only_congruent_events_are_strong(specimen: Any) -> Any:
    return life_in_memory(specimen, 2.0, novelty_route=0.0, smoothing=3.0, concentration=0.4)


@adaptation(
    "CM-5.16",
    source="as CM-5.12: a first night with a single schema, then a second schema beside an unused place; with more concentration "
    "what fits a schema starts a new one",
    atol=2e-6,
)
def a_memory_with_unused_places_forms_schemas_in_the_same_way(specimen: Any) -> Any:
    heard = (
        (0.0, "oven flour sugar butter"),
        (3.0, "oven flour sugar cake"),
        (25.0, "anchor rope sailor mast"),
        (27.0, "anchor rope sailor boat"),
    )
    for concentration in (0.5, 6.0):
        yield life_in_memory(
            specimen, 1.0, heard, {24.0: (0, 2), 48.0: (1, 0, 0, 1)}, concentration=concentration
        )


@limit(
    "CM-5.17",
    source="a feature of all items is no evidence, so n exp(E) = alpha = 1: a schema must be more probable than a new one",
    atol=0.0,
)
def an_item_that_fits_a_schema_as_well_as_a_new_one_starts_a_new_one(specimen: Any) -> Any:
    memory = memory_of(specimen, **{**ODD, "concentration": 1.0})
    encode(memory, (0.0, "oven"), (1.0, "oven"), (2.0, "oven"))
    return memory.column(specimen.SCHEMA), [0, 1, 2]


def sleep(
    table: SchemaTable, xs: list[list[str]], schema: list[int], replays: tuple[int, ...]
) -> None:
    """A memory of a schema that is still there trains it; another joins the most probable one,
    unless that is new.
    """
    told: list[list[list[str]]] = [[], [], []]
    for row, times in enumerate(replays[: len(xs)]):
        if times and xs[row]:
            place = schema[row] % 3
            if table.schemas[place]["serial"] == schema[row]:
                told[place] += [xs[row]] * times
            else:
                best = int(np.argmax(table.chances(xs[row])))
                if best < 3:
                    schema[row] = table.join(best, xs[row])
    for place in range(3):
        if told[place]:
            table.train(place, told[place])


# --- figures --------------------------------------------------------------------------------------
@figure(
    "u_shape",
    caption="Events that fit a schema and novel events are both remembered better than those in between",
    source=f"{SLIMM}, a conceptual curve",
)
def strength_over_congruency(specimen: Any) -> Picture:
    return Picture(
        "congruency with the schema",
        "memory strength, M(c)",
        (
            Curve("both routes", GRID, strengths(specimen, GRID)),
            Curve("through the schema", GRID, strengths(specimen, GRID, b=0.0)),
            Curve("by novelty", GRID, strengths(specimen, GRID, a=0.0)),
        ),
    )


@figure(
    "lesion",
    caption="A memory that fits a schema is lost with the hippocampus at 3 h and kept at 48 h; one that fits none needs it for weeks",
    source=f"{TSE}, as bounds: at most 1/4 at 3 h, at least 0.9 at 48 h",
)
def recall_without_hippocampus(specimen: Any) -> Picture:
    hours = np.linspace(0.0, 96.0, 97)
    return Picture(
        "lesion, h after learning",
        "recall without hippocampus, share",
        (
            *(
                Curve(label, hours, np.array([1.0 - held(specimen, h, c) for h in hours]))
                for label, c in (("congruency 1", 1.0), ("congruency 0.3", 0.3), ("no schema", 0.0))
            ),
            dots("bounds after Tse et al.", [3.0, 48.0], [0.25, 0.9]),
        ),
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("an event that starts a schema is congruent with none", rejected_by="CM-5.16")
def new_is_incongruent(specimen: Any) -> Any:
    def predict(self: Any, view: Any, incoming: Any) -> None:
        specimen.SchemaFormation.predict(self, view, incoming)
        if view.schema_winner < 0:
            view.schema_fit = 0.0

    return specimen.overriding("SchemaFormation", predict=predict)


@mutant("strength that rises with congruency throughout", rejected_by="CM-5.1b")
def monotone(specimen: Any) -> Any:
    return specimen.replacing("strength", lambda c, a, b, p: a * c**p)


@mutant("the routes multiply", rejected_by="CM-5.1")
def product(specimen: Any) -> Any:
    return specimen.replacing("strength", lambda c, a, b, p: a * c**p * b * (1.0 - c) ** p)


@mutant("both routes with weight 1", rejected_by="CM-5.1c")
def routes_alike(specimen: Any) -> Any:
    return specimen.replacing("strength", lambda c, a, b, p: c**p + (1.0 - c) ** p)


@mutant("2.5 times as fast", rejected_by="CM-5.2")
def two_and_a_half(specimen: Any) -> Any:
    return specimen.replacing(
        "dependence", lambda t, c, tau, kappa: math.exp(-(1.0 + 1.5 * c) * t / tau)
    )


@rival("a constant share of dependence", rejected_by="CM-5.2")
def constant_share(specimen: Any) -> Any:
    return specimen.replacing("dependence", lambda t, c, tau, kappa: 0.5)


@rival("a line over the hours, at its best", rejected_by="CM-5.3")
def linear_loss(specimen: Any) -> Any:
    return specimen.replacing("dependence", lambda t, c, tau, kappa: max(1.0 - t / 50.0, 1e-9))


@rival("one time constant for all memories, at its best", rejected_by="CM-5.3b")
def one_time_constant(specimen: Any) -> Any:
    return specimen.replacing("dependence", lambda t, c, tau, kappa: math.exp(-t / 15.0))


@mutant("a tenth of the acceleration ships", rejected_by="CM-5.2")
def slow_schemas(specimen: Any) -> Any:
    return with_numbers(specimen, acceleration=1.5)


@rival("fast also without a schema", rejected_by="CM-5.2b")
def fast_anyway(specimen: Any) -> Any:
    return specimen.replacing(
        "dependence", lambda t, c, tau, kappa: math.exp(-(1.0 + kappa) * t / tau)
    )


@mutant("three times as fast, so that a lesion at 3 h is too late", rejected_by="CM-5.3")
def too_fast(specimen: Any) -> Any:
    return specimen.replacing(
        "dependence", lambda t, c, tau, kappa: math.exp(-(1.0 + 3.0 * kappa * c) * t / tau)
    )


@mutant("a power law of the same half-life", rejected_by="CM-5.3a")
def power_law(specimen: Any) -> Any:
    return specimen.replacing(
        "dependence",
        lambda t, c, tau, kappa: 1.0 / (1.0 + (1.0 + kappa * c) * t / tau / math.log(2.0)),
    )


@mutant("the same base rate for all features", rejected_by="CM-5.5b")
def even_base_rates(specimen: Any) -> Any:
    def evidence(
        x: Any, w: Any, n: float, size: float, base: Any, items: float, total: float, s: float
    ) -> float:
        return sum(math.log((n * w[f] + 0.5 * s) / (0.5 * (n + s))) for f in x)

    return specimen.replacing("evidence", evidence)


@mutant("squared error instead of a log likelihood ratio", rejected_by="CM-5.6")
def squared_error(specimen: Any) -> Any:
    return specimen.replacing(
        "evidence",
        lambda x, w, n, size, base, items, total, s: (
            -float(((np.isin(np.arange(len(w)), x) - w) ** 2).sum())
        ),
    )


@mutant("absent features are no evidence", rejected_by="CM-5.6")
def presence_only(specimen: Any) -> Any:
    return specimen.replacing(
        "evidence",
        lambda x, w, n, size, base, items, total, s: sum(
            math.log((n * w[f] / ((base[f] + 1.0) / (items + 1.0)) + s) / (n + s)) for f in x
        ),
    )


@mutant("Jaccard on raw tags", rejected_by="CM-5.7")
def raw_jaccard(specimen: Any) -> Any:
    return specimen.replacing(
        "congruency", lambda x, w, *rest: float(w[x].sum() / (len(x) + w.sum() - w[x].sum()))
    )


@mutant("a prior without the number of items", rejected_by="CM-5.8")
def no_restaurant(specimen: Any) -> Any:
    return specimen.replacing(
        "responsibilities",
        lambda e, count, alpha, out: specimen.responsibilities(
            e, np.minimum(count, 1.0), alpha, out
        ),
    )


@mutant(
    "no new schema: an item that violates all schemas changes the nearest one", rejected_by="CM-5.9"
)
def bends(specimen: Any) -> Any:
    return specimen.replacing(
        "responsibilities",
        lambda e, count, alpha, out: specimen.responsibilities(
            e, count, 0.0 if count.any() else 1.0, out
        ),
    )


@mutant("a first item that does not set its schema", rejected_by="CM-5.5")
def empty_schema(specimen: Any) -> Any:
    return specimen.replacing(
        "assimilate",
        lambda k, target, rate, *rest: (
            None if rate == 1.0 else specimen.assimilate(k, target, rate, *rest)
        ),
    )


@mutant("an EMA of fixed rate instead of the mean", rejected_by="CM-5.4")
def moving_average(specimen: Any) -> Any:
    return specimen.replacing(
        "assimilate",
        lambda k, target, rate, *rest: specimen.assimilate(k, target, max(rate, 0.1), *rest),
    )


@mutant("Hebb's rule, without an error", rejected_by="CM-3.4")
def hebb(specimen: Any) -> Any:
    def delta(w: Any, active: Any, target: Any, rate: float) -> None:
        w += rate * np.outer(active, target) / 1000.0

    return specimen.replacing("delta", delta)


@mutant("a replay counts as a whole item", rejected_by="CM-5.10")
def whole_items(specimen: Any) -> Any:
    return specimen.replacing(
        "rehearse", lambda replays, share, *rest: specimen.rehearse(replays, 1.0, *rest)
    )


@mutant("evoked without regard to dependence on the hippocampus", rejected_by="CM-5.11")
def at_once(specimen: Any) -> Any:
    return specimen.replacing(
        "evoke",
        lambda p, serial, schema, created, c, now, *rest: specimen.evoke(
            p, serial, schema, created, c, 1e9, *rest
        ),
    )


@mutant(
    "memories evoked by the time constant of those without a schema, divided by the acceleration",
    rejected_by="CM-5.12",
)
def accelerated_time(specimen: Any) -> Any:
    def hours(self: Any, parameter: str) -> float:
        return float(
            specimen.SchemaFormation.hours(self, parameter) / (1.0 + self.params.acceleration)
        )

    return specimen.overriding("SchemaFormation", hours=hours)


@mutant("the first schema is not trained in sleep", rejected_by="CM-5.16")
def first_untrained(specimen: Any) -> Any:
    def replay(self: Any, view: Any, tick: Any) -> None:
        if view.schema.any():
            specimen.SchemaFormation.replay(self, view, tick)

    return specimen.overriding("SchemaFormation", replay=replay)


@mutant("an item joins a schema that is as probable as a new one", rejected_by="CM-5.17")
def joins_at_a_tie(specimen: Any) -> Any:
    return specimen.replacing(
        "responsibilities",
        lambda e, count, alpha, out: specimen.responsibilities(
            e, count, alpha * (1.0 - 1e-12), out
        ),
    )


@mutant("memories depend on the hippocampus from when their event happened", rejected_by="CM-5.12")
def from_the_event(specimen: Any) -> Any:
    return as_happened(specimen, "SchemaFormation", "score")
