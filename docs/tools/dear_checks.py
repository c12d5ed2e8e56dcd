"""Write tests/audit/dear_checks.txt: the checks of evidence that `make test` leaves out.

    python docs/tools/dear_checks.py [ID...]

A check is dear if it takes more than LIMIT s of processor time in plain Python, as `make test` runs
it.  A line of the file names a mechanism and its dear checks; a check that was added since is run
until its line is written again.  Without ids all lines are.  A mechanism whose checks take at most
WHOLE s together has no line.  The checks of a mechanism run in a new process, and those that were
quick in another: a check may be quick only because a dear one before it made what both need.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Collection
from importlib import import_module
from pathlib import Path
from time import process_time
from typing import Any, Final

from hebbarium.audit.checks import evidence_of, judge
from hebbarium.audit.collect import evidence_module
from hebbarium.audit.specimen import Specimen
from hebbarium.engine.base.kernels import in_python
from hebbarium.engine.catalogue.registry import Registry

FILE: Final = Path(__file__).resolve().parents[2] / "tests" / "audit" / "dear_checks.txt"
LIMIT: Final = 0.1
WHOLE: Final = 0.5


class Late(BaseException):
    """A check has run for WHOLE s; no Exception, which would be the score of the check."""


def late(*_: Any) -> None:
    """Ends the check that runs."""
    raise Late


def seconds(id: str, without: Collection[str] = ()) -> dict[str, float]:
    """s of processor time of each check of a mechanism that can decide its rating, at most WHOLE."""
    registry = Registry.read()
    entry = registry.entry(id)
    evidence = evidence_module(entry, registry)
    if evidence is None:
        return {}
    specimen, taken = Specimen(id, import_module(entry.module)), {}
    for check in evidence_of(import_module(evidence)).checks:
        if not check.gates or check.id in without:
            continue
        start = process_time()
        try:
            with in_python():
                signal.setitimer(signal.ITIMER_PROF, WHOLE)
                judge(check, specimen)
                signal.setitimer(signal.ITIMER_PROF, 0.0)
        except Late:
            pass
        taken[check.id] = process_time() - start
    return taken


def in_a_process(id: str, without: Collection[str] = ()) -> dict[str, float]:
    """`seconds`, where nothing has been made yet.  Raises CalledProcessError if a check ends it."""
    words = [sys.executable, __file__, "--one", id, *without]
    done = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True)
    taken: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return taken


def dear(id: str) -> list[str]:
    """The ids of the dear checks of a mechanism, none where all of them are to run."""
    taken = in_a_process(id)
    if sum(taken.values()) <= WHOLE:
        return []
    first = [check for check, cost in taken.items() if cost > LIMIT]
    later = in_a_process(id, first)
    return [*first, *(check for check, cost in later.items() if cost > LIMIT)]


def read() -> dict[str, list[str]]:
    """The dear checks of each mechanism that has any."""
    lines = FILE.read_text(encoding="utf-8").splitlines() if FILE.exists() else []
    return {id: ids.split() for id, _, ids in (line.partition(":") for line in lines)}


def main(ids: list[str]) -> None:
    known = read() if ids else {}
    for id in ids or Registry.read().entries:
        known[id] = dear(id)
    lines = (f"{id}: {' '.join(checks)}\n" for id, checks in sorted(known.items()) if checks)
    FILE.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        signal.signal(signal.SIGPROF, late)
        print(json.dumps(seconds(sys.argv[2], sys.argv[3:])))
    else:
        main(sys.argv[1:])
