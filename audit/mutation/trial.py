"""Judging one mutant in a forked process, which is ended when it takes too long.

The time limit is CPU time, so other work on the machine does not count: the timer ITIMER_PROF of
the child ends it at several times what the check takes on the original.  A child that sleeps is
killed: on Linux, once it has slept for PATIENCE without computing; elsewhere, where the state of a
process is not known, after WAITING times its CPU limit.  Without `os.fork` (Windows) nothing
isolates a mutant from the next one and nothing can end it, so the run is refused.

An exception of a check is a rejection: the unchanged module, run in the same way, passes that
check, so the change is the cause.  Two kinds are not: arithmetic that raises in plain Python but
not in a compiled kernel (then the check runs again with the mutant compiled), and exceptions of the
harness (memory limit, numba's compiler), after which the next check runs.
"""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import os
import pickle
import select
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from time import monotonic
from typing import Any, Final

import faiss

from ...engine.base.errors import ContractError
from ..checks import Check, CheckResult, Score, described

# s and multiples of the original's time that a check may take on a mutant
FLOOR, FACTOR = 0.5, 5.0
COMPILING = 30.0  # s more where kernels are compiled
PATIENCE = 10.0  # s that a child may sleep without computing
# times its CPU limit that a child may take where its state is not known
WAITING = 50.0
MEMORY = 4 << 30  # bytes that a child may allocate
ARITHMETIC: Final = (
    "ZeroDivisionError",
    "OverflowError",
    "ValueError: math domain error",
    "ValueError: math range error",
)
HARNESS: Final = ("MemoryError", "LoweringError", "UnsupportedError", "UnsupportedBytecodeError")
CRASHES: Final = (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT)
IMPORT: Final = "import"  # decides where the changed module cannot even be made
Send = Callable[[Any], None]
# judges a check on the mutant, with its kernels compiled or not
Run = Callable[[Check, bool], CheckResult]


class GeneratedFate(StrEnum):
    """The outcome of a mutant."""

    REJECTED = "rejected"  # a check fails on it or raises
    TIMED_OUT = "timed out"  # a check takes too long on it; counts as rejected
    SURVIVED = "survived"  # all checks that reach it pass
    NOT_REACHED = "not reached"  # no check runs the changed statement, or reads the number
    EQUIVALENT = "equivalent"  # it is the original: same bytecode, or listed with a reason
    REFUSED = "refused"  # a number outside its bounds, which the registry does not load
    BROKEN = "broken"  # it could not be judged


@dataclass(frozen=True, slots=True)
class MutantOutcome:
    """Fate of a mutant, the id of the check that decided it, and why."""

    fate: GeneratedFate
    by: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """A check to run on a mutant.

    compiled  whether the changed kernels are compiled
    seconds   what it takes on the original in the same way, CPU time
    """

    check: Check
    compiled: bool
    seconds: float

    @property
    def limit(self) -> float:
        return FLOOR + FACTOR * self.seconds + (COMPILING if self.compiled else 0.0)


def require_fork() -> None:
    """Raises ContractError where processes cannot be forked."""
    if not hasattr(os, "fork"):
        raise ContractError(
            "mutants cannot be run on this system, which has no fork",
            where="generated mutants",
            cure="run them on Linux or macOS",
        )


def tried(steps: Sequence[Step], run: Run) -> MutantOutcome:
    """Run the checks in order on a mutant, in a forked process, up to the first that does not
    pass.  `run` is called in that process only.
    """
    messages, status = in_child(
        lambda send: send(_decided(steps, run, send)), sum(s.limit for s in steps)
    )
    at = next((m for m in reversed(messages) if isinstance(m, str)), "")
    if messages and isinstance(messages[-1], MutantOutcome):
        return messages[-1]
    ended = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
    if ended == signal.SIGPROF or status < 0:
        why = "sleeps" if status < 0 else "takes too long"
        return MutantOutcome(GeneratedFate.TIMED_OUT, at, why)
    if ended in CRASHES:
        return MutantOutcome(
            GeneratedFate.REJECTED, at, f"crashes with {signal.Signals(ended).name}"
        )
    return MutantOutcome(
        GeneratedFate.BROKEN,
        at,
        f"its process ended with {signal.Signals(ended).name if ended else status}",
    )


