"""The inbox of a memory file: what was told while nobody had the file open.

A hook that runs at every use of a tool must not take seconds, and another process may have the
memory: it leaves a line in a small file beside it.  The server, the hooks that open the memory, and
`hebbarium memory FILE consolidate` take that in.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..engine.base.errors import HebbariumError

if TYPE_CHECKING:
    from ..engine.memory.engine import Engine

TABLE: Final = "CREATE TABLE IF NOT EXISTS told (number INTEGER PRIMARY KEY, record TEXT)"
WAIT: Final = 10.0  # s for another process that writes


def inbox_of(memory: Path) -> Path:
    """The inbox of the file of a memory."""
    return memory.with_name(f"{memory.name}.inbox")


def leave(memory: Path, record: Mapping[str, Any]) -> None:
    """Leave something to be told: `text`, `time` (ISO 8601) and, where they are known, `id`,
    `speaker`, `session` and `attributes`.  Raises HebbariumError.
    """
    inbox = inbox_of(memory)
    try:
        inbox.parent.mkdir(parents=True, exist_ok=True)
        inbox.touch(mode=0o600)  # it holds words of the user, who alone may read it
        with closing(sqlite3.connect(inbox, timeout=WAIT)) as file, file:
            file.execute(TABLE)
            file.execute("INSERT INTO told (record) VALUES (?)", (json.dumps(record),))
    except (sqlite3.Error, OSError) as error:
        raise _unusable(inbox, error) from error


def take_in(memory: Engine, path: Path) -> int:
    """Tell a memory what its inbox holds, and empty that.  How many were told.

    What a process that was killed has told and not taken out is not told twice: each has an id.
    Raises HebbariumError.
    """
    from datetime import datetime

    from .calls import tell

    inbox = inbox_of(path)
    if not inbox.is_file():
        return 0
    try:
        with closing(sqlite3.connect(inbox, timeout=WAIT)) as file:
            rows = file.execute("SELECT number, record FROM told ORDER BY number").fetchall()
            known, count = {event.id for event in memory.events if event.id}, 0
            for _, record in rows:
                left = json.loads(record)
                if left.get("id") in known:
                    continue
                tell(
                    memory,
                    left["text"],
                    time=datetime.fromisoformat(left["time"]),
                    speaker=left.get("speaker", ""),
                    session=left.get("session", ""),
                    id=left.get("id", ""),
                    attributes=[(key, value) for key, value in left.get("attributes", ())],
                )
                count += 1
            if rows:
                with file:
                    file.execute("DELETE FROM told WHERE number <= ?", (rows[-1][0],))
            return count
    except (sqlite3.Error, OSError, ValueError, KeyError, TypeError) as error:
        raise _unusable(inbox, error) from error


def _unusable(inbox: Path, error: Exception) -> HebbariumError:
    return HebbariumError(
        f"the inbox cannot be used ({error})",
        where=str(inbox),
        cure="free disk space, or move the file away: what it holds was not told yet",
    )
