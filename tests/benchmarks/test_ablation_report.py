from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from statsmodels.stats.multitest import multipletests

from hebbarium.benchmarks.ablation_report import (
    NO_OP,
    PRIMARY,
    AblationResult,
    ArmReceipt,
    ArmResult,
    Difference,
    difference,
    from_json,
    p_text,
    show,
    signed,
    to_html,
    to_json,
    to_lines,
    to_markdown,
    to_table,
    with_holm,
)
from hebbarium.benchmarks.scores.metrics import METRICS, question_metrics, summary
from hebbarium.engine.errors import DataError, HebbariumError, InputError

HOSTILE = "<script>alert('x')</script>&\"|`*\x1b[31m\u202e"
EFFECTS = {
    "dense_retrieval": 0.30, "lexical_bm25": 0.06, "cross_encoder_rerank": 0.045, "spreading_activation": 0.012, "temporal_context_printed": 0.02,
    "surprise_gate": -0.07, "base_level_activation": 0.004, "two_stage_consolidation_with_schema_acceleration_printed": -0.006,
    "swap spreading_activation->personalized_pagerank_over_entities": 0.008, HOSTILE: 0.002, "emotional_tagging": None, "synaptic_homeostasis": None,
    "reconsolidation": None,
}
CATEGORIES = {"single-hop": 841, "multi-hop": 282, "temporal": 321, "open-domain <b>": 96}


def sample(effects: dict[str, float | None] = EFFECTS, n_conversations: int = 10, n_questions: int = 400) -> AblationResult:
    """A whole ablation, computed from invented ranks: every number in the report follows from them."""
    rng = np.random.default_rng(7)
    ids = np.sort(rng.integers(n_conversations, size=n_questions))
    kinds = rng.choice(list(CATEGORIES), size=n_questions)
    full = [[int(rank) for rank in rng.choice(14, size=rng.integers(1, 4), replace=False)] for _ in range(n_questions)]

    def table(ranks: list[list[int]]) -> np.ndarray:
        return np.array([list(question_metrics(row).named().values()) for row in ranks])

    base, arms = table(full), []
    for name, effect in effects.items():
        ranks = [list(row) for row in full]
        if effect is not None:
            moved = rng.random(n_questions) < abs(effect) * 2 + 0.02
            for i in np.flatnonzero(moved):
                worse = rng.random() < (0.5 + np.sign(effect) * min(0.48, abs(effect) * 20))
                ranks[i] = [rank + 40 if rank else 0 for rank in ranks[i]] if worse else list(range(1, len(ranks[i]) + 1))
        d = base - table(ranks)
        changed = [a != b for a, b in zip(full, ranks, strict=True)]
        n_ranks = sum(x != y for a, b in zip(full, ranks, strict=True) for x, y in zip(a, b, strict=True))
        arms.append(ArmResult(
            id=name, no_op=n_ranks == 0, metrics=dict(zip(METRICS, table(ranks).mean(axis=0).tolist(), strict=True)),
            differences={metric: difference(base[:, j], base[:, j] - d[:, j], ids, seed=1, n_resamples=400, n_flips=2048) if n_ranks
                         else Difference(0.0, 0.0, 0.0, 1.0) for j, metric in enumerate(METRICS)},
            n_questions_changed=sum(changed), n_ranks_changed=n_ranks, n_helped=int((d[:, 2] > 1e-12).sum()), n_hurt=int((d[:, 2] < -1e-12).sum()),
            receipt=ArmReceipt(int(rng.integers(5000)), int(rng.integers(90000)), int(rng.integers(900))) if not name.startswith("swap") else None,
            seconds=float(rng.uniform(2, 9)), by_category={kind: float(d[kinds == kind, 2].mean()) for kind in list(CATEGORIES)[:3]}))
    baseline = summary([question_metrics(row) for row in full])
    return AblationResult("LoCoMo", sha256(b"data").hexdigest(), "cortex", 7, "leave one out", n_conversations, n_questions, baseline,
                          with_holm(arms), CATEGORIES, 12.25, n_resamples=400, n_flips=2048, version="0.1.0")


