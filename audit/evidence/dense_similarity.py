"""Evidence for dense_similarity: what the plug-in writes, against cosines by the definition in float64."""
from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engine.storage.vectors import VectorIndex
from ..checks import adaptation, equation, limit, mutant
from ..figures import Curve, Picture, dots, figure
from ..memory import Scripted, encode, memory_of

ROUNDING = 1e-6                 # of an inner product of unit float32 vectors


def scores(specimen: Any, query: NDArray[np.float32], memories: NDArray[np.float32]) -> Any:
    """The signal as the plug-in writes it."""
    index = VectorIndex(memories.shape[1])
    index.add_many(memories)
    view = SimpleNamespace(index=index, embedding=index.vectors, dense=np.full(len(memories), np.nan, np.float32))
    plug_in = specimen.DenseSimilarity("dense_similarity", specimen.DenseSimilarityParams(time_scale=1.0, weight=1.0))
    plug_in.score(view, SimpleNamespace(vector=query))
    return view.dense


def unit(rows: NDArray[Any]) -> Any:
    return (rows / np.linalg.norm(rows, axis=-1, keepdims=True)).astype(np.float32)


@equation("DN-1", source="definition of the cosine", atol=ROUNDING)
def scores_are_cosines(specimen: Any) -> Any:
    rng = np.random.default_rng(1)
    query, memories = rng.normal(size=48), rng.normal(size=(300, 48))
    expected = [math.fsum(query * m) / math.sqrt(math.fsum(query * query) * math.fsum(m * m)) for m in memories]
    return scores(specimen, unit(query), unit(memories)), np.array(expected)


@limit("DN-2", source="closed form", atol=ROUNDING)
def equal_opposite_and_orthogonal_vectors_score_one_minus_one_and_zero(specimen: Any) -> Any:
    axes = np.eye(5, dtype=np.float32)
    return scores(specimen, axes[0], np.stack([axes[0], -axes[0], axes[3]])), np.array([1.0, -1.0, 0.0])


@limit("DN-3", source="closed form: cos of the angle", atol=ROUNDING, figure="turning_away")
def the_score_over_the_angle_is_the_cosine(specimen: Any) -> Any:
    angles = np.linspace(0.0, math.pi, 19)
    circle = np.stack([np.cos(angles), np.sin(angles), np.zeros_like(angles)], axis=1).astype(np.float32)
    return scores(specimen, circle[0], circle), np.cos(angles)


@adaptation("DN-4", source="exact search")
def every_memory_is_scored_and_none_below_the_floor(specimen: Any) -> Any:
    rng = np.random.default_rng(2)
    found = scores(specimen, unit(rng.normal(size=8)), unit(rng.normal(size=(1000, 8))))
    return bool(np.isfinite(found).all() and found.min() >= specimen.DENSE.floor - ROUNDING)


@equation("DN-5", source="definition of the cosine, in float64; archived memories have a score, too", atol=ROUNDING)
def a_memory_scores_the_cosine_of_query_and_event(specimen: Any) -> Any:
    rng = np.random.default_rng(3)
    vectors, queries = rng.normal(size=(7, 5)), rng.normal(size=(2, 5))
    texts = {f"event {i}": v for i, v in enumerate(vectors)} | {f"query {i}": v for i, v in enumerate(queries)}
    memory, found = memory_of(specimen, embedder=Scripted(texts), weight=0.7), []
    encode(memory, *((float(i), f"event {i}", "Ada" if i % 2 else "") for i in range(7)))
    memory.archive(4)
    for i in range(2):
        memory.retrieve(f"query {i}", k=3, learn=bool(i))
        found.append(memory.column(specimen.DENSE).tolist())
    return found, [[math.fsum(q * v) / math.sqrt(math.fsum(q * q) * math.fsum(v * v)) for v in vectors] for q in queries]


@figure("turning_away", caption="Score of a memory over its angle to the query: the cosine, from 1 through 0 at a right angle to -1",
        source="definition")
def score_over_the_angle(specimen: Any) -> Picture:
    angles = np.linspace(0.0, math.pi, 61)
    circle = np.stack([np.cos(angles), np.sin(angles), np.zeros_like(angles)], axis=1).astype(np.float32)
    marks = np.array([0.0, 60.0, 90.0, 120.0, 180.0])
    return Picture("angle between query and memory, degrees", "score", (
        Curve("mechanism", np.degrees(angles), scores(specimen, circle[0], circle)), dots("cosine", marks, [1.0, 0.5, 0.0, -0.5, -1.0])))


@mutant("Euclidean distance in place of the cosine", rejected_by="DN-1")
def euclidean(specimen: Any) -> Any:
    class Distance(specimen.DenseSimilarity):                                 # type: ignore[misc]
        def score(self, view: Any, cue: Any) -> None:
            view.dense[...] = np.linalg.norm(view.embedding - cue.vector, axis=1)

    return specimen.replacing("DenseSimilarity", Distance)


@mutant("the absolute value of the cosine", rejected_by="DN-2")
def unsigned(specimen: Any) -> Any:
    class Unsigned(specimen.DenseSimilarity):                                 # type: ignore[misc]
        def score(self, view: Any, cue: Any) -> None:
            view.dense[...] = np.abs(view.embedding @ cue.vector)

    return specimen.replacing("DenseSimilarity", Unsigned)


@mutant("the query's vector is reversed", rejected_by="DN-5")
def reversed_query(specimen: Any) -> Any:
    class Reversed(specimen.DenseSimilarity):                                 # type: ignore[misc]
        def score(self, view: Any, cue: Any) -> None:
            view.index.scores(cue.vector[::-1].copy(), view.dense)

    return specimen.replacing("DenseSimilarity", Reversed)
