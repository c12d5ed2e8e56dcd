"""Turns of threads: a turn alone excludes all others, turns together none of each other, and neither kind keeps the other waiting for ever."""
from __future__ import annotations

import time
from threading import Barrier, Event, Thread

import pytest

from hebbarium.engine.errors import ContractError
from hebbarium.engine.serial import Turns

WAIT = 10.0         # s, after which a thread is taken to hang


def joined(threads: list[Thread]) -> None:
    for thread in threads:
        thread.join(WAIT)
    assert not any(thread.is_alive() for thread in threads)


def test_a_turn_alone_excludes_every_other() -> None:
    turns, inside, seen = Turns(), list[str](), set[tuple[str, ...]]()

    def take(kind: str) -> None:
        for _ in range(60):
            with turns.alone() if kind == "alone" else turns.together():
                inside.append(kind)
                time.sleep(0.0002)
                seen.add(tuple(sorted(inside)))
                inside.remove(kind)

    threads = [Thread(target=take, args=(kind,), daemon=True) for kind in ("alone", "alone", "together", "together", "together")]
    for thread in threads:
        thread.start()
    joined(threads)
    assert all(some == ("alone",) or "alone" not in some for some in seen)
    assert ("together", "together") in seen         # the test can fail: they do overlap


def test_turns_together_are_at_the_same_time() -> None:
    turns, meet = Turns(), Barrier(3)

    def take() -> None:
        with turns.together() as others:
            assert others
            meet.wait(WAIT)         # nobody passes unless all three are inside

    threads = [Thread(target=take, daemon=True) for _ in range(3)]
    for thread in threads:
        thread.start()
    joined(threads)
    assert not meet.broken


@pytest.mark.parametrize("kind", ["alone", "together"])
def test_a_loop_of_turns_keeps_nobody_waiting(kind: str) -> None:
    """While two threads take turns of one kind without a pause, a turn of the other kind is had."""
    turns, done = Turns(), Event()
    one, other = (turns.alone, turns.together) if kind == "alone" else (turns.together, turns.alone)

    def loop() -> None:
        while not done.is_set():
            with one():
                time.sleep(0.0005)

    def take() -> None:
        for _ in range(5):
            with other():
                pass
        done.set()

    threads = [Thread(target=each, daemon=True) for each in (loop, loop, take)]
    for thread in threads:
        thread.start()
    threads[2].join(WAIT)
    had = done.is_set()
    done.set()
    joined(threads)
    assert had


def test_turns_within_a_turn_alone_are_part_of_it() -> None:
    turns = Turns()
    with turns.alone(), turns.alone(), turns.together() as others:
        assert not others
    with turns.together() as others, turns.together() as again:
        assert others and again
    with turns.alone():
        pass


def test_a_turn_alone_within_one_together_is_refused() -> None:
    turns = Turns()
    with pytest.raises(ContractError, match="while it answers a question"), turns.together(), turns.alone():
        pass
    with turns.alone():
        pass


def test_a_turn_ends_with_an_error() -> None:
    turns = Turns()
    for kind in (turns.alone, turns.together):
        with pytest.raises(ZeroDivisionError), kind():
            _ = 1 / 0
    other = Thread(target=turns.alone().__enter__, daemon=True)
    other.start()
    joined([other])
