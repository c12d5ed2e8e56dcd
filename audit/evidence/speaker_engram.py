"""Evidence for speaker_engram: n-grams counted over slices, profiles and marks of stories by
hand, and scores from the definition in numpy.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engine.contract.columns import Phase
from ...engine.contract.drafts import Draft, Kind
from ...engine.contract.hooks import hook
from ...engine.contract.records import Event
from ...engine.contract.vocabulary import BAN, FUSED, KIND, LOG_PRIOR, PRIMED
from ...engine.ports.embedder import HashingEmbedder
from ..checks import adaptation, equation, limit, mutant, signature
from ..figures import Curve, Picture, dots, figure
from ..memory import Scripted, encode, memory_of, neighbour
from ..paper_numbers import paper_number
from .shared.scripts import drafting, giving, refusing
from .shared.sentences import (
    facts_of_long_texts,
    facts_of_sentences,
    names_of_tellers,
    relations_of_facts,
)

PAPER, PROFILE_SHARE, STYLE_SHARE, SPEAKERS, WEIGHT, CELLS = "truememory2026", 0.8, 0.9, 6, 0.8, 256
NUMBERS = (
    paper_number("profile_share", PROFILE_SHARE, "1", paper=PAPER, where="4.1 stage 9, f_L0"),
    paper_number("style_share", STYLE_SHARE, "1", paper=PAPER, where="4.1 stage 9, f_L0"),
    paper_number(
        "speakers", SPEAKERS, "1", paper=PAPER, where="4.1 stage 8: more than five distinct senders"
    ),
    paper_number("weight", WEIGHT, "1", paper=PAPER, where="4.1 stage 8: w_sep = 0.8 w_vec"),
)
TEXTS = ("lol ok then", "I would be most grateful, sir.", "ab", "", "aaaa", "  Mixed   CASE\ttext ",
         "naïve café 🦊🦊")  # fmt: skip


# --- references -----------------------------------------------------------------------------------
def cell(gram: str) -> int:
    """Cell of an n-gram, with Python's integers."""
    value: int = sum(ord(c) * 65599 ** (len(gram) - 1 - i) for i, c in enumerate(gram)) % (
        2**31 - 1
    )
    return value * 2654435761 % 2**32 // 2**24


def style(text: str) -> NDArray[np.float64]:
    shown = " ".join(text.lower().split())
    counts = Counter(cell(shown[i : i + n]) for n in (3, 4, 5) for i in range(len(shown) - n + 1))
    v = np.array([float(counts[b]) for b in range(CELLS)])
    return v / (np.linalg.norm(v) or 1.0)


def raised(fused: Any, parts: list[tuple[Any, Any, float]]) -> NDArray[np.float64]:
    """Scores on [0, 1] with each part (rows, fit, share) raised to its share of the best."""
    s = (fused - fused.min()) / (fused.max() - fused.min())
    out: NDArray[np.float64] = s.copy()
    for rows, fit, share in parts:
        for i, c in zip(rows, fit, strict=True):
            if max(fit) > 0:
                out[i] = max(out[i], share * max(c, 0.0) / max(fit))
    return out


@equation(
    "SE-1",
    source="True Memory 4.1 stage 5: counts of slices of 3, 4 and 5 characters, in lower case, of unit length",
    papers=(PAPER,),
    rtol=1e-9,
    figure="style",
)
def a_style_is_the_hashed_ngrams_of_unit_length(specimen: Any) -> Any:
    counts, small = np.zeros(CELLS), np.array([0.1, -0.2, 0.2])
    specimen.add_ngrams(np.array([ord(c) for c in "lol ok"], np.int64), counts)
    specimen.normalise(small)
    grams = Counter(cell("lol ok"[i : i + n]) for n in (3, 4, 5) for i in range(7 - n))
    measured = [*np.ravel([specimen.style(text) for text in TEXTS]), *counts, *small]
    return measured, [
        *np.ravel([style(text) for text in TEXTS]),
        *(float(grams[b]) for b in range(CELLS)),
        1 / 3,
        -2 / 3,
        2 / 3,
    ]


