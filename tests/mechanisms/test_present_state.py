"""Present state: what changed is answered as it is now, in memories that anybody gets; other
memories keep their order; bad input changes nothing.
"""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import EVERYDAY_SETS, slow_unless

import hebbarium as hb
from hebbarium.engine.contract.columns import Phase
from hebbarium.engine.contract.vocabulary import VETO
from hebbarium.engine.memory.arrivals import ClockWarning
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.text.words import terms_of
from hebbarium.mechanisms.retrieval import present_state
from hebbarium.mechanisms.shared.questions import AskedState, asks_earlier, state_asked

REGISTRY = hb.Registry.installed()
START = datetime(2025, 5, 5, 8)
OTHERS = ("The goat ate the tulips.", "We tiled the shower.", "A parcel came for number nine.",
          "The bees swarmed.", "I mended the puncture.",
          "The owl called at midnight.", "We counted the votes.", "The chimney sweep was early.",
          "I burnt the milk.", "Uma swam a mile.")  # fmt: skip
SERIES = (  # texts, question; the last text answers
    (
        ("My sister is allergic to nuts.", "My sister is not allergic to nuts any more."),
        "Is my sister allergic to nuts?",
    ),
    (
        (
            "The piano lesson is on 4 June.",
            "The piano lesson is on 11 June.",
            "The piano lesson is on 2 July.",
        ),
        "When is the piano lesson?",
    ),
    (
        ("Fasting sugar today: 5.9", "Fasting sugar today: 6.4", "Fasting sugar today: 5.2"),
        "What was my fasting sugar the last time?",
    ),
    (
        ("I can host on Friday.", "I can't host on Friday.", "I can host on Friday after all."),
        "Can I host on Friday?",
    ),
    (
        ("I moved to Turin.", "I moved to Genoa.", "I moved to Turin."),
        "Where did I move to most recently?",
    ),
    (
        ("Weekly goal: mend the roof.", "Weekly goal: swim twice.", "Weekly goal: call Uma."),
        "What is the weekly goal?",
    ),
    (("Password: fern-3", "New password: rose-7"), "What is the password?"),
    (
        ("Our rehearsal is at 3pm on Monday.", "The rehearsal was pushed to 4pm."),
        "When is our rehearsal?",
    ),
)


def told(name: str, texts: tuple[str, ...], **options: object) -> hb.Engine:
    memory = hb.memory(name, embedding="hashing:256", **options)  # type: ignore[arg-type]
    rows = memory.encode_all(
        [
            hb.Event.at(START + timedelta(hours=i), text, "Bo", id=f"f{i}")
            for i, text in enumerate(OTHERS)
        ]
    )
    rows += memory.encode_all(
        [
            hb.Event.at(START + timedelta(days=3 + 3 * i), text, "Bo", id=f"u{i}")
            for i, text in enumerate(texts)
        ]
    )
    assert all(rows), "nothing is refused"
    return memory


@pytest.mark.parametrize("name", slow_unless(EVERYDAY_SETS, ["default", "in_use", "cortex"]))
@pytest.mark.parametrize(("texts", "question"), SERIES, ids=[question for _, question in SERIES])
def test_the_newest_telling_is_kept_and_the_first_of_its_states(
    name: str, texts: tuple[str, ...], question: str
) -> None:
    memory = told(name, texts, **({"without": "write_gate_cortex"} if name == "cortex" else {}))
    ids = [hit.id for hit in memory.retrieve(question)]
    states = [id for id in ids if id.startswith("u")]
    assert f"u{len(texts) - 1}" in states
    assert name == "cortex" or states[0] == f"u{len(texts) - 1}"


@pytest.mark.parametrize(
    ("texts", "question", "answer"),
    [
        (
            ("I train at Fitwell.", "I train at the barn.", "I train at the quay."),
            "Where did I train before the quay?",
            1,
        ),
        (
            ("Ravi runs the mill.", "Oksana runs the mill.", "Ravi runs the mill again."),
            "Who ran the mill before Ravi came back to run it again?",
            1,
        ),
        (("My plate is KX 4410.", "My plate is now ZB 9021."), "What was my old plate?", 0),
        (("My seat is 14C.", "My seat is 22A.", "My seat is 3F."), "Which seat did I have before 22A?", 0),
    ],
)  # fmt: skip
def test_the_state_before_a_named_one_is_answered_first(
    texts: tuple[str, ...], question: str, answer: int
) -> None:
    ids = [hit.id for hit in told("default", texts).retrieve(question)]
    assert next(id for id in ids if id.startswith("u")) == f"u{answer}"


