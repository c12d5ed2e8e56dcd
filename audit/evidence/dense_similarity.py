"""Evidence for dense_similarity: what the plug-in writes, against cosines by the definition in
float64, with wordings and windows by brute force.
"""

from __future__ import annotations

import math
import re
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engine.contract.records import Event
from ...engine.ports.embedder import HashingEmbedder
from ...engine.state.vectors import VectorIndex
from ..checks import adaptation, equation, limit, mutant
from ..figures import Curve, Picture, dots, figure
from ..memory import Scripted, encode, memory_of
from .shared.scripts import worded

ROUNDING = 1e-6  # of an inner product of unit float32 vectors


def scores(specimen: Any, query: NDArray[np.float32], memories: NDArray[np.float32]) -> Any:
    """The signal as the plug-in writes it."""
    index = VectorIndex(memories.shape[1])
    index.add_many(memories)
    view = SimpleNamespace(
        index=index,
        embedding=index.vectors,
        cues=(),
        dense=np.full(len(memories), np.nan, np.float32),
    )
    params = specimen.DenseSimilarityParams(
        time_scale=1.0, length_penalty=0.0, passages=False, weight=1.0
    )
    plug_in = specimen.DenseSimilarity("dense_similarity", params)
    plug_in.score(view, SimpleNamespace(vector=query))
    return view.dense


def unit(rows: NDArray[Any]) -> Any:
    return (rows / np.linalg.norm(rows, axis=-1, keepdims=True)).astype(np.float32)


@equation("DN-1", source="definition of the cosine", atol=ROUNDING)
def scores_are_cosines(specimen: Any) -> Any:
    rng = np.random.default_rng(1)
    query, memories = rng.normal(size=48), rng.normal(size=(300, 48))
    expected = [
        math.fsum(query * m) / math.sqrt(math.fsum(query * query) * math.fsum(m * m))
        for m in memories
    ]
    return scores(specimen, unit(query), unit(memories)), np.array(expected)


@limit("DN-2", source="closed form", atol=ROUNDING)
def equal_opposite_and_orthogonal_vectors_score_one_minus_one_and_zero(specimen: Any) -> Any:
    axes = np.eye(5, dtype=np.float32)
    return scores(specimen, axes[0], np.stack([axes[0], -axes[0], axes[3]])), np.array(
        [1.0, -1.0, 0.0]
    )


@limit("DN-3", source="closed form: cos of the angle", atol=ROUNDING, figure="turning_away")
def the_score_over_the_angle_is_the_cosine(specimen: Any) -> Any:
    angles = np.linspace(0.0, math.pi, 19)
    circle = np.stack([np.cos(angles), np.sin(angles), np.zeros_like(angles)], axis=1).astype(
        np.float32
    )
    return scores(specimen, circle[0], circle), np.cos(angles)


@adaptation("DN-4", source="exact search")
def every_memory_is_scored_and_none_below_the_floor(specimen: Any) -> Any:
    rng = np.random.default_rng(2)
    cosines = scores(specimen, unit(rng.normal(size=8)), unit(rng.normal(size=(1000, 8))))
    return bool(np.isfinite(cosines).all() and cosines.min() >= specimen.DENSE.floor - ROUNDING)


@equation(
    "DN-5",
    source="definition of the cosine, in float64; archived memories have a score, too",
    atol=ROUNDING,
)
def a_memory_scores_the_cosine_of_query_and_event(specimen: Any) -> Any:
    rng = np.random.default_rng(3)
    vectors, queries = rng.normal(size=(7, 5)), rng.normal(size=(2, 5))
    texts = {f"event {i}": v for i, v in enumerate(vectors)} | {
        f"query {i}": v for i, v in enumerate(queries)
    }
    memory, measured = memory_of(specimen, embedder=Scripted(texts), weight=0.7), []
    encode(memory, *((float(i), f"event {i}", "Ada" if i % 2 else "") for i in range(7)))
    memory.archive(4)
    for i in range(2):
        memory.retrieve(f"query {i}", k=3, learn=bool(i))
        measured.append(memory.column(specimen.DENSE).tolist())
    return measured, [
        [math.fsum(q * v) / math.sqrt(math.fsum(q * q) * math.fsum(v * v)) for v in vectors]
        for q in queries
    ]


