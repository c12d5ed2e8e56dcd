"""docs/tools/designs_on_data.py: the sentences on the conclusions of Cortex follow from means
and verdicts.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from scripts import script

from hebbarium.benchmarks.scores.comparison import Verdict


def design(name: str, means: dict[str, float], verdicts: dict[str, str]) -> Any:
    """What the sentences take of the result of a design."""
    estimates = [
        SimpleNamespace(name=f"heat.weight={k}", verdict=Verdict(v)) for k, v in verdicts.items()
    ]
    of_arms = {"full": 0.5} | {f"heat.weight={k}": v for k, v in means.items()}
    block = SimpleNamespace(dataset="locomo", means=of_arms, estimates=estimates)
    return SimpleNamespace(facts=SimpleNamespace(name=name), blocks=[block])


def test_the_conclusion_holds_if_the_best_value_is_the_stated_one() -> None:
    means, verdicts = (
        {"0": 0.4, "0.3": 0.5, "0.7": 0.49},
        {"0": "hurts", "0.3": "no-op", "0.7": "undecided"},
    )
    (line,) = script("designs_on_data").conclusions(design("cortex_heat_weight", means, verdicts))
    assert line == (
        "- locomo: Cortex names 0.3 as the best value (section 6.4.3); the highest mean here is that of 0.3, too. "
        "Its verdict against the set's own value: no-op."
    )


def test_another_highest_mean_is_named_with_both_scores_and_its_verdict() -> None:
    means, verdicts = (
        {"0": 0.61, "0.3": 0.5, "0.7": 0.05},
        {"0": "helps", "0.7": "hurts", "0.3": "no-op"},
    )
    (line,) = script("designs_on_data").conclusions(design("cortex_heat_weight", means, verdicts))
    assert "the highest mean here is that of 0, .610 against .500. " in line and line.endswith(
        "own value: helps."
    )


def test_designs_without_published_values_have_no_sentence() -> None:
    assert not list(
        script("designs_on_data").conclusions(design("default_leave_one_out", {"0": 0.1}, {}))
    )


def test_a_design_takes_the_place_of_its_section() -> None:
    page = "# page\n\nhead\n\n## a: 1\n\ntext\n\n### of a\n\n## b: 2\n\nmore\n"
    shown = script("designs_on_data").sections(page)
    assert shown == {"## a: 1": "## a: 1\n\ntext\n\n### of a\n", "## b: 2": "## b: 2\n\nmore\n"}
    assert list(shown | script("designs_on_data").sections("\n## a: 1\n\nnew\n")) == list(shown)
