"""Pairs of names of near meaning, entities nearest to the names of a query, and the network of
memories and entities with the pairs (HippoRAG).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...engine.contract.columns import Phase, Structure
from ...engine.state.graph import ERASED, Links

NOTHING: Final = np.empty((0, 2), np.int64)


def joined(
    start: NDArray[Any], degree: NDArray[Any], ends: NDArray[Any], pairs: NDArray[np.int64]
) -> Links:
    """The network with a link each way between the entities of each pair: start, degree, ends as
    `walk` takes them.  O(nodes + links).

    >>> start, degree, ends = joined(np.array([0, 0, 1]), np.array([1, 0, 1]), np.array([-1, 0]), np.array([[0, 1]]))
    >>> [ends[s:s + d].tolist() for s, d in zip(start, degree)]
    [[-1], [-1], [0, -2]]
    """
    nodes, total = len(start), int(degree.sum())
    before = np.cumsum(degree) - degree
    held = ends[np.repeat(start - before, degree) + np.arange(total)]
    first_end, second_end = ~pairs[:, 0], ~pairs[:, 1]
    sources = np.concatenate(
        [np.repeat(np.arange(nodes), degree), first_end % nodes, second_end % nodes]
    )
    targets = np.concatenate([held, second_end, first_end])
    order = np.argsort(sources, kind="stable")
    count = np.bincount(sources, minlength=nodes)
    return Links(np.cumsum(count) - count, count, targets[order])


class Synonyms:
    """The names of the entities with their vectors, the pairs among them, the entities that stand
    for unknown names of the query, and the query.

    Derived from the names alone: nothing of it is saved.
    """

    def __init__(self) -> None:
        self._names: list[str] = []
        self._vectors: NDArray[np.float32] = np.empty((0, 0), np.float32)
        self._pairs: NDArray[np.int64] = NOTHING
        self._nearest: dict[str, int] = {}
        self._starts: list[str] | None = None
        self._facts: dict[str, NDArray[np.float32]] = {}
        self._cue: Any = None

    def put(
        self,
        cue: Any,
        names: Sequence[str],
        embed: Callable[[Sequence[str]], NDArray[np.float32]],
        pairs_of: Callable[[NDArray[np.float32], int], NDArray[np.int64]],
    ) -> None:
        """Embed new names, find the pairs that they belong to, and hand all pairs to the hooks of
        this query.  Changed names begin anew.

        pairs_of  (n, d) unit vectors, first new name -> (k, 2) pairs with a new name
        """
        if list(names[: len(self._names)]) != self._names:
            self._names, self._pairs = [], NOTHING
        fresh = list(names[len(self._names) :])
        if fresh:
            vectors = np.array(embed(fresh), np.float32)
            vectors[[name.startswith(ERASED) for name in fresh]] = 0.0
            first, self._vectors = (
                len(self._names),
                np.concatenate([self._vectors, vectors]) if self._names else vectors,
            )
            self._pairs = np.concatenate([self._pairs, pairs_of(self._vectors, first)])
        self._names, self._nearest, self._cue = [*self._names, *fresh], {}, cue
        self._starts = None

    def link(
        self, asked: Sequence[str], embed: Callable[[Sequence[str]], NDArray[np.float32]]
    ) -> None:
        """Let the entity with the nearest name stand for each name of the query that no entity has.
        The first of equal ones.  O(asked n d).

        Entities whose name was erased stand for none.
        """
        unknown = [name for name in dict.fromkeys(asked) if name not in self._names]
        if unknown and self._vectors.any():
            cosines = np.einsum("ij,kj->ik", np.array(embed(unknown), np.float32), self._vectors)
            cosines[:, ~self._vectors.any(axis=1)] = -np.inf
            self._nearest = dict(zip(unknown, cosines.argmax(axis=1).tolist(), strict=True))

    def closest(
        self,
        vector: NDArray[np.float32],
        facts: Sequence[str],
        embed: Callable[[Sequence[str]], NDArray[np.float32]],
        most: int,
    ) -> list[int]:
        """Places of the facts with the largest cosine to a vector, the largest first, the first of
        equal ones.  Facts that were not embedded yet are; others are forgotten.  O(facts d).
        """
        fresh = [fact for fact in dict.fromkeys(facts) if fact not in self._facts]
        known = dict(self._facts)
        if fresh:
            known |= zip(fresh, np.array(embed(fresh), np.float32), strict=True)
        self._facts = {fact: known[fact] for fact in facts}
        if not facts:
            return []
        cosines = np.stack([self._facts[fact] for fact in facts]) @ vector
        places: list[int] = np.argsort(-cosines, kind="stable")[:most].tolist()
        return places

    def start(self, names: Sequence[str]) -> None:
        """Let the walk of this query start at these entities, in place of those that it names."""
        self._starts = list(names)

    def starts(self, cue: Any) -> list[str] | None:
        """The entities at which the walk of this query starts; None: at those that it names."""
        return self._starts if self._cue is cue else None

    def forget(self) -> None:
        """Drop all that follows from texts.  The engine calls it when memories are erased."""
        self._facts, self._starts = {}, None

    def of(self, cue: Any) -> NDArray[np.int64]:
        """(k, 2) pairs of entities, none if no mechanism set them for this query."""
        return self._pairs if self._cue is cue else NOTHING

    def nearest(self, cue: Any, name: str) -> int | None:
        """The entity that stands for a name of this query; None if none was linked to it."""
        return self._nearest.get(name) if self._cue is cue else None


SYNONYMS = Structure(
    "synonyms",
    "pairs of entities whose names are near in meaning, for the present query",
    ("put", "link", "closest", "start", "starts", "of", "nearest"),
    persists=False,
    phases=(Phase.RETRIEVE,),
    create=Synonyms,
    partial=lambda held, _: held,
)
