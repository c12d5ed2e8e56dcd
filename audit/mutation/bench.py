"""A mechanism's evidence, measured once on the original and run on its mutants.

Every gating check runs once on the unchanged module in plain Python, where each statement records
that it ran.  A mutant meets only the checks that run its statement, the cheapest first.  A check
that is slow in plain Python, or does not pass in it, runs with the changed kernels compiled.
"""

from __future__ import annotations

import math
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from time import process_time
from typing import Any, Final

from ...engine.catalogue.registry import Registry
from ...engine.catalogue.stand_ins import checked_instance
from ..checks import Check, CheckKind, CheckResult, Score, evidence_of, judge
from ..collect import evidence_module, exhibit_of
from ..references import of_registry
from ..specimen import Specimen
from ..static import Exhibit
from ..static import evidence as static_evidence
from . import building, numbers
from .building import Change, Original, Reached
from .numbers import Number
from .trial import GeneratedFate, MutantOutcome, Step, tried

# s of a check in plain Python up to which no kernel is compiled for it
PLAIN_ENOUGH: Final = 0.5
# s in plain Python after which a check is stopped, and run with compiled kernels only
LONGEST: Final = 1.5
SHORTEST: Final = 0.3  # s after which it is stopped when PATIENCE is used up
PATIENCE: Final = 5.0  # s to spend on checks of one mechanism that are stopped
PER_KERNEL: Final = 0.7  # s, about what it takes to compile a kernel
NOT_REACHED: Final = MutantOutcome(GeneratedFate.NOT_REACHED)


@dataclass(frozen=True, slots=True)
class TimedCheck:
    """A check on the original.

    plain, compiled  CPU time, s; None if not measured, or if it does not pass
    reached          statements that it runs; None: unknown
    """

    check: Check
    plain: float | None
    compiled: float | None
    reached: frozenset[Reached] | None

    @property
    def cost(self) -> int:
        """Seconds in plain Python, or compiled, to a power of two, so that the order of checks
        hardly depends on the load of the machine.
        """
        return round(
            math.log2(max(self.plain if self.plain is not None else self.compiled or 0.0, 1e-3))
        )


