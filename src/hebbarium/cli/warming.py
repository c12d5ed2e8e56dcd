"""The command `warm`."""

from __future__ import annotations

from typing import Annotated

import typer

from ..reporting.output import put
from ..reporting.text import plural
from .app import app
from .shared import DEFAULT_SET, JsonOption, print_json


@app.command(short_help="Compile the kernels of a set ahead.")
def warm(
    set_name: Annotated[str, typer.Option("--set", help="Name or file of a set.")] = DEFAULT_SET,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", min=1, help="Worker processes; by default one a processor."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Compile the kernels that a memory of a set calls, once per installation.

    What is kept on disk is found again until the source of a kernel, or of one that it calls,
    changes. Without this command the first answers compile what they need.
    """
    from ..console import Meter
    from ..warming import processors
    from ..warming import warm as compile_ahead

    with Meter("kernels") as meter:
        made = compile_ahead(set_name, jobs or processors(), meter)
    new = [name for name, compiled in made if compiled]
    if as_json:
        print_json({"set": set_name, "kernels": [name for name, _ in made], "compiled": new})
    else:
        put(f"{set_name}: {plural(len(made), 'kernel')}, {len(new)} compiled now")
