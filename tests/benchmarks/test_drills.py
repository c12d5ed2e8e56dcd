"""Samples of the drills; docs/trust.md has the counts of whole ones."""
from __future__ import annotations

import os
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hebbarium.benchmarks.drills import flips as damage
from hebbarium.benchmarks.drills.__main__ import main
from hebbarium.benchmarks.drills.flips import flips
from hebbarium.benchmarks.drills.kills import kills
from hebbarium.benchmarks.drills.texts import texts
from hebbarium.benchmarks.drills.threads import threads
from hebbarium.engine.columns import Phase
from hebbarium.engine.drafts import Draft, Kind
from hebbarium.engine.loop import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.records import Event
from hebbarium.engine.registry import Registry
from hebbarium.engine.storage import snapshot_contents
from hebbarium.engine.vocabulary import DRAFTS, TEXTS
from hebbarium.testing.small import by_number, column, does, mechanism, memory

EVENTS = [Event(9.0 * i, f"Ada met Bo in Lisbon, number {i % 5}", f"p{i % 2}", f"s{i // 4}", f"e{i}") for i in range(12)]


def make(path: Path) -> Engine:
    """A memory with a summary a night, so that every table of the file holds something."""
    held = column("held")

    def draft(view: Any, tick: Any) -> None:
        view.held += 1.0
        view.drafts.add(Draft(f"summary of {len(view.held)}", Kind.SUMMARY, (len(view.held) - 1,)))

    return memory(mechanism("m", does(Phase.CONSOLIDATE, draft, reads=[TEXTS], adds=[DRAFTS], sets=[held]), owns=[held]), by_number(), path=path)


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> int:
    memory = make(path := tmp_path_factory.mktemp("kinds") / "m.db")
    memory.encode_all(EVENTS)
    memory.close()
    connection = sqlite3.connect(path)
    for table in ("events", "writings", "memories", "entities", "arrays", "blocks"):
        assert connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] > 0, table
    connection.close()
    return len(damage.damages(path.read_bytes()))


def test_damage_of_every_kind_is_refused_or_changes_nothing(tmp_path: Path, kinds: int) -> None:
    tally = flips(make, EVENTS, tmp_path, 6 * kinds, 7)
    assert tally.broken == [] and tally.total == 6 * kinds
    assert tally.of("refused") > tally.total // 2 and tally.of("unchanged") > 0, "spare room of pages holds nothing"
    for kind in ("blocks swapped", "rows swapped", "vectors swapped", "row lost", "block lost", "former block", "value changed"):
        assert tally.outcomes[kind, "refused"] + tally.outcomes[kind, "no change"] == 6, kind


def test_the_drill_sees_a_memory_that_loads_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the marks' check swapped contents load as another memory, and the drill says so."""
    for name in ("storage.snapshot_contents", "marks"):
        monkeypatch.setattr(f"hebbarium.engine.{name}.verify", lambda found, expected: None)
    monkeypatch.setattr("hebbarium.engine.storage.snapshot_contents.Format4.require_whole", lambda self: None)
    monkeypatch.setattr(damage, "damages", lambda former: {"vectors swapped": damage._by_sql(damage._swap_vectors, former)})
    tally = flips(make, EVENTS, tmp_path, 6, 7)
    assert tally.broken


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_killed_process_loses_no_finished_tick(tmp_path: Path) -> None:
    tally = kills(make, EVENTS, tmp_path, 25, 3)
    assert tally.broken == [] and tally.total == 25 and tally.outcomes["in a tick", "continued"] > 5


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_the_drill_sees_a_tick_that_was_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A memory that reports ticks which it has not saved."""
    monkeypatch.setattr("hebbarium.engine.storage.snapshot.Snapshot.save", lambda self, state="open", erased=None: None)
    assert kills(make, EVENTS, tmp_path, 12, 3).broken


def worded(path: Path) -> Engine:
    """A memory of texts of any kind."""
    registry = Registry.read()
    return Engine(registry.build(registry.set("hybrid")), HashingEmbedder(16), path=path)


def test_texts_of_any_characters_are_kept(tmp_path: Path) -> None:
    tally = texts(worded, EVENTS, tmp_path, 60, 2)
    assert tally.broken == [] and tally.of("kept") == 60 and {"control characters", "half surrogates"} <= {kind for kind, _ in tally.outcomes}


def test_the_drill_sees_a_text_that_was_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = snapshot_contents.Format4.events
    monkeypatch.setattr(snapshot_contents.Format4, "events", lambda self: ((replace(e, text=e.text.strip()), row) for e, row in read(self)))
    assert texts(worded, EVENTS, tmp_path, 60, 2).broken


def test_threads_share_an_embedder_and_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tally = threads(make, EVENTS, tmp_path, 40, 2)
    assert tally.broken == [] and tally.of("right") == 40
    monkeypatch.setattr("hebbarium.benchmarks.drills.threads.CachedEmbedder.embed", lambda self, some: np.zeros((len(some), 32), np.float32))
    (tmp_path / "other").mkdir()
    assert threads(make, EVENTS, tmp_path / "other", 4, 2).broken


def test_a_drill_runs_from_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["flips", "--count", "2", "--seed", "5", "--set", "bm25"]) == 0
    assert "2 faults; promised: refused" in capsys.readouterr().out
