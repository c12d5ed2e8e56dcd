"""Views: a hook sees the columns it declared and no others; columns that it neither sets nor adds
to are read-only.

Each hook gets a view class of its own, with an attribute for each declared column.  Arrays are
bound when the plan is built and again after the store has grown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum, auto
from functools import lru_cache
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..base.errors import ContractError
from ..base.numerics import read_only
from ..contract.columns import Column, Phase, Scope, Structure
from ..contract.hooks import item_of
from ..contract.vocabulary import SIGNALS
from ..state.graph import BUILT_IN
from ..state.store import PER_ROW, Array, Cells, is_wide
from .schedule import Node, Stages


class View:
    """Base of all views.  Reading or writing an undeclared name raises ContractError."""

    __slots__ = ()
    _label = ""
    _declared: tuple[str, ...] = ()

    def wrote(self, column: Column, numbers: ArrayLike) -> None:
        """Name the earlier rows or edges of which a hook of ENCODE has written cells of a
        column.  Naming too many costs time; what is not named is not saved.  A column with upkeep
        `anywhere` needs no names.

        numbers  integers from 0, of rows or edges that exist

        Raises ContractError for a column that the hook does not write, and for other numbers, such
        as a mask.
        """
        self._of.note(column, numbers)

    def __getattr__(self, name: str) -> Any:
        raise ContractError(
            f"{name!r} was not declared",
            where=self._label,
            cure=f"add it to reads, adds or sets; declared: {', '.join(self._declared)}",
        )

    def __setattr__(self, name: str, value: Any) -> None:
        member = getattr(type(self), name, None)
        if isinstance(member, property) and member.fset:
            object.__setattr__(self, name, value)
        elif not _same(
            value, getattr(self, name)
        ):  # `view.name += 1` changes the array in place, then assigns it
            raise ContractError(
                f"{name!r} cannot be assigned",
                where=self._label,
                cure="declare it in sets, and write into the array: view.name[...] = ...",
            )


def _same(one: Any, other: Any) -> bool:
    if not isinstance(one, np.ndarray) or not isinstance(other, np.ndarray):
        return False
    return (one.ctypes.data, one.shape, one.strides) == (
        other.ctypes.data,
        other.shape,
        other.strides,
    )


class Reader:
    """A structure for hooks that only read it: arrays are read-only, and of the edge columns
    only declared ones can be read.
    """

    __slots__ = ("_allowed", "_edges", "_of")

    def __init__(self, of: Any, structure: Structure, edges: frozenset[str] = frozenset()) -> None:
        self._of, self._allowed, self._edges = of, frozenset(structure.reading), edges

    def __getattr__(self, name: str) -> Any:
        if name not in self._allowed:
            raise ContractError(
                f"{name!r} would change the structure, or is unknown",
                where=type(self._of).__name__,
                cure=f"readers may use {', '.join(sorted(self._allowed))}",
            )
        return self._edge if name == "column" else getattr(self._of, name)

    def _edge(self, name: str) -> Array:
        if name not in self._edges:
            raise ContractError(
                f"the edge column {name!r} was not declared",
                where=type(self._of).__name__,
                cure="add it to reads",
            )
        return read_only(self._of.column(name))

    def __repr__(self) -> str:
        return f"<read-only {type(self._of).__name__}: {', '.join(sorted(self._allowed))}>"

    def __getitem__(self, key: Any) -> Any:
        return self._of[key]

    def __len__(self) -> int:
        return len(self._of)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._of)


class Binding:
    """A node's view, the arrays to bind again after the store has grown, and the contributions of
    the last call.

    contributions  column -> what the node added to it in its last call
    added          of the contributions those that may differ from zero: one with a cell for each
                   row is among them from when the hook takes it
    grows          whether any array must be bound again after the store has grown
    version        the store's version at the last binding
    """

    def __init__(
        self, node: Node, store: Cells, stages: Stages, signals: Any = (), private: Any = None
    ) -> None:
        """signals: (Signal, weight) rows for readers of SIGNALS; private: the owner's own random
        stream.
        """
        self.node, self.store, self.stages = node, store, stages
        self._arrays: list[tuple[str, Column, bool]] = []
        self.contributions: dict[Column, Array] = {
            c: self._zeros(c) for c in node.adds if isinstance(c, Column)
        }
        self.signals, self.added = signals, dict[Column, Array]()
        self._parts: dict[Column, Array] = {}
        touched: dict[Any, bool] = {}
        for read in node.reads:
            touched.setdefault(item_of(read), False)
        touched.update(dict.fromkeys((*node.sets, *node.adds), True))
        fields = tuple(
            (item, self._access(item, writable), writable) for item, writable in touched.items()
        )
        self.view: Any = _class_of(node.label, fields)()
        put = object.__setattr__
        put(self.view, "_of", self)
        for item, access, writable in fields:
            if access is Access.CELL:
                put(
                    self.view,
                    _kept(item),
                    self.contributions[item] if item in self.contributions else store.array(item),
                )
            elif access is Access.OWN:
                put(self.view, _kept(item), self._own(item, private, touched))
            elif access is Access.ARRAY and isinstance(item, Column):
                self._arrays.append((item.name, stages.source(item), writable))
        self._growing = tuple(c for c in self.contributions if c.scope in PER_ROW)
        self._others = tuple(c for c in self.contributions if c.scope not in PER_ROW)
        self._with_signals = SIGNALS in node.sees
        self.grows = bool(self._arrays or self._growing or self._with_signals)
        self.bind()

    def bind(self) -> None:
        """Bind the arrays again, after the contributions were cleared; needed once the store has
        grown or shows fewer rows.
        """
        put, view, store = object.__setattr__, self.view, self.store
        for name, column, writable in self._arrays:
            put(view, name, store.array(column) if writable else store.read_only(column))
        for column in self._growing:
            if len(self.contributions[column]) < store.n:
                self.contributions[column] = self._zeros(column)
            self._parts[column] = self.contributions[column][: store.n]
        if self._with_signals:
            put(view, SIGNALS.name, tuple((s, store.read_only(s), w) for s, w in self.signals))
        self.version = store.version

    def clear(self) -> None:
        """Reset the contributions to zero, before a call.  Cost: O(n) for a column of rows that
        was taken, O(m) for one of edges.
        """
        for cells in self.added.values():
            cells.fill(0)
        self.added.clear()
        for column in self._others:
            if column.scope is Scope.EDGE:  # of which there may be more by now
                self.contributions[column] = np.zeros_like(self.store.array(column))
            self.added[column] = self.contributions[column]

    def take(self, column: Column) -> Array:
        """The cells, one for each row, to which a hook adds."""
        self.added[column] = cells = self._parts[column]
        return cells

    def note(self, column: Column, numbers: ArrayLike) -> None:
        """As `View.wrote`."""
        if column not in self.node.sets and column not in self.node.adds:
            raise ContractError(
                f"{column.name!r} is not written",
                where=self.node.label,
                cure="declare it in sets or adds",
            )
        cells, held = (
            np.array(numbers).reshape(-1),
            self.store.graph.n_edges if column.scope is Scope.EDGE else self.store.n,
        )
        if cells.size and (cells.dtype.kind not in "iu" or cells.min() < 0 or cells.max() >= held):
            raise ContractError(
                f"cells of {column.name!r} are named by {cells.dtype}, {cells.min()} to {cells.max()}",
                where=self.node.label,
                cure=f"give numbers of rows or edges, integers from 0 to {held - 1}",
            )
        if self.store.journal is not None and self.node.phase is Phase.ENCODE:
            self.store.journal.setdefault(column, []).append(cells.astype(np.int64))

    def _zeros(self, column: Column) -> Array:
        if column.scope is Scope.EDGE:
            return np.zeros_like(self.store.array(column))
        cells = (self.store.capacity,) if column.scope in PER_ROW else ()
        return np.zeros(cells + self.store.cell_shape(column), dtype=column.dtype)

    def _plain(self, column: Column) -> bool:
        return column.scope in (Scope.EVENT, Scope.GLOBAL) and self.store.cell_shape(column) == ()

    def _access(self, item: Column | Structure, writable: bool) -> Access:
        """How the view of this node gives an item."""
        if isinstance(item, Structure):
            if item is SIGNALS:
                return Access.ARRAY
            replaced = not (item.private or item.signed) and (writable or not item.reading)
            return Access.HELD if replaced else Access.OWN
        if self._plain(item):
            return Access.CELL
        if item in self.contributions:
            return Access.TAKEN if item.scope in PER_ROW else Access.CONTRIBUTION
        if item.scope is Scope.EDGE or is_wide(item, self.store.cell_shape(item)):
            return Access.FETCHED
        return Access.ARRAY

    def _own(self, item: Structure, private: Any, touched: Iterable[Column | Structure]) -> Any:
        """The object that a view of this node shows for a structure, once and for all."""
        if item.private:
            return private
        if item.signed:
            return self.store.structures[item].signed(self.node.owner)
        edges = (
            frozenset(c.name for c in touched if isinstance(c, Column) and c.scope is Scope.EDGE)
            | BUILT_IN.keys()
        )
        return Reader(self.store.structures[item], item, edges)


class Access(Enum):
    """How a view gives what its node declares."""

    ARRAY = auto()  # an attribute, set by `Binding.bind`
    CELL = auto()  # a single cell as a plain number; its array is never replaced
    # the array is fetched at each access: an edge column, as hooks may add edges while they run, or
    # a wide column
    FETCHED = auto()
    CONTRIBUTION = auto()  # what the node adds to an edge column, or to cells of another shape
    # what the node adds to a column of memories or candidates; noted, so that what no hook touches
    # costs nothing
    TAKEN = auto()
    HELD = auto()  # a structure that may be replaced
    OWN = auto()  # a structure that is not


def _kept(item: Column | Structure) -> str:
    """Attribute of a view that holds the cell or the object behind a property."""
    return f"_held_{item.name}"


@lru_cache(maxsize=4096)
def _class_of(
    label: str, fields: tuple[tuple[Column | Structure, Access, bool], ...]
) -> type[View]:
    """The class of a node's views, which memories with the same node share: making one takes
    longer than binding it.
    """
    members: dict[str, Any] = {
        "_label": label,
        "_declared": tuple(item.name for item, _, _ in fields),
    }
    slots = ["_of"]
    for item, access, writable in fields:
        if access is Access.ARRAY:
            slots.append(item.name)
            continue
        if access in (Access.CELL, Access.OWN):
            slots.append(_kept(item))
        members[item.name] = _property(item, access, writable, label)
    members["__slots__"] = tuple(slots)
    return type("View", (View,), members)


def _property(item: Any, access: Access, writable: bool, label: str) -> property:
    kept = _kept(item)
    if access is Access.CELL:
        return _scalar(kept, writable, label, item.name)
    if access is Access.FETCHED:
        return (
            property(lambda view: view._of.store.array(item))
            if writable
            else property(lambda view: view._of.store.read_only(item))
        )
    if access is Access.TAKEN:
        return property(lambda view: view._of.take(item))
    if access is Access.CONTRIBUTION:
        return property(lambda view: view._of.contributions[item])
    if access is Access.HELD:
        return property(lambda view: view._of.store.structures[item])
    return property(attrgetter(kept))


def _scalar(kept: str, writable: bool, label: str, name: str) -> property:
    cell = attrgetter(kept)

    def read(view: View) -> Any:
        return cell(view).item()

    def write(view: View, value: Any) -> None:
        cell(view)[()] = value

    def refuse(view: View, value: Any) -> None:
        raise ContractError(
            f"{name!r} may only be read", where=label, cure="declare it in sets or adds"
        )

    return property(read, write if writable else refuse)
