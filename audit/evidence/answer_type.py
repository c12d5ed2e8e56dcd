"""Evidence for answer_type: types of questions and annotations of memories by hand, both kernels
over plain lists, and its effect by closed form.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine.contract.records import Event
from ...engine.contract.vocabulary import LOG_PRIOR, PRIMED
from ...engine.text.features import features
from ..checks import adaptation, equation, limit, mutant
from ..figures import Curve, Marks, Picture, figure
from ..memory import encode, memory_of
from .shared.clock import linear_time, long_text
from .shared.scripts import refusing

STRENGTH = 0.7  # odd, not the default
QUESTIONS = {
    "TIME": ("When did Bo move?", "Since when has she played?", "On which day is the fair?",
             "How long ago did they meet?",
             "What time does it start?", "How soon is the deadline due?",
             "In which year did they sail?", "But when was he born?"),
    "QUANTITY": ("How many dogs are there?", "How long does the walk take?",
                 "What was the total of the bill?", "How often does Bo swim?",
                 "What is the average monthly salary?", "How old is her aunt?",
                 "How much was it, and where?"),
    "NAME": ("Who painted the wall?", "Where is the key?", "With whom did she travel?",
             "Which of the books did he finish?",
             "Which city did they visit?", "Do you remember who broke the lamp?",
             "What is her cat called?", "What is the name of the dog?",
             "In Leeds, who is his friend?", "Tell me where we met.", "And whose idea was it?"),
    "OTHER": ("Why did she leave?", "What does the friend who paints like?",
              "What did he do when she left?",
              "What grows in the town where he was born?",
              "Does Bo like jazz?", "What did she say about the time off?", "How did it go?",
              "Which colour is the boat?", "Summarise my week.", "",
              "?!"),
}  # fmt: skip
# speaker, text, names a time, states a quantity, names: all by hand
STORY: tuple[tuple[str, str, bool, bool, tuple[str, ...]], ...] = (
    ("Ada Byron", "Hey Bo, I moved in May 2021", True, False, ("bo",)),
    ("Bo", "We have two dogs", False, True, ()),
    ("", "Ada met Clara Weber in Ghent", False, False, ("ada", "clara weber", "ghent")),
    ("user", "Yesterday I paid $30", True, True, ()),
    ("Bo", "the blue one", False, False, ()),
    ("Ada Byron", "On 3 May 2020", True, False, ()),
    ("Bo", "Bo saw Ghent twice", False, True, ("bo", "ghent")),
    ("Ada Byron", "", False, False, ()),
    ("Ada May Byron", "so", False, False, ()),
    ("Ada May", "so", False, False, ()),
    ("Ada\0 May", "so", False, False, ()),  # NUL is no part of a name
    ("Bo", "It cost $20", False, True, ()),
)


@adaptation("AT-1", source="questions written for each type")
def each_question_asks_for_one_type(specimen: Any) -> Any:
    asked = [(text, name) for name, texts in QUESTIONS.items() for text in texts]
    return [specimen.type_of(" ".join(features(text).words)).name for text, _ in asked], [
        name for _, name in asked
    ]


@equation("AT-2", source="the definition, as a loop over plain lists", rtol=1e-12)
def the_prior_is_added_where_the_type_is_held(specimen: Any) -> Any:
    random = np.random.default_rng(2)
    measured, expected = [], []
    for strength in (STRENGTH, 0.2):
        holds, before = random.random(30) < 0.4, random.normal(size=30)
        out = before.copy()
        specimen.add_prior(holds, strength, out)
        measured.append(out)
        expected.append(
            [b + strength if h else b for h, b in zip(holds.tolist(), before.tolist(), strict=True)]
        )
    return np.array(measured), np.array(expected)


@equation("AT-3", source="the definition: a difference of sets is not empty")
def a_memory_mentions_another_name(specimen: Any) -> Any:
    random = np.random.default_rng(3)
    measured, expected = [], []
    for known in ([], [0], [0, 3, 5], [2], [1, 2, 3, 4, 5, 6]):
        names = [
            random.permutation(np.arange(1, 7))[:size].tolist()
            for size in random.integers(0, 4, 25)
        ]
        table, out = np.zeros((25, 4), dtype=np.int64), random.random(25) < 0.5
        for row, mentioned in enumerate(names):
            table[row, : len(mentioned)] = mentioned
        specimen.mentions_another(table, np.array(known, dtype=np.int64), out)
        measured.append(out.tolist())
        expected.append([bool(set(mentioned) - set(known)) for mentioned in names])
    return measured, expected


@adaptation(
    "AT-4",
    source="ours: what each memory of a story holds, by hand; equal names have equal numbers, other names others",
)
def a_memory_keeps_what_it_holds(specimen: Any) -> Any:
    memory = memory_of(specimen, refusing("refused"))
    for hour, (speaker, text, *_) in enumerate(STORY):
        memory.encode(Event(hour, text, speaker))
        memory.encode(Event(hour, "refused two in May", "Cleo"))
    held = [
        *memory.column(specimen.NAMES_TIME).tolist(),
        *memory.column(specimen.STATES_QUANTITY).tolist(),
    ]
    numbers, names = (
        memory.column(specimen.MENTIONED),
        [list(line[4]) + [""] * (specimen.MOST - len(line[4])) for line in STORY],
    )
    spoken = [line[0].lower().replace("\0", "") for line in STORY]
    speakers = [[name, name.partition(" ")[0]] for name in spoken]
    flat, words = (
        [*numbers.ravel().tolist(), *memory.column(specimen.SAID_BY).ravel().tolist()],
        [w for row in (*names, *speakers) for w in row],
    )
    return (
        [*held, *(n == 0 for n in flat), *(a == b for a in flat for b in flat)],
        [
            *(line[2] for line in STORY),
            *(line[3] for line in STORY),
            *(w == "" for w in words),
            *(a == b for a in words for b in words),
        ],
    )


@adaptation(
    "AT-5",
    source="ours: the prior of each question, set by hand; what the question says and who speaks is no answer",
)
def a_question_prefers_what_could_answer_it(specimen: Any) -> Any:
    memory = memory_of(specimen, strength=STRENGTH)
    for hour, (speaker, text, *_) in enumerate(STORY):
        memory.encode(Event(float(hour), text, speaker))
    asked = (
        ("When was it?", 1, [1, 0, 0, 1, 0, 1, 0, 0]),
        ("How many?", 2, [0, 1, 0, 1, 0, 0, 1, 0]),
        ("Where was it?", 3, [0, 0, 1, 0, 0, 0, 1, 0]),
        ("Tell me: who was it?", 3, [0, 0, 1, 0, 0, 0, 1, 0]),
        ("Who was in Ghent?", 3, [0, 0, 1, 0, 0, 0, 0, 0]),
        ("Who was in Ghent with Clara Weber?", 3, [0] * 8),
        ("Why did Ada go?", 0, [0] * 8),
        ("", 0, [0] * 8),
        ("When?", 1, [1, 0, 0, 1, 0, 1, 0, 0]),
    )
    measured, expected = [], []
    for text, kind, holds in asked:
        memory.retrieve(text)
        measured.append([memory.column(specimen.ASKED_TYPE).item(), *memory.column(LOG_PRIOR)])
        expected.append(
            [kind, *(STRENGTH * h for h in holds), 0.0, 0.0, 0.0, STRENGTH * (kind == 2)]
        )
    return np.array(measured), np.array(expected)


@equation(
    "AT-6", source="closed form: scores on [0, 1] times e to the prior; ties by row", rtol=1e-6
)
def of_equal_memories_the_one_with_a_time_is_ranked_first(specimen: Any) -> Any:
    memory = memory_of(specimen, "lexical_bm25", strength=STRENGTH)
    for hour, text in enumerate(
        ("green boat lately", "green boat yesterday", "it rained", "it rained yesterday")
    ):
        memory.encode(Event(float(hour), text, dated=False))
    measured, expected = [], []
    for question, factor, rows in (
        ("When was it green?", np.exp(STRENGTH), [1, 0, 2, 3]),
        ("Why was it green?", 1.0, [0, 1, 2, 3]),
    ):
        answer = memory.retrieve(question, k=4)
        measured.append([*memory.column(PRIMED), *answer.rows])
        expected.append([1.0, factor, 0.0, 0.0, *rows])
    return np.array(measured), np.array(expected)


@limit(
    "AT-7",
    source="closed form: the eighth name counts, a name beyond those that are kept has no effect, and a memory of none has none",
)
def only_the_first_names_are_kept(specimen: Any) -> Any:
    memory = memory_of(specimen, strength=STRENGTH)
    others = ("Oslo", "Ghent", "Leeds", "Turin", "Malmo", "Riga", "Porto", "Basel")
    encode(
        memory,
        (0.0, "We saw " + ", ".join(others) + " and Quito"),
        (1.0, "We saw " + ", ".join(others[:3]) + " and Quito"),
        (2.0, "We saw the sea"),
    )
    measured = []
    for said in (others, others[:7]):
        memory.retrieve("Where did we see " + ", ".join(said) + "?")
        measured.append(memory.column(LOG_PRIOR).copy())
    return np.array(measured), np.array([[0.0, STRENGTH, 0.0], [STRENGTH, STRENGTH, 0.0]])


@adaptation(
    "AT-7b",
    source="definition: the numbers of 200,000 names differ and fill 63 bits; that of no name is 0",
)
def names_are_told_apart(specimen: Any) -> Any:
    numbers = [specimen.number_of_text(f"n{i}") for i in range(200_000)]
    return [
        len(set(numbers)),
        max(numbers).bit_length(),
        min(numbers) > 0,
        specimen.number_of_text(""),
    ], [200_000, 63, True, 0]


@adaptation("AT-8", source="linear time: s for queries of 300,000 characters")
def hostile_queries_take_linear_time(specimen: Any) -> Any:
    units = ("what is the ", "which of those ", "how how ", "tell me to ", "when where who ")
    return linear_time(lambda text: specimen.type_of(text.strip()), *map(long_text, units))


@figure(
    "prior",
    caption="Factor on the score of a memory with a time, with a quantity and with a name, for four questions: 1 when, 2 how many, "
    "3 where, 4 why",
    source="ours: e to the prior at the installed strength",
)
def factors_of_the_types(specimen: Any) -> Picture:
    memory = memory_of(specimen)
    encode(memory, (0.0, "It was yesterday"), (1.0, "It was two dogs"), (2.0, "It was in Ghent"))
    factors = []
    for text in ("When was it?", "How many was it?", "Where was it?", "Why was it?"):
        memory.retrieve(text)
        factors.append(np.exp(memory.column(LOG_PRIOR)))
    at = np.arange(1.0, 5.0)
    curves = tuple(
        Curve(name, at + shift, values, Marks.DOTS)
        for name, shift, values in zip(
            ("time", "quantity", "name"), (-0.1, 0.0, 0.1), np.array(factors).T, strict=True
        )
    )
    return Picture("question", "factor on the score", curves)


@mutant("who and where ask for a name also where they begin a clause", rejected_by="AT-1")
def any_pronoun(specimen: Any) -> Any:
    original = specimen.type_of

    def type_of(words: str) -> Any:
        wanted = original(words)
        return (
            specimen.WantedAnswer.NAME
            if wanted is specimen.WantedAnswer.OTHER and {"who", "where"} & set(words.split())
            else wanted
        )

    return specimen.replacing("type_of", type_of)


@mutant("memories that hold nothing of the kind are lowered, too", rejected_by="AT-2")
def two_sided(specimen: Any) -> Any:
    def add_prior(holds: Any, strength: float, out: Any) -> None:
        out += np.where(holds, strength, -strength)

    return specimen.replacing("add_prior", add_prior)


@mutant("every name counts, known or not", rejected_by="AT-3")
def any_name(specimen: Any) -> Any:
    def mentions_another(mentioned: Any, known: Any, out: Any) -> None:
        out[:] = mentioned[:, 0] > 0

    return specimen.replacing("mentions_another", mentions_another)


@mutant("a date counts as a quantity", rejected_by="AT-4")
def dates_count(specimen: Any) -> Any:
    def annotate(self: Any, view: Any, incoming: Any) -> None:
        original(self, view, incoming)
        view.states_quantity[view.row] |= any(c.isdigit() for c in incoming.event.text)

    original = specimen.AnswerType.annotate
    return specimen.overriding("AnswerType", annotate=annotate)


@mutant("the name of who speaks counts", rejected_by="AT-5")
def speakers_count(specimen: Any) -> Any:
    def annotate(self: Any, view: Any, incoming: Any) -> None:
        original(self, view, incoming)
        view.said_by[view.row] = 0

    original = specimen.AnswerType.annotate
    return specimen.overriding("AnswerType", annotate=annotate)


@mutant("a factor in place of its logarithm", rejected_by="AT-6")
def factor(specimen: Any) -> Any:
    original = specimen.add_prior
    return specimen.replacing(
        "add_prior", lambda holds, strength, out: original(holds, float(np.exp(strength)), out)
    )


@mutant("names that the question says count", rejected_by="AT-7")
def said_names_count(specimen: Any) -> Any:
    original = specimen.mentions_another
    return specimen.replacing(
        "mentions_another", lambda mentioned, known, out: original(mentioned, known[:0], out)
    )
