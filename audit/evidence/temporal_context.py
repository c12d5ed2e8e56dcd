"""Evidence for temporal_context.  References are explicit context vectors in numpy and closed
forms; none calls a kernel it judges.
"""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engine.contract.columns import Facet, Phase, signal
from ...engine.contract.hooks import Cue, Mechanism, Params, hook
from ...engine.contract.records import Event, Query
from ...engine.contract.vocabulary import CHOICE_GAIN, CONTEXT_KEPT, LEXICON, MATCH, VETO, VISIBLE
from ...engine.memory.engine import Engine
from ...engine.state.postings import Idf
from ..checks import adaptation, data, equation, limit, mutant, rival, signature
from ..figures import Curve, Picture, dots, figure
from ..memory import encode, hashing, memory_of, neighbour, numbers_of, plug_in, with_numbers
from .shared.durations import unscaled as without_scale

Vector = NDArray[np.float64]
HK = "Howard & Kahana 2002"
(BETA,) = numbers_of("temporal_context", "beta").values()
RHO = math.sqrt(1.0 - BETA * BETA)


# --- references -----------------------------------------------------------------------------------
def vectors(n: int, beta: float, left: Vector) -> tuple[Vector, Vector]:
    """Items c (n, d) and contexts of study t (n, d) of the full model; a distractor before item i
    leaves `left[i]` of the context.

    Items, distractors and the context at the start are all orthogonal.
    """
    basis, t, contexts = np.eye(2 * n + 1), np.eye(2 * n + 1)[-1], []
    for i in range(n):
        t = left[i] * t + math.sqrt(1.0 - left[i] ** 2) * basis[n + i]
        dot = float(t @ basis[i])
        t = (math.sqrt(1.0 + beta**2 * (dot**2 - 1.0)) - beta * dot) * t + beta * basis[i]
        contexts.append(t)
    return basis[:n], np.array(contexts)


def brought_back(c: Vector, t: Vector, r: int, g: float) -> Vector:
    """t_r^IN, of length 1."""
    raw = g * t[r] + (1.0 - g) * c[r]
    return np.asarray(raw / np.linalg.norm(raw))


def supported(
    specimen: Any, probe: int, rho: Vector, *, g: float, beta: float = BETA, own: float = 0.0
) -> Vector:
    """The specimen's a_j if one item is recalled with probability 1."""
    out = np.empty(len(rho))
    specimen.support(np.array([probe]), np.array([1.0]), rho, g, beta, own, out)
    return out


# --- the equations --------------------------------------------------------------------------------
@equation(
    "TC-1a",
    source=f"{HK}, normalisation; closed form to seven digits",
    atol=1e-6,
    papers=("howard2002distributed",),
)
def retention_has_its_closed_form_values(specimen: Any) -> Any:
    cases = [(b, d) for b in (0.6, 0.5) for d in (0.0, 0.5, 1.0)]
    return [specimen.retention(b, d) for b, d in cases], [
        0.8,
        0.5544004,
        0.4,
        0.8660254,
        0.6513878,
        0.5,
    ]


@equation("TC-1b", source=f"{HK}: |t_i| = 1", atol=1e-12, papers=("howard2002distributed",))
def context_keeps_length_one_over_ten_thousand_random_steps(specimen: Any) -> Any:
    steps = np.random.default_rng(0).standard_normal((10_000, 8))
    steps /= np.linalg.norm(steps, axis=1, keepdims=True)
    t, after, lengths = np.eye(8)[0], np.empty(8), np.empty(len(steps))
    for i, item in enumerate(steps):
        specimen.drift(t, item, BETA, after)
        t, after = after, t
        lengths[i] = np.linalg.norm(t)
    return lengths, 1.0


@equation(
    "TC-1c",
    source=f"{HK}, evolution of context; rho of the definition, in numpy",
    papers=("howard2002distributed",),
)
def context_is_the_weighted_sum_of_both(specimen: Any) -> Any:
    t, item, out = np.array([0.6, 0.0, 0.8]), np.array([0.48, 0.8, 0.36]), np.full(3, np.nan)
    specimen.drift(t, item, BETA, out)
    dot = float(t @ item)
    return out, (math.sqrt(1.0 + BETA**2 * (dot**2 - 1.0)) - BETA * dot) * t + BETA * item


@equation(
    "TC-2a",
    source=f"{HK}, closed form rho^|i-j|",
    figure="distractors",
    papers=("howard2002distributed",),
)
def similarity_of_contexts_is_rho_to_the_lag(specimen: Any) -> Any:
    a = supported(specimen, 4, np.full(9, specimen.retention(BETA, 0.0)), g=1.0, own=1.0)
    return a, RHO ** np.abs(np.arange(9) - 4.0)


@equation(
    "TC-2b", source=f"{HK}, recency from the end of the list", papers=("howard2002distributed",)
)
def the_context_at_the_end_of_a_list_cues_the_latest_items(specimen: Any) -> Any:
    a = supported(specimen, 4, np.full(5, specimen.retention(BETA, 0.0)), g=1.0, own=1.0)
    return a[::-1], [1.0, 0.8, 0.64, 0.512, 0.4096]


