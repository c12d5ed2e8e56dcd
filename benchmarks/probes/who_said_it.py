"""Who said it: the same content from several speakers is told apart by name, and by the style of
who speaks.
"""

from __future__ import annotations

from typing import Final

from .harness.base import Measures, MoreThan, Numbers, Probe, Within, mean
from .harness.life import MINUTE, Life
from .stimuli import NAMES, OBJECTS, PLACES, Stimuli

SPEAKERS: Final = 6
TOPICS: Final = (
    ("tea", "I prefer green tea to coffee"),
    ("a dog", "I would never live without a dog"),
    ("the train", "I always take the early train"),
    ("the flute", "I play the flute on Sundays"),
    ("the snow", "I look forward to the snow every year"),
)
CASES: Final = 10
HALF: Final = 0.5
ROLES: Final = ("user", "assistant")
STYLES: Final = (
    "Ahoy! {}, aye aye, by all the sails.",
    "Well, to be perfectly honest with you, {}, if I may say so.",
    "omg {} lol!!!",
    "As the data indicate, {}, with high probability.",
    "{}, my dear, bless your heart.",
    "Dude, {}, totally awesome, no worries.",
)
QUESTIONS: Final = (
    "Ahoy, aye! What of {}, by all the sails?",
    "To be perfectly honest, if I may ask, what about {}?",
    "omg {} lol!!! ??",
    "What do the data indicate about {}, with high probability?",
    "And {}, my dear, bless your heart?",
    "Dude, what about {}, totally awesome?",
)


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("who_said_it", seed)
    plain, styled = life.fresh(), life.fresh()
    names = s.draw(NAMES, SPEAKERS)
    order = [
        (speaker, topic)
        for topic in range(len(TOPICS))
        for speaker in s.rng.permutation(SPEAKERS).tolist()
    ]
    ids: dict[tuple[str, int, int], str] = {}
    for speaker, topic in order:
        text = TOPICS[topic][1]
        ids["name", speaker, topic] = plain.tell(f"{text}.", names[speaker], at=plain.now + MINUTE)
        ids["style", speaker, topic] = styled.tell(
            STYLES[speaker].format(text), at=styled.now + MINUTE
        )
    by_name = [
        plain.hit(
            f"What did {names[speaker]} say about {TOPICS[topic][0]}?",
            ids["name", speaker, topic],
            1,
        )
        for speaker, topic in order
    ]
    by_style = [
        styled.hit(QUESTIONS[speaker].format(TOPICS[topic][0]), ids["style", speaker, topic], 1)
        for speaker, topic in order
    ]
    # of the right speaker over the others who said the same
    leads: dict[str, list[float]] = {"name": [], "style": []}
    for speaker, topic in order:
        for kind, said_by, text in (
            ("name", plain, f"What did {names[speaker]} say about {TOPICS[topic][0]}?"),
            ("style", styled, QUESTIONS[speaker].format(TOPICS[topic][0])),
        ):
            others = [ids[kind, other, topic] for other in range(SPEAKERS) if other != speaker]
            leads[kind].append(said_by.lead(text, ids[kind, speaker, topic], others))
    return {
        "hit@1 by name": sum(by_name) / len(order),
        "hit@1 by style": sum(by_style) / len(order),
        "chance": 1.0 / SPEAKERS,
        "lead by name": mean(leads["name"]),
        "lead by style": mean(leads["style"]),
    }


def roles(life: Life, seed: int) -> Numbers:
    s = Stimuli("who_said_it, roles", seed)
    things = s.draw(OBJECTS, CASES)
    ids = {}
    for i, thing in enumerate(things):
        for who in s.shuffled(ROLES):
            ids[who, i] = life.tell(
                f"The {thing} should be moved to the {s.draw(PLACES, 1)[0]}.",
                who,
                at=life.now + MINUTE,
            )
    leads = {
        who: [
            life.lead(
                text.format(thing), ids[who, i], [ids[other, i] for other in ROLES if other != who]
            )
            for i, thing in enumerate(things)
        ]
        for who, text in zip(
            ROLES,
            ("Where did I say that the {} should go?", "Where did you say that the {} should go?"),
            strict=True,
        )
    }
    first = [
        (lead > 0) + HALF * (lead == 0)
        for of_speaker in leads.values()
        for lead in of_speaker
        if lead == lead
    ]
    return {
        "right one first": mean(first),
        **{f"lead of the {who}": mean(of_speaker) for who, of_speaker in leads.items()},
    }


PROBES = (
    Probe(
        id="who_said_it/speakers",
        capability="The same content from six speakers is told apart by who said it, and by how it was said.",
        source="",
        place="an experiment of ours",
        unit="share of questions",
        protocol="6 speakers each say the same 5 things; asked by name. In a second life they have no names and six styles; asked in the style. "
        "Chance: one of the 6. Beside the hits, the lead over the others who said the same.",
        band=(Within("hit@1 by name", low=0.9), MoreThan("hit@1 by style", 1.0 / SPEAKERS)),
        matters=("speaker_engram", "asker_prior", "lexical_bm25", "dense_similarity"),
        sets=("default", "waking", "everything"),
        run=run,
        also=("lead by name", "lead by style"),
        measures=Measures(answers=True),
    ),
    Probe(
        id="who_said_it/roles",
        capability="What the asker said is told apart from what the assistant said of the same thing.",
        source="",
        place="an experiment of ours",
        unit="share of questions; sd of all scores",
        protocol="10 things, of each of which the user and the assistant say where it should go, in random order; asked what I said and what you "
        "said. Chance: one half.",
        band=(MoreThan("right one first", HALF),),
        matters=("asker_prior",),
        sets=("default", "waking", "everything"),
        run=roles,
        also=("lead of the user", "lead of the assistant"),
        measures=Measures(answers=True),
    ),
)
