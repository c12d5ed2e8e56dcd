"""The command `audit`."""
from __future__ import annotations

import sys
from pathlib import Path
from textwrap import shorten
from time import perf_counter
from typing import Annotated

import typer

from .app import app
from .shared import JobsOption, JsonOption, installed_registry, print_json


@app.command(short_help="Evidence, and the rating derived from it beside the claimed one.")
def audit(only: Annotated[list[str] | None, typer.Argument(help="Mechanisms to judge; all if none.")] = None,
          set_name: Annotated[str | None, typer.Option("--set", help="Judge the mechanisms of a set.")] = None,
          out: Annotated[Path | None, typer.Option("--out", help="Folder for the report: audit.html, .md, .json, .tex, .bib, figures.")] = None,
          mutants: Annotated[bool, typer.Option("--mutants/--no-mutants", help="Run the mutants too: the evidence must reject each.")] = True,
          strict: Annotated[bool, typer.Option("--strict", help="Fail also for incomplete checks and for too little evidence.")] = False,
          against: Annotated[Path | None, typer.Option("--against", help="An earlier audit.json: report the ratings that rose and fell.")] = None,
          jobs: JobsOption = 1, as_json: JsonOption = False) -> None:
    """Evidence, and the rating derived from it beside the claimed one; exit code 1 when a claim is not earned."""
    registry = installed_registry()
    if set_name:
        only = [*dict.fromkeys((*(only or ()), *registry.set(set_name).mechanisms))]
    for id in only or ():
        registry.entry(id)
    from ..audit import changes, provenance, report, sources
    from ..audit.collect import audit_registry
    from ..audit.references import of_registry
    from ..console import Meter, console, draw, print_lines
    from ..reporting.files import results_folder, write_json, write_whole

    old = changes.read(against) if against else None
    if old and only:                                      # mechanisms that are not audited now do not count as gone
        old["mechanisms"] = [m for m in old["mechanisms"] if m["id"] in only]
    references = of_registry(registry)
    systems = () if only else sources.read(registry, references)
    if out:
        results_folder(out)
    start = perf_counter()
    with Meter("mechanisms") as tell:
        result = audit_registry(registry, only=only or None, mutants=mutants, draw=out is not None, jobs=jobs, progress=tell)
    known = provenance.provenance(registry, references, [m.id for m in result.mechanisms], seconds=perf_counter() - start,
                                  words=("hebbarium", *sys.argv[1:]))
    told = report.to_json(result, registry, systems, known)
    changed = changes.compare(old, told) if old else None
    if out:
        from ..audit.page import to_html, write_figures

        write_json(out / "audit.json", told)
        write_whole(out / "audit.md", [report.to_markdown(result, systems, changed, known)])
        write_whole(out / "audit.tex", [report.to_latex(result, systems, known)])
        write_whole(out / "audit.bib", [known.made.bibtex])
        write_figures(result, out / "figures")
        to_html(result, out / "audit.html", references, registry, systems, changed, known)
    faults = result.strict_failures if strict else result.failures
    if as_json:
        print_json(told)
    elif console().is_terminal:
        draw(report.table(result), whole=("mechanism", "claimed", "derived"))
        for title, named in (("not earned", faults), ("findings about printed forms", result.findings)):
            print_lines(*([f"{title}:", *(f"  {id}: {shorten(fault, 200, placeholder=' ...')}" for id, fault in named), ""] if named else []))
    else:
        typer.echo(report.plain(result, faults), nl=False)
    if changed and not as_json:
        print_lines("since the earlier audit:", *(f"  {line}" for line in changed.lines() or ["nothing rose or fell"]))
    if out and not as_json:
        print_lines(f"report: {out / 'audit.html'}")
    raise typer.Exit(1 if faults else 0)
