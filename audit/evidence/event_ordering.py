"""Evidence for event_ordering: questions written for it, greedy choice against brute force and
plain greedy choice, and stories in a memory.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engine.contract.columns import Phase
from ...engine.contract.records import Event
from ...engine.contract.vocabulary import ARRANGED, BAN, CHRONOLOGICAL, RERANKED
from ..checks import adaptation, at_least, at_most, equation, limit, mutant, signature
from ..figures import Curve, Picture, dots, figure
from ..memory import Scripted, encode, memory_of, neighbour
from .shared import dreams
from .shared.clock import linear_time, long_text
from .shared.scripts import giving, refusing

LOCATION, LAZY = ("nemhauser1978analysis",), ("minoux1978accelerated",)
ORDER = (
    "List the order in which I planted the trees", "In what order did Ada visit the museums?",
    "Walk me through the renovation in order",
    "What happened first, the move or the wedding?", "Give me a timeline of the project",
    "How did my opinion of the school change over time?",
    "How has the menu evolved?",
    "Put the repairs in chronological order, and mention only five items",
    "Which came first, the dog or the cat?",
    "Take me through the trip from the beginning to the end",
    "What was the sequence of events on the farm?", "Show the progression of her illness",
    "Can you list, in order, the books we talked about?",
    "Tell me step by step how the deal was closed", "What did I do, by order of time?",
    "How did the garden develop during the summer?",
    "Name the topics we discussed in the right order",
    "Outline the chronology of the lawsuit", "The order of my questions about the loan, please",
    "How were the plans for the roof changed?",
)  # fmt: skip
NO_ORDER = (
    "What did Ada buy in order to paint the fence?", "Where is the order from the bakery?",
    "When did Tom move?", "What is my first name?",
    "Walk me through how to bake bread", "Who ordered the chairs?", "Why did the price change?",
    "What changed?", "Is she in order?", "",
    "How does the oven work?", "Tell me about the trip", "Who was the first to arrive?",
    "Did we keep the law and order debate short?", "Of course",
)  # fmt: skip
COUNTS = (
    ("mention only five items", 5), ("list the 3 main changes in order", 3),
    ("give me the two steps that came first", 2), ("only 12", 12),
    ("it went through 5 stages", 5),
    ("name exactly seven", 7), ("what happened in the last 3 months", 0), ("list the 4 months", 0),
    ("in what order did we visit them", 0),
    ("the top twenty", 20), ("top 100 of them", 100), ("list zero things", 0),
    ("in 2019 we moved to 5 rooms", 0),
    ("at most 6 very long and boring topics", 6), ("", 0),
)  # fmt: skip


def plain_greedy(value: Any, k: int) -> list[int]:
    """Greedy choice, with F computed anew for each candidate and step; ties by index."""
    chosen: list[int] = []
    for _ in range(k):
        left = [j for j in range(len(value)) if j not in chosen]
        chosen.append(max(left, key=lambda j: (covered(value, [*chosen, j]), -j)))
    return chosen


def covered(value: Any, chosen: list[int] | tuple[int, ...]) -> float:
    return float(value[:, list(chosen)].max(axis=1).sum()) if chosen else 0.0


def chosen_by(specimen: Any, value: Any, k: int) -> tuple[list[int], int]:
    """The specimen's choice and how many gains it evaluated."""
    out = np.full(k, -7, dtype=np.int64)
    evaluated = int(specimen.lazy_greedy(value, out))
    return out.tolist(), evaluated


def instances(number: int, p: int, seed: int) -> list[NDArray[np.float64]]:
    """Random values >= 0, some of them sparse, so that candidates cover different others."""
    rng = np.random.default_rng(seed)
    return [
        rng.random((p, p)) ** 3 * (rng.random((p, p)) < rng.choice([0.3, 0.6, 1.0]))
        for _ in range(number)
    ]


@adaptation("EO-1", source="questions written for it, in a memory: with an order asked and without")
def questions_about_an_order_are_found(specimen: Any) -> Any:
    memory, measured = memory_of(specimen), []
    encode(memory, (0.0, "Ada sings"), (1.0, "Bo works"))
    for text in (*ORDER, *NO_ORDER):
        memory.retrieve(text)
        measured.append(bool(memory.column(CHRONOLOGICAL)))
    return measured, [True] * len(ORDER) + [False] * len(NO_ORDER)


