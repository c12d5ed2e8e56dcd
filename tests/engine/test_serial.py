"""Turns of threads: a turn alone excludes all others, turns together none of each other, and
neither kind keeps the other waiting for ever.
"""

from __future__ import annotations

import ctypes
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from threading import Barrier, Event, Thread

import pytest

from hebbarium.benchmarks.drills.children import fork
from hebbarium.engine.base import turns as serial
from hebbarium.engine.base.errors import ContractError
from hebbarium.engine.base.turns import Turns

WAIT = 10.0  # s, after which a thread is taken to hang


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

    threads = [
        Thread(target=take, args=(kind,), daemon=True)
        for kind in ("alone", "alone", "together", "together", "together")
    ]
    for thread in threads:
        thread.start()
    joined(threads)
    assert all(some == ("alone",) or "alone" not in some for some in seen)
    assert ("together", "together") in seen  # the test can fail: they do overlap


def test_turns_together_are_at_the_same_time() -> None:
    turns, meet = Turns(), Barrier(3)

    def take() -> None:
        with turns.together() as others:
            assert others
            meet.wait(WAIT)  # nobody passes unless all three are inside

    threads = [Thread(target=take, daemon=True) for _ in range(3)]
    for thread in threads:
        thread.start()
    joined(threads)
    assert not meet.broken


@pytest.mark.parametrize("loop", ["alone", "together", "alone, together"])
@pytest.mark.parametrize("kind", ["alone", "together"])
def test_a_loop_of_turns_keeps_nobody_waiting(kind: str, loop: str) -> None:
    """While three threads take turns without a pause, a turn is had after at most two of each of
    them.
    """
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
    """A thread that is interrupted while it waits leaves the line, and those behind it have
    their turns.
    """
    turns, had = Turns(), Event()

    class Interrupted:
        locked = False

        def acquire(self) -> None:
            if self.locked:
                raise KeyboardInterrupt
            self.locked = True

    def interrupted() -> None:
        with pytest.raises(KeyboardInterrupt), pytest.MonkeyPatch.context() as patch:
            patch.setattr(serial, "Lock", Interrupted)
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


class Broken(BaseException):
    pass


@pytest.mark.slow
@pytest.mark.parametrize("others", [0, 2])
def test_a_thread_interrupted_at_any_moment_keeps_nobody_waiting(others: int) -> None:
    """An exception from outside, as of a key, in a thread that takes turns; it is raised between
    two steps of the interpreter.
    """
    chance, turns, stop = random.Random(others), Turns(), Event()

    def take(until: Callable[[], bool]) -> None:
        while not until():
            with turns.alone(), turns.together():
                pass
            with turns.together():
                pass

    def work(begun: Event) -> None:
        with suppress(Broken):
            begun.set()
            take(lambda: False)

    beside = [Thread(target=take, args=(stop.is_set,), daemon=True) for _ in range(others)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for each in beside:
            each.start()
        for _ in range(1000 if not others else 100):
            begun = Event()
            thread = Thread(target=work, args=(begun,), daemon=True)
            thread.start()
            begun.wait()
            time.sleep(chance.uniform(0.0, 0.0004))
            while thread.is_alive():  # one in a destructor is lost
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(thread.ident or 0), ctypes.py_object(Broken)
                )
                thread.join(WAIT)
            asked = Thread(target=take, args=(iter([False, True]).__next__,), daemon=True)
            asked.start()
            joined([asked])
    finally:
        stop.set()
        sys.setswitchinterval(before)
    joined(beside)


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
    with (
        pytest.raises(ContractError, match="in the middle of a call"),
        turns.together(),
        turns.alone(),
    ):
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


def in_fork(do: Callable[[], object]) -> str:
    """What a forked process prints: the name of what it raises, or "fine"; it is ended after a
    while.
    """
    reader, writer = os.pipe()
    child = fork()
    if not child:
        signal.alarm(int(WAIT))
        try:
            do()
            os.write(writer, b"fine")
        except BaseException as error:
            os.write(writer, type(error).__name__.encode())
        finally:
            os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    with os.fdopen(reader) as told:
        return told.read()


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("kind", ["alone", "together"])
@pytest.mark.parametrize("asked", ["alone", "together"])
def test_a_process_forked_while_another_thread_has_a_turn_is_refused_at_once(
    kind: str, asked: str
) -> None:
    turns, begun, go_on = Turns(), Event(), Event()

    def take(which: str) -> None:
        with getattr(turns, which)():
            begun.set()
            go_on.wait(WAIT)

    def ask() -> None:
        with getattr(turns, asked)():
            pass

    holds, waits = (Thread(target=take, args=(which,), daemon=True) for which in (kind, "alone"))
    holds.start()
    assert begun.wait(WAIT)
    waits.start()
    while not turns._waiting:
        time.sleep(0.001)
    assert in_fork(ask) == "ContractError"
    go_on.set()
    joined([holds, waits])
    assert in_fork(ask) == "fine"
    ask()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_process_forked_with_the_lock_of_the_turns_held_does_not_wait_for_it() -> None:
    turns = Turns()

    def ask() -> None:
        with turns.alone(), turns.together():
            pass

    with turns._lock:
        assert in_fork(ask) == "fine"
