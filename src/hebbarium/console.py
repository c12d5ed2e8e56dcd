"""Output for people: tables and progress bars on a terminal, plain lines in pipes and files."""

from __future__ import annotations

import math
import sys
import textwrap
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from time import monotonic
from types import MappingProxyType
from typing import Self

from rich import box
from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.measure import Measurement
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column, Table
from rich.text import Text

from .reporting.output import put
from .reporting.text import visible

SILENCE = 60.0  # s without a line of progress
_READABLE = 30  # characters of a text that is cut


@cache
def console() -> Console:
    return Console(highlight=False)


def print_lines(*lines: str) -> None:
    """Print lines; on a terminal, long lines are wrapped and keep their indentation."""
    for line in lines:
        put(_wrapped(visible(line, keep="\n\t"), line[: len(line) - len(line.lstrip())]))


def print_fields(fields: Sequence[tuple[str, str]]) -> None:
    """Print names beside values; on a terminal, long values are wrapped in their own column."""
    shown = [(visible(name), value) for name, value in fields]
    width = max(cell_len(name) for name, _ in shown)
    for name, value in shown:
        put(_wrapped(f"{_padded(name, width)}  " + visible(value, keep="\n"), " " * (width + 2)))


def _padded(cell: str, width: int, *, right: bool = False) -> str:
    """The cell with spaces up to a width in columns of a terminal, of which a Chinese sign takes
    two.
    """
    spaces = " " * (width - cell_len(cell))
    return spaces + cell if right else cell + spaces


def _wrapped(text: str, indent: str) -> str:
    """Each line of the text, wrapped on a terminal; line breaks stay."""
    return wrapped(text, console().width, indent) if console().is_terminal else text


def wrapped(text: str, width: int, indent: str = "") -> str:
    """The text with its long lines broken between words, or as they are if they hold no space.

    indent  before every line but the first of a line that is broken

    >>> print(wrapped("one\\n  two three four", 11, "    "))
    one
      two three
        four
    """
    return "\n".join(
        line
        if len(line) <= width or " " not in line.strip()
        else "\n".join(
            textwrap.wrap(
                line,
                width,
                subsequent_indent=indent,
                break_long_words=False,
                break_on_hyphens=False,
            )
        )
        for line in text.split("\n")
    )


def print_table(
    title: str,
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    numbers: Collection[str] = (),
    whole: Collection[str] = (),
    roomy: Mapping[str, int] = MappingProxyType({}),
    spare: Sequence[str] = (),
) -> None:
    """Print a table on a terminal, aligned plain lines elsewhere.  Cells are shown as text, never
    as markup.

    numbers  heads of columns that are aligned to the right
    whole    heads of columns whose cells are never wrapped
    roomy    minimum widths of columns on a terminal, by head
    spare    heads of columns that are left out on a terminal that is too narrow, in this order
    """
    heads, *shown = _cells(heads, rows)
    numbers, whole = ({visible(head) for head in given} for given in (numbers, whole))
    roomy = {visible(head): least for head, least in roomy.items()}
    if console().is_terminal:
        table = Table(
            *(Column(Text(h), justify="right" if h in numbers else "left") for h in heads),
            title=Text(visible(title)),
        )
        for row in shown:
            table.add_row(*map(Text, row))
        draw(table, whole=whole, roomy=roomy, spare=[visible(head) for head in spare])
        return
    widths = [max(cell_len(r[i]) for r in (heads, *shown)) for i in range(len(heads))]
    put(title)
    for row in (heads, *shown):
        put(
            "  ".join(
                _padded(c, w, right=h in numbers)
                for c, w, h in zip(row, widths, heads, strict=True)
            ).rstrip()
        )
    put()


