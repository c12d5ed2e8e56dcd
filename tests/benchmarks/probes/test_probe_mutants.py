"""The mutants of a mechanism's evidence move its probe out of the band: hashed words, three
seeds, the smallest memory that shows the effect.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Sequence
from contextlib import closing
from functools import cache
from typing import Any

import numpy as np
import pytest

from hebbarium.audit.checks import evidence_of
from hebbarium.audit.collect import evidence_module
from hebbarium.audit.memory import plug_in, registry
from hebbarium.audit.specimen import Specimen
from hebbarium.benchmarks.people.effects import as_people
from hebbarium.benchmarks.people.paradigms import PRINTED
from hebbarium.benchmarks.people.paradigms.contract import SimulatedPerson, Tests
from hebbarium.benchmarks.people.printed import PrintedOutcome, measured
from hebbarium.benchmarks.probes.harness.bands import ProbeVerdict, judge
from hebbarium.benchmarks.probes.harness.collection import own
from hebbarium.benchmarks.probes.harness.life import Life
from hebbarium.benchmarks.systems.hebbarium import Hebbarium
from hebbarium.engine.contract.hooks import Mechanism
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.ports.embedding_cache import CachedEmbedder

SEEDS = 3
FUSED = ("dense_similarity", "convex_fusion")
NEEDED = ("dense_similarity", "rational_fusion")  # need competes: it is a part of the final score
# mechanism, probe, the others of the memory, mutants of the evidence
CASES: tuple[tuple[str, str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("base_level_activation", "spacing_effect/crossover", NEEDED, ("one decay for all uses",
    "recall is no use")),
    ("sleep_pressure", "sleep_schedule/two_process", FUSED[:1], ("a pressure that rises linearly",
    "missed sleeps are ignored")),
    ("short_term_plasticity", "rapid_reuse/recovery", FUSED[:1],
     ("no recovery, so the rate has no effect", "resources are not used up")),
    ("synaptic_tagging", "behavioural_tagging/apart", FUSED[:1], ("capture without proteins",
    "proteins shared by all neurons")),
    ("event_ordering", "event_order/tau", FUSED, ("time does not count",)),
    ("tripartite_synapse", "cluster_modulation/territory", FUSED[:1],
     ("calcium that rises and leaks away", "recall brings no glutamate")),
    ("spike_timing_plasticity", "sequence_prediction/order", FUSED,
     ("no order: potentiation in either direction", "the sides exchanged")),
    ("surprise_index", "surprise_recall/news", FUSED[:1], ("every fact is new",
    "the share of known facts")),
    ("query_intent", "intent_weights/time", FUSED[:1], ("one intent for every question",)),
    ("dopamine", "blocking/ab", FUSED[:1], ("each cue learns from its own error, without the sum",
                                            )),
    ("engram_allocation", "memory_linking/hours", FUSED, ("the half-life used as the time constant",
    )),
)  # fmt: skip


@cache
def embedder() -> CachedEmbedder:
    return CachedEmbedder(HashingEmbedder(256), None)


def rows(id: str, probe: str, others: Sequence[str], mutant: str = "") -> list[dict[str, Any]]:
    """Of the probe on a memory of the mechanism, or its mutant, with the others."""
    of_seeds = []
    for seed in range(SEEDS):
        with closing(life_of(id, others, seed, mutant)) as life:
            numbers = {
                name: value if math.isfinite(value) else None
                for name, value in own()[probe].run(life, seed).items()
            }
        of_seeds.append(
            {"seed": seed, "numbers": numbers, "error": "", "missing": "", "stimuli": ""}
        )
    return of_seeds


def life_of(id: str, others: Sequence[str], seed: int, mutant: str = "") -> Life:
    """A life in a memory of the mechanism, or its mutant, with the others."""
    entry = registry().entry(id)
    specimen: Any = Specimen(id, importlib.import_module(entry.path.partition(":")[0]))
    if mutant:
        evidence = evidence_of(importlib.import_module(evidence_module(entry, registry()) or ""))
        specimen = next(m for m in evidence.mutants if m.name == mutant).function(specimen)
    mechanisms: list[Mechanism[Any]] = [
        plug_in(specimen, time_scale=None),
        *(registry().instance(other) for other in others),
    ]
    return Life(
        lambda instruments, _: Hebbarium([*mechanisms, *instruments], embedder(), seed), embedder()
    )


def verdict(id: str, probe: str, others: Sequence[str], mutant: str = "") -> ProbeVerdict:
    return judge(own()[probe], rows(id, probe, others, mutant)).verdict


@pytest.mark.slow
@pytest.mark.parametrize(
    ("id", "probe", "others", "mutants"), CASES, ids=[f"{case[0]} {case[1]}" for case in CASES]
)
def test_the_mutants_of_a_mechanism_leave_the_band_of_its_probe(
    id: str, probe: str, others: tuple[str, ...], mutants: tuple[str, ...]
) -> None:
    assert own()[probe].name in registry().entry(id).probes
    assert verdict(id, probe, others) is ProbeVerdict.SHOWN
    assert [m for m in mutants if verdict(id, probe, others, m) is ProbeVerdict.SHOWN] == []


def test_at_least_ten_mechanisms_are_tried() -> None:
    assert len({case[0] for case in CASES}) >= 10


@pytest.mark.slow
def test_exponential_forgetting_is_less_like_that_of_people() -> None:
    def beside_people(mutant: str = "") -> PrintedOutcome:
        subjects = list[Tests]()
        for seed in range(SEEDS):
            life = life_of("base_level_activation", NEEDED, seed, mutant)
            with closing(life):
                subject = SimulatedPerson("retention", seed, life)
                PRINTED["retention"].run(subject)
                subjects.append(subject.tests)
        return measured(PRINTED["retention"], subjects)

    right, wrong = beside_people(), beside_people("exponential forgetting")
    assert set(as_people(right.effects)) == set(right.effects)
    # resamples are paired
    assert float(np.quantile(right.samples / wrong.samples, 0.975)) < 1.0


@pytest.mark.slow
def test_feeling_is_recalled_more_often_only_with_its_mechanism() -> None:
    """Easy things: what was said with feeling is above what was not, and the mechanism does it."""
    numbers = [
        row["numbers"] for row in rows("emotional_tagging", "emotional_enhancement/easy", NEEDED)
    ]
    assert all(min(of["moderate"], of["strong"]) > of["neutral"] + 0.2 for of in numbers)
    plain = [row["numbers"] for row in rows("recency", "emotional_enhancement/easy", NEEDED)]
    assert all(abs(of["strong"] - of["neutral"]) < 0.2 for of in plain)
