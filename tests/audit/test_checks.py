"""Checks, evidence files, and specimens that follow a change."""

from __future__ import annotations

import dataclasses
import math
import sys
import types
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hebbarium.audit.checks import (
    Check,
    CheckKind,
    Measured,
    Score,
    adaptation,
    at_least,
    at_most,
    between,
    compare,
    data,
    equation,
    evidence_of,
    judge,
    limit,
    mutant,
    reference,
    signature,
)
from hebbarium.audit.specimen import NotTestable, Specimen
from hebbarium.engine.base.errors import ContractError


def module_of(name: str, source: str) -> types.ModuleType:
    module = types.ModuleType(name)
    exec(compile(source, f"{name}.py", "exec"), vars(module))
    return module


EMPTY = Specimen("empty", types.ModuleType("empty"))


def checked(function: Callable[[Any], Any], **options: Any) -> Check:
    return equation("X-1", source="definition", **options)(function)


# --- comparing ------------------------------------------------------------------------------------
finite = st.floats(-1e6, 1e6)


@given(finite, finite, st.floats(0, 10), st.floats(0, 1))
def test_scalar_comparison_is_the_usual_tolerance(
    m: float, e: float, atol: float, rtol: float
) -> None:
    assert compare((m, e), atol, rtol).passed == bool(np.isclose(m, e, rtol=rtol, atol=atol))


@pytest.mark.parametrize("outcome", [
    (math.nan, math.nan), (math.nan, 1.0), (1.0, math.nan), (np.array([1.0, np.nan]), np.array([1.0,
    np.nan])),
    Measured(math.nan, "anything", True), Measured([1.0, math.nan], "anything", True),
    at_least(math.nan, -1e9), at_most([math.nan], 1e9),
    between(math.nan, -1e9, 1e9), (np.full(50, np.nan), 0.0),
])  # fmt: skip
def test_nan_never_passes(outcome: Any) -> None:
    assert not compare(outcome, 1e9, 1.0).passed


@pytest.mark.parametrize(("outcome", "passed"), [
    ((math.inf, math.inf), True), ((1e300, math.inf), False), ((math.inf, 1.0), False), ((-math.inf,
    math.inf), False),
    ((np.array([]), np.array([])), False), ((at_least([], 0.0)), False),
    ((np.ones(3), 1.0), True), ((1.0, np.ones(3)), False), ((np.ones(3), np.ones((3, 1))), False),
    ((np.ones(2), np.ones(3)), False),
    ((["a", "b"], ["a", "b"]), True), ((["a", "b"], ["b", "a"]), False), (("x", "x"), True), (({1,
    2}, {2, 1}), True), ((3, 3), True),
    ((3, 4), False),
    ((np.array([True, False]), np.array([True, True])), False), (True, True), (np.bool_(False),
    False),
    (at_least([2.0, 3.0], 2.0), True), (at_least([2.0, 1.9], 2.0), False), (at_most(1.0, 1.0),
    True), (at_most(1.1, 1.0), False),
    (between([1.0, 2.0], 1.0, 2.0), True), (between(2.1, 1.0, 2.0), False),
])  # fmt: skip
def test_forms_a_check_may_return(outcome: Any, passed: bool) -> None:
    assert compare(outcome).passed is passed


@pytest.mark.parametrize(
    "outcome",
    [None, 1.0, (True, True), (np.bool_(False), False), (1.0, 2.0, 3.0), np.array([True])],
)
def test_a_check_that_returns_another_form_is_an_error(outcome: Any) -> None:
    with pytest.raises(TypeError):
        compare(outcome)


def test_a_long_array_is_reported_by_its_worst_value() -> None:
    measured = np.zeros((10, 10))
    measured[3, 4] = 0.25
    result = compare((measured, np.zeros((10, 10))))
    assert (result.value, result.expected, result.passed) == (0.25, 0.0, False)
    assert "[3, 4]" in result.note


