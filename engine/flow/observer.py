"""Measuring from outside: receipts, timings and traces.  Mechanisms never log or time themselves.

An instrument wraps the steps when the plans are built; a memory without one pays nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.numerics import fitted
from ..contract.columns import Column, Phase
from ..contract.vocabulary import DUPLICATE, GRAPH, LANGUAGE_MODEL, OFFERS, ROW, VETO
from ..ports.embedding_cache import MeteredEmbedder
from ..ports.language_model import MeteredLanguageModel, Usage
from ..state.clock import Clock
from .passes import StepFunction
from .schedule import ENGINE, Node
from .view import Binding


@dataclass
class Votes:
    """What a mechanism decided about the admission of events.

    vetoed   events for which its contribution to VETO was above 0
    decided  vetoed events that no other mechanism vetoed: its vote alone rejected them
    merged   stored events that it marked as the DUPLICATE of a stored memory
    """

    vetoed: int = 0
    decided: int = 0
    merged: int = 0


@dataclass
class Receipt:
    """What a mechanism did in a run; `counterfactual` adds which ranks changed by it.

    calls          hooks called
    values_changed  values of columns that differ before and after a call, contributions other than
                    zero, edges made or removed, and offers
    votes          on admission; None for a mechanism that neither adds to VETO nor sets DUPLICATE
    """

    calls: int = 0
    values_changed: int = 0
    votes: Votes | None = None


@dataclass
class Stopwatch:
    """Times the passes of one memory, and nothing else; an `Instrument` that costs two readings of
    the clock a pass.

    phase_ms       by phase, one entry per pass; without the time spent in the embedder and in the
                   language model
    contributions  None: what hooks add is not noted
    """

    phase_ms: dict[Phase, list[float]] = field(default_factory=lambda: {p: [] for p in Phase})
    contributions: Any = field(default=None, repr=False)
    _clock: Clock = field(default_factory=Clock, repr=False)
    _embedder: MeteredEmbedder | None = field(default=None, repr=False)
    _language_model: MeteredLanguageModel | None = field(default=None, repr=False)

    def attach(
        self,
        ids: Iterable[str],
        clock: Clock,
        embedder: MeteredEmbedder,
        language_model: MeteredLanguageModel,
    ) -> None:
        """Take the memory's clock and models; the time of the models is left out of all times."""
        self._clock, self._embedder, self._language_model = clock, embedder, language_model

    def wrap(self, node: Node, binding: Binding, function: StepFunction) -> StepFunction:
        """The step itself."""
        return function

    def timed(self, phase: Phase, run: Callable[..., None]) -> Callable[..., None]:
        """The pass of a phase, with its time noted."""

        def call(*args: Any) -> None:
            start = self.seconds()
            run(*args)
            self.phase_ms[phase].append((self.seconds() - start) * 1e3)

        return call

    def seconds(self) -> float:
        """s, wall time without the time spent in the embedder and in the language model."""
        return (
            perf_counter()
            - (self._embedder.seconds if self._embedder else 0.0)
            - (self._language_model.seconds if self._language_model else 0.0)
        )