@pytest.fixture(scope="module")
def result() -> AblationResult:
    return sample()


@pytest.fixture(scope="module")
def page(result: AblationResult, tmp_path_factory: pytest.TempPathFactory) -> str:
    return to_html(result, tmp_path_factory.mktemp("report") / "deep" / "ablation.html").read_text(encoding="utf-8")


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


# ---- the numbers

def test_difference_is_the_paired_mean_and_holm_is_taken_over_all_arms_per_metric(result: AblationResult) -> None:
    for name in METRICS:
        raw = [arm.differences[name].p for arm in result.arms]
        assert [arm.differences[name].p_holm for arm in result.arms] == pytest.approx(multipletests(raw, method="holm")[1].tolist())
    for arm in result.arms:
        for name in METRICS:
            assert arm.differences[name].mean == pytest.approx(result.baseline[name] - arm.metrics[name], abs=1e-12)


def test_verdicts_follow_from_the_numbers(result: AblationResult) -> None:
    verdict = {arm.id: arm.verdict for arm in result.arms}
    assert verdict["dense_retrieval"] == "helps" and verdict["surprise_gate"] == "hurts"
    assert [name for name, word in verdict.items() if word == "no-op"] == [name for name, effect in EFFECTS.items() if effect is None]
    uncorrected = ArmResult(**{**{name: getattr(result.arms[0], name) for name in ArmResult.__slots__},
                         "differences": {name: replace(d, p_holm=None) for name, d in result.arms[0].differences.items()}})
    assert uncorrected.verdict == "unclear"


def test_arms_are_ordered_by_the_primary_difference_with_no_ops_last(result: AblationResult) -> None:
    live = [arm.differences[PRIMARY].mean for arm in result.ordered() if not arm.no_op]
    assert live == sorted(live, reverse=True) and len(live) == 10
    assert [arm.id for arm in result.ordered()[10:]] == ["emotional_tagging", "reconsolidation", "synaptic_homeostasis"]


def test_the_smallest_p_of_the_design(result: AblationResult) -> None:
    assert result.smallest_p == 2 / 2**10


@pytest.mark.parametrize("change", [
    {"no_op": True}, {"n_ranks_changed": 0}, {"n_questions_changed": 0}, {"n_helped": 401}, {"differences": {}}, {"metrics": {"recall@10": 1.0}},
])
def test_an_arm_that_contradicts_itself_is_refused(result: AblationResult, change: dict[str, object]) -> None:
    with pytest.raises(InputError):
        replace(result.arms[0], **change)


def test_a_no_op_cannot_have_a_difference(result: AblationResult) -> None:
    no_op = next(arm for arm in result.arms if arm.no_op)
    with pytest.raises(InputError):
        replace(no_op, differences=result.arms[0].differences)


@pytest.mark.parametrize("change", [
    lambda r: {"arms": (*r.arms, r.arms[0])}, lambda r: {"n_conversations": 0}, lambda r: {"n_questions": 3}, lambda r: {"categories": {}},
])
def test_a_result_that_contradicts_itself_is_refused(result: AblationResult, change) -> None:
    with pytest.raises(InputError):
        replace(result, **change(result))


# ---- JSON and text

def test_json_comes_back_as_it_was(result: AblationResult) -> None:
    text = json.dumps(to_json(result), allow_nan=False)
    assert from_json(json.loads(text)) == result
    assert json.loads(text)["smallest_p"] == 2 / 2**10


@pytest.mark.parametrize("data", [{}, {"format": 1}, {"format": 2}, {"format": 1, "arms": [{"id": "x"}]}, {"format": 1, "arms": 3}])
def test_other_json_is_refused(data: dict[str, object]) -> None:
    with pytest.raises(DataError):
        from_json(data)


