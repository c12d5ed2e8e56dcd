"""Archived evidence: earlier versions that were archived are still reached from the version that
replaced them.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from .harness.base import Measures, Numbers, Probe, Within
from .harness.instruments import retire
from .harness.life import DAY, MINUTE, Life, Need
from .stimuli import NAMES, OBJECTS, PLACES, Stimuli

CHAINS: Final = (1, 2, 3, 4)  # archived versions of a chain
EACH: Final = 3  # chains of each length
OTHERS: Final = 40
FIRST: Final = 10


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("archived_evidence", seed)
    lengths = [length for length in CHAINS for _ in range(EACH)]
    names, things = s.draw(NAMES, len(lengths)), s.draw(OBJECTS, len(lengths))
    places, others = [s.draw(PLACES, length + 1) for length in lengths], s.chatter(OTHERS)
    said = [
        [
            f"{'Actually, ' if i else ''}{name} keeps the {thing} in the {place}."
            for i, place in enumerate(mine)
        ]
        for name, thing, mine in zip(names, things, places, strict=True)
    ]
    life = life.fresh(retire({old: new for mine in said for old, new in pairwise(mine)}))
    ids: list[list[str]] = [[] for _ in lengths]
    for version in range(max(CHAINS) + 1):
        life.tell_all(others[version :: max(CHAINS) + 1], apart=10 * MINUTE)
        for mine, texts in zip(ids, said, strict=True):
            if version < len(texts):
                mine.append(life.tell(texts[version], at=life.now + 10 * MINUTE))
        life.wait(DAY)
    reached: dict[int, list[bool]] = {hop: [] for hop in CHAINS}
    for name, thing, mine in zip(names, things, ids, strict=True):
        answer = {
            event.id
            for event in life.ask(
                f"What is known of where {name} keeps the {thing}, and where it was before?", FIRST
            ).events
        }
        for hop, id in enumerate(reversed(mine[:-1]), 1):
            reached[hop].append(id in answer)
    hits_of_all = [hit for hits in reached.values() for hit in hits]
    return {
        **{
            f"reached, {hop} hop{'s' * (hop > 1)}": sum(hits) / len(hits)
            for hop, hits in reached.items()
        },
        "unreachable": 1.0 - sum(hits_of_all) / len(hits_of_all),
    }


PROBES = (
    Probe(
        id="archived_evidence/hops",
        capability="What was archived because a newer version replaced it is still found from that version.",
        source="allmem2026",
        place="typed expansion",
        unit="share of archived versions in the top 10",
        protocol="12 statements with 1 to 4 corrections, a day apart, among 40 other sentences; each night an instrument archives the versions "
        "that were corrected, by votes, as a mechanism would. Asked for the present and the earlier versions; "
        "share of those reached, by their distance from the present one.",
        band=(Within("unreachable", high=0.0),),
        matters=("typed_expansion", "topology_consolidation", "fact_timeline"),
        sets=("everything",),
        needs=frozenset({Need.INSTRUMENTS}),
        run=run,
        measures=Measures(answers=True),
    ),
)
