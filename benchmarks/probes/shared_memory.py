"""A memory that several people share: with a filter, what one of them said never answers another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ...engine.contract.records import Only
from .harness.base import Measures, MoreThan, Numbers, Probe, Within
from .harness.life import MINUTE, Life
from .stimuli import NAMES, OBJECTS, PLACES, SYLLABLES, Stimuli

PEOPLE: Final = 4
EACH: Final = 6  # facts of each person
NIGHTS: Final = 2
FIRST: Final = 10
HALF: Final = 0.5


def run(life: Life, seed: int) -> Numbers:
    """Every person has said each of the same things, with another place and a code of their own."""
    s = Stimuli("shared_memory", seed)
    people, things = s.draw(NAMES, PEOPLE), s.draw(OBJECTS, EACH)
    places = [s.draw(PLACES, EACH) for _ in people]
    syllables = s.draw(SYLLABLES, 2 * PEOPLE * EACH)
    codes = ["".join(syllables[i : i + 2]) for i in range(0, len(syllables), 2)]
    texts, ids = {}, {}
    told = s.shuffled([(person, thing) for person in range(PEOPLE) for thing in range(EACH)])
    for i, (person, thing) in enumerate(told):
        code = codes[person * EACH + thing]
        text = f"My {things[thing]} is in the {places[person][thing]}, its code is {code}."
        ids[person, thing] = life.tell(
            text, people[person], at=life.now + 10 * MINUTE, attributes=(("user", people[person]),)
        )
        texts[person, thing] = text
        if (i + 1) % (len(told) // NIGHTS) == 0:
            life.sleep()

    def foreign(answers: Sequence[str], person: int) -> bool:
        """Whether a code of somebody else stands in one of the texts."""
        own = codes[person * EACH : (person + 1) * EACH]
        return any(code in text for text in answers for code in codes if code not in own)

    own, others, unfiltered = [], [], []
    for person in range(PEOPLE):
        name = people[person]
        filters = (Only(attributes=(("user", name),)), Only(speakers=(name,)))
        for thing in range(EACH):
            only = filters[thing % len(filters)]
            question = f"What is the code of the {things[thing]}?"
            stranger = texts[(person + 1) % PEOPLE, thing]  # another person's own words
            answered = life.ask(question, FIRST, only=only).events
            own.append(any(event.id == ids[person, thing] for event in answered))
            for asked in (question, stranger):
                answered = life.ask(asked, FIRST, only=only).events
                others.append(foreign([event.text for event in answered], person))
            answered = life.ask(stranger, FIRST).events
            unfiltered.append(foreign([event.text for event in answered], person))
    return {
        "own, answered": sum(own) / len(own),
        "others' words": sum(others) / len(others),
        "others' words, no filter": sum(unfiltered) / len(unfiltered),
    }


PROBES = (
    Probe(
        id="shared_memory/filters",
        capability="In a memory that several people share, a question with a filter is answered with the words of its own asker alone.",
        source="",
        place="an experiment of ours",
        unit="share of questions",
        protocol="4 people each say where the same 6 things are and with which code, on two days with a night after each; each asks for the own code, "
        "and once in another one's words, with a filter of the attribute `user` or of the speaker. Control: without a filter the "
        "words of others are answered.",
        band=(
            Within("own, answered", low=0.9),
            Within("others' words", high=0.0),
            MoreThan("others' words, no filter", HALF),
        ),
        matters=(),
        sets=("naive_rag", "bm25", "hybrid", "default", "waking", "night"),
        run=run,
        measures=Measures(answers=True),
    ),
)
