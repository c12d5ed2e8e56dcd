"""A specimen: one mechanism's module for its evidence; a method gives a copy with one name
replaced.
"""

from __future__ import annotations

import copy
import dataclasses
import dis
import functools
import types
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from ..engine.base.errors import ContractError

_CLASS_CELL = "__class__"  # read by a bare super(); it must stay the original class
# objects that hold nothing, and of which a module may have long tables
_LEAVES = (str, bytes, int, float, complex, type(None))
_WRAPPERS = (
    staticmethod,
    classmethod,
    property,
    functools.cached_property,
    functools.partial,
    functools.partialmethod,
)


class NotTestable(ContractError, AttributeError):
    """The specimen lacks what a check needs; a check may raise it itself."""


class Specimen:
    """Public names of a mechanism's module, reached as attributes.

    id      the mechanism's id
    module  holds kernels (compiled or plain), constants and the plug-in class

    Raises NotTestable for a name the module does not have.
    """

    def __init__(
        self,
        id: str,
        module: types.ModuleType,
        changes: Mapping[str, Any] | None = None,
        holdings: Holdings | None = None,
    ) -> None:
        """holdings  of the module, from a specimen of which this one is a changed copy"""
        self.id, self._module, self._changes = id, module, dict(changes or {})
        self._holdings = holdings or Holdings(vars(module), module.__name__)
        self._namespace: Mapping[str, Any] = (
            rebuilt(self._holdings, self._changes) if self._changes else vars(module)
        )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            # kept as an attribute, since evidence looks names up in its loops
            value = self.__dict__[name] = self._namespace[name]
            return value
        except KeyError:
            where = f"specimen {self.id}"
            raise NotTestable(
                f"{self.id} has no {name!r}", where=where, cure="name something the module defines"
            ) from None

    def __dir__(self) -> list[str]:
        return [
            "id",
            "overriding",
            "replacing",
            *(n for n in self._namespace if not n.startswith("_")),
        ]

    def replacing(self, name: str, value: Any) -> Specimen:
        """A specimen in which `name` is `value`, also for everything that depends on the name.

        Functions, compiled kernels, methods of classes and tables of functions that read the name,
        directly or through others, run as plain Python with the new value.  Values that the module
        computed on import are unchanged, and so is the original specimen.

        Raises ContractError for a name the module does not have, and for a function replaced by
        something that cannot be called.
        """
        where = f"specimen {self.id}"
        if name.startswith("__") or name not in self._namespace:
            raise ContractError(
                f"{self._module.__name__} has no {name!r} to replace",
                where=where,
                cure="name a kernel, class or constant of it",
            )
        if callable(self._namespace[name]) and not callable(value):
            raise ContractError(
                f"{name!r} can be called, its replacement {value!r} cannot",
                where=where,
                cure="give a function",
            )
        return Specimen(self.id, self._module, {**self._changes, name: value}, self._holdings)

    def overriding(self, name: str, /, **methods: Any) -> Specimen:
        """A specimen in which the class `name` is a subclass of it with these methods; see
        `replacing`.
        """
        return self.replacing(name, type(name, (getattr(self, name),), methods))

    def __repr__(self) -> str:
        return f"Specimen({self.id!r}{', replacing ' + ', '.join(self._changes) if self._changes else ''})"