def test_numbers_as_text() -> None:
    assert [signed(v) for v in (0.5, -0.5, 0.0, -0.0, -0.00004, None, float("nan"))] == ["+0.5000", "−0.5000", "0.0000", "0.0000", "0.0000", "–", "–"]
    assert [p_text(v) for v in (0.0254, 1.0, 0.00001, None)] == ["0.0254", "1", "<0.0001", "–"]


def test_plain_lines_hold_every_arm_once_and_no_control_character(result: AblationResult) -> None:
    lines = to_lines(result)
    rows = [line.split("\t") for line in lines[2:-1]]
    assert [len(row) for row in rows] == [len(lines[1].split("\t"))] * 13
    assert rows[0][0] == "dense_retrieval" and [row[-1] for row in rows[-3:]] == [NO_OP] * 3
    assert all(char.isprintable() or char == "\t" for line in lines for char in line)
    assert "0.00195" in lines[-1] and "0.0254" in lines[-1]


def test_pipes_get_lines_and_terminals_a_table(result: AblationResult) -> None:
    plain, terminal = io.StringIO(), io.StringIO()
    show(result, Console(file=plain, width=60))
    show(result, Console(file=terminal, width=200, force_terminal=True))
    assert plain.getvalue().splitlines() == to_lines(result)
    assert "━" in terminal.getvalue() or "─" in terminal.getvalue()
    assert "\x1b[31m" not in terminal.getvalue().replace("\x1b[31mhurts", "")  # the id's own escape sequence does not get through
    assert to_table(result).row_count == 13


def test_rich_markup_in_an_id_is_shown_as_text(result: AblationResult) -> None:
    arms = (replace(result.arms[0], id="[bold red]x[/nope]"),)
    out = io.StringIO()
    Console(file=out, width=200, force_terminal=True, color_system=None).print(to_table(replace(result, arms=arms)))
    assert "[bold red]x[/nope]" in out.getvalue()


def test_markdown_keeps_its_columns_whatever_the_ids(result: AblationResult) -> None:
    table = [line for line in to_markdown(result).splitlines() if line.startswith("|")]
    assert len(table) == 15 and {len(re.findall(r"(?<!\\)\|", line)) for line in table} == {10}
    assert "<script" not in to_markdown(result)


# ---- the page

def test_the_page_is_one_sound_document_that_loads_nothing(page: str) -> None:
    dom = Dom(page)
    names = {name for _, attributes in dom.tags for name in attributes}
    assert not names & {"src", "href", "srcset", "action", "data", "poster", "background"}
    assert {tag for tag, _ in dom.tags}.isdisjoint({"link", "img", "iframe", "object", "embed", "base"})
    assert "url(" not in page and "@import" not in page and not re.search(r"https?:", page)
    policy = next(attributes["content"] for tag, attributes in dom.tags if attributes.get("http-equiv") == "Content-Security-Policy")
    script = next(text for tag, text in dom.texts if tag == "script")
    assert policy is not None and "default-src 'none'" in policy
    assert f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" in policy


def test_everything_from_data_is_text(result: AblationResult, tmp_path: Path) -> None:
    nasty = replace(result, dataset=HOSTILE, set_name=HOSTILE, design=HOSTILE, dataset_sha256=HOSTILE, version=HOSTILE)
    text = to_html(nasty, tmp_path / "x.html").read_text(encoding="utf-8")
    dom = Dom(text)
    assert [tag for tag, _ in dom.tags].count("script") == 1 and not any(tag == "b" and "open" in attributes for tag, attributes in dom.tags)
    assert "<script>alert" not in text and "\x1b" not in text and "\u202e" not in text
    assert sum("<script>alert('x')</script>&\"|`*" in data for _, data in dom.texts) >= 8
    assert not any(name.startswith("on") for _, attributes in dom.tags for name in attributes)


def test_ids_are_unique_and_every_figure_has_a_title_and_a_description(page: str) -> None:
    dom = Dom(page)
    ids = [attributes["id"] for _, attributes in dom.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    references = [name for _, attributes in dom.tags for name in (attributes.get("aria-labelledby") or "").split()]
    assert set(references) <= set(ids)
    figures = [ET.fromstring(svg) for svg in re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL)]  # well-formed XML, too
    assert len(figures) == 4
    for svg in figures:
        assert svg.get("role") == "img" and svg[0].tag == "title" and svg[0].text and svg[1].tag == "desc" and svg[1].text


