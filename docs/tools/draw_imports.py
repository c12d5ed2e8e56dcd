"""Draw docs/pictures/imports.svg: which room of the project imports which, from the floors and the
imports of tests/test_house.py.

    python docs/tools/draw_imports.py

One SVG for light and dark pages: it has its own background and follows `prefers-color-scheme`.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from html import escape
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = ROOT / "docs" / "pictures" / "imports.svg"
ROW, TOP, LEFT, BOX, WIDTH = 34, 84, 64, 186, 700  # px
STYLE = """
  text { font: 12px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; fill: var(--ink) }
  .ground { fill: var(--ground); stroke: var(--edge) }
  .title { font-size: 15px; font-weight: 600 }
  .soft { fill: var(--soft); font-size: 11px }
  .room { fill: var(--room); stroke: var(--edge) }
  .floor { stroke: var(--edge); stroke-dasharray: 2 4 }
  .import { fill: none; stroke: var(--mark); stroke-width: 1.2; opacity: .42 }
  .upward { fill: none; stroke: var(--fault); stroke-width: 2 }
  .import:hover { opacity: 1; stroke-width: 2.5 }
  .head { fill: var(--mark) }
  svg { --ground: #ffffff; --ink: #1f2328; --soft: #57606a; --edge: #d0d7de; --mark: #0a5fb4; --fault: #b3261e; --room: #f3f6f9 }
  @media (prefers-color-scheme: dark) {
    svg { --ground: #0d1117; --ink: #e6edf3; --soft: #9aa4af; --edge: #3d444d; --mark: #6cb6ff; --fault: #ff8a80; --room: #1b222c }
  }
"""


def read() -> tuple[Sequence[Sequence[str]], set[tuple[str, str]]]:
    """The floors, lowest first, and the pairs (room, room that it imports)."""
    sys.path.insert(0, str(ROOT / "tests"))
    try:
        house = import_module("test_house")
    finally:
        sys.path.remove(str(ROOT / "tests"))
    pairs = {
        (house.room(name), house.room(other))
        for name in set(house.MODULES) - house.LAZY
        for other in house.imported(name) - house.LAZY
    }
    return house.FLOORS, {(a, b) for a, b in pairs if a != b}


def drawn(floors: Sequence[Sequence[str]], pairs: Collection[tuple[str, str]]) -> str:
    """Rooms from the highest floor down; an arc on the right is an import from above, one on the
    left (a fault) an import from below or beside.

    >>> 'class="upward"' in drawn((("a",), ("b",)), {("b", "a")}), 'class="upward"' in drawn((("a",), ("b",)), {("a", "b")})
    (False, True)
    """
    height_of = {name: i for i, names in enumerate(floors) for name in names}
    rooms = [name for names in reversed(floors) for name in names]
    middle = {name: TOP + ROW * i + ROW // 2 for i, name in enumerate(rooms)}
    lead = "Every arc is an import, from the room at its upper end to the room at its arrow."
    upward = sum(height_of[a] <= height_of[b] for a, b in pairs)
    faults = (
        f"{upward} lead upward or sideways"
        if upward
        else "none leads upward or to a room of the same floor, so there is no circle of rooms"
    )
    parts = []
    for i, names in enumerate(reversed(floors)):
        y = middle[names[0]] - ROW / 2
        parts.append(
            f'<line class="floor" x1="14" x2="{WIDTH - 14}" y1="{y}" y2="{y}"/>' if i else ""
        )
        parts.append(
            f'<text class="soft" x="22" y="{y + ROW * len(names) / 2 + 4}">{len(floors) - 1 - i}</text>'
        )
    for name in rooms:
        parts.append(
            f'<rect class="room" x="{LEFT}" y="{middle[name] - 12}" width="{BOX}" height="24" rx="4"/>'
            f'<text x="{LEFT + 10}" y="{middle[name] + 4}">{escape(name)}</text>'
        )
    for a, b in sorted(pairs, key=lambda pair: (middle[pair[0]], middle[pair[1]])):
        parts.append(_arc(a, b, middle, height_of[a] > height_of[b]))
    tall = TOP + ROW * len(rooms) + 16
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {tall}" width="{WIDTH}" height="{tall}" role="img" aria-labelledby="t d">',
            f'<title id="t">Imports between the rooms of the project</title><desc id="d">{lead} {len(pairs)} imports; {faults}.</desc>',
            f"<style>{STYLE}</style>",
            '<defs><marker id="h" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto">'
            '<path class="head" d="M0 0 8 4 0 8z"/></marker></defs>',
            f'<rect class="ground" x=".5" y=".5" width="{WIDTH - 1}" height="{tall - 1}" rx="6"/>',
            '<text class="title" x="22" y="30">Imports between the rooms of the project</text>',
            f'<text class="soft" x="22" y="49">{lead}</text>',
            f'<text class="soft" x="22" y="65">Of {len(pairs)} {escape(faults)}. Left: number of the floor.</text>',
            *filter(None, parts),
            "</svg>",
            "",
        )
    )


def _arc(a: str, b: str, middle: dict[str, int], down: bool) -> str:
    """Half an ellipse from room to room; the further apart, the wider.  Ends are spread so that
    arcs of one room stay apart.
    """
    start, end = middle[a] + 5, middle[b] - 5
    far = abs(middle[b] - middle[a]) / (ROW * (len(middle) - 1))
    x = LEFT + BOX if down else LEFT
    out = x + (36 + 520 * far) * (1.0 if down else -0.07)
    return (
        f'<path class="{"import" if down else "upward"}" marker-end="url(#h)" d="M{x} {start}C{out:.0f} {start} {out:.0f} {end} {x} {end}">'
        f"<title>{escape(a)} imports {escape(b)}</title></path>"
    )


if __name__ == "__main__":
    HERE.write_text(drawn(*read()), encoding="utf-8")
    print(HERE.name)
