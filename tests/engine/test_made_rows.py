"""Rows that the memory makes: drafts, writings, the vote on archiving, units, answers,
snapshots, and erasing.
"""

from __future__ import annotations

import gc
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import FrameType, FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest
from tiers import slow_unless

from hebbarium.engine.base.errors import ContractError, InputError
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.columns import Phase, Scope, Upkeep
from hebbarium.engine.contract.drafts import Draft, Kind
from hebbarium.engine.contract.records import Event, Only, Query
from hebbarium.engine.contract.vocabulary import (
    CREATED,
    DETAIL,
    DRAFTS,
    EMBEDDING,
    GRAPH,
    HIDE,
    KIND,
    LANGUAGE_MODEL,
    LEXICON,
    MADE,
    ROW,
    SESSION,
    SHOW,
    SPEAKER,
    TEXTS,
    TRIGRAMS,
    VISIBLE,
    WRITING,
    WRITINGS,
)
from hebbarium.engine.contract.writings import Writing
from hebbarium.engine.flow.observer import Observer
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.memory.history import History, history
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.ports.language_model import NoModel, Reply, Request, Status
from hebbarium.engine.ports.transcript import Transcript
from hebbarium.engine.state.graph import EdgeType
from hebbarium.engine.text.condensing import condensed
from hebbarium.testing.small import column, does, mechanism, memory, score

SAID = (
    "We painted the old mill red; then we slept",
    "Bo sold the blue boat in Oslo",
    "The mill burnt down in June",
    "Cleo bought bread",
)


def said(*texts: str, start: float = 0.0) -> list[Event]:
    """Events with ids e0, e1, ..., one hour apart, by Ada and Bo in turn, two in a session."""
    return [
        Event(
            start + i,
            text,
            ("Ada", "Bo")[i % 2],
            f"s{i // 2}",
            f"e{i}",
            attributes=(("kind", "note" if i else "plan"),),
        )
        for i, text in enumerate(texts)
    ]


def maker(
    *drafts: Draft, votes: Any = None, more: Any = None, id: str = "maker", order: int = 0
) -> Any:
    """A mechanism that drafts these at its first sleep, adds a note on each row that was made,
    and votes as `votes(view)` does.
    """
    note = column(f"{id}_note", neutral=-1, dtype=np.int64)

    def draft(view: Any, tick: Any) -> None:
        if len(view.writings) == 0:
            for each in drafts:
                view.drafts.add(each)

    def dress(view: Any, tick: Any) -> None:
        for row, draft in view.made:
            if draft.maker == id:
                getattr(view, note.name)[row] = view.writings.add(
                    f"about {draft.text}", "note", id, (row,)
                )

    def vote(view: Any, tick: Any) -> None:
        if votes:
            votes(view)

    return mechanism(
        id,
        does(Phase.CONSOLIDATE, draft, reads=[WRITINGS.before], adds=[DRAFTS]),
        does(Phase.CONSOLIDATE, dress, reads=[MADE], adds=[WRITINGS], sets=[note]),
        does(Phase.CONSOLIDATE, vote, reads=[MADE], adds=[HIDE, SHOW]),
        *(more or ()),
        owns=[note],
        order=order,
    )


SEGMENT = Draft("the old mill red", Kind.SEGMENT, (0,), session=0, speaker=0)
BUNDLE = Draft("A mill was painted and burnt", Kind.BUNDLE, (2, 0, 2))
SUMMARY = Draft("Bo has no boat", Kind.SUMMARY, (1,), created=7.5, speaker=1)


def grown(*mechanisms: Any, **options: Any) -> Engine:
    """Four events, then a sleep, then a fifth event."""
    e = memory(*(mechanisms or (maker(SEGMENT, BUNDLE, SUMMARY),)), **options)
    e.encode_all(said(*SAID))
    e.advance(30.0)
    e.encode(Event(31.0, "After the night the boat was gone", "Ada", "s9", "e9"))
    e.advance(e.now)
    return e


