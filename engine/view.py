"""Views: a hook sees the columns it declared and no others; columns that it neither sets nor adds to are read-only.

Each hook gets a view class of its own, with an attribute for each declared column.  Arrays are bound when the plan is built and again after
the store has grown.
"""
from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from .columns import Before, Column, Scope, Structure
from .errors import ContractError
from .numerics import read_only
from .schedule import Node, Stages
from .storage.graph import BUILT_IN
from .storage.store import PER_ROW, Array, Store
from .vocabulary import SIGNALS


class View:
    """Base of all views.  Reading or writing an undeclared name raises ContractError."""

    __slots__ = ()
    _label = ""
    _declared: tuple[str, ...] = ()

    def __getattr__(self, name: str) -> Any:
        raise ContractError(f"{name!r} was not declared", where=self._label,
                            cure=f"add it to reads, adds or sets; declared: {', '.join(self._declared)}")

    def __setattr__(self, name: str, value: Any) -> None:
        member = getattr(type(self), name, None)
        if isinstance(member, property) and member.fset:
            object.__setattr__(self, name, value)
        elif not _same(value, getattr(self, name)):  # `view.name += 1` changes the array in place, then assigns it
            raise ContractError(f"{name!r} cannot be assigned", where=self._label,
                                cure="declare it in sets, and write into the array: view.name[...] = ...")


def _same(one: Any, other: Any) -> bool:
    if not isinstance(one, np.ndarray) or not isinstance(other, np.ndarray):
        return False
    return (one.ctypes.data, one.shape, one.strides) == (other.ctypes.data, other.shape, other.strides)


class Reader:
    """A structure for hooks that only read it: arrays are read-only, and of the edge columns only declared ones can be read."""

    __slots__ = ("_allowed", "_edges", "_of")

    def __init__(self, of: Any, structure: Structure, edges: frozenset[str] = frozenset()) -> None:
        self._of, self._allowed, self._edges = of, frozenset(structure.reading), edges

    def __getattr__(self, name: str) -> Any:
        if name not in self._allowed:
            raise ContractError(f"{name!r} would change the structure, or is unknown", where=type(self._of).__name__,
                                cure=f"readers may use {', '.join(sorted(self._allowed))}")
        if name in ("buffer", "column"):
            return partial(self._edge, name)
        return getattr(self._of, name)

    def _edge(self, method: str, name: str) -> Array:
        if name not in self._edges:
            raise ContractError(f"the edge column {name!r} was not declared", where=type(self._of).__name__, cure="add it to reads")
        return read_only(getattr(self._of, method)(name))

    def __repr__(self) -> str:
        return f"<read-only {type(self._of).__name__}: {', '.join(sorted(self._allowed))}>"

    def __getitem__(self, key: Any) -> Any:
        return self._of[key]

    def __len__(self) -> int:
        return len(self._of)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._of)


