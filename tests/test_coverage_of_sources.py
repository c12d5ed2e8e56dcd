"""The coverage of the source systems: what a row names exists, and the page is that of the table."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from scripts import script

from hebbarium.engine.catalogue.registry import Registry

coverage = script("coverage_of_sources")
ROOT = Path(__file__).resolve().parents[1]
ROWS = coverage.coverage()
SYSTEMS = {"C": 135, "X": 57, "T": 70, "A": 100}  # rows of each


@cache
def symbols(file: str) -> frozenset[str]:
    """Names that a Python file defines, also those of classes and functions, and of its tests."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    names = set[str]()

    def enter(body: list[ast.stmt], before: str) -> None:
        for node in body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                names.add(before + node.name)
                if isinstance(node, ast.ClassDef):
                    enter(node.body, f"{before}{node.name}.")
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names.update(before + t.id for t in targets if isinstance(t, ast.Name))

    enter(tree.body, "")
    return frozenset(names)


@cache
def checks(mechanism: str) -> frozenset[str]:
    """Ids of the checks in the evidence of a mechanism."""
    tree = ast.parse((ROOT / f"audit/evidence/{mechanism}.py").read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args]
    return frozenset(
        str(call.args[0].value) for call in calls if isinstance(call.args[0], ast.Constant)
    )


def missing(named: str, *, test: bool = False) -> str:
    """What a reference names that does not exist; "" if all of it does."""
    if named.startswith("audit "):
        _, mechanism, *check = named.split()
        if not (ROOT / f"audit/evidence/{mechanism}.py").exists():
            return mechanism
        return next((id for id in check if id not in checks(mechanism)), "")
    file, _, symbol = named.partition(":")
    if not (ROOT / file).exists():
        return file
    if not symbol:
        return ""
    name = f"test_{symbol}" if test else symbol
    return "" if name in symbols(file) else f"{file}: {name}"


def test_every_row_is_there_once() -> None:
    ids = [row.row for row in ROWS]
    assert ids == [f"{letter}{n}" for letter, most in SYSTEMS.items() for n in range(1, most + 1)]
    assert sum(row.matters == "core" for row in ROWS) == 199


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.row)
def test_what_a_row_names_exists(row: Any) -> None:
    assert row.state in coverage.STATES and row.part in coverage.PARTS
    code, shown, why = row.code, row.shown, row.why
    if code:
        assert missing(code) == ""
    if shown:
        assert missing(shown, test=shown.startswith("tests/")) == ""
    landed = row.state == "landed"
    assert bool(code) or not landed, "what is landed is somewhere"
    assert bool(why) or landed, "what is missing has its reason"
    if row.matters == "core" and landed:
        assert code and shown and not why


def test_a_reference_to_nothing_is_seen() -> None:
    assert missing("engine/nowhere.py") == "engine/nowhere.py"
    assert missing("engine/memory/engine.py:Engine.fly") == "engine/memory/engine.py: Engine.fly"
    assert missing("audit heat HT-99") == "HT-99" and missing("audit nothing") == "nothing"
    assert missing("tests/test_sets.py:no_such_thing", test=True) != ""
    assert missing("engine/memory/engine.py:Engine.context") == ""


def test_the_page_is_that_of_the_table() -> None:
    assert coverage.TARGET.read_text(encoding="utf-8") == coverage.page(ROWS)


@pytest.mark.parametrize(
    ("part", "name"),
    [
        ("Cortex", "cortex"),
        ("Cortex", "cortex_as_printed"),
        ("True Memory", "true_memory"),
        ("True Memory", "true_memory_code"),
        ("True Memory", "true_memory_gated"),
        ("All-Mem", "all_mem"),
    ],
)
def test_the_summary_of_a_set_names_the_open_rows_of_its_source(part: str, name: str) -> None:
    said = re.findall(r"\b[CTA]\d+\b", Registry.read().set(name).summary.partition("; open: ")[2])
    assert said == [row.row for row in ROWS if row.part == part and row.state != "landed"]
