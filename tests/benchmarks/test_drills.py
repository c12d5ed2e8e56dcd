"""Samples of the drills; docs/guides/trust.md has the counts of whole ones."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from threading import current_thread, main_thread
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from joblib import Parallel
from scripts import script

from hebbarium.benchmarks.datasets import Dataset
from hebbarium.benchmarks.datasets.demo import load_demo
from hebbarium.benchmarks.drills import flips as damage
from hebbarium.benchmarks.drills import readers as readers_drill
from hebbarium.benchmarks.drills.__main__ import DRILLS, caught, main
from hebbarium.benchmarks.drills.__main__ import run as run_drill
from hebbarium.benchmarks.drills.cache import cache
from hebbarium.benchmarks.drills.calls import calls
from hebbarium.benchmarks.drills.flips import flips
from hebbarium.benchmarks.drills.fork import fork
from hebbarium.benchmarks.drills.kills import kills
from hebbarium.benchmarks.drills.mutants import MUTANTS, DrillMutant
from hebbarium.benchmarks.drills.nights import making, nights
from hebbarium.benchmarks.drills.orphans import orphans
from hebbarium.benchmarks.drills.packages import BROKEN, packages
from hebbarium.benchmarks.drills.readers import readers
from hebbarium.benchmarks.drills.sweeps import small, sweep, sweeps
from hebbarium.benchmarks.drills.tally import Tally
from hebbarium.benchmarks.drills.texts import texts
from hebbarium.benchmarks.drills.threads import threads
from hebbarium.benchmarks.drills.users import INFERENCE, ORDER, OTHERS, OWN, SAME, _inferred, users
from hebbarium.benchmarks.drills.writes import writes
from hebbarium.benchmarks.execution.plan import RunPlan
from hebbarium.engine.base.errors import SnapshotError
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.columns import Phase
from hebbarium.engine.contract.drafts import Draft, Kind
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import DRAFTS, KIND, TEXTS, VISIBLE
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.saving.call_log import CallLog
from hebbarium.mechanisms.consolidation.topology_consolidation import TOPOLOGY_RUNS
from hebbarium.reporting.provenance import commit
from hebbarium.testing.small import by_number, column, does, mechanism, memory

needs_proc = pytest.mark.skipif(
    sys.platform != "linux", reason="the drill reads which processes live from /proc"
)
EVENTS = [
    Event(9.0 * i, f"Ada met Bo in Lisbon, number {i % 5}", f"p{i % 2}", f"s{i // 4}", f"e{i}")
    for i in range(12)
]


def make(path: Path, durable: bool = True) -> Engine:
    """A memory with a summary a night, so that every table of the file holds something."""
    held = column("held")

    def draft(view: Any, tick: Any) -> None:
        view.held += 1.0
        view.drafts.add(Draft(f"summary of {len(view.held)}", Kind.SUMMARY, (len(view.held) - 1,)))

    return memory(
        mechanism(
            "m",
            does(Phase.CONSOLIDATE, draft, reads=[TEXTS], adds=[DRAFTS], sets=[held]),
            owns=[held],
        ),
        by_number(),
        path=path,
        durable=durable,
    )


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


@pytest.mark.slow
def test_damage_of_every_kind_is_refused_or_changes_nothing(tmp_path: Path, kinds: int) -> None:
    tally = flips(make, EVENTS, tmp_path, 6 * kinds, 7)
    assert tally.broken == [] and tally.total == 6 * kinds
    assert tally.of("refused") > tally.total // 2 and tally.of("unchanged") > 0, (
        "spare room of pages holds nothing"
    )
    for kind in (
        "blocks swapped",
        "rows swapped",
        "vectors swapped",
        "row lost",
        "block lost",
        "former block",
        "value changed",
    ):
        assert tally.outcomes[kind, "refused"] + tally.outcomes[kind, "no change"] == 6, kind


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_killed_process_loses_no_finished_tick(tmp_path: Path) -> None:
    tally = kills(partial(make, durable=False), EVENTS, tmp_path, 25, 3)
    assert tally.broken == [] and tally.total == 25 and tally.outcomes["in a tick", "continued"] > 5


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_killed_process_loses_no_call_that_returned(tmp_path: Path) -> None:
    tally = calls(make, EVENTS, tmp_path, 20, 5)
    assert (
        tally.broken == [] and tally.total == 20 and tally.outcomes["while it opens", "kept"] < 15
    )


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.parametrize("fault", ["conclude", "begin"])
def test_the_drill_sees_calls_that_were_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    """A log whose calls never count in the file, and one that is not begun anew after a save, so
    that calls would be repeated twice.
    """
    if fault == "conclude":
        monkeypatch.setattr(
            CallLog, "conclude", lambda self, reached: setattr(self, "reached", reached)
        )
    else:
        begin = CallLog.begin
        monkeypatch.setattr(
            CallLog,
            "begin",
            lambda self, to, generation, anew: (
                begin(self, to, generation, anew)
                if self.reached is None
                else self.reached._replace(generation=generation)
            ),
        )
        monkeypatch.setattr("hebbarium.engine.saving.call_log.verify", lambda found, expected: None)
    assert calls(make, EVENTS, tmp_path, 12, 5).broken


PUMP = "The old pump in our garden drips again since the frost.  It stands behind the shed.  "
VIOLIN = "My sister plays the violin with the town orchestra every second Sunday.  Her teacher is from Lisbon."
NIGHTS = [Event(24.0 * (i // 3) + i % 3, text, "Ada", f"s{i // 3}", f"e{i}") for i,
          text in enumerate((
    "Our kettle stands behind the green shelf.", "I live in Rome.", "Somebody saw a heron.",
    "Once more: our kettle stands behind the green shelf.",
    "I moved to Oslo.", PUMP, "Our kettle stands behind the green shelf.", VIOLIN, "I like plums.",
    f"{PUMP}{VIOLIN}", "I moved to Turku.",
    "I like figs.", "A letter came.", "Nobody read it."))]  # fmt: skip


def test_the_nights_of_the_drill_make_and_hide_memories(tmp_path: Path) -> None:
    memory = making()(tmp_path / "m.db")
    memory.encode_all(NIGHTS)
    memory.advance(200.0)
    assert (
        {Kind.BUNDLE, Kind.EVENT} <= set(memory.column(KIND).tolist())
        and not memory.column(VISIBLE).all()
        and len(memory.event_log.writings) > 20
    )


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_process_killed_in_a_consolidation_leaves_no_half_of_it(tmp_path: Path) -> None:
    tally = nights(making(), NIGHTS, tmp_path, 6, 3)
    assert (
        tally.broken == []
        and tally.total >= 6
        and tally.outcomes["in a consolidation", "continued"] == 6
    )


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_the_drill_sees_half_of_a_consolidation(tmp_path: Path) -> None:
    """A memory that saves before a consolidation has ended."""

    def hasty(path: Path) -> Engine:
        memory = making()(path)
        assert memory.changes.snapshot is not None
        run, save = memory.assembly.run[Phase.CONSOLIDATE], memory.changes.snapshot.save

        def consolidate(tick: Any) -> None:
            memory.store.array(TOPOLOGY_RUNS)[()] += 100
            save()
            memory.store.array(TOPOLOGY_RUNS)[()] -= 100
            run(tick)

        memory.assembly.run[Phase.CONSOLIDATE] = consolidate
        return memory

    assert (
        "in a consolidation: the file holds what was never saved"
        in nights(hasty, NIGHTS, tmp_path, 4, 3).broken
    )


def worded(path: Path) -> Engine:
    """A memory of texts of any kind."""
    registry = Registry.read()
    return Engine(registry.build(registry.set("hybrid")), HashingEmbedder(16), path=path)


def test_texts_of_any_characters_are_kept(tmp_path: Path) -> None:
    tally = texts(worded, EVENTS, tmp_path, 60, 2)
    assert (
        tally.broken == []
        and tally.of("kept") == 60
        and {"control characters", "half surrogates"} <= {kind for kind, _ in tally.outcomes}
    )


def test_threads_share_an_embedder_and_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tally = threads(make, EVENTS, tmp_path, 40, 2)
    assert tally.broken == [] and tally.of("right") == 40
    monkeypatch.setattr(
        "hebbarium.benchmarks.drills.threads.CachedEmbedder.embed",
        lambda self, some: np.zeros((len(some), 32), np.float32),
    )
    (tmp_path / "other").mkdir()
    assert threads(make, EVENTS, tmp_path / "other", 4, 2).broken


@pytest.mark.slow
def test_damage_to_a_cache_gives_right_vectors_or_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = [Event(float(i), f"Ada met Bo in Lisbon, number {i}") for i in range(300)]
    tally = cache(make, many, tmp_path, 200, 2)
    assert tally.broken == [] and tally.total == 200
    assert (
        tally.of("refused") > 20
        and tally.of("computed anew and said") > 10
        and tally.of("as stored") > 20
    )
    monkeypatch.setattr(
        "hebbarium.engine.ports.cache_file.mark", lambda *_: b"the mark of everything"
    )
    (tmp_path / "other").mkdir()
    assert "another vector" in str(cache(make, many, tmp_path / "other", 200, 2).broken)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_fork_leaves_the_memory_of_its_parent_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then a file that any process may write."""
    tally = fork(worded, EVENTS, tmp_path, 20, 2)
    assert (
        tally.broken == []
        and tally.total == 20
        and tally.of("refused") >= 12
        and tally.of("dropped") == 4
    )
    monkeypatch.setattr(
        "hebbarium.engine.saving.file.SnapshotFile.require_owner", lambda self: None
    )
    (tmp_path / "other").mkdir()
    assert fork(worded, EVENTS, tmp_path / "other", 10, 2).broken


