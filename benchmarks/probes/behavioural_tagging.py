"""Behavioural tagging: a weak memory lasts if something strong about the same person happens
within hours of it (Frey & Morris 1997).
"""

from __future__ import annotations

from typing import Final

from .harness.base import Above, Claim, Measures, Numbers, Probe, Within, mean
from .harness.life import DAY, MINUTE, SECOND, Life, Need
from .stimuli import FOODS, NAMES, OBJECTS, Stimuli

LAGS: Final = (-5, -3, -1, 0, 1, 2)  # h, strong minus weak
EACH: Final = 3
BEFORE: Final = 6.0  # h from the first event to the weak items
LASTS: Final = 2 * DAY
NOTHING: Final = 0.05  # ln: no gain


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("behavioural_tagging", seed)
    names, things = (
        s.draw(NAMES, (len(LAGS) + 1) * EACH + EACH),
        s.draw(OBJECTS, (len(LAGS) + 1) * EACH),
    )
    foods, strangers, order = (
        s.draw(FOODS, len(LAGS) * EACH),
        names[-EACH:],
        s.rng.permutation(len(things)).tolist(),
    )
    numbers: dict[str, float] = {}
    for condition in ("shared", "apart"):
        memory = life.fresh()
        start = memory.now + BEFORE
        weak = [
            (start + place * SECOND, f"{names[i]} moved the {things[i]}.", i)
            for place, i in enumerate(order)
        ]
        strong = [
            (
                start + lag * 1.0 + (k * EACH + j) * MINUTE / 2 + MINUTE,
                f"This is extremely important, remember it: {names[k * EACH + j] if condition == 'shared' else strangers[j]} nearly died of an "
                f"allergy to {foods[k * EACH + j]}, we were terrified and decided to call the ambulance!",
                -1,
            )
            for k, lag in enumerate(LAGS)
            for j in range(EACH)
        ]
        ids: dict[int, str] = {}
        for at, text, i in sorted(weak + strong):
            id = memory.tell(text, at=at)
            if i >= 0:
                ids[i] = id
        memory.until(start + LASTS)
        strength = memory.strength([ids[i] for i in range(len(things))])
        alone = mean(strength[len(LAGS) * EACH :])
        numbers |= {
            f"{condition} {lag:+d} h": mean(strength[k * EACH : (k + 1) * EACH]) - alone
            for k, lag in enumerate(LAGS)
        }
    return numbers


_BAND: Final[dict[str, tuple[Claim, ...]]] = {
    "lags": (
        Above("shared -1 h", "apart -1 h"),
        Above("shared -1 h", "shared +1 h"),
        Within("shared +2 h", -NOTHING, NOTHING),
    ),
    "apart": (
        Above("shared -1 h", "apart -1 h"),
        *(Within(f"apart {lag:+d} h", -NOTHING, NOTHING) for lag in LAGS),
    ),
}


def _probe(variant: str, capability: str) -> Probe:
    return Probe(
        id=f"behavioural_tagging/{variant}",
        capability=capability,
        source="frey1997synaptic",
        place=f"two-pathway experiments; check {'4.6' if variant == 'lags' else '4.9'}",
        unit="ln, strength above that of weak items without a strong one",
        protocol="21 neutral sentences about different people at one time, in random order; 18 of these people, 3 at each lag, have something "
        "alarming happen to them 5, 3 or 1 h before, at once, 1 or 2 h after. In a second life the alarming things happen to "
        "strangers. Strength after 2 d.",
        band=_BAND[variant],
        matters=("synaptic_tagging",),
        sets=("waking", "everything"),
        needs=frozenset({Need.COLUMNS}),
        run=run,
        measures=Measures(columns=("activation", "log_strength")),
    )


PROBES = (
    _probe(
        "lags",
        "A weak memory is rescued by a strong event shortly before or after it, longer before than after.",
    ),
    _probe("apart", "A strong event rescues only weak memories that it shares an entity with."),
)
