"""Evidence for present_state, which claims no paper's equation.  References are sorting in
Python, brute force, and cases decided by hand.
"""

from __future__ import annotations

from typing import Any
from warnings import catch_warnings

import numpy as np

from ...engine.contract.columns import Phase
from ...engine.contract.records import Event, Only, Query
from ...engine.contract.vocabulary import ARRANGED, CHRONOLOGICAL, RERANKED, REWEIGHTED
from ...engine.memory.arrivals import ClockWarning
from ...engine.memory.engine import Engine
from ..checks import adaptation, mutant
from ..figures import Curve, Picture, dots, figure
from ..memory import encode, memory_of, neighbour
from .shared.views import Instead

Said = tuple[float, str, str]  # h, speaker, text


# --- kernels and questions ------------------------------------------------------------------------
@adaptation(
    "PS-1",
    source="definition: the latest time, or the earliest, or the latest but one; of one time the later place is the newer",
)
def the_state_asked_for_is_chosen_by_time(specimen: Any) -> Any:
    rng, measured, expected = np.random.default_rng(1), list[Any](), list[Any]()
    for size in (2, 3, 5, 8) * 4:
        times = rng.integers(0, 4, size).astype(float).tolist()
        newest = max(range(size), key=lambda place: (times[place], place))
        former = max(
            (place for place in range(size) if place != newest),
            key=lambda place: (times[place], place),
        )
        measured += [
            specimen.wanted(times, specimen.AskedState[name])
            for name in ("NEWEST", "PRESENT", "FIRST", "FORMER")
        ]
        expected += [newest, newest, times.index(min(times)), former]
    return measured, expected


@adaptation(
    "PS-8",
    source="definition: of the places that hold most of the words, if not all do, the latest; of those before it the latest",
)
def the_state_before_the_named_one_is_chosen_by_time(specimen: Any) -> Any:
    rng, measured, expected = np.random.default_rng(2), list[Any](), list[Any]()
    for size in (2, 3, 5, 8) * 8:
        times = rng.integers(0, 4, size).astype(float).tolist()
        named = rng.integers(0, 3, size).tolist()
        after = max(
            (place for place in range(size) if named[place] == max(named)),
            key=lambda place: (times[place], place),
        )
        earlier = [place for place in range(size) if (times[place], place) < (times[after], after)]
        told = max(earlier, key=lambda place: (times[place], place), default=None)
        measured.append(specimen.preceding(times, named))
        expected.append(told if len({*named}) > 1 else None)
    return [-1 if place is None else place for place in measured], [
        -1 if place is None else place for place in expected
    ]


QUESTIONS = (       # of the state that each asks for, by hand
    ("What is my latest reading?", "NEWEST"), ("Where does Bo live now?", "NEWEST"),
    ("When did we meet most recently?", "NEWEST"),
    ("Is Ada still a vegetarian?", "NEWEST"), ("Was Ada still a vegetarian then?", "ANY"),
    ("What did I weigh the last time?", "NEWEST"),
    ("Did the last backup succeed?", "NEWEST"),
    ("Where does Bo live?", "PRESENT"), ("Is the door locked?", "PRESENT"),
    ("When is the appointment?", "PRESENT"), ("What's the code?", "PRESENT"),
    ("Who leads the team?", "PRESENT"), ("How much does it cost?", "PRESENT"),
    ("Can I come on Sunday?", "PRESENT"),
    ("Where did Bo live before?", "FORMER"), ("What was the previous code?", "FORMER"),
    ("Where did Bo use to live, formerly?", "FORMER"),
    ("Who led the team originally?", "FIRST"), ("What did I weigh at first?", "FIRST"),
    ("Where did Bo live at first, before that?", "FIRST"),
    ("Have I ever slept in a tent before?", "ANY"), ("So has Bo swum here before now?", "ANY"),
    ("Was the lamp on before?", "FORMER"),
    ("Have I moved from my former flat?", "FORMER"), ("What was my old number?", "FORMER"),
    ("Where did Bo live before Oslo?", "PRECEDING"),
    ("Who led the team before Ada came?", "PRECEDING"), ("How is my old car?", "PRESENT"),
    ("Who does the dishes before dinner?", "ANY"),
    ("Where did Bo go last summer?", "ANY"), ("What did Bo say?", "ANY"),
    ("How often does Bo swim?", "ANY"), ("When did Bo move?", "ANY"),
    ("What does Bo do before he swims?", "ANY"), ("What is Bo's last name?", "PRESENT"),
    ("The door code", "ANY"), ("", "ANY"),
)  # fmt: skip


