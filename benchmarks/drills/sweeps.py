"""A sweep killed at a random moment, with its workers: no finished cell is lost, and continued
it gives the rows of one without a kill.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from dataclasses import replace
from pathlib import Path

from ...engine.catalogue.registry import MechanismSet, Registry
from ...engine.ports.embedder import HashingEmbedder
from ...engine.ports.embedding_cache import CachedEmbedder
from ..datasets import Conversation, Dataset
from ..designs import Arm
from ..execution.folder import LEDGER, ROWS
from ..execution.ledger import Ledger
from ..execution.local import execute
from ..execution.plan import RunPlan, planned
from .children import started
from .tally import Tally

PROMISED = "every cell that was reported is in the ledger, and a sweep that is continued ends with the rows of one without a kill"
KEPT = "nothing lost"
LONGEST = 0.06  # s from a report to the kill
QUESTIONS = 3


def sweep(registry: Registry, weights: int = 3) -> RunPlan:
    """So many weights of the word search in a small set."""
    arms = [
        Arm(
            f"weight {n}",
            MechanismSet(
                "sweep",
                "",
                {
                    "dense_similarity": {},
                    "lexical_bm25": {"weight": n / weights},
                    "convex_fusion": {},
                },
            ),
        )
        for n in range(1, weights + 1)
    ]
    return planned(arms, registry)


def small(data: Dataset, events: int = 24) -> Dataset:
    """The first events of each conversation, with the first questions."""

    def cut(conversation: Conversation) -> Conversation:
        kept = tuple(conversation.events[:events])
        ids = {event.id for event in kept}
        return replace(
            conversation,
            events=kept,
            questions=tuple(
                replace(q, gold=tuple(g for g in q.gold if g in ids))
                for q in conversation.questions[:QUESTIONS]
            ),
        )

    return replace(data, name="drill", form="", conversations=tuple(map(cut, data.conversations)))


def sweeps(plan: RunPlan, data: Dataset, folder: Path, count: int, seed: int) -> Tally:
    """Kill the process that keeps the ledger of a sweep `count` times: one in four with two
    workers, which end after it, the others without.

    The sweep is continued from kill to kill.  After its last cell, and at the end, a process that
    is not killed finishes it, and it begins anew.

    Cost: a process each, one in four with two workers.  Needs `os.fork`.
    """
    tally, chance, path = Tally("sweeps", PROMISED), random.Random(seed), folder / "killed"
    wanted, n_cells = (
        finished(plan, data, folder / "whole"),
        len(plan.arms) * len(data.conversations),
    )
    before = 0
    for number in range(count):
        jobs = 2 if number % 4 == 3 else 1
        reported = max(_killed(plan, data, path, jobs, chance), default=0)
        held = len(Ledger(path / LEDGER)) if (path / LEDGER).exists() else 0
        when = (
            "after the last cell"
            if reported == n_cells
            else "between cells"
            if reported > before
            else "before a cell"
        )
        outcome, known = KEPT, max(before, reported)
        if held < known:
            outcome = f"{known} cells were reported, the ledger holds {held}"
        elif held == n_cells or number == count - 1:
            outcome = KEPT if finished(plan, data, path) == wanted else "finished with other rows"
        tally.count(
            f"{when}, {'two workers' if jobs == 2 else 'one process'}",
            outcome,
            broken=outcome != KEPT,
        )
        before = held
        if outcome != KEPT or held == n_cells:
            shutil.rmtree(path)
            before = 0
    return tally


def finished(plan: RunPlan, data: Dataset, path: Path) -> bytes:
    """The rows of a sweep that is run to its end in this process."""
    execute(plan, data, _embedder(), path, command={"command": "drill"})
    return (path / ROWS).read_bytes()


def _killed(
    plan: RunPlan, data: Dataset, path: Path, jobs: int, chance: random.Random
) -> list[int]:
    """Sweep in a child process, and kill it; the numbers of finished cells that it reported."""

    def live(writer: int) -> None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        execute(
            plan,
            data,
            _embedder(),
            path,
            command={"command": "drill"},
            jobs=jobs,
            progress=lambda done, total, last: _report(writer, done),
        )
        os.close(writer)  # no further report will come
        time.sleep(60.0)

    child, pipe = started(live)
    # reports before the kill; the first is that of the start
    wait = chance.choice((0, 1, 2, 2, 3, 4))
    with pipe:
        received = b"".join(pipe.read(4) or b"" for _ in range(wait))
        time.sleep(chance.uniform(0.0, LONGEST))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        received += pipe.readall() or b""
    return [
        int.from_bytes(received[at : at + 4], "little") for at in range(0, len(received) - 3, 4)
    ]


def _report(writer: int, done: int) -> None:
    os.write(writer, done.to_bytes(4, "little"))


def _embedder() -> CachedEmbedder:
    return CachedEmbedder(HashingEmbedder(16), None)