def test_the_forest_puts_every_mark_where_its_number_is(result: AblationResult, page: str) -> None:
    """Read the scale off the tick labels, then the marks off the figure, and compare with the data; beyond the scale there is an arrow."""
    for svg in (ET.fromstring(text) for text in re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL)[:2]):
        ticks = [(float(node.get("x", "")), float((node.text or "").replace("−", "-"))) for node in svg.iter("text")
                 if node.get("class") == "small middle" and re.fullmatch(r"[+−]?[\d.]+", node.text or "")]
        slope, offset = np.polyfit([x for x, _ in ticks], [value for _, value in ticks], 1)
        zero = next(float(node.get("d", "").split()[0][1:]) for node in svg.iter("path") if node.get("class") == "zero")
        assert slope * zero + offset == pytest.approx(0.0, abs=1e-4)
        groups = list(svg.iter("g"))
        beyond = False
        width = float(svg.get("viewBox", "").split()[2])
        for arm, group in zip(result.ordered(), groups, strict=True):
            text = " ".join("".join(node.itertext()) for node in group.iter("text"))
            assert group.get("class") == arm.verdict
            circle = group.find("circle")
            if arm.no_op:
                assert circle is None and NO_OP in text
                continue
            d = arm.differences[PRIMARY]
            assert signed(d.mean) in text and p_text(d.p_holm) in text
            top = max(value for _, value in ticks)
            arrows = [path for path in group.iter("path") if path.get("class") == "dot cut"]
            assert (len(arrows) == 1) == (d.high > top) and (circle is None) == (d.mean > top)
            beyond |= d.high > top
            if d.high <= top:
                bar = next(path for path in group.iter("path") if path.get("class") == "bar")
                low, high = map(float, re.match(r"M([\d.]+) [\d.]+H([\d.]+)M", bar.get("d", "")).groups())  # type: ignore[union-attr]
                got = [slope * float(x) + offset for x in (circle.get("cx"), low, high)]
                assert got == pytest.approx([d.mean, d.low, d.high], abs=abs(slope) * 0.2)
                assert 0 <= low <= high <= width
        assert beyond


def test_the_tally_bars_are_as_long_as_the_counts_and_end_in_an_arrow_where_they_do_not_fit(result: AblationResult, page: str) -> None:
    for svg in (ET.fromstring(text) for text in re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL)[2:]):
        live = [(arm, group) for arm, group in zip(result.ordered(), svg.iter("g"), strict=True) if not arm.no_op]
        drawn = []
        for arm, group in live:
            for kind, count in (("gain", arm.n_helped), ("loss", arm.n_hurt)):
                length = next(float(rect.get("width", "")) for rect in group.iter("rect") if rect.get("class") == kind)
                drawn.append((count, length, any(path.get("class") == kind for path in group.iter("path"))))
            assert {str(arm.n_helped), str(arm.n_hurt)} <= {text.text for text in group.iter("text")}
        unit = max(length / count for count, length, _ in drawn if count)
        assert all(length == pytest.approx(count * unit, abs=0.5) for count, length, cut in drawn if not cut)
        assert all(length < count * unit for count, length, cut in drawn if cut) and any(cut for *_, cut in drawn)
        assert all(length >= other for _, length, cut in drawn if cut for _, other, short in drawn if not short)


