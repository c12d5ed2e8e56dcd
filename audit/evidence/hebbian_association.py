"""Evidence for hebbian_association.  References are numpy linear algebra, scipy's solution of
the averaged rule, and a dense matrix of synapses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.linalg import expm

from ...engine.contract.columns import Phase
from ...engine.contract.records import Event, Query
from ...engine.contract.vocabulary import (
    LTP,
    MATCH,
    MODIFIABILITY,
    RELEASE_PROBABILITY,
    RESOURCES,
    ROW,
    WORKING_MEMORY,
)
from ...engine.state.graph import EdgeType
from ..checks import adaptation, at_least, between, equation, limit, mutant, signature
from ..figures import Curve, Picture, dots, figure
from ..memory import Scripted, encode, memory_of, neighbour
from .shared.crowded import SOURCE as CROWDED
from .shared.crowded import associates_of_a_crowded_memory
from .shared.last_uses import SOURCE as LAST_USE
from .shared.last_uses import passed_on
from .shared.named import SOURCE as NAMED
from .shared.named import named
from .shared.scripts import attending, giving, refusing, replaying
from .shared.views import nothing

Array = NDArray[np.float64]
Occasion = tuple[Sequence[int], Sequence[tuple[int, int]]]
OJA = "Oja 1982"
C = np.array([[2.0, 1.0], [1.0, 2.0]])
PRINCIPAL = np.ones(2) / np.sqrt(2.0)
UNSCALED = 1.0  # growth of Oja's unit, given: compiled code fills in a default in 0.3 ms


# --- Oja's unit -----------------------------------------------------------------------------------
def exact_sample(n: int = 8, seed: int = 0) -> Array:
    """(n, 2) inputs whose second moments are C to the last digit."""
    x = np.random.default_rng(seed).standard_normal((n, 2))
    return np.asarray(
        x @ np.linalg.inv(np.linalg.cholesky(x.T @ x / n)).T @ np.linalg.cholesky(C).T
    )


def mean_step(specimen: Any, w: Array, inputs: Array, eta: float) -> Array:
    """Average change of w over the inputs, y = w . x."""
    return np.asarray(
        np.mean([specimen.oja(w, x, float(w @ x), eta, UNSCALED) - w for x in inputs], axis=0)
    )


def trained(specimen: Any, steps: int = 8000, eta: float = 2e-3) -> Array:
    """w after as many random inputs of covariance C."""
    w, inputs = (
        np.array([0.3, -0.2]),
        np.random.default_rng(1).multivariate_normal(np.zeros(2), C, steps),
    )
    for x in inputs:
        w = np.asarray(specimen.oja(w, x, float(w @ x), eta, UNSCALED))
    return w


@equation(
    "CM-10.8a",
    source=f"{OJA}; length of the weights, inputs of covariance [[2, 1], [1, 2]]",
    figure="oja_unit",
    papers=("oja1982simplified",),
)
def weights_converge_to_unit_length(specimen: Any) -> Any:
    return between(np.linalg.norm(trained(specimen)), 0.98, 1.02)


@equation(
    "CM-10.8b",
    source=f"{OJA}; cosine with (1, 1) / sqrt 2, the principal component",
    figure="oja_unit",
    papers=("oja1982simplified",),
)
def weights_converge_to_the_principal_component(specimen: Any) -> Any:
    w = trained(specimen)
    return at_least(abs(w @ PRINCIPAL) / np.linalg.norm(w), 0.99)


@equation(
    "CM-10.8c",
    source=f"{OJA}; E dw = eta [C w - (w' C w) w], over inputs with exactly these second moments",
    papers=("oja1982simplified",),
)
def the_mean_step_follows_from_the_covariance(specimen: Any) -> Any:
    inputs, starts = exact_sample(), np.random.default_rng(2).standard_normal((6, 2))
    return [mean_step(specimen, w, inputs, 0.01) for w in starts], [
        0.01 * (C @ w - (w @ C @ w) * w) for w in starts
    ]


@equation(
    "CM-10.8d",
    source="scipy.integrate.solve_ivp of the averaged rule, and its solution e^(Ct) w / |e^(Ct) w| from unit length",
    atol=2e-3,
    papers=("oja1982simplified",),
)
def small_steps_follow_the_averaged_rule(specimen: Any) -> Any:
    inputs, start, eta = exact_sample(), np.array([np.cos(2.0), np.sin(2.0)]), 1e-3
    solved = solve_ivp(
        lambda _, w: C @ w - (w @ C @ w) * w,
        (0.0, 1.5),
        start,
        rtol=1e-10,
        atol=1e-12,
        t_eval=(0.5, 1.5),
    ).y.T
    closed = [expm(C * t) @ start for t in (0.5, 1.5)]
    w, measured = start, []
    for step in range(1, 1501):
        w = w + mean_step(specimen, w, inputs, eta)
        if step in (500, 1500):
            measured.append(w)
    return [measured, measured], [solved, [v / np.linalg.norm(v) for v in closed]]


@limit(
    "CM-10.8g",
    source=f"{OJA}; C v = 3 v and C v = v for unit vectors v",
    papers=("oja1982simplified",),
)
def unit_eigenvectors_are_fixed_points(specimen: Any) -> Any:
    return [
        mean_step(specimen, v, exact_sample(), 0.1)
        for v in (PRINCIPAL, -PRINCIPAL, np.array([1.0, -1.0]) / np.sqrt(2.0))
    ], np.zeros((3, 2))


# --- many memories --------------------------------------------------------------------------------
def lived(
    specimen: Any,
    n: int,
    occasions: Sequence[Occasion],
    eta: float,
    ltp: float = 1.0,
    modifiability: Array | None = None,
) -> Array:
    """(n, n) final weights, from row to column, of the specimen's synapses; each memory has one
    to every other.
    """
    degree, pool, leads_to = np.full(n, n), np.arange(n * n), np.tile(np.arange(n), n)
    count, weight, seen = np.zeros(n, np.int32), np.zeros(n * n), np.zeros(n * n, np.int32)
    factor = np.ones(n) if modifiability is None else modifiability
    for _, pairs in occasions:
        first, second = np.array(pairs).T
        source, target = np.r_[first, second], np.r_[second, first]
        specimen.occasion(
            source,
            target,
            source * n + target,
            eta,
            ltp,
            factor,
            np.arange(n) * n,
            degree,
            pool,
            leads_to,
            count,
            weight,
            seen,
        )
    now = [
        specimen.current(w, int(count[j] - s), eta)
        for w, j, s in zip(weight, leads_to, seen, strict=True)
    ]
    return np.array(now).reshape(n, n)


def dense(n: int, occasions: Sequence[Occasion], eta: float) -> Array:
    """The same with every synapse onto every active memory visited at every occasion."""
    w = np.zeros((n, n))
    for active, pairs in occasions:
        paired = {*pairs, *((b, a) for a, b in pairs)}
        for y in active:
            for x in range(n):
                if (x, y) in paired:
                    w[x, y] += eta * (1.0 - w[x, y])
                elif x not in active:
                    w[x, y] -= eta * w[x, y]
    return w


def random_life(n: int, length: int, size: int, seed: int) -> list[Occasion]:
    """Random occasions; the last memory of each is paired with the others, as an event is with
    working memory.
    """
    rng = np.random.default_rng(seed)
    chosen = [
        rng.choice(n, int(rng.integers(2, size + 1)), replace=False).tolist() for _ in range(length)
    ]
    return [(active, [(x, active[-1]) for x in active[:-1]]) for active in chosen]


@adaptation(
    "CM-10.8h",
    source="Oja's rule on a dense matrix, every synapse visited at every occasion",
    atol=1e-12,
    papers=("oja1982simplified",),
)
def synapses_that_are_not_visited_decay_exactly(specimen: Any) -> Any:
    life = random_life(9, 300, 5, 3)
    return lived(specimen, 9, life, 0.1), dense(9, life, 0.1)


@adaptation(
    "CM-10.8e",
    source="fixed point of Oja's rule at y = 1: E[xy] / E[y^2] = P(source | target)",
    atol=0.03,
    figure="chance",
    papers=("oja1982simplified",),
)
def a_weight_is_the_probability_of_its_source_given_its_target(specimen: Any) -> Any:
    rng, p = np.random.default_rng(4), np.array([0.5, 0.3, 0.2])
    partners = rng.choice(3, 12000, p=p)
    w = lived(specimen, 4, [((int(s), 3), [(int(s), 3)]) for s in partners], 0.003)
    return [w[:3, 3], w[3, :3]], [p, np.ones(3)]


@equation(
    "CM-10.8i",
    source="Oja's rule at x = y = 1, k times: w = 1 - (1 - eta)^k",
    papers=("oja1982simplified",),
)
def the_weight_of_a_pair_always_active_together_tends_to_one(specimen: Any) -> Any:
    w = [lived(specimen, 2, [((0, 1), [(0, 1)])] * k, 0.1)[0, 1] for k in (1, 2, 10, 200)]
    return w, [1.0 - 0.9**k for k in (1, 2, 10, 200)]


@equation(
    "CM-10.8n",
    source="Oja's rule at x = 0 and y = 1, repeated: w (1 - eta)^k",
    papers=("oja1982simplified",),
)
def a_weight_decays_while_its_source_is_silent(specimen: Any) -> Any:
    return [specimen.current(w, k, 0.1) for w in (1.0, 0.5, 0.0) for k in (0, 1, 3)], [
        w * 0.9**k for w in (1.0, 0.5, 0.0) for k in (0, 1, 3)
    ]


@adaptation(
    "CM-10.8f",
    source="ours: bounds of the weight; at a growth between 0 and 1 the fixed point is that growth",
    atol=1e-6,
)
def growth_sets_the_fixed_point_within_the_bounds(specimen: Any) -> Any:
    life: list[Occasion] = [((0, 1), [(0, 1)])] * 200
    w = [
        lived(specimen, 2, life, 0.1, ltp, np.array([1.0, m]))[0, 1]
        for ltp, m in ((1.0, 0.4), (0.5, 0.5), (1.0, 3.0), (-1.0, 1.0), (1.0, -2.0))
    ]
    return w, [0.4, 0.25, 1.0, 0.0, 0.0]


@signature(
    "CM-10.8j",
    source="Hebb 1949 with Oja's decay: A-B, then A-C; closed forms (1 - 0.9^k) 0.9^l and 1 - 0.9^l",
    papers=("hebb1949organization", "oja1982simplified"),
)
def a_new_association_weakens_the_old_one(specimen: Any) -> Any:
    k, later = 10, 6
    w = lived(specimen, 3, [((0, 1), [(0, 1)])] * k + [((0, 2), [(0, 2)])] * later, 0.1)
    return [w[1, 0], w[2, 0], w[0, 1]], [
        (1.0 - 0.9**k) * 0.9**later,
        1.0 - 0.9**later,
        1.0 - 0.9**k,
    ]


@adaptation(
    "CM-10.8k",
    source="the order of steps: each replayed step is an occasion of its own, on a dense matrix",
    atol=1e-12,
)
def replayed_steps_are_learnt_one_after_the_other(specimen: Any) -> Any:
    n, steps = 6, np.random.default_rng(5).permuted(np.tile(np.arange(6), (40, 1)), axis=1)[:, :2]
    count, weight, seen = np.zeros(n, np.int32), np.zeros(n * n), np.zeros(n * n, np.int32)
    source, target = np.r_[steps[:, 0], steps[:, 1]], np.r_[steps[:, 1], steps[:, 0]]
    leads_to = np.tile(np.arange(n), n)
    specimen.occur(
        40,
        source,
        target,
        source * n + target,
        0.1,
        1.0,
        np.ones(n),
        np.arange(n) * n,
        np.full(n, n),
        np.arange(n * n),
        leads_to,
        count,
        weight,
        seen,
    )
    now = weight * 0.9 ** (count[leads_to] - seen)
    return now.reshape(n, n), dense(n, [((a, b), [(a, b)]) for a, b in steps.tolist()], 0.1)


@adaptation("CM-10.8l", source="the definition, (match release resources) W in numpy", atol=1e-6)
def the_signal_is_the_match_passed_on_by_the_best(specimen: Any) -> Any:
    rng, n, eta = np.random.default_rng(6), 8, 0.2
    weight, lag = (
        np.where(rng.random((n, n)) < 0.5, rng.random((n, n)), 0.0),
        rng.integers(0, 5, (n, n)),
    )
    match, release, resources, rows = (
        rng.normal(0.5, 1.0, n),
        rng.random(n) + 0.5,
        rng.random(n),
        np.array([1, 4, 6, 7]),
    )
    out = np.full(n, np.nan)
    specimen.pass_on(
        rows,
        match,
        release,
        resources,
        eta,
        np.arange(n) * n,
        np.full(n, n),
        np.arange(n * n),
        np.tile(np.arange(n), n),
        np.full(n, 5, np.int32),
        weight.ravel(),
        (5 - lag).ravel().astype(np.int32),
        out,
    )
    sent = np.where(np.isin(np.arange(n), rows), np.maximum(match, 0.0) * release * resources, 0.0)
    return np.nan_to_num(out), sent @ (weight * 0.8**lag)


# --- in a memory ----------------------------------------------------------------------------------
# working memory at each event
HELD: tuple[tuple[int, ...], ...] = ((), (0,), (0, 1), (1, 2), (0, 1, 3), (3, 4), ())
# at each event; onto each memory
LTP_OF, GROWTH = (1.0, 0.5, 1.3, -0.7, 0.9, 1.6, 0.8), np.array([1.0, 0.4, 1.5, 0.7, 2.0, 0.6, 1.2])
RELEASE, SUPPLY = (
    np.array([1.5, 0.5, 0.8, 0.6, 1.2, 0.0, 0.9]),
    np.array([0.9, 0.6, 1.0, 0.8, 0.5, 0.3, 0.7]),
)
PLACES = {
    f"event {row}": place
    for row, place in enumerate(
        ([-0.5, 1.0], [0.9, -0.3], [-1.0, 0.1], [0.7, 0.7], [-1.0, -0.6], [0.95, 0.1], [1.0, 0.1])
    )
}
STEPS = [(0, 1), (3, 1), (1, 0), (0, 1), (4, 5), (2, 6), (0, 2), *[(1, 4)] * 3]


@equation(
    "CM-10.8m",
    source=f"{OJA}: the rule on a dense matrix, every synapse onto every active memory, over scripted occasions; "
    "(match release resources) W in numpy",
    rtol=1e-6,
    atol=1e-9,
    papers=("oja1982simplified",),
)
def a_memory_associates_what_is_active_together(specimen: Any) -> Any:
    """Working memory, replayed steps and answers form occasions; an event is rejected, a query
    does not learn, a memory is archived.
    """
    n, eta, w, occasions = 7, 0.3, np.zeros((7, 7)), np.zeros(7, int)
    ltp, measured, expected = 1.0, list[float](), list[float]()

    def attend(view: Any, _: Any) -> None:
        row = view.row
        view.working_memory[...] = -1
        view.working_memory[: len(HELD[row]) + 1] = (*HELD[row], row)
        view.ltp, view.modifiability[row], view.release_probability[row] = (
            LTP_OF[row],
            GROWTH[row],
            RELEASE[row],
        )

    def occasion(active: Sequence[int], pairs: Sequence[tuple[int, int]]) -> None:
        both = {*pairs, *((b, a) for a, b in pairs)}
        for y in active:
            occasions[y] += 1
            for x in range(n):
                if (x, y) in both:
                    w[x, y] = min(max(w[x, y] + eta * (ltp * GROWTH[y] - w[x, y]), 0.0), 1.0)
                elif x not in active:
                    w[x, y] -= eta * w[x, y]

    memory = memory_of(
        specimen,
        "dense_similarity",
        refusing("rejected"),
        neighbour(
            Phase.ENCODE,
            attend,
            reads=(ROW,),
            sets=(WORKING_MEMORY, LTP, MODIFIABILITY, RELEASE_PROBABILITY),
            id="attend",
        ),
        replaying(STEPS, until=30.0),
        giving(Phase.RETRIEVE, RESOURCES, SUPPLY),
        embedder=Scripted({**PLACES, "rejected": [1.0, 0.0], "query": [1.0, 0.1]}),
        eta=eta,
        seeds=5,
    )

    def compare() -> None:
        graph, count = memory.graph, memory.column(specimen.HEBBIAN_OCCASIONS)
        weight, seen = memory.column(specimen.HEBBIAN_WEIGHT), memory.column(specimen.HEBBIAN_SEEN)
        for x in range(memory.column(MATCH).size):
            for y in range(memory.column(MATCH).size):
                e = graph.find(x, y, EdgeType.COACCESS)
                measured.append(
                    0.0 if e is None else float(weight[e]) * (1.0 - eta) ** int(count[y] - seen[e])
                )
                expected.append(float(w[x, y]))
        measured.extend(count.tolist())
        expected.extend(occasions[: count.size].tolist())

    def ask(k: int, learn: bool) -> None:
        rows = memory.retrieve("query", k=k, learn=learn).rows.tolist()
        match = memory.column(MATCH).astype(float)
        # the last is below the mean
        best = [row for row in np.argsort(-match, kind="stable") if memory.column("visible")[row]][
            :5
        ]
        sent = np.where(np.isin(np.arange(n), best), np.maximum(match, 0.0) * RELEASE * SUPPLY, 0.0)
        measured.extend(
            (
                *np.nan_to_num(memory.column(specimen.ASSOCIATED), nan=-1.0),
                float(match[best[-1]] < 0.0),
            )
        )
        expected.extend((*np.where((sent > 0.0) @ (w > 0.0), sent @ w, -1.0), 1.0))
        if learn and len(rows) > 1:
            active = rows[:3]
            occasion(active, [(a, b) for i, a in enumerate(active) for b in active[i + 1 :]])
        compare()

    for row, text in enumerate(PLACES):
        encode(memory, (2.0 * row, text))
        ltp = LTP_OF[row]
        if HELD[row]:
            occasion((*HELD[row], row), [(other, row) for other in HELD[row]])
        if row == 3:
            encode(memory, (7.0, "rejected"))
            compare()
    compare()
    ask(4, learn=False)
    memory.advance(25.0)
    for a, b in STEPS:
        occasion((a, b), [(a, b)])
    ask(4, learn=True)
    memory.archive(1)
    memory.advance(50.0)  # a sleep without replay
    ask(1, learn=True)
    ask(2, learn=True)
    return measured, expected


@adaptation(
    "CM-10.8q",
    source="ours: a memory has 32 partners, of which a new one replaces the oldest; by a plain list",
)
def a_new_partner_replaces_the_oldest(specimen: Any) -> Any:
    """Every event is active together with the first one; each synapse from it is used once."""

    def attend(view: Any, _: Any) -> None:
        view.working_memory[...] = -1
        view.working_memory[:2] = (0, view.row)

    memory = memory_of(
        specimen,
        neighbour(Phase.ENCODE, attend, reads=(ROW,), sets=(WORKING_MEMORY,), id="attend"),
        eta=0.3,
    )
    for number in (33, 36):
        encode(memory, *((float(i), f"w{i}") for i in range(memory.store.n, number)))
        edges = memory.graph.neighbours(0, EdgeType.COACCESS)
        partners = sorted(memory.graph.target[edges].tolist())
        yield (
            [*partners, *memory.column(specimen.HEBBIAN_WEIGHT)[edges]],
            [*range(number - 32, number), *[0.3] * 32],
        )


@adaptation("CM-10.8w", source=NAMED)
def what_an_event_changes_of_earlier_rows_and_edges_is_named(specimen: Any) -> Any:
    memory = memory_of(specimen, attending([range(row) for row in range(4)]))
    columns = specimen.HEBBIAN_OCCASIONS, specimen.HEBBIAN_SEEN
    counts = [named(memory, columns, Event(float(i), f"w{i}", dated=False)) for i in range(4)]
    return [(changed > 0, missed) for changed, missed in counts[-1]], [(True, 0)] * len(columns)


@adaptation("CM-10.8p", source=LAST_USE, rtol=1e-6, atol=1e-9)
def what_was_used_last_passes_activation_on(specimen: Any) -> Any:
    n, eta, together = 7, 0.3, 2.5
    memory = memory_of(
        specimen,
        "dense_similarity",
        giving(Phase.RETRIEVE, RESOURCES, SUPPLY),
        embedder=Scripted({**PLACES, "query": [1.0, 0.1]}),
        eta=eta,
        seeds=2,
        present=together,
    )
    # each in a session of its own: nothing is learnt at encoding
    for row, text in enumerate(PLACES):
        encode(memory, Event(float(row), text, session=str(row), dated=False))
    last = dict[str, list[int]]()
    for time, session, rows in (
        (8.0, "x", [2]),
        (9.0, "y", [0, 4, 3]),
        (10.0, "x", [5, 1]),
        (11.0, "x", [0]),
        (12.0, "y", [6]),
        (13.0, "x", [2, 1]),
    ):
        memory.advance(time)
        memory.use(memory.retrieve(Query("query", session=session)), rows)
        last[session] = rows
    measured, expected = list[float](), list[float]()
    # an archived memory passes nothing on
    for archived in (None, 2):
        if archived is not None:
            memory.archive(archived)
        w, count, graph = np.zeros((n, n)), memory.column(specimen.HEBBIAN_OCCASIONS), memory.graph
        for a in range(n):
            for b in range(n):
                if (edge := graph.find(a, b, EdgeType.COACCESS)) is not None:
                    w[a, b] = memory.column(specimen.HEBBIAN_WEIGHT)[edge] * (1.0 - eta) ** (
                        count[b] - memory.column(specimen.HEBBIAN_SEEN)[edge]
                    )
        passed, by_hand = passed_on(
            memory, specimen.ASSOCIATED, w, last, archived, together, SUPPLY
        )
        measured, expected = measured + passed, expected + by_hand
    return measured, expected


crowded = adaptation("CM-10.8r", source=CROWDED)(associates_of_a_crowded_memory)


# --- figures --------------------------------------------------------------------------------------
@figure(
    "oja_unit",
    caption="Oja's decay keeps the weights at unit length and aligns them with the principal component; plain Hebb diverges",
    source=f"{OJA}; inputs of covariance [[2, 1], [1, 2]]",
)
def unit_over_inputs(specimen: Any) -> Picture:
    w = hebb = np.array([0.3, -0.2])
    course, eta = [], 4e-3
    for x in np.random.default_rng(1).multivariate_normal(np.zeros(2), C, 2000):
        w, hebb = (
            np.asarray(specimen.oja(w, x, float(w @ x), eta, UNSCALED)),
            hebb + eta * float(hebb @ x) * x,
        )
        course.append(
            (np.linalg.norm(w), abs(w @ PRINCIPAL) / np.linalg.norm(w), np.linalg.norm(hebb))
        )
    sampled, at = np.array(course)[::20], np.arange(0, 2000, 20)
    return Picture(
        "inputs",
        "length; cosine",
        (
            Curve("length, Oja", at, sampled[:, 0]),
            Curve("cosine with the principal component", at, sampled[:, 1]),
            Curve("length, plain Hebb", at, np.where(sampled[:, 2] < 10.0, sampled[:, 2], np.nan)),
        ),
        log="y",
    )


@figure(
    "chance",
    caption="The weight onto a memory converges to the probability of its source given that the memory is active",
    source="fixed point of Oja's rule at y = 1",
)
def weights_over_occasions(specimen: Any) -> Picture:
    p, at = np.array([0.5, 0.3, 0.2]), np.array([0, 20, 50, 100, 200, 400, 800])
    occasions: list[Occasion] = [
        ((int(s), 3), [(int(s), 3)]) for s in np.random.default_rng(4).choice(3, at[-1], p=p)
    ]
    w = np.array([lived(specimen, 4, occasions[:n], 0.01)[:3, 3] if n else np.zeros(3) for n in at])
    return Picture(
        "occasions",
        "weight onto the memory",
        (
            *(Curve(f"source of probability {p[k]:g}", at, w[:, k]) for k in range(3)),
            dots("probabilities", np.full(3, at[-1]), p),
        ),
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("pure Hebb, without decay: it diverges", rejected_by="CM-10.8a")
def pure_hebb(specimen: Any) -> Any:
    return specimen.replacing("oja", lambda w, x, y, eta, growth=1.0: w + eta * growth * y * x)


@mutant("decay by y instead of y^2", rejected_by="CM-10.8c")
def linear_decay(specimen: Any) -> Any:
    return specimen.replacing(
        "oja", lambda w, x, y, eta, growth=1.0: w + eta * y * (growth * x - w)
    )


@mutant("clipped weights instead of decay", rejected_by="CM-10.8b")
def clipped(specimen: Any) -> Any:
    return specimen.replacing(
        "oja",
        lambda w, x, y, eta, growth=1.0: (
            np.clip(w + eta * growth * y * x, -np.sqrt(0.5), np.sqrt(0.5)) * [1.0, 0.5]
        ),
    )


@mutant("twice the gain", rejected_by="CM-10.8d")
def fast(specimen: Any) -> Any:
    return specimen.replacing(
        "oja", lambda w, x, y, eta, growth=1.0: w + 2.0 * eta * y * (growth * x - y * w)
    )


@mutant("synapses of inactive sources do not decay: no competition", rejected_by="CM-10.8j")
def without_competition(specimen: Any) -> Any:
    return specimen.replacing("current", lambda w, occasions, eta: w)


@mutant("theta scales the decay, too", rejected_by="CM-10.8f")
def scaled_decay(specimen: Any) -> Any:
    return specimen.replacing(
        "oja", lambda w, x, y, eta, growth=1.0: w + growth * eta * y * (x - y * w)
    )


@mutant("synapses between active memories that are not paired decay", rejected_by="CM-10.8h")
def decays_while_held(specimen: Any) -> Any:
    def occasion(
        source: Any,
        target: Any,
        edge: Any,
        eta: float,
        ltp: float,
        factor: Any,
        start: Any,
        degree: Any,
        pool: Any,
        *rest: Any,
    ) -> None:
        specimen.occasion(
            source, target, edge, eta, ltp, factor, start, np.zeros_like(degree), pool, *rest
        )

    return specimen.replacing("occasion", occasion)


@mutant("the signal does not depend on the match", rejected_by="CM-10.8l")
def unweighted(specimen: Any) -> Any:
    return specimen.replacing(
        "pass_on", lambda rows, match, *rest: specimen.pass_on(rows, np.ones_like(match), *rest)
    )


@mutant("a memory has ten partners", rejected_by="CM-10.8q")
def ten_partners(specimen: Any) -> Any:
    def encode(self: Any, view: Any, incoming: Any) -> None:
        specimen.HebbianAssociation.encode(self, view, incoming)
        view.hebbian_weight[view.graph.neighbours(0, EdgeType.COACCESS)[:-10]] = 0.0

    return specimen.overriding("HebbianAssociation", encode=encode)


@mutant("what was used last passes on only its match", rejected_by="CM-10.8p")
def without_a_past(specimen: Any) -> Any:
    sources = specimen.sources
    return specimen.replacing(
        "sources",
        lambda match, visible, used, seeds, present: sources(match, visible, used, seeds, 0.0),
    )


@mutant("what was used last is active in every session", rejected_by="CM-10.8p")
def one_past(specimen: Any) -> Any:
    last = specimen.used_last
    return specimen.replacing(
        "used_last",
        lambda cue, *rest: last(replace(cue, query=replace(cue.query, session="x")), *rest),
    )


@mutant("all steps of a sleep are one occasion", rejected_by="CM-10.8m")
def one_occasion(specimen: Any) -> Any:
    return specimen.replacing("occur", lambda times, *rest: specimen.occur(1, *rest))


@mutant("modifiability of the source, not of the target", rejected_by="CM-10.8m")
def of_the_source(specimen: Any) -> Any:
    def occasion(
        source: Any, target: Any, edge: Any, eta: float, ltp: float, growth: Any, *rest: Any
    ) -> None:
        swapped = growth.copy()
        swapped[target] = growth[source]
        specimen.occasion(source, target, edge, eta, ltp, swapped, *rest)

    return specimen.replacing("occasion", occasion)


@mutant("recall changes nothing", rejected_by="CM-10.8m")
def unlearnt(specimen: Any) -> Any:
    return specimen.overriding("HebbianAssociation", on_recall=nothing)


@mutant(
    "of the edges that an event changes only those of its pairs are named", rejected_by="CM-10.8w"
)
def half_named(specimen: Any) -> Any:
    return specimen.replacing("between", lambda rows, *edges: specimen.between(rows[:0], *edges))