# --- making ---------------------------------------------------------------------------------------
def test_drafts_become_rows_with_their_columns() -> None:
    e = grown()
    assert (
        e.store.n == 8
        and e.column(KIND).tolist() == [0, 0, 0, 0, 1, 2, 3, 0]
        and e.column(VISIBLE).all()
    )
    assert e.column(WRITING).tolist() == [-1, -1, -1, -1, 0, 1, 2, -1] and e.column(
        "maker_note"
    ).tolist() == [-1, -1, -1, -1, 3, 4, 5, -1]
    # of a draft without a time the latest of its sources
    assert e.column(CREATED)[4:].tolist() == [0.0, 2.0, 7.5, 31.0]
    assert e.column(SESSION)[4:7].tolist() == [0, -1, -1] and e.column(SPEAKER)[4:7].tolist() == [
        0,
        -1,
        1,
    ]
    assert (
        e.event_log.writings[0]
        == Writing("the old mill red", "segment", "maker", 24.0, (0,), (11, 27))
        and SAID[0][11:27] == "the old mill red"
    )
    assert e.event_log.writings[3] == Writing("about the old mill red", "note", "maker", 24.0, (4,))
    assert (
        not any(node in (4, 5, 6) for node in (*e.graph.source, *e.graph.target))
        and e.graph.n_rows == 8
    )


def test_units_show_the_events_whose_text_they_hold() -> None:
    e = grown()
    unit = e.unit(4)
    assert (unit.kind, unit.text, unit.time, unit.session, unit.speaker) == (
        Kind.SEGMENT,
        "the old mill red",
        0.0,
        "s0",
        "Ada",
    )
    assert [(e.unit(row).sources, e.unit(row).events) for row in (1, 4, 5, 6)] == [
        (("e1",), ("e1",)),
        (("e0",), ("e0",)),
        (("e2", "e0"), ("e2", "e0")),
        (("e1",), ()),
    ]
    assert (
        e.unit(0).text == e.event(0).text
        and e.unit(1).speaker == "Bo"
        and [e.unit(row).id for row in (0, 5)] == ["e0", ""]
    )
    with pytest.raises(InputError, match="row 5 is a bundle"):
        e.event(5)
    assert condensed(e.unit(6).text, int(e.column(DETAIL)[6])) == "Bo has no boat"


def test_a_segment_of_a_bundle_shows_the_events_that_hold_it() -> None:
    first, held = (
        (Draft(f"{SAID[1]}; {SAID[3]}", Kind.BUNDLE, (1, 3)), Draft(SAID[0], Kind.SUMMARY, (0,))),
        [],
    )

    def again(view: Any, tick: Any) -> None:
        if len(view.writings) == 4:
            view.drafts.add(Draft("blue boat", Kind.SEGMENT, (4,)))
            view.drafts.add(Draft("old mill", Kind.SEGMENT, (5,)))
            held.append(view.texts[4])

    e = memory(
        maker(*first),
        mechanism(
            "again", does(Phase.CONSOLIDATE, again, reads=[WRITINGS.before, TEXTS], adds=[DRAFTS])
        ),
    )
    e.encode_all(said(*SAID))
    e.advance(60.0)
    assert (
        held == [f"{SAID[1]}; {SAID[3]}"]
        and e.unit(6).events == ("e1",)
        and e.unit(6).sources == ("e1", "e3")
        and e.unit(7).events == ()
    )


def test_a_segment_is_embedded_as_its_event_is_and_all_made_texts_in_one_batch() -> None:
    e = grown()
    texts = [
        "[12:00 am on 1 January, 1970] Ada: the old mill red",
        "A mill was painted and burnt",
        "Bo has no boat",
    ]
    np.testing.assert_array_equal(e.column(EMBEDDING)[4:7], e.assembly.embedder.embed(texts))
    calls: list[int] = []

    class Counting(type(e.assembly.embedder.embedder)):  # type: ignore[misc]
        def embed(self, texts: Any) -> Any:
            calls.append(len(texts))
            return super().embed(texts)

    quiet = Engine([maker(SEGMENT, BUNDLE, SUMMARY)], Counting(16))
    for event in said(*SAID):
        quiet.encode(event)
    quiet.advance(30.0)
    assert calls == [1, 1, 1, 1, 3]


@pytest.mark.parametrize(("draft", "reason"), [
    (Draft("mill blue", Kind.SEGMENT, (0,)), "no exact part"), (Draft("mill", Kind.SEGMENT, (0, 2)),
    "no exact part"),
    (Draft("mill", Kind.SEGMENT, (0,), (0, 4)), "no exact part"), (Draft("x", Kind.SUMMARY, ()),
    "not all rows"),
    (Draft("x", Kind.SUMMARY, (9,)), "not all rows"), (Draft("x", Kind.SUMMARY, (-1,)),
    "not all rows"), (Draft("", Kind.BUNDLE, (0,)), "kind"),
    (Draft("x", Kind.EVENT, (0,)), "kind"), (Draft("x", 7, (0,)), "kind"), (Draft("x", Kind.BUNDLE,
    (0,), created=float("nan")), "created")])  # fmt: skip
