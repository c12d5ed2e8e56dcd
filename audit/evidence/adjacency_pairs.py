"""Evidence for adjacency_pairs: words counted by hand, both kernels by loops over plain lists,
and a story whose cosines are set by hand.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...engine.contract.records import Event
from ...engine.contract.vocabulary import LOG_PRIOR, MATCH
from ...engine.text.features import features
from ..checks import adaptation, equation, limit, mutant
from ..figures import Curve, Picture, figure
from ..memory import Scripted, encode, memory_of, plug_in
from .shared import dreams
from .shared.clock import linear_time, long_text
from .shared.scripts import refusing

STRENGTH, HALF = 0.7, 4.0  # odd values, none a default
# text, words that tell, words that ask; counted by hand
TEXTS: tuple[tuple[str, int, int], ...] = (
    ("I went to Leeds.", 4, 0), ("Where did you go?", 0, 4), ("I went home. And you?", 3, 2),
    ("Really?! Wow!", 1, 1), ("So, what now?)", 0, 3),
    ('She said: "Who knows?"', 0, 4), ("Well… is it late?\nIt is", 3, 3), ("no mark where is it", 5,
    0), ("?", 0, 1), ("", 0, 0), ("  \n ", 0, 0),
    ("Why? Why?? Because.", 1, 2), ("At 3.5 km?", 0, 3), ("See a?b for that.", 4, 0),
    ("Fun! How is Bo? Best, Ada", 3, 3), ("(Who?) I do.", 3, 0),
    ("“Me?”", 0, 1), ("Is 'it'? 'Yes.'", 1, 2), ("[why?]", 0, 1), ("Ada’s ‘who?’", 0, 2))  # fmt: skip
QUERIES: tuple[tuple[str, bool], ...] = (
    ("What did Ada ask Bo?", True), ("Which questions did Bo have?", True), ("Who asked for tea?",
    True), ("Was Bo wondering about the boat?", True),
    ("What was the question?", True), ("Who inquired about it?", True),
    ("What is Bo curious about?", True), ("Where did Ada go?", False),
    ("What is her task?", False), ("Which mask did Bo wear?", False), ("Was it wonderful?", False),
    ("", False))  # fmt: skip


@adaptation("AJ-1", source="words that tell and that ask, counted by hand")
def words_that_tell_and_that_ask(specimen: Any) -> Any:
    return [specimen.told_and_asked(text) for text, _, _ in TEXTS], [
        (told, asked) for _, told, asked in TEXTS
    ]


@equation(
    "AJ-2", source="the definition, memory by memory over plain lists", rtol=1e-12, figure="loss"
)
def a_memory_loses_what_it_does_not_tell(specimen: Any) -> Any:
    told, asked, before = (
        [3.0, 0.0, 7.0, float("nan"), 40.0, 0.0],
        [0.0, 5.0, 2.0, 0.0, 1.0, 0.0],
        [0.5, -1.0, 0.0, 2.0, 0.25, 1.0],
    )
    measured, expected = [], []
    for strength, half in ((STRENGTH, HALF), (0.2, 11.0)):
        out = np.array(before)
        specimen.add_telling(np.array(told), np.array(asked), strength, half, out)
        measured.append(out)
        expected.append(
            [
                b if t != t else b - strength + strength * t / (t + a + half)
                for t, a, b in zip(told, asked, before, strict=True)
            ]
        )
    return np.array(measured), np.array(expected)


@equation("AJ-3", source="the definition, over a dictionary of questions", rtol=1e-12)
def an_answer_gets_the_match_of_its_question(specimen: Any) -> Any:
    random = np.random.default_rng(3)
    match, pairs = random.normal(size=20), {1: 0, 2: 1, 5: 4, 9: 3, 13: 12, 17: 16, 19: 0}
    match[0], match[16], match[12] = 0.7, 0.0, -0.4
    answers, out = np.full(20, -1), np.full(20, -9.0)
    for row, question in pairs.items():
        answers[row] = question
    specimen.answer(match, answers, out)
    return out, [match[pairs[i]] if i in pairs and match[pairs[i]] > 0 else -9.0 for i in range(20)]


@adaptation("AJ-4", source="ours: which queries are about asking, by hand")
def queries_about_asking(specimen: Any) -> Any:
    return [specimen.about_asking(" ".join(features(text).words)) for text, _ in QUERIES], [
        about for _, about in QUERIES
    ]


@adaptation("AJ-5", source="ours: a story of two sessions; words and pairs by hand")
def a_memory_keeps_what_it_asks_and_whom_it_answers(specimen: Any) -> Any:
    memory = memory_of(specimen, refusing("refused?"))
    story = (                                            # speaker, session, text, role
        ("Ada", "s1", "Are you well?", ""), ("Bo", "s1", "I am. You?", ""), ("Bo", "s1", "Say it",
        ""), ("Ada", "s1", "Yes", ""),
        ("Bo", "s1", "Where to?", ""), ("Bo", "s1", "Home?", ""), ("Ada", "s2", "Good day", ""),
        ("user", "s2", "And why?", ""),
        ("Bo", "s2", "Hm", ""), ("Bo", "s2", "Who is it?", "assistant"), ("Ada", "s2", "Me", ""),
        ("Ada", "s2", "Is it?", "guest"),
        ("Bo", "s2", "refused?", ""), ("Bo", "s2", "It is", ""), ("", "s2", "Is it so?", ""),
        ("Ada", "s2", "So it is", "user"),
        ("Bo", "s2", "Why so?", ""), ("", "s2", "Ah", ""), ("Ada", "s3", "Eh?", ""), ("Bo", "s3",
        "Yes", ""), ("Ada", "s4", "I went home. You?", ""), ("Bo", "s4", "Me too", ""))  # fmt: skip
    for hour, (speaker, session, text, role) in enumerate(story):
        memory.encode(
            Event(
                float(hour),
                text,
                speaker,
                session,
                attributes=(("role", role),) if role else (),
                dated=False,
            )
        )
    told = [0, 2, 2, 1, 0, 0, 2, np.nan, 1, np.nan, 1, 0, 2, np.nan, np.nan, 0, np.nan, 0, 1, 3, 2]
    asked = [3, 1, 0, 0, 2, 1, 0, 0, 0, 0, 0, 2, 0, 0, 0, 2, 0, 1, 0, 1, 0]
    answers = [-1, 0, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 11, -1, -1, -1, -1, -1, 17, -1, 19]
    columns = [
        memory.column(column)
        for column in (specimen.TOLD_WORDS, specimen.ASKED_WORDS, specimen.ANSWERS)
    ]
    return np.nan_to_num(columns, nan=-7.0), np.nan_to_num([told, asked, answers], nan=-7.0)


@adaptation("AJ-9", source=dreams.SOURCE)
def an_answer_follows_over_what_sleep_made(specimen: Any) -> Any:
    memory = memory_of(specimen, dreams.dreaming(), consolidate_every=1.0)
    for hour, speaker, text in ((23.0, "Ada", "Where to?"), (25.0, "Bo", "To Oban.")):
        memory.encode(Event(hour, text, speaker, "s", dated=False))
    return memory.column(specimen.ANSWERS), [-1, -1, 0]


def talk(specimen: Any, weight: float) -> Any:
    """Question, answer, an equal memory that follows none, a question that matches less than the
    mean, its answer, and what a user said.
    """
    texts = (
        "Did you sail north?",
        "Oban. You too?",
        "Up to Oban",
        "Is it raining there?",
        "No rain",
        "Oban is north",
    )
    cosines = (0.9, 0.5, 0.5, 0.1, 0.2, 0.4)
    vectors = {text: (c, np.sqrt(1.0 - c * c)) for text, c in zip(texts, cosines, strict=True)}
    vectors |= {"Where to?": (1.0, 0.0), "Who ASKED where to?": (1.0, 0.0)}
    memory = memory_of(
        specimen,
        "dense_similarity",
        "convex_fusion",
        embedder=Scripted(vectors),
        strength=STRENGTH,
        half=HALF,
        weight=weight,
    )
    speakers = ("Ada", "Bo", "Bo", "Ada", "Bo", "user")
    encode(
        memory,
        *(
            (float(i), text, speaker)
            for i, (text, speaker) in enumerate(zip(texts, speakers, strict=True))
        ),
    )
    return memory, np.array(cosines)


@equation(
    "AJ-6",
    source="closed form: standardised cosines, and shares of words counted by hand",
    rtol=1e-5,
    atol=1e-6,
)
def an_answer_is_raised_and_a_question_lowered(specimen: Any) -> Any:
    memory, cosines = talk(specimen, 0.5)
    answer = memory.retrieve("Where to?", k=6)
    match = (cosines - cosines.mean()) / cosines.std()
    signal = np.array([0.0, match[0], 0.0, 0.0, 0.0, 0.0])
    fused = (match + 0.5 * (signal - signal.mean()) / signal.std()) / 1.5
    prior = -STRENGTH * (1.0 - np.array([0 / 8, 1 / 7, 3 / 7, 0 / 8, 2 / 6, 1.0]))
    final = (fused - fused.min()) / np.ptp(fused) * np.exp(prior)
    order = np.argsort(-final, kind="stable")
    measured = [
        memory.column(MATCH),
        np.nan_to_num(memory.column(specimen.ANSWER)),
        memory.column(LOG_PRIOR),
        answer.final,
        answer.rows,
    ]
    return np.array(measured), np.array([match, signal, prior, final, order])


@limit(
    "AJ-7",
    source="closed form: a query about asking is ranked by the match alone; long memories that tell lose next to nothing",
)
def what_is_left_alone(specimen: Any) -> Any:
    memory, cosines = talk(specimen, 0.5)
    asked = memory.retrieve("Who ASKED where to?", k=6)
    silent = np.count_nonzero(np.isfinite(memory.column(specimen.ANSWER)))
    prior = memory.column(LOG_PRIOR).copy()
    long = memory_of(specimen)
    encode(long, (0.0, "word " * 4000, "Ada"), (1.0, "why?", "user"), (2.0, "so", "assistant"))
    long.retrieve("word")
    lost = np.round(long.column(LOG_PRIOR), 3)
    return [asked.rows[0], silent, *prior, *lost], [
        int(np.argmax(cosines)),
        0,
        *np.zeros(6),
        -0.001,
        0.0,
        0.0,
    ]


@adaptation("AJ-8", source="linear time: s for texts and queries of 300,000 characters")
def hostile_texts_take_linear_time(specimen: Any) -> Any:
    def read(text: str) -> None:
        specimen.told_and_asked(text)
        specimen.about_asking(text)

    return linear_time(read, *map(long_text, ("? ", "a", "\n", "?!", ")", "ask ")))


@figure(
    "loss",
    caption="Factor on the score of a memory by its number of words, if none, half or all of them ask",
    source="ours: e to the prior at the installed values",
)
def factor_by_length(specimen: Any) -> Picture:
    held, words = plug_in(specimen).params, np.arange(0.0, 61.0)
    curves = []
    for name, share in (("no question", 0.0), ("half asks", 0.5), ("all asks", 1.0)):
        prior = np.zeros(len(words))
        specimen.add_telling((1.0 - share) * words, share * words, held.strength, held.half, prior)
        curves.append(Curve(name, words, np.exp(prior)))
    return Picture("words", "factor on the score", tuple(curves))


@mutant("a question anywhere makes the whole text a question", rejected_by="AJ-1")
def whole_text(specimen: Any) -> Any:
    return specimen.replacing(
        "told_and_asked",
        lambda text: (0, len(text.split())) if "?" in text else (len(text.split()), 0),
    )


@mutant("the discount for short memories is left out", rejected_by="AJ-2")
def no_discount(specimen: Any) -> Any:
    original = specimen.add_telling
    return specimen.replacing(
        "add_telling",
        lambda told, asked, strength, half, out: original(told, asked, strength, 1e-9, out),
    )


@mutant("a question that matches less than the mean lowers its answer", rejected_by="AJ-3")
def signed(specimen: Any) -> Any:
    def answer(match: Any, answers: Any, out: Any) -> None:
        out[answers >= 0] = match[answers[answers >= 0]]

    return specimen.replacing("answer", answer)


@mutant("words that hold the letters of ask count, too", rejected_by="AJ-4")
def letters(specimen: Any) -> Any:
    return specimen.replacing("about_asking", lambda words: "ask" in words or "question" in words)


@mutant("who speaks does not count", rejected_by="AJ-5")
def any_speaker(specimen: Any) -> Any:
    def keep(self: Any, view: Any, incoming: Any) -> None:
        view.told_words[view.row], view.asked_words[view.row] = specimen.told_and_asked(
            incoming.event.text
        )
        if incoming.before >= 0 and view.asked_words[incoming.before] > 0:
            view.answers[view.row] = incoming.before

    return specimen.overriding("AdjacencyPairs", keep=keep)


@mutant("what nobody says is a turn, too", rejected_by="AJ-5")
def nobody_speaks(specimen: Any) -> Any:
    original = specimen.AdjacencyPairs.keep

    def keep(self: Any, view: Any, incoming: Any) -> None:
        event = incoming.event
        original(
            self, view, replace(incoming, event=replace(event, speaker=event.speaker or "nobody"))
        )

    return specimen.overriding("AdjacencyPairs", keep=keep)


@mutant("the factor in place of its logarithm", rejected_by="AJ-6")
def factor(specimen: Any) -> Any:
    original = specimen.add_telling
    return specimen.replacing(
        "add_telling",
        lambda told, asked, strength, half, out: original(
            told, asked, float(np.exp(strength)), half, out
        ),
    )


@mutant("the prior holds for queries about asking, too", rejected_by="AJ-7")
def always(specimen: Any) -> Any:
    return specimen.replacing("about_asking", lambda words: False)


@mutant("what sleep made is the event before", rejected_by="AJ-9")
def after_a_dream(specimen: Any) -> Any:
    def keep(self: Any, view: Any, incoming: Any) -> None:
        specimen.AdjacencyPairs.keep(self, view, replace(incoming, before=int(view.row) - 1))

    return specimen.overriding("AdjacencyPairs", keep=keep)
