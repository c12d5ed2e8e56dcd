"""Turns of threads: a turn alone excludes all others, turns together none of each other, and neither kind keeps the other waiting for ever."""
from __future__ import annotations

import time
from threading import Barrier, Event, Thread

import pytest

from hebbarium.engine import serial
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


@pytest.mark.parametrize("loop", ["alone", "together", "alone, together"])
@pytest.mark.parametrize("kind", ["alone", "together"])
def test_a_loop_of_turns_keeps_nobody_waiting(kind: str, loop: str) -> None:
    """While three threads take turns without a pause, a turn is had after at most two of each of them."""
    turns, done, taken, waits = Turns(), Event(), [0, 0, 0], list[int]()

    def take(number: int) -> None:
        while not done.is_set():
            for each in loop.split(", "):
                with getattr(turns, each)():
                    taken[number] += 1
                    time.sleep(0.0002)

    threads = [Thread(target=take, args=(number,), daemon=True) for number in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(50):
        before = list(taken)
        with getattr(turns, kind)():
            waits.append(max(now - then for now, then in zip(taken, before, strict=True)))
        time.sleep(0.0005)
    done.set()
    joined(threads)
    assert min(taken) > 0
    assert max(waits) <= (2 if kind == "alone" else 3)


def test_an_interrupted_turn_keeps_nobody_waiting() -> None:
    """A thread that is interrupted while it waits leaves the line, and those behind it have their turns."""
    turns, had = Turns(), Event()

    class Interrupted(Event):
        def wait(self, timeout: float | None = None) -> bool:
            raise KeyboardInterrupt

    def interrupted() -> None:
        with pytest.raises(KeyboardInterrupt), pytest.MonkeyPatch.context() as patch:
            patch.setattr(serial, "Event", Interrupted)
            with turns.alone():
                pass

    def take() -> None:
        with turns.together():
            had.set()

    with turns.together():
        for target in (interrupted, take):
            thread = Thread(target=target, daemon=True)
            thread.start()
            joined([thread])
        assert had.is_set()
    with turns.alone():
        pass


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
    with pytest.raises(ContractError, match="in the middle of a call"), turns.together(), turns.alone():
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
