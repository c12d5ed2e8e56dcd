"""The observer: counts what is known to happen, and leaves no trace of its own."""
from __future__ import annotations

from typing import Any

import numpy as np
from small import by_number, column, does, mechanism, memory, numbered, score

from hebbarium.engine.columns import Phase, Scope
from hebbarium.engine.observer import Observer
from hebbarium.engine.records import Query
from hebbarium.engine.storage.graph import EdgeType
from hebbarium.engine.vocabulary import (
    ACTIVATION,
    CREATED,
    FUSED,
    GRAPH,
    LOG_STRENGTH,
    MATCH,
    NOW,
    RANDOM,
    RECALLED,
    RERANKED,
    REWEIGHTED,
    ROW,
    VISIBLE,
)


def probed(*mechanisms: Any, numbers: tuple[float, ...] = (1, 2, 3, 4), advance: float = 2.0) -> dict[str, int]:
    """Places among the best that change when each mechanism is silenced."""
    watch = Observer()
    e = memory(*mechanisms, observer=watch)
    e.encode_all(numbered(*numbers))
    e.advance(advance)
    e.retrieve("number")
    before, answer = e.digest(), e.retrieve("number")
    watch.probe(e.assembly.cue(Query("number")))
    assert e.digest() == before
    np.testing.assert_array_equal(e.retrieve("number").final, answer.final)
    return {m.id: watch.receipts[m.id].ranks_changed for m in mechanisms}


def reverse(stage: Any, id: str = "reverse") -> Any:
    """Turns the ranking round, in one stage."""
    return mechanism(id, does(Phase.RETRIEVE, lambda v, _: np.negative(v.match, out=getattr(v, stage.name)), reads=[MATCH], sets=[stage]))


def idle(id: str = "idle", stage: Any = REWEIGHTED) -> Any:
    return mechanism(id, does(Phase.RETRIEVE, lambda v, _: None, sets=[stage]))


def test_calls_and_changed_cells_of_a_known_life() -> None:
    kept = column("kept")

    def dress(view: Any, incoming: Any) -> None:
        view.kept[view.row] = 1.0

    def strengthen(view: Any, tick: Any) -> None:
        view.log_strength[:2] = 1.0

    watch = Observer()
    e = memory(mechanism("m", does(Phase.ENCODE, dress, reads=[ROW], sets=[kept]), does(Phase.MAINTAIN, strengthen, adds=[LOG_STRENGTH]),
                         owns=[kept]),
               observer=watch)
    e.encode_all(numbered(1, 2, 3))  # dressed three times, the tick finished once
    e.advance(1.0)
    receipt = watch.receipts["m"]
    assert (receipt.calls, receipt.cells_changed) == (3 + 2, 3 * 1 + 2 * 2)


def test_edges_made_and_removed_are_cells_changed() -> None:
    def link(view: Any, incoming: Any) -> None:
        if view.row == 1:
            view.graph.add(1, 0, EdgeType.TEMPORAL)
            view.graph.add(0, 1, EdgeType.TEMPORAL)
        if view.row == 2:
            view.graph.remove(view.graph.find(1, 0, EdgeType.TEMPORAL))

    watch = Observer()
    memory(mechanism("m", does(Phase.ENCODE, link, reads=[ROW], adds=[GRAPH])), observer=watch).encode_all(numbered(1, 2, 3))
    assert watch.receipts["m"].cells_changed == 3


def test_who_does_nothing_has_an_empty_receipt() -> None:
    watch = Observer()
    e = memory(idle(), mechanism("asleep"), by_number(), observer=watch)
    e.encode_all(numbered(1, 2))
    e.retrieve("number")
    assert watch.receipts["idle"].calls == 1 and watch.receipts["idle"].cells_changed == 0 and watch.receipts["asleep"].calls == 0


def test_the_only_signal_decides_every_place() -> None:
    """Ranked 3 2 1 0 with it and 0 1 2 3 without."""
    assert probed(by_number()) == {"number": 4}


def test_a_stage_is_silenced_to_the_stage_before_not_to_zero() -> None:
    for stage in (FUSED, REWEIGHTED, RERANKED):
        assert probed(by_number(), reverse(stage), numbers=(2, 1, 4, 3)) == {"number": 4, "reverse": 4}
        assert probed(by_number(), idle(stage=stage)) == {"number": 4, "idle": 0}
    assert probed(by_number(), reverse(FUSED, "first"), idle(stage=RERANKED))["idle"] == 0


def test_persistent_columns_are_silenced_for_those_who_read_them() -> None:
    """`giver` works in maintain only; what it made is read in retrieve by another."""
    giver = mechanism("giver", does(Phase.MAINTAIN, lambda v, _: np.copyto(v.activation, v.created), reads=[CREATED], sets=[ACTIVATION]))
    taken = score("taken")
    taker = mechanism("taker", does(Phase.RETRIEVE, lambda v, _: np.copyto(v.taken, v.activation), reads=[ACTIVATION], sets=[taken]), owns=[taken])
    assert probed(giver, taker) == {"giver": 4, "taker": 4}


def strength(id: str, values: list[float]) -> Any:
    return mechanism(id, does(Phase.MAINTAIN, lambda v, _: np.copyto(v.log_strength, values[: len(v.log_strength)]), adds=[LOG_STRENGTH]))


