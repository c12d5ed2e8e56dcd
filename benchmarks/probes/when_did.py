"""When: the same kind of event at several times is told apart by the time that is asked for."""
from __future__ import annotations

from typing import Final

import numpy as np

from ...engine.records import moment
from .harness.base import Numbers, Probe, Within, mean
from .harness.life import DAY, Life
from .stimuli import NAMES, Stimuli

TIMES: Final = 6
KINDS: Final = ("had an appointment with the dentist", "took the car to the garage", "gave a talk at the library", "went swimming in the lake",
                "cooked dinner for the neighbours")
SPACING: Final = 17 * DAY       # between events of one kind
OTHERS: Final = 60


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("when_did", seed)
    names, company = np.split(np.array(s.draw(NAMES, len(KINDS) + TIMES)), [len(KINDS)])
    start = life.now
    told = [(start + t * SPACING + (2 * k + 1 + float(s.rng.uniform(0.0, 0.3))) * DAY, f"{name} {kind} together with {company[t]}.", (k, t))
            for k, (name, kind) in enumerate(zip(names, KINDS, strict=True)) for t in range(TIMES)]
    told += [(start + float(s.rng.uniform(0.0, TIMES * SPACING)), text, (-1, i)) for i, text in enumerate(s.chatter(OTHERS))]
    ids, times = {}, {}
    for at, text, key in sorted(told):
        ids[key], times[key] = life.tell(text, at=at, dated=True), at
    life.until(start + TIMES * SPACING + 3 * DAY)
    hits: dict[str, list[bool]] = {"absolute": [], "relative": []}
    leads = []      # of the event asked for by its date over the same event at other times
    for k, (name, kind) in enumerate(zip(names, KINDS, strict=True)):
        for t in range(TIMES):
            date, days = moment(times[k, t]), round((life.now - times[k, t]) / DAY)
            ago = f"{days} days ago" if days < 14 else f"{round(days / 7)} weeks ago"
            absolute = f"What did {name} do on {date.day} {date:%B} {date.year}?"
            hits["absolute"].append(life.hit(absolute, ids[k, t], 1))
            leads.append(life.lead(absolute, ids[k, t], [ids[k, other] for other in range(TIMES) if other != t]))
            hits["relative"].append(life.hit(f"When {name} {kind} {ago}, what happened?", ids[k, t], 1))
    return {f"hit@1 {way}": sum(found) / len(found) for way, found in hits.items()} | {"chance": 1.0 / TIMES, "lead absolute": mean(leads)}


PROBES = (Probe(
    id="when_did/distractors", capability="A question that names a time finds what happened then, not the same kind of event at another time.",
    source="", place="an experiment of ours", unit="share of questions",
    protocol="5 kinds of events, each by one person at 6 times 17 days apart, with another companion each time, among 60 other events, all dated; "
             "asked with the date and with how long ago it was. Chance: one of the 6.",
    band=(Within("hit@1 absolute", low=0.8), Within("hit@1 relative", low=0.8)), matters=("temporal_index", "query_intent", "recency"),
    sets=("default", "everything"), run=run, also=("lead absolute",)),)
