"""Sleep benefit: twelve hours with a night keep more than twelve hours of the day, most of all
of weak memories.
"""

from __future__ import annotations

from typing import Final

from .harness.base import Above, Measures, Numbers, Probe, mean
from .harness.life import DAY, MINUTE, START, Life, Need
from .stimuli import CHATTER, Stimuli, sentence

OF_A_KIND, USES, NEW = 8, 2, 6
BEFORE: Final = 40  # sentences of other talk on the day before
SESSION: Final = "list"
HALF_DAY: Final = 12.0


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("sleep_benefit", seed)
    facts = s.facts(2 * OF_A_KIND + NEW)
    cues = [f"{name}, {thing}" for name, thing, _ in facts]
    texts = [sentence(fact) for fact in facts]
    sentences, numbers = s.shuffled(CHATTER), dict[str, float]()
    learnt = 2 * OF_A_KIND
    # told at 9 am or at 9 pm, asked 12 h later
    for name, told in (("wake", START + DAY), ("sleep", START + HALF_DAY)):
        memory, talk = life.fresh(), iter(sentences)
        # talk before, the same in both, ends when the facts are told
        apart = (told - START) / (BEFORE + 1)
        memory.tell_all([next(talk) for _ in range(BEFORE)], apart=apart, session="talk")
        ids = memory.tell_all(texts[:learnt], apart=MINUTE, at=told, session=SESSION)
        for cue in cues[OF_A_KIND:learnt] * USES:
            memory.ask(cue, k=1, learn=True, session=SESSION)
        memory.until(told + HALF_DAY)
        chances = memory.recalled(ids, SESSION)
        numbers[f"weak, {name}"] = mean(chances[:OF_A_KIND])
        numbers[f"strong, {name}"] = mean(chances[OF_A_KIND:])
        new = memory.tell_all(texts[learnt:], apart=10 / 3600, session=SESSION)
        numbers[f"new after {name}"] = mean(memory.recalled(new, SESSION))
    gains = {
        f"gain of {kind}": numbers[f"{kind}, sleep"] - numbers[f"{kind}, wake"]
        for kind in ("weak", "strong")
    }
    return numbers | gains


PROBES = (
    Probe(
        id="sleep_benefit/wake_sleep",
        capability="After a night more is recalled than after a day, weak memories gain most, and new ones are learnt better.",
        source="tononi2014sleep",
        place="sleep and consolidation; check 16.7",
        unit="chance of recall",
        protocol="16 facts told in a session at 9 am or at 9 pm after 40 sentences of other talk, half of them recalled twice at once by name and object; "
        "12 h later they are asked for without words in the session; then 6 new facts are told there and asked for; a fact is recalled with the chance "
        "R / (R + 1), R = exp(z), z its standardised final score among the 48 best.",
        band=(
            Above("weak, sleep", "weak, wake"),
            Above("gain of weak", "gain of strong"),
            Above("new after sleep", "new after wake"),
        ),
        matters=("sleep_replay", "synaptic_renormalisation"),
        sets=("night", "everything"),
        needs=frozenset({Need.LEARNING, Need.SLEEP}),
        run=run,
        measures=Measures(answers=True, learns=True),
    ),
)
