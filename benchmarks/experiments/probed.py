"""Designs whose metric is a number of a probe: `metric: probe:NAME`.  Every arm runs the probe
once for each seed; the seeds are the clusters.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engine.base.errors import HebbariumError, InputError
from ...engine.ports.embedding_cache import CachedEmbedder
from ...reporting.files import results_folder, write_json
from ...reporting.provenance import Made, made
from ..designs.file import Experiment
from ..designs.probe_metric import Measure, ProbeMetric
from ..execution.folder import ROWS, ledger_beside
from ..execution.local import Progress, write_lines
from ..probes.harness.bands import STORED
from ..probes.harness.base import Above, Claim, Numbers, Probe, Ratio
from ..probes.harness.collection import collected
from ..probes.harness.run import ProbeSpec, run_cells, specs_of
from ..reports.result import BlockResult, DesignResult
from .design import LONG, Costs, Prepared, written
from .judging import judged

RUN = "probe.json"
DECIDING = ("metric", "set", "set_digest", "registry_digest", "embedder", "embedder_revision",
            "embedder_dimensions")  # fmt: skip


def measures() -> dict[str, Measure]:
    """What every probe can be scored by, by id."""
    return {
        id: Measure(
            tuple(map(number_of, probe.band)),
            tuple(dict.fromkeys(name for claim in probe.band for name in claim.names)),
            probe.seeds,
        )
        for id, probe in collected().items()
    }


def number_of(claim: Claim) -> str:
    """What a claim of a band is about.

    >>> from hebbarium.benchmarks.probes.harness.base import Within
    >>> number_of(Within("hit@1", low=0.8)), number_of(Above("linked", "broken", 2.0)), number_of(Ratio("late", "early"))
    ('hit@1', 'linked - 2 broken', 'late / early')
    """
    if isinstance(claim, Ratio):
        return f"{claim.first} / {claim.second}"
    return (
        f"{claim.first} - {'' if claim.factor == 1.0 else f'{claim.factor:g} '}{claim.second}"
        if isinstance(claim, Above)
        else claim.name
    )


def value_of(probe: Probe, number: str, numbers: Numbers) -> float:
    """A number of the band as `number_of` calls it, or any number by its name, of one seed; NaN if
    it is not defined.

    numbers  what the probe measured with that seed
    """
    claim = next((claim for claim in probe.band if number_of(claim) == number), None)
    if claim is None:
        return float(numbers.get(number, math.nan))
    if isinstance(claim, Ratio):
        below = numbers[claim.second]
        return float(numbers[claim.first] / below) if below else math.nan
    return float(claim.value(numbers))


def probed(
    prepared: Prepared,
    embedders: Sequence[tuple[str, str]],
    embedder: Callable[[str], CachedEmbedder],
    out: Path,
    *,
    jobs: int = 1,
    progress: Progress | None = None,
    making: Made | None = None,
    replace_run: bool = False,
    confirm: Callable[[Costs], None] | None = None,
) -> DesignResult:
    """Run the probe of the experiment on every arm, with every embedder and seed; write what a
    design writes.

    embedders  (name of the block, embedder as `--embedder` takes it); each is a family of its own
    embedder   makes the embedder of a name
    confirm    called with the costs, from one timed cell, if these are more than ten minutes; it
               raises to refuse

    The result is without the arms that have no value in every seed, which are excluded by name.
    Finished cells are taken from the ledgers in `out`.  Raises HebbariumError, InputError if the
    first arm has no value.
    """
    experiment = prepared.experiment
    assert experiment.probe is not None
    probe, start = collected()[experiment.probe.probe], results_folder(out)
    stamp = making or made()
    tables: list[tuple[str, str, dict[str, list[dict[str, Any]]], float]] = []
    for name, spec in embedders:
        begun, model, folder = (
            time.perf_counter(),
            embedder(spec),
            results_folder(start / "runs" / name if name else start),
        )
        cells = _cells(prepared, probe, model)
        first = next(iter(cells.values()))[0]
        noted = {key: getattr(first, key) for key in DECIDING if key != "metric"} | {
            "metric": experiment.probe.probe
        }
        specs = [spec for mine in cells.values() for spec in mine]
        with ledger_beside(folder / RUN, noted, "probe results", replace=replace_run) as book:
            if confirm and not book.done([spec.key() for spec in specs]):
                seconds = (
                    run_cells([first], prepared.plan.registry, model, book)[0]["seconds"]
                    * len(specs)
                    * len(embedders)
                )
                if seconds > LONG:
                    confirm(
                        Costs(
                            len(specs) * len(embedders), len(specs) * len(embedders), seconds / 60.0
                        )
                    )
            outcomes = iter(
                run_cells(specs, prepared.plan.registry, model, book, jobs=jobs, progress=progress)
            )
        rows = {
            arm: [
                {key: value for key, value in next(outcomes).items() if key != "seconds"}
                for _ in mine
            ]
            for arm, mine in cells.items()
        }
        write_lines(
            folder / ROWS, ({"arm": arm, **row} for arm, mine in rows.items() for row in mine)
        )
        write_json(
            folder / RUN,
            {"provenance": noted, "arms": list(cells), "seeds": list(experiment.seeds)},
        )
        tables.append((name, spec, rows, time.perf_counter() - begun))
    values = [
        {arm: _values(probe, experiment.probe, mine) for arm, mine in rows.items()}
        for _, _, rows, _ in tables
    ]
    kept = _without(
        prepared,
        {arm: why for value in values for arm, (_, why) in value.items() if why},
        probe,
        [rows for _, _, rows, _ in tables],
    )
    results = [
        _result(
            kept,
            probe,
            name,
            spec,
            {arm.id: value[arm.id][0] for arm in kept.laid.arms},
            rows,
            seconds,
        )
        for (name, spec, rows, seconds), value in zip(tables, values, strict=True)
    ]
    return written(kept, results, stamp, out)


def _cells(
    prepared: Prepared, probe: Probe, embedder: CachedEmbedder
) -> dict[str, list[ProbeSpec]]:
    """The records of every arm, one for each seed."""
    return {
        arm.arm: [
            replace(spec, seed=seed)
            for spec in specs_of([probe], 1, arm, prepared.plan.registry, embedder)
            for seed in prepared.experiment.seeds
        ]
        for arm in prepared.plan.arms
    }


def _values(
    probe: Probe, metric: ProbeMetric, rows: Sequence[Mapping[str, Any]]
) -> tuple[NDArray[np.float64], str]:
    """The value of each seed, (n,), and why one of them is not defined; "" if all are."""
    by_seed = []
    for row in rows:
        if row["missing"] or row["error"]:
            return np.full(
                len(rows), math.nan
            ), f"seed {row['seed']}: {row['error'] or 'the memory lacks ' + row['missing']}"
        by_seed.append(
            value_of(
                probe,
                metric.number,
                {
                    name: math.nan if value is None else value
                    for name, value in row["numbers"].items()
                },
            )
        )
    undefined = [
        str(row["seed"]) for row, value in zip(rows, by_seed, strict=True) if math.isnan(value)
    ]
    return np.array(
        by_seed
    ), f"{metric.number} is not defined with seed {', '.join(undefined)}" if undefined else ""


def _without(
    prepared: Prepared,
    failed: Mapping[str, str],
    probe: Probe,
    tables: Sequence[Mapping[str, Sequence[Mapping[str, Any]]]],
) -> Prepared:
    """The experiment without the arms that failed, with notes on the metric and on arms whose
    gates stored little.
    """
    first = prepared.laid.arms[0].id
    if first in failed:
        raise HebbariumError(
            f"the arm {first!r} has no value of the probe {probe.id}: {failed[first]}",
            where=prepared.experiment.source,
            cure="choose another probe, or a set that it can measure; finished cells are kept",
        )
    contrasts = tuple(c for c in prepared.laid.contrasts if failed.keys().isdisjoint(c.weights))
    if not contrasts:
        arm, why = next(iter(failed.items()))
        raise InputError(
            f"no contrast is left to estimate: {arm}: {why}",
            where=prepared.experiment.source,
            cure="leave out the arm that fails",
        )
    arms, laid = [arm for arm in prepared.laid.arms if arm.id not in failed], prepared.laid
    metric = prepared.experiment.probe
    assert metric is not None
    notes = [
        f"The metric is {metric.number} of the probe {probe.id}, with {len(prepared.experiment.seeds)} seeds: {probe.capability.rstrip('.')}"
    ]
    for scheduled in [] if probe.of_gates else arms:
        told, stored = (
            sum(row[key] for rows in tables for row in rows[scheduled.id])
            for key in ("told", "stored")
        )
        if stored < STORED * told:
            notes.append(
                f"{scheduled.id}: gates stored {stored:,} of {told:,} events, so that the experiment did not take place as it is described"
            )
    dropped = (*prepared.dropped, *(c.name for c in prepared.laid.contrasts if c not in contrasts))
    return replace(
        prepared,
        laid=replace(
            laid,
            arms=tuple(arms),
            contrasts=contrasts,
            notes=(*laid.notes, *notes),
            coalitions={id: on for id, on in laid.coalitions.items() if id not in failed},
        ),
        excluded={**prepared.excluded, **failed},
        dropped=dropped,
    )


def _result(
    prepared: Prepared,
    probe: Probe,
    name: str,
    spec: str,
    values: Mapping[str, NDArray[np.float64]],
    rows: Mapping[str, Sequence[Mapping[str, Any]]],
    seconds: float,
) -> BlockResult:
    experiment: Experiment = prepared.experiment
    facts = prepared.facts
    questions = tuple((f"seed {seed}", probe.id) for seed in experiment.seeds)
    answers = {arm: [row["numbers"] for row in rows[arm]] for arm in values}
    changes = {}
    for c in prepared.laid.contrasts:
        first, *others = (answers[arm] for arm in c.weights)
        changes[c.name] = [
            sum(other[place] != first[place] for other in others) for place in range(len(questions))
        ]
    estimates = judged(
        facts,
        prepared.laid.contrasts,
        {arm: {facts.metric: mine} for arm, mine in values.items()},
        {arm: {facts.metric: mine.tolist()} for arm, mine in values.items()},
        questions,
        prepared.plan.settings.seed,
        changes=changes,
        scoped=False,
    )
    return BlockResult(
        facts,
        name,
        f"probe {probe.id}",
        "",
        spec,
        len(questions),
        len(questions),
        {arm: float(mine.mean()) for arm, mine in values.items()},
        estimates,
        seconds=seconds,
        by_seed={arm: tuple(mine.tolist()) for arm, mine in values.items()},
        clusters="seeds",
        questions=questions,
    )
