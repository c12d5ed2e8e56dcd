"""Links of a memory topology: order, caps, redirection, pruning without orphans, and how far
archived units are from the visible ones.

A bank has units with a vector, a time and visibility, and directed links of four kinds (All-Mem,
appendix B; its formulas are those of the issue):

    TEMPORAL  to an older unit             (t_v, -v)               latest predecessor first
    SEMANTIC  to a similar unit            (cos(e_u, e_v), t_v, -v)  most similar first
    VERSION   new unit to an archived one  (t_v, -v)               latest first
    SIBLING   among segments of one unit   (cos(e_u, e_v), -v)     most similar first

Trim keeps the first K links in this order.  Every rule is a function of the set of links, so the
order in which links were made has no effect.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ...engine.state.graph import EdgeType

KINDS = (EdgeType.TEMPORAL, EdgeType.SEMANTIC, EdgeType.VERSION, EdgeType.SIBLING)
Vector = NDArray[np.float32]


class Bank(Protocol):
    """Units and marked links, as the rules and the executor use them.  Units are numbers; a
    greater number is a later unit.
    """

    def exists(self, unit: int) -> bool: ...
    def visible(self, unit: int) -> bool: ...
    def time(self, unit: int) -> float: ...
    def vector(self, unit: int) -> Vector: ...
    def targets(self, unit: int, kind: EdgeType) -> list[int]: ...
    def sources(self, unit: int, kind: EdgeType) -> list[int]: ...
    def link(self, source: int, target: int, kind: EdgeType) -> None: ...
    def unlink(self, source: int, target: int, kind: EdgeType) -> None: ...
    def archive(self, unit: int) -> None: ...
    def describe(self, unit: int, vector: Vector) -> None: ...
    def nearest(self, unit: int, k: int) -> list[int]: ...


@dataclass(frozen=True, slots=True)
class Caps:
    """Most outgoing links of a unit by kind; 0: no cap."""

    temporal: int = 1
    semantic: int = 8
    version: int = 0
    sibling: int = 4

    def of(self, kind: EdgeType) -> int:
        return {
            EdgeType.TEMPORAL: self.temporal,
            EdgeType.SEMANTIC: self.semantic,
            EdgeType.VERSION: self.version,
            EdgeType.SIBLING: self.sibling,
        }[kind]


def cosine(one: Vector, other: Vector) -> float:
    """The product of two unit vectors, summed in double precision.  O(d).

    >>> cosine(np.array([0.6, 0.8], np.float32), np.array([0.0, 1.0], np.float32)) == float(np.float32(0.8))
    True
    """
    return float(np.asarray(one, np.float64) @ np.asarray(other, np.float64))


def similarities(bank: Bank, unit: int, others: Sequence[int]) -> list[float]:
    """Cosine of a unit with each of the others.  O(q d)."""
    if not others:
        return []
    cosines: list[float] = [cosine(bank.vector(unit), bank.vector(v)) for v in others]
    return cosines


def ranked(bank: Bank, unit: int, kind: EdgeType, candidates: Iterable[int]) -> list[int]:
    """The candidates, each once, best key first; a predecessor must be older, by time and then
    by number.  O(q (d + log q)).
    """
    others = sorted({v for v in candidates if v != unit})
    if kind is EdgeType.TEMPORAL:
        others = [v for v in others if (bank.time(v), v) < (bank.time(unit), unit)]
    if kind in (EdgeType.TEMPORAL, EdgeType.VERSION):
        return sorted(others, key=lambda v: (-bank.time(v), v))
    near = dict(zip(others, similarities(bank, unit, others), strict=True))
    if kind is EdgeType.SEMANTIC:
        return sorted(others, key=lambda v: (-near[v], -bank.time(v), v))
    return sorted(others, key=lambda v: (-near[v], v))


def trimmed(
    bank: Bank, unit: int, kind: EdgeType, candidates: Iterable[int], cap: int
) -> list[int]:
    """Trim_K: the first `cap` of the ranked candidates; all of them without a cap."""
    order = ranked(bank, unit, kind, candidates)
    return order[:cap] if cap else order


def put_links(
    bank: Bank, unit: int, kind: EdgeType, candidates: Iterable[int], cap: int
) -> list[tuple[int, int]]:
    """Give a unit the trimmed links of a kind instead of those it has; the new links, as (unit,
    target).
    """
    wanted, held = trimmed(bank, unit, kind, candidates, cap), set(bank.targets(unit, kind))
    for target in sorted(held - set(wanted)):
        bank.unlink(unit, target, kind)
    new = [target for target in wanted if target not in held]
    for target in new:
        bank.link(unit, target, kind)
    return [(unit, target) for target in new]


def add_links(
    bank: Bank, unit: int, kind: EdgeType, candidates: Iterable[int], cap: int
) -> list[tuple[int, int]]:
    """Add links of a kind to those of a unit, then trim; the new links, as (unit, target)."""
    return put_links(bank, unit, kind, {*bank.targets(unit, kind), *candidates}, cap)


def representative(bank: Bank, unit: int, stand_ins: Sequence[int]) -> int:
    """r*: of the units that stand for an archived one, the best for a unit by (cos(e_u, e_r),
    -r).
    """
    return ranked(bank, unit, EdgeType.SIBLING, stand_ins)[0]


def redirect(
    bank: Bank, archived: int, stand_ins: Sequence[int], cap: int
) -> list[tuple[int, int, int]]:
    """Lead the semantic links of visible units to an archived one to r*, then trim; what changed,
    as (unit, archived, r*).

    A unit that stands for the archived one itself loses the link.
    """
    changed = []
    for unit in sorted(bank.sources(archived, EdgeType.SEMANTIC)):
        if not bank.visible(unit):
            continue
        others = [r for r in stand_ins if r != unit]
        bank.unlink(unit, archived, EdgeType.SEMANTIC)
        if unit in stand_ins or not others:
            changed.append((unit, archived, -1))
            continue
        best = representative(bank, unit, others)
        add_links(bank, unit, EdgeType.SEMANTIC, [best], cap)
        changed.append((unit, archived, best))
    return changed


def pruned_versions(bank: Bank, unit: int, cap: int) -> list[int]:
    """The version links that a visible unit keeps under a cap, without an orphan: first the
    mandatory ones, then the best by key.

    Mandatory is an archived unit that no other visible unit has a version link to.  If there are
    more of these than the cap, nothing is pruned.
    """
    held = bank.targets(unit, EdgeType.VERSION)
    if not cap or len(held) <= cap or not bank.visible(unit):
        return sorted(held)
    mandatory = [
        v
        for v in held
        if not bank.visible(v)
        and not any(bank.visible(u) for u in bank.sources(v, EdgeType.VERSION) if u != unit)
    ]
    if len(mandatory) > cap:
        return sorted(held)
    rest = ranked(bank, unit, EdgeType.VERSION, set(held) - set(mandatory))
    return sorted([*mandatory, *rest[: cap - len(mandatory)]])


def add_versions(bank: Bank, unit: int, archived: Iterable[int], cap: int) -> list[tuple[int, int]]:
    """Link a unit to what it replaces, then prune it and the other visible units with a link to
    the same; the new links that are left.
    """
    new = [v for v in sorted(set(archived)) if v not in bank.targets(unit, EdgeType.VERSION)]
    for v in new:
        bank.link(unit, v, EdgeType.VERSION)
    others = (
        {u for v in new for u in bank.sources(v, EdgeType.VERSION) if u != unit} if cap else set()
    )
    for u in (unit, *sorted(others)):
        for v in set(bank.targets(u, EdgeType.VERSION)) - set(pruned_versions(bank, u, cap)):
            bank.unlink(u, v, EdgeType.VERSION)
    kept = bank.targets(unit, EdgeType.VERSION)
    return [(unit, v) for v in new if v in kept]


# --- recovery -------------------------------------------------------------------------------------
UNREACHED = -1


def hops(
    visible: Iterable[int], archived: Iterable[int], targets: Callable[[int], Iterable[int]]
) -> dict[int, int]:
    """Fewest links from any visible unit to each archived one; UNREACHED if there is no path.  Eq.
    (9).  O(units + links).

    >>> links = {0: [1], 1: [2], 2: [], 3: []}
    >>> hops([0], [1, 2, 3], links.__getitem__)
    {1: 1, 2: 2, 3: -1}
    """
    distance = dict.fromkeys(visible, 0)
    waiting = deque(distance)
    while waiting:
        unit = waiting.popleft()
        for target in targets(unit):
            if target not in distance:
                distance[target] = distance[unit] + 1
                waiting.append(target)
    return {unit: distance.get(unit, UNREACHED) for unit in archived}


@dataclass(frozen=True, slots=True)
class Recovery:
    """How far archived units are from the visible ones.

    coverage     coverage[h - 1]: share of the archived units within h hops.  Eq. (10)
    h95          fewest hops that cover 95 % of them; 0 if none is archived, -1 if no number does
    unreachable  share without a path
    """

    coverage: tuple[float, ...]
    h95: int
    unreachable: float


def recovery(distances: Mapping[int, int]) -> Recovery:
    """Coverage by hops, H95 and the unreachable share, from `hops`.  O(units).

    >>> recovery({4: 1, 5: 1, 6: 2, 7: 3})
    Recovery(coverage=(0.5, 0.75, 1.0), h95=3, unreachable=0.0)
    """
    steps = np.array(sorted(distances.values()), np.int64)
    if not steps.size:
        return Recovery((), 0, 0.0)
    coverage = tuple(
        float(((steps >= 0) & (steps <= h)).mean()) for h in range(1, int(steps.max()) + 1)
    )
    h95 = next((h + 1 for h, share in enumerate(coverage) if share >= 0.95), -1)
    return Recovery(coverage, h95, float((steps < 0).mean()))
