"""Phenomena of mechanisms: which probes count for which, and what their verdicts say."""

from __future__ import annotations

import json
from typing import Any

import pytest
from scripts import script

from hebbarium.audit.behaviour import FILE, PEOPLE, Phenomenon, Probed, phenomena, shipped
from hebbarium.benchmarks.people.study import PARADIGMS
from hebbarium.benchmarks.probes.harness.collection import own
from hebbarium.engine.catalogue.registry import Registry

REGISTRY = Registry.read()
PROBED = {
    "lag_crp/list": Probed(
        ("howard2002distributed",), ("temporal_context",), {"default": "outside"}
    ),
    "lag_crp/far": Probed(
        ("howard2002distributed",),
        ("temporal_context",),
        {"default": "outside", "everything": "shown", "hybrid": "shown"},
    ),
    "lag_crp/easy": Probed(
        ("howard2002distributed",), ("temporal_context",), {"default": "shown"}, control=True
    ),
    "needle/depths": Probed((), ("temporal_context",), {"default": "shown"}),
    "fan_effect/names": Probed(("anderson1974retrieval",), ("spreading_activation",), {}),
}


@pytest.fixture(scope="module")
def tool() -> Any:
    return script("behaviour")


def test_the_verdicts_that_ship_are_those_of_the_results(tool: Any) -> None:
    """If not, run `python docs/tools/behaviour.py`."""
    results, people = (
        json.loads(file.read_text(encoding="utf-8")) for file in (tool.PROBES, tool.EXPERIMENTS)
    )
    assert json.loads(FILE.read_text(encoding="utf-8")) == tool.made(
        own().values(), results, people
    )


def test_a_set_whose_gates_refused_is_read_without_gates(tool: Any) -> None:
    probe = own()["permastore/years"]
    refused, shown = {"verdict": "refused by a gate"}, {"verdict": "shown"}
    results = {
        "sets": {"night": {probe.id: refused}, "everything": {probe.id: refused}},
        "open": {"everything_open": {probe.id: shown}},
    }
    made = tool.of_probes([probe], results)[probe.id]
    assert made["verdicts"] == {"night": "refused by a gate", "everything": "shown"}
    assert made["control"] is False
    results["sets"]["bm25"] = {probe.id: shown}
    assert tool.of_probes([probe], results)[probe.id]["control"] is True


def row(*verdicts: str, why: str = "") -> dict[str, Any]:
    names = ("practice helps", "practice hurts its relatives", "more than telling again does")
    return {"why": why, "effects": dict(zip(names, verdicts, strict=False))}


YES, NO, AGAINST, UNSURE = "as people", "no effect", "against people", "undecided"
REFUSED = "its gates refused 3 of 48 things to be learnt"


@pytest.mark.parametrize(
    ("measured", "verdict"),
    [
        (row(YES, YES, YES), "shown"),
        (row(YES, NO, YES), "outside"),
        (row(YES, UNSURE, AGAINST), "outside"),
        (row(YES, UNSURE, YES), "not shown"),
        (row(YES, YES), "unmeasured"),  # before the experiment had its third effect
        (None, "unmeasured"),
        (row(why=REFUSED), "refused by a gate"),
        (row(why="a call of the memory failed: no"), "error"),
    ],
)
def test_an_experiment_is_shown_if_every_effect_is_as_in_people(
    tool: Any, measured: Any, verdict: str
) -> None:
    effects = tool.EFFECTS_OF["induced_forgetting"]
    assert tool.verdict_of(measured, effects) == verdict


def test_experiments_are_read_of_sets_that_took_part(tool: Any) -> None:
    memories = {
        "night": row(YES, YES, YES),
        "waking": row(YES, NO, NO),
        "default": row(YES, YES),
        "everything": row(why=REFUSED),
        "everything_open": row(YES, UNSURE, YES),
        "bm25": row(NO, NO, NO),
        "recency alone": row(NO, NO, NO),
    }
    memories = {name: {"induced_forgetting": of} for name, of in memories.items()}
    made = tool.of_people(memories)["people/induced_forgetting"]
    assert made["verdicts"] == {
        "night": "shown",
        "waking": "outside",
        "everything": "not shown",
        "bm25": "outside",
    }
    assert made["source"] == ["anderson1994remembering"]
    assert made["matters"] == ["retrieval_competition"] and made["control"] is False
    memories["recency alone"] = {"induced_forgetting": row(YES, YES, YES)}
    assert tool.of_people(memories)["people/induced_forgetting"]["control"] is True
    assert tool.of_people(memories)["people/testing"]["verdicts"] == {}


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
    assert phenomenon.missed and "unmeasured" in phenomenon.text


def test_an_experiment_with_people_is_named_or_of_its_papers() -> None:
    entry = REGISTRY.entry("recency").model_copy(update={"phenomena": ("people/retention",)})
    verdicts = {"default": "outside", "waking": "shown"}
    probed = {"people/retention": Probed((), ("base_level_activation",), verdicts)}
    (phenomenon,) = phenomena(entry, REGISTRY, probed)
    assert phenomenon.probe == "people/retention" and not phenomenon.control
    testing = {"people/testing": Probed(("x", "roediger2006test"), ("testing_effect",), verdicts)}
    (own_paper,) = phenomena(REGISTRY.entry("testing_effect"), REGISTRY, testing)
    assert own_paper.verdicts == {"waking": "shown"} and own_paper.shown


def test_what_the_registry_names_exists() -> None:
    known = set(shipped()[0])
    names = known | {id.partition("/")[0] for id in known}
    assert {name for entry in REGISTRY.entries.values() for name in entry.phenomena} <= names


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
    assert code.startswith("0.1.0+")
    assert set(probed) <= {*own(), *(f"{PEOPLE}/{id}" for id in PARADIGMS)}
