"""A memory as an SQLite file of plain tables, which any SQLite tool reads.

The file of a memory itself holds columns as blocks of bytes.  This export has one row for each
memory, writing and edge, and views under the names of True Memory's schema (truememory2026, 5.1)
where the memory keeps what they show.  It is a copy: nothing reads it back.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final

import numpy as np

from ..engine.base.errors import HebbariumError
from ..engine.base.private import private_file
from ..engine.base.times import written
from ..engine.contract.columns import Scope
from ..engine.contract.drafts import Kind
from ..engine.contract.vocabulary import VISIBLE, WRITINGS
from ..engine.memory.engine import Engine
from ..engine.state.graph import EdgeType
from .files import free_place

SCHEMA: Final = """
CREATE TABLE memories (row INTEGER PRIMARY KEY, id TEXT, kind TEXT NOT NULL, time REAL NOT NULL, moment TEXT NOT NULL, speaker TEXT NOT NULL,
    session TEXT NOT NULL, visible INTEGER NOT NULL, text TEXT NOT NULL);
CREATE TABLE attributes (row INTEGER NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL);
CREATE TABLE sources (row INTEGER NOT NULL, id TEXT NOT NULL);
CREATE TABLE writings (number INTEGER PRIMARY KEY, kind TEXT NOT NULL, maker TEXT NOT NULL, time REAL NOT NULL, text TEXT NOT NULL);
CREATE TABLE writing_sources (writing INTEGER NOT NULL, row INTEGER NOT NULL);
CREATE TABLE edges (edge INTEGER PRIMARY KEY, source INTEGER NOT NULL, target INTEGER NOT NULL, type TEXT NOT NULL, created REAL NOT NULL);
CREATE TABLE columns (name TEXT PRIMARY KEY, scope TEXT NOT NULL, unit TEXT NOT NULL, doc TEXT NOT NULL);
CREATE TABLE vectors (row INTEGER NOT NULL, name TEXT NOT NULL, type TEXT NOT NULL, bytes BLOB NOT NULL);
CREATE TABLE global_values (name TEXT PRIMARY KEY, value REAL);
CREATE VIEW messages AS SELECT row, id, time, moment, speaker AS sender, session,
    (SELECT value FROM attributes a WHERE a.row = m.row AND a.name = 'recipient') AS recipient,
    (SELECT value FROM attributes a WHERE a.row = m.row AND a.name = 'category') AS category,
    (SELECT value FROM attributes a WHERE a.row = m.row AND a.name = 'modality') AS modality, text
    FROM memories m WHERE kind = 'event';
