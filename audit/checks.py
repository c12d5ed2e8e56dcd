"""Evidence: small measured comparisons of a specimen with its source, and mutants that prove the
comparisons can fail.

An evidence file holds decorated functions; each takes a specimen and returns what it measured:

    (measured, expected)            compared with the check's tolerance; numbers, arrays or anything
                                    with ==
    True or False                   a signature is there or not
    Measured, at_least(...), ...    one-sided bounds

or yields pairs, or bounds, case by case: the first case that does not pass is the last that is run,
so that a mutant is run on few.

    @equation("CM-6.2", source="definition; Petrov 2006", atol=1e-9)
    def keeping_every_use_is_exact(specimen): ...

    @data("TE-2", source="Experiment 1, table 1", papers=("key",), subjects="120 students")
    def shipped_curves_are_near_the_measured_cells(specimen): ...      # reads plug_in(specimen)

    @rival("an exponential, fitted to the same cells", rejected_by="TE-2")
    def exponential(specimen): ...

    @mutant("exponential forgetting", rejected_by="CM-6.2")
    def exponential(specimen): return specimen.replacing("activation", other)

A check that cannot finish gets a score of its own; it never raises.
"""

from __future__ import annotations

import functools
import inspect
import math
import traceback
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from pathlib import Path
from time import perf_counter
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..engine.base.errors import ContractError, HebbariumError
from ..engine.catalogue.packages import words_of
from .figures import Figure
from .paper_numbers import PaperNumber
from .specimen import NotTestable

RTOL, ATOL = 1e-9, 1e-12  # identities in float64
SHOWN = 12  # an array longer than this is reported by its worst element
STATIC = "ST-"  # with which ids of the static checks begin, and no others
ROOM = Path(__file__).parent


class CheckKind(StrEnum):
    EQUATION = "equation"  # an identity of the source's equation
    LIMIT = "limit"  # a limiting case
    DATA = "data"  # a measurement of people or animals
    REFERENCE = "reference"  # a value of another model, or of a text with its answer by hand
    SIGNATURE = "signature"  # a qualitative pattern with a number
    # a property of the code and its label; the same checks for every mechanism
    STATIC = "static"
    # a property of our adaptation; no evidence of faithfulness to a paper
    ADAPTATION = "adaptation"


class Score(StrEnum):
    PASS = "PASS"
    FAIL = "FAIL"
    ERROR = "ERROR"  # the check raised
    NOT_TESTABLE = "NOT_TESTABLE"  # the specimen lacks what the check needs
    NOT_APPLICABLE = "NOT_APPLICABLE"  # declared out of scope
    NOT_RUN = "NOT_RUN"  # what the check needs was not provided

    @property
    def complete(self) -> bool:
        return self in (Score.PASS, Score.FAIL)


@dataclass(frozen=True, slots=True)
class Measured:
    """A finished comparison, where a tolerance is not enough.  A NaN in `value` never passes."""

    value: Any
    expected: Any
    passed: bool
    note: str = ""


def at_least(value: ArrayLike, bound: float) -> Measured:
    """Every value is >= bound.

    >>> at_least([0.94, 0.99], 0.93).passed, at_least(float("nan"), 0.0).passed
    (True, False)
    """
    return Measured(value, f">= {bound:g}", _all(np.asarray(value) >= bound))


def at_most(value: ArrayLike, bound: float) -> Measured:
    """Every value is <= bound."""
    return Measured(value, f"<= {bound:g}", _all(np.asarray(value) <= bound))


def between(value: ArrayLike, low: float, high: float) -> Measured:
    """Every value is in [low, high]."""
    x = np.asarray(value)
    return Measured(value, f"in [{low:g}, {high:g}]", _all((x >= low) & (x <= high)))


def _all(truth: Any) -> bool:
    """Whether every element of a non-empty array is true; False for an empty one."""
    return bool(np.size(truth) and np.all(truth))


