"""Text for people: tables for the terminal and for notebooks, and the beginning of a long text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def text_table(rows: Sequence[Sequence[str]]) -> str:
    """Rows of text as lines with aligned columns.

    >>> print(text_table([("step", "reads"), ("a.b", "-")]))
    step  reads
    a.b   -
    """
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def html_table(head: Iterable[object], rows: Iterable[Iterable[object]]) -> str:
    """A table for notebooks; every cell is escaped, and lone surrogates become `?`, so that the
    page can be encoded.

    >>> html_table(["a"], [["<b>"]])
    '<table><tr><th>a</th></tr><tr><td>&lt;b&gt;</td></tr></table>'
    """

    def line(tag: str, cells: Iterable[object]) -> str:
        return (
            "<tr>"
            + "".join(
                f"<{tag}>{escape(str(cell)).encode('utf-8', 'replace').decode()}</{tag}>"
                for cell in cells
            )
            + "</tr>"
        )

    return f"<table>{line('th', head)}{''.join(line('td', row) for row in rows)}</table>"


def brief(text: str, size: int) -> str:
    """The beginning of a text on one line of at most `size` characters.

    >>> brief("We moved to the old mill.", 14)
    'We moved t ...'
    """
    line = " ".join(text[: 4 * size].split())
    return line if len(line) <= size and len(text) <= 4 * size else line[: size - 4] + " ..."
