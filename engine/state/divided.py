"""Divided texts: where a text that is longer than what the embedder reads is cut, and what is
kept of its parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .postings import Added


@dataclass(frozen=True, slots=True)
class TextCut:
    """Where a text is divided, in characters; nowhere if the embedder reads it whole.

    passages  (p, 2) int32, start and end of the windows that have a vector, in order
    windows   how many windows the text has, of which these are chosen
    spans     (s, 2) int32, start and end of each span
    """

    passages: NDArray[np.int32]
    windows: int
    spans: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Divided:
    """What is kept of a row whose text is divided, for a file.

    row      of the memory
    cut      where its text is divided
    vectors  (p, d) float32, of its passages; none if they are not kept
    words    what each span added to the postings; none if these are not kept
    """

    row: int
    cut: TextCut
    vectors: NDArray[np.float32]
    words: Sequence[Added]