# --- scores ---------------------------------------------------------------------------------------
def test_cases_are_compared_up_to_the_first_that_does_not_pass() -> None:
    begun = list[int]()

    def cases(right: float) -> Iterator[Any]:
        for number, expected in enumerate((0.0, 1.0, right, 3.0)):
            begun.append(number)
            yield [float(number)] * 2, expected

    result = compare(cases(2.0))
    assert result.passed and result.value == result.expected == (0, 0, 1, 1, 2, 2, 3, 3)
    begun.clear()
    result = compare(cases(2.5))
    assert not result.passed and result.value == (2.0, 2.0) and begun == [0, 1, 2]
    assert not compare(iter(())).passed
    bounds = compare(at_least(x, 0.5) for x in (0.5, 0.75))
    assert bounds.passed and bounds.value == (0.5, 0.75) and bounds.expected == ">= 0.5"
    assert compare(at_least(x, 0.5) for x in (0.75, 0.25, 1.0)).value == 0.25
    assert compare((word, word) for word in ("a", "b")).passed
    assert not compare((word, "a") for word in ("a", "b")).passed


def test_every_score() -> None:
    def raises(specimen: Any) -> Any:
        raise ZeroDivisionError("no denominator")

    assert judge(checked(lambda s: (1.0, 1.0)), EMPTY).score is Score.PASS
    assert judge(checked(lambda s: (1.0, 2.0)), EMPTY).score is Score.FAIL
    error = judge(checked(raises), EMPTY)
    assert error.score is Score.ERROR and "ZeroDivisionError: no denominator" in error.note
    lacking = judge(checked(lambda s: (s.activation(1.0), 1.0)), EMPTY)
    assert lacking.score is Score.NOT_TESTABLE and "activation" in lacking.note
    outside = judge(
        reference("X-2", source="a table", scope="out: needs a laboratory")(raises), EMPTY
    )
    assert outside.score is Score.NOT_APPLICABLE and "needs a laboratory" in outside.note
    needy = checked(lambda s: True, needs="engine")
    assert judge(needy, EMPTY, provides=()).score is Score.NOT_RUN
    assert (
        judge(needy, EMPTY, provides=("engine",)).score is judge(needy, EMPTY).score is Score.PASS
    )
    assert judge(checked(lambda s: None), EMPTY).score is Score.ERROR
    package = judge(checked(lambda s: (import_module("not_installed"), 1.0)), EMPTY)
    assert package.score is Score.NOT_RUN and package.note == "needs the package not_installed"


def test_floating_point_warnings_do_not_stop_a_check() -> None:
    assert (
        judge(
            checked(lambda s: (float(np.float64(-1.0) / np.float64(0.0)), -math.inf)), EMPTY
        ).score
        is Score.PASS
    )


# --- declaring ------------------------------------------------------------------------------------
def test_a_check_stays_callable_and_frozen() -> None:
    @limit("CM-6.6", source="closed form", atol=0.5, figure="decay")
    def one_trace_loses_ln2(specimen: Any) -> Any:
        return specimen + 1, 2

    assert one_trace_loses_ln2(1) == (2, 2)
    assert (one_trace_loses_ln2.title, one_trace_loses_ln2.kind, one_trace_loses_ln2.figure) == (
        "one trace loses ln2",
        CheckKind.LIMIT,
        "decay",
    )
    with pytest.raises(dataclasses.FrozenInstanceError):
        one_trace_loses_ln2.atol = 1.0  # type: ignore[misc]


def test_which_checks_gate() -> None:
    assert signature("S", source="p")(lambda s: True).gates
    assert adaptation("A", source="ours")(lambda s: True).gates
    assert not signature("S", source="p", warn=True)(lambda s: True).gates
    assert not signature("S", source="p", scope="out: no such task")(lambda s: True).gates


@limit("V-1", source="a paper", figure="decay", papers=("petrov2006computationally",))
def a_third_is_left(specimen: Any) -> Any:
    return specimen.left, 1.0 / 3.0


