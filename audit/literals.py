"""Numbers that a source states."""

from __future__ import annotations

import ast


def number_in(node: ast.expr) -> float | None:
    """The number that an expression is, such as -0.15; None for another expression."""
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return float(value) if isinstance(value, (int, float)) else None
