"""The register of published numbers, what stands beside ours, and what an audit says of each."""

from __future__ import annotations

import json
import math
import re
import runpy
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hebbarium.audit.sources.numbers import ClaimVerdict, judged_numbers
from hebbarium.cli.app import app
from hebbarium.engine.base.errors import DataError
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.reporting.claims import (
    NOT_COMPARED,
    OurSetting,
    beside,
    differing,
    measured_results,
    published_numbers,
    read_claims,
)

ROOT = Path(__file__).parents[2]
NUMBERS = published_numbers()


@pytest.fixture(scope="module")
def registry() -> Registry:
    return Registry.read()


def table(place: str, dataset: str) -> dict[str, dict[str, float]]:
    """Label -> metric -> number of a printed table."""
    rows: dict[str, dict[str, float]] = {}
    for n in NUMBERS:
        if n.table.place == place and n.table.dataset == dataset:
            rows.setdefault(n.label, {})[n.metric] = n.value
    return rows


def test_all_four_systems_have_their_tables() -> None:
    assert {n.key for n in NUMBERS} == {
        "cortex2026",
        "contextassemblyundated",
        "truememory2026",
        "allmem2026",
    }
    assert len(table("Table 7", "locomo")) == 56
    assert len(table("Table 1", "locomo")) == len(table("Table 10 (and 4)", "locomo")) == 8
    assert len(table("6.3.2, by ability", "beam")) == 10


def test_sets_and_categories_that_it_names_exist(registry: Registry) -> None:
    from hebbarium.benchmarks.datasets.locomo import CATEGORIES

    assert {n.set for n in NUMBERS} - {""} <= set(registry.sets)
    named = {n.category for n in NUMBERS if n.table.dataset == "locomo"} - {""}
    assert named <= set(CATEGORIES.values())


def test_the_full_system_of_all_mem_has_one_number_in_three_tables() -> None:
    for dataset in ("locomo", "longmemeval"):
        whole = table("Table 1", dataset)["All-Mem"]
        arms = table("Table 10 (and 4)" if dataset == "locomo" else "Table 10", dataset)
        full = arms["All-Mem (Full)"]
        assert {name: whole[name] for name in full} == full
        assert max(arms.values(), key=lambda row: row["R@5"]) == full


def test_the_page_about_all_mem_prints_the_numbers_of_the_register() -> None:
    text = (ROOT / "docs" / "results" / "all-mem.md").read_text(encoding="utf-8")
    printed = re.findall(r"^\| ([a-z ]+) \| \.\d{4} \| (?:\.\d{4} )?\| \.(\d{4}) \|", text, re.M)
    arms = {n.arm: n.value for n in NUMBERS if n.arm and n.metric == "R@5" and n.table.n == 1986}
    assert len(printed) == 8
    assert {name: int(value) / 100 for name, value in printed} == arms


def test_the_numbers_of_cortex_are_those_that_its_claims_quote(registry: Registry) -> None:
    text = (ROOT / "audit" / "sources" / "cortex.yaml").read_text(encoding="utf-8")
    for place, dataset in (("6.1, by category", "longmemeval"), ("6.2, by category", "locomo")):
        for row in table(place, dataset).values():
            assert f"{row['MRR']:.3f}, {row['R@10']:.1f}%" in " ".join(text.split())


def test_wilson_intervals_are_recomputed_from_their_closed_form(registry: Registry) -> None:
    judged = judged_numbers(registry)
    z, checked = 1.959963984540054, 0
    for claim, n in zip(judged, NUMBERS, strict=True):
        row = table(n.table.place, n.table.dataset).get(n.label, {})
        if n.metric not in ("low", "high") or "correct" not in row:
            continue
        of = row.get("n", n.table.n)
        p = row["correct"] / of
        half = z * math.sqrt(p * (1 - p) / of + z * z / (4 * of * of))
        sign = 1 if n.metric == "high" else -1
        expected = 100 * (p + z * z / (2 * of) + sign * half) / (1 + z * z / of)
        digits = len(claim.ours.partition(".")[2])
        assert claim.ours == f"{expected:.{digits}f}"
        checked += 1
    assert checked > 130


def test_what_an_audit_says_of_numbers_that_follow_from_others(registry: Registry) -> None:
    verdicts = {c.what: (str(c.verdict), c.ours) for c in judged_numbers(registry)}
    assert verdicts["assembler over WRRF at 10M: gain on beam"] == ("not reproduced", "21.53")
    assert verdicts["assembler minus WRRF at 10M: difference on beam"][0] == "reproduced"
    halves = "hours in which the score exp(-age / 24 h) halves: half-life"
    assert verdicts[halves] == ("not reproduced", f"{24 * math.log(2):.2f}")
    assert verdicts["all 56 cells: spread on locomo"][0] == "reproduced"
    assert verdicts["TM Pro, oracle variant: low on longmemeval"][0] == "not reproduced"


