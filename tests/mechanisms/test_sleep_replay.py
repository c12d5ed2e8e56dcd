"""sleep_replay: compiled and plain kernels agree; through the engine, the expected steps are
replayed, and the printed form repeats itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.columns import Phase
from hebbarium.engine.contract.hooks import Mechanism, Params, Tick, hook
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import (
    LOG_STRENGTH,
    NEED,
    REPLAY_LAG,
    REPLAYED,
    REPLAYS,
    RIPPLES,
    SLEEP_SHARE,
)
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.mechanisms.consolidation import sleep_replay as paper
from hebbarium.mechanisms.consolidation import sleep_replay_printed as printed
from hebbarium.mechanisms.maintenance import hebbian_association

# the kernels take longer to compile than the tests take in Python
pytestmark = pytest.mark.kernels

Build = Callable[..., Engine]


class Night(Mechanism[Params]):
    """Half the ripples of half a night, and a need for the first memory alone."""

    @hook(Phase.CONSOLIDATE, reads=(), adds=(), sets=(RIPPLES, SLEEP_SHARE, NEED))
    def say(self, view: Any, tick: Tick) -> None:
        view.ripples, view.sleep_share = 0.5, 0.5
        view.need[0] = 1.0


def filled(memory: Engine, end: str = "Then Ada sang, wonderful.") -> Engine:
    """Two sessions of six turns; the second ends with a reward."""
    for session in range(2):
        texts = [
            *(f"Then Ada met {who}." for who in ("Bo", "Cleo", "Dora", "Emil", "Finn")),
            end if session else "So.",
        ]
        memory.encode_all(
            Event(100.0 + 3.0 * session + i / 60.0, text, session=f"s{session}")
            for i, text in enumerate(texts)
        )
    return memory


def steps(memory: Engine) -> list[tuple[int, int]]:
    return [(int(a), int(b)) for a, b in memory.store.array(REPLAYED) if a >= 0]


@pytest.mark.slow
def test_kernels_compiled_equal_plain() -> None:
    rng, n = np.random.default_rng(0), 12
    q, after = rng.random((n, 2)), np.empty((n, 2), np.int64)
    assert paper.gain(q[0], 1, 0.7, 5.0) == pytest.approx(
        paper.gain.py_func(q[0], 1, 0.7, 5.0), rel=1e-12
    )
    assert paper.backup(0.3, 1.0, 0.4, 0.7, 0.9) == pytest.approx(
        paper.backup.py_func(0.3, 1.0, 0.4, 0.7, 0.9)
    )
    session, reward, need, chance = (
        np.repeat([0, 1], [5, 7]),
        np.where(rng.random(n) < 0.3, 0.5, 0.0),
        rng.random(n),
        rng.random((30, 2)),
    )
    results = []
    for plain in (False, True):
        k = {
            name: getattr(getattr(paper, name), "py_func") if plain else getattr(paper, name)  # noqa: B009
            for name in ("tracks", "stationary", "replay", "reversed_steps", "rehearse")
        }
        value, pi, states, actions, gains = (
            q.copy(),
            np.empty(n),
            np.zeros(30, np.int64),
            np.zeros(30, np.int64),
            np.zeros(30),
        )
        k["tracks"](np.arange(n), session, reward, after)
        k["stationary"](session, 0.9, pi)
        count = k["replay"](
            30,
            after,
            reward,
            need * pi,
            value,
            1.0,
            0.9,
            5.0,
            1e-10,
            chance,
            np.empty((n, 2)),
            states,
            actions,
            gains,
        )
        ends, back, counts, rehearsed = (
            after[states, actions],
            np.empty(30, np.bool_),
            np.zeros(n, np.int32),
            np.zeros(n),
        )
        k["reversed_steps"](states, ends, gains, 1e-10, back)
        k["rehearse"](np.stack([states, ends], axis=1), counts, rehearsed)
        results.append(
            np.concatenate(
                [[count], states, actions, gains, value.ravel(), pi, back, counts, rehearsed]
            )
        )
    np.testing.assert_allclose(results[0], results[1], rtol=1e-10, atol=1e-14)


@pytest.mark.slow
def test_the_printed_kernels_compiled_equal_plain() -> None:
    heat, links = (
        np.array([0.2, 0.9, 0.4]),
        (np.arange(3), np.ones(3, np.int64), np.arange(3), np.array([-1, -2, -1])),
    )
    assert printed.priority(heat, 0.8) == pytest.approx(
        printed.priority.py_func(heat, 0.8), rel=1e-12
    )
    out = np.full((2, 5), -1)
    for kernel, room in zip((printed.sequence, printed.sequence.py_func), out, strict=True):
        kernel(0, 1, *links, 2, np.empty((0, 2), np.int64), np.ones(3, np.bool_), room)
    assert out[0].tolist() == out[1].tolist() == [0, 2, -1, -1, -1]


@pytest.mark.kernels
def test_a_rewarded_end_is_replayed_in_reverse_and_its_values_are_learnt(build: Build) -> None:
    memory = filled(build("sleep_replay", params={"sleep_replay": {"backups": 5}}))
    memory.advance(125.0)
    assert steps(memory) == [(11, 10), (10, 9), (9, 8), (8, 7), (7, 6)]
    reward = memory.store.array(paper.REPLAY_REWARD)
    assert np.flatnonzero(reward).tolist() == [11]
    np.testing.assert_allclose(
        memory.store.array(paper.REPLAY_VALUE)[6:11, 1], reward[11] * 0.9 ** np.arange(4, -1, -1)
    )
    np.testing.assert_allclose(memory.store.array(REPLAY_LAG)[:5], 1.0 / 60.0 / 20.0, rtol=1e-6)
    assert memory.store.array(REPLAYS).tolist() == [0] * 6 + [1, 2, 2, 2, 2, 1]


def test_a_punished_end_counts_by_its_magnitude(build: Build) -> None:
    memory = filled(
        build("sleep_replay", params={"sleep_replay": {"backups": 5}}), "Then Ada lost, terrible."
    )
    memory.advance(125.0)
    assert steps(memory)[0] == (11, 10)


def test_rehearsal_strengthens_a_little(build: Build) -> None:
    memory = filled(build("sleep_replay"))
    memory.advance(126.0)
    np.testing.assert_allclose(
        memory.column(LOG_STRENGTH), 0.02 * np.log1p(memory.store.array(REPLAYS)), rtol=1e-12
    )
    assert memory.store.array(REPLAYS).sum() == 400


def test_sleep_share_ripples_and_need_of_other_mechanisms_are_used(registry: Registry) -> None:
    replay = registry.instance("sleep_replay", {"backups": 20, "need": "predicted"})
    memory = filled(Engine([Night("night", Params(1.0)), replay], HashingEmbedder(16)))
    memory.advance(125.0)
    assert len(steps(memory)) == 5 and set(steps(memory)) == {(0, 1)}


@pytest.mark.parametrize("need", ["stationary", "predicted"])
def test_by_default_need_in_sleep_is_stationary_even_with_a_prediction(
    registry: Registry, need: str
) -> None:
    assert registry.entry("sleep_replay").params["need"].value == "stationary"
    replayed = []
    for company in ((Night("night", Params(1.0)),), ()):
        replay = registry.instance("sleep_replay", {"need": need} if need == "predicted" else {})
        memory = filled(Engine([*company, replay], HashingEmbedder(16)))
        if not company:
            # as many backups as a half of half a night
            memory.store.array(RIPPLES)[()] = 0.25
        memory.advance(125.0)
        replayed.append(steps(memory))
    assert len(replayed[0]) == len(replayed[1]) == 50 and (replayed[0] == replayed[1]) is (
        need == "stationary"
    )


def test_the_number_of_steps_and_the_window_are_bounded(build: Build) -> None:
    memory = filled(build("sleep_replay", params={"sleep_replay": {"backups": 1024, "window": 4}}))
    memory.store.array(RIPPLES)[()] = 7.0
    memory.advance(125.0)
    assert len(steps(memory)) == 1024
    assert min(min(pair) for pair in steps(memory)) == 8


def test_older_memories_are_replayed_if_their_need_is_predicted(registry: Registry) -> None:
    replay = registry.instance("sleep_replay", {"backups": 20, "window": 4, "need": "predicted"})
    memory = filled(Engine([Night("night", Params(1.0)), replay], HashingEmbedder(16)))
    memory.advance(125.0)
    assert set(steps(memory)) == {(0, 1)}


def test_no_replay_starts_from_archived_memories(build: Build) -> None:
    values = []
    for archived in (True, False):
        memory = filled(build("sleep_replay"))
        if archived:
            memory.archive(10)
        memory.advance(125.0)
        values.append(memory.store.array(paper.REPLAY_VALUE)[10].copy())
    assert not values[0].any() and values[1].any()


def test_a_memory_alone_is_not_replayed(build: Build) -> None:
    memory = build("sleep_replay")
    memory.encode(Event(100.0, "Then Ada sang, wonderful."))
    memory.advance(130.0)
    assert not steps(memory)


@pytest.mark.kernels
def test_the_printed_form_gives_pairs_to_plasticity_rules(registry: Registry) -> None:
    memory = filled(
        Engine(
            [registry.instance(id, {}) for id in ("sleep_replay_printed", "hebbian_association")],
            HashingEmbedder(32),
        )
    )
    occasions = memory.store.array(hebbian_association.HEBBIAN_OCCASIONS).copy()
    memory.advance(130.0)
    assert (memory.store.array(REPLAYS) > 0).any()
    np.testing.assert_array_equal(
        memory.store.array(hebbian_association.HEBBIAN_OCCASIONS) - occasions,
        memory.store.array(REPLAYS),
    )


@pytest.mark.kernels
def test_the_printed_form_repeats_itself(build: Build) -> None:
    memory = filled(
        build("sleep_replay_printed", params={"sleep_replay_printed": {"rehearsal": 0.0}})
    )
    memory.advance(125.0)
    first, lags = steps(memory), memory.store.array(REPLAY_LAG).copy()
    memory.advance(149.0)
    assert first and steps(memory) == first
    assert {np.sign(b - a) for a, b in first} == {-1, 1}
    created = np.array([memory.event(row).time for row in range(12)])
    np.testing.assert_allclose(
        lags[: len(first)], [abs(created[b] - created[a]) / 20.0 for a, b in first]
    )
