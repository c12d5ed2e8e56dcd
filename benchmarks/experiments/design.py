"""`hebbarium ablate --design`: an experiment that a file describes, on every data set, embedder and
seed.

Each combination is a run folder of its own, with manifest, rows and ledger as every run has; arms
that share a life live once.  An estimate of a question is a contrast of the arms' values, averaged
over seeds first; data sets are families of their own and are never pooled.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import stdev
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ...engine.base.errors import ContractError, InputError, RegistryError
from ...engine.catalogue.registry import Registry
from ...engine.ports.embedding_cache import CachedEmbedder
from ...reporting.files import results_folder, write_json, write_whole
from ...reporting.provenance import Made, made
from ...reporting.text import in_cell
from ..datasets import Dataset, require_questions
from ..designs.arms import Arm
from ..designs.contrasts import Contrast, estimated
from ..designs.file import Experiment
from ..designs.kinds import Laid
from ..execution.cells import Outcome, Row
from ..execution.failures import ALONE, Options
from ..execution.local import Progress, execute, write_lines
from ..execution.plan import Plan, planned
from ..execution.spec import DEFAULTS, Settings
from ..reports import design_page
from ..reports.estimates import Cost
from ..scores.comparison import Difference, Verdict, corrected, difference, verdict
from ..scores.metrics import question_metrics
from .costs import costs_of

LONG = 600.0  # s of an estimate from which on a design is confirmed


@dataclass(frozen=True, slots=True)
class Prepared:
    """An experiment whose arms are built and checked.

    plan      with the seed of the settings; `of` gives that of another seed
    laid      without the arms that cannot be built, and without contrasts that need them
    excluded  id of each arm that cannot be built -> why
    dropped   names of the contrasts that need one of these
    """

    experiment: Experiment
    plan: Plan
    laid: Laid
    excluded: Mapping[str, str]
    dropped: tuple[str, ...]

    def of(self, seed: int) -> Plan:
        return replace(self.plan, settings=replace(self.plan.settings, seed=seed))

    @property
    def n_lives(self) -> int:
        """Lives of one conversation and seed."""
        return len({one.life.digest if one.life else one.arm for one in self.plan.arms})


@dataclass(frozen=True, slots=True)
class Block:
    """The data and the embedder of one family of estimates.

    name      "" if the experiment has only one
    embedder  as `--embedder` takes it
    """

    name: str
    data: Dataset
    embedder: str


@dataclass(frozen=True, slots=True)
class Estimate:
    """One contrast on one block.

    difference  its mean and tests, corrected over the block's family
    no_op       all arms of the contrast gave the same ranks and answers on every question
    seed_sd     standard deviation of the mean over seeds; None for one seed
    values      of each question, (n,)
    """

    name: str
    kind: str
    difference: Difference
    no_op: bool
    verdict: Verdict
    seed_sd: float | None
    values: NDArray[np.float64] = field(repr=False)


@dataclass(frozen=True, slots=True)
class BlockResult:
    """The estimates of one block, and each arm's mean of the metric.

    by_seed   arm -> its mean with each seed, in the order of the seeds; {} for one seed
    clusters  what the tests take as independent: conversations, or the seeds of a probe
    """

    block: str
    dataset: str
    embedder: str
    questions: tuple[tuple[str, str], ...]
    means: Mapping[str, float]
    estimates: tuple[Estimate, ...]
    seconds: float
    by_seed: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    clusters: str = "conversations"


@dataclass(frozen=True, slots=True)
class Costs:
    """What a design will cost, from one timed cell of each data set.

    minutes  of CPU, in all
    """

    cells: int
    lives: int
    minutes: float

    def line(self) -> str:
        """One sentence."""
        return f"{self.cells:,} cells share {self.lives:,} lives: about {self.minutes:,.0f} CPU minutes"


def prepared(
    experiment: Experiment,
    registry: Registry,
    settings: Settings = DEFAULTS,
    progress: Progress | None = None,
) -> Prepared:
    """Lay out a design and build every arm.  Arms that cannot be built, such as coalitions with two
    fusions, are excluded by name.

    progress  called with (arms built, all arms, the last one)

    Raises InputError if nothing is left to estimate, if the reference arm cannot be built, or as
    the design does.
    """
    chosen = settings.applied(registry.set(experiment.set))
    laid = experiment.design.laid(chosen, registry)
    budget = experiment.budget
    if budget:
        strategy = (
            settings.strategy
            if settings.strategy != DEFAULTS.strategy or not experiment.strategy
            else experiment.strategy
        )
        settings = replace(
            settings,
            context=tuple(sorted({*settings.context, budget})),
            strategy=cast(Any, strategy),
        )
    arms: list[Arm] = []
    parts = []
    excluded: dict[str, str] = {}
    for count, arm in enumerate(laid.arms, 1):
        try:
            parts.append(planned([arm], registry, settings).arms[0])
            arms.append(arm)
        except (ContractError, RegistryError) as error:
            if arm is laid.arms[0]:
                raise
            excluded[arm.id] = error.what
        if progress:
            progress(count, len(laid.arms), arm.id)
    dropped = tuple(c.name for c in laid.contrasts if not excluded.keys().isdisjoint(c.weights))
    contrasts = tuple(c for c in laid.contrasts if c.name not in dropped)
    if not contrasts:
        first, why = next(iter(excluded.items()), ("", "it has no arms"))
        raise InputError(
            f"the design has nothing to estimate: {first or experiment.kind}: {why}",
            where=experiment.source,
            cure="leave out the player or arm that cannot be built",
        )
    used = {arm for c in contrasts for arm in c.weights} | {laid.arms[0].id}
    kept = [(arm, part) for arm, part in zip(arms, parts, strict=True) if arm.id in used]
    laid = Laid(
        tuple(arm for arm, _ in kept),
        contrasts,
        {id: on for id, on in laid.coalitions.items() if id in used},
        laid.notes,
    )
    return Prepared(
        experiment,
        Plan(registry, settings, tuple(part for _, part in kept)),
        laid,
        excluded,
        dropped,
    )


def carried_out(
    prepared: Prepared,
    blocks: Sequence[Block],
    embedder: Callable[[str], CachedEmbedder],
    out: Path,
    *,
    jobs: int = 1,
    progress: Progress | None = None,
    making: Made | None = None,
    replace_run: bool = False,
    options: Options = ALONE,
    confirm: Callable[[Costs], None] | None = None,
    time_hooks: bool = False,
) -> list[BlockResult]:
    """Run every arm on every block and seed; write design.json, design.md, estimates.jsonl and, for
    coalitions, coalitions.jsonl into `out`.

    embedder  makes the embedder of a name
    confirm   called with the costs of a design, before it runs, if these are more than ten minutes;
              it raises to refuse
    time_hooks  also measure the CPU time of every mechanism of the reference arm, on the first
                conversation (`costs.costs_of`)

    A second call of an experiment that was stopped continues it.  Raises HebbariumError, InputError
    before anything runs for data without gold.
    """
    for block in blocks:
        require_questions(block.data)
        if not any(q.gold for c in block.data.conversations for q in c.questions):
            raise InputError(
                "no question names its evidence, so there is nothing to compare",
                where=block.data.name,
                cure="take more conversations, or another data set",
            )
        if prepared.experiment.metric.startswith("answer@") and not any(
            q.gold and q.answer for c in block.data.conversations for q in c.questions
        ):
            raise InputError(
                "no question has an answer in words",
                where=block.data.name,
                cure="take the metric evidence@B, or another data set",
            )
    results_folder(out)
    stamp = making or made()
    if confirm:
        costs = _costs(prepared, blocks, embedder, out, stamp, replace_run, options, jobs)
        if costs.minutes * 60.0 > LONG:
            confirm(costs)
    results = []
    for block in blocks:
        start, by_seed = time.perf_counter(), []
        for seed in prepared.experiment.seeds or (prepared.plan.settings.seed,):
            outcomes = execute(
                prepared.of(seed),
                block.data,
                embedder(block.embedder),
                _folder(out, prepared, block, seed),
                command=_command(prepared, block, stamp),
                jobs=jobs,
                progress=progress,
                replace=replace_run,
                options=options,
            )
            by_seed.append(outcomes)
        results.append(_result(prepared, block, by_seed, time.perf_counter() - start))
    first = blocks[0]
    timed = (
        costs_of(
            prepared.laid.arms[0].chosen,
            prepared.plan.registry,
            first.data.conversations[0],
            embedder(first.embedder),
            seed=prepared.plan.settings.seed,
        )
        if time_hooks
        else []
    )
    written(prepared, results, stamp, out, timed)
    return results


def written(
    prepared: Prepared,
    results: Sequence[BlockResult],
    stamp: Made,
    out: Path,
    costs: Sequence[Cost] = (),
) -> None:
    """Write the files of a finished design into `out`: design.*, estimates.jsonl and, for
    coalitions, coalitions.jsonl.  Raises HebbariumError.
    """
    found = to_json(prepared, results, stamp) | (
        {"costs": [asdict(cost) for cost in costs]} if costs else {}
    )
    write_json(out / "design.json", found, shared=True)
    write_whole(out / "design.md", [to_markdown(prepared, results)], shared=True)
    design_page.write(found, out)
    write_lines(out / "estimates.jsonl", _lines(results))
    if prepared.laid.coalitions:
        write_lines(
            out / "coalitions.jsonl",
            (
                {
                    "block": result.block,
                    "dataset": result.dataset,
                    "arm": arm.id,
                    "players": list(prepared.laid.coalitions.get(arm.id, ())),
                    "value": result.means[arm.id],
                }
                for result in results
                for arm in prepared.laid.arms
            ),
        )


def _folder(out: Path, prepared: Prepared, block: Block, seed: int) -> Path:
    seeds = f"seed {seed}" if len(prepared.experiment.seeds) > 1 else ""
    return (
        out
        / "runs"
        / "_".join(filter(None, (block.name, seeds))).replace(" ", "_").replace("/", "_")
        if block.name or seeds
        else out / "runs"
    )


def _command(prepared: Prepared, block: Block, stamp: Made) -> dict[str, Any]:
    return {
        "command": "ablate",
        "design": prepared.experiment.kind,
        "design_name": prepared.experiment.name,
        "embedder_spec": block.embedder,
        "made": asdict(stamp),
    }


def _costs(
    prepared: Prepared,
    blocks: Sequence[Block],
    embedder: Callable[[str], CachedEmbedder],
    out: Path,
    stamp: Made,
    replace_run: bool,
    options: Options,
    jobs: int,
) -> Costs:
    """The costs, from one conversation of the first arm on each block; its cell is kept in the
    ledger.
    """
    seeds, seconds, n_conversations = (
        prepared.experiment.seeds or (prepared.plan.settings.seed,),
        0.0,
        0,
    )
    for block in blocks:
        first = block.data.conversations[0]
        folder = _folder(out, prepared, block, seeds[0])
        if (folder / "rows.jsonl").exists():
            return Costs(0, 0, 0.0)  # it has run before
        begun = (folder / "manifest.json").exists()
        if begun:
            continue  # it was confirmed before
        alone = replace(prepared.of(seeds[0]), arms=prepared.plan.arms[:1])
        data = replace(block.data, conversations=(first,))
        outcome = execute(
            alone,
            data,
            embedder(block.embedder),
            folder,
            command=_command(prepared, block, stamp),
            replace=replace_run,
            options=options,
        )[0][0]
        asking = sum(outcome.timing.get("retrieve", [])) / 1e3
        life = (
            sum(ms for name, ms in outcome.times[0].items() if name.endswith("_ms")) / 1e3
            + outcome.embedding["seconds"]
        )
        events = sum(len(c.events) for c in block.data.conversations) / max(len(first.events), 1)
        questions = sum(len(c.questions) for c in block.data.conversations) / max(
            len(first.questions), 1
        )
        lives = max(prepared.n_lives, min(jobs, len(prepared.plan.arms)))
        seconds += len(seeds) * (
            life * events * lives + asking * questions * len(prepared.plan.arms)
        )
        n_conversations += len(block.data.conversations)
    return Costs(
        len(prepared.plan.arms) * n_conversations * len(seeds),
        prepared.n_lives * n_conversations * len(seeds),
        seconds / 60.0,
    )


def metric_of(row: Row, metric: str) -> float | None:
    """A metric of one question with gold; None for `answer@B` of a question without an answer in
    words.
    """
    name, _, budget = metric.partition("@")
    if name == "evidence":
        return float(row["contexts"][budget]["evidence"] or 0.0)
    if name == "answer":
        return row["contexts"][budget]["answer"]
    return float(question_metrics(row["ranks"]).named()[metric])


def _result(
    prepared: Prepared, block: Block, by_seed: Sequence[Sequence[Sequence[Outcome]]], seconds: float
) -> BlockResult:
    """The estimates of a block: values of a question are means over seeds."""
    experiment, ids = prepared.experiment, [arm.id for arm in prepared.laid.arms]
    rows = [
        [
            [
                row
                for outcome in outcomes
                for row in outcome.rows
                if row["gold"] and metric_of(row, experiment.metric) is not None
            ]
            for outcomes in arms
        ]
        for arms in by_seed
    ]
    values = [
        {
            id: np.array([metric_of(row, experiment.metric) for row in mine], np.float64)
            for id, mine in zip(ids, arms, strict=True)
        }
        for arms in rows
    ]
    mean = {id: np.mean([each[id] for each in values], axis=0) for id in ids}
    ranks = {
        id: [[(row["ranks"], row["retrieved"]) for row in arms[place]] for arms in rows]
        for place, id in enumerate(ids)
    }
    questions = tuple((row["conversation"], row["question"]) for row in rows[0][0])
    found = estimated(prepared.laid.contrasts, mean)
    by = [estimated(prepared.laid.contrasts, each) for each in values]
    spread = (
        {id: tuple(float(each[id].mean()) for each in values) for id in ids}
        if len(values) > 1
        else {}
    )
    return BlockResult(
        block.name,
        block.data.name,
        block.embedder,
        questions,
        {id: float(v.mean()) for id, v in mean.items()},
        judged(
            prepared.laid.contrasts,
            found,
            by,
            questions,
            ranks,
            experiment,
            prepared.plan.settings.seed,
        ),
        seconds,
        spread,
    )


def judged(
    contrasts: Sequence[Contrast],
    found: Mapping[str, NDArray[np.float64]],
    by_seed: Sequence[Mapping[str, NDArray[np.float64]]],
    questions: Sequence[tuple[str, str]],
    ranks: Mapping[str, Any],
    experiment: Experiment,
    seed: int,
) -> tuple[Estimate, ...]:
    """The estimates of a family of contrasts, corrected over the family.

    found      contrast -> its value for each question, (n,)
    by_seed    the same with each seed
    questions  (conversation, question); conversations are the clusters
    ranks      arm -> everything that it answered; equal arms are a no-op
    """
    _, clusters = np.unique([conversation for conversation, _ in questions], return_inverse=True)
    family = [
        difference(
            found[c.name], np.zeros(len(questions)), clusters, seed=seed, margin=experiment.margin
        )
        for c in contrasts
    ]
    if experiment.correction == "holm":
        family = list(corrected(family))
    else:
        from scipy.stats import false_discovery_control

        adjusted = false_discovery_control(
            [1.0 if d.p is None else d.p for d in family], method="bh"
        )
        family = [replace(d, p_holm=float(p)) for d, p in zip(family, adjusted, strict=True)]
    estimates = []
    for c, d in zip(contrasts, family, strict=True):
        first, *others = (ranks[arm] for arm in c.weights)
        no_op = all(other == first for other in others) and not found[c.name].any()
        sd = stdev([float(each[c.name].mean()) for each in by_seed]) if len(by_seed) > 1 else None
        estimates.append(
            Estimate(c.name, c.kind, d, no_op, verdict(d, no_op=no_op), sd, found[c.name])
        )
    return tuple(estimates)


def _lines(results: Sequence[BlockResult]) -> Iterator[dict[str, Any]]:
    """The value of every estimate for every question."""
    for result in results:
        for one in result.estimates:
            for (conversation, question), value in zip(
                result.questions, one.values.tolist(), strict=True
            ):
                yield {
                    "block": result.block,
                    "dataset": result.dataset,
                    "estimate": one.name,
                    "conversation": conversation,
                    "question": question,
                    "value": value,
                }


def to_json(prepared: Prepared, results: Sequence[BlockResult], stamp: Made) -> dict[str, Any]:
    """Plain data: the experiment, its arms and contrasts, and all estimates without the values
    of questions.
    """
    experiment = prepared.experiment
    described = {
        name: getattr(experiment, name)
        for name in ("name", "summary", "set", "kind", "metric", "margin", "correction", "source")
    }
    blocks = []
    for result in results:
        estimates = [{"name": e.name, "kind": e.kind, "verdict": e.verdict.value, "no_op": e.no_op,
                      "seed_sd": e.seed_sd, **asdict(e.difference)}
                     for e in result.estimates]  # fmt: skip
        blocks.append({"block": result.block, "dataset": result.dataset,
                       "embedder": result.embedder, "questions": len(result.questions),
                       "conversations": len({c for c, _ in result.questions}),
                       "seconds": round(result.seconds, 3), "means": dict(result.means),
                       "by_seed": result.by_seed, "clusters": result.clusters,
                       "estimates": estimates})  # fmt: skip
    found: dict[str, Any] = json.loads(json.dumps({
        **described, "seeds": list(experiment.seeds),
        "arms": [arm.id for arm in prepared.laid.arms], "excluded": dict(prepared.excluded),
        "dropped": list(prepared.dropped), "notes": list(prepared.laid.notes), "blocks": blocks,
        "made": asdict(stamp),
        "contrasts": {c.name: dict(c.weights) for c in prepared.laid.contrasts}}))  # fmt: skip
    return found


def to_markdown(prepared: Prepared, results: Sequence[BlockResult]) -> str:
    """One table of estimates for each block, then what was left out."""
    experiment = prepared.experiment
    lines = [f"# {in_cell(experiment.name)}: {experiment.kind} of {in_cell(experiment.set)}", ""]
    lines += [in_cell(experiment.summary), ""] if experiment.summary else []
    for result in results:
        c = len({conversation for conversation, _ in result.questions})
        family = f"{len(result.estimates)} estimates ({experiment.correction}), margin {experiment.margin:g}"
        of = (
            f"{c} {result.clusters}"
            if result.clusters != "conversations"
            else f"{len(result.questions):,} questions of {c} conversations"
        )
        lines += [
            f"## {in_cell(result.block or result.dataset)}",
            "",
            f"{in_cell(experiment.metric)}, {of}; p corrected over {family}.",
            "",
            "| estimate | what | mean | 95% interval | p | corrected | verdict |",
            "|:--|:--|--:|:--|--:|--:|:--|",
        ]
        for e in result.estimates:
            d = e.difference
            interval = "-" if d.low is None or d.high is None else f"{d.low:+.4f} to {d.high:+.4f}"
            spread = "" if e.seed_sd is None else f" (seeds: sd {e.seed_sd:.4f})"
            cells = (in_cell(e.name), in_cell(e.kind), f"{d.mean:+.4f}{spread}", interval, _p(d.p),
                     _p(d.p_holm), e.verdict.value)  # fmt: skip
            lines.append(f"| {' | '.join(cells)} |")
        over = {
            id: f"sd {stdev(values):.4f}, {min(values):.4f} to {max(values):.4f}"
            for id, values in result.by_seed.items()
        }
        lines += [
            "",
            f"| arm | {in_cell(experiment.metric)} |{' over seeds |' if over else ''}",
            f"|:--|--:|{':--|' if over else ''}",
            *(
                f"| {in_cell(id)} | {mean:.4f} |{f' {over[id]} |' if over else ''}"
                for id, mean in result.means.items()
            ),
            "",
        ]
    lines += [f"- {in_cell(note)}" for note in prepared.laid.notes]
    lines += [f"- left out: {in_cell(id)}: {in_cell(why)}" for id, why in prepared.excluded.items()]
    return "\n".join(lines) + "\n"


def _p(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}" if value >= 0.001 else "<0.001"
