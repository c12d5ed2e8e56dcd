"""Designs as files: what they make, and what is refused with line, value and cure."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import qmc

from hebbarium.benchmarks.datasets import LOADERS
from hebbarium.benchmarks.designs import FULL
from hebbarium.benchmarks.designs.file import OWN, Experiment, file_of, plain, read, shipped
from hebbarium.benchmarks.designs.kinds import (
    Factorial,
    Fractional,
    Laid,
    Pairs,
    ParameterSweep,
    Range,
    Shapley,
    Varieties,
)
from hebbarium.benchmarks.designs.probe_metric import Measure
from hebbarium.benchmarks.execution.plan import planned
from hebbarium.engine.base.errors import HebbariumError, InputError
from hebbarium.engine.catalogue.registry import MechanismSet, Registry

REGISTRY = Registry.read()
MINIMAL = REGISTRY.set("minimal")
SIGNALS = ("dense_similarity", "lexical_bm25", "trigram_match")

PROBES = {
    "gate_auc/stream": Measure(("AUC",), ("AUC",), 10),
    "footprint/bytes": Measure((), (), 10),
    **{
        f"emotional_enhancement/{variant}": Measure(
            ("moderate - neutral",), ("moderate", "neutral"), 10
        )
        for variant in ("easy", "hard")
    },
}

Read = Callable[[str], Experiment]


@pytest.fixture
def written(tmp_path: Path) -> Read:
    def experiment(text: str) -> Experiment:
        (tmp_path / "mine.yaml").write_text(text, encoding="utf-8")
        return read(tmp_path / "mine.yaml", REGISTRY, LOADERS, probes=lambda: PROBES)

    return experiment


def laid(experiment: Experiment) -> Laid:
    return experiment.design.laid(REGISTRY.set(experiment.set), REGISTRY)


def test_a_file_has_all_that_decides_the_experiment(written: Read) -> None:
    one = written("""
