"""CONTRIBUTING, commits: the first line of a message has at most 72 characters, checked by a
hook and over the commits since the rule.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
SINCE = "b20953d"  # the last commit before the rule was checked
SCRIPT = ROOT / "docs" / "tools" / "commit_message.py"


def judged(message: str, folder: Path) -> int:
    file = folder / "message"
    file.write_text(message, encoding="utf-8")
    return subprocess.run([sys.executable, str(SCRIPT), str(file)], capture_output=True).returncode


@pytest.mark.parametrize(("message", "good"), [
    ("Recency counts recalls\n", True), ("x" * 72 + "\n\nA reason: " + "y" * 200, True),
    ("# a comment\nRecency counts recalls\n", True),
    ("x" * 73 + "\n", False), ("Recency counts recalls.\n", False), ("\n", False),
    ("Recency counts recalls\nand more\n", False),
    ("One thing; another thing\n", False)])  # fmt: skip
def test_the_hook_judges_a_message(message: str, good: bool, tmp_path: Path) -> None:
    assert (judged(message, tmp_path) == 0) is good


def test_the_hook_is_in_the_configuration() -> None:
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    (hook,) = (
        hook for repo in config["repos"] for hook in repo["hooks"] if hook["id"] == "message"
    )
    assert hook["stages"] == ["commit-msg"] and (ROOT / hook["entry"].split()[-1]) == SCRIPT


@pytest.mark.slow
def test_messages_since_the_rule_keep_it(tmp_path: Path) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("needs the history of git")
    done = subprocess.run(
        ["git", "-C", str(ROOT), "log", "--no-merges", "--format=%B%x00", f"{SINCE}..HEAD"],
        capture_output=True,
        text=True,
    )
    if done.returncode:
        pytest.skip("needs the history of git back to the rule")
    assert [m for m in map(str.strip, done.stdout.split("\0")) if m and judged(m, tmp_path)] == []
