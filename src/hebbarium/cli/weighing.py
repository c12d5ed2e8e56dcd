"""The command `weights`."""
from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from .app import app
from .shared import DataOption, EmbedderOption, JobsOption, JsonOption, LimitOption, installed_registry, named_embedder, print_json


@app.command(short_help="What each mechanism weighs in the answers.")
def weights(out: Annotated[Path, typer.Option("--out", metavar="FILE", help="JSON file to write; `audit/weights.json` is what audits show.")],
            work: Annotated[Path, typer.Option("--work", help="Folder for the ledger.")] = Path("out/weights"),
            set_name: Annotated[str, typer.Option("--set", help="Mechanism set.")] = "everything",
            dataset: Annotated[str, typer.Option("--dataset", help="demo, locomo, beam, longmemeval or conversations.")] = "demo",
            data: DataOption = None, embedder: EmbedderOption = "minilm",
            rehearse: Annotated[float, typer.Option("--rehearse", min=0.0, metavar="HOURS", help="Between use and the question that counts.")] = 0.5,
            limit: LimitOption = None, jobs: JobsOption = 1, as_json: JsonOption = False) -> None:
    """What each mechanism weighs in the answers: its path, its share of the fused trust, and the answers that change without it.

    Takes each mechanism out of the set, asks all questions once, and again after rehearsal.  Every other variety stands in the place of its original.
    For `everything` on the demo: 1,540 cells of about 2 s.  A second run of the same command continues one that was stopped.
    """
    registry = installed_registry()
    from ..benchmarks import weights as weighing
    from ..benchmarks.datasets import load
    from ..console import Meter, print_lines, print_table
    from ..reporting.files import write_json
    from ..reporting.provenance import made

    with Meter("cells") as tell, Meter("embedding texts", least=100, within=tell) as embedding:
        loaded = load(dataset, data, limit=limit)
        result = weighing.weigh(registry.set(set_name), registry, loaded, named_embedder(embedder, embedding), work, rehearse=rehearse, jobs=jobs,
                                making=made(["hebbarium", *sys.argv[1:]]), progress=tell)
    told = weighing.to_json(result)
    write_json(out, told)
    if as_json:
        print_json(told)
        return
    asked = result.provenance["questions"]
    numbers = ("trust", "cold", "rehearsed")
    print_table(f"{result.set_name} on {loaded.name}: answers of {asked} that change without the mechanism", ("mechanism", *numbers, "path"),
                [(id, "-" if w.share is None else f"{w.share:.1%}", str(w.cold), str(w.rehearsed), weighing.path(w))
                 for id, w in result.mechanisms.items()], numbers=numbers, whole=("mechanism", *numbers))
    inert = [id for id, w in result.mechanisms.items() if w.inert]
    print_lines(f"inert: {', '.join(inert) or 'none'}", f"written to {out}")
