"""Facts that keep a mechanism from FAITHFUL: fields of its registry entry, each with a source,
and what the engine checks reach.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ..engine.catalogue.registry import Entry, Equation
from ..engine.contract.hooks import HOURS_PER
from .reached import Reach


class FactKind(StrEnum):
    """What lowers a rating."""

    PROXY = "proxy"  # the paper's state variable is replaced
    FORM = "form of ours"  # a form of ours replaces the paper's
    # the cited paper has no such equation; it does not count as claimed
    NOT_PRINTED = "not printed"
    # no hook reaches the equation, and the entry does not say so; it does not count as claimed
    LIBRARY = "library"
    SECOND_HAND = "second hand"  # a number is quoted from elsewhere
    NO_ENGINE_CHECK = "no engine check"  # no passing engine check runs a hook
    # no engine check runs at a time scale of 1, or at the default
    TIME_SCALE = "time scale"
    NO_REASON = "no reason"  # a departure without a reason


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact; `source` is a key of the references, the place of a number, or empty for what
    was measured.
    """

    kind: FactKind
    about: str
    what: str
    cure: str
    source: str = ""


def claimed(equations: Sequence[Equation], reach: Reach | None) -> bool:
    """Whether an equation counts as claimed: the paper prints it, the entry does not call it
    library and, if that was measured, a hook reaches it.
    """
    unreached = {e.id for e in reach.equations if not e.reached} if reach else set()
    return any(e.paper and e.printed and not e.library and e.id not in unreached for e in equations)


def facts(entry: Entry, reach: Reach | None) -> tuple[Fact, ...]:
    """All facts about a mechanism; those of hooks only where the checks were watched."""
    return (*_declared(entry), *(_measured(entry, reach) if reach else ()))


def _declared(entry: Entry) -> Iterator[Fact]:
    for p in entry.proxies:
        yield Fact(
            FactKind.PROXY,
            p.state,
            f"in place of the paper's {p.state}: {p.proxy}",
            "compute the paper's variable",
            p.source,
        )
    for f in entry.forms:
        yield Fact(
            FactKind.FORM,
            f.ours,
            f"in place of {f.paper}: {f.ours}",
            "compute the paper's form",
            f.source,
        )
    for e in entry.equations:
        if e.paper and not e.printed:
            yield Fact(
                FactKind.NOT_PRINTED,
                e.id,
                f"the paper prints no equation for {e.id}",
                "claim an equation that a paper prints",
                e.paper,
            )
    for name, parameter in entry.params.items():
        if parameter.second_hand:
            yield Fact(
                FactKind.SECOND_HAND,
                name,
                f"the number {name} is at second hand",
                "read it in the paper that measured it",
                parameter.source,
            )
    for d in entry.departures:
        if not d.why.strip():
            yield Fact(FactKind.NO_REASON, d.what, f"departs without a reason: {d.what}", "say why")


def _measured(entry: Entry, reach: Reach) -> Iterator[Fact]:
    for equation in reach.equations:
        if not equation.reached and not equation.library:
            yield Fact(
                FactKind.LIBRARY,
                equation.id,
                f"library: no engine check reaches {equation.id} through a hook",
                "use it in a hook and check that hook in an engine, or leave it out of the claim",
            )
    for hook in reach.hooks:
        if not hook.checks:
            yield Fact(
                FactKind.NO_ENGINE_CHECK,
                hook.name,
                f"no engine check that passes runs the hook {hook.name}",
                "add an engine check",
            )
    if any(p.unit.removeprefix("1/") in HOURS_PER for p in entry.params.values()):
        ran = {scale for hook in reach.hooks for scale in hook.scales}
        for scale in sorted({1.0, entry.time_scale} - ran):
            yield Fact(
                FactKind.TIME_SCALE,
                f"{scale:g}",
                f"no engine check that passes runs at time_scale {scale:g}",
                "add an engine check",
            )
