"""spike_timing_plasticity: compiled and plain kernels agree; through the engine successors are
retrieved, and the printed form has no bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hebbarium.engine.contract.columns import Phase
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import LTP, REPLAY_LAG, REPLAYED
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.state.graph import EdgeType
from hebbarium.mechanisms.maintenance import spike_timing_plasticity as stdp
from hebbarium.mechanisms.maintenance import spike_timing_plasticity_printed as printed
from hebbarium.testing.small import does, mechanism

Build = Callable[..., Engine]
STORY = ("the harbour was quiet", "a lantern swung", "somebody whistled", "the ferry left")
TAU_PLUS, TAU_MINUS = (2400.0 * ms / 3.6e6 for ms in (16.8, 33.7))  # h
UP, DOWN = 0.777 / 60.0, 0.273 / 60.0


def weight(memory: Engine, a: int, b: int, column: Any = stdp.TIMING_WEIGHT) -> float:
    edge = memory.store.graph.find(a, b, EdgeType.COACCESS)
    return 0.0 if edge is None else float(memory.store.graph.column(column.name)[edge])


def filled(build: Build, *ids: str, gap: float = 1.0 / 60.0, **values: Any) -> Engine:
    memory = build("lexical_bm25", *ids, params={ids[-1]: values} if values else None)
    memory.encode_all(Event(i * gap, text, session="s") for i, text in enumerate(STORY))
    return memory


@pytest.mark.slow
def test_kernels_compiled_equal_plain() -> None:
    rng, n = np.random.default_rng(0), 6
    edge, lag = rng.integers(0, n * n, 40), rng.normal(0.0, 30.0, 40)
    trains, constants = (
        (
            np.sort(rng.integers(0, 90, 20).astype(float)),
            np.sort(rng.integers(0, 90, 15).astype(float)),
        ),
        (0.7, 0.2, 16.0, 30.0),
    )
    network = np.arange(n) * n, np.full(n, n), np.arange(n * n), np.tile(np.arange(n), n)
    results = []
    for plain in (False, True):
        window, traced, paired, pass_on, window_p, paired_p, pass_on_p = (
            k.py_func if plain else k
            for k in (stdp.window, stdp.traced, stdp.paired, stdp.pass_on, printed.window,
                      printed.paired, printed.pass_on))  # fmt: skip
        weights, others, out, out_p = (
            np.full(n * n, 0.4),
            np.zeros(n * n),
            np.full(n, np.nan),
            np.full(n, np.nan),
        )
        paired(20, edge, edge % n, lag, np.ones(n), -0.5, *constants, 1.0, weights)
        paired_p(edge, lag, *constants, others)
        for kernel, w, o in ((pass_on, weights, out), (pass_on_p, others, out_p)):
            kernel(np.array([1, 4]), np.ones(n), np.ones(n), np.full(n, 0.5), *network, w, o)
        alone = [f(d, *constants) for f in (window, window_p) for d in (3.0, 0.0, -3.0)]
        results.append(np.concatenate([weights, others, np.nan_to_num(out), np.nan_to_num(out_p),
                                       alone, [traced(*trains, *constants)]]))  # fmt: skip
    np.testing.assert_allclose(results[0], results[1], rtol=1e-11, atol=1e-13)


def test_turns_a_minute_apart_are_associated_in_their_order(build: Build) -> None:
    memory = filled(build, "spike_timing_plasticity")
    assert weight(memory, 1, 2) == pytest.approx(UP * math.exp(-1.0 / 60.0 / TAU_PLUS))
    assert weight(memory, 2, 1) == 0.0


def test_a_query_ranks_the_following_memory_higher(build: Build) -> None:
    memory = filled(build, "spike_timing_plasticity")
    before = memory.digest()
    memory.retrieve("Who saw the lantern?")
    arrived = memory.store.array(stdp.SUCCESSOR_IN_TIME)
    assert arrived[2] > 0.0 and np.isnan(arrived[[0, 1, 3]]).all() and memory.digest() == before
    memory.retrieve("Who saw the lantern?", learn=True)  # an answer has no lags
    assert weight(memory, 1, 2) == pytest.approx(UP * math.exp(-1.0 / 60.0 / TAU_PLUS))


def test_memories_hours_apart_are_not_associated_in_simulated_time(build: Build) -> None:
    assert weight(filled(build, "spike_timing_plasticity", gap=2.0, pace="scale"), 1, 2) < 1e-12


def test_every_replay_of_a_step_counts_and_reverse_replay_points_back(
    build: Build, registry: Any
) -> None:
    def sleep(view: Any, _: Any) -> None:
        view.replayed[:4] = (0, 1), (0, 1), (0, 1), (3, 2)
        view.replay_lag[:4] = TAU_PLUS

    memory = Engine(
        [
            mechanism(
                "sleeper", does(Phase.CONSOLIDATE, sleep, sets=[REPLAYED, REPLAY_LAG]), order=-1
            ),
            registry.instance("spike_timing_plasticity", {"pace": "scale"}),
        ],
        HashingEmbedder(16),
    )
    memory.encode_all(Event(2.0 * i, text, session="s") for i, text in enumerate(STORY))
    memory.advance(30.0)
    assert weight(memory, 0, 1) == pytest.approx(3.0 * UP / math.e) and weight(memory, 1, 0) == 0.0
    assert weight(memory, 3, 2) == pytest.approx(UP / math.e) and weight(memory, 2, 3) == 0.0


@pytest.mark.parametrize(
    ("steps", "weights"),
    [
        ([(1, 0)] * 30 + [(0, 1)] * 30, (0.214, 0.113)),
        ([(0, 1)] * 30 + [(1, 0)] * 30, (0.113, 0.214)),
    ],
)
def test_replayed_steps_meet_the_bounds_in_their_order(
    registry: Any, steps: list[tuple[int, int]], weights: tuple[float, float]
) -> None:
    def sleep(view: Any, _: Any) -> None:
        view.replayed[:60], view.replay_lag[:60] = steps, 10.0 * 2400.0 / 3.6e6

    memory = Engine(
        [
            mechanism(
                "sleeper", does(Phase.CONSOLIDATE, sleep, sets=[REPLAYED, REPLAY_LAG]), order=-1
            ),
            registry.instance("spike_timing_plasticity", {"pace": "scale"}),
        ],
        HashingEmbedder(16),
    )
    memory.encode_all(Event(2.0 * i, text, session="s") for i, text in enumerate(STORY))
    memory.advance(30.0)
    assert (weight(memory, 0, 1), weight(memory, 1, 0)) == pytest.approx(weights, abs=5e-4)


def test_in_the_wrong_phase_of_theta_potentiation_is_depression(registry: Any) -> None:
    phases = iter((1.0, 1.0, -1.0, -1.0))

    def turn(view: Any, _: Any) -> None:
        view.ltp = next(phases)

    clock = mechanism("clock", does(Phase.ENCODE, turn, sets=[LTP]), order=-1)
    memory = Engine([clock, registry.instance("spike_timing_plasticity")], HashingEmbedder(16))
    memory.encode_all(Event(i / 60.0, text, session="s") for i, text in enumerate(STORY))
    assert weight(memory, 0, 1) > 0.0 == weight(memory, 1, 2) == weight(memory, 2, 3)


def test_the_printed_form_is_negative_and_associates_memories_hours_apart(build: Build) -> None:
    memory = filled(build, "spike_timing_plasticity_printed", gap=2.0)
    assert weight(memory, 1, 2, printed.TIMING_PRINTED) == pytest.approx(
        0.03 * math.exp(-2.0 / 24.0)
    )
    assert weight(memory, 2, 1, printed.TIMING_PRINTED) == pytest.approx(
        -0.02 * math.exp(-2.0 / 24.0)
    )
    memory.retrieve("Who saw the lantern?")
    arrived = memory.store.array(printed.CLOSE_IN_TIME)
    assert arrived[2] > 0.0 > arrived[0] and np.isnan(arrived[3])
