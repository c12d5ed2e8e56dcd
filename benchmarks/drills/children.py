"""Child processes that live in a memory and may be killed at any moment."""

from __future__ import annotations

import gc
import os
import random
import signal
import time
import warnings
from collections.abc import Callable
from io import FileIO
from pathlib import Path

from ...engine.contract.records import Event
from ...engine.memory.engine import Engine
from .flips import Make


def fork() -> int:
    """As os.fork.  The child's garbage collector leaves objects of the parent alone: their
    destructors may wait for threads that it does not have.
    """
    gc.freeze()
    child = os.fork()
    if child:
        gc.unfreeze()
    return child


def started(work: Callable[[int], None]) -> tuple[int, FileIO]:
    """Run `work` in a child process, with the descriptor to which it writes: the child's id, and
    the end to read from.
    """
    reader, writer = os.pipe()
    child = fork()
    if child == 0:
        try:
            os.close(reader)
            warnings.simplefilter("ignore")
            work(writer)
        finally:
            os._exit(1)
    os.close(writer)
    return child, FileIO(reader)


def killed(
    work: Callable[[int], None], chance: random.Random, waiting: float, longest: float
) -> bytes:
    """The last four bytes that `work` wrote in a child process before it was killed; b"" if it
    wrote nothing.

    waiting  share of the kills that come after the first four bytes, for the others may come before
             them
    longest  s, from there to the kill, at most
    """
    child, pipe = started(work)
    with pipe:
        first = (pipe.read(4) or b"") if chance.random() < waiting else b""
        time.sleep(chance.uniform(0.0, longest))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return (first + (pipe.readall() or b""))[-4:]


def opened(make: Make, path: Path) -> Engine:
    """The memory of a path, without warnings of a process that was killed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make(path)


def told(memory: Engine, event: Event) -> None:
    """Encode an event, and let its tick pass."""
    memory.encode(event)
    memory.advance(event.time)


def digests_of(make: Make, events: list[Event], path: Path) -> list[str]:
    """Digests of a memory after each number of events, from none on."""
    memory = make(path)
    digests = [memory.digest()]
    for event in events:
        told(memory, event)
        digests.append(memory.digest())
    memory.close()
    return digests
