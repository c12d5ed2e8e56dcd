"""Scores of items of a context, as the Context Assembly Specification prints them, on [0, 1]."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...engine.numerics import kernel
from ...engine.text.features import terms_of
from .offering import on_scale

Decay = Literal["e", "half"]


@kernel
def decayed(age: float, span: float, halving: bool) -> float:
    """exp(-a / s), the printed recency, or 2^(-a / s), which its comment says.  age, span in h.  Cost: O(1).

    >>> round(decayed(24.0, 24.0, False), 6), decayed(24.0, 24.0, True)
    (0.367879, 0.5)
    """
    return 2.0 ** (-age / span) if halving else math.exp(-age / span)


def final_scores(recency: Any, relevance: Any, salience: Any, weights: Sequence[float]) -> NDArray[np.float64]:
    """(w_r r + w_v v + w_s s) / (w_r + w_v + w_s), each on [0, 1] over the items; 1 if they are equal, NaN counts as 0.  O(items).

    recency, relevance, salience  (k,)
    weights                       w_r, w_v, w_s >= 0; 0 if all are 0

    >>> final_scores([1.0, 3.0], [5.0, 4.0], [0.0, 9.0], (1.0, 2.0, 1.0)).tolist()
    [0.5, 0.5]
    """
    total, found = sum(weights), np.zeros(len(recency))
    for values, weight in zip((recency, relevance, salience), weights, strict=True):
        out, given = np.empty(len(recency)), np.asarray(values, dtype=np.float64)
        on_scale(given, np.ones(len(given), dtype=np.bool_), out)
        found += weight * np.nan_to_num(out)
    return found / total if total > 0 else found


def keywords(text: str) -> tuple[str, ...]:
    """The words of a query, folded, without stop words, each once.

    >>> keywords("Where is the boat, the red boat?")
    ('boat', 'red')
    """
    return tuple(dict.fromkeys(terms_of(text, stem=False, stop_words=True)))
