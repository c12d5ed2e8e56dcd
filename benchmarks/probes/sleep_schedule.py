"""Sleep schedule: without disturbance a night of eight hours every 24 h; after lost nights a
longer one (Borbely 1982; Daan et al. 1984).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ...engine.contract.vocabulary import SLEEP_END, SLEEP_ONSET
from .harness.base import Above, Measures, Numbers, Probe, Within, mean
from .harness.life import DAY, Life, Need
from .stimuli import Stimuli, sentence

DAYS, SETTLED, LOST = 14, 5, 3
APART: Final = 0.75  # h between the things that keep it awake


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("sleep_schedule", seed)
    life.tell(sentence(s.facts(1)[0]))
    nights = [_night(life) for _ in range(DAYS)]
    settled = np.array(nights[SETTLED:])
    period, sleep = mean(np.diff(settled[:, 0])), mean(settled[:, 1] - settled[:, 0])
    onset, _ = _scheduled(life)
    if not np.isfinite(onset):
        return dict.fromkeys(("period", "sleep", "wake", "sleep after lost nights"), np.nan)
    awake = [*map(sentence, s.facts(60)), *s.chatter(60)][: round(LOST * DAY / APART)]
    life.tell_all(awake, apart=APART, at=max(onset, life.now))
    onset, end = _night(life)
    return {
        "period": period,
        "sleep": sleep,
        "wake": period - sleep,
        "sleep after lost nights": end - onset,
    }


def _scheduled(life: Life) -> tuple[float, float]:
    """Onset and end of the next sleep, h; NaN without a schedule."""
    return float(life.column(SLEEP_ONSET).item()), float(life.column(SLEEP_END).item())


def _night(life: Life) -> tuple[float, float]:
    """Sleep once, undisturbed.  Onset and end, h."""
    scheduled = _scheduled(life)
    life.sleep()
    return scheduled


PROBES = (
    Probe(
        id="sleep_schedule/two_process",
        capability="Sleep comes every 24 h and lasts eight; lost nights are made up for.",
        source="daan1984timing",
        place="two-process model; checks 9.5 and 9.6",
        unit="h",
        protocol="One fact and 14 idle days; period, sleep and wake of the last 9. Then 3 nights and days "
        "with something new every 45 min, and the sleep after them.",
        band=(
            Within("period", 23.9, 24.1),
            Within("sleep", 7.8, 8.0),
            Within("wake", 16.0, 16.2),
            Above("sleep after lost nights", "sleep"),
        ),
        bounds="the undisturbed rhythm of the model at its numbers, checks 9.5 and 9.6",
        matters=("sleep_pressure",),
        sets=("night", "everything"),
        needs=frozenset({Need.COLUMNS, Need.SLEEP}),
        run=run,
        measures=Measures(columns=("sleep_end", "sleep_onset")),
    ),
)
