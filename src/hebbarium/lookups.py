"""Look-ups of a memory's contents by what they are about, without a query: sessions, entities,
relations and patterns, and what a query asks for.

The Context Assembly Specification has them as interfaces of its memories.  They read what may be
shown now and change nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from .engine.base.checks import checked_count, checked_row
from .engine.base.errors import HebbariumError, InputError, nearest
from .engine.catalogue.registry import Registry
from .engine.contract.drafts import Kind
from .engine.contract.vocabulary import CREATED, IMPORTANCE, KIND, SESSION, SPEAKER, TEXTS, VISIBLE
from .engine.memory.engine import Engine
from .engine.state.graph import EdgeType, rows_of_entity
from .engine.text.features import features, normal_name, terms_of
from .mechanisms.retrieval.entity_context import ENTITY, READ, profile, saliences
from .mechanisms.retrieval.pattern_context import APPLICATIONS, PATTERN, SUCCESSES, rate
from .mechanisms.retrieval.procedure_context import ProcedureContext, matched, procedures
from .mechanisms.retrieval.successor_representation_printed import COACCESS_COUNT
from .mechanisms.shared.facts import teller
from .mechanisms.shared.items import Signals, signals_of
from .mechanisms.shared.relations import HeldRelation, RelationTable

WHERE = "lookups"
TYPES: Final = (
    "person",
    "place",
    "organisation",
    "project",
    "file",
    "code",
    "date",
    "thing",
    ENTITY,
)


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
    type        one of TYPES; the last, entity, if nothing tells another
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


@dataclass(frozen=True, slots=True)
class ProcedureRecord:
    """Work that was done when something was asked.

    asked         what was asked the last time
    steps         what was done, a line each
    rows          of the requests, one for each time
    applications  times whose end is known
    successes     of these, those that ended well
    shared        keywords of the query that the requests hold, as stems
    worth         0 to 1, see `procedure_context`
    """

    asked: str
    steps: tuple[str, ...]
    rows: tuple[int, ...]
    applications: int
    successes: int
    shared: tuple[str, ...]
    worth: float


@dataclass(frozen=True, slots=True)
class ClosenessRecord:
    """A person by how close to somebody.

    name      normal form
    weight    sum over the memories of 2^(-age / half-life)
    memories  number of memories that hold both
    layer     the smallest of Dunbar's layers that holds the person: 5, 15, 50, 150, or 500
    """

    name: str
    weight: float
    memories: int
    layer: int


@dataclass(frozen=True, slots=True)
class JointRetrieval:
    """A memory that was retrieved together with another, over one or more steps.

    row    of the memory
    steps  fewest joint retrievals that lead there
    times  number of joint retrievals of the last step, the most of equally short ways
    """

    row: int
    steps: int
    times: float


LAYERS: Final = (5, 15, 50, 150, 500)  # Dunbar: people of growing distance, in all


def _text(given: Any, what: str) -> str:
    """What was given, if it is a text.  Raises InputError."""
    if not isinstance(given, str):
        raise InputError(f"the {what} {given!r} is no text", where=WHERE, cure="give a str")
    return given


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
        the kinds of event that go with it.  Raises InputError.
        """
        graph = self._memory.graph
        names = features(_text(query, "query")).entities
        return signals_of(query, names, {n for n in names if graph.entity_id(n) is not None})

    def recent_sessions(self, most: int = 5) -> tuple[SessionRecord, ...]:
        """The sessions of the latest events, the latest first.  Raises InputError.  O(n log n)."""
        checked_count(most, "most")
        memory = self._memory
        rows = self._events()
        session, time = memory.column(SESSION)[rows], memory.column(CREATED)[rows]
        numbers, place, events = np.unique(session, return_inverse=True, return_counts=True)
        first, last = np.full(len(numbers), np.inf), np.full(len(numbers), -np.inf)
        np.minimum.at(first, place, time)
        np.maximum.at(last, place, time)
        names = map(memory.event_log.sessions.name, numbers.tolist())
        records = map(SessionRecord, names, events.tolist(), first.tolist(), last.tolist())
        return tuple(sorted(records, key=lambda record: (-record.last, record.name))[:most])

    def find_entity(self, name: str) -> EntityRecord | None:
        """What is known of an entity; None if no memory that may be shown mentions it.
        Raises InputError.  O(entity links).
        """
        number = self._memory.graph.entity_id(normal_name(_text(name, "name")))
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

    def of_types(self, *types: str) -> tuple[str, ...]:
        """The entities of some types, in the order in which they were first mentioned: what
        `Only(entities=...)` takes to answer memories that mention one of them.  ("",), which no
        memory mentions, if there is none.  Raises InputError for another type than those of TYPES.
        O(length of all texts).

        >>> import hebbarium as hb
        >>> memory = hb.memory("bm25", embedding="hashing:64")
        >>> _ = memory.encode_all(hb.Event(float(n), text) for n, text in enumerate(("They say Ada lives in Oslo.", "So it rained.")))
        >>> people = Lookups(memory).of_types("person")
        >>> people, memory.retrieve(hb.Query("What is said?", only=hb.Only(entities=people))).rows.tolist()
        (('ada',), [0])
        """
        for type in types:
            if type not in TYPES:
                raise InputError(
                    f"there is no type of entity {type!r}", where=WHERE, cure=nearest(type, TYPES)
                )
        graph, table, shown = self._memory.graph, self._table(), self._shown()
        of_types = (
            name for name in graph.entity_names() if (table.type_of(name, shown) or ENTITY) in types
        )
        return tuple(of_types) or ("",)

    def relations(self, name: str) -> tuple[HeldRelation, ...]:
        """The typed relations of an entity that hold, in both directions, as the texts tell them.
        Raises InputError.  O(length of all texts).
        """
        return tuple(self._table().of(normal_name(_text(name, "name")), self._shown()))

    def closeness(self, name: str, half_life: float = 30 * 24.0) -> tuple[ClosenessRecord, ...]:
        """The people who share memories with somebody, the closest first, by how often and how
        lately: those who say something of each other, or are mentioned together.  True Memory keeps
        such a hierarchy and prints no rule; this one is ours.

        half_life  h, in which a memory loses half of its weight

        Who is no person by `relations` or by speaking is left out.  Raises InputError.  O(length of
        all texts).
        """
        if not (isinstance(half_life, int | float) and 0.0 < half_life < math.inf):
            raise InputError(
                f"a half-life of {half_life!r} h", where=WHERE, cure="give hours above 0"
            )
        memory, who, table = self._memory, normal_name(_text(name, "name")), self._table()
        graph, created = memory.graph, memory.column(CREATED)
        speaker, names = memory.column(SPEAKER), memory.event_log.speakers
        spoken = {normal_name(names.name(int(n))) for n in np.unique(speaker) if n >= 0}
        shown = self._shown()
        weight, number = dict[str, float](), dict[str, int]()
        for row in self._events().tolist():
            nodes = graph.target[graph.neighbours(row, EdgeType.ENTITY)].tolist()
            held = {graph.entity_name(-1 - node) for node in nodes if node < 0}
            held |= {normal_name(names.name(int(speaker[row])))} - {""}
            for other in held - {who} if who in held else ():
                if other in spoken or table.type_of(other, shown) == "person":
                    age = max(memory.now - float(created[row]), 0.0)
                    weight[other] = weight.get(other, 0.0) + 2.0 ** (-age / half_life)
                    number[other] = number.get(other, 0) + 1
        order = sorted(weight, key=lambda other: (-weight[other], other))[: LAYERS[-1]]
        return tuple(
            ClosenessRecord(
                other, weight[other], number[other], next(n for n in LAYERS if place < n)
            )
            for place, other in enumerate(order)
        )

    def retrieved_together(self, row: int, steps: int = 2) -> tuple[JointRetrieval, ...]:
        """The memories that were retrieved together with a memory, breadth first over joint
        retrievals, the nearest first: Cortex's map of co-access, walked.  Empty unless
        `successor_representation_printed` counts them.  Raises InputError.  O(their edges).
        """
        checked_row(row, self._memory.store.n)
        checked_count(steps, "steps")
        counts = self._joint_counts()
        reached, edge = {row: JointRetrieval(row, 0, 0.0)}, [row]
        for step in range(1, steps + 1):
            new = dict[int, float]()
            for near in edge:
                for other, times in counts.get(near, {}).items():
                    if other not in reached:
                        new[other] = max(new.get(other, 0.0), times)
            reached |= {other: JointRetrieval(other, step, times) for other, times in new.items()}
            edge = list(new)
        del reached[row]
        return tuple(sorted(reached.values(), key=lambda r: (r.steps, -r.times, r.row)))

    def map_of_retrievals(self) -> Mapping[int, tuple[float, float]]:
        """Row -> place in two dimensions of each memory that was retrieved together with others:
        near ones often, far ones seldom.  Laplacian eigenmaps of the numbers of joint retrievals,
        in place of the source's t-SNE, whose result depends on a seed.  O(rows^3).
        """
        counts = self._joint_counts()
        rows = sorted(counts)
        if len(rows) < 3:
            return {row: (float(place), 0.0) for place, row in enumerate(rows)}
        place = {row: n for n, row in enumerate(rows)}
        w = np.zeros((len(rows), len(rows)))
        for row, others in counts.items():
            for other, times in others.items():
                w[place[row], place[other]] = times
        degree = w.sum(axis=1)
        scale = 1.0 / np.sqrt(degree)
        _, vectors = np.linalg.eigh(np.eye(len(rows)) - scale[:, None] * w * scale[None, :])
        xy = vectors[:, 1:3] * scale[:, None]
        xy *= np.where(xy[np.abs(xy).argmax(axis=0), [0, 1]] < 0.0, -1.0, 1.0)
        return {row: (float(x), float(y)) for row, (x, y) in zip(rows, xy, strict=True)}

    def match_patterns(self, query: str, most: int = 10) -> tuple[PatternRecord, ...]:
        """Standing instructions: those that share words with the query first, then by their rate
        of success.  Raises InputError, also for a memory whose set marks none.
        """
        checked_count(most, "most")
        memory, query = self._memory, _text(query, "query")
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

    def match_procedures(self, query: str, most: int = 10) -> tuple[ProcedureRecord, ...]:
        """What was done when something like the query was asked, matched by its keywords, its
        intent and the types of its entities: those that worked and fit best first.  Of any memory;
        the weights are those of its `procedure_context`, else those that ship.  Raises InputError.
        O(n + length of all texts).
        """
        checked_count(most, "most")
        memory, log, query = self._memory, self._memory.event_log, _text(query, "query")
        known = procedures((row, log.of_row(row)) for row in self._events().tolist())
        own = [m.params for m in memory.mechanisms if isinstance(m, ProcedureContext)]
        weights = own[0] if own else Registry.read().instance("procedure_context").params
        table, shown = self._table(), self._shown()

        def type_of(name: str) -> str:
            return table.type_of(name, shown)

        return tuple(
            ProcedureRecord(
                match.asked,
                match.procedure.steps,
                match.procedure.requests,
                match.procedure.applications,
                match.procedure.successes,
                match.words,
                match.worth,
            )
            for match in matched(known, log.text, query, type_of, weights.intent, weights.types)[
                :most
            ]
        )

    # --- what they share --------------------------------------------------------------------------
    def _shown(self) -> NDArray[np.bool_]:
        return np.asarray(self._memory.column(VISIBLE), dtype=np.bool_)

    def _events(self) -> NDArray[np.int64]:
        """Rows of the events that may be shown, ascending."""
        return np.flatnonzero(self._shown() & (self._memory.column(KIND) == Kind.EVENT))

    def _table(self) -> RelationTable:
        memory, table = self._memory, RelationTable()
        speaker, created, kind = (memory.column(column) for column in (SPEAKER, CREATED, KIND))
        table.read(memory.store.structures[TEXTS], speaker, created, kind)
        return table

    def _joint_counts(self) -> dict[int, dict[int, float]]:
        """Row -> row -> number of joint retrievals, of memories that may be shown."""
        graph, shown = self._memory.graph, self._shown()
        counts = dict[int, dict[int, float]]()
        try:
            times = self._memory.column(COACCESS_COUNT)
        except HebbariumError:
            return counts
        for edge in np.flatnonzero(np.asarray(graph.alive) & (times > 0.0)).tolist():
            source, target = int(graph.source[edge]), int(graph.target[edge])
            if source >= 0 and target >= 0 and shown[source] and shown[target]:
                counts.setdefault(source, {})[target] = float(times[edge])
        return counts

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
        rows = rows_of_entity(graph, number)
        rows = rows[self._shown()[rows]]
        speaker: Any = self._memory.column(SPEAKER)
        told = [
            (teller(int(speaker[row]), texts[row], texts.rendered(row)), texts[row])
            for row in rows[-READ:].tolist()
        ]
        return EntityRecord(
            name,
            table.type_of(name, self._shown()) or ENTITY,
            float(salience[number]),
            tuple(rows.tolist()),
            profile(name, told),
        )