@adaptation("EO-2", source="numbers by hand")
def the_number_of_items_is_read(specimen: Any) -> Any:
    return [specimen.items_asked(words) for words, _ in COUNTS], [count for _, count in COUNTS]


@equation("EO-3", source="the product of its parts, in numpy", rtol=1e-12)
def affinity_is_relevance_times_similarity_times_nearness(specimen: Any) -> Any:
    rng = np.random.default_rng(2)
    cosine, time, r, out = (
        rng.uniform(-1.0, 1.0, (7, 7)),
        rng.uniform(0.0, 90.0, 7),
        rng.random(7),
        np.full((7, 7), np.nan),
    )
    specimen.affinities(cosine, time, r, 31.0, out)
    return out, np.outer(r, r) * np.clip(cosine, 0.0, None) * np.exp(
        -np.abs(np.subtract.outer(time, time)) / 31.0
    )


@equation(
    "EO-4",
    source="Nemhauser, Wolsey & Fisher 1978: 1 - ((k - 1) / k)^k of the best value, by brute force over all sets",
    papers=LOCATION,
)
def greedy_choice_is_within_its_bound_of_the_best(specimen: Any) -> Any:
    slack = []
    for value in instances(60, 8, 4):
        for k in (1, 2, 3, 4):
            best = max(covered(value, s) for s in combinations(range(8), k))
            chosen, _ = chosen_by(specimen, value, k)
            assert len(set(chosen)) == k
            slack.append(covered(value, chosen) - (1.0 - (1.0 - 1.0 / k) ** k) * best + 1e-12)
    return at_least(slack, 0.0)


@equation(
    "EO-4b",
    source="by hand: parts of 4, 3 and 3 items, the second and third together the best two",
    papers=LOCATION,
)
def greedy_choice_takes_the_largest_gain_first(specimen: Any) -> Any:
    parts = ({0, 1, 2, 3}, {0, 1, 4}, {2, 3, 5})
    value = np.array([[float(i in part) for part in parts] + [0.0] * 3 for i in range(6)])
    return chosen_by(specimen, value, 2)[0], [0, 1]


@equation(
    "EO-5",
    source="Minoux 1978: the choice of plain greedy, with F computed anew each time",
    papers=(*LOCATION, *LAZY),
    figure="gains",
)
def lazy_choice_is_the_greedy_choice(specimen: Any) -> Any:
    matrices = [
        value * unit
        for p, unit in ((1, 1.0), (5, 1.0), (12, 1e-20), (30, 1.0))
        for value in instances(6, p, p)
    ]
    ties = [np.eye(6), np.ones((4, 4)), np.zeros((3, 3)), np.kron(np.eye(3), np.ones((2, 2)))]
    return [
        chosen_by(specimen, value, min(9, len(value)))[0] == plain_greedy(value, min(9, len(value)))
        for value in (*matrices, *ties)
    ], True


@signature(
    "EO-6",
    source="Minoux 1978: far fewer evaluations than k p - k (k - 1) / 2 of plain greedy",
    papers=LAZY,
)
def most_gains_are_not_evaluated(specimen: Any) -> Any:
    p, k = 100, 20
    return at_most(
        [
            chosen_by(specimen, value, k)[1] / (k * p - k * (k - 1) / 2)
            for value in instances(5, p, 9)
        ],
        0.5,
    )


@limit(
    "EO-6b",
    source="closed form: without overlap p gains, and one for each further item; with one part for all, p of each step",
    papers=LAZY,
)
def gains_are_evaluated_once_where_nothing_overlaps(specimen: Any) -> Any:
    return [
        chosen_by(specimen, value, 3)[1]
        for value in (np.eye(6), np.diag([3.0, 1.0, 2.0]), np.ones((4, 4)))
    ], [6 + 2, 3 + 2, 4 + 3 + 1]


# --- in a memory ----------------------------------------------------------------------------------
def judged(scores: Any, banned: tuple[int, ...] = ()) -> tuple[Any, Any]:
    """Neighbours that give RERANKED and ban rows."""

    def ban(view: Any, _: Any) -> None:
        view.ban[list(banned)] += 1

    return giving(Phase.RETRIEVE, RERANKED, scores), neighbour(
        Phase.RETRIEVE, ban, adds=(BAN,), id="ban"
    )


