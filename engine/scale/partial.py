"""A store that shows some rows of another, for questions that are asked of a shortlist
(`engine.scale.shortlist`).

The rows are numbered anew, 0, 1, 2, ..., in their old order.  Columns are gathered once hooks have
read them, wide ones when they do; a column that holds row numbers (`Column.rows`) holds the new
ones, -1 for rows that are not shown.  Statistics of words count all memories, as before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..base.errors import ContractError
from ..base.numerics import kernel, read_only
from ..base.sharing import at_once
from ..contract.columns import Column, Scope, Structure
from ..contract.vocabulary import (
    CUES,
    EMBEDDER,
    EMBEDDING,
    GRAPH,
    INDEX,
    LANGUAGE_MODEL,
    LEXICON,
    PASSAGES,
    RANDOM,
    RECALLED,
    SIGNALS,
    SPANS,
    TEXTS,
    TOKEN_EMBEDDER,
    TRIGRAMS,
    VISIBLE,
    WRITINGS,
)
from ..state.graph import BUILT_IN, TYPES, Adjacency, EdgeType, Graph, Links
from ..state.overlay import Overlay
from ..state.postings import BM25Index, ScoredRows, TrigramIndex
from ..state.ranking import best
from ..state.store import Array, Cells, is_wide

if TYPE_CHECKING:
    from ..contract.records import Event
    from ..contract.writings import Writing, Writings
    from ..state.event_log import Texts
    from ..state.postings import TrigramMeasure
    from ..state.vectors import VectorIndex
    from ..steps.passages import Passages

Rows = NDArray[np.int64]
Held = TypeVar("Held", BM25Index, TrigramIndex)
FIRST_EDGES: Final = 4096
NOTHING: Final = 1e-12  # a smaller product of factors along a chain of rows counts as 0


class Late(Protocol):
    """Computes late columns of some rows while those of the base are out of date:
    `late.LateRows`.
    """

    columns: frozenset[Column]

    @property
    def due(self) -> bool: ...

    def array(self, column: Column, rows: Rows) -> Array: ...


class PartialStore(Overlay):
    """Some rows of a store.  What it shows must not be written, but for columns of candidates.

    base      the whole store
    rows      (n,) the rows shown, ascending
    capacity  most of them
    """

    def __init__(
        self, base: Cells, most: int, linked: bool = True, late: Late | None = None
    ) -> None:
        """linked: whether steps may read the graph; late: computes late columns that are out of
        date in the base.
        """
        super().__init__(base, {})
        self._most, self._version, self._linked, self._late = most, 0, linked, late
        self.rows: Rows = np.empty(0, np.int64)
        self._due: set[Column] = set()  # wide columns to be gathered when they are read
        # place of each row of the base among the rows shown; -1: not shown
        self.place = np.empty(0, np.int32)
        self.shown = ScoredRows(self.rows, self.place)  # for postings
        self.graph = PartialGraph(base.graph)

    @property
    def n(self) -> int:
        return len(self.rows)

    @property
    def version(self) -> int:
        return self._version

    @property
    def capacity(self) -> int:
        return self._most

    def receive(self, structures: Iterable[Structure]) -> None:
        """Show structures that hooks touch.  Raises ContractError for one that cannot be shown
        in part.
        """
        for structure in structures:
            if structure in self.base.structures and structure is not RECALLED:
                self.structures[structure] = self._part(structure, self.base.structures[structure])

    def _part(self, structure: Structure, held: Any) -> Any:
        make = _PARTS.get(structure) or structure.partial
        if make is None:
            raise ContractError(
                f"{structure.name} cannot be shown for some memories only",
                where="shortlist",
                cure="ask without a shortlist, or declare `partial` of the structure",
            )
        return make(held, self)

    def show(self, rows: Rows) -> None:
        """Show these rows, ascending, at most `capacity`.  Views stay valid if there are as many
        rows as before.

        Cost: O(rows x columns read so far, but for wide ones, + edges of the rows and of their
        entities), and O(n of the base) if it has grown.
        """
        place = self.place
        if len(place) < self.base.n:
            place = self.place = np.full(self.base.capacity, -1, np.int32)
        else:
            place[self.rows] = -1
        place[rows] = np.arange(len(rows), dtype=np.int32)
        self._version += len(rows) != self.n
        self.rows, self.shown = rows, ScoredRows(rows, place)
        at_once(self._fill_all, lambda: self.graph.show(rows, place) if self._linked else None)

    def _fill_all(self) -> None:
        for column, buffer in self._buffers.items():
            if is_wide(column, self.cell_shape(column)):
                self._due.add(column)
            else:
                self._fill(column, buffer)

    def places(self, rows: NDArray[np.integer[Any]]) -> NDArray[np.int32]:
        """The new numbers of rows; -1 for those that are not shown, and for negative ones."""
        return (
            np.where(rows >= 0, self.place[rows], np.int32(-1))
            if self.n
            else np.full(rows.shape, -1, np.int32)
        )

    def array(self, column: Column) -> Array:
        """As `Store.array`, for the rows shown."""
        if column in self._due:
            self._due.remove(column)
            self._fill(column, self._buffers[column])
        return (
            self.graph.column(column.name) if column.scope is Scope.EDGE else super().array(column)
        )

    def read_only(self, column: Column) -> Array:
        """As `Store.read_only`, for the rows shown."""
        return (
            read_only(self.array(column))
            if column.scope is Scope.EDGE or column in self._due
            else super().read_only(column)
        )

    def neutralise(self, scope: Scope) -> None:
        """As `Store.neutralise`; the columns of an event are those of the base."""
        if scope is Scope.CANDIDATE:
            super().neutralise(scope)
        else:
            self.base.neutralise(scope)

    def _owns(self, column: Column) -> bool:
        return not (
            column.scope is Scope.EVENT
            or (column.scope is Scope.GLOBAL and column.upkeep.rows is None)
        )

    def _fill(self, column: Column, buffer: Array) -> None:
        """Gather what the base holds; columns of candidates stand at neutral before a question."""
        if column.scope is Scope.CANDIDATE:
            return
        if self._late and self._late.due and column in self._late.columns:
            buffer[: self.n] = self._late.array(column, self.rows)
            return
        array = self.base.array(column)
        if column.upkeep.chained:
            _along(array, self.rows, buffer)
        elif column.scope is Scope.MEMORY:
            # "raise" would copy the output
            np.take(array, self.rows, axis=0, out=buffer[: self.n], mode="clip")
        else:
            buffer[...] = array
        if column.upkeep.rows is not None:
            mine = buffer[: self.n] if column.scope is Scope.MEMORY else buffer
            mine[column.upkeep.rows] = self.places(mine[column.upkeep.rows])


@kernel
def _along(factor: Array, rows: Rows, out: Array) -> None:
    """out_i = product of factor over the rows after rows_(i - 1) up to rows_i; 0 once it is
    below 1e-12.  O(rows x length of a chain).
    """
    for i in range(rows.shape[0]):
        product, row, first = 1.0, rows[i], rows[i - 1] + 1 if i else 0
        while row >= first and product > NOTHING:
            product *= factor[row]
            row -= 1
        out[i] = product if product > NOTHING else 0.0


class PartialIndex:
    """The vector index of the rows shown: products are those of the whole index, bit for bit."""

    def __init__(self, base: VectorIndex, store: PartialStore) -> None:
        self._base, self._store = base, store
        self._rows: Rows | None = None  # rows that the products belong to
        self._products: dict[bytes, NDArray[np.float32]] = {}

    @property
    def dimensions(self) -> int:
        return self._base.dimensions

    @property
    def vectors(self) -> NDArray[np.float32]:
        """(n, d); O(n d) at the first reading."""
        return self._store.array(EMBEDDING)

    def vectors_of(self, rows: Rows) -> NDArray[np.float32]:
        """As `VectorIndex.vectors_of`."""
        return self._base.vectors_of(self._store.rows[rows])

    def scores(self, query: ArrayLike, out: NDArray[np.float32]) -> NDArray[np.float32]:
        """All inner products into out (n,).  O(n d)."""
        out[...] = self._of(query)
        return out

    def search(
        self, query: ArrayLike, k: int, visible_only: bool = True
    ) -> tuple[Rows, NDArray[np.float32]]:
        """As `VectorIndex.search`."""
        products = self._of(query)
        shown = self._store.array(VISIBLE) if visible_only else np.ones(self._store.n, np.bool_)
        rows = best(products, shown, min(k, int(np.count_nonzero(shown))))
        return rows, products[rows]

    def _of(self, query: ArrayLike) -> NDArray[np.float32]:
        if self._rows is not self._store.rows:
            self._rows = self._store.rows
            self._products.clear()
        vector = np.asarray(query, np.float32)
        products = self._products.get(key := vector.tobytes())
        if products is None:
            products = self._products[key] = self._base.products(vector, self._store.rows)
        return products


class PartialPostings(Generic[Held]):
    """Postings of all memories; scores of the rows shown."""

    def __init__(self, base: Held, store: PartialStore) -> None:
        self._base: Held = base
        self._store = store

    @property
    def n_rows(self) -> int:
        return self._store.n

    @property
    def n_counted(self) -> int:
        return self._base.n_counted


class PartialLexicon(PartialPostings[BM25Index]):
    """Words."""

    def document_frequency(self, term: str) -> int:
        return self._base.document_frequency(term)

    def scores(
        self,
        terms: Sequence[str],
        out: NDArray[np.float32],
        weight: Callable[[int, int], float],
        k1: float = 1.2,
        b: float = 0.75,
    ) -> None:
        """As `BM25Index.scores`.  O(rows + postings of the terms)."""
        self._base.scores(terms, out, weight, k1, b, self._store.shown)


class PartialTrigrams(PartialPostings[TrigramIndex]):
    """Trigrams."""

    def scores(
        self, text: str, out: NDArray[np.float32], measure: TrigramMeasure, max_df: float = 1.0
    ) -> None:
        """As `TrigramIndex.scores`.  O(trigrams of the rows), and O(all postings) the first
        time.
        """
        self._base.scores(text, out, measure, max_df, self._store.shown)


class PartialPassages:
    """The passages of the rows shown."""

    def __init__(self, base: Passages, store: PartialStore) -> None:
        self._base, self._store = base, store

    def scores(self, vector: NDArray[np.float32], out: NDArray[np.float32]) -> NDArray[np.float32]:
        out[...] = self._base.scores(vector, np.empty(self._store.base.n, np.float32))[
            self._store.rows
        ]
        return out

    def counts(self, n: int) -> Rows:
        return self._base.counts(self._store.base.n, self._store.rows)

    def words(
        self,
        terms: Sequence[str],
        weight: Callable[[int, int], float],
        k1: float,
        b: float,
        out: NDArray[np.float32],
    ) -> Rows | None:
        whole = np.empty(self._store.base.n, np.float32)
        spans = self._base.words(terms, weight, k1, b, whole)
        if spans is None:
            return None
        np.take(whole, self._store.rows, out=out)
        return spans[self._store.rows]


class PartialWritings:
    """All writings, with the sources that are shown."""

    def __init__(self, base: Writings, store: PartialStore) -> None:
        self._base, self._store = base, store

    def __getitem__(self, number: int) -> Writing:
        return self._part(self._base[number])

    def __len__(self) -> int:
        return len(self._base)

    def __iter__(self) -> Iterator[Writing]:
        return map(self._part, self._base)

    def _part(self, writing: Writing) -> Writing:
        places = self._store.places(np.array(writing.sources, np.int64))
        return replace(writing, sources=tuple(places[places >= 0].tolist()))


class PartialTexts:
    """The texts of the rows shown."""

    def __init__(self, base: Texts, store: PartialStore) -> None:
        self._base, self._store = base, store

    def __getitem__(self, row: int) -> str:
        return self._base[int(self._store.rows[row])]

    def rendered(self, row: int) -> str:
        return self._base.rendered(int(self._store.rows[row]))

    def event(self, row: int) -> Event:
        return self._base.event(int(self._store.rows[row]))

    def __len__(self) -> int:
        return self._store.n


@kernel
def _named(
    rows: Rows,
    degree: NDArray[np.int32],
    start: NDArray[np.int64],
    ends: NDArray[np.int32],
    seen: NDArray[np.bool_],
    entities: NDArray[np.int32],
) -> int:
    """Write the entities to which the rows have an edge, each once; returns their number.  seen:
    (entities,) all False, then True for these.  O(edges).
    """
    count = 0
    for row in rows:
        for kind in range(degree.shape[0]):
            if degree[kind, row]:  # most rows have edges of few types
                for place in range(start[kind, row], start[kind, row] + degree[kind, row]):
                    entity = ~ends[place]
                    if entity >= 0 and not seen[entity]:
                        seen[entity] = True
                        entities[count] = entity
                        count += 1
    return count


@kernel
def _copied(
    nodes: NDArray[np.int64],
    place: NDArray[np.int32],
    shown: NDArray[np.bool_],
    seen: NDArray[np.bool_],
    start: NDArray[np.int64],
    degree: NDArray[np.int32],
    pool: NDArray[np.int32],
    ends: NDArray[np.int32],
    starts: NDArray[np.int64],
    degrees: NDArray[np.int32],
    edge: NDArray[np.int64],
    target: NDArray[np.int32],
) -> int:
    """Copy the out-edges of nodes that lead to other nodes of these; returns their number, also if
    the arrays are too short.

    nodes  rows that have a place, and entities
    shown  whether a row is among them: most ends of the edges of entities are not, and a byte a row
           stays in the cache where `place` takes four
    seen   whether an entity is among them
    """
    count = 0
    for kind in range(degree.shape[0]):
        for node in nodes:
            new, first = place[node] if node >= 0 else node, count
            if degree[kind, node]:
                for at in range(start[kind, node], start[kind, node] + degree[kind, node]):
                    end = ends[at]
                    # unsigned: not tested for an index from the end
                    if not (shown[np.uint32(end)] if end >= 0 else seen[~end]):
                        continue
                    if count < edge.shape[0]:
                        edge[count], target[count] = pool[at], place[end] if end >= 0 else end
                    count += 1
            starts[kind, new], degrees[kind, new] = first, count - first
    return count


class PartialGraph:
    """The edges among the rows shown and the entities that they name, with the attributes that
    hooks read (`GRAPH.reading`).

    Entities keep their numbers; edges are numbered anew, by type and node, oldest first.  All of
    them are alive.
    """

    def __init__(self, base: Graph) -> None:
        self._base = base
        self.epoch = self.n_rows = self.n_edges = 0
        self._rows: Rows = np.empty(0, np.int64)
        self._place = np.empty(0, np.int32)
        # whether each row of the whole is shown, False between calls
        self._shown = np.zeros(0, np.bool_)
        # new numbers of the nodes whose blocks may hold edges
        self._nodes: NDArray[np.int64] = np.empty(0, np.int64)
        self._start, self._degree = np.zeros((TYPES, 0), np.int64), np.zeros((TYPES, 0), np.int32)
        self._seen, self._found = np.zeros(0, np.bool_), np.zeros(0, np.int32)
        self._room(FIRST_EDGES)
        self._columns: dict[str, Array] = {}

    def _room(self, edges: int) -> None:
        self._edge, self._target, self._pool = (
            np.zeros(edges, np.int64),
            np.zeros(edges, np.int32),
            np.arange(edges, dtype=np.int32),
        )

    def show(self, rows: Rows, place: NDArray[np.int32]) -> None:
        """Copy the edges of rows; place: of each row of the whole, -1 for those not shown.
        Cost: O(edges of the rows and of their entities).
        """
        try:
            self._show(rows, place)
        except BaseException:  # as after an interruption: no mark is left
            self._seen = self._shown = np.zeros(0, np.bool_)
            raise

    def _show(self, rows: Rows, place: NDArray[np.int32]) -> None:
        start, degree, pool, ends = self._base.blocks
        entities = self._base.n_entities
        if len(self._seen) < entities or self._start.shape[1] < len(rows) + entities:
            self._seen, self._found = (
                np.zeros(2 * entities, np.bool_),
                np.zeros(2 * entities, np.int32),
            )
            self._start, self._degree = (
                np.zeros((TYPES, 2 * (len(rows) + entities)), array.dtype)
                for array in (self._start, self._degree)
            )
        else:
            self._degree[:, self._nodes] = 0
        named = self._found[: _named(rows, degree, start, ends, self._seen, self._found)]
        nodes = np.concatenate([rows, ~named.astype(np.int64)])
        if len(self._shown) < len(place):
            self._shown = np.zeros(len(place), np.bool_)
        self._shown[rows] = True
        while (
            count := _copied(
                nodes,
                place,
                self._shown,
                self._seen,
                start,
                degree,
                pool,
                ends,
                self._start,
                self._degree,
                self._edge,
                self._target,
            )
        ) > len(self._edge):
            self._room(2 * count)
        self._seen[named] = self._shown[rows] = False
        self._nodes = np.concatenate([np.arange(len(rows)), nodes[len(rows) :]])
        self._rows, self._place, self.n_rows, self.n_edges = rows, place, len(rows), count
        self.epoch += 1
        self._columns = {"target": self._target[:count]}

    def __getattr__(self, name: str) -> Any:
        """Source, target, type, created and alive (n_edges,) of the edges; entities and relations
        are those of the whole graph.
        """
        if name in BUILT_IN:
            return self.column(name)
        if name in ("entity_id", "entity_name", "entity_names", "n_entities", "relation_name"):
            return getattr(self._base, name)
        raise AttributeError(name)

    def column(self, name: str) -> Array:
        """(n_edges, ...) values of an edge column; gathered at the first reading."""
        values = self._columns.get(name)
        if values is None:
            # "raise" would look at all numbers first
            values = np.take(
                self._base.column(name), self._edge[: self.n_edges], axis=0, mode="clip"
            )
            if name == "source":
                values = np.where(values < 0, values, self._place[values])
            self._columns[name] = values
        return values

    buffer = column

    def csr(self, type: EdgeType) -> Adjacency:
        return Adjacency(
            read_only(self._start[type]), read_only(self._degree[type]), read_only(self._pool)
        )

    def links(self, type: EdgeType) -> Links:
        return Links(
            read_only(self._start[type]), read_only(self._degree[type]), read_only(self._target)
        )

    @property
    def whole_rows(self) -> int:
        """As `Graph.whole_rows`."""
        return self._base.n_rows

    def fan(self, type: EdgeType) -> NDArray[np.int32]:
        """As `Graph.fan`: out-edges of the nodes shown in the whole memory; 0 for entities that
        no row shown names.  O(nodes).
        """
        rows, whole = self._rows, self._base.fan(type)
        out = np.zeros(self._start.shape[1], np.int32)
        out[: len(rows)] = whole[rows]
        named = self._nodes[len(rows) :]
        out[named] = whole[named]
        return out

    def neighbours(self, node: int, type: EdgeType) -> NDArray[np.int32]:
        """Ids of the out-edges of a node, oldest first; none for a node that is not shown."""
        if not -self._base.n_entities <= node < self.n_rows:
            return np.empty(0, np.int32)
        first = int(self._start[type, node])
        return read_only(self._pool[first : first + int(self._degree[type, node])])

    def find(self, source: int, target: int, type: EdgeType) -> int | None:
        """The edge between two nodes, if any.  O(degree)."""
        edges = self.neighbours(source, type)
        matches = edges[self._target[edges] == target]
        return int(matches[0]) if len(matches) else None


def _same(held: Any, _: PartialStore) -> Any:
    return held


_PARTS: Final[dict[Structure, Callable[[Any, PartialStore], Any]]] = {
    INDEX: PartialIndex,
    PASSAGES: PartialPassages,
    SPANS: PartialPassages,
    LEXICON: PartialLexicon,
    TRIGRAMS: PartialTrigrams,
    TEXTS: PartialTexts,
    GRAPH: lambda _, store: store.graph,
    WRITINGS: PartialWritings,
    **dict.fromkeys((CUES, EMBEDDER, LANGUAGE_MODEL, RANDOM, SIGNALS, TOKEN_EMBEDDER), _same),
}
