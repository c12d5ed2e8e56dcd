"""What files of the package import and declare, for tests that look at all of them.

Several tests ask this of every file: each file is parsed once, and only what they ask is kept.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

BODIES = ("body", "orelse", "finalbody", "handlers", "cases")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Module(NamedTuple):
    """The statements of a file that import, the modules that it asks for by name, and the names of
    its classes.  Classes inside functions are left out: they are seen nowhere else.
    """

    imports: tuple[ast.Import | ast.ImportFrom, ...]
    asked: tuple[str, ...]
    classes: tuple[str, ...]


@cache
def module(file: Path) -> Module:
    return parsed(file.read_text(encoding="utf-8"))


def parsed(text: str) -> Module:
    """
    >>> parsed("class A:\\n    class B: ...\\n    def f(self):\\n        class C: ...\\n").classes
    ('A', 'B')
    """
    tree = ast.parse(text)
    # `ast.walk` also visits the expressions, which are nine tenths of a tree
    asked = ast.walk(tree) if "import_module" in text else ()
    return Module(
        tuple(s for s in statements(tree) if isinstance(s, ast.Import | ast.ImportFrom)),
        tuple(name for node in asked if (name := module_asked(node))),
        tuple(s.name for s in statements(tree, FUNCTIONS) if isinstance(s, ast.ClassDef)),
    )


def statements(tree: ast.AST, closed: tuple[type[ast.AST], ...] = ()) -> Iterator[ast.stmt]:
    """Every statement of a tree, those within others too, without those in `closed` ones."""
    nodes = [tree]
    for node in nodes:
        if isinstance(node, ast.stmt):
            yield node
        if not isinstance(node, closed):
            for name in BODIES:
                nodes += getattr(node, name, ())


def module_asked(node: ast.AST) -> str:
    """The module that a call of `import_module` names; "" of other nodes."""
    if not isinstance(node, ast.Call) or not node.args:
        return ""
    called = getattr(node.func, "attr", getattr(node.func, "id", ""))
    name = node.args[0]
    if called != "import_module" or not isinstance(name, ast.Constant):
        return ""
    return name.value if isinstance(name.value, str) else ""
