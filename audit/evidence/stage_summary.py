"""Evidence for stage_summary: talks written for it with their parts by hand, and summaries in a
memory by hand.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...engine.contract.columns import Phase
from ...engine.contract.drafts import Draft, Kind
from ...engine.contract.records import Event
from ...engine.contract.vocabulary import DRAFTS, HIDE, KIND, ROW, SESSION, STAGE, VISIBLE, WRITING
from ...engine.memory.engine import Engine
from ...engine.state.graph import EdgeType
from ..checks import adaptation, equation, limit, mutant, reference
from ..figures import Curve, Picture, figure
from ..memory import memory_of, neighbour
from .shared.clock import CLOCK, LIMIT, linear_time, long_text
from .shared.dreams import dreaming
from .shared.sentences import facts_of_long_texts, facts_of_sentences, names_of_tellers
from .shared.tellings import as_happened, tell

# Talks, and by hand what was decided / what changed / what is open; "A" and "B" are shown names.
TALKS: tuple[tuple[str, str, str, str], ...] = (
    ("A: We decided to sell the boat.|B: Who wants it?|A: Cleo does.|B: I'll call her tomorrow.",
     "A: We decided to sell the boat.", "",
     "B: I'll call her tomorrow."),
    ("A: Shall we paint the gate?|B: Let's go with red.|A: I bought two tins.|B: How much were they?", "B: Let's go with red.",
     "A: I bought two tins.", "B: How much were they?"),
    ("A: The party is on Friday.|B: Nice!|A: Actually, it is on Saturday.|B: ok", "",
     "A: Actually, it is on Saturday.", ""),
    ("A: I moved to Oslo last May.|B: Do you like it?|A: Yes, I do.", "",
     "A: I moved to Oslo last May.", ""),
    ("A: Did the plumber come? Nobody has called back yet.|B: He came.|A: Did he leave a bill?", "",
     "", "A: Nobody has called back yet. / A: Did he leave a bill?"),
    ("A: We still need a permit.|A: Who signs it?|A: The mayor does.", "", "",
     "A: We still need a permit. / A: Who signs it?"),
    ("A: I no longer work at the bakery.|B: Since when?|A: I quit my job in March.", "",
     "A: I no longer work at the bakery. / A: I quit my job in March.", ""),
    ("A: What a day!|B: ha ha|A: Thanks.", "", "", ""),
    ("A: It is settled. We take the early train.|B: When does it leave?|A: At six.|B: We are waiting for the tickets.", "A: It is settled.", "",
     "B: We are waiting for the tickets."),
    ("A: We agreed on blue tiles.|B: No, we agreed on green tiles.|A: Which green?",
     "A: We agreed on blue tiles. / B: No, we agreed on green tiles.", "", "A: Which green?"),
    ("A: Can you water the plants?|B: I will do it on Sunday.|A: Thanks!", "", "",
     "B: I will do it on Sunday."),
    ("A: We chose the tall ladder. It hasn't arrived yet.|B: ok", "A: We chose the tall ladder.",
     "", "A: It hasn't arrived yet."),
    ("A: Where is the key?|B: Where did you look?|A: In the shed.|B: hm", "", "",
     "A: Where is the key?"),
    ("A: My deadline was moved to Friday.|B: Good.", "", "A: My deadline was moved to Friday.", ""),
    ("A: We decided to wait.|A: We decided to wait.|B: Fine with me.", "A: We decided to wait.", "",
     ""),
    ("A: " + "We decided to sing " + "and sing " * 60 + "all night.|B: Good idea.", "", "", ""),
)  # fmt: skip
STORY = (
    ("S1", "Ada", "We decided to sell the red boat."),
    ("S1", "Bo", "Who wants such a leaky boat?"),
    ("S1", "Ada", "My neighbour Cleo does."),
    ("S1", "Ada", "I'll call Cleo about the boat tomorrow."),
    ("S2", "Bo", "The tulips are late."),
    ("S2", "Bo", "Frost killed half the tulips."),
)


def said(specimen: Any, talk: str) -> list[Any]:
    lines = [line.partition(": ") for line in talk.split("|")]
    return [specimen.StageEvent(name, "AB".index(name), text) for name, _, text in lines]


def told(
    specimen: Any, story: Sequence[tuple[str, str, str]] = STORY, *others: Any, **values: Any
) -> Engine:
    memory = memory_of(specimen, *others, **{"sentences": 2, **values})
    for i, (session, speaker, text) in enumerate(story):
        memory.encode(Event(0.5 * i, text, speaker, session, f"e{i}", dated=False))
    return memory


def summaries(memory: Engine) -> list[str]:
    """Text, source rows, session, stage and visibility of each summary."""
    return [
        f"{w.text} {w.sources} {memory.column(SESSION)[row]} {memory.column(STAGE)[row]} {bool(memory.column(VISIBLE)[row])}"
        for w, row in zip(
            (w for w in memory.event_log.writings if w.kind == "summary"),
            np.flatnonzero(memory.column(KIND) == 3),
            strict=True,
        )
    ]


@equation("SS-1", source="closed form, term by term")
def a_word_tells_by_events_inside_and_outside(specimen: Any) -> Any:
    rng = np.random.default_rng(1)
    held, others = rng.integers(1, 9, 20), rng.integers(0, 50, 20)
    out = np.full(20, np.nan)
    specimen.telling(held, others, 50, out)
    return out, [h * (np.log(51.0) - np.log(1.0 + o)) for h, o in zip(held, others, strict=True)]


@reference("SS-2", source="sixteen talks with their parts by hand")
def what_was_decided_what_changed_and_what_is_open(specimen: Any) -> Any:
    measured = []
    for talk, *_ in TALKS:
        parts = specimen.parts_of(said(specimen, talk))
        measured += [" / ".join(parts.decided), " / ".join(parts.changed), " / ".join(parts.open)]
    return measured, [part for _, *parts in TALKS for part in parts]


@adaptation("SS-2b", source="150 sentences and more, written for it, with their facts by hand")
def the_facts_of_sentences_are_found(specimen: Any) -> Any:
    return facts_of_sentences(specimen)


@adaptation(
    "SS-2c", source="definition: 200 clauses of a text and 300 characters of a clause are read"
)
def long_texts_are_read_in_part(specimen: Any) -> Any:
    return facts_of_long_texts(specimen)


@adaptation("SS-2d", source="indexed texts with the names of their speakers by hand")
def speakers_are_read_from_the_indexed_text(specimen: Any) -> Any:
    return names_of_tellers(specimen)


@adaptation(
    "SS-3",
    source="by hand: boat 2 ln 8, mast and red ln 8, leaks 2 ln 2, the longer of equal ones first",
)
def words_are_those_of_the_stage(specimen: Any) -> Any:
    texts = ["The boat leaks, and leaks.", "Red!", "A BOAT with its mast leaked."]
    frequency = {"boat": 2, "leak": 5, "mast": 1, "red": 1}
    chosen = [
        specimen.topics(texts, lambda term: frequency.get(term, 0), 10, most) for most in (3, 4, 0)
    ]
    return [str(words) for words in (*chosen, specimen.topics([], len, 0, 3))], [
        "['boat', 'mast', 'Red']",
        "['boat', 'mast', 'Red', 'leaks']",
        "[]",
        "[]",
    ]


@adaptation(
    "SS-3b",
    source="by hand: of five events three are in the stage; red ln 3 is more than boat 2 ln 3/2",
)
def events_outside_the_stage_count(specimen: Any) -> Any:
    return specimen.topics(["The boat is red.", "A boat.", ""], {"boat": 3, "red": 1}.get, 5, 2), [
        "red",
        "boat",
    ]


@adaptation(
    "SS-3c",
    source="by hand: five speakers by their number of events, sentences of up to 400 characters, no name where none is shown, and "
    "the last two sentences of each part; who answers is told apart without a name",
)
def a_summary_names_speakers_and_leaves_out_long_sentences(specimen: Any) -> Any:
    talk = [
        specimen.StageEvent(name, number, "ok")
        for number, name in enumerate(("A", "B", "C", "D", "E", "F"))
        for _ in range(9 - number)
    ]
    long = [f"We decided to {'sing ' * n}all." for n in (76, 77)]
    texts = [
        text.replace(" all.", f"{'!' * (400 - len(text))} all.") if len(text) < 400 else text
        for text in long
    ]
    decided = [
        specimen.StageEvent("", 7, text.replace("!", "x"))
        for text in (*texts, texts[0].replace("!", "x") + "x")
    ]
    parts = specimen.parts_of(decided)
    nameless = [specimen.StageEvent("", 1, "ok"), specimen.StageEvent("A", 0, "We chose red.")]
    answered = [specimen.StageEvent("", n, t) for n, t in ((1, "Who pays?"), (2, "I do."))]
    many = [
        specimen.StageEvent("", 1, f"We decided on {n}. Actually, the boat is {n}. I'll call {n}.")
        for n in ("red", "green", "blue")
    ]
    return [
        specimen.summary_of(talk, ["x"], 1),
        [len(text) for text in parts.decided][:1] == [400],
        specimen.summary_of(nameless, [], 1),
        specimen.summary_of(answered, ["x"], 1),
        specimen.summary_of(many, [], 2),
    ], [
        "Who: A, B, C, D, E\nAbout: x",
        True,
        "Who: A\nDecided: A: We chose red.",
        "About: x",
        "Decided: We decided on green. We decided on blue.\nChanged: Actually, the boat is green. Actually, the boat is blue.\n"
        "Open: I'll call green. I'll call blue.",
    ]


@adaptation(
    "SS-3e",
    source="by hand: fenced code, closed or not, is no part of a stage, and bare numbers are no words of it",
)
def code_and_bare_numbers_are_left_out(specimen: Any) -> Any:
    texts = (
        "Sail.\n```py\nmast = 7\n```\nRed 44 sails, B2.",
        "~~~ no fence",
        "```\nx\n```",
        "Ask:\n```\nopen",
        "Use `x` here",
    )
    measured = [
        *map(specimen.prose, texts),
        *specimen.topics(["Red 44 sails, B2.", "1984"], lambda term: 0, 9, 9),
    ]
    return measured, ["Sail.\nRed 44 sails, B2.", "~~~ no fence", "", "Ask:", "Use `x` here", "sails",
                   "Red", "B2"]  # fmt: skip


@adaptation(
    "SS-3d",
    source="by hand: events by stage, or by session where they have none, in the order of their first events",
    papers=(),
)
def events_are_grouped_by_stage_or_session(specimen: Any) -> Any:
    cases: tuple[tuple[list[int], list[int], list[int], list[list[int]]], ...] = (
        ([0] * 6, [-1, -1, 2, -1, 2, -1], [3, -1, 3, 0, 0, 3], [[0, 5], [1], [2, 4], [3]]),
        ([0] * 4, [0, -1, 1, -1], [0, 0, 1, 1], [[0], [1], [2], [3]]),
        ([0] * 4, [0, -1, 1, -1], [2, 2, 3, 3], [[0], [1], [2], [3]]),
        ([3, 0], [0, 0], [0, 0], [[1]]),
        ([], [], [], []),
    )
    groups = [
        [
            rows.tolist()
            for rows in specimen.stages(
                np.array(kind, np.int8), np.array(stage, np.int64), np.array(session, np.int32)
            )
        ]
        for kind, stage, session, _ in cases
    ]
    return [str(group) for group in groups], [str(by_hand) for *_, by_hand in cases]


@adaptation("SS-4", source="summaries of a story in two sessions, by hand")
def each_closed_stage_has_a_summary(specimen: Any) -> Any:
    """The second session has too few events; of the words, boat and Cleo are in two or more
    events of the first session and in none of the second.
    """
    memory = told(specimen, words=2)
    memory.advance(30.0)
    first = "Who: Ada, Bo\nAbout: boat, Cleo\nDecided: Ada: We decided to sell the red boat.\nOpen: Ada: I'll call Cleo about the boat tomorrow."
    ids = memory.unit(6).sources
    return [*summaries(memory), str(ids), memory.unit(6).kind.word], [
        f"{first} (0, 1, 2, 3) 0 0 True",
        "('e0', 'e1', 'e2', 'e3')",
        "summary",
    ]


@adaptation(
    "SS-5",
    source="definition: a new version once the stage has grown by a tenth, linked to the former one, which is archived; by hand",
)
def a_stage_that_goes_on_has_a_new_version(specimen: Any) -> Any:
    memory = told(specimen, words=1, growth=1.3)
    memory.advance(30.0)
    memory.encode(Event(31.0, "Cleo sold the boat again.", "Bo", "S1", "e6", dated=False))
    memory.advance(54.0)  # 5 events of 4: a quarter
    before = len(summaries(memory))
    memory.encode(Event(55.0, "Actually, the boat is green.", "Bo", "S1", "e7", dated=False))
    memory.advance(100.0)
    graph = memory.graph
    links = [
        (int(s), int(t))
        for s, t, k in zip(graph.source, graph.target, graph.type, strict=True)
        if k == EdgeType.VERSION
    ]
    first = "Who: Ada, Bo\nAbout: boat\nDecided: Ada: We decided to sell the red boat."
    second = (
        "Who: Ada, Bo\nAbout: boat\nDecided: Ada: We decided to sell the red boat.\nChanged: Bo: Cleo sold the boat again. "
        "Bo: Actually, the boat is green."
    )
    open_ = "\nOpen: Ada: I'll call Cleo about the boat tomorrow."
    return [str(before), *summaries(memory), str(links)], [
        "1",
        f"{first}{open_} (0, 1, 2, 3) 0 0 False",
        f"{second}{open_} (0, 1, 2, 3, 7, 8) 0 0 True",
        "[(9, 6)]",
    ]


@adaptation(
    "SS-11",
    source="definition: a summary of a stage is no answer, unless summaries are answered; a summary of another writer is one",
)
def summaries_leave_answers_to_events(specimen: Any) -> Any:
    def note(view: Any, tick: Any) -> None:
        view.drafts.add(Draft("a note", Kind.SUMMARY, (0,)))

    measured = []
    for values in ({}, {"answered": True}):
        memory = told(
            specimen,
            STORY,
            neighbour(Phase.CONSOLIDATE, note, adds=(DRAFTS,), id="note", order=10_000),
            **values,
        )
        memory.advance(30.0)
        made = {row: memory.unit(row).text for row in range(6, len(memory.column(KIND)))}
        answered = memory.retrieve("boat", k=20).rows
        measured.append(sorted(made[int(row)][:6] for row in answered if row >= 6))
    return [str(texts) for texts in measured], ["['a note']", "['Who: A', 'a note']"]


@adaptation(
    "SS-6",
    source="definition: a stage is what STAGE says; made rows and events of other stages are in no summary; by hand",
)
def stages_come_from_the_column(specimen: Any) -> Any:
    def place(view: Any, incoming: Any) -> None:
        view.stage[view.row] = view.row % 2

    memory = told(
        specimen,
        STORY,
        neighbour(Phase.ENCODE, place, reads=(ROW,), sets=(STAGE,)),
        members=3,
        words=0,
    )
    memory.advance(30.0)
    memory.advance(100.0)
    measured = [
        str((w.sources, stage))
        for w, stage in zip(
            memory.event_log.writings, memory.column(STAGE)[6:].tolist(), strict=True
        )
    ]
    return measured, ["((0, 2, 4), 0)", "((1, 3, 5), 1)"]


@adaptation(
    "SS-6b",
    source="by hand: what a mechanism archived and several sessions are in it; who asks and goes on talking leaves the question "
    "open; rows of other writers are left alone",
)
def a_stage_of_several_sessions_has_no_session(specimen: Any) -> Any:
    def place(view: Any, incoming: Any) -> None:
        view.stage[view.row] = 0

    def note(view: Any, tick: Any) -> None:
        view.drafts.add(Draft("a note", Kind.SUMMARY, (0,), stage=0))
        view.hide[1] += 1

    story = (
        ("S1", "", "We decided to sell the red boat."),
        ("S1", "Bo", "Frost killed the tulips."),
        ("S2", "Ada", "Who wants the boat?"),
        ("S2", "Ada", "It has a leak."),
    )
    memory = told(
        specimen,
        story,
        neighbour(Phase.ENCODE, place, reads=(ROW,), sets=(STAGE,), id="place"),
        neighbour(Phase.CONSOLIDATE, note, adds=(DRAFTS, HIDE), id="note"),
        words=0,
    )
    memory.advance(30.0)
    memory.erase("e0", confirm=True)
    memory.advance(60.0)
    rows = [
        row
        for row in np.flatnonzero(memory.column(KIND) == 3).tolist()
        if memory.event_log.writings[int(memory.column(WRITING)[row])].maker == "stage_summary"
    ]
    made = [(w.text, w.sources) for w in memory.event_log.writings if w.maker == "stage_summary"]
    text = "Who: Ada, Bo\nOpen: Ada: Who wants the boat?"
    return [
        str(made),
        str(memory.column(SESSION)[rows].tolist()),
        memory.column(STAGE)[rows[1]],
        memory.column(specimen.STAGE_SUMMARY)[0] - rows[1],
        int((memory.graph.type == EdgeType.VERSION).sum()),
    ], [str([("", (0, 1, 2, 3)), (text, (1, 2, 3))]), "[-1, -1]", 0, 0, 0]


@adaptation(
    "SS-6c",
    source="definition: a stage of four events has a new version at five with a growth of 1 to 1.25, and none without a new event",
)
def a_version_needs_a_new_event(specimen: Any) -> Any:
    measured = []
    for growth in (1.0, 1.25, 1.3):
        memory = told(specimen, STORY[:4], words=1, growth=growth)
        for day, text in enumerate(("", "", "Cleo sold the boat again."), 1):
            if text:
                memory.encode(Event(24.0 * day, text, "Bo", "S1", f"f{day}", dated=False))
            memory.advance(24.0 * day + 20.0)
            measured.append(len(summaries(memory)))
        memory.advance(120.0)
        measured.append(len(summaries(memory)))
    return measured, [1, 1, 1, 2, 1, 1, 1, 2, 1, 1, 1, 1]


@limit(
    "SS-7",
    source="definition: an open stage, a short one and an empty memory have no summary; 6 h without an event close a stage",
)
def open_and_short_stages_have_no_summary(specimen: Any) -> Any:
    measured = []
    for scale in (1.0, 2.0):
        for story, sleep in (
            ((), 50.0),
            (STORY[:4], 7.0),
            (STORY[:4], 8.0),
            (STORY[:4], 14.0),
            (STORY[:5], 7.0),
            (STORY[4:], 30.0),
            ((("", "A", "and"), ("", "A", ""), ("", "A", "the")), 30.0),
        ):
            memory = told(specimen, story, time_scale=scale, consolidate_every=sleep)
            memory.advance(sleep + 0.1)
            measured.append(len(summaries(memory)))
    yield measured, [0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 0, 0]
    # a stage is open for 6 h after its last event was told, whenever that happened
    memory = told(specimen, STORY[:3], consolidate_every=6.0)
    tell(memory, 1.5, Event(0.0, STORY[3][2], "Ada", "S1", dated=False))
    made = list[int]()
    for sleep in (6.0, 12.0):
        memory.advance(sleep + 0.1)
        made.append(len(summaries(memory)))
    yield made, [0, 1]
    # what a sleep makes at 3 h is no event of the stage, and closes none
    memory, made = told(specimen, STORY[:4], dreaming(), consolidate_every=3.0), []
    for sleep in (3.0, 6.0, 9.0):
        memory.advance(sleep + 0.1)
        made.append(len(summaries(memory)))
    yield made, [1, 1, 2]


@limit("SS-8", source="definition: every word of a summary is one of its stage")
def summaries_are_extracts(specimen: Any) -> Any:
    strange = []
    for talk, *_ in TALKS:
        stage = said(specimen, talk)
        text = specimen.summary_of(
            stage, specimen.topics([s.text for s in stage], lambda term: 1, 9, 5), 2
        )
        known = set(re.findall(r"\w+", talk)) | {"Who", "About", "Decided", "Changed", "Open"}
        strange.append(len(set(re.findall(r"\w+", text)) - known))
    return strange, [0] * len(TALKS)


@adaptation(
    "SS-9",
    source="definition: after an event is erased, the next summary does not have it; by hand",
)
def an_erased_event_is_in_no_summary(specimen: Any) -> Any:
    memory = told(specimen, words=0)
    memory.advance(30.0)
    memory.erase("e3", confirm=True)
    memory.advance(60.0)
    texts = [w.text for w in memory.event_log.writings]
    return [*texts, str(memory.column(VISIBLE)[6:].tolist())], [
        "",
        "Who: Ada, Bo\nDecided: Ada: We decided to sell the red boat.",
        "[False, True]",
    ]


@adaptation(
    "SS-12",
    source="by hand: kayak ln 9 is more than boat 2 ln 9/4 among the 8 events of other stages; of 20 rows it were less, but made rows "
    "do not count",
)
def made_rows_do_not_count_among_events(specimen: Any) -> Any:
    def notes(view: Any, tick: Any) -> None:
        if len(view.kind) == 8:
            for n in range(12):
                view.drafts.add(Draft(f"note {n}", Kind.SUMMARY, (0,)))

    other = [("S2", "Ada", text) for text in ("The boat.",) * 3 + ("The rain.",) * 5]
    memory = told(
        specimen,
        other,
        neighbour(Phase.CONSOLIDATE, notes, reads=(KIND,), adds=(DRAFTS,), id="notes"),
        words=1,
        members=3,
    )
    memory.advance(30.0)
    for n, text in enumerate(("The boat.", "A boat.", "The kayak.")):
        memory.encode(Event(31.0 + n, text, "Ada", "S1", f"f{n}", dated=False))
    memory.advance(60.0)
    made = [w.text for w in memory.event_log.writings if w.maker == "stage_summary"]
    return made[-1:], ["Who: Ada\nAbout: kayak"]


@adaptation("SS-10", source="linear time: s for texts of 300,000 characters, or of 2,000 sentences")
def hostile_texts_take_linear_time(specimen: Any) -> Any:
    def read(text: str) -> None:
        events = [specimen.StageEvent("A", 0, text)] * 2
        specimen.summary_of(events, specimen.topics([text], len, 9, 8), 2)

    units = ("still need ", "not ", "don't ", ". ", " ", "a", "a-")
    return linear_time(read, *map(long_text, units), "We decided. " * 2_000, "who? " * 2_000)


@figure(
    "telling",
    caption="What a word tells about a stage, by the events outside it that hold the word, of 100",
    source="ours",
)
def telling_over_others(specimen: Any) -> Picture:
    others, curves = np.arange(0, 101), []
    for held in (1, 2, 4):
        out = np.empty(101)
        specimen.telling(np.full(101, held), others, 100, out)
        curves.append(Curve(f"in {held} of the stage", others, out))
    return Picture("events outside that hold the word", "weight", tuple(curves))


# --- mutants --------------------------------------------------------------------------------------
@mutant("made rows count among the events of other stages", rejected_by="SS-12")
def among_all_rows(specimen: Any) -> Any:
    original = specimen.topics
    return specimen.replacing(
        "topics", lambda texts, frequency, n, most: original(texts, frequency, n + 12, most)
    )


@mutant("the first sentences of each part", rejected_by="SS-3c")
def first_of_each_part(specimen: Any) -> Any:
    def summary_of(stage: Any, about: Any, most: int) -> str:
        parts = specimen.parts_of(stage)
        kept = [part[:most] for part in (parts.decided, parts.changed, parts.open)]
        first = [said for said in stage if any(text in said.text for part in kept for text in part)]
        return str(specimen.summary_of(first or stage, about, most))

    return specimen.replacing("summary_of", summary_of)


@mutant("the logarithm of the sum", rejected_by="SS-1")
def unsmoothed(specimen: Any) -> Any:
    def telling(held: Any, others: Any, n: int, out: Any) -> None:
        out[...] = held * np.log(n + 1.0 - others)

    return specimen.replacing("telling", telling)


@mutant("questions stay open", rejected_by="SS-2")
def always_open(specimen: Any) -> Any:
    original = specimen.parts_of
    return specimen.replacing(
        "parts_of", lambda stage: original([specimen.StageEvent(s.name, 0, s.text) for s in stage])
    )


@mutant("no sentence states a fact", rejected_by="SS-2b")
def no_facts(specimen: Any) -> Any:
    return specimen.replacing("facts_of", lambda text, speaker="": [])


@mutant("speakers are never named", rejected_by="SS-2d")
def unnamed(specimen: Any) -> Any:
    return specimen.replacing("teller", lambda number, text, rendered: f"speaker {number}")


@mutant("one clause more is read", rejected_by="SS-2c")
def one_more(specimen: Any) -> Any:
    original = specimen.facts_of
    return specimen.replacing(
        "facts_of",
        lambda text, speaker="": [*original(text, speaker), *original(text[-16:], speaker)],
    )


@mutant("the most frequent words", rejected_by="SS-3")
def frequent(specimen: Any) -> Any:
    original = specimen.topics
    return specimen.replacing(
        "topics", lambda texts, frequency, n, most: original(texts, lambda term: 0, n, most)
    )


@mutant("code is read as prose", rejected_by="SS-3e")
def code_too(specimen: Any) -> Any:
    return specimen.replacing("prose", lambda text: text)


@mutant("all events are one stage", rejected_by="SS-4")
def one_stage(specimen: Any) -> Any:
    return specimen.replacing(
        "stages", lambda kind, stage, session: iter([np.flatnonzero(kind == 0)])
    )


@mutant("former versions stay visible", rejected_by="SS-5")
def both_visible(specimen: Any) -> Any:
    def dress(self: Any, view: Any, tick: Any) -> None:
        specimen.StageSummary.dress(self, view, tick)
        view.hide[...] = 0

    return specimen.overriding("StageSummary", dress=dress)


@mutant("summaries are answers", rejected_by="SS-11")
def answered(specimen: Any) -> Any:
    return specimen.overriding("StageSummary", keep_apart=lambda self, view, cue: None)


@mutant("stages are sessions", rejected_by="SS-6")
def by_session(specimen: Any) -> Any:
    original = specimen.stages
    return specimen.replacing(
        "stages", lambda kind, stage, session: original(kind, np.full_like(stage, -1), session)
    )


@mutant("every stage is closed", rejected_by="SS-7")
def closed(specimen: Any) -> Any:
    def hours(self: Any, name: str) -> float:
        return 0.0

    return specimen.overriding("StageSummary", hours=hours)


@mutant("a stage is open from when its last event happened", rejected_by="SS-7")
def from_the_event(specimen: Any) -> Any:
    return as_happened(specimen, "StageSummary", "draft")


@mutant("a made row after the last event closes its stage", rejected_by="SS-7")
def closed_by_a_dream(specimen: Any) -> Any:
    dreamt = [False]

    def draft(self: Any, view: Any, tick: Any) -> None:
        dreamt[0] = bool(len(view.kind) and view.kind[-1] != Kind.EVENT)
        specimen.StageSummary.draft(self, view, tick)

    def hours(self: Any, name: str) -> float:
        return 0.0 if dreamt[0] else float(specimen.StageSummary.hours(self, name))

    return specimen.overriding("StageSummary", draft=draft, hours=hours)


@mutant("what is open has a word of its own", rejected_by="SS-8")
def invented(specimen: Any) -> Any:
    original = specimen.summary_of
    return specimen.replacing(
        "summary_of",
        lambda stage, about, most: original(stage, about, most).replace("Open: ", "Open: perhaps "),
    )


@mutant("a summary is made anew only when its stage grows", rejected_by="SS-9")
def only_growth(specimen: Any) -> Any:
    def draft(self: Any, view: Any, tick: Any) -> None:
        if not len(view.texts) > 6:
            specimen.StageSummary.draft(self, view, tick)

    return specimen.overriding("StageSummary", draft=draft)


@mutant("a long text of blanks is read again and again", rejected_by="SS-10")
def slow(specimen: Any) -> Any:
    original = specimen.topics

    def topics(texts: Any, frequency: Any, n: int, most: int) -> Any:
        if texts[0].isspace():
            CLOCK.put_forward(2.0 * LIMIT)
        return original(texts, frequency, n, most)

    return specimen.replacing("topics", topics)
