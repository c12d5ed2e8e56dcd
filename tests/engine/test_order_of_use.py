"""Order of use: successive uses in a session are steps, for every mechanism that reads USED or
COACTIVATION, and for no other.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hebbarium.engine.base.errors import InputError
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.columns import Column, Phase, Scope
from hebbarium.engine.contract.hooks import Mechanism
from hebbarium.engine.contract.records import Event, Query
from hebbarium.engine.contract.vocabulary import NOW, RECALLED, USED, USED_TIME, USES_KEPT, VISIBLE
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.steps.uses import TOGETHER, last_use, session_key, step_of_use, used_last
from hebbarium.mechanisms.shared.coactivation import COACTIVATION
from hebbarium.testing.small import by_number, does, mechanism, memory, numbered

STEPS = Column("steps_seen", np.int64, Scope.GLOBAL, "1", 0, "for the test")
Seen = list[tuple[list[int], list[int], float]]
REGISTRY = Registry.read()


def watcher(seen: Seen) -> Mechanism[Any]:
    def look(view: Any, cue: Any) -> None:
        before, rows, lag = step_of_use(cue, view.recalled, view.used, view.used_time, view.now)
        seen.append((before.tolist(), rows.tolist(), round(lag, 9)))
        view.steps_seen = len(seen)

    return mechanism(
        "watcher",
        does(
            Phase.RETRIEVE, look, reads=[RECALLED, USED.before, USED_TIME.before, NOW], sets=[STEPS]
        ),
        owns=[STEPS],
    )


def use(e: Engine, session: str, *rows: int) -> None:
    e.use(e.retrieve(Query("x", session=session)), rows)


def test_a_step_leads_from_the_last_use_in_the_session_to_this_one() -> None:
    seen: Seen = []
    e = memory(by_number(), watcher(seen))
    e.encode_all(numbered(5, 1, 7, 3, 9))  # ranked 4, 2, 0, 3, 1
    for time, session, rows in (
        (1.0, "a", (0, 2)),
        (1.5, "b", (1,)),
        (2.0, "", (3,)),
        (3.0, "a", (2, 4)),
        (4.0, "b", ()),
        (5.0, "b", (3,)),
        (6.0, "a", (0, 1, 2, 3, 4)),
        (7.0, "a", (1,)),
        (8.0, "c", (1,)),
    ):
        e.advance(time)
        use(e, session, *rows)
    assert [(before, rows) for before, rows, _ in seen] == [
        ([], [2, 0]), ([], [1]), ([], [3]), ([0], [4, 2]), ([], []), ([1], [3]), ([], [4, 2, 0]),
        ([4, 2, 0], [1]), ([], [1])]  # fmt: skip
    assert [lag for *_, lag in seen if not math.isnan(lag)] == [2.0, 3.5, 1.0]


def test_an_answer_that_may_change_memory_is_a_use_and_other_answers_are_none() -> None:
    seen: Seen = []
    e = memory(by_number(), watcher(seen))
    e.encode_all(numbered(5, 1, 7, 3, 9))
    e.retrieve(Query("x", session="a"), k=2, learn=True)
    before = e.digest()
    e.retrieve(Query("x", session="a"), k=1)
    assert e.digest() == before
    use(e, "a", 0)
    assert [(b, r) for b, r, _ in seen] == [([], [4, 2]), ([4, 2], [0])]


def test_queries_from_nowhere_leave_no_order() -> None:
    e = memory(by_number(), watcher([]))
    e.encode_all(numbered(5, 1))
    use(e, "", 0)
    assert (e.column(USED) == -1).all() and np.isnan(e.column(USED_TIME)).all()


def test_only_the_latest_uses_are_remembered() -> None:
    e = memory(by_number(), watcher([]))
    e.encode_all(numbered(*range(20)))
    for row in range(12):
        use(e, "a", row)
    assert e.column(USED)[:, 0].tolist() == list(range(11, 11 - USES_KEPT, -1))
    for _ in range(USES_KEPT // TOGETHER + 1):
        use(e, "b", 3, 4, 5, 6)
    rows, _ = last_use(e.column(USED), e.column(USED_TIME), session_key("a"))
    assert not rows.size


def test_without_a_reader_nothing_is_remembered() -> None:
    e = memory(by_number())
    e.encode_all(numbered(5, 1))
    use(e, "a", 0)
    assert (e.column(USED) == -1).all()
    assert not any("remember" in step.step for step in e.schedule)


def test_erased_rows_are_no_part_of_a_step() -> None:
    seen: Seen = []
    e = memory(by_number(), watcher(seen))
    e.encode_all([Event(0.0, str(i), id=f"e{i}") for i in range(3)])
    use(e, "a", 0)
    e.erase("e0", confirm=True)
    use(e, "a", 1)
    assert seen[-1][:2] == ([], [1])


def test_the_session_of_a_query_is_text() -> None:
    e = memory(by_number())
    e.encode_all(numbered(1))
    with pytest.raises(InputError, match="session"):
        e.retrieve(Query("x", session=3))  # type: ignore[arg-type]


def test_pairs_of_successive_uses_join_those_of_the_answer() -> None:
    seen: list[list[tuple[int, int, float]]] = []

    def look(view: Any, cue: Any) -> None:
        pairs = view.coactivation
        seen.append(
            sorted(
                zip(
                    pairs.source.tolist(),
                    pairs.target.tolist(),
                    pairs.lag.round(9).tolist(),
                    strict=True,
                )
            )
        )

    e = memory(
        by_number(), mechanism("pairs", does(Phase.RETRIEVE, look, reads=[RECALLED, COACTIVATION]))
    )
    e.encode_all(numbered(5, 1, 7, 3, 9))
    use(e, "a", 0)
    e.advance(e.now + 2.5)
    use(e, "a", 1, 3)
    assert seen == [
        [],
        sorted([(1, 3, 0.0), (3, 1, 0.0), (0, 1, 2.5), (1, 0, -2.5), (0, 3, 2.5), (3, 0, -2.5)]),
    ]


def test_a_snapshot_between_two_uses_continues_the_order(tmp_path: Path) -> None:
    def made(path: Path | None, seen: Seen) -> Engine:
        return Engine([by_number(), watcher(seen)], HashingEmbedder(8), path=path)

    one, other = list[Any](), list[Any]()
    e = made(None, one)
    e.encode_all(numbered(5, 1, 7))
    use(e, "a", 0)
    use(e, "a", 1)
    with made(tmp_path / "m.hebb", other) as saved:
        saved.encode_all(numbered(5, 1, 7))
        use(saved, "a", 0)
    with made(tmp_path / "m.hebb", other) as loaded:
        use(loaded, "a", 1)
    assert one[1:] == other[1:]


PLACES = ("harbour", "orchard", "library", "quarry", "bakery", "chapel")


@pytest.mark.parametrize(
    "learner",
    [
        "spike_timing_plasticity",
        "hebbian_association",
        "titans_memory",
        "successor_representation",
        "temporal_context",
    ],
)
def test_mechanisms_learn_a_path_that_was_only_used(learner: str) -> None:
    """Places told in sessions of their own, then used in order: after the harbour the orchard
    ranks above places that did not follow.
    """
    e = Engine(
        [*REGISTRY.build(REGISTRY.set("hybrid")), REGISTRY.instance(learner, {"weight": 5.0})],
        HashingEmbedder(256),
    )
    e.encode_all(
        [Event(0.0, f"We saw Ada at the {p.title()}.", session=p, dated=False) for p in PLACES]
    )
    answer = e.retrieve("harbour at The Harbour", k=6).rows.tolist()
    for trip in range(12):
        for row in (0, 1, 4):
            e.advance(e.now + 0.5)
            e.use(e.retrieve(Query(f"the {PLACES[row].title()}", session=f"trip {trip}")), [row])
        e.advance(e.now + 12.0)
    later = e.retrieve("harbour at The Harbour", k=6).rows.tolist()
    assert later.index(1) < min(later.index(row) for row in (2, 3, 5)), (answer, later)


def test_the_rows_used_last_in_a_session_are_at_hand_before_its_next_question() -> None:
    seen: list[list[int]] = []

    def look(view: Any, cue: Any) -> None:
        seen.append(used_last(cue, view.used, view.used_time, view.visible).tolist())

    e = memory(
        by_number(),
        mechanism(
            "before", does(Phase.RETRIEVE, look, reads=[USED.before, USED_TIME.before, VISIBLE])
        ),
    )
    e.encode_all(numbered(5, 1, 7, 3, 9))  # ranked 4, 2, 0, 3, 1
    use(e, "a", 0)
    use(e, "b", 1)
    use(e, "a", 2, 4, 3)
    e.archive(2)
    seen.clear()
    for session in ("a", "b", "c", ""):
        e.retrieve(Query("x", session=session))
    assert seen == [[4, 3], [1], [], []]


@pytest.mark.parametrize(
    "learner",
    [
        "spike_timing_plasticity",
        "hebbian_association",
        "successor_representation",
        "temporal_context",
    ],
)
def test_the_next_place_is_found_from_the_last_one_and_in_no_other_session(learner: str) -> None:
    """The question fits all places alike; what was used before it in its session tells which is
    next.
    """
    e = Engine(
        [*REGISTRY.build(REGISTRY.set("hybrid")), REGISTRY.instance(learner, {"weight": 5.0})],
        HashingEmbedder(256),
    )
    e.encode_all(
        [Event(0.0, f"We saw Ada at the {p.title()}.", session=p, dated=False) for p in PLACES]
    )
    for trip in range(12):
        for row in (0, 3, 4) if trip % 2 else (1, 5, 2):
            e.advance(e.now + 0.5)
            e.use(e.retrieve(Query("Where did we see Ada?", session=f"trip {trip}")), [row])
        e.advance(e.now + 12.0)
    for first, second in ((0, 3), (1, 5)):
        e.use(e.retrieve(Query("Where did we see Ada?", session=f"from {first}")), [first])
        e.advance(e.now + 0.5)
        order = [
            row
            for row in e.retrieve(
                Query("Where did we see Ada?", session=f"from {first}"), k=6
            ).rows.tolist()
            if row != first
        ]
        assert order[0] == second
    nowhere = e.retrieve("Where did we see Ada?", k=6)
    assert (
        nowhere.final.tolist()
        == e.retrieve(Query("Where did we see Ada?", session="elsewhere"), k=6).final.tolist()
    )
