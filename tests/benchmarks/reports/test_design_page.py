"""The report of a design: figures whose marks stand where their numbers are, tables that agree,
and text that stays text.
"""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from browsers import BROWSER, needs_browser
from pages import Seen
from sample_design import EVIL, PLAYERS, WEIGHTS, design, known

from hebbarium.benchmarks.reports import tables
from hebbarium.benchmarks.reports.estimates import curves, matrix, waterfall
from hebbarium.benchmarks.reports.page import to_html
from hebbarium.benchmarks.reports.published import COLUMNS, FILE, NAMES, NOTHING, alone, published
from hebbarium.benchmarks.reports.result import DesignResult, from_json, to_json
from hebbarium.benchmarks.reports.tables import to_csv, to_latex, to_markdown
from hebbarium.benchmarks.reports.words import signed
from hebbarium.benchmarks.scores.comparison import Verdict
from hebbarium.engine.base.errors import DataError
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.reporting.text import visible


@pytest.fixture(scope="module", autouse=True)
def a_publication() -> Iterator[None]:
    """Invented numbers stand beside those of one data set."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "published", known)
        yield


@pytest.fixture(scope="module")
def report() -> DesignResult:
    return design()


@pytest.fixture(scope="module")
def page(
    a_publication: None, report: DesignResult, tmp_path_factory: pytest.TempPathFactory
) -> str:
    return to_html(report, tmp_path_factory.mktemp("page") / "design.html").read_text(
        encoding="utf-8"
    )


def svgs(page: str) -> list[ET.Element]:
    return [ET.fromstring(text) for text in re.findall(r"<svg.*?</svg>", page, re.DOTALL)]


def scale(svg: ET.Element) -> list[tuple[float, float]]:
    """px and value of the labels below the plot: the numbers on one line."""
    lines: dict[float, list[tuple[float, float]]] = {}
    for t in svg.iter("text"):
        text = (t.text or "").replace("−", "-")
        if "middle" in t.get("class", "") and re.fullmatch(r"[-+]?[\d.]+(e-?\d+)?", text):
            lines.setdefault(float(t.get("y", "0")), []).append(
                (float(t.get("x", "0")), float(text))
            )
    return max(lines.values(), key=len)


def value_at(svg: ET.Element, x: float) -> float:
    (a, u), *_, (b, v) = scale(svg)
    return u + (x - a) / (b - a) * (v - u)


def test_the_shapley_values_lead_from_the_base_to_the_set(report: DesignResult) -> None:
    for block in report.blocks:
        found = waterfall(block.estimates, block.means["full"])
        assert (
            found
            and {s.name for s in found.steps} == set(PLAYERS)
            and found.end == block.means["full"]
        )
        assert found.start + sum(s.primary.mean for s in found.steps) == pytest.approx(
            found.end, abs=1e-12
        )
        assert [s.primary.mean for s in found.steps] == sorted(
            (s.primary.mean for s in found.steps), reverse=True
        )


def test_every_pair_has_one_interaction(report: DesignResult) -> None:
    for block in report.blocks:
        found = matrix(block.estimates)
        assert found and found.players == PLAYERS and len(found.cells) == 15
        for one in PLAYERS:
            for other in PLAYERS:
                assert (found.of(one, other) is None) == (one == other)


def test_a_sweep_is_a_curve_with_the_published_points(report: DesignResult) -> None:
    # of the data set on which they are published alone
    for block, n in zip(report.blocks, (3, 0), strict=True):
        (curve,) = curves(block, known(block.dataset, block.metric))
        assert (
            curve.parameter == "lexical_bm25.weight"
            and [x for x, _ in curve.points] == list(WEIGHTS)
            and len(curve.published) == n
        )
    other = design(set_name="minimal").blocks[0]
    assert not curves(other, known("locomo", "recall@10"))[0].published, (
        "a sweep of another set stands on other ground"
    )


def test_bars_of_the_waterfall_stand_where_their_numbers_are(
    report: DesignResult, page: str
) -> None:
    block = report.blocks[0]
    found = waterfall(block.estimates, block.means["full"])
    assert found
    for svg in [
        s for s in svgs(page) if any("from the base" in (t.text or "") for t in s.iter("title"))
    ][:2]:
        bars, now = [r for r in svg.iter("rect") if r.get("class") in ("gain", "loss")], found.start
        for step, bar in zip(found.steps, bars, strict=True):
            left, width = float(bar.get("x", "")), float(bar.get("width", ""))
            assert bar.get("class") == ("gain" if step.primary.mean >= 0 else "loss")
            assert value_at(svg, left) == pytest.approx(min(now, now + step.primary.mean), abs=1e-3)
            assert width <= 1 or value_at(svg, left + width) == pytest.approx(
                max(now, now + step.primary.mean), abs=1e-3
            )
            now += step.primary.mean


def test_points_of_the_curve_stand_where_their_numbers_are(report: DesignResult, page: str) -> None:
    (curve,) = curves(report.blocks[0], NOTHING)
    for svg in [
        s
        for s in svgs(page)
        if any("over lexical_bm25.weight" in (t.text or "") for t in s.iter("title"))
    ][:2]:
        rows = [t for t in svg.iter("text") if t.get("class") == "small end"]
        ys = [(float(t.get("y", "")) - 4, float((t.text or "").replace("−", "-"))) for t in rows]
        (a, u), (b, v) = ys[0], ys[-1]
        path = next(p.get("d", "") for p in svg.iter("path") if "L" in p.get("d", ""))
        points = [tuple(map(float, pair.split())) for pair in path[1:].split("L")]
        for (x, y), (value, e) in zip(points, curve.points, strict=True):
            assert value_at(svg, x) == pytest.approx(value, abs=1e-3) and u + (y - a) / (b - a) * (
                v - u
            ) == pytest.approx(e.primary.mean, abs=1e-3)


def test_the_page_holds_every_estimate_and_loads_nothing(report: DesignResult, page: str) -> None:
    seen = Seen(page)
    for block in report.blocks:
        for e in block.estimates:
            assert signed(e.primary.mean) in seen.text and visible(e.name) in seen.text
    for words in (
        "How to read this",
        "Diamonds: as published in a paper, section 6",
        "about 12 more conversations",
    ):
        assert words in seen.text
    assert (
        seen.elements.count("script") == 1
        and "link" not in seen.elements
        and "img" not in seen.elements
    )
    assert "\x1b" not in page and "\u202e" not in page and "<script>alert" not in page


def test_tables_agree_with_the_estimates(report: DesignResult) -> None:
    rows = list(csv.DictReader(io.StringIO(to_csv(report))))
    every = [(block, e) for block in report.blocks for e in block.estimates]
    assert [(r["block"], r["estimate"], float(r["value"]), float(r["low"])) for r in rows] == [
        (b.name, e.name, e.primary.mean, e.primary.low) for b, e in every
    ]
    text, latex = to_markdown(report), to_latex(report)
    table = [line for line in text.splitlines() if line.startswith("| ")]
    name = every[1][1].name.replace("_", "\\_")
    assert sum(line.startswith(f"| {name} | Shapley value |") for line in table) == 2
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table[: len(every) // 2]}) == 1
    assert (
        "<script>" not in text
        and "\x1b" not in text + latex
        and latex.count(r"\begin{longtable}") == 2
    )
    for _, e in every:
        assert (
            signed(e.primary.mean) in text
            and signed(e.primary.mean).replace("−", r"\ensuremath{-}") in latex
        )


def test_a_design_without_values_of_shapley_pairs_or_sweeps_has_its_table_alone(
    tmp_path: Path,
) -> None:
    whole = design()
    first = replace(
        whole.blocks[0].estimates[0], name="an arm", kind="arm minus full", seed_sd=None
    )
    plain = replace(
        whole, blocks=tuple(replace(block, estimates=(first,)) for block in whole.blocks)
    )
    block = plain.blocks[0]
    assert waterfall(block.estimates, 0.5) is None and matrix(block.estimates) is None
    assert curves(block, NOTHING) == ()
    assert "an arm" in Seen(to_html(plain, tmp_path / "x.html").read_text(encoding="utf-8")).text


def test_a_verdict_on_an_arm_minus_the_set_says_which_way_the_score_goes(tmp_path: Path) -> None:
    whole = design()
    helps = next(e for e in whole.blocks[0].estimates if e.verdict is Verdict.HELPS)
    for kind, said, unsaid in (
        ("arm minus full", "the score rises", "the set is better with it"),
        ("full minus arm", "the set is better with it", "the score rises"),
    ):
        one_arm = replace(whole.blocks[0], estimates=(replace(helps, name="an arm", kind=kind),))
        to_html(replace(whole, blocks=(one_arm,)), tmp_path / "x.html")
        text = Seen((tmp_path / "x.html").read_text(encoding="utf-8")).text
        assert said in text and unsaid not in text


def test_json_comes_back_as_it_was(report: DesignResult) -> None:
    assert from_json(json.loads(json.dumps(to_json(report), allow_nan=False))) == report


@pytest.mark.parametrize(
    "damage", [{"blocks": None}, {"blocks": [{}]}, {"excluded": 3}, {"seeds": None}, {"format": 2}]
)
def test_a_damaged_result_is_named_with_the_cure(damage: dict[str, object]) -> None:
    with pytest.raises(DataError) as caught:
        from_json({**to_json(design()), **damage})
    assert caught.value.cure and "design.json" in caught.value.where


@pytest.mark.slow
@needs_browser
@pytest.mark.parametrize("width", [390, 1400])
def test_the_page_runs_in_a_browser_without_an_error_and_without_overflow(
    page: str, tmp_path: Path, width: int
) -> None:
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    (tmp_path / "frame.html").write_text(
        f'<!doctype html><body><iframe src="page.html" width="{width}" height="900"></iframe><script>addEventListener("load", () => {{'
        'const d = document.querySelector("iframe").contentDocument; document.title = d.documentElement.scrollWidth - d.documentElement.clientWidth;'
        "});</script></body>",
        encoding="utf-8",
    )
    assert BROWSER
    done = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu",
                           "--allow-file-access-from-files", "--no-first-run",
                           f"--user-data-dir={tmp_path / 'profile'}", "--enable-logging=stderr",
                           "--virtual-time-budget=3000", "--dump-dom",
                           (tmp_path / "frame.html").as_uri()], capture_output=True, text=True,
                           encoding="utf-8", timeout=120, check=True)  # fmt: skip
    assert "CONSOLE" not in done.stderr and re.search(r"<title>(-?\d+)</title>", done.stdout), (
        done.stderr[-500:]
    )
    assert int(re.search(r"<title>(-?\d+)</title>", done.stdout).group(1)) <= 0  # type: ignore[union-attr]


def test_hostile_names_are_text_everywhere(report: DesignResult) -> None:
    assert any(EVIL in e.name for e in report.blocks[0].estimates)
    assert "alert" in to_markdown(report) and "&lt;script&gt;" in to_markdown(report)


# --- published removals ---------------------------------------------------------------------------
def test_published_removals_stand_beside_ours_on_their_data_set_alone(tmp_path: Path) -> None:
    found = design(removed=True)
    first, second = found.blocks
    assert [r.name for r in tables.known(first).removals] == ["WORDS", "BOTH", EVIL]
    assert not tables.known(second).removals
    assert alone(tables.known(first).removals) == {"lexical_bm25": 0.0321}
    page = to_html(found, tmp_path / "x.html").read_text(encoding="utf-8")
    seen, text = Seen(page), to_markdown(found)
    assert (
        seen.text.count("Beside published numbers") == 1
        and "1 of its 3 differences are exactly 0" in seen.text
        and "<script>alert" not in page
    )
    ours = next(
        e for e in first.estimates if e.name == "lexical_bm25" and e.kind == "full minus arm"
    )
    row = next(line for line in text.splitlines() if line.startswith("| WORDS |"))
    assert "+0.0321" in row and signed(ours.primary.mean) in row and "+0.0321" in seen.text
    assert (
        sum(line.startswith("| BOTH |") for line in text.splitlines()) == 1
        and "temporal\\_context" in text
    )
    wide, narrow, *others = [
        s for s in svgs(page) if any("Difference in" in (t.text or "") for t in s.iter("title"))
    ]
    for svg in (wide, narrow):
        at = [
            float(p.get("d", "")[1:].split()[0])
            for g in svg.iter("g")
            if g.get("class") == "published"
            for p in g.iter("path")
        ]
        assert at and all(value_at(svg, x) == pytest.approx(0.0321, abs=1e-3) for x in at)
    assert not any(g.get("class") == "published" for svg in others for g in svg.iter("g"))


def test_every_published_mechanism_has_its_place_and_names_mechanisms_of_the_registry() -> None:
    rows = list(csv.DictReader(FILE.read_text(encoding="utf-8").splitlines()))
    removed = [row for row in rows if not row["mechanism_removed"].startswith("BASELINE")]
    assert {row["mechanism_removed"] for row in removed} == set(NAMES)
    registry = Registry.read()
    assert {id for ours, _ in NAMES.values() for id in ours} <= set(registry.entries)
    drawn = [ours[0] for ours, _ in NAMES.values() if len(ours) == 1]
    assert len(drawn) == len(set(drawn)), "one published name for each point"
    counts = {
        name: len(published(name, "recall@10").removals)
        for name in ("locomo", "longmemeval", "beam")
    }
    assert counts == {"locomo": 12, "longmemeval": 16, "beam": 0}
    # the printed differences are those of the printed scores, signed like ours: all minus without
    for row in removed:
        anchor = next(
            r
            for r in rows
            if r["benchmark"] == row["benchmark"] and r["mechanism_removed"] == row["anchor"]
        )
        for score, column in (("recall_at_10", COLUMNS["recall@10"]), ("mrr", COLUMNS["mrr@10"])):
            assert float(row[column]) == pytest.approx(
                float(anchor[score]) - float(row[score]), abs=1.5e-4
            ), row


def test_arms_with_several_seeds_have_a_dot_for_each(tmp_path: Path) -> None:
    whole = design()
    by_seed = {"full": (0.6, 0.62, 0.67), EVIL: (0.5, 0.5, 0.5)}
    found = replace(
        whole,
        blocks=tuple(
            replace(block, by_seed=by_seed, clusters="seeds", n_conversations=3)
            for block in whole.blocks
        ),
    )
    page = to_html(found, tmp_path / "x.html").read_text(encoding="utf-8")
    strips = [
        s
        for s in svgs(page)
        if any("value of each seed" in (t.text or "") for t in s.iter("title"))
    ]
    assert len(strips) == 4
    for svg in strips:
        at = [
            value_at(svg, float(dot.get("cx", "")))
            for dot in svg.iter("circle")
            if dot.get("class") == "seed"
        ]
        assert at == pytest.approx([0.6, 0.62, 0.67, 0.5, 0.5, 0.5], abs=1e-3)
    text = Seen(page).text
    assert "3 seeds." in text and "about 12 more seeds" in text and "sd 0.0361" in text
