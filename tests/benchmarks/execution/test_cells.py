"""One cell through the port: which calls a system gets, in which order, and what the rows make
of its answers.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hebbarium.benchmarks.datasets import Conversation, Dataset, Question
from hebbarium.benchmarks.datasets.base import by_session
from hebbarium.benchmarks.designs import FULL, Arm
from hebbarium.benchmarks.execution.cells import Cell, run_cell
from hebbarium.benchmarks.execution.plan import planned, specs_of
from hebbarium.benchmarks.execution.spec import RunSpec, Settings
from hebbarium.benchmarks.systems.base import Capability, Retrieved, RetrievedEvent
from hebbarium.benchmarks.systems.by_name import OURS, maker
from hebbarium.engine.catalogue.registry import MechanismSet, Registry
from hebbarium.engine.contract.records import Event, Query
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.ports.embedding_cache import CachedEmbedder

ROOT = Path(__file__).parent.parent.parent.parent
# the scripted one takes its place
OTHER = Settings(system="hebbarium.benchmarks.systems.bm25_dense:BM25Dense")


class Scripted:
    """Answers always the same events, the newest first, and writes down what is called."""

    capabilities: frozenset[Capability] = frozenset()

    def __init__(self, embedder: Any = None, seed: int = 0) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.ids: list[str] = []

    def encode(self, events: Sequence[Event]) -> None:
        self.calls.append(("encode", len(events)))
        self.ids += [e.id for e in events]

    def advance(self, time: float) -> None:
        self.calls.append(("advance", time))

    def retrieve(self, query: Query, k: int, learn: bool = False) -> Retrieved:
        self.calls.append(("retrieve", query.id, query.time, k, learn))
        return Retrieved(
            tuple(
                RetrievedEvent(id, -float(place), "") for place, id in enumerate(self.ids[::-1][:k])
            )
        )

    def close(self) -> None:
        self.calls.append(("close",))


class WithReceipts(Scripted):
    capabilities = frozenset({Capability.RECEIPTS, Capability.RANKS_ALL})

    def receipts(self) -> Mapping[str, Mapping[str, int]]:
        return {"one": {"calls": 5, "values_changed": 7}, "two": {"calls": 0, "values_changed": 0}}

    def ranks_changed(self, query: Query) -> Mapping[str, int]:
        self.calls.append(("ranks_changed", query.id))
        return {"one": 2}

    def phase_ms(self) -> Mapping[str, Sequence[float]]:
        return {"think": [1.0, 2.0]}


def conversation(n: int, *gold: str) -> Conversation:
    """n events an hour apart; one question per gold id, asked in the reverse order of the file."""
    events = tuple(Event(float(i), f"event {i}", id=f"e{i}") for i in range(n))
    questions = tuple(
        Question(f"q{i}", "which?", n + len(gold) - float(i), "single", (id,))
        for i, id in enumerate(gold)
    )
    return Conversation("c", events, questions)


@pytest.fixture
def measured(registry: Registry) -> Any:
    def measure(
        system: Scripted, talk: Conversation, settings: Settings = OTHER, **changes: Any
    ) -> Any:
        embedder = CachedEmbedder(HashingEmbedder(8), None)
        (spec,) = specs_of(
            planned([], registry, settings, [settings.system]),
            Dataset("d", "0", (talk,), {}),
            embedder,
        )
        return run_cell(
            Cell(replace(spec, **{"arm": "scripted", **changes}), talk),
            lambda embedder, seed: system,
            embedder,
        )

    return measure


def test_questions_are_asked_in_order_of_time_and_rows_keep_the_order_of_the_file(
    measured: Any,
) -> None:
    system = Scripted()
    outcome = measured(system, conversation(3, "e0", "e2"))
    assert system.calls == [
        ("encode", 3),
        ("advance", 4.0),
        ("retrieve", "q1", 4.0, 100, False),
        ("advance", 5.0),
        ("retrieve", "q0", 5.0, 100, False),
        ("close",),
    ]
    assert [row["question"] for row in outcome.rows] == ["q0", "q1"]
    assert [row["ranks"] for row in outcome.rows] == [[3], [1]] and [
        row["reciprocal_rank"] for row in outcome.rows
    ] == [1 / 3, 1.0]
    assert (
        outcome.receipts == {}
        and len(outcome.timing["encode"]) == 1
        and len(outcome.timing["retrieve"]) == 2
    )


def test_a_system_that_does_not_rank_all_is_asked_for_more_than_is_kept(measured: Any) -> None:
    (row,) = measured(Scripted(), conversation(60, "e25"), depth=40).rows
    assert row["ranks"] == [35] and row["retrieved"] == [f"e{i}" for i in range(59, 49, -1)]
    assert measured(Scripted(), conversation(60, "e25"), depth=30).rows[0]["ranks"] == [0], (
        "beyond the depth is a miss"
    )
    system = WithReceipts()
    assert (
        measured(system, conversation(60, "e25")).rows[0]["ranks"] == [0]
        and ("retrieve", "q0", 61.0, 10, False) in system.calls
    )


def test_a_rehearsal_asks_everything_twice_and_learns_only_the_first_time(measured: Any) -> None:
    system = Scripted()
    measured(system, conversation(3, "e0", "e2"), replace(OTHER, rehearse=24.0))
    assert system.calls == [
        ("encode", 3), ("advance", 4.0), ("retrieve", "q1", 4.0, 10, True), ("advance", 5.0),
        ("retrieve", "q0", 5.0, 10, True), ("advance", 29.0),
        ("advance", 29.0), ("retrieve", "q1", 29.0, 100, False), ("advance", 29.0), ("retrieve",
        "q0", 29.0, 100, False), ("close",)]  # fmt: skip


class Told(Scripted):
    def use(self, found: Retrieved, ids: Sequence[str]) -> None:
        self.calls.append(("use", found.events[0].id, tuple(ids)))


@pytest.mark.parametrize(
    ("feedback", "told"),
    [
        ("none", [None, None]),
        ("answer", [("e11", tuple(f"e{i}" for i in range(11, 1, -1)))] * 2),
        ("gold", [("e11", ("e2",)), ("e11", ("e0",))]),
    ],
)
def test_feedback_follows_the_scoring_of_each_question(
    measured: Any, feedback: Any, told: list[Any]
) -> None:
    system, plain = Told(), Scripted()
    rows = measured(system, conversation(12, "e0", "e2"), feedback=feedback).rows
    each = [
        [("retrieve", q, time, 100, False), *([("use", *one)] if one else [])]
        for (q, time), one in zip((("q1", 13.0), ("q0", 14.0)), told, strict=True)
    ]
    assert system.calls == [
        ("encode", 12),
        ("advance", 13.0),
        *each[0],
        ("advance", 14.0),
        *each[1],
        ("close",),
    ]
    assert measured(plain, conversation(12, "e0", "e2"), feedback=feedback).rows == rows, (
        "a system that takes none is only asked"
    )


@pytest.mark.parametrize("match", ["unit", "session"])
def test_feedback_changes_later_answers_and_never_the_first(registry: Registry, match: Any) -> None:
    """Of equal memories the one used last is first, and the newest before any use; an answer has
    ten of the twelve.
    """
    events = tuple(
        Event(float(i), "the same words", session=f"s{i}", id=f"e{i}") for i in range(12)
    )
    talk = Conversation(
        "c",
        events,
        tuple(
            Question(f"q{i}", "which words?", 20.0 + i, "single", (f"e{11 - i}",)) for i in range(3)
        ),
    )
    mechanisms: dict[str, dict[str, Any]] = {
        "lexical_bm25": {},
        "recency": {"weight": 1.0, "half_life": 1000.0},
        "convex_fusion": {},
    }
    arm, embedder = (
        Arm(FULL, MechanismSet("recent", "for the test", mechanisms)),
        CachedEmbedder(HashingEmbedder(8), None),
    )
    data = Dataset("d", "0", (talk,), {})
    ways: list[Any] = ["none", "answer", "gold"]
    specs = [
        specs_of(planned([arm], registry, Settings(feedback=way, match=match)), data, embedder)[0]
        for way in ways
    ]
    none, answer, gold = (
        [
            row["retrieved"]
            for row in run_cell(
                Cell(spec, talk), maker(OURS, spec.mechanisms, registry), embedder
            ).rows
        ]
        for spec in specs
    )
    name = "s" if match == "session" else "e"
    assert none[0] == answer[0] == gold[0] and [first[0] for first in none] == [f"{name}11"] * 3
    assert [first[0] for first in gold] == [f"{name}{i}" for i in (11, 11, 10)]
    assert answer[2] != none[2] and len({spec.key() for spec in specs}) == 3


def test_receipts_sum_the_ranks_that_change_over_the_questions_probed(measured: Any) -> None:
    system = WithReceipts()
    # every third of seven: 3 questions
    outcome = measured(system, conversation(3, *["e0"] * 7), probed=3)
    assert [call for call in system.calls if call[0] == "ranks_changed"] == [
        ("ranks_changed", f"q{i}") for i in (6, 3, 0)
    ]
    assert outcome.receipts == {
        "one": {"calls": 5, "values_changed": 7, "ranks_changed": 6},
        "two": {"calls": 0, "values_changed": 0, "ranks_changed": 0},
    }
    assert outcome.timing == {"think": [1.0, 2.0]}


def test_times_are_kept_apart_from_rows(measured: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every call of the clock is a ms later, so each call of the system takes 1 ms."""
    ticks = iter(range(10**6))
    monkeypatch.setattr(
        "hebbarium.benchmarks.execution.cells.time.perf_counter", lambda: next(ticks) / 1e3
    )
    outcome = measured(Scripted(), conversation(4, "e0", "e2"))
    assert outcome.times == [
        {"arm": "scripted", "conversation": "c", "question": question, "seed": 0,
         "encode_ms": float(question is None),
         "advance_ms": float(question is not None),
         "retrieve_ms": float(question is not None)} for question in (None, "q0", "q1")]  # fmt: skip
    assert outcome.timing == {"encode": [pytest.approx(0.25)], "retrieve": [pytest.approx(1.0)] * 2}
    assert not any("ms" in name for row in outcome.rows for name in row)