def test_of_a_shared_column_only_the_own_contribution_is_taken_off() -> None:
    taken = score("taken")
    taker = mechanism("taker", does(Phase.RETRIEVE, lambda v, _: np.copyto(v.taken, v.log_strength), reads=[LOG_STRENGTH], sets=[taken]),
                      owns=[taken])
    found = probed(taker, strength("strong", [1.0, 2.0, 3.0, 4.0]), strength("nothing", [0.0] * 4), strength("little", [0.1, 0.0, 0.0, 0.0]))
    assert found == {"taker": 4, "strong": 4, "nothing": 0, "little": 0}


def test_what_is_gathered_anew_in_each_pass_is_taken_off_once() -> None:
    """2 + 2 and 0 + 1 rank as 2 and 1 do; 2 - 2 and 1 - 0 would not."""
    taken = score("taken")
    taker = mechanism("taker", does(Phase.RETRIEVE, lambda v, _: np.copyto(v.taken, v.log_strength), reads=[LOG_STRENGTH], sets=[taken]),
                      owns=[taken])
    assert probed(taker, strength("more", [2.0, 0.0]), strength("base", [2.0, 1.0]), numbers=(1, 2))["more"] == 0


def test_edge_columns_are_silenced() -> None:
    trust = column("trust", Scope.EDGE, 0.0)

    def link(view: Any, _: Any) -> None:
        view.graph.add(view.row, view.row, EdgeType.SEMANTIC)

    def spread(view: Any, _: Any) -> None:
        view.spread[view.graph.source] = view.trust

    linker = mechanism("linker", does(Phase.ENCODE, link, reads=[ROW], adds=[GRAPH]))
    owner = mechanism("owner", does(Phase.MAINTAIN, lambda v, _: np.copyto(v.trust, np.arange(len(v.trust))), sets=[trust]), owns=[trust])
    signal = score("spread")
    reader = mechanism("reader", does(Phase.RETRIEVE, spread, reads=[GRAPH, trust], sets=[signal]), owns=[signal])
    assert probed(linker, owner, reader) == {"linker": 0, "owner": 4, "reader": 4}


def test_what_a_mechanism_archived_comes_back_for_the_probe_only() -> None:
    hide = mechanism("hide", does(Phase.MAINTAIN, lambda v, _: v.visible.__setitem__(3, False), sets=[VISIBLE]))
    assert probed(hide, by_number())["hide"] == 4, "3 2 1 without it, 4 3 2 1 with the best back"


def test_a_column_that_another_sets_is_not_silenced_with_the_adder() -> None:
    weight = mechanism("adder", does(Phase.RETRIEVE, lambda v, _: None, adds=[REWEIGHTED]))
    assert probed(by_number(), reverse(REWEIGHTED), weight, numbers=(2, 1, 4, 3)) == {"number": 4, "reverse": 4, "adder": 0}


def test_probes_draw_no_random_numbers_and_teach_nothing() -> None:
    marks = column("marks")

    def learn(view: Any, _: Any) -> None:
        view.marks[view.recalled] += view.random.random()

    watch = Observer()
    e = memory(mechanism("m", does(Phase.RETRIEVE, learn, reads=[RECALLED, NOW], sets=[marks, RANDOM]), owns=[marks]), by_number(), observer=watch)
    e.encode_all(numbered(1, 2, 3))
    e.retrieve("number", learn=True)
    before, calls, passes = e.digest(), watch.receipts["m"].calls, {p: len(ms) for p, ms in watch.phase_ms.items()}
    for _ in range(3):
        watch.probe(e.assembly.cue(Query("number")))
    assert e.digest() == before and watch.receipts["m"].calls == calls and {p: len(ms) for p, ms in watch.phase_ms.items()} == passes


def test_an_observed_memory_is_the_same_memory() -> None:
    seen, alone = (memory(by_number(), reverse(RERANKED), observer=o) for o in (Observer(), None))
    for e in (seen, alone):
        e.encode_all(numbered(3, 1, 2))
    assert seen.digest() == alone.digest() and seen.retrieve("x").rows.tolist() == alone.retrieve("x").rows.tolist()


def test_times_and_traces() -> None:
    lines: list[tuple[str, float]] = []
    watch = Observer(trace=lambda label, hours: lines.append((label, hours)))
    e = memory(by_number(), observer=watch)
    e.encode_all(numbered(1, 2, step=0.5))
    e.advance(30.0)
    e.retrieve("number")
    assert {p: len(ms) for p, ms in watch.phase_ms.items()} == {Phase.MAINTAIN: 3, Phase.ENCODE: 2, Phase.CONSOLIDATE: 1, Phase.RETRIEVE: 1}
    assert all(ms >= 0.0 for passes in watch.phase_ms.values() for ms in passes)
    assert 0.0 < watch.mechanism_ms["number"] <= sum(watch.phase_ms[Phase.ENCODE]) + sum(watch.phase_ms[Phase.RETRIEVE])
    assert [t for label, t in lines if label == "engine.store"] == [0.0, 0.5] and ("engine.answer", 30.0) in lines
    assert [label for label, _ in lines[:2]] == ["engine.store", "number.hook0"]
