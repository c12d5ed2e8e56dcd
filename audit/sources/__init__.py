"""Claims of the source systems, as data: every rating and citation that they print, for comparison
with the audit.

One YAML file per system.  `claimed` is the rating in the source's own words; `variety` is the
mechanism of the collection that runs the printed form, judged for the claim by its `checks` alone
if some are named; if there is no such mechanism, `why_none` gives the reason.
"""

from __future__ import annotations

from enum import StrEnum
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from ...engine.base.errors import DataError, RegistryError
from ...engine.base.yaml_file import read_yaml
from ...engine.catalogue.registry import Registry
from ..references import References

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


def read(
    registry: Registry, references: References, folder: Path = HERE
) -> tuple[SourceSystem, ...]:
    """Every system, by file name.  Raises DataError for an invalid file, and for an unknown
    mechanism or reference.
    """
    return tuple(_read(file, registry, references) for file in sorted(folder.glob("*.yaml")))


@cache
def source_system(name: str) -> SourceSystem:
    """The system in the file of that name.  Raises DataError for an invalid file."""
    return _parsed(HERE / f"{name}.yaml")


def _parsed(file: Path) -> SourceSystem:
    try:
        return SourceSystem.model_validate(read_yaml(file))
    except ValidationError as error:
        first = error.errors()[0]
        raise DataError(
            f"{'.'.join(map(str, first['loc']))}: {first['msg']}",
            where=str(file),
            cure="see audit/sources/__init__.py for the form",
        ) from error


def _read(file: Path, registry: Registry, references: References) -> SourceSystem:
    system = _parsed(file)
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