CREATE VIEW summaries AS SELECT row, time, text FROM memories WHERE kind = 'summary';
"""
# View -> (columns of memories that it needs, its SQL)
VIEWS: Final[Mapping[str, tuple[tuple[str, ...], str]]] = {
    "entity_profiles": (
        ("profile",),
        "SELECT w.number, m.speaker AS entity, w.time AS updated, w.text AS profile FROM state s "
        "JOIN memories m ON m.row = s.row JOIN writings w ON w.number = s.profile WHERE s.profile >= 0",
    ),
    "surprise_scores": (("news",), "SELECT row, news AS surprise FROM state WHERE news > 0"),
    "fact_timeline": (
        ("superseded_by",),
        "SELECT w.number, w.kind, w.text AS fact, ws.row, m.time, m.speaker, NULLIF(s.superseded_by, -1) AS superseded_by "
        "FROM writings w JOIN writing_sources ws ON ws.writing = w.number JOIN memories m ON m.row = ws.row "
        "JOIN state s ON s.row = ws.row WHERE w.kind IN ('fact', 'life event') ORDER BY m.time",
    ),
    "event_clusters": (
        ("fact_cluster",),
        "SELECT fact_cluster AS leader, row FROM state WHERE fact_cluster >= 0",
    ),
    "contradictions": (
        (),
        "SELECT source AS row, target AS other FROM edges WHERE type = 'CONFLICT'",
    ),
    "relationships": ((), "SELECT source, target, created FROM edges WHERE type = 'RELATION'"),
}


def write_tables(memory: Engine, file: Path) -> dict[str, int]:
    """Write the tables of a memory into a new file; rows of each table and view by name.

    Times are hours since 1970 (`time`) and as text (`moment`).  A column of memories with one
    number a row is a column of the table `state`, one with several a row of `vectors`, whose bytes
    are little-endian numbers of `type`.  Erased texts are empty, as in the memory.  O(rows + edges +
    writings).  Raises InputError for a path where something stands, HebbariumError for a file that
    cannot be written.
    """
    free_place(file)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        private_file(file)
        with closing(sqlite3.connect(file)) as database, database:
            database.executescript(SCHEMA)
            _memories(memory, database)
            numbers = _state(memory, database)
            _writings(memory, database)
            _edges(memory, database)
            for name, (columns, query) in VIEWS.items():
                if numbers.issuperset(columns):
                    database.execute(f"CREATE VIEW {name} AS {query}")
            named = [
                name
                for (name,) in database.execute(
                    "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name"
                )
            ]
            return {
                name: database.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]
                for name in named
            }
    except BaseException as error:
        with suppress(OSError):
            file.unlink(missing_ok=True)
        if not isinstance(error, OSError | sqlite3.Error):
            raise
        raise HebbariumError(
            f"the tables cannot be written ({error})",
            where=str(file),
            cure="give a path in a folder where you may write, with space on its disk",
        ) from error


def _memories(memory: Engine, database: sqlite3.Connection) -> None:
    visible = memory.column(VISIBLE)
    for row in range(memory.store.n):
        unit = memory.unit(row)
        database.execute(
            "INSERT INTO memories VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (row, unit.id or None, unit.kind.name.lower(), unit.time, written(unit.time),
             unit.speaker, unit.session, int(visible[row]), unit.text),
        )  # fmt: skip
        database.executemany(
            "INSERT INTO sources VALUES (?, ?)", [(row, source) for source in unit.sources]
        )
        if unit.kind is Kind.EVENT:
            database.executemany(
                "INSERT INTO attributes VALUES (?, ?, ?)",
                [(row, name, str(v)) for name, v in memory.event(row).attributes],
            )


def _state(memory: Engine, database: sqlite3.Connection) -> set[str]:
    """Columns of memories and of the whole memory; the names of those with one number a row."""
    single: dict[str, Any] = {}
    for column in sorted(memory.store.columns, key=lambda c: c.name):
        if not column.scope.persists:
            continue
        database.execute(
            "INSERT INTO columns VALUES (?, ?, ?, ?)",
            (column.name, column.scope.value, column.unit, column.meaning),
        )
        values = memory.column(column)
        if column.scope is Scope.GLOBAL and values.ndim == 0:
            database.execute(
                "INSERT INTO global_values VALUES (?, ?)", (column.name, _number(values))
            )
        elif column.scope is Scope.MEMORY and values.ndim == 1:
            single[column.name] = values
        elif column.scope is Scope.MEMORY:
            ordered = np.ascontiguousarray(values).astype(values.dtype.newbyteorder("<"))
            database.executemany(
                "INSERT INTO vectors VALUES (?, ?, ?, ?)",
                [(row, column.name, values.dtype.name, vector.tobytes())
                 for row, vector in enumerate(ordered) if vector.any()],
            )  # fmt: skip
    names = "".join(f', "{name}"' for name in single)
    database.execute(f"CREATE TABLE state (row INTEGER PRIMARY KEY{names})")
    marks = ", ".join("?" * (1 + len(single)))
    database.executemany(
        f"INSERT INTO state VALUES ({marks})",
        ((row, *(_number(v[row]) for v in single.values())) for row in range(memory.store.n)),
    )
    return set(single)


def _number(value: Any) -> int | float | None:
    """A number as SQLite keeps it; NULL for NaN."""
    plain = value.item()
    return None if plain != plain else int(plain) if isinstance(plain, bool) else plain


def _writings(memory: Engine, database: sqlite3.Connection) -> None:
    if WRITINGS not in memory.store.structures:
        return
    for number, writing in enumerate(memory.store.structures[WRITINGS]):
        database.execute(
            "INSERT INTO writings VALUES (?, ?, ?, ?, ?)",
            (number, writing.kind, writing.maker, writing.time, writing.text),
        )
        database.executemany(
            "INSERT INTO writing_sources VALUES (?, ?)",
            [(number, row) for row in dict.fromkeys(writing.sources)],
        )


def _edges(memory: Engine, database: sqlite3.Connection) -> None:
    graph = memory.graph
    alive: Iterable[int] = np.flatnonzero(graph.alive).tolist()
    database.executemany(
        "INSERT INTO edges VALUES (?, ?, ?, ?, ?)",
        [
            (
                edge,
                int(graph.source[edge]),
                int(graph.target[edge]),
                EdgeType(int(graph.type[edge])).name,
                float(graph.created[edge]),
            )
            for edge in alive
        ],
    )
