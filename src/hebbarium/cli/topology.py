"""The command `topology`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .app import app
from .shared import JsonOption, installed_registry, print_json

if TYPE_CHECKING:
    from ..mechanisms.shared.topology_report import TopologyReport


@app.command(short_help="Which memories a run split, merged and archived.")
def topology(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run or an ablation.")],
    arm: Annotated[
        str | None, typer.Option("--arm", help="Arm of an ablation; by default the full set.")
    ] = None,
    conversation: Annotated[
        str | None, typer.Option("--conversation", help="Only this one.", metavar="ID")
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", help="Where the data are now; by default where the run read them."),
    ] = None,
    embedder: Annotated[
        str | None,
        typer.Option("--embedder", help="As for the run, if it is no longer found there."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Which memories a run split, merged and archived, and how far these are from the visible ones.

    Rebuilds the memory of each conversation, and reads the records of its consolidation: proposals
    and what became of them, edits, runs with the units and visible units after each, cap pressure,
    hop distances of archived memories, coverage by hops and H95.
    """
    from ..benchmarks.execution.folder import RunFolder
    from ..benchmarks.runs.topology import topologies
    from ..console import Meter
    from ..engine.ports.embedding_cache import default_cache
    from ..mechanisms.shared.topology_report import together

    folder = RunFolder.read(run)
    with Meter("embedding texts", least=100) as embedding:
        model = folder.embedder(embedder, default_cache(), progress=embedding)
        reports = topologies(
            folder,
            folder.data(data),
            installed_registry(),
            model,
            arm=arm,
            conversation=conversation,
        )
    whole = together(reports.values())
    if as_json:
        print_json(
            {
                "run": folder.name,
                **whole.named(),
                "conversations": {id: report.named() for id, report in reports.items()},
            }
        )
        return
    show(whole, reports)


def show(whole: TopologyReport, reports: Mapping[str, TopologyReport]) -> None:
    """Print a report of all conversations, and the runs of each."""
    from ..console import print_lines, print_table
    from ..engine.base.times import written
    from ..mechanisms.shared.topology_report import pressure

    operators = sorted({operator for operator, _ in whole.proposals})
    reasons = sorted(
        {reason for _, reason in whole.proposals}, key=lambda reason: (reason != "APPLIED", reason)
    )
    if operators:
        print_table(
            "Proposals",
            ("operator", *reasons),
            [
                [o.lower(), *(str(whole.proposals.get((o, r), 0)) for r in reasons)]
                for o in operators
            ],
            numbers=reasons,
        )
    else:
        print_lines("no proposals")
    print_lines(
        "", "edits: " + ", ".join(f"{count} {name}" for name, count in whole.edits.items()), ""
    )
    rows = [(id, str(r["run"]), written(r["time"]) or str(r["time"]), str(r["units"]),
             str(r["visible"]), f"{r['visible'] / max(r['units'], 1):.3f}",
             f"{pressure(r['semantic_before'], r['semantic_cap']):.3f}",
             f"{pressure(r['semantic_after'], r['semantic_cap']):.3f}")
            for id, report in reports.items() for r in report.runs]  # fmt: skip
    columns = ("conversation", "run", "time", "units", "visible", "share", "at cap before", "after")
    print_table(
        "Runs; share of visible units at the cap of semantic links",
        columns,
        rows,
        numbers=columns[3:],
        spare=("time",),
    )
    recovered = whole.recovery
    archived = sum(whole.distances.values())
    near = [
        (str(h), str(whole.distances.get(h, 0)), f"{share:.3f}")
        for h, share in enumerate(recovered.coverage, 1)
    ]
    heads = ("hops", "memories", "coverage")
    if not archived:
        print_lines("", "no archived memories")
        return
    print_lines("")
    print_table(
        f"{archived} archived memories by hops from a visible one", heads, near, numbers=heads
    )
    print_lines(
        "",
        f"H95: {recovered.h95 if recovered.h95 >= 0 else 'none'}, unreachable: {100 * recovered.unreachable:.1f} %",
    )
