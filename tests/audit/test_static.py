"""Static evidence: what it passes, and each fault that it finds."""

from __future__ import annotations

import ast
import importlib
import sys
import types
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from tiers import later

from hebbarium.audit.checks import Score, judge
from hebbarium.audit.collect import exhibit_of
from hebbarium.audit.paper_numbers import paper_number
from hebbarium.audit.references import References, load, of_registry
from hebbarium.audit.static import (
    Exhibit,
    _copies,
    _kinds_unlike_the_entry,
    _meaningless_kinds,
    evidence,
)
from hebbarium.engine.base.errors import HebbariumError
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.columns import Column
from hebbarium.engine.flow.view import Binding

MODULE = """
from dataclasses import dataclass
import numpy as np
from hebbarium.engine.contract.columns import Column, Phase, Scope
from hebbarium.engine.contract.hooks import Mechanism, Params, hook
from hebbarium.engine.base.numerics import kernel
from hebbarium.engine.contract.vocabulary import ARRIVED, LOG_STRENGTH, NOW, SURPRISE

SPAN = 3.0
SEEN = []
FADED = Column("faded_in_{name}", np.float64, Scope.MEMORY, "h", 0.0, "time that has passed, in time constants, times one of them")

@kernel
def faded(age, tau):
    return -age / tau{impure}

@dataclass(frozen=True, slots=True)
class FadingParams(Params):
    tau: float

class Fading(Mechanism[FadingParams]):
    owns = (FADED,)

    @hook(Phase.MAINTAIN, reads=(ARRIVED, {more}), adds=(LOG_STRENGTH,), sets=(FADED,))
    def fade(self, view, tick):
        tau = {tau}
        view.{faded}[...] = (tick.end - view.arrived) / tau * self.hours("tau")
        view.log_strength[...] = faded(tick.end - view.arrived, tau)
"""
ENTRY = """
fading:
  class: {name}:Fading
  home: maintenance
  summary: "Strength fades."
  acts_on: "log strength"
  papers: [ebbinghaus1885gedachtnis]
  claims: HONEST
  equations: [{{id: {equation}, paper: {paper}, where: "definition", tex: "-t / tau"}}]
  params:
    tau: {{value: 10.0, unit: h, low: 0.1, high: 1000.0, kind: paper, source: "{source}"}}
"""
SOUND = {"impure": "", "more": "", "tau": 'self.hours("tau")', "faded": "", "equation": "faded",
         "paper": "ebbinghaus1885gedachtnis",
         "source": "ebbinghaus1885gedachtnis", "number": "600.0", "in": "min"}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.startswith("fading_"):
            del sys.modules[name]


def scores(folder: Path, references: References, **wrong: str) -> dict[str, tuple[Score, str]]:
    name = f"fading_{len(list(folder.glob('*.py')))}"
    words: dict[str, Any] = {**SOUND, "faded": f"faded_in_{name}", **wrong, "name": name}
    (folder / f"{name}.py").write_text(MODULE.format(**words), encoding="utf-8")
    (folder / f"{name}.yaml").write_text(ENTRY.format(**words) + DENSE, encoding="utf-8")
    registry = Registry.read(folder / f"{name}.yaml", folder / "sets")
    number = paper_number(
        "tau", float(words["number"]), words["in"], paper=words["source"], where="table 1"
    )
    exhibit = Exhibit(
        registry.entry("fading"),
        importlib.import_module(name),
        references,
        registry,
        (number,) if words["in"] else (),
    )
    return {c.id: ((r := judge(c, exhibit)).score, f"{r.measured} {r.note}") for c in evidence()}


DENSE = """
dense_similarity:
  class: hebbarium.mechanisms.retrieval.dense_similarity:DenseSimilarity
  home: retrieval
  summary: "x"
  acts_on: "x"
  papers: []
  claims: HONEST
  params:
    passages: {value: false, unit: "1", kind: engineering, source: "x"}
    length_penalty: {value: 0.0, unit: "1", kind: engineering, source: "x"}
    weight: {value: 1.0, unit: "1", low: 0.0, high: 10.0, kind: engineering, source: "x"}
"""


