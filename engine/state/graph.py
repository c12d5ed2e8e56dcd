"""Typed directed edges between memory rows and entities: growable CSR, edge columns, tombstones.

Nodes.  A memory row r is the node r >= 0; an entity e is the node ~e = -1 - e < 0.  Per-node arrays
hold rows from the front and entities from the back, so that `start[node]` is right for both:
negative indices of numpy and numba count from the back.

Blocks.  The live out-edges of a (type, node) are contiguous in a shared pool, oldest first:

    start   (8, nodes) int64   first place in the pool
    degree  (8, nodes) int32   live out-edges
    room    (8, nodes) int32   places of the block: a power of two, or 0
    pool    (places,)  int32   edge ids

A full block moves to the end of the pool with twice the room.  A node's blocks double, so those
left behind hold less than the one in use: the pool has at most 8 places per edge (and 256 at
first).  Only out-edges are indexed: a path memory -> entity -> memory needs both directed edges.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..base.errors import ContractError, InputError, SnapshotError
from ..base.numerics import is_zero, kernel, read_only

FIRST_EDGES = 256
FIRST_NODES = 64
FIRST_ROOM = 2
LAST_NODE = 2**31 - 2
# begins what stands in place of the name of an erased entity; no name in a text has the character NUL
ERASED = "\0erased "


class EdgeType(IntEnum):
    """Types of edges.  The kind of a RELATION edge is a number that `Graph.relation` gives, kept
    in an edge column of the mechanism that adds it.
    """

    TEMPORAL = 0
    SEMANTIC = 1
    VERSION = 2
    SIBLING = 3
    ENTITY = 4
    COACCESS = 5
    CONFLICT = 6
    RELATION = 7


TYPES = len(EdgeType)
BUILT_IN: dict[str, tuple[np.dtype[Any], Any]] = {
    "source": (np.dtype(np.int32), 0),
    "target": (np.dtype(np.int32), 0),
    "type": (np.dtype(np.uint8), 0),
    "alive": (np.dtype(bool), False),
    "created": (np.dtype(np.float64), 0.0),
}


class Adjacency(NamedTuple):
    """Out-edges of one type, for kernels: `pool[start[v]:start[v] + degree[v]]` are the live
    edges of node v, oldest first.
    """

    start: NDArray[np.int64]
    degree: NDArray[np.int32]
    pool: NDArray[np.int32]


class Links(NamedTuple):
    """Targets of the out-edges of one type, for kernels: `ends[start[v]:start[v] + degree[v]]`
    are those of node v, oldest first.
    """

    start: NDArray[np.int64]
    degree: NDArray[np.integer[Any]]
    ends: NDArray[np.integer[Any]]


def entity_node(entity: int) -> int:
    """The node of an entity, and the entity of a node: ~e is its own inverse.

    >>> entity_node(0), entity_node(entity_node(7))
    (-1, 7)
    """
    return ~entity


def rows_of_entity(graph: Any, entity: int) -> NDArray[np.int64]:
    """The rows that mention an entity, ascending, each once.  O(rows log rows).

    graph  a Graph, or what hooks see of one

    >>> graph = Graph()
    >>> ada, oslo = graph.entity("ada"), graph.entity("oslo")
    >>> for end in (5, 2, entity_node(oslo)):
    ...     _ = graph.add(entity_node(ada), end, EdgeType.ENTITY)
    >>> rows_of_entity(graph, ada).tolist()
    [2, 5]
    """
    ends = graph.target[graph.neighbours(entity_node(entity), EdgeType.ENTITY)]
    return np.unique(ends[ends >= 0]).astype(np.int64)


@kernel
def gather(
    nodes: NDArray[np.int32],
    start: NDArray[np.int64],
    degree: NDArray[np.int32],
    pool: NDArray[np.int32],
    out: NDArray[np.int32],
) -> int:
    """Write the live out-edges of several nodes, in the order of `nodes`, oldest first; returns
    their number, also when `out` is too short.

    nodes                 (q,) nodes v
    start, degree, pool   Adjacency of one type
    out                   (>= sum of degree[v],) edge ids, filled from the front
    Cost: O(q + edges).
    """
    n = 0
    for v in nodes:
        for place in range(start[v], start[v] + degree[v]):
            if n < out.shape[0]:
                out[n] = pool[place]
            n += 1
    return n


@kernel
def drop(
    pool: NDArray[np.int32], ends: NDArray[np.int32], start: int, count: int, edge: int
) -> bool:
    """Remove an edge from the block pool[start:start + count], with its end, and close the gap;
    returns whether the edge was there.  O(count).
    """
    for place in range(start, start + count):
        if pool[place] == edge:
            for later in range(place, start + count - 1):
                pool[later], ends[later] = pool[later + 1], ends[later + 1]
            return True
    return False


@kernel
def _block_ends(
    source: NDArray[np.int32],
    type: NDArray[np.uint8],
    alive: NDArray[np.bool_],
    start: NDArray[np.int64],
    degree: NDArray[np.int32],
    room: NDArray[np.int32],
    live: NDArray[np.int32],
) -> int:
    """Fill degree, room and start for the live edges, and `live` with their ids; returns how many
    places all blocks need.  O(m + nodes).
    """
    count, used = 0, 0
    for edge in range(source.size):
        if alive[edge]:
            degree[type[edge], source[edge]] += 1
            live[count] = edge
            count += 1
    for kind in range(start.shape[0]):
        for node in range(start.shape[1]):
            if degree[kind, node]:
                size = FIRST_ROOM
                while size < degree[kind, node]:
                    size *= 2
                start[kind, node], room[kind, node] = used, size
                used += size
    return used


@kernel
def _fill_blocks(
    source: NDArray[np.int32],
    target: NDArray[np.int32],
    type: NDArray[np.uint8],
    live: NDArray[np.int32],
    start: NDArray[np.int64],
    filled: NDArray[np.int32],
    pool: NDArray[np.int32],
    ends: NDArray[np.int32],
) -> None:
    """Write each live edge, oldest first, and its target into the block of its type and source;
    `filled` starts at zero and ends as the degrees.
    """
    for edge in live:
        kind, node = type[edge], source[edge]
        place = start[kind, node] + filled[kind, node]
        pool[place], ends[place] = edge, target[edge]
        filled[kind, node] += 1


@kernel
def _place(source: int, target: int, type: int, slots: int) -> int:
    """Where the search for an edge begins in a table of so many places, a power of two."""
    word = (np.uint64(source & 0xFFFFFFFF) << np.uint64(32)) | np.uint64(target & 0xFFFFFFFF)
    word = (word ^ (np.uint64(type) << np.uint64(61))) * np.uint64(0x9E3779B97F4A7C15)
    word = (word ^ (word >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return np.int64((word ^ (word >> np.uint64(32))) & np.uint64(slots - 1))  # type: ignore[return-value]


@kernel
def _tabulate(
    source: NDArray[np.int32],
    target: NDArray[np.int32],
    type: NDArray[np.uint8],
    live: NDArray[np.int32],
    table: NDArray[np.int32],
) -> bool:
    """Enter each live edge into a table of -1 with at least twice as many places, by open
    addressing; returns whether no two are the same.  O(edges).
    """
    for edge in live:
        at = _place(source[edge], target[edge], type[edge], table.size)
        while table[at] >= 0:
            known = table[at]
            if (
                source[known] == source[edge]
                and target[known] == target[edge]
                and type[known] == type[edge]
            ):
                return False
            at = (at + 1) & (table.size - 1)
        table[at] = edge
    return True


@kernel
def _look_up(
    source: int,
    target: int,
    type: int,
    sources: NDArray[np.int32],
    targets: NDArray[np.int32],
    types: NDArray[np.uint8],
    alive: NDArray[np.bool_],
    table: NDArray[np.int32],
) -> int:
    """The live edge that `_tabulate` entered; -1 if there is none.  O(1)."""
    at = _place(source, target, type, table.size)
    while table[at] >= 0:
        edge = table[at]
        if sources[edge] == source and targets[edge] == target and types[edge] == type:
            return edge if alive[edge] else -1
        at = (at + 1) & (table.size - 1)
    return -1


class Graph:
    """m edges (alive or tombstoned) over memory rows and entities.

    Edge ids are 0 ... m-1 in order of creation and never reused.  The arrays and columns are views
    of the first m edges, to be renewed after `add`; `csr` stays valid until `epoch` changes.

    removed     edges that were tombstoned since the last save; None: nothing is noted
    epoch       grows whenever any array has moved
    n_rows      covered rows
    whole_rows  the same; where only some rows are shown, that of the whole

    Errors: InputError for bad nodes and edges, ContractError for bad columns; nothing has changed
    then.
    """

    def __init__(self) -> None:
        self.epoch = self.n_edges = self.n_rows = self.whole_rows = self._used = 0
        self._rows = self._entities = FIRST_NODES
        self._neutral: dict[str, Any] = {name: neutral for name, (_, neutral) in BUILT_IN.items()}
        self._edges = {
            name: np.full(FIRST_EDGES, neutral, dtype)
            for name, (dtype, neutral) in BUILT_IN.items()
        }
        self._start = np.zeros((TYPES, 2 * FIRST_NODES), np.int64)
        self._degree = np.zeros((TYPES, 2 * FIRST_NODES), np.int32)
        self._room = np.zeros((TYPES, 2 * FIRST_NODES), np.int32)
        # edges of each block, and their targets
        self._pool, self._ends = np.zeros(FIRST_EDGES, np.int32), np.zeros(FIRST_EDGES, np.int32)
        self._ids: dict[tuple[int, int, int], int] = {}  # live edges that `_table` does not hold
        # edges that were restored, see `_tabulate`; an edge that died since stays in it
        self._table = np.zeros(0, np.int32)
        self._unsaved: set[str] = set()
        self.removed: list[int] | None = None
        self._names: list[str] = []
        self._entity_ids: dict[str, int] = {}
        self._relations: dict[str, int] = {}

    # --- entities and rows ------------------------------------------------------------------------

    @property
    def n_entities(self) -> int:
        return len(self._names)

    def mark(self) -> tuple[Any, ...]:
        """A value that differs once entities, relations or edges have changed; columns of edges do
        not count.  O(m).
        """
        return (
            len(self._names),
            len(self._relations),
            self.epoch,
            self.n_edges,
            self.alive.tobytes(),
            self.created.tobytes(),
        )

    def entity(self, name: str) -> int:
        """The entity of this name, made if new; amortised O(1)."""
        known = self._entity_ids.get(name)
        if known is None:
            known = len(self._names)
            self._cover(self._rows, known + 1)
            self._names.append(name)
            self._entity_ids[name] = known
        return known

    def entity_id(self, name: str) -> int | None:
        return self._entity_ids.get(name)

    def entity_name(self, entity: int) -> str:
        if not 0 <= entity < len(self._names):
            raise InputError(
                f"there is no entity {entity} among {len(self._names)}",
                where="graph",
                cure="give a number that `entity` returned",
            )
        return self._names[entity]

    def entity_names(self) -> tuple[str, ...]:
        """Names of the entities that have not lost theirs, in the order of their numbers.
        O(entities).
        """
        return tuple(name for name in self._names if not name.startswith(ERASED))

    def relation(self, name: str) -> int:
        """The number of a relation's name, given if new; O(1)."""
        return self._relations.setdefault(str.__str__(name), len(self._relations))

    def relation_name(self, number: int) -> str:
        """The name of a relation.  O(relations)."""
        if not 0 <= number < len(self._relations):
            raise InputError(
                f"there is no relation {number} among {len(self._relations)}",
                where="graph",
                cure="give a number that `relation` returned",
            )
        return list(self._relations)[number]

    def cover_rows(self, rows: int) -> None:
        """Make `csr` valid for the nodes 0 ... rows-1 (those of edges always are); amortised
        O(1) per row.
        """
        if rows - 1 > LAST_NODE:
            raise InputError(
                f"{rows} rows do not fit the graph",
                where="graph",
                cure=f"at most {LAST_NODE + 1} do",
            )
        self._cover(rows, self._entities)
        self.n_rows = self.whole_rows = max(self.n_rows, rows)

    # --- edges ------------------------------------------------------------------------------------

    def add(self, source: int, target: int, type: EdgeType, created: float = 0.0) -> int:
        """The live edge (source, target, type), made at time `created` (h) if there is none;
        amortised O(1).
        """
        source, target, kind, created = int(source), int(target), int(type), float(created)
        key = source, target, kind
        known = self.find(*key)
        if known is not None:
            return known
        low, high = min(source, target), max(source, target)
        if not 0 <= kind < TYPES or low < -len(self._names) or high > LAST_NODE:
            raise InputError(
                f"no edge of type {kind} can lead from {source} to {target}",
                where="graph",
                cure="nodes are memory rows, or entity_node(e) of an entity made with entity(name)",
            )
        if high >= self.n_rows:
            self.cover_rows(high + 1)
        edge = self.n_edges
        if edge == len(self._edges["alive"]):
            self._edges = {
                name: _longer(array, 2 * edge, self._neutral[name])
                for name, array in self._edges.items()
            }
            self.epoch += 1
        arrays = self._edges
        arrays["source"][edge], arrays["target"][edge], arrays["type"][edge] = source, target, kind
        arrays["alive"][edge], arrays["created"][edge] = True, created
        count = int(self._degree[kind, source])
        if count == self._room[kind, source]:
            self._move(kind, source, max(2 * count, FIRST_ROOM))
        place = self._start[kind, source] + count
        self._pool[place], self._ends[place] = edge, target
        self._degree[kind, source] = count + 1
        self._ids[key] = edge
        self.n_edges = edge + 1
        return edge

    def remove(self, edge: int) -> None:
        """Tombstone an edge: it keeps its id and columns, but leaves `csr`; no effect on a dead
        one.  O(degree).
        """
        if not 0 <= edge < self.n_edges:
            raise InputError(
                f"there is no edge {edge} among {self.n_edges}",
                where="graph",
                cure="give a number that `add` returned",
            )
        arrays = self._edges
        if not arrays["alive"][edge]:
            return
        source, kind = int(arrays["source"][edge]), int(arrays["type"][edge])
        drop(
            self._pool,
            self._ends,
            int(self._start[kind, source]),
            int(self._degree[kind, source]),
            edge,
        )
        self._degree[kind, source] -= 1
        arrays["alive"][edge] = False
        if self.removed is not None:
            self.removed.append(edge)
        self._ids.pop((source, int(arrays["target"][edge]), kind), None)

    def forget(self, nodes: Sequence[int]) -> None:
        """Remove all edges from and to some nodes, and put their columns at neutral.  Entities
        that have no edge left lose their names.  O(m).
        """
        touched = np.isin(self.source, nodes) | np.isin(self.target, nodes)
        for edge in np.flatnonzero(touched & self.alive).tolist():
            self.remove(edge)
        for name in self._edges.keys() - BUILT_IN.keys():
            self.column(name)[touched] = self._neutral[name]
        ends = np.concatenate([self.source[touched], self.target[touched]])
        linked = np.concatenate([self.source[self.alive], self.target[self.alive]])
        for node in np.setdiff1d(ends[ends < 0], linked).tolist():
            entity = entity_node(node)
            self._entity_ids.pop(self._names[entity], None)
            self._names[entity] = f"{ERASED}{entity}"
            self._entity_ids[self._names[entity]] = entity

    def find(self, source: int, target: int, type: int) -> int | None:
        """The live edge between two nodes, if any; O(1)."""
        # numpy's integers hash and compare as Python's
        known = self._ids.get((source, target, type))
        return (
            known
            if known is not None or not self._table.size
            else self._restored(int(source), int(target), int(type))
        )

    def _restored(self, source: int, target: int, type: int) -> int | None:
        """The live edge among those that `_table` holds."""
        if not 0 <= type < TYPES:
            return None
        arrays = self._edges
        edge = _look_up(
            source,
            target,
            type,
            arrays["source"],
            arrays["target"],
            arrays["type"],
            arrays["alive"],
            self._table,
        )
        return edge if edge >= 0 else None

    def neighbours(self, node: int, type: EdgeType) -> NDArray[np.int32]:
        """Ids of the live out-edges of a node, oldest first: a view, valid until the next `add`
        or `remove`.  O(1).
        """
        if not -len(self._names) <= node < self.n_rows:
            return np.empty(0, np.int32)
        first = int(self._start[type, node])
        return read_only(self._pool[first : first + int(self._degree[type, node])])

    def csr(self, type: EdgeType) -> Adjacency:
        """Out-edges of one type for kernels, O(1): valid for covered rows and for entities, kept
        up to date in place until `epoch` changes.
        """
        return Adjacency(
            read_only(self._start[type]), read_only(self._degree[type]), read_only(self._pool)
        )

    def links(self, type: EdgeType) -> Links:
        """Targets of the out-edges of one type, next to one another, where target[pool[place]]
        of `csr` are not; O(1), valid as `csr` is.
        """
        return Links(
            read_only(self._start[type]), read_only(self._degree[type]), read_only(self._ends)
        )

    def fan(self, type: EdgeType) -> NDArray[np.int32]:
        """(nodes,) out-edges of one type: the degrees of `csr`; where only some rows are shown,
        those of the whole.  O(1), valid as `csr` is.
        """
        return read_only(self._degree[type])

    @property
    def blocks(
        self,
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
        """Start and degree (types, nodes), pool and ends of all types, for kernels that only
        read; O(1), valid as `csr` is.
        """
        return self._start, self._degree, self._pool, self._ends

    # --- arrays over edges ------------------------------------------------------------------------

    @property
    def source(self) -> NDArray[np.int32]:
        """(m,) nodes, read-only."""
        return read_only(self._edges["source"][: self.n_edges])

    @property
    def target(self) -> NDArray[np.int32]:
        """(m,) nodes, read-only."""
        return read_only(self._edges["target"][: self.n_edges])

    @property
    def type(self) -> NDArray[np.uint8]:
        """(m,) EdgeType, read-only."""
        return read_only(self._edges["type"][: self.n_edges])

    @property
    def alive(self) -> NDArray[np.bool_]:
        """(m,) False for tombstones, read-only."""
        return read_only(self._edges["alive"][: self.n_edges])

    @property
    def created(self) -> NDArray[np.float64]:
        """(m,) h, read-only."""
        return read_only(self._edges["created"][: self.n_edges])

    def allocate(
        self,
        name: str,
        dtype: DTypeLike,
        shape: tuple[int, ...],
        neutral: Any,
        *,
        saved: bool = True,
    ) -> None:
        """Declare a growable array of one value (shape ()) or block per edge; new edges start at
        `neutral`.  O(m).

        saved  whether `state` has it

        The same declaration again changes nothing; another one under the same name is a
        ContractError.
        """
        array = np.full((len(self._edges["alive"]), *shape), neutral, np.dtype(dtype))
        known = self._edges.get(name)
        if known is None:
            self._edges[name], self._neutral[name] = array, neutral
            self._unsaved |= set() if saved else {name}
            self.epoch += 1
            return
        # Neutral values are compared as bytes, so that NaN equals NaN.
        old = np.full((1, *known.shape[1:]), self._neutral[name], known.dtype)
        if (
            name in BUILT_IN
            or old.dtype != array.dtype
            or old.shape[1:] != tuple(shape)
            or old.tobytes() != array[:1].tobytes()
        ):
            raise ContractError(
                f"the edge column {name!r} is declared twice, differently",
                where="graph",
                cure="one owner declares a column, once",
            )

    def column(self, name: str) -> NDArray[Any]:
        """(m, *shape) view of an edge column.  Raises ContractError for one that there is not."""
        array = self._edges.get(name)
        if array is None:
            raise ContractError(
                f"there is no edge column {name!r}", where="graph", cure="allocate it first"
            )
        return array[: self.n_edges]

    # --- saving -----------------------------------------------------------------------------------

    def state(self) -> dict[str, NDArray[Any] | list[str]]:
        """All arrays and names of the graph, as copies; O(m).  Blocks are not saved: they follow
        from the live edges.
        """
        return {key: value.copy() for key, value in self.parts().items()}

    def parts(self, only: Collection[str] | None = None) -> dict[str, NDArray[Any] | list[str]]:
        """All arrays and names of the graph, without copies: valid until the next change.
        O(columns + relations).

        only  keys of arrays over edges: these, and what else may change, without the names of
              entities
        """
        if only is not None:
            return {
                "relations": list(self._relations),
                "n_rows": np.array(self.n_rows),
                **{key: self.column(key.removeprefix("column:")) for key in only},
            }
        names = [name for name in self._edges if name not in BUILT_IN and name not in self._unsaved]
        return {
            "entities": self._names, "relations": list(self._relations), "columns": names,
            "n_rows": np.array(self.n_rows),
            "caps": np.zeros(TYPES, np.int64),
            # a file names the most edges of each type; 0: any number
            **{name: self.column(name) for name in BUILT_IN},
            **{f"column:{name}": self.column(name) for name in names},
            **{f"neutral:{name}": np.array(self._neutral[name],
                                           self._edges[name].dtype) for name in names}}  # fmt: skip

    @classmethod
    def from_state(
        cls,
        state: Mapping[str, NDArray[Any] | Sequence[str]],
        roomy: Mapping[str, NDArray[Any]] | None = None,
    ) -> Graph:
        """The graph that continues exactly as the saved one would have; O(m + nodes).  Raises
        SnapshotError for an invalid state.

        roomy  arrays with spare room, by key; one of which the state has a view is not copied
        """
        try:
            caps = np.asarray(state["caps"])
            if len(caps) != TYPES:
                raise ValueError(f"it has {len(caps)} types of edges")
            if caps.any():
                raise ValueError("it limits how many edges a node has")
            graph = cls()
            graph._restore(state, roomy or {})
        except (KeyError, ValueError, TypeError, IndexError, InputError) as error:
            raise SnapshotError(
                f"the saved graph is invalid: {error}",
                where="graph",
                cure="restore the snapshot from a copy",
            ) from error
        return graph

    def roomy(self, name: str, m: int) -> NDArray[Any]:
        """A new array for m edges in a column, and room for more, which is at neutral."""
        old = self.column(name)
        return _spare((_room(m), *old.shape[1:]), old.dtype, self._neutral[name], m)

    def _restore(
        self, state: Mapping[str, NDArray[Any] | Sequence[str]], roomy: Mapping[str, NDArray[Any]]
    ) -> None:
        self._names = [str(name) for name in state["entities"]]
        self._entity_ids = {name: entity for entity, name in enumerate(self._names)}
        self._relations = {str(name): number for number, name in enumerate(state["relations"])}
        self._cover(self._rows, len(self._names))
        self.cover_rows(int(np.asarray(state["n_rows"])))
        m = len(np.asarray(state["alive"]))
        saved = {name: np.asarray(state[name]) for name in BUILT_IN} | {
            name: np.asarray(state[f"column:{name}"]) for name in state["columns"]
        }
        self._neutral |= {
            str(name): np.asarray(state[f"neutral:{name}"]) for name in state["columns"]
        }
        if any(len(array) != m for array in saved.values()) or len(self._entity_ids) != len(
            self._names
        ):
            raise ValueError("its arrays differ in length, or entities share a name")
        types = {name: dtype for name, (dtype, _) in BUILT_IN.items()}
        for name, array in saved.items():
            whole = roomy.get(name if name in BUILT_IN else f"column:{name}")
            self._edges[name] = (
                whole
                if whole is not None and array.base is whole
                else _longer(
                    array.astype(types.get(name, array.dtype), copy=False),
                    _room(m),
                    self._neutral[name],
                )
            )
        self.n_edges = m
        ends = np.concatenate([self.source, self.target])
        if m and (
            ends.min() < -len(self._names) or ends.max() >= self.n_rows or self.type.max() >= TYPES
        ):
            raise ValueError("an edge has an unknown node or type")
        arrays, live = self._edges, np.empty(m, np.int32)
        source, target, kinds, alive = (
            arrays[name][:m] for name in ("source", "target", "type", "alive")
        )
        self._used = _block_ends(source, kinds, alive, self._start, self._degree, self._room, live)
        live = live[: int(np.count_nonzero(alive))]
        self._pool, self._ends = (
            np.zeros(max(FIRST_EDGES, 2 * self._used), np.int32) for _ in range(2)
        )
        _fill_blocks(
            source,
            target,
            kinds,
            live,
            self._start,
            np.zeros_like(self._degree),
            self._pool,
            self._ends,
        )
        self._table = (
            np.full(1 << (2 * len(live)).bit_length(), -1, np.int32) if len(live) else self._table
        )
        if not _tabulate(source, target, kinds, live, self._table):
            raise ValueError("two live edges are the same")

    # --- growth -----------------------------------------------------------------------------------

    def _cover(self, rows: int, entities: int) -> None:
        if rows <= self._rows and entities <= self._entities:
            return
        new_rows = max(rows, 2 * self._rows) if rows > self._rows else self._rows
        new_entities = (
            max(entities, 2 * self._entities) if entities > self._entities else self._entities
        )
        grown = []
        for old in (self._start, self._degree, self._room):
            new = np.zeros((TYPES, new_rows + new_entities), old.dtype)
            new[:, : self._rows] = old[:, : self._rows]
            new[:, new_rows + new_entities - self._entities :] = old[:, self._rows :]
            grown.append(new)
        self._start, self._degree, self._room = grown
        self._rows, self._entities = new_rows, new_entities
        self.epoch += 1

    def _move(self, kind: int, node: int, room: int) -> None:
        """Move a block to the end of the pool, with this much room."""
        first, count = int(self._start[kind, node]), int(self._degree[kind, node])
        if self._used + room > len(self._pool):
            self._pool, self._ends = (
                _longer(array, 2 * (self._used + room), 0) for array in (self._pool, self._ends)
            )
            self.epoch += 1
        for array in (self._pool, self._ends):
            array[self._used : self._used + count] = array[first : first + count]
        self._start[kind, node], self._room[kind, node] = self._used, room
        self._used += room


def _longer(array: NDArray[Any], length: int, neutral: Any) -> NDArray[Any]:
    """A copy of the array with more rows, at neutral; zeros take memory only where they are
    written later.
    """
    new = _spare((length, *array.shape[1:]), array.dtype, neutral, len(array))
    # one row of zeros for all
    if not (
        array.strides[0] == 0 and is_zero(array[:1]) and is_zero(np.asarray(neutral, array.dtype))
    ):
        new[: len(array)] = array
    return new


def _spare(shape: tuple[int, ...], dtype: np.dtype[Any], neutral: Any, unset: int) -> NDArray[Any]:
    """A new array at neutral; if that is not zero, rows below `unset` have no values yet."""
    if is_zero(np.asarray(neutral, dtype)):
        return np.zeros(shape, dtype)
    new = np.empty(shape, dtype)
    new[unset:] = neutral
    return new


def _room(m: int) -> int:
    """Rows of an edge column that holds m edges."""
    return max(FIRST_EDGES, 1 << max(m - 1, 0).bit_length())
