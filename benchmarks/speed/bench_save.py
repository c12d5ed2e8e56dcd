"""Speed of a tick that is saved, of the save alone, and of loading a file.

The memories are those of large.py.  After the last save no array may differ from the file.
"""
from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hebbarium.benchmarks.speed.large import HOUR, SETS, SMALL, UNITS, Files


@pytest.mark.parametrize("n", UNITS)
@pytest.mark.parametrize("chosen", SETS)
def test_load(clock: Any, files: Files, chosen: str, n: int) -> None:
    """Opening a closed file, and closing it unchanged; against reading all bytes of it."""
    path, opened = files(chosen, n)

    def load() -> None:
        snapshot: Any = opened()._snapshot
        snapshot._file.close()

    clock(load, 3, reference=path.read_bytes, against="reading the file", warmup=1)


@pytest.mark.parametrize("n", UNITS)
@pytest.mark.parametrize("chosen", SETS)
def test_save(clock: Any, files: Files, turns: Any, chosen: str, n: int) -> None:
    """One event and its maintenance, saved as a tick of their own; the save alone is timed, the change before it is not."""
    memory = files(chosen, n)[1]()
    snapshot: Any = memory._snapshot
    coming, save = turns(SMALL, 64), snapshot.save
    snapshot.save = lambda *_, **__: None

    def change() -> None:
        memory.encode(replace(next(coming), time=memory.now + HOUR / 60))
        memory.advance(memory.now)

    clock(save, 64, reference=change, against="the event and its maintenance")
    snapshot.save = save
    save()
    assert snapshot.unsaved() == []
    memory.close()
