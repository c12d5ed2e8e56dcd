"""Every number that the text of Cortex prints for a mechanism, beside the sentence that prints it,
and what the set `cortex_as_printed` computes with.

Sentences are quoted as far as they have the number.  A parameter whose source is a section of the
text must be in the table, so that none is left out.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest

from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.records import Event
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.mechanisms.consolidation import consolidation_cascade_printed as cascade

# the set has kernels of its own, which take longer to compile than these lives
pytestmark = pytest.mark.kernels

REGISTRY = Registry.read()


class Printed(NamedTuple):
    """A number of the text.

    section, sentence  where it is, and the words around it
    number             as it is printed there
    place              `mechanism.parameter` of the set
    times              what the value of the set is multiplied by to give the number
    """

    section: str
    sentence: str
    number: str
    place: str
    times: float = 1.0


TABLE = (
    Printed("3.3", "k = 60 is the smoothing constant", "60", "weighted_rrf.k"),
    Printed("3.3", "with α = 0.55 (tuned via ablation", "0.55", "late_interaction_rerank.alpha"),
    Printed("3.3", "falls below a threshold (τ = 0.15)", "0.15", "sufficiency_gate_printed.threshold"),
    Printed("4.1.3", "DA = 1 + δ,    DA in [0, 3]", "3", "dopamine_printed.most"),
    Printed("4.2.2", "Applies a compression ratio of 20x for timing", "20", "sleep_replay_printed.compression"),
    Printed("4.2.3", "with r = 0.02 from the C-HORSE model", "0.02", "systems_transfer_printed.rate"),
    Printed("4.2.3", "memories transfer up to 2.5x faster", "2.5", "systems_transfer_printed.schema_factor"),
    Printed("4.2.3", "memories transfer up to 2.5x faster", "2.5", "schema_formation_printed.most"),
    Printed("4.2.4", "a high-importance memory (importance > 0.7)", "0.7", "synaptic_tagging_printed.strong"),
    Printed("4.2.4", "recent weak memories (importance < 0.5)", "0.5", "synaptic_tagging_printed.weak"),
    Printed("4.2.4", "within a 48-hour window", "48", "synaptic_tagging_printed.window"),
    Printed("4.2.4", "an importance boost (+0.25 scaled by entity overlap)", "0.25", "synaptic_tagging_printed.gain"),
    Printed("4.2.4", "and a heat boost (× 1.5)", "1.5", "synaptic_tagging_printed.heat_factor"),
    Printed("4.2.5", "weighted Jaccard overlap (0.7 entity + 0.3 tag)", "0.7", "schema_formation_printed.entity_share"),
    Printed("4.2.5", "Assimilate (match >= 0.7)", "0.7", "schema_formation_printed.assimilate"),
    Printed("4.2.5", "Accommodate (match < 0.3)", "0.3", "schema_formation_printed.accommodate"),
    Printed("4.2.5", "schema revision via EMA update (α = 0.1)", "0.1", "schema_formation_printed.alpha"),
    Printed("4.3.1", "γ = 0.65 is the decay factor", "0.65", "spreading_activation_printed.gamma"),
    Printed("4.3.1", "(max depth 3, max nodes 50, threshold 0.1)", "3", "spreading_activation_printed.depth"),
    Printed("4.3.1", "(max depth 3, max nodes 50, threshold 0.1)", "50", "spreading_activation_printed.most_nodes"),
    Printed("4.3.1", "(max depth 3, max nodes 50, threshold 0.1)", "0.1", "spreading_activation_printed.threshold"),
    Printed("4.3.2", "η = 0.9 is the momentum coefficient", "0.9", "titans_memory_printed.eta"),
    Printed("4.3.2", "θ = 0.01 is the learning rate", "0.01", "titans_memory_printed.theta"),
    Printed("4.3.5", "1024-dimensional bipolar HDC vectors", "1024", "hyperdimensional_binding.words", 64.0),
    Printed("4.4.1", "d = 0.5 is the decay parameter", "0.5", "base_level_activation_printed.decay"),
    Printed("4.4.2", "cosine similarity > 0.75 with an existing memory", "0.75", "pattern_separation_printed.interference"),
    Printed("4.4.2", "(but < 0.95, the identity threshold)", "0.95", "pattern_separation_printed.identity"),
    Printed("4.4.2", "s = 0.5 is the separation strength", "0.5", "pattern_separation_printed.strength"),
    Printed("4.4.2", "to achieve 4% target sparsity", "4", "pattern_separation_printed.kept_share", 100.0),
    Printed("4.4.3", "drifts from the target (0.4)", "0.4", "homeostatic_scaling_printed.target"),
    Printed("4.4.3", "where γ = 0.95", "0.95", "bcm_metaplasticity_printed.decay"),
    Printed("4.4.4", "The gamma binding capacity of ~7 items", "7", "oscillatory_clock_printed.capacity"),
    Printed("4.4.5", "with A⁺ = 0.03, A⁻ = 0.02", "0.03", "spike_timing_plasticity_printed.a_plus"),
    Printed("4.4.5", "with A⁺ = 0.03, A⁻ = 0.02", "0.02", "spike_timing_plasticity_printed.a_minus"),
    Printed("4.4.5", "τ⁺ = τ⁻ = 24 hours", "24", "spike_timing_plasticity_printed.tau_plus"),
    Printed("4.4.5", "τ⁺ = τ⁻ = 24 hours", "24", "spike_timing_plasticity_printed.tau_minus"),
    Printed("4.4.9", "Excitability decay with 6-hour half-life", "6", "engram_allocation_printed.half_life"),
    Printed("4.4.10", "at rate 0.15 per step", "0.15", "sleep_orthogonalisation_printed.rate"),
    Printed("5.3.2", "Phase 1 --- Own-Stage (60% budget)", "60", "own_stage.share"),
    Printed("5.3.2", "Phase 2 --- Adjacent Stages via Entity Graph (30% budget)", "30", "adjacent_stages.share"),
    Printed("5.3.2", "Phase 3 --- Summary Fallback (10% budget)", "10", "stage_summaries.share"),
    Printed("9", "FTS weight 0.5 pg_recall.py", "0.5", "lexical_bm25.weight"),
    Printed("9", "Heat weight 0.3 pg_recall.py", "0.3", "heat.weight"),
)  # fmt: skip
# E_0 of 4.4.9 and the letters of 4.4.8 are printed without a number.
WITHOUT_A_NUMBER = {"engram_allocation_printed.peak", "engram_allocation_printed.suppression",
                    "dendritic_integration_printed.half", "dendritic_integration_printed.slope",
                    "base_level_activation_printed.law",
                    # 5.4: "explicit labels (plan IDs for benchmarks)"
                    "stage_detection.by",
                    # 4.2.3: "Round-robin scheduling across domains"
                    "sleep_replay_printed.round_robin",
                    # of published code that the section names
                    "retrieval_competition_printed.factor"}  # fmt: skip


@cache
def built() -> dict[str, Any]:
    return {m.id: m for m in REGISTRY.build(REGISTRY.set("cortex_as_printed"))}


@pytest.mark.parametrize("printed", TABLE, ids=lambda printed: f"{printed.section}-{printed.place}")
def test_the_set_computes_with_the_number_of_the_text(printed: Printed) -> None:
    number = re.escape(printed.number)
    assert re.search(rf"(?<![\d.]){number}(?!\d|\.\d)", printed.sentence), "the sentence has it"
    mechanism, parameter = printed.place.split(".")
    value = getattr(built()[mechanism].params, parameter)
    assert value * printed.times == pytest.approx(float(printed.number), rel=1e-12)


def test_every_number_that_the_registry_takes_from_a_section_is_in_the_table() -> None:
    said = {
        f"{id}.{name}"
        for id in built()
        for name, parameter in REGISTRY.entry(id).params.items()
        if parameter.kind == "source" and re.match(r"Cortex,? \d", parameter.source)
    }
    assert said - WITHOUT_A_NUMBER <= {printed.place for printed in TABLE}


STAGES = (  # 4.2.1: "LABILE 0--1h ... 2.0x 0.00", and the three rows below it
    ("LABILE", 1.0, 2.0, 0.00), ("EARLY_LTP", 5.0, 1.2, 0.00), ("LATE_LTP", 18.0, 0.8, 0.05),
    ("CONSOLIDATED", np.inf, 0.5, 0.10),
)  # fmt: skip


def test_the_stages_are_those_of_the_printed_table() -> None:
    assert tuple(
        zip(cascade.STAGES, cascade.LASTS, cascade.MULTIPLIER, cascade.FLOOR, strict=True)
    ) == STAGES  # fmt: skip
    # "DA level > 1.0 or importance > 0.6", "1 replay event or importance > 0.7", "3 replays, or 1"
    for stage, dopamine, importance, replays, congruent, goes in (
        (0, 1.0, 0.6, 0, False, False), (0, 1.01, 0.0, 0, False, True),
        (0, 0.0, 0.61, 0, False, True), (1, 9.0, 0.7, 0, False, False),
        (1, 0.0, 0.71, 0, False, True), (1, 0.0, 0.0, 1, False, True),
        (2, 0.0, 0.0, 2, False, False), (2, 0.0, 0.0, 3, False, True),
        (2, 0.0, 0.0, 1, True, True), (2, 9.0, 1.0, 0, True, False),
    ):  # fmt: skip
        goes_on = cascade.goes_on(stage, dopamine, importance, replays, congruent)
        assert bool(goes_on) is goes


def test_stages_decay_once() -> None:
    """4.2.1 and 4.4.1 print one decay by stages; the activation has none."""
    assert built()["base_level_activation_printed"].params.law == "base_level"
    chosen = REGISTRY.set("cortex_as_printed")
    heats = {}
    for left_out in ((), ("consolidation_cascade_printed",)):
        memory = Engine(REGISTRY.build(chosen.without(left_out)), HashingEmbedder(64))
        memory.encode(Event(9000.0, "The boats lie in the harbour.", "Ada", dated=False))
        memory.advance(9010.0)
        heats[left_out] = float(memory.column("activation")[0] + memory.column("log_strength")[0])
    labile_for_ten_hours = 10.0 * 2.0 * np.log(0.95)
    assert heats[()] - heats["consolidation_cascade_printed",] == pytest.approx(
        labile_for_ten_hours, abs=1e-6
    )
