"""Stores over another store: some columns have arrays of their own, all others are those of the
store below.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..base.numerics import read_only
from ..contract.columns import Column, Scope, Structure
from ..contract.vocabulary import RECALLED
from .store import PER_ROW, Array, Cells, Journal, neutralised


class Overlay(ABC):
    """A store over another one, as plans and views read it (`store.Cells`).  Only columns that do
    not persist may be written.

    base        the store below
    structures  as hooks find them
    """

    journal: Journal | None = None  # hooks of ENCODE alone name cells

    def __init__(self, base: Cells, structures: Mapping[Structure, Any]) -> None:
        self.base, self.passes = base, 0
        self.structures: dict[Structure, Any] = {**structures, RECALLED: np.empty(0, np.int64)}
        self._buffers: dict[Column, Array] = {}  # with room for `capacity` rows
        self._live: dict[Column, Array] = {}  # views of the buffers
        self._read_only: dict[Column, Array] = {}
        self._seen = -1  # version that the views show

    @property
    @abstractmethod
    def n(self) -> int:
        """Number of rows."""

    @property
    @abstractmethod
    def version(self) -> int:
        """Grows whenever a view made earlier no longer shows all rows."""

    @property
    @abstractmethod
    def capacity(self) -> int:
        """Rows that a buffer has room for."""

    @abstractmethod
    def _owns(self, column: Column) -> bool:
        """Whether a column has an array of its own here."""

    @abstractmethod
    def _fill(self, column: Column, buffer: Array) -> None:
        """Fill a new buffer, which stands at neutral."""

    def cell_shape(self, column: Column) -> tuple[int, ...]:
        return self.base.cell_shape(column)

    def array(self, column: Column) -> Array:
        """As `Store.array`."""
        if not self._owns(column):
            return self.base.array(column)
        self._renew()
        live = self._live.get(column)
        if live is None:
            buffer = self._buffer(column)
            live = self._live[column] = buffer[: self.n] if column.scope in PER_ROW else buffer
        return live

    def read_only(self, column: Column) -> Array:
        """As `Store.read_only`."""
        if not self._owns(column):
            return self.base.read_only(column)
        self._renew()
        sealed = self._read_only.get(column)
        if sealed is None:
            sealed = self._read_only[column] = read_only(self.array(column))
        return sealed

    def neutralise(self, scope: Scope) -> None:
        """As `Store.neutralise`, of the columns that it owns."""
        neutralised(
            self.array,
            self.n,
            [
                column
                for column in self._buffers
                if column.scope is scope and not isinstance(column.neutral, Column)
            ],
        )

    def surface(self) -> None:
        """Does nothing: no question archives."""
        return

    def _renew(self) -> None:
        if self._seen != self.version:
            self._seen = self.version
            self._live.clear()
            self._read_only.clear()

    def _buffer(self, column: Column) -> Array:
        cells, buffer = (
            (self.capacity,) if column.scope in PER_ROW else (),
            self._buffers.get(column),
        )
        if buffer is None or buffer.shape[: len(cells)] != cells:
            neutral = 0.0 if isinstance(column.neutral, Column) else column.neutral
            buffer = self._buffers[column] = np.full(
                cells + self.cell_shape(column), neutral, column.dtype
            )
            self._fill(column, buffer)
        return buffer
