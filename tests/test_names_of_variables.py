"""`found`, `one` and `each` name no results: a variable says what it holds.

Parameters of functions that compare two equal things may be called `one` and `other`.
"""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]
EMPTY = frozenset({"found", "one", "each"})
ROOMS = ("engine", "mechanisms", "audit", "benchmarks", "src/hebbarium")
LINKS = ("engine", "mechanisms", "audit", "benchmarks")  # in src/hebbarium, to the other rooms


def bound(text: str) -> list[tuple[int, str]]:
    """Line and name of each variable with an empty name that an assignment, a loop, a comprehension
    or a pattern binds.
    """
    names = list[tuple[int, str]]()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.append((node.lineno, node.id))
        elif isinstance(node, ast.MatchAs | ast.MatchStar | ast.ExceptHandler) and node.name:
            names.append((node.lineno, node.name))
    return sorted((line, name) for line, name in names if name in EMPTY)


def test_variables_are_named_by_what_they_hold() -> None:
    files = 0
    odd = dict[str, list[tuple[int, str]]]()
    for room in ROOMS:
        for file in sorted((ROOT / room).rglob("*.py")):
            path = file.relative_to(ROOT)
            if path.is_relative_to("src/hebbarium") and path.parts[2] in LINKS:
                continue
            files += 1
            if names := bound(file.read_text(encoding="utf-8")):
                odd[path.as_posix()] = names
    assert files > 700
    assert odd == {}, "name each variable with the noun of what it holds"


def test_every_way_to_bind_a_name_is_seen() -> None:
    ways = (
        "found = 1",
        "found: int = 1",
        "found += 1",
        "one, other = 1, 2",
        "for each in (): ...",
        "[each for each in ()]",
        "(found := 1)",
        "with a as found: ...",
        "try: ...\nexcept E as found: ...",
        "match a:\n    case [one, *each]: ...",
    )
    assert [len(bound(text)) for text in ways] == [1] * 9 + [2]


def test_a_name_that_is_read_or_a_parameter_is_allowed() -> None:
    assert bound("def same(one, other):\n    return one == other.found\nprint(each)") == []