def test_numbers_are_compared_only_if_no_setting_differs(registry: Registry) -> None:
    number = next(n for n in NUMBERS if n.label == "Naive RAG" and n.metric == "R@5")
    same = OurSetting("naive_rag", "locomo", 1986, "all-MiniLM-L6-v2")
    assert differing(number, same) == ()
    for changed in (
        replace(same, n=997),
        replace(same, embedder="hashing:64"),
        replace(same, gold="gold sessions"),
        replace(same, reranker="a cross-encoder of the user"),
        replace(same, set="bm25"),
        replace(same, lacks="its model"),
    ):
        assert len(differing(number, changed)) == 1
    shipped = next(r for r in measured_results() if (r.set, r.dataset) == ("naive_rag", "locomo"))
    assert shipped.n == 997, "development data alone"
    for value, verdict in ((0.28, "reproduced"), (0.4, "not reproduced")):
        ours = shipped.model_copy(
            update={"n": 1986, "overall": {"recall@5": (value, value - 0.01, value + 0.01)}}
        )
        (claim,) = judged_numbers(registry, [number], [ours])
        assert str(claim.verdict) == verdict
    (claim,) = judged_numbers(registry, [number])
    assert claim.verdict is ClaimVerdict.NOT_COMPARABLE and claim.ours
    assert "1,986 questions there, 997 here" in claim.why


def test_a_value_without_an_interval_is_compared_by_the_printed_decimals(
    registry: Registry,
) -> None:
    """And a category, whose values have none either, is not compared: chance moves it by more."""
    number = next(n for n in NUMBERS if n.label == "Naive RAG" and n.metric == "R@5")
    shipped = next(r for r in measured_results() if (r.set, r.dataset) == ("naive_rag", "locomo"))
    for off, verdict in ((0.4e-4, "reproduced"), (0.6e-4, "not reproduced")):
        value = number.share + off
        ours = shipped.model_copy(
            update={
                "n": 1986,
                "overall": {"recall@5": (value,) * 3},
                "categories": {"temporal": {"recall@5": number.share}},
            }
        )
        (claim,) = judged_numbers(registry, [number], [ours])
        assert (str(claim.verdict), claim.why) == (verdict, "our value, to the printed decimals")
    (claim,) = judged_numbers(registry, [replace(number, category="temporal")], [ours])
    assert claim.verdict is ClaimVerdict.NOT_COMPARABLE and "no interval by category" in claim.why


def test_rows_beside_a_result_name_every_setting_that_differs() -> None:
    ours = OurSetting("cortex", "locomo", 997, "all-MiniLM-L6-v2", lacks="its cross-encoder")
    rows = beside(ours, {"recall@10": 0.7}, {"temporal": {"recall@10": 0.6}})
    own = next(row for row in rows if row.published.label == "Cortex")
    assert own.ours == 0.7 and own.row()[-1].startswith(NOT_COMPARED)
    assert "its cross-encoder" in own.row()[-1] and "gold not printed there" in own.row()[-1]
    # what Cortex calls multi-hop has the weight of the temporal category
    multi_hop = next(row for row in rows if row.published.label == "Multi-hop")
    assert (multi_hop.ours, multi_hop.published.share) == (0.6, pytest.approx(0.888))
    assert beside(replace(ours, dataset="demo"), {"recall@10": 0.7}) == ()


def test_arms_stand_beside_arms() -> None:
    ours = OurSetting("all_mem", "locomo", 997, "all-MiniLM-L6-v2", arm="without merge")
    (row,) = beside(ours, {"recall@5": 0.36})
    assert row.published.label == "w/o Merge" and row.published.share == pytest.approx(0.4396)


def test_a_register_of_another_form_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "claims.yaml"
    head = "systems: [{system: S, key: k, version: v, gold: g, embedder: e, reranker: r, reader: a, judge: j, tables: "
    for tables in (
        "[{place: p, rows_are: system, units: {a: share}, rows: [[x, 1, 2]]}]}]",
        "[{place: p, rows_are: system, sets: {y: bm25}, units: {a: share}, rows: [[x, 1]]}]}]",
        "[{place: p}]}]",
        "3}]",
    ):
        file.write_text(head + tables, encoding="utf-8")
        with pytest.raises(DataError, match=r"claims\.yaml"):
            read_claims.__wrapped__(file)


def test_the_page_is_what_the_register_and_the_shipped_results_say() -> None:
    tool = runpy.run_path(str(ROOT / "docs" / "tools" / "published.py"))
    assert (ROOT / "docs" / "results" / "published.md").read_text(encoding="utf-8") == tool[
        "page"
    ]()


@pytest.mark.slow
def test_the_command_says_of_every_claim_what_became_of_it() -> None:
    result = CliRunner().invoke(app, ["audit", "--sources", "--json"])
    assert result.exit_code == 0
    claims = json.loads(result.stdout)
    assert {c["verdict"] for c in claims} == {str(v) for v in ClaimVerdict}
    words = {c["what"]: c for c in claims}
    assert words["titans_memory.py"]["verdict"] == "not reproduced"
    assert words["titans_memory.py"]["ours"] == "APPROXIMATION"
    assert len(claims) > len(NUMBERS) + 100
    refused = CliRunner().invoke(app, ["audit", "heat", "--sources"])
    assert refused.exit_code != 0
