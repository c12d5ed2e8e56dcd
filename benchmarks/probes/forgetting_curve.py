"""Forgetting curve: strength falls as a power of time, not exponentially (Ebbinghaus 1885; Murre
& Dros 2015).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import curve_fit

from .harness.base import Above, Measures, Numbers, Probe, Within, mean
from .harness.life import SECOND, Life, Need
from .stimuli import Stimuli, sentence

DELAYS: Final = (1 / 3, 1.0, 8.8, 24.0, 48.0, 144.0, 744.0)  # h, Ebbinghaus' seven
ITEMS: Final = 40


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("forgetting_curve", seed)
    ids = life.tell_all([sentence(fact) for fact in s.facts(ITEMS)], apart=10 * SECOND)
    learnt, strengths = life.now, list[float]()
    for delay in DELAYS:
        life.until(learnt + delay)
        strengths.append(mean(np.exp(life.strength(ids))))
    curve = np.array(strengths)
    return {
        "R2 power": fitted(_power, curve),
        "R2 exponential": fitted(_exponential, curve),
        **{
            f"strength at {delay:.3g} h": value / strengths[0]
            for delay, value in zip(DELAYS, strengths, strict=True)
        },
    }


def fitted(form: Callable[..., Any], curve: NDArray[np.float64]) -> float:
    """Share of the variance that a curve of two parameters explains, least squares; NaN for a
    constant curve.
    """
    if not np.all(np.isfinite(curve)) or np.ptp(curve) <= 1e-9 * np.abs(curve).max():
        return math.nan
    scaled, times = curve / curve[0], np.array(DELAYS)
    found = []
    for start in ((1.0, 0.01), (1.0, 0.1), (0.5, 0.5)):
        try:
            (a, b), _ = curve_fit(form, times, scaled, p0=start, maxfev=5000)
        except RuntimeError:
            continue
        found.append(
            1.0
            - float(
                np.sum((scaled - form(times, a, b)) ** 2) / np.sum((scaled - scaled.mean()) ** 2)
            )
        )
    return max(found, default=math.nan)


def _power(t: NDArray[np.float64], a: float, b: float) -> Any:
    return a * t**-b


def _exponential(t: NDArray[np.float64], a: float, b: float) -> Any:
    return a * np.exp(-np.clip(b * t, -500.0, 500.0))


PROBES = (
    Probe(
        id="forgetting_curve/ebbinghaus",
        capability="Strength falls fast at first and slowly later, as a power of time.",
        source="murre2015replication",
        place="savings at seven delays; check 6.7",
        unit="share of variance; strength as a share of the first",
        protocol="40 facts, strength (exp of ACTIVATION + LOG_STRENGTH) after 20 min, 1, 8.8, 24, 48, 144 and 744 h; two least-squares fits.",
        band=(Within("R2 power", low=0.93), Above("R2 power", "R2 exponential")),
        matters=("base_level_activation", "consolidation_cascade"),
        sets=("default", "waking", "night", "everything"),
        needs=frozenset({Need.COLUMNS}),
        run=run,
        measures=Measures(columns=("activation", "log_strength")),
    ),
)
