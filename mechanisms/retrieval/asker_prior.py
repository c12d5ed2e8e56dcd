"""Asker prior: prefers what the asker said for questions with "I" and "my", and what the other said
for questions such as "what did you suggest".

In talks between a user and an assistant, most words are the assistant's, although most questions
are about what the user said.  The role of each memory is kept when it is encoded; rules read from
the query whose words are asked for, and the mechanism adds the log of a factor to LOG_PRIOR for the
memories of that role.  A summary or an overview needs both sides, so such a request has no prior.
Memories without a role have none.

The rules are for English.

Cost: O(words of the query) and O(n) per query.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final

import numpy as np

from ...engine.base.numerics import exact_kernel
from ...engine.contract.columns import Column, Phase, Scope
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, hook
from ...engine.contract.vocabulary import LOG_PRIOR, ROW
from ..shared.questions import IN_ORDER, SUMMARY

ROLES: Final = ("", "user", "assistant", "system")


class WhoseWords(IntEnum):
    """Whose words a query asks for."""

    BOTH = 0  # a summary, or what "we" said: no prior
    UNMARKED = 1  # nobody's: a small prior for the asker
    ASKER = 2
    OTHER = 3


SUBJECTS: Final = {"i": WhoseWords.ASKER, "you": WhoseWords.OTHER, "we": WhoseWords.BOTH}

# --- columns --------------------------------------------------------------------------------------
ROLE = Column(
    "role",
    np.int8,
    Scope.MEMORY,
    "1",
    0,
    "who said the memory: 0 nobody in a role, 1 user, 2 assistant, 3 system",
    low=0,
    high=3,
)
SAID = Column(
    "said",
    np.int8,
    Scope.EVENT,
    "1",
    -1,
    "whose words the current query asks for, a value of Said; -1: no words",
    low=-1,
    high=3,
)

# --- rules ----------------------------------------------------------------------------------------
_SAY = (
    r"(?:say|tell|mention|ask|bring up|describe|share|write|state|report|claim|request|propose|explain|talk|give|point out|note|suggest|recommend"
    r"|advise|answer|reply|respond|offer|list|show|warn|promise|teach|help|provide|generate|come up with)"
)
_HAS_SAID = (
    r"(?:said|told|mentioned|asked|brought up|described|shared|wrote|written|stated|reported|claimed|requested|proposed|explained|talked|gave|given"
    r"|pointed out|noted|suggested|recommended|advised|answered|replied|responded|offered|listed|showed|shown|warned|promised|taught|helped|provided"
    r"|generated|came up with|come up with)"
)
_BETWEEN = r"(?: (?:ever|just|already|also|originally|previously|first|last|initially|once|really|have|had))*"
_WHOLE: Final = re.compile(
    rf"\b(?:{SUMMARY}|comprehensive|everything (?:about|we|that|related)"
    r"|(?:evolved?|developed|progressed|unfold(?:ed)?) (?:over|across|through|during|since|from))\b"
    r"|\bhow (?:has|have|did|does)(?: [a-z']+){1,8} (?:evolved?|progress(?:ed)?|develop(?:ed)?)\b"
)
# Whose saying is asked for: an inverted question before a clause, the first before the second.
_INVERTED: Final = re.compile(
    rf"\b(?:did (i|we|you){_BETWEEN} {_SAY}|(?:have|had|were|was) (i|we|you){_BETWEEN} {_HAS_SAID})\b"
)
_CLAUSE: Final = re.compile(rf"\b(i|we|you)(?:'ve|'d)?{_BETWEEN} {_HAS_SAID}\b")
_YOURS: Final = re.compile(
    r"\byour (?:[a-z]+ ){0,2}(?:answers?|advice|suggestions?|recommendations?|replies|reply|responses?|explanations?|proposals?|tips?|instructions?"
    r"|ideas?|plan|examples?|list|messages?|opinion|warning|estimates?|version|draft|code|solution|steps)\b|\b(?:from|by|according to) you\b"
)
_OWN: Final = re.compile(r"\b(?:i|i'm|i've|i'd|i'll|my|mine|me|myself)\b")
_JOINT: Final = re.compile(r"\b(?:we|we've|we'd|our|ours|us)\b")


def said_by(words: str) -> WhoseWords | None:
    """Whose words a query asks for, given as its words in lower case with single spaces; None
    without words.  O(length).

    >>> [said_by(q).name for q in ("what did i say about my car", "what did you suggest for me", "summarize what i told you", "where does ada live")]
    ['ASKER', 'OTHER', 'BOTH', 'UNMARKED']
    """
    if not words:
        return None
    if _WHOLE.search(words) and not IN_ORDER.search(words):
        return WhoseWords.BOTH
    if subject := _INVERTED.search(words) or _CLAUSE.search(words):
        return SUBJECTS[next(filter(None, subject.groups()))]
    if _YOURS.search(words):
        return WhoseWords.OTHER
    if _OWN.search(words):
        return WhoseWords.ASKER
    return WhoseWords.BOTH if _JOINT.search(words) else WhoseWords.UNMARKED


# --- equations ------------------------------------------------------------------------------------
@exact_kernel
def add_prior(role: Any, wanted: int, log_factor: float, out: Any) -> None:
    """out_i += ln f [r_i = wanted].  Cost: O(n).

    role        (n,)  r, as in ROLE
    wanted      ()    the role that is asked for
    log_factor  ()    ln f
    out         (n,)  ln; added to

    >>> out = np.zeros(3)
    >>> add_prior(np.array([1, 2, 0]), 1, 0.5, out)
    >>> out.tolist()
    [0.5, 0.0, 0.0]
    """
    for i in range(role.shape[0]):
        if role[i] == wanted:
            out[i] += log_factor


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class AskerPriorParams(Params):
    own: float  # ln factor on what the asker said, for questions with I or my
    other: float  # ln factor on what the other said, for questions about that
    # ln factor on what the asker said, for questions without I, my or you
    unmarked: float


class AskerPrior(Mechanism[AskerPriorParams]):
    """Keeps the role of each memory and adds the prior of the role that is asked for."""

    owns = (ROLE, SAID)

    @hook(Phase.ENCODE, reads=(ROW,), adds=(), sets=(ROLE,))
    def keep(self, view: Any, incoming: Incoming) -> None:
        role = incoming.event.get("role") or incoming.event.speaker
        view.role[view.row] = ROLES.index(role) if role in ROLES else 0

    @hook(Phase.RETRIEVE, reads=(ROLE,), adds=(LOG_PRIOR,), sets=(SAID,))
    def prefer(self, view: Any, cue: Cue) -> None:
        said = said_by(" ".join(cue.features.words))
        view.said = -1 if said is None else int(said)
        p = self.params
        if said is WhoseWords.OTHER:
            add_prior(view.role, 2, p.other, view.log_prior)
        elif said in (WhoseWords.ASKER, WhoseWords.UNMARKED):
            add_prior(
                view.role, 1, p.own if said is WhoseWords.ASKER else p.unmarked, view.log_prior
            )
