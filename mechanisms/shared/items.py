"""What the Context Assembly Specification reads from a query, and its scores of items of a
context, on [0, 1].
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from ...engine.base.numerics import kernel
from ...engine.text.features import terms_of
from .offering import on_scale

Decay = Literal["e", "half"]
Scores = Literal["scaled", "printed"]
Intent = Literal["fix", "explain", "question", "action"]

SALIENCE_OF_EVENTS: Final = 0.5  # of every event, as printed
INTENTS: Final[Mapping[Intent, tuple[str, ...]]] = MappingProxyType(
    {
        "fix": ("fix", "error", "bug"),
        "explain": ("explain", "how does", "what is"),
        "question": ("?",),
    }
)  # what the text holds, in this order
# of events; ours, the specification names the mapping and prints none
KINDS: Final[Mapping[Intent, tuple[str, ...]]] = MappingProxyType(
    {
        "fix": ("error", "shell_exec", "file_write"),
        "explain": ("file_read", "file_write"),
        "question": (),
        "action": ("task_push", "shell_exec", "file_write"),
    }
)


@dataclass(frozen=True, slots=True)
class Signals:
    """What a query asks for; its vector is the cue's.

    keywords  folded, without stop words, each once
    entities  names in it that the memory knows
    intent    fix, explain, question or action
    kinds     values of the attribute `kind` of events that go with the intent; () if all do
    """

    keywords: tuple[str, ...]
    entities: tuple[str, ...]
    intent: Intent
    kinds: tuple[str, ...]


def signals_of(text: str, names: Sequence[str] = (), known: Collection[str] = ()) -> Signals:
    """The signals of a query.  O(length).

    names  entities in the text
    known  to the memory

    >>> signals_of("How does Ada mend the boat?", ("ada", "bo"), {"ada"})
    Signals(keywords=('ada', 'mend', 'boat'), entities=('ada',), intent='explain', kinds=('file_read', 'file_write'))
    """
    intent = intent_of(text)
    return Signals(
        keywords(text),
        tuple(name for name in dict.fromkeys(names) if name in known),
        intent,
        KINDS[intent],
    )


def intent_of(text: str) -> Intent:
    """The printed rule: parts of words count, too, and the printed intent `other` is never reached.
    O(length).

    >>> intent_of("A prefix?"), intent_of("What is it?"), intent_of("Who?"), intent_of("Run it.")
    ('fix', 'explain', 'question', 'action')
    """
    lower = text.lower()
    return next(
        (intent for intent, marks in INTENTS.items() if any(mark in lower for mark in marks)),
        "action",
    )


@kernel
def decayed(age: float, span: float, halving: bool) -> float:
    """exp(-a / s), the printed recency, or 2^(-a / s), which its comment says.  age, span in h.
    Cost: O(1).

    >>> round(decayed(24.0, 24.0, False), 6), decayed(24.0, 24.0, True)
    (0.367879, 0.5)
    """
    return 2.0 ** (-age / span) if halving else math.exp(-age / span)


def final_scores(
    recency: Any, relevance: Any, salience: Any, weights: Sequence[float]
) -> NDArray[np.float64]:
    """(w_r r + w_v v + w_s s) / (w_r + w_v + w_s), each on [0, 1] over the items; 1 if they are
    equal, NaN counts as 0.  O(items).

    recency, relevance, salience  (k,)
    weights                       w_r, w_v, w_s >= 0; 0 if all are 0

    >>> final_scores([1.0, 3.0], [5.0, 4.0], [0.0, 9.0], (1.0, 2.0, 1.0)).tolist()
    [0.5, 0.5]
    """
    total, scores = sum(weights), np.zeros(len(recency))
    for values, weight in zip((recency, relevance, salience), weights, strict=True):
        out, given = np.empty(len(recency)), np.asarray(values, dtype=np.float64)
        on_scale(given, np.ones(len(given), dtype=np.bool_), out)
        scores += weight * np.nan_to_num(out)
    return scores / total if total > 0 else scores


def printed_scores(recency: Any, relevance: Any, weights: Sequence[float]) -> NDArray[np.float64]:
    """w_r r + w_v v + 0.5 w_s, as printed: no term is put on a scale, the weights are not divided by
    their sum, and every event has the salience 0.5.  NaN counts as 0.  O(items).

    recency, relevance  (k,)
    weights             w_r, w_v, w_s >= 0

    >>> printed_scores([1.0, 0.5], [2.0, 3.0], (1.0, 2.0, 1.0)).tolist()
    [5.5, 7.0]
    """
    of_recency, of_relevance, of_salience = weights
    given = [np.nan_to_num(np.asarray(values, dtype=np.float64)) for values in (recency, relevance)]
    return np.asarray(
        of_recency * given[0] + of_relevance * given[1] + of_salience * SALIENCE_OF_EVENTS
    )


def keywords(text: str) -> tuple[str, ...]:
    """The words of a query, folded, without stop words, each once.

    >>> keywords("Where is the boat, the red boat?")
    ('boat', 'red')
    """
    return tuple(dict.fromkeys(terms_of(text, stem=False, stop_words=True)))
