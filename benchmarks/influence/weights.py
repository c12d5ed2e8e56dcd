"""`hebbarium weights`: through what each mechanism reaches an answer, how much of the fused trust
that is, and how many answers change without it.

Every mechanism of the set is left off in turn.  If varieties are asked for, each variety and
alternate is swapped in for its original, too.  Answers are compared by the ids of their first ten
events, in order, for all questions, with gold or not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...engine.catalogue.packages import answering_digest
from ...engine.catalogue.registry import MechanismSet, Registry
from ...engine.contract.columns import Signal
from ...engine.contract.hooks import Mechanism
from ...engine.contract.vocabulary import FACET_WEIGHTS
from ...engine.ports.embedder import Embedder
from ...engine.ports.embedding_cache import CachedEmbedder
from ...reporting.files import results_folder
from ...reporting.provenance import Made, commit, made
from ..datasets import Dataset
from ..designs.arms import Arm
from ..designs.leave_one_out import leave_one_out
from ..execution.cells import Cell, Outcome, asked, prepare
from ..execution.folder import LEDGER
from ..execution.ledger import Ledger
from ..execution.local import Progress, embed_ahead, run_cells
from ..execution.plan import planned, specs_of
from ..execution.setup import versions
from ..execution.spec import RunSpec, Settings
from ..systems.base import Capability
from ..systems.hebbarium import Hebbarium, capabilities_of
from .routes import RANKING, Route, RouteEnd, Routes, shortest

FORMAT: Final = 1
REHEARSE: Final = 0.5  # h between use and the question
# questions of a conversation asked with each mechanism silenced, which is not used here
PROBED: Final = 1

ROUTES: Final = "Routes are computed from the declared reads and writes of the schedule: they say what can reach an answer, not that it does."
INTERVAL: Final = (
    "What acts within minutes (short-term plasticity) needs a shorter interval than the one of rehearsal, what acts over days (spaced "
    "testing, consolidation after use) a longer one; 0 answers here is no statement about other intervals."
)
ONCE: Final = "The set does not learn from recall, so every question is asked once."
OUTSIDE: Final = (
    "Shares of a mechanism outside the set use the facet weights measured with the set itself."
)

Trust = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Weight:
    """What a mechanism weighs in the answers.

    arm, without  id of the arm that holds it, and of the arm that lacks it
    routes        one for each end that it reaches, see `Routes.of`
    share         of fused trust, of the signals at the end of the shortest routes; 1 if these end
                  in the facet weights or in a stage; None if no route leads to the ranking
    reached       the same of all routes
    cold          questions whose answer changes without it, asked once
    rehearsed     the same, asked after every question was asked once and changed memory; None for a
                  set that does not learn from recall
    """

    arm: str
    without: str
    routes: tuple[Route, ...]
    share: float | None
    reached: float | None
    cold: int
    rehearsed: int | None

    @property
    def inert(self) -> bool:
        return not (self.cold or self.rehearsed)


@dataclass(frozen=True, slots=True)
class Weighed:
    """The weights of all mechanisms.

    rehearse    h between use and the question that counts; None for a set that does not learn from
                recall
    signals     signal -> (mechanism, mean share of fused trust), in the set itself
    mechanisms  id -> weight, in registry order
    """

    set_name: str
    rehearse: float | None
    signals: Mapping[str, tuple[str, float]]
    mechanisms: Mapping[str, Weight]
    provenance: Mapping[str, Any]


def widened(chosen: MechanismSet, registry: Registry) -> MechanismSet:
    """The set with every variety of its mechanisms as an alternate, after those that it names."""
    alternates = {id: list(others) for id, others in chosen.alternates.items()}
    for entry in registry.entries.values():
        if entry.variety_of in chosen.mechanisms and entry.id not in chosen.mechanisms:
            others = alternates.setdefault(str(entry.variety_of), [])
            if entry.id not in others:
                others.append(entry.id)
    return replace(chosen, alternates={id: tuple(others) for id, others in alternates.items()})


def weigh(
    chosen: MechanismSet,
    registry: Registry,
    data: Dataset,
    embedder: CachedEmbedder,
    folder: Path,
    *,
    varieties: bool = False,
    rehearse: float | None = None,
    jobs: int = 1,
    making: Made | None = None,
    progress: Progress | None = None,
) -> Weighed:
    """Run the arms on every conversation, asked once and asked again after rehearsal, and weigh
    every mechanism.

    folder     for the ledger
    varieties  weigh the alternates of the set and the varieties of its mechanisms, too
    rehearse   h; None: `REHEARSE` if the set learns from recall, else every question is asked once
    making     when and by which command; now and here if None
    progress   see `run_cells`

    A second call of a run that was stopped continues it from the ledger.  Raises HebbariumError,
    before anything runs if possible; InputError for a `rehearse` with a set that does not learn
    from recall. Cost: 2 (1 + m) cells a conversation for m mechanisms, and 2 s more for s
    alternates and varieties, about 2 s each on the demo; one more to measure the facet weights.
    Half of them for a set that does not learn from recall.
    """
    arms = leave_one_out(widened(chosen, registry) if varieties else replace(chosen, alternates={}))
    conversations = {c.id: c for c in data.conversations}
    if rehearse is None and _learns(chosen, registry):
        rehearse = REHEARSE
    ways = (Settings(),) if rehearse is None else (Settings(), Settings(rehearse=rehearse))
    specs = [
        [
            replace(spec, probed=PROBED)
            for spec in specs_of(planned(arms, registry, way), data, embedder)
        ]
        for way in ways
    ]
    cells = [
        Cell(spec, conversations[spec.conversation]) for arm_specs in specs for spec in arm_specs
    ]
    # after an interrupt, the ledger holds all arms of the first conversations
    places = {id: place for place, id in enumerate(conversations)}
    cells.sort(key=lambda cell: places[cell.spec.conversation])
    book = Ledger(results_folder(folder) / LEDGER)
    with book.locked():
        embed_ahead(data, embedder)
        outcomes = run_cells(cells, registry, embedder, book, jobs=jobs, progress=progress)
    by_cell = {
        (c.spec.rehearse, c.spec.arm, c.spec.conversation): outcome
        for c, outcome in zip(cells, outcomes, strict=True)
    }
    answers = [
        {arm.id: _answers(by_cell[way.rehearse, arm.id, c] for c in conversations) for arm in arms}
        for way in ways
    ]
    full = [
        Cell(spec, conversations[spec.conversation]) for spec in specs[0] if spec.arm == arms[0].id
    ]
    facets = np.concatenate([_facets(cell, registry, embedder) for cell in full])
    return _weighed(
        arms,
        registry,
        answers,
        facets,
        rehearse,
        _provenance(specs[0][0], data, rehearse, making or made()),
    )


def _learns(chosen: MechanismSet, registry: Registry) -> bool:
    with chosen.named_in_errors():
        return Capability.LEARNS in capabilities_of(registry.build(chosen))


def _answers(outcomes: Iterable[Outcome]) -> list[list[str]]:
    """Ids of the first ten events of every question."""
    return [row["retrieved"] for outcome in outcomes for row in outcome.rows]


def _facets(cell: Cell, registry: Registry, embedder: Embedder) -> NDArray[np.float64]:
    """(questions, facets) factors on the weights of each facet's signals, by question."""
    spec = cell.spec
    with closing(
        Hebbarium(registry.build(MechanismSet(spec.set, "", spec.mechanisms)), embedder, spec.seed)
    ) as memory:
        facets = []
        for _, query in asked(cell, memory, prepare(cell, memory)):
            memory.retrieve(query, spec.k)
            facets.append(memory.engine.column(FACET_WEIGHTS).copy())
        return np.array(facets, dtype=np.float64)


