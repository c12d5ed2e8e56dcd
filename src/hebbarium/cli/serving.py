"""The command serve: a memory for assistants, by the Model Context Protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .app import app, say
from .shared import DEFAULT_SET, lasting


@app.command(short_help="A memory for assistants, as an MCP server.")
def serve(
    path: Annotated[
        Path | None,
        typer.Option(
            "--path",
            metavar="FILE",
            help="The file of the memory; begun if it is not there. By default .hebbarium/memory.db in the home folder.",
        ),
    ] = None,
    set_name: Annotated[
        str, typer.Option("--set", help="Mechanism set of a new memory: a name, or a YAML file.")
    ] = DEFAULT_SET,
    embedder: Annotated[
        str, typer.Option("--embedder", help="Sentence model of a new memory.")
    ] = "minilm",
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

    file = path or Path.home() / ".hebbarium" / "memory.db"
    server.require_packages()
    with server.memory_of(file, set_name, lasting(embedder)) as memory:
        if http is None:
            server.serve_stdio(memory)
            return
        word = token or secrets.token_urlsafe(24)
        if not token:
            say(f"token: {word}")
        say(f"serving {file} at http://{server.HOST}:{http}/mcp")
        server.serve_http(memory, http, word)
