"""Speed of the retrieval pipeline: dates of an utterance, MaxSim, a query with every mechanism on,
and the size of the cache of token vectors.

Embedding costs nothing here.  `-k "pipeline and not 20000"` leaves out the large memories, which
take minutes to build.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hebbarium.benchmarks.speed.large import sizes
from hebbarium.engine.contract.records import Event, Query
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedding_cache import CachedEmbedder
from hebbarium.engine.text.dates import times
from hebbarium.mechanisms.retrieval.late_interaction_rerank import maxsim

UNITS = sizes(1_000, 20_000)
# ms, most for 32 x 50 x 256 word pieces, and for an utterance
MAXSIM, DATES = 15.0, 0.2
# ms, p50 at 20,000 units: with late interaction, and without
RETRIEVE = {"everything": 30.0, "default": 5.0}
PIECE = 400.0  # bytes of a word piece in the cache, most
# otherwise the memory would sleep hundreds of times while it is built
WITHOUT = {"everything": ("sleep_pressure",), "default": ()}
DATED = (
    "We met on May 7, 2023 and again two weeks later.",
    "Last Friday I went to the lake; next summer we move.",
    "In the first week of March, early 2021.",
    "It was between 3 and 5 June, or the weekend before Christmas.",
    "Since 2019 I have lived here, until last October.",
    "No time is named in this one.",
)

Turns = Callable[[int, int], Iterator[Event]]


@pytest.mark.parametrize(("query", "texts", "pieces"), [(8, 10, 32), (32, 50, 256)])
def test_maxsim(clock: Any, query: int, texts: int, pieces: int) -> None:
    """Codes of 384 dimensions; against one matrix product of the same vectors in float32,
    without the maxima.
    """
    rng = np.random.default_rng(0)
    asked, codes = (
        rng.integers(-63, 64, (count, 384)).astype(np.int8) for count in (query, texts * pieces)
    )
    lengths, scales = np.full(query, 1e-3, np.float32), np.full(texts * pieces, 1e-3, np.float32)
    wide, offsets, out = asked.astype(np.int16), np.arange(texts + 1) * pieces, np.empty(texts)
    queries, other = asked.astype(np.float32), codes.astype(np.float32).T.copy()
    clock(
        lambda: maxsim(wide, lengths, np.ones(query), codes, scales, offsets, out),
        40,
        target=MAXSIM,
        reference=lambda: queries @ other,
        against="matrix product in float32",
    )


@pytest.mark.parametrize("kind", ["conversation", "dated"])
def test_dates(clock: Any, turns: Turns, kind: str) -> None:
    """256 utterances a round: small talk, and texts full of expressions of time."""
    said = (
        [event.text for event, _ in zip(turns(0, 256), range(256), strict=False)]
        if kind == "conversation"
        else [text for text, _ in zip(cycle(DATED), range(256), strict=False)]
    )
    clock(lambda: [times(text, 350_000.0) for text in said], 20, target=DATES, per=len(said))


@pytest.mark.parametrize("n", UNITS)
@pytest.mark.parametrize("chosen", RETRIEVE)
def test_retrieve(
    clock: Any,
    grown: Callable[..., Engine],
    asked: Callable[[int], Iterator[Query]],
    chosen: str,
    n: int,
) -> None:
    """A query of the sets `everything`, which has late interaction and no cross-encoder, and
    `waking`, which has neither.
    """
    memory, queries = grown(n, without=WITHOUT[chosen], chosen=chosen), asked(n)
    clock(lambda: memory.retrieve(next(queries)), 192, target=RETRIEVE[chosen], warmup=64)


@pytest.mark.parametrize("n", UNITS)
def test_cache_of_tokens(
    clock: Any, benchmark: Any, grown: Callable[..., Engine], turns: Turns, tmp_path: Path, n: int
) -> None:
    """Bytes of the file for each word piece, in `extra_info` and with `-s`; timed is the reading
    of 50 texts from the file.
    """
    texts = list(
        dict.fromkeys(event.rendered() for event, _ in zip(turns(0, n), range(n), strict=False))
    )
    model = grown(1).assembly.embedder.embedder
    filled = CachedEmbedder(model, tmp_path / "tokens.sqlite")
    pieces = sum(
        len(filled.embed_tokens(texts[start : start + 1_000]).codes)
        for start in range(0, len(texts), 1_000)
    )
    filled.close()
    size = sum(file.stat().st_size for file in tmp_path.iterdir()) / pieces

    def read() -> None:
        cold = CachedEmbedder(model, tmp_path / "tokens.sqlite")
        cold.embed_tokens(texts[:50])
        cold.close()

    clock(read, 20)
    benchmark.extra_info.update({"bytes_a_piece": size, "pieces": pieces})
    print(f"\n{size:.0f} bytes a word piece, {pieces:,} pieces of {len(texts):,} texts")
    assert size <= PIECE
