"""Evidence for dopamine.  References are closed forms and explicit stimulus matrices in numpy;
none calls a kernel it judges.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ...engine.contract.records import Event
from ...engine.contract.vocabulary import INITIAL_STRENGTH, LOG_STRENGTH, PLASTICITY
from ...engine.memory.engine import Engine
from ...engine.ports.embedder import HashingEmbedder
from ..checks import adaptation, at_most, equation, limit, mutant, signature
from ..figures import Curve, Marks, Picture, dots, figure
from ..memory import Scripted, encode, memory_of
from .shared.scripts import refusing

Vector = NDArray[np.float64]
RW, TD, SDM = "Rescorla & Wagner 1972", "TD(0), Sutton 1988", "Schultz, Dayan & Montague 1997"
A, B = 0, 1
GAMMA, CHAIN = 0.9, 5


# --- protocols, run on the specimen ---------------------------------------------------------------
def trial(
    specimen: Any, value: Vector, cues: Sequence[int], outcome: float, rate: float | Vector = 0.1
) -> float:
    """One trial of Rescorla & Wagner with terminal value 0: updates `value` and returns the
    error.
    """
    present = np.array(cues, dtype=np.int64)
    delta = float(specimen.error(outcome, specimen.prediction(value, present), 0.0, 1.0))
    specimen.learn(
        value,
        present,
        np.broadcast_to(np.asarray(rate, dtype=np.float64), present.shape).copy(),
        1.0,
        delta,
    )
    return delta


def trained(
    specimen: Any, value: Sequence[float], *protocol: tuple[Sequence[int], float, int]
) -> Vector:
    """V after blocks of (cues, outcome, trials)."""
    v = np.array(value)
    for cues, outcome, trials in protocol:
        for _ in range(trials):
            trial(specimen, v, cues, outcome)
    return v


def chain(specimen: Any, episodes: int) -> Vector:
    """V of a chain of five states after training; leaving the last one yields reward 1."""
    v, rate = np.zeros(CHAIN), np.array([0.1])
    states = [np.array([s]) for s in range(CHAIN)]
    for _ in range(episodes):
        for s in range(CHAIN):
            end = s == CHAIN - 1
            following = 0.0 if end else specimen.prediction(v, states[s + 1])
            specimen.learn(
                v,
                states[s],
                rate,
                1.0,
                specimen.error(float(end), specimen.prediction(v, states[s]), following, GAMMA),
            )
    return v


# --- the equations --------------------------------------------------------------------------------
@equation(
    "DA-1a",
    source=f"{RW}; closed form lambda (1 - (1 - alpha beta)^n)",
    atol=1e-7,
    figure="acquisition",
    papers=("rescorla1972theory",),
)
def one_cue_approaches_its_outcome_exponentially(specimen: Any) -> Any:
    v, measured = np.zeros(1), []
    for n in range(1, 51):
        trial(specimen, v, [A], 1.0)
        if n in (1, 10, 22, 50):
            measured.append(v[0])
    return measured, [0.1, 0.6513216, 0.9015229, 0.9948462]


@equation(
    "DA-1b",
    source=f"{RW}; closed form alpha_i / sum(alpha) lambda (1 - (1 - sum(alpha))^n) for a compound",
    papers=("rescorla1972theory",),
)
def cues_share_an_outcome_in_proportion_to_salience(specimen: Any) -> Any:
    alpha, v = np.array([0.05, 0.1, 0.2]), np.zeros(4)
    for _ in range(7):
        trial(specimen, v, [0, 2, 3], 0.8, alpha)
    share = alpha / alpha.sum() * 0.8 * (1.0 - (1.0 - alpha.sum()) ** 7)
    return v, [share[0], 0.0, share[1], share[2]]


@equation(
    "DA-1c",
    source=f"{RW}; stimulus matrix in numpy: V += alpha beta x (lambda - x.V)",
    papers=("rescorla1972theory",),
)
def any_schedule_of_compounds_follows_the_rule(specimen: Any) -> Any:
    rng = np.random.default_rng(0)
    v, expected = np.zeros(6), np.zeros(6)
    for _ in range(300):
        x = (rng.random(6) < 0.4).astype(np.float64)
        outcome = float(rng.choice([0.0, 0.5, 1.0]))
        trial(specimen, v, np.flatnonzero(x).tolist(), outcome)
        expected = expected + 0.1 * x * (outcome - x @ expected)
    return v, expected


@equation(
    "DA-5a",
    source=f"{TD}; closed form gamma^k, k steps before the reward",
    atol=1e-4,
    figure="schultz",
    papers=("sutton1988learning",),
)
def values_of_a_chain_are_discounted_by_the_steps_to_reward(specimen: Any) -> Any:
    return chain(specimen, 3000), [0.6561, 0.729, 0.81, 0.9, 1.0]


@equation(
    "DA-5b",
    source=f"{TD}; V = (I - gamma P)^-1 R by linear algebra, expected updates",
    atol=1e-6,
    papers=("sutton1988learning",),
)
def the_fixed_point_is_that_of_the_markov_reward_process(specimen: Any) -> Any:
    rng = np.random.default_rng(1)
    p = rng.dirichlet(np.ones(4), 4)
    r, states = rng.standard_normal(4), [np.array([s]) for s in range(4)]
    v = np.zeros(4)
    for _ in range(400):
        before = v.copy()
        for s in range(4):
            for after in range(4):
                delta = specimen.error(
                    r[s],
                    specimen.prediction(before, states[s]),
                    specimen.prediction(before, states[after]),
                    GAMMA,
                )
                specimen.learn(v, states[s], np.array([p[s, after]]), 0.5, delta)
    return v, np.linalg.solve(np.eye(4) - GAMMA * p, r)


@equation(
    "DA-7a",
    source="definition: clip(1 + g delta, 0, DA_max), with g = 1 and the clip at 3 of Cortex 4.1.3",
    papers=("cortex2026",),
)
def the_tone_is_the_clipped_sum_of_baseline_and_error(specimen: Any) -> Any:
    return [specimen.tone(delta, 1.0, 3.0) for delta in (-5.0, -1.0, 0.0, 0.5, 2.0, 5.0)], [
        0.0,
        0.0,
        1.0,
        1.5,
        3.0,
        3.0,
    ]


@limit(
    "DA-L1",
    source=f"{RW} equals {TD} at the end of a trial, or with gamma = 0",
    papers=("rescorla1972theory", "sutton1988learning"),
)
def without_a_next_value_the_error_is_outcome_minus_prediction(specimen: Any) -> Any:
    return [specimen.error(0.7, 0.2, 0.0, 0.9), specimen.error(0.7, 0.2, 5.0, 0.0)], 0.7 - 0.2


@limit("DA-L2", source="gain 0: no modulation")
def without_gain_the_tone_stays_at_its_baseline(specimen: Any) -> Any:
    return [specimen.tone(delta, 0.0, 6.0) for delta in (-9.0, 0.0, 9.0)], 1.0


# --- signatures -----------------------------------------------------------------------------------
@signature(
    "DA-2a",
    source=f"{RW}, blocking: A+ then AB+",
    atol=1e-6,
    figure="blocking",
    papers=("rescorla1972theory",),
)
def a_redundant_cue_learns_nothing(specimen: Any) -> Any:
    return trained(specimen, [0.0, 0.0], ([A], 1.0, 500), ([A, B], 1.0, 500)), [1.0, 0.0]


@signature(
    "DA-2b",
    source=f"{RW}, control of blocking: AB+ alone",
    atol=1e-6,
    figure="blocking",
    papers=("rescorla1972theory",),
)
def without_pretraining_two_cues_share_the_outcome(specimen: Any) -> Any:
    return trained(specimen, [0.0, 0.0], ([A, B], 1.0, 500)), [0.5, 0.5]


@signature(
    "DA-3",
    source=f"{RW}, overexpectation: two full predictors together",
    atol=1e-6,
    papers=("rescorla1972theory",),
)
def two_full_predictors_together_fall_to_half(specimen: Any) -> Any:
    return trained(specimen, [1.0, 1.0], ([A, B], 1.0, 500)), [0.5, 0.5]


@signature(
    "DA-4",
    source=f"{RW}, conditioned inhibition: A+ and AX- alternate",
    atol=1e-3,
    papers=("rescorla1972theory",),
)
def a_cue_paired_with_omitted_reward_becomes_an_inhibitor(specimen: Any) -> Any:
    return trained(specimen, [0.0, 0.0], *(([A], 1.0, 1), ([A, B], 0.0, 1)) * 5000), [1.0, -1.0]


@signature(
    "DA-6",
    source=f"{SDM}: the response moves from reward to cue, and pauses if the reward is omitted",
    atol=1e-3,
    figure="schultz",
    papers=("schultz1997neural",),
)
def the_error_moves_from_the_reward_to_the_cue(specimen: Any) -> Any:
    v = chain(specimen, 3000)
    delivered, omitted = (specimen.error(r, v[-1], 0.0, GAMMA) for r in (1.0, 0.0))
    return [delivered, omitted, specimen.error(0.0, 0.0, v[0], GAMMA)], [0.0, -1.0, 0.59049]


# --- the adaptation -------------------------------------------------------------------------------
def memory(specimen: Any, **changes: float) -> Engine:
    values = {"alpha": 0.3, "beta": 1.0, "beta_absent": 1.0, "discount": 0.0, "gain": 1.0,
              "most": 6.0, "encoding_gain": 0.1, "cues": 4096,
              "most_cues": 16}  # fmt: skip
    return Engine(
        [
            specimen.Dopamine(
                "dopamine", specimen.DopamineParams(time_scale=1.0, **(values | changes))
            )
        ],
        HashingEmbedder(64),
    )


def told(engine: Engine, start: int, *talks: tuple[str, ...]) -> int:
    """Encode each talk as a session of its own; returns the number of the next session."""
    for i, talk in enumerate(talks, start):
        engine.encode_all(
            Event(24.0 * i + k / 60.0, text, session=f"s{i}") for k, text in enumerate(talk)
        )
    return start + len(talks)


def predicts(specimen: Any, engine: Engine, name: str) -> float:
    return float(
        engine.store.array(specimen.PREDICTED_REWARD)[0, specimen.cells([name], 4096, 1)[0]]
    )


ALONE, BOTH, DULL = (
    ("Then Ada came.", "it was wonderful"),
    ("Then Ada met Bo.", "it was wonderful"),
    ("Then Ada came.", "it was raining"),
)


@adaptation("DA-8a", source="ours: blocking between the entities of a session", needs="engine")
def an_entity_beside_a_predictor_of_reward_learns_little(specimen: Any) -> Any:
    blocked, control = memory(specimen), memory(specimen)
    told(blocked, told(blocked, 0, *[ALONE] * 30), *[BOTH] * 10)
    told(control, told(control, 0, *[DULL] * 30), *[BOTH] * 10)
    b, c = predicts(specimen, blocked, "bo"), predicts(specimen, control, "bo")
    return bool(abs(b) < 1e-3 and c > 0.1)


@adaptation(
    "DA-8b", source="ours: encoding strength follows the error, not the reward", needs="engine"
)
def a_predicted_reward_adds_almost_no_encoding_strength(specimen: Any) -> Any:
    engine = memory(specimen)
    told(engine, 0, *[ALONE] * 40)
    encoded = engine.store.array(INITIAL_STRENGTH)
    return [encoded[1], encoded[79]], [0.1 * 0.5, 0.1 * 0.5 * 0.7**39]


@adaptation(
    "DA-8c", source="ours: an event that predicts reward is itself encoded strongly", needs="engine"
)
def the_burst_moves_to_the_event_that_predicts_reward(specimen: Any) -> Any:
    engine = memory(specimen, discount=0.9)
    told(engine, 0, *[ALONE] * 60)
    encoded = engine.store.array(INITIAL_STRENGTH)
    return bool(
        encoded[0] == 0.0 and encoded[118] > 0.03 and encoded[118] > 10.0 * abs(encoded[119])
    )


@adaptation(
    "DA-8d", source="ours: recall is a trial; a repeated answer is predicted", needs="engine"
)
def credit_for_a_recall_fades_as_it_becomes_expected(specimen: Any) -> Any:
    engine = memory(specimen, alpha=0.4)
    told(engine, 0, ("Ada lost a red umbrella", "the weather was mild"))
    credit = []
    for _ in range(12):
        engine.retrieve("Ada lost a red umbrella", k=1, learn=True)
        credit.append(float(engine.store.array(specimen.RECALL_CREDIT).max()))
    gained = np.diff([0.0, *credit])
    return at_most(gained[1:] / gained[:-1], 0.5) if gained[-1] > 0.0 else False


@adaptation(
    "DA-8e",
    source="ours: 1 + delta with r = 1/2, 0 and -1/2 for a good word, none and a bad one",
    needs="engine",
)
def plasticity_follows_the_error_of_the_event(specimen: Any) -> Any:
    engine = memory(specimen)
    seen = []
    for i, text in enumerate(("it was wonderful", "it was raining", "it was horrible")):
        engine.encode(Event(i / 60.0, text))
        seen.append(float(engine.store.persistent()["plasticity"]))
    return seen, [1.5, 1.0, 0.5]


# Session, text, its names, and its reward by count of good and bad words p / (1 + p) - n / (1 + n).
STORY = (
    ("a", "Then Gus met Bo.", ("gus", "bo"), 0.0),
    ("a", "Then Cleo felt great joy and love.", ("cleo",), 0.75),
    ("a", "Then Ada, Fay, Cleo and Gus went home.", ("ada", "fay", "cleo", "gus"), 0.0),
    ("a", "It was horrible and sad, but fun.", (), 0.5 - 2.0 / 3.0),
    ("b", "Then Fay was happy, off the record.", ("fay",), 0.5),
    ("b", "Then Dora met Bo. Then Ada met Dora.", ("dora", "bo", "ada"), 0.0),
    ("a", "Then Bo lost a boat.", ("bo",), -0.5),
    ("a", "Then Fay laughed.", ("fay",), 0.0),
    ("a", "Then Fay cheered, glad and happy.", ("fay",), 2.0 / 3.0),
)
QUERIES = (
    ("Did Dora meet Fay, Cleo and Emil?", ("dora", "fay", "cleo", "emil")),
    ("Where is the boat?", ()),
    ("Is Bo well?", ("bo",)),
)
OURS: dict[str, Any] = {"alpha": 0.6, "beta": 0.8, "beta_absent": 0.3, "discount": 0.85,
                        "gain": 1.7, "most": 1.9,
                        "encoding_gain": 0.4, "cues": 7, "most_cues": 3}  # fmt: skip


class Predictions:
    """The two rules over plain lists, with the values OURS: V of each cell, the cells present,
    and the level after an error.
    """

    def __init__(self) -> None:
        self.told, self.asked = [0.0] * 7, [0.0] * 7
        self.present: list[int] = []
        self.session = ""

    @staticmethod
    def cells(names: Sequence[str]) -> list[int]:
        """Each cell once; Fay and the background cue of a query are in cell 0, Bo and Dora share
        one.
        """
        return list(dict.fromkeys(crc32(name.encode()) % 7 for name in names))[:3]

    @staticmethod
    def level(v: list[float], cues: list[int], r: float, following: float) -> float:
        delta = r + 0.85 * following - sum(v[j] for j in cues)
        for j in cues:
            v[j] += min(0.6, 1.0 / len(cues)) * (0.3 if r == 0.0 else 0.8) * delta
        return min(max(1.0 + 1.7 * delta, 0.0), 1.9)

    def event(self, session: str, names: Sequence[str], r: float) -> float:
        if session != self.session:
            # the end of an episode has the value 0
            self.level(self.told, self.present, 0.0, 0.0)
            self.present, self.session = [], session
        now = self.cells(names)
        level = self.level(self.told, self.present, r, sum(self.told[j] for j in now))
        self.present = now
        return level

    def recall(self, names: Sequence[str], reward: float) -> float:
        return self.level(self.asked, self.cells(("", *names)), reward, 0.0)


@equation(
    "DA-9",
    source=f"{RW} and {TD} over plain lists, event by event and recall by recall; the effects on memory are ours",
    rtol=1e-6,
    atol=1e-6,
    papers=("rescorla1972theory", "sutton1988learning"),
)
def a_memory_learns_to_predict_the_reward_of_events_and_recalls(specimen: Any) -> Any:
    texts = [text for _, text, _, _ in STORY]
    x = dict(
        zip(
            [*texts, *(q for q, _ in QUERIES)],
            np.random.default_rng(5).standard_normal((12, 5)),
            strict=True,
        )
    )
    x["Is Bo well?"] = -sum(v / np.linalg.norm(v) for v in x.values())
    unit = {text: v / np.linalg.norm(v) for text, v in x.items()}
    memory = memory_of(
        specimen, "dense_similarity", refusing("record"), embedder=Scripted(x), **OURS
    )
    model, measured, expected, rows = Predictions(), list[float](), list[float](), list[str]()
    initial, credit = list[float](), [0.0] * (len(STORY) - 1)

    def compare(level: float) -> None:
        cues = model.present + [-1] * (3 - len(model.present))
        measured.extend(
            [
                memory.column(PLASTICITY).item(),
                *memory.column(specimen.PREDICTED_REWARD).ravel(),
                *memory.column(specimen.PRESENT_CUES),
            ]
        )
        expected.extend([level, *model.told, *model.asked, *cues])

    for i, (session, text, names, r) in enumerate(STORY):
        (row,) = encode(memory, Event(float(i), text, session=session, dated=False))
        level = model.event(session, names, r)
        compare(level)
        if row is None:
            continue
        rows.append(text)
        initial.append(0.4 * (level - 1.0))
        if i == 0:
            memory.archive(0)
            # nothing is recalled, so nothing is learnt
            assert memory.retrieve("Is Bo well?", learn=True).rows.size == 0
            compare(level)
            memory.restore(0)
        for query, asked in QUERIES[:i]:
            cosines = [float(unit[query] @ unit[row_text]) for row_text in rows]
            best = memory.retrieve(query, k=2, learn=i % 3 != 0).rows[0]
            assert best == np.argmax(cosines)
            if i % 3:
                level = model.recall(asked, max(0.0, cosines[best]))
                credit[best] += 0.4 * (level - 1.0)
            compare(level)
            # the other row, if there is one, was needed, and that is judged
            if i % 3 == 1:
                answer = memory.retrieve(query, k=2)
                needed, outcome = int(answer.rows[-1]), (-0.75, 0.0, 0.6)[len(asked) % 3]
                memory.use(answer, [needed], outcome)
                level = model.recall(asked, outcome)
                credit[needed] += 0.4 * (level - 1.0)
                compare(level)
        memory.advance(float(i))
        measured += memory.column(LOG_STRENGTH).tolist()
        expected += [a + b for a, b in zip(initial, credit, strict=False)]
    return measured, expected


# --- figures --------------------------------------------------------------------------------------
@figure(
    "acquisition",
    caption="Prediction of a cue that is always followed by its outcome: it approaches the outcome exponentially, faster at "
    "higher rates",
    source=f"{RW}; closed form at alpha beta = 0.1",
)
def prediction_over_trials(specimen: Any) -> Picture:
    curves = []
    for rate in (0.05, 0.1, 0.3):
        v, course = np.zeros(1), [0.0]
        for _ in range(50):
            trial(specimen, v, [A], 1.0, rate)
            course.append(float(v[0]))
        curves.append(Curve(f"alpha beta = {rate:g}", np.arange(51), course))
    return Picture(
        "trials",
        "prediction V",
        (*curves, dots("closed form", [1, 10, 22, 50], [0.1, 0.6513216, 0.9015229, 0.9948462])),
    )


@figure(
    "blocking",
    caption="Forty rewarded trials of A, then forty of A and B: B is redundant and stays at 0; in the control, without the first "
    "forty trials, B rises to one half",
    source=f"{RW}, blocking and its control",
)
def a_blocked_cue_and_its_control(specimen: Any) -> Picture:
    def course(protocol: tuple[tuple[Sequence[int], float], ...]) -> Vector:
        v, seen = np.zeros(2), [[0.0, 0.0]]
        for cues, outcome in protocol:
            trial(specimen, v, cues, outcome)
            seen.append(v.tolist())
        return np.array(seen)

    blocked, control = (
        course((*(([A], 1.0),) * 40, *(([A, B], 1.0),) * 40)),
        course((([A, B], 1.0),) * 40),
    )
    at = np.arange(81)
    return Picture(
        "trials",
        "prediction V",
        (
            Curve("A, rewarded from the start", at, blocked[:, A]),
            Curve("B, added after 40 trials", at, blocked[:, B]),
            Curve("B, control: both from the start", at[40:], control[:, B]),
            dots("asymptotes", [80, 80, 80], [1.0, 0.0, 0.5]),
        ),
    )


@figure(
    "schultz",
    caption="Prediction error from cue to reward: at the reward before learning, at the cue after learning, and negative if the "
    "reward is omitted",
    source=f"{SDM}; closed form gamma^5 at the cue",
)
def errors_of_a_trial(specimen: Any) -> Picture:
    def course(v: Vector, reward: float) -> list[float]:
        values = [float(specimen.prediction(v, np.array([s]))) for s in range(CHAIN)]
        return [
            specimen.error(0.0, 0.0, values[0], GAMMA),
            *(
                specimen.error(
                    reward * (s == CHAIN - 1),
                    values[s],
                    0.0 if s == CHAIN - 1 else values[s + 1],
                    GAMMA,
                )
                for s in range(CHAIN)
            ),
        ]

    learnt, at = chain(specimen, 500), np.arange(CHAIN + 1)
    return Picture(
        "step (0: the cue, 5: the reward)",
        "prediction error",
        (
            Curve("before learning", at, course(np.zeros(CHAIN), 1.0), Marks.BARS),
            Curve("after learning", at, course(learnt, 1.0), Marks.BARS),
            Curve("reward omitted", at, course(learnt, 0.0), Marks.BARS),
            dots("closed form, after learning", [0, 5], [GAMMA**5, 0.0]),
        ),
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("each cue learns from its own error, without the sum", rejected_by="DA-2a")
def independent_cues(specimen: Any) -> Any:
    def learn(value: Any, cues: Any, alpha: Any, beta: float, delta: float) -> None:
        outcome = delta + sum(value[j] for j in cues)
        for k, j in enumerate(cues):
            value[j] += alpha[k] * beta * (outcome - value[j])

    return specimen.replacing("learn", learn)


@mutant("no learning from the error", rejected_by="DA-1a")
def no_learning(specimen: Any) -> Any:
    return specimen.replacing("learn", lambda value, cues, alpha, beta, delta: None)


@mutant("the mean of the predictions", rejected_by="DA-3")
def mean_prediction(specimen: Any) -> Any:
    return specimen.replacing("prediction", lambda value, cues: float(np.mean(value[cues])))


@mutant("absent cues learn, too", rejected_by="DA-1b")
def absent_cues(specimen: Any) -> Any:
    def learn(value: Any, cues: Any, alpha: Any, beta: float, delta: float) -> None:
        value += np.mean(alpha) * beta * delta

    return specimen.replacing("learn", learn)


@mutant("no bootstrap: the error without the next value", rejected_by="DA-5a")
def no_future(specimen: Any) -> Any:
    return specimen.replacing("error", lambda r, v, v_next, gamma: r - v)


@mutant("next value without discount", rejected_by="DA-5b")
def undiscounted(specimen: Any) -> Any:
    return specimen.replacing("error", lambda r, v, v_next, gamma: r + v_next - v)


@mutant("a session ends without the value 0", rejected_by="DA-9")
def endless(specimen: Any) -> Any:
    def experience(self: Any, view: Any, incoming: Any) -> None:
        view.reward_episode = incoming.session
        specimen.Dopamine.experience(self, view, incoming)

    return specimen.overriding("Dopamine", experience=experience)


@mutant("tone without clipping", rejected_by="DA-7a")
def unclipped(specimen: Any) -> Any:
    return specimen.replacing("tone", lambda delta, gain, most: 1.0 + gain * delta)


@mutant("dopamine reports the reward, not its error", rejected_by="DA-6")
def reward_itself(specimen: Any) -> Any:
    return specimen.replacing("error", lambda r, v, v_next, gamma: r)
