"""The event log: which rows were made from which, against a walk through the writings."""

from __future__ import annotations

from random import Random

import numpy as np

from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.writings import Writing
from hebbarium.engine.state.event_log import EventLog


def origins(log: EventLog, row: int) -> set[int]:
    """Rows of the events that a row was made from, by its definition."""
    writing = log.writing(row)
    return (
        {row}
        if writing is None
        else {event for source in writing.sources for event in origins(log, source)}
    )


def test_made_rows_are_found_by_any_of_their_origins() -> None:
    """Of random logs with made rows of made rows and of nothing, as they grow, and of the log
    that is restored from one.
    """
    chance = Random(0)
    for _ in range(40):
        log = EventLog()
        for row in range(chance.randrange(30)):
            if chance.random() < 0.5:
                sources = [chance.randrange(row) for _ in range(chance.randrange(4))] if row else []
                log.make(
                    log.writings.add("text", chance.choice(["summary", "bundle"]), "maker", sources)
                )
            else:
                log.write(Event(float(row), "text"), row)
            if chance.random() < 0.3:
                chosen = np.array([chance.random() < 0.3 for _ in log.rows])
                expected = [
                    each
                    for each in log.made
                    if any(chosen[origin] for origin in origins(log, each))
                ]
                assert sorted(set(log.made_of(chosen).tolist())) == expected
        again = EventLog()
        again.writings.restore(
            [Writing(w.text, w.kind, w.maker, w.time, w.sources) for w in log.writings]
        )
        again.restore(
            log.events, np.array(log.row_of, np.int64), [(row, ~log.rows[row]) for row in log.made]
        )
        chosen = np.array([chance.random() < 0.3 for _ in log.rows], np.bool_)
        assert (
            again.made_of(chosen).tolist() == log.made_of(chosen).tolist()
            and again.made_of(chosen).dtype == np.int64
        )
