"""Questions of one memory: whose turn it is, which rows are asked, the answer, and what is learnt
from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from ..base.checks import checked_count
from ..base.numerics import read_only
from ..base.turns import Turns
from ..contract.ask import NO_SESSION, AnswerFeedback, Ask
from ..contract.columns import Phase
from ..contract.drafts import Kind
from ..contract.offers import NO_LIMIT, Offer
from ..contract.records import Query
from ..contract.units import Unit
from ..contract.vocabulary import (
    ANSWERABLE,
    CHRONOLOGICAL,
    CREATED,
    OFFERS,
    OUTCOME,
    RECALLED,
    SESSION,
    SPEAKER,
    SUFFICIENCY,
    UTC_OFFSET,
)
from ..state.ranking import Answer, Asked, Rows, Standing
from ..state.store import Cells
from .arguments import checked_query
from .assembly import Asker, Assembly
from .changes import Changes
from .feedback import asked_of, checked_outcome, needed_rows, place
from .passing import Passing

UnitOf = Callable[[int], Unit]


class Answering:
    """How one memory is asked.

    life  what its answers name as their origin
    """

    def __init__(
        self,
        assembly: Assembly,
        changes: Changes,
        passing: Passing,
        turns: Turns,
        *,
        measured: bool,
    ) -> None:
        """measured: whether an observer sees every question."""
        self._assembly, self._changes, self._passing = assembly, changes, passing
        self._turns, self._measured = turns, measured
        self._store, self._log = assembly.store, assembly.event_log
        self.life = object()

    # --- what is asked ----------------------------------------------------------------------------

    def asked(self, query: Query | str, k: int = 1, **further: Any) -> Ask:
        """What is asked, with the query checked; k and further fields as of `Ask`.  Raises
        InputError.
        """
        checked = checked_query(query, self._assembly.clock.now)
        return Ask(self._assembly.cue(checked), k, **further)

    def asks_all(self, rows: int) -> bool:
        """Whether a question that wants so many rows is asked of all: there is no shortlist, or
        it cannot answer so many.
        """
        shortlist = self._assembly.shortlist
        return shortlist is None or not shortlist.asks(rows)

    @contextmanager
    def turn(self, alone: bool, in_part: bool = False) -> Iterator[bool]:
        """The turn of a question: together with others if that is right and pays.  Yields
        False if the question may be asked in the memory's own columns.

        in_part  whether it is asked of a shortlist, which computes the late columns of its rows;
                 for others they are brought to the present
        """
        if self._passing.wall is not None:
            self._passing.look(depth=0)
        if alone or self._measured or self._store.n < self._assembly.beside_from:
            with self._turns.alone():
                if self._assembly.clock.due and not in_part:
                    self.refresh()
                yield False
            return
        while True:
            with self._turns.together():
                if in_part or not self._assembly.clock.due or self._changes.ended:
                    yield True
                    return
            with self._turns.alone():  # a turn that only reads cannot become one that writes
                self.refresh()

    def refresh(self) -> None:
        """Bring the late columns to the present, in a turn of its own; a memory that has ended
        stays as it is, and refuses the question.
        """
        if not self._changes.ended:
            self._assembly.refresh()

    # --- answers ----------------------------------------------------------------------------------

    def retrieve(self, query: Query | str, k: int, learn: bool, whole: bool) -> Answer:
        """As `Engine.retrieve`."""
        k = checked_count(k, "k")
        whole = whole or learn or self.asks_all(k)
        with (
            # a measured memory computes the late columns of all rows, and measures that
            self.turn(alone=learn, in_part=not (whole or self._measured)) as together,
            self._turns.answering(),
            # the place of the question; None: the memory itself
            self._assembly.places.taken() if together else nullcontext() as place,
        ):
            self._changes.require("retrieve")
            ask = self.asked(query, k, learn=learn, whole=whole)
            if place is None:
                return self.answer(ask)
            origin = Asked(ask.cue.query, self.life, whole=ask.whole)
            return self._made(*place.ask(ask), origin, self.unit, place.store)

    def answer(self, ask: Ask) -> Answer:
        """The answer in the memory's own columns of candidates, which one thread at a time may
        write.
        """
        query, shortlist = ask.cue.query, self._assembly.shortlist
        if not ask.whole and shortlist:
            shortlist.run(ask)
            self._store.passes += 1  # columns of the query are those of this question now
            origin = Asked(query, self.life, whole=False)
            return self._made(*shortlist.answered, origin, self.unit, self._store)
        run = self._assembly.run[Phase.RETRIEVE]
        if ask.learn:
            with self._changes.logged("learn", Phase.RETRIEVE, query, ask.k, doing="retrieve"):
                run(ask)
        else:
            run(ask)
        origin = Asked(query, self.life, ask.learn, ask=ask, stands=self._stands)
        return self.of_store(self._assembly, origin, self.unit)

    def offers(
        self,
        query: Query | str,
        max_tokens: int | None,
        session: str | None,
        run: Callable[[Ask], None] | None = None,
    ) -> tuple[Answer, tuple[Offer, ...]]:
        """As `Engine.offers`.  run: a pass of RETRIEVE in place of the memory's own."""
        self.refresh()
        with self._turns.answering():
            ask = self.for_context(query, max_tokens, session)
            if run is None:
                answer = self.answer(ask)
            else:
                run(ask)
                origin = Asked(ask.cue.query, self.life, ask=ask)
                answer = self.of_store(self._assembly, origin, self.unit)
        return answer, self.offered(self._assembly)

    def for_context(self, query: Query | str, max_tokens: int | None, session: str | None) -> Ask:
        """What is asked for a context; sources look at the whole memory.  Raises InputError."""
        limited = max_tokens is not None
        budget = min(checked_count(max_tokens, "max_tokens"), NO_LIMIT) if limited else NO_LIMIT
        known = None if session is None else self._log.sessions.known(session)
        asker = NO_SESSION if known is None else known
        return self.asked(query, 1, whole=True, budget=budget, session=asker)

    def offered(self, by: Asker) -> tuple[Offer, ...]:
        """What the sources have offered in the last pass, in their order."""
        taken = self._store.structures[OFFERS].take(self._store.n)
        order = [m.id for m in by.mechanisms]
        offers = self._assembly.withholding.offered(taken)
        return tuple(sorted(offers, key=lambda offer: order.index(offer.source)))

    def last(self, origin: Asked) -> bool:
        """Whether an answer is to the memory's last question, of all rows, and nothing has
        changed since.
        """
        return origin.life is self.life and origin.stands == self._stands

    @property
    def _stands(self) -> tuple[int, int]:
        """Changes and passes of the memory so far, as `Asked.stands`."""
        return self._changes.begun, self._store.passes

    def of_store(self, by: Asker, origin: Asked | None, unit: UnitOf) -> Answer:
        """The answer that the store holds.  by: what was asked; unit: what a row holds."""
        array = self._store.array
        standing = Standing(
            self._store.n, None, array(by.ranking[-1]).copy(), array(ANSWERABLE).copy()
        )
        recalled = self._store.structures[RECALLED]
        return self._made(recalled, standing, origin, unit, self._store)

    def _made(
        self, rows: Rows, standing: Standing, origin: Asked | None, unit: UnitOf, store: Cells
    ) -> Answer:
        return Answer(
            rows,
            standing.at(rows),
            standing,
            tuple(map(unit, rows.tolist())),
            tuple(map(self._log.record, rows.tolist())),
            store.array(SUFFICIENCY).item(),
            store.array(CHRONOLOGICAL).item(),
            origin,
        )

    def unit(self, row: int) -> Unit:
        """What a row holds."""
        log, windows = self._log, self._assembly.passages.read(row)
        event = log.record(row)
        if event is not None:
            own = (event.id,) if event.id else ()
            said = event.text, event.time, event.session, event.speaker
            return Unit(row, Kind.EVENT, *said, own, own, event.offset or 0.0, windows)
        array = self._store.array
        return Unit(
            row,
            log.kind(row),
            log.text(row),
            float(array(CREATED)[row]),
            log.sessions.name(int(array(SESSION)[row])),
            log.speakers.name(int(array(SPEAKER)[row])),
            log.ids(log.origins(row)),
            log.ids(log.shown(row)),
            float(array(UTC_OFFSET)[row]),
            windows,
        )

    # --- learning ---------------------------------------------------------------------------------

    def use(self, answer: Any, rows_or_ids: Any, outcome: Any) -> Rows:
        """As `Engine.use`, of an answer."""
        origin = asked_of(answer)
        score = checked_outcome(outcome, place(origin))
        rows, erased = needed_rows(
            answer,
            origin,
            rows_or_ids,
            self.life,
            self._log,
            self._store,
            self._assembly.withholding.erased,
        )
        self.refresh()
        at_once = origin.ask if self.last(origin) else None
        if not (erased and not len(rows)):
            self._learn(origin.query, AnswerFeedback(rows, score), at_once)
        origin.learnt = True
        return rows

    def learn_again(self, query: Query, k: int) -> None:
        """Ask a question of the log that learnt."""
        self.refresh()
        self.answer(self.asked(query, k, learn=True, whole=True))

    def use_again(self, query: Query, rows: Any, outcome: float) -> None:
        """Learn what was needed, as the log has it."""
        self.refresh()
        self._learn(query, AnswerFeedback(read_only(np.array(rows, np.int64)), outcome))

    def _learn(self, query: Query, told: AnswerFeedback, last: Ask | None = None) -> None:
        """Learn which rows were needed.  last: the last question, if it was this one and nothing
        has changed since.
        """
        assembly = self._assembly
        at_once = last is not None and bool(assembly.plans[Phase.RETRIEVE].learning)
        ask = last if last is not None and at_once else self.asked(query)
        ask = replace(ask, learn=True, whole=True, told=told)
        with self._changes.logged("use", Phase.RETRIEVE, query, told.rows, told.outcome):
            try:
                (assembly.learn if at_once else assembly.run[Phase.RETRIEVE])(ask)
            finally:
                self._store.array(OUTCOME)[()] = OUTCOME.neutral
