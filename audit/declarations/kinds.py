"""What the source of a mechanism asks of the kinds of rows."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Final

from ...engine.catalogue.registry import Entry
from ...engine.contract.drafts import Kind
from ...engine.contract.hooks import Hook, ReadingMethod
from ..literals import number_in

KINDS: Final = {kind.name: int(kind) for kind in Kind}


def comparisons_of_kinds(nodes: Iterable[ast.AST]) -> Iterator[tuple[ast.Compare, int | None]]:
    """Comparisons of the kind of a row with something else, each with the kind that this names; None
    where it is computed.
    """
    for node in nodes:
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            sides = [node.left, node.comparators[0]]
            others = [side for side in sides if _attribute(side) is None]
            if len(others) < len(sides):
                yield node, next(map(_kind_of, others), None)


def asks_for_events_alone(entry: Entry) -> bool:
    """Whether the source shows that a mechanism treats all rows alike that are no events: of the kind
    of a row it only asks whether it is an event, and only functions of its own module get the view.
    """
    module, loaded = import_module(entry.module), entry.load()
    called: tuple[Hook | ReadingMethod, ...]
    called = (*loaded.hooks(), *loaded.forecasts(), *loaded.rests())
    methods = [inspect.unwrap(getattr(loaded, of.name)) for of in called]
    if any(m.__module__ != module.__name__ or m.__code__.co_varnames[1] != "view" for m in methods):
        return False
    nodes = tuple(ast.walk(ast.parse(inspect.getsource(module))))
    read = {n for n in nodes if isinstance(n, ast.Attribute) and n.attr == "kind"}
    for comparison, kind in comparisons_of_kinds(nodes):
        if kind == Kind.EVENT and isinstance(comparison.ops[0], (ast.Eq, ast.NotEq)):
            read -= {_attribute(side) for side in (comparison.left, *comparison.comparators)}
    return not read and not _hands_on(nodes)


def _hands_on(nodes: Iterable[ast.AST]) -> bool:
    """Whether anything but a function of the source, with `view` as an argument of that name, may get
    a view.
    """
    views, kept, taking = set[ast.Name](), set[ast.AST](), set[str]()
    for node in nodes:
        if isinstance(node, ast.Name) and node.id == "view":
            views.add(node)
        elif isinstance(node, ast.Attribute):
            kept.add(node.value)
        elif isinstance(node, ast.FunctionDef) and any(a.arg == "view" for a in node.args.args):
            taking.add(node.name)
    for node in nodes:
        if isinstance(node, ast.Call):
            of_self = (
                isinstance(node.func, ast.Attribute)
                and isinstance(node.func.value, ast.Name)
                and node.func.value.id == "self"
            )
            name = getattr(node.func, "attr" if of_self else "id", "")
            kept.update(node.args if name in taking else ())
    return not views <= kept


def _attribute(node: ast.expr) -> ast.Attribute | None:
    """`view.kind`, if an expression is it or some of it."""
    inner = node.value if isinstance(node, ast.Subscript) else node
    if (
        isinstance(inner, ast.Attribute)
        and inner.attr == "kind"
        and isinstance(inner.value, ast.Name)
        and inner.value.id == "view"
    ):
        return inner
    return None


def _kind_of(node: ast.expr) -> int | None:
    """The kind that an expression names; None for one that it computes."""
    if isinstance(node, ast.Attribute):
        return KINDS.get(node.attr)
    number = number_in(node)
    return None if number is None else int(number)
