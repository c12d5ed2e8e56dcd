"""Print the first table of docs/results/kernels.md: what the first answers of a set cost.

    OMP_NUM_THREADS=1 python docs/tools/first_answers.py [SET...]

A process of its own tells a memory three events and asks it two questions.  Cold, it begins with an
empty folder of caches: no compiled kernels, no converted sentence model, no embeddings.  Warm, it
has what another process left there, and texts that nobody has embedded.  Every number is the median
of three such pairs, and the sets take turns, so that a busy moment of the machine meets all of them.
On a busy machine a second of processor time does less: a line below the table says what a plain loop
took in the same turns.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import process_time

ROOT = Path(__file__).resolve().parents[2]
SETS = ("naive_rag", "minimal", "default", "waking")
TURNS = 3
ADDITIONS = 10_000_000  # of the plain loop
TALKS = (
    ("I have a cat named Miso.", "We moved to Oslo in May.", "The cat is afraid of thunder.",
     "What is the cat called?", "Where do we live?"),
    ("My brother plays the cello.", "He lost his bow in Porto.", "A friend lent him another one.",
     "What did he lose?", "Who helped him?"),
)  # fmt: skip
LIFE = """
import json, sys
from time import process_time
from hebbarium import Event, memory
imported = process_time()
*events, first, second = json.loads(sys.argv[2])
lived = memory(sys.argv[1])
for hour, text in enumerate(events):
    lived.encode(Event(30.0 + hour, text, "Ada", "Monday"))
lived.retrieve(first)
lived.retrieve(second)
from hebbarium.engine.base.kernels import declared
stats = [kernel.dispatcher.stats for kernel in declared if "dispatcher" in vars(kernel)]
print(json.dumps([imported, sum(bool(s.cache_misses) for s in stats)]))
"""


@dataclass(frozen=True, slots=True)
class FirstAnswers:
    """What one process cost.

    seconds   CPU s of the whole process, user and system
    imported  CPU s until the library is imported, with the start of Python
    compiled  kernels
    """

    seconds: float
    imported: float
    compiled: int


def timed(words: Sequence[str], **environment: str) -> tuple[float, str]:
    """CPU s, user and system, of a process of Python with these arguments, and what it prints.
    Raises CalledProcessError if it fails.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, *words],
        env={**os.environ, **environment},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, done.stdout


def measured(name: str, texts: Sequence[str], cache: Path) -> FirstAnswers:
    """A process with a folder of caches.  Raises CalledProcessError if it fails."""
    seconds, printed = timed(
        ["-c", LIFE, name, json.dumps(texts)],
        PYTHONPATH=str(ROOT / "src"),
        HEBBARIUM_CACHE=str(cache),
        NUMBA_CACHE_DIR=str(cache),
        PYTHONDONTWRITEBYTECODE="",  # modules are compiled once, as where it is not set
    )
    return FirstAnswers(seconds, *json.loads(printed))


def looped() -> float:
    """CPU s of a loop of plain Python."""
    start, total = process_time(), 0
    for number in range(ADDITIONS):
        total += number
    return process_time() - start


def row(name: str, cold: Sequence[FirstAnswers], warm: Sequence[FirstAnswers]) -> str:
    """
    >>> row("minimal", [FirstAnswers(2.2, 0.3, 1)], [FirstAnswers(1.1, 0.25, 0)])
    '| `minimal` | 1 | 2.2 | 1.1 | 0.25 |'
    """
    seconds = " | ".join(f"{median(life.seconds for life in lives):.1f}" for lives in (cold, warm))
    imported = median(life.imported for life in warm)
    return f"| `{name}` | {cold[0].compiled} | {seconds} | {imported:.2f} |"


def main(names: Sequence[str]) -> None:
    cold: dict[str, list[FirstAnswers]] = {name: [] for name in names or SETS}
    warm: dict[str, list[FirstAnswers]] = {name: [] for name in cold}
    loops = []
    for _ in range(TURNS):
        loops.append(looped())
        for name in cold:
            with tempfile.TemporaryDirectory() as folder:
                cold[name].append(measured(name, TALKS[0], Path(folder)))
                warm[name].append(measured(name, TALKS[1], Path(folder)))
    print("| set | kernels compiled | cold | warm | of which importing |")
    print("|---|---|---|---|---|")
    for name in cold:
        print(row(name, cold[name], warm[name]))
    print(f"\nA loop of {ADDITIONS:,} additions in Python: {median(loops):.2f} CPU s.")


if __name__ == "__main__":
    main(sys.argv[1:])
