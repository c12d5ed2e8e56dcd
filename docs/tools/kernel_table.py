"""Print the table of docs/results/kernels.md: what the kernels of a set cost to compile, and how much
faster than numpy those are that work on rows.

    python docs/tools/kernel_table.py [SET]

A process of its own compiles each kernel, those that it calls first: the seconds are CPU, of the
kernel alone.  "in kernels": Python never calls it, others do.  The ratio is the time of numpy over
that of the kernel, the least of several runs each; "-": it works on no rows of a memory, or has no
form in numpy.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from functools import partial
from importlib import import_module
from time import process_time
from timeit import repeat
from typing import Any

import numba
import numpy as np
from numba.core import event

from hebbarium.engine.base.kernels import Kernel
from hebbarium.engine.base.numerics import read_only
from hebbarium.warming import forms_of

ROWS = (100, 10_000, 1_000_000)
UNKNOWN = ["-"] * len(ROWS)
Case = tuple[tuple[Any, ...], Callable[[], Any]]  # arguments of the kernel, and the same in numpy


class Seconds(event.Listener):
    """CPU seconds by function, those of the functions that it compiles left out."""

    def __init__(self) -> None:
        self.alone: dict[str, float] = {}
        self._open: list[list[float]] = []

    def on_start(self, event: Any) -> None:
        self._open.append([process_time(), 0.0])

    def on_end(self, event: Any) -> None:
        start, inner = self._open.pop()
        whole, function = process_time() - start, event.data["dispatcher"].py_func
        name = f"{function.__module__}.{function.__qualname__}"
        self.alone[name] = self.alone.get(name, 0.0) + whole - inner
        if self._open:
            self._open[-1][1] += whole


def floats(n: int, dtype: type = np.float64, seed: int = 0) -> Any:
    return np.random.default_rng(seed).random(n).astype(dtype)


def add_scaled(n: int) -> Case:
    scores, out = floats(n, np.float32), np.zeros(n)

    def add() -> None:
        np.add(out, 2.0 * (np.where(np.isnan(scores), 0.5, scores) - 0.1 - 0.2), out=out)

    return (read_only(scores), 0.5, 0.1, 0.2, 2.0, out), add


def moments(n: int) -> Case:
    scores, stands = floats(n, np.float32), np.ones(n, np.float32)

    def measure() -> Any:
        heard = np.where(np.isnan(scores), 0.5, scores.astype(np.float64))
        mean = np.average(heard, weights=stands)
        sd = np.sqrt(np.average((heard - mean) ** 2, weights=stands))
        return ((scores <= mean - 32 * sd) | (scores >= mean + 32 * sd)).any()

    return (read_only(scores), read_only(stands), 0.5), measure


def heap(n: int) -> Case:
    scores, visible = floats(n, np.float32), np.ones(n, np.bool_)
    kept, rows = np.empty(10, np.float32), np.empty(10, np.int64)

    def part() -> Any:
        shown = np.flatnonzero(visible & (scores == scores))
        return shown[np.argpartition(-scores[shown], 9)[:10]]

    return (read_only(scores), read_only(visible), kept, rows), part


def asker_prior(n: int) -> Case:
    role, out = (floats(n) < 0.3).astype(np.int8), np.zeros(n)

    def add() -> None:
        out[role == 1] += 0.5

    return (role, 1, 0.5, out), add


def answer_prior(n: int) -> Case:
    holds, out = floats(n) < 0.3, np.zeros(n)

    def add() -> None:
        out[holds] += 0.5

    return (holds, 0.5, out), add


def telling(n: int) -> Case:
    told, asked, out = floats(n), floats(n, seed=1), np.zeros(n)
    told[::3] = np.nan

    def add() -> None:
        np.subtract(out, np.nan_to_num(0.5 * (1.0 - told / (told + asked + 2.0))), out=out)

    return (told, asked, 0.5, 2.0, out), add


def sampling(n: int) -> Case:
    product, visible, out = np.log(floats(n)), np.ones(n, np.float32), np.empty(n)
    product[floats(n, seed=1) < 0.9] = -1.0  # most memories match no cue

    def sample() -> Any:
        strengths = np.where(visible > 0.0, np.exp(product - product.max()), 0.0)
        return strengths / (strengths * visible).sum()

    return (product, visible, out), sample


def log_recall(n: int) -> Case:
    sampled, total, cued, out = floats(n) / n, floats(n, seed=1), floats(n, seed=2) < 0.1, floats(n)

    def recall() -> None:
        rows = np.flatnonzero(cued)
        p = -np.expm1(30.0 * np.log1p(-sampled[rows])) * -np.expm1(-total[rows])
        out[rows] = np.maximum(np.log(p), -9.0)

    return (sampled, total, cued, 30.0, -9.0, out), recall


def add_traces(n: int) -> Case:
    trace, traced, out = np.where(floats(n) < 0.9, 0.0, -1.0), floats(n, seed=1), np.zeros(n)

    def add() -> None:
        rows = np.flatnonzero(trace)
        out[rows] += trace[rows] * np.exp((traced[rows] - 9.0) / 24.0)

    return (9.0, trace, traced, 24.0, out), add


def driven(n: int) -> Case:
    active, given, trace, out = floats(n), floats(n, seed=1), floats(n, seed=2) - 0.5, np.empty(n)

    def drive() -> Any:
        weaker = active * (given + (1.0 - given) * np.exp(trace))
        return np.where(trace <= 0.0, weaker, active / (active + (1.0 - active) * np.exp(-trace)))

    return (active, given, trace, out), drive


def extremes(n: int) -> Case:
    cosine, stands = floats(n, np.float32), np.ones(n, np.float32)

    def measure() -> Any:
        shown = cosine[stands > 0].astype(np.float64)
        return np.partition(shown, -2)[-2:], shown.mean(), shown.std()

    return (cosine, stands), measure


CASES: dict[str, Callable[[int], Case]] = {
    "engine.state.ranking.add_scaled": add_scaled,
    "engine.state.ranking._moments": moments,
    "engine.state.ranking._heap": heap,
    "mechanisms.retrieval.asker_prior.add_prior": asker_prior,
    "mechanisms.retrieval.answer_type.add_prior": answer_prior,
    "mechanisms.retrieval.adjacency_pairs.add_telling": telling,
    "mechanisms.retrieval.sampling_recovery.sampling": sampling,
    "mechanisms.retrieval.sampling_recovery.log_recall": log_recall,
    "mechanisms.retrieval.retrieval_competition.add_traces": add_traces,
    "mechanisms.retrieval.retrieval_competition.driven": driven,
    "mechanisms.retrieval.pattern_completion_threshold.extremes": extremes,
}


def ratios(kernel: Kernel, case: Callable[[int], Case]) -> list[str]:
    shown = []
    for n in ROWS:
        arguments, in_numpy = case(n)
        compiled = kernel.dispatcher  # an exact kernel would begin in Python
        compiled(*arguments)
        if not compiled.signatures:
            raise RuntimeError(f"{kernel.name} runs in Python")
        runs = max(1, 200_000 // n)
        own_s, numpy_s = (
            min(repeat(call, number=runs, repeat=7, timer=process_time))
            for call in (partial(compiled, *arguments), in_numpy)
        )
        shown.append(f"{numpy_s / own_s:.1f}")
    return shown


def main(set_name: str = "waking") -> None:
    forms = forms_of(set_name)
    with tempfile.TemporaryDirectory() as folder:
        # numba sets its settings by name at import, which mypy does not see
        numba.config.CACHE_DIR = folder  # type: ignore[attr-defined]
        numba.njit(lambda x: x)(1.0)  # what the first kernel of a process pays
        listener = Seconds()
        with event.install_listener("numba:compile", listener):
            for kernel, types in forms:
                kernel.dispatcher.compile(types)
        print("| kernel | forms | s to compile | at 100 rows | at 10,000 | at 1,000,000 |")
        print("|---|---|---|---|---|---|")
        own = {kernel.py_func.__module__ + "." + kernel.py_func.__qualname__ for kernel, _ in forms}
        inner = {
            name.partition(".")[2]: seconds
            for name, seconds in listener.alone.items()
            if name not in own and name.startswith("hebbarium.")
        }
        others = sum(s for name, s in listener.alone.items() if name not in own)
        others -= sum(inner.values())
        rows = [(seconds, f"`{name}`, in kernels", "-", UNKNOWN) for name, seconds in inner.items()]
        for kernel, number in Counter(kernel for kernel, _ in forms).items():
            full = f"{kernel.py_func.__module__}.{kernel.py_func.__qualname__}"
            case = CASES.get(kernel.name)
            speed = ratios(kernel, case) if case else UNKNOWN
            rows.append((listener.alone.get(full, 0.0), f"`{kernel.name}`", str(number), speed))
        for seconds, name, number, speed in sorted(rows, key=lambda row: -row[0]):
            print(f"| {name} | {number} | {seconds:.2f} | {' | '.join(speed)} |")
        print(f"| numba's own | | {others:.2f} | | | |")
        print(f"| all | | {sum(listener.alone.values()):.2f} | | | |")


if __name__ == "__main__":
    import_module("hebbarium.api")
    main(*sys.argv[1:])
