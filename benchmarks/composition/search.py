"""The search for the smallest part of a mechanism set that loses no more than a margin.

It knows no data: what a set loses is asked of a function, many sets at a time, so that sets which
live the same life are measured together.  Below, n is the number of mechanisms and c that of
constraints.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...engine.base.counts import plural

Part = frozenset[str]  # the mechanisms of a part of the whole set
Floats = NDArray[np.float64]
# what each of some parts loses on every constraint, (parts, c); the whole loses 0.  NaN on
# constraints that were left out, since the part had lost too much on another
Losses = Callable[[Sequence[Part]], Floats]
ROUNDING: Final = 1e-12  # a loss above the margin by less is within it
_LEAST_MARGIN: Final = 1e-6  # unit of losses where the margin is 0
_RUNGS: Final = 5  # numbers of removed mechanisms that are measured at a time
_ENTRANTS: Final = 3  # mechanisms that are tried as re-entries of a part


@dataclass(frozen=True, slots=True)
class Problem:
    """What is searched.

    mechanisms  of the whole set, in its order
    margins     (c,) what a part may lose on each constraint
    cost        of each mechanism; a part costs their sum.  Not negative
    fixed       mechanisms that are never removed, such as the fusion
    requires    mechanism -> those without any one of which it does nothing, so that they leave and
                enter together
    families    mechanism -> its family; families of two or more are removed as wholes, too
    """

    mechanisms: tuple[str, ...]
    margins: tuple[float, ...]
    cost: Mapping[str, float]
    fixed: Part = frozenset()
    requires: Mapping[str, Part] = field(default_factory=dict)
    families: Mapping[str, str] = field(default_factory=dict)

    @property
    def whole(self) -> Part:
        return frozenset(self.mechanisms)

    def cost_of(self, part: Iterable[str]) -> float:
        """Summed in the order of the whole set, so that equal parts cost the same to the bit."""
        held = frozenset(part)
        return float(sum(self.cost[id] for id in self.mechanisms if id in held))

    def without(self, part: Part, off: Collection[str]) -> Part:
        """The part without some mechanisms and without all that require them."""
        left = part - frozenset(off)
        while idle := {id for id in left if not self.requires.get(id, frozenset()) <= left}:
            left -= idle
        return left

    def with_required(self, part: Part, id: str) -> Part:
        """The part with a mechanism and all that it requires."""
        added, waiting = set(part), [id]
        while waiting:
            new = waiting.pop()
            added.add(new)
            waiting += [
                other for other in self.requires.get(new, frozenset()) if other not in added
            ]
        return frozenset(added)

    def removable(self, part: Part) -> list[str]:
        """Mechanisms that can leave a part, in the order of the whole set: no fixed one leaves
        with them, and something stays.
        """
        return [
            id
            for id in self.mechanisms
            if id in part and (rest := self.without(part, [id])) and self.fixed & part <= rest
        ]

    def worst(self, losses: Floats) -> Floats:
        """The largest loss that was measured, in units of its margin, over the last axis: at most 1
        is allowed.
        """
        return np.asarray(np.fmax.reduce(losses / np.maximum(self.margins, _LEAST_MARGIN), axis=-1))

    def allowed(self, losses: Floats) -> NDArray[np.bool_]:
        """Whether no loss is above its margin, over the last axis; no for one left out."""
        return np.asarray((losses <= np.asarray(self.margins) + ROUNDING).all(axis=-1))


@dataclass(frozen=True, slots=True)
class SearchStep:
    """A part that the search accepted.

    how     `growth`, `elimination` or `re-entry`
    part    its mechanisms
    left    mechanisms that left it, compared with the part before
    entered mechanisms that came back
    """

    how: str
    part: Part
    left: tuple[str, ...]
    entered: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search found.

    part      the smallest part that loses no more than the margins
    measured  every part that was measured, in that order, with its losses (c,); `complete` says
              whether on all constraints
    singles   mechanism -> losses of the whole set without it, NaN where others were too large
              already; {} if a part was begun with
    families  family -> the same
    steps     parts that were accepted, one after the other
    """

    part: Part
    measured: Mapping[Part, Floats]
    singles: Mapping[str, Floats]
    families: Mapping[str, Floats]
    steps: tuple[SearchStep, ...]


def complete(lost: Floats) -> bool:
    """Whether losses (c,) were measured on all constraints.

    >>> complete(np.array([0.0, 0.1])), complete(np.array([np.nan, 0.1]))
    (True, False)
    """
    return bool(np.isfinite(lost).all())


