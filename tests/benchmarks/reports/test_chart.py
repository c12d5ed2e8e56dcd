"""Line charts: every curve is drawn, each in a style of its own, or the chart is refused."""

from __future__ import annotations

import pytest

from hebbarium.benchmarks.reports.chart import STYLES, line_chart
from hebbarium.engine.base.errors import ContractError


def test_every_curve_is_drawn_in_a_style_of_its_own_or_refused() -> None:
    curve = [(0.0, 0.5, "a dot"), (1.0, 1.0, "another")]
    names = [f"curve {number}" for number in range(len(STYLES) + 1)]
    chart = line_chart("Shares", "gate", dict.fromkeys(names[:-1], curve))
    assert all(chart.count(f">{name}<") == 1 for name in names[:-1])
    assert chart.count("another") == len(STYLES)
    with pytest.raises(ContractError, match="4 curves are drawn in 3 styles"):
        line_chart("Shares", "gate", dict.fromkeys(names, curve))
