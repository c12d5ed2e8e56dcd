"""The command `compose`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..benchmarks.execution.failures import Options
from .app import app, say
from .experiments import DaskOption, FailFastOption, ReplaceOption, RetriesOption
from .shared import (
    DATASET,
    DEFAULT_SET,
    EmbedderOption,
    JobsOption,
    JsonOption,
    LimitOption,
    OutOption,
    installed_registry,
    load_data,
    named_embedder,
    print_json,
    print_kept,
    resumable,
)

if TYPE_CHECKING:
    from ..benchmarks.composition.request import CompositionRequest
    from ..benchmarks.composition.result import Composed
    from ..benchmarks.datasets import Unit


@app.command(short_help="Find the smallest part of a set that is as good as the whole.")
def compose(
    out: OutOption,
    request: Annotated[
        Path | None,
        typer.Option(
            "--request",
            metavar="FILE.yaml",
            help=(
                "What is asked for, with several data sets: docs/guides/designs.md; in place of the options of data."
            ),
        ),
    ] = None,
    set_name: Annotated[
        str | None,
        typer.Option(
            "--set", help="The whole set: a name, or a YAML file; `default` if not given."
        ),
    ] = None,
    dataset: Annotated[str | None, DATASET] = None,
    data: Annotated[
        Path | None, typer.Option("--data", help="File or folder of the data; the demo needs none.")
    ] = None,
    unit: Annotated[
        str, typer.Option("--unit", metavar="[turn|session]", help="What one event is.")
    ] = "turn",
    limit: LimitOption = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            metavar="NAME",
            help=(
                "What must not be lost: hit, recall, mrr, ndcg or all @ 1, 5, 10 or 50; may be given again. recall@10 if not given."
            ),
        ),
    ] = None,
    margin: Annotated[
        float, typer.Option("--margin", help="What may be lost of each metric.")
    ] = 0.005,
    cost: Annotated[
        str,
        typer.Option(
            "--cost",
            metavar="NAME",
            help=("What is made small: mechanisms, event or question (ms), or compile (CPU s)."),
        ),
    ] = "mechanisms",
    keep: Annotated[
        list[str] | None,
        typer.Option(
            "--keep", metavar="MECHANISM", help="Mechanism that stays; may be given again."
        ),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option(
            "--start",
            metavar="SET",
            help="A part to begin with, which spares most of the work: a set, or a YAML file.",
        ),
    ] = None,
    folds: Annotated[
        int,
        typer.Option(
            "--folds",
            metavar="N",
            min=0,
            max=100,
            help=("Searches without some conversations, for an honest estimate; 0: none."),
        ),
    ] = 5,
    embedder: EmbedderOption = "minilm",
    seed: Annotated[
        int, typer.Option("--seed", min=0, help="Of random streams, folds and resamples.")
    ] = 0,
    write: Annotated[
        Path | None,
        typer.Option("--write", metavar="FILE.yaml", help="Also write the found set to this file."),
    ] = None,
    jobs: JobsOption = 1,
    replace: ReplaceOption = False,
    retries: RetriesOption = 1,
    fail_fast: FailFastOption = False,
    dask: DaskOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find the smallest part of a set that is not worse than the whole by more than a margin, on
    several data sets at once, and say what it loses on conversations that took no part.

    Writes composition.html, .md and .json, and found.yaml.  A second run of the same command
    continues one that was stopped.
    """
    registry = installed_registry()
    from ..benchmarks.composition.compose import compose as composed
    from ..benchmarks.composition.result import to_json
    from ..benchmarks.execution.spec import Settings
    from ..console import Meter
    from ..reporting.provenance import made

    asked = _request(
        request, set_name, dataset, data, unit, limit, metric, margin, cost, folds, keep, start
    )
    chosen = registry.set(asked.set)
    _check_target(write)
    loaded = [
        load_data(
            need.ref.dataset,
            Path(need.ref.path) if need.ref.path else None,
            _unit(need.ref.unit),
            need.ref.limit,
        )
        for need in asked.needs
    ]
    with (
        Meter("cells") as progress,
        Meter("embedding texts", least=100, within=progress) as embedding,
        resumable(progress, out),
    ):
        result = composed(
            asked,
            chosen,
            loaded,
            registry,
            named_embedder(embedder, embedding),
            out,
            settings=Settings(seed=seed),
            jobs=jobs,
            progress=progress,
            say=say,
            making=made(["hebbarium", *sys.argv[1:]]),
            replace_result=replace,
            options=Options(retries, fail_fast, dask=dask),
            write=write,
        )
    print_kept(progress, out)
    if as_json:
        print_json(to_json(result))
        return
    _print(result, out)


