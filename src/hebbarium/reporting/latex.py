r"""Tables as LaTeX, to be included in a paper with \input; they need the packages array,
booktabs and longtable.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from .text import visible

NEEDS = "% needs \\usepackage{array,booktabs,longtable}\n"
SPECIAL = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': "''", "`": r"\`{}", "[": "{[}", "]": "{]}", "*": "{*}",
    "_": r"\_\allowbreak{}", **{c: f"\\{c}" for c in "#$%&{}"},
    "×": r"\ensuremath{\times}", "·": r"\ensuremath{\cdot}", "±": r"\ensuremath{\pm}",
    "≥": r"\ensuremath{\geq}", "≤": r"\ensuremath{\leq}",
    "−": r"\ensuremath{-}", "†": r"\ensuremath{\dagger}", "…": r"\ldots{}", "–": "--", "—": "---",
    "“": "``", "”": "''", "‘": "`", "’": "'",
    "\ufffd": "?"}  # fmt: skip
_SPECIAL = re.compile("|".join(map(re.escape, SPECIAL)))


def escaped(text: str) -> str:
    r"""Text as LaTeX that prints it, in one line; a line may break after an underscore.  Letters
     with accents stay as they are, in UTF-8.

    >>> print(escaped("recall_at 10% & <b>"))
    recall\_\allowbreak{}at 10\% \& \textless{}b\textgreater{}
    """
    return _SPECIAL.sub(lambda match: SPECIAL[match.group()], visible(" ".join(text.split())))


def broken(share: float) -> str:
    """Specification of a column of that share of the line, whose text is broken into lines with
    a ragged right margin.
    """
    return f">{{\\raggedright\\arraybackslash}}p{{{share:g}\\linewidth}}"


def longtable(
    heads: Sequence[str], rows: Iterable[Sequence[str]], *, caption: str, label: str, widths: str
) -> str:
    """A table that may break across pages, with its heads repeated.

    widths  column specification, such as "lr" + broken(0.3)
    """
    top = f"\\toprule\n{_row(heads)}\\midrule\n"
    first = f"\\caption{{{escaped(caption)}}}\\label{{{label}}}\\\\\n{top}\\endfirsthead\n{top}\\endhead\n"
    return f"\\begin{{longtable}}{{@{{}}{widths}@{{}}}}\n{first}\\bottomrule\n\\endlastfoot\n{''.join(map(_row, rows))}\\end{{longtable}}\n"


def _row(cells: Sequence[str]) -> str:
    return f"{' & '.join(map(escaped, cells))} \\\\\n"
