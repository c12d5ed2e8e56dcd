"""The container: its steps run in a fresh environment, as a builder runs them in an image."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest
from environments import ROOT, checkout, environment, variables

TEXT = (ROOT / "Containerfile").read_text(encoding="utf-8")
PROGRAMS = f"{sysconfig.get_path('scripts')}{os.pathsep}{os.environ['PATH']}"
SYSTEM = "apt-get"  # changes the system, which is the image's own


def steps(name: str) -> list[str]:
    """The arguments of all instructions of one kind, in order."""
    return re.findall(rf"^{name} (.+)$", TEXT, re.MULTILINE)


def test_the_tools_of_the_system_that_the_steps_need_are_installed_first() -> None:
    first, *others = steps("RUN")
    assert SYSTEM in first and not any(SYSTEM in step for step in others)
    assert {"git", "make"} <= set(first.split())
    assert [step.split()[0] for step in others] == ["make", ".venv/bin/hebbarium"]


@pytest.mark.slow
def test_the_steps_run_in_a_fresh_environment(tmp_path: Path) -> None:
    """Packages of this environment stand for the downloads."""
    if shutil.which("make") is None:
        pytest.skip("make is missing")
    source = checkout(tmp_path / "hebbarium")
    environment(source / ".venv")
    for step in steps("RUN"):
        if SYSTEM not in step:
            run = subprocess.run(
                step,
                shell=True,
                cwd=source,
                env=variables(tmp_path),
                capture_output=True,
                text=True,
            )
            assert run.returncode == 0, f"{step}\n{run.stdout}{run.stderr}"
    (entry,), (default,) = steps("ENTRYPOINT"), steps("CMD")
    command = [*re.findall(r'"(.+?)"', entry), "--dry-run", "--no-print-directory"]
    for targets in (re.findall(r'"(.+?)"', default), ["demo"], ["test"]):
        run = subprocess.run(
            [*command, *targets],
            cwd=source,
            env=variables(tmp_path),
            capture_output=True,
            text=True,
        )
        assert run.returncode == 0, run.stderr
        for line in run.stdout.splitlines():
            words = shlex.split(line, comments=True)
            program = next((word for word in words if "=" not in word), "true")
            assert shutil.which(Path(program).name, path=PROGRAMS), (
                f"{line}: nothing installs {program}"
            )
