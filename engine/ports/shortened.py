"""Embeddings cut to their first dimensions: `FOLDER@256`.

For models whose first dimensions carry most of the meaning: Kusupati et al. (2022),
arXiv:2205.13147.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base.errors import InputError
from .embedder import Embedder, Vectors

LEAST = 2  # dimensions


class ShortenedEmbedder:
    """The first dimensions of another embedder's vectors, made unit vectors again; a vector that is
    zero there becomes the first axis.

    embedder    whose vectors are cut; its other methods, such as those for word pieces, stay as
                they are
    dimensions  kept

    Raises InputError for a number below 2 or above the embedder's.

    >>> from .embedder import HashingEmbedder
    >>> ShortenedEmbedder(HashingEmbedder(64), 16).embed(["a wet dog"]).shape
    (1, 16)
    """

    def __init__(self, embedder: Embedder, dimensions: int) -> None:
        if not LEAST <= dimensions <= embedder.dimensions:
            raise InputError(
                f"{dimensions} of {embedder.dimensions} dimensions",
                where=f"embedder {embedder.name}@{dimensions}",
                cure=f"keep {LEAST} to {embedder.dimensions}",
            )
        self.embedder, self.dimensions, self.revision, self.name = (
            embedder,
            dimensions,
            embedder.revision,
            f"{embedder.name}@{dimensions}",
        )

    def embed(self, texts: Sequence[str]) -> Vectors:
        """(n, dimensions) float32, rows of unit length."""
        cut = np.ascontiguousarray(self.embedder.embed(texts)[:, : self.dimensions])
        lengths = np.linalg.norm(cut, axis=1, keepdims=True)
        cut[lengths[:, 0] == 0.0, 0] = 1.0
        vectors: Vectors = (cut / np.where(lengths == 0.0, 1.0, lengths)).astype(np.float32)
        return vectors

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "embedder":
            raise AttributeError(name)
        return getattr(self.embedder, name)
