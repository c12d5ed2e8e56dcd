"""A memory without the rooms that only large memories and experiments need."""

from __future__ import annotations

import subprocess
import sys

import pytest

LIFE = """
import sys
from importlib.abc import MetaPathFinder

class Absent(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.startswith(absent):
            raise ModuleNotFoundError(name)

absent = tuple("hebbarium.engine." + room for room in sys.argv[1:])
sys.meta_path.insert(0, Absent())
import hebbarium as hb

memory = hb.memory(embedding="hashing:64")
for hour in range(30):
    memory.encode(hb.Event(float(hour), f"note {hour}: Ada met Bo in room {hour % 7} about the garden"))
memory.advance(60.0)
answer = memory.retrieve("Who was in room 3?", 5)
memory.use(answer, answer.rows[:1])
print(list(map(int, answer.rows)), [float(s).hex() for s in answer.scores])
print(memory.context("What about the garden?", 60).text)
print(memory.explain("Who met Bo?", 3))
print(memory.digest())
print(*sorted(name for name in sys.modules if name.startswith("hebbarium.engine.scale.")))
"""


def lived(*absent: str) -> str:
    """What a process prints of a memory, with these rooms of the engine absent."""
    return subprocess.run(
        [sys.executable, "-c", LIFE, *absent],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    ).stdout


@pytest.mark.slow
def test_a_memory_lives_without_the_rooms_of_scale_and_of_arms() -> None:
    whole = lived()
    assert whole.endswith("\n\n") and lived("scale", "arms") == whole
