"""Hebbarium itself as a system: an engine with a mechanism set, and an observer that keeps
receipts and times.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import Any

from numpy.typing import NDArray

from ...engine.arms.as_planned import AsPlanned
from ...engine.arms.counterfactual import Counterfactual
from ...engine.arms.plans import Plan
from ...engine.arms.traces import Traces
from ...engine.arms.variants import Variants
from ...engine.base.errors import InputError
from ...engine.catalogue.registry import MechanismSet, Registry
from ...engine.context.assembly import context_of
from ...engine.context.condensers import Form
from ...engine.context.quoting import unescaped
from ...engine.contract.columns import Column, Phase, Signal
from ...engine.contract.hooks import Mechanism
from ...engine.contract.records import Event, Query
from ...engine.contract.units import Unit
from ...engine.contract.vocabulary import RECALLED, ROW, SIGNALS, TOKEN_EMBEDDER, VISIBLE
from ...engine.flow.dataflow import read_for_the_answer
from ...engine.flow.lives import life_of
from ...engine.flow.observer import Observer, Stopwatch
from ...engine.flow.schedule import ENGINE, Node
from ...engine.memory.assembly import schedule_of
from ...engine.memory.engine import Engine
from ...engine.ports.embedder import Embedder
from ...engine.ports.language_model import LanguageModel
from ...engine.state.ranking import Answer
from .base import Assembled, Capability, Retrieved, RetrievedEvent


@dataclass(frozen=True, slots=True)
class RetrievedAndRanked(Retrieved):
    """Retrieved events with the exact rank of every stored event."""

    answer: Answer
    engine: Engine
    plan: Plan | None = None  # with which the engine was asked

    def rank_of(self, event_id: str) -> int | None:
        """Rank from 1, ties by row, of the first retrievable memory that shows the event; None if
        there is none.  O(n) for each that shows it.

        Memories that show it are the event itself, and segments and bundles that the memory made of
        it.
        """
        return min(
            filter(None, map(self.answer.rank, self.engine.event_log.showing(event_id))),
            default=None,
        )

    def context(self, query: Query, budget: int, strategy: str) -> Assembled:
        """Assembled from the whole ranking, whatever the number of events asked for."""
        memory = AsPlanned(Variants(self.engine), self.plan) if self.plan else self.engine
        made = context_of(memory, self.answer, query, budget, strategy=strategy)
        condensed = sum(component.form is not Form.WHOLE for component in made.components)
        return Assembled(
            unescaped(made.text),
            made.tokens,
            made.counter,
            len(made.components),
            condensed,
            made.truncated,
        )


def id_of(unit: Unit) -> str:
    """The id under which an answer names a memory: that of its event, or the row of one that the
    memory made.
    """
    return f"row {unit.row}" if unit.kind else unit.id


class Hebbarium:
    """An engine with some mechanisms and an observer.

    observer        a plain `Observer` by default; with a `Stopwatch` there are no receipts
    language_model  for mechanisms that can use one
    path            a snapshot file to continue from, as of the end of its last tick: a run that is
                    cut off is made again
    capacity        most visible rows; None: no limit
    """

    def __init__(
        self,
        mechanisms: Sequence[Mechanism[Any]],
        embedder: Embedder,
        seed: int,
        observer: Stopwatch | None = None,
        *,
        language_model: LanguageModel | None = None,
        path: Path | None = None,
        capacity: int | None = None,
    ) -> None:
        self._ids = tuple(m.id for m in mechanisms)
        self._observer = observer or Observer()
        self._engine = Engine(
            mechanisms,
            embedder,
            seed=seed,
            observer=self._observer,
            language_model=language_model,
            path=path,
            capacity=capacity,
            durable=False,
        )
        self._counterfactual: Counterfactual | None = None  # made at its first use
        self.capabilities = _declared(self._engine.assembly.phases)

    @property
    def engine(self) -> Engine:
        """The memory itself, for questions that the port does not have."""
        return self._engine

    def encode(self, events: Sequence[Event]) -> None:
        self._engine.encode_all(events)

    def advance(self, time: float) -> None:
        self._engine.advance(time)

    def retrieve(self, query: Query, k: int, learn: bool = False) -> Retrieved:
        return _retrieved(self._engine.retrieve(query, k, learn=learn), self._engine)

    def use(self, answer: Retrieved, ids: Sequence[str]) -> None:
        if not isinstance(answer, RetrievedAndRanked):
            raise InputError(
                f"{type(answer).__name__} is no answer of this system",
                where="use",
                cure="give what `retrieve` returned",
            )
        rows, log = {id_of(unit): unit.row for unit in answer.answer.units}, self._engine.event_log
        self._engine.use(
            answer.answer, [rows.get(id, id) for id in ids if id in rows or log.rows_of(id)]
        )

    def close(self) -> None:
        self._engine.close()

    def receipts(self) -> Mapping[str, Mapping[str, int]]:
        """By mechanism, in registry order; of one that votes on admission also `judged`,
        `stored` (of all events) and its `Votes`.
        """
        return _receipts(self._ids, self._observer)

    def ranks_changed(self, query: Query) -> Mapping[str, int]:
        """Cost: one retrieval for each mechanism that can change the answer."""
        if self._counterfactual is None:
            self._counterfactual = Counterfactual(self._engine)
        return self._counterfactual.ranks_changed(query)

    def language_model_usage(self) -> Mapping[str, Mapping[str, Mapping[str, int]]]:
        by_mechanism: dict[str, dict[str, dict[str, int]]] = {}
        if not isinstance(self._observer, Observer):
            return by_mechanism
        for (phase, id), usage in self._observer.asked.items():
            by_mechanism.setdefault(phase.value, {})[id] = usage.named()
        return by_mechanism

    def phase_ms(self) -> Mapping[str, Sequence[float]]:
        return {phase.value: ms for phase, ms in self._observer.phase_ms.items()}


class Asking:
    """A memory that is asked as one of other mechanisms, which would have lived the same life:
    `Variants.plan_for`.

    Receipts and times are those of the memory's life, and of this asking; receipts only if
    observers noted both.

    same  equal for askings that a `Round` can ask together; () for one with receipts, which must
          see its own steps
    """

    def __init__(
        self,
        life: Hebbarium,
        lived: Stopwatch,
        mechanisms: Sequence[Mechanism[Any]],
        observer: Stopwatch,
        *,
        fewer: bool = False,
    ) -> None:
        """fewer: mechanisms that decide the life may be missing, see `Variants.plan_for`."""
        self.engine, self._lived, self.observer, self._ids = (
            life.engine,
            lived,
            observer,
            tuple(m.id for m in mechanisms),
        )
        self.variants = Variants(life.engine)
        self.plan = self.variants.plan_for(mechanisms, observer, fewer=fewer)
        self.same = (
            () if isinstance(observer, Observer) else tuple(node.label for node in self.plan.nodes)
        )
        self._counterfactual: Counterfactual | None = None  # made at its first use
        self.capabilities = _declared(
            {**life.engine.assembly.phases, Phase.RETRIEVE: self.plan.nodes}
        )

    def encode(self, events: Sequence[Event]) -> None:
        raise InputError(
            "an asking encodes nothing",
            where="encode",
            cure="encode in the memory itself, before it is asked",
        )

    def advance(self, time: float) -> None:
        raise InputError(
            "time passes for the memory itself", where="advance", cure="advance the memory itself"
        )

    def retrieve(self, query: Query, k: int, learn: bool = False) -> Retrieved:
        if learn:
            raise InputError(
                "an asking never learns",
                where="retrieve",
                cure="ask the memory itself, or leave out learn",
            )
        return _retrieved(self.variants.retrieve(query, k, self.plan), self.engine, self.plan)

    def close(self) -> None: ...

    def note(self, seconds: float) -> None:
        """Count a pass of RETRIEVE that ran with others, by its share of their time."""
        self.observer.phase_ms[Phase.RETRIEVE].append(seconds * 1e3)

    def receipts(self) -> Mapping[str, Mapping[str, int]]:
        """As a memory of these mechanisms alone would report them."""
        of_asking, of_life = _receipts(self._ids, self.observer), _receipts(self._ids, self._lived)
        if not of_asking:
            return {}
        return {
            id: {
                **lived,
                **{name: lived[name] + of_asking[id][name] for name in ("calls", "values_changed")},
            }
            for id, lived in of_life.items()
        }

    def ranks_changed(self, query: Query) -> Mapping[str, int]:
        """Cost: one retrieval for each mechanism that can change the answer."""
        if self._counterfactual is None:
            self._counterfactual = Counterfactual(self.engine, self.plan)
        return self._counterfactual.ranks_changed(query)

    def phase_ms(self) -> Mapping[str, Sequence[float]]:
        return {
            phase.value: (self.observer if phase is Phase.RETRIEVE else self._lived).phase_ms[phase]
            for phase in Phase
        }


class Round:
    """Askings of one memory with the same mechanisms, asked each query together: what no parameter
    reaches runs once (`engine.arms.parameter_arms`).

    Answers equal those of each asking alone, and so do times, but for noise: each has the time of
    every step that it needs.
    """

    def __init__(self, askings: Sequence[Asking]) -> None:
        self._askings, self._engine, self._variants = (
            tuple(askings),
            askings[0].engine,
            askings[0].variants,
        )
        self._together = (
            self._variants.parameter_arms([asking.plan for asking in askings])
            if len(askings) > 1
            else None
        )

    def retrieve(self, query: Query, k: int) -> list[tuple[Retrieved, float]]:
        """The answer of each asking, in order, with the seconds that its steps took."""
        if self._together is None:
            start = perf_counter()
            return [(self._askings[0].retrieve(query, k), perf_counter() - start)]
        answers = self._variants.retrieve_each(query, k, self._together)
        for asking, ms in zip(self._askings, self._together.ms, strict=True):
            asking.observer.phase_ms[Phase.RETRIEVE].append(ms)
        return [
            (_retrieved(answer, self._engine, asking.plan), ms / 1e3)
            for asking, answer, ms in zip(self._askings, answers, self._together.ms, strict=True)
        ]


class SharedLife(Hebbarium):
    """A memory that several arms share: it lives once, and `asking` asks it with the mechanisms of
    each.

    registry  builds the mechanisms of an asking
    path      its snapshot file; None: it has none
    receipts  whether receipts are kept; without them a life costs about a fifth less
    traced    in place of receipts, note what each step leaves, so that parts of the set can be asked
    """

    def __init__(
        self,
        registry: Registry,
        mechanisms: Mapping[str, Mapping[str, Any]],
        embedder: Embedder,
        seed: int,
        path: Path | None = None,
        receipts: bool = True,
        traced: bool = False,
    ) -> None:
        built = registry.build(MechanismSet("", "", mechanisms))
        observer = Traces(built) if traced else None if receipts else Stopwatch()
        super().__init__(built, embedder, seed, observer, path=path)
        self._registry, self.path = registry, path

    @property
    def now(self) -> float:
        """h, the simulated time that the memory has reached; minus infinity before the first
        event.
        """
        return -math.inf if math.isnan(self._engine.now) else self._engine.now

    def save(self) -> None:
        """Bring the snapshot file up to date.  Raises SnapshotError."""
        self._engine.save()

    def asking(self, mechanisms: Mapping[str, Mapping[str, Any]], receipts: bool = True) -> Asking:
        """receipts: of this asking; they are empty if those of the life are not kept."""
        return Asking(
            self,
            self._observer,
            self._registry.build(MechanismSet("", "", mechanisms)),
            Observer() if receipts else Stopwatch(),
        )

    def asking_part(self, mechanisms: Mapping[str, Mapping[str, Any]]) -> Asking:
        """Of a life whose traces are noted: an asking as a part of its set.  Raises InputError if
        declarations say that the part would have lived another life.
        """
        built = self._registry.build(MechanismSet("", "", mechanisms))
        return Asking(self, self._observer, built, Stopwatch(), fewer=True)

    def traced_by(self, part: Asking) -> frozenset[str]:
        """The mechanisms that a part lacks and that have left a trace in this life; none: the part
        would have lived it so far.
        """
        assert isinstance(self._observer, Traces)
        return frozenset(label.partition(".")[0] for label in self._observer.left & part.plan.lacks)

    def again(self, last: Retrieved, parts: Sequence[Asking]) -> list[Retrieved]:
        """The answers of parts to the question of the last answer, see `Variants.again`."""
        return [answer for answer, _ in asked_again(last, parts)]


def asked_again(
    last: Retrieved, askings: Sequence[Asking], columns: Sequence[Column] = ()
) -> list[tuple[Retrieved, Mapping[Column, NDArray[Any]]]]:
    """The answers of memories that lack mechanisms of one memory to the question of its last
    answer, see `Variants.again`.
    """
    if not askings or not isinstance(last, RetrievedAndRanked):
        return []
    again = askings[0].variants.again(last.answer, [asking.plan for asking in askings], columns)
    return [
        (_retrieved(answer, last.engine, asking.plan), values)
        for asking, (answer, values) in zip(askings, again, strict=True)
    ]


def _retrieved(answer: Answer, engine: Engine, plan: Plan | None = None) -> RetrievedAndRanked:
    scored = zip(answer.units, answer.scores, strict=True)
    hits = (
        RetrievedEvent(id_of(unit), float(score), unit.text, unit.events if unit.kind else ())
        for unit, score in scored
    )
    return RetrievedAndRanked(tuple(hits), answer, engine, plan)


def _receipts(ids: Sequence[str], seen: Stopwatch) -> dict[str, dict[str, int]]:
    if not isinstance(seen, Observer):
        return {}
    receipts = seen.receipts
    return {
        id: {"calls": receipts[id].calls, "values_changed": receipts[id].values_changed}
        | (
            {"judged": seen.judged, "stored": seen.stored, **asdict(votes)}
            if (votes := receipts[id].votes)
            else {}
        )
        for id in ids
    }


@dataclass(frozen=True)
class Deciding:
    """What mechanisms decide of the life of a memory.

    mechanisms  mechanism -> parameter -> value, see `engine.flow.lives`
    steps       labels of all steps outside RETRIEVE, in order
    """

    mechanisms: Mapping[str, Mapping[str, Any]]
    steps: tuple[str, ...]

    @cached_property
    def digest(self) -> str:
        return sha256(
            json.dumps([self.mechanisms, self.steps], sort_keys=True).encode()
        ).hexdigest()


@dataclass(frozen=True, slots=True)
class Declared:
    """What the declarations of mechanisms say of a memory.

    capabilities  see `Capability`
    unread        see `unread_signals`
    life          what they decide of its life
    reads_tokens  whether a step asks for token vectors
    """

    capabilities: frozenset[Capability]
    unread: Mapping[str, tuple[str, ...]]
    life: Deciding
    reads_tokens: bool


def declared(mechanisms: Sequence[Mechanism[Any]]) -> Declared:
    """Cost and errors: as `unread_signals`."""
    phases = schedule_of(mechanisms)
    steps = tuple(
        n.label for phase, nodes in phases.items() if phase is not Phase.RETRIEVE for n in nodes
    )
    tokens = any(TOKEN_EMBEDDER in n.sees for nodes in phases.values() for n in nodes)
    return Declared(
        _declared(phases),
        unread_signals(mechanisms, phases),
        Deciding(life_of(mechanisms), steps),
        tokens,
    )


def capabilities_of(mechanisms: Sequence[Mechanism[Any]]) -> frozenset[Capability]:
    """What a memory of these mechanisms can do.  Cost and errors: as `unread_signals`."""
    return _declared(schedule_of(mechanisms))


def _declared(phases: Mapping[Phase, Sequence[Node]]) -> frozenset[Capability]:
    """Capabilities that the schedule shows.

    The memory sleeps if a hook consolidates, learns from recall if a step reads RECALLED, and
    archives if a step sets VISIBLE of rows that exist.
    """
    nodes = [node for nodes in phases.values() for node in nodes]
    capabilities = {
        Capability.SLEEPS: any(n.phase is Phase.CONSOLIDATE and n.owner != ENGINE for n in nodes),
        Capability.LEARNS: any(RECALLED in n.sees for n in nodes),
        Capability.ARCHIVES: any(VISIBLE in n.sets and ROW not in n.sets for n in nodes),
    }
    return frozenset(
        {
            Capability.RECEIPTS,
            Capability.RANKS_ALL,
            *(capability for capability, has in capabilities.items() if has),
        }
    )


def unread_signals(
    mechanisms: Sequence[Mechanism[Any]], phases: Mapping[Phase, Sequence[Node]] | None = None
) -> dict[str, tuple[str, ...]]:
    """Mechanism -> names of its signals that no step on the way to an answer reads, although they
    have a weight.

    The way is computed from the schedule of retrieval: the step that answers, the steps that write
    what it reads, and so on.  In a set without a step that reads all signals, only those in the
    match, or those that another step on the way reads, can change an answer.
    phases  of `engine.memory.assembly.schedule_of`, if they are known

    Cost: a few milliseconds; nothing is built.  Raises ContractError if the mechanisms cannot be
    scheduled together.
    """
    read = read_for_the_answer((phases or schedule_of(mechanisms))[Phase.RETRIEVE])
    owned = {
        m.id: [c for c in m.owns if isinstance(c, Signal) and m.params.weight > 0]
        for m in mechanisms
    }
    return {
        id: names
        for id, signals in owned.items()
        if (names := tuple(c.name for c in signals if not {c, SIGNALS} & read))
    }
