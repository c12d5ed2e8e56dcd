"""Text from data, safe to show in a terminal or on a page."""
from __future__ import annotations

import unicodedata


def visible(text: str) -> str:
    r"""The text with U+FFFD in place of control characters, characters that change the direction of text, and line separators.

    >>> visible("a\x1b[31mb")
    'a\ufffd[31mb'
    """
    return "".join("\ufffd" if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") else char for char in text)
