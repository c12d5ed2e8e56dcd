"""The page of measured memories and its picture are those of docs/results/people.json."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from typing import Any

import pytest
from scripts import script

from hebbarium.audit.references import of_registry
from hebbarium.benchmarks.people.trial import EVERY, beside_people
from hebbarium.cli.catalogue import show
from hebbarium.engine.catalogue.registry import Registry


@pytest.fixture(scope="module")
def tool() -> Any:
    return script("people_results")


@pytest.fixture(scope="module")
def results(tool: Any) -> dict[str, Any]:
    measured: dict[str, Any] = json.loads(tool.RESULTS.read_text(encoding="utf-8"))
    return measured


def test_page_and_picture_follow_from_the_results(tool: Any, results: Any) -> None:
    """If not, run `python docs/tools/people_results.py`."""
    assert tool.PAGE.read_text(encoding="utf-8") == tool.page(results)
    assert tool.PICTURE.read_text(encoding="utf-8") == tool.drawn(results)
    assert tool.SHIPPED.read_text(encoding="utf-8") == tool.cards(results)


def test_cards_of_mechanisms_have_what_was_measured(
    results: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    measured = [r for r in results["trials"].values() if r["mechanism"] == "temporal_context"]
    rows = beside_people("temporal_context")
    assert {(row.set, row.paradigm) for row in rows} == {
        (r["set"], r["paradigm"])
        for r in measured
        if r["change"]["mean"] is not None and r["paradigm"] != EVERY
    }
    show("temporal_context", as_json=True)
    card = json.loads(capsys.readouterr().out)["beside_people"]
    assert [row["verdict"] for row in card] == [str(row.verdict) for row in rows]
    assert card[0]["change"]["low"] <= card[0]["change"]["mean"] <= card[0]["change"]["high"]
    show("temporal_context")
    assert "Beside people" in capsys.readouterr().out
    assert beside_people("engram_allocation") == []
    entry = Registry.read().entry("temporal_context")
    page = script("build").page(entry, of_registry(Registry.read()), None)
    assert "## Beside people" in page and f"| {rows[0].set} | {rows[0].paradigm} |" in page


def test_a_nearness_is_the_geometric_mean_over_what_all_have(tool: Any) -> None:
    def row(distance: float | None) -> dict[str, Any]:
        return {"mean": distance, "low": None, "high": None, "effects": {}, "why": ""}

    memories = {
        "a": {"fan": row(1.0), "sleep": row(4.0), "testing": row(9.0)},
        "b": {"fan": row(2.0), "sleep": row(0.5), "testing": row(None)},
    }
    assert tool.in_common(memories, ["a", "b"]) == ["fan", "sleep"]
    near = tool.nearness(memories, ["a", "b"])
    assert near == {"a": pytest.approx(2.0), "b": pytest.approx(1.0)}


def test_an_effect_of_a_baseline_is_none_that_sets_show(tool: Any) -> None:
    def memory(verdict: str) -> dict[str, Any]:
        return {"sleep": {"effects": {"less": verdict}}}

    memories = {"a": memory("as people"), "b": memory("no effect"), "bm25": memory("no effect")}
    assert not tool._absent(memories, list(memories), "sleep", "less")
    assert tool._absent(memories, ["b", "bm25"], "sleep", "less")
    memories["bm25"] = memory("as people")
    assert tool._absent(memories, list(memories), "sleep", "less")
    assert not tool._absent(memories, list(memories), "sleep", "never looked for")


def test_the_picture_names_every_set_in_the_places_of_its_numbers(tool: Any, results: Any) -> None:
    picture = ET.fromstring(tool.drawn(results))
    circles = list(picture.iter("{http://www.w3.org/2000/svg}circle"))
    useful = tool.usefulness()
    names = tool.drawn_names(results["memories"], useful)
    refused = {n for n, of in results["memories"].items() if not tool.scored(of)}
    assert refused.isdisjoint(names) and {"default", "naive_rag"} <= {*names}
    assert len(names) > 3 and set(useful) == {"LoCoMo", "BEAM 100K"}
    for place, of in enumerate(useful.values()):
        panel = {
            c[0].text: float(c.attrib["cx"]) for c in circles[place * len(names) :][: len(names)]
        }
        assert set(panel) == set(names)
        assert sorted(panel, key=lambda n: panel[n]) == sorted(
            names, key=lambda n: (of[n], panel[n])
        )


def test_usefulness_is_read_from_the_pages_of_measurements(tool: Any) -> None:
    for data in tool.usefulness().values():
        assert {"default", "naive_rag", "everything"} <= set(data)
        assert all(0.0 < recall < 1.0 for recall in data.values())
    gained = tool.gained_by()
    _, section = tool.DESIGNS_ON_DATA.read_text(encoding="utf-8").split(
        "## default\\_leave\\_one\\_out"
    )
    for id, sign in (("lexical\\_bm25", 1.0), ("curation", -1.0)):  # a gain and a loss
        cells = next(line for line in section.splitlines() if line.startswith(f"| {id} |")).split(
            "|"
        )
        assert gained[id.replace("\\", "")] == sign * float(cells[2].strip(" +\u2212")) != 0.0
    assert set(gained) == set(Registry.read().set("default").mechanisms)
