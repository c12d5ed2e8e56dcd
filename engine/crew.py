"""Several threads for one pass: steps whose declarations leave their order open run at the same time, and a step may share out its own work.

What a step reads and writes is declared and enforced, so the outcome is that of the steps one after another, bit for bit.
"""
from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from contextvars import copy_context
from heapq import heapify, heappop, heappush
from threading import Condition, Thread
from time import perf_counter
from typing import Any, Final, Protocol

from .columns import Column, Signal, Structure
from .errors import InputError
from .schedule import Node, followers_of
from .sharing import HELPED
from .vocabulary import INDEX

MOST: Final = 4             # threads of one question, if nothing else is asked for: more find nothing to do
PAYS: Final = 32_768        # rows; in a smaller memory handing work over takes longer than what it saves


class Lends(Protocol):
    """Keeps something for each thread, or about it."""

    def lend(self) -> Callable[[], AbstractContextManager[None]]:
        """Called by the thread that asks: the context in which a helper does work of this thread."""
        ...


class Order:
    """Which steps wait for which: what the schedule demands, and four things more.

    The contributions to a column are added up by the last step that contributes.  Steps that add to one structure do so in turn, and so do steps of
    one mechanism that share a private structure.  The index, and a structure of one question, are first read by one step alone: it computes what the
    others find.

    followers  of each step, by place: steps that wait for it, without those that wait for another follower
    waits      number of steps of which a step is such a follower
    seconds    that each step took in the last pass
    """

    def __init__(self, nodes: Sequence[Node], signals: Sequence[Signal]) -> None:
        place = {node: at for at, node in enumerate(nodes)}
        after = [{place[later] for later in found} for found in followers_of(nodes, signals).values()]
        last: dict[Any, int] = {}
        for at, node in enumerate(nodes):
            for thing in _in_turn(node):
                if thing in last:
                    after[last[thing]].add(at)
                last[thing] = at
        for item in {each for node in nodes for each in (*node.adds, *node.sees)}:
            adders, readers = ([at for at, node in enumerate(nodes) if item in each(node)] for each in (_adds, _sees))
            if isinstance(item, Column):
                for at in adders[:-1]:
                    after[at].add(adders[-1])
            elif item is INDEX or not (item.persists or item.private):
                for at in readers[1:]:
                    after[readers[0]].add(at)
        self.followers = _reduced(after)
        self.waits = [0] * len(nodes)
        for found in self.followers:
            for at in found:
                self.waits[at] += 1
        self.seconds = [0.0] * len(nodes)

    def remaining(self) -> list[float]:
        """Seconds from the start of each step to the end of the last one that waits for it, by the last pass."""
        found = list(self.seconds)
        for at in range(len(found) - 1, -1, -1):
            found[at] += max((found[later] for later in self.followers[at]), default=0.0)
        return found


def _adds(node: Node) -> Sequence[Any]:
    return node.adds


def _sees(node: Node) -> frozenset[Any]:
    return node.sees


def _in_turn(node: Node) -> list[Any]:
    """What one step at a time may use, in order."""
    return [(item, node.owner if item.private else "") for item in dict.fromkeys((*node.adds, *node.sets, *node.sees))
            if isinstance(item, Structure) and (item.private or item in node.adds)]


def _reduced(after: Sequence[set[int]]) -> list[tuple[int, ...]]:
    """The followers without those that wait for another follower; all are at later places."""
    reached: list[set[int]] = [set() for _ in after]
    found: list[tuple[int, ...]] = [()] * len(after)
    for at in range(len(after) - 1, -1, -1):
        beyond = set[int]().union(*(reached[later] for later in after[at]))
        found[at] = tuple(sorted(after[at] - beyond))
        reached[at] = after[at] | beyond
    return found


class Crew:
    """The threads of one memory's questions.

    threads  that work on a question, the asking one included
    least    rows of a memory whose questions they answer sooner

    Helpers live as long as a pass; starting one takes some 60 us.
    """

    def __init__(self, threads: int | None, lends: Sequence[Lends], busy: Callable[[], bool]) -> None:
        """threads: None: as many as processors, at most 4; lends: what helpers need of the asking thread; busy: whether others ask at the same time.

        Raises InputError.
        """
        if threads is not None and (isinstance(threads, bool) or not isinstance(threads, int) or threads < 1):
            raise InputError(f"threads is {threads!r}", where="threads", cure="give how many threads work on one question, from 1 on, or None")
        self.threads, self.least = threads or min(MOST, _processors()), PAYS
        self._lends, self._busy = tuple(lends), busy

    def pays(self, rows: int) -> bool:
        """Whether a question to so many rows is answered sooner by several threads: not while others are answered, which use the processors."""
        return self.threads > 1 and rows >= self.least and not self._busy()

    @contextmanager
    def helping(self) -> Iterator[Work]:
        """Helpers for what this thread shares out meanwhile, see `sharing.shared`, and for the steps of `Work.run`; they start when there is some."""
        contexts, helpers = [each.lend() for each in self._lends], list[Thread]()

        def start() -> None:
            for number in range(1, self.threads):
                helper = Thread(target=copy_context().run, args=(work.help, contexts), name=f"helper {number}", daemon=True)
                with suppress(RuntimeError):        # the system gives no further thread
                    helper.start()
                    helpers.append(helper)

        work = Work(start)
        token = HELPED.set(work.share)
        try:
            yield work
        finally:
            work.end()
            for helper in helpers:
                helper.join()
            HELPED.reset(token)


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Parts:
    """Work in parts of which some are done.  Changed by one thread at a time.

    running   parts that are being done
    failures  (part, exception)
    """

    def __init__(self, count: int, do: Callable[[int], None]) -> None:
        self.do, self.count, self.taken, self.running = do, count, 0, 0
        self.failures: list[tuple[int, BaseException]] = []

    def take(self) -> int:
        """The next part, -1: none is left."""
        if self.taken == self.count:
            return -1
        self.taken, self.running = self.taken + 1, self.running + 1
        return self.taken - 1

    def run(self, part: int) -> None:
        try:
            self.do(part)
        except BaseException as error:
            self.failures.append((part, error))
            self.taken = self.count


