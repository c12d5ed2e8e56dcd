"""`hebbarium compose`: the smallest part of a set that is not worse than the whole by more than a
margin, on several data sets at once.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

from ...engine.base.errors import InputError, nearest
from ...engine.catalogue.registry import MechanismSet, Registry
from ...engine.contract.vocabulary import FUSED
from ...engine.ports.embedding_cache import CachedEmbedder
from ...reporting.files import write_json, write_whole
from ...reporting.provenance import Made, made
from ..datasets import Dataset
from ..designs.arms import FULL, Arm
from ..designs.families import family_of
from ..execution.cluster import Cluster
from ..execution.failures import ALONE, Options
from ..execution.folder import ledger_beside
from ..execution.ledger import Ledger
from ..execution.local import Progress
from ..execution.plan import planned
from ..execution.setup import code_version, versions
from ..execution.spec import DEFAULTS, Settings
from ..experiments.costs import costs_of
from ..scores.cluster_robust import cluster_t
from ..worlds.collection import named
from .cold import compile_seconds
from .lives import Lives
from .request import CompositionRequest
from .resampling import brief_losses, cross_validated, dealt, losses, stability
from .result import Composed, MeasuredPart, Scored, set_text, to_html, to_json, to_markdown
from .scores import Constraint, MeasuredData, Scores
from .search import Part, Problem, SearchResult, complete, smallest

RESULT: Final = "composition.json"


def compose(
    request: CompositionRequest,
    chosen: MechanismSet,
    data: Sequence[Dataset],
    registry: Registry,
    embedder: CachedEmbedder,
    out: Path,
    *,
    settings: Settings = DEFAULTS,
    jobs: int = 1,
    progress: Progress | None = None,
    say: Callable[[str], None] | None = None,
    making: Made | None = None,
    replace_result: bool = False,
    options: Options = ALONE,
    write: Path | None = None,
) -> Composed:
    """Find the part, and write composition.json, .md, .html and found.yaml into `out`.

    request  with as many needs of data as there are data
    chosen   the whole set
    data     of each need, loaded with its unit
    say      called with what is measured next
    write    also a file for the found set

    A second call of a composition that was stopped continues it from the ledger in `out`.  Raises
    HebbariumError, before anything runs if possible.
    """
    whole = settings.applied(chosen)
    sources, constraints = laid_out(request, data)
    problem = problem_of(whole, registry, constraints, request.keep, settings)
    start = started(request.start, whole, registry)
    stamp = making or made()
    deciding = {
        "set": asdict(whole),
        "data": [[source.name, *source.keys] for source in sources],
        "constraints": [asdict(constraint) for constraint in constraints],
        "cost": request.cost,
        "folds": request.folds,
        "keep": list(request.keep),
        "start": sorted(start or ()),
        "seed": settings.seed,
        "match": settings.match,
        "embedder": embedder.name,
        "embedder_revision": embedder.revision,
        "registry_digest": registry.digest,
        "code": code_version(),
    }
    deciding = json.loads(json.dumps(deciding, default=dict))
    tell = say or (lambda _: None)
    cluster: AbstractContextManager[Cluster | None] = (
        Cluster.joined(options.dask) if options.dask else nullcontext()
    )
    with (
        ledger_beside(out / RESULT, deciding, "compositions", replace=replace_result) as book,
        cluster as joined,
    ):
        scores = Scores(
            whole, registry, sources, constraints, embedder, book, settings, jobs, progress,
            options, out, joined,
        )  # fmt: skip
        costs = costs_in(book, scores, compiled=request.cost == "compile", say=tell)
        problem = replace(problem, cost=costs[request.cost])
        search = smallest(
            problem,
            losses(scores, problem.margins),
            tell,
            start,
            brief_losses(scores, problem.margins),
        )
        folds = dealt(
            list(dict.fromkeys(key for source in sources for key in source.keys)),
            request.folds,
            settings.seed,
        )
        validated = cross_validated(problem, scores, folds, tell, start)
        result = _composed(problem, search, scores, costs, request, deciding, stamp, validated)
    write_json(out / RESULT, to_json(result), shared=True)
    write_whole(out / "composition.md", [to_markdown(result)], shared=True)
    to_html(result, out / "composition.html")
    text = set_text(result, stamp.command_line)
    for file in filter(None, (out / "found.yaml", write)):
        write_whole(file, [text], shared=True)
    return result


def laid_out(
    request: CompositionRequest, data: Sequence[Dataset]
) -> tuple[tuple[MeasuredData | Lives, ...], tuple[Constraint, ...]]:
    """Sources, each once, and the constraints on them, in the order of the request, worlds last.
    Raises InputError for a number that is asked for twice and for an unknown world.
    """
    sources, constraints = list[MeasuredData | Lives](), list[Constraint]()
    for need, loaded in zip(request.needs, data, strict=True):
        source = MeasuredData(loaded, "session" if need.ref.unit == "session" else "turn")
        place = next(
            (
                at
                for at, known in enumerate(sources)
                if (known.name, known.keys) == (source.name, source.keys)
            ),
            len(sources),
        )
        if place == len(sources):
            sources.append(source)
        name = " ".join(filter(None, (source.name, need.category)))
        for metric in need.metrics:
            made_of = Constraint(place, metric, need.margin, need.category, name)
            if any(
                (known.source, known.metric, known.category) == (place, metric, need.category)
                for known in constraints
            ):
                raise InputError(
                    f"{metric} on {name} is asked for twice",
                    where="data",
                    cure="name every metric of the same data once",
                )
            constraints.append(made_of)
    for asked in request.worlds:
        for world in named(asked.world):
            margin = world.margin if asked.margin is None else asked.margin
            lives = Lives(world, tuple(sorted(set(asked.strengths))), asked.seeds)
            if any(known.name == lives.name for known in sources):
                raise InputError(
                    f"{lives.name} is asked for twice", where="data", cure="name every world once"
                )
            sources.append(lives)
            constraints.append(
                Constraint(len(sources) - 1, f"hit@{world.k}", margin, "", lives.name)
            )
    return tuple(sources), tuple(constraints)


def problem_of(
    whole: MechanismSet,
    registry: Registry,
    constraints: Sequence[Constraint],
    keep: Sequence[str] = (),
    settings: Settings = DEFAULTS,
) -> Problem:
    """What is searched, each mechanism at a cost of 1.

    The fusion of the set stays, so that every part has one, or none as the set.  A mechanism whose
    signals no step reads without another one requires this one.  Raises InputError for a mechanism
    to keep that the set does not have.
    """
    if odd := [id for id in keep if id not in whole.mechanisms]:
        raise InputError(
            f"{odd[0]!r} is not in the set {whole.name}",
            where="--keep",
            cure=nearest(odd[0], whole.mechanisms),
        )
    fusions = {
        mechanism.id
        for mechanism in registry.build(whole)
        if any(FUSED in hook.sets for hook in type(mechanism).hooks())
    }
    fixed = frozenset(fusions | set(keep))
    (full,) = planned([Arm(FULL, whole)], registry, settings).arms
    requires: dict[str, set[str]] = {}
    for id in whole.mechanisms:
        if id in fixed or len(whole.mechanisms) == 1:
            continue  # it never leaves, so nothing can miss it
        (without,) = planned([Arm(f"without {id}", whole.without([id]))], registry, settings).arms
        for other in without.unread - full.unread:
            requires.setdefault(other, set()).add(id)
    return Problem(
        tuple(whole.mechanisms),
        tuple(constraint.margin for constraint in constraints),
        dict.fromkeys(whole.mechanisms, 1.0),
        fixed,
        {id: frozenset(needed) for id, needed in requires.items()},
        {id: family_of(id) for id in whole.mechanisms},
    )


def started(name: str, whole: MechanismSet, registry: Registry) -> Part | None:
    """The mechanisms of the set to begin with; None without one.  Raises InputError for a mechanism
    that the whole set does not have, RegistryError for an unknown set.
    """
    if not name:
        return None
    begun = registry.set(name)
    if odd := [id for id in begun.mechanisms if id not in whole.mechanisms]:
        raise InputError(
            f"{odd[0]!r} of {begun.name} is not in the set {whole.name}",
            where="--start",
            cure="begin with a part of the whole set",
        )
    return frozenset(begun.mechanisms)


def costs_in(
    book: Ledger, scores: Scores, *, compiled: bool, say: Callable[[str], None]
) -> dict[str, dict[str, float]]:
    """Name of each cost -> of each mechanism.

    Times are measured once and kept in the ledger, so that a composition which is continued
    decides as before: ms of a mechanism's hooks an event and a question of the first conversation
    of the first data, in the whole set.
    """
    costs = {"mechanisms": dict.fromkeys(scores.chosen.mechanisms, 1.0)}
    source = next(data for data in scores.sources if isinstance(data, MeasuredData))
    about = {
        "kind": "composition costs",
        "set": asdict(scores.chosen),
        "data": source.data.sha256,
        "conversation": source.data.conversations[0].id,
        "unit": source.unit,
        "embedder": scores.embedder.name,
        "seed": scores.settings.seed,
        "code": code_version(),
        "versions": versions(),
    }

    def timed() -> dict[str, dict[str, float]]:
        times = costs_of(
            scores.chosen,
            scores.registry,
            source.data.conversations[0],
            scores.embedder,
            seed=scores.settings.seed,
        )
        return {
            "event": {cost.mechanism: cost.event or 0.0 for cost in times},
            "question": {cost.mechanism: cost.query or 0.0 for cost in times},
        }

    costs |= _kept(book, about, "times of the mechanisms", timed, say)
    if compiled:
        about |= {"kind": "composition compile seconds"}
        costs |= _kept(
            book,
            about,
            "CPU seconds that each mechanism needs to compile",
            lambda: {"compile": compile_seconds(scores.chosen)},
            say,
        )
    return costs


def _kept(
    book: Ledger,
    about: Mapping[str, Any],
    what: str,
    measured: Callable[[], dict[str, dict[str, float]]],
    say: Callable[[str], None],
) -> dict[str, dict[str, float]]:
    """What the ledger holds under a key, else what is measured now and kept."""
    key = Ledger.key(about)
    kept = book.get(key)
    if kept is None:
        say(f"costs: {what}")
        book.put(key, json.dumps(measured()), {"what": what})
        kept = book.get(key)
    assert kept is not None
    costs: dict[str, dict[str, float]] = json.loads(kept.payload)
    return costs


def _composed(
    problem: Problem,
    search: SearchResult,
    scores: Scores,
    costs: Mapping[str, Mapping[str, float]],
    request: CompositionRequest,
    deciding: Mapping[str, Any],
    stamp: Made,
    validated: Any,
) -> Composed:
    # a part that lost too much was not measured on all, and stands in no table
    parts = [
        part
        for part, lost in search.measured.items()
        if part not in scores.unbuildable and complete(lost)
    ]
    means = dict(zip(parts, scores.means(parts), strict=True))
    whole = scores.chosen
    named = MechanismSet(
        "found",
        f"the smallest part of {whole.name} that loses no more than its margins",
        {id: values for id, values in whole.mechanisms.items() if id in search.part},
        {id: others for id, others in whole.alternates.items() if id in search.part},
    )
    (differences,) = scores.of([search.part])
    scored = []
    for place, (constraint, asked) in enumerate(
        zip(scores.constraints, scores.asked(), strict=True)
    ):
        t = cluster_t(differences[place], ["\n".join(key) for key in asked.conversations])
        scored.append(
            Scored(
                constraint.name,
                constraint.metric,
                constraint.margin,
                len(asked.questions),
                len(set(asked.conversations)),
                float(means[problem.whole][place]),
                float(means[search.part][place]),
                t.low if t.se else None,
                t.high if t.se else None,
            )
        )
    return Composed(
        whole,
        named,
        request.cost,
        tuple(scored),
        {id: tuple(lost.tolist()) for id, lost in search.singles.items()},
        {name: tuple(lost.tolist()) for name, lost in search.families.items()},
        problem.families,
        costs,
        tuple(
            MeasuredPart(
                tuple(id for id in problem.mechanisms if id in part),
                {
                    name: sum(cost[id] for id in problem.mechanisms if id in part)
                    for name, cost in costs.items()
                },
                tuple(means[part].tolist()),
                bool(problem.allowed(search.measured[part])),
            )
            for part in parts
        ),
        tuple(_said(step.how, step.part, step.left, step.entered) for step in search.steps),
        stability(problem, scores, parts, seed=scores.settings.seed),
        validated,
        Counter(scores.unbuildable.values()),
        problem.fixed,
        {
            **deciding,
            "measured": len(search.measured) - len(scores.unbuildable),
            "measured_on_all": len(parts),
            "made": asdict(stamp),
        },
    )


def _said(how: str, part: Part, left: Sequence[str], entered: Sequence[str]) -> str:
    words = f"{how}: {len(part)} mechanisms stay"
    if entered:
        words += f", {', '.join(entered)} came back"
    return words + (f", {', '.join(left)} left" if left else "")
