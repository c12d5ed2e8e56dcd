"""Statements of a module, for tests that look for imports.

`ast.walk` also visits the expressions, which are nine tenths of a tree.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

BODIES = ("body", "orelse", "finalbody", "handlers", "cases")


def statements(file: Path) -> Iterator[ast.stmt]:
    """Every statement of a file, those within others too."""
    nodes: list[ast.AST] = [ast.parse(file.read_text(encoding="utf-8"))]
    for node in nodes:
        for name in BODIES:
            nodes += getattr(node, name, ())
        if isinstance(node, ast.stmt):
            yield node
