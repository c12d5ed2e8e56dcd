"""Print the table of docs/results/kernels.md: how often Python calls each kernel, what it costs to
compile, and how much faster than numpy those are that have a form in numpy.

    python docs/tools/kernel_table.py

Small lives call the kernels, in plain Python: of sets that together hold most mechanisms, and of
each other mechanism beside the set `minimal`.  The calls are the most of a life.  Then this process
compiles each kernel, those that it calls first: the seconds are CPU, of the kernel alone.  "in
kernels": Python calls it in no life, kernels do; "plain": a formula that only Python calls, if any
does, which is not compiled.  A kernel works on rows if an array of it has as many rows as the
memory in all its calls, at three sizes of the memory or more.  The ratio is the time of numpy over
that of the kernel, the least of several runs each; "-": no form in numpy.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from time import process_time
from timeit import repeat
from typing import Any

import numba
import numpy as np
from numba.core import event

from hebbarium import engine, mechanisms
from hebbarium.engine.base.kernels import Kernel, declared, in_python
from hebbarium.engine.base.numerics import read_only
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.vocabulary import VETO
from hebbarium.engine.memory.engine import Engine
from hebbarium.testing.conformance import Bench, talk

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

    return (read_only(scores), read_only(stands), 0.5, 16), measure


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


def lives(registry: Registry) -> Iterator[tuple[str, ...]]:
    """The mechanisms of each life; every mechanism of the registry is in one of them."""
    left = set(registry.entries)
    # a gate that refuses events leaves the others little to do
    gates = {id for id in left if any(VETO in h.adds for h in registry.entry(id).load().hooks())}
    for group in sorted(registry.sets.values(), key=lambda s: -len(s.mechanisms)):
        ids = tuple(id for id in group.mechanisms if id not in gates)
        if left & set(ids):
            left -= set(ids)
            yield ids
    for id in sorted(left):
        yield Bench(registry, id, Path()).company


class Calls:
    """What Python calls in lives: calls of a kernel in a life at most, its forms, and whether it
    works on rows.
    """

    def __init__(self) -> None:
        self.most: Counter[Kernel] = Counter()
        self.forms: dict[Kernel, set[tuple[Any, ...]]] = {}
        self._rows: dict[Kernel, dict[int, set[int]]] = {}  # sizes by place of the argument

    def on_rows(self, kernel: Kernel) -> bool:
        return any(len(sizes) > 2 for sizes in self._rows.get(kernel, {}).values())

    def live(self, memory: Engine) -> None:
        """Sixty events, ten questions, what was used and how it served, an archive, and nights."""
        now: Counter[Kernel] = Counter()
        inside = False

        def noted(kernel: Kernel, run: Callable[..., Any], *args: Any, **named: Any) -> Any:
            nonlocal inside
            if inside:
                return run(*args, **named)
            now[kernel] += 1
            self._note(kernel, (*args, *named.values()), memory.store.n)
            inside = True
            try:
                return run(*args, **named)
            finally:
                inside = False

        with in_python() as called, memory:
            for kernel in declared:
                if kernel.compiled:
                    kernel.__call__ = partial(noted, kernel, kernel.__call__)
            for i, event in enumerate(talk(60)):
                memory.encode(event)
                if i % 6 == 5:
                    answer = memory.retrieve(f"What did {event.speaker} do in Lisbon?")
                    memory.use(answer, answer.rows[:2], 1.0 if i % 12 == 5 else -1.0)
            memory.archive(0)
            memory.advance(memory.now + 80.0)
            memory.retrieve("Who painted Oslo?", learn=True)
        self.most |= now
        for kernel, forms in called.items():
            self.forms.setdefault(kernel, set()).update(forms)

    def _note(self, kernel: Kernel, values: tuple[Any, ...], n: int) -> None:
        fits = {
            place
            for place, value in enumerate(values)
            if isinstance(value, np.ndarray) and value.shape[:1] == (n,)
        }
        places = self._rows.setdefault(kernel, {place: set() for place in fits})
        for place in set(places) - fits:
            del places[place]
        for sizes in places.values():
            sizes.add(n)


def path_of(kernel: Kernel) -> str:
    return f"{kernel.py_func.__module__}.{kernel.py_func.__qualname__}"


def seconds(calls: Calls) -> dict[str, float]:
    """CPU seconds to compile all forms, by the path of the function."""
    numba.njit(lambda x: x)(1.0)  # what the first kernel of a process pays
    listener = Seconds()
    with event.install_listener("numba:compile", listener):
        for kernel, forms in sorted(calls.forms.items(), key=lambda form: form[0].name):
            for types in sorted(forms, key=str):
                kernel.dispatcher.compile(types)
    return listener.alone


def main() -> None:
    for package in (engine, mechanisms):
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            import_module(module.name)
    registry, calls = Registry.read(), Calls()
    for ids in lives(registry):
        print(f"a life of {len(ids)} mechanisms, {process_time():.0f} s", file=sys.stderr)
        calls.live(Bench(registry, ids[0], Path()).build(*ids))
    with tempfile.TemporaryDirectory() as folder:
        # numba sets its settings by name at import, which mypy does not see
        numba.config.CACHE_DIR = folder  # type: ignore[attr-defined]
        alone = seconds(calls)
        kernels = [kernel for kernel in declared if path_of(kernel).startswith("hebbarium.")]
        print("| kernel | called | exact | rows | forms | s to compile |", end="")
        print(" at 100 rows | at 10,000 | at 1,000,000 |")
        print("|---|---|---|---|---|---|---|---|---|")
        for kernel in sorted(kernels, key=lambda k: (-alone.get(path_of(k), 0.0), k.name)):
            own = alone.get(path_of(kernel))
            rest = "in kernels" if own is not None else "in no life" if kernel.compiled else "plain"
            called = str(calls.most[kernel] or rest)
            exact, rows = ("yes" if yes else "" for yes in (kernel.exact, calls.on_rows(kernel)))
            case = CASES.get(kernel.name)
            speed = ratios(kernel, case) if case else UNKNOWN
            cells = [f"`{kernel.name}`", called, exact, rows, str(len(calls.forms.get(kernel, ())))]
            cells += ["-" if own is None else f"{own:.2f}", *speed]
            print(f"| {' | '.join(cells)} |")
    others = sum(s for name, s in alone.items() if not name.startswith("hebbarium."))
    print(f"| numba's own | | | | | {others:.2f} | | | |")
    print(f"| all {len(kernels)} | | | | | {sum(alone.values()):.2f} | | | |")


if __name__ == "__main__":
    main()
