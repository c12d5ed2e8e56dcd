"""Whether a signal that sleep taught says how well each memory itself matches a question.

MATCH, from which other signals start, is the mean of the direct signals.  A signal belongs to it if it
tells the memory that is asked for from another one that says nearly the same.  What a memory has in
common with others, such as a theme or a schema, is added to the match, and is no part of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...engine.catalogue.registry import Entry, Registry
from ...engine.contract import vocabulary as v
from ...engine.contract.columns import Facet, Signal
from ...engine.memory.engine import Engine
from ..life import TOLD, Circumstances, lived, replying
from .lives import audible, learnt_by, read_by

NO_GAIN: Final = 0.01  # share of the largest score that counts as no gain


def again(text: str) -> str:
    """A text with two more words, which nobody else says.

    >>> again("Porto was sunny.")
    'Porto was sunny bafulk dafulk.'
    """
    return f"{text[:-1]} bafulk dafulk{text[-1]}"


# every fifth text of the life is told again a moment later
SAID_AGAIN: Final = tuple(
    event
    for number, (later, session, speaker, text) in enumerate(TOLD)
    for event in (
        ((later, session, speaker, text), (0.01, session, speaker, again(text)))
        if number % 5 == 0
        else ((later, session, speaker, text),)
    )
)


def wrong_directness(entry: Entry, registry: Registry) -> Iterator[str]:
    """Signals of the question and of what sleep learnt that are called direct, and of two memories
    that say nearly the same do not prefer the one that is asked for; or the other way round.
    """
    for s, preferred in told_apart(entry, registry):
        if preferred and (np.mean(preferred) > 0.5) != s.direct:
            yield (
                f"{s.name} is {'' if s.direct else 'not '}direct, and of two memories that say nearly the "
                f"same {'does not prefer' if s.direct else 'prefers'} the one that is asked for"
            )


def told_apart(entry: Entry, registry: Registry) -> list[tuple[Signal, list[bool]]]:
    """Of each signal that sleep taught, for each pair of memories that say nearly the same and of
    which it scores both: whether it prefers the one that is asked for.
    """
    signals = _taught(entry)
    if not signals:
        return []
    memory = lived(
        registry,
        entry.id,
        Circumstances(choices=audible(entry)),
        told=SAID_AGAIN,
        used={},
        language_model=replying(),
    )
    texts = memory.store.structures[v.TEXTS]
    pairs = [
        (row - 1, row)
        for row in range(1, memory.store.n)
        if texts[row - 1] and texts[row] == again(texts[row - 1])
    ]
    apart: dict[str, list[bool]] = {s.name: [] for s in signals}
    for pair in pairs:
        asked = [[_scores(memory, row, s)[list(pair)] for s in signals] for row in pair]
        for s, first, second in zip(signals, *asked, strict=True):
            gain = (first[0] - first[1]) + (second[1] - second[0])
            if not np.isnan(gain):
                largest = float(np.max(np.abs([first, second])))
                apart[s.name].append(bool(gain > NO_GAIN * largest))
    return [(s, apart[s.name]) for s in signals]


def _scores(memory: Engine, row: int, s: Signal) -> NDArray[np.float64]:
    """The scores of all memories for the text of one of them."""
    memory.retrieve(memory.store.structures[v.TEXTS][row])
    return np.array(memory.column(s), np.float64)


def _taught(entry: Entry) -> list[Signal]:
    """Signals that read what sleep or time changes, and do not start from the match.  Evidence of
    CONTEXT is left out: what depends on the question is never direct evidence of it.
    """
    loaded = entry.load()
    learnt = learnt_by(loaded.hooks())
    return [
        s
        for s in loaded.owns
        if isinstance(s, Signal)
        and s.facet is not Facet.CONTEXT
        and (read := read_by(h for h in loaded.hooks() if s in h.sets)) & learnt
        and v.MATCH not in read
    ]
