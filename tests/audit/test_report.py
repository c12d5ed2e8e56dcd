"""A whole audit over five small mechanisms, and its reports."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import types
from collections import Counter
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
from jsonschema import Draft202012Validator
from rich.console import Console
from typer.testing import CliRunner

import hebbarium.audit
from hebbarium.audit import references as bibliography
from hebbarium.audit import sources
from hebbarium.audit.collect import audit_registry
from hebbarium.audit.mutation.shares import Kept, Share, kept
from hebbarium.audit.mutation.sites import Group
from hebbarium.audit.page import to_html
from hebbarium.audit.provenance import Provenance, citation, provenance
from hebbarium.audit.references import load
from hebbarium.audit.report import (
    Counts,
    counts,
    of_commits,
    plain,
    summary,
    table,
    to_json,
    to_latex,
    to_markdown,
    verdict_of,
)
from hebbarium.audit.run import AuditResult, Fate, audit
from hebbarium.audit.weights import shipped
from hebbarium.cli.app import app
from hebbarium.engine.base.errors import ContractError, RegistryError
from hebbarium.engine.catalogue.registry import Registry

ROOM = Path(hebbarium.audit.__file__).parent


def module_of(name: str, source: str) -> types.ModuleType:
    module = types.ModuleType(name)
    exec(compile(source, f"{name}.py", "exec"), vars(module))
    return module


@dataclass(frozen=True)
class Equation:
    paper: str = "wixted1991form"
    id: str = "trace"
    printed: bool = True
    library: bool = False
    read: str | None = None


@dataclass(frozen=True)
class Departs:
    what: str
    why: str
    kind: str = "none"
    shown: tuple[str, ...] = ()


class Unhooked:
    owns = ()

    @staticmethod
    def hooks() -> tuple[Any, ...]:
        return ()


@dataclass(frozen=True)
class Entry:
    id: str
    claims: str
    equations: tuple[Equation, ...] = (Equation(),)
    papers: tuple[str, ...] = ("wixted1991form",)
    departures: tuple[Departs, ...] = (Departs("ages are in hours", "the equation has no unit"),)
    proxies: tuple[Any, ...] = ()
    forms: tuple[Any, ...] = ()
    params: dict[str, Any] = field(default_factory=dict)
    time_scale: float = 1.0
    read: dict[str, str] = field(default_factory=lambda: {"wixted1991form": "paper"})
    inputs: dict[str, str] = field(default_factory=dict)
    phenomena: tuple[str, ...] = ()
    variety_of: str | None = None

    def load(self) -> type[Unhooked]:
        return Unhooked


POWER = "def trace(age, b): return age ** -b\nclass Plugin:\n    def maintain(self, age): return trace(age, 0.5)\n"
PRINTED = "import math\ndef trace(age, b): return math.exp(-b * age)\nclass Plugin:\n    def maintain(self, age): return trace(age, 0.5)\n"
HONEST = "def blend(x): return x / 2\n"
RAISES = "def trace(age, b): raise ValueError('<script>no</script>')\n"

POWER_EVIDENCE = """
import math
from hebbarium.audit.checks import equation, limit, signature, data, mutant
from hebbarium.audit.figures import Curve, Picture, figure
@figure("forgetting", caption="The older, the less is left", source="closed form")
def over_age(s): return Picture("age, h", "left", (Curve("mechanism", [1.0, 4.0], [s.trace(1.0, 0.5), s.trace(4.0, 0.5)]),))
@equation("PW-1", source="closed form", atol=1e-12)
def quadrupling_the_age_halves_the_trace(s): return s.trace(8.0, 0.5), s.trace(2.0, 0.5) / 2.0
@limit("PW-2", source="closed form")
def no_decay_without_an_exponent(s): return s.trace(7.0, 0.0), 1.0
@signature("PW-3", source="Wixted & Ebbesen 1991 <i>form</i>", figure="forgetting")
def the_plugin_forgets_ever_more_slowly(s):
    at = [s.Plugin().maintain(float(t)) for t in (1, 2, 3)]
    return at[0] / at[1] > at[1] / at[2]