def rebuilt(holdings: Holdings, changes: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of a module's namespace with some names changed and everything that depends on them
    rebuilt.  O(names) per call with holdings that were asked before, O(code) without.
    """
    original, affected = holdings.original, set(changes)
    rebuilder = _Rebuilder(holdings, affected)
    direct: set[str] | None = None
    # names that read an affected name are affected; repeat until none is added
    while direct is None or direct:
        rebuilder.behind = {id(original[n]) for n in affected if _has_identity(original[n])}
        direct = {
            n
            for n, value in original.items()
            if n not in affected and not n.startswith("__") and rebuilder.touches(value)
        }
        affected |= direct
    namespace = rebuilder.namespace
    namespace.update(original)
    namespace.update(changes)
    rebuilder.memo = {
        id(original[n]): value for n, value in changes.items() if _has_identity(original[n])
    }
    for name in original:
        if name in affected and name not in changes:
            namespace[name] = rebuilder.rebuild(original[name])
    return namespace


def _has_identity(value: Any) -> bool:
    """Whether an alias of the object means the object (a function, a class), not just an equal
    value (a number).
    """
    return isinstance(value, (types.FunctionType, type)) or _plain(value) is not value


def _plain(value: Any) -> Any:
    """The plain function of a compiled kernel or behind a memo; anything else as it is."""
    memo = isinstance(value, types.FunctionType | functools._lru_cache_wrapper)
    function = (
        None
        if isinstance(value, type)
        else getattr(value, "__wrapped__" if memo else "py_func", None)
    )
    return function if isinstance(function, types.FunctionType) else value


@functools.lru_cache(maxsize=4096)
def _globals_read(code: types.CodeType) -> frozenset[str]:
    """Names of the global variables that a code object or one nested in it reads."""
    own = (i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME"))
    return frozenset(own).union(
        *(_globals_read(c) for c in code.co_consts if isinstance(c, types.CodeType))
    )


class Holdings:
    """What each object of a module holds: the functions and classes inside it, and the global names
    that its functions read.  Found once for all changed copies of the module, which has to stay as
    it is.
    """

    def __init__(self, original: Mapping[str, Any], module: str) -> None:
        self.original, self.module = original, module
        # by id of the object: ids of functions and classes, and names
        self._known: dict[int, tuple[frozenset[int], frozenset[str]]] = {}
        # so that no other object gets the id of one that is known
        self._objects: list[Any] = []

    def own(self, function: types.FunctionType) -> bool:
        return function.__globals__ is self.original

    def of(self, value: Any) -> tuple[frozenset[int], frozenset[str]]:
        """Ids of the functions and classes in an object, itself included, and the global names that
        the module's own functions in it read.
        """
        known = self._known.get(id(value))
        if known is not None:
            return known
        ids, names, seen, waiting = set[int](), set[str](), set[int](), [value]
        while waiting:
            part = waiting.pop()
            if isinstance(part, _LEAVES) or id(part) in seen:
                continue
            if inner := self._known.get(id(part)):
                ids |= inner[0]
                names |= inner[1]
                continue
            seen.add(id(part))
            self._objects.append(part)
            if _has_identity(part):
                ids.add(id(part))
            function = _plain(part)
            if isinstance(function, types.FunctionType) and self.own(function):
                names |= _globals_read(function.__code__)
            waiting.extend(self.parts(part))
        self._objects.append(value)
        self._known[id(value)] = holding = frozenset(ids), frozenset(names)
        return holding

    def parts(self, value: Any) -> Iterator[Any]:
        """The parts of an object that may hold functions."""
        function = _plain(value)
        if isinstance(function, types.FunctionType):
            yield from (cell for name, cell in _cells(function) if name != _CLASS_CELL)
            yield from function.__defaults__ or ()
            yield from (function.__kwdefaults__ or {}).values()
            yield from vars(function).values()
        elif isinstance(value, type):
            if value.__module__ == self.module:
                yield from (
                    member
                    for name, member in vars(value).items()
                    if name not in ("__dict__", "__weakref__")
                )
                yield from value.__bases__
        elif isinstance(value, (tuple, list, set, frozenset)):
            yield from value
        elif isinstance(value, (dict, types.MappingProxyType)):
            yield from value.values()
        elif isinstance(value, _WRAPPERS):
            yield from _members(value)
        elif dataclasses.is_dataclass(value):
            yield from (getattr(value, f.name, None) for f in dataclasses.fields(value))


class _Rebuilder:
    """Finds and rebuilds what depends on the affected names of one module."""

    def __init__(self, holdings: Holdings, affected: Collection[str]) -> None:
        self.holdings, self.affected = holdings, affected
        self.namespace: dict[str, Any] = {}
        # ids of the objects behind the affected names
        self.behind: set[int] = set()
        self.memo: dict[int, Any] = {}

    def touches(self, value: Any) -> bool:
        """Whether an object reads an affected name, or holds something that does."""
        ids, names = self.holdings.of(value)
        return not (ids.isdisjoint(self.behind) and names.isdisjoint(self.affected))

    def rebuild(self, value: Any) -> Any:
        """The object with the changed names in place of the original ones; the same object if
        nothing in it changes.
        """
        if id(value) in self.memo:
            return self.memo[id(value)]
        if not self.touches(value):
            return value
        function = _plain(value)
        if isinstance(function, types.FunctionType):
            new = self.function(value, function)
            if not isinstance(value, functools._lru_cache_wrapper):
                return new
            # a memo of its own
            self.memo[id(value)] = functools.lru_cache(**value.cache_parameters())(new)
            return self.memo[id(value)]
        if isinstance(value, type):
            return self.klass(value)
        if isinstance(value, (list, set, frozenset)):
            return type(value)(self.rebuild(v) for v in value)
        if isinstance(value, tuple):
            items = [self.rebuild(v) for v in value]
            return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
        if isinstance(value, (dict, types.MappingProxyType)):
            table = {k: self.rebuild(v) for k, v in value.items()}
            return table if isinstance(value, dict) else types.MappingProxyType(table)
        if isinstance(value, (staticmethod, classmethod)):
            return type(value)(self.rebuild(value.__func__))
        if isinstance(value, property):
            return property(
                self.rebuild(value.fget),
                self.rebuild(value.fset),
                self.rebuild(value.fdel),
                value.__doc__,
            )
        if isinstance(value, functools.cached_property):
            cached = functools.cached_property(self.rebuild(value.func))
            # set on assignment in a class body only
            cached.attrname = value.attrname
            return cached
        if isinstance(value, (functools.partial, functools.partialmethod)):
            return type(value)(
                self.rebuild(value.func),
                *map(self.rebuild, value.args),
                **{k: self.rebuild(v) for k, v in value.keywords.items()},
            )
        return self.record(value)

    def function(self, value: Any, function: types.FunctionType) -> types.FunctionType:
        cells = tuple(types.CellType() for _ in function.__closure__ or ())
        new = types.FunctionType(
            function.__code__,
            self.namespace if self.holdings.own(function) else function.__globals__,
            function.__name__,
            None,
            cells,
        )
        # before its parts are rebuilt: a function may hold itself
        self.memo[id(value)] = self.memo[id(function)] = new
        new.__doc__, new.__module__, new.__qualname__ = (
            function.__doc__,
            function.__module__,
            function.__qualname__,
        )
        new.__annotations__ = dict(function.__annotations__)
        new.__defaults__ = (
            tuple(map(self.rebuild, function.__defaults__)) if function.__defaults__ else None
        )
        new.__kwdefaults__ = (
            {k: self.rebuild(v) for k, v in function.__kwdefaults__.items()}
            if function.__kwdefaults__
            else None
        )
        for cell, old, (name, content) in zip(
            cells, function.__closure__ or (), _cells(function, empty=True), strict=True
        ):
            if content is not old:  # an empty cell stays empty
                cell.cell_contents = content if name == _CLASS_CELL else self.rebuild(content)
        new.__dict__.update({k: self.rebuild(v) for k, v in vars(function).items()})
        return new

    def klass(self, value: type) -> type:
        """A subclass with the changed members.  Rebuilt bases come after the class itself, so
        its own super() reaches them.
        """
        bases = (value, *(b for old in value.__bases__ if (b := self.rebuild(old)) is not old))
        body = {
            "__module__": value.__module__,
            "__qualname__": value.__qualname__,
            "__doc__": value.__doc__,
            "__slots__": (),
        }
        new_class = types.new_class(
            value.__name__, bases, {}, lambda namespace: namespace.update(body)
        )
        # before its members are rebuilt: one may hold the class
        self.memo[id(value)] = new_class
        for name, member in vars(value).items():
            if (
                name not in ("__dict__", "__weakref__")
                and (new := self.rebuild(member)) is not member
            ):
                setattr(new_class, name, new)
        return new_class

    def record(self, value: Any) -> Any:
        """A dataclass instance with its fields rebuilt."""
        new = copy.copy(value)
        self.memo[id(value)] = new
        for field in dataclasses.fields(value):
            if hasattr(value, field.name):
                object.__setattr__(new, field.name, self.rebuild(getattr(value, field.name)))
        return new


def _cells(function: types.FunctionType, *, empty: bool = False) -> Iterator[tuple[str, Any]]:
    """Name and content of each cell of a closure; empty cells are left out, or, with `empty`,
    are their own content.
    """
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:
            if empty:
                yield name, cell


def _members(wrapper: Any) -> Iterable[Any]:
    """The functions and arguments inside a descriptor or a partial."""
    if isinstance(wrapper, (staticmethod, classmethod)):
        return (wrapper.__func__,)
    if isinstance(wrapper, property):
        return (wrapper.fget, wrapper.fset, wrapper.fdel)
    if isinstance(wrapper, functools.cached_property):
        return (wrapper.func,)
    return (wrapper.func, *wrapper.args, *wrapper.keywords.values())
