"""Order of events: asked in which order things happened, the memory gives them in that order."""

from __future__ import annotations

from itertools import combinations
from typing import Final

from .harness.base import Measures, Numbers, Probe, Within
from .harness.life import DAY, Life
from .stimuli import NAMES, Stimuli

STEPS: Final = 8
OTHERS: Final = 52
FIRST: Final = 10  # events of the answer that are looked at
PROJECT: Final = (
    "{name} measured the roof of the shed project.", "{name} bought timber for the shed project.",
    "{name} ordered a door for the shed project.",
    "{name} borrowed a saw for the shed project.", "{name} painted the wall of the shed project.",
    "{name} hired a helper for the shed project.",
    "{name} repaired the window of the shed project.",
    "{name} cleared the ground of the shed project.", "{name} laid a cable in the shed project.",
    "{name} asked the neighbours about the shed project.",
    "{name} photographed the corner of the shed project.", "{name} insured the shed project.")  # fmt: skip


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("event_order", seed)
    name = s.draw(NAMES, 1)[0]
    texts = [text.format(name=name) for text in s.draw(PROJECT, STEPS)]
    places = sorted(s.rng.choice(STEPS + OTHERS, STEPS, replace=False).tolist())
    others, ids = iter(s.chatter(OTHERS)), []
    for i in range(STEPS + OTHERS):
        life.wait(0.4 * DAY)
        if i in places:
            ids.append(life.tell(texts[places.index(i)], dated=True))
        else:
            life.tell(next(others), dated=True)
    life.wait(DAY)
    question = (
        f"In which order did {name} work on the shed project? List the steps from first to last."
    )
    order = [id for id in life.presented(question, FIRST) if id in ids]
    return {"tau": tau(order, ids), "found": len(order) / STEPS}


def tau(order: list[str], true: list[str]) -> float:
    """Kendall's tau over all pairs of the true order; a pair of which an item is missing counts 0.

    >>> tau(["a", "b", "c"], ["a", "b", "c"]), tau(["c", "b", "a"], ["a", "b", "c"]), tau([], ["a", "b"])
    (1.0, -1.0, 0.0)
    """
    pairs = list(combinations(true, 2))
    return sum(
        (1 if order.index(a) < order.index(b) else -1)
        for a, b in pairs
        if a in order and b in order
    ) / len(pairs)


PROBES = (
    Probe(
        id="event_order/tau",
        capability="An answer about an order has the events in the order of time.",
        source="tavakoli2026beam",
        place="event ordering",
        unit="Kendall's tau",
        protocol="8 steps of a project among 52 other events; asked in which order they happened; Kendall's tau between the 10 events of the answer, as "
        "the memory presents them, and time; missing pairs count 0.",
        band=(Within("tau", low=0.8),),
        matters=("event_ordering", "temporal_context"),
        sets=("default", "waking", "everything"),
        run=run,
        measures=Measures(answers=True),
    ),
)
