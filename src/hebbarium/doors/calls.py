"""What is asked of a memory from outside, each call as one function with plain values in and out:
the commands of a memory file, the tools of the server and the hooks of assistants all use these.

`what` names a row of the memory by its number or by the id of its
event.  Every function raises InputError for bad input, with nothing changed, and returns what JSON
takes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any, Final

from ..engine.base.errors import InputError, nearest
from ..engine.base.times import hours, moment
from ..engine.context.context import Context
from ..engine.contract.records import (
    Attributes,
    Event,
    Only,
    Query,
    Wanted,
    attribute_pairs,
    wanted_attributes,
)
from ..engine.contract.units import Unit
from ..engine.contract.vocabulary import VISIBLE
from ..engine.memory.engine import Engine
from ..engine.memory.history import history
from ..engine.memory.nights import DAY
from ..engine.state.graph import EdgeType
from ..engine.text.features import normal_name
from ..reporting.files import finite
from .moments import here
from .uncertainty import uncertainty

Plain = dict[str, Any]
CORRECTS: Final = "corrects"  # attribute of an event that replaces another one
MOST: Final = 1_000  # rows of one answer
TEXT_MOST: Final = 1_000_000  # characters of a text that is told


def written(time: float, offset: float | None = None) -> str:
    """ISO 8601 of a simulated time, to the second, as a clock with that offset shows it; "" for
    NaN.
    """
    return "" if math.isnan(time) else moment(time, offset).isoformat(timespec="seconds")


# --- telling --------------------------------------------------------------------------------------
def tell(
    memory: Engine,
    text: str,
    *,
    time: datetime,
    speaker: str = "",
    session: str = "",
    id: str = "",
    attributes: Attributes = (),
) -> Plain:
    """Tell the memory something that was said or happened at a time.

    However long the memory was left alone, its present follows to a time that the clock of this
    machine has reached.  A time that is far ahead of both is taken for that of a wrong clock: it is
    stored, the present stays, and `note` says so.
    """
    if not text.strip():
        raise InputError("the text is empty", where="tell", cure="give what should be remembered")
    if len(text) > TEXT_MOST:
        raise InputError(
            f"the text has {len(text):,} characters",
            where="tell",
            cure=f"tell it in parts of at most {TEXT_MOST:,} characters",
        )
    event = Event.at(time, text, speaker, session, id, attributes=attribute_pairs(attributes))
    encoded = memory.encode(event, confirm=event.time <= hours(here()) + DAY)
    told: Plain = {"stored": bool(encoded), "row": encoded.row, "id": id}
    if event.time > memory.now:
        told["note"] = (
            f"its time is ahead of the present of the memory, {written(memory.now)}, which stays; "
            "if the time is wrong, erase it"
        )
    return told | {
        "time": written(hours(time), event.offset),
        "why": "" if encoded else f"refused by {', '.join(encoded.vetoed_by)}",
    }


def correct(memory: Engine, what: str | int, text: str, *, time: datetime) -> Plain:
    """Tell what is true instead of a memory, and archive that one.  Raises InputError for one that
    is hidden, since what took its place would stay beside the correction.
    """
    row = row_of(memory, what)
    old = memory.unit(row)
    if not memory.column(VISIBLE)[row]:
        raise InputError(
            f"row {row} is hidden or erased already",
            where="correct",
            cure="correct the memory that took its place, or tell the text as a new one",
        )
    told = tell(
        memory,
        text,
        time=time,
        speaker=old.speaker,
        session=old.session,
        attributes={CORRECTS: old.id or str(row)},
    )
    if told["stored"]:
        memory.archive(row)
    return told | {"archived": row if told["stored"] else None}


# --- asking ---------------------------------------------------------------------------------------
def only(
    since: datetime | None = None,
    until: datetime | None = None,
    speakers: Sequence[str] = (),
    sessions: Sequence[str] = (),
    attributes: Wanted = (),
    exclude: Sequence[str] = (),
    entities: Sequence[str] = (),
) -> Only | None:
    """A filter of the conditions that are given; None without any.  Raises InputError for a period
    that ends before it begins.
    """
    if since is not None and until is not None and until < since:
        raise InputError(
            f"the period ends at {until.isoformat()}, before it begins",
            where="until",
            cure=f"give a time from {since.isoformat()} on",
        )
    conditions = Only(
        None if since is None else hours(since),
        None if until is None else hours(until),
        tuple(sessions),
        tuple(speakers),
        wanted_attributes(attributes),
        tuple(exclude),
        tuple(entities),
    )
    return None if conditions == Only() else conditions


def _of_types(memory: Engine, which: Only | None, types: Sequence[str]) -> Only | None:
    """The filter, which admits only memories that mention an entity of one of these types, or one
    that it names; without types the filter itself.
    """
    if not types:
        return which
    from ..lookups import Lookups

    which = which or Only()
    return replace(which, entities=(*which.entities, *Lookups(memory).of_types(*types)))


def ask(
    memory: Engine,
    question: str,
    k: int = 10,
    *,
    which: Only | None = None,
    types: Sequence[str] = (),
    session: str = "",
) -> Plain:
    """The best memories for a question; the memory stays as it is.

    types  of entities, one of which each memory mentions; (): any
    """
    only = _of_types(memory, which, types)
    answer = memory.retrieve(Query(question, only=only, session=session), checked_limit(k))
    hits = [plain_unit(unit) | {"score": round(float(score), 6)}
            for unit, score in zip(answer.units, answer.scores, strict=True)]  # fmt: skip
    return {
        "question": question,
        "present": written(memory.now),
        "sufficiency": round(float(answer.sufficiency), 6),
        "memories": hits,
    }


def context(
    memory: Engine,
    question: str,
    tokens: int | None = None,
    *,
    which: Only | None = None,
    types: Sequence[str] = (),
    session: str | None = None,
    uncertain: bool = False,
) -> Plain:
    """The text that a language model gets for a question, under a budget of tokens.

    types      as of `ask`
    uncertain  adds how sure it is: a line for the reader, and the numbers behind it
    """
    only = _of_types(memory, which, types)
    made = memory.context(question, tokens, only=only, session=session or None)
    rows = list(dict.fromkeys(part.row for part in made.components if part.row >= 0))
    return {
        "question": question,
        "text": made.text,
        "tokens": made.tokens,
        "counter": made.counter,
        "truncated": made.truncated,
        "rows": rows,
        "ids": [memory.unit(row).id for row in rows],
        **(_uncertain(memory, made) if uncertain else {}),
    }


def _uncertain(memory: Engine, made: Context) -> Plain:
    known = uncertainty(memory, made)
    return {
        "uncertain": known.line(),
        "sufficiency": known.sufficiency,
        "memories": [asdict(age) for age in known.memories],
    }


def used(
    memory: Engine,
    question: str,
    needed: Iterable[str | int],
    outcome: float | None = None,
    *,
    session: str = "",
) -> Plain:
    """Tell the memory which rows were needed for a question, and how well the answer served (from
    -1 to 1): it learns from that.
    """
    rows = [row_of(memory, what) for what in needed]
    answer = memory.retrieve(Query(question, session=session), max(10, len(rows)))
    return {"question": question, "needed": memory.use(answer, rows, outcome).tolist()}


def explain(memory: Engine, question: str, what: str | int) -> Plain:
    """Why a memory is ranked where it is for a question: signals and the rank after each stage."""
    made = asdict(memory.explain(question, row_of(memory, what)))
    for part in made["signals"]:
        part["facet"] = part["facet"].name.lower()
    return finite(made)  # type: ignore[no-any-return]


# --- looking --------------------------------------------------------------------------------------
def row_of(memory: Engine, what: str | int) -> int:
    """The row that a number, or the id of an event, names.  An id stands before a number; of an
    erased event and a later one with its id it is that of the later one.
    """
    if isinstance(what, bool) or not isinstance(what, str | int):
        raise InputError(
            f"{what!r} names no memory", where="row", cure="give a row, or the id of an event"
        )
    if isinstance(what, int):
        return memory.unit(what).row
    log = memory.event_log
    if what and log.numbers(what):
        row = log.row(what)
        if row < 0:
            raise InputError(
                f"event {what!r} was refused, so it has no row",
                where="row",
                cure="give an event that is stored",
            )
        return row
    if what.isdecimal():
        return memory.unit(int(what)).row
    known = [e.id for n, e in enumerate(memory.events) if e.id and not log.is_stub(n)]
    cure = nearest(what, known) if known else "no event has an id: give the number of its row"
    raise InputError(f"no event has the id {what!r}", where="row", cure=cure)


def show(memory: Engine, what: str | int) -> Plain:
    """All of one memory, verbatim, with what it was made from, its versions and edits."""
    past = history(memory, row_of(memory, what))
    row, unit = past.unit.row, past.unit
    number = memory.event_log.rows[row]
    attributes = memory.events[number].attributes if number >= 0 else ()
    return plain_unit(unit) | {
        "attributes": [list(pair) for pair in attributes],
        "visible": bool(memory.column(VISIBLE)[row]),
        "events": list(unit.events),
        "sources": list(unit.sources),
        "maker": past.writing.maker if past.writing else "",
        "made_from": list(past.sources),
        "versions": list(past.versions),
        "made": list(past.made),
        "edits": [
            {"kind": str(edit.kind), "maker": edit.maker, "text": edit.text,
             "time": written(edit.time)}
            for edit in (memory.event_log.writings[number] for number in past.edits)
        ],
    }  # fmt: skip


def plain_unit(unit: Unit) -> Plain:
    """What a row holds."""
    return {
        "row": unit.row,
        "id": unit.id,
        "kind": unit.kind.word,
        "time": written(unit.time, unit.offset),
        "speaker": unit.speaker,
        "session": unit.session,
        "text": unit.text,
    }


def told(memory: Engine) -> Iterator[tuple[Event, int]]:
    """Every event that is not erased, with its row (-1: refused), in the order of telling."""
    log = memory.event_log
    # of an event that another thread is telling just now the row is not known yet
    for number, (event, row) in enumerate(zip(memory.events, log.row_of, strict=False)):
        if not log.is_stub(number):
            yield event, row


def plain_event(event: Event, row: int, visible: bool = True) -> Plain:
    return {
        "row": row,
        "id": event.id,
        "time": written(event.time, event.offset),
        "speaker": event.speaker,
        "session": event.session,
        "text": event.text,
        "attributes": [list(pair) for pair in event.attributes],
        "archived": not visible,
    }


def timeline(
    memory: Engine,
    *,
    which: Only | None = None,
    about: str = "",
    limit: int = 50,
    latest: bool = True,
) -> Plain:
    """Events in the order of their times.

    which   conditions that they meet
    about   words, all of which stand in the text or the names of speaker and session
    limit   most that are listed
    latest  whether the last of them are listed, or the first
    """
    limit = checked_limit(limit)
    words, visible = about.casefold().split(), memory.column(VISIBLE)
    listed = [
        plain_event(event, row, row < 0 or bool(visible[row]))
        for event, row in sorted(told(memory), key=lambda pair: pair[0].time)
        if (which is None or _admits(which, event))
        and all(w in f"{event.speaker} {event.session} {event.text}".casefold() for w in words)
    ]
    chosen = listed[-limit:] if latest else listed[:limit]
    return {"events": chosen, "of": len(listed), "present": written(memory.now)}


def _admits(which: Only, event: Event) -> bool:
    from ..engine.memory.arguments import checked_only
    from ..engine.steps.filter import admits

    return bool(admits(checked_only(which, "timeline"), event))


def entities(memory: Engine, name: str = "", limit: int = 50) -> Plain:
    """People, places and things by how many memories mention them; of one, the memories."""
    graph, limit = memory.graph, checked_limit(limit)
    edges = graph.alive & (graph.type == EdgeType.ENTITY) & (graph.source >= 0) & (graph.target < 0)
    pairs = set(zip(graph.source[edges].tolist(), (~graph.target[edges]).tolist(), strict=True))
    counts = Counter(entity for _, entity in pairs)
    known = {graph.entity_name(e): e for e in counts}
    if not name:
        ranked = sorted(known.items(), key=lambda pair: (-counts[pair[1]], pair[0]))
        listed = [{"name": entity_name, "memories": counts[e]} for entity_name, e in ranked[:limit]]
        return {"entities": listed, "of": len(known)}
    entity = known.get(normal_name(name))
    if entity is None:
        raise InputError(
            f"no memory mentions an entity {name!r}",
            where="entities",
            cure=nearest(normal_name(name), list(known)) if known else
            "the set of this memory finds no entities; `rebuild` it with one such as default",
        )  # fmt: skip
    rows = sorted(row for row, e in pairs if e == entity)
    return {
        "name": graph.entity_name(entity),
        "memories": [plain_unit(memory.unit(row)) for row in rows[-limit:]],
        "of": len(rows),
    }


def stats(memory: Engine) -> Plain:
    """Counts, times and the make of a memory."""
    log, visible = memory.event_log, memory.column(VISIBLE)
    events = [event for event, _ in told(memory)]
    kinds = Counter(log.kind(row).word for row in range(len(visible)))
    spoken = Counter(event.speaker for event in events if event.speaker)
    return {
        "events": len(events),
        "erased": len(memory.events) - len(events),
        "memories": dict(kinds),
        "archived": len(visible) - int(visible.sum()),
        "speakers": dict(spoken.most_common(20)),
        "sessions": len({event.session for event in events if event.session}),
        "entities": len(memory.graph.entity_names()),
        "first_event": written(min((event.time for event in events), default=math.nan)),
        "last_event": written(max((event.time for event in events), default=math.nan)),
        "present": written(memory.now),
        "last_consolidation": written(memory.clock.consolidated),
        "mechanisms": [mechanism.id for mechanism in memory.mechanisms],
        "embedder": memory.assembly.embedder.name,
    }


# --- keeping --------------------------------------------------------------------------------------
def erase(memory: Engine, what: str | int | Only, confirm: bool) -> Plain:
    """Overwrite the text of events for good; without `confirm` only say what would be lost."""
    named = what if isinstance(what, Only) else row_of(memory, what)
    erasure = memory.erase(named, confirm=confirm)
    return {
        "erased": erasure.done,
        "events": erasure.events,
        "made": erasure.made,
        "ids": list(erasure.ids),
        "rows": list(erasure),
        "says": repr(erasure),
    }


def archive(memory: Engine, what: str | int) -> Plain:
    """Hide a memory until it is restored."""
    row = row_of(memory, what)
    memory.archive(row)
    return {"row": row, "visible": bool(memory.column(VISIBLE)[row])}


def restore(memory: Engine, what: str | int) -> Plain:
    """Show an archived memory again."""
    row = row_of(memory, what)
    memory.restore(row)
    return {"row": row, "visible": bool(memory.column(VISIBLE)[row])}


def consolidate(memory: Engine, until: datetime) -> Plain:
    """Let time pass until a moment: the memory decays, and consolidates at the end of each sleep
    before it.
    """
    before, rows = memory.clock.consolidated, memory.event_log
    made = len(rows.made)
    memory.advance(max(hours(until), memory.now), confirm=True)
    return {
        "present": written(memory.now),
        "last_consolidation": written(memory.clock.consolidated),
        "consolidated": memory.clock.consolidated != before,
        "made": len(rows.made) - made,
    }


def markdown(memory: Engine, session: str | None = None) -> Iterator[str]:
    """The events that are not erased as lines of Markdown, by day; every line of a memory is
    quoted, so that none of it reads as a heading or an instruction of the page.

    session  only events of this one; None: all
    """
    yield "# Memory\n" if session is None else f"# {_one_line(session)}\n"
    day, visible = "", memory.column(VISIBLE)
    for event, row in sorted(told(memory), key=lambda pair: pair[0].time):
        if (session is not None and event.session != session) or (row >= 0 and not visible[row]):
            continue
        if (now := f"{event.local:%Y-%m-%d}") != day:
            day = now
            yield f"\n## {day}\n"
        said = f"[{row}] {event.local:%H:%M} {event.speaker + ': ' if event.speaker else ''}"
        yield "\n"
        for line in (said + event.text).splitlines():
            yield f"> {line}\n"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def records(memory: Engine, conversation: str) -> Iterator[Plain]:
    """The events that are not erased in the form of one's own conversations, see
    docs/guides/data.md.  An event without an id gets its place.
    """
    for number, (event, _) in enumerate(told(memory)):
        yield record(event, conversation, event.id or f"event {number}")


def record(event: Event, conversation: str, id: str) -> Plain:
    """An event as a line of events.jsonl."""
    grouped: dict[str, list[str]] = {}
    for key, value in event.attributes:
        grouped.setdefault(key, []).append(value)
    return {
        "conversation": conversation,
        "id": id,
        "time": event.local.isoformat(timespec="milliseconds"),
        "speaker": event.speaker,
        "session": event.session,
        "text": event.text,
        **({"caption": event.caption} if event.caption else {}),
        **({} if event.dated else {"dated": False}),
        **({"attributes": grouped} if grouped else {}),
    }


def checked_limit(limit: Any) -> int:
    """How many rows are wanted.  Raises InputError."""
    if isinstance(limit, bool) or not isinstance(limit, int) or not 0 < limit <= MOST:
        raise InputError(
            f"{limit!r} memories are asked for", where="limit", cure=f"ask for 1 to {MOST:,}"
        )
    return limit
