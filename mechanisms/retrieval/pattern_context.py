"""pattern_context: a source of contexts, standing instructions, those first that served best.

An event is a pattern if a sentence of it is an instruction or a preference by its speech act and
says that it holds beyond the moment: always, never, whenever, from now on; "always here to help"
and "never a bad moment" say nothing that could be followed.  What the memory is told of its use is
counted: `memory.use(answer, rows, outcome)` and `memory.outcome(row, ok)`.  Its rate of success is
(successes + 1) / (applications + 2), the rule of succession of Laplace.  The Context Assembly
Specification divides successes by applications, which is 0/0 for a pattern that was never applied.
Patterns that share a word with the query come first, then those of the higher rate.

It runs only when a context is asked for, and where recall may change memory.  Cost: O(n), and
O(length) of each pattern.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Column, Phase, Scope
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, hook
from ...engine.contract.vocabulary import ANSWERABLE, BUDGET, OFFERS, OUTCOME, RECALLED, ROW, TEXTS
from ...engine.text.condensing import sentences
from ...engine.text.features import SpeechAct, features, fold, terms_of

PATTERN = Column(
    "pattern",
    np.bool_,
    Scope.MEMORY,
    "1",
    False,
    "whether the event is a standing instruction or preference",
)
APPLICATIONS = Column(
    "applications", np.int64, Scope.MEMORY, "1", 0, "uses of the pattern with an outcome", low=0
)
SUCCESSES = Column(
    "successes",
    np.int64,
    Scope.MEMORY,
    "1",
    0,
    "of APPLICATIONS, those with an outcome above 0",
    low=0,
)
SECTION: Final = "Applicable Patterns"
_IDLE: Final = (
    r"an?|the|here|up|out|been|being|good|great|nice|happy|glad|ready|fun|saw|gets?"
    r"|(?:be|com|do|feel|go|hav|look|mak|stay|tak|think|try|work)ing"
)  # after always or never, in what nobody could follow
_LASTING: Final = re.compile(
    rf"\b(?:(?:always|never)(?! (?:{_IDLE})\b)|whenever|every time|each time|any time|from now on|in future|in the future|at all times|as a rule"
    r"|by default|going forward|prefer|rather)\b"
)
_ACTS: Final = frozenset((SpeechAct.INSTRUCTION, SpeechAct.PREFERENCE))


# --- equations ------------------------------------------------------------------------------------
@kernel
def rate(successes: float, applications: float) -> float:
    """(s + 1) / (a + 2), the expected rate of success under a uniform prior.  Laplace's rule of
    succession.  Cost: O(1).

    >>> rate(0.0, 0.0), rate(3.0, 4.0)
    (0.5, 0.6666666666666666)
    """
    return (successes + 1.0) / (applications + 2.0)


def lasting(text: str, act: SpeechAct) -> bool:
    """Whether a sentence of a text of this speech act is an instruction or a preference that holds
    beyond the moment.  O(length).

    >>> lasting("Always answer in metres.", SpeechAct.INSTRUCTION), lasting("Answer in metres.", SpeechAct.INSTRUCTION)
    (True, False)
    """
    if act not in _ACTS or not _LASTING.search(fold(text)):
        return False
    return any(
        _LASTING.search(fold(sentence)) and features(sentence).act in _ACTS
        for sentence in sentences(text)
    )


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class PatternContextParams(Params):
    share: float  # percent of the budget
    apart: float  # factor on the rate of a pattern that shares no word with the query


class PatternContext(Mechanism[PatternContextParams]):
    """Offers standing instructions."""

    owns = (PATTERN, APPLICATIONS, SUCCESSES)

    @hook(Phase.ENCODE, reads=(ROW,), adds=(), sets=(PATTERN,))
    def mark(self, view: Any, incoming: Incoming) -> None:
        view.pattern[view.row] = lasting(incoming.event.text, incoming.features.act)

    @hook(
        Phase.RETRIEVE,
        reads=(BUDGET, PATTERN, APPLICATIONS.before, SUCCESSES.before, ANSWERABLE, TEXTS),
        adds=(OFFERS,),
        sets=(),
    )
    def offer(self, view: Any, cue: Cue) -> None:
        asked, offered = set(terms_of(cue.query.text, stop_words=True)), []
        for row in np.flatnonzero(view.pattern & view.answerable).tolist() if view.budget else ():
            fits = (
                1.0
                if asked.intersection(terms_of(view.texts[row], stop_words=True))
                else self.params.apart
            )
            offered.append(
                (fits * rate(float(view.successes[row]), float(view.applications[row])), row)
            )
        for score, row in sorted(offered, key=lambda pair: (-pair[0], pair[1])):
            view.offers.add(row, SECTION, score, kind="pattern")

    @hook(
        Phase.RETRIEVE, reads=(RECALLED, OUTCOME, PATTERN), adds=(), sets=(APPLICATIONS, SUCCESSES)
    )
    def count(self, view: Any, cue: Cue) -> None:
        if not math.isnan(view.outcome):
            rows = view.recalled[view.pattern[view.recalled]]
            view.applications[rows] += 1
            view.successes[rows] += view.outcome > 0.0
