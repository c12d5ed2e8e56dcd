"""The command `human`."""

from __future__ import annotations

import sys
from pathlib import Path
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


@app.command(short_help="Does a memory recall as people do? Beside human data.")
def human(
    out: OutOption,
    sets: SetsOption = None,
    system: SystemOption = None,
    paradigms: Annotated[
        list[str] | None,
        typer.Option(
            "--paradigm",
            metavar="NAME",
            help="An experiment, or `all`; may be given again. `free_recall` if not given.",
        ),
    ] = None,
    on_trial: Annotated[
        str,
        typer.Option(
            "--on-trial",
            metavar="ID,ID",
            help="Mechanisms left out of each set that has them, one at a time; `all`: each.",
        ),
    ] = "",
    people: Annotated[
        int,
        typer.Option(
            "--people", min=1, metavar="N", help="Simulated people; of lists of people at most 64."
        ),
    ] = 64,
    seeds: Annotated[
        int, typer.Option("--seeds", min=1, help="How often each person takes part.")
    ] = 1,
    data: Annotated[
        Path | None, typer.Option("--data", help="Table of trials in place of those that ship.")
    ] = None,
    fit_on: Annotated[
        list[str] | None,
        typer.Option(
            "--fit-on",
            metavar="CONDITION",
            help="Condition of an experiment with lists, such as 12 (words) or 20-1 (words-seconds), "
            "on which the readout is fitted; may be given again. The others judge. All if not given.",
        ),
    ] = None,
    embedder: EmbedderOption = "minilm",
    jobs: JobsOption = 1,
    replace: Annotated[
        bool, typer.Option("--replace", help="Write over other results that the folder holds.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Let memories take part in experiments that people took part in, and compare what they show.

    Experiments: free_recall and immediate_free_recall, with lists of people; retention,
    fact_retention, spacing, testing, induced_forgetting, fan, context, sleep, false_memory,
    release, part_list, directed_forgetting, behavioural_tagging and reconsolidation_window, with
    printed results.

    Writes human.json, human.md and rows.jsonl.  Cells that the folder holds already, from the same
    inputs, are not run again.
    """
    registry = installed_registry()
    from ..benchmarks.people.study import study, table_of, to_json
    from ..benchmarks.people.trial import HEADS as TRIAL_HEADS
    from ..benchmarks.people.trial import lines_of as trial_lines
    from ..benchmarks.systems.by_name import OURS
    from ..console import Meter, print_lines, print_table
    from ..reporting.provenance import made

    chosen = chosen_sets(registry, sets, system)
    with (
        Meter("people") as progress,
        Meter("embedding texts", least=100, within=progress) as embedding,
        resumable(progress, out),
    ):
        report = study(
            paradigms or ["free_recall"],
            chosen,
            registry,
            named_embedder(embedder, embedding),
            out,
            system=system or OURS,
            on_trial=names_in(on_trial),
            data=data,
            fit_on=fit_on or (),
            people=people,
            seeds=seeds,
            jobs=jobs,
            progress=progress,
            making=made(["hebbarium", *sys.argv[1:]]),
            overwrite=replace,
        )
    print_kept(progress, out)
    if as_json:
        print_json(to_json(report))
        return
    title, heads, lines = table_of(report)
    print_table(title, heads, lines, whole=heads[:1])
    if report.trials:
        print_table("What mechanisms do to the distance", TRIAL_HEADS, trial_lines(report.trials))
    notes = evidence_notes(report.evidence)
    print_lines(*notes, report.headline, f"written to {out}: human.json, human.md, rows.jsonl")
