"""Whether a source of contexts shows what the asker's filter leaves out.

A few events of a short talk are the only ones that tell of MARK: who he is with, what he asks to be
done, and what is always to be done for him.  Where they may not be answered, nothing that is offered
may name him.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ...engine.catalogue.registry import Entry, Registry
from ...engine.catalogue.stand_ins import checked_instance
from ...engine.contract import vocabulary as v
from ...engine.contract.hooks import Mechanism
from ...engine.contract.records import Event, Only, Query
from ...engine.memory.engine import Engine
from ...engine.text.words import fold
from ..life import START, Circumstances, ShortWindow, everyone

MARK: Final = "Zorbak"
AGENT: Final = "agent"
DONE_KIND: Final = "file_write"
TOKENS: Final = 4000
# session, speaker, text; of what the agent did the file
TALK: Final = (
    ("p", "Ada", f"{MARK} lives in Lisbon with Dora."),
    ("p", "Bo", "Dora sails the boat in Lisbon with Bo."),
    ("p", "Ada", f"From now on, always greet {MARK} first."),
    ("p", "Bo", "From now on, always answer in metres."),
    ("q", "Ada", f"Fix the port of the boat for {MARK}, please."),
    ("q", AGENT, "port.py"),
    ("q", "Ada", "Fix the oven of the boat, please."),
    ("q", AGENT, "oven.py"),
    ("q", "Ada", f"Dora is married to {MARK}."),
    ("q", "Bo", "Dora works at Acme with Cleo."),
    ("r", "Ada", "The boat of Dora leaks near Lisbon."),
    ("r", "Bo", "Cleo fixed the oven of the boat."),
)
QUESTIONS_OF_TALK: Final = (
    "Where does Dora sail the boat?",
    f"Fix the port of the boat for {MARK}.",
    f"Who is {MARK}?",
    "How do you answer me?",
)


def wrong_contexts(entry: Entry, registry: Registry) -> Iterator[str]:
    """A source of contexts that names MARK, though what tells of him may not be answered."""
    if not any(v.OFFERS in declared.adds for declared in entry.load().hooks()):
        return
    memory = told(registry, entry.id)
    only = Only(exclude=tuple(f"e{n}" for n, (*_, text) in enumerate(TALK) if MARK in text))
    texts = memory.store.structures[v.TEXTS]
    for session in ("", "p", "q"):
        for question in QUESTIONS_OF_TALK:
            for offer in memory.offers(Query(question, only=only), TOKENS, session=session)[1]:
                shown = offer.text or texts[offer.row]
                if offer.source == entry.id and fold(MARK) in fold(shown):
                    yield f"{question!r} is shown {shown!r}, which the asker's filter leaves out"
                    return


def told(registry: Registry, id: str) -> Engine:
    """A memory with a mechanism that was told TALK, and slept."""
    everybody: list[Mechanism[Any]] = everyone(registry, id, Circumstances())
    if all(m.id != "typed_relations" for m in everybody):
        everybody.append(checked_instance(registry, "typed_relations", {}))
    memory = Engine(everybody, ShortWindow(32), tick_hours=1.0, consolidate_every=24.0)
    for number, (session, speaker, text) in enumerate(TALK):
        done = {"kind": DONE_KIND, "path": text, "outcome": "success"} if speaker == AGENT else {}
        memory.encode(
            Event(
                START + 0.02 * number,
                "" if done else text,
                speaker,
                session,
                f"e{number}",
                attributes=tuple(sorted(done.items())),
            )
        )
    memory.advance(START + 30.0)
    return memory
