"""The observer: counts that are known beforehand come out, and the memory is the same with and
without it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hebbarium.engine.contract.columns import Phase
from hebbarium.engine.contract.vocabulary import (
    DUPLICATE,
    GRAPH,
    LOG_STRENGTH,
    MATCH,
    RERANKED,
    REWEIGHTED,
    ROW,
    VETO,
)
from hebbarium.engine.flow.observer import Observer, Votes
from hebbarium.engine.state.graph import EdgeType
from hebbarium.testing.small import by_number, column, does, mechanism, memory, numbered


def reverse(stage: Any, id: str = "reverse") -> Any:
    """Reverses the ranking, in one stage."""
    return mechanism(
        id,
        does(
            Phase.RETRIEVE,
            lambda v, _: np.negative(v.match, out=getattr(v, stage.name)),
            reads=[MATCH],
            sets=[stage],
        ),
    )


def idle(id: str = "idle", stage: Any = REWEIGHTED) -> Any:
    return mechanism(id, does(Phase.RETRIEVE, lambda v, _: None, sets=[stage]))


def test_calls_and_changed_cells_of_a_known_history() -> None:
    kept = column("kept")

    def dress(view: Any, incoming: Any) -> None:
        view.kept[view.row] = 1.0

    def strengthen(view: Any, tick: Any) -> None:
        view.log_strength[:2] = 1.0

    watch = Observer()
    e = memory(
        mechanism(
            "m",
            does(Phase.ENCODE, dress, reads=[ROW], sets=[kept]),
            does(Phase.MAINTAIN, strengthen, adds=[LOG_STRENGTH]),
            owns=[kept],
        ),
        observer=watch,
    )
    e.encode_all(numbered(1, 2, 3))  # three encode hooks
    e.column(LOG_STRENGTH)  # computed when it is read
    e.advance(1.0)
    e.column(LOG_STRENGTH)
    receipt = watch.receipts["m"]
    assert (receipt.calls, receipt.values_changed) == (3 + 2, 3 * 1 + 2 * 2)


def test_edges_made_and_removed_are_values_changed() -> None:
    def link(view: Any, incoming: Any) -> None:
        if view.row == 1:
            view.graph.add(1, 0, EdgeType.TEMPORAL)
            view.graph.add(0, 1, EdgeType.TEMPORAL)
        if view.row == 2:
            view.graph.remove(view.graph.find(1, 0, EdgeType.TEMPORAL))

    watch = Observer()
    memory(
        mechanism("m", does(Phase.ENCODE, link, reads=[ROW], adds=[GRAPH])), observer=watch
    ).encode_all(numbered(1, 2, 3))
    assert watch.receipts["m"].values_changed == 3


def gate(id: str, *rejects: int) -> Any:
    """Vetoes the events with these numbers."""

    def judge(view: Any, incoming: Any) -> None:
        view.veto = int(int(incoming.event.text.split()[-1]) in rejects)

    return mechanism(id, does(Phase.ENCODE, judge, adds=[VETO]))


def test_votes_on_admission_are_counted_by_event() -> None:
    """Ten events: 2 and 3 are rejected by one gate alone, 4 by both; 4 and 7 are marked as
    repetitions, and 4 is not stored.
    """

    def mark(view: Any, incoming: Any) -> None:
        view.duplicate = 0 if incoming.event.text.split()[-1] in ("4", "7") else -1

    watch = Observer()
    e = memory(
        gate("first", 2, 4),
        gate("second", 3, 4),
        gate("never"),
        mechanism("marks", does(Phase.ENCODE, mark, sets=[DUPLICATE])),
        idle(),
        observer=watch,
    )
    e.encode_all(numbered(*range(10)))
    assert (watch.judged, watch.stored, e.store.n) == (10, 7, 7)
    found = {id: watch.receipts[id].votes for id in ("first", "second", "never", "marks", "idle")}
    assert found == {
        "first": Votes(2, 1, 0),
        "second": Votes(2, 1, 0),
        "never": Votes(),
        "marks": Votes(0, 0, 1),
        "idle": None,
    }


def test_two_hooks_of_one_gate_cast_one_vote() -> None:
    twice = mechanism(
        "twice",
        *(does(Phase.ENCODE, lambda v, _: setattr(v, "veto", 1), adds=[VETO]) for _ in range(2)),
    )
    watch = Observer()
    memory(twice, observer=watch).encode_all(numbered(1, 2, 3))
    assert watch.receipts["twice"].votes == Votes(3, 3, 0) and (watch.judged, watch.stored) == (
        3,
        0,
    )


def test_a_mechanism_that_does_nothing_has_an_empty_receipt() -> None:
    watch = Observer()
    e = memory(idle(), mechanism("asleep"), by_number(), observer=watch)
    e.encode_all(numbered(1, 2))
    e.retrieve("number")
    assert (
        watch.receipts["idle"].calls == 1
        and watch.receipts["idle"].values_changed == 0
        and watch.receipts["asleep"].calls == 0
    )


def test_an_observed_memory_is_the_same_memory() -> None:
    seen, alone = (memory(by_number(), reverse(RERANKED), observer=o) for o in (Observer(), None))
    for e in (seen, alone):
        e.encode_all(numbered(3, 1, 2))
    assert (
        seen.digest() == alone.digest()
        and seen.retrieve("x").rows.tolist() == alone.retrieve("x").rows.tolist()
    )


def test_times_and_traces() -> None:
    lines: list[tuple[str, float]] = []
    watch = Observer(trace=lambda label, hours: lines.append((label, hours)))
    e = memory(by_number(), observer=watch)
    e.encode_all(numbered(1, 2, step=0.5))
    e.advance(30.0)
    e.retrieve("number")
    assert {p: len(ms) for p, ms in watch.phase_ms.items()} == {
        Phase.MAINTAIN: 3,
        Phase.ENCODE: 2,
        Phase.CONSOLIDATE: 1,
        Phase.RETRIEVE: 1,
    }
    assert all(ms >= 0.0 for passes in watch.phase_ms.values() for ms in passes)
    assert (
        0.0
        < watch.mechanism_ms["number"]
        <= sum(watch.phase_ms[Phase.ENCODE]) + sum(watch.phase_ms[Phase.RETRIEVE])
    )
    assert [t for label, t in lines if label == "engine.store"] == [0.0, 0.5] and (
        "engine.answer",
        30.0,
    ) in lines
    assert [label for label, _ in lines[:2]] == ["engine.store", "number.hook0"]