# --- what an evidence file holds ------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Check:
    """One comparison; calling it calls its function.

    atol, rtol  |measured - expected| <= atol + rtol |expected|
    figure      name of the figure of its evidence that shows it
    warn        the source's number is uncertain: reported, never decides a rating
    scope       "out: why" for published data or a signature that the mechanism declares out of its
                scope
    needs       what must be provided for it to run, such as "engine"
    papers      BibTeX keys of the papers that state what is compared, each of them alone; empty:
                mathematics, a definition or a form of ours
    subjects    of data: who was measured and how many, such as "120 students"
    """

    id: str
    kind: CheckKind
    source: str
    function: Callable[[Any], Any]
    atol: float = ATOL
    rtol: float = RTOL
    figure: str | None = None
    warn: bool = False
    scope: str = ""
    needs: str = ""
    papers: tuple[str, ...] = ()
    subjects: str = ""

    def __post_init__(self) -> None:
        where, cure = (
            f"check {self.id!r} of {self.function.__module__}",
            "see audit/checks.py for the form of a check",
        )
        if not self.id or self.id.split() != [self.id]:
            raise ContractError("has no id of one word", where=where, cure=cure)
        if not self.source.strip():
            raise ContractError(
                "names no source", where=where, cure="name a paper, a closed form or the definition"
            )
        if not all(math.isfinite(t) and t >= 0 for t in (self.atol, self.rtol)):
            raise ContractError(
                f"has tolerances atol={self.atol}, rtol={self.rtol}",
                where=where,
                cure="give finite numbers, 0 or more",
            )
        if self.kind is CheckKind.DATA and not (self.papers and self.subjects.strip()):
            raise ContractError(
                "is data without a paper, or without who was measured and how many",
                where=where,
                cure='name papers=("key",) and subjects="120 students"; values of models and texts '
                "are a reference",
            )
        if self.subjects and self.kind is not CheckKind.DATA:
            raise ContractError(
                f"is no data and has subjects={self.subjects!r}",
                where=where,
                cure="use @data for measurements of people or animals",
            )
        if self.scope and self.kind not in (
            CheckKind.DATA,
            CheckKind.REFERENCE,
            CheckKind.SIGNATURE,
        ):
            raise ContractError(
                f"declares an {self.kind} out of scope",
                where=where,
                cure="only data, references and signatures may be; claim less instead",
            )
        if self.scope and not (
            self.scope.startswith("out:") and self.scope.removeprefix("out:").strip()
        ):
            raise ContractError(f"has scope={self.scope!r}", where=where, cure='write "out: why"')
        if not isinstance(self.papers, tuple) or len(set(self.papers)) < len(self.papers):
            raise ContractError(
                f"has papers={self.papers!r}",
                where=where,
                cure="give a tuple of keys of references.bib, each once",
            )

    def __call__(self, specimen: Any) -> Any:
        return self.function(specimen)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the name and module in place of the function: another process only reads
        results.
        """
        return Check, (
            self.id,
            self.kind,
            self.source,
            _Elsewhere(self.function.__name__, self.function.__module__),
            *(getattr(self, f.name) for f in fields(self)[4:]),
        )

    def of_variety(
        self,
        standing_in: Callable[[Any], Any] = lambda specimen: specimen,
        *,
        drawn: bool = True,
        decides: bool = True,
    ) -> Check:
        """The same check of another form: it measures `standing_in(specimen)`, which gives that
        form the names of ours.

        drawn    whether the variety's evidence has the figure that the check names
        decides  whether its score can decide the variety's rating; False makes it a warning
        """

        @functools.wraps(self.function)
        def function(specimen: Any) -> Any:
            return self.function(standing_in(specimen))

        return replace(
            self,
            function=function,
            figure=self.figure if drawn else None,
            warn=self.warn or not decides,
        )

    @property
    def title(self) -> str:
        return self.function.__name__.replace("_", " ").strip()

    @property
    def gates(self) -> bool:
        """Whether its score can decide a rating."""
        return not self.warn and not self.scope


class _Elsewhere:
    """In place of a function of another process."""

    def __init__(self, name: str, module: str) -> None:
        self.__name__, self.__module__ = name, module

    def __call__(self, specimen: Any) -> Any:
        raise ContractError(
            f"check {self.__name__!r} was run in another process",
            where=self.__module__,
            cure="run the check of the evidence module",
        )


@dataclass(frozen=True, slots=True)
class Mutant:
    """A wrong version of the mechanism, and the id of the check that must reject it.

    rival  whether it is a simpler account of the same data, at its best: a constant, a line, or the
           simplest competitor
    """

    name: str
    rejected_by: str
    function: Callable[[Any], Any]
    rival: bool = False

    def __call__(self, specimen: Any) -> Any:
        return self.function(specimen)


@dataclass(frozen=True, slots=True)
class Decorator:
    """`@equation(id, source=..., ...)` and the other decorators; the options are those of Check."""

    kind: CheckKind

    def __call__(
        self,
        id: str,
        *,
        source: str,
        atol: float = ATOL,
        rtol: float = RTOL,
        figure: str | None = None,
        warn: bool = False,
        scope: str = "",
        needs: str = "",
        papers: tuple[str, ...] = (),
        subjects: str = "",
    ) -> Callable[[Callable[[Any], Any]], Check]:
        def declare(function: Callable[[Any], Any]) -> Check:
            _refuse_second(function, Check)
            return Check(
                id,
                self.kind,
                source,
                function,
                atol,
                rtol,
                figure,
                warn,
                scope,
                needs,
                papers,
                subjects,
            )

        return declare


equation, limit, data, reference, signature, adaptation = (
    Decorator(k)
    for k in (
        CheckKind.EQUATION,
        CheckKind.LIMIT,
        CheckKind.DATA,
        CheckKind.REFERENCE,
        CheckKind.SIGNATURE,
        CheckKind.ADAPTATION,
    )
)


def mutant(name: str, *, rejected_by: str) -> Callable[[Callable[[Any], Any]], Mutant]:
    """Declare a mutant: a function from the specimen to a changed one."""

    def declare(function: Callable[[Any], Any]) -> Mutant:
        _refuse_second(function, Mutant)
        return Mutant(name, rejected_by, function)

    return declare


def rival(name: str, *, rejected_by: str) -> Callable[[Callable[[Any], Any]], Mutant]:
    """Declare a rival: a simpler account of the data that its check must reject, at its best.  A
    check of data that no rival fails decides nothing.
    """

    def declare(function: Callable[[Any], Any]) -> Mutant:
        _refuse_second(function, Mutant)
        return Mutant(name, rejected_by, function, rival=True)

    return declare


def _refuse_second(function: Callable[[Any], Any], kind: type[Check] | type[Mutant]) -> None:
    """Raises ContractError for a second function of the same name, which would silently replace
    the first.
    """
    before = getattr(function, "__globals__", {}).get(function.__name__)
    if (
        isinstance(before, (Check, Mutant))
        and function.__qualname__ == function.__name__
        and before.function.__code__.co_firstlineno != function.__code__.co_firstlineno
    ):
        raise ContractError(
            f"two functions are named {function.__name__!r}",
            where=function.__module__,
            cure=f"rename one {kind.__name__.lower()}",
        )


@dataclass(frozen=True, slots=True)
class Evidence:
    """Checks, mutants and figures of one evidence file, in its order, and the numbers of papers
    that it states.
    """

    name: str
    checks: tuple[Check, ...]
    mutants: tuple[Mutant, ...]
    figures: tuple[Figure, ...] = ()
    numbers: tuple[PaperNumber, ...] = ()

    def check(self, id: str) -> Check:
        return next(c for c in self.checks if c.id == id)


def evidence_of(module: ModuleType) -> Evidence:
    """The evidence in a module.

    Raises ContractError for an id or name given twice, for the id of a static check, for no checks
    or no mutants, for a mutant whose check is absent or does not gate, for data without a rival,
    for a check whose figure is absent, and for NUMBERS that are no tuple of paper_number.
    """
    declared = list(
        {id(v): v for v in vars(module).values() if isinstance(v, (Check, Mutant, Figure))}.values()
    )
    checks = tuple(v for v in declared if isinstance(v, Check))
    mutants = tuple(v for v in declared if isinstance(v, Mutant))
    figures = tuple(v for v in declared if isinstance(v, Figure))
    where = module.__name__
    numbers = getattr(module, "NUMBERS", ())
    if not (isinstance(numbers, tuple) and all(isinstance(n, PaperNumber) for n in numbers)):
        raise ContractError(
            "NUMBERS is no tuple of numbers of papers",
            where=where,
            cure="write NUMBERS = (paper_number(...), ...)",
        )
    for what, names in (
        ("check id", [c.id for c in checks]),
        ("mutant", [m.name for m in mutants]),
        ("figure", [f.name for f in figures]),
        ("number", [n.parameter for n in numbers]),
    ):
        if twice := sorted({n for n in names if names.count(n) > 1}):
            raise ContractError(
                f"{what} {twice[0]!r} is given twice", where=where, cure="give each its own"
            )
    if static := next((c.id for c in checks if c.id.startswith(STATIC)), None):
        raise ContractError(
            f"check id {static!r} begins with {STATIC}, as those of the static checks do",
            where=where,
            cure="begin it with other letters",
        )
    if not checks:
        raise ContractError(
            "holds no check",
            where=where,
            cure="decorate functions with @equation, @limit, @data, @reference, @signature or @adaptation",
        )
    if not mutants:
        raise ContractError(
            "holds no mutant, so nothing proves that its checks can fail",
            where=where,
            cure="add a @mutant",
        )
    gating = {c.id: c.gates for c in checks}
    for mutant in mutants:
        if mutant.rejected_by not in gating:
            raise ContractError(
                f"mutant {mutant.name!r} names check {mutant.rejected_by!r}, which does not exist",
                where=where,
                cure=f"choose from {', '.join(gating)}",
            )
        if not gating[mutant.rejected_by]:
            raise ContractError(
                f"mutant {mutant.name!r} is rejected by {mutant.rejected_by!r}, which does not gate",
                where=where,
                cure="name a check that gates",
            )
    decided = {mutant.rejected_by for mutant in mutants if mutant.rival}
    for check in checks:
        # one of the form that a variety varies has its rivals there
        if inspect.unwrap(check.function).__module__ != where:
            continue
        if check.kind is CheckKind.DATA and check.gates and check.id not in decided:
            raise ContractError(
                f"data {check.id!r} has no rival, so nothing proves that the data decide",
                where=where,
                cure="add a @rival: a constant, a line or the simplest competitor that fails it",
            )
    drawn = [f.name for f in figures]
    for check in checks:
        if check.figure is not None and check.figure not in drawn:
            raise ContractError(
                f"check {check.id!r} names figure {check.figure!r}, which does not exist",
                where=where,
                cure=f"choose from {', '.join(drawn)}"
                if drawn
                else "declare it with @figure, or name none",
            )
    return Evidence(where, checks, mutants, figures, numbers)


# --- judging --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class CheckResult:
    """Score of a check, what was measured beside what was expected, and why it is incomplete or
    failed.
    """

    check: Check
    score: Score
    measured: Any = None
    expected: Any = None
    note: str = ""
    seconds: float = field(default=0.0, compare=False)


def judge(check: Check, specimen: Any, provides: Collection[str] | None = None) -> CheckResult:
    """Run one check on a specimen (a static one on an exhibit).  Never raises for what the check
    does.

    provides  what is provided for checks with `needs`; None: everything
    """
    if check.scope:
        return CheckResult(
            check,
            Score.NOT_APPLICABLE,
            note=f"out of scope: {check.scope.removeprefix('out:').strip()}",
        )
    if check.needs and provides is not None and check.needs not in provides:
        return CheckResult(check, Score.NOT_RUN, note=f"needs {check.needs}")
    start = perf_counter()
    score, result = _finished(check, specimen)
    return CheckResult(
        check, score, result.value, result.expected, result.note, perf_counter() - start
    )


def _finished(check: Check, specimen: Any) -> tuple[Score, Measured]:
    """The score of a check, and what it measured, or why it did not finish."""
    try:
        # as in compiled kernels; a NaN is caught by the comparison
        with np.errstate(all="ignore"):
            result = compare(check(specimen), check.atol, check.rtol)
        return Score.PASS if result.passed else Score.FAIL, result
    except NotTestable as error:
        score, note = Score.NOT_TESTABLE, str(error.what)
    except ModuleNotFoundError as error:
        score, note = Score.NOT_RUN, f"needs the package {error.name}"
    except Exception as error:
        score, note = Score.ERROR, described(error)
        # the adapter of a variety has no attribute for what its form lacks
        if isinstance(error, AttributeError) and isinstance(error.obj, SimpleNamespace):
            score, note = Score.NOT_TESTABLE, f"the form has no counterpart of {error.name!r}"
    return score, Measured(None, None, False, note)


def described(error: Exception) -> str:
    """An exception in one paragraph, with the innermost line outside this package."""
    frames = [
        f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).parent != ROOM
    ]
    place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error.what if isinstance(error, HebbariumError) else words_of(error)}{place}"


def compare(outcome: Any, atol: float = ATOL, rtol: float = RTOL) -> Measured:
    """What a check returned, as plain values with a verdict.  O(size).  Raises TypeError for any
    other form.

    >>> compare((1.0 + 1e-10, 1.0)).passed, compare((float("nan"), float("nan"))).passed, compare(([], [])).passed
    (True, False, False)
    """
    if isinstance(outcome, Iterator):
        return _compare_cases(outcome, atol, rtol)
    if isinstance(outcome, (bool, np.bool_)):
        return Measured(bool(outcome), True, bool(outcome))
    if isinstance(outcome, Measured):
        hole = _has_nan(outcome.value)
        return Measured(
            _shown(outcome.value),
            _shown(outcome.expected),
            bool(outcome.passed) and not hole,
            outcome.note or ("NaN" if hole else ""),
        )
    if not (isinstance(outcome, tuple) and len(outcome) == 2):
        raise TypeError(
            f"a check returns (measured, expected), a bool or a Measured, not {type(outcome).__name__}"
        )
    measured, expected = outcome
    if isinstance(measured, (bool, np.bool_)) and isinstance(expected, (bool, np.bool_)):
        raise TypeError(
            "a pair of bools is ambiguous (two conditions, or measured and expected?): join conditions with `and`"
        )
    m, e = np.asarray(measured), np.asarray(expected)
    if not m.size:
        return Measured(_shown(measured), _shown(expected), False, "nothing was measured")
    if e.shape not in ((), m.shape):
        return Measured(
            _shown(measured),
            _shown(expected),
            False,
            f"measured shape {m.shape}, expected {e.shape}",
        )
    if not (m.dtype.kind in "biufc" and e.dtype.kind in "biufc"):
        return Measured(_shown(measured), _shown(expected), _all(m == e))
    m, e = _number(m), np.broadcast_to(_number(e), m.shape)
    with np.errstate(invalid="ignore"):  # infinity less infinity
        # == lets infinities agree; NaN agrees with nothing
        far = np.where(m == e, 0.0, np.abs(m - e))
        close = (m == e) | (np.isfinite(e) & (far <= atol + rtol * np.abs(e)))
        off = (
            "holds NaN"
            if np.isnan(far).any()
            else f"off by {far.max():.2g}"
            if far.any()
            else "equal"
        )
        if m.size <= SHOWN:
            return Measured(_shown(m), _shown(e), _all(close), "" if off == "equal" else off)
        excess = np.where(m == e, -np.inf, np.nan_to_num(far - rtol * np.abs(e), nan=np.inf))
    at = tuple(int(i) for i in np.unravel_index(int(np.argmax(excess)), m.shape))
    return Measured(
        m[at].item(), e[at].item(), _all(close), f"worst of {m.size} values, at {list(at)}; {off}"
    )


def _compare_cases(cases: Iterator[Any], atol: float, rtol: float) -> Measured:
    """The first case that does not pass; all cases, one after the other, if all pass."""
    passed = []
    for case in cases:
        result = compare(case, atol, rtol)
        if not result.passed:
            return result
        passed.append(case)
    if not passed:
        return compare(([], []))
    if isinstance(passed[0], Measured):
        return compare(replace(passed[0], value=[case.value for case in passed]))
    pairs = [(np.asarray(measured), expected) for measured, expected in passed]
    return compare(
        (
            np.concatenate([m.ravel() for m, _ in pairs]),
            np.concatenate([np.broadcast_to(e, m.shape).ravel() for m, e in pairs]),
        ),
        atol,
        rtol,
    )


def _number(x: NDArray[Any]) -> NDArray[Any]:
    return x if x.dtype.kind == "c" else x.astype(np.float64)


def _has_nan(value: Any) -> bool:
    x = np.asarray(value)
    return bool(x.dtype.kind in "fc" and np.isnan(x).any())


def _shown(value: Any) -> Any:
    """A value as plain, immutable Python for reports; long arrays by their range."""
    if isinstance(value, (bool, int, float, str)) or value is None:
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (list, tuple, np.ndarray)):
        x = np.asarray(value)
        if x.size > SHOWN and x.dtype.kind in "biuf":
            return f"{x.size} values from {x.min():.6g} to {x.max():.6g}"
        if x.size <= SHOWN and x.dtype.kind in "biufcU":
            return _frozen(x.tolist())
    return str(value) if len(str(value)) <= 200 else f"{str(value)[:200]}..."


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
