"""What a design can detect is what simulations of it show."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from hebbarium.benchmarks.scores.cluster_robust import Spread, spread
from hebbarium.benchmarks.scores.comparison import corrected, difference
from hebbarium.benchmarks.scores.detectable import Source, demo_figures, demo_source, detectable
from hebbarium.engine.base.errors import DataError, InputError

COUNTS = [40, 25, 60, 33, 42, 50, 28, 45]


def drawn(rng: np.random.Generator, between: float, within: float) -> np.ndarray:
    ids = np.repeat(np.arange(len(COUNTS)), COUNTS)
    return between * rng.normal(size=len(COUNTS))[ids] + within * rng.normal(size=len(ids))


def test_the_expected_width_and_effect_are_those_of_simulated_runs() -> None:
    """Spreads are estimated from one half of the simulated runs; the other half shows what is
    expected.
    """
    rng, ids, between, within = (
        np.random.default_rng(4),
        np.repeat(np.arange(len(COUNTS)), COUNTS),
        0.06,
        0.3,
    )
    earlier = Source(
        "simulated", tuple(s for _ in range(60) if (s := spread(drawn(rng, between, within), ids)))
    )
    detected = detectable(COUNTS, 5, 0.005, earlier)
    assert detected.half_width and detected.decided
    halves, edges = [], []
    for _ in range(60):
        zeros = np.zeros(len(ids))
        family = corrected(
            [
                difference(
                    drawn(rng, between, within), zeros, ids, seed=0, n_resamples=2, n_flips=2
                )
                for _ in range(5)
            ]
        )
        halves += [d.high - d.mean for d in family if d.high is not None]
        edges += [
            d.smallest
            for d in family
            if d.smallest is not None and all((other.p_holm or 0) > 0.05 for other in family)
        ]
    assert detected.half_width[1] == pytest.approx(np.median(halves), rel=0.1)
    assert detected.decided[1] == pytest.approx(np.median(edges), rel=0.1)
    assert detected.half_width[0] <= detected.half_width[1] <= detected.half_width[2]


def test_the_sign_flip_has_its_floor() -> None:
    detected = detectable([20] * 10, 30, 0.005)
    assert (detected.flip_p, detected.flip_p_holm) == (2 / 2**10, pytest.approx(30 * 2 / 2**10))
    assert "it cannot reach 0.05" in " ".join(detected.lines()) and detected.half_width is None
    assert "cannot reach" not in " ".join(detectable([20] * 10, 3, 0.005).lines())
    assert detectable([20] * 4, 30, 0.005).flip_p_holm == 1.0


def test_too_few_questions_decide_nothing() -> None:
    """A score lies between 0 and 1, so that no arm can have an effect of more."""
    source = Source("x", (Spread(0.01, 0.5),))
    few, more = detectable([20, 25], 12, 0.005, source), detectable([20, 25], 1, 0.005, source)
    assert few.decided and few.decided[1] >= 1.0 and more.decided and more.decided[1] < 1.0
    assert (
        "after correction nothing can be decided with so few conversations: no two scores differ by more than 1."
        in few.lines()[1]
    )
    assert (
        "effect of about" not in few.lines()[1]
        and f"an effect of about ±{more.decided[1]:.4f} is decided." in more.lines()[1]
    )


def test_what_cannot_be_shown_is_told() -> None:
    source = Source("x", (Spread(0.01, 0.1),))
    assert "cannot be shown: it needs 542 questions" in " ".join(
        detectable([100] * 5, 3, 0.005, source).lines()
    )
    assert "can be shown" in " ".join(detectable([3000] * 50, 3, 0.005, source).lines())
    assert "narrower interval" in " ".join(detectable([150] * 5, 3, 0.005, source).lines())
    one = detectable([500], 3, 0.005, source)
    assert (
        one.half_width is None
        and "no arm can be decided" in " ".join(one.lines())
        and one.source == ""
    )
    assert "no earlier run" in " ".join(detectable([20] * 5, 3, 0.005, Source("empty", ())).lines())
    with pytest.raises(InputError, match="margin"):
        detectable([20] * 5, 3, 0.0)


def test_the_demo_figures_are_those_of_the_demo_data_as_it_is() -> None:
    """If not: make demo && python docs/tools/draw_ablation.py out/demo/design.json"""
    from hebbarium.benchmarks.datasets import load
    from hebbarium.benchmarks.scores.detectable import DEMO

    detected = json.loads(DEMO.read_text(encoding="utf-8"))
    assert detected["sha256"] == load("demo").sha256 and detected["dataset"] == "demo"
    source = demo_source()
    assert len(source.spreads) == len(detected["arms"]) > 5 and detected["set"] in source.what
    assert all(s.between >= 0.0 and s.within >= 0.0 for s in source.spreads)


def test_figures_are_read_back(tmp_path: Path) -> None:
    path = tmp_path / "f.json"
    path.write_text(
        json.dumps(demo_figures({"a": Spread(0.1, 0.2)}, set="s", embedder="e")), encoding="utf-8"
    )
    assert demo_source(path).spreads == (Spread(0.1, 0.2),)
    for text in ("{", "{}", '{"arms": {"a": 1}, "set": "s", "embedder": "e"}'):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(DataError, match="demo figures"):
            demo_source(path)
