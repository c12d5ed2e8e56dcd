"""Blocking: a cue that adds nothing to the prediction of a reward learns nothing (Rescorla &
Wagner 1972).
"""

from __future__ import annotations

from typing import Final

from ...engine.contract.vocabulary import PLASTICITY
from .harness.base import Above, Measures, Numbers, Probe, Ratio, mean
from .harness.life import MINUTE, Life, Need
from .stimuli import NAMES, Stimuli

TRIALS, CASES = 20, 3


def run(life: Life, seed: int) -> Numbers:
    s, numbers = (
        Stimuli("blocking", seed),
        dict[str, list[float]]({"A": [], "B, blocked": [], "B, control": []}),
    )
    for _ in range(CASES):
        a, b, other, stranger = s.draw(NAMES, 4)
        for kind, first in (("blocked", a), ("control", other)):
            memory = life.fresh()
            _trials(memory, first)
            _trials(memory, f"{a} and {b}")
            surprise = {name: _surprise(memory, name) for name in (a, b, stranger)}
            numbers[f"B, {kind}"].append(surprise[stranger] - surprise[b])
            if kind == "blocked":
                numbers["A"].append(surprise[stranger] - surprise[a])
    return {kind: mean(values) for kind, values in numbers.items()}


def _trials(life: Life, who: str) -> None:
    """A person, then a reward; each time in a session of its own."""
    for _ in range(TRIALS):
        _trial(life, who)


def _trial(life: Life, who: str) -> None:
    session = f"s{len(life.told)}"
    life.tell(f"{who} came by.", session=session, at=life.now + 10 * MINUTE)
    life.tell("It was wonderful.", session=session, at=life.now + MINUTE)


def _surprise(life: Life, who: str) -> float:
    """Factor on plasticity at a reward after one person: high if it was not predicted."""
    _trial(life, who)
    return float(life.column(PLASTICITY).item())


NEAR: Final = 0.3

PROBES = (
    Probe(
        id="blocking/ab",
        capability="A second cue learns little if the first one already predicts the reward.",
        source="rescorla1972theory",
        place="blocking; check DA-2",
        unit="1, PLASTICITY after a stranger's reward minus that after the cue's reward",
        protocol="A person is followed by a reward 20 times, then 20 times together with a second person; in the control another person comes first. How "
        "much less a reward with one person alone surprises than with a stranger: the value of the person. 3 cases.",
        band=(Above("B, control", "B, blocked"), Ratio("B, blocked", "B, control", high=NEAR)),
        matters=("dopamine",),
        sets=("waking", "everything"),
        needs=frozenset({Need.COLUMNS}),
        run=run,
        measures=Measures(columns=("plasticity",)),
    ),
)