@adaptation("PS-3", source="the state that each question asks for, by hand")
def the_state_asked_for_is_read_from_the_question(specimen: Any) -> Any:
    from ...engine.text.features import features

    return [specimen.state_asked(" ".join(features(text).words)).name for text, _ in QUESTIONS], [
        state for _, state in QUESTIONS
    ]


# --- in a memory ----------------------------------------------------------------------------------
def answered(
    specimen: Any,
    question: str,
    *log: Said,
    ordered: bool = False,
    later: bool = False,
    **changed: Any,
) -> list[int]:
    """Rows of the answer, if what was told earlier matches the question better; `ordered`: if
    the answer is wanted in order of time; `later`: if what was told later matches better.
    """

    def rank(view: Any, _: Any) -> None:
        places = np.arange(len(view.reranked), dtype=np.float32)
        view.reranked[...] = 2.0 + places / (16.0 if later else -16.0)

    def arrange(view: Any, _: Any) -> None:
        view.chronological = ordered

    memory = memory_of(
        specimen,
        neighbour(Phase.RETRIEVE, rank, reads=(REWEIGHTED,), sets=(RERANKED,), id="rank"),
        neighbour(Phase.RETRIEVE, arrange, sets=(CHRONOLOGICAL,), id="arrange"),
        **changed,
    )
    memory.passing.late_hours = 1.0
    encode(memory, *(Event(hour, text, speaker, dated=False) for hour, speaker, text in log))
    return [int(row) for row in memory.retrieve(question, k=20).rows]


