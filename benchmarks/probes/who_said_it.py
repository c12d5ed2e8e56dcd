"""Who said it: the same content from several speakers is told apart by name, and by the style of who speaks."""
from __future__ import annotations

from typing import Final

from .harness.base import MoreThan, Numbers, Probe, Within
from .harness.life import MINUTE, Life
from .stimuli import NAMES, Stimuli

SPEAKERS: Final = 6
TOPICS: Final = (
    ("tea", "I prefer green tea to coffee"), ("a dog", "I would never live without a dog"), ("the train", "I always take the early train"),
    ("the flute", "I play the flute on Sundays"), ("the snow", "I look forward to the snow every year"))
STYLES: Final = (
    "Ahoy! {}, aye aye, by all the sails.", "Well, to be perfectly honest with you, {}, if I may say so.", "omg {} lol!!!",
    "As the data indicate, {}, with high probability.", "{}, my dear, bless your heart.", "Dude, {}, totally awesome, no worries.")
QUESTIONS: Final = (
    "Ahoy, aye! What of {}, by all the sails?", "To be perfectly honest, if I may ask, what about {}?", "omg {} lol!!! ??",
    "What do the data indicate about {}, with high probability?", "And {}, my dear, bless your heart?", "Dude, what about {}, totally awesome?")


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("who_said_it", seed)
    plain, styled = life.fresh(), life.fresh()
    names = s.draw(NAMES, SPEAKERS)
    order = [(speaker, topic) for topic in range(len(TOPICS)) for speaker in s.rng.permutation(SPEAKERS).tolist()]
    ids: dict[tuple[str, int, int], str] = {}
    for speaker, topic in order:
        text = TOPICS[topic][1]
        ids["name", speaker, topic] = plain.tell(f"{text}.", names[speaker], at=plain.now + MINUTE)
        ids["style", speaker, topic] = styled.tell(STYLES[speaker].format(text), at=styled.now + MINUTE)
    by_name = [plain.hit(f"What did {names[speaker]} say about {TOPICS[topic][0]}?", ids["name", speaker, topic], 1) for speaker, topic in order]
    by_style = [styled.hit(QUESTIONS[speaker].format(TOPICS[topic][0]), ids["style", speaker, topic], 1) for speaker, topic in order]
    return {"hit@1 by name": sum(by_name) / len(order), "hit@1 by style": sum(by_style) / len(order), "chance": 1.0 / SPEAKERS}


PROBES = (Probe(
    id="who_said_it/speakers", capability="The same content from six speakers is told apart by who said it, and by how it was said.",
    source="", place="an experiment of ours", unit="share of questions",
    protocol="6 speakers each say the same 5 things; asked by name. In a second life they have no names and six styles; asked in the style. "
             "Chance: one of the 6.",
    band=(Within("hit@1 by name", low=0.9), MoreThan("hit@1 by style", 1.0 / SPEAKERS)),
    matters=("speaker_engram", "asker_prior", "lexical_bm25", "dense_similarity"), sets=("default", "everything"), run=run),)
