"""Effects: differences that an experiment is known for, and whether a memory shows them as people do."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from ..probes.harness.bands import SeedEstimate

MARGIN: Final = 0.1  # of the effect of people
LEAST: Final = 0.02  # margin of an effect of unknown size


class EffectVerdict(StrEnum):
    """What the interval of an effect over simulated people shows; the first that holds.

    NONE       the interval is within the margin
    AS_PEOPLE  the interval has the sign of people, and the mean is above the margin
    AGAINST    the interval has the other sign, and the mean is beyond the margin
    UNDECIDED  anything else, or no interval
    """

    AS_PEOPLE = "as people"
    AGAINST = "against people"
    NONE = "no effect"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class EffectSize:
    """An effect in a memory, and whether it goes as in people.

    size  above 0 where it has the sign of people
    """

    size: SeedEstimate
    verdict: EffectVerdict


def judged(size: SeedEstimate, people: float) -> EffectSize:
    """An effect with its verdict.

    people  the effect of people, above 0; 0 where its size is not known

    >>> str(judged(SeedEstimate(0.3, 0.2, 0.4, 8), 0.5).verdict)
    'as people'
    >>> str(judged(SeedEstimate(0.03, 0.02, 0.04, 8), 0.5).verdict)
    'no effect'
    """
    margin = MARGIN * people if people > 0.0 else LEAST
    if not math.isfinite(size.low):
        verdict = EffectVerdict.UNDECIDED
    elif -margin <= size.low and size.high <= margin:
        verdict = EffectVerdict.NONE
    elif size.low > 0.0 and size.mean > margin:
        verdict = EffectVerdict.AS_PEOPLE
    elif size.high < 0.0 and size.mean < -margin:
        verdict = EffectVerdict.AGAINST
    else:
        verdict = EffectVerdict.UNDECIDED
    return EffectSize(size, verdict)


def as_people(effects: Mapping[str, EffectSize]) -> tuple[str, ...]:
    """The names of the effects that are as in people."""
    return tuple(n for n, e in effects.items() if e.verdict is EffectVerdict.AS_PEOPLE)


def shown_of(effects: Mapping[str, EffectSize]) -> str:
    """How many effects are as in people, of how many."""
    return f"{len(as_people(effects))}/{len(effects)}"