PATCH = (
    (0.0, "Ada", "The patch for the parser is in review."),
    (1.0, "Bo", "We had soup."),
    (2.0, "Bo", "The patch for the parser is merged."),
    (3.0, "Ada", "The patch for the parser is reverted."),
    (4.0, "Cy", "The patch for the lexer is in review."),
)
HOMES = (
    (0.0, "Ada", "I live in Oslo."),
    (1.0, "Bo", "I live in Rome."),
    (2.0, "Ada", "I moved to Lima."),
    (3.0, "Ada", "Some rain fell."),
    (4.0, "Ada", "I moved back to Oslo."),
)
ORDERS = (
    (0.0, "Ada", "Order 4471 has shipped."),
    (1.0, "Ada", "Order 4472 has shipped."),
    (2.0, "Ada", "Order 4480 has shipped."),
)
DOORS = (
    (0.0, "Ada", "The door of the shed is locked."),
    (1.0, "Ada", "The door of the barn is open."),
    (2.0, "Ada", "The door of the shed is open."),
)
DAYS = (
    (0.0, "Ada", "I can come on Sunday."),
    (1.0, "Ada", "I can't come on Saturday."),
    (2.0, "Ada", "I can't come on Sunday."),
)
VALUES = (
    (0.0, "Ada", "Mute: on"),
    (1.0, "Ada", "Mute: off"),
    (2.0, "Ada", "Mute: on"),
    (3.0, "Ada", "Zoom: off"),
)
WELSH = (
    (0.0, "Ada", "I am learning Welsh on Mondays."),
    (1.0, "Bo", "I am learning Welsh with a friend."),
    (2.0, "Ada", "I gave up Welsh."),
)
LONG = (
    (0.0, "Ada", f"The code is 1. {'We talked. ' * 40}"),
    (1.0, "Ada", f"The code is 2. {'We talked. ' * 40}"),
)
TWO = (
    (0.0, "Ada", "I live in Oslo."),
    (1.0, "Ada", "I live in Lima."),
    (2.0, "Bo", "I live in Rome."),
)
SOUP = ((0.0, "Ada", "The soup in the pot is hot."), (1.0, "Ada", "The soup in the pot is cold."))
CODES = (
    (0.0, "Ada", "The code is 11."),
    (1.0, "Ada", "The code is 12."),
    (2.0, "Ada", "Nobody told the code to our neighbour."),
)
LATE = (
    (5.0, "Ada", "The code is 11."),
    (5.0, "Ada", "The code is 12."),
    (5.0, "Bo", "The code is 13."),
)
GOALS = (
    (0.0, "Ada", "Sprint goal: ship the importer."),
    (1.0, "Bo", "Sprint goal: fewer flaky tests by 9:30."),
    (2.0, "Ada", "Reminder: the sprint goal hangs on the wall."),
    (3.0, "Ada", "Reminder: buy soup."),
)
LABELS = ((0.0, "Ada", "Gate word: fern."), (1.0, "Bo", "New gate word: rose."))
DIGITS = ((0.0, "Ada", "My code is 11."), (1.0, "Bo", "The code is 12."))
MOVES = (
    (0.0, "Ada", "I live in Oslo."),
    (1.0, "Ada", "I moved to Lima."),
    (2.0, "Ada", "I live in Rome."),
)
KEYS = (
    (0.0, "Ada", "The spare key is under the pot."),
    (1.0, "Bo", "Where is the spare key?"),
    (2.0, "Ada", "Maybe the spare key is under the mat."),
    (3.0, "Ada", "The spare key might be under the mat."),
)
ASKED = (
    (0.0, "Bo", "Where is the spare key?"),
    (1.0, "Cy", "Where is the spare key?"),
    (2.0, "Ada", "The spare key is under the pot."),
)
CELLO = (
    (0.0, "Ada", "I play the cello."),
    (1.0, "Ada", "I play the viola now."),
    (2.0, "Ada", "I used to play the harp."),
)
QUIT = (
    (0.0, "Ada", "I smoke ten cigarettes a day."),
    (1.0, "Ada", "My aunt quit smoking."),
    (2.0, "Ada", "I quit smoking."),
)
CARS = ((0.0, "Ada", "My car is blue."), (1.0, "Ada", "My neighbour's car is red."))
MIA = (
    (0.0, "Ada", "Mia is learning Welsh on Mondays."),
    (1.0, "Bo", "Mia gave up Welsh."),  # he may speak of another Mia
    (2.0, "Ada", "Mia gave up Welsh."),
)
# each names the one before it, and the last none of the first
COACHES = (
    (0.0, "Ada", "Marta coaches the swimmers."),
    (1.0, "Ada", "Marta resigned, and Olek coaches the swimmers."),
    (2.0, "Ada", "We had soup."),
    (3.0, "Ada", "Olek was voted out; Bea is our choice."),
    (4.0, "Bo", "Bea resigned."),
)
# question, what was told, rows of the answer by hand
CASES: tuple[tuple[str, tuple[Said, ...], list[int]], ...] = (
    ("What is the state of the patch for the parser?", PATCH, [3, 0, 1, 2, 4]),
    ("What was the state of the patch for the parser before?", PATCH, [2, 0, 1, 3, 4]),
    ("What was the state of the patch for the parser originally?", PATCH, [0, 1, 2, 3, 4]),
    ("What did Bo say of the patch for the parser?", PATCH, [0, 1, 2, 3, 4]),
    (
        "What was the state of the patch for the parser before it was reverted?",
        PATCH,
        [2, 0, 1, 3, 4],
    ),
    (
        "What was the state of the patch for the parser before it was merged?",
        PATCH,
        [0, 1, 2, 3, 4],
    ),
    ("What was the state of the patch for the parser before the soup?", PATCH, [0, 1, 2, 3, 4]),
    ("Where did I live before Lima?", HOMES, [0, 1, 2, 3, 4]),
    ("Where did I live before I moved back?", HOMES, [2, 0, 1, 3, 4]),
    ("Where do I live?", HOMES, [4, 0, 1, 2, 3]),
    ("Where does Ada live now?", HOMES, [4, 0, 1, 2, 3]),
    ("Has order 4471 shipped?", ORDERS, [0, 2, 1]),
    ("Which order has shipped last?", ORDERS, [2, 0, 1]),
    ("Is the door of the shed locked?", DOORS, [2, 0, 1]),
    ("Can I come on Sunday?", DAYS, [2, 0, 1]),
    ("Is mute on?", VALUES, [2, 0, 1, 3]),
    ("Am I still learning Welsh?", WELSH, [2, 0, 1]),
    ("Am I learning Welsh?", WELSH, [2, 0, 1]),
    ("What is the code?", LONG, [0, 1]),
    ("Where do I live?", TWO, [1, 0, 2]),
    ("Is the soup hot?", SOUP, [1, 0]),
    ("What is the code?", DIGITS, [0, 1]),  # Ada's code may be another one
    ("Where did I live before I lived abroad?", MOVES, [0, 1, 2]),
    ("Where did I live before I lived in Lima?", MOVES, [0, 1, 2]),
    ("What is the code?", CODES, [1, 0, 2]),
    ("What is the code?", LATE, [2, 0, 1]),
    ("What is the sprint goal?", GOALS, [1, 0, 2, 3]),
    ("What is the soup?", GOALS, [0, 1, 2, 3]),
    ("What is the gate word?", LABELS, [1, 0]),
    ("Summarize what the code is now", LATE, [0, 1, 2]),
    ("Where is the spare key?", KEYS, [0, 1, 2, 3]),
    ("Where is the spare key?", ASKED, [2, 0, 1]),
    ("Where is the spare key?", ASKED[:2], [0, 1]),
    ("Which instrument do I play?", CELLO, [1, 0, 2]),
    ("Which instrument did I play originally?", CELLO, [2, 0, 1]),
    ("Which instrument did I play before?", CELLO[:1], [0]),
    ("What colour is my car?", CARS, [0, 1]),
    ("Do I smoke?", QUIT, [2, 0, 1]),
    ("What is Mia learning?", MIA[:2], [0, 1]),
    ("What is Mia learning?", MIA[::2], [1, 0]),
    ("Who coaches the swimmers?", COACHES, [3, 0, 1, 2, 4]),
)


