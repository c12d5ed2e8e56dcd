"""Text from data, safe to show in a terminal or on a page."""

from __future__ import annotations

import math
import unicodedata

from ..engine.base.counts import plural as plural

# within a line of Markdown
MARKUP = {**{char: f"\\{char}" for char in "\\`*_{}[]|~$#"}, "<": "&lt;", ">": "&gt;", "&": "&amp;"}


def visible(text: str, keep: str = "") -> str:
    r"""The text with U+FFFD instead of control characters, characters that change the direction of
     text, and line separators.

    keep  characters that stay, such as line breaks

    >>> visible("a\x1b[31mb\n"), visible("a\x1b[31mb\n", keep="\n")
    ('a\ufffd[31mb\ufffd', 'a\ufffd[31mb\n')
    """
    return "".join(
        "\ufffd"
        if char not in keep and unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")
        else char
        for char in text
    )


def in_cell(text: str) -> str:
    r"""Text as Markdown shows it, for a cell of a table, a heading or a paragraph: one line, no
     markup, no entities and no formulas.

    >>> print(in_cell("a_b |\n*c* &lt; $x$"))
    a\_b \| \*c\* &amp;lt; \$x\$
    """
    return "".join(MARKUP.get(char, char) for char in visible(" ".join(text.split())))


def signed(value: float, digits: int = 3) -> str:
    """A difference with its sign; zero has none; a dash for NaN.

    >>> signed(0.12345), signed(-1.0, 1), signed(-1e-9), signed(math.nan)
    ('+0.123', '-1.0', '0.000', '-')
    """
    text = f"{value:+.{digits}f}"
    return "-" if not math.isfinite(value) else text if float(text) else text[1:]
