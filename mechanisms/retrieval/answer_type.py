"""Answer type: a question that asks when, how many, who or where prefers memories that hold a time,
a quantity or a name.

Predictive annotation (Prager, Brown, Coden & Radev 2000, https://doi.org/10.1145/345508.345574)
marks in every text, when it is indexed, what could answer a question of each type; a question then
asks for its type beside its words.  Here each memory keeps whether it names a time, whether it
states a quantity, and the numbers of the names that it mentions.  Rules read from the query which
type is asked for, and memories that hold one get a prior.  A name that the question itself says is
no answer to it, nor is the name of anybody who speaks: people address each other by it.

A query of no type is left alone.  The rules are for English.

Cost: O(length) per event; O(words) per query, and O(n) if it asks for a type.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final

import numpy as np

from ...engine.base.numerics import exact_kernel, place_from
from ...engine.contract.columns import Column, Phase, Scope
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, hook
from ...engine.contract.vocabulary import LOG_PRIOR, ROW
from ...engine.text.features import fold, sanitise
from ..shared.numbers import number_of_text

MOST: Final = 8  # names kept of a memory


class WantedAnswer(IntEnum):
    """What a question asks for."""

    OTHER = 0  # none of those below: no prior
    TIME = 1  # when
    QUANTITY = 2  # how many, how much, how long
    NAME = 3  # who, where, which book


# --- columns --------------------------------------------------------------------------------------
NAMES_TIME = Column(
    "names_time",
    np.bool_,
    Scope.MEMORY,
    "1",
    False,
    "whether the text names a date or a relative time",
)
STATES_QUANTITY = Column(
    "states_quantity",
    np.bool_,
    Scope.MEMORY,
    "1",
    False,
    "whether the text has a number outside dates, in digits or words",
)
MENTIONED = Column(
    "mentioned",
    np.int64,
    Scope.MEMORY,
    "1",
    0,
    "numbers of the first names that the text mentions; 0: no further",
    (MOST,),
)
SAID_BY = Column(
    "said_by",
    np.int64,
    Scope.MEMORY,
    "1",
    0,
    "numbers of the whole name and of the first name of who said the memory; 0: none",
    (2,),
)
ASKED_TYPE = Column(
    "asked_type",
    np.int8,
    Scope.EVENT,
    "1",
    0,
    "what the current query asks for, a value of Wanted",
    low=0,
    high=3,
)

# --- rules ----------------------------------------------------------------------------------------
# Matched against the words of the query in lower case with single spaces.  Every repeat is bounded
# and starts at a space, so the search is linear.
_TIME: Final = re.compile(
    r"^(?:(?:and|so|but|since|until) )?when\b|\bwhen (?:is|are|was|were|do|does|did|has|have|had|will|would|can|could|should)\b"
    r"|\b(?:what|which)(?: [^ ]+)? (?:dates?|days?|months?|years?|times?|weeks?|weekends?|seasons?)\b|\bhow (?:long ago|recently|soon)\b"
)
_QUANTITY: Final = re.compile(
    r"\bhow (?:many|much|long|old|far|often|big|tall|large|fast|high|heavy)\b"
    r"|\b(?:what|which)(?: [^ ]+){0,4} (?:percentage|number|amount|age|price|cost|budget|score|size|length|distance|duration|total|salary|rate)\b"
)
# of "the friend who" and "the town where", who and where ask nothing
_NAME: Final = re.compile(
    r"(?:^|^(?:and|so|but|with|for|to|from|by|about|of|at|in|on|near) |\b(?:know|knows|remember|recall|tell me|remind me|say|said|mention|mentioned"
    r"|decide|decided|guess|sure|and|or) (?:with |for |to |from |by |about |of |at )?)(?:who|whom|whose|where)\b"
    r"|\bwhere (?:is|are|was|were|do|does|did|will|would|can|could|should)\b|\bwho (?:is|are|was|were) (?:the|his|her|their|my|your|our)\b"
    r"|\b(?:called|named)$|\bwhat(?:'s| is| was| are| were)(?: [^ ]+){1,2} (?:names?|titles?)\b"
    r"|\b(?:what|which)(?: of)?(?: [^ ]+)? (?:person|people|friends?|places?|city|cities|country|countries|states?|towns?|company|companies|books?"
    r"|movies?|films?|songs?|bands?|games?|restaurants?|schools?|teams?|brands?|authors?|artists?|musicians?|names?|titles?)\b"
)
_RULES: Final = (
    (WantedAnswer.TIME, _TIME),
    (WantedAnswer.QUANTITY, _QUANTITY),
    (WantedAnswer.NAME, _NAME),
)
_NUMBER_WORDS: Final = frozenset((
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen",
    "seventeen", "eighteen", "nineteen", "twenty", "thirty", "forty", "fifty", "sixty", "seventy",
    "eighty", "ninety", "hundred", "hundreds",
    "thousand", "thousands", "million", "millions", "dozen", "dozens", "couple", "once", "twice",
    "half", "several", "few"))  # fmt: skip


def type_of(words: str) -> WantedAnswer:
    """What a query asks for, given as its words in lower case with single spaces: the first rule
    that matches.  O(length).

    >>> [type_of(q).name for q in ("when did she leave", "how long did it take", "which book did he read", "why did she leave")]
    ['TIME', 'QUANTITY', 'NAME', 'OTHER']
    """
    return next((asked for asked, rule in _RULES if rule.search(words)), WantedAnswer.OTHER)


def states_quantity(numbers: Collection[str], words: Collection[str]) -> bool:
    """Whether a text with these numbers and words states a quantity; "one" is rarely a number.
    O(words).

    >>> states_quantity(("$30",), ()), states_quantity((), ("twice", "a", "week")), states_quantity((), ("the", "blue", "one"))
    (True, True, False)
    """
    return bool(numbers) or not _NUMBER_WORDS.isdisjoint(words)


def distinct(numbers: Any) -> Any:
    """The different numbers (n,) in order; `np.unique` takes ten times as long for a few numbers,
    often repeated.  O(n log n).

    >>> distinct(np.array([7, 0, 7, 3, 0])).tolist()
    [0, 3, 7]
    """
    ordered = np.sort(numbers)
    return ordered[np.append(np.full(min(1, ordered.size), True), ordered[1:] != ordered[:-1])]


# --- equations ------------------------------------------------------------------------------------
@exact_kernel
def mentions_another(mentioned: Any, known: Any, out: Any) -> None:
    """out_i = whether memory i mentions a name that is not among the known ones.  Ours.  Cost: O(n
    m).

    mentioned  (n, m)  numbers of names; 0: no further
    known      (k,)    numbers of names, in order
    out        (n,)    bool; written

    >>> out = np.zeros(3, dtype=np.bool_)
    >>> mentions_another(np.array([[5, 9], [5, 0], [0, 0]]), np.array([5]), out)
    >>> out.tolist()
    [True, False, False]
    """
    for i in range(out.shape[0]):
        out[i] = False
        for j in range(mentioned.shape[1]):
            name = mentioned[i, j]
            if name == 0:
                break
            at = place_from(known, 0, known.shape[0], name)
            if at == known.shape[0] or known[at] != name:
                out[i] = True
                break


@exact_kernel
def add_prior(holds: Any, strength: float, out: Any) -> None:
    """out_i += a [memory i holds what is asked for].  Ours.  Cost: O(n).

    holds     (n,)      bool
    strength  ()    ln  a
    out       (n,)  ln  added to

    >>> out = np.zeros(2)
    >>> add_prior(np.array([True, False]), 0.5, out)
    >>> out.tolist()
    [0.5, 0.0]
    """
    for i in range(out.shape[0]):
        if holds[i]:
            out[i] += strength


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class AnswerTypeParams(Params):
    strength: float  # a, ln factor on memories that hold what is asked for


class AnswerType(Mechanism[AnswerTypeParams]):
    """Keeps what each memory holds, and prefers those that hold what is asked for."""

    owns = (NAMES_TIME, STATES_QUANTITY, MENTIONED, SAID_BY, ASKED_TYPE)

    @hook(
        Phase.ENCODE, reads=(ROW,), adds=(), sets=(NAMES_TIME, STATES_QUANTITY, MENTIONED, SAID_BY)
    )
    def annotate(self, view: Any, incoming: Incoming) -> None:
        row, said, speaker = (
            view.row,
            incoming.features,
            fold(sanitise(incoming.event.speaker)).split(),
        )
        view.names_time[row], view.states_quantity[row] = (
            bool(said.dates),
            states_quantity(said.numbers, said.words),
        )
        names = [number_of_text(name) for name in said.entities[:MOST]]
        view.mentioned[row, : len(names)] = names
        view.said_by[row] = (
            number_of_text(" ".join(speaker)),
            number_of_text(speaker[0] if speaker else ""),
        )

    @hook(
        Phase.RETRIEVE,
        reads=(NAMES_TIME, STATES_QUANTITY, MENTIONED, SAID_BY),
        adds=(LOG_PRIOR,),
        sets=(ASKED_TYPE,),
    )
    def prefer(self, view: Any, cue: Cue) -> None:
        asked = type_of(" ".join(cue.features.words))
        view.asked_type = int(asked)
        if asked is WantedAnswer.TIME:
            add_prior(view.names_time, self.params.strength, view.log_prior)
        elif asked is WantedAnswer.QUANTITY:
            add_prior(view.states_quantity, self.params.strength, view.log_prior)
        elif asked is WantedAnswer.NAME:
            known = distinct(
                np.append(
                    view.said_by,
                    np.array(
                        [number_of_text(name) for name in cue.features.entities], dtype=np.int64
                    ),
                )
            )
            named = np.empty(len(view.names_time), dtype=np.bool_)
            mentions_another(view.mentioned, known, named)
            add_prior(named, self.params.strength, view.log_prior)
