"""Docstrings as Markdown, for the reference of the site.

A docstring of this project is plain text: sentences with `code`, tables of aligned columns,
indented code, and doctests.

    now     ()    h  present time
    learnt  (n,)  h  end of learning of each memory

`markdown` escapes what Markdown would read as markup, and makes an HTML table of aligned columns,
or preformatted text if they do not line up.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby, pairwise
from typing import Any

from griffe import Extension, Object

CODE = re.compile(r"(`+)(.+?)\1", re.S)
# between two columns; two spaces after a sentence are none
GAP = re.compile(r"(?<![.!?:]) {2,}(?=\S)| {3,}(?=\S)")
MARKUP = re.compile(r"([\\*_\[\]<>&#|$~^])")
INDENT = "    "


class PlainDocstrings(Extension):
    """Rewrites every docstring before it is rendered."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        if obj.docstring:
            obj.docstring.value = markdown(obj.docstring.value)


def markdown(text: str) -> str:
    """A docstring as Markdown.

    >>> print(markdown("Returns a_i * b_i, see `x_i`.  Cost: O(1).\\n\\na  h  time\\nb  1  weight"))
    Returns a&#95;i &#42; b&#95;i, see `x_i`.  Cost: O(1).
    <BLANKLINE>
    <table class="fields"><tbody>
    <tr><td><code>a</code></td><td>h</td><td>time</td></tr>
    <tr><td><code>b</code></td><td>1</td><td>weight</td></tr>
    </tbody></table>
    """
    parts = [part.split("\n") for part in re.split(r"\n\s*\n", text.strip("\n"))]
    made: list[str] = []
    for indented, group in groupby(
        parts, lambda lines: all(line.startswith(INDENT) for line in lines)
    ):
        if indented:
            made.append(
                _code(
                    "\n\n".join("\n".join(line[len(INDENT) :] for line in lines) for lines in group)
                )
            )
        else:
            made.extend(block for lines in group for block in _paragraph(lines))
    return "\n\n".join(made)


def _paragraph(lines: Sequence[str]) -> Iterator[str]:
    """Runs of rows and of sentences; a doctest goes on to the end of the paragraph, and an
    indented line continues a row.
    """
    test = next((i for i, line in enumerate(lines) if line.startswith(">>>")), len(lines))
    kinds: list[bool] = []
    for line in lines[:test]:
        kinds.append(
            bool(GAP.search(line.lstrip()))
            if not line.startswith("  ")
            else bool(kinds) and kinds[-1]
        )
    for rows, block in groupby(zip(kinds, lines, strict=False), lambda pair: pair[0]):
        yield (_table if rows else _prose)([line for _, line in block])
    if test < len(lines):
        yield _fenced("pycon", "\n".join(lines[test:]))


def _code(text: str) -> str:
    try:
        ast.parse(text)
    except SyntaxError:
        return _fenced("text", text)
    return _fenced("python", text)


def _fenced(language: str, text: str) -> str:
    return f"```{language}\n{text}\n```"


def _prose(lines: Sequence[str]) -> str:
    """Everything but `code` as characters that Markdown and HTML leave alone; a line that starts
    a list still does.
    """
    text, parts, at = "\n".join(lines), [], 0
    for code in CODE.finditer(text):
        parts += [_inert(text[at : code.start()]), code[0]]
        at = code.end()
    return "".join([*parts, _inert(text[at:])])


def _inert(text: str) -> str:
    return MARKUP.sub(lambda m: f"&#{ord(m[1])};", text)


# --- tables ---------------------------------------------------------------------------------------
def _table(lines: Sequence[str]) -> str:
    """An HTML table; preformatted text if the rows do not agree on their columns."""
    rows = _aligned(lines) or _separated(lines)
    if not rows:
        return _fenced("text", "\n".join(lines))
    body = "\n".join(
        f"<tr><td><code>{escape(first)}</code></td>{''.join(f'<td>{_cell(c)}</td>' for c in rest)}</tr>"
        for first, *rest in rows
    )
    return f'<table class="fields"><tbody>\n{body}\n</tbody></table>'


def _aligned(lines: Sequence[str]) -> list[list[str]]:
    """Cells by the places where columns start; none if a cell still has a gap."""
    starts, rows = columns(lines), []
    for line in lines:
        cells = [line[a:b].strip() for a, b in pairwise([*starts, None])]
        if line.startswith(" ") and rows:
            rows[-1] = [" ".join(filter(None, pair)) for pair in zip(rows[-1], cells, strict=True)]
        else:
            rows.append(cells)
    return (
        rows
        if len(starts) > 1 and not any(GAP.search(cell) for row in rows for cell in row)
        else []
    )


def _separated(lines: Sequence[str]) -> list[list[str]]:
    """Cells by the gaps of each line; none if the lines have different numbers of cells."""
    rows: list[list[str]] = []
    for line in lines:
        if line.startswith(" ") and rows:
            rows[-1][-1] += f" {line.strip()}"
        else:
            rows.append(GAP.split(line))
    return rows if len({len(row) for row in rows}) == 1 else []


def columns(lines: Sequence[str]) -> list[int]:
    """Where columns start: where a gap of some line ends, and no line has a word or a single space
    between words.

    >>> columns(["a     ()    time", "both  (n,)  rate"]), columns(["a  h  time"])
    ([0, 6, 12], [0, 3, 6])
    """
    wide = [line.ljust(max(map(len, lines))) for line in lines]
    ends = sorted({gap.end() for line in lines for gap in GAP.finditer(line)})
    return [
        0,
        *(
            i
            for i in ends
            if i
            and all(line[i - 1] == " " and (line[i - 2] == " " or line[i] == " ") for line in wide)
        ),
    ]


def _cell(text: str) -> str:
    return CODE.sub(r"<code>\2</code>", escape(text))