def arranged(
    scores: Any,
    vectors: Any,
    times: Any,
    left_out: tuple[int, ...],
    pool: int,
    items: int,
    width: float,
) -> NDArray[np.float64]:
    """Scores of every memory from the definition: pool, relevance, affinities, plain greedy,
    chosen ones above the best score.
    """
    rows = [int(i) for i in np.argsort(-scores, kind="stable") if i not in left_out][:pool]
    s = scores[rows]
    r = (s - s.min()) / (s.max() - s.min()) if s.max() > s.min() else np.ones(len(s))
    unit = vectors[rows] / np.linalg.norm(vectors[rows], axis=1, keepdims=True)
    t = times[rows]
    value = (
        np.outer(r, r)
        * np.maximum(unit @ unit.T, 0.0)
        * np.exp(-np.abs(t[:, None] - t[None, :]) / width)
    )
    chosen = [rows[j] for j in plain_greedy(value, min(items, len(rows)))]
    step = ((s.max() - s.min()) or abs(s.max()) or 1.0) / len(chosen)
    out: NDArray[np.float64] = scores.copy()
    for place, row in enumerate(chosen):
        out[row] = s.max() + step * (len(chosen) - place)
    return out


@equation(
    "EO-7",
    source="ours: the definition step by step over plain arrays, with plain greedy choice",
    rtol=1e-6,
)
def a_memory_ranks_the_chosen_above_the_rest(specimen: Any) -> Any:
    measured, expected = [], []
    # time scale, width, pool, items, question, items asked
    cases: tuple[tuple[float, float, int, int, str, int], ...] = (
        (1.0, 10.0, 12, 4, "In what order did it happen?", 4),
        (3.0, 10.0, 12, 4, "In what order did it happen?", 4),
        (1.0, 40.0, 7, 10, "List the order in which it happened, mention only three items", 3),
        (1.0, 2.0, 9, 20, "Give me a timeline", 20),
    )
    for case, (time_scale, width, pool, items, question, asked) in enumerate(cases):
        rng = np.random.default_rng(20 + case)
        vectors, times = rng.normal(0.3, 1.0, (16, 3)), np.sort(rng.uniform(0.0, 90.0, 16))
        scores, texts = (
            np.round(rng.normal(0.0, 2.0, 16), 3),
            {f"part {i}": v for i, v in enumerate(vectors)},
        )
        memory = memory_of(
            specimen,
            *judged(scores, (2, 5)),
            embedder=Scripted({question: vectors[0], **texts}),
            time_scale=time_scale,
            pool=pool,
            items=items,
            width=width,
        )
        encode(memory, *((float(t), f"part {i}") for i, t in enumerate(times)))
        memory.archive(7)
        answer = memory.retrieve(question, k=3)
        want = arranged(scores, vectors, times, (2, 5, 7), pool, asked, width * time_scale)
        here = [i for i in range(16) if i not in (2, 5, 7)]
        measured.append([*memory.column(ARRANGED)[here], *answer.rows, answer.chronological])
        expected.append([*want[here], *sorted(here, key=lambda i: -want[i])[:3], True])
    return np.array(measured), np.array(expected)


STORY = {
    "the seed": (1.0, 0.1, 0.0),
    "a seed": (1.0, 0.11, 0.0),
    "seeds": (1.0, 0.09, 0.01),
    "the leaf": (0.1, 1.0, 0.0),
    "one leaf": (0.12, 1.0, 0.0),
    "the fruit": (0.1, 0.1, 1.0),
    "a stone": (1.0, 1.0, 1.0),
}
PARTS = np.array([0, 0, 0, 1, 1, 2, 3])
SCORES = (1.0, 0.95, 0.9, 0.7, 0.65, 0.6, 0.0)
APART = (0.0, 1.0, 2.0, 500.0, 501.0, 1000.0, 2000.0)  # h; the parts are weeks apart


