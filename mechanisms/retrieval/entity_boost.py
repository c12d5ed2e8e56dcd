"""Entity boost: if the query names a sender or recipient, memories from, to or about that person
score higher, and others lower.

True Memory's public code (truememory/salience.py at commit 1a28f97; not in the paper) takes as
entities the names of all senders and recipients.  If the query names one, each candidate gets a
share of the best score: +0.30 if the entity is its sender or recipient, and +0.20 if its text
mentions the name; a candidate with neither gets -0.15.  A query that names nobody changes nothing.

The names of sender and recipient are kept as numbers when the memory is encoded, so a query finds
known names without reading texts; mentions are sought in the texts of the candidates alone.  Chat
roles (user, assistant, system) and "self" are no names.

Cost: per event O(length of the names); per query O(n q) for q words, if it names somebody, and
O(length) of the candidates' texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Column, Phase, Scope
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, hook
from ...engine.contract.records import ROLES
from ...engine.contract.vocabulary import ANSWERABLE, FUSED, PRIMED, ROW, TEXTS
from ...engine.state.ranking import best
from ...engine.text.features import features, fold
from ..shared.numbers import number_of_text

MOST_WORDS: Final = 4  # of a name
NOBODY: Final = ROLES | {"self"}

# --- columns --------------------------------------------------------------------------------------
SENDER_NAME = Column(
    "sender_name", np.int64, Scope.MEMORY, "1", 0, "number of the sender's name; 0: none"
)
RECIPIENT_NAME = Column(
    "recipient_name", np.int64, Scope.MEMORY, "1", 0, "number of the recipient's name; 0: none"
)


# --- names ----------------------------------------------------------------------------------------
def number_of(words: Sequence[str]) -> int:
    """A number above 0 of a name, the same in every process; 0 without words, for more than four,
    for a chat role and for "self".  O(length).

    >>> number_of(("ada",)) == number_of(("ada",)) != number_of(("ada", "byron")), number_of(("user",)), number_of(())
    (True, 0, 0)
    """
    name = " ".join(words)
    return 0 if len(words) > MOST_WORDS or name in NOBODY else number_of_text(name)


@lru_cache(maxsize=4096)
def name_number(name: str) -> int:
    """The number of a name as written.  O(length).

    >>> name_number("Ada Byron") == number_of(("ada", "byron")), name_number("")
    (True, 0)
    """
    return number_of(features(name).words)


def runs(words: Sequence[str]) -> dict[int, str]:
    """Number -> name, of every run of one to four words of a query, without a possessive 's.
    O(words).

    >>> list(runs(("ada's", "dog")).values())
    ['ada', 'ada dog', 'dog']
    """
    bare = [word.removesuffix("'s") for word in words]
    parts = (
        bare[i:j]
        for i in range(len(bare))
        for j in range(i + 1, min(i + MOST_WORDS, len(bare)) + 1)
    )
    return {number: " ".join(run) for run in parts if (number := number_of(run))}


# --- equations ------------------------------------------------------------------------------------
@kernel
def add_boosts(
    involved: Any, mentioned: Any, direct: float, mention: float, unrelated: float, out: Any
) -> None:
    """out_i += d [involved_i] + m [mentioned_i], and u where neither holds.  True Memory, public
    code.  Cost: O(n).

    involved, mentioned        (n,) bool
    direct, mention, unrelated  ()  1  d, m, u: shares of the best score, which is 1
    out                        (n,)  1  added to

    >>> out = np.zeros(4)
    >>> add_boosts(np.array([True, True, False, False]), np.array([True, False, True, False]), 0.3, 0.2, -0.15, out)
    >>> out.round(6).tolist()
    [0.5, 0.3, 0.2, -0.15]
    """
    for i in range(out.shape[0]):
        if involved[i]:
            out[i] += direct
        if mentioned[i]:
            out[i] += mention
        if not involved[i] and not mentioned[i]:
            out[i] += unrelated


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class EntityBoostParams(Params):
    direct: float  # shares of the best score: from or to the entity
    mention: float  # the text mentions the name
    unrelated: float  # neither
    candidates: int  # best memories that may be boosted; others count as unrelated


class EntityBoost(Mechanism[EntityBoostParams]):
    """Prefers memories of the people that the query names."""

    owns = (SENDER_NAME, RECIPIENT_NAME)

    @hook(Phase.ENCODE, reads=(ROW,), adds=(), sets=(SENDER_NAME, RECIPIENT_NAME))
    def note(self, view: Any, incoming: Incoming) -> None:
        view.sender_name[view.row] = name_number(incoming.event.speaker or "")
        view.recipient_name[view.row] = name_number(incoming.event.get("recipient") or "")

    @hook(
        Phase.RETRIEVE,
        reads=(FUSED, ANSWERABLE, TEXTS, SENDER_NAME, RECIPIENT_NAME),
        adds=(PRIMED,),
        sets=(),
    )
    def boost(self, view: Any, cue: Cue) -> None:
        """Raise what the people named sent, received or are mentioned in; lower the rest."""
        p, named = self.params, runs(cue.features.words)
        if not named:
            return
        asked = np.fromiter(named, np.int64, len(named))
        sent, received = np.isin(view.sender_name, asked), np.isin(view.recipient_name, asked)
        known = np.unique(np.concatenate([view.sender_name[sent], view.recipient_name[received]]))
        if not known.size:
            return
        names, involved, mentioned = (
            [named[int(number)] for number in known],
            *np.zeros((2, len(sent)), dtype=np.bool_),
        )
        rows = best(view.fused, view.answerable, p.candidates)
        involved[rows] = (sent | received)[rows]
        for row in rows.tolist():
            text = fold(view.texts[row])
            mentioned[row] = any(name in text for name in names)
        add_boosts(involved, mentioned, p.direct, p.mention, p.unrelated, view.primed)
