"""Knowledge update: after a value changed twice, the newest one is answered first, and earlier ones are still found."""
from __future__ import annotations

from typing import Final

from .harness.base import Numbers, Probe, Within, mean
from .harness.life import DAY, MINUTE, Life
from .stimuli import NAMES, OBJECTS, PLACES, Stimuli

SUBJECTS, VERSIONS, OTHERS = 8, 3, 40
FIRST: Final = 5


def told(life: Life, s: Stimuli) -> list[tuple[str, str, list[str]]]:
    """Name, object and ids of the three versions, oldest first, of each subject."""
    names, things = s.draw(NAMES, SUBJECTS), s.draw(OBJECTS, SUBJECTS)
    places = [s.draw(PLACES, VERSIONS) for _ in range(SUBJECTS)]
    others, found = s.chatter(OTHERS), [(name, thing, list[str]()) for name, thing in zip(names, things, strict=True)]
    for version in range(VERSIONS):
        for text in others[version::VERSIONS]:
            life.tell(text, at=life.now + 20 * MINUTE)
        for (name, thing, ids), place in zip(found, places, strict=True):
            start = "Actually, " if version else ""
            now = "now keeps" if version else "keeps"
            ids.append(life.tell(f"{start}{name} {now} the {thing} in the {place[version]}.", at=life.now + 20 * MINUTE))
        life.wait(3 * DAY)
    return found


def update(life: Life, seed: int) -> Numbers:
    found, hits = told(life, Stimuli("knowledge_update", seed)), {"newest first": 0.0, "earlier in the top 5": 0.0}
    leads = []
    for name, thing, ids in found:
        answer = [event.id for event in life.ask(f"Where does {name} keep the {thing} now?", FIRST).events]
        before = [event.id for event in life.ask(f"Where did {name} keep the {thing} before?", FIRST).events]
        hits["newest first"] += next((id == ids[-1] for id in answer if id in ids), False) / SUBJECTS
        hits["earlier in the top 5"] += any(id in before for id in ids[:-1]) / SUBJECTS
        leads.append(life.lead(f"Where does {name} keep the {thing} now?", ids[-1], ids[:-1]))
    return hits | {"lead of the newest": mean(leads)}


def contradiction(life: Life, seed: int) -> Numbers:
    found, hits = told(life, Stimuli("contradiction", seed)), 0.0
    for name, thing, ids in found:
        answer = [event.id for event in life.ask(f"I heard different things about where {name} keeps the {thing}. Which?", FIRST).events]
        hits += set(ids) <= set(answer)
    return {"all versions": hits / SUBJECTS}


_PROTOCOL = "8 statements 'Ada keeps the kettle in the attic', each changed twice in 6 days, among 40 other sentences; "
PROBES = (
    Probe(id="knowledge_update/current", capability="The present value is answered first; asked for an earlier one, the memory still has it.",
          source="wu2025longmemeval", place="knowledge update", unit="share of subjects", protocol=f"{_PROTOCOL}asked for now and for before.",
          band=(Within("newest first", low=0.8), Within("earlier in the top 5", low=0.8)),
          matters=("recency", "curation", "reconsolidation", "fact_timeline"), sets=("default", "everything"), run=update,
          also=("lead of the newest",)),
    Probe(id="contradiction/both", capability="Asked for a contradiction, the memory finds every version of what was said.",
          source="tavakoli2026beam", place="contradiction resolution", unit="share of subjects with all versions in the top 5",
          protocol=f"{_PROTOCOL}asked for the different things that were said.", band=(Within("all versions", low=0.8),),
          matters=("curation", "reconsolidation", "fact_timeline"), sets=("default", "everything"), run=contradiction))
