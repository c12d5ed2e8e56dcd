"""Speed of a tick that is saved, of the save alone, of a call that is logged, and of loading a
file.

The memories are those of large.py.  After the last save no array may differ from the file.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hebbarium.benchmarks.speed.large import HOUR, SETS, SMALL, UNITS, Files


@pytest.mark.parametrize("n", UNITS)
@pytest.mark.parametrize("chosen", SETS)
def test_load(clock: Any, files: Files, chosen: str, n: int) -> None:
    """Opening a closed file, and closing it unchanged; against reading all bytes of it."""
    path, opened = files(chosen, n)

    def load() -> None:
        snapshot: Any = opened().changes.snapshot
        snapshot._file.close()

    clock(load, 3, reference=path.read_bytes, against="reading the file", warmup=1)


@pytest.mark.parametrize("n", UNITS)
@pytest.mark.parametrize("chosen", SETS)
def test_save(clock: Any, files: Files, turns: Any, chosen: str, n: int) -> None:
    """One event and its maintenance, saved as a tick of their own; the save alone is timed, the
    change before it is not.
    """
    memory = files(chosen, n)[1]()
    snapshot: Any = memory.changes.snapshot
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


@pytest.mark.parametrize("n", UNITS)
@pytest.mark.parametrize("durable", [False, True, "full"])
@pytest.mark.parametrize("chosen", SETS)
def test_call(
    clock: Any, files: Files, turns: Any, tmp_path: Path, chosen: str, durable: Any, n: int
) -> None:
    """Events a second apart in one tick; with a log each is in it when `encode` returns, and the
    256th saves.
    """
    path, opened = files(chosen, n)
    memory = opened(
        path=Path(shutil.copy(path, tmp_path / "copy.db")), tick_hours=1.0, durable=durable
    )
    coming = turns(SMALL, 300)

    def tell() -> None:
        event = next(coming)
        memory.encode(replace(event, time=memory.now + HOUR / 3600, id=f"{event.id} {memory.now}"))

    clock(tell, 256)
    memory.changes.snapshot.close(save=False)  # type: ignore[union-attr]
