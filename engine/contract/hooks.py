"""The contract between the engine and a mechanism.

A mechanism is a class with parameters, columns of its own, and hooks.  A hook declares its phase,
what it reads, what it adds to and what it sets; there are no defaults, so no declaration can be
forgotten.  All state is in columns: an instance holds its parameters and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar, Generic, TypeVar, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

from ..base.errors import ContractError
from ..text.features import Features
from .columns import Before, Column, Phase, Scope, Structure
from .records import Event, Query
from .vocabulary import (
    ASKER_SESSION,
    BUDGET,
    DRAFTS,
    ENGINE_ALONE,
    OFFERS,
    RANDOM,
    RECALLED,
    ROW,
    WRITINGS,
)

Touched = Column | Structure
Read = Column | Structure | Before
HookFunction = Callable[[Any, Any, Any], None]
ForecastFunction = Callable[[Any, Any, Sequence["Incoming"]], Iterable[str]]
RestFunction = Callable[[Any, Any, Any], bool]
F = TypeVar("F", bound=Callable[..., Any])


def item_of(read: Read) -> Touched:
    """The column or structure that is read, `COLUMN.before` included."""
    return read.of if isinstance(read, Before) else read


HOURS_PER: dict[str, float] = {
    "ms": 1.0 / 3.6e6,
    "s": 1.0 / 3600.0,
    "min": 1.0 / 60.0,
    "h": 1.0,
    "d": 24.0,
}


@dataclass(frozen=True, slots=True)
class Params:
    """Parameters of a mechanism; values, bounds, units and sources are in registry.yaml only.

    time_scale  kappa, multiplies every time constant of the mechanism; 1 gives the paper's time
                constants
    """

    time_scale: float


P = TypeVar("P", bound=Params)


@dataclass(frozen=True)
class Incoming:
    """An event about to be encoded, with the features that the engine computes once from its text.

    event     the record itself
    text      what is embedded and indexed: `[date] speaker: text [caption]`
    features  words, entities, numbers, dates and speech act of the verbatim text and caption
    terms     stemmed terms of `text`, as the lexicon holds them
    vector    (d,) float32, unit length: embedding of `text`
    session, speaker  numbers of the conversation session and of the speaker, in order of first
                      appearance
    before    row of the last event stored before this one, -1 if there is none; rows that the
              memory made do not count
    passages  (p, d) float32, unit length: embeddings of the passages of `text`, if the memory keeps
              them; None: not computed
    """

    event: Event
    text: str
    features: Features
    terms: Sequence[str]
    vector: NDArray[np.float32]
    session: int
    speaker: int
    before: int = -1
    passages: NDArray[np.float32] | None = None


@dataclass(frozen=True)
class Cue:
    """A query to be answered: record, features and stemmed terms of its text, and its unit vector
    (d,) float32; zeros for a blank text.

    session  number of the session in which it is asked, as in SESSION; -1: from nowhere, or no
             event of that session is known
    """

    query: Query
    features: Features
    terms: Sequence[str]
    vector: NDArray[np.float32]
    session: int = -1


@dataclass(frozen=True, slots=True)
class Tick:
    """One step of simulated time, from `start` to `end`, both in hours; in CONSOLIDATE, from the
    end of the previous sleep to the end of this one.
    """

    start: float
    end: float

    @property
    def dt(self) -> float:
        return self.end - self.start


@dataclass(frozen=True)
class Hook:
    """A method of a mechanism with what it declares."""

    name: str
    phase: Phase
    reads: tuple[Read, ...]
    adds: tuple[Touched, ...]
    sets: tuple[Touched, ...]
    function: HookFunction


def hook(
    phase: Phase, *, reads: tuple[Read, ...], adds: tuple[Touched, ...], sets: tuple[Touched, ...]
) -> Callable[[HookFunction], HookFunction]:
    """Declare a method as a hook: `method(self, view, what)` with an Incoming, Cue or Tick for
    `what`.

    reads  the column after every change of this phase; `COLUMN.before`: before every change.  Hooks
           that read RECALLED change memory after the answer, so hooks that lead to the answer read
           those columns unchanged
    adds   contributions: the view shows an array of zeros, the engine applies all of them together;
           O(n) a call for a memory column
    sets   this hook alone writes the column in this phase; a stage starts as a copy of the stage
           before
    """

    def declare(function: HookFunction) -> HookFunction:
        function.__hook__ = Hook(function.__name__, phase, reads, adds, sets, function)  # type: ignore[attr-defined]
        return function

    return declare


@dataclass(frozen=True)
class ReadingMethod:
    """A method beside the hooks that reads what it declares and writes nothing: a forecast, or
    whether the mechanism is at rest.
    """

    name: str
    reads: tuple[Touched, ...]
    function: Callable[..., Any]


def forecast(*, reads: tuple[Touched, ...]) -> Callable[[ForecastFunction], ForecastFunction]:
    """Declare a method that names texts ahead: `method(self, view, coming)` with the next events, a
    sequence of Incoming in order.

    The engine embeds the texts of all forecasts in one batch before these events, if the embedder
    has a cache.  Results do not depend on a forecast: hooks ask the embedder themselves, for any
    text.  It writes nothing, and reads the state before these events.

    reads  persistent columns and structures, all read-only
    """
    return _reader("__forecast__", reads)


def at_rest(*, reads: tuple[Touched, ...]) -> Callable[[RestFunction], RestFunction]:
    """Declare a method that says whether the mechanism is at rest: `method(self, view, tick)` with
    the sleep that has just ended.

    True promises that each later sleep changes nothing by this mechanism, whatever its length,
    until something but time changes the memory.  Once all mechanisms that consolidate are at rest,
    years without news pass at once.  It writes nothing.  A mechanism without such a method is never
    at rest.

    reads  persistent columns and structures, all read-only
    """
    return _reader("__at_rest__", reads)


def _reader(mark: str, reads: tuple[Touched, ...]) -> Callable[[F], F]:
    def declare(function: F) -> F:
        setattr(function, mark, ReadingMethod(function.__name__, reads, function))
        return function

    return declare


class Mechanism(Generic[P]):
    """Base class of every plug-in: `class Name(Mechanism[NameParams])` with `owns`, hooks and,
    if it embeds texts of its own, forecasts.
    """

    owns: ClassVar[tuple[Touched, ...]] = ()
    params_class: ClassVar[type[Params]] = Params
    # least and greatest value of the parameters that have them, as the registry says
    limits: Mapping[str, tuple[float, float]] = MappingProxyType({})
    _hooks: ClassVar[tuple[Hook, ...]] = ()
    _forecasts: ClassVar[tuple[ReadingMethod, ...]] = ()
    _rests: ClassVar[tuple[ReadingMethod, ...]] = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for base in getattr(cls, "__orig_bases__", ()):
            for argument in get_args(base):
                if isinstance(argument, type) and issubclass(argument, Params):
                    cls.params_class = argument
        cls._hooks, cls._forecasts, cls._rests = (
            tuple(cls._declared(mark)) for mark in ("__hook__", "__forecast__", "__at_rest__")
        )
        check_hooks(cls)

    def __init__(
        self, id: str, params: P, units: dict[str, str] | None = None, order: int = 0
    ) -> None:
        """id, order: name and place in the registry; units: unit of each parameter; without it
        hours.
        """
        self.id, self.params, self.order = id, params, order
        self.units = units or {}

    def hours(self, parameter: str) -> float:
        """A time constant in simulated hours, `time_scale` applied; a rate (unit `1/s`) is returned
        per simulated hour.

        Raises ContractError for a parameter whose unit is no time.
        """
        value, unit = float(getattr(self.params, parameter)), self.units.get(parameter, "h")
        per = HOURS_PER.get(unit.removeprefix("1/"))
        if per is None:
            raise ContractError(
                f"the unit of {parameter} is {unit!r}, which is no time",
                where=self.id,
                cure=f"give it one of {', '.join(HOURS_PER)} in the registry, or 1/ one of these for a rate",
            )
        return (
            value / (per * self.params.time_scale)
            if unit.startswith("1/")
            else value * per * self.params.time_scale
        )

    def __repr__(self) -> str:
        """Id, the folder of its file, and its parameters with their units."""
        unit = {
            name: f" {unit}"
            for name, unit in self.units.items()
            if unit.removeprefix("1/") in HOURS_PER
        }
        values = {f.name: getattr(self.params, f.name) for f in fields(self.params)}
        shown = ", ".join(
            f"{name}={value!r}{unit.get(name, '')}"
            for name, value in values.items()
            if (name, value) != ("time_scale", 1.0)
        )
        home = type(self).__module__.split(".")[-2:-1]
        return f"<{self.id}{' of ' + home[0] if home else ''}{': ' + shown if shown else ''}>"

    @classmethod
    def hooks(cls) -> tuple[Hook, ...]:
        """All hooks in the order of the class body, inherited ones first."""
        return cls._hooks

    @classmethod
    def forecasts(cls) -> tuple[ReadingMethod, ...]:
        """All forecasts in the order of the class body, inherited ones first."""
        return cls._forecasts

    @classmethod
    def rests(cls) -> tuple[ReadingMethod, ...]:
        """The methods that say whether the mechanism is at rest.  It is if all of them say so, and
        a mechanism without such a method never is.
        """
        return cls._rests

    @classmethod
    def _declared(cls, mark: str) -> Iterable[Any]:
        seen: dict[str, Any] = {}
        for klass in reversed(cls.__mro__):
            for name, member in vars(klass).items():
                if hasattr(member, mark):
                    seen[name] = getattr(member, mark)
        return seen.values()


def check_hooks(cls: type[Mechanism[Any]]) -> None:
    """Check the declarations of a class, before any memory is made.  Raises ContractError."""
    for declaration in (*cls.forecasts(), *cls.rests()):
        if not isinstance(declaration.reads, tuple) or not all(
            isinstance(item, Column | Structure) for item in declaration.reads
        ):
            raise ContractError(
                "reads is no tuple of columns and structures",
                where=f"{cls.__name__}.{declaration.name}",
                cure="write reads=(COLUMN,)",
            )
        if passing := [
            item.name for item in declaration.reads if not item.persists or item is RANDOM
        ]:
            raise ContractError(
                f"reads {passing} outside an event and a query",
                where=f"{cls.__name__}.{declaration.name}",
                cure="read persistent columns and structures",
            )
    for hook in cls.hooks():
        where = f"{cls.__name__}.{hook.name}"
        kinds = {
            "reads": (Column, Structure, Before),
            "adds": (Column, Structure),
            "sets": (Column, Structure),
        }
        for name, kind in kinds.items():
            if not isinstance(declared := getattr(hook, name), tuple) or not all(
                isinstance(item, kind) for item in declared
            ):
                raise ContractError(
                    f"{name} is no tuple of columns and structures",
                    where=where,
                    cure=f"write {name}=(COLUMN,), or {name}=()",
                )
        reads = {r for r in hook.reads if not isinstance(r, Before)}
        if both := [c.name for c in hook.adds if c in reads or c in hook.sets]:
            raise ContractError(
                f"adds to {both} and also reads or sets it",
                where=where,
                cure="add in one hook, read or set in another",
            )
        if RANDOM in reads or RANDOM in hook.adds:
            raise ContractError(
                "draws random numbers, which moves the stream on",
                where=where,
                cure="declare RANDOM in sets",
            )
        if DRAFTS in (*map(item_of, hook.reads), *hook.sets):
            raise ContractError(
                "reads or sets drafts, to which hooks only add",
                where=where,
                cure="declare DRAFTS in adds; read MADE to find the rows",
            )
        if OFFERS in (*map(item_of, hook.reads), *hook.sets) or (
            OFFERS in hook.adds and BUDGET not in reads
        ):
            raise ContractError(
                "reads or sets offers, or adds to them when no context is asked for",
                where=where,
                cure="declare OFFERS in adds and BUDGET in reads",
            )
        if WRITINGS in hook.sets or (WRITINGS in hook.adds and hook.phase is not Phase.CONSOLIDATE):
            raise ContractError(
                "writes outside CONSOLIDATE, or sets what is only appended to",
                where=where,
                cure="declare WRITINGS in adds, in a hook of CONSOLIDATE",
            )
        writes = [c for c in (*hook.adds, *hook.sets) if c.persists]
        if hook.phase is Phase.RETRIEVE and writes and RECALLED not in reads:
            raise ContractError(
                f"changes {[c.name for c in writes]} on every query",
                where=where,
                cure="read RECALLED, so that it runs only where recall may change memory",
            )
        for item in (*hook.adds, *hook.sets):
            if item in ENGINE_ALONE or (isinstance(item, Structure) and item.steps):
                raise ContractError(
                    f"writes {item.name}, which the engine alone writes",
                    where=where,
                    cure="keep a column of your own",
                )
            if (
                isinstance(item, Column)
                and item.upkeep.fresh not in (None, hook.phase)
                and not (item.upkeep.first and hook.phase is Phase.ENCODE)
            ):
                raise ContractError(
                    f"{item.name} is computed in {item.upkeep.fresh} only, not in {hook.phase}",
                    where=where,
                    cure="write it there",
                )
            if item in hook.adds and isinstance(item, Column) and np.dtype(item.dtype).kind == "b":
                raise ContractError(
                    f"adds to {item.name}, whose cells are true or false",
                    where=where,
                    cure="set it, or count votes in a column of integers",
                )
        for item in (*map(item_of, hook.reads), *hook.adds, *hook.sets):
            if hook.phase not in _phases(item):
                raise ContractError(
                    f"{item.name} means nothing in {hook.phase.value}",
                    where=where,
                    cure=f"touch it in {' or '.join(p.value for p in _phases(item))}, or keep it in a memory column",
                )


def _phases(item: Touched) -> tuple[Phase, ...]:
    """The phases in which hooks may declare the item."""
    if isinstance(item, Structure):
        return item.phases
    if item is ROW:
        return (Phase.ENCODE,)
    if item in (BUDGET, ASKER_SESSION):
        return (Phase.RETRIEVE,)
    if item.scope is Scope.CANDIDATE:
        return (Phase.RETRIEVE,)
    return (Phase.ENCODE, Phase.RETRIEVE) if item.scope is Scope.EVENT else tuple(Phase)


def parameter_types(cls: type[Params]) -> Mapping[str, Any]:
    """Name and type of each parameter, `time_scale` left out."""
    # for the type checker a class of dataclasses that compare by value cannot be hashed
    key: Any = cls
    return _parameter_types(key)


@cache
def _parameter_types(cls: Any) -> Mapping[str, Any]:
    hints = get_type_hints(cls)
    return MappingProxyType({f.name: hints[f.name] for f in fields(cls) if f.name != "time_scale"})
