"""Damage to the file of the embedding cache: bits, bytes and pages.  Every vector is right, or
an error names a cure.
"""

from __future__ import annotations

import random
import sqlite3
import warnings
from pathlib import Path

import numpy as np

from ...engine.base.errors import HebbariumError
from ...engine.contract.records import Event
from ...engine.ports.cache_file import DamagedCacheWarning
from ...engine.ports.embedder import HashingEmbedder, Vectors
from ...engine.ports.embedding_cache import CachedEmbedder
from .flips import Make, damages
from .tally import Tally

PROMISED = "every vector is right, or an error with what, where and cure; of rows that are exchanged, a warning"
DIMENSIONS = 16
KINDS = ("bit", "byte", "run of bytes", "bit of a page's head", "bit of an index page",
         "page of zeros", "page of noise", "page twice",
         "pages swapped", "cut off")  # fmt: skip
EXCHANGED = "rows exchanged"
SAID = "computed anew and said"


def cache(make: Make, events: list[Event], folder: Path, count: int, seed: int) -> Tally:
    """Damage the file of a cache `count` times, in turn in each of these ways, and ask it for all
    of its vectors.

    make    not used; the drill needs no memory
    events  give the texts

    Cost: 10 ms each.
    """
    tally, path, texts, kinds = (
        Tally("cache", PROMISED),
        folder / "cache.sqlite",
        sorted({event.text for event in events}),
        damages(b""),
    )
    right = HashingEmbedder(DIMENSIONS).embed(texts)
    _asked(path, texts)
    sound = path.read_bytes()
    kinds[EXCHANGED] = _exchanged
    names = (*KINDS, EXCHANGED)
    for number in range(count):
        chance, kind = random.Random(f"{seed} {number}"), names[number % len(names)]
        raw = bytearray(sound)
        kinds[kind](raw, chance)
        for file in folder.glob("cache.sqlite*"):
            file.unlink()
        path.write_bytes(raw)
        outcome, broken = _outcome(path, texts, right)
        silent = kind == EXCHANGED and raw != sound and outcome not in (SAID, "refused")
        tally.count(kind, outcome if raw != sound else "no change", broken or silent)
    return tally


def _exchanged(raw: bytearray, chance: random.Random) -> None:
    """Give two texts each other's vectors, with their marks."""
    raw[18:20] = b"\1\1"  # a copy in memory has no write-ahead log
    connection = sqlite3.connect(":memory:")
    try:
        connection.deserialize(bytes(raw))
        rows = connection.execute("SELECT rowid, vector, mark FROM vectors ORDER BY 1").fetchall()
        (key, *of_one), (other, *of_other) = chance.sample(rows, 2)
        with connection:
            for row, held in ((key, of_other), (other, of_one)):
                connection.execute(
                    "UPDATE vectors SET vector = ?, mark = ? WHERE rowid = ?", (*held, row)
                )
        raw[:] = connection.serialize()
    finally:
        connection.close()
    raw[18:20] = b"\2\2"


def _outcome(path: Path, texts: list[str], right: Vectors) -> tuple[str, bool]:
    """What came of a damaged file, and whether it broke the promise."""
    try:
        vectors, misses, said = _asked(path, texts)
    except HebbariumError as error:
        told = bool(error.what and error.where and error.cure)
        return ("refused", False) if told else ("refused without what, where or cure", True)
    except Exception as error:  # the drill counts errors of every kind
        return f"failed with {type(error).__name__}: {error}", True
    if not np.array_equal(vectors, right):
        return "another vector", True
    return SAID if said else "computed anew" if misses else "as stored", False


def _asked(path: Path, texts: list[str]) -> tuple[Vectors, int, bool]:
    """The vectors of a cache, how many it computed, and whether it warned."""
    cached = CachedEmbedder(HashingEmbedder(DIMENSIONS), path)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            vectors = cached.embed(texts)
        return (
            vectors,
            cached.misses,
            any(warning.category is DamagedCacheWarning for warning in caught),
        )
    finally:
        cached.close()
