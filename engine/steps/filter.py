"""The filter of a query, `Query.only`, as a mask over rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..contract.records import Event, Only
from ..contract.vocabulary import CREATED, SESSION, SPEAKER
from ..state.event_log import EventLog
from ..state.graph import Graph, rows_of_entity
from ..state.store import Cells
from ..text.features import features

Banned = Callable[[Only], NDArray[np.bool_]]  # `banned` for the rows of one store


def values_of(wanted: str | tuple[str, ...]) -> tuple[str, ...]:
    """The texts of which an attribute must have one."""
    return (wanted,) if isinstance(wanted, str) else wanted


def admits(only: Only, event: Event) -> bool:
    """Whether an event meets every condition of a filter, as `arguments.checked_only` gives it; of
    entities, whether its words name one of them.

    >>> admits(Only(until=30.0, speakers=("Ada",)), Event(30.0, "We moved.", "Ada"))
    True
    """
    return (
        (only.since is None or event.time >= only.since)
        and (only.until is None or event.time <= only.until)
        and (not only.sessions or event.session in only.sessions)
        and (not only.speakers or event.speaker in only.speakers)
        and all(
            any((key, value) in event.attributes for value in values_of(wanted))
            for key, wanted in only.attributes
        )
        and event.id not in only.exclude
        and (
            not only.entities or not set(only.entities).isdisjoint(features(event.words()).entities)
        )
    )


def banned(only: Only, event_log: EventLog, store: Cells, graph: Graph) -> NDArray[np.bool_]:
    """(n,), True for each memory that the filter does not admit.

    only   as `arguments.checked_query` gives it, times in hours.  A name, an attribute or an id that
           no event has is not an error
    graph  whose edges say which rows mention an entity

    A row that the memory made has time, session and speaker of its own; it has an attribute, or
    mentions an entity, if all events that it was made from do, and is excluded with any of them.

    Cost: O(n) for each condition given, in numpy, and for an attribute, entities or ids O(origins of
    all made rows), too; these are looked up, O(rows that have them).
    """
    out = np.zeros(store.n, dtype=np.bool_)
    if only.since is not None:
        out |= store.array(CREATED) < only.since
    if only.until is not None:
        out |= store.array(CREATED) > only.until
    for chosen, names, column in (
        (only.sessions, event_log.sessions, SESSION),
        (only.speakers, event_log.speakers, SPEAKER),
    ):
        if chosen:
            # the last: rows of no session or speaker, whose number is -1
            other = np.ones(len(names) + 1, dtype=np.bool_)
            other[[number for name in chosen if (number := names.known(name)) is not None]] = False
            out |= other[store.array(column)]
    wanted_rows = [
        [event_log.rows_with(key, value) for value in values_of(wanted)]
        for key, wanted in only.attributes
    ]
    if only.entities:
        wanted_rows.append([_mentioning(name, graph) for name in only.entities])
    for alternatives in wanted_rows:
        lacking = np.ones(store.n, dtype=np.bool_)
        for rows in alternatives:
            lacking[rows] = False
        lacking[event_log.made] = False
        lacking[event_log.made_of(lacking)] = True
        out |= lacking
    if only.exclude:
        excluded = np.zeros(store.n, dtype=np.bool_)
        excluded[[row for id in only.exclude for row in event_log.rows_of(id)]] = True
        excluded[event_log.made_of(excluded)] = True
        out |= excluded
    return out


def _mentioning(name: str, graph: Graph) -> NDArray[np.int64]:
    """The rows that mention an entity, by its normal form.  O(rows log rows)."""
    number = graph.entity_id(name)
    return np.empty(0, np.int64) if number is None else rows_of_entity(graph, number)
