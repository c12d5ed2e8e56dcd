"""From the numbers of all seeds to a verdict: means with bootstrap intervals, and the claims of
the band.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .base import Above, Claim, Numbers, Probe, Ratio

FEWEST = 3  # seeds for an interval and a verdict
RESAMPLES = 10_000
# least share of the events told that are stored in an experiment that took place
STORED = 0.9
# temperatures of a readout that is fitted to numbers of people, standard deviations; a hotter one
# would make an effect that goes against people too small to be seen
COLDEST, HOTTEST = 0.05, 5.0


class ProbeVerdict(StrEnum):
    SHOWN = "shown"
    OUTSIDE = "outside"
    NOT_SHOWN = "not shown"
    NOT_APPLICABLE = "not applicable"
    REFUSED = "refused by a gate"
    ERROR = "error"
    NO_VERDICT = "no verdict"
    MEASURED = "measured"


MEANING: Mapping[ProbeVerdict, str] = {
    ProbeVerdict.SHOWN: "every claim of the band holds",
    ProbeVerdict.OUTSIDE: "a claim of the band does not hold",
    ProbeVerdict.NOT_SHOWN: "a number of the band is not defined, or nothing that the band compares differs in any seed",
    ProbeVerdict.NOT_APPLICABLE: "the system lacks what the experiment needs",
    ProbeVerdict.REFUSED: "the effect is not shown, and gates stored fewer than 9 in 10 of the events told, so that the experiment did not take place; "
    "counts as failing",
    ProbeVerdict.ERROR: "a call of the memory failed",
    ProbeVerdict.NO_VERDICT: f"fewer than {FEWEST} seeds",
    ProbeVerdict.MEASURED: "the probe has no band",
}


@dataclass(frozen=True, slots=True)
class SeedEstimate:
    """Mean over the seeds in which a number is defined, with the 95% percentile bootstrap interval
    over seeds.

    low, high  NaN with fewer than 3 seeds
    n          seeds in which it is defined
    """

    mean: float
    low: float
    high: float
    n: int


def estimate(values: ArrayLike) -> SeedEstimate:
    """Mean and interval of one number per seed; values that are not finite are left out.  The same
    values give the same interval.

    >>> estimate([0.5, 0.5, 0.5])
    SeedEstimate(mean=0.5, low=0.5, high=0.5, n=3)
    >>> estimate([1.0, 2.0, math.nan])
    SeedEstimate(mean=1.5, low=nan, high=nan, n=2)
    """
    known = np.asarray(values, np.float64)
    known = known[np.isfinite(known)]
    mean = float(known.mean()) if known.size else math.nan
    if known.size < FEWEST:
        return SeedEstimate(mean, math.nan, math.nan, known.size)
    low, high = np.quantile(known[_draws(known.size)].mean(axis=1), (0.025, 0.975))
    return SeedEstimate(mean, float(low), float(high), known.size)


def ratio(first: ArrayLike, second: ArrayLike) -> SeedEstimate:
    """Ratio of two means of paired numbers; NaN if the second mean is 0 in the data, and its
    interval over the resamples where it is not.

    >>> ratio([1.0, 3.0, 2.0], [0.5, 1.5, 1.0]).mean
    2.0
    """
    a, b = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if not b.size or not b.mean():
        return SeedEstimate(math.nan, math.nan, math.nan, b.size)
    mean = float(a.mean() / b.mean())
    if b.size < FEWEST:
        return SeedEstimate(mean, math.nan, math.nan, b.size)
    draws = _draws(b.size)
    below = b[draws].mean(axis=1)
    low, high = np.quantile(
        a[draws].mean(axis=1)[below != 0.0] / below[below != 0.0], (0.025, 0.975)
    )
    return SeedEstimate(mean, float(low), float(high), b.size)


def _draws(n: int) -> NDArray[np.int64]:
    return np.random.default_rng(0).integers(n, size=(RESAMPLES, n))


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    """A claim of the band with the estimate that it is about."""

    text: str
    estimate: SeedEstimate
    holds: bool


@dataclass(frozen=True, slots=True)
class ProbeOutcome:
    """What one probe found.

    why    message of the first error, what the system lacks, or why the effect is not shown; ""
    told, stored  events told in all seeds, and those that no gate refused; 0 where this is not
                  known
    seeds  of the cells, in order
    """

    probe: Probe
    verdict: ProbeVerdict
    numbers: Mapping[str, SeedEstimate]
    claims: tuple[JudgedClaim, ...] = ()
    why: str = ""
    seeds: tuple[int, ...] = ()
    stimuli: tuple[str, ...] = field(default=())
    told: int = 0
    stored: int = 0


def judge(probe: Probe, rows: Sequence[Mapping[str, object]]) -> ProbeOutcome:
    """The outcome of a probe from its rows, one for each seed."""
    seeds, stimuli = (
        tuple(int(str(row["seed"])) for row in rows),
        tuple(str(row["stimuli"]) for row in rows),
    )
    if missing := next((str(row["missing"]) for row in rows if row["missing"]), ""):
        return ProbeOutcome(
            probe, ProbeVerdict.NOT_APPLICABLE, {}, why=f"the system lacks: {missing}", seeds=seeds
        )
    if message := next((f"seed {row['seed']}: {row['error']}" for row in rows if row["error"]), ""):
        return ProbeOutcome(
            probe, ProbeVerdict.ERROR, {}, why=message, seeds=seeds, stimuli=stimuli
        )
    of_seeds: list[Numbers] = [_floats(row["numbers"]) for row in rows]
    names = dict.fromkeys(name for numbers in of_seeds for name in numbers)
    estimates = {
        name: estimate([numbers.get(name, math.nan) for numbers in of_seeds]) for name in names
    }
    claims = tuple(_judged(claim, of_seeds) for claim in probe.band)
    verdict, why = _verdict(probe, of_seeds, estimates, claims)
    told, stored = (sum(int(str(row.get(name, 0))) for row in rows) for name in ("told", "stored"))
    if (
        verdict in (ProbeVerdict.OUTSIDE, ProbeVerdict.NOT_SHOWN)
        and not probe.of_gates
        and stored < STORED * told
    ):
        verdict, why = ProbeVerdict.REFUSED, f"{stored} of {told} events stored; {verdict}: {why}"
    return ProbeOutcome(probe, verdict, estimates, claims, why, seeds, stimuli, told, stored)


def _floats(numbers: object) -> Numbers:
    """Numbers of a row, where None is a number that is not defined."""
    assert isinstance(numbers, Mapping)
    return {
        str(name): math.nan if value is None else float(value) for name, value in numbers.items()
    }


def _judged(claim: Claim, of_seeds: Sequence[Numbers]) -> JudgedClaim:
    if isinstance(claim, Ratio):
        measured = ratio(
            [numbers[claim.first] for numbers in of_seeds],
            [numbers[claim.second] for numbers in of_seeds],
        )
    else:
        measured = estimate([claim.value(numbers) for numbers in of_seeds])
    defined = not math.isnan(measured.low)
    return JudgedClaim(
        claim.text, measured, defined and claim.holds(measured.mean, measured.low, measured.high)
    )


def _verdict(
    probe: Probe,
    seeds: Sequence[Numbers],
    estimates: Mapping[str, SeedEstimate],
    claims: Sequence[JudgedClaim],
) -> tuple[ProbeVerdict, str]:
    if not probe.band:
        return ProbeVerdict.MEASURED, ""
    if len(seeds) < FEWEST:
        return ProbeVerdict.NO_VERDICT, MEANING[ProbeVerdict.NO_VERDICT]
    named = dict.fromkeys(name for claim in probe.band for name in claim.names)
    if undefined := [
        f"{name} in {len(seeds) - estimates[name].n} of {len(seeds)} seeds"
        for name in named
        if estimates[name].n < len(seeds)
    ]:
        return ProbeVerdict.NOT_SHOWN, f"not defined: {', '.join(undefined)}"
    compared = [claim for claim in probe.band if isinstance(claim, Above)]
    if compared and all(claim.value(numbers) == 0.0 for claim in compared for numbers in seeds):
        return ProbeVerdict.NOT_SHOWN, "nothing that the band compares differs in any seed"
    if failing := [claim.text for claim in claims if not claim.holds]:
        return ProbeVerdict.OUTSIDE, f"does not hold: {'; '.join(failing)}"
    return ProbeVerdict.SHOWN, ""