def test_an_invalid_draft_is_refused_and_names_its_maker(draft: Draft, reason: str) -> None:
    with pytest.raises(ContractError, match=reason) as caught:
        grown(maker(draft))
    assert "maker" in caught.value.where and caught.value.cure


def test_hooks_that_read_made_run_only_if_something_was_made() -> None:
    runs: list[list[int]] = []
    watch = mechanism(
        "watch",
        does(
            Phase.CONSOLIDATE,
            lambda view, tick: runs.append([row for row, _ in view.made]),
            reads=[MADE],
        ),
    )
    e = grown(maker(SEGMENT, BUNDLE), watch)
    e.advance(200.0)
    assert runs == [[4, 5]] and e.column(KIND).tolist() == [0, 0, 0, 0, 1, 2, 0]


def test_two_makers_know_their_own_rows() -> None:
    one, other = maker(SEGMENT, id="one"), maker(BUNDLE, id="other", order=1)
    e = grown(one, other)
    assert e.column("one_note")[4:6].tolist() == [2, -1] and e.column("other_note")[
        4:6
    ].tolist() == [-1, 3]
    assert [w.maker for w in e.event_log.writings] == ["one", "other", "one", "other"]


def test_views_after_the_step_show_the_new_rows_also_when_the_store_has_grown() -> None:
    """More rows than the store has room for: sizes before and after the step, and contributions
    of hooks that ran before it.
    """
    sizes, count = [], 300
    drafts = [Draft(f"summary {i}", Kind.SUMMARY, (0,)) for i in range(count)]

    def before(view: Any, tick: Any) -> None:
        sizes.append(len(view.kind))
        view.tally += 1.0

    def after(view: Any, tick: Any) -> None:
        sizes.append(len(view.kind))

    tally = column("tally", upkeep=Upkeep(fresh=Phase.CONSOLIDATE))
    e = grown(
        maker(*drafts),
        mechanism(
            "both",
            does(Phase.CONSOLIDATE, before, reads=[KIND], adds=[tally]),
            does(Phase.CONSOLIDATE, after, reads=[KIND, MADE]),
            owns=[tally],
        ),
    )
    assert sizes[:2] == [4, 304] and e.column(tally).tolist() == [1.0] * 4 + [0.0] * 301
    assert e.column("maker_note")[4:304].min() == 300 and len(e.retrieve("summary 7", 400)) == 305


def test_before_is_the_last_event_whatever_was_made_or_vetoed() -> None:
    seen: list[tuple[int, int]] = []
    e = grown(
        maker(SEGMENT),
        mechanism(
            "watch",
            does(
                Phase.ENCODE,
                lambda view, incoming: seen.append((view.row, incoming.before)),
                reads=[ROW],
            ),
        ),
    )
    assert seen == [(0, -1), (1, 0), (2, 1), (3, 2), (5, 3)] and e.store.n == 6


def test_statistics_of_the_postings_count_events_only() -> None:
    found: list[Any] = []

    def ask(view: Any, cue: Any) -> None:
        out = np.zeros(len(view.kind), np.float32)
        view.lexicon.scores(["mill"], out, lambda n, frequency: 10.0 * n + frequency, k1=0.0)
        found.append(
            (
                view.lexicon.n_rows,
                view.lexicon.n_counted,
                view.lexicon.document_frequency("mill"),
                out.tolist(),
            )
        )

    e = grown(
        maker(SEGMENT, BUNDLE),
        mechanism("ask", does(Phase.RETRIEVE, ask, reads=[LEXICON, TRIGRAMS, KIND])),
    )
    e.retrieve("mill")
    assert found == [(7, 5, 2, [52.0, 0.0, 52.0, 0.0, 52.0, 52.0, 0.0])]


