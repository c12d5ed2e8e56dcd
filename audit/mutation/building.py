"""A mechanism's module with one change: a copy of the module in which functions and classes are
made again from the changed source.

The copy keeps the columns and all other objects of the module, so an engine takes it for the
original.  Functions of `mechanisms.shared` that the module imports are parts of the mechanism, too.
Kernels are plain Python; or only the changed kernel and those that call it are compiled again.
"""

from __future__ import annotations
import __future__

import ast
import copy
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final

import numba

from ...engine.base import numerics
from ...engine.base.kernels import Kernel
from ...engine.catalogue.registry import Entry
from .sites import (
    FUNCTIONS,
    GeneratedMutant,
    Numbered,
    Site,
    below,
    blocks,
    bound,
    is_docstring,
    loaded,
    sites,
)

SHARED: Final = ".mechanisms.shared."
# the function that marked source calls before each statement
REACHED: Final = "__reached__"
Reached = tuple[int, int]  # a part and a statement of it


class ModulePart:
    """Statements of one module that mutants may change.

    tops     in the order of the source
    aliases  names of the mechanism's module for what is defined here -> name here; empty for the
             mechanism's own module
    """

    def __init__(
        self,
        module: ModuleType,
        tops: list[ast.stmt],
        flags: int,
        aliases: Mapping[str, str] | None = None,
    ) -> None:
        self.module, self.tops, self.aliases, self._flags = module, tops, aliases or {}, flags
        self._codes: dict[ast.stmt, CodeType] = {}

    @cached_property
    def numbered(self) -> Numbered:
        return Numbered(self.tops)

    @cached_property
    def definitions(self) -> frozenset[ast.stmt]:
        """Functions, classes, and statements that read them."""
        return self.affected(
            *(bound(top) for top in self.tops if isinstance(top, (*FUNCTIONS, ast.ClassDef)))
        )

    @property
    def room(self) -> str:
        return f"{self.module.__name__.rpartition('.')[2]}." if self.aliases else ""

    def affected(self, *names: Collection[str]) -> frozenset[ast.stmt]:
        """The statements that define some names or read them, directly or through others."""
        reach: set[str] = set().union(*names)
        chosen = {top for top in self.tops if bound(top) & reach}
        while more := [top for top in self.tops if top not in chosen and loaded(top) & reach]:
            chosen.update(more)
            reach.update(*map(bound, more))
        return frozenset(chosen)

    def unchanged(self, top: ast.stmt) -> CodeType:
        """A statement, compiled once: asked for while no change is applied to it."""
        if top not in self._codes:
            self._codes[top] = self.code(top)
        return self._codes[top]

    def code(self, top: ast.stmt) -> CodeType:
        """A statement as it is now, compiled."""
        tree = ast.fix_missing_locations(ast.Module([top], []))
        compiled: CodeType = compile(
            tree, str(self.module.__file__), "exec", self._flags, dont_inherit=True
        )
        return compiled


@dataclass(frozen=True, eq=False)
class Change:
    """A change and the part that holds it."""

    part: ModulePart
    site: Site

    @property
    def mutant(self) -> GeneratedMutant:
        return self.site.mutant

    @property
    def unchanged(self) -> bool:
        """Whether the bytecode is the same, so that the mutant is the original."""
        before = self.part.unchanged(self.site.top)
        with self.site.swap.applied():
            return _same(before, self.part.code(self.site.top))


