"""What a memory prints of itself."""

from __future__ import annotations

import math

import numpy as np

from ..base.counts import plural
from ..base.tables import html_table
from ..base.times import moment
from ..contract.vocabulary import VISIBLE
from .assembly import Assembly


def line_of(assembly: Assembly) -> str:
    """One line: mechanisms, memories, events and the present."""
    facts = _facts(assembly)
    archived = f" ({facts['archived']} archived)" if facts["archived"] else ""
    memories = plural(assembly.store.n, "memory", "memories") + archived
    events = plural(len(assembly.event_log.events), "event")
    mechanisms = plural(len(assembly.mechanisms), "mechanism")
    return f"<Engine: {mechanisms}, {memories}, {events}, now {facts['now']}>"


def table_of(assembly: Assembly) -> str:
    """The same as a table of HTML, with the names of embedder and mechanisms."""
    names = ", ".join(m.id for m in assembly.mechanisms)
    facts = {**_facts(assembly), "embedder": assembly.embedder.name, "mechanisms": names}
    return html_table(facts, [facts.values()])


def _facts(assembly: Assembly) -> dict[str, object]:
    store, now = assembly.store, assembly.clock.now
    return {
        "memories": store.n,
        "archived": store.n - int(np.count_nonzero(store.array(VISIBLE))),
        "events": len(assembly.event_log.events),
        "now": "before the first event" if math.isnan(now) else f"{moment(now):%Y-%m-%d %H:%M}",
    }
