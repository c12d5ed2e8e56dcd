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
from joblib import Parallel, delayed
from hebbarium.reporting.workers import Tied

def work(i):
    os.write(1, f"{os.getpid()}\\n".encode())     # one write, so that lines of two workers do not mix
    time.sleep(120)

if __name__ == "__main__":
    Parallel(n_jobs=2)(delayed(Tied(work))(i) for i in range(2))
"""


def alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_workers_end_after_their_parent_was_killed(tmp_path: Path) -> None:
    script = tmp_path / "story.py"
    script.write_text(STORY, encoding="utf-8")
    parent = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert parent.stdout
        workers = [int(parent.stdout.readline()) for _ in range(2)]
        assert all(map(alive, workers)) and parent.pid not in workers
    finally:
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    until = time.monotonic() + 20.0
    while any(map(alive, workers)) and time.monotonic() < until:
        time.sleep(0.1)
    left = [each for each in workers if alive(each)]
    for each in left:
        os.kill(each, signal.SIGKILL)
    assert not left