class Original:
    """A mechanism's module with all its mutants.

    Raises OSError if a source file cannot be read.
    """

    def __init__(self, entry: Entry) -> None:
        self.entry, self.module = entry, import_module(entry.module)
        tree = _tree(self.module)
        self.parts = (ModulePart(self.module, list(tree.body), _flags(tree)), *_shared(self.module))

    @cached_property
    def changes(self) -> list[Change]:
        """In the order of the source; those of the mechanism's own module first."""
        plug_in = getattr(self.module, self.entry.path.partition(":")[2], None)
        hooked = {
            c.__name__
            for c in getattr(plug_in, "__mro__", ())
            if c.__module__ == self.module.__name__
        }
        return [
            Change(part, site)
            for part in self.parts
            for site in sites(self.entry.id, part.tops, hooked, part.room)
        ]

    def plain(self, change: Change | None = None) -> ModuleType:
        """The module with every kernel as plain Python, and with a change if one is given."""
        return self._made(
            lambda part: part.definitions | self._behind(part, change), _plain, change
        )

    def compiled(self, change: Change) -> ModuleType:
        """The module with a change; the changed kernel and the kernels that call it are compiled
        again, the others are the original ones.
        """
        return self._made(
            lambda part: self._behind(part, change), numba.njit(error_model="numpy"), change
        )

    def kernels_behind(self, change: Change) -> int:
        """The number of kernels that `compiled` may have to compile again."""
        return sum(
            isinstance(top, FUNCTIONS) and bool(top.decorator_list)
            for part in self.parts
            for top in self._behind(part, change)
        )

    def reach(self, change: Change) -> frozenset[Reached]:
        """The statements of which one must run for the change to have an effect."""
        return frozenset(
            (self.parts.index(change.part), statement) for statement in change.site.statements
        )

    def _behind(self, part: ModulePart, change: Change | None) -> frozenset[ast.stmt]:
        """The statements of a part that a change in the same or in another one concerns."""
        if change is None or part not in (change.part, self.parts[0]):
            return frozenset()
        changed = change.part.affected(bound(change.site.top))
        names = {name for top in changed for name in bound(top)}
        return (
            changed
            if part is change.part
            else part.affected(
                [alias for alias, name in change.part.aliases.items() if name in names]
            )
        )

    def marked(self, reached: Callable[[Reached], None]) -> ModuleType:
        """The unchanged module, plain, in which `reached` is called with part and statement
        before each statement that runs.
        """
        codes = {
            (part, top): part.code(_marked(top, part.numbered, number))
            for number, part in enumerate(self.parts)
            for top in part.definitions
        }
        return self._assembled(
            lambda part: [codes[part, top] for top in part.tops if top in part.definitions],
            _plain,
            {REACHED: reached},
        )

    def watched(
        self, reached: Callable[[Reached], None], statements: Collection[int]
    ) -> ModuleType:
        """The unchanged module in which `reached` is called before each of some statements of
        functions that are no kernels, and of methods.

        Compiled kernels stay as they are: of what reports they can read the constants of a class
        alone.  Formulas that read such a function run again.
        """
        part = self.parts[0]
        marks = {
            top
            for top in self.reporting
            if any(part.numbered[inner] in statements for inner, *_ in below(top))
        }
        codes = {
            top: part.code(_marked(top, part.numbered, 0, statements) if top in marks else top)
            for top in part.affected(*(bound(top) for top in self.reporting))
            if not self._is_compiled(top)
        }
        return _copy(
            self.module,
            [codes[top] for top in part.tops if top in codes],
            _plain,
            {REACHED: reached},
        )

    def _is_compiled(self, top: ast.stmt) -> bool:
        """Whether a statement defines a kernel that Python calls as machine code."""
        kernel = getattr(self.module, top.name, None) if isinstance(top, FUNCTIONS) else None
        return isinstance(kernel, Kernel) and kernel.compiled

    @cached_property
    def reporting(self) -> frozenset[ast.stmt]:
        """The functions of the mechanism's own module that are no kernels, and its classes."""
        kernels = {name for name, value in vars(self.module).items() if _decorates(value)}
        return frozenset(
            top
            for top in self.parts[0].tops
            if isinstance(top, (*FUNCTIONS, ast.ClassDef))
            and not any(loaded(decorator) & kernels for decorator in top.decorator_list)
        )

    def _made(
        self,
        chosen: Callable[[ModulePart], Collection[ast.stmt]],
        decorate: Callable[[Any], Any],
        change: Change | None,
    ) -> ModuleType:
        with change.site.swap.applied() if change else nullcontext():
            return self._assembled(lambda part: _codes(part, chosen(part), change), decorate, {})

    def _assembled(
        self,
        codes_of: Callable[[ModulePart], list[CodeType]],
        decorate: Callable[[Any], Any],
        names: Mapping[str, Any],
    ) -> ModuleType:
        imported: dict[str, Any] = {}
        for part in self.parts[1:]:
            if codes := codes_of(part):
                made = vars(_copy(part.module, codes, decorate, names))
                imported |= {alias: made[name] for alias, name in part.aliases.items()}
        return _copy(self.module, codes_of(self.parts[0]), decorate, {**names, **imported})


def _codes(part: ModulePart, chosen: Collection[ast.stmt], change: Change | None) -> list[CodeType]:
    return [
        part.code(top) if change and top is change.site.top else part.unchanged(top)
        for top in part.tops
        if top in chosen
    ]


@contextmanager
def installed(module: ModuleType) -> Iterator[None]:
    """Imports find this module instead of the original while the `with` statement runs."""
    name = module.__name__
    package, tail = sys.modules.get(name.rpartition(".")[0]), name.rpartition(".")[2]
    before, original = sys.modules.get(name), getattr(package, tail, None)
    sys.modules[name] = module
    if package and original is not None:
        setattr(package, tail, module)
    try:
        yield
    finally:
        if before is None:
            del sys.modules[name]
        else:
            sys.modules[name] = before
        if package and original is not None:
            setattr(package, tail, original)