@signature(
    "EO-8",
    source="by hand: one memory of each of three parts, before the copies of the first part, which match best; parts by meaning, "
    "by meaning and time, and by time alone; also if all scores are equal",
    papers=("lin2011class",),
)
def each_part_of_a_story_is_told_once(specimen: Any) -> Any:
    question, measured = "What is the timeline of the plant?", []
    for alike, times, scores in (
        (False, (0.0,) * 7, SCORES),
        (False, APART, SCORES),
        (True, APART, SCORES),
        (False, APART, (2.0,) * 6 + (-1.0,)),
        (True, APART[:6], (2.0,) * 6),
    ):
        vectors = {text: (1.0, 0.0, 0.0) if alike else vector for text, vector in STORY.items()}
        memory = memory_of(
            specimen,
            *judged(np.array(scores)),
            embedder=Scripted({question: (1.0, 1.0, 1.0), **vectors}),
        )
        encode(memory, *zip(times, STORY, strict=False))
        measured.append(sorted(PARTS[memory.retrieve(question, k=3).rows].tolist()))
    return measured, [[0, 1, 2]] * 5


@limit("EO-9", source="definition: another question, no memory, one memory, or equal scores")
def without_an_order_or_a_choice_nothing_moves(specimen: Any) -> Any:
    measured = []
    for score in (0.5, 0.0, -2.0):
        memory = memory_of(specimen, *judged(np.full(3, score)), items=2)
        for i in range(4):
            for question in ("What grew?", "What is the timeline?"):
                answer = memory.retrieve(question)
                measured += [
                    bool(memory.column(CHRONOLOGICAL)),
                    *answer.rows.tolist(),
                    *(memory.column(ARRANGED) - score).tolist(),
                ]
            if i < 3:
                encode(memory, (0.0, "the same text"))
    expected: list[float] = []
    # the score, without sign; 1 if it is 0
    for lift in (0.5, 1.0, 2.0):
        expected += [False, True, False, 0, 0.0, True, 0, lift, False, 0, 1, 0.0, 0.0, True, 0, 1,
                     lift, lift / 2]  # fmt: skip
        expected += [False, 0, 1, 2, 0.0, 0.0, 0.0, True, 0, 1, 2, lift, lift / 2, 0.0]
    return measured, expected


# Role, how it is said, session; each pair by hand: rows of a request and its reply.  The fourth
# event is vetoed, so it is no row.
TALK = (("user", "speaker", "s"), ("assistant", "speaker", "s"), ("assistant", "speaker", "s"),
        ("user", "refused", "s"), ("assistant", "role", "s"),
        ("user", "role", "s"), ("assistant", "role", "s"), ("user", "speaker", "s"), ("user",
        "speaker", "s"), ("assistant", "speaker", "t"),
        ("Ada", "speaker", "t"), ("assistant", "speaker", "t"), ("system", "speaker", "t"),
        ("assistant", "speaker", "t"), ("user", "speaker", "u"),
        ("assistant", "speaker", "u"))  # fmt: skip
EXCHANGES = ((0, 1), (4, 5), (13, 14))


def talk(specimen: Any, scores: Any, banned: tuple[int, ...] = (), **params: Any) -> Any:
    memory = memory_of(specimen, *judged(scores, banned), refusing("refused"), **params)
    for i, (who, way, session) in enumerate(TALK):
        told: dict[str, Any] = {"speaker": who}
        if way == "role":  # the attribute decides, and the speaker is the other one
            other = "user" if who == "assistant" else "assistant"
            told = {"attributes": (("role", who),), "speaker": other}
        encode(memory, Event(float(i), f"{way} {i}", session=session, **told))
    return memory


@adaptation(
    "EO-11", source="pairs by hand; the weighted mean of both scores, one pair at a time", rtol=1e-6
)
def a_summary_wants_whole_exchanges(specimen: Any) -> Any:
    """Only the reply that follows a request in its session is one; a banned half has no say;
    another question and an order have none, too.
    """
    scores, measured, expected = np.random.default_rng(5).normal(0.0, 2.0, len(TALK) - 1), [], []
    for banned, share in (((), 0.25), ((), 1.0), ((1, 4), 0.5)):
        memory = talk(specimen, scores, banned, share=share)
        for text, order in (
            ("Summarize what we said", False),
            ("Can you give me an overview of how the plan evolved over time?", True),
        ):
            answer, want = memory.retrieve(text), scores.copy()
            for a, b in EXCHANGES:
                if not {a, b}.intersection(banned):
                    want[a], want[b] = (
                        np.average(scores[[a, b]], weights=[1.0, share]),
                        np.average(scores[[a, b]], weights=[share, 1.0]),
                    )
            measured.append([*memory.column(ARRANGED), answer.chronological])
            expected.append([*want, order])
        memory.retrieve("What did we say?")
        measured.append([*memory.column(ARRANGED), 0.0])
        expected.append([*scores, 0.0])
    return measured, expected


