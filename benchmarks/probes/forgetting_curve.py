"""Forgetting curve: recall beside other memories falls as a power of time, not exponentially
(Ebbinghaus 1885; Murre & Dros 2015).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import curve_fit, least_squares

from .harness.bands import COLDEST, HOTTEST
from .harness.base import Above, Measures, Numbers, Probe, Within, mean
from .harness.life import DAY, SECOND, Life
from .stimuli import SYLLABLES, Stimuli

DELAYS: Final = (1 / 3, 1.0, 8.8, 24.0, 48.0, 144.0, 744.0)  # h, Ebbinghaus' seven
# h, and the savings that Ebbinghaus prints; the intervals are the true ones
PRINTED: Final = {
    "19 min": (19 / 60, 0.582),
    "63 min": (63 / 60, 0.442),
    "8.75 h": (8.75, 0.358),
    "1 d": (24.0, 0.337),
    "2 d": (48.0, 0.278),
    "6 d": (144.0, 0.254),
    "31 d": (744.0, 0.211),
}
SAVINGS: Final = np.array([saved for _, saved in PRINTED.values()])
ITEMS: Final = 13  # syllables of a list
BEFORE: Final = 35  # sentences of other talk on the day before
A_DAY: Final = 6  # sentences of other talk; only in the first days
SESSION: Final = "list"


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("forgetting_curve", seed)
    talk = s.talk()
    life.tell_all([next(talk) for _ in range(BEFORE)], apart=DAY / BEFORE, session="talk")
    life.wait(DAY / BEFORE)
    ids = life.tell_all(s.draw(SYLLABLES, ITEMS), apart=SECOND, session=SESSION)
    learnt, chances = life.now, list[NDArray[np.float64]]()
    told = 0.0
    for delay in DELAYS:
        while told + DAY / A_DAY < min(delay, 6 * DAY):
            told += DAY / A_DAY
            life.tell(next(talk), session="talk", at=learnt + told)
        life.until(learnt + delay)
        chances.append(life.recalled(ids, SESSION))
    shares = [mean(recalled) for recalled in chances]
    curve = np.array(shares)
    return {
        "R2 people": explained(np.array(chances)),
        "R2 power": fitted(_power, curve),
        "R2 exponential": fitted(_exponential, curve),
        **{
            f"recalled after {delay:.3g} h": share
            for delay, share in zip(DELAYS, shares, strict=True)
        },
    }


def explained(chances: NDArray[np.float64]) -> float:
    """Share of the variance of the printed savings that recall explains once temperature and
    threshold of the readout are fitted, least squares; NaN for recall that never changes.

    chances  (7, n) of each item at each delay, at temperature 1
    """
    if np.ptp(chances.mean(axis=1)) <= 1e-9:
        return math.nan
    sure = np.clip(chances, 1e-12, 1.0 - 1e-12)
    support = np.log(sure / (1.0 - sure))

    def missed(free: NDArray[np.float64]) -> NDArray[np.float64]:
        cold, stop = free
        recalled: NDArray[np.float64] = (1.0 / (1.0 + np.exp(stop - cold * support))).mean(axis=1)
        recalled -= SAVINGS
        return recalled

    fits = [
        least_squares(missed, (cold, stop), bounds=((1 / HOTTEST, -50.0), (1 / COLDEST, 50.0)))
        for cold in (0.3, 1.0, 3.0)
        for stop in (-1.0, 0.0, 2.0)
    ]
    total = float(np.sum((SAVINGS - SAVINGS.mean()) ** 2))
    return float(1.0 - 2.0 * min(fit.cost for fit in fits) / total)


def fitted(form: Callable[..., Any], curve: NDArray[np.float64]) -> float:
    """Share of the variance that a curve of two parameters explains, least squares; NaN for a
    constant curve.
    """
    if not np.all(np.isfinite(curve)) or np.ptp(curve) <= 1e-9 * np.abs(curve).max():
        return math.nan
    scaled, times = curve / curve[0], np.array(DELAYS)
    shares = []
    for start in ((1.0, 0.01), (1.0, 0.1), (0.5, 0.5)):
        try:
            (a, b), _ = curve_fit(form, times, scaled, p0=start, maxfev=5000)
        except RuntimeError:
            continue
        shares.append(
            1.0
            - float(
                np.sum((scaled - form(times, a, b)) ** 2) / np.sum((scaled - scaled.mean()) ** 2)
            )
        )
    return max(shares, default=math.nan)


def _power(t: NDArray[np.float64], a: float, b: float) -> Any:
    return a * t**-b


def _exponential(t: NDArray[np.float64], a: float, b: float) -> Any:
    return a * np.exp(-np.clip(b * t, -500.0, 500.0))


PROBES = (
    Probe(
        id="forgetting_curve/ebbinghaus",
        capability="Beside other memories less is recalled with time, fast at first and slowly later, as a power of time.",
        source="murre2015replication",
        place="savings at seven delays; check 6.7",
        unit="share of variance; share recalled",
        protocol="A list of 13 syllables, a second apart in a session of its own, after a day of 35 sentences of other talk; asked for without "
        "words in the session of the list after 20 min, 1, 8.8, 24, 48, 144 and 744 h, with 6 sentences of other talk a day for six days; a syllable "
        "is recalled with the chance R / (R + 1), R = exp(z), z its standardised final score among the 48 best; a power and an exponential are fitted "
        "to these shares, and temperature and threshold of the readout to the seven printed savings.",
        band=(
            Above("recalled after 0.333 h", "recalled after 24 h"),
            Above("recalled after 24 h", "recalled after 744 h"),
            Above("R2 power", "R2 exponential"),
            Within("R2 people", low=0.934),
        ),
        bounds="what a line in the logarithm of time, the simplest rival with two numbers, explains of the seven printed savings; computed from them",
        matters=("base_level_activation", "consolidation_cascade"),
        sets=("default", "waking", "night", "everything"),
        run=run,
        measures=Measures(answers=True),
    ),
)
