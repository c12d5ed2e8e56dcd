"""Query intent: classifies the query by intent and clues and sets the facet weights for it.

Cortex (section 3.3, stage 1) classifies queries into six intents by regular expressions and weights its signals by intent.  Here an intent weights
*facets* (meaning, words, form, use, time, context, association, completion), not mechanisms, so it works with any set of signals.  The other
source document extracts names, keywords and error reports from the query; these are the clues, which combine with any intent.

The values of the two tables are chosen by reasoning, moderate, and not tuned on data.  A factor of 1 is neutral; factors multiply; `strength` is
their exponent.

Cost: O(words of the query).
"""
from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...engine.columns import Column, Phase, Scope
from ...engine.contract import Cue, Mechanism, Params, hook
from ...engine.text.features import Features
from ...engine.vocabulary import LOG_FACETS

# --- columns ------------------------------------------------------------------------------------------------------
INTENT = Column("intent", np.int64, Scope.EVENT, "1", -1, "intent of the current query, a value of Intent; -1: none")


class Intent(IntEnum):
    """The kind of question."""

    TEMPORAL = 0                # when, how long, in which order
    CAUSAL = 1                  # why
    SEMANTIC = 2                # what, how; any other question
    ENTITY = 3                  # who, whose, where, what is it called
    KNOWLEDGE_UPDATE = 4        # the current state
    MULTI_HOP = 5               # the answer combines several memories


class Clue(IntEnum):
    """A kind of detail named in the query."""

    DATE = 0                    # a date or a relative time
    NAME = 1                    # a person, a place or a thing, by name
    IDENTIFIER = 2              # code, a path, a file, an address
    FAULT = 3                   # an error, something to fix


# --- tables -------------------------------------------------------------------------------------------------------
#                                meaning words form  use   time  context association completion
INTENT_FACETS: Final = np.array([
    [1.0, 1.2, 1.0, 0.7, 0.7, 1.5, 1.0, 1.0],        # TEMPORAL: neighbouring events help; recency and frequent use do not
    [1.2, 1.0, 0.8, 1.0, 1.0, 1.2, 1.5, 1.0],        # CAUSAL: a cause is described in other words, close in time or linked
    [1.2, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0],        # SEMANTIC
    [1.0, 1.5, 1.2, 1.0, 0.8, 1.0, 1.2, 1.0],        # ENTITY: names match literally
    [1.0, 1.2, 1.0, 1.5, 2.0, 1.0, 1.0, 1.0],        # KNOWLEDGE_UPDATE: prefers the latest of several versions
    [1.0, 1.0, 1.0, 1.0, 0.8, 1.2, 2.0, 1.0],        # MULTI_HOP: memories linked to matching ones
])
CLUE_FACETS: Final = np.array([
    [1.0, 1.2, 1.0, 1.0, 1.5, 1.0, 1.0, 1.0],        # DATE: in the words of a memory, and in its time
    [1.0, 1.2, 1.0, 1.0, 1.0, 1.0, 1.2, 1.0],        # NAME
    [0.8, 1.2, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0],        # IDENTIFIER: split by word search, unknown to embeddings
    [1.0, 1.2, 1.2, 1.0, 1.0, 1.0, 1.2, 1.0],        # FAULT: error messages are quoted literally
])

