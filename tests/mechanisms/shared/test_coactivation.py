"""Which memories count as active together, in which order, and what edges they get."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from hebbarium.engine.base.errors import ContractError
from hebbarium.engine.contract.columns import Column, Phase, Scope
from hebbarium.engine.contract.hooks import Mechanism
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import (
    RECALLED,
    REPLAY_LAG,
    REPLAYED,
    REPLAYS,
    ROW,
    WORKING_MEMORY,
    WORKING_MEMORY_STEP,
)
from hebbarium.engine.state.graph import EdgeType
from hebbarium.mechanisms.shared.coactivation import (
    COACTIVATION,
    PARTNERS,
    TOGETHER,
    activities,
    is_first,
)
from hebbarium.testing.small import by_number, does, mechanism, memory, numbered

TEST_WEIGHT = Column("test_weight", np.float64, Scope.EDGE, "1", 0.0, "for the test")
Seen = list[tuple[str, list[tuple[int, int, float]]]]


def witness(seen: Seen) -> Mechanism[Any]:
    """Notes the pairs of every pass, and counts them on their edges."""

    def note(phase: str) -> Any:
        def look(view: Any, what: Any) -> None:
            pairs = view.coactivation
            np.add.at(view.test_weight, pairs.edge, 1.0)
            seen.append(
                (
                    phase,
                    list(
                        zip(
                            pairs.source.tolist(),
                            pairs.target.tolist(),
                            pairs.lag.round(9).tolist(),
                            strict=True,
                        )
                    ),
                )
            )

        return look

    return mechanism(
        "witness",
        does(Phase.ENCODE, note("encode"), reads=[COACTIVATION], sets=[TEST_WEIGHT]),
        does(Phase.CONSOLIDATE, note("consolidate"), reads=[COACTIVATION], sets=[TEST_WEIGHT]),
        does(Phase.RETRIEVE, note("retrieve"), reads=[COACTIVATION, RECALLED], sets=[TEST_WEIGHT]),
        owns=[TEST_WEIGHT],
    )


def test_a_memory_follows_the_one_before_it_in_its_session() -> None:
    seen: Seen = []
    e = memory(witness(seen))
    for time, session in ((0.0, "a"), (0.25, "a"), (0.5, "b"), (1.0, "b")):
        e.encode(Event(time, "x", session=session))
    assert [pairs for _, pairs in seen] == [
        [],
        [(0, 1, 0.25), (1, 0, -0.25)],
        [],
        [(2, 3, 0.5), (3, 2, -0.5)],
    ]


@pytest.mark.parametrize("with_new", [True, False])
@pytest.mark.parametrize("step", [math.nan, 0.1])
def test_a_new_memory_is_paired_with_all_rows_of_working_memory(
    with_new: bool, step: float
) -> None:
    def hold(view: Any, incoming: Any) -> None:
        rows = np.arange(max(0, view.row - 3), view.row + with_new)
        view.working_memory[...] = -1
        view.working_memory[: len(rows)] = rows
        view.working_memory_step = step

    seen: Seen = []
    e = memory(
        mechanism(
            "holder",
            does(Phase.ENCODE, hold, reads=[ROW], sets=[WORKING_MEMORY, WORKING_MEMORY_STEP]),
        ),
        witness(seen),
    )
    times = [0.0, 0.25, 0.75, 1.75, 2.0]
    for time in times:
        e.encode(Event(time, "x", session="a"))
    for row, (_, pairs) in enumerate(seen):
        held = range(max(0, row - 3), row)
        lag = {
            i: times[row] - times[i] if math.isnan(step) else round(step * (row - i), 9)
            for i in held
        }
        if row == 0:
            continue
        assert pairs == [*((i, row, lag[i]) for i in held), *((row, i, -lag[i]) for i in held)]


def test_every_replay_of_a_step_is_a_pair() -> None:
    def replay(view: Any, tick: Any) -> None:
        view.replayed[:3] = [[0, 1], [2, 1], [0, 1]]
        view.replay_lag[:3] = [0.5, 0.25, 0.5]
        np.add.at(view.replays, [0, 1, 2], 1)

    seen: Seen = []
    e = memory(
        mechanism(
            "replayer", does(Phase.CONSOLIDATE, replay, sets=[REPLAYED, REPLAY_LAG, REPLAYS])
        ),
        witness(seen),
        consolidate_every=10.0,
    )
    e.encode_all(numbered(1, 2, 3))
    e.advance(25.0)
    forth = [(0, 1, 0.5), (2, 1, 0.25), (0, 1, 0.5)]
    nights = [pairs for phase, pairs in seen if phase == "consolidate"]
    assert nights == 2 * [[*forth, *((b, a, -lag) for a, b, lag in forth)]]
    edge = e.assembly.graph.find(0, 1, EdgeType.COACCESS)
    assert edge is not None and e.store.array(TEST_WEIGHT)[edge] == 1 + 2 * 2, (
        "once at encoding, twice a night"
    )
    assert e.store.array(REPLAYS).tolist() == [1, 1, 1], "counted for each night separately"


def test_the_best_rows_of_an_answer_are_paired_if_recall_may_change_memory() -> None:
    seen: Seen = []
    e = memory(by_number(), witness(seen))
    e.encode_all(numbered(5, 1, 4, 2, 3))
    seen.clear()
    e.retrieve("x")
    assert seen == []
    e.retrieve("x", learn=True)
    ((_, pairs),) = seen
    best = [0, 2, 4][:TOGETHER]
    assert sorted(pairs) == sorted((a, b, 0.0) for a in best for b in best if a != b)


def test_a_memory_keeps_the_edges_to_its_latest_partners() -> None:
    """Over several nights; the pairs of one night all keep their edges, even if they are more
    than PARTNERS.
    """
    nights = iter(((1, 21), (21, PARTNERS + 6), (PARTNERS + 6, 2 * PARTNERS + 10)))

    def replay(view: Any, tick: Any) -> None:
        rows = range(*next(nights))
        view.replayed[: len(rows)] = [[0, row] for row in rows]

    e = memory(
        mechanism("replayer", does(Phase.CONSOLIDATE, replay, sets=[REPLAYED])),
        witness([]),
        consolidate_every=10.0,
    )
    e.encode_all([Event(0.0, "x", session=str(i)) for i in range(2 * PARTNERS + 10)])
    graph = e.assembly.graph
    for time, expected in (
        (10.0, range(1, 21)),
        (20.0, range(6, PARTNERS + 6)),
        (30.0, range(PARTNERS + 6, 2 * PARTNERS + 10)),
    ):
        e.advance(time)
        assert graph.target[graph.neighbours(0, EdgeType.COACCESS)].tolist() == list(expected)


def test_no_pairs_are_made_if_no_hook_reads_them() -> None:
    e = memory(by_number())
    e.encode_all(numbered(1, 2, 3))
    assert e.assembly.graph.n_edges == 0


def test_pairs_do_not_persist_between_events() -> None:
    with pytest.raises(ContractError, match="means nothing in maintain"):
        mechanism("wrong", does(Phase.MAINTAIN, lambda v, t: None, reads=[COACTIVATION]))


def test_activities_and_first_pairs_are_those_of_numpy() -> None:
    rng = np.random.default_rng(5)
    for n in (0, 1, 40):
        target, edge, weight = rng.integers(0, 6, n), rng.integers(0, 9, n), rng.standard_normal(9)
        expected = 0.5 + np.bincount(target, weight[edge], minlength=6)[target]
        firsts = np.isin(np.arange(n), np.unique(target, return_index=True)[1])
        for pick in (lambda k: k, lambda k: k.py_func):
            np.testing.assert_allclose(
                pick(activities)(target, edge, 0.5, weight), expected, rtol=1e-12, atol=1e-12
            )
            assert [bool(pick(is_first)(target, i)) for i in range(n)] == firsts.tolist()
