"""Mutants made by machine: the changes, the modules that hold them, and their fates on made-up
mechanisms.
"""

from __future__ import annotations

import ast
import gc
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from hebbarium.audit.checks import Check, CheckKind, CheckResult, Score
from hebbarium.audit.mutation import building, numbers, shares, trial
from hebbarium.audit.mutation.building import Original
from hebbarium.audit.mutation.generated import (
    LIST,
    GeneratedResult,
    Judged,
    equivalent,
    generated,
    generated_all,
)
from hebbarium.audit.mutation.sites import GeneratedMutant, Group, Site, difference, sites
from hebbarium.audit.mutation.sites import MutantKind as SiteKind
from hebbarium.audit.mutation.trial import GeneratedFate, Step, tried
from hebbarium.cli import app
from hebbarium.engine.base.errors import ContractError, InputError
from hebbarium.engine.catalogue.packages import Package
from hebbarium.engine.catalogue.registry import Registry

pytestmark = pytest.mark.skipif(
    not hasattr(os, "fork"), reason="mutants are judged in forked processes"
)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "FLOOR", 1.0)


# --- changes of the source ------------------------------------------------------------------------
def changes(source: str, plug_in: str = "") -> list[Site]:
    return sites("m", ast.parse(dedent(source)).body, {plug_in})


def after(body: str, *, kind: str = "") -> set[str]:
    """What one statement of a function can become."""
    found = changes(f"def f(a, b, view, p, self):\n    {body}")
    return {s.mutant.change.partition("  ->  ")[2] for s in found if kind in ("", s.mutant.kind)}


@pytest.mark.parametrize(
    ("kind", "body", "expected"),
    [
        ("operator", "return a + b", {"return a - b"}),
        ("operator", "return a / b", {"return a * b"}),
        ("operator", "return a ** b", {"return a * b"}),
        ("operator", "return a // b", {"return a * b"}),
        ("operator", "return a % b", {"return a // b"}),
        ("operator", "return -a", {"return a"}),
        ("operator", "a -= b", {"a += b"}),
        ("comparison", "return a < b", {"return a <= b", "return a >= b"}),
        ("comparison", "return a == b", {"return a != b"}),
        (
            "comparison",
            "return 0 < a <= b",
            {"return 0 <= a <= b", "return 0 >= a <= b", "return 0 < a < b", "return 0 < a > b"},
        ),
        ("logic", "return a and b", {"return a or b"}),
        ("logic", "return not a", {"return a"}),
        ("constant", "return 0", {"return 1"}),
        ("constant", "return 3.0", {"return 6.0", "return 1.5", "return -3.0"}),
        ("constant", "return -2", {"return -4", "return -1", "return 2"}),
        ("constant", "return True", {"return False"}),
        ("constant", "return a.sum(axis=0)", {"return a.sum(axis=1)"}),
        ("arguments", "g(a, b, 1)", {"g(b, a, 1)", "g(a, 1, b)"}),
        ("arguments", "return max(a, b) + hypot(a, b) + g(a, a)", set()),
        ("index", "return a[b]", {"return a[b + 1]", "return a[b - 1]"}),
        (
            "index",
            "return a[0, b]",
            {"return a[1, b]", "return a[-1, b]", "return a[0, b + 1]", "return a[0, b - 1]"},
        ),
        ("index", "return a[:b]", {"return a[:b + 1]", "return a[:b - 1]"}),
        (
            "index",
            "return a.shape[0], a['x'], a[~b], a[b > 0]",
            {"return (a.shape[1], a['x'], a[~b], a[b > 0])"},
        ),
        ("term", "return a + b", {"return a", "return b"}),
        ("term", "return a - b", {"return a", "return -b"}),
        ("factor", "return a * b", {"return a", "return b"}),
        ("factor", "return a / b", {"return a"}),
        ("assignment", "a[b] += 1", {"a[b] = 1"}),
        ("assignment", "a[b] = 1", {"a[b] += 1"}),
        ("statement", "a[b] = 1", {"pass"}),
        ("statement", "a[0], b[0] = 1, 2", {"pass"}),
        ("statement", "g(a)", {"pass"}),
        ("statement", "a = b", set()),
        ("condition", "while a < b: pass", {"while True:", "while False:"}),
        ("condition", "return 1 if a else b", {"return 1", "return b"}),
        (
            "condition",
            "return [x for x in a if x]",
            {"return [x for x in a if True]", "return [x for x in a if False]"},
        ),
        ("extreme", "return max(a, b)", {"return min(a, b)"}),
        (
            "extreme",
            "return a.argmin(), np.minimum(a, b)",
            {"return (a.argmax(), np.minimum(a, b))", "return (a.argmin(), np.maximum(a, b))"},
        ),
        (
            "attribute",
            "return view.x - view.y",
            {"return view.y - view.y", "return view.x - view.x"},
        ),
        (
            "attribute",
            "return self.hours('x') - self.hours('y')",
            {f"return self.hours('{x}') - self.hours('{x}')" for x in "xy"},
        ),
        ("unit", "return self.hours('x')", {"return self.params.x"}),
    ],
)
def test_what_a_statement_can_become(kind: str, body: str, expected: set[str]) -> None:
    assert after(body, kind=kind) == expected


