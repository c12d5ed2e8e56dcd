"""Time to live: which events of a memory have had theirs.

An event lives until the time in its attribute `expires`, in ISO 8601, or as long as its owner keeps
what is that old.  Nothing expires by itself: `erase` overwrites, when the owner says so.
"""

from __future__ import annotations

import math
from datetime import datetime
from typing import Final

from ..engine.base.errors import InputError
from ..engine.base.times import hours
from ..engine.contract.records import Only
from ..engine.memory.engine import Engine

EXPIRES: Final = "expires"


def expired(memory: Engine, now: datetime, before: datetime | None = None) -> tuple[Only, ...]:
    """What to erase: the events whose `expires` is not after the present, and those not after
    `before`; () if there are none.  O(events).

    now     an aware datetime; a time of an event without an offset means its clock
    before  None: only what says when it expires

    Raises InputError for an `expires` that is no time, with the event.
    """
    past, old = set[str](), False
    edge = -math.inf if before is None else hours(before)
    for number, event in enumerate(memory.events):
        old = old or (bool(event.text) and event.time <= edge)
        for name, value in event.attributes:
            if name == EXPIRES and _moment(value, now, event.id or f"event {number}") <= now:
                past.add(value)
    said = [Only(attributes=((EXPIRES, value),)) for value in sorted(past)]
    return (*said, *((Only(until=edge),) if old else ()))


def _moment(text: str, now: datetime, where: str) -> datetime:
    try:
        read = datetime.fromisoformat(text)
    except ValueError as error:
        raise InputError(
            f"its attribute {EXPIRES} is {text!r}, no time",
            where=where,
            cure="write it like 2026-12-31 or 2026-12-31T18:00+01:00",
        ) from error
    return read if read.tzinfo else read.replace(tzinfo=now.tzinfo)
