"""Evidence for retrieval_competition.  References are fixed points by hand, eigenmodes of the
linear system, and the contrast in numpy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engine.contract.columns import Facet, Phase, signal
from ...engine.contract.hooks import hook
from ...engine.contract.records import Event, Query
from ...engine.contract.vocabulary import (
    BAN,
    FUSED,
    LOG_PRIOR,
    LOG_STRENGTH,
    NOW,
    REACH,
    RERANKED,
    REWEIGHTED,
    TEXTS,
    VISIBLE,
)
from ..checks import adaptation, at_least, at_most, between, equation, limit, mutant, signature
from ..figures import Curve, Picture, dots, figure
from ..memory import encode, memory_of, neighbour, numbers_of
from ..paper_numbers import paper_number
from .shared.views import Instead

LEAK, INHIBITION = 0.2, 0.1
NUMBERS = (
    paper_number(
        "leak",
        LEAK,
        "1",
        paper="usher2001time",
        where="k, of the order of its fits; the value was not confirmed",
    ),
    paper_number(
        "inhibition",
        INHIBITION,
        "1",
        paper="usher2001time",
        where="beta, of the order of its fits; the value was not confirmed",
    ),
)
DRIVE = np.array([1.0, 0.9])
STEP = 0.05
# % recalled of categories not practised; Anderson, Bjork & Bjork 1994, Experiment 1, from memory
NRP = 48.5
AMPLITUDE, GAIN, RATE = numbers_of(
    "retrieval_competition", "amplitude", "gain", "learning_rate"
).values()


def settled(
    specimen: Any, drive: Any, leak: float, inhibition: float, time: float, noise: Any = None
) -> NDArray[np.float64]:
    """The specimen's activations after a time in units of tau."""
    drive = np.asarray(drive, dtype=np.float64)
    x = np.zeros(len(drive))
    specimen.settle(
        drive,
        leak,
        inhibition,
        STEP,
        round(time / STEP),
        np.empty((0, len(drive))) if noise is None else noise,
        x,
    )
    return x


def learnt(specimen: Any, cue: Any, target: Any, trace: Any = None) -> NDArray[np.float64]:
    """The specimen's change over one cycle, before the learning rate."""
    cue, target = np.asarray(cue, dtype=np.float64), np.asarray(target)
    drive, out = cue * np.exp(0.0 if trace is None else trace), np.empty(len(cue))
    specimen.contrast(
        cue,
        drive,
        target,
        specimen.normal_inhibition(drive, int(target.sum())),
        AMPLITUDE,
        GAIN,
        out,
    )
    return out


def practised(specimen: Any, competitor: float, rounds: int = 3) -> tuple[float, float, float]:
    """Rp+, Rp- and Nrp in %: three of six exemplars retrieved by category and stem, each
    `rounds` times; the trace adds to the log odds of recall.
    """
    trace = np.zeros(12)
    for _ in range(rounds):
        for item in range(3):
            cue = np.repeat([competitor, 0.0], 6)
            cue[item] = 1.0
            trace += RATE * learnt(specimen, cue, np.arange(12) == item, trace)
    p = 100.0 / (1.0 + (100.0 / NRP - 1.0) * np.exp(-trace))
    return float(p[:3].mean()), float(p[3:6].mean()), float(p[6:].mean())


# --- competition ----------------------------------------------------------------------------------
@equation(
    "CM-15.1",
    source="I = (1, .9), k = .2, b = .1: sum 1.9 / .3, difference .1 / .1",
    atol=1e-9,
    figure="accumulators",
    papers=("usher2001time",),
)
def weak_inhibition_lets_both_stay_active(specimen: Any) -> Any:
    x = settled(specimen, DRIVE, 0.2, 0.1, 400.0)
    return [*x, x.sum(), x[0] - x[1]], [11 / 3, 8 / 3, 19 / 3, 1.0]


@equation(
    "CM-15.1b",
    source="eigenmodes of the linear system: sum and difference relax by 1 - (k + b) h and 1 - (k - b) h per step",
    atol=1e-9,
    papers=("usher2001time",),
)
def sum_and_difference_relax_each_at_its_rate(specimen: Any) -> Any:
    steps = np.array([10, 100, 400])
    x = np.array([settled(specimen, DRIVE, 0.2, 0.1, n * STEP) for n in steps])
    modes = [1.9 / 0.3 * (1 - (1 - 0.3 * STEP) ** steps), 1.0 * (1 - (1 - 0.1 * STEP) ** steps)]
    return np.concatenate([x.sum(axis=1), x[:, 0] - x[:, 1]]), np.concatenate(modes)


