"""Facts that keep a mechanism from FAITHFUL: what its entry says and does not say, what its hooks
read, what the engine checks reach, and what a memory with it does.

Nothing that an author leaves out raises a rating.  Statements that lower are only believed when they
are there; statements that spare a mechanism (how a paper was read, why a quantity that it reads is
the paper's own, what a number of ours is to the equation, which check shows that an addition is
neutral) lower it while they are missing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from ..engine.catalogue.registry import Entry, Equation, Parameter
from ..engine.contract import vocabulary as v
from ..engine.contract.columns import Column
from ..engine.contract.hooks import HOURS_PER, item_of
from .behaviour import Phenomenon
from .reached import MechanismReach

# Quantities that the engine or another mechanism computed: a hook that reads one of them takes it
# in place of a quantity of its paper, unless the entry says why not.  Left out are times, rows and
# other identities, structures, and factors that are 1 (or shares and shifts that are neutral) while
# no other mechanism sets them.
QUANTITIES: Final = frozenset(
    column.name
    for column in (
        v.SALIENCE, v.SURPRISE, v.IMPORTANCE, v.NEWS, v.INITIAL_STRENGTH, v.ENCODING_STRENGTH,
        v.NEED, v.REPLAYS, v.CONGRUENCY, v.HIPPOCAMPAL_DEPENDENCE, v.ACTIVATION, v.LOG_STRENGTH,
        v.WORTH, v.EMBEDDING, v.MATCH, v.FUSED, v.LOG_PRIOR, v.PRIMED, v.REWEIGHTED, v.RERANKED,
        v.ARRANGED, v.DATED, v.RELEASED, v.RELEVANCE, v.WITHIN, v.SUFFICIENCY, v.OUTCOME,
    )
)  # fmt: skip


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
    # an addition or a bound that no passing check shows
    UNSHOWN = "unshown departure"
    UNSTATED = "no departures stated"  # as if a memory of texts were the paper's own model
    INPUT = "undeclared input"  # a quantity is read, and the entry does not say for what
    OWN_NUMBER = "number of ours"  # the entry does not say what it is to the paper's equation
    BEHAVIOUR = "behaviour"  # what its papers are cited for is not shown


@dataclass(frozen=True, slots=True)
class RatingFact:
    """One fact; `source` is a key of the references, the place of a number, or empty for what
    was measured.
    """

    kind: FactKind
    about: str
    what: str
    cure: str
    source: str = ""


def claimed(equations: Sequence[Equation], reach: MechanismReach | None) -> bool:
    """Whether an equation counts as claimed: the paper prints it, the entry does not call it
    library and, if that was measured, a hook reaches it.
    """
    unreached = {e.id for e in reach.equations if not e.reached} if reach else set()
    return any(e.paper and e.printed and not e.library and e.id not in unreached for e in equations)


def facts(
    entry: Entry,
    reach: MechanismReach | None,
    behaviour: Sequence[Phenomenon] = (),
    passing: Collection[str] | None = None,
) -> tuple[RatingFact, ...]:
    """All facts about a mechanism; those of hooks only where the checks were watched.

    behaviour  what its papers are cited for
    passing    ids of the gating checks that pass; None: not known, and no departure counts as shown
    """
    return (
        *_declared(entry, passing or ()),
        *_left_open(entry),
        *_behaves(entry, behaviour),
        *(_measured(entry, reach) if reach else ()),
    )


def _declared(entry: Entry, passing: Collection[str]) -> Iterator[RatingFact]:
    for p in entry.proxies:
        yield RatingFact(
            FactKind.PROXY,
            p.state,
            f"in place of the paper's {p.state}: {p.proxy}",
            "compute the paper's variable",
            p.source,
        )
    for f in entry.forms:
        yield RatingFact(
            FactKind.FORM,
            f.ours,
            f"in place of {f.paper}: {f.ours}",
            "compute the paper's form",
            f.source,
        )
    for e in entry.equations:
        if e.paper and not e.printed:
            yield RatingFact(
                FactKind.NOT_PRINTED,
                e.id,
                f"the paper prints no equation for {e.id}",
                "claim an equation that a paper prints",
                e.paper,
            )
    for d in entry.departures:
        if not d.why.strip():
            yield RatingFact(
                FactKind.NO_REASON, d.what, f"departs without a reason: {d.what}", "say why"
            )
        elif d.kind == "form":
            yield RatingFact(
                FactKind.FORM, d.what, f"a form of ours: {d.what}", "compute the paper's"
            )
        elif d.kind == "proxy":
            yield RatingFact(
                FactKind.PROXY,
                d.what,
                f"another quantity in place of the paper's: {d.what}",
                "compute the paper's variable",
            )
        elif d.kind != "none" and not (d.shown and set(d.shown) <= set(passing)):
            yield RatingFact(
                FactKind.UNSHOWN,
                d.what,
                f"no passing check shows this {d.kind}: {d.what}",
                "name the checks in `shown`",
            )


def _left_open(entry: Entry) -> Iterator[RatingFact]:
    """What the entry would have to say for FAITHFUL: how its equations and numbers were read, what
    it reads, and what its own numbers are.
    """
    equations = [e for e in entry.equations if e.paper and e.printed and not e.library]
    if equations and not (entry.departures or entry.proxies or entry.forms or entry.variety_of):
        yield RatingFact(
            FactKind.UNSTATED,
            entry.id,
            "the entry states no departure from its papers, not even one that changes nothing",
            "write `departures`",
        )
    for e in equations:
        yield from _second_hand(f"the equation {e.id}", e.id, equation_read(entry, e))
    for name, p in entry.params.items():
        if is_of_a_paper(p):
            yield from _second_hand(f"the number {name}", name, number_read(entry, p))
        elif equations and not p.role and name != "weight":
            yield RatingFact(
                FactKind.OWN_NUMBER,
                name,
                f"the number {name} is ours, and the entry does not say what it is to the paper's equation",
                "write `role`: free in the paper, bound, or addition",
            )
    if equations:
        for name, hooks in sorted(quantities(entry).items()):
            if not entry.inputs.get(name, "").strip():
                yield RatingFact(
                    FactKind.INPUT,
                    name,
                    f"the quantity {name} is read by {', '.join(hooks)}, and the entry does not say what of the paper it is",
                    "declare a proxy, or say in `inputs` why it is the paper's own quantity",
                )


def equation_read(entry: Entry, equation: Equation) -> str | None:
    """How the paper of an equation was read; None if that is not stated."""
    return equation.read or entry.read.get(equation.paper)


def is_of_a_paper(p: Parameter) -> bool:
    """Whether a number is one that a paper has."""
    return p.second_hand or p.kind in ("paper", "rescaled")


def number_read(entry: Entry, p: Parameter) -> str | None:
    """How the paper that a number is from was read; None if that is not stated.  A source in words
    counts as the only paper.
    """
    if p.read or p.second_hand:
        return p.read or "description"
    readings = set(entry.read.values())
    return entry.read.get(p.source) or (readings.pop() if len(readings) == 1 else None)


def _second_hand(what: str, about: str, read: str | None) -> Iterator[RatingFact]:
    if read is None:
        yield RatingFact(
            FactKind.SECOND_HAND,
            about,
            f"how {what} was read is not stated",
            "state it in `read`, by paper",
        )
    elif read != "paper":
        place = {"memory": "from memory", "authors' code": "in the authors' code"}.get(
            read, f"in a {read}"
        )
        yield RatingFact(
            FactKind.SECOND_HAND,
            about,
            f"{what} is at second hand: read {place}",
            "read it in the paper that has it",
        )


def quantities(entry: Entry) -> dict[str, list[str]]:
    """Quantities that hooks read and the mechanism does not own -> names of these hooks."""
    loaded, readers = entry.load(), dict[str, list[str]]()
    for hook in loaded.hooks():
        for read in hook.reads:
            column = item_of(read)
            if (
                isinstance(column, Column)
                and column not in loaded.owns
                and column.name in QUANTITIES
            ):
                readers.setdefault(column.name, []).append(hook.name)
    return {name: list(dict.fromkeys(hooks)) for name, hooks in readers.items()}


def _behaves(entry: Entry, behaviour: Sequence[Phenomenon]) -> Iterator[RatingFact]:
    for phenomenon in behaviour:
        if phenomenon.missed:
            yield RatingFact(
                FactKind.BEHAVIOUR,
                phenomenon.probe,
                f"the behaviour that it is cited for is not shown: {phenomenon.text}",
                "make the effect appear in a set with the mechanism, or run the sets with it, if unmeasured",
            )
    if entry.time_scale != 1.0 and has_times(entry) and not any(p.shown for p in behaviour):
        yield RatingFact(
            FactKind.TIME_SCALE,
            f"{entry.time_scale:g}",
            f"runs at {entry.time_scale:g} times the paper's time, and neither a probe nor an experiment with people shows the paper's behaviour there",
            "show the behaviour at the default time scale",
        )


def has_times(entry: Entry) -> bool:
    """Whether the mechanism has constants of time, or rates."""
    return any(p.unit.removeprefix("1/") in HOURS_PER for p in entry.params.values())


def _measured(entry: Entry, reach: MechanismReach) -> Iterator[RatingFact]:
    for equation in reach.equations:
        if not equation.reached and not equation.library:
            yield RatingFact(
                FactKind.LIBRARY,
                equation.id,
                f"library: no engine check reaches {equation.id} through a hook",
                "use it in a hook and check that hook in an engine, or leave it out of the claim",
            )
    for hook in reach.hooks:
        if not hook.checks:
            yield RatingFact(
                FactKind.NO_ENGINE_CHECK,
                hook.name,
                f"no engine check that passes runs the hook {hook.name}",
                "add an engine check",
            )
    if has_times(entry):
        ran = {scale for hook in reach.hooks for scale in hook.scales}
        for scale in sorted({1.0, entry.time_scale} - ran):
            yield RatingFact(
                FactKind.TIME_SCALE,
                f"{scale:g}",
                f"no engine check that passes runs at time_scale {scale:g}",
                "add an engine check",
            )