def test_a_check_of_a_variety_measures_its_adapter() -> None:
    """Only the specimen, the figure and the weight may differ; a printed form without a
    counterpart cannot be tested.
    """
    theirs = a_third_is_left.of_variety(lambda specimen: types.SimpleNamespace(left=specimen.lost))
    assert judge(theirs, types.SimpleNamespace(lost=1.0 / 3.0)).score is Score.PASS
    assert judge(theirs, types.SimpleNamespace(left=1.0 / 3.0, lost=0.5)).score is Score.FAIL
    assert judge(theirs, types.SimpleNamespace(left=1.0 / 3.0)).score is Score.NOT_TESTABLE
    assert (theirs.title, theirs.papers, theirs.figure, theirs.warn) == (
        a_third_is_left.title,
        a_third_is_left.papers,
        "decay",
        False,
    )
    assert dataclasses.replace(theirs, function=a_third_is_left.function) == a_third_is_left
    light = a_third_is_left.of_variety(drawn=False, decides=False)
    assert (
        light.figure is None
        and light.warn
        and not light.gates
        and judge(light, types.SimpleNamespace(left=1.0 / 3.0)).score is Score.PASS
    )


@pytest.mark.parametrize("options", [
    {"papers": "petrov2006computationally"}, {"papers": ("a1998x", "a1998x")},
    {"id": ""}, {"id": "two words"}, {"source": " "}, {"atol": -1.0}, {"rtol": math.inf},
    {"atol": math.nan},
    {"scope": "out: why"}, {"scope": "elsewhere"},
])  # fmt: skip
def test_unsound_declarations_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ContractError):
        equation(**{"id": "X-1", "source": "definition", **options})(lambda s: True)


@pytest.mark.parametrize("scope", ["out:", "out:  ", "somewhere else"])
def test_a_scope_says_why(scope: str) -> None:
    with pytest.raises(ContractError):
        data("X-1", source="a table", scope=scope, papers=("a2000x",), subjects="one")(
            lambda s: True
        )


HEAD = "from hebbarium.audit.checks import *\nfrom hebbarium.audit.checks import equation, signature, mutant\n"
GOOD = (
    HEAD
    + """
@equation("X-1", source="definition")
def first(s): return 1, 1
@signature("X-2", source="p", warn=True)
def second(s): return True
@mutant("wrong", rejected_by="X-1")
def wrong(s): return s
"""
)


def test_evidence_keeps_the_order_of_the_file() -> None:
    evidence = evidence_of(module_of("evidence_good", GOOD))
    assert [c.id for c in evidence.checks] == ["X-1", "X-2"]
    assert [m.name for m in evidence.mutants] == ["wrong"]
    assert evidence.check("X-2").title == "second"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("X-2", "X-1"), "twice"),
        (("X-2", "ST-2"), "begins with ST-, as those of the static checks do"),
        (('rejected_by="X-1"', 'rejected_by="X-9"'), "does not exist"),
        (('rejected_by="X-1"', 'rejected_by="X-2"'), "does not gate"),
        (('@mutant("wrong", rejected_by="X-1")', ""), "no mutant"),
        (("def second", "def first"), "named"),
        (
            ("@mutant", '@mutant("wrong", rejected_by="X-1")\ndef other(s): return s\n@mutant'),
            "twice",
        ),
        (('"definition")', '"definition", figure="decay")'), "names figure 'decay'"),
    ],
)
def test_invalid_evidence_is_refused(change: tuple[str, str], words: str) -> None:
    assert change[0] in GOOD
    with pytest.raises(ContractError, match=words):
        evidence_of(module_of("evidence_bad", GOOD.replace(*change)))


DRAWN = (
    GOOD.replace('"definition")', '"definition", figure="{}")')
    + """
from hebbarium.audit.figures import Curve, Picture, figure
@figure("decay", caption="It falls", source="ours")
def falling(s): return Picture("h", "1", (Curve("", [0.0, 1.0], [s, 0.0]),))
"""
)


def test_a_check_names_a_figure_of_its_own_evidence() -> None:
    assert (
        evidence_of(module_of("evidence_drawn", DRAWN.format("decay"))).check("X-1").figure
        == "decay"
    )
    with pytest.raises(ContractError, match="names figure 'rise'") as refused:
        evidence_of(module_of("evidence_amiss", DRAWN.format("rise")))
    assert "decay" in refused.value.cure


