"""Runs and judgements in the form of TREC: written from a run of ours, and read from others."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hebbarium.benchmarks.runs.trec import read_qrels, read_run, scored, write_trec
from hebbarium.benchmarks.scores.metrics import METRICS
from hebbarium.engine.base.errors import DataError, HebbariumError

Command = Callable[..., tuple[int, str, str]]


def row(
    question: str, gold: list[str], retrieved: list[str], scores: list[Any], **more: Any
) -> Any:
    return {"arm": "full", "seed": 0, "conversation": "two friends", "question": question,
            "gold": gold, "retrieved": retrieved, "scores": scores, **more}  # fmt: skip


ROWS = [
    row("q 1", ["e1", "e9"], ["e2", "e1", "e3"], [1.5, 1.5, 1.5]),
    row("q2", ["e5"], ["e5"], [None]),
    row("q3", [], ["e1"], [0.25]),
    row("q4", ["e1"], [], []),
    row("q 1", ["e1", "e9"], ["e9", "e1"], [-1e-9, -2e-9], arm="minus recency"),
]


def test_a_run_is_written_in_the_order_of_its_answers(tmp_path: Path) -> None:
    written = write_trec(ROWS, tmp_path)
    assert [path.name for path in written] == ["qrels.txt", "full.run", "minus%20recency.run"]
    lines = (tmp_path / "full.run").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "two%20friends/q%201 Q0 two%20friends/e2 1 1.5 full"
    assert all(len(line.split()) == 6 for line in lines) and len(lines) == 5
    run, judged = read_run(tmp_path / "full.run"), read_qrels(tmp_path / "qrels.txt")
    assert run["two%20friends/q%201"] == [f"two%20friends/{e}" for e in ("e2", "e1", "e3")]
    assert judged["two%20friends/q%201"] == {"two%20friends/e1": 1, "two%20friends/e9": 1}
    assert len(judged) == 3, "a question without gold is not judged"
    other = read_run(tmp_path / "minus%20recency.run")
    assert [d[-2:] for d in other["two%20friends/q%201"]] == ["e9", "e1"]


def test_equal_scores_go_down_as_float32_does(tmp_path: Path) -> None:
    """trec_eval reads float32, and orders ties by document."""
    import numpy as np

    events = [f"e{number:02}" for number in range(40)]
    write_trec([row("q", ["e00"], events, [1e6] * 20 + [None] * 5 + [2e6] * 15)], tmp_path)
    lines = (tmp_path / "full.run").read_text(encoding="utf-8").splitlines()
    scores = np.array([line.split()[4] for line in lines], np.float32)
    assert (np.diff(scores) < 0).all()
    assert [d[-3:] for d in read_run(tmp_path / "full.run")["two%20friends/q"]] == events


def test_several_seeds_have_a_file_each(tmp_path: Path) -> None:
    rows = [row("q", ["e1"], ["e1"], [1.0], seed=seed) for seed in (1, 2)]
    assert [p.name for p in write_trec(rows, tmp_path)] == [
        "qrels.txt", "full-seed1.run", "full-seed2.run"]  # fmt: skip


def drawn(seed: int, folder: Path) -> tuple[Path, Path]:
    """A run and judgements of other programs, with ties, topics that are in one alone, and
    documents without relevance.
    """
    draw = random.Random(seed)
    run, qrels = folder / "other.run", folder / "other.qrels"
    topics, documents = [f"t{n}" for n in range(12)], [f"d{n}" for n in range(30)]
    run.write_text("".join(
        f"{topic} Q0 {document} {draw.randrange(9)} {draw.randrange(6) / 4} x\n"
        for topic in topics[2:] for document in draw.sample(documents, 20)), encoding="utf-8")  # fmt: skip
    qrels.write_text("".join(
        f"{topic} 0 {document} {draw.choice([0, 0, 1, 2])}\n"
        for topic in topics[:10] for document in draw.sample(documents, 6)), encoding="utf-8")  # fmt: skip
    return run, qrels


@pytest.mark.parametrize("seed", range(5))
def test_scores_are_those_of_the_definitions(tmp_path: Path, seed: int) -> None:
    run, qrels = drawn(seed, tmp_path)
    gold: dict[str, set[str]] = {}
    for line in qrels.read_text().splitlines():
        topic, _, document, relevance = line.split()
        if relevance != "0":
            gold.setdefault(topic, set()).add(document)
    ranking: dict[str, list[tuple[float, str]]] = {}
    for line in run.read_text().splitlines():
        topic, _, document, _, score, _ = line.split()
        ranking.setdefault(topic, []).append((float(score), document))
    recall, gain = [], []
    for topic, relevant in gold.items():
        best = [d for _, d in sorted(ranking.get(topic, []), reverse=True)][:10]
        recall.append(len(relevant & set(best)) / len(relevant))
        ideal = sum(1 / math.log2(place + 2) for place in range(min(10, len(relevant))))
        gain.append(sum(1 / math.log2(i + 2) for i, d in enumerate(best) if d in relevant) / ideal)
    found = scored(read_run(run), read_qrels(qrels))
    assert found["recall@10"] == pytest.approx(sum(recall) / len(recall), abs=1e-12)
    assert found["ndcg@10"] == pytest.approx(sum(gain) / len(gain), abs=1e-12)
    assert found["topics"] == len(gold) and found["topics_not_judged"] == 2


@pytest.mark.parametrize("seed", range(5))
def test_scores_are_those_of_trec_eval(tmp_path: Path, seed: int) -> None:
    measures = pytest.importorskip(
        "ir_measures", reason="the package ir-measures is not installed: pip install ir-measures"
    )
    run, qrels = drawn(seed, tmp_path)
    wanted = [measures.parse_measure(name) for name in ("R@5", "R@10", "RR@10", "Success@10")]
    judged = {
        topic: {d: min(v, 1) for d, v in docs.items()} for topic, docs in read_qrels(qrels).items()
    }
    judged = {topic: docs for topic, docs in judged.items() if any(docs.values())}
    theirs = measures.calc_aggregate(
        wanted, judged, {t: {d: -float(i) for i, d in enumerate(docs)}
                         for t, docs in read_run(run).items()})  # fmt: skip
    ours = scored(read_run(run), read_qrels(qrels))
    for measure, name in zip(wanted, ("recall@5", "recall@10", "mrr@10", "hit@10"), strict=True):
        assert ours[name] == pytest.approx(theirs[measure], abs=1e-9), name


@pytest.mark.parametrize(("text", "says"), [
    ("t Q0 d 1 1.5\n", "5 fields"), ("t Q0 d 1 x tag\n", "no number"),
    ("t Q0 d 1 nan tag\n", "no number"), ("t Q0 d 1 1 tag\nt Q0 d 2 0 tag\n", "twice")])  # fmt: skip
def test_bad_runs_are_refused_with_their_line(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "bad.run"
    path.write_text("\n" + text, encoding="utf-8")
    with pytest.raises(DataError, match=says) as error:
        read_run(path)
    assert "line" in str(error.value.where) and error.value.cure


def test_bad_judgements_and_files_that_are_none(tmp_path: Path) -> None:
    path = tmp_path / "bad.qrels"
    for text in ("t 0 d one\n", "t 0 d 1\nt 0 d 0\n", "t 0 d\n"):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(DataError):
            read_qrels(path)
    path.write_bytes(b"\xff\xfe\x00")
    for bad in (path, tmp_path, tmp_path / "absent"):
        with pytest.raises(DataError, match=r"cannot be read|is a folder"):
            read_run(bad)
    with pytest.raises(HebbariumError, match="no topic"):
        scored({"t": ["d"]}, {"t": {"d": 0}})


def test_a_run_of_ours_scores_the_same_when_it_is_read_again(
    hebbarium: Command, tmp_path: Path
) -> None:
    run, out = tmp_path / "run", tmp_path / "trec"
    code, _, err = hebbarium("run", "--set", "bm25", "--dataset", "demo", "--limit", "1",
                             "--embedder", "hashing:64", "--out", run)  # fmt: skip
    assert code == 0, err
    code, _, err = hebbarium("export", run, "--trec", out)
    assert code == 0, err
    (answers,) = out.glob("*.run")
    code, printed, _ = hebbarium("score", answers, "--qrels", out / "qrels.txt", "--json")
    ours = json.loads((run / "metrics.json").read_text(encoding="utf-8"))["overall"]
    (theirs,) = json.loads(printed).values()
    assert theirs["topics"] == ours["n"] > 10
    for name in METRICS:
        assert theirs[name] == pytest.approx(ours[name], abs=1e-12), name
    code, printed, _ = hebbarium("score", answers, "--qrels", out / "qrels.txt")
    assert code == 0 and "recall@10" in printed