class Binding:
    """A node's view, the arrays to bind again after the store has grown, and the contributions of the last call.

    contributions  column -> what the node added to it in its last call
    grows          whether any array must be bound again after the store has grown
    version        the store's version at the last binding
    """

    def __init__(self, node: Node, store: Store, stages: Stages, signals: Any = (), private: Any = None) -> None:
        """signals: (Signal, weight) rows for readers of SIGNALS; private: the owner's own random stream."""
        self.node, self.store, self.stages = node, store, stages
        self._arrays: list[tuple[str, Column, bool]] = []
        self.contributions: dict[Column, Array] = {c: self._zeros(c) for c in node.adds if isinstance(c, Column)}
        self.signals = signals
        members: dict[str, Any] = {"_label": node.label}
        slots: list[str] = []
        touched: dict[Any, bool] = {}
        for read in node.reads:
            touched.setdefault(read.of if isinstance(read, Before) else read, False)
        touched.update(dict.fromkeys((*node.sets, *node.adds), True))
        for item, writable in touched.items():
            if isinstance(item, Structure):
                if item is SIGNALS:
                    slots.append(item.name)
                else:
                    edges = frozenset(c.name for c in touched if isinstance(c, Column) and c.scope is Scope.EDGE) | BUILT_IN.keys()
                    members[item.name] = self._structure(item, writable, private, edges)
            elif item in self.contributions:
                if self._plain(item):
                    members[item.name] = _scalar(self.contributions[item], True, node.label, item.name)
                elif item.scope is Scope.EDGE:
                    members[item.name] = property(partial(self._contribution, item))
                else:
                    slots.append(item.name)
            elif self._plain(item):
                members[item.name] = _scalar(store.array(item), writable, node.label, item.name)
            elif item.scope is Scope.EDGE:
                members[item.name] = _edge(store, item, writable)
            else:
                slots.append(item.name)
                self._arrays.append((item.name, stages.source(item), writable))  # type: ignore[arg-type]
        members["__slots__"] = tuple(slots)
        members["_declared"] = tuple(i.name for i in touched)
        self.view: Any = type("View", (View,), members)()
        self._growing = tuple(c for c in self.contributions if c.scope in PER_ROW)
        self._edges = tuple(c for c in self.contributions if c.scope is Scope.EDGE)
        for column, buffer in self.contributions.items():
            if column.name in slots:
                object.__setattr__(self.view, column.name, buffer)
        self._with_signals = SIGNALS in node.sees
        self.grows = bool(self._arrays or self._growing or self._with_signals)
        self.bind()

    def bind(self) -> None:
        """Bind the arrays again; needed after the store has grown."""
        put, view, store = object.__setattr__, self.view, self.store
        for name, column, writable in self._arrays:
            put(view, name, store.array(column) if writable else store.read_only(column))
        for column in self._growing:
            if len(self.contributions[column]) < store.n:
                self.contributions[column] = self._zeros(column)
            put(view, column.name, self.contributions[column][: store.n])
        if self._with_signals:
            put(view, SIGNALS.name, tuple((s, store.read_only(s), w) for s, w in self.signals))
        self.version = store.version

    def clear(self) -> None:
        """Reset the contributions to zero, before a call.  Cost: O(n) for a column of memories or candidates, O(m) for one of edges."""
        for column in self._edges:
            self.contributions[column] = np.zeros_like(self.store.array(column))
        for buffer in self.contributions.values():
            buffer.fill(0)

    def _contribution(self, column: Column, _: View) -> Array:
        return self.contributions[column]

    def _zeros(self, column: Column) -> Array:
        if column.scope is Scope.EDGE:
            return np.zeros_like(self.store.array(column))
        cells = (self.store.capacity,) if column.scope in PER_ROW else ()
        return np.zeros(cells + self.store.cell_shape(column), dtype=column.dtype)

    def _plain(self, column: Column) -> bool:
        return column.scope in (Scope.EVENT, Scope.GLOBAL) and self.store.cell_shape(column) == ()

    def _structure(self, item: Structure, writable: bool, private: Any, edges: frozenset[str]) -> property:
        structures = self.store.structures
        if item.private:
            return property(lambda _: private)
        if item.signed:
            own = structures[item].signed(self.node.owner)
            return property(lambda _: own)
        if writable or not item.reading:
            return property(lambda _: structures[item])
        reader = Reader(structures[item], item, edges)
        return property(lambda _: reader)


def _scalar(cell: Array, writable: bool, label: str, name: str) -> property:
    """A single cell as a plain number; its array is never replaced."""

    def read(_: View) -> Any:
        return cell.item()

    def write(_: View, value: Any) -> None:
        cell[()] = value

    def refuse(_: View, value: Any) -> None:
        raise ContractError(f"{name!r} may only be read", where=label, cure="declare it in sets or adds")

    return property(read, write if writable else refuse)


def _edge(store: Store, column: Column, writable: bool) -> property:
    """An edge column; hooks may add edges while they run, so the array is fetched at each access."""
    return property(lambda _: store.array(column) if writable else store.read_only(column))