def trust_shares(mechanisms: Sequence[Mechanism[Any]], facets: NDArray[np.float64]) -> Trust:
    """Signal -> its share of the fused trust, weight times facet factor, over the sum of all
    signals; mean over the questions.

    facets  (questions, facets)

    A signal of weight 0 has the share 0.  {} without questions.
    """
    signals = [
        (c, float(m.params.weight)) for m in mechanisms for c in m.owns if isinstance(c, Signal)
    ]
    if not signals or not len(facets):
        return {}
    trust = np.array([weight * facets[:, s.facet.value] for s, weight in signals])
    shares = trust / np.maximum(trust.sum(axis=0), np.finfo(np.float64).tiny)
    return dict(zip((s.name for s, _ in signals), shares.mean(axis=1).tolist(), strict=True))


def share_of(routes: Iterable[Route], trust: Trust) -> float | None:
    """Share of the fused trust that routes end in: 1 if one ends in the facet weights or in a
    stage; None if none leads to the ranking.
    """
    ranking = [r for r in routes if r.kind in RANKING]
    if not ranking:
        return None
    if any(r.kind is not RouteEnd.SIGNAL for r in ranking):
        return 1.0
    return min(sum(trust[name] for name in {r.to for r in ranking}), 1.0)


def changed(one: Sequence[Sequence[str]], other: Sequence[Sequence[str]]) -> int:
    """Answers that differ, in an id or in the order.

    >>> changed([["a", "b"], ["c"], ["d"]], [["b", "a"], ["c"], ["d", "e"]])
    2
    """
    return sum(list(a) != list(b) for a, b in zip(one, other, strict=True))


