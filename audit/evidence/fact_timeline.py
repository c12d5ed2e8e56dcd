"""Evidence for fact_timeline: sentences written for it with their facts by hand, and stories in
a memory with the marks of each memory by hand.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np

from ...engine.contract.records import Event
from ...engine.contract.vocabulary import KIND, LOG_PRIOR, REACH, VISIBLE, WRITING
from ...engine.ports.language_model import Reply, Status
from ...engine.state.graph import EdgeType
from ..checks import adaptation, equation, limit, mutant, reference
from ..figures import Curve, Picture, dots, figure
from ..memory import FunctionModel, Scripted, encode, memory_of
from .shared.clock import linear_time, long_text
from .shared.scripts import refusing
from .shared.sentences import (
    facts_of_long_texts,
    facts_of_sentences,
    names_of_tellers,
    relations_of_facts,
)


@adaptation("FT-1", source="150 sentences and more, written for it, with their facts by hand")
def the_facts_of_sentences_are_found(specimen: Any) -> Any:
    return facts_of_sentences(specimen)


@adaptation("FT-2", source="the rules for states and single values, case by case by hand")
def a_later_fact_supersedes_contradicts_or_neither(specimen: Any) -> Any:
    return relations_of_facts(specimen)


@adaptation(
    "FT-2b", source="definition: 200 clauses of a text and 300 characters of a clause are read"
)
def long_texts_are_read_in_part(specimen: Any) -> Any:
    return facts_of_long_texts(specimen)


@adaptation("FT-2c", source="indexed texts with the names of their speakers by hand")
def speakers_are_read_from_the_indexed_text(specimen: Any) -> Any:
    return names_of_tellers(specimen)


# What Mia says first and later of what has one value and is no state, and whether the later says
# that it corrects the former, by hand.
CORRECTED = (
    ("My birthday is on 3 May.", "Well, actually, my birthday is on 4 May.", True),
    ("My birthday is on 3 May.", "Well, my birthday is on 4 May.", False),
    ("Bo was born in Linz.", "No, that was wrong. Bo was born in Graz.", True),
    ("Bo was born in Linz.", "No, Bo was born in Graz.", False),
    ("I am from Peru.", "I am from Chile, not Peru.", True),
    ("I am from Peru.", "I am from Chile, not far from Peru.", False),
)


@adaptation(
    "FT-2d",
    source="composed pairs of sentences: a correction supersedes, another contradiction is a conflict of both; a question for "
    "versions lets what is marked answer; by hand",
)
def a_correction_supersedes_what_it_corrects(specimen: Any) -> Any:
    measured: list[int] = []
    for first, later, _ in CORRECTED:
        memory = memory_of(specimen)
        encode(memory, (0.0, first, "Mia"), (1.0, later, "Mia"))
        memory.advance(25.0)
        measured += [
            *memory.column(specimen.FACTS_SUPERSEDED),
            *memory.column(specimen.FACTS_CONFLICTING),
        ]
        memory.retrieve("What did she say before?")
        measured += memory.column(REACH).tolist()
    return measured, [
        mark
        for *_, corrects in CORRECTED
        for mark in ((1, 0, 0, 0, 1, 0) if corrects else (0, 0, 1, 1, 1, 1))
    ]


@equation(
    "FT-3",
    source="ours: the factor to the power of the share, in numpy",
    rtol=1e-12,
    figure="share",
)
def score_falls_with_the_share_of_superseded_facts(specimen: Any) -> Any:
    facts, superseded, out = (
        np.array([0, 1, 1, 2, 4, 4, 1]),
        np.array([0, 0, 1, 1, 3, 4, 2]),
        np.full(7, 0.25),
    )
    specimen.add_log_factors(facts, superseded, 0.3, out)
    return np.exp(out - 0.25), 0.3 ** np.minimum(superseded / np.maximum(facts, 1), 1.0)


@equation(
    "FT-4",
    source="brute force: the best of the allowed cosines, -1 below the least; the first of equal ones",
)
def the_most_similar_allowed_leader_is_taken(specimen: Any) -> Any:
    rng, measured, expected = np.random.default_rng(3), [], []
    for n in (0, 1, 5, 40):
        for least in (-1.0, 0.3, 0.6):
            leaders = rng.normal(size=(n, 3))
            leaders /= np.linalg.norm(leaders, axis=1, keepdims=True)
            vector, allowed = np.array([0.6, 0.8, 0.0]), rng.random(n) < 0.6
            cosines = leaders @ vector
            ranked = sorted(
                (j for j in range(n) if allowed[j] and cosines[j] >= least),
                key=lambda j: -cosines[j],
            )
            measured.append(int(specimen.nearest_leader(vector, leaders, allowed, least)))
            expected.append(ranked[0] if ranked else -1)
    twice = np.array([[0.0, 1.0], [0.6, 0.8], [0.6, 0.8]])
    return [
        *measured,
        int(specimen.nearest_leader(np.array([0.6, 0.8]), twice, np.ones(3, bool), 1.0 - 1e-9)),
    ], [*expected, 1]


@adaptation("FT-5", source="questions written for it")
def questions_about_versions_are_found(specimen: Any) -> Any:
    asked = (
        "where did i live before i moved",
        "what was my previous job",
        "did i contradict myself about the rent",
        "how has the plan changed over time",
        "where did ada use to work before that",
        "what was the original deadline before the change",
        "which is right 3 or 4 may",
    )
    other = (
        "where do i live",
        "what is the rent",
        "who is my boss",
        "when is the meeting",
        "what did we paint",
        "",
    )
    return [specimen.asks_for_versions(q) for q in (*asked, *other)], [True] * len(asked) + [
        False
    ] * len(other)


# --- in a memory ----------------------------------------------------------------------------------
STORY: tuple[tuple[float, str, str], ...] = (
    (0.0, "I live in Rome.", "Mia"),
    (1.0, "My birthday is on 3 May.", "Mia"),
    (2.0, "I love tea and coffee.", "Mia"),
    (3.0, "refused: I live in Paris.", "Mia"),
    (4.0, "Tom works at the bakery.", "Bo"),
    (30.0, "I moved to Oslo, and I don't like tea.", "Mia"),
    (31.0, "My birthday is on 5 May.", "Mia"),
    (32.0, "Actually, my birthday is on 4 May.", "Mia"),
    (33.0, "Nothing to tell.", "Mia"),
    (34.0, "Tom no longer works at the bakery.", "Bo"),
    (35.0, "I live in Rome.", "Bo"),
)
TOLD = [1, 1, 2, 1, 2, 1, 1, 0, 1, 1]
SUPERSEDED = [1, 1, 1, 1, 0, 1, 0, 0, 0, 0]
CONFLICTS = [0, 1, 0, 0, 0, 1, 0, 0, 0, 0]
BY = [4, 6, 4, 8, -1, 6, -1, -1, -1, -1]


def lived(specimen: Any, **values: Any) -> Any:
    memory = memory_of(
        specimen, "lexical_bm25", refusing("refused"), **{"summaries": False, **values}
    )
    encode(memory, *STORY)
    memory.advance(49.0)
    return memory


def edges(memory: Any, kind: EdgeType) -> set[tuple[int, int]]:
    graph = memory.graph
    return {
        (int(a), int(b))
        for a, b, t, alive in zip(graph.source, graph.target, graph.type, graph.alive, strict=True)
        if alive and t == kind
    }


@adaptation(
    "FT-6",
    source="True Memory 4.1 stage 3: pairs in conflict, and superseded-by links; by hand, over two sleeps",
)
def a_memory_marks_superseded_and_conflicting_facts(specimen: Any) -> Any:
    memory = lived(specimen)
    columns = [
        memory.column(c).tolist()
        for c in (
            specimen.FACTS,
            specimen.FACTS_SUPERSEDED,
            specimen.FACTS_CONFLICTING,
            specimen.SUPERSEDED_BY,
        )
    ]
    kinds = [
        (w.kind, w.sources, w.text.split(" · ")[:3])
        for w in memory.event_log.writings
        if w.sources in ((4,), (8,))
    ]
    expected = [TOLD, SUPERSEDED, CONFLICTS, BY, [(1, 5), (5, 1)], len(TOLD), ("life event", (4,),
        ["mia", "lives_in", "oslo"]),
                ("fact", (4,), ["mia", "likes", "tea"]), ("life event", (8,), ["tom", "works_at",
                "bakery"])]  # fmt: skip
    columns_and_kinds = [
        *columns,
        sorted(edges(memory, EdgeType.CONFLICT)),
        int(memory.column(specimen.FACTS_UNTIL)),
        *kinds,
    ]
    yield [str(item) for item in columns_and_kinds], [str(item) for item in expected]
    # a change is an event of a life, unless it is one of a taste or another state
    memory = memory_of(specimen, summaries=False)
    encode(
        memory,
        (0.0, "I no longer like tea."),
        (1.0, "I quit my job."),
        (2.0, "I like my job."),
        (3.0, "I was married to Bo."),
    )
    memory.advance(25.0)
    yield [w.kind for w in memory.event_log.writings], ["fact", "life event", "fact", "fact"]
    # a fact of the past is one, too
    yield memory.column(specimen.FACTS), [1, 1, 1, 1]
    # facts of one memory leave each other alone, until a later one supersedes both
    memory, told = memory_of(specimen, summaries=False), list[Any]()
    for day, text in enumerate(("I live in Rome. I live in Oslo.", "I moved to Bern.")):
        encode(memory, (24.0 * day, text))
        memory.advance(24.0 * (day + 1))
        told += memory.column(specimen.FACTS_SUPERSEDED).tolist()
        told.append(memory.column(specimen.SUPERSEDED_BY)[0])
    yield told, [0, -1, 2, 0, 1]


@adaptation(
    "FT-7",
    source="ours: by hand from the marks of FT-6; all versions for a question about the past",
    rtol=1e-9,
)
def a_query_prefers_what_holds_or_lets_all_versions_answer(specimen: Any) -> Any:
    measured: list[Any] = []
    for values, factor in (({}, 0.5), ({"superseded": 0.2}, 0.2)):
        memory = lived(specimen, **values)
        memory.assembly.show(0, False)
        for question in (
            "Where does she live, in Rome?",
            "Where did Mia live before that, in Rome?",
        ):
            rows = memory.retrieve(question, k=9).rows
            measured += [
                *memory.column(LOG_PRIOR) / np.log(factor),
                *memory.column(REACH),
                0 in rows,
            ]
    share = [s / max(f, 1) for s, f in zip(SUPERSEDED, TOLD, strict=True)]
    return measured, [
        *share,
        *[0] * 10,
        False,
        *[0.0] * 10,
        *[int(bool(s or c)) for s, c in zip(SUPERSEDED, CONFLICTS, strict=True)],
        True,
    ] * 2


MET = (("Kim", 0), ("Kim", 10), ("Lea", 5), ("Kim", 80), ("Kim", 20), ("Lea", 0), ("Kim", 75),
       ("Lea", 40), ("Kim", 0), ("Kim", 88), ("Lea", 12))  # fmt: skip


@adaptation("FT-8", source="leader clustering, by plain lists over angles", papers=())
def events_join_the_nearest_leader_that_shares_an_entity(specimen: Any) -> Any:
    measured, expected = [], []
    for window, least in ((200, 0.8), (3, 0.8), (200, 0.98), (2, -1.0)):
        texts = [f"on day {i} we met {name} there" for i, (name, _) in enumerate(MET)]
        vectors = {
            text: (np.cos(np.radians(a)), np.sin(np.radians(a)))
            for text, (_, a) in zip(texts, MET, strict=True)
        }
        memory = memory_of(
            specimen, embedder=Scripted(vectors), window=window, cosine=least, summaries=False
        )
        encode(memory, *((5.0 * i, text) for i, text in enumerate(texts)))
        memory.advance(100.0)
        measured.append(memory.column(specimen.FACT_CLUSTER).tolist())
        leader: list[int] = []
        for i, (name, angle) in enumerate(MET):
            near = [
                (np.cos(np.radians(angle - MET[j][1])), -j)
                for j in range(max(0, i - window), i)
                if leader[j] == j and MET[j][0] == name
            ]
            best = max((c for c in near if c[0] >= least), default=None)
            leader.append(i if best is None else -best[1])
        expected.append(leader)
    return measured, expected


CATS = (
    "The cat Miso ran away. It rained.",
    "Today the cat Miso came back. So nice.",
    "Our Miso sleeps.",
    "And Miso eats.",
    "A cat like Miso sleeps and eats.",
)


@adaptation(
    "FT-9",
    source="True Memory 4.1 stage 3: one summary per cluster; made anew and linked when it grew by half; by hand",
)
def a_cluster_has_one_present_summary(specimen: Any) -> Any:
    memory, measured = memory_of(specimen, cosine=-1.0, sentences=2), []
    for night, told in enumerate((CATS[:2], CATS[2:3], CATS[3:4], CATS[4:])):
        encode(memory, *((24.0 * night + i, text) for i, text in enumerate(told)))
        memory.advance(24.0 * (night + 1))
        made = np.flatnonzero(memory.column(KIND) == 3)
        measured.append(
            [
                made.tolist(),
                memory.column(VISIBLE)[made].tolist(),
                int(memory.column(specimen.CLUSTER_SUMMARY)[0]),
                int(memory.column(specimen.CLUSTER_SUMMARISED)[0]),
                sorted(edges(memory, EdgeType.VERSION)),
            ]
        )
    texts = [
        *(memory.unit(row).text for row in (3, 6)),
        memory.event_log.writings[int(memory.column(WRITING)[6])].sources,
    ]
    expected = [
        [[], [], -1, 0, []],
        [[3], [True], 3, 3, []],
        [[3], [True], 3, 3, []],
        [[3, 6], [False, True], 6, 5, [(6, 3)]],
        [
            "The cat Miso ran away. Today the cat Miso came back.",
            "Today the cat Miso came back. A cat like Miso sleeps and eats.",
            (0, 1, 2, 4, 5),
        ],
    ]
    return [str(item) for item in (*measured, texts)], [str(item) for item in expected]


@adaptation(
    "FT-14",
    source="definition: the note of a model, if it has words and at most 600 characters, else an extract as without a model; made "
    "anew once its cluster has twice the events; made rows take no place among the last five events; by hand",
)
def a_language_model_writes_summaries(specimen: Any) -> Any:
    def summaries(reply: Any, model: bool = True) -> tuple[list[str], list[list[str]]]:
        asked = FunctionModel(lambda request: reply)
        memory = memory_of(
            specimen, language_model=asked, model=model, cosine=-1.0, window=5, growth=2.0,
            sentences=2,
        )  # fmt: skip
        for night, told in enumerate((CATS[:3], CATS[3:], ("Is Miso here?",))):
            encode(memory, *((24.0 * night + i, text) for i, text in enumerate(told)))
            memory.advance(24.0 * (night + 1))
        made = np.flatnonzero(memory.column(KIND) == 3).tolist()
        texts = [memory.unit(row).text for row in made]
        return [*map(str, made), *texts], [r.prompt.splitlines() for r in asked.asked]

    extracts, none = summaries("", model=False)
    shown = [json.dumps(text) for text in (*CATS, "Is Miso here?")]
    prompts = [
        ["MESSAGES", *(f"{n} {text}" for n, text in enumerate(shown[:size], 1))] for size in (3, 6)
    ]
    yield (
        [str(extracts[:3]), str(len(extracts)), str(none)],
        ["['3', '7', 'The cat Miso ran away. Today the cat Miso came back.']", "4", "[]"],
    )
    for note, good in (("Miso  is back.", True), ("a" * 600, True), ("a" * 601, False),
                       ("?!", False), ("", False)):  # fmt: skip
        made, asked = summaries({"note": note})
        kept = ["3", "7", *[" ".join(note.split())] * 2] if good else extracts
        yield [str(made), str(asked)], [str(kept), str(prompts)]
    yield [str(summaries(Reply(Status.TIMEOUT))[0])], [str(extracts)]


@adaptation(
    "FT-10", source="definition: read back from the writings alone, in one piece or along the way"
)
def the_timeline_is_derived_from_the_writings(specimen: Any) -> Any:
    memory, measured = lived(specimen), []
    fresh = [
        specimen.Fact(*words)
        for words in (
            ("mia", "lives_in", "bergen"),
            ("mia", "likes", "tea"),
            ("tom", "works_at", "bakery"),
        )
    ]
    for stops in ((len(memory.event_log.writings),), range(len(memory.event_log.writings) + 1)):
        timeline = specimen.Timeline()
        for stop in stops:
            timeline.follow(_Listed(list(memory.event_log.writings)[:stop]), "fact_timeline")
        measured.append([timeline.take(fact, 99) for fact in fresh])
    return [
        str([[(row, int(what)) for row, what in outcomes] for outcomes in run]) for run in measured
    ], [str([[(4, 1)], [(4, 1)], [(8, 1)]])] * 2


class _Listed(tuple[Any, ...]):
    """Writings of which none was erased."""

    erased = 0


@reference("FT-10c", source="texts of writings with their facts by hand; other texts state none")
def a_fact_is_read_back_as_it_was_written(specimen: Any) -> Any:
    texts = {"mia · lives_in · oslo · holds · changed": ("mia", "lives_in", "oslo", "HOLDS", True),
             "bo · likes · tea · with milk · denied · stated": ("bo", "likes", "tea · with milk",
             "DENIED", False),
             "tom · works_at ·  · ended · changed": ("tom", "works_at", "", "ENDED", True),
             "ada · lives_in · rome · past · stated":
             ("ada", "lives_in", "rome", "PAST", False), "": None, "holds · stated": None,
             "mia · likes · tea · never · stated": None}  # fmt: skip
    told = {
        text: specimen.Fact(*by_hand[:3], specimen.FactStanding[by_hand[3]], by_hand[4])
        for text, by_hand in texts.items()
        if by_hand
    }
    return (
        [
            *(str(specimen.read(text)) for text in texts),
            *(specimen.written(fact) for fact in told.values()),
        ],
        [*(str(told.get(text)) for text in texts), *told],
    )


@adaptation(
    "FT-10b",
    source="definition: once a fact is erased, the fact that it superseded is open again; by hand",
)
def an_erased_fact_no_longer_supersedes(specimen: Any) -> Any:
    memory = memory_of(specimen, summaries=False)
    for i, text in enumerate(("I live in Rome.", "I moved to Oslo.")):
        memory.encode(Event(float(i), text, "Mia", id=f"e{i}", dated=False))
    memory.advance(25.0)
    memory.erase("e1", confirm=True)
    memory.encode(Event(30.0, "I live in Bern.", "Mia", id="e2", dated=False))
    memory.advance(49.0)
    return [*memory.column(specimen.SUPERSEDED_BY), *memory.column(specimen.FACTS_SUPERSEDED)], [
        2,
        -1,
        -1,
        2,
        0,
        0,
    ]


@limit(
    "FT-11", source="definition: without facts or with an empty memory nothing is marked or voted"
)
def without_facts_nothing_changes(specimen: Any) -> Any:
    memory = memory_of(specimen, "lexical_bm25")
    memory.retrieve("Where did I live before?")
    encode(memory, (0.0, "What a day!"), (1.0, "ok", "user"), (2.0, ""))
    memory.advance(30.0)
    memory.retrieve("What did contradict the day?")
    columns = [memory.column(c) for c in (specimen.FACTS, LOG_PRIOR, REACH)]
    return [
        *np.concatenate(columns),
        len(memory.event_log.writings),
        *memory.column(specimen.FACT_CLUSTER),
    ], [0] * 10 + [0, 1, 2]


@limit("FT-12", source="definition: a speaker without a shown name is told apart by number")
def speakers_are_told_apart(specimen: Any) -> Any:
    memory = memory_of(specimen, summaries=False)
    encode(
        memory,
        (0.0, "I live in Rome.", "user"),
        (1.0, "I live in Oslo.", "assistant"),
        (2.0, "I live in Bern."),
        (3.0, "I live in Lima.", "user"),
        (4.0, "I live in Cork.", "Eve"),
    )
    memory.advance(30.0)
    subjects = [w.text.split(" · ")[0] for w in memory.event_log.writings]
    return [
        len(set(subjects)),
        subjects[0] == subjects[3],
        subjects[4],
        *memory.column(specimen.SUPERSEDED_BY),
    ], [4, True, "eve", 3, -1, -1, -1, -1]


@adaptation("FT-13", source="linear time: s for texts of 300,000 characters")
def hostile_texts_take_linear_time(specimen: Any) -> Any:
    def read(text: str) -> None:
        specimen.facts_of(text, "Mia")
        specimen.asks_for_versions(text)

    units = ("I live in ", "and I ", "Mia and ", "I'm not x any more ", ". ", " ", "a",
             "not w w w w w w w w w w w w w ", "was i ")  # fmt: skip
    return linear_time(read, *map(long_text, units))


@figure(
    "share",
    caption="Factor on the score of a memory over the number of its four facts that are superseded",
    source="ours",
)
def factor_over_superseded(specimen: Any) -> Picture:
    number = np.arange(5)

    def factor(least: float) -> Any:
        out = np.zeros(5)
        specimen.add_log_factors(np.full(5, 4), number, least, out)
        return np.exp(out)

    return Picture(
        "superseded facts of four",
        "factor on the score",
        (
            Curve("factor 0.5", number, factor(0.5)),
            Curve("factor 0.2", number, factor(0.2)),
            dots("0.5 to the power of the share", number, 0.5 ** (number / 4)),
        ),
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("no phrase introduces a correction", rejected_by="FT-2d")
def without_corrections(specimen: Any) -> Any:
    original = specimen.facts_of

    def facts_of(text: str, speaker: str = "") -> Any:
        return [
            specimen.Fact(f.subject, f.predicate, f.value, f.standing, False)
            for f in original(text, speaker)
        ]

    return specimen.replacing("facts_of", facts_of)


@mutant("questions state facts", rejected_by="FT-1")
def asking(specimen: Any) -> Any:
    original = specimen.facts_of
    return specimen.replacing(
        "facts_of", lambda text, speaker="": original(text.replace("?", "."), speaker)
    )


@mutant("every contradiction is a change", rejected_by="FT-2")
def always_changes(specimen: Any) -> Any:
    original = specimen.relation
    return specimen.replacing(
        "relation", lambda a, b: specimen.FactRelation(min(int(original(a, b)), 1))
    )


@mutant("speakers are never named", rejected_by="FT-2c")
def unnamed(specimen: Any) -> Any:
    return specimen.replacing("teller", lambda number, text, rendered: f"speaker {number}")


@mutant("one clause more is read", rejected_by="FT-2b")
def one_more(specimen: Any) -> Any:
    original = specimen.facts_of
    return specimen.replacing(
        "facts_of",
        lambda text, speaker="": [*original(text, speaker), *original(text[-16:], speaker)],
    )


@mutant("any superseded fact costs all", rejected_by="FT-3")
def whole(specimen: Any) -> Any:
    def add_log_factors(facts: Any, superseded: Any, factor: float, out: Any) -> None:
        out += np.log(factor) * (superseded > 0)

    return specimen.replacing("add_log_factors", add_log_factors)


@mutant("the last leader, not the nearest", rejected_by="FT-4")
def last_leader(specimen: Any) -> Any:
    def nearest_leader(vector: Any, leaders: Any, allowed: Any, least: float) -> int:
        near = [j for j in range(len(leaders)) if allowed[j] and leaders[j] @ vector >= least]
        return near[-1] if near else -1

    return specimen.replacing("nearest_leader", nearest_leader)


@mutant("every question is about versions", rejected_by="FT-5")
def always(specimen: Any) -> Any:
    return specimen.replacing("asks_for_versions", lambda words: True)


@mutant("facts of different speakers are mixed", rejected_by="FT-6")
def mixed(specimen: Any) -> Any:
    original = specimen.facts_of
    return specimen.replacing("facts_of", lambda text, speaker="": original(text, "Mia"))


@mutant("no question is about versions", rejected_by="FT-7")
def never(specimen: Any) -> Any:
    return specimen.replacing("asks_for_versions", lambda words: False)


@mutant("leaders share no entity", rejected_by="FT-8")
def strangers(specimen: Any) -> Any:
    original = specimen.nearest_leader
    return specimen.replacing(
        "nearest_leader",
        lambda vector, leaders, allowed, least: original(
            vector, leaders, np.ones_like(allowed), least
        ),
    )


@mutant("a note is kept whatever its length, and without words", rejected_by="FT-14")
def any_note(specimen: Any) -> Any:
    return specimen.replacing(
        "note_of",
        lambda reply: " ".join(reply.data["note"].split()) if reply.status is Status.OK else "",
    )


@mutant("without a note there is no summary", rejected_by="FT-14")
def notes_alone(specimen: Any) -> Any:
    return specimen.replacing("note_of", lambda reply: specimen.note_of(reply) or "nothing to say")


@mutant("what is in conflict does not answer for its versions", rejected_by="FT-2d")
def superseded_alone(specimen: Any) -> Any:
    def prefer(self: Any, view: Any, cue: Any) -> None:
        specimen.FactTimeline.prefer(self, view, cue)
        view.reach[view.facts_superseded == 0] = 0

    return specimen.overriding("FactTimeline", prefer=prefer)


@mutant("a fact supersedes one of its own memory", rejected_by="FT-6")
def of_one_memory(specimen: Any) -> Any:
    def take(self: Any, fact: Any, row: int) -> Any:
        outcomes = specimen.Timeline.take(self, fact, -2 - row)
        for known in self._open.values():
            known[:] = [(told, max(at, -2 - at)) for told, at in known]
        return outcomes

    return specimen.overriding("Timeline", take=take)


@mutant("every change is an event of a life", rejected_by="FT-6")
def every_change(specimen: Any) -> Any:
    return specimen.replacing(
        "PREDICATES", {name: replace(p, group="job") for name, p in specimen.PREDICATES.items()}
    )


@mutant("the first sentences", rejected_by="FT-9")
def first_sentences(specimen: Any) -> Any:
    return specimen.replacing("central", lambda texts, most: " ".join(texts[:most]))


@mutant("former versions stay visible", rejected_by="FT-9")
def both_visible(specimen: Any) -> Any:
    def dress(self: Any, view: Any, tick: Any) -> None:
        specimen.FactTimeline.dress(self, view, tick)
        view.hide[...] = 0

    return specimen.overriding("FactTimeline", dress=dress)


@mutant("superseded facts stay in the timeline", rejected_by="FT-10")
def kept(specimen: Any) -> Any:
    def take(self: Any, fact: Any, row: int) -> Any:
        before = {key: list(known) for key, known in self._open.items()}
        outcomes = specimen.Timeline.take(self, fact, row)
        for key, known in before.items():
            self._open[key] = [*known, *([(fact, row)] if (fact, row) in self._open[key] else [])]
        return outcomes

    return specimen.overriding("Timeline", take=take)


@mutant("a value is read up to its first mark", rejected_by="FT-10c")
def short_values(specimen: Any) -> Any:
    original = specimen.read

    def read(text: str) -> Any:
        fact = original(text)
        return fact and specimen.Fact(
            fact.subject, fact.predicate, fact.value.partition(" · ")[0], fact.standing, fact.change
        )

    return specimen.replacing("read", read)


@mutant("erased facts stay in the timeline", rejected_by="FT-10b")
def haunted(specimen: Any) -> Any:
    def follow(self: Any, writings: Any, maker: str) -> None:
        self.erased = writings.erased
        specimen.Timeline.follow(self, writings, maker)

    return specimen.overriding("Timeline", follow=follow)


@mutant("archived versions get votes without facts", rejected_by="FT-11")
def votes(specimen: Any) -> Any:
    def prefer(self: Any, view: Any, cue: Any) -> None:
        view.reach += 1

    return specimen.overriding("FactTimeline", prefer=prefer)


@mutant("speakers without a shown name are one", rejected_by="FT-12")
def nobody(specimen: Any) -> Any:
    original = specimen.facts_of
    return specimen.replacing(
        "facts_of",
        lambda text, speaker="": original(text, "" if speaker.startswith("speaker") else speaker),
    )