@needs_proc
def test_workers_end_with_the_process_that_started_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a busy machine a worker may need more than the three seconds of the drill to end."""
    monkeypatch.setattr("hebbarium.benchmarks.drills.orphans.LEFT", 60.0)
    tally = orphans(make, EVENTS, tmp_path, 2, 3)
    assert tally.broken == [] and tally.of("all ended") == 2


@pytest.mark.slow
@needs_proc
def test_the_drill_sees_workers_that_do_not_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of joblib's own workers, one that works does not end."""
    monkeypatch.setattr(
        "hebbarium.benchmarks.drills.orphans.tied", lambda jobs, **how: Parallel(n_jobs=jobs, **how)
    )
    assert "processes are left" in str(orphans(make, EVENTS, tmp_path, 2, 3).broken)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_broken_packages_are_named_and_the_rest_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then a registry that names none, and one in which a broken package ends everything."""
    tally = packages(make, EVENTS, tmp_path, len(BROKEN), 2)
    assert tally.broken == [] and {kind for kind, _ in tally.outcomes} == set(BROKEN)
    for name in ("other", "another"):
        (tmp_path / name).mkdir()
    with monkeypatch.context() as patch:
        patch.setattr(Registry, "unloadable", lambda self: ())
        assert "not named" in str(packages(make, EVENTS, tmp_path / "other", 4, 2).broken)
    monkeypatch.setattr("hebbarium.engine.catalogue.registry.usable", lambda: sys.exit("broken"))
    assert "the rest does not: failed with SystemExit" in str(
        packages(make, EVENTS, tmp_path / "another", 4, 2).broken
    )


def test_readers_of_a_memory_and_a_writer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tally = readers(make, EVENTS, tmp_path, 120, 2)
    assert tally.broken == [] and tally.of("answered") == 120
    answered = readers_drill._answered

    def mixed(memory: Engine, text: str) -> Any:
        """In a thread, the rows of one answer with the scores of another."""
        found = answered(memory, text)
        return (
            found
            if current_thread() is main_thread()
            else (found[0], *answered(memory, "Bo in Lisbon")[1:])
        )

    monkeypatch.setattr(readers_drill, "_answered", mixed)
    (tmp_path / "other").mkdir()
    assert readers(make, EVENTS, tmp_path / "other", 120, 2).broken


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_process_killed_before_any_statement_leaves_no_half_of_a_save(tmp_path: Path) -> None:
    tally = writes(make, EVENTS[:8], tmp_path, 45, 1)
    assert tally.broken == [] and tally.total == 45
    assert {kind for kind, _ in tally.outcomes} >= {"event 1"}


def test_no_user_of_a_shared_memory_is_answered_with_words_of_another(tmp_path: Path) -> None:
    tally = users(worded, EVENTS, tmp_path, 24, 1)
    assert tally.broken == [] and tally.of(OWN) == 24
    assert {kind for kind, _ in tally.outcomes} == {
        INFERENCE,
        *(f"{way}, by {by}" for way in ("answer", "context") for by in ("attribute", "speaker")),
    }


def test_what_an_answer_shows_of_another_user_is_told_apart() -> None:
    def answering(*texts: str) -> Any:
        return SimpleNamespace(
            retrieve=lambda query, k: SimpleNamespace(rows=np.arange(len(texts))),
            unit=lambda row: SimpleNamespace(text=texts[row]),
        )

    event, memory = Event(0.0, "Where?", "Ada"), answering("a", "b")
    for other, outcome in (
        (answering("a", "b"), (SAME, False)),
        (answering("b", "a"), (ORDER, False)),
        (answering("a", "c"), (OTHERS, False)),
        (answering("a", "b Zqdeezq"), ("words of others", True)),
    ):
        assert _inferred(event, memory, other) == outcome


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: f"{m.drill}: {m.what}")
def test_a_mutant_of_trust_is_reported_by_its_drill(mutant: DrillMutant) -> None:
    assert caught(mutant).broken


def test_every_drill_has_a_mutant() -> None:
    assert {mutant.drill for mutant in MUTANTS} == {*DRILLS, "sweeps"}
    assert len({(mutant.drill, mutant.what) for mutant in MUTANTS}) == len(MUTANTS)


def test_a_mutant_that_is_not_seen_fails_the_command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    blind = DrillMutant("threads", "nothing", nullcontext, 2)
    seen = next(mutant for mutant in MUTANTS if mutant.drill == "threads")
    monkeypatch.setattr("hebbarium.benchmarks.drills.__main__.MUTANTS", [blind, seen])
    assert main(["mutants"]) == 1
    out = capsys.readouterr().out
    assert "threads   nothing: NOT SEEN" in out and "2 mutants of trust, 1 not seen" in out
    monkeypatch.setattr("hebbarium.benchmarks.drills.__main__.MUTANTS", [seen])
    assert main(["mutants"]) == 0 and "none not seen" in capsys.readouterr().out


def test_a_drill_that_ends_in_an_exception_has_not_kept_its_promise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ends(*given: Any) -> Any:
        raise SnapshotError("is gone", where="it", cure="none")

    monkeypatch.setitem(DRILLS, "threads", ends)
    tally = run_drill("threads", 2, 1, "bm25", tmp_path)
    assert tally.broken == ["the drill: failed with RuntimeError: it: is gone\n  What to do: none"]


def test_a_drill_records_its_counts_with_seed_set_and_commit(tmp_path: Path) -> None:
    """Beside those of other drills; equal seeds damage equally."""
    file, held = tmp_path / "drills.json", list[Any]()
    for _ in range(2):
        assert main(["threads", "--count", "3", "--record", str(file)]) == 0
        assert (
            main(["flips", "--count", "2", "--seed", "5", "--set", "bm25", "--record", str(file)])
            == 0
        )
        held.append(json.loads(file.read_text(encoding="utf-8")))
    flips_, threads_ = held[0]["flips"], held[0]["threads"]
    assert held[0] == held[1] and (threads_["faults"], threads_["set"]) == (3, "")
    assert (flips_["faults"], flips_["seed"], flips_["set"], flips_["broken"]) == (2, 5, "bm25", 0)
    assert flips_["commit"] == commit() and sum(map(len, flips_["outcomes"].values())) == 2


def test_the_counts_of_the_guide_are_those_that_the_drills_wrote() -> None:
    counts = script("drill_counts")
    guide = counts.GUIDE.read_text(encoding="utf-8")
    drills = json.loads(counts.COUNTS.read_text(encoding="utf-8"))
    assert counts.written(guide) == guide and counts.table(drills) in guide
    assert drills.keys() == {*DRILLS, "sweeps"}
    assert all(held["broken"] == 0 and held["commit"] for held in drills.values())


def test_a_drill_runs_from_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["flips", "--count", "2", "--seed", "5", "--set", "bm25"]) == 0
    assert "2 faults; promised: refused" in capsys.readouterr().out


def test_a_command_that_is_no_drill_is_refused_with_a_cure(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["flips", "--set", "nosuch"]) == 2
    assert "no mechanism set 'nosuch'" in (said := capsys.readouterr().err) and "What to do" in said
    for given in ("-3", "0", "few", "1.5"):
        with pytest.raises(SystemExit) as ended:
            main(["flips", "--count", given])
        assert ended.value.code == 2 and "give a whole number from 1 on" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_killed_sweep_loses_no_finished_cell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kills without worker processes, which are slow to start; then a ledger that forgets what
    it was given.
    """
    plan, data = sweep(Registry.read()), small(load_demo(None, 3))
    tally = sweeps(plan, data, tmp_path, 3, 1)
    assert tally.broken == [] and tally.total == 3
    monkeypatch.setattr("hebbarium.benchmarks.execution.missing._put", lambda book, found: None)
    assert "cells were reported, the ledger holds 0" in str(forgetful(plan, data, tmp_path).broken)


def forgetful(plan: RunPlan, data: Dataset, folder: Path) -> Tally:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hebbarium.benchmarks.drills.sweeps.finished", lambda *_: b"")
        return sweeps(plan, data, folder, 3, 1)
