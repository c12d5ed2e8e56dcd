"""Every published number of the source systems, judged: reproduced, not reproduced, or not
comparable.

A number that follows from other printed ones is recomputed from them.  A measured one is compared
with a shipped result of ours if no setting differs; else it is not comparable, and the settings
that differ are named beside our number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean, median
from typing import Final

from scipy.stats import binomtest, chi2_contingency

from ...engine.catalogue.registry import Registry
from ...reporting.claims import (
    OF_ANSWERS,
    SCALE,
    ClaimTable,
    MeasuredResult,
    PublishedNumber,
    differing,
    measured_results,
    our_setting,
    published_numbers,
)
from .. import ratings
from ..rating import Rating, earned
from . import SourceSystem
from .compared import ComparedClaim

ELSEWHERE: Final = "nothing here measures it"
UNPAIRED: Final = (
    "the test is not named and its counts are not printed; ours takes the questions for unpaired"
)


NO_INTERVAL: Final = "no setting differs, but ours has no interval by category"


class ClaimVerdict(StrEnum):
    """What became of a claim."""

    REPRODUCED = "reproduced"
    NOT_REPRODUCED = "not reproduced"
    NOT_COMPARABLE = "not comparable"


@dataclass(frozen=True, slots=True)
class ReproducedClaim:
    """A claim of a source system and what became of it.

    what      what is claimed, and where
    claimed   the number or the rating, as printed
    ours      what was recomputed or measured, or the rating that was derived; "" for nothing
    why       by what it was judged, or which settings differ
    """

    system: str
    place: str
    what: str
    claimed: str
    ours: str
    verdict: ClaimVerdict
    why: str

    def named(self) -> dict[str, str]:
        """As plain values."""
        return {
            "system": self.system, "place": self.place, "what": self.what, "claimed": self.claimed,
            "ours": self.ours, "verdict": str(self.verdict), "why": self.why,
        }  # fmt: skip


RULES: Final[Mapping[str, Callable[[Sequence[float], Sequence[float]], float]]] = {
    "sum": lambda x, _: sum(x),
    "difference": lambda x, _: x[0] - x[1],
    "mean": lambda x, _: fmean(x),
    "weighted mean": fmean,
    "ratio": lambda x, _: x[0] / x[1],
    "percent": lambda x, _: 100.0 * x[0] / x[1],
    "gain": lambda x, _: 100.0 * (x[0] / x[1] - 1.0),
    "reduction": lambda x, _: 100.0 * (1.0 - x[0] / x[1]),
    "positive": lambda x, _: float(sum(value > 0 for value in x)),
    # exp(-t / a) is a half where t = a ln 2
    "half-life": lambda x, _: x[0] * 0.6931471805599453,
}
SCOPES: Final[Mapping[str, Callable[[Sequence[float]], float]]] = {
    "best": max,
    "worst": min,
    "mean": fmean,
    "median": median,
    "spread": lambda x: max(x) - min(x),
}


def judged_numbers(
    registry: Registry,
    numbers: Sequence[PublishedNumber] | None = None,
    measured: Sequence[MeasuredResult] | None = None,
) -> tuple[ReproducedClaim, ...]:
    """Every number of the register, in its order.  O(numbers x results)."""
    held = published_numbers() if numbers is None else tuple(numbers)
    results = measured_results() if measured is None else tuple(measured)
    again = _recomputed(held)
    return tuple(
        _by_arithmetic(number, *again[place])
        if place in again
        else _by_measurement(number, registry, results)
        for place, number in enumerate(held)
    )


def _recomputed(numbers: Sequence[PublishedNumber]) -> dict[int, tuple[float, str]]:
    """Place of a number -> (its value from other printed ones, by what)."""
    answers: dict[int, tuple[float, str]] = {}
    by_row: dict[tuple[int, str], dict[str, tuple[int, float]]] = {}
    for place, number in enumerate(numbers):
        by_row.setdefault((id(number.table), number.label), {})[number.metric] = (
            place,
            number.value,
        )
        if number.derived is not None:
            rule = number.derived.rule
            value = RULES[rule](number.derived.numbers, number.derived.weights)
            answers[place] = (value, f"{rule} of printed numbers")
    tables = {id(n.table): n.table for n in numbers}
    before: tuple[int, str] | None = None
    for (table, label), row in by_row.items():
        if "correct" in row:
            n = int(row["n"][1]) if "n" in row else tables[table].n
            answers |= _of_counts(row, int(row["correct"][1]), n)
            last = by_row[before] if before and before[0] == table else {}
            if "chi squared" in row and "correct" in last:
                both = [[r["correct"][1], n - r["correct"][1]] for r in (row, last)]
                statistic = float(chi2_contingency(both, correction=False).statistic)
                answers[row["chi squared"][0]] = (statistic, UNPAIRED)
        before = (table, label)
    cells = [n for n in numbers if n.table.rows_are == "cell" and n.metric == "accuracy"]
    for place, number in enumerate(numbers):
        if number.table.rows_are == "scope" and cells:
            first = number.label.partition(",")[0]
            scope = [c.value for c in cells if c.label.startswith(f"{first},")] or [
                c.value for c in cells
            ]
            answers[place] = (SCOPES[number.metric](scope), f"the {len(scope)} printed cells")
    return answers


def _of_counts(
    row: Mapping[str, tuple[int, float]], right: int, n: int
) -> Iterator[tuple[int, tuple[float, str]]]:
    """Accuracy and Wilson interval, in percent, of the printed count."""
    interval = binomtest(right, n).proportion_ci(0.95, method="wilson")
    for metric, value in (("accuracy", right / n), ("low", interval.low), ("high", interval.high)):
        if metric in row:
            yield row[metric][0], (100.0 * float(value), f"{right:,} of {n:,}, Wilson 95%")


def _decimals(number: PublishedNumber) -> int:
    """Printed decimals; a trailing zero is not kept as one, so there is one at least."""
    decimals = len(f"{number.value!r}".partition(".")[2]) if number.value % 1 else 0
    return max(decimals, 0 if number.unit == "count" else 1)


def _same(number: PublishedNumber, value: float) -> bool:
    """Whether a value in the unit of the number is equal to half a unit of its last decimal."""
    return abs(value - number.value) <= 0.5 * 10.0 ** -_decimals(number) + 1e-9


def _by_arithmetic(number: PublishedNumber, value: float, by: str) -> ReproducedClaim:
    verdict = ClaimVerdict.REPRODUCED if _same(number, value) else ClaimVerdict.NOT_REPRODUCED
    if by == UNPAIRED:
        verdict = ClaimVerdict.NOT_COMPARABLE
    return _judged(number, f"{value:.{_decimals(number) + 1}f}", verdict, by)


def _by_measurement(
    number: PublishedNumber, registry: Registry, results: Sequence[MeasuredResult]
) -> ReproducedClaim:
    arm = "" if number.arm == "full" else number.arm
    for result in results:
        if (result.set, result.arm, result.dataset) != (number.set, arm, number.table.dataset):
            continue
        values = _measured(number, result)
        if values is None or number.table.parameter:
            continue
        known = registry.sets.get(result.set)
        ours = our_setting(
            result.set,
            known.summary if known else "",
            result.mechanisms,
            result.dataset,
            result.n,
            result.embedder,
            sessions=result.sessions,
            conversations=result.conversations,
            arm=result.arm,
        )
        said = f"{values[0]:.4f}" + (
            f" [{values[1]:.4f}, {values[2]:.4f}]" if values[1] < values[2] else ""
        )
        if other := differing(number, ours):
            return _judged(number, said, ClaimVerdict.NOT_COMPARABLE, "; ".join(other))
        if number.category:
            return _judged(number, said, ClaimVerdict.NOT_COMPARABLE, NO_INTERVAL)
        if values[1] < values[2]:
            inside, by = values[1] <= number.share <= values[2], "our 95% interval"
        else:
            inside = _same(number, values[0] / SCALE.get(number.unit, 1.0))
            by = "our value, to the printed decimals"
        verdict = ClaimVerdict.REPRODUCED if inside else ClaimVerdict.NOT_REPRODUCED
        return _judged(number, said, verdict, by)
    return _judged(number, "", ClaimVerdict.NOT_COMPARABLE, _why_not(number))


def _measured(number: PublishedNumber, result: MeasuredResult) -> tuple[float, float, float] | None:
    if number.category:
        value = result.categories.get(number.category, {}).get(number.ours)
        return None if value is None else (value, value, value)
    return result.overall.get(number.ours)


def _why_not(number: PublishedNumber) -> str:
    table: ClaimTable = number.table
    if number.ours in OF_ANSWERS:
        return f"needs the reader {table.reader} and the judge {table.judge}"
    if table.parameter:
        return f"a sweep: `hebbarium ablate` of {table.parameter} draws it beside ours"
    if not number.set:
        return f"of another system: {ELSEWHERE}"
    return ELSEWHERE + (
        f" on {table.dataset} at {table.scale}"
        if table.scale
        else f" on {table.dataset}"
        if table.dataset
        else ""
    )


def _judged(number: PublishedNumber, ours: str, verdict: ClaimVerdict, why: str) -> ReproducedClaim:
    table = number.table
    first = table.rows and (number.label, number.metric) == (
        str(table.rows[0][0]),
        next(iter(table.units)),
    )
    note = table.note if first else ""
    return ReproducedClaim(
        number.system,
        number.table.place,
        f"{number.label}: {number.metric}"
        + (f" on {number.table.dataset}" if number.table.dataset else ""),
        f"{number.value:g} {number.unit}",
        ours,
        verdict,
        f"{why}{f' ({note})' if note else ''}",
    )


def judged_ratings(
    system: SourceSystem, judged: Mapping[str, ComparedClaim] | None = None
) -> tuple[ReproducedClaim, ...]:
    """The claims in words of a system, by the ratings that ship with the package.

    judged  module -> its claim as an audit of the claim's own checks judged it, in place of the
            shipped rating of the whole form
    """
    shipped, claims = ratings.shipped(), []
    for claim in system.claims:
        run = (judged or {}).get(claim.module)
        derived = str(run.derived) if run and run.derived else shipped.get(claim.variety, "")
        if not derived:
            verdict, why = ClaimVerdict.NOT_COMPARABLE, claim.why_none or "was not audited"
        elif claim.claimed in Rating.__members__:
            holds = earned(Rating(claim.claimed), Rating(derived))
            verdict = ClaimVerdict.REPRODUCED if holds else ClaimVerdict.NOT_REPRODUCED
            why = f"evidence on {claim.variety}" + (
                f", {', '.join(claim.checks)} alone" if claim.checks and run else ""
            )
        else:
            verdict = ClaimVerdict.NOT_COMPARABLE
            why = f"claims no rating of ours; {claim.variety} has the one beside it"
        claims.append(
            ReproducedClaim(
                system.name, claim.place, claim.module, claim.claimed, derived, verdict, why
            )
        )
    return tuple(claims)
