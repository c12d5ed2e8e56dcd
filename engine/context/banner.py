"""The banner of a context: what was cut, said in the text itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cut:
    """What a section shows of what it could show.

    shown, of          items
    tokens, of_tokens  tokens of the shown items as they are shown, and of all items in full
    """

    section: str
    shown: int
    of: int
    tokens: int
    of_tokens: int


def banner(cuts: Sequence[Cut]) -> str:
    """One line about the sections that are not whole; "" if there is no such section.

    >>> banner([Cut("Related Prior Context", 6, 14, 310, 1120), Cut("Stage Summaries", 0, 3, 0, 90)])
    '[Truncated: Related Prior Context 6 of 14 items, 310 of 1,120 tokens; Stage Summaries left out]'
    """
    parts = [
        f"{cut.section} {cut.shown} of {cut.of} items, {cut.tokens:,} of {cut.of_tokens:,} tokens"
        if cut.shown
        else f"{cut.section} left out"
        for cut in cuts
    ]
    return f"[Truncated: {'; '.join(parts)}]" if parts else ""
