"""The script that records a session of the protocol's client, and its page."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from scripts import script

from hebbarium.doors.server import NAMES

SESSION = script("mcp_session")
ROOT = Path(__file__).parents[2]
MESSAGE = re.compile(r"^([<>]) (.*)$", re.M)


def test_the_page_shows_every_tool_an_error_and_what_survived_the_kill() -> None:
    """If not, run `python docs/tools/mcp_session.py`."""
    text = SESSION.PAGE.read_text(encoding="utf-8")
    before, after = re.findall(r"^~~~text\n(.*?)^~~~$", text, re.M | re.S)
    called = set(re.findall(r'^> .*"name":"(\w+)","arguments"', before + after, re.M))
    assert set(NAMES) | {"what_changed"} == called
    assert before.count('"isError":true') >= 2
    assert "before the machine lost its power" in before.splitlines()[-2]
    assert "before the machine lost its power" in after
    timed = re.findall(r"^\| `(\w+)` \| (\d+) \| ([\d.]+) \| ([\d.]+) \|$", text, re.M)
    assert {name for name, *_ in timed} <= set(NAMES) and len(timed) >= 6
    assert all(float(median) <= float(high) for _, _, median, high in timed)
    assert re.search(r"Commit `[0-9a-f]{8}`", text) and "/tmp" not in text


@pytest.mark.slow
def test_a_session_is_recorded_as_it_went_through_the_pipes(tmp_path: Path) -> None:
    pytest.importorskip("mcp.server.mcpserver", reason="pip install 'hebbarium[mcp]'")
    page = tmp_path / "page.md"
    subprocess.run(
        [sys.executable, str(ROOT / "docs" / "tools" / "mcp_session.py"), "--set", "bm25",
         "--embedder", "hashing:64", "--events", "3", "--calls", "2", "--page", str(page)],
        check=True, timeout=300,
    )  # fmt: skip
    text = page.read_text(encoding="utf-8")
    asked = [json.loads(line) for mark, line in MESSAGE.findall(text)
             if mark == ">" and "characters ..." not in line]  # fmt: skip
    assert len(asked) > 20 and all(message["jsonrpc"] == "2.0" for message in asked)
    assert re.findall(r"^\| `remember` \| (\d+)", text, re.M) == ["3"]
    assert str(tmp_path) not in text
