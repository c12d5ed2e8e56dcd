"""Signals of the gate: areas and correlations agree with scipy, and every utterance has them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scripts import script

tool = script("gate_signals")


def test_areas_and_correlations_are_those_of_scipy() -> None:
    rng = np.random.default_rng(3)
    values, worth = rng.integers(0, 5, (60, 4)).astype(float), rng.random(60) < 0.6
    result = tool.areas_and_correlations(values, worth)
    for n, name in enumerate((*tool.SIGNALS, "baseline")):
        u = stats.mannwhitneyu(values[worth, n], values[~worth, n]).statistic
        assert result[name] == pytest.approx(u / (worth.sum() * (~worth).sum()))
    for a, b in ((0, 1), (0, 2), (1, 2)):
        r = stats.pearsonr(values[:, a], values[:, b]).statistic
        assert result[f"{tool.SIGNALS[a]} and {tool.SIGNALS[b]}"] == pytest.approx(r)


def test_every_utterance_of_a_part_has_its_signals() -> None:
    values, worth = tool.signals("hashing:64", 0)
    assert values.shape == (120, 4) and worth.sum() == 72
    assert np.isfinite(values).all() and (values[:, :3] >= 0).all() and (values[:, :3] <= 1).all()
    assert (np.ptp(values, axis=0) > 0).all()


def test_the_page_has_every_number() -> None:
    part = dict.fromkeys((*tool.SIGNALS, "baseline", "novelty and salience"), 0.5)
    text = tool.page([part, {**part, "novelty": 0.7}])
    assert "| novelty | 0.600 (0.500 to 0.700) |" in text and "| correlation |" in text
