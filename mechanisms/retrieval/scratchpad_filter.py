"""scratchpad_filter: a language model says which notes of the scratchpad help to answer a question, and
the others are not answered (LIGHT, Tavakoli et al. 2026).

The scratchpad is the visible summaries that the memory has made.  Those nearest to the question by
cosine are offered to the model in one request; the ones that it does not name are banned from this
answer.  Events are never banned.  Without a model, without a sound reply and without words in the
question nothing is.  The paper describes the step; the prompt and the number of notes are ours.

Cost: O(summaries d), and one request for each question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...engine.contract.columns import Phase
from ...engine.contract.drafts import Kind
from ...engine.contract.hooks import Cue, Mechanism, Params, hook
from ...engine.contract.vocabulary import BAN, EMBEDDING, KIND, LANGUAGE_MODEL, TEXTS, VISIBLE
from ...engine.ports.language_model import Reply, Request, Status
from ...engine.text.features import terms_of
from ..shared.prompts import DATA, WHOLE, list_of, numbered, object_of, quoted

SHOWN: Final = 1000  # characters of a note in a prompt
REPLY_TOKENS: Final = 120
FILTER: Final = f"""You see a question and numbered notes from a scratchpad.  Give the numbers of the notes that help to answer it; none if no
note helps.
{DATA}"""


# --- equations ------------------------------------------------------------------------------------
def nearest_notes(notes: Any, cosines: Any, most: int) -> NDArray[np.int64]:
    """At most `most` of the notes, those of the largest cosine first, of equal ones the first.
    O(notes log notes).

    notes, cosines  (k,)  rows, and cosines with the question

    >>> nearest_notes(np.array([4, 7, 9]), np.array([0.1, 0.5, 0.5]), 2).tolist()
    [7, 9]
    """
    order = np.argsort(-np.asarray(cosines, dtype=np.float64), kind="stable")
    return np.asarray(notes, dtype=np.int64)[order[:most]]


# --- a language model -----------------------------------------------------------------------------
def filter_request(question: str, notes: Sequence[str]) -> Request:
    """The request for the notes that help with a question.

    >>> print(filter_request("Where is Miso?", ["Miso ran away.", "It rained."]).prompt)
    QUESTION "Where is Miso?"
    1 "Miso ran away."
    2 "It rained."
    """
    schema = object_of(numbers=list_of(WHOLE, maxItems=len(notes)))
    prompt = "\n".join((f"QUESTION {quoted(question, SHOWN)}", *numbered(notes, SHOWN)))
    return Request("scratchpad_filter", FILTER, prompt, schema, REPLY_TOKENS)


def kept_of(reply: Reply) -> set[int] | None:
    """The numbers of a reply, also ones that were not offered; None unless the reply is ok.

    >>> kept_of(Reply(Status.OK, {"numbers": [2, 2]})), kept_of(Reply(Status.NONE))
    ({2}, None)
    """
    return set(reply.data["numbers"]) if reply.status is Status.OK else None


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class ScratchpadFilterParams(Params):
    most: int  # notes that the model is shown


class ScratchpadFilter(Mechanism[ScratchpadFilterParams]):
    """Bans the notes that do not help."""

    @hook(
        Phase.RETRIEVE,
        reads=(LANGUAGE_MODEL, KIND, TEXTS, EMBEDDING, VISIBLE),
        adds=(BAN,),
        sets=(),
    )
    def ask(self, view: Any, cue: Cue) -> None:
        notes = np.flatnonzero((view.kind == Kind.SUMMARY) & view.visible)
        if not notes.size or not terms_of(cue.query.text, stem=False):
            return
        near = nearest_notes(notes, view.embedding[notes] @ cue.vector, self.params.most)
        texts = [view.texts[row] for row in near.tolist()]
        (reply,) = view.language_model.ask([filter_request(cue.query.text, texts)])
        kept = kept_of(reply)
        if kept is not None:
            view.ban[[row for number, row in enumerate(near.tolist(), 1) if number not in kept]] = 1
