"""The audit log of erasures: that something was erased, when, and how much, without any of it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from ..base.forks import SQLITE
from ..state.event_log import Erased
from .file import is_there, snapshot_errors


@dataclass(frozen=True, slots=True)
class NotedErasure:
    """One erasure: no id, no name, no text, no time of an event.

    at      when, in UTC by the clock of the machine, ISO 8601 to the second
    events  how many events were overwritten
    rows    their rows, and those of texts that the memory had made from them
    texts   how many of these texts
    """

    at: str
    events: int
    rows: tuple[int, ...]
    texts: int

    @classmethod
    def now(cls, erased: Erased) -> NotedErasure:
        """Of what has just been overwritten."""
        at = datetime.now(UTC).isoformat(timespec="seconds")
        return cls(at, len(erased.events), tuple(map(int, erased.rows)), len(erased.writings))


def as_json(log: Iterable[NotedErasure]) -> str:
    """As the description of a file keeps it."""
    return json.dumps([asdict(erasure) for erasure in log])


def from_json(text: str) -> list[NotedErasure]:
    """The log that `as_json` gave.  Raises ValueError, KeyError and TypeError for another text."""
    return [
        NotedErasure(str(held["at"]), int(held["events"]), tuple(held["rows"]), int(held["texts"]))
        for held in json.loads(text)
    ]


def erasures(path: str | Path) -> tuple[NotedErasure, ...]:
    """The erasures of a memory's file, the oldest first; it may be open, and then those up to its
    last save are given.  Raises SnapshotError.

    Kept for as long as the file, and covered by the mark of its description.  A memory that is made
    anew of the events of another one (`hb.rebuild`) begins a log of its own.
    """
    path = Path(path)
    with snapshot_errors(path):
        if not is_there(path):
            raise FileNotFoundError(2, "there is no such file", str(path))
        address = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
        with SQLITE, closing(sqlite3.connect(address, uri=True)) as file:
            held = file.execute("SELECT value FROM meta WHERE key = 'erasures'").fetchone()
        if held is None:
            raise ValueError("it has no log of erasures")
        return tuple(from_json(held[0]))