@adaptation(
    "PS-4",
    source="by hand: the state asked for stands before the first of its thing, all others keep their order",
    needs="engine",
)
def the_state_asked_for_is_answered_first(specimen: Any) -> Any:
    for question, log, rows in CASES:
        yield answered(specimen, question, *log), rows


@adaptation(
    "PS-5",
    source="by hand: an order of events is left alone; so is what lies outside the pool, or behind the first candidates",
    needs="engine",
)
def an_order_and_what_lies_outside_the_pool_are_left_alone(specimen: Any) -> Any:
    asked = "What is the state of the patch for the parser?"
    return (
        [
            *answered(specimen, asked, *PATCH, ordered=True),
            *answered(specimen, asked, *PATCH, pool=3),
            *answered(specimen, asked, (0.0, "Cy", "The bus was late."), *PATCH, leaders=1),
        ],
        [0, 1, 2, 3, 4, 2, 0, 1, 3, 4, 0, 1, 2, 3, 4, 5],
    )


FEWER = (
    (5.0, "Ada", "I smoke ten cigarettes a day."),
    (5.0, "Ada", "I smoke five cigarettes a day."),
    (5.0, "Ada", "I threw my last packet away."),
)


@adaptation(
    "PS-10",
    source="by hand: of one time the later row is the newer, however well each matches the question",
    needs="engine",
)
def of_one_time_the_later_row_is_the_newer(specimen: Any) -> Any:
    return [
        *answered(specimen, "What is the code?", *LATE, later=True),
        *answered(specimen, "What was the code before?", *LATE, later=True),
        *answered(specimen, "What was the code originally?", *LATE, later=True),
        # what is told last of the state itself is newer than its leader, so nothing ends it
        *answered(specimen, "Does Ada still smoke?", *FEWER),
    ], [2, 1, 0, 1, 2, 0, 0, 2, 1, 1, 0, 2]


