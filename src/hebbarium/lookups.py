"""Look-ups of a memory's contents by what they are about, without a query: sessions, entities,
relations and patterns, and what a query asks for.

The Context Assembly Specification has them as interfaces of its memories.  They read what may be
shown now and change nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .engine.base.checks import checked_count
from .engine.base.errors import HebbariumError, InputError
from .engine.contract.drafts import Kind
from .engine.contract.vocabulary import CREATED, IMPORTANCE, KIND, SESSION, SPEAKER, TEXTS, VISIBLE
from .engine.memory.engine import Engine
from .engine.state.graph import EdgeType, entity_node
from .engine.text.features import features, fold, terms_of
from .mechanisms.retrieval.entity_context import ENTITY, READ, profile, saliences
from .mechanisms.retrieval.pattern_context import APPLICATIONS, PATTERN, SUCCESSES, rate
from .mechanisms.shared.facts import teller
from .mechanisms.shared.items import Signals, signals_of
from .mechanisms.shared.relations import HeldRelation, RelationTable

WHERE = "lookups"


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """A session by its events that may be shown.

    name         of the session; "": events without one
    events       number
    first, last  h, of the first and the last event
    """

    name: str
    events: int
    first: float
    last: float


@dataclass(frozen=True, slots=True)
class EntityRecord:
    """An entity.

    name        normal form
    type        person, place, organisation, project, file, code, date, thing or entity
    salience    summed importance of the memories that mention it, over the largest of all; 0 to 1
    rows        of these memories, ascending
    properties  latest value of each fact that the last five of them tell
    """

    name: str
    type: str
    salience: float
    rows: tuple[int, ...]
    properties: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class PatternRecord:
    """A standing instruction or preference.

    row           of the memory
    text          as it was said
    rate          (successes + 1) / (applications + 2)
    applications  uses with an outcome
    shared        words of the query that it holds
    """

    row: int
    text: str
    rate: float
    applications: int
    shared: tuple[str, ...]


class Lookups:
    """The look-ups of one memory.

    >>> import hebbarium as hb
    >>> memory = hb.memory("bm25", embedding="hashing:64")
    >>> _ = memory.encode_all(hb.Event(float(n), text, "Bo", f"S{n}") for n, text in enumerate(("They say Ada lives in Oslo.", "So Ada sings.")))
    >>> ask = Lookups(memory)
    >>> [session.name for session in ask.recent_sessions(1)], ask.find_entity("Ada").rows
    (['S1'], (0, 1))
    >>> [(r.source, r.kind, r.target) for r in ask.relations("ada")]
    [('ada', 'lives in', 'oslo')]
    """

    def __init__(self, memory: Engine) -> None:
        self._memory = memory

    def signals(self, query: str) -> Signals:
        """What a query asks for: keywords, the entities in it that the memory knows, its intent and
        the kinds of event that go with it.
        """
        graph = self._memory.graph
        names = features(query).entities
        return signals_of(query, names, {n for n in names if graph.entity_id(n) is not None})

    def recent_sessions(self, most: int = 5) -> tuple[SessionRecord, ...]:
        """The sessions of the latest events, the latest first.  Raises InputError.  O(n log n)."""
        checked_count(most, "most")
        memory = self._memory
        rows = np.flatnonzero(self._shown() & (memory.column(KIND) == Kind.EVENT))
        session, time = memory.column(SESSION)[rows], memory.column(CREATED)[rows]
        names = memory.event_log.sessions
        records = [
            SessionRecord(
                names.name(int(number)),
                int(np.count_nonzero(session == number)),
                float(time[session == number].min()),
                float(time[session == number].max()),
            )
            for number in np.unique(session)
        ]
        return tuple(sorted(records, key=lambda record: (-record.last, record.name))[:most])

    def find_entity(self, name: str) -> EntityRecord | None:
        """What is known of an entity; None if no memory that may be shown mentions it.
        O(entity links).
        """
        number = self._memory.graph.entity_id(fold(name))
        if number is None:
            return None
        record = self._entity(number, self._saliences(), self._table())
        return record if record.rows else None

    def salient_entities(self, most: int = 10) -> tuple[EntityRecord, ...]:
        """The entities of the greatest salience.  Raises InputError.  O(entity links)."""
        checked_count(most, "most")
        salience, table = self._saliences(), self._table()
        order = np.argsort(-salience, kind="stable")[:most]
        return tuple(self._entity(int(e), salience, table) for e in order if salience[e] > 0.0)

    def relations(self, name: str) -> tuple[HeldRelation, ...]:
        """The typed relations of an entity that hold, in both directions, as the texts tell them.
        O(length of all texts).
        """
        return tuple(self._table().of(fold(name), self._shown()))

    def match_patterns(self, query: str, most: int = 10) -> tuple[PatternRecord, ...]:
        """Standing instructions: those that share words with the query first, then by their rate
        of success.  Raises InputError for a memory whose set marks none.
        """
        checked_count(most, "most")
        memory = self._memory
        try:
            marked, applied, served = (
                memory.column(column) for column in (PATTERN, APPLICATIONS, SUCCESSES)
            )
        except HebbariumError as error:
            raise InputError(
                "this memory marks no patterns",
                where=WHERE,
                cure="choose a set with pattern_context, such as default+coding",
            ) from error
        asked = dict.fromkeys(terms_of(query, stop_words=True))
        records = []
        for row in np.flatnonzero(marked & self._shown()).tolist():
            text = memory.event_log.text(row)
            words = set(terms_of(text, stop_words=True))
            records.append(
                PatternRecord(
                    row,
                    text,
                    rate(float(served[row]), float(applied[row])),
                    int(applied[row]),
                    tuple(word for word in asked if word in words),
                )
            )
        order = sorted(records, key=lambda record: (not record.shared, -record.rate, record.row))
        return tuple(order[:most])

    # --- what they share --------------------------------------------------------------------------
    def _shown(self) -> NDArray[np.bool_]:
        return np.asarray(self._memory.column(VISIBLE), dtype=np.bool_)

    def _table(self) -> RelationTable:
        memory, table = self._memory, RelationTable()
        columns = (memory.column(column) for column in (SPEAKER, CREATED, KIND))
        table.read(memory.store.structures[TEXTS], *columns)
        return table

    def _saliences(self) -> NDArray[np.float64]:
        graph = self._memory.graph
        links, salience = graph.csr(EdgeType.ENTITY), np.empty(graph.n_entities)
        saliences(graph.n_entities, links.start, links.degree, links.pool, graph.target,
                  self._memory.column(IMPORTANCE), self._shown(), salience)  # fmt: skip
        return salience

    def _entity(
        self, number: int, salience: NDArray[np.float64], table: RelationTable
    ) -> EntityRecord:
        graph, texts = self._memory.graph, self._memory.store.structures[TEXTS]
        name = graph.entity_name(number)
        rows = np.unique(graph.target[graph.neighbours(entity_node(number), EdgeType.ENTITY)])
        rows = rows[(rows >= 0) & self._shown()[rows]]
        speaker: Any = self._memory.column(SPEAKER)
        told = [
            (teller(int(speaker[row]), texts[row], texts.rendered(row)), texts[row])
            for row in rows[-READ:].tolist()
        ]
        return EntityRecord(
            name,
            table.type_of(name) or ENTITY,
            float(salience[number]),
            tuple(rows.tolist()),
            profile(name, told),
        )
