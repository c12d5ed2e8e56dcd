"""Types of columns: the typed arrays that hold all state.

A column is declared once and owned by exactly one mechanism, or by the engine for those in
`vocabulary`.  An absent mechanism leaves its columns at their neutral value, which is chosen so
that readers need not test which mechanisms are on.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

import numpy as np
from numpy.typing import DTypeLike

from ..base.errors import ContractError

DTYPE_KINDS = "biuf"  # numpy's letters for bool, signed and unsigned integer, float


class Phase(Enum):
    """The four phases of a tick."""

    MAINTAIN = "maintain"
    ENCODE = "encode"
    CONSOLIDATE = "consolidate"
    RETRIEVE = "retrieve"


class Scope(Enum):
    """What one cell of a column belongs to."""

    MEMORY = "memory"  # one stored memory; the column persists
    EDGE = "edge"  # one edge of the graph; the column persists
    GLOBAL = "global"  # the whole memory; the column persists
    EVENT = "event"  # the current event or query; reset to neutral at the next
    CANDIDATE = "candidate"  # one memory under the current query; reset to neutral at the next

    @property
    def persists(self) -> bool:
        return self in (Scope.MEMORY, Scope.EDGE, Scope.GLOBAL)


class Facet(Enum):
    """The kind of evidence that a signal uses; a query weights facets, never mechanisms."""

    MEANING = 0
    WORDS = 1
    FORM = 2
    USE = 3
    TIME = 4
    CONTEXT = 5
    ASSOCIATION = 6
    COMPLETION = 7
    WHEN = 8  # the time asked for; TIME is how recent a memory is
    KIND = 9  # the kind of utterance, such as a standing instruction


class Scale(Enum):
    """What the scores of a signal measure, for a fusion that weighs evidence: not how much they
    count, but in which units they grow.
    """

    SUPPORT = "support"  # an amount, 0 for none: a factor of it counts the same anywhere
    # within bounds, such as a cosine: a difference of it counts the same anywhere
    SIMILARITY = "similarity"
    # an estimate of need, which ACTIVATION and LOG_STRENGTH hold in ln odds
    LOG_ODDS = "log odds"


@dataclass(frozen=True, slots=True, kw_only=True)
class Upkeep:
    """How the engine keeps an unusual column: what maintenance, saving, shortlists and a clock that
    is set back need to know of it.

    fresh       the phase that recomputes the column: it is reset to neutral before the first
                contribution, and hooks of other phases may not write it
    first       whether hooks of ENCODE, too, may set cells of a `fresh` column, which hold until
                the column is computed
    clock       whether its cells are readings of the memory's clock, or times to which it has yet
                to come: they go back with it when it is set back
    anywhere    of a column of memories or edges, whether hooks of ENCODE change cells of earlier
                rows or edges that they do not name by `view.wrote`: a saved tick then compares all
                cells, in O(n)
    rows        which numbers of a persistent column are rows of the memory (negative: no row): an
                index, `...` for all, `(..., 0)` for the first of each cell; where only some rows
                are shown, these numbers are replaced by the new ones
    chained     whether the value is a factor from the row before to this row: where only some rows
                are shown, the engine multiplies the factors of all rows between two of them
    considered  whether memories with another value than neutral, which must be few, may be answered
                although they match the question little: a shortlist compares them with each
                question, the newest if there are more than it has rows; for columns of memories
                with one number a cell
    """

    fresh: Phase | None = None
    first: bool = False
    clock: bool = False
    anywhere: bool = False
    rows: Any = None
    chained: bool = False
    considered: bool = False


AS_USUAL: Final = Upkeep()


@dataclass(frozen=True, eq=False)
class Column:
    """One typed array.

    name     attribute under which a view shows it
    dtype    numpy type of a cell: bool, integer or float
    scope    what a cell belongs to
    shape    of one cell; a name stands for the owner's parameter of that name, or for `dimensions`
             of the embedding
    unit     of a cell, "1" if none
    neutral  value while no hook sets it; another column for a stage that passes its input on
    meaning  one sentence
    low, high  bounds of a valid cell, for the conformance suite
    upkeep   how the engine keeps the column where that is not as usual; most columns need none

    Hooks of ENCODE change the cell of the event's row, those of edges made for the event, and those
    that they name by `view.wrote`: a saved tick compares these alone, and `close` all cells.

    Raises ContractError for a name that is no attribute name, for another dtype, and for a column
    that cannot be `considered`.
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
    upkeep: Upkeep = field(default=AS_USUAL, kw_only=True)

    def __post_init__(self) -> None:
        _require_name(self.name)
        _require_dtype(self.name, self.dtype)
        if self.upkeep.considered and not (
            self.scope is Scope.MEMORY and not self.shape and self.neutral == self.neutral
        ):
            raise ContractError(
                f"column {self.name!r} cannot be considered by shortlists",
                where="columns",
                cure="declare it of memories, with one number a cell and a neutral value that is a number",
            )

    @property
    def persists(self) -> bool:
        return self.scope.persists

    @property
    def before(self) -> Before:
        """For `reads`: the value of this column before any hook changed it in this phase."""
        return Before(self)

    def cell_shape(self, sizes: Mapping[str, int]) -> tuple[int, ...]:
        return tuple(size if isinstance(size, int) else sizes[size] for size in self.shape)

    def __repr__(self) -> str:
        """Scope, name, dtype and shape of a cell, unit and neutral value (or the stage that stands
        for it) in one line.

        >>> Column("heat", np.float64, Scope.MEMORY, "1", 0.0, "how hot")
        <memory column heat: float64, unit 1, neutral 0.0>
        """
        shape = f"[{', '.join(map(str, self.shape))}]" if self.shape else ""
        neutral = self.neutral.name if isinstance(self.neutral, Column) else repr(self.neutral)
        return f"<{self.scope.value} column {self.name}: {np.dtype(self.dtype).name}{shape}, unit {self.unit}, neutral {neutral}>"