@equation("TC-3", source=f"{HK}, closed form beta rho^l", papers=("howard2002distributed",))
def the_context_of_the_item_cues_later_items_only(specimen: Any) -> Any:
    a = supported(specimen, 3, np.full(7, specimen.retention(BETA, 0.0)), g=0.0, own=1.0)
    return a, [0.0, 0.0, 0.0, 0.6, 0.48, 0.384, 0.3072]


@equation(
    "TC-4", source=f"{HK}, closed form 1 + (1 - g) beta / g", papers=("howard2002distributed",)
)
def forward_over_backward_support_is_the_same_at_every_lag(specimen: Any) -> Any:
    runs = {
        g: supported(specimen, 3, np.full(7, specimen.retention(BETA, 0.0)), g=g)
        for g in (0.25, 0.5, 0.75, 1.0)
    }
    return [[a[3 + lag] / a[3 - lag] for lag in (1, 2, 3)] for a in runs.values()], [
        [2.8] * 3,
        [1.6] * 3,
        [1.2] * 3,
        [1.0] * 3,
    ]


@equation(
    "TC-5",
    source=f"{HK}, choice rule; 12 items, g = 0.5, tau = 0.3",
    atol=5e-4,
    figure="lag_crp",
    papers=("howard2002distributed",),
)
def the_conditional_response_probabilities_are_those_of_the_model(specimen: Any) -> Any:
    rho = np.full(12, specimen.retention(BETA, 0.0))
    others = np.delete(np.arange(12), 6)
    p = specimen.choice(supported(specimen, 6, rho, g=0.5), others, 0.3)
    return p[3:9], [0.0268, 0.0433, 0.0785, 0.4698, 0.1809, 0.0843]


@equation(
    "TC-5b", source=f"{HK}; explicit context vectors in numpy", papers=("howard2002distributed",)
)
def the_two_passes_equal_the_full_model_with_explicit_vectors(specimen: Any) -> Any:
    rng = np.random.default_rng(1)
    n, g = 40, 0.35
    left = np.where(rng.random(n) < 0.3, rng.random(n), 1.0)
    c, t = vectors(n, BETA, left)
    rows = np.sort(rng.choice(n, 7, replace=False))
    p = rng.dirichlet(np.ones(7))
    cues = [brought_back(c, t, int(r), g) for r in rows]
    expected = np.array(
        [
            sum(w * (cue @ t[j]) for w, r, cue in zip(p, rows, cues, strict=True) if r != j)
            for j in range(n)
        ]
    )
    rho = np.array([specimen.carried(specimen.retention(BETA, 0.0), 0.0, 24.0, x) for x in left])
    out = np.empty(n)
    specimen.support(rows, p, rho, g, BETA, 0.0, out)
    return out, expected


@equation("TC-5c", source=f"{HK}, choice rule; definition", papers=("howard2002distributed",))
def choice_is_the_exponential_rule_and_does_not_overflow(specimen: Any) -> Any:
    a, rows = np.array([0.1, 0.9, 0.4, 0.7]), np.array([0, 2, 3])
    weights = np.array([math.exp(2.0 * a[r] / 0.3) for r in rows])
    apart = specimen.choice(np.array([0.0, 1e5, 0.0, 1e5 + 0.5]), np.array([1, 3]), 1.0)
    return [*specimen.choice(a, rows, 0.3), *specimen.choice(a + 1e4, rows, 0.3), *apart], [
        *np.tile(weights / weights.sum(), 2),
        1.0 / (1.0 + math.e),
        math.e / (1.0 + math.e),
    ]


@limit(
    "TC-L1",
    source="t_i = c_i at beta = 1: no earlier context remains",
    papers=("howard2002distributed",),
)
def with_beta_one_only_the_item_remains(specimen: Any) -> Any:
    return supported(
        specimen, 2, np.full(5, specimen.retention(1.0, 0.0)), g=0.5, beta=1.0, own=1.0
    ), [0.0, 0.0, 1.0, 0.0, 0.0]


@limit(
    "TC-L2",
    source="two consecutive pauses equal one pause of their sum",
    papers=("howard2002distributed",),
)
def drift_over_time_does_not_depend_on_its_division(specimen: Any) -> Any:
    cut = specimen.carried(specimen.carried(RHO, 1.5, 24.0, 1.0), 4.5, 24.0, 1.0)
    return [cut, specimen.carried(RHO, 0.0, 24.0, 1.0)], [RHO * math.exp(-6.0 / 24.0), RHO]


# --- signatures and data --------------------------------------------------------------------------
@limit(
    "TC-L3",
    source="definition: the first item has no predecessor, so its retention does not count",
    papers=("howard2002distributed",),
)
def the_retention_of_the_first_item_is_not_used(specimen: Any) -> Any:
    return supported(specimen, 1, np.array([np.nan, RHO, RHO]), g=1.0, own=1.0), [RHO, 1.0, RHO]


@signature(
    "TC-6a",
    source=f"{HK}, distractors between items: lag-1 similarity rho rho_D",
    figure="distractors",
    papers=("howard2002distributed",),
)
def contiguity_survives_interruption(specimen: Any) -> Any:
    similar = {
        d: supported(specimen, 4, np.full(9, specimen.carried(RHO, 0.0, 24.0, d)), g=1.0)
        for d in (1.0, 0.8, 0.5)
    }
    monotone = all(
        np.all(np.diff(a[5:]) < 0) and np.all(np.diff(a[:4]) > 0) for a in similar.values()
    )
    return [*(a[5] for a in similar.values()), monotone], [0.8, 0.64, 0.4, 1.0]


