"""Threads that share one embedder with its cache file: each gets the vectors that one thread alone
would get.

The drill `readers` is about memories.
"""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from ...engine.contract.records import Event
from ...engine.ports.embedder import HashingEmbedder
from ...engine.ports.embedding_cache import CachedEmbedder
from .flips import Make
from .tally import Tally

PROMISED = "the vectors of one thread alone, and each text computed once"
THREADS, BATCH, DIMENSIONS = 8, 20, 32


def threads(make: Make, events: list[Event], folder: Path, count: int, seed: int) -> Tally:
    """Ask `count` times for the vectors of some texts, from eight threads.

    make    not used; the drill needs no memory
    events  give the texts
    """
    tally, chance, texts = (
        Tally("threads", PROMISED),
        random.Random(seed),
        [event.text for event in events],
    )
    shared, alone = (
        CachedEmbedder(HashingEmbedder(DIMENSIONS), folder / "shared.sqlite"),
        HashingEmbedder(DIMENSIONS),
    )
    asked = [[chance.choice(texts) for _ in range(BATCH)] for _ in range(count)]
    with ThreadPoolExecutor(THREADS) as pool:
        answers = list(pool.map(shared.embed, asked))
    for some, vectors in zip(asked, answers, strict=True):
        right = np.array_equal(vectors, alone.embed(some))
        tally.count("request", "right" if right else "wrong", broken=not right)
    distinct = len({text for some in asked for text in some})
    if shared.misses != distinct:
        tally.count("cache", f"{shared.misses} computed of {distinct} distinct texts", broken=True)
    shared.close()
    return tally