@equation(
    "CM-15.1c",
    source="numpy.linalg.solve of [(k - b) 1 + b J] x = I, where all are active",
    atol=1e-7,
    papers=("usher2001time",),
)
def many_accumulators_solve_the_linear_system(specimen: Any) -> Any:
    drive = np.array([1.0, 0.98, 0.95, 0.92, 0.9])
    return settled(specimen, drive, 0.5, 0.1, 200.0), np.linalg.solve(
        0.4 * np.eye(5) + 0.1 * np.ones((5, 5)), drive
    )


@signature(
    "CM-15.2",
    source="k = .2, b = .4: the winner takes all, I / k",
    atol=1e-6,
    figure="accumulators",
    papers=("usher2001time",),
)
def strong_inhibition_lets_the_winner_take_all(specimen: Any) -> Any:
    return settled(specimen, DRIVE, 0.2, 0.4, 400.0), [5.0, 0.0]


@equation(
    "CM-15.3",
    source="k = b: the difference is integrated without leak, .1 t until the loser is silent at t = 47.5",
    atol=1e-9,
    papers=("usher2001time",),
)
def balanced_inhibition_integrates_the_difference(specimen: Any) -> Any:
    times = (5.0, 20.0, 40.0)
    return [float(np.subtract(*settled(specimen, DRIVE, 0.2, 0.2, t))) for t in times], [
        0.1 * t for t in times
    ]


@limit("CM-15.3b", source="b = 0: independent units, I / k", atol=1e-9, papers=("usher2001time",))
def without_inhibition_each_settles_alone(specimen: Any) -> Any:
    return settled(specimen, DRIVE, 0.2, 0.0, 400.0), DRIVE / 0.2


@equation("CM-15.3c", source="x >= 0 at every step, with noise of sd 1", papers=("usher2001time",))
def activations_are_never_negative(specimen: Any) -> Any:
    rng = np.random.default_rng(1)
    return at_least(
        [
            settled(specimen, DRIVE, 0.2, 0.4, n * STEP, rng.standard_normal((n, 2))).min()
            for n in range(1, 60)
        ],
        0.0,
    )


@equation(
    "CM-15.3d",
    source="variance of the sum without leak: 2 dt / tau per step; 4 standard errors of 4000 runs",
    papers=("usher2001time",),
)
def noise_grows_with_the_root_of_time(specimen: Any) -> Any:
    rng = np.random.default_rng(2)
    ends = []
    for _ in range(4000):
        x = np.full(2, 50.0)
        specimen.settle(np.zeros(2), 0.0, 0.0, STEP, 20, rng.standard_normal((20, 2)), x)
        ends.append(x.sum() - 100.0)
    return between(
        float(np.var(ends)) / (2 * 20 * STEP), 1 - 4 * np.sqrt(2 / 4000), 1 + 4 * np.sqrt(2 / 4000)
    )


@equation(
    "CM-15.3e",
    source="the definition, step by step in numpy, with noise in the first steps only",
    papers=("usher2001time",),
)
def noise_is_added_to_each_unit_at_each_step(specimen: Any) -> Any:
    rng, x, expected = (
        np.random.default_rng(4),
        np.array([0.4, 0.1, 0.6]),
        np.array([0.4, 0.1, 0.6]),
    )
    drive, noise = np.array([1.0, 0.8, 0.3]), rng.standard_normal((5, 3))
    specimen.settle(drive, 0.3, 0.2, STEP, 8, noise, x)
    for t in range(8):
        jump = noise[t] * np.sqrt(STEP) if t < 5 else 0.0
        expected = np.maximum(
            0.0,
            expected + (drive - 0.3 * expected - 0.2 * (expected.sum() - expected)) * STEP + jump,
        )
    return x, expected


