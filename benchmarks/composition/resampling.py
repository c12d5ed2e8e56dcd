"""How stable a found part is, and what it loses on conversations that took no part in finding it.

Both use differences of questions: the whole set minus a part, positive where the part loses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np

from ..scores.cluster_robust import cluster_t
from .search import ROUNDING, Floats, Losses, Part, Problem, smallest

RESAMPLES: Final = 2_000
Key = tuple[str, str]  # of a conversation: the digest of its data, and its id


@dataclass(frozen=True, slots=True)
class AskedQuestions:
    """The questions of one constraint.

    conversations  (n,) of each question
    questions      (n,) id of each, which data that are measured twice share
    """

    conversations: tuple[Key, ...]
    questions: tuple[str, ...]


class Differences(Protocol):
    """What measures parts on conversations."""

    def asked(self, conversations: frozenset[Key] | None = None) -> Sequence[AskedQuestions]:
        """Of each constraint, the questions of some conversations; None: of all."""

    def of(
        self, parts: Sequence[Part], conversations: frozenset[Key] | None = None
    ) -> Sequence[Sequence[Floats]]:
        """Of each part and constraint, the whole set's value less that of the part, (n,)."""

    def lost(
        self,
        parts: Sequence[Part],
        margins: Sequence[float],
        conversations: frozenset[Key] | None = None,
    ) -> Floats:
        """(parts, c) means of `of`, 0 on a constraint that asks nothing there; NaN in worlds that
        need not be lived, since a part has lost more than a margin before.
        """

    def briefly(
        self,
        parts: Sequence[Part],
        margins: Sequence[float],
        conversations: frozenset[Key] | None = None,
    ) -> Floats:
        """(parts, c) means of `of`, measured data by data until a part loses more than a margin:
        NaN on what was left out, infinite where some of the conversations show it.
        """


def losses(
    measured: Differences, margins: Sequence[float], conversations: frozenset[Key] | None = None
) -> Losses:
    """What parts lose on the mean over questions of some conversations, see `Differences.lost`."""
    return lambda parts: measured.lost(parts, margins, conversations)


def brief_losses(
    measured: Differences, margins: Sequence[float], conversations: frozenset[Key] | None = None
) -> Losses:
    """As `losses`, if of parts that lose too much no more needs to be known."""
    return lambda parts: measured.briefly(parts, margins, conversations)


# --- stability ------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Stability:
    """How often each mechanism is in the cheapest allowed part, if other questions, or other
    conversations, had been drawn.

    questions      mechanism -> share of resamples of the questions inside each conversation
    conversations  the same of conversations; {} if no data have two
    sizes          number of mechanisms -> share of the resamples of questions
    resamples      of each kind
    """

    questions: Mapping[str, float]
    conversations: Mapping[str, float]
    sizes: Mapping[int, float]
    resamples: int


def stability(
    problem: Problem,
    measured: Differences,
    parts: Sequence[Part],
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Stability:
    """Choose the cheapest allowed one of the parts that were measured, in each resample.  Nothing
    is measured anew, so a part that was never measured is never chosen.

    Cost: O(resamples * parts * questions).
    """
    asked = measured.asked()
    table = [np.array(of_constraint) for of_constraint in zip(*measured.of(parts), strict=True)]
    rng = np.random.default_rng(seed)
    inside = _chosen(problem, parts, table, _drawn_questions(asked, rng, resamples))
    keys = list(
        dict.fromkeys(key for of_constraint in asked for key in of_constraint.conversations)
    )
    several = max((sum(k[0] == data for k in keys) for data, _ in keys), default=0) > 1
    outside = (
        _chosen(problem, parts, table, _drawn_conversations(asked, keys, rng, resamples))
        if several
        else None
    )
    sizes = np.bincount([len(parts[place]) for place in inside])
    return Stability(
        _shares(problem, parts, inside),
        {} if outside is None else _shares(problem, parts, outside),
        {size: float(n) / len(inside) for size, n in enumerate(sizes.tolist()) if n},
        resamples,
    )


def _chosen(
    problem: Problem, parts: Sequence[Part], table: Sequence[Floats], weights: Sequence[Floats]
) -> list[int]:
    """Place of the part that is chosen in each resample.

    table    of each constraint (parts, n)
    weights  of each constraint how often each question was drawn, (resamples, n)
    """
    means = []
    for values, drawn in zip(table, weights, strict=True):
        total = np.maximum(drawn.sum(axis=1), 1.0)
        means.append(drawn @ values.T / total[:, None])
    lost = np.stack(means, axis=-1)  # (resamples, parts, c)
    allowed, worst = problem.allowed(lost), problem.worst(lost)
    cost = np.array([problem.cost_of(part) for part in parts])
    chosen = []
    for may, much in zip(allowed, worst, strict=True):
        # the whole set loses nothing in any resample, so one is always allowed
        least = cost[may].min()
        among = np.flatnonzero(may & (cost <= least + ROUNDING))
        chosen.append(int(among[np.argmin(much[among])]))
    return chosen


def _shares(problem: Problem, parts: Sequence[Part], chosen: Sequence[int]) -> dict[str, float]:
    return {
        id: sum(id in parts[place] for place in chosen) / len(chosen) for id in problem.mechanisms
    }


def _drawn_questions(
    asked: Sequence[AskedQuestions], rng: np.random.Generator, resamples: int
) -> list[Floats]:
    """How often each question is drawn, each conversation keeping its number; the same for all
    constraints that ask the same questions.  Conversations of one question have no spread inside:
    together they are drawn as one.
    """
    drawn: dict[tuple[tuple[Key, ...], tuple[str, ...]], Floats] = {}
    for of_constraint in asked:
        if (of_constraint.conversations, of_constraint.questions) in drawn:
            continue
        weights = np.zeros((resamples, len(of_constraint.questions)))
        times = Counter(of_constraint.conversations)
        strata = [key if times[key] > 1 else None for key in of_constraint.conversations]
        for stratum in dict.fromkeys(strata):
            mine = np.flatnonzero([other == stratum for other in strata])
            n = len(mine)
            weights[:, mine] = rng.multinomial(n, np.full(n, 1.0 / n), size=resamples)
        drawn[of_constraint.conversations, of_constraint.questions] = weights
    return [drawn[of_constraint.conversations, of_constraint.questions] for of_constraint in asked]


def _drawn_conversations(
    asked: Sequence[AskedQuestions], keys: Sequence[Key], rng: np.random.Generator, resamples: int
) -> list[Floats]:
    """The same, if whole conversations of each data set are drawn; they are drawn once for all
    constraints.
    """
    times: dict[Key, Floats] = {}
    for data in dict.fromkeys(data for data, _ in keys):
        own = [key for key in keys if key[0] == data]
        counts = rng.multinomial(len(own), np.full(len(own), 1.0 / len(own)), size=resamples)
        times |= {key: counts[:, place].astype(np.float64) for place, key in enumerate(own)}
    return [
        np.stack([times[key] for key in of_constraint.conversations], axis=1)
        if of_constraint.conversations
        else np.zeros((resamples, 0))
        for of_constraint in asked
    ]


# --- an honest estimate ---------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Fold:
    """One search without some conversations.

    held_out  these conversations
    part      what was found on the others
    losses    (c,) what it loses on them; None on a constraint that asks nothing there
    """

    held_out: tuple[Key, ...]
    part: Part
    losses: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class HeldOut:
    """What a part loses on conversations that took no part in finding it, on one constraint.

    mean       over the questions of all folds
    low, high  95 % interval, conversations as clusters; None without a spread between them
    n          questions
    """

    mean: float
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True, slots=True)
class CrossValidation:
    """The searches, what they lose on each constraint, and the share of them that keep each
    mechanism.
    """

    folds: tuple[Fold, ...]
    losses: tuple[HeldOut | None, ...]
    kept: Mapping[str, float]


