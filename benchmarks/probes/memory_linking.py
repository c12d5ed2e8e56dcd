"""Memory linking: memories of the same hours are linked, those of different days are not (Cai et
al. 2016).
"""

from __future__ import annotations

from typing import Final

from .harness.base import Above, Measures, Numbers, Probe, mean
from .harness.life import DAY, MINUTE, Life
from .stimuli import Stimuli, sentence

GAPS: Final = {"5 h": 5.0, "24 h": DAY, "7 d": 7 * DAY}
PAIRS, OTHERS = 6, 20


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("memory_linking", seed)
    facts = [sentence(fact) for fact in s.facts(2 * PAIRS + OTHERS)]
    numbers: dict[str, float] = {}
    for name, gap in GAPS.items():
        margins = []
        # three pairs in each of two lives, so that other pairs are no neighbours in time
        for half in range(2):
            memory, mine = life.fresh(), facts[half * PAIRS : half * PAIRS + PAIRS]
            memory.tell_all(facts[2 * PAIRS :], apart=MINUTE)
            ids = []
            for first, second in zip(mine[::2], mine[1::2], strict=True):
                memory.wait(10 * DAY)
                a = memory.tell(first)
                memory.wait(gap)
                ids.append((first, a, second, memory.tell(second)))
            memory.wait(10 * DAY)
            margins += [
                memory.margin(text, partner) - _dense(memory, text, partner)
                for a, x, b, y in ids
                for text, partner in ((a, y), (b, x))
            ]
        numbers[name] = mean(margins)
    return numbers | {
        "gain at 5 h": numbers["5 h"] - numbers["7 d"],
        "gain at 24 h": numbers["24 h"] - numbers["7 d"],
    }


def _dense(life: Life, text: str, id: str) -> float:
    """Margin of an event by cosine alone, in standard deviations of the others."""
    ids = list(life.told)
    cosines = life.cosines(text, ids)
    mine = ids.index(id)
    others = [c for i, c in enumerate(cosines.tolist()) if i != mine]
    centre = mean(others)
    spread = mean([(c - centre) ** 2 for c in others]) ** 0.5
    return (float(cosines[mine]) - centre) / spread if spread else 0.0


PROBES = (
    Probe(
        id="memory_linking/hours",
        capability="Recall of a memory brings up what was told within the same hours, not a day or a week apart.",
        source="cai2016shared",
        place="shared ensembles after 5 h, separate ones after 7 d; check 14.2",
        unit="standard deviations of the competitors' scores, above that of the cosines",
        protocol="Pairs of facts 5 h, 24 h or 7 d apart, 10 d between pairs; margin of the partner when one of the pair is asked for.",
        band=(Above("5 h", "7 d"), Above("5 h", "24 h"), Above("gain at 5 h", "gain at 24 h", 2.0)),
        matters=("engram_allocation", "neurogenesis"),
        sets=("waking", "everything"),
        run=run,
        measures=Measures(answers=True),
    ),
)
