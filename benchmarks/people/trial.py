"""What single mechanisms do to the distance from people: a set with and without each, the readout
fitted to each anew.

The change is ln(distance with) - ln(distance without), so below 0 the mechanism brings the set nearer
to people.  Its mean and its interval are those of resamples, and paired: both memories are resampled
with the same simulated people and compared with the same draw of the human numbers.  So it is the
change of the distance to another sample of as many people, and a difference that is small beside the
errors of the human numbers stays small.

Intervals hold for all mechanisms of a set in a paradigm at once: each is from the same quantile of its
resamples to the opposite one, so far out that as many resamples as the level says lie within all of
them (Beran 1988, Balanced simultaneous confidence sets, J Am Stat Assoc 83, 679-686).
Resamples of all mechanisms are paired, so mechanisms whose changes go together cost less than their
number.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from ...reporting.text import signed
from ..probes.harness.bands import SeedEstimate
from .effects import as_people
from .scores import LEVEL

if TYPE_CHECKING:  # studies import scipy, which a card of shipped rows does not need
    from .list_study import ListReport
    from .printed_study import PrintedReport

    Report = ListReport | PrintedReport

Floats = NDArray[np.float64]
MARGIN: Final = math.log(1.05)  # changes by less than a twentieth are none
EVERY: Final = "all scored"  # the mean over paradigms
ALL: Final = "all"  # mechanisms
SHIPPED: Final = Path(__file__).parent / "on_trial.json"  # written by docs/tools/people_results.py
STILL: Final = 1e-12  # standard deviation of a change that resamples do not move


class TrialVerdict(StrEnum):
    NEARER = "brings nearer"
    FARTHER = "takes away"
    NONE = "no effect"
    UNDECIDED = "undecided"
    UNKNOWN = "not scored"


@dataclass(frozen=True, slots=True)
class OnTrial:
    """An arm that lacks a mechanism of a set."""

    set: str
    mechanism: str

    @property
    def arm(self) -> str:
        return f"{self.set} without {self.mechanism}"


@dataclass(frozen=True, slots=True)
class TrialRow:
    """What a mechanism does in one paradigm.

    change  of the log distance, with its paired interval; NaN where there is no distance
    gained  effects that are as people with it and not without it
    lost    effects that are as people without it and not with it
    """

    set: str
    mechanism: str
    paradigm: str
    change: SeedEstimate
    verdict: TrialVerdict
    gained: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()


def verdict_of(change: SeedEstimate) -> TrialVerdict:
    """What an interval shows; a change within the margin comes first.

    >>> str(verdict_of(SeedEstimate(-0.3, -0.4, -0.2, 8)))
    'brings nearer'
    """
    if math.isnan(change.mean):
        return TrialVerdict.UNKNOWN
    if change.low >= -MARGIN and change.high <= MARGIN:
        return TrialVerdict.NONE
    if change.high < 0.0:
        return TrialVerdict.NEARER
    return TrialVerdict.FARTHER if change.low > 0.0 else TrialVerdict.UNDECIDED


def tried(reports: Sequence[Report], trials: Sequence[OnTrial]) -> tuple[TrialRow, ...]:
    """A row for each mechanism and paradigm, and one for the mean over all scored paradigms if
    there are several; each interval holds for all mechanisms of its set and paradigm at once.
    """
    rows, changes = list[TrialRow](), list[Floats]()
    for trial in trials:
        scored = list[Floats]()
        for report in reports:
            by_name: Mapping[str, Any] = {row.name: row for row in report.rows}
            whole, without = by_name.get(trial.set), by_name.get(trial.arm)
            if whole is None or without is None:
                continue
            paired = _paired(whole, without)
            if len(paired):
                scored.append(paired)
            shown, left = as_people(whole.effects), as_people(without.effects)
            gained = tuple(name for name in shown if name not in left)
            lost = tuple(name for name in left if name not in shown)
            rows.append(_row(trial, report.id, paired, whole.score.n, gained, lost))
            changes.append(paired)
        if len(reports) > 1:
            mean = np.mean(scored, axis=0) if scored else np.empty(0)
            rows.append(_row(trial, EVERY, mean, len(scored)))
            changes.append(mean)
    families: dict[tuple[str, str], list[int]] = {}
    for place, row in enumerate(rows):
        families.setdefault((row.set, row.paradigm), []).append(place)
    for family in families.values():
        known = [place for place in family if len(changes[place])]
        intervals = simultaneous([changes[place] for place in known])
        for place, (low, high) in zip(known, intervals, strict=True):
            row = rows[place]
            change = SeedEstimate(row.change.mean, low, high, row.change.n)
            rows[place] = replace(row, change=change, verdict=verdict_of(change))
    return tuple(rows)


def simultaneous(family: Sequence[Floats]) -> list[tuple[float, float]]:
    """Intervals of the changes of a family, which hold for all of them at once.

    family  (resamples,) each, in one order of resamples

    Of one change it is the interval of its own quantiles.  A change that no resample moves is its
    own interval, and widens no other.

    >>> moved = np.linspace(-1.0, 1.0, 401)
    >>> [(round(low, 2), round(high, 2)) for low, high in simultaneous([moved, 2.0 * moved, np.ones(401)])]
    [(-0.95, 0.95), (-1.9, 1.9), (1.0, 1.0)]
    """
    depths = [_depths(changes) for changes in family if float(changes.std()) > STILL]
    tail = float(np.quantile(np.min(depths, axis=0), 1.0 - LEVEL)) if depths else 0.0
    return [
        (float(np.quantile(changes, tail)), float(np.quantile(changes, 1.0 - tail)))
        for changes in family
    ]


def _depths(changes: Floats) -> Floats:
    """Share of resamples beyond each, on its own side, 0 to 1/2."""
    ranks = np.empty(len(changes))
    ranks[np.argsort(changes, kind="stable")] = np.arange(len(changes))
    depths: Floats = np.minimum(ranks, len(changes) - 1 - ranks) / (len(changes) - 1)
    return depths


def _row(
    trial: OnTrial,
    paradigm: str,
    paired: Floats,
    n: int,
    gained: tuple[str, ...] = (),
    lost: tuple[str, ...] = (),
) -> TrialRow:
    """A row without its interval."""
    mean = float(paired.mean()) if len(paired) else math.nan
    change = SeedEstimate(mean, math.nan, math.nan, n)
    return TrialRow(
        trial.set, trial.mechanism, paradigm, change, TrialVerdict.UNKNOWN, gained, lost
    )


def _paired(whole: Any, without: Any) -> Floats:
    """The change of the log distance in each resample; empty where one of them has no distance."""
    if len(whole.samples) != len(without.samples):
        return np.empty(0)
    with np.errstate(divide="ignore", invalid="ignore"):
        paired: Floats = np.log(whole.samples) - np.log(without.samples)
    return paired if np.isfinite(paired).all() else np.empty(0)


HEADS: Final = ("set", "mechanism", "paradigm", "change of log distance", "", "gained", "lost")
CARD_HEADS: Final = (HEADS[0], *HEADS[2:])


def lines_of(rows: Sequence[TrialRow]) -> list[tuple[str, ...]]:
    """A row of cells for each."""
    return [
        (
            row.set,
            row.mechanism,
            row.paradigm,
            "-"
            if math.isnan(row.change.mean)
            else f"{signed(row.change.mean)} [{signed(row.change.low)}, {signed(row.change.high)}]",
            str(row.verdict),
            ", ".join(row.gained),
            ", ".join(row.lost),
        )
        for row in rows
    ]


@cache
def shipped() -> tuple[TrialRow, ...]:
    """What was measured of mechanisms and ships with the package, set by set."""
    rows = json.loads(SHIPPED.read_text(encoding="utf-8"))
    return tuple(
        TrialRow(
            row["set"],
            row["mechanism"],
            row["paradigm"],
            SeedEstimate(**row["change"]),
            TrialVerdict(row["verdict"]),
            tuple(row["gained"]),
            tuple(row["lost"]),
        )
        for row in rows
    )


def beside_people(mechanism: str) -> list[TrialRow]:
    """What shipped measurements say of a mechanism."""
    return [row for row in shipped() if row.mechanism == mechanism]


def card_lines(rows: Sequence[TrialRow]) -> list[tuple[str, ...]]:
    """Cells of CARD_HEADS: rows of one mechanism."""
    return [(line[0], *line[2:]) for line in lines_of(rows)]
