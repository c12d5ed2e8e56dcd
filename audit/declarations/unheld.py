"""Whether rows of which a mechanism holds nothing get nothing from it.

A row that sleep made keeps the neutral value of every column that is set when an event is stored.  A
hook that reads nothing else of a memory then has nothing to add: off means neutral, for a row too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from ...engine.catalogue.registry import Entry, Registry
from ...engine.contract import vocabulary as v
from ...engine.contract.columns import Column, Phase, Scope
from ...engine.contract.drafts import Kind
from ...engine.contract.hooks import Hook, Mechanism, item_of
from ..life import QUESTIONS, lived
from .rows import MakerOfArchivedRows

# of every type of answer, and for what the asker and the other said
QUESTIONS_OF_ALL_TYPES: Final = (
    *QUESTIONS,
    "How many boats did Ada see?",
    "When did Cleo sell the car?",
    "Who painted the old mill?",
    "What did I say about the garden?",
    "What did you suggest?",
)


def wrong_unheld(entry: Entry, registry: Registry) -> Iterator[str]:
    """What a mechanism adds to rows of which it holds nothing."""
    loaded = entry.load()
    added = [
        c
        for declared in loaded.hooks()
        if _reads_what_it_holds(declared, loaded)
        for c in declared.adds
        if isinstance(c, Column) and c.scope in (Scope.MEMORY, Scope.CANDIDATE)
    ]
    if not added:
        return
    maker = MakerOfArchivedRows((Kind.SUMMARY,), archives=False)
    memory = lived(registry, entry.id, beside=[maker])
    rows = maker.own
    for question in QUESTIONS_OF_ALL_TYPES:
        memory.retrieve(question)
        for column in added:
            given = np.asarray(memory.column(column))[rows]
            if (given != column.neutral).any():
                yield f"{column.name} of rows of which it holds nothing is {given.tolist()}"
                return


def _reads_what_it_holds(declared: Hook, loaded: type[Mechanism[Any]]) -> bool:
    """Whether a hook reads of memories nothing but columns that the mechanism sets for events."""
    if declared.phase not in (Phase.RETRIEVE, Phase.MAINTAIN):
        return False
    stored = {
        c for h in loaded.hooks() if h.phase is Phase.ENCODE and v.ROW in h.reads for c in h.sets
    }
    later = {c for h in loaded.hooks() if h.phase is Phase.CONSOLIDATE for c in h.sets}
    read = {item_of(r) for r in declared.reads}
    return bool(read) and read <= stored - later
