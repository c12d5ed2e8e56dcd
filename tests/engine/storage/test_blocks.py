"""Blocks of columns in a snapshot: narrow for wide rows, of any size in a file, and read some
rows of a table at a time.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiers import EVERYDAY_SETS, slow_unless

from hebbarium.engine.base.errors import ContractError, SnapshotError
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.columns import Column, Phase, Scope, Upkeep
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import ROW
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.saving import block_writer, snapshot
from hebbarium.engine.saving import contents as snapshot_contents
from hebbarium.engine.saving.erasures import NotedErasure
from hebbarium.testing.small import by_number, column, does, mechanism, memory

WIDTH = 384  # of a cell of 4 bytes: 8 rows are 12,288 bytes, 16 are more than a block may hold
ROWS = 20


def made(path: Path | None = None) -> Engine:
    """A memory with a wide column; each event sets its own row, and the tenth one row 1, too."""
    wide = column("wide", shape=(WIDTH,), dtype=np.float32, upkeep=Upkeep(anywhere=True))
    level = column("level")

    def dress(view: Any, incoming: Any) -> None:
        view.wide[view.row], view.level[view.row] = view.row, view.row
        if view.row == 9:
            view.wide[1] = 0.5

    return memory(
        by_number(),
        mechanism(
            "m",
            does(Phase.ENCODE, dress, reads=[ROW], sets=[wide, level]),
            owns=[wide, level],
            order=1,
        ),
        path=path,
    )


def live(e: Engine, first: int, last: int) -> Engine:
    for i in range(first, last):
        e.encode(Event(3.0 * i, f"Ada met Bo in Lisbon, number {i}", "Ada", "s", f"e{i}"))
        e.advance(e.now)
    return e


def blocks(path: Path, name: str) -> list[tuple[int, int, int]]:
    """Number, bytes and generation of each block of an array."""
    connection = sqlite3.connect(path)
    found = connection.execute(
        "SELECT number, length(data), generation FROM blocks WHERE name = ? ORDER BY number",
        (f"column.{name}",),
    ).fetchall()
    connection.close()
    return found


def test_a_row_that_changes_costs_a_block_of_few_wide_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, cell = tmp_path / "m.db", 4 * WIDTH
    monkeypatch.setattr(block_writer, "ROOM", -1)
    live(made(path), 0, ROWS).close()
    found = blocks(path, "wide")
    assert [size for _, size, _ in found] == [8 * cell, 8 * cell] and not blocks(path, "level"), (
        "the last four rows have no block of their own"
    )
    assert found[1][2] - found[0][2] == 2 * 6, (
        "two saves for each event: the first block was last written with row 9, the other with row 15"
    )


def test_what_is_written_some_at_a_time_is_what_is_written_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also after a save of many events, of changed blocks beside new ones, and after an erasure,
    which writes all rows anew.
    """

    def content(path: Path) -> dict[str, list[Any]]:
        connection = sqlite3.connect(path)
        tables = [
            name
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        found = {
            table: connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall()
            for table in tables
        }
        connection.close()
        return found

    monkeypatch.setattr(NotedErasure, "now", lambda erased: NotedErasure("then", 1, (), 0))
    files = []
    for number, (batch, together) in enumerate(((block_writer.BATCH, snapshot.TOGETHER), (1, 3))):
        monkeypatch.setattr(block_writer, "BATCH", batch)
        monkeypatch.setattr(snapshot, "TOGETHER", together)
        files.append(tmp_path / f"{number}.db")
        e = live(made(files[-1]), 0, ROWS)
        e.encode_all(
            [
                Event(100.0 + i, f"Cy sails to Ulm, number {i}", "Cy", "t", f"f{i}")
                for i in range(ROWS)
            ]
        )
        e.erase("e2", confirm=True)
        e.close()
    one, other = map(content, files)
    assert one == other and len(one["memories"]) == 2 * ROWS and len(one["blocks"]) > 9
    assert made(files[1]).digest() == made(files[0]).digest()


def test_a_column_that_maintenance_changes_has_larger_blocks(tmp_path: Path) -> None:
    """Of at most twice the bytes of others."""
    path, age, spread = tmp_path / "m.db", column("age"), column("spread", shape=(1024,))

    def grow(view: Any, tick: Any) -> None:
        view.age[...], view.spread[...] = tick.end, tick.end

    live(
        memory(
            by_number(),
            mechanism(
                "m", does(Phase.MAINTAIN, grow, sets=[age, spread]), owns=[age, spread], order=1
            ),
            path=path,
        ),
        0,
        12,
    ).close()
    connection = sqlite3.connect(path)
    found = dict(
        connection.execute(
            "SELECT name, rows FROM arrays WHERE name IN ('column.age', 'column.spread', 'column.created')"
        )
    )
    connection.close()
    assert found == {
        "column.created": snapshot.BLOCK,
        "column.age": snapshot.LARGE,
        "column.spread": snapshot.LEAST,
    }


@pytest.mark.parametrize(
    ("then", "now"), [(2**40, snapshot.HALVED), (snapshot.HALVED, 2**40), (1, 2**40), (2**40, 1)]
)
def test_a_file_with_blocks_of_another_size_continues_and_gets_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, then: int, now: int
) -> None:
    """The file says how many rows a block has, so that this can be changed."""
    path, whole = tmp_path / "m.db", made()
    with monkeypatch.context() as patch:
        patch.setattr(snapshot, "HALVED", then)
        live(made(path), 0, ROWS).close()
    live(whole, 0, ROWS)
    before = len(blocks(path, "wide"))
    monkeypatch.setattr(snapshot, "HALVED", now)
    e = made(path)
    assert e.digest() == whole.digest()
    live(e, ROWS, ROWS + 3).close()
    again = made(path)
    assert again.digest() == live(whole, ROWS, ROWS + 3).digest()
    again.close()
    after = len(blocks(path, "wide"))
    assert (before, after) == (
        ROWS // (512 if then == 2**40 else 8),
        (ROWS + 3) // (512 if now == 2**40 else 8),
    )


