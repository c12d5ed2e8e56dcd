"""Evidence for surprise_index: fingerprints and scores set by hand from the public code's
numbers, and a history scored anew with plain sets.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np

from ...engine.contract.drafts import Draft, Kind
from ...engine.contract.records import Event
from ...engine.contract.vocabulary import NEWS, VISIBLE, WORTH
from ...engine.text.features import features
from ..checks import adaptation, equation, limit, mutant
from ..figures import Curve, Picture, dots, figure
from ..memory import encode, memory_of
from .shared.clock import linear_time, long_text
from .shared.scripts import drafting, refusing

PAPER = ("truememory2026",)
TOLD: tuple[tuple[str, tuple[str, ...]], ...] = (         # text, fingerprints read by hand
    ("Mia moved to Oslo on 3 May. The rent is 900 euros.",
     ("number:900euros", "date:3 may", "name:mia", "name:oslo", "event:mia moved to oslo",
      "is:the rent=900 euros")),
    ("we walked 12.5 km in 3 hours and paid $1,250 for it", ("number:12.5km", "number:3hours",
    "number:$1250")),
    ("at 7:45 pm we sat on the wall, with 40% of the 12,000 seats free", ("number:7:45pm",
    "number:40%", "number:12000")),
    ("on 2024-05-06, in June 2021, on 4/5/2020 and in 1999", ("date:2024-05-06", "date:june 2021",
    "date:4/5/2020", "date:1999")),
    ("The café was sold by old Tom", ("name:tom", "event:cafe was sold by old",
                                      "is:the cafe=sold by old")),
    ("It is so. Are you there? My cat is small, and she was not", ("is:my cat=small",)),
    ("My cat is, you know, grey. It is cold. The old red brick house is very big, cold and dark.",
     ("is:red brick house=very big",)),
    ("Mia’s café was closed", ("name:mia", "event:cafe was closed", "is:mia's cafe=closed")),
    ("He left. We sold it.", ("event:he left we sold", "event:left we sold it")),
    ("14 of us, 3 x 4, and no. 7", ()),
    ("", ()),
)  # fmt: skip


def by_hand(new: int, total: int, length: int, details: int, events: int) -> float:
    """The table of the public code, in hundredths."""
    if total == 0:
        return (10 if length < 30 else 20 if length < 80 else 30) / 100
    if new == 0:
        return 0.1
    bonus = 15 if length > 300 else 10 if length > 150 else 5 if length > 80 else 0
    return (
        float(
            np.clip(60 * new / total + bonus + min(15, 5 * details) + min(10, 5 * events), 5, 100)
        )
        / 100
    )


def score(specimen: Any, *counts: float) -> float:
    return float(specimen.news(*map(float, counts), 0.6, 0.05, 0.05, 0.1))


@adaptation("SU-1", source="fingerprints read by hand")
def the_facts_of_a_text_are_found(specimen: Any) -> Any:
    read = [specimen.fingerprints(text, features(text).entities).all for text, _ in TOLD]
    return [str(sorted(set(facts))) for facts in read], [
        str(sorted(set(expected))) for _, expected in TOLD
    ]


@equation(
    "SU-2",
    source="True Memory 4.1 stage 4, in words; the numbers of its public code as a table in hundredths",
    figure="score",
)
def the_score_is_that_of_the_public_code(specimen: Any) -> Any:
    cases = [
        (new, total, length, d, v)
        for total in (0, 1, 2, 7)
        for new in range(min(total, 3) + 1)
        for length in (29, 30, 79, 80, 81, 150, 151, 300, 301)
        for d in (0, 1, 3, 9)
        for v in (0, 1, 2, 5)
    ]
    return [score(specimen, *c) for c in cases], [by_hand(*c) for c in cases]


@limit(
    "SU-3",
    source="closed form: all new with all bonuses is 1, whatever the weights; one new of many without bonuses is the least, 0.05",
)
def the_ends_of_the_scale(specimen: Any) -> Any:
    beyond = specimen.news(5.0, 5.0, 400.0, 9.0, 9.0, 1.0, 0.05, 0.05, 0.1)
    return [score(specimen, 5, 5, 400, 9, 9), score(specimen, 1, 1000, 10, 0, 0), beyond], [
        1.0,
        0.05,
        1.0,
    ]


# --- in a memory ----------------------------------------------------------------------------------
# Text, fingerprints by hand, details, events; each is scored against the sets of all events before
# it that were stored.
STORY: tuple[tuple[str, tuple[str, ...], int, int], ...] = (
    (TOLD[0][0], TOLD[0][1], 2, 1),
    ("ok", (), 0, 0),
    ("nothing to see in here", (), 0, 0),
    (
        "The rent is 900 euros, said Mia.",
        ("number:900euros", "name:mia", "is:the rent=900 euros"),
        1,
        0,
    ),
    ("refused: Zoe lives in Lima", ("name:zoe", "name:lima"), 0, 0),
    (
        "My aunt met Zoe in Oslo on 3 May after a walk of 4 km along the water, and we all had a good time there",
        ("number:4km", "date:3 may", "name:zoe", "name:oslo", "event:my aunt met zoe in"),
        2,
        1,
    ),
    # a name is new, and the event is known
    ("My aunt met Zoe in Rome", ("name:zoe", "name:rome", "event:my aunt met zoe in"), 0, 1),
    (TOLD[0][0], TOLD[0][1], 2, 1),
    ("aaa", (), 0, 0),
)


def lived(specimen: Any, story: Any = STORY, **values: Any) -> Any:
    memory = memory_of(specimen, refusing("refused"), **values)
    encode(memory, *((float(i), text) for i, (text, *_) in enumerate(story)))
    return memory


def scored(story: Any, kept: int = 10**6) -> list[float]:
    """The story with plain sets of the fingerprints by hand."""
    seen: set[str] = set()
    out = []
    for text, prints, details, _ in story:
        if text.startswith("refused"):
            continue
        new = [f for f in prints if f not in seen]
        noise = text in ("ok", "aaa")
        out.append(
            0.05
            if noise
            else by_hand(
                len(new), len(prints), len(text), details, sum(f.startswith("event:") for f in new)
            )
        )
        seen.update(new[:kept])
    return out


@adaptation(
    "SU-4",
    source="plain sets of fingerprints read by hand, with the table of SU-2; a rejected event says nothing",
    papers=PAPER,
)
def a_memory_scores_what_no_earlier_one_said(specimen: Any) -> Any:
    return lived(specimen).column(NEWS), scored(STORY)


@adaptation(
    "SU-5", source="plain sets, with one new fingerprint kept of each memory; other weights by hand"
)
def every_parameter_counts(specimen: Any) -> Any:
    of_one = lived(specimen, kept=1).column(NEWS)
    other = lived(
        specimen, STORY[:4], share=0.4, detail=0.01, event=0.02, noise=0.3, repeated=0.17
    ).column(NEWS)
    return [*of_one, *other], [*scored(STORY, kept=1), 0.4 + 0.02 + 0.02, 0.3, 0.1, 0.17]


@adaptation(
    "SU-5b",
    source="by hand: four letters and digits among the first 64 characters are no noise; a caption is part of the text",
)
def captions_count_and_noise_is_short(specimen: Any) -> Any:
    told = (("a 3 kg", "", 0.65), ("a 9 g", "", 0.05), ("-" * 60 + "abcd", "", 0.2),
            ("-" * 61 + "abcd", "", 0.05),
            ("we saw this", "a 7 kg fish", 0.65), ("x" * 80, "", 0.3), ("y" * 79, "", 0.2),
            ("so there it was in the rain", "", 0.1),
            ("so there it was in the rains!", "", 0.1))  # fmt: skip
    memory = memory_of(specimen)
    for i, (text, caption, _) in enumerate(told):
        memory.encode(Event(float(i), text, caption=caption, dated=False))
    return memory.column(NEWS), [expected for *_, expected in told]


@adaptation(
    "SU-6",
    source="True Memory 4.1 stage 4: in the order of time; the history in one piece, and row by row",
)
def the_index_continued_is_the_index_rebuilt(specimen: Any) -> Any:
    measured = []
    for stop in range(len(STORY)):
        memory = lived(specimen, STORY[:stop])
        part, known, after = (
            memory.column(specimen.NEW_FINGERPRINTS),
            specimen.KnownFingerprints(),
            specimen.KnownFingerprints(),
        )
        news = memory.column(NEWS)
        for row in range(len(part)):
            after.until(row, part, news)
        measured.append(known.until(len(part), part, news) == after.until(len(part), part, news))
        measured.append(
            sorted(known.codes)
            == sorted(
                {
                    specimen.code(f)
                    for text, all_of, *_ in STORY[:stop]
                    if not text.startswith("refused")
                    for f in all_of
                }
            )
        )
    return measured, [True] * len(measured)


@adaptation("SU-6b", source="definition: what an erased memory alone has said is new again")
def what_was_erased_is_not_known(specimen: Any) -> Any:
    memory, event = memory_of(specimen), Event(0.0, "Zoe has 3 pens", id="first", dated=False)
    memory.encode(Event(0.0, "Bo saw 7 cats in 2 hours", id="bo", dated=False))
    memory.encode(event)
    memory.encode(Event(1.0, "Zoe has 3 pens", id="second", dated=False))
    before = memory.column(NEWS).tolist()
    memory.erase("first", confirm=True)
    memory.encode(Event(2.0, "Zoe has 3 pens", id="third", dated=False))
    memory.encode(Event(3.0, "Zoe has 3 pens", id="fourth", dated=False))
    memory.encode(Event(4.0, "Bo saw 7 cats in 2 hours", id="fifth", dated=False))
    return [*before, *memory.column(NEWS)], [0.65, 0.6, 0.1, 0.65, 0.0, 0.1, 0.6, 0.1, 0.1]


# --- contradictions -------------------------------------------------------------------------------
# Speaker, text, NEWS without contradictions by hand, whether it contradicts an earlier one by hand
CHANGES: tuple[tuple[str, str, bool], ...] = (
    ("Mia", "I live in Oslo.", False),
    ("Bo", "I moved to Bergen last May.", False),  # nothing was said of Bo
    ("Mia", "I moved to Oslo.", False),  # the value that is known
    ("Mia", "I live in Bergen.", False),  # another value, but no change is told
    ("Mia", "I moved to Narvik.", True),
    ("Bo", "I moved to Narvik, too.", True),
    ("Mia", "Did I move to Rome?", False),  # a question states nothing
    ("Mia", "I moved to Oslo.", False),  # back to a value that was said before
    ("Mia", "I no longer live in Paris.", False),  # what does not hold contradicts no value
    ("Mia", "I like coffee.", False),
    ("Mia", "I now like tea.", False),  # tastes have many values
)


@equation(
    "SU-10",
    source="True Memory 4.1 stage 4, in words: the score and a constant, at most 1, as integers of hundredths",
    papers=PAPER,
)
def a_contradiction_adds_a_constant(specimen: Any) -> Any:
    cases = [(score, bonus) for score in range(0, 101, 5) for bonus in range(0, 101, 20)]
    return [float(specimen.contradicted(a / 100.0, b / 100.0)) for a, b in cases], [
        min(100, a + b) / 100.0 for a, b in cases
    ]


@adaptation("SU-11", source="changes read by hand; beside the same life without contradictions")
def told_changes_that_contradict_are_news(specimen: Any) -> Any:
    def life(bonus: float) -> Any:
        memory = memory_of(specimen, contradiction=bonus)
        for hour, (speaker, text, _) in enumerate(CHANGES):
            memory.encode(Event(float(hour), text, speaker, dated=False))
        return memory.column(NEWS)

    return life(0.2) - life(0.0), [0.2 * contradicts for *_, contradicts in CHANGES]


@adaptation("SU-11b", source="definition: what an erased memory alone has said contradicts nothing")
def an_erased_value_is_not_contradicted(specimen: Any) -> Any:
    measured = []
    for erased in (False, True):
        memory = memory_of(specimen, contradiction=0.2)
        memory.encode(Event(0.0, "I live in Oslo.", "Mia", id="first", dated=False))
        if erased:
            memory.erase("first", confirm=True)
        memory.encode(Event(1.0, "I moved to Bergen.", "Mia", dated=False))
        measured.append(float(memory.column(NEWS)[-1]))
    # name and event are new in both
    return measured, [0.65 + 0.2, 0.65]


@adaptation(
    "SU-12",
    source="by hand: what is kept comes before told values; noise keeps its names; known numbers are details; a caption has length",
)
def what_is_known_counts_in_part(specimen: Any) -> Any:
    told = (
        ("Zoe moved to Oslo.", "", 0.65),
        ("Thanks, Ida!", "", 0.05),
        ("Ida sleeps.", "", 0.1),
        ("We walked 3 km.", "", 0.65),
        ("We walked 3 km in 40 minutes.", "", 0.6 / 2.0 + 0.1),
        (
            "We walked on and on along the wide water until it was dark.",
            "a path of 7 km in the sun",
            0.7,
        ),
    )
    memory = memory_of(specimen, contradiction=0.2, kept=1)
    for i, (text, caption, _) in enumerate(told):
        memory.encode(Event(float(i), text, "Zoe", caption=caption, dated=False))
    kept = memory.column(specimen.NEW_FINGERPRINTS)[:2, 0]
    return [*memory.column(NEWS), *kept], [
        *(news for *_, news in told),
        specimen.code("name:zoe"),
        specimen.code("name:ida"),
    ]


@limit(
    "SU-7",
    source="definition: codes of 63 bits are positive, the same for the same fingerprint only",
)
def codes_tell_fingerprints_apart(specimen: Any) -> Any:
    codes = [specimen.code(f"name:{i}") for i in range(2000)]
    again = [specimen.code(f"name:{i}") for i in range(2000)]
    return [min(codes) > 0, 2**62 <= max(codes) < 2**63, len(set(codes)), codes == again], [
        True,
        True,
        2000,
        True,
    ]


@adaptation("SU-8", source="linear time: s for texts of 300,000 characters")
def hostile_texts_take_linear_time(specimen: Any) -> Any:
    units = ("1,", "is a ", "12 may ", "$1,1", "a'", "9", "moved ")
    return linear_time(lambda text: specimen.fingerprints(text, ()), *map(long_text, units))


@equation(
    "SU-9",
    source="definition: worth is ln NEWS of a memory that was judged, not of a made one; the least worth leave a full memory",
    rtol=1e-6,
)
def what_said_little_leaves_a_full_memory(specimen: Any) -> Any:
    memory = memory_of(specimen, drafting(Draft("a note", Kind.SUMMARY, (0,)), 3), capacity=4)
    encode(
        memory,
        (0.0, "Ada moved to Lisbon in May 2020."),
        (1.0, "Ada moved to Lisbon in May 2020."),
        (2.0, "Bo sells 12 red bicycles in Porto."),
    )
    memory.advance(49.0)
    worth, said = memory.column(WORTH).copy(), memory.column(NEWS).copy()
    encode(memory, (50.0, "Cleo plays the violin at school."))
    return [*worth, *memory.column(VISIBLE)], [
        *(np.log(x) for x in said[:3]),
        0.0,
        *(True, False, True, True, True),
    ]


@figure(
    "score",
    caption="NEWS of a text with five fingerprints over the number of those that are new, for short and long texts",
    source="True Memory 4.1 stage 4; numbers of its public code",
)
def score_over_new(specimen: Any) -> Picture:
    new = np.arange(6)
    curves = [
        Curve(
            f"{length} characters, {d} numbers",
            new,
            np.array([score(specimen, int(n), 5, length, d, 0) for n in new]),
        )
        for length, d in ((40, 0), (200, 0), (400, 3))
    ]
    return Picture(
        "new fingerprints of five",
        "NEWS",
        (*curves, dots("public code", new, np.array([by_hand(int(n), 5, 40, 0, 0) for n in new]))),
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("worth is NEWS itself", rejected_by="SU-9")
def worth_in_place_of_odds(specimen: Any) -> Any:
    def keep(self: Any, view: Any, tick: Any) -> None:
        view.worth[...] += view.news

    return specimen.overriding("SurpriseIndex", keep=keep)


@mutant("a row that was not judged has the worth of news 0", rejected_by="SU-9")
def unjudged(specimen: Any) -> Any:
    def keep(self: Any, view: Any, tick: Any) -> None:
        specimen.SurpriseIndex.keep(self, view, tick)
        view.worth[view.news == 0.0] -= np.inf

    return specimen.overriding("SurpriseIndex", keep=keep)


@mutant("numbers that are known are no details", rejected_by="SU-12")
def new_details(specimen: Any) -> Any:
    original = specimen.news
    return specimen.replacing(
        "news",
        lambda new, total, length, details, *rest: original(
            new, total, length, min(details, new), *rest
        ),
    )


@mutant("numbers without a unit count", rejected_by="SU-1")
def bare_numbers(specimen: Any) -> Any:
    original = specimen.fingerprints

    def read(text: str, names: Any) -> Any:
        known = original(text, names)
        return type(known)(
            (*known.all, *(f"number:{w}" for w in text.split() if w.isdigit())),
            known.details,
            known.events,
        )

    return specimen.replacing("fingerprints", read)


@mutant("the share of known facts", rejected_by="SU-2")
def known_share(specimen: Any) -> Any:
    original = specimen.news
    return specimen.replacing("news", lambda new, total, *rest: original(total - new, total, *rest))


@mutant("length counts without bound", rejected_by="SU-2")
def unbounded(specimen: Any) -> Any:
    original = specimen.news
    return specimen.replacing(
        "news",
        lambda new, total, length, *rest: min(
            1.0, original(new, total, 0.0, *rest) + length / 2000.0
        ),
    )


@mutant("no lower end", rejected_by="SU-3")
def no_least(specimen: Any) -> Any:
    original = specimen.news
    return specimen.replacing(
        "news",
        lambda new, total, *rest: (
            new / total * 0.6 if new < 0.01 * total else original(new, total, *rest)
        ),
    )


@mutant("every fact is new", rejected_by="SU-4")
def forgetful(specimen: Any) -> Any:
    numbers = count(1)
    return specimen.replacing("code", lambda fingerprint: next(numbers))


@mutant("known events of a text that says something new count, too", rejected_by="SU-4")
def known_events(specimen: Any) -> Any:
    original = specimen.SurpriseIndex.judge

    def judge(self: Any, view: Any, incoming: Any) -> None:
        original(self, view, incoming)
        row, event = view.row, self.params.event
        known = view.known_fingerprints.codes
        told = specimen.fingerprints(incoming.event.words(), incoming.features.entities)
        if view.news[row] > self.params.repeated:
            view.news[row] += event * sum(specimen.code(e) in known for e in told.events)

    return specimen.overriding("SurpriseIndex", judge=judge)


@mutant("short texts are no noise", rejected_by="SU-5")
def short(specimen: Any) -> Any:
    return specimen.replacing("LETTERS", 0)


@mutant("statements with stop words on both sides", rejected_by="SU-1")
def empty_statements(specimen: Any) -> Any:
    return specimen.replacing("STOP_WORDS", frozenset())


@mutant("captions are not read", rejected_by="SU-5b")
def uncaptioned(specimen: Any) -> Any:
    def judge(self: Any, view: Any, incoming: Any) -> None:
        specimen.SurpriseIndex.judge(
            self, view, replace(incoming, event=replace(incoming.event, caption=""))
        )

    return specimen.overriding("SurpriseIndex", judge=judge)


@mutant("one row is left out after a break", rejected_by="SU-6")
def gap(specimen: Any) -> Any:
    def until(self: Any, row: int, column: Any, news: Any) -> Any:
        self.rows = max(self.rows, row - 1)
        self.judged = int(np.count_nonzero(news[: self.rows]))
        return specimen.KnownFingerprints.until(self, row, column, news)

    return specimen.overriding("KnownFingerprints", until=until)


@mutant("erased memories are still known", rejected_by="SU-6b")
def unforgetting(specimen: Any) -> Any:
    def until(self: Any, row: int, column: Any, news: Any) -> Any:
        self.judged = int(np.count_nonzero(news[: self.rows]))
        return specimen.KnownFingerprints.until(self, row, column, news)

    return specimen.overriding("KnownFingerprints", until=until)


@mutant("a contradiction replaces the score", rejected_by="SU-10")
def replaced(specimen: Any) -> Any:
    return specimen.replacing("contradicted", lambda score, bonus: max(score, bonus))


@mutant("another value contradicts, whether a change is told or not", rejected_by="SU-11")
def any_value(specimen: Any) -> Any:
    original = specimen.told_values
    return specimen.replacing(
        "told_values",
        lambda text, speaker: tuple((a, v, True) for a, v, _ in original(text, speaker)),
    )


@mutant("values of other speakers are contradicted", rejected_by="SU-11")
def of_all(specimen: Any) -> Any:
    original = specimen.told_values
    return specimen.replacing("told_values", lambda text, speaker: original(text, "anybody"))


@mutant("codes of 8 bits", rejected_by="SU-7")
def short_codes(specimen: Any) -> Any:
    original = specimen.code
    return specimen.replacing("code", lambda fingerprint: original(fingerprint) % 255 + 1)
