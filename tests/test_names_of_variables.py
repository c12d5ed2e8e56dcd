"""`found`, `one` and `each` name no results: a variable says what it holds.

Parameters of functions that compare two equal things may be called `one` and `other`.  The tests
themselves are not read.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from doctest import DocTestParser
from pathlib import Path

import pytest
from jinja2 import Environment, nodes

ROOT = Path(__file__).parents[1]
EMPTY = frozenset({"found", "one", "each"})
ROOMS = ("engine", "mechanisms", "audit", "benchmarks", "docs", "src/hebbarium")
LINKS = ("engine", "mechanisms", "audit", "benchmarks")  # in src/hebbarium, to the other rooms
# A name that is bound is followed by an operator, a comma, a colon, a bracket, `in` or `if`.
BINDING = re.compile(r"\b(?:found|one|each)\b(?=\s*(?:[-=:,)\]+*/|&^%@<>]|in\b|if\b))")
BLOCK = re.compile(r"^```python[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)

Names = list[tuple[int, str]]


def files(pattern: str) -> Iterator[Path]:
    """The files of the rooms, without those that a link leads to."""
    for room in ROOMS:
        for file in sorted((ROOT / room).rglob(pattern)):
            path = file.relative_to(ROOT)
            if not (path.is_relative_to("src/hebbarium") and path.parts[2] in LINKS):
                yield file


def bound(text: str) -> Names:
    """Line and name of each variable with an empty name that an assignment, a loop, a comprehension
    or a pattern binds, and of each parameter that is called `found` or `each`.
    """
    names = Names()
    if not BINDING.search(text):  # most files, which need no parser
        return names
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.append((node.lineno, node.id))
        elif isinstance(node, ast.MatchAs | ast.MatchStar | ast.ExceptHandler) and node.name:
            names.append((node.lineno, node.name))
        elif isinstance(node, ast.arg) and node.arg != "one":
            names.append((node.lineno, node.arg))
    return sorted((line, name) for line, name in names if name in EMPTY)


def bound_in_doctests(text: str) -> Names:
    """The same of the examples in docstrings, by lines of the file."""
    examples = DocTestParser().get_examples(text) if ">>>" in text else []
    return [(e.lineno + line, name) for e in examples for line, name in bound(e.source)]


def bound_in_blocks(text: str) -> Names:
    """The same of the blocks of Python on a page, by lines of the page."""
    names = Names()
    for block in BLOCK.finditer(text):
        before = text.count("\n", 0, block.start(1))
        names += [(before + line, name) for line, name in bound(block[1])]
    return names


def bound_in_template(text: str) -> Names:
    """The same of a template: what `for`, `set` and parameters of macros bind."""
    named = Environment().parse(text).find_all(nodes.Name)
    return sorted((n.lineno, n.name) for n in named if n.ctx != "load" and n.name in EMPTY)


@pytest.mark.parametrize(
    ("pattern", "read", "least"),
    [
        ("*.py", bound, 700),
        ("*.py", bound_in_doctests, 700),
        ("*.md", bound_in_blocks, 200),
        ("*.j2", bound_in_template, 20),
    ],
)
def test_variables_are_named_by_what_they_hold(
    pattern: str, read: Callable[[str], Names], least: int
) -> None:
    texts = {
        file.relative_to(ROOT).as_posix(): file.read_text(encoding="utf-8")
        for file in files(pattern)
    }
    assert len(texts) > least
    odd = {path: names for path, text in texts.items() if (names := read(text))}
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
        "def f(found): ...",
        "lambda each: 1",
        "match a:\n    case [one, *each]: ...",
    )
    assert [len(bound(text)) for text in ways] == [1] * 11 + [2]


def test_a_name_that_is_read_or_of_two_equal_parameters_is_allowed() -> None:
    assert bound("def same(one, other):\n    return one == other.found\nprint(each)") == []


def test_names_in_doctests_pages_and_templates_are_seen() -> None:
    assert bound_in_doctests('def f():\n    """\n    >>> found = f()\n    """\n') == [(3, "found")]
    assert bound_in_blocks("A page\n```python\na = 1\none = 2\n```\n") == [(4, "one")]
    template = "{% for each in a %}{{ each }}{% endfor %}\n{% macro m(found) %}{% endmacro %}"
    assert bound_in_template(template) == [(1, "each"), (2, "found")]
    assert bound_in_template("{% set one = 1 %}{{ a.found }} {{ found }}") == [(1, "one")]
