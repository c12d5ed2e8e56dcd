"""Variance at several levels, against restricted maximum likelihood of statsmodels and against
known truth.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from hebbarium.benchmarks.scores.cluster_robust import cluster_t, spread
from hebbarium.benchmarks.scores.levels import levels, over_seeds, sessions_of
from hebbarium.engine.base.errors import InputError


def nested(
    rng: np.random.Generator, a: int, b: int, n: int, sds: tuple[float, float, float]
) -> tuple[np.ndarray, list[str], list[str | None]]:
    """a conversations of b sessions of n questions."""
    top, middle, low = sds
    u, v = rng.normal(size=a) * top, rng.normal(size=(a, b)) * middle
    x = u[:, None, None] + v[:, :, None] + rng.normal(size=(a, b, n)) * low
    names = [(f"c{i}", f"s{j}") for i in range(a) for j in range(b) for _ in range(n)]
    return x.ravel(), [c for c, _ in names], [s for _, s in names]


@pytest.mark.parametrize("seed", range(3))
def test_components_of_balanced_data_are_those_of_restricted_maximum_likelihood(seed: int) -> None:
    from statsmodels.regression.mixed_linear_model import MixedLM

    x, conversations, sessions = nested(np.random.default_rng(seed), 8, 4, 5, (1.0, 0.7, 0.5))
    found = levels(x, conversations, sessions)
    assert found and found.conversations and found.sessions and found.alone is None
    inner = np.array([f"{c}/{s}" for c, s in zip(conversations, sessions, strict=True)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = MixedLM(
            x,
            np.ones((len(x), 1)),
            groups=np.array(conversations),
            exog_vc={
                "session": {
                    c: np.array(
                        [
                            [
                                float(inner[k] == s)
                                for s in sorted(
                                    set(inner[[i for i in range(len(x)) if conversations[i] == c]])
                                )
                            ]
                            for k in range(len(x))
                            if conversations[k] == c
                        ]
                    )
                    for c in sorted(set(conversations))
                }
            },
            exog_re=np.ones((len(x), 1)),
        ).fit(reml=True)
    assert found.questions**2 == pytest.approx(fit.scale, rel=1e-3)
    assert found.sessions**2 == pytest.approx(float(fit.vcomp[0]), rel=2e-2)
    assert found.conversations**2 == pytest.approx(float(np.asarray(fit.cov_re)[0, 0]), rel=2e-2)


def test_components_of_unequal_sizes_are_unbiased() -> None:
    """Over many data sets the mean of each variance is the true one."""
    rng, found = np.random.default_rng(1), []
    sizes = [[3, 1, 5], [2, 2], [7, 4, 1, 2], [6], [3, 3, 3], [1, 8]]
    names = [
        (f"c{i}", f"s{j}")
        for i, each in enumerate(sizes)
        for j, n in enumerate(each)
        for _ in range(n)
    ]
    for _ in range(3000):
        u, v = rng.normal(size=6) * 2.0, rng.normal(size=(6, 4)) * 1.5
        x = np.array([u[int(c[1:])] + v[int(c[1:]), int(s[1:])] for c, s in names]) + rng.normal(
            size=len(names)
        )
        one = levels(x, [c for c, _ in names], [s for _, s in names])
        assert one and one.conversations is not None and one.sessions is not None
        found.append([one.conversations**2, one.sessions**2, one.questions**2])
    means = np.mean(found, axis=0)
    assert (
        means[2] == pytest.approx(1.0, rel=0.03)
        and means[1] == pytest.approx(2.25, rel=0.08)
        and means[0] == pytest.approx(4.0, rel=0.12)
    )


def test_one_session_a_conversation_leaves_the_two_levels_of_the_spread() -> None:
    rng = np.random.default_rng(2)
    ids = np.repeat(np.arange(6), [3, 5, 8, 2, 4, 7])
    x = rng.normal(size=6)[ids] + rng.normal(size=len(ids))
    found, known = levels(x, [f"c{i}" for i in ids], ["s"] * len(ids)), spread(x, ids)
    assert found and known and found.sessions is None
    assert (found.conversations, found.questions) == pytest.approx((known.between, known.within))


def test_a_single_conversation_is_tested_by_its_sessions() -> None:
    x, conversations, sessions = nested(np.random.default_rng(4), 1, 6, 4, (0.0, 0.5, 1.0))
    found = levels(x, conversations, sessions)
    assert found and found.conversations is None and found.alone == cluster_t(x, sessions)  # type: ignore[arg-type]


def test_questions_of_several_sessions_are_left_out() -> None:
    found = levels([1.0, 2.0, 9.0, 4.0], ["a", "a", "a", "b"], ["s", "t", None, "s"])
    assert found and (found.n_questions, found.n_sessions, found.n_conversations) == (3, 3, 2)
    assert levels([1.0], ["a"], [None]) is None
    with pytest.raises(InputError):
        levels([1.0], ["a", "b"], ["s"])
    rows = [
        {"conversation": "a", "gold": ["1", "2"]},
        {"conversation": "a", "gold": ["1", "3"]},
        {"conversation": "b", "gold": ["9"]},
    ]
    assert sessions_of(rows, {"a": {"1": "s", "2": "s", "3": "t"}}) == ["s", None, None]


def test_seeds_are_averaged_within_a_question_first() -> None:
    rng = np.random.default_rng(5)
    table, ids = rng.random((3, 40)), np.repeat(np.arange(8), 5)
    found = over_seeds(table)
    assert found.values == pytest.approx(table.mean(axis=0)) and found.sd == pytest.approx(
        np.std(table.mean(axis=1), ddof=1)
    )
    assert cluster_t(found.values, ids).n_questions == 40, (
        "three seeds are not three times as many questions"
    )
    assert over_seeds(table[:1]).sd is None
    for wrong in ([], [1.0], [[np.nan]]):
        with pytest.raises(InputError):
            over_seeds(wrong)
