"""The command `hebbarium` in the process of the tests, for fixtures that several tests share."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from hebbarium.cli import main


def command(cache: Path, *arguments: str | Path) -> None:
    """Run the command with a folder for its caches; it must succeed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEBBARIUM_CACHE", str(cache))
        patch.setattr(sys, "argv", ["hebbarium", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
    assert not end.value.code, arguments
