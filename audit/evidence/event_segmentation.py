"""Evidence for event_segmentation.  References are densities of scipy, mean and deviation of the
standard library, boundaries and buffers by hand, and explicit loops over told vectors; none calls
what it judges.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import vonmises_fisher

from ...engine.contract.records import Event, Query
from ...engine.contract.vocabulary import MATCH, VISIBLE
from ...engine.memory.engine import Engine
from ..checks import adaptation, equation, limit, mutant, reference
from ..figures import Curve, Picture, dots, figure
from ..memory import Scripted, memory_of, numbers_of, with_numbers
from ..paper_numbers import paper_number
from .shared.once import computed_once
from .shared.views import Instead

Vectors = NDArray[np.float64]
FOUNTAS = "Fountas et al. 2025"
PAPER = "fountas2025episodic"
NUMBERS = (
    paper_number("spread", 1.0, "1", paper=PAPER, where="gamma, in the authors' settings"),
    paper_number(
        "contiguous_share", 0.3, "1", paper=PAPER, where="k_c / k, in the authors' settings"
    ),
)
GAMMA, WINDOW = numbers_of("event_segmentation", "spread", "window").values()
CONCENTRATION = 25.0  # kappa of the densities of the references; none of ours


# --- references -----------------------------------------------------------------------------------
def nats(episode: Sequence[Vectors], x: Vectors) -> float:
    """-ln of the von Mises-Fisher density of x around the mean direction of an episode."""
    mean = np.sum(episode, axis=0)
    density = vonmises_fisher(mean / np.linalg.norm(mean), CONCENTRATION)
    return -float(density.logpdf(x / np.linalg.norm(x)))


@computed_once
def divided(
    vectors: Vectors, sessions: Sequence[str], gamma: float = GAMMA, tau: int = WINDOW
) -> list[int]:
    """Episode of each event, with surprises in nats: the paper, event by event."""
    lived, known, numbers = defaultdict[str, list[int]](list), list[float](), list[int]()
    for t, (x, session) in enumerate(zip(vectors, sessions, strict=True)):
        mine = lived[session][-tau:]
        number = 0
        if mine:
            number = numbers[mine[-1]]
            error = nats([vectors[i] for i in mine if numbers[i] == number], x)
            last = known[-tau:]
            if len(last) > 1:
                number += error > statistics.mean(last) + gamma * statistics.stdev(last)
            known.append(error)
        lived[session].append(t)
        numbers.append(int(number))
    return numbers


def buffers(
    match: Any, visible: Any, of: Sequence[tuple[str, int]], similar: int, contiguous: int
) -> list[float]:
    """1 for memories in one of the buffers, from the best match of each episode."""
    best: dict[tuple[str, int], float] = {}
    for score, shown, episode in zip(match, visible, of, strict=True):
        if shown:
            best[episode] = max(best.get(episode, -np.inf), float(score))
    ranked = sorted((e for e in best if best[e] > 0.0), key=lambda e: -best[e])[:similar]
    queue = list[tuple[str, int]]()
    for session, number in ranked:
        for near in ((session, number + 1), (session, number - 1)):
            if near in best and near not in ranked and near not in queue:
                queue.append(near)
    kept = {*ranked, *queue[:contiguous]}
    return [float(episode in kept) for episode in of]


# --- stories --------------------------------------------------------------------------------------
def topics(seed: int, events: int, sessions: str = "ab ") -> tuple[Vectors, list[str]]:
    """Noisy directions around topics that change every six events on average, in sessions that are
    interleaved; the last name is that of no session.
    """
    draws = np.random.default_rng(seed)
    centre = {name: draws.standard_normal(6) for name in sessions}
    vectors, told = list[Vectors](), list[str]()
    for _ in range(events):
        name = sessions[draws.integers(len(sessions))]
        if draws.random() < 1.0 / 6.0:
            centre[name] = draws.standard_normal(6)
        x = centre[name] + 0.6 * draws.standard_normal(6)
        vectors.append((x / np.linalg.norm(x)).astype(np.float32).astype(np.float64))
        told.append(name.strip())
    return np.array(vectors), told


def lived(
    specimen: Any,
    vectors: Any,
    sessions: Sequence[str],
    *others: str,
    hours: float = 0.1,
    tick: float = 1.0,
    questions: Any = (),
    **values: Any,
) -> Engine:
    """A memory with an event for each vector; questions are "q0", "q1", ..."""
    scripted = {f"e{i}": v for i, v in enumerate(vectors)}
    scripted |= {f"q{i}": v for i, v in enumerate(questions)}
    memory = memory_of(specimen, *others, embedder=Scripted(scripted), tick_hours=tick, **values)
    for i, session in enumerate(sessions):
        memory.encode(Event(i * hours, f"e{i}", session=session, id=f"e{i}", dated=False))
    return memory


# --- the equations --------------------------------------------------------------------------------
@equation(
    "EV-1",
    source="scipy.stats.vonmises_fisher: differences of -ln p, over kappa",
    atol=1e-10,
    papers=(PAPER,),
)
def surprise_is_a_negative_log_density_but_for_scale_and_constant(specimen: Any) -> Any:
    vectors, _ = topics(1, 40)
    places = [(start, start + size) for size in (1, 2, 5) for start in range(0, 30, 3)]
    ours = [specimen.surprise(vectors[a:b], vectors[b]) for a, b in places]
    theirs = [nats(list(vectors[a:b]), vectors[b]) / CONCENTRATION for a, b in places]
    return np.diff(ours), np.diff(theirs)


@limit("EV-2", source="definition: the same direction, a right angle, the opposite; nothing known")
def surprise_has_its_limits(specimen: Any) -> Any:
    x, nothing = np.array([[0.6, 0.8]]), np.zeros((1, 2))
    measured = [specimen.surprise(x, v) for v in (3.0 * x[0], [-0.8, 0.6] * np.ones(2), -x[0])]
    unknown = [specimen.surprise(nothing, x[0]), specimen.surprise(x, nothing[0])]
    return [*measured, *np.isnan(unknown)], [0.0, 1.0, 2.0, True, True]


@equation(
    "EV-3",
    source=f"{FOUNTAS}, eq. (1): mean and stdev of the standard library",
    rtol=1e-12,
    papers=(PAPER,),
)
def the_threshold_is_mean_and_deviations(specimen: Any) -> Any:
    draws = np.random.default_rng(3)
    series = [draws.random(size).tolist() for size in (2, 3, 17, 100)]
    cases = [(s, gamma) for s in series for gamma in (-0.5, 0.0, 1.0, 2.0)]
    measured = [specimen.threshold(np.array(s), gamma) for s, gamma in cases]
    return measured, [statistics.mean(s) + gamma * statistics.stdev(s) for s, gamma in cases]


@limit("EV-4", source="definition: a deviation needs two surprises; equal ones have none")
def the_threshold_has_its_limits(specimen: Any) -> Any:
    few = [specimen.threshold(np.ones(size), 1.0) for size in (0, 1)]
    equal = [specimen.threshold(np.full(size, np.float32(0.1)), 3.0) for size in (2, 3, 7, 99)]
    return [*few, *equal], [np.inf, np.inf, *[float(np.float32(0.1))] * 4]


# --- in a memory ----------------------------------------------------------------------------------
@equation(
    "EV-5",
    source=f"{FOUNTAS}, eq. (1): event by event in nats, interleaved sessions, more events than tau",
    papers=(PAPER,),
)
def a_memory_divides_as_the_paper_does(specimen: Any) -> Any:
    # the first with the numbers that ship
    cases: list[tuple[int, int, float, int, dict[str, Any]]] = [
        (5, 340, 1.0, 100, {}),
        (6, 120, 0.5, 7, {"spread": 0.5, "window": 7}),
        (7, 120, 2.0, 25, {"spread": 2.0, "window": 25}),
        (14, 120, 2.5, 4, {"spread": 2.5, "window": 4}),  # episodes longer than tau
    ]
    for seed, events, gamma, tau, values in cases:
        vectors, sessions = topics(seed, events)
        memory = lived(specimen, vectors, sessions, **values)
        yield memory.column(specimen.EPISODE), divided(vectors, sessions, gamma, tau)


@reference(
    "EV-6",
    source="by hand: three topics at right angles, the second comes back, in two sessions",
    papers=(PAPER, "zacks2007event"),
)
def an_episode_ends_where_the_topic_changes(specimen: Any) -> Any:
    # the letter is the topic; two sessions take turns, and the other one stays with one topic
    said = "xxxxxyyyyyzzzzzyyyyyxxxxx"
    basis = dict(zip("xyz", np.eye(3), strict=True))
    vectors = [v for letter in said for v in (basis[letter], basis["x"])]
    memory = lived(specimen, vectors, ["a", "b"] * len(said))
    episode = memory.column(specimen.EPISODE).reshape(-1, 2)
    surprise = memory.column(specimen.EPISODE_SURPRISE).reshape(-1, 2)
    return [*episode[:, 0], *episode[:, 1], *surprise[1:, 0], *surprise[1:, 1]], [
        *np.repeat(range(5), 5),
        *[0] * 25,
        *[float(i % 5 == 0) for i in range(1, 25)],
        *[0.0] * 24,
    ]


@limit(
    "EV-7", source="definition: what is predicted exactly is no boundary, however often it is said"
)
def equal_events_are_one_episode(specimen: Any) -> Any:
    vectors, sessions = np.full((60, 7), 0.3), [""] * 60
    memory = lived(specimen, vectors, sessions)
    return [*memory.column(specimen.EPISODE), *memory.column(specimen.EPISODE_SURPRISE)[1:]], [
        0.0
    ] * 119


@adaptation("EV-8", source="event by event in nats: pauses and the length of a tick change nothing")
def time_makes_no_boundary(specimen: Any) -> Any:
    vectors, sessions = topics(8, 60)
    expected = divided(vectors, sessions)
    for hours, tick in ((0.01, 0.25), (3.0, 1.0), (30.0, 24.0)):
        memory = lived(specimen, vectors, sessions, hours=hours, tick=tick)
        yield memory.column(specimen.EPISODE), expected


@equation(
    "EV-9",
    source=f"{FOUNTAS}, memory retrieval: both buffers from the best match of each episode, by hand",
    papers=(PAPER,),
)
def answers_bring_back_episodes_and_their_neighbours(specimen: Any) -> Any:
    cases: list[tuple[int, dict[str, Any], int, int]] = [
        (9, {}, 7, 3),  # the numbers that ship
        (10, {"recalled": 4, "contiguous_share": 0.5}, 2, 2),
        (11, {"recalled": 3, "contiguous_share": 0.0}, 3, 0),
        (12, {"recalled": 12, "contiguous_share": 0.75}, 3, 9),
        (15, {"recalled": 5, "contiguous_share": 0.36}, 3, 2),
    ]
    for seed, values, similar, contiguous in cases:
        vectors, sessions = topics(seed, 240)
        draws = np.random.default_rng(seed)
        questions = draws.standard_normal((3, 6))
        memory = lived(
            specimen, vectors, sessions, "dense_similarity", questions=questions, **values
        )
        of = list(zip(sessions, divided(vectors, sessions), strict=True))
        for row in draws.choice(240, 60, replace=False).tolist():
            memory.archive(row)
        for i in range(len(questions)):
            memory.retrieve(Query(f"q{i}"))
            match, visible = memory.column(MATCH), memory.column(VISIBLE)
            yield (
                memory.column(specimen.EPISODE_RECALL).copy(),
                buffers(match, visible, of, similar, contiguous),
            )


@reference(
    "EV-10", source="by hand: four episodes, one of another session between them, and a row in none"
)
def buffers_of_a_short_story(specimen: Any) -> Any:
    episode = np.array([0, 0, 1, 1, 0, 2, 2, 3, 3, -1])
    session = np.array([7, 7, 7, 7, 8, 7, 7, 7, 7, 7])
    visible = np.ones(10, dtype=np.bool_)

    def brought(match: list[float], shown: Any, *sizes: int) -> list[bool]:
        got = specimen.brought_back(np.array(match), shown, session, episode, *sizes)
        return [bool(b) for b in got]

    second = [0.0, 0.1, 3.0, -1.0, 0.0, 0.2, 0.0, 0.0, 2.0, 9.0]
    hidden = visible.copy()
    hidden[[5, 6]] = False  # the whole episode after the best one
    faint = [0.2 * score for score in second]
    none = [False] * 10
    yield brought(second, visible, 1, 0), [i in (2, 3) for i in range(10)]
    # after it comes before before it
    yield brought(second, visible, 1, 1), [i in (2, 3, 5, 6) for i in range(10)]
    yield brought(second, visible, 1, 2), [i in (0, 1, 2, 3, 5, 6) for i in range(10)]
    yield brought(second, visible, 2, 1), [i in (2, 3, 5, 6, 7, 8) for i in range(10)]
    yield brought(faint, visible, 2, 0), [i in (2, 3, 7, 8) for i in range(10)]
    yield brought(faint, visible, 9, 0), [i in (0, 1, 2, 3, 5, 6, 7, 8) for i in range(10)]
    yield brought(second, hidden, 1, 1), [i in (0, 1, 2, 3) for i in range(10)]
    # no neighbour in another session; what does not match better than the mean brings back nothing
    yield brought([-1.0] * 4 + [2.0] + [-1.0] * 5, visible, 3, 3), [i == 4 for i in range(10)]
    yield brought([0.0] * 10, visible, 3, 3), none
    yield brought(second, np.zeros(10, dtype=np.bool_), 3, 3), none


@limit("EV-11", source="definition: without words nothing matches, and nothing is brought back")
def a_question_without_words_brings_back_nothing(specimen: Any) -> Any:
    vectors, sessions = topics(13, 30)
    memory = lived(specimen, vectors, sessions, "dense_similarity", questions=[vectors[4]])
    memory.retrieve(Query("", session="a"))
    silent = np.isnan(memory.column(specimen.EPISODE_RECALL)).all()
    memory.retrieve(Query("q0"))
    return [silent, np.isnan(memory.column(specimen.EPISODE_RECALL)).any()], [True, False]


# --- figures --------------------------------------------------------------------------------------
@figure(
    "boundaries",
    caption="Surprise of each event of a session whose topic changes now and then, and the events that begin an episode",
    source="a memory with made vectors; boundaries by densities of scipy, event by event",
)
def surprise_and_boundaries(specimen: Any) -> Picture:
    vectors, sessions = topics(8, 90, "a")
    memory = lived(specimen, vectors, sessions)
    error, episode = memory.column(specimen.EPISODE_SURPRISE), divided(vectors, sessions)
    begun = np.flatnonzero(np.diff(episode, prepend=0))
    return Picture(
        "event of the session",
        "surprise",
        (
            Curve("mechanism", np.arange(1, len(error)), error[1:]),
            dots("boundary, by the paper's rule in nats", begun, error[begun]),
        ),
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("the angle in place of its cosine", rejected_by="EV-1")
def angle(specimen: Any) -> Any:
    original = specimen.surprise
    return specimen.replacing(
        "surprise", lambda episode, x: float(np.arccos(1.0 - original(episode, x)))
    )


@mutant("the event is compared with the last event alone", rejected_by="EV-1")
def last_event(specimen: Any) -> Any:
    original = specimen.surprise
    return specimen.replacing("surprise", lambda episode, x: original(episode[-1:], x))


@mutant("the deviation of a population", rejected_by="EV-3")
def of_a_population(specimen: Any) -> Any:
    return specimen.replacing(
        "threshold",
        lambda s, gamma: float(np.mean(s) + gamma * np.std(s)) if len(s) > 1 else float("nan"),
    )


@mutant("the threshold is the mean", rejected_by="EV-3")
def the_mean(specimen: Any) -> Any:
    original = specimen.threshold
    return specimen.replacing("threshold", lambda s, gamma: original(s, 0.0))


@mutant("a threshold before there are two surprises", rejected_by="EV-4")
def hasty(specimen: Any) -> Any:
    original = specimen.threshold
    return specimen.replacing(
        "threshold", lambda s, gamma: original(s, gamma) if len(s) > 1 else 0.0
    )


@mutant("all surprises so far make the threshold", rejected_by="EV-5")
def all_of_them(specimen: Any) -> Any:
    return with_numbers(specimen, window=100_000)


@mutant("surprises of a third of the window", rejected_by="EV-5")
def a_third(specimen: Any) -> Any:
    return with_numbers(specimen, window=33)


@mutant("the model outlives the boundary", rejected_by="EV-5")
def outliving(specimen: Any) -> Any:
    models: dict[int, Any] = {}
    original = specimen.surprise

    def surprise(episode: Any, x: Any) -> float:
        models[0] = np.concatenate([models.get(0, episode), episode[-1:]])
        return float(original(models[0], x))

    return specimen.replacing("surprise", surprise)


@mutant("sessions are one sequence", rejected_by="EV-5")
def one_sequence(specimen: Any) -> Any:
    def divide(self: Any, view: Any, incoming: Any) -> None:
        last = np.full_like(view.session, view.session[view.row])
        specimen.EventSegmentation.divide(self, Instead(view, session=last), incoming)

    return specimen.overriding("EventSegmentation", divide=divide)


@mutant("rounding errors are surprises", rejected_by="EV-7")
def unrounded(specimen: Any) -> Any:
    return specimen.replacing("DECIMALS", 17)


@mutant("as surprising as usual is a boundary", rejected_by="EV-7")
def as_usual(specimen: Any) -> Any:
    original = specimen.threshold
    return specimen.replacing("threshold", lambda s, gamma: original(s, gamma) - 1e-9)


@mutant("the episode before comes first", rejected_by="EV-10")
def backwards(specimen: Any) -> Any:
    original = specimen.brought_back
    return specimen.replacing(
        "brought_back",
        lambda match, visible, session, episode, *sizes: original(
            match, visible, session, np.where(episode >= 0, episode.max() - episode, -1), *sizes
        ),
    )


@mutant("archived memories bring back their episodes", rejected_by="EV-9")
def archived(specimen: Any) -> Any:
    original = specimen.brought_back
    return specimen.replacing(
        "brought_back", lambda match, visible, *rest: original(match, np.ones_like(visible), *rest)
    )


@mutant("neighbours in other sessions", rejected_by="EV-10")
def across_sessions(specimen: Any) -> Any:
    original = specimen.brought_back
    return specimen.replacing(
        "brought_back",
        lambda match, visible, session, *rest: original(
            match, visible, np.zeros_like(session), *rest
        ),
    )


@mutant("no buffer of what was near in time", rejected_by="EV-9")
def alone(specimen: Any) -> Any:
    original = specimen.brought_back
    return specimen.replacing("brought_back", lambda *given: original(*given[:5], 0))


@mutant("a third of the episodes", rejected_by="EV-9")
def fewer(specimen: Any) -> Any:
    return with_numbers(specimen, recalled=3)


@mutant("what matches worse than the mean brings back its episode, too", rejected_by="EV-10")
def whatever(specimen: Any) -> Any:
    original = specimen.brought_back
    return specimen.replacing(
        "brought_back", lambda match, *rest: original(match - match.min() + 1.0, *rest)
    )
