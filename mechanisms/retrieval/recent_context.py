"""recent_context: a source of contexts, what was said last: in the asker's session, and the most
important of the latest other sessions.

The session is the asker's, else that of the latest event.  Its last 50 events are offered, and of
each of the 5 latest other sessions the 3 events of the highest importance, the latest first.  The
Context Assembly Specification prints exp(-age / 24 h) as the recency, and says that it halves every
24 h; `decay` has both.

It runs only when a context is asked for.  Cost: O(n), and O(1) for each event offered.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...engine.contract.columns import Phase
from ...engine.contract.hooks import Cue, Mechanism, Params, hook
from ...engine.contract.vocabulary import (
    ANSWERABLE,
    ASKER_SESSION,
    BUDGET,
    CREATED,
    IMPORTANCE,
    KIND,
    NOW,
    OFFERS,
    RELEASED,
    SESSION,
)
from ..shared.items import Decay, Scores, decayed, final_scores, printed_scores

SECTION: Final = "Recent Activity"


# --- equations ------------------------------------------------------------------------------------
def recent(
    session: Any, importance: Any, among: Any, own: int, last: int, others: int, highlights: int
) -> NDArray[np.int64]:
    """Rows, the latest first: the last events of a session, and of each of the latest other
    sessions those of the highest importance.

    session, importance  (n,)
    among                (n,)  bool
    own                  ()    number of the session
    last                 ()    events of it
    others, highlights   ()    other sessions, and events of each; of equal importance the later
                               first

    >>> recent(np.array([0, 1, 1, 1, 2]), np.array([0.1, 0.5, 0.9, 0.2, 0.3]), np.ones(5, dtype=np.bool_), 2, 9, 1, 2).tolist()
    [4, 2, 1]
    """
    rows = np.flatnonzero(among)
    mine = session[rows] == own
    parts = [rows[mine][-last:] if last else rows[:0]]
    rest = rows[~mine]
    for number in list(dict.fromkeys(session[rest[::-1]].tolist()))[:others]:
        of = rest[session[rest] == number]
        parts.append(of[np.lexsort((-of, -importance[of]))][:highlights])
    return np.sort(np.concatenate(parts))[::-1]


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class RecentContextParams(Params):
    share: float  # percent of the budget
    last: int  # events of the session
    others: int  # other sessions
    highlights: int  # events of each of them
    decay: Decay
    span: float  # h
    scores: Scores  # whether terms are put on one scale, or summed as printed
    recency: float  # weight in the final score
    relevance: float
    salience: float


class RecentContext(Mechanism[RecentContextParams]):
    """Offers what was said last."""

    @hook(Phase.RETRIEVE, reads=(BUDGET, ASKER_SESSION, NOW, CREATED, KIND, SESSION, IMPORTANCE,
                                 ANSWERABLE, RELEASED), adds=(OFFERS,), sets=())  # fmt: skip
    def offer(self, view: Any, cue: Cue) -> None:
        p, among = self.params, view.answerable & (view.kind == 0)
        if view.budget == 0 or not among.any():
            return
        own = (
            view.asker_session
            if view.asker_session >= 0
            else int(view.session[np.flatnonzero(among)[-1]])
        )
        rows = recent(view.session, view.importance, among, own, p.last, p.others, p.highlights)
        recency = [
            decayed(
                max(view.now - float(view.created[row]), 0.0), self.hours("span"), p.decay == "half"
            )
            for row in rows.tolist()
        ]
        weights = (p.recency, p.relevance, p.salience)
        scores = (
            final_scores(recency, view.released[rows], view.importance[rows], weights)
            if p.scores == "scaled"
            else printed_scores(recency, view.released[rows], weights)
        )
        for row, score in zip(rows.tolist(), scores.tolist(), strict=True):
            view.offers.add(row, SECTION, score, kind="recent")