def test_times_of_a_system_with_receipts_are_those_of_its_phases(measured: Any) -> None:
    class Thinking(WithReceipts):
        thoughts: tuple[float, ...] = ()

        def encode(self, events: Sequence[Event]) -> None:
            super().encode(events)
            self.thoughts += (5.0, 2.0)

        def retrieve(self, query: Query, k: int, learn: bool = False) -> Retrieved:
            self.thoughts += (10.0 + len(self.thoughts),)
            return super().retrieve(query, k, learn)

        def phase_ms(self) -> Mapping[str, Sequence[float]]:
            return {"think": list(self.thoughts)}

    times = measured(Thinking(), conversation(4, "e0", "e2")).times  # q1 is asked first
    assert [(line["question"], line["think_ms"]) for line in times] == [
        (None, 7.0),
        ("q0", 13.0),
        ("q1", 12.0),
    ]


def test_a_row_holds_what_was_asked_and_the_scores_of_the_first_ten(measured: Any) -> None:
    class Odd(Scripted):
        def retrieve(self, query: Query, k: int, learn: bool = False) -> Retrieved:
            scores = (float("inf"), np.float32(0.1), 1e-9 / 3, -123456.789, float("nan"))
            return Retrieved(
                tuple(
                    RetrievedEvent(id, score, "")
                    for id, score in zip(self.ids, scores, strict=False)
                )
            )

    (row,) = measured(Odd(), conversation(5, "e1")).rows
    assert (row["question_text"], row["answer"]) == ("which?", "")
    assert row["scores"] == [None, 0.1, 3.33333e-10, -123457.0, None] and row["retrieved"] == [
        f"e{i}" for i in range(5)
    ]
    json.loads(json.dumps(row, allow_nan=False))


