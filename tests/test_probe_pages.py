"""The pages and pictures of probes are those that docs/tools/probe_pages.py writes from the
stored results, and every failure is explained.
"""

from __future__ import annotations

import json
import re
import sys
import xml.etree.ElementTree as ET
from itertools import groupby
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from hebbarium.benchmarks.probes.harness.collection import own

DOCS = Path(__file__).parent.parent / "docs"
PROBES = list(own().values())


@pytest.fixture(scope="module")
def made() -> ModuleType:
    sys.path.insert(0, str(DOCS / "tools"))
    try:
        import probe_pages
    finally:
        sys.path.remove(str(DOCS / "tools"))
    module: ModuleType = probe_pages
    return module


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        (DOCS / "reference" / "probes" / "results.json").read_text(encoding="utf-8")
    )
    return found


def test_every_set_is_measured_over_every_probe(results: dict[str, Any], made: ModuleType) -> None:
    assert set(results["sets"]) == set(made.SETS) and set(results["gates"]) == set(made.GATES)
    assert all(
        list(map(str, found)) and set(found) == {probe.id for probe in PROBES}
        for found in results["sets"].values()
    )


def test_a_memory_with_nothing_but_similarity_fails_two_thirds(results: dict[str, Any]) -> None:
    verdicts = [results["sets"]["naive_rag"][probe.id]["verdict"] for probe in PROBES if probe.band]
    assert sum(verdict != "shown" for verdict in verdicts) >= 2 / 3 * len(verdicts)


def test_pages_and_pictures_are_current(results: dict[str, Any], made: ModuleType) -> None:
    for name, group in groupby(sorted(PROBES, key=lambda p: p.name), key=lambda p: p.name):
        assert (DOCS / "reference" / "probes" / f"{name}.md").read_text(
            encoding="utf-8"
        ) == made.page(list(group), results)
    for probe in PROBES:
        assert (DOCS / "reference" / "probes" / "pictures" / made.file_of(probe)).read_text(
            encoding="utf-8"
        ) == made.picture(probe, results)
    for name in made.ALIVE:
        assert (DOCS / "results" / f"alive-{name}.md").read_text(
            encoding="utf-8"
        ) == made.alive_page(name, results)
    index = (DOCS / "reference" / "probes" / "index.md").read_text(encoding="utf-8")
    assert made.index_table(PROBES, results) in index


@pytest.mark.parametrize("probe", PROBES, ids=[probe.id for probe in PROBES])
def test_a_picture_is_an_image_for_light_and_dark(probe: Any, made: ModuleType) -> None:
    text = (DOCS / "reference" / "probes" / "pictures" / made.file_of(probe)).read_text(
        encoding="utf-8"
    )
    assert (
        ET.fromstring(text).tag.endswith("svg")
        and "prefers-color-scheme: dark" in text
        and "nan" not in text
    )


def test_what_everything_fails_is_explained(results: dict[str, Any], made: ModuleType) -> None:
    failing = [
        id
        for id, one in results["sets"]["everything"].items()
        if one["verdict"] in ("outside", "not shown", "refused by a gate", "error")
    ]
    failing += [
        id
        for id, one in results["sets"]["waking"].items()
        if one["verdict"] in ("outside", "not shown", "refused by a gate", "error")
    ]
    assert [id for id in dict.fromkeys(failing) if not made.REASONS.get(id)] == []
    assert set(made.REASONS) | set(made.CHANGED) | set(made.PUBLISHED) | set(made.CURVES) <= {
        probe.id for probe in PROBES
    }


def test_sets_of_papers_are_measured_and_explained_on_the_probes_of_their_page(
    results: dict[str, Any], made: ModuleType
) -> None:
    assert set(results["beside"]) == set(made.PAPERS)
    assert all(set(found) == set(made.BESIDE) for found in results["beside"].values())
    for id, why in made.BESIDE.items():
        outside = [
            name for name in made.PAPERS if results["beside"][name][id]["verdict"] != "shown"
        ]
        assert all(f"`{name}`" in why for name in outside)


def test_at_most_three_mechanisms_of_everything_are_inert_and_each_has_a_reason(
    results: dict[str, Any], made: ModuleType
) -> None:
    runs = [
        results["alive"]["everything"],
        *(run for of, run in results.get("alive, others", {}).items() if of == "everything"),
    ]
    moved = {one["id"] for run in runs for one in run["mechanisms"] if one["moved"]}
    inert = [one["id"] for one in runs[0]["mechanisms"] if one["id"] not in moved]
    assert len(inert) <= 3 and set(inert) <= set(made.INERT)
    page = (DOCS / "results" / "alive-everything.md").read_text(encoding="utf-8")
    total = len(runs[0]["mechanisms"])
    assert (
        all(made.INERT[id] in page for id in inert)
        and f"{total - len(inert)} of {total} mechanisms move" in page
    )


def test_a_new_run_takes_the_place_of_its_old_one_alone(made: ModuleType) -> None:
    known = {
        "sets": {"bm25": {"a": 1, "b": 1}, "hybrid": {"a": 2, "b": 2}},
        "code": "old",
        "date": "then",
        "embedder": "e",
        "seeds": {"bm25": 10, "hybrid": 10},
        "alive": {"default": 3, "everything": 4},
        "alive, others": {"default": 5, "everything": 6},
    }
    matrix = {"sets": {}, "seeds": {}, "alive": {"everything": 7}}
    made_of_matrix = made.renewed(known, matrix)
    assert made_of_matrix["sets"] == known["sets"] and "again" not in made_of_matrix
    assert made_of_matrix["alive"] == {"default": 3, "everything": 7}
    assert made_of_matrix["alive, others"] == {"default": 5}
    later = {"code": "new", "date": "now", "embedder": "e"}
    some = made.renewed(known, {**later, "sets": {"bm25": {"b": 8}}, "seeds": {"bm25": 3}})
    assert some["sets"] == {"bm25": {"a": 1, "b": 8}, "hybrid": {"a": 2, "b": 2}}
    assert (some["code"], some["seeds"]) == ("old", known["seeds"])
    assert some["again"] == [
        {"code": "new", "date": "now", "probes": ["b"], "seeds": 3, "sets": []}
    ]
    whole = made.renewed(known, {**later, "sets": {"bm25": {"a": 8, "b": 8}}, "seeds": {"bm25": 3}})
    assert whole["code"] == "new" and whole["seeds"] == {"bm25": 3, "hybrid": 10}


def test_a_whole_matrix_shows_the_cells_that_move(
    results: dict[str, Any], made: ModuleType
) -> None:
    named = results["alive"]["everything"]
    whole = {**named, "options": ["--quick"], "ran": 20, "shared": 7}
    page = made.alive_page("everything", {**results, "alive": {"everything": whole}})
    assert (
        "`hebbarium probe --alive --quick --set everything" in page
        and "in 7 of them the mechanism left no trace" in page
    )
    rows = page[page.index("The cells that move.") : page.index("## ")] if "## " in page else page
    assert "| moves |" in rows and not re.search(r"\| [^|]*/[^|]* \| (equal|differs) \|", rows)


def test_curves_name_numbers_that_exist(results: dict[str, Any], made: ModuleType) -> None:
    for id, curve in made.CURVES.items():
        known = set().union(*(found[id]["numbers"] for found in results["sets"].values()))
        assert {name for _, names in curve.series for _, name in names} <= known, id


def test_a_reader_is_told_the_seeds_and_the_code(results: dict[str, Any]) -> None:
    index = (DOCS / "reference" / "probes" / "index.md").read_text(encoding="utf-8")
    assert results["code"] in index and re.search(r"\d+ seeds", index)
