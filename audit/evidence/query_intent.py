"""Evidence for query_intent: each intent on questions written for it, the weights by the tables,
and hostile queries in linear time.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from ...engine.contract.columns import Facet, Phase
from ...engine.contract.vocabulary import FACET_WEIGHTS, LOG_FACETS
from ...engine.text.features import features
from ..checks import adaptation, at_most, equation, limit, mutant
from ..figures import Curve, Picture, figure
from ..memory import encode, memory_of, neighbour
from .shared.clock import linear_time, long_text

QUESTIONS = {
    "TEMPORAL": (
        "When did Ada move to Oslo?",
        "What day was the concert?",
        "How long have they been married?",
        "How many weeks ago did Tom quit?",
        "In what order did she visit the museums?",
        "Did he call before or after the exam, and when was it?",
        "Which year did the shop open?",
    ),
    "CAUSAL": (
        "Why did Ada leave her job?",
        "What was the reason for the delay?",
        "How come nobody answered?",
        "What made Tom change his mind?",
        "What led to the outage?",
    ),
    "SEMANTIC": (
        "What does Ada do in her free time?",
        "How does the cache work?",
        "Describe the painting",
        "Is Tom a vegetarian?",
        "What did she say when she saw the house?",
    ),
    "ENTITY": (
        "Who gave Ada the violin?",
        "Where does the choir meet?",
        "What is the name of her dog?",
        "Whose car was it?",
        "Which book did he recommend?",
    ),
    "KNOWLEDGE_UPDATE": (
        "Where does Ada work now?",
        "What is the current limit?",
        "Does Tom still play chess?",
        "What is the latest version of the plan?",
        "Is she no longer in the band?",
    ),
    "MULTI_HOP": (
        "What do Ada and Tom have in common?",
        "Did both sisters study law?",
        "How is Tom related to Mia?",
        "How many different cities has he visited?",
        "Who is the friend who taught Ada to sail?",
        "How much did the trips cost in total?",
    ),
}


KINDS = {
    "DETAIL": (
        "When did Ada move to Oslo?", "What is the exact budget of the trip?",
        "How many chairs did we order?", "What is the name of her dog?",
        "Which version did we settle on?", "Remind me of the price of the tent",
        "And how much was the deposit?", "What's my account number?",
        "Who gave the overview of the plan?", "Can you say precisely what the doctor wrote?",
        "Do you know when will the train leave?",
    ),
    "SYNTHESIS": (
        "Summarise the trip", "Give me an overview of the renovation",
        "How did the plan for the garden develop?", "Walk me through the hiring",
        "What are the main themes of our talks?", "What do you know about my sister?",
        "Could you recap how many tents we looked at?",
        "How has her view of the job changed?", "Tell me everything about the kitchen",
        "How my running went over the months",
        "Summarize the exact wording",
    ),
    "GENERAL": (
        "Is the soup any good?", "What should I cook tonight?", "Why did Ada leave her job?",
        "Describe the painting", "What does Tom like?", "",
    ),
}  # fmt: skip


def weigh(specimen: Any, text: str, strength: float = 1.0) -> tuple[int, Any]:
    """Intent number and facet weights as the plug-in writes them."""
    view = SimpleNamespace(intent=-1, question_kind=0, log_facets=np.zeros(len(Facet)))
    plug_in = specimen.QueryIntent(
        "query_intent", specimen.QueryIntentParams(time_scale=1.0, strength=strength)
    )
    plug_in.weigh(view, SimpleNamespace(features=features(text)))
    return view.intent, np.exp(view.log_facets)


@adaptation("QI-1", source="questions written for each intent")
def each_question_has_its_intent(specimen: Any) -> Any:
    asked = [(text, name) for name, texts in QUESTIONS.items() for text in texts]
    return [specimen.Intent(weigh(specimen, text)[0]).name for text, _ in asked], [
        name for _, name in asked
    ]


@adaptation("QI-10", source="questions written for each kind, in a memory")
def each_question_has_its_kind(specimen: Any) -> Any:
    memory, measured = memory_of(specimen), []
    encode(memory, (0.0, "Ada sings"), (1.0, "Bo works"))
    asked = [(text, name) for name, texts in KINDS.items() for text in texts]
    for text, _ in asked:
        memory.retrieve(text)
        measured.append(memory.column(specimen.QUESTION_KIND).item())
    return measured, [("GENERAL", "DETAIL", "SYNTHESIS").index(name) for _, name in asked]


@equation("QI-2", source="the tables, multiplied")
def factors_of_intent_and_clues_multiply(specimen: Any) -> Any:
    text = "When did Ada fix the crash in src/loop.py, last week?"  # all four clues
    expected = specimen.INTENT_FACETS[0] * specimen.CLUE_FACETS.prod(axis=0)
    return weigh(specimen, text)[1], expected


@limit("QI-3", source="closed form", figure="facets")
def strength_is_the_exponent_of_the_weights(specimen: Any) -> Any:
    text = "Where does Ada work now?"
    none, half, full = (weigh(specimen, text, s)[1] for s in (0.0, 0.5, 1.0))
    return np.concatenate([none, half**2]), np.concatenate([np.ones(len(Facet)), full])


@limit("QI-4", source="closed form: without words every factor is 1")
def a_query_without_words_changes_nothing(specimen: Any) -> Any:
    weighed = [weigh(specimen, text) for text in ("", "?!...", "\x00")]
    return np.array([[i, *w] for i, w in weighed]), np.array([[-1.0] + [1.0] * len(Facet)] * 3)


@adaptation("QI-5", source="ours: factors are moderate, and none switches a facet off")
def every_factor_lies_between_a_half_and_two(specimen: Any) -> Any:
    return at_most(
        np.abs(np.log2(np.concatenate([specimen.INTENT_FACETS, specimen.CLUE_FACETS]))), 1.0
    )


# of each intent and clue, by the name of the facet; 1 for the others
FACTORS = {
    "TEMPORAL": {"words": 1.2, "use": 0.7, "time": 0.7, "context": 1.5, "when": 1.5, "kind": 0.9},
    "CAUSAL": {"meaning": 1.2, "form": 0.8, "context": 1.2, "association": 1.5},
    "SEMANTIC": {"meaning": 1.2, "kind": 1.1},
    "ENTITY": {"words": 1.5, "form": 1.2, "time": 0.8, "association": 1.2, "kind": 0.9},
    "KNOWLEDGE_UPDATE": {"words": 1.2, "use": 1.5, "time": 2.0},
    "MULTI_HOP": {"time": 0.8, "context": 1.2, "association": 2.0},
    "DATE": {"words": 1.2, "time": 1.5, "when": 1.5},
    "NAME": {"words": 1.2, "association": 1.2},
    "IDENTIFIER": {"meaning": 0.8, "words": 1.2, "form": 2.0},
    "FAULT": {"words": 1.2, "form": 1.2, "association": 1.2},
}


@adaptation("QI-9", source="ours: the factors that differ from 1, by intent or clue and facet")
def each_intent_and_clue_weights_the_facets_named_for_it(specimen: Any) -> Any:
    rows = {
        **{i.name: specimen.facet_weights(i, [], 1.0) for i in specimen.Intent},
        **{c.name: specimen.facet_weights(None, [c], 1.0) for c in specimen.Clue},
    }
    return [rows[name].tolist() for name in FACTORS], [
        [factors.get(f.name.lower(), 1.0) for f in Facet] for factors in FACTORS.values()
    ]


@adaptation("QI-6", source="linear time: s for queries of 300,000 characters")
def hostile_queries_take_linear_time(specimen: Any) -> Any:
    def read(text: str) -> None:
        specimen.intent_of(text.strip())
        specimen.question_kind_of(text.strip())

    units = ("when ", "the same ", "what order ", "do x x x x ", "how did x ")
    return linear_time(read, *map(long_text, units), long_text("x", before="do "))


@adaptation("QI-7", source="case, accents, punctuation and typographic apostrophes")
def case_accents_and_punctuation_do_not_matter(specimen: Any) -> Any:
    forms = (
        "WHAT'S THE NAME OF THE CAFÉ",
        "what\u2019s the name, of the cafe?!",
        "  What's   the\nname of the Cafe ",
    )
    return [specimen.Intent(weigh(specimen, text)[0]).name for text in forms], ["ENTITY"] * 3


@equation(
    "QI-8",
    source="the tables: product of powers of the rows of intent and clues, which are named by hand; factors of others multiply",
)
def a_memory_weights_the_facets_of_its_query(specimen: Any) -> Any:
    asked = (
        ("When did we meet?", 0, ()),
        ("Why did the engine fail in src/loop.py?", 1, (1, 2, 3)),
        ("How does the cache work?", 2, ()),
        ("How does the cache of 12 kg work?", 2, ()),  # a number is no date
        ("Who gave Ada the violin?", 3, (1,)),
        ("Where did Ada work on 7 May 2023, and now?", 4, (0, 1)),
        ("How is Tom related to Mia?", 5, (1,)),
        ("?!", -1, ()),
    )
    other = np.linspace(-0.3, 0.4, len(Facet))

    def shift(view: Any, _: Any) -> None:
        view.log_facets[...] += other

    memory = memory_of(specimen, neighbour(Phase.RETRIEVE, shift, adds=(LOG_FACETS,)), strength=0.6)
    encode(memory, (0.0, "Ada sings"), (1.0, "Bo works"))
    measured, expected = [], []
    for text, intent, clues in asked:
        memory.retrieve(text)
        factor = specimen.CLUE_FACETS[list(clues)].prod(axis=0) * (
            specimen.INTENT_FACETS[intent] if intent >= 0 else 1.0
        )
        measured.append(
            [
                memory.column(specimen.INTENT).item(),
                *memory.column(LOG_FACETS),
                *memory.column(FACET_WEIGHTS),
            ]
        )
        expected.append([intent, *(0.6 * np.log(factor) + other), *(factor**0.6 * np.exp(other))])
    return np.array(measured), np.array(expected)


@figure(
    "facets",
    caption="Weights of the facets for a question about a time, over the strength of the mechanism: words, context and association "
    "rise, use and recency fall",
    source="ours: the tables, multiplied",
)
def facets_of_a_question_over_strength(specimen: Any) -> Picture:
    strengths = np.linspace(0.0, 1.0, 11)
    weights = np.array([weigh(specimen, "When did Ada move to Oslo?", s)[1] for s in strengths])
    return Picture(
        "strength",
        "factor of the facet's weight",
        tuple(
            Curve(facet.name.lower(), strengths, weights[:, facet.value])
            for facet in Facet
            if not np.allclose(weights[:, facet.value], 1.0)
        ),
    )


@mutant("factors add", rejected_by="QI-2")
def additive(specimen: Any) -> Any:
    def weights(intent: Any, clues: Any, strength: float) -> Any:
        result = np.ones(len(Facet)) + (specimen.CLUE_FACETS[clues] - 1.0).sum(axis=0)
        return (
            result if intent is None else result + strength * (specimen.INTENT_FACETS[intent] - 1.0)
        )

    return specimen.replacing("facet_weights", weights)


@mutant("one intent for every question", rejected_by="QI-1")
def one_kind(specimen: Any) -> Any:
    return specimen.replacing("intent_of", lambda words: specimen.Intent.SEMANTIC)


@mutant("a phrase of synthesis always counts before one of detail", rejected_by="QI-10")
def synthesis_first(specimen: Any) -> Any:
    original, summary = specimen.question_kind_of, ("overview", "recap")
    return specimen.replacing(
        "question_kind_of",
        lambda words: 2 if any(word in words for word in summary) else original(words),
    )


@mutant("strength interpolates linearly", rejected_by="QI-3")
def linear(specimen: Any) -> Any:
    original = specimen.facet_weights
    return specimen.replacing(
        "facet_weights",
        lambda intent, clues, strength: 1.0 + strength * (original(intent, clues, 1.0) - 1.0),
    )


@mutant("a number names a date", rejected_by="QI-8")
def numbers_for_dates(specimen: Any) -> Any:
    def clues_of(words: str, said: Any) -> Any:
        date = [specimen.Clue.DATE] if said.numbers and not said.dates else []
        return [*date, *specimen.clues_of(words, said)]

    return specimen.replacing("clues_of", clues_of)


@mutant("weights in place of their logs", rejected_by="QI-8")
def not_logs(specimen: Any) -> Any:
    def weigh(self: Any, view: Any, cue: Any) -> None:
        words = " ".join(cue.features.words)
        intent = specimen.intent_of(words)
        view.intent = -1 if intent is None else int(intent)
        view.log_facets[...] += specimen.facet_weights(
            intent, specimen.clues_of(words, cue.features), self.params.strength
        )

    return specimen.overriding("QueryIntent", weigh=weigh)
