"""Power, against statsmodels; and the further conversations that it needs, against a search
without shortcuts.
"""

from __future__ import annotations

import pytest

from hebbarium.benchmarks.scores.power import MOST, POWER, more_conversations, more_words, power
from hebbarium.engine.base.errors import InputError


@pytest.mark.parametrize("n", [3, 10, 35, 200])
@pytest.mark.parametrize("effect", [0.05, 0.3, 1.0])
def test_power_is_that_of_statsmodels(n: int, effect: float) -> None:
    from statsmodels.stats.power import TTestPower

    assert power(effect, 1.0, n) == pytest.approx(TTestPower().power(effect, n, 0.05), rel=1e-6)
    assert power(-2 * effect, 2.0, n) == pytest.approx(power(effect, 1.0, n), rel=1e-12)


@pytest.mark.parametrize(
    ("se", "n", "margin"),
    [
        (0.002, 10, 0.005),
        (0.004, 10, 0.005),
        (0.02, 5, 0.03),
        (0.003, 35, 0.004),
        (0.0001, 10, 0.005),
    ],
)
def test_the_number_is_the_first_that_has_the_power(se: float, n: int, margin: float) -> None:
    from statsmodels.stats.power import TTestPower

    sd = se * n**0.5
    first = next(more for more in range(MOST + 2) if power(margin, sd, n + more) >= POWER)
    assert more_conversations(se, n, margin) == first
    expected = TTestPower().solve_power(margin / sd, None, 0.05, POWER)
    assert first == 0 or abs(n + first - expected) <= 1.0


def test_beyond_a_thousand_and_without_a_spread() -> None:
    assert (
        more_conversations(0.1, 10, 0.005) == MOST + 1
        and more_words(MOST + 1) == "more than 1,000 more conversations"
    )
    assert (
        more_conversations(None, 1, 0.005) is None
        and more_conversations(0.0, 10, 0.005) is None
        and more_words(None) == ""
    )
    with pytest.raises(InputError):
        more_conversations(0.1, 10, 0.0)
    with pytest.raises(InputError):
        power(0.1, 0.0, 10)
