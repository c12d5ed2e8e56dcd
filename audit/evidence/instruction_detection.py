"""Evidence for instruction_detection: utterances and queries composed for their kind, and the fit
by loops over plain lists.

Precision and recall on more utterances are in tests/mechanisms/test_instruction_detection.py.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from ...engine.contract.columns import Phase
from ...engine.contract.records import Event
from ...engine.contract.vocabulary import LOG_PRIOR, VETO
from ...engine.text.features import features
from ..checks import adaptation, at_least, equation, limit, mutant
from ..figures import Curve, Picture, figure
from ..memory import Scripted, encode, memory_of, neighbour, plug_in
from .shared.clock import linear_time, long_text

SAID = {
    ("GENERAL", ""): (
        "From now on, please answer in British English.", "Never share my address with anyone.",
        "I prefer that you keep your answers short.",
        "Stop apologising in your answers.", "Can you always format dates as day-month-year?",
        "Please always address me by my first name.",
        "My knees are bad, so never suggest running.", "In your replies, never use emojis.",
        "If you don't mind, please always use my first name.",
        "Whenever possible, take trains.", "Don't use contractions in your drafts, ever.",
        "Add a summary at the end of every answer.",
        "Whenever you answer, use French.", "You don't need to greet me every time.",
        "Every morning, send me my tasks.",
        "We went " + "far and " * 60 + "home; always use tabs.",
        "can you always use tabs", "Tell me why you chose a wine from now on.",
        "x" * 587 + ", so always use tabs.",
        ("It rained. " * 350 + "Never use my surname. ") + "It rained. " * 900,
        "It rained. " * 900 + "Never use my surname. " + "It rained. " * 350,
    ),
    ("SCOPED", "recipes"): (
        "When I ask about recipes, use metric units.",
        "Whenever I ask you about recipes, list the tools.", "For all recipes, give the time.",
    ),
    ("SCOPED", "you finish a chapter"): ("Write a summary every time you finish a chapter.",),
    ("SCOPED", "you see my boss"): ("Always smile when you see my boss.",),
    ("SCOPED", "a table"): ("If I ask for a table, I want three columns.",),
    ("SCOPED", "you visit"): ("Whenever you visit, bring a cake.",),
    ("SCOPED",
     "milk"): ("When I ask about milk, skip the sugar. When I ask about cake, skip the cream.",),
    ("SCOPED", "tea"): ("For tea, always boil fresh water.",
                        "Whenever I mention tea, skip the sugar, please."),
    ("SCOPED", "you write a function"): ("Every time you write a function, add type hints.",
                                         "Add type hints whenever you write a function."),
    ("SCOPED", "gifts"): ("When it comes to gifts, avoid anything with a strong scent.",),
    ("PREFERENCE", ""): ("I prefer window seats.", "I'm allergic to peanuts.",
                         "I can't stand horror movies.",
        "I prefer trains, can you find one to Ghent?",
        "I like window seats but please take the aisle today.", "Mornings work best for me."),
    ("PREFERENCE",
     "i travel for work"): ("When I travel for work, I prefer hotels near the station.",),
    ("NONE", ""): (
        "She always forgets her umbrella.", "We never found out who broke the vase.",
        "Book a table for six on Friday.", "Call me when you get home.",
        "When I was young, we ate fish every Friday.", "My dad told me to never lend money.",
        "Do you always work this late?", "Never mind.",
        "Write a song in which the chorus always ends with rain.",
        "I loved the concert last night.", "Every time I see her, she smiles.",
        "When we had the dog, always lock the gate was our rule.",
        "When you get home, please call me.", "If it rains tomorrow, please drive.",
        "Make the app show a warning every time the battery is low.",
        "Send it whenever you have time.", "When we met, please was his word.",
        "When you see it, write.",
        "x" * 588 + ", so always use tabs.",
        ("It rained. " * 400)[:4086] + " She will never use tabs. " + ("It rained. " * 400)[:4080],
        "It rained. " * 400 + "Never use my surname. " + "It rained. " * 400,
        "Write a song that never ends.", "Can you see why it always rains?",
        "You always know how to cheer me up.", "If it rains tomorrow, bring the tent inside.",
        "I'd prefer to stay in tonight.", "",
    ),
}  # fmt: skip
ASKED = {
    "REQUEST": ("Can you recommend a restaurant?", "How do I center a heading?",
                "Write a thank-you note.", "Help me plan a trip.",
                "What should I wear?", "Which laptop should I buy?", "Explain how vaccines work.",
                "Can you help me with the trip I told you about?"),
    "RECALL": ("When did I move?", "What did I say about the budget?",
               "Did I ever mention my allergy?", "Can you remind me what we decided?",
               "Summarise what we discussed in our last conversation.",
               "What was the name of the dentist?", "Tell me which film we saw in May."),
    "OPEN": ("What languages does Ada speak?", "Where does Bo live?", "Is Mia a vegetarian?",
             "green tea", "ok!", "Nice one!", "green tea in Kyoto",
             "I went to Rome. Is it warm there?", "Why the long face.", "The kettle broke. Why",
             "My login fails.",
             "It rained. The app keeps crashing."),
    "STATEMENT": ("The kettle broke this morning.", "I moved to Oslo!",
                  "Thanks. The cake was good.", "We met at noon. It rained."),
}  # fmt: skip
# odd values, none a default
PREFERENCE, NAMED, WHOLE, FLOOR, STRENGTH = 0.7, 0.3, 0.6, 0.25, 1.7


@adaptation("ID-1", source="utterances written for each kind, with the scope that each names")
def each_utterance_has_its_kind_and_scope(specimen: Any) -> Any:
    said = [(text, *due) for due, texts in SAID.items() for text in texts]
    return [
        (kind.name, scope) for kind, scope, _ in (specimen.standing_of(text) for text, _, _ in said)
    ], [(name, scope) for _, name, scope in said]


@adaptation("ID-2", source="queries written for each kind")
def each_query_has_its_kind(specimen: Any) -> Any:
    asked = [(text, name) for name, texts in ASKED.items() for text in texts]
    return [specimen.asking_of(text).name for text, _ in asked], [name for _, name in asked]


@equation(
    "ID-3",
    source="the definition by hand: act times speaker, times the share of the text over the share that counts fully",
)
def standing_is_act_times_speaker_times_share(specimen: Any) -> Any:
    who, shares = (
        ("user", "", "system", "Ada", "assistant"),
        {1.0: 1.0, 0.6: 1.0, 0.3: 0.5, 0.15: 0.25},
    )
    due = {
        "NONE": (0, 0, 0, 0, 0),
        "PREFERENCE": (0.7, 0.7, 0.7, 0.7, 0),
        "SCOPED": (1, 1, 1, 0.3, 0),
        "GENERAL": (1, 1, 1, 0.3, 0),
    }
    measured = [
        [
            [
                specimen.level(
                    specimen.StandingKind[kind], speaker, share, PREFERENCE, NAMED, WHOLE
                )
                for speaker in who
            ]
            for kind in due
        ]
        for share in shares
    ]
    return np.array(measured), np.array(
        [np.array(list(due.values())) * factor for factor in shares.values()]
    )


@adaptation(
    "ID-12", source="words counted by hand: of the sentences that stand, over those of the text"
)
def the_share_of_a_text_is_counted_in_words(specimen: Any) -> Any:
    due = {
        "Always use tabs.": (3, 3),
        "The sun is out. Always use tabs.": (3, 7),
        "Always use tabs. I prefer tea. Go on!": (6, 8),
        "I saw  Bo at six.": (0, 5),
        "": (0, 1),
        "Never use my surname! It rained, and then it rained again, all of the day.": (4, 15),
        "I like window seats but please take the aisle today.": (10, 10),
        "It rained. I prefer trains, can you find one to Ghent?": (9, 11),
    }
    return np.array([specimen.standing_of(text).share for text in due]), np.array(
        [stands / words for stands, words in due.values()]
    )


def by_hand(standing: float, kind: str, scope: Any, own: Any, query: Any, others: float) -> float:
    """What the fit of one memory adds, from its vectors."""
    along = sum(
        float(a) * float(b) for a, b in zip(own if scope is None else scope, query, strict=True)
    )
    least = FLOOR if kind == "GENERAL" else 0.0
    return (STRENGTH if kind == "SCOPED" else others) * standing * min(1.0, max(least, along))


@equation("ID-4", source="the definition, as a loop over plain lists", rtol=1e-6)
def fit_is_the_cosine_with_scope_or_memory(specimen: Any) -> Any:
    random = np.random.default_rng(4)
    vectors = random.normal(size=(121, 5))
    vectors /= np.linalg.norm(vectors, axis=1)[:, None]
    own, scopes, query = vectors[:60], vectors[60:120].copy(), vectors[120]
    own[0], scopes[1] = 1.5 * query, 1.5 * query  # rounding cannot raise a fit above 1
    scopes[2] = 0.0, 0.0, 1.0, 0.0, 0.0
    kinds = [specimen.StandingKind(int(kind)) for kind in random.integers(0, 4, 60)]
    kinds[:3] = (
        specimen.StandingKind.GENERAL,
        specimen.StandingKind.SCOPED,
        specimen.StandingKind.SCOPED,
    )
    standing = np.array(
        [
            0.0 if kind == 0 else float(s)
            for kind, s in zip(kinds, random.uniform(0.2, 1.0, 60), strict=True)
        ]
    )
    scoped = [
        kind.name == "SCOPED" or (kind.name == "PREFERENCE" and i % 2 == 0)
        for i, kind in enumerate(kinds)
    ]
    held = np.where(np.array(scoped)[:, None], scopes, 0.0)
    before = random.normal(size=60)
    measured, expected = [], []
    for others in (STRENGTH, 0.0, -0.9):
        out = before.copy()
        specimen.add_fit(
            standing,
            np.array([int(kind) for kind in kinds], np.int8),
            held,
            own,
            query,
            FLOOR,
            STRENGTH,
            others,
            out,
        )
        measured.append(out)
        due = [
            by_hand(standing[i], kind.name, scopes[i] if scoped[i] else None, own[i], query, others)
            for i, kind in enumerate(kinds)
        ]
        expected.append(before + np.array(due))
    return np.array(measured), np.array(expected)


# One story: (text, speaker, kind, scope, standing).  Vectors are of whole numbers.
STORY = (
    ("When I ask about recipes, use metric units.", "user", "SCOPED", "recipes", 1.0),
    ("From now on, answer in French.", "user", "GENERAL", "", 1.0),
    ("I prefer window seats.", "user", "PREFERENCE", "", PREFERENCE),
    ("From now on I will always answer in French.", "assistant", "NONE", "", 0.0),
    ("You should always back up your files.", "assistant", "NONE", "", 0.0),
    ("We went to the lake.", "user", "NONE", "", 0.0),
    ("Whenever you pack, make a list.", "Ada", "SCOPED", "you pack", NAMED),
    ("Never give the solution right away.", "system", "GENERAL", "", 1.0),
    (
        "When I travel for work, I prefer small hotels.",
        "Bo",
        "PREFERENCE",
        "i travel for work",
        PREFERENCE,
    ),
    ("Please stop using emojis.", "", "GENERAL", "", 1.0),
    ("Thanks!", "user", "NONE", "", 0.0),
)
MIXED = "The sun is out. Always use tabs."  # 3 of its 7 words stand
PART = 3 / 7 / WHOLE
VECTORS: dict[str, tuple[float, ...]] = {
    STORY[0][0]: (1, 0, 0), STORY[1][0]: (3, 4, 0), STORY[2][0]: (0, 4, 3), STORY[3][0]: (1, 2, 2),
    STORY[4][0]: (0, 0, 1), STORY[5][0]: (1, 1, 0),
    STORY[6][0]: (0, 1, 0), STORY[7][0]: (-4, 0, 3), STORY[8][0]: (1, 0, 1), STORY[9][0]: (0, 3,
    -4), STORY[10][0]: (2, 1, 2), "refused": (1, 0, 0),
    "recipes": (0, 3, 4), "you pack": (0, -3, 4), "i travel for work": (12, 0, 5),
    "Always use tabs.": (1, 0, 0),
    MIXED: (2, 2, 1),
    "Can you write a recipe?": (1, 2, 2), "Where does Ada live?": (2, 1, 2), "What did I say?": (1,
    2, 2), "?!": (1, 0, 0),
    "The soup was salty.": (0, 1, 1),
}  # fmt: skip


def along(text: str, other: str) -> float:
    a, b = (np.array(VECTORS[words], float) for words in (text, other))
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def told(specimen: Any) -> Any:
    """A memory of the story, with a vetoed instruction in it and one of a named person in the
    role of the user.
    """

    def refuse(view: Any, incoming: Any) -> None:
        view.veto += incoming.event.speaker == "Cy"

    memory = memory_of(
        specimen,
        neighbour(Phase.ENCODE, refuse, adds=(VETO,)),
        embedder=Scripted(VECTORS),
        preference=PREFERENCE,
        named=NAMED,
        whole=WHOLE,
        floor=FLOOR,
        strength=STRENGTH,
    )
    encode(
        memory,
        *((float(i), text, speaker) for i, (text, speaker, *_) in enumerate(STORY[:6])),
        (6.0, "Always use tabs.", "Cy"),
        *((7.0 + i, text, speaker) for i, (text, speaker, *_) in enumerate(STORY[6:])),
        Event(20.0, MIXED, "Dee", dated=False, attributes=(("role", "user"),)),
    )
    memory.archive(1)
    return memory


@adaptation(
    "ID-5",
    source="ours: kind, standing and scope vector of each event of a story, set by hand",
    atol=1e-6,
)
def a_memory_keeps_kind_standing_and_scope(specimen: Any) -> Any:
    memory = told(specimen)
    kinds, standings = (
        [kind for _, _, kind, _, _ in STORY] + ["GENERAL"],
        [s for *_, s in STORY] + [PART],
    )
    scopes = [
        np.array(VECTORS[scope], float) / np.linalg.norm(VECTORS[scope]) if scope else np.zeros(3)
        for *_, scope, _ in STORY
    ] + [np.zeros(3)]
    measured = np.column_stack(
        [
            memory.column(specimen.STANDING_KIND),
            memory.column(specimen.STANDING),
            memory.column(specimen.STANDING_SCOPE),
        ]
    )
    return measured, np.column_stack(
        [[int(specimen.StandingKind[kind]) for kind in kinds], standings, np.array(scopes)]
    )


@adaptation(
    "ID-6",
    source="ours: what the fit of each memory of the story adds at a request, an open question and a statement, by hand; nothing "
    "at a question about the past",
    atol=1e-6,
)
def a_memory_prefers_its_instructions_at_requests(specimen: Any) -> Any:
    memory = told(specimen)
    measured, expected = [], []
    for text, asking in (
        ("Can you write a recipe?", 2),
        ("Where does Ada live?", 1),
        ("What did I say?", 0),
        ("?!", -1),
        ("The soup was salty.", 3),
    ):
        memory.retrieve(text)
        measured.append([memory.column(specimen.ASKING).item(), *memory.column(LOG_PRIOR)])
        due = []
        for said, _, kind, scope, standing in (*STORY, (MIXED, "Dee", "GENERAL", "", PART)):
            strength = (
                STRENGTH * {-1: 0.0, 0: 0.0, 1: float(kind == "SCOPED"), 2: 1.0, 3: -1.0}[asking]
            )
            due.append(
                strength
                * standing
                * max(FLOOR if kind == "GENERAL" else 0.0, along(scope or said, text))
            )
        expected.append([asking, *due])
    return np.array(measured), np.array(expected)


@limit("ID-7", source="closed form: without standing memories no query adds anything")
def narrative_alone_has_no_prior(specimen: Any) -> Any:
    memory = memory_of(specimen)
    encode(
        memory,
        (0.0, "She always forgets her umbrella.", "user"),
        (1.0, "I never found it."),
        (2.0, "You should always rest.", "assistant"),
    )
    silent = []
    for text in (
        "Can you write a poem?",
        "Where does Ada live?",
        "When did I move?",
        "",
        "I live in Oslo.",
    ):
        memory.retrieve(text)
        silent.append(memory.column(LOG_PRIOR).tolist())
    off = memory_of(specimen, preference=0.0)
    encode(off, (0.0, "When I travel for work, I prefer trains."))
    kept = [
        off.column(specimen.STANDING_KIND).item(),
        int(off.column(specimen.STANDING_SCOPE).any()),
    ]
    return np.array([*np.ravel(silent), *kept], float), np.zeros(17)


@adaptation("ID-8", source="the scopes of the story, by hand")
def the_forecast_names_the_scopes_that_are_embedded(specimen: Any) -> Any:
    coming = [
        SimpleNamespace(event=Event(0.0, text, speaker), features=features(text))
        for text, speaker in (
            *((text, speaker) for text, speaker, *_ in STORY),
            ("When I ask about tea, say no.", "assistant"),
        )
    ]
    mechanism: Any = plug_in(specimen)
    off: Any = plug_in(specimen, preference=0.0)
    due = [
        [scope for *_, kind, scope, _ in STORY if scope and kind in kinds]
        for kinds in (("SCOPED", "PREFERENCE"), ("SCOPED",))
    ]
    return [", ".join(version.scopes(None, coming)) for version in (mechanism, off)], [
        ", ".join(scopes) for scopes in due
    ]


@limit(
    "ID-11",
    source="the definition by hand: sentences and lines, without marks, quotations and empty parts",
)
def texts_are_cut_into_sentences(specimen: Any) -> Any:
    texts = "- A b!  \n\n  C: d;e; f", 'He said "no. Never." Pls wait…', "Go. ... Stop", ""
    return ["|".join(specimen.sentences(text)) for text in texts], [
        "a b!|c: d;e|f",
        "he said x please wait",
        "go.|stop",
        "",
    ]


@adaptation("ID-9", source="linear time: s for texts of 300,000 characters")
def hostile_texts_take_linear_time(specimen: Any) -> Any:
    def read(text: str) -> None:
        specimen.standing_of(text)
        specimen.asking_of(text)

    units = ("when i ", "please, ", "always\n", "i really ", '"a ', "every x, ", "a")
    return linear_time(read, *map(long_text, units))


@adaptation(
    "ID-10",
    source="the request and its instruction share no word: of 13 memories the instruction has the largest prior",
)
def an_instruction_is_first_for_a_request_in_its_scope(specimen: Any) -> Any:
    vectors = {
        "When I ask about food, use metric units.": (0, 0, 1),
        "food": (3, 4, 0),
        "How do I bake bread?": (4, 3, 0),
        "Never use my surname.": (0, 0, 1),
    }
    others = {f"We saw {n} boats.": (4, 3, n) for n in range(11)}
    memory = memory_of(specimen, embedder=Scripted({**vectors, **others}), strength=1.0)
    encode(
        memory,
        *(
            (float(i), text, "user")
            for i, text in enumerate((*list(vectors)[:1], *others, list(vectors)[3]))
        ),
    )
    memory.retrieve("How do I bake bread?")
    prior = memory.column(LOG_PRIOR)
    return at_least(prior[0] - prior[1:], 0.9 * 0.96 - 0.4)


@figure(
    "fit",
    caption="Prior of an instruction with a scope, of one for every request, and of a preference, over the cosine of the request with "
    "the scope or the memory",
    source="ours: the fit at the installed values",
)
def scores_over_the_cosine(specimen: Any) -> Picture:
    p: Any = plug_in(specimen).params
    cosines = np.linspace(-1.0, 1.0, 81)
    embedding = np.column_stack([cosines, np.sqrt(1.0 - cosines**2)])
    curves = []
    for kind, label in (
        (2, "instruction with a scope"),
        (3, "instruction for every request"),
        (1, "preference"),
    ):
        out = np.zeros(81)
        standing, scope = (
            np.full(81, 1.0 if kind > 1 else p.preference),
            embedding * float(kind == 2),
        )
        specimen.add_fit(
            standing,
            np.full(81, kind, np.int8),
            scope,
            embedding,
            np.array([1.0, 0.0]),
            p.floor,
            p.strength,
            p.strength,
            out,
        )
        curves.append(Curve(label, cosines, out))
    return Picture("cosine of the request", "added to LOG_PRIOR", tuple(curves))


@mutant("always and never are enough", rejected_by="ID-1")
def by_words(specimen: Any) -> Any:
    def standing_of(text: str) -> Any:
        general = any(
            word in text.lower() for word in ("always", "never", "from now on", "whenever")
        )
        return specimen.Said(
            specimen.StandingKind.GENERAL if general else specimen.StandingKind.NONE, "", 1.0
        )

    return specimen.replacing("standing_of", standing_of)


@mutant("every question mark is a request", rejected_by="ID-2")
def by_mark(specimen: Any) -> Any:
    return specimen.replacing(
        "asking_of",
        lambda text: specimen.QueryKind.REQUEST if text.endswith("?") else specimen.QueryKind.OPEN,
    )


@mutant("the assistant's instructions count", rejected_by="ID-3")
def anybody(specimen: Any) -> Any:
    original = specimen.level
    return specimen.replacing(
        "level",
        lambda kind, speaker, *values: original(
            kind, speaker.replace("assistant", "user"), *values
        ),
    )


@mutant("the scope is not used", rejected_by="ID-4")
def without_scopes(specimen: Any) -> Any:
    original = specimen.add_fit
    return specimen.replacing(
        "add_fit",
        lambda standing, kind, scope, *others: original(standing, kind, 0.0 * scope, *others),
    )


@mutant("the whole text is embedded in place of the scope", rejected_by="ID-5")
def whole_text(specimen: Any) -> Any:
    def detect(self: Any, view: Any, incoming: Any) -> None:
        kind, scope, standing = self._judged(incoming)
        if standing > 0.0:
            view.standing[view.row], view.standing_kind[view.row] = standing, int(kind)
            if scope:
                view.standing_scope[view.row] = incoming.vector

    return specimen.overriding("InstructionDetection", detect=detect)


@mutant("questions about the past count", rejected_by="ID-6")
def recall_too(specimen: Any) -> Any:
    original = specimen.asking_of

    def asking_of(text: str) -> Any:
        kind = original(text)
        return specimen.QueryKind.REQUEST if kind is specimen.QueryKind.RECALL else kind

    return specimen.replacing("asking_of", asking_of)


@mutant("every memory counts as much as an instruction", rejected_by="ID-7")
def everything(specimen: Any) -> Any:
    original = specimen.add_fit
    return specimen.replacing(
        "add_fit", lambda standing, *others: original(np.ones_like(standing), *others)
    )


@mutant("preferences with a scope count at any question", rejected_by="ID-4")
def scope_is_enough(specimen: Any) -> Any:
    original = specimen.add_fit

    def add_fit(standing: Any, kind: Any, scope: Any, *others: Any) -> None:
        original(
            standing,
            np.where(np.any(scope, axis=1), int(specimen.StandingKind.SCOPED), kind).astype(
                np.int8
            ),
            scope,
            *others,
        )

    return specimen.replacing("add_fit", add_fit)


@mutant("one sentence of many counts as the whole text", rejected_by="ID-5")
def any_share(specimen: Any) -> Any:
    original = specimen.level
    return specimen.replacing(
        "level", lambda kind, speaker, share, *values: original(kind, speaker, 1.0, *values)
    )


@mutant("sentences are counted in place of words", rejected_by="ID-12")
def by_sentences(specimen: Any) -> Any:
    original = specimen.standing_of

    def standing_of(text: str) -> Any:
        parts = specimen.sentences(text)
        return original(text)._replace(
            share=sum(original(part).kind > 0 for part in parts) / max(len(parts), 1)
        )

    return specimen.replacing("standing_of", standing_of)


@mutant("scopes of the assistant are embedded, too", rejected_by="ID-8")
def all_scopes(specimen: Any) -> Any:
    def scopes(self: Any, view: Any, coming: Any) -> Any:
        return (
            scope for incoming in coming if (scope := specimen.standing_of(incoming.event.text)[1])
        )

    return specimen.overriding("InstructionDetection", scopes=scopes)


@mutant("an instruction with a scope fits by its own text", rejected_by="ID-10")
def own_text(specimen: Any) -> Any:
    original = specimen.add_fit
    return specimen.replacing(
        "add_fit",
        lambda standing, kind, scope, embedding, *others: original(
            standing, kind, embedding, embedding, *others
        ),
    )
