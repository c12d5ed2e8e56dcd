"""The command `probe`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from ..engine.base.errors import InputError
from .app import app, say
from .shared import (
    DEFAULT_SET,
    EmbedderOption,
    JobsOption,
    JsonOption,
    OutOption,
    SystemOption,
    evidence_notes,
    installed_registry,
    named_embedder,
    print_json,
    print_kept,
    resumable,
)


@app.command(short_help="Small experiments with known answers: which effects appear?")
def probe(
    out: OutOption,
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ID", help=("Probes, as name/variant or name; all if none is given.")
        ),
    ] = None,
    set_name: Annotated[
        str | None,
        typer.Option(
            "--set", help="Mechanism set: a name, or a YAML file; `default` if not given."
        ),
    ] = None,
    system: SystemOption = None,
    seeds: Annotated[
        int | None,
        typer.Option(
            "--seeds", min=1, help="Of every probe; 10 if not given. Fewer than 3: no verdict."
        ),
    ] = None,
    embedder: EmbedderOption = "minilm",
    jobs: JobsOption = 1,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help=("Exit code 1 if a probe that a mechanism of the set names is not in its band."),
        ),
    ] = False,
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Write over other probe results that the folder holds."),
    ] = False,
    alive: Annotated[
        bool,
        typer.Option(
            "--alive",
            help=(
                "Which mechanisms of the set move which probes: each is left out, and added alone to a base."
            ),
        ),
    ] = False,
    base: Annotated[
        str | None, typer.Option("--base", help="With --alive: the base; `hybrid` if not given.")
    ] = None,
    mechanism: Annotated[
        list[str] | None,
        typer.Option(
            "--mechanism",
            metavar="ID",
            help=("With --alive: only this mechanism; can be given several times."),
        ),
    ] = None,
    named: Annotated[
        bool,
        typer.Option(
            "--named", help="With --alive: only probes that the mechanism's registry entry names."
        ),
    ] = False,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help=(
                "With --alive: what does not differ in the first seed is run with the others only if nothing else moves the mechanism."
            ),
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Small experiments whose answer is known, each with the band that counts as showing the
    effect.

    Writes probes.json, probes.md, probes.html and rows.jsonl.  Cells that the folder holds already,
    from the same inputs, are not run again.
    """
    if alive:
        _alive(
            ids or [],
            set_name,
            system,
            seeds,
            embedder,
            jobs,
            out,
            base,
            mechanism or [],
            named,
            quick,
            as_json,
            strict or replace,
        )
        return
    if odd := [
        name
        for name, given in (
            ("--base", base),
            ("--mechanism", mechanism),
            ("--named", named),
            ("--quick", quick),
        )
        if given
    ]:
        raise InputError(
            "it is part of the alive matrix", where=odd[0], cure="add --alive, or leave it out"
        )
    registry = installed_registry()
    from ..benchmarks.probes.harness.collection import chosen, collected
    from ..benchmarks.probes.harness.report import to_json, with_interval
    from ..benchmarks.probes.harness.study import study
    from ..benchmarks.systems.by_name import OURS
    from ..console import Meter, print_lines, print_table
    from ..reporting.provenance import made

    probes = chosen(ids or [], collected())
    picked = registry.set(set_name or DEFAULT_SET) if set_name or system in (None, OURS) else None
    with (
        Meter("cells") as progress,
        Meter("embedding texts", least=100, within=progress) as embedding,
        resumable(progress, out),
    ):
        report = study(
            probes,
            picked,
            registry,
            named_embedder(embedder, embedding),
            out,
            system=system or OURS,
            seeds=seeds,
            jobs=jobs,
            progress=progress,
            making=made(["hebbarium", *sys.argv[1:]]),
            replace=replace,
        )
    print_kept(progress, out)
    if as_json:
        print_json(to_json(report))
    else:
        rows = [
            (
                outcome.probe.id,
                str(outcome.verdict),
                "; ".join(
                    f"{c.text}: {with_interval(c.estimate)}{'' if c.holds else ' (no)'}"
                    for c in outcome.claims
                )
                or outcome.why,
            )
            for outcome in report.outcomes
        ]
        print_table(
            f"Probes of {report.measured}",
            ("probe", "verdict", "band, and what was measured"),
            rows,
            whole=("probe", "verdict"),
        )
        notes = evidence_notes(report.evidence)
        print_lines(
            *notes,
            report.headline,
            f"written to {out}: probes.json, probes.md, probes.html, rows.jsonl",
        )
    if strict and report.failing:
        say(f"not in their band: {', '.join(outcome.probe.id for outcome in report.failing)}")
        raise typer.Exit(1)


def _alive(
    ids: list[str],
    set_name: str | None,
    system: str | None,
    seeds: int | None,
    embedder: str,
    jobs: int,
    out: Path,
    base: str | None,
    mechanisms: list[str],
    named: bool,
    quick: bool,
    as_json: bool,
    odd: bool,
) -> None:
    registry = installed_registry()
    from ..benchmarks.probes.harness import alive
    from ..benchmarks.probes.harness.alive_report import summary_rows, to_json, write
    from ..benchmarks.probes.harness.collection import chosen, collected
    from ..benchmarks.systems.by_name import OURS
    from ..console import Meter, print_lines, print_table
    from ..reporting.provenance import made

    if odd:
        raise InputError(
            "the matrix has no bands and is never refused",
            where="--strict, --replace",
            cure="leave them out with --alive",
        )
    if system not in (None, OURS):
        raise InputError(
            f"the system {system!r} has no mechanisms",
            where="--alive",
            cure="leave out --alive, or leave out --system",
        )
    probes, picked = chosen(ids, collected()), registry.set(set_name or DEFAULT_SET)
    with (
        Meter("cells") as progress,
        Meter("embedding texts", least=100, within=progress) as embedding,
        resumable(progress, out),
    ):
        matrix = alive.matrix(
            probes,
            picked,
            registry,
            named_embedder(embedder, embedding),
            out,
            base=base or alive.BASE,
            only=mechanisms,
            named=named,
            quick=quick,
            seeds=seeds or alive.SEEDS,
            jobs=jobs,
            progress=progress,
            making=made(["hebbarium", *sys.argv[1:]]),
        )
    write(matrix, out)
    print_kept(progress, out)
    if as_json:
        print_json(to_json(matrix))
        return
    print_table(
        f"Mechanisms of {matrix.measured}",
        ("mechanism", "verdict", "moves, or why nothing moves"),
        summary_rows(matrix),
        whole=("mechanism", "verdict"),
    )
    notes = evidence_notes(matrix.evidence)
    print_lines(*notes, matrix.headline, f"written to {out}: probes.json, probes.md, probes.html")
