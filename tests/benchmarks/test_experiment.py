"""Experiments that a file describes: estimates against the rows themselves, several data sets
and seeds, and the command line.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from scipy.stats import false_discovery_control

from hebbarium.benchmarks.datasets import LOADERS, Conversation, Dataset, Question
from hebbarium.benchmarks.designs.file import read
from hebbarium.benchmarks.execution import local
from hebbarium.benchmarks.execution.spec import DEFAULTS, Settings
from hebbarium.benchmarks.experiments import design as module
from hebbarium.benchmarks.experiments.design import Block, Prepared, carried_out, prepared
from hebbarium.benchmarks.reports.result import BlockResult
from hebbarium.benchmarks.scores.cluster_robust import cluster_t
from hebbarium.engine.base.errors import InputError, RegistryError
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.ports.embedding_cache import CachedEmbedder
from hebbarium.testing.conformance import talk

REGISTRY = Registry.read()
EMBEDDER = CachedEmbedder(HashingEmbedder(32), None)
Carry = Callable[..., tuple[Prepared, tuple[BlockResult, ...], Path]]


def dataset(name: str, n: int, start: int = 0) -> Dataset:
    """n conversations of 16 turns with six questions each."""
    conversations = []
    for c in range(start, start + n):
        events = [replace(event, id=f"c{c}e{i}") for i, event in enumerate(talk(16 + c))]
        questions = tuple(
            Question(
                f"c{c}q{i}",
                events[(5 * i + c) % 16].text.replace(" on day", " day")[: 18 + 3 * i],
                events[-1].time + 1.0,
                "kind",
                (events[(5 * i + c) % 16].id,),
            )
            for i in range(6)
        )
        conversations.append(Conversation(f"c{c}", tuple(events), questions))
    return Dataset(name, "0", tuple(conversations), {})


@pytest.fixture
def carry(tmp_path: Path) -> Carry:
    def run(
        text: str, *data: Dataset, out: str = "out", settings: Settings = DEFAULTS, **more: Any
    ) -> Any:
        (tmp_path / "mine.yaml").write_text(text, encoding="utf-8")
        ready = prepared(read(tmp_path / "mine.yaml", REGISTRY, LOADERS), REGISTRY, settings)
        blocks = [Block(one.name if len(data) > 1 else "", one, "hashing:32") for one in data]
        return (
            ready,
            carried_out(ready, blocks, lambda spec: EMBEDDER, tmp_path / out, **more).blocks,
            tmp_path / out,
        )

    return run


def recall(folder: Path) -> dict[str, dict[str, float]]:
    """Arm -> question -> recall@10, from the rows of a run."""
    found: dict[str, dict[str, float]] = {}
    for line in (folder / "rows.jsonl").read_text().splitlines():
        row = json.loads(line)
        found.setdefault(row["arm"], {})[row["question"]] = fmean(
            0 < rank <= 10 for rank in row["ranks"]
        )
    return found


def test_a_sweep_is_arm_minus_full_and_costs_one_life_a_conversation(
    carry: Carry, monkeypatch: pytest.MonkeyPatch
) -> None:
    lived, real = [], local.run_life
    monkeypatch.setattr(
        local,
        "run_life",
        lambda cells, *rest, **more: (lived.append(len(cells)), real(cells, *rest, **more))[1],
    )
    _, (result,), out = carry(
        "set: minimal\ndesign: sweep\nsweep: {lexical_bm25.weight: [0, .3, .7]}\n", dataset("d", 3)
    )
    assert lived == [4, 4, 4]
    rows, data = recall(out), dataset("d", 3)
    for estimate in result.estimates:
        d = np.array(
            [
                rows[estimate.name][q.id] - rows["full"][q.id]
                for c in data.conversations
                for q in c.questions
            ]
        )
        assert list(estimate.values) == d.tolist() and estimate.primary.mean == pytest.approx(
            d.mean()
        )
        t = cluster_t(d, np.repeat([0, 1, 2], 6))
        assert (estimate.primary.low, estimate.primary.high) == (
            (t.low, t.high) if t.se else (None, None)
        )
    assert result.means == pytest.approx(
        {arm: fmean(values.values()) for arm, values in rows.items()}
    )


@pytest.mark.slow
def test_pairs_and_factorial_are_computed_from_the_rows(carry: Carry) -> None:
    players = ("dense_similarity", "lexical_bm25", "trigram_match")
    pairs, (result,), out = carry(
        f"set: minimal\ndesign: pairs\nplayers: [{', '.join(players)}]\n", dataset("d", 2)
    )
    rows = recall(out)

    def mean(*off: str) -> float:
        id = next(
            id for id, on in pairs.laid.coalitions.items() if set(on) == set(players) - set(off)
        )
        return fmean(rows[id].values())

    for (a, b), estimate in zip(combinations(players, 2), result.estimates, strict=True):
        assert estimate.primary.mean == pytest.approx(
            mean() - mean(b) - mean(a) + mean(a, b), abs=1e-12
        )
    _, (whole,), _ = carry(
        f"set: minimal\ndesign: factorial\nplayers: [{', '.join(players[:2])}]\n",
        dataset("d", 2),
        out="factorial",
    )
    main = {e.name: e.primary.mean for e in whole.estimates}
    two = [mean(), mean(players[1]), mean(players[0]), mean(*players[:2])]
    assert main[players[0]] == pytest.approx((two[0] + two[1] - two[2] - two[3]) / 2, abs=1e-12)


@pytest.mark.slow
def test_shapley_values_of_every_question_add_up(carry: Carry) -> None:
    ready, (result,), out = carry(
        "set: minimal\ndesign: shapley\nplayers: [dense_similarity, lexical_bm25, heat, convex_fusion]\n",
        dataset("d", 2),
    )
    rows = recall(out)
    empty = next(id for id, on in ready.laid.coalitions.items() if not on)
    total = np.sum([e.values for e in result.estimates], axis=0)
    np.testing.assert_allclose(
        total, [rows["full"][q] - rows[empty][q] for q in rows["full"]], atol=1e-12
    )
    table = [json.loads(line) for line in (out / "coalitions.jsonl").read_text().splitlines()]
    assert len(table) == 16 and {tuple(line["players"]) for line in table} == set(
        ready.laid.coalitions.values()
    )
    assert all(line["value"] == pytest.approx(fmean(rows[line["arm"]].values())) for line in table)


@pytest.mark.slow
def test_data_sets_are_families_of_their_own_and_seeds_are_averaged_first(carry: Carry) -> None:
    text = "set: minimal\ndesign: leave-one-out\nplayers: [dense_similarity, heat]\nseeds: [0, 3]\ncorrection: benjamini-hochberg\n"
    _, results, out = carry(text, dataset("one", 2), dataset("two", 3, start=4))
    assert [(r.dataset, len(r.questions)) for r in results] == [("one", 12), ("two", 18)]
    assert sorted(p.name for p in (out / "runs").iterdir()) == [
        "one_seed_0",
        "one_seed_3",
        "two_seed_0",
        "two_seed_3",
    ]
    for result in results:
        by_seed = [recall(out / "runs" / f"{result.dataset}_seed_{seed}") for seed in (0, 3)]
        for e in result.estimates:
            values = np.mean(
                [
                    [rows["full"][q] - rows[f"without {e.name}"][q] for _, q in result.questions]
                    for rows in by_seed
                ],
                axis=0,
            )
            assert list(e.values) == pytest.approx(values.tolist()) and e.seed_sd is not None
        raw = [1.0 if e.primary.p is None else e.primary.p for e in result.estimates]
        assert [e.corrected_p for e in result.estimates] == pytest.approx(
            false_discovery_control(raw).tolist()
        )
    lines = [json.loads(line) for line in (out / "estimates.jsonl").read_text().splitlines()]
    assert len(lines) == 2 * (12 + 18)
    written = json.loads((out / "design.json").read_text())
    assert [block["dataset"] for block in written["blocks"]] == ["one", "two"]
    page = (out / "design.md").read_text()
    assert "## one" in page and "## two" in page and "helps or hurts if BH p" in page


def test_evidence_in_contexts_is_a_metric(carry: Carry) -> None:
    _, (result,), out = carry(
        "set: minimal\ndesign: leave-one-out\nplayers: [lexical_bm25]\nmetric: evidence@60\n",
        dataset("d", 2),
    )
    rows = [json.loads(line) for line in (out / "rows.jsonl").read_text().splitlines()]
    assert result.means["full"] == pytest.approx(
        fmean(row["contexts"]["60"]["evidence"] for row in rows if row["arm"] == "full")
    )
    assert 0.0 < result.means["full"] < 1.0


@pytest.mark.slow
def test_what_changes_nothing_is_a_no_op(carry: Carry) -> None:
    _, (result,), _ = carry(
        "set: minimal\ndesign: sweep\nsweep: {lexical_bm25.weight: [.5, 0]}\n", dataset("d", 2)
    )
    same, other = result.estimates
    assert same.no_op and same.verdict.value == "no-op" and not other.no_op


def test_coalitions_that_cannot_be_built_are_left_out_by_name(carry: Carry) -> None:
    """hybrid has a fusion, so a player that is another fusion cannot be added."""
    ready, (result,), out = carry(
        "set: minimal\ndesign: add-one-in\nbase: hybrid\nplayers: [convex_fusion, heat]\n",
        dataset("d", 2),
    )
    assert list(ready.excluded) == ["convex_fusion"] == list(ready.dropped) and [
        e.name for e in result.estimates
    ] == ["heat"]
    told: list[tuple[int, int, str]] = []
    again = prepared(ready.experiment, REGISTRY, progress=lambda *call: told.append(call))
    assert [call[:2] for call in told] == [(1, 3), (2, 3), (3, 3)] and {told[1][2], told[2][2]} == {
        "convex_fusion",
        "heat",
    }
    assert again.excluded == ready.excluded
    assert "left out: convex\\_fusion" in (out / "design.md").read_text()
    with pytest.raises(InputError, match=r"nothing to estimate: .*both set"):
        carry(
            "set: minimal\ndesign: add-one-in\nbase: hybrid\nplayers: [convex_fusion]\n",
            dataset("d", 2),
        )


@pytest.mark.slow
def test_a_stopped_experiment_continues(carry: Carry, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "set: minimal\ndesign: leave-one-out\nplayers: [recency, heat]\n"
    _, whole, _ = carry(text, dataset("d", 3))
    real, calls = local._work, []

    def stopping(work: Any, source: Any, asked: Any) -> Any:
        calls.append(len(asked))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real(work, source, asked)

    monkeypatch.setattr(local, "_work", stopping)
    with pytest.raises(KeyboardInterrupt):
        carry(text, dataset("d", 3), out="cut")
    _, again, out = carry(text, dataset("d", 3), out="cut")
    assert sum(calls) - calls[2] == 3 * 3
    for one, other in zip(whole[0].estimates, again[0].estimates, strict=True):
        assert one.values == other.values and one.primary == other.primary
    assert (out / "rows.jsonl").read_text() == (out.parent / "out" / "rows.jsonl").read_text()


def answered(data: Dataset) -> Dataset:
    """Every other question has an answer in words: that of its gold event."""
    held = [
        replace(
            c,
            questions=tuple(
                replace(q, answer=next(e.text for e in c.events if e.id in q.gold) if i % 2 else "")
                for i, q in enumerate(c.questions)
            ),
        )
        for c in data.conversations
    ]
    return replace(data, conversations=tuple(held))


@pytest.mark.slow
def test_leave_one_out_over_the_sources_of_contexts(carry: Carry) -> None:
    text = "set: stages\ndesign: leave-one-out\nplayers: [own_stage, adjacent_stages]\nmetric: answer@40\nstrategy: sources\n"
    ready, (result,), out = carry(text, answered(dataset("d", 1)))
    assert ready.plan.settings.strategy == "sources" and len(result.questions) == 3, (
        "those with an answer in words"
    )
    rows = [json.loads(line) for line in (out / "rows.jsonl").read_text().splitlines()]
    value = {(row["arm"], row["question"]): row["contexts"]["40"]["answer"] for row in rows}
    for e in result.estimates:
        assert list(e.values) == [
            value["full", q] - value[f"without {e.name}", q] for _, q in result.questions
        ]
    assert (
        len({tuple(value[arm.id, q] for _, q in result.questions) for arm in ready.laid.arms}) > 1
    ), "a source has an effect"
    assert (
        prepared(
            ready.experiment, REGISTRY, replace(DEFAULTS, strategy="covering")
        ).plan.settings.strategy
        == "covering"
    ), "that of the command"


def test_data_without_answers_in_words_are_refused(carry: Carry, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no question has an answer in words") as caught:
        carry(
            "set: minimal\ndesign: leave-one-out\nplayers: [heat]\nmetric: answer@80\n",
            dataset("d", 1),
        )
    assert "evidence@B" in caught.value.cure and not (tmp_path / "out").exists()


@pytest.mark.slow
def test_long_designs_are_confirmed_from_one_timed_cell(
    carry: Carry, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, asked = "set: minimal\ndesign: leave-one-out\n", []
    carry(text, dataset("d", 2), confirm=asked.append)
    assert not asked, "it takes seconds"
    monkeypatch.setattr(module, "LONG", 0.0)
    carry(text, dataset("d", 2), out="long", confirm=asked.append)
    (costs,) = asked
    assert (
        costs.cells == 2 * 13
        and 2 * 2 <= costs.lives < 26
        and 0 < costs.minutes < 5
        and "26 cells of" in costs.line()
    )
    carry(text, dataset("d", 2), out="long", confirm=asked.append)
    assert len(asked) == 1, "a finished design is not asked for again"


def test_data_without_gold_are_refused_before_anything_runs(carry: Carry, tmp_path: Path) -> None:
    (one,) = dataset("d", 1).conversations
    bare = Dataset(
        "bare",
        "0",
        (replace(one, questions=tuple(replace(q, gold=()) for q in one.questions)),),
        {},
    )
    with pytest.raises(InputError, match="no question names its evidence"):
        carry("set: minimal\ndesign: leave-one-out\n", dataset("d", 1), bare)
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_hostile_names_are_text(carry: Carry) -> None:
    _, _, out = carry(
        'set: minimal\ndesign: arms\nsummary: "<b>|x|</b>"\narms: {"<script>|a": {without: [heat]}}\n',
        dataset("d", 1),
    )
    page = (out / "design.md").read_text()
    assert "<script>" not in page and "&lt;script&gt;\\|a" in page


def test_an_unknown_mechanism_to_leave_off_is_refused(carry: Carry) -> None:
    with pytest.raises(RegistryError, match="heta"):
        carry(
            "set: minimal\ndesign: leave-one-out\n",
            dataset("d", 1),
            settings=Settings(without=("heta",)),
        )
