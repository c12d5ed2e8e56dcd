"""Static evidence: checks of a mechanism's code, registry entry, numbers and declarations.  The
same for each.

ST-1  every claimed equation is a kernel of the module and cites a paper; its place says whether the
      paper prints it
ST-2  every parameter has a source, and one of kind `paper` names the paper
ST-3  kernels are pure: besides their arguments they read constants and other pure functions
ST-4  declarations are true: hooks touch what they declare and nothing else, and those of ENCODE
      name the cells of earlier rows and edges that they change
ST-5  one time scale: all time constants are read with it, and with twice the time scale, events at
      twice the times give the same memory
ST-6  every parameter of kind `paper` is stated in the evidence, and the plug-in holds the paper's
      value at time_scale 1
ST-7  checks of data take the numbers that ship from the plug-in, and the evidence holds no copy of
      them
ST-8  the kind of a departure agrees with its words, and names checks and parameters that there are;
      no departure that was stated is left out, and no reading is raised; a printed form claims
      what its source rates it
ST-9  the facet, directness, floor and scale of a signal hold for its scores; those of a printed form
      are those of the form that it varies
ST-10 a column is declared as a reading of the clock, the number of a row, a factor along the rows or
      a mark for shortlists if it is one, and only then; a mechanism does the same in every time
      zone and age, however far ahead a wrong clock dates an event, and whatever attributes it does
      not know; strength ages from the time when an event was told
ST-11 a mechanism that says that it is at rest changes nothing in later sleeps
ST-12 rows that sleep made and archived, how well archived rows match, and what is held of them
      change nothing; kinds of rows are told apart as the entry says, never put in order; a memory may
      have no rows; what the asker's filter leaves out stands in no context, and its rank counts
      nowhere; rows of which a mechanism holds nothing get nothing from it
ST-13 the numbers that no paper prints do what was measured of them
"""

from __future__ import annotations

import ast
import builtins
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engine.base.errors import HebbariumError
from ..engine.base.numerics import read_only
from ..engine.catalogue.registry import Entry, Registry
from ..engine.catalogue.stand_ins import checked_instance
from ..engine.contract.columns import Column, Signal
from ..engine.contract.hooks import HOURS_PER
from ..engine.contract.records import Event
from ..engine.contract.vocabulary import KIND, RANDOM, RECALLED, ROW
from ..engine.flow.dataflow import touched_by
from ..engine.memory.engine import Engine
from ..engine.state.ranking import best
from .checks import Check, CheckKind, Decorator, Measured, evidence_of
from .declarations import (
    KINDS,
    WORDS_OF,
    PlainLife,
    comparisons_of_kinds,
    read_by,
    unlike_the_varied,
    wrong_contexts,
    wrong_directness,
    wrong_elsewhere,
    wrong_ranks,
    wrong_rest,
    wrong_rows,
    wrong_signals,
    wrong_unheld,
    wrong_upkeep,
)
from .effects import differences as number_differences
from .effects import own_numbers, shipped
from .facts import quantities
from .literals import number_in
from .memory import hashing
from .paper_numbers import PaperNumber, differences
from .references import References
from .sources import source_system
from .statements import missing
from .statements import shipped as statements

static = Decorator(CheckKind.STATIC)
Wrong = Callable[[Entry, Registry], Iterator[str]]  # yields what is not as declared, in words
# declared to say when a hook runs, or used under another name
TRIGGERS = (ROW, RECALLED, RANDOM)
# what the place of an equation says that the paper does not print
UNPRINTED = re.compile(
    r"\bin words\b(?! and symbols)|\bform (?:is )?ours\b|\bnot (?:in the paper|printed)\b"
)
YEAR = re.compile(r"\b(1[89]\d\d|20\d\d)\b")
STRETCH = 2.0  # a power of two: stretched times stay exact
CONSTANTS = (bool, int, float, str, tuple, frozenset, type(None), np.ndarray, np.generic)