def test_the_category_table_colours_by_sign_and_leaves_no_ops_bare(result: AblationResult, page: str) -> None:
    table = re.search(r'<table class="numbers heat">.*?</table>', page, flags=re.DOTALL)
    assert table is not None
    rows = re.findall(r"<tr class=.*?</tr>", table[0], flags=re.DOTALL)
    # One arm dwarfs the others: its cells have the full colour, and the scale ends with the largest value of the rest.
    reach = sorted(max(map(abs, arm.by_category.values())) for arm in result.arms if not arm.no_op)
    biggest = max(value for value in reach if value <= 6 * reach[len(reach) // 2])
    assert biggest < reach[-1]
    for arm, row in zip(result.ordered(), rows, strict=True):
        cells = re.findall(r'<td(?: class="(up|down)" style="--v:([\d.]+)")?>([^<]*)</td>', row)
        assert len(cells) == 4 and cells[3] == ("", "", "–")
        for (way, strength, text), name in zip(cells, list(CATEGORIES)[:3], strict=False):
            value = arm.by_category[name]
            assert text == signed(value, 3) and way == ("up" if value > 0 else "down" if value < 0 else "")
            assert not strength or float(strength) == pytest.approx(min(1.0, abs(value) / biggest), abs=6e-4)


def test_sortable_headings_are_buttons_with_a_sort_state_and_every_number_can_be_sorted(page: str) -> None:
    tables = re.findall(r'<table class="numbers" data-sortable>.*?</table>', page, flags=re.DOTALL)
    assert len(tables) == 2
    for table in tables:
        heads = re.findall(r'<th scope="col" aria-sort="none"><button type="button">', table)
        rows = re.findall(r"<tr class=.*?</tr>", table, flags=re.DOTALL)
        assert len(rows) == 13 and all(row.count("<td") + 1 == len(heads) for row in rows)
        assert all(value == "nan" or float(value) == float(value) for value in re.findall(r'data-sort="([^"]*)"', table))


def test_the_page_says_what_the_design_can_show(page: str, result: AblationResult, tmp_path: Path) -> None:
    words = " ".join(page.split())
    assert "With 10 conversations it is 0.00195; after Holm’s correction over 13 arms, no adjusted value can be below 0.0254." in words
    assert "more conversations are needed" not in words
    few = sample({"dense_retrieval": 0.3, "surprise_gate": None}, n_conversations=4)
    assert "more conversations are needed" in to_html(few, tmp_path / "few.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("effects", [{}, {"a": None}, {"a": 0.2}, {"a": -0.2}])
@pytest.mark.parametrize("n_conversations", [1, 3])
def test_small_results_have_reports_too(effects: dict[str, float | None], n_conversations: int, tmp_path: Path) -> None:
    small = sample(effects, n_conversations, 40)
    text = to_html(small, tmp_path / "x.html").read_text(encoding="utf-8")
    Dom(text)
    assert "nan" not in re.sub(r"data-sort=\"nan\"|\bnan\b.*?isNaN", "", text.split("<header")[1].split("<script")[0])
    assert len(to_lines(small)) == 3 + len(effects) and "-inf" not in text


def test_long_names_in_any_script_are_cut_to_the_room_there_is(result: AblationResult, tmp_path: Path) -> None:
    arms = (replace(result.arms[0], id="記憶" * 60), replace(result.arms[1], id="x" * 400), replace(result.arms[2], id=""))
    text = to_html(replace(result, arms=arms), tmp_path / "x.html").read_text(encoding="utf-8")
    spans = re.findall(r"<tspan x=[^>]*>([^<]*)</tspan>", text)
    assert spans and all(len(span) <= 46 and sum(2 if char in "記憶" else 1 for char in span) <= 46 for span in spans)
    assert "x" * 400 in text


def test_a_path_that_cannot_be_written_is_told(result: AblationResult, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("kept", encoding="utf-8")
    with pytest.raises(HebbariumError, match="cannot be written"):
        to_html(result, tmp_path / "file" / "x.html")
    with pytest.raises(HebbariumError, match="cannot be written"):
        to_html(result, tmp_path)


def test_the_module_needs_neither_rich_nor_jinja_until_it_is_asked_to_draw() -> None:
    code = "import sys, hebbarium.benchmarks.ablation_report; print({'rich', 'jinja2', 'torch', 'matplotlib'} & set(sys.modules))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONPATH": ":".join(sys.path)})
    assert out.stdout.strip() == "set()"