def in_sessions(n: int, size: int, *gold: str) -> Conversation:
    """As `conversation`, with `size` events in each session; the single question names all gold."""
    plain = conversation(n, *gold)
    return replace(
        plain,
        events=tuple(replace(e, session=f"s{i // size}") for i, e in enumerate(plain.events)),
        questions=(replace(plain.questions[0], gold=gold),),
    )


def test_sessions_are_ranked_by_their_best_event_and_gold_is_theirs(measured: Any) -> None:
    # newest first: s4 (e8), s3 (e7, e6), s2, s1 (e3, e2), s0 (e1, e0)
    talk = in_sessions(9, 2, "e3", "e0", "e1")
    (row,) = measured(Scripted(), talk, replace(OTHER, match="session"), k=3).rows
    assert (row["gold"], row["ranks"], row["reciprocal_rank"]) == (["s1", "s0"], [4, 5], 0.25)
    assert (
        row["retrieved"] == ["s4", "s3", "s2"]
        and row["scores"] == [0.0, -1.0, -3.0]
        and not row["held_back"]
    )
    (row,) = measured(Scripted(), talk, k=3).rows
    assert (row["gold"], row["ranks"]) == (["e3", "e0", "e1"], [6, 9, 8]), (
        "without the option events are matched"
    )


@pytest.mark.parametrize(
    ("system", "depth"), [(Scripted, 7), (WithReceipts, 9)], ids=["the depth", "every event"]
)
def test_ranks_of_sessions_need_the_order_of_more_events_than_are_kept(
    measured: Any, system: type[Scripted], depth: int
) -> None:
    made = system()
    (row,) = measured(
        made, in_sessions(9, 2, "e0"), replace(OTHER, match="session"), k=2, depth=7
    ).rows
    assert [call[3] for call in made.calls if call[0] == "retrieve"] == [depth]
    assert row["ranks"] == [0 if depth == 7 else 5] and row["retrieved"] == ["s4", "s3"]