def dealt(conversations: Sequence[Key], folds: int, seed: int) -> list[frozenset[Key]]:
    """The conversations in folds of equal numbers, those of each data set shuffled apart; fewer
    folds if no data set has as many conversations, none if none has two.

    >>> [len(fold) for fold in dealt([("a", "1"), ("a", "2"), ("a", "3"), ("b", "1")], 2, 0)]
    [2, 2]
    """
    rng, shuffled = np.random.default_rng(seed), list[Key]()
    groups = {data: [key for key in conversations if key[0] == data] for data, _ in conversations}
    count = min(folds, max(map(len, groups.values()), default=0))
    if count < 2:
        return []
    for own in groups.values():
        shuffled += [own[place] for place in rng.permutation(len(own))]
    return [frozenset(shuffled[place::count]) for place in range(count)]


def cross_validated(
    problem: Problem,
    measured: Differences,
    folds: Sequence[frozenset[Key]],
    say: Callable[[str], None] | None = None,
    start: Part | None = None,
) -> CrossValidation | None:
    """Search again without each fold, and measure what is found on that fold: an honest estimate of
    what composing by this data loses on other conversations.  None without folds.

    start  a part to begin each search with, as of `smallest`; if it was chosen by the same
           conversations, the estimate flatters

    Parts and conversations that were measured before are not measured again, if `measured` keeps
    them.
    """
    if not folds:
        return None
    everything = {key for asked in measured.asked() for key in asked.conversations}
    made, values, clusters = list[Fold](), list[list[Floats]](), list[list[Key]]()
    for place, fold in enumerate(folds, 1):
        training = frozenset(everything - fold)
        told = _numbered(say, f"fold {place} of {len(folds)}")
        search = smallest(
            problem,
            losses(measured, problem.margins, training),
            told,
            start,
            brief_losses(measured, problem.margins, training),
        )
        (held,) = measured.of([search.part], fold)
        made.append(
            Fold(
                tuple(sorted(fold)),
                search.part,
                tuple(float(lost.mean()) if len(lost) else None for lost in held),
            )
        )
        values = values or [[] for _ in held]
        clusters = clusters or [[] for _ in held]
        for at, (lost, asked) in enumerate(zip(held, measured.asked(fold), strict=True)):
            values[at].append(lost)
            clusters[at] += asked.conversations
    return CrossValidation(
        tuple(made),
        tuple(
            _held_out(np.concatenate(lost), keys)
            for lost, keys in zip(values, clusters, strict=True)
        ),
        {id: sum(id in fold.part for fold in made) / len(made) for id in problem.mechanisms},
    )


def _held_out(values: Floats, clusters: Sequence[Key]) -> HeldOut | None:
    if not len(values):
        return None
    t = cluster_t(values, ["\n".join(key) for key in clusters])
    spread = (t.low, t.high) if t.se else (None, None)
    return HeldOut(t.mean, *spread, len(values))


def _numbered(say: Callable[[str], None] | None, name: str) -> Callable[[str], None] | None:
    if say is None:
        return None
    tell = say
    return lambda what: tell(f"{name}, {what}")