@signature(
    "TC-6b",
    source=f"{HK}, delay at the end of the list, tau = 0.3",
    atol=1e-9,
    papers=("howard2002distributed",),
)
def a_delay_scales_all_recency_equally_and_flattens_choice(specimen: Any) -> Any:
    measured = []
    for delta in (1.0, 0.3):
        # the sixth is the end of the delay
        rho = np.append(np.full(5, RHO), specimen.carried(1.0, 0.0, 24.0, delta))
        a = supported(specimen, 5, rho, g=1.0)[:5]
        p = specimen.choice(a, np.arange(5), 0.3)
        measured += [*(a / delta), p[4] / p[3]]
    recency = RHO ** np.arange(4.0, -1.0, -1.0)
    return measured, [*recency, math.exp(2 * 0.2 / 0.3), *recency, math.exp(2 * 0.2 * 0.3 / 0.3)]


# tau is free in the paper, and ours is in standard deviations of the match: recall by context alone
# is simulated with each of these
TAUS = (0.3, 0.5, 0.7, 1.0)


def simulated_crp(specimen: Any, tau: float, lists: int = 1000, n: int = 12) -> Vector:
    """P(lag) of lags -3, -2, -1, 1, 2, 3: actual over possible transitions, in simulated free
    recall by the contexts of the plug-in as it ships.
    """
    rng, p = np.random.default_rng(2), plug_in(specimen).params
    rho = np.full(n, specimen.retention(p.beta, 0.0))
    after = [supported(specimen, r, rho, g=p.study_share, beta=p.beta) for r in range(n)]
    recency = supported(specimen, n - 1, rho, g=1.0, beta=p.beta, own=1.0)

    @cache
    def shares(left: tuple[int, ...], last: int) -> tuple[NDArray[np.int64], Vector]:
        """The items that are left, and their sums of probabilities, after the last one recalled."""
        items = np.array(left)
        strength = recency if last < 0 else after[last]
        sums = np.cumsum(specimen.choice(strength, items, tau))
        return items, sums / sums[-1]

    orders = np.empty((lists, n), np.int64)
    for order in orders:
        left, last = tuple(range(n)), -1
        # as `rng.choice` draws, which takes twice as long to begin
        for output, drawn in enumerate(rng.random(n)):
            items, sums = shares(left, last)
            place = int(sums.searchsorted(drawn, side="right"))
            order[output] = last = int(items[place])
            left = (*left[:place], *left[place + 1 :])
    lags = np.array([-3, -2, -1, 1, 2, 3])
    made = np.diff(orders, axis=1)[:, :, None] == lags
    near = orders[:, :-1, None] + lags
    within = (near >= 0) & (near < n)
    recalled = np.argsort(orders, axis=1)[:, None, :]  # when each item is recalled
    when = np.take_along_axis(recalled, np.clip(near, 0, n - 1), axis=2)
    possible = within & (when > np.arange(n - 1)[:, None])
    return np.asarray(made.sum(axis=(0, 1)) / possible.sum(axis=(0, 1)))


@data(
    "TC-7",
    source="lag-CRP, Kahana 1996: forward about twice backward, neighbours most in both directions; beta and g that ship, at some tau",
    figure="lag_crp",
    papers=("kahana1996associative",),
    subjects="students of several experiments on free recall; their number was not read",
)
def recall_goes_to_neighbours_and_forward_more_than_backward(specimen: Any) -> Any:
    def as_measured(crp: Vector) -> bool:
        # 0.02: 4 standard errors of these shares
        near = bool((np.diff(crp[:3]) >= 0.02).all() and (np.diff(crp[3:]) <= -0.02).all())
        return near and bool(1.3 <= crp[3] / crp[2] <= 3.0)

    return any(as_measured(simulated_crp(specimen, tau)) for tau in TAUS)


# --- the adaptation, through the engine -----------------------------------------------------------
WORDS_OF_EVIDENCE = signal(
    "words_of_evidence", Facet.WORDS, "BM25, the direct signal from which recall starts"
)


class WordParams(Params):
    weight = 1.0


class Words(Mechanism[WordParams]):
    owns = (WORDS_OF_EVIDENCE,)

    @hook(Phase.RETRIEVE, reads=(LEXICON,), adds=(), sets=(WORDS_OF_EVIDENCE,))
    def score(self, view: Any, cue: Cue) -> None:
        view.lexicon.scores(cue.terms, view.words_of_evidence, Idf.LUCENE.weight)


def context_signal(specimen: Any, events: list[Event], query: str) -> Vector:
    params = specimen.TemporalContextParams(1.0, BETA, 0.5, 24.0, 0.5, 1.0, 100, 0.0, 1.0, 0.0, 0.5)
    context = specimen.TemporalContext("temporal_context", params, {"drift_time": "h"}, 1)
    memory = Engine([Words("words", WordParams(1.0)), context], hashing(64))
    memory.encode_all(events)
    memory.retrieve(query)
    return np.array(memory.store.array(specimen.CONTEXT), dtype=np.float64)