@pytest.mark.parametrize(
    "body",
    [
        '"""Two plus 2."""',
        "raise ValueError(f'{a + 1}')",
        "assert a > 1",
        "x: Array[1] = a",
        "global y",
        "return a",
        "return 'x' + b",
        "return f'{a + 1}'",
    ],
)
def test_what_is_not_changed(body: str) -> None:
    assert after(body) == set()


def test_declarations_are_not_changed() -> None:
    assert (
        changes("""
        @hook(Phase.ENCODE, reads=(A, B), adds=(), sets=(C[1],))
        def f(a: Array[0], b: int = 1 + 1) -> Array[2]:
            return a
    """)
        == []
    )


def test_two_changes_to_the_same_source_are_one_mutant() -> None:
    assert sorted(s.mutant.change for s in changes("def f(a): return a * a")) == [
        "return a * a  ->  return a",
        "return a * a  ->  return a / a",
    ]


def test_groups_are_functions_constants_and_hooks() -> None:
    found = changes(
        """
        LIMIT = 3.0
        NAMES = Column("x", 1)
        def f(a): return a + LIMIT
        class Plug:
            def hook(self, a): return -a
        class Other:
            def method(self, a): return -a
    """,
        "Plug",
    )
    assert {(s.mutant.function, str(s.mutant.group)) for s in found} == {
        ("LIMIT", "kernels"),
        ("f", "kernels"),
        ("Plug.hook", "hooks"),
        ("Other.method", "kernels"),
    }


def test_an_id_does_not_depend_on_lines_or_on_other_functions() -> None:
    def output(source: str) -> list[tuple[str, str]]:
        return [(s.mutant.id, s.mutant.change) for s in changes(source) if s.mutant.function == "f"]

    short = output("def f(a, b):\n    return a + b * 2\n")
    before = '"""Text."""\nX = 2\n\ndef g(a): return a - 1\n\n\n'
    assert short == output(
        f'{before}def f(a, b):\n    """Say 1."""\n    # more\n    return (a +\n            b * 2)\n'
    )
    assert short[0][0] == "m/f/operator/1" and len({id for id, _ in short}) == len(short)


def test_a_long_line_is_cut_around_the_change() -> None:
    line = "x = " + " + ".join(f"variable_{i}" for i in range(40))
    shown = difference(line, line.replace("variable_20 +", "variable_20 -"))
    assert (
        len(shown) < 180
        and "variable_20 + variable_21" in shown
        and "variable_20 - variable_21" in shown
    )
    assert all(
        difference(line, other).count("->") == 1 for other in (line[1:], line + "y", "y", "")
    )


