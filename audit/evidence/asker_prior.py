"""Evidence for asker_prior: whose words each question asks for, the prior by loops over plain
lists, and its effect on a ranking by closed form.
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

QUESTIONS = {
    "ASKER": (
        "What did I say about the budget?", "When did I move to Leeds?",
        "What is my sister's name?", "In what order did I mention my hobbies?",
        "Can you help me with my essay?", "What did I tell you about your suggestion?",
        "Can you list the order in which I brought up my projects?",
        "What do you recommend for my knee?", "Which of the plans that I described was cheapest?",
        "I'd like a plan for the garden.", "Summarise in order what I told you.",
        "What is our plan for my birthday?",
    ),
    "OTHER": (
        "What did you suggest for my back pain?", "What was your answer about the lease?",
        "After I told you about the leak, what did you advise?",
        "Remind me of the exercise you told me about.", "Had you warned me about the fee?",
        "Can you repeat the steps you listed?",
        "According to you, which plan was better?",
        "What did you say when I told you about the trip?",
        "Which books have you recommended to me?",
    ),
    "BOTH": (
        "Summarise what I told you about the house.", "Give me an overview of my project.",
        "What did we discuss last week?",
        "Recap our conversation.",
        "What are the key points of your advice?", "How has my opinion on remote work evolved?",
        "Which venue did we agree on?",
    ),
    "UNMARKED": ("Where does Ada live?", "Who is the team lead?", "Recommend a good podcast.",
                 "Can you write a poem?", "How do tides work?"),
}  # fmt: skip
OWN, OTHER, UNMARKED = 0.7, 0.3, 0.11  # odd values, none a default


@adaptation("AP-1", source="questions written for each side of a talk")
def each_question_asks_for_one_side(specimen: Any) -> Any:
    asked = [(text, name) for name, texts in QUESTIONS.items() for text in texts]
    return [specimen.said_by(" ".join(features(text).words)).name for text, _ in asked], [
        name for _, name in asked
    ]


@equation("AP-2", source="the definition, as a loop over plain lists")
def the_prior_is_added_where_the_role_agrees(specimen: Any) -> Any:
    random = np.random.default_rng(2)
    measured, expected = [], []
    for wanted in (1, 2, 3):
        roles, before = random.integers(0, 4, 30).astype(np.int8), random.normal(size=30)
        out = before.copy()
        specimen.add_prior(roles, wanted, 0.3 * wanted, out)
        measured.append(out)
        expected.append(
            [
                b + (0.3 * wanted if r == wanted else 0.0)
                for r, b in zip(roles.tolist(), before.tolist(), strict=True)
            ]
        )
    return np.array(measured), np.array(expected)


@limit(
    "AP-3", source="closed form: memories without a role, and a query without words, have no prior"
)
def without_roles_or_words_there_is_no_prior(specimen: Any) -> Any:
    named, empty = memory_of(specimen), memory_of(specimen)
    encode(
        named, (0.0, "I sold my boat", "Ada"), (1.0, "You told me that", "Bo"), (2.0, "It rained")
    )
    encode(
        empty,
        (0.0, "I sold my boat", "user"),
        (1.0, "Good", "assistant"),
        (2.0, "Be kind", "system"),
    )
    measured = []
    for memory, text in (
        (named, "What did I sell?"),
        (named, "What did you tell me?"),
        (empty, "?!"),
        (empty, "Summarise my week."),
    ):
        memory.retrieve(text)
        measured.append(memory.column(LOG_PRIOR).tolist())
    return measured, [[0.0] * 3] * 4


@adaptation(
    "AP-4",
    source="ours: roles by speaker or by attribute, and the factor of each question, set by hand",
)
def a_memory_keeps_roles_and_weights_the_side_asked_for(specimen: Any) -> Any:
    memory = memory_of(specimen, refusing("refused"), own=OWN, other=OTHER, unmarked=UNMARKED)
    encode(
        memory,
        (0.0, "I sold my boat", "user"),
        (1.0, "What a pity", "assistant"),
        (1.5, "refused", "user"),
        (2.0, "Be kind", "system"),
        (3.0, "I like boats", "Ada"),
        (4.0, "It rained"),
        Event(5.0, "My keys", "Bo", attributes=(("role", "user"),)),
        Event(6.0, "Look there", "Bo", attributes=(("role", "assistant"),)),
        Event(7.0, "Hm", "user", attributes=(("role", "guest"),)),
    )
    memory.archive(0)
    user, assistant = np.array([1, 0, 0, 0, 0, 1, 0, 0.0]), np.array([0, 1, 0, 0, 0, 0, 1, 0.0])
    asked = (
        ("What did I sell?", 2, OWN * user),
        ("What did you say?", 3, OTHER * assistant),
        ("Who lives here?", 1, UNMARKED * user),
        ("Summarise what I said.", 0, 0.0 * user),
        ("", -1, 0.0 * user),
    )
    measured, expected = [[-9.0, *memory.column(specimen.ROLE)]], [[-9.0, 1, 2, 3, 0, 0, 1, 2, 0]]
    for text, said, prior in asked:
        memory.retrieve(text)
        measured.append([memory.column(specimen.SAID).item(), *memory.column(LOG_PRIOR)])
        expected.append([said, *prior])
    return np.array(measured), np.array(expected)


@equation(
    "AP-5", source="closed form: scores on [0, 1] times e to the prior; ties by row", rtol=1e-6
)
def of_equal_memories_the_side_asked_for_is_ranked_first(specimen: Any) -> Any:
    memory = memory_of(specimen, "lexical_bm25", own=OWN, other=OTHER, unmarked=UNMARKED)
    encode(
        memory,
        (0.0, "the boat is green", "assistant"),
        (1.0, "the boat is green", "user"),
        (2.0, "it rained", "user"),
    )
    measured, expected = [], []
    asked = (
        ("My boat?", (1.0, np.exp(OWN), 0.0), [1, 0, 2]),
        ("Did you mention a boat?", (np.exp(OTHER), 1.0, 0.0), [0, 1, 2]),
        ("A boat?", (1.0, np.exp(UNMARKED), 0.0), [1, 0, 2]),
        ("Our boat?", (1.0, 1.0, 0.0), [0, 1, 2]),
    )
    for text, scores, rows in asked:
        answer = memory.retrieve(text, k=3)
        measured.append([*memory.column(PRIMED), *answer.rows])
        expected.append([*scores, *rows])
    return np.array(measured), np.array(expected)


@adaptation("AP-6", source="linear time: s for queries of 300,000 characters")
def hostile_queries_take_linear_time(specimen: Any) -> Any:
    units = ("did i ever ", "i've just ", "your good ", "how has my ", "you have had ")
    return linear_time(lambda text: specimen.said_by(text.strip()), *map(long_text, units))


@figure(
    "prior",
    caption="Factor on the score of a memory of the user and of the assistant, for four questions: 1 what did I say, 2 what did you "
    "suggest, 3 who lives there, 4 summarise",
    source="ours: e to the prior at the installed values",
)
def factors_of_the_roles(specimen: Any) -> Picture:
    memory = memory_of(specimen)
    encode(memory, (0.0, "I moved", "user"), (1.0, "Good", "assistant"))
    factors = []
    for text in (
        "What did I say?",
        "What did you suggest?",
        "Who lives there?",
        "Summarise my week.",
    ):
        memory.retrieve(text)
        factors.append(np.exp(memory.column(LOG_PRIOR)))
    user, assistant = np.array(factors).T
    at = np.arange(1.0, 5.0)
    curves = (
        Curve("user", at - 0.1, user, Marks.DOTS),
        Curve("assistant", at + 0.1, assistant, Marks.DOTS),
    )
    return Picture("question", "factor on the score", curves)


@mutant("the person in the question decides, not who speaks", rejected_by="AP-1")
def by_person(specimen: Any) -> Any:
    def said_by(words: str) -> Any:
        return (
            specimen.WhoseWords.ASKER
            if {"i", "my"} & set(words.split())
            else specimen.WhoseWords.UNMARKED
        )

    return specimen.replacing("said_by", said_by)


@mutant("memories of other roles are lowered, too", rejected_by="AP-2")
def two_sided(specimen: Any) -> Any:
    def add_prior(role: Any, wanted: int, log_factor: float, out: Any) -> None:
        out += np.where(role == wanted, log_factor, -log_factor)

    return specimen.replacing("add_prior", add_prior)


@mutant("a memory without a role counts as the asker's", rejected_by="AP-3")
def named_is_asker(specimen: Any) -> Any:
    original = specimen.add_prior
    return specimen.replacing(
        "add_prior",
        lambda role, wanted, log_factor, out: original(
            np.where(role == 0, 1, role), wanted, log_factor, out
        ),
    )


@mutant("the role attribute is not read", rejected_by="AP-4")
def speaker_only(specimen: Any) -> Any:
    def keep(self: Any, view: Any, incoming: Any) -> None:
        view.role[view.row] = (
            specimen.ROLES.index(incoming.event.speaker)
            if incoming.event.speaker in specimen.ROLES
            else 0
        )

    return specimen.overriding("AskerPrior", keep=keep)


@mutant("a factor in place of its logarithm", rejected_by="AP-5")
def factor(specimen: Any) -> Any:
    original = specimen.add_prior
    return specimen.replacing(
        "add_prior",
        lambda role, wanted, log_factor, out: original(
            role, wanted, float(np.exp(log_factor)), out
        ),
    )