def names_of(statement: ast.stmt) -> frozenset[str]:
    """Names that a statement reads, without what the statements inside it read."""
    inside = {id(s) for s, *_ in below(statement)}
    names: set[str] = set()
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            names.add(node.id)
        waiting += [child for child in ast.iter_child_nodes(node) if id(child) not in inside]
    return frozenset(names)


# --- making modules -------------------------------------------------------------------------------
def _copy(
    module: ModuleType,
    codes: list[CodeType],
    decorate: Callable[[Any], Any],
    names: Mapping[str, Any],
) -> ModuleType:
    """A copy of a module in which some statements have run again; `decorate` is used instead of
    @kernel and @summing_kernel.
    """
    fresh = ModuleType(module.__name__)
    space = vars(fresh)
    space.update(vars(module))
    space.update(names)
    space.update(dict.fromkeys((n for n, v in vars(module).items() if _decorates(v)), decorate))
    for code in codes:
        exec(code, space)
    return fresh


def _decorates(value: Any) -> bool:
    return any(value is kernel for kernel in numerics.KERNELS)


def _plain(function: FunctionType) -> FunctionType:
    """A kernel that stays Python; it has `py_func`, as a compiled one."""
    function.py_func = function  # type: ignore[attr-defined]
    return function


def _marked(
    top: ast.stmt, numbered: Numbered, part: int, chosen: Collection[int] | None = None
) -> ast.stmt:
    """A copy of a statement with a call of REACHED before each statement inside it.

    chosen  numbers of the statements before which it is called; None: all
    """
    new = copy.deepcopy(top)
    inside = [statement for statement, *_ in below(new)]
    number = {id(mine): numbered[old] for mine, (old, *_) in zip(inside, below(top), strict=True)}
    for node in (new, *inside):
        for holder, name in blocks(node):
            block = getattr(holder, name)
            setattr(
                holder,
                name,
                [
                    marked
                    for s in block
                    for marked in (
                        (s,)
                        if is_docstring(s) or (chosen is not None and number[id(s)] not in chosen)
                        else (_mark(part, number[id(s)], s), s)
                    )
                ],
            )
    return new


def _mark(part: int, statement: int, before: ast.stmt) -> ast.stmt:
    place = ast.Tuple([ast.Constant(part), ast.Constant(statement)], ast.Load())
    return ast.copy_location(ast.Expr(ast.Call(ast.Name(REACHED, ast.Load()), [place], [])), before)


def _same(a: CodeType, b: CodeType) -> bool:
    def parts(code: CodeType) -> tuple[Any, ...]:
        constants = tuple(
            parts(c) if isinstance(c, CodeType) else (type(c), repr(c)) for c in code.co_consts
        )
        return (
            code.co_code,
            code.co_names,
            code.co_varnames,
            code.co_freevars,
            code.co_cellvars,
            code.co_exceptiontable,
            constants,
        )

    return parts(a) == parts(b)


# --- reading modules ------------------------------------------------------------------------------
def _tree(module: ModuleType) -> ast.Module:
    return ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))


def _flags(tree: ast.Module) -> int:
    imported = (
        a.name
        for s in tree.body
        if isinstance(s, ast.ImportFrom) and s.module == "__future__"
        for a in s.names
    )
    return __future__.annotations.compiler_flag if "annotations" in imported else 0


def shared_functions(module: ModuleType) -> dict[str, dict[str, str]]:
    """Functions of `mechanisms.shared` that a mechanism's module imports: by module, its name
    for each -> name there.
    """
    aliases: dict[str, dict[str, str]] = {}
    for alias, value in vars(module).items():
        function = getattr(value, "py_func", value)
        if isinstance(function, FunctionType) and SHARED in f".{function.__module__}":
            aliases.setdefault(function.__module__, {})[alias] = function.__name__
    return aliases


def _shared(module: ModuleType) -> Iterator[ModulePart]:
    """A part for each module of `mechanisms.shared` of which the mechanism imports functions:
    those, and the functions they call.
    """
    for name, of in shared_functions(module).items():
        shared = sys.modules[name]
        tree = _tree(shared)
        functions = {top.name: top for top in tree.body if isinstance(top, FUNCTIONS)}
        used: set[str] = set()
        new = set(of.values()) & set(functions)
        while new:
            used |= new
            new = {n for f in new for n in loaded(functions[f]) if n in functions} - used
        yield ModulePart(
            shared,
            [top for top in tree.body if getattr(top, "name", None) in used],
            _flags(tree),
            of,
        )
