"""`hebbarium reproduce`: a run again, from its manifest."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .app import app
from .runs import ForceOption, MovedOption, RunArgument, forced
from .shared import JobsOption, JsonOption, installed_registry, print_json, print_kept, resumable

if TYPE_CHECKING:
    from ..benchmarks.runs.reproduce import Reproduction


@app.command(short_help="A run again, from its manifest: are all rows equal?")
def reproduce(
    run: RunArgument,
    out: Annotated[Path, typer.Option("--out", help="New folder for the repetition.")],
    data: MovedOption = None,
    embedder: Annotated[
        str | None,
        typer.Option("--embedder", help="As for the run, if it is no longer found there."),
    ] = None,
    jobs: JobsOption = 1,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """A run again, from its manifest into a new folder.

    Exit code 0 if all rows are equal.  Else 1, with the first row that differs and the versions
    that have changed.
    """
    from ..benchmarks.runs import reproduce as reproducing
    from ..console import Meter
    from ..engine.ports.embedding_cache import default_cache
    from ..reporting.provenance import made

    (folder,) = forced(run, force=force)
    with (
        Meter("cells") as progress,
        Meter("embedding texts", least=100, within=progress) as embedding,
        resumable(progress, out),
    ):
        model = folder.embedder(embedder, default_cache(), progress=embedding)
        reproduction = reproducing.reproduce(
            folder,
            folder.data(data),
            installed_registry(),
            model,
            out,
            jobs=jobs,
            progress=progress,
            making=made(["hebbarium", *sys.argv[1:]]),
        )
    print_kept(progress, out)
    if as_json:
        print_json(reproducing.to_json(reproduction))
    else:
        _print(reproduction)
    raise typer.Exit(0 if reproduction.equal else 1)


def _print(reproduction: Reproduction) -> None:
    from ..benchmarks.execution.folder import shown
    from ..console import print_lines
    from ..reporting.text import plural

    made = [f"  {name}: {shown(a)} -> {shown(b)}" for name, a, b in reproduction.differing]
    made = ["versions, then and now:", *made] if made else []
    if reproduction.first is None:
        print_lines(
            f"all {plural(reproduction.n_rows, 'row')} of {reproduction.folder} are equal in {reproduction.again}",
            *made,
        )
        return
    at = reproduction.first
    print_lines(
        f"{reproduction.n_different} of {plural(reproduction.n_rows, 'row')} of {reproduction.folder} differ in {reproduction.again}",
        f"the first: arm {at.arm}, conversation {at.conversation}, question {at.question}",
        *(f"  {name}: {shown(a)} -> {shown(b)}" for name, a, b in at.fields),
        *(made or ["no version differs"]),
    )
