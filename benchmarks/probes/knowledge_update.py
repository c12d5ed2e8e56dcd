"""Knowledge update: after a value changed twice, the newest one is answered first, and earlier
ones are still found.
"""

from __future__ import annotations

from typing import Final

from .harness.base import Measures, Numbers, Probe, Within, mean
from .harness.life import DAY, MINUTE, Life
from .harness.states import HELD, TUNED
from .harness.states import OTHERS as MORE
from .stimuli import NAMES, OBJECTS, PLACES, Stimuli

SUBJECTS, VERSIONS, OTHERS = 8, 3, 40
FIRST: Final = 5
BESIDE: Final = 21  # other sentences among the series


def told(life: Life, s: Stimuli) -> list[tuple[str, str, list[str]]]:
    """Name, object and ids of the three versions, oldest first, of each subject."""
    names, things = s.draw(NAMES, SUBJECTS), s.draw(OBJECTS, SUBJECTS)
    places = [s.draw(PLACES, VERSIONS) for _ in range(SUBJECTS)]
    others, numbers = (
        s.chatter(OTHERS),
        [(name, thing, list[str]()) for name, thing in zip(names, things, strict=True)],
    )
    for version in range(VERSIONS):
        for text in others[version::VERSIONS]:
            life.tell(text, at=life.now + 20 * MINUTE)
        for (name, thing, ids), place in zip(numbers, places, strict=True):
            start = "Actually, " if version else ""
            now = "now keeps" if version else "keeps"
            ids.append(
                life.tell(
                    f"{start}{name} {now} the {thing} in the {place[version]}.",
                    at=life.now + 20 * MINUTE,
                )
            )
        life.wait(3 * DAY)
    return numbers


def update(life: Life, seed: int) -> Numbers:
    numbers, hits = (
        told(life, Stimuli("knowledge_update", seed)),
        {"newest first": 0.0, "earlier in the top 5": 0.0},
    )
    leads = []
    for name, thing, ids in numbers:
        answer = [
            event.id for event in life.ask(f"Where does {name} keep the {thing} now?", FIRST).events
        ]
        before = [
            event.id
            for event in life.ask(f"Where did {name} keep the {thing} before?", FIRST).events
        ]
        hits["newest first"] += (
            next((id == ids[-1] for id in answer if id in ids), False) / SUBJECTS
        )
        hits["earlier in the top 5"] += any(id in before for id in ids[:-1]) / SUBJECTS
        leads.append(life.lead(f"Where does {name} keep the {thing} now?", ids[-1], ids[:-1]))
    return hits | {"lead of the newest": mean(leads)}


def contradiction(life: Life, seed: int) -> Numbers:
    numbers, hits = told(life, Stimuli("contradiction", seed)), 0.0
    for name, thing, ids in numbers:
        answer = [
            event.id
            for event in life.ask(
                f"I heard different things about where {name} keeps the {thing}. Which?", FIRST
            ).events
        ]
        hits += set(ids) <= set(answer)
    return {"all versions": hits / SUBJECTS}


def states(life: Life, seed: int) -> Numbers:
    rng, series = Stimuli("states", seed).rng, (*TUNED, *HELD)
    ids = [list[str]() for _ in series]
    for version in range(max(len(case.told) for case in series)):
        for text in MORE[version:BESIDE:VERSIONS]:
            life.tell(text, "Cleo", at=life.now + 20 * MINUTE)
        for at in rng.permutation(len(series)).tolist():
            if version < len(series[at].told):
                speaker, text = series[at].told[version]
                ids[at].append(life.tell(text, speaker, at=life.now + 20 * MINUTE))
        life.wait(3 * DAY)
    first, among, former = list[float](), list[float](), list[float]()
    for case, told_as in zip(series, ids, strict=True):
        answer = [event.id for event in life.ask(case.newest).events]
        first.append(answer[:1] == told_as[-1:])
        among.append(told_as[-1] in answer)
        if case.former:
            before = [event.id for event in life.ask(case.former, FIRST).events]
            former.append(any(id in before for id in told_as[:-1]))
    return {
        "newest first": mean(first),
        "newest in the top 10": mean(among),
        "former in the top 5": mean(former),
        "newest first, series not looked at": mean(first[len(TUNED) :]),
    }


_PROTOCOL = "8 statements 'Ada keeps the kettle in the attic', each changed twice in 6 days, among 40 other sentences; "
PROBES = (
    Probe(
        id="knowledge_update/current",
        capability="The present value is answered first; asked for an earlier one, the memory still has it.",
        source="wu2025longmemeval",
        place="knowledge update",
        unit="share of subjects",
        protocol=f"{_PROTOCOL}asked for now and for before.",
        band=(Within("newest first", low=0.8), Within("earlier in the top 5", low=0.8)),
        matters=("recency", "curation", "reconsolidation", "fact_timeline", "present_state"),
        sets=("default", "waking", "everything"),
        run=update,
        also=("lead of the newest",),
        measures=Measures(answers=True),
    ),
    Probe(
        id="knowledge_update/states",
        capability="What holds now is answered first, and what held before is still there, whatever changes.",
        source="wu2025longmemeval",
        place="knowledge update",
        unit="share of series",
        protocol="37 series of two to four states of one thing (rents, jobs, codes, doors, people, denials, there and back), told 3 days apart in "
        "one memory among 21 other sentences; asked in the present tense or for now, and for before or first.",
        band=(
            Within("newest first", low=0.8),
            Within("newest in the top 10", low=0.95),
            Within("former in the top 5", low=0.9),
        ),
        matters=("present_state", "curation", "recency"),
        sets=("default", "waking", "in_use"),
        run=states,
        also=("newest first, series not looked at",),
        measures=Measures(answers=True),
    ),
    Probe(
        id="contradiction/both",
        capability="Asked for a contradiction, the memory finds every version of what was said.",
        source="tavakoli2026beam",
        place="contradiction resolution",
        unit="share of subjects with all versions in the top 5",
        protocol=f"{_PROTOCOL}asked for the different things that were said.",
        band=(Within("all versions", low=0.8),),
        matters=("curation", "reconsolidation", "fact_timeline"),
        sets=("default", "waking", "everything"),
        run=contradiction,
        measures=Measures(answers=True),
    ),
)
