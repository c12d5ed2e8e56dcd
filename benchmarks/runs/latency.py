"""The latency of a memory within All-Mem's boundary (F.5, I.1): from the embedding of a question to
the re-ranked answer, warm; and, apart from it, the time to open the memory again.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np

from ...engine.base.errors import InputError
from ...engine.catalogue.registry import Registry
from ...engine.contract.records import Query
from ...engine.ports.embedder import Embedder, innermost
from ..datasets import Dataset
from ..execution.cells import Cell
from ..execution.folder import RunFolder
from .rebuilding import chosen_cells, lived, opened


@dataclass(frozen=True, slots=True)
class MemoryLatency:
    """Times of the memory of one conversation, after its last event.

    memories    rows that it holds
    questions   how many were asked; each once before it is timed
    embed_ms    median of the embedding of a question, by the model, not by a cache
    retrieve_ms median of the retrieval that follows
    whole_ms, whole_p95_ms  median and 95th percentile of both together, question by question
    cold_ms     the first question after the memory was opened
    rebuild_ms  opening the memory from its file, with its indexes
    """

    memories: int
    questions: int
    embed_ms: float
    retrieve_ms: float
    whole_ms: float
    whole_p95_ms: float
    cold_ms: float
    rebuild_ms: float


def latencies(
    run: RunFolder,
    data: Dataset,
    registry: Registry,
    embedder: Embedder,
    *,
    arm: str | None = None,
    conversation: str | None = None,
    k: int = 10,
) -> dict[str, MemoryLatency]:
    """The times of each conversation of the run, by id, or of one.

    Cost: one encoding of each conversation, and two retrievals of each question.  Raises
    InputError for a run of another system and for conversations without questions.
    """
    return {
        cell.conversation.id: _timed(run, cell, registry, embedder, k)
        for cell in chosen_cells(run, data, arm, conversation)
    }


def _timed(
    run: RunFolder, cell: Cell, registry: Registry, embedder: Embedder, k: int
) -> MemoryLatency:
    model, questions = innermost(embedder), cell.conversation.questions
    if not questions:
        raise InputError(
            f"conversation {cell.conversation.id!r} has no question",
            where=str(run.path),
            cure="choose one that has",
        )
    with TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        lived(run, cell, registry, embedder, path=path).close()
        began = perf_counter()
        with closing(opened(run, cell, registry, embedder, path=path)) as memory:
            rebuild = perf_counter() - began
            engine = memory.engine
            engine.advance(max(engine.now, *(q.time for q in questions)))
            asked = [Query(q.text, engine.now) for q in questions]
            began = perf_counter()
            engine.retrieve(asked[0], k)
            cold = perf_counter() - began
            embedding, retrieval = np.empty(len(asked)), np.empty(len(asked))
            for place, query in enumerate(asked):
                engine.retrieve(query, k)
                began = perf_counter()
                model.embed([query.text])
                ready = perf_counter()
                engine.retrieve(query, k)
                embedding[place], retrieval[place] = ready - began, perf_counter() - ready
            whole = 1000.0 * (embedding + retrieval)
            return MemoryLatency(
                engine.store.n,
                len(asked),
                1000.0 * float(np.median(embedding)),
                1000.0 * float(np.median(retrieval)),
                float(np.median(whole)),
                float(np.percentile(whole, 95)),
                1000.0 * cold,
                1000.0 * rebuild,
            )