@adaptation(
    "CM-15.3f",
    source="ours: activations of active units; net input, at most 0, of the others; by hand",
)
def losers_are_ordered_by_their_net_input(specimen: Any) -> Any:
    out = np.empty(4)
    specimen.standing(np.array([1.0, 0.9, 0.2, 3.0]), np.array([2.0, 0.5, 0.0, 0.0]), 0.4, out)
    return out, [2.0, 0.5, -0.8, 0.0]


# --- learning -------------------------------------------------------------------------------------
@equation(
    "CM-15.5a",
    source="X (Y+ - Y-) at the low and at the high level, in numpy, in the middle of a random pool",
    papers=("norman2007neural",),
)
def change_is_the_contrast_of_two_half_cycles(specimen: Any) -> Any:
    cue = np.random.default_rng(3).permutation(np.linspace(0.0, 1.0, 15))
    order = np.argsort(-cue)
    target = np.isin(np.arange(15), order[:3])
    inhibition = (cue[order[2]] + cue[order[3]]) / 2
    low, high = (
        np.clip(GAIN * (cue - inhibition + swing), 0, 1) for swing in (AMPLITUDE, -AMPLITUDE)
    )
    return learnt(specimen, cue, target), cue * np.where(target, 1 - high, -low)


@equation(
    "CM-15.5b",
    source="k winners take all: between the k-th and the next drive, 0 below the last; by hand",
    papers=("norman2007neural",),
)
def normal_inhibition_lies_between_winners_and_losers(specimen: Any) -> Any:
    drive = np.array([0.5, 1.0, 0.2])
    return [specimen.normal_inhibition(drive, k) for k in (1, 2, 3)], [0.75, 0.35, 0.1]


@adaptation(
    "CM-15.5c",
    source="ours: exp(-age / recovery) of each trace, added; scores of the pool scaled to 0..1; by hand",
)
def traces_fade_and_scores_are_scaled(specimen: Any) -> Any:
    out, scaled, flat = np.full(3, 0.5), np.empty(3), np.empty(2)
    specimen.add_traces(10.0, np.array([1.0, -0.5, 0.0]), np.array([4.0, 10.0, 0.0]), 6.0, out)
    specimen.spread_out(np.array([9.0, 2.0, 9.0, 4.0, 9.0, 3.0]), np.array([5, 3, 1]), scaled)
    specimen.spread_out(np.array([2.0, 2.0]), np.array([1, 0]), flat)
    return [*out, *scaled, *flat], [0.5 + np.exp(-1.0), 0.0, 0.5, 0.5, 1.0, 0.0, 0.0, 0.0]


@signature(
    "CM-15.5",
    source="Norman et al. 2007: within one cycle, an unrelated memory changes by < 10% of either",
    papers=("norman2007neural",),
)
def the_target_rises_and_a_strong_competitor_falls(specimen: Any) -> Any:
    target, competitor, unrelated = learnt(specimen, [1.0, 0.6, 0.05], [True, False, False])
    return bool(target > 0.0 > competitor and abs(unrelated) < 0.1 * min(target, -competitor))


@signature(
    "CM-15.4",
    source="Anderson, Bjork & Bjork 1994: Rp- < Nrp < Rp+, and Nrp - Rp- of 3 to 20 points",
    figure="retrieval_induced_forgetting",
    papers=("anderson1994remembering",),
)
def practice_raises_recall_of_practised_items_and_lowers_that_of_competitors(specimen: Any) -> Any:
    plus, minus, untouched = practised(specimen, 0.45)
    return between([untouched - minus, 3.0 + max(0.0, untouched - plus)], 3.0, 20.0)


@signature(
    "CM-15.4b",
    source="Anderson, Bjork & Bjork 1994: impaired high-frequency exemplars, little for low",
    papers=("anderson1994remembering",),
)
def strong_competitors_are_impaired_more_than_weak_ones(specimen: Any) -> Any:
    (_, strong, nrp), (_, weak, _) = practised(specimen, 0.45), practised(specimen, 0.15)
    return at_least([(nrp - strong) - 3.0 * (nrp - weak), nrp - strong], 1.0)


@limit(
    "CM-15.4c",
    source="a fixed point: a competitor that no longer becomes active does not change",
    papers=("norman2007neural",),
)
def suppression_ends_when_the_competitor_no_longer_becomes_active(specimen: Any) -> Any:
    trace, cue, target = np.zeros(2), [1.0, 0.6], [True, False]
    for _ in range(400):
        trace = trace + RATE * learnt(specimen, cue, target, trace)
    return at_most(np.abs(learnt(specimen, cue, target, trace)), 1e-6)


