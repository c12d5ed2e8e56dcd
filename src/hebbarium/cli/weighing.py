"""The command `weights`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from .app import app
from .shared import (
    DataOption,
    DatasetOption,
    EmbedderOption,
    JobsOption,
    JsonOption,
    LimitOption,
    installed_registry,
    load_data,
    named_embedder,
    print_json,
    print_kept,
    resumable,
)


@app.command(short_help="What each mechanism weighs in the answers.")
def weights(
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            metavar="FILE",
            help="JSON file to write; `audit/weights.json` is what audits show.",
        ),
    ],
    work: Annotated[Path, typer.Option("--work", help="Folder for the ledger.")] = Path(
        "out/weights"
    ),
    set_name: Annotated[str, typer.Option("--set", help="Mechanism set.")] = "everything",
    dataset: DatasetOption = "demo",
    data: DataOption = None,
    embedder: EmbedderOption = "minilm",
    varieties: Annotated[
        bool,
        typer.Option("--varieties", help="Weigh alternates of the set and printed forms, too."),
    ] = False,
    rehearse: Annotated[
        float | None,
        typer.Option(
            "--rehearse",
            min=0.0,
            metavar="HOURS",
            help=(
                "Between use and the question that counts; 0.5 if not given, and none for a set that does not learn from recall."
            ),
        ),
    ] = None,
    limit: LimitOption = None,
    jobs: JobsOption = 1,
    as_json: JsonOption = False,
) -> None:
    """What each mechanism weighs in the answers: its path, its share of the fused trust, and the
    answers that change without it.

    Takes each mechanism out of the set, asks all questions once, and again after rehearsal.  With
    --varieties each alternate and each printed form is swapped in for its original, too.  For
    `everything` on the demo: 1,020 cells of about 2 s, 1,540 with --varieties.  A second run of the
    same command continues one that was stopped.
    """
    registry = installed_registry()
    from ..benchmarks.influence import weights as weighing
    from ..console import Meter, print_lines, print_table
    from ..reporting.files import write_json
    from ..reporting.provenance import made

    loaded = load_data(dataset, data, "turn", limit)
    with (
        Meter("cells") as progress,
        Meter("embedding texts", least=100, within=progress) as embedding,
        resumable(progress, work),
    ):
        result = weighing.weigh(
            registry.set(set_name),
            registry,
            loaded,
            named_embedder(embedder, embedding),
            work,
            varieties=varieties,
            rehearse=rehearse,
            jobs=jobs,
            making=made(["hebbarium", *sys.argv[1:]]),
            progress=progress,
        )
    print_kept(progress, work)
    written = weighing.to_json(result)
    write_json(out, written, shared=True)
    if as_json:
        print_json(written)
        return
    asked = result.provenance["questions"]
    numbers = ("trust", "cold", "rehearsed")
    print_table(
        f"{result.set_name} on {loaded.name}: answers of {asked} that change without the mechanism",
        ("mechanism", *numbers, "path"),
        [
            (
                id,
                "-" if w.share is None else f"{w.share:.1%}",
                str(w.cold),
                "-" if w.rehearsed is None else str(w.rehearsed),
                weighing.path(w),
            )
            for id, w in result.mechanisms.items()
        ],
        numbers=numbers,
        whole=("mechanism", *numbers),
    )
    inert = [id for id, w in result.mechanisms.items() if w.inert]
    once = (
        [f"{result.set_name} does not learn from recall: every question was asked once"]
        if result.rehearse is None
        else []
    )
    print_lines(*once, f"inert: {', '.join(inert) or 'none'}", f"written to {out}")