@dataclass(frozen=True)
class Exhibit:
    """The input of static checks: a mechanism's module and registry entry, with the references,
    the registry and the numbers of its evidence.
    """

    entry: Entry
    module: ModuleType
    references: References
    registry: Registry
    numbers: tuple[PaperNumber, ...] = ()
    evidence: ModuleType | None = None

    @cached_property
    def checks(self) -> tuple[Check, ...]:
        """The checks of the evidence."""
        return evidence_of(self.evidence).checks if self.evidence else ()

    @cached_property
    def kernels(self) -> Mapping[str, FunctionType]:
        """Compiled functions that the module itself defines, as plain Python."""
        plain = (
            (name, getattr(value, "py_func", None)) for name, value in vars(self.module).items()
        )
        return {
            name: f
            for name, f in plain
            if isinstance(f, FunctionType) and f.__module__ == self.module.__name__
        }

    @cached_property
    def run(self) -> tuple[Engine, list[NDArray[np.float32]]]:
        """One short run at the registry's own time scale, see `_run`."""
        return _run(self, 1.0)

    @cached_property
    def life(self) -> PlainLife:
        """The life of the mechanism in the usual company, for checks that only look at it."""
        return PlainLife(self.entry, self.registry)

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All parts of the source of the module."""
        return tuple(ast.walk(ast.parse(inspect.getsource(self.module))))


def evidence() -> tuple[Check, ...]:
    """The static checks, in order."""
    return tuple(value for value in globals().values() if isinstance(value, Check))


@static("ST-1", source="registry.yaml against the module and references.bib")
def every_claimed_equation_is_there_and_cites_its_paper(exhibit: Exhibit) -> Measured:
    entry, wrong = exhibit.entry, []
    for equation in entry.equations:
        if equation.paper and not callable(getattr(exhibit.module, equation.id, None)):
            wrong.append(f"{equation.id} is no function of the module")
        if equation.paper and equation.paper not in exhibit.references:
            wrong.append(f"{equation.id} cites {equation.paper}, which references.bib lacks")
        if equation.paper and equation.paper not in entry.papers:
            wrong.append(f"{equation.id} cites {equation.paper}, which is not among the papers")
        if not (equation.where.strip() and equation.tex.strip()):
            wrong.append(f"{equation.id} has no place or no formula")
        said = UNPRINTED.search(equation.where)
        if equation.paper and not entry.variety_of and equation.printed and said:
            wrong.append(f"{equation.id} is called printed, and its place says {said.group()!r}")
        if equation.paper and not equation.printed and not said:
            wrong.append(f"{equation.id} is not printed, and its place does not say what is there")
    wrong += [
        f"references.bib lacks {key}" for key in entry.papers if key not in exhibit.references
    ]
    sources = [
        *((p.source, p.state) for p in entry.proxies),
        *((f.source, f.ours) for f in entry.forms),
    ]
    wrong += [
        f"{key} of {what!r} is not among the papers"
        for key, what in sources
        if key not in entry.papers
    ]
    return _none(wrong, f"{len(entry.equations)} equations")


@static("ST-2", source="registry.yaml against references.bib")
def every_parameter_has_its_source(exhibit: Exhibit) -> Measured:
    wrong = []
    surnames = {
        _surname(exhibit.references.get(key).fields["author"])
        for key in exhibit.entry.papers
        if key in exhibit.references
    }
    for name, p in exhibit.entry.params.items():
        words = f"{p.source} {p.note}".lower()
        if not p.source.strip():
            wrong.append(f"{name} has no source")
        elif p.kind == "paper" and not (
            p.source in exhibit.references
            or any(s in words for s in surnames)
            or YEAR.search(words)
        ):
            wrong.append(f"{name} is of kind paper, and {p.source!r} names none")
    return _none(wrong, f"{len(exhibit.entry.params)} parameters")


@static("ST-3", source="the code of the kernels")
def kernels_are_pure(exhibit: Exhibit) -> Measured:
    wrong = []
    for name, function in exhibit.kernels.items():
        if "self" in function.__code__.co_varnames[: function.__code__.co_argcount]:
            wrong.append(f"{name} takes self")
        wrong += [
            f"{name} reads {outside}, which is {type(value).__name__}"
            for outside, value in _outside(function)
            if not _pure(value)
        ]
    return _none(wrong, f"{len(exhibit.kernels)} kernels")


@static(
    "ST-4",
    source="the declarations against the code, a short run in which undeclared access raises, and a life whose cells are compared around each hook",
)
def declarations_are_true(exhibit: Exhibit) -> Measured:
    wrong = []
    declared = {
        c for hook in exhibit.entry.load().hooks() for c in touched_by(hook) if c not in TRIGGERS
    }
    touched = {n.attr for n in exhibit.nodes if isinstance(n, ast.Attribute)}
    named = {
        n.value.id
        for n in exhibit.nodes
        if isinstance(n, ast.Attribute) and n.attr == "name" and isinstance(n.value, ast.Name)
    }
    constants = {id(getattr(exhibit.module, name, None)) for name in named}
    wrong += sorted(
        f"{c.name} is declared and never touched"
        for c in declared
        if c.name not in touched and id(c) not in constants and not isinstance(c, Signal)
    )
    try:
        exhibit.run  # noqa: B018  (for what it may raise)
        wrong += exhibit.life.unnamed
    except HebbariumError as error:
        wrong.append(f"in a short run: {error.what}")
    return _none(wrong, f"{len(declared)} columns and structures")


@static("ST-5", source="dimension: time occurs over time only")
def one_time_scale_is_common_to_all_constants(exhibit: Exhibit) -> Measured:
    loaded = exhibit.entry.load()
    touched = {t for hook in loaded.hooks() for t in (*hook.adds, *hook.sets)} | set(loaded.owns)
    columns = sorted(
        (
            c
            for c in touched
            if isinstance(c, Column) and c.persists and np.dtype(c.dtype).kind == "f"
        ),
        key=lambda c: c.name,
    )
    constants = [
        name for name, p in exhibit.entry.params.items() if p.unit.removeprefix("1/") in HOURS_PER
    ]
    wrong = list(_unlike_stretched(exhibit, columns, constants)) if columns or constants else []
    wrong += [
        f"{name} is not read by hours() alone"
        for name in constants
        if not _scaled(name, exhibit.nodes)
    ]
    return _none(wrong, f"{len(constants)} constants of time, {len(columns)} columns")


def _unlike_stretched(
    exhibit: Exhibit, columns: list[Column], constants: list[str]
) -> Iterator[str]:
    """Columns and answers that differ after twice the time, with twice the time scale."""
    (once, answers), (twice, later) = exhibit.run, _run(exhibit, STRETCH)
    for column in columns:
        a, b = once.store.array(column), twice.store.array(column)
        if a.shape != b.shape or not _close(
            a, b, STRETCH ** _power_of_time(column.unit), float(column.neutral)
        ):
            yield f"{column.name} differs after twice the time"
    # A mechanism without time constants may read the calendar, and then answers differ with the
    # date.
    if constants and not all(
        np.allclose(a, b, rtol=1e-5, atol=1e-7, equal_nan=True)
        for a, b in zip(answers, later, strict=True)
    ):
        yield "the answer to a question differs after twice the time"


@static(
    "ST-6",
    source="NUMBERS of the evidence, with the audit's own table of units, against the plug-in of the registry",
)
def the_plug_in_holds_the_numbers_of_its_papers(exhibit: Exhibit) -> Measured:
    return _none(
        list(differences(exhibit.entry, exhibit.registry, exhibit.numbers)),
        f"{len(exhibit.numbers)} numbers of papers",
    )


# names of the helpers through which evidence reaches the numbers that ship
SHIPPED = frozenset({"plug_in", "memory_of", "registry"})
# numbers that are no sign of a copy
PLAIN = (0.0, 1.0, 2.0)


@static(
    "ST-7",
    source="the constants of the evidence and the functions that checks of data call, against the registry",
)
def data_are_compared_with_the_numbers_that_ship(exhibit: Exhibit) -> Measured:
    wrong, checks = [], [c for c in exhibit.checks if c.kind is CheckKind.DATA and c.gates]
    ours = {
        float(p.value): name
        for name, p in exhibit.entry.params.items()
        if p.kind != "paper" and isinstance(p.value, (int, float)) and float(p.value) not in PLAIN
    }
    for check in checks:
        names, constants = _called(check.function)
        if exhibit.entry.params and not names & SHIPPED:
            wrong.append(f"{check.id} reads no number that ships")
        wrong += sorted(
            f"{check.id} holds a copy of {', '.join(ours[v] for v in values)} in {name}"
            for name, values in constants.items()
            if values and all(v in ours for v in values)
        )
    wrong += [
        f"{name} of the evidence is a copy of the number that ships; take it by `numbers_of`"
        for name in _copies(exhibit)
    ]
    return _none(wrong, f"{len(checks)} checks of data")


def _copies(exhibit: Exhibit) -> list[str]:
    """Constants of the evidence with the value of a number of ours: under its name, in the module and
    as keys of dictionaries in its constants; and under other names, if one statement has two of them
    or more.  A number that a source prints is no copy.
    """
    printed = {float(n.value) for n in exhibit.numbers if not isinstance(n.value, str)}
    ours = {
        name.lower(): float(p.value)
        for name, p in exhibit.entry.params.items()
        if p.kind in ("engineering", "rescaled")
        and isinstance(p.value, (int, float))
        and not isinstance(p.value, bool)
        and float(p.value) not in PLAIN
    }
    own = exhibit.evidence and exhibit.evidence.__name__.endswith(f".{exhibit.entry.id}")
    if exhibit.evidence is None or not own or not ours or exhibit.entry.variety_of:
        return []
    copied = list[str]()
    for node in ast.parse(inspect.getsource(exhibit.evidence)).body:
        if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
            continue
        stated = [(name, number_in(value)) for name, value in _stated(node)]
        copied += [
            name for name, value in stated if value is not None and value == ours.get(name.lower())
        ]
        others = [
            (name, value)
            for name, value in stated
            if name.lower() not in ours and value in ours.values() and value not in printed
        ]
        if len({value for _, value in others}) >= 2:
            copied += [name for name, _ in others]
    return copied


def _stated(node: ast.Assign | ast.AnnAssign) -> Iterator[tuple[str, ast.expr]]:
    """Names and values of an assignment, also those of dictionaries in it."""
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    value = node.value
    if isinstance(target, ast.Name) and value is not None:
        yield target.id, value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for name, one_value in zip(target.elts, value.elts, strict=False):
            if isinstance(name, ast.Name):
                yield name.id, one_value
    for inner in ast.walk(value) if value is not None else ():
        if isinstance(inner, ast.Dict):
            for key, held in zip(inner.keys, inner.values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    yield key.value, held


def _called(function: Any) -> tuple[set[str], dict[str, list[float]]]:
    """All names that a function of an evidence module and those of the same module below it use,
    and the numbers held by constants of the module among them, without plain ones.
    """
    names, constants, waiting, seen = set[str](), dict[str, list[float]](), [function], set[int]()
    while waiting:
        plain = inspect.unwrap(waiting.pop())
        if id(plain) in seen or not isinstance(plain, FunctionType):
            continue
        seen.add(id(plain))
        for name in _names_in(plain.__code__):
            names.add(name)
            value = plain.__globals__.get(name)
            value = value.function if isinstance(value, Check) else value
            if isinstance(value, FunctionType) and value.__module__ == plain.__module__:
                waiting.append(value)
            elif isinstance(value, (bool, str)):
                continue
            elif isinstance(value, (int, float)):
                constants[name] = [v for v in (float(value),) if v not in PLAIN]
            elif isinstance(value, (tuple, list)):
                constants[name] = [
                    float(v)
                    for v in value
                    if isinstance(v, (int, float)) and not isinstance(v, bool) and v not in PLAIN
                ]
    return names, constants


def _names_in(code: CodeType) -> set[str]:
    return set(code.co_names).union(
        *(_names_in(c) for c in code.co_consts if isinstance(c, CodeType))
    )


REPLACES = re.compile(r"\b(in place of|instead of|replaces|stands? for|is reduced to)\b")


@static("ST-8", source="registry.yaml against its own words and the evidence")
def departures_are_what_they_are_called(exhibit: Exhibit) -> Measured:
    entry, known, wrong = exhibit.entry, {c.id for c in exhibit.checks}, []
    for d in entry.departures:
        if d.kind in ("none", "bound") and (word := REPLACES.search(d.what)):
            wrong.append(f"{d.what!r} is called {d.kind} and says {word.group()!r}")
        if d.kind == "none" and not d.why.strip():
            wrong.append(f"{d.what!r} is called none and gives no reason")
        if d.kind == "addition" and not (d.neutral or d.shown):
            wrong.append(f"{d.what!r} is an addition and says neither where it is neutral nor why")
        wrong += [f"{d.what!r} is shown by {id}, which is no check" for id in {*d.shown} - known]
    wrong += [
        f"{name} is declared an input, and no hook reads it as a quantity"
        for name in sorted(set(entry.inputs) - set(quantities(entry)))
    ]
    wrong += [
        f"the paper {key} is read, and is not among the papers"
        for key in sorted(set(entry.read) - set(entry.papers))
    ]
    wrong += [
        f"{paper} is called read, and references.bib does not say which parts of it (`read`)"
        for paper, how in _readings(entry)
        if how == "paper"
        and paper in exhibit.references
        and not exhibit.references.get(paper).fields.get("read", "").strip()
    ]
    wrong += missing(entry, statements().get(entry.id) if _ships(exhibit) else None)
    if _ships(exhibit) and entry.variety_of and entry.claims not in (rated := _rated(entry)):
        wrong.append(f"claims {entry.claims}, which {entry.claimed_by} rates {' and '.join(rated)}")
    return _none(wrong, f"{len(entry.departures)} departures")


def _ships(exhibit: Exhibit) -> bool:
    """Whether the mechanism is none of a package, which may have the name of one that ships."""
    return exhibit.registry.package_of(exhibit.entry) is None


def _rated(entry: Entry) -> list[str]:
    """The ratings that the source of a printed form gives it, in the source's words."""
    claims = source_system(entry.claimed_by or "").claims
    return [claim.claimed for claim in claims if claim.variety == entry.id]


