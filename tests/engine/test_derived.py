"""Derived columns: which they are, that maintenance computes them from the rest of the state,
and that files leave them out as long as they can.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiers import EVERYDAY_SETS, slow_unless

from hebbarium.engine.arms.variants import Variants
from hebbarium.engine.base.errors import ContractError, SnapshotError
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.columns import Column, Phase, Scope, Upkeep
from hebbarium.engine.contract.hooks import Mechanism, Params, at_rest, forecast, hook
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import (
    CREATED,
    GRAPH,
    NOW,
    RANDOM,
    RECALLED,
    ROW,
    SALIENCE,
)
from hebbarium.engine.flow.dataflow import derived, late
from hebbarium.engine.flow.observer import Observer
from hebbarium.engine.flow.schedule import Node
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.saving import contents as snapshot_contents
from hebbarium.engine.saving import snapshot
from hebbarium.testing.small import by_number, column, does, mechanism, memory

A, B, C = (column(name, upkeep=Upkeep(fresh=Phase.MAINTAIN)) for name in "abc")
KEPT, LEVEL = column("kept"), column("level", Scope.GLOBAL, upkeep=Upkeep(fresh=Phase.MAINTAIN))
SYLLABLES = ("ban", "cor", "del", "fan", "gil", "hut", "jam", "kep")


def step(reads: Any = (), adds: Any = (), sets: Any = ()) -> Node:
    return Node(
        "m",
        "step",
        Phase.MAINTAIN,
        0,
        tuple(reads),
        tuple(adds),
        tuple(sets),
        lambda view, tick: None,
    )


@pytest.mark.parametrize(
    ("steps", "names"),
    [
        ([step(reads=[CREATED, NOW], sets=[A])], "a"),
        (
            [
                step(reads=[CREATED], adds=[A]),
                step(reads=[KEPT], adds=[A, B]),
                step(reads=[A], sets=[C]),
            ],
            "abc",
        ),
        ([step(sets=[A, KEPT])], ""),  # changes what is saved
        ([step(sets=[KEPT])], ""),  # is not computed anew
        ([step(sets=[LEVEL]), step(sets=[A])], "a"),  # is no column of memories
        ([step(sets=[A, LEVEL])], ""),
        ([step(reads=[KEPT.before], sets=[A])], ""),  # reads what the phase may have changed since
        ([step(reads=[SALIENCE], sets=[A])], ""),  # reads what is not saved
        ([step(reads=[GRAPH], sets=[A])], ""),
        ([step(sets=[A, RANDOM])], ""),  # draws again
        ([step(reads=[A], adds=[A])], ""),  # reads what it writes
        ([step(adds=[A]), step(adds=[A, B]), step(sets=[B, KEPT]), step(sets=[C])], "c"),
    ],
    ids=range(12),
)
def test_which_columns_are_derived(steps: list[Node], names: str) -> None:
    found, needed = derived(steps)
    assert {c.name for c in found} == set(names)
    assert list(needed) == [node for node in steps if found & {*node.sets, *node.adds}]


def test_encoding_may_set_only_what_says_so() -> None:
    def mark(view: Any, incoming: Any) -> None:
        view.dawn[view.row] = 1.0

    for first in (True, False):
        dawn = column("dawn", upkeep=Upkeep(fresh=Phase.MAINTAIN, first=first))

        def made(dawn: Column = dawn) -> Engine:
            return memory(
                mechanism(
                    "m",
                    does(Phase.ENCODE, mark, reads=[ROW], sets=[dawn]),
                    does(Phase.MAINTAIN, lambda v, t: None, reads=[GRAPH], sets=[dawn]),
                    owns=[dawn],
                )
            )

        if not first:
            with pytest.raises(ContractError, match="dawn is computed in"):
                made()
            continue
        e = made()
        e.encode(Event(0.0, "one"))
        assert e.column("dawn").tolist() == [1.0]
        e.advance(1.0)
        assert e.column("dawn").tolist() == [0.0]


def lived(e: Engine) -> Iterator[str]:
    """Events, uses, nights and an archived memory; yields what happened last."""
    rng = np.random.default_rng(18)
    for i in range(18):
        words = " ".join("".join(rng.choice(SYLLABLES, 3)) for _ in range(8))
        text = f"Ada met {('Eva', 'Finn')[i % 2]} in {('Lisbon', 'Oslo', 'Rome')[i % 3]} about {words}."
        e.encode(Event(4.0 * i, text, "Bo", f"s{i // 5}", f"e{i}"))
        yield "event"
        if i % 5 == 4:
            e.retrieve("Where did Ada meet Finn?", learn=True)
            yield "use"
        if i == 9:
            e.archive(0)
            yield "archived"
        if i % 2:
            e.advance(e.now + 1.5)
            yield "tick"
    e.advance(e.now + 60.0)
    assert e.store.n > 4
    yield "tick"


@pytest.mark.parametrize("chosen", slow_unless(EVERYDAY_SETS, Registry.read().sets))
def test_maintenance_computes_them_from_the_rest_of_the_state(chosen: str) -> None:
    """After each tick: the same bits from cells of rubbish; nothing else changes."""
    registry = Registry.read()
    e = Engine(registry.build(registry.set(chosen)), HashingEmbedder(32))
    assert {c.name for c in e.assembly.derived} <= {
        "log_strength",
        "activation",
        "release_probability",
    }
    for last in lived(e):
        assert not e.clock.settled or last == "tick"
        if last == "tick":
            before = e.digest()
            assert e.clock.settled and not e.clock.due and e.clock.maintained == e.now
            for c in e.assembly.derived:
                e.store.array(c)[...] = np.nan
            assert e.digest() != before or not e.assembly.derived
            e.clock.due = True
            e.assembly.derive()
            assert e.digest() == before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("chosen", "rows"),
    [("minimal", 8), ("default", 8), ("everything", 4096), ("cortex_as_printed", 8)],
)
def test_a_file_continues_with_and_without_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chosen: str, rows: int
) -> None:
    """rows: of a block; fewer have none of their own.  Late columns are in no file."""
    registry, path = Registry.read(), tmp_path / "m.db"
    for name in ("BLOCK", "EDGES", "LARGE"):
        monkeypatch.setattr(snapshot, name, rows)

    def made(path: Path | None) -> Engine:
        return Engine(registry.build(registry.set(chosen)), HashingEmbedder(32), path=path)

    plain, saved, ways = made(None), made(path), set()
    for _, last in zip(lived(plain), lived(saved), strict=True):
        saved.save()
        ways.add((last, bool(stored(path, plain))))
        assert saved.changes.snapshot is not None and saved.changes.snapshot.unsaved() == []
        saved.close()
        assert ways >= {(last, bool(stored(path, plain)))}, "closing changes nothing"
        again = made(path)
        assert again.digest() == plain.digest()
        vars(saved).update(vars(again))  # the life goes on with the memory that was loaded
    expected = {("event", True), ("use", True), ("archived", True), ("tick", False)}
    assert (
        ways >= expected
        if rows == 8 and plain.assembly.derived != plain.assembly.late
        else not any(found for _, found in ways)
    )
    assert ("tick", True) not in ways
    saved.close()


def stored(path: Path, e: Engine) -> set[str]:
    """Derived columns of the memory that have blocks in the file."""
    with sqlite3.connect(f"file:{path}?mode=ro&nolock=1&immutable=1", uri=True) as connection:
        found = {name for (name,) in connection.execute("SELECT DISTINCT name FROM blocks")} & {
            f"column.{c.name}" for c in e.assembly.derived
        }
        left = json.loads(
            connection.execute("SELECT value FROM meta WHERE key = 'computed'").fetchone()[0]
        )
    connection.close()
    assert found.isdisjoint(f"column.{name}" for name in left)
    return found


# --- files ----------------------------------------------------------------------------------------
SIZE = column("size")
GROWN = column("grown", upkeep=Upkeep(fresh=Phase.MAINTAIN))


def growing(path: Path | None, derives: bool = True, observer: Observer | None = None) -> Engine:
    """Each memory grows with its age times the length of its text; encoding reads it, so that it
    is computed in maintenance.
    """

    def dress(view: Any, incoming: Any) -> None:
        view.size[view.row] = len(incoming.event.text)

    def grow(view: Any, tick: Any) -> None:
        view.grown[...] = view.size * (tick.end - view.created)

    return memory(
        by_number(),
        mechanism(
            "m",
            does(Phase.ENCODE, dress, reads=[ROW, GROWN], sets=[SIZE]),
            does(
                Phase.MAINTAIN,
                grow,
                reads=[SIZE, CREATED, *([] if derives else [GRAPH])],
                sets=[GROWN],
            ),
            owns=[SIZE, GROWN],
            order=1,
        ),
        path=path,
        observer=observer,
    )


def grown(path: Path, **options: Any) -> Engine:
    e = growing(path, **options)
    for i in range(7):
        e.encode(Event(float(i), "1" * (i + 1)))
    e.advance(9.0)
    return e


def changed(path: Path, *statements: str) -> None:
    with sqlite3.connect(path) as connection:
        for statement in statements:
            assert connection.execute(statement).rowcount != 0
    connection.close()


def marked(path: Path) -> None:
    """Give the description the mark that it should have."""
    with sqlite3.connect(path) as connection:
        meta = dict(connection.execute("SELECT key, value FROM meta"))
        rows = connection.execute(
            "SELECT name, dtype, shape, rows FROM arrays ORDER BY name"
        ).fetchall()
        forms = snapshot_contents.forms_mark(
            {name: snapshot_contents.ArrayForm(*form) for name, *form in rows}
        )
        mark = snapshot_contents.description_mark(meta, forms)
        connection.execute("UPDATE meta SET value = ? WHERE key = 'mark'", (mark.hex(),))
    connection.close()


def test_no_instrument_counts_what_loading_computes(tmp_path: Path) -> None:
    e = grown(tmp_path / "m.db")
    before, values = e.digest(), e.column("grown").tolist()
    assert values == [(i + 1) * (9.0 - i) for i in range(7)]
    e.close()
    watch = Observer()
    again = growing(tmp_path / "m.db", observer=watch)
    assert again.digest() == before and watch.receipts["m"].calls == 0 and again.clock.settled
    again.close()


def test_a_file_that_says_otherwise_is_refused(tmp_path: Path) -> None:
    """Whether the description no longer fits its mark, or fits and leaves out what has blocks or
    lists what has none.
    """
    path, other = tmp_path / "m.db", tmp_path / "other.db"
    e = grown(path)
    e.close()
    e = grown(other, derives=False)
    e.close()
    sound = path.read_bytes(), other.read_bytes()
    for file, whole, value in ((path, sound[0], "[]"), (other, sound[1], '["grown"]')):
        for mark in (False, True):
            file.write_bytes(whole)
            changed(file, f"UPDATE meta SET value = '{value}' WHERE key = 'computed'")
            if mark:
                marked(file)
            with pytest.raises(SnapshotError, match="is damaged"):
                growing(file)


def test_a_version_that_does_not_derive_a_column_says_so(tmp_path: Path) -> None:
    grown(tmp_path / "m.db").close()
    before = (tmp_path / "m.db").read_bytes()
    with pytest.raises(
        SnapshotError,
        match="another version of Hebbarium or of a mechanism, which computed grown at loading",
    ):
        growing(tmp_path / "m.db", derives=False)
    assert (tmp_path / "m.db").read_bytes() == before


@pytest.mark.parametrize("derives", [True, False])
def test_a_file_says_whether_anything_changed_since_the_maintenance(
    tmp_path: Path, derives: bool
) -> None:
    e = grown(tmp_path / "m.db", derives=derives)
    for settled in (True, False):
        if not settled:
            e.archive(2)
        assert e.clock.settled is settled
        before = e.digest()
        e.close()
        e = growing(tmp_path / "m.db", derives=derives)
        assert e.clock.settled is settled and e.digest() == before
    e.close()


def test_a_step_that_fails_at_loading_leaves_the_file_unlocked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.db"
    grown(path).close()
    with monkeypatch.context() as patch:
        patch.setattr("hebbarium.engine.memory.assembly.Assembly.derive", lambda self: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            growing(path)
    growing(path).close()


def test_an_empty_memory_leaves_nothing_out(tmp_path: Path) -> None:
    e = growing(tmp_path / "m.db")
    e.advance(5.0)
    e.close()
    assert not growing(tmp_path / "m.db").clock.settled


# --- late columns ---------------------------------------------------------------------------------
def ageing(read_in: Phase | None = None) -> tuple[Engine, list[float]]:
    """Each memory ages; the times at which ages were computed.  read_in: a phase with a hook
    that reads the ages.
    """
    age, seen, computed = (
        column("age", upkeep=Upkeep(fresh=Phase.MAINTAIN)),
        column("seen"),
        list[float](),
    )

    def grow(view: Any, tick: Any) -> None:
        computed.append(tick.end)
        view.age[...] = tick.end - view.created

    def see(view: Any, what: Any) -> None:
        view.seen[...] = view.age

    sees = (
        [does(read_in, see, reads=[age, *[RECALLED] * (read_in is Phase.RETRIEVE)], sets=[seen])]
        if read_in
        else []
    )
    return memory(
        by_number(),
        mechanism(
            "ages",
            does(Phase.MAINTAIN, grow, reads=[CREATED], sets=[age]),
            *sees,
            owns=[age, seen],
            order=1,
        ),
    ), computed


@pytest.mark.parametrize(
    ("steps", "others", "names"),
    [
        ([step(reads=[CREATED], sets=[A]), step(reads=[KEPT], sets=[B])], [], "ab"),
        (
            [step(reads=[CREATED], sets=[A]), step(reads=[KEPT], sets=[B])],
            [step(reads=[A], sets=[KEPT])],
            "b",
        ),
        (
            [step(reads=[CREATED], sets=[A]), step(reads=[KEPT], sets=[B])],
            [step(reads=[A.before], sets=[KEPT])],
            "b",
        ),
        (
            [
                step(adds=[A]),
                step(adds=[A, B]),
                step(adds=[B, C]),
                step(sets=[Column("d", np.float64, Scope.MEMORY, "1", 0.0, "d")]),
            ],
            [step(reads=[C], sets=[KEPT])],
            "",
        ),  # one step computes a column that is read at once and one that is not
    ],
    ids=range(4),
)
def test_which_columns_wait_until_they_are_read(
    steps: list[Node], others: list[Node], names: str
) -> None:
    columns = frozenset(
        c
        for node in steps
        for c in (*node.sets, *node.adds)
        if isinstance(c, Column) and c in (A, B, C)
    )
    read = [item for node in others for item in node.reads]
    found, needed = late(
        columns, [node for node in steps if columns & {*node.sets, *node.adds}], read
    )
    assert {c.name for c in found} == set(names) and list(needed) == [
        node for node in steps if found & {*node.sets, *node.adds}
    ]


def test_time_alone_computes_nothing_and_a_reader_gets_the_present() -> None:
    e, computed = ageing()
    for hour in range(5):
        e.encode(Event(float(hour), f"number {hour}"))
    e.advance(400.0)
    assert not computed
    assert e.column("age").tolist() == [400.0 - hour for hour in range(5)] and computed == [400.0]
    e.column("age")
    e.retrieve("number 3")
    assert computed == [400.0], "nothing has changed since"
    e.encode(Event(400.5, "number 5"))
    assert e.column("age").tolist() == [*(400.5 - hour for hour in range(5)), 0.0], (
        "also within a tick, and of a new memory"
    )


@pytest.mark.parametrize(
    "read", ["retrieve", "context", "explain", "column", "held", "digest", "use", "plan_for"]
)
def test_all_that_reads_sees_the_present_and_leaves_the_same_state(read: str) -> None:
    told, quiet = (
        ageing(Phase.RETRIEVE if read == "use" else None),
        ageing(Phase.RETRIEVE if read == "use" else None),
    )
    for e, _ in (told, quiet):
        e.encode_all([Event(0.0, "number 1"), Event(0.25, "number 2")])
        e.encode(Event(0.5, "number 3"))
    e, computed = told
    computed.clear()
    plan = Variants(e).plan_for(e.mechanisms)
    {
        "retrieve": lambda: e.retrieve("number 2"),
        "context": lambda: e.context("number 2"),
        "explain": lambda: e.explain("number 2", 1),
        "column": lambda: e.column("age"),
        "held": lambda: Variants(e).held([c for c in e.store.columns if c.name == "age"]),
        "digest": e.digest,
        "use": lambda: e.use(e.retrieve("number 2"), [1]),
        "plan_for": lambda: Variants(e).retrieve_each(
            "number 2", 3, Variants(e).parameter_arms([plan])
        ),
    }[read]()
    assert computed == [0.5] and e.store.array(
        {c.name: c for c in e.store.columns}["age"]
    ).tolist() == [0.5, 0.25, 0.0]
    if read != "use":
        assert e.digest() == quiet[0].digest()


def test_a_maintenance_that_changes_what_they_read_is_seen() -> None:
    """Also one that only finishes a tick in which somebody asked."""
    told, said = column("told"), column("said", upkeep=Upkeep(fresh=Phase.MAINTAIN))

    def tell(view: Any, tick: Any) -> None:
        view.told[...] += 1.0

    def say(view: Any, tick: Any) -> None:
        view.said[...] = view.told

    e = memory(
        by_number(),
        mechanism(
            "m",
            does(Phase.MAINTAIN, tell, sets=[told]),
            does(Phase.MAINTAIN, say, reads=[told], sets=[said]),
            owns=[told, said],
            order=1,
        ),
    )
    e.encode(Event(0.0, "number 1"))
    assert e.column("said").tolist() == [0.0] and said in e.assembly.late
    e.advance(e.now)
    assert e.column("told").tolist() == e.column("said").tolist() == [1.0]


def test_what_a_forecast_or_a_promise_to_rest_reads_does_not_wait() -> None:
    for declare in (forecast, at_rest):
        held = column("held", upkeep=Upkeep(fresh=Phase.MAINTAIN))

        class Reading(Mechanism[Params]):
            owns = (held,)

            @hook(Phase.MAINTAIN, reads=(CREATED,), adds=(), sets=(held,))
            def age(self, view: Any, tick: Any) -> None:
                view.held[...] = tick.end - view.created

            @declare(reads=(held,))
            def look(self, view: Any, what: Any) -> Any:
                return ()

        e = memory(by_number(), Reading("reading", Params(1.0)))
        assert held in e.assembly.derived and held not in e.assembly.late


def test_a_sleep_that_reads_them_sees_them_as_of_its_end() -> None:
    e, computed = ageing(Phase.CONSOLIDATE)
    e.encode(Event(0.0, "number 1"))
    e.advance(50.0)
    assert (
        computed == [24.0, 48.0]
        and e.column("seen").tolist() == [48.0]
        and e.column("age").tolist() == [50.0]
    )


def test_encoding_that_reads_them_sees_them_as_of_the_last_maintenance() -> None:
    """Whether or not somebody asked since."""
    for asked in (False, True):
        e, _ = ageing(Phase.ENCODE)
        assert not e.assembly.late
        e.encode(Event(0.0, "number 1"))
        e.advance(3.0)
        e.encode(Event(3.5, "number 2"))
        if asked:
            e.retrieve("number 1")
        e.encode(Event(3.75, "number 3"))
        assert e.column("seen").tolist() == [3.0, 0.0, 0.0]


def test_threads_that_ask_after_a_tick_see_the_present() -> None:
    """The first of them computes the columns alone."""
    e, computed = ageing()
    e.assembly.beside_from = 1
    e.encode_all([Event(float(hour), f"number {hour}") for hour in range(8)])
    plain = e.retrieve("number 3")
    for hours in range(1, 20):
        e.advance(7.0 + hours)
        computed.clear()
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda _: e.retrieve("number 3"), range(8)))
        assert computed == [7.0 + hours] and all(
            each.rows.tolist() == plain.rows.tolist() for each in found
        )
