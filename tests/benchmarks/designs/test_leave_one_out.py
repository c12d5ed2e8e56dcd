"""Leave-one-out: which arms there are, and which of them are chosen by name."""

from __future__ import annotations

import pytest

from hebbarium.benchmarks.designs import FULL, named_arms
from hebbarium.benchmarks.designs.leave_one_out import leave_one_out
from hebbarium.engine.base.errors import InputError
from hebbarium.engine.catalogue.registry import MechanismSet

SMALL = MechanismSet(
    "mine",
    "for the test",
    {id: {} for id in ("dense_similarity", "lexical_bm25", "weighted_rrf")},
    {"weighted_rrf": ("convex_fusion",)},
)


def test_arms_are_the_whole_each_removal_and_each_swap() -> None:
    arms = {arm.id: set(arm.chosen.mechanisms) for arm in leave_one_out(SMALL)}
    assert arms == {
        "full": {"dense_similarity", "lexical_bm25", "weighted_rrf"},
        "without dense_similarity": {"lexical_bm25", "weighted_rrf"},
        "without lexical_bm25": {"dense_similarity", "weighted_rrf"},
        "without weighted_rrf": {"dense_similarity", "lexical_bm25"},
        "swap weighted_rrf->convex_fusion": {"dense_similarity", "lexical_bm25", "convex_fusion"},
    }
    assert "swap weighted_rrf->convex_fusion" not in {
        arm.id for arm in leave_one_out(SMALL.without(["weighted_rrf"]))
    }


def test_an_arm_names_the_mechanism_that_it_lacks() -> None:
    full, *others = leave_one_out(SMALL)
    assert full.id == FULL and full.removed == "" and full.chosen == SMALL
    for arm in others:
        assert set(SMALL.mechanisms) - set(arm.chosen.mechanisms) == {arm.removed}


def test_arms_are_chosen_by_the_mechanism_or_by_their_id() -> None:
    arms = leave_one_out(SMALL)
    chosen = named_arms(arms, ["swap weighted_rrf->convex_fusion", "lexical_bm25"])
    assert [arm.id for arm in chosen] == [
        FULL,
        "without lexical_bm25",
        "swap weighted_rrf->convex_fusion",
    ], "in the order of the design"
    assert (
        named_arms(arms, ["without lexical_bm25"]) == named_arms(arms, ["lexical_bm25"])
        and named_arms(arms, []) == arms
    )
    assert [arm.name for arm in arms] == [
        FULL,
        "dense_similarity",
        "lexical_bm25",
        "weighted_rrf",
        "swap weighted_rrf->convex_fusion",
    ]


@pytest.mark.parametrize(
    ("names", "what", "cure"),
    [
        (["lexical_bm52"], "is no arm", "lexical_bm25"),
        ([""], "is no arm", "choose from"),
        (["heat"], "is no arm", "choose from"),
        ([FULL], "baseline", "choose from"),
        (["weighted_rrf", "without weighted_rrf"], "twice", "once"),
    ],
)
def test_names_that_mean_no_arm_are_refused(names: list[str], what: str, cure: str) -> None:
    with pytest.raises(InputError, match=what) as caught:
        named_arms(leave_one_out(SMALL), names)
    assert cure in caught.value.cure and caught.value.where == "--arms"