TALK = (
    "the bus was late again",
    "we painted the fence green",
    "grandma called about the cake",
    "the aquarium had an octopus",
    "it was lovely",
    "tickets were cheap",
    "my boss moved the meeting",
)
OTHER = (
    "rain all day",
    "the printer broke",
    "it was lovely",
    "somebody ate my lunch",
    "gym at six",
)


def said(texts: tuple[str, ...], start: float, session: str) -> list[Event]:
    return [Event(start + i / 60.0, text, session=session) for i, text in enumerate(texts)]


@adaptation("TC-8a", source="ours: context distinguishes identical texts", needs="engine")
def of_two_identical_texts_the_one_beside_the_match_is_supported(specimen: Any) -> Any:
    a = context_signal(
        specimen, said(OTHER, 0.0, "a") + said(TALK, 48.0, "b"), "octopus in the aquarium"
    )
    first, second = 2, len(OTHER) + 4
    return bool(a[second] > 5.0 * a[first])


@adaptation("TC-8b", source="ours: the event after the match", needs="engine")
def the_event_after_the_match_is_supported_more_than_the_one_before(specimen: Any) -> Any:
    a = context_signal(specimen, said(TALK, 0.0, "a"), "octopus in the aquarium")
    return bool(a[4] == np.nanmax(a) and a[4] > a[2] > 0.0)


@adaptation(
    "TC-8c",
    source="ours: the advantage depends on order; mean over 200 shuffles within 4 standard errors",
    needs="engine",
)
def shuffling_the_order_removes_the_advantage(specimen: Any) -> Any:
    rng = np.random.default_rng(3)
    differences = np.empty(200)
    for i in range(len(differences)):
        order = rng.permutation(len(TALK))
        a = context_signal(
            specimen, said(tuple(TALK[k] for k in order), 0.0, "a"), "octopus in the aquarium"
        )
        place = np.argsort(order)
        differences[i] = a[place[4]] - a[place[2]]
    error = differences.std(ddof=1) / math.sqrt(len(differences))
    return bool(error > 0.0 and abs(differences.mean()) < 4.0 * error)


# time, text, session, share of the context that a neighbour leaves
LOG = (
    (0.0, "the bus was late", "a", 1.0),
    (0.1, "we painted the fence", "a", 1.0),
    (0.5, "vetoed", "a", 1.0),
    (0.6, "grandma baked a cake", "a", 0.7),
    (30.0, "the aquarium had an octopus", "b", 1.0),
    (30.2, "the octopus was late", "b", 1.0),
    (31.7, "tickets were cheap", "a", 1.0),
    (31.8, "the octopus cake", "a", 0.4),
    (31.9, "my boss moved the meeting", "a", 1.0),
    (90.0, "rain all day", "c", 0.6),
    (90.1, "a bus", "c", 1.0),
)


def context_in_memory(
    specimen: Any,
    time_scale: float | None,
    beta: float,
    g: float,
    tau: float,
    rho_d: float,
    own: float,
    k: int,
) -> tuple[Any, Any]:
    """The signal at five queries, and the full model with explicit context vectors: pauses,
    sessions and neighbours act as distractors.

    One event is vetoed, one memory is archived, one query matches nothing, and a neighbour changes
    the gain of the choice.
    """
    left, gain, before = [], [1.0], ("", 0.0)

    def enter(view: Any, incoming: Any) -> None:
        view.veto, view.context_kept = (
            int(incoming.event.text == "vetoed"),
            kept[incoming.event.text],
        )

    def choose(view: Any, tick: Any) -> None:
        view.choice_gain = gain[0]

    kept = {text: share for _, text, _, share in LOG}
    memory = memory_of(
        specimen,
        Words("words", WordParams(1.0)),
        neighbour(Phase.ENCODE, enter, adds=(VETO,), sets=(CONTEXT_KEPT,)),
        neighbour(Phase.MAINTAIN, choose, sets=(CHOICE_GAIN,), id="chooser"),
        time_scale=time_scale,
        beta=beta,
        study_share=g,
        drift_time=tau,
        session_retention=rho_d,
        choice_noise=0.8,
        recalled_items=k,
        own_support=own,
    )
    for time, text, session, share in LOG:
        if encode(memory, Event(time, text, session=session, dated=False)) != [None]:
            left.append(
                math.exp(-(time - before[1]) / (tau * (time_scale or 1.0)))
                * share
                * (1.0 if session == before[0] else rho_d)
            )
            before = session, time
    left[0] = 1.0
    memory.archive(4)
    c, t = vectors(len(left), beta, np.array(left))
    measured, expected = (
        [memory.column(specimen.CONTEXT_RETENTION).tolist()],
        [[0.0, *(float(a @ b) for a, b in pairwise(t))]],
    )
    for query, gain[0] in (
        ("octopus", 1.0),
        ("bus late", 1.0),
        ("cake", 0.5),
        ("nobody", 1.0),
        ("the octopus fence meeting", 2.5),
        ("late", 0.0),
    ):
        memory.advance(memory.now + 1.0)
        memory.retrieve(query)
        match = memory.column(MATCH).astype(np.float64)
        rows = sorted(np.flatnonzero(memory.column(VISIBLE)), key=lambda row: (-match[row], row))[
            :k
        ]
        weights = [
            math.exp(2.0 * match[row] * gain[0] / 0.8)
            / sum(math.exp(2.0 * match[r] * gain[0] / 0.8) for r in rows)
            for row in rows
        ]
        cues = [brought_back(c, t, int(row), g) for row in rows]
        a = [
            sum(
                (own if row == j else 1.0) * w * (cue @ t[j])
                for row, w, cue in zip(rows, weights, cues, strict=True)
            )
            for j in range(len(left))
        ]
        measured.append(np.nan_to_num(memory.column(specimen.CONTEXT), nan=-1.0).tolist())
        expected.append(a if match.max() > 0.0 else [-1.0] * len(left))
    return np.concatenate(measured), np.concatenate(expected)