def _readings(entry: Entry) -> Iterator[tuple[str, str]]:
    """Papers, and how they were read: by the entry, its equations and its numbers."""
    yield from entry.read.items()
    for equation in entry.equations:
        if equation.paper and equation.read:
            yield equation.paper, equation.read
    for p in entry.params.values():
        if p.read:
            yield p.source, p.read


@static(
    "ST-9",
    source="the scores of short lives, with words and vectors of questions exchanged, and texts told twice",
)
def signals_are_what_they_are_declared(exhibit: Exhibit) -> Measured:
    signals = [c for c in exhibit.entry.load().owns if isinstance(c, Signal)]
    if exhibit.entry.variety_of:
        # the scores of a printed form say nothing of its source
        varied = exhibit.registry.entry(exhibit.entry.variety_of)
        return _none(list(unlike_the_varied(exhibit.entry, varied)), f"{len(signals)} signals")
    wrong = partial(wrong_signals, life=exhibit.life), wrong_directness
    return _told(_any_of(*wrong), exhibit, f"{len(signals)} signals")


@static(
    "ST-10",
    source="short lives a thousand days later, after other events, asked in part, and by other clocks",
)
def columns_are_kept_as_they_need(exhibit: Exhibit) -> Measured:
    columns = [c for c in exhibit.entry.load().owns if isinstance(c, Column) and c.persists]
    wrong = partial(wrong_upkeep, life=exhibit.life), wrong_elsewhere
    return _told(_any_of(*wrong), exhibit, f"{len(columns)} columns")


