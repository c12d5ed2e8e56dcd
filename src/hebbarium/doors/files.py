"""Opening and beginning the file of a memory for everyday use."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from ..api import memory, reopen
from ..engine.base.errors import InputError
from ..engine.memory.engine import Engine

BEGIN = "begin one with `hebbarium memory {} new`"


def open_memory(file: Path, **options: Any) -> Engine:
    """The memory of a file.  Who tells it a time means it: events may be late by any time.

    options  further arguments of `hebbarium.reopen`, such as clock="wall"

    Raises InputError for a file that is not there, SnapshotError for one that holds no memory.
    """
    if file.is_dir():
        raise InputError(
            "it is a folder, and no memory", where=str(file), cure="give the file of a memory"
        )
    if not file.is_file():
        raise InputError("there is no memory", where=str(file), cure=BEGIN.format(file))
    return reopen(file, **{"late_hours": math.inf, **options})


def new_memory(file: Path, set_name: str, embedder: str, **options: Any) -> Engine:
    """A memory in a file that is not there yet.  Raises InputError."""
    free_place(file)
    made = memory(set_name, embedding=embedder, path=file, late=math.inf, **options)
    made.save()
    return made


def free_place(file: Path) -> None:
    """Raises InputError for a path where something stands."""
    if file.exists() or file.is_symlink():
        raise InputError(
            "something is there already", where=str(file), cure="give a path where nothing stands"
        )


def memory_of(path: Path, set_name: str, embedder: str) -> Engine:
    """The memory of a file, which lives beside the clock of this machine; a new one if the file is
    not there.
    """
    options = {"clock": "wall"}
    if path.exists():
        return open_memory(path, **options)
    path.parent.mkdir(parents=True, exist_ok=True)
    return new_memory(path, set_name, embedder, **options)
