"""Several threads for one pass: steps whose declarations leave their order open run at the same
time, and a step may share out its own work.

What a step reads and writes is declared and enforced, so the outcome is that of the steps one after
another, bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from contextvars import copy_context
from heapq import heapify, heappop, heappush
from threading import Condition, Lock, Thread, get_ident
from time import perf_counter
from typing import Final, Protocol

from ..base.sharing import HELPED, alone
from ..base.sharing import threads as available
from ..contract.columns import Signal
from ..flow.dataflow import concurrent_followers
from ..flow.schedule import Node

# threads of one question, if nothing else is asked for: more find nothing to do
MOST: Final = 4
# s after which a thread that waits looks again, as an interruption may cost a notification
HEALS: Final = 0.5


class Lends(Protocol):
    """Keeps something for each thread, or about it."""

    def lend(self) -> Callable[[], AbstractContextManager[None]]:
        """Called by the thread that asks: the context in which a helper does work of this
        thread.
        """
        ...


class Order:
    """Which steps wait for which, by `engine.flow.dataflow.concurrent_followers`.

    followers  of each step, by place: steps that wait for it, without those that wait for another
               follower
    waits      number of steps of which a step is such a follower
    seconds    that each step took in the last pass
    """

    def __init__(self, nodes: Sequence[Node], signals: Sequence[Signal]) -> None:
        self.followers = concurrent_followers(nodes, signals)
        self.waits = [0] * len(nodes)
        for places in self.followers:
            for at in places:
                self.waits[at] += 1
        self.seconds = [0.0] * len(nodes)

    def remaining(self) -> list[float]:
        """Seconds from the start of each step to the end of the last one that waits for it, by
        the last pass.
        """
        seconds = list(self.seconds)
        for at in range(len(seconds) - 1, -1, -1):
            seconds[at] += max((seconds[later] for later in self.followers[at]), default=0.0)
        return seconds


class Crew:
    """The threads of one memory's questions.

    threads  that work on a question, the asking one included

    Helpers live as long as a pass; starting one takes some 60 us.
    """

    def __init__(
        self, threads: int | None, lends: Sequence[Lends], busy: Callable[[], bool]
    ) -> None:
        """threads: None: those of `sharing.threads`, at most 4; lends: what helpers need of the
        asking thread; busy: whether others ask meanwhile.
        """
        self.threads = threads or min(MOST, available())
        self._lends, self._busy = tuple(lends), busy

    def helping(self) -> AbstractContextManager[CrewWork | None]:
        """As `at_work`; yields None, without helpers, while other questions use the processors."""
        return self.at_work() if self.threads > 1 and not self._busy() else nullcontext()

    @contextmanager
    def at_work(self) -> Iterator[CrewWork]:
        """Helpers for what this thread shares out meanwhile (`sharing.in_parts`), and for the
        steps of `CrewWork.run`; they start when there is some.
        """
        contexts, helpers = [lender.lend() for lender in self._lends], list[Thread]()

        def start() -> None:
            for number in range(1, self.threads):
                helpers.append(
                    Thread(
                        target=copy_context().run,
                        args=(work.help, contexts),
                        name=f"helper {number}",
                        daemon=True,
                    )
                )
                with suppress(RuntimeError):  # the system gives no further thread
                    helpers[-1].start()

        work, token = CrewWork(start), None
        try:
            token = HELPED.set(work.share)
            yield work
        finally:
            work.end()
            try:
                for helper in helpers:
                    with suppress(RuntimeError):  # it did not start
                        helper.join()
            finally:
                if token:
                    HELPED.reset(token)


class _Job:
    """Numbered tasks that threads do: parts that a step shares out, or the steps of a pass.
    Changed by one thread at a time.

    ready     tasks that wait for no other, a heap: those with the longest way to the end first,
              ties by number
    left      how many are not done; 0 once one has failed
    doing     threads that do one
    failures  (number, exception)
    """

    def __init__(self, count: int, do: Callable[[int], None], order: Order | None = None) -> None:
        """order: which tasks wait for which; None: none does."""
        self.do, self.left, self._order = do, count, order
        self.doing, self.failures = set[int](), list[tuple[int, BaseException]]()
        self._waits = list(order.waits) if order else [0] * count
        self._rank = [-seconds for seconds in order.remaining()] if order else [0.0] * count
        self.ready = [(self._rank[at], at) for at, waits in enumerate(self._waits) if not waits]
        heapify(self.ready)

    @property
    def over(self) -> bool:
        """Whether no task is left, and no thread does one."""
        return not self.left and not self.doing

    def take(self, thread: int) -> int:
        """The task that a thread is to do; one must be ready."""
        self.doing.add(thread)
        return heappop(self.ready)[1]

    def done(self, at: int, thread: int, seconds: float) -> None:
        """Note that a thread has done a task; tasks that waited for it alone are ready now."""
        self.doing.discard(thread)
        if not self.left:  # another has failed
            return
        self.left -= 1
        if self._order:
            self._order.seconds[at] = seconds
            for later in self._order.followers[at]:
                self._waits[later] -= 1
                if not self._waits[later]:
                    heappush(self.ready, (self._rank[later], later))

    def stop(self) -> None:
        """Begin no further task."""
        self.ready.clear()
        self.left = 0


class CrewWork:
    """What the threads of a question do.  Made by `Crew.at_work`."""

    def __init__(self, start: Callable[[], None]) -> None:
        """start: lets helpers take part; called when there is a task for them."""
        self._start, self._started, self._ended = start, False, False
        # entered itself: an interruption may leave a condition that is entered locked
        self._lock = Lock()
        self._changed = Condition(self._lock)
        self._jobs: list[_Job] = []

    def run(self, order: Order, do: Callable[[int], None]) -> None:
        """Do all steps of a pass, by place, each after those that it waits for; called by the
        thread that asks.

        An exception of a step is raised once no step runs any more; of several exceptions that of
        the step at the first place.
        """
        self._finish(_Job(len(order.waits), do, order), only=False)

    def share(self, count: int, do: Callable[[int], None]) -> None:
        """As `sharing.in_parts`, within a step or by the thread that asks."""
        if count < 2 or self._ended:  # an interruption may leave it in a context
            alone(count, do)
        else:
            self._finish(_Job(count, do), only=True)

    def help(self, contexts: Sequence[Callable[[], AbstractContextManager[None]]]) -> None:
        """Take part as a helper, until the end."""
        with ExitStack() as stack:
            for context in contexts:
                stack.enter_context(context())
            self._take_part(lambda: self._ended, lambda: reversed(self._jobs))

    def end(self) -> None:
        """Let the helpers go."""
        self._ended = True
        with self._lock:
            self._changed.notify_all()

    def _finish(self, job: _Job, only: bool) -> None:
        """Do a job with the help of others; `only`: this thread does nothing else meanwhile."""
        # the thread that asks starts the helpers: no other thread takes part before
        if job.left > 1 and not self._started:
            self._started = True
            self._start()
        with self._lock:
            self._jobs.append(job)
            self._changed.notify_all()
        try:
            self._take_part(
                lambda: job.over, (lambda: (job,)) if only else (lambda: reversed(self._jobs))
            )
        finally:
            with self._lock:
                # after an interruption this thread may be in one
                for shared_job in (job,) if only else self._jobs:
                    shared_job.doing.discard(get_ident())
                job.stop()
                self._changed.notify_all()
                while job.doing:
                    self._changed.wait(HEALS)
                self._jobs.remove(job)
        if job.failures:
            raise min(job.failures, key=lambda failure: failure[0])[1]

    def _take_part(self, finished: Callable[[], bool], jobs: Callable[[], Iterable[_Job]]) -> None:
        """Do one task of these jobs after another, until it is finished; waits while there is
        none.
        """
        me = get_ident()
        while True:
            with self._lock:
                while not (
                    finished()
                    or (job := next((candidate for candidate in jobs() if candidate.ready), None))
                ):
                    self._changed.wait(HEALS)
                if finished():
                    return
                assert job
                at = job.take(me)
            begun = perf_counter()
            try:
                job.do(at)
            except BaseException as error:
                with self._lock:
                    job.failures.append((at, error))
                    job.stop()
            with self._lock:
                job.done(at, me, perf_counter() - begun)
                if job.ready or not job.left:
                    self._changed.notify_all()