def test_turns_in_their_sessions_and_sessions_as_units_have_gold_of_the_same_names(
    registry: Registry, tiny: Dataset
) -> None:
    embedder, chosen = (
        CachedEmbedder(HashingEmbedder(8), None),
        MechanismSet("s", "", {"lexical_bm25": {}}),
    )
    spec = specs_of(
        planned([Arm(FULL, chosen)], registry, Settings(match="session")), tiny, embedder
    )[0]
    talk = tiny.conversations[0]
    rows = run_cell(Cell(spec, talk), maker(OURS, spec.mechanisms, registry), embedder).rows
    by_hand = {e.id: e.session for e in talk.events}
    assert (
        [row["gold"] for row in rows]
        == [[by_hand[q.gold[0]]] for q in talk.questions]
        == [list(q.gold) for q in by_session(talk).questions]
    )
    assert all(1 <= rank <= len(set(by_hand.values())) for row in rows for rank in row["ranks"])


def test_an_answer_without_events_is_held_back(measured: Any) -> None:
    class Silent(Scripted):
        def retrieve(self, query: Query, k: int, learn: bool = False) -> Retrieved:
            return Retrieved(())

    for settings in (OTHER, replace(OTHER, match="session")):
        (row,) = measured(Silent(), conversation(3, "e1"), settings).rows
        assert row["held_back"] is True and row["ranks"] == [0] and row["retrieved"] == []


def test_a_system_is_closed_even_if_it_fails(measured: Any) -> None:
    class Failing(Scripted):
        def retrieve(self, query: Query, k: int, learn: bool = False) -> Retrieved:
            raise RuntimeError("no answer")

    system = Failing()
    with pytest.raises(RuntimeError, match="no answer"):
        measured(system, conversation(2, "e0"))
    assert system.calls[-1] == ("close",)


def test_a_rehearsal_lets_recall_change_memory_before_what_counts(
    registry: Registry, tiny: Dataset
) -> None:
    mechanisms: dict[str, dict[str, Any]] = {
        "dense_similarity": {},
        "base_level_activation": {},
        "heat": {"weight": 5.0},
        "convex_fusion": {},
    }
    arm, embedder = (
        Arm(FULL, MechanismSet("practised", "for the test", mechanisms)),
        CachedEmbedder(HashingEmbedder(32), None),
    )
    specs = [
        specs_of(planned([arm], registry, Settings(rehearse=hours)), tiny, embedder)[0]
        for hours in (None, 24.0)
    ]
    once, practised = (
        run_cell(
            Cell(spec, tiny.conversations[0]), maker(OURS, spec.mechanisms, registry), embedder
        )
        for spec in specs
    )
    calls = [o.receipts["base_level_activation"]["calls"] for o in (once, practised)]
    assert calls[1] >= calls[0] + len(tiny.conversations[0].questions)
    assert [row["retrieved"] for row in once.rows] != [row["retrieved"] for row in practised.rows]


def test_the_cell_is_decided_by_its_record_alone(registry: Registry, tiny: Dataset) -> None:
    """The parameters in the record, not those in the registry, make the memory."""
    embedder = CachedEmbedder(HashingEmbedder(32), None)
    chosen = MechanismSet(
        "two", "", {"dense_similarity": {}, "lexical_bm25": {}, "convex_fusion": {}}
    )

    def retrieved(spec: RunSpec) -> list[Any]:
        cell, make = (
            Cell(spec, tiny.conversations[0]),
            maker(spec.system, spec.mechanisms, registry),
        )
        return [row["retrieved"] for row in run_cell(cell, make, embedder).rows]

    plain, heavy = (
        specs_of(planned([Arm(FULL, c)], registry), tiny, embedder)[0]
        for c in (chosen, chosen.overridden({"dense_similarity": {"weight": 0.0}}))
    )
    assert (
        retrieved(plain)
        != retrieved(heavy)
        == retrieved(replace(plain, mechanisms=heavy.mechanisms))
    )


# --- the port -------------------------------------------------------------------------------------
# rooms and modules of the engine that execution may import
OPEN = {"base", "catalogue", "contract", "ports", "text"}
INSIDE = {"engine", "_engine", "assembly", "event_log", "observer", "_observer", "store", "clock",
          "counterfactual"}  # fmt: skip


@pytest.mark.parametrize(
    "file", sorted((ROOT / "benchmarks" / "execution").glob("*.py")), ids=lambda f: f.name
)
def test_execution_knows_a_memory_by_the_port_only(file: Path) -> None:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "engine":
            assert (node.module or "").split(".")[1] in OPEN, f"line {node.lineno}"
        assert not (isinstance(node, ast.Attribute) and node.attr in INSIDE), f"line {node.lineno}"