def test_a_figure_of_a_variety_has_its_own_caption_and_specimen() -> None:
    ours = evidence_of(module_of("evidence_drawn", DRAWN.format("decay"))).figures[0]
    theirs = ours.of_variety("It falls from twice as high", lambda specimen: 2.0 * specimen)
    assert (theirs.name, theirs.source, theirs.caption) == (
        ours.name,
        ours.source,
        "It falls from twice as high",
    )
    assert [list(f(3.0).curves[0].y) for f in (ours, theirs)] == [[3.0, 0.0], [6.0, 0.0]]


MEASURED = (
    GOOD.replace("equation, signature, mutant", "data, equation, mutant, rival, signature")
    + """
@data("X-3", source="table 1", papers=("a2000x",), subjects="12 rats")
def third(s): return s, 1.0
@mutant("twice as fast", rejected_by="X-3")
def fast(s): return 2.0 * s
@rival("a constant", rejected_by="X-3")
def constant(s): return 0.0
"""
)


def test_data_need_a_rival_that_fails_them() -> None:
    evidence = evidence_of(module_of("evidence_measured", MEASURED))
    assert [(m.name, m.rival) for m in evidence.mutants] == [
        ("wrong", False),
        ("twice as fast", False),
        ("a constant", True),
    ]
    with pytest.raises(ContractError, match="'X-3' has no rival"):
        evidence_of(module_of("evidence_alone", MEASURED.replace("@rival", "@mutant")))
    # a check that decides nothing needs none
    doubtful = MEASURED.replace('"12 rats")', '"12 rats", warn=True)').partition('@mutant("twice')
    assert evidence_of(module_of("evidence_doubtful", doubtful[0])).check("X-3").warn


@pytest.mark.parametrize("lacks", [{"papers": ()}, {"subjects": ""}, {"subjects": " "}])
def test_data_say_in_which_paper_and_of_whom(lacks: dict[str, Any]) -> None:
    with pytest.raises(ContractError, match="without who was measured"):
        data("X-1", source="table 1", **{"papers": ("a2000x",), "subjects": "12 rats"} | lacks)(
            bool
        )


def test_a_reference_has_no_subjects() -> None:
    assert reference("X-1", source="a model")(bool).gates
    with pytest.raises(ContractError, match="is no data"):
        reference("X-1", source="a model", subjects="12 rats")(bool)


def test_evidence_without_checks_is_refused() -> None:
    with pytest.raises(ContractError, match="no check"):
        evidence_of(types.ModuleType("hollow"))


def test_a_mutant_is_called_with_the_specimen() -> None:
    assert mutant("m", rejected_by="X-1")(lambda s: s * 2)(4) == 8


