"""`hebbarium ablate --design`: designs other than leave-one-out, by name or from a file."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..engine.base.errors import InputError
from .app import say
from .shared import DEFAULT_SET, lasting, load_data, named_embedder, print_json, resumable

if TYPE_CHECKING:
    from ..benchmarks.datasets import Unit
    from ..benchmarks.designs.file import DataRef, Experiment
    from ..benchmarks.designs.probe_metric import Measure
    from ..benchmarks.execution.failures import Options
    from ..benchmarks.execution.spec import Settings
    from ..benchmarks.experiments.design import Costs
    from ..engine.catalogue.registry import Registry
    from ..engine.ports.embedding_cache import CachedEmbedder
    from ..reporting.provenance import Made

REFUSED = (("--rehearse", "rehearse"), ("--llm", "language_model"), ("--transcript", "transcript"))


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
) -> None:
    """Run a design and print its estimates.  Raises HebbariumError, before anything runs if
    possible.
    """
    from ..benchmarks.datasets import LOADERS
    from ..benchmarks.designs.file import OWN, found, plain, read
    from ..benchmarks.experiments.design import Block, carried_out, prepared, to_json
    from ..console import Meter, print_lines

    if not settings.ours or beside or arms is not None:
        flag = "--system" if not settings.ours else "--beside" if beside else "--arms"
        raise InputError(
            f"{flag} is for leave-one-out",
            where=flag,
            cure="name players or arms in the design's file, and leave the option out",
        )
    if odd := [flag for flag, name in REFUSED if given[name] is not None]:
        raise InputError(
            f"a design has no {odd[0]}",
            where=odd[0],
            cure="leave it out, or use --design leave-one-out",
        )
    experiment = (
        plain(design, registry, given["set"] or DEFAULT_SET)
        if design in OWN
        else read(found(design), registry, LOADERS, given["set"], _measures)
    )
    experiment = replace(experiment, margin=experiment.margin if margin is None else margin)
    if experiment.probe:
        used = [
            ("--dataset", given["dataset"]),
            ("--data", data),
            ("--limit", limit),
            ("--skip", skip),
            ("--keep-lives", how.keep_lives),
            ("--dask", how.dask),
            ("--costs", time_hooks),
        ]
        _probed(
            registry,
            settings,
            given,
            experiment,
            out,
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
        ready = prepared(experiment, registry, settings, planning)
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
                        f"{place} {one.name}" if len(refs) > 1 else "",
                        _short(spec) if len(specs) > 1 else "",
                    ),
                )
            ),
            one,
            lasting(spec),
        )
        for place, one in enumerate(loaded, 1)
        for spec in specs
    ]
    made = making(
        {id for arm in ready.laid.arms for id in arm.chosen.mechanisms},
        {**given, "dataset": refs[0].dataset, "embedder": specs[0]},
    )
    with (
        Meter("cells") as progress,
        Meter("embedding texts", least=100, within=progress) as embedding,
        resumable(progress, out),
    ):
        embedders: dict[str, CachedEmbedder] = {}

        def embedder(spec: str) -> CachedEmbedder:
            return embedders.setdefault(spec, named_embedder(spec, embedding))

        results = carried_out(
            ready,
            blocks,
            embedder,
            out,
            jobs=jobs,
            progress=progress,
            making=made,
            replace_run=replace_run,
            options=how,
            confirm=None if yes else _confirm,
            time_hooks=time_hooks,
        )
    if as_json:
        print_json(to_json(ready, results, made))
        return
    print_lines((out / "design.md").read_text(encoding="utf-8"))
    print_lines(
        f"written to {out}: design.md, design.json, estimates.jsonl"
        + (", coalitions.jsonl" if ready.laid.coalitions else "")
    )


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
    refused: Sequence[str],
    jobs: int,
    replace_run: bool,
    yes: bool,
    as_json: bool,
    making: Callable[[Iterable[str], Mapping[str, Any]], Made],
) -> None:
    """Run a design whose metric is a number of a probe.  Raises HebbariumError."""
    from ..benchmarks.experiments.design import prepared, to_json
    from ..benchmarks.experiments.probed import probed
    from ..console import Meter, print_lines

    if refused:
        raise InputError(
            f"{refused[0]} has no meaning for the metric {experiment.metric}",
            where=refused[0],
            cure="leave it out: the probe tells and asks its own events",
        )
    specs = experiment.embedders or (given["embedder"],)
    with Meter("arms planned", least=100) as planning:
        ready = prepared(experiment, registry, settings, planning)
    made = making(
        {id for arm in ready.laid.arms for id in arm.chosen.mechanisms},
        {**given, "dataset": "demo", "embedder": specs[0]},
    )
    with (
        Meter("cells") as progress,
        Meter("embedding texts", least=100, within=progress) as embedding,
        resumable(progress, out),
    ):
        ready, results = probed(
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
    if as_json:
        print_json(to_json(ready, results, made))
        return
    print_lines((out / "design.md").read_text(encoding="utf-8"))
    print_lines(
        f"written to {out}: design.md, design.json, estimates.jsonl"
        + (", coalitions.jsonl" if ready.laid.coalitions else "")
    )


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
            "neither the design nor the command names data",
            where=experiment.source,
            cure="give --dataset, or `data:` in the file",
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
