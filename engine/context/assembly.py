"""Contexts by the strategies that need no mechanism: `flat`, and the floor and ceiling of every comparison, `nothing` and `everything`.

A context is a pure function of the state, the query and the budget; the state stays bit for bit as it is.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from ..drafts import Kind
from ..errors import InputError, nearest
from ..ranking import Answer, best
from ..records import Event, Only, Query
from ..text.features import terms_of
from ..vocabulary import DETAIL
from .condensers import Form
from .context import ComponentKind, Context, Reader
from .formats import FORMATS, Candidate, Format
from .selection import LEAST, lay_out, select
from .tokens import LENGTH, TokenCounter

if TYPE_CHECKING:
    from ..columns import Column
    from ..units import Unit

RELEVANT: Final = "Relevant Content"
HISTORY: Final = "Conversation"
ITEMS: Final = 10       # components of a context that is given neither a budget nor a number
BEYOND: Final = 2       # candidates are read until they hold so many times the budget
WHERE: Final = "context"
FORMS: Final = (Form.WHOLE, Form.SUMMARY, Form.KEYWORDS)        # by the column DETAIL


class Memory(Protocol):
    """What assembling asks of a memory; `engine.loop.Engine` has it."""

    def retrieve(self, query: Query | str, k: int = 10, *, learn: bool = False) -> Answer: ...
    def unit(self, row: int) -> Unit: ...
    def event(self, row: int) -> Event: ...
    def condensed(self, row: int) -> str: ...
    def column(self, column: Column | str) -> NDArray[Any]: ...


Ranked = Iterator[tuple[int, float]]        # rows and scores, best first


def ranked(memory: Memory, answer: Answer, most: int) -> Ranked:
    """The answerable rows by final score, ties by row.  O(n)."""
    rows = best(answer.final, answer.answerable, most)
    return zip(rows.tolist(), answer.final[rows].tolist(), strict=True)


def latest(memory: Memory, answer: Answer, most: int) -> Ranked:
    """The answerable events, the latest first; rows that the memory made are left out."""
    answerable = np.flatnonzero(answer.answerable)[::-1].tolist()
    events = (row for row in answerable if memory.unit(row).kind is Kind.EVENT)
    return ((row, float(row)) for row, _ in zip(events, range(most), strict=False))


def none(memory: Memory, answer: Answer, most: int) -> Ranked:
    """No row."""
    return iter(())


# name -> section, rows in order of choice, whether they stand in order of time
STRATEGIES: Final[Mapping[str, tuple[str, Callable[[Memory, Answer, int], Ranked], bool]]] = MappingProxyType({
    "flat": (RELEVANT, ranked, False), "everything": (HISTORY, latest, True), "nothing": (RELEVANT, none, False)})


def assemble_flat(memory: Memory, query: Query | str, max_tokens: int | None = None, *, max_items: int | None = None, only: Only | None = None,
                  reader: Reader | None = None, also: str = "", counter: TokenCounter = LENGTH, form: str = "sections",
                  strategy: str = "flat") -> Context:
    """The context of a query under a budget of tokens: the best memories first, whole where they fit, the next condensed into what is left.

    max_tokens  most tokens of the whole text; None: of `reader`, or by number of items, with nothing condensed
    max_items   most memories; None: no limit under a budget, else ten
    only        which memories may be shown; None: the filter of the query
    reader      whose window gives the budget
    also        a text of the asker's own, under the heading "Additional Context"; it comes first
    counter     counts tokens; its name stands in the context
    form        sections, evidence_list (whole units only, as `[id] [time] [kind] text`) or dialogue (in order of time)
    strategy    flat, everything (the latest events of the whole history until full, in order of time) or nothing

    Raises InputError for a budget or number below 0, for two budgets, and for an unknown form or strategy.
    Cost: one retrieval; beyond it 5 ms at 1,024 tokens of utterances, 30 ms at 4,096 of long texts.
    """
    of = _form(form)
    _strategy(strategy)
    budget = _budget(max_tokens, reader)
    _count(max_items, "max_items")
    if not isinstance(also, str):
        raise InputError(f"also is {type(also).__name__}, not text", where=WHERE, cure="give a text")
    asked = Query(query) if isinstance(query, str) else query
    if only is not None and isinstance(asked, Query):
        asked = replace(asked, only=only)
    answer = memory.retrieve(asked, 1)
    return context_of(memory, answer, asked.text, budget, max_items=max_items, also=also, counter=counter, form=of, strategy=strategy)


def context_of(memory: Memory, answer: Answer, query: str, budget: int | None, *, max_items: int | None = None, also: str = "",
               counter: TokenCounter = LENGTH, form: Format = FORMATS["sections"], strategy: str = "flat") -> Context:
    """The context of an answer that was given before, whatever its k; arguments as `assemble_flat`, already checked."""
    section, source, in_time = _strategy(strategy)
    if budget is None and max_items is None:
        max_items = ITEMS
    most = max_items or 0 if budget is None else budget // LEAST + 1
    candidates = _read(memory, source(memory, answer, most), section, budget, max_items, counter)
    about = frozenset(terms_of(query, stem=True, stop_words=True))
    found = select(candidates, budget, counter, form, max_items=max_items, also=also, about=about,
                   in_time=in_time or form.in_time or (strategy == "flat" and answer.chronological))
    text = lay_out(found.components, found.cut if found.said else (), form)
    return Context(text, found.components, counter.tokens(text), counter.name, bool(found.cut), found.cut, strategy,
                   {"query": query, "budget": budget, "max_items": max_items, "format": form.name, "candidates": len(candidates)})


def _read(memory: Memory, rows: Ranked, section: str, budget: int | None, max_items: int | None, counter: TokenCounter) -> Sequence[Candidate]:
    """Candidates in order, until they hold twice the budget or are as many as are wanted."""
    found: list[Candidate] = []
    units, detail = 0, memory.column(DETAIL)
    for row, score in rows:
        if (budget is not None and units > BEYOND * budget * counter.per_token) or (max_items is not None and len(found) >= max_items):
            break
        unit = memory.unit(row)
        event = memory.event(row) if unit.kind is Kind.EVENT else None
        shown = FORMS[int(detail[row])]
        found.append(Candidate(
            ComponentKind.SUMMARY if unit.kind is Kind.SUMMARY else ComponentKind.SEMANTIC, row,
            unit.text if shown is Form.WHOLE else memory.condensed(row), score, section, unit.time, unit.speaker,
            unit.events[0] if event and unit.events else "", event.caption if event else "", unit.kind.word, shown, unit.text,
            event is None or event.dated))
        units += counter.units(found[-1].text)
    return found


def _budget(max_tokens: int | None, reader: Reader | None) -> int | None:
    if max_tokens is not None and reader is not None:
        raise InputError("max_tokens and a reader both give a budget", where=WHERE, cure="give one of them")
    _count(max_tokens, "max_tokens")
    return reader.budget if reader else max_tokens


def _count(value: int | None, name: str) -> None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0):
        raise InputError(f"{name} is {value!r}", where=WHERE, cure="give a number from 0, or None")


def _form(name: str) -> Format:
    if name not in FORMATS:
        raise InputError(f"there is no form {name!r}", where=WHERE, cure=nearest(name, FORMATS))
    return FORMATS[name]


def _strategy(name: str) -> tuple[str, Callable[[Memory, Answer, int], Ranked], bool]:
    if name not in STRATEGIES:
        raise InputError(f"there is no strategy {name!r}", where=WHERE, cure=nearest(name, STRATEGIES))
    return STRATEGIES[name]
