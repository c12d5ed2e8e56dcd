"""Workers end when the process that started them is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

STORY = """
import os, sys, time
from joblib import delayed
from hebbarium.reporting.workers import tied

def work(i):
    os.write(1, f"{os.getpid()}\\n".encode())     # one write, so that lines of two workers do not mix
    time.sleep(120)

if __name__ == "__main__":
    tied(2)(delayed(work)(i) for i in range(2))
"""
BEFORE_THE_FIRST_CALL = """
import time
from joblib import delayed
from hebbarium.reporting.workers import tied

class Slow:
    def __reduce__(self):       # the call is never sent
        time.sleep(120)

def calls():
    for _ in range(2):
        yield delayed(print)(Slow())
    print("started", flush=True)        # joblib asks for more calls when its workers run
    time.sleep(120)

if __name__ == "__main__":
    tied(2)(calls())
"""


def alive(process: int) -> bool:
    try:
        return (
            Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
            != "Z"
        )
    except FileNotFoundError:
        return False


def workers_of(parent: int) -> list[int]:
    """Processes of joblib whose parent is this one; its tracker of semaphores is none."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            above = int((folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])
            if above == parent and b"popen_loky" in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
        except (FileNotFoundError, ProcessLookupError):  # it has ended
            continue
    return found


def started(folder: Path, story: str) -> subprocess.Popen[str]:
    script = folder / "story.py"
    script.write_text(story, encoding="utf-8")
    return subprocess.Popen(
        [sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_workers_end_after_their_parent_was_killed(tmp_path: Path) -> None:
    parent = started(tmp_path, STORY)
    try:
        assert parent.stdout
        workers = [int(parent.stdout.readline()) for _ in range(2)]
        assert all(map(alive, workers)) and parent.pid not in workers
    finally:
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    assert_they_end(workers)


@pytest.mark.parametrize("seconds", [0.0, 4.0], ids=["while they start", "while they wait"])
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_workers_end_after_their_parent_was_killed_before_their_first_call(
    seconds: float, tmp_path: Path
) -> None:
    parent = started(tmp_path, BEFORE_THE_FIRST_CALL)
    try:
        assert parent.stdout and parent.stdout.readline() == "started\n"
        time.sleep(seconds)
        workers = workers_of(parent.pid)
        assert len(workers) == 2 and all(map(alive, workers))
    finally:
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    assert_they_end(workers)


def assert_they_end(workers: list[int]) -> None:
    until = time.monotonic() + 20.0
    while any(map(alive, workers)) and time.monotonic() < until:
        time.sleep(0.1)
    left = [each for each in workers if alive(each)]
    for each in left:
        os.kill(each, signal.SIGKILL)
    assert not left