@equation(
    "TC-9",
    source=f"{HK}: explicit context vectors in numpy, choice by definition; odd numbers",
    rtol=1e-5,
    atol=1e-6,
    papers=("howard2002distributed",),
)
def in_a_memory_the_signal_is_the_match_with_retrieved_contexts(specimen: Any) -> Any:
    return context_in_memory(specimen, None, 0.55, 0.35, 20.0, 0.6, 0.3, 4)


@equation(
    "TC-9b",
    source=f"{HK}: as TC-9 with other numbers, and a context that drifts three times as slowly",
    rtol=1e-5,
    atol=1e-6,
    papers=("howard2002distributed",),
)
def at_another_time_scale_context_drifts_more_slowly(specimen: Any) -> Any:
    return context_in_memory(specimen, 3.0, BETA, 0.5, 24.0, 0.5, 1.0, 100)


@limit(
    "TC-9c",
    source=f"{HK}: of two memories the one that matches is exactly 1 sd above the mean; closed form of its retrieved context",
    rtol=1e-6,
    papers=("howard2002distributed",),
)
def any_match_above_the_mean_is_recalled(specimen: Any) -> Any:
    memory = memory_of(
        specimen,
        Words("words", WordParams(1.0)),
        beta=BETA,
        study_share=0.5,
        choice_noise=1.0,
        own_support=1.0,
    )
    encode(memory, (0.0, "an octopus"), (0.0, "rain all day"))
    memory.retrieve("octopus")
    p, length = 1.0 / (1.0 + math.exp(-4.0)), math.sqrt(0.5 + 0.5 * BETA)
    own, back = (0.5 + 0.5 * BETA) / length, 0.5 / length
    return [*memory.column(MATCH), *memory.column(specimen.CONTEXT)], [
        1.0,
        -1.0,
        own * p + back * RHO * (1.0 - p),
        own * RHO * p + own * (1.0 - p),
    ]


HEARD = (
    (0.0, "a boat", "a"),
    (0.5, "a red fence", "a"),
    (1.0, "an octopus", "b"),
    (3.0, "the cake", "a"),
    (3.5, "a tall octopus", "b"),
    (4.0, "rain", "a"),
)
USES = (
    (2.0, "a", (0,)),
    (5.0, "a", (1,)),
    (5.5, "b", (2, 4)),
    (6.0, "", (3,)),
    (7.0, "a", (4, 0)),
    (8.0, "z", (1,)),
    (9.5, "z", (5,)),
    (10.0, "b", ()),
    (11.0, "b", (3,)),
)  # hours, session of the query, rows needed: nine; the first before an event of "a"


