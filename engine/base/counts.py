"""Numbers with their nouns."""

from __future__ import annotations


def plural(n: int, singular: str, many: str = "") -> str:
    """A number and its noun.

    >>> plural(1, "arm"), plural(2, "arm"), plural(1200, "entry", "entries")
    ('1 arm', '2 arms', '1,200 entries')
    """
    return f"{n:,} {singular if n == 1 else many or singular + 's'}"
