"""registry.yaml and the mechanism sets, read once and checked both ways against the code.

The code names and types the parameters; the registry alone holds value, bounds, unit, source and kind.
"""
from __future__ import annotations

import hashlib
import importlib
import json
import math
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args, get_origin

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from .contract import HOURS_PER, Mechanism, Params, parameter_types
from .errors import RegistryError
from .packages import Package, installed

Value = bool | int | float | str
ROOT = Path(__file__).parent.parent


class _UniqueKeys(yaml.SafeLoader):
    """A loader that refuses a key given twice, which plain YAML would silently let win."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if key in seen:
                raise yaml.constructor.ConstructorError(None, None, f"key {key!r} is given twice", key_node.start_mark)
            seen.add(key)
        return super().construct_mapping(node, deep)


def read_yaml(path: Path) -> dict[str, Any]:
    """A mapping from a YAML file.  Raises RegistryError with file, line and cure."""
    try:
        data = yaml.load(path.read_text(encoding="utf-8"), Loader=_UniqueKeys)
    except OSError as error:
        raise RegistryError(f"cannot be read: {error.strerror}", where=str(path), cure="check the path") from error
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or error
        raise RegistryError(f"is not sound YAML: {problem}", where=f"{path}{line}", cure="correct that line") from error
    if not isinstance(data, dict):
        raise RegistryError(f"holds {type(data).__name__}, not a mapping", where=str(path), cure="write `name: ...` entries")
    return data


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=False)


class Equation(_Strict):
    """An equation as the paper has it: id of the kernel, paper key, place, TeX."""

    id: str
    paper: str
    where: str
    tex: str


class Parameter(_Strict):
    """Value, unit, bounds, kind and source of one parameter."""

    value: Value
    unit: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    kind: Literal["paper", "rescaled", "engineering", "source"]
    source: str
    note: str = ""


class Departure(_Strict):
    """Where the implementation leaves the paper, and why; `lowers`: whether that costs the rating FAITHFUL."""

    what: str
    why: str
    lowers: bool = False


class Entry(_Strict):
    """One mechanism's entry in registry.yaml."""

    id: str
    path: str = Field(alias="class")
    home: Literal["encoding", "consolidation", "retrieval", "maintenance"]
    summary: str
    acts_on: str
    papers: tuple[str, ...]
    claims: Literal["FAITHFUL", "DOCUMENTED", "HONEST", "APPROXIMATION"]
    equations: tuple[Equation, ...] = ()
    time_scale: float = 1.0
    params: Mapping[str, Parameter] = {}
    departures: tuple[Departure, ...] = ()
    departs_from_source: str = ""
    probes: tuple[str, ...] = ()
    variety_of: str | None = None
    claimed_by: str | None = None

    @property
    def module(self) -> str:
        return self.path.partition(":")[0]

    def load(self) -> type[Mechanism[Any]]:
        """The plug-in class.  Raises RegistryError if it is not there or is no Mechanism."""
        module, _, name = self.path.partition(":")
        try:
            found = getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError, ValueError, TypeError) as error:
            raise RegistryError(f"class {self.path!r} cannot be loaded: {error}", where=f"registry.yaml, {self.id}",
                                cure="write `class: module:Class`") from error
        if not (isinstance(found, type) and issubclass(found, Mechanism)):
            raise RegistryError(f"{self.path!r} is no Mechanism", where=f"registry.yaml, {self.id}", cure="name a subclass of Mechanism")
        return found


@dataclass(frozen=True)
class MechanismSet:
    """Which mechanisms are on, with parameter overrides and the alternates an ablation swaps in."""

    name: str
    summary: str
    mechanisms: Mapping[str, Mapping[str, Value]]
    alternates: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def without(self, ids: Iterable[str]) -> MechanismSet:
        """The set with some mechanisms off.  Raises RegistryError for one that is not on."""
        gone = tuple(ids)
        if strangers := [i for i in gone if i not in self.mechanisms]:
            raise RegistryError(f"{strangers} not in the set", where=f"set {self.name}", cure=f"choose from {', '.join(self.mechanisms)}")
        return MechanismSet(self.name, self.summary, {k: v for k, v in self.mechanisms.items() if k not in gone}, self.alternates)

    def swapped(self, old: str, new: str) -> MechanismSet:
        """The set with `new` in the place of `old`.  Raises RegistryError if `old` is not on, or `new` is."""
        if old not in self.mechanisms or new in self.mechanisms:
            raise RegistryError(f"{new!r} cannot stand in for {old!r}", where=f"set {self.name}", cure="swap one that is on for one that is not")
        changed = {new if k == old else k: {} if k == old else v for k, v in self.mechanisms.items()}
        return MechanismSet(self.name, self.summary, changed, self.alternates)

    def overridden(self, changes: Mapping[str, Mapping[str, Value]]) -> MechanismSet:
        """The set with more parameter overrides."""
        if strangers := [i for i in changes if i not in self.mechanisms]:
            raise RegistryError(f"parameters given for {strangers}, which the set does not hold", where=f"set {self.name}",
                                cure=f"choose from {', '.join(self.mechanisms)}")
        return MechanismSet(self.name, self.summary, {k: {**v, **changes.get(k, {})} for k, v in self.mechanisms.items()}, self.alternates)