# --- wordings -------------------------------------------------------------------------------------
@adaptation(
    "DN-6",
    source="ours: the larger of a score and the weighted one, in numpy; a negative cosine keeps its weight of 1",
)
def the_kernel_takes_the_weighted_maximum(specimen: Any) -> Any:
    rng = np.random.default_rng(6)
    best, other = np.round(rng.uniform(-1.0, 1.0, 60), 1), np.round(rng.uniform(-1.0, 1.0, 60), 1)
    measured = best.copy()
    specimen.raise_to_weighted(other, 0.3, measured)
    return measured, np.maximum(best, np.where(other > 0.0, 0.3 * other, other))


@adaptation(
    "DN-7",
    source="ours: the best of the query and of its wordings times their weights, cosines in float64 by the definition",
    atol=ROUNDING,
)
def the_best_wording_counts_by_its_weight(specimen: Any) -> Any:
    rng, measured, expected = np.random.default_rng(7), [], []
    vectors, asked = rng.normal(size=(12, 4)), rng.normal(size=(4, 4))
    texts = {f"event {i}": v for i, v in enumerate(vectors)} | {
        f"query {i}": v for i, v in enumerate(asked)
    }
    cosines = [
        [math.fsum(q * v) / math.sqrt(math.fsum(q * q) * math.fsum(v * v)) for v in vectors]
        for q in asked
    ]
    for weights in ({}, {1: 0.4}, {2: 1.0}, {1: 0.9, 2: 0.5, 3: 0.7}):
        memory = memory_of(
            specimen,
            worded(*((f"query {i}", w) for i, w in weights.items())),
            embedder=Scripted(texts),
        )
        encode(memory, *((float(i), f"event {i}") for i in range(12)))
        memory.archive(5)
        memory.retrieve("query 0")
        measured.append(memory.column(specimen.DENSE).tolist())
        expected.append(
            [
                max(of[0], *(of[i] * (w if of[i] > 0.0 else 1.0) for i, w in weights.items()))
                if weights
                else of[0]
                for of in zip(*cosines, strict=True)
            ]
        )
    return measured, expected


# --- passages -------------------------------------------------------------------------------------
# words of a window, and of these shared with the window before; the hashing embedder cuts at words
SIZE, SHARED = 200, 40
PENALTY = 0.07
LENGTHS = (3, 200, 201, 360, 361, 730, 12)  # words of the texts, the speaker's name not counted


def windows(text: str) -> list[str]:
    """Windows of SIZE words, each SIZE - SHARED further on, until one ends with the text; none
    for a text of one window.
    """
    cut: list[str] = []
    words = list(re.finditer(r"\w+", text))
    while len(words) > SIZE or (cut and len(words) > SHARED):
        cut.append(text[words[0].start() : words[:SIZE][-1].end()])
        words = words[SIZE - SHARED :]
    return cut


def told(seed: int) -> list[Event]:
    """Texts of random words, with a row of words about one subject late in the long ones."""
    rng, events = np.random.default_rng(seed), []
    for i, length in enumerate(LENGTHS):
        words = [
            f"{'abcdefgh'[a]}{'klmnop'[b]}{'rstuv'[c]}"
            for a, b, c in rng.integers(0, (8, 6, 5), (length, 3))
        ]
        if length > 300:
            words[length - 60 : length - 20] = ["harbour", "violin", "glacier", "saffron"] * 10
        events.append(Event(float(i), " ".join(words), "Ada" if i % 3 == 1 else "", dated=False))
    return events


def cosine(embedder: Any, one: str, other: str) -> float:
    a, b = embedder.embed([one, other]).astype(np.float64)
    return float(math.fsum(a * b) / math.sqrt(math.fsum(a * a) * math.fsum(b * b)))


def best_cosine(embedder: Any, event: Event, query: str, whole: bool = False) -> float:
    """Cosine of the query and the event, or the largest of it and those of the windows, less
    PENALTY times the log of their number.
    """
    text = f"{event.speaker}: {event.text}" if event.speaker else event.text
    cut = () if whole else windows(text)
    return max(cosine(embedder, query, part) for part in (text, *cut)) - PENALTY * math.log(
        max(len(cut), 1)
    )


@adaptation(
    "DN-8",
    source="ours: the largest cosine of the whole text and of its p windows of 200 words, cut by a second program, less .07 ln p",
    atol=ROUNDING,
)
def a_long_memory_scores_its_best_window(specimen: Any) -> Any:
    embedder, events, measured, expected = HashingEmbedder(64), told(8), [], []
    query, other = "harbour violin glacier saffron", "akr bls cmt"
    for passages in (True, False):
        memory = memory_of(
            specimen,
            worded((other, 0.8)),
            embedder=embedder,
            passages=passages,
            length_penalty=PENALTY,
        )
        encode(memory, *events[:4])
        # later memories get their windows at the second query
        for archived, until in ((0, 4), (3, len(LENGTHS))):
            encode(memory, *events[memory.store.n : until])
            memory.archive(archived)
            memory.retrieve(query)
            measured += memory.column(specimen.DENSE).tolist()
            for event in events[:until]:
                by_query, by_wording = (
                    best_cosine(embedder, event, wording, not passages)
                    for wording in (query, other)
                )
                expected.append(max(by_query, by_wording * (0.8 if by_wording > 0.0 else 1.0)))
    return measured, expected


