"""Numbers of other publications that stand beside ours, by data set: points without interval, of
another system on its own units of memory.

`cortex_ablation.csv` is the ablation that is published with Cortex (cortex2026), one run on LoCoMo
and one on LongMemEval-S: MRR and recall@10 without each mechanism, and their differences from the
run with all, signed like ours (all minus without).  The sweeps, of its section 6.4, are in the
register of published numbers (`reporting/claims.yaml`).
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from ...reporting.claims import METRICS, published_numbers

FILE: Final = Path(__file__).parent / "cortex_ablation.csv"
# of the file -> of ours
DATASETS: Final[Mapping[str, str]] = {"locomo": "locomo", "longmemeval_s": "longmemeval"}
COLUMNS: Final[Mapping[str, str]] = {
    "recall@10": "delta_recall_at_10_vs_anchor",
    "mrr@10": "delta_mrr_vs_anchor",
}
ABLATION, SWEEPS = (
    "the ablation published with Cortex (cortex2026)",
    "the sweeps of Cortex (cortex2026, {place})",
)

# Name in the published file -> (our mechanisms for what it removes, where the text of Cortex
# describes it); () where it has no mechanism of its own here.  Only a name with one mechanism is
# drawn at that mechanism; the table has all.
NAMES: Final[Mapping[str, tuple[tuple[str, ...], str]]] = {
    "RECONSOLIDATION": (("reconsolidation",), "4.2.1"),
    "CO_ACTIVATION": (("hebbian_association",), "4.4.5"),
    "ADAPTIVE_DECAY": (("base_level_activation",), "4.4.1"),
    "CASCADE": (("consolidation_cascade",), "4.2.1"),
    "INTERFERENCE": (("retrieval_competition", "sleep_orthogonalisation"), "4.4.10"),
    "HOMEOSTATIC_PLASTICITY": (("homeostatic_scaling", "bcm_metaplasticity"), "4.4.3"),
    "SYNAPTIC_PLASTICITY": (("short_term_plasticity", "spike_timing_plasticity"), "4.4.5"),
    "MICROGLIAL_PRUNING": (("microglial_pruning",), "4.4.6"),
    "TWO_STAGE_MODEL": (("systems_transfer",), "4.2.3"),
    "EMOTIONAL_DECAY": ((), "4.1.2"),
    "TRIPARTITE_SYNAPSE": (("tripartite_synapse",), "4.4.7"),
    "SCHEMA_ENGINE": (("schema_formation",), "4.2.5"),
    "HOPFIELD": (("hopfield_completion",), "4.3.4"),
    "HDC": (("hyperdimensional_binding",), "4.3.5"),
    "SPREADING_ACTIVATION": (("spreading_activation",), "4.3.1"),
    "DENDRITIC_CLUSTERS": (("dendritic_integration",), "4.4.8"),
    "EMOTIONAL_RETRIEVAL": ((), "4.1.2"),
    "SURPRISE_MOMENTUM": (("titans_memory",), "4.3.2"),
    "OSCILLATORY_CLOCK": (("oscillatory_clock",), "4.4.4"),
    "PREDICTIVE_CODING": (("predictive_coding", "write_gate_cortex"), "4.1.1"),
    "NEUROMODULATION": (("dopamine", "norepinephrine", "acetylcholine", "serotonin"), "4.1.3"),
    "PATTERN_SEPARATION": (("pattern_separation",), "4.4.2"),
    "EMOTIONAL_TAGGING": (("emotional_tagging",), "4.1.2"),
    "SYNAPTIC_TAGGING": (("synaptic_tagging",), "4.2.4"),
    "ENGRAM_ALLOCATION": (("engram_allocation",), "4.4.9"),
}


@dataclass(frozen=True, slots=True)
class Removal:
    """What the removal of one mechanism costs by a publication: all minus without, in units of the
    metric.

    name  of the publication; `ours` are the mechanisms that stand for it here
    """

    name: str
    ours: tuple[str, ...]
    place: str
    value: float


def alone(removals: Sequence[Removal]) -> dict[str, float]:
    """Mechanism -> published value, where the publication removes this one alone.

    >>> alone([Removal("HDC", ("hyperdimensional_binding",), "4.3.5", 0.1), Removal("TWO", ("a", "b"), "4", 0.2)])
    {'hyperdimensional_binding': 0.1}
    """
    return {removal.ours[0]: removal.value for removal in removals if len(removal.ours) == 1}


@dataclass(frozen=True, slots=True)
class Sweep:
    """A published sweep of one parameter: differences of the metric from the value that the source
    takes as its own.

    set    mechanism set of ours whose parameter it is; a sweep of another set stands on other
           ground
    """

    set: str
    points: tuple[tuple[float, float], ...]
    source: str


@dataclass(frozen=True, slots=True)
class Published:
    """What is published on one data set for one metric.

    removals  for a leave-one-out
    sweeps    parameter -> its sweep
    """

    removals: tuple[Removal, ...] = ()
    sweeps: Mapping[str, Sweep] | None = None
    source: str = ABLATION


NOTHING: Final = Published()


@cache
def _sweeps(dataset: str, metric: str) -> Mapping[str, Sweep]:
    """Parameter -> its published sweep; the scores on BEAM-100K are MRR of ten abilities."""
    tables: dict[str, dict[float, float]] = {}
    own: dict[str, tuple[float | None, str]] = {}
    for number in published_numbers():
        table = number.table
        if (
            table.parameter
            and table.dataset == dataset
            and metric in (number.ours, METRICS.get(number.metric))
        ):
            tables.setdefault(table.parameter, {})[float(number.label)] = number.share
            own[table.parameter] = (table.own, table.place)
    return {
        parameter: Sweep(
            "cortex",
            tuple((value, round(score - scores[own_value], 4)) for value, score in scores.items()),
            SWEEPS.format(place=place),
        )
        for parameter, scores in tables.items()
        for own_value, place in [own[parameter]]
        if own_value is not None
    }


@cache
def published(dataset: str, metric: str) -> Published:
    """What is published on a data set for a metric.

    >>> ablation = published("locomo", "recall@10")
    >>> [(r.ours, r.value) for r in ablation.removals[:2]], sorted(ablation.sweeps)
    ([(('reconsolidation',), 0.0111), (('hebbian_association',), 0.0015)], ['heat.weight', 'lexical_bm25.weight'])
    >>> published("demo", "recall@10").removals
    ()
    """
    return Published(
        tuple(_removals(dataset, COLUMNS[metric])) if metric in COLUMNS else (),
        _sweeps(dataset, metric),
    )


def _removals(dataset: str, column: str) -> Sequence[Removal]:
    with FILE.open(encoding="utf-8", newline="") as file:
        return [
            Removal(row["mechanism_removed"], *NAMES[row["mechanism_removed"]], float(row[column]))
            for row in csv.DictReader(file)
            if DATASETS[row["benchmark"]] == dataset
            and not row["mechanism_removed"].startswith("BASELINE")
        ]
