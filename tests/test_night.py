"""The mechanisms of a night together: each passes results to the next through declared columns,
and no memory is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.columns import Column, Phase
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import (
    CONGRUENCY,
    DETAIL,
    HIPPOCAMPAL_DEPENDENCE,
    LOG_STRENGTH,
    NEED,
    REPLAYS,
    RIPPLES,
    SLEEP_END,
    SLEEP_SHARE,
)
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.text.condensing import condensed
from hebbarium.testing.conformance import talk

REGISTRY = Registry.read()
GLAD = "What a wonderful, happy day, I won the prize!"


def memory_of(
    name: str, *without: str, changes: Mapping[str, Mapping[str, Any]] | None = None, **options: Any
) -> Engine:
    return Engine(
        REGISTRY.build(REGISTRY.set(name).without(without).overridden(changes or {})),
        HashingEmbedder(32),
        **options,
    )


def two_days(*without: str, changes: Mapping[str, Mapping[str, Any]] | None = None) -> Engine:
    """Two days with one session each; the first ends with a reward."""
    memory, events = memory_of("night", *without, changes=changes), talk(16)
    for i, event in enumerate(events):
        memory.encode(
            Event(event.time, GLAD, event.speaker, event.session, event.id) if i == 7 else event
        )
    return memory


def after_a_night(memory: Engine) -> Engine:
    """Advance by one more night."""
    end = float(memory.store.array(SLEEP_END)[()])
    memory.advance(end if np.isfinite(end) else memory.now + 24.0)
    return memory


def column(memory: Engine, name: str) -> Any:
    found: Column = next(c for c in memory.store.columns if c.name == name)
    return memory.store.array(found)


def test_each_shared_column_of_sleep_has_one_setter_and_at_least_one_reader() -> None:
    """Each column that mechanisms set for others in sleep has exactly one hook that sets it and
    at least one that reads it.
    """
    nodes = memory_of("night").assembly.phases[Phase.CONSOLIDATE]
    for word in (SLEEP_SHARE, RIPPLES, NEED, REPLAYS):
        assert len([n for n in nodes if word in n.sets]) == 1, word
        assert [n for n in nodes if word in n.sees], word
    place = {n.owner: i for i, n in enumerate(nodes)}
    order = [
        "sleep_pressure",
        "oscillatory_clock",
        "sleep_replay",
        "engine",
        "bcm_metaplasticity",
        "hebbian_association",
    ]
    assert sorted(order, key=place.__getitem__) == order
    assert all(
        place["sleep_replay"] < place[later]
        for later in ("consolidation_cascade", "systems_transfer", "schema_formation")
    )


@pytest.mark.kernels
def test_replayed_memories_consolidate_more_than_others() -> None:
    memory = after_a_night(two_days())
    replays = memory.store.array(REPLAYS)
    assert np.count_nonzero(replays) > 0 and replays.sum() > 16
    before, balance, cortical = (
        replays.copy(),
        column(memory, "cascade_balance").copy(),
        column(memory, "cortical_trace").copy(),
    )
    after_a_night(memory)
    more = memory.store.array(REPLAYS) > 0
    assert more.any() and before.any()
    gained = np.abs(column(memory, "cascade_balance") - balance).sum(axis=1)
    assert gained[more].mean() > gained[~more].mean() if (~more).any() else gained.any()
    assert (column(memory, "cortical_trace")[more] > cortical[more]).any()
    assert memory.store.array(HIPPOCAMPAL_DEPENDENCE)[more].mean() < 1.0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("off", "changes"),
    [
        (
            "sleep_replay",
            ("cascade_balance", "hebbian_weight", "timing_weight", "hippocampal_trace"),
        ),
        ("oscillatory_clock", ("hebbian_weight", "timing_weight")),
        ("bcm_metaplasticity", ("hebbian_weight",)),
        ("schema_formation", ("hippocampal_trace",)),
        ("sleep_pressure", ("cascade_balance",)),
    ],
)
def test_leaving_a_mechanism_off_changes_the_columns_of_the_next(
    off: str, changes: tuple[str, ...]
) -> None:
    whole, less = (after_a_night(after_a_night(two_days(*names))) for names in ((), (off,)))
    for name in changes:
        a, b = column(whole, name), column(less, name)
        assert a.shape != b.shape or not np.array_equal(a, b), name


@pytest.mark.slow
@pytest.mark.parametrize("need", ["stationary", "predicted"])
def test_replay_uses_the_predicted_need_only_on_request(need: str) -> None:
    changes = {"sleep_replay": {"need": need}}
    whole, less = (
        after_a_night(after_a_night(two_days(*names, changes=changes)))
        for names in ((), ("successor_representation",))
    )
    assert whole.store.array(NEED).any() and not less.store.array(NEED).any()
    assert np.array_equal(column(whole, "replay_rehearsed"), column(less, "replay_rehearsed")) is (
        need == "stationary"
    )


@pytest.mark.kernels
def test_five_idle_days_cost_five_sleeps(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = after_a_night(two_days())
    nights, run = [], memory.assembly.run
    consolidate: Callable[..., None] = run[Phase.CONSOLIDATE]
    monkeypatch.setitem(
        run, Phase.CONSOLIDATE, lambda tick: (nights.append(tick.end), consolidate(tick))
    )
    # an hour more: the last sleep may end some minutes later than the first
    memory.advance(memory.now + 5 * 24.0 + 1.0)
    assert len(nights) == 5


@pytest.mark.slow
def test_strengths_stay_finite_and_bounded() -> None:
    memory = two_days()
    memory.advance(memory.now + 24.0 * 300)
    early = memory.column(LOG_STRENGTH).copy()
    memory.advance(memory.now + 24.0 * 350)
    assert np.isfinite(memory.column(LOG_STRENGTH)).all() and np.abs(early).max() < 50.0
    assert (memory.store.array(CONGRUENCY) <= 1.0).all()


@pytest.mark.slow
def test_a_year_with_all_mechanisms_loses_no_text() -> None:
    memory, events = memory_of("everything"), talk(24)
    rows = [memory.encode(event) for event in events]
    memory.advance(events[-1].time + 365 * 24.0)
    assert [e.text for e in memory.event_log.events] == [e.text for e in events]
    kept = [row for row in rows if row.stored]
    assert kept and all(
        memory.event(row) == event for row, event in zip(rows, events, strict=True) if row.stored
    )
    assert all(condensed(memory.unit(row).text, int(memory.column(DETAIL)[row])) for row in kept)
    assert len(memory.retrieve("Who painted Oslo?", k=5).rows) == min(5, len(kept))