def asked_in_session(
    specimen: Any,
    time_scale: float,
    present: float,
    beta: float,
    g: float,
    tau: float,
    source: float = 0.0,
) -> tuple[Any, Any]:
    """The signal at questions from sessions and from nowhere, after uses, and the full model
    with contexts that drift on fresh directions; the context of source is a unit vector a session.
    """
    memory = memory_of(
        specimen,
        Words("words", WordParams(1.0)),
        time_scale=time_scale,
        beta=beta,
        study_share=g,
        drift_time=tau,
        choice_noise=0.8,
        session_retention=0.6,
        recalled_items=100,
        own_support=1.0,
        present=present,
        source=source,
    )
    measured, expected, left, before = list[Any](), list[Any](), list[float](), ("", 0.0)
    n, tau, room = len(HEARD), tau * time_scale, 200
    names = sorted({session for _, _, session in HEARD} - {""})
    sources = np.array([[float(session == name) for name in names] for _, _, session in HEARD])
    for time, _, session in HEARD:
        left.append(math.exp(-(time - before[1]) / tau) * (1.0 if session == before[0] else 0.6))
        before = session, time
    left[0] = 1.0
    c, t = (np.hstack([v, np.zeros((n, room))]) for v in vectors(n, beta, np.array(left)))
    fresh, bound = iter(np.eye(2 * n + 1 + room)[2 * n + 1 :]), np.zeros((n, n))
    # context of a session, its time, weights of used memories
    now: dict[str, tuple[Vector, float, Vector]] = {}
    last_rows: dict[str, tuple[list[int], float]] = {}

    def drifted(session: str, time: float) -> tuple[Vector, Vector]:
        v, since, weights = now.get(session, (next(fresh), time, np.zeros(n)))
        kept = math.exp(-(time - since) / tau)
        return kept * v + math.sqrt(1.0 - kept**2) * next(fresh), kept * weights

    def ask(text: str, session: str) -> None:
        memory.retrieve(Query(text, session=session))
        match = memory.column(MATCH).astype(np.float64)
        weights = (
            np.exp(2.0 * match / 0.8) / np.exp(2.0 * match / 0.8).sum()
            if match.max() > 0.0
            else np.zeros(n)
        )
        a = np.array(
            [
                sum(w * (brought_back(c, t, r, g) @ t[j]) for r, w in enumerate(weights))
                for j in range(n)
            ]
        )
        scale = present * math.sqrt(1.0 - beta**2) / beta
        v, cued = (
            drifted(session, memory.now) if session in now else (np.zeros_like(t[0]), np.zeros(n))
        )
        a += scale * (t @ v) + bound @ (weights + scale * cued)
        shared = sources @ np.array([float(name == session != "") for name in names])
        a += source * shared
        unsaid = (session not in now or not present) and not (source and shared.any())
        silent = match.max() <= 0.0 and unsaid
        measured.append(np.nan_to_num(memory.column(specimen.CONTEXT), nan=-1.0).tolist())
        expected.append([-1.0] * n if silent else a.tolist())

    story: list[tuple[float, str, Any]] = [
        *((time, session, row) for row, (time, _, session) in enumerate(HEARD)),
        *USES,
    ]
    for time, session, what in sorted(story, key=lambda entry: entry[0]):
        if isinstance(what, int):
            encode(memory, Event(time, HEARD[what][1], session=session, dated=False))
            now[session] = t[what], time, np.zeros(n)
            continue
        memory.advance(time)
        rows = memory.use(memory.retrieve(Query("nobody", session=session)), what).tolist()
        if session and rows:
            v, weights = drifted(session, time)
            t_in = np.sum([brought_back(c, t, row, g) for row in rows], axis=0)
            t_in, share = t_in / np.linalg.norm(t_in), 1.0 / np.linalg.norm(t_in)
            dot = float(v @ t_in)
            rho = math.sqrt(1.0 + beta**2 * (dot**2 - 1.0)) - beta * dot
            now[session] = (
                rho * v + beta * t_in,
                time,
                rho * weights + beta * share * np.isin(np.arange(n), rows),
            )
            earlier, since = last_rows.get(session, ([], time))
            for cue in (others := [row for row in earlier if row not in rows]):
                bound[rows, cue] += (
                    beta * math.sqrt(1.0 - beta**2) * math.exp(-(time - since) / tau) / len(others)
                )
            last_rows[session] = rows, time
    for query in ("octopus", "nobody", "the red cake"):
        for session in ("a", "b", "z", "never", ""):
            ask(query, session)
    memory.advance(memory.now + 6.0)
    ask("rain", "a")
    return np.concatenate(measured), np.concatenate(expected)


@equation(
    "TC-11",
    source="Polyn, Norman & Kahana 2009: sources are orthonormal; the product of explicit vectors",
    rtol=1e-12,
    papers=("polyn2009context",),
)
def memories_of_the_source_asked_in_are_supported_alike(specimen: Any) -> Any:
    sessions = np.array([3, 0, 3, -1, 1, 3])
    basis = np.vstack([np.eye(4), np.zeros(4)])  # an event of no session has no source
    measured, expected = list[Any](), list[Any]()
    for asked in (3, 0, 2, -1):
        out = np.arange(6.0)
        specimen.add_source(sessions, asked, 0.35, out)
        measured.append(out)
        expected.append(np.arange(6.0) + 0.35 * basis[sessions] @ basis[asked])
    return measured, expected


@equation(
    "TC-10",
    source=f"{HK}: explicit context vectors in numpy, through items said and recalled, to the time of asking; contexts drift on fresh "
    "directions between; odd numbers, two sessions with events, one without, one unknown, and nowhere",
    rtol=1e-5,
    atol=1e-6,
    papers=("howard2002distributed",),
)
def a_question_is_asked_in_the_context_of_its_session(specimen: Any) -> Any:
    for case in (
        (1.0, 1.0, 0.55, 0.35, 20.0),
        (3.0, 0.4, BETA, 0.5, 5.0),
        (1.0, 0.0, BETA, 1.0, 24.0),
        (1.0, 0.7, BETA, 0.4, 24.0, 0.85),
        (1.0, 0.0, BETA, 0.4, 24.0, 0.3),
    ):
        yield asked_in_session(specimen, *case)


@limit(
    "TC-10b",
    source="definition: the eight strongest bindings are kept; a weaker new one is none",
    papers=("howard2002distributed",),
)
def a_memory_keeps_its_strongest_bindings(specimen: Any) -> Any:
    bound, binding = np.full((3, 8), -1, np.int32), np.zeros((3, 8))
    binding[0] = binding[2] = 5.0
    for cue in range(8):
        specimen.bind(1, np.array([10 + cue]), 0.5 + 0.1 * cue, bound, binding)
    specimen.bind(1, np.array([30]), 0.4, bound, binding)
    specimen.bind(1, np.array([31, 12]), 0.6, bound, binding)
    pairs = dict(zip(bound[1].tolist(), binding[1].tolist(), strict=True))
    return [
        specimen.BOUND,
        *(pairs.get(cue, 0.0) for cue in (10, 11, 12, 17, 30, 31)),
        binding[0::2].sum(),
    ], [8, 0.0, 0.6, 1.3, 1.2, 0.0, 0.6, 80.0]


