"""The ratings that ship with the package are those that the audit derives."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib import import_module

import pytest
from typer.testing import CliRunner

from hebbarium.audit import ratings, run, static
from hebbarium.audit.checks import Score, evidence_of, judge
from hebbarium.audit.collect import audit_registry, evidence_module, exhibit_of
from hebbarium.audit.findings import known as known_findings
from hebbarium.audit.ratings import derived, findings, shipped
from hebbarium.audit.references import of_registry
from hebbarium.audit.specimen import Specimen
from hebbarium.cli import app
from hebbarium.engine.base.errors import InputError
from hebbarium.engine.catalogue.registry import Registry

REGISTRY = Registry.read()
# of which `make test` tries each static check
EVERYDAY = REGISTRY.set("minimal").mechanisms.keys()
# their evidence simulates experiments, reads texts of a million characters, or calls kernels with many
# types, for half a second to seven seconds of processor time; of it `make test` runs the first checks
LONG = {
    "acetylcholine", "adjacent_stages", "answer_type", "bcm_metaplasticity",
    "bcm_metaplasticity_printed", "consolidation_cascade", "curation", "dopamine",
    "dopamine_printed", "engram_allocation", "engram_allocation_printed", "event_ordering",
    "event_segmentation", "fact_timeline", "feedback_fusion", "hebbian_association",
    "homeostatic_scaling", "hopfield_completion", "hopfield_completion_printed",
    "hyperdimensional_binding", "instruction_detection", "late_interaction_rerank",
    "microglial_pruning", "microglial_pruning_printed", "neurogenesis", "norepinephrine",
    "oscillatory_clock_printed", "outcome_gated_association", "own_stage", "pattern_separation",
    "pattern_separation_printed", "personalized_pagerank", "predictive_coding", "query_intent",
    "reconsolidation", "regulated_transfer", "retrieval_competition", "schema_formation",
    "schema_formation_printed", "serotonin", "short_term_plasticity",
    "short_term_plasticity_printed", "sleep_orthogonalisation",
    "sleep_orthogonalisation_printed", "sleep_pressure", "sleep_replay", "sleep_replay_printed",
    "speaker_engram", "spike_timing_plasticity", "spreading_activation", "stage_detection",
    "stage_summary", "successor_representation", "sufficiency_gate", "surprise_index",
    "synaptic_renormalisation", "synaptic_tagging", "synaptic_tagging_printed", "synonym_links",
    "systems_transfer", "systems_transfer_printed", "temporal_context", "temporal_index",
    "titans_memory", "titans_memory_printed", "topology_consolidation", "tripartite_synapse",
    "tripartite_synapse_printed", "typed_relations", "write_gate_true_memory",
}  # fmt: skip
# their kernels take longer in Python than to compile; `make test` runs others in Python
COMPILED = {
    "base_level_activation", "dense_similarity", "emotional_tagging_printed", "heat",
    "lexical_bm25", "recency", "stage_summaries", "trigram_match",
}  # fmt: skip
FIRST = 3
# short lives, by which the static checks judge declarations and numbers
LIVES = (
    "wrong_signals",
    "wrong_upkeep",
    "wrong_elsewhere",
    "wrong_rows",
    "wrong_ranks",
    "number_differences",
)
OF_LIVES = ("ST-9", "ST-10", "ST-12", "ST-13")


def test_shipped_ratings_are_of_registered_mechanisms() -> None:
    """A mechanism without one is printed as not rated until `make ratings` is run."""
    assert set(shipped()) <= set(REGISTRY.entries)


@pytest.mark.parametrize(
    "id",
    [
        id
        if id in COMPILED
        else pytest.param(id, marks=pytest.mark.slow if id in LONG else pytest.mark.kernels)
        for id in shipped()
    ],
)
def test_the_shipped_rating_is_the_derived_one(id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if id not in EVERYDAY:  # lives take half of the time, and have a test of their own below
        for lives in LIVES:
            monkeypatch.setattr(static, lives, lambda *of, **options: iter(()))
    result = audit_registry(REGISTRY, only=[id], mutants=False)
    assert derived(result) == {id: shipped()[id]}, "run `make ratings`"
    known = {id: known_findings()[id]} if REGISTRY.entry(id).variety_of else {}
    assert findings(result) == known, "run `make ratings`"


def test_a_printed_form_that_fails_more_than_is_known_raises_or_runs_unchecked_fails_the_audit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    id = "base_level_activation_printed"
    first, *others = known_findings()[id]
    known = audit_registry(REGISTRY, only=[id], mutants=False)
    assert known.exit_code == 0 and known.findings
    (form,) = known.mechanisms
    assert form.reach
    hooks = tuple(replace(hook, checks=()) for hook in form.reach.hooks)
    unchecked = replace(form, reach=replace(form.reach, hooks=hooks))
    assert unchecked.changes == tuple(
        f"no engine check that passes runs the hook {hook.name}" for hook in hooks
    )
    raising = tuple(
        replace(check, score=Score.ERROR, note="KeyError: 'x'")
        if check.check.id == first
        else check
        for check in form.checks
    )
    assert replace(form, checks=raising).changes == (f"{first} raises: KeyError: 'x'",)
    monkeypatch.setattr(run, "known_findings", lambda: {id: others})
    assert known.exit_code == 1
    ((of, said),) = known.failures
    assert of == id and f"does not pass {first}, which it did" in said and "make ratings" in said


@pytest.mark.kernels
@pytest.mark.parametrize("id", sorted(LONG))
def test_the_first_checks_of_long_evidence_pass(id: str) -> None:
    """Those of a printed form pass, too, but for the ones that it is known to fail."""
    entry = REGISTRY.entry(id)
    by = evidence_module(entry, REGISTRY)
    assert by is not None
    specimen = Specimen(id, import_module(entry.module))
    checks = [check for check in evidence_of(import_module(by)).checks if check.gates][:FIRST]
    failed = {check.id for check in checks if judge(check, specimen).score is not Score.PASS}
    known = set(known_findings().get(id, ()))
    assert checks and failed == known & {check.id for check in checks}


@pytest.mark.slow
@pytest.mark.parametrize("id", sorted(shipped().keys() - EVERYDAY))
def test_short_lives_find_nothing_wrong(id: str) -> None:
    """The static checks that the test of ratings leaves out."""
    exhibit = exhibit_of(REGISTRY.entry(id), REGISTRY, of_registry(REGISTRY))
    results = [judge(check, exhibit) for check in static.evidence() if check.id in OF_LIVES]
    assert {r.check.id: r.measured for r in results if r.score is not Score.PASS} == {}
    assert len(results) == len(OF_LIVES)


def test_mechanisms_without_a_shipped_rating_can_be_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = {id: rating for id, rating in shipped().items() if id not in ("recency", "heat")}
    monkeypatch.setattr(ratings, "shipped", lambda: kept)
    for word in ("not rated", "Not Rated"):
        done = CliRunner().invoke(app, ["list", "--rating", word, "--json"], catch_exceptions=False)
        assert {m["id"] for m in json.loads(done.stdout)["mechanisms"]} == {"recency", "heat"}
    with pytest.raises(InputError) as refused:
        CliRunner().invoke(app, ["list", "--rating", "unrated"], catch_exceptions=False)
    assert "not rated" in refused.value.cure
