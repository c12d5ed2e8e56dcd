"""A witness notes votes and archivings, and measures what a plain observer measures."""

from __future__ import annotations

from typing import Any

import numpy as np

from hebbarium.benchmarks.systems.witness import Archiving, Witness
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.columns import Phase
from hebbarium.engine.contract.vocabulary import VETO, VISIBLE
from hebbarium.engine.flow.observer import Observer
from hebbarium.engine.memory.engine import Engine
from hebbarium.testing.conformance import simulated, talk
from hebbarium.testing.small import by_number, does, mechanism, memory, numbered


def gate(id: str, *numbers: int) -> Any:
    def vote(view: Any, incoming: Any) -> None:
        view.veto = int(int(incoming.event.text.split()[-1]) in numbers)

    return mechanism(id, does(Phase.ENCODE, vote, adds=[VETO]))


def test_every_vote_against_an_event_is_noted() -> None:
    seen = Witness()
    e = memory(by_number(), gate("a", 3, 5), gate("b", 5), gate("c"), observer=seen)
    e.encode_all(numbered(1, 3, 5, 7))
    assert seen.vetoes == {"e1": ["a"], "e2": ["a", "b"]} and [
        e.event_log.row(f"e{i}") for i in range(4)
    ] == [0, -1, -1, 1]


def test_archiving_and_restoring_are_noted_with_their_time() -> None:
    def tend(view: Any, tick: Any) -> None:
        view.visible[0] = tick.end >= 20.0
        view.visible[1] = tick.end < 10.0

    seen = Witness()
    e = memory(
        by_number(),
        mechanism("tender", does(Phase.MAINTAIN, tend, sets=[VISIBLE])),
        observer=seen,
        consolidate_every=1000.0,
    )
    e.encode_all(numbered(1, 3, 5))
    assert set(seen.archived) == {0} and seen.archived[0].mechanism == "tender"
    e.advance(15.0)
    assert seen.archived[1] == Archiving("tender", 15.0) and set(seen.archived) == {0, 1}
    e.advance(25.0)
    assert set(seen.archived) == {1} and np.flatnonzero(~e.column(VISIBLE)).tolist() == [1]


def test_a_witness_measures_as_an_observer_does(registry: Registry, build: Any) -> None:
    plain, seen = Observer(), Witness()
    memories: list[Engine] = [
        build(*registry.set("minimal").mechanisms, observer=o) for o in (plain, seen)
    ]
    for e in memories:
        simulated(e, talk(40))
    assert plain.receipts == seen.receipts and memories[0].digest() == memories[1].digest()
    assert {
        id
        for id, row in zip(seen.vetoes, map(memories[1].event_log.row, seen.vetoes), strict=True)
        if row >= 0
    } == set()
