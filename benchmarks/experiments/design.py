"""`hebbarium ablate`: the arms of a design on every data set, embedder and seed, such as the full
set and the set without each of its mechanisms.

Each combination is a run folder of its own, with manifest, rows and ledger as every run has; the
only one of a design is the folder of the design itself.  Arms that share a life live once.  An
estimate of a question is a contrast of the arms' values, averaged over seeds first; data sets are
families of their own and are never pooled.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, cast

from ...engine.base.errors import ContractError, DataError, InputError, RegistryError
from ...engine.catalogue.registry import MechanismSet, Registry
from ...engine.ports.by_name import pinned
from ...engine.ports.embedding_cache import CachedEmbedder
from ...engine.ports.language_model import LanguageModel
from ...reporting.files import results_folder, write_json, write_whole
from ...reporting.provenance import Made, made
from ...reporting.text import plural
from ..datasets import Dataset, require_questions
from ..designs.arms import Arm, named_arms
from ..designs.file import Experiment, plain
from ..designs.kinds import Laid, LeaveOneOut
from ..execution.cells import Outcome
from ..execution.failures import ALONE, Options
from ..execution.folder import RUNS
from ..execution.local import Progress, execute, write_lines
from ..execution.plan import RunPlan, planned
from ..execution.setup import code_version
from ..execution.spec import DEFAULTS, Settings, required
from ..reports.across import across_embedders
from ..reports.learning_curve import write_learning_curve
from ..reports.learning_figure import Points
from ..reports.page import to_html, to_svg
from ..reports.result import (
    BlockResult,
    Cost,
    DesignFacts,
    DesignResult,
    from_json,
    source_of,
    to_json,
)
from ..reports.tables import to_csv, to_latex, to_markdown
from ..scores.comparison import MARGIN
from ..scores.detectable import Detectable, Source, demo_source, detectable
from ..systems.by_name import OURS
from .costs import costs_of
from .judging import block_result

LONG = 600.0  # s of an estimate from which on a design is confirmed


@dataclass(frozen=True, slots=True)
class Prepared:
    """An experiment whose arms are built and checked.

    plan        the arms, then the systems beside them, with the seed of the settings; `of` gives
                that of another seed
    laid        without the arms that cannot be built, and without contrasts that need them
    excluded    id of each arm that cannot be built -> why
    dropped     names of the contrasts that need one of these
    n_designed  contrasts that the design has, those that were not asked for included
    set_name    of the mechanism set, which the experiment may name by its file
    beside      names of other systems that answer the same questions
    """

    experiment: Experiment
    plan: RunPlan
    laid: Laid
    excluded: Mapping[str, str]
    dropped: tuple[str, ...]
    n_designed: int
    set_name: str
    beside: tuple[str, ...] = ()

    @property
    def seeds(self) -> tuple[int, ...]:
        return self.experiment.seeds or (self.plan.settings.seed,)

    @property
    def mechanisms(self) -> tuple[str, ...]:
        """Every mechanism that is on in some arm, each once: what the experiment uses."""
        return tuple(dict.fromkeys(id for arm in self.laid.arms for id in arm.chosen.mechanisms))

    @property
    def facts(self) -> DesignFacts:
        """What reports say of the design."""
        described = ("name", "summary", "kind", "metric", "margin", "correction", "source")
        return DesignFacts(
            **{name: getattr(self.experiment, name) for name in described},
            set=self.set_name,
            seeds=self.seeds,
            n_designed=self.n_designed,
            version=code_version(),
        )

    def of(self, seed: int) -> RunPlan:
        return replace(self.plan, settings=replace(self.plan.settings, seed=seed))

    @property
    def n_lives(self) -> int:
        """Lives of one conversation and seed."""
        return len({arm.life.digest if arm.life else arm.arm for arm in self.plan.arms})


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
class Costs:
    """What a design will cost, from one timed cell of each data set.

    minutes  of CPU, in all
    """

    cells: int
    lives: int
    minutes: float

    def line(self) -> str:
        """One sentence."""
        return f"{plural(self.cells, 'cell')} of {plural(self.lives, 'life', 'lives')}: about {self.minutes:,.0f} CPU minutes"


def ablate(
    chosen: MechanismSet | None,
    registry: Registry,
    data: Dataset,
    embedder: CachedEmbedder,
    out: Path,
    *,
    only: Sequence[str] = (),
    beside: Sequence[str] = (),
    margin: float = MARGIN,
    settings: Settings = DEFAULTS,
    jobs: int = 1,
    progress: Progress | None = None,
    announce: Callable[[Detectable], None] | None = None,
    making: Made | None = None,
    replace_run: bool = False,
    language_model: LanguageModel | None = None,
    options: Options = ALONE,
) -> DesignResult:
    """The leave-one-out of a set on one data set.  Raises as `prepared` and `carried_out`."""
    experiment = plain("leave-one-out", registry, chosen.name if chosen else "", margin=margin)
    return carried_out(
        prepared(experiment, registry, settings, chosen=required(chosen), only=only, beside=beside)
        if settings.ours
        else prepared(experiment, registry, settings),
        [Block("", data, "")],
        lambda _: embedder,
        out,
        jobs=jobs,
        progress=progress,
        announce=announce,
        making=making,
        replace_run=replace_run,
        language_model=language_model,
        options=options,
    )


def prepared(
    experiment: Experiment,
    registry: Registry,
    settings: Settings = DEFAULTS,
    progress: Progress | None = None,
    *,
    chosen: MechanismSet | None = None,
    only: Sequence[str] = (),
    beside: Sequence[str] = (),
) -> Prepared:
    """Lay out a design and build every arm; no data are needed yet.  Arms that cannot be built,
    such as coalitions with two fusions, are excluded by name; those of a leave-one-out are
    refused.

    progress  called with (arms built, all arms, the last one)
    chosen    the mechanism set; that which the experiment names if None
    only      names or ids of the arms to run, whose contrasts are then the family that is
              corrected; all if empty
    beside    other systems, for comparison; they are no part of the family

    Raises InputError if nothing is left to estimate, if the reference arm cannot be built, for
    another system in place of the set, for a system that is named twice, or as the design does.
    """
    if not settings.ours:
        raise InputError(
            f"the system {settings.system!r} has no mechanisms to leave off",
            where="--system",
            cure=f"measure it alone with `hebbarium run --system {settings.system}`, or beside a set with --beside {settings.system}",
        )
    if odd := [name for name in beside if name == OURS or list(beside).count(name) > 1]:
        why = "is the system that is ablated" if odd[0] == OURS else "is named twice"
        raise InputError(
            f"{odd[0]!r} {why}",
            where="--beside",
            cure="name every other system once, as MODULE:NAME",
        )
    chosen = chosen or registry.set(experiment.set)
    laid = experiment.design.laid(settings.applied(chosen), registry)
    designed = laid
    if only:
        laid = _only(laid, named_arms(laid.arms, only))
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
            if arm is laid.arms[0] or isinstance(experiment.design, LeaveOneOut):
                raise
            excluded[arm.id] = error.what
        if progress:
            progress(count, len(laid.arms), arm.id)
    dropped = tuple(c.name for c in laid.contrasts if not excluded.keys().isdisjoint(c.weights))
    contrasts = tuple(c for c in laid.contrasts if c.name not in dropped)
    if not contrasts and (excluded or not isinstance(experiment.design, LeaveOneOut)):
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
    systems = planned([laid.arms[0]], registry, settings, beside).arms[1:]
    return Prepared(
        experiment,
        RunPlan(registry, settings, (*(part for _, part in kept), *systems)),
        laid,
        excluded,
        dropped,
        len(designed.contrasts),
        chosen.name,
        tuple(beside),
    )


def _only(laid: Laid, arms: Sequence[Arm]) -> Laid:
    """The design with some of its arms, and the contrasts that need no other."""
    kept = {arm.id for arm in arms}
    return replace(
        laid,
        arms=tuple(arms),
        contrasts=tuple(c for c in laid.contrasts if kept.issuperset(c.weights)),
    )


def carried_out(
    prepared: Prepared,
    blocks: Sequence[Block],
    embedder: Callable[[str], CachedEmbedder],
    out: Path,
    *,
    jobs: int = 1,
    progress: Progress | None = None,
    announce: Callable[[Detectable], None] | None = None,
    making: Made | None = None,
    replace_run: bool = False,
    language_model: LanguageModel | None = None,
    options: Options = ALONE,
    confirm: Callable[[Costs], None] | None = None,
    time_hooks: bool = False,
) -> DesignResult:
    """Run every arm on every block and seed; write design.json, .md, .html, .svg, .tex and .csv,
    estimates.jsonl and, for coalitions, coalitions.jsonl into `out`.

    embedder  makes the embedder of a name
    announce  called before anything runs with what the design can detect on each block
    making    what the reports say of their making; now and here if None
    replace_run     write over another run that a folder holds
    language_model  for mechanisms that can use one
    options   which lives are kept, and what happens if a cell fails
    confirm   called with the costs of a design, before it runs, if these are more than ten minutes;
              it raises to refuse
    time_hooks  also measure the CPU time of every mechanism of the reference arm, on the first
                conversation (`costs.costs_of`)

    A second call of an experiment that was stopped continues it.  Raises HebbariumError, InputError
    before anything runs for data without gold.
    """
    expected = [_detectable(prepared, block, _earlier(out, block)) for block in blocks]
    stamp = making or made()
    if announce:
        for detected in expected:
            announce(detected)
    results_folder(out)
    if confirm:
        costs = _costs(prepared, blocks, embedder, out, stamp, replace_run, options, jobs, expected)
        if costs.minutes * 60.0 > LONG:
            confirm(costs)
    results, learning = [], []
    for block, detected in zip(blocks, expected, strict=True):
        by_seed: list[Sequence[Sequence[Outcome]]] = []
        for seed in prepared.seeds:
            folder = _folder(out, prepared, blocks, block, seed)
            by_seed.append(
                execute(
                    prepared.of(seed),
                    block.data,
                    embedder(block.embedder),
                    folder,
                    command=_command(
                        prepared, pinned(block.embedder, embedder(block.embedder)), stamp, detected
                    ),
                    jobs=jobs,
                    progress=progress,
                    replace=replace_run,
                    language_model=language_model,
                    options=options,
                )
            )
            curves = write_learning_curve(
                folder,
                prepared.plan.settings.feedback,
                block.data,
                {
                    composed.arm: outcomes
                    for composed, outcomes in zip(prepared.plan.arms, by_seed[-1], strict=True)
                },
            )
        learning.append(curves.get(prepared.laid.arms[0].id, ()))
        manifest = _folder(out, prepared, blocks, block, prepared.seeds[0]) / "manifest.json"
        results.append(
            block_result(
                prepared.facts,
                prepared.laid,
                prepared.plan,
                block.name,
                block.data,
                block.embedder,
                by_seed,
                json.loads(manifest.read_text(encoding="utf-8")),
            )
        )
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
    return written(prepared, results, stamp, out, timed, learning)


def written(
    prepared: Prepared,
    results: Sequence[BlockResult],
    stamp: Made,
    out: Path,
    costs: Sequence[Cost] = (),
    learning: Sequence[Points] = (),
) -> DesignResult:
    """Write the files of a finished design into `out`: design.*, estimates.jsonl and, for
    coalitions, coalitions.jsonl.  Raises HebbariumError.

    learning  the reference's curve over questions on each block, which is drawn; () without
              feedback
    """
    result = DesignResult(
        prepared.facts,
        tuple(results),
        tuple(arm.id for arm in prepared.laid.arms),
        {c.name: dict(c.weights) for c in prepared.laid.contrasts},
        dict(prepared.excluded),
        prepared.dropped,
        (*prepared.laid.notes, *across_embedders(results)),
        tuple(costs),
        asdict(stamp),
    )
    write_json(out / "design.json", to_json(result), shared=True)
    write_whole(out / "design.md", [to_markdown(result)], shared=True)
    for place, block in enumerate(result.blocks, 1):
        name = "design.svg" if len(result.blocks) == 1 else f"design_{place}.svg"
        write_whole(out / name, [to_svg(block)], shared=True)
    write_whole(out / "design.tex", [to_latex(result)], shared=True)
    write_whole(out / "design.csv", [to_csv(result)], shared=True)
    to_html(result, out / "design.html", learning)
    write_lines(out / "estimates.jsonl", _lines(results))
    if prepared.laid.coalitions:
        write_lines(
            out / "coalitions.jsonl",
            (
                {
                    "block": block.name,
                    "dataset": block.dataset,
                    "arm": arm.id,
                    "players": list(prepared.laid.coalitions.get(arm.id, ())),
                    "value": block.means[arm.id],
                }
                for block in results
                for arm in prepared.laid.arms
            ),
        )
    return result


def _folder(
    out: Path, prepared: Prepared, blocks: Sequence[Block], block: Block, seed: int
) -> Path:
    """Where a block is run with a seed: the folder of the design itself if there is no other."""
    if len(blocks) == len(prepared.seeds) == 1:
        return out
    seeds = f"seed {seed}" if len(prepared.seeds) > 1 else ""
    name = "_".join(filter(None, (block.name, seeds)))
    return out / RUNS / name.replace(" ", "_").replace("/", "_")


def _command(
    prepared: Prepared, embedder: str, stamp: Made, detected: Detectable
) -> dict[str, Any]:
    """embedder: its name, with the commit of a model of the hub."""
    return {
        "command": "ablate",
        "design": prepared.experiment.kind,
        "design_name": prepared.experiment.name,
        "family": [c.name for c in prepared.laid.contrasts],
        "metric": prepared.experiment.metric,
        "margin": prepared.experiment.margin,
        "beside": list(prepared.beside),
        "expected": asdict(detected),
        "embedder_spec": embedder,
        "made": asdict(stamp),
    }


def _detectable(prepared: Prepared, block: Block, earlier: Source | None) -> Detectable:
    """What the design can detect on a block.  Raises InputError for data that cannot be scored."""
    require_questions(block.data)
    counts = [n for c in block.data.conversations if (n := sum(bool(q.gold) for q in c.questions))]
    if not counts:
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
    return detectable(
        counts, len(prepared.laid.contrasts), prepared.experiment.margin, earlier or demo_source()
    )


def _earlier(out: Path, block: Block) -> Source | None:
    """The spread in an earlier result of this release for the block; None if there is none, or no
    arm of it changed anything.
    """
    try:
        before = from_json(json.loads((out / "design.json").read_text(encoding="utf-8")))
    except (OSError, ValueError, DataError, InputError):
        return None
    for known in before.blocks:
        if known.name == block.name and (source := source_of(known)).spreads:
            return source
    return None


def _costs(
    prepared: Prepared,
    blocks: Sequence[Block],
    embedder: Callable[[str], CachedEmbedder],
    out: Path,
    stamp: Made,
    replace_run: bool,
    options: Options,
    jobs: int,
    expected: Sequence[Detectable],
) -> Costs:
    """The costs, from one conversation of the first arm on each block; its cell is kept in the
    ledger.
    """
    seeds, seconds, n_conversations = prepared.seeds, 0.0, 0
    for block, detected in zip(blocks, expected, strict=True):
        first = block.data.conversations[0]
        folder = _folder(out, prepared, blocks, block, seeds[0])
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
            command=_command(
                prepared, pinned(block.embedder, embedder(block.embedder)), stamp, detected
            ),
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


def _lines(results: Sequence[BlockResult]) -> Iterator[dict[str, Any]]:
    """The value of every estimate for every question."""
    for block in results:
        for estimate in block.estimates:
            for (conversation, question), value in zip(
                block.questions, estimate.values, strict=True
            ):
                yield {
                    "block": block.name,
                    "dataset": block.dataset,
                    "estimate": estimate.name,
                    "conversation": conversation,
                    "question": question,
                    "value": value,
                }
