"""Evidence for titans_memory.  References are numpy's linear algebra, finite differences and
closed forms; none calls a kernel it judges.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engine.contract.columns import Phase
from ...engine.contract.records import Event, Query
from ...engine.contract.vocabulary import LEARNING_RATE, LOG_STRENGTH, PLASTICITY, VETO
from ...engine.memory.engine import Engine
from ...engine.ports.embedder import HashingEmbedder
from ..checks import adaptation, at_least, at_most, equation, limit, mutant, signature
from ..figures import Curve, Picture, dots, figure
from ..memory import Scripted, encode, memory_of, neighbour

Array = NDArray[np.float64]
TITANS = "Behrouz, Zhong & Mirrokni 2025"


# --- references -----------------------------------------------------------------------------------
def blank(d: int) -> tuple[Array, Array]:
    return np.zeros((d, d)), np.zeros((d, d))


def pair(d: int, seed: int) -> tuple[Array, Array]:
    """A key of length 1 and any value."""
    k, v = np.random.default_rng(seed).standard_normal((2, d))
    return k / np.linalg.norm(k), v


def error(m: Array, k: Array, v: Array) -> float:
    """|M k - v| / |v|."""
    return float(np.linalg.norm(m @ k - v) / np.linalg.norm(v))


def repeated(
    specimen: Any, eta: float, theta: float, alpha: float, steps: tuple[int, ...]
) -> list[float]:
    """|M k - v| / |v| after the given numbers of repetitions of one pair, M_0 = S_0 = 0."""
    (m, s), (k, v), errors = blank(6), pair(6, 0), []
    for t in range(1, steps[-1] + 1):
        specimen.memorise(m, s, k, v, eta, theta, alpha)
        if t in steps:
            errors.append(error(m, k, v))
    return errors


def orthonormal(d: int, seed: int) -> Array:
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((d, d)))[0]


# --- the equations --------------------------------------------------------------------------------
@equation(
    "TI-1",
    source=f"{TITANS}, eqs 8 and 12: |1 - 2 theta| of the error remains",
    atol=1e-12,
    papers=("behrouz2024titans",),
)
def one_step_removes_the_share_two_theta_of_the_error(specimen: Any) -> Any:
    return [repeated(specimen, 0.0, theta, 0.0, (1,))[0] for theta in (0.5, 0.25, 0.1)], [
        0.0,
        0.5,
        0.8,
    ]


@equation(
    "TI-1b",
    source=f"{TITANS}, eq. 12: the gradient of |M k - v|^2 by central differences",
    rtol=1e-7,
    atol=1e-8,
    papers=("behrouz2024titans",),
)
def the_gradient_is_the_derivative_of_the_loss(specimen: Any) -> Any:
    rng, h = np.random.default_rng(1), 1e-5
    m, k, v = rng.standard_normal((4, 5)), rng.standard_normal(5), rng.standard_normal(4)
    slope, expected = np.empty((4, 5)), np.empty((4, 5))
    for at in np.ndindex(4, 5):
        step = np.zeros((4, 5))
        step[at] = h
        expected[at] = (np.sum(((m + step) @ k - v) ** 2) - np.sum(((m - step) @ k - v) ** 2)) / (
            2 * h
        )
    length = specimen.gradient(m, k, v, slope)
    return [*slope.ravel(), length], [*expected.ravel(), np.linalg.norm(expected)]


@equation(
    "TI-1c",
    source=f"{TITANS}, eqs 11 and 15; numpy's matrix product",
    papers=("behrouz2024titans",),
)
def keys_values_and_answers_are_matrix_products(specimen: Any) -> Any:
    rng = np.random.default_rng(2)
    x, w, m = rng.standard_normal(7), rng.standard_normal((7, 5)), rng.standard_normal((4, 5))
    k, y = np.empty(5), np.empty(4)
    specimen.project(x, w, k)
    specimen.recall(m, k, y)
    return [*k, *y], [*(x @ w), *(m @ (x @ w))]


@equation(
    "TI-2",
    source=f"{TITANS}, eqs 9 and 10, sign; loss over first loss at eta = 0.9, theta = 0.01",
    atol=1e-6,
    figure="titans_sign",
    papers=("behrouz2024titans",),
)
def repeating_a_pair_descends_the_loss(specimen: Any) -> Any:
    return [e**2 for e in repeated(specimen, 0.9, 0.01, 0.0, (1, 2, 10, 50))], [
        0.9604,
        0.888118,
        0.094323,
        0.005467,
    ]


@equation(
    "TI-2b",
    source=f"{TITANS}, eqs 13 and 14 written out in numpy, over 200 random events with gates of their own",
    rtol=1e-9,
    atol=1e-11,
    papers=("behrouz2024titans",),
)
def a_random_history_follows_the_recursion_of_the_paper(specimen: Any) -> Any:
    rng = np.random.default_rng(3)
    m, s = blank(5)
    expected_m, expected_s = blank(5)
    for _ in range(200):
        k, v = rng.standard_normal((2, 5))
        k /= np.linalg.norm(k)
        eta, theta, alpha = rng.uniform(0.0, 0.9), rng.uniform(0.0, 0.3), rng.uniform(0.0, 0.2)
        specimen.memorise(m, s, k, v, eta, theta, alpha)
        expected_s = eta * expected_s - theta * 2.0 * np.outer(expected_m @ k - v, k)
        expected_m = (1.0 - alpha) * expected_m + expected_s
    return np.concatenate([m.ravel(), s.ravel()]), np.concatenate(
        [expected_m.ravel(), expected_s.ravel()]
    )


@equation(
    "TI-2c",
    source=f"{TITANS}, eqs 13 and 14 in numpy, with values shorter and longer than keys",
    papers=("behrouz2024titans",),
)
def keys_and_values_may_differ_in_length(specimen: Any) -> Any:
    rng, measured, expected = np.random.default_rng(15), list[float](), list[float]()
    for shape in ((3, 5), (5, 3)):
        m, s, k, v = (rng.standard_normal(size) for size in (shape, shape, shape[1], shape[0]))
        after = 0.6 * s - 0.2 * 2.0 * np.outer(m @ k - v, k)
        expected += [*(0.9 * m + after).ravel(), *after.ravel()]
        specimen.memorise(m, s, k, v, 0.6, 0.2, 0.1)
        measured += [*m.ravel(), *s.ravel()]
    return measured, expected


@adaptation(
    "TI-8c", source="ours: a scalar product of unit vectors, between 0 and 1 in spite of rounding"
)
def relevance_stays_between_zero_and_one(specimen: Any) -> Any:
    x = np.array([[1.0 + 1e-7, 0.0], [0.6, 0.8], [-1.0, 0.0]])
    return [specimen.relevance(a, b) for a, b in ((x[0], x[0]), (x[0], x[1]), (x[0], x[2]))], [
        1.0,
        0.6 * (1.0 + 1e-7),
        0.0,
    ]


@equation(
    "TI-3",
    source=f"{TITANS}, eq. 10: S_t = eta^t S_1, sum S_1 / (1 - eta)",
    rtol=1e-9,
    papers=("behrouz2024titans",),
)
def past_surprise_decays_by_eta_per_step(specimen: Any) -> Any:
    (m, s), (k, v) = blank(4), pair(4, 4)
    specimen.memorise(m, s, k, v, 0.9, 0.01, 0.0)
    first, sizes = s.copy(), []
    for t in range(1, 301):
        specimen.memorise(m, s, np.zeros(4), v, 0.9, 0.01, 0.0)
        if t in (1, 5, 20):
            sizes.append(np.linalg.norm(s) / np.linalg.norm(first))
    return [*sizes, *(m / first).ravel()], [0.9, 0.9**5, 0.9**20, *np.full(16, 10.0)]


@equation(
    "TI-4",
    source=f"{TITANS}, eq. 13; fixed point alpha / (alpha + 2 theta / (1 - eta))",
    atol=1e-6,
    papers=("behrouz2024titans",),
)
def forgetting_leaves_a_residual_error(specimen: Any) -> Any:
    return [repeated(specimen, 0.9, 0.01, alpha, (3000,))[0] for alpha in (0.01, 0.1, 0.0)], [
        0.0476190,
        0.3333333,
        0.0,
    ]


@limit(
    "TI-5a",
    source=f"{TITANS}, eq. 13 at alpha = 1: M_t = S_t",
    atol=1e-12,
    papers=("behrouz2024titans",),
)
def complete_forgetting_leaves_the_accumulated_surprise(specimen: Any) -> Any:
    (m, s), rng = blank(4), np.random.default_rng(5)
    for _ in range(7):
        specimen.memorise(m, s, *rng.standard_normal((2, 4)), 0.5, 0.05, 1.0)
    return m, s.copy()


@limit(
    "TI-5b",
    source="the delta rule, M (I - 2 theta k k^T) + 2 theta v k^T, in numpy",
    atol=1e-12,
    papers=("behrouz2024titans",),
)
def without_momentum_and_forgetting_it_is_the_delta_rule(specimen: Any) -> Any:
    (m, s), rng, theta = blank(4), np.random.default_rng(6), 0.2
    expected = np.zeros((4, 4))
    for _ in range(9):
        k, v = rng.standard_normal((2, 4))
        k /= np.linalg.norm(k)
        specimen.memorise(m, s, k, v, 0.0, theta, 0.0)
        expected = expected @ (np.eye(4) - 2 * theta * np.outer(k, k)) + 2 * theta * np.outer(v, k)
    return m, expected


@limit(
    "TI-6",
    source="stability of momentum descent: 0 < theta < (1 + eta) / |k|^2 = 1.9",
    papers=("behrouz2024titans",),
)
def learning_is_stable_up_to_its_bound(specimen: Any) -> Any:
    below, above = (repeated(specimen, 0.9, theta, 0.0, (2000,))[0] for theta in (1.85, 1.95))
    return bool(below < 1e-6 and above > 1e6)


@equation(
    "TI-7a",
    source=f"{TITANS}, eq. 15: recall does not learn",
    atol=0.0,
    rtol=0.0,
    papers=("behrouz2024titans",),
)
def a_hundred_recalls_do_not_change_memory(specimen: Any) -> Any:
    rng, y = np.random.default_rng(7), np.empty(6)
    m = rng.standard_normal((6, 6))
    before = m.copy()
    for q in rng.standard_normal((100, 6)):
        specimen.recall(m, q, y)
    return m, before


@equation(
    "TI-7b",
    source="d orthonormal keys, stored once each at theta = 1/2",
    atol=1e-12,
    papers=("behrouz2024titans",),
)
def as_many_pairs_as_dimensions_are_recalled_exactly(specimen: Any) -> Any:
    (m, s), keys = blank(8), orthonormal(8, 8)
    values, measured, y = np.random.default_rng(9).standard_normal((8, 8)), [], np.empty(8)
    for k, v in zip(keys, values, strict=True):
        specimen.memorise(m, s, k, v, 0.0, 0.5, 0.0)
    for k in keys:
        specimen.recall(m, k, y)
        measured.append(y.copy())
    return np.array(measured), values


@signature(
    "TI-7c",
    source="capacity d: one more pair disturbs the stored ones",
    papers=("behrouz2024titans",),
)
def one_pair_more_than_dimensions_disturbs_the_others(specimen: Any) -> Any:
    (m, s), keys, values = (
        blank(8),
        orthonormal(8, 8),
        np.random.default_rng(9).standard_normal((8, 8)),
    )
    for k, v in (*zip(keys, values, strict=True), pair(8, 10)):
        specimen.memorise(m, s, k, v, 0.0, 0.5, 0.0)
    return at_least(max(error(m, k, v) for k, v in zip(keys, values, strict=True)), 0.01)


def gates_of_events(specimen: Any, n: int = 101) -> Array:
    """(n - 1, 3) gates of events with random embeddings, an hour apart."""
    x = np.random.default_rng(11).standard_normal((n, 8))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    return np.array(
        [
            specimen.gates(specimen.relevance(a, b), 1.0, 0.9, 0.25, 0.01, 720.0)
            for a, b in pairwise(x)
        ]
    )


@signature(
    "TI-8",
    source=f"{TITANS}: eta_t, theta_t and alpha_t are functions of x_t; variance over 100 random events",
    papers=("behrouz2024titans",),
)
def all_three_gates_differ_from_event_to_event(specimen: Any) -> Any:
    return at_least(gates_of_events(specimen).var(axis=0), 1e-8)


@limit(
    "TI-8b",
    source=f"{TITANS}: alpha_t in [0, 1]; the stability bound theta < 1 + eta for keys of length 1",
    papers=("behrouz2024titans",),
)
def gates_stay_in_their_ranges(specimen: Any) -> Any:
    eta, theta, alpha = gates_of_events(specimen).T
    return bool(
        min(eta.min(), alpha.min()) >= 0.0
        and eta.max() <= 0.9
        and alpha.max() <= 1.0
        and (theta > 0).all()
        and (theta < 1.0 + eta).all()
    )


# --- the adaptation -------------------------------------------------------------------------------
@adaptation("TI-9", source="ours: no event between, so 2^(-a/H) 2^(-b/H) = 2^(-(a + b)/H)")
def decay_over_time_does_not_depend_on_its_division(specimen: Any) -> Any:
    kept = [
        1.0 - specimen.gates(1.0, dt, 0.9, 0.25, 0.01, 720.0)[2] for dt in (100.0, 260.0, 360.0)
    ]
    return [kept[0] * kept[1], kept[2]], [2.0**-0.5, 2.0**-0.5]


ROUND = (
    "breakfast was porridge again",
    "then the ferry left",
    "nobody fed the parrot",
    "grandfather tuned the cello",
    "the lighthouse went dark",
)


def life(specimen: Any, rounds: int, pairing: str = "successor") -> Engine:
    """An engine that encoded the same five events `rounds` times, each time in a new session."""
    units = {"half_life": "d"}
    params = specimen.TitansMemoryParams(1.0, 64, pairing, 0.9, 0.25, 0.01, 30.0, 0.1, 0.1)
    memory = Engine(
        [specimen.TitansMemory("titans_memory", params, units, 1)],
        HashingEmbedder(64),
        tick_hours=1.0,
    )
    memory.encode_all(
        [
            Event(24.0 * r + i / 60.0, text, session=f"s{r}")
            for r in range(rounds)
            for i, text in enumerate(ROUND)
        ]
    )
    return memory


@adaptation(
    "TI-10a",
    source="ours: for one event of a sequence as the query, the next is recalled",
    needs="engine",
)
def the_following_event_is_recalled(specimen: Any) -> Any:
    memory, expected = life(specimen, 12), []
    for text in ROUND[:-1]:
        memory.retrieve(text)
        expected.append(int(np.argmax(memory.store.array(specimen.TITANS_RECALL)[-len(ROUND) :])))
    return expected, [1, 2, 3, 4]


@adaptation(
    "TI-10b",
    source="ours: surprise falls with each repetition of a sequence; that of a first event stays at 1",
    needs="engine",
    figure="surprise_over_rounds",
)
def surprise_falls_with_repetitions_of_the_sequence(specimen: Any) -> Any:
    surprise = life(specimen, 12).store.array(specimen.TITANS_UNFORESEEN).reshape(12, len(ROUND))
    return bool(
        (surprise[:, 0] == 1.0).all()
        and (surprise[-1, 1:] < 0.5).all()
        and (surprise[-1, 1:] < surprise[1, 1:]).all()
    )


@adaptation("TI-10c", source="ours: key and value of one event, as in eq. 11", needs="engine")
def with_its_own_key_an_event_recalls_itself(specimen: Any) -> Any:
    memory, measured = life(specimen, 12, "same"), []
    for text in ROUND:
        memory.retrieve(text)
        measured.append(int(np.argmax(memory.store.array(specimen.TITANS_RECALL)[-len(ROUND) :])))
    return measured, [0, 1, 2, 3, 4]


@adaptation("TI-11", source="numpy's matrix product, in float32", rtol=1e-5, atol=1e-5)
def similarity_is_the_scalar_product_with_each_value(specimen: Any) -> Any:
    rng, out = np.random.default_rng(12), np.empty(30, np.float32)
    values, y = (
        rng.standard_normal((30, 37)).astype(np.float32),
        rng.standard_normal(37).astype(np.float32),
    )
    specimen.products(values, y, out)
    return out, values.astype(np.float64) @ y.astype(np.float64)


@adaptation(
    "TI-12", source="Johnson & Lindenstrauss: random projections keep angles; 384 dimensions in 64"
)
def random_projections_preserve_cosines(specimen: Any) -> Any:
    rng = np.random.default_rng(13)
    x = rng.standard_normal((60, 384))
    x[1::2] = x[::2] + rng.uniform(0.1, 3.0, (30, 1)) * x[1::2]
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    w, keys = rng.standard_normal((384, 64)) / 8.0, np.empty((60, 64))
    for vector, k in zip(x, keys, strict=True):
        specimen.project(vector, w, k)
        specimen.unit(k)
    far = np.einsum("id,id->i", keys[::2], keys[1::2]) - np.einsum("id,id->i", x[::2], x[1::2])
    return at_most(np.abs(far).mean(), 0.15)  # about 1 / sqrt(64)


# Hours, session, whether the event is stored, and the factors LEARNING_RATE and PLASTICITY.
HISTORY = ((0.0, "a", True, 1.0, 1.0), (5.0, "a", True, 1.5, 0.8), (9.0, "a", False, 1.0, 1.0),
           (30.0, "a", True, 1.0, 1.0),
           (31.0, "b", True, 0.5, 1.2), (80.0, "b", True, 4.0, 2.0), (81.0, "a", True, 1.0, 1.0),
           (81.0, "a", True, 0.7, 1.0),
           (100.0, "a", True, 1.0, 1.0), (100.0, "c", True, 1.0, 1.0), (101.0, "c", True, 4.0, 2.0),
           (102.0, "c", True, 1.0, 1.0),
           (102.5, "c", True, 1.0, 1.0))  # fmt: skip
ODD: dict[str, Any] = {
    "keys": 19,
    "eta": 0.8,
    "theta": 0.3,
    "alpha": 0.15,
    "half_life": 2.5,
    "surprise_gain": 0.7,
}


def history_in_memory(specimen: Any, pairing: str, time_scale: float) -> tuple[Any, Any]:
    """A memory with events and queries, and eqs 11 to 15 in numpy with the projections that the
    memory drew.
    """
    rng, halves, present = np.random.default_rng(14), 60.0 * time_scale, [0]
    x = rng.standard_normal((len(HISTORY) + 2, 12))
    x[3] = 2.0 * x[1] + 0.5 * x[3]
    x[7] = x[6] = 3.0 * x[5] + x[6]  # said twice
    x[8] = -x[7] + 0.2 * x[8]
    # after the same event the opposite one: more than nothing is wrong
    x[11], x[12] = x[9], -x[10]
    texts = [*(f"event {i}" for i in range(len(HISTORY))), "query", "other"]
    unit = (x / np.linalg.norm(x, axis=1, keepdims=True)).astype(np.float32).astype(np.float64)

    def modulate(view: Any, incoming: Any) -> None:
        _, _, stored, view.learning_rate, view.plasticity = HISTORY[present[0]]
        view.veto = int(not stored)

    memory = memory_of(
        specimen,
        neighbour(Phase.ENCODE, modulate, adds=(VETO,), sets=(LEARNING_RATE, PLASTICITY)),
        pairing=pairing,
        time_scale=time_scale,
        embedder=Scripted(dict(zip(texts, x, strict=True))),
        **ODD,
    )
    memory.retrieve("query")
    m, s, rows, unforeseen = *blank(19), list[int](), list[float]()
    measured: list[Any] = []
    expected: list[Any] = []

    def along(v: Array) -> Array:
        return v / (np.linalg.norm(v) or 1.0)

    for i, (at, session, stored, rate, plasticity) in enumerate(HISTORY):
        present[0] = i
        encode(memory, Event(at, texts[i], session=session, dated=False))
        w_key, w_value = memory.column(specimen.TITANS_PROJECTIONS).astype(np.float64)
        before = rows[-1] if rows and HISTORY[rows[-1]][1] == session else None
        source = i if pairing == "same" else before
        k, v = (np.zeros(19) if source is None else along(unit[source] @ w_key)), unit[i] @ w_value
        r = 0.0 if before is None else max(0.0, float(unit[before] @ unit[i]))
        error = 2.0 * np.outer(m @ k - v, k)
        surprise = (
            1.0 if source is None else float(np.linalg.norm(error) / (2.0 * np.linalg.norm(v)))
        )
        columns = (
            specimen.TITANS_KEY,
            specimen.TITANS_TARGET,
            specimen.TITANS_RELEVANCE,
            specimen.TITANS_SURPRISE,
        )
        measured += [memory.column(c).flatten() for c in columns]
        expected += [k, v, [r], [surprise]]
        if stored:
            dt = at - HISTORY[rows[-1]][0] if rows else 0.0
            theta = min(1.0, 0.3 * rate * plasticity)
            s = 0.8 * r * s - theta * np.sqrt(1.0 - min(r, 1.0) ** 2) * error
            m = (1.0 - 0.15 * (1.0 - r)) * 0.5 ** (dt / halves) * m + s
            rows.append(i)
            unforeseen.append(surprise)
        measured += [
            memory.column(c).flatten() for c in (specimen.TITANS_MATRIX, specimen.TITANS_MOMENTUM)
        ]
        expected += [m.ravel(), s.ravel()]
        for query in (-2, -1):
            memory.retrieve(texts[query])
            y = along(m @ along(unit[query] @ w_key))
            measured.append(np.nan_to_num(memory.column(specimen.TITANS_RECALL), nan=-9.0))
            expected.append(
                [float(along(unit[row] @ w_value) @ y) if m.any() else -9.0 for row in rows]
            )
    memory.advance(120.0)
    measured.append(memory.column(LOG_STRENGTH))
    expected.append(0.7 * (np.minimum(unforeseen, 2.0) - 1.0))
    return np.concatenate(measured), np.concatenate(expected)


@equation(
    "TI-13",
    source=f"{TITANS}, eqs 11 to 15 in numpy over a history of sessions; gates, pairing and log strength are ours",
    rtol=1e-4,
    atol=2e-5,
    papers=("behrouz2024titans",),
)
def a_memory_learns_by_the_equations_of_the_paper(specimen: Any) -> Any:
    cases = [
        history_in_memory(specimen, pairing, scale)
        for pairing, scale in (("successor", 1.0), ("same", 1.0), ("successor", 0.25))
    ]
    return np.concatenate([measured for measured, _ in cases]), np.concatenate(
        [expected for _, expected in cases]
    )


@adaptation(
    "TI-14",
    source="ours: normal numbers of variance 1 / d_k, drawn once; 5 standard errors of mean and variance",
)
def projections_are_drawn_once_and_keep_lengths(specimen: Any) -> Any:
    memory = memory_of(specimen, embedder=HashingEmbedder(64), keys=50)
    encode(memory, (0.0, "Ada saw a boat"))
    w = memory.column(specimen.TITANS_PROJECTIONS).astype(np.float64).copy()
    encode(memory, (1.0, "Bo lost his keys"), (30.0, "Cleo sings"))
    kept = float(np.array_equal(w, memory.column(specimen.TITANS_PROJECTIONS)))
    n = w.size
    return at_most(
        [
            1.0 - kept,
            abs(w.mean()) * np.sqrt(50.0 * n) / 5.0,
            abs(50.0 * w.var() - 1.0) / (5.0 * np.sqrt(2.0 / n)),
            abs((w[0] * w[1]).mean()) * 50.0 * np.sqrt(n / 2) / 5.0,
        ],
        1.0 - 1e-9,
    )


@equation(
    "TI-15",
    source=f"{TITANS}, eqs 11 to 14 in numpy over successive uses in two sessions; the pairing with the best row of the last use and "
    "the gates are ours",
    rtol=1e-4,
    atol=2e-5,
    papers=("behrouz2024titans",),
)
def a_memory_learns_which_memory_is_used_after_which(specimen: Any) -> Any:
    rng = np.random.default_rng(15)
    x = rng.standard_normal((6, 12))
    x[2] = 2.0 * x[0] + 0.5 * x[2]
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    unit = x.astype(np.float32).astype(np.float64)
    measured, expected = [], []
    for pairing, scale in (("successor", 0.5), ("same", 1.0)):
        vectors = {**{f"event {i}": x[i] for i in range(5)}, "query": x[5]}
        memory = memory_of(
            specimen,
            "dense_similarity",
            time_scale=scale,
            embedder=Scripted(vectors),
            **{**ODD, "pairing": pairing},
        )
        encode(memory, *(Event(0.0, f"event {i}", session=str(i), dated=False) for i in range(5)))
        w_key, w_value = memory.column(specimen.TITANS_PROJECTIONS).astype(np.float64)
        m, s = (memory.column(c).copy() for c in (specimen.TITANS_MATRIX, specimen.TITANS_MOMENTUM))
        last: dict[str, tuple[list[int], float]] = {}
        for time, session, needed, rate, plasticity in (
            (1.0, "x", (0,), 1.0, 1.0),
            (1.5, "y", (1, 4), 1.0, 1.0),
            (4.0, "x", (2,), 2.0, 3.0),
            (5.0, "", (3,), 1.0, 1.0),
            (6.0, "y", (3, 0), 0.5, 1.4),
            (9.0, "x", (2, 4), 0.8, 0.9),
            (9.5, "x", (), 1.0, 1.0),
            (30.0, "x", (1,), 1.0, 1.2),
        ):
            memory.advance(time)
            for factor, value in ((LEARNING_RATE, rate), (PLASTICITY, plasticity)):
                memory.store.array(factor)[()] = value
            rows = memory.use(memory.retrieve(Query("query", session=session)), needed).tolist()
            if session and rows:
                before, since = last.get(session, ([], 0.0))
                before = [row for row in before if row not in rows]
                last[session] = rows, time
                if before and pairing == "successor":
                    before_vector, after_vector = unit[before[0]], unit[rows[0]]
                    k, v, r = (
                        before_vector @ w_key / np.linalg.norm(before_vector @ w_key),
                        after_vector @ w_value,
                        max(0.0, float(before_vector @ after_vector)),
                    )
                    theta = min(1.0, 0.3 * rate * plasticity)
                    s = 0.8 * r * s - theta * np.sqrt(1.0 - r * r) * 2.0 * np.outer(m @ k - v, k)
                    m = (1.0 - 0.15 * (1.0 - r)) * 0.5 ** ((time - since) / (60.0 * scale)) * m + s
            measured += [
                memory.column(c).flatten()
                for c in (specimen.TITANS_MATRIX, specimen.TITANS_MOMENTUM)
            ]
            expected += [m.ravel(), s.ravel()]
    return np.concatenate(measured), np.concatenate(expected)


# --- figures --------------------------------------------------------------------------------------
@figure(
    "titans_sign",
    caption="Loss of a pair that is stored repeatedly: with momentum it oscillates and tends to 0",
    source=f"{TITANS}, eqs 9 and 10; recomputed at eta = 0.9, theta = 0.01",
)
def loss_over_repetitions(specimen: Any) -> Picture:
    steps = np.arange(1, 61)
    loss = np.array([e**2 for e in repeated(specimen, 0.9, 0.01, 0.0, tuple(steps.tolist()))])
    return Picture(
        "repetitions",
        "loss, share of the first",
        (
            Curve("mechanism", np.r_[0, steps], np.r_[1.0, loss]),
            dots("recursion of the paper", [1, 2, 10, 50], [0.9604, 0.888118, 0.094323, 0.005467]),
        ),
        log="y",
    )


@figure(
    "surprise_over_rounds",
    caption="Surprise of a repeated sequence of five events: later events become predicted, the first event of a "
    "session never does",
    source="ours",
)
def surprise_of_a_repeated_sequence(specimen: Any) -> Picture:
    surprise = life(specimen, 12).store.array(specimen.TITANS_UNFORESEEN).reshape(12, len(ROUND))
    rounds, names = np.arange(1, 13), ("first event", "second", "third", "fourth", "fifth")
    return Picture(
        "repetition",
        "surprise",
        tuple(
            Curve(name, rounds, surprise[:, i].astype(np.float64)) for i, name in enumerate(names)
        ),
    )


# --- mutants --------------------------------------------------------------------------------------
def step(
    m: Array,
    s: Array,
    k: Array,
    v: Array,
    eta: float,
    theta: float,
    alpha: float,
    *,
    two: float = 2.0,
    sign: float = 1.0,
    forgets: bool = True,
    carries: bool = True,
) -> None:
    """The update in numpy, with optional faults."""
    s[...] = (eta * s if carries else 0.0) - theta * two * np.outer(m @ k - v, k)
    m[...] = (1.0 - alpha if forgets else 1.0) * m + sign * s


@mutant("S is subtracted, as Cortex prints it", rejected_by="TI-2")
def ascent(specimen: Any) -> Any:
    return specimen.replacing("memorise", lambda *a: step(*a, sign=-1.0))


@mutant("gradient of half the loss", rejected_by="TI-1")
def half_gradient(specimen: Any) -> Any:
    return specimen.replacing("memorise", lambda *a: step(*a, two=1.0))


@mutant("S is reset at each event", rejected_by="TI-3")
def no_momentum(specimen: Any) -> Any:
    return specimen.replacing("memorise", lambda *a: step(*a, carries=False))


@mutant("no forgetting", rejected_by="TI-4")
def no_forgetting(specimen: Any) -> Any:
    return specimen.replacing("memorise", lambda *a: step(*a, forgets=False))


@mutant("forgetting also acts on the new surprise", rejected_by="TI-5a")
def forgets_late(specimen: Any) -> Any:
    def late(
        m: Array, s: Array, k: Array, v: Array, eta: float, theta: float, alpha: float
    ) -> None:
        step(m, s, k, v, eta, theta, 0.0)
        m *= 1.0 - alpha

    return specimen.replacing("memorise", late)


@mutant("a gradient without the key", rejected_by="TI-1b")
def keyless(specimen: Any) -> Any:
    def gradient(m: Array, k: Array, v: Array, out: Array) -> float:
        out[...] = 2.0 * (m @ k - v)[:, None]
        return float(np.linalg.norm(out))

    return specimen.replacing("gradient", gradient)


@mutant("surprise as one minus the cosine", rejected_by="TI-1b")
def cosine_surprise(specimen: Any) -> Any:
    def gradient(m: Array, k: Array, v: Array, out: Array) -> float:
        y = m @ k
        out[...] = 2.0 * np.outer(y - v, k)
        return float(1.0 - y @ v / np.linalg.norm(y) / np.linalg.norm(v))

    return specimen.replacing("gradient", gradient)


@mutant("recall learns", rejected_by="TI-7a")
def learning_on_read(specimen: Any) -> Any:
    def recall(m: Array, q: Array, out: Array) -> None:
        out[...] = m @ q
        m += 1e-9 * np.outer(out, q)

    return specimen.replacing("recall", recall)


@mutant("surprise of a good prediction raises the strength, too", rejected_by="TI-13")
def any_surprise(specimen: Any) -> Any:
    def strengthen(self: Any, view: Any, tick: Any) -> None:
        view.log_strength[...] = self.params.surprise_gain * np.abs(
            np.minimum(view.titans_unforeseen, 2.0) - 1.0
        )

    return specimen.overriding("TitansMemory", strengthen=strengthen)


@mutant("projections drawn anew for every event", rejected_by="TI-14")
def drawn_anew(specimen: Any) -> Any:
    def draw(self: Any, view: Any, incoming: Any) -> None:
        view.titans_projections[...] = 0.0
        specimen.TitansMemory.draw(self, view, incoming)

    return specimen.overriding("TitansMemory", draw=draw)


@mutant("fixed gates", rejected_by="TI-8")
def fixed(specimen: Any) -> Any:
    return specimen.replacing(
        "gates", lambda r, dt, eta, theta, alpha, half_life: (eta, theta, alpha)
    )


@mutant("the same key for every event", rejected_by="TI-10a")
def no_keys_of_the_past(specimen: Any) -> Any:
    def project(x: Any, w: Any, out: Array) -> None:
        out[...] = 1.0

    return specimen.replacing("project", project)


@mutant("successive uses are learnt backwards", rejected_by="TI-15")
def backwards_uses(specimen: Any) -> Any:
    def turned(*given: Any) -> Any:
        before, rows, lag = steps(*given)
        return (rows, before, lag) if before.size else (before, rows, lag)

    steps = specimen.step_of_use
    return specimen.replacing("step_of_use", turned)