@pytest.mark.parametrize(("declared", "reason"), [
    ({"reads": [DRAFTS]}, "hooks only add"), ({"sets": [DRAFTS]}, "hooks only add"),
    ({"sets": [WRITINGS]}, "only appended"),
    ({"sets": [MADE]}, "the engine alone"), ({"sets": [KIND]}, "the engine alone"),
    ({"adds": [WRITING]}, "the engine alone")])  # fmt: skip
def test_declarations_that_mean_nothing_are_refused(declared: dict[str, Any], reason: str) -> None:
    with pytest.raises(ContractError, match=reason):
        mechanism("bad", does(Phase.CONSOLIDATE, lambda view, tick: None, **declared))


@pytest.mark.parametrize(("phase", "declared"), [
    (Phase.ENCODE, {"adds": [WRITINGS]}), (Phase.ENCODE, {"adds": [DRAFTS]}), (Phase.RETRIEVE,
    {"reads": [MADE]}),
    (Phase.MAINTAIN, {"reads": [WRITINGS]}), (Phase.MAINTAIN, {"adds": [HIDE]}), (Phase.ENCODE,
    {"reads": [LANGUAGE_MODEL]})])  # fmt: skip
def test_declarations_in_another_phase_are_refused(phase: Phase, declared: dict[str, Any]) -> None:
    with pytest.raises(ContractError):
        mechanism("bad", does(phase, lambda view, what: None, **declared))


def test_writings_are_append_only_for_readers() -> None:
    def peek(view: Any, cue: Any) -> None:
        with pytest.raises(ContractError):
            view.writings.add("x", "note", "peek")
        with pytest.raises(ContractError, match="no writing 99"):
            view.writings[99]
        assert [w.text for w in view.writings][:1] == ["the old mill red"] and len(
            view.writings
        ) == 2

    grown(maker(SEGMENT), mechanism("peek", does(Phase.RETRIEVE, peek, reads=[WRITINGS]))).retrieve(
        "mill"
    )


# --- archiving is a vote --------------------------------------------------------------------------
def votes(hide: dict[int, int], show: dict[int, int]) -> Any:
    def vote(view: Any) -> None:
        for cells, given in ((view.hide, hide), (view.show, show)):
            for row, number in given.items():
                cells[row] += number

    return vote


def test_rows_are_hidden_and_shown_by_the_majority() -> None:
    """Row 0: two against one; row 1: a tie; row 2: shown again; row 3: no vote; row 4: made and
    hidden at once.
    """
    e = memory(
        maker(SEGMENT, votes=votes({0: 1, 1: 1, 4: 1}, {2: 1})),
        maker(BUNDLE, id="other", votes=votes({0: 1}, {0: 1, 1: 1})),
    )
    e.encode_all(said(*SAID))
    e.assembly.show(2, False)
    e.assembly.show(3, False)
    e.advance(30.0)
    assert e.column(VISIBLE).tolist() == [False, True, True, False, False, True]
    assert e.store.index.visible_mask().tolist() == e.column(VISIBLE).tolist()
    assert e.column(HIDE).tolist() == [2, 1, 0, 0, 1, 0] and e.column(SHOW).tolist() == [
        1,
        1,
        1,
        0,
        0,
        0,
    ]
    e.restore(0)
    e.advance(60.0)
    assert e.column(VISIBLE)[0] and not e.column(HIDE).any(), "votes last for one sleep"


def test_readers_of_visible_run_after_the_vote_and_readers_of_before_ahead_of_it() -> None:
    seen: dict[str, Any] = {}
    watch = mechanism(
        "watch",
        does(
            Phase.CONSOLIDATE,
            lambda view, tick: seen.setdefault("after", view.visible.tolist()),
            reads=[VISIBLE],
        ),
    )
    ahead = mechanism(
        "ahead",
        does(
            Phase.CONSOLIDATE,
            lambda view, tick: seen.setdefault("before", view.visible.tolist()),
            reads=[VISIBLE.before],
            adds=[DRAFTS],
        ),
    )
    grown(maker(SEGMENT, votes=votes({1: 1}, {})), watch, ahead)
    assert seen == {"before": [True] * 4, "after": [True, False, True, True, True]}


# --- answers --------------------------------------------------------------------------------------
def ranked(*best: int) -> Any:
    """Ranks these rows first, in this order."""
    place = score("place")

    def ask(view: Any, cue: Any) -> None:
        view.place[...] = 0.0
        for i, row in enumerate(best):
            view.place[row] = len(best) - i

    return mechanism("ranked", does(Phase.RETRIEVE, ask, sets=[place]), owns=[place])


