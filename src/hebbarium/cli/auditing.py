"""The command `audit`."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from textwrap import shorten
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..engine.base.errors import InputError
from ..reporting.output import put
from .app import app
from .shared import JobsOption, JsonOption, installed_registry, print_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..audit.changes import RatingChanges
    from ..audit.provenance import Provenance
    from ..audit.references import References
    from ..audit.run import AuditResult
    from ..audit.sources import SourceSystem
    from ..engine.catalogue.registry import Registry


class Mutants(StrEnum):
    """Which wrong versions the evidence must reject."""

    WRITTEN = "written"  # those of the evidence files
    GENERATED = "generated"  # those that a machine makes of source and numbers; no audit is made
    NONE = "none"


@app.command(short_help="Evidence, and the rating derived from it beside the claimed one.")
def audit(
    only: Annotated[
        list[str] | None, typer.Argument(help="Mechanisms to judge; all if none.")
    ] = None,
    set_name: Annotated[
        str | None, typer.Option("--set", help="Judge the mechanisms of a set.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", help="Folder for the report: audit.html, .md, .json, .tex, .bib, figures."
        ),
    ] = None,
    mutants: Annotated[
        Mutants,
        typer.Option(
            "--mutants",
            help="Wrong versions that the evidence must reject: those written in it, or "
            "instead of the audit those that a machine generates.",
        ),
    ] = Mutants.WRITTEN,
    no_mutants: Annotated[
        bool, typer.Option("--no-mutants", help="The same as --mutants none.")
    ] = False,
    sample: Annotated[
        int | None,
        typer.Option("--sample", min=1, help="Of the generated mutants, only N of each mechanism."),
    ] = None,
    keep: Annotated[
        bool,
        typer.Option(
            "--keep", help="Store the shares of generated mutants rejected, which the page shows."
        ),
    ] = False,
    reach: Annotated[
        bool,
        typer.Option("--reach", help="Print the hooks and equations that engine checks reach."),
    ] = False,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Fail also for incomplete checks and for too little evidence."
        ),
    ] = False,
    against: Annotated[
        Path | None,
        typer.Option(
            "--against", help="An earlier audit.json: report the ratings that rose and fell."
        ),
    ] = None,
    of_sources: Annotated[
        bool,
        typer.Option(
            "--sources",
            help="Instead of the audit: every claim of the source systems, reproduced, not "
            "reproduced or not comparable, with numbers.",
        ),
    ] = False,
    jobs: JobsOption = 1,
    as_json: JsonOption = False,
) -> None:
    """Evidence, and the rating derived from it beside the claimed one; exit code 1 when a claim
    is not earned.
    """
    registry = installed_registry()
    if of_sources:
        if only or set_name or out or against or reach or mutants is not Mutants.WRITTEN:
            raise InputError(
                "--sources judges the claims of the source systems in place of an audit",
                where="audit",
                cure="leave out the other options, apart from --json and --jobs",
            )
        _sources(registry, jobs, as_json)
        return
    if set_name:
        only = [*dict.fromkeys((*(only or ()), *registry.set(set_name).mechanisms))]
    for id in only or ():
        registry.entry(id)
    of_audits = {"--no-mutants": no_mutants, "--reach": reach, "--against": against is not None}
    _require_options_that_fit(mutants, sample, keep, [o for o, given in of_audits.items() if given])
    if mutants is Mutants.GENERATED:
        _generated(registry, only or None, sample, jobs, out, as_json, keep, strict)
        return
    from ..audit import changes, provenance, report, sources
    from ..audit.collect import audit_registry
    from ..audit.references import of_registry
    from ..console import Meter, print_lines
    from ..reporting.files import results_folder

    old = changes.read(against) if against else None
    # mechanisms that are not audited now do not count as gone
    if old and only:
        old["mechanisms"] = [m for m in old["mechanisms"] if m["id"] in only]
    references = of_registry(registry)
    systems = () if only else sources.read(registry, references)
    if out:
        results_folder(out, shared=True)
    start = perf_counter()
    with Meter("mechanisms") as tell:
        result = audit_registry(
            registry,
            only=only or None,
            mutants=mutants is Mutants.WRITTEN and not no_mutants,
            draw=out is not None,
            jobs=jobs,
            progress=tell,
        )
    known = provenance.provenance(
        registry,
        references,
        [m.id for m in result.mechanisms],
        seconds=perf_counter() - start,
        words=("hebbarium", *sys.argv[1:]),
    )
    data = report.to_json(result, registry, systems, known)
    changed = changes.compare(old, data) if old else None
    if out:
        _write(out, result, data, registry, references, systems, changed, known)
    faults = result.strict_failures if strict else result.failures
    if as_json:
        print_json(data)
    else:
        _print(result, faults)
        if reach:
            print_lines(*report.reached(result))
        if changed:
            print_lines(
                "since the earlier audit:",
                *(f"  {line}" for line in changed.lines() or ["nothing rose or fell"]),
            )
        if out:
            print_lines(f"report: {out / 'audit.html'}")
    raise typer.Exit(1 if faults else 0)


def _require_options_that_fit(
    mutants: Mutants, sample: int | None, keep: bool, of_audits: list[str]
) -> None:
    """Raises InputError for options of generated mutants in an audit, and the reverse.

    of_audits  options given that only an audit has
    """
    if (sample is not None or keep) and mutants is not Mutants.GENERATED:
        raise InputError(
            "--sample and --keep are of generated mutants",
            where="audit",
            cure="add `--mutants generated`, or leave them out",
        )
    if mutants is Mutants.GENERATED and of_audits:
        raise InputError(
            f"{of_audits[0]} is of an audit, which --mutants generated replaces",
            where="audit",
            cure=f"leave out {of_audits[0]} or --mutants generated",
        )
    if sample is not None and keep:
        raise InputError(
            "--keep stores the shares of all mutants, --sample judges some",
            where="audit",
            cure="leave out --sample or --keep",
        )


def _write(
    out: Path,
    result: AuditResult,
    data: dict[str, Any],
    registry: Registry,
    references: References,
    systems: Sequence[SourceSystem],
    changed: RatingChanges | None,
    known: Provenance,
) -> None:
    """Write the report of an audit in all its forms, and its figures."""
    from ..audit import report
    from ..audit.page import to_html, write_figures
    from ..reporting.files import write_json, write_whole

    write_json(out / "audit.json", data, shared=True)
    for file, text in (
        ("audit.md", report.to_markdown(result, systems, changed, known)),
        ("audit.tex", report.to_latex(result, systems, known)),
        ("audit.bib", known.made.bibtex),
    ):
        write_whole(out / file, [text], shared=True)
    write_figures(result, out / "figures")
    to_html(result, out / "audit.html", references, registry, systems, changed, known)


def _print(result: AuditResult, faults: Sequence[tuple[str, str]]) -> None:
    """Print the ratings: a table with what is wrong below it on a terminal, plain lines else."""
    from ..audit import report
    from ..console import console, draw, print_lines

    if not console().is_terminal:
        put(report.plain(result, faults), end="")
        return
    drawn = report.table(result)
    *heads, failing = (str(column.header) for column in drawn.columns)
    draw(drawn, whole=heads, roomy={failing: len(failing)}, spare=heads[:2:-1])
    for title, named in (("not earned", faults), ("findings about printed forms", result.findings)):
        if named:
            lines = (f"  {id}: {shorten(fault, 200, placeholder=' ...')}" for id, fault in named)
            print_lines(f"{title}:", *lines, "")


def _sources(registry: Registry, jobs: int, as_json: bool) -> None:
    """Print every claim of the source systems with what became of it.  Only the forms of claims
    that name checks of their own are audited; all other ratings are those that ship.
    """
    from ..audit import sources
    from ..audit.collect import audit_registry
    from ..audit.references import of_registry
    from ..audit.sources.compared import compared
    from ..audit.sources.numbers import ClaimVerdict, judged_numbers, judged_ratings
    from ..console import Meter, print_lines, print_table

    systems = sources.read(registry, of_registry(registry))
    named = sorted({c.variety for s in systems for c in s.claims if c.checks})
    with Meter("mechanisms") as tell:
        result = audit_registry(
            registry, only=named, mutants=False, draw=False, jobs=jobs, progress=tell
        )
    claims = list(judged_numbers(registry))
    for system in systems:
        checked = sources.SourceSystem(
            **{**dict(system), "claims": tuple(c for c in system.claims if c.checks)}
        )
        claims += judged_ratings(system, {c.claim.module: c for c in compared(checked, result)})
    if as_json:
        print_json([claim.named() for claim in claims])
        return
    heads = tuple(str(verdict) for verdict in ClaimVerdict)
    for name in dict.fromkeys(claim.system for claim in claims):
        rows = [claim for claim in claims if claim.system == name]
        for claim in rows:
            ours = f", ours {claim.ours}" if claim.ours else ""
            print_lines(
                f"{name} {claim.place}, {claim.what}: {claim.claimed}{ours}: "
                f"{str(claim.verdict).upper()}: {claim.why}"
            )
        print_lines("")
    print_table(
        "Claims of the source systems",
        ("system", "claims", *heads),
        [
            (
                name,
                f"{sum(c.system == name for c in claims):,}",
                *(
                    f"{sum((c.system, c.verdict) == (name, v) for c in claims):,}"
                    for v in ClaimVerdict
                ),
            )
            for name in dict.fromkeys(claim.system for claim in claims)
        ],
        numbers=("claims", *heads),
        whole=("claims", *heads),
    )


def _generated(
    registry: Registry,
    only: list[str] | None,
    sample: int | None,
    jobs: int,
    out: Path | None,
    as_json: bool,
    keep: bool,
    strict: bool,
) -> None:
    """Judge generated mutants; exit code 1 under `strict` if a share is below its goal, or a
    package failed.
    """
    from ..audit.mutation import generated, shares
    from ..console import Meter, print_lines
    from ..reporting.files import results_folder, write_json

    with Meter("generated mutants") as tell:
        run = generated.generated_all(registry, only, jobs, sample, tell)
    if out:
        results_folder(out, shared=True)
        write_json(out / "generated.json", run.to_json(), shared=True)
    if keep:
        # a package that fails has no mutants
        shares.keep(m for m in run.mechanisms if m.of)
    if as_json:
        print_json(run.to_json())
    else:
        print_lines(*generated.lines(run))
    raise typer.Exit(
        1 if strict and (shares.below(run) or not all(m.of for m in run.mechanisms)) else 0
    )