# --- made-up mechanisms ---------------------------------------------------------------------------
MODULE = """
from __future__ import annotations
from dataclasses import dataclass
from typing import Any, Literal
import numpy as np
from hebbarium.engine.contract.columns import Column, Phase, Scope
from hebbarium.engine.contract.hooks import Mechanism, Params, hook
from hebbarium.engine.base.numerics import kernel
from hebbarium.engine.contract.vocabulary import NOW, ROW

MET = Column("met", np.float64, Scope.MEMORY, "h", 0.0, "when it was met")
OFFSET = 0.5


@kernel
def half(x: float) -> float:
    return x / 2.0


@kernel
def shifted(x: float) -> float:
    return half(x) + OFFSET


def counted(n: int) -> int:
    while n > 0:
        n -= 1
    return n


def unused(x: float) -> float:
    return x * 3.0


@dataclass(frozen=True, slots=True)
class MadeUpParams(Params):
    tau: float
    share: float
    count: int
    form: Literal["a", "b"]


class MadeUp(Mechanism[MadeUpParams]):
    owns = (MET,)

    @hook(Phase.ENCODE, reads=(ROW, NOW), adds=(), sets=(MET,))
    def meet(self, view: Any, incoming: Any) -> None:
        view.met[view.row] = view.now * self.hours("tau")
"""
REGISTRY = """
made_up:
  class: PACKAGE.made_up:MadeUp
  home: encoding
  summary: "made up"
  acts_on: "nothing"
  papers: [hebb1949organization]
  claims: HONEST
  params:
    tau: {value: 2.0, unit: d, low: 0.0, high: 100.0, kind: paper, source: hebb1949organization}
    share: {value: 0.75, unit: "1", low: 0.0, high: 1.0, kind: paper, source: hebb1949organization}
    count: {value: 0, unit: "1", low: 0, high: 3, kind: engineering, source: "made up"}
    form: {value: a, unit: "1", choices: [a, b], kind: engineering, source: "made up"}
"""
EVIDENCE = """
from types import SimpleNamespace
import numpy as np
from hebbarium.audit.checks import adaptation, equation, mutant
from hebbarium.audit.paper_numbers import paper_number
from hebbarium.engine.catalogue.registry import Registry

SEEN = []
NUMBERS = (paper_number("tau", 48.0, "h", paper="hebb1949organization", where="p. 1"),
           paper_number("share", 0.75, "1", paper="hebb1949organization", where="p. 2"))

@equation("X-1", source="closed form")
def halves(specimen):
    return [specimen.half(x) for x in (0.0, 3.0, -8.0)], [0.0, 1.5, -4.0]

@equation("X-2", source="a weak bound")
def shifts(specimen):
    return bool(specimen.shifted(2.0) > 0.0)

@equation("X-3", source="definition")
def counts_down(specimen):
    return specimen.counted(5), 0

@equation("X-4", source="definition", warn=True)
def decides_nothing(specimen):
    return specimen.unused(1.0), 3.0

@adaptation("X-5", source="by hand")
def is_stored_in_its_row(specimen):
    params = specimen.MadeUpParams(time_scale=1.0, tau=2.0, share=0.5, count=1, form="a")
    view = SimpleNamespace(row=1, now=3.0, met=np.full(3, 7.0))
    specimen.MadeUp("made_up", params, {"tau": "d"}).meet(view, None)
    return view.met, [7.0, 144.0, 7.0]

@adaptation("X-6", source="a fault of the evidence")
def never_passes(specimen):
    return False

@equation("X-7", source="the paper")
def the_installed_share_is_the_papers(specimen):
    SEEN.append(1)
    return [Registry.installed().entry("made_up").params["share"].value, len(SEEN)], [0.75, 1]

@mutant("other", rejected_by="X-1")
def other(specimen):
    return specimen.replacing("half", lambda x: x)
"""


@pytest.fixture
def made_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Registry]]:
    """Writes a package with a mechanism and its evidence, and gives its registry."""
    written = []

    def write(module: str = MODULE, evidence: str = EVIDENCE, listed: str = "") -> Registry:
        name = f"made_up_{len(written)}_{tmp_path.name.replace('-', '_')}"
        folder = tmp_path / name
        (folder / "evidence").mkdir(parents=True)
        files = {
            "__init__.py": "",
            "made_up.py": module,
            "registry.yaml": REGISTRY.replace("PACKAGE", name),
            "evidence/__init__.py": "",
            "evidence/made_up.py": evidence,
            **({LIST: listed} if listed else {}),
        }
        for file, text in files.items():
            (folder / file).write_text(text, encoding="utf-8")
        written.append(name)
        return Registry({}, {}, "").joined(Package(name, f"{name} 1", folder))

    monkeypatch.syspath_prepend(str(tmp_path))
    yield write
    for key in [key for key in sys.modules if key.partition(".")[0] in written]:
        del sys.modules[key]


def fates(result: GeneratedResult, function: str) -> dict[str, tuple[str, str]]:
    """Change -> fate and deciding check, of one function or parameter."""
    return {
        j.mutant.change.partition("  ->  ")[2]: (str(j.fate), j.by)
        for j in result.mutants
        if j.mutant.function == function
    }