summary: a try
set: minimal
design: leave-one-out
players: [recency, heat]
data: [{dataset: demo}, {dataset: locomo, data: some/where.json, unit: session, limit: 3}]
seeds: [0, 7]
baselines: [full, bm25]
metric: evidence@512
strategy: sources
margin: 0.01
correction: benjamini-hochberg
embedders: [minilm, "minilm@256"]
""")
    assert (one.name, one.set, one.kind, one.seeds, one.margin, one.correction) == (
        "mine",
        "minimal",
        "leave-one-out",
        (0, 7),
        0.01,
        "benjamini-hochberg",
    )
    assert (
        one.budget == 512
        and one.strategy == "sources"
        and one.embedders == ("minilm", "minilm@256")
    )
    assert [(d.dataset, d.path, d.unit, d.limit) for d in one.data] == [
        ("demo", "", "turn", None),
        ("locomo", "some/where.json", "session", 3),
    ]
    made = laid(one)
    assert [arm.id for arm in made.arms] == ["full", "bm25", "without recency", "without heat"]
    assert {c.name: dict(c.weights) for c in made.contrasts} == {
        "recency against full": {"full": 1.0, "without recency": -1.0},
        "heat against full": {"full": 1.0, "without heat": -1.0},
        "recency against bm25": {"without recency": 1.0, "bm25": -1.0},
        "heat against bm25": {"without heat": 1.0, "bm25": -1.0},
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", shipped())
def test_shipped_designs_are_read_and_all_their_arms_can_be_built(name: str) -> None:
    experiment = read(file_of(name), REGISTRY, LOADERS, probes=lambda: PROBES)
    assert experiment.summary and bool(experiment.data) != bool(experiment.probe)
    plan = planned(laid(experiment).arms, REGISTRY)
    assert len(plan.arms) >= 3


def test_a_probe_scores_arms_in_place_of_data_and_has_seeds_of_its_own(written: Read) -> None:
    text = "set: minimal\ndesign: leave-one-out\nmetric: probe:emotional_enhancement/hard:neutral\n"
    one, other = written(text), written(text + "seeds: [4, 2]\n")
    assert (
        one.metric == "probe:emotional_enhancement/hard:neutral"
        and one.data == ()
        and one.budget is None
    )
    assert one.seeds == tuple(range(10)) and other.seeds == (4, 2)
    assert (
        written(text.replace(":neutral", "")).metric
        == "probe:emotional_enhancement/hard:moderate - neutral"
    )


def test_the_variants_of_all_mem_are_eight_and_differ_in_one_switch() -> None:
    plan = planned(laid(read(file_of("all_mem_ablation"), REGISTRY, LOADERS)).arms, REGISTRY)
    assert len(plan.arms) == 8
    full = plan.arms[0].mechanisms
    for arm in plan.arms[1:]:
        odd = [
            (id, name)
            for id, values in arm.mechanisms.items()
            for name, value in values.items()
            if value != full[id][name]
        ]
        assert len(odd) == 1, arm.arm


# --- kinds ----------------------------------------------------------------------------------------
def test_add_one_in_adds_to_the_base(written: Read) -> None:
    made = laid(written("set: minimal\ndesign: add-one-in\nbase: bm25\n"))
    # base, and all but BM25
    assert made.arms[0].id == "base" and len(made.arms) == len(MINIMAL.mechanisms)
    assert made.arms[1].chosen.mechanisms.keys() == {"lexical_bm25", made.arms[1].id}
    assert all(dict(c.weights) == {c.name: 1.0, "base": -1.0} for c in made.contrasts)


def test_pairs_leave_out_one_or_both(written: Read) -> None:
    made = laid(written(f"set: minimal\ndesign: pairs\nplayers: [{', '.join(SIGNALS)}]\n"))
    arms = {arm.id: set(MINIMAL.mechanisms) - set(arm.chosen.mechanisms) for arm in made.arms}
    assert len(made.contrasts) == 3 and arms.pop(FULL) == set()
    for c, pair in zip(made.contrasts, combinations(SIGNALS, 2), strict=True):
        signs = {frozenset(arms.get(id, ())): w for id, w in c.weights.items()}
        assert signs == {
            frozenset(): 1.0,
            frozenset(pair[:1]): -1.0,
            frozenset(pair[1:]): -1.0,
            frozenset(pair): 1.0,
        }, c.name


@pytest.mark.parametrize(
    ("design", "n"), [(Factorial(SIGNALS), 8), (Shapley(SIGNALS), 8), (Fractional(SIGNALS), 8)]
)
def test_coalitions_are_the_sets_that_they_name(
    design: Factorial | Shapley | Fractional, n: int
) -> None:
    made = design.laid(MINIMAL, REGISTRY)
    assert made.arms[0].id == FULL and len(made.arms) == n == len({arm.id for arm in made.arms})
    for arm in made.arms:
        assert set(arm.chosen.mechanisms) == set(MINIMAL.mechanisms) - set(SIGNALS) | set(
            made.coalitions[arm.id]
        )


def test_a_base_is_the_empty_coalition() -> None:
    made = Shapley(("dense_similarity", "recency"), base="bm25").laid(MINIMAL, REGISTRY)
    on = {arm.id: set(arm.chosen.mechanisms) for arm in made.arms}
    assert on["bm25"] == {"lexical_bm25"} and max(on.values(), key=len) == {
        "lexical_bm25",
        "dense_similarity",
        "recency",
    }


def test_more_than_ten_players_are_permuted() -> None:
    made = Shapley(()).laid(MINIMAL, REGISTRY)
    assert len(MINIMAL.mechanisms) == 11 and "64 antithetic permutations" in made.notes[0]
    assert len(made.arms) < 64 * 11 and len({arm.id for arm in made.arms}) == len(made.arms)


def test_varieties_are_swapped_both_ways() -> None:
    there = {c.name for c in Varieties().laid(REGISTRY.set("cortex"), REGISTRY).contrasts}
    back = {c.name for c in Varieties().laid(REGISTRY.set("cortex_as_printed"), REGISTRY).contrasts}
    pairs = {
        (entry.id, str(entry.variety_of)) for entry in REGISTRY.entries.values() if entry.variety_of
    }
    cortex, printed = (
        REGISTRY.set("cortex").mechanisms,
        REGISTRY.set("cortex_as_printed").mechanisms,
    )
    assert {
        f"swap {old}->{new}" for new, old in pairs if old in cortex and new not in cortex
    } <= there
    assert {
        f"swap {new}->{old}" for new, old in pairs if new in printed and old not in printed
    } <= back


def test_a_grid_has_every_combination_and_points_are_scrambled_sobol() -> None:
    grid = ParameterSweep(
        {"lexical_bm25.weight": (0, 0.5), "recency.weight": (0.1, 0.2, 0.3)}
    ).laid(MINIMAL, REGISTRY)
    assert len(grid.arms) == 1 + 6 and grid.arms[1].chosen.mechanisms["lexical_bm25"]["weight"] == 0
    drawn = ParameterSweep(
        ranges={
            "recency.half_life": Range(1.0, 100.0, log=True),
            "recency.weight": Range(0.0, 1.0),
        },
        points=64,
        seed=2,
    )
    points = np.array(
        [
            [np.log(d["recency.half_life"]) / np.log(100.0), d["recency.weight"]]
            for d in drawn.draws()
        ]
    )
    assert (
        points.shape == (64, 2)
        and (points >= 0).all()
        and (points <= 1).all()
        and drawn.draws() == drawn.draws()
    )
    assert qmc.discrepancy(points) < qmc.discrepancy(np.random.default_rng(0).random((64, 2))) / 5
    cells, _, _ = np.histogram2d(points[:, 0], points[:, 1], bins=8, range=[[0, 1], [0, 1]])
    assert cells.max() == cells.min() == 1, "a (0, 6, 2) net in base 2"


# --- what is refused ------------------------------------------------------------------------------
BAD = [
    ("set: minimal\ndesign: pairs\nplayer: [heat]\n", 3, "unknown key 'player'", "players"),
    ("set: minimal\ndesign: pairs\nset: bm25\n", 3, "given twice", ""),
    ("design: pairwise\n", 1, "no design 'pairwise'", "pairs"),
    ("set: minimal\n", 1, "there is no design", "leave-one-out"),
    ("set: minimale\ndesign: pairs\n", 1, "no mechanism set 'minimale'", "minimal"),
    ("set: minimal\ndesign: pairs\npermutations: 4\n", 3, "no key of the design pairs", "players"),
    ("set: minimal\ndesign: leave-one-out\nplayers: [heat,\n  heta]\n", 4,
     "'heta' is not in the set minimal", "heat"),
    ("set: minimal\ndesign: leave-one-out\nplayers: [heat, heat]\n", 3, "given twice", "once"),
    ("set: waking\ndesign: pairs\n", 2, "pairs of 3", "at most 12"),
    ("set: minimal\ndesign: factorial\n", 2, "factorial of 11 players", "at most 10"),
    ("set: minimal\ndesign: leave-one-out\nmargin: 0\n", 3, "margin is 0", "above 0"),
    ("set: minimal\ndesign: leave-one-out\nmargin: wide\n", 3, "'wide' is no number", ""),
    ("set: minimal\ndesign: leave-one-out\nseeds: [0, 1,\n  1]\n", 4, "seed 1 is given twice",
     "different"),
    ("set: minimal\ndesign: leave-one-out\nseeds: [-1]\n", 3, "whole number", ""),
    ("set: minimal\ndesign: leave-one-out\nmetric: recal@10\n", 3, "no metric 'recal@10'",
     "recall@10"),
    ("set: minimal\ndesign: leave-one-out\nmetric: probe:gate_uac\n", 3, "no probe 'gate_uac'",
     "gate_auc"),
    ("set: minimal\ndesign: leave-one-out\nmetric: probe:emotional_enhancement\n", 3, "has 2 variants",
     "probe:emotional_enhancement/hard"),
    ("set: minimal\ndesign: leave-one-out\n\nmetric: probe:footprint\n", 4, "no verdict",
     "with a band"),
    ("set: minimal\ndesign: leave-one-out\nmetric: probe:gate_auc:AUK\n", 3, "no number 'AUK'",
     "AUC"),
    ("set: minimal\ndesign: leave-one-out\nmetric: probe:gate_auc\ndata: [{dataset: demo}]\n", 4,
     "needs no data", "leave `data:` out"),
    ("set: minimal\ndesign: leave-one-out\nmetric: answer@0\n", 3, "no metric 'answer@0'",
     "answer@B"),
    ("set: minimal\ndesign: leave-one-out\nstrategy: sources\n", 3,
     "no context is assembled for the metric recall@10", "evidence@B"),
    ("set: minimal\ndesign: leave-one-out\nmetric: evidence@64\nstrategy: source\n", 4,
     "no strategy 'source'", "sources"),
    ("set: minimal\ndesign: leave-one-out\ncorrection: bonferroni\n", 3,
     "no correction 'bonferroni'", "holm"),
    ("set: minimal\ndesign: leave-one-out\ndata: [{dataset: demos}]\n", 3, "no data set 'demos'",
     "demo"),
    ("set: minimal\ndesign: leave-one-out\ndata:\n  - {dataset: demo}\n  - {dataset: demo}\n", 5,
     "given twice", "once"),
    ("set: minimal\ndesign: leave-one-out\ndata: [{path: x}]\n", 3, "describes no data", "dataset"),
    ("set: minimal\ndesign: leave-one-out\nbaselines: [full, bm52]\n", 3, "no mechanism set 'bm52'",
     "bm25"),
    ("set: minimal\ndesign: add-one-in\n", 2, "needs a base", "base: hybrid"),
    ("set: minimal\ndesign: sweep\n", 2, "names no parameters", "sweep:"),
    ("set: minimal\ndesign: sweep\nsweep:\n  lexical_bm25.weight: [0, .5, 1000]\n", 4, "outside",
     "bounds"),
    ("set: minimal\ndesign: sweep\nsweep: {lexical_bm52.weight: [0]}\n", 3, "no parameter",
     "lexical_bm25"),
    ("set: minimal\ndesign: sweep\nsweep: {lexical_bm25.wieght: [0]}\n", 3, "no parameter 'wieght'",
     "weight"),
    ("set: minimal\ndesign: sweep\nsweep: {lexical_bm25.weight: {low: 1, high: 0, points: 4}}\n", 3,
     "1 to 0", "low < high"),
    ("set: minimal\ndesign: sweep\nsweep: {lexical_bm25.weight: {low: 0, high: 1, points: 4, log: true}}\n", 3, "on a log scale", "low > 0"),
    ("set: minimal\ndesign: sweep\nsweep: {lexical_bm25.weight: [0, 0]}\n", 3, "given twice",
     "once"),
    ("set: minimal\ndesign: arms\narms:\n  one: {witout: [heat]}\n", 4, "unknown key 'witout'",
     "without"),
    ("set: minimal\ndesign: arms\narms:\n  one: {without: [heta]}\n", 4, "'heta' is not in the set",
     "heat"),
    ("set: minimal\ndesign: arms\narms:\n  one: {add: [heat]}\n", 4, "on already", ""),
    ("set: minimal\ndesign: arms\narms: {full: {add: [heat]}}\n", 3, "is no arm", ""),
    ("set: [1]\ndesign: arms\n", 1, "no text", ""),
    ("- 1\n", 1, "not a mapping", ""),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "line", "what", "cure"), BAD, ids=[text.replace("\n", "; ")[:60] for text, *_ in BAD]
)
def test_what_is_wrong_is_named_with_its_line_and_cure(
    written: Read, text: str, line: int, what: str, cure: str
) -> None:
    with pytest.raises(HebbariumError) as caught:
        written(text)
    assert (
        what in caught.value.what
        and f"mine.yaml:{line}" in caught.value.where
        and cure in caught.value.cure
        and caught.value.cure
    )


def test_a_player_of_the_base_and_too_many_pairs_are_refused_when_laid_out() -> None:
    with pytest.raises(InputError, match="'lexical_bm25' is in the base bm25"):
        Shapley(("lexical_bm25",), base="bm25").laid(MINIMAL, REGISTRY)
    players = set(REGISTRY.set("waking").mechanisms) - set(REGISTRY.set("bm25").mechanisms)
    with pytest.raises(InputError, match=f"pairs of {len(players)} players"):
        Pairs(base="bm25").laid(REGISTRY.set("waking"), REGISTRY)


def test_names_of_designs() -> None:
    assert file_of("all_mem_ablation").is_file() and os.fspath(file_of("x.yaml")) == "x.yaml"
    with pytest.raises(InputError, match="no design 'sharply'") as caught:
        file_of("sharply")
    assert "shapley" in caught.value.cure
    for kind in OWN:
        if kind in ("sweep", "arms", "add-one-in"):
            with pytest.raises(InputError, match="needs a file"):
                plain(kind, REGISTRY, "minimal")
        else:
            assert plain(kind, REGISTRY, "minimal").kind == kind


def test_a_set_without_varieties_is_refused() -> None:
    with pytest.raises(InputError, match="has a variety"):
        Varieties().laid(MechanismSet("none", "", {"rule_filter": {}}), REGISTRY)