def test_an_answer_has_units_events_and_sources() -> None:
    e = grown(maker(SEGMENT, BUNDLE, SUMMARY), ranked(6, 5, 3, 4))
    answer = e.retrieve("anything", 4)
    assert answer.rows.tolist() == [6, 5, 3, 4] and [u.kind for u in answer.units] == [
        Kind.SUMMARY,
        Kind.BUNDLE,
        Kind.EVENT,
        Kind.SEGMENT,
    ]
    assert answer.events == (e.event(3),) and answer.records == (None, None, e.event(3), None)
    assert [(hit.id, hit.text) for hit in answer] == [
        ("", "Bo has no boat"),
        ("", BUNDLE.text),
        ("e3", SAID[3]),
        ("", "the old mill red"),
    ]
    # e0 and e2 by the bundle, at one score and rank: by id
    assert answer.sources() == ("e1", "e0", "e2", "e3")
    assert (
        answer.in_time().rows.tolist() == [4, 5, 3, 6] and answer.in_time().events == answer.events
    )
    assert "Bo has no boat" in repr(answer) and answer._repr_html_().count("<tr>") == 5
    assert e.explain("anything", 5).text == BUNDLE.text


def test_sources_take_the_best_score_then_the_first_rank() -> None:
    e = grown(maker(Draft("both", Kind.SUMMARY, (3, 1))), ranked(1, 4))
    answer = e.retrieve("anything", 10)
    assert answer.rows[:2].tolist() == [1, 4] and answer.sources()[:2] == ("e1", "e3")
    tied = replace(answer, scores=np.zeros_like(answer.scores))
    assert tied.sources()[:2] == ("e1", "e3"), "with equal scores the first rank decides"


@pytest.mark.parametrize(("only", "rows"), [
    (Only(exclude=("e0",)), [1, 2, 3, 6, 7]), (Only(exclude=("e1",)), [0, 2, 3, 4, 5, 7]),
    (Only(attributes=(("kind", "note"),)), [1, 2, 3, 6]),
    (Only(attributes=(("kind", "plan"),)), [0, 4]), (Only(speakers=("Bo",)), [1, 3, 6]),
    (Only(sessions=("s0",)), [0, 1, 4]),
    (Only(since=7.0), [6, 7]), (Only(sessions=("s9",)), [7]), (Only(sessions=("nowhere",)), [])])  # fmt: skip
def test_filters_admit_made_rows_by_their_own_columns_and_the_events_behind_them(
    only: Only, rows: list[int]
) -> None:
    e = grown(maker(SEGMENT, BUNDLE, SUMMARY), ranked(0))
    assert sorted(e.retrieve(Query("anything", only=only), 20).rows.tolist()) == rows


# --- snapshots ------------------------------------------------------------------------------------
def test_a_memory_with_made_rows_continues_from_its_file_as_if_it_was_never_closed(
    tmp_path: Path,
) -> None:
    def live(e: Engine, first: int, last: int) -> None:
        for i in range(first, last):
            e.encode(
                Event(
                    i * 7.0, f"Ada met Bo \ud800 at mill number {i}", "Ada", f"s{i // 4}", f"e{i}"
                )
            )
            e.advance(e.now)

    def dreamer() -> Any:
        def dream(view: Any, tick: Any) -> None:
            n = len(view.kind)
            view.drafts.add(Draft(f"summary \udc00 of {n} rows", Kind.SUMMARY, (n - 1, 0)))
            view.drafts.add(
                Draft("Ada met", Kind.SEGMENT, (int(np.flatnonzero(view.kind == 0)[-1]),))
            )
            view.drafts.add(
                Draft(
                    f"bundle {n}", Kind.BUNDLE, tuple(range(max(0, n - 3), n)), created=tick.start
                )
            )

        return mechanism(
            "dreamer", does(Phase.CONSOLIDATE, dream, reads=[KIND.before], adds=[DRAFTS])
        )

    whole = memory(dreamer())
    live(whole, 0, 20)
    path = tmp_path / "m.db"
    for first, last in ((0, 5), (5, 6), (6, 13), (13, 20)):
        e = memory(dreamer(), path=path)
        live(e, first, last)
        e.close()
    e = memory(dreamer(), path=path)
    assert (
        e.digest() == whole.digest()
        and e.store.n == whole.store.n > 26
        and list(e.event_log.writings) == list(whole.event_log.writings)
    )
    assert [e.unit(row) for row in range(e.store.n)] == [
        whole.unit(row) for row in range(e.store.n)
    ]
    for one, other in (
        (e.assembly.lexicon, whole.assembly.lexicon),
        (e.assembly.trigrams, whole.assembly.trigrams),
    ):
        assert (one.n_rows, one.n_counted) == (other.n_rows, other.n_counted) == (whole.store.n, 20)
    assert e.event_log.last == whole.event_log.last == whole.event_log.row("e19")
    e.close()