def _cells(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Heads and rows, each cell in one line and safe to show."""
    return [[visible(cell.replace("\n", " ")) for cell in row] for row in (heads, *rows)]


def print_rows(
    heads: Sequence[str], rows: Sequence[Sequence[str]], *, spare: Collection[str] = ()
) -> None:
    """One line a row; on a terminal the last cell is cut to the width of the window, elsewhere it
    is whole.

    spare  heads of columns that are left out on a terminal where the last column has less than 30
           characters
    """
    spare = {visible(head) for head in spare}
    heads, *shown = _cells(heads, rows)
    widths = [max(cell_len(r[i]) for r in (heads, *shown)) for i in range(len(heads) - 1)]
    room = console().width - sum(widths) - 2 * len(widths) if console().is_terminal else 0
    if console().is_terminal and room < _READABLE and spare:
        kept = [i for i, head in enumerate(heads) if head not in spare]
        print_rows([heads[i] for i in kept], [[row[i] for i in kept] for row in rows])
        return
    for row in (heads, *shown):
        last = (
            set_cell_size(row[-1], max(room, 12) - 3).rstrip() + "..."
            if room and cell_len(row[-1]) > room
            else row[-1]
        )
        put(
            "  ".join(
                (*(_padded(cell, width) for cell, width in zip(row, widths, strict=False)), last)
            ).rstrip()
        )


def draw(
    table: Table,
    *,
    whole: Collection[str] = (),
    roomy: Mapping[str, int] = MappingProxyType({}),
    spare: Sequence[str] = (),
) -> None:
    """Print a table that fits the terminal's width.

    whole  heads of columns whose cells are never wrapped
    roomy  minimum widths of columns, by head
    spare  heads of columns that are left out, in this order, while the table is too wide
    """
    left_out: list[str] = []
    waiting = list(spare)
    while True:
        fitted = _redrawn(table, whole, roomy, left_out)
        if (
            not waiting
            or Measurement.get(console(), console().options.update(width=10_000), fitted).minimum
            <= console().width
        ):
            break
        left_out.append(waiting.pop(0))
    console().print(fitted)
    if left_out:
        print_lines(f"not shown, the terminal is too narrow: {', '.join(left_out)}")


def _redrawn(
    table: Table, whole: Collection[str], roomy: Mapping[str, int], left_out: Collection[str]
) -> Table:
    kept = [c for c in table.columns if str(c.header) not in left_out]
    cells = [list(c.cells) for c in kept]
    heads = []
    for column, texts in zip(kept, cells, strict=True):
        head = str(column.header)
        # rich uses the longest word as minimum width even for these
        unbroken = column.no_wrap or head in whole
        least = (
            max((cell_len(str(t)) for t in (head, *texts)), default=0)
            if unbroken
            else roomy.get(head)
        )
        heads.append(
            Column(
                column.header,
                justify=column.justify,
                overflow="fold",
                no_wrap=unbroken,
                min_width=least,
            )
        )
    new = Table(
        *heads,
        title=table.title,
        caption=table.caption,
        title_justify="left",
        caption_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        collapse_padding=True,
    )
    for i, row in enumerate(table.rows):
        new.add_row(*(column[i] for column in cells), style=row.style)
    return new


class Meter:
    """Progress of one job on standard error: a bar on a terminal; elsewhere a line at each tenth,
    and at the first call after a minute without one.

    Call it with (done, total, last item done).

    The bar appears at the first call and is erased at the last one, or by `close`.

    what    what is counted
    least   jobs with fewer items show nothing
    within  the meter of a larger job: while its bar is shown, this one has none and is shown at the
            end of that bar
    first, latest   (done, total) of the first and of the latest call; None before it
    """

    def __init__(self, what: str, least: int = 0, within: Meter | None = None) -> None:
        self.what, self.least, self.within = what, least, within
        self.first: tuple[int, int] | None = None
        self.latest: tuple[int, int] | None = None
        self._bar: Progress | None = None
        self._tenth, self._printed = -1, -math.inf

    def __call__(self, done: int, total: int, last: str = "") -> None:
        if self.within and self.within.append(f"{self.what} {done}/{total}"):
            return
        if total < self.least:
            return
        self.first, self.latest = self.first or (done, total), (done, total)
        last = visible(last.replace("\n", " "))
        if sys.stderr.isatty():
            self._draw(done, total, last)
        elif (
            tenth := 10 * done // max(total, 1)
        ) != self._tenth or monotonic() - self._printed >= SILENCE:
            self._tenth, self._printed = tenth, monotonic()
            put(f"{self.what}: {done}/{total}" + (f"  {last}" if last else ""), err=True)
        if done >= total:
            self.close()

    def _draw(self, done: int, total: int, last: str) -> None:
        if self._bar is None:
            columns = (
                TextColumn("{task.description}"),
                BarColumn(20),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TimeRemainingColumn(),
                TextColumn("{task.fields[last]}", markup=False, table_column=Column(no_wrap=True)),
            )
            self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self._bar.add_task(self.what, completed=done, total=total, last=last)
            self._bar.start()
        self._bar.update(self._bar.task_ids[0], completed=done, total=total, last=last)

    def append(self, text: str) -> bool:
        """Show a text at the end of the bar; False if there is no bar."""
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], last=visible(text))
        return self._bar is not None

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()
        self._bar, self._tenth = None, -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
