"""The filter of a query, `Query.only`, as a mask over rows."""
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .records import Only
from .storage.event_log import EventLog
from .storage.store import Store
from .vocabulary import CREATED, SESSION, SPEAKER


def banned(only: Only, event_log: EventLog, store: Store) -> NDArray[np.bool_]:
    """(n,), True for each memory that the filter does not admit.

    only  as `arguments.checked_query` gives it, times in hours.  A name, an attribute or an id that no event has is not an error

    Cost: O(n) for each condition given, in numpy; attributes and ids are looked up, O(rows found).
    """
    out = np.zeros(store.n, dtype=np.bool_)
    if only.since is not None:
        out |= store.array(CREATED) < only.since
    if only.until is not None:
        out |= store.array(CREATED) > only.until
    for chosen, names, column in ((only.sessions, event_log.sessions, SESSION), (only.speakers, event_log.speakers, SPEAKER)):
        if chosen:
            other = np.ones(len(names), dtype=np.bool_)
            other[[number for name in chosen if (number := names.known(name)) is not None]] = False
            out |= other[store.array(column)]
    for key, value in only.attributes:
        lacking = np.ones(store.n, dtype=np.bool_)
        lacking[event_log.rows_with(key, value)] = False
        out |= lacking
    for id in only.exclude:
        out[event_log.rows_of(id)] = True
    return out
