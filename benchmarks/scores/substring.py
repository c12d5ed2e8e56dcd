"""The reciprocal rank of Cortex on BEAM (cortex2026, 6.3): a memory counts as found if its text
contains the gold turn or the answer.

The source calls it a proxy.  A short answer, such as "two", is contained in many texts; and a
question that names no gold event, such as one that has no answer, counts if an answer is expected.
So these ranks are no substitute for those of the gold events.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from math import fsum
from typing import Any, Final

from ..datasets.base import Conversation

NAME: Final = "mrr by substring"


def substring_rank(texts: Sequence[str], wanted: Iterable[str]) -> int:
    """Rank from 1 of the first text that contains one of the wanted ones, 0 if none does; case and
    spaces do not count, an empty text is not wanted.  O(texts x length).

    >>> substring_rank(["We met.", "She moved  to OSLO."], ["to Oslo", ""]), substring_rank(["a"], [""])
    (2, 0)
    """
    parts = [part for part in map(_plain, wanted) if part]
    return next(
        (
            rank
            for rank, text in enumerate(map(_plain, texts), 1)
            if any(part in text for part in parts)
        ),
        0,
    )


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def substring_mrr(
    rows: Iterable[Mapping[str, Any]], conversations: Iterable[Conversation]
) -> dict[str, float]:
    """Mean reciprocal rank by substring of the first answers that rows hold, of all questions with
    a wanted text under "", and of each category; {} without such a question.

    rows           of a run, with `retrieved`, `gold` and `answer`
    conversations  that they are of; what a memory made has no text there and contains nothing
    """
    texts = {c.id: {event.id: event.text for event in c.events} for c in conversations}
    ranks: dict[str, list[float]] = {}
    for row in rows:
        known = texts.get(row["conversation"], {})
        wanted = [*(known.get(id, "") for id in row["gold"]), str(row.get("answer") or "")]
        if not any(wanted):
            continue
        rank = substring_rank([known.get(id, "") for id in row["retrieved"]], wanted)
        for name in ("", row["category"]):
            ranks.setdefault(name, []).append(1.0 / rank if rank else 0.0)
    return {name: fsum(values) / len(values) for name, values in ranks.items()}
