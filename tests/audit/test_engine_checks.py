"""What engine checks are made of: memories with the specimen's plug-in, what the checks reach,
and the numbers of papers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

from hebbarium.audit import memory as memories
from hebbarium.audit.checks import Score, evidence_of, judge
from hebbarium.audit.collect import audit_registry, exhibit_of
from hebbarium.audit.memory import Scripted, encode, memory_of, neighbour, plug_in
from hebbarium.audit.mutation import numbers
from hebbarium.audit.paper_numbers import SECONDS, differences, dimension, paper_number
from hebbarium.audit.reached import Watch
from hebbarium.audit.references import of_registry
from hebbarium.audit.specimen import Specimen
from hebbarium.engine.base.errors import ContractError
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.columns import Phase
from hebbarium.engine.contract.hooks import HOURS_PER
from hebbarium.engine.contract.vocabulary import LOG_STRENGTH


@pytest.fixture(scope="module")
def registry() -> Iterator[Registry]:
    found = Registry.read()
    with numbers.installed(found):
        yield found


def specimen(registry: Registry, id: str) -> Specimen:
    return Specimen(id, import_module(registry.entry(id).module))


# --- memories -------------------------------------------------------------------------------------
def test_the_plug_in_has_the_numbers_of_the_registry_and_the_class_of_the_specimen(
    registry: Registry,
) -> None:
    original = specimen(registry, "recency")
    assert (
        plug_in(original).params == registry.instance("recency").params
        and plug_in(original).hours("half_life") == 720.0
    )
    assert plug_in(original, time_scale=2.0, half_life=1.0).hours("half_life") == 48.0
    assert (
        plug_in(specimen(registry, "homeostatic_scaling"), time_scale=None).params.time_scale
        == 800.0
    )
    changed = original.replacing("recency", lambda now, last, tau, out: out.fill(0.25))
    assert isinstance(plug_in(changed), changed.Recency) and changed.Recency is not original.Recency


def test_a_mutant_acts_inside_the_engine(registry: Registry) -> None:
    original = specimen(registry, "recency")
    seen = []
    for each in (
        original,
        original.replacing("recency", lambda now, last, tau, out: out.fill(0.25)),
    ):
        memory = memory_of(each, "lexical_bm25")
        encode(memory, (0.0, "a boat"))
        memory.retrieve("boat")
        seen.append(memory.column("recency").item())
    assert seen == [1.0, 0.25]


def test_a_scripted_neighbour_and_a_scripted_embedder(registry: Registry) -> None:
    def strength(view: Any, tick: Any) -> None:
        view.log_strength[...] = 2.0

    seen: list[float] = []
    reader = neighbour(
        Phase.RETRIEVE,
        lambda view, cue: seen.append(view.log_strength.sum().item()),
        reads=(LOG_STRENGTH,),
        id="reader",
    )
    memory = memory_of(
        specimen(registry, "dense_similarity"),
        neighbour(Phase.MAINTAIN, strength, adds=(LOG_STRENGTH,)),
        reader,
        embedder=Scripted({"one": [3.0, 4.0], "two": [0.0, 2.0], "which": [1.0, 0.0]}),
    )
    assert encode(memory, (0.0, "one", "Ada"), (1.0, "two")) == [0, 1]
    memory.advance(2.0)
    memory.retrieve("which")
    assert memory.column("dense").tolist() == pytest.approx([0.6, 0.0]) and seen == [4.0]
    with pytest.raises(ContractError, match="has no vector"):
        memory.retrieve("else")


def test_the_registry_of_an_audit_is_the_one_that_memories_use(registry: Registry) -> None:
    other = numbers.changed(registry, "recency", "half_life", 3.0)
    with numbers.installed(other):
        assert (
            memories.registry() is other
            and plug_in(specimen(registry, "recency")).params.half_life == 3.0
        )
    assert memories.registry() is registry


# --- reach ----------------------------------------------------------------------------------------
def reach_of(registry: Registry, id: str, *calls: Any) -> Any:
    watch = Watch(registry.entry(id))
    for number, call in enumerate(calls):
        with watch.check(f"C-{number}"):
            call(Specimen(id, watch.module))
    return watch.reach([f"C-{number}" for number in range(len(calls))])


def asked_once(s: Any) -> None:
    memory = memory_of(s, time_scale=2.0)
    encode(memory, (0.0, "a boat"))
    memory.retrieve("boat")


def test_hooks_that_the_engine_calls_are_reported_with_check_and_time_scale(
    registry: Registry,
) -> None:
    hooks = {h.name: h for h in reach_of(registry, "recency", lambda s: None, asked_once).hooks}
    assert (hooks["met"].checks, hooks["met"].scales, hooks["met"].phase) == (
        ("C-1",),
        (2.0,),
        "encode",
    )
    assert hooks["score"].checks == ("C-1",) and hooks["recalled"].checks == ()


def test_a_check_that_calls_a_hook_without_an_engine_does_not_count(registry: Registry) -> None:
    checks = {
        c.id: c for c in evidence_of(import_module("hebbarium.audit.evidence.recency")).checks
    }
    assert not any(
        h.checks for h in reach_of(registry, "recency", lambda s: judge(checks["RC-5"], s)).hooks
    )


def test_an_equation_is_reached_through_the_statements_that_ran(registry: Registry) -> None:
    def one_night(s: Any, strengthened: bool) -> None:
        memory = memory_of(
            s,
            neighbour(
                Phase.MAINTAIN,
                lambda view, tick: view.log_strength.fill(float(strengthened)),
                adds=(LOG_STRENGTH,),
            ),
            time_scale=None,
        )
        encode(memory, (0.0, "a boat", "Ada"))
        memory.advance(30.0)
        memory.column(LOG_STRENGTH)

    quiet = {
        e.id: e.path
        for e in reach_of(registry, "homeostatic_scaling", lambda s: one_night(s, False)).equations
    }
    moved = {
        e.id: e.path
        for e in reach_of(registry, "homeostatic_scaling", lambda s: one_night(s, True)).equations
    }
    assert quiet == {"slopes": ("regulate", "advance", "slopes"), "scale": ()}, (
        "at the target the factor is 0, and nothing is scaled"
    )
    assert moved == {"slopes": ("regulate", "advance", "slopes"), "scale": ("strengthen", "scale")}


def test_watching_leaves_module_and_results_as_they_are(registry: Registry) -> None:
    module = import_module(registry.entry("recency").module)
    before = dict(vars(module))
    watch = Watch(registry.entry("recency"))
    assert (
        watch.module.recency is module.recency and watch.module.LAST_ACCESS is module.LAST_ACCESS
    ), "kernels and columns are the original ones"
    with watch.check("C"):
        assert import_module(module.__name__) is watch.module
    assert import_module(module.__name__) is module and vars(module) == before


@pytest.mark.slow
@pytest.mark.parametrize("id", ["recency", "homeostatic_scaling", "hopfield_completion"])
def test_mechanisms_whose_hooks_are_all_checked(id: str) -> None:
    judged = audit_registry(Registry.read(), only=[id], mutants=False).mechanisms[0]
    checked, hooks = judged.hooks_checked
    assert checked == hooks > 0 and judged.earned and not judged.gaps
    library = {e.id for e in Registry.read().entry(id).equations if e.library}
    assert (
        judged.reach is not None
        and {e.id for e in judged.reach.equations if not e.reached} == library
    )


# --- numbers of papers ----------------------------------------------------------------------------
@pytest.mark.parametrize(("unit", "powers", "factor"), [
    ("1", {}, 1.0), ("ms", {"h": 1}, 1 / 3.6e6), ("1/d", {"h": -1}, 1 / 24), ("1/(uM s)", {"M": -1,
    "h": -1}, 3600e6),
    ("uM/s", {"M": 1, "h": -1}, 3.6e-3), ("1 per synapse^2", {"synapse": -2}, 1.0), ("mV", {"V": 1},
    1e-3), ("s2", {"h": 2}, 3600.0 ** -2)])  # fmt: skip
def test_units(unit: str, powers: dict[str, int], factor: float) -> None:
    assert dimension(unit)[0] == powers and math.isclose(dimension(unit)[1], factor, rel_tol=1e-12)


def test_the_audits_table_of_units_is_complete() -> None:
    assert set(SECONDS) == set(HOURS_PER)


def test_a_number_is_compared_with_what_the_plug_in_holds(registry: Registry) -> None:
    entry = registry.entry("homeostatic_scaling")
    numbers_of = exhibit_of(entry, registry, of_registry(registry)).numbers
    assert list(differences(entry, registry, numbers_of)) == []
    assert len(list(differences(entry, registry, numbers_of[:1]))) == 2
    absent = paper_number("tau_b", 1.0, "s", paper="vanrossum2000stable", where="table 1")
    assert list(differences(entry, registry, (*numbers_of, absent))) == [
        "NUMBERS has tau_b, which is no parameter"
    ]
    wrong = numbers.changed(registry, entry.id, "beta", 8e-5)
    assert ["beta" in line for line in differences(wrong.entry(entry.id), wrong, numbers_of)] == [
        True
    ]
    elsewhere = paper_number("tau_a", 100.0, "s", paper="hebb1949organization", where="p. 1")
    assert "not among the papers" in next(
        differences(entry, registry, (elsewhere, *numbers_of[1:]))
    )
    with pytest.raises(ContractError, match="no place"):
        paper_number("tau_a", 100.0, "s", paper="vanrossum2000stable", where=" ")


@pytest.mark.parametrize(
    "id",
    [
        e.id
        for e in Registry.read().entries.values()
        if any(p.kind == "paper" for p in e.params.values())
    ],
)
def test_half_and_double_of_every_stated_number_and_a_wrong_unit_are_rejected(
    registry: Registry, id: str
) -> None:
    entry, exhibit = (
        registry.entry(id),
        exhibit_of(registry.entry(id), registry, of_registry(registry)),
    )
    stated = {n.parameter for n in exhibit.numbers}
    for each in numbers.numbers(entry):
        if each.parameter in stated and each.mutant.parameter_kind == numbers.PAPER:
            changed = numbers.changed(registry, id, each.parameter, each.value, each.unit)
            if not numbers.refused(changed, id):
                assert any(
                    each.parameter in line
                    for line in differences(changed.entry(id), changed, exhibit.numbers)
                ), each.mutant.change


@pytest.mark.slow
def test_the_statement_of_a_number_uses_a_constant_of_the_evidence(registry: Registry) -> None:
    """A number written out in NUMBERS alone would be compared with the registry and used by no
    check.
    """
    import ast
    import inspect

    for entry in registry.entries.values():
        if exhibit_of(entry, registry, of_registry(registry)).numbers and not entry.variety_of:
            tree = ast.parse(
                inspect.getsource(import_module(f"hebbarium.audit.evidence.{entry.id}"))
            )
            statement = next(
                n
                for n in tree.body
                if isinstance(n, ast.Assign | ast.AnnAssign) and "paper_number" in ast.unparse(n)
            )
            inside = {id(n) for n in ast.walk(statement)}
            read = {
                n.id
                for n in ast.walk(tree)
                if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and id(n) not in inside
            }
            loops = [n for n in ast.walk(statement) if isinstance(n, ast.comprehension)]
            bound = {
                n.id for loop in loops for n in ast.walk(loop.target) if isinstance(n, ast.Name)
            }
            values = [
                n.args[1]
                for n in ast.walk(statement)
                if isinstance(n, ast.Call) and ast.unparse(n.func) == "paper_number"
            ]
            values += [
                row.elts[1]
                for loop in loops
                if isinstance(loop.iter, ast.Tuple)
                for row in loop.iter.elts
                if isinstance(row, ast.Tuple)
            ]
            for value in values:
                names = {n.id for n in ast.walk(value) if isinstance(n, ast.Name)}
                written_out = isinstance(value, ast.Constant) and isinstance(
                    value.value, (str, bool)
                )
                assert written_out or names <= bound or (names - bound) & read, (
                    f"{entry.id}: no check reads {ast.unparse(value)}"
                )


@pytest.mark.slow
def test_scores_do_not_depend_on_watching(registry: Registry) -> None:
    entry = registry.entry("homeostatic_scaling")
    module, watch = import_module(entry.module), Watch(entry)
    for check in evidence_of(import_module("hebbarium.audit.evidence.homeostatic_scaling")).checks[
        -6:
    ]:
        with watch.check(check.id):
            watched = judge(check, Specimen(entry.id, watch.module))
        plain = judge(check, Specimen(entry.id, module))
        assert (watched.score, watched.measured) == (
            plain.score,
            plain.measured,
        ) and plain.score is Score.PASS