@signature(
    "SE-2",
    source="True Memory 4.1 stage 5: texts of one writer are more alike than those of two; by the cosine of styles",
    papers=(PAPER,),
)
def styles_tell_writers_apart(specimen: Any) -> Any:
    curt = ("lol gonna go", "gonna eat lol", "lol nah gonna stay")
    formal = (
        "I should be most grateful for your reply.",
        "I should be delighted to accept your offer.",
        "Your reply was most gratefully read.",
    )
    a, b = (np.array([specimen.style(t) for t in texts]) for texts in (curt, formal))
    within = min((a @ a.T)[np.triu_indices(3, 1)].min(), (b @ b.T)[np.triu_indices(3, 1)].min())
    return bool(within > (a @ b.T).max())


@equation(
    "SE-3",
    source="True Memory 4.1 stage 9, f_L0: shares of the best score, in numpy; never negative, and a "
    "memory below the last visible one lacks its share, no more",
    papers=(PAPER,),
    rtol=1e-9,
)
def scores_are_raised_to_a_share_of_the_best(specimen: Any) -> Any:
    rng, measured, expected = np.random.default_rng(5), [], []
    for share in (PROFILE_SHARE, STYLE_SHARE, 0.3):
        fused, rows = rng.normal(size=12), rng.permutation(12)[:6]
        fit = rng.normal(size=6)
        out = np.zeros(12)
        specimen.add_up_to(fused, fused.min(), fused.max(), rows, fit, share, out)
        s = (fused - fused.min()) / (fused.max() - fused.min())
        measured.append(out)
        expected.append(raised(fused, [(rows, fit, share)]) - s)
    below, lacking = np.array([-7.0, 1.0, 3.0]), np.zeros(3)
    specimen.add_up_to(below, 1.0, 3.0, np.arange(3), np.array([2.0, 4.0, 1.0]), 0.8, lacking)
    flat, none = np.zeros(3), np.zeros(3)
    specimen.add_up_to(np.ones(3), 1.0, 1.0, np.arange(3), np.ones(3), 0.8, flat)
    specimen.add_up_to(np.arange(3.0), 0.0, 2.0, np.arange(3), -np.ones(3), 0.8, none)
    return [*np.ravel(measured), *lacking, *flat, *none], [
        *np.ravel(expected),
        *(0.4, 0.8, 0.0),
        *[0.0] * 6,
    ]


@adaptation("SE-4", source="questions written for it")
def questions_about_a_person_are_found(specimen: Any) -> Any:
    person = ("what kind of person is ada", "what does bo like to eat", "where does cleo live",
              "who is dan", "what am i afraid of",
              "what is my favourite colour", "does eve have any pets", "how old is finn",
              "what does gus do for a living", "is ada married")  # fmt: skip
    other = (
        "when did the meeting start",
        "how much is the rent",
        "which train did we take",
        "what happened in may",
        "",
    )
    return [specimen.asks_about_a_person(q) for q in (*person, *other)], [True] * len(person) + [
        False
    ] * len(other)


@adaptation("SE-5", source="the table of attributes, by hand")
def facts_have_their_attribute(specimen: Any) -> Any:
    cases = (("like tea. ", "likes"), ("hate tea", "dislikes"), ("am a nurse", "is"), ("have a dog",
        "has"), ("work at the port", "works"),
             ("live in Oslo", "lives"), ("am married to Bo", "kin"), ("run every day", "routine"),
             ("am afraid of mice", "fear"),
             ("used to live in Rome", ""), ("don't have a car", ""))  # fmt: skip
    said = [
        [specimen.attribute_of(f) for f in specimen.facts_of(f"I {text}", "Mia")]
        for text, _ in cases
    ]
    return [*said, [specimen.attribute_of(specimen.Fact("mia", "brother", "tom"))]], [
        *([a] for _, a in cases),
        ["kin"],
    ]


@adaptation(
    "SE-5f",
    source="by hand: what a later fact supersedes leaves the profile, in this order of the two; a fact is there once",
)
def profiles_are_updated(specimen: Any) -> Any:
    def fact(value: str, change: bool = False, predicate: str = "birthday") -> Any:
        return specimen.Fact("mia", predicate, value, change=change)

    oslo = fact("oslo", predicate="lives_in")
    updates = [
        specimen.updated([(fact("3 may"), 0)], fact("4 may", True), 1),
        specimen.updated([(fact("3 may", True), 0)], fact("4 may"), 1),
        specimen.updated([(oslo, 0)], oslo, 1),
        specimen.updated([], oslo, 1),
    ]
    return [str([(f.value, row) for f, row in entries]) for entries in updates], [
        "[]",
        "[('3 may', 0)]",
        "[('oslo', 0)]",
        "[('oslo', 1)]",
    ]


