"""One question assembled in several ways under falling budgets, as one self-contained HTML page:
what is cut is faded, tokens are counted.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ...engine.context.assembly import HISTORY, SOURCES, STRATEGIES, assemble
from ...engine.context.condensers import Form
from ...engine.context.quoting import unescaped
from ...reporting.files import write_whole
from ...reporting.pages import environment

if TYPE_CHECKING:
    from ...engine.context.components import Component
    from ...engine.context.context import Context
    from ...engine.context.tokens import TokenCounter
    from ...engine.contract.records import Query
    from ...engine.memory.engine import Engine

TEMPLATES: Final = Path(__file__).parent.parent / "templates"
LEFT_OUT: Final = "left out"
MEANING: Final[Mapping[str, str]] = {
    SOURCES: "what the sources of the set offer, each within its share of the budget",
    "flat": "the best memories first",
    "condensed": "the best memories first, long ones condensed before others are left out",
    "covering": "the sentences that together cover the most about the query, short memories whole",
    "packed": "whole memories alone, those first that rank high for their length, under lines for their days",
    "everything": f"the latest events of the whole history, under the heading {HISTORY}",
}
_WORDS: Final = re.compile(r"\s*\S+\s*")
_CRUMB: Final = re.compile(r"\n\[memory \d+: \d+ lines?\]\Z")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text, and whether the context shows it."""

    text: str
    kept: bool


@dataclass(frozen=True, slots=True)
class Shown:
    """A memory in a context.

    state   how it is shown: whole, a form of condensing, or `left out`
    tokens  that it takes; 0 if it is left out
    gold    whether it holds the evidence
    """

    row: int
    who: str
    section: str
    pieces: tuple[Piece, ...]
    state: str
    tokens: int
    gold: bool


@dataclass(frozen=True, slots=True)
class Way:
    """A context of one strategy and budget, with what a larger budget would show.

    whole, of  gold events whose verbatim text stands whole in it, and gold events
    """

    strategy: str
    budget: int
    tokens: int
    items: int
    condensed: int
    left_out: int
    banner: str
    shown: tuple[Shown, ...]
    whole: int
    of: int

    @property
    def sections(self) -> dict[str, list[Shown]]:
        """What is shown, by section, in the order of the text."""
        inside = [piece for piece in self.shown if piece.state != LEFT_OUT]
        return {
            section: [piece for piece in inside if piece.section == section]
            for section in dict.fromkeys(piece.section for piece in inside)
        }


def ways(
    memory: Engine,
    query: Query | str,
    budgets: Sequence[int],
    counter: TokenCounter,
    gold: Collection[str] = (),
    session: str | None = None,
) -> list[list[Way]]:
    """A line for each budget, the largest first, with a way for each strategy but `nothing`.  The
    state stays.  Cost: one context each.

    gold  ids of the events that hold the answer

    Raises InputError.
    """
    names = [name for name in MEANING if name in STRATEGIES and (name != SOURCES or memory.sources)]
    falling = sorted(set(budgets), reverse=True)
    contexts = {
        name: [
            assemble(memory, query, budget, counter=counter, strategy=name, session=session)
            for budget in falling
        ]
        for name in names
    }
    return [
        [
            _way(memory, name, budget, contexts[name][place], contexts[name][:place], gold)
            for name in names
        ]
        for place, budget in enumerate(falling)
    ]


def to_html(
    lines: Sequence[Sequence[Way]],
    path: Path,
    *,
    question: str,
    about: Mapping[str, str],
    counter: str,
) -> Path:
    """Write the page, whole or not at all.  Raises HebbariumError.

    about  what is printed below the question: set, conversation, embedder
    """
    page = (
        environment(TEMPLATES)
        .get_template("contexts.html.j2")
        .render(
            lines=lines,
            question=question,
            about=about,
            counter=counter,
            meaning=MEANING,
            left_out=LEFT_OUT,
        )
    )
    write_whole(path, [page])
    return path


def kept(whole: str, shown: str) -> tuple[Piece, ...]:
    """The whole text in pieces, each with whether a condensed text has its words, in order.
    O(words squared) at most.

    >>> [(p.text, p.kept) for p in kept("We met. It rained. We left.", "We met. We left.")]
    [('We met. ', True), ('It rained. ', False), ('We left.', True)]
    """
    words, mine = _WORDS.findall(whole), [word.strip() for word in _WORDS.findall(shown)]
    pieces: list[Piece] = []
    matcher = SequenceMatcher(None, [word.strip() for word in words], mine, autojunk=False)
    for what, first, last, _, _ in matcher.get_opcodes():
        if last > first:
            pieces.append(Piece("".join(words[first:last]), what == "equal"))
    return tuple(pieces)


def _way(
    memory: Engine,
    name: str,
    budget: int,
    context: Context,
    larger: Sequence[Context],
    gold: Collection[str],
) -> Way:
    here = context.components
    rows = {c.row for c in here if c.row >= 0}
    before = {
        c.row: c for other in larger for c in other.components if c.row >= 0 and c.row not in rows
    }
    shown = [_shown(memory, c, gold) for c in here] + [
        _left_out(memory, c, gold) for c in before.values()
    ]
    text = unescaped(context.text)
    of = [
        event.text
        for event in map(memory.event, {row for id in gold for row in memory.event_log.rows_of(id)})
    ]
    return Way(
        name,
        budget,
        context.tokens,
        len(here),
        sum(c.form is not Form.WHOLE for c in here),
        len(before),
        context.text.partition("\n")[0] if context.text.startswith("[Truncated") else "",
        tuple(shown),
        sum(line in text for line in of),
        len(of),
    )


def _shown(memory: Engine, c: Component, gold: Collection[str]) -> Shown:
    text = unescaped(c.text)
    if c.row < 0:
        return Shown(-1, "", c.section, (Piece(text, True),), c.form.value, c.tokens, False)
    unit = memory.unit(c.row)
    pieces = (
        (Piece(unit.text, True),)
        if c.form in (Form.WHOLE, Form.TEXT)
        else kept(unit.text, _CRUMB.sub("", text))
    )
    return Shown(
        c.row,
        _who(memory, c.row),
        c.section,
        pieces,
        c.form.value,
        c.tokens,
        not set(unit.events).isdisjoint(gold),
    )


def _left_out(memory: Engine, c: Component, gold: Collection[str]) -> Shown:
    unit = memory.unit(c.row)
    return Shown(
        c.row,
        _who(memory, c.row),
        c.section,
        (Piece(unit.text, False),),
        LEFT_OUT,
        0,
        not set(unit.events).isdisjoint(gold),
    )


def _who(memory: Engine, row: int) -> str:
    unit: Any = memory.unit(row)
    return str(unit.speaker or unit.kind.word)