@pytest.mark.parametrize(
    ("texts", "question", "answer"),
    [
        (("The safe opens with key 9.", "With which key does the safe open?"),
            "With which key does the safe open?", 0),
        (("Our choir meets on Monday.", "Maybe our choir meets on Friday."), "When does our choir meet?", 0),
        (("I play the oboe.", "I used to play the tuba."), "What do I play?", 0),
        (("I used to play the tuba.", "I play the oboe now."), "What do I play?", 1),
        (("My bike is green.", "My cousin's bike is black now."), "What colour is my bike?", 0),
        (("I drink ten beers a day.", "I quit drinking."), "Do I drink?", 1),
    ],
)  # fmt: skip
def test_what_states_nothing_or_is_of_another_is_not_the_newest_state(
    texts: tuple[str, ...], question: str, answer: int
) -> None:
    ids = [hit.id for hit in told("default", texts).retrieve(question)]
    assert next(id for id in ids if id.startswith("u")) == f"u{answer}"


def test_sets_say_in_their_first_words_that_they_have_a_gate() -> None:
    for name, chosen in REGISTRY.sets.items():
        gates = [
            m.id
            for m in REGISTRY.build(chosen)
            if any(h.phase is Phase.ENCODE and VETO in (*h.adds, *h.sets) for h in type(m).hooks())
        ]
        first = chosen.summary.partition(":")[0]
        assert first.startswith("Has ") == bool(gates), name
        assert all(gate in first for gate in gates), name


def test_there_and_back_the_newest_telling_shows_its_time_and_erasing_it_brings_the_one_before_back() -> (
    None
):
    memory = told("default", ("I moved to Turin.", "I moved to Genoa.", "I moved to Turin."))
    assert "14 May" in memory.context("Where does Bo live now?", 200).text
    memory.erase("u2", confirm=True)
    found = [hit.id for hit in memory.retrieve("Where did I move to most recently?")]
    assert {"u0", "u1"} <= set(found) and found[0] == "u1"


def test_of_two_equal_messages_one_is_erased() -> None:
    for gone, left in (("u0", "u1"), ("u1", "u0")):
        memory = told("default", ("The door code is 4711.", "The door code is 4711."))
        memory.erase(gone, confirm=True)
        assert memory.retrieve("What is the door code?").units[0].id == left


def clocked(*log: tuple[datetime, str]) -> hb.Engine:
    """A memory of events by Bo, one of which comes from a clock that is wrong and that nobody
    confirms.
    """
    memory = hb.memory("default", embedding="hashing:256")
    with pytest.warns(ClockWarning, match="the present stays"):
        for i, (time, text) in enumerate(
            (*((START - timedelta(hours=9 - i), text) for i, text in enumerate(OTHERS[:9])), *log)
        ):
            assert memory.encode(hb.Event.at(time, text, "Bo", id=f"e{i - 9}"))
    return memory


@pytest.mark.parametrize(
    ("texts", "question"),
    [
        (
            ("The door code is 4711.", "The door code is 1200.", "The door code is 5083."),
            "What is the door code now?",
        ),
        (
            ("The door code is 4711.", "The door code is 4711.", "The door code is 5083."),
            "What is the door code?",
        ),
        (("I live in Turin.", "I live in Turin.", "I moved to Genoa."), "Where do I live?"),
        (
            ("The patch is in review.", "The patch is in review.", "The patch is merged."),
            "What is the latest state of the patch?",
        ),
    ],
)
def test_what_is_dated_after_the_present_is_not_newer_than_a_correction(
    texts: tuple[str, ...], question: str
) -> None:
    stated, wrong, corrected = START, START + timedelta(days=70 * 365), START + timedelta(days=2)
    memory = clocked((stated, texts[0]), (wrong, texts[1]), (corrected, texts[2]))
    assert next(iter(memory.retrieve(question))).id == "e2"
    memory.advance(memory.unit(memory.store.n - 2).time, confirm=True)
    assert next(iter(memory.retrieve(question))).id == "e1", (
        "once the present has reached its time, it is the newest"
    )


def test_until_the_present_reaches_its_time_a_memory_was_told_when_it_arrived() -> None:
    memory = clocked(
        (START, "The door code is 4711."),
        (START + timedelta(days=70 * 365), "The door code is 1200."),
        (START + timedelta(days=2), "The door code is 5083."),
    )
    asked = ("What was the door code before?", "What was the door code originally?")
    assert [next(iter(memory.retrieve(question))).id for question in asked] == ["e1", "e0"]