class Registry:
    """All entries of a registry file, in file order, and the sets beside it.

    packages  those of others whose entries and sets stand behind ours
    """

    def __init__(self, entries: Mapping[str, Entry], sets: Mapping[str, MechanismSet], digest: str, packages: tuple[Package, ...] = ()) -> None:
        self.entries, self.sets, self.digest, self.packages = MappingProxyType(dict(entries)), MappingProxyType(dict(sets)), digest, packages

    def __reduce__(self) -> tuple[object, ...]:
        return Registry, (dict(self.entries), dict(self.sets), self.digest, self.packages)

    @classmethod
    def installed(cls) -> Registry:
        """Ours, and what installed packages register.  Raises RegistryError, naming the package, for what is not sound."""
        registry = cls.read()
        for package in installed():
            registry = registry.joined(package)
        return registry

    def joined(self, package: Package) -> Registry:
        """With the entries and sets of a package behind those there are.  Raises RegistryError, naming the package, also for a name that is taken."""
        try:
            return self._joined(package)
        except RegistryError as error:
            name = package.distribution.partition(" ")[0]
            raise RegistryError(error.what, where=f"{package.distribution}: {error.where}", cure=f"{error.cure}, or uninstall {name}") from error

    def _joined(self, package: Package) -> Registry:
        entries = _read_entries(package.registry)
        if taken := [id for id in entries if id in self.entries]:
            raise RegistryError(f"the mechanism name {taken[0]!r} is taken", where=str(package.registry), cure="rename it")
        together, sets = {**self.entries, **entries}, dict(self.sets)
        for file in sorted((package.folder / "sets").glob("*.yaml")):
            if file.stem in sets:
                raise RegistryError(f"the set name {file.stem!r} is taken", where=str(file), cure="rename it")
            sets[file.stem] = _read_set(file, together)
        digest = hashlib.sha256(f"{self.digest} {package.distribution} {package.digest()}".encode() + package.registry.read_bytes())
        return Registry(together, sets, digest.hexdigest(), (*self.packages, package))

    @classmethod
    def read(cls, path: Path = ROOT / "registry.yaml", sets: Path = ROOT / "mechanisms" / "sets") -> Registry:
        """Read and check the files; no mechanism is imported.  Raises RegistryError."""
        entries = _read_entries(path)
        digest = hashlib.sha256(path.read_bytes())
        known = {}
        for file in sorted(sets.glob("*.yaml")):
            digest.update(file.read_bytes())
            known[file.stem] = _read_set(file, entries)
        return cls(entries, known, digest.hexdigest())

    def entry(self, id: str) -> Entry:
        try:
            return self.entries[id]
        except KeyError:
            raise RegistryError(f"no mechanism {id!r}", where="registry.yaml", cure=f"choose from {', '.join(self.entries)}") from None

    def set(self, name: str) -> MechanismSet:
        """A named set, or the set in a YAML file of that path."""
        if name in self.sets:
            return self.sets[name]
        if name.endswith((".yaml", ".yml")):
            return _read_set(Path(name), self.entries)
        raise RegistryError(f"no mechanism set {name!r}", where="mechanisms/sets", cure=f"choose from {', '.join(self.sets)}, or give a YAML file")

    @cached_property
    def order(self) -> Mapping[str, int]:
        return {id: place for place, id in enumerate(self.entries)}

    def build(self, chosen: MechanismSet) -> tuple[Mechanism[Any], ...]:
        """The set's mechanisms, in registry order, with their parameters checked.  Raises RegistryError."""
        known = [self.entry(id).id for id in chosen.mechanisms]
        return tuple(self.instance(id, chosen.mechanisms[id], f"set {chosen.name}, ") for id in sorted(known, key=self.order.__getitem__))

    def instance(self, id: str, overrides: Mapping[str, Value] | None = None, where: str = "") -> Mechanism[Any]:
        """One mechanism with its registry values under overrides; `where` goes before the place an error names.  Raises RegistryError."""
        entry = self.entry(id)
        cls = entry.load()
        params = parameters(entry, cls.params_class, overrides or {}, where)
        units = {name: p.unit for name, p in entry.params.items() if p.unit.removeprefix("1/") in HOURS_PER}
        return cls(id, params, units, self.order[id])


