"""Comparisons of two runs, on rows written by hand and on runs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from by_hand import seal
from pages import Seen
from scipy import stats

from hebbarium.benchmarks.datasets import Dataset, load
from hebbarium.benchmarks.execution.folder import RunFolder
from hebbarium.benchmarks.execution.spec import Settings
from hebbarium.benchmarks.experiments.design import ablate
from hebbarium.benchmarks.experiments.run import run
from hebbarium.benchmarks.runs.compare import compare, lines, to_html, to_json
from hebbarium.engine.base.errors import DataError, InputError
from hebbarium.engine.catalogue.registry import MechanismSet, Registry
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.ports.embedding_cache import CachedEmbedder

EMBEDDER = CachedEmbedder(HashingEmbedder(32), None)
CLUSTERS = ("c1", "c2", "c3", "c4")


def row(
    conversation: str,
    question: str,
    gold: list[str],
    ranks: list[int],
    retrieved: list[str],
    **more: Any,
) -> dict[str, Any]:
    return {"arm": "full", "conversation": conversation, "question": question, "category": "kind",
            "gold": gold, "ranks": ranks,
            "retrieved": retrieved, "question_text": f"text of {question}",
            "answer": f"answer of {question}", **more}  # fmt: skip


def written(folder: Path, rows: list[dict[str, Any]], **fields: Any) -> RunFolder:
    """A run folder made by hand."""
    folder.mkdir(parents=True, exist_ok=True)
    manifest = {"command": "run", "dataset": "made up", "sha256": "a" * 64, "set": folder.name,
                "seed": 0, "arms": ["full"],
                "conversations": list(CLUSTERS), "changes": {}, "data": {"path": "",
                "rows": len(rows)}, "mechanisms": {"one": {"weight": 1.0}},
                **fields}  # fmt: skip
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    (folder / "rows.jsonl").write_text(
        "".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8"
    )
    return RunFolder.read(seal(folder))


def placed(ranks: dict[str, list[int]]) -> list[dict[str, Any]]:
    """Rows of one gold event per question; by conversation the ranks of its questions.  The
    answer holds the gold event if its rank is within ten.
    """
    made = []
    for conversation, places in ranks.items():
        for i, rank in enumerate(places):
            others = [f"x{n}" for n in range(1, 11)]
            retrieved = (
                [*others[: rank - 1], "gold", *others[rank - 1 : 9]] if 0 < rank <= 10 else others
            )
            made.append(row(conversation, f"{conversation}-q{i}", ["gold"], [rank], retrieved))
    return made


FIRST = {"c1": [1, 0, 20, 4], "c2": [11, 2, 3, 5], "c3": [0, 1, 1, 12], "c4": [7, 7, 7, 7]}
SECOND = {"c1": [1, 2, 9, 40], "c2": [1, 2, 3, 5], "c3": [0, 3, 1, 10], "c4": [7, 7, 11, 7]}


@pytest.fixture
def pair(tmp_path: Path) -> tuple[RunFolder, RunFolder]:
    return written(tmp_path / "a", placed(FIRST)), written(tmp_path / "b", placed(SECOND), seed=1)


def test_questions_are_paired_and_counted(pair: tuple[RunFolder, RunFolder]) -> None:
    found = compare(*pair)
    assert (found.n_questions, found.n_conversations, found.unpaired) == (16, 4, (0, 0))
    assert [c.question for c in found.gained] == ["c1-q1", "c1-q2", "c2-q0", "c3-q3"] and [
        c.question for c in found.lost
    ] == ["c1-q3", "c4-q2"]
    assert found.n_changed == 7, "those six, and the question whose gold moved from 1 to 3"
    assert found.categories == {"kind": (16, 11 / 16, 13 / 16)}


def test_the_interval_is_the_one_sample_t_of_the_cluster_means(
    pair: tuple[RunFolder, RunFolder],
) -> None:
    """Which the cluster-robust interval is for clusters of equal size."""
    hits = [
        np.array([[0 < r <= 10 for r in ranks] for ranks in side.values()], float)
        for side in (FIRST, SECOND)
    ]
    means = (hits[1] - hits[0]).mean(axis=1)
    expected = stats.ttest_1samp(means, 0.0)
    metric = next(m for m in compare(*pair).metrics if m.metric == "recall@10")
    assert (metric.first, metric.second, metric.difference.mean) == pytest.approx(
        (hits[0].mean(), hits[1].mean(), means.mean())
    )
    assert metric.difference.p == pytest.approx(expected.pvalue)
    assert (metric.difference.low, metric.difference.high) == pytest.approx(
        tuple(expected.confidence_interval(0.95))
    )
    mrr = next(m for m in compare(*pair).metrics if m.metric == "mrr@10")
    assert mrr.first == pytest.approx(
        np.mean([1 / r if 0 < r <= 10 else 0.0 for ranks in FIRST.values() for r in ranks])
    )


def test_the_comparison_of_independent_questions_counts_hits(
    pair: tuple[RunFolder, RunFolder],
) -> None:
    """By hand: 11 and 13 of 16 questions have gold among the first ten; 2 only in the first run,
    4 only in the second.
    """
    found = compare(*pair).independent
    assert (found.first.share, found.second.share) == (11 / 16, 13 / 16)
    assert (found.mcnemar.first_only, found.mcnemar.second_only) == (2, 4)
    assert found.mcnemar.p == pytest.approx(stats.binomtest(2, 6).pvalue)
    assert (found.first.low, found.first.high) == pytest.approx(
        tuple(stats.binomtest(11, 16).proportion_ci(method="wilson"))
    )
    assert found.label == "treats questions as independent" and any(
        found.label in line for line in lines(compare(*pair))
    )


def test_every_metric_has_its_wins_and_losses(pair: tuple[RunFolder, RunFolder]) -> None:
    result = compare(*pair)
    hit = next(m for m in result.metrics if m.metric == "hit@10")
    assert hit.paired == result.independent.mcnemar
    recall = next(m for m in result.metrics if m.metric == "recall@10")
    assert (recall.paired.second_only, recall.paired.first_only) == (
        len(result.gained),
        len(result.lost),
    )


def test_what_must_not_come_back_is_compared_and_less_of_it_wins(tmp_path: Path) -> None:
    def rows(*answers: str) -> list[dict[str, Any]]:
        return [
            row(f"c{n % 2}", f"q{n}", ["g"] if n else [], [1] if n else [], list(answer),
                **({"forbidden": ["x", "y"]} if n < 4 else {}))
            for n, answer in enumerate(answers)
        ]  # fmt: skip

    first = written(tmp_path / "first", rows("xg", "gx", "gxy", "ga", "xy"))
    second = written(tmp_path / "second", rows("g", "g", "gxy", "gx", "xy"))
    result = compare(first, second)
    five = next(m for m in result.forbidden if m.metric == "forbidden@5")
    # of the four questions that forbid anything, also the one without gold
    assert (five.first, five.second) == pytest.approx(((1 + 1 + 2 + 0) / 20, (2 + 1) / 20))
    assert (five.paired.second_only, five.paired.first_only) == (2, 1)
    assert five.paired.p == 1.0 and five.difference.mean == pytest.approx(-1 / 20)
    page = to_html(result, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "forbidden@5" in page and "<td>2 : 1</td>" in page


def test_data_that_forbid_nothing_have_no_such_metric(pair: tuple[RunFolder, RunFolder]) -> None:
    assert compare(*pair).forbidden == ()


def test_metrics_at_several_depths_are_those_of_the_ranks(
    pair: tuple[RunFolder, RunFolder],
) -> None:
    found = compare(*pair).depths
    for side, ranks in enumerate((FIRST, SECOND)):
        every = [rank for mine in ranks.values() for rank in mine]
        for depth in (1, 5, 10, 50):
            assert (
                found[f"recall@{depth}"][side]
                == found[f"hit@{depth}"][side]
                == sum(0 < rank <= depth for rank in every) / 16
            )
            assert found[f"mrr@{depth}"][side] == pytest.approx(
                sum(1 / rank for rank in every if 0 < rank <= depth) / 16
            )
    assert compare(*pair).levels is None, "the data are not at hand"


def test_the_order_of_the_runs_turns_every_sign(pair: tuple[RunFolder, RunFolder]) -> None:
    one, other = compare(*pair), compare(*pair[::-1])
    assert [m.difference.mean for m in one.metrics] == pytest.approx(
        [-m.difference.mean for m in other.metrics]
    )
    assert [c.question for c in one.gained] == [
        c.question for c in other.lost
    ] and one.n_changed == other.n_changed


def test_a_run_equals_itself(pair: tuple[RunFolder, RunFolder]) -> None:
    found = compare(pair[0], pair[0])
    assert found.n_changed == 0 and not found.gained and not found.lost and not found.differing
    assert all(m.difference.mean == 0.0 and m.difference.p == 1.0 for m in found.metrics)


def test_a_difference_that_rounds_to_zero_has_no_sign(
    tmp_path: Path, pair: tuple[RunFolder, RunFolder]
) -> None:
    found = compare(pair[0], pair[0])
    tiny = tuple(
        replace(m, difference=replace(m.difference, mean=-1e-9, low=-2e-5, high=0.0))
        for m in found.metrics
    )
    page = Seen(
        to_html(replace(found, metrics=tiny), tmp_path / "page.html").read_text(encoding="utf-8")
    )
    assert (
        "[0.0000, 0.0000]" in page.text
        and "-0.0000" not in page.text
        and "+0.0000" not in page.text
    )


def test_a_changed_question_is_told_with_what_was_retrieved_instead(
    pair: tuple[RunFolder, RunFolder],
) -> None:
    found = compare(*pair)
    gained, lost = found.gained[0], found.lost[0]
    assert (gained.text, gained.answer, gained.category, gained.first, gained.second) == (
        "text of c1-q1",
        "answer of c1-q1",
        "kind",
        0.0,
        1.0,
    )
    assert [(g.id, g.first, g.second) for g in gained.gold] == [
        ("gold", 0, 2)
    ] and gained.instead == (("x10", None),)
    assert [(g.id, g.first, g.second) for g in lost.gold] == [("gold", 4, 40)] and lost.instead == (
        ("x10", None),
    )


def test_gold_in_another_order_is_the_same_gold(tmp_path: Path) -> None:
    a = written(tmp_path / "a", [row("c1", "q", ["g", "h"], [1, 20], ["g", "x"])])
    b = written(tmp_path / "b", [row("c1", "q", ["h", "g"], [20, 1], ["g", "x"])])
    found = compare(a, b)
    t = found.metrics[0].difference
    assert found.n_changed == 0 and t.low is None and t.p is None, "one conversation has no spread"


def test_questions_of_one_run_alone_and_questions_without_gold_are_left_out(tmp_path: Path) -> None:
    some = {name: FIRST[name] for name in ("c1", "c2")}
    a, b = (
        written(tmp_path / "a", [*placed(FIRST), row("c1", "open", [], [], ["x1"])]),
        written(tmp_path / "b", placed(some)),
    )
    found = compare(a, b)
    assert (found.n_questions, found.n_conversations, found.unpaired) == (8, 2, (8, 0))


def test_fields_of_the_manifests_that_differ_are_listed(tmp_path: Path) -> None:
    a = written(
        tmp_path / "a",
        placed(FIRST),
        mechanisms={"one": {"weight": 1.0, "k": 3}, "two": {}},
        code="x",
        made={"date": "then"},
        versions={"numpy": "1", "hebbarium": "x"},
    )
    b = written(
        tmp_path / "b",
        placed(SECOND),
        mechanisms={"one": {"weight": 2.0, "k": 3}, "three": {}},
        code="y",
        made={"date": "now"},
        versions={"numpy": "2", "hebbarium": "y"},
    )
    found = compare(a, b)
    assert found.differing == (
        ("set", "a", "b"),
        ("mechanisms.one.weight", 1.0, 2.0),
        ("code", "x", "y"),
        ("versions.numpy", "1", "2"),
    )
    assert [side.alone for side in found.sides] == [("two",), ("three",)]


@pytest.mark.parametrize(
    ("fields", "words"), [({"sha256": "b" * 64}, "b" * 64), ({"dataset": "another"}, "another")]
)
def test_runs_on_other_data_are_refused_by_name_and_digest(
    tmp_path: Path, fields: dict[str, str], words: str
) -> None:
    a, b = written(tmp_path / "a", placed(FIRST)), written(tmp_path / "b", placed(SECOND), **fields)
    with pytest.raises(InputError, match="other data") as caught:
        compare(a, b)
    assert (
        words in caught.value.what
        and "a" * 64 in caught.value.what
        and "made up" in caught.value.what
        and caught.value.cure
    )


def test_runs_of_other_events_or_without_a_shared_question_are_refused(tmp_path: Path) -> None:
    a = written(tmp_path / "a", placed(FIRST))
    with pytest.raises(InputError, match="share no question"):
        compare(a, written(tmp_path / "b", placed({"c9": [1]})))
    turned = [{**r, "gold": ["session"]} for r in placed(FIRST)]
    with pytest.raises(InputError, match="other gold") as caught:
        compare(a, written(tmp_path / "c", turned))
    assert "--unit" in caught.value.cure


def test_a_run_that_is_not_finished_is_refused(tmp_path: Path) -> None:
    a, b = written(tmp_path / "a", placed(FIRST)), written(tmp_path / "b", placed(SECOND))
    (b.path / "rows.jsonl").unlink()
    with pytest.raises(DataError, match="not finished"):
        compare(a, b)


# --- runs -----------------------------------------------------------------------------------------
def test_two_runs_on_the_demo_with_the_texts_of_events(tmp_path: Path, registry: Registry) -> None:
    demo = load("demo", limit=3)
    for name in ("bm25", "naive_rag"):
        run(registry.set(name), registry, demo, EMBEDDER, tmp_path / name)
    a, b = (RunFolder.read(tmp_path / name) for name in ("bm25", "naive_rag"))
    found = compare(a, b)
    events = {(c.id, e.id): e.rendered() for c in demo.conversations for e in c.events}
    rows = {(r["conversation"], r["question"]): r for r in a.rows()}
    assert (
        found.notes == ()
        and found.gained
        and found.lost
        and found.n_questions == sum(bool(r["gold"]) for r in rows.values())
    )
    for changed in (*found.gained, *found.lost):
        assert [g.text for g in changed.gold] == [
            events[changed.conversation, g.id] for g in changed.gold
        ]
        assert changed.text == rows[changed.conversation, changed.question]["question_text"]
        assert changed.instead and all(
            text == events[changed.conversation, id] for id, text in changed.instead
        )


def test_levels_are_those_of_the_sessions_of_gold(tmp_path: Path, registry: Registry) -> None:
    for name in ("bm25", "minimal"):
        run(
            registry.set(name),
            registry,
            load("demo", limit=2),
            CachedEmbedder(HashingEmbedder(16), None),
            tmp_path / name,
        )
    found = compare(RunFolder.read(tmp_path / "bm25"), RunFolder.read(tmp_path / "minimal")).levels
    home = {c.id: {e.id: e.session for e in c.events} for c in load("demo", limit=2).conversations}
    one = [
        row
        for row in RunFolder.read(tmp_path / "bm25").rows()
        if row["gold"] and len({home[row["conversation"]][id] for id in row["gold"]}) == 1
    ]
    assert found and (found.n_questions, found.n_conversations) == (len(one), 2)
    assert found.n_sessions == len(
        {(row["conversation"], home[row["conversation"]][row["gold"][0]]) for row in one}
    )


def test_arms_of_an_ablation_and_another_system_can_be_compared(
    tmp_path: Path, registry: Registry, tiny: Dataset
) -> None:
    chosen = MechanismSet(
        "small", "", {"dense_similarity": {}, "lexical_bm25": {}, "convex_fusion": {}}
    )
    ablate(chosen, registry, tiny, EMBEDDER, tmp_path / "o")
    folder = RunFolder.read(tmp_path / "o")
    found = compare(folder, folder, arms=("full", "without lexical_bm25"))
    assert [side.arm for side in found.sides] == ["full", "without lexical_bm25"] and found.sides[
        0
    ].alone == ("lexical_bm25",)
    assert len(found.notes) == 1 and "without their texts" in found.notes[0], (
        "data made in memory cannot be read again"
    )
    run(
        None,
        registry,
        tiny,
        EMBEDDER,
        tmp_path / "other",
        settings=Settings(system="hebbarium.benchmarks.systems.bm25_dense:BM25Dense"),
    )
    other = compare(folder, RunFolder.read(tmp_path / "other"), arms=("full", None))
    assert other.n_questions == 6 and any(name == "system" for name, _, _ in other.differing)
    with pytest.raises(InputError, match="no arm 'nope'"):
        compare(folder, folder, arms=("full", "nope"))


# --- as data and as a page ------------------------------------------------------------------------
def test_json_and_page_hold_every_changed_question(
    pair: tuple[RunFolder, RunFolder], tmp_path: Path
) -> None:
    found = compare(*pair)
    plain = json.loads(json.dumps(to_json(found), allow_nan=False))
    assert [c["question"] for c in plain["gained"]] == [c.question for c in found.gained] and plain[
        "metrics"
    ][0]["difference"]["mean"] is not None
    assert plain["differing"] == [
        {"field": "set", "first": "a", "second": "b"},
        {"field": "seed", "first": 0, "second": 1},
    ]
    page = Seen(to_html(found, tmp_path / "page.html").read_text(encoding="utf-8"))
    for changed in (*found.gained, *found.lost):
        assert changed.text in page.text and changed.answer in page.text
    assert (
        f"{found.metrics[0].difference.mean:+.4f}" in page.text
        and page.elements.count("script") == 1
        and "img" not in page.elements
    )


def test_hostile_ids_and_texts_are_text(tmp_path: Path) -> None:
    evil = '</p><script>alert("x")</script>\x1b[31m\u202e{{ 7 * 7 }}'
    a = written(
        tmp_path / "a",
        [
            row(
                evil,
                evil,
                [evil],
                [0],
                [f"{evil}2"],
                question_text=evil,
                answer=evil,
                category=evil,
            )
        ],
        set=evil,
    )
    b = written(
        tmp_path / "b",
        [row(evil, evil, [evil], [1], [evil], question_text=evil, answer=evil, category=evil)],
        set=evil,
    )
    text = to_html(compare(a, b), tmp_path / "page.html").read_text(encoding="utf-8")
    page = Seen(text)
    assert (
        page.elements.count("script") == 1
        and 'alert("x")' in page.text
        and "{{ 7 * 7 }}" in page.text
    )
    assert "\x1b" not in text and "\u202e" not in text