def smallest(
    problem: Problem,
    losses: Losses,
    say: Callable[[str], None] | None = None,
    start: Part | None = None,
    briefly: Losses | None = None,
) -> SearchResult:
    """The cheapest part that can be found which loses no more than the margins.

    losses  see `Losses`; equal parts must have equal losses
    say     called with what is measured next
    start   a part to begin with, in place of the whole set
    briefly as `losses`, for parts of which only an allowed one matters: those without one mechanism
            of a part that is no longer whole, and re-entries.  None: `losses`

    Screening: the whole set without each mechanism and without each family.  Elimination: the
    mechanisms of a part are ordered by what they would lose together if losses added up (of members
    of a family at least their share of what the family loses, since substitutes lose nothing
    alone); parts without the first k are measured, the largest allowed k is taken, and the
    remaining part is screened again, until no mechanism can leave alone.  Re-entry: a removed
    mechanism that would gain comes back, if cheaper parts become possible by it.

    The part is allowed, and none without one of its mechanisms is.  A cheaper one may exist, since
    not all 2^n are measured; about 3 n to 8 n are.

    With a part to begin with nothing is screened, which is most of the work in a large set.  While
    that part is not allowed, the mechanism that gains most enters; if none gains, the search begins
    with the whole set after all.
    """
    return _Search(problem, losses, briefly or losses, say or (lambda _: None)).result(start)


