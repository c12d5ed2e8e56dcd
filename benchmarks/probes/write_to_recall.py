"""Write to recall: how soon after it was told a fact is found."""

from __future__ import annotations

from typing import Final

from .harness.base import Measures, Numbers, Probe, Within
from .harness.life import MINUTE, Life
from .stimuli import Stimuli, sentence

ITEMS, OTHERS = 10, 30
TICK: Final = 1.0  # h
WAITS: Final = (0.0, 10 / 3600, MINUTE, 10 * MINUTE, TICK, 24.0)


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("write_to_recall", seed)
    facts = s.facts(ITEMS + OTHERS)
    life.tell_all([sentence(fact) for fact in facts[ITEMS:]], apart=20 * MINUTE)
    numbers = dict.fromkeys(("at once", "after the tick", "after the night"), 0.0)
    told = []
    for name, thing, place in facts[:ITEMS]:
        told.append(
            (
                f"Where does {name} keep the {thing}?",
                life.tell(sentence((name, thing, place)), at=life.now + MINUTE),
            )
        )
        numbers["at once"] += life.hit(*told[-1])
    numbers["at once"] /= ITEMS
    life.wait(TICK)
    numbers["after the tick"] = sum(life.hit(*asked) for asked in told) / ITEMS
    life.sleep()
    numbers["after the night"] = sum(life.hit(*asked) for asked in told) / ITEMS
    return numbers | {
        "lag": _lag(
            life.fresh(), sentence(facts[0]), f"Where does {facts[0][0]} keep the {facts[0][1]}?"
        )
    }


def _lag(life: Life, text: str, question: str) -> float:
    """Simulated time until a fact is found, h; infinity if it is not within a day."""
    id, start = life.tell(text), life.now
    for wait in WAITS:
        life.until(start + wait)
        if life.hit(question, id, 1):
            return wait
    return float("inf")


PROBES = (Probe(
    id="write_to_recall/lag",
    capability="What was told is found at once, and still after the next tick and the next night.",
    source="", place="an experiment of ours", unit="share of facts in the top 3; h",
    protocol="30 facts, then 10 more, each asked for at once, again after an hour and after the next sleep. Lag: simulated time until the only fact "
             "of a new memory is found.",
    band=(Within("at once", low=0.95), Within("after the tick", low=0.95), Within("after the night",
    low=0.95), Within("lag", high=0.0)),
    matters=(), sets=("naive_rag", "bm25", "hybrid", "default", "waking", "night", "everything"), run=run,
    measures=Measures(columns=("sleep_end", "sleep_onset"), answers=True)),)  # fmt: skip
