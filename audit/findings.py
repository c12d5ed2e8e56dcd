"""The checks that printed forms are known not to pass: `findings.json`, by the form's id.

That a source's rule fails is no fault of ours.  But what fails is written down, and a form that
fails more has become another.  `make ratings` writes the file.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Final

FILE: Final = Path(__file__).parent / "findings.json"


@cache
def known() -> dict[str, list[str]]:
    """Ids of checks, for the printed forms that come with the package."""
    return dict(json.loads(FILE.read_text(encoding="utf-8")))
