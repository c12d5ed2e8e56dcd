"""Leave-one-out: which arms there are."""
from __future__ import annotations

from hebbarium.benchmarks.designs import FULL, Design, arms_of
from hebbarium.engine.registry import MechanismSet

SMALL = MechanismSet("mine", "for the test", {id: {} for id in ("dense_similarity", "lexical_bm25", "weighted_rrf")},
                     {"weighted_rrf": ("convex_fusion",)})


def test_arms_are_the_whole_each_removal_and_each_swap() -> None:
    arms = {arm.id: set(arm.chosen.mechanisms) for arm in arms_of(SMALL, Design.LEAVE_ONE_OUT)}
    assert arms == {
        "full": {"dense_similarity", "lexical_bm25", "weighted_rrf"}, "without dense_similarity": {"lexical_bm25", "weighted_rrf"},
        "without lexical_bm25": {"dense_similarity", "weighted_rrf"}, "without weighted_rrf": {"dense_similarity", "lexical_bm25"},
        "swap weighted_rrf->convex_fusion": {"dense_similarity", "lexical_bm25", "convex_fusion"}}
    assert "swap weighted_rrf->convex_fusion" not in {arm.id for arm in arms_of(SMALL.without(["weighted_rrf"]))}


def test_an_arm_names_the_mechanism_that_it_lacks() -> None:
    full, *others = arms_of(SMALL)
    assert full.id == FULL and full.removed == "" and full.chosen == SMALL
    for arm in others:
        assert set(SMALL.mechanisms) - set(arm.chosen.mechanisms) == {arm.removed}
