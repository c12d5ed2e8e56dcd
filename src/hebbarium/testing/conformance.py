"""The conformance suite: the rules of the contract, checked on any registered mechanism, alone and
together with the set `minimal`.

    check(Bench(Registry.installed(), "my_mechanism", folder))          # for each check in CHECKS

A check raises AssertionError, or what the engine raises, and returns nothing.  `MechanismTests` in
`hebbarium.testing` makes tests of them.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from ..audit.named_cells import NamedCells
from ..engine.arms.variants import Variants
from ..engine.base.errors import ContractError
from ..engine.base.times import hours
from ..engine.catalogue.registry import Registry
from ..engine.catalogue.stand_ins import checked_instance
from ..engine.contract.columns import Column, Phase, Scope, Signal
from ..engine.contract.drafts import Draft, Kind
from ..engine.contract.hooks import Mechanism, Params, Tick, hook, item_of, parameter_types
from ..engine.contract.records import Event, Query
from ..engine.contract.vocabulary import CREATED, DRAFTS, HIDE, MADE, SHOW, TEXTS, VISIBLE, WRITING
from ..engine.flow.passes import nodes_of
from ..engine.flow.schedule import Stages
from ..engine.flow.view import Binding
from ..engine.memory.arrivals import YEAR_AHEAD, ClockWarning
from ..engine.memory.engine import Engine
from ..engine.memory.nights import DAY, YEAR
from ..engine.ports.embedder import HashingEmbedder
from ..engine.saving import snapshot

START = hours(datetime(2024, 3, 1, 9))
HOSTILE = ["", " ", "ok", "\x00\x00", "\ud800 lone", "🦊" * 50, "שלום عالم", "a" * 100_000,
           "<script>alert(1)</script>",
           "'; DROP TABLE events; --", "9" * 400]  # fmt: skip


QUESTION = "What did Bo do in Lisbon?"
TOLERANT: Any = {"late_hours": DAY, "jump_hours": YEAR_AHEAD}
# events whose clock is wrong; the second is believed, then erased
WRONG = {13: START + 60 * YEAR, (CONFIRMED := 22): START + 2 * YEAR}


def talk(n: int = 40) -> list[Event]:
    """A small conversation: n turns in sessions of eight, 30 h apart, with recurring names and
    places.
    """
    people, places, acts = (
        ("Ada", "Bo", "Cleo"),
        ("Lisbon", "Oslo", "the old mill"),
        ("visited", "painted", "forgot", "bought"),
    )
    return [
        Event(
            START + 30.0 * (i // 8) + (i % 8) / 60.0,
            f"{people[(i * 2) % 3]} {acts[i % 4]} {places[(i // 2) % 3]} with {people[i % 3]} on day {i}",
            people[i % 3],
            f"s{i // 8}",
            f"e{i}",
        )
        for i in range(n)
    ]


def sessions_across_sleep() -> list[Event]:
    """`talk` with sessions of twelve turns, so that most sessions go on after a sleep."""
    return [replace(event, session=f"s{i // 12}") for i, event in enumerate(talk())]


def simulated(memory: Engine, events: list[Event], learn: bool = True) -> Engine:
    """Encode the events, ask a question that may change memory after every ninth, then rest for
    80 h; returns the memory.
    """
    for i, event in enumerate(events):
        memory.encode(event)
        if i % 9 == 8:
            memory.retrieve(f"What did {event.speaker} do in Lisbon?", learn=learn)
    memory.advance(events[-1].time + 80.0)
    return memory


@dataclass(frozen=True)
class Bench:
    """One mechanism of a registry, and a folder for the files of the memories that are built
    with it.
    """

    registry: Registry
    id: str
    folder: Path

    @property
    def company(self) -> tuple[str, ...]:
        """The mechanism and the set `minimal`, without those of the set that set a column which
        the mechanism sets.
        """
        mine = self._sets(self.id)
        return (
            self.id,
            *(
                i
                for i in self.registry.set("minimal").mechanisms
                if i != self.id and not mine & self._sets(i)
            ),
        )

    def build(
        self,
        *ids: str,
        path: Path | None = None,
        beside: tuple[Mechanism[Any], ...] = (),
        **options: Any,
    ) -> Engine:
        """A memory of these mechanisms, and of others `beside` them."""
        chosen = [
            checked_instance(self.registry, i)
            for i in sorted(ids, key=self.registry.order.__getitem__)
        ]
        return Engine([*chosen, *beside], HashingEmbedder(32), path=path, **options)

    def lived(self, *ids: str) -> Engine:
        """A memory of these mechanisms that has lived `talk`, made once for all checks that only
        look at it: nothing may change it.
        """
        return _lived(self.registry, ids)

    def _sets(self, id: str) -> set[tuple[Phase, str]]:
        return {
            (h.phase, c.name)
            for h in self.registry.entry(id).load().hooks()
            for c in h.sets
            if not getattr(c, "private", False)
        }


@lru_cache(maxsize=4)
def _lived(registry: Registry, ids: tuple[str, ...]) -> Engine:
    return simulated(Bench(registry, ids[0], Path()).build(*ids), talk())


class Maker(Mechanism[Params]):
    """In every sleep makes a segment, a bundle and a summary of the last events; nothing else
    changes.
    """

    @hook(Phase.CONSOLIDATE, reads=(TEXTS, WRITING.before), adds=(DRAFTS,), sets=())
    def draft(self, view: Any, tick: Tick) -> None:
        rows = [row for row in range(len(view.writing)) if view.writing[row] < 0][-3:]
        text = max((view.texts[row] for row in rows), key=len)
        if text:
            source = next(row for row in rows if view.texts[row] == text)
            view.drafts.add(Draft(text[: max(1, len(text) // 2)], Kind.SEGMENT, (source,)))
            view.drafts.add(
                Draft(" ".join(view.texts[row] for row in rows), Kind.BUNDLE, tuple(rows))
            )
            view.drafts.add(
                Draft(
                    f"Ada painted Lisbon, {len(view.writing)} rows ago",
                    Kind.SUMMARY,
                    tuple(rows),
                    created=tick.end,
                )
            )


class Archivist(Maker):
    """Votes to archive them at once."""

    @hook(Phase.CONSOLIDATE, reads=(MADE,), adds=(HIDE,), sets=())
    def archive(self, view: Any, tick: Tick) -> None:
        for row, draft in view.made:
            view.hide[row] += draft.maker == self.id


MAKER, ARCHIVIST = (
    Maker("maker", Params(1.0), order=10**5),
    Archivist("archivist", Params(1.0), order=10**5),
)
ConformanceCheck = Callable[[Bench], None]


def class_declares_what_it_owns(bench: Bench) -> None:
    entry = bench.registry.entry(bench.id)
    cls: type[Mechanism[Any]] = entry.load()
    assert cls.__doc__ or __import__(entry.module, fromlist=["x"]).__doc__, (
        "neither the class nor its module has a docstring"
    )
    assert set(parameter_types(cls.params_class)) == set(entry.params), (
        "code and registry name different parameters"
    )
    assert list(cls.hooks()), "a mechanism without hooks cannot change memory"
    for column in cls.owns:
        if isinstance(column, Column):
            assert column.meaning and column.unit, column
            assert not isinstance(column, Signal) or "weight" in entry.params, column


def same_seed_same_state(bench: Bench) -> None:
    again = simulated(bench.build(*bench.company), talk())
    assert again.digest() == bench.lived(*bench.company).digest()


def tick_length_does_not_matter(bench: Bench) -> None:
    for ids in ((bench.id,), bench.company):
        fine, coarse = (
            simulated(bench.build(*ids, tick_hours=0.01), talk()),
            simulated(bench.build(*ids, tick_hours=20.0), talk()),
        )
        coarse.advance(coarse.now)
        for name in fine.store.persistent():
            np.testing.assert_allclose(
                fine.column(name), coarse.column(name), rtol=1e-7, atol=1e-9, err_msg=name
            )
        fine_answer, coarse_answer = (
            fine.retrieve("Who painted Oslo?"),
            coarse.retrieve("Who painted Oslo?"),
        )
        np.testing.assert_allclose(fine_answer.final, coarse_answer.final, rtol=1e-4, atol=1e-5)


def late_columns_are_computed_one_memory_at_a_time(bench: Bench) -> None:
    """Those of some memories alone are those of all: a question that is asked of a shortlist
    computes no others.
    """
    for ids in ((bench.id,), bench.company):
        memory = bench.lived(*ids)
        parts, rows = memory.assembly, np.arange(memory.store.n)[::3]
        late = parts.late_of_rows(parts.store, len(rows))
        if late:
            for column in late.columns:
                np.testing.assert_array_equal(
                    late.array(column, rows),
                    memory.column(column)[rows],
                    err_msg=(
                        f"{column.name} of a memory depends on other memories: a step of MAINTAIN that compares them reads INDEX"
                    ),
                )


def queries_change_nothing(bench: Bench) -> None:
    memory = bench.lived(*bench.company)
    before = memory.digest()
    first = memory.retrieve("Who painted Oslo with Bo?")
    memory.retrieve(Query("", memory.now))
    again = memory.retrieve("Who painted Oslo with Bo?")
    assert memory.digest() == before, "a query changed memory"
    np.testing.assert_array_equal(first.rows, again.rows)
    np.testing.assert_array_equal(first.final, again.final)


def continuing_from_a_file_equals_an_uninterrupted_run(bench: Bench) -> None:
    ids, events, file = bench.company, talk(), bench.folder / f"{bench.id}.db"
    whole = bench.lived(*ids)
    first = bench.build(*ids, path=file)
    for i, event in enumerate(events):
        if i in (10, 27, 30):
            assert first.changes.snapshot is not None
            # else as if the process were killed: what the file lacks is in its log of calls
            first.changes.snapshot.close(save=i == 10)
            first = bench.build(*ids, path=file)
        first.encode(event)
        if i % 9 == 8:
            first.retrieve(f"What did {event.speaker} do in Lisbon?", learn=True)
    first.advance(events[-1].time + 80.0)
    assert first.digest() == whole.digest(), "the memory that was closed and opened again differs"
    first.close()


def no_work_on_an_empty_store(bench: Bench) -> None:
    memory = bench.build(bench.id)
    memory.advance(START)
    answer = memory.retrieve("anything?", learn=True)
    assert len(answer.rows) == 0 and math.isnan(memory.now)


def outputs_are_finite_on_hostile_input(bench: Bench) -> None:
    memory = bench.build(*bench.company)
    for i, text in enumerate(HOSTILE * 2):
        memory.encode(Event(START + i * 0.3, text, speaker=text[:20], session=text[:5], id=f"h{i}"))
    memory.advance(memory.now + 1000.0)
    for text in HOSTILE:
        answer = memory.retrieve(text, learn=True)
        assert (
            np.isfinite(answer.scores).all() and not np.isinf(answer.final[answer.answerable]).any()
        ), f"scores of {text[:20]!r} are not finite"
    for column in memory.store.columns:
        if column.scope.persists:
            _require_within_bounds(column, memory.column(column))
    assert [memory.event_log.events[i].text for i in range(len(HOSTILE))] == HOSTILE, (
        "a text was changed"
    )


def _require_within_bounds(column: Column, array: Any) -> None:
    """Finite and within its bounds; NaN only where that is neutral."""
    if array.dtype.kind != "f":
        return
    values = array[~np.isnan(array)]
    assert np.isfinite(values).all(), column.name
    assert np.isnan(column.neutral) or len(values) == array.size, column.name
    if values.size:
        assert column.low is None or values.min() >= column.low - 1e-9, column.name
        assert column.high is None or values.max() <= column.high + 1e-9, column.name


def wrong_clocks_do_no_harm(bench: Bench) -> None:
    """Late events, one from the future, and one whose future was confirmed and which is erased
    again: columns stay within bounds, scores are finite, and a memory that was closed in between
    goes on as if it was not.
    """
    lives = []
    for file in (None, bench.folder / f"{bench.id}_clocks.db"):
        memory = bench.build(*bench.company, path=file, **TOLERANT)
        for i, event in enumerate(sessions_across_sleep()):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ClockWarning)
                memory.encode(
                    replace(event, time=max(WRONG.get(i, 0.0), event.time - 7.0 * (i % 3 == 2))),
                    confirm=i == CONFIRMED,
                )
            if i == CONFIRMED:
                memory.retrieve("Who painted Oslo with Bo?", learn=True)
                memory.erase(event.id, confirm=True)
            if i % 9 == 8:
                memory.retrieve(f"What did {event.speaker} do in Lisbon?", learn=True)
            if file and i in (CONFIRMED - 1, CONFIRMED, CONFIRMED + 4):
                memory.close()
                memory = bench.build(*bench.company, path=file, **TOLERANT)
        memory.advance(memory.now + 80.0)
        answer = memory.retrieve("Who painted Lisbon with Ada?", memory.store.n, learn=True)
        assert (
            len(answer)
            and np.isfinite(answer.scores).all()
            and not np.isinf(answer.final[answer.answerable]).any()
        ), "scores are not finite"
        assert memory.now < max(WRONG.values()), "the clock stays wrong"
        for column in memory.store.columns:
            if column.scope.persists:
                _require_within_bounds(column, memory.column(column))
        lives.append(memory)
    assert lives[0].digest() == lives[1].digest(), (
        "the memory that was closed and opened again differs"
    )
    lives[1].close()


def order_is_that_of_arrival(bench: Bench) -> None:
    """A mechanism that does not declare CREATED, the time of an event's own, treats a late event
    as one that happens when it arrives.
    """
    if any(
        item_of(read) is CREATED
        for hook in bench.registry.entry(bench.id).load().hooks()
        for read in hook.reads
    ):
        return
    late, now = list[Event](), -math.inf
    for i, event in enumerate(sessions_across_sleep()):
        late.append(replace(event, time=event.time - 7.0 * (i % 3 == 2), dated=False))
    prompt = [replace(event, time=(now := max(now, event.time))) for event in late]
    after_late, after_prompt = (
        simulated(bench.build(bench.id, **TOLERANT), events) for events in (late, prompt)
    )
    for column in after_late.store.columns:
        if column.scope.persists and column is not CREATED:
            np.testing.assert_array_equal(
                after_late.column(column), after_prompt.column(column), err_msg=column.name
            )
    asked = "Who painted Oslo with Bo?"
    np.testing.assert_array_equal(
        after_late.retrieve(asked).final, after_prompt.retrieve(asked).final
    )


def off_means_neutral(bench: Bench) -> None:
    """Without the mechanism, every column that it writes but does not own holds its neutral
    value.
    """
    cls = bench.registry.entry(bench.id).load()
    written = {
        c
        for h in cls.hooks()
        for c in (*h.sets, *h.adds)
        if isinstance(c, Column) and c not in cls.owns
    }
    memory = bench.lived("dense_similarity")
    for column in (c for c in written if c.scope in (Scope.MEMORY, Scope.GLOBAL)):
        np.testing.assert_array_equal(
            memory.store.array(column),
            np.full(memory.store.array(column).shape, column.neutral),
            err_msg=column.name,
        )


def random_streams_are_private(bench: Bench) -> None:
    ids = bench.company
    whole = bench.lived(*ids)
    for other in ids[1:4]:
        fewer = simulated(bench.build(*(i for i in ids if i != other)), talk())
        if len(fewer.event_log.rows) == len(whole.event_log.rows):
            assert (
                fewer.assembly.streams[bench.id].bit_generator.state
                == whole.assembly.streams[bench.id].bit_generator.state
            ), other


def undeclared_access_is_refused(bench: Bench) -> None:
    """The views of the mechanism show the columns that it declared and no others."""
    memory = bench.build(bench.id)
    for node in nodes_of(memory.assembly.mechanisms):
        view = Binding(node, memory.store, Stages((*node.sets, *node.adds))).view
        try:
            view.a_column_that_does_not_exist  # noqa: B018  (the access itself must raise)
        except ContractError:
            pass
        else:
            raise AssertionError(f"{node.label} sees what it did not declare")
        for read in node.reads:
            column = getattr(read, "of", read)
            if isinstance(column, Column) and column not in (*node.sets, *node.adds):
                try:
                    _write(view, column)
                except (ContractError, ValueError):
                    continue
                raise AssertionError(f"{node.label} can write {column.name}, which it only reads")


def _write(view: Any, column: Column) -> None:
    value = getattr(view, column.name)
    if isinstance(value, np.ndarray):
        value[...] = 1
    else:
        setattr(view, column.name, 1)


def a_year_loses_no_text(bench: Bench) -> None:
    """After a year without events every event is in the event log, word for word, and every row
    returns its event.
    """
    memory, events = bench.build(*dict.fromkeys((bench.id, "dense_similarity"))), talk(16)
    kept = [memory.encode(event) for event in events]
    memory.advance(events[-1].time + 365 * 24.0)
    assert [memory.event_log.events[i].text for i in range(len(events))] == [e.text for e in events]
    assert all(
        memory.event(row) == event for row, event in zip(kept, events, strict=True) if row.stored
    )
    assert np.isfinite(memory.retrieve("Who painted Oslo?").scores).all()


def made_rows_change_nothing(bench: Bench) -> None:
    """A life in which sleep makes rows that are archived at once gives every event the same
    columns, and every query the same answer.

    The mechanism runs alone and in company.  A mechanism that makes rows itself is not asked to
    make the same ones beside other made rows.
    """
    if any(DRAFTS in hook.adds for hook in bench.registry.entry(bench.id).load().hooks()):
        return
    for ids in dict.fromkeys(((bench.id,), bench.company)):
        events = sessions_across_sleep()
        plain, grown = (
            simulated(bench.build(*ids), events),
            simulated(bench.build(*ids, beside=(ARCHIVIST,)), events),
        )
        rows = np.flatnonzero(grown.column(WRITING) < 0)
        assert (
            len(rows) == plain.store.n < grown.store.n
            and not grown.column(VISIBLE)[grown.column(WRITING) >= 0].any()
        )
        _require_same_columns(plain, grown, rows)
        for text in (
            "Who painted Oslo with Bo?",
            "What did Ada do in Lisbon on day 12?",
            "Cleo forgot the old mill",
        ):
            plain_answer, grown_answer = plain.retrieve(text), grown.retrieve(text)
            assert rows[plain_answer.rows].tolist() == grown_answer.rows.tolist(), text
            np.testing.assert_allclose(
                grown_answer.scores, plain_answer.scores, rtol=1e-5, atol=1e-6, err_msg=text
            )


def made_rows_that_stay_visible_do_no_harm(bench: Bench) -> None:
    """Made rows may be answered: no column leaves its bounds, scores are finite, and a memory
    that was closed in between goes on as if it was not.
    """
    if any(DRAFTS in hook.adds for hook in bench.registry.entry(bench.id).load().hooks()):
        return
    ids, events, file = bench.company, sessions_across_sleep(), bench.folder / f"{bench.id}_made.db"
    whole = simulated(bench.build(*ids, beside=(MAKER,)), events)
    first = bench.build(*ids, path=file, beside=(MAKER,))
    for i, event in enumerate(events):
        if i in (10, 27):
            first.close()
            first = bench.build(*ids, path=file, beside=(MAKER,))
        first.encode(event)
        if i % 9 == 8:
            first.retrieve(f"What did {event.speaker} do in Lisbon?", learn=True)
    first.advance(events[-1].time + 80.0)
    assert first.digest() == whole.digest(), "the memory that was closed and opened again differs"
    answer = whole.retrieve("Who painted Lisbon with Ada?", whole.store.n, learn=True)
    assert np.isfinite(answer.scores).all() and len(answer) and whole.store.n > len(events) / 2
    for column in whole.store.columns:
        if column.scope.persists:
            _require_within_bounds(column, whole.column(column))
    first.close()


def a_saved_tick_is_whole(bench: Bench) -> None:
    """Hooks of ENCODE change no other cells of earlier rows and edges than they say, in no call:
    a file of the last tick is the memory, and `close` adds nothing.

    Blocks have 8 rows, since the last rows, too few for a block, are always compared.  The last
    events repeat earlier ones.
    """
    named, events = NamedCells(), talk()
    repeated = [replace(e, time=events[-1].time + 1.0 + i, id="") for i, e in enumerate(events[:6])]
    with patch.multiple(snapshot, BLOCK=8, EDGES=8, LARGE=8):
        memory = bench.build(
            *bench.company,
            path=bench.folder / f"{bench.id}_tick.db",
            tick_hours=0.0,
            observer=named,
        )
        for i, event in enumerate([*events, *repeated]):
            memory.encode(event)
            assert not named.missed, (
                f"cells were changed that no hook named by view.wrote: {named.missed}"
            )
            memory.advance(memory.now)
            assert memory.changes.snapshot is not None
            late = memory.changes.snapshot.unsaved()
            assert not late, (
                f"an event changed cells of {', '.join(late)} that no hook named by view.wrote"
            )
            if i % 9 == 8:
                memory.retrieve(f"What did {event.speaker} do in Lisbon?", learn=True)
                memory.advance(memory.now)
        memory.close()


def weight_acts_in_the_ranking_alone(bench: Bench) -> None:
    """The weight of a signal changes no state of a memory in which no query learns, and no score
    of a signal, unless it is 0.
    """
    declared = bench.registry.entry(bench.id).params.get("weight")
    if declared is None:
        return
    low, high = declared.low or 0.0, 2.0 if declared.high is None else declared.high
    sets = [
        [
            checked_instance(bench.registry, i, {"weight": weight} if i == bench.id else None)
            for i in sorted(bench.company, key=bench.registry.order.__getitem__)
        ]
        for weight in (low, (low + high) / 2.0, high)
    ]
    memories = [
        simulated(Engine(chosen, HashingEmbedder(32)), sessions_across_sleep(), learn=False)
        for chosen in sets
    ]
    assert len({memory.digest() for memory in memories}) == 1, (
        "the weight changed the state of a memory"
    )
    variants = Variants(memories[0])
    plans = [variants.plan_for(chosen) for chosen in sets]
    steps = [tuple(node.label for node in plan.nodes) for plan in plans]
    for labels in dict.fromkeys(steps):
        same = [
            plan for plan, other_labels in zip(plans, steps, strict=True) if other_labels == labels
        ]
        answers = variants.retrieve_each(QUESTION, 10, variants.parameter_arms(same))
        for together, plan in zip(answers, same, strict=True):
            alone = variants.retrieve(QUESTION, 10, plan)
            assert together.final.tobytes() == alone.final.tobytes(), (
                "a hook of retrieval reads the weight"
            )


def without_words_direct_signals_are_neutral(bench: Bench) -> None:
    """A question without text scores every memory alike in each direct signal, which measures a
    match with the text; what is ranked then is time, use, strength and the asker's session.
    """
    direct = [
        c for c in bench.registry.entry(bench.id).load().owns if isinstance(c, Signal) and c.direct
    ]
    if not direct:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        memory = simulated(bench.build(*bench.company), talk(), learn=False)
    for text in ("", " \n"):
        memory.retrieve(Query(text, session="s2"))
        for signal in direct:
            scores = memory.column(signal)
            scores = np.where(np.isnan(scores), signal.floor, scores)
            assert np.ptp(scores) == 0.0, f"{signal.name} matches a question without words"


def _require_same_columns(plain: Engine, grown: Engine, rows: Any) -> None:
    """The persistent columns are the same in both memories; rows, numbers of rows and writings
    are counted without the made ones.
    """
    writings = [
        number
        for number, writing in enumerate(grown.event_log.writings)
        if writing.maker != ARCHIVIST.id
    ]
    for column in plain.store.columns:
        if not column.scope.persists or column.scope is Scope.EDGE or column in (HIDE, SHOW):
            continue
        plain_values, grown_values = plain.column(column), grown.column(column)
        grown_values = grown_values[rows] if column.scope is Scope.MEMORY else grown_values
        # rows, numbers of rows, or writings
        if plain_values.dtype.kind in "iu" and not np.array_equal(plain_values, grown_values):
            counted = (
                np.where(grown_values >= 0, np.searchsorted(kept, grown_values), grown_values)
                for kept in (rows, writings)
            )
            grown_values = next(
                (renumbered for renumbered in counted if np.array_equal(plain_values, renumbered)),
                grown_values,
            )
        np.testing.assert_allclose(
            grown_values,
            plain_values,
            rtol=1e-7 if plain_values.dtype != np.float32 else 1e-4,
            atol=1e-9 if plain_values.dtype != np.float32 else 1e-5,
            err_msg=column.name,
        )
    edges, more = (
        _edges(plain, np.arange(plain.store.n)),
        _edges(grown, np.searchsorted(rows, np.arange(grown.store.n))),
    )
    assert edges.keys() == more.keys(), "the edges differ"
    for name in (c.name for c in plain.store.columns if c.scope is Scope.EDGE):
        plain_values, grown_values = (
            plain.graph.column(name)[[edges[key] for key in edges]],
            grown.graph.column(name)[[more[key] for key in edges]],
        )
        np.testing.assert_allclose(grown_values, plain_values, rtol=1e-6, atol=1e-7, err_msg=name)


def _edges(memory: Engine, place: Any) -> dict[tuple[int, int, int], int]:
    """Live edge -> its number, rows counted as the events alone are."""
    graph = memory.graph
    ends = (
        (int(place[node]) if node >= 0 else node for node in map(int, nodes))
        for nodes in (graph.source, graph.target)
    )
    return {
        key: edge
        for edge, key in enumerate(zip(*ends, map(int, graph.type), strict=True))
        if graph.alive[edge]
    }


CHECKS: tuple[ConformanceCheck, ...] = (
    class_declares_what_it_owns, same_seed_same_state, tick_length_does_not_matter,
    late_columns_are_computed_one_memory_at_a_time,
    queries_change_nothing, wrong_clocks_do_no_harm, order_is_that_of_arrival,
    continuing_from_a_file_equals_an_uninterrupted_run, no_work_on_an_empty_store,
    outputs_are_finite_on_hostile_input, off_means_neutral,
    random_streams_are_private, undeclared_access_is_refused, a_year_loses_no_text,
    made_rows_change_nothing,
    made_rows_that_stay_visible_do_no_harm, a_saved_tick_is_whole, weight_acts_in_the_ranking_alone,
    without_words_direct_signals_are_neutral,
)  # fmt: skip