class _Search:
    def __init__(
        self, problem: Problem, losses: Losses, briefly: Losses, say: Callable[[str], None]
    ) -> None:
        self.problem, self._losses, self._briefly, self._say = problem, losses, briefly, say
        self.measured: dict[Part, Floats] = {}
        self.steps: list[SearchStep] = []

    def result(self, start: Part | None) -> SearchResult:
        grown = None if start is None else self._grown(start)
        if grown is None:
            return self._from_the_whole()
        part = self._eliminated(grown)
        self._note("elimination", grown, part)
        return SearchResult(self._with_re_entries(part), self.measured, {}, {}, tuple(self.steps))

    def _from_the_whole(self) -> SearchResult:
        problem = self.problem
        whole, families = problem.whole, self._families()
        singles = {id: problem.without(whole, [id]) for id in problem.removable(whole)}
        self._measure(
            "screening: the set without each mechanism and each family",
            [whole, *singles.values(), *families.values()],
        )
        of_families = {name: self.measured[part] for name, part in families.items()}
        part = self._eliminated(whole, of_families=of_families)
        self._note("elimination", whole, part)
        return SearchResult(
            self._with_re_entries(part),
            self.measured,
            {id: self.measured[without] for id, without in singles.items()},
            of_families,
            tuple(self.steps),
        )

    def _note(self, how: str, before: Part, after: Part) -> None:
        order = self.problem.mechanisms
        self.steps.append(
            SearchStep(
                how,
                after,
                tuple(id for id in order if id in before - after),
                tuple(id for id in order if id in after - before),
            )
        )

    def _families(self) -> dict[str, Part]:
        """Family -> the whole set without its members that can leave it."""
        whole, members = self.problem.whole, dict[str, list[str]]()
        for id in self.problem.removable(whole):
            if (family := self.problem.families.get(id)) is not None:
                members.setdefault(family, []).append(id)
        return {
            family: self.problem.without(whole, ids)
            for family, ids in members.items()
            if len(ids) > 1
        }

    # --- elimination ------------------------------------------------------------------------------
    def _eliminated(
        self, part: Part, stays: Part = frozenset(), of_families: Mapping[str, Floats] | None = None
    ) -> Part:
        """A part of an allowed part from which no mechanism can be removed alone.

        stays        mechanisms that are not removed
        of_families  losses of the part without each family, if they are known
        """
        while True:
            ids = [id for id in self.problem.removable(part) if not self._behind(part, id) & stays]
            alone = {id: self.problem.without(part, [id]) for id in ids}
            self._measure(
                f"elimination: {self._size(part)} without each of {len(ids)}",
                alone.values(),
                briefly=True,
            )
            best = self._lowered(part, self._ordered(part, alone, of_families or {}))
            if best == part:
                best = self._cheapest(part, alone.values())
            if best == part:
                return part
            part, of_families = best, None

    def _behind(self, part: Part, id: str) -> Part:
        """What leaves a part with a mechanism."""
        return part - self.problem.without(part, [id])

    def _ordered(
        self, part: Part, alone: Mapping[str, Part], of_families: Mapping[str, Floats]
    ) -> list[str]:
        """Mechanisms in the order in which they should leave, if what they lose adds up."""
        base, cost = self.measured[part], self.problem.cost
        members = {
            name: sum(self.problem.families.get(id) == name for id in alone) for name in of_families
        }
        # what was left out is no reason to stay: another loss was too large already
        added = {
            id: np.nan_to_num(self.measured[without] - base, posinf=np.inf)
            for id, without in alone.items()
        }
        for id in added:
            name = self.problem.families.get(id, "")
            if name in of_families and members[name]:
                share = (of_families[name] - base) / members[name]
                added[id] = np.fmax(added[id], share)
        ordered, total, left = list[str](), base, list(alone)
        while left:
            now = float(self.problem.worst(total))

            def price(id: str, total: Floats = total, now: float = now) -> tuple[float, ...]:
                after = float(self.problem.worst(total + added[id]))
                rise = max(0.0, after - max(now, 0.0))
                return (rise / max(cost[id], ROUNDING), -cost[id], after)

            cheapest = min(left, key=price)  # the first of equals
            ordered.append(cheapest)
            left.remove(cheapest)
            total = total + added[cheapest]
        return ordered

    def _lowered(self, part: Part, ordered: Sequence[str]) -> Part:
        """The part without as many of the first mechanisms as is allowed."""
        parts = [part]
        for count in range(1, len(ordered) + 1):
            if rest := self.problem.without(part, ordered[:count]):
                parts.append(rest)
        low, high = 0, len(parts)  # allowed, and the next larger one that is known not to be
        while high - low > 1:
            rungs = sorted(
                {
                    low + max(1, round((high - low) * place / (_RUNGS + 1)))
                    for place in range(1, _RUNGS + 1)
                }
                - {high}
            )
            self._measure(
                f"elimination: {self._size(part)} without {rungs[0]} to {rungs[-1]} of them",
                [parts[rung] for rung in rungs],
            )
            allowed = [rung for rung in rungs if self._allowed(parts[rung])]
            low = max(allowed, default=low)
            high = min([rung for rung in rungs if rung > low], default=high)
        return parts[low]

    def _cheapest(self, part: Part, parts: Iterable[Part]) -> Part:
        """The cheapest allowed one of some parts, that with the least loss among equals; the part
        itself if none is allowed.
        """
        allowed = [part for part in parts if self._allowed(part)]
        return min(allowed, key=self._price, default=part)

    # --- growth and re-entry ----------------------------------------------------------------------
    def _grown(self, start: Part) -> Part | None:
        """The part with as many mechanisms as it needs to be allowed, with those that stay and all
        that is required; None if no mechanism gains before it is.
        """
        part, whole = start | self.problem.fixed, self.problem.whole
        for id in sorted(part):
            part = self.problem.with_required(part, id)
        self._measure("growth: the whole set and the part to begin with", [whole, part])
        before = start
        while not self._allowed(part):
            wider = [self.problem.with_required(part, id) for id in sorted(whole - part)]
            self._measure(f"growth: {self._size(part)} with each of {len(wider)}", wider)
            known = ~np.isnan(self.measured[part])
            best = min(wider, key=lambda grown: self._worst_of(grown, known))
            if self._worst_of(best, known) >= self._worst_of(part, known):
                return None
            part = best
        self._note("growth", before, part)
        return part

    def _worst_of(self, part: Part, known: NDArray[np.bool_]) -> float:
        """The worst loss of a part on some constraints (c,); infinite if it lost too much before one
        of them was measured.
        """
        lost = self.measured[part]
        return float(
            self.problem.worst(np.where(known, np.where(np.isnan(lost), np.inf, lost), np.nan))
        )

    def _with_re_entries(self, part: Part) -> Part:
        while (better := self._re_entered(part)) is not None:
            self._note("re-entry", part, better)
            part = better
        return part

    def _size(self, part: Part) -> str:
        return plural(len(part), "mechanism")

    def _re_entered(self, part: Part) -> Part | None:
        """A cheaper allowed part that has a removed mechanism, or None."""
        out = [id for id in self.problem.mechanisms if id not in part]
        grown = {id: self.problem.with_required(part, id) for id in out}
        self._measure(
            f"re-entry: {self._size(part)} with each of {len(out)}", grown.values(), briefly=True
        )
        worst = {id: float(self.problem.worst(self.measured[wider])) for id, wider in grown.items()}
        now = float(self.problem.worst(self.measured[part]))
        gaining = sorted((id for id in out if worst[id] < now), key=lambda id: worst[id])
        for id in gaining[:_ENTRANTS]:
            smaller = self._eliminated(grown[id], stays=frozenset([id]))
            if self._allowed(smaller) and self.problem.cost_of(smaller) < (
                self.problem.cost_of(part) - ROUNDING
            ):
                return self._eliminated(smaller)
        return None

    # --- what is measured -------------------------------------------------------------------------
    def _measure(self, what: str, parts: Iterable[Part], *, briefly: bool = False) -> None:
        """Measure the parts that were not, and those that were only briefly, unless that is enough."""
        new = [
            part
            for part in dict.fromkeys(parts)
            if part not in self.measured or not (briefly or complete(self.measured[part]))
        ]
        if not new:
            return
        self._say(what)
        losses = self._briefly if briefly else self._losses
        for part, loss in zip(new, losses(new), strict=True):
            self.measured[part] = np.asarray(loss, np.float64)

    def _allowed(self, part: Part) -> bool:
        return bool(self.problem.allowed(self.measured[part]))

    def _price(self, part: Part) -> tuple[float, float]:
        return self.problem.cost_of(part), float(self.problem.worst(self.measured[part]))
