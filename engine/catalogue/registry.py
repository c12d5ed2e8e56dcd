"""registry.yaml and the mechanism sets, read once and compared with the code in both directions.

The code names and types the parameters; the registry alone holds value, bounds, unit, source and
kind.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import math
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, Self, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ..base.counts import plural
from ..base.errors import ContractError, RegistryError, nearest
from ..base.files import UNIT, FilePath
from ..base.yaml_file import YamlFile, bytes_of
from ..contract.columns import Column, Scope
from ..contract.hooks import Mechanism, Params, Touched, item_of, parameter_types
from ..contract.parameters import checked_value
from ..contract.vocabulary import DRAFTS, IMPORTANCE, KIND, OFFERS, SALIENCE
from .packages import Missing, Package, PackageError, raised, usable, words_of

Value = bool | int | float | str
# phase of a mechanism, and folder of its module
Home = Literal["encoding", "consolidation", "retrieval", "maintenance"]
HOMES: tuple[str, ...] = get_args(Home)
ROOT = Path(__file__).parents[2]
# how a number or an equation of a source was read, best first; below `paper` is second hand
Read = Literal["paper", "authors' code", "reimplementation", "description", "memory"]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=False)


class Equation(_Strict):
    """An equation that the mechanism computes: id of the kernel, key of the paper, place in it,
    TeX.

    paper    empty for an equation of ours
    printed  False: the paper describes in words or data what the equation computes, and prints no
             such equation
    library  True: no hook uses it; it is checked and shown, and is no part of the claim
    read     how it was read; None: as the entry says for its paper
    """

    id: str
    paper: str
    where: str
    tex: str
    printed: bool = True
    library: bool = False
    read: Read | None = None


class Parameter(_Strict):
    """Value, unit, bounds, kind and source of one parameter; `second_hand`: the number is quoted
    from elsewhere than where it was measured.

    role  what a number of ours is to the paper's equation: `free`, the paper has the number and
          leaves it open; `bound`, it bounds time or space; `addition`, a departure says at which
          value it has no effect
    read  how the number was read; None: as the entry says for its paper
    free  of a number that no paper prints: from where to where it may be, up to a factor of three each
          way, and nothing changes in the lives and checks of the audit; measured by
          `docs/tools/number_effects.py`

    A parameter of the unit `path` is a file or folder; its value is "", none, because the registry
    is the same on all machines.
    """

    value: Value
    unit: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    kind: Literal["paper", "rescaled", "engineering", "source"]
    source: str
    note: str = ""
    second_hand: bool = False
    role: Literal["", "free", "bound", "addition"] = ""
    read: Read | None = None
    free: tuple[float, float] | None = None

    @property
    def bounds(self) -> tuple[float, float]:
        """Least and greatest value; infinite where there is none."""
        return (
            -math.inf if self.low is None else self.low,
            math.inf if self.high is None else self.high,
        )

    @model_validator(mode="after")
    def _no_path(self) -> Self:
        if self.unit == UNIT and (
            self.value != "" or self.choices or self.low is not None or self.high is not None
        ):
            raise ValueError(
                'a parameter of the unit path has the value "", no bounds and no choices; a mechanism set names the file'
            )
        return self


class Departure(_Strict):
    """What the implementation does otherwise than the paper, and why.

    kind     what the difference is: `form`, ours in place of the paper's; `proxy`, another quantity
             in place of the paper's; `bound`, on time or space; `addition`, which the paper does not
             have; `none`, no difference to the equations
    neutral  of an addition: values of parameters at which it has no effect
    shown    ids of the checks that show how far a bound reaches, or that an addition is neutral
    """

    what: str
    why: str
    kind: Literal["form", "proxy", "bound", "addition", "none"]
    neutral: Mapping[str, Value] = {}
    shown: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _neutral_of_additions(self) -> Self:
        if self.neutral and self.kind != "addition":
            raise ValueError("only an addition is neutral at some value; write kind: addition")
        if self.shown and self.kind not in ("bound", "addition"):
            raise ValueError("only a bound or an addition is shown by checks")
        return self


class Proxy(_Strict):
    """A state variable of the paper, what the memory uses in its place, and the key of the
    paper.
    """

    state: str
    proxy: str
    source: str


class SubstituteForm(_Strict):
    """What the paper has, the form of ours in its place, and the key of the paper."""

    paper: str
    ours: str
    source: str


class Entry(_Strict):
    """One mechanism's entry in registry.yaml.

    read       how each paper was read
    inputs     quantities of the engine and of other mechanisms that it reads, by column, each with
               the reason why it is the paper's own quantity, or none of its equations
    phenomena  probes, or variants of them, and experiments with people (people/PARADIGM), of the
               behaviour that its papers are cited for
    """

    id: str
    path: str = Field(alias="class")
    home: Home
    summary: str
    acts_on: str
    papers: tuple[str, ...]
    claims: Literal["FAITHFUL", "DOCUMENTED", "HONEST", "APPROXIMATION", "not rated"]
    equations: tuple[Equation, ...] = ()
    time_scale: float = 1.0
    params: Mapping[str, Parameter] = {}
    departures: tuple[Departure, ...] = ()
    proxies: tuple[Proxy, ...] = ()
    forms: tuple[SubstituteForm, ...] = ()
    read: Mapping[str, Read] = {}
    inputs: Mapping[str, str] = {}
    phenomena: tuple[str, ...] = ()
    departs_from_source: str = ""
    probes: tuple[str, ...] = ()
    variety_of: str | None = None
    claimed_by: str | None = None

    @model_validator(mode="after")
    def _additions_name_parameters(self) -> Self:
        for d in self.departures:
            if unknown := sorted(set(d.neutral) - set(self.params)):
                raise ValueError(f"departure {d.what!r} is neutral at {unknown[0]}, no parameter")
        return self

    @property
    def module(self) -> str:
        return self.path.partition(":")[0]

    def load(self) -> type[Mechanism[Any]]:
        """The plug-in class.  Raises RegistryError if it cannot be imported or is no Mechanism."""
        module, _, name = self.path.partition(":")
        try:
            loaded = getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError, ValueError, TypeError) as error:
            raise RegistryError(
                f"class {self.path!r} cannot be loaded: {words_of(error)}",
                where=f"registry.yaml, {self.id}",
                cure="write `class: module:Class`",
            ) from error
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a module that is no Python, raises, or exits
            place = f", line {error.lineno}" if isinstance(error, SyntaxError) else ""
            raise RegistryError(
                f"module {module!r} fails when it is imported: {raised(error)}{place}",
                where=f"registry.yaml, {self.id}",
                cure="correct the module",
            ) from error
        if not (isinstance(loaded, type) and issubclass(loaded, Mechanism)):
            raise RegistryError(
                f"{self.path!r} is no Mechanism",
                where=f"registry.yaml, {self.id}",
                cure="name a subclass of Mechanism",
            )
        return loaded


@dataclass(frozen=True, repr=False)
class MechanismSet:
    """Which mechanisms are on, with parameter overrides and the alternates that an ablation swaps
    in.

    places  where each mechanism (key `id`) and each override (`id.name`) was given, for messages of
            errors: file, line and set, or an option
    """

    name: str
    summary: str
    mechanisms: Mapping[str, Mapping[str, Value]]
    alternates: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    places: Mapping[str, str] = field(default_factory=dict, compare=False)

    def __repr__(self) -> str:
        """Name, number of mechanisms and overrides in one line.

        >>> MechanismSet("mine", "", {"recency": {"weight": 0.2}, "heat": {}})
        <mechanism set mine: 2 mechanisms, overrides recency.weight=0.2>
        """
        changed = [
            f"{id}.{name}={value}"
            for id, values in self.mechanisms.items()
            for name, value in values.items()
        ]
        overrides = f"overrides {', '.join(changed)}" if changed else "no overrides"
        return (
            f"<mechanism set {self.name}: {plural(len(self.mechanisms), 'mechanism')}, {overrides}>"
        )

    def without(self, ids: Iterable[str]) -> MechanismSet:
        """The set without some of its mechanisms.  Raises RegistryError for a mechanism that is not
        on.
        """
        off = tuple(ids)
        self._require(off)
        return replace(self, mechanisms={k: v for k, v in self.mechanisms.items() if k not in off})

    def swapped(self, old: str, new: str) -> MechanismSet:
        """The set with `new` instead of `old`.  Raises RegistryError if `old` is not on, or
        `new` is.
        """
        self._require((old,))
        if new in self.mechanisms:
            raise RegistryError(
                f"{new!r} is on and cannot replace {old!r}",
                where=f"set {self.name}",
                cure="swap in a mechanism that is off",
            )
        return replace(
            self,
            mechanisms={
                new if k == old else k: {} if k == old else v for k, v in self.mechanisms.items()
            },
        )

    def overridden(
        self, changes: Mapping[str, Mapping[str, Value]], where: str = ""
    ) -> MechanismSet:
        """The set with more parameter overrides.  Raises RegistryError for those of a mechanism
        that is not on.

        where  what gave them, such as "--param", for messages of errors; the set if empty
        """
        self._require(changes, where)
        given = {
            f"{id}.{name}": where or f"set {self.name}"
            for id, values in changes.items()
            for name in values
        }
        return replace(
            self,
            mechanisms={k: {**v, **changes.get(k, {})} for k, v in self.mechanisms.items()},
            places={**self.places, **given},
        )

    def where(self, key: str = "") -> str:
        """Where a mechanism (`id`) or an override (`id.name`) was given; with no key, the set,
        with file and line of its mechanisms.
        """
        return self.places.get(key, f"set {self.name}")

    @contextmanager
    def named_in_errors(self) -> Iterator[None]:
        """A ContractError of its mechanisms together, such as two setters of one column, is
        raised with the place of the set.
        """
        try:
            yield
        except ContractError as error:
            raise ContractError(
                error.what, where=f"{self.where()}, {error.where}", cure=error.cure
            ) from error

    def _require(self, ids: Iterable[str], where: str = "") -> None:
        if unknown := [i for i in ids if i not in self.mechanisms]:
            raise RegistryError(
                f"{unknown[0]!r} is not in the set",
                where=", ".join(filter(None, (where, f"set {self.name}"))),
                cure=nearest(unknown[0], self.mechanisms),
            )


class Registry:
    """All entries of a registry file, in file order, and its sets.

    packages  installed packages whose entries and sets follow those of Hebbarium
    missing   installed packages that cannot be read, and are left out
    contexts  strategies of contexts by name: sets of sources, for `set("default+coding")`
    """

    def __init__(
        self,
        entries: Mapping[str, Entry],
        sets: Mapping[str, MechanismSet],
        digest: str,
        packages: tuple[Package, ...] = (),
        missing: tuple[Missing, ...] = (),
        contexts: Mapping[str, MechanismSet] = MappingProxyType({}),
    ) -> None:
        self.entries, self.sets, self.digest, self.packages = (
            MappingProxyType(dict(entries)),
            MappingProxyType(dict(sets)),
            digest,
            packages,
        )
        self.missing, self.contexts = missing, MappingProxyType(dict(contexts))

    def __reduce__(self) -> tuple[object, ...]:
        return Registry, (
            dict(self.entries),
            dict(self.sets),
            self.digest,
            self.packages,
            self.missing,
            dict(self.contexts),
        )

    @classmethod
    def installed(cls) -> Registry:
        """Hebbarium's registry, then those of installed packages; an invalid package is left out
        and named in `missing`.
        """
        packages, broken = usable()
        registry, errors = cls.read(), list(broken)
        for package in packages:
            try:
                registry = registry.joined(package)
            except PackageError as error:
                errors.append(error)
        registry.missing = tuple(
            Missing(error.where.partition(":")[0], "all mechanisms and sets", str(error))
            for error in errors
        )
        return registry

    def unloadable(self) -> tuple[Missing, ...]:
        """`missing`, and each mechanism of the packages whose class cannot be loaded.  Imports
        the modules of packages, none of Hebbarium's.
        """
        missing = list(self.missing)
        for package in self.packages:
            for entry in self.entries.values():
                if self.package_of(entry) is package:
                    try:
                        self.load(entry)
                    except PackageError as error:
                        missing.append(Missing(package.distribution, entry.id, str(error)))
        return tuple(missing)

    def package_of(self, entry: Entry) -> Package | None:
        """The installed package that holds the module of an entry; None for one of Hebbarium."""
        return next((p for p in self.packages if f"{entry.module}.".startswith(f"{p.name}.")), None)

    def blaming(self, entry: Entry) -> AbstractContextManager[None]:
        """Whatever is raised at work on a mechanism of a package is a PackageError that names
        it; errors at work on ours stay as they are.
        """
        package = self.package_of(entry)
        return package.blamed() if package else nullcontext()

    def load(self, entry: Entry) -> type[Mechanism[Any]]:
        """The plug-in class of an entry.  Raises RegistryError, which names its package, if it
        cannot be loaded.
        """
        with self.blaming(entry):
            return entry.load()

    def joined(self, package: Package) -> Registry:
        """The registry with the entries and sets of a package added at the end.  Raises
        PackageError, also for a name that is taken.
        """
        try:
            return self._joined(package)
        except RegistryError as error:
            raise package.failed(error) from error

    def _joined(self, package: Package) -> Registry:
        content = bytes_of(package.registry)
        entries, places = _read_entries(package.registry, content)
        if taken := [id for id in entries if id in self.entries]:
            raise RegistryError(
                f"the mechanism name {taken[0]!r} is taken",
                where=places.place(taken[0]),
                cure="rename it",
            )
        together, sets = {**self.entries, **entries}, dict(self.sets)
        for file in sorted((package.folder / "sets").glob("*.yaml")):
            if file.stem in sets:
                raise RegistryError(
                    f"the set name {file.stem!r} is taken", where=str(file), cure="rename it"
                )
            sets[file.stem] = _read_set(file, together)
        digest = hashlib.sha256(
            f"{self.digest} {package.distribution} {package.digest()}".encode() + content
        )
        return Registry(
            together, sets, digest.hexdigest(), (*self.packages, package), contexts=self.contexts
        )

    @classmethod
    def read(
        cls, path: Path = ROOT / "registry.yaml", sets: Path = ROOT / "mechanisms" / "sets"
    ) -> Registry:
        """Read and check the files; no mechanism is imported.  Raises RegistryError.  Cost: 0.1
        s; 2 ms for files that a process has read before.
        """
        files = tuple(
            (file, bytes_of(file))
            for file in (
                path,
                *sorted(sets.glob("*.yaml")),
                *sorted((sets / "contexts").glob("*.yaml")),
            )
        )
        entries, read_sets = _contents(files)
        named, contexts = (
            {
                file.stem: mechanism_set
                for file, mechanism_set in read_sets.items()
                if file.parent == folder
            }
            for folder in (sets, sets / "contexts")
        )
        return cls(
            entries,
            named,
            hashlib.sha256(b"".join(content for _, content in files)).hexdigest(),
            contexts=contexts,
        )

    def entry(self, id: str) -> Entry:
        try:
            return self.entries[id]
        except KeyError:
            raise RegistryError(
                f"no mechanism {id!r}",
                where="registry.yaml",
                cure=f"{nearest(id, self.entries)}; `hebbarium list` prints all{self._without()}",
            ) from None

    def set(self, name: str) -> MechanismSet:
        """A named set, or the set in a YAML file of that path; `SET+STRATEGY`: with the sources of
        a strategy of contexts in place of its own.

        Raises RegistryError.
        """
        if name in self.sets:
            return self.sets[name]
        base, plus, strategy = name.partition("+")
        if plus and (base in self.sets or base.endswith((".yaml", ".yml"))):
            return self._with_sources(self.set(base), self.context_strategy(strategy))
        if name.endswith((".yaml", ".yml")):
            return _read_set(Path(name), self.entries)
        raise RegistryError(
            f"no mechanism set {name!r}",
            where="mechanisms/sets",
            cure=f"{nearest(name, self.sets)}; `hebbarium list` prints all{self._without()}; or give a YAML file",
        )

    def context_strategy(self, name: str) -> MechanismSet:
        """The sources of a strategy of contexts, by name or from a YAML file of that path.
        Raises RegistryError.
        """
        if name in self.contexts:
            return self.contexts[name]
        if name.endswith((".yaml", ".yml")):
            return _read_set(Path(name), self.entries)
        raise RegistryError(
            f"no strategy of contexts {name!r}",
            where="mechanisms/sets/contexts",
            cure=f"{nearest(name, self.contexts)}; or give a YAML file",
        )

    def _with_sources(self, base: MechanismSet, strategy: MechanismSet) -> MechanismSet:
        """A set whose sources of contexts are those of a strategy.  What its sources read, such as
        the importance of events, comes from the strategy only where nothing in the set sets it.
        Raises RegistryError if the strategy has any other mechanism.
        """
        serving = self._serving(strategy)
        if other := [
            id for id in strategy.mechanisms if id not in serving and not self._offers(id)
        ]:
            raise RegistryError(
                f"{other[0]!r} is no source of contexts",
                where=strategy.where(other[0]),
                cure="name it in the set; a strategy names sources, and what they read",
            )
        taken = {set_ for id in base.mechanisms for set_ in self._sets(id)}
        strategy = strategy.without(id for id, what in serving.items() if what & taken)
        own = {id for id in base.mechanisms if self._offers(id)}
        kept = {id: values for id, values in base.mechanisms.items() if id not in own}
        alternates = {id: others for id, others in base.alternates.items() if id in kept}
        return MechanismSet(
            f"{base.name}+{strategy.name}",
            f"{base.summary}; {strategy.summary}",
            {**kept, **strategy.mechanisms},
            alternates,
            {**base.places, **strategy.places, "": base.where()},
        )

    def _offers(self, id: str) -> bool:
        """Whether a mechanism is a source of contexts."""
        return any(OFFERS in hook.adds for hook in self.load(self.entry(id)).hooks())

    def _serving(self, strategy: MechanismSet) -> dict[str, frozenset[Touched]]:
        """The mechanisms of a strategy that offer nothing and set what its sources read, each with
        what it sets for them; columns of candidates are left out.
        """
        read = {
            item_of(read)
            for id in strategy.mechanisms
            if self._offers(id)
            for hook in self.load(self.entry(id)).hooks()
            for read in hook.reads
        }
        if IMPORTANCE in read:
            read.add(SALIENCE)  # the engine makes IMPORTANCE from it
        read = {r for r in read if not isinstance(r, Column) or r.scope is not Scope.CANDIDATE}
        others = {id: self._sets(id) & read for id in strategy.mechanisms if not self._offers(id)}
        if KIND in read:  # a source that tells kinds of rows shows those that a mechanism makes
            others |= {id: frozenset({DRAFTS}) for id in others if self._drafts(id)}
        return {id: what for id, what in others.items() if what}

    def _drafts(self, id: str) -> bool:
        """Whether a mechanism makes rows."""
        return any(DRAFTS in hook.adds for hook in self.load(self.entry(id)).hooks())

    def _sets(self, id: str) -> frozenset[Touched]:
        return frozenset(set_ for hook in self.load(self.entry(id)).hooks() for set_ in hook.sets)

    def _without(self) -> str:
        """For cures: the packages that are left out."""
        return (
            f", and what {', '.join(m.distribution for m in self.missing)} lacks"
            if self.missing
            else ""
        )

    @cached_property
    def order(self) -> Mapping[str, int]:
        return {id: place for place, id in enumerate(self.entries)}

    def build(self, chosen: MechanismSet) -> tuple[Mechanism[Any], ...]:
        """The set's mechanisms, in registry order, with their parameters checked.  Raises
        RegistryError.
        """
        for id in chosen.mechanisms:
            if id not in self.entries:
                raise RegistryError(
                    f"no mechanism {id!r}",
                    where=chosen.where(id),
                    cure=f"{nearest(id, self.entries)}; `hebbarium list` prints all",
                )
        return tuple(
            self.instance(id, chosen.mechanisms[id], chosen)
            for id in sorted(chosen.mechanisms, key=self.order.__getitem__)
        )

    def values_digest(self) -> str:
        """SHA-256 over the parameter values of all mechanisms; prose of the registry does not
        enter.
        """
        plain = {
            id: {
                "time_scale": entry.time_scale,
                **{name: p.value for name, p in entry.params.items()},
            }
            for id, entry in self.entries.items()
        }
        return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()

    def instance(
        self,
        id: str,
        overrides: Mapping[str, Value] | None = None,
        chosen: MechanismSet | None = None,
        of: type[Mechanism[Any]] | None = None,
    ) -> Mechanism[Any]:
        """One mechanism with its registry values under overrides; errors name the set `chosen` that
        gives these.  Raises RegistryError.

        of  the plug-in class; None: the one that the entry names
        """
        entry = self.entry(id)
        cls = of or self.load(entry)
        params = parameters(entry, cls.params_class, overrides or {}, chosen)
        made = cls(id, params, {name: p.unit for name, p in entry.params.items()}, self.order[id])
        made.limits = {name: p.bounds for name, p in entry.params.items()}
        return made


def parameters(
    entry: Entry,
    cls: type[Params],
    overrides: Mapping[str, Value],
    chosen: MechanismSet | None = None,
) -> Params:
    """Parameters of one mechanism: registry values under overrides, with types and bounds checked.

    chosen  the set that gives the overrides, named in errors

    A parameter of the unit `path` is a `FilePath`, with the digest of its content.

    Raises RegistryError, also if code and registry name different parameters, and for a path where
    there is no file or folder.
    """

    def where(name: str = "") -> str:
        set_place = (
            f"{chosen.where(f'{entry.id}.{name}' if name else entry.id)}, " if chosen else ""
        )
        return f"{set_place}mechanism {entry.id}"

    types = parameter_types(cls)
    if missing := sorted(set(types) ^ set(entry.params)):
        raise RegistryError(
            f"code and registry differ on parameters {missing}",
            where=where(),
            cure=f"name the same in {cls.__name__} and registry.yaml",
        )
    for name, p in entry.params.items():
        if sorted(p.choices) != sorted(
            get_args(types[name]) if get_origin(types[name]) is Literal else ()
        ):
            raise RegistryError(
                f"code and registry differ on the choices of {name!r}",
                where=where(),
                cure=f"name the same in {cls.__name__} and registry.yaml",
            )
        if (p.unit == UNIT) != (types[name] is str):
            raise RegistryError(
                f"code and registry differ on whether {name!r} is a path",
                where=where(),
                cure=f"type it as str in {cls.__name__} and give it the unit {UNIT}, or neither",
            )
    if unknown := sorted(set(overrides) - set(types) - {"time_scale"}):
        raise _no_parameter(unknown[0], entry, where(unknown[0]))
    values = {
        name: checked_value(
            overrides.get(name, p.value), types[name], p.unit, p.bounds, f"{where(name)}, {name}"
        )
        for name, p in entry.params.items()
    }
    scale = overrides.get("time_scale", entry.time_scale)
    if (
        isinstance(scale, bool)
        or not isinstance(scale, (int, float))
        or not 0 < scale <= sys.float_info.max
    ):
        raise RegistryError(
            f"time_scale {scale!r} is not a positive number",
            where=where("time_scale"),
            cure="give 1 for the time of the paper",
        )
    return cls(time_scale=float(scale), **values)


def _no_parameter(name: object, entry: Entry, where: str) -> RegistryError:
    return RegistryError(
        f"no parameter {name!r}",
        where=where,
        cure=f"{nearest(name, [*entry.params, 'time_scale'])}; `hebbarium show {entry.id}` prints all",
    )


@lru_cache(maxsize=4)
def _contents(
    files: tuple[tuple[Path, bytes], ...],
) -> tuple[Mapping[str, Entry], Mapping[Path, MechanismSet]]:
    """The entries of the first file, and the set in each of the others, by their contents.
    Nobody changes them.  Raises RegistryError.
    """
    (path, content), *others = files
    entries, _ = _read_entries(path, content)
    return entries, {file: _read_set(file, entries, held) for file, held in others}


def _read_entries(path: Path, content: bytes) -> tuple[dict[str, Entry], YamlFile]:
    """The entries of a registry that holds this, and the file for their lines."""
    file, entries, cure = (
        YamlFile(path, content),
        {},
        "see CONTRIBUTING.md for the form of an entry",
    )
    for id, raw in file.data.items():
        if not isinstance(raw, dict):
            raise RegistryError("is not a mapping", where=f"{file.place(id)}, {id}", cure=cure)
        try:
            entries[id] = Entry.model_validate({**raw, "id": id})
        except ValidationError as error:
            first = error.errors()[0]
            raise RegistryError(
                f"{'.'.join(map(str, first['loc']))}: {first['msg']}",
                where=f"{file.place(id, *first['loc'])}, {id}",
                cure=cure,
            ) from error
    return entries, file


def _read_set(
    path: Path, entries: Mapping[str, Entry], content: bytes | None = None
) -> MechanismSet:
    """A mechanism set from its file.  Raises RegistryError, which names file and line, for a
    form, mechanism or parameter name that is unknown.
    """
    file = YamlFile(path, content)
    raw, at = file.data, file.place("mechanisms")
    if unknown := [key for key in raw if key not in ("summary", "mechanisms", "alternates")]:
        raise RegistryError(
            f"unknown key {unknown[0]!r}",
            where=file.place(unknown[0]),
            cure="a set has summary, mechanisms and alternates",
        )
    if not isinstance(raw.get("summary", ""), str):
        raise RegistryError(
            "the summary is no text",
            where=file.place("summary"),
            cure="write it in quotation marks",
        )
    if raw.get("mechanisms", []) in ([], {}):
        raise RegistryError(
            "names no mechanisms",
            where=at if "mechanisms" in raw else file.place(),
            cure="write `mechanisms: [name, ...]`",
        )
    chosen, place_of = raw["mechanisms"], {}
    if isinstance(chosen, list):
        for number, id in enumerate(chosen):
            if not isinstance(id, str) or id in place_of:
                raise RegistryError(
                    "mechanisms are not a list of distinct names",
                    where=file.place("mechanisms", number),
                    cure="name each once",
                )
            place_of[id] = file.place("mechanisms", number)
        chosen = dict.fromkeys(chosen)
    elif isinstance(chosen, dict):
        place_of = {id: file.place("mechanisms", id) for id in chosen}
    if not isinstance(chosen, dict) or (
        odd := [
            id for id, values in chosen.items() if not (values is None or isinstance(values, dict))
        ]
    ):
        raise RegistryError(
            "mechanisms are no list of names and no mapping from names to parameters",
            where=place_of[odd[0]] if isinstance(chosen, dict) else at,
            cure="write `- name` or `name: {parameter: value}`",
        )
    for id, values in chosen.items():
        if id not in entries:
            raise RegistryError(
                f"no mechanism {id!r}",
                where=place_of[id],
                cure=f"{nearest(id, entries)}; `hebbarium list` prints all",
            )
        for name in values or ():
            if name not in entries[id].params and name != "time_scale":
                raise _no_parameter(
                    name, entries[id], f"{file.place('mechanisms', id, name)}, {id}"
                )
            place_of[f"{id}.{name}"] = file.place("mechanisms", id, name)
    chosen = {
        id: {
            name: _beside(path, value) if _is_path(entries[id], name) else value
            for name, value in (values or {}).items()
        }
        for id, values in chosen.items()
    }
    alternates = _read_alternates(file, entries, chosen)
    places = {key: f"{place}, set {path.stem}" for key, place in {"": at, **place_of}.items()}
    return MechanismSet(path.stem, raw.get("summary", ""), chosen, alternates, places)


def _is_path(entry: Entry, parameter: str) -> bool:
    return parameter in entry.params and entry.params[parameter].unit == UNIT


def _beside(set_file: Path, value: Any) -> Any:
    """A path of a set's file, from the working folder; relative ones start at the folder of that
    file.
    """
    return str(set_file.parent / value) if isinstance(value, str) and value else value


def _read_alternates(
    file: YamlFile, entries: Mapping[str, Entry], chosen: Collection[str]
) -> dict[str, tuple[str, ...]]:
    """Mechanism of the set -> those that an ablation uses instead of it."""
    alternates, checked, cure = file.data.get("alternates", {}), {}, "write `mechanism: [other]`"
    if not isinstance(alternates, dict):
        raise RegistryError(
            "alternates are no mapping from a mechanism to a list",
            where=file.place("alternates"),
            cure=cure,
        )
    for id, others in alternates.items():
        if not isinstance(others, list) or not all(isinstance(other, str) for other in others):
            raise RegistryError(
                "alternates are no mapping from a mechanism to a list",
                where=file.place("alternates", id),
                cure=cure,
            )
        for number, other in enumerate([id, *others]):
            place = (
                file.place("alternates", id, number - 1) if number else file.place("alternates", id)
            )
            if other not in entries:
                raise RegistryError(
                    f"no mechanism {other!r}",
                    where=place,
                    cure=f"{nearest(other, entries)}; `hebbarium list` prints all",
                )
            if not number and id not in chosen:
                raise RegistryError(
                    f"alternates of {id!r}, which is not in the set",
                    where=place,
                    cure="add it to `mechanisms`, or drop this line",
                )
            if number and other in (*chosen, *others[: number - 1]):
                what = (
                    f"{other!r} is in the set and cannot replace {id!r}"
                    if other in chosen
                    else f"{other!r} is named twice"
                )
                raise RegistryError(
                    what, where=place, cure="name mechanisms that are not in the set, each once"
                )
        checked[id] = tuple(others)
    return checked


def files(mechanisms: Iterable[Mechanism[Any]]) -> dict[str, str]:
    """`mechanism.parameter` -> SHA-256 of the content, of each parameter that is a file or
    folder.
    """
    return {
        f"{m.id}.{name}": value.sha256
        for m in mechanisms
        for name, value in asdict(m.params).items()
        if isinstance(value, FilePath) and value
    }


def digest(mechanisms: Iterable[Mechanism[Any]]) -> str:
    """SHA-256 over ids and parameter values of built mechanisms; of a parameter that is a file,
    its content and not its path.
    """
    plain = [
        [
            m.id,
            {
                n: getattr(value := getattr(m.params, n), "sha256", value)
                for n in ("time_scale", *parameter_types(type(m.params)))
            },
        ]
        for m in mechanisms
    ]
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()