# --- specimens ------------------------------------------------------------------------------------
SAMPLE = """
import functools, math
from dataclasses import dataclass
from types import MappingProxyType
import numba
import numpy as np

RATE = 0.5
RATES = (0.5, 0.25)

@numba.njit
def loss(age): return RATE * age

@numba.njit
def strength(age): return math.exp(-loss(age))

@numba.njit
def strengths(ages, out):
    for i in range(ages.shape[0]):
        out[i] = strength(ages[i])

@numba.njit
def untouched(x): return 2.0 * x

def nested(ages): return [(lambda a: strength(a))(age) for age in ages]

def even(n): return loss(0.0) == 0.0 if n == 0 else odd(n - 1)
def odd(n): return n > 0 and even(n - 1)

def logged(function):
    @functools.wraps(function)
    def wrapper(*args): return function(*args)
    return wrapper

@logged
def wrapped(age): return loss(age) + 1.0

@functools.lru_cache(maxsize=3)
def remembered(age): return strength(age)
def recalled(age): return remembered(age)

def with_default(age, *, by=strength): return by(age)

alias = loss
TABLE = {"loss": loss, "same": untouched}
FROZEN = MappingProxyType({"inner": [strength, (loss,)]})
at_two = functools.partial(strength, 2.0)

@dataclass(frozen=True)
class Hook:
    name: str
    function: object

def declare(function):
    function.__hook__ = Hook(function.__name__, function)
    return function

class Base:
    seen = []
    table = {"loss": loss}
    def __init_subclass__(cls): Base.seen.append(cls.__name__)
    def __init__(self, age): self.age = age
    @declare
    def read(self): return strength(self.age)
    @staticmethod
    def fixed(): return strength(1.0)
    @classmethod
    def made(cls): return cls(3.0).read()
    @property
    def shown(self): return loss(self.age)
    @functools.cached_property
    def kept(self): return loss(self.age)
    def same(self): return untouched(self.age)

class Child(Base):
    def read(self): return 10.0 * super().read()
    def same(self): return super().same() + loss(self.age)

class GrandChild(Child):
    pass

@dataclass(frozen=True, slots=True)
class Slotted:
    age: float
    def read(self): return loss(self.age)

@dataclass(frozen=True, slots=True)
class SlottedChild(Slotted):
    more: float = 1.0
    def both(self): return self.read() + self.more

class Selfish:
    def read(self): return loss(1.0)
Selfish.variants = (Selfish,)

class Apart:
    def read(self): return untouched(1.0)

def _private(x): return x + 1.0
def public(x): return _private(x)
"""


@pytest.fixture(scope="module")
def sample() -> Iterator[types.ModuleType]:
    module = types.ModuleType("sample_mechanism")
    sys.modules[module.__name__] = module  # dataclasses look their module up
    exec(compile(SAMPLE, "sample_mechanism.py", "exec"), vars(module))
    yield module
    del sys.modules[module.__name__]


@pytest.fixture
def whole(sample: types.ModuleType) -> Specimen:
    return Specimen("sample", sample)


@pytest.fixture
def changed(whole: Specimen) -> Specimen:
    return whole.replacing("loss", lambda age: 3.0 * age + 1.0)


def test_a_specimen_gives_public_names_only(whole: Specimen, sample: types.ModuleType) -> None:
    assert whole.loss is sample.loss and whole.Base is sample.Base and whole.RATE == 0.5
    assert "loss" in dir(whole) and "_private" not in dir(whole)
    with pytest.raises(AttributeError):
        _ = whole._private
    with pytest.raises(NotTestable, match="missing"):
        _ = whole.missing
    assert not hasattr(whole, "missing")


def test_callers_are_rebuilt_at_any_depth(changed: Specimen) -> None:
    lost = math.exp(-7.0)  # exp(-(3 * 2 + 1))
    out = np.empty(1)
    changed.strengths(np.array([2.0]), out)
    assert changed.strength(2.0) == out[0] == pytest.approx(lost, rel=1e-15)
    assert changed.nested([2.0]) == [pytest.approx(lost)]
    assert changed.wrapped(2.0) == 8.0
    assert changed.with_default(2.0) == pytest.approx(lost)
    assert changed.alias(2.0) == changed.loss(2.0) == 7.0
    # even and odd call each other, and loss(0) is 1 now
    assert changed.even(2) is False


def test_tables_of_functions_are_rebuilt(changed: Specimen, sample: types.ModuleType) -> None:
    assert changed.TABLE["loss"](2.0) == 7.0 and changed.TABLE["same"] is sample.untouched
    assert (
        changed.FROZEN["inner"][0](2.0) == pytest.approx(math.exp(-7.0))
        and changed.FROZEN["inner"][1][0](2.0) == 7.0
    )
    assert changed.at_two() == pytest.approx(math.exp(-7.0))


