"""Cluster modulation: lasting activity of a cluster of memories changes for a while what all of
them pass on (De Pitta et al. 2011).
"""

from __future__ import annotations

from typing import Final

from ...engine.contract.vocabulary import RELEASE_PROBABILITY
from .harness.base import Above, Measures, Numbers, Probe, mean
from .harness.life import DAY, MINUTE, Life, Need
from .stimuli import FOODS, JOBS, OBJECTS, PLACES, Stimuli

EACH, RECALLS = 10, 60
COOKING: Final = "The recipe calls for {} with salt and butter."
REPAIRS: Final = "The motor of the {} in the {} needs a spare part."


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("cluster_modulation", seed)
    cooking = [COOKING.format(food) for food in s.draw(FOODS, EACH)]
    repairs = [
        REPAIRS.format(thing, place)
        for thing, place in zip(s.draw(OBJECTS, EACH), s.draw(PLACES, EACH), strict=True)
    ]
    order = s.rng.permutation(2 * EACH).tolist()
    texts = cooking + repairs
    told = life.tell_all(
        [texts[i] for i in order] + [f"The {job} came late." for job in s.draw(JOBS, 5)],
        apart=10 * MINUTE,
    )
    ids = [told[order.index(i)] for i in range(2 * EACH)]
    life.wait(DAY)
    for i in range(RECALLS):
        life.ask(cooking[i % EACH], k=3, learn=True)
        life.wait(MINUTE)
    before = life.of(RELEASE_PROBABILITY, ids)
    life.wait(2 * DAY)
    later = life.of(RELEASE_PROBABILITY, ids)
    return {
        "active, at once": mean(before[:EACH]),
        "idle, at once": mean(before[EACH:]),
        "active, 2 d later": mean(later[:EACH]),
    }


PROBES = (
    Probe(
        id="cluster_modulation/territory",
        capability="Memories of a topic that was active for an hour pass more on for a while than those of another topic.",
        source="depitta2011tale",
        place="gliotransmission; checks 12.6 and 12.8",
        unit="1, RELEASE_PROBABILITY",
        protocol="10 sentences about cooking and 10 about repairs, mixed; a day later those about cooking are recalled 60 times, a minute apart; "
        "RELEASE_PROBABILITY of both at once and of the first two days later.",
        band=(
            Above("active, at once", "idle, at once"),
            Above("active, at once", "active, 2 d later"),
        ),
        matters=("tripartite_synapse",),
        sets=("night", "everything"),
        needs=frozenset({Need.COLUMNS, Need.LEARNING}),
        run=run,
        measures=Measures(columns=("release_probability",), answers=True, learns=True),
    ),
)
