"""Capacity: never more rows visible than it allows, nothing lost, the same state for ticks of
any length, and nothing without it.
"""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiers import EVERYDAY_SETS, slow_unless

from hebbarium.engine.base.errors import InputError
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.columns import Phase
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import SHOW, VISIBLE, WORTH
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.steps.capacity import least_worth
from hebbarium.testing.conformance import talk
from hebbarium.testing.small import does, mechanism

EMBEDDER = HashingEmbedder(32)


def events(n: int, apart: float = 7.0) -> list[Event]:
    return [Event(i * apart, f"thing {i} is in place {i * 7}", id=f"e{i}") for i in range(n)]


def shown(memory: Engine) -> list[int]:
    return [int(row) for row in np.flatnonzero(memory.column(VISIBLE))]


def test_the_rows_that_leave_are_the_best_choice_of_all() -> None:
    """Every set of rows that leaves the memory with three visible ones, by brute force: new rows
    stay, then the least worth in sum goes.
    """
    rng = np.random.default_rng(0)
    for _ in range(50):
        worth, visible, new = rng.normal(size=7), rng.random(7) < 0.8, rng.random(7) < 0.3
        rows = np.flatnonzero(visible)
        gone = set(least_worth(worth, visible, new, 3).tolist())
        choices = [set(c) for c in combinations(rows.tolist(), max(len(rows) - 3, 0))]
        best = min(
            choices,
            key=lambda c: (
                sum(bool(new[r]) for r in c),
                [r for r in sorted(c) if new[r]],
                sum(worth[r] for r in c if not new[r]),
            ),
        )
        assert gone == best


def test_one_row_that_leaves_is_found_without_sorting(monkeypatch: pytest.MonkeyPatch) -> None:
    """As between sleeps: by brute force, with ties, signed zeros, infinities and NaN, which is
    the most, and with every share of new rows.
    """
    monkeypatch.setattr(np, "lexsort", None)
    rng = np.random.default_rng(1)
    for round in range(400):
        n = int(rng.integers(1, 12))
        worth = rng.choice(
            [-np.inf, -1.5, -0.0, 0.0, 0.5, np.inf, np.nan] if round % 2 else [0.0, 0.5, 1.0], n
        )
        visible, new = rng.random(n) < 0.8, rng.random(n) < rng.choice([0.0, 0.3, 1.0])
        rows = np.flatnonzero(visible).tolist()
        if rows:
            keys = {
                row: (True,)
                if new[row]
                else (False, np.isnan(worth[row]), np.nan_to_num(worth[row]))
                for row in rows
            }
            found = least_worth(worth, visible, new, len(rows) - 1)
            assert found.tolist() == [min(rows, key=keys.__getitem__)] and found.dtype == np.int64
        for most in (len(rows), len(rows) + 3):
            assert least_worth(worth, visible, new, most).tolist() == []


@pytest.mark.parametrize("name", slow_unless(EVERYDAY_SETS, ["default", "waking", "night"]))
def test_never_more_rows_than_the_capacity_and_no_text_is_lost(
    registry: Registry, name: str
) -> None:
    memory, told = Engine(registry.build(registry.set(name)), EMBEDDER, capacity=7), talk(40)
    for event in told:
        memory.encode(event)
        assert len(shown(memory)) <= 7
        memory.advance(event.time)
        assert len(shown(memory)) <= 7
    memory.advance(told[-1].time + 50.0)
    assert len(shown(memory)) <= 7 and [e.text for e in memory.events] == [e.text for e in told]
    assert len(memory.retrieve("place", 40).rows) <= 7
    hidden = next(row for row in range(memory.store.n) if row not in shown(memory))
    memory.restore(hidden)
    assert hidden in shown(memory) and len(shown(memory)) <= 7