@pytest.mark.slow
@pytest.mark.parametrize("chunk", [1, 7, 1024])
def test_tables_are_read_some_rows_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    """Also where a table ends with a chunk; a mark of any row in the wrong place is noticed."""
    path, whole = tmp_path / "m.db", live(made(), 0, 21)
    live(made(path), 0, 21).close()
    monkeypatch.setattr(snapshot_contents, "CHUNK", chunk)
    e = made(path)
    assert e.digest() == whole.digest() and e.events == whole.events
    e.close()
    for table in ("events", "memories", "entities"):
        for change in (
            "UPDATE {0} SET mark = (SELECT mark FROM {0} WHERE number = 0) WHERE number = {1}",
            "DELETE FROM {0} WHERE number = {1}",
            "UPDATE {0} SET number = number + 1 WHERE number = {1}",
        ):
            broken = tmp_path / "broken.db"
            broken.write_bytes(path.read_bytes())
            with sqlite3.connect(broken) as connection:
                (last,) = connection.execute(f"SELECT max(number) FROM {table}").fetchone()
                assert last and connection.execute(change.format(table, last)).rowcount == 1
            connection.close()
            with pytest.raises(SnapshotError, match="is damaged"):
                made(broken)


def test_a_block_of_one_repeated_row_is_stored_as_that_row(tmp_path: Path) -> None:
    """Blocks that are all zero, or all another value, or not, beside each other; then a row of
    one changes.
    """
    path, e = tmp_path / "m.db", made(tmp_path / "m.db")
    live(e, 0, ROWS)
    wide = e.store.array(next(c for c in e.store.columns if c.name == "wide"))
    wide[:8], wide[8:16], wide[16:] = 0.0, -0.0, 2.5
    wide[17, 3] = 3.0
    before = e.digest()
    e.close()
    cell = 4 * WIDTH
    assert [size for _, size, _ in blocks(path, "wide")] == [cell, cell]
    e = made(path)
    assert e.digest() == before
    e.store.array(next(c for c in e.store.columns if c.name == "wide"))[9, 0] = 1.0
    before = e.digest()
    e.close()
    assert [size for _, size, _ in blocks(path, "wide")] == [cell, 8 * cell]
    again = made(path)
    assert again.digest() == before
    again.close()


def changing_an_earlier_row(path: Path, anywhere: bool, told: Sequence[int] = ()) -> Engine:
    """A memory whose mechanism also changes row 1 at the tenth event, with and without a
    declaration that it may change any row; `told` are the rows that it names.
    """
    wide = column("wide", shape=(WIDTH,), dtype=np.float32, upkeep=Upkeep(anywhere=anywhere))

    def dress(view: Any, incoming: Any) -> None:
        view.wide[view.row] = view.row
        if view.row == 9:
            view.wide[1] = 0.5
            view.wrote(wide, told)

    return memory(
        by_number(),
        mechanism("m", does(Phase.ENCODE, dress, reads=[ROW], sets=[wide]), owns=[wide], order=1),
        path=path,
    )


@pytest.mark.parametrize(
    ("anywhere", "told", "missed"),
    [
        (True, (), False),
        (False, (), True),
        (False, (1,), False),
        (False, (7, 1, 1, 9), False),
        (False, (8, 9), True),
    ],
)
def test_an_earlier_row_that_is_not_named_is_seen_and_closing_repairs_the_file(
    tmp_path: Path, anywhere: bool, told: Sequence[int], missed: bool
) -> None:
    e = live(changing_an_earlier_row(tmp_path / "m.db", anywhere, told), 0, ROWS)
    assert (
        e.changes.snapshot is not None and e.changes.snapshot.unsaved() == ["column.wide"] * missed
    )
    before = e.digest()
    e.close()
    again = changing_an_earlier_row(tmp_path / "m.db", anywhere)
    assert again.digest() == before
    again.close()


