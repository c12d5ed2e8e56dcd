"""Stability and cross-validation on a world whose truth is known."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest

from hebbarium.benchmarks.composition.resampling import (
    AskedQuestions,
    Key,
    cross_validated,
    dealt,
    losses,
    stability,
)
from hebbarium.benchmarks.composition.search import Floats, Part, Problem, smallest

IDS = ("useful", "idle", "lucky")
PROBLEM = Problem(IDS, (0.01,), dict.fromkeys(IDS, 1.0))


class Toy:
    """Conversations of equal size.  `effects` is what each mechanism adds to each question,
    (conversations, questions), without interactions.
    """

    def __init__(self, effects: dict[str, Floats]) -> None:
        self.effects = effects
        self.n, self.m = next(iter(effects.values())).shape
        self.keys = tuple(("data", f"c{place}") for place in range(self.n))
        self.calls: list[tuple[Part, frozenset[Key] | None]] = []

    def _places(self, conversations: frozenset[Key] | None) -> list[int]:
        return [
            place
            for place, key in enumerate(self.keys)
            if conversations is None or key in conversations
        ]

    def asked(self, conversations: frozenset[Key] | None = None) -> Sequence[AskedQuestions]:
        pairs = [
            (self.keys[c], f"q{q}") for c in self._places(conversations) for q in range(self.m)
        ]
        return [AskedQuestions(tuple(key for key, _ in pairs), tuple(id for _, id in pairs))]

    def of(
        self, parts: Sequence[Part], conversations: frozenset[Key] | None = None
    ) -> Sequence[Sequence[Floats]]:
        self.calls += [(part, conversations) for part in parts]
        places = self._places(conversations)
        nothing = np.zeros((self.n, self.m))
        return [
            [
                np.asarray(
                    sum((self.effects[id] for id in self.effects if id not in part), nothing)[
                        places
                    ].ravel()
                )
            ]
            for part in parts
        ]

    def lost(
        self,
        parts: Sequence[Part],
        margins: Sequence[float],
        conversations: frozenset[Key] | None = None,
    ) -> Floats:
        of_parts = self.of(parts, conversations)
        return np.array([[v.mean() if len(v) else 0.0 for v in mine] for mine in of_parts])

    briefly = lost


def toy(n: int = 6, m: int = 20) -> Toy:
    """`useful` helps every question by .05, `lucky` one conversation alone, by .3."""
    lucky = np.zeros((n, m))
    lucky[0] = 0.3
    return Toy({"useful": np.full((n, m), 0.05), "idle": np.zeros((n, m)), "lucky": lucky})


def test_losses_are_means_over_the_questions_of_the_conversations() -> None:
    world = toy()
    without = [frozenset({"useful", "idle"})]
    assert losses(world, (0.01,))(without) == pytest.approx(np.array([[0.05]]))
    assert losses(world, (0.01,), frozenset({("data", "c0")}))(without) == pytest.approx(
        np.array([[0.3]])
    )
    assert losses(world, (0.01,), frozenset())(without).tolist() == [[0.0]]


def test_every_resample_chooses_the_cheapest_allowed_part_that_was_measured() -> None:
    world = toy()
    parts = [
        frozenset(id for id, on in zip(IDS, each, strict=True) if on)
        for each in product((True, False), repeat=3)
        if any(each)
    ]
    stays = stability(PROBLEM, world, parts, resamples=4_000)
    assert stays.questions == {"useful": 1.0, "idle": 0.0, "lucky": 1.0}
    assert stays.sizes == {2: 1.0}
    # conversations are drawn with replacement: the one that needs `lucky` is absent from
    # (1 - 1 / 6)^6 of the resamples
    assert stays.conversations["useful"] == 1.0
    assert stays.conversations["lucky"] == pytest.approx(1 - (5 / 6) ** 6, abs=0.025)
    assert stays.conversations["idle"] == 0.0


def test_a_part_that_was_not_measured_is_never_chosen() -> None:
    stays = stability(PROBLEM, toy(), [frozenset(IDS)], resamples=50)
    assert stays.questions == dict.fromkeys(IDS, 1.0)


def test_one_conversation_has_no_resamples_of_conversations() -> None:
    assert stability(PROBLEM, toy(n=1), [frozenset(IDS)], resamples=10).conversations == {}


def test_questions_are_drawn_inside_their_conversations() -> None:
    """One question of every twenty needs `idle`: it stays where it was drawn at least once."""
    world = toy(n=1)
    rare = np.zeros((1, 20))
    rare[0, 0] = 1.0
    world.effects = {"useful": np.full((1, 20), 0.05), "idle": rare, "lucky": np.zeros((1, 20))}
    parts = [frozenset(IDS), frozenset({"useful", "idle"}), frozenset({"useful"})]
    stays = stability(PROBLEM, world, parts, resamples=4_000)
    assert stays.questions["idle"] == pytest.approx(1 - (19 / 20) ** 20, abs=0.025)


def test_folds_hold_every_conversation_out_once_and_share_out_each_data_set() -> None:
    keys = [("a", f"{i}") for i in range(7)] + [("b", f"{i}") for i in range(5)]
    folds = dealt(keys, 4, seed=1)
    assert sorted(key for fold in folds for key in fold) == sorted(keys)
    for data, n in (("a", 7), ("b", 5)):
        counts = [sum(key[0] == data for key in fold) for fold in folds]
        assert max(counts) - min(counts) <= 1
        assert sum(counts) == n
    assert dealt(keys, 4, seed=1) == folds
    assert len(dealt(keys, 50, seed=1)) == 7
    assert dealt([("a", "1"), ("b", "1")], 5, seed=0) == []
    assert dealt(keys, 0, seed=0) == dealt(keys, 1, seed=0) == []


def test_a_fold_measures_what_it_did_not_learn_from_and_the_loss_is_honest() -> None:
    world = toy()
    folds = dealt(world.keys, 6, seed=0)
    made = cross_validated(PROBLEM, world, folds)
    assert made is not None
    # the conversation that needs `lucky` is lost where it was held out, and only there
    expected = [0.3 if ("data", "c0") in fold else 0.0 for fold in folds]
    assert [fold.losses[0] for fold in made.folds] == pytest.approx(expected)
    assert made.losses[0] is not None
    assert made.losses[0].mean == pytest.approx(0.05)
    assert made.losses[0].n == 120
    assert made.kept == pytest.approx({"useful": 1.0, "idle": 0.0, "lucky": 5 / 6})
    # the whole search, on all conversations, sees no loss at all
    assert losses(world, (0.01,))(
        [smallest(PROBLEM, losses(world, (0.01,))).part]
    ) == pytest.approx(np.zeros((1, 1)))


def test_no_search_of_a_fold_sees_a_conversation_that_it_holds_out() -> None:
    world = toy()
    folds = dealt(world.keys, 3, seed=0)
    found = cross_validated(PROBLEM, world, folds)
    assert found is not None
    everything = frozenset(world.keys)
    for part, conversations in world.calls:
        assert conversations in [everything - fold for fold in folds] or (
            conversations in folds and part in [fold.part for fold in found.folds]
        )


def test_noise_alone_is_composed_away_and_its_honest_loss_covers_zero() -> None:
    rng = np.random.default_rng(5)
    shape = (8, 60)
    noise = {id: rng.choice([-1.0, 0.0, 1.0], size=shape, p=[0.05, 0.9, 0.05]) for id in "abcdef"}
    world = Toy({**noise, "useful": rng.choice([0.0, 1.0], size=shape, p=[0.7, 0.3])})
    ids = tuple(world.effects)
    problem = Problem(ids, (0.02,), dict.fromkeys(ids, 1.0))
    assert "useful" in smallest(problem, losses(world, (0.01,))).part
    made = cross_validated(problem, world, dealt(world.keys, 4, seed=0))
    assert made is not None and made.losses[0] is not None
    assert made.kept["useful"] == 1.0
    low, high = made.losses[0].low, made.losses[0].high
    assert low is not None and high is not None
    assert low < 0.02 and high > 0.0


def test_without_folds_there_is_no_estimate() -> None:
    assert cross_validated(PROBLEM, toy(), []) is None