@adaptation("SE-5b", source="150 sentences and more, written for it, with their facts by hand")
def the_facts_of_sentences_are_found(specimen: Any) -> Any:
    return facts_of_sentences(specimen)


@adaptation("SE-5c", source="the rules for states and single values, case by case by hand")
def a_later_fact_supersedes_contradicts_or_neither(specimen: Any) -> Any:
    return relations_of_facts(specimen)


@adaptation(
    "SE-5d", source="definition: 200 clauses of a text and 300 characters of a clause are read"
)
def long_texts_are_read_in_part(specimen: Any) -> Any:
    return facts_of_long_texts(specimen)


@adaptation("SE-5e", source="indexed texts with the names of their speakers by hand")
def speakers_are_read_from_the_indexed_text(specimen: Any) -> Any:
    return names_of_tellers(specimen)


# --- in a memory ----------------------------------------------------------------------------------
STORY: tuple[tuple[float, str, str], ...] = (
    (0.0, "I live in Rome with my brother Tom.", "Ada"), (1.0, "I love tea and hate noise.", "Ada"),
    (2.0, "I love rain.", "Bo"),
    (3.0, "refused: I have a horse.", "Ada"), (4.0, "Ada works at the port.", "Bo"), (5.0,
    "The train is late.", "Ada"),
    (30.0, "I moved to Oslo.", "Ada"), (31.0, "I don't like tea.", "Ada"), (32.0, "I love rain.",
    "Bo"), (33.0, "I sing every day.", "Bo"))  # fmt: skip
FIRST_NIGHT = [
    ("Ada\nlives · lives_in · rome\nlikes · likes · tea\ndislikes · likes · noise", (0, 1, 1)),
    ("Bo\nlikes · likes · rain", (2,)),
]
SECOND_NIGHT = [
    ("Ada\ndislikes · likes · noise\nlives · lives_in · oslo\ndislikes · likes · tea", (1, 5, 6)),
    ("Bo\nlikes · likes · rain\nroutine · routine · sing every day", (2, 8)),
]


@adaptation(
    "SE-6",
    source="True Memory 4.1 stage 5: a map of attributes for each speaker; by hand, over three sleeps, without what is superseded",
)
def profiles_collect_what_speakers_say_of_themselves(specimen: Any) -> Any:
    memory = memory_of(specimen, refusing("refused"))
    encode(memory, *STORY)
    memory.advance(49.0)
    encode(memory, (60.0, "The train is late again.", "Ada"))
    memory.advance(73.0)  # nothing new is said of anybody
    written = [str((w.text, w.sources)) for w in memory.event_log.writings]
    profile = memory.column(specimen.PROFILE).tolist()
    return [*written, str(profile)], [
        *(str(entry) for entry in (*FIRST_NIGHT, *SECOND_NIGHT)),
        str([2, -1, 3, -1, -1, -1, -1, -1, -1, -1]),
    ]


@adaptation(
    "SE-7",
    source="ours: profiles read back from their text are the profiles, and a text that was overwritten has none",
)
def a_profile_is_read_back(specimen: Any) -> Any:
    measured = []
    for text, rows in (*FIRST_NIGHT, *SECOND_NIGHT):
        name = text.partition("\n")[0]
        measured.append(specimen.profile_text(name, specimen.entries_of(text, rows)) == text)
    unread = [specimen.entries_of(text, (1,)) is None for text in ("", "Ada\nx", "Ada")]
    return [*measured, *unread, specimen.entries_of("Ada", ()) == []], [True] * 8


@adaptation(
    "SE-7b",
    source="definition: what was erased leaves the profile, and the rest of it stays, by hand",
)
def an_erased_memory_leaves_the_profile(specimen: Any) -> Any:
    memory = memory_of(specimen)
    for i, text in enumerate(("I live in Rome.", "I love tea.", "I love rain.")):
        memory.encode(Event(float(i), text, "Ada", id=f"e{i}", dated=False))
    memory.advance(25.0)
    memory.erase("e0", confirm=True)
    memory.encode(Event(30.0, "I sing every day.", "Ada", id="e3", dated=False))
    memory.advance(49.0)
    *_, last = memory.event_log.writings
    return [
        str((last.text, last.sources)),
        "rome" in "".join(w.text for w in memory.event_log.writings),
    ], [
        str(
            (
                "Ada\nlikes · likes · tea\nlikes · likes · rain\nroutine · routine · sing every day",
                (1, 2, 3),
            )
        ),
        False,
    ]


