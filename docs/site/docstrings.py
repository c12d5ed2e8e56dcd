"""Docstrings as Markdown, for the reference of the site.

A docstring of this project is plain text: sentences with `code`, tables of aligned columns, indented code, and doctests.

    now     ()    h  present time
    learnt  (n,)  h  end of learning of each memory

`markdown` escapes what Markdown would read as markup, and makes an HTML table of aligned columns, or preformatted text if they do not line up.
"""
from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from itertools import pairwise
from typing import Any

from griffe import Extension, Object

CODE = re.compile(r"(`+)(.+?)\1", re.S)
GAP = re.compile(r"(?<![.!?:]) {2,}(?=\S)")                  # between two columns; two spaces after a sentence are no column
ROW = re.compile(r"\S.*?[^\s.!?:] {2,}\S|\S+ {2,}\S")
MARKUP = re.compile(r"([\\*_\[\]<>&#|$~^])")


class PlainDocstrings(Extension):
    """Rewrites every docstring before it is rendered."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        if obj.docstring:
            obj.docstring.value = markdown(obj.docstring.value)


def markdown(text: str) -> str:
    r"""A docstring as Markdown.

    >>> print(markdown("Returns a_i * b_i, see `x_i`.\n\na  h  time\nb  1  weight"))
    Returns a&#95;i &#42; b&#95;i, see `x_i`.
    <BLANKLINE>
    <table class="fields"><tbody>
    <tr><td><code>a</code></td><td>h</td><td>time</td></tr>
    <tr><td><code>b</code></td><td>1</td><td>weight</td></tr>
    </tbody></table>
    """
    return "\n\n".join(made for part in re.split(r"\n\s*\n", text.strip("\n")) for made in _paragraph(part.split("\n")))


def _paragraph(lines: Sequence[str]) -> Iterator[str]:
    if lines[0].startswith(">>>"):
        yield _fenced("pycon", lines)
    elif all(line.startswith("    ") for line in lines):
        yield _fenced("text", [line[4:] for line in lines])
    else:
        for is_table, block in _blocks(lines):
            yield _table(block) if is_table else _prose(block)


def _blocks(lines: Sequence[str]) -> Iterator[tuple[bool, list[str]]]:
    """Runs of rows and of sentences; an indented line continues a row."""
    rows, block = bool(ROW.match(lines[0])), [lines[0]]
    for line in lines[1:]:
        if line.startswith(">>>"):
            yield rows, block
            yield False, [line, *lines[lines.index(line) + 1:]]
            return
        row = bool(ROW.match(line)) or (rows and line.startswith("  "))
        if row != rows:
            yield rows, block
            rows, block = row, []
        block.append(line)
    yield rows, block


def _fenced(language: str, lines: Sequence[str]) -> str:
    return "\n".join((f"```{language}", *lines, "```"))


def _prose(lines: Sequence[str]) -> str:
    if lines[0].startswith(">>>"):
        return _fenced("pycon", lines)
    return "\n".join(_escaped(line) for line in lines)


def _escaped(text: str) -> str:
    """Everything but `code` as characters that Markdown and HTML leave alone."""
    parts, at = [], 0
    for code in CODE.finditer(text):
        parts += [_inert(text[at:code.start()]), code[0]]
        at = code.end()
    return "".join([*parts, _inert(text[at:])])


def _inert(text: str) -> str:
    return MARKUP.sub(lambda m: f"&#{ord(m[1])};", text)


# --- tables ------------------------------------------------------------------------------------------------------------------
def _table(lines: Sequence[str]) -> str:
    """An HTML table; preformatted text if the columns are not those of every row."""
    starts = columns(lines)
    rows: list[list[str]] = []
    for line in lines:
        cells = [line[a:b].strip() for a, b in pairwise([*starts, None])]
        if line.startswith(" ") and rows:                   # goes on in the row above
            rows[-1] = [" ".join(filter(None, pair)) for pair in zip(rows[-1], cells, strict=True)]
        else:
            rows.append(cells)
    if len(starts) == 1 or any(GAP.search(cell) for row in rows for cell in row):
        return _fenced("text", lines)
    body = "\n".join(f"<tr><td><code>{escape(first)}</code></td>{''.join(f'<td>{_cell(c)}</td>' for c in rest)}</tr>" for first, *rest in rows)
    return f'<table class="fields"><tbody>\n{body}\n</tbody></table>'


def columns(lines: Sequence[str]) -> list[int]:
    """Where columns start: after two or more places that are blank in every line.

    >>> columns(["a     ()    time", "both  (n,)  rate"]), columns(["a  h  time"])
    ([0, 6, 12], [0, 3, 6])
    """
    width = max(map(len, lines))
    blank = [all(line[i:i + 1] in ("", " ") for line in lines) for i in range(width)]
    return [0, *(i for i in range(2, width) if not blank[i] and blank[i - 1] and blank[i - 2] and any(GAP.match(line, *_gap(line, i)) for line in lines))]


def _gap(line: str, at: int) -> tuple[int, int]:
    """The blanks before a place."""
    return len(line[:at].rstrip()), len(line)


def _cell(text: str) -> str:
    return CODE.sub(r"<code>\2</code>", escape(text))