def test_classes_are_rebuilt(changed: Specimen, sample: types.ModuleType) -> None:
    base, child, grandchild = changed.Base(2.0), changed.Child(2.0), changed.GrandChild(2.0)
    lost = pytest.approx(math.exp(-7.0))
    assert base.read() == base.__class__.read.__hook__.function(base) == lost
    assert child.read() == grandchild.read() == pytest.approx(10.0 * math.exp(-7.0))
    assert changed.Base.fixed() == changed.Child.fixed() == pytest.approx(math.exp(-4.0))
    assert changed.Child.made() == pytest.approx(10.0 * math.exp(-10.0))
    assert base.shown == base.kept == changed.Base.table["loss"](2.0) == 7.0
    assert base.same() == 4.0 and child.same() == grandchild.same() == 4.0 + 7.0
    assert (
        isinstance(child, sample.Child)
        and isinstance(child, changed.Base)
        and changed.Child.__name__ == "Child"
    )
    assert changed.Slotted(2.0).read() == 7.0 and changed.SlottedChild(2.0).both() == 8.0
    assert not hasattr(changed.SlottedChild(2.0), "__dict__")
    assert changed.Selfish.variants[0]().read() == 4.0


def test_what_does_not_depend_stays_the_same_object(
    changed: Specimen, sample: types.ModuleType
) -> None:
    assert (
        changed.untouched is sample.untouched
        and changed.Apart is sample.Apart
        and changed.RATES is sample.RATES
    )


def test_the_original_is_untouched(
    changed: Specimen, whole: Specimen, sample: types.ModuleType
) -> None:
    assert changed.Base(2.0).read() != sample.Base(2.0).read() == pytest.approx(math.exp(-1.0))
    assert whole.strength(2.0) == pytest.approx(math.exp(-1.0)) and whole.Child(
        2.0
    ).read() == pytest.approx(10.0 * math.exp(-1.0))
    assert sample.TABLE["loss"] is sample.loss


def test_a_memo_is_emptied_and_kept(changed: Specimen, whole: Specimen) -> None:
    before = whole.recalled(1.0)
    assert changed.recalled(1.0) == changed.strength(1.0) != before and whole.recalled(
        1.0
    ) == before == pytest.approx(math.exp(-0.5))
    assert changed.recalled(1.0) and changed.remembered.cache_info() == (1, 1, 3, 1)


def test_a_constant_can_be_replaced(whole: Specimen) -> None:
    changed = whole.replacing("RATE", 2.0)
    assert (
        changed.RATE == 2.0
        and changed.loss(3.0) == 6.0
        and changed.Base(1.0).read() == pytest.approx(math.exp(-2.0))
    )
    # an equal number elsewhere is another number
    assert changed.RATES == (0.5, 0.25)


def test_private_names_can_be_replaced(whole: Specimen) -> None:
    assert whole.replacing("_private", lambda x: -x).public(3.0) == -3.0


def test_several_replacements_act_together(whole: Specimen) -> None:
    both = whole.replacing("RATE", 2.0).replacing("untouched", lambda x: 0.0)
    assert both.loss(1.0) == 2.0 and both.Apart().read() == 0.0
    assert whole.replacing("loss", lambda a: 0.0).replacing("loss", lambda a: 1.0).strength(
        9.0
    ) == pytest.approx(math.exp(-1.0))


def test_methods_of_a_class_can_be_overridden_also_for_its_subclasses(whole: Specimen) -> None:
    changed = whole.overriding("Base", read=lambda self: 3.0 * whole.Base.read(self))
    assert changed.Base(2.0).read() == pytest.approx(3.0 * math.exp(-1.0)) and changed.Child(
        2.0
    ).read() == pytest.approx(30.0 * math.exp(-1.0))
    assert issubclass(changed.Base, whole.Base) and whole.Base(2.0).read() == pytest.approx(
        math.exp(-1.0)
    )


def test_a_replacement_may_use_the_original(whole: Specimen) -> None:
    assert whole.replacing("strength", lambda age: 1.0 - whole.strength(age)).Base(
        2.0
    ).read() == pytest.approx(1.0 - math.exp(-1.0))


@pytest.mark.parametrize(("name", "value"), [("losss", abs), ("__name__", "x"), ("loss", 3.0)])
def test_replacing_refuses(whole: Specimen, name: str, value: Any) -> None:
    with pytest.raises(ContractError):
        whole.replacing(name, value)
