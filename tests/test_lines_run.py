"""The page about lines that tests run: counts of a report by room, kept by tier and commit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from scripts import script


def summary(lines: int, run: int, branches: int, taken: int) -> dict[str, int]:
    return {
        "num_statements": lines,
        "covered_lines": run,
        "num_branches": branches,
        "covered_branches": taken,
    }


def function(lines: int, run: int) -> dict[str, Any]:
    return {"summary": summary(lines, run, 0, 0)}


def report(run: int) -> dict[str, Any]:
    """Two files of the engine and one of each other room; `run` lines of the first are run."""
    files = {
        "engine/base/a.py": {
            "summary": summary(10, run, 4, 1),
            "functions": {
                "entered": function(3, 1),
                "left_out": function(3, 0),
                "_private": function(2, 0),
                "Shown._inside": function(2, 0),
                "": function(2, 0),
            },
        },
        "engine/b.py": {"summary": summary(30, 10, 6, 3), "functions": {}},
    }
    for room in ("mechanisms", "audit", "benchmarks"):
        files[f"{room}/c.py"] = {"summary": summary(5, 5, 2, 2), "functions": {}}
    return {"files": files}


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    module = script("lines_run")
    monkeypatch.setattr(module, "TABLE", tmp_path / "lines_run.tsv")
    monkeypatch.setattr(module, "PAGE", tmp_path / "lines-run.md")
    return module


def kept(tool: Any, tmp_path: Path, tier: str, commit: str, run: int) -> str:
    file = tmp_path / "coverage.json"
    file.write_text(json.dumps(report(run)), encoding="utf-8")
    tool.main(tier, commit, str(file))
    return str(tool.PAGE.read_text(encoding="utf-8"))


def test_lines_and_branches_are_summed_by_room(tool: Any, tmp_path: Path) -> None:
    page = kept(tool, tmp_path, "quick", "0123abcd", 10)
    assert "| 0123abcd | quick | engine | 2 | 40 | 50.0% | 10 | 40.0% |" in page
    assert "| 0123abcd | quick | audit | 1 | 5 | 100.0% | 2 | 100.0% |" in page
    assert "| 0123abcd | quick | all | 5 | 55 | 63.6% | 16 | 62.5% |" in page


def test_a_later_count_of_the_same_tier_and_commit_replaces_the_first(
    tool: Any, tmp_path: Path
) -> None:
    kept(tool, tmp_path, "quick", "0123abcd", 10)
    kept(tool, tmp_path, "all", "0123abcd", 6)
    page = kept(tool, tmp_path, "quick", "0123abcd", 2)
    assert page.count("| engine |") == 2
    assert "| quick | engine | 2 | 40 | 30.0% |" in page
    assert "| all | engine | 2 | 40 | 40.0% |" in page


def test_public_functions_that_no_test_enters_are_printed(
    tool: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept(tool, tmp_path, "quick", "0123abcd", 10)
    assert capsys.readouterr().out == "engine/base/a.py: left_out\n"


def test_another_tier_is_refused_and_nothing_is_written(tool: Any, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="name one of quick, all"):
        kept(tool, tmp_path, "slow", "0123abcd", 10)
    assert not tool.TABLE.exists()