def test_a_sound_mechanism_passes_all(folder: Path) -> None:
    assert {id: score for id, (score, _) in scores(folder, load()).items()} == {
        f"ST-{i}": Score.PASS for i in range(1, 14)
    }


@pytest.mark.parametrize(
    ("id", "wrong", "output"),
    [
        ("ST-1", {"equation": "faster"}, "faster is no function"),
        later("ST-1", {"paper": "nobody1900nothing"}, "references.bib lacks"),
        later("ST-1", {"paper": "wixted1991form"}, "not among the papers"),
        later("ST-2", {"source": " "}, "tau has no source"),
        ("ST-2", {"source": "as usual"}, "names none"),
        ("ST-3", {"impure": " + len(SEEN)"}, "reads SEEN, which is list"),
        ("ST-4", {"more": "SURPRISE"}, "means nothing"),
        ("ST-4", {"more": "NOW"}, "now is declared and never touched"),
        ("ST-4", {"faded": "faded"}, "was not declared"),
        ("ST-5", {"tau": "self.params.tau"}, "differs after twice the time"),
        later("ST-5", {"tau": "self.params.tau"}, "tau is not read by hours() alone"),
        ("ST-5", {"impure": " - (age > 160.0)"}, "log_strength differs after twice the time"),
        later("ST-6", {"in": ""}, "NUMBERS of the evidence lacks it"),
        ("ST-6", {"in": "h"}, "the registry has tau = 10 h, the paper 600 h"),
        later("ST-6", {"in": "1/min"}, "has the unit h"),
        later("ST-6", {"number": "601.0"}, "the paper 601 min"),
    ],
)
def test_each_fault_is_found_and_named(
    folder: Path, id: str, wrong: dict[str, str], output: str
) -> None:
    if "SURPRISE" in wrong.get("more", ""):
        with pytest.raises(HebbariumError, match=output):
            scores(folder, load(), **wrong)
        return
    score, said = scores(folder, load(), **wrong)[id]
    assert score is Score.FAIL and output in said, said


# --- checks of data ---------------------------------------------------------------------------------
DATA = """
from hebbarium.audit.checks import data, rival
from hebbarium.audit.memory import plug_in
{constants}
def curve(specimen, hours):
    {curve}
@data("F-1", source="table 1", papers=("ebbinghaus1885gedachtnis",), subjects="one")
def measured(specimen):
    return curve(specimen, 3.0), 0.5
@rival("a constant", rejected_by="F-1")
def constant(specimen):
    return specimen
"""
READS = "return 2.0 ** (-hours / plug_in(specimen).hours('half_life'))"


@pytest.mark.parametrize(
    ("constants", "curve", "output"),
    [
        ("", READS, "all of 1 checks of data"),
        ("HOURS = (3.0, 30.0)", f"HOURS; {READS}", "all of 1 checks of data"),
        ("UNUSED = 30.0", READS, "all of 1 checks of data"),
        ("", "return 2.0 ** (-hours / 720.0)", "F-1 reads no number that ships"),
        ("TAU = 30.0", f"TAU; {READS}", "F-1 holds a copy of half_life in TAU"),
        ("FIT = (30.0, 0.05)", f"FIT; {READS}", "holds a copy of half_life, weight in FIT"),
        ("FIT = [0.05]", f"FIT; {READS}", "holds a copy of weight in FIT"),
    ],
)
def test_data_are_compared_with_what_ships(constants: str, curve: str, output: str) -> None:
    module = types.ModuleType("evidence_of_recency")
    exec(DATA.format(constants=constants, curve=curve), vars(module))
    registry = Registry.read()
    exhibit = Exhibit(
        registry.entry("recency"),
        importlib.import_module("hebbarium.mechanisms.retrieval.recency"),
        load(),
        registry,
        evidence=module,
    )
    check = next(c for c in evidence() if c.id == "ST-7")
    result = judge(check, exhibit)
    assert output in str(result.measured) and (result.score is Score.PASS) is ("all" in output)