@static("ST-11", source="a short life with a sleep every three hours, none of which is skipped")
def rest_is_rest(exhibit: Exhibit) -> Measured:
    return _told(wrong_rest, exhibit, f"{len(exhibit.entry.load().rests())} methods")


@static(
    "ST-12",
    source="short lives beside made rows that are archived or of which nothing is held, with archived rows that match, and with filtered rows of every rank",
)
def archived_and_made_rows_change_nothing(exhibit: Exhibit) -> Measured:
    if wrong := [*_meaningless_kinds(exhibit.nodes), *_kinds_unlike_the_entry(exhibit)]:
        return _none(wrong, "short lives")
    wrong_beside = partial(wrong_rows, life=exhibit.life)
    return _told(
        _any_of(wrong_beside, wrong_contexts, wrong_ranks, wrong_unheld), exhibit, "short lives"
    )


def _meaningless_kinds(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Comparisons of the kinds of rows that are no question of whether a row is of a kind: kinds have
    no order, and a comparison that holds for all or for none tells nothing apart.
    """
    for comparison, value in comparisons_of_kinds(nodes):
        said = ast.unparse(comparison)
        if not isinstance(comparison.ops[0], (ast.Eq, ast.NotEq, ast.In, ast.NotIn)):
            yield f"{said} puts kinds of rows in order"
        if value is not None and value not in KINDS.values():
            yield f"{said} is the same for all kinds of rows"


def _kinds_unlike_the_entry(exhibit: Exhibit) -> Iterator[str]:
    """Kinds of rows that the code names and the entry does not, or that the entry says to count and
    the code does not name.
    """
    entry = exhibit.entry
    coded = {
        node.attr
        for node in exhibit.nodes
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "Kind"
    }
    compared = {value for _, value in comparisons_of_kinds(exhibit.nodes)}
    coded |= {name for name, value in KINDS.items() if value in compared}
    told = f"{entry.summary} {entry.acts_on}"
    more = " ".join(f"{d.what} {d.why}" for d in entry.departures)
    reads = KIND in read_by(entry.load().hooks())
    for kind, words in WORDS_OF.items():
        if kind.name in coded and not words.search(f"{told} {more}"):
            yield f"the code tells rows of the kind {kind.name} apart, and the entry does not speak of them"
        if reads and kind.name not in coded and (said := words.search(told)):
            yield f"the entry speaks of {said.group()}, and the code does not tell them apart"


@static("ST-13", source="short lives, against what was measured with each number off by three")
def numbers_of_ours_do_what_was_measured(exhibit: Exhibit) -> Measured:
    entry = exhibit.entry
    return _none(
        list(
            number_differences(
                entry, exhibit.registry, shipped().get(entry.id), lambda: exhibit.life.memory
            )
        ),
        f"{len(own_numbers(entry))} numbers of ours",
    )


def _any_of(*functions: Wrong) -> Wrong:
    """What is wrong by any of some functions of `declarations`, in their order."""
    return lambda entry, registry: chain.from_iterable(f(entry, registry) for f in functions)


def _told(wrong: Wrong, exhibit: Exhibit, of: str) -> Measured:
    """What is wrong by a function of `declarations`; a life that ends with an error is wrong."""
    try:
        return _none(list(wrong(exhibit.entry, exhibit.registry)), of)
    except HebbariumError as error:
        return _none([f"a life ends with {error.what}"], of)


def _scaled(constant: str, nodes: Sequence[ast.AST]) -> bool:
    """Whether a time constant is read through `hours` alone, which applies the scale, or the
    module applies the scale itself.
    """
    read = {n.attr for n in nodes if isinstance(n, ast.Attribute)}
    asked = {
        a.value
        for n in nodes
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr == "hours"
        for a in n.args
        if isinstance(a, ast.Constant)
    }
    return (constant in asked and constant not in read) or "time_scale" in read


def _close(once: NDArray[Any], twice: NDArray[Any], factor: float, neutral: float) -> bool:
    """Equal to rounding, with the factor of its unit; a cell that is neutral in both holds no
    time and is skipped.
    """
    untouched = (once == neutral) & (twice == neutral)
    return bool(
        np.allclose(
            np.where(untouched, 0.0, once * factor),
            np.where(untouched, 0.0, twice),
            rtol=1e-6,
            atol=1e-9,
            equal_nan=True,
        )
    )


def _none(wrong: list[str], of: str) -> Measured:
    return Measured("; ".join(wrong) or f"all of {of}", f"all of {of}", not wrong)


def _surname(authors: str) -> str:
    return authors.partition(",")[0].strip(" {}").lower()


def _outside(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Global names that a function reads, with their values."""
    for name in sorted(_names_in(function.__code__)):
        if name in function.__globals__:
            yield name, function.__globals__[name]
        elif name not in vars(builtins) and name in function.__code__.co_freevars:
            yield name, None


def _pure(value: Any) -> bool:
    """A constant, a module of functions, another kernel, a builtin, or a function of the engine that
    reads its arguments alone.
    """
    if any(value is function for function in (best, read_only)):
        return True
    if isinstance(value, CONSTANTS):
        return True
    return isinstance(value, (ModuleType, BuiltinFunctionType, type)) or hasattr(value, "py_func")


def _power_of_time(unit: str) -> int:
    """The power of hours in the unit of a column.

    >>> [_power_of_time(u) for u in ("h", "1/h", "mV", "h^2")]
    [1, -1, 0, 2]
    """
    head, _, tail = unit.partition("/")
    count = len(re.findall(r"\bh\b", head)) * (
        int(head.partition("^")[2] or 1) if "^" in head else 1
    )
    return count - len(re.findall(r"\bh\b", tail))


def _run(exhibit: Exhibit, stretch: float) -> tuple[Engine, list[NDArray[np.float32]]]:
    """Run three sessions of a small talk, recall that may change memory, and five days of rest; all
    times `stretch` times as long.

    Returns the engine and the scores of all memories for each question, the last at the end.
    """
    entry = exhibit.entry
    own = checked_instance(exhibit.registry, entry.id, {"time_scale": entry.time_scale * stretch})
    company = (
        [] if entry.id == "dense_similarity" else [exhibit.registry.instance("dense_similarity")]
    )
    memory = Engine(
        [own, *company], hashing(16), tick_hours=stretch, consolidate_every=24.0 * stretch
    )
    start, scores = 10_000 * 24.0 + 9.0, []
    for i, text in enumerate(LINES):
        time = start + 26.0 * (i // 6) + (i % 6) / 60.0
        memory.encode(
            Event(time * stretch, text, ("Ada", "Bo")[i % 2], f"s{i // 6}", f"e{i}", dated=False)
        )
        if i % 6 == 5:
            scores.append(memory.retrieve("Where did Ada see the blue boat?", learn=True).final)
    memory.advance((start + 26.0 * (len(LINES) // 6) + 120.0) * stretch)
    scores.append(memory.retrieve("Where did Ada see the blue boat?").final)
    return memory, scores


LINES = (
    "Ada saw a blue boat in Lisbon.", "What a wonderful boat, Ada!",
    "Bo lost his keys near the old mill.", "I am sorry about the keys.",
    "We meet Cleo on Friday at 5.", "No, we meet Cleo on Saturday.", "Ada painted the blue boat.",
    "Bo found his keys at the old mill!",
    "Great news about the keys.", "Cleo sings in Oslo now.", "Ada will visit Cleo in Oslo.",
    "Bring the painting of the boat.",
    "Oslo was cold and Cleo was happy.", "Cleo loved the painting.", "Bo repaired the old mill.",
    "The mill works again, Ada saw it.",
    "Ada saw a blue boat in Lisbon.", "Yes, you told me about that boat.",
)  # fmt: skip
