"""Pictures of a page as files of their own."""

from __future__ import annotations

import re
from functools import cache

from .pages import SHARED

_VARIABLE = re.compile(r"var\((--[a-z0-9-]+)\)")


@cache
def _light() -> dict[str, str]:
    """The colours of the shared style sheet on light ground, by variable."""
    root = re.search(
        r":root \{(.*?)\n\}", (SHARED / "page.css").read_text(encoding="utf-8"), re.DOTALL
    )
    return dict(re.findall(r"(--[a-z0-9-]+): (#[0-9a-f]+)", root.group(1))) if root else {}


def standalone(svg: str) -> str:
    """An SVG element of a page as a file: with a prologue, its own size, and the page's colours on
    light ground in place of variables.

    >>> print(standalone('<svg viewBox="0 0 40 20" xmlns="http://www.w3.org/2000/svg"><g style="fill: var(--ink)"/></svg>'))
    <?xml version="1.0" encoding="utf-8"?>
    <svg width="40pt" height="20pt" viewBox="0 0 40 20" xmlns="http://www.w3.org/2000/svg"><g style="fill: #1d2321"/></svg>
    <BLANKLINE>
    """
    colours = _light()
    drawn = _VARIABLE.sub(lambda match: colours.get(match.group(1), match.group()), svg)
    box = re.match(
        r'<svg(?![^>]*\bwidth=)[^>]*\bviewBox="[-\d.]+ [-\d.]+ ([\d.]+) ([\d.]+)"', drawn
    )
    if box:
        drawn = (
            f'<svg width="{box.group(1)}pt" height="{box.group(2)}pt"{drawn.removeprefix("<svg")}'
        )
    return f'<?xml version="1.0" encoding="utf-8"?>\n{drawn}\n'
