"""The curve over questions: positions and means by hand, and the files of a run and an ablation with feedback."""
from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hebbarium.benchmarks.datasets import Conversation, Dataset, Question
from hebbarium.benchmarks.execution.spec import Settings
from hebbarium.benchmarks.reports.learning_curve import FILES, curve, positions
from hebbarium.benchmarks.run import run
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.ports.embedding_cache import CachedEmbedder
from hebbarium.engine.registry import Registry


def test_positions_follow_the_time_and_then_the_file() -> None:
    asked = [("late", 9.0), ("first", 1.0), ("second", 1.0), ("third", 5.0)]
    data = Dataset("d", "0" * 64, (Conversation("c", (), tuple(Question(id, "?", time, "", ("g",)) for id, time in asked)),), {})
    assert positions(data) == {("c", "first"): 0.0, ("c", "second"): 0.25, ("c", "third"): 0.5, ("c", "late"): 0.75}


def test_means_by_group_of_positions() -> None:
    places = {("c", f"q{i}"): i / 8 for i in range(8)}
    rows: list[Any] = [{"conversation": "c", "question": f"q{i}", "gold": ["g"] if i != 3 else [], "ranks": [rank]}
                       for i, rank in enumerate((0, 2, 1, 1, 1, 1, 20, 1))]
    one, two = curve(rows, places, 2)
    assert (one["since"], one["until"], one["questions"]) == (0.0, 0.5, 3.0) and (two["since"], two["questions"]) == (0.5, 4.0)
    assert one["hit@1"] == pytest.approx(1 / 3) and one["recall@10"] == pytest.approx(2 / 3) and one["mrr@10"] == pytest.approx((0.5 + 1.0) / 3)
    assert two["hit@1"] == two["recall@10"] == two["mrr@10"] == 0.75


def test_a_run_with_feedback_has_the_curve_and_one_without_has_none(tmp_path: Path, registry: Registry, tiny: Dataset) -> None:
    embedder = CachedEmbedder(HashingEmbedder(32), tmp_path / "cache.sqlite")
    result = run(registry.set("default"), registry, tiny, embedder, tmp_path / "out", settings=Settings(feedback="gold"))
    data = json.loads((tmp_path / "out" / FILES[0]).read_text())
    points = data["arms"]["full"]
    assert data["feedback"] == "gold" and sum(p["questions"] for p in points) == result["overall"]["n"] == 6
    assert sum(p["recall@10"] * p["questions"] for p in points) / 6 == pytest.approx(result["overall"]["recall@10"])
    assert "the memory is told the gold events" in (tmp_path / "out" / FILES[1]).read_text()
    run(registry.set("default"), registry, tiny, embedder, tmp_path / "out", replace=True)
    assert not any((tmp_path / "out" / name).exists() for name in FILES)