def _weighed(
    arms: Sequence[Arm],
    registry: Registry,
    answers: Sequence[Mapping[str, list[list[str]]]],
    facets: NDArray[np.float64],
    rehearse: float | None,
    provenance: Mapping[str, Any],
) -> Weighed:
    full, *others = arms
    without = {
        arm.removed: arm.id
        for arm in others
        if arm.removed and len(arm.chosen.mechanisms) < len(full.chosen.mechanisms)
    }
    weighed, signals = dict[str, Weight](), dict[str, tuple[str, float]]()
    for arm in (full, *(a for a in others if a.id not in without.values())):
        mechanisms = registry.build(arm.chosen)
        routes, trust = Routes(mechanisms), trust_shares(mechanisms, facets)
        if arm is full:
            signals = {
                c.name: (m.id, trust[c.name])
                for m in mechanisms
                for c in m.owns
                if isinstance(c, Signal)
            }
        for id in arm.chosen.mechanisms:
            if id in full.chosen.mechanisms and arm is not full:
                continue
            lacking, ways = without[arm.removed or id], routes.of(id)
            cold, *later = (changed(answer[arm.id], answer[lacking]) for answer in answers)
            weighed[id] = Weight(
                arm.id,
                lacking,
                ways,
                share_of(shortest(ways), trust),
                share_of(ways, trust),
                cold,
                later[0] if later else None,
            )
    return Weighed(
        full.chosen.name,
        rehearse,
        signals,
        {id: weighed[id] for id in registry.entries if id in weighed},
        provenance,
    )


def path(weight: Weight) -> str:
    """The first of the shortest routes, and how many others there are."""
    near = shortest(weight.routes)
    return (
        "none"
        if not near
        else " -> ".join(near[0].chain) + (f" and {len(near) - 1} more" if near[1:] else "")
    )


def _provenance(spec: RunSpec, data: Dataset, rehearse: float | None, how: Made) -> dict[str, Any]:
    counts = Counter(bool(q.gold) for c in data.conversations for q in c.questions)
    return {"command": how.command_line, "date": how.date, "commit": commit(), "code": spec.code,
            "sources": answering_digest(),
            "parameters": Registry.read().values_digest(),
            "dataset": spec.dataset, "sha256": spec.sha256, "embedder": spec.embedder,
            "embedder_revision": spec.embedder_revision,
            "set": spec.set, "seed": spec.seed, "best": spec.k, "rehearse": rehearse,
            "conversations": len(data.conversations),
            "questions": counts.total(), "gold": counts[True], "versions": versions()}  # fmt: skip


def to_json(result: Weighed) -> dict[str, Any]:
    """What `audit/weights.json` holds."""
    notes = [ROUTES, ONCE if result.rehearse is None else INTERVAL, OUTSIDE]
    return {
        "format": FORMAT,
        "provenance": dict(result.provenance),
        "notes": notes,
        "signals": {
            name: {"mechanism": id, "share": _short(share)}
            for name, (id, share) in result.signals.items()
        },
        "mechanisms": {id: _weight(w) for id, w in result.mechanisms.items()},
    }


def _weight(w: Weight) -> dict[str, Any]:
    near = shortest(w.routes)
    routes = [
        {**asdict(r), "nearest": r in near} for r in w.routes if r in near or r.kind not in RANKING
    ]
    return {"with": w.arm, "without": w.without, "share": _short(w.share),
            "reached": _short(w.reached), "cold": w.cold, "rehearsed": w.rehearsed,
            "inert": w.inert, "routes": routes,
            "further": [r.to for r in w.routes if r not in near and r.kind in RANKING]}  # fmt: skip


def _short(share: float | None) -> float | None:
    return None if share is None else round(share, 5)