def test_writings_enter_the_digest() -> None:
    assert (
        len(
            {
                grown(maker(Draft(text, Kind.SUMMARY, sources))).digest()
                for text, sources in (("a", (0,)), ("b", (0,)), ("a", (1,)))
            }
        )
        == 3
    )


# --- relations ------------------------------------------------------------------------------------
def test_relations_are_numbered_and_saved(tmp_path: Path) -> None:
    def relate(view: Any, tick: Any) -> None:
        view.graph.add(0, 1, EdgeType.CONFLICT, tick.end)
        edge = view.graph.add(0, 1, EdgeType.RELATION, tick.end)
        view.relation[edge] = view.graph.relation("is sold by")
        assert view.graph.relation("burnt") == 1 == view.graph.relation("burnt")

    def new() -> Engine:
        kind = column("relation", Scope.EDGE, -1, np.int32)
        return memory(
            mechanism(
                "relate", does(Phase.CONSOLIDATE, relate, adds=[GRAPH], sets=[kind]), owns=[kind]
            ),
            path=tmp_path / "m.db",
        )

    e = new()
    e.encode_all(said(*SAID))
    e.advance(30.0)
    digest = e.digest()
    e.close()
    again = new()
    assert (
        again.digest() == digest
        and again.graph.relation_name(0) == "is sold by"
        and again.column("relation").tolist()[-1] == 0
    )
    assert again.graph.find(0, 1, EdgeType.CONFLICT) is not None
    with pytest.raises(InputError, match="no relation 2"):
        again.graph.relation_name(2)
    again.close()


# --- the language model ---------------------------------------------------------------------------
SCHEMA = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
    "additionalProperties": False,
}


class Parrot:
    """A model that repeats the prompt; `odd` breaks it."""

    name, revision = "parrot", "1"

    def __init__(self, odd: str = "") -> None:
        self.odd = odd

    def ask(self, requests: Any) -> Any:
        if self.odd == "raises":
            raise RuntimeError("no")
        if self.odd == "few":
            return []
        return [
            Reply(Status.OK, {"text": 1} if self.odd == "schema" else {"text": request.prompt})
            for request in requests
        ]


def asker(replies: list[Any]) -> Any:
    def ask(view: Any, what: Any) -> None:
        replies.extend(view.language_model.ask([Request("test", "repeat", "hello", SCHEMA, 10)]))

    return mechanism(
        "asker",
        does(Phase.CONSOLIDATE, ask, reads=[LANGUAGE_MODEL]),
        does(Phase.RETRIEVE, ask, reads=[LANGUAGE_MODEL]),
    )


@pytest.mark.parametrize(
    ("model", "status"),
    [
        (None, Status.NONE),
        (Parrot(), Status.OK),
        (Parrot("raises"), Status.HTTP),
        (Parrot("few"), Status.HTTP),
        (Parrot("schema"), Status.SCHEMA),
    ],
)
def test_hooks_ask_the_language_model_of_the_memory(model: Any, status: Status) -> None:
    replies: list[Any] = []
    observer = Observer()
    e = grown(asker(replies), language_model=model, observer=observer)
    e.retrieve("mill")
    assert [reply.status for reply in replies] == [status, status] and (
        replies[0].data == {"text": "hello"}
    ) is (status is Status.OK)
    assert {key: used.requests for key, used in observer.asked.items()} == {
        (Phase.CONSOLIDATE, "asker"): 1,
        (Phase.RETRIEVE, "asker"): 1,
    }


def facts(model: Any, transcript: str = "") -> dict[str, str]:
    return {
        "language_model": model.name,
        "language_model_revision": model.revision,
        "transcript": transcript,
    }