# Whether a state still holds: what was so, what another one or another field of life did, what
# ended it.
SMOKES = (
    (0.0, "Ada", "I smoke ten cigarettes a day."),
    (1.0, "Bo", "I quit."),
    (2.0, "Ada", "I gave up my seat on the bus."),
    (3.0, "Ada", "I threw my last packet away."),
    (4.0, "Ada", "I quit my job."),
)
QUARTET = (
    (0.0, "Cy", "Ada plays the cello in a quartet."),
    (1.0, "Cy", "Ada sold her bike."),
    (2.0, "Cy", "Bo sold his instrument and left."),
    (3.0, "Cy", "Ada sold her instrument and left."),
)
STILL: tuple[tuple[str, tuple[Said, ...], list[int]], ...] = (
    ("Does Ada still smoke?", SMOKES, [3, 0, 1, 2, 4]),
    ("Does Ada still smoke?", (*SMOKES, SMOKES[3]), [3, 0, 1, 2, 4, 5]),
    ("Does Ada smoke?", SMOKES, [0, 1, 2, 3, 4]),
    ("Does Bo still smoke?", SMOKES, [0, 1, 2, 3, 4]),
    ("Does Ada still smoke?", SMOKES[:3], [0, 1, 2]),
    ("Do I still smoke?", SMOKES[:4], [3, 0, 1, 2]),
    ("Is Ada still in the quartet?", QUARTET, [3, 0, 1, 2]),
    ("Is Ada still in the quartet?", QUARTET[:3], [0, 1, 2]),
    ("Is Ada still in the quartet?", (QUARTET[3], QUARTET[0]), [0, 1]),
)


@adaptation(
    "PS-9",
    source="by hand: what ends a state, within its field of life and of its subject, answers whether it still holds",
    needs="engine",
)
def what_ends_a_state_answers_whether_it_still_holds(specimen: Any) -> Any:
    return [
        row
        for question, log, _ in STILL
        for row in answered(
            specimen, question, *((float(hour), *said[1:]) for hour, said in enumerate(log))
        )
    ], [row for *_, rows in STILL for row in rows]


def long(what: str, characters: int) -> str:
    """A text of so many characters."""
    return f"{f'{what} ':b<{characters - 1}}."


@adaptation(
    "PS-12",
    source="definition: sentences of up to 40 words and 400 characters, and 32 sentences of a later text, are read",
)
def long_texts_change_nothing(specimen: Any) -> Any:
    earlier, later, measured = "I am learning Welsh", "I gave up Welsh", []
    for words in (4, 40, 41):
        measured += [
            specimen.covered_by_change(" ".join([later, *["so"] * (words - 4)]), earlier),
            specimen.covered_by_change(later, " ".join([earlier, *["so"] * (words - 4)])),
        ]
    for characters in (50, 400, 401):
        measured += [
            specimen.covered_by_change(long(f"{later} in", characters), earlier),
            specimen.covered_by_change(later, long(f"{earlier} in", characters)),
        ]
    for sentences in (1, 32, 33):
        text = "We met. " * (sentences - 1) + later
        measured.append(specimen.covered_by_change(text, earlier))
    return [share > 0.0 for share in measured], [True] * 4 + [False] * 2 + [True] * 4 + [
        False
    ] * 2 + [True, True, False]


@adaptation(
    "PS-11",
    source="definition: a text of more than 400 characters tells of more than one state, so it is left in its place",
    needs="engine",
)
def a_long_text_is_left_in_its_place(specimen: Any) -> Any:
    return [
        answered(
            specimen,
            "What is the code?",
            *((float(i), "Ada", long(f"The code is {i}. It is", length)) for i in range(2)),
        )
        for length in (40, 400, 401)
    ], [[1, 0], [1, 0], [0, 1]]


AHEAD = (
    (0.0, "Ada", "The code is 11."),
    (9000.0, "Ada", "The code is 12."),
    (1.0, "Ada", "The code is 13."),
    (0.5, "Ada", "The code is 14."),
)
ENDED = ((0.9, "Ada", "I gave up Welsh."), (0.5, "Ada", "I am learning Welsh on Mondays."))
AS_TOLD = (
    ("What is the code?", [2, 0, 1, 3]),
    ("What was the code before?", [3, 0, 1, 2]),
    ("What was the code originally?", [0, 1, 2, 3]),
)
REACHED = (
    ("What is the code?", [1, 0, 2, 3]),
    ("What was the code before?", [2, 0, 1, 3]),
    ("What was the code originally?", [0, 1, 2, 3]),
)


