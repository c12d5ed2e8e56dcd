"""Levels of variation: conversations, sessions within them, questions within these; and seeds.

The tests take conversations as clusters, which is valid whatever the correlation inside a
conversation is.  The second level tells where the variation comes from: whether more sessions of
the same conversations would help, or only more conversations.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...engine.base.errors import InputError
from .cluster_robust import ClusterT, cluster_t
from .clusters import by_cluster


@dataclass(frozen=True, slots=True)
class Levels:
    """Standard deviations of a paired difference at three levels, over the n questions whose gold
    names a session.

    conversations, sessions, questions  standard deviations of the true means of conversations, of
                                        sessions within a conversation, and of questions within a
                                        session
    n_conversations, n_sessions, n_questions
    alone    with a single conversation: the cluster-robust test over its sessions, which speaks for
             this conversation alone; else None
    """

    conversations: float | None
    sessions: float | None
    questions: float
    n_conversations: int
    n_sessions: int
    n_questions: int
    alone: ClusterT | None = None


def levels(
    differences: ArrayLike, conversations: Sequence[str], sessions: Sequence[str | None]
) -> Levels | None:
    """Variance components of a paired difference by the analysis of variance of nested classes;
    None if no session is named.  O(n log n).

    differences    (n,) one per question
    conversations  (n,)
    sessions       (n,) of the gold; None where gold names none or several: these questions are left
                   out

    With mean squares MSA between conversations, MSB between sessions within conversations and MSE
    within sessions, and the unequal sizes of Searle, Casella & McCulloch (1992), *Variance
    Components*, sec. 3.6 and app. F.1: questions^2 = MSE, sessions^2 = (MSB - MSE) / k1,
    conversations^2 = (MSA - MSE - k2 sessions^2) / k3, each at least 0.  With one question in every
    session, questions is 0; None where a level has no degrees of freedom.
    """
    kept = [i for i, session in enumerate(sessions) if session is not None]
    x = np.asarray(differences, dtype=np.float64)
    if x.ndim != 1 or not len(x) == len(conversations) == len(sessions):
        raise InputError(
            "one difference, one conversation and one session are needed for each question",
            cure="give three rows of equal length",
        )
    if not kept:
        return None
    x, upper = x[kept], np.unique([conversations[i] for i in kept], return_inverse=True)[1]
    lower = np.unique([f"{conversations[i]}\x00{sessions[i]}" for i in kept], return_inverse=True)[
        1
    ]
    a, b, n = int(upper.max()) + 1, int(lower.max()) + 1, len(x)
    home = np.empty(b, dtype=np.int64)
    home[lower] = upper
    of_a, of_b = by_cluster(x, upper), by_cluster(x, lower)
    mean_a, mean_b = of_a.sums / of_a.counts, of_b.sums / of_b.counts
    within = float(((x - mean_b[lower]) ** 2).sum()) / (n - b) if n > b else 0.0
    second = first = None
    inside = float(np.sum(of_b.counts**2 / of_a.counts[home]))
    if b > a:
        square = float(np.sum(of_b.counts * (mean_b - mean_a[home]) ** 2)) / (b - a)
        second = max(0.0, (square - within) / ((n - inside) / (b - a)))
    if a > 1:
        square = float(np.sum(of_a.counts * (mean_a - x.mean()) ** 2)) / (a - 1)
        k2 = (inside - float(np.sum(of_b.counts**2)) / n) / (a - 1)
        k3 = (n - float(np.sum(of_a.counts**2)) / n) / (a - 1)
        first = max(0.0, (square - within - k2 * (second or 0.0)) / k3)
    return Levels(
        None if first is None else math.sqrt(first),
        None if second is None else math.sqrt(second),
        math.sqrt(within),
        a,
        b,
        n,
        cluster_t(x, lower) if a == 1 and b > 1 else None,
    )


def sessions_of(
    rows: Sequence[Mapping[str, Any]], home: Mapping[str, Mapping[str, str]]
) -> list[str | None]:
    """The session of each row's gold; None if its gold events are of several sessions, or of none
    that is known.

    home  conversation -> event -> session

    >>> sessions_of([{"conversation": "c", "gold": ["a", "b"]}, {"conversation": "c", "gold": ["a", "d"]}], {"c": {"a": "s1", "b": "s1", "d": "s2"}})
    ['s1', None]
    """
    sessions: list[str | None] = []
    for row in rows:
        named = {home.get(row["conversation"], {}).get(id, "") for id in row["gold"]}
        sessions.append(named.pop() or None if len(named) == 1 else None)
    return sessions


@dataclass(frozen=True, slots=True)
class OverSeeds:
    """Values averaged over seeds within each question, and how much the seeds differ.

    values  (n,) means over seeds
    means   (s,) mean over questions of each seed
    sd      standard deviation of these; None for a single seed
    """

    values: NDArray[np.float64]
    means: tuple[float, ...]
    sd: float | None


def over_seeds(values: ArrayLike) -> OverSeeds:
    """Average over seeds within each question, before any statistics over questions: seeds of one
    question are no further questions.

    values  (s, n) one row per seed

    >>> level = over_seeds([[0.0, 1.0], [1.0, 1.0]])
    >>> level.values.tolist(), level.means, round(level.sd, 4)
    ([0.5, 1.0], (0.5, 1.0), 0.3536)
    """
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or not table.size or not np.isfinite(table).all():
        raise InputError(
            f"a table of seeds by questions is needed; got the shape {table.shape}",
            cure="give one row of finite values for each seed",
        )
    means = table.mean(axis=1)
    return OverSeeds(
        table.mean(axis=0),
        tuple(map(float, means)),
        float(means.std(ddof=1)) if len(table) > 1 else None,
    )
