"""The curve over questions: positions and means by hand, and the files of a run and an ablation
with feedback.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from browsers import needs_browser
from pages import Seen
from sample_ablation import HOSTILE, PROVENANCE, sample, whole
from test_ablation_browser import measured

from hebbarium.benchmarks.datasets import Conversation, Dataset, Question
from hebbarium.benchmarks.execution.spec import Settings
from hebbarium.benchmarks.experiments.design import ablate
from hebbarium.benchmarks.experiments.run import run
from hebbarium.benchmarks.reports.figures import LAYOUTS, Layout
from hebbarium.benchmarks.reports.learning_curve import FILES, PAGE, curve, positions
from hebbarium.benchmarks.reports.learning_figure import EXPLAINED, drawn, write_learning_page
from hebbarium.benchmarks.reports.page import to_html
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.ports.embedding_cache import CachedEmbedder


def test_positions_follow_the_time_and_then_the_file() -> None:
    asked = [("late", 9.0), ("first", 1.0), ("second", 1.0), ("third", 5.0)]
    data = Dataset(
        "d",
        "0" * 64,
        (Conversation("c", (), tuple(Question(id, "?", time, "", ("g",)) for id, time in asked)),),
        {},
    )
    assert positions(data) == {
        ("c", "first"): 0.0,
        ("c", "second"): 0.25,
        ("c", "third"): 0.5,
        ("c", "late"): 0.75,
    }


def test_means_by_group_of_positions() -> None:
    places = {("c", f"q{i}"): i / 8 for i in range(8)}
    rows: list[Any] = [
        {"conversation": "c", "question": f"q{i}", "gold": ["g"] if i != 3 else [], "ranks": [rank]}
        for i, rank in enumerate((0, 2, 1, 1, 1, 1, 20, 1))
    ]
    one, two = curve(rows, places, 2)
    assert (one["since"], one["until"], one["questions"]) == (0.0, 0.5, 3.0) and (
        two["since"],
        two["questions"],
    ) == (0.5, 4.0)
    assert (
        one["hit@1"] == pytest.approx(1 / 3)
        and one["recall@10"] == pytest.approx(2 / 3)
        and one["mrr@10"] == pytest.approx((0.5 + 1.0) / 3)
    )
    assert two["hit@1"] == two["recall@10"] == two["mrr@10"] == 0.75


def test_a_run_with_feedback_has_the_curve_and_one_without_has_none(
    tmp_path: Path, registry: Registry, tiny: Dataset
) -> None:
    embedder = CachedEmbedder(HashingEmbedder(32), tmp_path / "cache.sqlite")
    result = run(
        registry.set("default"),
        registry,
        tiny,
        embedder,
        tmp_path / "out",
        settings=Settings(feedback="gold"),
    )
    data = json.loads((tmp_path / "out" / FILES[0]).read_text())
    points = data["arms"]["full"]
    assert (
        data["feedback"] == "gold"
        and sum(p["questions"] for p in points) == result["overall"]["n"] == 6
    )
    assert sum(p["recall@10"] * p["questions"] for p in points) / 6 == pytest.approx(
        result["overall"]["recall@10"]
    )
    assert all(
        "the memory is told the gold events" in (tmp_path / "out" / name).read_text()
        for name in (FILES[1], PAGE)
    )
    run(registry.set("default"), registry, tiny, embedder, tmp_path / "out", replace=True)
    assert not any((tmp_path / "out" / name).exists() for name in FILES)


POINTS = [{"since": i / 10, "until": (i + 1) / 10, "questions": 4.0 + i, "hit@1": 0.1 * (i % 3),
           "recall@10": 0.25 + 0.05 * i, "mrr@10": 0.2}
          for i in (0, 3, 9)]  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_every_mark_lies_where_its_numbers_say(layout: Layout) -> None:
    g = drawn(POINTS, layout)
    zero, one = (next(x for x, text in g["x"].ticks if text == label) for label in ("0%", "100%"))
    scale = {text: y for y, text in g["y"].ticks}
    assert scale["0"] == g["bottom"]
    low, high = min(scale.values()), g["bottom"]
    top = next(float(text) for text, y in scale.items() if y == low)
    for line, name in zip(g["lines"], ("hit@1", "recall@10", "mrr@10"), strict=True):
        assert line["name"] == name and line["path"].count("L") == 2
        for (x, y, _), point in zip(line["marks"], POINTS, strict=True):
            assert x == pytest.approx(zero + (point["since"] + 0.05) * (one - zero), abs=0.02)
            assert y == pytest.approx(high - point[name] / top * (high - low), abs=0.02)
            assert 0 < x < layout.width and low <= y <= high


@pytest.mark.slow
def test_the_ablation_page_draws_the_curve_only_with_feedback(tmp_path: Path) -> None:
    result = sample()
    told = replace(result, provenance={**result.provenance, "feedback": "gold"})
    page, plain = (
        to_html(whole(made), tmp_path / "a.html", [points]).read_text(encoding="utf-8")
        for made, points in ((told, POINTS), (result, ()))
    )
    assert (
        "h-learning" in page
        and "the memory is told the gold events" in page
        and EXPLAINED.replace("'", "&#39;") in page
    )
    assert (
        page.count('aria-labelledby="learning-') == 2
        and '<th scope="row" role="rowheader">90% to 100%</th>' in page
    )
    assert (
        '<td role="cell" data-label="recall@10">0.700</td>' in page
        and '<td role="cell" data-label="Questions">13</td>' in page
    )
    assert "learning" not in plain and "Figure 3" not in plain


def test_the_page_of_a_run_escapes_names_and_is_absent_without_feedback(tmp_path: Path) -> None:
    write_learning_page(tmp_path, "none", {}, "about")
    assert not (tmp_path / PAGE).exists()
    write_learning_page(tmp_path, "answer", {HOSTILE: POINTS, "empty": []}, HOSTILE)
    page = (tmp_path / PAGE).read_text(encoding="utf-8")
    seen = Seen(page)
    assert (
        seen.elements.count("script") == 1
        and seen.elements.count("svg") == 2
        and seen.elements.count("table") == 1
    )
    assert (
        not re.search(r"(?:src|href)=|url\(|@import", page)
        and "the memory is told the events that it answered" in seen.text
    )


def test_the_ablation_of_a_memory_with_feedback_has_the_full_sets_curve(
    tmp_path: Path, registry: Registry, tiny: Dataset
) -> None:
    embedder = CachedEmbedder(HashingEmbedder(32), tmp_path / "cache.sqlite")
    ablate(
        registry.set("default"),
        registry,
        tiny,
        embedder,
        tmp_path / "out",
        only=("lexical_bm25",),
        settings=Settings(feedback="gold"),
    )
    page = (tmp_path / "out" / "design.html").read_text(encoding="utf-8")
    points = json.loads((tmp_path / "out" / FILES[0]).read_text())["arms"]["full"]
    cells = re.findall(
        r'data-label="recall@10">([0-9.]+)<',
        page.partition('id="h-learning"')[2].partition("</section>")[0],
    )
    assert (
        cells == [f"{point['recall@10']:.3f}" for point in points]
        and not (tmp_path / "out" / PAGE).exists()
    )


@pytest.mark.slow
@needs_browser
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_figure_is_drawn_in_a_browser_in_both_layouts(tmp_path: Path, dark: bool) -> None:
    told = replace(sample(), provenance={**PROVENANCE, "feedback": "gold"})
    page = to_html(whole(told), tmp_path / "a.html", [POINTS]).read_text(encoding="utf-8")
    for width, found in measured(page, tmp_path, (1280, 390), dark).items():
        assert (
            found["faults"] == []
            and found["wide"] <= 0
            and max(found["cut"]) <= 0
            and found["past"] == []
            and found["broken"] == []
        ), width
        assert (
            found["figures"] == (["narrow"] if int(width) <= 860 else ["wide"]) * 3
            and found["labelled"]
        )