@adaptation(
    "PS-13",
    source="by hand: of the states that the asker's filter admits the newest, and they alone fill the pool",
    needs="engine",
)
def filtered_states_are_neither_the_newest_nor_in_the_pool(specimen: Any) -> Any:
    asked = "What is the state of the patch for the parser?"
    measured = []
    for pool, without in ((20, "e3"), (3, "e1")):
        memory = scored(specimen, (), pool=pool)
        encode(
            memory,
            *(
                Event(hour, text, speaker, id=f"e{row}", dated=False)
                for row, (hour, speaker, text) in enumerate(PATCH)
            ),
        )
        only = Only(exclude=(without,))
        measured.append(str(memory.retrieve(Query(asked, only=only), k=20).rows.tolist()))
    return measured, ["[2, 0, 1, 4]", "[3, 0, 2, 4]"]


@adaptation(
    "PS-7",
    source="by hand: an event ahead of the present is as new as its arrival until its time has come; a late one as its own time",
    needs="engine",
)
def no_time_ahead_of_the_present_is_the_newest(specimen: Any) -> Any:
    memory, measured = scored(specimen, ()), list[int]()
    memory.passing.jump_hours, memory.passing.late_hours = 1000.0, 1.0
    with catch_warnings(action="ignore", category=ClockWarning):
        encode(memory, *(Event(hour, text, speaker, dated=False) for hour, speaker, text in AHEAD))
    for cases in (AS_TOLD, REACHED):
        measured += [
            int(row) for question, _ in cases for row in memory.retrieve(question, k=20).rows
        ]
        memory.advance(9000.0, confirm=True)
    # what ended a state was told before the state itself, which came late and matches better
    measured += answered(specimen, "Am I learning Welsh?", *ENDED, later=True)
    return measured, [
        *(row for cases in (AS_TOLD, REACHED) for _, rows in cases for row in rows),
        *(0, 1),
    ]


@adaptation(
    "PS-6",
    source="definition: the state asked for has the score of the first of its thing, up to the step; all others keep theirs",
    needs="engine",
    atol=1e-4,
)
def one_score_changes(specimen: Any) -> Any:
    measured, expected = list[float](), list[float]()
    for question, log, rows in CASES:
        memory = scored(specimen, log)
        memory.retrieve(question, k=20)
        scores = (2.0 - np.arange(len(log)) / 16.0).tolist()
        moved = next((row for place, row in enumerate(rows) if row > place), -1)
        if moved >= 0:
            scores[moved] = scores[rows.index(moved)]
        measured += memory.column(ARRANGED).tolist()
        expected += scores
    return measured, expected


def scored(specimen: Any, log: tuple[Said, ...], **changed: Any) -> Engine:
    """A memory in which what was told earlier matches every question better."""

    def rank(view: Any, _: Any) -> None:
        view.reranked[...] = 2.0 - np.arange(len(view.reranked), dtype=np.float32) / 16.0

    memory = memory_of(
        specimen,
        neighbour(Phase.RETRIEVE, rank, reads=(REWEIGHTED,), sets=(RERANKED,), id="rank"),
        **changed,
    )
    encode(memory, *(Event(hour, text, speaker, dated=False) for hour, speaker, text in log))
    return memory