TEXTS = ("The lamp is on.", "The lamp is off.", "The lamp in the hall is on.", "We saw a lamp.",
         "I sold the lamp.", "Lamp: on", "lamp", "?",
         "The oven is on.", "I live in Oslo.", "I moved to Rome.", "é \ud800 \0", "x " * 300)  # fmt: skip
QUESTIONS = ("Is the lamp on now?", "Is the lamp on?", "Where do I live?",
             "Was the lamp on before?", "Where was the lamp before it was off?", "What was the lamp at first?", "lamp", "")  # fmt: skip


def ranking(texts: list[str], question: str, on: bool) -> list[int]:
    ids = ("lexical_bm25", "convex_fusion", *(("present_state",) if on else ()))
    memory = hb.Engine([REGISTRY.instance(id) for id in ids], HashingEmbedder(32))
    memory.encode_all(
        hb.Event(float(i), text, ("Ada", "Bo")[i % 2], dated=False) for i, text in enumerate(texts)
    )
    before = memory.digest()
    rows = memory.retrieve(question, k=len(texts)).rows.tolist()
    assert memory.digest() == before
    return rows


@given(st.lists(st.sampled_from(TEXTS), min_size=1, max_size=8), st.sampled_from(QUESTIONS))
def test_only_states_of_one_thing_move_and_all_others_keep_their_order(
    texts: list[str], question: str
) -> None:
    plain, with_it = ranking(texts, question, False), ranking(texts, question, True)
    assert sorted(plain) == sorted(with_it)
    passed = {
        row: set(plain[: plain.index(row)]) - set(with_it[: with_it.index(row)]) for row in plain
    }
    for row, following in zip(with_it, [*with_it[1:], -1], strict=True):
        # of two firsts with one score the states of both may stand before both
        assert not passed[row] or following in passed[row] or passed[following], (
            "a state stands directly before one that it passed"
        )
    if state_asked(question.lower().rstrip("?")) is AskedState.ANY:
        assert plain == with_it


ENDED = (  # what was so, what ended it without a word of it, question, a telling that ends nothing
    ("Bo works at the bakery.", "Bo quit and drives a taxi.", "Is Bo still at the bakery?",
     "Bo bought a hat today."),
    ("The bridge is closed.", "Cars can cross the bridge again.", "Is the bridge still closed?",
     "The bridge smells of paint."),
    ("Eve smokes a pack a day.", "Eve gave up cigarettes.", "Does Eve smoke any more?",
     "Ida gave up cigarettes."),
    ("The cat is missing.", "We found the cat in the shed.", "Is the cat still missing?",
     "The dog came home."),
    ("Hugo is in hospital.", "Hugo was discharged.", "Is Hugo still in hospital?",
     "Hugo's sister was discharged."),
    ("Jan is our lead.", "Mia took over from Jan.", "Is Jan still our lead?",
     "Jan might resign."),
    ("The office is on the third floor.", "The office moved next door.",
     "Is the office still on the third floor?", "Pia quit at the post office."),
)  # fmt: skip


@pytest.mark.parametrize(("state", "end", "question", "other"), ENDED)
def test_what_ends_a_state_answers_whether_it_still_holds(
    state: str, end: str, question: str, other: str
) -> None:
    ids = ("lexical_bm25", "convex_fusion", "present_state")
    for texts in ((state, other, end), (state, end, other), (end, other, state), (state, other)):
        memory = hb.Engine([REGISTRY.instance(id) for id in ids], HashingEmbedder(32))
        memory.encode_all(
            hb.Event(float(i), text, dated=False)
            for i, text in enumerate((*OTHERS[:2], *texts, *OTHERS[2:4]))
        )
        first = next(iter(memory.retrieve(question))).text
        newest = end if end in texts and texts.index(end) > texts.index(state) else state
        assert first == newest, texts


SAID = (  # what a speaker is, what ends it, question, what ends nothing; the speaker is Ada
    ("I live in Oslo.", "I packed my boxes and moved to Bergen.", "Is Ada still in Oslo?",
     "I sold the boat."),
    ("I play the cello in a quartet.", "I sold my instrument and left.",
     "Does Ada still play the cello?", "I sold my bike and left for the weekend."),
    ("I'm on antibiotics.", "I finished the tablets, the ear is fine.",
     "Am I still on antibiotics?", "I finished the crossword."),
    ("I work nights at the bakery.", "I handed in my notice.", "Does Ada still work at the bakery?",
     "I quit smoking."),
    ("I owe Lena 200 euros.", "I paid Lena back.", "Does Ada still owe Lena money?",
     "I paid the plumber."),
    ("I drive a red car.", "I got a new car from the dealer.", "Do I still drive a red car?",
     "I got a new kettle."),
    ("I learn Portuguese.", "I dropped the course, there was too much grammar.",
     "Is Ada still learning Portuguese?", "I dropped a plate."),
    ("Hugo is in hospital.", "Hugo was discharged.", "Is Hugo still in hospital?",
     "Hugo was fired this morning."),
    ("Fay is the mayor.", "Fay lost the election.", "Is Fay still the mayor?",
     "Fay lost her glasses."),
    ("The old oak stands by the gate.", "The old oak fell.",
     "Does the old oak still stand by the gate?", "The old lamp fell."),
)  # fmt: skip


