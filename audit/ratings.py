"""The derived ratings that ship with the package, so that `hebbarium list` and `show` print them
without running the audit.

`ratings.json` maps a mechanism's id to the rating that its evidence earned.  A test compares the
file, and that of `findings`, with the audit; `make ratings` writes both.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ..reporting.files import write_json
from .findings import FILE as FINDINGS

if TYPE_CHECKING:
    from .run import AuditResult

FILE = Path(__file__).parent / "ratings.json"


@cache
def shipped() -> dict[str, str]:
    """Derived rating by mechanism id, for the mechanisms that come with the package."""
    return dict(json.loads(FILE.read_text(encoding="utf-8")))


def derived(result: AuditResult) -> dict[str, str]:
    """Derived rating by mechanism id, of an audit."""
    return {m.id: str(m.verdict.rating) for m in result.mechanisms}


def findings(result: AuditResult) -> dict[str, list[str]]:
    """Checks that printed forms do not pass, by id, of an audit."""
    return {m.id: list(m.not_passed) for m in result.mechanisms if m.variety_of}


def write(result: AuditResult) -> None:
    """Write the files from an audit of the whole collection."""
    write_json(FILE, derived(result), shared=True)
    write_json(FINDINGS, findings(result), shared=True)
