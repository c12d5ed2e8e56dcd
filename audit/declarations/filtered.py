"""Whether a source of contexts shows what the asker's filter leaves out, and whether it counts how
high that ranks.

A few events of a short talk are the only ones that tell of MARK: who he is with, what he asks to be
done, and what is always to be done for him.  Where they may not be answered, nothing that is offered
may name him.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...engine.catalogue.registry import Entry, Registry, Value
from ...engine.catalogue.stand_ins import checked_instance
from ...engine.contract import vocabulary as v
from ...engine.contract.columns import Column, Facet, Phase, Scale, Scope, signal
from ...engine.contract.hooks import Mechanism, hook
from ...engine.contract.records import Event, Only, Query
from ...engine.memory.engine import Engine
from ...engine.text.words import fold
from ..effects import typed
from ..life import QUESTIONS, START, Circumstances, ShortWindow, everyone, lived, replying
from .lives import ROUNDING, audible, read_by
from .rows import LoudParams

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
    """A source of contexts that names MARK, though what tells of him may not be answered, or offers
    otherwise than when what tells of him is archived.
    """
    if not any(v.OFFERS in declared.adds for declared in entry.load().hooks()):
        return
    memory = told(registry, entry.id)
    of_mark = [n for n, (*_, text) in enumerate(TALK) if MARK in text]
    filtered = _offered(entry.id, memory, Only(exclude=tuple(f"e{n}" for n in of_mark)))
    for (question, _), offers in filtered.items():
        for _, shown in offers:
            if fold(MARK) in fold(shown):
                yield f"{question!r} is shown {shown!r}, which the asker's filter leaves out"
                return
    ids = {f"e{n}" for n in of_mark}
    texts = memory.store.structures[v.TEXTS]
    for row in np.flatnonzero(memory.column(v.KIND) == 0).tolist():
        if texts.event(row).id in ids:
            memory.archive(row)
    for (question, session), offers in _offered(entry.id, memory, None).items():
        if offers != filtered[question, session]:
            yield f"{question!r} is offered other memories if what a filter leaves out is archived"
            return


def _offered(id: str, memory: Engine, only: Only | None) -> dict[tuple[str, str], list[Any]]:
    """Row and text of what a source offers for each question in each session."""
    texts = memory.store.structures[v.TEXTS]
    return {
        (question, session): [
            (offer.row, offer.text or texts[offer.row])
            for offer in memory.offers(Query(question, only=only), TOKENS, session=session)[1]
            if offer.source == id
        ]
        for session in ("", "p", "q")
        for question in QUESTIONS_OF_TALK
    }


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


# the stages of the ranking
STAGES: Final = (v.FUSED, v.PRIMED, v.REWEIGHTED, v.RERANKED, v.ARRANGED, v.RELEASED)
FEW: Final = 3  # rows that a mechanism looks at where it ships with more
RANKED: Final = signal(
    "ranked", Facet.KIND, "a score of the check", direct=False, scale=Scale.SIMILARITY
)


class Ranked(Mechanism[LoudParams]):
    """Gives some rows a score, and is silent about all others.

    rows   numbers of these rows
    score  of each
    """

    owns = (RANKED,)
    rows: NDArray[np.int64] = np.empty(0, np.int64)
    score = np.nan

    @hook(Phase.RETRIEVE, reads=(), adds=(), sets=(RANKED,))
    def speak(self, view: Any, cue: Any) -> None:
        view.ranked[self.rows] = self.score


def wrong_ranks(entry: Entry, registry: Registry) -> Iterator[str]:
    """What a mechanism that reads a stage of the ranking, or offers contexts, scores, arranges or
    offers otherwise as memories rank first or last that the asker's filter leaves out.
    """
    loaded = entry.load()
    offers = any(v.OFFERS in declared.adds for declared in loaded.hooks())
    read = read_by(h for h in loaded.hooks() if h.phase is Phase.RETRIEVE)
    if not offers and read.isdisjoint(STAGES):
        return
    ranked = Ranked("ranked", LoudParams(1.0, 5.0), order=-1)
    around = Circumstances(choices={**audible(entry), **_few(entry)})
    memory = lived(registry, entry.id, around, beside=(ranked,), language_model=replying())
    events = np.flatnonzero(memory.column(v.KIND) == 0)
    ranked.rows = events[1::3]
    texts = memory.store.structures[v.TEXTS]
    only = Only(exclude=tuple(texts.event(row).id for row in ranked.rows.tolist()))
    among = np.delete(np.arange(memory.store.n), ranked.rows)
    own = [c for c in loaded.owns if isinstance(c, Column) and c.scope is Scope.CANDIDATE]
    for text in QUESTIONS:
        seen = list[list[NDArray[Any]]]()
        for blanks, ranked.score in enumerate((np.nan, 1.0)):
            # a blank, since the answer to the same question is kept
            question = Query(text + " " * blanks, session="h", only=only)
            values: list[NDArray[Any]] = [memory.retrieve(question, 20).rows.copy()]
            values += [np.array(memory.column(c), np.float64)[among] for c in own]
            if memory.sources:
                offered = memory.offers(question, TOKENS, session="h")[1]
                mine = [(o.row, o.score) for o in offered if o.source == entry.id]
                values.append(np.array(mine, np.float64).reshape(-1, 2))
            seen.append(values)
        names = ["the answer", *(c.name for c in own), "what is offered"]
        for name, last, first in zip(names, *seen, strict=False):
            if last.shape != first.shape or not np.allclose(
                last, first, rtol=1e-5, atol=ROUNDING, equal_nan=True
            ):
                yield (
                    f"{name} for {text!r} depends on how high memories rank that the asker's filter "
                    "leaves out"
                )
                return


def _few(entry: Entry) -> dict[str, Value]:
    """FEW in place of each whole number that is larger, where its bounds allow it."""
    return {
        name: typed(entry, name, max(p.low or 0.0, FEW))
        for name, p in entry.params.items()
        if isinstance(p.value, int) and not isinstance(p.value, bool) and p.value > FEW
    }
