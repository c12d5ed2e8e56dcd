"""The command `world`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from .app import app
from .shared import (
    EmbedderOption,
    JobsOption,
    JsonOption,
    OutOption,
    SetsOption,
    SystemOption,
    chosen_sets,
    evidence_notes,
    installed_registry,
    named_embedder,
    names_in,
    print_json,
    print_kept,
    resumable,
)


@app.command(short_help="Streams with a known best answer: how near does a set come?")
def world(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="needs, journeys, flood, or one variant such as journeys/used."
        ),
    ],
    out: OutOption,
    sets: SetsOption = None,
    system: SystemOption = None,
    on_trial: Annotated[
        str,
        typer.Option(
            "--on-trial",
            metavar="ID,ID",
            help=("Mechanisms that are left out of each set that has them, one at a time."),
        ),
    ] = "",
    strengths: Annotated[
        str,
        typer.Option("--strengths", metavar="S,S", help="Strengths of the structure, from 0 to 1."),
    ] = "0,0.5,1",
    seeds: Annotated[
        int,
        typer.Option(
            "--seeds",
            min=1,
            help="Lives of each strength. Fewer than 3: no intervals and no verdicts.",
        ),
    ] = 20,
    embedder: EmbedderOption = "minilm",
    jobs: JobsOption = 1,
    replace: Annotated[
        bool, typer.Option("--replace", help="Write over other worlds that the folder holds.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Lead memories through streams whose statistics are known, tell them what was needed, and
    compare them with the ideal observer.

    Writes world.json, world.md, world.html and rows.jsonl.  Cells that the folder holds already,
    from the same inputs, are not run again.
    """
    registry = installed_registry()
    from ..benchmarks.systems.by_name import OURS
    from ..benchmarks.worlds.collection import named
    from ..benchmarks.worlds.report import to_json
    from ..benchmarks.worlds.study import study
    from ..benchmarks.worlds.table import lines_of
    from ..console import Meter, print_lines, print_table
    from ..reporting.provenance import made

    worlds, doses = named(name), _strengths(strengths)
    chosen = chosen_sets(registry, sets, system)
    with (
        Meter("cells") as progress,
        Meter("embedding texts", least=100, within=progress) as embedding,
        resumable(progress, out),
    ):
        report = study(
            worlds,
            chosen,
            registry,
            named_embedder(embedder, embedding),
            out,
            system=system or OURS,
            on_trial=names_in(on_trial),
            seeds=seeds,
            strengths=doses,
            jobs=jobs,
            progress=progress,
            making=made(["hebbarium", *sys.argv[1:]]),
            replace=replace,
        )
    print_kept(progress, out)
    if as_json:
        print_json(to_json(report))
        return
    for result in report.results:
        print_table(
            f"{result.world.name}: {result.world.about}",
            ("arm", *(f"s = {s:g}" for s in result.strengths), "stored or verdict"),
            lines_of(result),
            whole=("arm",),
        )
    notes = evidence_notes(report.evidence)
    print_lines(
        *notes, report.headline, f"written to {out}: world.json, world.md, world.html, rows.jsonl"
    )


def _strengths(text: str) -> list[float]:
    """Numbers from 0 to 1.  Raises InputError."""
    from ..engine.base.errors import InputError

    try:
        strengths = [float(strength) for strength in text.split(",") if strength.strip()]
    except ValueError:
        strengths = []
    if not strengths or not all(0.0 <= s <= 1.0 for s in strengths):
        raise InputError(
            f"{text!r} names no strengths from 0 to 1",
            where="--strengths",
            cure="write them like --strengths 0,0.5,1",
        )
    return strengths
