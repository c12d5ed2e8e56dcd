"""Contexts from a memory, by strategy.

    sources     what the mechanisms offer that are sources of contexts, each within its share of the
                budget
    flat        the best memories first
    condensed   the same, with none above a sixteenth of the budget, at least 128 tokens, before
                others are left out
    covering    of many memories the sentences that together cover the most about the query, short
                memories whole
    packed      whole memories, those first that rank high for their length, in order of time under
                lines for their days
    everything  the latest events of the whole history until full, in order of time: the ceiling of
                every comparison
    nothing     the floor

A context is a pure function of the state, the query and the budget; the state stays bit for bit as
it is.  If a language model compresses it, it is a function of the replies, too, which a transcript
repeats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from time import perf_counter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from ..base.errors import ContractError, InputError, nearest
from ..contract.drafts import Kind
from ..contract.offers import Offer
from ..contract.records import Event, Only, Query, wanted_attributes
from ..contract.task_events import TASK
from ..contract.vocabulary import DETAIL
from ..state.ranking import Answer, best
from ..text.condensing import condensed
from ..text.features import terms_of
from .components import ComponentKind
from .compressing import COMPRESSIONS, EXTRACTS, MODEL, compressed
from .condensers import Form
from .context import Context, ContextReader
from .formats import FORMATS, PACKED, SECTIONS, Candidate, Format
from .kinds import by_kind
from .packing import SHORT, Entering
from .selection import LARGEST, Rules, Selection, cap_of, fill, lay_out, select
from .tokens import LENGTH, TokenCounter

if TYPE_CHECKING:
    from ..contract.columns import Column
    from ..contract.units import Unit
    from ..ports.language_model import LanguageModel

RELEVANT: Final = "Relevant Content"
HISTORY: Final = "Conversation"
ITEMS: Final = 10  # components of a context that is given neither a budget nor a number
# candidates are read until those that enter first hold so many times the budget
BEYOND: Final = 2
COVERED: Final = 4  # the same, where excerpts are chosen
# tokens of a short memory: a context is taken to need as many candidates as would be read if all
# were short
UTTERANCE: Final = 16
FEWEST: Final = 256  # memories that are ranked for a context, at least
WHERE: Final = "context"
OFFERED_KINDS: Final = tuple(
    kind.value for kind in ComponentKind if kind is not ComponentKind.CUSTOM
)
FORMS: Final = (Form.WHOLE, Form.SUMMARY, Form.KEYWORDS)  # by the column DETAIL


class AssemblyMemory(Protocol):
    """What assembling asks of a memory; `engine.memory.engine.Engine` has it."""

    @property
    def sources(self) -> Mapping[str, float]: ...
    def retrieve(self, query: Query | str, k: int = 10, *, whole: bool = False) -> Answer: ...
    def asks_all(self, rows: int) -> bool: ...
    def offers(
        self, query: Query | str, max_tokens: int | None = None, *, session: str | None = None
    ) -> tuple[Answer, tuple[Offer, ...]]: ...
    def unit(self, row: int) -> Unit: ...
    def event(self, row: int) -> Event: ...
    def column(self, column: Column | str) -> NDArray[Any]: ...


Ranked = Iterator[tuple[int, float]]  # rows and scores, best first


def ranked(memory: AssemblyMemory, answer: Answer, most: int) -> Ranked:
    """The answerable rows by final score, ties by row.  O(n)."""
    rows = best(answer.final, answer.answerable, most)
    return zip(rows.tolist(), answer.final[rows].tolist(), strict=True)


def latest(memory: AssemblyMemory, answer: Answer, most: int) -> Ranked:
    """The answerable events, the latest first; rows that the memory made are left out."""
    answerable = np.flatnonzero(answer.answerable)[::-1].tolist()
    events = (row for row in answerable if memory.unit(row).kind is Kind.EVENT)
    return ((row, float(row)) for row, _ in zip(events, range(most), strict=False))


def none(memory: AssemblyMemory, answer: Answer, most: int) -> Ranked:
    """No row."""
    return iter(())


@dataclass(frozen=True, slots=True)
class Strategy:
    """How the candidates of a context are found.

    section  heading
    rows     of a memory and an answer; None: what the memory's sources offer, under their own
             headings
    in_time  whether components stand in order of time
    largest  as for `Rules`
    least    as for `Rules`
    covers   whether excerpts are chosen, see `Rules`
    packs    whether whole memories are packed, see `Rules`; the form `sections` is then written
             under lines for days
    asks     whether the query matters
    """

    section: str
    rows: Callable[[AssemblyMemory, Answer, int], Ranked] | None
    in_time: bool = False
    largest: float = 1.0
    least: float = SHORT
    covers: bool = False
    packs: bool = False
    asks: bool = True


SOURCES, FLAT = "sources", "flat"
STRATEGIES: Final[Mapping[str, Strategy]] = MappingProxyType(
    {
        SOURCES: Strategy("", None),
        FLAT: Strategy(RELEVANT, ranked),
        "condensed": Strategy(RELEVANT, ranked, largest=LARGEST, least=0.0),
        "covering": Strategy(RELEVANT, ranked, least=0.0, covers=True),
        "packed": Strategy(RELEVANT, ranked, in_time=True, packs=True),
        "everything": Strategy(HISTORY, latest, in_time=True, least=0.0, asks=False),
        "nothing": Strategy(RELEVANT, none, asks=False),
    }
)


@dataclass(frozen=True, slots=True)
class Compressing:
    """How what exceeds the budget is compressed before candidates are selected.

    how    a name in COMPRESSIONS; "": not at all
    model  asked, if there is one
    """

    how: str = ""
    model: LanguageModel | None = None

    def of(
        self, candidates: Sequence[Candidate], budget: int | None, rules: Rules
    ) -> tuple[Sequence[Candidate], dict[str, Any]]:
        """The candidates, and for the metadata how many memories were compressed by what."""
        if not self.how or budget is None or not rules.form.condenses:
            return candidates, {}
        shorter = compressed(
            candidates, budget, rules.counter, self.model, frozenset(rules.about), rules.form
        )
        numbers = {MODEL: shorter.by_model, EXTRACTS: shorter.by_extracts}
        return shorter.candidates, {"compressed": numbers}


NOT_COMPRESSING: Final = Compressing()


def assemble(
    memory: AssemblyMemory,
    query: Query | str,
    max_tokens: int | None = None,
    *,
    max_items: int | None = None,
    session: str | None = None,
    task: str | None = None,
    only: Only | None = None,
    reader: ContextReader | None = None,
    also: str = "",
    counter: TokenCounter = LENGTH,
    form: str = "sections",
    strategy: str = "",
    compress: str = "",
    model: LanguageModel | None = None,
) -> Context:
    """The context of a query under a budget of tokens.

    max_tokens  most tokens of the whole text; None: of `reader`, or by number of items, with
                nothing condensed
    max_items   most memories; None: no limit under a budget, else ten
    session     of the asker, for sources; None: not known
    task        only memories with this value of the attribute `task` are shown
    only        which memories may be shown; None: the filter of the query
    reader      whose window gives the budget
    also        a text of the asker's own, under the heading "Additional Context"; its tokens are
                set aside first
    counter     counts tokens; its name stands in the context
    form        sections, evidence_list (whole units only, as `[id] [time] [kind] text`) or dialogue
                (in order of time)
    strategy    sources, flat, condensed, covering, packed, everything or nothing; "": sources if
                the memory has any, else flat
    compress    "extracts" or "model": what exceeds the budget is first compressed, the lowest scores
                to a third, see `compressing`; not with the form evidence_list.  A larger budget may
                then show other rows
    model       for the compression "model"; None: extracts stand in its place

    A blank query asks without words, as of `retrieve`.
    Raises InputError for a budget or number below 0, for two budgets, for an unknown form, strategy
    or compression, and for `sources` of a memory that has none.  Cost: one retrieval; beyond it 5 ms at
    1,024 tokens of utterances, 30 ms at 4,096 of long texts.
    """
    of = _form(form)
    strategy = strategy or default_strategy(memory)
    _require(memory, strategy)
    budget = budget_of(max_tokens, reader)
    _count(max_items, "max_items")
    if not isinstance(also, str):
        raise InputError(
            f"also is {type(also).__name__}, not text", where=WHERE, cure="give a text"
        )
    asked = narrowed(query, only, task)
    text = asked.text if isinstance(asked, Query) else asked
    if compress not in COMPRESSIONS:
        raise InputError(
            f"there is no compression {compress!r}",
            where=WHERE,
            cure=nearest(compress, filter(None, COMPRESSIONS)),
        )
    compressing = Compressing(compress, model if compress == MODEL else None)
    start = perf_counter()
    answer, offers = _asked(memory, asked, budget, max_items, session, strategy)
    made = _made(
        memory, answer, offers, text, budget, max_items, also, counter, of, strategy, compressing
    )
    return replace(made, seconds=perf_counter() - start)


def default_strategy(memory: AssemblyMemory) -> str:
    """The strategy of a context that names none: `sources` if the memory has any, else `flat`."""
    return SOURCES if memory.sources else FLAT


def context_of(
    memory: AssemblyMemory,
    answer: Answer,
    query: Query | str,
    budget: int | None,
    *,
    max_items: int | None = None,
    session: str | None = None,
    also: str = "",
    counter: TokenCounter = LENGTH,
    form: Format = FORMATS["sections"],
    strategy: str = FLAT,
) -> Context:
    """The context of an answer that was given before, whatever its k; arguments as `assemble`,
    already checked.

    Sources are asked again, since what they offer depends on the budget; and so is a memory whose
    shortlist gave the answer, for as many rows as the context may need.
    """
    _require(memory, strategy)
    offers: Sequence[Offer] = ()
    if strategy == SOURCES or not (answer.asked is None or answer.asked.whole):
        answer, offers = _asked(memory, query, budget, max_items, session, strategy)
    return _made(
        memory,
        answer,
        offers,
        query.text if isinstance(query, Query) else query,
        budget,
        max_items,
        also,
        counter,
        form,
        strategy,
    )


def _asked(
    memory: AssemblyMemory,
    query: Query | str,
    budget: int | None,
    max_items: int | None,
    session: str | None,
    strategy: str,
) -> tuple[Answer, Sequence[Offer]]:
    """The answer and the offers from which a context is made."""
    if strategy == SOURCES:
        return memory.offers(query, budget, session=session)
    how = STRATEGIES[strategy]
    most = ITEMS if budget is None else most_read(budget)
    shown = most if max_items is None else max_items
    return memory.retrieve(query, 1, whole=not how.asks or memory.asks_all(shown)), ()


def _made(
    memory: AssemblyMemory,
    answer: Answer,
    offers: Sequence[Offer],
    query: str,
    budget: int | None,
    max_items: int | None,
    also: str,
    counter: TokenCounter,
    form: Format,
    strategy: str,
    compressing: Compressing = NOT_COMPRESSING,
) -> Context:
    how = STRATEGIES[strategy]
    form = PACKED if how.packs and form is SECTIONS else form
    if budget is None and max_items is None:
        max_items = ITEMS
    about = frozenset(terms_of(query, stem=True, stop_words=True))
    in_time = how.in_time or form.in_time or (how.rows is not latest and answer.chronological)
    rules = Rules(counter, form, max_items=max_items, also=also, about=about, in_time=in_time)
    facts: dict[str, Any] = {
        "query": query,
        "budget": budget,
        "max_items": max_items,
        "format": form.name,
    }
    candidates: Sequence[Candidate]
    if how.rows is None:
        detail = memory.column(DETAIL)
        matches = {offer.row for offer in offers if offer.kind != ComponentKind.RECENT}
        candidates = [_offered(memory, offer, detail, offer.row not in matches) for offer in offers]
        candidates, compression = compressing.of(candidates, budget, rules)
        facts |= compression
        selection = fill(
            candidates, budget, replace(rules, shares=memory.sources, largest=LARGEST), RELEVANT
        )
        spent = {
            source: sum(c.tokens for c in selection.components if c.source == source)
            for source in memory.sources
        }
        return _context(
            selection,
            counter,
            form,
            strategy,
            {
                **facts,
                "candidates": len(candidates),
                "sources": spent,
                "considered": {
                    source: sum(offer.source == source for offer in offers)
                    for source in memory.sources
                },
            },
            answer,
        )
    most = max_items or 0 if budget is None else most_read(budget)
    rules = replace(
        rules, largest=how.largest, least=how.least if form.condenses else 0.0, packed=how.packs
    )
    candidates, order = _read(memory, how.rows(memory, answer, most), how, budget, max_items, rules)
    candidates, compression = compressing.of(candidates, budget, rules)
    facts |= compression
    selection = select(
        candidates,
        budget,
        replace(rules, relevance=_relevance(answer, candidates) if how.covers else {}),
        order,
    )
    return _context(
        selection, counter, form, strategy, {**facts, "candidates": len(candidates)}, answer
    )


def _context(
    selection: Selection,
    counter: TokenCounter,
    form: Format,
    strategy: str,
    metadata: Mapping[str, Any],
    answer: Answer,
) -> Context:
    text = lay_out(selection.components, selection.cut if selection.said else (), form)
    return Context(
        text,
        selection.components,
        counter.tokens(text),
        counter.name,
        bool(selection.cut),
        selection.cut,
        strategy,
        metadata,
        answer,
    )


def _read(
    memory: AssemblyMemory,
    rows: Ranked,
    how: Strategy,
    budget: int | None,
    max_items: int | None,
    rules: Rules,
) -> tuple[Sequence[Candidate], Sequence[int]]:
    """Candidates in order of rank: those that enter first, until they hold twice the budget, or
    all, or as many as are wanted; and their places in order of entering.

    Those that were read, but may enter only after one that was not, are left out, except the best
    one, which is always shown.
    """
    candidates: list[Candidate] = []
    full = False
    detail, entering = memory.column(DETAIL), Entering(rules.least)
    most = inf if budget is None or rules.largest == 1.0 else cap_of(budget, rules.largest)
    for row, score in rows:
        full = budget is not None and entering.tokens > budget * (COVERED if how.covers else BEYOND)
        if full or (max_items is not None and len(candidates) >= max_items):
            break
        candidates.append(_candidate(memory, row, score, how.section, detail))
        entering.read(min(candidates[-1].estimate, most))
    order = (
        entering.places
        if full or (budget is not None and len(candidates) >= most_read(budget))
        else entering.all()
    )
    kept = {place: at for at, place in enumerate(sorted({0, *order}))} if candidates else {}
    return [candidates[place] for place in kept], [kept[place] for place in order]


def most_read(budget: int) -> int:
    """How many memories are ranked for a context: as many as would be read if all were short, and
    so many that long memories do not hide what enters before them.
    """
    return max(FEWEST, COVERED * budget // UTTERANCE)


def _relevance(answer: Answer, candidates: Sequence[Candidate]) -> dict[int, float]:
    """The final scores of candidates on [0, 1] over all answerable memories, by row."""
    scores = answer.final[answer.answerable & ~np.isnan(answer.final)]
    low, high = (float(scores.min()), float(scores.max())) if scores.size else (0.0, 0.0)
    return {c.row: (c.score - low) / (high - low) if high > low else 1.0 for c in candidates}


def _candidate(
    memory: AssemblyMemory,
    row: int,
    score: float,
    section: str,
    detail: NDArray[Any],
    kind: ComponentKind = ComponentKind.SEMANTIC,
    source: str = "",
    forms: tuple[str, ...] | None = None,
    activity: bool = False,
) -> Candidate:
    """A row as a candidate, in the form that its DETAIL says; an event by its kind, see
    `by_kind`.
    """
    unit = memory.unit(row)
    event = memory.event(row) if unit.kind is Kind.EVENT else None
    shown = FORMS[int(detail[row])]
    candidate = Candidate(
        ComponentKind.SUMMARY
        if kind is ComponentKind.SEMANTIC and unit.kind is Kind.SUMMARY
        else kind,
        row,
        condensed(unit.text, int(detail[row])),
        score,
        section,
        unit.time,
        unit.speaker,
        unit.events[0] if event and unit.events else "",
        event.caption if event else "",
        unit.kind.word,
        shown,
        unit.text,
        event is None or event.dated,
        source,
        forms,
        offset=unit.offset,
    )
    return by_kind(candidate, event, activity) if event else candidate


def _offered(memory: AssemblyMemory, offer: Offer, detail: NDArray[Any], alone: bool) -> Candidate:
    """An offer as a candidate.  Raises ContractError for a kind that sources cannot have.

    alone  whether no source offers the row for anything but being recent: then a file is shown by
           its path
    """
    if offer.kind not in OFFERED_KINDS:
        raise ContractError(
            f"the kind {offer.kind!r}",
            where=f"offer of {offer.source}",
            cure=f"choose from {', '.join(OFFERED_KINDS)}",
        )
    kind = ComponentKind(offer.kind)
    if offer.row < 0:
        return Candidate(
            kind,
            -1,
            offer.text,
            offer.score,
            offer.section,
            unit="",
            source=offer.source,
            forms=offer.forms,
        )
    return _candidate(
        memory,
        offer.row,
        offer.score,
        offer.section,
        detail,
        kind,
        offer.source,
        offer.forms,
        alone,
    )


def narrowed(query: Query | str, only: Only | None, task: str | None) -> Query | str:
    """The query with another filter, and with the task among its conditions."""
    if only is None and task is None:
        return query
    asked: Any = Query(query) if isinstance(query, str) else query
    if not isinstance(asked, Query):
        return query
    conditions = asked.only if only is None else only
    if task is not None:
        conditions = conditions or Only()
        conditions = replace(
            conditions, attributes=(*wanted_attributes(conditions.attributes, WHERE), (TASK, task))
        )
    return replace(asked, only=conditions)


def budget_of(max_tokens: int | None, reader: ContextReader | None) -> int | None:
    """The budget of a context in tokens; None for neither.  Raises InputError for both, for one
    below 0, and for another reader.
    """
    given: object = reader
    if not isinstance(given, ContextReader | None):
        raise InputError(
            f"the reader is {given!r}",
            where=WHERE,
            cure="give hebbarium.engine.context.context.ContextReader(window=...), or max_tokens",
        )
    if max_tokens is not None and reader is not None:
        raise InputError(
            "max_tokens and a reader both give a budget", where=WHERE, cure="give one of them"
        )
    _count(max_tokens, "max_tokens")
    return reader.budget if reader else max_tokens


def _count(value: int | None, name: str) -> None:
    if value is not None and (
        isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0
    ):
        raise InputError(f"{name} is {value!r}", where=WHERE, cure="give a number from 0, or None")


def _form(name: str) -> Format:
    if name not in FORMATS:
        raise InputError(f"there is no form {name!r}", where=WHERE, cure=nearest(name, FORMATS))
    return FORMATS[name]


def _require(memory: AssemblyMemory, strategy: str) -> None:
    if strategy not in STRATEGIES:
        raise InputError(
            f"there is no strategy {strategy!r}", where=WHERE, cure=nearest(strategy, STRATEGIES)
        )
    if strategy == SOURCES and not memory.sources:
        raise InputError(
            "this memory has no sources of contexts",
            where=WHERE,
            cure="choose the strategy flat, or a set with sources, such as `stages`",
        )
