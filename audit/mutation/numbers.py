"""Mutants of the registry's numbers: every parameter halved and doubled, every time in a wrong
unit, every other choice; and evidence that reads a changed registry.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any, ClassVar, Final

from ...engine.base.errors import RegistryError
from ...engine.catalogue.registry import Entry, Parameter, Registry, Value
from ...engine.catalogue.stand_ins import checked_instance
from ...engine.contract.hooks import HOURS_PER, parameter_types
from .. import memory
from .sites import GeneratedMutant, Group, MutantKind

TIME_SCALE: Final = "time_scale"
AUDIT: Final = __name__.rsplit(".", 2)[0]
# the kind of parameter whose numbers count against the evidence
PAPER: Final = "paper"
WRONG: Final = {"ms": "s", "s": "min", "min": "h", "h": "min", "d": "h"}


@dataclass(frozen=True, slots=True)
class Number:
    """A parameter with another value, or with another unit of time if `unit` names one."""

    mutant: GeneratedMutant
    parameter: str
    value: Value
    unit: str = ""
    unchanged: ClassVar[bool] = False


def numbers(entry: Entry) -> list[Number]:
    """Every parameter halved and doubled (0 becomes 1), in a wrong unit of time, and with every
    other choice; the time scale, too, if it is used.
    """
    loaded = entry.load()
    types, listed = parameter_types(loaded.params_class), []
    for name, p in entry.params.items():
        listed += [
            _number(entry.id, name, how, p.value, value, p.kind)
            for how, value in _others(p, types.get(name))
        ]
        over, unit = ("1/" if p.unit.startswith("1/") else ""), p.unit.removeprefix("1/")
        if unit in WRONG and p.value:
            id, wrong = f"{entry.id}/{name}/{MutantKind.NUMBER}/unit", over + WRONG[unit]
            listed.append(
                Number(
                    GeneratedMutant(
                        id,
                        Group.NUMBERS,
                        MutantKind.NUMBER,
                        f"{name}: {p.unit}  ->  {wrong}",
                        p.kind,
                    ),
                    name,
                    p.value,
                    wrong,
                )
            )
    source = vars(loaded).values()
    reads = any(
        TIME_SCALE in getattr(getattr(f, "fget", f), "__code__", _NONE).co_names for f in source
    )
    if reads or any(p.unit.removeprefix("1/") in HOURS_PER for p in entry.params.values()):
        scale = entry.time_scale
        listed += [
            _number(entry.id, TIME_SCALE, how, scale, value, "")
            for how, value in (("half", scale / 2.0), ("double", scale * 2.0))
        ]
    return listed


_NONE: Final = (lambda: None).__code__


def _number(mechanism: str, name: str, how: str, before: Value, value: Value, kind: str) -> Number:
    id = f"{mechanism}/{name}/{MutantKind.NUMBER}/{how}"
    return Number(
        GeneratedMutant(
            id, Group.NUMBERS, MutantKind.NUMBER, f"{name}: {before}  ->  {value}", kind
        ),
        name,
        value,
    )


def _others(p: Parameter, kind: Any) -> Iterator[tuple[str, Value]]:
    value = p.value
    if p.choices:
        yield from ((choice, choice) for choice in p.choices if choice != value)
    elif isinstance(value, bool):
        yield str(not value).lower(), not value
    elif not isinstance(value, str):
        half = int(value / 2) if kind is int else value / 2.0
        yield from (("half", half), ("double", 2 * value)) if value else (("one", 1),)


# --- registries -----------------------------------------------------------------------------------
def changed(registry: Registry, id: str, parameter: str, value: Value, unit: str = "") -> Registry:
    """The registry with another value of one parameter, or of the time scale, and with another
    unit if one is given.
    """
    entry = registry.entry(id)
    if parameter == TIME_SCALE:
        return _with(registry, entry.model_copy(update={TIME_SCALE: value}))
    other = entry.params[parameter].model_copy(
        update={"value": value, **({"unit": unit} if unit else {})}
    )
    return _with(registry, entry.model_copy(update={"params": {**entry.params, parameter: other}}))


def refused(registry: Registry, id: str) -> bool:
    """Whether the registry does not build the mechanism, because a value is outside its bounds."""
    try:
        checked_instance(registry, id)
    except RegistryError:
        return True
    return False


def watched(registry: Registry, id: str, read: Callable[[str], None]) -> Registry:
    """The registry, where `read` is called with the name of each parameter of one mechanism that
    is looked up.
    """
    return _with(
        registry,
        registry.entry(id).model_copy(update={"params": _Watched(registry.entry(id).params, read)}),
    )


def _with(registry: Registry, entry: Entry) -> Registry:
    return Registry(
        {**registry.entries, entry.id: entry}, registry.sets, registry.digest, registry.packages
    )


class _Watched(Mapping[str, Parameter]):
    def __init__(self, params: Mapping[str, Parameter], read: Callable[[str], None]) -> None:
        self._params, self._read = params, read

    def __getitem__(self, name: str) -> Parameter:
        self._read(name)
        return self._params[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._params)

    def __len__(self) -> int:
        return len(self._params)


@contextmanager
def installed(registry: Registry) -> Iterator[None]:
    """`Registry.installed()` and `Registry.read()` return this registry while the `with`
    statement runs; `read` with a path reads that file.
    """
    before = {name: vars(Registry)[name] for name in ("installed", "read")}
    read = Registry.read

    def given(cls: type[Registry], *paths: Any, **named: Any) -> Registry:
        return read(*paths, **named) if paths or named else registry

    memory.registry.cache_clear()
    try:
        for name in before:
            setattr(Registry, name, classmethod(given))
        yield
    finally:
        memory.registry.cache_clear()
        for name, method in before.items():
            setattr(Registry, name, method)


# --- evidence -------------------------------------------------------------------------------------
def fresh_evidence(name: str) -> ModuleType:
    """An evidence module with empty caches: imported again, with the evidence that it imports.
    Later imports find the earlier modules.
    """
    package = name.rpartition(".")[0]
    import_module(package)
    before = {
        key: sys.modules.pop(key) for key in list(sys.modules) if key.startswith(f"{package}.")
    }
    try:
        return import_module(name)
    finally:
        for key in [key for key in sys.modules if key.startswith(f"{package}.")]:
            del sys.modules[key]
        sys.modules.update(before)
        for key, module in before.items():
            setattr(sys.modules[package], key.rpartition(".")[2], module)


def forget() -> None:
    """Empty the caches of the audit's functions, which may hold an unchanged mechanism or
    number.
    """
    for key, module in list(sys.modules.items()):
        if key.startswith(f"{AUDIT}."):
            for value in list(vars(module).values()):
                if callable(clear := getattr(value, "cache_clear", None)):
                    clear()