# --- figure ---------------------------------------------------------------------------------------
@figure(
    "likeness",
    caption="Likeness of two sentences over the number of their words: one other word sets those of two words apart, two other words "
    "those of up to four, as the least likeness is 0.6; another number sets none apart",
    source="definition, shares of words",
)
def likeness_over_the_number_of_words(specimen: Any) -> Picture:
    words, sizes = (
        ["boat", "anchor", "harbour", "pier", "lantern", "rope", "mast", "sail", "keel", "deck"],
        np.arange(2, 11),
    )
    changes = {
        "another number": (("1",), ("2",)),
        "one other word": (("red",), ("green",)),
        "two other words": (("red", "round"), ("green", "oval")),
    }

    def like(size: int, one: tuple[str, ...], other: tuple[str, ...]) -> float:
        same = words[: size - len(one)]
        return float(
            specimen.likeness(
                *(specimen.told(" ".join((*same, *values))) for values in (one, other))
            )
        )

    return Picture(
        "words of each sentence",
        "likeness",
        (
            *(
                Curve(what, sizes, [like(int(n), first, second) for n in sizes])
                for what, (first, second) in changes.items()
            ),
            *(dots(f"(n - {k}) / n", sizes, (sizes - k) / sizes) for k in (1, 2)),
        ),
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("the oldest is the newest", rejected_by="PS-1")
def oldest_first(specimen: Any) -> Any:
    return specimen.replacing(
        "wanted", lambda times, asked: specimen.wanted([-time for time in times], asked)
    )


@mutant("of one time the earlier row counts", rejected_by="PS-1")
def earlier_row(specimen: Any) -> Any:
    return specimen.replacing(
        "wanted", lambda times, asked: len(times) - 1 - specimen.wanted(times[::-1], asked)
    )


@mutant("the newest is the state before it, too", rejected_by="PS-4")
def newest_for_former(specimen: Any) -> Any:
    return specimen.replacing(
        "wanted", lambda times, asked: specimen.wanted(times, specimen.AskedState.NEWEST)
    )


@mutant("of several that are named the oldest counts", rejected_by="PS-8")
def oldest_named(specimen: Any) -> Any:
    def preceding(times: Any, named: Any) -> int | None:
        place = named.index(max(named))
        kept = [n if at <= place else 0 for at, n in enumerate(named)]
        place_of_state: int | None = specimen.preceding(times, kept)
        return place_of_state

    return specimen.replacing("preceding", preceding)


@mutant("the state that the question names is answered", rejected_by="PS-4")
def named_itself(specimen: Any) -> Any:
    return specimen.replacing(
        "preceding", lambda times, named: None if len({*named}) == 1 else named.index(max(named))
    )


@mutant("a label does not make two texts states of one thing", rejected_by="PS-4")
def unlabelled(specimen: Any) -> Any:
    return specimen.replacing(
        "told", lambda text: specimen.told(text)._replace(label=frozenset((text,)))
    )


@mutant("every label names what the question asks for", rejected_by="PS-4")
def labelled_alike(specimen: Any) -> Any:
    return specimen.replacing(
        "told",
        lambda text: specimen.told(text)._replace(label=frozenset(("sprint", "goal", "soup"))),
    )


@mutant("a question whether something ever happened asks for a former state", rejected_by="PS-3")
def experienced(specimen: Any) -> Any:
    return specimen.replacing(
        "state_asked",
        lambda words: (
            specimen.AskedState.FORMER if words.endswith(" before") else specimen.state_asked(words)
        ),
    )


@mutant("every question asks for the newest state", rejected_by="PS-4")
def always(specimen: Any) -> Any:
    return specimen.replacing("state_asked", lambda words: specimen.AskedState.NEWEST)


@mutant("texts need to have no word in common", rejected_by="PS-4")
def all_of_one(specimen: Any) -> Any:
    return specimen.replacing("likeness", lambda one, other: 1.0)


@mutant("what the question names sets no two memories apart", rejected_by="PS-4")
def names_nothing(specimen: Any) -> Any:
    return specimen.replacing("_is_value", lambda word, of, question: True)


@mutant("no word of a question is a value", rejected_by="PS-4")
def no_values(specimen: Any) -> Any:
    return specimen.replacing("_is_value", lambda word, of, question: False)


@mutant("facts are not read", rejected_by="PS-4")
def factless(specimen: Any) -> Any:
    return specimen.replacing("same_fact", lambda earlier, later, first, second: False)


@mutant("changes in free words are not read", rejected_by="PS-4")
def changeless(specimen: Any) -> Any:
    return specimen.replacing("covered_by_change", lambda later, earlier: 0.0)


@mutant("what replaces a later state does not replace the first", rejected_by="PS-4")
def unchained(specimen: Any) -> Any:
    def _groups(self: Any, candidates: Any, question: Any) -> Any:
        groups = specimen.PresentState._groups(self, candidates, question)
        return [
            [group[0], *(c for c in group[1:] if self._of_one(group[0], c, question))]
            for group in groups
        ]

    return specimen.overriding("PresentState", _groups=_groups)


@mutant("no state ends without a word of it", rejected_by="PS-9")
def endless(specimen: Any) -> Any:
    return specimen.replacing("ends_state", lambda later, earlier, asked, own: False)


@mutant("every later telling ends a state", rejected_by="PS-9")
def ended_by_all(specimen: Any) -> Any:
    return specimen.replacing("ends_state", lambda later, earlier, asked, own: True)


@mutant("the speaker is nobody", rejected_by="PS-9")
def speakerless(specimen: Any) -> Any:
    return specimen.replacing(
        "ends_state", lambda later, earlier, asked, own: specimen.ends_state(later, earlier, asked)
    )


@mutant("every speaker is the one of whom the question asks", rejected_by="PS-9")
def any_speaker(specimen: Any) -> Any:
    return specimen.replacing(
        "ends_state",
        lambda later, earlier, asked, own: specimen.ends_state(
            later, earlier, asked, own or frozenset(("i",))
        ),
    )


@mutant("what one says of himself is true of another", rejected_by="PS-4")
def nobody(specimen: Any) -> Any:
    return specimen.replacing("told", lambda text: specimen.told(text)._replace(own=False))


@mutant("a change that somebody else tells is one, too", rejected_by="PS-4")
def told_by_anybody(specimen: Any) -> Any:
    original = specimen.PresentState._follows

    def follows(self: Any, one: Any, other: Any) -> bool:
        return bool(original(self, one, other._replace(speaker=one.speaker)))

    return specimen.overriding("PresentState", _follows=follows)


@mutant("the first four hundred characters of a sentence are read", rejected_by="PS-12")
def cut_short(specimen: Any) -> Any:
    original = specimen.covered_by_change
    return specimen.replacing(
        "covered_by_change", lambda later, earlier: original(later[:400], earlier[:400])
    )


@mutant("texts of any length tell of one state", rejected_by="PS-11")
def of_any_length(specimen: Any) -> Any:
    return specimen.replacing("MOST_CHARACTERS", 10_000)


@mutant("what asks or supposes tells a state", rejected_by="PS-4")
def asked_as_told(specimen: Any) -> Any:
    return specimen.replacing("told", lambda text: specimen.told(text)._replace(states=True))


@mutant("what used to be so is as new as its telling", rejected_by="PS-4")
def used_to_as_new(specimen: Any) -> Any:
    return specimen.replacing("told", lambda text: specimen.told(text)._replace(former=False))


@mutant("what an owner has is the same thing as what nobody owns", rejected_by="PS-4")
def ownerless(specimen: Any) -> Any:
    return specimen.replacing("told", lambda text: specimen.told(text)._replace(owners=frozenset()))


@mutant("a time ahead of the present is the newest", rejected_by="PS-7")
def by_its_own_time(specimen: Any) -> Any:
    return specimen.replacing("told_at", lambda created, arrived, now: created)


@mutant("what arrives last is the newest, whatever its time", rejected_by="PS-7")
def by_arrival(specimen: Any) -> Any:
    return specimen.replacing("told_at", lambda created, arrived, now: arrived)


@mutant("of one time the better match is the older", rejected_by="PS-10")
def older_by_match(specimen: Any) -> Any:
    def groups(self: Any, candidates: Any, question: Any) -> Any:
        return [
            [member._replace(time=member.time + 1e-6 * place) for place, member in enumerate(group)]
            for group in specimen.PresentState._groups(self, candidates, question)
        ]

    return specimen.overriding("PresentState", _groups=groups)


@mutant("an order of events is rearranged", rejected_by="PS-5")
def disorderly(specimen: Any) -> Any:
    def prefer(self: Any, view: Any, cue: Any) -> None:
        specimen.PresentState.prefer(self, Instead(view, chronological=False), cue)

    return specimen.overriding("PresentState", prefer=prefer)


@mutant("the state asked for stands before everything", rejected_by="PS-6")
def before_everything(specimen: Any) -> Any:
    return specimen.replacing("APART", 1.0)


@mutant("filtered states are in the pool", rejected_by="PS-13")
def unfiltered(specimen: Any) -> Any:
    original = specimen.best
    return specimen.replacing("best", lambda x, among, k: original(x, np.ones_like(among), k))


@mutant("of what ends a state the last candidate answers", rejected_by="PS-9")
def last_ending(specimen: Any) -> Any:
    return specimen.replacing("islice", lambda endings, count: list(endings)[-count:])


@mutant("what was stored first was told first", rejected_by="PS-7")
def by_row(specimen: Any) -> Any:
    def _follows(self: Any, one: Any, other: Any) -> bool:
        return bool(
            specimen.PresentState._follows(self, one._replace(time=0.0), other._replace(time=0.0))
        )

    return specimen.overriding("PresentState", _follows=_follows)