@pytest.mark.slow
def test_what_becomes_of_the_mutants_of_a_small_mechanism(made_up: Callable[..., Registry]) -> None:
    registry = made_up()
    result = generated("made_up", registry)
    assert set(fates(result, "half").values()) == {("rejected", "X-1")}
    assert fates(result, "shifted") == dict.fromkeys(
        ("return half(x) - OFFSET", "return half(x)", "return OFFSET"), ("survived", "")
    )
    assert fates(result, "OFFSET") == dict.fromkeys(
        ("OFFSET = 1.0", "OFFSET = 0.25", "OFFSET = -0.5"), ("survived", "")
    )
    counted = fates(result, "counted")
    assert counted["while True:"] == counted["n += 1"] == ("timed out", "X-3")
    assert counted["while False:"] == ("rejected", "X-3") and counted["while n >= 0:"] == (
        "rejected",
        "X-3",
    )
    assert {fate for fate, _ in fates(result, "unused").values()} == {"not reached"}, (
        "a check that decides nothing does not count"
    )
    assert set(fates(result, "MadeUp.meet").values()) == {("rejected", "X-5")}
    assert fates(result, "share") == {"0.375": ("rejected", "ST-6"), "1.5": ("refused", "")}
    assert fates(result, "tau") == dict.fromkeys(("1.0", "4.0", "h"), ("rejected", "ST-6"))
    assert fates(result, "count") == fates(result, "form") == {}, "numbers of ours do not count"
    unusable = {check: why for check, why in result.unusable if not check.startswith("ST-")}
    assert list(unusable) == ["X-6"] and "FAIL on the original" in unusable["X-6"]

    numbers_share = result.share(Group.NUMBERS)
    assert (numbers_share.rejected, numbers_share.of) == (4, 4) and result.share(
        Group.HOOKS
    ).value == 1.0
    assert result.share().of == sum(result.share(g).of for g in Group) == len(result.mutants) - 1
    assert str(result.share(Group.NUMBERS, "paper")) == "4/4"
    output = result.to_json()
    assert output["of"] == len(output["mutants"]) and output["shares"]["numbers"] == {
        "rejected": 4,
        "of": 4,
    }
    assert Registry.installed() is not registry and not hasattr(
        import_module(registry.entry("made_up").module), building.REACHED
    )


def test_making_a_mutant_leaves_the_original_unchanged(made_up: Callable[..., Registry]) -> None:
    original = Original(made_up().entry("made_up"))
    first = next(c for c in original.changes if c.mutant.function == "half")
    assert (
        not first.unchanged
        and original.plain(first).half(4.0) == 8.0
        and original.plain().half(4.0) == 2.0 == original.module.half(4.0)
    )


def test_a_change_reaches_what_calls_the_function_and_nothing_else_is_new(
    made_up: Callable[..., Registry],
) -> None:
    original = Original(made_up().entry("made_up"))
    change = next(
        c for c in original.changes if c.mutant.change == "return x / 2.0  ->  return x * 2.0"
    )
    for module in (original.plain(change), original.compiled(change)):
        assert module.shifted(4.0) == 8.5 and original.module.shifted(4.0) == 2.5
        assert module.MET is original.module.MET
    assert (
        original.compiled(change).MadeUp is original.module.MadeUp
        and original.plain(change).MadeUp is not original.module.MadeUp
    )
    assert original.kernels_behind(change) == 2


def test_a_change_in_shared_code_reaches_the_mechanism(registry: Registry) -> None:
    original = Original(registry.entry("serotonin"))
    change = next(
        c
        for c in original.changes
        if c.mutant.function == "reward.cells" and "% size" in c.mutant.change
    )
    assert (
        change.mutant.group is Group.KERNELS
        and original.plain(change).cells is not original.module.cells
    )
    assert original.plain(change).Serotonin is not original.module.Serotonin
    assert (
        original.compiled(change).Serotonin.experience.__globals__["cells"]
        is not original.module.cells
    )


def test_marked_source_tells_which_statements_run(made_up: Callable[..., Registry]) -> None:
    original, seen = Original(made_up().entry("made_up")), set[building.Reached]()
    module = original.marked(seen.add)
    seen.clear()
    assert module.counted(0) == 0
    reached = {
        c.mutant.change
        for c in original.changes
        if c.mutant.function == "counted" and original.reach(c) & seen
    }
    assert reached and not any("n -= 1" in change for change in reached)
    module.counted(1)
    assert any("n -= 1" in c.mutant.change for c in original.changes if original.reach(c) & seen)