@data("PW-4", source="uncertain table", warn=True, papers=("wixted1991form",), subjects="students")
def a_doubtful_number(s): return s.trace(2.0, 0.5), 99.0
@mutant("exponential", rejected_by="PW-3")
def exponential(s): return s.replacing("trace", lambda age, b: math.exp(-b * age))
@mutant("exponential in the equation", rejected_by="PW-1")
def exponential_too(s): return s.replacing("trace", lambda age, b: math.exp(-b * age))
"""
LOOSE_EVIDENCE = (
    POWER_EVIDENCE
    + """
@mutant("unchanged in effect", rejected_by="PW-1")
def same(s): return s.replacing("trace", lambda age, b: age ** -b)
@mutant("crashes", rejected_by="PW-1")
def crashes(s): return s.replacing("trace", lambda age: age)
@mutant("not a specimen", rejected_by="PW-1")
def nothing(s): return None
@mutant("the same specimen", rejected_by="PW-1")
def itself(s): return s
@mutant("unknown name", rejected_by="PW-1")
def unknown(s): return s.replacing("traec", abs)
"""
)
HONEST_EVIDENCE = """
from hebbarium.audit.checks import adaptation, mutant
@adaptation("HO-1", source="own definition")
def halves(s): return s.blend(3.0), 1.5
@mutant("identity", rejected_by="HO-1")
def identity(s): return s.replacing("blend", lambda x: x)
"""

ENTRIES = (
    Entry("power_law", "FAITHFUL"),
    Entry("power_law_printed", "FAITHFUL", variety_of="power_law"),
    Entry("blend", "HONEST", equations=(), papers=()),
    Entry("crash", "APPROXIMATION"),
    Entry("bare", "APPROXIMATION"),
)
MODULES = {
    "power_law": module_of("m_power", POWER),
    "power_law_printed": module_of("m_printed", PRINTED),
    "blend": module_of("m_honest", HONEST),
    "crash": module_of("m_raises", RAISES),
    "bare": module_of("m_bare", POWER),
}
EVIDENCE = {
    "power_law": module_of("e_power", POWER_EVIDENCE),
    "blend": module_of("e_honest", HONEST_EVIDENCE),
    "crash": module_of("e_raises", POWER_EVIDENCE),
}


@pytest.fixture(scope="module")
def result() -> AuditResult:
    return audit(ENTRIES, MODULES, EVIDENCE, mutants=True)


def by_id(result: AuditResult, id: str) -> Any:
    return next(m for m in result.mechanisms if m.id == id)


def test_ratings_are_derived(result: AuditResult) -> None:
    assert [(m.id, str(m.verdict.rating), m.earned) for m in result.mechanisms] == [
        ("bare", "APPROXIMATION", False),
        ("blend", "HONEST", True),
        ("crash", "APPROXIMATION", True),
        ("power_law", "FAITHFUL", True),
        ("power_law_printed", "APPROXIMATION", False),
    ]


def test_a_variety_is_judged_by_the_evidence_of_its_form_and_is_a_finding(
    result: AuditResult,
) -> None:
    printed = by_id(result, "power_law_printed")
    assert [r.check.id for r in printed.checks] == [
        "PW-1",
        "PW-2",
        "PW-3",
        "PW-4",
    ] and printed.mutants == ()
    assert [id for id, _ in result.findings] == [
        "power_law_printed"
    ] and "power_law_printed" not in dict(result.failures)


CITING = POWER_EVIDENCE.replace(
    '"PW-1", source="closed form",',
    '"PW-1", source="closed form", papers=("petrov2006computationally",),',
).replace('<i>form</i>",', '<i>form</i>", papers=("wixted1991form",),')


def test_checks_of_papers_that_the_source_does_not_cite_do_not_lower_its_rating(
    tmp_path: Path,
) -> None:
    """Ours is judged by all checks; the printed form fails PW-1 and PW-3, of which its source
    cites the paper of PW-3 alone.
    """
    both = audit(ENTRIES[:2], MODULES, {"power_law": module_of("e_citing", CITING)})
    ours, printed = both.mechanisms
    assert [r.check.id for r in ours.checks] == [
        "PW-1",
        "PW-2",
        "PW-3",
        "PW-4",
    ] and ours.also_compared == ()
    assert [r.check.id for r in printed.checks] == ["PW-2", "PW-3", "PW-4"] and [
        r.check.id for r in printed.also_compared
    ] == ["PW-1"]
    assert printed.verdict.lowered_by == ("PW-3",) and (printed.passed, printed.gating) == (1, 2)
    elsewhere = audit(
        [replace(ENTRIES[1], papers=("cortex2026",))],
        MODULES,
        {"power_law": module_of("e_citing", CITING)},
    ).mechanisms[0]
    assert elsewhere.verdict.lowered_by == () and [
        str(r.score) for r in elsewhere.also_compared
    ] == ["FAIL", "FAIL", "FAIL"]  # the doubtful number, too
    output = next(m for m in to_json(both)["mechanisms"] if m["id"] == "power_law_printed")
    assert [(c["id"], c["papers"]) for c in output["also_compared"]] == [
        ("PW-1", ["petrov2006computationally"])
    ]
    to_html(both, tmp_path / "audit.html")
    assert (
        Page((tmp_path / "audit.html").read_text(encoding="utf-8")).text.count("Also compared with")
        == 1
    )
    text = to_markdown(both)
    assert (
        "| power_law_printed | PW-1 quadrupling the age halves the trace | petrov2006computationally | fail |"
        in text
    )


def test_errors_of_checks_are_scores(result: AuditResult) -> None:
    crash = by_id(result, "crash")
    assert {str(r.score) for r in crash.checks if r.check.id in ("PW-1", "PW-2")} == {"ERROR"}
    assert "ValueError: <script>no</script> (m_raises.py:1)" in crash.checks[0].note


def test_mutants(result: AuditResult) -> None:
    assert [m.fate for m in by_id(result, "power_law").mutants] == [Fate.REJECTED, Fate.REJECTED]
    # a check that fails on the original shows nothing
    assert {m.fate for m in by_id(result, "crash").mutants} == {Fate.BROKEN}
    assert audit(ENTRIES[:1], MODULES, EVIDENCE).mechanisms[0].mutants == ()


def test_a_form_that_its_source_does_not_rate_has_no_claim_to_earn(tmp_path: Path) -> None:
    """Its derived rating is shown, and it is neither a finding nor a form whose claim counts; a
    mechanism of ours must claim a rating.
    """
    unrated = audit([ENTRIES[0], replace(ENTRIES[1], claims="not rated")], MODULES, EVIDENCE)
    both = audit(ENTRIES[:2], MODULES, EVIDENCE)
    form, again = by_id(unrated, "power_law_printed"), by_id(both, "power_law_printed")
    assert (form.claim, verdict_of(form), form.verdict) == (
        "not rated",
        "not rated",
        again.verdict,
    ) and verdict_of(again) == "finding"
    assert unrated.findings == () != both.findings and (
        counts(unrated).printed,
        counts(both).printed,
    ) == (0, 1)
    to_html(unrated, tmp_path / "audit.html")
    assert 'data-claim="not rated"' in (tmp_path / "audit.html").read_text(encoding="utf-8")
    with pytest.raises(RegistryError, match="not rated"):
        audit([replace(ENTRIES[0], claims="not rated")], MODULES, EVIDENCE)


def test_mutants_that_prove_nothing_fail_the_audit() -> None:
    loose = {"power_law": module_of("e_loose", LOOSE_EVIDENCE)}
    asked = audit(ENTRIES[:1], MODULES, loose, mutants=True)
    assert [str(m.fate) for m in asked.mechanisms[0].mutants[2:]] == [
        "survived",
        "broken",
        "broken",
        "broken",
        "broken",
    ]
    assert asked.exit_code == 1 and asked.mechanisms[0].earned
    assert audit(ENTRIES[:1], MODULES, loose).exit_code == 0


@pytest.mark.parametrize(("entry", "code"), [
    (ENTRIES[0], 0), (ENTRIES[1], 0), (ENTRIES[2], 0), (replace(ENTRIES[1], variety_of=None), 1),
    (replace(ENTRIES[0], claims="DOCUMENTED"), 0),
    (replace(ENTRIES[0], departures=(Departs("half speed", ""),)), 1), (replace(ENTRIES[0],
    equations=(Equation(""),)), 1),
    (ENTRIES[4], 1), (ENTRIES[3], 0),
])  # fmt: skip
def test_exit_code(entry: Entry, code: int) -> None:
    evidence = {**EVIDENCE, "power_law_printed": EVIDENCE["power_law"]}
    assert audit([entry], MODULES, evidence).exit_code == code


def test_only_and_progress() -> None:
    output: list[tuple[str, str]] = []
    some = audit(
        ENTRIES,
        MODULES,
        EVIDENCE,
        mutants=True,
        only={"blend"},
        progress=lambda *step: output.append(step),
    )
    assert [m.id for m in some.mechanisms] == ["blend"] and output == [
        ("blend", "HO-1"),
        ("blend", "identity"),
    ]


def test_unknown_ids_ratings_and_modules_are_named() -> None:
    with pytest.raises(RegistryError, match="power_law"):
        audit(ENTRIES, MODULES, EVIDENCE, only={"power_lw"})
    with pytest.raises(RegistryError, match="PERFECT"):
        audit([replace(ENTRIES[0], claims="PERFECT")], MODULES, EVIDENCE)
    with pytest.raises(ContractError, match="no module"):
        audit(ENTRIES, {}, EVIDENCE)


def test_same_input_same_result(result: AuditResult) -> None:
    again = audit(reversed(ENTRIES), MODULES, EVIDENCE, mutants=True)
    assert again == result and plain(again) == plain(result)


# --- reports --------------------------------------------------------------------------------------
def test_json_is_strict_json_and_complete(result: AuditResult) -> None:
    output = json.loads(json.dumps(to_json(result), allow_nan=False))
    power = next(m for m in output["mechanisms"] if m["id"] == "power_law")
    assert (power["claimed"], power["derived"], power["passed"], power["gating"]) == (
        "FAITHFUL",
        "FAITHFUL",
        3,
        3,
    )
    assert [(c["id"], c["score"], c["gates"]) for c in power["checks"]] == [
        ("PW-1", "PASS", True),
        ("PW-2", "PASS", True),
        ("PW-3", "PASS", True),
        ("PW-4", "FAIL", False),
    ]
    assert (
        power["checks"][0]["measured"] == pytest.approx(8.0**-0.5)
        and power["checks"][0]["seconds"] > 0
    )
    assert output["findings"][0]["mechanism"] == "power_law_printed"


def test_json_of_values_that_json_lacks() -> None:
    source = """
