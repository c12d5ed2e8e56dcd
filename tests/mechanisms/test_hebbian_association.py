"""hebbian_association: compiled and plain kernels agree; through the engine memories active
together retrieve each other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hebbarium.engine.contract.columns import Phase
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import (
    LTP,
    MODIFIABILITY,
    REPLAY_LAG,
    REPLAYED,
    RESOURCES,
    ROW,
)
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.state.graph import EdgeType
from hebbarium.mechanisms.maintenance import hebbian_association as hebb
from hebbarium.testing.small import does, mechanism

Build = Callable[..., Engine]
ETA = 0.1
STORY = ("the harbour was quiet", "a lantern swung", "somebody whistled", "the ferry left")


def weight(memory: Engine, a: int, b: int) -> float:
    """Weight at the present occasion of the target."""
    graph = memory.store.graph
    edge = graph.find(a, b, EdgeType.COACCESS)
    if edge is None:
        return 0.0
    silent = int(memory.store.array(hebb.HEBBIAN_OCCASIONS)[b]) - int(
        graph.column(hebb.HEBBIAN_SEEN.name)[edge]
    )
    return float(graph.column(hebb.HEBBIAN_WEIGHT.name)[edge]) * (1.0 - ETA) ** silent


def filled(build: Build, *more: str, **params: Any) -> Engine:
    memory = build(
        "lexical_bm25", "hebbian_association", *more, params={"hebbian_association": params}
    )
    memory.encode_all(Event(i / 60.0, text, session="s") for i, text in enumerate(STORY))
    return memory


def small_network(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    source, target = (rng.permuted(np.tile(np.arange(n), (4, 1)), axis=1)[:, i] for i in (0, 1))
    one, other = np.r_[source, target], np.r_[target, source]
    return (one, other, one * n + other, ETA, 0.8, rng.random(n), np.arange(n) * n, np.full(n, n),
            np.arange(n * n), np.tile(np.arange(n), n))  # fmt: skip


@pytest.mark.slow
def test_kernels_compiled_equal_plain() -> None:
    rng, n = np.random.default_rng(0), 6
    network, start = small_network(rng, n), rng.random(n * n)
    results = []
    for plain in (False, True):
        occur, occasion, pass_on, oja, current = (
            k.py_func if plain else k
            for k in (hebb.occur, hebb.occasion, hebb.pass_on, hebb.oja, hebb.current)
        )
        count, weights, seen, out = (
            np.full(n, 3, np.int32),
            start.copy(),
            np.ones(n * n, np.int32),
            np.full(n, np.nan),
        )
        occur(4, *network, count, weights, seen)
        occasion(*network, count, weights, seen)
        pass_on(
            np.array([1, 3]),
            np.ones(n),
            np.ones(n),
            np.full(n, 0.5),
            ETA,
            *network[6:],
            count,
            weights,
            seen,
            out,
        )
        results.append(
            np.concatenate(
                [
                    count,
                    weights,
                    seen,
                    np.nan_to_num(out),
                    [oja(0.3, 0.5, 2.0, 0.1, 0.7), current(0.3, 4, 0.1)],
                ]
            )
        )
    np.testing.assert_allclose(results[0], results[1], rtol=1e-12)


def test_a_match_raises_its_neighbours_in_the_session(build: Build) -> None:
    memory = filled(build)
    before = memory.digest()
    memory.retrieve("Who saw the lantern?")
    arrived = memory.store.array(hebb.ASSOCIATED)
    assert arrived[0] > 0.0 and arrived[2] > 0.0 and np.isnan(arrived[3])
    memory.retrieve("Nothing of the kind?")
    assert np.isnan(memory.store.array(hebb.ASSOCIATED)).all() and memory.digest() == before


def test_weights_are_those_of_ojas_rule(build: Build) -> None:
    memory = filled(build)
    # 1 was active again with 2, without 0
    assert weight(memory, 0, 1) == pytest.approx(ETA * (1.0 - ETA))
    assert weight(memory, 1, 0) == pytest.approx(ETA)
    assert weight(memory, 2, 3) == pytest.approx(ETA) and weight(memory, 0, 2) == 0.0


def test_sessions_are_not_associated(build: Build) -> None:
    memory = build("hebbian_association")
    memory.encode_all(Event(24.0 * i, text, session=f"s{i}") for i, text in enumerate(STORY))
    assert memory.store.graph.n_edges == 0


def test_the_best_of_an_answer_are_associated_only_if_recall_may_change_memory(
    build: Build,
) -> None:
    memory = filled(build)
    memory.retrieve("harbour ferry", k=2)
    assert weight(memory, 0, 3) == 0.0
    memory.retrieve("harbour ferry", k=2, learn=True)
    memory.retrieve("harbour ferry", k=2, learn=True)
    assert weight(memory, 0, 3) == weight(memory, 3, 0) == pytest.approx(1.0 - (1.0 - ETA) ** 2)


def test_ltp_modifiability_and_replay_change_the_weights(build: Build, registry: Any) -> None:
    def set_phase(view: Any, _: Any) -> None:
        view.ltp = 0.5

    def set_threshold(view: Any, _: Any) -> None:
        view.modifiability[view.row] = 0.4

    def sleep(view: Any, _: Any) -> None:
        view.replayed[:3] = (0, 1), (1, 2), (1, 2)
        view.replay_lag[:3] = 0.01

    others = [
        mechanism("clock", does(Phase.ENCODE, set_phase, sets=[LTP]), order=-3),
        mechanism(
            "threshold",
            does(Phase.ENCODE, set_threshold, reads=[ROW], sets=[MODIFIABILITY]),
            order=-2,
        ),
        mechanism("sleeper", does(Phase.CONSOLIDATE, sleep, sets=[REPLAYED, REPLAY_LAG]), order=-1),
    ]
    memory = Engine([*others, registry.instance("hebbian_association")], HashingEmbedder(16))
    memory.encode_all(Event(i / 60.0, text, session="s") for i, text in enumerate(STORY))
    assert weight(memory, 2, 3) == pytest.approx(ETA * 0.5 * 0.4)
    before = weight(memory, 1, 2)
    memory.advance(24.0)
    once = before * (1.0 - ETA) + ETA * 0.5 * 0.4
    assert weight(memory, 1, 2) == pytest.approx(once * (1.0 - ETA) + ETA * 0.5 * 0.4)


def test_memories_with_few_resources_pass_less_activation_on(build: Build, registry: Any) -> None:
    def spend(view: Any, _: Any) -> None:
        view.resources[...] = 0.25

    arrived = []
    for more in (
        [],
        [mechanism("spender", does(Phase.RETRIEVE, spend, sets=[RESOURCES]), order=-1)],
    ):
        memory = Engine(
            [*more, registry.instance("lexical_bm25"), registry.instance("hebbian_association")],
            HashingEmbedder(16),
        )
        memory.encode_all(Event(i / 60.0, text, session="s") for i, text in enumerate(STORY))
        memory.retrieve("Who saw the lantern?")
        arrived.append(float(memory.store.array(hebb.ASSOCIATED)[0]))
    assert arrived[1] == pytest.approx(0.25 * arrived[0])
