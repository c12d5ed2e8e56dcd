"""Looking into a memory: columns, schedule, hits and what is printed; the edges of the library."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, timezone
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hebbarium as hb
from hebbarium.engine.base.errors import ContractError, HebbariumError, InputError
from hebbarium.engine.base.times import hours
from hebbarium.engine.catalogue.stand_ins import checked_instance
from hebbarium.engine.contract.columns import Phase, Scope
from hebbarium.engine.contract.records import Event, Query
from hebbarium.engine.contract.vocabulary import (
    EMBEDDING,
    FUSED,
    GRAPH,
    MATCH,
    NOW,
    RERANKED,
    VETO,
    VISIBLE,
)
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.memory.telling import CHUNK
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.state.graph import EdgeType
from hebbarium.engine.state.ranking import Hit
from hebbarium.testing.small import by_number, column, does, mechanism, memory, numbered

MONDAY = datetime(2024, 5, 6, 8, tzinfo=UTC)


# --- columns --------------------------------------------------------------------------------------
def test_a_column_by_itself_and_by_its_name_is_read_only() -> None:
    e = memory(by_number())
    e.encode_all(numbered(3, 5, 4))
    e.retrieve("number")
    assert (
        e.column("number_held").tolist() == [3.0, 5.0, 4.0]
        and e.column(NOW) == 0.02
        and e.column("number").dtype == np.float32
    )
    assert e.column(EMBEDDING).shape == (3, 16) and e.column(VISIBLE) is e.column("visible")
    for c in e.store.columns:
        found = e.column(c)
        with pytest.raises(ValueError, match="read-only"):
            found[...] = 0
        for view in (found, found[...], found.view()):
            with pytest.raises(ValueError, match="WRITEABLE"):
                view.setflags(write=True)
    assert e.store.array(VISIBLE).flags.writeable
    e.archive(0)
    assert e.column(VISIBLE).tolist() == [False, True, True], "a view of the memory, not a copy"


def test_an_edge_column_has_a_cell_for_each_edge() -> None:
    trust = column("trust", Scope.EDGE, 0.5)
    e = memory(mechanism("m", does(Phase.MAINTAIN, lambda v, _: None, sets=[trust]), owns=[trust]))
    assert e.column(trust).shape == (0,)
    e.encode(Event(0.0, "Ada met Bo in Oslo"))
    found = e.column("trust")
    assert (
        found.shape == (e.store.graph.n_edges,)
        and (found == 0.5).all()
        and not found.flags.writeable
    )


def test_the_graph_is_read_only() -> None:
    trust = column("trust", Scope.EDGE, 0.5)
    e = memory(mechanism("m", does(Phase.MAINTAIN, lambda v, _: None, sets=[trust]), owns=[trust]))
    e.encode_all([Event(0.0, "Ada met Bo in Oslo"), Event(1.0, "Bo went home")])
    graph, whole = e.graph, e.store.graph
    assert repr(graph).startswith("<read-only Graph: alive, column, created, ")
    assert (
        graph.n_edges == whole.n_edges > 0
        and graph.entity_id("bo") == whole.entity_id("bo") is not None
    )
    assert graph.column("trust").tolist() == [0.5] * whole.n_edges
    arrays = [graph.source, graph.target, graph.type, graph.alive, graph.created,
              graph.column("trust"),
              graph.neighbours(0, EdgeType.ENTITY), *graph.csr(EdgeType.ENTITY),
              *graph.links(EdgeType.ENTITY)]  # fmt: skip
    for array in arrays:
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.setflags(write=True)
    before = e.digest()
    for change in ("add", "remove", "entity", "cover_rows", "allocate", "state"):
        with pytest.raises(ContractError, match="would change the structure"):
            getattr(graph, change)
    with pytest.raises(AttributeError):
        graph.epoch = 7
    assert e.digest() == before


def test_a_stage_that_no_step_computes_is_the_stage_before() -> None:
    e = memory(by_number())
    e.encode_all(numbered(3, 5, 4))
    answer = e.retrieve("number")
    for stage in (MATCH, FUSED, RERANKED):
        np.testing.assert_array_equal(e.column(stage), answer.final)


@pytest.mark.parametrize(("unknown", "cure"), [
    ("numbr", "the nearest name is number"), (column("number_held"),
                                              "the nearest names are number_held, number"), ("",
                                              "none of the "),
    (None, "none of the "), (7, "none of the "), (column("other"), "none of the ")], ids=repr)  # fmt: skip
def test_an_unknown_column_is_refused_with_the_names_near_it(unknown: Any, cure: str) -> None:
    with pytest.raises(InputError, match="no column") as caught:
        memory(by_number()).column(unknown)
    assert caught.value.cure.startswith(cure)


# --- schedule and mechanisms ----------------------------------------------------------------------
def test_the_schedule_is_rows_and_prints() -> None:
    e = memory(by_number())
    assert [(s.place, s.step) for s in e.schedule[Phase.ENCODE]] == [
        (1, "engine.store"),
        (2, "number.hook0"),
    ]
    assert [s.step for s in e.schedule[Phase.RETRIEVE]] == [
        "engine.weigh",
        "engine.restrict",
        "engine.admit",
        "number.hook1",
        "engine.gather",
        "engine.answer",
    ]
    assert e.schedule[Phase.ENCODE][1].reads == ("row",) and e.schedule[Phase.ENCODE][1].writes == (
        "number_held",
    )
    assert [s.step for s in e.schedule] == [
        n.label for nodes in e.assembly.phases.values() for n in nodes
    ] and len(e.schedule) == 8
    lines = str(e.schedule).splitlines()
    assert lines[0].split()[:5] == ["phase", "step", "reads", "writes", "(+:"] and len(lines) == 9
    assert "number.hook0 row" in " ".join(str(e.schedule).split()) and repr(e.schedule) == str(
        e.schedule
    )


def test_additions_are_marked_and_earlier_values_named() -> None:
    gate = mechanism(
        "gate", does(Phase.ENCODE, lambda v, _: None, reads=[GRAPH.before], adds=[VETO])
    )
    step = memory(gate).schedule[Phase.ENCODE][0]
    assert (step.step, step.reads, step.adds, step.sets, step.writes) == (
        "gate.hook0",
        ("graph.before",),
        ("veto",),
        (),
        ("+veto",),
    )


def test_mechanisms_are_in_registry_order(build: Callable[..., Engine]) -> None:
    assert [m.id for m in build("recency", "dense_similarity").mechanisms] == [
        "dense_similarity",
        "recency",
    ]


# --- hits -----------------------------------------------------------------------------------------
def test_an_answer_is_its_hits() -> None:
    e = memory(by_number())
    e.encode_all(
        [
            Event(1.0, "number 3", id="a"),
            Event(2.0, "number 5", "Ada", id="b"),
            Event(3.0, "number 4"),
        ]
    )
    answer = e.retrieve("number", k=2)
    assert list(answer) == [
        Hit("number 5", "b", float(answer.scores[0]), 2.0, 1, "Ada"),
        Hit("number 4", "", float(answer.scores[1]), 3.0, 2),
    ]
    assert (
        len(answer) == 2
        and answer.events == (e.event(1), e.event(2))
        and list(answer) == list(answer)
    )
    assert all(type(hit.row) is int and type(hit.score) is float for hit in answer)
    assert list(memory().retrieve("x")) == []


# --- what is printed ------------------------------------------------------------------------------
def test_engine_answer_and_mechanism_print_in_one_line(build: Callable[..., Engine]) -> None:
    e = build("recency", "dense_similarity")
    assert repr(e) == "<Engine: 2 mechanisms, 0 memories, 0 events, now before the first event>"
    e.encode_all(
        [
            Event(hours(MONDAY), "We moved to the old mill." + " Far away." * 20),
            Event(hours(MONDAY) + 1.0, "x"),
        ]
    )
    assert repr(e) == "<Engine: 2 mechanisms, 2 memories, 2 events, now 2024-05-06 09:00>"
    e.archive(1)
    assert "2 memories (1 archived)" in repr(e)
    answer = e.retrieve("the old mill")
    assert (
        repr(answer).startswith("<Answer: 1 of 1 memories, best 'We moved to the old mill.")
        and len(repr(answer)) < 110
    )
    assert repr(e.retrieve("x", 0)) == "<Answer: 0 of 1 memories>"
    assert (
        repr(e.mechanisms[0])
        == "<dense_similarity of retrieval: length_penalty=0.1, passages=True, weight=1.0>"
    )


def test_a_mechanism_shows_units_and_a_changed_time_scale(registry: hb.Registry) -> None:
    assert (
        repr(registry.instance("recency", {"half_life": 7.0}))
        == "<recency of retrieval: half_life=7.0 d, weight=0.05>"
    )
    assert repr(registry.instance("recency", {"time_scale": 2.0})).startswith(
        "<recency of retrieval: time_scale=2.0, half_life="
    )
    assert all("\n" not in repr(checked_instance(registry, id)) for id in registry.entries)


class Tags(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_notebooks_show_texts_as_text() -> None:
    bad = "<script>alert('1')</script> & \"more\""
    e = memory(mechanism("<b>"))
    e.encode(Event(hours(MONDAY), bad, id="<img src=x>"))
    for shown, wanted in (
        (e._repr_html_(), ("<b>", "2024-05-06 08:00")),
        (e.retrieve("x")._repr_html_(), (bad, "<img src=x>", "8:00 am on 6 May")),
    ):
        page = Tags(shown)
        assert page.tags == {"table", "tr", "th", "td"} and all(
            text in page.text for text in wanted
        )


# --- edges of the library -------------------------------------------------------------------------
def test_a_with_block_closes_the_memory(tmp_path: Path) -> None:
    with memory(by_number(), path=tmp_path / "m.db") as e:
        e.encode_all(numbered(1, 2))
        digest = e.digest()
    with pytest.raises(HebbariumError, match="is closed"):
        e.retrieve("number")
    with (
        pytest.raises(RuntimeError, match="ours"),
        memory(by_number(), path=tmp_path / "m.db") as again,
    ):
        assert again.digest() == digest
        raise RuntimeError("ours")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        memory(by_number(), path=tmp_path / "m.db").close()


# closing twice is harmless; the others describe the memory
ANSWERS_AFTER_CLOSE = {"close", "now", "mechanisms", "schedule", "sources", "tasks"}
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "encode": (Event(9.0, "number 9"),), "encode_all": ([Event(9.0, "number 9")],), "advance": (9.0,
    ), "retrieve": ("number",),
    "asks_all": (3,), "context": ("number",), "explain": ("number", 0), "column": ("now",),
    "event": (0,), "unit": (0,),
    "archive": (0,), "restore": (0,), "save": (), "use": ([0],), "digest": (), "erase": ("e0",),
    "offers": ("number",), "outcome": (0, True),
}  # fmt: skip
PUBLIC = sorted(name for name in vars(Engine) if not name.startswith("_"))


@pytest.mark.parametrize("file", [True, False], ids=["with a file", "without a file"])
@pytest.mark.parametrize("name", sorted({*PUBLIC} - ANSWERS_AFTER_CLOSE))
def test_a_closed_memory_refuses_every_call(name: str, file: bool, tmp_path: Path) -> None:
    def call(e: Engine) -> None:
        bound = {"erase": partial(e.erase, confirm=True), "use": partial(e.use, answer)}
        member = bound.get(name) or getattr(e, name)
        if not isinstance(getattr(Engine, name), property):
            member(*ARGUMENTS[name])

    e = memory(by_number(), path=tmp_path / "m.db" if file else None)
    e.encode_all(numbered(1, 2))
    answer = e.retrieve("number")
    call(e)
    facts = repr(e), e.now, len(e.schedule)
    e.close()
    e.close()
    with pytest.raises(HebbariumError, match="is closed") as caught:
        call(e)
    assert caught.value.where == name and "make a new memory" in caught.value.cure
    with pytest.raises(HebbariumError, match="is closed"), e:
        pass
    assert (repr(e), e.now, len(e.schedule)) == facts and [m.id for m in e.mechanisms] == ["number"]


def test_an_iterator_of_events_that_closes_the_memory_is_told_of_its_own_call() -> None:
    def coming() -> Iterator[Event]:
        yield from numbered(*range(CHUNK))
        e.close()
        yield Event(9999.0, "late")

    e = memory(by_number())
    with pytest.raises(HebbariumError, match="is closed") as caught:
        e.encode_all(coming())
    assert caught.value.where == "encode_all" and e.store.n == CHUNK


def test_a_memory_that_failed_and_was_closed_says_both() -> None:
    def fail(view: Any, _: Any) -> None:
        raise RuntimeError

    e = memory(mechanism("m", does(Phase.ENCODE, fail)))
    with pytest.raises(RuntimeError):
        e.encode(Event(1.0, "x"))
    e.close()
    with pytest.raises(HebbariumError, match="this memory broke off in encode and is closed"):
        e.retrieve("x")


def test_closing_an_empty_memory_warns_of_nothing(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            with memory(by_number(), path=tmp_path / "m.db") as e:
                assert np.isnan(e.now)
        with memory(by_number(), path=tmp_path / "m.db") as e:
            e.encode(numbered(1)[0])


def test_datetimes_are_taken_wherever_hours_are() -> None:
    one, other = memory(by_number()), memory(by_number())
    start: Any = MONDAY
    one.encode(Event(start, "number 1"))
    other.encode(Event(hours(MONDAY), "number 1", offset=None if start.tzinfo is None else 0.0))
    one.encode_all(
        [Event(start.astimezone(timezone(timedelta(hours=2))) + timedelta(minutes=30), "number 2")]
    )
    # an aware datetime says the offset of its clock
    other.encode_all([Event(hours(MONDAY) + 0.5, "number 2", offset=2.0)])
    one.advance(datetime(2024, 5, 6, 10))
    other.advance(hours(MONDAY) + 2.0)
    assert one.digest() == other.digest() and type(one.event(0).time) is float
    at = Query("number", start + timedelta(hours=2))
    assert one.retrieve(at).rows.tolist() == [1, 0] and one.answering.asked(at).cue.query == Query(
        "number", other.now, offset=0.0
    )
    wrong: Any
    for wrong, why in (
        (start, "backwards"),
        (datetime.min, "backwards"),
        (start.date(), "no number"),
        (timedelta(hours=5), "no number"),
    ):
        calls: list[tuple[Callable[[Any], Any], Any]] = [
            (one.encode, Event(wrong, "x")),
            (one.advance, wrong),
            (one.retrieve, Query("x", wrong)),
        ]
        for call, given in calls:
            with pytest.raises(InputError, match=why):
                call(given)
    with pytest.raises(InputError, match="after the memory's present"):
        one.retrieve(Query("x", start + timedelta(days=1)))
    assert one.digest() == other.digest()


@pytest.mark.parametrize("row", [-1, 2, 10**9, 0.0, True, None, "0"], ids=repr)
def test_a_row_out_of_range_is_refused_with_the_range(row: Any) -> None:
    e = memory(by_number())
    e.encode_all(numbered(1, 2))
    for call in (e.event, e.unit, e.archive, e.restore):
        with pytest.raises(InputError, match="the row is") as caught:
            call(row)
        assert "from 0 to 1" in caught.value.cure
    with pytest.raises(InputError) as caught:
        memory().event(row)
    assert "no rows yet" in caught.value.cure
    assert e.event(np.int64(1)).text == "number 2"  # type: ignore[arg-type]


class Letters:
    """An embedder that inherits nothing: counts of letters."""

    name, revision, dimensions = "letters", "1", 27

    def embed(self, texts: Any) -> Any:
        found = np.array(
            [[1.0, *(text.lower().count(chr(97 + i)) for i in range(26))] for text in texts],
            dtype=np.float32,
        )
        return found / np.linalg.norm(found, axis=1, keepdims=True)


def test_any_object_with_the_protocol_is_an_embedder() -> None:
    with hb.memory("hybrid", embedding=Letters()) as e:
        e.encode_all([Event(0.0, "zzz zzz"), Event(0.0, "aaa bbb")])
        assert e.retrieve("zz").rows[0] == 0 and e.assembly.embedder.name == "letters"
    with hb.memory("hybrid", embedding=HashingEmbedder(8)) as e:
        assert e.column(EMBEDDING).shape == (0, 8)


@pytest.mark.parametrize(
    "wrong", [object(), 7, None, str.upper], ids=["object", "number", "none", "function"]
)
def test_objects_without_the_embedder_protocol_are_refused(wrong: Any) -> None:
    for call in (lambda: hb.memory("bm25", embedding=wrong), lambda: Engine([], wrong)):
        with pytest.raises(InputError, match="is no embedder") as caught:
            call()
        assert caught.value.cure