@pytest.mark.parametrize(("state", "end", "question", "other"), SAID)
def test_a_state_of_the_speaker_ends_within_its_field_of_life(
    state: str, end: str, question: str, other: str
) -> None:
    ids = ("lexical_bm25", "convex_fusion", "present_state")
    for told, speakers in (
        ((state, other, end), "AAA"),
        ((state, other), "AA"),
        ((state, end), "AB" if state.startswith("I") else "AA"),
    ):
        memory = hb.Engine([REGISTRY.instance(id) for id in ids], HashingEmbedder(32))
        memory.encode_all(
            hb.Event(float(i), text, {"A": "Ada", "B": "Bo"}[speaker], dated=False)
            for i, (text, speaker) in enumerate(zip(told, speakers, strict=True))
        )
        ended = end in told and speakers[-1] == "A"
        assert next(iter(memory.retrieve(question))).text == (end if ended else state), told


def test_what_a_relative_does_where_the_speaker_lives_is_no_state_of_the_speaker() -> None:
    for later in ("My aunt moved to Oslo.", "My aunt lives in Oslo now."):
        memory = hb.Engine(
            [REGISTRY.instance(id) for id in ("recency", "convex_fusion", "present_state")],
            HashingEmbedder(32),
        )
        plain = hb.Engine(
            [REGISTRY.instance(id) for id in ("recency", "convex_fusion")], HashingEmbedder(32)
        )
        for asked in (memory, plain):
            asked.encode_all(
                hb.Event(float(i), text, "Ada", dated=False)
                for i, text in enumerate(("I live in Oslo.", later))
            )
        question = "Is Ada still in Oslo?"
        assert memory.retrieve(question).rows.tolist() == plain.retrieve(question).rows.tolist()


def test_long_texts_and_a_long_question_are_read_in_linear_time_and_move_nothing() -> None:
    long = [f"The code is {n}. {'We talked about it. ' * 2000}" for n in range(3)]
    assert ranking(long, "What is the code now? " * 500, True) == ranking(
        long, "What is the code now? " * 500, False
    )


@pytest.mark.parametrize(("question", "earlier"), [
    ("when did we first meet", True), ("how many times did it rain", True),
    ("where did ada live before", True), ("where does ada live", False),
    ("what is the code", False), ("what did ada say", False)])  # fmt: skip
def test_questions_for_more_than_the_newest_telling(question: str, earlier: bool) -> None:
    assert asks_earlier(question) is earlier


WORDS = ("the", "it", "is", "door", "Doors", "code", "not", "isn't", "4711", "82", "kg", "5.9", "4", "June",
         "2024-05-01", "12:30", "C#", "R&D", "Ada", "moved", "moving", "她的护照", "여권을", "x")  # fmt: skip


@given(*(st.lists(st.sampled_from(WORDS), max_size=9) for _ in range(2)))
def test_likeness_is_that_of_its_definition(first: list[str], second: list[str]) -> None:
    """Word by word, with the terms of all shared words read as one text."""
    texts = " ".join(first), " ".join(second)
    one, other = map(present_state.told, texts)
    both = one.words & other.words
    expected = 0.0
    if terms_of(" ".join(sorted(both)), stop_words=True):
        counted = [
            [word for word in side.words if word in both or not set(terms_of(word)) <= side.values]
            for side in (one, other)
        ]
        expected = 2.0 * len(both) / sum(map(len, counted))
    assert present_state.likeness(one, other) == expected == present_state.likeness(other, one)


def test_of_equal_times_the_later_row_is_the_newer() -> None:
    assert (
        present_state.wanted([5.0, 5.0, 5.0], AskedState.NEWEST) == 2
        and present_state.wanted([5.0, 5.0, 5.0], AskedState.FIRST) == 0
    )
    assert np.argmax([1.0]) == present_state.wanted([1.0, 0.0], AskedState.NEWEST)
