"""Abstention: whether answers are held back where the conversation has none, and where it has one.

Counted per question, from rows: an answer without any event is held back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

# Names of the data sets for questions that their conversation does not answer: BEAM, LongMemEval
# and own data; LoCoMo, whose questions of this kind name the turn that they distort as evidence.
UNANSWERABLE: Final = frozenset({"abstention", "adversarial"})


def unanswerable(category: str) -> bool:
    """Whether questions of the category have no answer in their conversation.

    >>> unanswerable("abstention"), unanswerable("single-hop")
    (True, False)
    """
    return category in UNANSWERABLE


def abstention(rows: Iterable[Mapping[str, Any]]) -> dict[str, float | int | None]:
    """How often answers are held back.  O(rows).

    unanswerable, held_back      questions without an answer, and the share of them whose answer was
                                 held back; None for no question
    answerable, false_hold_backs  the others, and the share of them whose answer was held back

    >>> abstention([{"category": "abstention", "held_back": True}, {"category": "temporal", "held_back": False}])
    {'unanswerable': 1, 'held_back': 1.0, 'answerable': 1, 'false_hold_backs': 0.0}
    """
    counts = {True: [0, 0], False: [0, 0]}
    for row in rows:
        mine = counts[unanswerable(row["category"])]
        mine[0] += 1
        mine[1] += bool(row["held_back"])
    (without, held), (others, wrongly) = counts[True], counts[False]
    return {
        "unanswerable": without,
        "held_back": held / without if without else None,
        "answerable": others,
        "false_hold_backs": wrongly / others if others else None,
    }
