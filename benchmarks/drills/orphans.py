"""A process with workers, killed at a random moment: they end, too."""

from __future__ import annotations

import os
import random
import signal
import time
from contextlib import suppress
from pathlib import Path

from joblib import delayed

from ...engine.contract.records import Event
from ...reporting.workers import tied
from .children import started
from .flips import Make
from .tally import Tally

LEFT = 3.0  # s
PROMISED = f"no process is left after {LEFT:g} s"
# s from the start of the workers to the kill; they need one or two to begin their first call
LONGEST = 3.0
JOBS = 2


def orphans(make: Make, events: list[Event], folder: Path, count: int, seed: int) -> Tally:
    """Kill a process with two workers `count` times: before they run, while they start, or in a
    call.

    make, events  not used; the drill needs no memory

    Cost: up to 6 s and three processes each.  Needs Linux: reads /proc.
    """
    tally, chance = Tally("orphans", PROMISED), random.Random(seed)
    for number in range(count):
        called = folder / f"called {number}"

        def live(writer: int, called: Path = called) -> None:
            # a session of its own, by which its workers are found when it has ended
            os.setsid()
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            os.write(writer, b"s")
            tied(JOBS, batch_size=1)(
                delayed(function)(given)
                for function, given in [(Path.touch, called)] * JOBS + [(time.sleep, 60.0)] * JOBS
            )

        child, pipe = started(live)
        with pipe:
            pipe.read(1)
            time.sleep(chance.uniform(0.0, LONGEST))
            workers, begun = len(_session(child)) - 1, called.exists()
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        left = _left(child)
        kind = "in a call" if begun else "while workers start" if workers else "before workers run"
        tally.count(
            kind, "all ended" if not left else f"{left} processes are left", broken=bool(left)
        )
    return tally


def _left(session: int) -> int:
    """How many processes of a session there are after LEFT seconds; they are ended."""
    until = time.monotonic() + LEFT
    while (processes := _session(session)) and time.monotonic() < until:
        time.sleep(0.05)
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    return len(processes)


def _session(session: int) -> list[int]:
    """The processes of a session that run."""
    processes = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(FileNotFoundError, ProcessLookupError):  # it has just ended
            state, _, _, its = (
                stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[:4]
            )
            if int(its) == session and state != "Z":
                processes.append(int(stat.parent.name))
    return processes
