"""Embedders at the bounds of what the engine accepts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


class Longer:
    """An embedder whose vectors are longer than 1 by what the engine accepts; all are equal."""

    name, revision, dimensions = "longer", "1", 2

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(texts, 2)"""
        return np.tile(np.array([1.0004, 0.0], np.float32), (len(texts), 1))