def scored(
    specimen: Any, fused: Any, question: str, vectors: Any, prior: float = 0.0, **values: Any
) -> tuple[Any, Any]:
    """A memory of STORY with given FUSED, after two sleeps; its memory and PRIMED."""

    def lower(view: Any, _: Any) -> None:
        view.log_prior += prior

    def ban(view: Any, _: Any) -> None:
        view.ban[2] += 1

    told = [text for _, text, _ in STORY]
    embedder = Scripted({question: vectors[-1], **dict(zip(told, vectors, strict=False))})
    memory = memory_of(
        specimen,
        refusing("refused"),
        giving(Phase.RETRIEVE, FUSED, fused),
        neighbour(Phase.RETRIEVE, lower, adds=(LOG_PRIOR,), id="lower"),
        neighbour(Phase.RETRIEVE, ban, adds=(BAN,), id="ban"),
        embedder=embedder,
        **values,
    )
    encode(memory, *STORY)
    memory.advance(49.0)
    memory.archive(6)
    memory.retrieve(question)
    return memory, memory.column(PRIMED)


@equation(
    "SE-8",
    source="True Memory 4.1 stage 9, f_L0: in numpy over the profiles of SE-6 and styles of SE-1; archived and banned ones stay",
    papers=(PAPER,),
    rtol=1e-5,
    atol=1e-6,
)
def a_memory_raises_what_is_known_of_the_person(specimen: Any) -> Any:
    rng, measured, expected = np.random.default_rng(8), [], []
    texts = [text for _, text, _ in STORY if not text.startswith("refused")]
    speakers = np.array([who == "Ada" for _, text, who in STORY if not text.startswith("refused")])
    cases: tuple[tuple[str, bool, tuple[int, ...], dict[str, Any]], ...] = (
        ("What kind of person is Ada?", True, (1, 5), {}),
        ("What are Bo's hobbies?", False, (8,), {"matches": 2}),
        (
            "What does Ada like?",
            True,
            (1, 5),
            {"profile_share": 0.5, "style_share": 0.2, "matches": 0},
        ),
    )
    for place, (question, ada, sources, values) in enumerate(cases):
        vectors, fused = rng.normal(size=(11, 4)), np.round(rng.normal(size=9), 3)
        # the archived one is beyond all others, and the banned one is an end of the scale
        fused[6], fused[2] = ((9.0, 4.0), (-9.0, -4.0), (-9.0, 4.0))[place]
        _, primed = scored(specimen, fused, question, vectors, **values)
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        # of the story; one was refused
        rows = np.delete(np.arange(10), 3)
        cosines = unit[rows] @ unit[10]
        styles = np.array([style(text) for text in texts])
        own = styles[speakers == ada].sum(axis=0)
        fit = styles @ own / np.linalg.norm(own)
        may = [i for i in range(9) if i not in (2, 6)]
        chosen = sorted(may, key=lambda i: (-fit[i], i))[: values.get("matches", 10)]
        seen = fused[[i for i in range(9) if i != 6]]
        s = np.maximum(0.0, (fused - seen.min()) / (seen.max() - seen.min()))
        want = s.copy()
        for places, c, share in (
            (sources, cosines[list(sources)], values.get("profile_share", PROFILE_SHARE)),
            (chosen, fit[chosen], values.get("style_share", STYLE_SHARE)),
        ):
            for i, score in zip(places, c, strict=True):
                want[i] = max(want[i], share * max(score, 0.0) / max(c)) if max(c) > 0 else want[i]
        measured.append(primed)
        expected.append(want)
    return np.array(measured), np.array(expected)


