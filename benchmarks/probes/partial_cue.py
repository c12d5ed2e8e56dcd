"""Partial cue: a memory is completed from a part of it, up to a point (Hopfield 1982; Marr
1971).
"""

from __future__ import annotations

from typing import Final

from .harness.base import Above, Measures, Numbers, Probe, mean
from .harness.life import SECOND, Life
from .stimuli import JOBS, NAMES, OBJECTS, PLACES, Stimuli

SHARES: Final = (0.0, 0.4, 0.6, 0.8)
MARGINS: Final = (0.4, 0.6)  # shares for which the margin is measured, too
ITEMS, ASKED, EACH = 100, 40, 20  # EACH: different names, objects, places and trades


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("partial_cue", seed)
    pools = [s.draw(pool, EACH) for pool in (NAMES, OBJECTS, PLACES, JOBS)]
    words = dict.fromkeys(
        tuple(pool[i] for pool, i in zip(pools, row, strict=True))
        for row in s.rng.integers(EACH, size=(2 * ITEMS, 4)).tolist()
    )
    texts = [
        "{} lent the {} from the {} to the {} last winter.".format(*word)
        for word in list(words)[:ITEMS]
    ]
    ids = life.tell_all(texts, apart=10 * SECOND)
    life.wait(1.0)
    numbers: dict[str, float] = {}
    for share in SHARES:
        cues = [(s.dropped(text, share), id) for text, id in zip(texts[:ASKED], ids, strict=False)]
        numbers[f"p at {share:.0%}"] = sum(life.hit(cue, id) for cue, id in cues) / ASKED
        numbers[f"dense at {share:.0%}"] = sum(life.dense_hit(cue, id) for cue, id in cues) / ASKED
        if share in MARGINS:
            numbers[f"margin at {share:.0%}"] = mean([life.margin(cue, id) for cue, id in cues])
    return numbers


PROBES = (
    Probe(
        id="partial_cue/noise",
        capability="A memory is found from a part of its words, better than by similarity of meaning alone.",
        source="hopfield1982neural",
        place="completion from noisy cues; check PT-1",
        unit="share of items in the top 3",
        protocol="100 facts of 12 words made of 20 names, objects, places and trades; 40 are asked for with 0 to 80% of their words left out; "
        "beside it the cosine of the embeddings alone.",
        band=(Above("p at 40%", "dense at 40%"), Above("p at 60%", "dense at 60%")),
        matters=("hopfield_completion", "pattern_completion_threshold", "lexical_bm25"),
        sets=("default", "waking", "everything"),
        run=run,
        also=tuple(f"margin at {share:.0%}" for share in MARGINS),
        measures=Measures(answers=True),
    ),
)