@pytest.mark.slow
def test_a_sample_is_the_same_for_the_same_seed(made_up: Callable[..., Registry]) -> None:
    registry = made_up()
    ids = [
        [j.mutant.id for j in generated("made_up", registry, sample=4, seed=seed).mutants]
        for seed in (1, 1, 2)
    ]
    assert ids[0] == ids[1] != ids[2] and len(ids[0]) == 4


@pytest.mark.slow
def test_a_listed_mutant_is_equivalent_as_long_as_it_is_that_change(
    made_up: Callable[..., Registry],
) -> None:
    line = 'made_up/shifted/term/1: {{change: "{}", reason: "no reason"}}\n'
    result = generated(
        "made_up", made_up(listed=line.format("return half(x) + OFFSET  ->  return half(x)"))
    )
    assert [
        (j.mutant.id, j.note) for j in result.mutants if j.fate is GeneratedFate.EQUIVALENT
    ] == [("made_up/shifted/term/1", "no reason")]
    assert (
        result.share(Group.KERNELS).of
        == sum(j.mutant.group is Group.KERNELS for j in result.mutants) - 1
    )
    refuted = generated(
        "made_up",
        made_up(
            listed='made_up/half/factor/1: {change: "return x / 2.0  ->  return x", reason: "wrong"}\n'
        ),
    )
    assert [(j.fate, j.by) for j in refuted.mutants if "listed as equal" in j.note] == [
        (GeneratedFate.REJECTED, "X-1")
    ]
    for listed, fault in (
        (line.format("return x  ->  return y"), "is now"),
        (line.replace("term/1", "term/9").format("x"), "no mutant"),
        ("made_up/shifted/term/1: because\n", "another form"),
    ):
        registry = made_up(listed=listed)
        with pytest.raises(ContractError, match=fault):
            generated("made_up", registry, sample=0)


def test_a_change_without_effect_on_the_bytecode_is_equivalent(
    made_up: Callable[..., Registry],
) -> None:
    source = "def idle(x: float) -> float:\n    return x + 1 * 6\n"
    original = Original(made_up(f"{MODULE}\n\n{source}").entry("made_up"))
    same = {c.mutant.change.partition("  ->  ")[2] for c in original.changes if c.unchanged}
    assert same == {"return x + 6"}


# --- a mutant in its process ----------------------------------------------------------------------
def check(id: str = "C") -> Check:
    return Check(id, CheckKind.EQUATION, "by hand", lambda specimen: True)


def run(of: Callable[[Check, bool], tuple[Score, str]]) -> Callable[[Check, bool], CheckResult]:
    return lambda c, compiled: CheckResult(c, (output := of(c, compiled))[0], note=output[1])


STEPS = [Step(check("A"), False, 0.0), Step(check("B"), False, 0.0)]


@pytest.mark.parametrize(("of", "expected"), [
    (lambda c, compiled: (Score.PASS, ""), (GeneratedFate.SURVIVED, "")),
    (lambda c, compiled: (Score.FAIL if c.id == "B" else Score.PASS, ""), (GeneratedFate.REJECTED, "B")),
    (lambda c, compiled: (Score.ERROR, "IndexError: 3"), (GeneratedFate.REJECTED, "A")),
    (lambda c, compiled: (Score.NOT_TESTABLE, ""), (GeneratedFate.REJECTED, "A")),
    (lambda c, compiled: (Score.ERROR, "MemoryError: "), (GeneratedFate.BROKEN, "")),
    (lambda c, compiled: (Score.ERROR, "MemoryError: ") if c.id == "A" else (Score.FAIL, ""),
     (GeneratedFate.REJECTED, "B")),
    (lambda c, compiled: (Score.PASS, "") if compiled else (Score.ERROR,
    "ZeroDivisionError: division by zero"), (GeneratedFate.SURVIVED, "")),
    (lambda c, compiled: (Score.FAIL, "") if compiled else (Score.ERROR,
    "ZeroDivisionError: division by zero"), (GeneratedFate.REJECTED, "A")),
    (lambda c, compiled: os.kill(os.getpid(), signal.SIGSEGV), (GeneratedFate.REJECTED, "A")),
    (lambda c, compiled: os.kill(os.getpid(), signal.SIGKILL), (GeneratedFate.BROKEN, "A")),
    (lambda c, compiled: compile("x x", "", "exec"), (GeneratedFate.BROKEN, "")),
    (lambda c, compiled: int("x"), (GeneratedFate.REJECTED, trial.IMPORT)),
    (lambda c, compiled: os._exit(3), (GeneratedFate.BROKEN, "A")),
])  # fmt: skip
def test_the_fate_of_a_mutant(of: Any, expected: tuple[GeneratedFate, str]) -> None:
    outcome = tried(STEPS, run(of))
    assert (outcome.fate, outcome.by) == expected