# --- through the engine ---------------------------------------------------------------------------
FRUIT = ("orange", "banana", "grape", "lemon", "cherry", "plum")
DRINK = ("whisky", "vodka", "brandy", "sherry", "cognac", "rum")


def studied(specimen: Any) -> Any:
    memory = memory_of(
        specimen,
        "lexical_bm25",
        steps=600,
        pool=50,
        learning_rate=RATE,
        amplitude=AMPLITUDE,
        gain=GAIN,
        recovery=24.0,
    )
    memory.encode_all(
        Event(0.0, f"{kind} {name}")
        for kind, names in (("fruit", FRUIT), ("drink", DRINK), ("note", range(50)))
        for name in names
    )
    return memory


def strengths(memory: Any) -> NDArray[np.float64]:
    # the test is twenty minutes later
    memory.advance(memory.now + 1 / 3)
    return np.array(memory.column(LOG_STRENGTH))


@adaptation(
    "CM-15.4d",
    source="as CM-15.4, in an engine: three fruits retrieved three times each by category and name",
    needs="engine",
)
def retrieval_in_the_engine_impairs_the_other_fruits_and_no_drink(specimen: Any) -> Any:
    memory = studied(specimen)
    for name in FRUIT[:3] * 3:
        memory.retrieve(Query(f"fruit {name}"), k=1, learn=True)
    p = 100.0 / (1.0 + (100.0 / NRP - 1.0) * np.exp(-strengths(memory)))
    return bool(
        p[:3].min() > NRP + 3.0 and p[3:6].max() < NRP - 3.0 and np.abs(p[6:] - NRP).max() < 0.1
    )


@adaptation(
    "CM-15.4e", source="retrieval specificity: the same practice as restudy", needs="engine"
)
def restudy_impairs_no_memory(specimen: Any) -> Any:
    memory = studied(specimen)
    memory.encode_all(Event(0.0, f"fruit {name}") for name in FRUIT[:3] * 3)
    return np.abs(strengths(memory)), np.zeros(memory.store.n)


@adaptation("CM-15.4f", source="exp(-24 h / 24 h)", atol=1e-12, needs="engine")
def suppression_decays_with_time(specimen: Any) -> Any:
    memory = studied(specimen)
    memory.retrieve(Query("fruit orange"), k=1, learn=True)
    soon = strengths(memory)
    memory.advance(memory.now + 24.0 - 1 / 3)
    return strengths(memory), soon * np.exp(-1.0)


GIVEN_MATCH = signal("given_match", Facet.MEANING, "given scores")
SCORES = np.array(
    [
        [0.9, 0.8, 0.1, 0.85, 0.3, 0.75, 0.5, 0.2, 0.95],
        [0.2, 0.9, 0.6, 0.7, 0.88, 0.1, 0.3, 0.5, 0.8],
        [0.875, 0.75, 0.125, 0.5, 0.25, 0.625, 0.5, 0.375, 0.95],
        [*[0.5] * 8, 0.9],
    ]
)  # the third has its mean among the visible ones
HIDDEN = 8  # the archived memory
SEEN = np.arange(9) != HIDDEN
# words of "event i" that "the events 3 5" says
SAID = np.where(np.isin(np.arange(9), (3, 5)), 1.0, 0.5)


