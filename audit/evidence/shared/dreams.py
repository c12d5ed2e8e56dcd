"""Evidence with a unit that memory made between two events: what follows an event follows it in
spite of such a unit.
"""

from __future__ import annotations

from typing import Any

from ....engine.contract.columns import Phase
from ....engine.contract.drafts import Draft, Kind
from ....engine.contract.hooks import Mechanism
from ....engine.contract.vocabulary import DRAFTS, KIND
from ...memory import neighbour

SOURCE = (
    "definition: a unit that a sleep made stands between two events, and does not part them; "
    "by hand"
)


def dreaming() -> Mechanism[Any]:
    """Makes a unit of the first event, of no session, in the first sleep."""

    def draft(view: Any, tick: Any) -> None:
        if (view.kind == Kind.EVENT).all():
            view.drafts.add(Draft("a dream", Kind.SUMMARY, (0,)))

    return neighbour(Phase.CONSOLIDATE, draft, reads=(KIND,), adds=(DRAFTS,), id="dreaming")