@dataclass
class Observer(Stopwatch):
    """Collects receipts and timings of one memory; an `Instrument`.

    trace          called with (node label, simulated hours) after every step; None: no trace
    receipts       by mechanism id
    phase_ms       as in `Stopwatch`
    mechanism_ms   by mechanism id, total; without the time of the models
    asked          by phase and mechanism id: what it asked the language model
    contributions  by (mechanism id, hook name, column): what the hook has added to a persistent
                   column so far
    judged, stored  events that were to be encoded, and how many of these were stored
    """

    trace: Callable[[str, float], None] | None = None
    receipts: dict[str, Receipt] = field(default_factory=lambda: defaultdict(Receipt))
    mechanism_ms: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    contributions: dict[tuple[str, str, Column], NDArray[Any]] = field(
        default_factory=dict, repr=False
    )
    judged: int = 0
    stored: int = 0
    asked: dict[tuple[Phase, str], Usage] = field(default_factory=dict)
    # row of the event that is being encoded, -1 if it is rejected; and the votes of the mechanisms
    # that veto it, and of those that mark it as a duplicate
    _row: int = field(default=-1, repr=False)
    _vetoing: dict[str, Votes] = field(default_factory=dict, repr=False)
    _marking: dict[str, Votes] = field(default_factory=dict, repr=False)

    def attach(
        self,
        ids: Iterable[str],
        clock: Clock,
        embedder: MeteredEmbedder,
        language_model: MeteredLanguageModel,
    ) -> None:
        """Start a receipt for each mechanism; times of the trace are read off the clock."""
        super().attach(ids, clock, embedder, language_model)
        self.receipts.update({id: Receipt() for id in ids})

    def timed(self, phase: Phase, run: Callable[..., None]) -> Callable[..., None]:
        """The pass of a phase, with its time noted; of ENCODE also with its votes counted."""
        passed = super().timed(phase, run)

        def call(*args: Any) -> None:
            self._row, self._vetoing, self._marking = -1, {}, {}
            passed(*args)
            if phase is Phase.ENCODE:
                self._count_votes()

        return call

    def wrap(self, node: Node, binding: Binding, function: StepFunction) -> StepFunction:
        """The step, with its receipt.  Cost: one comparison of every column it may write; the
        engine's own steps are only counted and timed.
        """
        if node.owner == ENGINE:
            return self._timed(node, binding, function)
        columns = [c for c in node.sets if isinstance(c, Column)]
        lasting = [c for c in node.adds if isinstance(c, Column) and c.persists]
        graph = binding.store.graph if GRAPH in (*node.sets, *node.adds) else None
        vetoes, marks = VETO in node.adds, DUPLICATE in node.sets
        offers = binding.store.structures[OFFERS] if OFFERS in node.adds else ()
        votes = self._votes_of(node.owner) if vetoes or marks else Votes()
        model = self._language_model if LANGUAGE_MODEL in node.sees else None

        def call(view: Any, what: Any) -> None:
            store, receipt = binding.store, self.receipts[node.owner]
            before = [store.array(c).copy() for c in columns]
            edges, offered = (
                (graph.n_edges, int(np.count_nonzero(graph.alive))) if graph else (0, 0),
                len(offers),
            )
            usage, start = model.usage if model else None, self.seconds()
            function(view, what)
            self.mechanism_ms[node.owner] += (self.seconds() - start) * 1e3
            if model and usage is not None and model.usage != usage:
                key = node.phase, node.owner
                self.asked[key] = self.asked.get(key, Usage()) + (model.usage - usage)
            receipt.calls += 1
            receipt.values_changed += sum(
                _differ(old, store.array(c)) for c, old in zip(columns, before, strict=True)
            )
            receipt.values_changed += (
                sum(int(np.count_nonzero(c)) for c in binding.contributions.values())
                + len(offers)
                - offered
            )
            if graph:
                made = graph.n_edges - edges[0]
                receipt.values_changed += made + (
                    edges[1] + made - int(np.count_nonzero(graph.alive))
                )
            for column in lasting:
                given = node.owner, node.name, column
                earlier = (
                    None if column.upkeep.fresh is node.phase else self.contributions.get(given)
                )
                self.contributions[given] = _sum(binding.contributions[column], earlier)
            if vetoes and binding.contributions[VETO].item() > 0:
                self._vetoing[node.owner] = votes
            if marks and store.array(DUPLICATE).item() >= 0:
                self._marking[node.owner] = votes
            self._tell(node)

        return call

    def _timed(self, node: Node, binding: Binding, function: StepFunction) -> StepFunction:
        stores = ROW in node.sets

        def call(view: Any, what: Any) -> None:
            start = self.seconds()
            function(view, what)
            self.mechanism_ms[node.owner] += (self.seconds() - start) * 1e3
            self.receipts[node.owner].calls += 1
            if stores:
                self._row = binding.store.array(ROW).item()
            self._tell(node)

        return call

    def _votes_of(self, id: str) -> Votes:
        receipt = self.receipts[id]
        receipt.votes = receipt.votes or Votes()
        return receipt.votes

    def _count_votes(self) -> None:
        """Count the event that was just encoded, and the votes on it."""
        self.judged += 1
        self.stored += self._row >= 0
        for votes in self._vetoing.values():
            votes.vetoed += 1
            votes.decided += len(self._vetoing) == 1
        for votes in self._marking.values() if self._row >= 0 else ():
            votes.merged += 1

    def _tell(self, node: Node) -> None:
        if self.trace:
            self.trace(node.label, self._clock.now)


def _sum(contribution: NDArray[Any], earlier: NDArray[Any] | None) -> NDArray[Any]:
    return contribution.copy() if earlier is None else contribution + fitted(earlier, contribution)


def _differ(before: NDArray[Any], after: NDArray[Any]) -> int:
    if before.shape != after.shape:
        before, after = before[: len(after)], after[: len(before)]
    if before.dtype.kind == "f":
        return int(np.count_nonzero((before != after) & ~(np.isnan(before) & np.isnan(after))))
    return int(np.count_nonzero(before != after))