# Matched against the query's words in lower case with single spaces; the first intent with a matching phrase is chosen.  Every repeat is
# bounded and starts at a space, so the search is linear.
PHRASES: Final[dict[Intent, tuple[str, ...]]] = {
    Intent.CAUSAL: (
        r"why|how come|for what reason|because of what|as a (?:result|consequence) of",
        r"what(?:'s| is| was| were| are)? the (?:reasons?|causes?)",
        r"what (?:caused|led|made|makes|prompted|motivated|motivates|inspired|inspires|triggered)",
    ),
    Intent.MULTI_HOP: (
        r"in common|both|all together|altogether|in total|how many (?:different|times)",
        r"(?:do|have)(?: [^ ]+){1,5} share|the same(?: [^ ]+){0,3} as|compared? (?:to|with)",
        r"(?:related|relationship|relates?|connected|connections?) (?:to|between|with)|(?:differences?|similarity|similarities) between",
        r"(?:person|people|friend|one|someone|place|city|book|company) (?:who|whom|whose|that|where)",
    ),
    Intent.TEMPORAL: (
        r"^when|(?:and|since|until|but|or) when|when (?:is|are|was|were|do|does|did|has|have|had|will|would|can|could|should)",
        r"(?:what|which) (?:date|day|month|year|time|week|season)|how (?:long|often|recently|soon|old)",
        r"how many (?:minutes|hours|days|nights|weeks|months|years)|(?:what|which)(?: [^ ]+){0,2} order",
        r"(?:came|come|happened|did|was|were)(?: [^ ]+){0,4} (?:first|before|after|earlier|later)|(?:right|just|shortly|soon) (?:before|after)",
    ),
    Intent.KNOWLEDGE_UPDATE: (
        r"current|currently|now|nowadays|at (?:present|the moment)|these days|as of (?:today|now)",
        r"most recent|latest|newest|up to date|still|anymore|any more|no longer|instead",
        r"(?:changed?|switched|updated?|moved|replaced) (?:to|from|since|by|with)",
    ),
    Intent.ENTITY: (
        r"who|whom|whose|who's|where|called|named|tell me about",
        r"(?:what|which) (?:person|people|friend|place|city|country|company|book|movie|film|song|restaurant|school|team)",
        r"what(?:'s| is| was| are| were)? (?:(?:the|his|her|their|my|your) )?(?:(?:full|first|last) )?(?:names?|titles?)",
    ),
}
RULES: Final = tuple((intent, re.compile(rf"\b(?:{'|'.join(phrases)})\b")) for intent, phrases in PHRASES.items())
_FAULT: Final = re.compile(r"\b(?:errors?|bugs?|fix(?:e[sd]|ing)?|exceptions?|traceback|crash(?:e[sd]|ing)?|fail(?:s|ed|ing|ures?)?|broken|debug)\b")


def intent_of(words: str) -> Intent | None:
    """Intent of a query, given as its words in lower case with single spaces: the first matching rule; SEMANTIC if none matches; None
    for a query without words.  O(length).

    >>> [intent_of(q).name for q in ("why did she leave", "when did she leave", "what does she like", "where does she live now")]
    ['CAUSAL', 'TEMPORAL', 'SEMANTIC', 'KNOWLEDGE_UPDATE']
    """
    if not words:
        return None
    return next((intent for intent, pattern in RULES if pattern.search(words)), Intent.SEMANTIC)


def clues_of(words: str, found: Features) -> list[Clue]:
    """The clues of a query.  O(length)."""
    present = (bool(found.dates), bool(found.entities), bool(found.identifiers), _FAULT.search(words) is not None)
    return [clue for clue, there in zip(Clue, present, strict=True) if there]


def facet_weights(intent: Intent | None, clues: list[Clue], strength: float) -> NDArray[np.float64]:
    """exp(strength (ln I + sum ln C)), I the row of the intent and C the rows of the clues: 1 at strength 0, the table values at 1.  O(facets).

    >>> facet_weights(Intent.KNOWLEDGE_UPDATE, [Clue.DATE], 1.0).round(2).tolist()
    [1.0, 1.44, 1.0, 1.5, 3.0, 1.0, 1.0, 1.0]
    """
    logs: NDArray[np.float64] = np.log(CLUE_FACETS)[clues].sum(axis=0)
    if intent is not None:
        logs += np.log(INTENT_FACETS[intent])
    weights: NDArray[np.float64] = np.exp(strength * logs)
    return weights


# --- plug-in ------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class QueryIntentParams(Params):
    strength: float             # exponent of the factors: 0 no effect, 1 the table values


class QueryIntent(Mechanism[QueryIntentParams]):
    owns = (INTENT,)

    @hook(Phase.RETRIEVE, reads=(), adds=(LOG_FACETS,), sets=(INTENT,))
    def weigh(self, view: Any, cue: Cue) -> None:
        words = " ".join(cue.features.words)
        intent = intent_of(words)
        view.intent = -1 if intent is None else int(intent)
        np.log(facet_weights(intent, clues_of(words, cue.features), self.params.strength), out=view.log_facets)
