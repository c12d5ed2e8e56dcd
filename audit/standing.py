"""What a rating stands on, for a reader: what would have to be false for it to be wrong.

A FAITHFUL rating is wrong if a statement that no check covers is false, or if a check that it stands
on compares with a wrong reference.  A DOCUMENTED one that lacks only a reading would be FAITHFUL
once its papers are read and found to say the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..engine.catalogue.registry import Entry, Registry
from .facts import FactKind, RatingFact, quantities
from .rating import Rating
from .run import AuditResult, MechanismResult


def statements(entry: Entry) -> Iterator[str]:
    """The statements of an entry that spare it and that no check covers, one sentence each."""
    for paper, how in entry.read.items():
        if how == "paper":
            yield f"{paper} was read, and prints the equations and numbers that are cited to it"
    for column, why in entry.inputs.items():
        if column in quantities(entry):
            yield f"{column} is no other quantity than the paper's: {why}"
    for d in entry.departures:
        if d.kind == "none":
            yield f"it makes no difference to the equations that {d.what}: {d.why}"
    if free := [name for name, p in entry.params.items() if p.role == "free"]:
        yield f"the paper leaves the value{'s' * (len(free) > 1)} of {', '.join(free)} open"
    if bounds := [name for name, p in entry.params.items() if p.role == "bound"]:
        yield f"{', '.join(bounds)} can limit time or space, and change nothing else"
    if unused := [e.id for e in entry.equations if e.paper and e.library]:
        yield f"the mechanism works without the equation{'s' * (len(unused) > 1)} {', '.join(unused)}, which no hook uses"
    yield "the entry lists every departure from its papers"


def lacks_only_a_reading(facts: Sequence[RatingFact]) -> bool:
    """Whether nothing else keeps a mechanism from FAITHFUL than how its sources were read."""
    return bool(facts) and all(f.kind is FactKind.SECOND_HAND for f in facts)


def page(result: AuditResult, registry: Registry) -> str:
    """Markdown: for every FAITHFUL what would have to be false, for every DOCUMENTED that lacks
    only a reading the same, and for every other what keeps it from FAITHFUL.
    """
    ours = [m for m in result.mechanisms if m.variety_of is None and m.id in registry.entries]
    faithful = [m for m in ours if m.verdict.rating is Rating.FAITHFUL]
    unread = [
        m for m in ours if m.verdict.rating is Rating.DOCUMENTED and lacks_only_a_reading(m.facts)
    ]
    others = [m for m in ours if m.verdict.rating is Rating.DOCUMENTED and m not in unread]
    lines = ["## What would have to be false", ""]
    if not faithful:
        lines += ["No mechanism is rated `FAITHFUL` now.", ""]
    for m in faithful:
        lines += _standing(
            m, registry.entries[m.id], "is FAITHFUL. The rating is wrong if one of these is false"
        )
    if unread:
        lines += [
            "Nothing keeps these from `FAITHFUL` but that their papers were not read. A rating of "
            "`FAITHFUL` would then be wrong if one of these were false:",
            "",
        ]
    for m in unread:
        lines += _standing(m, registry.entries[m.id], "lacks a reading alone. It stands on")
    lines += ["## What keeps the others from FAITHFUL", ""]
    for m in others:
        kinds = dict.fromkeys(str(f.kind) for f in m.facts)
        said = [f"{kind} ({sum(str(f.kind) == kind for f in m.facts)})" for kind in kinds]
        lines.append(f"- `{m.id}`: {', '.join(said) or m.verdict.reasons[0]}")
    return "\n".join(lines) + "\n"


def _standing(m: MechanismResult, entry: Entry, words: str) -> list[str]:
    second_hand = [f.what for f in m.facts]
    return [
        f"**`{m.id}`** {words}:",
        "",
        *(f"- {statement}" for statement in statements(entry)),
        *(f"- {what}" for what in second_hand),
        *(f"- a run shows its behaviour: {p.text}" for p in m.behaviour if p.shown),
        f"- what each of {len(m.verdict.stands_on)} checks compares with: "
        f"{', '.join(m.verdict.stands_on)}",
        "",
    ]
