"""Tables for terminals, pipes, Markdown and LaTeX."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from sample_ablation import HOSTILE, sample, whole

from hebbarium.benchmarks.reports.result import BlockResult
from hebbarium.benchmarks.reports.tables import (
    SPARE,
    heads,
    said,
    show,
    to_latex,
    to_lines,
    to_markdown,
    to_table,
)
from hebbarium.benchmarks.reports.words import NO_OP, STATE_ONLY, p_text


@pytest.fixture(scope="module")
def result() -> BlockResult:
    return sample()


def test_plain_lines_hold_every_arm_once_and_no_control_character(result: BlockResult) -> None:
    lines = to_lines(result)
    rows = [line.split("\t") for line in lines if "\t" in line]
    assert {len(row) for row in rows} == {len(heads(result))} and len(rows) == 1 + len(
        result.estimates
    )
    assert rows[1][0] == "dense_retrieval" and [row[-1] for row in rows[-3:]] == [
        STATE_ONLY,
        STATE_ONLY,
        NO_OP,
    ]
    assert all(char.isprintable() or char == "\t" for line in lines for char in line)
    assert (
        all(line.isascii() for line in lines)
        and "0.00195" in "".join(lines)
        and "0.0254" in "".join(lines)
    )


def test_every_table_has_both_tests(result: BlockResult) -> None:
    """The t-test of record and the sign flip, raw and corrected."""
    arm = result.ordered()[1]
    d = arm.primary
    both = {p_text(d.p_holm), p_text(d.flip_p_holm)}
    for table in (
        to_lines(result),
        to_markdown(whole(result)).splitlines(),
        to_latex(whole(result)).splitlines(),
    ):
        row = next(
            line for line in table if re.match(r"[|\s]*lexical[\\_]+(allowbreak\{\})?bm25", line)
        ).replace(r"\textless{}", "<")
        assert both <= set(re.split(r"\s*[|&\t]\s*", row)), row
    assert {"p", "Holm p", "BH p", "flip p", "flip Holm", "more"} <= set(heads(result)) and not {
        "Holm p",
        "verdict",
    } & set(SPARE)


def test_pipes_get_lines_and_terminals_a_table(
    result: BlockResult, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal = io.StringIO()
    show(result, Console(width=60))
    show(result, Console(file=terminal, width=220, force_terminal=True))
    assert capsys.readouterr().out.splitlines() == to_lines(result)
    assert "━" in terminal.getvalue() or "─" in terminal.getvalue()
    # the id's own escape sequence does not get through
    assert "\x1b[31m" not in terminal.getvalue()
    assert to_table(result).row_count == 13


def test_rich_markup_in_an_id_is_shown_as_text(result: BlockResult) -> None:
    arms = (replace(result.estimates[0], name="[bold red]x[/nope]"),)
    out = io.StringIO()
    Console(file=out, width=220, force_terminal=True, color_system=None).print(
        to_table(replace(result, estimates=arms))
    )
    assert "[bold red]x[/nope]" in out.getvalue()


def test_markdown_keeps_its_columns_whatever_the_ids(result: BlockResult) -> None:
    text = to_markdown(whole(result))
    table = [line for line in text.split("**Admission**")[0].splitlines() if line.startswith("|")]
    assert len(table) == 15 and {len(re.findall(r"(?<!\\)\|", line)) for line in table} == {
        len(heads(result)) + 1
    }
    assert "<script" not in text and "| surprise\\_gate | 5,000 | 4,100 | 900 | 850 | 7 |" in text
    for part in (
        "**Provenance**",
        "all-MiniLM-L6-v2",
        "one event is a session",
        "recency.weight=0.2",
        "```bibtex\n@article{a2000b,",
        "printed before the run",
    ):
        assert part in text


def test_a_fence_in_a_reference_does_not_end_the_block(result: BlockResult) -> None:
    odd = {
        **result.provenance,
        "made": {**result.provenance["made"], "bibtex": "@misc{a,\n```\n}\n"},
    }
    assert "````bibtex\n@misc" in to_markdown(replace(whole(result), made=odd["made"]))


def test_latex_is_balanced_and_has_no_raw_special_character(result: BlockResult) -> None:
    text = to_latex(whole(result))
    tables = re.findall(r"\\begin\{longtable\}(.*?)\\end\{longtable\}", text, re.DOTALL)
    assert len(tables) == text.count(r"\begin{") == text.count(r"\end{") == 2
    for table in tables:
        _, head, _, *rows = [
            line
            for line in table.splitlines()
            if (line.endswith(r"\\") and "&" in line) or "caption" in line
        ]
        counts = {len(re.findall(r"(?<!\\)&", row)) for row in (head, *rows)}
        assert len(rows) == 13 and len(counts) == 1
        assert not re.search(r"(?<!\\)[%#]|\\\\\s*\[", table)
    plain = re.sub(r"\\[\\{}]", "", text)
    assert plain.count("{") == plain.count("}")
    assert "<script" not in text


def test_the_conclusion_stands_in_every_text(result: BlockResult) -> None:
    start = said(result).partition(" (")[0]
    for text in ("\n".join(to_lines(result)), to_markdown(whole(result)), to_latex(whole(result))):
        assert start in text
    assert HOSTILE not in said(result)


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="needs pdflatex")
def test_latex_compiles_whatever_the_ids(result: BlockResult, tmp_path: Path) -> None:
    arms = tuple(
        replace(arm, name=f"[{i}] ~x^2` {HOSTILE}") for i, arm in enumerate(result.estimates)
    )
    (tmp_path / "tables.tex").write_text(
        to_latex(whole(replace(result, estimates=arms))), encoding="utf-8"
    )
    (tmp_path / "page.tex").write_text(
        "\\documentclass{article}\\usepackage{array,booktabs,longtable}\\begin{document}\\input{tables}\\end{document}\n",
        encoding="utf-8",
    )
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=120,
    )
    assert done.returncode == 0 and "Output written" in done.stdout, done.stdout[-1500:]
