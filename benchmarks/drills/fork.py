"""A fork of the process that has a memory open: it cannot write the file, does not wait for
ever, and the parent goes on as if it were alone.
"""

from __future__ import annotations

import gc
import json
import os
import random
import select
import shutil
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Thread

from ...engine.base.errors import HebbariumError
from ...engine.contract.records import Event
from ...engine.memory.engine import Engine
from .children import digests_of, opened, started, told
from .flips import Make
from .tally import Tally

PROMISED = (
    "the fork is refused, or asks its copy of the memory; the parent and its file are as without it"
)
LONGEST = 0.01  # s from the beginning of an event in another thread of the parent to the fork
HANGS = 20.0  # s, after which a fork is taken to wait for ever
REFUSED = "refused"


def fork(make: Make, events: list[Event], folder: Path, count: int, seed: int) -> Tally:
    """Fork `count` times, in turn to encode, save, close, ask and drop the memory of the parent;
    half of the forks come while another thread of the parent encodes.

    make    opens the memory of a path
    events  what the parent is told, one after each fork; it begins anew after the last one, and
            after a fork that broke the promise

    Cost: a process and a loading each.  Needs `os.fork`.
    """
    tally, chance, path = Tally("fork", PROMISED), random.Random(seed), folder / "parent.db"
    digests = digests_of(make, events, folder / "alone.db")[1:]
    held: list[Engine] = []  # the one reference to the memory, so that a fork can drop it
    names, at = sorted(ACTS), len(events)
    for number in range(count):
        if at == len(events):
            _ended(held, path)
            held.append(make(path))
            at = 0
        busy, act = chance.random() < 0.5, names[number % len(names)]
        try:
            outcome = _forked(held, events[at], act, busy, chance)
            if held[0].digest() != digests[at]:
                outcome = "the parent has another digest"
            elif _copied(make, path, folder / "copy.db") != digests[at]:
                outcome = "the file of the parent holds another memory"
        except Exception as error:  # the drill counts errors of every kind
            outcome = f"the parent failed with {type(error).__name__}: {error}"
        right = outcome in ACTS[act][1] or (busy and outcome == REFUSED)
        tally.count(
            f"{act}, {'while a thread encodes' if busy else 'between events'}",
            outcome,
            broken=not right,
        )
        at = at + 1 if right else len(events)
    _ended(held, path)
    return tally


def _ended(held: list[Engine], path: Path) -> None:
    while held:
        with suppress(HebbariumError):  # of a memory that a fork has broken
            held.pop().close()
        path.unlink()


def _forked(held: list[Engine], event: Event, act: str, busy: bool, chance: random.Random) -> str:
    """Fork before the event, or while another thread encodes it; what came of the fork's act."""

    def live(writer: int) -> None:
        try:
            outcome = ACTS[act][0](held, event)
        except HebbariumError as error:
            outcome = (
                REFUSED
                if error.what and error.where and error.cure
                else "refused without what, where or cure"
            )
        except Exception as error:  # the drill counts errors of every kind
            outcome = f"failed with {type(error).__name__}: {error}"
        os.write(writer, json.dumps(outcome).encode())

    # garbage of others, whose destructors may wait for threads that the fork does not have, is not
    # the fork's to drop
    gc.collect()
    thread = Thread(target=lambda: told(held[0], event))
    if busy:
        thread.start()
        time.sleep(chance.uniform(0.0, LONGEST))
    child, pipe = started(live)
    with pipe:
        hangs = not select.select([pipe], [], [], HANGS)[0]
        if hangs:
            os.kill(child, signal.SIGKILL)
        answer = pipe.readall() or b""
        os.waitpid(child, 0)
    if busy:
        thread.join()
    else:
        told(held[0], event)
    return (
        "waits for ever" if hangs else json.loads(answer) if answer else "ended without an answer"
    )


def _copied(make: Make, path: Path, copy: Path) -> str:
    """The digest of a copy of the file."""
    shutil.copy(path, copy)
    memory = opened(make, copy)
    try:
        return memory.digest()
    finally:
        memory.close()


def _encode(held: list[Engine], event: Event) -> str:
    told(held[0], event)
    return "encoded"


def _save(held: list[Engine], event: Event) -> str:
    held[0].save()
    return "saved"


def _close(held: list[Engine], event: Event) -> str:
    held[0].close()
    return "closed"


def _ask(held: list[Engine], event: Event) -> str:
    held[0].retrieve(event.text)
    return "answered"


def _drop(held: list[Engine], event: Event) -> str:
    held.clear()
    gc.unfreeze()
    gc.collect()
    return "dropped"


# what a fork does, and what may come of it
ACTS: dict[str, tuple[Callable[[list[Engine], Event], str], set[str]]] = {
    "encode": (_encode, {REFUSED}),
    "save": (_save, {REFUSED}),
    "close": (_close, {REFUSED}),
    "ask": (_ask, {"answered"}),
    "drop": (_drop, {"dropped"}),
}
