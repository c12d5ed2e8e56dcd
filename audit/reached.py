"""What the engine checks of a mechanism reach: which hooks the engine calls, and which equations
the hooks compute.

A check runs on a copy of the module in which functions that are no kernels, and methods, report the
statements that run and that name the kernel of a claimed equation, or a kernel that calls it.  A
statement counts if the engine called a hook of the plug-in and the hook has not returned.  An
equation is reached if a statement that counts leads to it: a call graph of the kernels, from the
statements that ran.
"""

from __future__ import annotations

import functools
import types
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ..engine.catalogue.registry import Entry
from ..engine.flow.view import View
from .mutation import building
from .mutation.building import Original
from .mutation.sites import below, bound, loaded


@dataclass(frozen=True, slots=True)
class HookReach:
    """A hook of the plug-in.

    phase   the phase in which the engine calls it
    checks  ids of the gating checks that pass and in which the engine called it
    scales  time scales at which it was called in them
    """

    name: str
    phase: str
    checks: tuple[str, ...]
    scales: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class EquationReach:
    """An equation of a paper in the entry.

    path     hook and kernels that lead to it; empty: no hook reaches it
    library  whether the entry takes it out of the claim
    """

    id: str
    path: tuple[str, ...]
    library: bool = False

    @property
    def reached(self) -> bool:
        return bool(self.path)


@dataclass(frozen=True, slots=True)
class MechanismReach:
    """Hooks and claimed equations of one mechanism."""

    hooks: tuple[HookReach, ...]
    equations: tuple[EquationReach, ...]

    @property
    def checks(self) -> frozenset[str]:
        """Ids of the engine checks: those in which the engine called a hook."""
        return frozenset(id for hook in self.hooks for id in hook.checks)


# hook -> time scales and statements
_Seen = dict[str, tuple[set[float], set[building.Reached]]]


class Watch:
    """A mechanism's module whose checks are watched.

    module  the copy of the module that reports; checks run on it

    Raises OSError if the source cannot be read.
    """

    def __init__(self, entry: Entry) -> None:
        self._entry, self._original = entry, Original(entry)
        # statements that ran since the innermost hook began that the engine called
        self._ran: set[building.Reached] = set()
        self._by_check: dict[str, _Seen] = {}
        self._current: _Seen = {}
        self.module = self._original.watched(
            self._ran.add,
            {number for number, names in self._names_at.items() if names & self._leading},
        )
        name = entry.path.partition(":")[2]
        self._class = getattr(self.module, name, None)
        # defined elsewhere: leave it as it is
        if self._class is not None and self._class is getattr(self._original.module, name):
            self._class = types.new_class(
                name,
                (self._class,),
                {},
                lambda space: space.update(__module__=self.module.__name__),
            )
            setattr(self.module, name, self._class)
        for hook in self._class.hooks() if self._class else ():
            setattr(
                self._class, hook.name, self._reporting(hook.name, getattr(self._class, hook.name))
            )

    @contextmanager
    def check(self, id: str) -> Iterator[None]:
        """Watch one check; imports find the watched module meanwhile."""
        self._current = self._by_check[id] = {}
        with building.installed(self.module):
            yield

    def reach(self, passing: Sequence[str]) -> MechanismReach:
        """What the checks with these ids reach."""
        hooks, places = [], dict[str, set[int]]()
        for hook in self._class.hooks() if self._class else ():
            seen = [
                (id, self._by_check[id][hook.name])
                for id in passing
                if hook.name in self._by_check.get(id, {})
            ]
            scales = tuple(sorted({s for _, (used_scales, _) in seen for s in used_scales}))
            hooks.append(
                HookReach(hook.name, hook.phase.value, tuple(id for id, _ in seen), scales)
            )
            places[hook.name] = {number for _, (_, ran) in seen for _, number in ran}
        return MechanismReach(
            tuple(hooks),
            tuple(
                EquationReach(e.id, self._path(e.id, places), e.library)
                for e in self._entry.equations
                if e.paper
            ),
        )

    def _reporting(self, name: str, function: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(function)
        def hook(mechanism: Any, view: Any, what: Any) -> None:
            if not isinstance(view, View):  # called by a check, not by the engine
                return function(mechanism, view, what)
            scales, statements = self._current.setdefault(name, (set(), set()))
            scales.add(float(mechanism.params.time_scale))
            outside = self._ran.copy()
            self._ran.clear()
            try:
                return function(mechanism, view, what)
            finally:
                statements |= self._ran
                self._ran.clear()
                self._ran |= outside

        return hook

    def _path(self, equation: str, places: dict[str, set[int]]) -> tuple[str, ...]:
        """The shortest path from a hook through names of the module to an equation; empty if
        there is none.
        """
        start: list[tuple[str, tuple[str, ...]]] = [
            (name, (hook,))
            for hook, statements in places.items()
            for s in sorted(statements)
            for name in sorted(self._names_at.get(s, ()))
        ]
        waiting, seen = deque(start), set[str]()
        while waiting:
            name, path = waiting.popleft()
            if name in seen:
                continue
            seen.add(name)
            if name == equation:
                return (*path, name)
            waiting.extend((other, (*path, name)) for other in sorted(self._calls.get(name, ())))
        return ()

    @functools.cached_property
    def _names_at(self) -> dict[int, frozenset[str]]:
        """Names that each statement inside a function reads, without those of the statements
        inside it.
        """
        part = self._original.parts[0]
        return {part.numbered[s]: building.names_of(s) for top in part.tops for s, *_ in below(top)}

    @functools.cached_property
    def _leading(self) -> frozenset[str]:
        """The claimed equations of papers, and the names that lead to them."""
        leading = {e.id for e in self._entry.equations if e.paper}
        while more := {n for n, read in self._calls.items() if read & leading} - leading:
            leading |= more
        return frozenset(leading)

    @functools.cached_property
    def _calls(self) -> dict[str, frozenset[str]]:
        """For each kernel and each value of the module, the names it reads; functions that
        report are left out, since what runs in them is known.
        """
        part, reporting = self._original.parts[0], self._original.reporting
        return {
            name: loaded(top) for top in part.tops if top not in reporting for name in bound(top)
        }