@figure(
    "turning_away",
    caption="Score of a memory over its angle to the query: the cosine, from 1 through 0 at a right angle to -1",
    source="definition",
)
def score_over_the_angle(specimen: Any) -> Picture:
    angles = np.linspace(0.0, math.pi, 61)
    circle = np.stack([np.cos(angles), np.sin(angles), np.zeros_like(angles)], axis=1).astype(
        np.float32
    )
    marks = np.array([0.0, 60.0, 90.0, 120.0, 180.0])
    return Picture(
        "angle between query and memory, degrees",
        "score",
        (
            Curve("mechanism", np.degrees(angles), scores(specimen, circle[0], circle)),
            dots("cosine", marks, [1.0, 0.5, 0.0, -0.5, -1.0]),
        ),
    )


@mutant("Euclidean distance in place of the cosine", rejected_by="DN-1")
def euclidean(specimen: Any) -> Any:
    def score(self: Any, view: Any, cue: Any) -> None:
        view.dense[...] = np.linalg.norm(view.embedding - cue.vector, axis=1)

    return specimen.overriding("DenseSimilarity", score=score)


@mutant("the absolute value of the cosine", rejected_by="DN-2")
def unsigned(specimen: Any) -> Any:
    def score(self: Any, view: Any, cue: Any) -> None:
        view.dense[...] = np.abs(view.embedding @ cue.vector)

    return specimen.overriding("DenseSimilarity", score=score)


@mutant("the query's vector is reversed", rejected_by="DN-5")
def reversed_query(specimen: Any) -> Any:
    def score(self: Any, view: Any, cue: Any) -> None:
        view.index.scores(cue.vector[::-1].copy(), view.dense)

    return specimen.overriding("DenseSimilarity", score=score)


@mutant("the weight of a wording is ignored", rejected_by="DN-7")
def unweighted(specimen: Any) -> Any:
    original = specimen.raise_to_weighted
    return specimen.replacing(
        "raise_to_weighted", lambda scores, weight, best: original(scores, 1.0, best)
    )


@mutant("the weight of a wording raises negative cosines", rejected_by="DN-6")
def raised_negatives(specimen: Any) -> Any:
    def raise_to_weighted(scores: Any, weight: float, best: Any) -> None:
        best[:] = np.maximum(best, weight * scores)

    return specimen.replacing("raise_to_weighted", raise_to_weighted)


@mutant("the last wording replaces the query", rejected_by="DN-7")
def last_wording(specimen: Any) -> Any:
    def raise_to_weighted(scores: Any, weight: float, best: Any) -> None:
        best[:] = weight * scores

    return specimen.replacing("raise_to_weighted", raise_to_weighted)


@mutant("a long memory scores its windows only", rejected_by="DN-8")
def windows_only(specimen: Any) -> Any:
    def _cosines(self: Any, view: Any, wording: Any, out: Any) -> Any:
        view.index.scores(wording.vector, out)
        if self.params.passages:
            cut = view.passages.scores(wording.vector, np.empty_like(out))
            out[~np.isnan(cut)] = cut[~np.isnan(cut)]
        return out

    return specimen.overriding("DenseSimilarity", _cosines=_cosines)


@mutant("a memory loses c p, not c ln p", rejected_by="DN-8")
def penalty_by_number(specimen: Any) -> Any:
    original = specimen.raise_to_windows
    return specimen.replacing(
        "raise_to_windows",
        lambda windows, counts, penalty, scores: original(
            windows - penalty * counts, np.minimum(counts, 1), 0.0, scores
        ),
    )


@mutant("the windows of a text are those of another wording", rejected_by="DN-8")
def windows_of_the_query(specimen: Any) -> Any:
    def _cosines(self: Any, view: Any, wording: Any, out: Any) -> Any:
        view.index.scores(wording.vector, out)
        asked = next(iter(view.cues))[1]
        return (
            np.fmax(out, view.passages.scores(asked.vector, np.empty_like(out)), out=out)
            if self.params.passages
            else out
        )

    return specimen.overriding("DenseSimilarity", _cosines=_cosines)
