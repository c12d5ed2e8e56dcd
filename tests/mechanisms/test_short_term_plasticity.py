"""short_term_plasticity: compiled and plain kernels agree; through the engine use depletes
resources, which recover except in the printed form.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hebbarium.engine.contract.columns import Phase
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import (
    RELEASE_PROBABILITY,
    REPLAY_LAG,
    REPLAYED,
    RESOURCES,
)
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.mechanisms.maintenance import hebbian_association as hebb
from hebbarium.mechanisms.maintenance import short_term_plasticity as stp
from hebbarium.mechanisms.maintenance import short_term_plasticity_printed as printed
from hebbarium.testing.small import does, mechanism

# the kernels take longer to compile than the tests take in Python
pytestmark = pytest.mark.kernels

Build = Callable[..., Engine]
STORY = ("the harbour was quiet", "a lantern swung", "somebody whistled", "the ferry left")
TAU = 2400.0 * 800.0 / 3.6e6  # h
SLOW = {"short_term_plasticity": {"baseline": 0.03, "tau_rec": 130.0, "tau_f": 530.0}}


def resources(memory: Engine, query: str = "What?") -> list[float]:
    memory.retrieve(query)
    return [float(r) for r in memory.store.array(RESOURCES)]


def filled(build: Build, *ids: str, **options: Any) -> Engine:
    memory = build("lexical_bm25", *ids, **options)
    memory.encode_all(Event(i / 60.0, text, session="s") for i, text in enumerate(STORY))
    return memory


@pytest.mark.slow
def test_kernels_compiled_equal_plain() -> None:
    rng, n = np.random.default_rng(0), 5
    steps, lag, release = (
        rng.integers(0, n, (7, 2)).astype(np.int32),
        rng.random(7),
        rng.random(n) * 3.0,
    )
    results = []
    for plain in (False, True):
        rested, spike, mean_field, use, replay, supply, use_p, supply_p = (
            k.py_func if plain else k
            for k in (stp.rested, stp.spike, stp.mean_field, stp.use, stp.replay, stp.resources,
                      printed.use, printed.resources))  # fmt: skip
        state, state_p = (np.zeros(n), np.zeros(n), np.full(n, np.nan)), (np.zeros(n), np.zeros(n))
        out, out_p = np.zeros(n), np.zeros(n)
        use(2, 0.5, 0.3, release, 2.0, 3.0, *state)
        replay(9.0, steps, lag, 0.3, release, 2.0, 3.0, *state)
        supply(10.0, 0.3, release, 2.0, 3.0, *state, out)
        use_p(steps.ravel(), 0.3, release, *state_p)
        supply_p(0.3, release, *state_p, out_p)
        alone = [
            *rested(0.4, 0.3, 1.0, 2.0, 3.0),
            *rested(0.4, 0.3, 1.0, 0.0, 0.0),
            *spike(0.4, 0.3, 0.2),
            *mean_field(0.1, 0.2, 2.0, 3.0),
        ]
        results.append(np.concatenate([*map(np.nan_to_num, state), *state_p, out, out_p, alone]))
    np.testing.assert_allclose(results[0], results[1], rtol=1e-12)


def test_an_event_uses_its_resources_which_recover(build: Build) -> None:
    memory = filled(build, "short_term_plasticity")
    assert resources(memory) == pytest.approx(
        [1.0 - 0.5 * math.exp(-m / 60.0 / TAU) for m in (3, 2, 1, 0)]
    )
    memory.advance(memory.now + 5.0 * TAU)
    assert min(resources(memory)) > 0.993
    memory.advance(memory.now + 50.0 * TAU)
    assert resources(memory) == [1.0] * 4


def test_recall_uses_resources_only_with_learning(build: Build) -> None:
    memory = filled(build, "short_term_plasticity")
    memory.advance(memory.now + 50.0 * TAU)
    assert resources(memory, "lantern") == [1.0] * 4
    for _ in range(2):
        memory.retrieve("lantern", k=1, learn=True)
    assert resources(memory) == pytest.approx([1.0, 0.25, 1.0, 1.0])


def test_a_facilitated_memory_passes_more_activation_on(build: Build) -> None:
    memory = filled(build, "short_term_plasticity", params=SLOW)
    assert min(resources(memory)) > 1.5


def test_memories_with_few_resources_pass_less_activation_to_their_associates(build: Build) -> None:
    arrived = []
    for ids in (("hebbian_association",), ("hebbian_association", "short_term_plasticity")):
        memory = filled(build, *ids)
        memory.retrieve("Who saw the lantern?")
        arrived.append(float(memory.store.array(hebb.ASSOCIATED)[0]))
    assert arrived[1] / arrived[0] == pytest.approx(
        1.0 - 0.5 * math.exp(-2.0 / 60.0 / TAU), rel=1e-5
    )


def test_replay_uses_resources_and_a_factor_on_release_scales_the_baseline(registry: Any) -> None:
    def sleep(view: Any, _: Any) -> None:
        view.replayed[:2] = (0, 1), (1, 2)
        view.replay_lag[:2] = 0.25 * TAU

    def release(view: Any, _: Any) -> None:
        view.release_probability[...] = 0.5

    memory = Engine(
        [
            mechanism(
                "sleeper",
                does(Phase.CONSOLIDATE, sleep, sets=[REPLAYED, REPLAY_LAG]),
                does(Phase.MAINTAIN, release, sets=[RELEASE_PROBABILITY]),
                order=-1,
            ),
            registry.instance("short_term_plasticity"),
        ],
        HashingEmbedder(16),
    )
    memory.encode_all(Event(i / 60.0, text, session="s") for i, text in enumerate(STORY))
    memory.advance(24.0)
    assert resources(memory) == pytest.approx(
        [*(1.0 - 0.25 * math.exp(-0.25 * k) for k in (2, 1, 0)), 1.0]
    )


def test_the_times_of_queries_do_not_matter(build: Build) -> None:
    often, once = filled(build, "short_term_plasticity"), filled(build, "short_term_plasticity")
    for _ in range(20):
        often.advance(often.now + 0.05)
        resources(often)
    once.advance(often.now)
    assert resources(often) == resources(once)


def test_the_printed_form_never_recovers(build: Build) -> None:
    memory = filled(build, "short_term_plasticity_printed")
    for _ in range(3):
        memory.retrieve("lantern", k=1, learn=True)
    memory.advance(memory.now + 1000.0)
    assert resources(memory) == pytest.approx([0.75, 31.0 / 16384.0, 0.75, 0.75])