@limit(
    "SE-9",
    source="definition: another question, an unknown name, or a memory without sleep",
    rtol=1e-6,
    atol=1e-7,
)
def other_questions_keep_their_scores(specimen: Any) -> Any:
    rng, measured, expected = np.random.default_rng(9), [], []
    for question in (
        "When is the train?",
        "What does Zoe like?",
        "What do I like?",
        "What is Ada's rent?",
    ):
        fused = np.round(rng.normal(size=9), 3)
        _, primed = scored(specimen, fused, question, rng.normal(size=(11, 4)))
        seen = np.delete(fused, 6)
        measured.append(primed)
        expected.append(np.maximum(0.0, (fused - seen.min()) / (seen.max() - seen.min())))
    young = memory_of(specimen, "lexical_bm25")
    young.retrieve("What does Ada like?")
    encode(young, (0.0, "I love tea.", "Ada"))
    young.retrieve("What does Ada like?")
    return [*np.ravel(measured), *young.column(PRIMED)], [*np.ravel(expected), 1.0]


@adaptation("SE-10", source="by hand: the asker is who has the role of the user", rtol=1e-6)
def i_is_the_user(specimen: Any) -> Any:
    told = (
        ("I love the sea.", "assistant"),
        ("I love my garden.", "user"),
        ("I love the hills.", "user"),
        ("It rains.", "user"),
    )
    vectors = {text: (1.0, 0.2 * i) for i, (text, _) in enumerate(told)}

    memory = memory_of(
        specimen,
        giving(Phase.RETRIEVE, FUSED, [4.0, 1.0, 0.0, 2.0]),
        matches=0,
        embedder=Scripted({"What do I enjoy?": (0.0, 1.0), **vectors}),
    )
    encode(memory, *((float(i), *words) for i, words in enumerate(told)))
    memory.advance(30.0)
    memory.retrieve("What do I enjoy?")
    # cosine of the garden over that of the hills
    first = 0.2 / np.hypot(1.0, 0.2) / (0.4 / np.hypot(1.0, 0.4))
    return [int(memory.column(specimen.ENGRAM_ASKER)), *memory.column(PRIMED)], [
        1,
        1.0,
        0.8 * first,
        0.8,
        0.5,
    ]


# What speakers say, the last of it after the night; a question, the person it is about, and by hand
# the rows that the profile raises.
PEOPLE = (("It rains.", "Zoe"), ("I have a horse.", ""), ("I live in Rome.", "Ada Byron"),
          ("I love tea.", "Speaker Ann"), ("I love rain.", "Cleo 7"),
          ("I love fog.", "Bo"), ("I live in a small flat, in Bonn.", "Ada Byron"), ("Fog it is.",
          "user"))  # fmt: skip
ASKED: tuple[tuple[str, str, tuple[int, ...]], ...] = (
    ("What kind of person is Ada?", "Ada Byron", (6,)),
    ("What are Ada's hobbies?", "Ada Byron", (6,)),
    ("What are Byron's hobbies?", "", ()),
    ("What kind of person is Cleo?", "Cleo 7", (4,)),
    ("What are the interests of the speaker?", "Speaker Ann", (3,)),
    ("What does Bo like?", "Bo", (5,)),
    ("What do I like?", "", ()),
    ("Who is that?", "", ()),
)


@adaptation(
    "SE-10b",
    source="by hand: the first name decides; a speaker without a name is nobody's; an asker whom no night has seen raises nothing",
)
def the_person_asked_about_is_found(specimen: Any) -> Any:
    """Row 0 has the best score already."""

    measured, expected = [], []
    embedder = Scripted(
        dict.fromkeys(
            (*(text for text, _ in PEOPLE), *(question for question, *_ in ASKED)), (1.0, 0.0)
        )
    )
    for matches in (0, 1):
        memory = memory_of(
            specimen,
            giving(Phase.RETRIEVE, FUSED, [9.0, *(0.1 * i for i in range(1, 32))]),
            matches=matches,
            embedder=embedder,
        )
        encode(memory, *((float(i), text, who) for i, (text, who) in enumerate(PEOPLE[:-1])))
        memory.advance(30.0)
        encode(memory, (31.0, *PEOPLE[-1]))
        for question, person, known in ASKED:
            memory.retrieve(question)
            scale = (memory.column(FUSED) - 0.1) / 8.9
            own = sum(style(text) for text, who in PEOPLE if who == person)
            alike = (
                {max(range(8), key=lambda i: float(style(PEOPLE[i][0]) @ own))}
                if matches and person
                else set()
            )
            measured.append(str(np.flatnonzero(memory.column(PRIMED) > scale + 1e-3).tolist()))
            expected.append(str(sorted({*known, *alike} - {0})))
    return measured, expected


