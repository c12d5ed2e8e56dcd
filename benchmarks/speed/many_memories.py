"""Many memories over the workers of a Dask cluster: memories per GB and questions per second and
core.

    python benchmarks/speed/many_memories.py --set default --memories 200 --workers 2

Each memory is a file of 300 events.  A memory belongs to the worker that its number names, which
opens it at its first question and keeps it open: a file is for one process at a time.  The cluster
is a local one; with `--scheduler HOST:PORT` it is another, whose workers must see the folder.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from hebbarium.benchmarks.speed.conftest import FreeEmbedder, conversation, questions
from hebbarium.benchmarks.speed.large import resident
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.hooks import Mechanism
from hebbarium.engine.memory.engine import Engine

EVENTS, ASKED = 300, 10  # events and questions of a memory
OPEN: dict[str, Engine] = {}  # by path, in a worker


def opened(chosen: str, path: str) -> Engine:
    """The memory of a file, opened once in a process."""
    if path not in OPEN:
        OPEN[path] = Engine(built(chosen), FreeEmbedder(), path=Path(path))
    return OPEN[path]


@cache
def built(chosen: str) -> list[Mechanism[Any]]:
    """The mechanisms of a set; reading the registry takes longer than opening a memory."""
    registry = Registry.read()
    return list(registry.build(registry.set(chosen)))


def lived(chosen: str, paths: Sequence[str]) -> int:
    """Make each memory, and close it."""
    for number, path in enumerate(paths):
        memory = opened(chosen, path)
        memory.encode_all(conversation(EVENTS, 7 + number % 5))
        OPEN.pop(path).close()
    return len(paths)


def loaded(chosen: str, paths: Sequence[str]) -> dict[str, float]:
    """Open memories and ask each once; bytes by which the process grows for each, and ms of CPU."""
    opened(chosen, paths[0]).retrieve(questions(EVENTS)[0])  # libraries and kernels
    before, start = resident(), process_time()
    for path in paths[1:]:
        opened(chosen, path).retrieve(questions(EVENTS)[0])
    return {
        "bytes": (resident() - before) / (len(paths) - 1),
        "ms": 1e3 * (process_time() - start) / (len(paths) - 1),
    }


def asked(chosen: str, paths: Sequence[str]) -> int:
    """Ask each memory, one after the other; how many questions."""
    for query in questions(EVENTS)[:ASKED]:
        for path in paths:
            opened(chosen, path).retrieve(query)
    return ASKED * len(paths)


def closed() -> int:
    """Close all memories of this process."""
    count = len(OPEN)
    while OPEN:
        OPEN.popitem()[1].close()
    return count


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--set", dest="chosen", default="default")
    parser.add_argument("--memories", type=int, default=200)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--scheduler", help="HOST:PORT of a cluster; none: a local one")
    given = parser.parse_args()
    Client: Any = import_module("distributed").Client
    local: dict[str, Any] = {
        "n_workers": given.workers,
        "threads_per_worker": 1,
        "dashboard_address": None,
    }
    with (
        tempfile.TemporaryDirectory() as folder,
        Client(given.scheduler, **({} if given.scheduler else local)) as client,
    ):
        workers = list(client.scheduler_info()["workers"])[: given.workers]
        shares = {
            worker: [
                str(Path(folder) / f"{number}.db")
                for number in range(given.memories)
                if number % len(workers) == at
            ]
            for at, worker in enumerate(workers)
        }

        def results_of(function: Any, some: Sequence[str] = workers) -> list[Any]:
            """The results of a function for the memories of some workers, each on its own."""
            futures = [
                client.submit(function, given.chosen, shares[worker], workers=[worker], pure=False)
                for worker in some
            ]
            return list(client.gather(futures))

        results_of(lived)
        grown = results_of(loaded)
        print(
            f"{given.chosen}: {given.memories} memories of {EVENTS} events, {len(workers)} workers"
        )
        size, ms = (max(sizes[of] for sizes in grown) for of in ("bytes", "ms"))
        print(f"a memory takes {size / 1e6:.1f} MB, and {ms:.0f} ms of CPU to open and ask once")
        for some in (workers[:1], workers):
            start = perf_counter()
            count = sum(results_of(asked, some))
            print(
                f"{len(some)} workers: {count / (perf_counter() - start):,.0f} questions a second"
            )
        client.run(closed)


# workers import the module by name: what they open must be in one place
if __name__ == "__main__":
    import_module("hebbarium.benchmarks.speed.many_memories").main()
