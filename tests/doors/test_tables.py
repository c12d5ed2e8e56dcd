"""A memory as SQLite tables: what SQL reads there is what the memory holds."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import hebbarium as hb
from hebbarium.cli.app import app
from hebbarium.doors.tables import write_tables
from hebbarium.engine.base.errors import HebbariumError, InputError

TOLD = (
    ("Mia", "I live in Oslo.", {"recipient": "Bo", "category": "home"}),
    ("Mia", "I moved to Bergen, near the harbour.", {"modality": "speech"}),
    ("Bo", "My dentist is Doctor Krag.", {}),
    ("Bo", "I work as a carpenter.", {}),
)


@pytest.fixture(scope="module")
def memory() -> Iterator[hb.Engine]:
    with hb.memory("true_memory", embedding="hashing:64") as engine:
        for hour, (speaker, text, attributes) in enumerate(TOLD):
            engine.encode(
                hb.Event(float(hour), text, speaker, "s", f"e{hour}", attributes=attributes)
            )
        engine.advance(48.0)
        yield engine


@pytest.fixture
def database(memory: hb.Engine, tmp_path: Path) -> Iterator[sqlite3.Connection]:
    counts = write_tables(memory, tmp_path / "tables.sqlite")
    assert counts["messages"] == len(TOLD)
    with closing(sqlite3.connect(tmp_path / "tables.sqlite")) as connection:
        yield connection


def test_messages_are_the_events(database: sqlite3.Connection) -> None:
    rows = database.execute(
        "SELECT sender, text, recipient, category, modality FROM messages ORDER BY row"
    ).fetchall()
    names = ("recipient", "category", "modality")
    assert rows == [(s, t, *(attributes.get(name) for name in names)) for s, t, attributes in TOLD]


def test_profiles_surprise_and_facts_can_be_asked(
    memory: hb.Engine, database: sqlite3.Connection
) -> None:
    profiles = dict(database.execute("SELECT entity, profile FROM entity_profiles"))
    assert "carpenter" in profiles["Bo"] and "bergen" in profiles["Mia"].lower()
    surprise = [v for (v,) in database.execute("SELECT surprise FROM surprise_scores ORDER BY row")]
    np.testing.assert_allclose(surprise, memory.column("news")[: len(TOLD)])
    facts = database.execute(
        "SELECT fact, superseded_by FROM fact_timeline WHERE row = 0"
    ).fetchall()
    assert [row for _, row in facts] == [1] and "oslo" in facts[0][0].lower()


def test_state_and_vectors_are_the_columns(memory: hb.Engine, database: sqlite3.Connection) -> None:
    stored = [v for (v,) in database.execute("SELECT news FROM state ORDER BY row")]
    np.testing.assert_array_equal(stored, memory.column("news"))
    name, kind, data = database.execute(
        "SELECT name, type, bytes FROM vectors WHERE name = 'embedding' AND row = 2"
    ).fetchone()
    np.testing.assert_array_equal(np.frombuffer(data, kind), memory.column(name)[2])
    (edges,) = database.execute("SELECT count(*) FROM edges").fetchone()
    assert edges == np.count_nonzero(memory.graph.alive) > 0
    described = {n for (n,) in database.execute("SELECT name FROM columns")}
    assert {"news", "embedding", "superseded_by"} <= described


def test_a_memory_without_profiles_has_no_such_view(tmp_path: Path) -> None:
    with hb.memory("bm25", embedding="hashing:16") as engine:
        engine.encode(hb.Event(0.0, "A lamp."))
        counts = write_tables(engine, tmp_path / "plain.sqlite")
    assert "entity_profiles" not in counts and counts["messages"] == 1


def test_erased_texts_are_not_exported(tmp_path: Path) -> None:
    with hb.memory("true_memory", embedding="hashing:16") as engine:
        engine.encode(hb.Event(0.0, "I live in Oslo.", "Mia", id="a"))
        engine.advance(30.0)
        engine.erase("a", confirm=True)
        write_tables(engine, tmp_path / "erased.sqlite")
    assert b"Oslo" not in (tmp_path / "erased.sqlite").read_bytes()


def test_nothing_is_written_over_and_nothing_half_is_left(
    memory: hb.Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = tmp_path / "there.sqlite"
    there.write_text("mine")
    with pytest.raises(InputError, match="something is there"):
        write_tables(memory, there)
    assert there.read_text() == "mine"
    from hebbarium.doors import tables

    def fails(*given: object) -> None:
        raise sqlite3.OperationalError("disk is full")

    monkeypatch.setattr(tables, "_edges", fails)
    with pytest.raises(HebbariumError, match="disk is full"):
        write_tables(memory, tmp_path / "half.sqlite")
    assert not (tmp_path / "half.sqlite").exists()


def test_the_command_writes_them(tmp_path: Path) -> None:
    file, to = tmp_path / "m.db", tmp_path / "t.sqlite"
    run = CliRunner().invoke
    memory = ["memory", str(file)]
    assert run(app, [*memory, "new", "--set", "bm25", "--embedder", "hashing:16"]).exit_code == 0
    assert run(app, [*memory, "tell", "A green lamp."]).exit_code == 0
    result = run(app, [*memory, "tables", "--to", str(to)])
    assert result.exit_code == 0 and "messages: 1" in result.output
