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
from sample_ablation import HOSTILE, sample

from hebbarium.benchmarks.reports.result import AblationResult
from hebbarium.benchmarks.reports.tables import (
    SPARE,
    heads,
    latex_text,
    said,
    show,
    to_latex,
    to_lines,
    to_markdown,
    to_table,
)
from hebbarium.benchmarks.reports.words import NO_OP, STATE_ONLY, p_text


@pytest.fixture(scope="module")
def result() -> AblationResult:
    return sample()


def test_plain_lines_hold_every_arm_once_and_no_control_character(result: AblationResult) -> None:
    lines = to_lines(result)
    rows = [line.split("\t") for line in lines if "\t" in line]
    assert {len(row) for row in rows} == {len(heads(result))} and len(rows) == 1 + len(result.arms)
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


def test_every_table_has_both_tests(result: AblationResult) -> None:
    """The t-test of record and the sign flip, raw and corrected."""
    arm = result.ordered()[1]
    d = arm.primary
    both = {p_text(d.p_holm), p_text(d.flip_p_holm)}
    for table in (
        to_lines(result),
        to_markdown(result).splitlines(),
        to_latex(result).splitlines(),
    ):
        row = next(line for line in table if re.match(r"[|\s]*lexical[\\_]+bm25", line)).replace(
            "$<$", "<"
        )
        assert both <= set(re.split(r"\s*[|&\t]\s*", row)), row
    assert {"p", "Holm p", "BH p", "flip p", "flip Holm", "more"} <= set(heads(result)) and not {
        "Holm p",
        "flip Holm",
        "verdict",
    } & set(SPARE)


def test_pipes_get_lines_and_terminals_a_table(result: AblationResult) -> None:
    plain, terminal = io.StringIO(), io.StringIO()
    show(result, Console(file=plain, width=60))
    show(result, Console(file=terminal, width=220, force_terminal=True))
    assert plain.getvalue().splitlines() == to_lines(result)
    assert "━" in terminal.getvalue() or "─" in terminal.getvalue()
    # the id's own escape sequence does not get through
    assert "\x1b[31m" not in terminal.getvalue()
    assert to_table(result).row_count == 13


def test_rich_markup_in_an_id_is_shown_as_text(result: AblationResult) -> None:
    arms = (replace(result.arms[0], id="[bold red]x[/nope]"),)
    out = io.StringIO()
    Console(file=out, width=220, force_terminal=True, color_system=None).print(
        to_table(replace(result, arms=arms))
    )
    assert "[bold red]x[/nope]" in out.getvalue()


def test_markdown_keeps_its_columns_whatever_the_ids(result: AblationResult) -> None:
    text = to_markdown(result)
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


def test_a_fence_in_a_reference_does_not_end_the_block(result: AblationResult) -> None:
    odd = {
        **result.provenance,
        "made": {**result.provenance["made"], "bibtex": "@misc{a,\n```\n}\n"},
    }
    assert "````bibtex\n@misc" in to_markdown(replace(result, provenance=odd))


def test_latex_is_balanced_and_has_no_raw_special_character(result: AblationResult) -> None:
    text = to_latex(result)
    assert text.count(r"\begin{") == text.count(r"\end{") == 4
    for table in re.findall(r"\\begin\{tabular\}\{(\w+)\}(.*?)\\end\{tabular\}", text, re.DOTALL):
        rows = [line for line in table[1].splitlines() if line.endswith(r"\\")]
        assert len(rows) == 14 and {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {
            len(table[0]) - 1
        }
        assert not re.search(r"(?<!\\)[%#]|\\\\\s*\[", table[1])
    plain = re.sub(r"\\[\\{}]", "", text)
    assert plain.count("{") == plain.count("}")
    assert "<script" not in text and latex_text("50% of a_b & [c]") == r"50\% of a\_b \& {[}c{]}"


def test_the_conclusion_stands_in_every_text(result: AblationResult) -> None:
    start = said(result).partition(" (")[0]
    for text in ("\n".join(to_lines(result)), to_markdown(result), to_latex(result)):
        assert start in text
    assert HOSTILE not in said(result)


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="needs pdflatex")
def test_latex_compiles_whatever_the_ids(result: AblationResult, tmp_path: Path) -> None:
    arms = tuple(replace(arm, id=f"[{i}] ~x^2` {HOSTILE}") for i, arm in enumerate(result.arms))
    (tmp_path / "tables.tex").write_text(to_latex(replace(result, arms=arms)), encoding="utf-8")
    (tmp_path / "page.tex").write_text(
        "\\documentclass{article}\\begin{document}\\input{tables}\\end{document}\n",
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
