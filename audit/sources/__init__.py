"""Claims of the source systems, as data: every rating and citation that they print, for comparison with the audit.

One YAML file per system.  `claimed` is the rating in the source's own words; `variety` is the mechanism of the collection that runs the printed
form; if there is none, `why_none` gives the reason.
"""
from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from ...engine.errors import DataError, RegistryError
from ...engine.registry import Registry
from ...engine.yaml_file import read_yaml
from ..rating import Rating, earned
from ..references import References
from ..run import AuditResult

HERE = Path(__file__).parent


class Citation(StrEnum):
    """Whether a citation is right."""

    SOUND = "sound"                     # it names the paper that the claim rests on
    WRONG_DETAIL = "wrong detail"       # the right paper with a wrong author, year, title or journal
    MISATTRIBUTED = "misattributed"     # the paper is real and holds something else
    NOT_FOUND = "not found"             # no such paper is known
    NONE = "none"                       # the source cites nothing


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Claim(_Strict):
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
    why_none: str = ""
    finding: str = ""


class PrintedCitation(_Strict):
    """A citation that the source prints outside its ratings, with a comment."""

    place: str
    cites: str
    citation: Citation
    corrected: tuple[str, ...] = ()
    finding: str = ""


class SourceSystem(_Strict):
    """A source system: its name, its own entry in references.bib, how it rates itself, its claims and further citations."""

    name: str
    key: str
    scale: str
    claims: tuple[Claim, ...]
    citations: tuple[PrintedCitation, ...] = ()


@dataclass(frozen=True)
class Comparison:
    """A claim with the rating derived for the printed form; None if nothing was run.

    stands  whether the derived rating earns the claim, if the source's word is one of ours
    ours    whether the collection's own form of the mechanism was run, not a transcription of the source's
    """

    claim: Claim
    derived: Rating | None
    stands: bool | None
    why: tuple[str, ...] = ()
    ours: bool = False


def read(registry: Registry, references: References, folder: Path = HERE) -> tuple[SourceSystem, ...]:
    """Every system, by file name.  Raises DataError for an invalid file, and for an unknown mechanism or reference."""
    return tuple(_read(file, registry, references) for file in sorted(folder.glob("*.yaml")))


def _read(file: Path, registry: Registry, references: References) -> SourceSystem:
    try:
        system = SourceSystem.model_validate(read_yaml(file))
    except ValidationError as error:
        first = error.errors()[0]
        raise DataError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}", where=str(file),
                        cure="see audit/sources/__init__.py for the form") from error
    for claim in system.claims:
        if bool(claim.variety) == bool(claim.why_none):
            raise DataError("is tied to no mechanism and does not say why, or says why and is tied", where=f"{file}, {claim.module}",
                            cure="give variety or why_none")
    try:
        for key in (system.key, *(k for c in system.claims for k in c.corrected), *(k for c in system.citations for k in c.corrected)):
            references.get(key)
        for claim in system.claims:
            if claim.variety:
                registry.entry(claim.variety)
    except RegistryError as error:
        raise DataError(error.what, where=str(file), cure=error.cure) from error
    return system


def compared(system: SourceSystem, result: AuditResult) -> tuple[Comparison, ...]:
    """Every claim of a system with the rating that an audit derived."""
    found = {m.id: m for m in result.mechanisms}
    return tuple(_compared(claim, found, system.key) for claim in system.claims)


def _compared(claim: Claim, found: dict[str, Any], key: str) -> Comparison:
    run = found.get(claim.variety)
    if run is None:
        return Comparison(claim, None, None)
    known = claim.claimed in Rating.__members__
    stands = earned(Rating(claim.claimed), run.verdict.rating) if known else None
    return Comparison(claim, run.verdict.rating, stands, run.verdict.reasons, run.variety_of is None and key not in run.papers)

