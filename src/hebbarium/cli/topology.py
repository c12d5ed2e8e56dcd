"""The command `topology`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from ..engine.base.errors import InputError
from .app import app
from .shared import JsonOption, installed_registry, print_json

DOINGS: Final = ("replay", "latency", "budgets")

if TYPE_CHECKING:
    from ..benchmarks.datasets import Dataset
    from ..benchmarks.execution.folder import RunFolder
    from ..benchmarks.runs.topology import ArmTopology, ReplayedTopology
    from ..engine.catalogue.registry import Registry
    from ..engine.ports.embedder import Embedder
    from ..mechanisms.shared.topology_report import TopologyReport

    Asked = tuple[RunFolder, Dataset, Registry, Embedder]


@app.command(short_help="Which memories a run split, merged and archived.")
def topology(
    words: Annotated[
        list[Path],
        typer.Argument(
            metavar="[replay | latency | budgets] RUN",
            help="Folder of a run or an ablation; a word before it does something else with it.",
        ),
    ],
    arm: Annotated[
        str | None, typer.Option("--arm", help="Arm of an ablation; by default the full set.")
    ] = None,
    conversation: Annotated[
        str | None, typer.Option("--conversation", help="Only this one.", metavar="ID")
    ] = None,
    table: Annotated[
        bool,
        typer.Option("--table", help="One row for each arm of an ablation: visible, H95, costs."),
    ] = False,
    figure: Annotated[
        Path | None,
        typer.Option(
            "--figure",
            metavar="FILE",
            help="Draw all and visible units over time, or the curve of `budgets`, as SVG.",
        ),
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

    `topology replay RUN` lives every conversation a second time from these records alone, without
    a language model and without a diagnosis; exit code 1 if a memory is another one then.

    `topology latency RUN` times each question from its embedding to the ranked answer, warm, and
    apart from that the opening of the memory and its first question.

    `topology budgets RUN` asks each memory with several numbers of anchors K, candidates L and
    shown memories k: recall against tokens, and the triples that none is better than.
    """
    from ..benchmarks.execution.folder import RunFolder
    from ..benchmarks.runs.topology import arm_table, replay, surface_svg, topologies
    from ..console import Meter
    from ..engine.ports.embedding_cache import default_cache
    from ..mechanisms.shared.topology_report import together

    doing = str(words[0]) if len(words) == 2 else ""
    if len(words) != 1 and doing not in DOINGS:
        raise InputError(
            f"{len(words)} words are given",
            where="topology",
            cure=f"give one folder of a run, or one of {', '.join(DOINGS)} and one folder",
        )
    if figure is not None and (table or doing not in ("", "budgets")):
        raise InputError(
            "there is nothing to draw", where="--figure", cure="leave it out, or leave out the rest"
        )
    folder = RunFolder.read(words[-1])
    with Meter("embedding texts", least=100) as embedding:
        model = folder.embedder(embedder, default_cache(), progress=embedding)
        asked = (folder, folder.data(data), installed_registry(), model)
        if table:
            _show_table(arm_table(*asked), as_json)
            return
        if doing == "replay":
            _show_replay(replay(*asked, arm=arm, conversation=conversation), as_json)
            return
        if doing == "latency":
            _show_latency(asked, arm, conversation, as_json)
            return
        if doing == "budgets":
            _show_budgets(asked, arm, conversation, figure, as_json)
            return
        reports = topologies(*asked, arm=arm, conversation=conversation)
    whole = together(reports.values())
    if figure is not None:
        _draw(figure, surface_svg(reports))
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


def _draw(figure: Path, svg: str) -> None:
    from ..reporting.files import write_whole

    write_whole(figure, [svg], shared=True)


def _show_latency(asked: Asked, arm: str | None, conversation: str | None, as_json: bool) -> None:
    """Print the times of each memory."""
    from ..benchmarks.runs.latency import latencies
    from ..console import print_table

    times = latencies(*asked, arm=arm, conversation=conversation)
    if as_json:
        print_json({id: asdict(measured) for id, measured in times.items()})
        return
    heads = ("memories", "questions", "embed ms", "retrieve ms", "whole ms", "whole p95 ms",
             "first ms", "open ms")  # fmt: skip
    print_table(
        "Latency from the embedding of a question to the ranked answer, warm (All-Mem, F.5)",
        ("conversation", *heads),
        [
            (
                id,
                f"{m.memories:,}",
                f"{m.questions:,}",
                *(
                    f"{value:.2f}"
                    for value in (m.embed_ms, m.retrieve_ms, m.whole_ms, m.whole_p95_ms)
                ),
                f"{m.cold_ms:.2f}",
                f"{m.rebuild_ms:.1f}",
            )
            for id, m in times.items()
        ],
        numbers=heads,
        whole=heads,
    )


def _show_budgets(
    asked: Asked, arm: str | None, conversation: str | None, figure: Path | None, as_json: bool
) -> None:
    """Print recall against tokens for each triple, and draw it."""
    from ..benchmarks.runs.budgets import budgets, to_svg
    from ..console import print_table

    points = budgets(*asked, arm=arm, conversation=conversation)
    if figure is not None:
        _draw(figure, to_svg(points))
    if as_json:
        print_json([asdict(point) for point in points])
        return
    heads = ("K", "L", "k", "tokens", "recall")
    print_table(
        "Evidence against tokens (All-Mem, 4.3); *: no triple has as much recall with fewer tokens",
        ("", *heads),
        [
            ("*" if p.best else "", str(p.anchors), str(p.candidates), str(p.shown),
             f"{p.tokens:,.0f}", f"{p.recall:.4f}")
            for p in points
        ],
        numbers=heads,
        whole=heads,
    )  # fmt: skip


def _show_replay(replays: Mapping[str, ReplayedTopology], as_json: bool) -> None:
    """Print what was executed again; exit code 1 if a memory differs."""
    from ..console import print_lines

    equal = all(memory.equal for memory in replays.values())
    if as_json:
        print_json({id: asdict(memory) for id, memory in replays.items()})
    else:
        print_lines(
            *(
                f"{id}: {memory.runs} runs, "
                + ", ".join(f"{count} {name}" for name, count in memory.edits.items())
                + "; "
                + (", ".join(f"{n} {r}" for r, n in memory.reasons.items()) or "no proposals")
                + f"; {'the same memory' if memory.equal else 'ANOTHER MEMORY'}"
                for id, memory in replays.items()
            )
        )
    raise typer.Exit(0 if equal else 1)


def _show_table(rows: Sequence[ArmTopology], as_json: bool) -> None:
    """Print All-Mem's table 11 of an ablation."""
    from ..console import print_table

    if as_json:
        print_json([asdict(row) for row in rows])
        return
    heads = ("visible", "H95", "H95 typed", "retrieve ms", "s an offline run", "events a run",
             "tokens an event")  # fmt: skip
    print_table(
        "Topology by arm (All-Mem, table 11); H95 -1: none within reach",
        ("arm", *heads),
        [
            (row.arm, f"{row.visible:.3f}", str(row.h95), str(row.h95_typed),
             f"{row.retrieve_ms:.2f}", f"{row.offline:.3f}", f"{row.turns:.1f}",
             "-" if row.tokens is None else f"{row.tokens:.0f}")
            for row in rows
        ],
        numbers=heads,
        whole=heads,
    )  # fmt: skip


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