def standardised(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """MATCH of a single signal: hidden memories on the scale of the visible ones."""
    sd = scores[SEEN].std()
    return (scores - scores[SEEN].mean()) / sd if sd else np.zeros(len(scores))


class Race:
    """Competition and learning over plain arrays: the equations step by step, traces with the
    time of their last change.
    """

    def __init__(self, **values: float) -> None:
        self.v, self.trace, self.changed = values, np.zeros(9), np.zeros(9)

    def left(self, now: float) -> NDArray[np.float64]:
        return np.asarray(self.trace * np.exp(-(now - self.changed) / self.v["recovery"]))

    def pool(
        self, scores: NDArray[np.float64], may: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        rows = np.array(
            [i for i in np.argsort(-scores, kind="stable") if may[i]][: int(self.v["pool"])]
        )
        spread = np.ptp(scores[rows])
        return rows, (scores[rows] - scores[rows].min()) / spread if spread else np.zeros(len(rows))

    def final(
        self,
        scores: NDArray[np.float64],
        now: float,
        said: NDArray[np.float64],
        may: NDArray[np.bool_] = SEEN,
    ) -> NDArray[np.float64]:
        """The scores, with those of the pool replaced by the outcome of the race in their range;
        `said`: share of each memory's words in the cue; `may`: what may be answered."""
        v, (rows, scaled), out = self.v, self.pool(scores, may), scores.copy()
        w, x = np.exp(self.left(now)[rows]), np.zeros(len(rows))
        drive = np.where(
            w > 1.0, w * scaled / (w * scaled + 1.0 - scaled), scaled * (w + said[rows] * (1.0 - w))
        )
        for _ in range(int(v["steps"])):
            x = np.maximum(
                0.0, x + v["step"] * (drive - v["leak"] * x - v["inhibition"] * (x.sum() - x))
            )
        order = np.where(x > 0.0, x, np.minimum(0.0, drive - v["inhibition"] * x.sum()))
        if np.ptp(order):
            out[rows] = out[rows].min() + np.ptp(out[rows]) * (order - order.min()) / np.ptp(order)
        return out

    def learn(
        self,
        scores: NDArray[np.float64],
        answered: list[int],
        now: float,
        may: NDArray[np.bool_] = SEEN,
    ) -> None:
        v, (rows, cue) = self.v, self.pool(scores, may)
        left = self.left(now)
        drive, target = cue * np.exp(left[rows]), np.isin(rows, answered)
        if not target.any():
            return
        ordered = np.append(np.sort(drive)[::-1], 0.0)
        normal = (ordered[target.sum() - 1] + ordered[target.sum()]) / 2.0
        low, high = (
            np.clip(v["gain"] * (drive - normal + swing), 0.0, 1.0)
            for swing in (v["amplitude"], -v["amplitude"])
        )
        change = cue * np.where(target, 1.0 - high, -low)
        moved = rows[change != 0.0]
        self.trace[moved] = left[moved] + v["learning_rate"] * change[change != 0.0]
        self.changed[moved] = now


@equation(
    "CM-15.6",
    source="Usher & McClelland 2001, step by step; Norman et al. 2007, contrast at two levels; traces exp(-age / recovery)",
    rtol=1e-6,
    atol=1e-6,
    papers=("usher2001time", "norman2007neural"),
)
def a_memory_lets_its_candidates_compete_and_learns_from_recall(specimen: Any) -> Any:
    measured, expected = [], []
    cases: tuple[tuple[float, float, float, dict[str, Any]], ...] = (
        (LEAK, INHIBITION, 1.0, {}),
        (0.3, 0.6, 1.0, {"learning_rate": 0.9, "amplitude": 0.35, "gain": 3.0}),
        (2.0, 0.3, 1.0, {"pool": 3}),
        (LEAK, 0.2, 2.0, {"learning_rate": 0.3, "gain": 1.5}),
        (LEAK, 0.3, 1.0, {"learning_rate": 5.0, "pool": 2}),
    )
    for leak, inhibition, time_scale, other in cases:
        values: dict[str, Any] = {
            "step": 0.05, "steps": 300, "pool": 6, "learning_rate": 0.5, "amplitude": 0.5,
            "gain": 2.0, "recovery": 10.0, **other}  # fmt: skip
        if (leak, inhibition) != (LEAK, INHIBITION):
            values |= {"leak": leak, "inhibition": inhibition}
        race, current, upside_down = (
            Race(
                **{**values, "leak": leak, "inhibition": inhibition, "recovery": 10.0 * time_scale}
            ),
            [SCORES[0]],
            [False],
        )

        def given(view: Any, _: Any, now: Any = current) -> None:
            view.given_match[...] = now[0]

        def turn(view: Any, _: Any, now: Any = upside_down) -> None:
            if now[0]:
                view.reranked[...] = -view.reranked

        drive = neighbour(Phase.RETRIEVE, given, sets=(GIVEN_MATCH,), owns=(GIVEN_MATCH,))
        memory = memory_of(
            specimen,
            drive,
            neighbour(Phase.RETRIEVE, turn, sets=(RERANKED,), id="turn"),
            time_scale=time_scale,
            **values,
        )
        encode(memory, *((0.0, f"event {i}") for i in range(9)))
        memory.assembly.show(HIDDEN, False)
        for step, (story, k) in enumerate(
            ((0, 1), (0, 2), (1, 2), (2, 1), (3, 1), (2, 2), (2, 6), (0, 1))
        ):
            scores, learn, now = SCORES[story], step != 3, 3.0 * step
            # the last answer is the worst memory, outside the pool
            current[0], upside_down[0] = scores, step == 7
            memory.advance(now)
            text = "the events 3 5" if step in (2, 3, 5) else "event"
            answered = memory.retrieve(text, k=k, learn=learn).rows.tolist()
            measured += memory.column(REWEIGHTED).tolist()
            expected += race.final(
                standardised(scores), now, SAID if "3 5" in text else np.full(9, 0.5)
            ).tolist()
            if learn:
                race.learn(scores, answered, now)
            measured += [
                *memory.column(specimen.COMPETITION_TRACE),
                *memory.column(specimen.COMPETITION_TIME),
            ]
            expected += [*race.trace, *race.changed]
        memory.advance(30.0)
        measured += memory.column(LOG_STRENGTH).tolist()
        expected += race.left(30.0).tolist()
    return measured, expected


@adaptation(
    "CM-15.7",
    source="ours: as CM-15.6 on the score after priors, among memories that may be answered; learning by the match alone",
    rtol=1e-6,
    atol=1e-6,
)
def what_may_be_answered_competes_after_priors(specimen: Any) -> Any:
    values: dict[str, Any] = {"step": 0.05, "steps": 300, "pool": 5, "learning_rate": 0.7,
                              "amplitude": 0.4, "gain": 2.5, "recovery": 8.0}  # fmt: skip
    race, current = Race(**values, leak=LEAK, inhibition=INHIBITION), [SCORES[0]]
    prior = np.log(np.array([0.5, 1.0, 1.3, 0.9, 3.0, 1.0, 0.2, 2.0, 0.8]))
    ban = np.arange(9) == 5
    measured, expected = [], []

    def given(view: Any, _: Any) -> None:
        view.given_match[...] = current[0]

    def weigh(view: Any, _: Any) -> None:
        view.log_prior[...] += prior

    def vote(view: Any, _: Any) -> None:
        view.ban[...] += ban
        # the archived memory may be answered except in the third story
        view.reach[...] += ~SEEN & (not np.array_equal(current[0], SCORES[2]))

    memory = memory_of(
        specimen,
        neighbour(Phase.RETRIEVE, given, sets=(GIVEN_MATCH,), owns=(GIVEN_MATCH,)),
        neighbour(Phase.RETRIEVE, weigh, adds=(LOG_PRIOR,), id="weigh"),
        neighbour(Phase.RETRIEVE, vote, adds=(BAN, REACH), id="vote"),
        **values,
    )
    encode(memory, *((0.0, f"event {i}") for i in range(9)))
    memory.assembly.show(HIDDEN, False)
    for step, (story, k) in enumerate(((0, 1), (0, 2), (1, 2), (2, 3), (1, 1), (0, 1))):
        scores, now, may = SCORES[story], 2.0 * step, ~ban & (SEEN | (story != 2))
        current[0] = scores
        memory.advance(now)
        answered = memory.retrieve("event", k=k, learn=True).rows.tolist()
        low, high = scores[SEEN].min(), scores[SEEN].max()
        measured += memory.column(REWEIGHTED).tolist()
        expected += race.final(
            np.maximum((scores - low) / (high - low), 0.0) * np.exp(prior),
            now,
            np.full(9, 0.5),
            may,
        ).tolist()
        race.learn(scores, answered, now, may)
        measured += memory.column(specimen.COMPETITION_TRACE).tolist()
        expected += race.trace.tolist()
    return measured, expected


@adaptation(
    "CM-15.8",
    source="ours: input from outside a g, completed a (1 - g) w; strengthened, the odds of full activity times w; by hand",
)
def learning_scales_what_the_cue_does_not_give(specimen: Any) -> Any:
    out, full = np.empty(6), np.empty(3)
    active, given = (
        np.array([0.8, 0.8, 0.8, 0.6, 1.0, 0.5]),
        np.array([0.0, 0.25, 1.0, 0.5, 0.5, 1.0]),
    )
    specimen.driven(active, given, np.log([0.5, 0.5, 0.5, 1.0, 4.0, 4.0]), out)
    specimen.driven(
        np.array([1.0, 0.999, 0.999]), np.array([1.0, 0.0, 1.0]), np.array([-30.0, 30.0, 0.0]), full
    )
    said = specimen.given(
        ["We saw the grey boats", "A boat", "so what", "Boats sink"],
        np.array([0, 1, 2, 3]),
        ["boat", "ada"],
    )
    return [*out, full[0], full[2], *said], [0.4, 0.5, 0.8, 0.6, 1.0, 0.8, 1.0, 0.999, 1 / 3, 1.0,
                                             0.0, 0.5]  # fmt: skip


ANIMALS, ROOMS = ("cat", "dog", "hen", "ox"), ("attic", "barn", "cellar", "dairy")


@signature(
    "CM-15.8b",
    source="Norman et al. 2007: a cue that gives the whole memory finds it, however weak it became; ours, in an engine",
    papers=("norman2007neural",),
)
def a_whole_cue_finds_a_suppressed_memory(specimen: Any) -> Any:
    memory = memory_of(specimen, "lexical_bm25", "dense_similarity")
    texts = [f"the {animal} slept in the {room}" for room in ROOMS for animal in ANIMALS]
    memory.encode_all(Event(0.0, text, "Gwendolyn") for text in texts)
    # one memory of each room is needed again and again
    for row in (0, 5, 10, 15) * 12:
        memory.use(memory.retrieve(f"Who slept in the {ROOMS[row // 4]}?", k=4), [row])
    memory.advance(1.0)
    weak = memory.column(specimen.COMPETITION_TRACE) < -0.3
    first = [int(memory.retrieve(text, k=1).rows[0]) for text in texts]
    asked = [int(memory.retrieve(f"Who slept in the {room}?", k=1).rows[0]) for room in ROOMS]
    return [int(weak.sum() >= 4), *first, *asked], [1, *range(16), 0, 5, 10, 15]


@limit(
    "CM-15.6b",
    source="definition: without a rival there is no competition",
    papers=("usher2001time",),
)
def one_memory_or_none_does_not_compete(specimen: Any) -> Any:
    memory, measured = memory_of(specimen, "lexical_bm25"), []
    encode(memory, (0.0, "a boat"), (1.0, "a red boat"))
    for row in (0, 1):
        memory.assembly.show(row, False)
        measured += [*(memory.retrieve("boat", learn=True).final - memory.column(FUSED))]
    return measured, [0.0] * 4


# --- figures --------------------------------------------------------------------------------------
@figure(
    "accumulators",
    caption="Two accumulators, one driven a little more: with weak inhibition both stay active, with strong inhibition the "
    "winner suppresses the other",
    source="Usher & McClelland 2001; fixed points by hand, I = (1, 0.9), k = 0.2",
)
def traces_of_the_race(specimen: Any) -> Picture:
    time = np.arange(0.0, 81.0, 1.0)
    weak, strong = (
        np.array([settled(specimen, DRIVE, 0.2, b, float(t)) for t in time]) for b in (0.1, 0.4)
    )
    return Picture(
        "time, tau",
        "activation",
        (
            Curve("stronger, b = 0.1", time, weak[:, 0]),
            Curve("weaker, b = 0.1", time, weak[:, 1]),
            Curve("stronger, b = 0.4", time, strong[:, 0]),
            Curve("weaker, b = 0.4", time, strong[:, 1]),
            dots("fixed points", [80.0] * 4, [11 / 3, 8 / 3, 5.0, 0.0]),
        ),
    )


@figure(
    "retrieval_induced_forgetting",
    caption="Recall after practice: it rises for the practised items and falls for their competitors below "
    "that of categories not practised, by less than published",
    source="Anderson, Bjork & Bjork 1994, Experiment 1, from memory",
)
def recall_over_practice(specimen: Any) -> Picture:
    rounds = np.arange(7)
    recall = np.array([practised(specimen, 0.45, int(r)) for r in rounds])
    return Picture(
        "retrievals of each practised item",
        "recalled, %",
        (
            Curve("practised, Rp+", rounds, recall[:, 0]),
            Curve("not practised, Nrp", rounds, recall[:, 2]),
            Curve("their competitors, Rp-", rounds, recall[:, 1]),
            dots("published", [3, 3, 3], [73.6, NRP, 37.5]),
        ),
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("each unit inhibits itself, too", rejected_by="CM-15.1")
def self_inhibition(specimen: Any) -> Any:
    settle = specimen.settle
    return specimen.replacing("settle", lambda drive, k, b, *rest: settle(drive, k + b, b, *rest))


@mutant("activations may be negative", rejected_by="CM-15.2")
def unrectified(specimen: Any) -> Any:
    def settle(drive: Any, k: float, b: float, step: float, steps: int, noise: Any, x: Any) -> None:
        for t in range(steps):
            x += (drive - k * x - b * (x.sum() - x)) * step + (
                noise[t] * np.sqrt(step) if t < len(noise) else 0.0
            )

    return specimen.replacing("settle", settle)


@mutant("noise grows with time, not with its root", rejected_by="CM-15.3d")
def ballistic(specimen: Any) -> Any:
    settle = specimen.settle
    return specimen.replacing(
        "settle",
        lambda d, k, b, step, steps, noise, x: settle(
            d, k, b, step, steps, noise * np.sqrt(step), x
        ),
    )


@mutant("all competitors are weakened equally", rejected_by="CM-15.4b")
def blanket(specimen: Any) -> Any:
    def contrast(
        cue: Any,
        drive: Any,
        target: Any,
        inhibition: float,
        amplitude: float,
        gain: float,
        out: Any,
    ) -> None:
        out[:] = np.where(target, 0.5, np.where(np.asarray(cue) > 0, -0.1, 0.0))

    return specimen.replacing("contrast", contrast)


@mutant("contrast with the opposite sign", rejected_by="CM-15.5")
def turned(specimen: Any) -> Any:
    contrast = specimen.contrast

    def other(*arguments: Any) -> None:
        contrast(*arguments)
        arguments[-1][:] *= -1.0

    return specimen.replacing("contrast", other)


@mutant("leak and inhibition are exchanged in the hook", rejected_by="CM-15.6")
def exchanged(specimen: Any) -> Any:
    settle = specimen.settle
    return specimen.replacing(
        "settle", lambda drive, leak, inhibition, *rest: settle(drive, inhibition, leak, *rest)
    )


@mutant("fused scores of visible memories compete, without priors and votes", rejected_by="CM-15.7")
def before_priors(specimen: Any) -> Any:
    @hook(Phase.RETRIEVE, reads=(FUSED, VISIBLE, NOW, TEXTS, specimen.COMPETITION_TRACE,
                                 specimen.COMPETITION_TIME), adds=(), sets=(REWEIGHTED,))  # fmt: skip
    def compete(self: Any, view: Any, cue: Any) -> None:
        specimen.RetrievalCompetition.compete(
            self, Instead(view, primed=view.fused, answerable=view.visible), cue
        )

    return specimen.overriding("RetrievalCompetition", compete=compete)


@mutant("memories that may not be answered compete, too", rejected_by="CM-15.7")
def all_compete(specimen: Any) -> Any:
    best = specimen.best
    return specimen.replacing(
        "best", lambda scores, answerable, pool: best(scores, np.ones_like(answerable), pool)
    )


@mutant("learning scales the input from outside, too", rejected_by="CM-15.8b")
def weights_scale_the_cue(specimen: Any) -> Any:
    return specimen.replacing("given", lambda texts, rows, terms: np.zeros(len(rows)))


@mutant("a strengthened memory grows without bound", rejected_by="CM-15.8")
def unbounded(specimen: Any) -> Any:
    def driven(active: Any, given: Any, trace: Any, out: Any) -> None:
        out[:] = active * (given + (1.0 - given) * np.exp(trace))

    return specimen.replacing("driven", driven)


@mutant(
    "a strengthened competitor beats the memory whose own words are the cue", rejected_by="CM-15.6"
)
def strength_alone(specimen: Any) -> Any:
    def driven(active: Any, given: Any, trace: Any, out: Any) -> None:
        out[:] = active * np.exp(trace)

    return specimen.replacing("driven", driven)
