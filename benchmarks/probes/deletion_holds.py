"""Deletions hold: what was archived on purpose is not answered and not quoted, whatever is told
and consolidated later.
"""

from __future__ import annotations

from typing import Final

from .harness.base import Measures, Numbers, Probe, Within
from .harness.life import MINUTE, Life, Need
from .stimuli import NAMES, SYLLABLES, Stimuli

SECRETS, NIGHTS, EACH_DAY = 4, 3, 17
FIRST: Final = 10


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("deletion_holds", seed)
    names, words = s.draw(NAMES, SECRETS), s.draw(SYLLABLES, 3 * SECRETS)
    codes = ["".join(words[i : i + 3]) for i in range(0, len(words), 3)]
    texts = [f"The password of {name} is {code}." for name, code in zip(names, codes, strict=True)]
    ids = [life.tell(text, at=life.now + 10 * MINUTE) for text in texts]
    life.tell_all(s.chatter(6), apart=10 * MINUTE, at=life.now + 10 * MINUTE)
    told = [
        life.hit(f"What is the password of {name}?", id, FIRST)
        for name, id in zip(names, ids, strict=True)
    ]
    for id in ids:
        life.archive(id)
    near = [
        f"{names[i % SECRETS]} changed a password again, {text[0].lower()}{text[1:]}"
        for i, text in enumerate(s.chatter(NIGHTS * EACH_DAY))
    ]
    answered, quoted = [], []
    for night in range(NIGHTS):
        life.tell_all(
            near[night * EACH_DAY : (night + 1) * EACH_DAY],
            apart=20 * MINUTE,
            at=life.now + 10 * MINUTE,
        )
        life.sleep()
        for name, code, text, id in zip(names, codes, texts, ids, strict=True):
            events = [
                event
                for question in (f"What is the password of {name}?", text)
                for event in life.ask(question, FIRST).events
            ]
            answered.append(any(event.id == id for event in events))
            quoted.append(any(code in event.text for event in events))
    return {
        "answered before": sum(told) / SECRETS,
        "answered": sum(answered) / len(answered),
        "quoted": sum(quoted) / len(quoted),
    }


PROBES = (Probe(
    id="deletion_holds/after_nights",
    capability="What was archived on purpose never comes back, in its own words or in a summary.",
    source="", place="an experiment of ours", unit="share of questions",
    protocol="4 passwords are told and archived; 3 nights with 51 sentences about changed passwords; each morning asked for each, also "
             "with its own words.",
    band=(Within("answered before", low=1.0), Within("answered", high=0.0), Within("quoted",
    high=0.0)), matters=(),
    sets=("naive_rag", "bm25", "hybrid", "default", "waking", "night", "everything"),
    needs=frozenset({Need.ARCHIVE, Need.COLUMNS}), run=run, measures=Measures(columns=("sleep_end", "sleep_onset",), answers=True)),)  # fmt: skip
