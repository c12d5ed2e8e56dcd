"""A warning where gates leave out most of what was told."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

LEAST_SHARE: Final = 0.5  # of the events stored, below which a run says so


def few_stored(admitted: Iterable[tuple[int, int]]) -> str:
    """A sentence for a run that stores less than half of its events; "" otherwise.

    admitted  of each gate: events that were to be encoded, and those that all gates stored

    >>> few_stored([(200, 14), (200, 14)])
    'Only 14 of 200 events (7%) were stored, the gates rejected the others: no score here is of the whole conversation.'
    >>> few_stored([(200, 100)]), few_stored([])
    ('', '')
    """
    for judged, stored in admitted:
        if stored < LEAST_SHARE * judged:
            return (
                f"Only {stored:,} of {judged:,} events ({stored / judged:.0%}) were stored, the gates rejected the others: no score here is of "
                "the whole conversation."
            )
    return ""
