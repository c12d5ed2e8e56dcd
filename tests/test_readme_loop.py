"""The loop of an agent on the first page, in two processes: the first one is killed before it
closes the memory.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"


@pytest.mark.slow
def test_what_one_process_was_told_the_next_one_answers(tmp_path: Path) -> None:
    section = README.read_text(encoding="utf-8").split("## In Python")[1].split("\n## ")[0]
    (first, second), (printed,) = (
        re.findall(rf"```{kind}\n(.*?)```", section, re.S) for kind in ("python", "text")
    )
    killed = re.sub(
        r"memory\.close\(\).*", "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", first
    )
    assert killed != first and "close()" not in killed

    def run(code: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-W", "error", "-c", code],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            encoding="utf-8",
            env={**os.environ, "PYTHONIOENCODING": "utf-8"},
            check=False,
        )

    assert run(killed).returncode < 0 and (tmp_path / "agent.db").is_file()
    later = run(second)
    assert later.returncode == 0 and later.stdout == printed, later.stderr
    assert b"4711" not in (tmp_path / "agent.db").read_bytes()
