"""Types of columns: the typed arrays that hold all state.

A column is declared once and owned by exactly one mechanism, or by the engine for those in `vocabulary`.  An absent mechanism leaves
its columns at their neutral value, which is chosen so that readers need not test which mechanisms are on.
"""
from __future__ import annotations

import keyword
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from .errors import ContractError


class Phase(Enum):
    """The four phases of a tick."""

    MAINTAIN = "maintain"
    ENCODE = "encode"
    CONSOLIDATE = "consolidate"
    RETRIEVE = "retrieve"


class Scope(Enum):
    """What one cell of a column belongs to."""

    MEMORY = "memory"        # one stored memory; the column persists
    EDGE = "edge"            # one edge of the graph; the column persists
    GLOBAL = "global"        # the whole memory; the column persists
    EVENT = "event"          # the event or query in hand; neutral again at the next
    CANDIDATE = "candidate"  # one memory in the light of the query in hand; neutral again at the next

    @property
    def persists(self) -> bool:
        return self in (Scope.MEMORY, Scope.EDGE, Scope.GLOBAL)


class Facet(Enum):
    """What a signal goes by; a query weighs facets, never mechanisms."""

    MEANING = 0
    WORDS = 1
    FORM = 2
    USE = 3
    TIME = 4
    CONTEXT = 5
    ASSOCIATION = 6
    COMPLETION = 7


@dataclass(frozen=True, eq=False)
class Column:
    """One typed array.

    name     attribute under which a view shows it
    dtype    numpy type of a cell
    scope    what a cell belongs to
    shape    of one cell; a name stands for the owner's parameter of that name, or for `dimensions` of the embedding
    unit     of a cell, "1" if none
    neutral  value while nobody sets it; another column for a stage that passes its input on
    meaning  one sentence
    low, high  bounds of a sound cell, for the conformance suite
    fresh    the phase in which contributions are gathered anew: the column is neutral before the first of them

    Raises ContractError for a name that no view could show.
    """

    name: str
    dtype: DTypeLike
    scope: Scope
    unit: str
    neutral: Any
    meaning: str
    shape: tuple[int | str, ...] = ()
    low: float | None = None
    high: float | None = None
    fresh: Phase | None = None

    def __post_init__(self) -> None:
        _require_name(self.name)

    @property
    def persists(self) -> bool:
        return self.scope.persists

    @property
    def before(self) -> Before:
        """For `reads`: the value this column had before anybody changed it in this phase."""
        return Before(self)

    def cell_shape(self, sizes: Mapping[str, int]) -> tuple[int, ...]:
        return tuple(size if isinstance(size, int) else sizes[size] for size in self.shape)

    def __repr__(self) -> str:
        return f"<{self.scope.value} column {self.name}>"


@dataclass(frozen=True)
class Before:
    """A read of what a column or structure was before this phase changed it: the reader runs before the writers."""

    of: Column | Structure


@dataclass(frozen=True, eq=False)
class Signal(Column):
    """A ranked answer to the query: a score for each memory, NaN where the signal has nothing to say.

    facet   what the signal goes by
    direct  whether it needs the query only; others start from MATCH, which the direct ones give
    floor   the score that silence (NaN) stands for where scores are compared
    The owner's parameter `weight` says how much the fused ranking trusts it.
    """

    facet: Facet = Facet.MEANING
    direct: bool = True
    floor: float = 0.0


def signal(name: str, facet: Facet, meaning: str, *, unit: str = "1", direct: bool = True, floor: float = 0.0) -> Signal:
    """Declare a signal: a float32 candidate column with NaN as neutral value."""
    return Signal(name, np.float32, Scope.CANDIDATE, unit, np.nan, meaning, facet=facet, direct=direct, floor=floor)


@dataclass(frozen=True, eq=False)
class Structure:
    """State that is not an array: an index, the graph, the texts.

    reading      names that a hook may use which declared the structure in `reads`; all are open to a hook that adds to or sets it
    private      one object per mechanism instead of one per memory
    persists     whether it outlives the pass in hand
    phases       in which hooks may touch it
    stored_only  whether hooks that read it in ENCODE run only if the event was stored
    create       makes the object, where the engine itself does not; the memory holds one if a hook names the structure
    steps        schedule nodes that fill it, added to the schedule if a hook reads the structure; no hook may write it then
    """

    name: str
    meaning: str
    reading: tuple[str, ...] = field(default=())
    private: bool = False
    persists: bool = True
    phases: tuple[Phase, ...] = tuple(Phase)
    stored_only: bool = False
    create: Callable[[], Any] | None = None
    steps: Callable[[], Sequence[Any]] | None = None

    def __post_init__(self) -> None:
        _require_name(self.name)

    @property
    def before(self) -> Before:
        return Before(self)

    def __repr__(self) -> str:
        return f"<structure {self.name}>"


def _require_name(name: str) -> None:
    if not name.isidentifier() or name.startswith("_") or keyword.iskeyword(name):
        raise ContractError(f"{name!r} is no attribute name", where="columns", cure="use lower case letters, digits and underscores")
