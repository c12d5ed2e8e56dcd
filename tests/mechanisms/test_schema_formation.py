"""schema_formation: compiled and plain kernels agree; through the engine, congruent and novel
memories are strengthened, replay trains schemas.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.columns import Phase
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import (
    CONGRUENCY,
    INITIAL_STRENGTH,
    REPLAYS,
    THRESHOLD_SHIFT,
)
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.mechanisms.consolidation import schema_formation as papers
from hebbarium.mechanisms.consolidation import schema_formation_printed as printed
from hebbarium.testing.small import does, mechanism

# the kernels take longer to compile than the tests take in Python
pytestmark = pytest.mark.kernels

Build = Callable[..., Engine]
START = 480_000.0
KITCHEN = "oven flour sugar butter", "flour butter oven cake", "sugar oven cake flour"
HARBOUR = "anchor rope mast", "mast sailor rope", "rope anchor sailor"


def two_topics(n: int = 40) -> list[Event]:
    return [
        Event(START + i, (KITCHEN, HARBOUR)[i % 2][(i // 2) % 3], session=f"s{i // 10}")
        for i in range(n)
    ]


@pytest.mark.slow
def test_kernels_compiled_equal_plain() -> None:
    rng = np.random.default_rng(0)
    weights, base, x = (
        rng.random((4, 12)).astype(np.float32),
        rng.integers(1, 9, 12),
        np.array([1, 5, 7]),
    )
    count, size = np.array([3.0, 0.0, 9.0, 1.0]), np.array([2.0, 0.0, 4.0, 3.0])
    found = []
    for plain in (False, True):
        evidence, congruency, judge, delta, strength, dependence = (
            k.py_func if plain else k for k in (papers.evidence, papers.congruency, papers.judge,
                                                papers.delta, papers.strength, papers.dependence))  # fmt: skip
        p, w, out = np.empty(5), weights.astype(np.float64), np.full(3, np.nan)
        judge(x, weights, count, size, base, 20.0, 5.0, 1.0, p)
        delta(w, count, base / 9.0, 0.01)
        (papers.evoke.py_func if plain else papers.evoke)(
            p,
            np.array([0, 5, 2, 3]),
            np.array([2, 1, -1]),
            np.zeros(3),
            np.full(3, 0.5),
            9.0,
            240.0,
            15.0,
            0.0,
            out,
        )
        scalars = [
            evidence(x, weights[0], 3.0, 2.0, base, 20.0, 50.0, 5.0),
            congruency(x, weights[0], 3.0, base, 20.0, 5.0),
            strength(0.3, 1.0, 2.0, 3.0),
            dependence(9.0, 0.5, 240.0, 15.0),
        ]
        tables = weights.copy(), count.copy(), size.copy(), np.arange(4), np.array([0, 5, 2, 3])
        place = [
            (papers.join.py_func if plain else papers.join)(k, x, 21, *tables) for k in (-1, 2)
        ]
        schema = np.array([5, 2, 0])
        (papers.rehearse.py_func if plain else papers.rehearse)(
            np.array([1, 2, 1], np.int32),
            0.1,
            5.0,
            1.0,
            np.array([[1, 5], [7, -1], [3, 1]], np.int16),
            base,
            21,
            *tables,
            schema,
        )
        found.append(np.concatenate([p, w.ravel(), np.nan_to_num(out), scalars, place, schema,
                                     *(t.ravel() for t in tables)]))  # fmt: skip
    np.testing.assert_allclose(*found, rtol=1e-6)


def test_two_topics_make_two_schemas(build: Build) -> None:
    memory = build("schema_formation")
    memory.encode_all(two_topics())
    schema = memory.store.array(papers.SCHEMA)
    assert (
        len(set(schema[::2].tolist())) == len(set(schema[1::2].tolist())) == 1
        and schema[0] != schema[1]
    )
    assert memory.store.array(CONGRUENCY)[0] == 0.0 < memory.store.array(CONGRUENCY)[-1]


def test_strength_follows_the_u_relative_to_its_mean(build: Build) -> None:
    memory = build("schema_formation", params={"schema_formation": {"strength_gain": 1.0}})
    memory.encode_all([*two_topics(), Event(START + 50.0, "comet telescope orbit planet")])
    usual = memory.store.array(papers.SCHEMA_USUAL).copy()
    memory.encode(Event(START + 51.0, KITCHEN[0]))
    c, encoded = memory.store.array(CONGRUENCY), memory.store.array(INITIAL_STRENGTH)
    assert encoded[-1] == pytest.approx(math.log((c[-1] ** 2 + (1.0 - c[-1]) ** 2) / usual[0]))
    assert c[40] == 0.0 and encoded[40] > 0.0
    assert memory.store.array(papers.SCHEMA_USUAL)[1] == pytest.approx(c.mean())


def test_a_predicted_event_raises_the_threshold_before_it_is_stored(registry: Registry) -> None:
    shifts: list[float] = []
    gate = mechanism(
        "gate",
        does(
            Phase.ENCODE,
            lambda view, incoming: shifts.append(view.threshold_shift),
            reads=[THRESHOLD_SHIFT],
        ),
        order=999,
    )
    memory = Engine([registry.instance("schema_formation"), gate], HashingEmbedder(16))
    memory.encode_all([*two_topics(), Event(START + 50.0, "comet telescope orbit planet")])
    assert shifts[0] == 0.0 and shifts[-2] > 0.0 > shifts[-1]
    assert shifts[-2] <= 0.02


def replaying(rows: tuple[int, ...]) -> Any:
    def replay(view: Any, tick: Any) -> None:
        view.replays[list(rows)] = 5

    return mechanism("replays", does(Phase.CONSOLIDATE, replay, sets=[REPLAYS]), order=-1)


@pytest.mark.kernels
def test_replay_moves_a_schema_towards_replayed_memories(registry: Registry) -> None:
    memories = [
        Engine([replaying(rows), registry.instance("schema_formation")], HashingEmbedder(16))
        for rows in ((), (0,))
    ]
    for memory in memories:
        memory.encode_all(two_topics(20))
        memory.advance(START + 30.0)
    idle, taught = (m.store.array(papers.SCHEMA_WEIGHTS) for m in memories)
    place, x = (
        memories[0].store.array(papers.SCHEMA)[0] % 32,
        memories[0].store.array(papers.SCHEMA_ITEM)[0],
    )
    item = np.isin(np.arange(2048), x[x >= 0])
    assert np.abs(item - taught[place]).sum() < np.abs(item - idle[place]).sum()
    other = np.arange(32) != place
    np.testing.assert_array_equal(taught[other], idle[other])


def test_a_memory_whose_schema_was_replaced_joins_another(registry: Registry) -> None:
    memory = Engine(
        [replaying((0,)), registry.instance("schema_formation", {"schemas": 2, "smoothing": 1.0})],
        HashingEmbedder(16),
    )
    texts = KITCHEN[0], "comet orbit", "comet orbit", "tiger lion", "tiger lion", *KITCHEN[1:] * 4
    memory.encode_all(Event(START + i, text) for i, text in enumerate(texts))
    assert memory.store.array(papers.SCHEMA)[0] not in memory.store.array(papers.SCHEMA_SERIAL)
    memory.advance(START + 30.0)
    assert memory.store.array(papers.SCHEMA)[0] == memory.store.array(papers.SCHEMA)[-1]


def test_a_query_ranks_memories_of_its_schema_higher_after_transfer(build: Build) -> None:
    memory = build("lexical_bm25", "schema_formation")
    memory.encode_all(two_topics())
    early = memory.retrieve("cake sugar flour") and memory.store.array(papers.SCHEMATIC).copy()
    memory.advance(memory.now + 72.0)
    memory.retrieve("cake sugar flour")
    late = memory.store.array(papers.SCHEMATIC)
    assert np.isfinite(late[::2]).all() and not (late[1::2] > 0.1).any()
    assert (late[::2] > early[::2]).all() and late[38] > 0.6


def test_the_scale_of_time_moves_dependence_alone(build: Build) -> None:
    signals = []
    for kappa in (1.0, 3.0):
        memory = build(
            "lexical_bm25",
            "schema_formation",
            params={"schema_formation": {"time_scale": kappa}},
            consolidate_every=math.inf,
        )
        memory.encode_all(Event(START + kappa * (e.time - START), e.text) for e in two_topics())
        memory.retrieve("cake sugar flour")
        signals.append(memory.store.array(papers.SCHEMATIC).copy())
    np.testing.assert_allclose(signals[0], signals[1], rtol=1e-4)


@pytest.mark.kernels
def test_printed_form_changes_the_nearest_schema(build: Build) -> None:
    memory = build("schema_formation_printed")
    texts = "So Ada met Bo at work.", "So Ada met Bo at work.", "So Ada sang songs loudly."
    memory.encode_all(Event(START + i, text) for i, text in enumerate(texts))
    c, energy = memory.store.array(CONGRUENCY), memory.store.array(printed.SCHEMA_FREE_ENERGY)
    assert c[1] == pytest.approx(1.0) and energy[0] == energy[1] == 0.0 < energy[2]
    assert memory.store.array(INITIAL_STRENGTH)[1] == pytest.approx(0.1 * math.log(2.5))


@pytest.mark.slow
def test_printed_kernels_compiled_equal_plain() -> None:
    x, w = np.array([0, 3]), np.array([0.2, 0.9, 0.0, 0.7])
    assert printed.jaccard(x, w) == pytest.approx(printed.jaccard.py_func(x, w))
    assert printed.free_energy(x, w) == pytest.approx(printed.free_energy.py_func(x, w))
    a, b = w.copy(), w.copy()
    printed.drift(a, x, 0.1), printed.drift.py_func(b, x, 0.1)
    np.testing.assert_allclose(a, b)
    assert printed.match.py_func(0.5, 0.2, 0.7) == printed.match(0.5, 0.2, 0.7)
    assert printed.acceleration.py_func(0.5, 2.5) == printed.acceleration(0.5, 2.5)
