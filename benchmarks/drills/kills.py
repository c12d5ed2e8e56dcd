"""A process that encodes without a log of calls, killed at a random moment: it loses at most the
tick in flight, and the memory goes on then.
"""

from __future__ import annotations

import os
import random
import time
import warnings
from pathlib import Path

from ...engine.contract.records import Event
from ...engine.saving.snapshot import InterruptedWarning
from .children import digests_of, killed, told
from .flips import Make
from .tally import Tally

PROMISED = (
    "every finished tick is in the file, at most one more, opening it says that calls may be lost, and the next event gives the same digest "
    "as without the kill"
)
LONGEST = 0.04  # s from the first sign of life to the kill


def kills(make: Make, events: list[Event], folder: Path, count: int, seed: int) -> Tally:
    """Kill a process that encodes event by event `count` times; the memory grows from kill to kill,
    and begins anew after the last event.

    make    opens the memory of a path
    events  what it is told; 4 at least

    Cost: a process each.  Needs `os.fork`.
    """
    tally, chance, path = Tally("kills", PROMISED), random.Random(seed), folder / "killed.db"
    digests = digests_of(make, events, folder / "whole.db")
    done = 0
    for _ in range(count):
        finished = _killed(make, path, events, chance)
        try:
            outcome, done = _continued(
                make, path, events, digests, max(finished, done), said=bool(finished)
            )
        except Exception as error:  # drills count errors of every kind
            outcome = f"failed with {type(error).__name__}: {error}"
        tally.count(
            "in a tick" if finished else "while it opens", outcome, broken=outcome != "continued"
        )
        if outcome != "continued" or done >= len(events) - 2:
            for file in folder.glob("killed.db*"):
                file.unlink()
            done = 0
    return tally


def _killed(make: Make, path: Path, events: list[Event], chance: random.Random) -> int:
    """Encode in a child process, and kill it; how many events it had finished."""

    def live(writer: int) -> None:
        memory = make(path)
        for number in range(len(memory.event_log.events), len(events)):
            told(memory, events[number])
            os.write(writer, (number + 1).to_bytes(4, "little"))
        time.sleep(60.0)

    received = killed(live, chance, 0.8, LONGEST)
    return int.from_bytes(received, "little") if received else 0


def _continued(
    make: Make, path: Path, events: list[Event], digests: list[str], finished: int, *, said: bool
) -> tuple[str, int]:
    """What came of a kill after so many finished events, and how many the file then holds.

    said  whether opening must warn: the process has saved, and did not close the file
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        memory = make(path)
    try:
        held = len(memory.event_log.events)
        if not finished <= held <= finished + 1:
            return f"{finished} events were finished, the file holds {held}", held
        if said and not any(issubclass(warning.category, InterruptedWarning) for warning in caught):
            return "opened without a warning", held
        if held < len(events):
            told(memory, events[held])
            held += 1
        return (
            "continued"
            if memory.digest() == digests[held]
            else "another digest after the next event"
        ), held
    finally:
        memory.close()