def test_a_mutant_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(c: Check, compiled: bool) -> CheckResult:
        while True:
            pass

    def waiting(c: Check, compiled: bool) -> CheckResult:
        time.sleep(60.0)
        raise AssertionError

    outcome = tried(STEPS, busy)
    assert (outcome.fate, outcome.by) == (GeneratedFate.TIMED_OUT, "A")
    monkeypatch.setattr(trial, "WAITING", 0.0)
    monkeypatch.setattr(trial, "PATIENCE", 0.3)
    assert tried(STEPS, waiting).fate is GeneratedFate.TIMED_OUT


def test_what_a_mutant_does_stays_in_its_process() -> None:
    data = np.zeros(3)

    def spoil(c: Check, compiled: bool) -> CheckResult:
        data[:] = 1.0
        print("noise", flush=True)
        return CheckResult(c, Score.PASS)

    assert tried(STEPS, spoil).fate is GeneratedFate.SURVIVED and not data.any()


def test_no_collection_of_a_mutant_walks_the_objects_of_the_parent() -> None:
    (watched,), _ = trial.in_child(lambda send: send(len(gc.get_objects())), 10.0)
    assert watched < len(gc.get_objects()) / 10


# --- the registry ---------------------------------------------------------------------------------
def test_another_registry_is_installed_for_a_while_only(registry: Registry) -> None:
    other = numbers.changed(registry, "recency", "half_life", 60.0)
    assert (
        other.instance("recency").params.half_life == 60.0
        and registry.instance("recency").params.half_life == 30.0
    )
    with pytest.raises(ZeroDivisionError), numbers.installed(other):
        assert Registry.installed() is other and Registry.read() is other
        assert (
            Registry.read(Path(str(import_module("hebbarium").__path__[0])) / "registry.yaml")
            .entry("recency")
            .params["half_life"]
            .value
            == 30.0
        )
        raise ZeroDivisionError
    assert Registry.read().entry("recency").params["half_life"].value == 30.0


def test_numbers_are_halved_and_doubled_and_choices_exchanged(registry: Registry) -> None:
    found = {n.mutant.id: n.value for n in numbers.numbers(registry.entry("lexical_bm25"))}
    assert (
        found["lexical_bm25/k1/number/half"] == 0.6
        and found["lexical_bm25/k1/number/double"] == 2.4
    )
    assert (
        found["lexical_bm25/idf/number/lucene"] == "lucene"
        and "lexical_bm25/time_scale/number/half" not in found
    )
    assert {n.parameter for n in numbers.numbers(registry.entry("base_level_activation"))} >= {
        "time_scale",
        "decay_scale",
    }
    assert numbers.refused(
        numbers.changed(registry, "lexical_bm25", "b", 1.5), "lexical_bm25"
    ) and not numbers.refused(registry, "lexical_bm25")


def test_looking_up_a_number_is_recorded(registry: Registry) -> None:
    seen: list[str] = []
    watched = numbers.watched(registry, "recency", seen.append)
    watched.entry("heat").params  # noqa: B018
    watched.instance("heat")
    assert not seen and watched.entry("recency").params["weight"].value and seen == ["weight"]
    assert watched.instance("recency").params == registry.instance("recency").params and set(
        seen
    ) == {"weight", "half_life"}


def test_fresh_evidence_is_another_module_and_leaves_the_first_in_its_place() -> None:
    name = "hebbarium.audit.evidence.recency"
    first = import_module(name)
    assert (
        numbers.fresh_evidence(name) is not first
        and import_module(name) is first
        and sys.modules[name] is first
    )


# --- the collection -------------------------------------------------------------------------------
@pytest.mark.slow
def test_a_sampled_run_over_some_mechanisms(registry: Registry) -> None:
    output: list[tuple[int, int, str]] = []
    result = generated_all(
        registry,
        ["recency", "heat", "trigram_match"],
        sample=3,
        progress=lambda *step: output.append(step),
    )
    assert (
        [m.id for m in result.mechanisms] == ["heat", "recency", "trigram_match"]
        and output[0] == (0, 3, "")
        and output[-1][:2] == (3, 3)
    )
    assert all(len(m.mutants) == 3 and not m.unusable for m in result.mechanisms)
    assert not [j for m in result.mechanisms for j in m.mutants if j.fate is GeneratedFate.BROKEN]
    alone = generated("recency", registry, sample=3)
    assert [(j.mutant, j.fate) for j in alone.mutants] == [
        (j.mutant, j.fate) for m in result.mechanisms if m.id == "recency" for j in m.mutants
    ]