@adaptation("EO-15", source=dreams.SOURCE)
def a_reply_follows_over_what_sleep_made(specimen: Any) -> Any:
    memory = memory_of(specimen, dreams.dreaming(), consolidate_every=1.0)
    for hour, speaker, text in ((23.0, "user", "Where to?"), (25.0, "assistant", "To Oban.")):
        memory.encode(Event(hour, text, speaker, "s", dated=False))
    return memory.column(specimen.EXCHANGE), [0, -1, 0]


@limit(
    "EO-12",
    source="definition: a summary in order is an order; without a share, and without roles, nothing moves",
)
def a_summary_in_order_covers_its_parts(specimen: Any) -> Any:
    scores = np.linspace(3.0, 0.0, len(TALK) - 1)
    memory, alone = talk(specimen, scores, items=2), talk(specimen, scores, share=0.0)
    memory.retrieve("Summarize what we did in order")
    above = int((memory.column(ARRANGED) > scores.max()).sum())
    alone.retrieve("Summarize what we said")
    people = memory_of(specimen, *judged(scores))
    encode(people, *(Event(float(i), f"turn {i}", "AB"[i % 2], "s", f"e{i}") for i in range(6)))
    people.retrieve("Summarize what we said")
    return [above, *alone.column(ARRANGED), *people.column(ARRANGED)], [
        2,
        *scores.astype(np.float32),
        *scores[:6].astype(np.float32),
    ]


@limit(
    "EO-13", source="definition: what has no score is in no answer, and shares nothing", rtol=1e-6
)
def a_memory_without_a_score_has_no_say(specimen: Any) -> Any:
    """A reply without a score, a request without one, and an exchange in which both have one."""
    scores = np.linspace(3.0, 0.0, len(TALK) - 1)
    scores[[1, 4]] = np.nan
    memory, want = talk(specimen, scores, share=0.5), scores.copy()
    rows = memory.retrieve("Summarize what we said", k=len(TALK)).rows.tolist()
    want[13], want[14] = (
        (2.0 * scores[13] + scores[14]) / 3.0,
        (scores[13] + 2.0 * scores[14]) / 3.0,
    )
    return [*np.nan_to_num(memory.column(ARRANGED), nan=-9.0), *sorted(rows)], [
        *np.nan_to_num(want, nan=-9.0),
        *(i for i in range(len(scores)) if i not in (1, 4)),
    ]


@adaptation(
    "EO-14",
    source="Python sets; by hand: of each exchange the half that matches better is chosen, the other half stays among the rest",
)
def of_each_exchange_one_half_is_chosen(specimen: Any) -> Any:
    rng, measured, expected = np.random.default_rng(14), list[Any](), list[Any]()
    for n in (0, 1, 7, 30):
        rows, exchange = rng.permutation(n), np.full(n, -1)
        for a in range(0, n - 1, 3):
            exchange[np.isin(rows, (a, a + 1))] = a
        told, kept = set[int](), list[int]()
        for row, of in zip(rows.tolist(), exchange.tolist(), strict=True):
            if of < 0 or of not in told:
                kept.append(row)
            told.add(of)
        measured += [len(kept), *specimen.of_parts(rows, exchange)]
        expected += [len(kept), *kept]
    scores = np.linspace(3.0, 0.0, len(TALK) - 1)
    # the first reply matches better than its request
    scores[[0, 1]] = scores[[1, 0]]
    memory = talk(specimen, scores, items=len(TALK))
    memory.retrieve("In what order did we say it?")
    above = np.flatnonzero(memory.column(ARRANGED) > scores.max())
    return [*measured, *above], [*expected, *(i for i in range(len(scores)) if i not in (0, 5, 14))]


