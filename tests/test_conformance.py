"""The contract, checked on every registered mechanism alone and inside the `minimal` set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hebbarium.engine.catalogue.registry import Registry
from hebbarium.testing.conformance import (
    CHECKS,
    Bench,
    ConformanceCheck,
    a_saved_tick_is_whole,
    continuing_from_a_file_equals_an_uninterrupted_run,
    late_columns_are_computed_one_memory_at_a_time,
    made_rows_change_nothing,
    made_rows_that_stay_visible_do_no_harm,
    order_is_that_of_arrival,
    outputs_are_finite_on_hostile_input,
    random_streams_are_private,
    same_seed_same_state,
    tick_length_does_not_matter,
    weight_acts_in_the_ranking_alone,
    wrong_clocks_do_no_harm,
)

REGISTRY = Registry.read()
# Checks that need lives of their own: with files, hostile texts, made rows, late events, other ticks,
# other weights, asked of some memories alone, or the same life again.  `make test-all` does them on
# every mechanism, and `make test` on a few of `minimal`, beside which all the others live.
LONG = (
    a_saved_tick_is_whole,
    continuing_from_a_file_equals_an_uninterrupted_run,
    late_columns_are_computed_one_memory_at_a_time,
    made_rows_change_nothing,
    made_rows_that_stay_visible_do_no_harm,
    order_is_that_of_arrival,
    outputs_are_finite_on_hostile_input,
    random_streams_are_private,
    same_seed_same_state,
    tick_length_does_not_matter,
    weight_acts_in_the_ranking_alone,
    wrong_clocks_do_no_harm,
)
EVERYDAY = {"recency", "synaptic_tagging", "temporal_context"}
# their kernels take longer to compile than their short checks take in Python
IN_PYTHON = {
    "bcm_metaplasticity", "bcm_metaplasticity_printed", "consolidation_cascade",
    "consolidation_cascade_printed", "dendritic_integration", "dendritic_integration_printed",
    "hebbian_association", "hopfield_completion_printed", "microglial_pruning",
    "microglial_pruning_printed", "neurogenesis", "outcome_gated_association",
    "pattern_separation_printed", "personalized_pagerank", "retrieval_competition",
    "schema_formation", "schema_formation_printed", "short_term_plasticity",
    "short_term_plasticity_printed", "spaced_repetition", "spike_timing_plasticity",
    "spreading_activation_printed", "synaptic_tagging_printed", "systems_transfer",
    "systems_transfer_printed", "titans_memory_printed", "tripartite_synapse", "typed_expansion",
}  # fmt: skip


def marks(id: str, check: ConformanceCheck) -> Any:
    if check in LONG and id not in EVERYDAY:
        return pytest.mark.slow
    return pytest.mark.kernels if id in IN_PYTHON else ()


CASES = [
    pytest.param(id, check, id=f"{id}-{check.__name__}", marks=marks(id, check))
    for id in REGISTRY.entries
    for check in CHECKS
]


@pytest.mark.parametrize(("id", "check"), CASES)
def test_conformance(id: str, check: ConformanceCheck, tmp_path: Path) -> None:
    check(Bench(REGISTRY, id, tmp_path))