class Work:
    """What the threads of a question can do: parts that one of them shares out, and steps.  Made by `Crew.helping`."""

    def __init__(self, start: Callable[[], None]) -> None:
        """start: lets helpers take part; called once."""
        self._start, self._started = start, False
        self._changed, self._ended = Condition(), False
        self._parts: list[_Parts] = []              # of which some are left
        self._ready: list[tuple[float, int]] = []   # steps that can be done: minus the seconds to the end, place
        self._left = self._running = 0              # steps that are not done, and that threads are doing
        self._failures: list[tuple[int, BaseException]] = []
        self._step: Callable[[int], None] = _nothing

    def run(self, order: Order, do: Callable[[int], None]) -> None:
        """Do all steps, by place: each after those that it waits for, those with the longest way to the end first.

        An exception of a step is raised once no step runs any more; of several that of the first place.
        """
        self._call_helpers()
        waits, remaining = list(order.waits), order.remaining()

        def step(at: int) -> None:
            begun = perf_counter()
            do(at)
            order.seconds[at] = perf_counter() - begun
            with self._changed:
                for later in order.followers[at]:
                    waits[later] -= 1
                    if not waits[later] and self._left:     # none is left once a step has failed
                        heappush(self._ready, (-remaining[later], later))

        with self._changed:
            self._step, self._left = step, len(waits)
            self._ready = [(-remaining[at], at) for at, each in enumerate(waits) if not each]
            heapify(self._ready)
            self._changed.notify_all()
        try:
            self._take_part(lambda: not self._left)
        finally:
            with self._changed:
                self._ready, self._left = [], 0
                while self._running:
                    self._changed.wait()
        if self._failures:
            raise min(self._failures, key=lambda failure: failure[0])[1]

    def share(self, count: int, do: Callable[[int], None]) -> None:
        """As `sharing.shared`."""
        parts = _Parts(count, do)
        if count > 1:
            self._call_helpers()
        with self._changed:
            if count > 1:
                self._parts.append(parts)
                self._changed.notify_all()
            at = self._taken(parts)
        while at >= 0:
            self._run(parts, at)
            with self._changed:
                at = self._taken(parts)
        with self._changed:
            while parts.running:
                self._changed.wait()
        if parts.failures:
            raise min(parts.failures, key=lambda failure: failure[0])[1]

    def _call_helpers(self) -> None:
        if not self._started:       # by the thread that asks, as no other takes part before
            self._started = True
            self._start()

    def help(self, contexts: Sequence[Callable[[], AbstractContextManager[None]]]) -> None:
        """Take part as a helper, until the end."""
        with ExitStack() as stack:
            for context in contexts:
                stack.enter_context(context())
            self._take_part(lambda: self._ended)

    def end(self) -> None:
        """Let the helpers go."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def _take_part(self, finished: Callable[[], bool]) -> None:
        """Do one part or step after another."""
        while True:
            with self._changed:
                while not (self._parts or self._ready or finished()):
                    self._changed.wait()
                if finished():
                    return
                parts = self._parts[0] if self._parts else None
                at = self._taken(parts) if parts else heappop(self._ready)[1]
                self._running += parts is None
            if parts:
                self._run(parts, at)
            else:
                self._do(at)

    def _do(self, at: int) -> None:
        failures = list[tuple[int, BaseException]]()
        try:
            self._step(at)
        except BaseException as error:
            failures.append((at, error))
        with self._changed:
            self._running -= 1
            self._left -= self._left > 0
            if failures:
                self._failures += failures
                self._ready, self._left = [], 0
            self._changed.notify_all()

    def _taken(self, parts: _Parts) -> int:
        """The next of some parts, -1: none is left.  The last one leaves nothing for others."""
        at = parts.take()
        if parts.taken == parts.count and parts in self._parts:
            self._parts.remove(parts)
        return at

    def _run(self, parts: _Parts, at: int) -> None:
        parts.run(at)
        with self._changed:
            parts.running -= 1
            if not parts.running:
                self._changed.notify_all()


def _nothing(at: int) -> None:
    return
