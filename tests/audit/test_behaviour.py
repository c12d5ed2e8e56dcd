"""Phenomena of mechanisms: which probes count for which, and what their verdicts say."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

from hebbarium.audit.behaviour import FILE, Phenomenon, Probed, phenomena, shipped
from hebbarium.benchmarks.probes.harness.collection import own
from hebbarium.engine.catalogue.registry import Registry

TOOLS = Path(__file__).parents[2] / "docs" / "tools"
REGISTRY = Registry.read()
PROBED = {
    "lag_crp/list": Probed("howard2002distributed", ("temporal_context",), {"default": "outside"}),
    "lag_crp/far": Probed(
        "howard2002distributed",
        ("temporal_context",),
        {"default": "outside", "everything": "shown", "hybrid": "shown"},
    ),
    "lag_crp/easy": Probed(
        "howard2002distributed", ("temporal_context",), {"default": "shown"}, control=True
    ),
    "needle/depths": Probed("", ("temporal_context",), {"default": "shown"}),
    "fan_effect/names": Probed("anderson1974retrieval", ("spreading_activation",), {}),
}


@pytest.fixture(scope="module")
def pages() -> ModuleType:
    sys.path.insert(0, str(TOOLS))
    try:
        spec = importlib.util.spec_from_file_location("probe_pages", TOOLS / "probe_pages.py")
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(TOOLS))
    return module


def test_the_verdicts_that_ship_are_those_of_the_results(pages: ModuleType) -> None:
    results = json.loads(pages.RESULTS.read_text(encoding="utf-8"))
    assert json.loads(FILE.read_text(encoding="utf-8")) == pages.behaviour(own().values(), results)


def test_a_set_whose_gates_refused_is_read_without_gates(pages: ModuleType) -> None:
    probe = own()["permastore/years"]
    refused, shown = {"verdict": "refused by a gate"}, {"verdict": "shown"}
    results = {
        "code": "c",
        "date": "d",
        "sets": {"night": {probe.id: refused}, "everything": {probe.id: refused}},
        "open": {"everything_open": {probe.id: shown}},
    }
    made = pages.behaviour([probe], results)["probes"][probe.id]
    assert made["verdicts"] == {"night": "refused by a gate", "everything": "shown"}
    assert made["control"] is False
    results["sets"]["bm25"] = {probe.id: shown}  # type: ignore[index]
    assert pages.behaviour([probe], results)["probes"][probe.id]["control"] is True


def test_the_experiments_of_its_papers_count_whether_it_names_them_or_not() -> None:
    entry = REGISTRY.entry("temporal_context")
    unnamed = phenomena(entry.model_copy(update={"phenomena": ()}), REGISTRY, PROBED)
    assert [p.probe for p in unnamed] == ["lag_crp/list", "lag_crp/far", "lag_crp/easy"]
    named = phenomena(entry.model_copy(update={"phenomena": ("needle",)}), REGISTRY, PROBED)
    assert "needle/depths" in {p.probe for p in named}
    assert not phenomena(REGISTRY.entry("recency"), REGISTRY, PROBED)


def test_a_probe_that_was_never_measured_is_missed() -> None:
    entry = REGISTRY.entry("recency").model_copy(update={"phenomena": ("unheard_of",)})
    (phenomenon,) = phenomena(entry, REGISTRY, PROBED)
    assert phenomenon.missed and "not measured" in phenomenon.text


def test_verdicts_are_those_of_the_sets_that_hold_the_mechanism() -> None:
    found = {p.probe: p for p in phenomena(REGISTRY.entry("temporal_context"), REGISTRY, PROBED)}
    assert found["lag_crp/list"].missed and not found["lag_crp/list"].shown
    # hybrid does not hold it; one set suffices
    assert found["lag_crp/far"].verdicts == {"default": "outside", "everything": "shown"}
    assert found["lag_crp/far"].shown and not found["lag_crp/far"].missed
    # a search alone shows it: it neither raises nor lowers
    assert not found["lag_crp/easy"].shown and not found["lag_crp/easy"].missed
    assert "control" in found["lag_crp/easy"].text


@pytest.mark.parametrize("verdict", ["outside", "not shown", "refused by a gate", "error"])
def test_nothing_but_shown_is_shown(verdict: str) -> None:
    assert Phenomenon("p", {"default": verdict}).missed
    assert Phenomenon("p", {"default": verdict, "night": "shown"}).shown


def test_the_verdicts_name_their_code() -> None:
    probed, code = shipped()
    assert code.startswith("0.1.0+") and set(probed) <= set(own())
