"""A process killed before each statement of its saves in turn, with a cache of pages so small that
SQLite writes to the file within a transaction: all of a save is in the file, or nothing of it.
"""

from __future__ import annotations

import os
import signal
from functools import partial
from itertools import count as counted
from pathlib import Path
from unittest.mock import patch

from ...engine.contract.records import Event
from ...engine.saving import file as snapshot_file
from .calls import noted
from .children import opened, started, told
from .flips import Make
from .tally import Tally

PROMISED = "the memory is as before the event or after one of its steps, bit for bit, whichever statement of its saves was the last"
KEPT = "before the event or after one of its steps"


def writes(make: Make, events: list[Event], folder: Path, count: int, seed: int) -> Tally:
    """Kill a process `count` times as it encodes an event, before the first statement of SQLite,
    the second, and so on; then as it encodes the next event.

    make    opens the memory of a path
    events  what it is told; the first half before the drill
    seed    not used: every place is tried in order

    Cost: a process and a loading each.  Needs `os.fork`.
    """
    tally, path, half = Tally("writes", PROMISED), folder / "killed.db", len(events) // 2
    memory = make(path)
    for event in events[:half]:
        told(memory, event)
    memory.close()
    place, at = counted(1), half
    while tally.total < count and at < len(events):
        sound = path.read_bytes()
        right = _digests(make, path, events[at])
        path.write_bytes(sound)
        number = next(place)
        killed = _killed(make, path, events[at], number)
        kind = f"event {at - half + 1}"
        if killed:
            tally.attempt(kind, partial(_outcome, make, path, right))
            _restored(path, sound)
        else:  # it had no further statement
            place, at = counted(1), at + 1
    return tally


def _restored(path: Path, sound: bytes) -> None:
    for file in path.parent.glob(f"{path.name}*"):
        file.unlink()
    path.write_bytes(sound)


def _digests(make: Make, path: Path, event: Event) -> set[str]:
    """Before the event, and after each change that it makes: the end of a tick, a call."""
    memory = opened(make, path)
    digests = {memory.digest()}
    with noted(memory, digests):
        told(memory, event)
    memory.close()
    return digests


def _killed(make: Make, path: Path, event: Event, number: int) -> bool:
    """Whether a child process was killed before its statement of this number; else it has encoded
    the event and closed the file.
    """

    def live(writer: int) -> None:
        with patch.object(snapshot_file, "SETTINGS", _settings()):
            memory = make(path)
        assert memory.changes.snapshot is not None
        left = counted(number - 1, -1)

        def kill(statement: str) -> None:
            if next(left) == 0:
                os.kill(os.getpid(), signal.SIGKILL)

        memory.changes.snapshot._file._connection.set_trace_callback(kill)
        told(memory, event)
        memory.close()
        os.write(writer, b"e")

    child, pipe = started(live)
    with pipe:
        ended = bool(pipe.readall())
    os.waitpid(child, 0)
    return not ended


def _settings() -> tuple[str, ...]:
    """Those of the file as they are now, with a small cache."""
    return tuple(
        "PRAGMA cache_size = 1" if "cache_size" in setting else setting
        for setting in snapshot_file.SETTINGS
    )


def _outcome(make: Make, path: Path, right: set[str]) -> tuple[str, bool]:
    memory = opened(make, path)
    try:
        digest = memory.digest()
    finally:
        memory.close()
    return (KEPT, False) if digest in right else ("of no step of the event", True)
