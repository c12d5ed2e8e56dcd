"""Judge the first line of a commit message, as the hook `commit-msg` does; exit code 1 if it is
refused.

    python docs/tools/commit_message.py FILE
"""

from __future__ import annotations

import sys
from pathlib import Path

LONGEST = 72


def fault(message: str) -> str:
    """What is wrong with a message, "" if nothing is; lines that begin with # are comments."""
    lines = [line.rstrip() for line in message.splitlines() if not line.startswith("#")]
    subject = lines[0] if lines else ""
    if not subject:
        return "the first line is empty"
    if len(subject) > LONGEST:
        return f"the first line has {len(subject)} characters, at most {LONGEST} are allowed"
    if subject.endswith("."):
        return "the first line ends with a dot"
    if ";" in subject:
        return "the first line has a semicolon: one change is one commit"
    return "a blank line is missing after the first line" if len(lines) > 1 and lines[1] else ""


if __name__ == "__main__":
    if wrong := fault(Path(sys.argv[1]).read_text(encoding="utf-8")):
        sys.exit(f"commit message: {wrong}; see CONTRIBUTING.md, commits")
