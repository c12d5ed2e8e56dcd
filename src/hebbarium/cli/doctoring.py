"""The command doctor: what is installed, what works, and the cure for what does not."""

from __future__ import annotations

import typer

from .app import app
from .shared import EmbedderOption, JsonOption, print_json


@app.command(short_help="What is installed, what works, and the cure for what does not.")
def doctor(embedder: EmbedderOption = "minilm", as_json: JsonOption = False) -> None:
    """Versions, extras, files, caches, threads and the sentence model; exit code 1 if one of them
    does not work.
    """
    from ..console import print_lines
    from ..doors.doctor import FindingState, examined

    findings = []
    for finding in examined(embedder):
        findings.append(finding)
        if not as_json:
            print_lines(f"{finding.state.value:<8} {finding.name}: {finding.says}")
            if finding.cure:
                print_lines(f"         What to do: {finding.cure}")
    broken = [finding.name for finding in findings if finding.state is FindingState.BROKEN]
    if as_json:
        print_json({"works": not broken, "findings": [finding.plain() for finding in findings]})
    else:
        print_lines(f"broken: {', '.join(broken)}" if broken else "everything that is needed works")
    if broken:
        raise typer.Exit(1)
