"""The one function that prints: no text that came from outside can steer a terminal."""

from __future__ import annotations

import sys

from .text import visible


def put(text: str = "", *, err: bool = False, end: str = "\n") -> None:
    """Print text on the standard output, or on standard error, with U+FFFD instead of characters
    that steer a terminal or change the direction of text; line breaks and tabs stay.

    >>> put("a\\x1b[2Jb\\u202ec")
    a\ufffd[2Jb\ufffdc
    """
    print(visible(text, keep="\n\t"), end=end, file=sys.stderr if err else sys.stdout, flush=True)