@pytest.mark.parametrize("name", slow_unless(EVERYDAY_SETS, ["default", "waking", "night"]))
def test_the_state_does_not_depend_on_the_length_of_ticks(registry: Registry, name: str) -> None:
    digests = set()
    for tick in (0.01, 5.0, 20.0):
        memory = Engine(registry.build(registry.set(name)), EMBEDDER, capacity=9, tick_hours=tick)
        for event in talk(30):
            memory.encode(event)
        memory.advance(talk(30)[-1].time + 30.0)
        digests.add(memory.digest())
    assert len(digests) == 1


@pytest.mark.slow
def test_without_a_capacity_nothing_votes_and_no_state_changes(registry: Registry) -> None:
    """A memory that can hold everything has the columns of one without a capacity, but for the
    votes.
    """
    chosen = registry.set("everything")
    free, roomy = (
        Engine(registry.build(chosen), EMBEDDER, capacity=capacity) for capacity in (None, 1000)
    )
    assert not any(
        WORTH in (*node.adds, *node.reads) for node in free.assembly.phases[Phase.CONSOLIDATE]
    )
    for memory in (free, roomy):
        memory.encode_all(talk(20))
        memory.advance(talk(20)[-1].time + 30.0)
    assert not free.column(WORTH).any() and roomy.column(WORTH).any()
    one, two = free.store.persistent(), roomy.store.persistent()
    assert all(
        np.array_equal(one[name], two[name], equal_nan=one[name].dtype.kind == "f")
        for name in one
        if name != "worth"
    )


def test_votes_decide_between_sleeps_and_in_sleep() -> None:
    """Worth by row: 3 and 1 are worth least.  In the first sleep four of five stay; then each
    new row takes the place of the least.
    """

    def vote(view: Any, _: Any) -> None:
        view.worth += np.array([2.0, 1.0, 3.0, 0.5, 4.0, 5.0, 5.0, 5.0])[: len(view.worth)]

    memory = Engine(
        [mechanism("judge", does(Phase.CONSOLIDATE, vote, adds=(WORTH,)))], EMBEDDER, capacity=4
    )
    for event in events(4, 1.0):
        memory.encode(event)
    memory.encode(Event(4.0, "one more"))
    assert shown(memory) == [1, 2, 3, 4]  # no sleep has judged: the oldest goes
    memory.advance(25.0)
    memory.encode(Event(26.0, "after the first sleep"))
    assert shown(memory) == [1, 2, 4, 5]
    memory.encode(Event(27.0, "and another"))
    assert shown(memory) == [2, 4, 5, 6]


def test_a_row_that_a_sleep_shows_again_takes_the_place_of_another() -> None:
    def show(view: Any, _: Any) -> None:
        view.show[0] += 1
        view.worth[0] += 1.0

    memory = Engine(
        [mechanism("judge", does(Phase.CONSOLIDATE, show, adds=(WORTH, SHOW)))],
        EMBEDDER,
        capacity=3,
    )
    memory.encode_all(events(4, 1.0))
    assert shown(memory) == [1, 2, 3]
    memory.advance(25.0)
    assert shown(memory) == [0, 2, 3]


def test_a_snapshot_continues_with_the_capacity_that_is_given(
    registry: Registry, tmp_path: Path
) -> None:
    chosen = registry.set("default")
    whole, path = Engine(registry.build(chosen), EMBEDDER, capacity=6), tmp_path / "m.sqlite"
    told = talk(30)
    whole.encode_all(told[:15])
    with Engine(registry.build(chosen), EMBEDDER, capacity=6, path=path) as first:
        first.encode_all(told[:15])
    with Engine(registry.build(chosen), EMBEDDER, capacity=6, path=path) as again:
        for memory in (whole, again):
            memory.encode_all(told[15:])
        assert again.digest() == whole.digest()
    with Engine(registry.build(chosen), EMBEDDER, capacity=2, path=path) as smaller:
        smaller.encode(Event(told[-1].time + 1.0, "a line of its own about nothing else at all"))
        assert len(shown(smaller)) <= 6


@pytest.mark.parametrize("capacity", [0, -1, 2.5, True, "many"])
def test_a_bad_capacity_is_refused(capacity: Any) -> None:
    with pytest.raises(InputError, match="capacity is"):
        Engine([], EMBEDDER, capacity=capacity)
