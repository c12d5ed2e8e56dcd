"""Claims of the source systems beside the ratings that an audit derived for the printed forms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ...engine.base.errors import DataError
from ..checks import CheckKind
from ..rating import Rating, RatingVerdict, derive, earned
from ..run import AuditResult, MechanismResult
from . import Claim, SourceSystem


@dataclass(frozen=True)
class ComparedClaim:
    """A claim with the rating derived for the printed form, from the claim's checks if it names
    some; None if nothing was run.

    stands  whether the derived rating earns the claim, if the source's word is one of ours
    ours    whether the collection's own form of the mechanism was run, not a transcription of the
            source's
    """

    claim: Claim
    derived: Rating | None
    stands: bool | None
    why: tuple[str, ...] = ()
    ours: bool = False


def compared(system: SourceSystem, result: AuditResult) -> tuple[ComparedClaim, ...]:
    """Every claim of a system with the rating that an audit derived.  Raises DataError for a
    claim's check that does not count for its form.
    """
    results = {m.id: m for m in result.mechanisms}
    return tuple(_compared(claim, results, system.key) for claim in system.claims)


def _compared(claim: Claim, results: Mapping[str, MechanismResult], key: str) -> ComparedClaim:
    run = results.get(claim.variety)
    if run is None:
        return ComparedClaim(claim, None, None)
    verdict = _of_checks(claim, run) if claim.checks else run.verdict
    known = claim.claimed in Rating.__members__
    stands = earned(Rating(claim.claimed), verdict.rating) if known else None
    return ComparedClaim(
        claim,
        verdict.rating,
        stands,
        verdict.reasons,
        run.variety_of is None and key not in run.papers,
    )


def _of_checks(claim: Claim, run: MechanismResult) -> RatingVerdict:
    """The verdict from the claim's checks; the claim is one of an equation if one of them is."""
    results = [r for r in run.checks if r.check.id in claim.checks]
    if absent := sorted(set(claim.checks) - {r.check.id for r in results}):
        raise DataError(
            f"names check {absent[0]!r}, which does not count for {run.id}",
            where=f"audit/sources, {claim.module}",
            cure=f"choose from {', '.join(r.check.id for r in run.checks)}",
        )
    verdict = derive(
        results, claims_equation=any(r.check.kind is CheckKind.EQUATION for r in results)
    )
    return replace(
        verdict,
        reasons=(
            f"judged by {', '.join(claim.checks)} alone, for what this row prints",
            *verdict.reasons,
        ),
    )
