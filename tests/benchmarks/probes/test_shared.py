"""Cells that share a life have the rows of cells that lived alone, bit for bit; a probe that
does anything else is run alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hebbarium.benchmarks.execution.ledger import Ledger
from hebbarium.benchmarks.probes.harness.base import Numbers, Probe
from hebbarium.benchmarks.probes.harness.collection import own
from hebbarium.benchmarks.probes.harness.life import Life
from hebbarium.benchmarks.probes.harness.run import (
    SHARED,
    ProbeSpec,
    built,
    run_cell,
    run_cells,
    run_shared,
    specs_of,
)
from hebbarium.benchmarks.probes.harness.shared import Arms, Diverged, Recorded, Replayed
from hebbarium.benchmarks.probes.harness.study import composed
from hebbarium.benchmarks.systems.by_name import OURS
from hebbarium.engine.catalogue.registry import MechanismSet, Registry
from hebbarium.engine.contract.vocabulary import (
    ACTIVATION,
    CHRONOLOGICAL,
    CREATED,
    LOG_STRENGTH,
    RELEVANCE,
)
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.ports.embedding_cache import CachedEmbedder

REGISTRY = Registry.read()
SMALL = MechanismSet("small", "", {id: {} for id in (
    "dense_similarity", "lexical_bm25", "recency", "write_gate_cortex", "event_ordering",
    "base_level_activation", "sufficiency_gate",
    "convex_fusion")})  # fmt: skip


@pytest.fixture
def embedder(tmp_path: Path) -> CachedEmbedder:
    return CachedEmbedder(HashingEmbedder(32), tmp_path / "cache.sqlite")


def cells(
    chosen: MechanismSet, probe: Probe, embedder: CachedEmbedder, *without: str
) -> tuple[ProbeSpec, dict[str, ProbeSpec]]:
    """A cell of a set, and those of the set without each mechanism."""

    def spec(each: MechanismSet) -> ProbeSpec:
        return specs_of([probe], 1, composed(each, REGISTRY, OURS), REGISTRY, embedder)[0]

    return spec(chosen), {id: spec(chosen.without([id])) for id in without}


@pytest.mark.slow
@pytest.mark.parametrize(("probe", "shared", "alone"), [
    ("adjacent_answer/pairs", ("adjacency_pairs", "dense_similarity"), ("predictive_coding",
    "neurogenesis")),
    ("event_order/tau", ("event_ordering", "lexical_bm25", "convex_fusion"),
     ("base_level_activation",)),          # asks for CHRONOLOGICAL
    ("retrograde_gradient/lesion", ("temporal_context",), ("systems_transfer",)),
    # instruments, columns, nights
    ("archived_evidence/hops", ("typed_expansion", "query_expansion"), ("curation",)),
    # instruments, several lives
    ("correction_holds/after_nights", ("instruction_detection", "late_interaction_rerank"),
     ("sleep_replay",)),
    ("spacing_effect/crossover", ("spike_timing_plasticity", "salience_reweighting"),
     ("base_level_activation", "dense_similarity")),     # learns
    ("lag_crp/distractor", ("passage_words",), ("surprise_index", "temporal_context")),
    # the next cue is drawn by the scores, so that an arm with other scores soon asks otherwise
])  # fmt: skip
def test_rows_of_a_shared_life_are_those_of_lives_of_their_own(
    probe: str, shared: tuple[str, ...], alone: tuple[str, ...], embedder: CachedEmbedder
) -> None:
    whole, arms = cells(REGISTRY.set("everything"), own()[probe], embedder, *shared, *alone)
    row, found = run_shared(whole, arms, own()[probe], REGISTRY, embedder)
    assert row == run_cell(whole, own()[probe], REGISTRY, embedder)
    assert set(found) & set(alone) == set()
    for id, other in found.items():
        assert other == run_cell(arms[id], own()[probe], REGISTRY, embedder), id
    assert set(found) == set(shared)


def probe_of(run: Any) -> Probe:
    found = own()["needle/depths"]
    return Probe(found.id, "", "", "", "", "", (), (), run)


def shares(run: Any, embedder: CachedEmbedder, *without: str) -> Mapping[str, Any]:
    probe = probe_of(run)
    whole, arms = cells(SMALL, probe, embedder, *without)
    row, found = run_shared(whole, arms, probe, REGISTRY, embedder)
    assert row == run_cell(whole, probe, REGISTRY, embedder) and not row["error"]
    for id, other in found.items():
        assert other == run_cell(arms[id], probe, REGISTRY, embedder), id
    return found


def told(life: Life) -> None:
    for text in ("The red gate was painted", "The blue gate was sold", "Ada sold the old boat"):
        life.tell(text, at=life.now + 0.1)


def test_what_a_probe_reads_of_a_question_is_that_of_the_memory_that_was_asked(
    embedder: CachedEmbedder,
) -> None:
    def run(life: Life, seed: int) -> Numbers:
        told(life)
        question = "In what order were the gates painted and sold?"
        first = life.column(CHRONOLOGICAL).item()
        score = life.ask(question).events[0].score
        asked = life.column(CHRONOLOGICAL).item()
        life.wait(1.0)
        later = life.column(CHRONOLOGICAL).item()
        life.tell("Bo went away")
        return {"first": first, "score": score, "asked": asked, "later": later,
                "told": life.column(CHRONOLOGICAL).item(),
                "presented": float(life.presented(question, 4)[0][1:]),
                "kept": float(len(life.kept())), "created": life.column(CREATED).sum()}  # fmt: skip

    found = shares(run, embedder, "event_ordering", "dense_similarity")
    assert [
        found[id]["numbers"][name]
        for id in ("event_ordering", "dense_similarity")
        for name in ("first", "asked", "later", "told")
    ] == [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0]


def test_a_probe_that_goes_another_way_is_run_alone(embedder: CachedEmbedder) -> None:
    def asks_on(life: Life, seed: int) -> Numbers:
        told(life)
        score = life.ask("Which gate was sold?").events[0].score
        return {"again": life.ask(f"after {score}").events[0].score}

    def tells_on(life: Life, seed: int) -> Numbers:
        told(life)
        life.tell(f"It was {life.ask('Which gate was sold?').events[0].score}")
        return {"again": life.ask("What was it?").events[0].score}

    def column_of_the_query(life: Life, seed: int) -> Numbers:
        told(life)
        life.ask("Which gate was sold?")
        return {"relevance": float(np.nan_to_num(life.column(RELEVANCE)).sum())}

    def looks_inside(life: Life, seed: int) -> Numbers:
        told(life)
        assert life.engine is not None
        return {"n": float(life.engine.store.n)}

    def another_memory(life: Life, seed: int) -> Numbers:
        told(life)
        made = life.fresh(
            settings={"recency": {"weight": life.ask("Which gate was sold?").events[0].score}}
        )
        told(made)
        return {"score": made.ask("Which gate was sold?").events[0].score}

    def ends_early(life: Life, seed: int) -> Numbers:
        told(life)
        scores = [life.ask("Which gate was sold?").events[0].score]
        if scores[0] < 0.9:
            scores.append(life.ask("Which boat?").events[0].score)
        return {"sum": sum(scores)}

    for run in (asks_on, tells_on, column_of_the_query, looks_inside, another_memory):
        assert shares(run, embedder, "dense_similarity", "convex_fusion") == {}, run.__name__
    assert set(shares(ends_early, embedder, "dense_similarity", "lexical_bm25")) <= {
        "dense_similarity",
        "lexical_bm25",
    }


def test_a_memory_that_learns_the_same_goes_on_sharing(embedder: CachedEmbedder) -> None:
    """It does not if another memory is best without the mechanism, or if the mechanism itself
    learns what others read.
    """

    def learns(life: Life, seed: int) -> Numbers:
        told(life)
        best = life.ask("Which gate was sold?", k=1, learn=True).events[0].id
        life.wait(5.0)
        return {
            "best": float(best[1:]),
            "score": life.ask("Which gate was painted?").events[0].score,
            "uses": life.column(ACTIVATION).sum(),
        }

    def of_the_question(life: Life, seed: int) -> Numbers:
        told(life)
        life.ask("Which gate was sold?", k=1, learn=True)
        return {"chronological": life.column(CHRONOLOGICAL).item()}

    found = shares(learns, embedder, *SMALL.mechanisms)
    assert {"recency", "event_ordering", "sufficiency_gate"} <= set(
        found
    ) and "base_level_activation" not in found
    assert shares(of_the_question, embedder, "recency") == {}


def test_a_trace_in_any_life_ends_the_sharing(embedder: CachedEmbedder) -> None:
    """A gate that rejects in the second life of an experiment, and one that rejects nothing."""

    def rejects(life: Life, seed: int) -> Numbers:
        told(life)
        found = {"first": life.ask("Which gate was sold?").events[0].score}
        other = life.fresh()
        for _ in range(3):
            other.tell("ok", at=other.now + 0.1)
        return {**found, "second": float(len(other.kept()))}

    def accepts(life: Life, seed: int) -> Numbers:
        told(life)
        return {"score": life.ask("Which gate was sold?").events[0].score}

    kept, lost = (
        shares(accepts, embedder, "write_gate_cortex", "recency"),
        shares(rejects, embedder, "write_gate_cortex", "recency"),
    )
    assert set(kept) == {"write_gate_cortex", "recency"} and set(lost) == {"recency"}


def test_a_record_is_read_by_one_arm_in_order(embedder: CachedEmbedder) -> None:
    spec, _ = cells(SMALL, own()["needle/depths"], embedder)
    life = Recorded(
        partial(built, spec, REGISTRY), Arms({"recency": frozenset({"recency"})}), embedder, 0
    )
    told(life)
    life.ask("Which gate was sold?")
    again = Replayed(life, "recency")
    with pytest.raises(Diverged, match="present was not next"):
        again.column(LOG_STRENGTH)
    told(again := Replayed(life, "recency"))
    with pytest.raises(Diverged, match="ended early"):
        again.admitted()
    with pytest.raises(Diverged, match="another memory"):
        again.fresh()
    assert again.ask("Which gate was sold?").events and again.admitted() == life.admitted() == (
        3,
        3,
    )
    life.close()


@pytest.mark.slow
def test_cells_of_the_ledger_are_the_same_with_and_without_hosts(
    tmp_path: Path, embedder: CachedEmbedder
) -> None:
    """Also if the host's own cell is known, and for an arm that can share nothing."""
    probe = own()["needle/depths"]
    whole, arms = cells(SMALL, probe, embedder, "recency", "lexical_bm25", "base_level_activation")
    specs, hosts = [whole, *arms.values()], {arm.key(): whole for arm in arms.values()}
    rows = []
    for name, given in (("alone", {}), ("shared", {"hosts": hosts}), ("later", {"hosts": hosts})):
        book, counted = Ledger(tmp_path / f"{name}.sqlite"), list[tuple[int, int]]()
        with book.locked():
            if name == "later":
                run_cells([whole], REGISTRY, embedder, book)
            rows.append(
                run_cells(
                    specs,
                    REGISTRY,
                    embedder,
                    book,
                    progress=lambda done, total, _, c=counted: c.append((done, total)),
                    **given,
                )
            )
        assert counted[-1] == (4, 4)
        meta = {cell.key: bool(cell.meta.get(SHARED)) for cell in book.cells()}
        assert [meta[spec.key()] for spec in specs] == [False, *([name != "alone"] * 2), False]
    plain = [
        [json.dumps({k: v for k, v in row.items() if k != "seconds"}) for row in each]
        for each in rows
    ]
    assert plain[0] == plain[1] == plain[2]


def test_what_fails_in_the_shared_life_is_run_alone(embedder: CachedEmbedder) -> None:
    def fails(life: Life, seed: int) -> Numbers:
        told(life)
        raise ValueError("no")

    probe = probe_of(fails)
    whole, arms = cells(SMALL, probe, embedder, "recency")
    row, found = run_shared(whole, arms, probe, REGISTRY, embedder)
    assert found == {} and row["error"] == "ValueError: no"
