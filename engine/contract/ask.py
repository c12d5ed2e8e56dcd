"""What is asked: one frozen record, which goes from the memory's face down to the steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .hooks import Cue

NO_BUDGET: Final = -1  # tokens: no context is asked for
NO_SESSION: Final = -1  # number: the asker's session is not known


class AnswerFeedback(NamedTuple):
    """Feedback on an answer.

    rows     (m,) int64, those that were needed, best first
    outcome  how well the answer served, from -1 to 1; NaN: not told
    """

    rows: NDArray[np.int64]
    outcome: float


@dataclass(frozen=True, slots=True, eq=False)
class Ask:
    """One question as RETRIEVE gets it.  Hooks of mechanisms receive its cue.

    cue      the question with the features and the vector that hooks read
    k        how many rows the answer holds at most
    whole    whether all rows are asked, and never a shortlist
    learn    whether recall may change the memory
    told     rows that were needed, in place of the best ones; None: no feedback
    budget   tokens of the context that is asked for; NO_BUDGET: no context is asked for
    session  number of the asker's session, for that context; NO_SESSION: not known
    """

    cue: Cue
    k: int = 10
    whole: bool = False
    learn: bool = False
    told: AnswerFeedback | None = None
    budget: int = NO_BUDGET
    session: int = NO_SESSION