@dataclass(frozen=True)
class Before:
    """A read of a column or structure as it was before this phase changed it: the reader runs
    before the writers.
    """

    of: Column | Structure


@dataclass(frozen=True, eq=False, repr=False)
class Signal(Column):
    """A ranked answer to the query: a score for each memory, NaN where the signal gives none.

    facet   the kind of evidence that the signal uses
    direct  whether it says how well each memory itself matches the query; MATCH, from which others
            start, is the mean of the direct ones
    floor   the score that replaces NaN where scores are compared
    scale   what the scores measure
    The owner's parameter `weight` is its weight in the fused ranking.
    """

    facet: Facet = Facet.MEANING
    direct: bool = True
    floor: float = 0.0
    scale: Scale = Scale.SUPPORT


def signal(
    name: str,
    facet: Facet,
    meaning: str,
    *,
    unit: str = "1",
    direct: bool = True,
    floor: float = 0.0,
    scale: Scale = Scale.SUPPORT,
) -> Signal:
    """Declare a signal: a float32 candidate column with NaN as neutral value."""
    return Signal(
        name,
        np.float32,
        Scope.CANDIDATE,
        unit,
        np.nan,
        meaning,
        facet=facet,
        direct=direct,
        floor=floor,
        scale=scale,
    )


@dataclass(frozen=True, eq=False)
class Structure:
    """State that is not an array: an index, the graph, the texts.

    reading      attributes that a hook may use if it declares the structure in `reads`; a hook that
                 adds to or sets it may use all
    private      one object per mechanism instead of one per memory
    persists     whether it is kept after the current pass
    phases       in which hooks may declare it
    stored_only  whether hooks that read it in ENCODE run only if the event was stored
    create       makes the object, if the engine does not; called once for a memory in which a hook
                 names the structure, and once more for each question at the same time if the
                 structure does not persist and is for RETRIEVE alone.  Other structures are shared
                 by all threads that ask, and must allow that. A method `forget` of the object is
                 called when memories are erased, to drop what was derived from them
    steps        schedule nodes that fill it, added to the schedule if a hook reads the structure;
                 no hook may write it then
    signed       each hook gets what the object's method `signed(id of its mechanism)` returns
    partial      makes what stands for the object when only some rows are shown, from the object and
                 a `partial.PartialStore`.  None: it cannot be shown so, and sets whose hooks of
                 RETRIEVE touch it have no shortlist
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
    signed: bool = False
    partial: Callable[[Any, Any], Any] | None = None

    def __post_init__(self) -> None:
        _require_name(self.name)

    @property
    def before(self) -> Before:
        return Before(self)

    def __repr__(self) -> str:
        return f"<structure {self.name}>"


def _require_name(name: str) -> None:
    # a method of all views
    if (
        not name.isidentifier()
        or name.startswith("_")
        or keyword.iskeyword(name)
        or name == "wrote"
    ):
        raise ContractError(
            f"{name!r} is no attribute name free in a view",
            where="columns",
            cure="use lower case letters, digits and underscores",
        )


def _require_dtype(name: str, dtype: DTypeLike) -> None:
    """Raises ContractError for a type that no snapshot could restore and no kernel could read:
    objects, texts, dates, records, complex numbers.
    """
    try:
        known = np.dtype(dtype).kind in DTYPE_KINDS
    except TypeError:
        known = False
    if not known:
        raise ContractError(
            f"the dtype {dtype!r} is no bool, integer or float",
            where=f"column {name}",
            cure="use np.bool_, an integer such as np.int64, or a float such as np.float64",
        )
