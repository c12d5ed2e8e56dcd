"""Adjacency pairs: a question that matches the query speaks for its answer, and memories that ask
are ranked below memories that tell.

In talk between people, a question and its answer are a pair of adjacent turns (Schegloff & Sacks
1973, https://doi.org/10.1515/semi.1973.8.4.289). The question often has the words of a later query,
and the answer what is asked for: "Where did you go?" - "To Leeds, with my sister."  So each memory
that follows a question of another speaker in its session gets the question's match as a signal, and
each memory has a prior by its telling share: the share of its words outside sentences that end with
a question mark, discounted for short memories.

What is said in a role (user, assistant, system) is left alone: a user's question to an assistant is
a request, and itself holds what is worth remembering.  What nobody says, such as a note or a
belief, is no turn of a talk and is left alone, too: its length tells nothing about how much it
answers.  So is a query that asks who asked what.

Cost: O(length) per event; O(n) per query.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ...engine.base.numerics import exact_kernel
from ...engine.contract.columns import Column, Facet, Phase, Scope, Upkeep, signal
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, hook
from ...engine.contract.records import ROLES
from ...engine.contract.vocabulary import LOG_PRIOR, MATCH, ROW, SESSION, SPEAKER
from ..shared.questions import SENTENCE_END, asks

# --- columns --------------------------------------------------------------------------------------
ASKED_WORDS = Column(
    "asked_words",
    np.float64,
    Scope.MEMORY,
    "words",
    0.0,
    "words in sentences that ask; 0 also if said in a role, or by nobody",
    low=0,
)
TOLD_WORDS = Column(
    "told_words",
    np.float64,
    Scope.MEMORY,
    "words",
    np.nan,
    "words in its other sentences; NaN: said in a role, or by nobody",
    low=0,
)
ANSWERS = Column(
    "answers",
    np.int64,
    Scope.MEMORY,
    "1",
    -1,
    "row of the question that the memory follows; -1: none",
    low=-1,
    upkeep=Upkeep(rows=...),
)
ANSWER = signal(
    "answer",
    Facet.ASSOCIATION,
    "match of the question that the memory answers; NaN: it follows none, or it matches less than the mean",
    direct=False,
)

# --- rules ----------------------------------------------------------------------------------------
_ABOUT_ASKING: Final = re.compile(
    r"\b(?:ask(?:s|ed|ing)?|questions?|wonder(?:s|ed|ing)?|inquir(?:e|es|ed|y|ies)|curious)\b"
)


def told_and_asked(text: str) -> tuple[int, int]:
    """Number of words in sentences that tell, and in sentences that ask, which end with a question
    mark.  O(length).

    >>> told_and_asked('I am well. Where did you go?'), told_and_asked("So good!"), told_and_asked("")
    ((3, 4), (2, 0), (0, 0))
    """
    told = asked = 0
    for sentence in SENTENCE_END.split(text):
        words = len(sentence.split())
        if asks(sentence):
            asked += words
        else:
            told += words
    return told, asked


def about_asking(words: str) -> bool:
    """Whether a query, given as its words in lower case with single spaces, is about what was
    asked.  O(length).

    >>> [about_asking(query) for query in ("what did ada ask bo", "where did ada go")]
    [True, False]
    """
    return _ABOUT_ASKING.search(words) is not None


# --- equations ------------------------------------------------------------------------------------
@exact_kernel
def add_telling(told: Any, asked: Any, strength: float, half: float, out: Any) -> None:
    """out_i -= a (1 - t_i), t_i = told / (told + asked + h); nothing is added where `told` is NaN.
    Ours.  Cost: O(n).

    told      (n,)  words  in sentences that do not ask; NaN: not judged
    asked     (n,)  words  in sentences that ask
    strength  ()    ln     a, what a memory that tells nothing loses
    half      ()    words  h > 0; a memory of h words without a question loses half of that
    out       (n,)  ln     added to

    >>> out = np.zeros(4)
    >>> add_telling(np.array([6.0, 0.0, 18.0, np.nan]), np.array([0.0, 9.0, 0.0, 0.0]), 0.8, 6.0, out)
    >>> out.round(9).tolist()
    [-0.4, -0.8, -0.2, 0.0]
    """
    for i in range(out.shape[0]):
        if not np.isnan(told[i]):
            out[i] -= strength * (1.0 - told[i] / (told[i] + asked[i] + half))


@exact_kernel
def answer(match: Any, answers: Any, out: Any) -> None:
    """out_i = m_j for the question j that i answers, where m_j > 0, the mean of the memories; other
    memories stay as they are.  Ours.  Cost: O(n).

    match    (n,)  sd  m
    answers  (n,)  1   j; -1: none
    out      (n,)  sd  written

    >>> out = np.full(4, np.nan)
    >>> answer(np.array([1.5, 0.2, -0.5, 0.1]), np.array([-1, 0, -1, 2]), out)
    >>> out.tolist()
    [nan, 1.5, nan, nan]
    """
    for i in range(out.shape[0]):
        if answers[i] >= 0 and match[answers[i]] > 0.0:
            out[i] = match[answers[i]]


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class AdjacencyPairsParams(Params):
    strength: float  # a
    half: float  # h
    weight: float  # trust in the fused ranking


class AdjacencyPairs(Mechanism[AdjacencyPairsParams]):
    """Keeps which memories ask and which follow a question; prefers those that tell, and those
    whose question matches.
    """

    owns = (TOLD_WORDS, ASKED_WORDS, ANSWERS, ANSWER)

    @hook(
        Phase.ENCODE,
        reads=(ROW, SESSION, SPEAKER),
        adds=(),
        sets=(TOLD_WORDS, ASKED_WORDS, ANSWERS),
    )
    def keep(self, view: Any, incoming: Incoming) -> None:
        """A memory answers the one before it, if that asks, in the same session and by another
        speaker.
        """
        event, row, before = incoming.event, view.row, incoming.before
        if not event.speaker or event.speaker in ROLES or event.get("role") in ROLES:
            return
        view.told_words[row], view.asked_words[row] = told_and_asked(event.text)
        if (
            before >= 0
            and view.asked_words[before] > 0
            and view.session[before] == view.session[row]
            and view.speaker[before] != view.speaker[row]
        ):
            view.answers[row] = before

    @hook(
        Phase.RETRIEVE,
        reads=(TOLD_WORDS, ASKED_WORDS, ANSWERS, MATCH),
        adds=(LOG_PRIOR,),
        sets=(ANSWER,),
    )
    def prefer(self, view: Any, cue: Cue) -> None:
        if not about_asking(" ".join(cue.features.words)):
            add_telling(
                view.told_words,
                view.asked_words,
                self.params.strength,
                self.params.half,
                view.log_prior,
            )
            answer(view.match, view.answers, view.answer)
