"""What each mechanism weighs in the answers: the reader, and the file that ships with the
package.
"""

from __future__ import annotations

import json
import shutil
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from hebbarium.audit import weights
from hebbarium.audit.weights import Weights, read, shipped
from hebbarium.engine.base.errors import DataError
from hebbarium.engine.catalogue.packages import ROOT, answering_digest
from hebbarium.engine.catalogue.registry import Entry, MechanismSet, Registry
from hebbarium.engine.contract.columns import Before, Column, Signal
from hebbarium.engine.flow.schedule import Node
from hebbarium.engine.memory.assembly import schedule_of

HEAT = {
    "to": "heat",
    "kind": "signal",
    "chain": ["activation", "heat", "fused"],
    "after_recall": False,
    "nearest": True,
}
HIDDEN = {
    "to": "visible",
    "kind": "archive",
    "chain": ["activation", "drive", "visible"],
    "after_recall": True,
    "nearest": False,
}
VETO = {
    "to": "veto",
    "kind": "admission",
    "chain": ["salience", "veto"],
    "after_recall": False,
    "nearest": True,
}


def weight(
    *routes: dict[str, Any], share: float | None = 0.0141, cold: int = 0, rehearsed: int | None = 0
) -> dict[str, Any]:
    return {"with": "full", "without": "without x", "routes": list(routes), "further": ["spread"],
            "share": share, "reached": share, "cold": cold,
            "rehearsed": rehearsed, "inert": not (cold or rehearsed)}  # fmt: skip


def file(path: Path, **changes: Any) -> Path:
    how = {"command": "hebbarium weights", "date": "2026-01-02T03:04:05Z", "commit": "0123abc",
           "code": "1.0+abc", "sources": answering_digest(),
           "parameters": Registry.read().values_digest(), "dataset": "demo", "sha256": "0",
           "embedder": "minilm", "set": "everything",
           "seed": 0, "best": 10,
           "rehearse": 0.5, "conversations": 2, "questions": 51, "gold": 45, **changes}  # fmt: skip
    found = {
        "used": weight(HEAT, HIDDEN, cold=3, rehearsed=23),
        "still": weight(HEAT),
        "gate": weight(VETO, share=None, cold=1),
        "apart": weight(share=None),
    }
    path.write_text(
        json.dumps(
            {
                "format": 1,
                "provenance": how,
                "notes": ["a note"],
                "signals": {"heat": {"mechanism": "heat", "share": 0.0141}},
                "mechanisms": found,
            }
        ),
        encoding="utf-8",
    )
    return path


@pytest.fixture
def one(tmp_path: Path) -> Weights:
    return read(file(tmp_path / "weights.json"))


def test_a_card_says_path_trust_and_answers(one: Weights) -> None:
    assert one.line("used") == (
        "Path: activation -> heat -> fused. Share of the fused trust: 1.4%. "
        "Answers of demo that change without it: 3 of 51 asked once, 23 of 51 asked again 0.5 h after use."
    )
    assert one.line("gate").startswith(
        "Path: admission of events: salience -> veto. Answers of demo"
    )


def test_inert_is_said(one: Weights) -> None:
    assert one.line("still").endswith(
        "Inert: no answer of demo changes without it (51 questions, asked once and asked again 0.5 h after use)."
    )
    assert one.line("apart").startswith("Path: none. Inert:")
    assert [w.inert for w in one.mechanisms.values()] == [False, True, False, True]


def test_what_was_not_measured_is_said(one: Weights) -> None:
    assert one.of("other") is None and one.line("other").startswith("not measured")


def test_a_file_names_the_commit_that_was_measured(one: Weights) -> None:
    assert one.commit == "0123abc"


def test_the_digest_of_the_code_follows_engine_and_mechanisms(tmp_path: Path) -> None:
    for room in ("engine", "mechanisms"):
        shutil.copytree(ROOT / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__"))
    before = answering_digest(tmp_path)
    assert answering_digest() == before
    for room, name in (
        ("engine", "__init__.py"),
        ("mechanisms", "__init__.py"),
        ("mechanisms", "words.txt"),
    ):
        (tmp_path / room / name).write_text("changed = True")
        assert answering_digest(tmp_path) != before
        before = answering_digest(tmp_path)


def test_the_digest_of_the_parameters_follows_values_and_not_prose() -> None:
    found = Registry.read()
    before, entry = found.values_digest(), found.entries["recency"]

    def digest_with(changed: Entry) -> str:
        return Registry(
            {**found.entries, "recency": changed}, found.sets, found.digest
        ).values_digest()

    weight = entry.params["weight"]
    params = {**entry.params, "weight": weight.model_copy(update={"value": 2 * weight.value})}
    assert digest_with(entry.model_copy(update={"summary": "other words"})) == before
    assert digest_with(entry.model_copy(update={"params": params})) != before
    assert digest_with(entry.model_copy(update={"time_scale": 7.0})) != before


def test_a_set_that_does_not_learn_is_said_to_be_asked_once(tmp_path: Path) -> None:
    path = file(tmp_path / "weights.json", rehearse=None, set="bm25")
    data = json.loads(path.read_text(encoding="utf-8"))
    data["mechanisms"] = {
        "used": weight(HEAT, cold=3, rehearsed=None),
        "still": weight(HEAT, rehearsed=None),
    }
    path.write_text(json.dumps(data), encoding="utf-8")
    one = read(path)
    assert one.line("used").endswith(
        "Answers of demo that change without it: 3 of 51 asked once (bm25 does not learn from recall)."
    )
    assert one.line("still").endswith(
        "Inert: no answer of demo changes without it (51 questions, asked once: bm25 does not learn from recall)."
    )
    assert [w.inert for w in one.mechanisms.values()] == [False, True]


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": 0}', '{"format": 1, "provenance": {}}']
)
def test_a_file_of_another_form_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "weights.json").write_text(text)
    with pytest.raises(DataError, match="hebbarium weights"):
        read(tmp_path / "weights.json")


