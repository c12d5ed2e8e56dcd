"""Neighbours that follow a script: they give the specimen what it reads in a memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ....engine.contract.columns import Column, Phase, Signal
from ....engine.contract.drafts import Draft
from ....engine.contract.hooks import Mechanism
from ....engine.contract.vocabulary import (
    CUES,
    DRAFTS,
    KIND,
    REPLAY_LAG,
    REPLAYED,
    ROW,
    VETO,
    WORKING_MEMORY,
)
from ...memory import neighbour


def refusing(part: str) -> Mechanism[Any]:
    """A gate that refuses each event whose text has this part."""

    def refuse(view: Any, incoming: Any) -> None:
        view.veto += part in incoming.event.text

    return neighbour(Phase.ENCODE, refuse, adds=(VETO,), id="gate")


def marking(column: Column, values: Any) -> Mechanism[Any]:
    """Gives the row of each new event its value of a column of memories, by number of the row."""

    def mark(view: Any, incoming: Any) -> None:
        getattr(view, column.name)[view.row] = values[view.row]

    return neighbour(Phase.ENCODE, mark, reads=(ROW,), sets=(column,), id=f"marks_{column.name}")


def attending(held: Sequence[Sequence[int]]) -> Mechanism[Any]:
    """Holds each new event in working memory, after the earlier rows of its number in `held`."""

    def attend(view: Any, incoming: Any) -> None:
        rows = (*held[view.row], view.row)
        view.working_memory[...] = -1
        view.working_memory[: len(rows)] = rows

    return neighbour(Phase.ENCODE, attend, reads=(ROW,), sets=(WORKING_MEMORY,), id="attends")


def giving(phase: Phase, column: Column, values: Any, *, adds: bool = False) -> Mechanism[Any]:
    """Gives the rows that there are the first of these values of a column, in each run of a phase.

    adds  whether it adds to the column, or sets it
    """

    def give(view: Any, what: Any) -> None:
        cells = getattr(view, column.name)
        cells[...] = values[: len(cells)]

    added, given = ((column,), ()) if adds else ((), (column,))
    return neighbour(phase, give, adds=added, sets=given, id=f"gives_{column.name}")


def signalling(
    scores: Mapping[Signal, Any], weight: float | Mapping[Signal, float]
) -> list[Mechanism[Any]]:
    """Gives signals of their own the scores that the mapping has when a question is asked.

    weight  of all signals, or of each
    """

    def signals(signal: Signal) -> Callable[[Any, Any], None]:
        def score(view: Any, cue: Any) -> None:
            cells = getattr(view, signal.name)
            cells[...] = scores[signal][: len(cells)]

        return score

    return [
        neighbour(
            Phase.RETRIEVE,
            signals(signal),
            sets=(signal,),
            owns=(signal,),
            id=f"gives_{signal.name}",
            weight=weight[signal] if isinstance(weight, Mapping) else weight,
        )
        for signal in scores
    ]


def replaying(steps: Sequence[Any], until: float = math.inf) -> Mechanism[Any]:
    """Replays steps from the second on, in the sleeps that end before a time, h."""

    def replay(view: Any, tick: Any) -> None:
        if tick.end < until:
            view.replayed[1 : 1 + len(steps)] = steps

    return neighbour(Phase.CONSOLIDATE, replay, sets=(REPLAYED, REPLAY_LAG), id="replays")


def drafting(draft: Draft, rows: int | None = None) -> Mechanism[Any]:
    """Drafts a unit in each consolidation, or while the memory has so many rows."""

    def make(view: Any, tick: Any) -> None:
        if rows is None or len(view.kind) == rows:
            view.drafts.add(draft)

    return neighbour(Phase.CONSOLIDATE, make, reads=(KIND,), adds=(DRAFTS,), id="drafts")


def worded(*wordings: tuple[str, float]) -> Mechanism[Any]:
    """Gives each question other wordings, (text, weight)."""

    def word(view: Any, cue: Any) -> None:
        for text, weight in wordings:
            view.cues.add(text, weight, "given")

    return neighbour(Phase.RETRIEVE, word, adds=(CUES,), id="words")