class MutationBench:
    """The gating checks of a mechanism, and their run on its mutants.

    static    whether the static checks judge numbers, too
    unusable  checks that do not pass on the original: id, and why
    """

    def __init__(self, id: str, registry: Registry, *, static: bool = True) -> None:
        self.registry, self.original = registry, Original(registry.entry(id))
        self.unusable: dict[str, str] = {}
        self._static = static_evidence() if static else ()
        self._evidence = evidence_module(registry.entry(id), registry)
        with numbers.installed(registry):
            # for this process, and for forked ones
            self._measured, self._untouched = self._checks(), self._checks()
        self._plans: dict[str, TimedCheck | None] = {}
        self._patience = PATIENCE

    def change(self, change: Change, *, lazily: bool = False) -> MutantOutcome:
        """Run the evidence on a change of the source.  `lazily` measures a check only when a
        mutant needs it, and so in the order of the file.
        """
        reach, outcome = self.original.reach(change), NOT_REACHED
        made: dict[bool, Any] = {}

        def run(check: Check, compiled: bool) -> CheckResult:
            if not made:
                numbers.forget()
            if compiled not in made:
                made[compiled] = (
                    self.original.compiled(change) if compiled else self.original.plain(change)
                )
            with building.installed(made[compiled]), numbers.installed(self.registry):
                return judge(check, self._specimen(made[compiled]))

        for plans in ([p] for p in self._lazily()) if lazily else [self._ordered]:
            steps = [self._step(p, change) for p in plans if p.reached is None or p.reached & reach]
            if steps:
                outcome = tried(steps, run)
            if outcome.fate not in (GeneratedFate.SURVIVED, GeneratedFate.NOT_REACHED):
                break
        return outcome

    def number(self, number: Number) -> MutantOutcome:
        """Run the evidence, imported again, and the static checks under a registry with another
        number.
        """
        registry = numbers.changed(
            self.registry, self.original.entry.id, number.parameter, number.value, number.unit
        )
        steps, reads = self._of_numbers
        if numbers.refused(registry, self.original.entry.id):
            return MutantOutcome(GeneratedFate.REFUSED, note="outside the bounds in the registry")
        fresh: dict[str, Check] = {}

        def run(check: Check, compiled: bool) -> CheckResult:
            if not fresh:
                numbers.forget()
            with numbers.installed(registry):
                fresh.update({c.id: c for c in self._checks()} if not fresh else {})
                return (
                    judge(check, self._exhibit(registry))
                    if check.kind is CheckKind.STATIC
                    else judge(fresh[check.id], self._specimen())
                )

        outcome = tried(steps, run) if steps else NOT_REACHED
        return NOT_REACHED if outcome.fate is GeneratedFate.SURVIVED and not reads else outcome

    # --- measuring --------------------------------------------------------------------------------
    def _checks(self) -> Sequence[Check]:
        return (
            [c for c in evidence_of(numbers.fresh_evidence(self._evidence)).checks if c.gates]
            if self._evidence
            else []
        )

    def _specimen(self, module: Any = None) -> Specimen:
        return Specimen(self.original.entry.id, module or self.original.module)

    def _exhibit(self, registry: Registry) -> Exhibit:
        return exhibit_of(registry.entry(self.original.entry.id), registry, of_registry(registry))

    @cached_property
    def _ordered(self) -> list[TimedCheck]:
        return sorted(self._lazily(), key=lambda plan: plan.cost)

    def _lazily(self) -> Iterator[TimedCheck]:
        for place, check in enumerate(self._measured):
            if check.id not in self._plans:
                self._plans[check.id] = self._plan(check, self._untouched[place])
            if plan := self._plans[check.id]:
                yield plan

    def _step(self, plan: TimedCheck, change: Change) -> Step:
        compiling = (
            PER_KERNEL * self.original.kernels_behind(change)
            if plan.compiled is not None
            else math.inf
        )
        plain = plan.plain is not None and plan.plain <= max(
            PLAIN_ENOUGH, (plan.compiled or 0.0) + compiling
        )
        return Step(plan.check, not plain, (plan.plain if plain else plan.compiled) or 0.0)

    def _plan(self, check: Check, untouched: Check) -> TimedCheck | None:
        self._hits.clear()
        with building.installed(self._marked), numbers.installed(self.registry):
            plain, passed, why = _timed(
                check, self._specimen(self._marked), max(SHORTEST, min(LONGEST, self._patience))
            )
        self._patience -= 0.0 if passed else plain
        reached = frozenset(self._hits) if passed else None
        if passed and plain <= PLAIN_ENOUGH:
            return TimedCheck(untouched, plain, None, reached)
        with numbers.installed(self.registry):
            compiled, passed_compiled, why = _timed(check, self._specimen())
        if not passed and not passed_compiled:
            self.unusable[check.id] = why
            return None
        return TimedCheck(
            untouched, plain if passed else None, compiled if passed_compiled else None, reached
        )

    @cached_property
    def _hits(self) -> set[Reached]:
        return set()

    @cached_property
    def _marked(self) -> Any:
        return self.original.marked(self._hits.add)

    @cached_property
    def _of_numbers(self) -> tuple[list[Step], bool]:
        """The checks for numbers, the static ones first and then those that look one up, and
        whether any check of the evidence does.
        """
        # raises here, so that no mutant is REFUSED for an error of the original
        checked_instance(self.registry, self.original.entry.id)
        names: list[str] = []
        registry = numbers.watched(self.registry, self.original.entry.id, names.append)
        readers: list[Step] = []
        others: list[Step] = []
        static: list[Step] = []
        with numbers.installed(registry):
            start = process_time()
            checks = self._checks()
            reads, loading = bool(names), process_time() - start
            for check in (*checks, *(self._static if checks else ())):
                names.clear()
                of = self._exhibit(registry) if check.kind is CheckKind.STATIC else self._specimen()
                seconds, passed, why = _timed(check, of)
                step = Step(check, False, loading + seconds)
                if not passed:
                    self.unusable[check.id] = why
                elif check.kind is not CheckKind.STATIC:
                    (readers if names else others).append(step)
                elif names:
                    static.append(step)
        reads = reads or bool(readers)
        ordered = [
            step for steps in (readers, others) for step in sorted(steps, key=lambda s: s.seconds)
        ]
        return [*static, *(ordered if reads else ())], reads


class _TooLong(BaseException):
    """Not an Exception, which a check would turn into a score."""


def _timed(check: Check, of: Any, longest: float = math.inf) -> tuple[float, bool, str]:
    """CPU time of a check, whether it passes, and why it does not; one that takes too long does
    not.
    """
    start = process_time()
    try:
        with _interrupted(longest):
            result = judge(check, of)
    except _TooLong:
        return process_time() - start, False, f"takes more than {longest:g} s"
    return (
        process_time() - start,
        result.score is Score.PASS,
        f"{result.score} on the original: {result.note}",
    )


@contextmanager
def _interrupted(seconds: float) -> Iterator[None]:
    """Raise _TooLong in what follows once it has taken that much CPU time."""
    if math.isinf(seconds):
        yield
        return
    armed = True

    def interrupt(number: int, frame: Any) -> None:
        if armed:
            raise _TooLong

    before = signal.signal(signal.SIGPROF, interrupt)
    signal.setitimer(signal.ITIMER_PROF, seconds, 0.5)  # again, if a check catches the first
    try:
        yield
    finally:
        armed = False
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)