# --- the file that ships --------------------------------------------------------------------------
@pytest.fixture
def mine() -> Weights:
    found = shipped()
    assert found is not None, "run `hebbarium weights --out audit/weights.json`"
    return found


def test_only_mechanisms_of_the_registry_are_weighed_and_a_new_one_is_called_not_measured(
    mine: Weights, registry: Registry
) -> None:
    assert set(mine.mechanisms) <= set(registry.entries), (
        "run `hebbarium weights --out audit/weights.json`"
    )
    assert all(
        mine.line(id).startswith("not measured") == (id not in mine.mechanisms)
        for id in (*registry.entries, "added")
    )


def test_its_numbers_agree_with_each_other(mine: Weights) -> None:
    data = json.loads(weights.FILE.read_text(encoding="utf-8"))
    assert mine.gold <= mine.questions and sum(
        share for _, share in mine.signals.values()
    ) == pytest.approx(1.0, abs=1e-3)
    for id, w in mine.mechanisms.items():
        assert 0 <= w.cold <= mine.questions and 0 <= w.rehearsed <= mine.questions, id
        assert data["mechanisms"][id]["inert"] == w.inert == (w.cold == w.rehearsed == 0), id
        assert w.share is None or 0 <= w.share <= (w.reached or 0) <= 1, id
        assert (w.share is None) == (
            not any(r.kind in ("signal", "facets", "stage") for r in w.routes)
        ), id
        if w.arm == "full":
            ends = {r.to for r in w.routes if r.nearest and r.kind == "signal"}
            if ends and all(r.kind not in ("facets", "stage") for r in w.routes if r.nearest):
                assert w.share == pytest.approx(
                    sum(mine.signals[name][1] for name in ends), abs=1e-4
                ), id


def test_it_names_the_signals_of_the_set(mine: Weights, registry: Registry) -> None:
    owned = {
        c.name: m.id
        for m in registry.build(registry.set(mine.set_name))
        for c in m.owns
        if isinstance(c, Signal)
    }
    assert {name: id for name, (id, _) in mine.signals.items()} == owned


def chosen(registry: Registry, id: str, w: weights.MeasuredWeight) -> MechanismSet:
    everything = registry.set("everything")
    return (
        everything
        if w.arm == "full"
        else everything.swapped(w.without.removeprefix("without "), id)
    )


@pytest.mark.parametrize(
    "id",
    [
        "serotonin",
        "base_level_activation",
        "short_term_plasticity",
        "homeostatic_scaling",
        "gist_compression",
    ],
)
def test_the_declared_steps_hold_every_link_of_a_route(
    id: str, mine: Weights, registry: Registry
) -> None:
    """Each name of a chain is written by a step that reads the one before; the first is written
    by the mechanism.
    """
    w = mine.mechanisms[id]
    nodes = [
        n for phase in schedule_of(registry.build(chosen(registry, id, w))).values() for n in phase
    ]
    links: dict[str, set[str]] = defaultdict(set)
    for n in nodes:
        for name in inputs(n):
            links[name] |= {c.name for c in (*n.sets, *n.adds)}
    assert w.routes
    for route in w.routes:
        assert route.chain[0] in {
            c.name for n in nodes if n.owner == id for c in (*n.sets, *n.adds)
        }, route
        for a, b in zip(route.chain, route.chain[1:], strict=False):
            assert (
                b in links[a]
                or (b == "fused" and a in mine.signals)
                or a in ("sleep_onset", "sleep_end")
            ), (route, a, b)


def inputs(n: Node) -> set[str]:
    """What a step reads; a stage of the ranking starts from the stage before."""
    starts = {
        c.neutral.name
        for c in (*n.sets, *n.adds)
        if isinstance(c, Column) and isinstance(c.neutral, Column)
    }
    return {(r.of if isinstance(r, Before) else r).name for r in n.reads} | starts


def test_paths_that_are_derived_by_hand(mine: Weights) -> None:
    """base_level_activation sets ACTIVATION, which heat reads; homeostatic_scaling adds to
    LOG_STRENGTH, which heat and gist_compression read; short_term_plasticity sets RESOURCES, which
    hebbian_association and spike_timing_plasticity read; gist_compression sets DETAIL alone,
    write_gate_cortex adds to VETO alone.
    """
    expected = {
        "base_level_activation": "activation -> heat -> fused",
        "homeostatic_scaling": "log_strength -> heat -> fused; condensed text: log_strength -> detail",
        "short_term_plasticity": "resources -> associated, successor_in_time -> fused",
        "gist_compression": "condensed text: detail",
        "write_gate_cortex": "admission of events: veto",
        "query_intent": "log_facets -> facet_weights -> fused",
        "heat": "heat -> fused",
    }
    assert {id: mine.mechanisms[id].path for id in expected} == expected