from hebbarium.audit.checks import equation, mutant
@equation("NA-1", source="x")
def nan_and_inf(s): return (float("nan"), float("inf"))
@equation("NA-2", source="x")
def a_plane(s): return ([1 + 2j, 0], [1 + 2j, 0])
@mutant("m", rejected_by="NA-2")
def m(s): return s
"""
    output = to_json(audit(ENTRIES[:1], MODULES, {"power_law": module_of("e_nan", source)}))
    checks = json.loads(json.dumps(output, allow_nan=False))["mechanisms"][0]["checks"]
    assert (checks[0]["measured"], checks[0]["expected"], checks[0]["score"]) == (
        "nan",
        "inf",
        "FAIL",
    )
    assert checks[1]["measured"] == [{"real": 1.0, "imag": 2.0}, {"real": 0.0, "imag": 0.0}]


def test_plain_and_table_say_the_same(result: AuditResult) -> None:
    lines = plain(result).splitlines()
    row = next(line for line in lines if line.startswith("power_law_printed"))
    assert row.split(maxsplit=11) == ["power_law_printed", "FAITHFUL", "APPROXIMATION", "1/3", "-",
                                      "-", "-", "-", "-", "-", "PW-1",
                                      "quadrupling the age halves the trace"]  # fmt: skip
    assert next(line for line in lines if line.startswith("power_law ")).split() == [
        "power_law",
        "FAITHFUL",
        "FAITHFUL",
        "3/3",
        "2/2",
        *"------",
    ]
    assert "findings about printed forms:" in lines
    run = [x.fate for m in result.mechanisms for x in m.mutants]
    assert lines[-1] == f"{run.count(Fate.REJECTED)} of {len(run)} mutants rejected"
    console = Console(width=200, record=True, file=open("/dev/null", "w", encoding="utf-8"))  # noqa: SIM115, PTH123
    console.print(table(result))
    drawn = console.export_text()
    for line in lines[1:6]:
        assert all(cell in drawn for cell in line.split())


class Page(HTMLParser):
    VOID = ("meta", "br", "link", "img", "input", "hr", "wbr")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] not in ("style", "script"):
            self.text += data


def links(page: Page) -> set[str]:
    """Targets of the links inside the page, but for those that set the filters."""
    inside = (
        unquote(a["href"] or "")[1:]
        for tag, a in page.tags
        if tag == "a" and (a["href"] or "").startswith("#")
    )
    return {target for target in inside if "=" not in target}


def test_the_page_is_whole_and_loads_nothing(result: AuditResult, tmp_path: Path) -> None:
    to_html(result, tmp_path / "deep" / "audit.html", load())
    raw = (tmp_path / "deep" / "audit.html").read_text(encoding="utf-8")
    page = Page(raw)
    assert page.open == []
    assert not {"link", "img", "iframe", "object"} & {tag for tag, _ in page.tags}
    assert [attrs for tag, attrs in page.tags if tag == "script"] == [{}], (
        "one script, the page's own"
    )
    assert not any(
        name in attrs
        for _, attrs in page.tags
        for name in ("src", "srcset", "data", "style", "onclick")
    )
    assert "@import" not in raw and "url(" not in raw
    ids = {a["id"] for _, a in page.tags if "id" in a}
    assert links(page) <= ids and all(m.id in ids for m in result.mechanisms)
    for each in result.mechanisms:
        for check in each.checks:
            assert check.check.id in page.text and check.check.title in page.text
    assert (
        "prefers-color-scheme: dark" in raw
        and ("meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"})
        in page.tags
    )
    assert "Wixted and Ebbesen (1991)" in page.text and "%" not in page.text


def test_a_report_says_once_of_which_commits_its_earlier_figures_are(
    result: AuditResult, tmp_path: Path
) -> None:
    """And nowhere that something is stale: a figure is of its commit, whatever the code is now."""
    mine = result.mechanisms[0]
    stored = [
        Kept({group: Share(1, 2) for group in Group}, (), commit)
        for commit in ("0123abc", "4567def", "0123abc")
    ]
    assert of_commits(
        replace(
            result,
            mechanisms=tuple(
                replace(mine, id=f"m{i}", generated=each) for i, each in enumerate(stored)
            ),
        )
    ) == (
        "Measured before this audit: mutation shares of commits 0123abc (2 mechanisms), 4567def (1 mechanism)."
    )
    one = replace(result, mechanisms=(replace(mine, generated=stored[0]),))
    to_html(one, tmp_path / "audit.html")
    for text in ((tmp_path / "audit.html").read_text(encoding="utf-8"), to_markdown(one)):
        assert (
            text.count("0123abc") == 1
            and "mutation shares of commit 0123abc" in text
            and "stale" not in text.lower()
        )


def test_the_shipped_figures_name_their_commits() -> None:
    weights = shipped()
    shares = [kept(id) for id in Registry.read().entries]
    assert weights and all(
        re.fullmatch(r"[0-9a-f]{7,}", each.commit) for each in (weights, *filter(None, shares))
    )


def test_the_page_escapes_what_it_shows(result: AuditResult, tmp_path: Path) -> None:
    to_html(result, tmp_path / "audit.html")
    raw = (tmp_path / "audit.html").read_text(encoding="utf-8")
    assert raw.count("<script>") == 1 and "&lt;script&gt;no" in raw and "<i>form" not in raw


def test_incomplete_checks_stay_on_the_page_faded(tmp_path: Path) -> None:
    source = (
        POWER_EVIDENCE
        + """
