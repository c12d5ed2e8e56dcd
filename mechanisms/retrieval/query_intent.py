"""Query intent: classifies the query by intent and clues and sets the facet weights for it.

Cortex (section 3.3, stage 1) classifies queries into six intents by regular expressions and weights
its signals by intent.  Here an intent weights *facets* (meaning, words, form, use, time, context,
association, completion, when, kind), not mechanisms, so it works with any set of signals.  The
other source document extracts names, keywords and error reports from the query; these are the
clues, which combine with any intent.

A second column holds whether the question asks for a detail, for a synthesis or for neither.

The values of the two tables are chosen by reasoning, moderate, and not tuned on data.  A factor of
1 is neutral; factors multiply; `strength` is their exponent.

Cost: O(words of the query).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...engine.contract.columns import Column, Phase, Scope
from ...engine.contract.hooks import Cue, Mechanism, Params, hook
from ...engine.contract.vocabulary import LOG_FACETS
from ...engine.text.features import Features
from ..shared.questions import Intent, intent_of, question_kind_of

# --- columns --------------------------------------------------------------------------------------
INTENT = Column(
    "intent",
    np.int64,
    Scope.EVENT,
    "1",
    -1,
    "intent of the current query, a value of Intent; -1: none",
)
QUESTION_KIND = Column(
    "question_kind",
    np.int64,
    Scope.EVENT,
    "1",
    0,
    "detail, synthesis or neither, a value of QuestionKind; 0: general",
)


class Clue(IntEnum):
    """A kind of detail named in the query."""

    DATE = 0  # a date or a relative time
    NAME = 1  # a person, a place or a thing, by name
    IDENTIFIER = 2  # code, a path, a file, an address
    FAULT = 3  # an error, something to fix


# --- tables ---------------------------------------------------------------------------------------
# Columns: meaning, words, form, use, time, context, association, completion, when, kind.
INTENT_FACETS: Final = np.array([
    [1.0, 1.2, 1.0, 0.7, 0.7, 1.5, 1.0, 1.0, 1.5, 0.9],
    # TEMPORAL: neighbouring events help; recency and frequent use do not
    [1.2, 1.0, 0.8, 1.0, 1.0, 1.2, 1.5, 1.0, 1.0, 1.0],
    # CAUSAL: a cause is described in other words, close in time or linked
    [1.2, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.1],
    # SEMANTIC: other requests, to which a standing instruction may apply
    [1.0, 1.5, 1.2, 1.0, 0.8, 1.0, 1.2, 1.0, 1.0, 0.9],        # ENTITY: names match literally
    [1.0, 1.2, 1.0, 1.5, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0],
    # KNOWLEDGE_UPDATE: prefers the latest of several versions
    [1.0, 1.0, 1.0, 1.0, 0.8, 1.2, 2.0, 1.0, 1.0, 1.0],
    # MULTI_HOP: memories linked to matching ones
])  # fmt: skip
CLUE_FACETS: Final = np.array([
    [1.0, 1.2, 1.0, 1.0, 1.5, 1.0, 1.0, 1.0, 1.5, 1.0],
    # DATE: in the words of a memory, in its time, in the time that it tells of
    [1.0, 1.2, 1.0, 1.0, 1.0, 1.0, 1.2, 1.0, 1.0, 1.0],        # NAME
    [0.8, 1.2, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
    # IDENTIFIER: split by word search, unknown to embeddings
    [1.0, 1.2, 1.2, 1.0, 1.0, 1.0, 1.2, 1.0, 1.0, 1.0],
    # FAULT: error messages are quoted literally
])  # fmt: skip

_FAULT: Final = re.compile(
    r"\b(?:errors?|bugs?|fix(?:e[sd]|ing)?|exceptions?|traceback|crash(?:e[sd]|ing)?|fail(?:s|ed|ing|ures?)?|broken|debug)\b"
)


def clues_of(words: str, features: Features) -> list[Clue]:
    """The clues of a query.  O(length)."""
    present = (
        bool(features.dates),
        bool(features.entities),
        bool(features.identifiers),
        _FAULT.search(words) is not None,
    )
    return [clue for clue, there in zip(Clue, present, strict=True) if there]


def facet_weights(intent: Intent | None, clues: list[Clue], strength: float) -> NDArray[np.float64]:
    """exp(strength (ln I + sum ln C)), I the row of the intent and C the rows of the clues: 1 at
    strength 0, the table values at 1.  O(facets).

    >>> facet_weights(Intent.KNOWLEDGE_UPDATE, [Clue.DATE], 1.0).round(2).tolist()
    [1.0, 1.44, 1.0, 1.5, 3.0, 1.0, 1.0, 1.0, 1.5, 1.0]
    """
    logs: NDArray[np.float64] = np.log(CLUE_FACETS)[clues].sum(axis=0)
    if intent is not None:
        logs += np.log(INTENT_FACETS[intent])
    weights: NDArray[np.float64] = np.exp(strength * logs)
    return weights


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class QueryIntentParams(Params):
    strength: float  # exponent of the factors: 0 no effect, 1 the table values


class QueryIntent(Mechanism[QueryIntentParams]):
    owns = (INTENT, QUESTION_KIND)

    @hook(Phase.RETRIEVE, reads=(), adds=(LOG_FACETS,), sets=(INTENT, QUESTION_KIND))
    def weigh(self, view: Any, cue: Cue) -> None:
        words = " ".join(cue.features.words)
        intent = intent_of(words)
        view.intent = -1 if intent is None else int(intent)
        view.question_kind = int(question_kind_of(words))
        np.log(
            facet_weights(intent, clues_of(words, cue.features), self.params.strength),
            out=view.log_facets,
        )
