"""One cell: a new system encodes one conversation and answers its questions.

Rows hold nothing that depends on the machine or the clock, so they are equal for any number of jobs and for a resumed sweep;
times are kept apart from them.
"""
from __future__ import annotations

import math
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from ...engine.ports.embedding_cache import CachedEmbedder
from ...engine.records import Query
from ...engine.registry import MechanismSet, Registry
from ..datasets import Conversation, Question
from ..systems.base import Capability, ReportsReceipts, System
from ..systems.by_name import make
from ..systems.hebbarium import Hebbarium
from .spec import RunSpec


@dataclass(frozen=True, slots=True)
class Cell:
    """A record and the conversation that it names; plain data that can be sent to a worker."""

    spec: RunSpec
    conversation: Conversation


@dataclass(frozen=True)
class Outcome:
    """The results of a cell.

    rows      one per question
    timing    phase -> ms of every pass; of a system without receipts `encode`, ms an event, and `retrieve`, ms a question, query embedding
              included
    receipts  mechanism -> calls, cells_changed, ranks_changed; empty for a system without receipts
    seconds   wall time
    """

    rows: list[dict[str, Any]]
    timing: dict[str, list[float]]
    receipts: dict[str, dict[str, int]]
    seconds: float


def run_cell(cell: Cell, registry: Registry, embedder: CachedEmbedder) -> Outcome:
    """Encode the conversation, then ask its questions in order of time.  Raises HebbariumError."""
    start = time.perf_counter()
    with closing(_system(cell.spec, registry, embedder)) as system:
        rows, timing, receipts = _measured(cell, system)
    return Outcome(rows, timing, receipts, time.perf_counter() - start)


def _system(spec: RunSpec, registry: Registry, embedder: CachedEmbedder) -> System:
    if spec.ours:
        return Hebbarium(registry.build(MechanismSet(spec.set, "", spec.mechanisms)), embedder, spec.seed)
    return make(spec.system, embedder, spec.seed)


def _measured(cell: Cell, system: System) -> tuple[list[dict[str, Any]], dict[str, list[float]], dict[str, dict[str, int]]]:
    spec, events = cell.spec, cell.conversation.events
    observed = system if Capability.RECEIPTS in system.capabilities and isinstance(system, ReportsReceipts) else None
    depth = spec.k if Capability.RANKS_ALL in system.capabilities else max(spec.k, spec.depth)
    timing: dict[str, list[float]] = {"encode": [], "retrieve": []}
    start = time.perf_counter()
    system.encode(events)
    timing["encode"].append((time.perf_counter() - start) * 1e3 / max(len(events), 1))
    now = events[-1].time if events else -math.inf
    questions = sorted(cell.conversation.questions, key=lambda q: q.time)
    if spec.rehearse is not None:
        now = _rehearsed(system, questions, now, spec.k) + spec.rehearse
        system.advance(now)
    every = max(1, -(-len(questions) // spec.probed))
    rows: dict[str, dict[str, Any]] = {}
    changed: dict[str, int] = {}
    for number, question in enumerate(questions):
        now = max(question.time, now)
        system.advance(now)
        query = Query(question.text, now, question.id)
        start = time.perf_counter()
        found = system.retrieve(query, depth)
        timing["retrieve"].append((time.perf_counter() - start) * 1e3)
        if observed and number % every == 0:
            for id, places in observed.ranks_changed(query).items():
                changed[id] = changed.get(id, 0) + places
        ranks = [found.rank_of(gold) or 0 for gold in question.gold]
        rows[question.id] = _row(spec, question, ranks, [hit.id for hit in found.hits[:spec.k]])
    receipts = {id: {**counts, "ranks_changed": changed.get(id, 0)} for id, counts in observed.receipts().items()} if observed else {}
    times = {phase: list(ms) for phase, ms in observed.phase_ms().items()} if observed else timing
    return [rows[q.id] for q in cell.conversation.questions], times, receipts


def _rehearsed(system: System, questions: Sequence[Question], now: float, k: int) -> float:
    """Every question asked once so that recall may change memory.  The time of the last, h."""
    for question in questions:
        now = max(question.time, now)
        system.advance(now)
        system.retrieve(Query(question.text, now, question.id), k, learn=True)
    return now


def _row(spec: RunSpec, question: Question, ranks: list[int], retrieved: list[str]) -> dict[str, Any]:
    """One line of rows.jsonl; a rank of 0 is a miss."""
    hit = [rank for rank in ranks if rank]
    return {
        "arm": spec.arm, "dataset": spec.dataset, "sha256": spec.sha256, "conversation": spec.conversation, "question": question.id,
        "category": question.category, "gold": list(question.gold), "ranks": ranks, "reciprocal_rank": 1.0 / min(hit) if hit else 0.0,
        "retrieved": retrieved, "seed": spec.seed, "set": spec.set_digest, "code": spec.code,
    }
