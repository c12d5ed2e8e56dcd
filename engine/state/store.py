"""The struct-of-arrays store: one growable array per column, with views of the rows in use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import prod
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..base.errors import ContractError
from ..base.numerics import is_zero, read_only
from ..base.sharing import in_parts
from ..contract.columns import Column, Scope, Structure
from ..contract.vocabulary import EMBEDDING, ENGINE_STRUCTURES, VISIBLE
from .graph import Graph
from .vectors import VectorIndex

Array = NDArray[Any]
Journal = dict[Column, list[NDArray[np.int64]]]
FIRST_CAPACITY = 256
PER_ROW = (Scope.MEMORY, Scope.CANDIDATE)
SHARED_FROM = 16_384  # rows from which on filling a column takes longer than handing it over
WIDE = 512  # bytes of a cell from which on a column of memories is costly to copy


def is_wide(column: Column, cell_shape: tuple[int, ...]) -> bool:
    """Whether views fetch a column at each access, so that a store that shows some rows copies
    it only for hooks that read it.
    """
    return (
        column.scope is Scope.MEMORY and np.dtype(column.dtype).itemsize * prod(cell_shape) >= WIDE
    )


def neutralised(array: Callable[[Column], Array], rows: int, columns: Iterable[Column]) -> None:
    """Fill the array of each column with its neutral value; threads that help share the arrays of
    many rows.
    """
    # `array[...] =` releases the lock of the interpreter, which `ndarray.fill` holds
    if rows < SHARED_FROM:
        for column in columns:
            array(column)[...] = column.neutral
        return
    arrays = [(array(column), column.neutral) for column in columns]

    def fill(at: int) -> None:
        cells, number = arrays[at]
        cells[...] = number

    in_parts(len(arrays), fill)


class Cells(Protocol):
    """What plans, views and instruments need of a store: see `Store`."""

    passes: int
    structures: dict[Structure, Any]
    journal: Journal | None

    @property
    def n(self) -> int: ...
    @property
    def version(self) -> int: ...
    @property
    def capacity(self) -> int: ...
    @property
    def graph(self) -> Any: ...
    def array(self, column: Column) -> Array: ...
    def read_only(self, column: Column) -> Array: ...
    def cell_shape(self, column: Column) -> tuple[int, ...]: ...
    def neutralise(self, scope: Scope) -> None: ...
    def surface(self) -> None: ...


class Store:
    """All columns of one memory, and its structures.

    n        number of rows
    version  grows whenever a view made earlier no longer shows all rows
    guests   columns of plans that the memory's own mechanisms do not own; they stay at neutral
             between queries, and are neither saved nor digested
    journal  numbers of rows or edges that hooks of ENCODE named by `view.wrote` since the last
             save, by column; None: nothing is noted
    Appending is amortised O(columns); nothing is copied on access.  A view is made once per version
    and shared by all readers.
    """

    def __init__(
        self,
        columns: Iterable[tuple[Column, Mapping[str, int]]],
        structures: Mapping[Structure, Any],
        index: VectorIndex,
        graph: Graph,
    ) -> None:
        """columns: each with the sizes that its symbolic shape refers to."""
        self.index, self.graph, self.structures = index, graph, dict(structures)
        self.n, self.version, self.capacity = 0, 0, FIRST_CAPACITY
        self._sizes: dict[Column, tuple[int, ...]] = {}
        self._arrays: dict[Column, Array] = {}
        self._live: dict[Column, Array] = {}
        self._read_only: dict[Column, Array] = {}
        # whole arrays, read-only, of which a part costs a tenth of a new view
        self._sealed: dict[Column, Array] = {}
        self._passing: dict[Scope, list[Column]] = {scope: [] for scope in Scope}
        self._names: dict[str, Column | Structure] = {
            s.name: s for s in (*ENGINE_STRUCTURES, *structures)
        }
        self.guests: dict[Column, None] = {}
        self.passes = 0  # passes of plans over this store so far
        self.journal: Journal | None = None
        for column, sizes in columns:
            self._hold(column, sizes)

    def _hold(self, column: Column, sizes: Mapping[str, int], guest: bool = False) -> None:
        """Make room for a column, at neutral.  Raises ContractError for a name that is taken."""
        if self._names.setdefault(column.name, column) is not column:
            raise ContractError(
                f"two columns or structures are called {column.name!r}",
                where="store",
                cure="rename one of them",
            )
        self._sizes[column] = column.cell_shape(sizes)
        if column.scope is Scope.EDGE:
            self.graph.allocate(
                column.name,
                np.dtype(column.dtype),
                self._sizes[column],
                column.neutral,
                saved=not guest,
            )
        elif column is not EMBEDDING:
            self._arrays[column] = self._filled(column, self.capacity)
            if not isinstance(column.neutral, Column):
                self._passing[column.scope].append(column)

    def receive(
        self,
        columns: Iterable[tuple[Column, Mapping[str, int]]],
        structures: Mapping[Structure, Any],
    ) -> None:
        """Hold further columns, as guests, and structures; those that are held already stay.

        Raises ContractError for a name that is taken, or for a column that is held with cells of
        another shape.
        """
        for column, sizes in columns:
            if column not in self._sizes:
                self._hold(column, sizes, guest=True)
                self.guests[column] = None
            elif self._sizes[column] != column.cell_shape(sizes):
                raise ContractError(
                    f"the cells of {column.name} have the shape {self._sizes[column]}, not {column.cell_shape(sizes)}",
                    where="store",
                    cure="make a memory of its own for these parameters",
                )
        for structure, held in structures.items():
            self.structures.setdefault(structure, held)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of the memory's own mechanisms and of the engine, without guests."""
        return tuple(c for c in self._sizes if c not in self.guests)

    def owns(self, column: Column) -> bool:
        """Whether it is one of `columns`.  O(1)."""
        return column in self._sizes and column not in self.guests

    def cell_shape(self, column: Column) -> tuple[int, ...]:
        return self._sizes[column]

    def array(self, column: Column) -> Array:
        """The live array of a column: (n, ...) for memories and candidates, (m, ...) for edges,
        one cell otherwise.
        """
        # replaced, not emptied, when rows are added: another thread puts no old view into the new
        # one
        live = self._live
        cells = live.get(column)
        if cells is None:
            if column.scope is Scope.EDGE:
                return self.graph.column(column.name)  # edges are added at other times than rows
            whole = self.index.vectors if column is EMBEDDING else self._arrays[column]
            cells = live[column] = whole[: self.n] if column.scope in PER_ROW else whole
        return cells

    def read_only(self, column: Column) -> Array:
        """The live array of a column, read-only."""
        kept, sealed = self._read_only, self._sealed
        cells = kept.get(column)
        if cells is None:
            if column.scope in PER_ROW and column is not EMBEDDING:
                whole = sealed.get(column)
                if whole is None:
                    whole = sealed[column] = read_only(self._arrays[column])
                cells = whole[: self.n]
            else:
                cells = read_only(self.array(column))
            if column.scope is not Scope.EDGE:
                kept[column] = cells
        return cells

    def extend(self, vectors: Sequence[NDArray[np.float32]]) -> int:
        """Append rows at neutral values; returns the first of them.  Raises InputError, with
        nothing changed, for an invalid vector.
        """
        first = self.index.add_many(vectors)
        if self.n + len(vectors) > self.capacity:
            self._grow(self.n + len(vectors))
        self.n += len(vectors)
        self._renew()
        return first

    def surface(self) -> None:
        """Update the bitmap of the index from VISIBLE.  Cost: O(n)."""
        visible = self.array(VISIBLE)
        for row in np.flatnonzero(visible != self.index.visible_mask()):
            (self.index.restore if visible[row] else self.index.archive)(int(row))

    def neutralise(self, scope: Scope) -> None:
        """Reset the columns of a scope that does not persist to neutral, except stages, which
        start as the stage before.
        """
        neutralised(self.array, self.n, self._passing[scope])

    def _grow(self, rows: int, unset: int = 0) -> None:
        """Make room for so many rows, in powers of two; those below `unset` are left without
        values.
        """
        capacity = self.capacity
        while capacity < rows:
            capacity *= 2
        for column, old in self._arrays.items():
            if column.scope in PER_ROW:
                new = self._filled(column, capacity, unset)
                new[: self.n] = old[: self.n]
                self._arrays[column] = new
        self._sealed = {}
        self.capacity = capacity

    def _renew(self) -> None:
        self.version += 1
        self._live, self._read_only = {}, {}

    def _filled(self, column: Column, capacity: int, unset: int = 0) -> Array:
        cells = (capacity,) if column.scope in PER_ROW else ()
        neutral = self._neutral(column)
        if is_zero(neutral):  # such an array takes memory only where it is written
            return np.zeros(cells + self._sizes[column], dtype=column.dtype)
        if not unset or not column.persists or column in self.guests:
            return np.full(cells + self._sizes[column], neutral, dtype=column.dtype)
        filled = np.empty(cells + self._sizes[column], dtype=column.dtype)
        filled[unset:] = neutral
        return filled

    @staticmethod
    def _neutral(column: Column) -> Any:
        """The neutral value; 0 where it is another column, which `neutralise` copies."""
        return 0.0 if isinstance(column.neutral, Column) else column.neutral

    # --- snapshots --------------------------------------------------------------------------------
    def persistent(self) -> dict[str, Array]:
        """Every persistent array but the embeddings and the edges, by name."""
        return {c.name: self.array(c) for c in self._arrays if c.persists and c not in self.guests}

    def cover(self, n: int) -> None:
        """Give a new, empty store n rows, of which `restore` must set the values."""
        if self.capacity < n:
            self._grow(n, unset=n)
        self.n = n
        self._renew()

    def restore(self, arrays: Mapping[str, Array], n: int) -> None:
        """Restore in a new, empty store arrays saved by `persistent`; the index must already hold
        the n vectors.

        After `cover` they may be those of `persistent` itself, with the values in place.  Raises
        ValueError, with nothing changed, for arrays of other names, shapes or types.
        """
        wanted = {
            c.name: (c, (n,) if c.scope in PER_ROW else ())
            for c in self._arrays
            if c.persists and c not in self.guests
        }
        for name in {*wanted, *arrays}:
            column, cells = wanted.get(name, (None, ()))
            array = arrays.get(name)
            if (
                column is None
                or array is None
                or (array.shape, array.dtype)
                != (cells + self._sizes[column], np.dtype(column.dtype))
            ):
                raise ValueError(f"column {name!r} is missing, unknown or of another form")
        if self.n != n:
            self.cover(n)
        for name, (column, cells) in wanted.items():
            array, own = arrays[name], self.array(column)
            same = cells and array.strides[0] == 0  # one row for all
            if array is not own and not (
                same and is_zero(self._neutral(column)) and is_zero(array[:1])
            ):
                own[...] = array
        self.surface()
