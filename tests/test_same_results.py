"""docs/tools/same_results.py: what differs is printed with its place, and what passes is left out."""

from __future__ import annotations

import pytest
from scripts import script

TOOL = script("same_results")


def test_what_tells_version_time_and_machine_is_left_out() -> None:
    row = {
        "rank": 2,
        "code": "0.1.0",
        "ms": 3.5,
        "ask_ms": 1.0,
        "inner": [{"seconds": 1.0, "k": 5}],
    }
    assert TOOL.lasting(row) == {"rank": 2, "inner": [{"k": 5}]}


def test_each_value_that_differs_is_named_with_its_place(
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = {"run": {"rows": [{"old": 1, "k": 5}, {"old": 2, "k": 5}]}, "gone": {"a": 0}}
    after = {"run": {"rows": [{"new": 1, "k": 5}, {"new": 3, "k": 5}]}}
    assert TOOL.compared(before, after, {"old": "new"}) == [
        "  run/rows/1/new: 2 -> 3",
        "  gone/a: 0 -> None",
    ]
    assert TOOL.compared(before, before, {}) == []
    assert "run: 4 values, 1 differ" in capsys.readouterr().out
