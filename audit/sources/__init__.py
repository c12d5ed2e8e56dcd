"""Claims of the source systems, as data: every rating and citation that they print, for comparison
with the audit.

One YAML file per system.  `claimed` is the rating in the source's own words; `variety` is the
mechanism of the collection that runs the printed form, judged for the claim by its `checks` alone
if some are named; if there is no such mechanism, `why_none` gives the reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from ...engine.base.errors import DataError, RegistryError
from ...engine.base.yaml_file import read_yaml
from ...engine.catalogue.registry import Registry
from ..checks import CheckKind
from ..rating import Rating, RatingVerdict, derive, earned
from ..references import References
from ..run import AuditResult, MechanismResult

HERE = Path(__file__).parent


class Citation(StrEnum):
    """Whether a citation is right."""

    SOUND = "sound"  # it names the paper that the claim rests on
    # the right paper with a wrong author, year, title or journal
    WRONG_DETAIL = "wrong detail"
    MISATTRIBUTED = "misattributed"  # the paper is real and holds something else
    NOT_FOUND = "not found"  # no such paper is known
    NONE = "none"  # the source cites nothing


class _SourceModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Claim(_SourceModel):
    """One rated thing of a source system.

    module      its name in the source
    place       where the source says so: section, table
    claimed     its rating there, in the source's words
    printed     the equation or rule as printed; empty if none is
    cites       the citation as printed; empty if none is
    citation    whether that is right
    corrected   keys of references.bib: what should be cited
    paper       the cited paper's own formula, as TeX; empty if it has none
    variety     the mechanism of the collection that runs the printed form; empty if none does
    checks      ids of the checks of that form that concern what this claim prints; empty: all
    why_none    why none does
    finding     our comment
    """

    module: str
    place: str
    claimed: str
    printed: str = ""
    cites: str = ""
    citation: Citation = Citation.NONE
    corrected: tuple[str, ...] = ()
    paper: str = ""
    variety: str = ""
    checks: tuple[str, ...] = ()
    why_none: str = ""
    finding: str = ""


class PrintedCitation(_SourceModel):
    """A citation that the source prints outside its ratings, with a comment."""

    place: str
    cites: str
    citation: Citation
    corrected: tuple[str, ...] = ()
    finding: str = ""


class SourceSystem(_SourceModel):
    """A source system: its name, its own entry in references.bib, how it rates itself, its
    claims and further citations.
    """

    name: str
    key: str
    scale: str
    claims: tuple[Claim, ...]
    citations: tuple[PrintedCitation, ...] = ()


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


def read(
    registry: Registry, references: References, folder: Path = HERE
) -> tuple[SourceSystem, ...]:
    """Every system, by file name.  Raises DataError for an invalid file, and for an unknown
    mechanism or reference.
    """
    return tuple(_read(file, registry, references) for file in sorted(folder.glob("*.yaml")))


def _read(file: Path, registry: Registry, references: References) -> SourceSystem:
    try:
        system = SourceSystem.model_validate(read_yaml(file))
    except ValidationError as error:
        first = error.errors()[0]
        raise DataError(
            f"{'.'.join(map(str, first['loc']))}: {first['msg']}",
            where=str(file),
            cure="see audit/sources/__init__.py for the form",
        ) from error
    for claim in system.claims:
        if bool(claim.variety) == bool(claim.why_none):
            raise DataError(
                "is tied to no mechanism and does not say why, or says why and is tied",
                where=f"{file}, {claim.module}",
                cure="give variety or why_none",
            )
        if claim.checks and not claim.variety:
            raise DataError(
                "names checks and no form to run them on",
                where=f"{file}, {claim.module}",
                cure="give variety, or leave out checks",
            )
    try:
        for key in (
            system.key,
            *(k for c in system.claims for k in c.corrected),
            *(k for c in system.citations for k in c.corrected),
        ):
            references.get(key)
        for claim in system.claims:
            if claim.variety:
                registry.entry(claim.variety)
    except RegistryError as error:
        raise DataError(error.what, where=str(file), cure=error.cure) from error
    return system


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