def test_evidence_holds_no_copy_of_a_number_of_ours() -> None:
    """By its name, in a constant or a dictionary of constants; another value is no copy."""
    registry = Registry.read()
    module = types.ModuleType("hebbarium.audit.evidence.curation")
    exhibit = Exhibit(
        registry.entry("curation"),
        importlib.import_module("hebbarium.mechanisms.encoding.curation"),
        load(),
        registry,
        evidence=module,
    )
    for text, copies in (
        ("SEEDS = 10", ["SEEDS"]),
        ("K, LINK = 2, 0.6", ["LINK"]),
        ('PARAMS = {"neighbours": 5, "merge": 0.9}', ["neighbours"]),
        ("SEEDS = 11", []),
        ("OTHER = 10", []),
        ("A, B = 10, 0.6", ["A", "B"]),
        ('PARAMS = {"a": 10, "b": 0.6, "c": 7}', ["a", "b"]),
        ("A, B = 10, 10", []),
    ):
        with patch("inspect.getsource", return_value=text):
            assert _copies(exhibit) == copies, text


@pytest.mark.parametrize(
    ("comparison", "wrong"),
    [
        ("view.kind == Kind.EVENT", 0),
        ("view.kind[rows] != 0", 0),
        ("view.kind == Kind.SUMMARY", 0),
        ("0 == view.kind", 0),
        ("other.kind >= 1", 0),
        ("view.kind >= 0", 1),
        ("view.kind[rows] < Kind.SEGMENT", 1),
        ("view.kind != 9", 1),
    ],
)
def test_kinds_of_rows_have_no_order(comparison: str, wrong: int) -> None:
    assert len(list(_meaningless_kinds(ast.walk(ast.parse(comparison))))) == wrong


@pytest.mark.parametrize(
    ("id", "right", "wrong", "output"),
    [
        (
            "adjacent_stages",
            "view.kind != Kind.SUMMARY",
            "view.kind == Kind.EVENT",
            "speaks of summaries",
        ),
        (
            "scratchpad_filter",
            "view.kind == Kind.SUMMARY",
            "view.kind != Kind.EVENT",
            "speaks of summaries",
        ),
        ("stage_summaries", "view.kind == Kind.SUMMARY", "view.kind > 0", "speaks of summaries"),
        ("procedure_context", "view.kind == Kind.EVENT", "view.kind != 3", "SUMMARY apart"),
        ("ranked_context", "== Kind.EVENT", "!= Kind.SUMMARY", "SUMMARY apart"),
        ("dendritic_integration_printed", "== Kind.EVENT", "!= Kind.SUMMARY", "SUMMARY apart"),
    ],
)
def test_an_entry_speaks_of_the_kinds_of_rows_that_the_code_tells_apart(
    id: str, right: str, wrong: str, output: str
) -> None:
    registry = Registry.read()
    sound = exhibit_of(registry.entry(id), registry, of_registry(registry))
    assert list(_kinds_unlike_the_entry(sound)) == []
    source = Path(str(sound.module.__file__)).read_text(encoding="utf-8")
    assert right in source
    other = replace(sound)
    with patch("inspect.getsource", return_value=source.replace(right, wrong)):
        (said,) = _kinds_unlike_the_entry(other)
    assert output in said


@pytest.mark.parametrize(
    ("id", "column"),
    [
        ("curation", "restated"),
        ("reconsolidation", "reactivated"),
        ("synaptic_renormalisation", "renormalised_weight"),
    ],
)
def test_a_hook_that_forgets_to_name_earlier_cells_is_refused(id: str, column: str) -> None:
    """The wrong version names no cells of one column, of rows or of edges."""
    registry, references = Registry.read(), of_registry(Registry.read())
    check, note = next(c for c in evidence() if c.id == "ST-4"), Binding.note

    def forgetful(binding: Binding, of: Column, numbers: Any) -> None:
        if of.name != column:
            note(binding, of, numbers)

    sound = judge(check, exhibit_of(registry.entry(id), registry, references))
    with patch.object(Binding, "note", forgetful):
        wrong = judge(check, exhibit_of(registry.entry(id), registry, references))
    assert (sound.score, wrong.score) == (Score.PASS, Score.FAIL)
    assert f"changes {column} of an earlier cell" in str(wrong.measured)
