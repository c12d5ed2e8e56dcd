"""The small changes of a module's source: where each is made, and its source before and after.

A mutant's id is `mechanism/function/kind/number`.  The number counts the mutants of that kind in
that function, so it does not depend on lines or on other functions.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

WIDTH = 100  # characters of either side of a change that are shown
AROUND = 30  # characters shown on both sides of what differs in a longer line

Function = ast.FunctionDef | ast.AsyncFunctionDef
FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)


class Group(StrEnum):
    """What a mutant changes."""

    NUMBERS = "numbers"  # a value in the registry
    KERNELS = "kernels"  # module-level functions and constants
    HOOKS = "hooks"  # methods of the plug-in class


class MutantKind(StrEnum):
    OPERATOR = "operator"  # + for -, * for /, a changed sign, ...
    COMPARISON = "comparison"  # < for <=, < for >=, == for !=
    LOGIC = "logic"  # and for or, a dropped not
    CONSTANT = "constant"  # 0 -> 1, doubled, halved, negated
    ARGUMENTS = "arguments"  # two neighbouring arguments exchanged
    INDEX = "index"  # one place further or back
    TERM = "term"  # a dropped term of a sum
    FACTOR = "factor"  # a dropped factor, divisor or exponent
    ASSIGNMENT = "assignment"  # set for add, add for set
    STATEMENT = "statement"  # a dropped write into an array, or a dropped call for effect
    CONDITION = "condition"  # always true, always false
    EXTREME = "extreme"  # min for max
    ATTRIBUTE = "attribute"  # another column of the view, another parameter
    UNIT = "unit"  # a constant of time read without its unit and the scale of time
    NUMBER = "number"  # a number of the registry halved or doubled, another choice


@dataclass(frozen=True, slots=True)
class GeneratedMutant:
    """One change.

    id      `mechanism/function/kind/number`; `mechanism/parameter/number/how` for a number of the
            registry
    change  source before and after, in one line
    parameter_kind  of a number in the registry: paper, rescaled, source or engineering; empty for
                    the time scale
    """

    id: str
    group: Group
    kind: MutantKind
    change: str
    parameter_kind: str = ""

    @property
    def function(self) -> str:
        return self.id.split("/")[1]


@dataclass(frozen=True, eq=False)
class Swap:
    """`holder.field`, or its element at `index`, becomes `new` while a `with` statement runs."""

    holder: ast.AST
    field: str
    index: int | None
    new: Any

    @contextmanager
    def applied(self) -> Iterator[None]:
        old = self._exchange(self.new)
        try:
            yield
        finally:
            self._exchange(old)

    def _exchange(self, new: Any) -> Any:
        if self.index is None:
            old = getattr(self.holder, self.field)
            setattr(self.holder, self.field, new)
        else:
            values = getattr(self.holder, self.field)
            old, values[self.index] = values[self.index], new
        return old


@dataclass(frozen=True, eq=False)
class Site:
    """A mutant with the means to make it.

    top         the statement of the module that holds the change
    statements  the change has no effect unless one of these runs; places in `Numbered`
    """

    mutant: GeneratedMutant
    top: ast.stmt
    swap: Swap
    statements: frozenset[int]


# --- statements -----------------------------------------------------------------------------------
def blocks(statement: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """The lists of statements directly inside a statement: the node that holds one, and its
    field.
    """
    yield from (
        (statement, name)
        for name in ("body", "orelse", "finalbody")
        if isinstance(getattr(statement, name, None), list)
    )
    yield from (
        (part, "body")
        for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ()))
    )


def below(statement: ast.AST) -> Iterator[tuple[ast.stmt, ast.AST, str, int]]:
    """All statements inside a statement, in the order of the source, each with the node, field
    and index that hold it.
    """
    for holder, field in blocks(statement):
        for index, inner in enumerate(getattr(holder, field)):
            yield inner, holder, field, index
            yield from below(inner)


def is_docstring(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


class Numbered:
    """A number for each statement inside some statements of a module, in the order of the
    source.
    """

    def __init__(self, tops: list[ast.stmt]) -> None:
        self.place = {
            id(s): number for number, s in enumerate(s for top in tops for s, *_ in below(top))
        }

    def __getitem__(self, statement: ast.stmt) -> int:
        return self.place[id(statement)]


def loaded(node: ast.AST) -> frozenset[str]:
    """Names that a part of the source reads."""
    return frozenset(
        n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
    )


def bound(statement: ast.stmt) -> frozenset[str]:
    """Names that a statement of a module defines.

    >>> sorted(bound(ast.parse("LOW, HIGH = 0, 1").body[0])), sorted(bound(ast.parse("def f(): x = 1").body[0]))
    (['HIGH', 'LOW'], ['f'])
    """
    if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
        return frozenset((statement.name,))
    return frozenset(
        n.id
        for n in ast.walk(statement)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    )


def is_constant(statement: ast.stmt) -> bool:
    """Whether a statement of a module defines numbers: it assigns an expression that holds some
    and calls nothing but array constructors.
    """
    if not isinstance(statement, (ast.Assign, ast.AnnAssign)) or statement.value is None:
        return False
    inside = list(ast.walk(statement.value))
    calls = {ast.unparse(n.func) for n in inside if isinstance(n, ast.Call)}
    return calls <= {"np.array", "np.asarray", "frozenset", "tuple"} and any(
        _is_number(n) for n in inside
    )


# --- expressions ----------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class NodePlace:
    """An expression, and the field of the node that holds it."""

    node: ast.expr
    holder: ast.AST
    field: str
    index: int | None

    def become(self, new: ast.expr) -> Swap:
        return Swap(self.holder, self.field, self.index, new)


NEVER = (ast.Raise, ast.Assert, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal)
NOT_INSIDE = ("decorator_list", "annotation", "returns", "args", "body", "orelse", "finalbody",
              "handlers", "cases", "type_params")  # fmt: skip


def expressions(statement: ast.stmt) -> Iterator[NodePlace]:
    """The expressions of a statement that can be changed, the statements inside it left out."""
    if isinstance(statement, NEVER) or is_docstring(statement):
        return
    for field, value in ast.iter_fields(statement):
        if field not in NOT_INSIDE:
            yield from _within(statement, field, value)


def _within(holder: ast.AST, field: str, value: Any) -> Iterator[NodePlace]:
    for index, node in enumerate(value) if isinstance(value, list) else ((None, value),):
        if isinstance(node, ast.JoinedStr):
            continue
        if isinstance(node, ast.expr):
            yield NodePlace(node, holder, field, index)
        if isinstance(node, (ast.expr, ast.comprehension, ast.keyword, ast.withitem, ast.Slice)):
            for inner, part in ast.iter_fields(node):
                if not (isinstance(node, ast.Lambda) and inner == "args"):
                    yield from _within(node, inner, part)


# --- changes --------------------------------------------------------------------------------------
Change = tuple[MutantKind, Swap]
OTHER_OPERATOR: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitAnd, ast.LShift: ast.RShift,
    ast.RShift: ast.LShift}  # fmt: skip
OTHER_COMPARISON: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt), ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,), ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,)}  # fmt: skip
_PAIRS = (
    ("min", "max"),
    ("minimum", "maximum"),
    ("fmin", "fmax"),
    ("argmin", "argmax"),
    ("nanmin", "nanmax"),
    ("nanargmin", "nanargmax"),
)
OTHER_EXTREME = {**dict(_PAIRS), **{b: a for a, b in _PAIRS}}
SYMMETRIC = {*OTHER_EXTREME, "hypot", "logaddexp", "add", "multiply", "isclose", "array_equal",
             "union1d", "intersect1d", "gcd", "vdot"}  # fmt: skip
# what an offset of an index can be added to
ADDABLE = (ast.Name, ast.Attribute, ast.BinOp, ast.Subscript, ast.Call)
VIEWS: Final = ("view", "p", "self.params")  # whose attributes are exchanged
HOURS: Final = "self.hours"


def _is_number(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Constant)
        and isinstance(node.value, (int, float))
        and not isinstance(node.value, bool)
    )


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, (ast.JoinedStr, ast.List, ast.Tuple)) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _is_minus(node: ast.AST) -> bool:
    """Whether a node is a negative number as the source writes it."""
    return (
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and _is_number(node.operand)
    )


def _plus(value: ast.expr, step: int) -> ast.expr:
    if _is_number(value):
        return ast.Constant(value.value + step)  # type: ignore[attr-defined]
    return ast.BinOp(value, ast.Add() if step > 0 else ast.Sub(), ast.Constant(abs(step)))


def of_expression(at: NodePlace) -> Iterator[Change]:
    """The changes of one expression, those of the expressions inside it left out."""
    for test, changes in _OF.items():
        if isinstance(at.node, test):
            yield from changes(at)


def _of_operation(at: NodePlace) -> Iterator[Change]:
    node = at.node
    assert isinstance(node, ast.BinOp)
    if _is_text(node.left) or _is_text(node.right):
        return
    if other := OTHER_OPERATOR.get(type(node.op)):
        yield MutantKind.OPERATOR, Swap(node, "op", None, other())
    if isinstance(node.op, (ast.Add, ast.Sub)):
        yield MutantKind.TERM, at.become(node.left)
        yield (
            MutantKind.TERM,
            at.become(
                node.right if isinstance(node.op, ast.Add) else ast.UnaryOp(ast.USub(), node.right)
            ),
        )
    elif isinstance(node.op, (ast.Mult, ast.MatMult)):
        yield MutantKind.FACTOR, at.become(node.left)
        yield MutantKind.FACTOR, at.become(node.right)
    elif isinstance(node.op, (ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)):
        yield MutantKind.FACTOR, at.become(node.left)


def _of_unary(at: NodePlace) -> Iterator[Change]:
    node = at.node
    assert isinstance(node, ast.UnaryOp)
    if not isinstance(node.op, ast.UAdd):
        kind = (
            MutantKind.CONSTANT
            if _is_minus(node)
            else MutantKind.OPERATOR
            if isinstance(node.op, ast.USub)
            else MutantKind.LOGIC
        )
        yield kind, at.become(node.operand)


def _of_logic(at: NodePlace) -> Iterator[Change]:
    assert isinstance(at.node, ast.BoolOp)
    yield (
        MutantKind.LOGIC,
        Swap(at.node, "op", None, ast.Or() if isinstance(at.node.op, ast.And) else ast.And()),
    )


def _of_comparison(at: NodePlace) -> Iterator[Change]:
    assert isinstance(at.node, ast.Compare)
    for place, op in enumerate(at.node.ops):
        for other in OTHER_COMPARISON[type(op)]:
            yield MutantKind.COMPARISON, Swap(at.node, "ops", place, other())


def _of_constant(at: NodePlace) -> Iterator[Change]:
    node = at.node
    assert isinstance(node, ast.Constant)
    if isinstance(node.value, bool):
        if not isinstance(at.holder, ast.keyword):
            yield MutantKind.CONSTANT, at.become(ast.Constant(not node.value))
    elif _is_number(node) and not isinstance(at.holder, (ast.Slice, ast.Subscript)):
        value: Any = node.value
        if isinstance(at.holder, ast.keyword) and at.holder.arg == "axis":
            new = [1 if value == 0 else 0]
        elif value == 0:
            new = [value + 1]
        else:
            new = [2 * value, value // 2 if isinstance(value, int) else value / 2]
            new += [] if _is_minus(at.holder) else [-value]
        for other in new:
            yield (
                MutantKind.CONSTANT,
                at.become(
                    ast.UnaryOp(ast.USub(), ast.Constant(-other))
                    if other < 0
                    else ast.Constant(other)
                ),
            )


def _of_call(at: NodePlace) -> Iterator[Change]:
    node = at.node
    assert isinstance(node, ast.Call)
    name = (
        node.func.id
        if isinstance(node.func, ast.Name)
        else node.func.attr
        if isinstance(node.func, ast.Attribute)
        else ""
    )
    if name in OTHER_EXTREME:
        yield (
            MutantKind.EXTREME,
            Swap(
                node.func,
                "id" if isinstance(node.func, ast.Name) else "attr",
                None,
                OTHER_EXTREME[name],
            ),
        )
    if _is_hours(node) and isinstance(node.args[0], ast.Constant):
        params = ast.Attribute(ast.Name("self", ast.Load()), "params", ast.Load())
        yield MutantKind.UNIT, at.become(ast.Attribute(params, str(node.args[0].value), ast.Load()))
    if name in SYMMETRIC:
        return
    for place, (a, b) in enumerate(zip(node.args, node.args[1:], strict=False)):
        if (
            not isinstance(a, ast.Starred)
            and not isinstance(b, ast.Starred)
            and ast.dump(a) != ast.dump(b)
        ):
            yield (
                MutantKind.ARGUMENTS,
                Swap(node, "args", None, [*node.args[:place], b, a, *node.args[place + 2 :]]),
            )


def _of_subscript(at: NodePlace) -> Iterator[Change]:
    node = at.node
    assert isinstance(node, ast.Subscript)
    parts = [(node.slice, node, "slice", None)]
    if isinstance(node.slice, ast.Tuple):
        parts = [(e, node.slice, "elts", i) for i, e in enumerate(node.slice.elts)]  # type: ignore[misc]
    for part, holder, field, index in parts:
        if isinstance(part, ast.Slice):
            bounds = ((part.lower, part, "lower"), (part.upper, part, "upper"))
            places = [
                NodePlace(value, of, name, None) for value, of, name in bounds if value is not None
            ]
        elif isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            if isinstance(part, ast.Constant):
                yield (
                    MutantKind.INDEX,
                    NodePlace(part, holder, field, index).become(
                        ast.Constant(0 if part.value else 1)
                    ),
                )
            continue
        else:
            places = [NodePlace(part, holder, field, index)]
        for place in places:
            if _is_number(place.node) or _is_minus(place.node) or isinstance(place.node, ADDABLE):
                yield MutantKind.INDEX, place.become(_plus(place.node, 1))
                yield MutantKind.INDEX, place.become(_plus(place.node, -1))


def _of_choice(at: NodePlace) -> Iterator[Change]:
    assert isinstance(at.node, ast.IfExp)
    yield MutantKind.CONDITION, at.become(at.node.body)
    yield MutantKind.CONDITION, at.become(at.node.orelse)


def _of_filter(at: NodePlace) -> Iterator[Change]:
    for generator in getattr(at.node, "generators", ()):
        for place in range(len(generator.ifs)):
            for truth in (True, False):
                yield MutantKind.CONDITION, Swap(generator, "ifs", place, ast.Constant(truth))


_OF: dict[type[ast.expr] | tuple[type[ast.expr], ...], Callable[[NodePlace], Iterator[Change]]] = {
    ast.BinOp: _of_operation,
    ast.UnaryOp: _of_unary,
    ast.BoolOp: _of_logic,
    ast.Compare: _of_comparison,
    ast.Constant: _of_constant,
    ast.Call: _of_call,
    ast.Subscript: _of_subscript,
    ast.IfExp: _of_choice,
    (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp): _of_filter,
}


def of_statement(statement: ast.stmt, holder: ast.AST, field: str, index: int) -> Iterator[Change]:
    """The changes of a statement as a whole."""
    if isinstance(statement, (ast.If, ast.While)):
        for truth in (True, False):
            yield MutantKind.CONDITION, Swap(statement, "test", None, ast.Constant(truth))
    if isinstance(statement, ast.AugAssign):
        if other := OTHER_OPERATOR.get(type(statement.op)):
            yield MutantKind.OPERATOR, Swap(statement, "op", None, other())
        yield (
            MutantKind.ASSIGNMENT,
            Swap(
                holder,
                field,
                index,
                ast.copy_location(ast.Assign([statement.target], statement.value), statement),
            ),
        )
    written = statement.targets if isinstance(statement, ast.Assign) else []
    if len(written) == 1 and isinstance(target := written[0], (ast.Subscript, ast.Attribute)):
        added = ast.AugAssign(target, ast.Add(), statement.value)  # type: ignore[attr-defined]
        yield MutantKind.ASSIGNMENT, Swap(holder, field, index, ast.copy_location(added, statement))
    into = written and all(
        isinstance(part, (ast.Subscript, ast.Attribute))
        for target in written
        for part in _parts(target)
    )
    if (
        into
        or isinstance(statement, ast.AugAssign)
        or (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call))
    ):
        yield MutantKind.STATEMENT, Swap(holder, field, index, ast.Pass())


def _parts(target: ast.expr) -> list[ast.expr]:
    return target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]


def of_names(places: list[NodePlace]) -> Iterator[tuple[int, Change]]:
    """For each read of a view's column, a parameter or a constant of time: the next one, by
    name, that the same function reads.
    """
    reads = [(n, *read) for n, at in enumerate(places) if (read := _read_by_name(at.node))]
    names = {
        base: sorted({getattr(node, field) for _, b, node, field in reads if b == base})
        for _, base, _, _ in reads
    }
    for n, base, node, field in reads:
        known = names[base]
        if len(known) > 1:
            yield (
                n,
                (
                    MutantKind.ATTRIBUTE,
                    Swap(
                        node,
                        field,
                        None,
                        known[(known.index(getattr(node, field)) + 1) % len(known)],
                    ),
                ),
            )


def _read_by_name(node: ast.expr) -> tuple[str, ast.expr, str] | None:
    """What is read from, and the node and field that hold the name."""
    if (
        isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Load)
        and ast.unparse(node.value) in VIEWS
    ):
        return ast.unparse(node.value), node, "attr"
    return (
        (HOURS, node.args[0], "value") if _is_hours(node) and isinstance(node, ast.Call) else None
    )


def _is_hours(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call)
        and ast.unparse(node.func) == HOURS
        and len(node.args) == 1
        and isinstance(node.args[0], ast.Constant)
    )


# --- all of them ----------------------------------------------------------------------------------
def sites(
    mechanism: str, tops: list[ast.stmt], plug_ins: Collection[str] = (), room: str = ""
) -> list[Site]:
    """The mutants of some statements of a module: functions, classes and constants.  Two changes to
    the same source are one mutant.

    plug_ins  names of the classes whose methods are hooks
    room      put before the names of functions, for a module that is not the mechanism's own
    """
    numbered = Numbered(tops)
    listed: list[Site] = []
    for top in tops:
        if isinstance(top, FUNCTIONS):
            listed += _of_function(mechanism, room + top.name, Group.KERNELS, top, top, numbered)
        elif isinstance(top, ast.ClassDef):
            group = Group.HOOKS if top.name in plug_ins else Group.KERNELS
            for method in top.body:
                if isinstance(method, FUNCTIONS):
                    listed += _of_function(
                        mechanism, f"{room}{top.name}.{method.name}", group, top, method, numbered
                    )
        elif is_constant(top):
            listed += _of_module_constant(mechanism, room, top, tops, numbered)
    return listed


def _of_function(
    mechanism: str, name: str, group: Group, top: ast.stmt, function: Function, numbered: Numbered
) -> Iterator[Site]:
    changes: list[tuple[ast.stmt, Change]] = []
    places: list[tuple[ast.stmt, NodePlace]] = []
    for statement, holder, field, index in below(function):
        own = (
            []
            if isinstance(statement, NEVER) or is_docstring(statement)
            else list(expressions(statement))
        )
        places += [(statement, at) for at in own]
        changes += [(statement, change) for change in of_statement(statement, holder, field, index)]
        changes += [(statement, change) for at in own for change in of_expression(at)]
    changes += [(places[n][0], change) for n, change in of_names([at for _, at in places])]
    yield from _numbered(
        mechanism, name, group, top, [(s, c, frozenset((numbered[s],))) for s, c in changes]
    )


def _of_module_constant(
    mechanism: str, room: str, top: ast.stmt, tops: list[ast.stmt], numbered: Numbered
) -> Iterator[Site]:
    """A constant is reached where a statement of a function reads it, or a constant made from
    it.
    """
    names = set(bound(top))
    for other in tops:
        if not isinstance(other, (*FUNCTIONS, ast.ClassDef)) and loaded(other) & names:
            names |= bound(other)
    readers = frozenset(
        numbered[s] for other in tops for s, *_ in below(other) if loaded(s) & names
    )
    changes = [
        (top, change, readers)
        for at in expressions(top)
        for change in of_expression(at)
        if change[0] is MutantKind.CONSTANT
    ]
    yield from _numbered(
        mechanism, room + "+".join(sorted(bound(top))), Group.KERNELS, top, changes
    )


def _numbered(
    mechanism: str,
    name: str,
    group: Group,
    top: ast.stmt,
    changes: list[tuple[ast.stmt, Change, frozenset[int]]],
) -> Iterator[Site]:
    count: Counter[MutantKind] = Counter()
    lines: dict[int, set[str]] = {}
    for statement, (kind, swap), reached in changes:
        count[kind] += 1
        before = _line(statement)
        with swap.applied():
            after = _line(swap.new if isinstance(swap.new, ast.stmt) else statement)
        seen = lines.setdefault(id(statement), {before})
        if after not in seen:
            seen.add(after)
            mutant = GeneratedMutant(
                f"{mechanism}/{name}/{kind}/{count[kind]}", group, kind, difference(before, after)
            )
            yield Site(mutant, top, swap, reached)


def _line(statement: ast.stmt) -> str:
    """A simple statement, or the head of one with a block, in one line."""
    if any(blocks(statement)):
        statement = copy.copy(statement)
        for holder, field in list(blocks(statement)):
            if holder is statement:
                setattr(statement, field, [ast.Pass()] if field == "body" else [])
    return ast.unparse(statement).partition("\n")[0]


def difference(before: str, after: str) -> str:
    """Both lines with what surrounds the change.

    >>> difference("x = a + b", "x = a - b")
    'x = a + b  ->  x = a - b'
    """
    if max(len(before), len(after)) > WIDTH:
        start = next(
            (i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b),
            min(len(before), len(after)),
        )
        same = next(
            (
                i
                for i, (a, b) in enumerate(
                    zip(
                        before[: start - 1 : -1] if start else before[::-1],
                        after[: start - 1 : -1] if start else after[::-1],
                        strict=False,
                    )
                )
                if a != b
            ),
            min(len(before), len(after)) - start,
        )
        before, after = (_around(line, start, len(line) - same) for line in (before, after))
    return f"{before}  ->  {after}"


def _around(line: str, start: int, end: int) -> str:
    low, high = max(start - AROUND, 0), min(end + AROUND, len(line))
    return f"{'... ' if low else ''}{line[low:high]}{' ...' if high < len(line) else ''}"