def test_a_snapshot_keeps_which_models_were_asked_and_opens_with_any(tmp_path: Path) -> None:
    """A model that is added later, another one, none, one that is not asked, and a replay."""
    path, other, replies = tmp_path / "m.db", Parrot(), list[Any]()
    other.revision = "2"

    def opened(model: Any = None) -> Engine:
        return memory(asker(replies), language_model=model, path=path)

    first = grown(asker(replies), path=path)
    assert first.assembly.models_asked == ()
    first.close()
    recording = Transcript(Parrot(), tmp_path / "t.db", "record")
    replay = None
    due: list[dict[str, str]] = []
    for model in (recording, None, other, Parrot(), "replay", recording):
        if model == "replay":
            model = replay = Transcript(NoModel("parrot", "1"), tmp_path / "t.db", "replay")
        e = opened(model)
        digest = e.digest()
        assert list(e.assembly.models_asked) == due
        e.retrieve("mill")
        now = facts(model, getattr(model, "identity", "")) if model else None
        due += [now] if now and now not in due else []
        assert list(e.assembly.models_asked) == due and e.digest() == digest, (
            "which models were asked is no part of the state"
        )
        e.close()
    assert [reply.status for reply in replies[-6:]] == [
        Status(s) for s in ("ok", "none", "ok", "ok", "ok", "ok")
    ] and replay is not None
    assert [each["transcript"] for each in due] == [recording.identity, "", "", replay.digest()]
    opened(Parrot("raises")).close()
    assert opened().assembly.models_asked == tuple(due)


