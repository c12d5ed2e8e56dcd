"""The command `questions`: a page for each question of one or two runs."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from .app import app
from .runs import ForceOption, MovedOption, RunArgument, forced
from .shared import JsonOption, LimitOption, installed_registry, print_json


@app.command(short_help="A page for each question of one or two runs.")
def questions(
    run: RunArgument,
    second: Annotated[
        Path | None,
        typer.Argument(metavar="SECOND", help="Folder of a second run on the same data."),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="New or empty folder for the pages.")
    ] = Path("out/questions"),
    arm: Annotated[
        list[str] | None,
        typer.Option(
            "--arm",
            help="Arm of an ablation; given twice: of the first and of the second run.  By default the full set.",
        ),
    ] = None,
    budget: Annotated[
        int, typer.Option("--budget", min=1, metavar="TOKENS", help="Most tokens of a context.")
    ] = 1_000,
    limit: LimitOption = None,
    data: MovedOption = None,
    embedder: Annotated[
        str | None,
        typer.Option("--embedder", help="As for the runs, if it is no longer found there."),
    ] = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """A page for each question of one or two runs: the evidence, the answer, every signal, the rank
    after every stage, and the context that a reader gets; and index.html, which lists and searches
    them.

    Rebuilds the memory of each conversation and asks it again.  The same run may be given twice
    with two of its arms.  The pages load nothing from elsewhere.
    """
    if arm and len(arm) > (2 if second else 1):
        raise typer.BadParameter(f"--arm is given at most {'twice' if second else 'once'}")
    from ..benchmarks.runs.questions import INDEX, question_pages, write_pages
    from ..console import Meter, print_lines
    from ..engine.ports.embedding_cache import default_cache
    from ..reporting.text import plural

    folders = forced(run, *([second] if second else []), force=force)
    with Meter("embedding texts", least=100) as embedding, Meter("conversations") as conversations:
        models = [folder.embedder(embedder, default_cache(), progress=embedding)
                  for folder in folders]  # fmt: skip
        pages = question_pages(
            folders,
            folders[0].data(data),
            installed_registry(),
            models,
            arms=(arm[0], arm[-1]) if arm else (None, None),
            budget=budget,
            limit=limit,
            progress=conversations,
        )
        written = write_pages(pages, out, folders)
    outcomes = dict(Counter(page.outcome for page in written).most_common())
    if as_json:
        print_json({"index": str(out / INDEX), "pages": len(written), "outcomes": outcomes})
        return
    counted = ", ".join(f"{count:,} {outcome}" for outcome, count in outcomes.items())
    print_lines(f"{plural(len(written), 'page')} ({counted}); begin with {out / INDEX}")
