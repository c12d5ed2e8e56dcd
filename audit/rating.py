"""The rating of a mechanism, derived from its check results."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum

from .checks import CheckKind, CheckResult, Score
from .facts import FactKind, RatingFact

FEWEST = 3  # gating checks that must pass for FAITHFUL, one of them an equation


class Rating(StrEnum):
    """How far a mechanism computes what its paper says, strongest first; `>` means stronger."""

    FAITHFUL = "FAITHFUL"  # computes what the paper says
    DOCUMENTED = "DOCUMENTED"  # computes the paper's equations, with declared limits
    HONEST = "HONEST"  # claims no paper's equation
    APPROXIMATION = "APPROXIMATION"  # something it claims does not hold

    @property
    def strength(self) -> int:
        return 3 - list(Rating).index(self)

    # A StrEnum would compare as text, alphabetically.
    def __lt__(self, other: str) -> bool:
        return self.strength < Rating(other).strength

    def __le__(self, other: str) -> bool:
        return self.strength <= Rating(other).strength

    def __gt__(self, other: str) -> bool:
        return self.strength > Rating(other).strength

    def __ge__(self, other: str) -> bool:
        return self.strength >= Rating(other).strength


@dataclass(frozen=True, slots=True)
class RatingVerdict:
    """A rating with its grounds.

    reasons     why this rating, one sentence each
    raise_by    what would raise it
    lowered_by  check ids and subjects of facts that keep it from FAITHFUL
    stands_on   ids of the gating checks that pass; if one of them failed, the rating would be
                APPROXIMATION
    """

    rating: Rating
    reasons: tuple[str, ...]
    raise_by: tuple[str, ...] = ()
    lowered_by: tuple[str, ...] = ()
    stands_on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ground:
    """One reason for a rating below FAITHFUL."""

    reason: str
    cure: str
    by: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """The input of a rating."""

    results: Sequence[CheckResult]
    claims_equation: bool
    facts: Sequence[RatingFact]

    @property
    def gating(self) -> list[CheckResult]:
        return [r for r in self.results if r.check.gates]

    @property
    def passed(self) -> list[CheckResult]:
        return [r for r in self.gating if r.score is Score.PASS]

    def passing(self, *kinds: CheckKind) -> int:
        return sum(r.check.kind in kinds for r in self.passed)


def _broken(case: Case) -> list[Ground]:
    """Gating checks that do not pass: first those that failed, then those that could not be
    measured.

    Of checks that were not run, equations and limits count only.
    """
    strict = (CheckKind.EQUATION, CheckKind.LIMIT)
    short = [
        r
        for r in case.gating
        if r.score is not Score.PASS and (r.check.kind in strict or r.score is not Score.NOT_RUN)
    ]
    return [
        Ground(
            f"{r.check.kind} {r.check.id} {_said(r)}",
            f"make {r.check.id} pass" if r.score.complete else f"make {r.check.id} run",
            r.check.id,
        )
        for r in sorted(short, key=lambda r: not r.score.complete)
    ]


def _unshown(case: Case) -> list[Ground]:
    if all(r.check.kind is CheckKind.STATIC for r in case.passed):
        return [Ground("nothing was measured", "write evidence")]
    if case.claims_equation and not case.passing(CheckKind.EQUATION):
        return [
            Ground(
                "claims a paper's equation, but no equation check shows it",
                "add an @equation check",
            )
        ]
    return []


def _unclaimed(case: Case) -> list[Ground]:
    if case.claims_equation:
        return []
    uncounted = [
        Ground(f.what, f.cure, f.about)
        for f in case.facts
        if f.kind in (FactKind.NOT_PRINTED, FactKind.LIBRARY)
    ]
    return [
        Ground("claims no paper's equation", "claim an equation of a paper and measure it"),
        *uncounted,
    ]


def _limited(case: Case) -> list[Ground]:
    shown = case.passing(
        CheckKind.EQUATION,
        CheckKind.LIMIT,
        CheckKind.DATA,
        CheckKind.REFERENCE,
        CheckKind.SIGNATURE,
    )
    return [
        *(
            Ground(
                f"{r.check.kind} {r.check.id} is {r.note}",
                f"bring {r.check.id} into scope",
                r.check.id,
            )
            for r in case.results
            if r.check.scope
        ),
        *(
            Ground(f"{r.check.kind} {r.check.id} {_said(r)}", f"run {r.check.id}", r.check.id)
            for r in case.gating
            if r.score is Score.NOT_RUN
        ),
        *(Ground(f.what, f.cure, f.about) for f in case.facts),
        *(
            [
                Ground(
                    f"only {shown} checks of the paper pass, FAITHFUL needs {FEWEST}", "add checks"
                )
            ]
            if shown < FEWEST
            else []
        ),
    ]


# The rule table: the first row with a ground decides; without a ground the rating is FAITHFUL.
RULES: tuple[tuple[Rating, Callable[[Case], list[Ground]]], ...] = (
    (Rating.APPROXIMATION, _broken),  # a gating check fails, errs or cannot be tested
    (Rating.APPROXIMATION, _unshown),  # a claim without a measurement
    (Rating.HONEST, _unclaimed),  # all passes, no equation of a paper counts as claimed
    (
        Rating.DOCUMENTED,
        _limited,
    ),  # all passes, with a fact that lowers, something out of scope, or little evidence
)

# A claim is earned by these derived ratings; HONEST is a separate kind, not a step between the
# others.
EARNED_BY: dict[Rating, tuple[Rating, ...]] = {
    Rating.FAITHFUL: (Rating.FAITHFUL,),
    Rating.DOCUMENTED: (Rating.FAITHFUL, Rating.DOCUMENTED),
    Rating.HONEST: (Rating.FAITHFUL, Rating.DOCUMENTED, Rating.HONEST),
    Rating.APPROXIMATION: (Rating.FAITHFUL, Rating.DOCUMENTED, Rating.APPROXIMATION),
}


def derive(
    results: Sequence[CheckResult], *, claims_equation: bool, facts: Sequence[RatingFact] = ()
) -> RatingVerdict:
    """The rating that check results and facts support.  Pure; checks marked `warn` do not count.

    claims_equation  whether an equation of a paper counts as claimed, see `facts.claimed`
    facts            what lowers FAITHFUL to DOCUMENTED
    """
    case = Case(results, claims_equation, facts)
    stands_on = tuple(r.check.id for r in case.passed)
    for rating, rule in RULES:
        if grounds := rule(case):
            lowered = tuple(g.by for g in grounds if g.by)
            return RatingVerdict(
                rating,
                tuple(g.reason for g in grounds),
                tuple(g.cure for g in grounds),
                lowered,
                stands_on,
            )
    equations = case.passing(CheckKind.EQUATION)
    reason = f"all {len(case.passed)} gating checks pass, {equations} of them equations"
    return RatingVerdict(Rating.FAITHFUL, (reason,), stands_on=stands_on)


def divided(
    results: Sequence[CheckResult], cited: Collection[str]
) -> tuple[tuple[CheckResult, ...], tuple[CheckResult, ...]]:
    """Results that count for a form whose source cites these papers (keys), and the others:
    checks of papers of which it cites none.
    """
    counts = [not r.check.papers or not set(r.check.papers).isdisjoint(cited) for r in results]
    return tuple(r for r, c in zip(results, counts, strict=True) if c), tuple(
        r for r, c in zip(results, counts, strict=True) if not c
    )


def earned(claimed: Rating, derived: Rating) -> bool:
    """Whether the derived rating earns the claimed one.

    >>> earned(Rating.DOCUMENTED, Rating.FAITHFUL), earned(Rating.FAITHFUL, Rating.HONEST)
    (True, False)
    """
    return derived in EARNED_BY[claimed]


def _said(result: CheckResult) -> str:
    if result.score is Score.FAIL:
        return f"fails: measured {_brief(result.measured)}, expected {_brief(result.expected)}"
    words = {
        Score.ERROR: "raises",
        Score.NOT_TESTABLE: "cannot be tested",
        Score.NOT_RUN: "was not run",
    }
    return f"{words.get(result.score, result.score)}: {result.note}"


def _brief(value: object, most: int = 5) -> str:
    """A value for a sentence: six digits, and the first few of many; the check result has all.

    >>> _brief((0.123456789, 2.0)), _brief(tuple(range(9)))
    ('(0.123457, 2)', '(0, 1, 2, 3, 4, ... of 9)')
    """
    if isinstance(value, tuple):
        shown = ", ".join(_brief(v) for v in value[:most])
        return f"({shown}, ... of {len(value)})" if len(value) > most else f"({shown})"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
