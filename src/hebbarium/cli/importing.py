"""The command import: exports of chats become conversations of one's own, or a memory."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from ..engine.base.errors import InputError
from .app import app
from .shared import DEFAULT_SET, JsonOption, lasting, print_json

MEMORIES = (".db", ".sqlite", ".memory")  # how the file of a memory that is not there yet ends


class Dates(StrEnum):
    DAY_FIRST = "day-first"
    MONTH_FIRST = "month-first"


@app.command("import", short_help="Exports of chats, logs, mail, diaries or tables, as a memory.")
def import_command(
    path: Annotated[
        Path, typer.Argument(metavar="FILE", help="An export: a file, a folder, or a zip archive.")
    ],
    to: Annotated[
        Path,
        typer.Option(
            "--to",
            metavar="PATH",
            help=(
                "The file of a memory, or a path that ends in .db for a new one; any other path: "
                "a folder, which becomes conversations of your own."
            ),
        ),
    ],
    zone: Annotated[
        str,
        typer.Option(
            "--zone", metavar="ZONE", help="Time zone of times without one, as Europe/Berlin."
        ),
    ] = "UTC",
    dates: Annotated[
        Dates | None,
        typer.Option(
            "--dates",
            metavar="ORDER",
            help="day-first or month-first, in dates such as 01/03/25; as they suggest if left out.",
        ),
    ] = None,
    columns: Annotated[
        str,
        typer.Option(
            "--columns",
            metavar="FIELD=COLUMN,...",
            help="Columns of a table that have unusual names, as text=body,time=sent.",
        ),
    ] = "",
    set_name: Annotated[
        str, typer.Option("--set", help="Mechanism set of a new memory: a name, or a YAML file.")
    ] = DEFAULT_SET,
    embedder: Annotated[
        str, typer.Option("--embedder", help="Sentence model of a new memory.")
    ] = "minilm",
    as_json: JsonOption = False,
) -> None:
    """Read ChatGPT, Claude, Claude Code, Codex, Slack, WhatsApp, Telegram, Discord, mail (mbox),
    Markdown diaries, tables and lists of messages.

    What is left out is counted and said.  A memory is told what it does not have yet, so a later
    export can be imported into it again.
    """
    from ..console import Meter
    from ..doors.files import new_memory, open_memory
    from ..doors.imports import Choices, import_to_folder, import_to_memory

    choices = Choices(_zone(zone), dates.value if dates else "", _columns(columns))
    with Meter("MB", least=2) as meter, Meter("messages", least=500) as stored:

        def read(done: int, total: int) -> None:
            meter(done >> 20, total >> 20)

        if not (to.is_file() or (to.suffix in MEMORIES and not to.exists())):
            report = import_to_folder(path, to, choices, read)
        else:
            report = import_to_memory(
                path,
                lambda: (
                    open_memory(to)
                    if to.exists()
                    else new_memory(to, set_name, lasting(embedder), jump_hours=float("inf"))
                ),
                choices,
                read,
                stored,
            )
    if as_json:
        print_json({"to": str(to), **report})
    else:
        _print_report(to, report)


def _zone(name: str) -> Any:
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError) as error:
        raise InputError(
            f"there is no time zone {name!r}", where="--zone", cure="write it like Europe/Berlin"
        ) from error


def _columns(given: str) -> dict[str, str]:
    from ..doors.imports.documents import FIELDS

    columns = dict[str, str]()
    for pair in filter(None, given.split(",")):
        field, equals, column = (part.strip() for part in pair.partition("="))
        if not equals or field not in FIELDS or not column:
            raise InputError(
                f"{pair!r} names no field and its column",
                where="--columns",
                cure=f"write it like text=body,time=sent; the fields are {', '.join(FIELDS)}",
            )
        columns[field] = column
    return columns


def _print_report(to: Path, report: dict[str, Any]) -> None:
    from ..console import print_fields, print_lines
    from ..reporting.text import plural

    counts = (
        plural(report["messages"], "message"),
        plural(report["conversations"], "conversation"),
        plural(report["sessions"], "session"),
        plural(report["speakers"], "speaker"),
    )
    print_fields(
        [
            ("form", report["form"]),
            ("read", ", ".join(counts)),
            ("from", report["first"]),
            ("to", report["last"]),
            *((name, f"{count:,}") for name, count in report.get("told", {}).items()),
        ]
    )
    for name, rows in (
        (
            "left out",
            [f"{e['what']}: {e['count']:,}, first {e['first']}" for e in report["left_out"]],
        ),
        ("changed", [f"{what}: {count:,}" for what, count in report["changed"].items()]),
        ("assumed", report["assumed"]),
    ):
        if rows:
            print_lines(f"{name}:", *(f"  {row}" for row in rows))
    print_lines(f"written to {to}")