@adaptation(
    "SE-11",
    source="True Memory 4.1 stage 8: dot products of embeddings made apart, before and after a sleep; silent with five senders or "
    "fewer",
    rtol=1e-5,
    atol=1e-6,
)
def the_prefixed_texts_are_a_signal_from_six_speakers(specimen: Any) -> Any:
    embedder = HashingEmbedder(16)
    people = (("Ada", "Bo"), ("Bo", ""), ("Cleo", "Ada"), ("Dan", ""), ("Eve", "Finn"), ("Finn",
        "Eve"), ("Ada", ""), ("Gil", "Ada"))  # fmt: skip
    times = (0.0, 1.0, 2.0, 3.0, 4.0, 31.0, 32.0, 70.0)
    told = [
        Event(
            time,
            f"we met at the mill {i}",
            who,
            attributes=(("recipient", to),) if to else (),
            dated=i == 2,
        )
        for i, (time, (who, to)) in enumerate(zip(times, people, strict=True))
    ]
    prefixed = [
        f"{who} to {to}: we met at the mill {i}" if to else f"{who}: we met at the mill {i}"
        for i, (who, to) in enumerate(people)
    ]
    vectors, asked = embedder.embed(prefixed), embedder.embed(["Who met Finn?"])[0]
    memory, measured = memory_of(specimen, embedder=embedder), list[Any]()
    for first, last, until in ((0, SPEAKERS - 1, 30.0), (SPEAKERS - 1, 7, 69.0), (7, 8, 100.0)):
        encode(memory, *told[first:last])
        memory.retrieve("Who met Finn?")
        measured += [
            *np.nan_to_num(memory.column(specimen.SEPARATION_PREFIXED), nan=9.0),
            *np.ravel(memory.column(specimen.PREFIXED_EMBEDDING)),
        ]
        memory.advance(until)
    measured += [*np.ravel(memory.column(specimen.PREFIXED_EMBEDDING))]
    measured += [*memory.column(specimen.PREFIXED)]
    return measured, [*np.full(5, 9.0), *np.zeros(5 * 16), *(vectors[:7] @ asked), *np.zeros(7 * 16),
                   *(vectors @ asked), *np.ravel(vectors[:7]), *np.zeros(16), *np.ravel(vectors),
                   *np.ones(8)]  # fmt: skip


@limit(
    "SE-11c",
    source="definition: a unit that memory made has no prefixed text; that of an archived event is embedded once it is restored",
    rtol=1e-5,
    atol=1e-6,
)
def made_units_and_archived_events_have_no_prefixed_text(specimen: Any) -> Any:
    embedder, people = HashingEmbedder(16), ("Ada", "Bo", "Cleo", "Dan", "Eve", "Finn", "Gil")

    memory = memory_of(
        specimen,
        drafting(Draft("we met at a mill", Kind.BUNDLE, (2, 3)), len(people)),
        embedder=embedder,
    )
    encode(
        memory,
        *(
            Event(float(i), f"we met at the mill {i}", who, dated=False)
            for i, who in enumerate(people)
        ),
    )
    vectors = embedder.embed([f"{who}: we met at the mill {i}" for i, who in enumerate(people)])
    due, measured = vectors @ embedder.embed(["Who met Finn?"])[0], list[Any]()
    memory.archive(1)
    memory.advance(30.0)
    memory.retrieve("Who met Finn?")
    measured += np.nan_to_num(memory.column(specimen.SEPARATION_PREFIXED), nan=9.0).tolist()
    memory.restore(1)
    memory.retrieve("Who met Finn?")
    measured += np.nan_to_num(memory.column(specimen.SEPARATION_PREFIXED), nan=9.0).tolist()
    memory.advance(60.0)
    measured += [*np.ravel(memory.column(specimen.PREFIXED_EMBEDDING))]
    return measured, [
        *np.where(np.arange(7) == 1, 0.0, due),
        9.0,
        *due,
        9.0,
        *np.ravel(vectors),
        *np.zeros(16),
    ]