@equation(
    "TC-10c",
    source=f"{HK}: contexts and retrieved contexts as explicit vectors in numpy",
    rtol=1e-12,
    papers=("howard2002distributed",),
)
def products_are_those_of_explicit_contexts(specimen: Any) -> Any:
    rng, n, measured, expected = np.random.default_rng(14), 7, list[float](), list[float]()
    for g, beta, rows, last in (
        (1.0, 0.6, [2, 0, 5], 4),
        (0.4, 0.6, [6, 1], 6),
        (0.0, 0.3, [3], 0),
        (0.7, 0.5, [1, 4, 2], -1),
        (0.5, 0.5, [], 2),
    ):
        rho = rng.uniform(0.1, np.sqrt(1.0 - beta * beta), n)
        item, fresh = np.eye(2 * n)[:n], np.eye(2 * n)[n:]
        t = np.zeros((n, 2 * n))
        for j in range(n):
            carried = rho[j] if j else 0.0
            t[j] = (
                carried * t[j - 1]
                + beta * item[j]
                + np.sqrt(1.0 - beta * beta - carried * carried) * fresh[j]
            )
        retrieved = [(v := g * t[r] + (1.0 - g) * item[r]) / np.linalg.norm(v) for r in rows]
        vectors = np.array([*retrieved, t[last] if last >= 0 else np.zeros(2 * n)])
        measured += (
            specimen.products(np.array(rows, dtype=np.int64), last, rho, g, beta).ravel().tolist()
        )
        expected += (vectors @ vectors.T).ravel().tolist()
    return measured, expected


@limit(
    "TC-10d",
    source="closed form: an orthogonal use leaves the last context sqrt(1 - beta^2); a use at that time counts, one before it does not",
    rtol=1e-12,
    papers=("howard2002distributed",),
)
def uses_before_the_last_event_do_not_count(specimen: Any) -> Any:
    measured = [
        specimen.present(np.array([time]), np.array([0]), np.eye(2), 1.0, 1.0, BETA, np.inf)
        for time in (1.0, 1.5, 0.5)
    ]
    kept = [BETA, np.sqrt(1.0 - BETA * BETA)]
    return np.array(measured), np.array([kept, kept, [0.0, 1.0]])


# --- figures --------------------------------------------------------------------------------------
@figure(
    "lag_crp",
    caption="Probability of the next recalled item over its lag: highest for neighbours, and higher forward than backward",
    source=f"{HK}, 12 items, g = 0.5: values of the model; Kahana 1996: forward about twice backward",
)
def transitions_over_lag(specimen: Any) -> Picture:
    lags, others = np.arange(-5, 6), np.delete(np.arange(12), 6)
    support = supported(specimen, 6, np.full(12, specimen.retention(BETA, 0.0)), g=0.5)

    def course(tau: float) -> Vector:
        return np.insert(np.asarray(specimen.choice(support, others, tau)), 6, np.nan)[1:]

    return Picture("lag", "probability of the transition", (
        Curve("tau = 0.3", lags, course(0.3)), Curve("tau = 0.5", lags, course(0.5)),
        dots("model, tau = 0.3", [-3, -2, -1, 1, 2, 3], [0.0268, 0.0433, 0.0785, 0.4698, 0.1809,
        0.0843])))  # fmt: skip


@figure(
    "distractors",
    caption="Similarity of contexts over lag, without and with distractors between the items: lower with distractors, and "
    "always highest for neighbours",
    source=f"{HK}, distractors between items: rho rho_D at lag 1",
)
def likeness_of_contexts_over_lag(specimen: Any) -> Picture:
    lags, left = np.arange(-4, 5), (1.0, 0.8, 0.5)
    likeness = [
        supported(specimen, 4, np.full(9, specimen.carried(RHO, 0.0, 24.0, d)), g=1.0, own=1.0)
        for d in left
    ]
    return Picture(
        "lag",
        "similarity of the contexts",
        (
            *(
                Curve(f"{d:.0%} of the context kept", lags, a)
                for d, a in zip(left, likeness, strict=True)
            ),
            dots("closed form, lag 1", [1, 1, 1], [0.8, 0.64, 0.4]),
        ),
    )


# --- mutants --------------------------------------------------------------------------------------
def both_ways_alike(
    rows: Any, probability: Any, rho: Any, g: float, beta: float, own: float, out: Any
) -> None:
    for j in range(len(rho)):
        out[j] = sum(
            p * np.prod(rho[min(j, r) + 1 : max(j, r) + 1])
            for r, p in zip(rows, probability, strict=True)
            if r != j
        )


@mutant("symmetric neighbours: no item context", rejected_by="TC-4")
def symmetric(specimen: Any) -> Any:
    return specimen.replacing("support", both_ways_alike)


@rival("nearness alone: as often backward as forward", rejected_by="TC-7")
def by_distance(specimen: Any) -> Any:
    original = specimen.support

    def support(rows: Any, q: Any, rho: Any, g: float, beta: float, own: float, out: Any) -> None:
        original(rows, q, rho, 1.0, beta, own, out)

    return specimen.replacing("support", support)


