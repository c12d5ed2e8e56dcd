"""The page and its figures: sound, self-contained, and every mark where its number says."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest
from sample_ablation import CATEGORIES, EFFECTS, HOSTILE, sample, whole

from hebbarium.benchmarks.reports import published as module
from hebbarium.benchmarks.reports.figures import AxisScale
from hebbarium.benchmarks.reports.page import to_html, to_svg
from hebbarium.benchmarks.reports.result import BlockResult, Cost, from_json, to_json
from hebbarium.benchmarks.reports.tables import to_lines, to_markdown
from hebbarium.benchmarks.reports.words import p_text, signed, still
from hebbarium.benchmarks.scores.comparison import Verdict
from hebbarium.engine.base.errors import HebbariumError

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def result() -> BlockResult:
    return sample()


@pytest.fixture(scope="module")
def page(result: BlockResult, tmp_path_factory: pytest.TempPathFactory) -> str:
    return to_html(
        whole(result), tmp_path_factory.mktemp("report") / "deep" / "design.html"
    ).read_text(encoding="utf-8")


class Dom(HTMLParser):
    """Start tags with attributes, the text of each element by tag, and whether the tags nest."""

    VOID = frozenset({"meta", "link", "br", "hr", "img", "input", "wbr"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open:
            self.texts.append((self.open[-1], data))


def test_the_page_is_one_sound_document_that_loads_nothing(page: str) -> None:
    dom = Dom(page)
    names = {name for _, attributes in dom.tags for name in attributes}
    assert not names & {"src", "href", "srcset", "action", "data", "poster", "background"}
    assert {tag for tag, _ in dom.tags}.isdisjoint(
        {"link", "img", "iframe", "object", "embed", "base"}
    )
    assert (
        "url(" not in page
        and "@import" not in page
        and not re.search(r"https?:", page.replace("http://www.w3.org", ""))
    )
    policy = next(
        attributes["content"]
        for tag, attributes in dom.tags
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    script = next(text for tag, text in dom.texts if tag == "script")
    assert policy is not None and "default-src 'none'" in policy
    assert f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" in policy


def test_everything_from_data_is_text(result: BlockResult, tmp_path: Path) -> None:
    nasty = replace(
        result,
        dataset=HOSTILE,
        facts=replace(result.facts, set=HOSTILE, kind=HOSTILE, version=HOSTILE),
        dataset_sha256=HOSTILE,
    )
    text = to_html(whole(nasty), tmp_path / "x.html").read_text(encoding="utf-8")
    dom = Dom(text)
    assert [tag for tag, _ in dom.tags].count("script") == 1
    assert "<script>alert" not in text and "\x1b" not in text and "\u202e" not in text
    assert sum("<script>alert('x')</script>&\"|`*" in data for _, data in dom.texts) >= 8
    assert not any(name.startswith("on") for _, attributes in dom.tags for name in attributes)


def test_ids_are_unique_and_every_figure_has_a_title_and_a_description(page: str) -> None:
    dom = Dom(page)
    ids = [attributes["id"] for _, attributes in dom.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    references = [
        name
        for _, attributes in dom.tags
        for name in (attributes.get("aria-labelledby") or "").split()
    ]
    assert set(references) <= set(ids)
    assert len(figures(page)) == 4  # well-formed XML, too
    for svg in figures(page):
        assert (
            svg.get("role") == "img"
            and svg[0].tag == "title"
            and svg[0].text
            and svg[1].tag == "desc"
            and svg[1].text
        )


def figures(page: str) -> list[ET.Element]:
    return [ET.fromstring(svg) for svg in re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL)]


def axis(svg: ET.Element) -> list[tuple[float, float]]:
    """(px, value) of the labels under the plot."""
    found = [
        (float(node.get("x", "")), float((node.text or "").replace("−", "-")))
        for node in svg.iter("text")
        if node.get("class") == "small middle" and re.fullmatch(r"[+−]?[\d.]+", node.text or "")
    ]
    return sorted(found)


def place(ticks: list[tuple[float, float]], x: float) -> float:
    """The value at x, between the two labels around it: true within a piece of the axis."""
    (a, low), (b, high) = next(
        (left, right) for left, right in pairwise(ticks) if left[0] - 0.01 <= x <= right[0] + 0.01
    )
    return low + (high - low) * (x - a) / (b - a)


def mark_x(group: ET.Element) -> float:
    mark = next(node for node in group.iter() if node.get("class") == "dot")
    return (
        float(mark.get("cx") or 0)
        if mark.tag == "circle"
        else float(mark.get("x") or 0) + 4.5
        if mark.tag == "rect"
        else float(mark.get("d", "").split()[0][1:])
    )


FAR: dict[str, float | None] = {"a": 0.4, "b": 0.02, "c": -0.02, "d": 0.01, "e": -0.01, "f": None}


@pytest.mark.parametrize("effects", [EFFECTS, FAR], ids=["one scale", "two scales"])
def test_the_forest_puts_every_mark_where_its_number_is(
    effects: dict[str, float | None], tmp_path: Path
) -> None:
    """Read the scale off the labels of the axis, then marks and interval ends off the figure.
    Nothing is cut: all lie inside the plot.
    """
    result = sample(effects)
    for svg in figures(to_html(whole(result), tmp_path / "x.html").read_text(encoding="utf-8"))[:2]:
        ticks, broken = axis(svg), any(node.get("class") == "cut" for node in svg.iter("path"))
        assert broken == (effects is FAR)
        groups = [g for g in svg.iter("g") if "key" not in g.get("class", "")]
        gaps = [
            float(node.get("d", "").split()[0][1:])
            for node in svg.iter("path")
            if node.get("class") == "gap"
        ]
        for arm, group in zip(result.ordered(), groups, strict=True):
            d, text = arm.primary, " ".join("".join(node.itertext()) for node in group.iter("text"))
            assert group.get("class") == arm.verdict.slug
            if arm.no_op:
                assert still(arm) in text and mark_x(group) == pytest.approx(
                    next(x for x, value in ticks if value == 0.0), abs=0.1
                )
                continue
            assert (
                signed(d.mean) in text
                and p_text(d.p_holm) in text
                and d.low is not None
                and d.high is not None
            )
            bar = next(path for path in group.iter("path") if path.get("class") == "bar")
            low, high = map(
                float, re.match(r"M([\d.]+) [\d.]+H([\d.]+)M", bar.get("d", "")).groups()
            )  # type: ignore[union-attr]
            for x, value in ((mark_x(group), d.mean), (low, d.low), (high, d.high)):
                assert ticks[0][0] - 0.1 <= x <= ticks[-1][0] + 0.1
                if not any(
                    a[0] < gap < b[0]
                    for a, b in pairwise(ticks)
                    if a[0] <= x <= b[0]
                    for gap in gaps
                ):
                    assert place(ticks, x) == pytest.approx(
                        value, abs=0.004 * (ticks[-1][1] - ticks[0][1])
                    )
            far = bool(gaps) and not min(v for _, v in ticks) <= d.mean <= max(
                v for x, v in ticks if x < gaps[-1]
            )
            assert far == any(
                "at" in (node.get("class") or "").split() for node in group.iter("text")
            ), "the number stands at a far mark"


def test_a_scale_is_continuous_monotone_and_holds_every_value() -> None:
    scale = AxisScale((-0.01, 0.05), (-0.4, 0.29), 100.0, 400.0, 6)
    values = [-0.4 + 0.69 * i / 400 for i in range(401)]
    places = [scale(value) for value in values]
    assert (
        places == sorted(places)
        and places[0] >= 100.0
        and places[-1] <= 400.0
        and len(scale.breaks) == 2
    )
    assert [scale.far(value) for value in (-0.4, -0.01, 0.0, 0.05, 0.29)] == [
        True,
        False,
        False,
        False,
        True,
    ]
    one = AxisScale((-0.01, 0.05), (-0.01, 0.05), 0.0, 300.0, 6)
    assert one.breaks == [] and one(0.02) == pytest.approx((one(-0.01) + one(0.05)) / 2, abs=0.02)
    labels = sorted(x for x, _ in scale.ticks)
    assert min(b - a for a, b in pairwise(labels)) > 24.0


def test_the_tally_bars_end_where_their_counts_are(result: BlockResult, page: str) -> None:
    for svg in figures(page)[2:]:
        ticks = axis(svg)
        zero = next(x for x, value in ticks if value == 0.0)
        signed_ticks = [(x, value if x >= zero else -value) for x, value in ticks]
        gaps = [
            float(node.get("d", "").split()[0][1:])
            for node in svg.iter("path")
            if node.get("class") == "gap"
        ]
        for arm, group in zip(result.ordered(), svg.iter("g"), strict=True):
            if arm.no_op:
                continue
            assert {str(arm.n_helped), str(arm.n_hurt)} <= {
                text.text for text in group.iter("text")
            }
            for kind, count in (("gain", arm.n_helped), ("loss", -arm.n_hurt)):
                rect = next(r for r in group.iter("rect") if r.get("class") == kind)
                x, width = float(rect.get("x", "")), float(rect.get("width", ""))
                end = x + width if kind == "gain" else x
                assert (x if kind == "gain" else x + width) == pytest.approx(zero, abs=0.1)
                if not any(
                    a[0] < gap < b[0]
                    for a, b in pairwise(ticks)
                    if a[0] <= end <= b[0]
                    for gap in gaps
                ):
                    assert place(signed_ticks, end) == pytest.approx(
                        count, abs=0.02 * (1 + abs(count))
                    )


def test_each_verdict_has_one_shape_and_one_colour_everywhere(
    result: BlockResult, page: str
) -> None:
    shapes = {Verdict.EQUIVALENT: "rect", Verdict.NO_OP: "path"}
    for text in (page, to_svg(result)):
        found = {word.slug for word in Verdict if result.judged(word)}
        for svg in (
            [ET.fromstring(text.replace(SVG[1:-1], ""))]
            if text.startswith("<svg")
            else figures(page)[:1]
        ):
            keys = [g for g in svg.iter("g") if "key" in g.get("class", "")]
            keyed = {
                g.get("class", "").split()[0]: next(n for n in g if n.get("class") == "dot").tag
                for g in keys
            }
            assert keyed == {word: shapes.get(Verdict(word), "circle") for word in found}
        for word, colour in (
            (Verdict.HELPS, "good"),
            (Verdict.HURTS, "warn"),
            (Verdict.EQUIVALENT, "same"),
        ):
            assert f".plot .{word} .dot {{ fill: var(--{colour}); }}" in text


def test_the_svg_file_stands_alone_in_light_and_dark(result: BlockResult) -> None:
    for both in (True, False):
        text = to_svg(result, both=both)
        svg = ET.fromstring(text)
        assert (
            svg.tag == f"{SVG}svg"
            and "prefers-color-scheme: dark" in text
            and not re.search(r"url\(|@import|href", text)
        )
        used = set(re.findall(r"var\((--[a-z-]+)", text))
        assert used <= set(re.findall(r"(--[a-z-]+):", text))
        height = float(svg.get("height", ""))
        assert max(float(node.get("y", 0)) for node in svg.findall(f"{SVG}text")) < height
        assert text.count("better with it") == (
            both and 1 + sum(not arm.no_op for arm in result.estimates)
        )


def test_the_category_table_colours_by_sign_and_leaves_no_ops_bare(
    result: BlockResult, page: str
) -> None:
    table = re.search(
        r'<table class="numbers heat stack" role="table">.*?</table>', page, flags=re.DOTALL
    )
    assert table is not None
    rows = re.findall(r"<tr role=.row. class=.*?</tr>", table[0], flags=re.DOTALL)
    biggest = float(re.search(r"Full colour at ([\d.]+) and beyond", page)[1])  # type: ignore[index]
    reach = sorted(
        max(map(abs, arm.by_category.values())) for arm in result.estimates if not arm.no_op
    )
    assert any(value == pytest.approx(biggest, abs=6e-4) for value in reach)
    for arm, row in zip(result.ordered(), rows, strict=True):
        cells = re.findall(
            r'<td role="cell" data-label="[^"]*"(?: class="(up|down)" style="--v:([\d.]+)")?>([^<]*)</td>',
            row,
        )
        assert len(cells) == 4 and cells[3] == ("", "", "–")
        for (way, strength, text), name in zip(cells, list(CATEGORIES)[:3], strict=False):
            value = arm.by_category[name]
            assert text == signed(value, 3) and way == (
                "up" if value > 0 else "down" if value < 0 else ""
            )
            assert not strength or float(strength) == pytest.approx(
                min(1.0, abs(value) / biggest), abs=0.02
            )


def test_sortable_headings_are_buttons_with_a_sort_state_and_every_number_can_be_sorted(
    page: str,
) -> None:
    tables = re.findall(
        r'<table class="numbers stack(?: worded)?" data-sortable role="table">.*?</table>',
        page,
        flags=re.DOTALL,
    )
    assert len(tables) == 4
    for table in tables:
        heads = re.findall(r'<th scope="col" aria-sort="none"><button type="button">', table)
        rows = re.findall(r"<tr role=.row. class=.*?</tr>", table, flags=re.DOTALL)
        assert len(rows) in (13, 1) and all(row.count("<td") + 1 == len(heads) for row in rows)
        assert all(
            value == "nan" or float(value) == float(value)
            for value in re.findall(r'data-sort="([^"]*)"', table)
        )


def test_the_page_says_what_the_design_can_show(page: str, tmp_path: Path) -> None:
    words = " ".join(re.sub(r"<[^>]+>", "", page).split())
    assert "With 10 conversations its smallest p is 0.00195, after correction 0.0254." in words
    assert (
        "cannot reach 0.05" not in words
        and "printed before the run" in words
        and "it needs 542 or more" in words
    )
    few = to_html(
        whole(sample({"dense_retrieval": 0.3, "surprise_gate": None}, n_conversations=4)),
        tmp_path / "few.html",
    ).read_text(encoding="utf-8")
    assert "it cannot reach 0.05 here, whatever a mechanism does" in " ".join(few.split())


def test_the_page_marks_confounded_arms_and_what_a_probe_cannot_see(page: str) -> None:
    words = " ".join(re.sub(r"<[^>]+>", "", page).split())
    assert "† also removes the signals of 2 other mechanisms" in words
    gate = re.search(
        r"<tr[^>]*><th[^>]*>surprise_<wbr>gate</th>(?:(?!</tr>).)*‡.*?</tr>", page, re.DOTALL
    )
    assert gate and "admission not seen" in gate[0]
    assert (
        page.count(" ‡<") == 1
        and '<td role="cell" data-label="Vetoed alone" data-sort="850">850</td>' in page
    )


def test_published_numbers_stand_beside_ours_on_the_data_of_their_source_alone(
    result: BlockResult, page: str, tmp_path: Path
) -> None:
    with (Path(module.__file__).parent / "cortex_ablation.csv").open(
        encoding="utf-8", newline=""
    ) as file:
        removed = {
            row["mechanism_removed"]: row["delta_recall_at_10_vs_anchor"]
            for row in csv.DictReader(file)
            if row["benchmark"] == "locomo"
        }
    theirs, ours = (
        float(removed["ADAPTIVE_DECAY"]),
        next(arm for arm in result.estimates if arm.name == "base_level_activation").primary,
    )
    drawn = to_html(whole(replace(result, dataset="locomo")), tmp_path / "locomo.html").read_text(
        encoding="utf-8"
    )
    for svg in figures(drawn)[:2]:
        ticks = axis(svg)
        group = next(g for g in svg.iter("g") if g.get("class") == "published")
        title, path = group.findtext("title") or "", group.find("path")
        assert (
            path is not None and "base_level_activation" in title and title.endswith(signed(theirs))
        )
        assert place(ticks, float(path.attrib["d"][1:].split()[0])) == pytest.approx(
            theirs, abs=1e-4
        )
        assert sum(g.get("class") == "published" for g in svg.iter("g")) == 2, (
            "reconsolidation is removed there alone, too"
        )
    row = re.search(r"ADAPTIVE_<wbr>DECAY.*?</tr>", drawn)
    assert row and signed(theirs) in row[0] and signed(ours.mean) in row[0]
    assert "Beside published numbers" in to_markdown(whole(replace(result, dataset="locomo")))
    assert "Beside published" not in page and "published" not in to_markdown(whole(result)), (
        "other data"
    )


def test_costs_of_mechanisms_are_a_table_where_they_were_measured(
    result: BlockResult, page: str, tmp_path: Path
) -> None:
    costs = (Cost("recency", 1.25, None, 0.5), Cost("<b>", None, None, None))
    timed = whole(result, costs=costs)
    drawn = to_html(timed, tmp_path / "costs.html").read_text(encoding="utf-8")
    rows = re.findall(
        r"<tr>(.*?)</tr>", drawn.partition("Cost of each mechanism")[2].partition("</table>")[0]
    )
    assert [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row) for row in rows[1:]] == [
        ["recency", "1.250", "–", "0.500"],
        ["&lt;b&gt;", "–", "–", "–"],
    ]
    assert (
        "| recency | 1.250 | – | 0.500 |" in to_markdown(timed)
        and from_json(json.loads(json.dumps(to_json(timed)))) == timed
    )
    assert "Cost of each" not in page


def test_provenance_and_references_stand_on_the_page(page: str) -> None:
    for part in (
        "hebbarium ablate --set cortex",
        "2026-01-02T03:04:05Z",
        "all-MiniLM-L6-v2",
        "one event is a session",
        "recency.weight=0.2",
        "Linux-6-x86_64, 2 cores",
        "numpy 2.4.0",
        "6" * 64,
        "@article{a2000b,",
    ):
        assert part in page


@pytest.mark.slow
@pytest.mark.parametrize("effects", [{}, {"a": None}, {"a": 0.2}, {"a": -0.2}])
@pytest.mark.parametrize("n_conversations", [1, 3])
def test_small_results_have_reports_too(
    effects: dict[str, float | None], n_conversations: int, tmp_path: Path
) -> None:
    small = sample(effects, n_conversations, 40)
    text = to_html(whole(small), tmp_path / "x.html").read_text(encoding="utf-8")
    Dom(text)
    assert "nan" not in re.sub(
        r"data-sort=\"nan\"|\bnan\b.*?isNaN", "", text.split("<header")[1].split("<script")[0]
    )
    assert len(to_lines(small)) >= 5 + len(effects) and "-inf" not in text


def test_long_names_in_any_script_are_cut_to_the_room_there_is(
    result: BlockResult, tmp_path: Path
) -> None:
    arms = (
        replace(result.estimates[0], name="記憶" * 60),
        replace(result.estimates[1], name="x" * 400),
        replace(result.estimates[2], name=""),
    )
    text = to_html(whole(replace(result, estimates=arms)), tmp_path / "x.html").read_text(
        encoding="utf-8"
    )
    spans = re.findall(r"<tspan x=[^>]*>([^<]*)</tspan>", text)
    assert spans and all(
        len(span) <= 46 and sum(2 if char in "記憶" else 1 for char in span) <= 46 for span in spans
    )
    assert "x" * 400 in text


def test_a_path_that_cannot_be_written_is_told(result: BlockResult, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("kept", encoding="utf-8")
    with pytest.raises(HebbariumError, match="cannot be written"):
        to_html(whole(result), tmp_path / "file" / "x.html")
    with pytest.raises(HebbariumError, match="cannot be written"):
        to_html(whole(result), tmp_path)


@pytest.mark.slow
def test_the_result_needs_neither_rich_nor_jinja_until_it_is_drawn() -> None:
    code = (
        "import sys, hebbarium.benchmarks.reports.result, hebbarium.benchmarks.reports.tables; "
        "print({'rich', 'jinja2', 'torch', 'matplotlib'} & set(sys.modules))"
    )
    out = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    assert out.stdout.strip() == "set()"