def test_which_models_were_asked_is_in_the_transaction_of_the_tick(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    e = grown(asker([]), language_model=Parrot(), path=path)
    assert e.changes.snapshot is not None
    e.changes.snapshot.close(save=False)  # as if the process were killed
    with closing(sqlite3.connect(path)) as connection:
        (held,) = connection.execute(
            "SELECT value FROM meta WHERE key = 'language_models'"
        ).fetchone()
    assert json.loads(held) == [facts(Parrot())]


# --- erasing --------------------------------------------------------------------------------------
SECRET = "My locker code is quagmire seventeen, Zanzibar"


def secretive(path: Path | None = None) -> Engine:
    """Row 1 is the secret; 4 a segment of it, 5 a bundle with it, 6 a summary of another event."""
    e = memory(
        maker(
            Draft("quagmire seventeen", Kind.SEGMENT, (1,)),
            Draft(f"Also: {SECRET}", Kind.BUNDLE, (0, 1)),
            Draft("The mill is red", Kind.SUMMARY, (0,)),
        ),
        path=path,
    )
    events = said(SAID[0], SECRET, *SAID[2:])
    events[1] = Event(
        events[1].time,
        SECRET,
        "Bo",
        "s0",
        "e1",
        "a photo of a quagmire",
        attributes=(("tags", "quagmire"),),
    )
    e.encode_all(events)
    e.advance(30.0)
    return e


def test_erasing_overwrites_the_event_and_what_was_made_from_it() -> None:
    e = secretive()
    assert e.erase("e1", confirm=True) == (1, 4, 5)
    assert [e.unit(row).text for row in range(7)] == [SAID[0], "", SAID[2], SAID[3], "", "",
        "The mill is red"]  # fmt: skip
    assert e.event(1) == Event(1.0, "", "Bo", "s0", "e1") and e.column(VISIBLE).tolist() == [True,
        False, True, True, False, False, True]  # fmt: skip
    assert (
        not any("quagmire" in w.text for w in e.event_log.writings)
        and [w.text for w in e.event_log.writings][-1] == "about The mill is red"
    )
    assert (
        e.assembly.lexicon.document_frequency("quagmir") == 0
        and "quagmir" not in e.assembly.lexicon.vocabulary.numbers
    )
    assert (
        "qua" not in e.assembly.trigrams.vocabulary.numbers
        and e.graph.entity_id("zanzibar") is None
    )
    assert not any("zanzibar" in e.graph.entity_name(i).lower() for i in range(e.graph.n_entities))
    assert not ((e.graph.source == 1) | (e.graph.target == 1))[e.graph.alive].any()
    np.testing.assert_array_equal(
        e.column(EMBEDDING)[1], e.assembly.embedder.embed(["[1:00 am on 1 January, 1970] Bo: "])[0]
    )
    assert e.column("maker_note")[[1, 4, 5]].tolist() == [-1, -1, -1] and e.column(
        KIND
    ).tolist() == [0, 0, 0, 0, 1, 2, 3]
    assert (e.column(CREATED)[1], e.unit(1).session, e.unit(1).speaker) == (
        1.0,
        "s0",
        "Bo",
    ) and e.event_log.rows_with("tags", "quagmire").size == 0
    e.encode(Event(99.0, "Life goes on", id="e20"))
    e.advance(200.0)


def test_erasing_leaves_nothing_in_the_file(tmp_path: Path) -> None:
    path, whole = tmp_path / "m.db", secretive()
    e = secretive(path)
    words = (b"quagmire", b"Zanzibar", b"zanzibar")
    assert all(word in path.read_bytes() for word in words)
    e.erase("e1", confirm=True)
    whole.erase("e1", confirm=True)
    left = [
        (file.name, word)
        for file in tmp_path.iterdir()
        for word in words
        if word in file.read_bytes()
    ]
    assert not left
    digest = e.digest()
    e.close()
    again = memory(maker(), path=path)
    assert again.digest() == digest == whole.digest()
    assert (
        again.assembly.lexicon.n_counted == 4
        and again.assembly.lexicon.document_frequency("quagmir") == 0
    )
    again.close()


def texts_below(e: Engine) -> Iterator[str | bytes]:
    """Every text that can be reached from a memory, not through modules, classes, functions or
    its embedder, which is the user's.
    """
    waiting: list[Any] = [e]
    seen = {id(e.assembly.embedder)}
    while waiting:
        found = waiting.pop()
        if id(found) in seen or isinstance(found, type | ModuleType | FunctionType | FrameType):
            continue
        seen.add(id(found))
        if isinstance(found, str | bytes):
            yield found
        waiting += gc.get_referents(found)
        if isinstance(found, dict):  # for keys that are texts gc does not look
            waiting += found


def left_of(word: str, e: Engine) -> list[str]:
    """The texts of a memory that hold a word."""
    return [
        text
        for found in texts_below(e)
        if word
        in (text := found.decode("utf-8", "replace") if isinstance(found, bytes) else found).lower()
    ]


@pytest.mark.parametrize(
    "name", slow_unless(("default", "stages"), ["default", "stages", "everything"])
)
def test_an_erased_text_can_be_reached_from_no_object_of_the_memory(name: str) -> None:
    registry = Registry.read()
    e = Engine(
        [*registry.build(registry.set(name)), maker(Draft(f"Also: {SECRET}", Kind.BUNDLE, (0, 1)))],
        HashingEmbedder(32),
    )
    e.encode_all(
        [Event(1.0, SECRET, id="e1") if event.id == "e1" else event for event in said(*SAID)]
    )
    e.advance(30.0)
    assert any(d.text.endswith("Zanzibar") for _, d in e.store.structures[MADE])
    e.retrieve(SECRET)
    e.context("Zanzibar", 200)
    assert left_of("quagmire", e)
    e.erase("e1", confirm=True)
    assert not left_of("quagmire", e)


def test_a_row_that_the_memory_made_goes_with_its_events() -> None:
    e = secretive()
    with pytest.raises(InputError, match="the memory made from"):
        e.erase(4, confirm=True)
    assert e.erase("e1", confirm=False).made and "text" in str(e.erase("e1", confirm=False))


# --- history --------------------------------------------------------------------------------------
def test_the_history_of_a_row_names_sources_versions_and_edits() -> None:
    def link(view: Any, tick: Any) -> None:
        view.graph.add(4, 0, EdgeType.VERSION, tick.end)
        view.graph.add(5, 4, EdgeType.VERSION, tick.end)
        view.graph.add(6, 1, EdgeType.SIBLING, tick.end)

    e = grown(
        maker(
            SEGMENT,
            BUNDLE,
            SUMMARY,
            more=(does(Phase.CONSOLIDATE, link, reads=[MADE], adds=[GRAPH]),),
        )
    )
    event, segment = history(e, 0), history(e, 4)
    assert event == History(e.unit(0), None, (), (0, 4, 5), (4, 5), ())
    assert segment == History(
        e.unit(4), e.event_log.writings[0], (0,), (0, 4, 5), (), (3,)
    ) and history(e, 6).versions == (6,)
    with pytest.raises(InputError):
        history(e, 8)