def _decided(steps: Sequence[Step], run: Run, send: Send) -> MutantOutcome:
    """In the child."""
    skipped: list[str] = []

    def judged(check: Check, compiled: bool, seconds: float) -> CheckResult:
        with time_limit(seconds):
            return run(check, compiled)

    for step in steps:
        send(step.check.id)
        try:
            result = judged(step.check, step.compiled, step.limit)
            if (
                result.score is Score.ERROR
                and not step.compiled
                and result.note.startswith(ARITHMETIC)
            ):
                result = judged(step.check, True, step.limit + COMPILING)
        except SyntaxError as error:
            return MutantOutcome(GeneratedFate.BROKEN, note=described(error))
        except Exception as error:  # while the module was made: it could not be imported, either
            return MutantOutcome(GeneratedFate.REJECTED, IMPORT, described(error))
        if result.score is Score.ERROR and result.note.partition(":")[0] in HARNESS:
            skipped.append(f"{step.check.id}: {result.note}")
        elif result.score is not Score.PASS:
            return MutantOutcome(GeneratedFate.REJECTED, step.check.id, result.note)
    return MutantOutcome(
        GeneratedFate.BROKEN if skipped and len(skipped) == len(steps) else GeneratedFate.SURVIVED,
        note="; ".join(skipped),
    )


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """The process gets SIGPROF if what follows takes more CPU time."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)


def in_child(work: Callable[[Send], None], seconds: float) -> tuple[list[Any], int]:
    """Do some work in a forked process: all that it sends, and the status with which it ended; -1
    if it was killed for waiting too long.

    seconds  CPU time that the work may take; `work` sets the limit
    """
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        # of threads, which the child does not use
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        os.close(reading)
        _be_child(work, writing)
    os.close(writing)
    data, end, killed, before = b"", monotonic() + WAITING * seconds + PATIENCE, False, ("", "")
    with os.fdopen(reading, "rb", buffering=0) as stream:
        while True:
            if select.select([stream], [], [], PATIENCE)[0]:
                if not (part := stream.read(1 << 16)):
                    break
                data += part
                continue
            state = _state(child)
            if (state[0] == "S" and state == before) or (not state[0] and monotonic() > end):
                os.kill(child, signal.SIGKILL)
                killed = True
                break
            before = state
    status = os.waitpid(child, 0)[1]
    return list(_messages(data)), -1 if killed else status


def _state(process: int) -> tuple[str, str]:
    """Whether a process runs (R), sleeps (S) or else, and the CPU time it has used, in ticks;
    empty where unknown.
    """
    try:
        fields = (
            Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        )
    except OSError:
        return "", ""
    return fields[0], f"{fields[11]} {fields[12]}"


def _be_child(work: Callable[[Send], None], writing: int) -> None:
    """Never returns."""
    code = 1
    try:
        # a collection here would walk and copy the parent's objects, seconds of CPU in a large process
        gc.freeze()
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        faulthandler.disable()
        warnings.simplefilter("ignore")
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        _limit_memory()
        # a pool of threads of the parent does not exist here
        faiss.omp_set_num_threads(1)

        with os.fdopen(writing, "wb") as stream:

            def send(message: Any) -> None:
                data = pickle.dumps(message)
                stream.write(len(data).to_bytes(8, "big") + data)
                stream.flush()

            work(send)
        code = 0
    finally:
        os._exit(code)


def _limit_memory() -> None:
    """A mutant that asks for an array of any size gets a MemoryError.  Linux only, where the
    size of the process is known.
    """
    if sys.platform == "linux":
        import resource

        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        most = pages * resource.getpagesize() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _messages(data: bytes) -> Iterator[Any]:
    while len(data) >= 8:
        size = int.from_bytes(data[:8], "big")
        if len(data) < 8 + size:
            return
        yield pickle.loads(data[8 : 8 + size])
        data = data[8 + size :]
