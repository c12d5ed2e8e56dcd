"""`hebbarium probe --alive`: paths from declarations, what moves, readers, and the report."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hebbarium.benchmarks.probes.harness import alive
from hebbarium.benchmarks.probes.harness import run as running
from hebbarium.benchmarks.probes.harness.alive import AliveMatrix, State, matrix, paired
from hebbarium.benchmarks.probes.harness.alive_report import three, to_json, to_markdown, write
from hebbarium.benchmarks.probes.harness.base import Measures, Probe
from hebbarium.benchmarks.probes.harness.collection import chosen, own
from hebbarium.benchmarks.probes.harness.life import Life
from hebbarium.benchmarks.probes.harness.reach import ProbeReads, measured, reach_of
from hebbarium.cli import main
from hebbarium.engine.base.errors import InputError
from hebbarium.engine.catalogue.registry import MechanismSet, Registry
from hebbarium.engine.contract.columns import Column, Phase, Scope
from hebbarium.engine.contract.vocabulary import (
    ACTIVATION,
    LOG_STRENGTH,
    NEWS,
    RECALLED,
    RESOURCES,
    SLEEP_END,
    SLEEP_ONSET,
)
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.ports.embedding_cache import CachedEmbedder
from hebbarium.testing.small import by_number, column, does, mechanism

SMALL = {
    "dense_similarity": {},
    "recency": {},
    "base_level_activation": {},
    "convex_fusion": {},
    "surprise_index": {},
}
ANSWERS = ProbeReads(frozenset(), True, False, False)


def nothing(view: Any, what: Any) -> None: ...


def embedder(folder: Path) -> CachedEmbedder:
    return CachedEmbedder(HashingEmbedder(32), folder / "cache.sqlite")


def made(
    registry: Registry,
    out: Path,
    *ids: str,
    mechanisms: dict[str, Any] | None = None,
    only: Sequence[str] = (),
    seeds: int = 3,
    **more: Any,
) -> AliveMatrix:
    small = MechanismSet("small", "", mechanisms or SMALL)
    return matrix(
        chosen(ids, own()),
        small,
        registry,
        embedder(out.parent),
        out,
        only=only,
        seeds=seeds,
        **more,
    )


def cell(found: AliveMatrix, mechanism: str, probe: str) -> alive.MatrixCell:
    return next(c for c in found.cells if (c.mechanism, c.probe.id) == (mechanism, probe))


# --- paths ----------------------------------------------------------------------------------------
def test_a_path_goes_through_the_steps_that_read_what_was_written() -> None:
    first, second = column("first_held"), column("second_held")
    a = mechanism("a", does(Phase.MAINTAIN, nothing, sets=[first]), owns=[first, second])
    b = mechanism("b", does(Phase.MAINTAIN, nothing, reads=[first], sets=[second]), order=1)
    c = mechanism("c", does(Phase.MAINTAIN, nothing, reads=[second], adds=[LOG_STRENGTH]), order=2)
    strength = ProbeReads(frozenset({LOG_STRENGTH}), False, False, False)
    assert (
        reach_of([a, b, c], strength).chain("a", strength) == ("b", "c")
        and reach_of([a, b, c], strength).chain("c", strength) == ()
    )
    assert reach_of([a, c], strength).chain("a", strength) is None
    assert reach_of([a, b, c], strength).chain("a", strength, near=("b",)) == ("c",)
    assert reach_of([a, b, c, by_number(order=3)], ANSWERS).chain("a", ANSWERS) is None


def test_an_answer_changes_memory_only_where_the_probe_learns() -> None:
    held = column("held")
    learner = mechanism(
        "learner",
        does(Phase.RETRIEVE, nothing, reads=[RECALLED], sets=[held]),
        does(Phase.MAINTAIN, nothing, reads=[held], adds=[LOG_STRENGTH]),
        owns=[held],
        order=1,
    )
    for learns in (False, True):
        wanted = ProbeReads(frozenset({LOG_STRENGTH}), True, learns, False)
        ranks = ProbeReads(frozenset({LOG_STRENGTH}), False, learns, False)
        reach = reach_of([by_number(), learner], wanted)
        assert (
            reach.chain("number", wanted) == ()
            and (reach.chain("number", ranks) == ("learner",)) is learns
        )


def test_a_column_of_a_query_is_not_read_in_another_phase() -> None:
    fleeting = column("fleeting", Scope.CANDIDATE)
    a = mechanism("a", does(Phase.RETRIEVE, nothing, sets=[fleeting]), owns=[fleeting])
    b = mechanism("b", does(Phase.RETRIEVE, nothing, reads=[fleeting], sets=[RESOURCES]), order=1)
    wanted = ProbeReads(frozenset({RESOURCES}), False, False, False)
    assert reach_of([a, b], wanted).chain("a", wanted) == ("b",)


def undeclared(probe: Probe, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """What a run of the probe without a memory reads that it does not declare."""
    read: set[str] = set()
    wanted = measured(probe)
    names = {c.name for c in wanted.columns}
    asked, column, of = Life.ask, Life.column, Life.of

    def ask(life: Life, text: str, k: int = 10, learn: bool = False, session: str = "") -> Any:
        read.update(() if wanted.answers else ("answers",))
        read.update(("learns",) if learn and not wanted.learns else ())
        return asked(life, text, k, learn, session)

    def noted(real: Any) -> Any:
        def call(life: Life, what: Column, *rest: Any) -> Any:
            read.update(() if what.name in names else (what.name,))
            return real(life, what, *rest)

        return call

    monkeypatch.setattr(Life, "ask", ask)
    monkeypatch.setattr(Life, "column", noted(column))
    monkeypatch.setattr(Life, "of", noted(of))
    measured(probe)
    return read if not wanted.all else set()


@pytest.mark.parametrize("id", sorted(own()))
def test_a_probe_reads_nothing_that_it_does_not_declare(
    id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert undeclared(own()[id], monkeypatch) == set()


def test_an_undeclared_reading_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    probe = replace(own()["ab_ac/blocked"], measures=Measures(answers=True))
    assert undeclared(probe, monkeypatch) >= {"log_strength"}
    asks = replace(own()["lag_crp/distractor"], measures=Measures())
    assert "answers" in undeclared(asks, monkeypatch)
    with pytest.raises(InputError, match="no column 'strenght'"):
        Measures(columns=("strenght",))


def test_what_a_probe_measures_is_what_it_declares() -> None:
    found = {id: measured(own()[id]) for id in ("sleep_schedule/two_process",
                                                "retrograde_gradient/lesion",
                                                "predictive_recall/order", "lag_crp/distractor",
                                                "surprise_recall/news", "footprint/bytes")}  # fmt: skip
    assert {SLEEP_ONSET, SLEEP_END} <= found["sleep_schedule/two_process"].columns and not found[
        "sleep_schedule/two_process"
    ].answers
    lesion = found["retrograde_gradient/lesion"]
    assert {ACTIVATION, LOG_STRENGTH} <= lesion.columns and [i.id for i in lesion.instruments] == [
        "probe_lesion"
    ]
    assert (
        found["predictive_recall/order"].learns
        and not found["lag_crp/distractor"].learns
        and found["lag_crp/distractor"].answers
    )
    assert found["surprise_recall/news"].columns == {NEWS} and found["footprint/bytes"].all


def test_the_lesion_is_part_of_the_path(registry: Registry) -> None:
    """Dependence on the hippocampus reaches strength through the instrument alone."""
    from hebbarium.engine.contract.vocabulary import HIPPOCAMPAL_DEPENDENCE

    writer = mechanism("writer", does(Phase.CONSOLIDATE, nothing, adds=[HIPPOCAMPAL_DEPENDENCE]))
    with_lesion, without = (
        measured(own()["retrograde_gradient/lesion"]),
        ProbeReads(frozenset({LOG_STRENGTH}), False, False, False),
    )
    assert reach_of([writer], with_lesion).chain("writer", with_lesion) == ("probe_lesion",)
    assert reach_of([writer], without).chain("writer", without) is None


# --- what moves -----------------------------------------------------------------------------------
def test_a_difference_moves_if_its_interval_excludes_zero() -> None:
    rng = np.random.default_rng(0)
    noise = rng.normal(size=8).tolist()
    clear = paired("p", [{"p": 5.0 + x} for x in noise], [{"p": x} for x in noise])
    assert (
        clear.state is State.MOVES
        and clear.difference.low == pytest.approx(5.0) == clear.difference.high
    )
    assert (
        paired("p", [{"p": x} for x in (1.0, -1.0, 1.0, -1.0)], [{"p": 0.0}] * 4).state
        is State.DIFFERS
    )
    assert paired("p", [{"p": 1.0}] * 2, [{"p": 0.0}] * 2).state is State.NO_VERDICT
    # it appears
    assert paired("p", [{"p": 1.0}] * 3, [{"p": float("nan")}] * 3).state is State.MOVES
    assert paired("p", [{"p": float("nan")}] * 3, [{"p": float("nan")}] * 3).state is State.EQUAL


@pytest.mark.slow
def test_cells_show_the_set_the_set_without_and_the_base_with_it(
    tmp_path: Path, registry: Registry
) -> None:
    found = made(
        registry,
        tmp_path / "o",
        "spacing_effect",
        "surprise_recall",
        "sequence_prediction",
        mechanisms={**SMALL, "heat": {}},
    )
    activation = cell(found, "base_level_activation", "spacing_effect/crossover")
    assert activation.state is State.MOVES and activation.named
    early = next(p for p in activation.full.numbers if p.number == "massed at 10 s")
    assert early.with_it.mean > early.without.mean and early.state is State.MOVES
    assert activation.alone.of == "hybrid + heat + convex_fusion + base_level_activation"
    assert "alone" in three(activation)
    assert cell(found, "base_level_activation", "surprise_recall/news").state is State.NO_PATH
    news = cell(found, "surprise_index", "surprise_recall/news")
    assert (
        news.full.state is State.MOVES
        and cell(found, "surprise_index", "sequence_prediction/order").state is State.NO_PATH
    )
    lives = {one.mechanism: one for one in found.lives}
    assert lives["surprise_index"].verdict == "alive (1)" and lives["surprise_index"].moved == (
        "surprise_recall/news",
    )
    fusion = cell(found, "convex_fusion", "sequence_prediction/order")
    assert (
        fusion.alone.without_base == ("weighted_rrf",)
        and fusion.alone.of == "hybrid + convex_fusion"
    )
    assert "no path in 2" in lives["recency"].why or lives["recency"].moved


def test_numbers_that_differ_by_rounding_are_equal() -> None:
    assert paired("p", [{"p": 0.2 + 1e-8}] * 3, [{"p": 0.2}] * 3).state is State.EQUAL
    assert paired("p", [{"p": 0.2 + 1e-5}] * 3, [{"p": 0.2}] * 3).state is State.MOVES


@pytest.mark.slow
def test_what_a_fusion_takes_the_place_of_is_in_the_base_without_it(
    tmp_path: Path, registry: Registry
) -> None:
    found = made(registry, tmp_path / "o", "fusion_identities", only=["convex_fusion"])
    lead = next(p for p in found.cells[0].alone.numbers if p.number == "lead of both")
    base = made(
        registry,
        tmp_path / "o",
        "fusion_identities",
        only=["dense_similarity"],
        mechanisms={"dense_similarity": {}, "lexical_bm25": {}, "weighted_rrf": {}},
    ).cells[0]
    assert lead.without == next(p for p in base.alone.numbers if p.number == "lead of both").with_it


@pytest.mark.slow
def test_quick_runs_what_is_equal_in_the_first_seed_once(
    tmp_path: Path, registry: Registry
) -> None:
    whole, quick = (
        made(
            registry,
            tmp_path / name,
            "spacing_effect",
            "scope_rules",
            "sequence_prediction",
            quick=name == "quick",
        )
        for name in ("whole", "quick")
    )
    assert [(one.mechanism, one.verdict) for one in quick.lives] == [
        (one.mechanism, one.verdict) for one in whole.lives
    ]
    pairs = [
        (a, b)
        for one, other in zip(quick.cells, whole.cells, strict=True)
        for a, b in ((one.full, other.full), (one.alone, other.alone))
    ]
    assert all(a.state is b.state for a, b in pairs)
    assert any(
        a.state is State.EQUAL and a.numbers[0].with_it.n < b.numbers[0].with_it.n
        for a, b in pairs
        if a.numbers
    )
    inert = {one.mechanism for one in quick.inert}
    assert all(
        a == b
        for one, other in zip(quick.cells, whole.cells, strict=True)
        if one.mechanism in inert
        for a, b in ((one.full, other.full), (one.alone, other.alone))
    )


@pytest.mark.slow
def test_a_mechanism_that_acts_through_others_gets_them_in_the_base(
    tmp_path: Path, registry: Registry
) -> None:
    mechanisms = {
        "dense_similarity": {},
        "norepinephrine": {},
        "temporal_context": {},
        "short_term_plasticity": {},
        "hebbian_association": {},
        "convex_fusion": {},
    }
    found = made(
        registry,
        tmp_path / "o",
        "sequence_prediction",
        mechanisms=mechanisms,
        only=["short_term_plasticity"],
    )
    alone = found.cells[0].alone
    assert "hebbian_association" in alone.readers and set(alone.readers) <= {
        "hebbian_association",
        "convex_fusion",
    }


@pytest.mark.slow
def test_disagreements_with_the_registry_are_listed_both_ways(
    tmp_path: Path, registry: Registry
) -> None:
    found = made(
        registry,
        tmp_path / "o",
        "permastore",
        "spacing_effect",
        "needle",
        only=["base_level_activation", "dense_similarity"],
        mechanisms={**SMALL, "heat": {}},
    )
    lives = {one.mechanism: one for one in found.lives}
    assert set(lives["base_level_activation"].moved) >= {"spacing_effect/crossover"}
    assert "needle/depths" in (*lives["dense_similarity"].moved, *lives["dense_similarity"].unmoved)
    for one in found.lives:
        named = registry.entry(one.mechanism).probes
        assert all(id.partition("/")[0] not in named for id in one.elsewhere) and all(
            id.partition("/")[0] in named for id in one.unmoved
        )
    assert "does not name" in to_markdown(found)


@pytest.mark.slow
def test_only_named_cells_can_be_run(tmp_path: Path, registry: Registry) -> None:
    found = made(registry, tmp_path / "o", named=True, only=["surprise_index", "recency"])
    assert {(c.mechanism, c.probe.id) for c in found.cells} == {
        (id, probe.id)
        for id in ("surprise_index", "recency")
        for probe in own().values()
        if probe.name in registry.entry(id).probes
    }


@pytest.mark.slow
def test_cells_are_equal_for_any_number_of_jobs_and_run_once(
    tmp_path: Path, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = made(registry, tmp_path / "1", "surprise_recall", only=["surprise_index"], jobs=1)
    two = made(registry, tmp_path / "2", "surprise_recall", only=["surprise_index"], jobs=2)
    assert to_json(one)["cells"] == to_json(two)["cells"]
    monkeypatch.setattr(running, "run_cell", None)  # nothing is run again
    assert (
        to_json(made(registry, tmp_path / "1", "surprise_recall", only=["surprise_index"]))["cells"]
        == to_json(one)["cells"]
    )


def test_a_probe_that_fails_is_an_error_with_its_message(
    tmp_path: Path, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(spec: running.ProbeSpec, *rest: Any) -> dict[str, Any]:
        return {
            "probe": spec.probe,
            "seed": spec.seed,
            "numbers": None,
            "error": "ValueError: <b>broken</b>",
            "missing": "",
            "stimuli": "",
        }

    monkeypatch.setattr(running, "run_cell", failing)
    found = made(registry, tmp_path / "o", "surprise_recall", only=["surprise_index"])
    assert (
        found.cells[0].state is State.ERROR
        and found.cells[0].full.why == "seed 0: ValueError: <b>broken</b>"
    )
    assert "failed in 1" in found.lives[0].why
    write(found, tmp_path / "o")
    page = (tmp_path / "o" / "probes.html").read_text(encoding="utf-8")
    assert "<b>broken" not in page and "&lt;b&gt;broken" in page


def test_a_mechanism_outside_the_set_is_refused(tmp_path: Path, registry: Registry) -> None:
    with pytest.raises(InputError, match="'recensy' is not in the set small") as refused:
        made(registry, tmp_path / "o", "needle", only=["recensy"])
    assert "recency" in refused.value.cure and not (tmp_path / "o").exists()


# --- the command ----------------------------------------------------------------------------------
def probe(folder: Path, monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setenv("HEBBARIUM_CACHE", str(folder / "cache"))
    monkeypatch.setattr(
        sys,
        "argv",
        ["hebbarium", "probe", *words, "--embedder", "hashing:32", "--out", str(folder / "o")],
    )
    try:
        main()
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def test_the_command_writes_three_files_and_prints_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("paired_associates", "--alive", "--set", "hybrid", "--seeds", "3")
    assert probe(tmp_path, monkeypatch, *words) == 0
    said = capsys.readouterr().out
    assert (
        "3 mechanisms x 1 probe" in said
        and "no evidence about a memory" in said
        and "alive elsewhere (1)" in said
    )
    assert probe(tmp_path, monkeypatch, *words, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["kind"] == "alive" and [m["id"] for m in found["mechanisms"]] == [
        "dense_similarity",
        "lexical_bm25",
        "weighted_rrf",
    ]
    page = (tmp_path / "o" / "probes.html").read_text(encoding="utf-8")
    assert (
        "Which mechanisms are alive in hybrid?" in page and (tmp_path / "o" / "probes.md").is_file()
    )


@pytest.mark.parametrize(("words", "parts"), [
    (("--alive", "--mechanism", "recensy", "--set", "waking"),
     ("'recensy' is not in the set waking", "recency")),
    (("paired_asociates", "--alive"), ("no probe 'paired_asociates'",)), (("--alive", "--base", "hybird"),
    ("hybrid",)),
    (("--alive", "--strict"), ("no bands",)), (("--alive", "--system", "nowhere:Nothing"),
                                               ("has no mechanisms",)),
    (("paired_associates", "--named"), ("part of the alive matrix",))], ids=lambda x: " ".join(x))  # fmt: skip
def test_bad_input_ends_with_2(
    words: tuple[str, ...],
    parts: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert probe(tmp_path, monkeypatch, *words, "--seeds", "1") == 2
    said = capsys.readouterr().err
    assert all(part in said for part in parts) and not (tmp_path / "o").exists()
