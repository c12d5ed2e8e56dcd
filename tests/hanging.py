"""A limit that ends a test that hangs. It is many times what the test takes, and measures no
speed: what is measured in seconds is in benchmarks/speed.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

LIMIT = 30.0  # s of processor time; cost that grows with the square takes minutes or hours


@contextmanager
def ended_if_it_hangs() -> Iterator[None]:
    """Fail as soon as the block has used `LIMIT` of processor time; other programs use none of it.

    Where the system has no such timer (Windows), nothing is limited.
    """
    if not hasattr(signal, "setitimer"):
        yield
        return

    def end(*_: object) -> None:
        pytest.fail(f"hangs: still running after {LIMIT:g} s of processor time")

    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, LIMIT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)