def test_cells_of_edges_that_a_hook_names_are_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where neither the graph nor another column has changed; those of a column that may
    change anywhere, without a name.
    """
    monkeypatch.setattr(snapshot, "EDGES", 8)
    for told, anywhere in ((True, False), (False, False), (False, True)):
        weight = column("weight", Scope.EDGE, upkeep=Upkeep(anywhere=anywhere))

        def weigh(view: Any, incoming: Any, told: bool = told, weight: Column = weight) -> None:
            if view.row >= 10:
                view.weight[6] += 1.0
                if told:
                    view.wrote(weight, 6)

        e = memory(
            by_number(),
            mechanism(
                "m", does(Phase.ENCODE, weigh, reads=[ROW], sets=[weight]), owns=[weight], order=1
            ),
            path=tmp_path / f"{told}_{anywhere}.db",
        )
        for i in range(12):
            e.encode(Event(float(i), f"Ada met Bo, number {i}" if i < 10 else f"none, number {i}"))
            e.advance(e.now)
            assert e.changes.snapshot is not None and e.changes.snapshot.unsaved() == (
                ["graph.column:weight"] if i >= 10 and not (told or anywhere) else []
            )
        assert e.store.graph.n_edges > 8
        e.close()


def test_a_hook_names_cells_of_columns_that_it_writes_alone(tmp_path: Path) -> None:
    other = column("other")

    def dress(view: Any, incoming: Any) -> None:
        view.wrote(other, 0)

    e = memory(
        by_number(),
        mechanism(
            "m", does(Phase.ENCODE, dress, reads=[ROW, other], sets=[]), owns=[other], order=1
        ),
    )
    with pytest.raises(ContractError, match="'other' is not written"):
        e.encode(Event(0.0, "number 1"))
    with pytest.raises(ContractError, match="no attribute name free in a view"):
        column("wrote")


@pytest.mark.parametrize(
    "numbers", [np.array([True, False]), -1, 1, [0.0], None, 10**400, [[0, 7]]], ids=str
)
def test_cells_are_named_by_numbers_of_rows(numbers: Any) -> None:
    """The event that names them is row 0; a mask would name rows 0 and 1."""
    own = column("own_cells")

    def dress(view: Any, incoming: Any) -> None:
        view.wrote(own, numbers)

    e = memory(
        by_number(),
        mechanism("m", does(Phase.ENCODE, dress, reads=[ROW], sets=[own]), owns=[own], order=1),
    )
    with pytest.raises(ContractError, match="cells of 'own_cells' are named by"):
        e.encode(Event(0.0, "number 1"))


@pytest.mark.parametrize("chosen", slow_unless(EVERYDAY_SETS, Registry.read().sets))
def test_a_saved_tick_leaves_no_array_unsaved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chosen: str
) -> None:
    """Mechanisms change no other cells of earlier rows in ENCODE than they say;
    recall, nights and repeated texts are among it, and working memory holds several events of a
    session.

    Blocks are small, for the last rows and edges, too few for a block, are always compared.
    """
    for name in ("BLOCK", "EDGES", "LARGE"):
        monkeypatch.setattr(snapshot, name, 8)
    registry = Registry.read()
    e = Engine(
        registry.build(registry.set(chosen)),
        HashingEmbedder(32),
        path=tmp_path / "m.db",
        tick_hours=0.0,
    )
    rng, syllables = (
        np.random.default_rng(18),
        ("ban", "cor", "del", "fan", "gil", "hut", "jam", "kep"),
    )
    # news, for the gates
    words = [" ".join("".join(rng.choice(syllables, 3)) for _ in range(8)) for _ in range(40)]
    texts = (
        "Please answer {} in short words from now on.",
        "Ada met Bo in Lisbon on 3 May 2023, with {}.",
        "Ada met Bo in Lisbon on 3 May 2023.",
        "Bo moved to Oslo last week with his {}.",
        "It was the cat of Cleo, not of Bo, {}.",
    )
    for i in range(40):
        time = max(15.0 * (i // 5) + 0.02 * (i % 5), e.now)  # `now` of an empty memory is NaN
        # the last ones repeat what rows of whole blocks say
        said, more = (i, "") if i < 30 else (i - 27, " yes")
        e.encode(
            Event(
                time,
                texts[said % 5].format(words[said]) + more,
                ("Ada", "Bo")[said % 2],
                f"s{i // 5}",
                f"e{i}",
            )
        )
        e.advance(e.now)
        assert e.changes.snapshot is not None and e.changes.snapshot.unsaved() == []
        if i % 4 == 3:
            e.retrieve("Where did Ada meet Bo?", learn=True)
            e.advance(e.now + 0.01)
            assert e.changes.snapshot.unsaved() == []
    assert e.store.n > 8 and e.store.graph.n_edges > 8
    e.close()