def parameters(entry: Entry, cls: type[Params], overrides: Mapping[str, Value], where: str = "") -> Params:
    """Parameters of one mechanism: registry values under overrides, types and bounds checked.

    Fails unless code and registry name the same set.
    """
    where, types = f"{where}mechanism {entry.id}", parameter_types(cls)
    if missing := sorted(set(types) ^ set(entry.params)):
        raise RegistryError(f"code and registry differ on parameters {missing}", where=where,
                            cure=f"name the same in {cls.__name__} and registry.yaml")
    for name, p in entry.params.items():
        if sorted(p.choices) != sorted(get_args(types[name]) if get_origin(types[name]) is Literal else ()):
            raise RegistryError(f"code and registry differ on the choices of {name!r}", where=where,
                                cure=f"name the same in {cls.__name__} and registry.yaml")
    if strangers := sorted(set(overrides) - set(types) - {"time_scale"}):
        raise RegistryError(f"no parameter {strangers[0]!r}", where=where, cure=f"choose from {', '.join([*types, 'time_scale'])}")
    values = {name: _checked(overrides.get(name, p.value), types[name], p, f"{where}, {name}") for name, p in entry.params.items()}
    scale = overrides.get("time_scale", entry.time_scale)
    if isinstance(scale, bool) or not isinstance(scale, (int, float)) or not 0 < scale <= sys.float_info.max:
        raise RegistryError(f"time_scale {scale!r} is not a positive number", where=where, cure="1 gives the paper's own time")
    return cls(time_scale=float(scale), **values)


def _checked(value: Any, kind: Any, declared: Parameter, where: str) -> Any:
    if get_origin(kind) is Literal:
        if value not in get_args(kind):
            raise RegistryError(f"{value!r} is none of its choices", where=where, cure=f"choose from {', '.join(map(str, get_args(kind)))}")
        return value
    unit = "" if declared.unit == "1" else f" {declared.unit}"
    sound = isinstance(value, bool) if kind is bool else isinstance(value, (int, float)) and not isinstance(value, bool)
    if not sound or not abs(value) <= sys.float_info.max or (kind is int and value != int(value)):
        raise RegistryError(f"{value!r} is no {kind.__name__}", where=where, cure=f"give a {kind.__name__}{unit.replace(' ', ' in ', 1)}")
    low, high = (-math.inf if declared.low is None else declared.low), (math.inf if declared.high is None else declared.high)
    if not low <= value <= high:
        raise RegistryError(f"{value!r} is outside [{low:g}, {high:g}]{unit}", where=where, cure="give a value inside the bounds")
    return kind(value)


def _read_entries(path: Path) -> dict[str, Entry]:
    entries = {}
    for id, raw in read_yaml(path).items():
        if not isinstance(raw, dict):
            raise RegistryError("is not a mapping", where=f"{path}, {id}", cure="see CONTRIBUTING.md for the form of an entry")
        try:
            entries[id] = Entry.model_validate({**raw, "id": id})
        except ValidationError as error:
            first = error.errors()[0]
            raise RegistryError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}", where=f"{path}, {id}",
                                cure="see CONTRIBUTING.md for the form of an entry") from error
    return entries


def _read_set(path: Path, entries: Mapping[str, Entry]) -> MechanismSet:
    raw = read_yaml(path)
    if strangers := sorted(set(raw) - {"summary", "mechanisms", "alternates"}):
        raise RegistryError(f"unknown key {strangers[0]!r}", where=str(path), cure="a set has summary, mechanisms and alternates")
    if "mechanisms" not in raw:
        raise RegistryError("names no mechanisms", where=str(path), cure="write `mechanisms: [name, ...]`")
    chosen = raw["mechanisms"]
    if isinstance(chosen, list):
        if not all(isinstance(i, str) for i in chosen) or len(set(chosen)) != len(chosen):
            raise RegistryError("mechanisms are not a list of distinct names", where=str(path), cure="name each once")
        chosen = dict.fromkeys(chosen)
    if not isinstance(chosen, dict) or not all(v is None or isinstance(v, dict) for v in chosen.values()):
        raise RegistryError("mechanisms are no list of names and no mapping from names to parameters", where=str(path),
                            cure="write `- name` or `name: {parameter: value}`")
    alternates = raw.get("alternates", {})
    if not isinstance(alternates, dict) or not all(isinstance(v, list) and all(isinstance(i, str) for i in v) for v in alternates.values()):
        raise RegistryError("alternates are no mapping from a mechanism to a list", where=str(path), cure="write `mechanism: [other]`")
    named = [*chosen, *alternates, *(i for v in alternates.values() for i in v)]
    if strangers := [i for i in named if i not in entries]:
        raise RegistryError(f"no mechanism {strangers[0]!r}", where=str(path), cure="name mechanisms of registry.yaml")
    for id, values in chosen.items():
        names = [*entries[id].params, "time_scale"]
        if unknown := [name for name in values or () if name not in names]:
            raise RegistryError(f"no parameter {unknown[0]!r}", where=f"{path}, {id}", cure=f"choose from {', '.join(names)}")
    return MechanismSet(path.stem, str(raw.get("summary", "")), {k: v or {} for k, v in chosen.items()}, {k: tuple(v) for k, v in alternates.items()})


def digest(mechanisms: Iterable[Mechanism[Any]]) -> str:
    """Name of a resolved set: SHA-256 over ids and parameter values."""
    plain = [[m.id, {n: getattr(m.params, n) for n in ("time_scale", *parameter_types(type(m.params)))}] for m in mechanisms]
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()
