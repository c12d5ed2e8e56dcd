"""Capacity: completion from a part of the words gets worse with load, without a breakdown
(Hopfield 1982).
"""

from __future__ import annotations

from typing import Final

from .harness.base import Above, Measures, Numbers, Probe, Ratio
from .harness.life import SECOND, Life
from .stimuli import JOBS, NAMES, OBJECTS, PLACES, Stimuli

LOADS: Final = (15, 30, 60, 120)
ASKED, EACH, SHARE = 15, 20, 0.5


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("capacity", seed)
    pools = [s.draw(pool, EACH) for pool in (NAMES, OBJECTS, PLACES, JOBS)]
    rows = s.rng.integers(EACH, size=(2 * max(LOADS), 4)).tolist()
    words = dict.fromkeys(
        tuple(pool[i] for pool, i in zip(pools, row, strict=True)) for row in rows
    )
    texts = [
        "{} lent the {} from the {} to the {} last winter.".format(*word)
        for word in list(words)[: max(LOADS)]
    ]
    cues = [s.dropped(text, SHARE) for text in texts[:ASKED]]
    numbers: dict[str, float] = {}
    for load in LOADS:
        memory = life.fresh()
        order = s.rng.permutation(load).tolist()
        told = memory.tell_all([texts[i] for i in order], apart=10 * SECOND)
        memory.wait(1.0)
        pairs = [(cue, told[order.index(i)]) for i, cue in enumerate(cues)]
        numbers[f"p at {load}"] = sum(memory.hit(cue, id) for cue, id in pairs) / ASKED
        numbers[f"dense at {load}"] = sum(memory.dense_hit(cue, id) for cue, id in pairs) / ASKED
    return numbers


PROBES = (
    Probe(
        id="capacity/load",
        capability="With eight times as many memories, most are still found from half of their words.",
        source="hopfield1982neural",
        place="capacity; check PT-1",
        unit="share of items in the top 3",
        protocol="15 facts asked for with half of their words left out, alone and among up to 120 facts made of the same words; beside it the cosine of "
        "the embeddings alone.",
        band=(Above("p at 120", "dense at 120"), Ratio("p at 120", "p at 15", low=0.7)),
        matters=("hopfield_completion", "pattern_completion_threshold", "lexical_bm25"),
        sets=("default", "waking", "everything"),
        run=run,
        measures=Measures(answers=True),
    ),
)
