"""Every command of the README and every target of the Makefile runs whole, as a reader types it."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from environments import ROOT, checkout, environment, variables

pytestmark = pytest.mark.slow
README = (ROOT / "README.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
# run elsewhere: `test` and `test-all` are what runs this; `demo-families` and `demo-minimal` are run by
# `demo`; `explore` and `lowest` are workflows; `docs` is built by tests/test_site.py and by its
# workflow; `speed` measures seconds; `ratings` rewrites pages that tests compare with the evidence;
# `coverage` is the tests again; `clean` removes what the others made
ELSEWHERE = {
    *("test", "types", "quick", "rest", "test-all", "coverage", "explore", "lowest"),
    *("demo-families", "demo-minimal", "docs", "speed", "ratings", "clean"),
}
NETWORK = ("data get", "--data data/locomo10.json")  # the file is from the network, and not ours


def readme_commands() -> list[str]:
    """The commands of `hebbarium` in the README, in order, without their remarks."""
    blocks = re.findall(r"^```sh\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    lines = [shlex.join(shlex.split(line, comments=True)) for line in "".join(blocks).splitlines()]
    return [line for line in lines if line.startswith("hebbarium ")]


def export(path: Path) -> None:
    """An export of ChatGPT with one chat of two messages."""
    node = {"author": {"role": "user"}, "create_time": 1.7e9, "content": {"content_type": "text", "parts": ["Ada repaired the oven."]}}  # fmt: skip
    reply = {**node, "author": {"role": "assistant"}, "create_time": 1.7e9 + 9}
    mapping = {
        "a": {"id": "a", "message": node, "parent": None, "children": ["b"]},
        "b": {"id": "b", "message": reply, "parent": "a", "children": []},
    }
    chat = {"id": "c", "title": "Oven", "create_time": 1.7e9, "current_node": "b", "mapping": mapping}  # fmt: skip
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("conversations.json", json.dumps([chat]))


def test_every_command_of_the_readme_runs(
    hebbarium: Callable[..., tuple[int, str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In their order and in one folder; `serve`, which waits for an assistant, is tested with one."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    export(tmp_path / "export.zip")
    ran = []
    for line in readme_commands():
        words = shlex.split(line)[1:]
        if words[0] == "serve" or any(part in line for part in NETWORK):
            continue
        if words[0] == "audit":
            words.insert(1, "recency")  # tests/audit audits all
        code, _, err = hebbarium(*words)
        assert code == 0, f"{line}\n{err}"
        ran.append(words[0])
    assert {"list", "show", "run", "explain", "calibrate", "audit", "import", "memory"} <= set(ran)


def test_every_target_of_the_makefile_runs_here_or_elsewhere() -> None:
    (targets,) = re.findall(r"^\.PHONY: (.+)$", MAKEFILE, re.MULTILINE)
    assert set(targets.split()) == {"demo", *ELSEWHERE}


def test_the_demo_runs_in_a_fresh_clone(tmp_path: Path) -> None:
    """Packages of this environment stand for the downloads."""
    source = checkout(tmp_path / "hebbarium")
    environment(source / ".venv")
    run = subprocess.run(
        ["make", "demo"], cwd=source, env=variables(tmp_path), capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout + run.stderr
    for page in ("design.html", "smallest/composition.html", "audit.html"):
        text = (source / "out" / "demo" / page).read_text(encoding="utf-8")
        assert text.lower().startswith("<!doctype html>") and "</html>" in text