@adaptation("EO-10", source="linear time: s for queries of 300,000 characters")
def hostile_queries_take_linear_time(specimen: Any) -> Any:
    def read(text: str) -> None:
        specimen.asks_order(text.strip())
        specimen.items_asked(text.strip())

    units = ("list ", "in the the the ", "how did x ", "list x x x x x x ", "change x ",
             "5 x x x ", "1")  # fmt: skip
    return linear_time(read, *map(long_text, units), long_text("x", before="order "))


@figure(
    "gains",
    caption="Share of the pool that the chosen candidates cover, against the best choice of as many: greedy choice is close to "
    "it, and above its bound",
    source="Nemhauser, Wolsey & Fisher 1978; best sets by brute force",
)
def coverage_over_items(specimen: Any) -> Picture:
    value, ks = instances(1, 12, 3)[0], np.arange(1, 7)
    total = covered(value, tuple(range(12)))
    best = (
        np.array([max(covered(value, s) for s in combinations(range(12), int(k))) for k in ks])
        / total
    )
    greedy = np.array([covered(value, chosen_by(specimen, value, int(k))[0]) for k in ks]) / total
    return Picture(
        "items chosen",
        "share of the coverage of all",
        (
            Curve("greedy", ks, greedy),
            Curve("bound", ks, (1.0 - (1.0 - 1.0 / ks) ** ks) * best),
            dots("best", ks, best),
        ),
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("every list is an order", rejected_by="EO-1")
def any_list(specimen: Any) -> Any:
    original = specimen.asks_order
    return specimen.replacing("asks_order", lambda words: original(words) or "order" in words)


@mutant("units of time count as items", rejected_by="EO-2")
def months(specimen: Any) -> Any:
    return specimen.replacing(
        "items_asked", lambda words: next((int(w) for w in words.split() if w.isdigit()), 0)
    )


@mutant("negative cosines count", rejected_by="EO-3")
def signed(specimen: Any) -> Any:
    def affinities(cosine: Any, time: Any, relevance: Any, width: float, out: Any) -> None:
        out[:] = (
            np.outer(relevance, relevance)
            * cosine
            * np.exp(-np.abs(np.subtract.outer(time, time)) / width)
        )

    return specimen.replacing("affinities", affinities)


@mutant("the least covering candidates", rejected_by="EO-4")
def least(specimen: Any) -> Any:
    def lazy_greedy(value: Any, chosen: Any) -> int:
        chosen[:] = np.argsort(value.sum(axis=0), kind="stable")[: len(chosen)]
        return 0

    return specimen.replacing("lazy_greedy", lazy_greedy)


@mutant("the largest sums, without regard to what is covered", rejected_by="EO-5")
def largest(specimen: Any) -> Any:
    def lazy_greedy(value: Any, chosen: Any) -> int:
        chosen[:] = np.argsort(-value.sum(axis=0), kind="stable")[: len(chosen)]
        return len(value)

    return specimen.replacing("lazy_greedy", lazy_greedy)


@mutant("the second choice before the first", rejected_by="EO-4b")
def from_the_second(specimen: Any) -> Any:
    original = specimen.lazy_greedy

    def lazy_greedy(value: Any, chosen: Any) -> int:
        evaluated = original(value, chosen)
        chosen[:] = chosen[::-1].copy()
        return int(evaluated)

    return specimen.replacing("lazy_greedy", lazy_greedy)


@mutant("every gain is evaluated", rejected_by="EO-6")
def eager(specimen: Any) -> Any:
    original = specimen.lazy_greedy

    def lazy_greedy(value: Any, chosen: Any) -> int:
        original(value, chosen)
        return sum(len(value) - k for k in range(len(chosen)))

    return specimen.replacing("lazy_greedy", lazy_greedy)


@mutant("rows and columns of the values are exchanged", rejected_by="EO-5")
def transposed(specimen: Any) -> Any:
    original = specimen.lazy_greedy
    return specimen.replacing(
        "lazy_greedy", lambda value, chosen: original(np.ascontiguousarray(value.T), chosen)
    )


@mutant("time does not count", rejected_by="EO-7")
def timeless(specimen: Any) -> Any:
    original = specimen.affinities
    return specimen.replacing(
        "affinities", lambda cosine, time, *rest: original(cosine, 0.0 * time, *rest)
    )


@mutant("relevance alone", rejected_by="EO-8")
def relevance_alone(specimen: Any) -> Any:
    def affinities(cosine: Any, time: Any, relevance: Any, width: float, out: Any) -> None:
        out[:] = np.diag(relevance)

    return specimen.replacing("affinities", affinities)


@mutant("both halves of an exchange are candidates", rejected_by="EO-14")
def both_halves(specimen: Any) -> Any:
    return specimen.replacing("of_parts", lambda rows, exchange: rows)


@mutant("the request stands for its reply, though that matches better", rejected_by="EO-14")
def requests_alone(specimen: Any) -> Any:
    return specimen.replacing(
        "of_parts", lambda rows, exchange: rows[(exchange < 0) | (exchange == rows)]
    )


@mutant("every question asks for an order", rejected_by="EO-9")
def always(specimen: Any) -> Any:
    return specimen.replacing("asks_order", lambda words: True)


@mutant("the reply alone gains", rejected_by="EO-11")
def reply_alone(specimen: Any) -> Any:
    def share_exchanges(
        scores: Any, exchange: Any, answerable: Any, share: float, out: Any
    ) -> None:
        for i, j in enumerate(exchange):
            if 0 <= j != i and answerable[i] and answerable[j]:
                out[i] = (scores[i] + share * scores[j]) / (1.0 + share)

    return specimen.replacing("share_exchanges", share_exchanges)


@mutant("the other's score is added", rejected_by="EO-11")
def added(specimen: Any) -> Any:
    original = specimen.share_exchanges
    return specimen.replacing(
        "share_exchanges",
        lambda scores, exchange, answerable, share, out: original(
            scores * (1.0 + share), exchange, answerable, share, out
        ),
    )


@mutant("any reply belongs to the last request", rejected_by="EO-11")
def last_request(specimen: Any) -> Any:
    def keep(self: Any, view: Any, incoming: Any) -> None:
        role = incoming.event.get("role") or incoming.event.speaker
        if role == "user":
            view.exchange[view.row] = view.row
        elif role == "assistant":
            view.exchange[view.row] = max(
                (int(j) for i, j in enumerate(view.exchange[: view.row]) if i == j), default=-1
            )

    return specimen.overriding("EventOrdering", keep=keep)


@mutant("the speaker counts before the role", rejected_by="EO-11")
def by_speaker(specimen: Any) -> Any:
    def keep(self: Any, view: Any, incoming: Any) -> None:
        event = incoming.event
        if event.speaker:
            incoming = replace(incoming, event=replace(event, attributes=()))
        specimen.EventOrdering.keep(self, view, incoming)

    return specimen.overriding("EventOrdering", keep=keep)


@mutant("a missing score spreads to the other half", rejected_by="EO-13")
def spreading(specimen: Any) -> Any:
    def share_exchanges(
        scores: Any, exchange: Any, answerable: Any, share: float, out: Any
    ) -> None:
        for i, j in enumerate(exchange):
            if 0 <= j != i and answerable[i] and answerable[j]:
                out[i], out[j] = (
                    (scores[i] + share * scores[j]) / (1.0 + share),
                    (scores[j] + share * scores[i]) / (1.0 + share),
                )

    return specimen.replacing("share_exchanges", share_exchanges)


@mutant("every summary is an order", rejected_by="EO-11")
def summaries_cover(specimen: Any) -> Any:
    return specimen.replacing("asks_summary", lambda words: False)


@mutant("a summary is no order, whatever it asks", rejected_by="EO-12")
def never_in_order(specimen: Any) -> Any:
    return specimen.replacing("asks_summary", lambda words: "summarize" in words)


@mutant("what sleep made is the event before", rejected_by="EO-15")
def after_a_dream(specimen: Any) -> Any:
    def keep(self: Any, view: Any, incoming: Any) -> None:
        specimen.EventOrdering.keep(self, view, replace(incoming, before=int(view.row) - 1))

    return specimen.overriding("EventOrdering", keep=keep)
