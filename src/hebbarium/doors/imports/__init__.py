"""Imports: exports of chats, logs, mail, diaries and tables become conversations of one's own, or
the events of a memory.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from ...benchmarks.datasets.recognise import DESCRIPTION, EVENTS
from ...engine.base.errors import DataError
from ...engine.contract.records import Event
from ...engine.memory.engine import Engine
from ...reporting.files import results_folder, write_json, write_whole
from ..calls import record
from ..files import free_place
from .forms import READERS, reader_of
from .messages import Choices, ImportReport, cleaned
from .source import Export, Progress
from .spool import Spool, present

__all__ = ["READERS", "Choices", "ImportReport", "import_to_folder", "import_to_memory"]

REPORT = "import.json"


def import_to_folder(
    path: Path, folder: Path, choices: Choices, progress: Progress | None = None
) -> dict[str, Any]:
    """Write an export as conversations of one's own (docs/guides/data.md), with its report in
    import.json.  The report.

    Raises DataError for an export that cannot be read, InputError for a folder that holds
    conversations already; then nothing is written.
    """
    free_place(folder / EVENTS)
    with _read(path, choices, progress) as (spool, report):
        results_folder(folder)
        lines = (
            json.dumps(record(event, conversation, event.id), ensure_ascii=False) + "\n"
            for conversation, event in spool.events()
        )
        write_whole(folder / EVENTS, lines)
        if not (folder / DESCRIPTION).exists():
            write_json(folder / DESCRIPTION, {"name": folder.absolute().name})  # JSON is YAML
        plain = {"to": str(folder), **report.plain(), **spool.summary()}
        write_json(folder / REPORT, plain)
    return plain


def import_to_memory(
    path: Path,
    open_memory: Callable[[], Engine],
    choices: Choices,
    progress: Progress | None = None,
    stored: Progress | None = None,
) -> dict[str, Any]:
    """Tell a memory the messages of an export in order of time, all but those that it has: the same
    export, or a later one, can be imported again.  The report.

    open_memory  called when the export has been read
    stored       called as stored(messages that were told, messages in all)

    Raises DataError for an export that cannot be read; then no memory is opened.
    """
    with _read(path, choices, progress) as (spool, report), open_memory() as memory:
        known = {event.id for event in memory.events if event.id}
        counts = Counter[str]()

        def new() -> Iterator[Event]:
            for number, (conversation, event) in enumerate(spool.events()):
                if stored:
                    stored(number, report.messages)
                id = f"{conversation}/{event.id}"
                if id in known:
                    counts["known before"] += 1
                    continue
                pairs = {*event.attributes, ("conversation", conversation)}
                yield Event(
                    event.time, event.text, event.speaker, event.session or conversation, id,
                    dated=event.dated, attributes=tuple(sorted(pairs)), offset=event.offset
                )  # fmt: skip

        for encoded in memory.encode_all(new(), confirm=True):
            counts["stored" if encoded else "refused by a gate of the set"] += 1
        if stored:
            stored(report.messages, report.messages)
        return {**report.plain(), **spool.summary(), "told": dict(counts)}


@contextmanager
def _read(
    path: Path, choices: Choices, progress: Progress | None
) -> Iterator[tuple[Spool, ImportReport]]:
    """An export, read to disk, and the report of that."""
    report = ImportReport()
    with closing(Export(path, progress)) as source, Spool(report, source.modified) as spool:
        read, names = reader_of(source, report)
        now = present()
        for message in read(source, names, report, choices):
            if kept := cleaned(message, choices, report, now):
                spool.add(kept)
        if not report.messages:
            reasons = "; ".join(f"{count} {why}" for why, count in report.left_out.items())
            raise DataError(
                "it holds no messages" + (f" that are kept: {reasons}" if reasons else ""),
                where=str(path),
                cure="look into the file; docs/doors/export-forms.md says what is left out",
            )
        yield spool, report
