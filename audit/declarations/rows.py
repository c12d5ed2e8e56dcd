"""Rows that are no events, and rows that are not answered: whether a mechanism leaves archived and made
rows alone, and can do without rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...engine.catalogue.registry import Entry, Registry
from ...engine.contract import vocabulary as v
from ...engine.contract.columns import Column, Facet, Phase, Scale, Scope, Signal, signal
from ...engine.contract.drafts import Draft, Kind
from ...engine.contract.hooks import Mechanism, Params, Tick, hook
from ...engine.contract.records import Event, Query
from ...engine.memory.engine import Engine
from ..life import (
    QUESTIONS,
    START,
    TOKENS,
    TOLD,
    Circumstances,
    ShortWindow,
    everyone,
    lived,
    replying,
)
from .kinds import asks_for_events_alone
from .lives import OFTEN, ROUNDING, PlainLife, read_by, shipped_and_switched_on, used_life
from .rest import Fading

Seen = list[tuple[str, NDArray[Any]]]  # names and values


class MakerOfArchivedRows(Mechanism[Params]):
    """In the first sleep after an event makes rows of its session: of half of it, and the last one
    of half of the first event of the session.

    kinds     of these rows
    archives  whether it archives them at once
    own       the rows that it made, ascending
    """

    def __init__(
        self,
        kinds: Sequence[Kind] = (Kind.SUMMARY, Kind.BUNDLE, Kind.SEGMENT),
        *,
        archives: bool = True,
    ) -> None:
        super().__init__("archivist", Params(1.0), order=10**5)
        self.kinds, self.archives, self.own = kinds, archives, list[int]()

    @hook(
        Phase.CONSOLIDATE,
        reads=(v.WRITING.before, v.TEXTS, v.SESSION, v.SPEAKER),
        adds=(v.DRAFTS,),
        sets=(),
    )
    def draft(self, view: Any, tick: Tick) -> None:
        told = np.flatnonzero(view.writing < 0)
        if told.size and told[-1] == len(view.writing) - 1:
            last = int(told[-1])
            first = int(told[view.session[told] == view.session[last]][0])
            for kind in self.kinds:
                row = first if kind is self.kinds[-1] else last
                text = view.texts[row]
                part = text[: len(text) // 2].strip() or text
                view.drafts.add(
                    Draft(
                        part,
                        kind,
                        (row,),
                        session=int(view.session[row]),
                        speaker=int(view.speaker[row]),
                    )
                )

    @hook(Phase.CONSOLIDATE, reads=(v.MADE,), adds=(v.HIDE,), sets=())
    def archive(self, view: Any, tick: Tick) -> None:
        mine = [row for row, draft in view.made if draft.maker == self.id]
        view.hide[mine] += self.archives
        self.own += mine


def wrong_rows(entry: Entry, registry: Registry, life: PlainLife | None = None) -> Iterator[str]:
    """A mechanism for which rows count that sleep made and archived, or that match and are archived,
    or that cannot do without rows.
    """
    yield from wrong_few_rows(entry, registry)
    yield from wrong_made_rows(entry, registry, life)
    yield from wrong_kinds(entry, registry)
    yield from wrong_archived_rows(entry, registry)
    yield from wrong_state_of_archived_rows(entry, registry)


def wrong_few_rows(entry: Entry, registry: Registry) -> Iterator[str]:
    """A mechanism, with each of its choices, that answers from a memory without rows that may be
    answered, or changes it when it is asked.  Raises what the mechanism raises in a memory of no
    rows, of one row, and of archived rows alone.
    """
    for around in (Circumstances(), *_choices(entry)):
        memory = Engine(
            everyone(registry, entry.id, around),
            ShortWindow(32),
            tick_hours=1.0,
            consolidate_every=24.0,
            language_model=replying(),
        )
        chosen = f" with {dict(around.choices)}" if around.choices else ""
        asked = [_changed_by_a_question(memory, START + night * 24.0, 0) for night in (0, 2)]
        memory.encode(Event(START + 60.0, TOLD[0][3], TOLD[0][2], TOLD[0][1], "e0"))
        asked += [
            _changed_by_a_question(memory, START + 60.0 + night * 24.0, 10) for night in (0, 2)
        ]
        for row in range(memory.store.n):
            memory.archive(row)
        asked.append(_changed_by_a_question(memory, memory.now, 0))
        asked.append(_changed_by_a_question(memory, memory.now + 48.0, 10))
        for changed in asked:
            if changed:
                yield f"a question to a memory of few rows{chosen} {changed}"
                return


def _choices(entry: Entry) -> Iterator[Circumstances]:
    """Each other word and truth value of each parameter."""
    for name, p in entry.params.items():
        others = (not p.value,) if isinstance(p.value, bool) else p.choices
        for value in others:
            if value != p.value:
                yield Circumstances(choices={name: value})


def _changed_by_a_question(memory: Engine, time: float, most: int) -> str:
    """What is wrong if a memory is asked that may answer with `most` rows; "" if nothing is."""
    memory.advance(time)
    kept = [c for c in memory.store.columns if c.scope.persists]
    before = {c.name: memory.column(c).tobytes() for c in kept}
    answer = memory.retrieve(Query(QUESTIONS[0], session=TOLD[0][1]), 20)
    if memory.sources:
        memory.context(QUESTIONS[0], TOKENS, session=TOLD[0][1])
    if len(answer) > most:
        return f"is answered by {len(answer)} rows"
    changed = [c.name for c in kept if memory.column(c).tobytes() != before[c.name]]
    return f"changes {', '.join(changed)}" if changed else ""


def wrong_made_rows(
    entry: Entry, registry: Registry, life: PlainLife | None = None
) -> Iterator[str]:
    """A mechanism that treats events otherwise because sleep made rows that nobody can see."""
    for around in shipped_and_switched_on(entry):
        plain = life.used if life and not around.choices else used_life(registry, entry.id, around)
        yield from _wrong_made_rows(entry, registry, around, plain)


def _wrong_made_rows(
    entry: Entry, registry: Registry, around: Circumstances, plain: Engine
) -> Iterator[str]:
    """plain  the life without rows that sleep made"""
    loaded, archivist = entry.load(), MakerOfArchivedRows()
    grown = used_life(registry, entry.id, around, beside=(archivist,))
    rows = np.delete(np.arange(grown.store.n), archivist.own)
    if len(rows) != plain.store.n:
        yield f"{plain.store.n} rows are stored, and {len(rows)} beside rows that sleep made"
        return
    yield from _wrong_columns_of_events(loaded, plain, grown, rows)
    signals = [c for c in loaded.owns if isinstance(c, Signal)]
    # in a session, of which the last row is one that sleep made
    in_session = [Query(q, session=TOLD[-1][1]) for q in QUESTIONS[:3]]
    for question in (*map(Query, QUESTIONS), *in_session):
        asked = question.text
        alone, beside = plain.retrieve(question, 20), grown.retrieve(question, 20)
        if rows[alone.rows].tolist() != beside.rows.tolist():
            yield f"{asked!r} has another answer beside rows that sleep made and archived"
            return
        for s in signals:
            once, other = plain.column(s), grown.column(s)[rows]
            if not np.allclose(once, other, rtol=1e-4, atol=1e-5, equal_nan=True):
                yield f"{s.name} of events differs beside rows that sleep made and archived"
                return
        if plain.sources and not question.session:
            alone_text, beside_text = (
                NUMBERED.sub("", m.context(asked, PLENTY, session="h").text) for m in (plain, grown)
            )
            if alone_text != beside_text:
                yield f"{asked!r} has another context beside rows that sleep made and archived"
                return


def _wrong_columns_of_events(
    loaded: type[Mechanism[Any]], plain: Engine, grown: Engine, rows: NDArray[np.int64]
) -> Iterator[str]:
    """Columns of `grown` whose cells in `rows`, the events, are others than in `plain`."""
    place = np.full(grown.store.n, -2)
    place[rows] = np.arange(len(rows))
    owned = [
        c for c in loaded.owns if isinstance(c, Column) and c.scope is Scope.MEMORY and c.persists
    ]
    for column in (v.VISIBLE, *owned):
        once, other = np.asarray(plain.column(column)), np.asarray(grown.column(column))[rows]
        if column.upkeep.rows is ...:
            if not np.array_equal(once, _renumbered(other, place)):
                yield f"{column.name} of events names rows that sleep made and archived"
        elif np.dtype(column.dtype).kind == "f" and column.upkeep.rows is None:
            if not np.allclose(once, other, rtol=1e-5, atol=ROUNDING, equal_nan=True):
                yield f"{column.name} of events differs beside rows that sleep made and archived"
        elif column.upkeep.rows is None and not (
            np.array_equal(once, other)
            # numbers of rows or of writings, which are more beside those that sleep made
            or (column.neutral == -1 and _same_order(once, other))
        ):
            yield f"{column.name} of events differs beside rows that sleep made and archived"


def _renumbered(numbers: NDArray[Any], place: NDArray[np.int64]) -> NDArray[Any]:
    """Numbers of rows as `place` counts them; what is no row of it stays."""
    rows = (numbers >= 0) & (numbers < len(place))
    return np.where(rows, place[np.where(rows, numbers, 0).astype(np.int64)], numbers)


def _same_order(once: NDArray[Any], other: NDArray[Any]) -> bool:
    """Whether two numberings differ only in that some numbers are left out."""
    pairs = np.unique(np.stack([once.ravel(), other.ravel()], axis=1), axis=0)
    apart = np.diff(pairs, axis=0) > 0
    return bool(apart.all() and ((pairs[:, 0] < 0) == (pairs[:, 1] < 0)).all())


def wrong_kinds(entry: Entry, registry: Registry) -> Iterator[str]:
    """A mechanism for which the kinds of rows that are no events count, and whose entry does not say
    so.
    """
    loaded = entry.load()
    said = f"{entry.summary} {entry.acts_on}"
    if v.KIND not in read_by(loaded.hooks()) or any(w.search(said) for w in WORDS_OF.values()):
        return
    if asks_for_events_alone(entry):
        return  # no life could differ
    for around in shipped_and_switched_on(entry):
        yield from _wrong_kinds(entry, registry, around)


def _wrong_kinds(entry: Entry, registry: Registry, around: Circumstances) -> Iterator[str]:
    summaries, *others = (
        _seen_with_rows_of(kind, entry, registry, around)
        for kind in (Kind.SUMMARY, Kind.BUNDLE, Kind.SEGMENT)
    )
    for seen in others:
        if name := _first_unlike(summaries, seen, rtol=1e-5, atol=ROUNDING):
            yield f"{name} differs with the kind of rows that are no events"
            return


def _first_unlike(once: Seen, other: Seen, *, rtol: float, atol: float) -> str:
    """The name of the first value that two lives do not share; "" if they share all."""
    for (name, x), (_, y) in zip(once, other, strict=True):
        if x.shape != y.shape or not np.allclose(x, y, rtol=rtol, atol=atol, equal_nan=True):
            return name
    return ""


def _seen_with_rows_of(kind: Kind, entry: Entry, registry: Registry, around: Circumstances) -> Seen:
    """Names and values of what is seen of a life in which sleep makes visible rows of a kind."""
    loaded, maker = entry.load(), MakerOfArchivedRows((Kind.SUMMARY,), archives=False)

    def as_kind(memory: Engine, number: int) -> None:
        # the engine writes rows of each kind in its own way; only what hooks read is changed
        memory.store.array(v.KIND)[maker.own] = kind

    beside = (maker, Fading("fading", Params(1.0)))
    ways: dict[str, Any] = {"language_model": replying(), "after": as_kind, **OFTEN}
    memory = lived(registry, entry.id, around, beside=beside, **ways)
    as_kind(memory, len(TOLD))
    values: Seen = [
        (c.name, np.array(memory.column(c), np.float64))
        for c in loaded.owns
        if isinstance(c, Column) and c.scope.persists
    ]
    signals = [c for c in loaded.owns if isinstance(c, Signal)]
    for question in QUESTIONS[:4]:
        asked = Query(question, session="h")
        values.append((f"the answer to {question!r}", memory.retrieve(asked, 20).rows))
        values += [(s.name, np.array(memory.column(s), np.float64)) for s in signals]
    if memory.sources:
        offered = memory.context(QUESTIONS[0], PLENTY, session="h").text
        values.append(("a context", np.array(list(map(ord, offered)), np.float64)))
    return values


# words of an entry for the kinds of rows that are no events
WORDS_OF: Final = {
    Kind.SEGMENT: re.compile(r"\bsegments?\b"),
    Kind.BUNDLE: re.compile(r"\bbundles?\b"),
    Kind.SUMMARY: re.compile(r"\bsummar(y|ies)\b"),
}
NUMBERED: Final = re.compile(r"\[(\d+|Truncated.*)\]")  # rows, and what was left out
PLENTY: Final = 4000  # tokens, so that the digits of a row leave nothing out
LOUD: Final = signal("loud", Facet.MEANING, "a score of the check", scale=Scale.SIMILARITY)


@dataclass(frozen=True, slots=True)
class LoudParams(Params):
    weight: float


class Loud(Mechanism[LoudParams]):
    """Gives archived rows a score, and all others their place in the memory.

    score  of archived rows
    """

    owns = (LOUD,)
    score = 0.0

    @hook(Phase.RETRIEVE, reads=(v.VISIBLE,), adds=(), sets=(LOUD,))
    def speak(self, view: Any, cue: Any) -> None:
        n = len(view.visible)
        view.loud[...] = np.where(view.visible, np.cos(np.arange(n)), self.score)


def wrong_archived_rows(entry: Entry, registry: Registry) -> Iterator[str]:
    """A mechanism whose scores of visible rows depend on how well archived rows match."""
    read = read_by(h for h in entry.load().hooks() if h.phase is Phase.RETRIEVE)
    if not any(
        item is v.SIGNALS or (isinstance(item, Column) and item.scope is Scope.CANDIDATE)
        for item in read
    ):
        return  # it sees no score, since a view refuses what is not declared
    loud = Loud("loud", LoudParams(1.0, 1.0), order=-1)
    memory = lived(registry, entry.id, beside=(loud,))
    for row in range(5, memory.store.n, 7):
        memory.archive(row)
    visible = memory.column(v.VISIBLE).copy()
    own = [c for c in entry.load().owns if isinstance(c, Column) and c.scope is Scope.CANDIDATE]
    seen = []
    for number, score in enumerate((-1.0, 1.0)):
        loud.score = score
        answers, columns = [], []
        for question in QUESTIONS:
            # a blank, since the answer to the same question is kept
            answers.append(memory.retrieve(question + " " * number, 10).rows.tolist())
            columns += [np.array(memory.column(c), np.float64)[visible] for c in own]
        seen.append((answers, columns))
    (rows, columns), (others, louder) = seen
    names = [c.name for _ in QUESTIONS for c in own]
    wrong = {
        name
        for name, once, other in zip(names, columns, louder, strict=True)
        if not np.allclose(once, other, rtol=1e-5, atol=ROUNDING, equal_nan=True)
    }
    for name in sorted(wrong):
        yield f"{name} of visible memories depends on how well archived ones match"
    if not wrong and rows != others:
        yield "answers depend on how well archived memories match"


OF_ARCHIVED: Final = re.compile(r"\barchived\b")
# numbers of the events that are archived in the midst of a life, and of the one after which they are
ARCHIVED_EARLY: Final = (3, 8, 13, 18, 23, 27)
ARCHIVED_AFTER: Final = 30


def wrong_state_of_archived_rows(entry: Entry, registry: Registry) -> Iterator[str]:
    """A mechanism for which it counts, later in a life, what it holds of rows that were archived
    before, and whose entry does not say so: these rows exchange what it holds of them.  Factors along
    the rows do count.
    """
    loaded = entry.load()
    words = [
        entry.acts_on,
        *(d.what for d in entry.departures),
        *(p.note for p in entry.params.values()),
    ]
    if OF_ARCHIVED.search(" ".join(words)):
        return
    held = [
        c
        for c in loaded.owns
        if isinstance(c, Column)
        and c.scope is Scope.MEMORY
        and c.persists
        and c.neutral != -1  # no numbers of rows or of writings
        and c.upkeep.rows is None
        and not c.upkeep.chained
    ]
    if not held:
        return
    kept, exchanged = (_seen_after_archiving(entry, registry, held, e) for e in (False, True))
    if name := _first_unlike(kept, exchanged, rtol=1e-4, atol=1e-5):
        yield f"{name} depends on what is held of archived rows"


def _seen_after_archiving(
    entry: Entry, registry: Registry, held: list[Column], exchanged: bool
) -> Seen:
    """Names and values of what is seen at the end of the visible rows."""

    def archive(memory: Engine, number: int) -> None:
        if number == ARCHIVED_AFTER:
            rows = [row for row in ARCHIVED_EARLY if row < memory.store.n]
            for row in rows:
                memory.archive(row)
            for column in held if exchanged else ():
                cells = memory.store.array(column)
                cells[rows] = cells[np.roll(rows, 1)]

    memory = lived(registry, entry.id, language_model=replying(), after=archive)
    visible = memory.column(v.VISIBLE).copy()

    def seen(columns: Iterable[Column]) -> Seen:
        return [(c.name, np.array(memory.column(c), np.float64)[visible]) for c in columns]

    signals = [c for c in entry.load().owns if isinstance(c, Signal)]
    values = seen(held)
    for question in QUESTIONS:
        values.append((f"the answer to {question!r}", memory.retrieve(question, 10).rows.copy()))
        values += seen(signals)
    return values
