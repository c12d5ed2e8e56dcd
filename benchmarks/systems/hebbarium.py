"""Hebbarium itself as a system: an engine with a mechanism set, and an observer that keeps receipts and times."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...engine.assembly import planned
from ...engine.contract import Mechanism
from ...engine.counterfactual import Counterfactual
from ...engine.loop import Engine
from ...engine.observer import Observer
from ...engine.ports.embedder import Embedder
from ...engine.ranking import Answer
from ...engine.records import Event, Query
from .base import Capability, Hit, Hits


@dataclass(frozen=True, slots=True)
class RankedHits(Hits):
    """Hits with the exact rank of every stored event."""

    answer: Answer
    engine: Engine

    def rank_of(self, event_id: str) -> int | None:
        """Rank among all retrievable events from 1, ties by row; None if the event was not stored or cannot be retrieved.  O(n)."""
        return self.answer.rank(self.engine.event_log.row(event_id)) or None


class Hebbarium:
    """An engine with some mechanisms and an observer."""

    capabilities = frozenset(Capability)

    def __init__(self, mechanisms: Sequence[Mechanism[Any]], embedder: Embedder, seed: int) -> None:
        self._ids = tuple(m.id for m in mechanisms)
        self._observer = Observer()
        self._engine = Engine(mechanisms, embedder, seed=seed, observer=self._observer)
        self._counterfactual: Counterfactual | None = None      # made at its first use

    def encode(self, events: Sequence[Event]) -> None:
        self._engine.encode_all(events)

    def advance(self, time: float) -> None:
        self._engine.advance(time)

    def retrieve(self, query: Query, k: int, learn: bool = False) -> Hits:
        answer = self._engine.retrieve(query, k, learn=learn)
        found = zip(map(self._engine.event, answer.rows), answer.scores, strict=True)
        return RankedHits(tuple(Hit(event.id, float(score), event.text) for event, score in found), answer, self._engine)

    def close(self) -> None:
        self._engine.close()

    def receipts(self) -> Mapping[str, Mapping[str, int]]:
        """By mechanism, in registry order."""
        found = self._observer.receipts
        return {id: {"calls": found[id].calls, "cells_changed": found[id].cells_changed} for id in self._ids}

    def ranks_changed(self, query: Query) -> Mapping[str, int]:
        """Cost: one retrieval for each mechanism that can change the answer."""
        if self._counterfactual is None:
            self._counterfactual = Counterfactual(self._engine)
        return self._counterfactual.ranks_changed(query)

    def phase_ms(self) -> Mapping[str, Sequence[float]]:
        return {phase.value: ms for phase, ms in self._observer.phase_ms.items()}


def check(mechanisms: Sequence[Mechanism[Any]]) -> None:
    """Raises ContractError if the mechanisms cannot be scheduled together.  A few milliseconds; nothing is built."""
    planned(mechanisms)