def _request(
    file: Path | None,
    set_name: str | None,
    dataset: str | None,
    data: Path | None,
    unit: str,
    limit: int | None,
    metric: list[str] | None,
    margin: float,
    cost: str,
    folds: int,
    keep: list[str] | None,
    start: str | None,
) -> CompositionRequest:
    """What is asked for, by a file or by options.  Raises HebbariumError."""
    from dataclasses import replace

    from ..benchmarks.composition.request import plain, read
    from ..benchmarks.composition.result import COSTS
    from ..benchmarks.datasets import LOADERS
    from ..benchmarks.designs.file import DataRef
    from ..engine.base.errors import InputError, nearest

    if file is not None:
        given = [
            ("--dataset", dataset),
            ("--data", data),
            ("--limit", limit),
            ("--metric", metric),
            ("--keep", keep),
            ("--start", start),
        ]
        if twice := [flag for flag, value in given if value is not None]:
            raise InputError(
                f"{twice[0]} is said in the file of the request",
                where=twice[0],
                cure="write it there, or leave out --request",
            )
        asked = read(file, LOADERS, tuple(COSTS))
        return replace(asked, set=set_name) if set_name else asked
    if dataset is None:
        raise InputError(
            "no data set is given",
            where="--dataset",
            cure=f"give --dataset {', '.join(LOADERS)}, or --request FILE.yaml with several",
        )
    if dataset not in LOADERS:
        raise InputError(
            f"no data set {dataset!r}", where="--dataset", cure=nearest(dataset, LOADERS)
        )
    if cost not in COSTS:
        raise InputError(f"no cost {cost!r}", where="--cost", cure=f"take {', '.join(COSTS)}")
    if unit not in ("turn", "session"):
        raise InputError(f"no unit {unit!r}", where="--unit", cure="take turn or session")
    return plain(
        set_name or DEFAULT_SET,
        [DataRef(dataset, str(data) if data else "", unit, limit)],
        metric or ["recall@10"],
        margin,
        cost,
        folds,
        keep or (),
        start or "",
    )


def _check_target(write: Path | None) -> None:
    """Raises InputError, before anything runs, for a file that no set can be read from."""
    from ..engine.base.errors import InputError

    if write is not None and write.suffix not in (".yaml", ".yml"):
        raise InputError(
            f"{write.name!r} is no name of a mechanism set's file",
            where="--write",
            cure="end it with .yaml",
        )


def _unit(unit: str) -> Unit:
    return "session" if unit == "session" else "turn"


def _print(result: Composed, out: Path) -> None:
    from ..benchmarks.composition.result import (
        HEADS,
        MECHANISM_HEADS,
        constraint_rows,
        mechanism_rows,
    )
    from ..console import print_lines, print_table

    print_table(
        f"The smallest part of {result.chosen.name}",
        HEADS,
        constraint_rows(result),
        numbers=HEADS[1:],
        whole=HEADS,
    )
    print_table(
        "How often each mechanism stays",
        MECHANISM_HEADS,
        mechanism_rows(result),
        numbers=MECHANISM_HEADS[3:],
        whole=("mechanism",),
        spare=("family", "conversations"),
    )
    print_lines(
        result.headline,
        f"the set is in {out / 'found.yaml'}",
        f"report: {out / 'composition.html'}",
    )
