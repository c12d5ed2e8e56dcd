"""`hebbarium ablate`: a design by name, such as leave-one-out, or from a file, is carried out and
its estimates are printed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..engine.base.errors import InputError
from .app import say
from .shared import (
    DATASETS,
    DEFAULT_SET,
    lasting,
    load_data,
    named_embedder,
    named_language_model,
    print_json,
    print_kept,
    print_missing_gold,
    resumable,
)

if TYPE_CHECKING:
    from ..benchmarks.datasets import Unit
    from ..benchmarks.designs.file import DataRef, Experiment
    from ..benchmarks.designs.probe_metric import Measure
    from ..benchmarks.execution.failures import Options
    from ..benchmarks.execution.spec import Settings
    from ..benchmarks.experiments.design import Costs
    from ..benchmarks.reports.result import DesignResult
    from ..benchmarks.scores.detectable import Detectable
    from ..engine.catalogue.registry import Registry
    from ..engine.ports.embedding_cache import CachedEmbedder
    from ..reporting.provenance import Made
LEAVE_ONE_OUT = "leave-one-out"


def carry_out(
    registry: Registry,
    settings: Settings,
    given: Mapping[str, Any],
    design: str,
    out: Path,
    *,
    data: Path | None,
    limit: int | None,
    skip: int,
    jobs: int,
    margin: float | None,
    arms: str | None,
    beside: Sequence[str] | None,
    replace_run: bool,
    yes: bool,
    how: Options,
    time_hooks: bool,
    as_json: bool,
    making: Callable[[Iterable[str], Mapping[str, Any]], Made],
    embedders: Sequence[str] = (),
) -> None:
    """Run a design and print its estimates.  Raises HebbariumError, before anything runs if
    possible.

    embedders  those of the command line; () for those of the file, or the usual one
    """
    from ..benchmarks.datasets import LOADERS
    from ..benchmarks.designs.file import OWN, file_of, plain, read
    from ..benchmarks.experiments.design import Block, carried_out, prepared
    from ..console import Meter

    model_named = given["language_model"] or given["transcript"]
    if time_hooks and model_named:
        raise InputError(
            "mechanisms are timed without a language model",
            where="--costs",
            cure="leave it out, or --llm and --transcript",
        )
    experiment = (
        plain(design, registry, given["set"] or DEFAULT_SET)
        if design in OWN
        else read(file_of(design), registry, LOADERS, given["set"], _measures)
    )
    if twice := [name for name in embedders if embedders.count(name) > 1]:
        raise InputError(
            f"the embedder {twice[0]!r} is given twice",
            where="--embedder",
            cure="name every embedder once",
        )
    experiment = replace(
        experiment,
        margin=experiment.margin if margin is None else margin,
        embedders=tuple(embedders) or experiment.embedders,
    )
    if experiment.probe:
        used = [
            ("--dataset", given["dataset"]),
            ("--data", data),
            ("--limit", limit),
            ("--skip", skip),
            ("--keep-lives", how.keep_lives),
            ("--dask", how.dask),
            ("--costs", time_hooks),
            ("--beside", beside),
            ("--rehearse", given["rehearse"] is not None),
            ("--llm", given["language_model"]),
            ("--transcript", given["transcript"]),
        ]
        _probed(
            registry,
            settings,
            given,
            experiment,
            out,
            arms=_names(arms),
            refused=[flag for flag, value in used if value],
            jobs=jobs,
            replace_run=replace_run,
            yes=yes,
            as_json=as_json,
            making=making,
        )
        return
    refs = _data(experiment, given["dataset"], data, settings.unit, limit)
    specs = experiment.embedders or (given["embedder"],)
    with Meter("arms planned", least=100) as planning:
        ready = prepared(
            experiment, registry, settings, planning, only=_names(arms), beside=beside or ()
        )
    model = named_language_model(given["language_model"], given["transcript"])
    loaded = [
        load_data(
            ref.dataset,
            Path(ref.path) if ref.path else None,
            _unit(ref.unit),
            ref.limit,
            settings.allow_missing_gold,
            skip,
        )
        for ref in refs
    ]
    blocks = [
        Block(
            " ".join(
                filter(
                    None,
                    (
                        f"{place} {source.name}" if len(refs) > 1 else "",
                        _short(spec) if len(specs) > 1 else "",
                    ),
                )
            ),
            source,
            lasting(spec),
        )
        for place, source in enumerate(loaded, 1)
        for spec in specs
    ]
    made = making(ready.mechanisms, {**given, "dataset": refs[0].dataset, "embedder": specs[0]})
    with (
        Meter("cells") as progress,
        Meter("embedding texts", least=100, within=progress) as embedding,
        resumable(progress, out),
    ):
        opened: dict[str, CachedEmbedder] = {}

        def embedder(spec: str) -> CachedEmbedder:
            return opened.setdefault(spec, named_embedder(spec, embedding))

        result = carried_out(
            ready,
            blocks,
            embedder,
            out,
            jobs=jobs,
            progress=progress,
            announce=_announce,
            making=made,
            replace_run=replace_run,
            language_model=model,
            options=how,
            confirm=None if yes or design == LEAVE_ONE_OUT else _confirm,
            time_hooks=time_hooks,
        )
    print_kept(progress, out)
    for source in loaded:
        print_missing_gold(source)
    _print(result, out, as_json=as_json)


def _measures() -> Mapping[str, Measure]:
    from ..benchmarks.experiments.probed import measures

    return measures()


def _probed(
    registry: Registry,
    settings: Settings,
    given: Mapping[str, Any],
    experiment: Experiment,
    out: Path,
    *,
    arms: Sequence[str],
    refused: Sequence[str],
    jobs: int,
    replace_run: bool,
    yes: bool,
    as_json: bool,
    making: Callable[[Iterable[str], Mapping[str, Any]], Made],
) -> None:
    """Run a design whose metric is a number of a probe.  Raises HebbariumError."""
    from ..benchmarks.experiments.design import prepared
    from ..benchmarks.experiments.probed import probed
    from ..console import Meter

    if refused:
        raise InputError(
            f"{refused[0]} has no meaning for the metric {experiment.metric}",
            where=refused[0],
            cure="leave it out: the probe tells and asks its own events",
        )
    specs = experiment.embedders or (given["embedder"],)
    with Meter("arms planned", least=100) as planning:
        ready = prepared(experiment, registry, settings, planning, only=arms)
    made = making(ready.mechanisms, {**given, "dataset": "demo", "embedder": specs[0]})
    with (
        Meter("cells") as progress,
        Meter("embedding texts", least=100, within=progress) as embedding,
        resumable(progress, out),
    ):
        result = probed(
            ready,
            [(_short(spec) if len(specs) > 1 else "", lasting(spec)) for spec in specs],
            lambda spec: named_embedder(spec, embedding),
            out,
            jobs=jobs,
            progress=progress,
            making=made,
            replace_run=replace_run,
            confirm=None if yes else _confirm,
        )
    _print(result, out, as_json=as_json)


def _names(arms: str | None) -> tuple[str, ...]:
    return () if arms is None else tuple(name.strip() for name in arms.split(","))


def _print(result: DesignResult, out: Path, *, as_json: bool) -> None:
    """The estimates of every block: a table on a terminal, plain lines elsewhere, or JSON."""
    from ..benchmarks.reports.grid import SCOPE_HEADS, cell_rows, grids, scope_rows
    from ..benchmarks.reports.result import to_json
    from ..benchmarks.reports.tables import SPARE, beside_heads, beside_rows, show, to_table
    from ..benchmarks.reports.words import beside_note
    from ..console import console, draw, print_lines, print_table

    if as_json:
        print_json(to_json(result))
        return
    for block in result.blocks:
        if not console().is_terminal:
            show(block, console())
            continue
        draw(to_table(block), spare=SPARE, roomy={"arm": 18, "estimate": 18})
        if block.beside:
            heads = beside_heads(block)
            print_table(
                beside_note(block),
                heads,
                beside_rows(block),
                numbers=heads[1:],
                whole=heads[1:],
                spare=heads[:3:-1],
            )
    for grid in grids(result):
        heads, rows = cell_rows(grid)
        print_table(f"Grid on {grid.dataset}", heads, rows, numbers=heads[1:], whole=heads[:1])
        print_table("", SCOPE_HEADS, scope_rows(grid), numbers=SCOPE_HEADS[1:], whole=SCOPE_HEADS)
    print_lines(
        *result.notes,
        *(f"left out: {id}: {why}" for id, why in result.excluded.items()),
        f"report: {out / 'design.html'}",
    )


def _announce(detected: Detectable) -> None:
    """Say on standard error what the design can detect."""
    for line in detected.lines():
        say(line)


def _data(
    experiment: Experiment, dataset: str | None, path: Path | None, unit: str, limit: int | None
) -> tuple[DataRef, ...]:
    """The data of the command line, else those of the file; --data may be a folder that holds
    each of them.  Raises InputError.
    """
    from ..benchmarks.designs.file import DataRef

    if dataset:
        return (DataRef(dataset, str(path) if path else "", unit, limit),)
    if not experiment.data:
        raise InputError(
            "no data set is given",
            where="--dataset" if experiment.source == "--design" else experiment.source,
            cure=f"give --dataset {DATASETS.removesuffix('.')}"
            + ("" if experiment.source == "--design" else ", or `data:` in the file"),
        )
    return tuple(
        replace(
            ref,
            path=str(path) if path and ref.path else ref.path,
            limit=limit if limit is not None else ref.limit,
        )
        for ref in experiment.data
    )


def _unit(unit: str) -> Unit:
    return "session" if unit == "session" else "turn"


def _short(spec: str) -> str:
    return Path(spec).name


def _confirm(costs: Costs) -> None:
    """Print what the design costs and ask; without a terminal, refuse.  Raises InputError,
    typer.Abort.
    """
    say(costs.line())
    if not sys.stdin.isatty():
        raise InputError(
            f"the design takes long: {costs.line()}",
            where="--yes",
            cure="give --yes to run it without a question",
        )
    typer.confirm("Run it?", abort=True)