@data("PW-5", source="Ebbinghaus 1885", scope="out: a single subject", papers=("ebbinghaus1885gedachtnis",), subjects="one")
def savings(s): return s.trace(1.0, 1.0), 0.5
"""
    )
    one = audit(ENTRIES[:1], MODULES, {"power_law": module_of("e_scope", source)})
    assert str(one.mechanisms[0].verdict.rating) == "DOCUMENTED" and one.exit_code == 1
    to_html(one, tmp_path / "audit.html")
    page = Page((tmp_path / "audit.html").read_text(encoding="utf-8"))
    assert sum(a.get("class") == "faded" for t, a in page.tags if t == "tr") == 1
    assert "a single subject" in page.text and "not applicable" in page.text


# --- what can be quoted, linked and cited ---------------------------------------------------------
SHOWN = ("heat", "recency", "short_term_plasticity_printed")


@dataclass(frozen=True)
class Made:
    """A small audit of the collection, everything that its reports need, and its page."""

    result: AuditResult
    registry: Registry
    systems: tuple[sources.SourceSystem, ...]
    known: Provenance
    page: str


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    registry, references, path = (
        Registry.read(),
        load(),
        tmp_path_factory.mktemp("made") / "audit.html",
    )
    result, systems = audit_registry(registry, only=SHOWN), sources.read(registry, references)
    known = provenance(
        registry, references, SHOWN, seconds=1.25, words=("hebbarium", "audit", "--out", "my audit")
    )
    to_html(result, path, references, registry, systems, provenance=known)
    return Made(result, registry, systems, known, path.read_text(encoding="utf-8"))


def test_the_summary_counts_what_ran(result: AuditResult) -> None:
    """By hand: 4 checks run on each of three mechanisms and 1 on blend; the 2 mutants of crash
    are broken; bare has no evidence.
    """
    assert counts(result) == Counts(
        mechanisms=5,
        checks=13,
        mutants_run=5,
        mutants_rejected=3,
        ours=4,
        earned=3,
        printed=1,
        unearned=1,
    )
    assert summary(result).partition(", ")[2] == (
        "5 memory mechanisms were tested by 13 checks, which reject 3 of 5 mutants (wrong versions made on purpose); "
        "3 of 4 claims of our own are earned, and 1 of 1 printed form that source systems rate does not earn the claimed rating."
    )
    one = AuditResult((by_id(result, "blend"),))
    assert summary(one).endswith(
        ", 1 memory mechanism was tested by 1 check, which reject 1 of 1 mutant (wrong versions made on purpose); "
        "1 of 1 claim of our own is earned."
    )
    output = to_json(result)
    assert output["summary"] == summary(result) and output["counts"]["checks"] == sum(
        len(m["checks"]) for m in output["mechanisms"]
    )
    assert output["provenance"] is None and (output["citation"], output["bibtex"]) == ("", "")


def test_checks_that_do_not_count_for_a_rating_are_counted_as_checks() -> None:
    both = audit(ENTRIES[:2], MODULES, {"power_law": module_of("e_citing_too", CITING)})
    assert [len(m.also_compared) for m in both.mechanisms] == [0, 1] and counts(both).checks == 8


def test_the_page_opens_with_the_summary_and_shows_sources_before_cards(made: Made) -> None:
    order = "summary", "citation", "mechanisms", "cortex2026", "h-cards", "heat"
    text, places = Page(made.page).text, [made.page.index(f'id="{id}"') for id in order]
    assert places == sorted(places)
    assert summary(made.result) in text and f"Cite as: {citation(made.known)}" in text
    first = text[text.index("and what was measured") + len("and what was measured") :]
    assert first.strip().startswith(summary(made.result))


def test_every_mechanism_check_and_claim_has_an_anchor_and_a_visible_link_to_it(made: Made) -> None:
    page = Page(made.page)
    ids = [a["id"] for _, a in page.tags if "id" in a]
    assert [id for id, n in Counter(ids).items() if n > 1] == [] and not any(
        re.search(r"\s", id or "") for id in ids
    )
    checks = {
        f"{m.id}:{r.check.id}"
        for m in made.result.mechanisms
        for r in (*m.checks, *m.also_compared, *m.static)
    }
    claims = {
        id
        for id in ids
        if id and id.partition(":")[0] in {s.key for s in made.systems} and ":" in id
    }
    assert len(checks) > 20 and len(claims) == sum(
        len(s.claims) + len(s.citations) for s in made.systems
    )
    assert {*checks, *claims, *SHOWN, *(s.key for s in made.systems)} <= links(page) <= set(ids)
    assert "recency:RC-2" in checks and "cortex2026:engram.py-half-life" in claims


def test_every_form_has_its_provenance(made: Made) -> None:
    output = json.loads(
        json.dumps(to_json(made.result, made.registry, made.systems, made.known), allow_nan=False)
    )
    schema = json.loads((ROOM / "audit.schema.json").read_text(encoding="utf-8"))
    assert [e.message for e in Draft202012Validator(schema).iter_errors(output)] == []
    how = output["provenance"]
    assert (
        how["command_line"] == "hebbarium audit --out 'my audit'"
        and how["seconds"] == 1.25
        and how["registry"] == made.registry.digest
    )
    assert (
        re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", how["date"])
        and how["cores"] >= 1
        and how["versions"]["numpy"]
    )
    page, text = Page(made.page).text, to_markdown(made.result, made.systems, None, made.known)
    for value in (
        how["version"],
        how["code"],
        how["registry"],
        how["evidence"]["digest"],
        how["claims"],
        how["date"],
        how["platform"],
        how["command_line"],
        how["versions"]["numpy"],
        "1.2",
    ):
        assert value in page and value in text, value
    assert all(how[name][:12] in output["citation"] for name in ("code", "registry"))
    assert output["mutants_asked"] and ("mutantsrun" in page) and "| mutants | run |" in text
    assert "| mutants | not run |" in to_markdown(
        replace(made.result, mutants_asked=False), (), None, made.known
    )


def test_digests_are_those_of_the_files(made: Made) -> None:
    for id in SHOWN:
        assert (
            made.known.evidence[id]
            == hashlib.sha256((ROOM / "evidence" / f"{id}.py").read_bytes()).hexdigest()
        )
    fewer = provenance(made.registry, load(), SHOWN[:2], seconds=0.0)
    assert fewer.evidence_digest != made.known.evidence_digest and (fewer.code, fewer.claims) == (
        made.known.code,
        made.known.claims,
    )


def test_bibtex_is_that_of_the_mechanisms_shown(made: Made) -> None:
    wanted = {key for id in SHOWN for key in made.registry.entries[id].papers}
    bibtex = to_json(made.result, made.registry, (), made.known)["bibtex"]
    assert {entry.key for entry in bibliography.read(bibtex)} == wanted and len(wanted) > 1
    assert (
        bibtex.strip() in Page(made.page).text
        and f"BibTeX of {len(wanted)} papers" in Page(made.page).text
    )
    lacking = made.registry.entries["heat"].model_copy(
        update={"papers": ("nobody1900nothing",), "equations": ()}
    )
    known = provenance(Registry({"heat": lacking}, {}, "0"), load(), ["heat"], seconds=0.0)
    assert known.papers == () and known.made.bibtex == ""


# --- LaTeX ----------------------------------------------------------------------------------------
def rows_of(tex: str) -> list[list[list[str]]]:
    """The cells of every row of every table, as text."""
    tables = [
        part.partition("\\endlastfoot\n")[2].partition("\\end{longtable}")[0]
        for part in tex.split("\\begin{longtable}")[1:]
    ]
    plain = [
        table.replace("\\_\\allowbreak{}", "_").replace("''", '"').replace("\\&", "and")
        for table in tables
    ]
    return [
        [line.removesuffix(" \\\\").split(" & ") for line in table.strip().splitlines()]
        for table in plain
    ]


def test_latex_has_a_row_for_every_mechanism_and_claim(made: Made) -> None:
    tex = to_latex(made.result, made.systems, made.known)
    first, *others = rows_of(tex)
    assert [(row[0], row[1], row[2], row[-1]) for row in first] == [
        (m.id, str(m.claimed), str(m.verdict.rating), "earned" if m.earned else "finding")
        for m in made.result.mechanisms
    ]
    assert [[row[0] for row in rows] for rows in others] == [
        [c.module for c in system.claims] for system in made.systems
    ]
    assert all(len(row) == 6 for row in first) and all(
        len(row) == 5 for rows in others for row in rows
    )
    comments = [line for line in tex.splitlines() if line.startswith("%")]
    assert f"% {summary(made.result)}" in comments and f"% {citation(made.known)}" in comments


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="needs pdflatex")
def test_latex_compiles(made: Made, tmp_path: Path) -> None:
    odd = made.systems[0].model_copy(
        update={
            "claims": (
                made.systems[0]
                .claims[0]
                .model_copy(update={"module": '*[\\x{_}^~&%$#<>|"é ×≥†`]\x1b'}),
            )
        }
    )
    (tmp_path / "audit.tex").write_text(
        to_latex(made.result, (*made.systems, odd), made.known), encoding="utf-8"
    )
    (tmp_path / "paper.tex").write_text(
        "\\documentclass{article}\\usepackage{array,booktabs,longtable}"
        "\\begin{document}\\footnotesize\\input{audit}\\end{document}",
        encoding="utf-8",
    )
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-draftmode", "paper"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=120,
    )
    assert done.returncode == 0, done.stdout[-2000:]


# --- the command ----------------------------------------------------------------------------------
@pytest.mark.slow
def test_the_command_writes_every_file(tmp_path: Path) -> None:
    done = CliRunner().invoke(
        app, ["audit", "recency", "--no-mutants", "--out", str(tmp_path / "o")]
    )
    assert done.exit_code == 0, done.output
    files = {
        file.relative_to(tmp_path / "o").as_posix(): file.read_text(encoding="utf-8")
        for file in (tmp_path / "o").rglob("*")
        if file.is_file()
    }
    assert set(files) == {
        "audit.html",
        "audit.md",
        "audit.json",
        "audit.tex",
        "audit.bib",
        "figures/recency-half_life.svg",
    }
    output = json.loads(files["audit.json"])
    assert output["bibtex"] == files["audit.bib"] and output["provenance"]["seconds"] > 0
    assert output["provenance"]["command_line"].startswith("hebbarium")
    assert (
        not output["mutants_asked"]
        and output["summary"] in files["audit.md"]
        and output["citation"] in files["audit.tex"]
    )
    drawn = ElementTree.fromstring(files["figures/recency-half_life.svg"])
    box = [float(n) for n in drawn.attrib["viewBox"].split()]
    assert drawn.tag == "{http://www.w3.org/2000/svg}svg" and (
        drawn.attrib["width"],
        drawn.attrib["height"],
    ) == (f"{box[2]:g}pt", f"{box[3]:g}pt")
    assert (
        "var(" not in files["figures/recency-half_life.svg"]
        and "<path" in files["figures/recency-half_life.svg"]
    )