@rival("a constant: every item is as likely as any other", rejected_by="TC-7")
def any_item(specimen: Any) -> Any:
    return specimen.replacing("choice", lambda a, rows, tau: np.full(len(rows), 1.0 / len(rows)))


@mutant("a third of the share of study contexts", rejected_by="TC-7")
def forward_by_items(specimen: Any) -> Any:
    return with_numbers(specimen, study_share=0.5 / 3.0)


@mutant("a third of the drift", rejected_by="TC-7")
def slow_drift(specimen: Any) -> Any:
    return with_numbers(specimen, beta=0.2)


@mutant("context without normalisation", rejected_by="TC-1b")
def leaky_sum(specimen: Any) -> Any:
    return specimen.replacing(
        "drift", lambda t, t_in, beta, out: np.add((1.0 - beta) * t, beta * t_in, out=out)
    )


@mutant("retention 1 - beta", rejected_by="TC-1a")
def linear_retention(specimen: Any) -> Any:
    return specimen.replacing("retention", lambda beta, dot: 1.0 - beta)


@mutant("retention without the overlap", rejected_by="TC-1b")
def blind_to_overlap(specimen: Any) -> Any:
    return specimen.replacing("retention", lambda beta, dot: math.sqrt(1.0 - beta * beta))


@mutant("recency only: no context is retrieved", rejected_by="TC-3")
def recency_only(specimen: Any) -> Any:
    def recency(
        rows: Any, probability: Any, rho: Any, g: float, beta: float, own: float, out: Any
    ) -> None:
        out[:] = np.append(np.cumprod(rho[:0:-1])[::-1], 1.0)

    return specimen.replacing("support", recency)


@mutant("linear choice", rejected_by="TC-5")
def linear_choice(specimen: Any) -> Any:
    return specimen.replacing(
        "choice", lambda strength, rows, tau: strength[rows] / strength[rows].sum()
    )


@mutant("a pause that erases the context", rejected_by="TC-6a")
def wiped(specimen: Any) -> Any:
    return specimen.replacing("carried", lambda rho, gap, tau, kept: rho if kept == 1.0 else 0.0)


@mutant("reversed time: support for earlier items", rejected_by="TC-8b")
def reversed_time(specimen: Any) -> Any:
    def backwards(
        rows: Any, probability: Any, rho: Any, g: float, beta: float, own: float, out: Any
    ) -> None:
        n = len(rho)
        specimen.support(
            n - 1 - rows[::-1],
            np.ascontiguousarray(probability[::-1]),
            np.append(0.0, rho[:0:-1]),
            g,
            beta,
            own,
            out,
        )
        out[:] = out[::-1].copy()

    return specimen.replacing("support", backwards)


@mutant("drift ignores the time scale", rejected_by="TC-9b")
def unscaled(specimen: Any) -> Any:
    return without_scale(specimen, "TemporalContext")


@mutant("archived memories are recalled", rejected_by="TC-9")
def hidden_lend(specimen: Any) -> Any:
    return specimen.replacing(
        "best", lambda match, visible, k: specimen.best(match, np.ones_like(visible), k)
    )


@mutant("uses do not change the context of a session", rejected_by="TC-10")
def unused(specimen: Any) -> Any:
    return specimen.replacing(
        "present",
        lambda times, numbers, *rest: (
            specimen.present(times, np.full(len(numbers), 9), *rest)
            if not len(times)
            else np.append(np.zeros(len(times)), 1.0)
        ),
    )


@mutant("the context at a use is as if it were orthogonal", rejected_by="TC-10")
def orthogonal_uses(specimen: Any) -> Any:
    return specimen.replacing("products", lambda rows, *rest: np.eye(len(rows) + 1))


@mutant("memories are bound to those used after them", rejected_by="TC-10")
def bound_backwards(specimen: Any) -> Any:
    def bind(row: int, cues: Any, strength: float, bound: Any, binding: Any) -> None:
        for cue in cues.tolist():
            specimen.bind(cue, np.array([row]), strength, bound, binding)

    return specimen.replacing("bind", bind)


@mutant("used memories do not cue by their bindings", rejected_by="TC-10")
def unbound(specimen: Any) -> Any:
    return specimen.replacing("add_bound", lambda cue, bound, binding, out: None)


@mutant("a source of no session is a source, too", rejected_by="TC-11")
def nowhere_is_somewhere(specimen: Any) -> Any:
    def add_source(source: Any, of: int, scale: float, out: Any) -> None:
        out[source == of] += scale

    return specimen.replacing("add_source", add_source)


@mutant("source counts only where something matches", rejected_by="TC-10")
def source_beside_matches(specimen: Any) -> Any:
    def add_source(source: Any, of: int, scale: float, out: Any) -> None:
        if out.any():
            specimen.add_source(source, of, scale, out)

    return specimen.replacing("add_source", add_source)


@mutant("other sources are supported", rejected_by="TC-11")
def other_sources(specimen: Any) -> Any:
    def add_source(source: Any, of: int, scale: float, out: Any) -> None:
        out[(source != of) & (source >= 0)] += scale

    return specimen.replacing("add_source", add_source)