@adaptation(
    "SE-11b",
    source="True Memory 4.1 stage 8: the weight of the separation in a sum of standard scores, in numpy",
    rtol=1e-5,
    atol=1e-6,
)
def the_separation_has_its_weight_in_the_fused_score(specimen: Any) -> Any:
    embedder, people = HashingEmbedder(16), ("Ada", "Bo", "Cleo", "Dan", "Eve", "Finn", "Ada")
    memory = memory_of(specimen, "dense_similarity", "convex_fusion", embedder=embedder)
    encode(
        memory, *(Event(float(i), f"we met at the mill {i}", who) for i, who in enumerate(people))
    )
    memory.retrieve("Who met Finn?")
    standard = [
        (x - x.mean()) / x.std()
        for x in (memory.column(name).astype(float) for name in ("dense", "separation_prefixed"))
    ]
    return memory.column("fused"), (standard[0] + WEIGHT * standard[1]) / (1.0 + WEIGHT)


@adaptation(
    "SE-12", source="in a memory: the style of each stored text, from slices", rtol=1e-5, atol=1e-7
)
def a_memory_keeps_the_style_of_each_text(specimen: Any) -> Any:
    memory = memory_of(specimen)
    encode(memory, *((float(i), text, "Ada") for i, text in enumerate(TEXTS)))
    return memory.column(specimen.STYLE), np.array([style(text) for text in TEXTS])


