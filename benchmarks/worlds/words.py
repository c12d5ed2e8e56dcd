"""Words and sentences of the worlds: pools of our own, the same for every seed; a seed only
permutes which text has which part.
"""

from __future__ import annotations

from typing import Final

_pool = str.split
NAMES: Final = _pool(
    "Agnes Bruno Celia Dario Edith Felix Gerda Hanno Isolde Jakob Karin Leopold Mirjam Norbert Odile Piet Ragna Silvio Thekla Ulrich"
)
TOPICS: Final = _pool(
    "orchard workshop choir ferry kitchen archive greenhouse theatre bakery stable harbour library sawmill vineyard pottery clinic "
    "observatory printshop aquarium brewery"
)
THINGS: Final = _pool(
    "ladder lantern ledger barrel pulley curtain kettle compass sieve bellows mirror crate bucket trowel basket hammer shelf rope bench scale"
)
DOINGS: Final = _pool(
    "mended borrowed painted weighed cleaned labelled ordered moved measured returned wrapped counted lifted emptied sketched oiled dried "
    "polished carried sorted"
)
PLACES: Final = _pool(
    "cellar attic yard porch loft shed corridor terrace pantry gallery courtyard hallway basement balcony scullery barn garret vault lobby closet"
)
ITEMS: Final = len(THINGS)
TIMES: Final = (
    "before breakfast",
    "after the storm",
    "on market day",
    "during the break",
    "in the late evening",
    "at short notice",
)
ENDS: Final = (
    "as usual", "and nobody minded", "for the third time", "which was no surprise",
    "and that was that", "so we waited", "much to our regret",
    "as far as I know", "while it lasted", "and then again", "or so it seemed", "before we left")  # fmt: skip
STARTS: Final = (
    "The tram was late", "It drizzled until noon", "The radio played old songs",
    "My shoes were still wet", "The lift stood still",
    "Somebody laughed in the street", "The soup was too salty", "A pigeon sat on the sill",
    "The lamp flickered twice", "The post came early",
    "The meeting ran over", "Our queue was the slow one", "The coffee had gone cold",
    "A window banged all night", "The battery was flat",
    "The paper ran a long story", "The bus took another road", "We talked about the weather",
    "The neighbours moved chairs",
    "The heating made noises")  # fmt: skip
LINES: Final = len(STARTS) * len(ENDS)
DISTRICTS: Final = _pool("Arden Brockwell Corvin Dunmere")
STAGES: Final = _pool("mill chapel inn bridge market")
HEADS: Final = _pool("Thorn Ash Birk Crow Dun Elm Fen Grim Hazel Kirk Lang Mar")
TAILS: Final = _pool("by ford ham ley mere stead ton wick worth dale")
MARKS: Final = (
    ("a green door", "an old clock"),
    ("a stone bench", "two lanterns"),
    ("a tall chimney", "a small pond"),
    ("a red roof", "a rose hedge"),
    ("a narrow stair", "a blue gate"),
    ("a round window", "a walled yard"),
)


def memory_of(cue: int, item: int) -> str:
    """The text of one of the ITEMS items of a cue, in one of three templates.

    >>> memory_of(0, 0), memory_of(0, 1)
    ('Agnes mended the ladder of the orchard in the cellar.', 'At the orchard Agnes borrowed a lantern from the attic, after the storm.')
    """
    name, topic, thing, doing, place = (
        NAMES[cue],
        TOPICS[cue],
        THINGS[item],
        DOINGS[item],
        PLACES[item],
    )
    return (
        f"{name} {doing} the {thing} of the {topic} in the {place}.",
        f"At the {topic} {name} {doing} a {thing} from the {place}, {TIMES[item % len(TIMES)]}.",
        f"The {thing} in the {place} was {doing} by {name} for the {topic}.",
    )[item % 3]


def question_about(cue: int, number: int) -> str:
    """A question that fits every item of a cue alike.

    >>> question_about(0, 0)
    'What was it that Agnes did for the orchard?'
    """
    name, topic = NAMES[cue], TOPICS[cue]
    return (
        f"What was it that {name} did for the {topic}?",
        f"Which thing of the {topic} did {name} see to?",
        f"Tell me about {name} and the {topic}.",
    )[number % 3]


def retold(cue: int, item: int, telling: int) -> str:
    """An item of a cue in other words, with a detail of this telling.

    >>> retold(0, 0, 1)
    'For the orchard, in the cellar, a ladder was mended: that was Agnes, after the storm.'
    >>> retold(0, 0, 2)
    'It was Agnes who mended it, the orchard ladder, on market day.'
    """
    name, topic, thing, doing, place, when = (
        NAMES[cue],
        TOPICS[cue],
        THINGS[item],
        DOINGS[item],
        PLACES[item],
        TIMES[telling],
    )
    return (
        f"It was {name} who {doing} it, the {topic} {thing}, {when}.",
        f"For the {topic}, in the {place}, a {thing} was {doing}: that was {name}, {when}.",
    )[telling % 2]


def memory_of_place(district: int, stage: int, place: int) -> str:
    """The text of a place, which has a name of its own, in one of three templates.

    >>> memory_of_place(0, 0, 0), memory_of_place(0, 2, 1)
    ('The mill at Thornby in Arden has a green door.', 'In Arden there is an inn called Ashford, with two lanterns.')
    """
    number, where, what = (
        (district * len(STAGES) + stage) * len(MARKS) + place,
        DISTRICTS[district],
        STAGES[stage],
    )
    mark = MARKS[place][stage // 2 % 2]
    named_place = f"{'an' if what[0] in 'aeiou' else 'a'} {what}"
    name = HEADS[number % len(HEADS)] + TAILS[number // len(HEADS)]
    return (
        f"The {what} at {name} in {where} has {mark}.",
        f"In {where} there is {named_place} called {name}, with {mark}.",
        f"{name} is {named_place} in {where} with {mark}.",
    )[place % 3]


def question_of_stage(district: int, stage: int, number: int) -> str:
    """A question that fits all places of a stage alike.

    >>> question_of_stage(0, 0, 0)
    'Which mill in Arden is next?'
    """
    where, what = DISTRICTS[district], STAGES[stage]
    return (
        f"Which {what} in {where} is next?",
        f"Where in {where} is the {what} we go to now?",
        f"Now to the {what} in {where}: which one?",
    )[number % 3]


def chatter(number: int) -> str:
    """One of LINES lines about nothing in particular.

    >>> chatter(0)
    'The tram was late, as usual.'
    """
    return f"{STARTS[number % len(STARTS)]}, {ENDS[number // len(STARTS)]}."
