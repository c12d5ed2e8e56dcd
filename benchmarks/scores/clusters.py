"""Questions grouped by conversation: every statistic of this room starts from these sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...engine.base.errors import InputError

Floats = NDArray[np.float64]
ClusterIds = Sequence[str] | Sequence[int] | NDArray[np.str_] | NDArray[np.integer]


@dataclass(frozen=True, slots=True)
class Clusters:
    """Values of questions, and their sums over the c clusters in sorted order of the ids.

    values  (n,)
    place   (n,)  the cluster of each value, 0 ... c - 1
    sums    (c,)
    counts  (c,)  questions
    """

    values: Floats
    place: NDArray[np.intp]
    sums: Floats
    counts: Floats


def by_cluster(values: ArrayLike, cluster_ids: ClusterIds) -> Clusters:
    """Group (n,) values by (n,) cluster ids, text or integers.  Cost: O(n log n).

    Raises InputError for no values, other shapes or kinds of ids, and values that are not finite.
    """
    x, ids = np.asarray(values, dtype=np.float64), np.asarray(cluster_ids)
    if x.ndim != 1 or ids.shape != x.shape or not len(x) or ids.dtype.kind not in "iuU":
        raise InputError(
            f"one value and one cluster id (text or integer) per question are needed; got shapes {x.shape} and {ids.shape}",
            cure="give two rows of the same length, at least 1",
        )
    if not np.all(np.isfinite(x)):
        raise InputError(
            f"{int(np.count_nonzero(~np.isfinite(x)))} of {len(x)} values are not finite",
            cure="leave out of both arms the questions for which the metric is not defined",
        )
    _, place = np.unique(ids, return_inverse=True)
    return Clusters(
        x,
        place,
        np.bincount(place, weights=x).astype(np.float64),
        np.bincount(place).astype(np.float64),
    )