@pytest.mark.slow
def test_every_listed_mutant_is_there(registry: Registry) -> None:
    from hebbarium.engine.base.yaml_file import read_yaml

    listed = read_yaml(Path(building.__file__).parent.parent / LIST)
    for id in {name.partition("/")[0] for name in listed}:
        mutants = [c.mutant for c in Original(registry.entry(id)).changes] + [
            n.mutant for n in numbers.numbers(registry.entry(id))
        ]
        assert set(equivalent(registry, id, mutants)) == {
            name for name in listed if name.startswith(f"{id}/")
        }


# --- shares ---------------------------------------------------------------------------------------
def test_the_share_of_a_full_run_is_kept_with_the_commit_that_was_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "shares.json"
    monkeypatch.setattr(shares, "FILE", file)
    shares._file.cache_clear()
    monkeypatch.setattr(shares, "commit", lambda: "0123abc")
    mutants = tuple(
        Judged(
            GeneratedMutant(
                f"recency/f/constant/{n}", group, SiteKind.CONSTANT, f"x = {n}  ->  x = 0"
            ),
            fate,
        )
        for n, (group, fate) in enumerate(
            [(Group.KERNELS, GeneratedFate.REJECTED)] * 18
            + [
                (Group.KERNELS, GeneratedFate.SURVIVED),
                (Group.HOOKS, GeneratedFate.TIMED_OUT),
                (Group.HOOKS, GeneratedFate.EQUIVALENT),
            ]
        )
    )
    assert shares.kept("recency") is None
    shares.keep([GeneratedResult("recency", mutants, len(mutants))], file)
    found = shares.kept("recency")
    assert (
        found is not None
        and found.commit == "0123abc"
        and found.survivors == (("recency/f/constant/18", "x = 18  ->  x = 0"),)
    )
    assert [str(found.shares[g]) for g in (Group.NUMBERS, Group.KERNELS, Group.HOOKS)] == [
        "0/0",
        "18/19",
        "1/1",
    ] and str(found.whole) == "19/20"
    assert found.below == (Group.KERNELS,)
    shares._file.cache_clear()


def test_the_command_prints_shares_and_survivors(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["audit", "recency", "--mutants", "generated", "--sample", "5",
                                    "--out", str(tmp_path / "o")])  # fmt: skip
    assert done.exit_code == 0, done.output
    table = [
        line.split() for line in done.output.splitlines() if line.startswith(("recency ", "all "))
    ]
    assert (
        [row[0] for row in table] == ["recency", "all"]
        and table[0][1:4] == table[1][1:4]
        and table[0][1] == "0/0"
    )
    saved = json.loads((tmp_path / "o" / "generated.json").read_text(encoding="utf-8"))
    assert [m["id"] for m in saved["mechanisms"]] == ["recency"] and len(
        saved["mechanisms"][0]["mutants"]
    ) == 5


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (("--mutants", "generated", "--sample", "5", "--keep"), ("--keep", "--sample")),
        (("--sample", "5"), ("--sample",)),
        (("--keep",), ("--keep",)),
        (("--mutants", "generated", "--reach"), ("--reach",)),
        (("--mutants", "generated", "--no-mutants"), ("--no-mutants",)),
        (("--mutants", "generated", "--against", "old.json"), ("--against",)),
    ],
    ids=lambda words: " ".join(words),
)
def test_the_command_refuses_options_that_it_would_ignore(
    words: tuple[str, ...], names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the options to leave out, and before anything is judged or stored."""
    for function in (
        "audit.mutation.generated.generated_all",
        "audit.mutation.shares.keep",
        "audit.collect.audit_registry",
    ):
        monkeypatch.setattr(f"hebbarium.{function}", None)
    with pytest.raises(InputError) as refused:
        CliRunner().invoke(app, ["audit", "recency", *words], catch_exceptions=False)
    assert refused.value.cure and all(
        name in refused.value.what + refused.value.cure for name in names
    )