@figure(
    "style",
    caption="Cosine of the style of a growing mixture of two writers' texts with each writer's style",
    source="True Memory 4.1 stage 5",
)
def style_of_a_mixture(specimen: Any) -> Picture:
    share = np.arange(0, 9)
    curt, formal = "lol gonna go ", "I should be most grateful. "
    mixed = [specimen.style(curt * (8 - int(k)) + formal * int(k)) for k in share]
    curt_style, formal_style = specimen.style(curt * 8), specimen.style(formal * 8)
    return Picture(
        "parts of eight in the second style",
        "cosine",
        (
            Curve("first writer", share, np.array([m @ curt_style for m in mixed])),
            Curve("second writer", share, np.array([m @ formal_style for m in mixed])),
            dots(
                "slices",
                share,
                np.array(
                    [style(curt * (8 - int(k)) + formal * int(k)) @ style(curt * 8) for k in share]
                ),
            ),
        ),
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("trigrams alone", rejected_by="SE-1")
def trigrams(specimen: Any) -> Any:
    def add_ngrams(codes: Any, out: Any) -> None:
        for gram in zip(codes, codes[1:], codes[2:], strict=False):
            out[cell("".join(chr(int(c)) for c in gram))] += 1.0

    return specimen.replacing("add_ngrams", add_ngrams)


@mutant("counts are not normalised", rejected_by="SE-12")
def raw(specimen: Any) -> Any:
    return specimen.replacing("normalise", lambda vector: None)


@mutant("one cell for all", rejected_by="SE-2")
def one_cell(specimen: Any) -> Any:
    def add_ngrams(codes: Any, out: Any) -> None:
        out[0] += 1.0

    return specimen.replacing("add_ngrams", add_ngrams)


@mutant("a memory below the last visible one lacks more than its share", rejected_by="SE-3")
def below_the_last(specimen: Any) -> Any:
    def add_up_to(
        fused: Any, low: float, high: float, rows: Any, fit: Any, share: float, out: Any
    ) -> None:
        if fit.size and fit.max() > 0:
            s = (fused[rows] - low) / (high - low) if low < high else 1.0
            lacking = share * np.maximum(fit, 0.0) / fit.max() - s
            out[rows] = np.maximum(out[rows], lacking)

    return specimen.replacing("add_up_to", add_up_to)


@mutant("shares are added to the score", rejected_by="SE-3")
def added(specimen: Any) -> Any:
    def add_up_to(
        fused: Any, low: float, high: float, rows: Any, fit: Any, share: float, out: Any
    ) -> None:
        if fit.size and fit.max() > 0:
            out[rows] = share * np.maximum(fit, 0.0) / fit.max()

    return specimen.replacing("add_up_to", add_up_to)


@mutant("every question is about a person", rejected_by="SE-4")
def always(specimen: Any) -> Any:
    return specimen.replacing("asks_about_a_person", lambda words: True)


@mutant("dislikes are likes", rejected_by="SE-5")
def fond(specimen: Any) -> Any:
    original = specimen.attribute_of
    return specimen.replacing(
        "attribute_of", lambda fact: {"dislikes": "likes"}.get(original(fact), original(fact))
    )


@mutant("what a later fact supersedes stays in the profile", rejected_by="SE-5f")
def piling(specimen: Any) -> Any:
    return specimen.replacing("updated", lambda entries, fact, row: [*entries, (fact, row)])


@mutant("no sentence states a fact", rejected_by="SE-5b")
def no_facts(specimen: Any) -> Any:
    return specimen.replacing("facts_of", lambda text, speaker="": [])


@mutant("a later fact never supersedes", rejected_by="SE-5c")
def nothing_ends(specimen: Any) -> Any:
    return specimen.replacing("relation", lambda earlier, later: specimen.FactRelation(0))


@mutant("speakers are never named", rejected_by="SE-5e")
def unnamed(specimen: Any) -> Any:
    return specimen.replacing("teller", lambda number, text, rendered: f"speaker {number}")


@mutant("one clause more is read", rejected_by="SE-5d")
def one_more(specimen: Any) -> Any:
    original = specimen.facts_of
    return specimen.replacing(
        "facts_of",
        lambda text, speaker="": [*original(text, speaker), *original(text[-16:], speaker)],
    )


@mutant("superseded facts stay in the profile", rejected_by="SE-6")
def kept(specimen: Any) -> Any:
    return specimen.replacing("relation", lambda earlier, later: specimen.FactRelation(0))


@mutant("dislikes are read back as likes", rejected_by="SE-7")
def forgiving(specimen: Any) -> Any:
    original = specimen.entries_of

    def entries_of(text: str, rows: Any) -> Any:
        return [
            (specimen.Fact(f.subject, f.predicate, f.value), row)
            for f, row in original(text, rows) or ()
        ]

    return specimen.replacing("entries_of", entries_of)


@mutant("a lost profile starts from nothing", rejected_by="SE-7b")
def lost(specimen: Any) -> Any:
    original = specimen.entries_of

    def _entries(view: Any, place: int) -> Any:
        number = int(view.profile[place])
        return (
            []
            if number < 0
            else original(view.writings[number].text, view.writings[number].sources) or []
        )

    return specimen.overriding("SpeakerEngram", _entries=staticmethod(_entries))


@mutant("the least similar styles", rejected_by="SE-8")
def least_similar(specimen: Any) -> Any:
    original = specimen.best
    return specimen.replacing(
        "best", lambda fit, allowed, k: original(-np.asarray(fit), allowed, k)
    )


@mutant("every question raises profiles", rejected_by="SE-9")
def raising(specimen: Any) -> Any:
    return specimen.replacing("asks_about_a_person", lambda words: True)


@mutant("nobody asks", rejected_by="SE-10")
def nobody(specimen: Any) -> Any:
    return specimen.replacing("_FIRST", frozenset())


@mutant("any of the names is enough", rejected_by="SE-10b")
def any_name(specimen: Any) -> Any:
    def _person(view: Any, words: Any) -> int:
        bare = {word.removesuffix("'s") for word in words}
        for place in np.flatnonzero(view.profile >= 0).tolist():
            if bare & set(
                view.writings[int(view.profile[place])].text.partition("\n")[0].lower().split()
            ):
                return int(place)
        return -1

    return specimen.overriding("SpeakerEngram", _person=staticmethod(_person))


@mutant("the prefix is left out", rejected_by="SE-11")
def bare(specimen: Any) -> Any:
    return specimen.replacing("prefixed", lambda event: event.text)


@mutant("events since the last sleep have no prefixed text", rejected_by="SE-11")
def asleep_alone(specimen: Any) -> Any:
    @hook(
        Phase.RETRIEVE,
        reads=(specimen.PREFIXED_EMBEDDING, KIND),
        adds=(),
        sets=(specimen.SEPARATION_PREFIXED,),
    )
    def separate(self: Any, view: Any, cue: Any) -> None:
        np.matmul(view.prefixed_embedding, cue.vector, out=view.separation_prefixed)

    return specimen.overriding("SpeakerEngram", separate=separate)


@mutant("in sleep no prefixed text is embedded", rejected_by="SE-11")
def never_kept(specimen: Any) -> Any:
    @hook(
        Phase.CONSOLIDATE, reads=(), adds=(), sets=(specimen.PREFIXED_EMBEDDING, specimen.PREFIXED)
    )
    def prefix(self: Any, view: Any, tick: Any) -> None:
        """Leaves both as they are."""

    return specimen.overriding("SpeakerEngram", prefix=prefix)
