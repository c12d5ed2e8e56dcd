"""Throughput of embedding: CachedEmbedder with a cold cache against sentence-transformers, and each
back end against float32.

    python benchmarks/speed/bench_embed.py locomo.json [--texts 2000] [--threads 1] [--rounds 2]
    minilm+torch minilm minilm+openvino-int8

The first SPEC is a sentence-transformers model in float32, the reference.  Prints wall and CPU
seconds (least over rounds; all ways take turns) of embedding the first turns, and for each SPEC,
over all turns and questions of the file, the cosine to the reference and recall@10 of exact search.
On a machine that other programs use, take one thread and read CPU seconds: two threads that wait
for each other spend CPU.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

from hebbarium.benchmarks.datasets import Dataset, load
from hebbarium.engine.ports.by_name import embedder
from hebbarium.engine.ports.embedder import Embedder, Vectors
from hebbarium.engine.ports.embedding_cache import CachedEmbedder
from hebbarium.engine.ports.sentence_transformer import SentenceTransformerEmbedder

Way = Callable[[list[str]], Vectors]


def plain(model: SentenceTransformerEmbedder) -> Way:
    """As the documentation of sentence-transformers does it."""
    library: Any = model._load()
    return lambda texts: np.asarray(
        library.encode(texts, batch_size=32, normalize_embeddings=True, show_progress_bar=False),
        np.float32,
    )


def cold(model: Embedder) -> Way:
    def way(texts: list[str]) -> Vectors:
        with tempfile.TemporaryDirectory() as folder:
            cached = CachedEmbedder(model, Path(folder) / "cold.sqlite")
            try:
                return cached.embed(texts)
            finally:
                cached.close()

    return way


def recall_at_10(data: Dataset, model: Embedder) -> float:
    """Mean over questions with gold of the share of gold among the ten nearest turns of the
    conversation.
    """
    recalls = []
    for conversation in data.conversations:
        vectors, ids = (
            model.embed([e.rendered() for e in conversation.events]),
            [e.id for e in conversation.events],
        )
        for question in (q for q in conversation.questions if q.gold):
            best = {
                ids[i]
                for i in np.argsort(-(vectors @ model.embed([question.text])[0]), kind="stable")[
                    :10
                ]
            }
            recalls.append(len(best & set(question.gold)) / len(set(question.gold)))
    return float(np.mean(recalls))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("specs", nargs="*", default=["minilm+torch", "minilm"])
    for name, default in (("--texts", 2000), ("--threads", 1), ("--rounds", 2)):
        parser.add_argument(name, type=int, default=default)
    given = parser.parse_intermixed_args()
    os.environ["OMP_NUM_THREADS"] = str(given.threads)  # read by every back end
    data = load("locomo", given.data)
    turns = list(dict.fromkeys(e.rendered() for c in data.conversations for e in c.events))
    models = {spec: embedder(spec).embedder for spec in given.specs}
    first = models[given.specs[0]]
    assert type(first) is SentenceTransformerEmbedder, (
        "the first SPEC must be a sentence-transformers model in float32"
    )
    ways = {
        "sentence-transformers": plain(first),
        **{f"{spec}, cold cache": cold(model) for spec, model in models.items()},
    }
    for way in ways.values():
        way(turns[:32])  # loads, converts, compiles
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    texts = turns[: given.texts]
    for _ in range(given.rounds):
        for name, way in ways.items():
            wall, cpu = perf_counter(), process_time()
            way(texts)
            times[name].append((perf_counter() - wall, process_time() - cpu))
    print(f"{len(texts)} turns, {given.threads} threads, {given.rounds} rounds")
    for name, measured in times.items():
        wall, cpu = (min(column) for column in zip(*measured, strict=True))
        print(
            f"{name}: {wall:.1f} s wall, {cpu:.1f} s CPU, {len(texts) / cpu:.0f} texts per CPU second",
            flush=True,
        )
    both = turns + [q.text for c in data.conversations for q in c.questions]
    caches = {spec: CachedEmbedder(model, None) for spec, model in models.items()}
    for spec, cache in caches.items():
        cosine = np.sum(cache.embed(both) * caches[given.specs[0]].embed(both), axis=1)
        print(
            f"{spec}: {len(both)} texts, cosine least {cosine.min():.5f}, mean {cosine.mean():.5f}, "
            f"recall@10 {recall_at_10(data, cache):.4f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
