"""Commands for assistants: serve, a memory by the Model Context Protocol, and hook."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..reporting.output import put
from .app import app, say
from .shared import DEFAULT_SET, lasting, print_json

if TYPE_CHECKING:
    from ..engine.memory.engine import Engine


class Assistant(StrEnum):
    """Names in `doors.hooks.ASSISTANTS`."""

    CLAUDE = "claude"
    GEMINI = "gemini"
    CODEX = "codex"


class HookName(StrEnum):
    """Names in `doors.hooks.HOOKS`, and what prints the settings that call them."""

    START = "start"
    PROMPT = "prompt"
    TOOL = "tool"
    EDIT = "edit"
    FAILURE = "failure"
    COMPACT = "compact"
    END = "end"
    SETTINGS = "settings"


PathOption = Annotated[
    Path | None,
    typer.Option(
        "--path",
        metavar="FILE",
        help="The file of the memory; begun if it is not there. By default .hebbarium/memory.db in the home folder.",
    ),
]
SetOption = Annotated[
    str, typer.Option("--set", help="Mechanism set of a new memory: a name, or a YAML file.")
]
EmbedderOption = Annotated[str, typer.Option("--embedder", help="Sentence model of a new memory.")]
INPUT_MOST = 10_000_000  # characters of a payload


def _file(path: Path | None) -> Path:
    return path or Path.home() / ".hebbarium" / "memory.db"


@app.command(short_help="A memory for assistants, as an MCP server.")
def serve(
    path: PathOption = None,
    set_name: SetOption = DEFAULT_SET,
    embedder: EmbedderOption = "minilm",
    http: Annotated[
        int | None,
        typer.Option(
            "--http",
            min=1,
            max=65535,
            metavar="PORT",
            help="Serve at http://127.0.0.1:PORT/mcp in place of standard input and output.",
        ),
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(
            "--token",
            metavar="TEXT",
            envvar="HEBBARIUM_TOKEN",
            help="What clients over HTTP must send as bearer token; by default a new one, which is printed.",
        ),
    ] = None,
) -> None:
    """Serve one memory to an assistant over standard input and output, or to several over HTTP on
    this machine.

    Every call that has returned is in the file.  One process at a time has the file.
    """
    import secrets

    from ..doors import server
    from ..doors.files import memory_of
    from ..doors.inbox import take_in

    file = _file(path)
    server.require_packages()
    with memory_of(file, set_name, lasting(embedder)) as memory:
        take_in(memory, file)
        if http is None:
            server.serve_stdio(memory)
            return
        word = token or secrets.token_urlsafe(24)

        def ready() -> None:
            if not token:
                say(f"token: {word}")
            say(f"serving {file} at http://{server.HOST}:{http}/mcp")

        server.serve_http(memory, http, word, ready)


@app.command(short_help="A hook of an assistant's session: JSON in, JSON out.")
def hook(
    name: Annotated[
        HookName,
        typer.Argument(
            metavar="HOOK",
            help="start, prompt, tool, edit, failure, compact or end; settings prints the settings of an assistant that call them.",
        ),
    ],
    path: PathOption = None,
    set_name: SetOption = DEFAULT_SET,
    embedder: EmbedderOption = "minilm",
    assistant: Annotated[
        Assistant,
        typer.Option(
            "--for",
            metavar="ASSISTANT",
            help="Whose settings are printed: claude (Claude Code), gemini (Gemini CLI) or codex.",
        ),
    ] = Assistant.CLAUDE,
) -> None:
    """Read what an assistant gives a hook from the standard input, and write what it reads.

    start and prompt show it what the memory knows; tool, edit and failure leave what was done in an
    inbox beside the memory, in a moment; compact and end take that in, end consolidates.  An error
    is a message to the user: it never stops the assistant.
    """
    from ..doors.hooks import answered, settings

    file = _file(path)
    if name is HookName.SETTINGS:
        print_json(settings(file.absolute(), assistant.value))
        return

    def opened() -> Engine:
        from ..doors.files import memory_of

        return memory_of(file, set_name, lasting(embedder))

    given = sys.stdin.read(INPUT_MOST)
    put(json.dumps(answered(name.value, given, file, opened)))
