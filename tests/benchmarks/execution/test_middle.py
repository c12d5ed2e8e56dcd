"""Questions in the middle: each is answered as by a memory that never saw the later events,
however the cell is run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hebbarium.benchmarks.datasets import Conversation, Dataset, Question, load
from hebbarium.benchmarks.datasets.base import asked_in_order, by_session, stops, told_before
from hebbarium.benchmarks.datasets.conversations import write_conversations
from hebbarium.benchmarks.designs import FULL, Arm
from hebbarium.benchmarks.execution.cells import Cell, run_cell, run_life
from hebbarium.benchmarks.execution.failures import Options
from hebbarium.benchmarks.execution.lives import grouped
from hebbarium.benchmarks.execution.plan import planned, specs_of
from hebbarium.benchmarks.execution.spec import DEFAULTS, Settings
from hebbarium.benchmarks.experiments.design import ablate
from hebbarium.benchmarks.experiments.run import run
from hebbarium.benchmarks.scores.surroundings import Conversations
from hebbarium.benchmarks.systems.by_name import OURS, maker
from hebbarium.benchmarks.systems.hebbarium import SharedLife
from hebbarium.engine.base.errors import DataError, InputError
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.records import Event
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.ports.embedding_cache import CachedEmbedder
from hebbarium.testing.conformance import talk

REGISTRY = Registry.read()
EMBEDDER = CachedEmbedder(HashingEmbedder(32), None)
EVENTS = tuple(talk(30))
OTHER = "hebbarium.benchmarks.systems.bm25_dense:BM25Dense"


def between(place: int, share: float = 0.5) -> float:
    """A time between an event and the next one, h."""
    return EVENTS[place].time + share * (EVENTS[place + 1].time - EVENTS[place].time)


# In the order of the file, which is not that of time; one is asked after an event at the very time
# of the next one.
QUESTIONS = (
    Question("late", "Who painted Oslo with Bo?", EVENTS[-1].time + 1.0, "kind", ("e3",)),
    Question("early", "Who painted Oslo with Bo?", between(7), "kind", ("e3",)),
    Question("same", "What did Ada do in Lisbon?", EVENTS[15].time, "kind", ("e15", "e2")),
    Question("before", "What did Ada do in Lisbon?", EVENTS[15].time, "kind", ("e2",), after="e14"),
    Question("again", "When did Cleo forget the old mill?", between(7, 0.75), "kind", ()),
)
TOLD = {"late": 30, "early": 8, "same": 16, "before": 15, "again": 8}
TALK = Conversation("talk", EVENTS, QUESTIONS)
DATA = Dataset("small", "0", (TALK,), {})


def cut(name: str) -> Conversation:
    """The conversation up to a question: no later event, and only questions that are asked until
    then.
    """
    n, order = TOLD[name], ["early", "again", "before", "same", "late"]
    until = order[: order.index(name) + 1]
    return Conversation(
        "talk",
        EVENTS[:n],
        tuple(q if TOLD[q.id] < n else replace(q, after="") for q in QUESTIONS if q.id in until),
    )


def cells(
    chosen: str | Arm, settings: Settings, conversation: Conversation, *others: Arm
) -> list[Cell]:
    first = chosen if isinstance(chosen, Arm) else Arm(FULL, REGISTRY.set(chosen))
    plan = planned([first, *others], REGISTRY, settings)
    lives = {one.arm: one.life for one in plan.arms}
    return [
        Cell(spec, conversation, life=lives[spec.arm])
        for spec in specs_of(plan, replace(DATA, conversations=(conversation,)), EMBEDDER)
    ]


def rows_of(chosen: str, settings: Settings, conversation: Conversation) -> dict[str, Any]:
    (cell,) = cells(chosen, settings, conversation)
    return {
        row["question"]: row
        for row in run_cell(cell, maker(OURS, cell.spec.mechanisms, REGISTRY), EMBEDDER).rows
    }


def require_cut(
    rows: dict[str, Any],
    of_cut: Callable[[Conversation], dict[str, Any]],
    names: Sequence[str] = ("early", "again", "before", "same", "late"),
) -> None:
    """Each row equals that of the conversation cut at its question."""
    for name in names:
        alone = of_cut(cut(name))[name]
        assert rows[name] == alone, name
        stored = {event.id for event in EVENTS[: TOLD[name]]}
        assert set(rows[name]["retrieved"]) <= stored and len(rows[name]["retrieved"]) == min(
            10, TOLD[name]
        ), name


@pytest.mark.slow
@pytest.mark.parametrize(
    ("chosen", "settings"),
    [
        ("minimal", DEFAULTS),
        ("hybrid", replace(DEFAULTS, match="session")),
        ("in_use", replace(DEFAULTS, feedback="gold")),
        ("in_use", replace(DEFAULTS, feedback="answer")),
    ],
)
def test_a_question_is_answered_without_the_events_that_come_later(
    chosen: str, settings: Settings
) -> None:
    # ids of sessions, of which some go on after the question: their own test is below
    if settings.match == "session":
        rows = rows_of(chosen, settings, TALK)
        assert all(rows[name] == rows_of(chosen, settings, cut(name))[name] for name in TOLD)
        return
    require_cut(rows_of(chosen, settings, TALK), lambda part: rows_of(chosen, settings, part))


def test_the_order_of_questions_is_that_of_what_is_told_before_them() -> None:
    assert dict(zip([q.id for q in QUESTIONS], told_before(TALK), strict=True)) == TOLD
    assert [q.id for q in asked_in_order(TALK)] == ["early", "again", "before", "same", "late"]
    assert [(len(stop.events), [q.id for q in stop.questions]) for stop in stops(TALK)] == [
        (8, ["early", "again"]),
        (7, ["before"]),
        (1, ["same"]),
        (14, ["late"]),
    ]
    assert [
        (len(stop.events), [q.id for q in stop.questions])
        for stop in stops(replace(TALK, questions=QUESTIONS[1:2]))
    ] == [(8, ["early"]), (22, [])]


def test_another_system_is_told_in_parts() -> None:
    def rows(conversation: Conversation) -> dict[str, Any]:
        plan = planned([], REGISTRY, replace(DEFAULTS, system=OTHER), [OTHER])
        (spec,) = specs_of(plan, replace(DATA, conversations=(conversation,)), EMBEDDER)
        found = run_cell(Cell(spec, conversation), maker(OTHER, {}, REGISTRY), EMBEDDER)
        assert len(found.timing["retrieve"]) == len(conversation.questions)
        return {row["question"]: row for row in found.rows}

    require_cut(rows(TALK), rows)


@pytest.mark.slow
@pytest.mark.parametrize("chosen", ["minimal", "waking"])
def test_arms_of_one_life_are_asked_in_the_middle_as_alone(chosen: str) -> None:
    full = REGISTRY.set(chosen)
    arms = [
        Arm(f"without {id}", full.without([id]), id)
        for id in ("lexical_bm25", "recency", "dense_similarity")
    ]
    several = cells(Arm(FULL, full), DEFAULTS, TALK, *arms)
    places = max(grouped(several), key=len)
    assert len(places) > 2
    mine = [several[place] for place in places]
    shared = run_life(
        mine,
        lambda embedder: closing(SharedLife(REGISTRY, mine[0].spec.mechanisms, embedder, 0)),
        EMBEDDER,
    )
    for cell, outcome in zip(mine, shared, strict=True):
        alone = run_cell(cell, maker(OURS, cell.spec.mechanisms, REGISTRY), EMBEDDER)
        assert outcome.rows == alone.rows and outcome.receipts == alone.receipts, cell.spec.arm


def test_a_rehearsal_ends_before_the_next_event_or_is_refused(tmp_path: Path) -> None:
    gap = EVENTS[8].time - between(7, 0.75)
    few = replace(TALK, questions=tuple(q for q in QUESTIONS if q.id in ("early", "again", "late")))
    hours = replace(DEFAULTS, rehearse=gap / 2)
    assert gap > 0.0
    rows = rows_of("in_use", hours, few)
    part = replace(few, events=EVENTS[:8], questions=few.questions[1:])
    assert {name: rows[name] for name in ("early", "again")} == rows_of("in_use", hours, part)
    with pytest.raises(InputError, match="asked in the middle of conversation 'talk'"):
        run(
            REGISTRY.set("in_use"),
            REGISTRY,
            replace(DATA, conversations=(few,)),
            EMBEDDER,
            tmp_path / "r",
            settings=replace(DEFAULTS, rehearse=1e6),
        )
    assert not (tmp_path / "r").exists()


def test_workers_kept_lives_and_a_second_run_give_the_same_rows(tmp_path: Path) -> None:
    def rows(out: str, **options: Any) -> str:
        run(REGISTRY.set("minimal"), REGISTRY, data, EMBEDDER, tmp_path / out, **options)
        return (tmp_path / out / "rows.jsonl").read_text(encoding="utf-8")

    data = replace(DATA, conversations=(TALK, replace(cut("same"), id="second")))
    first = rows("one")
    assert {
        (row["conversation"], row["question"]) for row in map(json.loads, first.splitlines())
    } >= {("talk", "early"), ("second", "early")}
    assert (
        rows("one") == first
        and rows("two", jobs=2) == first
        and rows("kept", options=Options(keep_lives=tmp_path / "lives")) == first
    )
    assert rows("from", options=Options(lives_from=tmp_path / "lives")) == first
    metrics = json.loads((tmp_path / "one" / "metrics.json").read_text(encoding="utf-8"))
    assert (metrics["pool"]["smallest"], metrics["pool"]["largest"]) == (8, 30)


@pytest.mark.slow
def test_an_ablation_compares_questions_in_the_middle(tmp_path: Path) -> None:
    result = ablate(REGISTRY.set("minimal"), REGISTRY, DATA, EMBEDDER, tmp_path, only=("recency",))
    rows = [
        json.loads(line)
        for line in (tmp_path / "rows.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    mine = {row["question"]: row for row in rows if row["arm"] == FULL}
    assert len(rows) == 10 and result.blocks[0].dataset == "small"
    for name in ("early", "same"):
        assert mine[name]["retrieved"] == rows_of("minimal", DEFAULTS, cut(name))[name]["retrieved"]


def test_the_pool_of_a_question_is_what_was_told_before_it() -> None:
    assert Conversations.of(DATA).sizes == {("talk", name): n for name, n in TOLD.items()}
    sessions = Conversations.of(DATA, "session").sizes
    assert all(
        sessions["talk", name] == len({event.session for event in EVENTS[:n]})
        for name, n in TOLD.items()
    )


def small(*events: tuple[str, float, str], asked: float, after: str = "") -> Conversation:
    told = tuple(Event(time, f"text {id}", "", session, id) for id, time, session in events)
    return Conversation("c", told, (Question("q", "?", asked, "k", (told[0].id,), after=after),))


def test_a_session_is_one_event_only_if_no_question_interrupts_it() -> None:
    whole = small(
        ("a", 1.0, "s"), ("b", 2.0, "t"), ("c", 3.0, "s"), ("d", 4.0, "u"), asked=4.0, after="c"
    )
    merged = by_session(whole)
    assert (
        [e.id for e in merged.events] == ["s", "t", "u"]
        and told_before(merged) == [2]
        and merged.questions[0].gold == ("s",)
    )
    with pytest.raises(DataError, match="in the middle of session 's'") as caught:
        by_session(replace(whole, questions=(replace(whole.questions[0], time=2.5, after=""),)))
    assert "--match session" in caught.value.cure


@given(
    st.lists(st.sampled_from([0.0, 0.0, 1.0, 2.5]), min_size=1, max_size=12),
    st.lists(st.tuples(st.integers(0, 11), st.booleans()), max_size=6),
)
def test_stops_tell_everything_once_and_in_order(
    gaps: list[float], asked: list[tuple[int, bool]]
) -> None:
    times, now = [], 0.0
    for gap in gaps:
        times.append(now := now + gap)
    events = tuple(Event(time, "x", id=str(n)) for n, time in enumerate(times))
    questions = tuple(
        Question(str(n), "?", times[place], "k", (), after=str(place) if named else "")
        for n, (place, named) in enumerate(asked)
        if place < len(events)
    )
    told: list[Event] = []
    answered = dict[str, int]()
    for stop in stops(Conversation("c", events, questions)):
        told += stop.events
        answered |= {q.id: len(told) for q in stop.questions}
    assert tuple(told) == events and set(answered) == {q.id for q in questions}
    for question in questions:
        known = (
            int(question.after) + 1
            if question.after
            else sum(time <= question.time for time in times)
        )
        assert answered[question.id] == known


def test_they_survive_conversion(tmp_path: Path) -> None:
    write_conversations(replace(DATA, conversations=(TALK,)), tmp_path, licence="", citation="")
    again = load("conversations", tmp_path)
    assert (
        again.conversations[0].questions == QUESTIONS
        and again.notes["questions_in_the_middle"] == 4
    )
