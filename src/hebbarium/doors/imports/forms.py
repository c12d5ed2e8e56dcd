"""Which reader reads which form of export."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final

from ...benchmarks.datasets.recognise import EMPTY, recognise, recognise_bytes
from ...engine.base.errors import DataError
from .assistants import chatgpt, claude, claude_code, codex, interface_messages
from .chats import discord, own_discord, slack, telegram, whatsapp
from .documents import markdown, mbox, records, table
from .messages import Choices, ImportReport, Message
from .source import Export

Reader = Callable[[Export, Sequence[str], ImportReport, Choices], Iterator[Message]]
# name of a form in `recognise` -> reader
READERS: Final[Mapping[str, Reader]] = {
    "chatgpt": chatgpt,
    "claude": claude,
    "claude_code": claude_code,
    "codex": codex,
    "messages": interface_messages,
    "slack": slack,
    "whatsapp": whatsapp,
    "telegram": telegram,
    "discord": discord,
    "own_discord": own_discord,
    "mail": mbox,
    "markdown": markdown,
    "table": table,
    "records": records,
}
PLAIN: Final = ("markdown", "table", "records")  # read only where no other form stands beside them
DIARY: Final = (".md", ".markdown")
TABLES: Final = (".csv", ".tsv")


def reader_of(source: Export, report: ImportReport) -> tuple[Reader, Sequence[str]]:
    """The reader of an export, and the files that it reads; the others are counted in the report.

    Raises DataError for an export in no known form, which says what it seems to be.
    """
    kinds = dict[str, str]()
    if any(PurePosixPath(name).name == "users.json" for name in source.names) and any(
        PurePosixPath(name).name == "channels.json" for name in source.names
    ):
        kinds = {name: "slack" for name in source.names if name.endswith(".json")}
    else:
        for name in source.names:
            form = recognise_bytes(*source.head(name))
            if name.lower().endswith(DIARY):
                kinds[name] = "markdown"
            elif form and form.kind:
                kinds[name] = form.kind
            elif form and form != EMPTY and name.lower().endswith(TABLES):
                kinds[name] = "table"
    order = [*(kind for kind in READERS if kind not in PLAIN), *PLAIN]
    kind = next((kind for kind in order if kind in kinds.values()), "")
    if not kind:
        seems = recognise(source.path)
        raise DataError(
            "it is no export that can be read"
            + (f"; it seems to be {seems.name}" if seems else ""),
            where=str(source.path),
            cure=seems.cure() if seems else
            "docs/doors/export-forms.md lists the forms; a table or lines of JSON with a text, "
            "a time and a speaker are read, too",
        )  # fmt: skip
    names = [name for name in source.names if kinds.get(name) == kind]
    for name in source.names:
        if kinds.get(name) != kind:
            report.leave_out("files in another form", name)
    report.form = kind
    source.expected = sum(map(source.size, names))
    return READERS[kind], names
